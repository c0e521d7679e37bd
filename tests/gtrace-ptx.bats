#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gtrace-ptx: results against Python's, traces against closed formulas, options, errors, the manual.

bats_require_minimum_version 1.5.0

load helpers

setup() {
	cd "$ROOT" || return 1
	ptx=examples/kernels/ptx
	t=$BATS_TEST_TMPDIR
}

# run_ptx FILE LAUNCH [OPTION...]: runs one launch and leaves the stream in $t/stream.
run_ptx() {
	local file=$1 launch=$2
	shift 2
	gtrace-ptx --launch "$launch" "$@" "$file" >"$t/stream"
}

# floats FILE: its 32-bit floats, which are whole numbers, one a line.
floats() { python3 -c 'import array, sys; [print(int(x)) for x in array.array("f", open(sys.argv[1], "rb").read())]' "$1"; }

counter() { gstats --csv "$t/stream" | awk -F, -v stage="$1" -v counter="$2" '$1 == "total" && $2 == stage && $3 == counter { print $4 }'; }

rows() { gtrace-cat "$1" | grep -v '^#'; }

@test "vector add: the sums, and an access a warp and array" {
	for shape in "1000 128" "1000 33" "1 32" "4096 1024"; do
		read -r n block <<<"$shape"
		run_ptx $ptx/vectoradd.ptx "vectoradd<<<($n+$block-1)/$block, $block>>>(f32[$n]:ramp, f32[$n]:ramp(5,2), C=f32[$n], $n)" --dump C="$t/C"
		diff <(floats "$t/C") <(seq 0 $((n - 1)) | awk '{ print 3 * $1 + 5 }')
		# A warp with a thread below n loads twice and stores once.
		warps=$(awk -v n="$n" -v b="$block" 'BEGIN { for (s = 0; s < n; s += b) { m = n - s < b ? n - s : b; w += int((m + 31) / 32) } print w }')
		[ "$(counter ptx accesses)" -eq $((3 * warps)) ]
		[ "$(rows "$t/stream" | wc -l)" -eq $((3 * warps)) ]
		gtrace-cat --check "$t/stream" >/dev/null
	done
}

@test "of the lanes that store to one place, the highest prevails" {
	cat >"$t/place.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry place(.param .u64 to)
		{
			.reg .b32 %r<3>;
			.reg .b64 %a;
			.reg .pred %p;
			ld.param.u64 %a, [to];
			mov.u32 %r1, %tid.x;
			st.global.u32 [%a], %r1;
			and.b32 %r2, %r1, 1;
			setp.eq.u32 %p, %r2, 0;
			@%p st.global.u32 [%a+4], %r1;
			ret;
		}
	END
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --launch 'place<<<1,32>>>(C=u32[2])' --dump C="$t/C" "$t/place.ptx" >/dev/null
		[ "$(od -An -tu4 "$t/C" | xargs)" = "31 30" ]
	done
}

@test "blocks that meet take the memory of those of an earlier launch, and nothing of what was in it" {
	# Each thread adds its number to a word of shared memory, which begins as 0; all blocks meet; then it adds that, times v and
	# the blocks, to its word of C. A launch of 4 blocks with v 1, one of 3 with v 5, one of wider blocks with v 7, and the first again.
	cat >"$t/meet.ptx" <<-'EOF'
		.version 7.8
		.target sm_80
		.address_size 64
		.visible .entry meet(.param .u64 c, .param .u64 at, .param .u32 goal, .param .u32 v)
		{
		.reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .pred %p<3>;
		.shared .align 4 .b8 own[512];
		ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [at]; ld.param.u32 %r1, [goal]; ld.param.u32 %r2, [v];
		mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r9, %ctaid.x; mov.u32 %r8, %ntid.x;
		shl.b32 %r5, %r3, 2; mov.u32 %r6, own; add.u32 %r6, %r6, %r5;
		ld.shared.u32 %r7, [%r6]; add.u32 %r7, %r7, %r3; st.shared.u32 [%r6], %r7;
		setp.ne.u32 %p1, %r3, 0; @%p1 bra OVER;
		red.global.add.u32 [%rd2], 1;
		WAIT: ld.volatile.global.u32 %r5, [%rd2]; setp.lt.u32 %p2, %r5, %r1; @%p2 bra WAIT;
		OVER: bar.sync 0;
		ld.shared.u32 %r7, [%r6]; mul.lo.u32 %r7, %r7, %r2; mul.lo.u32 %r7, %r7, %r4;
		mad.lo.u32 %r9, %r9, %r8, %r3; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd3, %rd1, %rd3;
		ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, %r7; st.global.u32 [%rd3], %r5;
		ret;
		}
	EOF
	gtrace-ptx --launch 'meet<<<4,64>>>(C=u32[256], at=u32[1], 4, 1)' --launch 'meet<<<3,64>>>(C, at, 7, 5)' --launch 'meet<<<2,96>>>(C, at, 9, 7)' \
		--launch 'meet<<<4,64>>>(C, at, 13, 1)' --dump C="$t/C" "$t/meet.ptx" >"$t/stream"
	od -An -v -tu4 -w4 "$t/C" | awk '{i = NR - 1; thread = i % 64; want = 2 * thread * 4 + (i < 192 ? thread * 5 * 3 + i % 96 * 7 * 2 : 0); if ($1 != want) bad++}
		END {exit NR != 256 || bad}'
	[ "$(gtrace-cat "$t/stream" | grep -c "store.global")" = $((8 + 6 + 6 + 8)) ]
}

