# SPDX-License-Identifier: MIT
# Tools in several threads: the same bytes, the same errors. tests/long/threads.bats runs this under ThreadSanitizer.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# random ROWS SEED: accesses of three kernels, of all kinds, which make between no and 32 requests each. JOBS_FEWER divides the
# rows, for a sanitizer.
random() {
	awk -v rows="$(($1 / ${JOBS_FEWER:-1}))" -v seed="$2" 'BEGIN {
		srand(seed)
		split("load.global load.global load.global store.global atomic.global load.shared load.texture.cg store.local", ops, " ")
		for (kernel = 1; kernel <= 3; kernel++) {
			printf "#kernel\tid=%d\tname=k%d\tgrid=40,1,1\tblock=256,1,1\n", kernel, kernel
			if (kernel < 3)
				printf "#count\tstage=shared\tkernel=%d\taddresses=[8192,139264]\tbytes=[131072,%d]\tnames=%s\n", kernel, 131072 / kernel, kernel == 1 ? "a,b" : "b,c"
			print "#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes"
			for (i = 0; i < rows / kernel; i++) {
				op = ops[1 + int(rand() * 8)]
				size = 2 ^ int(rand() * 5)
				base = 4096 + 128 * int(rand() * 3000)
				printf "%d\t%d\t%d\t%d\t%s\t%d\t", rand() * 40, rand() * 8, i, 16 * int(rand() * 30), op, size
				if (rand() < 0.2)
					printf "0x7\t-\t-\t0x%x,0x%x,0x%x\n", base, base + 512 * int(rand() * 4), base + 128 * int(rand() * 9)
				else
					printf "0x%s\t0x%x\t%d\t-\n", rand() < 0.7 ? "ffffffff" : "ffff", base, size * (rand() < 0.7 ? 1 : int(rand() * 70))
			}
		}
	}' | gtrace-cat --from
}

# same COMMAND...: writes the same with any number of threads, and fails in the same way. THREADS: these numbers of them; 0 is one for
# each processor.
same() {
	local jobs status=0 expected=0
	"$@" >expected 2>expected.err || expected=$?
	for jobs in ${THREADS:-3 ${WHOLE:+2 8}}; do
		status=0
		"$1" -j "$jobs" "${@:2}" >found 2>found.err || status=$?
		[ "$status" -eq "$expected" ] || { echo "$*: -j $jobs: status $status, not $expected"; cat found.err; return 1; }
		cmp found expected || { echo "$*: -j $jobs"; return 1; }
		[ "$(<found.err)" = "$(<expected.err)" ] || { echo "$*: -j $jobs"; diff found.err expected.err; return 1; }
	done
}

# damaged STREAM OFFSET: one byte of it differs.
damaged() {
	python3 - "$@" <<-'END'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		data[int(len(data) * float(sys.argv[2]))] ^= 0x55
		sys.stdout.buffer.write(data)
	END
}

@test "gcoalesce: the same bytes for accesses of all kinds" {
	random 60000 1 >accesses
	for options in "" "--rule pascal" "--rule fermi" "--banks 16x4"; do
		# shellcheck disable=SC2086 # options are words
		same gcoalesce $options accesses
	done
	gcoalesce -j 3 accesses | gtrace-cat --check
	gcoalesce -j 3 accesses | gtrace-cat | grep -q 'c.bank_passes='
	gcoalesce <accesses >expected
	cat accesses | gcoalesce -j 3 | cmp - expected
}

@test "gcoalesce: the same bytes where it changes nothing, or a part" {
	random 20000 2 >accesses
	gcoalesce accesses >requests
	same gcoalesce requests
	# batches of accesses and of requests in one kernel, in turns
	gtrace-cat accesses | sed "1d;12000q" >accesses.tsv
	gtrace-cat requests | sed "1d;12000q" >requests.tsv
	{
		sed -n 1,6000p accesses.tsv
		grep -m 1 '^#block' requests.tsv
		grep -v '^#' requests.tsv | sed -n 1,7000p
		grep -m 1 '^#block' accesses.tsv
		sed -n 6001,9000p accesses.tsv
	} | gtrace-cat --from >mixed
	same gcoalesce mixed
	random 3 3 >small
	same gcoalesce small
}

@test "gcoalesce: a damaged or cut stream is the same error, after the same rows" {
	random 60000 4 >accesses
	few 2 0.01 0.2 0.35 0.5 0.77 0.9
	for at in "${FEW[@]}"; do
		damaged accesses "$at" >bad
		same gcoalesce bad
		grep -q . expected.err
	done
	head -c 700000 accesses >cut
	same gcoalesce cut
	grep -q 'the input ends inside it' expected.err
}

