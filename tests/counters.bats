# SPDX-License-Identifier: MIT
# Every counter of a tool has a row in a table, with a unit or as a word, and a definition.
load helpers

setup() {
	cd "$ROOT"
	work=$BATS_TEST_TMPDIR
}

# modes: streams of every stage in every mode that adds counters, a file each in $work/streams.
modes() {
	mkdir -p "$work/streams"
	cd "$work/streams"
	local traces=$ROOT/examples/traces launch='gemm<<<(4,4),(16,16)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)'
	gtrace-ptx --launch "$launch" "$ROOT/examples/kernels/ptx/gemm.ptx" >ptx.gt
	gtrace-ptx --launch 'waits<<<2,32>>>(F=u32[1])' "$ROOT/tests/ptx/polls.ptx" >polls.gt
	gtrace-order "$traces/gemm.rdgc.xz" >order.gt
	printf '0 1000\n2 1000\n1 2000\n' | gtrace-order --format din >din.gt
	printf 'nothing\n0 0 0 r 4 100\n' | gtrace-order --format-regex \
		'(?<block>\d+) (?<thread>\d+) (?<an>\d+) (?<op>[rw]) (?<size>\d+) (?<hexaddress>[0-9a-f]+)' >regex.gt
	gcoalesce <ptx.gt >coalesce.gt
	gcoalesce --by site <ptx.gt >site.gt
	printf 'shared_banks = 32 # assumed: a test\nshared_latency = 1:28,2:30 # assumed: a test\n' >gpu
	gtrace-ptx --launch 'transpose_tiled<<<(2,2),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64], 64, 64)' \
		"$ROOT/examples/kernels/ptx/transpose_tiled.ptx" | gcoalesce --gpu ./gpu --by site >shared.gt
	gtrace-ptx --launch 'hints<<<2,64>>>(u32[256]:ramp, u32[128])' "$ROOT/tests/ptx/hints.ptx" | gcoalesce >hints.gt
	gschedule --sm 2 <hints.gt | gcache --l2 | gdram >hints-l2.gt
	gschedule --gpu titanv <coalesce.gt >schedule.gt
	gcache --l1 <schedule.gt >l1.gt
	gcache --l1 --size none <schedule.gt >absent.gt
	gcache --l1 --sets 17,8x6 --line 128 --index mod --emit all --replace fifo <schedule.gt >sets.gt
	gcache --l2 --partitions 2 --banks 2 --interleave mod <l1.gt >interleave.gt
	gcache --tlb l1 --emit latency --miss-cycles 10 <schedule.gt >tlb.gt
	gcache --l1 --mshr 1x8 --latency fixed:40 --emit all <schedule.gt >timed.gt
	gcache --l1 --on-full requeue --mshr 1x8 --latency fixed:40 <schedule.gt >requeue.gt
	gcache --l2 --spread far:0 <l1.gt >halves.gt
	gcache --l2 <l1.gt | gdram >dram.gt
	grd <timed.gt >grd.gt
	grd --by op --sample 0.5 <schedule.gt >sample.gt
	grd --lines 64 --count <schedule.gt >lines.gt
	grd --curve-sets 4,16 --count <schedule.gt >curve.gt
	grd --sdcm 32K,4,128 --count <schedule.gt >sdcm.gt
	grd --per set:4 --classes 1,4 --count <timed.gt >classes.gt
	grd --sharing sm:64 --count <schedule.gt >sharing.gt
}

@test "each counter of each mode of each tool has a row with a definition" {
	modes
	for stream in *.gt; do
		rm -rf page
		gstats --report page "$stream"
		gstats --csv "$stream" | awk -F, 'NR > 1 { sub(/#.*/, "", $2); sub(/.*\./, "", $3); sub(/\[.*/, "", $3); print $3 }' | sort -u >names
		sed -n 's|^<tr><th scope="row">\([a-z0-9_]*\)</th><td>.*</td><td>.*</td><td>..*</td></tr>$|\1|p' page/*.html | sort -u >defined
		[ -s names ]
		[ -s defined ]
		comm -23 names defined >missing
		[ ! -s missing ] || { echo "$stream: no definition of:"; cat missing; return 1; }
	done
}

@test "each row is described in the manual of a tool" {
	local rows=0
	for name in $(sed -n 's/^\tROW([A-Z]*, \([a-z0-9_]*\),.*/\1/p' lib/counter/*.h); do
		grep -qw -- "$name" man/*.1 || { echo "$name"; return 1; }
		rows=$((rows + 1))
	done
	[ "$rows" -gt 110 ]
}
