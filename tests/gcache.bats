#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gcache: the filter, its options, and the results that the papers give.

bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# requests: lines "op address sectors full step sm" on stdin become a stream of requests.
requests() {
	awk 'BEGIN {
		OFS = "\t"
		print "#gtrace 1"
		print "#kernel", "id=1", "name=test", "grid=64,1,1", "block=1024,1,1"
		print "block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm"
	}
	/^#kernel/ { print; next }
	{ print 0, 0, NR, 0, $1, $2, $3, $4, 32, $5, $6 }' | gtrace-cat --from
}

# loads ADDRESS...: loads of whole lines on SM 0, one per step.
loads() {
	for address in "$@"; do
		echo "load.global $address 0xf 0 $((step++)) 0"
	done | requests
}

# counters STREAM STAGE NAME...: the values of the first kernel, side by side.
counters() {
	local stream=$1 stage=$2 IFS='|'
	shift 2
	gstats --csv "$stream" | awk -F, -v stage="$stage" -v names="$*" '
		$1 == 1 && $2 == stage { value[$3] = $4 }
		END { n = split(names, name, "|"); for (i = 1; i <= n; i++) if (name[i] in value) line = line " " value[name[i]]; print substr(line, 2) }'
}

# rows STREAM FIELDS: those columns of all rows, side by side.
rows() { gtrace-cat --decimal "$1" | grep -v '^#' | cut -f "$2" | paste -sd' '; }

@test "the table of the sample traces, at L1, L2 and below" {
	while read -r kernel reads read_hits writes l2_reads l2_read_hits l2_writes l2_write_hits dram_reads dram_writes; do
		ordered $kernel | gschedule --sm 80 --max-blocks 8 |
			gcache --l1 --size 32K --ways 4 --write through --allocate no |
			gcache --l2 --size 256K --ways 16 --write back --allocate yes --partial keep >out.gt
		[ "$(counters out.gt l1 reads read_hits writes)" = "$reads $read_hits $writes" ]
		[ "$(counters out.gt l2 reads read_hits writes write_hits)" = "$l2_reads $l2_read_hits $l2_writes $l2_write_hits" ]
		[ "$(counters out.gt l2 sent_reads sent_writes)" = "$dram_reads $dram_writes" ]
	done <<-'TABLE'
		gemm 41472 35840 512 5632 4096 512 512 1536 512
		conv 20412 16936 2016 3476 1428 2016 0 2048 2016
	TABLE
}

@test "accesses are coalesced here as gcoalesce does it, before and after the schedule" {
	ordered conv >accesses.gt
	gcoalesce <accesses.gt | gschedule --sm 8 | gcache --l1 | gtrace-cat | grep -v '^#\(history\|count\)' >first
	gschedule --sm 8 <accesses.gt | gcoalesce | gcache --l1 | gtrace-cat | grep -v '^#\(history\|count\)' >second
	gschedule --sm 8 <accesses.gt | gcache --l1 >third.gt
	gtrace-cat third.gt | grep -v '^#\(history\|count\)' >third
	[ "$(wc -l <first)" -gt 1000 ]
	cmp first second
	cmp first third
	[ "$(counters third.gt coalesce accesses requests)" = "5040 7308" ]
}

@test "the invariants hold after every kind of level" {
	ordered gemm | gschedule --sm 4 >in.gt
	few 6 "" "--write evict" "--allocate yes --size 4K" "--write back --size 2K" "--bypass reads" "--bypass all" \
		"--line 32 --ways 8" "--replace srrip --size 1K" "--sets 5,2x6" "--emit all" "--emit none" "--flush never"
	for l1 in "${FEW[@]}"; do
		few 2 "--size 16K --ways 16" "--size 8K --ways full --arrival rr" "--size 12K --ways 3 --index hash --partial fetch" \
			"--sector line" "--write through"
		for l2 in "${FEW[@]}"; do
			# shellcheck disable=SC2086
			gcache --l1 $l1 <in.gt | gcache --l2 $l2 | gdram | gtrace-cat --check >checked || { echo "$l1, $l2"; return 1; }
		done
	done
}

@test "reads: sectors hit, the rest is one read; the victim's write comes first" {
	printf '%s\n' "store.global 0x0 0x3 0x3 0 0" "load.global 0x0 0xf 0 1 0" "load.global 0x80 0x1 0 2 0" |
		requests | gcache --name c --size 128 --ways 1 >out.gt
	[ "$(rows out.gt 5)" = "load.global store.global load.global" ]
	[ "$(rows out.gt 6)" = "0 0 128" ]
	[ "$(rows out.gt 7)" = "0xc 0x3 0x1" ]
	[ "$(rows out.gt 8)" = "0x0 0x3 0x0" ]
	[ "$(counters out.gt c reads read_hits writes write_hits line_misses sector_misses evictions)" = "5 2 2 0 3 2 1" ]
	[ "$(counters out.gt c mru\[0\] sent_reads sent_writes sent_requests flushed)" = "2 3 2 3 0" ]
}

@test "a partial store: kept, fetched later, or at once" {
	printf '%s\n' "store.global 0x0 0x1 0 0 0" "load.global 0x0 0x1 0 1 0" | requests >in.gt
	gcache --name c --partial keep <in.gt >keep.gt
	gcache --name c --partial read <in.gt >read.gt
	gcache --name c --partial fetch <in.gt >fetch.gt
	[ "$(rows keep.gt 5,7,8 | tr '\t' ' ')" = "store.global 0x1 0x1" ]
	[ "$(rows read.gt 5,7,8 | tr '\t' ' ')" = "load.global 0x1 0x0 store.global 0x1 0x1" ]
	[ "$(counters keep.gt c sent_reads read_hits flushed)" = "0 1 1" ]
	[ "$(counters read.gt c sent_reads read_hits flushed)" = "1 0 1" ]
	[ "$(counters fetch.gt c sent_reads read_hits flushed)" = "1 1 1" ]
	[ "$(rows read.gt 10)" = "1 2" ]
	[ "$(rows fetch.gt 10)" = "0 2" ]
}

@test "a partial store that is sent on: a load finds its sector if it is kept" {
	printf '%s\n' "store.global 0x0 0x3 0x1 0 0" "load.global 0x0 0x3 0 1 0" | requests >in.gt
	for expected in "keep 2" "read 1" "fetch 1"; do
		read -r partial hits <<<"$expected"
		gcache --name c --write through --partial "$partial" <in.gt >out.gt
		[ "$(counters out.gt c reads read_hits sent_reads sent_writes)" = "2 $hits $((2 - hits)) 2" ]
	done
}

@test "--read-misses pair counts the misses of loads beside a hit of their pair, which ncu leaves out" {
	# Sector 1 misses beside 0, and 3 beside 2; 2 and 3 miss together, as 0 and 1 of an absent line do, and a store counts nowhere.
	printf '%s\n' "load.global 0x0 0x1 0 0 0" "load.global 0x0 0xf 0 1 0" "load.global 0x100 0x4 0 2 0" "load.global 0x100 0xc 0 3 0" \
		"load.global 0x200 0x3 0 4 0" "store.global 0x200 0xf 0xf 5 0" | requests >in.gt
	for level in "--l1" "--l1 --ways 4" "--l1 --ways full" "--l1 --latency fixed:1 --mshr unlimited"; do
		# shellcheck disable=SC2086
		gcache $level --read-misses pair <in.gt >out.gt
		[ "$(counters out.gt l1 reads read_hits pair_misses)" = "10 2 2" ]
		gstats --names ncu --csv out.gt | tr -d '"' | grep -q 'op_ld_lookup_miss.sum,.*6$'
		# shellcheck disable=SC2086
		gcache $level --read-misses all <in.gt | gtrace-cat >all.txt
		[ "$(grep -c pair_misses all.txt)" -eq 0 ]
	done
	expect_failure 2 "a load looks into two halves" gcache --l2 --spread far:100 --read-misses pair in.gt
}

@test "--read-misses pair counts the same in sets of any ways, whether requests are served alone or together" {
	awk 'BEGIN {
		srand(1)
		for (i = 0; i < 5000; i++)
			printf "%s.global 0x%x 0x%x %d %d %d\n", rand() < 0.9 ? "load" : "store", int(rand() * 48) * 128, 1 + int(rand() * 15), 0, i, rand() * 2
	}' | requests >in.gt
	for ways in 2 4 8 16 32; do
		gcache --l1 --size 4K --ways "$ways" --index mod --read-misses pair in.gt >together.gt
		gcache --l1 --size 4K --ways "$ways" --index mod --read-misses pair --emit all in.gt >alone.gt
		[ "$(counters together.gt l1 pair_misses)" -gt 100 ]
		[ "$(counters together.gt l1 reads read_hits sector_misses pair_misses)" = "$(counters alone.gt l1 reads read_hits sector_misses pair_misses)" ]
	done
}

@test "--fetch reads aligned groups, without the sectors that are valid" {
	printf '%s\n' "load.global 0x0 0x1 0 0 0" "load.global 0x0 0x8 0 1 0" | requests >in.gt
	for expected in "32 2" "64 4" "128 4"; do
		read -r bytes sent <<<"$expected"
		gcache --name c --fetch "$bytes" <in.gt >out.gt
		[ "$(counters out.gt c sent_reads)" = "$sent" ]
	done
}

@test "store hits are counted by recency too" {
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global 0x2000 0xf 0 1 0" "store.global 0x0 0x3 0x3 2 0" | requests >in.gt
	gcache --l1 --write evict <in.gt >out.gt
	[ "$(counters out.gt l1 write_hits dropped)" = "2 4" ]
	gtrace-cat out.gt | grep -q 'mru_writes=\[0,2,0,0\]'
	gtrace-cat --check out.gt
}

@test "atomics: done in a write-back level, sent on elsewhere" {
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "atomic.global 0x0 0x3 0 1 0" "reduction.global 0x0 0x1 0 2 0" \
		"load.global 0x0 0xf 0 3 0" | requests >in.gt
	gcache --name c --write back <in.gt >back.gt
	gcache --name c --write through <in.gt >through.gt
	[ "$(counters back.gt c atomics atomic_hits read_hits sent_reads sent_atomics flushed)" = "3 3 4 4 0 2" ]
	[ "$(counters through.gt c atomics atomic_hits read_hits sent_reads sent_atomics dropped)" = "3 0 2 6 3 2" ]
}

