#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# NVBit, Accel-Sim and PPT-GPU traces through gtrace-order: one kernel in all formats, and damaged
# traces. tests/unit/importers.c has the formats' details.

load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

rows() { gtrace-cat | grep -v '^#'; }
# Without the program counter and the lanes' position, which not all formats have.
plain() { rows | cut -f 1-3,5-10; }

formats() { python3 "$ROOT/tests/import/formats.py" "$@"; }

@test "one kernel gives the same rows in every format" {
	few 1 3 4 5 6
	for seed in "${FEW[@]}"; do
		formats rdgc "$seed" | gtrace-order | plain >expected
		[ "$(wc -l <expected)" -gt 60 ]
		for format in nvbit traceg6 traceg5 traceg3 trace; do
			formats "$format" "$seed" >trace
			gtrace-order trace | rows >"rows.$format"
			cut -f 1-3,5-10 "rows.$format" | cmp - expected
			gtrace-order --by an <trace | gtrace-order | plain | cmp - expected
		done
		for format in traceg5 traceg6 trace; do cmp "rows.$format" rows.traceg3; done
	done
}

@test "PPT-GPU's folder gives the same rows if no lane is inactive, in both dialects" {
	few 1 1 2
	for seed in "${FEW[@]}"; do
		formats rdgc "$seed" whole | gtrace-order | plain >expected
		for dialect in mem memwarp; do
			rm -rf app
			formats "$dialect" "$seed" whole app
			gtrace-order app | plain >found
			if [ "$dialect" = memwarp ]; then
				cmp found expected
			else
				# Without warps all records are of warp 0, in the order of the file.
				cut -f 1,4-9 found | sort | cmp - <(cut -f 1,4-9 expected | sort)
				[ "$(cut -f 2 found | sort -u)" = 0 ]
			fi
			gtrace-order app/memory_traces | rows | cut -f 1-3,5-10 | cmp - found
			gtrace-order app/memory_traces/*.mem | rows | cut -f 1-3,5-10 | cmp - found
			gtrace-order app/memory_traces/*.mem app/app_config.py | rows | cut -f 1-3,5-10 | cmp - found
			xz app/memory_traces/*.mem
			gtrace-order app | plain | cmp - found
		done
	done
}

@test "a list of compressed traces is read relative to its folder" {
	mkdir list
	formats traceg5 1 | xz >list/kernel-1.traceg.xz
	printf 'MemcpyHtoD,0x00007f1000000000,4096\nkernel-1.traceg.xz\n' >list/kernelslist.g
	gtrace-order list/kernelslist.g 2>err | rows | cmp - <(gtrace-order list/kernel-1.traceg.xz | rows)
	[ ! -s err ]
}

# launches FILE...: id and accesses of each launch.
launches() { gtrace-order "$@" 2>errors | gtrace-cat | sed -n 's/^#count\tstage=order\tkernel=\([0-9]*\)\taccesses=\([0-9]*\)\t.*/\1 \2/p'; }

# Accel-Sim runs each line of a list that names a trace: trace_parser::parse_commandlist_file.
@test "a line of a list is a launch, also if another names the same file or a trace of its id" {
	formats traceg5 1 >kernel-1.traceg
	accesses=$(launches kernel-1.traceg | cut -d ' ' -f 2)
	cp kernel-1.traceg kernel-1b.traceg
	printf 'kernel-1.traceg\nkernel-1.traceg\nkernel-1b.traceg\n' >kernelslist.g
	for options in "" "-j 3" "-S 64K"; do
		# shellcheck disable=SC2086 # options are words
		launches $options kernelslist.g >found
		printf '%s\n' "1 $accesses" "2 $accesses" "3 $accesses" | diff found -
		[ ! -s errors ]
	done
	# one behind the other in a file, and several operands
	cat kernel-1.traceg kernel-1b.traceg >both.traceg
	launches both.traceg | diff - <(printf '%s\n' "1 $accesses" "2 $accesses")
	launches kernel-1.traceg kernel-1.traceg | diff - <(printf '%s\n' "1 $accesses" "2 $accesses")
	# kernels of other names may have the same id
	sed 's/^-kernel name = k/-kernel name = other/' kernel-1.traceg >kernel-1b.traceg
	launches kernelslist.g | cut -d ' ' -f 1 | tr '\n' ' ' | grep -qx '1 2 3 '
}

@test "two runs under NVBit are two launches; what says that it is one goes on, with one warning" {
	formats nvbit 1 >run
	accesses=$(launches run | cut -d ' ' -f 2)
	launches run run | diff - <(printf '%s\n' "1 $accesses" "2 $accesses")
	[ ! -s errors ]
	formats rdgc 1 >trace
	launches trace trace | diff - <(echo "1 $((2 * accesses))")
	diff errors <(echo 'gtrace-order: warning: launches that go on in another file, as their id, name and shape say: 1 (launch 1, k)')
}

# By hand: 32 lanes of 4 bytes are 4 sectors of 32 bytes; the first list copies 2 of them, and the third launch finds none of its own.
@test "MemcpyHtoD lines of a list are what --warm copies brings into L2, at all 48 bits of their addresses" {
	for id in 1 2 3; do
		printf -- '-kernel %s\n' 'name = k' "id = $id" | cat - <(printf -- '-%s dim = (%s,1,1)\n' grid 1 block 32)
		printf '#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f10%08x 4 0\n#END_TB\n' $((id * 4096))
	done | awk '/^-kernel name/ { n++ } { print >("kernel-" n ".traceg") }'
	printf '%s\n' MemcpyHtoD,0x00007f1000001000,32 MemcpyHtoD,0x00007f1000001020,32 MemcpyHtoD,0x00007e1000001040,64 \
		kernel-1.traceg kernel-2.traceg MemcpyHtoD,0x00007f1000003000,128 kernel-3.traceg MemcpyHtoD,0x7f0000000000,4 >kernelslist.g
	gtrace-order kernelslist.g >list.gt 2>errors
	[ ! -s errors ]
	gtrace-cat --check list.gt
	gtrace-cat list.gt | grep -P '^#count\tstage=copies' | diff - <(
		printf '#count\tstage=copies\tkernel=%s\taddresses=[%s]\tbytes=[%s]\n' \
			1 "$((0x7f1000001000)),$((0x7e1000001040))" 64,64 3 $((0x7f1000003000)) 128)
	hits() { gcoalesce list.gt | gschedule --gpu titanv | gcache --l2 "$@" | gtrace-cat | grep -oP '^#count\tstage=l2.*read_hits=\K[0-9]+' | tr '\n' ' '; }
	[ "$(hits)" = "0 0 0 " ]
	[ "$(hits --warm copies)" = "2 0 4 " ]
	# ordered again, and with the same stream in front, each count is still of its launch
	gtrace-order --by an list.gt | gtrace-order >again.gt
	gtrace-cat again.gt | sed -n 's/^#count\tstage=\([a-z]*\)\tkernel=\([0-9]*\).*/\1 \2/p' | tr '\n' , |
		grep -qx 'copies 1,order 1,order 2,copies 3,order 3,'
	mv again.gt list.gt
	[ "$(hits --warm copies)" = "2 0 4 " ]
	sed -i 's/kernel name = k$/kernel name = other/' kernel-3.traceg
	gtrace-order --kernel '^k' list.gt >k.gt
	gtrace-order kernelslist.g | gtrace-order k.gt - 2>errors | gtrace-cat | sed -n 's/^#count\tstage=copies\tkernel=\([0-9]*\).*bytes=/\1 /p' | sort |
		diff - <(printf '%s\n' '1 [64,64]' '1 [64,64]' '3 [128]' '4 [128]')
	# of launches that are left out, the next one that is kept has what was copied
	gtrace-order --kernel other kernelslist.g | gtrace-cat | grep -P 'stage=copies' | cut -f 3,5 | diff - <(printf 'kernel=3\tbytes=[64,64,128]\n')
	gtrace-order --kernel other list.gt | gtrace-cat | grep -c 'copies' | grep -qx 0
	printf 'MemcpyHtoD,0x10,1\nMemcpyHtoD,0x10\n' >kernelslist.g
	expect_failure 1 'kernelslist.g:2: expected MemcpyHtoD,ADDRESS,BYTES' gtrace-order kernelslist.g
}

# with_lead: a grouped trace as tracers before version 3 write it, with block and warp on each line.
with_lead() {
	sed 's/tracer version = .*/tracer version = 2/' |
		awk '/^thread block/ { split($4, at, ",") } /^warp =/ { warp = $3 } /^[0-9a-f]+ [0-9a-f]{8} / { $0 = at[1] " " at[2] " " at[3] " " warp " " $0 } { print }'
}

@test "Accel-Sim traces of version 2, and without a version, have block and warp on each line" {
	few 1 3 4
	for seed in "${FEW[@]}"; do
		formats traceg3 "$seed" >three.traceg
		gtrace-order three.traceg | rows >expected
		with_lead <three.traceg >two.traceg
		grep -qE '^[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9a-f]+ [0-9a-f]{8} ' two.traceg
		sed '/tracer version/d' two.traceg >none.traceg
		sed '/tracer version/d' three.traceg >later.traceg
		for trace in two none later; do
			for options in "" "-j 2"; do
				# shellcheck disable=SC2086 # options are words
				gtrace-order $options $trace.traceg | rows | cmp - expected
			done
		done
	done
	# a line that names another block is no line of its section
	sed '0,/^0 0 0 0 /s//1 0 0 0 /' two.traceg >other.traceg
	[ "$(md5sum <two.traceg)" != "$(md5sum <other.traceg)" ]
	expect_failure 1 "expected the block and the warp of the section that the line is in" gtrace-order other.traceg
}

@test "a launch of an ungrouped trace that has no instructions is a launch, and leaves nothing to the next" {
	printf -- '-kernel name = %s\n-kernel id = %s\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n%s\n' none 1 '-enable lineinfo = 1' some 2 '-nregs = 8' >trace
	printf '0 0 0 0 0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4\n' >>trace
	gtrace-order --quiet trace | gtrace-cat | grep '^#kernel' | cut -f 2,3,6 | diff - <(printf 'id=%s\tname=%s\tregisters=%s\n' 1 none 0 2 some 8)
}

@test "contexts in the names of a list, its other lines and the streams of its kernels: all is read, counted and said" {
	formats traceg5 1 | sed 's/^-kernel id = 1/-kernel id = 2/; s/^-cuda stream id = .*/-cuda stream id = 0/' >kernel-2-ctx_0x55d5c0de.traceg
	for id in 9 10; do
		sed "s/^-kernel id = 2/-kernel id = $id/; s/^-cuda stream id = 0/-cuda stream id = 94$id/" kernel-2-ctx_0x55d5c0de.traceg >kernel-$id-ctx_0x55d5c0de.traceg
	done
	xz kernel-9-ctx_0x55d5c0de.traceg
	grep -q '^-cuda stream id = 9410' kernel-10-ctx_0x55d5c0de.traceg
	printf '%s\n' '# launch order' 'cudaMalloc,0x7f10,4096' 'MemcpyHtoD,0x00007f1000000000,4096' 'ncclAllReduce,4' 'MemcpyDtoH,0x10,4' \
		kernel-2-ctx_0x55d5c0de.traceg kernel-9-ctx_0x55d5c0de.traceg.xz '# kernel-1.traceg is left out' kernel-10-ctx_0x55d5c0de.traceg >kernelslist.g
	gtrace-order . 2>errors >list.gt
	diff errors - <<-'END'
		gtrace-order: warning: passed over: other lines of lists, 4
		gtrace-order: warning: passed over: memory copies, 1
		gtrace-order: warning: passed over: overlap with other streams, 2 (launches follow one another, in the order of the trace)
	END
	gtrace-cat list.gt | sed -n 's/^#kernel\tid=\([0-9]*\).*/\1/p' | tr '\n' ' ' | grep -qx '2 9 10 '
	gtrace-cat list.gt | grep -oE '\<(overlap_with_other_streams|other_lines_of_lists|memory_copies)=[0-9]+' | tr '\n' ' ' >counts
	grep -qx 'other_lines_of_lists=3 memory_copies=1 overlap_with_other_streams=1 other_lines_of_lists=1 overlap_with_other_streams=1 ' counts
	rm kernelslist.g
	gtrace-order . 2>/dev/null | gtrace-cat | sed -n 's/^#kernel\tid=\([0-9]*\).*/\1/p' | tr '\n' ' ' | grep -qx '2 9 10 '
}

@test "a folder of .traceg without a list is read in the order of the numbers, with one warning" {
	mkdir f
	for id in 10 9 100; do formats traceg5 1 | sed "s/^-kernel id = 1/-kernel id = $id/" >f/kernel-$id.traceg; done
	xz f/kernel-9.traceg
	cp f/kernel-10.traceg f/kernel-10.trace
	launches f | cut -d ' ' -f 1 | tr '\n' ' ' | grep -qx '9 10 100 '
	diff errors <(echo 'gtrace-order: warning: f: has no kernelslist.g, so its 3 traces are read by their numbers, without what was copied before them')
	printf 'kernel-10.traceg\n' >f/kernelslist.g
	launches f | cut -d ' ' -f 1 | grep -qx 10
	[ ! -s errors ]
	mkdir none
	expect_failure 1 'none: Is a directory, without a kernelslist.g' gtrace-order none
}

@test "a later version of Accel-Sim's tracer is read as the latest known, with a warning; an error names it" {
	formats traceg6 1 >six.traceg
	sed 's/tracer version = 6/tracer version = 7/' six.traceg >seven.traceg
	gtrace-order seven.traceg 2>errors | rows | cmp - <(gtrace-order six.traceg | rows)
	diff errors <(echo 'gtrace-order: warning: passed over: tracer versions above 6, 1 (read as version 6)')
	sed 's/^\(00.*LDG.*\)$/\1 anew/' seven.traceg >other.traceg
	expect_failure 1 "(the tracer's version is 7, the latest that is known 6)" gtrace-order other.traceg
}

# The kernel has 3 x 2 x 1 blocks or so: formats.py says how many, and the traces are cut by hand.
@test "blocks of the grid that are not in the trace are named in one warning; those that make no access are not" {
	formats traceg5 1 >whole.traceg
	blocks=$(grep -c '^thread block' whole.traceg)
	gtrace-order whole.traceg 2>errors >/dev/null
	[ ! -s errors ]
	# block 0 issues nothing that accesses memory, but is there
	sed '1,/^#END_TB/s/^insts = .*/insts = 0/; 1,/^#END_TB/{/^[0-9a-f]\{4\} /d}' whole.traceg >idle.traceg
	gtrace-order idle.traceg 2>errors | rows | cut -f 1 | sort -u | wc -l | grep -qx "$((blocks - 1))"
	[ ! -s errors ]
	# blocks 0 and 1 are cut off
	sed '1,/^#END_TB/{/^#BEGIN_TB/,/^#END_TB/d}' whole.traceg | sed '1,/^#END_TB/{/^#BEGIN_TB/,/^#END_TB/d}' >cut.traceg
	for options in "" "--by an" "-j 2" "-S 64K"; do
		# shellcheck disable=SC2086 # options are words
		gtrace-order $options cut.traceg 2>errors >/dev/null
		diff errors <(echo "gtrace-order: warning: blocks of the grid that the trace lacks: 2 of $blocks (launch 1, k)")
	done
	gtrace-order --quiet cut.traceg 2>errors >cut.gt
	[ ! -s errors ]
	cp whole.traceg kernel-1.traceg
	printf '%s\n' kernel-1.traceg cut.traceg cut.traceg >kernelslist.g
	gtrace-order kernelslist.g 2>errors >/dev/null
	diff errors <(echo "gtrace-order: warning: blocks of the grid that the trace lacks: 4 of $((2 * blocks)) (the first: launch 2, k)")
	# streams and their text have what makes accesses
	gtrace-order cut.gt 2>errors >/dev/null
	gtrace-cat cut.gt | gtrace-order 2>>errors >/dev/null
	[ ! -s errors ]
	formats mem 1 whole app
	rm app/memory_traces/kernel_1_block_1.mem
	: >app/memory_traces/kernel_1_block_2.mem
	gtrace-order app 2>errors >/dev/null
	diff errors <(echo "gtrace-order: warning: blocks of the grid that the trace lacks: 1 of $blocks (launch 1, k)")
}

@test "where only accesses are in a trace, blocks without one are counted, and not said to be missing" {
	idle='blocks of the grid without an access, which make none or are missing'
	printf '#kernel id=1 name=k grid=4,2,1 block=32,1,1\n0 1 0 R 0x0\n0 7 0 R 0x0\n0 1 1 R 0x0\n' >trace
	gtrace-order trace 2>errors >/dev/null
	diff errors <(echo "gtrace-order: warning: $idle: 6 of 8 (launch 1, k)")
	# a grid that reaches to the last block
	printf 'blocksize: 32 1 1\n64 0 0 4\n' | gtrace-order 2>errors >/dev/null
	diff errors <(echo "gtrace-order: warning: $idle: 2 of 3 (launch 1, kernel)")
	formats nvbit 1 | grep -v 'CTA 0,0,0' >run
	gtrace-order run 2>errors >/dev/null
	diff errors <(echo "gtrace-order: warning: $idle: 1 of 6 (launch 1, k - grid launch id 9)")
	# -S bounds what is known of blocks: 64K / 8 / 8 bytes are 65536 blocks; and then nothing is said
	printf '#kernel id=1 name=k grid=70000,1,1 block=32,1,1\n0 69999 0 R 0x0\n' >trace
	gtrace-order -S 64K trace 2>errors >/dev/null
	[ ! -s errors ]
	gtrace-order trace 2>errors >/dev/null
	diff errors <(echo "gtrace-order: warning: $idle: 69999 of 70000 (launch 1, k)")
}

@test "a lone block of PPT-GPU is read, with or without its kernel's number" {
	formats mem 1 whole app
	cp app/memory_traces/kernel_1_block_1.mem block_0.mem
	gtrace-order block_0.mem | rows | cut -f 2- | cmp - <(gtrace-order app 2>/dev/null | rows | grep -P '^1\t' | cut -f 2-)
	cp app/memory_traces/kernel_1_block_1.mem app/memory_traces/block_1.mem
	gtrace-order app/memory_traces/block_1.mem 2>errors | rows | cut -f 1 | sort -u | grep -qx 1
	grep -q 'that the trace lacks: 5 of 6 (launch 1, k)' errors
}

@test "a folder with a kernelslist.g is read as that list is, each folder with launches of its own" {
	mkdir -p a b
	formats traceg5 1 >a/kernel-1.traceg
	formats traceg5 2 >b/kernel-1.traceg
	printf 'kernel-1.traceg\n' | tee a/kernelslist.g >b/kernelslist.g
	text() { gtrace-order "$@" | gtrace-cat | grep -v '^#history'; }
	text a | cmp - <(text a/kernelslist.g)
	text a b/ | cmp - <(text a/kernelslist.g b/kernelslist.g)
	[ "$(gtrace-order a b | gtrace-cat | grep -c '^#kernel')" -eq 2 ]
	mkdir none
	expect_failure 1 "none" gtrace-order none
}

@test "Accel-Sim 2's .tracez, with a dictionary or without, is read as its text is" {
	formats traceg6 4 >kernel-1.traceg
	gtrace-order kernel-1.traceg | gtrace-cat | grep -v '^#history' >expected
	head -c 2000 kernel-1.traceg | tail -c 500 >dictionary
	for pieces in "2048" "3" "3 dictionary"; do
		# shellcheck disable=SC2086
		python3 "$ROOT/tests/import/tracez.py" kernel-1.traceg kernel-1.tracez $pieces
		gtrace-order kernel-1.tracez | gtrace-cat | grep -v '^#history' | cmp - expected
		printf 'kernel-1.tracez\n' >kernelslist.g
		gtrace-order . | gtrace-cat | grep -v '^#history' | cmp - expected
	done
	# Cut anywhere, or with a byte changed, there is an error of one line or the same rows.
	python3 - kernel-1.tracez <<-'PYTHON'
		import os, random, subprocess, sys
		rnd = random.Random(1)
		whole = open(sys.argv[1], "rb").read()
		for i in range(120 if os.environ.get("WHOLE") else 12):
		    data = bytearray(whole[:rnd.randrange(len(whole))] if i % 3 == 0 else whole)
		    for _ in range(i % 3):
		        data[rnd.choice([rnd.randrange(len(data)), len(data) - 1 - rnd.randrange(900)])] = rnd.randrange(256)
		    open("damaged.tracez", "wb").write(data)
		    run = subprocess.run(["gtrace-order", "damaged.tracez"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
		    assert run.returncode in (0, 1), (i, run.returncode, run.stderr)
		    assert run.returncode == 0 or run.stderr.count(b"\n") == 1, (i, run.stderr)
		    assert i % 3 or run.returncode == 1, i
	PYTHON
	expect_failure 1 "no.tracez: expected" sh -c 'cp /dev/null no.tracez; cat kernel-1.tracez | head -c 400 >>no.tracez; gtrace-order no.tracez >/dev/null'
}

# Lines of a warp mostly repeat others, and what repeats is not read again: here each line begins as one before it.
@test "Accel-Sim lines that begin alike but go on otherwise are not taken for one another" {
	cat >alike.traceg <<-'END'
		-kernel name = k
		-kernel id = 1
		-grid dim = (1,1,1)
		-block dim = (32,1,1)
		-accelsim tracer version = 3
		#BEGIN_TB
		thread block = 0,0,0
		warp = 0
		insts = 6
		0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4
		0010 ffffffff 1 R4 LDG.E 1 R2 42 1 0x2000 8
		0010 ffffffff 1 R4 LDG.E 1 R2 0
		0010 ffffffff 1 R4 LDG.E 1 R2 4	1 0x3000 16
		0010 fffffff0 1 R4 LDG.E 1 R2 4 1 0x4000 4
		0010 ffffffff 1 R4 LDG.E 1 R2 4 0 1 2 3 4 5 6 7 8 9 a b c d e f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 20
		#END_TB
	END
	gtrace-order alike.traceg | gtrace-cat | grep -v '^#' | cut -f 7-9 | sed 's,0x0*,0x,g' >rows
	printf '%s\t%s\t%s\n' 0xffffffff 0x1000 4 0xffffffff 0x2000 8 0xffffffff 0x3000 16 0xfffffff0 0x4000 4 0xffffffff 0x1 1 | diff rows -
	sed 's/0x2000 8$/0x2000 8 -5/' alike.traceg >later.traceg
	expect_failure 1 "later.traceg:11: mode 1: expected" gtrace-order later.traceg
	sed 's/version = 3/version = 4/; s/-kernel id = 1/-kernel id = 2/' later.traceg | cat alike.traceg - | gtrace-order | gtrace-cat | grep -c ffff | grep -qx 10
	sed 's/ffffffff 1 R4 LDG.E 1 R2 0$/ffffffff 1 R4 LDG.E 1 R2 0x/' alike.traceg >wrong.traceg
	expect_failure 1 "wrong.traceg:12: expected" gtrace-order wrong.traceg
	{
		sed 's/(32,1,1)/(40,1,1)/; /^insts/,$d' alike.traceg
		printf '%s\n' 'insts = 1' '0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4' 'warp = 1' 'insts = 2'
		printf '00%s 1 R4 LDG.E 1 R2 4 1 0x1000 4\n' '08 000000ff' '10 ffffffff'
	} >lanes.traceg
	expect_failure 1 "lanes.traceg:14: mask ffffffff: expected lanes of 000000ff" gtrace-order lanes.traceg
}

# By hand: line 7 reads 4 sectors twice, line 9 writes 4.
@test "an Accel-Sim trace's line numbers name the source lines, of the file that --source says" {
	cat >lines.traceg <<-'END'
		-kernel name = k
		-kernel id = 1
		-grid dim = (1,1,1)
		-block dim = (32,1,1)
		-accelsim tracer version = 5
		-enable lineinfo = 1

		#BEGIN_TB
		thread block = 0,0,0
		warp = 0
		insts = 4
		7 0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4 0
		8 0020 ffffffff 1 R4 IADD3 1 R2 0 0
		7 0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4 0
		9 0030 ffffffff 0 STG.E 2 R2 R4 4 1 0x2000 4 0
		#END_TB
	END
	gtrace-order --source src/k.cu lines.traceg >lines.gt
	gtrace-cat lines.gt | grep -P '^#count\tstage=source' >source
	grep -qP '\tpcs=\[16,48\]\tlines=\[7,9\]\tfiles=\[0,0\]\tnames=src/k.cu$' source
	gcoalesce lines.gt | grd --by line --granularity sector | gtrace-cat >classes
	grep -qF 'k.cu:7.references=8	k.cu:7.infinite=4' classes
	grep -qF 'k.cu:9.references=4	k.cu:9.infinite=4' classes
	gtrace-order lines.traceg | gtrace-cat | grep -qP '\tnames=\?\?\?$'
	expect_failure 1 "no kernel has a name that 'other' matches: there is k" gtrace-order --kernel other lines.traceg
	expect_failure 2 "--source 'a,b'" gtrace-order --source a,b lines.traceg
}

@test "TMA lines are counted and reported" {
	formats traceg5 1 | sed 's/^insts = 0$/insts = 1\n0000 ffffffff 0 UTMALDG.2D 3 UR4 UR8 UR6 128 4 0x7f00 2 128 0/' >trace
	tma=$(grep -c UTMALDG trace)
	[ "$tma" -gt 0 ]
	gtrace-order trace 2>err | gtrace-cat >text
	grep -qx "gtrace-order: warning: passed over: TMA instructions, $tma" err
	grep -qP "^#count\t.*\ttma_instructions=$tma" text
}

@test "errors are reported with file and line" {
	formats traceg3 1 >trace
	sed '0,/^insts = [1-9]/s/^insts = \([1-9]\)/insts = 1\1/' trace >bad
	expect_failure 1 "instructions: expected 1" gtrace-order bad
	head -c 3000 trace >bad
	expect_failure 1 "gtrace-order: bad:" gtrace-order bad
	sed '0,/^thread block = /s/^thread block = .*/thread block = 900,0,0/' trace >bad
	expect_failure 1 "thread block 900,0,0: expected one in the grid" gtrace-order bad
	formats nvbit 1 >trace
	sed '0,/CTA /s/CTA [0-9]*/CTA 900/' trace >bad
	expect_failure 1 "bad:3: CTA 900,0,0: expected one in the grid" gtrace-order bad
	{ cat trace; head -c 1100000 /dev/zero | tr '\0' x; } >bad
	expect_failure 1 "expected a line of at most 1048576 bytes" gtrace-order bad
	mkdir -p app/memory_traces
	expect_failure 1 "app/memory_traces: expected files kernel_K_block_B.mem" gtrace-order app
	echo 'LDG 12345678123456789' >app/memory_traces/kernel_1_block_0.mem
	expect_failure 1 "app/memory_traces/kernel_1_block_0.mem:1: expected hexadecimal addresses" gtrace-order app
}

@test "damaged traces are read or refused: never a crash, never two lines" {
	"$BUILD/tests/fuzz/import" "${FUZZ_ROUNDS:-1000}" "${FUZZ_SEED:-1}"
}

@test "gtrace-order prints one line and exits with 1 on damaged traces" {
	few 3 $(seq 1 12)
	for seed in "${FEW[@]}"; do
		sample=0
		while "$BUILD/tests/fuzz/import" --print "$sample" "$seed" >bad; do
			status=0
			timeout 20 gtrace-order bad >out 2>err || status=$?
			if [ "$status" -gt 1 ] || { [ "$status" -eq 1 ] && [ "$(wc -l <err)" -ne 1 ]; } ||
				{ [ "$status" -eq 0 ] && ! gtrace-cat out >/dev/null; }; then
				echo "sample $sample, seed $seed: exit status $status"
				cat err
				return 1
			fi
			sample=$((sample + 1))
		done
		[ "$sample" -gt 10 ]
	done
}

@test "--work: Accel-Sim's instructions and registers give what a slow, simple reading gives" {
	TMPDIR=$BATS_TEST_TMPDIR python3 "$ROOT/tests/golden/work.py" 7 60
}

# The instructions of the PTX and of the trace are the same ones, so all of the model is.
@test "--work: a kernel's rows and times are those of gtrace-ptx, from a trace of Accel-Sim" {
	cat >k.ptx <<-'END'
		.version 8.0
		.target sm_75
		.address_size 64
		.visible .entry k(.param .u64 p)
		{
			.reg .b64 %rd<2>;
			.reg .b32 %r<7>;
			ld.param.u64 %rd1, [p];
			ld.global.u32 %r1, [%rd1];
			ld.global.u32 %r2, [%rd1+4];
			add.u32 %r3, %r1, %r2;
			st.global.u32 [%rd1+8], %r3;
			ld.global.u32 %r4, [%rd1+12];
			add.u32 %r5, %r4, 1;
			bar.sync 0;
			ld.global.u32 %r1, [%rd1+512];
			ret;
		}
	END
	gtrace-ptx --work --launch 'k<<<2,64>>>(u32[256])' k.ptx >ptx.gt
	base=$(gtrace-cat ptx.gt | grep -v '^#' | head -n 1 | cut -f 8)
	at() { printf '0x%x' $((base + $1)); }
	{
		printf -- '-kernel %s\n' 'name = k' 'id = 1' | cat - <(printf -- '-%s dim = (%s,1,1)\n' grid 2 block 64)
		for block in 0 1; do
			printf '#BEGIN_TB\nthread block = %s,0,0\n' $block
			for warp in 0 1; do
				printf 'warp = %s\ninsts = 10\n' $warp
				cat <<-END
					0000 ffffffff 1 R2 MOV 0 0
					0010 ffffffff 1 R4 LDG.E 1 R2 4 1 $(at 0) 0
					0020 ffffffff 1 R5 LDG.E 1 R2 4 1 $(at 4) 0
					0030 ffffffff 1 R6 IADD3 2 R4 R5 0
					0040 ffffffff 0 STG.E 2 R2 R6 4 1 $(at 8) 0
					0050 ffffffff 1 R7 LDG.E 1 R2 4 1 $(at 12) 0
					0060 ffffffff 1 R8 IADD3 1 R7 0
					0070 ffffffff 0 BAR.SYNC 0 0
					0080 ffffffff 1 R4 LDG.E 1 R2 4 1 $(at 512) 0
					0090 ffffffff 0 EXIT 0 0
				END
			done
			printf '#END_TB\n'
		done
	} >k.traceg
	gtrace-order --work k.traceg >accelsim.gt
	# All columns but pc and the order of rows, which a recorder writes as they come.
	columns() { gtrace-cat "$1" | grep -v '^#' | cut -f 1-3,5- | sort; }
	[ "$(gtrace-cat accelsim.gt | grep -v '^#' | cut -f 11 | sort | uniq -c | tr -s ' \n' ' ')" = " 8 0,0 4 1,0 4 1,0,waits 4 2,1,waits " ]
	diff <(columns ptx.gt) <(columns accelsim.gt)
	times() { gtrace-order "$1" | gcoalesce | gschedule --gpu titanv --issue latency | gtrace-cat | grep -v '^#' | cut -f 1-3,5-; }
	times ptx.gt >times
	[ "$(cut -f 9 times | sort -n | tail -n 1)" -gt 400 ]
	times accelsim.gt | diff times -
}

@test "--work: streams keep the column; what has no instructions, or not in their order, is refused" {
	gtrace-ptx --work --launch 'vectoradd<<<1,32>>>(f32[32], f32[32], f32[32], 32)' "$ROOT/examples/kernels/ptx/vectoradd.ptx" >work.gt
	gtrace-cat work.gt | grep '^#block\|^[0-9]' >rows
	[ "$(grep -c ,waits rows)" -gt 0 ]
	gtrace-order --work work.gt | gtrace-cat | grep '^#block\|^[0-9]' | diff rows -
	expect_failure 1 "expected a trace with all instructions of each warp" sh -c "gtrace-order --work '$ROOT/examples/traces/gemm.rdgc.xz' | cat >/dev/null; exit 1"
	printf -- '-%s\n' 'kernel name = k' 'kernel id = 1' 'grid dim = (1,1,1)' 'block dim = (32,1,1)' >k.trace
	printf '0 0 0 0 0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4\n' >>k.trace
	gtrace-order k.trace | gtrace-cat --check
	expect_failure 1 "expected a grouped trace" sh -c 'gtrace-order --work k.trace | cat >/dev/null; exit 1'
}
