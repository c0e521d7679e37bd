#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gstats, on streams that tests/unit/report.c writes.

bats_require_minimum_version 1.5.0

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	for sample in two odd empty overflow; do
		"$UNITS/report" "$sample" >"$sample.gt"
	done
}

@test "the table is the golden one" {
	gstats two.gt >two.txt
	diff "$ROOT/tests/golden/gstats-two.txt" two.txt
}

@test "the table leaves out zeros of events that could not occur, and keeps the others" {
	gstats --kernel conv two.gt >conv.txt
	[ "$(grep -cE ' (stores|atomics|writes|write_hits) ' conv.txt)" -eq 0 ]
	grep -qE '^  l2 .*size ' conv.txt
	grep -qE ' read_hits +0  sectors +0.00 % of reads' conv.txt
	printf '#kernel\tid=1\tname=k\n#count\tstage=s\tkernel=1\tn=0\n' | gtrace-cat --from | gstats | grep -q '^  s  *(nothing)'
}

# launch ID NAME GRID BLOCK REGISTERS SHARED: a kernel record as text.
launch() { printf '#kernel\tid=%s\tname=%s\tgrid=%s\tblock=%s\tregisters=%s\tshared_bytes=%s\n' "$@"; }

@test "--kernels: launches by name and shape, in 80 columns and as CSV" {
	{
		launch 1 a 4,2,1 32,8,1 16 0
		launch 2 b 7,1,1 64,1,1 20 2048
		launch 3 a 4,2,1 32,8,1 16 0
		printf '#count\tstage=ptx\tkernel=3\twarp_instructions=1234567\n'
		launch 4 a 4,2,3 32,8,1 16 0
		launch 5 a 4,2,1 32,8,1 17 0
		launch 6 'long, "of" '"$(printf 'x%.0s' $(seq 200))" 65535,65535,1 1024,1,1 0 49152
		printf '#kernel\tid=7\tname=bare\n'
	} | gtrace-cat --from >launches.gt
	gstats --kernels launches.gt >table
	[ "$(LC_ALL=C.UTF-8 wc -L <table)" -eq 80 ]
	[ "$(tail -n 1 table)" = "7 launches, 6 by name and shape" ]
	[ "$(sed -n 2p table | xargs)" = "1 2 4 x 2 32 x 8 16 0 1.23 M a" ]
	[ "$(sed -n 3p table | xargs)" = "2 1 7 64 20 2K - b" ]
	[ "$(sed -n 4p table | xargs)" = "4 1 4 x 2 x 3 32 x 8 16 0 - a" ]
	[ "$(sed -n 7p table | xargs)" = "7 1 - - - 0 - bare" ]
	for pair in 999:999 1000:1.00_k 9994:9.99_k 9996:10.0_k 99960:100_k 999499:999_k 999500:1.00_M 123456712345:123_G; do
		{ launch 1 k 1,1,1 32,1,1 16 0; printf '#count\tstage=ptx\tkernel=1\twarp_instructions=%s\n' "${pair%:*}"; } | gtrace-cat --from | gstats --kernels >one
		[ "$(sed -n 2p one | xargs)" = "1 1 1 32 16 0 $(tr _ ' ' <<<"${pair#*:}") k" ] || { cat one; return 1; }
	done
	gstats --kernels --csv launches.gt >csv
	diff csv - <<-END
		kernel,first,launches,grid_x,grid_y,grid_z,block_x,block_y,block_z,cluster_x,cluster_y,cluster_z,registers,shared_bytes,warp_instructions
		a,1,2,4,2,1,32,8,1,,,,16,0,1234567
		b,2,1,7,1,1,64,1,1,,,,20,2048,
		a,4,1,4,2,3,32,8,1,,,,16,0,
		a,5,1,4,2,1,32,8,1,,,,17,0,
		"long, ""of"" $(printf 'x%.0s' $(seq 200))",6,1,65535,65535,1,1024,1,1,,,,,49152,
		bare,7,1,,,,,,,,,,,0,
	END
	gstats --kernels --kernel '^b' --output chosen launches.gt
	[ "$(tail -n 1 chosen)" = "2 launches, 2 by name and shape" ]
	launch 1 k 8,1,1 32,1,1 16 0 | sed 's/$/\tcluster=4,1,1/' | gtrace-cat --from | gstats --kernels | grep -q ' 8 by 4  *32 '
	[ "$(printf '#gtrace\t0\n#end\n' | gtrace-cat --from | gstats --kernels)" = "0 launches, 0 by name and shape" ]
	for other in --json --findings '--by launch' '--names ncu' --scale '--callgrind x'; do
		# shellcheck disable=SC2086
		run -2 gstats --kernels $other launches.gt
		[[ $output == "gstats: --kernels goes with "* ]]
	done
}

@test "CSV is the golden one" {
	gstats --csv <two.gt >two.csv
	diff "$ROOT/tests/golden/gstats-two.csv" two.csv
}

@test "profiler names, as CSV and as a table, are the golden ones" {
	gstats --names ncu --csv two.gt >ncu.csv
	diff "$ROOT/tests/golden/gstats-two-ncu.csv" ncu.csv
	gstats --names ncu two.gt >ncu.txt
	diff "$ROOT/tests/golden/gstats-two-ncu.txt" ncu.txt
}

@test "no CSV has a field that a spreadsheet computes, whatever the names are" {
	gtrace-ptx --launch 'vectoradd<<<2,32>>>(A=f32[64], B=f32[64], C=f32[64], 64)' "$ROOT/examples/kernels/ptx/vectoradd.ptx" |
		gtrace-cat | sed "s/name=vectoradd/name==cmd|x/; s/names=A,B,C/names==A,-B,@C/" | gtrace-cat --from |
		gcoalesce --by site | gschedule --gpu titanv | gcache --l1 --by site >named
	gstats --csv named >./+saved.csv
	gstats --csv --by launch named >1.csv
	gstats --csv --lines named >2.csv
	gstats --csv --kernels named >3.csv
	gstats --csv --names ncu named >4.csv
	gstats --csv --names nvprof named >5.csv
	gstats --csv --names accelsim named >6.csv
	gstats --csv --reference ./+saved.csv --as @a,=b named >7.csv
	gstats --csv --errors 7.csv >8.csv
	gtrace compare --csv --as -a,=b named named >9.csv
	gtrace kernels --csv named >10.csv
	gplot sweep --pareto --table -x l1.reads -y l1.sectors - >11.csv <<-'END'
		section,trace,l1.reads,l1.sectors
		@s,=t,1,2
		@s,=u,2,1
	END
	python3 - "+saved.csv" {1..11}.csv <<-'PYTHON'
		import csv, re, sys
		named = 0
		for path in sys.argv[1:]:
		    fields = [field for row in csv.reader(open(path)) for field in row]
		    assert len(fields) > 3, path
		    computed = [f for f in fields if re.match("[=+@-]", f) and not re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?|-", f)]
		    assert not computed, (path, computed)
		    named += sum(f.startswith("'") for f in fields)
		assert named > 20
	PYTHON
}

@test "--errors reads what --reference wrote of texts, too, and has no error of them" {
	gstats --csv two.gt >saved.csv
	gstats --csv --reference saved.csv two.gt >rows.csv
	printf '1,k,,,l1.name,,"a, b",c,,\n1,k,,,l1.name,,7,c,,\n' >>rows.csv
	gstats --errors --csv rows.csv >errors.csv
	[ "$(wc -l <errors.csv)" -gt 10 ]
	run ! grep -q 'l1.name' errors.csv
	printf '1,k,,,l1.reads,sectors,a,7,,\n' >>rows.csv
	expect_failure 1 "'a', '7': expected two numbers" gstats --errors rows.csv
}

@test "JSON and CSV have the same values, with all names" {
	for sample in two odd empty; do
		gstats --csv $sample.gt >$sample.csv
		gstats --json $sample.gt >$sample.json
		python3 - $sample.csv $sample.json <<-'PYTHON'
			import csv, json, sys
			table = list(csv.reader(open(sys.argv[1], encoding="utf-8", errors="strict", newline="")))
			report = json.load(open(sys.argv[2], encoding="utf-8"))
			assert report["gtrace_report"] == 1
			rows = [["kernel", "stage", "counter", "value"]]
			def add(label, kernel):
			    for stage in kernel["stages"]:
			        for name, value in stage["counters"].items():
			            if isinstance(value, list):
			                rows.extend([label, stage["stage"], f"{name}[{i}]", str(v)] for i, v in enumerate(value))
			            else:
			                rows.append([label, stage["stage"], name, str(value)])
			for kernel in report["kernels"]:
			    add(str(kernel["kernel"]), kernel)
			add("total", report["total"])
			assert rows == table, (rows, table)
		PYTHON
	done
}

@test "JSON has the launch, exact 64-bit integers, ratios, and null for 0/0" {
	gstats --json two.gt >two.json
	gstats --json odd.gt >odd.json
	python3 - <<-'PYTHON'
		import json
		two, odd = json.load(open("two.json")), json.load(open("odd.json"))
		assert two["gpu"] == "TITAN V" and odd["gpu"] is None
		gemm = two["kernels"][0]
		assert gemm["name"] == "gemm(float*, float const*)"
		assert (gemm["grid"], gemm["block"], gemm["registers"], gemm["shared_bytes"]) == ([4, 16, 1], [32, 8, 1], 32, 8192)
		l1 = [s for s in gemm["stages"] if s["stage"] == "l1"][0]
		assert l1["ratios"] == {"read_hit_ratio": 86.42, "write_hit_ratio": 0}
		l1 = [s for s in two["kernels"][1]["stages"] if s["stage"] == "l1"][0]
		assert l1["ratios"] == {"read_hit_ratio": 25, "write_hit_ratio": None}
		assert odd["kernels"][0]["name"] == 'say "hi", a\\b\n\ufffd \u00e9'
		assert odd["kernels"][0]["stages"][0]["counters"]["max"] == 2**64 - 1
	PYTHON
	gstats --names ncu --json two.gt | python3 -c '
import json, sys
report = json.load(sys.stdin)
metrics = {m["name"]: (m["value"], m["unit"]) for m in report["kernels"][0]["metrics"]}
assert report["names"] == "ncu"
assert metrics["lts__t_sector_op_write_hit_rate.pct"] == (100, "%")
assert metrics["dram__bytes_read.sum"] == (1536 * 32, "byte")
'
}

@test "an empty stream is an empty report, without a NaN" {
	[ "$(gstats empty.gt)" = "no kernels" ]
	[ "$(gstats --csv empty.gt)" = "kernel,stage,counter,value" ]
	for form in "" --csv --json; do
		for names in gtrace ncu; do
			run gstats $form --names $names two.gt
			[ "$status" -eq 0 ]
			[[ "$output" != *[nN]a[nN]* ]]
		done
	done
}

@test "a stream cut anywhere, or with a bit flipped, prints nothing and exits 1" {
	python3 "$ROOT/tests/damage.py" cut 30 two.gt gstats --csv
	python3 "$ROOT/tests/damage.py" flip 20 two.gt gstats --json
}

@test "a failed stream leaves an older report alone" {
	echo old >report.csv
	head -c 100 two.gt >cut.gt
	expect_failure 1 "gstats: " gstats --csv --output report.csv cut.gt
	[ "$(cat report.csv)" = old ]
}

@test "--kernel keeps the kernels that match, in the total too" {
	gstats --csv --kernel '^conv$' two.gt >conv.csv
	[ -z "$(grep '^1,' conv.csv)" ]
	diff <(sed -n 's/^2,//p' "$ROOT/tests/golden/gstats-two.csv") <(sed -n 's/^2,//p' conv.csv)
	diff <(sed -n 's/^2,//p' conv.csv) <(sed -n 's/^total,//p' conv.csv)
	expect_failure 1 "gstats: no kernel has a name that 'nothing' matches: there are gemm(float*, float const*), conv" gstats --kernel nothing two.gt
	# Ten names are listed, each of 40 characters at most.
	for i in $(seq 12); do printf '#kernel\tid=%d\tname=%s%d\n' "$i" "$(printf 'a%.0s' $(seq 50))" "$i"; done | { printf '#gtrace\t0\n'; cat; printf '#end\n'; } | gtrace-cat --from >many.gt
	expect_failure 1 " and 2 others" gstats --kernel nothing many.gt
	[ "$(grep -o '\.\.\.\|…' "$BATS_TEST_TMPDIR/stderr" | wc -l)" -eq 10 ]
}

@test "--tee passes the stream on, and writes the report elsewhere" {
	gstats --tee --csv two.gt >passed.gt 2>report.csv
	diff "$ROOT/tests/golden/gstats-two.csv" report.csv
	gstats --csv passed.gt | diff "$ROOT/tests/golden/gstats-two.csv" -
	gstats --tee --csv --kernel conv --output file.csv two.gt | gstats --csv | diff "$ROOT/tests/golden/gstats-two.csv" -
	grep -q '^2,l1,reads,8$' file.csv
	[ -z "$(grep '^1,' file.csv)" ]
	# Only the history changes: the records after the header are the same bytes.
	python3 - <<-'PYTHON'
		before, after = open("two.gt", "rb").read(), open("passed.gt", "rb").read()
		start = before.index(b"\xa3gpu") - 1
		end = before.rindex(b"\xa3end") - 1
		assert before[start:end] in after
	PYTHON
}

@test "--output writes the file and leaves stdout empty" {
	[ -z "$(gstats --csv --output out.csv two.gt)" ]
	diff "$ROOT/tests/golden/gstats-two.csv" out.csv
}

@test "a report of more counts than memory is to hold is whole, to the last number" {
	# Four megabytes of counts, of more launches than are kept whole; the CSV is what awk makes of the same numbers.
	awk 'BEGIN {
		print "#gtrace\t0.1.0"
		print "kernel,stage,counter,value" >"expected.csv"
		for (id = 1; id <= 300; id++) {
			printf "#kernel\tid=%d\tname=k%d\tgrid=1,1,1\tblock=32,1,1\tregisters=0\tshared_bytes=0\torder=none\tl1_bytes=0\n", id, id % 7
			printf "#count\tstage=mine\tkernel=%d\treads=%d\tmru=[", id, id * id
			printf "%d,mine,reads,%d\n", id, id * id >"expected.csv"
			reads += id * id
			for (i = 0; i < 2000; i++) {
				value = (id * 7919 + i * 104729) % 99999989 * 65536 + i
				printf "%s%.0f", i ? "," : "", value
				printf "%d,mine,mru[%d],%.0f\n", id, i, value >"expected.csv"
				sum[i] += value
			}
			print "]"
		}
		printf "total,mine,reads,%d\n", reads >"expected.csv"
		for (i = 0; i < 2000; i++)
			printf "total,mine,mru[%d],%.0f\n", i, sum[i] >"expected.csv"
		print "#end\t0"
	}' >long.txt
	gtrace-cat --from long.txt >long.gt
	gstats --csv long.gt | cmp - expected.csv
	gstats --csv --output long.csv long.gt
	cmp long.csv expected.csv
	[ -z "$(find . -name '*.partial*')" ]
	TMPDIR=/nowhere expect_failure 1 "/nowhere: cannot make a temporary file" gstats --csv long.gt
	[ ! -s "$BATS_TEST_TMPDIR/stdout" ]
	gstats --csv two.gt | TMPDIR=/nowhere cmp - "$ROOT/tests/golden/gstats-two.csv"
}

# bytes COMMAND...: of memory at its peak.
bytes() { "$BUILD/tests/bench/used" "$@" 2>used >/dev/null && awk '{ print $2 }' used; }

# bats test_tags=whole
@test "memory is neither of launches nor of names" {
	not_instrumented gstats
	# 198 MB and 102 MB if each launch, or name, were whole.
	"$BUILD/tests/bench/launches" 40000 20 | gcoalesce >launches
	"$BUILD/tests/bench/launches" 20000 20000 | gcoalesce >names
	for form in --csv --json "--names ncu --by launch"; do
		# shellcheck disable=SC2086
		[ "$(bytes gstats $form launches)" -lt 32000000 ]
	done
	[ "$(bytes gstats --csv --output launches.csv launches)" -lt 48000000 ] # with the text, which is short enough to be in memory
	[ "$(bytes gstats names)" -lt 32000000 ]
	[ "$(bytes gstats --csv --by kernel names)" -lt 32000000 ]
}

@test "a total that does not fit 64 bits is an error" {
	expect_failure 1 "stage l1, counter reads: the total does not fit 64 bits" gstats overflow.gt
}

@test "an output that cannot be written is an error" {
	expect_failure 1 "/nowhere/report.csv" gstats --output /nowhere/report.csv two.gt
	expect_failure 1 "gstats: " gstats --output /dev/full two.gt
	run bash -c 'gstats two.gt >/dev/full'
	[ "$status" -eq 1 ]
}

@test "bad usage names what is accepted and exits 2" {
	expect_failure 2 "expected gtrace, ncu, nvprof or accelsim" gstats --names nsys two.gt
	expect_failure 2 "expected one of them" gstats --csv --json two.gt
	expect_failure 2 "--kernel: 'a(': expected a Perl-compatible regular expression" gstats --kernel 'a(' two.gt
	run gstats --nonsense
	[ "$status" -eq 2 ]
}

@test "--help and --version" {
	gstats --help | grep -q '^usage: gstats'
	gstats --version | grep -Eq '^gstats [0-9.]+$'
}

@test "the manual defines every ratio, and every profiler metric that is printed" {
	ratios=$(gstats --json two.gt | python3 -c '
import json, sys
print(*{name for stage in json.load(sys.stdin)["total"]["stages"] for name in stage["ratios"]})')
	[ "$(wc -w <<<"$ratios")" -ge 8 ]
	for name in $ratios; do
		grep -qx "\.It Cm $name" "$ROOT/man/gstats.1"
	done
	metrics=$(gstats --names ncu --csv two.gt | awk -F'","' 'NR > 1 { print $(NF - 2) }' | sort -u)
	[ "$(wc -w <<<"$metrics")" -ge 30 ]
	for name in $metrics; do
		grep -q "^\.It Li .*$name" "$ROOT/man/gstats.1"
	done
}

@test "the manual's examples run" {
	run_man_examples gstats.1
}

# Three launches of a, with 5, 7 and 3 rows, one of b, and two without a name.
several_launches() {
	awk 'BEGIN {
		OFS = "\t"
		n = split("a 5 64,a 7 64,b 2 32, 1 32,a 3 32, 4 32", launches, ",")
		for (i = 1; i <= n; i++) {
			split(launches[i], part, " ")
			name = launches[i] ~ /^ / ? "" : part[1]
			rows = name == "" ? part[1] : part[2]
			print "#kernel", "id=" i, "name=" name, "grid=1,1,1", "block=" part[name == "" ? 2 : 3] ",1,1"
			print "#count", "stage=s", "kernel=" i, "rows=" rows, "same=9"
		}
	}' | gtrace-cat --from
}

@test "--by kernel sums the launches of a name, with their least, mean and largest values" {
	several_launches >launches.gt
	gstats launches.gt >by.txt
	diff - by.txt <<-'END'
		kernel 1  a  and 2 more launches
		  grid 1 (1 blocks)   block differs   registers unknown   shared 0
		  stage  counter  sum  unit    least  mean  largest
		  s      rows      15  rows        3   5.0        7
		         same      27

		kernel 3  b
		  grid 1 (1 blocks)   block 32 (32 threads)   registers unknown   shared 0
		  stage  counter  value  unit
		  s      rows         2  rows
		         same         9

		kernel 4  
		  grid 1 (1 blocks)   block 32 (32 threads)   registers unknown   shared 0
		  stage  counter  value  unit
		  s      rows         1  rows
		         same         9

		kernel 6  
		  grid 1 (1 blocks)   block 32 (32 threads)   registers unknown   shared 0
		  stage  counter  value  unit
		  s      rows         4  rows
		         same         9

		total of 6 launches of 4 kernels
		  stage  counter  value  unit
		  s      rows        22  rows
		         same        54
	END
	gstats --by launch launches.gt >each.txt
	[ "$(grep -c '^kernel ' each.txt)" -eq 6 ]
	tail -5 each.txt | diff - <(tail -5 by.txt | sed 's/6 launches of 4/6/')
	# The CSV of launches, summed here, is the CSV of names.
	gstats --csv launches.gt | awk -F, 'NR > 1 && $1 != "total" {
		name = $1 == 1 || $1 == 2 || $1 == 5 ? "a" : $1 == 3 ? "b" : ""
		sum[name "," $2 "," $3] += $4
	} END { for (key in sum) print key "," sum[key] }' | sort >expected.csv
	gstats --csv --by kernel launches.gt | awk -F, 'NR > 1 && $1 != "total" { sum[$1 "," $2 "," $3] += $4 }
		END { for (key in sum) print key "," sum[key] }' | sort | diff expected.csv -
	gstats --json --by kernel launches.gt | python3 -c '
import json, sys
report = json.load(sys.stdin)
a = report["kernels"][0]
assert a["launches"] == 3 and a["block"] is None and a["grid"] == [1, 1, 1], a
assert report["total"]["launches"] == 6 and report["total"]["kernels"] == 4, report["total"]'
	run gstats --by name launches.gt
	[ "$status" -eq 2 ]
	[[ "$output" == *"--by 'name': expected kernel or launch"* ]]
}

@test "two hundred launches of two kernels make one short table and one short page" {
	awk 'BEGIN {
		OFS = "\t"
		for (i = 1; i <= 200; i++) {
			print "#kernel", "id=" i, "name=" (i % 2 ? "odd" : "even"), "grid=1,1,1", "block=32,1,1"
			print "#count", "stage=l1", "kernel=" i, "reads=" i, "read_hits=" int(i / 2)
		}
	}' | gtrace-cat --from >many.gt
	[ "$(gstats many.gt | wc -l)" -lt 30 ]
	gstats many.gt | grep -qE '^  l1 +reads +10,000 +sectors +1 +100.0 +199$'
	gstats --report page many.gt
	[ "$(wc -c <page/index.html)" -lt 300000 ]
	grep -q 'odd, 100 launches' page/index.html
}

