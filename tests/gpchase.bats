#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gpchase: pipelines reproduce the measurements of [001], and latencies give back the cache.

load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# chase NAME TRACE_OPTION...: a chase.
chase() {
	local name=$1
	shift
	gpchase trace "$@" >"$name.gt"
}

# series NAME HIT,MISS GCACHE_OPTION...: the chase NAME through one level; a fourth column says 1 (hit) or 2 (miss).
series() {
	local name=$1 cycles=$2
	shift 2
	gcache "$@" --emit latency --hit-cycles "${cycles%,*}" --miss-cycles "${cycles#*,}" "$name.gt" | gpchase latency |
		awk -v OFS='\t' -v hit="${cycles%,*}" '{ print $0, (NR == 1 ? "pattern" : $3 == hit ? 1 : 2) }'
}

# expect_late_failure TEXT COMMAND...: as expect_failure 1, for a command that prints rows until it fails.
expect_late_failure() {
	local text=$1 status=0
	shift
	"$@" >stdout 2>stderr || status=$?
	[ "$status" -eq 1 ] || { echo "exit status $status, expected 1"; cat stderr; return 1; }
	[ "$(wc -l <stderr)" -eq 1 ] || { cat stderr; return 1; }
	grep -qF -- "$text" stderr || { cat stderr; return 1; }
}

@test "trace: the accesses of a ring, and a kernel for each N" {
	gpchase trace -N 256..384 -s 128 -k 2 --base 0x1000 | gtrace-cat --decimal >out
	[ "$(grep -v '^#' out | cut -f 8 | paste -sd' ')" = "4096 4224 4096 4224 4096 4224 4352 4096 4224 4352" ]
	[ "$(grep -c '^#kernel' out)" = 2 ]
	grep -q 'name=pchase N=384 s=128 k=2 base=0x1000 order=ring' out
	gpchase trace -N 16K..24K -s 128 -k 3 | gtrace-cat --check
	gpchase trace -N 4K -s 32 --texture | gtrace-cat | grep -q load.texture
}

@test "trace: a random ring visits each element once, in the same order in every pass, and LRU misses as its sum says" {
	gpchase trace -N 4K -s 64 -k 2 --order random --base 0 | gtrace-cat --decimal | grep -v '^#' | cut -f 8 >out
	[ "$(head -n 1 out)" = 0 ]
	cmp <(head -n 64 out) <(tail -n 64 out)
	diff <(head -n 64 out | sort -n) <(seq 0 64 4032)
	run sort -nc <(head -n 64 out)
	[ "$status" -ne 0 ]
	# Each line has two elements, so it hits if neither gap between their uses is too long: 2 sqrt(1 - C / F) miss.
	for pair in 128:0 144:.667 160:.894 176:1; do
		gpchase trace -N "${pair%:*}K" -s 64 -k 11 --order random | gcoalesce | gcache --l1 --size 128K --ways full/4 --emit none | gstats --csv |
			awk -F, -v want="${pair#*:}" '$1 == "total" && $2 == "l1" { count[$3] = $4 }
				END { off = (count["reads"] * 10 / 11 - count["read_hits"]) / (count["reads"] * 10 / 11) - want; exit off > 0.03 || off < -0.03 }'
	done
}

@test "trace: wrong options say what is accepted" {
	expect_failure 2 "expected -N" gpchase trace
	expect_failure 2 "multiple of the stride" gpchase trace -N 100 -s 64
	expect_failure 2 "multiple of 4" gpchase trace -N 100 -s 6
	expect_failure 2 "ring, random, retouch or patterns" gpchase trace -N 4K --order spiral
	expect_failure 2 "72 pages" gpchase trace -N 4K --order patterns -k 1
	expect_failure 2 "-k" gpchase trace -N 4K -k 0
	expect_failure 2 "trace, latency or infer" gpchase
	expect_failure 2 "expected l1, l2" gpchase infer --level nowhere
}

# levels GPU LEVEL...: a chase on standard input through these levels of a GPU, as `gpchase latency` shows it.
levels() {
	local gpu=$1 level
	shift
	gcoalesce | gschedule --gpu "$gpu" --only-sm 0 >chain.gt
	for level in "$@"; do
		case $level in *tlb) level="tlb ${level%tlb}" ;; esac
		# shellcheck disable=SC2086
		gcache --$level --emit latency chain.gt >next.gt
		mv next.gt chain.gt
	done
	gtrace-cat --check chain.gt >/dev/null
	gpchase latency chain.gt
}

