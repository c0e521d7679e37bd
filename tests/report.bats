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
	says "dd kernel 1, gemm" "h2 Memory chart" "h2 Pictures" "h2 Where the misses come from" "h2 The pipe" "h2 The GPU" "h2 All counters" "summary kernel 1, gemm" "summary Definitions" \
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
	awk -F '\t' 'NR == FNR { there[$1 FS $2] = 1; next } !($0 in there) { print "missing: " $0; bad = 1 } END { exit bad }' cells numbers
	gstats --csv counts | awk -F, '$1 == "total" && $2 == "behind" && $3 ~ /^[ABC][.]references$/ { print $4 }' | sort >references
	awk -F '\t' '$2 ~ /^[ABC]$/ { gsub(",", "", $3); print $3 }' "$BATS_TEST_TMPDIR/said" | sort | diff references -
	hits=$(gstats --csv counts | awk -F, '$1 == "total" && $2 == "l1" { v[$3] = $4 } END { printf "%.4g", 100 * v["read_hits"] / v["reads"] }')
	grep -qF "l1: gemm $hits" "$BATS_TEST_TMPDIR/said"
}

@test "every counter of the main pipe is defined, and every ratio" {
	page counts
	gstats counts | awk '{ for (i = 1; i <= 2; i++) print $i }' | sort -u >table
	sed '1,/^summary Definitions/d' "$BATS_TEST_TMPDIR/said" | cut -f 2 | sort -u >defined
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
	says "dd vectoradd, 2 launches" "h3 vectoradd, 2 launches" "text 2 launches"
	page --by launch two
	says "dd 2 kernels" "h3 all 2 kernels" "summary all 2 kernels" "summary kernel 1, vectoradd" "summary kernel 2, vectoradd" "text 1 vectoradd" "text 2 vectoradd"
	expect_failure 1 "no kernel has a name that 'nothing' matches: there is vectoradd" gstats --report none --kernel nothing two
	[ ! -e none ]
}

@test "a name is shown as text, whatever it contains" {
	gtrace-cat counts | sed -e 's/name=gemm/name=<script>alert(1)<\/script>"\&amp;'\''`touch pwned`/' -e 's/names=A,B,C/names=<b>,"onclick,C/' \
		-e 's/^#history\tgcache\t0/#history\tgcache\t<i>0/' | gtrace-cat --from >hostile
	page hostile
	says "dd kernel 1, <script>alert(1)</script>\"&amp;'\`touch pwned\`"
	[ ! -e pwned ]
}

@test "--tee passes the stream on, and writes the page beside" {
	gstats --report "$BATS_TEST_TMPDIR/page" --tee counts | gstats --csv | diff - <(gstats --csv counts)
	python3 "$ROOT/tests/page.py" "$BATS_TEST_TMPDIR/page/index.html" | grep -x "dd kernel 1, gemm" >/dev/null
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
	says "text my.cu:39" "text 0x1a" # a bar is labelled with its line where that is known
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
	sed -n '/^h2 Source/,/^h2 Where/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | tr '\t' , >rows
	diff rows - <<-'END'
		line,of all load misses,L1 load hits,L1 load misses,L2 load hits
		38,11.1 %,87.5 %,1,0.0 %
		39,88.9 %,50.0 %,8,0.0 %
	END
	sed -n '/^h3 Stage behind/,/^picture/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | awk -F '\t' -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } { print $1, $at["l1 hit rate"], $at["l2 hit rate"] }' >rows
	printf '%s\n' "class,l1 hit rate,l2 hit rate" "0x1b,50.00 %,0.00 %" "0x1c,50.00 %,0.00 %" "0x1a,87.50 %,0.00 %" "0x1d,-,-" | sort | diff - <(sort -u rows)
	# Without source lines, instructions.
	gtrace-cat rates | grep -v stage=source | gtrace-cat --from >unplaced
	page unplaced
	says "h3 Instructions without a source line"
	sed -n '/^h2 Source/,/^h2 Where/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | tr '\t' , >rows
	diff rows - <<-'END'
		instruction,of all load misses,L1 load hits,L1 load misses,L2 load hits
		0x1a of kernel 1, first,11.1 %,87.5 %,1,0.0 %
		0x1b of kernel 1, first,44.4 %,50.0 %,4,0.0 %
		0x1c of kernel 1, first,44.4 %,50.0 %,4,0.0 %
	END
	grep -q 'compile it with nvcc -lineinfo' "$BATS_TEST_TMPDIR/page/index.html"
}

