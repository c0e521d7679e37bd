# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0
load helpers

# stream NAME [OPTION...]: the scheduled rows of a sample trace, as text
scheduled() {
	local trace=$1
	shift
	ordered $trace | gschedule "$@" | gtrace-cat | grep -v '^#'
}

# counter NAME: from the text of a stream on standard input
counter() { sed -n "/stage=schedule/s/.*\t$1=\([^\t]*\).*/\1/p"; }

# kernel THREADS REGISTERS SHARED BLOCKS: a stream with one access of block 0
kernel() {
	printf '#kernel\tid=1\tname=k\tgrid=%s,1,1\tblock=%s,1,1\tregisters=%s\tshared_bytes=%s\torder=block\n' "$4" "$1" "$2" "$3"
	printf '#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\n0\t0\t0\t0x0\tload.global\t4\t0x1\t0x0\t0\t-\n'
}

# rows BLOCK...: a stream with an access of each block, in this order
rows() {
	printf '#kernel\tid=7\tname=k\tgrid=16,1,1\tblock=32,1,1\torder=%s\n' "$1"
	shift
	printf '#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\n'
	for block; do
		printf '%s\t0\t0\t0x0\tload.global\t4\t0x1\t0x0\t0\t-\n' "$block"
	done
}

@test "rows agree with a slow, simple schedule: every mapping, dispatch, issue and number of schedulers" {
	TMPDIR=$BATS_TEST_TMPDIR python3 "$ROOT/tests/golden/schedule.py" 11 2
}

@test "rows agree with a slow, simple machine, cycle by cycle: --issue latency" {
	TMPDIR=$BATS_TEST_TMPDIR python3 "$ROOT/tests/golden/latency.py" 103 20
}

@test "--issue latency: a sum by hand" {
	cd "$BATS_TEST_TMPDIR"
	# L1 1 cycle, L2 10, memory 30. Warp 1 is the youngest. Both load what only memory has; warp 1 at 0, warp 0 after 2
	# instructions, for which it has the scheduler from 1 to 3. Warp 1 waits until 30; its line is in L1 then. Warp 0 has its own at 33.
	printf '%s\n' 'name = hand' 'sms = 1' 'schedulers = 1' 'max_blocks = 1' 'l1.size = 1K' 'l1.hit_cycles = 1' 'l2.size = 4K' \
		'l2.hit_cycles = 10' 'l2.miss_cycles = 30' | sed 's/$/ # assumed: a sum by hand/' >hand.gpu
	printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=64,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\twork\n' >in
	printf '0\t%s\t%s\t0x0\tload.global\t%s\t0x1\t0x0\t32\t%s\n' 0 0 0x0 2,0 1 0 0x80 0,0 0 1 0x80 0,1,waits 1 1 0x80 0,0,waits 1 2 0x0 1,1,waits >>in
	found=$(gtrace-cat --from in | gschedule --gpu ./hand.gpu --issue latency | gtrace-cat | grep -v '^#' | awk '{ print $10, "warp", $2, "an", $3 }')
	# Warp 1 hits at 30 and has it at 31; the barrier opens when warp 0 comes, at 33. Warp 1 goes first, with an instruction.
	[ "$found" = "0 warp 1 an 0
3 warp 0 an 0
30 warp 1 an 1
34 warp 1 an 2
35 warp 0 an 1" ]
}

@test "--issue latency: the rates of accesses on an RTX A6000, as table 1 of Huerta et al. has them" {
	cd "$BATS_TEST_TMPDIR"
	# A warp on each of 1 to 4 schedulers has 16 loads that wait for nothing: from the eighth on, each comes 4, 4, 6 and 8 cycles after the one before.
	for warps in 1 2 3 4; do
		{
			printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=%d,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\twork\n' $((32 * warps))
			for an in {0..15}; do for ((w = 0; w < warps; w++)); do printf '0\t%d\t%d\t0x0\tload.global\t0x0\t0xf\t0xf\t32\t0,0\n' $w $an; done; done
		} | gtrace-cat --from >in.gt
		gschedule --gpu rtx3090 --issue latency in.gt | gtrace-cat | awk -F'\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i }
			!/^#/ { if ($3 >= 8) print $at["step"] - last[$2]; last[$2] = $at["step"] }' | sort -u | paste -sd ,
	done >found
	[ "$(paste -sd ' ' found)" = "4 4 6 8" ]
}

@test "--issue latency: 32 warps of an H100 load from L1 in turn, 28 and 32 cycles apart" {
	cd "$BATS_TEST_TMPDIR"
	# Measured: 24 to 33 cycles, 29 on average (tests/reference/README.md). On an RTX 3090, greedy as table 1 of Huerta et al., a scheduler stays with a warp.
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=1024,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\twork\n'
		for an in {0..15}; do for w in {0..31}; do printf '0\t%d\t%d\t0x0\tload.global\t0x0\t0xf\t0xf\t32\t0,0\n' $w $an; done; done
	} | gtrace-cat --from >in.gt
	for gpu in h100 rtx3090; do
		gschedule --gpu $gpu --issue latency in.gt | gtrace-cat | awk -F'\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i }
			!/^#/ { if ($3 >= 8) print $at["step"] - last[$2]; last[$2] = $at["step"] }' | sort -u | paste -sd ,
	done >found
	[ "$(paste -sd ' ' found)" = "28,32 8" ]
	sed 's/= ready/= fair/' "$ROOT/gpus/h100" >./fair.gpu
	run ! gschedule --gpu ./fair.gpu --issue latency in.gt
	[[ "$output" == *"warp_order in the GPU description: 'fair': expected greedy or ready"* ]]
}

