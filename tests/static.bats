# SPDX-License-Identifier: MIT
# gtrace-ptx --static: [003]'s degrees of coalescing without a run, and with one.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	ptx=$ROOT/examples/kernels/ptx
}

# fields FILTER FIELDS FILE: those fields of the lines that match.
fields() { awk -F'\t' -v f="$2" "!/^#/ && $1"' { n = split(f, a, ","); for (i = 1; i <= n; i++) printf "%s%s", $a[i], (i < n ? " " : "\n") }' "$3"; }

@test "[003] table 3: the four base workloads, by their size" {
	gtrace-ptx --static --grid 32 --block 64 "$ptx/strides.ptx" >report
	# Degree of coalescing, sectors within the range, estimated sectors; the last is measured there.
	for row in "stride_32 3.125 1 32 32" "stride_4 25 4 16 16" "same_location 100 1 1 1" "coalescing 100 4 4 4"; do
		[ "$(fields '$1 == "'"${row%% *}"'" && $2 == "all"' 1,5,6,7,8 report)" = "$row" ] || {
			echo "expected $row"
			cat report
			return 1
		}
	done
}

@test "[003] table 3: matrix product, from its expression alone" {
	gtrace-ptx --static --grid 2,8 --block 32,8 "$ptx/gemm.ptx" >report
	[ "$(fields '$2 == "all"' 5,6,7 report)" = "100 4 4" ]
}

@test "[003] figure 10: the graph of the 2D convolution" {
	# Its three loads of a row: that of the left neighbour begins in the previous sector.
	cat >row.ptx <<-'END'
		.version 6.3
		.target sm_75
		.address_size 64
		.visible .entry row(.param .u64 in)
		{
			.reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
			ld.param.u64 %rd1, [in];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd2, %r1, 4;
			add.s64 %rd3, %rd1, %rd2;
			ld.global.f32 %f1, [%rd3+-4];
			ld.global.f32 %f2, [%rd3];
			ld.global.f32 %f3, [%rd3+4];
			ret;
		}
	END
	gtrace-ptx --static --tree --grid 2,8 --block 32,8 row.ptx >report
	graph=$(awk '/^#graph/ { last = $0 } END { print last }' report)
	[ "$graph" = "$(printf '#graph\t0.333'; printf '\t0.667%.0s' 1 2 3 4 5 6; printf '\t1%.0s' {1..25})" ]
	[ "$(fields '$2 == "all"' 5,6 report)" = "91.67 4" ]
}

@test "expressions and trees name the parts of addresses" {
	gtrace-ptx --static --tree --launch 'vectoradd<<<2,64>>>(a=f32[128], b=f32[128], c=f32[128], n=128)' \
		"$ptx/vectoradd.ptx" >report
	[ "$(fields '$3 == "store"' 10 report)" = "c + 4*ctaid.x*ntid.x + 4*tid.x" ]
	grep -q '^# *%tid.x$' report
	grep -q 'ld.param.u64' report
	gtrace-ptx --static "$ptx/spmv.ptx" >report
	[ "$(fields '$9 == "loaded"' 5 report | sort -u)" = "-" ]
	[ "$(fields '$9 == "loaded"' 3 report | wc -l)" -eq 3 ]
}

# agrees COUNT FILE LAUNCH: COUNT accesses have the degree and the sectors that their trace has.
agrees() {
	local compared
	gtrace-ptx --static --launch "$3" "$ptx/$2.ptx" >report
	gtrace-ptx --launch "$3" "$ptx/$2.ptx" >stream
	gtrace-cat stream >accesses
	compared=$(python3 "$ROOT/tests/kernels_reference.py" compare-static report accesses)
	# gcoalesce --degree finds the same of what ran: its rows have the line as pc.
	gcoalesce --degree stream | awk -F'\t' -v name="$2" '
		function numbers() { return $5 " " $6 " " $7 " " $8 }
		FILENAME == "report" { if ($9 == "exact") foretold[sprintf("0x%x", $2)] = numbers(); next }
		$2 in foretold { compared++; if (foretold[$2] != numbers()) { print name, $2 ": " foretold[$2] ", traced " numbers(); bad = 1 } }
		END { exit bad || !compared }' report -
	[ "$compared" = "$1" ] || {
		echo "$2: $compared compared, expected $1"
		cat report
		return 1
	}
}

