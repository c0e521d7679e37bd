# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	tab=$'\t'
	cat >small.tsv <<END
#kernel${tab}id=1${tab}name=k(float*)${tab}grid=2,1,1${tab}block=40,1,1${tab}registers=16
#kernel${tab}id=2${tab}name=second${tab}grid=4,1,1${tab}block=32,1,1
#block${tab}warp${tab}an${tab}pc${tab}op${tab}size${tab}mask${tab}base${tab}stride${tab}lanes${tab}kernel
0${tab}0${tab}0${tab}0x10${tab}load.global${tab}4${tab}0xffffffff${tab}0x1000${tab}4${tab}-${tab}1
0${tab}1${tab}0${tab}0x10${tab}load.global${tab}4${tab}0x000000ff${tab}-${tab}-${tab}1,2,3,4,5,6,7,9${tab}1
1${tab}1${tab}0${tab}16${tab}store.local.cg${tab}4${tab}15${tab}8192${tab}-4${tab}-${tab}1
3${tab}0${tab}0${tab}0x10${tab}atomic.global${tab}8${tab}0x1${tab}0x2000${tab}0${tab}-${tab}2
END
	gtrace-cat --from small.tsv >small.gt
}

rows() { grep -v '^#' "$1"; }

@test "counts before the rows of a launch stay behind it on the way through text" {
	printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\torder=none\n#count\tstage=source\tkernel=1\tpcs=[26]\tlines=[38]\tfiles=[0]\tnames=my.cu\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n0\t0\t0\t26\tload.global\t4\t0x1\t0\t4\t-\t1\n' >text
	gtrace-cat --from text | gtrace-cat | cut -f 1,2 | grep -E '^#(kernel|count|block)' >order
	[ "$(cut -f 1 order | paste -s -d ' ')" = "#kernel #count #block" ]
	gtrace-cat --from text | gtrace-cat | gtrace-cat --from | grd --by line --lines 4 | grep -q 'my.cu:38'
}

@test "text and stream: the same rows there and back" {
	gtrace-cat small.gt >once.tsv
	gtrace-cat --from once.tsv | gtrace-cat >twice.tsv
	diff <(rows once.tsv) <(rows twice.tsv)
	diff <(grep '^#kernel' once.tsv) <(grep '^#kernel' twice.tsv)
	[ "$(rows once.tsv | wc -l)" -eq 4 ]
	grep -q "^1${tab}1${tab}0${tab}0x10${tab}store.local.cg${tab}4${tab}0x0000000f${tab}0x000000002000${tab}-4${tab}-${tab}1$" once.tsv
}

@test "plain rows: the same rows there and back" {
	gtrace-cat --rows small.gt >plain
	gtrace-cat --from plain | gtrace-cat >back.tsv
	diff <(gtrace-cat small.gt | grep -v '^#history') <(grep -v '^#history' back.tsv)
	gtrace-cat small.gt | grep '^#history' >history
	head -n 1 back.tsv >/dev/null
	grep -qFf history back.tsv
}

@test "status and latency: together or apart, as text and as plain rows, scheduled or not" {
	few 3 status latency "status latency" "step sm status" "step sm latency" "step sm status latency"
	for columns in "${FEW[@]}"; do
		awk -v columns="$columns" 'BEGIN {
			OFS = "\t"
			print "#kernel", "id=1", "name=k", "grid=2,1,1", "block=64,1,1"
			n = split(columns, name, " ")
			header = "#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes"
			for (i = 1; i <= n; i++)
				header = header "\t" name[i]
			print header "\tkernel"
			m = split("none hit miss reservation_fail merged latency_miss tlb_hit tlb_miss", status, " ")
			for (r = 1; r <= m; r++) {
				value["status"] = status[r]; value["latency"] = sprintf("%.0f", (r - 1) * 613566756)
				value["step"] = r * 7; value["sm"] = r
				row = "1\t" r % 2 "\t" r "\t0x0\tload.global\t0x000000000080\t0x" r "\t0x0\t32"
				for (i = 1; i <= n; i++)
					row = row "\t" value[name[i]]
				print row "\t1"
			}
		}' >rows.tsv
		gtrace-cat --from rows.tsv >rows.gt
		diff <(rows rows.tsv) <(gtrace-cat rows.gt | grep -v '^#')
		gtrace-cat rows.gt | grep '^#block' | diff <(grep '^#block' rows.tsv) -
		gtrace-cat --rows rows.gt | gtrace-cat --from | gtrace-cat | grep -v '^#[gh]' | diff <(gtrace-cat rows.gt | grep -v '^#[gh]') -
		grd rows.gt | gstats --tee 2>/dev/null | gtrace-cat | grep -v '^#' | diff <(rows rows.tsv) -
	done
	sed 's/latency_miss/late/' rows.tsv >bad.tsv
	expect_failure 1 "status: 'late': expected a status such as hit or miss" gtrace-cat --from bad.tsv
}