@test "cache operators of loads: .cg and .cv bypass an L1, lines of .cs are evicted first; --operators no ignores them" {
	few 2 "" "--latency fixed:0" "--latency fixed:1" "--on-full requeue --latency fixed:1"
	for time in "${FEW[@]}"; do
		# A warm line, then its sectors by each operator; then two lines of one set of two ways, and a third.
		printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global.cg 0x0 0x3 0 10 0" "load.global.cv 0x0 0x1 0 20 0" \
			"load.global.ca 0x0 0xf 0 30 0" "load.global.nc 0x0 0xf 0 40 0" | requests >in.gt
		# shellcheck disable=SC2086
		gcache --l1 $time <in.gt >yes.gt
		[ "$(counters yes.gt l1 reads read_hits bypassed sent_reads)" = "12 8 3 7" ]
		[ "$(counters yes.gt l1 bypassed_reads bypassed_writes)" = "3 0" ]
		[ "$(rows yes.gt 5)" = "load.global load.global.cg load.global.cv" ]
		# shellcheck disable=SC2086
		gcache --l1 --operators no $time <in.gt >no.gt
		[ "$(counters no.gt l1 reads read_hits bypassed sent_reads)" = "15 11 0 4" ]
		printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global.cs 0x80 0xf 0 10 0" "load.global 0x100 0xf 0 20 0" \
			"load.global 0x0 0xf 0 30 0" "load.global 0x80 0xf 0 40 0" | requests >stream.gt
		found() { counters <(gcache --l1 --size 256 --ways 2 "$@" <stream.gt) l1 read_hits sent_reads; }
		# shellcheck disable=SC2086
		[ "$(found $time) $(found --replace tail:1 $time) $(found --operators no $time) $(found --replace fifo $time)" = "4 16 4 16 0 20 0 20" ]
	done
	gcache --l2 <in.gt >l2.gt
	[ "$(counters l2.gt l2 reads read_hits bypassed)" = "15 11 0" ]
	[ "$(counters <(gcache --l2 --operators drop <in.gt) l2 reads read_hits bypassed)" = "15 11 0" ]
	[ -z "$(counters l2.gt l2 bypassed_reads)" ]
	# Stores and atomics, and a prefetch, which is neither a load nor a store.
	{ printf '%s\n' "load.global.cv 0x0 0x1 0 0 0" "store.global 0x0 0xf 0 10 0" "atomic.global 0x0 0x3 0 20 0"; } | requests >in.gt
	[ "$(counters <(gcache --l1 --bypass writes in.gt) l1 bypassed bypassed_reads bypassed_writes)" = "7 1 4" ]
	gtrace-ptx --launch 'hints<<<2,64>>>(u32[256]:ramp, u32[128])' "$ROOT/tests/ptx/hints.ptx" | gschedule --sm 2 | gcache --l1 --size none >hints.gt
	counters hints.gt l1 bypassed bypassed_reads bypassed_writes >none
	counters hints.gt coalesce sectors load_sectors store_sectors | diff none -
}

# On an H100 (tests/reference/README.md) the second of two such loads misses, and so does a plain load behind it.
@test "--operators drop: what .cg, .cv and .lu load leaves L1, written back if it is dirty, and its other sectors stay" {
	for operator in cg cv lu; do
		printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global.$operator 0x0 0x3 0 10 0" "load.global.$operator 0x0 0x3 0 20 0" \
			"load.global 0x0 0xf 0 30 0" | requests >in.gt
		for time in "" "--latency fixed:0" "--latency fixed:1" "--on-full requeue --latency fixed:1"; do
			# shellcheck disable=SC2086
			gcache --l1 --operators drop $time <in.gt >drop.gt
			[ "$(counters drop.gt l1 reads read_hits bypassed dropped sent_reads)" = "8 2 4 2 10" ]
		done
	done
	# A store hits by tag while its line is there (reduce_global of examples/kernels/reductions.cu).
	printf '%s\n' "store.global 0x0 0x3 0 0 0" "load.global.cg 0x0 0x3 0 10 0" "store.global 0x0 0x3 0 20 0" | requests >in.gt
	[ "$(counters <(gcache --l1 --allocate yes --write-hits tag in.gt) l1 writes write_hits)" = "4 2" ]
	[ "$(counters <(gcache --l1 --allocate yes --write-hits tag --operators drop in.gt) l1 writes write_hits)" = "4 0" ]
	gcache --l1 --write back --allocate yes --operators drop in.gt >back.gt
	[ "$(rows back.gt 5)" = "store.global load.global.cg store.global" ]
	[ "$(counters back.gt l1 sent_writes flushed)" = "4 2" ]
}

@test "--flush: kernel empties the level, never keeps it" {
	{
		echo "store.global 0x0 0xf 0xf 0 0"
		printf '#kernel\tid=2\tname=test\tgrid=64,1,1\tblock=1024,1,1\n'
		echo "load.global 0x0 0xf 0 0 0"
	} | requests >in.gt
	gcache --name c <in.gt | gstats --csv >kernel.csv
	gcache --name c --flush never <in.gt | gstats --csv >never.csv
	grep -qx "1,c,flushed,4" kernel.csv
	grep -qx "2,c,read_hits,0" kernel.csv
	grep -qx "1,c,flushed,0" never.csv
	grep -qx "2,c,read_hits,4" never.csv
	grep -qx "total,c,sent_writes,0" never.csv
}

@test "--arrival rr: one request from each SM in turn" {
	printf '%s\n' "load.global 0x000 0xf 0 0 0" "load.global 0x080 0xf 0 1 0" "load.global 0x100 0xf 0 2 0" \
		"load.global 0x180 0xf 0 3 1" "load.global 0x200 0xf 0 7 2" "load.global 0x280 0xf 0 8 2" | requests >in.gt
	gcache --name c <in.gt >step.gt
	gcache --name c --arrival rr <in.gt >rr.gt
	[ "$(rows step.gt 6)" = "0 128 256 384 512 640" ]
	[ "$(rows rr.gt 6)" = "0 384 512 128 640 256" ]
	[ "$(rows rr.gt 10)" = "0 0 0 1 1 2" ]
}

@test "--arrival travel: a request comes half of what its SM is further from the line later" {
	for sm in 0 1 2 3 4 5 6 7; do printf 'load.global 0x%x 0xf %d %d %d\n' $((sm * 128)) $((5 * (sm / 6))) $sm $sm; done | requests | gtrace-cat |
		sed '1a #gpu\tdram.channels=4' | gtrace-cat --from >in.gt
	for spread in sm:20 slice:40 sm:9,slice:12; do
		gcache --l2 --spread $spread --emit latency --hit-cycles 0 --miss-cycles 1000 in.gt | gtrace-cat |
			awk -F'\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ { print $at["step"], $at["latency"] - 1000, $at["sm"] }' >places
		# The nearest place there may be is as far below the mean as the spreads say.
		awk -v spread=$spread 'BEGIN { n = split(spread, parts, ","); for (i = 1; i <= n; i++) { split(parts[i], p, ":"); least += p[1] == "sm" ? int(p[2] / 2) : p[2] - int(p[2] / 2) } }
			{ latest = $1 > latest ? $1 : latest; come = $1 + int(($2 + least) / 2); print come < latest ? latest : come, NR, $3 }' places | sort -n -k 1,1 -k 3,3 -k 2,2 | awk '{ print $1 ":" $3 }' >expected
		gcache --l2 --spread $spread --arrival travel in.gt >travel.gt
		[ "$(rows travel.gt 10,11 | tr '\t' : | tr ' ' '\n')" = "$(cat expected)" ]
		run ! sort -c -t: -n -k 2,2 expected
		gtrace-cat --check travel.gt
	done
	# Without distances the order is that of the steps.
	[ "$(rows <(gcache --l2 --arrival travel in.gt) 6)" = "$(rows <(gcache --l2 in.gt) 6)" ]
	expect_failure 2 "shared level" gcache --l1 --arrival travel in.gt
	expect_failure 2 "by their step" gcache --l2 --arrival travel --latency fixed:1 in.gt
}

@test "--emit all passes every request, none passes nothing, both count" {
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global 0x0 0xf 0 1 0" | requests >in.gt
	gcache --l1 --emit all <in.gt >all.gt
	gcache --l1 --emit none <in.gt >none.gt
	[ "$(rows all.gt 6)" = "0 0" ]
	[ "$(rows all.gt 12)" = "miss hit" ]
	[ -z "$(gtrace-cat none.gt | grep -v '^#')" ]
	[ "$(counters all.gt l1 reads read_hits sent_reads)" = "8 4 4" ]
	[ "$(counters none.gt l1 reads read_hits sent_reads)" = "8 4 4" ]
}

@test "--emit all gives the status of each request, in the order of service" {
	printf '%s\n' "load.global 0x0 0x3 0 0 0" "load.global 0x0 0x6 0 1 0" "load.global 0x0 0x7 0 2 0" \
		"store.global 0x0 0x1 0 3 0" "store.global 0x80 0x1 0 4 0" "atomic.global 0x0 0x1 0 5 0" \
		"load.global 0x0 0x6 0 6 1" >lines
	requests <lines >in.gt
	found() { rows <(gcache "$@" --emit all <in.gt) 12; }
	[ "$(found --l1)" = "miss miss hit hit miss none miss" ]
	[ "$(found --l1 --bypass writes)" = "miss miss hit none none none miss" ]
	[ "$(found --l2)" = "miss miss hit hit miss hit hit" ]
	[ "$(found --tlb t --line 128)" = "miss hit hit hit miss hit hit" ]
	gcache --name c --arrival rr --emit all <in.gt >rr.gt
	[ "$(rows rr.gt 12)" = "miss miss hit hit hit miss hit" ]
	[ "$(rows rr.gt 10,11 | tr '\t' :)" = "0:0 0:1 1:0 2:0 3:0 4:0 5:0" ]
	# An earlier level's status is replaced; rows that are not of a level have none.
	gcache --tlb t --emit all <in.gt | gcache --l1 | gtrace-cat | grep '^#block' | grep -vq status
	gcache --l1 --emit all <in.gt | gcache --l2 --emit all >both.gt
	[ "$(rows both.gt 12)" = "miss miss hit hit miss hit hit" ]
	gtrace-cat both.gt | awk '/^#block/ { if (gsub("status", "") != 1) exit 1 }'
}

@test "--emit all: rows, order and totals agree with the counters and the input" {
	for kernel in conv gemm; do
		ordered $kernel | gcoalesce | gschedule --sm 8 >scheduled.gt
		gcache --l1 --sector line --write evict --emit all <scheduled.gt >all.gt
		diff <(gtrace-cat scheduled.gt | grep -v '^#' | cut -f 1-11) <(gtrace-cat all.gt | grep -v '^#' | cut -f 1-11)
		read -r reads read_hits writes write_hits <<<"$(counters all.gt l1 reads read_hits writes write_hits)"
		gtrace-cat all.gt | awk -F '\t' '!/^#/ { n[$12]++ } END { print n["hit"] + 0, n["miss"] + 0, n["none"] + 0 }' >found
		[ "$(cat found)" = "$((read_hits + write_hits)) $((reads + writes - read_hits - write_hits)) 0" ]
	done
}

@test "[001] figure 9: a cyclic walk over one line too many always misses under LRU, and in at most half of the accesses on Fermi" {
	step=0
	# Five lines of one set of four, a thousand times.
	for _ in $(seq 1000); do
		for line in 0 1 2 3 4; do
			echo "load.global $((line * 4096)) 0xf 0 $((step++)) 0"
		done
	done | requests >walk.gt
	gcache --l1 --size 16K --ways 4 --sector line <walk.gt >lru.gt
	gcache --l1 --size 16K --ways 4 --sector line --replace weighted:1/6,1/2,1/6,1/6 <walk.gt >fermi.gt
	[ "$(counters lru.gt l1 read_hits)" = 0 ]
	read -r hits <<<"$(counters fermi.gt l1 read_hits)"
	[ "$hits" -ge 2500 ]
	[ "$hits" -le 3200 ]
}

@test "[001] table 4, figure 11: the L2 TLB's unequal sets" {
	for expected in "65 65" "66 83" "67 91" "72 131"; do
		read -r pages misses <<<"$expected"
		step=0
		for _ in 1 2; do
			for page in $(seq 0 $((pages - 1))); do
				echo "load.global $((page * 2097152)) 0x1 0 $((step++)) 0"
			done
		done | requests | gcache --tlb l2tlb --sets 17,8x6 --line 2M >tlb.gt
		echo "$pages pages: $(counters tlb.gt l2tlb reads line_misses)"
		# Cold misses, then all lines of each set with one line too many.
		over=$((pages - 65))
		[ "$over" -le 0 ] || misses=$((pages + 18 + 9 * (over - 1)))
		[ "$(counters tlb.gt l2tlb reads line_misses)" = "$((2 * pages)) $misses" ]
	done
}

