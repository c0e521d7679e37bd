#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gplot: pictures of the tools' tables. Pictures are read back (tests/picture.py), so that missing data or words fail.

bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$BATS_FILE_TMPDIR" || return 1
	ordered conv | gschedule --sm 4 >conv.gt
	ordered gemm | gschedule --sm 4 >gemm.gt
	for trace in conv gemm; do
		gcache --l1 --size 64K <$trace.gt | gcache --l2 --size 256K --ways 16 | gstats --csv >$trace.csv
	done
}

setup() {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$BATS_FILE_TMPDIR"/* .
}

# picture COMMAND...: draws, and prints what the picture shows, for `shows`.
picture() {
	gplot "$@" >"$BATS_TEST_TMPDIR/picture.svg"
	python3 "$ROOT/tests/picture.py" "$BATS_TEST_TMPDIR/picture.svg" >"$BATS_TEST_TMPDIR/shown"
}

# shows LINE...: the picture shows each of these lines.
shows() {
	for line in "$@"; do
		grep -qxF -- "$line" "$BATS_TEST_TMPDIR/shown" || {
			echo "missing: $line"
			cat "$BATS_TEST_TMPDIR/shown"
			return 1
		}
	done
}

@test "histogram: a bar for each bin that the profile fills" {
	grd --profile conv.gt >profile
	picture histogram profile --title "convolution"
	bins=$(awk 'NR > 1 { bin = $2 == "inf" ? "inf" : int(log($2) / log(2) + 1e-9); n[bin]++ } END { for (b in n) c++; print c }' profile)
	shows "boxes $bins" "text 64" "text 128" "text inf" "text references" \
		"text reuse distance (lines; a bin begins at its label)" "text convolution"
	grd --profile --by op gemm.gt | picture histogram --percent
	shows "text load.global" "text store.global" "text references (%)" "text 100"
}

@test "histogram: figure 1 of [002], distance by distance" {
	printf 'kernel\tdistance\tto\tcount\n1\t0\t0\t1\n1\t1\t1\t2\n1\tinf\tinf\t4\n' | picture histogram
	shows "boxes 3" "text 0" "text 1" "text inf" "text 4" "text reuse distance (lines)"
	# The heights of the bars are proportional to the counts.
	[ "$(grep '^height' "$BATS_TEST_TMPDIR/shown" | tr '\n' ' ')" = "height 0.25 height 0.50 height 1.00 " ]
}

@test "csdd: a line for each file, sizes with suffixes, fractions up to 1" {
	grd --csdd conv.gt >conv.tsv
	grd --csdd gemm.gt >gemm.tsv
	picture csdd conv.tsv gemm.tsv
	shows "text conv" "text gemm" "text reuse distance (lines)" "text references of a shorter distance (fraction of all)" \
		"text 64" "text 1" "lines 2"
	picture csdd --names 'one kernel,another' conv.tsv gemm.tsv
	shows "text one kernel" "text another"
}

@test "curve: a line for each number of sets; steps are at the sizes of the table" {
	grd --curve-sets 1,16 gemm.gt >curve
	picture curve curve
	shows "lines 2" "text sets 1" "text sets 16" "text 4K" "text 32K" "text miss ratio" "text cache size (bytes)"
	[ "$(gplot curve --script --where sets=16 curve | sed -n '/^\$data0/,/^EOD/p' | wc -l)" -eq \
		"$(($(awk '$2 == 16' curve | wc -l) + 3))" ]
	grd --curve --sample 0.1 conv.gt | picture curve
	shows "lines 1" "areas 1"
}

@test "mru: by grd with the misses, by gstats without" {
	grd --per sm,set:32 --mru 4 gemm.gt | picture mru
	shows "text 0" "text 3" "text misses" "text position in the LRU stack (0: most recently used)" "text references"
	picture mru conv.csv gemm.csv --where stage=l1 --by file
	shows "text conv" "text gemm" "text hits"
}

@test "coalescing: a panel of 32 bars for each access" {
	gtrace-ptx --static --tree --launch 'transpose<<<(2,8),(32,8)>>>(in=f32[64*64], out=f32[64*64], 64, 64)' \
		"$ROOT/examples/kernels/ptx/transpose.ptx" >lanes
	picture coalescing lanes --where op=load,store
	# For the store only the first sector's 8 places have lanes.
	shows "text transpose, line 45: load" "text transpose, line 49: store" "text lanes" \
		"text 4-byte units of the 128 bytes from the warp’s first sector"
	[ "$(gplot coalescing --script lanes --where line=49 | awk '/^\$data0/ { inside = 1; next } /^EOD/ { inside = 0 } inside && $2 > 0' | wc -l)" -eq 8 ]
}