# Two kernels by instruction, before and after a cache: instructions 16 and 32 come from the lines 5 and 6 of /tmp/t.cu,
# 48 from line 9 of /tmp/part.h, 64 from none.
by_instruction() {
	printf '#kernel\tid=1\tname=first\tgrid=1,1,1\tblock=32,1,1\n'
	printf '#count\tstage=source\tkernel=1\tpcs=[48,16,32]\tlines=[9,5,6]\tfiles=[1,0,0]\tnames=t.cu,part.h\n'
	printf '#count\tstage=all\tkernel=1\t0x10.references=10\t0x20.references=20\t0x30.references=30\t0x40.references=40\n'
	printf '#count\tstage=missed\tkernel=1\t0x10.references=1\t0x30.references=3\n'
	printf '#kernel\tid=2\tname=second\tgrid=1,1,1\tblock=32,1,1\n'
	printf '#count\tstage=source\tkernel=2\tpcs=[16,17]\tlines=[7,7]\tfiles=[0,0]\tnames=t.cu\n'
	printf '#count\tstage=all\tkernel=2\t0x10.references=100\t0x11.references=200\n'
}

@test "--callgrind writes the counts by source line, which cg_annotate reads" {
	seq 9 | sed 's/^/line /' >t.cu
	cp t.cu part.h
	by_instruction | gtrace-cat --from >lines.gt
	gstats --callgrind out lines.gt
	diff out - <<-'END'
		desc: What each stage counted by instruction
		cmd: gtrace-cat 0.1.0 --from
		events: all missed
		fl=???
		fn=first
		0 40 0
		fl=part.h
		fn=first
		9 30 3
		fl=t.cu
		fn=first
		5 10 1
		6 20 0
		fl=t.cu
		fn=second
		7 300 0
		summary: 400 4
	END
	cg_annotate --auto=yes --show=all,missed out >annotated
	grep -qE '^ *10 \(.*\) +1 \(.*\) +line 5$' annotated
	grep -qE '^ *300 \(.*\) +0 +line 7$' annotated
	grep -qE '400 \(100.0%\) +4 \(100.0%\) +PROGRAM TOTALS' annotated
	run gstats --callgrind none two.gt
	[ "$status" -eq 1 ]
	[ ! -e none ]
	run gstats --callgrind out --csv lines.gt
	[ "$status" -eq 2 ]
	by_instruction | grep -v stage=source | gtrace-cat --from >nowhere.gt
	run gstats --callgrind out nowhere.gt
	[ "$status" -eq 0 ]
	[ "$output" = "gstats: warning: the trace has no source lines: compile with nvcc -lineinfo" ]
}

