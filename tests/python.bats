#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The Python module, with the system's pandas, and gtrace-cat --parquet.

bats_require_minimum_version 1.5.0

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1
	# Debian's modules belong to Debian's Python, which need not be the first one.
	for PYTHON in python3 /usr/bin/python3; do
		if "$PYTHON" -c 'import msgpack, numpy, pandas, xxhash' 2>/dev/null; then return 0; fi
	done
	skip "no Python with msgpack, numpy, pandas and xxhash: make deps"
}

# Accesses with lanes that have no stride, alone in their batch and not, with lanes at a pitch, and hints; of two kernels.
scattered() {
	printf '#kernel\tid=1\tname=k<a, b>(float*)\tgrid=4,1,1\tblock=64,1,1\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n'
	awk -v rows="${1:-300}" 'BEGIN { srand(3); for (i = 0; i < rows; i++)
		if (i % 5 == 4) printf "%d\t%d\t%d\t0x30\tstore.global\t4\t0xf7\t-\t-\t0x%x,0x%x,0x%x,0x%x,0x%x,0x%x,0x%x\t1\n", i % 4, i % 2, i / 8,
			4096 + i, 4100 + i, 4104 + i, 96 + i, 100 + i, 104 + i, 108 + i
		else if (rand() < 0.5) printf "%d\t%d\t%d\t0x10\tload.global.nc\t4\t0xf\t0x%x\t-4\t-\t1\n", i % 4, i % 2, i / 8, 4096 * i
		else printf "%d\t%d\t%d\t0x20\tstore.shared\t8\t0x15\t-\t-\t0x%x,0x%x,0xffffffffffffff00\t1\n", i % 4, i % 2, i / 8, 64 * i, rand() * 1e9 }'
	printf '#kernel\tid=7\tname=other\tgrid=1,1,1\tblock=32,1,1\n0\t0\t0\t0x0\tatomic.global\t4\t0x1\t-\t-\t0x40\t7\n'
}

@test "three lines make a DataFrame, with the rows that the text has" {
	ordered conv | gcoalesce | gschedule --sm 4 | gcache --l1 --size 16K --emit all >all.gt
	cat >three.py <<-'END'
		import gtrace
		frame = gtrace.read("all.gt").to_pandas()
		print(frame.groupby(["op", "status"], observed=True).size().to_string(header=False))
	END
	"$PYTHON" three.py | tr -s ' ' >found
	gtrace-cat all.gt | awk -F '\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ { n[$at["op"] " " $at["status"]]++ }
		END { for (k in n) print k, n[k] }' | sort >expected
	sed 's/^ / /' found | awk 'NF == 3 { op = $1; print; next } { print op, $1, $2 }' | sort | diff expected -
	[ "$(wc -l <expected)" -ge 2 ]
}

@test "requests that are one row of the stream are a row each" {
	gtrace-ptx --launch 'transpose<<<(4,16),(32,8)>>>(A=f32[16384]:ramp, B=f32[16384], 128, 128)' "$ROOT/examples/kernels/ptx/transpose.ptx" | gcoalesce | gschedule --sm 4 >t.gt
	gtrace-cat --decimal t.gt | grep -v '^#' | cut -f 1-3,6,10,11 >expected
	[ "$(wc -l <expected)" -gt 10000 ]
	[ "$(wc -c <t.gt)" -lt 40000 ]
	"$PYTHON" - <<-'END' >found
		import gtrace
		frame = gtrace.read("t.gt").to_pandas()
		print(frame[["block", "warp", "an", "address", "step", "sm"]].to_csv(sep="\t", header=False, index=False), end="")
	END
	cmp expected found
}

@test "every column is that of the text, sums by hand, and counts are those of gstats" {
	ordered gemm | gschedule --sm 4 | gcache --l1 --size 16K >g.gt
	zstd -q g.gt
	"$PYTHON" - <<-'END' >found
		import gtrace
		trace = gtrace.read("g.gt.zst")
		frame = trace.to_pandas()
		print(len(frame), *(int(frame[c].astype(object).sum()) for c in ("block", "warp", "an", "address", "step", "sm", "sectors")))
		counts = trace.counts_to_pandas()
		print(counts[(counts.stage == "l1") & (counts.counter == "read_hits")].value.sum())
		print(trace.history[-1]["tool"], trace.kernels[0]["name"], frame.name.unique().tolist())
	END
	gtrace-cat --decimal g.gt | python3 -c '
import sys
rows = [line.split("\t") for line in sys.stdin if not line.startswith("#")]
names = "block warp an pc op address sectors full lanes step sm kernel".split()
print(len(rows), *(sum(int(row[names.index(c)], 0) for row in rows) for c in ("block", "warp", "an", "address", "step", "sm", "sectors")))' >expected
	gstats --csv g.gt | awk -F, '$1 == "total" && $2 == "l1" && $3 == "read_hits" { print $4 }' >>expected
	echo "gcache gemm ['gemm']" >>expected
	diff expected found
}

