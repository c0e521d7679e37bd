#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The parts of make validate: store hits, the contents of L2 before a kernel, and the script on a small table.
# tests/long/validate.bats runs the whole tables.

load helpers

setup_file() { prepare_preload; }
setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# kernel COUNTS: a stream of one kernel with these #count lines, and rows "op address sectors full" from stdin.
kernel() {
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n'
		[ -z "$1" ] || printf "$1"'\n'
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n' | tr -d '#'
		awk 'BEGIN { OFS = "\t" } { print 0, 0, NR, 0, $1, $2, $3, $4, 32 }'
	} | gtrace-cat --from
}

# counters_of LEVEL STREAM NAME...: counters of a level, side by side.
counters_of() {
	local level=$1 stream=$2 name
	shift 2
	for name in "$@"; do
		gstats --csv "$stream" | awk -F, -v level="$level" -v name="$name" '$1 == 1 && $2 == level && $3 == name { print $4 }'
	done | paste -sd' '
}
l2() { counters_of l2 "$@"; }

@test "a store hits if its sectors are valid, or if its line is present" {
	printf 'store.global 0x1000 %s\n' '0x3 0x3' '0xc 0xc' '0xf 0xf' | kernel "" >in.gt
	gcache --l2 <in.gt >out.gt
	[ "$(l2 out.gt writes write_hits line_misses sector_misses sent_writes)" = "8 4 2 2 4" ]
	gcache --l2 --write-hits tag <in.gt >out.gt
	[ "$(l2 out.gt writes write_hits line_misses sector_misses sent_writes)" = "8 6 2 0 4" ]
	gcache --l2 --write through --write-hits tag <in.gt >out.gt
	[ "$(l2 out.gt writes write_hits line_misses sector_misses)" = "8 6 2 0" ]
	gtrace-cat --check <out.gt >/dev/null
}

@test "a warm level holds the copied sectors, and does not count the warming" {
	local counts='#count\tstage=copies\tkernel=1\taddresses=[4128,8192]\tbytes=[33,128]\n#count\tstage=allocations\tkernel=1\taddresses=[4096]\tbytes=[4096]\tnames=a'
	printf 'load.global %s 0xf 0\n' 0x1000 0x2000 0x3000 | kernel "$counts" >in.gt
	gcache --l2 <in.gt >out.gt
	[ "$(l2 out.gt reads read_hits evictions sent_reads)" = "12 0 0 12" ]
	gcache --l2 --warm copies <in.gt >out.gt
	[ "$(l2 out.gt reads read_hits line_misses sector_misses evictions sent_reads sent_writes)" = "12 6 4 2 0 6 0" ]
	gcache --l2 --warm allocations <in.gt >out.gt
	[ "$(l2 out.gt reads read_hits)" = "12 4" ]
	# A description says it too.
	gtrace-cat in.gt | sed 's/^#kernel/#gpu\tl2.warm=copies\n&/' | gtrace-cat --from | gcache --l2 >out.gt
	[ "$(l2 out.gt reads read_hits sent_reads)" = "12 6 6" ]
	# The last bytes stay in a level that is too small for all, and evictions are not counted.
	gcache --l2 --size 128 --ways 1 --warm copies --emit none <in.gt >out.gt
	[ "$(l2 out.gt read_hits evictions)" = "0 3" ]
	gcache --l2 --size 256 --ways full --warm copies --flush never <in.gt >out.gt
	[ "$(l2 out.gt read_hits evictions)" = "6 1" ]
	gtrace-cat --check <out.gt >/dev/null
}