@test "a malformed record of source lines is an error" {
	for wrong in 'pcs=[1]\tlines=[1]\tnames=a' 'pcs=[1]\tlines=[1,2]\tfiles=[0]\tnames=a' 'pcs=[1]\tlines=[1]\tfiles=[1]\tnames=a' \
		'pcs=1\tlines=[1]\tfiles=[0]\tnames=a' 'pcs=[1]\tlines=[1]\tfiles=[0]'; do
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#count\tstage=source\tkernel=1\t%b\n' "$wrong" | gtrace-cat --from >wrong.gt
		run grd --by line --profile wrong.gt
		[ "$status" -eq 1 ]
		[[ "$output" == "grd: "*"source: expected the arrays pcs, lines and files"* ]]
	done
}

# scaled BLOCKS MODELLED: counts behind a schedule of that many blocks, "stage counter value" a line.
scaled() {
	printf '#kernel\tid=1\tname=k\n#count\tstage=coalesce\tkernel=1\trequests=10\n#count\tstage=schedule\tkernel=1\tblocks=%s\tmodelled_blocks=%s\tsteps=7\n' "$1" "$2"
	printf '#count\tstage=l1\tkernel=1\treads=7\tmru=[3,0,5]\tsize=1024\n#count\tstage=l2\tkernel=1\treads=%s\n' "${3:-1}"
}

