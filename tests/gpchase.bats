#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gpchase: what [001] measured comes out of pipelines, and from latencies the cache comes back.

load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# chase NAME TRACE_OPTION...: a chase.
chase() {
	local name=$1
	shift
	gpchase trace "$@" >"$name.gt"
}

# series NAME CYCLES GCACHE_OPTION...: the chase NAME through one level.
series() {
	local name=$1 cycles=$2
	shift 2
	gcache "$@" "$name.gt" >"$name.missed"
	gpchase latency --cycles "$cycles" --data "$name.missed" "$name.gt"
}

# misses_by_n: lines "N misses" of the rounds after the first, from a series.
misses_by_n() {
	awk 'NR > 1 { seen[$1 "," $2]++ }
	     NR > 1 && seen[$1 "," $2] > 1 { accesses[$1]++; missed[$1] += $4 == 2 }
	     END { for (n in accesses) print n, missed[n], accesses[n] }' | sort -n
}

@test "trace: the accesses of a ring, and a kernel for each N" {
	gpchase trace -N 256..384 -s 128 -k 2 --base 0x1000 | gtrace-cat --decimal >out
	[ "$(grep -v '^#' out | cut -f 8 | paste -sd' ')" = "4096 4224 4096 4224 4096 4224 4352 4096 4224 4352" ]
	[ "$(grep -c '^#kernel' out)" = 2 ]
	grep -q 'name=pchase N=384 s=128 k=2 base=0x1000 order=ring' out
	gpchase trace -N 16K..24K -s 128 -k 3 | gtrace-cat --check
	gpchase trace -N 4K -s 32 --texture | gtrace-cat | grep -q load.texture
}

@test "trace: wrong options say what is accepted" {
	expect_failure 2 "expected -N" gpchase trace
	expect_failure 2 "multiple of the stride" gpchase trace -N 100 -s 64
	expect_failure 2 "multiple of 4" gpchase trace -N 100 -s 6
	expect_failure 2 "ring, retouch or patterns" gpchase trace -N 4K --order spiral
	expect_failure 2 "72 pages" gpchase trace -N 4K --order patterns -k 1
	expect_failure 2 "-k" gpchase trace -N 4K -k 0
	expect_failure 2 "trace, latency or infer" gpchase
	expect_failure 2 "expected 2 latencies" gpchase latency --cycles 1,2,3 --data x
	expect_failure 2 "expected l1, l2" gpchase infer --level nowhere
}

@test "[001] table 3: each pattern with its latency, for Kepler and both settings of Fermi" {
	chase c -N 1G --order patterns -k 1
	gcache --tlb l1tlb c.gt >t1
	gcache --tlb l2tlb --sets 17,8x6 t1 >t2
	gcache --tlb window --size 512M --line 512M --ways full c.gt >window
	gcache --l2 --size 1536K c.gt >kepler
	gcache --l1 --size 16K --index fermi --replace weighted:1/6,1/2,1/6,1/6 --sector line c.gt >fermi
	gcache --l2 --size 512K c.gt >fermi-cg
	# The paper's latencies, as patterns 1 to 6: found are the same, each for its pattern.
	gpchase latency --cycles 230,236,289,371,734,1000 --data kepler --tlb1 t1 --tlb2 t2 --window window c.gt >series
	[ "$(awk 'NR > 1 { print $4, $3 }' series | sort -u | paste -sd' ')" = "1 230 2 236 3 289 4 371 5 734 6 1000" ]
	chase c -N 144M --order patterns -k 1
	gcache --tlb l1tlb c.gt >t1
	gcache --tlb l2tlb --sets 17,8x6 t1 >t2
	gcache --l1 --size 16K --index fermi --sector line c.gt >fermi
	gcache --l2 --size 512K c.gt >fermi-cg
	gpchase latency --cycles 116,404,488,655,1259 --data fermi --tlb1 t1 --tlb2 t2 c.gt >series
	[ "$(awk 'NR > 1 { print $4, $3 }' series | sort -u | paste -sd' ')" = "1 116 2 404 3 488 4 655 5 1259" ]
	gpchase latency --cycles 371,398,482,639,1245 --data fermi-cg --tlb1 t1 --tlb2 t2 c.gt >series
	[ "$(awk 'NR > 1 { print $4, $3 }' series | sort -u | paste -sd' ')" = "1 371 2 398 3 482 4 639 5 1245" ]
	# Which access has which: the first misses all; its neighbour's page is known; then its line is there too.
	[ "$(awk 'NR > 1 && NR < 5 { print $4 }' series | paste -sd' ')" = "5 4 1" ]
}

