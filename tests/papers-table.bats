#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# make -C pipelines papers: the table of the papers' numbers beside ours.

load helpers

setup() { cd "$ROOT" || return 1; }

table() { awk -f pipelines/papers.awk "$@"; }

# row WHAT PAPER OURS KIND [WHY]
row() { printf '[003]\ttable 3\t%s\t%s\t%s\t%s%s\n' "$1" "$2" "$3" "$4" "${5:+$'\t'$5}"; }

@test "values are equal if ours, rounded to the digits of the paper's, is the paper's" {
	{ row a 3.13 3.125 exact; row b 100 100.4 exact; row c 16K 16K exact; row d 4.44 4.333 model "why so"; row e 0 -0.4 model
	  row f 50 60.2 model; row g lru fifo model; row h 53.37 53.36 model; row i 7 9 fitted; row j 264 264 input; row k 12 - "not tried" "its data is missing"; } >"$BATS_TEST_TMPDIR/rows"
	table "$BATS_TEST_TMPDIR/rows" >"$BATS_TEST_TMPDIR/out"
	[ "$(awk 'NR > 1 && NR < 10 { print $4, $7 }' "$BATS_TEST_TMPDIR/out" | paste -sd,)" = "a =,b =,c =,d -0.11,e =,f +10.20,g differs,h -0.01" ]
	grep -q 'model  *why so$' "$BATS_TEST_TMPDIR/out"
	# 11 rows: 4 equal; d and h within a 20th; f and g farther; i and j inputs; k not tried.
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/out" | tr -s ' ')" = "[003] 11 4 2 2 2 1" ]
	[ "$(table -v only=rows "$BATS_TEST_TMPDIR/rows" | cut -f 1 | paste -sd,)" = "equal,equal,equal,near,equal,farther,farther,near,input,input,not tried" ]
}

@test "the page shows where each number stands, with a picture of each place that has four computed numbers" {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	{ row a 3.13 3.125 exact; row b 100 80 model "why so"; row c 4.44 4.333 model "why so"; row d 0 -0.4 model; row e 12 - "not tried" "no data"; } >"$BATS_TEST_TMPDIR/rows"
	mkdir "$BATS_TEST_TMPDIR/docs"
	cp docs/papers.md "$BATS_TEST_TMPDIR/docs"
	pipelines/papers-page "$BATS_TEST_TMPDIR/docs" "$BATS_TEST_TMPDIR/rows"
	page=$BATS_TEST_TMPDIR/docs/papers.md
	grep -qxF '| table 3 | 5 | 2 | 1 | 1 | 0 | 1 |' "$page"
	grep -qxF -- '- 2 numbers: why so' "$page"
	grep -qxF -- '- 1 number: no data' "$page"
	grep -q '</svg>' "$BATS_TEST_TMPDIR/docs/papers/003-table-3.svg"
	# All around the marks stays, and a second run changes nothing.
	diff <(sed '/^<!-- made/,/^<!-- end/d' docs/papers.md) <(sed '/^<!-- made/,/^<!-- end/d' "$page")
	cp "$page" "$BATS_TEST_TMPDIR/first"
	pipelines/papers-page "$BATS_TEST_TMPDIR/docs" "$BATS_TEST_TMPDIR/rows"
	diff "$BATS_TEST_TMPDIR/first" "$page"
	# A malformed row, or a page without the marks, leaves the page as it is.
	echo "[003]" >"$BATS_TEST_TMPDIR/bad"
	run pipelines/papers-page "$BATS_TEST_TMPDIR/docs" "$BATS_TEST_TMPDIR/bad"
	[ "$status" -eq 1 ]
	diff "$BATS_TEST_TMPDIR/first" "$page"
	echo text >"$page"
	run pipelines/papers-page "$BATS_TEST_TMPDIR/docs" "$BATS_TEST_TMPDIR/rows"
	[ "$status" -eq 1 ]
	[[ "$output" == *"papers.md: expected one line"* ]]
	run pipelines/papers-page "$BATS_TEST_TMPDIR/nowhere" "$BATS_TEST_TMPDIR/rows"
	[ "$status" -eq 1 ]
	[[ "$output" == *"nowhere/papers.md: expected one line"* ]]
}

