#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gcache --l2: what launches read by themselves, the neighbours that a fetch brings, and a level that is emptied between
# kernels. Expected numbers are sums done by hand.

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

# found KERNEL STREAM NAME...: counters of l2 of a kernel, side by side.
found() {
	local kernel=$1 stream=$2 name
	shift 2
	gstats --csv "$stream" >counters.csv
	for name in "$@"; do
		awk -F, -v key="$kernel,l2,$name" '$1 "," $2 "," $3 == key { print $4 }' counters.csv
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

@test "launch reads come first, as loads of constants, whatever else the level does" {
	printf '%s\n' 'load.global 0x1000 0xf' 'store.global 0x2000 0xf' | stream 2 >in.gt
	gcache --l2 --launch-reads 64,1,32 in.gt >out.gt
	gtrace-cat out.gt | grep -v '^#' | cut -f 5,7,10,11 | diff - <(printf '%s\n' \
		$'load.constant\t0x1\t5\t0' $'load.constant\t0x2\t5\t0' $'load.constant\t0x1\t5\t0' $'load.global\t0xf\t5\t0' \
		$'store.global\t0xf\t7\t0')
	for options in "" "--replace opt" "--arrival rr" "--emit all" "--emit none" "--replace random" "--line 32 --ways 8" \
		"--latency fixed:9" "--ports 1 --mshr 1x4" "--flush never" "--flush between" "--size none"; do
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
	for text in 512 512,13 512,13,416,1 512,13,416x -1,1,32 ,, 500,13,416 512,13,400 512,0,416 512,13,0 512,12,416 2M,1,32; do
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
	gcache --l2 --size 256 --ways full in.gt >out.gt
	[ "$(found 1 out.gt sent_writes flushed)" = "12 8" ]
	gcache --l2 --size 256 --ways full --replace opt --flush between in.gt >out.gt
	[ "$(found 2 out.gt sent_writes left_dirty)" = "4 8" ]
	gcache --l2 --size 256 --ways full --line 128 --sector 64 --latency fixed:5 --flush between in.gt >out.gt
	[ "$(found 2 out.gt sent_writes left_dirty)" = "4 8" ]
}
