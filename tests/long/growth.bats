# SPDX-License-Identifier: MIT
# grd from 10^4 to 10^8 rows: a minute and a half. What the machine of PTX does for each label, function and allocation. What each stage takes for
# 10^6 launches and blocks, 10^5 instructions, arrays and names of kernels: three minutes.

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "time grows with the rows, exact memory with the lines, sampled memory hardly at all" {
	"$ROOT/tests/bench/growth" "$(dirname "$(command -v grd)")" "$BUILD" 8 >table
	cat table
	[ "$(wc -l <table)" -eq 6 ]
	awk 'NR > 1 && $2 >= 1e6 && $6 >= 32 { exit 1 }' table
	awk 'NR > 1 && $9 > 16 { exit 1 }' table
	# For logarithms and caches, a hundred times the lines may take at most four times as long per row.
	awk '{ rate[$1] = $3 } END { exit !(rate[100000000] > rate[1000000] / 4) }' table
}

# least COMMAND...: the least seconds of processor time of three runs.
least() { for _ in 1 2 3; do "$BUILD/tests/bench/used" "$@" 2>&1 >/dev/null | awk '{ print $1 }'; done | sort -g | head -n 1; }

# linear SMALL LARGE: twice as much takes at most 2.5 times as long, and half a second.
linear() { awk -v small="$1" -v large="$2" 'BEGIN { print small, large; exit !(large > 0 && large <= 0.5 && large <= 2.5 * small + 0.02) }'; }

@test "PTX: time is linear in labels with their constants, and in functions" {
	for n in 10000 20000; do
		awk -v n=$n 'BEGIN {
			print ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{"
			print ".reg .b32 %r<4>;\n.reg .pred %p<3>;\nmov.u32 %r1,%tid.x;"
			for (i = 0; i < n; i++)
				printf "setp.eq.s32 %%p1,%%r1,%d;\n@%%p1 bra L%d;\nadd.s32 %%r1,%%r1,1;\nL%d:\n", i, i, i
			print "ret;\n}"
		}' >labels$n.ptx
		awk -v n=$n 'BEGIN {
			print ".version 7.0\n.target sm_70\n.address_size 64"
			for (i = 0; i < n; i++)
				printf ".func f%d()\n{\nret;\n}\n", i
			print ".visible .entry k(.param .u64 a)\n{"
			for (i = 0; i < n; i++)
				printf "call f%d;\n", i
			print "ret;\n}"
		}' >calls$n.ptx
	done
	for what in labels calls; do
		linear "$(least gtrace-ptx --launch 'k<<<1,32>>>(null)' ${what}10000.ptx)" \
			"$(least gtrace-ptx --launch 'k<<<1,32>>>(null)' ${what}20000.ptx)"
	done
}

@test "device memory: time is linear in allocations, of which every other one is freed and made anew, larger" {
	command -v nvcc >/dev/null || skip "needs nvcc"
	cat >many.cu <<-'END'
		#include <cstdio>
		#include <cstdlib>
		__global__ void k(int *a) { *a = 1; }
		int main(int, char **arguments)
		{
			int n = atoi(arguments[1]);
			int **all = (int **)malloc(n * sizeof *all);
			for (int i = 0; i < n; i++)
				if (cudaMalloc(&all[i], i * 37 % 5000 + 4) != cudaSuccess)
					return 1;
			k<<<1, 1>>>(all[0]);
			for (int i = 0; i < n; i += 2)
				cudaFree(all[i]);
			for (int i = 0; i < n; i += 2)
				if (cudaMalloc(&all[i], i * 53 % 6000 + 4) != cudaSuccess)
					return 1;
			return cudaDeviceSynchronize() != cudaSuccess;
		}
	END
	nvcc -cudart shared -arch=sm_75 -o many many.cu
	linear "$(least gtrace-record ./many 20000)" "$(least gtrace-record ./many 40000)"
}

# bytes COMMAND...: of memory at its peak.
bytes() { "$BUILD/tests/bench/used" "$@" 2>used >/dev/null && awk '{ print $2 }' used; }

# took SECONDS MEGABYTES COMMAND...: runs a stage, which may take so much processor time and memory at most; what it took stands in the file
# took, as a line "bad ..." if that was too much or it failed. The bounds are twice to three times what an idle machine of 2024 takes.
took() {
	local seconds=$1 megabytes=$2 used status=0
	shift 2
	used=$(mktemp "$BATS_TEST_TMPDIR/used.XXXXXX")
	"$BUILD/tests/bench/used" "$@" 2>"$used" || status=$?
	awk -v s="$seconds" -v m="$megabytes" -v status="$status" -v what="$*" 'END {
		print (status == 0 && $1 <= s && $2 <= m * 1e6 ? "good" : "bad"), $1 " s of " s ", " $2 / 1e6 " MB of " m ", status " status ": " what
	}' "$used" >>"$BATS_TEST_TMPDIR/took"
	return "$status"
}