@test "[001] table 4, figure 12: the texture L1 keeps 12 KB, and 128 bytes share a set" {
	step=0
	for pass in 1 2; do
		for line in $(seq 0 95); do
			echo "load.texture $((line * 128)) 0xf 0 $((pass * 1000 + line)) 0"
		done
	done | requests | gcache --texture >fits.gt
	[ "$(counters fits.gt texture read_hits)" = 384 ]
	# 25 blocks of 128 bytes, 512 apart, are 100 lines of one set of 96.
	for pass in 1 2; do
		for block in $(seq 0 24); do
			echo "load.texture $((block * 512)) 0xf 0 $((pass * 1000 + block)) 0"
		done
	done | requests | gcache --texture >over.gt
	[ "$(counters over.gt texture reads read_hits)" = "200 0" ]
}

@test "[004] figure 2: four threads 64 bytes apart bring 256 bytes without sectors, 128 with" {
	printf '%s\n' "load.global 0x0 0x5 0 0 0" "load.global 0x80 0x5 0 0 0" | requests >in.gt
	gcache --l1 --sector line <in.gt >plain.gt
	gcache --l1 <in.gt >sectored.gt
	[ "$(counters plain.gt l1 sent_reads)" = 8 ]
	[ "$(counters sectored.gt l1 sent_reads)" = 4 ]
}

# chain_by_hand: the latencies of the next test, from the status of each lookup at each level.
chain_by_hand() {
	awk '
		FILENAME == "l1.status" { l1[FNR] = $1 }
		FILENAME == "a.status" { a[FNR] = $1 }
		END {
			for (i = 1; i in l1; i++) {
				latency = l1[i] == "hit" ? 10 : 100
				if (l1[i] != "hit") { getline word <"l2.status"; latency += word == "hit" ? 1000 : 2000 }
				if (a[i] == "hit") { print latency; continue }
				latency += latency < 1100 ? 10000 : 20000
				getline word <"b.status"
				print latency + (word == "hit" ? 1 : 100000)
			}
		}' l1.status a.status
}

@test "--ways full/4: four sets, whatever the size" {
	ordered conv | gschedule --sm 2 >in.gt
	for size in 8K 16K; do
		numbers() { counters <(gcache --l1 --size $size --ways "$1" in.gt) l1 sets ways reads read_hits evictions sent_reads; }
		[ "$(numbers full/4)" = "$(numbers $((${size%K} * 2)))" ]
		[ "$(numbers full/1)" = "$(numbers full)" ]
	done
	# From a description, beside the shared memory of a kernel.
	kernel=$(ordered conv | gschedule --gpu titanv --shared 96K | gtrace-cat |
		sed '/^#kernel/s/\(\tl1_bytes=\)[0-9]*/\165536/')
	[ "$(counters <(gtrace-cat --from <<<"$kernel" | gcache --l1) l1 sets ways)" = "4 128" ]
}

@test "a description's value of arrival applies to the functional model only" {
	sed '/^#/!{/^l2.write /i\
l2.arrival = rr # assumed: a test
}' "$ROOT/gpus/titanv" >turns
	ordered conv | gschedule --gpu ./turns | gcache --l1 >in.gt
	found() { counters <(gcache --l2 "$@" in.gt) l2 reads read_hits line_misses sector_misses sent_reads; }
	[ "$(found)" = "$(found --arrival rr)" ]
	[ "$(found)" != "$(found --arrival step)" ]
	[ "$(found --latency fixed:0)" = "$(found --arrival step)" ]
}

@test "--emit latency: each level of a chain looks up the earlier levels' misses, and adds its cycles" {
	ordered conv | gschedule --sm 2 | gcoalesce >in.gt
	gcache --l1 --size 4K --emit latency --hit-cycles 10 --miss-cycles 100 in.gt >l1.gt
	gcache --l2 --size 16K --emit latency --hit-cycles 7,100:1000 --miss-cycles 7,100:2000 l1.gt >l2.gt
	gcache --tlb a --size 8K --line 4K --emit latency --miss-cycles 10000,1100:20000 l2.gt >a.gt
	gcache --tlb b --size 16K --line 4K --emit latency --hit-cycles 1 --miss-cycles 100000 a.gt >b.gt
	gtrace-cat --check b.gt
	# Level by level: the next level looks up exactly the misses that --emit all shows.
	gcache --l1 --size 4K --emit all in.gt | gtrace-cat >l1.tsv
	awk -F'\t' '/^#/ || $12 != "hit"' l1.tsv | gtrace-cat --from | gcache --l2 --size 16K --emit all >l2-alone.gt
	gcache --tlb a --size 8K --line 4K --emit all in.gt | gtrace-cat >a.tsv
	awk -F'\t' '/^#/ || $12 != "hit"' a.tsv | gtrace-cat --from | gcache --tlb b --size 16K --line 4K --emit all >b-alone.gt
	status() { grep -v '^#' | cut -f 12; }
	status <l1.tsv >l1.status
	status <a.tsv >a.status
	gtrace-cat l2-alone.gt | status >l2.status
	gtrace-cat b-alone.gt | status >b.status
	chain_by_hand >by-hand
	[ "$(wc -l <by-hand)" = "$(counters in.gt coalesce requests)" ]
	diff by-hand <(gtrace-cat b.gt | grep -v '^#' | cut -f 13)
	for level in l1 l2; do
		[ "$(counters b.gt $level reads read_hits line_misses evictions)" = \
			"$(counters <(if [ $level = l1 ]; then gcache --l1 --size 4K in.gt; else cat l2-alone.gt; fi) $level reads read_hits line_misses evictions)" ]
	done
	# Requests pass unchanged.
	diff <(gtrace-cat in.gt | grep -v '^#' | cut -f 1-11) <(gtrace-cat b.gt | grep -v '^#' | cut -f 1-11)
}

@test "--emit latency: bypassing requests, levels without cycles, the status of another level" {
	loads 0 0 >in.gt
	latencies() { rows <(gcache "$@" --emit latency --hit-cycles 3 --miss-cycles 4294967295) 12,13; }
	[ "$(latencies --l1 <in.gt)" = "miss	4294967295 hit	3" ]
	[ "$(latencies --l1 --bypass all <in.gt)" = "none	0 none	0" ]
	[ "$(latencies --l1 --size none <in.gt)" = "none	0 none	0" ]
	[ "$(gcache --l1 --emit all in.gt | latencies --name c)" = "miss	4294967295 hit	3" ]
	[ "$(gcache --l1 --emit latency --hit-cycles 1 --miss-cycles 5 in.gt | latencies --name c)" = "miss	4294967295 hit	1" ]
	[ "$(latencies --window <in.gt)" = "tlb_hit	3 tlb_hit	3" ]
	[ "$(loads 0 0x20000000 0 | latencies --window)" = "tlb_hit	3 tlb_miss	4294967295 tlb_miss	4294967295" ]
	expect_failure 2 "emit latency: expected miss-cycles, by option or by the GPU" gcache --tlb a --emit latency in.gt
}

@test "values come from option, kernel, GPU description, default, in this order" {
	loads 0 >plain.gt
	with() { # with GPU KERNEL: the same stream with figures and an l1_bytes
		gtrace-cat plain.gt | sed -e "1a $1" -e "s/l1_bytes=0/l1_bytes=$2/" | gtrace-cat --from
	}
	tab=$(printf '\t')
	with "#gpu${tab}l1.size=16K${tab}l1.ways=8${tab}l1.index=xor" 0 >gpu.gt
	with "#gpu${tab}l1.size=16K${tab}l1.ways=8${tab}l1.index=xor" 8192 >kernel.gt
	with "#gpu${tab}l1.sets=5,2x6" 0 >sets.gt
	with "#gpu${tab}l1.index=md5" 0 >md5.gt
	shape() { counters <(gcache --l1 "$@") l1 size ways index; }
	[ "$(shape <plain.gt)" = "32768 4 mod" ]
	[ "$(shape <gpu.gt)" = "16384 8 xor" ]
	[ "$(shape --ways 2 <gpu.gt)" = "16384 2 xor" ]
	[ "$(shape <kernel.gt)" = "8192 8 xor" ]
	[ "$(shape --size 64K --index hash <kernel.gt)" = "65536 8 hash" ]
	[ "$(shape --name other <kernel.gt)" = "" ]
	[ "$(counters <(gcache --l1 --name other <kernel.gt) other size ways)" = "32768 4" ]
	[ "$(counters <(gcache --l1 <sets.gt) l1 size sets)" = "2176 7" ]
	[ "$(shape --size 4K <sets.gt)" = "4096 4 mod" ]
	expect_failure 1 "l1.index in the GPU description" gcache --l1 <md5.gt
}