@test "blocks that access nothing take a slot, for as long as they issue: a sum by hand" {
	cd "$BATS_TEST_TMPDIR"
	# Blocks of two warps, of which the odd ones issue 4 instructions a warp and return: 8.
	for jobs in 1 2; do
		gtrace-ptx --jobs $jobs --work --launch 'odd<<<8,64>>>(u32[512]:ramp, u32[512])' "$ROOT/tests/ptx/odd.ptx" >odd.$jobs
	done
	cmp odd.1 odd.2
	gtrace-cat --no-rows odd.1 | grep stage=idle >idle
	[ "$(grep -o 'blocks=[^ 	]*' idle | tr -dc '0-9\n' | tr -d '\n')" = 1357 ]
	[ "$(grep -c 'instructions=\[8\]' idle)" -eq 4 ]
	printf '%s\n' 'name = hand' 'sms = 2' 'schedulers = 1' 'max_blocks = 1' 'l1.size = 1K' 'l1.hit_cycles = 1' 'l2.size = 4K' \
		'l2.hit_cycles = 10' 'l2.miss_cycles = 30' | sed 's/$/ # assumed: a sum by hand/' >hand.gpu
	begun() { gcoalesce odd.1 | gschedule --gpu ./hand.gpu --dispatch first-done "$@" | gtrace-cat | grep -v '^#' | awk '!($1 in seen) { seen[$1]; print $1, $11, $10 }'; }
	# In order, a step each: 0 on SM 0 issues at 0 to 3; 1 has SM 1 at 0, and 2 at 1 to 4; 3 has SM 0 at 4, and 4 from 5 on; 5 has SM 1 at 5, and
	# 6 from 6 on.
	[ "$(begun)" = "0 0 0
2 1 1
4 0 5
6 1 6" ]
	# By time: an odd block has SM 1 for its 8 instructions, one a cycle. Then 2 issues its 11 instructions before the load.
	begun --issue latency >found
	[ "$(sed -n 1p found)" = "0 0 11" ]
	[ "$(sed -n 2p found)" = "2 1 19" ]
}

@test "--issue latency refuses what it cannot time" {
	cd "$BATS_TEST_TMPDIR"
	gtrace-ptx --work --launch 'vectoradd<<<1,32>>>(f32[32], f32[32], f32[32], 32)' "$ROOT/examples/kernels/ptx/vectoradd.ptx" >work.gt
	expect_failure 1 "expected requests with the column work: run gcoalesce first" gschedule --gpu titanv --issue latency work.gt
	ordered gemm | gcoalesce >none.gt
	expect_failure 1 "on a trace of gtrace-record --work" gschedule --gpu titanv --issue latency none.gt
	gcoalesce work.gt >requests.gt
	expect_failure 1 "expected l2.size in the GPU description" gschedule --sm 2 --issue latency requests.gt
	expect_failure 1 "expected l2.hit_cycles in the GPU description" gschedule --gpu gtx970 --issue latency requests.gt
	gschedule --gpu titanv --issue latency requests.gt | gtrace-cat --check
	# The column is for the schedule alone.
	[ "$(gschedule --gpu titanv --issue latency requests.gt | gtrace-cat | grep -c '^#block.*work')" = 0 ]
}

@test "scheduling and coalescing commute" {
	few 1 gemm conv
	for trace in "${FEW[@]}"; do
		for options in "--gpu titanv" "--sm 3 --max-blocks 2 --schedulers 2" "--sm 3 --max-blocks 2 --dispatch first-done --issue gto" "--sm 3 --max-blocks 2 --dispatch any-done"; do
			# shellcheck disable=SC2086
			ordered $trace | gcoalesce | gschedule $options | gtrace-cat | grep -v '^#' >"$BATS_TEST_TMPDIR/after"
			# shellcheck disable=SC2086
			ordered $trace | gschedule $options | gcoalesce | gtrace-cat | grep -v '^#' >"$BATS_TEST_TMPDIR/before"
			[ -s "$BATS_TEST_TMPDIR/after" ]
			cmp "$BATS_TEST_TMPDIR/after" "$BATS_TEST_TMPDIR/before"
		done
	done
}

@test "an access to shared memory takes its turn, whether gcoalesce is before or after: sums by hand" {
	cd "$BATS_TEST_TMPDIR"
	# Two SMs. Block 0 (SM 0): shared, shared, global A; block 1 (SM 1): global A; block 2 (SM 0) shared only; block 3 (SM 1): global B. An SM holds one.
	# In waves: SM 0 at steps 0, 1, 2 (A), 3; SM 1: A at 0, B at 1. first-done: SM 1 takes block 2 at 1 and block 3 at 2, when SM 0 is at A.
	printf '#kernel\tid=1\tname=k\tgrid=4,1,1\tblock=32,1,1\torder=block\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\n' >in
	printf '%s\t0\t%s\t0x0\t%s\t4\t0xffffffff\t%s\t4\t-\n' 0 0 load.shared 0 0 1 store.shared 0 0 2 load.global 0x1000 1 0 load.global 0x1000 \
		2 0 load.shared 0 3 0 load.global 0x2000 >>in
	gtrace-cat --from in >t
	while read -r dispatch steps rows; do
		for pipe in "gcoalesce t | gschedule --sm 2 --max-blocks 1 --dispatch $dispatch" "gschedule --sm 2 --max-blocks 1 --dispatch $dispatch t | gcoalesce"; do
			bash -c "$pipe" | gtrace-cat >out
			[ "$(grep -v '^#' out | awk '{ print $1, $10, $11 }' | paste -sd,)" = "$rows" ]
			[ "$(counter steps <out)" -eq "$steps" ]
		done
	done <<-END
		wave 4 1 0 1,3 1 1,0 2 0
		first-done 3 1 0 1,0 2 0,3 2 1
	END
	[ "$(gcoalesce t | gschedule --sm 2 --max-blocks 1 | gtrace-cat | counter rows)" -eq 3 ]
	[ "$(gschedule --sm 2 --max-blocks 1 t | gtrace-cat | counter rows)" -eq 6 ]
}

@test "limited_by, waves and resident_blocks are the kernel's, and not those of --waves; ties are named in order" {
	cd "$BATS_TEST_TMPDIR"
	# 100 blocks of 8 warps on 2 SMs of 32 warps: 4 fit, in 13 waves, however many are modelled.
	kernel 256 0 0 100 | gtrace-cat --from >t
	few 3 "" "--waves 1" "--waves 12" "--waves 20" "--waves 1 --dispatch first-done"
	for waves in "${FEW[@]}"; do
		# shellcheck disable=SC2086
		gschedule --sm 2 --max-warps 32 --max-blocks 16 $waves t | gtrace-cat >out
		[ "$(counter limited_by <out)" = warps ]
		[ "$(counter waves <out)" -eq 13 ]
		[ "$(counter resident_blocks <out)" -eq 4 ]
	done
	# Both limits are 4: the first in the list.
	[ "$(gschedule --sm 2 --max-warps 32 --max-blocks 4 t | gtrace-cat | counter limited_by)" = blocks ]
	[ "$(gschedule --sm 25 --max-warps 32 --max-blocks 4 t | gtrace-cat | counter limited_by)" = grid ]
	# 5 blocks on 4 SMs: SM 3 has one, SM 0 two.
	kernel 32 0 0 5 | gtrace-cat --from >t
	for dispatch in wave first-done; do
		[ "$(gschedule --sm 4 --max-blocks 8 --dispatch $dispatch --only-sm 3 t | gtrace-cat | counter resident_blocks)" -eq 1 ]
		[ "$(gschedule --sm 4 --max-blocks 8 --dispatch $dispatch --only-sm 0,3 t | gtrace-cat | counter resident_blocks)" -eq 2 ]
	done
}

@test "no row is lost, and only step and SM change" {
	ordered gemm | gtrace-cat | grep -v '^#' | sort >"$BATS_TEST_TMPDIR/in"
	for map in rr part:3 random:5; do
		scheduled gemm --sm 5 --max-blocks 2 --map "$map" | cut -f 1-10,13 | sort >"$BATS_TEST_TMPDIR/out"
		cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
	done
}

@test "memory or file, twice or once: the same bytes" {
	ordered gemm >"$BATS_TEST_TMPDIR/in"
	gtrace-order --by an "$ROOT/examples/traces/gemm.rdgc.xz" >"$BATS_TEST_TMPDIR/mixed"
	for options in "--sm 7 --max-blocks 2" "--sm 2 --max-blocks all --issue gto" "--sm 3 --max-blocks 3 --issue gto --dispatch first-done"; do
		# shellcheck disable=SC2086
		gschedule $options "$BATS_TEST_TMPDIR/in" | gtrace-cat | grep -e '^[^#]' -e stage=schedule >"$BATS_TEST_TMPDIR/one"
		few 2 0 9K 100K
		for memory in "${FEW[@]}"; do
			for in in in mixed; do
				# shellcheck disable=SC2086
				gschedule -S $memory -T "$BATS_TEST_TMPDIR" $options "$BATS_TEST_TMPDIR/$in" | gtrace-cat | grep -e '^[^#]' -e stage=schedule >"$BATS_TEST_TMPDIR/two"
				cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
			done
		done
	done
	[ "$(find "$BATS_TEST_TMPDIR" -name 'gtrace-*' | wc -l)" -eq 0 ]
}

# Rows that wait are kept as spans, or, with -S 0, packed one by one. Spans of several warps and of one, with rising, falling and
# equal addresses, cut by turns of 3 warps; differences that do not fit; blocks that come by access number, and the reverse.
@test "rows at even distances are issued as others are" {
	awk 'BEGIN {
		print "#gtrace\t0.1.0\n#kernel\tid=1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel"
		for (block = 0; block < 12; block++)
			for (n = 0; n < 40; n++) {
				an = block % 3 == 2 ? 39 - n : n
				for (warp = n % 5; warp < 11; warp += 1 + (n % 7 == 3)) {
					lines = n % 4 == 1 ? 9 : n % 4 == 2 ? warp % 3 + 1 : 1
					for (line = 0; line < lines; line++) {
						address = 2 ^ 40 + block * 4096 + warp * (n % 6 - 2) * 128 + line * (n % 3 - 1) * 256
						address += n % 9 == 8 ? warp % 2 * 2 ^ 32 : n % 9 == 7 ? warp * warp * 128 : 0
						high = int(address / 2 ^ 32) # mawk has no longer hexadecimal numbers
						printf "%d\t%d\t%d\t0x%x\tload.global\t0x%x%08x\t0x%x\t0x0\t%d\t1\n", block, warp, an, n % 5, high, address - high * 2 ^ 32, (warp == 6 && n % 8 == 0 ? 3 : 1), 32 / lines
					}
				}
			}
		print "#end"
	}' >"$BATS_TEST_TMPDIR/text"
	gtrace-cat --from "$BATS_TEST_TMPDIR/text" >"$BATS_TEST_TMPDIR/in"
	for options in "--sm 2 --max-blocks 3" "--sm 1 --max-blocks all --schedulers 3 --dispatch any-done" "--sm 3 --max-blocks 2 --schedulers 8 --dispatch first-done"; do
		# shellcheck disable=SC2086
		gschedule $options "$BATS_TEST_TMPDIR/in" | gtrace-cat | grep -e '^[^#]' -e stage=schedule >"$BATS_TEST_TMPDIR/spans"
		[ "$(grep -vc '^#' "$BATS_TEST_TMPDIR/spans")" = "$(grep -vc '^#' "$BATS_TEST_TMPDIR/text")" ]
		few 2 0 20K 40K
		for memory in "${FEW[@]}"; do
			# shellcheck disable=SC2086
			gschedule -S $memory -T "$BATS_TEST_TMPDIR" $options "$BATS_TEST_TMPDIR/in" | gtrace-cat | grep -e '^[^#]' -e stage=schedule | cmp - "$BATS_TEST_TMPDIR/spans"
		done
	done
}

