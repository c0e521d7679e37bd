# SPDX-License-Identifier: MIT
# Figure 12 of [002] from the points of nugteren.sweep: in percent of the lines that loads look up, those that miss, without
# latency misses, and the latency misses.
BEGIN { FS = ","; OFS = "\t"; print "parameter", "value", "lines", "miss_rate", "latency_misses" }

# A value with commas is quoted, and none of these is.
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}

{
	gsub(/"[^"]*"/, "-")
	reads = $at["l1.reads"]
	late = $at["l1.latency_misses"]
	missed = reads - $at["l1.read_hits"] - late
	value = $at["l1." $1]
	sub(/^1x/, "", value)
	if ($1 == "size")
		value = value / 1024 "K"
	print $1, value, reads, sprintf("%.2f", reads ? 100 * missed / reads : 0), sprintf("%.2f", reads ? 100 * late / reads : 0)
}
