#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The papers' models at the papers' sizes: minutes.

setup() {
	cd "$ROOT" || return 1
	command -v gnuplot >/dev/null || skip "no gnuplot"
	results=$BATS_TEST_TMPDIR/results
	conv="gtrace-ptx --launch 'convolution2D_kernel<<<(128,512),(32,8)>>>(4096, 4096, A=f32[4096*4096], B=f32[4096*4096])' \
examples/kernels/ptx/polybench_2dconv.ptx"
}

# model NAME ARGUMENT...: checks that all files of the model exist.
model() {
	local name=$1 made count=0
	shift
	make -s -C pipelines "$name" RESULTS="$results" "$@" >"$BATS_TEST_TMPDIR/out"
	while read -r made; do
		[ -s "$made" ] || { echo "$made: empty"; return 1; }
		count=$((count + 1))
	done < <(grep "^$results/" "$BATS_TEST_TMPDIR/out")
	[ "$count" -gt 1 ]
}

@test "[000] 5.3: the exploration, killed at a random moment and restarted, loses and repeats nothing" {
	run_sweep() {
		make -s -f pipelines/sweep.mk SWEEP='pipelines/rdgc-kernels.sweep pipelines/rdgc-inputs.sweep pipelines/rdgc.sweep' RESULTS="$results" 2>/dev/null
	}
	export -f run_sweep
	export results
	setsid bash -c run_sweep 3>&- &
	sleep $((20 + RANDOM % 100))
	kill -KILL -- "-$!" || true
	sleep 1
	finished=$(find "$results/parts" -maxdepth 1 -name '????????????????.*' -printf '%f %i %T@\n' | sort)
	[ -n "$finished" ]
	SECONDS=0
	run_sweep
	echo "# $(echo "$finished" | wc -l) results were there, the rest took $SECONDS s" >&3
	[ "$(find "$results/parts" -maxdepth 1 -printf '%f %i %T@\n' | sort | comm -23 <(echo "$finished") - | wc -l)" -eq 0 ]
	python3 - "$results/rdgc-kernels.csv" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		assert len(rows) == 244 and all(r["l2.requests"] for r in rows)
		def rates(section, trace, axis):
		    return {r[axis]: float(r["l1.read_hit_rate"]) for r in rows if r["section"] == section and r["trace"] == trace}
		size, policy = rates("l1-size", "2DCONV", "l1.size"), rates("l1-replace", "2DCONV", "l1.replace")
		assert size["16384"] > 1.78 * size["8192"]          # 5.3.1: up by 78 % from 8 KB to 16 KB, or more
		assert policy["lfu"] < min(policy["lru"], policy["fifo"], policy["random:1"])
		corr = rates("l1-replace", "CORR", "l1.replace")
		assert corr["lfu:way"] > max(corr["lru"], corr["fifo"], corr["random:1"])
		atax = rates("l1-replace", "ATAX1", "l1.replace")
		assert atax["random:1"] == max(atax.values())
	END
}

@test "[000], [003] and [004] on a convolution of 4096 x 4096" {
	model rdgc SOURCE="$conv"
	model yuan SOURCE="$conv"
	# [004] 5.3.2: L2 hits 90 % of all requests of the SMs, and far fewer of those that L1 misses.
	awk -F '\t' '{ l2[$1] = $3 } END { exit !(l2["NoL1Filter"] > 85 && l2["Final"] < 65) }' "$results"/yuan-*/improvements.tsv
	model ablation SOURCE="$conv" SEEDS=2
	make -s -C pipelines ppt-gpu-mem RESULTS="$results" SOURCE="$conv" | grep -q "^total"
	model kim PTX=examples/kernels/ptx/polybench_2dconv.ptx \
		LAUNCH='convolution2D_kernel<<<(128,512),(32,8)>>>(4096, 4096, A=f32[4096*4096], B=f32[4096*4096])'
}