@test "pchase: a miss rate against sizes, latencies of one size, real ones too" {
	gpchase trace -N 2K..6K:128 -s 32 | gcache --l1 --size 4K --emit latency --hit-cycles 116 --miss-cycles 404 |
		gpchase latency >series
	picture pchase --hit-below 150 series
	shows "points 33" "text miss rate (%)" "text size of the array (bytes)" "text 4K" "text 100"
	# An array that fits never misses twice; one that exceeds every set always misses [001].
	gplot pchase --script --hit-below 150 series | awk '/^\$data0/ { inside = 1; next } /^EOD/ { inside = 0 }
		inside && ($1 <= 4096 ? $2 != 0 : $1 >= 5120 ? $2 != 100 : 0) { exit 1 }'
	picture pchase series
	shows "points 33" "text mean latency (cycles)"
	gplot pchase --script series | awk '/^\$data0/ { inside = 1; next } /^EOD/ { inside = 0 }
		inside && ($1 <= 4096 ? $2 != 116 : $1 >= 5120 ? $2 != 404 : 0) { exit 1 }'
	picture pchase series --where N=5120
	shows "text latency (cycles)" "text place in the array (bytes)"
}

@test "pchase: the latencies of a GPU, in the format of another program" {
	file=${GTRACE_REFERENCE:-}/pascal_l1_pchase_trace_native.csv
	[ -n "${GTRACE_REFERENCE:-}" ] && [ -r "$file" ] || skip "GTRACE_REFERENCE names no directory with pascal_l1_pchase_trace_native.csv"
	picture pchase -x N_bytes -y latency_cycles --hit-below 150 "$file"
	shows "points 2" "text miss rate (%)"
}

@test "bars: hit ratios of gstats, columns of any table, stacks" {
	picture bars conv.csv gemm.csv
	shows "boxes 4" "text l1" "text l2" "text conv" "text gemm" "text read hits (% of reads)" "text 100"
	hits=$(awk -F, '$1 == "total" && $2 == "l1" { v[$3] = $4 } END { printf "%.6g", 100 * v["read_hits"] / v["reads"] }' gemm.csv)
	gplot bars --script gemm.csv | grep -qE "^0?-?[0-9.]* ${hits%.*}[.0-9]* "
	grd --per sm,set:64 --classes 1,2,4 conv.gt >classes
	picture bars --stack -x ways -y compulsory,capacity,conflict classes
	shows "text compulsory" "text capacity" "text conflict" "text references" "text ways (lines a set)" "text 4"
	# The height of a stack is the sum of all misses.
	gplot bars --stack --script -x ways -y compulsory,capacity,conflict classes |
		awk '/^\$data2/ { inside = 1; next } /^EOD/ { inside = 0 } inside { print $2 }' |
		diff - <(awk 'NR > 1 { print $6 + $7 + $8 }' classes)
}

@test "sweep: lines over sizes, bars over names, panels" {
	printf 'size,map,hits,reads\n8K,rr,1,10\n16K,rr,2,10\n64K,rr,9,10\n8K,part:4,3,10\n16K,part:4,5,10\n64K,part:4,9,10\n' >sweep.csv
	picture sweep -x size -y hits/reads --by map sweep.csv
	shows "points 6" "lines 2" "text rr" "text part:4" "text 8K" "text 32K" "text hits (% of reads)" "text size (bytes)"
	picture sweep -x map -y hits/reads --by size sweep.csv
	shows "boxes 6" "text size 8K" "text rr" "text map"
	picture sweep -x size -y hits --panel map sweep.csv
	shows "points 6" "lines 2" "text rr" "text part:4"
	expect_failure 1 "--by names the column that tells them apart" gplot sweep -x size -y hits sweep.csv
}

