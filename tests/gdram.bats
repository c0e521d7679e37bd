# SPDX-License-Identifier: MIT
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	tab=$'\t'
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		tr ' ' '\t' <<-END
			#block warp an pc op size mask base stride lanes
			0 0 0 0 load.global 4 0xffffffff 0 4 -
			0 0 1 0 store.global 4 0xffffffff 1024 4 -
			0 0 2 0 atomic.global 4 0x1 256 0 -
			0 0 3 0 load.shared 4 0xffffffff 0 8 -
		END
	} >small.tsv
	gtrace-cat --from small.tsv >accesses
	gcoalesce <accesses >requests
}

# counted NAME: its value in a stream.
counted() { gtrace-cat | grep "^#count.*stage=dram$tab" | tr '\t' '\n' | sed -n "s/^$1=//p"; }

@test "reads, writes and rows of a small stream" {
	gdram --channels 2 --banks 2 --row 256 --interleave 256 <requests >out
	# Lines 0-1 and 4-5 are channel 0, bank 0 and 1; 256 is channel 1; 1024 is channel 0, bank 0, row 1.
	[ "$(counted reads <out)" -eq 5 ]
	[ "$(counted writes <out)" -eq 5 ]
	[ "$(counted row_hits <out)" -eq 7 ]
	[ "$(counted row_misses <out)" -eq 3 ]
	[ "$(counted channel_reads <out)" = "[4,1]" ]
	[ "$(counted channel_writes <out)" = "[4,1]" ]
	[ "$(counted channel_row_hits <out)" = "[6,1]" ]
}

# The store writes 4 bytes of 8 sectors of 2 lines, and all of the other 8.
@test "--partial read: a sector is read before a part of it is written" {
	{ printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n'
		printf '0\t0\t%d\t0x0\tstore.global\t0x%x\t0xf\t0x%x\t32\n' 0 0 0 1 128 0 2 256 15 3 384 15
	} | gtrace-cat --from >stores
	[ "$(gdram stores | counted reads)" = 0 ]
	for part in "" --partial=read; do
		{ [ -n "$part" ] && cat stores || gtrace-cat stores | sed "/^#kernel/i #gpu${tab}dram.partial=read" | gtrace-cat --from; } | gdram --quiet --row 256 --banks 4 $part >out
		[ "$(counted reads <out) $(counted writes <out)" = "8 16" ]
		[ "$(counted row_hits <out) $(counted row_misses <out)" = "22 2" ]
	done
	expect_failure 2 "partial none: expected write or read" gdram --partial none stores
}

@test "it removes requests, coalesces accesses first, and passes everything else" {
	gdram <requests >from_requests
	gdram <accesses >from_accesses
	diff <(gtrace-cat from_requests | grep -v '^#history') <(gtrace-cat from_accesses | grep -v '^#history')
	[ "$(gtrace-cat from_requests | grep -vc '^#')" -eq 0 ]
	[ "$(gtrace-cat from_requests | grep -c '^#kernel')" -eq 1 ]
	[ "$(gtrace-cat from_requests | grep -c '^#count.*stage=coalesce')" -eq 1 ]
	gtrace-cat --check from_accesses
}

@test "options override the stream's GPU, which overrides the defaults" {
	gtrace-cat requests | sed "/^#kernel/i #gpu${tab}dram.channels=3${tab}dram.row=1K" | gtrace-cat --from >described
	gdram --banks 4 described 2>said >/dev/null
	[ "$(<said)" = "gdram: warning: the GPU description has no dram.interleave: gdram's own defaults are taken" ]
	gdram requests 2>said >/dev/null
	[ ! -s said ]
	[ "$(gdram <requests | counted channels)" -eq 1 ]
	[ "$(gdram <described | counted channels)" -eq 3 ]
	[ "$(gdram <described | counted row)" -eq 1024 ]
	[ "$(gdram <described | counted banks)" -eq 16 ]
	[ "$(gdram --channels 5 --row 512 <described | counted channels)" -eq 5 ]
	[ "$(gdram --channels 5 --row 512 <described | counted row)" -eq 512 ]
}

@test "channels need not be a power of two: a sweep of lines loads them evenly" {
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=1,1,1${tab}block=32,1,1"
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n'
		for ((line = 0; line < 7 * 40; line++)); do
			printf '0\t0\t%d\t0\tload.global\t%d\t0xf\t0\t32\n' "$line" $((128 * line))
		done
	} | gtrace-cat --from | gdram --channels 7 --interleave 128 >out
	[ "$(counted channel_reads <out)" = "[160,160,160,160,160,160,160]" ]
}

@test "rows are closed between kernels" {
	{
		for id in 1 2; do
			echo "#kernel${tab}id=$id${tab}name=k${tab}grid=1,1,1${tab}block=32,1,1"
		done
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		for id in 1 2; do printf '0\t0\t0\t0\tload.global\t0\t0xf\t0\t32\t%s\n' "$id"; done
	} | gtrace-cat --from | gdram | gtrace-cat >out
	[ "$(grep -c 'row_misses=1' out)" -eq 2 ]
	[ "$(grep -c 'row_hits=3' out)" -eq 2 ]
}

@test "wrong usage" {
	expect_failure 2 "channels: '0': " gdram --channels 0 requests
	expect_failure 2 "channels: '1025': " gdram --channels 1025 requests
	expect_failure 2 "banks: 'x': " gdram --banks x requests
	expect_failure 2 "row: '16': " gdram --row 16 requests
	expect_failure 2 "row 100: expected a multiple of 32 bytes" gdram --row 100 requests
	expect_failure 2 "interleave 48: expected a multiple of 32 bytes" gdram --interleave 48 requests
	expect_failure 2 "expected one stream" gdram requests requests
}

@test "bad input" {
	fails() { gdram "$@" >/dev/null; }
	gtrace-cat requests | sed "/^#kernel/i #gpu${tab}dram.row=100" | gtrace-cat --from >odd
	gtrace-cat requests | sed "/^#kernel/i #gpu${tab}coalesce=tesla" | gtrace-cat --from >tesla
	expect_failure 1 "gpu: dram: row 100: expected a multiple of 32 bytes" fails odd
	expect_failure 1 "gpu: coalesce: 'tesla'" fails tesla
	head -c 200 requests >cut
	expect_failure 1 "" fails cut
}

@test "the manual's examples run" {
	run_man_examples gdram.1
}
