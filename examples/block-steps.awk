# SPDX-License-Identifier: MIT
# The steps of each block, from the service of its first request in a timed cache to the arrival of its last data: lines
# "kernel block steps" for gschedule --block-steps. Use it after --emit all:
#
#     ... | gcache --l1 --latency fixed:100 --emit all | gtrace-cat | awk -f examples/block-steps.awk
#
# A row ends after its latency if it has that column, else in the step after its service.
BEGIN { FS = "\t" }
/^#block\t/ {
	sub(/^#/, "")
	split("", column)
	for (i = 1; i <= NF; i++)
		column[$i] = i
	if (!("step" in column)) {
		print "block-steps.awk: expected scheduled rows (put gschedule and a timed gcache before gtrace-cat)" > "/dev/stderr"
		failed = 1
		exit 1
	}
	next
}
/^#end/ { ended = 1 }
/^#/ { next }
{
	key = $column["kernel"] FS $column["block"]
	step = $column["step"]
	end = step + 1
	if ("latency" in column && $column["latency"] > 1)
		end = step + $column["latency"]
	if (!(key in first)) {
		order[++n] = key
		first[key] = step
	}
	if (step < first[key])
		first[key] = step
	if (end > last[key])
		last[key] = end
}
END {
	if (failed)
		exit 1
	if (!ended) {
		print "block-steps.awk: the text is cut short" > "/dev/stderr"
		exit 1
	}
	for (i = 1; i <= n; i++)
		printf "%s\t%.0f\n", order[i], last[order[i]] - first[order[i]]
}
