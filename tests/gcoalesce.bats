# SPDX-License-Identifier: MIT
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	tab=$'\t'
}

# trace ROW...: a stream with these accesses (block, warp, an, pc, op, size, mask, base, stride,
# lanes) of a kernel of 4 blocks of 64 threads.
trace() {
	local row
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		echo "#block warp an pc op size mask base stride lanes" | tr ' ' '\t'
		for row in "$@"; do echo "$row" | tr ' ' '\t'; done
	} | gtrace-cat --from
}

# requests OPTION...: address, sectors, full and lanes of what gcoalesce makes.
requests() { gcoalesce "$@" | gtrace-cat | grep -v '^#' | cut -f 6-9 | tr '\t' ' '; }

# counter NAME: its value in a stream.
counter() { gtrace-cat | sed -n "/^#count.*stage=$1\t/s/.*\t$2=\([^\t]*\).*/\1/p"; }

is() { diff <(cat) <(printf '%s\n' "$@"); }

@test "passes of shared memory are the wavefronts in which L1 delivers the same global loads, on an A100 and an A40: 144 patterns" {
	python3 "$ROOT/tests/golden/strides.py" "$ROOT/tests/reference/strides.csv"
}

@test "passes of shared memory are the wavefronts of an H100: 240 patterns of tests/reference/h100_shared.csv" {
	awk -F, 'BEGIN { print "#block warp an pc op size mask base stride lanes kernel" }
		NR == 1 { next }
		{ gsub(/ /, ",", $5); kernels = kernels "#kernel id=" NR - 1 "\n"; rows = rows "0 0 0 0 " $1 ".shared " $2 " 0x" $3 " - - " $5 " " NR - 1 "\n" }
		END { printf "%s%s", kernels, rows }' "$ROOT/tests/reference/h100_shared.csv" | tr ' ' '\t' | gtrace-cat --from | gcoalesce >out
	gtrace-cat out | tr '\t' '\n' | sed -n 's/^bank_passes=//p' >passes
	[ "$(wc -l <passes)" -eq 240 ]
	tail -n +2 "$ROOT/tests/reference/h100_shared.csv" | cut -d , -f 4 | diff - passes
}

@test "contiguous lanes are one request, four sectors" {
	trace "0 0 0 0 load.global 4 0xffffffff 0x1000 4 -" | requests | is "0x000000001000 0xf 0x0 32"
}

@test "a store across the end of a line: two requests, and the sectors that it overwrites fully" {
	trace "0 0 0 0 store.global 4 0xffffffff 0x1010 4 -" | requests |
		is "0x000000001000 0xf 0xe 28" "0x000000001080 0x1 0x0 4"
}

@test "a lane across the end of a line counts in the line of its first byte only" {
	trace "0 0 0 0 load.global 8 0x1 0x107c 0 -" | requests | is "0x000000001000 0x8 0x0 1" "0x000000001080 0x1 0x0 0"
}

@test "requests are in the order of the first lane that touches their line" {
	trace "0 0 0 0 load.global 4 0x17 - - 0x2000,0x1000,0x2004,0x1080" | requests |
		is "0x000000002000 0x1 0x0 2" "0x000000001000 0x1 0x0 1" "0x000000001080 0x1 0x0 1"
}

@test "atomics and reductions have no full sectors; other spaces are like global" {
	for op in atomic.global reduction.global load.local load.texture load.constant; do
		trace "0 0 0 0 $op 4 0xffffffff 0x1000 4 -" | requests | is "0x000000001000 0xf 0x0 32"
	done
	trace "0 0 0 0 store.local 4 0xffffffff 0x1000 4 -" | requests | is "0x000000001000 0xf 0xf 32"
}

@test "constants: by the whole warp and by sectors under any rule, counted apart, a turn for each address" {
	# 32 lanes on one word; on 32 words; and 4 lanes on two words of two lines.
	trace "0 0 0 0 load.constant 4 0xffffffff 0x1004 0 -" "0 0 1 1 load.constant 4 0xffffffff 0x1000 4 -" \
		"0 0 2 2 load.constant 4 0xf - - 0x1000,0x2000,0x2000,0x1000" "0 0 3 3 load.global 4 0x1 0x1000 0 -" >t
	for rule in default pascal fermi; do
		requests --rule "$rule" <t | head -n 4 |
			is "0x000000001000 0x1 0x0 32" "0x000000001000 0xf 0x0 32" "0x000000001000 0x1 0x0 2" "0x000000002000 0x1 0x0 2"
		gcoalesce --rule "$rule" <t >out
		for pair in accesses=4 load_accesses=1 requests=1 constant_accesses=3 constant_turns=35 constant_requests=4 constant_sectors=7; do
			[ "$(counter coalesce "${pair%=*}" <out)" -eq "${pair#*=}" ] || { echo "$rule $pair"; return 1; }
		done
	done
	trace "0 0 3 3 load.global 4 0x1 0x1000 0 -" | gcoalesce >out
	[ -z "$(counter coalesce constant_accesses <out)" ]
}

@test "pascal: separate groups of 8 lanes of 4 bytes, 4 lanes of 8 and 2 of 16; a broadcast is 4 sectors" {
	trace "0 0 0 0 load.global 4 0xffffffff 0x1000 0 -" | requests --rule pascal |
		is "0x000000001000 0x1 0x0 8" "0x000000001000 0x1 0x0 8" "0x000000001000 0x1 0x0 8" "0x000000001000 0x1 0x0 8"
	trace "0 0 0 0 store.global 8 0xff 0x1000 8 -" | requests --rule pascal-apart |
		is "0x000000001000 0x1 0x1 4" "0x000000001000 0x2 0x2 4"
	trace "0 0 0 0 load.global 16 0xf 0x1000 16 -" | requests --rule pascal |
		is "0x000000001000 0x1 0x0 2" "0x000000001000 0x2 0x0 2"
}