# all_took N: there are N lines in that file, all good.
all_took() {
	cat "$BATS_TEST_TMPDIR/took"
	[ "$(grep -c '^good' "$BATS_TEST_TMPDIR/took")" -eq "$1" ] || return 1
	[ "$(grep -c '^bad' "$BATS_TEST_TMPDIR/took")" -eq 0 ] || return 1
}

@test "blocks that wait for each other take no time for the device memory that there is" {
	command -v nvcc >/dev/null || skip "needs nvcc"
	cat >rounds.cu <<-'END'
		#include <cooperative_groups.h>
		__global__ void rounds(int *n)
		{
			for (int i = 0; i < 2000; i++) {
				if (threadIdx.x == 0)
					atomicAdd(n, 1);
				cooperative_groups::this_grid().sync();
			}
		}
		int main()
		{
			char *much;
			int *n, sum = 0;
			cudaMalloc(&much, 8ull << 30);
			cudaMalloc(&n, sizeof *n);
			cudaMemset(n, 0, sizeof *n);
			void *arguments[] = {&n};
			cudaLaunchCooperativeKernel((void *)rounds, 16, 64, arguments);
			cudaMemcpy(&sum, n, sizeof sum, cudaMemcpyDeviceToHost);
			return sum != 16 * 2000;
		}
	END
	nvcc -cudart shared -arch=sm_75 -rdc=true -o rounds rounds.cu -lcudadevrt
	took 0.5 60 gtrace-record --space none ./rounds >/dev/null
	all_took 1
}

@test "10^6 launches of 20 kernels: no stage takes more than 25 microseconds a launch, and none memory for them" {
	"$BUILD/tests/bench/launches" 1000000 20 | took 20 20 gcoalesce | took 25 20 gschedule --gpu a100 | took 25 20 gcache --l1 | took 35 40 gcache --l2 |
		took 35 20 gdram | took 45 200 gstats --tee --output table | took 150 200 gstats --csv | tail -n 1 >last
	grep -q '^total,' last
	grep -q '^total of 1000000 launches of 20 kernels$' table
	all_took 7
}

@test "10^5 names of kernels: gstats takes 100 MB, and the page of 2000 has less than 2 MB" {
	"$BUILD/tests/bench/launches" 100000 100000 | gcoalesce | gschedule --gpu a100 | gcache --l1 | gcache --l2 >names
	took 45 100 gstats names >table
	took 20 100 gstats --csv --by kernel names >table.csv
	took 20 100 gstats --json names >table.json
	all_took 3
	"$BUILD/tests/bench/launches" 2000 2000 | gcoalesce --by site | gschedule --gpu a100 | gcache --l1 --by site | gcache --l2 --by site --causes >few
	gstats --report page few
	[ "$(stat -c %s page/index.html)" -lt 2000000 ]
}

@test "10^6 blocks: each stage takes memory for those that run" {
	cat >blocks.ptx <<-'END'
		.version 7.0
		.target sm_70
		.address_size 64
		.visible .entry k(.param .u64 a)
		{
		.reg .b32 %r<4>;
		.reg .b64 %rd<4>;
		ld.param.u64 %rd1,[a];
		mov.u32 %r1,%ctaid.x;
		mul.wide.u32 %rd2,%r1,4;
		add.u64 %rd3,%rd1,%rd2;
		ld.global.u32 %r2,[%rd3];
		st.global.u32 [%rd3],%r2;
		ret;
		}
	END
	took 2 40 gtrace-ptx --launch "k<<<1000000,32>>>(a=u32[1000000])" blocks.ptx | took 1 20 gcoalesce >requests
	took 15 20 gschedule --gpu a100 --issue gto requests >/dev/null
	took 15 20 gschedule --gpu a100 --map part:4 requests >/dev/null
	took 3 20 gschedule --gpu a100 --dispatch wave requests >/dev/null
	took 12 20 gschedule --gpu a100 requests | took 1.5 40 gcache --l1 | took 1.5 40 gcache --l2 | took 1 20 gdram | took 1 20 gstats --csv >table
	grep -q '^1,schedule,modelled_blocks,1000000$' table
	all_took 10
}

