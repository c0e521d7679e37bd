# SPDX-License-Identifier: MIT
# The table of papers.mk from its rows, and a summary. A row is equal if ours, rounded to the digits of the paper's value,
# is that value, and near if it is within a 20th of it. What is an input, chose a parameter (fitted), or was not tried, is neither.
# With only=summary prints that alone; with only=rows each row, behind where it stands: equal, near, farther, input, not tried.
# Exits with 1 if a row is malformed, if one is called exact and not equal, or if an input did not come back.
BEGIN {
	FS = OFS = "\t"
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

NF < 6 || NF > 7 || $1 !~ /^\[[0-9][0-9][0-9]\]$/ || $2 == "" || $3 == "" || $4 == "" || $5 == "" || $6 !~ /^(exact|model|input|fitted|not tried)$/ {
	fail("expected [paper], where, what, the paper's value, ours, exact, model, input, fitted or not tried, and perhaps why")
	next
}

$6 == "not tried" && ($5 != "-" || NF < 7) {
	fail("not tried: expected - for ours, and why")
	next
}

{
	off = $5 - $4
	numbers = is_number($4) && is_number($5)
	equal = numbers ? (off < 0 ? -off : off) <= tolerance($4) : $4 == $5
	near = numbers && (off < 0 ? -off : off) <= ($4 < 0 ? -$4 : $4) / 20
	put($1, $2, $3, $4, $5, $6 == "not tried" ? "-" : equal ? "=" : numbers ? sprintf("%+.2f", off) : "differs", $6, $7)
	if (!equal && ($6 == "exact" || $6 == "input"))
		fail("called " $6 ", but " $5 " is not the paper's " $4)
	papers[$1] = 1
	rows[$1]++
	standing = $6 == "input" || $6 == "fitted" ? "input" : $6 == "not tried" ? $6 : equal ? "equal" : near ? "near" : "farther"
	stands[$1, standing]++
	if (only == "rows")
		print standing, $1, $2, $3, $4, $5, $6, $7
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
	for (i = 1; i <= n && !only; i++) {
		line = ""
		for (j = 1; j <= 7; j++)
			line = line sprintf("%-" width[j] "s  ", cell[i, j])
		line = line cell[i, 8]
		sub(/ +$/, "", line)
		print line
	}
	if (!only)
		print ""
	if (only == "rows")
		exit failed
	printf "%-5s  %7s  %5s  %5s  %7s  %5s  %9s\n", "paper", "numbers", "equal", "near", "farther", "input", "not tried"
	count = sorted(list)
	for (i = 1; i <= count; i++) {
		p = list[i]
		printf "%-5s  %7d  %5d  %5d  %7d  %5d  %9d\n", p, rows[p], stands[p, "equal"], stands[p, "near"], stands[p, "farther"],
			stands[p, "input"], stands[p, "not tried"]
	}
	exit failed
}