@test "--scale: counts behind the schedule, to all blocks, halves upwards; settings and earlier counts stay" {
	scaled 5 2 | gtrace-cat --from | gstats --scale --csv | grep '^1,' | cut -d, -f 2- >out
	diff - out <<-'END'
		coalesce,requests,10
		schedule,blocks,5
		schedule,modelled_blocks,2
		schedule,steps,7
		l1,reads,18
		l1,mru[0],8
		l1,mru[1],0
		l1,mru[2],13
		l1,size,1024
		l2,reads,3
	END
	# Large numbers are exact: 2^64 / 3 * 3, and one more does not fit.
	scaled 3 1 6148914691236517205 | gtrace-cat --from | gstats --scale --csv | grep -q '^total,l2,reads,18446744073709551615$'
	scaled 3 1 6148914691236517206 | gtrace-cat --from >large.gt
	expect_failure 1 "kernel 1, stage l2, counter reads: the scaled number does not fit 64 bits" gstats --scale large.gt
	scaled 4 4 | gtrace-cat --from >whole.gt
	gstats --scale whole.gt | diff - <(gstats whole.gt)
}

@test "--scale: a wave of equal blocks, scaled, is the whole grid" {
	launch='vectoradd<<<64,256>>>(a=f32[16384], b=f32[16384], c=f32[16384], 16384)'
	gtrace-ptx --launch "$launch" "$ROOT/examples/kernels/ptx/vectoradd.ptx" >t
	model() { gschedule --sm 4 --max-blocks 2 "$@" t | gcache --l1 | gcache --l2 --size 4M | gdram; }
	counts() { gstats --csv "$@" | grep -E '^total,(coalesce|l1|l2|dram),(accesses|requests|(sent_)?(reads|writes|sectors)|read_hits|line_misses),'; }
	model | counts >whole
	model --waves 1 | counts --scale >scaled
	[ "$(wc -l <whole)" -ge 12 ]
	diff whole scaled
	run ! diff -q whole <(model --waves 1 | counts)
}

