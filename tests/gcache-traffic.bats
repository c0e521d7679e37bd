#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gcache --l2: what launches read by themselves, the neighbours that a fetch brings, and a level that is emptied between
# kernels. Expected numbers are sums done by hand.

bats_require_minimum_version 1.5.0

load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# stream BLOCKS [NAME...]: a kernel of that many blocks for each name, on a GPU of two GPCs. Rows from stdin, "op address
# sectors", are those of every kernel.
stream() {
	local blocks=$1 id=0
	shift
	cat >rows
	{
		printf '#gpu\tgpcs=2\n'
		for name in "${@:-k}"; do
			printf '#kernel\tid=%d\tname=%s\tgrid=%d,1,1\tblock=32,1,1\n' $((++id)) "$name" "$blocks"
			printf 'block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\n'
			awk 'BEGIN { OFS = "\t" } { print 0, 0, NR, 0, $1, $2, $3, $1 ~ /store/ ? $3 : 0, 32, NR + 4, 0 }' rows
		done
	} | gtrace-cat --from
}

# found KERNEL STREAM NAME...: counters of l2, or of $LEVEL, of a kernel, side by side.
found() {
	local kernel=$1 stream=$2 name
	shift 2
	gstats --csv "$stream" >counters.csv
	for name in "$@"; do
		awk -F, -v key="$kernel,${LEVEL:-l2},$name" '$1 "," $2 "," $3 == key { print $4 }' counters.csv
	done | paste -sd' '
}

@test "a launch reads 16 sectors for each GPC with a block, and 13 more" {
	# One GPC of two: 29 distinct sectors. Both: the second finds the code of the first.
	echo load.global 0x1000 0xf | stream 1 >one.gt
	echo load.global 0x1000 0xf | stream 9 >many.gt
	gcache --l2 --launch-reads 512,13,416 one.gt >out.gt
	[ "$(found 1 out.gt requests reads read_hits launch_reads launch_hits sent_reads)" = "1 4 0 29 0 33" ]
	gcache --l2 --launch-reads 512,13,416 many.gt >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits sent_reads)" = "45 16 33" ]
	# In fetches of 64 bytes 29 sectors are 8 and 7 misses, which bring 30: what DRAM reads on a Titan X.
	gcache --l2 --launch-reads 512,13,416 --fetch 64 many.gt >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits sent_reads neighbours)" = "45 30 34 0" ]
	# 13 reads out of 256 bytes are 8 sectors, and five of them again.
	gcache --l2 --launch-reads 512,13,256 one.gt >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits sent_reads)" = "29 5 28" ]
	gcache --l2 --launch-reads 0,13,416 many.gt >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits)" = "13 0" ]
	gcache --l2 --bypass reads --launch-reads 512,13,416 many.gt >out.gt
	[ "$(found 1 out.gt reads bypassed launch_reads launch_hits sent_reads)" = "0 4 45 0 49" ]
	# The key of a description, and none.
	gtrace-cat one.gt | sed 's/gpcs=2/&\tl2.launch_reads=512,13,416/' | gtrace-cat --from >said.gt
	gcache --l2 said.gt >out.gt
	[ "$(found 1 out.gt launch_reads)" = 29 ]
	gcache --l2 --launch-reads none said.gt >out.gt
	[ "$(found 1 out.gt launch_reads sent_reads)" = 4 ]
}

@test "of what a launch misses, some sectors are read from memory, and the rest from elsewhere" {
	echo load.global 0x1000 0xf | stream 8 >many.gt
	gcache --l2 --launch-reads 512,13,256,4 --fetch 64 many.gt >out.gt
	# 16 and 8 distinct sectors, in fetches of two: 12 miss, and two are sent on.
	[ "$(found 1 out.gt launch_reads launch_hits sent_requests sent_reads reads)" = "45 33 3 8 4" ]
	gcache --l2 --launch-reads 512,13,256,0 many.gt >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits sent_reads)" = "45 21 4" ]
	gdram out.gt | gtrace-cat --check
	# What the launch replaces is written all the same.
	printf 'store.global 0x%x 0xf\n' 4096 4224 | stream 1 k k >two.gt
	gcache --l2 --size 128 --ways 1 --flush never --launch-reads 128,0,0,0 two.gt >out.gt
	[ "$(found 2 out.gt sent_reads sent_writes)" = "0 8" ]
}

@test "launch reads come first, as loads of constants, whatever else the level does" {
	printf '%s\n' 'load.global 0x1000 0xf' 'store.global 0x2000 0xf' | stream 2 >in.gt
	gcache --l2 --launch-reads 64,1,32 in.gt >out.gt
	gtrace-cat out.gt | grep -v '^#' | cut -f 5,7,10,11 | diff - <(printf '%s\n' \
		$'load.constant\t0x1\t5\t0' $'load.constant\t0x2\t5\t0' $'load.constant\t0x1\t5\t0' $'load.global\t0xf\t5\t0' \
		$'store.global\t0xf\t7\t0')
	few 4 "" "--replace opt" "--arrival rr" "--emit all" "--emit none" "--replace random" "--line 32 --ways 8" \
		"--latency fixed:9" "--ports 1 --mshr 1x4" "--flush never" "--flush between" "--size none"
	for options in "${FEW[@]}"; do
		# shellcheck disable=SC2086
		gcache --l2 --launch-reads 512,13,416 $options in.gt >out.gt
		[ "$(found 1 out.gt requests launch_reads)" = "2 45" ] || { echo "$options"; return 1; }
		gtrace-cat --check out.gt
		gcache --l2 --launch-reads 512,13,416 $options in.gt | gdram | gtrace-cat --check
	done
	# Without a schedule, and in a kernel without a row.
	gtrace-cat in.gt | cut -f 1-9 | gtrace-cat --from | gcache --l2 --launch-reads 512,13,416 | gdram >out.gt
	[ "$(found 1 out.gt launch_reads)" = 45 ]
	gtrace-cat --check out.gt
	stream 2 </dev/null | gcache --l2 --launch-reads 512,13,416 | gdram >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits)" = "45 16" ]
	gtrace-cat --check out.gt
}

