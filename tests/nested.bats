#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What kernels allocate and launch themselves. The programs of tests/cuda check their own results, as in cuda.bats.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	load helpers
	prepare_preload
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$PATH:/usr/local/cuda/bin
}

@test "the device's heap: malloc, new, alignment, its limit, and what the host may not do with it" {
	passes device_heap
	gtrace-cat stream | grep -q 'names=.*device_heap'
	# A second run allocates at the same addresses.
	cp stream first
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./device_heap >stream 2>said
	cmp <(gtrace-cat first) <(gtrace-cat stream)
	# Replay puts the heap back as well: the second runs allocate where the first did.
	LD_PRELOAD=${PRELOAD:-} gtrace-record --replay --launches 1 ./device_heap >stream 2>said
	gtrace-cat stream | awk -F '\t' '!/^#/ { to = "pass" $NF; $NF = ""; print >to }'
	cmp pass1 pass2
}

@test "errors with the device's heap" {
	while IFS=: read -r number message; do
		passes device_heap
		LD_PRELOAD=${PRELOAD:-} run -1 --separate-stderr gtrace-record ./device_heap "$number"
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