@test "a plain row with too few, too many or wrong optional elements is refused" {
	printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n' | gtrace-cat --from | gtrace-cat --rows >plain
	further() { # further N ELEMENTS: a request of 9 elements and N more, in msgpack
		head -c -5 plain # all but ["end"]
		# shellcheck disable=SC2059
		printf "\\x9$(printf %x $((9 + $1)))\\0\\0\\0\\0\\0\\0\\1\\0\\1$2\\x91\\xa3end"
	}
	further 4 '\xc0\xc0\2\7' | gtrace-cat --from | gtrace-cat | grep -q "miss${tab}7${tab}1$"
	further 5 '\xc0\xc0\2\7\3' | gtrace-cat --from | gtrace-cat | grep -q "miss${tab}7${tab}L1::evict_first${tab}1$"
	further 6 '\xc0\xc0\2\7\xc0\5' | gtrace-cat --from | gtrace-cat | grep -q "miss${tab}7${tab}5,0${tab}1$"
	{ head -c -5 plain; printf '\xdc\0\x10\0\0\0\0\0\0\1\0\1\xc0\xc0\2\7\xc0\5\xce\0\3\0\2\x91\xa3end'; } | gtrace-cat --from | gtrace-cat | grep -q "miss${tab}7${tab}5,0${tab}2,3${tab}1$"
	{ head -c -5 plain; printf '\xdc\0\x11\0\0\0\0\0\0\1\0\1\7\0\1\2\3\4\5\6\x91\xa3end'; } >long
	further 1 '\7' >short; further 2 '\7\xc0' >half; further 3 '\xc0\xc0\xa3hit' >text
	further 3 '\xc0\xc0\x8' >eight
	expect_failure 1 "a row of 10 elements" gtrace-cat --from short
	expect_failure 1 "no number" gtrace-cat --from half
	expect_failure 1 "a row of 17 elements" gtrace-cat --from long
	expect_failure 1 "no number" gtrace-cat --from text
	expect_failure 1 "status 8" gtrace-cat --from eight
}

@test "sort in the middle of a pipe" {
	gtrace-cat small.gt | sort | gtrace-cat --from | gtrace-cat >sorted.tsv
	diff <(gtrace-cat small.gt | grep -v '^#' | sort) <(rows sorted.tsv)
	gtrace-cat small.gt | sort -k1,1n | gtrace-cat --from | gtrace-cat | grep -v '^#' >numbered.tsv
	[ "$(wc -l <numbered.tsv)" -eq 4 ]
}

@test "columns in another order, more of them, and compressed text" {
	gtrace-cat small.gt | awk -F'\t' -v OFS='\t' '/^#block/ { $0 = substr($0, 2); print "#" $11, $10, $9, $8, $7, $6, $5, $4, $3, $2, $1, "note"; next }
		/^#/ { print; next } { print $11, $10, $9, $8, $7, $6, $5, $4, $3, $2, $1, "x" }' | xz >other.tsv.xz
	gtrace-cat --from other.tsv.xz | gtrace-cat >other.tsv
	diff <(gtrace-cat small.gt | grep -v '^#') <(rows other.tsv)
}

@test "an access policy window in text: decimal or hexadecimal numbers" {
	for window in 0x1000,65536,250000,persisting,streaming 4096,0x10000,250000,persisting,streaming 0x1000,0x10000,0x3d090,persisting,streaming; do
		printf '#kernel\tid=1\tname=k\tl2_window=%s\n' "$window" | gtrace-cat --from | gtrace-cat | grep -q 'l2_window=0x1000,65536,250000,persisting,streaming'
	done
}

@test "decimal addresses are read back as the same stream of rows" {
	gtrace-cat --decimal small.gt >decimal.tsv
	grep -q "${tab}8192${tab}-4${tab}" decimal.tsv
	diff <(gtrace-cat --from decimal.tsv | gtrace-cat | grep -v '^#') <(gtrace-cat small.gt | grep -v '^#')
}

