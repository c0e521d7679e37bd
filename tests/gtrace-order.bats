#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gtrace-order: formats, folding, sorting, and errors in the input.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	reference="python3 $ROOT/tests/order/reference.py"
	regex='^(?<op>\S+) of (?<size>\d+) by t(?<thread>\d+)/b(?<block>\d+) \(number (?<an>\d+)\) at (?<hexaddress>\w+), pc (?<pc>\w+)'
}

# The rows, and lines other than the history, which holds the options.
body() { gtrace-cat | grep -v '^#history'; }
# Rows without their launch, and numbers without leading zeros.
rows() { gtrace-cat | grep -v '^#' | cut -f1-10 | sed -E 's/0x0+([0-9a-f])/0x\1/g'; }

# order_text TEXT [OPTION...]: the rows of a trace given as printf text.
order_text() {
	local text=$1
	shift
	printf '%b' "$text" | gtrace-order "$@" | rows
}

# refuses TEXT TRACE [OPTION...]: exit 1, with that text, for a trace given as printf text.
refuses() {
	local text=$1
	printf '%b' "$2" >bad.trace
	shift 2
	expect_failure 1 "$text" gtrace-order "$@" bad.trace
}

compare_with_reference() {
	local form=$1 options=()
	shift
	[ "$form" != regex ] || options=(--format-regex "$regex")
	few 1 "$@"
	for seed in "${FEW[@]}"; do
		$reference make "$seed" "$form" >trace
		for by in block an; do
			$reference rows "$form" "$by" <trace >expected
			gtrace-order "${options[@]}" --by "$by" -S 1G trace | gtrace-cat | grep -v '^#history' >rows
			$reference text <rows | cmp expected - || { echo "seed $seed, --by $by"; return 1; }
			gtrace-order "${options[@]}" --by "$by" -S 64K trace | gtrace-cat | grep -v '^#history' | cmp rows - || { echo "seed $seed, --by $by, -S 64K"; return 1; }
		done
	done
}

@test "random RDGC traces fold and sort as the slow reference does" { compare_with_reference rdgc 1 2 3 4; }
@test "random .trc traces fold and sort as the slow reference does" { compare_with_reference trc 21 22 23 24; }
@test "random traces described by an expression fold and sort as the slow reference does" { compare_with_reference regex 41 42 43 44; }

# 60000 accesses of 3 launches in random order, a third of them without a stride.
shuffled() {
	awk 'BEGIN {
		srand(7)
		for (k = 1; k <= 3; k++) {
			printf "#kernel id=%d name=k%d grid=64,1,1 block=64,1,1\n", k, k
			for (i = 0; i < 20000; i++) {
				t = int(rand() * 64); b = int(rand() * 64); n = int(rand() * 20)
				printf "%d %d %d %s 0x%x %d\n", n, b, t, n % 3 ? "R" : "W", n % 3 ? b * 65536 + n * 4096 + t * 4 : rand() * 2^40, 4
			}
		}
	}'
}

@test "little memory gives the same bytes as much" {
	shuffled >trace
	gtrace-order -S 1G <trace | body >in_memory
	for memory in 64K 100K 1M; do
		gtrace-order -S "$memory" -T . <trace | body | cmp - in_memory
	done
	[ -z "$(ls -A | grep -v -e '^trace$' -e '^in_memory$')" ]
	gtrace-order --by an -S 1G <trace | body >in_memory
	gtrace-order --by an -S 64K <trace | body | cmp - in_memory
}

@test "ordering an ordered trace changes nothing, as a stream and as text" {
	shuffled | gtrace-order >stream
	body <stream >text
	gtrace-order stream | body | cmp - text
	gtrace-order -S 64K <stream | body | cmp - text
	gtrace-cat stream | gtrace-order | body | cmp - text
	gtrace-order --by an stream | gtrace-order | body | cmp - text
	gtrace-cat stream | sort -s -t "$(printf '\t')" -k 3,3n | gtrace-order | rows | cmp - <(rows <stream)
}

