#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gstats --report: the page, read back by tests/page.py.

load helpers

setup_file() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$BATS_FILE_TMPDIR" || return 1
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)' \
		"$ROOT/examples/kernels/ptx/gemm.ptx" | gschedule --gpu titanv |
		grd --count --per sm,set:64 --classes 4 --by pc --name before |
		gcache --l1 | grd --by array --per global --name behind | gcache --l2 | gdram >counts
}

setup() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$BATS_FILE_TMPDIR" || return 1
}

# page ARGUMENT...: writes a page, and lists its contents for `says`.
page() {
	gstats --report "$BATS_TEST_TMPDIR/page" "$@"
	python3 "$ROOT/tests/page.py" "$BATS_TEST_TMPDIR/page/index.html" >"$BATS_TEST_TMPDIR/said"
}

says() {
	for line in "$@"; do
		grep -qxF -- "$line" "$BATS_TEST_TMPDIR/said" || { echo "missing: $line"; cat "$BATS_TEST_TMPDIR/said"; return 1; }
	done
}

@test "the page has the pipe, the GPU, pictures with text alternatives, and the sources of misses" {
	page counts
	says "h1 kernel 1, gemm" "h2 Pictures" "h2 Where the misses come from" "h2 The pipe" "h2 The GPU" "h2 Definitions" \
		"summary NVIDIA TITAN V: $(gtrace-cat --no-rows counts | sed -n 's/^#gpu\t//p' | tr '\t' '\n' | wc -l) values" $'row\tl2.size\t4.5M' "text l1" "text dram" "text read hits (% of reads)" \
		"text position in the LRU stack (0: most recently used)" "text reuse distance (lines; a bin begins at its label)" \
		"h3 Stage before:4" "h3 Stage behind" "text compulsory" "text misses"
	[ "$(grep -c '^picture' "$BATS_TEST_TMPDIR/said")" -eq 6 ]
	grep -q '^  gcache --l1 |$' "$BATS_TEST_TMPDIR/said"
	grep -qF "code gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)'" "$BATS_TEST_TMPDIR/said"
}

@test "its numbers are those of the CSV" {
	page counts
	# Counters that the table leaves out are left out here too.
	gstats counts | awk '{ for (i = 1; i <= 2; i++) print $i }' | sort -u >table
	gstats --csv counts | awk -F, 'NR == FNR { shown[$1] = 1; next } ($3 in shown) && $1 == 1 && $4 ~ /^[1-9][0-9]*$/ && $3 !~ /[.[]/ && $3 !~ /^(size|l1_bytes|row|shared_carveout|shared_bytes)$/ { print $3 "\t" $4 }' table - >numbers
	[ "$(wc -l <numbers)" -gt 60 ]
	tr -d , <"$BATS_TEST_TMPDIR/said" | sed 's/^row\t//' >cells
	while IFS= read -r number; do
		grep -qE "^$number(	|\$)" cells || { echo "missing: $number"; return 1; }
	done <numbers
	gstats --csv counts | awk -F, '$1 == "total" && $2 == "behind" && $3 ~ /^[ABC][.]references$/ { print $4 }' | sort >references
	awk -F '\t' '$2 ~ /^[ABC]$/ { gsub(",", "", $3); print $3 }' "$BATS_TEST_TMPDIR/said" | sort | diff references -
	hits=$(gstats --csv counts | awk -F, '$1 == "total" && $2 == "l1" { v[$3] = $4 } END { printf "%.4g", 100 * v["read_hits"] / v["reads"] }')
	grep -qF "l1: gemm $hits" "$BATS_TEST_TMPDIR/said"
}

@test "every counter of the main pipe is defined, and every ratio" {
	page counts
	gstats counts | awk '{ for (i = 1; i <= 2; i++) print $i }' | sort -u >table
	sed '1,/^h2 Definitions/d' "$BATS_TEST_TMPDIR/said" | cut -f 2 | sort -u >defined
	gstats --csv counts | awk -F, 'NR == FNR { shown[$1] = 1; next } ($3 in shown) && FNR > 1 && $2 != "allocations" && $3 !~ /[.]/ { print $3 }' table - | sort -u |
		comm -23 - defined >undefined
	[ ! -s undefined ] || { echo "not defined:"; cat undefined; return 1; }
	grep -qx read_hit_ratio defined
	says $'row\tread_hit_ratio\tratio\t% of reads\t100 × (read_hits) / (reads), of one stage\'s counters.'
}

@test "two kernels and their total; one that is chosen" {
	gtrace-ptx --launch 'vectoradd<<<8,256>>>(a=f32[2048], b=f32[2048], c=f32[2048], 2048)' --launch 'vectoradd<<<4,256>>>(a, b, c, 1024)' \
		"$ROOT/examples/kernels/ptx/vectoradd.ptx" | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram >two
	page two
	says "h1 vectoradd, 2 launches"
	page --by launch two
	says "h1 all 2 kernels" "h2 Total" "h2 kernel 1, vectoradd" "h2 kernel 2, vectoradd" "text 1 vectoradd" "text 2 vectoradd"
	page --kernel nothing two
	says "h1 all 0 kernels"
	[ "$(grep -c '^picture' "$BATS_TEST_TMPDIR/said")" -eq 0 ]
}

@test "a name is shown as text, whatever it contains" {
	gtrace-cat counts | sed -e 's/name=gemm/name=<script>alert(1)<\/script>"\&amp;'\''`touch pwned`/' -e 's/names=A,B,C/names=<b>,"onclick,C/' \
		-e 's/^#history\tgcache\t0/#history\tgcache\t<i>0/' | gtrace-cat --from >hostile
	page hostile
	says "h1 kernel 1, <script>alert(1)</script>\"&amp;'\`touch pwned\`"
	[ ! -e pwned ]
}

@test "--tee passes the stream on, and writes the page beside" {
	gstats --report "$BATS_TEST_TMPDIR/page" --tee counts | gstats --csv | diff - <(gstats --csv counts)
	python3 "$ROOT/tests/page.py" "$BATS_TEST_TMPDIR/page/index.html" | grep -qx "h1 kernel 1, gemm"
	gstats --report "$BATS_TEST_TMPDIR/again" counts
	cmp "$BATS_TEST_TMPDIR/page/index.html" "$BATS_TEST_TMPDIR/again/index.html"
}

@test "errors are one line, and leave no page" {
	head -c 3000 counts >cut
	expect_failure 1 "cut" gstats --report "$BATS_TEST_TMPDIR/none" cut
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
	expect_failure 1 "gnuplot cannot be run" env PATH="$(dirname "$(command -v gstats)")" gstats --report "$BATS_TEST_TMPDIR/none" counts
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
	expect_failure 1 "cannot write the page" gstats --report /dev/null counts
	expect_failure 1 "cannot write the page" gstats --report "$BATS_TEST_TMPDIR/no/where" counts
	expect_failure 2 "--report goes with --kernel, --scale and --tee only" gstats --report x --csv counts
}
