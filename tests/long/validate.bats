#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The model against hardware: make validate over all tables, with limits for the errors.

setup_file() {
	cd "$ROOT" || return 1
	command -v nvcc >/dev/null || command -v clang >/dev/null || skip "neither nvcc nor clang here"
	tests/validate --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" >"$BATS_FILE_TMPDIR/table" 2>"$BATS_FILE_TMPDIR/times"
}

# field GPU METRIC N: column N of the errors of a metric over all its rows: rows 5, exact 6, MAPE 7, mean absolute error 8.
field() { awk -v gpu="$1" -v metric="$2" -v n="$3" '$1 == gpu && $2 == metric && NF == 10 { last = $n } END { print last }' "$BATS_FILE_TMPDIR/table"; }

@test "Pascal: L2 reads and writes are exact, L1 transactions except for partial warps" {
	for gpu in titanx-pascal gtx1080; do
		for metric in l2_tex_read_transactions l2_tex_write_transactions; do
			differ=0
			# The warps of two products of blocks of 32 warps drift apart.
			[ "$gpu $metric" != "titanx-pascal l2_tex_read_transactions" ] || differ=2
			[ "$(field $gpu $metric 5)" -gt 0 ]
			[ "$(field $gpu $metric 5)" = "$(($(field $gpu $metric 6) + differ))" ]
		done
	done
	# Each difference has a reason, and is at most 4.
	awk '/ tex_cache_transactions / && !/ 0  (chosen|blind)/ { if (!/ -[1-4]  (chosen|blind) +.*the last warp is partly filled| -1  (chosen|blind) +.*hardware counts one more/) { print; bad = 1 } } /^gpu +metric/ { exit bad }' "$BATS_FILE_TMPDIR/table"
}

@test "Pascal: hit ratios of L1 within a point, of L2's reads within 3 points on average" {
	for gpu in titanx-pascal gtx1080; do
		awk -v l1="$(field $gpu global_hit_rate 8)" -v l2="$(field $gpu l2_tex_read_hit_rate 8)" 'BEGIN { exit !(l1 != "" && l2 != "" && l1 < 1 && l2 < 3) }'
	done
}

@test "Volta: L2's read hits within a point on average, what L2 and DRAM read of a Quadro V100 within 5 and 1 percent, what DRAM writes within 10" {
	local l2=lts__t_sectors_srcunit_tex_op_read_lookup
	awk -v rate="$(field titanv lts__t_sector_op_read_hit_rate.pct 8)" 'BEGIN { exit !(rate != "" && rate <= 1) }'
	awk -v hit="$(field quadro-v100 ${l2}_hit.sum 7)" -v miss="$(field quadro-v100 ${l2}_miss.sum 7)" -v dram="$(field quadro-v100 dram__sectors_read.sum 7)" \
		'BEGIN { exit !(hit != "" && hit < 5 && miss != "" && miss < 1 && dram != "" && dram < 1) }'
	awk -v dram="$(field quadro-v100 dram__sectors_write.sum 7)" 'BEGIN { exit !(dram != "" && dram < 10) }'
}

@test "all takes 20 minutes of processor time at most, and no program one, but two products of 1024 by 1024 whose warps issue by time" {
	[ "$(awk '/ programs took / { print $5 <= 1200 }' "$BATS_FILE_TMPDIR/times")" = 1 ]
	run awk '/ s  .* on / && !/ (polybench_2mm|polybench_syrk) 1024 / && $1 > 60' "$BATS_FILE_TMPDIR/times"
	[ "$output" = "" ]
}

@test "every row was run" {
	run grep '^not run' "$BATS_FILE_TMPDIR/table"
	[ "$status" -eq 1 ] || skip "$output"
}
