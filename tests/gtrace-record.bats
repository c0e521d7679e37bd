# SPDX-License-Identifier: MIT
# gtrace-record: programs built by a C compiler, clang and nvcc, run without a GPU.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	export PROGRAM=$BATS_FILE_TMPDIR/program KERNELS=$BUILD/kernels-clang
	load helpers
	prepare_preload
	compile_together 80 at_fault pool wishes prints asserts three_faults gate
	gcc -std=c11 -D_POSIX_C_SOURCE=200809L -I"$ROOT/tests/unit" -o "$PROGRAM" "$ROOT/tests/cudart/program.c" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcudart.so.13" -lm -pthread
	export FORKS=$BATS_FILE_TMPDIR/forks
	gcc -std=c11 -o "$FORKS" "$ROOT/tests/cudart/forks.c" -Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcudart.so.13"
	local few=(vectoradd gemm transpose)
	[ -z "${WHOLE:-}" ] || few=()
	if [ "$CUDA_TESTS" != only ] && command -v clang >/dev/null; then build_kernels clang "${few[@]}"; fi
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
}

# record ARGUMENT...: the stream goes to $OUT, messages to $ERR; the status is gtrace-record's.
record() {
	LD_PRELOAD=${PRELOAD:-} gtrace-record "$@" >"$OUT" 2>"$ERR"
}

# fails STATUS TEXT ARGUMENT...: one line of gtrace-record, and a stream without an end record.
fails() {
	local status=$1 text=$2 got=0
	shift 2
	record "$@" || got=$?
	[ "$got" -eq "$status" ] || { echo "status $got, expected $status"; cat "$ERR"; return 1; }
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 1 ] || { cat "$ERR"; return 1; }
	grep '^gtrace-record: ' "$ERR" | grep -qF -- "$text" || { cat "$ERR"; return 1; }
	run -1 gtrace-cat "$OUT"
}

needs_clang() { command -v clang >/dev/null || skip "no clang"; }

# counter NAME: its value for every launch in $OUT, one a line.
counter() { gtrace-cat "$OUT" | grep '^#count' | grep -oE "\b$1=[^	]*" | cut -d= -f2; }
names() { gtrace-cat "$OUT" | sed -n 's/^#kernel.*\tname=\([^\t]*\).*/\1/p'; }
ids() { gtrace-cat "$OUT" | sed -n 's/^#kernel\tid=\([0-9]*\).*/\1/p' | xargs; }
rows() { gtrace-cat "$OUT" | awk '!/^#/ { n++ } END { print n + 0 }'; }

@test "the runtime's calls do what CUDA's do" {
	record --ignore-unsupported "$PROGRAM" api || { cat "$ERR"; return 1; }
	grep -q '^1\.\.[0-9]' "$ERR"
	[ "$(grep -c 'cudaIpcGetMemHandle: this call is not supported' "$ERR")" -eq 1 ]
	[ "$(grep -c 'cudaGraphicsMapResources: this call is not supported' "$ERR")" -eq 1 ]
	grep -q 'warning: [0-9]* launches returned an error, as on a GPU: the first is kernel add, <<<1x1x1, 1025x1x1>>>, invalid configuration argument (cudaErrorInvalidConfiguration)$' "$ERR"
	gtrace-cat --check "$OUT"
}

@test "the exit status is kept, and output goes to standard error or to --stdout" {
	status=0
	record "$PROGRAM" three || status=$?
	[ "$status" -eq 7 ]
	[ "$(cat "$ERR")" = "done" ]
	[ "$(ids)" = "1 2 3" ]
	[ "$(names | xargs)" = "add bump add" ]
	record --stdout said "$PROGRAM" three || status=$?
	[ "$status" -eq 7 ]
	[ ! -s "$ERR" ]
	[ "$(cat said)" = "done" ]
	[ "$(ids)" = "1 2 3" ]
	gtrace-cat "$OUT" | grep -qP "^#history\tgtrace-record\t[0-9.]+\t--stdout\tsaid\t"
}

@test "accesses are those of the source" {
	run -7 record "$PROGRAM" three
	# add: a load and a store a warp, 8 warps and 100 of 256 threads' 4; bump: table, shared_word and both elements of amount, in constant memory.
	[ "$(counter accesses | xargs)" = "16 5 8" ]
	[ "$(rows)" -eq 29 ]
	[ "$(counter registers_estimated | xargs)" = "1 1 1" ]
	[ "$(counter warp_instructions | wc -l)" -eq 3 ]
}

@test "the same run twice gives the same bytes" {
	run -7 record "$PROGRAM" three
	cp "$OUT" first
	run -7 record "$PROGRAM" three
	cmp "$OUT" first
}

@test "after a minute of short launches a line says once how many they are, and which kernel takes most of it" {
	cat >clock.c <<-'END'
		#define _GNU_SOURCE
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		/* A million times as fast. */
		int clock_gettime(clockid_t id, struct timespec *now)
		{
			syscall(SYS_clock_gettime, id, now);
			now->tv_sec = now->tv_sec * 1000000 + now->tv_nsec / 1000;
			return 0;
		}
	END
	gcc -shared -fPIC -o clock.so clock.c
	LD_PRELOAD="${PRELOAD:-} $PWD/clock.so" gtrace-record "$FORKS" wwwwwwwwwwwwwwwwwwwwwwww >"$OUT" 2>"$ERR"
	line=$(grep '^gtrace-record: ' "$ERR")
	n=$(sed -n 's/^gtrace-record: warning: launches have run for a minute, \([0-9]*\) so far; kernel bump took 100 % of it, in \([0-9]*\) launches; --launches 1-\([0-9]*\) --skip-untraced runs no more, --kernel and --blocks trace less$/\1 \2 \3/p' <<<"$line")
	[ "$(wc -w <<<"$n")" -eq 3 ] || { cat "$ERR"; return 1; }
	[ "$(tr ' ' '\n' <<<"$n" | sort -u | wc -l)" -eq 1 ]
	LD_PRELOAD="${PRELOAD:-} $PWD/clock.so" gtrace-record --quiet "$FORKS" wwwwwwwwwwwwwwwwwwwwwwww 2>"$ERR" | cmp - "$OUT"
	run ! grep '^gtrace-record: ' "$ERR"
}

# bats test_tags=whole
@test "a launch that takes hours is named once, after 5 seconds; with few of its blocks it takes none" {
	LD_PRELOAD=${PRELOAD:-} timeout 60 gtrace-record "$PROGRAM" huge >/dev/null 2>"$ERR" &
	for ((i = 0; i < 300; i++)); do [ -s "$ERR" ] && break; sleep 0.1; done
	kill $!
	local status=0
	wait $! || status=$?
	[ "$status" -eq 143 ]
	[ "$(grep -c 'warning: kernel add: 2147483647 blocks: at the rate of the first \([1-9][0-9]*\), about [1-9][0-9]* [mhd][a-z]*s; --blocks \1 --skip-untraced runs a part$' "$ERR")" -eq 1 ] ||
		{ cat "$ERR"; return 1; }
	LD_PRELOAD=${PRELOAD:-} timeout 10 gtrace-record --blocks 1000 --skip-untraced "$PROGRAM" huge >"$OUT" 2>"$ERR"
	[ ! -s "$ERR" ]
	[ "$(ids)" = "1 2" ]
}

