#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gsample: launches that stand for others.

bats_require_minimum_version 1.5.0
load helpers

# The same by its manual page, slowly, with the exact number of lines; a case in which one number is within 3 % of the tolerance is drawn again.
setup_file() {
	cat >"$BATS_FILE_TMPDIR/slow.py" <<'END'
import random, sys
def alike(a, b, tolerance):
    worst = max((abs(x - y) / max(x, y) if max(x, y) else 0) for x, y in zip(a, b))
    return worst <= tolerance, abs(worst - tolerance) < 0.03
def draw(rng):
    launches, tolerance = [], rng.choice([10, 20, 40])
    for i in range(rng.randint(2, 12)):
        warps = rng.choice([60, 64, 80, 100, 120, 160])
        name, span = rng.choice("ab"), rng.choice([1, 2])
        rows = [(w // 4, w % 4, 128 * (w // span) + 4096 * i, rng.choice([1, 15])) for w in range(warps)]
        launches.append((i + 1, name, rows))
    return launches, tolerance
def numbers(rows):
    return [len({r[0] for r in rows}), len(rows), sum(bin(r[3]).count("1") for r in rows), 32 * len(rows), len({r[2] for r in rows})]
def groups(launches, tolerance):
    found, unsure = [], False
    for number, name, rows in launches:
        mine = numbers(rows)
        for group in reversed(found):
            if group[1] != name:
                continue
            near, close = alike(mine, group[2], tolerance / 100)
            unsure |= close
            if near:
                group[3] += 1
                break
        else:
            found.append([number, name, mine, 1])
    return found, unsure
def case(seed):
    "Writes SEED.text, the launches, and returns a line: the seed, the tolerance, and the groups."
    rng = random.Random(seed)
    while True:
        launches, tolerance = draw(rng)
        found, unsure = groups(launches, tolerance)
        if not unsure:
            break
    with open(f"{seed}.text", "w") as file:
        print("#gtrace 1", file=file)
        for number, name, rows in launches:
            blocks = len({r[0] for r in rows})
            print(f"#kernel\tid={number}\tname={name}\tgrid={blocks},1,1\tblock=128,1,1", file=file)
            print("block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes", file=file)
            for block, warp, address, sectors in rows:
                print(f"{block}\t{warp}\t0\t0\tload.global\t{address}\t{sectors}\t0\t32", file=file)
    return " ".join([str(seed), str(tolerance), *(f"{g[0]}:{g[3]}" for g in found)])
for seed in range(1, int(sys.argv[1]) + 1):
    print(case(seed))
END
}

setup() { cd "$BATS_TEST_TMPDIR"; }

add='examples/kernels/ptx/vectoradd.ptx'

# vectors BLOCKS...: a launch of vectoradd for each number of blocks, of the same three arrays, coalesced.
vectors() {
	local blocks arrays="a=f32[32768], b=f32[32768], c=f32[32768]" launches=()
	for blocks; do
		launches+=(--launch "vectoradd<<<$blocks,256>>>($arrays, $((blocks * 256)))")
		arrays="a, b, c"
	done
	(cd "$ROOT" && gtrace-ptx --quiet "${launches[@]}" "$add") | gcoalesce
}

# caches: the usual stages.
caches() { gschedule --gpu titanv | gcache --l1 | gcache --l2 --launch-reads none | gdram; }

# counted STAGE COUNTER: of the total.
counted() { gstats --csv | awk -F, -v stage="$1" -v counter="$2" '$1 == "total" && $2 == stage && $3 == counter { print $4 }'; }

# passed: the launches of a stream.
passed() { gtrace-cat | sed -n 's/^#kernel\tid=\([0-9]*\).*/\1/p' | paste -sd' '; }

@test "launches that are equal are modelled once, and every count of the whole is that of all" {
	vectors 40 40 80 40 80 >all
	[ "$(gsample <all | passed)" = "1 3" ]
	caches <all | gstats --csv | grep ^total >whole
	gsample <all | caches | gstats --csv | grep ^total | grep -v ,sample, >sampled
	diff whole sampled
	gsample <all | caches >counts
	[ "$(counted sample launches <counts) $(counted sample modelled_launches <counts)" = "5 2" ]
	# 3 x 40 and 2 x 80 blocks of 8 warps, of which each touches 12 sectors.
	[ "$(counted sample sectors <counts) $(counted sample modelled_sectors <counts)" = "$((280 * 8 * 12)) $((120 * 8 * 12))" ]
	[ "$(counted schedule blocks <counts)" -eq 280 ]
	gtrace-cat --check counts
}

@test "within the tolerance a launch stands for others, and the sectors of all are exact" {
	vectors 100 96 104 94 >all
	# 96 is 4 % off 100, 104 3.8 %; 94 is 6 %, and within 5 % of 96, which stands for nobody.
	[ "$(gsample <all | passed)" = "1 4" ]
	[ "$(gsample --tolerance 7 <all | passed)" = 1 ]
	[ "$(gsample --tolerance 0 <all | passed)" = "1 2 3 4" ]
	gsample --tolerance 7 <all | caches >counts
	[ "$(counted coalesce sectors <counts)" = "$(counted coalesce sectors <all)" ]
	[ "$(counted dram reads <counts)" = "$((394 * 8 * 8))" ]
}

@test "the kernels' names, the shape of a block and what stages counted tell launches apart" {
	# launch ID NAME BLOCK WARPS: each warp loads a line; then what a stage counted.
	launch() {
		printf '#kernel\tid=%d\tname=%s\tgrid=1,1,1\tblock=%d,1,1\n' "$1" "$2" "$3"
		printf 'block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\n'
		for ((w = 0; w < $4; w++)); do printf '0\t%d\t0\t0\tload.global\t%d\t15\t0\t32\n' "$w" "$((w * 128))"; done
		printf '#count\tstage=ptx\tkernel=%d\twarp_instructions=%d\n' "$1" "$5"
	}
	{ echo '#gtrace 1'; launch 1 a 128 4 100; launch 2 b 128 4 100; launch 3 a 160 4 100; launch 4 a 128 4 104; launch 5 a 128 4 106
	  launch 6 a 128 4 100; } >text
	gtrace-cat --from text >all
	[ "$(gsample <all | passed)" = "1 2 3 5" ]
	[ "$(gsample <all | gstats --csv | awk -F, '$2 == "sample" && $3 == "launches" { print $1 ":" $4 }' | paste -sd' ')" = "1:3 2:1 3:1 5:1 total:6" ]
	# A launch before which a library ran is always passed on, so that the report names the library.
	{ cat text; launch 7 a 128 4 100; printf '#count\tstage=untraced\tkernel=7\tnames=cufftExec\tcalls=[1]\n'; } |
		gtrace-cat --from >more
	[ "$(gsample <more | passed)" = "1 2 3 5 7" ]
}

@test "random launches are grouped as by a slow and plain program" {
	python3 "$BATS_FILE_TMPDIR/slow.py" 20 >expected
	while read -r seed tolerance _; do
		gtrace-cat --from "$seed.text" | gsample --tolerance "$tolerance" | gstats --csv |
			awk -F, -v "line=$seed $tolerance" '$1 != "total" && $2 == "sample" && $3 == "launches" { line = line " " $1 ":" $4 } END { print line }'
	done <expected | diff expected -
}

@test "a launch is held in memory or in a file, with the same bytes; a full disk is an error" {
	vectors 40 40 80 80 >all
	gsample <all >memory
	gsample -S 0 <all >file
	cmp <(gtrace-cat memory | grep -v '^#history') <(gtrace-cat file | grep -v '^#history')
	run -1 gsample -S 0 -T "$BATS_TEST_TMPDIR/none" all
	[[ $output == *"none: No such file or directory"* ]]
	run -1 bash -c 'gsample all >/dev/full'
	[[ $output == *"gsample: standard output: No space left on device"* ]]
	run -1 bash -c 'ulimit -f 10; gsample -S 0 all | cat >/dev/null; exit "${PIPESTATUS[0]}"'
	[[ $output == *"gsample: temporary file"*"File too large"* ]]
}

@test "a stage in a wrong place is named" {
	(cd "$ROOT" && gtrace-order examples/traces/gemm.rdgc.xz) >accesses
	run -1 gsample accesses
	[[ $output == *"expected requests: put gsample behind gcoalesce"* ]]
	gcoalesce accesses >requests
	gdram requests >counts
	run -1 gsample counts
	[[ $output == *"gdram has taken all requests"* ]]
	gsample requests >once
	run -1 gsample once
	[[ $output == *"an earlier gsample has left out launches"* ]]
	gschedule --gpu titanv once | gcache --l2 --flush never 2>said >/dev/null
	grep -q "warning: l2 keeps its lines from launch to launch, but gsample has left out launches" said
	gschedule --gpu titanv once 2>/dev/null | gcache --l2 2>said >/dev/null
	[ ! -s said ]
	for bad in 101 -1 x; do
		run -2 gsample --tolerance "$bad" requests
		[[ $output == *"--tolerance"*"expected a number from 0 to 100"* ]]
	done
}

@test "gstats --scale scales a wave to its grid, and not what the launch stands for" {
	vectors 320 32 320 | gsample | gschedule --gpu titanv --sm 5 --waves 1 | gcache --l1 | gstats --scale --csv >scaled
	# one wave of 5 SMs has 40 of 320 blocks, each with 64 sectors of loads; two launches of 320 and one of 32
	grep -E '^(1|total),(sample|l1,reads)' scaled | diff - <(printf '%s\n' 1,l1,reads,40960 1,sample,launches,2 1,sample,modelled_launches,1 \
		1,sample,sectors,61440 1,sample,modelled_sectors,30720 total,l1,reads,43008 total,sample,launches,3 total,sample,modelled_launches,2 \
		total,sample,sectors,64512 total,sample,modelled_sectors,33792)
}

@test "a stream that is cut, or weights that cannot be, are errors" {
	vectors 40 40 >all
	head -c 3000 all >cut
	run -1 gsample cut
	gsample <all | gtrace-cat | sed 's/modelled_sectors=[0-9]*/modelled_sectors=99999999/' | gtrace-cat --from >wrong
	run -1 gstats wrong
	[[ $output == *"kernel 1: stage sample: expected its launches, and their sectors"* ]]
}

@test "gtrace run --sample models one launch of those that are alike, and says how many" {
	vectors 40 40 80 40 80 >all
	(cd "$ROOT" && gtrace-ptx --quiet --launch 'vectoradd<<<40,256>>>(a=f32[10240], b=f32[10240], c=f32[10240], 10240)' --launch 'vectoradd<<<40,256>>>(a, b, c, 10240)' "$add") >raw
	gtrace run --sample 5 raw 2>pipe >out
	grep -q '| gsample --tolerance 5 | gschedule' pipe
	grep -q '1 kernel, 2 launches (1 modelled)' out
	run -2 gtrace run --sample 5 --keep-l2 raw
	[[ $output == *"--keep-l2: expected it without --sample"* ]]
	run -2 gtrace run --sample 200 raw
	[[ $output == *"--sample: '200': expected a number from 0 to 100"* ]]
	run -2 gtrace run --sample 5 all
	[[ $output == *"--sample: all has passed gcoalesce"* ]]
}

@test "the examples of the manual page run" { run_man_examples gsample.1; }
