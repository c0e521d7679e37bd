#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pipelines/pipe.mk: which stages run again, and which results are kept.

load helpers

setup() {
	cd "$ROOT" || return 1
	results=$BATS_TEST_TMPDIR/results
	trace=examples/traces/conv.traceg.xz
	log=$BATS_TEST_TMPDIR/log
	# Wrappers that log each run and then run the real program. The pipe schedules with --map, so gschedule with --gpu
	# alone means that pipe.mk reads the GPU description.
	mkdir "$BATS_TEST_TMPDIR/noting"
	for tool in gtrace-order gcoalesce gschedule gcache gdram gstats; do
		printf '#!/bin/sh\n[ "%s$#$1" = gschedule2--gpu ] || echo %s >>%s\nexec %s "$@"\n' "$tool" "$tool" "$log" \
			"$(command -v $tool)" >"$BATS_TEST_TMPDIR/noting/$tool"
		chmod +x "$BATS_TEST_TMPDIR/noting/$tool"
	done
	PATH=$BATS_TEST_TMPDIR/noting:$PATH
	: >"$log"
}

pipe() {
	make -s -f pipelines/pipe.mk RESULTS="$results" TRACE="$trace" GPU=titanv SCHEDULE='--map rr' "$@"
}

# The programs that ran since the last call, each once, in a line.
ran() {
	sort -u "$log" | tr '\n' ' '
	: >"$log"
}

@test "prints the report that the pipe prints" {
	pipe >"$BATS_TEST_TMPDIR/made"
	gtrace-order "$trace" | gcoalesce | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram | gstats |
		diff - "$BATS_TEST_TMPDIR/made"
	[ "$(ls "$results" | sed 's/-[0-9a-f]\{16\}//' | tr '\n' ' ')" = "counts.gt ordered.gt.zst report.txt " ]
}

@test "a repeated run executes nothing and prints the same" {
	pipe >"$BATS_TEST_TMPDIR/first"
	ran >/dev/null
	touch "$trace"
	pipe >"$BATS_TEST_TMPDIR/second"
	[ "$(ran)" = "" ]
	diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
}

# bats test_tags=whole
@test "a trace of the same content under another name is the same input" {
	pipe >"$BATS_TEST_TMPDIR/first"
	ran >/dev/null
	cp "$trace" "$BATS_TEST_TMPDIR/other.traceg.xz"
	trace=$BATS_TEST_TMPDIR/other.traceg.xz pipe | diff "$BATS_TEST_TMPDIR/first" -
	[ "$(ran)" = "" ]
}

# bats test_tags=whole
@test "an option reruns only the stages from its own on, and all results are kept" {
	pipe >"$BATS_TEST_TMPDIR/first"
	ran >/dev/null
	pipe L1='--size 16K' >"$BATS_TEST_TMPDIR/small"
	[ "$(ran)" = "gcache gcoalesce gdram gschedule gstats " ]
	[ "$(cat "$BATS_TEST_TMPDIR/first")" != "$(cat "$BATS_TEST_TMPDIR/small")" ]
	pipe REPORT=--csv >"$BATS_TEST_TMPDIR/csv"
	[ "$(ran)" = "gstats " ]
	[ "$(head -n 1 "$BATS_TEST_TMPDIR/csv")" = "kernel,stage,counter,value" ]
	pipe >"$BATS_TEST_TMPDIR/again"
	[ "$(ran)" = "" ]
	diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/again"
	pipe ORDER='--by an' >/dev/null
	[ "$(ran)" = "gcache gcoalesce gdram gschedule gstats gtrace-order " ]
}