@test "pascal: the requests of a store's groups are joined unless they write the same sector" {
	trace "0 0 0 0 store.global 8 0xff 0x1000 8 -" | requests --rule pascal | is "0x000000001000 0x3 0x3 8"
	trace "0 0 0 0 store.global 4 0xffff 0x1000 0 -" | requests --rule pascal |
		is "0x000000001000 0x1 0x0 8" "0x000000001000 0x1 0x0 8"
	trace "0 0 0 0 load.global 4 0xffff 0x1000 0 -" >t
	[ "$(gcoalesce --rule pascal <t | counter coalesce load_sectors)" -eq 2 ]
	[ "$(gcoalesce --rule pascal <t | counter coalesce load_warp_sectors)" -eq 1 ]
}

@test "fermi: whole lines" {
	trace "0 0 0 0 load.global 8 0xf 0x1000 64 -" | requests --rule fermi |
		is "0x000000001000 0xf 0x0 2" "0x000000001080 0xf 0x0 2"
}

@test "fermi: texture memory by sectors" {
	trace "0 0 0 0 load.texture 4 0xf 0x1000 64 -" >t
	requests --rule fermi <t | is "0x000000001000 0x5 0x0 2" "0x000000001080 0x5 0x0 2"
	[ "$(gcoalesce --rule fermi <t | counter coalesce load_sectors)" -eq 4 ]
}

@test "[003] table 3, first four rows: sectors of an access, as measured on an A30" {
	while read -r stride sectors; do
		[ "$(trace "0 0 0 0 load.global 4 0xffffffff 0x7f0000000000 $stride -" | gcoalesce | counter coalesce load_sectors)" -eq "$sectors" ]
	done <<-END
		128 32
		16 16
		0 1
		4 4
	END
}

@test "[004] fig. 2: 4 lanes, 64 bytes apart, 8 bytes each: 128 bytes by sectors, 256 by lines" {
	trace "0 0 0 0 load.global 8 0xf 0x1000 64 -" >t
	[ "$(gcoalesce <t | counter coalesce sectors)" -eq $((128 / 32)) ]
	[ "$(gcoalesce --rule fermi <t | counter coalesce sectors)" -eq $((256 / 32)) ]
}

@test "[001] 4.1: passes of shared memory are gcd(stride, 32); it makes no requests" {
	while read -r stride passes; do
		trace "0 0 0 0 load.shared 4 0xffffffff 0 $((4 * stride)) -" | gcoalesce >out
		[ "$(counter coalesce bank_passes <out)" -eq "$passes" ]
		[ "$(counter coalesce shared_accesses <out)" -eq 1 ]
		[ "$(counter coalesce requests <out)" -eq 0 ]
		[ "$(gtrace-cat <out | grep -v '^#' | cut -f 5-9 | tr '\t' ' ')" = "load.shared 0x000000000000 0x0 0x0 0" ]
	done <<-END
		0 1
		1 1
		2 2
		3 1
		4 4
		6 2
		16 16
		31 1
		32 32
	END
}

@test "accesses to shared memory and their passes are counted by array, if the trace names those of the kernel" {
	# By hand: stride 8 bytes takes 2 passes, 128 bytes 32; lane 0 decides; the last kernel names none.
	{
		printf '%s\n' "#gtrace" "#kernel	id=1" "#count	stage=shared	kernel=1	addresses=[256,0]	bytes=[4096,256]	names=tile,sums"
		printf '%s\n' "#block warp an pc op size mask base stride lanes kernel" "0 0 0 0 load.shared 4 0xffffffff 0x100 128 - 1" \
			"0 0 1 0 store.shared 4 0xffffffff 0x100 4 - 1" "0 0 2 0 load.shared 4 0xffffffff 0 8 - 1" "0 0 3 0 load.shared 4 0x1 0x1100 0 - 1" \
			"0 0 4 0 load.shared 4 0x3 - - 0xfc,0x100 1" "0 0 5 0 load.shared 4 0xffffffff 0x1000100 0 - 1" | tr ' ' '\t'
		printf '%s\n' "#kernel	id=2"
		printf '%s\n' "0 0 0 0 load.shared 4 0xffffffff 0x100 4 - 2" | tr ' ' '\t'
		echo "#end"
	} | gtrace-cat --from >t
	gcoalesce t >out
	gtrace-cat out | grep "stage=coalesce	kernel=1" | tr '\t' '\n' | grep -E '^(-|tile|sums)\.' >found
	cat >expected <<-END
		-.shared_accesses=1
		-.bank_passes=1
		tile.shared_accesses=3
		tile.bank_passes=34
		sums.shared_accesses=2
		sums.bank_passes=3
	END
	diff expected found
	[ "$(gtrace-cat out | grep "stage=coalesce	kernel=2" | grep -c 'tile\|sums')" -eq 0 ]
	[ "$(gtrace-cat out | grep "stage=coalesce	kernel=2" | grep -c 'shared_accesses=1	')" -eq 1 ]
	[ "$(gcoalesce t | gstats | grep -c 'tile.bank_passes  *34  passes  *11.33 per access')" -eq 2 ]
	sed 's/bytes=\[4096,256\]/bytes=[4096]/' <(gtrace-cat t) | gtrace-cat --from >cut
	expect_failure 1 "shared: expected the arrays addresses and bytes" gcoalesce cut
}

@test "[001] figures 6 and 7: passes on Kepler by stride, in the 4-byte and in the 8-byte mode, beside Fermi" {
	# From the paper's text: strides 2, 4 and 6. The 8-byte mode is better for even strides that are no power of two.
	while read -r stride fermi four eight; do
		trace "0 0 0 0 load.shared 4 0xffffffff 0 $((4 * stride)) -" >t
		[ "$(gcoalesce --banks 32x4 t | counter coalesce bank_passes)" -eq "$fermi" ]
		[ "$(gcoalesce --banks 32x8:4 t | counter coalesce bank_passes)" -eq "$four" ]
		[ "$(gcoalesce --banks 32x8 t | counter coalesce bank_passes)" -eq "$eight" ]
	done <<-END
		0 1 1 1
		2 2 1 1
		4 4 2 2
		6 2 2 1
		8 8 4 4
		10 2 2 1
		12 4 4 2
		32 32 16 16
	END
}