@test "a kernel that is launched again finds its code if the level kept it" {
	echo load.global 0x1000 0xf | stream 2 a b a 'a pass 1' >in.gt
	gcache --l2 --launch-reads 512,13,416 --flush never in.gt >out.gt
	[ "$(found 1 out.gt launch_reads launch_hits)" = "45 16" ]
	[ "$(found 2 out.gt launch_reads launch_hits)" = "45 29" ]
	[ "$(found 3 out.gt launch_reads launch_hits)" = "45 45" ]
	[ "$(found 4 out.gt launch_reads launch_hits)" = "45 45" ]
	gcache --l2 --launch-reads 512,13,416 in.gt >out.gt
	[ "$(found 3 out.gt launch_reads launch_hits)" = "45 16" ]
}

@test "launch reads that make no sense are refused" {
	stream 1 </dev/null >in.gt
	for text in 512 512,13 512,13,416,1,1 512,13,416,x 512,13,416x -1,1,32 ,, 500,13,416 512,13,400 512,0,416 512,13,0 512,12,416 2M,1,32; do
		expect_failure 2 "launch-reads" gcache --l2 --launch-reads "$text" in.gt
	done
	expect_failure 2 "launch-reads is for a shared data cache" gcache --l1 --launch-reads 512,13,416 in.gt
	expect_failure 2 "launch-reads is for a shared data cache" gcache --tlb l1 --launch-reads 512,13,416 in.gt
}

@test "the profilers' metrics: launch reads, neighbours, hits of what was asked for" {
	# One sector of each of two lines, one of them twice: two misses with a neighbour each, one hit.
	printf 'load.global %s 0x1\n' 0x1000 0x2000 0x1000 | stream 2 >in.gt
	gcache --l2 --launch-reads 512,13,416 --fetch 64 in.gt | gdram >out.gt
	[ "$(found 1 out.gt reads read_hits neighbours launch_reads launch_hits)" = "3 1 2 45 30" ]
	gstats --names ncu --csv out.gt | tr -d '"' >ncu
	metric() { awk -F, -v name="$1" 'index($0, name ",") { print $NF }' ncu; }
	[ "$(metric lts__t_sectors_op_read.sum)" = 48 ]
	[ "$(metric lts__t_sectors_op_read_lookup_hit.sum)" = 31 ]
	[ "$(metric lts__t_sectors_op_read_lookup_miss.sum)" = 19 ]
	[ "$(metric lts__t_sector_op_read_hit_rate.pct)" = 64.58 ]
	[ "$(metric lts__t_sectors_srcunit_tex_op_read.sum)" = 3 ]
	[ "$(metric lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum)" = 1 ]
	[ "$(metric lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum)" = 4 ]
	[ "$(metric dram__sectors_read.sum)" = 34 ]
	gstats --names nvprof --csv out.gt | tr -d '"' | grep -q 'l2_read_plus_write_transactions,transaction,48$'
	# A timed level counts the same neighbours.
	gcache --l2 --fetch 64 --latency fixed:1 in.gt >out.gt
	[ "$(found 1 out.gt reads read_hits neighbours)" = "3 1 2" ]
}

@test "a level that is emptied between kernels sends what it evicts, and not what is left" {
	printf 'store.global %s 0xf\n' 0x1000 0x2000 0x3000 | stream 1 a b >in.gt
	gcache --l2 --size 256 --ways full --flush between in.gt >out.gt
	for kernel in 1 2; do
		[ "$(found $kernel out.gt writes write_hits sent_writes left_dirty flushed)" = "12 0 4 8 0" ]
	done
	# The second kernel stores to one line only: what the first has left is not counted again.
	gtrace-cat in.gt | awk '/^#kernel/ { kernel++ } !(kernel == 2 && /^[0-9]/ && rows++)' | gtrace-cat --from >one.gt
	gcache --l2 --size 256 --ways full --flush between one.gt >out.gt
	[ "$(found 2 out.gt writes left_dirty)" = "4 4" ]
	gcache --l2 --size 256 --ways full in.gt >out.gt
	[ "$(found 1 out.gt sent_writes flushed)" = "12 8" ]
	gcache --l2 --size 256 --ways full --replace opt --flush between in.gt >out.gt
	[ "$(found 2 out.gt sent_writes left_dirty)" = "4 8" ]
	gcache --l2 --size 256 --ways full --line 128 --sector 64 --latency fixed:5 --flush between in.gt >out.gt
	[ "$(found 2 out.gt sent_writes left_dirty)" = "4 8" ]
}

# Four ways of 128 bytes, of which two lines are found dirty. Two loads take the ways that are free, the third line and the fourth replace
# what was found, and a fifth replaces the first of the loads. What is left of what was found is not the kernel's.
@test "--found-dirty: what a profiler has left dirty goes first, and is written back once" {
	printf 'load.global %s 0xf\n' 0x1000 0x2000 | stream 1 a b >fits.gt
	printf 'load.global %s 0xf\n' 0x1000 0x2000 0x3000 0x4000 0x5000 | stream 1 a b >in.gt
	options="--size 512 --ways full --flush between --found-dirty"
	counters="found_dirty found_writes sent_writes left_dirty writes evictions"
	for kernel in 1 2; do
		gcache --l2 $options 8 fits.gt >out.gt
		[ "$(found $kernel out.gt $counters)" = "8 0 0 0 0 0" ]
		gcache --l2 $options 8 in.gt >out.gt
		[ "$(found $kernel out.gt $counters)" = "8 8 8 0 0 3" ]
		gtrace-cat --check out.gt
	done
	[ "$(gtrace-cat out.gt | grep -c 'store.global	0x8000000000000[08]0')" = 4 ]
	# Whole lines, and no more than fit or may be dirty.
	gcache --l2 $options 5 in.gt >out.gt
	[ "$(found 1 out.gt found_dirty found_writes)" = "8 8" ]
	gcache --l2 $options 100 fits.gt >out.gt
	[ "$(found 1 out.gt found_dirty found_writes evictions)" = "16 8 2" ]
	gcache --l2 $options 100 --dirty-ways 1 fits.gt >out.gt
	[ "$(found 1 out.gt found_dirty found_writes cleaned)" = "4 0 0" ]
	# A launch reads what it reads behind it, and a kernel without an access finds the same.
	gcache --l2 $options 12 --launch-reads 0,8,256 fits.gt >out.gt
	[ "$(found 1 out.gt found_dirty found_writes launch_reads)" = "12 12 8" ]
	stream 1 a </dev/null | gcache --l2 $options 8 >out.gt
	[ "$(found 1 out.gt found_dirty found_writes)" = "8 0" ]
	# A store of the kernel's own is what is left.
	printf 'store.global 0x1000 0xf\n' | stream 1 a | gcache --l2 $options 8 >out.gt
	[ "$(found 1 out.gt $counters)" = "8 0 0 4 4 0" ]
}

