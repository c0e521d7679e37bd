#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# make -C pipelines papers: the table of the papers' numbers beside ours.

load helpers

setup() { cd "$ROOT" || return 1; }

table() { awk -f pipelines/papers.awk "$@"; }

# row WHAT PAPER OURS KIND [WHY]
row() { printf '[003]\ttable 3\t%s\t%s\t%s\t%s%s\n' "$1" "$2" "$3" "$4" "${5:+$'\t'$5}"; }

@test "values are equal if ours, rounded to the digits of the paper's, is the paper's" {
	{ row a 3.13 3.125 exact; row b 100 100.4 exact; row c 16K 16K exact; row d 4.44 4.333 model "why so"; row e 0 -0.4 model
	  row f 50 60.2 fitted; row g lru fifo model; row h 53.37 53.36 model; } >"$BATS_TEST_TMPDIR/rows"
	table "$BATS_TEST_TMPDIR/rows" >"$BATS_TEST_TMPDIR/out"
	[ "$(awk 'NR > 1 && NR < 10 { print $4, $7 }' "$BATS_TEST_TMPDIR/out" | paste -sd,)" = "a =,b =,c =,d -0.11,e =,f +10.20,g differs,h -0.01" ]
	grep -q 'model   why so$' "$BATS_TEST_TMPDIR/out"
	# 8 rows: 4 equal; d and h within a 20th; f and g farther.
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/out" | tr -s ' ')" = "[003] 8 4 2 2 3 4 1" ]
}

@test "a row that is called exact and is not, or that is malformed, fails by name" {
	{ row a 3.13 3.12 exact; row b 1 1 exact; } >"$BATS_TEST_TMPDIR/rows"
	run table "$BATS_TEST_TMPDIR/rows"
	[ "$status" -eq 1 ]
	[[ "$output" == *"row 1: called exact, but 3.12 is not the paper's 3.13"* ]]
	for bad in "[003]\ttable 3\ta\t1\t1" "003\ttable 3\ta\t1\t1\texact" "[003]\ttable 3\ta\t1\t\tmodel" "[003]\ttable 3\ta\t1\t1\tclose"; do
		echo -e "$bad" >"$BATS_TEST_TMPDIR/rows"
		run table "$BATS_TEST_TMPDIR/rows"
		[ "$status" -eq 1 ]
		[[ "$output" == *"row 1: expected [paper], where"* ]]
	done
}

@test "[001]: every number of its text and tables, and a second run makes nothing" {
	papers() { make -s -C pipelines papers ONLY=mei RESULTS="$BATS_TEST_TMPDIR"; }
	papers >"$BATS_TEST_TMPDIR/out"
	made=$(stat -c %i "$BATS_TEST_TMPDIR/papers/mei.tsv")
	papers | diff "$BATS_TEST_TMPDIR/out" -
	[ "$made" = "$(stat -c %i "$BATS_TEST_TMPDIR/papers/mei.tsv")" ]
	[ "$(awk '$1 == "[001]"' "$BATS_TEST_TMPDIR/papers/mei.tsv" | wc -l)" -ge 73 ]
	# Only figure 9 by chance differs.
	[ "$(awk -F '\t' '$4 != $5 && $4 + 0 != $5 + 0' "$BATS_TEST_TMPDIR/papers/mei.tsv" | cut -f 2 | sort -u)" = "figure 9" ]
}

@test "[003]: all 13 rows of table 3, and the README shows them" {
	make -s -C pipelines papers ONLY=kim RESULTS="$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^\[003\]  table 3' "$BATS_TEST_TMPDIR/out")" -eq 52 ]
	# Of the degrees, only loaded addresses and the two that the paper contradicts differ.
	[ "$(awk -F '\t' '/degree/ && $6 != "exact" { sub(/,.*/, "", $3); print $3 }' "$BATS_TEST_TMPDIR/papers/kim.tsv" | paste -sd' ')" = \
		"b+tree_findK b+tree_findRangeK bfs_kernel1 2DConvolution backprop_adjust_weights" ]
	pipelines/kim-table3 | while IFS= read -r line; do
		grep -qxF "| ${line//$'\t'/ | } |" pipelines/README.md || { echo "not in the README: $line"; exit 1; }
	done
	run pipelines/kim-table3 a b
	[ "$status" -eq 2 ]
}