# in_order ROWS: a stream of two launches whose rows are in order; some list addresses, the second launch has hints.
in_order() {
	awk -v rows="$1" 'BEGIN {
		for (kernel = 1; kernel <= 2; kernel++) {
			printf "#kernel\tid=%d\tname=k%d\tgrid=1000,1,1\tblock=96,1,1\n", kernel, kernel
			print "#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes" (kernel == 2 ? "\thint" : "")
			for (i = 0; i < rows; i++) {
				printf "%d\t%d\t%d\t0x10\t%s\t4\t", i / 900, i % 3, i % 900 / 3, i % 7 ? "load.global" : "store.global"
				if (i % 50 == 3)
					printf "0x15\t-\t-\t0x%x,0x40,0x10", i * 4
				else
					printf "0xffffffff\t0x%x\t4\t-", i * 128
				print kernel == 2 ? "\t" (i % 9 ? "none" : "L1::no_allocate") : ""
			}
		}
	}' | gtrace-cat --from
}

@test "rows that come in order are the same as rows of which one comes late" {
	in_order 9001 >stream
	gtrace-order stream | gtrace-cat --check
	gtrace-order stream | rows >expected
	[ "$(wc -l <expected)" -ge 18002 ]
	# the first row of the first launch behind the second, where batches that were held have to be sorted
	gtrace-cat stream | awk '/^#kernel/ { kernel = $0 } /^#block/ { columns = $0 } !first && /^[0-9]/ { late = kernel "\n" columns "\n" $0; first = 1; next }
		{ print } END { print late }' | gtrace-cat --from >late
	for options in "" "-S 64K" "-j 3"; do
		# shellcheck disable=SC2086 # options are words
		gtrace-order $options late | rows | cmp - expected
		# shellcheck disable=SC2086
		gtrace-order $options stream | rows | cmp - expected
	done
	gtrace-order --by an stream | rows >expected
	gtrace-order --by an late | rows | cmp - expected
	gtrace-order --kernel 'k2$' stream | gtrace-cat --no-rows | grep -q 'accesses=9001'
	# a launch that goes on in another file
	gtrace-order stream stream | gtrace-cat --no-rows | grep -c 'accesses=18002' | grep -qx 2
}

@test "rows that come in order take a third of the memory" {
	not_instrumented gtrace-order
	in_order 400000 >stream
	# The rows would take 19 MB to be sorted.
	(ulimit -v 36000 && gtrace-order stream) | gtrace-cat --no-rows | grep -c 'accesses=400000' | grep -qx 2
}

@test "-S limits the memory" {
	not_instrumented gtrace-order
	awk 'BEGIN { print "blocksize: 32 1 1"
		for (i = 0; i < 1000000; i++) print (i * 7919) % 32768, 0, i * 1024, 4 }' >trace
	# In memory they would take 80 MB.
	(ulimit -v 61440 && gtrace-order -S 16M trace) | gtrace-cat --no-rows | grep -q 'threads=1000000'
}

@test "compressed traces, from a file and from a pipe, and compressed streams" {
	shuffled | head -n 5000 >trace
	gtrace-order trace >stream
	rows <stream >expected
	few 2 gzip bzip2 xz zstd
	for tool in "${FEW[@]}"; do
		$tool -c <trace >trace.packed
		$tool -c <stream >stream.packed
		gtrace-order trace.packed | rows | cmp - expected
		gtrace-order <trace.packed | rows | cmp - expected
		cat trace.packed | gtrace-order | rows | cmp - expected
		cat stream.packed | gtrace-order - | rows | cmp - expected
		gtrace-order stream.packed | rows | cmp - expected
	done
}

@test "damaged and cut compressed traces are errors that name the tool" {
	shuffled | xz -c >trace.xz
	head -c 20000 trace.xz >cut.xz
	expect_failure 1 "xz -dc failed" gtrace-order cut.xz
	expect_failure 1 "standard input: xz -dc failed" gtrace-order <cut.xz
	expect_failure 1 "xz -dc failed" bash -c 'cat cut.xz | gtrace-order'
	shuffled | gzip -c | head -c 30000 >cut.gz
	expect_failure 1 "gzip -dc failed" gtrace-order cut.gz
	shuffled | gtrace-order | zstd -qc | head -c 30000 >cut.zst
	expect_failure 1 "" gtrace-order cut.zst
	mkdir empty
	order=$(command -v gtrace-order)
	PATH=$PWD/empty expect_failure_without_path "$order"
}

# expect_failure itself needs tools, so only gtrace-order gets the empty PATH.
expect_failure_without_path() {
	PATH=${BATS_SAVED_PATH:-/usr/bin:/bin} expect_failure 1 "'xz' cannot be run to decompress it: not in PATH: install it (the package xz-utils)" \
		env PATH="$BATS_TEST_TMPDIR/empty" "$1" trace.xz
}