@test "launches are chosen by name, number and blocks" {
	run -7 record --kernel '^ad' "$PROGRAM" three
	[ "$(ids)" = "1 3" ]
	run -7 record --launches 2-3 "$PROGRAM" three
	[ "$(ids)" = "2 3" ]
	run -7 record --launches 2-3 --kernel add --skip-untraced "$PROGRAM" three
	[ "$(ids)" = "3" ]
	run -7 record --blocks 1 --launches 1 "$PROGRAM" three
	[ "$(counter accesses)" -eq 8 ]
	all=$(counter warp_instructions)
	run -7 record --blocks 1 --launches 1 --skip-untraced "$PROGRAM" three
	[ "$(counter accesses)" -eq 8 ]
	[ "$(counter warp_instructions)" -eq $((all / 2)) ]
	run -7 record --space shared "$PROGRAM" three
	[ "$(rows)" -eq 0 ]
	run -7 record --space constant,global --launches 2 "$PROGRAM" three
	[ "$(rows)" -eq 5 ]
	fails 7 "no launch was chosen of 3: see --launches" --launches 4 "$PROGRAM" three
	fails 7 "no launch was chosen of 3: see --launches, --kernel" --launches 2 --kernel add "$PROGRAM" three
	fails 1 "no launch was chosen of 1: see --device" --devices 2 --device 1 "$FORKS" w
	fails 1 "no launch was chosen of " --launches 9999 "$PROGRAM" churn
	run -7 record --kernel none "$PROGRAM" three
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 1 ]
	grep -qx "gtrace-record: no kernel has a name that 'none' matches: there are add, bump" "$ERR"
	run -1 gtrace-cat --check "$OUT"
	[ "$(tail -n 1 <<<"$output")" = "gtrace-cat: $OUT: gtrace-record failed: no kernel has a name that 'none' matches: there are add, bump" ]
	fails 1 "no kernel has a name that 'none' matches" --kernel none "$PROGRAM" churn
	run -7 record --space none "$PROGRAM" three
	[ "$(ids)" = "1 2 3" ]
	[ "$(counter warp_instructions | head -n 1)" = "$all" ]
	[ "$(rows)" -eq 0 ]
	gtrace-cat --check "$OUT"
	expect_failure 2 "'none,global': expected none, or a list" gtrace-record --space none,global true
}

@test "the GPU of --gpu is written into the stream, and is the program's device" {
	record --gpu titanv "$PROGRAM" asks
	gtrace-cat "$OUT" | grep -q 'TITAN V'
	gtrace-cat --check "$OUT"
	record "$PROGRAM" asks
	run ! grep -q '^#gpu' <(gtrace-cat "$OUT")
}

@test "unsupported calls make the run fail, whatever the program returns" {
	status=0
	record "$PROGRAM" passes || status=$?
	[ "$status" -eq 1 ]
	grep -q '^Test passed' "$ERR"
	grep -q '^gtrace-record: cudaGraphicsMapResources: this call is not supported' "$ERR"
	grep -q '^gtrace-record: calls that are not supported would have made work or data: the stream has no end' "$ERR"
	# The traced part is in the stream, and no stage accepts it as complete.
	[ "$(names 2>cut | xargs)" = "add bump add" ]
	grep -q 'end' cut
	run ! gtrace-cat "$OUT"
	record --ignore-unsupported "$PROGRAM" passes
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 1 ]
	gtrace-cat --check "$OUT"
}

@test "ignored calls that change no result are named once" {
	status=0
	record "$PROGRAM" asks || status=$?
	[ "$status" -eq 0 ]
	[ "$(grep '^gtrace-record: ' "$ERR")" = "gtrace-record: cudaLogsDumpToFile: this call is not supported" ]
	gtrace-cat --check "$OUT"
}

@test "a program that launches no kernel fails, with the reason" {
	fails 1 "launched no kernel" "$PROGRAM" nothing
	record --ignore-unsupported "$PROGRAM" nothing
	grep -q 'warning: the program launched no kernel' "$ERR"
	gtrace-cat --check "$OUT"
	fails 1 "it needs no CUDA" true
	printf "#!/bin/sh\n" >script
	chmod +x script
	fails 1 "no program file of this machine" ./script
}

@test "accesses before a fault are in the stream" {
	run record --check fault "$PROGRAM" stray
	[ "$status" -ne 0 ]
	[ "$(names 2>cut | xargs)" = add ]
	# The first warp loads and stores; the second one's load is invalid.
	[ "$(gtrace-cat "$OUT" 2>cut | grep -cv '^#')" -eq 2 ]
	grep -q 'gtrace-record failed' cut
}

@test "a library of kernels that is missing is named, with the plug-in that does its work if there is one" {
	[ -z "$PRELOAD" ] || skip "the sanitizers' library prints its own line"
	echo 'int nppSet(void) { return 0; }' | gcc -shared -fPIC -Wl,-soname,libnppc.so.13 -x c - -o libnppc.so.13
	echo 'int nppSet(void); int main(void) { return nppSet(); }' | gcc -x c - -x none ./libnppc.so.13 -o program
	mkdir -p cudart/stub/npp
	cp "$BUILD"/cudart/lib* cudart
	mv libnppc.so.13 cudart/stub/npp
	fails 127 'it needs libnppc.so.13, whose kernels are not seen here: there is no plug-in that does its work' ./program
	grep -q 'libnppc.so.13: cannot open shared object file' "$ERR"
	export GTRACE_CUDART=$PWD/cudart
	fails 127 'it needs libnppc.so.13, whose kernels are not seen here (--stub npp does the work of libnpp on the host)' ./program
	fails 1 'brought no device code' --stub npp ./program
}

# bats test_tags=cuda,whole
@test "nvcc: libraries that run kernels of their own are named, if they are used" {
	needs_cuda
	[ -e "$CUDA_HOME/lib64/libcublas.so" ] || skip "no cuBLAS"
	cat >blas.cu <<-'END'
		#include <cublas_v2.h>
		#include <cstdio>
		#include <cstdlib>
		__global__ void k() {}
		int main(int argc, char **argv) {
			cublasHandle_t h = nullptr;
			if (argc > 1) k<<<1, 1>>>();
			cudaDeviceSynchronize();
			if (argc != 3) cublasCreate(&h);
			if (argc > 3) abort();
			printf("Test passed\n");
			return 0;
		}
	END
	nvcc -cudart shared -arch=sm_75 -o blas blas.cu -lcublas
	fails 1 "libcublas" ./blas
	grep -q 'the program launched no kernel of its own' "$ERR"
	fails 1 "libcublas" ./blas too
	record ./blas too unused
	gtrace-cat --check "$OUT"
	run ! grep -q libcublas "$ERR"
	# A program that looks at no error dies later.
	fails 134 "(Aborted): the stream has no end; it needs libcublas" ./blas too and died
}

# arrays ARGUMENT...: the names of the arrays in the last launch.
arrays() { LD_PRELOAD=${PRELOAD:-} gtrace-record "$@" 2>"$ERR" | gtrace-cat --no-rows | sed -n 's/.*stage=allocations.*\tnames=//p' | tail -n 1; }