@test "scatter: a comparison with hardware has a panel for each metric, with axes of its own, and one legend" {
	{
		echo id,kernel,grid,block,metric,unit,hardware,ours,difference,note
		for i in $(seq 32); do
			echo "1,k,1x1x1,32x1x1,l1tex__t_sectors_pipe_lsu_mem_global_op_${i}_of_them.sum,sector,$i,$((2 * i)),$i,"
			echo "2,k,1x1x1,32x1x1,l1tex__t_sectors_pipe_lsu_mem_global_op_${i}_of_them.sum,sector,0,${i}000000,$i,"
		done
	} >rows.csv
	picture scatter rows.csv
	shows "points 64" "text x = y" "text …_pipe_lsu_mem_global_op_9_of_them.sum" "text …pipe_lsu_mem_global_op_32_of_them.sum" \
		"text hardware" "text ours"
	[ "$(grep -c 'of_them' "$BATS_TEST_TMPDIR/shown")" -eq 32 ]
	[ "$(grep -cx 'text x = y' "$BATS_TEST_TMPDIR/shown")" -eq 1 ]
	# Each panel has a range of its own: decades up to 10^6, 10^7 or 10^8, and 0 a decade below its least value, 1 to 32; and the legend's.
	gplot scatter --script rows.csv | grep -c '^set logscale x 10' | grep -qx 32
	gplot scatter --script rows.csv | grep '^set yrange' | cut -d '(' -f 1 | sort -u | grep -c ':' | grep -qx 5
	# --panel alone has the same axes everywhere.
	gplot scatter -x hardware -y ours --panel metric --script rows.csv | grep -c '^set xrange' | grep -qx 1
}

@test "a logarithmic axis has a place for 0, and none for values below" {
	printf 'a,b\n0,5\n10,0\n1000,70\n' >zeros.csv
	picture scatter -x a -y b --log xy zeros.csv
	shows "points 3" "text 0" "text 10" "text 1000"
	gplot scatter -x a -y b --log xy --script zeros.csv | grep -A3 '^\$data0' | tail -3 >points
	printf '%s\n' '1 5' '10 0.1' '1000 70' | diff - points
	printf 'a,b\n-1,5\n10,7\n' | expect_failure 1 "above 0 on a logarithmic axis, found -1" gplot scatter -x a -y b --log x
	printf 'a,b\n0,5\n0,7\n' | expect_failure 1 "above 0 on a logarithmic axis, found 0" gplot scatter -x a -y b --log x
}

@test "sizes in bytes have K on axes and in names, rates a %, and paths are named by their files" {
	printf 'trace,l1.size,l1.read_hit_rate\n' >sizes.csv
	for trace in a b; do
		for size in 8192 16384 65536; do
			echo "examples/of/programs/with/a/folder/and/a/long/name/$trace.traceg.xz,$size,$((size / 1000))" >>sizes.csv
		done
	done
	picture sweep -x l1.size -y l1.read_hit_rate --by trace sizes.csv
	shows "text 8K" "text 64K" "text l1 size (bytes)" "text l1 read_hit_rate (%)" "text a" "text b" "points 6"
	picture bars -x trace -y l1.read_hit_rate --by l1.size sizes.csv
	shows "text l1.size 8K" "text l1.size 64K" "boxes 6"
	picture sweep -x trace -y l1.read_hit_rate --where l1.size=8K,16K --by l1.size sizes.csv
	shows "boxes 4" "text a" "text b"
	# A file's name chooses its path, too; conditions on several columns are one option or several.
	for where in l1.size=8K,16K,trace=a "l1.size=8K,16K --where trace=examples/of/programs/with/a/folder/and/a/long/name/a.traceg.xz"; do
		gplot sweep -x l1.size -y l1.read_hit_rate --where $where --script sizes.csv | grep -A2 '^\$data0' | diff - <(printf '%s\n' '$data0 << EOD' '8192 8' '16384 16')
	done
	# Files of one name keep their folders.
	sed -i 's|name/b.traceg|other/a.traceg|' sizes.csv
	picture sweep -x l1.size -y l1.read_hit_rate --by trace sizes.csv
	shows "text …th/a/folder/and/a/long/name/a.traceg.xz" "text …h/a/folder/and/a/long/other/a.traceg.xz"
}