@test "a closed pipe stays quiet, a full disk is one line" {
	random 60000 5 >accesses
	gcoalesce -j 3 accesses 2>err | head -c 1000 >/dev/null
	[ ! -s err ]
	(trap '' PIPE; gcoalesce -j 3 accesses 2>err | head -c 1000 >/dev/null)
	[ ! -s err ]
	status=0
	gcoalesce -j 3 accesses >/dev/full 2>err || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = "gcoalesce: standard output: No space left on device" ]
}

@test "the history does not name the number of threads, however it is given" {
	random 2000 6 >accesses
	gcoalesce --rule fermi accesses >expected
	for options in "-j 2 --rule fermi" "-vj2 --rule fermi" "--rule fermi --jobs=2" "--rule fermi --jobs 2 --jobs 3" "--rule fermi -j0"; do
		# shellcheck disable=SC2086 # options are words
		gcoalesce $options accesses 2>/dev/null | cmp - expected
	done
	gcoalesce accesses --rule fermi >expected
	gcoalesce accesses -j 2 --rule fermi | cmp - expected
}

@test "a number of threads that cannot be is refused" {
	for jobs in -1 257 x 2x ''; do
		expect_failure 2 "--jobs: '$jobs': expected a whole number from 0 to 256" gcoalesce -j "$jobs" /dev/null
	done
	expect_failure 2 "--degree runs in one thread" gcoalesce -j 2 --degree /dev/null
}

@test "grd: the same bytes, the stacks divided among threads" {
	random 60000 17 >accesses
	gcoalesce accesses | gschedule --sm 7 >scheduled
	gschedule --sm 7 accesses >uncoalesced
	while read -r options; do
		# shellcheck disable=SC2086 # options are words
		same grd $options scheduled
	done < <(few_lines 4 <<-'END'
		--name reuse
		--csdd --per warp
		--profile --total --flush never --granularity sector
		--curve --bound 64
		--curve-sets 8,64
		--mru 4 --per sm,set:512
		--sdcm 16K,4,128 --count
	END
	)
	same grd --granularity address uncoalesced
	grd -j 3 scheduled | gtrace-cat --check
	few 2 0.2 0.6 0.95
	for at in "${FEW[@]}"; do
		damaged scheduled "$at" >bad
		same grd bad
		grep -q . expected.err
	done
	for option in "--by pc" "--sample 0.5" "--sample-lines 100" "--classes 2,4 --per set:8" "--sharing sm:64" --distances; do
		# shellcheck disable=SC2086 # options are words
		expect_failure 2 "--sharing and --distances run in one thread" grd -j 2 $option scheduled
	done
}

@test "gcache: the same bytes of private levels, divided among threads" {
	random 40000 7 | gcoalesce | gschedule --sm 7 >scheduled
	while read -r options; do
		# shellcheck disable=SC2086 # options are words
		same gcache $options scheduled
	done < <(few_lines 6 <<-'END'
		--l1
		--l1 --size 4K --ways 4
		--l1 --size 4K --ways 4 --index hash --line 64
		--l1 --size 4K --emit all
		--l1 --size 4K --emit none
		--l1 --size 8K --emit latency --hit-cycles 30 --miss-cycles 200
		--l1 --size 4K --write back --flush kernel
		--l1 --size 4K --write back --partial fetch --fetch 64
		--l1 --size 4K --flush between --write back
		--l1 --size 4K --replace random:3 --ways 8
		--l1 --size 2K --replace weighted:1/6,1/2,1/6,1/6 --ways 4
		--l1 --size 4K --replace lfu --bypass writes
		--l1 --size 32K --ways full
		--tlb l1 --size 64K --line 4K --private
	END
	)
	gcache --l1 --size 4K --write back --flush kernel -j 3 scheduled | gtrace-cat --check
}

