# SPDX-License-Identifier: MIT
# grd from 10^4 to 10^8 rows: a minute and a half. What the machine of PTX does for each label, function and allocation.

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