# By hand: of these sizes and reads, (2, 90) is beaten by (1, 90), (4, 95) too, and (16, 39) by none; from 8 on no more than 1 of 40 is taken.
@test "sweep --pareto: the points that no other beats, their knee, and both as a table" {
	printf '%s\n' map,l1.size,l2.reads,l1.read_hit_rate rr,1,90,10 part:4,2,90,10 rr,2,80,20 rr,4,95,5 part:4,8,40,60 part:4,8,40,60 rr,16,39,61 rr,32,40,61 >points.csv
	gplot sweep -x l1.size -y l2.reads --pareto --table points.csv 2>said | diff - <(printf '%s\n' \
		map,l1.size,l2.reads,l1.read_hit_rate,knee rr,1,90,10,no rr,2,80,20,no part:4,8,40,60,yes part:4,8,40,60,no rr,16,39,61,no)
	[ "$(cat said)" = 'gplot: least l1.size, least l2.reads: 5 of 8 rows' ]
	# Hits are to be many: of 100 % miss 90, 80, 40 and 39.
	gplot sweep -x l1.size -y l1.read_hit_rate --pareto --table -o front.csv points.csv 2>said
	cut -d , -f 2,5 front.csv | paste -sd ' ' | diff - <(echo 'l1.size,knee 1,no 2,no 8,yes 8,no 16,no')
	[ "$(cat said)" = 'gplot: least l1.size, most l1.read_hit_rate: 5 of 8 rows' ]
	picture sweep -x l1.size -y l2.reads --by map --pareto points.csv
	shows "text front: least x, least y" "text rr" "text part:4"
	gplot sweep -x l1.size -y l2.reads --pareto --script points.csv | awk '/^\$data1/ { inside = 1; next } /^EOD/ { inside = 0 } inside && NF' |
		diff - <(printf '%s\n' '1 90' '2 80' '8 40' '16 39')
	# Where the largest size still takes 5 %, there is no knee.
	printf '%s\n' size,misses 1,100 2,50 4,25 | gplot sweep -x size -y misses --pareto --table --quiet | grep -c ',no$' | diff - <(echo 3)
	# A front for each panel.
	gplot scatter -x l1.size -y l2.reads --panel map --pareto --table --quiet points.csv | cut -d , -f 1-3 | diff - <(printf '%s\n' map,l1.size,l2.reads rr,1,90 rr,2,80 rr,16,39 part:4,2,90 part:4,8,40 part:4,8,40)
	expect_failure 2 "--pareto: expected sweep or scatter, not bars" gplot bars --pareto points.csv
	expect_failure 2 "--table: expected --pareto" gplot sweep -x l1.size -y l2.reads --table points.csv
	expect_failure 2 "--table: expected neither --script nor --terminal" gplot sweep -x l1.size -y l2.reads --pareto --table --script points.csv
	expect_failure 2 "--table: expected one file" gplot sweep -x l1.size -y l2.reads --pareto --table points.csv points.csv
	expect_failure 1 "--pareto: expected one column along y" gplot sweep -x l1.size -y l2.reads,l1.read_hit_rate --pareto points.csv
	expect_failure 1 "expected numbers in column 'map'" gplot sweep -x map -y l2.reads --pareto points.csv
}

@test "curves that coincide differ in width, and more than four in dashes too" {
	for n in 1 2 3 4 5 6 7; do printf 'x,y\n1,1\n2,2\n' >"line$n.csv"; done
	gplot sweep -x x -y y --script line[1-7].csv | grep -o 'linewidth [0-9.]* dashtype [0-9]*' >styles
	[ "$(cut -d ' ' -f 2 styles | sort -u | wc -l)" -eq 7 ]
	[ "$(cut -d ' ' -f 2 styles | sort -rn | paste -sd ' ')" = "$(cut -d ' ' -f 2 styles | paste -sd ' ')" ]
	[ "$(cut -d ' ' -f 4 styles | sort -u | wc -l)" -eq 5 ]
}

@test "scatter: dots, the diagonal, logarithms over wide ranges" {
	printf 'hw,model,other\n1,2,1\n10,30,10\n2000,1900,-\n' >scatter.csv
	picture scatter -x hw -y model,other --diagonal scatter.csv
	shows "points 5" "text model" "text other" "text x = y" "text hw" "text 1000" "text 10k"
	gplot scatter -x hw -y model --script scatter.csv | grep -q '^set logscale x 10'
	gplot scatter -x hw -y model --log none --script scatter.csv >script
	run ! grep logscale script
}

