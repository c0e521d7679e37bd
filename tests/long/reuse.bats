# SPDX-License-Identifier: MIT
# grd on all programs of examples/kernels: samples within the error that grd(1) states, and curves that equal gcache's hits
# at every size. Some minutes.

load ../helpers

setup_file() {
	build_kernels clang
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# programs: each with its arguments, if the default sizes take long.
programs() {
	local program name
	for program in "$BUILD"/kernels-clang/*; do
		name=${program##*/}
		[ -f "$ROOT/examples/kernels/$name.cu" ] || continue
		case $name in
		polybench_2mm | polybench_3mm | polybench_gemm) echo "$program 256 32 8" ;;
		polybench_syrk | polybench_syr2k) echo "$program 128 128 32 8" ;;
		polybench_corr | polybench_covar | polybench_gramschmidt) echo "$program 128 128" ;;
		polybench_fdtd2d) echo "$program 512 512 4 32 8" ;;
		polybench_jacobi2d) echo "$program 512 4 32 8" ;;
		polybench_3dconv) echo "$program 64 64 64 32 8" ;;
		*) echo "$program" ;;
		esac
	done
}

# outside N EXACT SAMPLED: how many of 100 sizes are outside the band, and the stated error.
outside() {
	awk -v n="$1" 'FNR == 1 { file++; next }
		file == 1 { way[++ways] = $3; ratio[ways] = $7; next }
		{ size[++sizes] = $3; sampled[sizes] = $7; error = $8 }
		function at(y,  low, high, middle) { # the sampled ratio at a size
			low = 0; high = sizes
			while (low < high) { middle = int((low + high + 1) / 2); if (size[middle] <= y) low = middle; else high = middle - 1 }
			return low ? sampled[low] : 1
		}
		END {
			for (x = 1; x <= way[ways]; x++) {
				while (i < ways && way[i + 1] <= x) i++
				aside = n + 2 * sqrt((n - 1) * x)
				bad += ratio[i] < at(x + aside) - error || ratio[i] > at(x - aside) + error
			}
			print 100 * bad / way[ways], error
		}' "$2" "$3"
}

@test "samples: at 95 of 100 sizes, of every program, the exact ratio is within the band that grd(1) states" {
	tried=0
	while read -r command; do
		# shellcheck disable=SC2086
		gtrace-record --stdout /dev/null $command >stream
		grd --curve --total --per global --bound 4194304 <stream >exact
		for n in 2 10 100; do
			grd --curve --total --per global --bound 4194304 --sample "$(awk "BEGIN { print 1 / $n }")" <stream >sampled
			read -r share error < <(outside $n exact sampled)
			awk "BEGIN { exit !($share <= 5 || $error > 0.2) }" || echo "$command at 1/$n: $share % outside, error $error" >>wrong
			tried=$((tried + 1))
		done
	done < <(programs)
	[ $tried -ge 90 ]
	[ ! -e wrong ] || { cat wrong; return 1; }
}

@test "curves: each size and number of ways has exactly gcache's hits" {
	for program in conv2d spmv matvec bfs; do
		gtrace-record --stdout /dev/null "$BUILD/kernels-clang/$program" | gschedule --sm 4 | gcoalesce | gtrace-cat |
			awk -F '\t' '/^#/ && !/^#end|^#gtrace/ || ($5 ~ /^load/ && $5 !~ /constant/)' | gtrace-cat --from >loads
		grd --curve-sets 1,2,16,64 --total <loads >curves
		awk 'NR > 1 { print $2, $3, $6 }' curves >points
		while read -r sets ways misses; do
			gcache --l1 --size $((sets * ways * 128)) --ways "$ways" --line 128 --sector line --index mod --replace lru --emit none <loads | gstats --csv >csv
			found=$(($(sed -n 's/^total,l1,reads,//p' csv) - $(sed -n 's/^total,l1,read_hits,//p' csv)))
			[ "$found" -eq "$misses" ] || { echo "$program: $sets sets, $ways ways: $found misses, expected $misses"; return 1; }
		done <points
		[ "$(wc -l <points)" -gt 10 ]
	done
}
