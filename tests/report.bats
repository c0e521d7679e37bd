#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gstats --report: the page, read back by tests/page.py.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)' \
		"$ROOT/examples/kernels/ptx/gemm.ptx" | gschedule --gpu titanv |
		grd --count --per sm,set:64 --classes 4 --by pc --name before |
		gcache --l1 | grd --by array --per global --name behind | gcache --l2 | gdram >counts
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$BATS_FILE_TMPDIR"/* .
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
		"summary NVIDIA TITAN V: $(gtrace-cat --no-rows counts | sed -n 's/^#gpu\t//p' | tr '\t' '\n' | wc -l) values, $(grep -c "# assumed" "$ROOT/gpus/titanv") of them assumed" $'row\tl2.size\t4.5M\tpaper\t[004] table 3' "text l1" "text dram" "text read hits (% of reads)" \
		"text position in the LRU stack (0: most recently used)" "text reuse distance (lines; a bin begins at its label)" \
		"h3 Stage before:4" "h3 Stage behind: requests" "text compulsory" "text misses"
	[ "$(grep -c '^picture' "$BATS_TEST_TMPDIR/said")" -eq 7 ]
	grep -q "^title gtrace: gtrace-ptx --launch .*: kernel 1, gemm on NVIDIA TITAN V$" "$BATS_TEST_TMPDIR/said"
	grep -q "^dd gtrace-ptx .* | gschedule --gpu titanv | .* | gdram$" "$BATS_TEST_TMPDIR/said"
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
	expect_failure 1 "no kernel has a name that 'nothing' matches: there is vectoradd" gstats --report none --kernel nothing two
	[ ! -e none ]
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

@test "sources of misses: the most misses first, each with its operation, line and kernel" {
	{
		printf '#kernel\tid=1\tname=first\tgrid=1,1,1\tblock=32,1,1\torder=none\n#count\tstage=source\tkernel=1\tpcs=[26,27]\tlines=[38,39]\tfiles=[0,0]\tnames=/a/my.cu\n'
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		# Instruction 26 has eight references, all of one line; instruction 27 three, all misses.
		for an in 0 1 2 3 4 5 6 7; do printf '0\t0\t%d\t26\tload.global\t0\t15\t0\t32\t1\n' $an; done
		for an in 8 9 10; do printf '0\t0\t%d\t27\tload.global\t%d\t15\t0\t32\t1\n' $an $((an * 128)); done
		printf '#kernel\tid=2\tname=second\tgrid=1,1,1\tblock=32,1,1\torder=none\n'
		for an in 0 1; do printf '0\t0\t%d\t26\tload.global\t%d\t15\t0\t32\t2\n' $an $((8192 + an * 128)); done
	} | gtrace-cat --from | grd --per set:2 --classes 4 --by pc --count | gcache --name l1 --size 1K --ways 8 | grd --by pc --name behind >classes
	page classes
	sed -n '/^h3 Stage classes:4/,/^picture/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | cut -f 1-6 >rows
	printf '%s\n' "class,misses,of all,operation,line,kernel" "0x1b,3,50.0 %,load.global,my.cu:39,first" "0x1a,2,33.3 %,load.global,-,second" \
		"0x1a,1,16.7 %,load.global,my.cu:38,first" | tr , '\t' | diff rows -
	sed -n '/^h3 Stage behind/,/^picture/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | cut -f 1,2,5 >rows
	printf '%s\n' "class,load misses,line" "0x1b,3,my.cu:39" "0x1a,2,-" "0x1a,1,my.cu:38" | tr , '\t' | diff rows -
	grep -qx 'value 0x1b my.cu:39 1: 3' "$BATS_TEST_TMPDIR/said"
}