@test "a row that is called exact and is not, or that is malformed, fails by name" {
	{ row a 3.13 3.12 exact; row b 1 1 exact; } >"$BATS_TEST_TMPDIR/rows"
	run table "$BATS_TEST_TMPDIR/rows"
	[ "$status" -eq 1 ]
	[[ "$output" == *"row 1: called exact, but 3.12 is not the paper's 3.13"* ]]
	row a 264 260 input >"$BATS_TEST_TMPDIR/rows"
	run table "$BATS_TEST_TMPDIR/rows"
	[ "$status" -eq 1 ]
	[[ "$output" == *"row 1: called input, but 260 is not the paper's 264"* ]]
	row a 264 - "not tried" >"$BATS_TEST_TMPDIR/rows"
	run table "$BATS_TEST_TMPDIR/rows"
	[ "$status" -eq 1 ]
	[[ "$output" == *"row 1: not tried: expected - for ours, and why"* ]]
	for bad in "[003]\ttable 3\ta\t1\t1" "003\ttable 3\ta\t1\t1\texact" "[003]\ttable 3\ta\t1\t\tmodel" "[003]\ttable 3\ta\t1\t1\tclose"; do
		echo -e "$bad" >"$BATS_TEST_TMPDIR/rows"
		run table "$BATS_TEST_TMPDIR/rows"
		[ "$status" -eq 1 ]
		[[ "$output" == *"row 1: expected [paper], where"* ]]
	done
}

# bats test_tags=whole
@test "a make that was stopped says what it does, and goes on behind the last part that is whole, unless an input is newer" {
	parts=$BATS_TEST_TMPDIR/papers/kim.parts
	papers() { make -s -C pipelines papers ONLY=kim RESULTS="$BATS_TEST_TMPDIR" 2>"$BATS_TEST_TMPDIR/said" >"$BATS_TEST_TMPDIR/out"; }
	if [ -n "${WHOLE:-}" ]; then
		papers
		[ "$(sed 's/[0-9]* s$/N s/' "$BATS_TEST_TMPDIR/said")" = $'papers: kim: table3 ...\npapers: kim: table3: N s\npapers: kim: figure10 ...\npapers: kim: figure10: N s\npapers: kim: 426 rows, N s' ]
		cp "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/whole"
		[ ! -e "$parts" ]
		rm "$BATS_TEST_TMPDIR/papers/kim.tsv"
	fi
	# Stopped behind the first part: as it is there, with one row less, so that one sees which is taken.
	mkdir -p "$parts"
	pipelines/kim-table3 | sed '$d' >"$parts/table3"
	touch "$parts/begun"
	papers
	[ "$(sed 's/[0-9]* s$/N s/' "$BATS_TEST_TMPDIR/said")" = $'papers: kim: table3: kept from the run before\npapers: kim: figure10 ...\npapers: kim: figure10: N s\npapers: kim: 422 rows, N s' ]
	if [ -n "${WHOLE:-}" ]; then
		rm "$BATS_TEST_TMPDIR/papers/kim.tsv"
		mkdir "$parts"
		echo old >"$parts/table3"
		touch -d 2001-01-01 "$parts/begun"
		papers
		diff "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/out"
	fi
	# A part that fails is not kept.
	mkdir "$parts"
	run env PARTS="$parts" pipelines/part failed sh -c 'echo half; exit 3'
	[ "$status" -eq 3 ]
	[ -z "$(ls "$parts")" ]
	[ "$(pipelines/part name echo whole)" = whole ]
}