@test "--scale needs a schedule, and refuses one that it cannot scale by" {
	ordered conv | gcache --l1 --emit none >t
	expect_failure 1 "kernel 1: expected counts of gschedule, to scale by blocks / modelled_blocks" gstats --scale t
	scaled 2 3 | gtrace-cat --from >t
	expect_failure 1 "kernel 1: cannot scale from 3 modelled blocks to 2" gstats --scale t
	scaled 2 0 | gtrace-cat --from >t
	expect_failure 1 "cannot scale from 0 modelled blocks" gstats --scale t
	expect_failure 2 "--errors goes with" gstats --errors --scale t
}

# A line with loads of two instructions and a store, one with an atomic on a name that is no file's, and an instruction without a line. Loads
# of line 3: 10 + 10 accesses of 320 + 40 sectors, 18 each; the least is 40 + 40, 4 each. Of 360 sectors 270 hit, 75 %; of the misses
# 45 are compulsory, 36 capacity, 9 conflict: 50, 40, 10 %.
write_sites() {
	printf '%s\n' 'int main(void)' '{' $'\tout[i] = in[i * 32] + in[i];' '}' '' '' 'last' >t.cu
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n'
		printf '#count\tstage=source\tkernel=1\tpcs=[16,17,18,19]\tlines=[3,3,3,9]\tfiles=[0,0,0,1]\tnames=far/t.cu,gone.h\n'
		printf '#count\tstage=coalesce\tkernel=1\taccesses=41\tload_accesses=21\tstore_accesses=10\tatomic_accesses=10'
		printf '\t0x10 in.%s' op=load.global accesses=10 bytes=1280 sectors=320 least_sectors=40
		printf '\t0x11 in.%s' op=load.global accesses=10 bytes=1280 sectors=40 least_sectors=40
		printf '\t0x12 out.%s' op=store.global accesses=10 bytes=1280 sectors=40 least_sectors=40
		printf '\t0x13 -.%s' op=atomic.global accesses=10 bytes=40 sectors=10 least_sectors=10
		printf '\t0x20 -.%s' op=load.global accesses=1 bytes=128 sectors=4 least_sectors=4
		printf '\n#count\tstage=l1\tkernel=1\treads=364\tread_hits=270'
		printf '\t0x10 in.%s' reads=320 read_hits=240 compulsory=40 capacity=32 conflict=8
		printf '\t0x11 in.%s' reads=40 read_hits=30 compulsory=5 capacity=4 conflict=1
		printf '\t0x20 -.%s' reads=4 read_hits=0 compulsory=4
		printf '\n'
	} | gtrace-cat --from >sites.gt
}