# bats test_tags=whole
@test "degrees of affine addresses equal those of a trace, over all examples" {
	agrees 3 vectoradd 'vectoradd<<<16,256>>>(a=f32[4096], b=f32[4096], c=f32[4096], 4096)'
	agrees 5 gemm 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64], B=f32[64*64], C=f32[64*64], 64)'
	agrees 5 gemm 'gemm<<<(4,8),(16,8)>>>(A=f32[64*64], B=f32[64*64], C=f32[64*64], 64)'
	agrees 3 gemm_tiled 'gemm_tiled<<<(4,4),(16,16),2048>>>(A=f32[64*64], B=f32[64*64], C=f32[64*64], 64)'
	agrees 2 transpose 'transpose<<<(2,8),(32,8)>>>(in=f32[64*64], out=f32[64*64], 64, 64)'
	agrees 2 transpose 'transpose<<<(8,2),(8,32)>>>(in=f32[64*64], out=f32[64*64], 64, 64)'
	agrees 2 transpose_tiled 'transpose_tiled<<<(2,2),(32,8)>>>(in=f32[64*64], out=f32[64*64], 64, 64)'
	agrees 10 conv2d 'conv2d<<<(2,8),(32,8)>>>(in=f32[66*66], out=f32[66*66], 66, 66)'
	agrees 28 conv3d 'conv3d<<<(1,4),(16,4)>>>(in=f32[5832], out=f32[5832], 18, 1.0, 1.0, 1.0, 1.0)'
	agrees 5 matvec 'matvec<<<2,64>>>(A=f32[128*128], p=f32[128], q=f32[128], 128, 128)'
	agrees 5 matvec 'matvec_transposed<<<2,64>>>(A=f32[128*128], r=f32[128], s=f32[128], 128, 128)'
	agrees 6 syrk 'syrk<<<(2,8),(32,8)>>>(A=f32[64*32], C=f32[64*64], 64, 32, 1.0, 1.0)'
	agrees 2 reduce 'reduce<<<8,128>>>(in=f32[8192], sum=f32[1], 8192)'
	agrees 2 histogram 'histogram<<<1,128>>>(values=s32[1024]:ramp, count=u32[1024], 1024, 1024)'
	agrees 5 jacobi 'jacobi<<<(2,8),(32,8)>>>(in=f32[66*66], out=f32[66*66], 66, 66)'
	agrees 2 pchase 'pchase<<<1,1,4096>>>(array=u32[512], index=u32[512], ticks=u32[512], 0, 512)'
	agrees 3 spmv 'spmv<<<4,64>>>(first=s32[257], column=s32[1], value=f32[1], x=f32[256], y=f32[256], 256)'
	agrees 1 bfs 'bfs_visit<<<4,64>>>(first=s32[257], to=s32[1], frontier=s32[256], visited=s32[256], reached=s32[256], distance=s32[256], 256, 0)'
	agrees 2 bfs 'bfs_advance<<<4,64>>>(frontier=s32[256], visited=s32[256], reached=s32[256], more=s32[1], 256)'
	for kernel in stride_32 stride_4 same_location coalescing; do
		agrees 2 strides "$kernel<<<32,64>>>(in=f32[65536], out=f32[65536])"
	done
}

@test "copies and matrices have the degrees of their traces" {
	ptx=$PWD
	cat >copies.ptx <<-'END'
		.version 8.0
		.target sm_90
		.address_size 64
		.visible .entry asynchronous(.param .u64 in)
		{
			.reg .b32 %r<9>; .reg .b64 %rd<9>;
			.shared .align 16 .b8 s[4096];
			ld.param.u64 %rd1, [in];
			mov.u32 %r1, %tid.x;
			mul.wide.u32 %rd2, %r1, 48;
			add.s64 %rd3, %rd1, %rd2;
			mov.u32 %r2, s;
			mad.lo.u32 %r3, %r1, 16, %r2;
			cp.async.cg.shared.global [%r3], [%rd3], 16;
			cp.async.ca.shared.global [%r3], [%rd3+4], 4;
			cp.async.wait_all;
			ret;
		}
		.visible .entry bulk(.param .u64 in)
		{
			.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;
			.shared .align 16 .b8 s[4096];
			.shared .align 8 .b8 bar[8];
			ld.param.u64 %rd1, [in];
			mov.u32 %r1, %tid.x;
			mov.u32 %r2, s;
			mov.u32 %r3, bar;
			setp.ne.u32 %p1, %r1, 0;
			@%p1 bra DONE;
			mbarrier.init.shared.b64 [%r3], 1;
			cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1+16], 1024, [%r3];
			cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 96, [%r3];
			cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 512;
			DONE: ret;
		}
		.visible .entry matrices(.param .u64 in, .param .u32 columns)
		{
			.reg .b32 %r<20>; .reg .b64 %rd<9>;
			ld.param.u64 %rd1, [in];
			ld.param.u32 %r9, [columns];
			wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;
			wmma.load.b.sync.aligned.col.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1+2], %r9;
			wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd1];
			wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%rd1+8], {%r1, %r2, %r3, %r4}, 20;
			ret;
		}
	END
	agrees 2 copies 'asynchronous<<<1,64>>>(in=u8[4096])'
	[ "$(fields '$3 == "load"' 4,5 report | head -2 | tr '\n' ' ')" = "16 9.375 4 9.375 " ]
	agrees 3 copies 'bulk<<<1,32>>>(in=u8[2048])'
	# 8 of the 32 pieces of 16 bytes begin in the 128 bytes from the first sector on, or 7 if the first is half a sector further.
	[ "$(fields '$2 != "all"' 3,4,5,8 report | tr '\n' ' ')" = "load 16 21.88 17 load 16 100 3 store 16 25 16 " ]
	agrees 4 copies 'matrices<<<1,32>>>(in=u16[4096], 64)'
	[ "$(fields '$2 != "all"' 3,4 report | tr '\n' ' ')" = "load - load - load - store - " ]
}

