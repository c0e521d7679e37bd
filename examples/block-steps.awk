# SPDX-License-Identifier: MIT
# How many steps each block takes, from the first of its requests that a timed cache serves to the last
# of its data: lines "kernel block steps" for gschedule --block-steps. Put it behind --emit all:
#
#     ... | gcache --l1 --latency fixed:100 --emit all | gtrace-cat | awk -f examples/block-steps.awk
#
# A row ends after its latency, where it has that column; else in the step after it was served.
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