@test "counts and the GPU survive the text" {
	printf '#gpu\tname=x\tsms=3\n#count\tstage=l1\tkernel=1\treads=18446744073709551615\tmru=[1,2,3]\tnone=[]\tlimited_by=warps\n' >counts.tsv
	gtrace-cat --from counts.tsv | gtrace-cat | grep -E '^#(gpu|count)' | diff counts.tsv -
	gtrace-cat --from counts.tsv | gtrace-cat --rows | gtrace-cat --from | gtrace-cat --no-rows | grep -E '^#(gpu|count)' | diff counts.tsv -
}

@test "same input, same bytes" {
	gtrace-cat --from small.tsv | cmp - small.gt
	(cat small.tsv; sleep 0.2) | gtrace-cat --from >a
	(while IFS= read -r line; do printf '%s\n' "$line"; done <small.tsv) | gtrace-cat --from >b
	cmp a b
}

@test "truncated text is refused" {
	gtrace-cat small.gt | grep -v '^#end' >cut.tsv
	gtrace-cat --from cut.tsv >cut.gt 2>err && return 1
	[ "$(wc -l <err)" -eq 1 ]
	grep -qF "no '#end' line" err
	run bash -c 'gtrace-cat --from cut.tsv | gtrace-cat'
	[ "$status" -eq 1 ]
}

@test "truncated plain rows are refused" {
	gtrace-cat --rows small.gt >plain
	size=$(wc -c <plain)
	for bytes in 1 10 100 $((size - 5)) $((size - 1)); do
		run bash -c "head -c $bytes plain | gtrace-cat --from >/dev/null"
		[ "$status" -eq 1 ]
	done
}

bad_line() { # bad_line TEXT SED-SCRIPT
	sed "$2" small.tsv >bad.tsv
	run ! cmp bad.tsv small.tsv
	gtrace-cat --from bad.tsv >bad.gt 2>err && return 1
	[ "$(wc -l <err)" -eq 1 ]
	grep -qF -- "$1" err
	run -1 gtrace-cat bad.gt
}

@test "bad text is refused with its line" {
	bad_line "bad.tsv:4: row 1: block 9: the grid has 2 blocks" '4s/^0/9/'
	bad_line "bad.tsv:5: row 1: lane mask 0x0000ffff: warp 1 has 8 threads" '5s/0x000000ff/0x0000ffff/; 5s/1,2,3,4,5,6,7,9/1,2,3,4,5,6,7,9,10,11,12,13,14,15,16,18/'
	bad_line "bad.tsv:5: lanes: 7 addresses for 8 active lanes" '5s/,9//'
	bad_line "bad.tsv:4: op: 'lod.global'" '4s/load/lod/'
	bad_line "bad.tsv:4: row 1: no active lane" '4s/0xffffffff/0/'
	bad_line "bad.tsv:4: row 1: 33 bytes a lane" "4s/global${tab}4/global${tab}33/"
	bad_line "bad.tsv:4: size: '300'" "4s/global${tab}4/global${tab}300/"
	bad_line "bad.tsv:4: base: '0x10000000000000000'" '4s/0x1000/0x10000000000000000/'
	bad_line "bad.tsv:4: base: '-5'" '4s/0x1000/-5/'
	bad_line "bad.tsv:4: expected 11 fields" "4s/${tab}1$//"
	bad_line "bad.tsv:4: expected 11 fields" "4s/$/${tab}1/"
	bad_line "bad.tsv:7: a row of kernel 3" '7s/2$/3/'
	bad_line "bad.tsv:3: the column 'mask' is missing" '3s/mask/musk/'
	bad_line "bad.tsv:3: a row before the line that names the columns" '3d'
	bad_line "bad.tsv:1: #kernel: 'grid'" '1s/grid=2/grid=x/'
	for window in 0x1000,0,1,normal,normal 0x1000,128,1000001,normal,normal 0x1000,128,1,normal 4096,128,1,normal,streamed -1,128,1,normal,normal \
		0x,128,1,normal,normal 0xffffffffffffffff,1,1,normal,normal 4096,128,1,normal,normal, 0x10000000000000000,128,1,normal,normal; do
		bad_line "bad.tsv:1: #kernel: 'l2_window': invalid value '$window': expected BASE,BYTES,HIT_RATIO,HIT,MISS" "1s/$/${tab}l2_window=$window/"
	done
	bad_line "bad.tsv:1: a block of 4000x1x1" '1s/block=40/block=4000/'
	bad_line "bad.tsv:1: a grid of 4000000000x1000x1" '1s/grid=2,1/grid=4000000000,1000/'
}

