# SPDX-License-Identifier: MIT
# gtrace-record: programs of several processes, their ends, and the one stream that they write.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	load helpers
	prepare_preload
	export FORKS=$BATS_FILE_TMPDIR/forks
	gcc -std=c11 -o "$FORKS" "$ROOT/tests/cudart/forks.c" -Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcudart.so.13"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
}

# record ARGUMENT...: the stream goes to $OUT, messages to $ERR; the status is gtrace-record's.
record() {
	LD_PRELOAD=${PRELOAD:-} gtrace-record "$@" >"$OUT" 2>"$ERR"
}

ids() { gtrace-cat "$OUT" | sed -n 's/^#kernel\tid=\([0-9]*\).*/\1/p' | xargs; }

# steps STEPS STATUS LAUNCHES TEXT: of forks.c, whose stream has so many launches, or no end if TEXT, which gtrace-record says,
# says so.
steps() {
	local status=0
	record "${@:5}" "$FORKS" "$1" || status=$?
	[ "$status" -eq "$2" ] || { echo "$1: status $status, expected $2"; cat "$ERR"; return 1; }
	[ "$(grep '^gtrace-record: ' "$ERR" | sed 's/^gtrace-record: //')" = "$4" ] || { echo "$1:"; cat "$ERR"; return 1; }
	case $4 in *'no end'* | *'no stream'* | *'no launch'*) run -1 gtrace-cat "$OUT"; return ;; esac
	gtrace-cat --check "$OUT" || return 1
	[ "$(ids | wc -w)" -eq "$3" ] || { echo "$1: launches $(ids)"; return 1; }
}

@test "a program may fork before it uses CUDA: its processes are recorded one after the other, in one stream" {
	steps '(ww)' 0 2 ''
	steps '(((wwx)))' 0 2 ''
	steps '(q)w' 0 1 ''        # a look at the devices is no work
	steps '[swsw]' 0 2 '' --quiet # its parent ends first
	steps '(wwx)(wx)(q)(w)w' 0 5 ''
	[ "$(ids)" = "1 2 3 4 5" ]
	steps '(wx)(qx)(wx)' 0 2 '' --gpu titanv
	[ "$(gtrace-cat "$OUT" | grep -c '^#gpu')" -eq 1 ]
	steps '((wx)(wx))(swx)' 0 3 ''
	steps '(wx)(wx)(w)' 0 2 '' --launches 2-3
	[ "$(ids)" = "2 3" ]
	mkdir -p "$BATS_TEST_TMPDIR/texts" # each process has texts of its own
	steps '(wx)((wx)x)w' 0 3 '' --ptx "$BATS_TEST_TMPDIR/texts"
	[ "$(cd "$BATS_TEST_TMPDIR/texts" && echo *)" = "1-1.ptx 1.ptx 2.1-1.ptx" ]
	steps '(wx)(wx)' 1 0 "no launch was chosen of 2: see --launches" --launches 3
	steps 'd(w)w' 0 1 'a process that the program forked after a call of CUDA asks for work, and gets cudaErrorInitializationError, as on a GPU'
	steps 'q(w)w' 0 1 'a process that the program forked after a call of CUDA asks for work, and gets cudaErrorInitializationError, as on a GPU'
	# What runs another program does not matter.
	steps 'tw' 0 1 ''
	steps 'pw' 0 1 ''
	steps '(wtp)' 0 1 ''
}

@test "a program may be started without the descriptors of gtrace-record, or close them before it works" {
	without='for n in {3..130}; do eval "exec $n>&-"; done; "$0" "$@"' # as Python's subprocess starts one
	steps '(cww)' 0 2 ''
	steps 'cw' 0 1 ''
	record bash -c "$without" "$FORKS" ww
	gtrace-cat --check "$OUT"
	[ "$(ids)" = "1 2" ]
	LD_PRELOAD=${PRELOAD:-} gtrace-record bash -c "$without; $without" "$FORKS" ww 2>"$ERR" | gtrace-cat >"$OUT" || [ "${PIPESTATUS[*]}" = "1 0" ]
	[ "$(grep -c '^#kernel' "$OUT")" -eq 2 ]
	grep -q 'a second program of this run uses the CUDA runtime' "$ERR"
	run record bash -c "export GTRACE_RECORD_PROCESS=0; $without" "$FORKS" w
	[ "$status" -eq 1 ]
	grep -q 'the program was started without the descriptor of the stream, or closed it, and it cannot be opened again: No such file or directory' "$ERR"
}

# blocks: how many each launch has, by which a process is known.
blocks() { gtrace-cat "$OUT" | sed -n 's/^#kernel.*\tgrid=\([0-9]*\).*/\1/p' | xargs; }

# bats test_tags=whole
@test "processes that work at the same time wait for their turn, in the order of forks, children before their parent" {
	steps '[bb2x][s3x][4x]jw' 0 4 ''
	[ "$(blocks)" = "2 3 4 1" ]
	steps '[2x][[b3x]4x]jw' 0 4 ''
	[ "$(blocks)" = "2 3 4 1" ]
	steps '[2wssx]s3' 0 3 ''
	[ "$(blocks)" = "2 1 3" ]
	steps '[bbw2x][w3x]' 0 4 '' # the first process ends before them
	[ "$(blocks)" = "1 2 1 3" ]
	steps '[rx]2uj' 0 1 '' # one that does nothing is not waited for
	steps "$(printf '[ww%sx]' 2 3 4 2 3 4 2 3 4 2)j" 0 30 ''
	[ "$(blocks)" = "1 1 2 1 1 3 1 1 4 1 1 2 1 1 3 1 1 4 1 1 2 1 1 3 1 1 4 1 1 2" ]
}