# bats test_tags=cuda
@test "arrays are named by the variable and line of their allocation, by --name, or by the number of the call" {
	needs_cuda
	[ -z "$PRELOAD" ] || skip "the sanitizers' library has line numbers of its own, and stands between the call and the runtime"
	cat >my.cu <<-'END'
		__device__ float table[1024];
		__global__ void k(float *a, float *b) { b[32 * threadIdx.x] = a[threadIdx.x] + table[threadIdx.x]; }
		#define CHECK(call) do { if ((call) != cudaSuccess) return 1; } while (0)
		int main()
		{
			struct { float *of[2]; } parts;
			float *d_in, *d_out;
			CHECK(cudaMalloc(&d_in, 4096));
			if (cudaMalloc((void **)&d_out, 4096) != cudaSuccess) return 1;
			for (int i = 0; i < 2; i++)
				CHECK(cudaMalloc(reinterpret_cast<void **>(&parts.of[i]), 64));
			CHECK(cudaMalloc(i_to_pointer(&d_in),
					64));
			made<float>();
			k<<<1, 32>>>(d_in, d_out);
			return cudaDeviceSynchronize() != cudaSuccess;
		}
	END
	# Lines of a template are those of a file that nvcc's compiler reads, which is gone.
	sed -i 's/^__global__/template <class T> T *made() { T *own; cudaMalloc(\&own, 64); return own; } &/
		s/^int main/static float **i_to_pointer(float **p) { return p; }\n&/' my.cu
	nvcc -g -cudart shared -arch=sm_75 -o with my.cu
	strip --strip-debug -o without with
	[ "$(arrays ./with)" = "d_in my.cu:9,d_out my.cu:10,parts.of[i] my.cu:12,parts.of[i] my.cu:12 #2,cudaMalloc my.cu:13,own my.cu:2,table" ]
	[ "$(arrays ./without)" = "cudaMalloc 1,cudaMalloc 2,cudaMalloc 3,cudaMalloc 4,cudaMalloc 5,cudaMalloc 6,table" ]
	LD_PRELOAD=${PRELOAD:-} gtrace run --json ./without 2>"$ERR" | grep -q '"arrays": "cudaMalloc 2"'
	[ "$(arrays --name A,,C ./with)" = "A,d_out my.cu:10,C,parts.of[i] my.cu:12,cudaMalloc my.cu:13,own my.cu:2,table" ]
	# Without the source, the function; without addr2line, the number.
	mv my.cu elsewhere.cu
	[ "$(arrays ./with)" = "cudaMalloc my.cu:9,cudaMalloc my.cu:10,cudaMalloc my.cu:12,cudaMalloc my.cu:12 #2,cudaMalloc my.cu:13,cudaMalloc my.cu:2,table" ]
	expect_failure 2 "--name: 'a name that is too long for an arr" gtrace-record --name "A,a name that is too long for an array" ./with
}

@test "an array has the name of a variable in a source of 17 MB too" {
	command -v addr2line >/dev/null || skip "no addr2line"
	[ -z "$PRELOAD" ] || skip "the sanitizers' library has line numbers of its own, and stands between the call and the runtime"
	awk 'BEGIN { for (i = 0; i < 170000; i++) printf "// %97d\n", i }' | cat - "$ROOT/tests/cudart/forks.c" >big.c
	gcc -g -std=c11 -o big big.c -Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcudart.so.13"
	record ./big w
	[ "$(counter names)" = "word big.c:$((170000 + $(grep -n 'cudaMalloc(&word' "$ROOT/tests/cudart/forks.c" | cut -d: -f1)))" ]
	rm big.c
	mkfifo big.c # nothing waits for it
	record ./big w
	counter names | grep -qx 'cudaMalloc big.c:[0-9]*'
}

# bats test_tags=cuda,whole
@test "an array has the name of a variable only where the source shows which call of its line allocated it" {
	needs_cuda
	[ -z "$PRELOAD" ] || skip "the sanitizers' library has line numbers of its own, and stands between the call and the runtime"
	cat >several.cu <<-'END'
		#define CHECK(call) do { if ((call) != cudaSuccess) return 1; } while (0)
		#define ALLOC(p) cudaMalloc(&(p), 64)
		struct S { float *p, *q; };
		__global__ void k(float *a) { a[0] = 1; }
		static float *wrapped() { float *r; cudaMalloc(&r, 64); return r; }
		template <class T> void allocate(T **to) { cudaMalloc(to, 64); }
		int main(int n, char **)
		{
			float *a, *b, *c, *ptrs[4]; S s, *t = &s;
			cudaMalloc(&a, 64); cudaMalloc(&b, 64); cudaMalloc(&c, 64);
			CHECK(cudaMalloc((void **)&a, 64)); CHECK(cudaMalloc((void **)&b, 64)); // not cudaMalloc(&c, 64)
			for (int i = 0; i < 2; i++) cudaMalloc(&ptrs[i + 1], 64);
			for (int i = 0; i < 2; i++) {
				cudaMalloc(&ptrs[i], 64); cudaMalloc(&a, 64);
			}
			cudaMalloc(&s.p, 64); cudaMalloc(&t->q, 64);
			cudaMallocManaged(&a, 64); cudaMalloc(&b, 64);
			cudaMalloc(&a, 0); cudaMalloc(&b, 64);
			if (n > 1) cudaMalloc(&a, 64); else cudaMalloc(&b, 64);
			if (n > 1)
				cudaMalloc(&a, 64); cudaMalloc(&b, 64);
			ALLOC(a); cudaMalloc(&b, 64);
			cudaMalloc(n > 1 ? &a : &b, 64);
			wrapped(); wrapped(); allocate(&c); allocate(&a);
			const auto get = [](float **p) { cudaMalloc(p, 64); }; get(&a); cudaMalloc(&b, 64);
			k<<<1, 32>>>(a);
			return cudaDeviceSynchronize() != cudaSuccess;
		}
	END
	# What stands in the source, by hand; `cudaMalloc` where a line leaves it open.
	printf '%s several.cu:%s\n' a 10 b 10 c 10 a 11 b 11 'ptrs[i+1]' 12 'ptrs[i+1]' '12 #2' 'ptrs[i]' 14 a 14 'ptrs[i]' '14 #2' a '14 #2' s.p 16 't->q' 16 \
		a 17 b 17 b 18 cudaMalloc 19 cudaMalloc 21 cudaMalloc 22 cudaMalloc '22 #2' cudaMalloc 23 r 5 r '5 #2' to 6 to '6 #2' cudaMalloc 25 cudaMalloc '25 #2' >expected
	nvcc -g -O2 -w -cudart shared -arch=sm_75 -o several several.cu
	arrays ./several | tr , '\n' >found
	diff expected found
}