# bats test_tags=whole
@test "another trace, GPU or program is another result" {
	pipe >/dev/null
	ran >/dev/null
	trace=examples/traces/gemm.rdgc.xz pipe >/dev/null
	[ "$(ran)" = "gcache gcoalesce gdram gschedule gstats gtrace-order " ]
	pipe GPU=a100 >/dev/null
	[ "$(ran)" = "gcache gcoalesce gdram gschedule gstats " ]
	echo "# another build" >>"$BATS_TEST_TMPDIR/noting/gcache"
	pipe >/dev/null
	[ "$(ran)" = "gcache gcoalesce gdram gschedule gstats " ]
}

@test "a stage that fails leaves no result, and stops make" {
	for model in 'gcoalesce | gcache --no-such-option' 'gcoalesce | false' 'false | cat' 'gcoalesce | head -c 1000'; do
		run pipe MODEL="$model"
		[ "$status" -ne 0 ]
		[ "$(ls "$results" | grep -vc '^ordered-')" -eq 0 ]
	done
	rm -rf "$results"
	run pipe ORDER=--no-such-option
	[ "$status" -ne 0 ]
	[ -z "$(ls "$results")" ]
}

@test "missing inputs are named before anything runs" {
	run make -s -f pipelines/pipe.mk RESULTS="$results"
	[ "$status" -eq 2 ]
	[[ "$output" == *"TRACE is not set"* ]]
	run make -s -f pipelines/pipe.mk RESULTS="$results" TRACE=nowhere
	[ "$status" -eq 2 ]
	[[ "$output" == *"TRACE=nowhere: no such file in $PWD"* ]]
	run pipe GPU=no-such-gpu
	[ "$status" -eq 2 ]
	[[ "$output" == *"GPU=no-such-gpu: cannot be read"* ]]
	[ "$(ran)" = "" ]
	[ ! -e "$results" ]
}

@test "options keep their quotes and commas" {
	pipe SCHEDULE="--only-sm 0,3-5" >"$BATS_TEST_TMPDIR/made"
	gtrace-order "$trace" | gcoalesce | gschedule --gpu titanv --only-sm 0,3-5 | gcache --l1 | gcache --l2 | gdram |
		gstats | diff - "$BATS_TEST_TMPDIR/made"
	pipe REPORT="--kernel 'con|v'" >/dev/null
}

# bats test_tags=whole
@test "parts of a trace, at once or as tasks of an array, give the report on the whole" {
	printf '%s\n' 0 1 2 3 4 5 6 | while read -r k; do
		printf '#kernel\tid=%s\tname=k%s\tgrid=4,1,1\tblock=64,1,1\n' $((k + 1)) $((k % 3))
		for block in 0 1 2 3; do printf '%s\t0\t0\t0x10\tload.global\t4\t0xffffffff\t%s\t%s\t-\t%s\n' $block $((block * 4096 * k)) $((4 * k)) $((k + 1)); done
	done | sed '1i #block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel' >"$BATS_TEST_TMPDIR/launches.tsv"
	trace=$BATS_TEST_TMPDIR/launches.tsv
	pipe REPORT=--csv >"$BATS_TEST_TMPDIR/whole"
	pipe REPORT=--csv PARTS=3 -j2 | diff "$BATS_TEST_TMPDIR/whole" -
	rm -r "$results"
	pipe PARTS=3 ordered
	ran >/dev/null
	for task in 2 3 1; do SLURM_ARRAY_TASK_ID=$task pipe PARTS=3 part; done
	[ "$(ran)" = "gcache gcoalesce gdram gschedule " ]
	pipe REPORT=--csv PARTS=3 | diff "$BATS_TEST_TMPDIR/whole" -
	[ "$(ran)" = "gstats " ]
	run pipe PARTS=3 PART=4 part
	[ "$status" -eq 2 ]
	[[ "$output" == *"PART=4: expected a number from 1 to PARTS=3"* ]]
}

@test "gzip is used without zstd, and results-clean deletes all" {
	pipe COMPRESS='gzip -1' >/dev/null
	ls "$results"/ordered-*.gt.gz
	make -s -f pipelines/pipe.mk RESULTS="$results" results-clean
	[ -z "$(ls "$results")" ]
}