@test "invalid parameters are usage errors, before anything is read" {
	while read -r text; do
		options=${text%%|*}
		# shellcheck disable=SC2086
		expect_failure 2 "${text#*|}" gcache $options </dev/null
	done <<-'TABLE'
		|expected a level
		--l1 --l2|already
		--name 1x|lower-case
		--tlb L1|lower-case
		--l1 --ways 0|ways from 1
		--l1 --ways full/0|ways from 1
		--l1 --ways full/|or full/SETS
		--l1 --size 32K --ways full/3 --line 128|does not divide into 3 equal sets
		--l1 --size 32K --ways full/512 --line 128|does not divide into 512 equal sets
		--l1 --size 0|size
		--l1 --size 99999999999999999999G|size
		--l1 --size 300000G|size
		--l1 --line 100|power of two
		--l1 --line 16|power of two
		--l1 --sector 48|power of two
		--l1 --line 64 --sector 128|does not fit
		--l1 --line 8K --sector 32|more than 64
		--l1 --line 128 --sector 32 --fetch 256|between a sector and a line
		--l1 --size 1000 --ways 4 --line 128|whole number of sets
		--l1 --size 32K --ways 3 --line 128|whole number of sets
		--l1 --size 100T --ways 4 --line 32|more than
		--l1 --sets 0|ways of each set
		--l1 --sets 8x0|ways of each set
		--l1 --sets 8x99999|ways of each set
		--l1 --sets 8,|ways of each set
		--l1 --sets 99999999,99999999|ways of each set
		--l1 --sets 4 --ways 4|leave out
		--l1 --hit-cycles x|expected cycles, then FROM:CYCLES
		--l1 --miss-cycles 1,2|expected cycles, then FROM:CYCLES
		--l1 --miss-cycles 1,3:4,2:5|rising FROM
		--l1 --miss-cycles 1,0:4|rising FROM
		--l1 --miss-cycles 1,2:3,|rising FROM
		--l1 --miss-cycles 4294967296|expected cycles
		--l1 --hit-cycles 1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1|rising FROM
		--l1 --emit latency --ports 1|leave out timing options
		--l1 --by pc --ports 1|by pc is for the functional model: leave out timing options
		--l1 --by site --ports 1|by site is for the functional model: leave out timing options
		--l1 --by line|none, pc or site
		--l1 --causes --ports 1|causes is for the functional model: leave out timing options
		--tlb l1 --causes|causes is for data caches
		--l1 --size 0K|size
		--l1 --sets 17,8x6 --line 128 --index xor|unequal
		--l1 --sets 17,8x6 --line 128 --replace plru|power of two
		--l1 --index md5|expected mod
		--l1 --index smod|expected mod
		--l1 --index smod:99|32
		--l1 --index mod:1|expected mod
		--l1 --index bits|expected mod
		--l1 --index bits:7^|expected a sum for each bit
		--l1 --index bits:7^64|expected a sum for each bit
		--l1 --size 1K --ways 1 --line 128 --index bits:7,8|is for 4 sets, not for 8
		--l1 --size 1K --ways 2 --line 128 --index bits:7,6|bit 6 is within a line
		--l1 --index table:01g|hexadecimal digits
		--l1 --size 1K --ways 2 --line 128 --index table:0124|set 4, expected one below 4
		--l1 --size 32K --ways 1 --line 128 --index table:012|2 digits for each line
		--l1 --size 48K --ways 4 --line 128 --index xor|power of two
		--l1 --size 48K --ways 4 --line 128 --index fermi|power of two
		--l1 --size 32K --ways 4 --line 256 --index texture|up to 128
		--l2 --interleave rows|expected set, mod
		--l2 --interleave set:256|expected set, mod
		--l2 --interleave mod:100|power of two
		--l2 --interleave mod:0|power of two
		--l2 --interleave mod:64 --partitions 2 --banks 1 --index mod --size 4K --ways 4 --line 128|less than a line
		--l2 --interleave xor --partitions 7 --banks 2 --index mod --size 1792K --ways 8 --line 32|mod, two-level or hash
		--l2 --interleave mod --partitions 5 --banks 1 --index mod --size 4K --ways 4 --line 128|expected a divisor of 8
		--l2 --interleave mod --partitions 2 --banks 1 --index xor --size 12K --ways 4 --line 128|power of two
		--l2 --interleave mod --partitions 1 --banks 1 --index mod --sets 4x4,2 --line 128|unequal sets
		--l1 --replace best|expected lru
		--l1 --replace opt:1|takes no argument
		--l1 --replace opt --flush never|flush kernel
		--l1 --replace opt --mshr 1x4|leave out timing options
		--l1 --replace opt -S 0|size
		--l1 --replace lru:1|takes no argument
		--l1 --replace tail|number of lines, such as tail:128
		--l1 --replace tail:0|number of lines
		--l1 --replace tail:4,x|whole number
		--l1 --replace random:x|whole number
		--l1 --replace weighted|probability
		--l1 --replace weighted:1/2,1/4|sum of 1
		--l1 --replace weighted:1/2,nan|probability
		--l1 --replace weighted:2,-1|probability
		--l1 --replace weighted:1/0|probability
		--l1 --size 32K --ways 4 --line 128 --replace weighted:1/2,1/2|2 weights for 4 ways
		--l1 --size 48K --ways 6 --line 128 --replace plru|power of two
		--l1 --write around|back, through or evict
		--l1 --allocate maybe|yes or no
		--l1 --partial drop|keep, read or fetch
		--l1 --operators some|no, yes or drop
		--l1 --hints maybe|honour, no-prefetch or ignore
		--l1 --bypass some|none, writes, reads or all
		--l1 --flush often|kernel, never or between
		--l1 --private --arrival rr|shared level
		--l1 --emit everything|misses, all, none or latency
		--l1 --seed -1|whole number
	TABLE
}

@test "an odd shape from the defaults is a usage error too, once the stream is known" {
	loads 0 >in.gt
	expect_failure 2 "whole number of sets" gcache --l1 --ways 3 <in.gt
	expect_failure 2 "whole number of sets" gcache --l1 --size 1000 <in.gt
}

# bats test_tags=whole
@test "tail: one is lru; a seed draws others; what an H100's L1 misses of rings beyond its size: tests/reference/h100_l1_ring.csv" {
	gpchase trace -N 6K -k 9 --order random | gschedule --sm 1 >ring
	missed() { gcache --l1 --size "$1" --ways full/4 --index rotate --emit none "${@:2}" | gstats --csv | awk -F, '$3 == "line_misses" { print $4; exit }'; }
	[ "$(missed 4K --replace tail:1 <ring)" -eq "$(missed 4K --replace lru <ring)" ]
	[ "$(missed 4K --replace tail:5 <ring)" -eq "$(missed 4K --replace tail:5,1 <ring)" ]
	[ "$(missed 4K --replace tail:5 <ring)" -ne "$(missed 4K --replace tail:5,2 <ring)" ]
	# 12 laps after 8, as the hardware's are after 16.
	while IFS=, read -r kb lines misses; do
		for laps in 8 20; do
			gpchase trace -N $((lines * 128)) -k $laps | gschedule --sm 1 | missed $(((kb - 7) * 1024)) --replace tail:128
		done | paste -s -d ' ' | awk -v lines="$lines" -v misses="$misses" '{ print lines, misses, ($2 - $1) / 12 }'
	done < <(tail -n +2 "$ROOT/tests/reference/h100_l1_ring.csv") >laps
	awk '($2 == 0) != ($3 == 0) || $3 < .75 * $2 || $3 > 1.65 * $2 { print; bad = 1 } { hardware += $2; model += $3 }
		END { exit bad || NR != 31 || model < .95 * hardware || model > 1.05 * hardware }' laps
}

@test "opt: more hits than any policy, whatever the memory, from step or in turn, accesses or requests" {
	ordered conv | gschedule --sm 8 >in.gt
	for sector in line 32; do
		gcache --l1 --size 4K --sector $sector --replace opt --emit none in.gt >opt.gt
		few 3 lru fifo lfu random plru srrip
		for policy in "${FEW[@]}"; do
			gcache --l1 --size 4K --sector $sector --replace $policy --emit none in.gt >other.gt
			[ "$(counters opt.gt l1 read_hits)" -ge "$(counters other.gt l1 read_hits)" ]
		done
	done
	body() { gtrace-cat "$1" | grep -v '^#history'; }
	gcache --l1 --size 4K --line 32 --replace opt in.gt >memory.gt
	gcache --l1 --size 4K --line 32 --replace opt -S 1 -T . in.gt >file.gt
	cmp <(body memory.gt) <(body file.gt)
	[ -z "$(find . -name 'gtrace*')" ]
	expect_failure 1 "nowhere" gcache --l1 --replace opt -S 1 -T nowhere in.gt
	gcache --l1 --bypass all in.gt | gcache --l2 --size 16K --arrival rr --replace opt | gdram | gtrace-cat --check
	gcache --l1 --size 4K --replace opt --emit all in.gt >all.gt
	[ "$(counters all.gt l1 read_hits)" = "$(counters opt.gt l1 read_hits)" ]
}

@test "opt by hand: the line with the farthest next use is evicted, one that a store will invalidate first" {
	loads 0 128 256 0 128 >in.gt
	gcache --name c --size 256 --ways full --replace lru <in.gt >lru.gt
	gcache --name c --size 256 --ways full --replace opt <in.gt >opt.gt
	[ "$(counters lru.gt c read_hits)" = 0 ]
	[ "$(counters opt.gt c read_hits)" = 4 ]
	printf '%s\n' "load.global 0 0xf 0 0 0" "load.global 128 0xf 0 1 0" "load.global 256 0xf 0 2 0" \
		"store.global 0 0xf 0xf 3 0" "load.global 0 0xf 0 4 0" "load.global 128 0xf 0 5 0" | requests >in.gt
	gcache --name c --size 256 --ways full --write evict --replace opt <in.gt >evict.gt
	gcache --name c --size 256 --ways full --write through --replace opt <in.gt >through.gt
	[ "$(counters evict.gt c read_hits)" = 4 ]
	[ "$(counters through.gt c read_hits)" = 4 ]
	[ "$(rows evict.gt 6)" = "0 128 256 0 0" ]
	[ "$(rows through.gt 6)" = "0 128 256 0 128" ]
}

@test "input that is not a stream is an error, and so is a truncated stream" {
	expect_failure 1 "" gcache --l1 </dev/null
	loads 0 128 256 >in.gt
	head -c -1 in.gt >cut.gt
	status=0
	gcache --l1 <cut.gt >out.gt 2>err || status=$?
	[ "$status" -eq 1 ]
	expect_failure 1 "" gstats out.gt
}

@test "the manual's examples run" {
	run_man_examples gcache.1
}

@test "a timed level without latencies and limits equals the functional one" {
	for kernel in conv gemm; do
		ordered $kernel | gschedule --sm 8 >scheduled.gt
		gcache --l1 <scheduled.gt | gtrace-cat | grep -v '^#\(history\|count\)' >functional
		gcache --l1 --latency fixed:0 <scheduled.gt | gtrace-cat | grep -v '^#\(history\|count\)' >timed
		cmp functional timed
	done
}

@test "a key of the description does not make a level timed; its value is used if an option does" {
	ordered conv | gschedule --gpu gtx470-16k >scheduled.gt
	gcache --l1 <scheduled.gt >out.gt
	[ -z "$(counters out.gt l1 steps)" ]
	gcache --l1 --latency fixed:100 <scheduled.gt >keyed.gt
	gcache --l1 --latency fixed:100 --mshr 1x64 <scheduled.gt >given.gt
	gcache --l1 --latency fixed:100 --mshr unlimited <scheduled.gt >unlimited.gt
	[ "$(counters keyed.gt l1 steps reservation_fails)" = "$(counters given.gt l1 steps reservation_fails)" ]
	[ "$(counters keyed.gt l1 steps reservation_fails)" != "$(counters unlimited.gt l1 steps reservation_fails)" ]
}

# One of n is served in each step, and the others conflict: n (n - 1) / 2 conflicts. Trying each of them again in each step
# takes ten seconds.
@test "requests of one step that wait for a port: as long as their number" {
	awk 'BEGIN { for (i = 0; i < 40000; i++) printf "load.global\t0x%x\t0xf\t0x0\t0\t0\n", i * 7919 % 40000 * 128 }' |
		requests >step.gt
	timeout 5 gcache --l1 --ports 1 step.gt >out.gt
	[ "$(counters out.gt l1 port_conflicts)" = 799980000 ]
	timeout 5 gcache --l1 --ports 1 --banks 4 --latency fixed:28 step.gt >out.gt
	[ "$(counters out.gt l1 requests)" = 40000 ]
}

# The same with one MSHR entry, which each holds for one step: n (n - 1) / 2 fails.
@test "requests of one step that wait for an MSHR entry: as long as their number" {
	awk 'BEGIN { for (i = 0; i < 40000; i++) printf "load.global\t0x%x\t0xf\t0x0\t0\t0\n", i * 7919 % 40000 * 128 }' |
		requests >step.gt
	timeout 5 gcache --l1 --mshr 1x1 --latency fixed:1 step.gt >out.gt
	[ "$(counters out.gt l1 reservation_fails)" = 799980000 ]
	[ "$(counters out.gt l1 stalls)" = 39999 ]
	timeout 5 gcache --l1 --mshr 1x32 --latency half-normal:50,20,3 step.gt >out.gt
	[ "$(counters out.gt l1 reservations)" = 40000 ]
}

