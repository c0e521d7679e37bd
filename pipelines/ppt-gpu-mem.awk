# SPDX-License-Identifier: MIT
# The table of ppt-gpu-mem.mk, from the output of gstats --csv. The hit ratio of SDCM is that of its expected hits, which
# are hundredths of references; that of a cache is of its sectors. "-" is 0/0.
BEGIN {
	OFS = "\t"
	print "kernel", "operations", "l1_ppt", "l1_model", "l2_ppt", "l2_ppt_filtered", "l2_model"
}
!($1 in seen) { seen[$1] = 1; kernels[++n] = $1 }
{ value[$1, $2, $3] = $4 }
$3 ~ /^load\..*\.(references|expected_hits)$/ {
	counter = substr($3, match($3, /[^.]*$/))
	loads[$1, $2, counter] += $4
}
function percent(part, whole) { return whole > 0 ? sprintf("%.2f", part / whole) : "-" }
function ppt(kernel, stage) {
	return percent(value[kernel, stage, "expected_hits"], value[kernel, stage, "references"])
}
function ppt_loads(kernel, stage) {
	return percent(loads[kernel, stage, "expected_hits"], loads[kernel, stage, "references"])
}
function model(kernel, stage) {
	return percent(100 * (value[kernel, stage, "read_hits"] + value[kernel, stage, "write_hits"] + value[kernel, stage, "atomic_hits"]),
		value[kernel, stage, "reads"] + value[kernel, stage, "writes"] + value[kernel, stage, "atomics"])
}
function model_loads(kernel, stage) {
	return percent(100 * value[kernel, stage, "read_hits"], value[kernel, stage, "reads"])
}
END {
	for (i = 2; i <= n; i++) { # the first line has the names
		k = kernels[i]
		print k, "all", ppt(k, "ppt_l1"), model(k, "l1"), ppt(k, "ppt_l2"), ppt(k, "ppt_l2_filtered"), model(k, "l2")
		print k, "loads", ppt_loads(k, "ppt_l1"), model_loads(k, "l1"), ppt_loads(k, "ppt_l2"), ppt_loads(k, "ppt_l2_filtered"), model_loads(k, "l2")
	}
}