# Loads of a naive product by blocks 8 and 16 threads wide, with some lanes off, and one that is nearly such: the last address is another.
pitched() {
	printf '#kernel\tid=1\tname=k\tgrid=64,1,1\tblock=256,1,1\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n'
	awk 'BEGIN { for (i = 0; i < 4000; i++) {
		width = i % 3 ? 16 : 8; stride = i % 2 ? 4 : 0; pitch = i % 2 ? (i % 5 - 2) * 2048 : 2048
		list = ""; mask = 0
		for (lane = 0; lane < 32; lane++) {
			if (i % 7 == 0 && lane % width >= width - 3) continue
			mask += 2 ^ lane
			list = list (list ? "," : "") sprintf("0x%x", 1099511627776 + 4 * i + stride * (lane % width) + pitch * int(lane / width) + (i % 1000 == 999 && lane == 31))
		}
		printf "%d\t%d\t%d\t0x10\t%s.global\t4\t0x%x\t-\t-\t%s\t1\n", int(i / 64), i % 8, int(i % 64 / 8), i % 4 == 3 ? "store" : "load", mask, list
	} }'
}

@test "lanes at a pitch take a few bytes in the stream, and are addresses in every view" {
	pitched >given.tsv
	gtrace-cat --from given.tsv >p.gt
	[ "$(wc -c <p.gt)" -lt 140000 ] # of 4000 rows with 115000 addresses, 34 bytes a row
	gtrace-cat --decimal p.gt | grep -v '^#' >rows
	# Each row has the addresses that were given, as such or as a base and a stride.
	python3 - given.tsv rows <<-'END' >addresses
		import sys
		for name in sys.argv[1:]:
		    for line in open(name):
		        field = line.rstrip("\n").split("\t")
		        if line.startswith("#"):
		            continue
		        mask, lanes = int(field[6], 0), field[9]
		        on = [l for l in range(32) if mask >> l & 1]
		        print(name, *field[:3], *([int(a, 0) for a in lanes.split(",")] if lanes != "-" else
		                                  [int(field[7]) + int(field[8]) * (l - on[0]) for l in on]))
	END
	grep '^given' addresses | cut -d ' ' -f 2- >expected
	grep '^rows' addresses | cut -d ' ' -f 2- | cmp expected -
	gtrace-cat --rows p.gt | gtrace-cat --from | gtrace-cat --decimal | grep -v '^#' | cmp rows -
	gtrace-cat p.gt | gtrace-cat --from | gtrace-cat --decimal | grep -v '^#' | cmp rows -
	sort -t "$tab" -s -k 1,1n -k 3,3n -k 2,2n rows >ordered
	gtrace-order p.gt | gtrace-cat --decimal | grep -v '^#' | cmp ordered -
	gtrace-order --by an p.gt | gtrace-order | gtrace-cat --decimal | grep -v '^#' | cmp ordered -
	gtrace-order -S 64K p.gt | gtrace-cat --decimal | grep -v '^#' | cmp ordered -
	gschedule --sm 4 p.gt | gcoalesce | gtrace-cat | grep -v '^#' | sort >requests
	gcoalesce p.gt | gschedule --sm 4 | gtrace-cat | grep -v '^#' | sort | cut -f 1-9 | cmp - <(cut -f 1-9 requests)
	gtrace-cat --check p.gt
}

# Loads of the columns of a matrix, forth and back, with some lanes off, and stores of its rows.
columns() {
	printf '#kernel\tid=1\tname=k\tgrid=64,1,1\tblock=256,1,1\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n'
	awk 'BEGIN { for (i = 0; i < 4000; i++)
		printf "%d\t%d\t%d\t0x%x\t%s.global\t4\t0x%x\t0x%x\t%d\t-\t1\n", int(i / 64), i % 8, int(i % 64 / 8), 16 + i % 4, i % 4 == 3 ? "store" : "load",
			i % 9 == 0 ? 65535 : 4294967295, 1099511627776 + 4 * i, i % 4 == 3 ? 4 : i % 4 == 2 ? -4096 : 2048 }'
}

