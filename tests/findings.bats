#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Findings, gtrace-findings(7), on kernels in pairs, of tests/findings: one that has the finding, and one that does the same work without.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# holds PAIR...: see tests/findings/pairs.py.
holds() { python3 "$ROOT/tests/findings/pairs.py" "$@"; }

@test "uncoalesced and misaligned accesses" {
	holds "uncoalesced load" "uncoalesced store" "uncoalesced atomic" "misaligned load" "misaligned store"
}

@test "few active lanes, bytes never used" {
	holds "few active lanes" "bytes never used" "bytes never used, structures of 64 bytes" "bytes never used, one lane"
}

@test "misses of L1" {
	holds "L1 too small" "L1 conflicts" "dropped by stores" "read by several SMs" "blocks share L1"
}

@test "misses of L2" {
	holds "L2 too small" "L2 too small, fetches of 64 bytes" "L2 conflicts" "partial store" "repeated store"
}

@test "shared, constant and local memory, atomics on one address" {
	holds "shared-memory bank conflicts" "constants in turn" "local memory" "atomics on one address"
}

@test "launches, device memory, TLBs, polling" {
	holds "launches outweigh the kernel" "DRAM rows" "DRAM channels" "TLB reach" polling
}

@test "gains of larger and of fully associative caches are what such caches read" {
	# A product with a sparse matrix of random columns, on two L1s: 24 KB with sectors, and 16 KB without.
	for gpu in gtx1080 gtx560ti; do
		gtrace-ptx --gpu $gpu --launch "spmv<<<64,128>>>(first=s32[8193]:ramp(0,12), column=s32[98304]:rand(1,200000), value=f32[98304], x=f32[200000], y=f32[8192], rows=8192)" \
			"$ROOT/examples/kernels/ptx/spmv.ptx" | gcoalesce --by site | gschedule >scheduled
		gcache --l1 --by site --causes scheduled | gstats --findings --json --all >found.json
		python3 - found.json <<-'END'
			import json, subprocess, sys

			kernel = json.load(open(sys.argv[1]))["kernels"][0]
			line = 128

			def l2(*options):
			    "What an L1 of these options sends on."
			    stages = "gcache --l1 --replace lru --index mod " + " ".join(options) + " scheduled | gstats --findings --json"
			    return json.loads(subprocess.run(stages, shell=True, stdout=subprocess.PIPE, check=True).stdout)["kernels"][0]["traffic"]["l2_sectors"]

			before, held = kernel["traffic"]["l2_sectors"], 0
			gains = {"l1_capacity": 0, "l1_conflict": 0}
			for finding in kernel["findings"]:
			    if finding["finding"] in gains:
			        gains[finding["finding"]] += finding["gain"].get("l2_sectors", {"value": 0})["value"]
			sizes = {f["evidence"]["size_that_keeps_90_percent"]["value"] for f in kernel["findings"] if f["finding"] == "l1_capacity"}
			size = next(f["evidence"]["size"]["value"] for f in kernel["findings"] if f["finding"] == "l1_capacity")
			full = l2(f"--size {size} --ways full")
			print(f"# conflicts: {before}, {before - gains['l1_conflict']} promised, {full} of a fully associative L1")
			assert abs(before - gains["l1_conflict"] - full) <= 0.02 * full
			large = l2(f"--size {max(sizes)} --ways full")
			print(f"# capacity: {before - sum(gains.values())} promised, {large} of one of {max(sizes)}")
			assert abs(before - sum(gains.values()) - large) <= 0.1 * large
			assert gains["l1_capacity"] > 0.1 * before
		END
	done
}

# ---- what the report looks like ----

# counted LAUNCH...: the stream of these launches of access.ptx behind all stages, on a TITAN V.
counted() {
	local launch launches=()
	for launch; do launches+=(--launch "$launch"); done
	gtrace-ptx --gpu titanv --space global,local,shared "${launches[@]}" "$ROOT/tests/findings/ptx/access.ptx" | gcoalesce --by site | gschedule |
		gcache --l1 --by site --causes | gcache --l2 --by site --causes | gdram
}
fields='fields_bad<<<16,256>>>(a=f32[4096*8], b=f32[4096], n=4096)'
copy='copy<<<64,256>>>(c=f32[16384], d=f32[16384], n=16384)'

