# SPDX-License-Identifier: MIT
# The table of pipelines/README.md, "PPT-GPU-Mem", at PolyBench's sizes: half a minute.

setup() { cd "$ROOT" || return 1; }

# ours SOURCE: L2's hit ratios of loads, not filtered, filtered, and of the functional cache.
ours() {
	make -e -s -f pipelines/ppt-gpu-mem.mk RESULTS="$BATS_TEST_TMPDIR/results" GPU=titanv SOURCE="gtrace-ptx --launch '$1' examples/kernels/ptx/$2.ptx" |
		awk '$1 == "total" && $2 == "loads" { print $5, $6, $7 }'
}

# shown PROGRAM: the same in the README.
shown() { awk -F ' *[|] *' -v program="$1" '$2 == program { print $6, $8, $9 }' pipelines/README.md; }

@test "2DCONV" { [ "$(ours 'conv2d<<<(128,512),(32,8)>>>(in=f32[4096*4096], out=f32[4096*4096], 4096, 4096)' conv2d)" = "$(shown 2DCONV)" ]; }

@test "GEMM" { [ "$(ours 'gemm<<<(16,64),(32,8)>>>(A=f32[512*512], B=f32[512*512], C=f32[512*512], 512)' gemm)" = "$(shown GEMM)" ]; }

@test "BICG: the mean of two kernels" {
	{
		ours 'matvec_transposed<<<16,256>>>(A=f32[4096*4096], r=f32[4096], s=f32[4096], 4096, 4096)' matvec
		ours 'matvec<<<16,256>>>(A=f32[4096*4096], p=f32[4096], q=f32[4096], 4096, 4096)' matvec
	} >"$BATS_TEST_TMPDIR/both"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/both")" -eq 2 ]
	[ "$(awk '{ for (i = 1; i <= 3; i++) sum[i] += $i } END { printf "%.2f %.2f %.2f\n", sum[1] / 2, sum[2] / 2, sum[3] / 2 }' "$BATS_TEST_TMPDIR/both")" = "$(shown BICG)" ]
}