@test "carriage returns, comments, blanks and a missing last newline do no harm" {
	order_text '#kernel id=1 name=k grid=1,1,1 block=32,1,1\n0 0 0 R 0x100 4\n0 0 1 R 0x104\n' >expected
	[ "$(wc -l <expected)" -eq 1 ]
	order_text '# a comment\r\n#kernel id=1 name=k grid=1,1,1 block=32,1,1\r\n 0  0 0\t0 100 4 \r\n#kernels\r\n0 0 1 r 0x104\r\n\r\n' | cmp - expected
	order_text '#kernel id=1 name=k grid=1,1,1 block=32,1,1\n0 0 0 R 0x100 4\n0 0 1 R 0x104' | cmp - expected
}

@test "launches: names, shapes, ids, and values that a trace does not give" {
	printf '%b' '#kernel id=7 name=void f<int, 4>(float *) grid=2,3,4 block=8,4,2 registers=40 shared=1024\n0 23 63 R 0x0\n' |
		gtrace-order | gtrace-cat >text
	grep -qP '^#kernel\tid=7\tname=void f<int, 4>\(float \*\)\tgrid=2,3,4\tblock=8,4,2\tregisters=40\tshared_bytes=1024\torder=block' text
	printf '0 5 40 R 0x0\n\n\n0 0 0 R 0x0\n' >some.trace.txt
	gtrace-order some.trace.txt --by an | gtrace-cat >text
	grep -qP '^#kernel\tid=1\tname=some\tgrid=6,1,1\tblock=64,1,1\t.*order=an' text
	grep -qP '^#kernel\tid=2\tname=some\tgrid=1,1,1\tblock=32,1,1\t' text
	gtrace-order <some.trace.txt | gtrace-cat | grep -qP '^#kernel\tid=1\tname=kernel\t'
}

@test "several files: ids are kept, and files without ids continue the numbering" {
	printf '#kernel id=2 name=a grid=1,1,1 block=32,1,1\n0 0 0 R 0x0\n' >a.rdgc
	printf 'blocksize: 32 1 1\n0 0 64 4\n' >b.trc
	gtrace-order a.rdgc b.trc b.trc - a.rdgc <b.trc | gtrace-cat >text
	grep '^#kernel' text | cut -f2,3 >found
	printf 'id=2\tname=a\nid=1\tname=b\nid=3\tname=b\nid=4\tname=kernel\n' | diff - found
	[ "$(grep -c -v '^#' text)" -eq 5 ]
	sed s/=a/=c/ a.rdgc >c.rdgc
	sed s/id=2/id=1/ c.rdgc >d.rdgc
	gtrace-order a.rdgc c.rdgc a.rdgc d.rdgc | gtrace-cat | grep '^#kernel' | cut -f2,3 |
		diff - <(printf 'id=2\tname=a\nid=1\tname=c\nid=3\tname=a\nid=4\tname=c\n')
	cat a.rdgc c.rdgc >both.rdgc
	expect_failure 1 "both.rdgc:3: launch 2 is announced as kernel 'c', but before as 'a'" gtrace-order both.rdgc
}

@test "--kernel keeps the kernels that match, and drops the counts of the others" {
	printf '#kernel id=1 name=gemm\n0 0 0 R 0x0\n#kernel id=2 name=conv\n0 0 0 W 0x0\n' >trace
	gtrace-order --kernel '^g.*m$' trace | gtrace-cat | grep '^#kernel' | cut -f2 | diff - <(echo id=1)
	expect_failure 1 "no kernel has a name that 'nothing' matches: there are " gtrace-order --kernel nothing trace
	expect_failure 2 "--kernel: '(': missing closing parenthesis" gtrace-order --kernel '(' trace
}

@test "counts are those of the launch" {
	printf 'load.global 0\nstore.global 0\natomic.global 0\nreduction.global 1\nload.shared 1\nload.shared 2\n' >trace
	gtrace-order --format-regex '(?<op>\S+) (?<thread>\d+)(?<address>)' trace 2>/dev/null && return 1
	gtrace-order --format-regex '(?<op>\S+) (?<thread>(?<address>\d+))' trace | gtrace-cat | grep '^#count' |
		diff - <(printf '#count\tstage=order\tkernel=1\taccesses=6\tloads=3\tstores=1\tatomics=2\tthreads=6\n')
}

