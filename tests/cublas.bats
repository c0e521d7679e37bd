# SPDX-License-Identifier: MIT
# gtrace-record --stub cublas: the stand-in for cuBLAS.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export BLAS=$BATS_FILE_TMPDIR/blas BLASLT=$BATS_FILE_TMPDIR/blaslt
	load helpers
	needs_stub cublas CBLAS
	prepare_preload
	build_against_stub libcublas.so.13 "$BLAS" tests/cudart/blas.c
	build_against_stub libcublasLt.so.13 "$BLASLT" tests/cudart/blaslt.c
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "results are those of loops on the host, and each call is named once" {
	record_stub cublas --ignore-unsupported "$BLAS" results || { cat err; return 1; }
	grep -qx 'all as expected' err
	[ "$(grep -c 'cublasSgemm: done on the host, and not traced' err)" -eq 1 ]
	# 8 forms of gemm, 3 beside large numbers, 2 batches, 4 types, 4 of a matrix and vectors, 10 of vectors, 2 by the device, 3 of cublas.h; 16 forms of
	# trmm and trsm, 4 of symm, 12 updates of a triangle, trmv, trsv, syr, and a batch; 2 of geam and 2 of dgmm; 18 forms of
	# a complex gemm, 24 of a complex trsm, 32 of symm, hemm and trmm, 24 updates of a
	# triangle, and 11 other complex calls; 12 of complex triangles and vectors
	grep -qE 'the work of 213 calls of libraries, [0-9]+ flops of BLAS, was done on the host: their accesses are not in the stream' err
}

@test "calls that are done on the host take time by the clock of events" {
	record_stub cublas --ignore-unsupported "$BLAS" timed || { cat err; return 1; }
	grep -qx 'all as expected' err
}

@test "bands and packed triangles, rotations, and vectors of named types are those of loops on the host" {
	build_against_stub libcublas.so.13 ./bands tests/cudart/blas_bands.c
	record_stub cublas --ignore-unsupported ./bands || { cat err; return 1; }
	grep -qx 'all as expected' err
	# 8 products with half a matrix, 12 updates, 24 triangles twice, 6 general bands, 3 rotations, 7 of named types
	grep -q 'the work of 84 calls of libraries' err
	grep -q 'cublasScalEx_64 of these types: the stand-in of the library has no such call' err
}

@test "the flops of batches, rotations, symmetric complex matrices and calls that name types are those of the manual" {
	local part
	build_against_stub libcublas.so.13 ./counts tests/cudart/blas_counts.c
	for part in 'factor 7 3508' 'multiply 4 490' 'vectors 13 596'; do
		set -- $part
		record_stub cublas --ignore-unsupported ./counts "$1" || { cat err; return 1; }
		grep -q "the work of $2 calls of libraries, $3 flops of BLAS, was done on the host" err || { echo "$1"; cat err; return 1; }
	done
}

@test "cublasLtMatmul: transpositions, orders, batches and epilogues are those of loops on the host" {
	record_stub cublas --ignore-unsupported "$BLASLT" results || { cat err; return 1; }
	grep -qx 'all as expected' err
	[ "$(grep -c 'cublasLtMatmul: done on the host, and not traced' err)" -eq 1 ]
	# 8 forms of two products each and 12 epilogues, of 5 by 4 by 3 multiplications and additions
	grep -q 'the work of 20 calls of libraries, 3360 flops of BLAS, was done on the host' err
}

@test "what cublasLtMatmul has not is refused by name" {
	record_stub cublas --ignore-unsupported "$BLASLT" refused
	grep -q 'cublasLtMatmul of these types, layouts or this epilogue: the stand-in of the library has no such call' err
	grep -q 'cublasLtMatmulDescSetAttribute of this attribute: the stand-in' err
	grep -q 'cublasLtMatrixTransform: the stand-in' err
	[ "$(grep -c '^CUBLAS_STATUS_NOT_SUPPORTED$' err)" -eq 4 ]
	run -1 record_stub cublas "$BLASLT" refused
	record_stub cublas --ignore-unsupported "$BLASLT" captured
	grep -q 'cublasLtMatmul: this is not supported' err
}