# bats test_tags=whole
@test "requests of a column are one row of the stream, and in every view each of them" {
	columns >given.tsv
	gtrace-cat --from given.tsv | gcoalesce >c.gt
	[ "$(wc -c <c.gt)" -lt 100000 ] # of 92600 requests
	gtrace-cat --decimal c.gt >c.text
	# Each lane of a column has a line and a sector of its own.
	python3 - given.tsv <<-'END' >expected
		import sys
		for line in open(sys.argv[1]):
		    field = line.rstrip("\n").split("\t")
		    if line.startswith("#") or field[8] == "4":
		        continue
		    for lane in range(32):
		        address = int(field[7], 0) + int(field[8]) * lane
		        if int(field[6], 0) >> lane & 1:
		            print(*field[:5], address - address % 128, f"{1 << address % 128 // 32:#x}", "0x0", 1, sep="\t")
	END
	grep '	load.global	' c.text | cut -f 1-9 >found
	cmp expected found
	[ "$(wc -l <found)" -gt 80000 ]
	gtrace-cat --from given.tsv | gcoalesce -j 2 | cmp - c.gt
	# The same requests, a row each.
	gtrace-cat --from c.text >singly.gt
	[ "$(wc -c <singly.gt)" -gt 1000000 ]
	gtrace-cat --rows c.gt | gtrace-cat --from | gtrace-cat --decimal | grep -v '^#' | cmp - <(grep -v '^#' c.text)
	few 4 "gschedule --sm 4" "gschedule --sm 4 --issue gto" "gschedule --sm 4 -S 64K" "gcache --l1 --size 32K --ways 64" "gcache --l1 --size 32K --ways 4 --mshr 1x32" \
		"gcache --l1 --by pc" "gcache --l2 --size 64K -j 2" "gcache --l2 --causes" "gdram" "grd" "grd -j 2"
	for view in "${FEW[@]}"; do
		echo "$view"
		$view c.gt | gtrace-cat | grep -v '^#history' >of.c
		$view singly.gt | gtrace-cat | grep -v '^#history' | cmp of.c -
	done
	gtrace-cat --check c.gt
	gschedule --sm 4 c.gt | gcache --l1 --size 16K --ways full | gtrace-cat --check
}

@test "input that is not a stream is refused" {
	expect_failure 1 "standard input: empty" gtrace-cat </dev/null
	expect_failure 1 "not a gtrace stream" gtrace-cat "$ROOT/LICENSE"
	expect_failure 1 "no-such-file" gtrace-cat no-such-file
	sed 's/gtrace\x03/gtrace\x04/' small.gt >newer.gt
	expect_failure 1 "stream version 4: this program reads versions 1 to 3" gtrace-cat newer.gt
	cat small.gt small.gt >two.gt
	run gtrace-cat two.gt
	[ "$status" -eq 1 ]
	[[ $output == *"data after the end of the stream"* ]]
}

@test "usage errors exit with 2" {
	expect_failure 2 "exclude one another" gtrace-cat --rows --from
	expect_failure 2 "one stream at most" gtrace-cat small.gt small.gt
	run gtrace-cat --nonsense
	[ "$status" -eq 2 ]
}

@test "progress on request, on stderr alone" {
	gtrace-cat -v small.gt 2>err >out
	diff out <(gtrace-cat small.gt)
	grep -q 'gtrace-cat: 4 rows' err
}

@test "--check: invariants that hold, and invariants that do not" {
	ordered conv | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram >whole.gt
	run gtrace-cat --check whole.gt
	[ "$status" -eq 0 ]
	[[ $output == *"invariants hold" ]]
	gtrace-cat whole.gt | sed '/stage=l2/s/\treads=\([0-9]*\)/\treads=1\1/' | gtrace-cat --from >wrong.gt
	expect_failure 1 "kernel 1: l2" gtrace-cat --check wrong.gt
	# Of sites: sums over all of them, and what is at most something else of one.
	ordered conv | gcoalesce --by site >sites.gt
	gtrace-cat --check sites.gt
	for wrong in "\tload_sectors=:load_sectors" "0x[0-9a-f]* -\.accesses=:accesses" "-\.unique_read_bytes=:unique_read_bytes" \
		"0x[0-9a-f]* -\.least_sectors=:least_sectors" "\tunique_read_sectors=:unique_read_sectors"; do
		gtrace-cat sites.gt | sed "/stage=coalesce/s/\(${wrong%:*}\)/\11/" | gtrace-cat --from >wrong.gt
		expect_failure 1 "${wrong##*:}" gtrace-cat --check wrong.gt
	done
	ordered conv | gschedule --gpu titanv >scheduled.gt
	gtrace-cat --check scheduled.gt
	gtrace-cat scheduled.gt | awk -F'\t' '/^#/ { print; next } !held { held = $0; next } { print } END { print held }' | gtrace-cat --from >shuffled.gt
	expect_failure 1 "step" gtrace-cat --check shuffled.gt
}