# bats test_tags=cuda
@test "arrays in shared memory have names in the trace, in counts of their passes, and in faults; namespaces are left out" {
	needs_cuda
	cat >own.cu <<-'END'
		#include <cstdlib>
		namespace some { __device__ float table[32]; }
		namespace other { __device__ float table[32]; }
		template <int N> __device__ void body(float *o) { __shared__ float tile[N][32]; tile[threadIdx.x / 2][0] = o[0]; __syncthreads(); o[0] = tile[1][0]; }
		namespace some { __global__ void kernel(float *o, int n)
		{
			__shared__ float tile[32];
			extern __shared__ float rest[];
			tile[threadIdx.x] = table[threadIdx.x] + other::table[0];
			rest[n] = 1;
			__syncthreads();
			o[1] = tile[threadIdx.x ^ 1] + rest[1];
			body<16>(o);
		} }
		int main(int n, char **words)
		{
			float *o;
			cudaMalloc(&o, 64);
			some::kernel<<<1, 32, 64>>>(o, n > 1 ? atoi(words[1]) : 1);
			return cudaDeviceSynchronize() != cudaSuccess;
		}
	END
	nvcc -cudart shared -arch=sm_75 -o own own.cu
	[ "$(arrays ./own)" = "cudaMalloc 1,table,table #2" ]
	LD_PRELOAD=$PRELOAD gtrace-record --space global,shared ./own >out
	[ "$(gtrace-cat --no-rows out | sed -n 's/.*stage=shared.*\tnames=//p' | tr , '\n' | sort | tr '\n' ,)" = "rest,tile,tile #2," ]
	[ "$(gtrace-cat --no-rows out | sed -n 's/.*stage=shared.*\tbytes=\[\([0-9,]*\)\].*/\1/p' | tr , '\n' | sort -n | tr '\n' ,)" = "64,128,2048," ]
	# The template's array is stored by pairs of lanes, 128 bytes apart: 16 lines of one bank; it is loaded at one address.
	gcoalesce out | gstats --csv | awk -F, '/^1,coalesce,.*#2/ { print $3, $4 }' >found
	[ "$(cat found)" = "$(printf 'tile #2.shared_accesses 2\ntile #2.bank_passes 17')" ]
	# Without shared memory in the trace, the list is not there.
	[ "$(LD_PRELOAD=$PRELOAD gtrace-record ./own | gtrace-cat --no-rows | grep -c stage=shared)" -eq 0 ]
	fails 1 "of shared memory: a block has 2240 bytes; nearest is 'rest', 64 bytes at 0x880" ./own 20
	fails 1 "of shared memory: a block has 2240 bytes; nearest is 'tile', 128 bytes at 0x" ./own -600
}

# bats test_tags=cuda
@test "a launch at fault, or none, is one line in a pipe: the next stages are told by the stream" {
	needs_cuda
	program at_fault
	for words in "./at_fault at-fault" ./at_fault; do
		run --separate-stderr bash -c "set -o pipefail; LD_PRELOAD=${PRELOAD:-} gtrace-record $words | gcoalesce | gstats"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ ${stderr_lines[0]} == "gtrace-record: "* ]]
	done
}

@test "arrays lie where cudaMalloc puts them, or where --at says" {
	needs_clang
	# Three arrays of 2 MiB, that is each at a multiple of them.
	placed() { sed 's/.*addresses=\[\(.*\)\].*names=\(.*\)/\1 \2/' <(gtrace-cat --no-rows "$OUT" | grep stage=allocations | tail -n 1); }
	base=$((0x200000000000)) mib=$((1 << 20))
	record --name A,B,C "$KERNELS/vectoradd" 524288 96
	[[ $(placed) == "$base,$((base + 2 * mib)),$((base + 4 * mib))"*" A,B,C"* ]] || { placed; false; }
	record --name A,B --at A=0x200001000000,3=0x200000c00000 "$KERNELS/vectoradd" 524288 96
	[[ $(placed) == "$base,$((base + 12 * mib)),$((base + 16 * mib))"*" B,"*",A"* ]] || { placed; false; }
	fails 2 "--at: 'A=0x1': expected a multiple of 512" --at A=0x1 "$KERNELS/vectoradd" 1000 96
	fails 1 "--at: there was no allocation 'nobody'" --at nobody=0x200001000000 "$KERNELS/vectoradd" 1000 96
	record --name A,B --at A=0x200001000000,B=0x200001000200 "$KERNELS/vectoradd" 524288 96 && false
	grep -q "^gtrace-record: --at: 'B', 2097152 bytes at 0x200001000200, overlaps 'A', 2097152 bytes at 0x200001000000" "$ERR"
}

@test "names of arrays that are left over are said" {
	needs_clang
	record --name A,B,C "$KERNELS/vectoradd" 1000 96
	[ "$(grep -c -e --name "$ERR")" -eq 0 ]
	record --name A,B,C,D "$KERNELS/vectoradd" 1000 96
	[ "$(grep -c '^gtrace-record: warning: --name has 4 names, and the program made 3 allocations$' "$ERR")" -eq 1 ]
	record --quiet --name A,B,C,D "$KERNELS/vectoradd" 1000 96
	[ "$(grep -c -e --name "$ERR")" -eq 0 ]
}

# bats test_tags=cuda
@test "an allocation is told from its successor at the same address although both have one name" {
	needs_cuda
	program pool
	LD_PRELOAD=${PRELOAD:-} gtrace-record --name one,one ./pool >"$OUT" 2>"$ERR" || [ $? -eq 1 ] # no kernel
	grep -qx '1 0' "$ERR"
}

@test "a faulting kernel stops the program with one line" {
	fails 1 "launch 1: " --check fault "$PROGRAM" stray
	grep -q "kernel add, PTX line 24, pc 0x18: block (0,0,0) thread (40,0,0): .* nearest is 'cudaMalloc 1', 160 bytes" "$ERR"
	grep -q '^before' "$ERR"
	run ! grep 'after' "$ERR"
	fails 1 "launch 1: " --max-instructions 10000 "$PROGRAM" endless
	fails 1 "PTX 2:4: " "$PROGRAM" broken-ptx
}

@test "damaged fat binaries give one line" {
	fails 1 "fat binary of 1152921504606846976 bytes" "$PROGRAM" wild-container
	fails 1 "entry at byte 16" "$PROGRAM" wild-entry
	fails 1 "no PTX" "$PROGRAM" no-ptx
	fails 1 "not a fat binary" "$PROGRAM" no-wrapper
	fails 1 "not a fat binary" "$PROGRAM" wild-list
	fails 1 "PTX 2: damaged cubin" "$PROGRAM" damaged-cubin
	fails 1 "fat binary without entries" "$PROGRAM" empty-container
	record "$PROGRAM" other-cubin
	grep -q 'PTX 2: the machine code has no registers of kernel k: they are estimated' "$ERR"
}

@test "a program that is killed or does not exist gives no complete stream" {
	status=0
	record "$PROGRAM" crash || status=$?
	[ "$status" -eq 134 ]
	grep -q 'was ended by a signal (Aborted): the stream has no end' "$ERR"
	run -1 gtrace-cat "$OUT"
	fails 137 "was ended by a signal (Killed), having used up to " "$PROGRAM" killed
	fails 127 "nonesuch" ./nonesuch
	fails 1 "-cudart shared" "$PROGRAM" no-cuda
	fails 1 "-cudart shared" true
}

@test "whatever signal ends it, the program ends too, and it says so" {
	LD_PRELOAD=${PRELOAD:-} python3 "$ROOT/tests/orphans.py" 2 gtrace-record "$(command -v sleep)" 60
}

@test "one of a script's programs is recorded" {
	record sh -c "'$PROGRAM' no-cuda; '$PROGRAM' three; exit 5" || status=$?
	[ "$status" -eq 5 ]
	[ "$(ids)" = "1 2 3" ]
	record sh -c "'$PROGRAM' three; '$PROGRAM' three" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'second program' "$ERR"
}

@test "a process that the program forks after a call may not ask for work, as on a GPU" {
	record "$PROGRAM" forked
	[ "$(grep -c 'a process that the program forked after a call of CUDA asks for work, and gets cudaErrorInitializationError, as on a GPU$' "$ERR")" -eq 1 ]
	grep -qx 'child: 3' "$ERR"
	gtrace-cat --check "$OUT"
	[ "$(ids)" = "1 2" ]
}