@test "matrix product: the result and the accesses, whole and partial blocks" {
	for shape in "16 16 16" "20 8 4" "7 32 8"; do
		read -r n bx by <<<"$shape"
		run_ptx $ptx/gemm.ptx "gemm<<<(($n+$bx-1)/$bx,($n+$by-1)/$by),($bx,$by)>>>(f32[$n*$n]:ramp, f32[$n*$n]:ramp(1,1), C=f32[$n*$n], $n)" --dump C="$t/C"
		diff <(floats "$t/C") <(python3 -c "
n = $n
for r in range(n):
    for c in range(n):
        print(sum((r * n + k) * (k * n + c + 1) for k in range(n)))")
		# Warps that have an element of C, by counting threads.
		warps=$(python3 -c "
n, bx, by = $n, $bx, $by
live = set()
for y in range(-(-n // by) * by):
    for x in range(-(-n // bx) * bx):
        if x < n and y < n:
            live.add((x // bx, y // by, (y % by * bx + x % bx) // 32))
print(len(live))")
		[ "$(counter ptx accesses)" -eq $((warps * (2 * n + 1))) ]
	done
}

@test "reduction: shared memory, barriers and atomics give the exact sum" {
	run_ptx $ptx/reduce.ptx 'reduce<<<8,128>>>(f32[5000]:ramp, sum=f32[1], 5000)' --dump sum="$t/sum" --space global,shared
	[ "$(floats "$t/sum")" = 12497500 ]
	rows "$t/stream" | grep -q reduction.global
	rows "$t/stream" | grep -q store.shared
	[ "$(gtrace-cat "$t/stream" | grep -c '^#kernel.*shared_bytes=4096')" -eq 1 ]
}

@test "launches share memory; a transpose twice is the matrix; files go in and out" {
	head -c 8192 /dev/urandom >"$t/in"
	gtrace-ptx --launch "transpose<<<(2,8),(32,8)>>>(A=f32[]:@$t/in, B=f32[2048], 64, 32)" \
		--launch 'transpose<<<(2,8),(32,8)>>>(B, C=f32[2048], 32, 64)' --dump A="$t/A" --dump C="$t/C" --dump B="$t/B" \
		$ptx/transpose.ptx >"$t/stream"
	cmp "$t/in" "$t/A"
	cmp "$t/in" "$t/C"
	run ! cmp "$t/in" "$t/B"
	[ "$(gtrace-cat "$t/stream" | grep -c '^#kernel')" -eq 2 ]
}

@test "a compressed file and standard input give the same, and every run the same bytes" {
	launch='vectoradd<<<4,64>>>(f32[256]:rand(1), f32[256]:rand(2), C=f32[256], 256)'
	gtrace-ptx --launch "$launch" $ptx/vectoradd.ptx >"$t/plain"
	gtrace-ptx --launch "$launch" $ptx/vectoradd.ptx | cmp - "$t/plain"
	gzip -c $ptx/vectoradd.ptx | gtrace-ptx --launch "$launch" - >"$t/piped"
	diff <(gtrace-cat "$t/plain" | grep -v '^#\(history\|end\)') <(gtrace-cat "$t/piped" | grep -v '^#\(history\|end\)')
}

@test "rows come in logical order: as gtrace-order puts those of --unordered" {
	launch='gemm_tiled<<<(2,2),(16,16),2048>>>(f32[1024]:ramp, f32[1024]:ramp, f32[1024], 32)'
	run_ptx $ptx/gemm_tiled.ptx "$launch" --space global,shared
	gtrace-ptx --unordered --space global,shared --launch "$launch" $ptx/gemm_tiled.ptx >"$t/unordered"
	cmp <(rows "$t/stream") <(gtrace-order "$t/unordered" | rows -)
	run ! cmp <(rows "$t/stream") <(rows "$t/unordered")
	gtrace-cat "$t/stream" | grep -q '^#kernel.*order=block'
	[ "$(gtrace-cat "$t/unordered" | grep -c '^#kernel.*order=block')" -eq 0 ]
}

# bats test_tags=whole
@test "a launch that takes hours is named once, after 5 seconds; with few of its blocks it takes none" {
	huge='vectoradd<<<2147483647,640>>>(f32[640], f32[640], f32[640], 640)'
	# No thread's number, of 32 bits with a sign, is below this one: where it overflows, from block 3355443 on, threads below 640 would access memory.
	idle=${huge/%640)/-2147483648)}
	timeout 60 gtrace-ptx --launch "${idle/2147483647/10}" --launch "$idle" $ptx/vectoradd.ptx >/dev/null 2>"$t/err" &
	timeout 7 gtrace-ptx --quiet --launch "$idle" $ptx/vectoradd.ptx >/dev/null 2>"$t/quiet" &
	for ((i = 0; i < 300; i++)); do [ -s "$t/err" ] && break; sleep 0.1; done
	kill %1
	wait
	[ ! -s "$t/quiet" ]
	[ "$(wc -l <"$t/err")" -eq 1 ]
	grep -qx 'gtrace-ptx: warning: kernel vectoradd: 2147483647 blocks: at the rate of the first \([1-9][0-9]*\), about [1-9][0-9]* [mhd][a-z]*s; --blocks \1 --skip-untraced runs a part' "$t/err"
	for jobs in 1 2; do
		timeout 10 gtrace-ptx -j $jobs --blocks 12 --skip-untraced --launch "$huge" $ptx/vectoradd.ptx >"$t/stream" 2>"$t/err"
		[ ! -s "$t/err" ]
		[ "$(rows "$t/stream" | wc -l)" -eq 60 ] # of the first block, whose 20 warps load twice and store once
	done
}

@test "what is traced: --blocks, --launches, --kernel, --skip-untraced, --space" {
	launch='vectoradd<<<10,64>>>(A=f32[640]:ramp, A, C=f32[640], 640)'
	run_ptx $ptx/vectoradd.ptx "$launch" --blocks 3 --dump C="$t/C"
	[ "$(rows "$t/stream" | cut -f1 | sort -u | tr '\n' ' ')" = "0 1 2 " ]
	[ "$(floats "$t/C" | tail -n 1)" = 1278 ]
	run_ptx $ptx/vectoradd.ptx "$launch" --blocks 3 --skip-untraced --dump C="$t/C"
	[ "$(floats "$t/C" | tail -n 1)" = 0 ]
	[ "$(rows "$t/stream" | wc -l)" -eq 18 ]
	two=(--launch "$launch" --launch 'vectoradd<<<10,64>>>(C, C, D=f32[640], 640)' --dump D="$t/D")
	gtrace-ptx "${two[@]}" --launches 2 $ptx/vectoradd.ptx >"$t/stream"
	[ "$(gtrace-cat "$t/stream" | grep '^#kernel' | cut -f2)" = id=2 ]
	[ "$(floats "$t/D" | tail -n 1)" = 2556 ]
	expect_failure 1 "no launch was chosen of 2: see --launches" gtrace-ptx "${two[@]}" --launches 3 $ptx/vectoradd.ptx
	gtrace-ptx "${two[@]}" --launches 2 --skip-untraced $ptx/vectoradd.ptx >"$t/stream"
	[ "$(floats "$t/D" | tail -n 1)" = 0 ]
	gtrace-ptx "${two[@]}" --kernel '^vectoradd$' $ptx/vectoradd.ptx >"$t/stream"
	[ "$(gtrace-cat "$t/stream" | grep -c '^#kernel')" -eq 2 ]
	gtrace-ptx "${two[@]}" --kernel PKfS0 $ptx/vectoradd.ptx >"$t/stream"
	[ "$(gtrace-cat "$t/stream" | grep -c '^#kernel')" -eq 2 ]
	rm "$t/D"
	run -1 --separate-stderr gtrace-ptx "${two[@]}" --kernel gemm $ptx/vectoradd.ptx
	[ "$stderr" = "gtrace-ptx: no kernel has a name that 'gemm' matches: there is vectoradd" ]
	[ "$(floats "$t/D" | tail -n 1)" = 2556 ]
	rm "$t/D"
	gtrace-ptx "${two[@]}" --space none $ptx/vectoradd.ptx >"$t/stream"
	[ "$(rows "$t/stream" | wc -l)" -eq 0 ]
	[ "$(gtrace-cat "$t/stream" | grep -c '^#kernel')" -eq 2 ]
	[ "$(floats "$t/D" | tail -n 1)" = 2556 ]
	gtrace-ptx "${two[@]}" --space none --skip-untraced $ptx/vectoradd.ptx >"$t/stream"
	[ "$(gtrace-cat "$t/stream" | grep -c '^#kernel')" -eq 2 ]
	[ "$(floats "$t/D" | tail -n 1)" = 0 ]
	run_ptx $ptx/vectoradd.ptx "$launch" --space local
	[ "$(rows "$t/stream" | wc -l)" -eq 0 ]
}

@test "the estimate of registers keeps below what a GPU full of threads has" {
	gtrace-ptx --list $ptx/conv3d.ptx | grep -q 'registers=48 (estimated)'		      # .target sm_75: 64
	gtrace-ptx --list --gpu a100 $ptx/conv3d.ptx | grep -q 'registers=32 (estimated)' # 65536 / (64 * 32)
}

# bats test_tags=cuda,whole
@test "the estimate of registers is near what ptxas gives the examples" {
	needs_cuda
	for file in "$ROOT"/$ptx/*.ptx; do
		ptxas -v -arch=sm_80 -o "$t/cubin" "$file" 2>&1 |
			sed -n "s/.*Compiling entry function '\([^']*\)'.*/\1/p; s/.*Used \([0-9]*\) registers.*/\1/p" | paste - - >>"$t/ptxas"
		gtrace-ptx --list --gpu a100 "$file" | sed 's/.*registers=\([0-9]*\) (estimated).*name=\(.*\)/\2\t\1/' >>"$t/estimated"
	done
	sort "$t/ptxas" >"$t/ptxas.sorted"
	sort "$t/estimated" | join "$t/ptxas.sorted" - >"$t/both"
	# Loops that clang has unrolled, as in lavamd and fw, load many values early, which ptxas loads where they are used.
	awk '{ error = ($3 - $2) / $2; sum += error < 0 ? -error : error; low += error < -0.25; high += error > 0.5 }
	     END { print "# mean error", sum / NR, "of", NR, "kernels, low by a quarter", low, "high by half", high
		   exit !(NR >= 60 && sum / NR < 0.19 && low / NR < 0.05 && high / NR < 0.07) }' "$t/both"
}

@test "the kernel record: name, shape, registers, shared bytes; the GPU goes into the stream" {
	run_ptx $ptx/gemm_tiled.ptx 'gemm_tiled<<<(2,2),(16,16),4096>>>(f32[1024]:ramp, f32[1024]:ramp, f32[1024], 32)' --registers 40 --gpu titanv
	gtrace-cat "$t/stream" | grep '^#kernel' >"$t/kernel"
	for field in name=gemm_tiled grid=2,2,1 block=16,16,1 registers=40; do
		grep -q "$field" "$t/kernel" || { cat "$t/kernel"; return 1; }
	done
	[ "$(counter ptx registers)" -eq 40 ]
	[ "$(counter ptx registers_estimated)" -eq 0 ]
	static=$(gtrace-ptx --list $ptx/gemm_tiled.ptx | sed 's/.*shared_bytes=\([0-9]*\).*/\1/')
	[ "$(counter ptx shared_bytes)" -eq $((static + 4096)) ]
	gtrace-cat "$t/stream" | grep -q '^#gpu.*sms=80'
	run_ptx $ptx/gemm_tiled.ptx 'gemm_tiled<<<1,(16,16),2048>>>(f32[1024], f32[1024], f32[1024], 32)'
	[ "$(counter ptx registers_estimated)" -eq 1 ]
	[ "$(counter ptx registers)" -gt 0 ]
}

@test "a whole pipe takes the stream" {
	gtrace-ptx --gpu titanv --launch 'gemm<<<(2,8),(32,8)>>>(f32[4096]:ramp, f32[4096]:ramp, f32[4096], 64)' $ptx/gemm.ptx |
		gcoalesce | gschedule | gcache --l1 | gcache --l2 | gdram | gstats --csv >"$t/report"
	grep -q '^total,l1,reads,' "$t/report"
	# 128 warps of 64 x (one sector for A, four for B), and 128 stores of four sectors.
	grep -qx 'total,coalesce,load_sectors,40960' "$t/report"
	grep -qx 'total,coalesce,store_sectors,512' "$t/report"
}

@test "properties of a kernel are not summed over launches, counts are" {
	launch='vectoradd<<<2,64>>>(f32[128], f32[128], f32[128], 128)'
	gtrace-ptx --registers 12 --launch "$launch" $ptx/vectoradd.ptx >"$t/stream"
	once=$(counter ptx warp_instructions)
	gtrace-ptx --registers 12 --launch "$launch" --launch "$launch" $ptx/vectoradd.ptx >"$t/stream"
	[ "$(counter ptx warp_instructions)" -eq $((2 * once)) ]
	[ "$(counter ptx accesses)" -eq 24 ]
	[ "$(counter ptx registers)" -eq 12 ]
}

@test "--list shows the kernels" {
	gtrace-ptx --list $ptx/matvec.ptx >"$t/list"
	[ "$(wc -l <"$t/list")" -eq 2 ]
	grep -q '^matvec(u64, u64, u64, u32, u32)	line=[0-9]*	registers=[0-9]* (estimated)	shared_bytes=0	name=_Z6matvecPKfS0_Pfii$' "$t/list"
}

@test "a kernel's name is as short as tells it from the others of its module; --kernel matches it as it is shown" {
	{
		printf '.version 8.0\n.target sm_80\n.address_size 64\n'
		for name in _Z3onePf _Z4copyILi1EEvPf _Z4copyILi8EEvPf _ZN1a1kEPf _ZN1b1kEPf _Z1kPf _Z1kPd; do
			printf '.visible .entry %s(.param .u64 p) { .reg .b64 %%r; ld.param.u64 %%r, [p]; st.global.u32 [%%r], 1; ret; }\n' "$name"
		done
	} >"$t/names.ptx"
	launches=()
	for name in _Z3onePf _Z4copyILi1EEvPf _Z4copyILi8EEvPf _ZN1a1kEPf _ZN1b1kEPf _Z1kPf _Z1kPd; do
		launches+=(--launch "$name<<<1,32>>>(f32[32])")
	done
	gtrace-ptx "${launches[@]}" "$t/names.ptx" >"$t/stream"
	names() { gstats --kernels --csv "$@" | sed '1d; s/,[0-9]*,1,1,1,1,32,.*//' | tr '\n' ' '; }
	[ "$(names "$t/stream")" = "one copy<1> copy<8> a::k b::k _Z1kPf _Z1kPd " ]
	# The first stage and the report match the same; where the words are those of two, the mangled name tells them apart.
	for re in '^copy<8>$' '^a::k$' 'Pd$'; do
		gtrace-ptx --kernel "$re" "${launches[@]}" "$t/names.ptx" >"$t/some"
		names --kernel "$re" "$t/stream" >"$t/chosen"
		[ "$(names "$t/some")" = "$(cat "$t/chosen")" ]
		[ "$(wc -w <"$t/chosen")" -eq 1 ]
	done
	# A trace of another tool has mangled names; they are matched, and shown, as those of the source.
	gtrace-cat "$t/stream" | sed 's/name=a::k/name=_ZN1a1kEPf/' | gtrace-order --kernel '^a::k$' >"$t/other"
	[ "$(names "$t/other")" = "_ZN1a1kEPf " ]
	gstats --kernels "$t/other" | grep -q ' a::k$'
}

# buffers ARGUMENT...: the addresses of the buffers of one launch.
buffers() { gtrace-ptx "$@" $ptx/vectoradd.ptx | gtrace-cat --no-rows | sed -n 's/.*stage=allocations.*addresses=\[\([0-9,]*\)\].*names=\(.*\)/\1 \2/p'; }

@test "buffers lie where cudaMalloc puts them, or where --at says" {
	one='vectoradd<<<1,32>>>(A=f32[524288], B=f32[524289], C=f32[128], 32)'
	# 2 MiB exactly, then 2 MiB and a word: each at a multiple of 2 MiB; a small one behind the last.
	base=$((0x200000000000)) mib=$((1 << 20))
	[ "$(buffers --launch "$one")" = "$base,$((base + 2 * mib)),$((base + 4 * mib + 512)) A,B,C" ]
	[ "$(buffers --launch "$one" --at C=0x200000400200,1=0x200008000000)" = "$base,$((base + 4 * mib + 512)),$((base + 128 * mib)) B,C,A" ]
	expect_failure 2 "--at: 'A=0x200000000100': expected a multiple of 512 from 0x200000000000 to below 0x201000000000" \
		gtrace-ptx --launch "$one" --at A=0x200000000100 $ptx/vectoradd.ptx
	expect_failure 2 "--at: 'A': expected NAME=ADDRESS" gtrace-ptx --launch "$one" --at A $ptx/vectoradd.ptx
	expect_failure 2 "--at: 'A': has two addresses" gtrace-ptx --launch "$one" --at A=0x200000000000 --at A=0x200000200000 $ptx/vectoradd.ptx
	expect_failure 1 "--at: there was no allocation 'D'" gtrace-ptx --launch "$one" --at D=0x200000000000 $ptx/vectoradd.ptx
	expect_failure 1 "--at: there was no allocation number '4'" gtrace-ptx --launch "$one" --at 4=0x200000000000 $ptx/vectoradd.ptx
	expect_failure 1 "argument 2, 'B=f32[524289], C=f32[128], 32)': --at: 'B', 2097156 bytes at 0x200000000200, overlaps 'A'," \
		gtrace-ptx --launch "$one" --at B=0x200000000200 $ptx/vectoradd.ptx
	# A step beyond the end of A, which touches B, is found with --memcheck: it puts B a page on.
	[ "$(buffers --memcheck --launch "$one")" = "$base,$((base + 2 * mib + 512)),$((base + 4 * mib)) A,C,B" ]
}

@test "wrong usage" {
	one='vectoradd<<<1,1>>>(f32[1],f32[1],f32[1],1)'
	expect_failure 2 "expected one PTX file" gtrace-ptx --launch "$one"
	expect_failure 2 "expected --launch" gtrace-ptx $ptx/vectoradd.ptx
	expect_failure 2 "--launch: at '1025>>>" gtrace-ptx --launch 'k<<<1,1025>>>()' $ptx/vectoradd.ptx
	expect_failure 2 "--launch: at 'f33[4])': expected a type" gtrace-ptx --launch 'k<<<1,1>>>(f33[4])' /nonexistent
	expect_failure 2 "--dump 'C': expected NAME=FILE" gtrace-ptx --launch "$one" --dump C $ptx/vectoradd.ptx
	expect_failure 2 "--space: 'global,': expected none, or a list of" gtrace-ptx --launch "$one" --space global, $ptx/vectoradd.ptx
	expect_failure 2 "--blocks" gtrace-ptx --launch "$one" --blocks 0 $ptx/vectoradd.ptx
	expect_failure 2 "--launches: '0': launches are numbered from 1" gtrace-ptx --launch "$one" --launches 0 $ptx/vectoradd.ptx
	expect_failure 2 "--registers" gtrace-ptx --launch "$one" --registers 256 $ptx/vectoradd.ptx
	expect_failure 2 "--kernel" gtrace-ptx --launch "$one" --kernel '(' $ptx/vectoradd.ptx
	expect_failure 2 "--gpu" gtrace-ptx --launch "$one" --gpu nosuch $ptx/vectoradd.ptx
	expect_failure 2 "--memory" gtrace-ptx --launch "$one" -S 1 $ptx/vectoradd.ptx
}

@test "wrong data" {
	one='vectoradd<<<1,1>>>(f32[1],f32[1],f32[1],1)'
	expect_failure 1 "/nonexistent.ptx" gtrace-ptx --launch "$one" /nonexistent.ptx
	expect_failure 1 "no kernel, or several, named 'vectorsub'" gtrace-ptx --launch 'vectorsub<<<1,1>>>()' $ptx/vectoradd.ptx
	expect_failure 1 "3 arguments, the kernel has 4 parameters" gtrace-ptx --launch 'vectoradd<<<1,1>>>(f32[1],f32[1],f32[1])' $ptx/vectoradd.ptx
	expect_failure 1 "no launch makes a buffer 'D'" gtrace-ptx --launch "$one" --dump D="$t/D" $ptx/vectoradd.ptx
	printf '.version 6.3\n.target sm_75\n.nonsense\n' >"$t/broken.ptx"
	expect_failure 1 "$t/broken.ptx:3: expected a directive such as .entry, .func or .global, found '.nonsense'" \
		gtrace-ptx --launch "$one" "$t/broken.ptx"
	head -c 900 $ptx/vectoradd.ptx >"$t/cut.ptx"
	expect_failure 1 "$t/cut.ptx:" gtrace-ptx --launch "$one" "$t/cut.ptx"
	expect_failure 1 "No space left" bash -c "gtrace-ptx --launch '$one' $ptx/vectoradd.ptx >/dev/full"
}

@test "an invalid access is reported with line, block, thread and address" {
	status=0
	gtrace-ptx --check fault --launch 'vectoradd<<<2,32>>>(A=f32[64], B=f32[64], C=f32[40], 64)' $ptx/vectoradd.ptx >"$t/stream" 2>"$t/err" || status=$?
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$t/err")" -eq 1 ]
	line=$(grep -n 'st.global.f32' $ptx/vectoradd.ptx | cut -d: -f1)
	for word in vectoradd.ptx: "$line" block thread 0x2000000004a0 C; do
		grep -q "$word" "$t/err" || { cat "$t/err"; return 1; }
	done
	expect_failure 1 "" bash -c "gstats $t/stream"
}

# 64 threads on 40 floats of C: the second warp stores 24 floats behind it. 64 threads on 40 floats of A: 24 loads.
@test "--check: accesses outside of every buffer pass in pages that hardware maps, are listed, or stop the launch" {
	stores='vectoradd<<<2,32>>>(f32[64], f32[64], C=f32[40], 64)'
	loads='vectoradd<<<2,32>>>(f32[64], f32[40], C=f32[64], 64)'
	store=$(grep -n 'st.global.f32' $ptx/vectoradd.ptx | cut -d: -f1)
	run -1 bash -c "gtrace-ptx --check fault --launch '$stores' $ptx/vectoradd.ptx >$t/stream"
	for launch in "$stores" "$loads"; do
		gtrace-ptx --check list --launch "$launch" $ptx/vectoradd.ptx >"$t/stream" 2>"$t/err"
		[ "$(wc -l <"$t/err")" -eq 1 ]
		grep -q "PTX line [0-9]*, pc 0x[0-9a-f]*: 24 thread accesses outside of every allocation" "$t/err"
		gtrace-cat --check "$t/stream"
		# Two loads and a store of each warp, with the addresses that the kernel gives.
		[ "$(rows "$t/stream" | wc -l)" -eq 6 ]
	done
	gtrace-ptx --check list --launch "$stores" $ptx/vectoradd.ptx 2>&1 >/dev/null | grep -q "PTX line $store, .* the first a store at 0x2000000004a0"
	# Within 2 MiB of a buffer: loads read 0 or what was stored there; one line names each instruction. 2 MiB on is a fault.
	gtrace-ptx --dump C="$t/C" --launch 'vectoradd<<<2,32>>>(f32[64]:ramp(1,0), f32[40]:ramp(1,0), C=f32[64], 64)' $ptx/vectoradd.ptx >"$t/stream" 2>"$t/err"
	[ "$(wc -l <"$t/err")" -eq 1 ]
	grep -q "24 thread accesses outside of every allocation, the first a load at .*, where hardware has memory$" "$t/err"
	diff <(floats "$t/C") <(yes 2 | head -n 40; yes 1 | head -n 24)
	for jobs in 1 2; do
		gtrace-ptx -j $jobs --check page --dump D="$t/C" --launch 'vectoradd<<<2,32>>>(f32[64]:ramp(1,0), B=f32[64], C=f32[40], 64)' \
			--launch 'vectoradd<<<2,32>>>(C, B, D=f32[64], 64)' $ptx/vectoradd.ptx >"$t/stream" 2>"$t/err"
		[ "$(wc -l <"$t/err")" -eq 2 ]
		grep -q "PTX line $store, .*: 24 thread accesses .*, the first a store at 0x2000000004a0, where hardware has memory$" "$t/err"
		[ "$(grep -c ": 24 thread accesses .*, the first a load at 0x2000000004a0, where hardware has memory$" "$t/err")" -eq 1 ]
	done
	diff <(floats "$t/C") <(yes 1 | head -n 64)
	run -1 bash -c "gtrace-ptx --launch 'vectoradd<<<2,32>>>(0x200000200000, 0x200000200000, f32[64], 64)' $ptx/vectoradd.ptx >$t/stream"
	[[ $output == *"load of 4 bytes at 0x200000200000: outside every allocation"* ]]
	gtrace-ptx --dump C="$t/C" --launch 'vectoradd<<<1,32>>>(0x1fffffffff80, 0x1fffffe00000, C=f32[32]:ramp, 32)' $ptx/vectoradd.ptx \
		>"$t/stream" 2>"$t/err"
	diff <(floats "$t/C") <(yes 0 | head -n 32)
	expect_failure 2 "--check: 'maybe': expected page, list or fault" gtrace-ptx --check maybe --launch "$loads" $ptx/vectoradd.ptx
}

# As clang -g writes it: the .file behind all functions, .loc before labels and inside of calls.
@test "an invalid access is reported with its source line, if the PTX has it" {
	cat >"$t/lines.ptx" <<-'END'
		.version 6.3
		.target sm_75
		.address_size 64
		.visible .func put(.param .b64 put_0, .param .b32 put_1)
		{
		.reg .b32 %r<2>;
		.reg .b64 %rd<4>;
		.loc	1 3 0
		Lfunc_begin0:
		.loc	1 3 0

		ld.param.u64 %rd1, [put_0];
		ld.param.u32 %r1, [put_1];
		Ltmp0:
		.loc	1 4 2
		mul.wide.s32 %rd2, %r1, 4;
		add.s64 %rd3, %rd1, %rd2;
		.loc	1 4 7
		st.u32 [%rd3], %r1;
		.loc	1 5 1
		ret;
		Lfunc_end0:
		}
		.visible .entry k(.param .u64 k_0)
		{
		.reg .b32 %r<2>;
		.reg .b64 %rd<2>;
		.loc	1 6 0
		Lfunc_begin1:
		ld.param.u64 %rd1, [k_0];
		mov.u32 %r1, %tid.x;
		.loc	1 6 40
		{
		.param .b64 p0;
		st.param.b64 [p0], %rd1;
		.param .b32 p1;
		st.param.b32 [p1], %r1;
		call.uni put, (p0, p1);
		}
		.loc	1 6 78
		ret;
		}
		.file	1 "/some/where/lines.cu"
	END
	line=$(grep -n 'st.u32' "$t/lines.ptx" | cut -d: -f1)
	for check in fault list; do
		gtrace-ptx --check $check --launch 'k<<<1,32>>>(u32[10])' "$t/lines.ptx" 2>"$t/err" >"$t/stream" || [ $check = fault ]
		grep -q "line $line, pc $(printf 0x%x "$line") (lines.cu:4)" "$t/err"
	done
}

# Each of two blocks adds to its own element of `out`, n times. It stores out[2] at the end, and what that was at the beginning in
# out[3] or out[4]. With `wait` not null it then waits until the last block has stored there, and counts the times that it looked.
long_sums() {
	cat >"$t/sums.ptx" <<-'END'
		.version 6.3
		.target sm_75
		.address_size 64
		.entry sums(.param .u64 out, .param .u32 n, .param .u64 wait) {
		.reg .u32 %r<9>;
		.reg .u64 %rd<9>;
		.reg .pred %p<5>;
		mov.u32 %r1, %ctaid.x;
		mov.u32 %r2, %nctaid.x;
		sub.u32 %r2, %r2, 1;
		ld.param.u64 %rd1, [out];
		ld.param.u32 %r3, [n];
		ld.param.u64 %rd3, [wait];
		mad.wide.u32 %rd2, %r1, 4, %rd1;
		ld.volatile.global.u32 %r7, [%rd1+8];
		st.volatile.global.u32 [%rd2+12], %r7;
		ADD:
		ld.volatile.global.u32 %r4, [%rd2];
		add.u32 %r4, %r4, %r3;
		st.volatile.global.u32 [%rd2], %r4;
		sub.u32 %r3, %r3, 1;
		setp.ne.u32 %p1, %r3, 0;
		@%p1 bra ADD;
		st.volatile.global.u32 [%rd1+8], %r2;
		setp.eq.u64 %p2, %rd3, 0;
		@%p2 ret;
		setp.eq.u32 %p3, %r1, %r2;
		@%p3 st.volatile.global.u32 [%rd3], 1;
		WAIT:
		add.u32 %r5, %r5, 1;
		st.volatile.global.u32 [%rd2], %r5;
		ld.volatile.global.u32 %r6, [%rd3];
		setp.eq.u32 %p4, %r6, 0;
		@%p4 bra WAIT;
		ret;
		}
	END
}

@test "a block that computes in one place for long is not taken for one that waits" {
	long_sums
	gtrace-ptx --space none --dump "out=$t/out" --launch 'sums<<<2,32>>>(out=u32[5], 60000, null)' "$t/sums.ptx" >"$t/stream"
	[ "$(od -An -tu4 -j8 "$t/out" | xargs)" = "1 0 1" ] # the second block began when the first one had ended
}

@test "a block that computes in one place for longer is not, whether it may see what other blocks do or not, since what it finds is new" {
	long_sums
	sed 's/\.volatile//; s/sums/alone/' "$t/sums.ptx" >"$t/alone.ptx"
	for kernel in alone sums; do
		gtrace-ptx --space none --dump "out=$t/$kernel" --launch "$kernel<<<2,32>>>(out=u32[5], 5000000, null)" "$t/$kernel.ptx" >"$t/stream"
	done
	[ "$(od -An -tu4 -j8 "$t/alone" | xargs)" = "1 0 1" ]
	[ "$(od -An -tu4 -j8 "$t/sums" | xargs)" = "1 0 1" ]
}

@test "a block that waits, and stores meanwhile, does not keep others from running" {
	long_sums
	gtrace-ptx --space none --max-instructions 100000000 --launch 'sums<<<2,32>>>(u32[5], 1, u32[1])' "$t/sums.ptx" >"$t/stream"
}

@test "--max-instructions stops a loop that does not end" {
	printf '.version 6.3\n.target sm_75\n.address_size 64\n.entry spin() { L: bra L; ret; }\n' >"$t/spin.ptx"
	status=0
	gtrace-ptx --max-instructions 100000 --launch 'spin<<<1,32>>>()' "$t/spin.ptx" >"$t/stream" 2>"$t/err" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'spin: more than 100000 warp instructions, in block (0,0,0): it does not end, or --max-instructions is too low' "$t/err"
}

# A function with two arrays of 64 bytes stores at an offset from the first; one that it calls stores through the pointer.
local_arrays() {
	cat >"$t/local.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.func inner(.param .b64 where)
		{
		.reg .b64 %rd<2>;
		.reg .b32 %r<2>;
		.local .align 8 .b8 own[64];
		ld.param.u64 %rd1, [where];
		mov.u32 %r1, 5;
		st.u32 [%rd1], %r1;
		st.local.u32 [own+60], %r1;
		ret;
		}
		.entry outer(.param .u64 offset)
		{
		.reg .b64 %rd<5>;
		.reg .b32 %r<2>;
		.local .align 4 .b8 first[64], second[64];
		ld.param.u64 %rd1, [offset];
		mov.u64 %rd2, first;
		add.s64 %rd3, %rd2, %rd1;
		mov.u32 %r1, 7;
		st.local.u32 [%rd3], %r1;
		cvta.local.u64 %rd4, %rd3;
		{
		.param .b64 pointer;
		st.param.b64 [pointer], %rd4;
		call.uni inner, (pointer);
		}
		ret;
		}
		.entry named()
		{
		.reg .b32 %r<2>;
		.local .align 4 .b8 first[64];
		mov.u32 %r1, 7;
		st.local.u32 [first+64], %r1;
		ret;
		}
	END
}

# The second array begins at 68: arrays never touch.
@test "accesses outside of the arrays in local memory are errors" {
	local_arrays
	for offset in 0 60 68 128; do
		gtrace-ptx --launch "outer<<<1,32>>>($offset)" "$t/local.ptx" >"$t/stream"
		gtrace-cat --check "$t/stream"
	done
	for offset in 62 64 132 4096 -4; do
		expect_failure 1 "store of 4 bytes at" gtrace-ptx --check fault --launch "outer<<<1,32>>>($offset)" "$t/local.ptx" >"$t/stream"
	done
	expect_failure 1 "at 0x40 of local memory: outside every variable; nearest is 'first', 64 bytes at 0x0" \
		gtrace-ptx --check fault --launch 'named<<<1,32>>>()' "$t/local.ptx"
	gtrace-ptx --launch 'outer<<<1,32>>>(64)' "$t/local.ptx" 2>&1 >"$t/stream" | tee "$t/err"
	[ "$(wc -l <"$t/err")" -eq 2 ] # the store of each function
	[ "$(grep -c "32 thread accesses outside of every variable in local memory, the first a store at offset 0x40, where hardware has memory" "$t/err")" -eq 2 ]
	gtrace-cat --check "$t/stream"
}

@test "--memcheck reports accesses at fault in every space, once an instruction" {
	local_arrays
	# The caller stores between the arrays, then the callee through the pointer: 32 threads each, in two launches.
	run -1 --separate-stderr bash -c "gtrace-ptx --memcheck --launch 'outer<<<1,32>>>(64)' --launch 'outer<<<1,32>>>(64)' $t/local.ptx >$t/stream"
	[ "${#stderr_lines[@]}" -eq 3 ]
	[[ ${stderr_lines[0]} == *"kernel outer, PTX line "*": block (0,0,0) thread (0,0,0): store of 4 bytes at 0x40 of local memory: outside"* ]]
	[[ ${stderr_lines[1]} == *"kernel outer, PTX line "*": block (0,0,0) thread (0,0,0): store of 4 bytes at 0x40 of local memory: outside"* ]]
	[[ ${stderr_lines[2]} == *": memcheck: 2 instructions at fault, 128 accesses by threads: the stream has no end" ]]
	run -1 gtrace-cat "$t/stream"
	cat >"$t/spaces.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.entry spaces(.param .u64 to, .param .u64 out)
		{
		.reg .b64 %rd<5>;
		.reg .b32 %r<4>;
		.shared .align 4 .b8 words[64];
		ld.param.u64 %rd1, [to];
		ld.param.u64 %rd4, [out];
		mov.u32 %r1, 9;
		st.shared.u32 [words+64], %r1;
		st.global.u32 [%rd1+2], %r1;
		mov.u64 %rd2, 0;
		ld.u32 %r2, [%rd2];
		atom.global.add.u32 %r3, [%rd2], 1;
		add.u32 %r2, %r2, %r3;
		st.global.u32 [%rd4], %r2;
		ret;
		}
	END
	run -1 --separate-stderr bash -c "gtrace-ptx --memcheck --dump out=$t/out --launch 'spaces<<<1,1>>>(u32[4], out=u32[1]:ramp(5))' $t/spaces.ptx >$t/stream"
	[ "${#stderr_lines[@]}" -eq 5 ]
	[[ ${stderr_lines[0]} == *"store of 4 bytes at 0x40 of shared memory: a block has 64 bytes; nearest is 'words', 64 bytes at 0x0" ]]
	[[ ${stderr_lines[1]} == *"store of 4 bytes at 0x200000000002 of global memory: not a multiple of 4" ]]
	[[ ${stderr_lines[2]} == *"load of 4 bytes at 0x0: outside every allocation"* ]]
	[[ ${stderr_lines[3]} == *"atomic of 4 bytes at 0x0: outside every allocation"* ]]
	# Loads and atomics find 0.
	[ "$(od -An -tu4 "$t/out" | tr -d ' ')" = 0 ]
}

@test "--memcheck names reads of shared memory and uses of registers that nothing has written, the same at every level" {
	cat >"$t/unset.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.entry unset(.param .u64 out, .param .u32 choice)
		{
		.reg .b64 %rd<8>;
		.reg .b32 %r<16>;
		.reg .b16 %h<4>;
		.reg .pred %p<8>;
		.shared .align 16 .b8 words[256];
		ld.param.u64 %rd1, [out];
		ld.param.u32 %r1, [choice];
		mov.u32 %r2, %tid.x;
		mul.wide.u32 %rd2, %r2, 8;
		add.u64 %rd1, %rd1, %rd2;
		shl.b32 %r3, %r2, 2;
		mov.u32 %r4, words;
		add.u32 %r3, %r3, %r4;
		st.shared.u32 [%r3], %r2;
		// Nothing that matters: the register in %r9 cancels out, is not chosen, is a part, or is not used.
		xor.b32 %r5, %r9, %r9;
		sub.u32 %r6, %r9, %r9;
		setp.ge.u32 %p1, %r2, 0;
		selp.u32 %r7, %r5, %r9, %p1;
		@!%p1 add.u32 %r7, %r7, %r9;
		setp.eq.u32 %p2, %r9, 3;
		or.pred %p3, %p1, %p2;
		@!%p3 bra END;
		mov.b32 %r8, {%h1, %h2};
		cvt.u16.u32 %h3, %r2;
		mov.b32 %r8, {%h3, %h2};
		add.u32 %r7, %r7, %r6;
		st.global.v2.u32 [%rd1], {%r7, %r9};
		st.global.u32 [%rd1], %r8;
		atom.shared.exch.b32 %r10, [words+252], %r2;
		ld.shared.u32 %r10, [words+252];
		setp.eq.u32 %p4, %r1, 0;
		@%p4 bra END;
		// What does: 31 lanes have nothing in words+128, one a value in each place.
		setp.eq.u32 %p5, %r2, 31;
		@%p5 mov.u32 %r11, 4;
		add.u32 %r12, %r11, %r11;
		ld.shared.u32 %r13, [%r3+128];
		setp.eq.u32 %p6, %r12, 8;
		@%p6 st.global.u32 [%rd1], %r13;
		st.global.u32 [%rd1], %r14;
		END:
		ret;
		}
	END
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --memcheck --launch 'unset<<<2,32>>>(u64[32], 0)' "$t/unset.ptx" >"$t/stream" 2>"$t/said"
		[ ! -s "$t/said" ]
		GTRACE_PTX_LEVEL=$level run -1 bash -c "gtrace-ptx --memcheck --launch 'unset<<<2,32>>>(u64[32], 1)' '$t/unset.ptx' 2>&1 >'$t/stream'"
		printf '%s\n' "${lines[@]}" | sed 's/.*kernel unset, //; s/, pc [^:]*//' >"$t/said"
		diff "$t/said" - <<-END
			PTX line 43: block (0,0,0) thread (0,0,0): load of 4 bytes at 0x80 of shared memory, where nothing was written; nearest is 'words', 256 bytes at 0x0
			PTX line 45: block (0,0,0) thread (0,0,0): the value of %p6, from that of %r11, which nothing has written, decides whether an instruction is executed
			PTX line 46: block (0,0,0) thread (0,0,0): the value of %r14, which nothing has written, is stored
			gtrace-ptx: memcheck: 3 instructions at fault, 188 accesses by threads: the stream has no end
		END
	done
}

@test "--memcheck: a launch with a fault that is no access ends there, and the others run" {
	while IFS='|' read -r body message; do
		sed "s|BODY|$body|" >"$t/wrong.ptx" <<-'END'
			.version 7.0
			.target sm_70
			.address_size 64
			.extern .func free (.param .b64 p);
			.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
			.global .align 1 .b8 said[8] = {111, 104, 0, 0, 0, 0, 0, 0};
			.entry wrong()
			{
			.reg .b64 %rd<9>;
			.reg .b32 %r<9>;
			.reg .pred %p<3>;
			.param .b64 p;
			.param .b64 f;
			.param .b32 l;
			.param .b64 n;
			.param .b64 c;
			mov.u32 %r1, %tid.x;
			mov.u32 %r2, 17;
			mov.u64 %rd1, 24;
			cvta.global.u64 %rd2, said;
			setp.eq.u32 %p1, %r1, 0;
			BODY
			ret;
			}
			.entry right(.param .u64 out)
			{
			.reg .b64 %rd<2>;
			ld.param.u64 %rd1, [out];
			st.global.u32 [%rd1], 7;
			ret;
			}
		END
		echo "$body"
		run -1 --separate-stderr bash -c "gtrace-ptx --memcheck --dump out=$t/out --launch 'wrong<<<2,64>>>()' --launch 'wrong<<<2,64>>>()' \
			--launch 'right<<<1,1>>>(out=u32[1])' $t/wrong.ptx >$t/stream"
		grep -v Assertion <<<"$stderr" >"$t/said"
		cat "$t/said"
		[ "$(wc -l <"$t/said")" -eq 2 ]
		grep -q "^gtrace-ptx: kernel wrong.*$message: the launch ends here, and so does the stream$" <(head -n 1 "$t/said")
		grep -q "memcheck: 0 instructions at fault, 0 accesses by threads, 2 launches that ended early: the stream has no end$" <(tail -n 1 "$t/said")
		[ "$(od -An -tu4 "$t/out" | tr -d ' ')" = 7 ]
		run -1 --separate-stderr gtrace-cat "$t/stream"
		[ "$(grep -c '^#kernel' <<<"$output")" -eq 1 ]
	done <<-'END'
		trap;|block (0,0,0) thread (0,0,0): trap
		bar.sync %r2;|block (0,0,0) thread (0,0,0): barrier 17: from 0 to 15 expected
		bar.sync 1, %r2;|barrier 1 for 17 threads: a multiple of 32 expected
		@%p1 bra DONE;\nbar.warp.sync 0xffffffff;\nDONE: bar.sync 0;|waits for ever: warp 0 at barrier 0 (line 24), warp 0 at bar.warp.sync (line 23), warp 1 at barrier 0 (line 24)
		bar.sync 1, 128;|block (0,0,0) waits for ever: warp 0 at barrier 1 (line 22), warp 1 at barrier 1 (line 22)
		none: .callprototype _ ();\nmov.u64 %rd1, 64;\ncall %rd1, (), none;|call of 0x40, where no function is
		st.param.b64 [p], %rd2;\nst.param.b64 [f], %rd2;\nst.param.b32 [l], 3;\nst.param.b64 [n], %rd2;\nst.param.b64 [c], 1;\ncall __assertfail, (p, f, l, n, c);|assertion 'oh' does not hold
	END
}

@test "--memcheck: a wrong free in a kernel is reported once and left out" {
	cat >"$t/free.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.extern .func free (.param .b64 p);
		.entry wrong(.param .u64 out)
		{
		.reg .b64 %rd<3>;
		.param .b64 p;
		ld.param.u64 %rd1, [out];
		st.param.b64 [p], %rd1;
		call free, (p);
		st.global.u32 [%rd1], 7;
		ret;
		}
	END
	run -1 --separate-stderr bash -c "gtrace-ptx --memcheck --dump out=$t/out --launch 'wrong<<<2,64>>>(out=u32[1])' $t/free.ptx >$t/stream"
	[ "${#stderr_lines[@]}" -eq 2 ]
	[[ ${stderr_lines[0]} == *"block (0,0,0) thread (0,0,0): free of 0x200000000000, which is not in the device's heap" ]]
	[[ ${stderr_lines[1]} == *"memcheck: 1 instructions at fault, 0 accesses by threads: the stream has no end" ]]
	[ "$(od -An -tu4 "$t/out" | tr -d ' ')" = 7 ]
}

@test "a binary stream is not written to a terminal by gtrace-ptx" {
	needs_terminal
	run -1 script -qec "gtrace-ptx --launch 'vectoradd<<<1,1>>>(f32[1],f32[1],f32[1],1)' $ptx/vectoradd.ptx" /dev/null </dev/null
	[[ $output == *terminal* ]]
}

# A source with most constructs that compilers emit: calls, tables of functions, switches, local arrays, initial values,
# structures, inline assembly with labels.
write_source() {
	cat >"$t/forms.cu" <<'CU'
#ifdef __NVCC__
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#include <__clang_cuda_builtin_vars.h>
#endif
struct S { char c; double d; int v[3]; };
__constant__ float table[3][4] = {{1, 2, 3, 4}, {5, 6}, {7}};
__device__ int count[3][2] = {{1, 2}, {3}};
__device__ const char *text = "text";
typedef float (*function)(float);
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float third(float x) { return x / 3; }
__device__ function functions[2] = {twice, third};
__global__ void forms(float *a, double *d, long long n, S s)
{
	__shared__ float tile[64];
	float local[20];
	int i = threadIdx.x + blockIdx.x * blockDim.x, v;
	tile[threadIdx.x % 64] = a[i];
	for (int k = 0; k < 20; k++)
		local[k] = tile[(k * i) % 64];
	switch (i) {
	case 0: a[1] = 2; break;
	case 1: a[2] = 3; break;
	case 2: a[9] = 4; break;
	case 3: a[7] = i; break;
	case 4: a[13] = 1; break;
	case 5: a[5] = 1 / a[6]; break;
	}
	a[i] = local[n % 20] + functions[i & 1](s.d) + table[i % 3][n % 4] + count[i % 3][0] + s.v[i % 3];
	d[i] = d[i] * n + text[i & 3];
	asm volatile("{ .reg .pred p; .reg .u32 t<3>; A: setp.eq.u32 p, %1, 0; @p bra B; mov.u32 t1, %%laneid; @!p bra A; B: mov.u32 %0, t1; }" : "=r"(v) : "r"(i));
	asm volatile("{ .reg .pred p; A: setp.ne.u32 p, %1, 0; @p bra A; mov.u32 %0, 0b101; }" : "=r"(v) : "r"(v));
	a[i + 1] = v;
}
CU
}

@test "clang's output is parsed, optimised or not, for several targets" {
	command -v clang >/dev/null || skip "clang is not installed"
	write_source
	for flags in "-O0 --cuda-gpu-arch=sm_75" "-O2 --cuda-gpu-arch=sm_75" "-O3 --cuda-gpu-arch=sm_80 -g" "-O1 --cuda-gpu-arch=sm_60"; do
		# shellcheck disable=SC2086
		clang -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent -Wno-unknown-cuda-version $flags -S "$t/forms.cu" -o "$t/forms.ptx" 2>"$t/err" || { cat "$t/err"; return 1; }
		gtrace-ptx --list "$t/forms.ptx" | grep -q '^forms(u64, u64, u64, b8\[32\])'
	done
}

# bats test_tags=cuda
@test "nvcc's output is parsed, for several targets, with debug information" {
	needs_cuda
	write_source
	for flags in -arch=sm_75 "-arch=sm_90 -lineinfo -rdc=true" "-arch=sm_80 -G"; do
		# shellcheck disable=SC2086
		nvcc -w -ptx $flags "$t/forms.cu" -o "$t/forms.ptx"
		gtrace-ptx --list "$t/forms.ptx" | grep -q '^forms(u64, u64, u64, b8\[32\])'
	done
}

@test "the examples of gtrace-ptx(1) run" {
	run_man_examples gtrace-ptx.1
}

@test "the stream names the arrays, so grd can say which one misses" {
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)' "$ROOT/examples/kernels/ptx/gemm.ptx" >"$BATS_TEST_TMPDIR/stream"
	gtrace-cat --no-rows "$BATS_TEST_TMPDIR/stream" | grep -q "stage=allocations.*bytes=\[16384,16384,16384\].*names=A,B,C"
	gcoalesce <"$BATS_TEST_TMPDIR/stream" >"$BATS_TEST_TMPDIR/requests"
	grd --by array --lines 64 <"$BATS_TEST_TMPDIR/requests" >"$BATS_TEST_TMPDIR/arrays"
	# 64 x 64 floats are 128 lines, each with a compulsory miss.
	[ "$(awk '$2 ~ /^[ABC]$/ { n++; if ($6 != 128) bad = 1 } END { print n, bad + 0 }' "$BATS_TEST_TMPDIR/arrays")" = "3 0" ]
	[ "$(awk '$2 ~ /^[ABC]$/ { n += $4 } END { print n }' "$BATS_TEST_TMPDIR/arrays")" -eq "$(gstats --csv "$BATS_TEST_TMPDIR/requests" | sed -n 's/^total,coalesce,requests,//p')" ]
}

@test "hints reach every stage, and requests are the same in either order" {
	local launch='hints<<<2,64>>>(u32[256]:ramp, u32[128])'
	gtrace-ptx --launch "$launch" tests/ptx/hints.ptx >"$t/stream"
	# 2 blocks of 2 warps: a hint for each of 6 instructions, and one of a single lane of each block.
	rows "$t/stream" | awk '{ print $5, $(NF - 1) }' | sort | uniq -c | awk '{ print $1, $2, $3 }' >"$t/got"
	diff - "$t/got" <<-'END'
		4 load.global L1::no_allocate,L2::128B
		4 load.global L2::evict_last
		2 load.global discard.L2
		4 load.global none
		4 load.global prefetch.L2
		4 store.global L1::evict_first
	END
	gtrace-order <"$t/stream" >"$t/ordered"
	diff <(rows "$t/stream") <(rows "$t/ordered")
	gcoalesce <"$t/stream" >"$t/requests"
	gschedule --sm 2 <"$t/requests" >"$t/one"
	gschedule --sm 2 <"$t/stream" | gcoalesce >"$t/other"
	diff <(rows "$t/one") <(rows "$t/other")
	rows "$t/one" | cut -f5,12 | sort | uniq -c | awk '{ print $1, $2, $3 }' >"$t/got"
	diff - "$t/got" <<-'END'
		8 load.global L1::no_allocate,L2::128B
		8 load.global L2::evict_last
		2 load.global discard.L2
		4 load.global none
		4 load.global prefetch.L2
		4 store.global L1::evict_first
	END
	gtrace-cat --check "$t/one" >"$t/checked"
	[ "$(counter ptx accesses)" -eq 22 ]
	cp "$t/one" "$t/stream"
	[ "$(counter coalesce prefetch_requests)" -eq 4 ]
	[ "$(counter coalesce discard_sectors)" -eq 8 ]
	# As text, and as plain records, and back.
	diff <(rows "$t/one") <(gtrace-cat "$t/one" | gtrace-cat --from | gtrace-cat | grep -v '^#')
	diff <(rows "$t/one") <(gtrace-cat --rows "$t/one" | gtrace-cat --from | gtrace-cat | grep -v '^#')
}

@test "a block whose accesses exceed the memory is ordered through a file" {
	# One warp begins when the others are done: none of theirs can pass on early.
	run_ptx tests/ptx/ahead.ptx 'ahead<<<2,128>>>(u32[32768], 3000)' --unordered
	gtrace-order <"$t/stream" >"$t/sorted"
	rows "$t/sorted" >"$t/expected"
	[ "$(wc -l <"$t/expected")" -eq $((2 * (3 * 20000 + 3000))) ]
	for memory in 1M 2G; do
		run_ptx tests/ptx/ahead.ptx 'ahead<<<2,128>>>(u32[32768], 3000)' -S $memory
		rows "$t/stream" | cmp - "$t/expected"
	done
	TMPDIR=$t/absent expect_failure 1 "$t/absent: cannot make a temporary file: No such file or directory" \
		gtrace-ptx -S 1M --launch 'ahead<<<2,128>>>(u32[32768], 3000)' tests/ptx/ahead.ptx
}

# bats test_tags=whole
@test "accesses of blocks that are held for an earlier one take the memory of -S, the rest a file" {
	not_instrumented gtrace-ptx
	cd "$t"
	cat >late.ptx <<-'END'
		.version 7.4
		.target sm_80
		.address_size 64
		.entry late(.param .u64 a, .param .u64 flag) {
			.reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p<4>;
			ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [flag];
			mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
			mul.lo.u32 %r4, %r2, %r2; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd1, %rd3;
			setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;
			MORE: st.global.u32 [%rd3], %r3; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 12000; @%p2 bra MORE;
			red.global.add.u32 [%rd2], 1; ret;
			WAIT: ld.volatile.global.u32 %r5, [%rd2]; setp.lt.u32 %p3, %r5, 1280; @%p3 bra WAIT; ret;
		}
	END
	peak() { # of KB, with so much memory: 146 MB are held
		python3 - "$1" <<-'END'
			import resource, subprocess, sys
			with open("stream." + sys.argv[1], "wb") as to:
			    subprocess.run(["gtrace-ptx", "-S", sys.argv[1], "--launch", "late<<<41,32>>>(u32[1024], u32[1])", "late.ptx"], stdout=to, check=True)
			print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
		END
	}
	[ "$(peak 2G)" -gt 114688 ]
	[ "$(peak 4M)" -lt 65536 ]
	cmp <(rows stream.4M) <(rows stream.2G)
}

# turns N: the warps and lines of the accesses of turns.ptx with four warps, in turns of 32 instructions each.
turns() {
	awk -v n="$1" '
		/^[A-Z]+:/ { label[$1] = NR }
		/^\t[^.].*;/ { text[NR] = $0 }
		function step(w,    line, to) {
			while (!(at[w] in text))
				at[w]++
			line = text[at[w]]
			if (line ~ /(ld|st)\.(global|shared)/)
				print w, at[w]
			to = line
			sub(/.*bra /, "", to)
			sub(/;.*/, ":", to)
			if (line ~ /ret/)
				left--
			done[w] = line ~ /ret/
			loops[w] += line ~ /@%p3/
			taken = line ~ /@%p1/ ? w > 1 : line ~ /@!%p2/ ? w != 3 : line ~ /@%p3/ ? loops[w] < n : line ~ /bra/
			at[w] = taken ? label[to] : at[w] + 1
		}
		END {
			for (left = 4; left > 0;)
				for (w = 0; w < 4; w++)
					for (i = 0; i < 32 && !done[w]; i++)
						step(w)
		}' tests/ptx/turns.ptx
}

@test "warps take turns of 32 instructions, whatever they are executed with: machine code runs ahead, and waits" {
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --unordered --space global,shared --dump "out=$t/$level.out" \
			--launch 'turns<<<3,128>>>(out=u32[160], 50)' tests/ptx/turns.ptx >"$t/$level"
	done
	[ "$(rows "$t/plain" | wc -l)" -eq $((3 * 4 * (50 * 4 + 1))) ]
	gtrace-ptx --unordered --space global,shared --launch 'turns<<<1,128>>>(out=u32[160], 50)' tests/ptx/turns.ptx >"$t/one"
	diff <(rows "$t/one" | awk '{ print $2, $4 }') <(turns 50 | while read -r warp line; do printf '%d 0x%x\n' "$warp" "$line"; done)
	for level in avx2 avx2-native native; do
		cmp "$t/plain" "$t/$level"
		cmp "$t/plain.out" "$t/$level.out"
	done
	GTRACE_PTX_LEVEL=avx1024 expect_failure 1 "GTRACE_PTX_LEVEL: 'avx1024': plain, avx2, avx2-native or native expected" \
		gtrace-ptx --launch 'turns<<<3,128>>>(out=u32[160], 50)' tests/ptx/turns.ptx
}

@test "lanes that are active alone access memory, whatever they are executed with" {
	local masks='0xffffffff 1 0x80000000 0x10001 0x20001 0x8001 0x80000001 0xffff 0xffff0000 0x03ff03ff 0x7ffffffe 0x7fff8000 0x55555555 0x11111111
		0x01010101 0x100 0x0100ff00 0xfe00fe00 0x40000002 0x3fffc 0x88888888 0x12345678 0x9abcdef1 0x0f0f0f0f 0xfffffffe 0x00018000 0x7 0xe0000000'
	for mask in $masks; do
		printf '%08x' "$mask" | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/'
	done >"$t/text"
	printf '%b' "$(cat "$t/text")" >"$t/masks"
	for level in plain avx2 avx2-native native; do
		for spaces in none global,shared; do
			GTRACE_PTX_LEVEL=$level gtrace-ptx --space $spaces --dump "out=$t/$level.$spaces" \
				--launch "some<<<28,32>>>(u32[28]:@$t/masks, u32[512]:ramp(77,13), out=u32[28*1024])" tests/ptx/some-lanes.ptx >"$t/stream.$level.$spaces"
			cmp "$t/stream.plain.$spaces" "$t/stream.$level.$spaces"
			cmp "$t/plain.none" "$t/$level.$spaces"
		done
	done
	# Lanes 0 and 16, in two tiles that are 512 bytes apart; and those of 0x03ff03ff, which have no stride.
	[ "$(rows "$t/stream.native.global,shared" | awk '$1 == 3 && $4 == "0x41" { print $7, $9 }')" = "0x00010001 32" ]
	[ "$(rows "$t/stream.native.global,shared" | awk '$1 == 9 && $4 == "0x41" { print $7, $9, gsub(/,/, "") }')" = "0x03ff03ff - 19" ]
}

@test "shared memory and arrays by halves of a warp: strides and pitches, and passes with --work, are the same at every level" {
	cat >"$t/halves.ptx" <<-'END'
		.version 7.0
		.target sm_75
		.address_size 64
		.visible .entry halves(.param .u64 a, .param .u32 stride, .param .u32 pitch, .param .u32 begin, .param .u32 log)
		{
		.reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<6>;
		.shared .align 16 .b8 words[16384];
		ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [pitch]; ld.param.u32 %r3, [begin];
		ld.param.u32 %r13, [log]; mov.u32 %r4, %tid.x; shr.u32 %r6, %r4, %r13; shl.b32 %r5, %r6, %r13; sub.u32 %r5, %r4, %r5;
		mul.lo.u32 %r7, %r5, %r1; mad.lo.u32 %r7, %r6, %r2, %r7; add.u32 %r7, %r7, %r3;
		mov.u32 %r8, words; add.u32 %r8, %r8, %r7; cvta.to.global.u64 %rd2, %rd1; cvt.u64.u32 %rd3, %r7; add.u64 %rd3, %rd2, %rd3;
		mov.u32 %r9, 0;
		LOOP:
		ld.shared.u32 %r10, [%r8]; st.shared.u32 [%r8], %r4; ld.shared.u32 %r11, [%r8+4];
		ld.global.u32 %r12, [%rd3]; add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; st.global.u32 [%rd3], %r10;
		add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 6;
		@%p1 bra LOOP;
		ret;
		}
	END
	local launches=()
	for stride in 0 4 8 12 64 128; do
		for pitch in 0 4 16 60 64 68 96 128 192 1024 2048; do
			launches+=(--launch "halves<<<1,64>>>(A$([ ${#launches[@]} -gt 0 ] || echo '=u32[4096]'), $stride, $pitch, 2048, 4)")
		done
	done
	for stride in 0 4 8; do
		for pitch in 0 32 36 128 512; do launches+=(--launch "halves<<<1,64>>>(A, $stride, $pitch, 2048, 3)" --launch "halves<<<1,64>>>(A, $stride, $pitch, 2048, 2)"); done
	done
	for level in plain avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx "${launches[@]}" --dump A="$t/$level.A" "$t/halves.ptx" >"$t/$level"
		GTRACE_PTX_LEVEL=$level gtrace-ptx --work "${launches[@]}" "$t/halves.ptx" >"$t/$level.work"
		GTRACE_PTX_LEVEL=$level gtrace-ptx --work --space global,shared "${launches[@]}" "$t/halves.ptx" >"$t/$level.shared"
		for what in "" .A .work .shared; do cmp "$t/plain$what" "$t/$level$what"; done
	done
	# Passes of the three accesses to shared memory before a load: two words in one bank, or in two; runs of 16 words that overlap in a bank,
	# that touch, and that are half of the banks apart; a column of 32 rows.
	gtrace-cat "$t/native.work" | awk -F '\t' '/^#kernel/ { n++ } !/^#/ && $5 == "load.global" { print n, $12 }' | uniq -c >"$t/passes"
	for expected in "8 3,6" "3 3,3" "17 3,6" "18 3,6" "16 3,3" "14 3,3" "66 3,96"; do
		grep -q "^ *12 $expected\$" "$t/passes"
	done
}

# Of each three lanes one is in global, one in shared, one in local memory. The atomic adds 1e-40 to 1e-40, which is 0 in global memory alone.
@test "lanes of one access in several spaces are an access in each, whatever it is executed with" {
	cat >"$t/spaces.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry spaces(.param .u64 out)
		{
			.reg .b32 %r<4>;
			.reg .b64 %rd<6>;
			.reg .pred %p<3>;
			.reg .f32 %f<2>;
			.shared .align 16 .b8 sh[256];
			.local .align 16 .b8 loc[16];
			ld.param.u64 %rd1, [out];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd2, %r1, 8;
			add.s64 %rd1, %rd1, %rd2;
			mov.u64 %rd3, sh;
			cvta.shared.u64 %rd3, %rd3;
			add.s64 %rd3, %rd3, %rd2;
			mov.u64 %rd4, loc;
			cvta.local.u64 %rd4, %rd4;
			rem.u32 %r2, %r1, 3;
			setp.eq.u32 %p1, %r2, 1;
			setp.eq.u32 %p2, %r2, 2;
			selp.b64 %rd5, %rd3, %rd1, %p1;
			selp.b64 %rd5, %rd4, %rd5, %p2;
			mov.f32 %f1, 0f000116C2;
			st.f32 [%rd5], %f1;
			@!%p2 red.add.f32 [%rd5], %f1;
			ld.b32 %r3, [%rd5];
			st.global.b32 [%rd1+4], %r3;
			ret;
		}
	END
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --space global,shared,local --dump "out=$t/$level" --launch 'spaces<<<1,32>>>(out=u64[32])' "$t/spaces.ptx" \
			>"$t/stream.$level"
		[ "$(od -An -v -w8 -tx4 "$t/$level" | awk '{ print $2 }' | head -3 | tr '\n' ' ')" = "00000000 00022d84 000116c2 " ]
		cmp "$t/stream.plain" "$t/stream.$level"
	done
	gtrace-cat --check "$t/stream.plain"
	diff <(rows "$t/stream.plain" | awk '{ print $5, $6, $7, $9 }') - <<-END
		store.global 4 0x49249249 8
		store.shared 4 0x92492492 8
		store.local 4 0x24924924 4
		reduction.global 4 0x49249249 8
		reduction.shared 4 0x92492492 8
		load.global 4 0x49249249 8
		load.shared 4 0x92492492 8
		load.local 4 0x24924924 4
		store.global 4 0xffffffff 8
	END
}

@test "a load into the registers of its own address, whatever it is executed with" {
	cat >"$t/own.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry own(.param .u64 in, .param .u64 out)
		{
			.reg .b32 %r<2>;
			.reg .b64 %rd<6>;
			ld.param.u64 %rd1, [in];
			ld.param.u64 %rd3, [out];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd4, %r1, 8;
			add.s64 %rd3, %rd3, %rd4;
			add.s64 %rd1, %rd1, 16;
			ld.global.v2.u64 {%rd2, %rd1}, [%rd1];
			add.s64 %rd5, %rd1, %rd2;
			st.global.u64 [%rd3], %rd5;
			ret;
		}
	END
	for level in plain avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --dump "out=$t/$level" --launch 'own<<<1,64>>>(u64[4]:ramp(5,7), out=u64[64])' "$t/own.ptx" >"$t/stream.$level"
		[ "$(od -An -v -w8 -td8 "$t/$level" | tr -d ' ' | sort | uniq -c | tr -s ' ')" = " 64 45" ]
		cmp "$t/stream.plain" "$t/stream.$level"
	done
}

# Pointers at %rd2 are read in one block, whose registers the load in the next block takes: each lane finds the 7 at its own address, not the 5
# that these pointers lead to.
@test "a load into the register of its own address, which is in memory, whatever it is executed with" {
	cat >"$t/chase.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry chase(.param .u64 lists, .param .u64 out)
		{
			.reg .pred %p<2>;
			.reg .b32 %r<3>;
			.reg .b64 %rd<9>;
			ld.param.u64 %rd1, [lists];
			ld.param.u64 %rd3, [out];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd4, %r1, 8;
			add.s64 %rd3, %rd3, %rd4;
			add.s64 %rd2, %rd1, %rd4;
			add.s64 %rd5, %rd2, 2048;
			add.s64 %rd6, %rd2, 1024;
			st.global.u64 [%rd2], %rd5;
			st.global.u64 [%rd5], 5;
			st.global.u64 [%rd6], 7;
			mov.u32 %r2, 0;
		again:
			add.s64 %rd7, %rd6, 0;
			add.u32 %r2, %r2, 1;
			setp.lt.u32 %p1, %r2, 5;
			@%p1 bra pointers;
		pointers:
			ld.global.u64 %rd8, [%rd2];
			bra own;
		own:
			ld.global.u64 %rd7, [%rd7];
			st.global.u64 [%rd3], %rd7;
			add.s64 %rd4, %rd4, %rd8;
			@%p1 bra again;
			st.global.u64 [%rd1], %rd4;
			ret;
		}
	END
	for level in plain avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --dump "out=$t/$level" --launch 'chase<<<1,32>>>(u64[1024], out=u64[32])' "$t/chase.ptx" >"$t/stream.$level"
		[ "$(od -An -v -w8 -td8 "$t/$level" | tr -d ' ' | sort | uniq -c | tr -s ' ')" = " 32 7" ]
		cmp "$t/stream.plain" "$t/stream.$level"
	done
}

# %rd3 is in registers when %rd4 is read from memory, where the set, which has no machine code, has left it.
@test "a load into the register of its own address leaves other registers alone, whatever it is executed with" {
	cat >"$t/own-address.ptx" <<-'END'
		.version 8.0
		.target sm_90
		.address_size 64
		.visible .entry own(.param .u64 in, .param .u64 out)
		{
			.reg .b32 %r<4>;
			.reg .b64 %rd<5>;
			ld.param.u64 %rd1, [in];
			ld.param.u64 %rd2, [out];
			mov.u32 %r1, %tid.x;
			mad.wide.u32 %rd1, %r1, 64, %rd1;
			mad.wide.u32 %rd3, %r1, 16, %rd2;
			ld.global.b32 %r2, [%rd1];
			st.global.u64 [%rd3+512], %rd1;
			add.u64 %rd4, %rd3, 512;
			set.geu.s32.bf16x2 %r3, %r2, %r2;
			ld.global.u64 %rd4, [%rd4];
			st.global.u64 [%rd3], %rd4;
			ret;
		}
	END
	for level in plain avx2-native native; do
		for threads in 32 20; do
			GTRACE_PTX_LEVEL=$level gtrace-ptx --dump "out=$t/$level.$threads" --launch "own<<<1,$threads>>>(in=u8[2048], out=u64[128])" "$t/own-address.ptx" >"$t/stream.$level.$threads"
			cmp "$t/plain.$threads" "$t/$level.$threads"
			cmp "$t/stream.plain.$threads" "$t/stream.$level.$threads"
		done
	done
	[ "$(od -An -v -w16 -td8 "$t/plain.32" | awk 'NR > 1 && NR <= 32 && $1 - before == 64 { n++ } { before = $1 } END { print n }')" -eq 31 ]
}

# The fourth round of a loop is where machine code is left: the lanes are past the end, before the begin, or not aligned.
@test "bytes and vectors at wrong addresses, whatever they are executed with" {
	edge() { # the access, the bytes of a lane, how far the fourth round is off
		cat <<-END
			.version 7.0
			.target sm_70
			.address_size 64
			.visible .entry edge(.param .u64 out)
			{
				.reg .pred %p<3>;
				.reg .b16 %h<4>;
				.reg .b32 %r<8>;
				.reg .b64 %rd<8>;
				ld.param.u64 %rd4, [out];
				mov.u32 %r4, %tid.x;
				mul.wide.u32 %rd5, %r4, $2;
				add.s64 %rd4, %rd4, %rd5;
				add.s64 %rd4, %rd4, 16;
				mov.b16 %h0, 1; mov.b16 %h1, 2; mov.b16 %h2, 3; mov.b16 %h3, 4;
				mov.b32 %r0, 1; mov.b32 %r1, 2; mov.b32 %r2, 3; mov.b32 %r3, 4;
				mov.b64 %rd0, 1; mov.b64 %rd1, 2;
				mov.u32 %r5, 0;
			again:
				setp.eq.u32 %p1, %r5, 3;
				@%p1 add.s64 %rd4, %rd4, $3;
				$1;
				add.u32 %r5, %r5, 1;
				setp.lt.u32 %p2, %r5, 5;
				@%p2 bra again;
				ret;
			}
		END
	}
	few 3 b8:1:%h0 v2.b8:2:%h0,%h1 v4.b8:4:%h0,%h1,%h2,%h3 v2.b16:4:%h0,%h1 v4.b16:8:%h0,%h1,%h2,%h3 v2.b32:8:%r0,%r1 v4.b32:16:%r0,%r1,%r2,%r3 v2.b64:16:%rd0,%rd1
	for access in "${FEW[@]}"; do
		IFS=: read -r type bytes registers <<<"$access"
		[ "$type" = b8 ] || registers="{$registers}"
		for off in "$((2048 - 32 * bytes))" -32 "$((bytes / 2))"; do
			for text in "ld.global.$type $registers, [%rd4]" "st.global.$type [%rd4], $registers"; do
				edge "$text" "$bytes" "$off" >"$t/edge.ptx"
				for level in plain avx2-native native; do
					GTRACE_PTX_LEVEL=$level gtrace-ptx --check list --dump "out=$t/$level.out" --launch 'edge<<<1,32>>>(out=u8[2048]:ramp)' \
						"$t/edge.ptx" >"$t/$level.stream" 2>"$t/$level.said" || echo "$?" >>"$t/$level.said"
				done
				for level in avx2-native native; do
					cmp "$t/plain.out" "$t/$level.out"
					cmp "$t/plain.stream" "$t/$level.stream"
					cmp "$t/plain.said" "$t/$level.said"
				done
				[ "$bytes" -eq 1 ] || [ "$off" -ne "$((bytes / 2))" ] || grep -q 'not a multiple' "$t/native.said"
				[ "$off" -ne -32 ] || grep -q 'outside' "$t/native.said"
			done
		done
	done
}

@test "a stream of atomics passes the check" {
	run_ptx $ptx/reduce.ptx 'reduce<<<8,128>>>(f32[5000]:ramp, sum=f32[1], 5000)'
	gcoalesce <"$t/stream" >"$t/requests"
	gtrace-cat --check "$t/requests" >"$t/checked"
	gdram --channels 2 --banks 4 --row 2K --interleave 256 <"$t/requests" | gtrace-cat --check >"$t/checked"
}

@test "ignored instructions are named once, and unmodelled ones stop the kernel with their line" {
	sed 's/st.global.L1::evict_first.u32/st.global.wt.u32/' tests/ptx/hints.ptx >"$t/ignored.ptx"
	gtrace-ptx --launch 'hints<<<2,64>>>(u32[256]:ramp, u32[128])' "$t/ignored.ptx" 2>"$t/err" >"$t/stream"
	[ "$(cat "$t/err")" = "gtrace-ptx: PTX line 28: 'st.wt' is ignored: writing through L2 concerns system memory alone" ]
	sed 's/prefetch.global.L2 \[%rd4\]/st.bulk.weak.shared::cta [%rd4], 16, 0/' tests/ptx/hints.ptx >"$t/refused.ptx"
	run gtrace-ptx --launch 'hints<<<2,64>>>(u32[256]:ramp, u32[128])' "$t/refused.ptx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"PTX line 23, pc 0x17: block (0,0,0) thread (0,0,0): 'st.bulk.weak.shared::cta' is not modelled: '.bulk'"* ]]
}

# A tile of A or B has 16 lines of 32 bytes, one of D 16 lines of 64 bytes: each is loaded or stored whole.
@test "the sectors of a wmma product are those of its tiles" {
	while read -r rows columns depth; do
		run_ptx tests/ptx/wmma.ptx "wmma<<<($((columns / 16)),$((rows / 16))),32>>>(u16[$((rows * depth))], u16[$((columns * depth))], f32[$((rows * columns))], $columns, $depth)"
		tiles=$((rows / 16 * columns / 16))
		gcoalesce <"$t/stream" >"$t/requests"
		[ "$(gstats --csv "$t/requests" | awk -F, '$1 == "total" && $3 == "load_sectors" { print $4 }')" -eq $((2 * tiles * depth / 16 * 16)) ]
		[ "$(gstats --csv "$t/requests" | awk -F, '$1 == "total" && $3 == "store_sectors" { print $4 }')" -eq $((tiles * 32)) ]
	done <<-END
		64 48 80
		16 16 16
		32 96 64
	END
}

# 8 rows of 16 bytes fill the 32 banks once if they are successive, or 16 bytes further in each line of 128; rows that
# are 128 bytes apart have the same 4 banks.
@test "ldmatrix.x4 takes four passes of shared memory, and eight times as many if its rows share banks" {
	while read -r pitch passes; do
		run_ptx tests/ptx/ldmatrix.ptx "ldmatrix<<<1,32>>>(u32[128], $pitch)" --space shared
		gcoalesce <"$t/stream" >"$t/requests"
		[ "$(gstats --csv "$t/requests" | awk -F, '$1 == "total" && $3 == "bank_passes" { print $4 }')" -eq "$passes" ]
	done <<-END
		16 4
		144 4
		32 8
		128 32
	END
}

@test "a call into the device's runtime names what is not modelled" {
	cat >"$BATS_TEST_TMPDIR/child.ptx" <<-'END'
		.version 7.0
		.target sm_75
		.address_size 64
		.extern .func (.param .b32 r) cudaDeviceSynchronize ();
		.visible .entry wait()
		{
			.param .b32 r;
			call.uni (r), cudaDeviceSynchronize, ();
			ret;
		}
	END
	expect_failure 1 "call of 'cudaDeviceSynchronize': CUDA 12 has removed it from kernels, and it is not modelled" gtrace-ptx --launch 'wait<<<1,1>>>()' "$BATS_TEST_TMPDIR/child.ptx"
}

@test "what a kernel launches is a launch of its own, behind its parent" {
	cat >"$BATS_TEST_TMPDIR/child.ptx" <<-'END'
		.version 7.0
		.target sm_75
		.address_size 64
		.extern .func (.param .b64 r) cudaGetParameterBufferV2 (.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
		.extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 p, .param .b64 s);
		.visible .entry child(.param .u64 out)
		{
			.reg .b64 %rd<4>;
			.reg .b32 %r<4>;
			ld.param.u64 %rd1, [out];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd2, %r1, 4;
			add.u64 %rd3, %rd1, %rd2;
			ld.global.u32 %r2, [%rd3];
			add.u32 %r2, %r2, 1;
			st.global.u32 [%rd3], %r2;
			ret;
		}
		.visible .entry parent(.param .u64 out)
		{
			.reg .b64 %rd<4>;
			.param .b64 f;
			.param .align 4 .b8 g[12];
			.param .align 4 .b8 b[12];
			.param .b32 s;
			.param .b64 p;
			.param .b64 t;
			.param .b64 r;
			.param .b32 e;
			ld.param.u64 %rd1, [out];
			mov.u64 %rd2, child;
			st.param.b64 [f], %rd2;
			st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
			st.param.b32 [b], 64; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
			st.param.b32 [s], 0;
			call.uni (r), cudaGetParameterBufferV2, (f, g, b, s);
			ld.param.b64 %rd3, [r];
			st.u64 [%rd3], %rd1;
			st.param.b64 [p], %rd3;
			st.param.b64 [t], 0;
			call.uni (e), cudaLaunchDeviceV2, (p, t);
			ret;
		}
	END
	t=$BATS_TEST_TMPDIR
	gtrace-ptx --dump out="$t/out" --launch 'parent<<<1,3>>>(out=u32[64])' "$t/child.ptx" >"$t/stream"
	gtrace-cat --check "$t/stream"
	# Three threads launch it; each block of 64 threads counts up by one.
	[ "$(od -An -v -tu4 -w4 "$t/out" | sort -u)" -eq 3 ]
	gtrace-cat "$t/stream" | grep '^#kernel' | cut -f 2-5,10- >"$t/kernels"
	diff "$t/kernels" - <<-'END'
		id=1	name=parent	grid=1,1,1	block=3,1,1
		id=2	name=child	grid=1,1,1	block=64,1,1	parent=1
		id=3	name=child	grid=1,1,1	block=64,1,1	parent=1
		id=4	name=child	grid=1,1,1	block=64,1,1	parent=1
	END
	# The parameters are written into the pool: 8 bytes each, 4096 apart.
	[ "$(gtrace-cat "$t/stream" | grep -c '	store.global	8	0x00000007	0x[0-9a-f]*	4096	')" -eq 1 ]
	# Text keeps the parent; so does every later stage.
	gtrace-cat "$t/stream" | gtrace-cat --from | gschedule --gpu a100 | gtrace-cat | grep '^#kernel' | grep -c 'parent=1' | grep -qx 3
}

@test "the device's heap is as large as --heap says, and an array of the trace" {
	cat >"$BATS_TEST_TMPDIR/heap.ptx" <<-'END'
		.version 7.0
		.target sm_75
		.address_size 64
		.extern .func (.param .b64 r) malloc (.param .b64 p);
		.visible .entry heap(.param .u64 out)
		{
			.reg .b64 %rd<6>;
			.reg .b32 %r<2>;
			.param .b64 p;
			.param .b64 r;
			ld.param.u64 %rd1, [out];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd2, %r1, 8;
			add.u64 %rd3, %rd1, %rd2;
			st.param.b64 [p], 112;
			call.uni (r), malloc, (p);
			ld.param.b64 %rd4, [r];
			st.global.u64 [%rd3], %rd4;
			st.u32 [%rd4], %r1;
			ret;
		}
	END
	# 112 bytes take 128. A block of 32 fits into 4K, and the second launch finds the heap full.
	gtrace-ptx --heap 4K --launch 'heap<<<1,32>>>(u64[32])' "$BATS_TEST_TMPDIR/heap.ptx" >"$BATS_TEST_TMPDIR/stream"
	gtrace-cat --check "$BATS_TEST_TMPDIR/stream"
	[ "$(gtrace-cat "$BATS_TEST_TMPDIR/stream" | grep -c 'names=argument 1,device_heap$')" -eq 1 ]
	# Each lane's store is a sector of its own.
	gcoalesce "$BATS_TEST_TMPDIR/stream" | gschedule --gpu a100 | grd --by array >"$BATS_TEST_TMPDIR/table"
	grep -q device_heap "$BATS_TEST_TMPDIR/table"
	expect_failure 1 'store of 4 bytes at 0x0: outside every allocation' gtrace-ptx --heap 4K \
		--launch 'heap<<<1,32>>>(A=u64[32])' --launch 'heap<<<1,32>>>(A)' "$BATS_TEST_TMPDIR/heap.ptx"
	expect_failure 2 "0" gtrace-ptx --heap 0 --launch 'heap<<<1,32>>>(u64[32])' "$BATS_TEST_TMPDIR/heap.ptx"
}

@test "the stream has the source line of each access, so grd can say which one misses" {
	cat >"$t/lines.ptx" <<-'END'
		.version 7.0
		.target sm_75
		.address_size 64
		.visible .entry copy(.param .u64 from, .param .u64 to) {
		.reg .b64 %rd<6>; .reg .b32 %r<3>;
		.loc 2 10 1
		ld.param.u64 %rd1, [from];
		ld.param.u64 %rd2, [to];
		mov.u32 %r1, %tid.x;
		mul.wide.u32 %rd3, %r1, 4;
		.loc 1 20 5
		add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];
		.loc 2 30 5
		add.u64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2;
		ret; }
		.visible .entry other() { .loc 1 40 1
		ret; }
		.file 1 "/far/load.cu"
		.file 2 "st,ore.cu"
	END
	gtrace-ptx --launch 'copy<<<1,32>>>(a=u32[32], b=u32[32])' "$t/lines.ptx" >"$t/lines"
	gtrace-cat --no-rows "$t/lines" | grep -q "stage=source	kernel=1	pcs=\[12,14\]	lines=\[20,30\]	files=\[0,1\]	names=/far/load.cu,st.ore.cu"
	grd --by line --lines 1 "$t/lines" | cut -f 1-4 | diff - <(printf 'kernel\tline\tlines\treferences\n1\tload.cu:20\t1\t1\n1\tst.ore.cu:30\t1\t1\n')
	sed 's/\.loc [0-9 ]*//' "$t/lines.ptx" >"$t/bare.ptx"
	gtrace-ptx --launch 'copy<<<1,32>>>(a=u32[32], b=u32[32])' "$t/bare.ptx" | gtrace-cat --no-rows >"$t/bare"
	run ! grep -q stage=source "$t/bare"
}

# A header of the toolkit is in another folder than the function: what is inlined from it, at any depth, is at the function's line. One
# beside the function keeps its own.
@test "inlined code is at its own line if its file is beside the function's, else at the function's" {
	cat >"$t/inlined.ptx" <<-'END'
		.version 7.0
		.target sm_75
		.address_size 64
		.visible .entry copy(.param .u64 from, .param .u64 to) {
		.reg .b64 %rd<6>; .reg .b32 %r<3>;
		ld.param.u64 %rd1, [from];
		ld.param.u64 %rd2, [to];
		mov.u32 %r1, %tid.x;
		mul.wide.u32 %rd3, %r1, 4;
		.loc 1 20 5
		.loc 3 7 1, function_name $L__info_string0, inlined_at 1 20 5
		add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];
		.loc 2 9 1, function_name $L__info_string0, inlined_at 3 7 1
		ld.global.u32 %r2, [%rd4];
		.loc 2 9 1, function_name $L__info_string0+16, inlined_at 1 21 5
		add.u64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2;
		ret; }
		.file 1 "/project/copy.cu"
		.file 2 "/usr/local/cuda/include/atomic.hpp"
		.file 3 "/project/util/load.cuh"
	END
	gtrace-ptx --launch 'copy<<<1,32>>>(a=u32[32], b=u32[32])' "$t/inlined.ptx" | gtrace-cat --no-rows >"$t/inlined"
	grep -q "stage=source	kernel=1	pcs=\[12,14,16\]	lines=\[7,20,21\]	files=\[2,0,0\]	" "$t/inlined"
}

@test "--work: instructions, barriers and waiting, by hand" {
	cat >"$t/k.ptx" <<-'EOF'
		.version 8.0
		.target sm_75
		.address_size 64
		.visible .entry k(.param .u64 p)
		{
			.reg .b64 %rd<2>;
			.reg .b32 %r<7>;
			.shared .align 4 .b8 s[4];
			ld.param.u64 %rd1, [p];
			ld.global.u32 %r1, [%rd1];
			ld.global.u32 %r2, [%rd1+4];
			add.u32 %r3, %r1, %r2;
			st.global.u32 [%rd1+8], %r3;
			ld.global.u32 %r4, [%rd1+12];
			add.u32 %r5, %r4, 1;
			bar.sync 0;
			ld.global.u32 %r1, [%rd1+16];
			st.shared.u32 [s], %r1;
			ld.global.u32 %r2, [%rd1+20];
			ret;
		}
	EOF
	# The first two loads issue back to back; the store needs them; the barrier keeps the fifth access behind the sum of the fourth.
	# An access to shared memory is an instruction like others, though it may have a row.
	run_ptx "$t/k.ptx" 'k<<<1,1>>>(u32[8])' --work
	[ "$(gtrace-cat "$t/stream" | grep -v '^#' | cut -f 11 | tr '\n' ' ')" = "1,0 0,0 1,0,waits 0,0 2,1,waits 1,0 " ]
	diff <(rows "$t/stream") <(gtrace-cat "$t/stream" | gtrace-cat --from | gtrace-cat | grep -v '^#')
	run_ptx "$t/k.ptx" 'k<<<1,1>>>(u32[8])' --work --space global,shared
	[ "$(gtrace-cat "$t/stream" | grep -v '^#' | cut -f 11 | tr '\n' ' ')" = "1,0 0,0 1,0,waits 0,0 2,1,waits 0,0 1,0 " ]
	run_ptx "$t/k.ptx" 'k<<<1,1>>>(u32[8])'
	[ "$(gtrace-cat "$t/stream" | grep -c work)" = 0 ]
}

@test "--work: accesses to shared memory and their passes, by hand, in plain C and in machine code" {
	cat >"$t/k.ptx" <<-'EOF'
		.version 8.0
		.target sm_75
		.address_size 64
		.visible .entry k(.param .u64 p)
		{
			.reg .pred %p<2>;
			.reg .b64 %rd<5>;
			.reg .b32 %r<9>;
			.shared .align 16 .b8 s[8192];
			ld.param.u64 %rd1, [p];
			mov.u32 %r1, %tid.x;
			mov.u32 %r2, s;
			mad.lo.u32 %r3, %r1, 4, %r2;
			mad.lo.u32 %r4, %r1, 8, %r2;
			mad.lo.u32 %r5, %r1, 16, %r2;
			mad.lo.u32 %r6, %r1, 128, %r2;
			mov.u64 %rd2, 1;
			st.shared.u32 [%r3], %r1;
			st.shared.u64 [%r4], %rd2;
			st.shared.v4.u32 [%r5], {%r1, %r1, %r1, %r1};
			ld.shared.u32 %r7, [%r4];
			ld.shared.u32 %r7, [s+4];
			ld.global.u32 %r7, [%rd1];
			atom.shared.add.u32 %r8, [s], 1;
			cvt.u64.u32 %rd3, %r6;
			cvta.shared.u64 %rd3, %rd3;
			ld.u32 %r7, [%rd3];
			setp.lt.u32 %p1, %r1, 8;
			@%p1 ld.shared.u32 %r7, [%r6];
			st.shared.u8 [%r3], %r1;
			st.global.u32 [%rd1], %r7;
			st.global.u32 [%rd1], %r8;
			ret;
		}
	EOF
	# 128 bytes a pass, and words of a bank one after the other: 1, 2, 4 passes; every other bank 2; one word 1. Then 1, 32, 8 (of the first
	# warp alone), 1.
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level run_ptx "$t/k.ptx" 'k<<<2,64>>>(u32[8])' --work
		gtrace-cat "$t/stream" | awk -F '\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ { print $at["work"], $at["shared"] }' | sort | uniq -c >"$t/found"
		diff "$t/found" <(printf '      %s\n' '4 0,0 0,0' '4 13,0 5,10' '2 7,0,waits 3,34' '2 7,0,waits 4,42')
		rows "$t/stream" | diff - <(gtrace-cat "$t/stream" | gtrace-cat --from | gtrace-cat | grep -v '^#')
	done
	run_ptx "$t/k.ptx" 'k<<<2,64>>>(u32[8])' --work --space global,shared
	gtrace-cat "$t/stream" | grep -v '^#' | grep global | awk '{ print $(NF - 1) }' | sort | uniq -c | awk '{ print $1, $2 }' | diff - <(printf '%s\n' '4 0,0' '2 3,34' '2 4,42' '4 5,10')
	[ "$(gtrace-cat "$t/stream" | grep '[.]shared' | cut -f 12 | sort -u)" = 0,0 ]
	run_ptx "$t/k.ptx" 'k<<<2,64>>>(u32[8])'
	[ "$(gtrace-cat "$t/stream" | grep -c '^#block.*shared')" = 0 ]
	sed 's/shared\./local./; /local\|cvta\|ld.u32/d' "$t/k.ptx" >"$t/none.ptx"
	run_ptx "$t/none.ptx" 'k<<<2,64>>>(u32[8])' --work
	[ "$(gtrace-cat "$t/stream" | grep -c '^#block.*work.*shared')" = 0 ] # nothing to say
	printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\twork\tshared\n0\t0\t0\t0x0\tload.global\t4\t0x1\t0x0\t0\t1,0\t5\n' >"$t/bad.tsv"
	expect_failure 1 "shared: '5': expected accesses,passes" gtrace-cat --from "$t/bad.tsv"
}

# The accesses of a kernel with 8 rounds of a loop of these lines, and one before and behind it: 1 for each that waits.
rounds_that_wait() {
	{
		cat <<-'PTX'
			.version 8.0
			.target sm_75
			.address_size 64
			.visible .entry k(.param .u64 p)
			{
				.reg .pred %p<2>;
				.reg .b64 %rd<4>;
				.reg .b32 %r<9>;
				ld.param.u64 %rd1, [p];
				mov.u32 %r1, 0;
				mov.u32 %r5, 0;
				ld.global.u32 %r6, [%rd1+60];
			L:
		PTX
		cat
		cat <<-'PTX'
				add.u32 %r1, %r1, 1;
				setp.lt.u32 %p1, %r1, 8;
				@%p1 bra L;
				st.global.u32 [%rd1], %r5;
				ret;
			}
		PTX
	} >waits.ptx
	gtrace-ptx --work --launch 'k<<<1,1>>>(u32[64]:zero)' waits.ptx | gtrace-cat | grep -v '^#' | cut -f 11 | sed 's/.*,waits/1/; s/.*,.*/0/' | tr -d '\n'
}

@test "work: the assembler makes one block of four rounds of a small counted loop, so their loads do not wait for each other" {
	cd "$BATS_TEST_TMPDIR"
	# The load before the loop; a load each round, whose sum is needed in the round: rounds 0 and 4 wait; the store waits.
	round='ld.global.u32 %r2, [%rd1]; add.u32 %r5, %r5, %r2; add.u64 %rd1, %rd1, 4;'
	[ "$(rounds_that_wait <<<"$round")" = 0100010001 ]
	# Not so if the loop must not be unrolled, if a fence orders its accesses, or if it stores and reads again what it stored.
	[ "$(rounds_that_wait <<<".pragma \"nounroll\"; $round")" = 0111111111 ]
	[ "$(rounds_that_wait <<<"$round membar.gl;")" = 0111111111 ]
	# The store of a round needs the sum, so the load behind it has nothing to wait for.
	[ "$(rounds_that_wait <<<"$round st.global.u32 [%rd1], %r5;")" = 011010101110101011 ]
	# What was loaded before the loop is there in the rounds behind the first; an address that the round before loaded is not.
	round='ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2]; add.u32 %r5, %r3, %r2;'
	[ "$(rounds_that_wait <<<"mul.wide.u32 %rd2, %r6, 4; add.u64 %rd2, %rd1, %rd2; $round")" = 011000000110000001 ]
	[ "$(rounds_that_wait <<<'ld.global.u64 %rd2, [%rd1]; add.u64 %rd1, %rd1, %rd2;')" = 0111111111 ]
}

@test "blocks that use the same memory again and again go on, however much they issue between two accesses" {
	{
		cat <<-'PTX'
			.version 7.0
			.target sm_70
			.address_size 64
			.visible .entry rounds(.param .u64 a, .param .u32 n) {
			.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;
			ld.param.u64 %d1, [a]; ld.param.u32 %r1, [n];
			mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
			mad.lo.u32 %r2, %r3, %r4, %r2; mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;
			again: ld.global.u32 %r5, [%d1];
		PTX
		for ((i = 0; i < 120; i++)); do echo 'mad.lo.u32 %r5, %r5, 5, 1;'; done
		echo 'st.global.u32 [%d1], %r5; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra again; ret; }'
	} >"$t/rounds.ptx"
	run_ptx "$t/rounds.ptx" 'rounds<<<4,64>>>(A=u32[256], 3000)' --dump A="$t/A"
	expected=$(awk 'BEGIN { for (i = 0; i < 3000 * 120; i++) x = (5 * x + 1) % 4294967296; printf "%.0f", x }')
	[ "$(od -An -v -t u4 -w4 "$t/A" | sort -u | tr -d ' ')" = "$expected" ]
	# 4 blocks of 2 warps load and store.
	[ "$(rows "$t/stream" | wc -l)" -eq $((4 * 2 * 3000 * 2)) ]
}

# By hand: the first time round the predicate is not set yet, and the second is kept. The third is the same, and ends the turn. So does
# the fourth, after which block 1 is begun; the fifth comes before block 1 stores, in whose turn that round ends; the sixth reads 1.
@test "polls: turns that a warp gave away, the same at every level" {
	for level in plain avx2 native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --launch 'waits<<<2,32>>>(F=u32[1])' "$ROOT/tests/ptx/polls.ptx" >"$BATS_TEST_TMPDIR/$level" ||
			[ "$level" != plain ]
	done
	gtrace-cat "$BATS_TEST_TMPDIR/plain" >"$BATS_TEST_TMPDIR/text"
	grep -q 'accesses=7	polls=3$' "$BATS_TEST_TMPDIR/text"
	[ "$(grep -c '^0.*load.global' "$BATS_TEST_TMPDIR/text")" -eq 6 ]
	[ ! -s "$BATS_TEST_TMPDIR/avx2" ] || cmp "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/avx2"
	[ ! -s "$BATS_TEST_TMPDIR/native" ] || cmp "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/native"
	run gstats "$BATS_TEST_TMPDIR/plain"
	[ "${lines[-1]}" = "waited by polling, how often follows from the order of turns: 1 waits" ]
}

@test "a kernel that reads a clock is warned of once" {
	gtrace-ptx -j 2 --launch 'times<<<20,32>>>(A=u64[1])' --launch 'times<<<2,32>>>(B=u64[1])' "$ROOT/tests/ptx/polls.ptx" \
		2>"$BATS_TEST_TMPDIR/said" >/dev/null
	[ "$(cat "$BATS_TEST_TMPDIR/said")" = "gtrace-ptx: warning: kernel times reads %clock64, which counts here the instructions that the warp has issued: no time was measured" ]
}

# A wait of 10^9 clocks is 4 * 10^9 instructions of a warp if each counts one; a 16th more with each read makes it some thousands. What
# reads the clock at two places measures, and is not hurried: 3 instructions between the two. The halves of a clock, the upper one
# before and behind the lower, are one place.
@test "a loop that waits until a clock says so ends soon; a measurement stays as it is" {
	cat >"$BATS_TEST_TMPDIR/wait.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry wait(.param .u64 A)
		{
			.reg .u64 %a, %b, %c, %d, %o; .reg .u32 %i, %h, %l, %k; .reg .pred %p;
			ld.param.u64 %o, [A];
			mov.u32 %i, 0;
		MEASURE:
			mov.u64 %a, %clock64;
			add.u32 %i, %i, 1;
			xor.b64 %d, %d, %a;
			mov.u64 %b, %clock64;
			sub.u64 %b, %b, %a;
			setp.lt.u32 %p, %i, 3000;
			@%p bra MEASURE;
			st.global.u64 [%o], %b;
			mov.u64 %a, %clock64;
		WAIT:
			mov.u64 %b, %clock64;
			sub.u64 %c, %b, %a;
			setp.lt.u64 %p, %c, 1000000000;
			@%p bra WAIT;
			mov.u64 %a, %globaltimer;
		HALVES:
			mov.u32 %h, %globaltimer_hi;
			mov.u32 %l, %globaltimer_lo;
			mov.u32 %k, %globaltimer_hi;
			setp.ne.u32 %p, %h, %k;
			selp.u32 %l, 0, %l, %p;
			mov.b64 %b, {%l, %k};
			sub.u64 %c, %b, %a;
			setp.lt.u64 %p, %c, 1000000000;
			@%p bra HALVES;
			ret;
		}
	END
	gtrace-ptx --max-instructions 200000 --dump "A=$BATS_TEST_TMPDIR/dump" --launch 'wait<<<2,64>>>(A=u64[1])' "$BATS_TEST_TMPDIR/wait.ptx" >/dev/null
	[ "$(od -An -tu8 "$BATS_TEST_TMPDIR/dump" | tr -d ' ')" = 3 ]
}

# Each thread copies a texel from a texture to a buffer, and to a surface a texel further, and reads it there.
@test "launches make textures and surfaces, whose texels lie as those of arrays" {
	local t=$BATS_TEST_TMPDIR
	cat >"$t/k.ptx" <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.entry k(.param .u64 texture, .param .u64 surface, .param .u64 out)
		{
			.reg .b64 d<6>;
			.reg .b32 r<9>;
			.reg .f32 f<9>;
			.reg .pred p;
			ld.param.u64 d1, [texture];
			ld.param.u64 d2, [surface];
			ld.param.u64 d3, [out];
			mov.u32 r1, %tid.x;
			mov.u32 r2, %tid.y;
			cvt.rn.f32.u32 f1, r1;
			cvt.rn.f32.u32 f2, r2;
			tex.2d.v4.f32.f32 {f3,f4,f5,f6}, [d1, {f1,f2}];
			mov.u32 r3, %ntid.x;
			mad.lo.u32 r4, r2, r3, r1;
			mul.wide.u32 d4, r4, 8;
			add.u64 d4, d4, d3;
			st.global.f32 [d4], f4;
			shl.b32 r5, r1, 2;
			mov.b32 r6, f3;
			sust.b.2d.b32.trap [d2, {r5,r2}], {r6};
			xor.b32 r5, r5, 4;
			suld.b.2d.b32.trap {r7}, [d2, {r5,r2}];
			st.global.u32 [d4+4], r7;
			txq.width.b32 r8, [d1];
			setp.ne.u32 p, r8, 9;
			@p trap;
			ret;
		}
	END
	# Of two channels, 2 i and 2 i + 1; the ninth column is clamped to.
	gtrace-ptx --space texture,global --dump "out=$t/out" --launch 'k<<<1,(16,4)>>>(tex(f32[9*4*2]:ramp, 9, 4), surf(u32[16*4], 16, 4), out=f32[128])' \
		"$t/k.ptx" >"$t/stream"
	od -An -v -t f4 -w8 "$t/out" >"$t/found"
	for y in 0 1 2 3; do
		for x in {0..15}; do
			# The texel of the surface beside it was stored by another lane of the warp, in the instruction before.
			at=$((x < 8 ? x : 8)) beside=$(((x ^ 1) < 8 ? x ^ 1 : 8))
			echo $((2 * (9 * y + at) + 1)) $((2 * (9 * y + beside)))
		done
	done | awk '{ printf "%16s%16s\n", $1, $2 }' | cmp - "$t/found"
	[ "$(gtrace-cat "$t/stream" | grep -c '\.texture')" -eq 6 ]
	# Filtered at a corner of the border, of 8 bits scaled: a quarter, rounded to a step of 16 bits.
	gtrace-ptx --quiet --dump "out=$t/out" --launch 'k<<<1,1>>>(tex(u8[9*4*2]:const(255), 9, 4, linear, scaled, border), surf(u32[4], 4, 1), out=f32[2])' \
		"$t/k.ptx" >"$t/stream"
	[ "$(od -An -t f4 -N 4 "$t/out" | tr -d ' ')" = 0.2500038 ] # 16384 / 65535
	run -0 --separate-stderr gtrace-ptx --launch 'k<<<1,1>>>(tex(f32[36], 9, 4), surf(u32[4], 4, 1), f32[2])' "$t/k.ptx"
	[ "$stderr" = "gtrace-ptx: warning: textures and surfaces are used, and their accesses are not traced: see --space" ]
	expect_failure 1 "k, argument 1, 'tex(f32[35], 9, 4), 1, 1)': 35 elements for 9 x 4 x 1 texels: 1, 2 or 4 each expected" \
		gtrace-ptx --launch 'k<<<1,1>>>(tex(f32[35], 9, 4), 1, 1)' "$t/k.ptx"
	expect_failure 1 "linear is for floats, and for integers that are scaled" gtrace-ptx --launch 'k<<<1,1>>>(tex(u8[36], 9, 4, linear), 1, 1)' "$t/k.ptx"
	expect_failure 1 "scaled texels are integers of 8 or 16 bits" gtrace-ptx --launch 'k<<<1,1>>>(tex(s32[36], 9, 4, scaled), 1, 1)' "$t/k.ptx"
}

@test "PTX with the features of one GPU, or of a family, is refused for others" {
	local target gpu words n=0 t=$BATS_TEST_TMPDIR
	while IFS='|' read -r target gpu words; do
		printf '.version 9.0\n.target %s\n.address_size 64\n.entry k() { ret; }\n' "$target" >"$t/k.ptx"
		n=$((n + 1))
		if [ -z "$words" ]; then
			gtrace-ptx ${gpu:+--gpu "$gpu"} --launch 'k<<<1,1>>>()' "$t/k.ptx" >"$t/stream"
			continue
		fi
		run -1 --separate-stderr gtrace-ptx --gpu "$gpu" --launch 'k<<<1,1>>>()' "$t/k.ptx"
		[ "$stderr" = "gtrace-ptx: $t/k.ptx: its PTX is for compute capability $words)" ]
	done <<-END
		sm_90|rtx5090|
		sm_90a|h100|
		sm_90a||
		sm_90a|b200|9.0 alone, and the GPU has 10.0 (--gpu with it: h100, h200
		sm_100a|rtx5090|10.0 alone, and the GPU has 12.0 (--gpu with it: b200
		sm_100a|h100|10.0 alone, and the GPU has 9.0 (--gpu with it: b200
		sm_100f|b200|
		sm_100f|rtx5090|10.0 and later ones of its family, and the GPU has 12.0 (--gpu with it: b200
		sm_120f|rtx5090|
	END
	[ "$n" -eq 9 ]
	gtrace-ptx --list --gpu a100 "$t/k.ptx" | grep -q '^k()'
}

# Valid PTX, by ptxas of CUDA 13, that is not modelled, and instructions for video that are none: each line is an instruction, and what is said of it.
@test "instructions that are not modelled are refused by name, with their line" {
	local instruction words n=0
	while IFS='|' read -r instruction words; do
		cat >"$BATS_TEST_TMPDIR/k.ptx" <<-END
			.version 9.0
			.target sm_100a
			.address_size 64
			.entry k()
			{
				.reg .b32 r<8>;
				.reg .b64 d<4>;
				.reg .b16 h<4>;
				.reg .f32 f<8>;
				.reg .b128 q<2>;
				.reg .pred p;
				.shared .align 128 .b8 s[1024];
				$instruction;
				ret;
			}
		END
		expect_failure 1 "kernel k, PTX line 13, pc 0xd: block (0,0,0) thread (0,0,0): $words" gtrace-ptx --launch 'k<<<1,32>>>()' "$BATS_TEST_TMPDIR/k.ptx"
		n=$((n + 1))
	done <<-'END'
		tcgen05.shift.cta_group::1.down [r1]|'tcgen05.shift.cta_group::1.down' is not modelled
		tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {r1,r2}, r3, [r2]|'tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32' is not modelled: '.red'
		tcgen05.cp.cta_group::1.4x256b [r1], d1|'tcgen05.cp.cta_group::1.4x256b' is not modelled: '.4x256b'
		tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 [r1], d1|'tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32' is not modelled: '.b8x16'
		tcgen05.mma.ws.sp.cta_group::1.kind::f16 [r1], d1, d2, [r3], r2, p|'tcgen05.mma.ws.sp.cta_group::1.kind::f16' is not modelled: '.ws' with a sparse A
		tcgen05.mma.ws.cta_group::1.kind::f16 [r1], d1, d2, r2, p, d3|'tcgen05.mma.ws.cta_group::1.kind::f16' is not known in this form
		tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [r1], d1, d2, r2, [r3], [r2], p|'tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X' is not known in this form
		multimem.ld_reduce.relaxed.gpu.global.add.f32 f1, [d1]|'multimem.ld_reduce.relaxed.gpu.global.add.f32' is not modelled
		multimem.st.relaxed.gpu.global.f32 [d1], f1|'multimem.st.relaxed.gpu.global.f32' is not modelled
		multimem.red.relaxed.gpu.global.add.f32 [d1], f1|'multimem.red.relaxed.gpu.global.add.f32' is not modelled
		cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [s], [d1, {r1,r2,r3}], [s], {h1, h2}|'cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes' is not modelled: '.im2col::w'
		clusterlaunchcontrol.stop [s], [s]|'clusterlaunchcontrol.stop' is not known in this form
		cvt.rs.f16x2.f32 r1, f1, f2, r2|opcode 'cvt.rs.f16x2.f32' is not known
		cvt.rs.satfinite.e2m1x4.f32 h1, {f1,f2,f3,f4}, r2|opcode 'cvt.rs.satfinite.e2m1x4.f32' is not known
		vadd.s32.s32.s32.sat.add r1.b0, r2, r3, r4|this form of 'vadd' is not known
		vadd.s32.s32.s32 r1, -r2, r3|opcode 'vadd.s32.s32.s32' is not known
		vmad.s32.s32.s32 r1, -r2, r3, -r4|opcode 'vmad.s32.s32.s32' is not known
		vabsdiff4.u32.u32.u32.add r1, -r2, r3, r4|this form of 'vabsdiff4' is not known
		vadd2.s32.s32.s32 r1.h01, r2, r3, r4|this form of 'vadd2' is not known
		vmin4.u32.u32.u32 r1, r2.b8765, r3, r4|this form of 'vmin4' is not known
		vshl.s32.s32.u32 r1, r2, r3|opcode 'vshl.s32.s32.u32' is not known
		vmax2.s32.s32.s32.min r1, r2, r3, r4|opcode 'vmax2.s32.s32.s32.min' is not known
		redux.sync.max.f32 f1, f2, 0xffffffff|this form of 'redux' is not known
		fma.rn.oob.f16 h1, h1, h2, h3|opcode 'fma.oob.f16' is not known
		atom.add.v2.f32 {f1, f2}, [d1], {f3, f4}|'atom.add.v2.f32' is not known in this form
	END
	[ "$n" -eq 25 ]
}

@test "registers that nothing wrote are 0 in every block and at every level" {
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level gtrace-ptx --launch 'k<<<3,64>>>(a=u32[256])' "$ROOT/tests/ptx/unset.ptx" | gtrace-cat >"$BATS_TEST_TMPDIR/$level"
		grep -v '^#' "$BATS_TEST_TMPDIR/$level" | cut -f 4,8,9 | sort | uniq -c >"$BATS_TEST_TMPDIR/places"
		# Each of 6 warps stores to the first element.
		grep -qE '^ *6 0xe	0x200000000000	0$' "$BATS_TEST_TMPDIR/places"
		cmp "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/$level"
	done
}