# bats test_tags=whole
@test "[003]: all 13 rows of table 3, and the README shows them" {
	make -s -C pipelines papers ONLY=kim RESULTS="$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^\[003\]  table 3' "$BATS_TEST_TMPDIR/out")" -eq 52 ]
	# Of the degrees, only loaded addresses and the two that the paper contradicts differ.
	[ "$(awk -F '\t' '$2 == "table 3" && /degree/ && $6 != "exact" { sub(/,.*/, "", $3); print $3 }' "$BATS_TEST_TMPDIR/papers/kim.tsv" | paste -sd' ')" = \
		"b+tree_findK b+tree_findRangeK bfs_kernel1 2DConvolution backprop_adjust_weights" ]
	pipelines/kim-table3 | while IFS= read -r line; do
		grep -qxF "| ${line//$'\t'/ | } |" pipelines/README.md || { echo "not in the README: $line"; exit 1; }
	done
	run pipelines/kim-table3 a b
	[ "$status" -eq 2 ]
	# Digits are those of the paper's table: 3.429 is not its 3.00.
	[ "$(awk -F '\t' '$3 == "backprop_adjust_weights, estimated sectors" { print $4, $5, $6 }' "$BATS_TEST_TMPDIR/papers/kim.tsv")" = "3.00 3.429 model" ]
}

@test "[003] figure 10: 288 places, and the graphs of convolutions and of a mask as sums by hand" {
	pipelines/kim-table3 --graph >"$BATS_TEST_TMPDIR/graphs"
	# 9 loads, three of them one element before and three behind: a third at place 0, two thirds up to 6, all from 7 on.
	[ "$(awk '$1 == "2DConvolution" { printf "%.2f %.2f %.2f %.2f %.2f", $2, $3, $8, $9, $33 }' "$BATS_TEST_TMPDIR/graphs")" = "0.33 0.67 0.67 1.00 1.00" ]
	# 8 loads: a mask of bytes, 4 threads at each of 8 places; two of each half of a node; a cost; two whose address is loaded.
	[ "$(awk '$1 == "bfs_kernel1" { print $2, $9, $10, $33 }' "$BATS_TEST_TMPDIR/graphs")" = "0.875 0.875 0.375 0.375" ]
	awk -F '\t' '!/^#/ { if (NF != 33) exit 1; n += NF - 1 } END { exit n != 288 }' pipelines/kim.figure10
}

# bats test_tags=whole
@test "[000]: its examples of reuse distances, and L of table 4, each as a sum by hand" {
	pipelines/papers/rdgc examples >"$BATS_TEST_TMPDIR/examples"
	[ "$(grep -c 'exact$' "$BATS_TEST_TMPDIR/examples")" -eq 24 ]
	pipelines/papers/rdgc table4 >"$BATS_TEST_TMPDIR/table4"
	cat "$BATS_TEST_TMPDIR/examples" "$BATS_TEST_TMPDIR/table4" | awk -v only=summary -f pipelines/papers.awk >"$BATS_TEST_TMPDIR/summary"
	# The loops of the kernels' sources, at the sizes N of the table: loads and stores of an iteration times iterations, and those around it.
	[ "$(awk -F '\t' '$3 ~ /, L/ { sub(/,.*/, "", $3); print $3, $5 }' "$BATS_TEST_TMPDIR/table4" | paste -sd,)" = "2DCONV 10,2MM $((3 * 384 + 1)),3DCONV $((12 * 254)),ATAX $((3 * 4096 + 1)),BICG $((3 * 4096 + 1)),CORR $(((3 * 256 + 2) * 255 + 1)),COVAR $(((3 * 256 + 2) * 256)),FDTD 6,FDTD 4,FDTD 6,GESUMMV $((8 * 4096 + 4)),GRAMSC. $((7 * 128 * 127)),MVT $((3 * 4096 + 1)),SYR2K $((5 * 256 + 2)),SYRK $((3 * 256 + 2)),BP 16,CFD $((4 * 9 + 5 + 5)),HSPOT 3,NW $((256 * 35)),SRAD_V2 10" ]
	[ "$(awk -F '\t' '$6 == "input"' "$BATS_TEST_TMPDIR/table4" | wc -l)" -eq 18 ]
	# The neighbours of a mesh of 2 x 2: left, right, above, below.
	[ "$(pipelines/rdgc-mesh 2 2 | od -An -v -td4 | xargs)" = "-1 0 -1 2 1 -1 3 -1 -2 -2 0 1 2 3 -2 -2" ]
	run pipelines/papers/rdgc table9
	[ "$status" -eq 2 ]
}

