#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The line of progress: on a terminal, by the first stage, erased at the end. And --verbose of gtrace-record.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	awk 'BEGIN { print "#kernel id=7 name=sweep grid=512,1,1 block=1024,1,1"
		for (b = 0; b < 512; b++) for (w = 0; w < 32; w++) for (i = 0; i < 4; i++) printf "%d %d %d R 0x%x 4\n", i, b, 32 * w + i, 4096 * (b + 7 * w) + 40 * i * i }' >trace
	gtrace-order --format rdgc trace >ordered
	python3 - "$BATS_FILE_TMPDIR/terminal" <<-'END'
		import sys
		open(sys.argv[1], "w").write('''#!/usr/bin/env python3
		import os, pty, sys
		pid, terminal = pty.fork()
		if pid == 0:
		    os.execvp("bash", ["bash", "-c", sys.argv[1]])
		try:
		    while data := os.read(terminal, 65536):
		        sys.stdout.buffer.write(data)
		except OSError:
		    pass
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
		'''.replace("\t", ""))
	END
	chmod +x terminal
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	prepare_preload
	needs_terminal
	export TERM=xterm
	ordered=$BATS_FILE_TMPDIR/ordered
	slow='{ sleep 1.3; cat >/dev/null; }' # reads nothing until the line is due
}

# on_terminal COMMAND: its standard streams are a terminal, whose text goes to `screen`, a write after each \r on a line of its own.
on_terminal() {
	local status=0
	"$BATS_FILE_TMPDIR/terminal" "$1" >raw || status=$?
	tr '\r' '\n' <raw | sed 's/\x1b\[K/<erase>/g' | grep -v '^$' >screen || [ $? -eq 1 ]
	return $status
}

@test "the first stage shows a line from the first second on, and erases it" {
	on_terminal "gcoalesce '$ordered' | $slow"
	grep -qE '^<erase>gcoalesce: sweep, launch 7: [0-9]+ %, [0-9]+ k rows, [0-9]+ k rows/s, 0:0[0-9] left$' screen || { cat screen; return 1; }
	[ "$(tail -n 1 screen)" = "<erase>" ]
	[ "$(awk '{ n = length > n ? length : n } END { print n }' screen)" -le $((79 + 7)) ]
	# What stands behind it has none, and a command that ends within a second neither.
	on_terminal "cat '$ordered' | gcoalesce | $slow"
	[ ! -s screen ]
	on_terminal "gcoalesce '$ordered' | gschedule --gpu titanv | $slow"
	run ! grep -q gschedule screen
	on_terminal "gcoalesce '$ordered' >/dev/null"
	[ ! -s screen ]
}

# bats test_tags=whole
@test "no line without a terminal, with --quiet, and on a terminal that cannot erase" {
	on_terminal "gcoalesce --quiet '$ordered' | $slow; gcoalesce '$ordered' 2>err | $slow; TERM=dumb gcoalesce '$ordered' | $slow"
	[ ! -s screen ]
	[ ! -s err ]
	# Text on the same terminal would be mixed with it.
	on_terminal "gtrace-cat --no-rows '$ordered'"
	run ! grep -q 'rows/s' screen
}

# bats test_tags=whole
@test "the line fits into a narrow terminal, and a message stands in a line of its own" {
	on_terminal "stty cols 40; gcoalesce '$ordered' | $slow"
	grep -q '^<erase>gcoalesce: ' screen
	[ "$(awk '{ n = length > n ? length : n } END { print n }' screen)" -le $((39 + 7)) ]
	# The second stage warns while the line is there: it erases it first.
	on_terminal "gcoalesce '$ordered' | { sleep 1.3; gcache --l1; } >/dev/null"
	grep -q '^<erase>gcache: warning: l1 is private' screen || { cat screen; return 1; }
	# The end of the stream is missing: the message comes behind an erased line.
	head -c "$(($(stat -c %s "$ordered") * 9 / 10))" "$ordered" >cut.gt
	run -1 on_terminal "set -o pipefail; gcoalesce cut.gt | $slow"
	grep -q '^<erase>gcoalesce: .*ends inside' <(paste -sd '' screen | sed 's/<erase>/\n<erase>/g') || { cat screen; return 1; }
}

# bats test_tags=cuda,whole
@test "a program: kernel, launch and blocks; what it prints stands alone; --verbose folds its launches" {
	needs_cuda
	cat >program.cu <<-'END'
		#include <cstdio>
		__device__ float a[1 << 16];
		__global__ void wide() { for (int i = 0; i < 16; i++) a[(threadIdx.x * 33 + i * 977 + blockIdx.x) & 0xffff] += 1; }
		__global__ void narrow() { a[threadIdx.x] = 0; }
		int main()
		{
			for (int i = 0; i < 9; i++) {
				wide<<<256, 256>>>();
				narrow<<<1, 32>>>();
				if (i == 4)
					printf("half\n");
			}
			return cudaDeviceSynchronize();
		}
	END
	nvcc -cudart shared -arch=sm_75 -o program program.cu
	on_terminal "LD_PRELOAD=$PRELOAD gtrace-record ./program | $slow"
	grep -qE '^<erase>gtrace-record: wide, launch [0-9]+: [0-9]+ %, [0-9]+ k rows, [0-9]+ k rows/s(, 0:0[0-9] left)?$' screen || { cat screen; return 1; }
	grep -qE '^(<erase>)?half$' screen
	on_terminal "LD_PRELOAD=$PRELOAD gtrace-record -j 2 ./program | $slow" # threads tell of groups of blocks
	grep -qE '^<erase>gtrace-record: wide, launch [0-9]+: [0-9]+ %, [0-9]+ k rows' screen || { cat screen; return 1; }
	on_terminal "LD_PRELOAD=$PRELOAD gtrace-record --quiet ./program | $slow"
	[ "$(<screen)" = half ]
	LD_PRELOAD=$PRELOAD gtrace-record -v ./program 2>said >stream
	[ "$(grep -c '^gtrace-record: launch' said)" -eq 8 ] # 1, 2, 4, 8 of each
	grep -qE '^gtrace-record: launch 1, wide<<<\(256, 1, 1\), \(256, 1, 1\)>>>: [0-9]+ warp instructions, 65536 accesses traced$' said
	grep -qE '^gtrace-record: launch 15, wide<<<.*>>>, launch 8 of this kernel: [0-9]+ warp instructions, 65536 accesses traced$' said
	grep -qE "^gtrace-record: all 9 launches of wide: [0-9]+ warp instructions, $((9 * 65536)) accesses traced\$" said
	# Neither word changes what is in the stream.
	LD_PRELOAD=$PRELOAD gtrace-record --quiet ./program 2>said | cmp - stream
	run ! grep -q verbose <(gtrace-cat --no-rows stream | grep history)
}