# patterns SERIES: the latencies of the chase `patterns`, in its order: all levels miss; the page hits; the line hits too;
# 16 pages fill the L1 TLB; page 0 misses there; the other pages; then data hits: page 0 hits the L2 TLB, and 71 pages
# miss all TLBs; and, if there is one, a far page.
patterns() { awk 'NR > 1 { print $3 }' "$1" | uniq -c | awk '{ print $1 "x" $2 }' | paste -sd' '; }

@test "[001] table 3: six latency patterns for Kepler, five for Fermi with L1 and without, access by access" {
	gpchase trace -N 1G --order patterns -k 1 | levels gtx780 l1 l2 l1tlb l2tlb window >series
	[ "$(patterns series)" = "1x734 1x371 1x230 16x734 1x236 55x734 1x236 71x289 1x1000" ]
	gpchase trace -N 144M --order patterns -k 1 | levels gtx560ti l1 l2 l1tlb l2tlb >series
	[ "$(patterns series)" = "1x1259 1x655 1x116 16x1259 1x404 55x1259 1x404 71x488" ]
	gpchase trace -N 144M --order patterns -k 1 | levels gtx560ti l2 l1tlb l2tlb >series
	[ "$(patterns series)" = "1x1245 1x639 1x371 16x1245 1x398 55x1245 1x398 71x482" ]
}

@test "[001] table 3, from GTRACE_REFERENCE: all latencies of the paper, and no others" {
	table=${GTRACE_REFERENCE:-}/mei2014_table3_global_latency.csv
	[ -n "${GTRACE_REFERENCE:-}" ] && [ -r "$table" ] || skip "GTRACE_REFERENCE names no directory with mei2014_table3_global_latency.csv"
	while IFS=: read -r name gpu size chain; do
		# shellcheck disable=SC2086
		gpchase trace -N "$size" --order patterns -k 1 | levels "$gpu" $chain >series
		diff <(awk 'NR > 1 { print $3 }' series | sort -nu) <(grep "^$name," "$table" | cut -d, -f 6 | grep . | sort -nu)
	done <<-'END'
		Kepler GTX 780:gtx780:1G:l2 l1tlb l2tlb window
		Fermi GTX 560 Ti L1 enabled:gtx560ti:144M:l1 l2 l1tlb l2tlb
		Fermi GTX 560 Ti L1 disabled:gtx560ti:144M:l2 l1tlb l2tlb
	END
}

@test "latency: input without gcache --emit latency, or with missing accesses, is an error" {
	chase c -N 4K -s 128
	gcache --l1 c.gt >missed
	expect_failure 1 "expected latencies (gcache --emit latency)" gpchase latency missed
	expect_failure 1 "expected latencies" gpchase latency c.gt
	gcache --l1 --emit latency --hit-cycles 1 --miss-cycles 2 c.gt >all
	gtrace-cat all | grep -v '^0	0	7	' | gtrace-cat --from >gap
	expect_late_failure "access 8: expected access 7, and all of them in order" gpchase latency gap
	gtrace-cat all | sed '/^0	0	90	/d; /^0	0	9[1-5]	/d' | gtrace-cat --from >short
	expect_late_failure "ends with access 90 of 96: expected all" gpchase latency short
	ordered conv | gcache --l1 --emit latency --hit-cycles 1 --miss-cycles 2 >conv
	expect_failure 1 "expected a kernel that gpchase trace wrote" gpchase latency conv
	expect_failure 1 "expected a kernel that gpchase trace wrote" gpchase infer conv
	expect_failure 2 "expected one stream" gpchase latency all all
}

# bats test_tags=whole
@test "[001] table 4: Fermi L1, 16 KB, lines of 128, 32 sets, not LRU; figure 8: 1/6, 1/2, 1/6, 1/6" {
	chase c -N 16256..20992:128 -s 64 -k 300
	series c 116,404 --l1 --size 16K --ways 4 --sector line --index fermi --replace weighted:1/6,1/2,1/6,1/6 >series
	# A sweep shows only the address bits within its N; longer strides show that higher bits do not select other sets.
	gpchase infer series >out
	grep -q '^l1.size = 16K # assumed' out
	grep -q 'undetermined: what address bits from 15 up do to the set: gpchase trace' out
	for s in 256 512 1024 2048; do
		chase c -N $((64 * s))..$((164 * s)):$s -s $s -k 150
		series c 116,404 --l1 --size 16K --ways 4 --sector line --index fermi --replace weighted:1/6,1/2,1/6,1/6 >"stride$s"
	done
	gpchase infer series stride256 stride512 stride1024 stride2048 >out
	grep -q '^l1.size = 16K # measured' out
	grep -q '^l1.ways = 4 # measured: P-chase, sure: 32 sets' out
	grep -q '^l1.line = 128 # measured' out
	grep -q '^l1.index = fermi # measured' out
	grep -q '^l1.replace = weighted:1/6,3/6,1/6,1/6 ' out
}