# bats test_tags=whole
@test "every command of the README runs" {
	while IFS= read -r command; do
		(cd "$ROOT" && RESULTS=$results bash -o pipefail -c "${command//make /make -e }") >"$BATS_TEST_TMPDIR/out"
		[ -s "$BATS_TEST_TMPDIR/out" ]
	# make validate takes minutes, and measurements of the reader, and miss-classes half a minute: tests/long runs them.
	done < <(sed -n 's/^    //p' pipelines/README.md | grep -v -e '^make validate' -e '^pipelines/miss-classes$' | few_lines 7)
	[ -d "$results" ]
}

ppt() { make -e -s -f "$ROOT/pipelines/ppt-gpu-mem.mk" RESULTS="$results" GPU=titanv "$@"; }

# bats test_tags=whole
@test "PPT-GPU-Mem: predictions are those of grd, filtered and not, beside those of the caches" {
	cd "$BATS_TEST_TMPDIR"
	ppt TRACE="$ROOT/examples/traces/conv.rdgc.xz" >table
	head -n 1 table | grep -qx "kernel.operations.l1_ppt.l1_model.l2_ppt.l2_ppt_filtered.l2_model"
	ordered conv | gcoalesce | gschedule --gpu titanv >scheduled
	gcache --l1 <scheduled >sent
	sdcm() { awk 'NR == 2 { printf "%.2f\n", 100 * $NF }'; }
	[ "$(awk '$1 == 1 && $2 == "all" { print $3, $5, $6 }' table)" = "$(grd --per sm --sdcm 128K,256,32 <scheduled | sdcm) $(grd --per global --sdcm 4.5M,32,32 <scheduled | sdcm) $(grd --per global --sdcm 4.5M,32,32 <sent | sdcm)" ]
	[ "$(awk '$1 == 1 && $2 == "loads" { print $3 }' table)" = "$(grd --per sm --by op --sdcm 128K,256,32 <scheduled | sdcm)" ]
	gcache --l2 <sent | gstats --csv >csv
	for level in l1 l2; do
		awk -F, -v level=$level '$1 == "total" && $2 == level { v[$3] = $4 } END { printf "%.2f\n", 100 * v["read_hits"] / v["reads"] }' csv
	done | paste -sd ' ' >expected
	[ "$(awk '$1 == "total" && $2 == "loads" { print $4, $7 }' table)" = "$(cat expected)" ]
	# [004] 5.3.2: without filtering, the locality that L1 exploits is attributed to L2.
	awk 'NR > 1 && $5 <= $6 { exit 1 }' table
	ppt TRACE="$ROOT/examples/traces/conv.rdgc.xz" >again
	diff table again
}

# bats test_tags=whole
@test "PPT-GPU-Mem: the distributions of figure 10, and missing inputs are named" {
	cd "$BATS_TEST_TMPDIR"
	ppt csdd TRACE="$ROOT/examples/traces/conv.rdgc.xz" >csdd
	ordered conv | gcoalesce | gschedule --gpu titanv >scheduled
	for sequence in unfiltered filtered; do
		if [ $sequence = filtered ]; then gcache --l1 <scheduled >asked; else cp scheduled asked; fi
		diff <(awk -v s=$sequence '$1 == 1 && $2 == s { print $3, $4 }' csdd) <(grd --per global --granularity sector --csdd <asked | awk 'NR > 1 { print $2, $4 }')
	done
	run ppt TRACE="$ROOT/examples/traces/conv.rdgc.xz" GPU=no-such-gpu
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot be read"* ]]
	make -s -C "$ROOT/pipelines" ppt-gpu-mem RESULTS="$results" | diff - <(ppt TRACE="$ROOT/examples/traces/conv.rdgc.xz")
}

