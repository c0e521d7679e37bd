# SPDX-License-Identifier: MIT
# The table of papers.mk from its rows, and a summary. A row is equal if ours, rounded to the digits of the paper's value,
# is that value. Exits with 1 if a row is malformed, or called exact and not equal.
BEGIN {
	FS = "\t"
	put("paper", "where", "what", "paper's", "ours", "difference", "kind", "")
}

function put(paper, where, what, theirs, ours, difference, kind, why,    i) {
	cell[++n, 1] = paper
	cell[n, 2] = where
	cell[n, 3] = what
	cell[n, 4] = theirs
	cell[n, 5] = ours
	cell[n, 6] = difference
	cell[n, 7] = kind
	cell[n, 8] = why
	for (i = 1; i <= 7; i++)
		if (length(cell[n, i]) > width[i])
			width[i] = length(cell[n, i])
}

function fail(text) {
	print "papers: " FILENAME ": row " FNR ": " text | "cat 1>&2"
	failed = 1
}

function is_number(text) { return text ~ /^-?[0-9]+(\.[0-9]*)?$/ }

# Half a unit of the last digit of a number.
function tolerance(text,    point) {
	point = index(text, ".")
	return 0.5000001 / 10 ^ (point ? length(text) - point : 0)
}

NF < 6 || NF > 7 || $1 !~ /^\[[0-9][0-9][0-9]\]$/ || $2 == "" || $3 == "" || $4 == "" || $5 == "" || $6 !~ /^(exact|model|fitted)$/ {
	fail("expected [paper], where, what, the paper's value, ours, exact, model or fitted, and perhaps why")
	next
}

{
	off = $5 - $4
	numbers = is_number($4) && is_number($5)
	equal = numbers ? (off < 0 ? -off : off) <= tolerance($4) : $4 == $5
	put($1, $2, $3, $4, $5, equal ? "=" : numbers ? sprintf("%+.2f", off) : "differs", $6, $7)
	if (!equal && $6 == "exact")
		fail("called exact, but " $5 " is not the paper's " $4)
	papers[$1] = 1
	rows[$1]++
	same[$1] += equal
	kinds[$1, $6]++
	if (!equal && numbers && (off < 0 ? -off : off) <= ($4 < 0 ? -$4 : $4) / 20)
		near[$1]++
}

function sorted(list,    name, count, i, j) {
	for (name in papers) {
		for (i = ++count; i > 1 && list[i - 1] > name; i--)
			list[i] = list[i - 1]
		list[i] = name
	}
	return count
}

END {
	for (i = 1; i <= n; i++) {
		line = ""
		for (j = 1; j <= 7; j++)
			line = line sprintf("%-" width[j] "s  ", cell[i, j])
		line = line cell[i, 8]
		sub(/ +$/, "", line)
		print line
	}
	printf "\n%-5s  %5s  %5s  %13s  %7s  %5s  %5s  %6s\n", "paper", "rows", "equal", "within a 20th", "farther", "exact", "model", "fitted"
	count = sorted(list)
	for (i = 1; i <= count; i++) {
		p = list[i]
		printf "%-5s  %5d  %5d  %13d  %7d  %5d  %5d  %6d\n", p, rows[p], same[p], near[p], rows[p] - same[p] - near[p],
			kinds[p, "exact"], kinds[p, "model"], kinds[p, "fitted"]
	}
	exit failed
}