@test "[001] table 4 and figure 10: L1 TLB 32 MB of 2 MB in one set, L2 TLB 130 MB in 7 sets, 17 and 6 x 8, LRU" {
	chase c -N 30M..36M -s 1M -k 8
	series c 116,404 --tlb l1tlb --ways full >series
	chase c -N 64M -s 4M -k 8
	series c 116,404 --tlb l1tlb --ways full >>series
	for s in 4 8 16 32; do
		chase c -N $((16 * s))M..$((18 * s))M -s ${s}M -k 8
		series c 116,404 --tlb l1tlb --ways full >>series
	done
	gpchase infer --level l1tlb series >out
	grep -q '^l1tlb.size = 32M # measured' out
	grep -q '^l1tlb.ways = 16 # measured: P-chase, sure: 1 sets' out
	grep -q '^l1tlb.line = 2M # measured' out
	chase c -N 128M..146M -s 1M -k 8 --base 0
	series c 404,488 --tlb l2tlb --sets 17,8x6 >sweep
	chase c -N 390M --order retouch -s 2M -k 20 --base 0
	series c 404,488 --tlb l2tlb --sets 17,8x6 >retouch
	for s in 4 8 16 32; do
		chase c -N $((60 * s))M..$((73 * s))M -s ${s}M -k 8 --base 0
		series c 404,488 --tlb l2tlb --sets 17,8x6 >"stride$s"
	done
	gpchase infer --level l2tlb sweep retouch stride4 stride8 stride16 stride32 >out
	grep -q '^l2tlb.size = 130M # measured' out
	grep -q '^l2tlb.sets = 17,8x6 # measured' out
	grep -q '^l2tlb.line = 2M # measured' out
	grep -q '^l2tlb.index = mod # measured' out
	grep -q '^l2tlb.replace = lru # measured' out
}

@test "[001] table 4 and figure 12: texture L1, 12 KB, lines of 32, 4 sets by address bits 7 and 8, LRU" {
	chase c -N 12160..13312:16 -s 16 -k 4 --texture
	series c 240,470 --texture >sweep
	# Strides of one line do not show whether it has 32 or 128 bytes, as in the paper; strides of 64 and 128 do.
	gpchase infer --level texture sweep >out
	grep -q '^texture.line = 128 # assumed' out
	grep -q 'undetermined: whether lines are of 128, filled by 32: gpchase trace -N 12.5K -s 128' out
	for s in 64 128 512 1024 2048; do
		chase c -N $((94 * s))..$(((s < 512 ? 416 : 104) * s)) -s $s -k 4 --texture
		series c 240,470 --texture >"stride$s"
	done
	chase c -N 36K --order retouch -s 32 -k 20 --texture
	series c 240,470 --texture >retouch
	gpchase infer --level texture sweep stride64 stride128 stride512 stride1024 stride2048 retouch >out
	grep -q '^texture.size = 12K # measured' out
	grep -q '^texture.ways = 96 # measured: P-chase, sure: 4 sets' out
	grep -q '^texture.line = 32 # measured' out
	grep -q '^texture.index = texture # measured' out
	grep -q '^texture.replace = lru # measured' out
}

