# SPDX-License-Identifier: MIT
# The rows of [004] table 5 from the points of yuan.sweep: hit rates in percent of the sectors read, and sectors of DRAM.
BEGIN { FS = ","; OFS = "\t" }
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	print "model", "l1_read_hit_rate", "l2_read_hit_rate", "dram_sectors"
	next
}
{
	print $1, $at["l1.read_hit_rate"], $at["l2.read_hit_rate"], sprintf("%.0f", $at["dram.reads"] + $at["dram.writes"])
}