@test "gcache: the same bytes of shared levels, divided by set among threads" {
	random 20000 10 | gcoalesce | gschedule --sm 7 | gcache --l1 --size 4K >first
	# Memory was copied; the second kernel has hints in some of its batches, the third a window.
	gtrace-cat first | awk -F '\t' -v OFS='\t' '
		/^#kernel/ { kernel++; rows = 0 }
		/^#kernel/ && kernel == 3 { $0 = $0 "\tl2_window=0x1000,65536,250000,persisting,streaming" }
		/^#count/ { sub(/stage=shared/, "stage=copies") }
		/^#block/ { $NF = "hint\t" $NF }
		/^[0-9]/ { $NF = (kernel == 2 && ++rows % 9000 > 8000 && rows % 5 == 0 && /load/ ? "L2::evict_last,L2::256B" : "none") "\t" $NF }
		1' | gtrace-cat --from >hinted
	while read -r options; do
		# shellcheck disable=SC2086 # options are words
		same gcache $options first
		# shellcheck disable=SC2086
		same gcache $options hinted
	done < <(few_lines 5 <<-'END'
		--l2 --size 64K
		--l2 --size 16K --ways 3 --emit all
		--l2 --size 16K --write through --index mod
		--l2 --size 64K --launch-reads 512,13,416
		--l2 --size 64K --fetch 64 --interleave hash --flush kernel
		--l2 --size 64K --line 256 --flush between
		--l2 --size 16K --replace srrip --dirty-ways 2
		--l2 --size 16K --replace plru --ways 4 --emit latency --hit-cycles 30 --miss-cycles 200
		--l2 --size 64K --warm copies
		--tlb l2 --size 64K --line 4K --ways 4 --shared
	END
	)
	gcache --l2 --size 16K --flush kernel -j 3 hinted | gtrace-cat --check
}

@test "gcache: the same bytes of levels that are not divided" {
	random 20000 8 | gcoalesce | gschedule --sm 7 >scheduled
	gcache --l1 --size 4K scheduled >first
	while read -r options; do
		# shellcheck disable=SC2086 # options are words
		same gcache $options
	done < <(few_lines 5 <<-'END'
		--l2 --size 64K --arrival rr --fetch 64 --interleave hash first
		--l2 --size 64K --ways full first
		--l2 --size 64K --line 64 first
		--l2 --size 64K --replace lfu first
		--l2 --size 64K --replace random:3 first
		--l2 --size 64K --by pc first
		--l1 --size 4K --by pc scheduled
		--l1 --size 4K --replace opt scheduled
		--l1 --size 4K --mshr 1x4 --latency fixed:100 scheduled
		--l1 --size 4K --mshr 1x4 --on-full requeue --latency half-normal:100,5,1 --issue gto scheduled
		--tlb l1 --size 64K --line 4K --shared scheduled
	END
	)
}