# bats test_tags=whole
@test "figure 3 of [002]: its rows, and those of the README" {
	# Pinned, for one seed; the README has the means over five.
	local most=128
	[ -z "${WHOLE:-}" ] || most=1024
	pipelines/nugteren-figure3 --seeds 1 "$most" | cut -f 1,4,5,6,9,12 >"$BATS_TEST_TMPDIR/figure"
	awk -v most="$most" 'NR == 1 || $1 <= most' <<-TABLE | diff - "$BATS_TEST_TMPDIR/figure"
		threads	full	round_robin	access	first_lane	next
		32	3.13	3.13	3.13	3.13	3.13
		64	3.13	3.13	3.13	3.13	3.13
		128	3.13	100.00	5.30	5.46	4.30
		256	100.00	100.00	13.50	13.24	9.89
		512	100.00	100.00	14.75	12.30	13.97
		1024	100.00	100.00	17.78	18.06	17.63
	TABLE
	pipelines/nugteren-figure3 "$((most > 256 ? 256 : 64))" >"$BATS_TEST_TMPDIR/figure"
	in_readme "$BATS_TEST_TMPDIR/figure"
	pipelines/nugteren-figure9 >"$BATS_TEST_TMPDIR/figure"
	in_readme "$BATS_TEST_TMPDIR/figure"
	for words in "--seeds 0" "--nothing" "x" "32 64"; do
		# shellcheck disable=SC2086
		run pipelines/nugteren-figure3 $words
		[ "$status" -eq 2 ]
	done
}

# bats test_tags=whole
@test "tables and micro-benchmarks of [002]: all lists are the paper's, percentages are rounded or cut off" {
	pipelines/nugteren all >"$BATS_TEST_TMPDIR/tables"
	# Rows that are not the paper's: three sevenths and one, and figure 7, whose columns are strides.
	[ "$(awk -F '\t' '/^# figure 7/ { figure = 1 } /^# [^f]/ { figure = 0 } !/^#/ && !figure && $1 != "what" && $2 != $3 { print $1, $2, $3 }' "$BATS_TEST_TMPDIR/tables" | paste -sd,)" = \
		"compulsory misses (%) 42 42.86,capacity misses (%) 14 14.29" ]
	[ "$(grep -c '	m m m m h h h h	' "$BATS_TEST_TMPDIR/tables")" -eq 2 ]
	# Figure 7 by a second implementation: loads fit if no set of the hash in 5.1 gets more than four of their lines.
	python3 - <<-'END' >"$BATS_TEST_TMPDIR/figure7"
		import collections
		def set_of(address):
		    return (address >> 7 & 31) ^ sum((address >> bit & 1) << i for i, bit in enumerate((13, 14, 15, 17, 19)))
		for bit in range(7, 20):
		    rates = [50 if max(collections.Counter(set_of(i << bit) for i in range(n)).values()) <= 4 else 100 for n in (4, 8, 16, 32, 64, 128)]
		    print(f"2^{bit}", *rates, rates.count(50) - 1, sep="\t")
	END
	grep '^2^' "$BATS_TEST_TMPDIR/tables" | diff "$BATS_TEST_TMPDIR/figure7" -
	[ "$(pipelines/nugteren-figure9 --jumps 14)" = "7 13" ]
	run pipelines/nugteren table6
	[ "$status" -eq 2 ]
	[[ "$output" == "nugteren: 'table6': expected all, or some of gpu table1"* ]]
	for words in "--jumps" "--jumps x" "5"; do
		# shellcheck disable=SC2086
		run pipelines/nugteren-figure9 $words
		[ "$status" -eq 2 ]
	done
}