# What Accel-Sim's parser and core assert is in tests/import/accelsim_rules.py, written from their source; it knows nothing of gtrace.
accelsim_reads() { python3 "$ROOT/tests/import/accelsim_rules.py" "$@"; }

# as_read: the same accesses of a stream's text, as that script prints them.
as_read() {
	gtrace-cat "$1" | python3 -c '
import sys
launch, launches = 0, {}
opcode = {"load.global": "LDG.E", "store.global": "STG.E", "load.shared": "LDS", "store.shared": "STS", "atomic.global": "ATOMG.E.ADD", "reduction.global": "RED.E.ADD"}
size = {"1": ".U8", "2": ".U16", "4": "", "8": ".64", "16": ".128"}
rows = []
for line in sys.stdin:
    if line.startswith("#kernel\t"):
        launches[line.split("\t")[1].removeprefix("id=")] = len(launches) + 1
    if line.startswith("#"):
        continue
    block, warp, an, pc, op, width, mask, base, stride, lanes, *rest = line.rstrip("\n").split("\t")
    mask = int(mask, 16)
    active = [lane for lane in range(32) if mask >> lane & 1]
    where = [int(a, 16) for a in lanes.split(",")] if lanes != "-" else [int(base, 16) + int(stride) * (lane - active[0]) for lane in active]
    rows.append((launches[rest[-1]], int(block), int(warp), int(an), [pc[2:], f"{mask:08x}", opcode[op] + size[width]] + [f"{a:x}" for a in where]))
for launch, block, warp, an, row in sorted(rows, key=lambda row: row[:4]):
    print(launch, block, warp, *row, sep="\t")'
}

@test "--traceg: Accel-Sim's parser finds the same accesses, and what it wants of a trace" {
	gtrace-ptx --work --space global,shared --launch 'gemm_tiled<<<(2,2),(16,10),2048>>>(f32[1024]:ramp, f32[1024]:ramp, f32[1024], 32)' \
		--launch 'gemm_tiled<<<(1,2),(16,16),2048>>>(f32[1024]:ramp, f32[1024]:ramp, f32[1024], 16)' "$ROOT/examples/kernels/ptx/gemm_tiled.ptx" >tiled.gt
	gtrace-cat --traceg tiled tiled.gt 2>err
	[ ! -s err ]
	diff tiled/kernelslist.g <(printf 'kernel-%d.traceg\n' 1 2)
	accelsim_reads tiled >found
	as_read tiled.gt | diff - found
	[ "$(wc -l <found)" -gt 1000 ]
	# the instructions and barriers of the column work are there, warp by warp: the kernel has two barriers a tile
	accelsim_reads tiled warps >warps
	awk -F'\t' '$1 == 1 { n = 0; for (i = 4; i <= NF; i++) n += $i == "BAR"; print n }' warps | sort -u | diff - <(echo 4)
	# and our own reader, which counts them from the registers, finds what it was made of; the wait of a first access is for its arguments
	gtrace-order --work tiled | gtrace-cat | grep -v '^#' | diff - <(gtrace-cat tiled.gt | grep -v '^#' | awk '$5 !~ /shared/ && !first[$NF, $1, $2]++ { sub(/,waits/, "") } { print }')
}