@test "gcache: the same bytes of accesses, of rows without a schedule, and from one level to the next" {
	random $((${#WHOLE} > 0 ? 20000 : 6000)) 9 >accesses
	same gcache --l1 --size 4K accesses
	gschedule --sm 5 accesses >scheduled
	same gcache --l1 --size 4K scheduled
	gcache --l1 --size 4K --emit latency --hit-cycles 30 --miss-cycles 200 scheduled >first
	same gcache --l2 --size 64K --emit latency --hit-cycles 30 --miss-cycles 200 first
	same gcache --l1 --size 16K --emit latency --hit-cycles 30 --miss-cycles 200 first
	[ -z "${WHOLE:-}" ] || same gcache --l1 --size 2G --line 128 scheduled
	damaged scheduled 0.6 >bad
	same gcache --l1 --size 4K bad
	gcoalesce -j 2 accesses | gschedule --sm 5 | gcache --l1 -j 2 | gcache --l2 -j 2 | gstats >found
	gcoalesce accesses | gschedule --sm 5 | gcache --l1 | gcache --l2 | gstats | diff - found
}

# blocks FIRST LAST VERSION [LINES]: an Accel-Sim trace of a launch of these blocks, whose text is longer than what one thread takes.
blocks() {
	awk -v first="$1" -v last="$2" -v version="$3" -v lines="${4:-$((400 / ${JOBS_FEWER:-1}))}" 'BEGIN {
		printf "-kernel name = k%d\n-kernel id = %d\n-grid dim = (64,1,1)\n-block dim = (96,1,1)\n", version, first + 1
		printf "-accelsim tracer version = %d\n-enable lineinfo = %d\n\n", version, version == 5
		for (block = first; block <= last; block++) {
			printf "#BEGIN_TB\n\nthread block = %d,0,0\n\n", block
			for (warp = 0; warp < 3; warp++) {
				printf "warp = %d\ninsts = %d\n", warp, lines
				for (i = 0; i < lines; i++) {
					if (version == 5)
						printf "%d ", i % 7
					pc = i % 5 * 16
					if (pc == 0)
						printf "0000 ffffffff 1 R2 IMAD 2 R3 R4 0\n"
					else if (pc == 16)
						printf "0010 0000ffff 1 R4 LDG.E 1 R2 4 2 0x7f3a400%05x 4 4 4 8 8 -4 0 0 4 4 4 4 4 4 128\n", (block * 997 + i * 64) % 65536
					else
						printf "%04x ffffffff 1 R4 LDG.E 1 R2 4 1 0x00007f3a400%05x 4\n", pc, (block * 997 + i * 64) % 65536
				}
			}
			print "\n#END_TB\n"
		}
	}'
}

@test "gtrace-order: the same bytes of an Accel-Sim trace whose blocks several threads read" {
	blocks 0 29 3 >some.traceg
	[ "$(wc -c <some.traceg)" -gt $((1500000 / ${JOBS_FEWER:-1})) ]
	same gtrace-order some.traceg
	[ "$(grep -vc 'blocks of the grid that the trace lacks: 34 of 64' expected.err)" -eq 0 ]
	same gtrace-order --by an some.traceg
	same gtrace-order --work some.traceg
	same gtrace-order -S 64K some.traceg
	blocks 0 29 5 >lines.traceg
	same gtrace-order --source k.cu lines.traceg
	same gtrace-order --work lines.traceg
	# other launches behind it, long and short, and the same blocks again
	{ blocks 5 9 4; blocks 0 19 3; blocks 20 22 5; blocks 1 9 6; blocks 0 2 3 5; cat some.traceg; } >several.traceg
	same gtrace-order several.traceg
	gtrace-order -j 3 several.traceg | gtrace-cat --check
	gtrace-order several.traceg >expected
	gtrace-order -j 2 <several.traceg | gtrace-cat | grep -v '^#history' >found
	gtrace-cat expected | grep -v '^#history' | diff -q - found
	gzip -k several.traceg
	same gtrace-order several.traceg.gz
	tr '\n' '\r' <some.traceg | sed 's/\r/\r\n/g' >returns.traceg
	same gtrace-order returns.traceg
}

# same_errors some.NAME LINE TEXT...: each TEXT in the place of the line is the same error, with its number.
same_errors() {
	local file=wrong.${1#some.} from=$1 line=$2 wrong
	shift 2
	for wrong; do
		sed "${line}s/.*/$wrong/" "$from" >"$file"
		same gtrace-order "$file"
		grep -q "$file:$line: " expected.err
	done
}

# same_if_cut FILE: the half of it, compressed, is the same error.
same_if_cut() {
	gzip -k "$1"
	head -c $(($(wc -c <"$1.gz") / 2)) "$1.gz" >"cut.${1#some.}.gz"
	same gtrace-order "cut.${1#some.}.gz"
	grep -q 'gzip -dc failed' expected.err
}

@test "gtrace-order: an error in a block is the same one, with its line" {
	blocks 0 19 3 >some.traceg
	lines=$(wc -l <some.traceg)
	for line in 30 $((lines / 3)) $((lines - 20)); do
		few 2 '0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x10' '#BEGIN_TB' '-nregs = 4' 'thread block = 64,0,0' 'x' '0010 ffffffff 0 FADD 0 4 1 0x10 4'
		same_errors some.traceg "$line" "${FEW[@]}"
		sed "${line}s/.*/\x00/" some.traceg >wrong.traceg
		same gtrace-order wrong.traceg
		head -n "$line" some.traceg >wrong.traceg
		same gtrace-order wrong.traceg
	done
	same_if_cut some.traceg
	# two launches of one id: the second gets another
	{ blocks 0 19 3; blocks 0 3 4; } >twice.traceg
	same gtrace-order twice.traceg
	[ "$(gtrace-order --quiet twice.traceg | gtrace-cat --no-rows | grep -c '^#kernel')" -eq 2 ]
}

# records FROM TO: the output of NVBit's mem_trace for launches from FROM to TO, of blocks whose warps come in turns; some rows list
# addresses, have few lanes or none, or are the halves of an LDGSTS. The program prints between them, and the first launch goes on
# behind the last.
records() {
	awk -v from="$1" -v to="$2" -v lines="$((1600 / ${JOBS_FEWER:-1}))" 'BEGIN {
		context = "MEMTRACE: CTX 0x0000000000abc000 - "
		for (launch = from; launch <= to; launch++) {
			print "MEMTRACE: STARTING CONTEXT 0xabc000"
			printf "%sLAUNCH - Kernel pc 0x00007f0000000200 - Kernel name k%d(a - b) - grid launch id %d - grid size 4,3,1 - block size 100,1,1 - nregs 32 - shmem 0 - cuda stream id 0\n", context, launch, launch
			for (i = 0; i < lines; i++) {
				warp = i % 4
				op = i % 11 == 3 ? "LDGSTS.E" : i % 3 ? "LDG.E.64" : "STG.E"
				printf "%sgrid_launch_id %d - CTA %d,%d,0 - warp %d - %s - ", context, (i > lines - 9 ? from : launch) - 1, i % 7 % 4, i % 3, warp + 4 * (i % 7 % 2), op
				for (lane = 0; lane < 32; lane++) {
					idle = (warp == 3 && lane >= 4) || (i % 17 == 5 && lane % 2) || i % 101 == 7
					printf idle ? "0x0000000000000000 " : "0x00007f3a4%07x ", i % 6 == 1 ? (lane * lane * 4 + i) % 65536 : (i * 64 + lane * 4) % 65536
				}
				print ""
				if (i % 50 == 9)
					print "the program says something of its own"
			}
		}
	}'
}

@test "gtrace-order: the same bytes of an NVBit trace of which several threads read the lines" {
	records 1 3 >some.nvbit
	[ "$(wc -c <some.nvbit)" -gt $((3000000 / ${JOBS_FEWER:-1})) ]
	same gtrace-order some.nvbit
	grep -q 'accesses without an active lane' expected.err
	gtrace-cat --no-rows expected | grep -q 'k3(a - b)'
	same gtrace-order --by an some.nvbit
	same gtrace-order -S 64K some.nvbit
	same gtrace-order --kernel 'k[13]' some.nvbit
	{ records 1 1; yes 'the program says much' | head -n 40000; records 2 2; } >talks.nvbit
	same gtrace-order talks.nvbit
	gzip -k some.nvbit
	same gtrace-order some.nvbit.gz
	gtrace-order some.nvbit 2>/dev/null | gtrace-cat | grep -v '^#history' >expected
	gtrace-order -j 2 <some.nvbit 2>/dev/null | gtrace-cat | grep -v '^#history' | diff -q - expected
	tr '\n' '\r' <some.nvbit | sed 's/\r/\r\n/g' >returns.nvbit
	same gtrace-order returns.nvbit
}

@test "gtrace-order: an error in a line of NVBit is the same one, with its line" {
	records 1 2 >some.nvbit
	lines=$(wc -l <some.nvbit)
	record='MEMTRACE: CTX 0x0000000000abc000 - grid_launch_id 0 - CTA'
	for line in 30 $((lines / 3)) $((lines - 20)); do
		few 2 "x$record 0,0,0" "$record 4,0,0" "$record 0,0" "$record 0,0,0 - warp 1 - FADD - 0x10" \
			"$record 0,0,0 - warp 1 - LDG.E - 0x10" "${record/ 0 / 77 } 0,0,0" 'MEMTRACE: x' "${record/grid*/LAUNCH - k}"
		same_errors some.nvbit "$line" "${FEW[@]}"
		sed "${line}s/.*/\x00/" some.nvbit >wrong.nvbit
		same gtrace-order wrong.nvbit
		grep -q "wrong.nvbit:$line: expected text, found a 0 byte" expected.err
		head -n "$line" some.nvbit | head -c -200 >wrong.nvbit
		same gtrace-order wrong.nvbit
	done
	# no newline: the same in little memory
	{ records 1 1; head -c 3000000 /dev/zero | tr '\0' x; } >long.nvbit
	same gtrace-order long.nvbit
	grep -q "long.nvbit:[0-9]*: expected a line of at most 1048576 bytes" expected.err
	same_if_cut some.nvbit
	# nothing but what a program says
	seq 100000 >none.nvbit
	same gtrace-order --format nvbit none.nvbit
	grep -q 'none.nvbit:100000: expected a line' expected.err
}

# halves BLOCKS TIMES: rows of two launches, and of one with few rows between them, whose blocks come last first. Of each warp
# access the halves come as two rows, some with listed addresses; one of block 3 comes so many times.
halves() {
	awk -v blocks="$1" -v times="$2" 'BEGIN {
		for (kernel = 1; kernel <= 3; kernel++) {
			printf "#kernel\tid=%d\tname=k%d\tgrid=%d,1,1\tblock=128,1,1\n", kernel, kernel, blocks
			print "#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes"
			for (block = kernel == 2 ? 0 : blocks - 1; block >= 0; block--)
				for (warp = 0; warp < 4; warp++)
					for (an = 0; an < 40 + block % 7; an++)
						for (half = 0; half < 2; half++)
							for (n = block == 3 && warp == 1 && an == 9 ? times : 1; n > 0; n--) {
								printf "%d\t%d\t%d\t0x10\tload.global\t4\t", block, warp, an
								if (an % 5 == 0 && half)
									printf "0x70000\t-\t-\t0x%x,0x%x,0x10\n", an * 64, block
								else
									printf "0x%s\t0x%x\t4\t-\n", half ? "ffff0000" : "ffff", 65536 * block + an * 128 + half * 64 * (an % 3)
							}
		}
	}' | gtrace-cat --from
}

@test "gtrace-order: the same bytes of rows that several threads put in order, fold and write" {
	halves 40 1 >rows
	same gtrace-order rows
	[ "$(gtrace-cat --no-rows expected | grep -o 'accesses=[0-9]*' | head -n 1 | tr -dc 0-9)" -gt 4096 ]
	same gtrace-order --by an rows
	same gtrace-order --kernel 'k[23]' rows
	same gtrace-order -S 64K rows
	gtrace-order rows >ordered
	same gtrace-order ordered
	# blocks that alternate from row to row
	random 60000 23 >scattered
	same gtrace-order scattered
	same gtrace-order --by an scattered
	halves 40 1100 >rows
	same gtrace-order rows
	grep -q 'warp 1 of block 3 has more than 1024 warp accesses numbered 9$' expected.err
	expect_failure 1 "standard output: No space left" sh -c 'gtrace-order -j 3 ordered >/dev/full'
}

# files FOLDER BLOCKS: a folder of .mem files, of a launch of so many blocks of four warps, some of them compressed.
files() {
	mkdir -p "$1/memory_traces"
	printf 'app_kernels_id = [1]\nkernel_1 = {"kernel_name": "k", "num_registers": 32, "shared_mem_bytes": 0, "grid_size": %d, "block_size": 128}\n' "$2" |
		tr '"' "'" >"$1/app_config.py"
	awk -v folder="$1/memory_traces" -v blocks="$2" 'BEGIN {
		for (block = 0; block < blocks; block++) {
			file = sprintf("%s/kernel_1_block_%d.mem", folder, block)
			for (i = 0; i < 300 + block * 7 % 90; i++)
				printf "=====\n%s %d 0x7f3a4000%04x 0x7f3a4000%04x 0x7f3a4001%04x\n", i % 5 ? "LDG.E" : "STG.E.64", i % 4, \
					i * 32 % 65536, i * 36 % 65536, i * block % 65536 >file
			close(file)
		}
	}'
	xz "$1/memory_traces/kernel_1_block_3.mem"
	gzip "$1/memory_traces/kernel_1_block_7.mem"
}

