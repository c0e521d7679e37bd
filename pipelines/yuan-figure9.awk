# SPDX-License-Identifier: MIT
# [004] figure 9: reads of DRAM as the hit ratio of L2 foretells them, L2 reads x (1 - read hit ratio), against those counted: from
# gstats --csv, or from a table of tests/reference with hardware's counters. The last row has the mean of the errors, of their absolute
# values, and Pearson's r. Kernels without reads of DRAM are left out.
BEGIN {
	FS = ","; OFS = "\t"
	print "kernel", "l2_reads", "l2_read_hit_ratio", "foretold", "dram_reads", "error"
}
FNR == 1 { hardware = $1 == "gpu"; next }
!hardware && $1 != "total" && ($2 == "l2" || $2 == "dram") { take($1, $2 "." $3, $4) }
# A launch is known by everything before the metric. A later row of one metric is of another launch.
hardware {
	launch = $2 " " $3 " " $4 " " $5 " " $6 " " $7 " " $8
	take(launch " " seen[FILENAME, launch, $9]++, $9, $10)
}

function take(launch, metric, number) {
	if (!((launch) in place)) {
		place[launch] = ++n
		name[n] = launch
		sub(/ [0-9]+$/, "", name[n])
		gsub(/ +/, " ", name[n])
	}
	value[place[launch], metric] = number
}

function have(i, metric) { return (i, metric) in value }

END {
	for (i = 1; i <= n; i++) {
		if (have(i, "l2.reads") && value[i, "l2.reads"] > 0 && value[i, "dram.reads"] > 0)
			row(i, value[i, "l2.reads"], 100 * value[i, "l2.read_hits"] / value[i, "l2.reads"], value[i, "dram.reads"])
		else if (have(i, "l2_tex_read_transactions") && have(i, "l2_tex_read_hit_rate") && value[i, "dram_read_transactions"] > 0)
			row(i, value[i, "l2_tex_read_transactions"], value[i, "l2_tex_read_hit_rate"], value[i, "dram_read_transactions"])
	}
	if (rows == 0)
		exit
	r = (rows * sum_xx - sum_x * sum_x) * (rows * sum_yy - sum_y * sum_y)
	print "mean of " rows, "-", "-", "-", "-", sprintf("%.1f, absolute %.1f, r %s", errors / rows, absolute / rows,
		r > 0 ? sprintf("%.3f", (rows * sum_xy - sum_x * sum_y) / sqrt(r)) : "-")
}

function row(i, reads, ratio, counted,    foretold, off) {
	foretold = reads * (1 - ratio / 100)
	off = 100 * (foretold / counted - 1)
	print name[i], reads, sprintf("%.2f", ratio), sprintf("%.0f", foretold), counted, sprintf("%.1f", off)
	rows++
	errors += off
	absolute += off < 0 ? -off : off
	sum_x += foretold; sum_y += counted; sum_xx += foretold * foretold; sum_yy += counted * counted; sum_xy += foretold * counted
}