@test "wrong usage" {
	expect_failure 2 "expected a program" gtrace-record
	expect_failure 2 "--blocks" gtrace-record --blocks 0 true
	expect_failure 2 "--launches" gtrace-record --launches 0-3 true
	expect_failure 2 "--launches" gtrace-record --launches x true
	expect_failure 2 "--kernel" gtrace-record --kernel '(' true
	expect_failure 2 "global, local, shared" gtrace-record --space global,glob true
	expect_failure 2 "no such GPU" gtrace-record --gpu voodoo2 true
	expect_failure 2 "--memory" gtrace-record --memory 1T true
	expect_failure 1 "GTRACE_CUDART" env GTRACE_CUDART=/nonexistent gtrace-record true
	expect_failure 1 "nonexistent" gtrace-record --stdout /nonexistent/x true
}

# bats test_tags=whole
@test "clang: the examples compute what the CPU computes" {
	needs_clang
	for program in "$KERNELS"/*.ptx; do
		program=${program%.ptx}
		# The programs of the suites use the suites' sizes by default; kernels.bats runs all programs at small sizes.
		case $program in */polybench_* | */rodinia_*) continue ;; esac
		record "$program" || { echo "$program"; cat "$ERR"; return 1; }
		grep -qE '^(# )?ok($|, unchecked)' "$ERR" || { echo "$program"; cat "$ERR"; return 1; }
		gtrace-cat --check "$OUT" || { echo "$program"; return 1; }
	done
	record "$KERNELS/vectoradd" 1000 96
	# 11 blocks of 3 warps; the last 8 threads of 32 warps are beyond 1000 in the last.
	[ "$(counter accesses)" -eq $((32 * 3)) ]
	[ "$(counter registers_estimated)" -eq 1 ]
	gcoalesce "$OUT" | gstats --csv | grep -qx '1,coalesce,sectors,375'
}

# nvcc_program: a program of two units that checks itself.
nvcc_sources() {
	cat >main.cu <<-'C'
		#include <cstdio>
		__constant__ float factors[4];
		__managed__ int calls;
		extern void run(float *a, int n);
		static __device__ __noinline__ float own(float x) { return x; }
		#ifdef SEPARATE
		__device__ __noinline__ float half_of(float x) { return x / 2; }
		#endif
		__global__ void scale(float *a, int n)
		{
			__shared__ float tile[128];
			int i = blockIdx.x * blockDim.x + threadIdx.x;
			tile[threadIdx.x] = i < n ? a[i] : 0;
			__syncthreads();
			if (i < n)
				a[i] = own(tile[threadIdx.x] * factors[i % 4]);
			if (i == 0)
				calls++;
		}
		int main()
		{
			const int n = 1000;
			float host[n], f[4] = {1, 2, 3, 4}, *a;
			for (int i = 0; i < n; i++)
				host[i] = i;
			cudaMalloc(&a, sizeof host);
			cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
			cudaMemcpyToSymbol(factors, f, sizeof f);
			scale<<<(n + 127) / 128, 128>>>(a, n);
			run(a, n);
			cudaDeviceSynchronize();
			cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
			int bad = calls != 1;
			for (int i = 0; i < n; i++)
				bad += host[i] != i * f[i % 4] + 0.5f;
			cudaDeviceProp p;
			cudaGetDeviceProperties(&p, 0);
			printf("%s, %d SMs, %d bad, %s\n", p.name, p.multiProcessorCount, bad, cudaGetErrorString(cudaGetLastError()));
			return bad != 0;
		}
	C
	cat >more.cu <<-'C'
		#ifdef SEPARATE
		extern __device__ float half_of(float x);
		#else
		static __device__ float half_of(float x) { return x / 2; }
		#endif
		static __device__ __noinline__ float own(float x) { return 3 * x; }
		__global__ void shift(float *a, int n)
		{
			int i = blockIdx.x * blockDim.x + threadIdx.x;
			if (i < n)
				a[i] += own(half_of(1)) - 1;
		}
		void run(float *a, int n) { shift<<<(n + 255) / 256, 256>>>(a, n); }
	C
}

# bats test_tags=cuda,whole
@test "nvcc: two units, compiled separately, for several architectures, in every compression, with streams of threads" {
	needs_cuda
	nvcc_sources
	# The first is PTX alone, which a driver links.
	few 1 "-rdc=true -DSEPARATE -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=compute_80" "-rdc=true -DSEPARATE -arch=sm_75" \
		"-gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90" \
		"-arch=sm_75 --compress-mode "{none,size,speed,balance} "-arch=sm_75 --default-stream per-thread"
	for options in "${FEW[@]}"; do
		# shellcheck disable=SC2086 # options are words
		nvcc -cudart shared $options -o program main.cu more.cu
		record --gpu h100 ./program || { cat "$ERR"; return 1; }
		grep -q 'H100.*, 0 bad, no error' "$ERR"
		[ "$(names | xargs)" = "scale shift" ]
		# 32 warps of 1000 threads: scale loads, loads a constant and stores, and one warp counts; shift loads and stores.
		[ "$(counter accesses | xargs)" = "98 64" ]
		[ "$(counter registers_estimated | xargs)" = "$([[ $options == *sm_* ]] && echo 0 0 || echo 1 1)" ]
	done
}

# bats test_tags=cuda
@test "nvcc: programs without PTX, and with the static runtime" {
	needs_cuda
	echo '__global__ void k() {} int main() { k<<<1, 1>>>(); return 0; }' >one.cu
	nvcc -gencode arch=compute_80,code=sm_80 -c one.cu
	nvcc -cudart shared -o program one.o
	fails 1 "no PTX" ./program
	nvcc -cudart static -o program one.o
	fails 1 "linked with the static CUDA runtime" ./program
	echo 'int main() { return 0; }' >none.cpp
	nvcc -O2 -cudart shared -o program none.cpp
	fails 1 "it needs no CUDA library" ./program
}

# bats test_tags=cuda,whole
@test "nvcc: static kernels and variables of one name in two units that are compiled separately" {
	needs_cuda
	cat >one.cu <<-'C'
		#include <cstdio>
		extern void run_two(int *to);
		static __constant__ int some;
		static __device__ int other;
		static __global__ void put(int *to) { *to = some + other; }
		int main()
		{
			int *to, host[2], one = 1;
			cudaMalloc(&to, sizeof host);
			cudaMemcpyToSymbol(some, &one, sizeof one);
			put<<<1, 1>>>(to);
			run_two(to + 1);
			cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost);
			printf("%d %d\n", host[0], host[1]);
			return 0;
		}
	C
	cat >two.cu <<-'C'
		#include <cstdio>
		static __constant__ int some;
		static __device__ int other;
		static __global__ void put(int *to) { *to = some + other; }
		void run_two(int *to)
		{
			int two = 2, ten = 10;
			printf("%d", (int)cudaMemcpyToSymbol(some, &two, sizeof two));
			printf("%d\n", (int)cudaMemcpyToSymbol(other, &ten, sizeof ten));
			put<<<1, 1>>>(to);
		}
	C
	nvcc -cudart shared -arch=sm_80 -rdc=true -o program one.cu two.cu
	record ./program || { cat "$ERR"; return 1; }
	grep -qx '00' "$ERR"
	grep -qx '1 12' "$ERR"
	[ "$(names | wc -l)" -eq 2 ]
}