@test "gtrace-order: the same bytes of a folder of .mem files, one thread a file" {
	files app 23
	same gtrace-order app
	[ ! -s expected.err ]
	same gtrace-order --by an -S 64K app/memory_traces
	mv app/app_config.py .
	same gtrace-order app
	mv app_config.py app
	few 2 'LDG.E 1 0xz' 'FADD 1 0x10' 'LDG.E 5000 0x10' 'LDG.E 31 0x10 0x20'
	for wrong in "${FEW[@]}"; do
		cp app/memory_traces/kernel_1_block_11.mem kept
		sed -i "200s/.*/$wrong/" app/memory_traces/kernel_1_block_11.mem
		sed -i '30s/.*/STG.E 1 0x0/' app/memory_traces/kernel_1_block_12.mem
		same gtrace-order app
		mv kept app/memory_traces/kernel_1_block_11.mem
	done
	same gtrace-order app
	grep -q 'accesses without an active lane' expected.err
	head -c 300 app/memory_traces/kernel_1_block_7.mem.gz >cut.gz
	mv cut.gz app/memory_traces/kernel_1_block_7.mem.gz
	same gtrace-order app
	grep -q 'gzip -dc failed' expected.err
	rm app/memory_traces/kernel_1_block_7.mem.gz
	mkdir app/memory_traces/kernel_1_block_7.mem
	same gtrace-order app
	grep -q 'kernel_1_block_7.mem: Is a directory' expected.err
}