# A product of 512 x 512: 12 MB as spans, of which 1 MB is kept as it is; each turn of a loop adds nothing to the rest.
@test "rows of a loop take little memory, and are issued as others are" {
	if nm "$(command -v gschedule)" | grep -q __asan_; then skip "instrumented"; fi
	cd "$BATS_TEST_TMPDIR"
	gtrace-ptx --launch "gemm<<<(8,32),(32,8)>>>(f32[65536]:ramp, f32[65536]:rand(1), f32[65536], 256)" "$ROOT/examples/kernels/ptx/gemm.ptx" |
		gcoalesce >in
	(ulimit -v 10000 && exec gschedule --gpu titanv in) | gtrace-cat | grep -v '^#history' | md5sum >loops
	gschedule --gpu titanv -S 0 -T . in | gtrace-cat | grep -v '^#history' | md5sum | cmp - loops
}

# Rows of 64 blocks at random addresses: 30 MB as they came, two rows in 24 bytes, and 12 MB packed. One SM holds all of them.
@test "rows that wait take the memory of -S, then a file; a full one is an error" {
	if nm "$(command -v gschedule)" | grep -q __asan_; then skip "instrumented"; fi
	awk 'BEGIN {
		srand(5)
		print "#gtrace\t0.1.0\n#kernel\tid=1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel"
		for (block = 0; block < 64; block++)
			for (an = 0; an < 2500; an++)
				for (warp = 0; warp < 8; warp++)
					printf "%d\t%d\t%d\t0x%x\tload.global\t0x%x\t0x1\t0x0\t32\t1\n", block, warp, an, an % 7, int(rand() * 1048576) * 128
		print "#end"
	}' >"$BATS_TEST_TMPDIR/text"
	gtrace-cat --from "$BATS_TEST_TMPDIR/text" >"$BATS_TEST_TMPDIR/in"
	cd "$BATS_TEST_TMPDIR"
	gschedule --sm 1 in | gtrace-cat | grep -v '^#history' | md5sum >one
	(ulimit -v 16000 && exec gschedule --sm 1 -S 2M in) | gtrace-cat | grep -v '^#history' | md5sum >two
	cmp one two
	run -1 bash -c 'ulimit -v 16000 && exec gschedule --sm 1 in >/dev/null'
	[[ $output == *"out of memory"*"a smaller -S uses less"* ]]
	run -1 bash -c 'trap "" XFSZ; ulimit -f 1000 && exec gschedule --sm 1 -S 2M in | cat >/dev/null; exit "${PIPESTATUS[0]}"'
	[[ $output == "gschedule: temporary file in "*": File too large" ]]
}

