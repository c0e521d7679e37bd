# SPDX-License-Identifier: MIT
# The requests, warps and lanes that access each line of memory, from the text of a request stream:
#
#     ... | gcoalesce | gtrace-cat | awk -f examples/hot-lines.awk | sort -k2,2nr | head
BEGIN { FS = OFS = "\t" }
/^#block\t/ {
	sub(/^#/, "")
	for (i = 1; i <= NF; i++)
		column[$i] = i
	if (!("address" in column)) {
		print "hot-lines.awk: expected requests (put gcoalesce before gtrace-cat)" > "/dev/stderr"
		failed = 1
		exit 1
	}
	next
}
/^#end/ { ended = 1 }
/^#/ { next }
{
	line = $column["address"]
	requests[line]++
	lanes[line] += $column["lanes"]
	warp = $column["kernel"] SUBSEP $column["block"] SUBSEP $column["warp"]
	if (!((line, warp) in seen)) {
		seen[line, warp] = 1
		warps[line]++
	}
}
END {
	if (failed)
		exit 1
	if (!ended) {
		print "hot-lines.awk: the text is cut short" > "/dev/stderr"
		exit 1
	}
	for (line in requests)
		print line, requests[line], warps[line], lanes[line]
}