@test "banks come from --banks, else --gpu, else the stream's GPU, else they are 32 of 4 bytes" {
	trace "0 0 0 0 load.shared 4 0xffffffff 0 24 -" >t
	gtrace-cat t | sed '/^#kernel/i #gpu\tshared_bank_bytes=8' | gtrace-cat --from >wide
	[ "$(gcoalesce <t | counter coalesce banks)" = 32x4 ]
	[ "$(gcoalesce <wide | counter coalesce banks)" = 32x8 ]
	[ "$(gcoalesce --gpu gtx780 <wide | counter coalesce banks)" = 32x8:4 ]
	[ "$(gcoalesce --gpu gtx780 --banks 16x4 <wide | counter coalesce banks)" = 16x4 ]
	# Stages that coalesce on their own count the same.
	[ "$(gcache --l1 <wide | counter coalesce bank_passes)" = 1 ]
	[ "$(gdram <wide | counter coalesce bank_passes)" = 1 ]
}

@test "[001] figure 5: a shared access of Fermi takes 50 cycles, 88 in two passes, 1210 in 32" {
	while read -r stride cycles printed; do
		trace "0 0 0 0 load.shared 4 0xffffffff 0 $((4 * stride)) -" | gcoalesce --gpu gtx560ti >out
		[ "$(counter coalesce shared_cycles <out)" -eq "$cycles" ]
		gstats out | grep -Eq "shared_cycles +$printed +cycles +$cycles.00 per access"
	done <<-END
		0 50 50
		1 50 50
		2 88 88
		32 1210 1,210
	END
	trace "0 0 0 0 load.shared 4 0xffffffff 0 4 -" | gcoalesce --gpu gtx780 >out
	[ -z "$(counter coalesce shared_cycles <out)" ]
}

@test "coalesced requests pass, and are not counted again" {
	trace "0 0 0 0 load.global 4 0xffffffff 0x1000 8 -" "1 1 0 0 load.shared 4 0xffffffff 0 8 -" | gcoalesce >once
	gcoalesce --rule pascal <once >twice
	diff <(gtrace-cat once | grep -v '^#history') <(gtrace-cat twice | grep -v '^#history')
	# A kernel with accesses to shared memory only.
	trace "1 1 0 0 load.shared 4 0xffffffff 0 8 -" | gcoalesce >once
	gcoalesce <once >twice
	diff <(gtrace-cat once | grep -v '^#history') <(gtrace-cat twice | grep -v '^#history')
}

@test "turns of shared memory are for gschedule: no other filter sees them, in any number of threads" {
	# The same accesses without those to shared memory, whose numbers are then missing.
	rows=("0 0 0 0 load.global 4 0xffffffff 0x1000 4 -" "1 1 1 0 load.global 4 0xffffffff 0x1000 8 -" "2 0 3 0 store.global 4 0xff 0x1080 4 -")
	trace "0 0 1 0 store.shared 4 0xffffffff 0 4 -" "${rows[0]}" "1 0 0 0 load.shared 4 0x1 - - 64" "1 1 0 0 load.shared 4 0x1 0 0 -" "${rows[@]:1}" \
		"3 0 0 0 load.shared 4 0x1 0 0 -" | gcoalesce >with
	trace "${rows[@]}" | gcoalesce >without
	[ "$(gtrace-cat with | grep -c shared$'\t'0x0)" -eq 4 ]
	for stage in "gcache --l1" "gcache --l2 --emit all" "gcache --l2 -j 2" gdram grd; do
		for stream in with without; do
			$stage --quiet $stream | gtrace-cat | grep -v -e '#history' -e stage=coalesce -e '\.shared.0x0' >$stream.out
		done
		grep -q "stage=[^c]" with.out
		diff with.out without.out
	done
	for table in --distances "--profile --per block" "--by op --lines 4"; do
		# shellcheck disable=SC2086
		diff <(grd $table with) <(grd $table without)
	done
	[ "$(gcache --quiet --l2 --emit all with | gtrace-cat | grep -c '\.shared')" -eq 0 ]
	# A kernel of nothing else; and what a gschedule before has scheduled leaves none.
	trace "0 0 0 0 load.shared 4 0xffffffff 0 8 -" >shared
	[ "$(gcoalesce shared | gcache --quiet --l2 -j 2 | counter l2 requests)" -eq 0 ]
	[ "$(gcoalesce shared | gcache --quiet --l2 | gtrace-cat | grep -vc '^#')" -eq 0 ]
	[ "$(gschedule --sm 1 shared | gcoalesce | gtrace-cat | grep -vc '^#')" -eq 0 ]
	# In any number of threads the same stream, and as text the same again.
	diff <(gtrace-cat with | grep -v '^#history') <(gtrace-cat with | gtrace-cat --from | gtrace-cat | grep -v '^#history')
	trace "0 0 0 0 load.shared 4 0xffffffff 0 8 -" "${rows[@]}" >t
	cmp <(gcoalesce t) <(gcoalesce -j 3 t)
	gtrace-cat --check with
}

@test "a request on shared memory is a turn, or refused" {
	trace "0 0 0 0 load.shared 4 0xffffffff 0 4 -" | gcoalesce | gtrace-cat >t
	sed 's/0x0\t0x0\t0\t/0x1\t0x0\t0\t/' t >sectors
	sed 's/0x0\t0x0\t0\t/0x0\t0x0\t1\t/' t >lanes
	sed 's/load.shared/load.global/' t >global
	gtrace-cat --from t | gtrace-cat --check
	for bad in sectors lanes; do
		expect_failure 1 "a request on shared memory: expected a turn" gtrace-cat --from $bad
	done
	expect_failure 1 "sectors 0x0" gtrace-cat --from global
}

