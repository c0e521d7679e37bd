# SPDX-License-Identifier: MIT
# How well each instruction coalesces: a histogram of the requests that one warp access makes.
# Lines of output: pc, requests per access, how many accesses.
#
#     ... | gcoalesce | gtrace-cat | awk -f examples/requests-per-access.awk | sort -k1,1 -k2,2n
BEGIN { FS = OFS = "\t" }
function close_access() {
	if (n > 0)
		accesses[pc OFS n]++
	n = 0
}
/^#block\t/ {
	sub(/^#/, "")
	for (i = 1; i <= NF; i++)
		column[$i] = i
	if (!("address" in column)) {
		print "requests-per-access.awk: expected requests (put gcoalesce before gtrace-cat)" > "/dev/stderr"
		failed = 1
		exit 1
	}
	next
}
/^#end/ { ended = 1 }
/^#/ { next }
{
	# The requests of one access are consecutive.
	access = $column["kernel"] OFS $column["block"] OFS $column["warp"] OFS $column["an"]
	if (access != last)
		close_access()
	last = access
	pc = $column["pc"]
	n++
}
END {
	if (failed)
		exit 1
	if (!ended) {
		print "requests-per-access.awk: the text is cut short" > "/dev/stderr"
		exit 1
	}
	close_access()
	for (key in accesses)
		print key, accesses[key]
}