@test "an expression: SASS opcodes, warps with lists of addresses, numbers and defaults" {
	printf 'x 3: LDG.E.64.CONSTANT [10,18 20]\nx 3: STS.U8 [5]\njunk\n' >trace
	gtrace-order --format-regex '^x (?<warp>\d+): (?<op>\S+) \[(?<hexaddress>.*)\]' trace 2>err | rows >found
	printf '0\t3\t0\t0x0\tload.global.nc\t8\t0x7\t0x10\t8\t-\n0\t3\t1\t0x0\tstore.shared\t1\t0x1\t0x5\t0\t-\n' | diff - found
	grep -qx 'gtrace-order: warning: passed over: lines that do not match, 1' err
	printf '10\n0x10\n' | gtrace-order --format-regex '(?<address>\S+)' | rows | cut -f3,5,6,8 |
		diff - <(printf '0\tload.global\t4\t0xa\n1\tload.global\t4\t0x10\n')
}

@test "invalid expressions are wrong usage" {
	expect_failure 2 "expected one group 'address' or 'hexaddress'" gtrace-order --format-regex 'x(?<block>1)'
	expect_failure 2 "group 'adress': expected named groups of" gtrace-order --format-regex '(?<adress>1)'
	expect_failure 2 "'thread' or 'warp', not both" gtrace-order --format-regex '(?<address>1)(?<thread>1)(?<warp>1)'
	expect_failure 2 "after 1 characters" gtrace-order --format-regex '('
	expect_failure 2 "exclude one another" gtrace-order --format din --format-regex '(?<address>.*)'
}

@test "accesses that an expression finds must be valid" {
	local re='(?<thread>\S+) (?<op>\S+) (?<address>.*)'
	refuses "bad.trace:1: '5x' in group 'thread'" '5x R 1\n' --format-regex "$re"
	refuses "'1024' in group 'thread': expected a number of at most 1023" '1024 R 1\n' --format-regex "$re"
	refuses "bad.trace:2: 'Q' in group 'op': expected R or W" '0 R 1\n0 Q 1\n' --format-regex "$re"
	refuses "'zz': expected a decimal address" '0 R zz\n' --format-regex "$re"
	refuses "expected 1 to 1 addresses" '0 R 1 2\n' --format-regex "$re"
	refuses "none of its 2 lines matches" 'a\nb\n' --format-regex "$re"
}

@test "lackey: loads, stores, both, fetches counted" {
	printf '==12== Lackey\nI  04000000,3\n L 1ffeffe7e,8\n S 1000,64\n M 0421c7cc,4\n==12== \n' >trace
	gtrace-order trace 2>err >stream
	gtrace-cat stream >text
	rows <stream | cut -f1-3,5-8 >found
	printf '0\t0\t0\tload.global\t8\t0x1\t0x1ffeffe7e\n0\t0\t1\tstore.global\t32\t0x1\t0x1000\n0\t0\t2\tstore.global\t32\t0x1\t0x1020\n0\t0\t3\tload.global\t4\t0x1\t0x421c7cc\n0\t0\t4\tstore.global\t4\t0x1\t0x421c7cc\n' | diff - found
	grep -qx 'gtrace-order: warning: passed over: instruction fetches, 1' err
	grep -qP '^#count\tstage=order\t.*\tinstruction_fetches=1$' text
	grep -qP '^#kernel\tid=1\tname=trace\tgrid=1,1,1\tblock=32,1,1' text
	refuses "bad.trace:2: expected 'I  ADDRESS,SIZE'" ' L 10,4\n X 10,4\n'
}

@test "din: reads, writes, fetches counted" {
	printf '0 1000\n1 ff\n2 400\n' | gtrace-order 2>err | rows | cut -f3,5,6,8 |
		diff - <(printf '0\tload.global\t4\t0x1000\n1\tstore.global\t4\t0xff\n')
	grep -qx 'gtrace-order: warning: passed over: instruction fetches, 1' err
	refuses "bad.trace:2: expected '0|1|2 ADDRESS'" '0 1000\n3 1000\n'
}

