# SPDX-License-Identifier: MIT
# Whole pipes: the main job against its table and against a slow model, and broken pipes.
load helpers

SCHEDULE="gschedule --sm 80 --max-blocks 8"
L1="gcache --l1 --size 32K --ways 4 --index mod --replace lru --write through --allocate no"
L2="gcache --l2 --size 256K --ways 16 --index mod --replace lru --write back --allocate yes --partial keep"

setup() {
	cd "$BATS_TEST_TMPDIR"
	TRACES=${GTRACE_TRACES:-$ROOT/../shared/traces}
	export PYTHONDONTWRITEBYTECODE=1
}

# through: the stages of the main job after gtrace-order, with gcoalesce before gschedule, after
# it, or left out.
through() {
	case $1 in
	before) gcoalesce | $SCHEDULE | $L1 | $L2 | gdram ;;
	after) $SCHEDULE | gcoalesce | $L1 | $L2 | gdram ;;
	without) $SCHEDULE | $L1 | $L2 | gdram ;;
	esac
}

# table NAME: the rows of the golden table for a trace, as gstats prints its only kernel.
table() { sed -n "s/^$1,/total,/p" "$ROOT/tests/golden/main-job.csv" | sort; }

# main_job NAME TRACE...: every order of the stages ends in the numbers of the table, and the three
# in the same numbers altogether.
main_job() {
	local name=$1 where
	shift
	gtrace-order "$@" >ordered
	for where in before after without; do
		through "$where" <ordered >"$where"
		gtrace-cat --check "$where" >/dev/null
		# gschedule's number of rows depends on whether they are requests.
		gstats --csv "$where" | grep -v ',schedule,rows,' | sort >"$where.csv"
		[ "$(table "$name" | wc -l)" -eq 9 ]
		table "$name" | comm -23 - "$where.csv" >missing
		[ ! -s missing ] || { echo "$name $* with gcoalesce $where, expected:"; cat missing; return 1; }
		cmp before.csv "$where.csv"
	done
}

@test "the main job on the small traces ends in the numbers of the table" {
	main_job gemm "$ROOT/examples/traces/gemm.rdgc.xz"
	main_job conv "$ROOT/examples/traces/conv.rdgc.xz"
	main_job conv "$ROOT/examples/traces/conv.traceg.xz"
}

@test "the main job in every format ends in the same numbers" {
	[ -d "$TRACES" ] || skip "no sample traces in $TRACES (GTRACE_TRACES says where)"
	for name in gemm conv; do
		for format in rdgc trc nvbit traceg; do
			main_job "$name" "$TRACES/$name.$format.xz"
		done
		mkdir "$name"
		tar -xJf "$TRACES/$name.mem.tar.xz" -C "$name"
		main_job "$name" "$name"
	done
}

@test "the main job reads standard input, and writes the same bytes every time" {
	for run in 1 2; do
		gtrace-order <"$ROOT/examples/traces/conv.rdgc.xz" | through before >"$run"
	done
	cmp 1 2
}

@test "each stage receives what the previous one sends" {
	gtrace-order "$ROOT/examples/traces/gemm.rdgc.xz" | gcoalesce | $SCHEDULE | gcache --l1 --size 4K --ways 2 |
		gcache --l2 --size 16K --ways 4 --partial fetch | gdram --channels 3 | gstats --csv >out.csv
	awk -F, '$1 == 1 { c[$2 "." $3] = $4 }
		function equal(a, b, what) { checks++; if (a != b || a == "") { print what ": " a " and " b; wrong = 1 } }
		END {
			equal(c["order.accesses"], c["coalesce.accesses"], "accesses")
			equal(c["order.accesses"], c["order.loads"] + c["order.stores"], "loads and stores")
			equal(c["coalesce.sectors"], c["l1.reads"] + c["l1.writes"], "sectors into L1")
			equal(c["coalesce.requests"], c["l1.requests"], "requests into L1")
			equal(c["l1.reads"] - c["l1.read_hits"], c["l1.sent_reads"], "misses of L1")
			equal(c["l1.sent_reads"], c["l2.reads"], "reads from L1 to L2")
			equal(c["l1.sent_writes"], c["l2.writes"], "writes from L1 to L2")
			equal(c["l2.sent_reads"], c["dram.reads"], "fills of L2")
			equal(c["l2.sent_writes"], c["dram.writes"], "writes of L2")
			equal(c["dram.reads"] + c["dram.writes"], c["dram.row_hits"] + c["dram.row_misses"], "rows")
			equal(c["dram.channel_reads[0]"] + c["dram.channel_reads[1]"] + c["dram.channel_reads[2]"], c["dram.reads"], "channels")
			exit wrong || checks != 11
		}' out.csv
}