@test "figure 7 of [001]: bank passes against the stride" {
	{
		echo stride,passes
		for stride in 1 2 4 6 8 16 32; do
			awk -v stride=$stride 'BEGIN {
				OFS = "\t"
				print "#gtrace 1"
				print "#kernel", "id=1", "name=strided", "grid=1,1,1", "block=32,1,1"
				print "block", "warp", "an", "pc", "op", "size", "mask", "base", "stride"
				print 0, 0, 0, 0, "load.shared", 4, "0xffffffff", 0, 4 * stride
			}' | gtrace-cat --from | gcoalesce | gstats --csv | awk -F, -v stride=$stride '$1 == "total" && $3 == "bank_passes" { print stride "," $4 }'
		done
	} >banks.csv
	picture sweep -x stride -y passes banks.csv
	shows "points 7" "lines 1" "text stride" "text passes"
	gplot sweep -x stride -y passes --script banks.csv | grep -qx '32 32'
}

# bats test_tags=whole
@test "figure 12 of [002]: parameters at fractions of their value, a panel for each trace" {
	{
		echo trace,parameter,factor,reads,hits
		for trace in conv gemm; do
			for factor in 0.25 0.5 2 4; do
				for parameter in size ways; do
					size=16384 ways=4
					declare $parameter="$(awk -v now=${!parameter} -v factor=$factor 'BEGIN { print now * factor }')"
					gcache --l1 --size $size --ways $ways --emit none $trace.gt | gstats --csv | awk -F, -v point=$trace,$parameter,$factor '
						$1 == "total" && $2 == "l1" { v[$3] = $4 } END { print point "," v["reads"] "," v["read_hits"] }'
				done
			done
		done
	} >factors.csv
	picture sweep -x factor -y hits/reads --by parameter --panel trace factors.csv
	shows "points 16" "lines 4" "text conv" "text gemm" "text size" "text ways" "text 0.25" "text 4" "text factor" "text hits (% of reads)"
	gplot sweep -x factor -y hits/reads --by parameter --panel trace --terminal text factors.csv | grep -q 'gemm; y: hits (% of reads)'
}

@test "a million points are reduced to pixels" {
	awk 'BEGIN { print "x,y"; for (i = 0; i < 300000; i++) print i "," (i * 7919) % 1000 }' |
		gplot scatter -x x -y y --script | awk '/^\$data0/ { inside = 1; next } /^EOD/ { inside = 0 } inside { n++ } END { exit n > 300000 || n < 100000 }'
	awk 'BEGIN { print "kernel\tdistance\tbelow\tfraction"; for (i = 1; i < 200000; i++) print 1 "\t" i "\t" i "\t" i / 200000 }' |
		gplot csdd --script | awk '/^\$data0/ { inside = 1; next } /^EOD/ { inside = 0 } inside { n++; last = $1 } END { exit n > 2100 || n < 900 || last < 199999 }'
}

@test "terminals: SVG, PNG by name and by option, text with the labels of the axes" {
	grd --csdd conv.gt >conv.tsv
	gplot csdd conv.tsv | head -c 5 | grep -q '<?xml'
	gplot csdd conv.tsv -o "$BATS_TEST_TMPDIR/x.png"
	[ "$(head -c 4 "$BATS_TEST_TMPDIR/x.png" | tail -c 3)" = PNG ]
	gplot csdd conv.tsv --terminal png | head -c 4 | tail -c 3 | grep -q PNG
	gplot csdd conv.tsv --terminal text --size 70x20 >text
	grep -q 'y: references of a shorter distance' text
	grep -q 'reuse distance (lines)' text
	awk 'length($0) > 70 { exit 1 }' text
	[ "$(gplot csdd conv.tsv | cksum)" = "$(gplot csdd conv.tsv | cksum)" ]
	python3 "$ROOT/tests/picture.py" <(gplot csdd --size 400x300 conv.tsv) | grep -qx 'size 400 300'
}

@test "a terminal gets text, and no PNG" {
	needs_terminal
	grd --csdd conv.gt >conv.tsv
	script -qec "gplot csdd conv.tsv" /dev/null </dev/null | grep -q 'y: references'
	script -qec "gplot csdd --terminal png conv.tsv" /dev/null </dev/null | grep -q 'not written to a terminal'
}