@test "--found-dirty is of what a profiler empties; elsewhere a description's value has no effect" {
	printf 'load.global 0x1000 0xf\n' | stream 1 a >in.gt
	for options in "--l2" "--l2 --flush never" "--l2 --flush between --write through" "--l2 --flush between --allocate no" \
		"--l2 --flush between --bypass writes" "--l2 --flush between --latency fixed:5" "--l1 --flush between --write back"; do
		expect_failure 2 "found-dirty is of a shared data cache" gcache $options --found-dirty 8 in.gt
	done
	gtrace-cat in.gt | sed 's/gpcs=2/&\tl2.found_dirty=8/' | gtrace-cat --from >said.gt
	gcache --l2 --flush between said.gt >out.gt
	[ "$(found 1 out.gt found_dirty)" = 8 ]
	gcache --l2 said.gt >out.gt
	[ "$(found 1 out.gt found_dirty)" = "" ]
}

# A set of four ways. The third dirty line writes the first one back, which stays, so a load of it hits; when it is written to again,
# the second one goes. At the end two lines of four sectors are left.
@test "--dirty-ways: one line too many that is dirty writes the least recently used of them back, and keeps it" {
	printf '%s 0xf\n' 'store.global 0x1000' 'store.global 0x2000' 'store.global 0x3000' 'load.global 0x1000' 'store.global 0x1000' | stream 1 a >in.gt
	gcache --l2 --size 512 --ways full --dirty-ways 2 in.gt >out.gt
	gtrace-cat --check out.gt
	[ "$(found 1 out.gt sent_writes cleaned flushed read_hits write_hits evictions)" = "16 8 8 4 4 0" ]
	[ "$(gtrace-cat out.gt | grep -oE '0x0+[123]000' | grep -oE '.000$' | paste -sd' ')" = "1000 2000 1000 3000" ]
	gcache --l2 --size 512 --ways full --dirty-ways 2 --flush between in.gt >out.gt
	[ "$(found 1 out.gt sent_writes cleaned left_dirty)" = "8 8 8" ]
	gcache --l2 --size 512 --ways full --dirty-ways all in.gt >out.gt
	[ "$(found 1 out.gt sent_writes flushed read_hits)" = "12 12 4" ]
	printf 'atomic.global %s 0xf\n' 0x1000 0x2000 | stream 1 a | gcache --l2 --size 512 --ways full --dirty-ways 1 --flush never >out.gt
	[ "$(found 1 out.gt sent_writes cleaned)" = "4 4" ]
}

@test "--dirty-ways: options and descriptions that do not go with it" {
	printf 'store.global %s 0xf\n' 0x1000 0x2000 | stream 1 a >in.gt
	expect_failure 2 "dirty-ways is of a data cache with write back" gcache --l2 --write through --dirty-ways 2 in.gt
	expect_failure 2 "dirty-ways is of a data cache with write back" gcache --tlb l1 --dirty-ways 2 in.gt
	expect_failure 2 "dirty-ways is for the functional model" gcache --l2 --dirty-ways 2 --mshr 1x32 in.gt
	expect_failure 2 "expected" gcache --l2 --dirty-ways 0 in.gt
	# A description's does not stand in the way of the timed model, or of another --write.
	gtrace-cat in.gt | sed 's/^#kernel/#gpu\tl2.dirty_ways=1\n&/' | gtrace-cat --from >said.gt
	gcache --l2 --size 512 --ways full said.gt >out.gt
	[ "$(found 1 out.gt cleaned)" = 4 ]
	for options in "--mshr 1x32" "--write through"; do
		# shellcheck disable=SC2086
		gcache --l2 $options said.gt | gtrace-cat --no-rows >counts
		run ! grep -q cleaned= counts
	done
}