@test "10^5 instructions: each stage takes some kilobytes and less than a tenth of a millisecond for each" {
	awk -v n=100000 'BEGIN {
		print ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{"
		print ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1,[a];"
		for (i = 0; i < n; i++)
			printf "ld.global.u32 %%r1,[%%rd1+%d];\n", 128 * i
		print "ret;\n}"
	}' >pcs.ptx
	took 8 700 gtrace-ptx --launch "k<<<4,32>>>(a=u32[3200000])" pcs.ptx | took 2 400 gcoalesce --by site | took 3 500 gschedule --gpu a100 |
		took 3 600 gcache --l1 --by site >pcs
	took 4 500 gcache --l2 --by pc pcs >/dev/null
	took 4 600 grd --by pc pcs >/dev/null
	took 12 1000 gstats pcs >table
	took 12 1000 gstats --csv pcs >table
	took 15 1500 gstats --findings pcs >table
	took 15 1500 gstats --report page pcs
	all_took 10
	[ "$(stat -c %s page/index.html)" -lt 2000000 ]
}

@test "gstats: memory is of the names of kernels, not of launches; time is linear" {
	for n in 50000 100000; do
		"$BUILD/tests/bench/launches" $n 20 | gcoalesce >launches$n
	done
	[ "$(bytes gstats launches100000)" -lt 40000000 ]
	awk -v a="$(least gstats launches50000)" -v b="$(least gstats launches100000)" 'BEGIN { exit !(b <= 2.5 * a + 0.1) }'
	"$BUILD/tests/bench/launches" 20000 20000 | gcoalesce >kernels
	[ "$(bytes gstats kernels)" -lt 200000000 ]
	gstats --report page kernels
	[ "$(stat -c %s page/index.html)" -lt 2000000 ]
}

@test "gcache: a launch costs what it uses of a cache, not the size of the cache" {
	"$BUILD/tests/bench/launches" 4000 20 | gcoalesce | gschedule --gpu a100 | gcache --l1 >launches.l1
	for size in 1M 32M; do
		gcache --l2 --size $size launches.l1 >/dev/null
	done
	awk -v a="$(least gcache --l2 --size 1M launches.l1)" -v b="$(least gcache --l2 --size 32M launches.l1)" \
		'BEGIN { print a, b; exit !(a > 0 && b <= 2 * a + 0.1) }'
}

@test "findings and the page: time is linear in instructions" {
	for n in 20000 40000; do
		awk -v n=$n 'BEGIN {
			print ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{"
			print ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1,[a];"
			for (i = 0; i < n; i++)
				printf "ld.global.u32 %%r1,[%%rd1+%d];\n", 128 * i
			print "ret;\n}"
		}' >pcs.ptx
		gtrace-ptx --launch "k<<<4,32>>>(a=u32[$((32 * n))])" pcs.ptx | gcoalesce --by site | gschedule --gpu a100 | gcache --l1 --by site >pcs$n
	done
	awk -v a="$(least gstats --findings pcs20000)" -v b="$(least gstats --findings pcs40000)" 'BEGIN { exit !(b <= 2.6 * a + 0.1) }'
	gstats --report page pcs40000
	[ "$(stat -c %s page/index.html)" -lt 2000000 ]
}

@test "grd --by array: time is linear in arrays; counts that no record holds are an error with one line" {
	command -v nvcc >/dev/null || skip "needs nvcc"
	cat >arrays.cu <<-'END'
		#include <cstdlib>
		__global__ void k(int **a, int n)
		{
			int i = blockIdx.x * blockDim.x + threadIdx.x;
			if (i < n)
				a[i][0] = a[i][32] + i;
		}
		int main(int, char **v)
		{
			int n = atoi(v[1]), **h = (int **)malloc(n * sizeof *h), **d;
			cudaMalloc(&d, n * sizeof *d);
			for (int i = 0; i < n; i++)
				if (cudaMalloc(&h[i], 256))
					return 1;
			cudaMemcpy(d, h, n * sizeof *d, cudaMemcpyHostToDevice);
			k<<<(n + 127) / 128, 128>>>(d, n);
			return cudaDeviceSynchronize();
		}
	END
	nvcc -cudart shared -arch=sm_75 -o arrays arrays.cu
	for n in 50000 100000; do
		took 1 200 gtrace-record ./arrays $n | gcoalesce >arrays$n
		gschedule --gpu a100 arrays$n | took 0.5 100 gcache --l1 | took 0.5 100 gstats --report page$n
		took 2 400 grd --by array arrays$n >/dev/null
	done
	all_took 8
	[ "$(stat -c %s page100000/index.html)" -lt 200000 ]
	awk -v a="$(least grd --by array arrays50000)" -v b="$(least grd --by array arrays100000)" 'BEGIN { exit !(b <= 2.6 * a + 0.1) }'
	run bash -o pipefail -c 'gcoalesce --by site <(gtrace-record ./arrays 100000) | gschedule --gpu a100 | gcache --l1 --by site | gstats'
	[ "$status" -eq 1 ]
	[ "$(grep -c 'more than a record of a stream may have' <<<"$output")" -eq 1 ]
}