# By hand, in sectors, of an L1 of 1K that writes through: pc 26 loads four sectors twice, and misses them once; pc 27 stores them five
# times, and finds them; pc 28 has one sector changed by an atomic three times, and pc 29 by a reduction.
@test "load misses, stores and atomics are three things: the first picture is not that of a store which is written through" {
	{
		printf '#kernel\tid=1\tname=first\tgrid=1,1,1\tblock=32,1,1\torder=none\n#count\tstage=source\tkernel=1\tpcs=[26,27,28,29]\tlines=[38,39,40,41]\tfiles=[0,0,0,0]\tnames=/a/my.cu\n'
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		for an in 0 1; do printf '0\t0\t%d\t26\tload.global\t0\t15\t0\t32\t1\n' $an; done
		for an in 2 3 4 5 6; do printf '0\t0\t%d\t27\tstore.global\t0\t15\t15\t32\t1\n' $an; done
		for an in 7 8 9; do printf '0\t0\t%d\t28\tatomic.global\t256\t1\t0\t32\t1\n' $an; done
		printf '0\t0\t10\t29\treduction.global\t256\t1\t0\t32\t1\n'
	} | gtrace-cat --from | gcache --l1 --size 1K --ways 8 --by pc | tee "$BATS_TEST_TMPDIR/misses" | grd --by pc --granularity sector --name behind |
		grd --op loads --by array --granularity sector --name arrays >three
	page three
	grep -E '^h3 Stage|^picture' "$BATS_TEST_TMPDIR/said" | sed 's/;.*//' | head -8 >found
	diff found - <<-'END'
		h3 Stage behind: load misses
		picture load misses against class
		h3 Stage behind: stores
		picture stores against class
		h3 Stage behind: atomics
		picture atomics against class
		h3 Stage arrays: load misses
		picture load misses against class
	END
	sed -n '/^h3 Stage behind: load/,$s/^row\t\(0x1[a-d]\)\t\([0-9]*\)\t.*/\1 \2/p' "$BATS_TEST_TMPDIR/said" | head -4 | diff - <(printf '%s\n' "0x1a 4" "0x1b 20" "0x1c 3" "0x1d 1")
	gstats --callgrind out three
	sed -n '/^events/p; /^summary/p' out | diff - <(printf '%s\n' "events: l1_reads l1_read_misses behind_loads behind_stores behind_atomics" "summary: 8 4 4 20 4")
	grep -qx '38 8 4 4 0 0' out
	grep -qx '39 0 0 0 20 0' out
	grep -qx '41 0 0 0 0 1' out
	# gcache says the same of the loads.
	[ "$(gstats --csv "$BATS_TEST_TMPDIR/misses" | awk -F, '$1 == "total" && $3 == "read_hits" { print $4 }')" -eq 4 ]
}

@test "hit rates by instruction and by source line: of sectors that loads read, at each level that counted them" {
	# By hand. In an L1 of 1K: pc 26 reads one sector eight times, 7 hit; pc 27 and 28, of one line, four sectors once each and then again: 8 of 16
	# hit; pc 29, a store, has no rate. L2 gets what misses.
	{
		printf '#kernel\tid=1\tname=first\tgrid=1,1,1\tblock=32,1,1\torder=none\n#count\tstage=source\tkernel=1\tpcs=[26,27,28,29]\tlines=[38,39,39,40]\tfiles=[0,0,0,0]\tnames=/a/my.cu\n'
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		for an in 0 1 2 3 4 5 6 7; do printf '0\t0\t%d\t26\tload.global\t0\t1\t0\t32\t1\n' $an; done
		for an in 8 9; do printf '0\t0\t%d\t27\tload.global\t128\t15\t0\t32\t1\n' $an; done
		for an in 10 11; do printf '0\t0\t%d\t28\tload.global\t256\t15\t0\t32\t1\n' $an; done
		printf '0\t0\t12\t29\tstore.global\t128\t15\t15\t32\t1\n'
	} | gtrace-cat --from | gcache --l1 --size 1K --ways 8 --by pc | grd --by pc --name behind | gcache --l2 --size 4K --ways 8 --by pc >rates
	page rates
	sed -n '/^h3 Hit rates by source line/,/^h3 Stage/s/^row\t//p' "$BATS_TEST_TMPDIR/said" >rows
	printf '%s\n' "line,kernel,l1 reads,l1 hit rate,l2 reads,l2 hit rate" "my.cu:39,first,16,50.00 %,8,0.00 %" "my.cu:38,first,8,87.50 %,1,0.00 %" |
		tr , '\t' | sed 's/first/kernel 1, first/' >expected
	sed 's/\tfirst/\tkernel 1, first/' rows | diff expected -
	sed -n '/^h3 Stage behind/,/^picture/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | awk -F '\t' -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } { print $1, $at["l1 hit rate"], $at["l2 hit rate"] }' >rows
	printf '%s\n' "class,l1 hit rate,l2 hit rate" "0x1b,50.00 %,0.00 %" "0x1c,50.00 %,0.00 %" "0x1a,87.50 %,0.00 %" "0x1d,-,-" | sort | diff - <(sort -u rows)
	# Without source lines, instructions.
	gtrace-cat rates | grep -v stage=source | gtrace-cat --from >unplaced
	page unplaced
	[ "$(sed -n '/^h3 Hit rates by source line/,/^h3 Stage/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | cut -f 1,4 | tr '\t\n' ' ;')" = "line l1 hit rate;0x1b 50.00 %;0x1c 50.00 %;0x1a 87.50 %;" ]
}