@test "--traceg: blocks without accesses, copies, sizes, operators and hints come back" {
	{
		printf '#kernel\tid=4\tname=k(float *)\tgrid=2,2,1\tblock=40,1,1\tregisters=16\tshared_bytes=64\n'
		printf '#count\tstage=copies\tkernel=4\taddresses=[4096,8192]\tbytes=[256,64]\n'
		printf '#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\thint\tkernel\n'
		printf '2\t%d\t%d\t0x10\t%s\t%d\t%s\t%b\t%s\t4\n' 0 0 load.global 1 0xffffffff '0x1000\t1\t-' none 0 1 load.global.cg 8 0x5 '-\t-\t0x1000,0x2000' none \
			1 0 store.global.cs 16 0xff '0x3000\t-16\t-' L1::evict_first 1 1 load.global.nc 2 0x80 '0x4000\t0\t-' L2::128B 1 2 atomic.global 4 0x3 '0x4000\t0\t-' none \
			1 3 reduction.global 4 0x3 '0x4000\t4\t-' none 1 4 load.global 1 0x1 '0x5000\t0\t-' prefetch.L2 1 5 load.local 4 0x1 '0x10\t0\t-' none 1 6 atomic.shared 4 0x1 '0x10\t0\t-' none
	} >sizes.tsv
	gtrace-cat --from sizes.tsv >sizes.gt
	gtrace-cat --traceg sizes sizes.gt 2>err
	diff err <(echo "gtrace-cat: warning: not in the traces: launches without the column work have no barriers, no other instructions, and loads that only stores wait for (record with --work): 1")
	diff sizes/kernelslist.g <(printf '%s\n' MemcpyHtoD,0x0000000000001000,256 MemcpyHtoD,0x0000000000002000,64 kernel-4.traceg)
	accelsim_reads sizes warps | cut -f 1-4 | diff - <(for at in 0,0 0,1 1,0 1,1 2,0 2,1 3,0 3,1; do printf '1\t%s\t%s\n' "${at/,/$tab}" "$(case $at in 2,0) echo LDG ;; 2,1) echo STG ;; *) echo EXIT ;; esac)"; done)
	gtrace-order sizes 2>err | gtrace-cat | grep -v '^#' | sort | diff - <(gtrace-cat sizes.gt | grep -v '^#' | sort)
	[ ! -s err ]
	gtrace-order sizes | gtrace-cat | grep -P '^#(kernel|count\tstage=copies)' | diff - <(
		printf '#kernel\tid=4\tname=k(float *)\tgrid=2,2,1\tblock=40,1,1\tregisters=16\tshared_bytes=64\torder=block\tl1_bytes=0\n'
		printf '#count\tstage=copies\tkernel=4\taddresses=[4096,8192]\tbytes=[256,64]\n')
}

@test "--traceg: what cannot be a trace is refused, and leaves no folder" {
	ordered conv >conv.gt
	gcoalesce conv.gt >requests.gt
	expect_failure 1 "expected accesses in the order of their blocks" gtrace-cat --traceg new requests.gt
	gtrace-order --by an conv.gt >an.gt
	expect_failure 1 "comes after later ones: order the stream by blocks" gtrace-cat --traceg new an.gt
	gtrace-cat small.gt | sed 's/\tgrid=[^\t]*//' | gtrace-cat --from >shapeless.gt
	expect_failure 1 "expected one whose grid and block are known" gtrace-cat --traceg new shapeless.gt
	gtrace-cat small.gt | sed 's/\tload.global\t4\t/\tload.global\t3\t/' | gtrace-cat --from >odd.gt
	expect_failure 1 "load.global of 3 bytes a lane: expected what Accel-Sim's opcodes have" gtrace-cat --traceg new odd.gt
	head -c "$(($(wc -c <conv.gt) - 100))" conv.gt >cut.gt
	expect_failure 1 "cut.gt" gtrace-cat --traceg new cut.gt
	[ ! -e new ]
	mkdir there
	expect_failure 1 "there: expected a folder that can be made" gtrace-cat --traceg there conv.gt
	[ -d there ]
	expect_failure 2 "exclude one another" gtrace-cat --traceg new --check conv.gt
}

# bats test_tags=whole
@test "the samples end each warp, so that Accel-Sim reads them" {
	xzcat "$ROOT/examples/traces/conv.traceg.xz" >kernel-1.traceg
	echo kernel-1.traceg >kernelslist.g
	accelsim_reads . | grep -vc '^#' >rows
	diff rows <(gtrace-order kernelslist.g | gtrace-cat | grep -vc '^#')
}

@test "examples of the manual" {
	run_man_examples gtrace-cat.1
	run_man_examples gtrace.5
}

