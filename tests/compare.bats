# SPDX-License-Identifier: MIT
# gtrace compare: two runs side by side. Numbers are sums done by hand, or those of gstats.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	ordered conv >ordered
	gschedule --gpu titanv ordered >scheduled
	gcoalesce --by site ordered | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram >counted
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	prepare_preload
	ordered=$BATS_FILE_TMPDIR/ordered scheduled=$BATS_FILE_TMPDIR/scheduled counted=$BATS_FILE_TMPDIR/counted
}

# counts FILE: a stream that has passed all stages. A line of standard input is a launch: NAME, loads' accesses, the sectors that they look up in L1,
# that L1 sends on, and that device memory reads; bytes touched; then sites, INSTRUCTION:ARRAY:LINE:ACCESSES:SECTORS:LEAST of x.cu, 128 bytes an access.
counts() {
	local id=0 name accesses l1 l2 dram unique sites site pc array line n sectors least all pcs lines files
	{
		printf '#history\tgcoalesce\t0.1.0\t--by\tsite\n#history\tgcache\t0.1.0\t--l1\n#history\tgcache\t0.1.0\t--l2\n#history\tgdram\t0.1.0\n'
		while read -r name accesses l1 l2 dram unique sites; do
			id=$((id + 1)) all='' pcs='' lines='' files=''
			printf '#kernel\tid=%d%s\n' $id "$([ "$name" = - ] || printf '\tname=%s' "$name")"
			for site in $sites; do
				IFS=: read -r pc array line n sectors least <<<"$site"
				all+=$(printf '\t0x%x %s.%s' $pc $array op=load.global $pc $array accesses=$n $pc $array lanes=$((32 * n)) $pc $array bytes=$((128 * n)) \
					$pc $array sectors=$sectors $pc $array least_sectors=$least $pc $array misaligned_sectors=0)
				pcs+=,$pc lines+=,$line files+=,0
			done
			[ -z "$pcs" ] || printf '#count\tstage=source\tkernel=%d\tpcs=[%s]\tlines=[%s]\tfiles=[%s]\tnames=x.cu\n' $id "${pcs#,}" "${lines#,}" "${files#,}"
			printf '#count\tstage=coalesce\tkernel=%d\tload_accesses=%d\tload_sectors=%d%s%s\n' $id "$accesses" "$l1" \
				"$([ "$unique" = - ] || printf '\tunique_bytes=%d' "$unique")" "$all"
			printf '#count\tstage=l1\tkernel=%d\treads=%d\tread_hits=%d\tsent_reads=%d\n' $id "$l1" $((l1 - l2)) "$l2"
			printf '#count\tstage=l2\tkernel=%d\treads=%d\tread_hits=%d\tsent_reads=%d\n' $id "$l2" $((l2 - dram)) "$dram"
			printf '#count\tstage=dram\tkernel=%d\treads=%d\n' $id "$dram"
		done
	} | gtrace-cat --from >"$1"
}

# row WORDS...: the rows of `got` that have these words, with single blanks.
row() { tr -s ' ' <got | sed 's/^ //; s/ $//' | grep -F -- "$*"; }

is() { diff <(printf '%s\n' "$@") -; }

@test "kernels that one side alone has are no pair, however many they are" {
	counts a <<-END
		few 10 40 40 40 1280
		one 10 40 40 40 1280
		two 10 40 40 40 1280
		three 10 40 40 40 1280
	END
	counts b <<<"few 10 40 40 40 1280"
	for sides in "a b" "b a"; do
		gtrace compare --quiet --json $sides >got
		# Three that are left on a side alone were taken for one on each side.
		[ "$(python3 -c 'import json; print(*sorted(str(one["names"]) for one in json.load(open("got"))["kernels"] if None in one["names"]), sep="\n")' | grep -c None)" -eq 3 ]
	done
}