@test "a damaged stream is an Error: cut anywhere, bits flipped, records changed under a right checksum" {
	scattered 30 | gtrace-cat --from >scattered.gt
	gschedule --gpu titanv scattered.gt | gcache --l1 --emit all >all.gt
	local times=$((${#WHOLE} > 0 ? 300 : 40))
	for stream in scattered all; do
		run -0 timeout 60 "$PYTHON" "$ROOT/tests/hostile.py" $stream.gt $times
		echo "$output"
		[[ $output =~ ^[1-9][0-9]*\ of\ $times\ read$ ]]
	done
}

@test "the module knows every column and name that the tools know: it has no table of its own" {
	gtrace-cat --schema | cmp - "$ROOT/python/gtrace_schema.json"
	# Names of columns in the text of rows that have all of them; lanes are those of accesses.
	[ "$("$PYTHON" -c 'import gtrace; print(*sorted(gtrace.COLUMNS["access"]))')" = "an base block hint lanes mask op pc shared size sm step stride warp work" ]
	[ "$("$PYTHON" -c 'import gtrace; print(*sorted(gtrace.COLUMNS["request"]))')" = "address an block full hint lanes latency op pc sectors shared sm status step warp work" ]
	[ "$("$PYTHON" -c 'import gtrace; print(gtrace.COLUMNS["access"]["stride"], gtrace.COLUMNS["access"]["pc"], gtrace.STRIDE_LANES, gtrace.op_name(5), gtrace.op_name(160), gtrace.STATUSES[4])')" = \
		"<i8 <u4 -9223372036854775808 store.local load.global.nc merged" ]
	[ "$(grep -cE 'reservation_fail|"(warp|sectors)": *"' "$ROOT/python/gtrace.py")" -eq 0 ]
	# A column that few streams have.
	gtrace-ptx --work --launch 'vectoradd<<<2,64>>>(f32[128], f32[128], f32[128], 128)' "$ROOT/examples/kernels/ptx/vectoradd.ptx" >work.gt
	"$PYTHON" -c 'import gtrace; print(*gtrace.read("work.gt").to_pandas().work)' | tr ' ' '\n' >found
	gtrace-cat work.gt | awk -F '\t' '/^#block/ { for (i = 1; i <= NF; i++) at[$i] = i } !/^#/ { split($at["work"], part, ","); printf "%.0f\n", part[1] + 65536 * part[2] + (part[3] == "waits") * 2 ^ 31 }' >expected
	diff expected found
	[ "$(wc -l <found)" -eq 12 ]
	expect_failure 2 "expected no file with --schema" gtrace-cat --schema work.gt
}

# two_frames PYTHON: runs a trace through the module that this Python finds; prints numbers of the frames of findings and counts.
two_frames() {
	"$1" - "$ROOT/examples/traces/gemm.rdgc.xz" <<-'END'
		import sys, gtrace
		run = gtrace.run(sys.argv[1], gpu="titanv")
		counts = run.counts.set_index(["stage", "counter"]).value
		first = run.findings.iloc[0]
		print(run.gpu, counts["l1", "reads"], counts["dram", "reads"], first.finding, first.l2_sectors, run.untraced["calls"])
		try:
		    gtrace.run("no-such-program")
		except gtrace.Error as error:
		    print(str(error).splitlines()[-1])
	END
}

@test "run gives findings and counts as frames, which are those of gtrace run" {
	two_frames "$PYTHON" >found
	ordered gemm | gcoalesce | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram | gstats --csv >counted
	reads() { awk -F, -v stage="$1" '$1 == "total" && $2 == stage && $3 == "reads" { print $4 }' counted; }
	gained=$(gtrace run --quiet --json --gpu titanv "$ROOT/examples/traces/gemm.rdgc.xz" | grep -o '"l2_sectors": {"value": [0-9]*' | head -1 | grep -o '[0-9]*$')
	[ "$(sed -n 1p found)" = "NVIDIA TITAN V $(reads l1) $(reads dram) read_by_many_sms $gained 0" ]
	grep -q 'no-such-program' found
}