@test "names are drawn, and never executed" {
	mkdir -p "$BATS_TEST_TMPDIR/hostile"
	cd "$BATS_TEST_TMPDIR/hostile"
	{
		printf 'name\tvalue\n'
		printf '%s\t1\n' '`touch pwned`' "'; system('touch pwned'); '" '%s%n %d' '@GPVAL $x {/Bold y}' '"; !touch pwned' '</text><script>' "'''"
		printf 'bad\xff\x01\xef\xbf\xbe\t2\n'
	} >names.tsv
	for terminal in svg png text; do
		gplot bars names.tsv --title "\`touch pwned\`'" --x-label "'\$(touch pwned)" --terminal $terminal >out
		gplot bars names.tsv --by name --terminal $terminal >out2
	done
	[ "$(ls)" = "$(printf 'names.tsv\nout\nout2')" ]
	picture bars names.tsv --by name
	shows 'text `touch pwned`' 'text %s%n %d' 'text @GPVAL $x {/Bold y}' 'text </text><script>' 'text bad???' "boxes 8"
}

# The rows that are drawn: the y of each point, counted by hand from the table.
@test "--where takes several columns at once, and values with commas, equals signs and backslashes" {
	printf '%s\n' 'name,level,size,y' '"f(int, int)",l1,32K,1' '"f(int, int)",l2,64K,2' 'g,l1,32K,3' 'g,l2,32K,4' 'T=float,l1,64K,5' \
		'a\b,l1,64K,6' >where.csv
	drawn() { gplot bars --script -x name -y y "$@" where.csv | awk '/^\$data0/ { inside = 1; next } /^EOD/ { inside = 0 } inside { printf "%s ", $2 }'; }
	[ "$(drawn --where name=g,level=l2)" = "$(drawn --where name=g --where level=l2)" ]
	[ "$(drawn --where name=g,level=l2)" = "$(drawn --where y=4)" ]
	[ "$(drawn --where level=l1,l2,size=32768)" = "$(drawn --where y=1,3,4)" ]
	[ "$(drawn --where 'name=f(int\, int),level=l2')" = "$(drawn --where y=2)" ]
	[ "$(drawn --where 'name=T=float')" = "$(drawn --where y=5)" ]
	[ "$(drawn --where 'name=g,T\=float,level=l1')" = "$(drawn --where y=3,5)" ]
	[ "$(drawn --where 'name=a\\b')" = "$(drawn --where y=6)" ]
	[ "$(drawn --where y=4)" != "$(drawn --where y=2)" ]
	expect_failure 1 "expected a column 'T', found: name level size y" gplot bars -x name -y y --where name=g,T=float where.csv
	expect_failure 1 "expected at most 16 conditions" gplot bars -x name -y y --where "$(seq -s, 17 | sed 's/[0-9]*/y=&/g')" where.csv
	expect_failure 2 "expected COLUMN=VALUE" gplot bars -x name -y y --where level where.csv
	expect_failure 1 "expected COLUMN=VALUE" gplot bars -x name -y y --where level,name=g where.csv
}