# What stages count by site, by hand: loads of line 10 are of 8 accesses with 32 lanes of 4 bytes, a lane a sector, where 4 sectors are enough;
# of 256 sectors, 64 hit L1, and the others miss for three reasons; L2 has half of them. Line 30 stores; line 34 is an atomic.
sited() {
	printf '#kernel\tid=1\tname=first\tgrid=1,1,1\tblock=32,1,1\torder=none\n'
	printf '#count\tstage=source\tkernel=1\tpcs=[26,27,28]\tlines=[10,30,34]\tfiles=[0,0,0]\tnames=/not/here/my.cu\n'
	printf '#count\tstage=coalesce\tkernel=1\taccesses=18\tload_accesses=8\tstore_accesses=8\tatomic_accesses=2\tload_sectors=256\tstore_sectors=32\tatomic_sectors=2'
	printf '\tshared_accesses=10\tbank_passes=40\tload_bank_conflicts=30\tunique_read_bytes=1536'
	printf '\t0x1a in a.cu:1.op=load.global\t0x1a in a.cu:1.accesses=8\t0x1a in a.cu:1.lanes=256\t0x1a in a.cu:1.bytes=1024\t0x1a in a.cu:1.sectors=256\t0x1a in a.cu:1.least_sectors=32'
	printf '\t0x1b out a.cu:2.op=store.global\t0x1b out a.cu:2.accesses=8\t0x1b out a.cu:2.bytes=1024\t0x1b out a.cu:2.sectors=32\t0x1b out a.cu:2.least_sectors=32'
	printf '\t0x1c -.op=reduction.global\t0x1c -.accesses=2\t0x1c -.bytes=8\t0x1c -.sectors=2\t0x1c -.least_sectors=2\n'
	printf '#count\tstage=l1\tkernel=1\treads=256\tread_hits=64\twrites=32\tatomics=2\tsent_reads=192\tsent_writes=32\tsent_atomics=2\tsize=1024\tinstances=1'
	printf '\t0x1a in a.cu:1.reads=256\t0x1a in a.cu:1.read_hits=64\t0x1a in a.cu:1.compulsory=32\t0x1a in a.cu:1.capacity=64\t0x1a in a.cu:1.conflict=96'
	printf '\t0x1b out a.cu:2.writes=32\t0x1c -.atomics=2\tline=128\tcompulsory=32\tcapacity=64\tconflict=96\tinvalidated=0\telsewhere=8\tdistance=[64,160]\n'
	printf '#count\tstage=l2\tkernel=1\treads=192\tread_hits=96\twrites=32\tatomics=2\tsent_reads=96\tsent_writes=34\tsize=4096\tinstances=1\thalf_reads=[100,92]\thalf_hits=[50,46]'
	printf '\t0x1a in a.cu:1.reads=192\t0x1a in a.cu:1.read_hits=96\t0x1a in a.cu:1.sent_reads=96\n'
	printf '#count\tstage=dram\tkernel=1\treads=96\twrites=34\tchannels=2\trow_hits=65\trow_misses=65\n'
	printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
}