# many N: a stream of N kernels, k1 with the least traffic, each with an uncoalesced load at m.cu:K of 32 sectors where 4 are enough.
many() {
	awk -v n="$1" 'BEGIN { OFS = "\t"
		print "#history", "gcoalesce", "0.1.0", "--by", "site"; print "#history", "gcache", "0.1.0", "--l1"
		for (k = 1; k <= n; k++) {
			print "#kernel", "id=" k, "name=k" k
			print "#count", "stage=source", "kernel=" k, "pcs=[16]", "lines=[" k "]", "files=[0]", "names=m.cu"
			print "#count", "stage=coalesce", "kernel=" k, "load_accesses=" k, "load_sectors=" 32 * k, "unique_bytes=" 128 * k, "0x10 a.op=load.global",
				"0x10 a.accesses=" k, "0x10 a.lanes=" 32 * k, "0x10 a.bytes=" 128 * k, "0x10 a.sectors=" 32 * k, "0x10 a.least_sectors=" 4 * k
			print "#count", "stage=l1", "kernel=" k, "reads=" 32 * k, "read_hits=" 32 * k, "sent_reads=0" } }' | gtrace-cat --from
}

@test "a report of two kernels: the one that costs more first, numbers through, in 80 columns and 40 lines" {
	counted "$copy" "$fields" >t
	gstats --findings --program "./a b" t >got
	# 4096 threads read 4 of 32 bytes: 4096 + 512 sectors at L1; the other kernel moves 2048 + 2048. A launch reads 109 at L2, 4 of memory. At 30, 215
	# and 430 cycles that is 3135555 of 5925510.
	diff - got <<-END
		NVIDIA TITAN V, modelled   ./a b   2 kernels

		fields_bad, 53 % of the cost
		  asked 32 KB -> L1 144 KB, 4.50x -> L2 147 KB, 1.02x -> DRAM 144 KB, 0.98x
		  L1 hits 0.0 % of reads, L2 0.0 %; DRAM moves 4.50 times the 32 KB touched
		  1  bytes never used   access.cu:118   a
		     12 % of the bytes in the sectors that are read of it are asked for
		     at most 3.58 k of 4.72 k sectors at L2, 3.58 k of 4.61 k at DRAM
		  2  uncoalesced load   access.cu:118   a
		     32.00 sectors an access, 4.00 are enough; lanes are 32 bytes apart
		     would save 3.58 k of 4.61 k sectors at L1

		copy, 47 % of the cost
		  asked 128 KB -> L1 128 KB, 1.00x -> L2 131 KB, 1.03x -> DRAM 128 KB, 0.98x
		  L1 hits 0.0 % of reads, L2 0.0 %; DRAM moves 1.00 times the 128 KB touched
		     nothing found: no finding would save 2 % of the traffic anywhere

		  more of 1: gtrace report ./a b
		  more of 2: gtrace lines ./a b
	END
}

@test "a program with long arguments has its counts on the next line" {
	counted "$fields" >t
	gstats --findings --program "./simulation --steps 1000 --grid 4096x4096" t | sed -n 1,3p | diff - <(
		printf '%s\n' "NVIDIA TITAN V, modelled   ./simulation --steps 1000 --grid 4096x4096   1 kernel" "" "fields_bad")
	gstats --findings --program "./simulation --steps 1000 --grid 4096x4096 -v" t | sed -n 1,2p | diff - <(
		printf '%s\n' "NVIDIA TITAN V, modelled   ./simulation --steps 1000 --grid 4096x4096 -v" "1 kernel")
}

@test "a program without source lines: the last line says how to have them; with lines, and of a trace, there is none" {
	hint='  0x...: instructions without a source line: compile with nvcc -g -lineinfo'
	counted "$fields" >t
	run ! grep -F lineinfo <(gstats --findings t)
	gtrace-cat t | grep -v stage=source | gtrace-cat --from >bare
	[ "$(gstats --findings --program ./a bare | tail -n 1)" = "$hint" ]
	gtrace-cat bare | grep -v stage=ptx | gtrace-cat --from >trace
	gstats --findings trace | grep -q ' 0x'
	run ! grep -F lineinfo <(gstats --findings trace)
}