@test "a prefetch or a discard is of the line of its address, whatever its size" {
	# PTX ISA, prefetch: "the cache line containing the specified global or local memory address". Size 8 at 0x107c ends in the next line.
	for hint in prefetch.L1 prefetch.L2 discard.L2; do
		for lanes in "0x1 0x107c 0 -" "0x3 0x107c 1 -" "0x5 - - 0x107c,0x107d"; do
			{
				echo "#kernel${tab}id=1${tab}name=k${tab}grid=1,1,1${tab}block=32,1,1"
				echo "#block warp an pc op size mask base stride lanes hint" | tr ' ' '\t'
				echo "0 0 0 0 load.global 8 $lanes $hint" | tr ' ' '\t'
			} | gtrace-cat --from >t
			gcoalesce t | gtrace-cat | grep -v '^#' | cut -f 6,7 | tr '\t' ' ' | is "0x000000001000 0xf"
			[ "$(gcoalesce --rule pascal t | gtrace-cat | grep -vc '^#')" -eq 1 ]
		done
	done
}

@test "each kernel is counted separately" {
	cat >t.tsv <<-END
		#kernel${tab}id=5${tab}name=a${tab}grid=1,1,1${tab}block=32,1,1
		#kernel${tab}id=7${tab}name=b${tab}grid=1,1,1${tab}block=32,1,1
		#block${tab}warp${tab}an${tab}pc${tab}op${tab}size${tab}mask${tab}base${tab}stride${tab}kernel
		0${tab}0${tab}0${tab}0${tab}load.global${tab}4${tab}1${tab}0${tab}0${tab}5
		0${tab}0${tab}1${tab}0${tab}load.global${tab}4${tab}3${tab}0${tab}128${tab}5
		0${tab}0${tab}0${tab}0${tab}load.global${tab}4${tab}1${tab}0${tab}0${tab}7
	END
	gtrace-cat --from t.tsv | gcoalesce | gtrace-cat >out
	[ "$(grep -c '^#count' out)" -eq 2 ]
	grep -q "^#count${tab}stage=coalesce${tab}kernel=5.*${tab}accesses=2${tab}.*${tab}requests=3${tab}" out
	grep -q "^#count${tab}stage=coalesce${tab}kernel=7.*${tab}accesses=1${tab}.*${tab}requests=1${tab}" out
}

@test "the rule comes from --rule, else --gpu, else the stream's GPU, else it is the default" {
	printf 'coalesce = pascal # assumed: a test\n' >old
	printf 'name = Nameless # assumed: a test\n' >plain
	trace "0 0 0 0 load.global 4 0xffffffff 0x1000 4 -" >t
	gtrace-cat t | sed '/^#kernel/i #gpu\tcoalesce=fermi' | gtrace-cat --from >fermi
	[ "$(gcoalesce <t | counter coalesce rule)" = default ]
	[ "$(gcoalesce <fermi | counter coalesce rule)" = fermi ]
	[ "$(gcoalesce --gpu ./old <fermi | counter coalesce rule)" = pascal ]
	[ "$(gcoalesce --gpu ./plain <fermi | counter coalesce rule)" = default ]
	[ "$(gcoalesce --rule pascal <fermi | counter coalesce rule)" = pascal ]
}

@test "wrong usage" {
	trace "0 0 0 0 load.global 4 0xffffffff 0x1000 4 -" >t
	printf 'coalesce = tesla # assumed: a test\n' >wrong
	expect_failure 2 "--rule: 'volta': expected one of default, pascal, pascal-apart, fermi" gcoalesce --rule volta t
	expect_failure 2 "not both" gcoalesce --rule fermi --gpu ./wrong t
	expect_failure 2 "'tesla': expected one of" gcoalesce --gpu ./wrong t
	for banks in 32 32x 32x5 33x4 0x4 24x4 32x4:8 32x8: 32x8:4x 64x4 x4; do
		expect_failure 2 "--banks: '$banks': expected banks x bytes" gcoalesce --banks "$banks" t
	done
	printf 'shared_bank_bytes = 16 # assumed: a test\n' >wrong-banks
	expect_failure 2 "gpu: shared_banks, shared_bank_bytes, shared_bank_unit: expected" gcoalesce --gpu ./wrong-banks t
	printf 'shared_latency = 2:50,1:88 # assumed: a test\n' >wrong-latency
	expect_failure 2 "gpu: shared_latency: '2:50,1:88': expected passes:cycles" gcoalesce --gpu ./wrong-latency t
	expect_failure 2 "--gpu: " gcoalesce --gpu no-such-gpu t
	expect_failure 2 "expected one stream" gcoalesce t t
}

@test "bad input" {
	trace "0 0 0 0 load.global 4 0xffffffff 0x1000 4 -" >t
	gtrace-cat t | sed '/^#kernel/i #gpu\tcoalesce=tesla' | gtrace-cat --from >wrong
	fails() { gcoalesce "$@" >/dev/null; }
	expect_failure 1 "gpu: coalesce: 'tesla': expected one of" fails wrong
	expect_failure 1 "no-such-file: No such file" fails no-such-file
	: >empty
	expect_failure 1 "empty" fails empty
}

@test "the manual's examples run" {
	run_man_examples gcoalesce.1
}

# degrees FIELDS: these fields of the table of --degree, without its first line.
degrees() { gcoalesce --degree | sed 1d | cut -f "$1" | tr '\t' ' '; }