@test "infer: bad series are refused with one line" {
	printf 'N\toffset\tlatency\n' >head
	expect_failure 1 "expected a series" gpchase infer /dev/null
	expect_failure 1 "column names" gpchase infer "$ROOT/README.md"
	{ cat head; printf '128\t0\t-5\n'; } >bad
	expect_failure 1 "bad:2: column 3: expected a whole number that is not negative" gpchase infer bad
	{ cat head; printf '128\t128\t5\n'; } >bad
	expect_failure 1 "expected one below N" gpchase infer bad
	{ cat head; printf '128\t0\n'; } >bad
	expect_failure 1 "expected more columns" gpchase infer bad
	chase c -N 4K..8K:128 -s 128
	series c 100,200 --l1 --size 4K >series
	awk -v OFS='\t' 'NR > 1 { $3 = 100 } 1' series >bad
	expect_failure 1 "all alike (100 cycles)" gpchase infer bad
	awk 'NR != 60' series >bad
	expect_failure 1 "accesses are missing" gpchase infer bad
	{ cat head; awk 'NR > 1 && $1 > 6000' series; awk 'NR > 1 && $1 <= 6000' series; } >bad
	expect_failure 1 "N = 4096 after N = 8192: expected a sweep with rising N" gpchase infer bad
	chase c -N 4K..8K:128 -s 16 -k 1
	series c 100,200 --l1 --size 4K >bad
	expect_failure 1 "expected runs of one stride and two rounds" gpchase infer bad
	chase c -N 480..9600:96 -s 96
	series c 100,200 --l1 --size 4K >bad
	expect_failure 1 "expected a power of two" gpchase infer bad
}

@test "infer: files of one sweep may come in any order" {
	chase c -N 3968..6400:32 -s 32
	series c 100,200 --l1 --size 4K --sector line >series
	awk 'NR == 1 || $1 > 5000' series >late
	awk 'NR == 1 || $1 <= 5000' series >early
	[ "$(gpchase infer late early | grep -v '^#')" = "$(gpchase infer series | grep -v '^#')" ]
}

@test "infer: with a partial sweep it prints what is not known, and which run would settle it" {
	chase c -N 3968..4608:32 -s 32
	series c 100,200 --l1 --size 4K --ways 2 --sector line >series
	gpchase infer series >out
	grep -q 'undetermined: the sets that did not overflow: gpchase trace' out
	grep -q '^l1.size.*not sure' out
	chase c -N 1K..2K -s 32
	series c 100,200 --l1 --size 4K --ways 2 --sector line >series
	gpchase infer series >out
	grep -q 'undetermined: everything; all runs fit, up to N = 2K' out
}

@test "infer: noise is reported, and does not change the result" {
	chase c -N 3968..6400:32 -s 32 -k 9
	series c 100,200 --l1 --size 4K --ways 4 --sector line >series
	awk -v OFS='\t' 'BEGIN { srand(7) } NR > 1 { $3 += int(rand() * 9) - 4; if (rand() < 0.01) $3 = int(90 + rand() * 3000) } 1' series >noisy
	gpchase infer noisy >out
	grep -q '^# outliers' out
	grep -q '^l1.size = 4K ' out
	grep -q '^l1.ways = 4 # measured: P-chase, sure: 8 sets' out
	grep -q '^l1.line = 128 # measured' out
	grep -q '^# contradiction: N = ' out
}

# ask FILE GCACHE_OPTION...: makes the runs that `gpchase infer FILE` proposes on that level and appends them to FILE,
# until it proposes none.
ask() {
	local file=$1 turn command
	shift
	for turn in 1 2 3 4 5 6 7 8; do
		gpchase infer "$file" >out
		grep -q '^# undetermined' out || return 0
		sed -n 's/^# undetermined: .*: gpchase trace \(.*\) would settle it$/\1/p' out >asked
		[ -s asked ] || return 1
		while read -r command; do
			eval "chase c --base 0 ${command%%,*}"
			series c 100,200 "$@" >>"$file"
		done <asked
	done
	return 1
}

@test "infer: from a coarse sweep, by the runs that it proposes, to the complete description of the cache" {
	while IFS='|' read -r options expected; do
		chase c -N 1K..16K:1K -s 16 --base 0
		eval "series c 100,200 --l1 $options" >series
		eval "ask series --l1 $options"
		cat out
		[ "$(grep -v '^#' out | sed 's/ # measured: P-chase, sure:.*//; s/^l1\.//; s/ = /=/' | paste -sd' ')" = "$expected" ]
	done <<-'TABLE'
		--size 3K --ways 3 --line 128 --index "bits:7^9^11,8^10,9^12^13"|size=3K ways=3 line=128 sector=32 index=bits:7^11^12^13,8^10,9^12^13 replace=lru
		--size 2K --ways 4 --line 64 --sector line --replace fifo|size=2K ways=4 line=64 sector=64 index=mod replace=fifo
		--sets 5,3x2 --line 128 --sector 64|size=1408 sets=5,3x2 line=128 sector=64 index=mod replace=lru
	TABLE
}