@test "colour: --color, NO_COLOR, and none where nobody looks" {
	counted "$fields" >t
	gstats --findings t >plain
	run ! grep -q $'\033' plain
	gstats --findings --color never t | diff - plain
	gstats --findings --color always t >colours
	grep -q $'\033\[1mfields_bad\033\[0m' colours
	sed $'s/\033\\[[0-9;]*m//g' colours | diff - plain
	NO_COLOR=1 gstats --findings --color always t | diff - colours
	expect_failure 2 "--color 'sometimes': expected auto, always or never" gstats --findings --color sometimes t
	needs_terminal
	script -qec "gstats --findings t" /dev/null | grep -q $'\033'
	NO_COLOR=1 script -qec "gstats --findings t" /dev/null | tr -d '\r' | diff - plain
}

@test "300 kernels: five are shown, the others counted; --all shows each, and findings of any gain" {
	many 300 >t
	gstats --findings t >got
	[ "$(grep -c '^k[0-9]' got)" -eq 5 ]
	[ "$(grep '^k[0-9]' got | cut -d , -f 1 | tr '\n' ' ')" = "k300 k299 k298 k297 k296 " ]
	# 300 x 301 / 2 = 45150 accesses, of which these five have 1490.
	grep -qx '295 more kernels have 97 % of the cost: --all, --kernel RE' got
	[ "$(wc -l <got)" -lt 60 ]
	many 6 | gstats --findings | grep -q '^1 more kernel has [0-9]* % of the cost: --all, --kernel RE$'
	gstats --findings --all t >all
	[ "$(grep -c '^k[0-9]*, ' all)" -eq 300 ]
	[ "$(grep -c 'uncoalesced load   m.cu:' all)" -eq 300 ]
	gstats --findings --json t >got.json
	python3 - got.json <<-'END'
		import json, sys
		kernels = json.load(open(sys.argv[1]))["kernels"]
		assert len(kernels) == 300
		for i, kernel in enumerate(kernels, 1):
		    [finding] = kernel["findings"]
		    assert finding["place"] == f"m.cu:{i}" and finding["gain"] == {"l1_sectors": {"value": 28 * i, "basis": "computed"}}, finding
	END
}

@test "a small finding is counted, and shown with --all" {
	# 64 copies of 64 accesses beside one access of 32 sectors: 28 of 4096 x 8 + 36 sectors.
	gtrace-cat --from <<-'END' | gstats --findings >got
		#history	gcoalesce	0.1.0	--by	site
		#kernel	id=1	name=k
		#count	stage=coalesce	kernel=1	load_accesses=4097	load_sectors=32800	unique_bytes=1	0x10 a.op=load.global	0x10 a.accesses=1	0x10 a.lanes=32	0x10 a.bytes=128	0x10 a.sectors=32	0x10 a.least_sectors=4	0x20 b.op=load.global	0x20 b.accesses=4096	0x20 b.lanes=131072	0x20 b.bytes=1048576	0x20 b.sectors=32768	0x20 b.least_sectors=32768
	END
	grep -q '^     nothing found' got
	grep -qx '     1 smaller one: --all' got
	run ! grep -q uncoalesced got
}

@test "how far lanes are apart is said where most of them access" {
	# A stride of 256 bytes: of all 32 lanes; and of lanes 0 and 16, which are 4096 bytes apart.
	printf '%s\n' '#kernel id=1 name=k' '#block warp an pc op size mask base stride lanes kernel' '0 0 0 0x10 load.global 4 0xffffffff 0x10000 256 - 1' '0 0 1 0x20 load.global 1 0x10001 0x20000 256 - 1' | tr ' ' '\t' |
		gtrace-cat --from | gcoalesce --by site | gstats --findings --all >got
	grep -qx '     32.00 sectors an access, 4.00 are enough; lanes are 256 bytes apart' got
	grep -qx '     2.00 sectors an access, 1.00 are enough' got
}