@test "[000] 5.3 in words: what holds is said to hold, and what does not is not" {
	parts=$BATS_TEST_TMPDIR/rdgc.parts
	mkdir "$parts"
	# Percentages, of which every claim holds.
	for kernel in 2DCONV 2MM ATAX1 CORR; do
		printf "$kernel\t%s\t%s\n" base 70 'index xor' 60 'index mod' 10 'index smod:4' 40 'replace fifo' 69.5 'replace random:1' 69.6 'replace lfu:way' 60 \
			'replace lfu' 70 'line 32' 69 'line 64' 71 'map part:4' 65 'map part:8' 62 'map random:1' 42 blocks 8 'l2 base' 50 'l2 map part:4' 51 \
			'l2 map part:8' 51 'l2 map random:1' 50 'l2 parallelism 1' 90 'l2 parallelism 2' 90 'l2 parallelism 4' 90 'l2 distances 1' '1 2' \
			'l2 distances 2' '2 1' 'l2 distances 4' '3 0' 'l2 replace lru' 1 'l2 replace fifo' 2 'l2 replace lfu:way' 3 'l2 replace random:1' 4 \
			'latency fixed:1' 70 'latency fixed:200' 69 'fails fixed:1' 10 'fails fixed:200' 100 'merges fixed:1' 10 'merges fixed:200' 100 'size 8K' 80 \
			'blocks 64x4 size 8K' 2 'blocks 64x4 size 16K' 80 >"$parts/$kernel"
	done
	printf 'ATAX1\tline 32\t90\nATAX1\treplace random:1\t80\n' >>"$parts/ATAX1"
	printf '2MM\treplace lfu:way\t69.9\n' >>"$parts/2MM"
	printf 'CORR\treplace lfu:way\t90\n' >>"$parts/CORR"
	: >"$parts/examples"
	: >"$parts/table4"
	claims() { PARTS=$parts pipelines/papers/rdgc 2>/dev/null | awk -F '\t' '$2 ~ /^(5.1|5.3.1|5.3.3|figure (9|1[0-2]))$/ && $6 != "not tried" || $3 ~ /how far/'; }
	claims >"$BATS_TEST_TMPDIR/hold"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/hold")" -eq 23 ]
	[ "$(awk -F '\t' '$4 != $5 && $4 + 0 != $5 + 0 { print $3 }' "$BATS_TEST_TMPDIR/hold")" = "" ]
	# Each claim turned round: the best index, policies, lines, maps, partitions, latencies.
	printf '%s\n' 'CORR index xor 99' 'ATAX1 index xor 99' '2DCONV index xor 99' '2MM index xor 99' 'CORR replace lfu:way 1' '2DCONV replace lfu:way 99' '2MM replace lfu:way 99' \
		'ATAX1 replace lfu:way 99' 'ATAX1 l2 replace lru 99' '2DCONV replace fifo 20' '2DCONV line 32 10' '2MM line 32 10' 'CORR line 32 10' 'ATAX1 line 32 70' \
		'2DCONV l2 map part:4 99' '2MM l2 map part:4 99' '2DCONV l2 parallelism 2 50' '2MM l2 parallelism 2 50' '2DCONV l2 distances 1 3 0' '2MM l2 distances 1 3 0' \
		'2MM latency fixed:200 10' '2MM fails fixed:200 10' '2MM size 8K 10' 'CORR index mod 99' 'CORR index smod:4 99' 'ATAX1 index mod 99' 'ATAX1 index smod:4 99' \
		'2DCONV index mod 99' '2DCONV index smod:4 99' '2DCONV blocks 64x4 size 16K 20' '2MM replace fifo 1' | sed -E 's/^([^ ]+) (.*:4|.*[a-zK0-9]) ([0-9.]+|3 0)$/\1\t\2\t\3/; s/distances 1 3\t0/distances 1\t3 0/' |
		while IFS= read -r line; do echo "$line" >>"$parts/${line%%$'\t'*}"; done
	claims >"$BATS_TEST_TMPDIR/turned"
	[ "$(awk -F '\t' '$4 == $5 { print $3 }' "$BATS_TEST_TMPDIR/turned")" = "" ]
}