# With --emit all every lookup is tried in every step.
@test "those that wait for an entry or a merge are served as if all were tried in each step" {
	few 1 20 300 5000
	for lines in "${FEW[@]}"; do
		awk -v lines=$lines 'BEGIN {
			srand(lines)
			split("load.global load.global load.global load.global store.global atomic.global", ops, " ")
			for (i = 0; i < 3000; i++)
				printf "%s\t0x%x\t0x%x\t0x0\t%d\t0\n", ops[1 + int(rand() * 6)], int(rand() * lines) * 128, 1 + int(rand() * 15), i / 1000
		}' | requests >in.gt
		while read -r options; do
			# shellcheck disable=SC2086
			timeout 60 gcache --l1 $options in.gt | gstats --csv | grep ',l1,' | grep -v ',emit,' >few
			# shellcheck disable=SC2086
			timeout 60 gcache --l1 --emit all $options in.gt | gstats --csv | grep ',l1,' | grep -v ',emit,' >all
			[ "$(wc -l <few)" -gt 40 ]
			cmp few all
		done < <(few_lines 4 <<-EOF
			--mshr 1x4 --latency fixed:50
			--mshr 1x1 --merges 1 --latency fixed:20
			--mshr 1x16 --merges 2 --latency half-normal:50,20,3 --size 2K --ways 2 --fetch 64
			--mshr 1x8 --banks 4 --latency adaptive:2,0.25 --merges 3
			--mshr 2x3 --partitions 2 --latency fixed:33 --merges 1
			--mshr 1x64 --merges 0 --latency half-normal:20,8,7 --size 512 --ways 2 --write back --sector 32
			--mshr 1x9 --merges 1 --latency fixed:30 --size 1K --ways full --write back --sector 32
		EOF
		)
	done
}

@test "timed pipes keep their invariants, and rows come by step" {
	ordered gemm | gschedule --sm 8 --max-blocks 8 >scheduled.gt
	for options in "--latency fixed:1" "--ports 2 --mshr 1x32 --merges 8 --latency adaptive:2,0.25" \
		"--mshr 1x4 --latency half-normal:50,20,3" "--mshr 1x8 --per-warp-mshr 2 --on-full requeue --latency fixed:20"; do
		# shellcheck disable=SC2086
		gcache --l1 $options <scheduled.gt | tee l1.gt | gcache --l2 --size 1792K --ways 8 --partitions 7 --banks 2 \
			--mshr 4x32 --latency fixed:50 | gdram >out.gt
		gtrace-cat --check out.gt
		gtrace-cat --decimal l1.gt | grep -v '^#' | awk 'NR > 1 { if ($10 < last) exit 1; last = $10 }'
		read -r misses latency sent reservations lookups <<<"$(counters out.gt l1 line_misses latency_misses sent_reads reservations lookups)"
		read -r sectors writes write_hits <<<"$(counters out.gt l1 sector_misses writes write_hits)"
		[ $((misses + sectors - (writes - write_hits) - latency)) -eq "$sent" ]
		gstats --csv out.gt | awk -F, -v n="$reservations" '$1 == 1 && $2 == "l1" && $3 ~ /^latency\[/ { l += $4 }
			$1 == 1 && $2 == "l1" && $3 ~ /^mshr\[/ { m += $4 } END { exit l != n || m != n }'
		[ "$lookups" -eq "$(counters out.gt l1 requests)" ]
	done
}

@test "a timed level's counters by hand: latencies, entries, stalls, and their means" {
	# Two misses of one step on one MSHR, four steps each; a hit of three; a store; two that merge.
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global 0x80 0xf 0 0 0" "load.global 0x0 0xf 0 10 0" \
		"store.global 0x0 0x1 0 11 0" "load.global 0x100 0xf 0 12 0" "load.global 0x100 0x3 0 12 0" | requests >in.gt
	gcache --l1 --mshr 1x1 --latency fixed:4 --hit-latency 3 <in.gt >out.gt
	names="lookups hit_lookups reservations merges passed_lookups reservation_fails stalls steps instance_steps latency_steps load_steps busy_entries"
	# shellcheck disable=SC2086
	[ "$(counters out.gt l1 $names)" = "6 1 3 1 1 3 3 13 13 12 18 3" ]
	gtrace-cat --check out.gt
	gstats --csv out.gt >out.csv
	grep -qx '1,l1,latency\[3\],3' out.csv
	grep -qx '1,l1,load_latency\[2\],2' out.csv
	gstats out.gt | sed 's/  */ /g' >table
	for line in "latency_steps 12 steps 4.00 steps a miss" "load_steps 18 steps 3.60 steps a load's lookup" \
		"instance_steps 13 steps 0.92 misses at a time" "stalls 3 steps 23.08 % of instance steps" \
		"busy_entries 3 entries 1.00 entries in use at a miss"; do
		grep -q "$line" table
	done
	for damage in 's/hit_lookups=1/hit_lookups=2/' 's/load_latency=\[0/load_latency=[1/' 's/stalls=3/stalls=99/'; do
		gtrace-cat out.gt | sed "/^#count/$damage" | gtrace-cat --from >wrong.gt
		expect_failure 1 "kernel 1: l1" gtrace-cat --check wrong.gt
	done
}

@test "the timed order gives the distances of [000] table 3" {
	awk 'BEGIN {
		OFS = "\t"
		print "#gtrace 1"
		print "#kernel", "id=1", "name=table3", "grid=1,1,1", "block=96,1,1"
		print "block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm"
		n = split("00 01 02 03 04 05 06 07 20 23", access, " ")
		for (i = 1; i <= n; i++) {
			line = substr(access[i], 2)
			warp = i > 8 ? 2 : int(line / 4)
			print 0, warp, 0, 0, "load.global", line * 128, 15, 0, 32, (i > 8), 0
		}
	}' | gtrace-cat --from | gcache --l1 --size 4K --ways 8 --banks 2 --ports 2 --mshr 1x2 --latency fixed:2 --emit all >order.gt
	[ "$(rows order.gt 12 | tr ' ' '\n' | uniq -c | xargs)" = "2 miss 2 reservation_fail 2 miss 2 reservation_fail 2 miss 2 reservation_fail 2 miss 2 hit" ]
	gtrace-cat order.gt | awk -F '\t' '/^#/ || $12 != "reservation_fail"' | gtrace-cat --from >served.gt
	[ "$(rows served.gt 10)" = "0 0 1 1 2 2 3 3 4 4" ]
	grd --per set:2 served.gt | gstats --csv >distances.csv
	[ "$(counters order.gt l1 reservation_fails steps)" = "6 5" ]
	grep -q '^1,reuse,.*\[3\],1$' distances.csv
	grep -q '^1,reuse,.*\[2\],1$' distances.csv
}

@test "--emit all, timed: the rows by status are the counters" {
	ordered gemm | gcoalesce | gschedule --sm 8 --max-blocks 8 >scheduled.gt
	for options in "--ports 2 --mshr 1x32 --merges 8 --latency adaptive:20,0.25" "--mshr 1x4 --latency fixed:20 --write evict" \
		"--mshr 1x8 --per-warp-mshr 2 --on-full requeue --latency half-normal:20,10,1"; do
		# shellcheck disable=SC2086
		gcache --l1 $options --emit all <scheduled.gt >all.gt
		# shellcheck disable=SC2086
		gcache --l1 $options <scheduled.gt >misses.gt
		gtrace-cat all.gt | awk -F '\t' '!/^#/ { n[$12]++; load = $5 ~ /^load/; loads[$12] += load }
			END { print n["reservation_fail"] + 0, loads["miss"] + 0, n["merged"] + n["latency_miss"], loads["hit"] + n["none"] }' >found
		read -r fails taken merges hits <found
		[ "$fails $taken $merges" = "$(counters all.gt l1 reservation_fails reservations merges)" ]
		[ "$fails" -gt 0 ]
		[ "$merges" -gt 0 ]
		[ "$hits" -gt 0 ]
		[ "$(gtrace-cat all.gt | grep -vc '^#')" -eq $((fails + $(counters all.gt l1 lookups))) ]
		diff <(gstats --csv misses.gt) <(gstats --csv all.gt | grep -v ",emit,all$")
		gtrace-cat --check all.gt
		gdram <all.gt | gtrace-cat --check
	done
	gtrace-cat all.gt | grep -q "latency_miss"
	[ "$(gtrace-cat all.gt | grep -v '^#' | grep -c "merged")" -eq 0 ]
}