@test "what a misaligned access does, the sizes of both halves of L2, and a percentage below 1 are said" {
	# A load and a store of one instruction's line each, a word off; then 64 lines twice through two halves of 1 KB each.
	{ printf '%s\n' '#kernel id=1 name=k' '#block warp an pc op size mask base stride lanes kernel' '0 0 0 0x10 load.global 4 0xffffffff 0x90004 4 - 1' '0 0 1 0x20 store.global 4 0xffffffff 0x90004 4 - 1'
		seq 0 127 | awk '{ print 0, 0, $1 + 2, "0x30", "load.global", 4, "0xffffffff", 65536 + 128 * ($1 % 64), 4, "-", 1 }'; } | tr ' ' '\t' | gtrace-cat --from |
		gcoalesce --by site | gcache --l2 --size 2K --ways 8 --spread far:0 --by site --causes | gstats --findings --all >got
	grep -qx '     5.00 sectors a load, 4.00 are enough: not at a multiple of 32 bytes' got
	grep -qx '     5.00 sectors a store, 4.00 are enough: not at a multiple of 32 bytes' got
	grep -qx '     50 % of its reads were in L2 before: 2x8 KB would keep them, L2 has 2x1 KB' got
	for said in "40 0.4" "4 under 0.1" "9970 99.7" "9999 over 99.9" "10000 100" "125 1"; do
		printf '%s\n' '#history gcoalesce 0.1.0 --by site' '#kernel id=1 name=k' \
			"#count stage=l1 kernel=1 reads=10000 read_hits=0 compulsory=0 0x10|a.reads=10000 0x10|a.invalidated=${said%% *}" | tr ' |' '\t ' | gtrace-cat --from | gstats --findings --all >got
		grep -qx "     ${said#* } % of its reads were in L1 until a store or an atomic of the SM" got
	done
}

@test "a trace that tells no instructions apart has findings, too" {
	# Tiles of 16 x 16 of a matrix product: rows and columns of tiles are read by blocks on several SMs.
	ordered gemm | gcoalesce --by site | gschedule --gpu titanv | gcache --l1 --by site --causes | gcache --l2 --by site --causes |
		tee counted | gstats --findings >got
	grep -qx '  1  read by several SMs   0x0' got
	gstats --csv counted | awk -F, '$1 == 1 && $2 == "l1" && $3 ~ /elsewhere$/ { n += $4 } END { exit n < 1000 }'
}