# bats test_tags=whole
@test "figure 12 of [002]: the loads of lbm and cutcp are those counted by hand, and the README has the misses" {
	# Without capacity misses each line of all blocks is requested once.
	for name in lbm cutcp; do
		pipelines/nugteren-figure12 --loads $name | gcoalesce --rule fermi | gschedule --gpu gtx470-16k --sm 1 |
			gcache --l1 --size 8M --ways full --index mod --on-full requeue --latency half-normal:100,5,1 --emit none | gstats --csv |
			awk -F, '$1 == "total" && $2 == "l1" { v[$3] = $4 } END { print v["requests"], v["sent_requests"] }'
	done >"$BATS_TEST_TMPDIR/ours"
	python3 - <<-'END' | diff "$BATS_TEST_TMPDIR/ours" -
		import itertools, math
		def count(accesses):
		    lookups, lines = 0, set()
		    for addresses in accesses:
		        touched = {a // 128 for a in addresses}
		        lookups += len(touched)
		        lines |= touched
		    print(lookups, len(lines))
		# 19 directions and the flags, each an array of 154 planes; which has which number does not matter.
		plane = 128 * 120
		arrays = [d for d in itertools.product((-1, 0, 1), repeat=3) if sum(map(abs, d)) <= 2] + [(0, 0, 0)]
		count([4 * (k * 154 * plane + (2 + dz) * plane + (y + dy) * 128 + x + dx) for x in range(32 * w, min(32 * w + 32, 120))]
		      for y in range(68) for w in range(4) for k, (dx, dy, dz) in enumerate(arrays))
		# 28 regions along x, and four bins more at each side.
		side = 36
		bins = [((z + 4) * side + y + 4) * side + x + 4 for z, y, x in itertools.product(range(-4, 5), repeat=3)
		        if 4 * math.hypot(x, y, z) < 12 + 4 * math.sqrt(3)]
		count([128 * (block // 28 * side + block % 28 + b) + 64 * half + 4 * i for b in bins[first:first + 2] for i in range(16)]
		      for block in range(64) for first in range(0, len(bins), 2) for half in range(2))
	END
	pipelines/nugteren-figure12 stencil >"$BATS_TEST_TMPDIR/stencil"
	in_readme <(awk -F '\t' 'NR > 1 { rate[$2, $3] = $4 } END {
		n = split("none 1,ways 1,ways 2,ways 8,ways 16,ways full,size 4K,size 8K,size 32K,size 64K,line 32,line 64,line 256,line 512,mshr 16,mshr 32,mshr 128,mshr 256", point, ",")
		printf "stencil"
		for (i = 1; i <= n; i++) { split(point[i], at, " "); printf "\t%.1f", rate[at[1], at[2]] }
		print "" }' "$BATS_TEST_TMPDIR/stencil")
	for words in "--loads" "bfs" "--seeds 0 lbm" "--loads lbm cutcp"; do
		# shellcheck disable=SC2086
		run pipelines/nugteren-figure12 $words
		[ "$status" -eq 2 ]
	done
}

@test "the first threads of a launch are whole blocks, at least one" {
	blocks() { pipelines/examples gemm | pipelines/first-threads "$1" | gtrace-cat | grep -v '^#' | cut -f 1 | uniq; }
	[ "$(blocks 1024 | paste -sd ' ')" = "0 1 2 3" ]
	[ "$(blocks 1279 | paste -sd ' ')" = "0 1 2 3" ]
	[ "$(blocks 1)" = 0 ]
	cmp <(pipelines/examples gemm | gtrace-cat | grep -v '^#') <(pipelines/examples gemm | pipelines/first-threads 100000 | gtrace-cat | grep -v '^#')
	run pipelines/first-threads none
	[ "$status" -eq 2 ]
}

# in_readme FILE: every line of a tab-separated table is a row of a table in pipelines/README.md.
in_readme() {
	while IFS= read -r line; do
		grep -qxF "| ${line//$'\t'/ | } |" "$ROOT/pipelines/README.md" || { echo "not in the README: $line"; return 1; }
	done <"$1"
}

# bats test_tags=whole
@test "miss classes add up, minimum <= mean <= maximum" {
	pipelines/miss-classes --seeds 3 examples/traces/{gemm,conv}.rdgc.xz jacobi >"$BATS_TEST_TMPDIR/classes"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/classes")" -eq 7 ]
	awk -F '\t' 'NR > 1 {
		sum = $5 + $6 + $7 + $8 + $9
		if ($2 == "cumulative" && (sum - $4 > 0.3 || $4 - sum > 0.3) || $5 <= 0 || $4 > $3 || $10 > $4) exit 1
		if ($13 > $11 || $11 > $14 || ($12 == 0) != ($13 == $14)) exit 1
		rate = 100 * ($4 - $10) / $3
		if (rate - $11 > 0.01 || $11 - rate > 0.01) exit 1
		# Both ways add the MSHRs last.
		if ($2 == "cumulative") mshr = $9
		else if ($9 != mshr) exit 1
	}' "$BATS_TEST_TMPDIR/classes"
	# The three matrices of 64 x 64 have 128 lines each.
	grep -q '^gemm.rdgc.xz.cumulative.16512.[0-9.]*.384.384.0.0.0.' "$BATS_TEST_TMPDIR/classes"
	run pipelines/miss-classes --seeds 1 examples/traces/missing
	[ "$status" -ne 0 ]
}

# bats test_tags=whole
@test "another seed is another run, and the same seeds are the same bytes" {
	gtrace-order examples/traces/conv.rdgc.xz | gschedule --gpu gtx470-16k >"$BATS_TEST_TMPDIR/in.gt"
	steps() { gcache --l1 --on-full requeue --requeue-unit access --latency "half-normal:100,5,$1" --emit all "$BATS_TEST_TMPDIR/in.gt" | gtrace-cat | grep -v '^#' | cksum; }
	[ "$(steps 1)" = "$(steps 1)" ]
	[ "$(steps 1)" != "$(steps 2)" ]
	pipelines/miss-classes --seeds 2 jacobi >"$BATS_TEST_TMPDIR/once"
	pipelines/miss-classes --seeds 2 jacobi | cmp - "$BATS_TEST_TMPDIR/once"
}

# bats test_tags=whole
@test "the timed sweep: each run has a line, longer latencies never take fewer steps, and the README shows it" {
	pipelines/timed-sweep examples/traces/{gemm,conv}.rdgc.xz >"$BATS_TEST_TMPDIR/sweep"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/sweep")" -eq 19 ]
	awk -F '\t' '$2 ~ /^fixed/ { if ($1 == last_name && $8 < last || $4 > 100) exit 1; last = $8; last_name = $1 }' "$BATS_TEST_TMPDIR/sweep"
	# With merges as hits the ratio does not depend on the latency.
	[ "$(sed 1d "$BATS_TEST_TMPDIR/sweep" | cut -f 1,5 | sort -u | wc -l)" -eq 2 ]
	[ "$(pipelines/timed-sweep gemm | sed 1d | cut -f 5 | sort -u)" = 96.25 ]
	pipelines/timed-sweep conv2d >"$BATS_TEST_TMPDIR/sweep"
	in_readme "$BATS_TEST_TMPDIR/sweep"
}

