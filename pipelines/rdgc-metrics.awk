# SPDX-License-Identifier: MIT
# The metrics of [000] 5.2 from the points of rdgc-metrics.sweep: counts in sectors, ratios in percent of them. L1B means an
# L1 that all requests bypass, R reads only, and M that reads which join a miss in flight count as hits, as profilers do.
BEGIN { FS = ","; OFS = "\t" }

function value(name) { return $at[name] }
function ratio(part, all) { return all > 0 ? sprintf("%.2f", 100 * part / all) : "-" }

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	print "metric", "value", "unit"
	next
}
$1 == "L1" {
	print "L1_R_Hit", ratio(value("l1.read_hits"), value("l1.reads")), "% of reads"
	print "L1_R_Hit_M", ratio(value("l1.read_hits") + value("l1.merged_reads"), value("l1.reads")), "% of reads"
	print "L1_R_Trans", value("l1.reads"), "sectors"
}
{
	suffix = $1 == "L1B" ? "_L1B" : ""
	reads = value("l2.reads")
	all = reads + value("l2.writes")
	print "L2_R_Hit" suffix, ratio(value("l2.read_hits"), reads), "% of reads"
	print "L2_R_Hit_M" suffix, ratio(value("l2.read_hits") + value("l2.merged_reads"), reads), "% of reads"
	print "L2_Hit" suffix, ratio(value("l2.read_hits") + value("l2.write_hits"), all), "% of reads and writes"
	print "L2_Trans" suffix, sprintf("%.0f", all), "sectors"
}