@test "other calls, strays and captured streams are refused by name" {
	record_stub cublas --ignore-unsupported "$BLAS" refused
	grep -q 'cublasCgemmEx: the stand-in of the library has no such call' err
	grep -q 'cublasGemmEx of these types or sizes: the stand-in' err
	[ "$(grep -c '^CUBLAS_STATUS_NOT_SUPPORTED$' err)" -eq 2 ]
	run -1 record_stub cublas "$BLAS" refused
	run -1 gtrace-cat out
	run -1 record_stub cublas "$BLAS" stray
	grep -qE 'cublasSaxpy: 12 bytes at 0x[0-9a-f]+ are not all in one allocation of device memory' err
	run -1 record_stub cublas "$BLAS" far
	grep -qE 'cublasIdamin_64: [0-9]+ bytes at 0x[0-9a-f]+ are not all in one allocation of device memory' err
	record_stub cublas --ignore-unsupported "$BLAS" beyond
	grep -q 'cublasIdamin_64 beyond 2^31 - 1: the stand-in' err
	[ "$(grep -c '^CUBLAS_STATUS_NOT_SUPPORTED$' err)" -eq 1 ]
	record_stub cublas --ignore-unsupported "$BLAS" captured
	grep -q 'cublasSaxpy: this is not supported' err
	grep -q '^CUBLAS_STATUS_NOT_SUPPORTED$' err
}

@test "a program whose only work is done on the host has no stream; other libraries have no stand-in" {
	run -1 record_stub cublas "$BLAS" results
	grep -q 'launched no kernel' err
	run -2 gtrace-record --stub cusparse true
	[[ $output == *"no plug-in '"*"/stub/cusparse': "*"package gtrace-cuda-plugins"* ]]
}

# bats test_tags=cuda
@test "the kernels of a program that uses cuBLAS are traced, and the stream counts the calls between them" {
	needs_cuda
	cat >both.cu <<-'END'
		#include <cublas_v2.h>
		#include <cstdio>
		__global__ void fill(float *x, float value) { x[threadIdx.x] = value; }
		int main() {
			cublasHandle_t h = nullptr;
			float *x, sum, one = 1;
			cudaMalloc(&x, 4096);
			cublasCreate(&h);
			fill<<<1, 1024>>>(x, 2);
			cublasSasum(h, 1024, x, 1, &sum);
			cublasSaxpy(h, 512, &one, x, 1, x + 512, 1);
			cublasSaxpy(h, 512, &one, x + 512, 1, x, 1);
			fill<<<1, 32>>>(x + 32, sum);
			cublasSasum(h, 96, x, 1, &sum);
			printf("%g\n", sum);
			return 0;
		}
	END
	nvcc -cudart shared -arch=sm_80 -o both both.cu -lcublas
	record_stub cublas ./both
	gtrace-cat --check out
	grep -qx "$((6 * 64 + 32 * 2048))" err # 64 elements of 2 + 4, and 32 of the first sum
	gtrace-cat out | grep '^#count' | grep 'stage=untraced' >counts
	[ "$(cut -f2- counts | head -1)" = "$(printf 'stage=untraced\tkernel=2\tnames=cublasSasum,cublasSaxpy\tcalls=[1,2]\tflops=[1024,2048]')" ]
	[ "$(cut -f2- counts | tail -1)" = "$(printf 'stage=untraced\tkernel=2\tnames_after=cublasSasum\tcalls_after=[1]\tflops_after=[96]')" ]
	LD_PRELOAD=${PRELOAD:-} gtrace run --quiet --stub cublas ./both >got
	[ "$(sed -n 2p got)" = "not traced: 4 calls of libraries, 3.17 k flops of BLAS" ] # 1024 + 2048 + 96
	run -2 gtrace run --stub cublas out
	[[ $output == *"--stub: expected a program: out was traced already" ]]
	# What cuBLAS wrote may be in L2: axpy's two results.
	gtrace-cat out | grep 'stage=copies' | grep -q 'bytes=\[.*2048.*\]\|bytes=\[4096\]'
	status=0
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./both 2>err >out || status=$?
	[ "$status" -eq 1 ]
	grep -qE 'libcublas(Lt)?.so.13 is used, whose kernels are not seen here \(--stub cublas does' err
}