@test "a scheduled stream is scheduled anew; --map trace keeps the SMs" {
	scheduled gemm --sm 4 --max-blocks 2 >"$BATS_TEST_TMPDIR/once"
	ordered gemm | gschedule --sm 9 --max-blocks 3 --map random:2 | gschedule --sm 4 --max-blocks 2 |
		gtrace-cat | grep -v '^#' | cmp - "$BATS_TEST_TMPDIR/once"
	ordered gemm | gschedule --sm 4 --max-blocks 8 | gschedule --sm 4 --max-blocks 2 --map trace |
		gtrace-cat | grep -v '^#' | cmp - "$BATS_TEST_TMPDIR/once"
}

@test "--only-sm and --waves model a part, and count it" {
	run bash -c "gtrace-order '$ROOT/examples/traces/gemm.rdgc.xz' | gschedule --sm 5 --max-blocks 2 | gtrace-cat"
	[ "$(counter blocks <<<"$output")" -eq 16 ]
	[ "$(counter modelled_blocks <<<"$output")" -eq 16 ]
	[ "$(counter waves <<<"$output")" -eq 2 ]
	[ "$(counter limited_by <<<"$output")" = blocks ]
	grep -v '^#' <<<"$output" | awk '$12 == 0 || $12 == 3' >"$BATS_TEST_TMPDIR/part"
	run bash -c "gtrace-order '$ROOT/examples/traces/gemm.rdgc.xz' | gschedule --sm 5 --max-blocks 2 --only-sm 0,3 | gtrace-cat"
	grep -v '^#' <<<"$output" | cmp - "$BATS_TEST_TMPDIR/part"
	[ "$(counter modelled_blocks <<<"$output")" -eq 7 ]
	run bash -c "gtrace-order '$ROOT/examples/traces/gemm.rdgc.xz' | gschedule --sm 5 --max-blocks 2 --only-sm 0,3 --waves 1 | gtrace-cat"
	[ "$(counter modelled_blocks <<<"$output")" -eq 4 ]
	[ "$(counter waves <<<"$output")" -eq 2 ]
	[ "$(grep -v '^#' <<<"$output" | cut -f 1 | sort -un | tr '\n' ' ')" = "0 3 5 8 " ]
	[ "$(counter rows <<<"$output")" -eq "$(grep -vc '^#' <<<"$output")" ]
}

@test "first-done: a part agrees with that part of the whole schedule" {
	options="--sm 3 --max-blocks 2 --dispatch first-done"
	# shellcheck disable=SC2086
	scheduled conv $options | awk '$12 != 1' >"$BATS_TEST_TMPDIR/part"
	# shellcheck disable=SC2086
	ordered conv | gschedule $options --only-sm 0,2 | gtrace-cat >"$BATS_TEST_TMPDIR/out"
	grep -v '^#' "$BATS_TEST_TMPDIR/out" | cmp - "$BATS_TEST_TMPDIR/part"
	[ "$(counter modelled_blocks <"$BATS_TEST_TMPDIR/out")" -eq "$(cut -f 1 "$BATS_TEST_TMPDIR/part" | sort -u | wc -l)" ]
	# shellcheck disable=SC2086
	ordered conv | gschedule $options --waves 2 | gtrace-cat >"$BATS_TEST_TMPDIR/out"
	[ "$(grep -v '^#' "$BATS_TEST_TMPDIR/out" | cut -f 1 | sort -un | tail -n 1)" -eq 11 ]
	[ "$(counter modelled_blocks <"$BATS_TEST_TMPDIR/out")" -eq 12 ]
}