@test "--spread far: counters agree with a slow, simple L2 of two halves" {
	TMPDIR=$BATS_TEST_TMPDIR python3 "$ROOT/tests/golden/halves.py" 3 $((${#WHOLE} > 0 ? 60 : 20))
}

# walk BYTES SM...: a block of each SM reads the bytes once, line by line, one SM behind the other
walk() {
	printf '#kernel\tid=1\tname=walk\tgrid=%s,1,1\tblock=32,1,1\torder=block\n' $(($# - 1))
	printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\n'
	awk -v lines=$(($1 / 128)) -v sms="${*:2}" 'BEGIN { n = split(sms, sm, " ")
		for (b = 0; b < n; b++) for (i = 0; i < lines; i++) printf "%d\t0\t%d\t0x0\tload.global\t0x%x\t0xf\t0x0\t32\t%d\t%d\n", b, i, i * 128, step++, sm[b + 1] }'
}

# Three times 30 MB are 2,949,120 sectors. 40 MB in one hold them all. In halves of 20 MB that of the SM gets all 30 MB, and does not hold what is read in
# turn under LRU; the other half holds the 15 MB whose home it is.
# bats test_tags=whole
@test "--spread far: an SM that walks 30 MB three times hits in one L2 of 40 MB, and half of them in two halves of 20 MB" {
	walk $((30 << 20)) 0 0 0 | gtrace-cat --from >walk.gt
	gcache --l2 --size 40M --ways 16 --index mod walk.gt >one.gt
	[ "$(found 1 one.gt reads read_hits)" = "2949120 1966080" ]
	gcache --l2 --size 40M --ways 16 --index mod --spread far:0 walk.gt >two.gt
	gtrace-cat --check two.gt
	[ "$(found 1 two.gt size instances)" = "20971520 2" ]
	walk $((30 << 20)) 0 0 | gtrace-cat --from | gcache --l2 --size 40M --ways 16 --index mod --spread far:0 >twice.gt
	near=$(($(found 1 two.gt read_hits) - $(found 1 two.gt far_hits)))
	[ "$near" = "$(($(found 1 twice.gt read_hits) - $(found 1 twice.gt far_hits)))" ]
	[ "$near" = 0 ]
	hits=$(($(found 1 two.gt read_hits) - $(found 1 twice.gt read_hits)))
	[ "$hits" -gt $((983040 * 499 / 1000)) ]
	[ "$hits" -lt $((983040 * 501 / 1000)) ]
	# Up to half of the size, all of it is in the half of the SM; an SM of the same half finds it there, and one of the other half copies half of it.
	walk $((18 << 20)) 0 2 1 | gtrace-cat --from | gcache --l2 --size 40M --ways 16 --index mod --spread far:0 >three.gt
	[ "$(found 1 three.gt reads sent_reads)" = "1769472 589824" ]
	[ "$(found 1 three.gt read_hits)" = 1179648 ]
	[ "$(found 1 three.gt far_reads)" = 589824 ] # half of what SM 0 fetched, and the other half of what SM 1 read
}

# One sector of each `unit` bytes of 8 MB, here of 2, and then the sector `second` bytes behind. What an empty kernel has is taken off: 895 reads, 719 hits,
# 176 misses.
@test "--spread far: lookups of an H100 with cold caches, in hits, misses and sectors of DRAM: tests/reference/h100_l2.csv" {
	cd "$BATS_TEST_TMPDIR"
	while IFS=, read -r unit second fetch sectors reads hits misses dram; do
		{ printf '#kernel\tid=1\tname=k\tgrid=132,1,1\tblock=32,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\n'
			awk -v unit="$unit" -v second="${second:-0}" '
				function put(an, line, mask) { if (mask) printf "%d\t0\t%d\t0x0\tload.global\t0x%x\t0x%x\t0x0\t1\t%d\t%d\n", n % 132, an, line * 128, mask, step++, n % 132 }
				BEGIN { for (a = 0; a + unit <= 2097152; a += unit) {
					if (int(a / 128) != line) { put(0, line, mask); mask = 0; line = int(a / 128); n++ }
					mask += 2 ^ (a % 128 / 32)
					if (second) { put(0, line, mask); put(1, line, 2 ^ (second / 32)); mask = 0 }
				} put(0, line, mask) }'
		} | gtrace-cat --from | gcache --l2 --size 50M --ways 16 --index rotate --spread far:0 --launch-reads none --fetch "$fetch" | gdram | gstats --names ncu --csv >out
		for metric in srcunit_tex_op_read:$((sectors / 4)) op_read:$(((reads - 895) / 4)) op_read_lookup_hit:$(((hits - 719) / 4)) op_read_lookup_miss:$(((misses - 176) / 4)); do
			awk -F, -v name="\"lts__t_sectors_${metric%:*}.sum\"" -v hardware="${metric#*:}" '$(NF - 2) == name { gsub(/"/, "", $NF)
				if (($NF - hardware) ^ 2 > (60 + hardware * .005) ^ 2) { print name, $NF, hardware; exit 1 } found = 1 } END { exit !found }' out ||
				{ echo "$unit $second $fetch"; return 1; }
		done
		awk -F, -v hardware=$((dram / 4)) '$(NF - 2) == "\"dram__sectors_read.sum\"" { gsub(/"/, "", $NF); exit ($NF - hardware) ^ 2 > (60 + hardware * .005) ^ 2 }' out
	done < <(tail -n +2 "$ROOT/tests/reference/h100_l2.csv" | few_lines 4)
}

@test "--spread far: options and descriptions that do not go with it" {
	walk 4096 0 1 | gtrace-cat --from >walk.gt
	expect_failure 2 "spread is of a shared data cache" gcache --l1 --spread far:0 walk.gt
	expect_failure 2 "replace opt looks ahead: expected spread without far" gcache --l2 --spread far:0 --replace opt walk.gt
	expect_failure 2 "spread far: two halves hold lines of 128 bytes in sectors of 32" gcache --l2 --spread far:0 --line 64 walk.gt
	expect_failure 2 "spread far is for the functional model" gcache --l2 --spread far:0 --mshr 1x32 walk.gt
	for options in "--arrival rr" "--flush never" "--flush between" "--emit all" "--emit none" "--launch-reads 512,13,416" "--write through" "--replace random" "--fetch 64"; do
		# shellcheck disable=SC2086
		gcache --l2 --spread far:0 $options walk.gt >out.gt || { echo "$options"; return 1; }
		gtrace-cat --check out.gt
		[ "$(found 1 out.gt reads half_reads)" != "" ]
	done
	# A description's halves do not stand in the way of the timed model, and say so of rows without a schedule.
	gtrace-cat walk.gt | sed 's/^#kernel/#gpu\tl2.spread=far:0\n&/' | gtrace-cat --from >said.gt
	gcache --l2 said.gt | gtrace-cat --no-rows | grep -q 'far_reads='
	gcache --l2 --mshr 1x32 said.gt | gtrace-cat --no-rows >timed
	run ! grep -q 'far_reads=' timed
	gtrace-cat said.gt | cut -f 1-9 | gtrace-cat --from | gcache --l2 2>err | gtrace-cat --no-rows >/dev/null
	[ "$(cat err)" = "gcache: warning: l2 is two halves, each of half of the SMs, but no gschedule has assigned SMs: all blocks share one" ]
}

# The first 4 KB have the first half as their home, the next the other. SM 0 fetches a line of each, one from behind the far half, and then has both; SM 1
# finds the first far, and the second time has a copy. 100 cycles are a miss, 10 a hit, 7 the way to the far half.
@test "--spread: what the far half has takes longer, SM 0 has the mean of sm, and the old names say the new one" {
	{ printf '#kernel\tid=1\tname=k\tgrid=6,1,1\tblock=32,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\n'
		printf '0 0\n0x1000 0\n0 0\n0x1000 0\n0 1\n0 1\n' |
			awk '{ printf "%d\t0\t0\t0x0\tload.global\t%s\t0xf\t0x0\t32\t%d\t%d\n", NR - 1, $1, NR, $2 }'
	} | gtrace-cat --from >six.gt
	latencies() { gcache --l2 --size 4K --ways 4 --emit latency --hit-cycles 10 --miss-cycles 100 --spread "$@" six.gt | gtrace-cat | awk '/^#block/ { for (i = 1; i <= NF; i++) if ($i == "latency") column = i } !/^#/ { printf "%s ", $column }'; }
	[ "$(latencies far:7)" = "100 107 10 10 17 10 " ]
	[ "$(latencies none)" = "100 100 10 10 10 10 " ]
	# SM 1: 5 less 11 times 0.5 + 0.618 less 1, which is 1.3: 4 more.
	[ "$(latencies sm:10)" = "100 100 10 10 14 14 " ]
	[ "$(latencies sm:10,far:7)" = "100 107 10 10 21 14 " ]
	expect_failure 2 "expected sm:N, slice:N and far:N, each at most once" gcache --l2 --spread far:1,far:2 six.gt
	expect_failure 2 "it is --spread far:CYCLES now" gcache --l2 --halves yes six.gt
	printf 'name = x # assumed: y\nl2_spread = 7 # assumed: y\n' >old
	expect_failure 1 "old:2: l2_spread is l2.spread = slice:CYCLES now" gtrace-cat --gpu ./old
	printf 'name = x # assumed: y\nl2.halves = yes # assumed: y\n' >old
	expect_failure 1 "old:2: l2.halves is l2.spread = far:CYCLES now" gtrace-cat --gpu ./old
}

# Found by tests/reference-model; the expected values are done by hand from gcache(1).

# hinted OPTION...: the rows that gcache sends for the requests on stdin, without block and warp.
hinted() {
	{ printf '#gtrace\t0\n#kernel\tid=1\tname=k\tgrid=8,1,1\tblock=32,1,1\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\thint\tkernel\n'
		awk '{ print "0\t0\t" NR "\t0\t" $1 "\t" $2 "\t" $3 "\t0\t32\t" NR "\t" ($5 ? $5 : 0) "\t" ($4 ? $4 : "none") "\t1" } END { print "#end" }'
	} | gtrace-cat --from | gcache --quiet "$@" | gtrace-cat
}

@test "a size hint brings in the lines of the block that the request does not ask for, each into its home" {
	echo 'load.global 0x1080 8 L2::128B' | hinted --l2 --line 64 --fetch 64 >out
	[ "$(grep -c '^0.*0x000000001080	0xc' out)" -eq 1 ]
	[ "$(grep -c '^0.*0x000000001080	0x3' out)" -eq 1 ]
	grep -q 'sent_requests=2	' out
	printf 'load.global 0x1000 15 L2::256B\nload.global 0x1080 15\n' | hinted --l2 --spread far:0 >out
	grep -q 'read_hits=4	.*sent_reads=8	' out
}

@test "a streaming load that may not allocate leaves its line to be replaced first" {
	printf 'load.global 0x1000 1\nload.global 0x2000 1\nload.global.cs 0x2000 1 L1::no_allocate\nload.global 0x3000 1\nload.global 0x1000 1\n' |
		hinted --l1 --size 256 --ways full --emit all >out
	[ "$(grep -c 'hit	none	1$' out)" -eq 1 ]
}

@test "opt takes no prefetch that is ignored for a use" {
	printf 'load.global 0x1000 1\nload.global 0x2000 1\nload.global 0x3000 1\nload.global 0x1000 15 prefetch.L2\nload.global 0x2000 1\nload.global 0x3000 1\nload.global 0x1000 1\n' |
		hinted --l2 --size 256 --ways full --replace opt --hints ignore >out
	grep -q 'read_hits=2	' out
}

@test "a prefetch or a priority that bypasses is no read that bypasses" {
	printf 'load.global.cg 0x1000 3\nload.global 0x1000 15 prefetch.L2\nload.global 0x1000 15 applypriority.L2\n' | hinted --l1 >out
	grep -q '	bypassed=10	.*	bypassed_reads=2	bypassed_writes=0	' out
}

@test "a fetch size in other words empties no level, and one beyond a line is a line" {
	for bytes in 32 128; do
		printf '#gtrace\t0\n#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\thint\tkernel\n0\t0\t0\t0\tload.global\t0x1000\t1\t0\t1\tnone\t1\n#kernel\tid=2\tname=k\tgrid=1,1,1\tblock=32,1,1\tl2_fetch_bytes=%s\n0\t0\t0\t0\tload.global\t0x1000\t1\t0\t1\tnone\t2\n#end\n' $bytes |
			gtrace-cat --from | gcache --quiet --l2 --line 32 --flush never | gtrace-cat >out
		grep -q 'stage=l2	kernel=2.*	read_hits=1	' out
	done
}

@test "a shared level is one instance in any number of threads" {
	printf '#gtrace\t0\n#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#end\n' | gtrace-cat --from >empty.gt
	for jobs in 1 3; do
		[ "$(gcache --quiet --l2 -j $jobs <empty.gt | gtrace-cat | grep -o 'instances=[0-9]*')" = instances=1 ]
	done
}

@test "constants have a cache beside L1, and are no loads at L1 and L2" {
	# Two words of one line of 64 bytes, the second a hit; one in the next line; and a load of the same address as data.
	printf '%s\n' 'load.constant 0x1000 0x1' 'load.constant 0x1000 0x2' 'load.constant 0x1000 0x4' 'load.global 0x1000 0x1' | stream 1 >in.gt
	gcache --l1 in.gt >l1.gt
	[ "$(LEVEL=l1 found 1 l1.gt requests reads read_hits constant_reads constant_hits sent_requests sent_reads)" = "4 1 0 3 1 3 5" ]
	gtrace-cat l1.gt | awk '/^[0-9]/ { print $5, $6, $7 }' |
		diff - <(printf '%s\n' 'load.constant 0x000000001000 0x3' 'load.constant 0x000000001000 0xc' 'load.global 0x000000001000 0x1')
	# L2 has read all of it when the load of data comes.
	gcache --l2 l1.gt >l2.gt
	[ "$(found 1 l2.gt requests reads read_hits constant_reads constant_hits sent_reads)" = "3 1 1 4 0 4" ]
	gdram l2.gt | gtrace-cat --check
	gdram l2.gt | gstats --names ncu --csv >out
	for pair in lts__t_sectors_op_read.sum=5 lts__t_sectors_srcunit_tex_op_read.sum=1 lts__t_sectors_op_read_lookup_hit.sum=1 \
		lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum=0 lts__t_sectors_op_read_lookup_miss.sum=4 dram__sectors_read.sum=4; do
		grep "${pair%=*}" out | grep -qE "[,\"]${pair#*=}[\",]*$" || { echo "$pair"; grep "${pair%=*}" out; return 1; }
	done
	# A kernel's end empties it, unless never.
	printf '%s\n' 'load.constant 0x1000 0x1' | stream 1 k k >two.gt
	gcache --l1 two.gt | gstats --csv | grep -qx '2,l1,constant_reads,1'
	gcache --l1 two.gt | gstats --csv | grep -qx '2,l1,constant_hits,0'
	gcache --l1 --flush never two.gt | gstats --csv | grep -qx '2,l1,constant_hits,1'
}

@test "a cache of constants of another shape, of a description, and none; what makes no sense is refused" {
	# Three lines of 64 bytes in turn: two lines, or one set of two, cannot keep them.
	printf 'load.constant 0x%x 0x1\n' 4096 4224 4352 4096 4224 4352 | stream 1 >in.gt
	gcache --l1 in.gt >out.gt
	[ "$(LEVEL=l1 found 1 out.gt constant_reads constant_hits)" = "6 3" ]
	gcache --l1 --constant 128,2,64 in.gt >out.gt
	[ "$(LEVEL=l1 found 1 out.gt constant_reads constant_hits)" = "6 0" ]
	gcache --l1 --constant 1K,1,256 in.gt >out.gt
	[ "$(LEVEL=l1 found 1 out.gt constant_reads constant_hits sent_requests sent_reads)" = "6 4 4 16" ]
	gcache --l1 --constant none in.gt >out.gt
	[ "$(LEVEL=l1 found 1 out.gt reads read_hits)" = "6 3" ]
	[ -z "$(LEVEL=l1 found 1 out.gt constant_reads)" ]
	gtrace-cat in.gt | sed 's/gpcs=2/&\tl1.constant=128,2,64/' | gtrace-cat --from | gcache --l1 >out.gt
	[ "$(LEVEL=l1 found 1 out.gt constant_reads constant_hits)" = "6 0" ]
	# L1 has none of them, and passes what bypasses it.
	gcache --l1 --bypass all in.gt >out.gt
	[ "$(LEVEL=l1 found 1 out.gt constant_reads bypassed)" = "6 0" ]
	for text in 2K 2K,4 2K,4,64,1 2K,0,64 2K,4,16 2K,4,96 2000,4,64 x,4,64; do
		expect_failure 2 "constant" gcache --l1 --constant "$text" in.gt
	done
	for options in "--l1 --mshr 1x4" "--tlb l1" "--l2 --latency fixed:5" "--l2 --emit all" "--l2 --replace opt"; do
		expect_failure 2 "constant is for a data cache that is not timed and" gcache $options --constant 2K,4,64 in.gt
	done
	expect_failure 2 "lines of 8192 bytes: expected 4096 at most before a shared level" gcache --l2 --constant 64K,8,8K in.gt
}

# Two GPCs of two SMs. SM 1 finds what SM 0 has read, SM 2 does not, and the second line of 128 bytes came with the first, in one of 256.
@test "--constant of a shared level: each GPC reads a line of constants once" {
	{
		printf '#gpu\tgpcs=2\tsms=4\n#kernel\tid=1\tname=k\tgrid=4,1,1\tblock=32,1,1\n'
		printf 'block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\n'
		printf '0\t0\t%d\t0\tload.constant\t%s\t%s\t0\t32\t%d\t%d\n' 1 0x1000 0x3 5 0 2 0x1000 0x3 6 1 3 0x1000 0x3 7 2 4 0x1080 0xf 8 0
	} | gtrace-cat --from >in.gt
	counters="gpc_constant_reads gpc_constant_hits constant_reads constant_hits sent_reads reads"
	for options in "" "--spread far:0" "-j 4"; do
		gcache --l2 --constant 64K,256,256 $options in.gt >out.gt
		gtrace-cat --check out.gt
		[ "$(found 1 out.gt $counters)" = "10 6 16 8 8 0" ]
	done
	gcache --l2 --constant 64K,256,256 --bypass reads in.gt >out.gt
	[ "$(found 1 out.gt $counters bypassed)" = "10 6 16 0 16" ]
	gcache --l2 in.gt >out.gt
	[ "$(found 1 out.gt constant_reads constant_hits sent_reads)" = "10 4 6" ]
	# A description's value is one of the option's, where it can be; a level of an SM that is shared has none by its own.
	gtrace-cat in.gt | sed 's/gpcs=2/&\tl2.constant=64K,256,256\tl1.constant=2K,4,64/' | gtrace-cat --from >said.gt
	gcache --l2 said.gt >out.gt
	[ "$(found 1 out.gt $counters)" = "10 6 16 8 8 0" ]
	gcache --l2 --emit all said.gt >out.gt
	[ "$(found 1 out.gt constant_reads)" = 10 ]
	gcache --l1 --shared said.gt >out.gt
	[ "$(LEVEL=l1 found 1 out.gt constant_reads)" = 10 ]
	[ "$(LEVEL=l1 found 1 out.gt gpc_constant_reads)" = "" ]
}

# Loads of five lines by SMs of two GPCs, of four each, some of them at one step, and a few stores. Prints what gcache should count, by the rule of
# the manual: at most 3 loads as one. They may come `within` steps of the first, `far` more if it asked the other half for a sector, and `missing` more
# if a sector missed. Nothing is evicted: of each half, here[] has the sectors that are valid. SMs 0, 1, 4 and 5 are near half 0, the home of lines 0
# and 96.
random_loads() {
	awk -v seed="$1" -v within="$2" -v far="${3:-0}" -v missing="${4:-0}" '
		BEGIN {
			OFS = "\t"; srand(seed); step = 1
			split("0 32 64 96 33", lines); home["0"] = home["96"] = 0; home["32"] = home["64"] = home["33"] = 1
			print "#gpu\tsms=8\tgpcs=2"
			print "#kernel\tid=1\tname=k\tgrid=2000,1,1\tblock=32,1,1"
			print "#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm"
			for (i = 0; i < 2000; i++) {
				sm += int(rand() * 3)
				if (rand() < .3 || sm > 7) { step++; sm = int(rand() * 8) }
				line = lines[1 + int(rand() * 5)] + (i > 300 ? 128 * int(i / 300) : 0)
				h = (home[line % 128] + int(line / 128) + int(line / 256) + int(line / 512)) % 2; near = int(sm / 2) % 2
				sectors = rand() < .5 ? 15 : 1 + int(rand() * 15)
				store = rand() < .1
				print i, 0, 0, 0, store ? "store.global" : "load.global", line * 128, sectors, store ? sectors : 0, 32, step, sm
				key = int(sm / 4) " " line " " sectors
				merge = !store && key in until && step <= until[key] && n[key] < 3
				asked = missed = 0
				for (bit = 0; bit < 4; bit++) {
					if (int(sectors / 2 ^ bit) % 2 == 0) continue
					if (merge) { bits++; continue }
					place = line " " bit
					if (store) { if (near == h) delete here[1 - h, place] }
					else if (!((near, place) in here)) {
						if (near != h) asked = 1
						if (!((h, place) in here)) missed = 1
						here[near, place] = 1
					}
					here[h, place] = 1
				}
				if (merge) { n[key]++; merged++ }
				else if (!store) { until[key] = step + within + (asked ? far : 0) + (missed ? missing : 0); n[key] = 1 }
			}
			print merged, bits >"expected"
		}'
}

@test "--coalescer: loads of a GPC that ask for the same together are one, against the rule done plainly" {
	few 2 1 2 3 4 5
	for seed in "${FEW[@]}"; do
		random_loads "$seed" 0 | gtrace-cat --from >in.gt
		gcache --l2 --coalescer 3,5 in.gt >out.gt
		[ "$(found 1 out.gt coalesced_requests coalesced_reads)" = "$(tr '\t' ' ' <expected)" ]
		gtrace-cat --check out.gt
		[ "$(($(found 1 out.gt requests) + $(found 1 out.gt coalesced_requests)))" = 2000 ]
		gcache --l2 in.gt >plain.gt
		[ "$(($(found 1 out.gt reads) + $(found 1 out.gt coalesced_reads)))" = "$(found 1 plain.gt reads)" ]
		[ "$(found 1 out.gt sent_reads)" = "$(found 1 plain.gt sent_reads)" ]
		random_loads "$seed" 5 | gtrace-cat --from >in.gt
		gcache --l2 --coalescer 3,5 --arrival travel in.gt >out.gt
		[ "$(found 1 out.gt coalesced_requests coalesced_reads)" = "$(tr '\t' ' ' <expected)" ]
		cmp <(gcache --l2 --coalescer 3,5 in.gt | gtrace-cat) <(gcache --l2 --coalescer 3,5 -j 4 in.gt | gtrace-cat)
	done
}

@test "--coalescer: a load is open until its data are back, by where its lookup found them" {
	few 1 1 2 3
	for seed in "${FEW[@]}"; do
		random_loads "$seed" 3 11 40 | gtrace-cat --from >in.gt
		place="--coalescer 3,3 --arrival travel --spread far:11 --hit-cycles 20 --miss-cycles 60,500:90 --size 1M --ways 16"
		# shellcheck disable=SC2086 # a list of options
		gcache --l2 $place in.gt >out.gt
		[ "$(found 1 out.gt coalesced_requests coalesced_reads)" = "$(tr '\t' ' ' <expected)" ]
		gtrace-cat --check out.gt
		# Whatever else the level notes.
		# shellcheck disable=SC2086
		few 2 "-j 4" "--by pc" "--by site" "--causes"
		for more in "${FEW[@]}"; do
			gcache --l2 $place $more in.gt >again.gt
			[ "$(found 1 again.gt coalesced_requests coalesced_reads reads read_hits sent_reads)" = "$(found 1 out.gt coalesced_requests coalesced_reads reads read_hits sent_reads)" ]
		done
		# Where the cycles of a hit are not known, a miss adds none.
		random_loads "$seed" 3 11 | gtrace-cat --from >in.gt
		gcache --l2 --coalescer 3,3 --arrival travel --spread far:11 --miss-cycles 60 --size 1M --ways 16 in.gt >out.gt
		[ "$(found 1 out.gt coalesced_requests coalesced_reads)" = "$(tr '\t' ' ' <expected)" ]
	done
}

@test "--coalescer: of a description, and what makes no sense is refused" {
	random_loads 1 0 | gtrace-cat --from >in.gt
	gtrace-cat in.gt | sed 's/gpcs=2/&\tl2.coalescer=3/' | gtrace-cat --from >said.gt
	cmp <(gcache --l2 said.gt | gtrace-cat --no-rows | grep stage=l2) <(gcache --l2 --coalescer 3 in.gt | gtrace-cat --no-rows | grep stage=l2)
	for options in "--emit all" "--emit latency --hit-cycles 1 --miss-cycles 2" "--mshr 1x4" "--replace opt"; do
		# shellcheck disable=SC2086 # a list of options
		gcache --l2 $options said.gt >out.gt
		[ -z "$(found 1 out.gt coalesced_reads)" ]
	done
	# The SMs of GPCs: as many each, all of one, of another number of SMs, and what are none.
	gcache --l2 said.gt >even.gt
	for sms in 4,4 8 3,5 4,5 4,-4 4,4,; do
		gtrace-cat said.gt | sed "s/gpcs=2/&\tgpc_sms=$sms/" | gtrace-cat --from >"$sms.gt"
	done
	for sms in 4,4 4,5; do
		[ "$(found 1 <(gcache --l2 $sms.gt) coalesced_requests)" = "$(found 1 even.gt coalesced_requests)" ]
	done
	[ "$(found 1 <(gcache --l2 8.gt) coalesced_requests)" -gt "$(found 1 even.gt coalesced_requests)" ]
	[ "$(found 1 <(gcache --l2 3,5.gt) coalesced_requests)" -ne "$(found 1 even.gt coalesced_requests)" ]
	for sms in 4,-4 4,4,; do
		expect_failure 1 "gpu: gpc_sms: '$sms': expected the SMs of at most 64 GPCs, such as 16,18" gcache --l2 "$sms.gt"
	done
	expect_failure 2 "expected REQUESTS[,CYCLES]" gcache --l2 --coalescer 1 in.gt
	expect_failure 2 "expected REQUESTS[,CYCLES]" gcache --l2 --coalescer 4,5,6 in.gt
	expect_failure 2 "coalescer is for a shared data cache that is not timed" gcache --l1 --coalescer 4 in.gt
	expect_failure 2 "coalescer is for a shared data cache that is not timed" gcache --l2 --mshr 1x4 --coalescer 4 in.gt
	expect_failure 2 "each request is looked up" gcache --l2 --emit all --coalescer 4 in.gt
	expect_failure 2 "replace opt looks ahead to requests that are looked up" gcache --l2 --replace opt --coalescer 4 in.gt
}

# Stores of one SM as an H100 was given them (tests/reference/README.md): each of `warps` warps stores `pieces` times to its own `lines` lines, or with
# `same` once to the same ones, at the cycles at which it can issue: a store takes one for each line, and a warp issues each fourth. `groups` times, from
# the next lines on, 100 cycles later.
stores_of_warps() {
	awk -v lines="$1" -v mask="$2" -v warps="$3" -v pieces="$4" -v groups="$5" -v same="$6" 'BEGIN {
		OFS = "\t"
		print "#gpu\tsms=2\n#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=" 32 * warps ",1,1"
		print "#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm"
		for (g = 0; g < groups; g++) {
			step += 100; split("", issued)
			for (p = 0; p < pieces; p++)
				for (w = 0; w < warps; w++) {
					if (w in issued && step < issued[w] + 4) step = issued[w] + 4
					issued[w] = step
					for (l = 0; l < lines; l++)
						print 0, w, g * pieces + p, 0, "store.global", 128 * (l + lines * (g + (same ? 0 : groups * w))), mask, 0, 32, step, 0
					step += lines
				}
		}
	}'
}

@test "--combine: what an H100 sends of stores of a warp and of several, to the sector" {
	while read -r name lines mask warps pieces groups same asked sent; do
		stores_of_warps "$lines" "$mask" "$warps" "$pieces" "$groups" "$same" | gtrace-cat --from >in.gt
		gcache --l1 --size 256K --write through --combine 16,8 in.gt >out.gt
		gtrace-cat --check out.gt
		echo "$name $warps: $(LEVEL=l1 found 1 out.gt writes sent_writes combined_writes) for $asked $sent"
		[ "$(LEVEL=l1 found 1 out.gt writes sent_writes)" = "$asked $sent" ]
		[ "$(LEVEL=l1 found 1 out.gt combined_writes)" = "$((asked - sent))" ]
		[ "$(gtrace-cat out.gt | grep -vc '^#')" = "$(LEVEL=l1 found 1 out.gt sent_requests)" ]
	done < <(few_lines 7 <<-END
		own32 8 15 1 4 4 0 512 128
		own32 8 15 2 4 4 0 1024 256
		own32 8 15 4 4 4 0 2048 2048
		own64 16 5 1 4 4 0 512 128
		own64 16 5 2 4 4 0 1024 1024
		own128 32 1 1 4 4 0 512 512
		own4 1 15 1 4 4 0 64 32
		own_lane 1 1 1 4 4 0 16 8
		warps_pieces 8 15 2 1 32 1 2048 1024
		warps_pieces 8 15 4 1 32 1 4096 1024
		warps_pieces 8 15 8 1 32 1 8192 1024
		warps_same_line 1 15 2 1 32 1 256 128
		warps_same_line 1 15 4 1 32 1 512 128
		warps_same_line 1 15 8 1 32 1 1024 128
	END
	)
}

@test "--combine: atomics and loads go alone, the same in threads, and only where steps are cycles" {
	awk 'BEGIN {
		OFS = "\t"; srand(5)
		print "#gpu\tsms=4\tl1.combine=16,8\tl1.write=through\tl1.size=4K"
		print "#kernel\tid=1\tname=k\tgrid=4,1,1\tblock=256,1,1"
		print "#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm"
		split("store load reduction atomic", ops, " ")
		for (i = 0; i < 4000; i++) { if (rand() < .3) step += int(rand() * 9)
			print int(rand() * 4), 0, i, 0, ops[rand() < .6 ? 1 : 2 + int(rand() * 3)] ".global", 128 * int(rand() * 20), 1 + int(rand() * 15), 0, 32, step, int(rand() * 4) }
	}' | sort -s -t "$(printf '\t')" -k10,10n -k11,11n | gtrace-cat --from >in.gt
	gcache --l1 --combine 16,8 in.gt >out.gt
	read -r writes sent combined requests rows < <(LEVEL=l1 found 1 out.gt writes sent_writes combined_writes combined_requests sent_requests)
	[ "$combined" -gt 0 ]
	[ "$requests" -gt 0 ]
	[ "$writes" = "$((sent + combined))" ]
	gcache --l1 --combine none in.gt >plain.gt
	for counter in reads read_hits write_hits sent_reads sent_atomics; do
		[ "$(LEVEL=l1 found 1 out.gt "$counter")" = "$(LEVEL=l1 found 1 plain.gt "$counter")" ]
	done
	[ "$rows" = "$(($(LEVEL=l1 found 1 plain.gt sent_requests) - requests))" ]
	cmp <(gtrace-cat out.gt) <(gcache --l1 --combine 16,8 -j 3 in.gt | gtrace-cat)
	# A store that bypasses L1 waits there, too.
	gcache --l1 --combine 16,8 --bypass writes in.gt >bypass.gt
	[ "$(LEVEL=l1 found 1 bypass.gt sent_writes combined_writes)" = "$sent $combined" ]
	# The description's value is for steps that are cycles.
	[ -z "$(LEVEL=l1 found 1 plain.gt combined_writes)" ]
	gcache --l1 in.gt >said.gt
	[ -z "$(LEVEL=l1 found 1 said.gt combined_writes)" ]
	gtrace-cat in.gt | cut -f 1-9 | awk -v latencies="l1.hit_cycles=30\tl1.miss_cycles=0\tl2.size=1M\tl2.hit_cycles=200\tl2.miss_cycles=400\tschedulers=4\tmax_warps=64" '
		/^#gpu/ { $0 = $0 "\t" latencies } /^#block/ { $0 = $0 "\twork" } /^[0-9]/ { $0 = $0 "\t2,0" } 1' | gtrace-cat --from >rows.gt
	gschedule --issue latency rows.gt | gcache --l1 >timed.gt
	[ "$(LEVEL=l1 found 1 timed.gt combined_writes)" -gt 0 ]
	gcache --l2 --arrival travel --coalescer 2,90 timed.gt >both.gt
	gtrace-cat --check both.gt
	[ "$(found 1 both.gt coalesced_reads)" -gt 0 ]
	gschedule --issue rr rows.gt | gcache --l1 >turns.gt
	[ -z "$(LEVEL=l1 found 1 turns.gt combined_writes)" ]
	gcache --l1 --write back in.gt >back.gt
	[ -z "$(LEVEL=l1 found 1 back.gt combined_writes)" ]
	for text in 16 0,8 257,8 16,8,1 x,8 16,; do
		expect_failure 2 "expected LINES,CYCLES" gcache --l1 --combine "$text" in.gt
	done
	expect_failure 2 "combine is for a private data cache" gcache --l2 --combine 16,8 in.gt
	expect_failure 2 "combine is for a private data cache" gcache --l1 --write back --combine 16,8 in.gt
	expect_failure 2 "combine is for a private data cache" gcache --l1 --mshr 1x4 --combine 16,8 in.gt
}