@test "the commands in the manual run" {
	needs_clang
	cp -a "$KERNELS" kernels
	if [ -n "${PRELOAD:-}" ]; then
		mkdir bin
		printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$PRELOAD" "$(command -v gtrace-record)" >bin/gtrace-record
		chmod +x bin/gtrace-record
		PATH=$PWD/bin:$PATH
	fi
	run_man_examples gtrace-record.1
}

# bats test_tags=cuda
@test "nvcc: a launch's cache preferences are in its record, and other attributes are named" {
	needs_cuda
	program wishes
	record ./wishes || { cat "$ERR"; return 1; }
	grep -q 'max 31457280 134217728' "$ERR"
	grep -q '^00 no error' "$ERR"
	gtrace-cat --no-rows "$OUT" | grep '^#kernel' | sed 's/.*l1_bytes=0//' | tr '\t' ' ' >said
	diff said - <<-'END'

		 l2_window=0x200000000000,512,250000,persisting,streaming l2_fetch_bytes=128 l2_persisting_bytes=1048576 carveout=25
		 l2_fetch_bytes=128 l2_persisting_bytes=1048576 carveout=0
		 l2_window=0x200000000000,512,250000,persisting,streaming l2_fetch_bytes=128 l2_persisting_bytes=1048576 carveout=75
		 l2_window=0x200000000000,512,250000,persisting,streaming l2_fetch_bytes=128 l2_persisting_bytes=1048576 carveout=75
	END
	grep '^gtrace-record' "$ERR" | sed 's/:[^:]*$//' >said
	diff said - <<-'END'
		gtrace-record: cudaDeviceSetLimit: cudaLimitStackSize
		gtrace-record: cudaLaunchAttributePriority
		gtrace-record: cudaCtxResetPersistingL2Cache: has no effect
	END
}

# bats test_tags=cuda,whole
@test "nvcc: clusters are in the launch records, and refused where the GPU has none" {
	needs_cuda
	cat >cluster.cu <<-'END'
		#include <cstdio>
		__global__ void k(float *a) { a[threadIdx.x] += 1; }
		__global__ void __cluster_dims__(2) always(float *a) { a[threadIdx.x] += 1; }
		int main() {
			float *a; cudaMalloc(&a, 1024);
			cudaLaunchAttribute at[1] = {};
			at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim = {4, 1, 1};
			cudaLaunchConfig_t c = {8, 32, 0, 0, at, 1};
			int error = cudaLaunchKernelEx(&c, k, a);
			always<<<2, 32>>>(a);
			printf("%d %d\n", error, cudaGetLastError());
			return 0;
		}
	END
	nvcc -cudart shared -arch=sm_90 -o cluster cluster.cu
	record --gpu h100 ./cluster
	grep -q '^0 0$' "$ERR"
	gtrace-cat "$OUT" >text
	[ "$(sed -n 's/^#kernel.*\tcluster=//p' text | tr '\n' ' ')" = "4,1,1 2,1,1 " ]
	[ "$(gtrace-cat --from text | gtrace-cat | grep -c '^#kernel.*cluster=')" -eq 2 ]
	gschedule "$OUT" >scheduled 2>said
	[ "$(cat said)" = "gschedule: warning: kernel k runs in clusters of (4,1,1) blocks: their blocks are placed one by one" ]
	gtrace-cat scheduled | grep -q '^#kernel.*cluster=2,1,1'
	status=0
	record --gpu a100 ./cluster || status=$?
	[ "$status" -le 1 ]
	grep -q '^912 912$' "$ERR"
}

# bats test_tags=cuda
@test "nvcc: output of kernels is in the program's output" {
	needs_cuda
	program prints
	record --stdout said ./prints || { cat "$ERR"; return 1; }
	line='-3|7    |00abc|q|managed|2.500|-5000000000|-2|%|   right|  42|18446744073709551615'
	diff said - <<-END
		before
		$line
		$line
		lane 1 took 12
		no arguments
		no arguments
		no error
	END
	[ ! -s "$ERR" ]
	gtrace-cat --check "$OUT"
	record --replay --stdout again ./prints
	cmp said again
	fails 1 'printf of an argument at 0x0, where there is none' --check fault ./prints missing
}

# bats test_tags=cuda
@test "nvcc: a failed assertion is CUDA's error, and the stream has no end" {
	needs_cuda
	program asserts
	status=0
	record ./asserts || status=$?
	[ "$status" -eq 1 ]
	grep -q '^710 710 710 710$' "$ERR"
	grep -q 'asserts.cu:4: void .*k(int \*): block: \[0,0,0\], thread: \[30,0,0\] Assertion `threadIdx.x < 30. failed.$' "$ERR"
	[ "$(grep -c 'Assertion' "$ERR")" -eq 2 ]
	grep -q "^gtrace-record: launch 1: kernel _Z[A-Za-z0-9]*1kEPi, .*: assertion 'threadIdx.x < 30' does not hold" "$ERR"
	[ "$(gtrace-cat "$OUT" 2>cut | awk '!/^#/ { n++ } END { print n + 0 }')" -eq 1 ]
	grep -q 'end' cut
}

# bats test_tags=cuda
@test "nvcc: --memcheck ends a launch at a trap or an assertion, and finds what is wrong in the others" {
	needs_cuda
	program three_faults
	status=0
	record --memcheck ./three_faults || status=$?
	[ "$status" -eq 1 ]
	grep -q '^0 0 710$' "$ERR"
	grep '^gtrace-record: ' "$ERR" >said
	[ "$(wc -l <said)" -eq 4 ]
	sed -n 1p said | grep -q 'kernel _Z[A-Za-z0-9_]*5traps[A-Za-z]*, .* thread (5,0,0): trap: the launch ends here, and so does the stream$'
	sed -n 2p said | grep -q 'kernel _Z[A-Za-z0-9_]*6strays[A-Za-z]*, .* thread (0,0,0): store of 4 bytes at 0x200000000080: outside every allocation'
	sed -n 3p said | grep -q "kernel _Z[A-Za-z0-9_]*7asserts[A-Za-z]*, .* thread (6,0,0): assertion 'threadIdx.x != 6' does not hold: the launch ends here"
	sed -n 4p said | grep -q 'memcheck: 1 instructions at fault, 32 accesses by threads, 2 launches that ended early: the stream has no end$'
	[ "$(gtrace-cat "$OUT" 2>cut | grep -c '^#kernel')" -eq 1 ]
	grep -q "gtrace-record failed: memcheck: 1 instructions at fault" cut
}

# bats test_tags=cuda
@test "nvcc: a fault names the source line, and --ptx writes the PTX text" {
	needs_cuda
	cat >stray.cu <<-'END'
		__device__ __noinline__ void put(int *a, int i) {
			a[i] = i; }
		__global__ void k(int *a) { put(a, threadIdx.x); }
		int main() { int *a; cudaMalloc(&a, 40); k<<<1, 32>>>(a); return 0; }
	END
	nvcc -cudart shared -arch=sm_75 -lineinfo -o stray stray.cu
	mkdir texts
	fails 1 "(stray.cu:2): block (0,0,0) thread (10,0,0): store of 4 bytes" --check fault --ptx texts ./stray
	[ "$(ls texts)" = 1.ptx ]
	line=$(sed -n 's/.*PTX line \([0-9]*\), .*/\1/p' "$ERR")
	sed -n "${line}p" texts/1.ptx | grep -q 'st\.'
	expect_failure 2 "--ptx" gtrace-record --ptx nowhere ./stray
}