# From a scheduled stream as text, and lines "kernel block steps": whether an SM ever holds more blocks than SLOTS. A
# block is resident from its first access until it has issued its last and its steps have passed.
check_slots() { # check_slots SLOTS STEPS SCHEDULED
	awk -v slots="$1" '
		NR == FNR { takes[$2] = $3; next }
		/^#/ { next }
		!($1 in begin) { begin[$1] = $(NF - 2); sm[$1] = $(NF - 1) }
		{ end[$1] = $(NF - 2) + 1 }
		END {
			for (b in begin) {
				if (end[b] < begin[b] + takes[b])
					end[b] = begin[b] + takes[b]
				blocks++
			}
			for (b in begin) {
				n = 0
				for (other in begin)
					n += sm[other] == sm[b] && begin[other] <= begin[b] && begin[b] < end[other]
				if (n > slots) {
					print "block " b " starts on SM " sm[b] " at step " begin[b] " as one of " n
					exit 1
				}
				full += n == slots
			}
			if (blocks == 0 || full == 0)
				exit 1
		}' "$2" "$3"
}

@test "any-done: the seed decides which SM with room takes the next block" {
	cd "$BATS_TEST_TMPDIR"
	# 40 blocks of one warp and one access, two at a time on 4 SMs: all SMs have room at once.
	one() { awk 'BEGIN { print "#kernel id=1 name=k grid=40,1,1 block=32,1,1"; for (b = 0; b < 40; b++) print 0, b, 0, "R", 4096 * b, 4 }'; }
	one | gtrace-order >in.gt
	placed() { gschedule --sm 4 --max-blocks 2 "$@" in.gt | gtrace-cat | awk -F'\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ { print $1, $at["sm"], $at["step"] }' | sort -n; }
	placed --dispatch any-done >first
	placed --dispatch any-done --seed 1 | cmp - first
	placed --dispatch any-done --seed 2 >second
	run ! cmp first second
	# Blocks start in their order, each SM holds at most two, and the first eight are assigned round-robin.
	awk '$3 < last { exit 1 } { last = $3; n[$2]++ } NR <= 8 && $2 != (NR - 1) % 4 { exit 1 } END { for (sm in n) if (n[sm] != 10) exit 1 }' first
	placed --dispatch first-done >plain
	[ "$(cut -d ' ' -f 1,3 first)" = "$(cut -d ' ' -f 1,3 plain)" ]
	# Without ties it equals first-done.
	ordered conv >in.gt
	[ "$(gschedule --sm 1 --max-blocks 3 --dispatch any-done in.gt | gtrace-cat | grep -v '^#' | cksum)" = "$(gschedule --sm 1 --max-blocks 3 --dispatch first-done in.gt | gtrace-cat | grep -v '^#' | cksum)" ]
	expect_failure 2 "seed" gschedule --sm 1 --seed x in.gt
}