@test "the memory chart: boxes, arrows with bytes and sectors, hit rates, what was asked for; the same in a table" {
	sited | gtrace-cat --from >sited
	page sited
	sed -n '/^h2 Memory/,/^h2 Source/s/^text //p' "$BATS_TEST_TMPDIR/said" | paste -sd '|' | sed 's/|first|/\nfirst|/' >texts
	diff texts - <<-'END'
		first|8 loads|32 sectors each|4 at least|8 stores|4 sectors each|4 at least|2 atomics|1 sector each|1 at least|L1|1 KB|load hits 25.0 %|L2|4 KB|load hits 50.0 %|half 0: 50.0 %|half 1: 50.0 %|shared|40 passes|conflicts 75.0 %|shared|10 accesses|DRAM|2 channels|row hits 50.0 %|loads 8 KB|256 sectors|12.5 % asked for|stores 1 KB|32 sectors|100 % asked for|atomics 64 B|2 sectors|12.5 % asked for|loads 6 KB|192 sectors|stores 1 KB|32 sectors|atomics 64 B|2 sectors|loads 3 KB|96 sectors|50.0 % ever used|stores 1.06 KB|34 sectors
		first|8 loads, 32 sectors each, 4 at least|8 stores, 4 sectors each, 4 at least|2 atomics, 1 sector each, 1 at least|shared: 10 accesses, 75.0 % of passes conflicts|loads 8 KB|256 sectors|12.5 % asked for|stores 1 KB|32 sectors|100 % asked for|atomics 64 B|2 sectors|12.5 % asked for|L1|1 KB|load hits 25.0 %|loads 6 KB|192 sectors|stores 1 KB|32 sectors|atomics 64 B|2 sectors|L2|4 KB|load hits 50.0 %|half 0: 50.0 %|half 1: 50.0 %|loads 3 KB|96 sectors|50.0 % ever used|stores 1.06 KB|34 sectors|DRAM|row hits 50.0 %|2 channels
	END
	says $'row\tkernel – shared\tall accesses\t-\t-\t-' $'row\tshared\tconflicts: 30 of 40 passes\t-\t-\t75.0 %' $'row\tkernel – L1\tloads\t256\t8,192\t12.5 %' $'row\tL1\tload hits\t64\t2,048\t25.0 %' $'row\tL1 – L2\tstores\t32\t1,024\t-' \
		$'row\tL2 – DRAM\tloads\t96\t3,072\t50.0 %' "value Memory chart of kernel 1, first"
	grep -q '^desc Between kernel and L1: loads 8 KB, stores 1 KB, atomics 64 B. L1 has 25.0 % load hits. Between L1 and L2: ' "$BATS_TEST_TMPDIR/said"
	# Widths are in proportion: of 290, 226 and 130 sectors in the three gaps, the widest is 96 wide.
	grep -o 'class="loads" x1="[0-9]*" x2="[0-9]*" y1="[0-9.]*" y2="[0-9.]*" stroke-width="[0-9.]*"' "$BATS_TEST_TMPDIR/page/index.html" | sed 's/.*width="//; s/"//' |
		paste -sd ' ' | diff - <(awk 'BEGIN { w = sprintf("%.1f %.1f %.1f", 96 * 256 / 290, 96 * 192 / 290, 96 * 96 / 290); print w, w }')
	# What launches read of L2 does not come from L1: 32 sectors beside 226.
	gtrace-cat sited | sed '/stage=l2/s/$/\tlaunch_reads=32\tlaunch_hits=30/' | { cat; printf '#kernel\tid=2\tname=second\tgrid=1,1,1\tblock=32,1,1\torder=none\n'; } |
		gtrace-cat --from >launched
	page launched
	says "text launches 1 KB" $'row\tL2\treads of launches\t32\t1,024\t-'
	grep -q $'^row\tkernel 1, first\t2.01 KB\t9.06 KB\t25.0 %\t8.06 KB\t50.0 %\t4.06 KB$' "$BATS_TEST_TMPDIR/said"
	# Bytes of shared memory count too: 18,560 are twice as many as the widest gap has.
	gtrace-cat sited | sed '/stage=coalesce/s/$/\t0x1d tile.op=load.shared\t0x1d tile.accesses=10\t0x1d tile.bytes=18560\t0x1d tile.passes=40\t0x1d tile.least_passes=10/' |
		gtrace-cat --from >shared
	page shared
	says "text shared 18.1 KB" $'row\tkernel – shared\tall accesses\t-\t18,560\t-'
	grep -q 'class="both" .* stroke-width="96.0"' "$BATS_TEST_TMPDIR/page/index.html"
	grep -q 'class="loads" .* stroke-width="42.4"' "$BATS_TEST_TMPDIR/page/index.html"
	# Without gdram the memory is what L2 sends; with L1 alone, the next level is not known.
	gtrace-cat sited | grep -v stage=dram | gtrace-cat --from >two
	page two
	says "text DRAM" "text not modelled" $'row\tL2 – DRAM\tstores\t34\t1,088\t-'
	gtrace-cat two | grep -v stage=l2 | gtrace-cat --from >one
	page one
	says "text next level" $'row\tL1 – next level\tloads\t192\t6,144\t25.0 %'
}