@test "drmemtrace: the view tool's text" {
	cat >trace <<-'END'
		Output format:
		<--record#-> <--instr#->: <---tid---> <record details>
		------------------------------------------------------------
		           1           0:      342625 <marker: version 4>
		           2           1:      342625 ifetch       3 byte(s) @ 0x00007f6fdd3ec2a0 non-branch
		           3           1:      342625 read         8 byte(s) @ 0x00007ffc2c5e8d58 by PC 0x00007f6fdd3ec2a0
		           4           1:      342625 write        4 byte(s) @ 0x00007ffc2c5e8d50 by PC 0x00007f6fdd3ec2a4
		           5           1:      342625 prefetch     4 byte(s) @ 0x00007ffc2c5e8d50 by PC 0x00007f6fdd3ec2a4
		View tool results:
		              1 : total instructions
	END
	gtrace-order trace 2>err | rows | cut -f3-6,8 >found
	printf '0\t0xdd3ec2a0\tload.global\t8\t0x7ffc2c5e8d58\n1\t0xdd3ec2a4\tstore.global\t4\t0x7ffc2c5e8d50\n' | diff - found
	diff err <(printf 'gtrace-order: warning: passed over: instruction fetches, 1\ngtrace-order: warning: passed over: other records, 1\n')
	refuses "bad.trace:2: expected 'RECORD INSTRUCTION: THREAD ...'" '1 1: 7 read 8 byte(s) @ 0x10 by PC 0x1\nnonsense\n'
	refuses "bad.trace:1: expected 'N byte(s) @" '1 1: 7 read 8 bits @ 0x10\n' --format drmemtrace
	refuses "found none" 'Output format:\n'
}

@test "RDGC is found by a line of a launch without fields, and by letters of either case" {
	for text in '#kernel\n3 0 0 1 0x10' '3 0 0 r 10' '3\t0\t0\tw\t10\t4' '# a remark\n3 0 0 W 10'; do
		printf "$text\n" >trace
		[ "$(gtrace-order --quiet trace | gtrace-cat | grep -vc '^#')" -eq 1 ] || { echo "$text"; return 1; }
	done
}

@test "RDGC: bad lines are reported by file and line" {
	refuses "bad.trace:2: expected 'AN BLOCK THREAD R|W ADDRESS [SIZE]'" '0 0 0 R 0x0 4\n0 0 0 Q 0x0 4\n'
	refuses "bad.trace:2: expected 'AN BLOCK" '0 0 0 R 0x0 4\n0 0 0 R\n'
	refuses "bad.trace:2: expected 'AN BLOCK" '0 0 0 R 0x0 4\n0 0 0 R 0x10000000000000000 4\n'
	refuses "bad.trace:2: expected 'AN BLOCK" '0 0 0 R 0x0 4\n4294967296 0 0 R 0x0 4\n'
	refuses "bad.trace:2: expected 'AN BLOCK" '0 0 0 R 0x0 4\n0 0 0 R 0x0 4 9\n'
	refuses "bad.trace:1: size 0: expected 1 to 32" '0 0 0 R 0x0 0\n'
	refuses "bad.trace:1: size 33: expected 1 to 32" '0 0 0 R 0x0 33\n'
	refuses "bad.trace:1: thread 1024: a block has at most 1024" '0 0 1024 R 0x0 4\n'
	refuses "bad.trace:1: block 4294967295: the grid of launch 1 has 4294967295 blocks" '0 4294967295 0 R 0x0 4\n'
	refuses "bad.trace:2: block 8: the grid of launch 1 has 8 blocks" '#kernel id=1 name=k grid=2,2,2 block=40,1,1\n0 8 0 R 0x0 4\n'
	refuses "bad.trace:2: warp 2 (from thread 64 on): a block of launch 1 has 2 warps" '#kernel id=1 name=k grid=2,2,2 block=40,1,1\n0 7 64 R 0x0 4\n'
	refuses "bad.trace:2: lanes 0x00000100 of warp 1: a block of launch 1 has 40 threads" '#kernel id=1 name=k grid=2,2,2 block=40,1,1\n0 7 40 R 0x0 4\n'
	refuses "bad.trace:1: 'grid=2': expected grid=x,y,z" '#kernel grid=2\n'
	refuses "bad.trace:1: 'grid=2,0,1': expected grid=x,y,z" '#kernel grid=2,0,1\n'
	refuses "bad.trace:1: 'id=1,': expected id=a number, and a blank before what follows" '#kernel id=1, name=k\n'
	refuses "bad.trace:1: 'colour=red': expected id=" '#kernel colour=red\n'
	refuses "bad.trace:1: a block of 1024x2x1: expected 1 to 1024 in all" '#kernel block=1024,2,1\n'
	refuses "bad.trace:1: a grid of 4294967295x4294967295x4294967295" '#kernel grid=4294967295,4294967295,4294967295\n'
	refuses "bad.trace:2: expected text, found a 0 byte" '0 0 0 R 0x0 4\n0 0 0 R\0000x0 4\n'
	{ echo '0 0 0 R 0x0 4'; head -c 1100000 /dev/zero | tr '\0' ' '; } >long
	expect_failure 1 "long:2: expected a line of at most 1048576 bytes" gtrace-order long
}