@test "levels that cannot be warmed are refused" {
	kernel "" </dev/null >in.gt
	expect_failure 2 "warm is for a shared data cache" gcache --l1 --warm copies in.gt
	expect_failure 2 "warm is for the functional model" gcache --l2 --warm copies --mshr 1x4 in.gt
	expect_failure 2 "expected none, copies or allocations" gcache --l2 --warm all in.gt
	expect_failure 2 "expected sector or tag" gcache --l2 --write-hits line in.gt
	kernel '#count\tstage=copies\tkernel=1\taddresses=[1,2]\tbytes=[1]' </dev/null >bad.gt
	gcache --l2 bad.gt >out.gt
	run bash -c 'gcache --l2 --warm copies bad.gt 2>&1 >out.gt'
	[ "$status" -eq 1 ]
	[ "$output" = "gcache: copies: expected as many addresses as bytes" ]
	kernel '#count\tstage=copies\tkernel=1\taddresses=[1]\tbytes=[18446744073709551615]' </dev/null >bad.gt
	run bash -c 'gcache --l2 --warm copies bad.gt 2>&1 >out.gt'
	[ "$status" -eq 1 ]
	[[ $output == "gcache: what was copied into the memory: expected ranges of at most 256 GB" ]]
}

# table ROW...: a reference table with these rows.
table() {
	printf '%s\n' gpu,program,arguments,kernel,grid,block,ordinal,l2,metric,value,unit,noise,target,reason,source "$@"
}

@test "gtrace-record counts what the program has copied" {
	command -v clang >/dev/null || skip "no clang here"
	build_kernels clang vectoradd
	LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$BUILD/kernels-clang/vectoradd" 1000 128 >out.gt
	gstats --csv out.gt >out.csv
	[ "$(grep -c '^1,copies,bytes.*,4000$' out.csv)" -eq 2 ]
	[ "$(grep -c '^1,allocations,bytes.*,4000$' out.csv)" -eq 3 ]
	gtrace-cat --check <out.gt >/dev/null
	gschedule --gpu titanx-pascal <out.gt | gcache --l2 --warm copies | gstats --csv >warm.csv
	grep -qx '1,l2,read_hits,250' warm.csv
}

@test "a replayed launch runs twice, with its memory restored and with L2 as the first run left it" {
	command -v clang >/dev/null || skip "no clang here"
	local kernels=$BUILD/kernels-clang
	build_kernels clang vectoradd polybench_gemm
	LD_PRELOAD=${PRELOAD-} gtrace-record --replay --stdout words "$kernels/vectoradd" 10000 128 >out.gt
	gtrace-cat out.gt | grep -a '^#kernel' | cut -f 2,3 | diff - <(printf 'id=1\tname=vectoradd pass 1\nid=2\tname=vectoradd\n')
	# 40000 bytes in two pieces, each read from the copy and written back.
	gstats --csv out.gt | grep '^2,copies,bytes' | diff - <(printf '2,copies,bytes[%s],%s\n' 0 32768 1 32768 2 7232 3 7232)
	gtrace-cat --check <out.gt >/dev/null
	gschedule --gpu titanx-pascal <out.gt | gcache --l2 --warm copies --flush never | gstats --csv >l2.csv
	grep -qx '1,l2,write_hits,0' l2.csv
	grep -qx '2,l2,write_hits,1250' l2.csv
	grep -qx '2,l2,read_hits,2500' l2.csv
	# Its result depends on the contents of memory.
	LD_PRELOAD=${PRELOAD-} gtrace-record --replay --stdout words "$kernels/polybench_gemm" 20 32 8 >out.gt
	grep -qx ok words
}