@test "errors are one line" {
	printf 'a,b\n1,2\n' >table.csv
	expect_failure 2 "expected a kind of picture" gplot
	expect_failure 2 "expected a kind of picture" gplot pie table.csv
	expect_failure 1 "expected a column 'distance', found: a b" gplot csdd table.csv
	expect_failure 1 "expected --x and --y" gplot sweep table.csv
	expect_failure 1 "expected a column 'hardware'" gplot scatter table.csv
	expect_failure 2 "--free-axes: expected --panel" gplot scatter -x a -y a --free-axes table.csv
	expect_failure 1 "only where numbers are along x" gplot bars -x a --panel a --free-axes table.csv
	expect_failure 1 "expected a column 'c', found: a b" gplot scatter -x a -y c table.csv
	expect_failure 1 "expected rows to draw" gplot scatter -x a -y b --where a=7 table.csv
	for kind in "bars -x a" "histogram -x a" "mru -x a" "csdd -x a" "pchase -x a"; do
		# shellcheck disable=SC2086
		expect_failure 1 "expected rows to draw" gplot $kind -y b --where a=7 table.csv
	done
	expect_failure 1 "No such file" gplot bars nowhere.csv
	expect_failure 1 "expected a column of numbers beside 'a;b'" gplot bars <(printf 'a;b\n1;2\n')
	expect_failure 1 "expected the table of gtrace-ptx --static --tree" gplot coalescing table.csv
	expect_failure 1 "row 1: expected a number in column 'b', found 'x'" gplot scatter -x a -y b <(printf 'a,b\n1,x\n')
	expect_failure 1 ":2: expected 2 fields, as the column names are, found 3" gplot bars <(printf 'a,b\n1,2,3\n')
	expect_failure 1 ":2: expected a quoted field to end" gplot bars <(printf 'a,b\n"1,2\n')
	expect_failure 1 "expected a line of column names and rows below it" gplot bars /dev/null
	expect_failure 1 "found a 0 byte" gplot bars <(printf 'a,b\n1,\0\n')
	expect_failure 1 "above 0 on a logarithmic axis" gplot scatter -x a -y b --log xy <(printf 'a,b\n-1,1\n2,3\n')
	expect_failure 1 "at most 24 series" gplot scatter -x a -y a --by a <(seq 0 30 | sed '1s/.*/a/')
	expect_failure 1 "at most 36 panels" gplot scatter -x a -y a --panel a <(seq 0 40 | sed '1s/.*/a/')
	expect_failure 1 "at most 160 names" gplot bars <(awk 'BEGIN { print "a,b"; for (i = 0; i < 200; i++) print "n" i ",1" }')
	expect_failure 2 "--size" gplot bars --size 0x0 table.csv
	expect_failure 2 "--terminal" gplot bars --terminal gif table.csv
	expect_failure 2 "--log" gplot bars --log z table.csv
	expect_failure 2 "--where" gplot bars --where a table.csv
	expect_failure 2 "--output: 'x.jpg': expected a name in .svg, .png or .txt" gplot bars -o x.jpg table.csv
	expect_failure 2 "'bar': expected a kind of picture before all options, one of: histogram" gplot bar table.csv
	expect_failure 1 "gnuplot cannot be run: not in PATH: install gnuplot (the package gnuplot-nox)" env PATH="$(dirname "$(command -v gplot)")" gplot bars table.csv
	expect_failure 1 "cannot write the picture" gplot bars table.csv -o /dev/full
	expect_failure 1 "standard output" bash -c 'gplot bars table.csv >/dev/full'
	PATH=$(dirname "$(command -v gplot)") gplot bars --script table.csv >/dev/null
}

@test "a failing gnuplot is reported, and leaves no picture" {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho picture; echo "no such terminal" >&2; exit 3\n' >"$BATS_TEST_TMPDIR/bin/gnuplot"
	chmod +x "$BATS_TEST_TMPDIR/bin/gnuplot"
	printf 'a,b\n1,2\n' >table.csv
	PATH=$BATS_TEST_TMPDIR/bin:$PATH expect_failure 1 "gnuplot failed: no such terminal" gplot bars table.csv -o "$BATS_TEST_TMPDIR/none.svg"
	[ ! -e "$BATS_TEST_TMPDIR/none.svg" ]
}

@test "a closed pipe downstream is quiet" {
	printf 'a,b\n1,2\n' >table.csv
	gplot bars table.csv 2>"$BATS_TEST_TMPDIR/err" | true
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "--script prints the script that is drawn" {
	grd --csdd conv.gt >conv.tsv
	gplot csdd conv.tsv --script >script
	gnuplot -d - <script >by-hand.svg
	diff <(sed '/<title>/d; /<desc>/d' by-hand.svg) <(gplot csdd conv.tsv | sed '/<title>/d')
}

@test "the examples of the manual" {
	run_man_examples gplot.1
	for picture in csdd curve bars mru classes sweep maps pchase scatter; do
		python3 "$ROOT/tests/picture.py" "$BATS_TEST_TMPDIR/$picture.svg" | grep -qE '^(boxes|lines|points) [1-9]'
	done
}

@test "the pictures of docs/pictures.md are those that its commands draw" {
	grep -q 'docs/.*svg conv.tsv' "$ROOT/docs/pictures.md"
	mkdir -p "$BATS_TEST_TMPDIR/drawn/docs"
	cd "$BATS_TEST_TMPDIR/drawn"
	ln -s "$ROOT/examples" examples
	sed -n 's/^    //p' "$ROOT/docs/pictures.md" | bash -eu -o pipefail
	for picture in "$ROOT"/docs/*.svg; do
		python3 "$ROOT/tests/picture.py" "$picture" >committed
		python3 "$ROOT/tests/picture.py" "docs/$(basename "$picture")" | diff committed -
		grep -q "($(basename "$picture"))" "$ROOT/docs/pictures.md"
	done
}