@test "random small traces: the filters and a slow model of all of them agree" {
	local cases=$((${#WHOLE} > 0 ? 30 : 12))
	python3 "$ROOT/tests/compare_pipes.py" $cases | tee out
	grep -q "^$cases cases, [0-9]* counters agree$" out
}

# --- broken pipes ---

# small: a stream of two kernels with every kind of record, less than 2000 bytes long.
small() {
	printf '%s\n' '#kernel id=1 name=a grid=2,1,1 block=32,1,1' '0 0 0 R 0x1000 4' '0 0 1 R 0x1004 4' \
		'1 0 2 W 0x2000 4' '0 1 3 W 0x2060 8' '#kernel id=2 name=b grid=1,1,1 block=64,1,1' \
		'0 0 33 R 0x5000 4' '0 0 34 R 0x5123 1' '0 0 35 R 0x5000 1' >small.rdgc
	printf 'coalesce = pascal # assumed: a test\n' >old
	gtrace-order small.rdgc | gschedule --gpu ./old --sm 2 >small.gt
	[ "$(wc -c <small.gt)" -lt 2000 ]
}

# statuses of a pipe after its first stage, which must all be 1, and no report on standard output.
all_fail() {
	[ "$(cat statuses)" = "$1" ] || { echo "exit statuses: $(cat statuses), expected $1"; cat errors; return 1; }
	[ ! -s report ] || { echo "a report was printed"; return 1; }
}

@test "an upstream that is killed fails every stage after it, and no totals are printed" {
	gtrace-order "$ROOT/examples/traces/gemm.rdgc.xz" >whole
	head -c $(($(wc -c <whole) / 2)) whole >half
	{ bash -c 'cat half; kill -9 $$' | gcoalesce | $SCHEDULE | $L1 | $L2 | gdram | gstats >report ||
		echo "${PIPESTATUS[*]:1}" >statuses; } 2>errors
	all_fail "1 1 1 1 1 1"
	[ "$(grep -c 'gcoalesce: ' errors)" -eq 1 ]
	[ "$(grep -c 'gstats: ' errors)" -eq 0 ]
	# In the middle of the pipe.
	gcoalesce <whole | $SCHEDULE >scheduled
	rm statuses
	{ bash -c 'head -c 3000 scheduled; kill -9 $$' | $L1 | gcache --name other | gdram | gstats --csv >report ||
		echo "${PIPESTATUS[*]:1}" >statuses; } 2>errors
	all_fail "1 1 1 1"
}

@test "a stream that is cut fails" {
	small
	python3 "$ROOT/tests/damage.py" cut 300 small.gt gcoalesce
}

@test "a stream with a bit flipped fails" {
	small
	python3 "$ROOT/tests/damage.py" flip $((${#WHOLE} > 0 ? 400 : 100)) small.gt gcoalesce
	python3 "$ROOT/tests/damage.py" flip $((${#WHOLE} > 0 ? 100 : 40)) small.gt gdram --quiet # its GPU has no device memory, of which gdram warns
}

@test "another version of the stream is refused by every stage" {
	small
	{ head -c 8 small.gt; printf '\x7f'; tail -c +10 small.gt; } >newer
	fails() { $1 <newer >/dev/null; }
	for tool in gcoalesce "gschedule --sm 2" "gcache --l1" gdram gstats gtrace-cat; do
		expect_failure 1 version fails "$tool"
	done
}

@test "a full disk fails every tool" {
	small
	gcoalesce small.gt >requests.gt
	fails() { "$@" >/dev/full; }
	expect_failure 1 "No space left" fails gtrace-order small.rdgc
	expect_failure 1 "No space left" fails gcoalesce small.gt
	expect_failure 1 "No space left" fails gschedule --sm 2 small.gt
	expect_failure 1 "No space left" fails gcache --l1 requests.gt
	expect_failure 1 "No space left" fails gdram --quiet requests.gt
	expect_failure 1 "No space left" fails gstats requests.gt
	expect_failure 1 "No space left" fails gtrace-cat requests.gt
	expect_failure 1 "No space left" fails gtrace-cat --rows requests.gt
	expect_failure 1 "No space left" fails grd requests.gt
}

@test "a closed pipe downstream is quiet" {
	gtrace-order "$ROOT/examples/traces/gemm.rdgc.xz" >whole
	gcoalesce whole | $SCHEDULE >scheduled
	for tool in "gtrace-order $ROOT/examples/traces/gemm.rdgc.xz" "gcoalesce whole" "$SCHEDULE whole" \
		"gcache --l1 --emit all scheduled" "gtrace-cat whole"; do
		bash -c "$tool 2>errors | head -c 10 >/dev/null"
		[ ! -s errors ] || { echo "$tool:"; cat errors; return 1; }
		# Also if SIGPIPE is ignored, as under some parents of a shell.
		bash -c "trap '' PIPE; $tool 2>errors | head -c 10 >/dev/null"
		[ ! -s errors ] || { echo "$tool, SIGPIPE ignored:"; cat errors; return 1; }
	done
}