@test "invalid timed options are refused with what is accepted" {
	while read -r words expected; do
		# shellcheck disable=SC2086
		run gcache --l1 ${words//,/ } </dev/null
		[ "$status" -eq 2 ] && [[ $output == *"${expected//_/ }"* ]] || { echo "$words: $output"; false; }
	done <<-'TABLE'
		--ports,0 expected_a_whole_number_from_1
		--banks,0 expected_a_whole_number_from_1
		--banks,128,--partitions,1,--size,8K,--ways,4,--line,128 expected_a_divisor_of_16
		--banks,5,--partitions,1,--size,8K,--ways,4,--line,128 expected_a_divisor_of_16
		--mshr,4x32,--partitions,5 expected_one_of_1,_2,_3,_5
		--mshr,32 expected_SETSxENTRIES
		--mshr,0x32 expected_SETSxENTRIES
		--latency,fixed:99999999999 expected_fixed:N
		--latency,half-normal:1,2 expected_fixed:N
		--latency,adaptive:1 expected_fixed:N
		--latency,slow expected_fixed:N
		--on-full,wait expected_stall_or_requeue
		--on-full,requeue,--shared private_level
		--delay,-1 expected
		--ports,1,--arrival,rr arrival_rr
		--ports,x expected_a_whole_number_from_1
		--partitions,0 expected_a_whole_number_from_1
		--partitions,1048576,--banks,1048576 1099511627776_banks_are_more_than_65536
		--mshr,1x0 expected_SETSxENTRIES
		--mshr,4x expected_SETSxENTRIES
		--mshr,99999999x1 of_at_most_65536_sets
		--mshr,3x32,--partitions,4 expected_one_of_1,_2,_4
		--merges,-1 expected_a_whole_number_from_0
		--per-warp-mshr,0 expected_a_whole_number_from_1
		--latency,fixed:-1 expected_fixed:N
		--hit-latency,9999999 expected_a_whole_number_from_0_to_1048576
		--delay,nan,--issue,rr expected_a_number_from_0_to_1024
		--schedulers,99999999,--issue,rr expected_a_whole_number_from_1_to_1048576
		--emit,latency,--ports,1 leave_out_timing_options
		--replace,opt,--ports,1 leave_out_timing_options
		--issue,lrr expected_auto,_schedule,_rr,_gto_or_fifo-pool
		--issue,rr,--shared,--on-full,stall expected_issue_schedule
		--issue,schedule,--on-full,requeue,--private expected_another_issue_than_schedule
		--schedulers,0,--issue,rr expected_a_whole_number_from_1
		--schedulers,2 expected_issue_rr,_gto_or_fifo-pool
		--delay,1 expected_issue_rr,_gto_or_fifo-pool
		--clip,no,--on-full,stall clip_no_is_for_on-full_requeue
		--requeue-unit,lane expected_access,_first-lane_or_line
		--fill,next,--on-full,stall fill_next_is_for_on-full_requeue
		--requeue-unit,access,--on-full,stall requeue-unit_is_for_on-full_requeue
		--requeue-unit,access,--ports,1 expected_requeue-unit_line
		--requeue-unit,first-lane,--merges,4 expected_requeue-unit_line
	TABLE
	for model in half-normal:1e300,1,1 half-normal:1,nan,1 half-normal:1,1, half-normal:1,1,x adaptive:-1,1 adaptive:1,2,3 fixed:1.5; do
		expect_failure 2 "expected fixed:N" gcache --l1 --latency "$model" </dev/null
	done
	run gcache --tlb t --ports 1 </dev/null
	[ "$status" -eq 2 ]
}

@test "[000] figure 1 b): seven partitions of two banks of 128K, and four sets of MSHRs" {
	# Chunks of 256 bytes are assigned to the partitions round-robin, lines of 32 bytes to the two banks of each. The
	# first three sets of MSHRs serve two partitions each, the last serves one. There are 7 loads that miss, one per
	# partition, and one entry per set.
	l2=(--l2 --size 1792K --ways 8 --line 32 --index xor --interleave two-level --partitions 7 --banks 2)
	for partition in 0 1 2 3 4 5 6; do
		echo "load.global $((256 * partition)) 0x1 0 0 0"
	done | requests >in.gt
	gcache "${l2[@]}" --mshr 4x1 --latency fixed:10 --emit all <in.gt >out.gt
	[ "$(counters out.gt l2 size sets ways interleave reservations)" = "1835008 7168 8 two-level 7" ]
	# At step 0 those of partitions 0, 2, 4 and 6 are served, the others when entries are free again.
	[ "$(gtrace-cat --decimal out.gt | awk '$12 == "miss" { print $6 ":" $10 }' | paste -sd' ')" = \
		"0:0 512:0 1024:0 1536:0 256:9 768:9 1280:9" ]
	# Two lines of a bank share its port, and lines of the two banks of a chunk do not.
	printf '%s\n' "load.global 0 0x3 0 0 0" "load.global 0 0x4 0 0 0" | requests >in.gt
	gcache "${l2[@]}" --ports 1 --latency fixed:1 <in.gt >out.gt
	[ "$(counters out.gt l2 port_conflicts steps)" = "1 2" ]
	# A description gives a functional level the same sets.
	ordered gemm | gschedule --sm 8 >scheduled.gt
	tab=$(printf '\t')
	gtrace-cat scheduled.gt | sed "1a #gpu${tab}l2.interleave=two-level${tab}l2.partitions=7${tab}l2.banks=2" | gtrace-cat --from >described.gt
	gcache --l2 --size 112K --ways 8 --line 32 --index xor --interleave two-level <described.gt >functional.gt
	gcache --l2 --size 112K --ways 8 --line 32 --index xor --interleave two-level --latency fixed:0 <described.gt >timed.gt
	[ "$(counters functional.gt l2 read_hits line_misses)" = "$(counters timed.gt l2 read_hits line_misses)" ]
	[ -z "$(counters functional.gt l2 steps)" ]
}

@test "[000] 4.4: an L1 that caches loads and evicts what is stored, and L1B, which is bypassed" {
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global 0x80 0xf 0 10 0" "store.global 0x0 0x1 0x1 20 0" \
		"load.global 0x0 0xf 0 30 0" "load.global 0x80 0xf 0 40 0" | requests >in.gt
	for time in "" "--ports 2 --mshr 1x32 --merges 8 --latency fixed:2"; do
		# shellcheck disable=SC2086
		gcache --l1 --write evict $time <in.gt >evict.gt
		# shellcheck disable=SC2086
		gcache --l1 --write evict --bypass writes $time <in.gt >won.gt
		# The store is sent on and its whole line is invalidated; the other line stays.
		[ "$(counters evict.gt l1 read_hits write_hits dropped sent_reads sent_writes)" = "4 1 4 12 1" ]
		[ "$(counters won.gt l1 read_hits writes dropped sent_reads sent_writes)" = "8 0 0 8 1" ]
	done
	# L1B: requests pass on at their step, and L2 counts as if there were no L1.
	ordered conv | gcoalesce | gschedule --gpu gtx970 >scheduled.gt
	body() { gtrace-cat "$1" | grep -v '^#\(history\|count\)'; }
	gcache --l2 --size 56K <scheduled.gt | gstats --csv | grep ,l2, >direct
	for time in "" "--ports 2 --mshr 1x32 --merges 8 --latency adaptive:2,0.25"; do
		# shellcheck disable=SC2086
		gcache --l1 --bypass all $time <scheduled.gt >l1b.gt
		cmp <(body scheduled.gt) <(body l1b.gt)
		gcache --l2 --size 56K <l1b.gt | gstats --csv | grep ,l2, | cmp - direct
		[ "$(counters l1b.gt l1 reads writes line_misses bypassed)" = "0 0 0 $(counters scheduled.gt coalesce sectors)" ]
	done
}

@test "--issue rr serves gschedule's order in the same steps, with the same idle schedulers" {
	# In the second, warps make different accesses, and three warps a block leave one of two schedulers idle ([000] algorithm 2).
	ordered gemm | gcoalesce | gschedule --sm 3 --max-blocks 4 --schedulers 2 >even.gt
	awk 'BEGIN {
		OFS = "\t"
		print "#gtrace 1"
		print "#kernel", "id=1", "name=uneven", "grid=20,1,1", "block=96,1,1"
		print "block", "warp", "an", "pc", "op", "size", "mask", "base", "stride"
		for (block = 0; block < 20; block++)
			for (an = 0; an < 12; an++)
				for (warp = 0; warp < 3; warp++)
					if (an % (block % 4 + 1) == 0 && (warp != 1 || an % 2 == 0) && an < 12 - block % 3)
						print block, warp, an, 0, "load.global", 4, "0xffffffff", 65536 + 4096 * ((7 * block + an * (warp + 1)) % 29), 64
	}' | gtrace-cat --from | gcoalesce | gschedule --sm 3 --max-blocks 4 --schedulers 2 >uneven.gt
	for input in even uneven; do
		for options in "--ports 1 --mshr 1x4 --latency adaptive:2,0.25" "--banks 2 --mshr 1x16 --merges 2 --latency fixed:30"; do
			# shellcheck disable=SC2086
			gcache --l1 $options <$input.gt >schedule.gt
			# shellcheck disable=SC2086
			gcache --l1 $options --issue rr --schedulers 2 <$input.gt >own.gt
			cmp <(gtrace-cat schedule.gt | grep -v '^#history') <(gtrace-cat own.gt | grep -v '^#history')
		done
	done
	# A pool does not leave them idle.
	[ "$(counters <(gcache --l1 --latency fixed:1 --issue fifo-pool --schedulers 2 <uneven.gt) l1 steps)" -lt \
		"$(counters <(gcache --l1 --latency fixed:1 --issue rr --schedulers 2 <uneven.gt) l1 steps)" ]
}

@test "--issue: warps that wait for their data, policies that differ, schedulers of the GPU" {
	ordered gemm | gcoalesce | gschedule --gpu titanv >scheduled.gt
	own() { counters <(gcache --l1 --size 4K --ways 4 --mshr 1x8 --latency fixed:50 "$@" <scheduled.gt) l1 lookups read_hits steps; }
	for delay in 0 1; do
		printf '%s\n' "$(own --issue rr --delay $delay)" "$(own --issue gto --delay $delay)" "$(own --issue fifo-pool --delay $delay)"
	done >found
	[ "$(cut -d ' ' -f 1 found | sort -u | wc -l)" -eq 1 ]
	[ "$(sort -u found | wc -l)" -ge 4 ]
	[ "$(own --issue gto)" = "$(own --issue gto --delay 0 --schedulers 4)" ]
	[ "$(own --on-full requeue)" = "$(own --on-full requeue --issue fifo-pool --schedulers 1 --delay 1)" ]
	# One warp waits for each of its misses, so it takes as many steps as they do.
	for i in 0 1 2 3 4; do echo "load.global $((i * 4096)) 0xf 0 $i 0"; done | requests >five.gt
	gtrace-cat five.gt | awk -F '\t' -v OFS='\t' '/^#/ { print; next } { $3 = n++; print }' | gtrace-cat --from >warp.gt
	[ "$(counters <(gcache --l1 --issue gto --latency fixed:50 --delay 1 <warp.gt) l1 steps stalls)" = "201 196" ]
	[ "$(counters <(gcache --l1 --issue gto --latency fixed:50 <warp.gt) l1 steps stalls)" = "5 0" ]
	[ "$(counters <(gcache --l1 --on-full requeue --latency fixed:50 <warp.gt) l1 steps)" = 205 ]
}

@test "--requeue-unit: an access of two lines as a whole, by its first line, and by lines" {
	# Two warps with an access of two lines each, all of which miss, and three MSHRs: the second access needs one too many.
	{
		echo '#gtrace 1'
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=64,1,1\n'
		printf 'block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\n'
		printf '0\t%s\t0\t0\tload.global\t%s\t0xf\t0\t32\t0\t0\n' 0 0 0 128 1 4096 1 4224
	} | gtrace-cat --from >in.gt
	unit() { gcache --l1 --size 16K --sector line --on-full requeue --requeue-unit "$1" --mshr "$2" --latency fixed:10 in.gt; }
	sent() { unit "$@" | gtrace-cat | grep -v '^#' | cut -f 10 | paste -sd ' '; }
	[ "$(sent access 1x3)" = "0 0 10 10" ]
	[ "$(sent first-lane 1x3)" = "0 0 1 1" ]
	[ "$(sent line 1x3)" = "0 1 2 10" ]
	[ "$(counters <(unit access 1x3) l1 reservation_fails)" = 9 ]
	[ "$(counters <(unit first-lane 1x3) l1 reservation_fails)" = 0 ]
	# An access that misses more lines than there are MSHRs waits until all are free; first-lane takes two for one.
	[ "$(sent access 1x1)" = "0 0 10 10" ]
	[ "$(sent first-lane 1x1)" = "0 0 10 10" ]
	[ "$(sent first-lane 1x2)" = "0 0 10 10" ]
	# What arrives in step 10 comes after the accesses of that step.
	[ "$(gcache --l1 --size 16K --sector line --on-full requeue --requeue-unit access --fill next --mshr 1x3 --latency fixed:10 in.gt |
		gtrace-cat | grep -v '^#' | cut -f 10 | paste -sd ' ')" = "0 0 11 11" ]
}

@test "ports with requeue: schedulers that use the same bank wait for one another" {
	ordered gemm | gcoalesce | gschedule --sm 8 >scheduled.gt
	ports() { counters <(gcache --l1 --on-full requeue --latency fixed:9 "$@" <scheduled.gt) l1 port_conflicts lookups steps; }
	[ "$(ports --ports 1)" = "$(ports)" ]
	read -r conflicts _ steps <<<"$(ports --ports 1 --schedulers 4)"
	[ "$conflicts" -gt 0 ]
	read -r free _ fewer <<<"$(ports --schedulers 4)"
	[ "$free" -eq 0 ]
	[ "$fewer" -lt "$steps" ]
	read -r banked _ _ <<<"$(ports --schedulers 4 --ports 1 --banks 4)"
	[ "$banked" -lt "$conflicts" ]
}

@test "the timed model needs scheduled rows, ordered by step" {
	ordered conv >unscheduled.gt
	run gcache --l1 --ports 1 unscheduled.gt
	[ "$status" -eq 1 ]
	[[ $output == *"put gschedule before it"* ]]
	printf 'load.global 0 0xf 0 5 0\nload.global 128 0xf 0 4 0\n' | requests >falling.gt
	run gcache --l1 --ports 1 falling.gt
	[ "$status" -eq 1 ]
	[[ $output == *"step 4 after step 5"* ]]
	printf 'load.global 0 0xf 0 18446744073709551615 0\n' | requests >far.gt
	run gcache --l1 --ports 1 far.gt
	[ "$status" -eq 1 ]
}

@test "timed kernels follow each other, and the output of many SMs is ordered by step and SM" {
	for options in "--on-full requeue --flush never" "--ports 1"; do
		# shellcheck disable=SC2086
		gtrace-order "$ROOT"/examples/traces/{gemm,conv}.rdgc.xz | gschedule --sm 8 |
			gcache --l1 $options --latency fixed:30 --mshr 1x4 --write back | tee l1.gt |
			gcache --l2 --mshr 1x8 --latency fixed:100 --ports 1 --flush never | gdram >out.gt
		gtrace-cat --check out.gt
		gtrace-cat --decimal l1.gt | grep -v '^#' | awk '
			$12 != kernel { kernel = $12; last = -1; kernels++ }
			{ place = $10 * 65536 + $11; if (place < last) exit 1; last = place }
			END { if (kernels != 2) exit 1 }'
	done
}