@test "trc: bad lines are reported by file and line" {
	refuses "bad.trace:1: expected 'blocksize: X Y Z'" 'blocksize: 32 1\n'
	refuses "bad.trace:1: expected 'blocksize: X Y Z'" '0 0 0 4\n' --format trc
	refuses "bad.trace:1: a block of 1024x1024x1" 'blocksize: 1024 1024 1\n'
	refuses "bad.trace:2: expected 'THREAD 0|1 ADDRESS BYTES'" 'blocksize: 32 1 1\n0 2 0 4\n'
	refuses "bad.trace:2: expected 'THREAD 0|1 ADDRESS BYTES'" 'blocksize: 32 1 1\n0 0 18446744073709551616 4\n'
	refuses "bad.trace:2: block 4294967296: expected less than 2^32" 'blocksize: 1 1 1\n4294967296 0 0 4\n'
}

@test "too many accesses with one number are an error, and take no memory" {
	awk 'BEGIN { for (i = 0; i < 1025; i++) print 0, 0, 0, "R", i }' >trace
	expect_failure 1 "warp 0 of block 0 has more than 1024 warp accesses numbered 0" gtrace-order trace
	head -n 1024 trace | gtrace-order | rows | wc -l | diff - <(echo 1024)
}

@test "streams: records other than rows pass, requests are refused" {
	printf '#gtrace\t1\n#gpu\tsms=4\n#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n0\t0\t1\t0x0\tload.global\t4\t0x1\t0x80\t0\t-\t1\n0\t0\t0\t0x0\tload.global\t4\t0x1\t0x0\t0\t-\t1\n#count\tstage=l1\tkernel=1\treads=5\n#end\n' >text
	gtrace-cat --from text | gtrace-order | gtrace-order | gtrace-cat >found
	[ "$(grep -c '^#count.stage=order' found)" -eq 1 ]
	grep -qP '^#count\tstage=l1\tkernel=1\treads=5' found
	grep -q '^#gpu' found
	[ "$(grep -c '^#history.gtrace-order' found)" -eq 2 ]
	grep -v '^#' found | cut -f3 | diff - <(printf '0\n1\n')
	gtrace-cat --from text | gcoalesce >requests
	expect_failure 1 "expected accesses, found requests" gtrace-order requests
	gtrace-cat --from text >stream
	head -c 100 stream >cut
	expect_failure 1 "cut" gtrace-order cut
}

@test "scheduled accesses keep their SM" {
	printf '0 0 0 R 0x0\n0 1 0 R 0x80\n' | gtrace-order | gtrace-cat |
		awk -F'\t' -v OFS='\t' '/^#block/ { $(NF + 1) = "step"; $(NF + 1) = "sm" } !/^#/ { $(NF + 1) = 5; $(NF + 1) = $1 + 6 } 1' |
		gtrace-order | gtrace-cat >found
	grep -v '^#' found | head -n 1 | grep -qP '\t6(\t|$)'
	grep -v '^#' found | tail -n 1 | grep -qP '\t7(\t|$)'
	grep '^#block' found | grep -qP '\tstep\tsm'
}

@test "input that is not a trace, not a file, or empty" {
	refuses "bad.trace: no known format; its first line is 'hello world'" 'hello world\n'
	refuses "its first line is 'hello world' (gtrace-order --help lists the formats, --format-regex describes others)" 'hello world\n'
	for line in '==PROF== Connected to process 7' '"ID","Process ID","Kernel Name","Metric Name"' kernel,metric,value kernel,stage,counter,value; do
		refuses "bad.trace: expected a trace, found a table of counters (gstats --reference reads it)" "$line\n"
	done
	refuses "bad.trace: empty: expected a trace" ''
	expect_failure 1 "nowhere: No such file" gtrace-order nowhere
	expect_failure 1 "Is a directory" gtrace-order --format rdgc /
	printf '#kernel id=1 name=k\n' | gtrace-order | gtrace-cat | grep -q 'accesses=0'
}