# bats test_tags=whole
@test "another table: hardware, ours, differences, errors, missing values" {
	command -v clang >/dev/null || skip "no clang here"
	local row='titanx-pascal,vectoradd,10000 1024 64,vectoradd_double'
	table "$row,10x1x1,1024x1x1,1,copies,l2_tex_read_transactions,5001,transaction,,yes,one more,a test" \
		"$row,10x1x1,1024x1x1,1,copies,l2_tex_read_hit_rate,100,%,,yes,,a test" \
		"$row,10x1x1,1024x1x1,1,cold,l2_tex_read_hit_rate,0,%,,yes,,a test" \
		"$row,9x1x1,,1,cold,l2_tex_read_hit_rate,0,%,,yes,,a test" \
		'titanv,transposes,32,tile_read_down,,,,,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,1024,,,yes,,a test' \
		'titanv,nosuch,1,*,,,,,lts__t_sectors_op_read.sum,1,sector,,yes,,a test' >t.csv
	LD_PRELOAD=${PRELOAD-} "$ROOT/tests/validate" --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" --cuda clang t.csv >out
	grep -Eq 'l2_tex_read_transactions +5001 +5000 +-1  blind  one more$' out
	[ "$(grep -Ec 'l2_tex_read_hit_rate +(100|0) +(100|0) +0  blind$' out)" -eq 2 ]
	grep -Eq 'l2_tex_read_hit_rate +0 +blind  not in the model$' out
	# 32 warps, each with 32 passes; shared memory is traced where a row counts it.
	grep -Eq 'l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum +1024 +1024 +0  blind$' out
	grep -Eq '^titanv +l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum +- +blind +1 +1 ' out
	grep -Eq '^titanx-pascal  l2_tex_read_transactions +transaction  blind +1 +0 +0\.02 +1 +- +0\.0002$' out
	grep -qx 'not run: 1 rows, nosuch on titanv: no examples/kernels/nosuch.cu' out
}