# bats test_tags=whole
@test "L2 parallelism: distances add up to the lookups, more banks never take more steps, and the README shows it" {
	pipelines/l2-parallelism conv2d matvec >"$BATS_TEST_TMPDIR/levels"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/levels")" -eq 19 ]
	awk -F '\t' 'NR > 1 {
		sum = 0
		for (i = 7; i <= 15; i++)
			sum += $i
		if ($3 * $4 == 1) first = $5
		if (sum != $6 || $5 > first) exit 1
	}' "$BATS_TEST_TMPDIR/levels"
	in_readme "$BATS_TEST_TMPDIR/levels"
}

# bats test_tags=whole
@test "ATAX1: a row for each mapping, number of resident blocks and index; what fits, hits" {
	pipelines/rdgc-atax 256 >"$BATS_TEST_TMPDIR/atax"
	[ "$(sed 1d "$BATS_TEST_TMPDIR/atax" | cut -f 1,2,4 | tr '\t\n' '  ')" = "rr 1 prime rr 1 xor rr 1 mod rr 2 prime rr 2 xor rr 2 mod part:4 1 prime part:4 1 xor part:4 1 mod part:4 2 prime part:4 2 xor part:4 2 mod part:4 4 prime part:4 4 xor part:4 4 mod " ]
	# One block of 256 rows of 1 KB: with xor each has a line to itself, which all but each 32nd read finds.
	awk -F '\t' 'NR > 1 && $6 < $5 { exit 1 } $4 == "xor" && $5 < 90 { exit 1 } $4 == "mod" && $5 > 60 { exit 1 }' "$BATS_TEST_TMPDIR/atax"
	run pipelines/rdgc-atax none
	[ "$status" -eq 2 ]
}