@test "unknown sizes are taken as large, with a warning" {
	gtrace-ptx --static --block 32 "$ptx/transpose.ptx" >report
	[ "$(fields '$3 == "store"' 5,9 report)" = "3.125 assumed" ]
}

@test "wrong uses" {
	load helpers
	expect_failure 2 "--block" gtrace-ptx --static --block 2000 "$ptx/gemm.ptx"
	expect_failure 2 "--grid" gtrace-ptx --static --grid 0 "$ptx/gemm.ptx"
}

# volumes PTX LAUNCH: what is predicted, and what a run has: requests and sectors of loads and of other accesses; the sectors of each block,
# summed, and of the grid, once.
volumes() {
	gtrace-ptx --static --volumes --launch "$2" "$ptx/$1.ptx" >predicted
	gtrace-ptx --quiet --launch "$2" "$ptx/$1.ptx" | gcoalesce --gpu a100 | gtrace-cat --decimal | awk '
		/^#.*block.*sectors/ { sub(/^#/, ""); for (i = 1; i <= NF; i++) at[$i] = i; next }
		/^#/ { next }
		{
			kind = $at["op"] ~ /^load/ ? "load" : "store"
			access[kind, $at["block"], $at["warp"], $at["an"]]
			mask = index("0123456789abcdef", substr($at["sectors"], 3)) - 1
			for (s = 0; s < 4; s++)
				if (int(mask / 2 ^ s) % 2) {
					sectors[kind]++
					block[kind, $at["block"], $at["address"], s]
					grid[kind, $at["address"], s]
				}
		}
		END {
			for (key in access) { split(key, part, SUBSEP); requests[part[1]]++ }
			for (key in block) { split(key, part, SUBSEP); of_blocks[part[1]]++ }
			for (key in grid) { split(key, part, SUBSEP); of_grid[part[1]]++ }
			print "load", requests["load"] + 0, sectors["load"] + 0, of_blocks["load"] + 0, of_grid["load"] + 0
			print "store", requests["store"] + 0, sectors["store"] + 0, of_blocks["store"] + 0, of_grid["store"] + 0
		}' >traced
}

