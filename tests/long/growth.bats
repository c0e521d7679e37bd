# SPDX-License-Identifier: MIT
# grd from 10^4 to 10^8 rows: a minute and a half.

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "time grows with the rows, exact memory with the lines, sampled memory hardly at all" {
	"$ROOT/tests/bench/growth" "$(dirname "$(command -v grd)")" "$BUILD" 8 >table
	cat table
	[ "$(wc -l <table)" -eq 6 ]
	awk 'NR > 1 && $2 >= 1e6 && $6 >= 32 { exit 1 }' table
	awk 'NR > 1 && $9 > 16 { exit 1 }' table
	# For logarithms and caches, a hundred times the lines may take at most four times as long per row.
	awk '{ rate[$1] = $3 } END { exit !(rate[100000000] > rate[1000000] / 4) }' table
}
