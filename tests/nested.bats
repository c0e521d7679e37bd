#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What kernels allocate and launch themselves. The programs of tests/cuda check their own results, as in cuda.bats.
bats_require_minimum_version 1.5.0
load helpers

# bats file_tags=cuda

setup_file() {
	load helpers
	prepare_preload
	compile_together 80 device_heap graph_memory
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "the device's heap: malloc, new, alignment, its limit, and what the host may not do with it" {
	passes device_heap
	gtrace-cat stream | grep -q 'names=.*device_heap'
	# A second run allocates at the same addresses.
	cp stream first
	LD_PRELOAD=${PRELOAD:-} gtrace-record --gpu a100 ./device_heap >stream 2>said
	cmp <(gtrace-cat first) <(gtrace-cat stream)
	# Replay puts the heap back as well: the second runs allocate where the first did.
	LD_PRELOAD=${PRELOAD:-} gtrace-record --replay --launches 1 ./device_heap >stream 2>said
	gtrace-cat stream | awk -F '\t' '!/^#/ { to = "pass" $NF; $NF = ""; print >to }'
	cmp pass1 pass2
}

@test "errors with the device's heap" {
	passes device_heap
	while IFS=: read -r number message; do
		LD_PRELOAD=${PRELOAD:-} run -1 --separate-stderr gtrace-record --check fault ./device_heap "$number"
		# shellcheck disable=SC2154 # set by run
		grep -q "$message" <<<"$stderr"
	done <<-'END'
		1:store of 4 bytes at 0x[0-9a-f]* of the device's heap. outside of the block of 40 bytes
		2:free of 0x[0-9a-f]* of the device's heap. inside of the block of 40 bytes
		3:free of 0x[0-9a-f]*, which is not in the device's heap
		4:store of 4 bytes at 0x[0-9a-f]* of the device's heap. in no block that is allocated
		5:free of 0x[0-9a-f]* of the device's heap. in no block that is allocated
	END
}

@test "--memcheck holds the device's heap back, and lists all that is wrong with it" {
	passes device_heap
	# The address is used again, and the access is right.
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./device_heap 6 >stream
	while IFS=: read -r number n message; do
		LD_PRELOAD=${PRELOAD:-} run -1 --separate-stderr gtrace-record --memcheck ./device_heap "$number"
		echo "$stderr"
		grep -q "$message" <<<"$stderr"
		grep -q "memcheck: 1 instructions at fault, $n accesses by threads: the stream has no end" <<<"$stderr"
	done <<-'END'
		1:1:store of 4 bytes at 0x[0-9a-f]* of the device's heap. outside of the block of 40 bytes at 0x[0-9a-f]*$
		2:0:free of 0x[0-9a-f]* of the device's heap. inside of the block of 40 bytes at 0x[0-9a-f]*$
		3:0:free of 0x[0-9a-f]*, which is not in the device's heap
		4:1:store of 4 bytes at 0x[0-9a-f]* of the device's heap. inside of the block of 40 bytes at 0x[0-9a-f]*, which was freed$
		5:0:free of 0x[0-9a-f]* of the device's heap. inside of the block of 40 bytes at 0x[0-9a-f]*, which was freed$
		6:1:store of 4 bytes at 0x[0-9a-f]* of the device's heap. inside of the block of 40 bytes at 0x[0-9a-f]*, which was freed$
	END
	# What a full heap needs is given out again.
	LD_PRELOAD=${PRELOAD:-} gtrace-record --memcheck ./device_heap >stream 2>said
	gtrace-cat --check stream
}

# bats test_tags=whole
@test "kernels launch kernels, by the interface of CUDA 12 and 13" {
	NVCC_FLAGS="-rdc=true -lcudadevrt" passes nested
	gtrace-cat stream | grep '^#kernel' | head -7 | cut -f 2,3,10- >kernels
	diff kernels - <<-'END'
		id=1	name=tree
		id=2	name=tree	parent=1
		id=3	name=tree	parent=2
		id=4	name=tree	parent=2
		id=5	name=tree	parent=1
		id=6	name=tree	parent=5
		id=7	name=tree	parent=5
	END
	gtrace-cat stream | grep -q 'names=.*launch_pool'
	cp stream first
	LD_PRELOAD=${PRELOAD:-} gtrace-record --gpu a100 ./nested >stream 2>said
	cmp <(gtrace-cat first) <(gtrace-cat stream)
	# Under replay a kernel's launches are those of its second pass.
	LD_PRELOAD=${PRELOAD:-} gtrace-record --replay --launches 1-3 ./nested >stream 2>said
	gtrace-cat stream | grep '^#kernel' | cut -f 2,3,10- >kernels
	diff kernels - <<-'END'
		id=1	name=tree pass 1
		id=2	name=tree
		id=3	name=tree pass 1	parent=2
		id=4	name=tree	parent=2
		id=5	name=tree pass 1	parent=4
		id=6	name=tree	parent=4
	END
}

# bats test_tags=whole
@test "kernels launch kernels, by the first interface" {
	NVCC_FLAGS="-rdc=true -lcudadevrt -DCUDA_FORCE_CDP1_IF_SUPPORTED -diag-suppress 1444" passes nested
	cat >wait.cu <<-'END'
		__global__ void child() {}
		__global__ void parent() { child<<<1, 1>>>(); cudaDeviceSynchronize(); }
		int main() { parent<<<1, 1>>>(); return cudaDeviceSynchronize(); }
	END
	nvcc -rdc=true -cudart shared -arch=sm_80 -DCUDA_FORCE_CDP1_IF_SUPPORTED -o wait wait.cu -lcudadevrt 2>said
	LD_PRELOAD=${PRELOAD:-} run -1 --separate-stderr gtrace-record ./wait
	grep -q "call of 'cudaDeviceSynchronize': CUDA 12 has removed it from kernels, and it is not modelled" <<<"$stderr"
}

@test "graphs that allocate, conditional nodes, and graphs that kernels launch" {
	passes graph_memory
	# 3 launches of 2 kernels; 2 and 3 of 3, and one kernel after each; 3 times 4 launches of 2 kernels and 3, 4 and 3
	# bodies; 2 times 4 rounds of a loop; 2 times 5 kernels of graphs that a kernel launches; and 3 of one that launches itself.
	[ "$(gtrace-cat stream | grep -c '^#kernel')" -eq 78 ]
	# Of what the first pass launches nothing runs.
	LD_PRELOAD=${PRELOAD:-} gtrace-record --replay ./graph_memory >stream 2>said
	[ "$(gtrace-cat stream | grep -c '^#kernel')" -eq 156 ]
	LD_PRELOAD=${PRELOAD:-} run -1 --separate-stderr gtrace-record ./graph_memory 1
	grep -q 'cudaGraphSetConditional of 0x1, which is no handle' <<<"$stderr"
	LD_PRELOAD=${PRELOAD:-} run -1 --separate-stderr gtrace-record ./graph_memory 1 2
	grep -q 'launch 2: .*cudaGraphLaunch by a kernel that is in no graph' <<<"$stderr"
}
