# SPDX-License-Identifier: MIT
# gtrace-record --stub cufft: the stand-in for cuFFT.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export FFT=$BATS_FILE_TMPDIR/fft
	load helpers
	needs_stub cufft FFTW3
	prepare_preload
	build_against_stub libcufft.so.12 "$FFT" tests/cudart/fft.c
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "transforms are the sums of their definition, and each call is named once" {
	record_stub cufft --ignore-unsupported "$FFT" results || { cat err; return 1; }
	grep -qx 'all as expected' err
	[ "$(grep -c 'cufftExecZ2Z: done on the host, and not traced' err)" -eq 1 ]
	# 3 of complex numbers, twice 3 of real ones, and the columns
	grep -q 'the work of 10 calls of libraries was done on the host: their accesses are not in the stream' err
}

@test "what FFTW has not, strays and captured streams are refused by name" {
	record_stub cufft --ignore-unsupported "$FFT" refused
	grep -q 'cufftXtMakePlanMany: the stand-in of the library has no such call' err
	grep -q 'cufftMakePlanMany64 beyond 2^31 - 1: the stand-in' err
	[ "$(grep -cx 16 err)" -eq 2 ] # CUFFT_NOT_SUPPORTED
	run -1 record_stub cufft "$FFT" refused
	run -1 gtrace-cat out
	for part in stray far; do
		run -1 record_stub cufft "$FFT" "$part"
		grep -qE 'cufftExecC2C: [0-9]+ bytes at 0x[0-9a-f]+ are not all in one allocation of device memory' err
	done
	record_stub cufft --ignore-unsupported "$FFT" captured
	grep -q 'cufftExecC2C: this is not supported' err
}

# bats test_tags=cuda,whole
@test "the kernels of a program that uses cuFFT are traced, and the stream counts the calls between them" {
	needs_cuda
	cat >both.cu <<-'END'
		#include <cufft.h>
		#include <cstdio>
		__global__ void scale(float2 *x, float by) { x[threadIdx.x].x *= by; x[threadIdx.x].y *= by; }
		int main() {
			const int n = 256;
			cufftHandle plan;
			float2 *x, first[2] = {{0, 0}, {1, 0}};
			cudaMalloc(&x, n * sizeof *x);
			cudaMemset(x, 0, n * sizeof *x);
			cudaMemcpy(x, first, sizeof first, cudaMemcpyDefault);
			cufftPlan1d(&plan, n, CUFFT_C2C, 1);
			cufftExecC2C(plan, x, x, CUFFT_FORWARD);
			scale<<<1, n>>>(x, 1.0f / n);
			cufftExecC2C(plan, x, x, CUFFT_INVERSE);
			cudaMemcpy(first, x, sizeof first, cudaMemcpyDefault);
			printf("%.4f %.4f\n", first[0].x + 1, first[1].x);
			return cufftDestroy(plan);
		}
	END
	nvcc -cudart shared -arch=sm_80 -o both both.cu -lcufft
	record_stub cufft ./both
	gtrace-cat --check out
	grep -qx '1.0000 1.0000' err # there and back
	gtrace-cat out | grep '^#count' | grep 'stage=untraced' | cut -f2- >counts
	[ "$(head -1 counts)" = "$(printf 'stage=untraced\tkernel=1\tnames=cufftExecC2C\tcalls=[1]')" ]
	[ "$(tail -1 counts)" = "$(printf 'stage=untraced\tkernel=1\tnames_after=cufftExecC2C\tcalls_after=[1]')" ]
	status=0
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./both 2>err >out || status=$?
	[ "$status" -eq 1 ]
	grep -q 'libcufft.so.12 is used, whose kernels are not seen here (--stub cufft does' err
}