@test "experiments print their usage" {
	for script in miss-classes timed-sweep l2-parallelism; do
		run "pipelines/$script" --no-such-option
		[ "$status" -eq 2 ]
		[[ $output == *usage* ]]
		run "pipelines/$script" nothing
		[ "$status" -ne 0 ]
		[[ $output == *"none of gemm conv2d"* ]]
	done
	for seeds in "" 0 x 10000; do
		run pipelines/miss-classes --seeds $seeds
		[ "$status" -eq 2 ]
		[[ $output == *"from 1 to 9999"* ]]
	done
	run pipelines/examples a b
	[ "$status" -eq 2 ]
	[ "$(pipelines/examples | wc -l)" -eq 7 ]
}

# bats test_tags=whole
@test "first-done: the schedule converges, the first blocks first, and the README shows it" {
	gtrace-ptx --launch 'matvec<<<16,64>>>(A=f32[1024*128], p=f32[128], q=f32[1024], 1024, 128)' examples/kernels/ptx/matvec.ptx \
		>"$BATS_TEST_TMPDIR/matvec.gt"
	pipelines/first-done "$BATS_TEST_TMPDIR/matvec.gt" --sm 2 --max-blocks 2 --schedulers 4 >"$BATS_TEST_TMPDIR/rounds"
	in_readme "$BATS_TEST_TMPDIR/rounds"
	awk -F '\t' 'NR > 1 { if (NR > 2 && $2 >= moved) exit 1; moved = $2 } END { if (NR < 3 || moved != 0) exit 1 }' "$BATS_TEST_TMPDIR/rounds"
	pipelines/first-done -n 2 "$BATS_TEST_TMPDIR/matvec.gt" --sm 2 --max-blocks 2 --schedulers 4 |
		cmp - <(head -n 3 "$BATS_TEST_TMPDIR/rounds"; echo "# not settled after 2 rounds")
	for arguments in "" "-n 0 x" "-n x y" "-z x"; do
		# shellcheck disable=SC2086
		run pipelines/first-done $arguments
		[ "$status" -eq 2 ]
	done
	run pipelines/first-done /nowhere
	[ "$status" -ne 0 ]
}

@test "pipelines refuse folders with a space in their name, as make parts names there" {
	mkdir -p "$BATS_TEST_TMPDIR/a b"
	cp -r "$ROOT/pipelines" "$BATS_TEST_TMPDIR/a b"
	cd "$BATS_TEST_TMPDIR/a b"
	for model in -Cpipelines "-fpipelines/pipe.mk TRACE=x" -fpipelines/sweep.mk -fpipelines/papers.mk -fpipelines/ppt-gpu-mem.mk -fpipelines/rdgc.mk \
		-fpipelines/kim.mk; do
		# shellcheck disable=SC2086 # words
		expect_failure 2 "make takes no folder with a space in its name: expected another for '$PWD" make -s --no-print-directory $model
	done
	cd "$BATS_TEST_TMPDIR"
	expect_failure 2 "for 'a b/pipelines/sweep.mk'" make -s -f "a b/pipelines/sweep.mk"
}