@test "gtrace-order: the same bytes of formats that one thread reads" {
	random 3000 10 >accesses
	same gtrace-order accesses
	same gtrace-order "$ROOT/examples/traces/gemm.rdgc.xz"
	expect_failure 2 "--jobs: 'x': expected a whole number from 0 to 256" gtrace-order -j x accesses
}

# kernels [OPTION...]: several kernels of the examples, with what joins blocks (atomics), shared memory, loads by index.
kernels() {
	local ptx="$ROOT/examples/kernels/ptx"
	same gtrace-ptx "$@" --launch 'gemm<<<(4,16),(32,8)>>>(f32[128*128]:ramp, f32[128*128]:rand(1), f32[128*128], 128)' "$ptx/gemm.ptx"
	same gtrace-ptx "$@" --launch 'gemm_tiled<<<(6,6),(16,16),2048>>>(f32[9216]:ramp, f32[9216]:ramp, f32[9216], 96)' "$ptx/gemm_tiled.ptx"
	same gtrace-ptx "$@" --launch 'transpose<<<(8,32),(32,8)>>>(A=f32[65536]:ramp, B=f32[65536], 256, 256)' \
		--launch 'transpose<<<(8,32),(32,8)>>>(B, A, 256, 256)' "$ptx/transpose.ptx"
	same gtrace-ptx "$@" --launch 'reduce<<<40,128>>>(f32[5120]:ramp, f32[1], 5120)' "$ptx/reduce.ptx"
}