# bats test_tags=whole
@test "variants that share a trace have the numbers of runs of their own, and one that fails is named" {
	command -v clang >/dev/null || skip "no clang here"
	local validate=("$ROOT/tests/validate" --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" --cuda clang)
	table 'titanx-pascal,vectoradd,10000 1024 64,vectoradd_double,10x1x1,1024x1x1,1,copies,l2_read_plus_write_transactions,9000,transaction,,yes,,a test' >t.csv
	LD_PRELOAD=${PRELOAD-} "${validate[@]}" --ablation t.csv >out
	own_error() { LD_PRELOAD=${PRELOAD-} "${validate[@]}" t.csv | awk '/transaction  blind/ { print $7 }'; }
	[ "$(awk '/^launch reads/ { print $3 }' out)" = "$(L2='--launch-reads none' own_error)" ]
	[ "$(awk '/^nothing/ { print $2 }' out)" = "$(own_error)" ]
	[ "$(L2='--launch-reads none' own_error)" != "$(own_error)" ]
	L2=--nonsense run "${validate[@]}" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv:2:"*"gcache: "*"nonsense"* ]]
}

# Programs that are built already, in a build of a test's own, b.
own_build() {
	build_kernels clang vectoradd gemm_wide
	mkdir b
	flock "$BUILD/kernels-clang.lock" cp -a "$BUILD/kernels-clang" b
}

# validate ARGUMENT...: with results of its own, in b.
validate() { LD_PRELOAD=${PRELOAD-} "$ROOT/tests/validate" --bin "$(dirname "$(command -v gstats)")" --build b --cuda clang "$@"; }

# small ARGUMENTS: a row of a vectoradd, which takes no time.
small() { echo "titanx-pascal,vectoradd,$1,vectoradd,,,,copies,l2_tex_read_transactions,1000,transaction,,yes,,a test"; }

# bats test_tags=whole
@test "results are kept: only what is missing or has other options or another program is run again, with the same table" {
	command -v clang >/dev/null || skip "no clang here"
	own_build
	table "$(small 4000)" "$(small 8000)" "$(small 8000)" >t.csv
	validate t.csv >first 2>said
	[ "$(grep -c '^validate: row ' said)" -eq 2 ]
	grep -q '^validate: row 3 of 3, [0-9]* s: vectoradd [48]000 on titanx-pascal: [0-9.]* s of processor time$' said
	grep -q '^validate: 2 programs took [0-9]* s of processor time, kept results counted; the dearest:$' said
	[ "$(grep -c '^ *[0-9.]* s  vectoradd [48]000 on titanx-pascal$' said)" -eq 2 ]
	[ "$(find b/validate -name '*.gt' | wc -l)" -eq 2 ]
	validate t.csv >second 2>said
	diff first second
	[ "$(grep '^validate: row ' said)" = "validate: row 3 of 3, 0 s: 2 programs have results in $PWD/b/validate" ]
	rm "$(find b/validate -name '*.gt' | head -1)"
	validate t.csv >second 2>said
	diff first second
	grep -q ': 1 programs have results in ' said
	[ "$(grep -c ' s of processor time$' said)" -eq 1 ]
	L2='--launch-reads none' validate t.csv >second 2>said
	[ "$(grep -c ' s of processor time$' said)" -eq 2 ]
	echo "// another program" >>b/kernels-clang/vectoradd
	validate t.csv >second 2>said
	diff first second
	[ "$(grep -c ' s of processor time$' said)" -eq 2 ]
}

# bats test_tags=whole
@test "a run that is stopped leaves nothing half done and nothing running, and goes on" {
	command -v clang >/dev/null || skip "no clang here"
	own_build
	table "$(small 4000)" 'titanx-pascal,gemm_wide,256 512 256,*,,,,cold,l2_tex_read_transactions,1000,transaction,,yes,,a test' >t.csv
	(exec env LD_PRELOAD="${PRELOAD-}" "$ROOT/tests/validate" --bin "$(dirname "$(command -v gstats)")" --build b --cuda clang --jobs 1 t.csv) >out 2>said &
	local run=$!
	while ! grep -q 'row 1 of 2' said; do
		sleep 0.1
		kill -0 $run
	done
	kill "$run"
	wait "$run" || status=$?
	[ "$status" -eq 143 ]
	[ ! -s out ]
	run pgrep -f "$PWD/b/kernels-clang/gemm_wide"
	[ "$status" -eq 1 ]
	[ "$(find b/validate -mindepth 1 | sed 's/.*\.//; s/.*\///' | sort | uniq -c | tr -s ' ')" = "$(printf ' 1 gt\n 1 seconds')" ]
	validate --jobs 1 t.csv >out 2>said
	grep -q 'row 1 of 2, 0 s: 1 programs have results in ' said
	grep -q 'row 2 of 2, .*: gemm_wide 256 512 256 on titanx-pascal: ' said
}

@test "a result is not kept if gtrace was built anew meanwhile" {
	command -v clang >/dev/null || skip "no clang here"
	own_build
	mkdir bin
	cp "$(dirname "$(command -v gstats)")"/g* bin
	ln -s "$ROOT/gpus" gpus
	cp bin/gdram gdram
	# It is rebuilt as soon as it runs.
	printf '#!/bin/sh\nmv "%s" "%s"\nexec "%s" "$@"\n' "$PWD/gdram" "$PWD/bin/gdram" "$PWD/bin/gdram" >bin/gdram
	table "$(small 4000)" >t.csv
	LD_PRELOAD=${PRELOAD-} run "$ROOT/tests/validate" --bin bin --build b --cuda clang t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"validate: gtrace was built anew while its programs ran: start again"* ]]
	[ -z "$(find b/validate -name '*.gt')" ]
}

# bats test_tags=whole
@test "on a terminal one line says at which row it is" {
	command -v clang >/dev/null || skip "no clang here"
	own_build
	needs_terminal
	table "$(small 4000)" 'titanx-pascal,gemm_wide,256 512 256,*,,,,cold,l2_tex_read_transactions,1000,transaction,,yes,,a test' >t.csv
	SHELL=/bin/bash script -qec "LD_PRELOAD=${PRELOAD-} $ROOT/tests/validate --bin $(dirname "$(command -v gstats)") --build b --cuda clang --jobs 1 t.csv >out" /dev/null </dev/null >said
	tr '\r' '\n' <said >lines
	grep -q 'validate: row 0 of 2, [0-9]* s: ' lines
	grep -q 'validate: row 1 of 2, [0-9]* s: .* on titanx-pascal' lines
	grep -q '^titanx-pascal  l2_tex_read_transactions' out
}