# Launches of different sizes; some have no rows, and ids are in no order.
launches() {
	awk 'BEGIN { OFS = "\t"; print "#block", "warp", "an", "pc", "op", "size", "mask", "base", "stride", "lanes", "kernel"
		for (k = 1; k <= 23; k++) { id = (k * 7) % 31 + 1; print "#kernel", "id=" id, "name=k" k % 4, "grid=16,1,1", "block=64,1,1"
			for (r = 0; r < k * k % 37 * 3; r++)
				print int(r / 8) % 16, r % 2, int(r / 2), "0x10", r % 5 ? "load.global" : "store.global", 4, "0xffffffff", r * 512 % 65536, r % 3 * 4, "-", id }
	}' | gtrace-cat --from | gtrace-order
}

whole_pipe() { gcoalesce | gschedule --gpu titanv | gcache --l1 | grd --by op | gcache --l2 | gdram; }

@test "parts: every launch is whole in one, and the report on all is the report on the stream, to the byte" {
	launches >all.gt
	whole_pipe <all.gt >whole.gt
	few 1 5 1 2 40
	for n in "${FEW[@]}"; do
		rm -f part-*.gt
		for k in $(seq $n); do
			gtrace-cat --part "$k/$n" all.gt >part.gt
			gtrace-cat part.gt | grep '^#kernel' || [ "$n" -eq 40 ]
			whole_pipe <part.gt >"part-$k.gt"
		done >kernels
		gtrace-cat all.gt | grep '^#kernel' | sort | diff - <(sort kernels)
		for form in --csv --json --findings "--names ncu --csv" "--by kernel"; do
			# shellcheck disable=SC2086
			gstats $form whole.gt >whole
			gstats $form --merge part-*.gt | sed 's/"gtrace-cat --part [^"]*", //' | diff whole - || { echo "$form"; return 1; }
		done
	done
	# 5 parts: the fullest has at most the rows of the largest launch more than the emptiest
	for k in 1 2 3 4 5; do gtrace-cat --part "$k/5" all.gt | gtrace-cat | grep -vc '^#'; done | sort -n >rows
	largest=$(gtrace-cat all.gt | grep -v '^#' | awk -F '\t' '{ n[$NF]++ } END { for (k in n) if (n[k] > m) m = n[k]; print m }')
	[ $(($(tail -n 1 rows) - $(head -n 1 rows))) -le $((largest + 23)) ]
}

refused() { # refused TEXT COMMAND...
	expected=$1
	shift
	run --separate-stderr "$@"
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"$expected"* ]] || { echo "$stderr"; return 1; }
}

@test "parts: one that is missing, again, of another model or none is named; kept lines are refused" {
	launches >all.gt
	for k in 1 2 3; do gtrace-cat --part "$k/3" all.gt | gcoalesce >"p$k.gt"; done
	gstats --merge p3.gt p1.gt p2.gt >/dev/null
	gstats --merge -v p3.gt p1.gt p2.gt 2>&1 >/dev/null | tr '\r' '\n' | tail -n 1 | grep -q "^gstats: $(for k in 1 2 3; do gtrace-cat p$k.gt; done | grep -vc '^#') rows"
	refused "p1.gt: part 1 of 3: expected all 3 parts, and no other" gstats --merge p1.gt p2.gt
	refused "p2.gt: part 2 again, after p2.gt" gstats --merge p1.gt p2.gt p2.gt
	refused "all.gt: expected a part of a stream, which passed gtrace-cat --part" gstats --merge all.gt
	gtrace-cat --part 3/3 all.gt | gcoalesce --by site >other.gt
	refused "other.gt: expected the stages and options of p1.gt" gstats --merge p1.gt p2.gt other.gt
	cp all.gt copy.gt
	gtrace-cat --part 3/3 copy.gt | gcoalesce >other.gt
	refused "other.gt: expected the stages and options of p1.gt" gstats --merge p1.gt p2.gt other.gt
	head -c 3000 p2.gt >cut.gt
	refused "cut.gt: " gstats --merge p1.gt cut.gt p3.gt
	refused "l2 keeps its lines from launch to launch (--flush never), and the stream is part 1 of 3" bash -c 'gcache --l2 --flush never p1.gt | gstats'
	for part in 0/3 4/3 1 /3 1/ 1/0 1/513 a/3 -1/3; do
		run gtrace-cat --part "$part" all.gt
		[ "$status" -eq 2 ]
		[[ $output == *--part* ]]
	done
	run gstats --merge --tee p1.gt p2.gt p3.gt
	[ "$status" -eq 2 ]
}
