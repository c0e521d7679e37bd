# SPDX-License-Identifier: MIT
# The six metrics of [000] 5.2 from the points of rdgc-metrics.sweep: counts in sectors, ratios in percent of them. L1B
# means an L1 that loads bypass.
BEGIN { FS = ","; OFS = "\t" }

function value(name) { return $at[name] }
function hit_ratio(    all) {
	all = value("l2.reads") + value("l2.writes")
	return all > 0 ? sprintf("%.2f", 100 * (value("l2.read_hits") + value("l2.write_hits")) / all) : "-"
}

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	print "metric", "value", "unit"
	next
}
$1 == "L1" {
	print "L1_R_Hit", sprintf("%.2f", value("l1.read_hit_rate")), "%"
	print "L1_R_Trans", value("l1.reads"), "sectors"
}
{
	suffix = $1 == "L1B" ? "_L1B" : ""
	print "L2_Hit" suffix, hit_ratio(), "%"
	print "L2_Trans" suffix, sprintf("%.0f", value("l2.reads") + value("l2.writes")), "sectors"
}