@test "coalescing: requests and sectors per access of each kernel's operations" {
	gtrace-ptx --launch 'transpose<<<(2,8),(32,8)>>>(in=f32[64*64], out=f32[64*64], rows=64, columns=64)' "$ROOT/examples/kernels/ptx/transpose.ptx" | gcoalesce >transposed
	page transposed
	gstats --csv transposed | awk -F, '$1 == 1 { v[$3] = $4 } END {
		split("load store", ops, " ")
		for (i = 1; i <= 2; i++) {
			a = v[ops[i] "_accesses"]; r = v[ops[i] "_requests"]; s = v[ops[i] "_sectors"]
			printf "kernel 1, transpose\t%ss\t%d\t%d\t%.2f\t%d\t%.2f\n", ops[i], a, r, r / a, s, s / a
		}
	}' >expected
	sed -n '/^h2 Coalescing/,/^picture/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | sed 1d | tr -d , | sed 's/^kernel 1/&,/' | diff - expected
	grep -q '^value transpose, store: ' "$BATS_TEST_TMPDIR/said"
}

@test "hardware beside the model: rows, errors, and a picture of each metric" {
	gtrace-ptx --launch 'vectoradd<<<8,256>>>(a=f32[2048], b=f32[2048], c=f32[2048], 2048)' --launch 'vectoradd<<<4,256>>>(a, b, c, 1024)' \
		"$ROOT/examples/kernels/ptx/vectoradd.ptx" | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram >two
	gstats --names ncu --csv two | sed 's/^\("1",.*lts__t_sectors_op_read.sum.*\),"[0-9]*"$/\1,"1000"/' >hardware.csv
	page --reference hardware.csv two
	says "h2 Comparison"
	gstats --reference hardware.csv --csv two >rows
	metric=lts__t_sectors_op_read.sum
	ours=$(awk -F, -v metric=$metric '$0 ~ metric { print; exit }' rows | grep -c .)
	[ "$ours" -eq 1 ]
	model=$(gstats --names ncu --csv two | sed -n "s/^\"1\",.*$metric.*,\"\([0-9]*\)\"\$/\1/p")
	grep -q "^row	vectoradd	$metric	sector	1000	$model	$((model - 1000))	" "$BATS_TEST_TMPDIR/said"
	grep -q "^value 1000: $model$" "$BATS_TEST_TMPDIR/said"
	[ "$(grep -c '^text hardware' "$BATS_TEST_TMPDIR/said")" -gt 5 ]
}

@test "the date is that of SOURCE_DATE_EPOCH, and else there is none" {
	SOURCE_DATE_EPOCH=1763800000 page counts
	says "dd 2025-11-22"
	grep -q '^title gtrace: .* on NVIDIA TITAN V, 2025-11-22$' "$BATS_TEST_TMPDIR/said"
	page counts
	run ! grep '^dd 20' "$BATS_TEST_TMPDIR/said"
	SOURCE_DATE_EPOCH=today expect_failure 2 "SOURCE_DATE_EPOCH" gstats --report "$BATS_TEST_TMPDIR/none" counts
}

@test "a foreign index.html is replaced with --force alone, a page of gtrace without" {
	mkdir site
	echo 'my own page' >site/index.html
	expect_failure 1 "site/index.html is no page of gtrace: name another folder, or replace it with --force" gstats --report site counts
	expect_failure 1 "gstats: site/index.html is no page of gtrace" gtrace report --quiet --output site counts
	[ "$(cat site/index.html)" = 'my own page' ]
	gstats --report site --force counts
	grep -q '<h1>kernel 1, gemm</h1>' site/index.html
	gtrace-order "$ROOT/examples/traces/conv.rdgc.xz" | gcoalesce | gstats --report site
	grep -q '<h1>kernel 1, conv2d</h1>' site/index.html
	echo 'my own page' >site/index.html
	gtrace report --quiet --force --output site counts
	grep -q '<h1>kernel 1, gemm</h1>' site/index.html
	expect_failure 2 "--force: expected --report" gstats --force counts
	expect_failure 2 "--force: expected report" gtrace run --force counts
}

@test "errors are one line, and leave no page" {
	head -c 3000 counts >cut
	expect_failure 1 "cut" gstats --report "$BATS_TEST_TMPDIR/none" cut
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
		expect_failure 1 "cannot write the page" gstats --report /dev/null counts
	expect_failure 1 "cannot write the page" gstats --report "$BATS_TEST_TMPDIR/no/where" counts
	expect_failure 2 "--report goes with --force, --reference, --as, --by, --kernel, --scale and --tee only" gstats --report x --csv counts
}