# bats test_tags=whole
@test "[004]: the chart of L2's hits, by its model and by PPT-GPU-Mem, and the README shows them" {
	# The four that take seconds; tests/long/papers.bats has all.
	pipelines/yuan-chart NN HS JACOBI 2DCONV >"$BATS_TEST_TMPDIR/chart"
	sed 1d "$BATS_TEST_TMPDIR/chart" | while IFS= read -r line; do
		grep -qxF "| ${line//$'\t'/ | } |" pipelines/README.md || { echo "not in the README: $line"; exit 1; }
	done
	# Columns 3 and 5 are the paper's.
	awk -F '\t' 'NR > 1 { if ($4 - $3 > 1 || $3 - $4 > 1 || $6 - $5 > 2 || $5 - $6 > 2) exit 1 } END { exit NR != 5 }' "$BATS_TEST_TMPDIR/chart"
	pipelines/papers/yuan NN | grep -qx "\[004\].5.3.2.2DCONV, L2 hits without L1 before it (%).90.89.98.model"
	run pipelines/yuan-chart XX
	[ "$status" -eq 2 ]
	[[ "$output" == *"expected some of BP GS-16 GS-64 HS NN NW"* ]]
	run pipelines/yuan-chart LMD
	[ "$status" -eq 2 ]
}

# bats test_tags=whole
@test "[004]: what its program says of the same traces, the examples of its text, and a place for each of its tables' numbers" {
	pipelines/papers/yuan NN HS NW GS-16 LMD >"$BATS_TEST_TMPDIR/rows"
	awk -v only=summary -f pipelines/papers.awk "$BATS_TEST_TMPDIR/rows"
	rows() { awk -F '\t' "$1" "$BATS_TEST_TMPDIR/rows"; }
	# The four applications have 5 or, without PPT-GPU-Mem, 4 numbers each; papers.awk fails if one that is exact is not equal.
	[ "$(rows '$2 == "their program" && $6 == "exact" && $4 == $5' | wc -l)" -eq 19 ]
	[ "$(rows '$3 == "NW, 255 launches, L2 reads" { print $4, $7 }')" = "1064960 with gcache --l1 --size 64K" ]
	[ "$(rows '$2 == "table 1" { print $5 }' | paste -sd' ')" = "1 inf 2 inf 3 inf 1 2 1 0 3 1" ]
	[ "$(rows '$2 == "figure 2" { print $5 }' | paste -sd' ')" = "256 128" ]
	[ "$(rows '$2 ~ /^table [2-6]$/ { print $2 }' | sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" = "58 10 44 15 30" ]
	[ "$(rows '$2 == "table 2" && $6 == "exact" { print $4 }' | paste -sd' ')" = "1 1 255" ]
	# An application that is not run says why, in both of its rows, and hardware has its own.
	[ "$(rows '$3 ~ /^LMD/ { print $5 $6 }' | paste -sd' ')" = "-not tried -not tried -not tried" ]
}