@test "hints of instructions: requests between levels add up, prefetches are counted separately, and --hints ignore drops them" {
	cd "$BATS_TEST_TMPDIR"
	gtrace-ptx --launch 'hints<<<2,64>>>(u32[256]:ramp, u32[128])' "$ROOT/tests/ptx/hints.ptx" | gcoalesce | gschedule --sm 2 >in.gt
	gcache --l1 <in.gt | gcache --l2 | gdram --channels 2 --banks 4 --row 2K --interleave 256 >out.gt
	gtrace-cat --check out.gt >/dev/null
	found() { gstats --csv out.gt | awk -F, -v of="$1" '$1 == "total" && $2 "." $3 == of { print $4 }'; }
	# 4 prefetches of a line and 2 discards bypass L1. Each block has read the lines of its own threads before.
	[ "$(found l1.bypassed)" -eq 24 ]
	[ "$(found l1.sent_prefetches)" -eq 16 ]
	[ "$(found l1.sent_discards)" -eq 8 ]
	[ "$(found l2.prefetches)" -eq 16 ]
	[ "$(found l2.prefetch_hits)" -eq 16 ]
	[ "$(found l2.discards)" -eq 8 ]
	# Of the loads that allocate nothing in L1, the word beyond the block's lines fetches 128 bytes.
	[ "$(found l2.sent_reads)" -eq "$(found dram.reads)" ]
	gcache --l1 <in.gt | gcache --l2 --hints ignore | gdram --channels 2 --banks 4 --row 2K --interleave 256 >out.gt
	gtrace-cat --check out.gt >/dev/null
	[ "$(found l2.prefetches)" -eq 16 ]
	[ "$(found l2.prefetch_hits)" -eq 0 ]
	run gcache --l1 --mshr 1x8 in.gt
	[ "$status" -eq 1 ]
	[[ "$output" == *"the timed model honours no hints: expected --hints ignore"* ]]
	run gcache --l1 --replace opt in.gt
	[ "$status" -eq 1 ]
	[[ "$output" == *"a request asks for L1::"*", but the policy opt honours no priority: expected --hints ignore"* ]]
	gcache --l1 --replace opt --hints ignore in.gt >/dev/null
}

@test "the timed model refuses an access policy window that applies to its level" {
	cd "$BATS_TEST_TMPDIR"
	ordered gemm | gcoalesce | gschedule --sm 4 | gtrace-cat |
		sed 's/^#kernel.*/&\tl2_window=0x200000000000,512,250000,persisting,streaming/' | gtrace-cat --from >in.gt
	gcache --l1 --size 64K --ways 4 --latency fixed:100 in.gt >/dev/null
	gcache --l2 --size 64K --ways 4 --latency fixed:100 --hints ignore in.gt >/dev/null
	run gcache --l2 --size 64K --ways 4 --latency fixed:100 in.gt
	[ "$status" -eq 1 ]
	[[ "$output" == *"the timed model honours none, expected --hints ignore"* ]]
}

@test "--by pc: reads and hits of each instruction, as the rows with their status say; the level does the same" {
	# One sector a request, so that a row hits or misses whole.
	awk 'BEGIN {
		OFS = "\t"
		print "#gtrace 1"
		print "#kernel", "id=1", "name=test", "grid=64,1,1", "block=1024,1,1"
		print "block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm"
		srand(5)
		for (i = 0; i < 4000; i++) {
			pc = int(rand() * 6); kind = pc == 4 ? "store.global" : pc == 5 ? "atomic.global" : pc == 3 ? "load.cs.global" : "load.global"
			print 0, 0, i, pc * 16, kind, 128 * int(rand() * 8 * 2 ^ pc), 2 ^ int(rand() * 4), 0, 32, i, int(rand() * 3)
		}
	}' | sed 's/load.cs.global/load.global.cs/' | gtrace-cat --from >rows
	for options in "--l2 --size 4K --ways 4 --spread far:0" "--l1 --size 2K --ways 4" "--l2 --size 2K --ways 4 --replace fifo" "--l2 --size 2K --ways 4 --replace opt" "--l1 --size 2K --ways 4 --emit latency --hit-cycles 1 --miss-cycles 2"; do
		# shellcheck disable=SC2086 # several options
		gcache $options --by pc rows >by
		# shellcheck disable=SC2086
		gcache $options rows >plain
		gstats --csv by | grep -v '^[^,]*,[^,]*,0x' | diff - <(gstats --csv plain)
		diff <(gtrace-cat by | grep -v '^#') <(gtrace-cat plain | grep -v '^#')
		# shellcheck disable=SC2086
		gcache ${options%--emit*} --emit all rows | gtrace-cat | awk -F '\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ && $5 ~ /^load/ && $at["status"] != "none" {
			reads[$4]++; hits[$4] += $at["status"] == "hit" } END { for (pc in reads) { print pc ".reads," reads[pc]; print pc ".read_hits," hits[pc] + 0 } }' | sort >expected
		gstats --csv by | awk -F, '$1 == 1 && $3 ~ /^0x/ { print $3 "," $4 }' | sort >found
		[ "$(wc -l <found)" -ge 6 ]
		diff expected found
	done
}

@test "lfu and srrip: a sector miss is one use of its line, also where the sector arrives later" {
	# Line A is used twice (its second sector misses), B twice; C replaces A, which was used longest ago: B hits again.
	printf '%s\n' "load.global 0x0 0x1 0 0 0" "load.global 0x0 0x2 0 100 0" "load.global 0x100 0x1 0 200 0" \
		"load.global 0x100 0x1 0 300 0" "load.global 0x200 0x1 0 400 0" "load.global 0x100 0x1 0 500 0" | requests >in.gt
	for options in "" "--latency fixed:0" "--latency fixed:10" "--on-full requeue --latency fixed:10"; do
		# shellcheck disable=SC2086 # several options
		gcache --l1 --size 256 --ways full --replace lfu $options in.gt >out.gt
		[ "$(counters out.gt l1 read_hits evictions)" = "2 1" ]
	done
	# The same lines with an odd number, whose home is the other half: both halves are a set of two ways.
	sed 's/ 0x\([0-2]\)00/ 0x\180/; s/ 0x0 / 0x80 /' <<<"load.global 0x0 0x1 0 0 0
load.global 0x0 0x2 0 100 0
load.global 0x100 0x1 0 200 0
load.global 0x100 0x1 0 300 0
load.global 0x200 0x1 0 400 0
load.global 0x100 0x1 0 500 0" | requests | gcache --l2 --size 512 --ways full --spread far:0 --replace lfu >out.gt
	[ "$(counters out.gt l2 read_hits half_hits\[0\])" = "2 2" ]
	# C comes while a sector of A is on its way, and makes all others older; D and E replace C and then A, which hit before C came.
	printf '%s\n' "load.global 0x0 0x1 0 0 0" "load.global 0x100 0x1 0 100 0" "load.global 0x200 0x1 0 200 0" \
		"load.global 0x0 0x2 0 205 0" "load.global 0x300 0x1 0 300 0" "load.global 0x400 0x1 0 400 0" "load.global 0x0 0x1 0 500 0" |
		requests | gcache --l1 --size 256 --ways full --replace srrip --latency fixed:10 >out.gt
	[ "$(counters out.gt l1 reads read_hits)" = "7 0" ]
}

@test "a store makes valid what it writes whole: a load of the rest of a sector misses, another store hits" {
	# Bytes 0 to 3 of a line that is there, then the sector; then a whole sector; then the first again.
	printf '%s\n' "load.global 0x0 0x8 0 0 0" "store.global 0x0 0x1 0 1 0" "store.global 0x0 0x1 0 2 0" "load.global 0x0 0x1 0 3 0" \
		"store.global 0x0 0x2 0x2 4 0" "load.global 0x0 0x3 0 5 0" | requests >in.gt
	for options in "--l1" "--l1 --replace fifo" "--l1 --ways 32" "--l1 --latency fixed:0" "--l1 --write back" "--l2 --dirty-ways 1"; do
		# shellcheck disable=SC2086 # several options
		gcache $options in.gt >out.gt
		[ "$(counters out.gt "${options:2:2}" reads read_hits writes write_hits)" = "4 2 3 1" ]
	done
	# An atomic that a lower level performs takes away what the store has left.
	printf '%s\n' "load.global 0x0 0x8 0 0 0" "store.global 0x0 0x1 0 1 0" "reduction.global 0x0 0x1 0 2 0" "store.global 0x0 0x1 0 3 0" |
		requests | gcache --l1 >out.gt
	[ "$(counters out.gt l1 writes write_hits)" = "2 0" ]
}

@test "--write-hits changes counters alone: not the status" {
	printf '%s\n' "load.global 0x0 0x1 0 0 0" "store.global 0x0 0x3 0x3 1 0" "store.global 0x0 0x3 0x3 2 0" "store.global 0x80 0x1 0x1 3 0" |
		requests >in.gt
	for counted in "sector 3" "tag 4"; do
		read -r by hits <<<"$counted"
		gcache --l2 --write-hits "$by" --emit all <in.gt >out.gt
		[ "$(rows out.gt 12)" = "miss miss hit miss" ]
		[ "$(counters out.gt l2 write_hits)" = "$hits" ]
	done
}

# On an H100 prefetch.L1 brings nothing into L1 (tests/reference/README.md).
@test "--hints no-prefetch: prefetches pass L1 by, and bring whole lines into L2" {
	printf '%s\n' "0x0 prefetch.L1" "0x0 none" "0x80 prefetch.L2" "0x80 L1::no_allocate" "0x80 none" | awk 'BEGIN { OFS = "\t"; print "#gtrace 1"
		print "#kernel", "id=1", "name=k", "grid=1,1,1", "block=32,1,1"
		print "block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm", "hint" }
		{ print 0, 0, NR, 0, "load.global", $1, "0xf", "0x0", 32, NR, 0, $2 }' | gtrace-cat --from >in.gt
	gcache --l1 <in.gt >honour.gt
	[ "$(counters honour.gt l1 prefetches sent_prefetches reads read_hits)" = "4 8 12 4" ]
	gcache --l1 --hints no-prefetch <in.gt >l1.gt
	[ "$(counters l1.gt l1 prefetches sent_prefetches reads read_hits)" = "0 8 12 0" ]
	gcache --l2 --hints no-prefetch <l1.gt >l2.gt
	[ "$(counters l2.gt l2 prefetches prefetch_hits reads read_hits)" = "8 0 12 12" ]
}

@test "prefetches have a status: hit or miss where they are looked up, none where they bypass" {
	printf '%s\n' "0x0 none" "0x0 prefetch.L2" "0x80 prefetch.L2" "0x80 none" "0x0 discard.L2" | awk 'BEGIN { OFS = "\t"; print "#gtrace 1"
		print "#kernel", "id=1", "name=k", "grid=1,1,1", "block=32,1,1"
		print "block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm", "hint" }
		{ print 0, 0, NR, 0, "load.global", $1, "0xf", 0, 32, NR, 0, $2 }' | gtrace-cat --from >in.gt
	gcache --l2 --emit all in.gt | gtrace-cat | grep -v '^#' | cut -f 12 >found
	[ "$(gtrace-cat in.gt | grep '^#block' | cut -f 12)" = hint ]
	[ "$(paste -sd ' ' found)" = "miss hit miss hit none" ]
	gcache --l2 --emit all --hints ignore in.gt | gtrace-cat | grep -v '^#' | cut -f 12 >found
	[ "$(paste -sd ' ' found)" = "miss none none miss none" ]
	gcache --l1 --emit all in.gt | gtrace-cat | grep -v '^#' | cut -f 12 >found
	[ "$(paste -sd ' ' found)" = "miss none none miss none" ]
}