@test "gtrace-ptx: the same bytes of blocks that run in several threads" {
	few 3 "--space global,shared --work" "--blocks 5" "--blocks 5 --skip-untraced" --unordered "-S 1M" "--check list" ""
	for options in "${FEW[@]}"; do
		# shellcheck disable=SC2086 # options are words
		kernels $options
	done
	# the results, too
	local launch='gemm<<<(4,16),(32,8)>>>(f32[128*128]:ramp, f32[128*128]:rand(1), C=f32[128*128], 128)'
	gtrace-ptx --launch "$launch" --dump C=one "$ROOT/examples/kernels/ptx/gemm.ptx" >/dev/null
	gtrace-ptx -j 3 --launch "$launch" --dump C=three "$ROOT/examples/kernels/ptx/gemm.ptx" >/dev/null
	cmp one three
	[ "$(od -An -v -tf4 one | tr -s ' ' '\n' | grep -c '[1-9]')" -gt 16000 ]
}

@test "gtrace-ptx: accesses without a stride, and hints, of some blocks" {
	cat >mixed.ptx <<-'END'
		.version 7.4
		.target sm_80
		.address_size 64
		.entry mixed(.param .u64 p, .param .u64 q) {
			.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
			ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
			mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
			mad.lo.u32 %r3, %r2, 64, %r1;
			mul.lo.u32 %r4, %r3, %r3; and.b32 %r4, %r4, 4095;
			mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd1, %rd3;
			ld.global.u32 %r5, [%rd3];
			and.b32 %r6, %r2, 4; setp.ne.u32 %p1, %r6, 0;
			@%p1 ld.global.cg.u32 %r7, [%rd3+4];
			mul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, %rd2, %rd4;
			st.global.u32 [%rd4], %r5;
			ret;
		}
	END
	same gtrace-ptx --launch 'mixed<<<100,64>>>(u32[4097]:ramp, u32[6400])' mixed.ptx
	same gtrace-ptx -S 1M --space global,shared --launch 'mixed<<<100,64>>>(u32[4097]:ramp, u32[6400])' mixed.ptx
	gtrace-cat expected | grep -q '	0x[0-9a-f]*,0x'
	gtrace-cat expected | grep -q 'load.global.cg'
}

@test "gtrace-ptx: groups of blocks with many rows, in several threads" {
	local ptx="$ROOT/examples/kernels/ptx" wide=2048
	[ -z "${JOBS_FEWER:-}" ] || wide=256
	local launch="matvec<<<3,256>>>(f32[768*$wide]:ramp, f32[$wide]:rand(2), f32[768], 768, $wide)"
	same gtrace-ptx --launch "$launch" --launch 'matvec<<<400,32>>>(f32[12800], f32[1], f32[12800], 12800, 1)' "$ptx/matvec.ptx"
	gtrace-cat --check expected
	# more than memory is for
	same gtrace-ptx -S 1M --launch "$launch" "$ptx/matvec.ptx"
	for jobs in 1 3; do
		expect_failure 1 "/nowhere: cannot make a temporary file: No such file or directory" \
			env TMPDIR=/nowhere gtrace-ptx -j "$jobs" -S 1M --launch "$launch" "$ptx/matvec.ptx"
	done
	gtrace-ptx -j 3 --launch "$launch" "$ptx/matvec.ptx" 2>err | head -c 1000 >/dev/null
	[ ! -s err ]
	expect_failure 1 "standard output: No space left on device" \
		sh -c 'gtrace-ptx -j 3 --launch "$1" "$2" >/dev/full' - "$launch" "$ptx/matvec.ptx"
}

