# SPDX-License-Identifier: MIT
# The metrics of [004] table 4 from the point Final of yuan.sweep: hit rates in percent of sectors,
# counts in sectors. In L2 Hit Rate a store counts as a hit, as in NVIDIA's profilers.
BEGIN { FS = ","; OFS = "\t" }

function value(name) { return $at[name] }
function sum(a, b) { return sprintf("%.0f", value(a) + value(b)) }
function rate(part, whole) { return whole > 0 ? sprintf("%.2f", 100 * part / whole) : "-" }

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	print "metric", "value", "unit"
	next
}
$1 == "Final" {
	print "L1 Hit Rate", rate(value("l1.read_hits") + value("l1.write_hits"), sum("l1.reads", "l1.writes")), "%"
	print "L1 Hit Rate (Load)", rate(value("l1.read_hits"), value("l1.reads")), "%"
	print "L2 Reads", value("l2.reads"), "sectors"
	print "L2 Writes", value("l2.writes"), "sectors"
	print "L2 Total Reqs", sum("l2.reads", "l2.writes"), "sectors"
	print "L2 Hit Rate", rate(value("l2.read_hits") + value("l2.writes"), sum("l2.reads", "l2.writes")), "%"
	print "L2 Read Hit Rate", rate(value("l2.read_hits"), value("l2.reads")), "%"
	print "DRAM Reads", value("dram.reads"), "sectors"
	print "DRAM Writes", value("dram.writes"), "sectors"
	print "DRAM Total Reqs", sum("dram.reads", "dram.writes"), "sectors"
}