@test "a pattern that the table does not have is an error that names it" {
	chase c -N 144M --order patterns -k 1
	gcache --tlb l1tlb c.gt >t1
	gcache --tlb l2tlb --size 1G --ways full t1 >t2
	gcache --l1 --size 256 --ways 1 c.gt >l1
	expect_failure 1 "data miss, L1 TLB miss, L2 TLB hit" gpchase latency --cycles 1,2,3,4,5 --data l1 --tlb1 t1 --tlb2 t2 c.gt
	expect_failure 1 "that gpchase trace wrote" bash -c "gtrace-order '$ROOT/examples/traces/conv.rdgc.xz' | gpchase latency --cycles 1,2 --data l1"
}

@test "[001] table 4: Fermi L1, 16 KB, lines of 128, 32 sets, not LRU; figure 8: 1/6, 1/2, 1/6, 1/6" {
	chase c -N 16256..20992:128 -s 64 -k 300
	series c 116,404 --l1 --size 16K --ways 4 --sector line --index fermi --replace weighted:1/6,1/2,1/6,1/6 >series
	gpchase infer series >out
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
	gpchase infer --level l1tlb series >out
	grep -q '^l1tlb.size = 32M # measured' out
	grep -q '^l1tlb.ways = 16 # measured: P-chase, sure: 1 sets' out
	grep -q '^l1tlb.line = 2M # measured' out
	chase c -N 128M..146M -s 1M -k 8 --base 0
	series c 404,488 --tlb l2tlb --sets 17,8x6 >sweep
	chase c -N 390M --order retouch -s 2M -k 20 --base 0
	series c 404,488 --tlb l2tlb --sets 17,8x6 >retouch
	gpchase infer --level l2tlb sweep retouch >out
	grep -q '^l2tlb.size = 130M # measured' out
	grep -q '^l2tlb.sets = 17,8x6 # measured' out
	grep -q '^l2tlb.line = 2M # measured' out
	grep -q '^l2tlb.index = mod # measured' out
	grep -q '^l2tlb.replace = lru # measured' out
}

@test "[001] table 4 and figure 12: texture L1, 12 KB, lines of 32, 4 sets by address bits 7 and 8, LRU" {
	chase c -N 12160..13312:16 -s 16 -k 4 --texture
	series c 240,470 --texture >sweep
	# Strides of a line leave open whether it is 32 or 128 bytes, as in the paper; strides of 64 and 128 tell.
	gpchase infer --level texture sweep >out
	grep -q '^texture.line = 32 # assumed' out
	grep -q 'undetermined: whether lines are of 128, filled by 32; gpchase trace -N 24K -s 128' out
	for s in 64 128; do
		chase c -N 24K -s $s -k 4 --texture
		series c 240,470 --texture >"stride$s"
	done
	chase c -N 36K --order retouch -s 32 -k 20 --texture
	series c 240,470 --texture >retouch
	gpchase infer --level texture sweep stride64 stride128 retouch >out
	grep -q '^texture.size = 12K # measured' out
	grep -q '^texture.ways = 96 # measured: P-chase, sure: 4 sets' out
	grep -q '^texture.line = 32 # measured' out
	grep -q '^texture.index = texture # measured' out
	grep -q '^texture.replace = lru # measured' out
}

@test "[001] table 5: texture and global latencies are those of hit and miss" {
	chase c -N 12K..16K:4K -s 32 -k 3 --texture
	while read -r hit miss; do
		series c "$hit,$miss" --texture >series
		[ "$(awk 'NR > 1 { print $3 }' series | sort -nu | paste -sd' ')" = "$hit $miss" ]
	done <<-'TABLE'
		240 470
		110 220
		116 404
	TABLE
}