@test "a streaming load of several lines: each is the next to leave as soon as it was used" {
	# Lines of 32 bytes in a set of two ways: the second line of the load replaces the first, not the line that was there.
	printf '%s\n' "load.global 0x80 0x1 0 0 0" "load.global.cs 0x0 0x3 0 1 0" "load.global 0x80 0x1 0 2 0" | requests >in.gt
	for options in "" "--latency fixed:0" "--latency fixed:1"; do
		# shellcheck disable=SC2086 # several options
		gcache --l1 --size 64 --line 32 --ways full $options in.gt >out.gt
		[ "$(counters out.gt l1 read_hits evictions)" = "1 1" ]
	done
}

@test "a level that the requests have passed already is named in one warning" {
	loads 0 128 0 >in.gt
	gcache --l1 in.gt >l1.gt
	gcache --l1 --size 64K l1.gt 2>said >/dev/null
	[ "$(cat said)" = "gcache: warning: the requests have passed a level l1 already, whose counts have this name: leave one of them out, or give one another --name" ]
	for options in "--l1 --name l15" "--texture" "--readonly" "--l2" "--l1 --quiet"; do
		# shellcheck disable=SC2086 # several options
		gcache $options l1.gt 2>said >/dev/null
		[ ! -s said ]
	done
}

# causes STREAM STAGE: load misses by their cause.
causes() { counters "$1" "$2" compulsory capacity conflict invalidated; }

@test "--causes: a stream is compulsory, a loop over twice the cache capacity, two lines of one set conflict, sums by hand" {
	step=0
	loads 0x0 0x80 0x100 0x180 0x200 0x280 0x300 0x380 >stream.gt
	gcache --l1 --size 512 --ways full --causes stream.gt >out.gt
	[ "$(causes out.gt l1)" = "32 0 0 0" ]
	# Eight lines twice: of the second time each was used seven lines before, in bin 1 + 4 * 2 + 3.
	loads 0x0 0x80 0x100 0x180 0x200 0x280 0x300 0x380 0x0 0x80 0x100 0x180 0x200 0x280 0x300 0x380 >loop.gt
	gcache --l1 --size 512 --ways full --causes loop.gt >out.gt
	[ "$(causes out.gt l1)" = "32 32 0 0" ]
	[ "$(counters out.gt l1 'distance[11]' 'distance[12]' 'distance[13]')" = "0 32" ]
	gcache --l1 --size 1K --ways full --causes loop.gt >out.gt
	[ "$(causes out.gt l1)" = "32 0 0 0" ]
	# Two lines of one set of one way, in turn; a cache of four lines has room for both.
	loads 0x0 0x200 0x0 0x200 0x0 >two.gt
	gcache --l1 --size 512 --ways 1 --causes two.gt >out.gt
	[ "$(causes out.gt l1)" = "8 0 12 0" ]
	[ "$(counters out.gt l1 'distance[0]' 'distance[1]')" = "0 12" ]
	# What is used of a line later is a miss of a sector that is new.
	printf '%s\n' "load.global 0x0 0x1 0 0 0" "load.global 0x0 0x3 0 1 0" | requests >sectors.gt
	gcache --l1 --causes sectors.gt >out.gt
	[ "$(counters out.gt l1 reads read_hits compulsory 'distance[0]')" = "3 1 2 1" ]
}

@test "--causes: what stores, atomics and discards drop is invalidated, whatever the size" {
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "store.global 0x0 0x1 1 1 0" "load.global 0x0 0xf 0 2 0" | requests >store.gt
	gcache --l1 --write evict --causes store.gt >out.gt
	[ "$(causes out.gt l1)" = "4 0 0 4" ]
	gcache --l1 --write through --causes store.gt >out.gt
	[ "$(causes out.gt l1)" = "4 0 0 0" ]
	# The line has left a cache of one line before the store comes: no cache would have it.
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global 0x80 0xf 0 1 0" "store.global 0x0 0x1 1 2 0" "load.global 0x0 0xf 0 3 0" |
		requests | gcache --l1 --size 128 --ways 1 --write evict --causes >out.gt
	[ "$(causes out.gt l1)" = "8 0 0 4" ]
	# An atomic drops its own sector alone.
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "atomic.global 0x0 0x2 0 1 0" "load.global 0x0 0xf 0 2 0" | requests |
		gcache --l1 --causes >out.gt
	[ "$(causes out.gt l1)" = "4 0 0 1" ]
	[ "$(counters out.gt l1 read_hits 'distance[0]')" = "3 3" ]
}

@test "--causes: sectors that other SMs had, and stores in part that make the level read" {
	printf '%s\n' "load.global 0x0 0xf 0 0 0" "load.global 0x0 0x3 0 1 1" "load.global 0x0 0x3 0 2 1" | requests >sms.gt
	gcache --l1 --causes sms.gt >out.gt
	[ "$(counters out.gt l1 compulsory elsewhere)" = "6 2" ]
	gcache --l2 --causes sms.gt >out.gt
	[ "$(counters out.gt l2 read_hits others_hits)" = "4 4" ]
	# In halves: SM 1 brings the line to the first half, then finds it there and copies it; SM 0 finds it at its home.
	printf '%s\n' "load.global 0x0 0xf 0 0 1" "load.global 0x0 0xf 0 1 1" "load.global 0x0 0xf 0 2 0" | requests |
		gcache --l2 --spread far:0 --size 4K --causes >out.gt
	[ "$(counters out.gt l2 compulsory read_hits others_hits 'distance[0]')" = "4 8 4 8" ]
	printf '%s\n' "store.global 0x0 0x3 0x2 0 0" "load.global 0x0 0x3 0 1 0" | requests >part.gt
	gcache --l2 --by site --causes part.gt >out.gt
	[ "$(counters out.gt l2 '0x0 -.partial_writes' partial_reads compulsory read_hits)" = "1 1 1 1" ]
	gcache --l2 --by site --causes --partial fetch part.gt >out.gt
	[ "$(counters out.gt l2 partial_reads compulsory read_hits)" = "1 0 2" ]
	gcache --l2 --by site --causes --partial keep part.gt >out.gt
	[ "$(counters out.gt l2 partial_reads compulsory read_hits)" = "0 0 2" ]
}

@test "--by site: counts by instruction and array, which the allocations name, in the order of instructions" {
	cat >in.tsv <<-END
		#gtrace 1
		#kernel	id=1	name=test	grid=1,1,1	block=64,1,1
		#count	stage=allocations	kernel=1	addresses=[0,256]	bytes=[128,128]	names=a x.cu:3,b
		block	warp	an	pc	op	address	sectors	full	lanes	step	sm
		0	0	0	32	load.global	0x0	0xf	0	32	0	0
		0	0	1	32	load.global	0x100	0x3	0	32	1	0
		0	0	2	16	store.global	0x100	0x3	0x1	32	2	0
		0	0	3	32	load.global	0x80	0x1	0	32	3	0
		0	0	4	32	load.global	0x0	0xf	0	32	4	0
		0	0	5	16	load.global.cg	0x0	0xf	0	32	5	0
	END
	gtrace-cat --from in.tsv >in.gt
	gcache --l1 --by site in.gt >out.gt
	gstats --csv out.gt | grep '^1,l1,0x' | cut -d, -f 3- | grep -v ',0$' >found
	diff - found <<-END
		0x10 b.writes,2
		0x10 b.sent_writes,2
		0x10 b.partial_writes,1
		0x10 a x.cu:3.bypassed,4
		0x10 a x.cu:3.sent_reads,4
		0x20 a x.cu:3.reads,8
		0x20 a x.cu:3.read_hits,4
		0x20 a x.cu:3.sent_reads,4
		0x20 b.reads,2
		0x20 b.sent_reads,2
		0x20 -.reads,1
		0x20 -.sent_reads,1
	END
	gtrace-cat --check out.gt
	# The next kernel has other arrays, though the level is the same.
	{ cat in.tsv; sed '/^#gtrace/d; s/id=1/id=2/; s/kernel=1/kernel=2/; s/a x.cu:3/c/' in.tsv; } | gtrace-cat --from | gcache --l1 --by site | gstats --csv |
		grep -q '^2,l1,0x20 c.reads,8'
}

@test "--by site and --causes change nothing else, in any number of threads; a cache of one set has no conflicts" {
	awk 'BEGIN {
		srand(11)
		for (i = 0; i < 6000; i++) {
			store = rand() < 0.2
			printf "%s 0x%x %d %d %d %d\n", store ? "store.global" : rand() < 0.05 ? "atomic.global" : "load.global", 128 * int(rand() * (rand() < 0.5 ? 20 : 80)),
				1 + int(rand() * 15), 0, i, int(rand() * 3)
		}
	}' | requests >in.gt
	few 4 "--l1 --size 4K --ways full" "--l1 --size 4K --ways full --write back --allocate yes" "--l1 --size 2K --ways 2 --write evict" \
		"--l2 --size 4K --ways 2" "--l2 --size 8K --ways 4 --spread far:0" "--l2 --size 4K --ways full --fetch 64" "--l2 --size 4K --replace opt" \
		"--l2 --size 4K --ways full --flush never --arrival rr" "--l2 --size 4K --launch-reads 512,13,416" "--l1 --size 4K --emit all"
	for options in "${FEW[@]}"; do
		# shellcheck disable=SC2086 # several options
		gcache $options --by site --causes in.gt >noted.gt
		# shellcheck disable=SC2086
		gcache $options in.gt >plain.gt
		diff <(gtrace-cat noted.gt | grep -v '^#') <(gtrace-cat plain.gt | grep -v '^#')
		gstats --csv noted.gt | grep -vE ',0x|,(compulsory|capacity|conflict|invalidated|partial_reads|elsewhere|others_hits|distance.*),' | diff - <(gstats --csv plain.gt)
		gtrace-cat --check noted.gt
		# shellcheck disable=SC2086
		gcache -j 4 $options --by site --causes in.gt | cmp - noted.gt
		case $options in
		*"--ways full"*) [ "$(counters noted.gt "${options:2:2}" conflict)" = 0 ] ;;
		esac
		[ "$(counters noted.gt "${options:2:2}" capacity)" -gt 0 ]
	done
}

@test "a large cache of which little is used takes little memory, in launch after launch" {
	not_instrumented gcache
	for launch in 1 2 3; do
		echo "#kernel	id=$launch	name=k	grid=8,1,1	block=32,1,1"
		for sm in 0 1 2 3 4 5 6 7; do
			echo "load.global 0x$((1000 + sm))00 0xf 0 $sm $sm"
		done
	done | requests >little.gt
	few 3 "--ways 4" "--ways 4 --replace tail:2" "--ways 16" "--ways full" "--ways full --replace tail:64" "--ways full --replace lfu"
	for options in "${FEW[@]}"; do
		# Eight of 64 MB took 100 to 300 MB when their lines were cleared first.
		# shellcheck disable=SC2086 # several options
		bytes=$("$BUILD/tests/bench/used" gcache --l1 --size 64M $options little.gt 2>&1 >/dev/null | awk '{ print $2 }')
		[ "$bytes" -lt 24000000 ] || { echo "$options: $bytes"; return 1; }
	done
}