@test "--lines: the source with what its lines access, hit and miss, by hand" {
	write_sites
	gstats --lines sites.gt >got
	diff - got <<-'END'
		far/t.cu
		  line         accesses sectors  least   L1 %   L2 %  new/cap/con  source
		     2                                                          {
		     3 load          20   18.00   4.00   75.0      -   50/ 40/ 10      out[i] = in[i * 32] + in[i];
		       store         10    4.00   4.00      -      -            -
		     4                                                          }

		gone.h  (the file is not here: only numbers of lines are shown)
		  line         accesses sectors  least   L1 %   L2 %  new/cap/con  source
		     9 atomic        10    1.00   1.00      -      -            -

		instructions without a source line (nvcc -lineinfo)
		    pc         accesses sectors  least   L1 %   L2 %  new/cap/con  source
		  0x20 load           1    4.00   4.00    0.0      -  100/  0/  0  k

		sectors: of 32 bytes an access, in shared memory passes; least: as many as its bytes need;
		L1 %, L2 %: hits of loads; new/cap/con: % of L1's load misses that are compulsory, capacity, conflict.
	END
	[ "$(awk 'length > 102' got | wc -l)" -eq 0 ]
	gstats --lines --color always sites.gt | sed 's/\x1b\[[0-9;]*m//g' | diff got -
	gstats --lines --color always sites.gt | grep -q $'^\e\\[1;31m     3 load'
	gstats --lines --csv sites.gt | diff - <(
		echo file,line,op,accesses,bytes,sectors,least_sectors,passes,least_passes,l1_reads,l1_read_hits,l1_compulsory,l1_capacity,l1_conflict,l1_invalidated,l2_reads,l2_read_hits,dram_reads
		echo 0x20,0,load,1,128,4,4,0,0,4,0,4,0,0,0,0,0,0
		echo far/t.cu,3,load,20,2560,360,80,0,0,360,270,45,36,9,0,0,0,0
		echo far/t.cu,3,store,10,1280,40,40,0,0,0,0,0,0,0,0,0,0,0
		echo gone.h,9,atomic,10,40,10,10,0,0,0,0,0,0,0,0,0,0,0)
}