@test "volumes: the kernels of PolyBench, of which every block is followed, are those of a run to the sector" {
	while IFS='|' read -r file launch; do
		volumes "$file" "$launch"
		fields '$2 == "all"' 3,4,5,6,7 predicted | diff - traced || { echo "$launch"; return 1; }
		# Each access has all numbers, and touches no more than the kernel.
		fields '$2 != "all"' 3,7 predicted | awk 'FNR == NR { most[$1] = $5; next } $2 !~ /^[0-9]+$/ || $2 > most[$1] { print; exit 1 }' traced - ||
			{ echo "$launch"; return 1; }
	done < <(few_lines 2 <<-'END'
		polybench_2dconv|convolution2D_kernel<<<(3,10),(32,8)>>>(80, 90, f32[80*90], f32[80*90])
		polybench_3dconv|convolution3D_kernel<<<(2,6),(16,4)>>>(24, 24, f32[24*24*24], f32[24*24*24], 2)
		polybench_2mm|mm2_kernel1<<<(2,6),(32,8)>>>(48, 1.5, f32[48*48], f32[48*48], f32[48*48])
		polybench_3mm|mm3_kernel1<<<(2,6),(32,8)>>>(45, f32[45*45], f32[45*45], f32[45*45])
		polybench_atax|atax_kernel1<<<3,64>>>(160, 70, f32[160*70], f32[160], f32[160])
		polybench_atax|atax_kernel2<<<3,64>>>(160, 70, f32[160*70], f32[160], f32[160])
		polybench_bicg|bicg_kernel1<<<2,64>>>(90, 100, f32[90*100], f32[100], f32[100])
		polybench_corr|corr_kernel<<<4,32>>>(100, 40, f32[100*100], f32[100*100])
		polybench_covar|covar_kernel<<<4,32>>>(100, 40, f32[101*101], f32[101*101])
		polybench_fdtd2d|fdtd_step1_kernel<<<(2,8),(32,8)>>>(60, 60, f32[60], f32[60*61], f32[61*60], f32[60*60], 1)
		polybench_gemm|gemm_kernel<<<(2,6),(32,8)>>>(47, 1.5, 1.2, f32[47*47], f32[47*47], f32[47*47])
		polybench_gemver|gemver_kernel1<<<(2,8),(32,8)>>>(60, f32[60*60], f32[60], f32[60], f32[60], f32[60])
		polybench_gesummv|gesummv_kernel<<<2,64>>>(100, 1.5, 1.2, f32[100*100], f32[100*100], f32[100], f32[100], f32[100])
		polybench_gramschmidt|gramschmidt_kernel3<<<2,64>>>(60, 70, f32[60*70], f32[70*70], f32[60*70], 3)
		polybench_jacobi2d|runJacobiCUDA_kernel1<<<(2,8),(32,8)>>>(60, f32[60*60], f32[60*60])
		polybench_mvt|mvt_kernel1<<<2,64>>>(100, f32[100*100], f32[100], f32[100])
		polybench_syr2k|syr2k_kernel<<<(2,6),(32,8)>>>(40, 44, 1.5, 1.2, f32[48*48], f32[48*48], f32[48*48])
		polybench_syrk|syrk_kernel<<<(2,6),(32,8)>>>(40, 44, 1.5, 1.2, f32[48*48], f32[48*48])
	END
	)
}

@test "volumes: of a larger grid a part is followed, and the others are within 1 %" {
	while IFS='|' read -r file launch; do
		volumes "$file" "$launch"
		fields '$2 == "all"' 3,4,5,6,7 predicted | paste -d' ' - traced | awk '{ for (i = 2; i <= 5; i++) if ($i - $(i + 5) > $(i + 5) / 100 || $(i + 5) - $i > $(i + 5) / 100) { print; exit 1 } }' ||
			{ echo "$launch"; return 1; }
		[ "$(fields '$2 == "all"' 8 predicted | sort -u)" = assumed ]
	done < <(few_lines 3 <<-'END'
		polybench_2dconv|convolution2D_kernel<<<(16,64),(32,8)>>>(512, 512, f32[512*512], f32[512*512])
		polybench_gemm|gemm_kernel<<<(4,16),(32,8)>>>(128, 1.0, 1.0, f32[128*128], f32[128*128], f32[128*128])
		polybench_fdtd2d|fdtd_step2_kernel<<<(8,32),(32,8)>>>(256, 256, f32[256*257], f32[257*256], f32[256*256])
		polybench_jacobi2d|runJacobiCUDA_kernel1<<<(16,64),(32,8)>>>(512, f32[512*512], f32[512*512])
		vectoradd|vectoradd<<<100,256>>>(f32[25600], f32[25600], f32[25600], 25600)
		transpose|transpose<<<(16,32),(16,8)>>>(f32[256*256], f32[256*256], 256, 256)
	END
	)
}

@test "volumes: what depends on data, or cannot be followed, has no numbers; a launch is needed" {
	gtrace-ptx --static --volumes --launch 'Kernel<<<2,64>>>(u64[128], s32[128], u8[128]:const(1), u8[128], u8[128], s32[128], 128)' "$ptx/rodinia_bfs.ptx" >report
	[ "$(fields '$2 == "all"' 4,5,6,7,8 report | sort -u)" = "- - - - loaded" ]
	run gtrace-ptx --static --volumes "$ptx/gemm.ptx"
	[ "$status" -eq 2 ]
	[[ "$output" == *"--volumes: expected --static and --launch, too"* ]]
	run gtrace-ptx --static --tree --volumes --launch 'x<<<1,1>>>()' "$ptx/gemm.ptx"
	[ "$status" -eq 2 ]
}

# bats test_tags=whole
@test "volumes: a launch whose blocks are too long is refused" {
	run gtrace-ptx --static --volumes --launch 'gemm_kernel<<<(128,512),(32,8)>>>(4096, 1.0, 1.0, f32[4096*4096], f32[4096*4096], f32[4096*4096])' "$ptx/polybench_gemm.ptx"
	[ "$status" -eq 1 ]
	[[ "$output" == *"expected at most 200000000 instructions of 32 blocks"* ]]
}
