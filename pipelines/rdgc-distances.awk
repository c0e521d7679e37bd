# SPDX-License-Identifier: MIT
# Figure 14 of [000] from the points of rdgc.sweep: the lookups of an L2 of 8 ways by reuse distance in their set, when all
# reads and writes bypass the L1 (RWON); 8+ are those that miss. They add up to the lookups.
BEGIN { FS = ","; OFS = "\t"; print "distance", "reads", "writes", "lookups" }

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
$1 == "distances" {
	rest[1] = $at["l2.reads"]
	rest[2] = $at["l2.writes"]
	for (k = 0; k < 8; k++) {
		n[1] = $at["l2.mru[" k "]"]
		n[2] = $at["l2.mru_writes[" k "]"]
		print k, n[1] + 0, n[2] + 0, n[1] + n[2]
		rest[1] -= n[1]
		rest[2] -= n[2]
	}
	print "8+", rest[1], rest[2], rest[1] + rest[2]
}