@test "docs/hardware.md has a line for each metric, GPU and use of the reference tables, with the numbers of rows; its text cites the table" {
	cd "$ROOT" || return 1
	tests/validate --check-page docs/hardware.md
	sed '/titanv .* all /d' docs/hardware.md >"$BATS_TEST_TMPDIR/page.md"
	run tests/validate --check-page "$BATS_TEST_TMPDIR/page.md"
	[ "$status" -eq 1 ]
	[[ $output == *"its table has '"*"' where the figures have 'titanv lts__t_sector_op_read_hit_rate.pct % all "*"make hardware-table" ]]
	sed 's/blind      6/blind      7/' docs/hardware.md >"$BATS_TEST_TMPDIR/page.md"
	run tests/validate --check-page "$BATS_TEST_TMPDIR/page.md"
	[ "$status" -eq 1 ]
	grep -v 'begin: make' docs/hardware.md >"$BATS_TEST_TMPDIR/page.md"
	run tests/validate --check-page "$BATS_TEST_TMPDIR/page.md"
	[ "$status" -eq 1 ]
	[[ $output == *"expected a table between the lines"* ]]
	sed 's/h100 5.4 %/h100 5.3 %/' docs/hardware.md >"$BATS_TEST_TMPDIR/page.md"
	run tests/validate --check-page "$BATS_TEST_TMPDIR/page.md"
	[ "$status" -eq 1 ]
	[[ $output == *"it cites an error of 5.3 % of lts__t_sectors_srcunit_tex_op_read.sum on h100 where its table has 5.3568" ]]
}

@test "an invalid table is refused" {
	printf 'gpu,program\ntitanv,gemm\n' >t.csv
	run "$ROOT/tests/validate" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv: expected the columns"* ]]
	table titanv,gemm,1,k,,,,tepid,m,1,,,,, >t.csv
	run "$ROOT/tests/validate" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv:2: l2 'tepid': expected one of cold"* ]]
	table titanv,gemm,1,k,,,,cold,m,many,,,,, >t.csv
	run "$ROOT/tests/validate" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv:2: value 'many': expected a number"* ]]
	printf 'gpu,program,kernel,metric,value,used,reason\ntitanv,gemm,k,m,1,%s\n' tuned, >t.csv
	run "$ROOT/tests/validate" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv:2: used 'tuned': expected chosen or blind"* ]]
	printf 'gpu,program,kernel,metric,value,used,reason\ntitanv,gemm,k,m,1,chosen,\n' >t.csv
	run "$ROOT/tests/validate" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv:2: a row that is chosen by has a reason"* ]]
	printf 'gpu,program,kernel,metric,value\ntitanv,gemm,k,m,1,counted, posted\n' >t.csv
	run "$ROOT/tests/validate" t.csv
	[ "$status" -eq 1 ]
	[[ $output == *"t.csv:2: more fields than columns"* ]]
}

@test "every row of the tables has a source, says how it was used, and has a reason if it is no target or a choice was made by it" {
	python3 - "$ROOT"/tests/reference/{titanx-pascal,gtx1080,titanv,quadro-v100,a30,a40,a100,rtx3050ti,rtx3060laptop,rtx3070,rtx4060,rtx4060ti,t4,b200}.csv <<-'PYTHON'
		import csv, sys
		for path in sys.argv[1:]:
		    for row in csv.DictReader(open(path)):
		        float(row["value"])
		        assert row["source"] and row["target"] in ("yes", "no") and row["used"] in ("chosen", "blind"), row
		        assert row["reason"] or (row["target"], row["used"]) == ("yes", "blind"), row
	PYTHON
}