# bats test_tags=whole
@test "[004] table 5 on the chart's programs: L2's error is larger without the filter of L1, and each model has a row" {
	pipelines/yuan-chart --errors NN HS >"$BATS_TEST_TMPDIR/errors"
	[ "$(cut -f 1 "$BATS_TEST_TMPDIR/errors" | paste -sd' ')" = "model Final L1NonSec L2NonSec NoL1Filter NoAdaptL1" ]
	# Against 0.9 and 70.5: Final is the mean of 0.9 - 0 and 70.5 - 60.80.
	[ "$(awk '$1 == "Final" { print $2 }' "$BATS_TEST_TMPDIR/errors")" = 5.30 ]
}

@test "[004] figure 9: DRAM reads foretold are L2's read misses, from hardware's counters and from ours" {
	awk -f pipelines/yuan-figure9.awk tests/reference/titanx-pascal.csv >"$BATS_TEST_TMPDIR/figure9"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/figure9")" -eq 11 ]
	# 1048576 sectors at 94.9266 %, against 53223.
	grep -q '^gemm_tiled 512 32 .*	1048576	94.93	53118	53223	-0.2$' "$BATS_TEST_TMPDIR/figure9"
	printf 'kernel,stage,counter,value\n1,l2,reads,200\n1,l2,read_hits,50\n1,dram,reads,300\n2,l2,reads,10\n2,l2,read_hits,0\n2,dram,reads,10\ntotal,l2,reads,210\n' |
		awk -f pipelines/yuan-figure9.awk | tail -n +2 | diff - <(printf '1\t200\t25.00\t150\t300\t-50.0\n2\t10\t0.00\t10\t10\t0.0\nmean of 2\t-\t-\t-\t-\t-25.0, absolute 25.0, r 1.000\n')
}

@test "[004] figure 9 reads the names of nvprof and of Nsight Compute, both in one table" {
	ours() { awk -f pipelines/yuan-figure9.awk "$@"; }
	# Hits and misses of hotspot: 486965 + 262144 = 749109, 65.01 %; DRAM has 262147.
	ours tests/reference/titanx-pascal.csv tests/reference/quadro-v100.csv >"$BATS_TEST_TMPDIR/both"
	grep -q '^quadro-v100 rodinia_hotspot 1024 2 2 calculate_temp .*	749109	65.01	262144	262147	0.0$' "$BATS_TEST_TMPDIR/both"
	grep -q '^titanx-pascal gemm_tiled 512 32 .*	1048576	94.93	53118	53223	-0.2$' "$BATS_TEST_TMPDIR/both"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/both")" -eq 20 ]
	grep -q '^mean of 18	' "$BATS_TEST_TMPDIR/both"
	# One file with both, by a rate, by hits of a count, by misses, and with DRAM in bytes; a quoted field with a comma.
	{ echo gpu,program,kernel,metric,value
	  for row in a,l2_tex_read_transactions,200 a,l2_tex_read_hit_rate,25 a,dram_read_transactions,300 \
		b,lts__t_sectors_op_read.sum,100 b,lts__t_sector_op_read_hit_rate.pct,40 b,dram__sectors_read.sum,60 \
		c,lts__t_sectors_op_read.sum,100 c,lts__t_sectors_op_read_lookup_miss.sum,30 c,dram__bytes_read.sum,1280; do
		echo "one,\"p, q\",$row"
	  done; } >"$BATS_TEST_TMPDIR/mixed.csv"
	ours "$BATS_TEST_TMPDIR/mixed.csv" | tail -n +2 | diff - <(printf 'p, q a\t200\t25.00\t150\t300\t-50.0\np, q b\t100\t40.00\t60\t60\t0.0\np, q c\t100\t70.00\t30\t40\t-25.0\nmean of 3\t-\t-\t-\t-\t-25.0, absolute 25.0, r 0.985\n')
	run ours <(echo x,y)
	[ "$status" -eq 1 ]
	[[ "$output" == "yuan-figure9: "*": expected the columns of gstats --csv, or gpu, ... metric, value" ]]
}