@test "--degree: lanes within 128 bytes of the sector of the lowest active lane, by pc, op and size" {
	# From 0x1010, the range is 0x1000 to 0x107f: 28 of 32 lanes, and 5 sectors, of which 4 are in the range.
	trace "0 0 0 8 load.global 4 0xffffffff 0x1010 4 -" | degrees 2-11 |
		is "0x8 load.global 4 87.5 4 4.571 5 1 32 28" "all load.global - 87.5 4 4.571 5 1 32 28"
	# A lane before the first is not in the range: 2 of 4 lanes; a lane without an access counts nowhere.
	trace "0 0 0 8 load.global 4 0xf0 - - 0x2000,0x1fe0,0x2040,0x2080" | degrees 5-11 | head -n 1 | is "50 2 4 4 1 4 2"
	# Each load has the same weight, however often it ran; stores, local and shared memory are not in the mean.
	trace "0 0 0 8 load.global 4 0xffffffff 0x1000 4 -" "0 0 1 16 load.global 4 0xffffffff 0x1000 128 -" \
		"0 0 2 16 load.global 4 0xffffffff 0x1000 128 -" "0 0 3 24 store.global 4 0xffffffff 0x1000 128 -" \
		"0 0 4 32 load.local 4 0xffffffff 0x1000 64 -" "0 0 5 40 load.shared 4 0xffffffff 0x100 4 -" | degrees 2,3,5-11 |
		is "0x8 load.global 100 4 4 4 1 32 32" "0x10 load.global 3.125 1 32 32 2 64 2" "0x18 store.global 3.125 1 32 32 1 32 1" \
			"0x20 load.local 6.25 2 32 32 1 32 2" "all load.global 51.56 4 7.758 18 3 96 34"
}

@test "--degree --graph: the lanes of an access at each word of the range, as gplot draws them" {
	trace "0 0 0 8 load.global 4 0x7 0x1004 32 -" "0 1 0 8 load.global 4 0x1 0x1008 0 -" | gcoalesce --degree --graph >table
	[ "$(sed -n 3p table | cut -f 1-19 | tr '\t' ' ')" = "#graph 0 0.5 0.5 0 0 0 0 0 0 0.5 0 0 0 0 0 0 0 0.5" ]
	[ "$(sed -n 3p table)" = "$(sed -n 5p table)" ]
	if type -P gnuplot >/dev/null; then gplot coalescing table | grep -q 'k, pc 0x8: load.global'; fi
}

# The same from the text of the stream, a lane at a time: kernel, pc, op, size, accesses, lanes, lanes in the range, sectors.
reference_degrees() {
	gtrace-cat | awk -F '\t' -v OFS='\t' '
		function hex(text,    i, n) { for (i = 3; i <= length(text); i++) n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1; return n }
		function number(text) { return text ~ /^0x/ ? hex(text) : text + 0 }
		function sector(address) { return sprintf("%.0f", int(address / 32)) } # mawk keeps 6 digits of an index
		/^#kernel/ { match($0, /name=[^\t]*/); name = substr($0, RSTART + 5, RLENGTH - 5) }
		!/^#/ && $5 !~ /shared/ {
			key = name OFS $4 OFS $5 OFS $6
			n = split($10, listed, ",")
			mask = hex($7); first = last = -1; lane = 0; split("", sectors)
			for (bit = 0; bit < 32; bit++) {
				if (int(mask / 2 ^ bit) % 2 == 0) continue
				if (first < 0) first = bit
				address = $10 != "-" ? number(listed[++lane]) : number($8) + $9 * (bit - first)
				if (last < 0) last = start = address - address % 32
				lanes[key]++
				range[key] += address >= start && address < start + 128
				sectors[sector(address)]; sectors[sector(address + $6 - 1)]
			}
			for (s in sectors) touched[key]++
			accesses[key]++
		}
		END { for (key in accesses) print key, accesses[key], lanes[key], range[key] + 0, touched[key] }' | sort
}

@test "--degree: of addresses that are loaded, as counted a lane at a time; launches of one kernel are added" {
	launch="bfs_visit<<<4,128>>>(first=s32[513]:ramp, to=s32[512]:rand(1,512), frontier=s32[512]:ramp, visited=s32[512], reached=s32[512], distance=s32[512], nodes=512, level=0)"
	gtrace-ptx --launch "$launch" --launch 'bfs_visit<<<2,96>>>(first, to, frontier, visited, reached, distance, 512, 1)' \
		"$ROOT/examples/kernels/ptx/bfs.ptx" >t
	gtrace-ptx --launch 'spmv<<<2,64>>>(f=s32[129]:ramp, c=s32[512]:ramp, v=f32[512]:ramp, x=f32[512], y=f32[128], 128)' "$ROOT/examples/kernels/ptx/spmv.ptx" >u
	for t in t u; do
		gcoalesce --degree $t | awk -F '\t' -v OFS='\t' '!/^#/ && $2 != "all" { print $1, $2, $3, $4, $9, $10, $11, $8 * $9 }' | sort >ours
		reference_degrees <$t >reference
		[ "$(wc -l <ours)" -ge 5 ]
		# The mean of sectors is printed with four digits.
		paste ours reference | awk -F '\t' '{ for (i = 1; i < 8; i++) if ($i != $(i + 8)) exit 1; off = $8 / $16 - 1; if (off > 1e-3 || off < -1e-3) exit 1 }'
	done
}

@test "--degree takes accesses and no model; nothing is printed of a damaged stream" {
	trace "0 0 0 8 load.global 4 0xffffffff 0x1000 4 -" >t
	gcoalesce t >requests
	expect_failure 1 "record 3: requests have no addresses of lanes: expected accesses, as before gcoalesce" gcoalesce --degree requests
	expect_failure 2 "--degree: expected no --rule, --gpu or --banks" gcoalesce --degree --rule fermi t
	expect_failure 2 "--graph: expected --degree too" gcoalesce --graph t
	head -c -5 t >cut.gt
	run gcoalesce --degree cut.gt
	[ "$status" -eq 1 ]
	[[ "$output" != *"#kernel"* ]]
}

@test "prefetches and discards: the line that has a lane's address, whatever the size in the row" {
	for hint in prefetch.L1 prefetch.L2 discard.L2 applypriority.L2; do
		{
			printf '#kernel\tid=1\tname=k\tgrid=4,1,1\tblock=64,1,1\n'
			echo "#block warp an pc op size mask base stride lanes hint" | tr ' ' '\t'
			echo "0 0 0 0 load.global 8 0x3 0x107c 128 - $hint" | tr ' ' '\t'
		} | gtrace-cat --from | requests | is "0x000000001000 0xf 0x0 1" "0x000000001080 0xf 0x0 1"
	done
}