@test "gtrace-ptx: an access outside in a block is the same error, or as often told of, after the same rows" {
	local ptx="$ROOT/examples/kernels/ptx/vectoradd.ptx"
	few 2 1 100 3000 4095
	for n in "${FEW[@]}"; do
		same gtrace-ptx --check fault --launch "vectoradd<<<64,64>>>(f32[4096], f32[4096], f32[$n], 4096)" "$ptx"
		grep -q "PTX line .* block ($((n / 64)),0,0)" expected.err
		for check in page list; do
			same gtrace-ptx --check $check --launch "vectoradd<<<64,64>>>(f32[4096], f32[4096], f32[$n], 4096)" "$ptx"
			grep -q ": $((4096 - n)) thread accesses .* a store at $(printf 0x2%011x $((0x8400 + 4 * n)))" expected.err
		done
	done
	printf '.version 6.3\n.target sm_75\n.address_size 64\n.entry some(.param .u64 p) { .reg .b32 %%r<3>; .reg .pred %%q;\nmov.u32 %%r1, %%ctaid.x; setp.eq.u32 %%q, %%r1, 21;\n@%%q bar.sync 0, 96;\nret; }\n' >some.ptx
	same gtrace-ptx --launch 'some<<<40,64>>>(u32[4])' some.ptx
	grep -q 'block (21,0,0) waits for ever' expected.err
}

@test "gtrace-ptx: the limit of instructions is that of the launch" {
	for jobs in 1 2 3 8; do
		expect_failure 1 "more than 50000 warp instructions, in block (1,1,0)" gtrace-ptx -j "$jobs" --max-instructions 50000 \
			--launch 'gemm<<<(4,16),(32,8)>>>(f32[128*128], f32[128*128], f32[128*128], 128)' "$ROOT/examples/kernels/ptx/gemm.ptx"
	done
}

@test "gtrace-ptx: a block that waits for another without a sign of it is an error in several threads" {
	cat >waits.ptx <<-'END'
		.version 7.4
		.target sm_80
		.address_size 64
		.entry waits(.param .u64 p) {
			.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %q;
			ld.param.u64 %rd1, [p];
			L: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %q, %r1, 0; @%q bra L;
			ret;
		}
	END
	expect_failure 1 "block (0,0,0) waits for another block; --jobs 1 runs such kernels" \
		gtrace-ptx -j 2 --launch 'waits<<<4,32>>>(u32[1])' waits.ptx
	sed 's/ld.global/ld.volatile.global/' waits.ptx >volatile.ptx
	same gtrace-ptx --launch 'waits<<<4,32>>>(u32[1])' volatile.ptx
	grep -q 'it runs away' expected.err
}

@test "gtrace-record: the same bytes and results with any number of threads" {
	[ -z "${JOBS_FEWER:-}" ] || skip "a program and its libraries cannot be under ThreadSanitizer in part; gtrace-ptx has the same threads"
	gcc -std=c11 -D_POSIX_C_SOURCE=200809L -I"$ROOT/tests/unit" -o program "$ROOT/tests/cudart/program.c" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcudart.so.13" -lm -pthread
	record() { LD_PRELOAD=$PRELOAD gtrace-record "$@"; }
	prepare_preload
	for what in three stray checked; do
		same record ./program "$what"
	done
	expect_failure 2 "--jobs: 'x': expected a whole number from 0 to 256" gtrace-record -j x ./program three
}

@test "gschedule by latency: the same bytes, where SMs take blocks while others run, where rows are in a file, and by each order of warps" {
	local kernels=$ROOT/examples/kernels/ptx arrays='(f32[128*128]:ramp, f32[128*128]:ramp, f32[128*128], 128)'
	gtrace-ptx --work --launch "gemm<<<(4,5),(32,8)>>>$arrays" "$kernels/gemm.ptx" | gcoalesce >requests
	few 3 "--gpu titanv" "--gpu titanv --sm 5 --max-blocks 2 -S 200K" "--gpu h100 --sm 7 --max-blocks 1" "--gpu rtx3070 --dispatch wave --sm 9" \
		"--gpu titanv --only-sm 0-20 --map part:2"
	for options in "${FEW[@]}"; do
		# shellcheck disable=SC2086 # options are words
		same gschedule $options --issue latency requests
	done
	damaged requests 0.9 >broken
	same gschedule --gpu titanv --issue latency broken
	gtrace-ptx --work --space global,shared --launch "gemm_tiled<<<(12,12),(16,16),2048>>>${arrays//128/256}" "$kernels/gemm_tiled.ptx" | gcoalesce >requests
	same gschedule --gpu h100 --issue latency requests
	run gschedule -j 2 --gpu titanv requests
	[ "$status" -eq 2 ]
	[[ "$output" == *"--jobs: --issue rr and gto run in one thread"* ]]
}