# bats test_tags=cuda,whole
@test "nvcc: the estimate of registers is at most a thread's limit" {
	needs_cuda
	nvcc -cudart shared -gencode arch=compute_80,code=compute_80 -o many "$ROOT/tests/cuda/many_registers.cu"
	record ./many
	# The second kernel has __launch_bounds__(256, 4).
	[ "$(counter registers | xargs)" = "255 64" ]
	[ "$(counter registers_estimated | xargs)" = "1 1" ]
}

# bats test_tags=cuda,whole
@test "nvcc: a block has the registers that its warps take in units; local memory that PTX has not, or machine code, is named" {
	needs_cuda
	nvcc -cudart shared -arch=sm_80 -o registers "$ROOT/tests/cuda/launch_registers.cu"
	record ./registers || { cat "$ERR"; return 1; }
	grep -qx PASS "$ERR"
	grep -qx 'gtrace-record: warning: kernel crowded: the machine code has [1-9][0-9]* bytes of local memory a thread, the PTX 0: accesses to spilled registers are not traced' "$ERR"
	grep -qx 'gtrace-record: warning: kernel picks: the machine code has no local memory, the PTX 96 bytes a thread: accesses to it are traced that a GPU does not make' "$ERR"
	[ "$(grep -c 'local memory' "$ERR")" -eq 2 ]
	record --space global ./registers
	[ "$(grep -c 'local memory' "$ERR")" -eq 0 ]
}

# bats test_tags=cuda,whole
@test "nvcc: --ptxas takes the number of registers from ptxas" {
	needs_cuda
	echo '__global__ void k(float *a) { a[threadIdx.x] *= 2; } int main() { float *a; cudaMalloc(&a, 128); k<<<1, 32>>>(a); }' >one.cu
	nvcc -cudart shared -gencode arch=compute_80,code=compute_80 -o one one.cu
	nvcc -cudart shared -gencode arch=compute_80,code=[compute_80,sm_80] -o both one.cu
	record ./both
	expected=$(counter registers)
	record --ptxas ./one
	[ "$(counter registers)" -eq "$expected" ]
	[ "$(counter registers_estimated)" -eq 0 ]
	mkdir empty
	ln -s "$(command -v env)" empty/env
	status=0
	LD_PRELOAD=${PRELOAD:-} PATH=$PWD/empty "$(command -v gtrace-record)" --ptxas ./one >"$OUT" 2>"$ERR" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'ptxas makes no machine code for sm_80 of PTX 1' "$ERR"
	status=0
	TMPDIR=$PWD/none record --ptxas ./one || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat "$ERR")" = "gtrace-record: $PWD/none: cannot make a temporary folder: No such file or directory" ]
}

@test "accesses outside of every allocation pass in pages that hardware maps, are listed, or stop the program" {
	# 100 threads add to 40 words: 60 loads and 60 stores go outside.
	fails 1 "outside every allocation" --check fault "$PROGRAM" stray
	record --check list "$PROGRAM" stray
	grep -q '^after' "$ERR"
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 2 ]
	grep -q '^gtrace-record: kernel add, PTX line 24, pc 0x18: 60 thread accesses outside of every allocation, the first a load at 0x2000000000a0$' "$ERR"
	grep -q '^gtrace-record: kernel add, PTX line 26, pc 0x1a: 60 thread accesses outside of every allocation, the first a store at 0x2000000000a0$' "$ERR"
	gtrace-cat --check "$OUT"
	[ "$(rows)" -eq 8 ]
	for check in "" "--check page" "--check page -j 2"; do
		# shellcheck disable=SC2086 # words
		record $check "$PROGRAM" stray
		[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 2 ]
		grep -q '^gtrace-record: kernel add, PTX line 24, pc 0x18: 60 thread accesses .* a load at 0x2000000000a0, where hardware has memory$' "$ERR"
		grep -q '^gtrace-record: kernel add, PTX line 26, pc 0x1a: 60 thread accesses .* a store at 0x2000000000a0, where hardware has memory$' "$ERR"
		gtrace-cat --check "$OUT"
		[ "$(rows)" -eq 8 ]
	done
	expect_failure 2 "--check" gtrace-record --check maybe true
}

# bats test_tags=cuda
@test "nvcc: a kernel that stores nothing and waits for the host is held, with the work behind it, until the host waits" {
	needs_cuda
	program gate
	record ./gate open
	[ "$(grep '^6 ' "$ERR" | xargs)" = '6 206 cudaSuccess 6 206' ]
	gtrace-cat "$OUT" | grep -v '^#\(history\|end\)' >expected
	[ "$(names | xargs)" = "gate twice twice" ]
	for how in sync event copy x; do
		record ./gate "$how"
		grep -qx '3 103 cudaErrorNotReady' "$ERR"
		grep -qx "$([ $how = x ] && echo '3 103' || echo '6 206')" "$ERR"
		diff <(gtrace-cat "$OUT" | grep -v '^#\(history\|end\)') expected
	done
	for how in none pageable; do
		fails 1 "launch 1: kernel _ZN8programs4gate4gateEPVj, " ./gate "$how"
		grep -qx '3 103 cudaErrorNotReady' "$ERR"
	done
}

@test "--memcheck names the first read of device memory that nothing has written" {
	# 20 of 40 words; the kernel has written them when it adds again.
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level run ! record --memcheck "$PROGRAM" unwritten
		grep '^gtrace-record: ' "$ERR" >said
		[ "$(wc -l <said)" -eq 2 ]
		[ "$(head -n 1 said)" = "gtrace-record: kernel add, PTX line 24, pc 0x18: block (0,0,0) thread (20,0,0): load of 4 bytes at 0x200000000050, where nothing was written, in 'cudaMalloc 1', 160 bytes at 0x200000000000" ]
		[ "$(tail -n 1 said)" = "gtrace-record: memcheck: 1 instructions at fault, 20 accesses by threads: the stream has no end" ]
	done
	record "$PROGRAM" unwritten
}

@test "--memcheck reports each instruction at fault once and goes on; freed memory is given out late" {
	# 60 loads and 60 stores go outside.
	fails_memcheck() {
		run ! record --memcheck "$@"
		grep -q '^after' "$ERR"
		[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 3 ]
		grep '^gtrace-record: ' "$ERR" | tail -n 1 | grep -q "^gtrace-record: memcheck: 2 instructions at fault, $COUNT accesses by threads: the stream has no end$"
		[ "$(rows 2>cut)" -eq "$ROWS" ]
		grep -q 'end' cut
	}
	COUNT=120 ROWS=8 fails_memcheck "$PROGRAM" stray
	grep -q "^gtrace-record: kernel add, PTX line 24, pc 0x18: block (0,0,0) thread (40,0,0): load of 4 bytes at 0x2000000000a0: outside every" "$ERR"
	grep -q "^gtrace-record: kernel add, PTX line 26, pc 0x1a: block (0,0,0) thread (40,0,0): store of 4 bytes at 0x2000000000a0: outside every" "$ERR"
	COUNT=128 ROWS=4 fails_memcheck --quiet --ignore-unsupported "$PROGRAM" use-after-free
	grep -q "^gtrace-record: kernel add, PTX line 24, pc 0x18: .* load of 4 bytes at 0x200000000000: 'cudaMalloc 1', 256 bytes at 0x200000000000, was freed$" "$ERR"
	record "$PROGRAM" use-after-free
	# All of 8M of address space is freed several times over.
	record --memcheck --memory 4M "$PROGRAM" churn
	gtrace-cat --check "$OUT"
	grep -q '^same 0$' "$ERR"
	record --memory 4M "$PROGRAM" churn
	grep -q '^same 400$' "$ERR"
	expect_failure 2 "--memcheck: --check was given too" gtrace-record --check page --memcheck true
	expect_failure 2 "--check: 'list': --memcheck was given too" gtrace-record --memcheck --check list true
}