# The reference takes the lanes in turns one by one: a turn has at most one lane of each address, and touches its sectors.
@test "atomics with a result: lanes with one address take turns, on random addresses as a slow reference has it" {
	python3 - >rows <<-'END'
		import random
		random.seed(8)
		print("#kernel\tid=1\tname=k\tgrid=400,1,1\tblock=32,1,1")
		print("\t".join("#block warp an pc op size mask base stride lanes".split()))
		sectors = repeated = 0
		for block in range(400):
		    size, kind = random.choice((4, 8)), random.random()
		    if kind < 0.2:
		        lanes = [4096 + 64 * random.randrange(4)] * 32
		        where = "%#x\t0\t-" % lanes[0]
		    elif kind < 0.4:
		        lanes = [4096 + size * i for i in range(32)]
		        where = "%#x\t%d\t-" % (lanes[0], size)
		    else:
		        lanes = [8192 + size * random.randrange(random.choice((2, 8, 64))) for _ in range(32)]
		        where = "-\t-\t" + ",".join(map(hex, lanes))
		    op = random.choice(("atomic.global", "atomic.global", "reduction.global"))
		    print("%d\t0\t0\t0\t%s\t%d\t0xffffffff\t%s" % (block, op, size, where))
		    turns, left = [], list(lanes)
		    while left:
		        turn = set(left)
		        turns.append({address // 32 for address in turn})
		        for address in turn:
		            left.remove(address)
		    if op == "atomic.global":
		        sectors += len({address // 32 for address in lanes})
		        repeated += sum(map(len, turns[1:]))
		open("expected", "w").write("%d %d\n" % (sectors, repeated))
	END
	gtrace-cat --from rows | gcoalesce >out.gt
	atoms=$(($(counter coalesce atomic_sectors <out.gt) - $(counter coalesce reduction_sectors <out.gt)))
	echo "$atoms $(counter coalesce repeated_sectors <out.gt)" | diff expected -
	[ "$(gtrace-cat --from rows | gcoalesce -j 3 | counter coalesce repeated_sectors)" = "$(counter coalesce repeated_sectors <out.gt)" ]
	# Other rules have no such count, nor have kernels without atomics that return a value.
	[ -z "$(gtrace-cat --from rows | gcoalesce --rule pascal | counter coalesce repeated_sectors)" ]
	[ -z "$(trace "0 0 0 0 reduction.global 4 0xffffffff 0x1000 0 -" | gcoalesce | counter coalesce repeated_sectors)" ]
}

# NVIDIA's developer forum, topic 359822: a warp's LDS.128 has 4 wavefronts and no conflict if its data lie in a row, and 32
# wavefronts, 28 of them conflicts, if all lanes meet in 4 banks. Figure 5 of [001]: 2 passes at a stride of 2 words.
@test "bank conflicts by the profiler's names: passes beyond those that the width of the data takes" {
	trace "0 0 0 0 load.shared 16 0xffffffff 0x0 16 -" "0 0 1 0 load.shared 16 0xffffffff 0x0 128 -" \
		"0 0 2 0 load.shared 4 0xffffffff 0x0 8 -" "0 0 3 0 store.shared 8 0xffffffff 0x0 8 -" \
		"0 0 4 0 store.shared 4 0xffffffff 0x0 128 -" "0 0 5 0 load.shared 16 0x000000ff 0x0 16 -" | gcoalesce >shared.gt
	found() { gstats --names ncu --csv "${2:-shared.gt}" | tr -d '"' | awk -F, -v name="$1" '$(NF - 2) == name { print $NF }'; }
	[ "$(found l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum)" -eq $((4 + 32 + 2 + 1)) ]
	[ "$(found l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum)" -eq $((0 + 28 + 1 + 0)) ]
	[ "$(found l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum)" -eq $((2 + 32)) ]
	[ "$(found l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum)" -eq $((0 + 31)) ]
	[ "$(found l1tex__data_pipe_lsu_wavefronts_mem_shared.sum)" -eq $((39 + 34)) ]
	[ "$(found l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum)" -eq $((29 + 31)) ]
	gtrace-cat --check shared.gt >/dev/null
	# With atomics, hardware's sums are others; without shared memory in the trace nothing is known of it.
	trace "0 0 0 0 load.shared 4 0xffffffff 0x0 8 -" "0 0 1 0 atomic.shared 4 0xffffffff 0x0 0 -" | gcoalesce >atomics.gt
	[ "$(found l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum atomics.gt)" -eq 2 ]
	[ -z "$(found l1tex__data_pipe_lsu_wavefronts_mem_shared.sum atomics.gt)" ]
	[ -z "$(found l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum atomics.gt)" ]
	trace "0 0 0 0 load.global 4 0xffffffff 0x0 8 -" | gcoalesce >global.gt
	[ "$(gstats --names ncu --csv global.gt | grep -c mem_shared)" -eq 0 ]
}

# by_site OPTION...: what --by site counts of the kernel of a trace: each counter with its value, in order.
by_site() { gcoalesce --by site "$@" | gtrace-cat | grep "^#count.*stage=coalesce$tab" | tr '\t' '\n' | sed -n '/^unique_bytes=/,$p'; }

# site NAMES: of the counters of a trace's only site, those with these names, in a line, without the site's name.
site() { by_site | sed -n "s/^0x[0-9a-f]* [^=]*\.\([a-z_]*=\)/\1/p" | grep -E "^($1)=" | tr '\n' ' ' | sed 's/ $/\n/'; }

@test "--by site: sectors and the fewest that would do; what alignment costs; partial stores" {
	local numbers="stride|lanes|bytes|sectors|least_sectors|misaligned_sectors|partial_sectors"
	# A column of a matrix of rows of 2048 bytes: a sector a lane. 32 x 4 bytes fit into 4.
	trace "0 0 0 8 load.global 4 0xffffffff 0x10000 2048 -" | site "$numbers" |
		is "stride=2048 lanes=32 bytes=128 sectors=32 least_sectors=4 misaligned_sectors=0"
	# 128 bytes from byte 4 on reach into a fifth sector; the lanes may have any order.
	trace "0 0 0 8 load.global 4 0xffffffff 0x10004 4 -" | site "$numbers" |
		is "stride=4 lanes=32 bytes=128 sectors=5 least_sectors=4 misaligned_sectors=1"
	trace "0 0 0 8 load.global 4 0xffffffff 0x10080 -4 -" | site "$numbers" |
		is "stride=-4 lanes=32 bytes=128 sectors=5 least_sectors=4 misaligned_sectors=1"
	trace "0 0 0 8 load.global 8 0x55550 0x1001c 4 -" | site "$numbers" |
		is "stride=4 lanes=8 bytes=64 sectors=3 least_sectors=2 misaligned_sectors=1"
	trace "0 0 0 8 load.global 16 0x1d - - 0x10030,0x10000,0x10010,0x10020" | site "$numbers" |
		is "stride=several lanes=4 bytes=64 sectors=2 least_sectors=2 misaligned_sectors=0"
	trace "0 0 0 8 load.global 16 0x1d - - 0x10040,0x10010,0x10020,0x10030" | site "$numbers" |
		is "stride=several lanes=4 bytes=64 sectors=3 least_sectors=2 misaligned_sectors=1"
	# A gap, or two lanes on one address: not alignment alone.
	trace "0 0 0 8 load.global 4 0xfffffff7 0x10004 4 -" | site "$numbers" |
		is "stride=4 lanes=31 bytes=124 sectors=5 least_sectors=4 misaligned_sectors=0"
	trace "0 0 0 8 load.global 16 0xf - - 0x10010,0x10020,0x10020,0x10030" | site "$numbers" |
		is "stride=several lanes=4 bytes=64 sectors=2 least_sectors=2 misaligned_sectors=0"
	# A broadcast needs one sector, though 32 lanes ask for 128 bytes; a vector of 16 bytes a lane needs all its 16.
	trace "0 0 0 8 load.global 4 0xffffffff 0x10004 0 -" | site "$numbers" |
		is "stride=0 lanes=32 bytes=128 sectors=1 least_sectors=1 misaligned_sectors=0"
	trace "0 0 0 8 load.global 16 0xffffffff 0x10000 16 -" | site "$numbers" |
		is "stride=16 lanes=32 bytes=512 sectors=16 least_sectors=16 misaligned_sectors=0"
	# 3 lanes of 4 bytes: one sector, of which a store overwrites a part. From byte 16 on: one whole sector of three.
	trace "0 0 0 8 store.global 4 0x7 0x10000 4 -" | site "$numbers" |
		is "stride=4 lanes=3 bytes=12 sectors=1 least_sectors=1 misaligned_sectors=0 partial_sectors=1"
	trace "0 0 0 8 store.global 4 0xffff 0x10010 4 -" | site "$numbers" |
		is "stride=4 lanes=16 bytes=64 sectors=3 least_sectors=2 misaligned_sectors=1 partial_sectors=2"
	# One lane has no stride.
	trace "0 0 0 8 load.global 4 0x10 0x1001e 0 -" | site "$numbers" |
		is "lanes=1 bytes=4 sectors=2 least_sectors=1 misaligned_sectors=1"
}

@test "--by site: addresses of atomics, passes of shared memory, strides and operations of several accesses" {
	trace "0 0 0 8 reduction.global 4 0xffffffff 0x10000 0 -" | site "op|lanes|addresses" | is "op=reduction.global lanes=32 addresses=1"
	trace "0 0 0 8 atomic.global 4 0xf - - 0x10000,0x20000,0x10000,0x10004" | site "op|lanes|addresses" |
		is "op=atomic.global lanes=4 addresses=3"
	trace "0 0 0 8 atomic.shared 4 0xffffffff 0x100 8 -" | site "[a-z_]*" |
		is "op=atomic.shared stride=8 accesses=1 lanes=32 bytes=128 addresses=32 passes=2 least_passes=1"
	trace "0 0 0 8 load.global 4 0xff 0x10000 4 -" "0 0 1 8 load.global 4 0x1 0x20000 0 -" | site "op|stride|accesses" |
		is "op=load.global stride=4 accesses=2"
	trace "0 0 0 8 load.global 4 0xff 0x10000 4 -" "0 0 1 8 load.global.cg 4 0xff 0x20000 8 -" | site "op|stride|accesses" |
		is "op=several stride=several accesses=2"
	# One instruction in shared and in global memory: one site, with the counters of both.
	trace "0 0 0 8 store.global 4 0xff 0x10000 4 -" "0 0 1 8 store.shared 4 0xff 0x0 4 -" | site "[a-z_]*" |
		is "op=several stride=4 accesses=2 lanes=16 bytes=64 sectors=1 least_sectors=1 misaligned_sectors=0 partial_sectors=0 passes=1 least_passes=1"
	# Prefetches are of no site, and touch nothing.
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		echo "#block warp an pc op size mask base stride lanes hint" | tr ' ' '\t'
		printf '%s\n' "0 0 0 8 load.global 4 0xffffffff 0x10000 4 - prefetch.L2" "0 0 1 12 load.global 4 0x1 0x20000 4 - none" | tr ' ' '\t'
	} | gtrace-cat --from | by_site | grep -E "^unique_bytes|accesses" | is "unique_bytes=4" "0xc -.accesses=1"
	# Sectors are those that gcoalesce makes by its rule.
	trace "0 0 0 8 load.global 4 0xffffffff 0x10000 0 -" | by_site --rule pascal | grep -x "0x8 -.sectors=4"
	trace "0 0 0 8 load.texture 4 0x1 0x10000 0 -" | by_site --rule fermi | grep -x "0x8 -.sectors=1"
	trace "0 0 0 8 load.global 4 0x1 0x10000 0 -" | by_site --rule fermi | grep -x "0x8 -.sectors=4"
}

@test "--by site: by array, in the order of the instructions; distinct bytes, and those that are read" {
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		echo "#count${tab}stage=allocations${tab}kernel=1${tab}addresses=[65536,65664]${tab}bytes=[100,256]${tab}names=in,out a.cu:7"
		echo "#count${tab}stage=shared${tab}kernel=1${tab}addresses=[0]${tab}bytes=[64]${tab}names=tile"
		echo "#block warp an pc op size mask base stride lanes" | tr ' ' '\t'
		printf '%s\n' "0 0 0 16 load.global 4 0xff 0x10000 4 -" "0 0 1 16 load.global 4 0xff 0x10010 4 -" \
			"0 0 2 16 load.global 4 0x1 0x10064 0 -" "0 0 3 8 store.global 4 0xff 0x10080 4 -" \
			"0 0 4 16 load.global 4 0x3 0x10084 4 -" "0 0 5 8 reduction.global 4 0x1 0x10000 0 -" \
			"0 0 6 4 load.shared 4 0xff 0x1000020 4 -" "0 0 7 4 load.shared 4 0x1 0x1000040 4 -" | tr ' ' '\t'
	} | gtrace-cat --from >named
	# Bytes 0 to 47 of `in`, 4 behind its end, bytes 0 to 31 of `out`, of which 8 are read.
	by_site <named | grep -E 'unique|accesses|sectors' | grep -v -e least -e aligned -e partial | is \
		unique_bytes=84 unique_sectors=4 unique_read_bytes=60 unique_read_sectors=4 \
		"-.unique_read_bytes=4" "-.unique_read_sectors=1" \
		"in.unique_read_bytes=48" "in.unique_read_sectors=2" "out a.cu:7.unique_read_bytes=8" "out a.cu:7.unique_read_sectors=1" \
		"0x4 -.accesses=1" "0x4 tile.accesses=1" "0x8 in.accesses=1" "0x8 in.sectors=1" "0x8 out a.cu:7.accesses=1" \
		"0x8 out a.cu:7.sectors=1" "0x10 -.accesses=1" "0x10 -.sectors=1" "0x10 in.accesses=2" "0x10 in.sectors=3" \
		"0x10 out a.cu:7.accesses=1" "0x10 out a.cu:7.sectors=1"
	gcoalesce --by site named | gtrace-cat --check
	gcoalesce --by site named | gstats --csv | grep -F 'coalesce,0x8 out a.cu:7.partial_sectors,0'
	# Arrays that end within a sector: it is that of its first byte that is read.
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		echo "#count${tab}stage=allocations${tab}kernel=1${tab}addresses=[65536,65546]${tab}bytes=[10,600]${tab}names=a,b"
		echo "#block warp an pc op size mask base stride lanes" | tr ' ' '\t'
		printf '%s\n' "0 0 0 16 load.global 4 0xf 0x10008 4 -" | tr ' ' '\t'
	} | gtrace-cat --from | by_site | grep unique_read | is unique_read_bytes=16 unique_read_sectors=1 \
		a.unique_read_bytes=2 a.unique_read_sectors=1 b.unique_read_bytes=14 b.unique_read_sectors=0
	# Each kernel begins anew, and bytes wrap at the end of the address space.
	{
		echo "#kernel${tab}id=1${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		echo "#block warp an pc op size mask base stride lanes" | tr ' ' '\t'
		printf '%s\n' "0 0 0 16 load.global 8 0x1 0xfffffffffffffffc 0 -" | tr ' ' '\t'
		echo "#kernel${tab}id=2${tab}name=k${tab}grid=4,1,1${tab}block=64,1,1"
		printf '%s\n' "0 0 0 16 store.global 4 0x3 0x10000 64 -" | tr ' ' '\t'
	} | gtrace-cat --from | gcoalesce --by site | gtrace-cat | grep -o 'unique[a-z_]*=[0-9]*' | tr '\n' ' ' |
		grep "^unique_bytes=8 unique_sectors=2 unique_read_bytes=8 unique_read_sectors=2 .*unique_bytes=8 unique_sectors=2 unique_read_bytes=0 unique_read_sectors=0 $"
}

@test "--by site adds counters alone: rows and other counts are the same, in any number of threads" {
	ordered conv >accesses
	for rule in default pascal fermi; do
		gcoalesce --rule "$rule" accesses | gtrace-cat | grep -v '^#history' >without
		gcoalesce --rule "$rule" --by site accesses | tee sites | gtrace-cat | grep -v '^#history' |
			sed "/^#count${tab}stage=coalesce/s/${tab}unique_bytes=.*//" >with
		cmp without with
		gtrace-cat --check sites
		gcoalesce --rule "$rule" --by site -j 3 accesses | cmp - <(gcoalesce --rule "$rule" --by site accesses)
	done
	gcoalesce --by none accesses | gtrace-cat | grep -v '^#history' | cmp - <(gcoalesce accesses | gtrace-cat | grep -v '^#history')
}

@test "--by site: wrong usage, and kernels that are coalesced already" {
	expect_failure 2 "gcoalesce: --by: 'pc': expected none or site" gcoalesce --by pc </dev/null
	expect_failure 2 "gcoalesce: --by: --degree" gcoalesce --by site --degree </dev/null
	trace "0 0 0 8 load.global 4 0xffffffff 0x10000 4 -" | gcoalesce >coalesced
	expect_failure 1 "--by site: expected accesses, but kernel 1 is coalesced already" gcoalesce --by site coalesced
	trace "0 0 0 8 load.shared 4 0xffffffff 0x0 4 -" | gcoalesce >coalesced
	expect_failure 1 "--by site: expected accesses, but kernel 1 is coalesced already" gcoalesce --by site coalesced
}
