# SPDX-License-Identifier: MIT
# gtrace-record --stub curand: the stand-in for cuRAND's host interface.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export RAND=$BATS_FILE_TMPDIR/rand
	load helpers
	prepare_preload
	build_against_stub libcurand.so.10 "$RAND" tests/cudart/rand.c
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "numbers are the known ones; offsets, seeds and calls one after the other keep to the sequence" {
	record_stub curand --ignore-unsupported "$RAND" settings || { cat err; return 1; }
	grep -qx 'all as expected' err
	[ "$(grep -c 'curandGenerateNormal: done on the host, and not traced' err)" -eq 1 ]
}

@test "numbers are distributed as they are called" {
	record_stub curand --ignore-unsupported "$RAND" statistics || { cat err; return 1; }
	grep -qx 'all as expected' err
}

# bats test_tags=cuda,whole
@test "numbers are those of cuRAND's own generators for the host" {
	local library=$CUDA_HOME/lib64
	needs_cuda
	[ -e "$library/libcurand.so.10" ] || skip "no cuRAND"
	LD_LIBRARY_PATH=$library:$BUILD/cudart "$RAND" numbers host >own 2>/dev/null
	record_stub curand --ignore-unsupported "$RAND" numbers
	grep -E '^([0-9]+ [0-9]|then|there|near 1|anew|legacy) ' err >ours
	[ "$(wc -l <own)" -eq 261 ]
	diff own ours
}

# bats test_tags=cuda
@test "direction vectors are cuRAND's, and end in memory that cannot be read" {
	record_stub curand --ignore-unsupported "$RAND" vectors
	grep -E '^[0-9]+ [0-9]+ [0-9]+$' err >ours
	[ "$(wc -l <ours)" -eq 21 ]
	grep -qx '1 2147483648 4294967295' ours # 1 + x: the rows of Pascal's triangle modulo 2, of which row 31 has ones alone
	status=0
	record_stub curand --ignore-unsupported "$RAND" beyond || status=$?
	[ "$status" -eq "$([ -z "$PRELOAD" ] && echo 139 || echo 1)" ] # a sanitizer tells of the signal itself
	local library=$CUDA_HOME/lib64
	needs_cuda
	[ -e "$library/libcurand.so.10" ] || skip "no cuRAND"
	LD_LIBRARY_PATH=$library:$BUILD/cudart "$RAND" vectors host 2>/dev/null >own
	diff own ours
}

@test "generators that NVIDIA alone has are refused by name where its library is not" {
	[ ! -e "$CUDA_HOME/lib64/libcurand.so.10" ] || skip "NVIDIA's cuRAND is there"
	record_stub curand --ignore-unsupported "$RAND" unknown || { cat err; return 1; }
	grep -qx 'all as expected' err
	for name in MTGP32 MT19937 'scrambled SOBOL32' SOBOL64 'scrambled SOBOL64'; do
		grep -q "curandCreateGenerator of $name: the stand-in of the library has no such call" err
	done
}

# bats test_tags=cuda,whole
@test "generators that NVIDIA alone has are made by its library where it is installed" {
	local library=$CUDA_HOME/lib64
	needs_cuda
	[ -e "$library/libcurand.so.10" ] || skip "no cuRAND"
	LD_LIBRARY_PATH=$library:$BUILD/cudart "$RAND" others host 2>/dev/null >own
	record_stub curand --ignore-unsupported "$RAND" others
	grep -E '^(wide|[0-9]+ [0-9]+) ' err >ours
	[ "$(wc -l <own)" -eq 81 ]
	[ "$(grep -cE '^[0-9]+ [0-9] 0 [0-9.e-]+ ' own)" -ge 70 ] # numbers of generators that have them
	diff own ours
}