@test "each variant of ablations.csv is accepted by the stages, with each of its GPUs" {
	gpchase trace -N 4K -k 1 >in.gt
	python3 - "$ROOT/tests/reference/ablations.csv" >variants <<-'END'
		import csv, sys
		for row in csv.DictReader(open(sys.argv[1])):
		    for gpu in (row["gpus"] or "titanx-pascal gtx1080 titanv quadro-v100 a30 rtx3070 rtx4060ti").split():
		        print(gpu, *(row[stage] for stage in ("coalesce", "schedule", "l1", "l2", "name")), sep="|")
	END
	while IFS='|' read -r gpu coalesce schedule l1 l2 name; do
		# shellcheck disable=SC2086
		gcoalesce ${coalesce:---gpu $gpu} in.gt | gschedule --gpu "$gpu" $schedule | gcache --l1 $l1 | gcache --l2 --warm none --flush between $l2 |
			gdram | gstats --csv >out || { echo "$gpu: $name"; return 1; }
	done < <(few_lines 15 <variants)
	[ "$(wc -l <variants)" -gt 50 ]
}

@test "in Pascal's descriptions stores hit by tag" {
	printf 'store.global 0x1000 %s\n' '0x3 0x3' '0xc 0xc' | kernel "" >in.gt
	for gpu in gtx1080 titanx-pascal; do
		gschedule --gpu $gpu <in.gt | gcache --l2 >out.gt
		[ "$(l2 out.gt write_hits)" = 2 ]
	done
}

@test "from Volta on stores hit L1 by tag, and L2 fetches 64 bytes but on GPUs with GDDR, which fetch a sector" {
	# A store to each half of a line, then loads of its sectors, of which L2 gets those of the second line one by one.
	printf 'store.global 0x1000 %s\n' '0x3 0x3' '0xc 0xc' | kernel "" >stores.gt
	printf 'load.global 0x1080 %s\n' '0x1 0x1' '0x2 0x2' '0x4 0x4' '0x8 0x8' | kernel "" >loads.gt
	few 6 "$ROOT"/gpus/*
	for gpu in "${FEW[@]}"; do
		[ "$(sed -n 's/^compute_capability *= \([0-9]*\).*/\1/p' "$gpu")" -ge 7 ] || continue
		gschedule --gpu "$gpu" <stores.gt | gcache --l1 >out.gt
		[ "$(counters_of l1 out.gt write_hits)" = 2 ] || { echo "$gpu"; return 1; }
		gschedule --gpu "$gpu" <loads.gt | gcache --l2 --launch-reads none >out.gt
		case $(grep '^dram.channels' "$gpu") in
		*GDDR6*) [ "$(l2 out.gt read_hits)" = 0 ] ;;
		*HBM*) [ "$(l2 out.gt read_hits)" = 2 ] ;;
		esac || { echo "$gpu"; return 1; }
	done
}

# bats test_tags=whole
@test "pictures: the model beside hardware, as tables and as SVG" {
	command -v nvcc >/dev/null || command -v clang >/dev/null || skip "neither nvcc nor clang here"
	printf 'gpu,description,footprint_kb,l1_miss_fraction\nV100,quadro-v100,64,0\nV100,quadro-v100,160,0.1\n' >knees.csv
	printf 'gpu,description,footprint_kb,latency_cycles\nA100,a100,100,36\nA100,a100,4096,213\nB200,b200,2026,none,270.9,214.6\n' >latencies.csv
	LD_PRELOAD=${PRELOAD-} "$ROOT/tests/pictures" --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" out knees.csv latencies.csv
	diff out/knee.csv <(printf 'gpu,kilobytes,hardware,model,timed\nV100,64,0,0.000,0.000\nV100,160,0.1,0.848,0.266\n')
	diff out/latency.csv <(printf 'gpu,kilobytes,hardware,model\nA100,100,36,36.0\nA100,4096,213,211.0\nB200,270.9,214.6,294.0\n') # a ring of lines: of one of 64-byte elements some would hit
	if command -v gnuplot >/dev/null; then
		grep -q '<svg' out/knee.svg
		grep -q '<svg' out/latency.svg
	fi
	printf 'V100,quadro-v100,64\n' >short.csv
	run "$ROOT/tests/pictures" --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" out short.csv
	[ "$status" -eq 1 ]
	[ "$output" = "pictures: short.csv: expected gpu,description,footprint_kb,l1_miss_fraction" ]
}