# The policies, sizes and index functions are held beside gcache's manual, which infer_random.py computes for itself.
# bats test_tags=whole
@test "infer: random caches of all policies: nothing that is sure is wrong, no advice is repeated, and policies are named or excluded" {
	local cases=6
	[ -z "${WHOLE:-}" ] || cases=18
	"$ROOT/tests/infer_random.py" "$cases" -v >out
	cat out
	grep -qE "^$cases caches: 0 wrong and sure, ($cases|$((cases - 1))) with the policy named or excluded, 0 with repeated advice" out
}

@test "infer: PLRU is not LRU, although four in five accesses of the chase hit in any cache" {
	# 2 KB, 8 ways, lines of 128: in a ring of nine lines of a set the tree keeps some, which no LRU does.
	chase c -N 1K..16K:1K -s 16 --base 0
	series c 100,200 --l1 --size 2K --ways 8 --line 128 --replace plru >series
	run ask series --l1 --size 2K --ways 8 --line 128 --replace plru
	cat out
	grep -qE '^# undetermined: the replacement policy; not lru, fifo: |^l1.replace = plru ' out
	[ "$(grep -c '^l1.replace = lru' out)" = 0 ]
}

@test "infer: LFU with sectors does not look like lines of a sector; smod:2 is not mod" {
	chase c -N 1K..16K:1K -s 16 --base 0
	series c 100,200 --l1 --size 1K --ways 4 --line 128 --sector 32 --replace lfu >series
	run ask series --l1 --size 1K --ways 4 --line 128 --sector 32 --replace lfu
	cat out
	[ "$(grep -c 'line = 32 # measured' out)" = 0 ]
	[ "$(grep -c 'replace = lru' out)" = 0 ]
	series c 100,200 --l1 --size 1K --ways 2 --line 64 --sector 32 --index smod:2 >series
	run ask series --l1 --size 1K --ways 2 --line 64 --sector 32 --index smod:2
	cat out
	[ "$(grep -c 'index = mod # measured' out)" = 0 ]
}

@test "a real Pascal's L1, access by access: 24 KB, 4 sets of 48 ways, and a set function that explains all accesses" {
	file=${GTRACE_REFERENCE:-}/pascal_l1_pchase_trace_native.csv
	[ -n "${GTRACE_REFERENCE:-}" ] && [ -r "$file" ] || skip "GTRACE_REFERENCE names no directory with pascal_l1_pchase_trace_native.csv"
	# Two runs, both larger than the cache: two of the sets overflow. Nothing is sure, and a run is proposed.
	gpchase infer --base 0x7fe15f400000 "$file" >out
	grep -q '^# latency 81 cycles (78 to 83), 7606 accesses: hits' out
	grep -q '^l1.size = 24K # assumed: P-chase, not sure: 2 sets overflowed, 2 more hold the lines that hit' out
	grep -q '^l1.ways = 48 # assumed: P-chase, not sure: 4 sets, all alike' out
	grep -q '^l1.line = 128 # assumed' out
	grep -q '^l1.sector = 32 # assumed' out
	grep -q '^l1.replace = lru # assumed: P-chase, not sure: 0 of 12282 accesses contradict it' out
	grep -q '^# undetermined: the capacity; no run fits: gpchase trace' out
	[ "$(grep -c 'P-chase, sure' out)" = 0 ]
	# Both descriptions have this function; with it gcache has the GPU's hits, access by access.
	index=$(sed -n 's/^l1.index = \([^ ]*\) .*/\1/p' out)
	for gpu in gtx1080 titanx-pascal; do
		[ "$(sed -n 's/^l1.index *= \([^ ]*\) .*/\1/p' "$ROOT/gpus/$gpu")" = "$index" ]
		gpchase trace -N 24704..24832:128 -s 32 -k 4 --base 0x7fe15f400000 | gschedule --gpu $gpu --only-sm 0 | gcache --l1 --emit latency --hit-cycles 1 --miss-cycles 2 |
			gpchase latency >model
		awk -F '[\t,]' 'FNR == NR { hit[$1 " " $2] = 2 - $3; next }
			FNR > 1 { n++; wrong += hit[$2 " " $4] != $7 }
			END { print n, wrong }' model "$file" >compared
		[ "$(cat compared)" = "12288 0" ]
	done
	# If no sum of address bits fits, the observed sets are a function too.
	gpchase infer --line 32 "$file" >out
	grep -q '^l1.index = table:[0-3]* # assumed' out || grep -q '^# l1.index = table:[0-3]*: ' out
}

@test "the examples of the manual run" { run_man_examples gpchase.1; }