@test "unknown generators, orders, dimensions, tables and captured streams are refused by name" {
	record_stub curand --ignore-unsupported "$RAND" refused || { cat err; return 1; }
	grep -q 'curandSetGeneratorOrdering of this order: the stand-in' err
	grep -q 'curandSetQuasiRandomGeneratorDimensions of more than 21: the stand-in' err
	grep -q 'curandGetDirectionVectors32 of scrambled vectors: the stand-in' err
	run -1 record_stub curand "$RAND" refused
	run -1 gtrace-cat out
	# 2^62 numbers are of 2^64 bytes, which is 0 in 64 bits.
	for n in 17 0x4000000000000000; do
		run -1 record_stub curand "$RAND" stray "$n"
		grep -qE 'curandGenerate: [0-9]+ bytes at 0x[0-9a-f]+ are not all in one allocation of device memory' err
	done
	record_stub curand --ignore-unsupported "$RAND" captured
	grep -q 'curandGenerate: this is not supported' err
}

# bats test_tags=cuda,whole
@test "the kernels of a program that uses cuRAND are traced, and the stream counts the calls between them" {
	needs_cuda
	cat >both.cu <<-'END'
		#include <curand.h>
		#include <cstdio>
		__global__ void sum(const float *x, float *total) { atomicAdd(total, x[threadIdx.x]); }
		int main() {
			curandGenerator_t g = nullptr;
			float *x, total = 0;
			cudaMalloc(&x, 4096 + 4);
			cudaMemset(x + 1024, 0, 4);
			curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
			curandSetPseudoRandomGeneratorSeed(g, 7);
			curandGenerateUniform(g, x, 1024);
			sum<<<1, 1024>>>(x, x + 1024);
			cudaMemcpy(&total, x + 1024, 4, cudaMemcpyDefault);
			printf("%s\n", total > 450 && total < 574 ? "half" : "wrong"); // 512, seven deviations
			return 0;
		}
	END
	nvcc -cudart shared -arch=sm_80 -o both both.cu -lcurand
	record_stub curand ./both
	gtrace-cat --check out
	grep -qx half err
	[ "$(gtrace-cat out | grep '^#count' | grep 'stage=untraced' | cut -f2-)" = "$(printf 'stage=untraced\tkernel=1\tnames=curandGenerateUniform\tcalls=[1]')" ]
	gtrace-cat out | grep 'stage=copies' | grep -q 'bytes=\[.*4096.*\]'
	status=0
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./both 2>err >out || status=$?
	[ "$status" -eq 1 ]
	grep -q 'libcurand.so.10 is used, whose kernels are not seen here (--stub curand does' err
}

# bats test_tags=cuda,whole
@test "MTGP32 of the device interface has the numbers of cuRAND's generator for the host" {
	needs_cuda
	cat >mtgp.cu <<-'END'
		#include <curand.h>
		#include <curand_kernel.h>
		#include <curand_mtgp32_host.h>
		#include <curand_mtgp32dc_p_11213.h>
		#include <cstdio>
		enum { BLOCKS = 2, THREADS = 256, N = BLOCKS * THREADS };
		__global__ void draw(curandStateMtgp32 *s, unsigned *out) { out[blockIdx.x * THREADS + threadIdx.x] = curand(&s[blockIdx.x]); }
		int main() {
			curandStateMtgp32 *s;
			mtgp32_kernel_params *k;
			unsigned *out, device[N], host[N] = {0};
			curandGenerator_t g;
			cudaMalloc(&s, BLOCKS * sizeof *s);
			cudaMalloc(&k, sizeof *k);
			cudaMalloc(&out, sizeof device);
			curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, k);
			curandMakeMTGP32KernelState(s, mtgp32dc_params_fast_11213, k, BLOCKS, 1234);
			draw<<<BLOCKS, THREADS>>>(s, out);
			cudaMemcpy(device, out, sizeof device, cudaMemcpyDeviceToHost);
			if (curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_MTGP32) != 0) return 3;
			curandSetPseudoRandomGeneratorSeed(g, 1234);
			curandGenerate(g, host, N);
			int differ = 0;
			for (int i = 0; i < N; i++) differ += device[i] != host[i];
			printf("%d differ\n", differ);
			return differ > 0;
		}
	END
	nvcc -cudart shared -arch=sm_80 -o mtgp mtgp.cu -lcurand
	LD_PRELOAD=${PRELOAD:-} gtrace-record --ignore-unsupported ./mtgp >out 2>err
	grep -qx '0 differ' err
	record_stub curand ./mtgp
	grep -qx '0 differ' err
}