@test "what each kernel moves, the largest change first, and what the run moves in the first line" {
	counts a <<-END
		few 10 40 40 40 1280
		big 1000 32000 8000 1000 32000
	END
	counts b <<-END
		few 10 80 40 40 1280
		big 1000 4000 2000 1000 32000
	END
	gtrace compare --quiet --as before,after a b >got
	# 32040 sectors at L1 become 4080, 8040 at L2 become 2040, 1040 at device memory stay.
	[ "$(head -n 1 got)" = "after moves 87 % fewer sectors at L1, 75 % fewer at L2, the same at DRAM" ]
	[ "$(grep -E '^(big|few)' got | tr -s ' ')" = "big before after change
few before after change" ]
	row 'L1 looks up' | is "L1 looks up 0.98 MB 125 KB -88 %" "L1 looks up 1.25 KB 2.50 KB +100 %"
	row 'L2 gets' | is "L2 gets 250 KB 62.5 KB -75 %" "L2 gets 1.25 KB 1.25 KB same"
	row 'sectors an access' | is "sectors an access 32.00 4.00 -88 %" "sectors an access 4.00 8.00 +100 %"
	row 'L1 hits' | is "L1 hits of reads 75.0 % 50.0 % -25 points" "L1 hits of reads 0.0 % 50.0 % +50 points"
	row 'DRAM over' | is "DRAM over what is touched 1.00 1.00 same" "DRAM over what is touched 1.00 1.00 same"
	gtrace compare --quiet --as after,before b a >got
	[ "$(head -n 1 got)" = "before moves 685 % more sectors at L1, 294 % more at L2, the same at DRAM" ]
	[ "$(LC_ALL=C.UTF-8 wc -L <got)" -le 80 ]
}

@test "findings are gone, new, changed or the same; a line that moves takes its finding along" {
	# In a, three loads of which a sector of 32 lanes each is used; d is fine. In b, x is mended; y has moved from line 7 to 9; z is half as bad; w is new.
	counts a <<-END
		k 400 9700 5000 1000 32000 16:x:5:100:3200:400 32:y:7:100:3200:400 48:z:8:100:3200:400 64:d:9:100:400:400
	END
	counts b <<-END
		k 400 8800 5000 1000 32000 16:x:5:100:400:400 48:y:9:100:3200:400 64:z:8:100:1600:400 80:w:12:100:3200:400
	END
	gtrace compare --quiet a b >got
	[ "$(sed -n 2p got)" = "1 finding gone, 1 new, 1 changed, 1 same" ]
	row gone uncoalesced | is "gone uncoalesced load x.cu:5 x 32.00 - sectors/access"
	row new uncoalesced | is "new uncoalesced load x.cu:12 w - 32.00 sectors/access"
	row changed uncoalesced | is "changed uncoalesced load x.cu:8 z 32.00 16.00 sectors/access"
	run ! row 'x.cu:7'
	row finding is the same: | is "1 finding is the same: --all"
	gtrace compare --quiet --all a b >got
	row same uncoalesced | is "same uncoalesced load x.cu:7 -> x.cu:9 y"
	# Half as many accesses as before, each as bad: the number that has changed is shown.
	counts a <<<'k 100 3200 3200 1000 3200 64:z:8:100:3200:400'
	counts b <<<'k 50 1600 1600 1000 1600 64:z:8:50:1600:200'
	gtrace compare --quiet a b >got
	row changed uncoalesced | is "changed uncoalesced load x.cu:8 z 2.80 k 1.40 k sectors at L1"
}

@test "kernels are paired by name, by the name without a template's arguments, and in order; those of one side are named" {
	counts a <<-END
		gone 10 100 100 100 -
		tile<16> 10 100 100 100 -
		same 10 100 100 100 -
		old 10 100 100 100 -
	END
	counts b <<-END
		tile<32> 10 200 200 200 -
		same 10 100 100 100 -
		same 10 100 100 100 -
	END
	gtrace compare --quiet a b >got
	grep -q '^tile<16> -> tile<32>  ' got
	grep -q '^same, 1 and 2 launches  ' got
	[ "$(tail -n 1 got)" = "only in a: gone, old" ]
	gtrace compare --quiet b a >got
	[ "$(tail -n 1 got)" = "only in a: gone, old" ]
	# Nor does a namespace keep them apart.
	counts a <<<'one::tile<4> 10 100 100 100 -'$'\n''one::less 10 100 100 100 -'
	counts b <<<'tile<two::T<5>> 10 200 200 200 -'$'\n''more 10 100 100 100 -'
	gtrace compare --quiet a b >got
	grep -q '^one::tile<4> -> tile<two::T<5>>  ' got
	# One that is left on each side has another name.
	grep -v gone >rest < <(printf 'old 10 100 100 100 -\nsame 10 100 100 100 -\n')
	counts a <rest
	printf 'same 10 100 100 100 -\nnew 10 100 200 100 -\n' | counts b
	gtrace compare --quiet a b >got
	grep -q '^old -> new ' got
	[ "$(tail -n 1 got)" = "the same, within 1 % (--all): same" ]
	# Without names: in their order.
	printf -- '- 10 100 100 100 -\n- 10 100 100 50 -\n' | counts a
	printf 'x 10 100 100 100 -\ny 10 100 100 100 -\n' | counts b
	gtrace compare --quiet a b >got
	grep -q '^kernel 2 -> y ' got
	[ "$(tail -n 1 got)" = "the same, within 1 % (--all): kernel 1" ]
}

@test "a run beside itself: nothing differs, whatever it is read from" {
	gtrace compare --quiet "$counted" "$counted" >got
	[ "$(head -n 1 got)" = "Nothing differs between A and B" ]
	[ "$(wc -l <got)" -le 4 ]
	gstats --csv --by kernel "$counted" >by-name.csv
	gstats --csv "$counted" >by-launch.csv
	xz -kc by-name.csv >by-name.xz
	mv by-launch.csv launches.csv
	for saved in by-name.csv launches.csv by-name.xz; do
		gtrace compare --quiet "$saved" "$counted" >got
		[ "$(head -n 1 got)" = "Nothing differs between $saved and counted" ] || { cat got; return 1; }
	done
	gtrace compare --json "$counted" "$counted" 2>said | python3 -c 'import json, sys; assert json.load(sys.stdin)["same"] is True'
	[ ! -s said ] # no stage is missing, so no pipe is shown
	# A difference below 1 % is one.
	printf 'k 100 1000 1000 1000 -\n' | counts a
	printf 'k 100 1000 1000 1001 -\n' | counts b
	gtrace compare --quiet a b >got
	[ "$(head -n 1 got)" = "b moves the same at L1, L2 and DRAM" ]
}

@test "the pipes that are run, and numbers that are those of gstats" {
	ln -s "$ordered" ordered
	gtrace compare --csv --as one,two --gpu titanv ordered "$ROOT/examples/traces/gemm.rdgc.xz" >got 2>said
	sed 's/^gtrace: //' said >pipes
	[ "$(wc -l <pipes)" -eq 2 ]
	[ "$(head -n 1 got)" = "kernel,paired_with,quantity,unit,one,two" ]
	number() { bash -c "$(sed -n "$1p" pipes) | gstats --csv" 2>/dev/null | sed -n "s/^total,$2,$3,//p"; }
	total() { sed -n "s/^total,total,$1,[^,]*,//p" got; }
	[ "$(total dram_sectors)" = "$(($(number 1 dram reads) + $(number 1 dram writes))),$(($(number 2 dram reads) + $(number 2 dram writes)))" ]
	l2() { echo $(($(number "$1" l1 sent_reads) + $(number "$1" l1 sent_writes) + $(number "$1" l2 launch_reads))); }
	[ "$(total l2_sectors)" = "$(l2 1),$(l2 2)" ]
	hits() { awk -v hits="$(number "$1" l1 read_hits)" -v reads="$(number "$1" l1 reads)" 'BEGIN { printf "%.6g", 100 * hits / reads }'; }
	[ "$(total l1_read_hit_ratio)" = "$(hits 1),$(hits 2)" ]
	gtrace compare --dry-run --gpu titanv,a100 ordered >got 2>said
	[ ! -s got ]
	[ "$(sed -n 's/.*gschedule --gpu \([a-z0-9]*\).*/\1/p' said | xargs)" = "titanv a100" ]
}

@test "one operand on two GPUs: the columns have the GPUs' names" {
	gtrace compare --quiet --all --gpu titanv,a100 "$ordered" >got
	grep -qE '^  titanv .*NVIDIA TITAN V, modelled$' got
	grep -qE '^  a100 .*NVIDIA A100, modelled$' got
	grep -qE ' titanv +a100  change$' got
	[ "$(LC_ALL=C.UTF-8 wc -L <got)" -le 80 ]
	gtrace compare --quiet --csv --gpu titanv,a100 "$ordered" >got
	gtrace run --quiet --csv --gpu a100 "$ordered" | grep '^total,dram' >counts
	[ "$(sed -n 's/^total,total,dram_sectors,sectors,.*,//p' got)" -eq "$(awk -F, '$3 == "reads" || $3 == "writes" { n += $4 } END { print n }' counts)" ]
}

@test "JSON agrees with its schema, CSV has the unmatched, --kernel chooses, --color colours" {
	counts a <<-END
		k 100 3200 1000 500 3200 16:x:5:100:3200:400
		l 10 100 100 100 320
	END
	counts b <<-END
		k 100 400 200 100 3200 16:x:5:100:400:400
		m 10 100 100 100 320
		n 10 100 100 100 320
	END
	gtrace compare --quiet --json a b >got
	python3 - "$ROOT/docs" got <<-'END'
		import json, sys
		comparison = json.load(open(sys.argv[2]))
		k, rest = comparison["kernels"][0], comparison["kernels"][1:]
		assert k["names"] == ["k", "k"] and k["launches"] == [1, 1] and not k["same"] and not comparison["same"]
		assert k["values"]["l1_sectors"] == [3200, 400] and k["values"]["sectors_per_access"] == [32, 4]
		assert [(f["state"], f["sides"][0]["place"], f["sides"][1]) for f in k["findings"]] == [("gone", "x.cu:5", None)]
		assert sorted(map(str, (pair["names"] for pair in rest))) == sorted(map(str, (["l", None], [None, "m"], [None, "n"])))
		try:
		    import jsonschema, referencing
		except ImportError:
		    sys.exit()
		schemas = [json.load(open(f"{sys.argv[1]}/{name}.schema.json")) for name in ("comparison", "findings")]
		registry = referencing.Registry().with_resource("findings.schema.json", referencing.Resource.from_contents(schemas[1]))
		jsonschema.Draft202012Validator(schemas[0], registry=registry).validate(comparison)
	END
	gtrace compare --quiet --csv a b >got
	grep -qxF 'k,k,l2_sectors,sectors,1000,200' got
	grep -qxF 'l,,dram_sectors,sectors,100,' got
	grep -qxF ',m,dram_sectors,sectors,,100' got
	grep -qxF 'total,total,dram_sectors,sectors,600,300' got
	gtrace compare --quiet --kernel '^k$' a b >got
	run ! grep -q only got
	[ "$(head -n 1 got)" = "b moves 88 % fewer sectors at L1, 80 % fewer at L2, 80 % fewer at DRAM" ]
	gstats --csv --by kernel a >a.csv
	gtrace compare --quiet --kernel '^k$' a.csv b | tail -n +5 | cmp - <(gtrace compare --quiet --as a.csv,b --kernel '^k$' a b | tail -n +5)
	[ "$(gtrace compare --quiet --color always a b | tr -d '\033' | sed 's/\[[0-9]*m//g')" = "$(gtrace compare --quiet --color never a b)" ]
	gtrace compare --quiet --color always a b | grep -q $'\033\\[32mgone'
	run ! grep -q $'\033' <(gtrace compare --quiet a b)
}

@test "findings are not compared if one side has not counted by site, and a line says so" {
	printf 'k 100 3200 1000 500 3200 16:x:5:100:3200:400\n' | counts a
	printf 'k 100 400 200 100 -\n' | counts b
	gtrace compare --quiet a b >got
	[ "$(tail -n 2 got | xargs)" = "Findings are not compared: b was not counted with gcoalesce --by site and gcache --by site --causes" ]
	run ! grep -q gone got
	row 'threads ask' | is "threads ask 12.5 KB -"
	gcoalesce --by site "$ordered" | gschedule --gpu titanv | gcache --l1 --by site --causes | gcache --l2 --by site --causes | gdram >caused
	gtrace compare --quiet caused "$counted" >got
	grep -q '^Findings are not compared: counted was not counted with' got
	gtrace compare --quiet caused caused >got
	run ! grep -q 'not compared' got
}

@test "--page: the same comparison, and what each side's page has" {
	gtrace compare --quiet --all --as one,two --page page "$counted" "$scheduled" >got
	head -n 1 got | grep -q '^two moves '
	python3 "$ROOT/tests/page.py" page/index.html >said
	grep -qx 'title gtrace: one and two' said
	grep -qx 'h2 What changed' said
	for side in one two; do grep -qx "h2 Memory chart: $side" said || { cat said; return 1; }; done
	[ "$(grep -cx 'row	quantity	one	two	change' said)" -eq 2 ]
	# The first table is of all kernels; the text has the same numbers of the only one.
	row 'DRAM moves' | is "$(grep -m 1 '^row	DRAM moves' said | cut -f 2- | tr '\t' ' ')"
	SOURCE_DATE_EPOCH=1700000000 gtrace compare --quiet --page page "$counted" "$counted" >got
	python3 "$ROOT/tests/page.py" page/index.html | grep -qx 'dd 2023-11-14'
	mkdir other
	echo mine >other/index.html
	expect_failure 1 "is no page of gtrace" gtrace compare --page other "$counted" "$counted"
	expect_failure 2 "--force: expected --page, too" gtrace compare --force "$counted" "$counted"
	gtrace compare --quiet --page other --force "$counted" "$counted" >got
	grep -q 'Nothing differs between' other/index.html
}

@test "what cannot be compared is said before anything runs" {
	printf 'k 100 400 200 100 -\n' | counts a
	gstats --csv a >launches.csv
	gstats --csv --by kernel a >names.csv
	gstats --json a >a.json
	expect_failure 2 "expected a second operand, or --gpu with two names" gtrace compare a
	expect_failure 2 "expected a program, a trace or a stream" gtrace compare
	expect_failure 2 "did you mean 'gtrace compare'?" gtrace comprae a a
	expect_failure 2 "'b': expected two operands, and arguments of programs behind --" gtrace compare a a b
	expect_failure 2 "'--csv': expected options before the operands" gtrace compare a a --csv
	expect_failure 2 "did you mean 'titanv'" gtrace compare --gpu a100,titnav "$ordered"
	expect_failure 2 "--gpu: a has a schedule for its own GPU" gtrace compare --gpu a100,titanv a
	expect_failure 2 "--gpu: names.csv has counts, which stay as they are" gtrace compare --gpu a100 names.csv a
	expect_failure 2 "'7': expected a program, since names.csv has counts" gtrace compare names.csv a -- 7
	expect_failure 2 "--as 'x': expected two names" gtrace compare --as x a a
	expect_failure 2 "expected a name of at most 12 bytes" gtrace compare --as much_too_long,b a a
	expect_failure 2 "--color 'red': expected auto, always or never" gtrace compare --color red a a
	expect_failure 2 "--csv: expected it without --all, --json and --color" gtrace compare --csv --json a a
	expect_failure 2 "--as: expected compare" gtrace run --as a,b a
	expect_failure 2 "--output: expected report" gtrace compare -o x a a
	expect_failure 2 "--kernel: " gtrace compare --kernel '(' a a
	expect_failure 1 "no kernel has a name" gtrace compare --kernel nosuch a a
	expect_failure 1 "a.json: JSON is not read: expected what gstats --csv wrote" gtrace compare a a.json
	expect_failure 1 "nothing: No such file" gtrace compare a nothing
	expect_failure 1 "names.csv has kernels by name, launches.csv launches without names" gtrace compare launches.csv names.csv
	expect_failure 1 "--kernel: launches.csv has launches without names" gtrace compare --kernel k launches.csv a
	printf '#history\tgdram\t0.1.0\n' | gtrace-cat --from >empty
	expect_failure 1 "empty: no kernels" gtrace compare empty a
	# The status of a pipe that fails is gtrace's, and nothing looks whole.
	head -c 20000 "$ordered" >cut
	run -1 --separate-stderr gtrace compare --quiet cut a
	[ -z "$output" ]
	[ -n "$stderr" ]
}

# bats test_tags=cuda,whole
@test "a transposed stencil, mended: programs with arguments, and sources" {
	needs_cuda
	not_instrumented gtrace # nvcc cannot be run with the sanitizers' library before it
	cat >before.cu <<-'END'
		#define N 128
		__global__ void stencil(const float *in, float *out)
		{
			int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
			if (x > 0 && x < N - 1)
				out[y * N + x] = (in[y * N + x - 1] + in[y * N + x] + in[y * N + x + 1]) / 3;
		}
		int main(int argc, char **)
		{
			float *in, *out;
			cudaMalloc(&in, N * N * 4);
			cudaMalloc(&out, N * N * 4);
			for (int i = 0; i < argc; i++)
				stencil<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(in, out);
			return cudaDeviceSynchronize();
		}
	END
	sed 's/int y = blockIdx.x \* blockDim.x + threadIdx.x, x = blockIdx.y \* blockDim.y + threadIdx.y/int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y/' before.cu >after.cu
	# The programs that gtrace compiles are kept.
	mkdir kept
	cat >kept/nvcc <<-END
		#!/bin/sh
		"$(command -v nvcc)" "\$@" || exit
		while [ "\$1" != -o ]; do shift; done
		cp "\$2" "$PWD"
	END
	chmod +x kept/nvcc
	export LD_PRELOAD=$PRELOAD TMPDIR=$PWD
	PATH=$PWD/kept:$PATH gtrace compare --csv before.cu after.cu >got 2>said
	[ "$(grep -c nvcc said)" -eq 2 ]
	[ -z "$(ls -d gtrace-* 2>/dev/null)" ]
	# A sector a lane of a column; rows of 32 begin at a sector, but for the two neighbours, which take a fifth.
	awk -F, '$1 == "stencil" && $3 == "sectors_per_access" { n++; bad = !($5 > 30 && $6 < 5) } END { exit bad || n != 1 }' got
	gtrace compare --quiet --csv --as before.cu,after.cu before after | cmp - got
	gtrace compare --quiet before after >got
	[[ $(head -n 1 got) == "after moves "*" % fewer sectors at L1, "* ]]
	gtrace compare --quiet --as A,B "./before 1 2" ./before -- 3 >got
	row 'stencil, ' | is "stencil, 4 and 2 launches A B change"
	[ "$(sed -n 's/^  A  //p' got | xargs)" = "./before 1 2 3 NVIDIA A100, modelled" ]
}