@test "[001] figure 9: beyond Fermi's L1 chance misses less than LRU; 50 % not as a ceiling, but on the way" {
	chase c -N 16K..24K:2K -s 128 -k 400
	series c 116,404 --l1 --size 16K --ways 4 --sector line --index fermi --replace weighted:1/6,1/2,1/6,1/6 | misses_by_n >out
	# The paper's figure ends at 50 %. Its replacement probabilities alone give 2/5 with five lines for four ways,
	# 3/5 with six, and the half between them at 22 KB.
	awk '{ printf "%d %.0f\n", $1 / 1024, 100 * $2 / $3 }' out >percent
	cat percent
	awk 'BEGIN { split("0 22 40 51 60", paper) } { off = $2 - paper[NR]; if (off < -1 || off > 1) exit 1 }' percent
	series c 116,404 --l1 --size 16K --ways 4 --sector line --index fermi --replace lru | misses_by_n >lru
	[ "$(awk '{ printf "%.0f\n", 100 * $2 / $3 }' lru | paste -sd' ')" = "0 56 100 100 100" ]
}

@test "[001] figure 11: L2 TLB misses by N; the first overflow is the large set, each page more a set of 8" {
	chase c -N 130M..144M -s 2M -k 2 --base 0
	series c 404,488 --tlb l2tlb --sets 17,8x6 | misses_by_n >out
	# The paper counts the entries of the sets: 17, and 8 more each. The pages that miss are one more for each set.
	[ "$(awk '{ print $2 }' out | paste -sd' ')" = "0 18 27 36 45 54 63 72" ]
	[ "$(awk '{ print $2 - (NR > 1 ? NR - 1 : 0) }' out | paste -sd' ')" = "0 17 25 33 41 49 57 65" ]
}

@test "infer: bad series get a line" {
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
	awk 'NR == 1 || $1 > 6000' series >late
	awk 'NR == 1 || $1 <= 6000' series >early
	expect_failure 1 "expected a sweep with rising N" gpchase infer late early
}

@test "infer: a partial sweep says what is not known, and which run would settle it" {
	chase c -N 3968..4608:32 -s 32
	series c 100,200 --l1 --size 4K --ways 2 --sector line >series
	gpchase infer series >out
	grep -q 'undetermined: the sets that did not overflow; gpchase trace' out
	! grep -q 'l1.size.*sure: ' out || grep -q 'l1.size.*not sure' out
	chase c -N 1K..2K -s 32
	series c 100,200 --l1 --size 4K --ways 2 --sector line >series
	gpchase infer series >out
	grep -q 'undetermined: everything; all runs fit, up to N = 2K' out
}

@test "infer: noise is named, and does no harm" {
	chase c -N 3968..6400:32 -s 32 -k 9
	series c 100,200 --l1 --size 4K --ways 4 --sector line >series
	awk -v OFS='\t' 'BEGIN { srand(7) } NR > 1 { $3 += int(rand() * 9) - 4; if (rand() < 0.01) $3 = int(90 + rand() * 3000) } 1' series >noisy
	gpchase infer noisy >out
	grep -q '^# outliers' out
	grep -q '^l1.size = 4K # measured' out
	grep -q '^l1.ways = 4 # measured: P-chase, sure: 8 sets' out
	grep -q '^l1.line = 128 # measured' out
	grep -q '^# contradiction: N = ' out
}

@test "a real Pascal's L1, access by access: 48 ways, and a set function that explains all of it" {
	file=${GTRACE_REFERENCE:-}/pascal_l1_pchase_trace_native.csv
	[ -n "${GTRACE_REFERENCE:-}" ] && [ -r "$file" ] || skip "GTRACE_REFERENCE names no directory with pascal_l1_pchase_trace_native.csv"
	# Two runs, both beyond the capacity: two of the sets overflow, and infer is sure of nothing.
	gpchase infer --line 128 "$file" >out
	grep -q '^# latency 81 cycles (78 to 83), 7606 accesses: hits' out
	grep -q '^l1.ways = 48 # assumed: P-chase, not sure: 2 sets, all alike' out
	grep -q '^# undetermined: the capacity; no run fits' out
	! grep -q 'P-chase, sure' out
	# What was found by hand, with 4 sets in 24 KB: 12288 accesses, none of them wrong.
	[ "$(python3 "$ROOT/tests/pascal_sets.py" "$file")" = "12288 0" ]
}

@test "the examples of the manual run" { run_man_examples gpchase.1; }