@test "the source with its columns: only lines with accesses and those around them are in the page, of a file that is source" {
	sited | gtrace-cat --from >sited
	page sited
	sed -n '/^h2 Source/,/^h2 Causes/s/^row\t//p' "$BATS_TEST_TMPDIR/said" | tr '\t' '|' >rows
	diff rows - <<-'END'
		line|arrays|of all load misses|loads|sectors a load (least)|L1 load hits|L1 load misses by cause|L2 load hits|sectors from DRAM|stores|sectors a store (least)|atomics|sectors an atomic (least)
		10|in a.cu:1|100.0 %|8|32.00 (4.00)|25.0 %|192|50.0 %|96|-|-|-|-
		30|out a.cu:2|-|-|-|-|-|-|-|8|4.00 (4.00)|-|-
		34|-|-|-|-|-|-|-|-|-|-|2|1.00 (1.00)
		array|of all load misses|loads|sectors a load (least)|L1 load hits|L1 load misses by cause|L2 load hits|sectors from DRAM|stores|sectors a store (least)|atomics|sectors an atomic (least)
		in a.cu:1|100.0 %|8|32.00 (4.00)|25.0 %|192|50.0 %|96|-|-|-|-
		(outside of all)|-|-|-|-|-|-|-|-|-|2|1.00 (1.00)
		out a.cu:2|-|-|-|-|-|-|-|8|4.00 (4.00)|-|-
	END
	grep -q 'role="img" aria-label="compulsory 32, capacity 64, conflict 96, invalidated 0"' "$BATS_TEST_TMPDIR/page/index.html"
	grep -q 'The file /not/here/my.cu is not here' "$BATS_TEST_TMPDIR/page/index.html"
	seq -f 'text %g <x>' 40 | sed 's/^text 10 /\t&/' >my.cu
	page sited
	grep -E '^code +text' "$BATS_TEST_TMPDIR/said" | paste -sd '|' | diff - <(echo 'code text 8 <x>|code text 9 <x>|code     text 10 <x>|code text 11 <x>|code text 12 <x>|code text 28 <x>|code text 29 <x>|code text 30 <x>|code text 31 <x>|code text 32 <x>|code text 33 <x>|code text 34 <x>|code text 35 <x>|code text 36 <x>')
	says $'row\t⋯ 7 lines' $'row\t⋯ 15 lines'
	seq -f 'text %g <x>' 33 >my.cu
	page sited
	run ! grep -E '^code +text' "$BATS_TEST_TMPDIR/said"
	grep -q 'The file /not/here/my.cu has 33 lines, and is not the one that was compiled' "$BATS_TEST_TMPDIR/page/index.html"
	# A stream may name any file: one that is no source is not read.
	echo secret >secret.txt
	gtrace-cat sited | sed "s|/not/here/my.cu|$PWD/secret.txt|" | gtrace-cat --from >other
	page other
	run ! grep -q secret$ "$BATS_TEST_TMPDIR/said"
	says "h3 secret.txt"
}

@test "causes of load misses by kernel and line, and the cache that has what is asked for again" {
	sited | gtrace-cat --from >sited
	page sited
	says $'row\tkernel 1, first\tl1\t192 75.0 %\t32 16.7 %\t64 33.3 %\t96 50.0 %\t0 0.0 %\t8 4.2 %' "value my.cu:10, compulsory: 32" "value my.cu:10, conflict: 96"
	# Distances 0 and 1, which caches of one line and of two have, of 128 bytes.
	says $'row\tkernel 1, first\tl1\t256\t224 87.5 %\t256 B\t256 B\t256 B\t1 KB' "value 0.125: 64" "value 0.25: 160"
	# Without lines, instructions.
	gtrace-cat sited | grep -v stage=source | gtrace-cat --from >unplaced
	page unplaced
	says "value 0x1a of kernel 1, capacity: 64"
}

# many KERNELS: as many of the one of sited.
many() {
	sited | awk -v kernels="$1" '/^#block/ { rows = $0; next } { lines[NR] = $0 } END {
		for (i = 1; i <= kernels; i++)
			for (j = 1; j <= NR; j++) {
				line = lines[j]
				sub(/kernel=1\t/, "kernel=" i "\t", line); sub(/id=1\t/, "id=" i "\t", line); sub(/name=first/, "name=kernel_" i, line)
				if (line) print line
			}
		print rows
	}'
}

@test "a page of 200 kernels, or of more, is below 2 MB, and names what it leaves out" {
	many 2000 | gtrace-cat --from >stream
	page stream
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/page/index.html")" -lt 2000000 ]
	says "dd 2000 kernels" "summary The other 1980 kernels"
	grep -q 'The tables have 180 of them: gstats --csv' "$BATS_TEST_TMPDIR/page/index.html"
	many 200 >many
	gtrace-cat --from many >stream
	page stream
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/page/index.html")" -lt 2000000 ]
	says "dd 200 kernels" "summary The other 180 kernels"
	[ "$(grep -c '^value Memory chart of' "$BATS_TEST_TMPDIR/said")" -eq 42 ] # wide and upright
	grep -q '^row	kernel 200, kernel_200	256	64	' "$BATS_TEST_TMPDIR/said"
	grep -q 'Charts show the 20 kernels with most bytes, of 200' "$BATS_TEST_TMPDIR/page/index.html"
	# 200 launches of one name are one kernel.
	sed 's/name=kernel_[0-9]*/name=one/' many | gtrace-cat --from >stream
	page stream
	says "dd one, 200 launches"
	[ "$(grep -c '^value Memory chart of' "$BATS_TEST_TMPDIR/said")" -eq 2 ]
}