@test "--callgrind has what was counted by site, and the table leaves it out" {
	write_sites
	gstats --callgrind out sites.gt
	grep -qx 'events: coalesce_accesses coalesce_bytes coalesce_sectors coalesce_least_sectors l1_reads l1_read_misses l1_compulsory l1_capacity l1_conflict' out
	grep -qx '3 30 3840 400 120 360 90 45 36 9' out
	grep -qx 'summary: 41 4008 414 134 364 94 49 36 9' out
	run ! grep -q 0x <(gstats sites.gt)
	gstats --csv sites.gt | grep -qx '1,l1,0x10 in.capacity,32'
}

@test "--lines: accesses of a trace that tells no instructions apart are several, not loads" {
	# 32 lanes load 4 bytes each, then store them.
	for op in R W; do for t in $(seq 0 31); do echo "$([ $op = W ] && echo 1 || echo 0) 0 $t $op $(printf %x $((4096 + 4 * t)))"; done; done >t.rdgc
	gtrace-order t.rdgc | gcoalesce --by site | gschedule --sm 1 | gcache --l1 --by site >t.gt
	[ "$(gstats --lines t.gt | awk '$1 == "0x0" { print $2, $3, $4, $5, $6 }')" = "several 2 4.00 4.00 0.0" ]
	[ "$(gstats --lines --csv t.gt | cut -d , -f 1-6,10 | tail -n +2)" = "0x0,0,several,2,256,8,4" ]
}

@test "--lines: what it does not go with, and a stream without counts by instruction" {
	printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#count\tstage=l1\tkernel=1\treads=4\n' | gtrace-cat --from >none.gt
	expect_failure 1 "gcoalesce --by site" gstats --lines none.gt
	expect_failure 2 "--lines goes with" gstats --lines --json none.gt
	expect_failure 2 "--lines goes with" gstats --lines --by launch none.gt
	expect_failure 2 "--all: expected --findings" gstats --lines --all none.gt
	expect_failure 2 "--color" gstats --color always none.gt
}