@test "what --memory limits is said once, and a wrong option is the only message of a pipe" {
	record --ignore-unsupported "$PROGRAM" api || { cat "$ERR"; return 1; }
	grep -qx "gtrace-record: warning: cudaMalloc of 35184372088832 bytes: out of memory: the device has 17179869184 bytes, of which [0-9]* are in use (--memory gives it more)" "$ERR"
	[ "$(grep -c -e '--memory' "$ERR")" -eq 1 ]
	record --quiet --ignore-unsupported "$PROGRAM" api
	run ! grep -q -e '--memory' "$ERR"
	# What this machine has not: one line, whether the system gives it or not.
	if [ "$(awk '/^MemTotal/ {print int($2 / 1e6)}' /proc/meminfo)" -lt 60 ]; then
		record --memory 64G "$PROGRAM" large
		[ "$(grep -c '^gtrace-record: warning: cudaMalloc of [0-9]* bytes: .*this machine has [0-9.]* GB of memory' "$ERR")" -eq 1 ]
	fi
	run bash -c 'gtrace-record --gpu titnav true | gcoalesce | gstats'
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "gtrace-record: --gpu: 'titnav': no such GPU: did you mean 'titanv'? "* ]]
}

@test "host code that uses device memory is named once, and works" {
	record "$PROGRAM" host-access
	grep -q '^found 42 and 0$' "$ERR"
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 1 ]
	grep -q "^gtrace-record: warning: host code accesses device memory at 0x20000000001c ('cudaMalloc 1'), which crashes with a GPU$" "$ERR"
	# What is the host's too is not named.
	[ "$(grep -n '^shared$' "$ERR" | cut -d: -f1)" -eq 1 ]
	gtrace-cat --check "$OUT"
	mv "$OUT" named
	record --quiet "$PROGRAM" host-access
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 0 ]
	# Beside the history, which has the arguments, and the end, whose checksum it changes, the streams are the same.
	diff <(gtrace-cat named | grep -v '^#history') <(gtrace-cat "$OUT" | grep -v '^#history')
}

@test "threads of a program use the runtime at the same time" {
	record "$PROGRAM" threads
	grep -qx '0 wrong' "$ERR"
	gtrace-cat --check "$OUT"
	[ "$(names | sort | uniq -c | xargs)" = "40 add" ]
	[ "$(rows)" -eq $((40 * 16)) ] # 8 warps load and store
}

@test "a program that crashes of itself crashes as it would without a handler" {
	status=0
	record "$PROGRAM" null || status=$?
	# 128 + SIGSEGV; a sanitizer exits by itself
	[ "$status" -eq 139 ] || nm "$(command -v gcache)" | grep -q __asan_
	run -1 gtrace-cat "$OUT"
}

# handles ARGUMENT...: tests/cudart/handles.c
handles() {
	gcc -std=c11 -Wall -Wextra -Werror -o handles "$ROOT/tests/cudart/handles.c" -Wl,--no-as-needed "$BUILD/cudart/libcudart.so.13" -ldl
	record --ignore-unsupported --stdout said ./handles "$@"
}

@test "what is no handle, or a destroyed one, gives CUDA's error in every call" {
	handles || { cat "$ERR"; return 1; }
	cat said
	[ "$(cat said)" = "189 calls" ]
}

@test "a program that gives a call a pointer to nowhere ends by its own fault, and the call is named" {
	if nm "$(command -v gcache)" | grep -q __asan_; then skip "instrumented"; fi
	for call in cudaMemcpy cudaMalloc cudaGetDeviceCount; do
		status=0
		handles $call || status=$?
		[ "$status" -eq 139 ]
		grep -qx "gtrace-record: $call: the program ends by its own fault: what it gave the call leads to address 0x8, where there is no memory" "$ERR"
		[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 2 ]
	done
	# A signal that somebody sends is no fault of a call, and is not lost.
	status=0
	record "$PROGRAM" segv || status=$?
	[ "$status" -eq 139 ]
	run ! grep -q 'went on' "$ERR"
	run ! grep -q 'own fault' "$ERR"
}

# older MAJOR SONAME: tests/cudart/older.c, linked with a library of that name that has its calls' names and no more.
older() {
	grep -oE '\b(__)?cuda[A-Z][A-Za-z_0-9]+\(' "$ROOT/tests/cudart/older.c" | tr -d '(' | sort -u >calls
	[ "$(wc -l <calls)" -gt 20 ]
	{ sed 's/.*/void &(void) {}/' calls; echo "void cudaGetDeviceProperties_v2(void) {}"; echo "void cudaGetDeviceProperties(void) {}"; } |
		sort -u >names.c
	echo "$2 { cuda*; __cuda*; };" >names.map
	mkdir -p "$1"
	gcc -shared -fPIC -fno-builtin -o "$1/$2" names.c -Wl,-soname,"$2",--version-script,names.map
	gcc -std=c11 -Wall -Wextra -Werror -DMAJOR="$1" -DRUNTIME="\"$2\"" -o older "$ROOT/tests/cudart/older.c" "$1/$2"
	record ./older || { cat "$ERR"; return 1; }
	[ "$(grep -v '^gtrace-record: textures' "$ERR")" = PASS ] || { cat "$ERR"; return 1; }
	[ "$(names)" = set ]
	gtrace-cat --check "$OUT"
}

@test "a program of CUDA 12, whose structures and calls differ" { older 12 libcudart.so.12; }

@test "a program of CUDA 11, whose structures and calls differ" { older 11 libcudart.so.11.0; }

@test "programs of CUDA 10.1 and 10.2, whose structures and calls differ" {
	older 10 libcudart.so.10.1
	older 10 libcudart.so.10.2
	LD_PRELOAD=${PRELOAD-} gtrace-record ./older 2>err | gtrace-cat --check
	# CUDA 10.0 numbers its errors in another way, and programs before 9.2 launch in another way.
	sed 's/10\.2/10.0/' names.map >other.map
	gcc -shared -fPIC -fno-builtin -o libcudart.so.10.0 names.c -Wl,-soname,libcudart.so.10.0,--version-script,other.map
	gcc -std=c11 -DMAJOR=10 -DRUNTIME='"libcudart.so.10.0"' -o older "$ROOT/tests/cudart/older.c" libcudart.so.10.0
	status=0
	gtrace-record ./older >out 2>err || status=$?
	[ "$status" -eq 127 ]
	grep -qx 'gtrace-record: ./older did not start: it needs libcudart.so.10.0, which is not stood in for: build it by CUDA 10.1 to 13' err
}