@test "the heading is the program with its arguments" {
	sited | sed '1i #history\tgtrace-record\t0\t--gpu\ta100\t--replay\t-j2\t--blocks=3\t--quiet\t./my program\t--size\t20' | gtrace-cat --from >program
	page program
	says "h1 './my program' --size 20"
	# Of a source that gtrace compiles, the program is gone.
	page --program "--gpu 'my gpu' --keep-l2 './my program.cu' --size 20" program
	says "h1 './my program.cu' --size 20"
	page --program "--gpu a100 ./other --size 20" program
	says "h1 './my program' --size 20"
	# Options without an argument are those whose help names none.
	gtrace-record --help | sed -nE 's/^ +(-v, )?(--[a-z-]+) +(a|[a-z]+) .*/\2/p' | grep -vE '^--(help|version|verbose)$' | sort -u >flags
	sed -n '/is_flag/,/};/p' "$ROOT/lib/report/page/page.c" | grep -oE '"--[a-z-]+"' | tr -d '"' | grep -v verbose | sort -u | diff flags -
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
	# A page of a run has the date of the run.
	gtrace report --quiet --output dated counts
	grep -qF "<dt>date</dt><dd>$(date -u +%F)</dd>" dated/index.html
	SOURCE_DATE_EPOCH=1763800000 gtrace report --quiet --output dated counts
	grep -qF "<dt>date</dt><dd>2025-11-22</dd>" dated/index.html
	SOURCE_DATE_EPOCH=today expect_failure 2 "SOURCE_DATE_EPOCH" gstats --report "$BATS_TEST_TMPDIR/none" counts
}

@test "a foreign index.html is replaced with --force alone, a page of gtrace without" {
	mkdir site
	echo 'my own page' >site/index.html
	expect_failure 1 "site/index.html is no page of gtrace: name another folder, or replace it with --force" gstats --report site counts
	expect_failure 1 "gstats: site/index.html is no page of gtrace" gtrace report --quiet --output site counts
	[ "$(cat site/index.html)" = 'my own page' ]
	gstats --report site --force counts
	grep -q '<dd>kernel 1, gemm</dd>' site/index.html
	ordered conv | gcoalesce | gstats --report site
	grep -q '<dd>kernel 1, conv2d</dd>' site/index.html
	echo 'my own page' >site/index.html
	gtrace report --quiet --force --output site counts
	grep -q '<dd>kernel 1, gemm</dd>' site/index.html
	expect_failure 2 "--force: expected --report" gstats --force counts
	expect_failure 2 "--force: expected report" gtrace run --force counts
}

@test "where nothing can be written is said before the stream is read" {
	# A stream that never comes: the message does not wait for it.
	mkfifo never
	sleep 100 >never &
	local waits=$!
	touch file
	for place in "--report none/page" "--report file" "--output none/x" "--output ." "--callgrind none/x"; do
		# shellcheck disable=SC2086
		expect_failure 1 "cannot write" timeout 20 gstats $place never
	done
	kill "$waits"
	expect_failure 1 "gschedule: --temporary: none: No such file or directory" gschedule --sm 1 -T none counts
	expect_failure 1 "gcache: --temporary: file: Not a directory" gcache --l1 -T file counts
	expect_failure 1 "gtrace-order: --temporary: none" gtrace-order -T none "$ROOT/examples/traces/conv.rdgc.xz"
}

@test "errors are one line, and leave no page" {
	head -c 3000 counts >cut
	expect_failure 1 "cut" gstats --report "$BATS_TEST_TMPDIR/none" cut
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
		expect_failure 1 "cannot write the page" gstats --report /dev/null counts
	expect_failure 1 "cannot write the page" gstats --report "$BATS_TEST_TMPDIR/no/where" counts
	expect_failure 2 "--report goes with --force, --reference, --as, --by, --kernel, --scale and --tee only" gstats --report x --csv counts
}