# bats test_tags=whole
@test "processes that wait for each other take turns, with a warning" {
	record "$FORKS" '[2r2x][3uwx]jw'
	gtrace-cat --check "$OUT"
	[ "$(blocks)" = "2 3 1 2 1" ]
	[ "$(grep -c '^gtrace-record: ' "$ERR")" -eq 1 ]
	grep -qE '^gtrace-record: warning: process [0-9]+ has its turn while process [0-9]+ does nothing: they take turns, and the order of their launches may be another one in the next run$' "$ERR"
	record --quiet "$FORKS" '[2rx]3uj'
	[ "$(blocks)" = "2 3" ]
	run ! grep '^gtrace-record: ' "$ERR"
}

# bats test_tags=whole
@test "a process that is ended by a signal leaves the launches that it did, and none that was under way" {
	killed="warning: a process of the program was ended by a signal, or not by exit: the launches that it did are in the stream"
	for one in '(2e)(3x)j' '(2a)(3x)' '(2y)3' '[2e][3]j'; do steps "$one" 0 2 "$killed"; done
	steps '(we)' 0 1 "$killed"
	steps '[2r][3]ssssKuj' 0 1 "$killed" # while it waits
	steps '(we)' 0 1 '' --quiet
	torn="a process of the program was ended by a signal in a launch: the stream has no end"
	steps '[l]sK' 1 0 "$torn"
	steps '[l]sK(3)' 1 0 "$torn"
	grep -qx 'work: 3' "$ERR"
}

@test "processes of a program of the driver's API alone are one program, and another program is not" {
	cat >worker.py <<-'P'
		import ctypes, os, sys
		PTX = b""".version 7.0
		.target sm_70
		.address_size 64
		.visible .entry nothing() { ret; }
		"""
		def work(blocks):
		    cuda = ctypes.CDLL("libcuda.so.1")
		    context, module, function = (ctypes.c_void_p() for _ in range(3))
		    return [cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0), cuda.cuModuleLoadData(ctypes.byref(module), PTX),
		            cuda.cuModuleGetFunction(ctypes.byref(function), module, b"nothing"),
		            cuda.cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, None, None, None)]
		if len(sys.argv) > 1:
		    work(9)
		for blocks in range(1, 4):
		    if os.fork() == 0:
		        os._exit(any(work(blocks)))
		print("ends:", *(os.wait()[1] for _ in range(3)))
	P
	local python
	python=$(command -v /usr/bin/python3 || command -v python3)
	record "$python" worker.py
	grep -qx 'ends: 0 0 0' "$ERR"
	gtrace-cat --check "$OUT"
	[ "$(blocks)" = "1 2 3" ]
	record "$python" worker.py first
	grep -qx 'ends: 256 256 256' "$ERR"
	[ "$(blocks)" = "9" ]
	record sh -c '"$0" worker.py; "$0" worker.py' "$python"
	[ "$(grep -c 'a second program of this run uses the CUDA runtime' "$ERR")" -eq 3 ]
	grep -qx 'ends: 256 256 256' "$ERR"
	[ "$(blocks)" = "1 2 3" ]
}

@test "a program that forks and does nothing, or whose recorded process crashes, has a stream without end, and one line" {
	none="asked the CUDA runtime for no launch"
	steps '()' 1 0 "$FORKS and the processes that it forked $none: the stream has no end (--ignore-unsupported gives it one)"
	steps '[s]x' 1 0 "$FORKS and the processes that it forked $none: the stream has no end (--ignore-unsupported gives it one)"
	steps '(q)' 0 0 'warning: the program launched no kernel' --ignore-unsupported --gpu titanv
	steps 'p' 1 0 "the program $none: it launched no kernel: the stream has no end (--ignore-unsupported gives it one)"
	child="a process that $FORKS started, which is recorded, ended without its exit handlers or by a signal: the stream has no end"
	steps '[swsa]' 1 0 "$child" # its parent has left it the end
	steps 'a' 134 0 "$FORKS was ended by a signal (Aborted): it began no stream"
	steps '(w)a' 134 0 "$FORKS was ended by a signal (Aborted): the stream has no end" # which it was to write
	run -134 record sh -c '"$0" w; kill -ABRT $$' "$FORKS"
	grep -qx 'gtrace-record: sh was ended by a signal (Aborted): the stream has its end' "$ERR"
	# The next stage of a pipe says nothing more.
	for one in wa wy '[l]sK' '()' a; do
		LD_PRELOAD=${PRELOAD:-} gtrace-record "$FORKS" "$one" 2>/dev/null | gcoalesce 2>"$ERR" | gstats >/dev/null 2>>"$ERR" || [ ! -s "$ERR" ] || { echo "$one"; cat "$ERR"; return 1; }
	done
}

@test "a full disk in a process of the program is one line, whatever the others ask for" {
	status=0
	LD_PRELOAD=${PRELOAD:-} gtrace-record "$FORKS" '(wx)(wx)' >/dev/full 2>"$ERR" || status=$?
	[ "$status" -eq 1 ]
	[ "$(grep '^gtrace-record: ' "$ERR")" = "gtrace-record: standard output: No space left on device" ]
}

@test "_exit, _Exit and quick_exit end the stream" {
	for one in wx wk '(wX)' '[swx]k'; do steps "$one" 0 1 ''; done
	steps wX 3 1 ''
	steps x 1 0 'the program asked the CUDA runtime for no launch: it launched no kernel: the stream has no end (--ignore-unsupported gives it one)'
	# Not what goes past the library, nor where a handler may have interrupted anything.
	steps wy 1 0 "$FORKS ended without its exit handlers: the stream has no end"
	steps wh 1 0 "$FORKS ended without its exit handlers: the stream has no end"
}