@test "what was not counted is said; a stream without kernels has no findings" {
	gtrace-ptx --gpu titanv --launch "$copy" "$ROOT/tests/findings/ptx/access.ptx" >raw
	gcoalesce raw | gschedule | gcache --l1 | gcache --l2 >none
	gstats --findings none >got
	run ! grep -q 'nothing found' got
	tr -s ' \n' ' ' <got | grep -qF "not counted by line, so not looked at: accesses (gcoalesce --by site), misses of L1 (gcache --l1 --by site --causes), misses of L2 (gcache --l2 --by site --causes)"
	gcoalesce --by site raw | gschedule | gcache --l1 --by site | gcache --l2 --by site --causes >half
	gstats --findings half >got
	grep -qx '     nothing found in what is counted' got
	tr -s ' \n' ' ' <got | grep -qF "not looked at: misses of L1 (gcache --l1 --by site --causes) "
	printf '#history\tgcoalesce\t0.1.0\n' | gtrace-cat --from >empty
	gstats --findings empty >got
	diff - got <<<"A GPU without a name, modelled   0 kernels"
	# JSON of each of them, and of others, is as the schema says.
	counted "$copy" "$fields" >two
	ordered gemm | gcoalesce --by site | gschedule --gpu a100 | gcache --l1 --by site --causes | gcache --l2 --by site --causes >trace
	many 3 >many
	for stream in none half empty two trace many; do
		gstats --findings --json --all --program 'a "b" \c' $stream >$stream.json
	done
	python3 "$ROOT/tests/findings/schema.py" "$ROOT/docs/findings.schema.json" ./*.json
	# The part of the cost is that of the report of two kernels above: copy's 2789955 of 5925510, and fields_bad's.
	grep -o '"cost_share": [0-9.]*' two.json | diff - <(printf '"cost_share": %s\n' 0.470838 0.529162)
	# The check finds what is missing, unknown, or of another type.
	for wrong in '"share": [0-9.]*, ' 's/"share"/"shares"/' 's/"basis": "bounded"/"basis": "guessed"/' 's/"launches": 1/"launches": "1"/' 's/"launches": 1/"launches": 0/'; do
		sed -E "$([[ $wrong = s/* ]] && echo "$wrong" || echo "s/$wrong//")" two.json >wrong
		run ! cmp -s two.json wrong
		run ! python3 "$ROOT/tests/findings/schema.py" "$ROOT/docs/findings.schema.json" wrong
	done
}

@test "work of libraries that is in no count is said before the kernels" {
	printf '#history\tgcoalesce\t0.1.0\n#kernel\tid=1\tname=a\tgrid=1,1,1\tblock=32,1,1\n#count\tstage=untraced\tkernel=1\tnames=x,y\tcalls=[1,4]\tflops=[0,2500]\n#count\tstage=untraced\tkernel=1\tnames_after=y\tcalls_after=[2]\tflops_after=[500]\n' |
		gtrace-cat --from >with
	gstats --findings with >got
	[ "$(sed -n 2p got)" = "not traced: 7 calls of libraries, 3 k flops of BLAS" ]
	gstats --findings --json with >with.json
	grep -qF '"untraced": {"calls": 7, "flops": 3000}' with.json
	python3 "$ROOT/tests/findings/schema.py" "$ROOT/docs/findings.schema.json" with.json
	gtrace-cat with | sed '/names_after/d; s/\tflops.*//; s/\[1,4\]/[1]/; s/x,y/x/' | gtrace-cat --from | gstats --findings >got
	[ "$(sed -n 2p got)" = "not traced: 1 call of libraries" ]
}

# ---- the tests themselves ----

@test "every pair is in a test, and every kind of finding has a pair" {
	holds --list | while read -r pair; do
		grep -q "^	holds .*\($pair\| \"$pair\"\)" "$BATS_TEST_FILENAME"
	done
	grep -oE '^	ROW\(find_[a-z0-9_]+, [a-z0-9_]+' "$ROOT/lib/report/findings/kinds.c" | sed 's/.* //' | sort >kinds
	holds --findings | sort -u >held
	diff kinds held
}

@test "the kept PTX is what clang 14 makes of the sources" {
	clang --version | grep -q 'version 14\.' || skip "another clang: it may write other PTX"
	cp -r "$ROOT/tests/findings" made
	mkdir -p ../../examples made/made
	make -s -C "$ROOT/tests/findings" ptx PTX="$PWD/made/made"
	diff -r made/made "$ROOT/tests/findings/ptx"
}

# bats test_tags=cuda,whole
@test "programs of nvcc: each finding, with the line of each array's allocation" {
	needs_cuda
	not_instrumented gtrace # the sanitizers' calls stand between a program's and ours
	make -s -C "$ROOT/tests/findings" OUT="$PWD"
	prepare_preload
	holds --list | few_lines 6 | tr '\n' '\0' | LD_PRELOAD=$PRELOAD xargs -0 python3 "$ROOT/tests/findings/pairs.py" --programs "$PWD"
}

# bats test_tags=cuda,whole
@test "faults that were put into kernels are the first findings, with their line and array, and what they promise is what mending saves" {
	needs_cuda
	not_instrumented gtrace
	for part in bad mended; do
		nvcc -cudart shared -arch=sm_80 -lineinfo -g $([ "$part" = bad ] || echo -DMENDED) -o $part "$ROOT/tests/findings/planted.cu"
		gtrace run --quiet --json --all ./$part >$part.json
	done
	run python3 "$ROOT/tests/findings/planted.py" "$ROOT/tests/findings/planted.cu" bad.json mended.json
	echo "$output"
	[ "$output" = "10 faults, 0 differences" ]
}