@test "any-done: of SMs that have room at once, the one with most takes the next block" {
	cd "$BATS_TEST_TMPDIR"
	# Blocks of one warp and one access, two at a time on 2 SMs. At step 11 both blocks of SM 0 have ended, and one of SM 1.
	awk 'BEGIN { print "#kernel id=1 name=k grid=7,1,1 block=32,1,1"; for (b = 0; b < 7; b++) print 0, b, 0, "R", 4096 * b, 4 }' | gtrace-order >in.gt
	printf '%s\n' "1 0 11" "1 1 11" "1 2 10" "1 3 100" "1 4 50" "1 5 50" "1 6 50" >steps
	for seed in 1 2 3 4 5 6 7 8; do
		gschedule --sm 2 --max-blocks 2 --dispatch any-done --seed $seed --block-steps steps in.gt | gtrace-cat |
			awk -F'\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ && $1 >= 4 { print $1, $at["sm"] }' | sort -n | paste -sd ' '
	done | sort | uniq -c | awk '{ $1 = ""; print }' >placed
	[ "$(cat placed)" = " 4 0 5 0 6 1
 4 0 5 1 6 0" ]
}

@test "the dispatch policy comes from the description, and an option overrides it" {
	cd "$BATS_TEST_TMPDIR"
	ordered gemm >in.gt
	for policy in wave first-done any-done; do
		{ grep -v '^dispatch' "$ROOT/gpus/titanv"; echo "dispatch = $policy # assumed: a test"; } >gpu
		for sms in 2 80; do
			rows() { gschedule --sm $sms --max-blocks 1 "$@" in.gt | gtrace-cat | grep -v '^#' | cksum; }
			[ "$(rows --gpu ./gpu)" = "$(rows --gpu titanv --dispatch $policy)" ]
		done
	done
	echo "dispatch = never # assumed: a test" >bad
	expect_failure 2 "dispatch in the GPU description: 'never'" gschedule --gpu ./bad --sm 1 in.gt
}

@test "first-done with the steps of blocks: one starts only when a slot is free, and the same way every time" {
	cd "$BATS_TEST_TMPDIR"
	few 1 1 2 3
	for seed in "${FEW[@]}"; do
		awk -v seed=$seed 'BEGIN { srand(seed); for (b = 0; b < 64; b++) if (b % 7) print 1, b, int(rand() * 400) }' >steps
		few 2 rr part:3 random:5
		for map in "${FEW[@]}"; do
			for issue in rr gto; do
				options=(--sm 3 --max-blocks 3 --schedulers 2 --map $map --issue $issue --dispatch first-done --block-steps steps)
				ordered conv | gschedule "${options[@]}" | gtrace-cat >first
				gtrace-order --by an "$ROOT/examples/traces/conv.rdgc.xz" | gschedule "${options[@]}" -S 0 -T . | gtrace-cat >second
				check_slots 3 steps first
				cmp <(grep -e '^[^#]' -e stage=schedule first) <(grep -e '^[^#]' -e stage=schedule second)
			done
		done
	done
	# Without a line, or with fewer steps than it issues, a block is done when it has issued.
	: >none
	awk 'BEGIN { for (b = 0; b < 64; b++) print 1, b, b % 3 }' >few
	scheduled conv --sm 3 --max-blocks 2 --dispatch first-done >plain
	for file in none few; do
		scheduled conv --sm 3 --max-blocks 2 --dispatch first-done --block-steps $file | cmp - plain
	done
	# An SM with one slot: each block starts when the previous one ends.
	rows block 0 1 2 | gtrace-cat --from >in
	printf '7 0 1000000000\n# a remark\n\n7 1 5 # another\n' | gschedule --sm 1 --max-blocks 1 --dispatch first-done --block-steps /dev/stdin in |
		gtrace-cat >out
	[ "$(grep -v '^#' out | cut -f 1,11 | paste -sd' ' | tr '\t' ':')" = "0:0 1:1000000000 2:1000000005" ]
	[ "$(counter steps <out)" = 1000000006 ]
}

# Each block keeps its place for as long as it ran there, and 350 cycles. What is left differs by the order in which the first 528 began, over 245 cycles.
@test "any-done: blocks of unequal length begin when they did on an H100: tests/reference/h100_blocks.csv" {
	cd "$BATS_TEST_TMPDIR"
	{ printf '#kernel\tid=1\tname=k\tgrid=1584,1,1\tblock=128,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n'
		seq 0 1583 | sed 's/$/\t0\t0\t0x0\tload.global\t0x0\t0x1\t0x0\t32/'
	} | gtrace-cat --from >blocks
	awk -F, 'NR > 1 { print 1, $1, $4 - $3 + 350 }' "$ROOT/tests/reference/h100_blocks.csv" >lengths
	gschedule --sm 132 --max-blocks 4 --dispatch any-done --block-steps lengths blocks | gtrace-cat |
		awk '/^#block/ { for (i = 1; i <= NF; i++) if ($i == "step") column = i } !/^#/ { print $1, $column }' | sort -n >begun
	awk -F'[, ]' 'NR == FNR { begin[$1] = $3; next } $1 >= 528 { n++; sum += d = $2 - begin[$1]; squares += d * d }
		END { mean = sum / n; exit !(n == 1056 && squares / n - mean * mean < 80 * 80) }' "$ROOT/tests/reference/h100_blocks.csv" begun
}

# gpc_sms numbers the SMs in the order in which they got their first blocks.
@test "gpc_again: the first blocks of a grid that does not fit come to the SMs as on an H100, those of one that fits SM by SM" {
	cd "$BATS_TEST_TMPDIR"
	sms_of() {
		{ printf '#kernel\tid=1\tname=k\tgrid=%s,1,1\tblock=128,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n' "$1"
			seq 0 $(($1 - 1)) | sed 's/$/\t0\t0\t0x0\tload.global\t0x0\t0x1\t0x0\t32/'
		} | gtrace-cat --from | gschedule --gpu h100 --max-blocks 4 | gtrace-cat |
			awk '/^#block/ { for (i = 1; i <= NF; i++) if ($i == "sm") column = i } !/^#/ && $1 < 528 { print $1, $column }' | sort -n
	}
	sms_of 1584 >large
	awk -F, 'NR > 1 && $1 < 528 { if (!($2 in rank)) rank[$2] = n++; print $1, rank[$2] }' "$ROOT/tests/reference/h100_blocks.csv" | cmp - large
	sms_of 528 >small
	seq 0 527 | awk '{ print $1, $1 % 132 }' | cmp - small
	for wrong in 5 5, 5,6,7 0,6 5,100 a,b -5,6 5,+6; do
		sed "s/^gpc_again .*= 5,6/gpc_again = $wrong/" "$ROOT/gpus/h100" >wrong.gpu
		expect_failure 2 "wrong.gpu: gpu: gpc_again: '$wrong': expected two counts of 1 to 99, such as 5,6" gschedule --gpu ./wrong.gpu large
	done
}

@test "gpc_sms: another number of SMs has no GPCs that are known, and a description whose SMs are not all there is refused" {
	cd "$BATS_TEST_TMPDIR"
	printf '#kernel\tid=1\tname=k\tgrid=8,1,1\tblock=128,1,1\torder=block\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n' >in
	seq 0 7 | sed 's/$/\t0\t0\t0x0\tload.global\t0x0\t0x1\t0x0\t32/' >>in
	gtrace-cat --from in | gschedule --gpu h100 --sm 4 | gcache --l1 | gcache --l2 >out.gt
	gtrace-cat --check out.gt
	sed 's/^gpc_sms .*= 8/gpc_sms = 9/' "$ROOT/gpus/h100" >./wrong.gpu
	expect_failure 2 "wrong.gpu: gpc_sms: 133 SMs in all, and sms are 132" gschedule --gpu ./wrong.gpu in
}

@test "invalid steps of blocks are refused with their line" {
	cd "$BATS_TEST_TMPDIR"
	rows block 0 1 2 | gtrace-cat --from >in
	first_done() { printf "$1" | gschedule --sm 1 --dispatch first-done --block-steps /dev/stdin in; }
	for line in '1 2' '1 2 x' 'a 1 2' '1 4294967296 1' '1 1 2147483648' '1 1 1 1' '1 1 -1'; do
		expect_failure 1 "/dev/stdin:2: '${line}': expected kernel, block and steps below 2147483648" first_done "7 0 0\n$line\n"
	done
	expect_failure 1 "block 3 of kernel 7 came twice" first_done '7 3 1\n7 4 1\n7 3 2\n'
	expect_failure 1 "nowhere" gschedule --sm 1 --dispatch first-done --block-steps nowhere in
	expect_failure 2 "expected --dispatch first-done" gschedule --sm 1 --block-steps none in
}

@test "shared memory is given what a driver gave it: each kernel of tests/reference/carveout.csv" {
	cd "$BATS_TEST_TMPDIR"
	awk -F, '$2 != "capability" { print $3 }' "$ROOT/tests/reference/carveout.csv" | sort -u >gpus
	[ "$(wc -l <gpus)" -gt 3 ]
	while read -r gpu; do
		awk -F, -v OFS='\t' -v gpu="$gpu" '$3 == gpu {
			print "#kernel", "id=" ++n, "name=k", "grid=1000,1,1", "block=" $4 ",1,1", "order=block", "registers=" $5, "shared_bytes=" $6
			print "#block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes"
			print 0, 0, 0, "0x0", "load.global", "0x0", "0x1", "0x0", 32
			print "shared_carveout=" $7 * 1024 >"expected"
		}' "$ROOT/tests/reference/carveout.csv" | gtrace-cat --from | gschedule --quiet --gpu "$gpu" --dispatch wave | gtrace-cat --no-rows >out
		grep -o 'shared_carveout=[0-9]*' out | diff expected - || { echo "$gpu"; cat out; return 1; }
	done <gpus
}

