# SPDX-License-Identifier: MIT
# The instructions that cause the traffic below a cache: the sectors that each pc sends on, by op. Use it on the output of a
# cache:
#
#     ... | gcache --l1 | gtrace-cat | awk -f examples/misses-by-pc.awk | sort -k4,4nr
BEGIN { FS = OFS = "\t" }
/^#block\t/ {
	sub(/^#/, "")
	for (i = 1; i <= NF; i++)
		column[$i] = i
	if (!("sectors" in column)) {
		print "misses-by-pc.awk: expected requests (put gcache before gtrace-cat)" > "/dev/stderr"
		failed = 1
		exit 1
	}
	next
}
/^#end/ { ended = 1 }
/^#/ { next }
{
	key = $column["pc"] OFS $column["op"]
	requests[key]++
	# The mask of sectors is one hexadecimal digit, 0x1 to 0xf.
	digit = index("123456789abcdef", substr($column["sectors"], 3, 1))
	for (; digit > 0; digit = int(digit / 2))
		sectors[key] += digit % 2
}
END {
	if (failed)
		exit 1
	if (!ended) {
		print "misses-by-pc.awk: the text is cut short" > "/dev/stderr"
		exit 1
	}
	for (key in requests)
		print key, requests[key], sectors[key]
}