@test "a byte-order mark before UTF-8 is passed over, in compressed files too, and in lists" {
	printf '\xef\xbb\xbf' >marked
	shuffled | head -n 500 >trace
	cat trace >>marked
	gtrace-order trace | rows >expected
	gtrace-order marked | rows | cmp - expected
	gtrace-order <marked | rows | cmp - expected
	bzip2 -c marked >marked.bz2
	gtrace-order marked.bz2 | rows | cmp - expected
	xz -c marked | gtrace-order | rows | cmp - expected
	printf '\xef\xbb\xbf' >short
	expect_failure 1 "short: empty: expected a trace" gtrace-order short
}

@test "a tar archive is named, compressed or not" {
	printf '0 0 0 R 0x0\n' >kernel-1.traceg
	for options in cf cJf cjf; do
		tar $options archive kernel-1.traceg
		expect_failure 1 "archive: a tar archive: unpack it" gtrace-order archive
		expect_failure 1 "standard input: a tar archive: unpack it" gtrace-order --format rdgc <archive
	done
}

@test "wrong usage, found before anything is read" {
	expect_failure 2 "--format 'excel': expected one of" gtrace-order --format excel nowhere
	expect_failure 2 "--by 'warp': expected block or an" gtrace-order --by warp nowhere
	expect_failure 2 "-S: '1': expected a size in whole bytes from 64K" gtrace-order -S 1 nowhere
	expect_failure 2 "-S: 'lots': expected a size" gtrace-order -S lots nowhere
}

@test "output and temporary files that cannot be written" {
	shuffled >trace
	expect_failure 1 "No space left on device" bash -c 'gtrace-order trace >/dev/full'
	expect_failure 1 "nowhere: cannot make a temporary file" env TMPDIR=nowhere gtrace-order -S 64K trace
	expect_failure 1 "cannot write a temporary file" bash -c 'trap "" XFSZ; ulimit -f 100; gtrace-order -S 64K -T . trace | cat >/dev/null; exit "${PIPESTATUS[0]}"'
}

@test "-v prints the progress of each input" {
	shuffled >trace
	gtrace-order -v trace 2>err >stream
	grep -qE '^gtrace-order: 60000 rows, [0-9.]+ M rows/s \[#{20}\]$' err
	gtrace-order -v <stream 2>err >/dev/null
	grep -qE '^gtrace-order: [0-9]+ rows, ' err
}

@test "the manual's examples run" { run_man_examples gtrace-order.1; }

@test "resources that no GPU has are taken as unknown, with one warning that names the options" {
	{
		echo '#kernel id=1 name=a grid=1,1,1 block=32,1,1 registers=21955 shared=1'
		echo '0 0 0 R 0x1000 4'
		echo '#kernel id=2 name=b grid=1,1,1 block=32,1,1 registers=255 shared=4000000000'
		echo '0 0 0 R 0x1000 4'
	} >"$BATS_TEST_TMPDIR/odd.rdgc"
	cd "$BATS_TEST_TMPDIR"
	gtrace-order odd.rdgc 2>errors | gschedule --gpu titanv | gtrace-cat --no-rows >text
	diff errors - <<-'END'
		gtrace-order: warning: passed over: impossible register counts, 1 (--registers sets it)
		gtrace-order: warning: passed over: impossible shared memory, 1 (--shared sets it)
	END
	grep -q $'^#kernel\tid=1\t.*registers=0\tshared_bytes=1\t' text
	grep -q $'^#kernel\tid=2\t.*registers=255\tshared_bytes=0\t' text
	gtrace-order --registers 40 --shared 2K odd.rdgc 2>errors | gtrace-cat --no-rows | grep '^#kernel' >text
	[ ! -s errors ]
	[ "$(grep -c $'registers=40\tshared_bytes=2048' text)" -eq 2 ]
	expect_failure 2 "--registers" gtrace-order --registers 256 odd.rdgc
	expect_failure 2 "--shared" gtrace-order --shared 1M odd.rdgc
}