@test "shared memory of an H100 is given what its driver gave it: 405 kernels of tests/reference/h100_carveout.csv" {
	cd "$BATS_TEST_TMPDIR"
	tail -n +2 "$ROOT/tests/reference/h100_carveout.csv" | awk -F, -v OFS='\t' '{
		print "#kernel", "id=" NR, "name=k", "grid=1000,1,1", "block=" $1 ",1,1", "order=block", "registers=" $2, "shared_bytes=" $3 ($4 == "" ? "" : OFS "carveout=" $4)
		print "#block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes"
		print 0, 0, 0, "0x0", "load.global", "0x0", "0x1", "0x0", 32
	}' | gtrace-cat --from | gschedule --quiet --gpu h100 --dispatch wave | gtrace-cat --no-rows | grep -o 'shared_carveout=[0-9]*' >out
	tail -n +2 "$ROOT/tests/reference/h100_carveout.csv" | awk -F, '{ print "shared_carveout=" $5 * 1024 }' >expected
	[ "$(wc -l <out)" = 405 ]
	diff expected out
}

@test "occupancy: [000] algorithm 3, [002] figure 2, NVIDIA's calculator, [004] (3)-(7)" {
	while read -r gpu threads registers shared blocks resident limit l1; do
		out=$(kernel "$threads" "$registers" "$shared" "$blocks" | gtrace-cat --from | gschedule --gpu "$gpu" | gtrace-cat)
		found="$(counter resident_blocks <<<"$out") $(counter limited_by <<<"$out") $(counter l1_bytes <<<"$out")"
		expected="$resident $limit ${l1:+$((l1 - 7168))}" # 7 KB hold no lines (l1_reserved)
		[ "$found" = "$expected" ] || { echo "$gpu $threads $registers $shared $blocks: $found, not $expected"; return 1; }
	done <<-'END'
		gtx470-16k 512 0 0 1000 3 warps
		gtx470-16k 64 0 0 1000 8 blocks
		gtx470-16k 192 24 0 1000 7 registers
		gtx470-16k 128 20 7000 1000 6 shared
		gtx780 256 37 0 1000 6 registers
		gtx780 128 32 3072 1000 16 blocks
		titanv 256 32 0 160000 8 warps 131072
		a100 256 32 0 160000 8 warps 163840
		a100 256 32 3072 160000 8 warps 163840
		a100 256 32 3073 160000 8 warps 131072
		h100 256 32 0 160000 8 warps 229376
		titanv 256 32 0 160 2 grid 131072
		titanv 256 37 0 160000 6 registers 131072
		titanv 256 32 4096 160000 8 warps 98304
		titanv 256 32 20480 160000 4 shared 32768
		titanv 1024 64 0 160000 1 registers 131072
		a100 64 32 0 160000 32 blocks 163840
		a100 1024 32 166912 160000 1 shared 28672
		rtx4090 1024 40 0 160000 1 warps 122880
	END
}

@test "options override --gpu and the stream's description, and are written into it" {
	ordered gemm | gschedule --gpu titanv --sm 3 --max-blocks 2 | gtrace-cat >"$BATS_TEST_TMPDIR/one"
	grep '^#gpu' "$BATS_TEST_TMPDIR/one" | tr '\t' '\n' | grep -x 'sms=3'
	grep '^#gpu' "$BATS_TEST_TMPDIR/one" | tr '\t' '\n' | grep -x 'max_blocks=2'
	[ "$(counter sms <"$BATS_TEST_TMPDIR/one")" -eq 3 ]
	ordered gemm | gschedule --gpu a100 | gschedule --gpu titanv | gschedule --sm 3 --max-blocks 2 | gtrace-cat >"$BATS_TEST_TMPDIR/two"
	cmp <(grep -v '^#[hc]' "$BATS_TEST_TMPDIR/one") <(grep -v '^#[hc]' "$BATS_TEST_TMPDIR/two")
	[ "$(grep -c '^#gpu' "$BATS_TEST_TMPDIR/two")" -eq 1 ]
}