@test "[002]: its experiment up to 1024 threads, over five seeds" {
	model nugteren
	[ "$(wc -l <"$(echo "$results"/nugteren-*/figure3.tsv)")" -eq 7 ]
	# A second implementation: its means over five seeds, and how far its seeds are apart. Single seeds differ by several points at 128 and
	# 256 threads.
	tests/long/whole-access.py 100,5 5 32 64 128 256 512 >"$BATS_TEST_TMPDIR/whole"
	echo "# whole accesses at 100,5: threads, mean, least, most: $(tr '\t\n' ' ;' <"$BATS_TEST_TMPDIR/whole")" >&3
	awk -F '\t' '
		NR == FNR { whole[$1] = $2; next }
		$1 in whole { off = $6 - whole[$1]; if (off < 0) off = -off; if (off > ($1 == 128 ? 4 : $1 == 256 ? 2 : 1)) exit 1; n++ }
		END { if (n != 5) exit 1 }' "$BATS_TEST_TMPDIR/whole" "$results"/nugteren-*/figure3.tsv
	# At 4,1 the order of the effects of a step decides (gcache(1), --fill): no second implementation can be held to it.
}

@test "make papers: every row of every paper, and docs/papers.md shows the summary" {
	make -s -C pipelines papers RESULTS="$BATS_TEST_TMPDIR/results" >"$BATS_TEST_TMPDIR/out"
	awk '/^paper .*equal/ { summary = 1 } summary' "$BATS_TEST_TMPDIR/out" | while IFS= read -r line; do
		grep -qxF "    $line" docs/papers.md || { echo "not in docs/papers.md: $line"; exit 1; }
	done
}

@test "[000] figure 16: partitions and banks change distances" {
	make -s -C "$ROOT/pipelines" rdgc RESULTS="$BATS_TEST_TMPDIR" SOURCE="gtrace-ptx --launch \
		'matvec<<<16,64>>>(A=f32[1024*256], p=f32[256], q=f32[1024], 1024, 256)' $ROOT/examples/kernels/ptx/matvec.ptx" >/dev/null
	python3 - "$BATS_TEST_TMPDIR"/rdgc-*/parallelism.csv <<-'END'
		import csv, sys
		at = {(r["l2.partitions"], r["l2.banks"]): r for r in csv.DictReader(open(sys.argv[1]))}
		one, many = at["1", "1"], at["4", "2"]
		assert [one[f"l2.mru[{k}]"] for k in range(8)] != [many[f"l2.mru[{k}]"] for k in range(8)]
		assert int(one["l2.steps"]) > int(many["l2.steps"])
	END
}

@test "[002] figure 12: of a matrix that each thread reads by rows, the size decides, and long lines are shared less" {
	# It needs room for a line a thread.
	make -s -C pipelines nugteren RESULTS="$BATS_TEST_TMPDIR" MOST=32 SEEDS=1 SOURCE="gtrace-ptx --launch \
		'matvec<<<8,64>>>(A=f32[512*64], p=f32[64], q=f32[512], 512, 64)' examples/kernels/ptx/matvec.ptx" >/dev/null
	awk '{ rate[$1, $2] = $4 } END { exit !(rate["size", "4K"] > 2 * rate["size", "64K"] && rate["size", "64K"] > 0) }' \
		"$BATS_TEST_TMPDIR"/nugteren-*/figure12.tsv
}

@test "[001]: every number of its text and tables, and a second run makes nothing" {
	papers() { make -s -C pipelines papers ONLY=mei RESULTS="$BATS_TEST_TMPDIR"; }
	papers >"$BATS_TEST_TMPDIR/out"
	made=$(stat -c %i "$BATS_TEST_TMPDIR/papers/mei.tsv")
	papers | diff "$BATS_TEST_TMPDIR/out" -
	[ "$made" = "$(stat -c %i "$BATS_TEST_TMPDIR/papers/mei.tsv")" ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/papers/mei.tsv")" -eq 118 ]
	rows() { awk -F '\t' "$1" "$BATS_TEST_TMPDIR/papers/mei.tsv"; }
	# Only figure 9 by chance differs, and what 4.3 says in a whole number.
	[ "$(rows '$6 != "not tried" && $4 != $5 && $4 + 0 != $5 + 0 { print $2 }' | sort -u | paste -sd' ')" = "4.3 figure 9" ]
	[ "$(rows '$6 == "not tried" { print $2 }' | sort | uniq -c | tr -s ' ')" = " 5 table 1" ]
	# The text of 4.2: penalties of the L1 TLB, and the ways of an L1 of 48 KB.
	[ "$(rows '$2 == "4.2" && $5 ~ /^(288|27)$/ { print $6 }' | paste -sd' ')" = "input input" ]
	[ "$(rows '$3 == "l1 of 48K, ways" { print $4, $5, $6 }')" = "6 6 exact" ]
	# What latencies are, or follow from, is no number of the model.
	[ -z "$(rows '$3 ~ /cycles/ && $6 != "input"')" ]
}