@test "a description whose L1 would have no lines is refused: l1_reserved beside unified and shared_options" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' 'sms = 1 # assumed: a test' 'unified = 64K # assumed: a test' 'shared = 32K # assumed: a test' 'shared_options = 0,32K # assumed: a test' >good
	for case in '64K' '32K' '32767 good'; do
		read -r reserved good <<<"$case"
		{ cat good; echo "l1_reserved = $reserved # assumed: a test"; } >gpu
		kernel 32 16 0 1 | gtrace-cat --from >in.gt
		if [ "$good" ]; then
			[ "$(gschedule --gpu ./gpu in.gt | gtrace-cat | counter l1_bytes)" -eq $((65536 - 32767)) ]
		else
			expect_failure 2 "shared and l1_reserved: expected less than unified together, so that L1 has lines" gschedule --gpu ./gpu in.gt
		fi
	done
	grep -v shared_options gpu >none
	expect_failure 2 "l1_reserved: expected unified and shared_options too" gschedule --gpu ./none in.gt
	# An option may leave L1 nothing, too: `shared` is the largest carve-out.
	expect_failure 2 "shared and l1_reserved: expected less than unified together" gschedule --gpu ./gpu --shared 33K in.gt
	expect_failure 2 "shared and l1_reserved: expected less than unified together" gschedule --gpu ./good --shared 64K in.gt
}

@test "the command line is checked before anything is read" {
	expect_failure 2 "expected rr, part:BLOCKS, random:SEED or trace" gschedule --sm 4 --map nearest
	expect_failure 2 "expected rr, part:BLOCKS, random:SEED or trace" gschedule --sm 4 --map part
	expect_failure 2 "expected a whole number from 1" gschedule --sm 4 --map part:0
	expect_failure 2 "expected wave, first-done or any-done" gschedule --sm 4 --dispatch greedy
	expect_failure 2 "expected rr, gto or latency" gschedule --sm 4 --issue lrr
	expect_failure 2 "--sm" gschedule --sm 0
	expect_failure 2 "65535" gschedule --sm 70000
	expect_failure 2 "--max-blocks" gschedule --sm 4 --max-blocks none
	expect_failure 2 "expected SMs below 4" gschedule --sm 4 --only-sm 2-4
	expect_failure 2 "expected numbers and rising ranges" gschedule --sm 4 --only-sm 3-1
	expect_failure 2 "expected a file or one of a100" gschedule --gpu gtx9000
	expect_failure 2 "--waves" gschedule --sm 4 --waves 0
	expect_failure 2 "-S" gschedule --sm 4 -S much
}

@test "a stream that cannot be scheduled is an error, and gives no stream" {
	rows block 0 1 2 | gtrace-cat --from >"$BATS_TEST_TMPDIR/good"
	expect_failure_of() { "$@" >/dev/null 2>"$BATS_TEST_TMPDIR/err" && return 1 || [ $? -eq 1 ]; }
	expect_failure_of gschedule "$BATS_TEST_TMPDIR/good"
	grep -q "expected --gpu NAME or --sm N" "$BATS_TEST_TMPDIR/err"
	expect_failure_of gschedule --sm 2 --map trace "$BATS_TEST_TMPDIR/good"
	grep -q "expected rows with an SM" "$BATS_TEST_TMPDIR/err"
	rows block 0 2 1 | gtrace-cat --from >"$BATS_TEST_TMPDIR/bad"
	expect_failure_of gschedule --sm 2 "$BATS_TEST_TMPDIR/bad"
	grep -q "kernel 7: a row of block 1 after block 2.*run gtrace-order" "$BATS_TEST_TMPDIR/err"
	rows none 0 2 1 | gtrace-cat --from | gschedule --sm 2 | gtrace-cat | grep -vc '^#' | grep -qx 3
	kernel 1024 128 0 1 | gtrace-cat --from >"$BATS_TEST_TMPDIR/bad"
	expect_failure_of gschedule --gpu titanv "$BATS_TEST_TMPDIR/bad"
	grep -q "no block fits an SM, limited by registers" "$BATS_TEST_TMPDIR/err"
	kernel 32 0 100000 1 | gtrace-cat --from >"$BATS_TEST_TMPDIR/bad"
	expect_failure_of gschedule --gpu titanv "$BATS_TEST_TMPDIR/bad"
	grep -q "no block fits an SM, limited by shared" "$BATS_TEST_TMPDIR/err"
	gschedule --gpu titanv --max-blocks all "$BATS_TEST_TMPDIR/bad" >/dev/null
	expect_failure_of env TMPDIR=/nowhere gschedule --sm 2 -S 0 "$BATS_TEST_TMPDIR/good"
	grep -q "/nowhere: cannot make a temporary file" "$BATS_TEST_TMPDIR/err"
}

@test "a truncated stream has no schedule" {
	ordered gemm >"$BATS_TEST_TMPDIR/whole"
	head -c 20000 "$BATS_TEST_TMPDIR/whole" >"$BATS_TEST_TMPDIR/part"
	run bash -c "gschedule --sm 4 '$BATS_TEST_TMPDIR/part' | gtrace-cat >/dev/null"
	[ "$status" -eq 1 ]
}

@test "an empty kernel, and one with accesses in few blocks" {
	kernel 32 0 0 1000000 | gtrace-cat --from | gschedule --gpu titanv | gtrace-cat >"$BATS_TEST_TMPDIR/out"
	[ "$(counter blocks <"$BATS_TEST_TMPDIR/out")" -eq 1000000 ]
	[ "$(counter steps <"$BATS_TEST_TMPDIR/out")" -eq 1 ]
	printf '#kernel\tid=1\tname=k\n' | gtrace-cat --from | gschedule --sm 4 | gtrace-cat >"$BATS_TEST_TMPDIR/out"
	[ "$(counter resident_blocks <"$BATS_TEST_TMPDIR/out")" -eq 0 ]
	rows block 1 9 15 | gtrace-cat --from | gschedule --sm 2 --max-blocks 1 | gtrace-cat | grep -v '^#' | cut -f 1,11,12 |
		cmp - <(printf '1\t0\t1\n9\t1\t1\n15\t2\t1\n')
}

@test "the commands of the manual run" {
	run_man_examples gschedule.1
}
