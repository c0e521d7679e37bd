#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Findings, gtrace-findings(7), on kernels in pairs, of tests/findings: one that has the finding, and one that does the same work without.

setup() {
	load helpers
	cd "$BATS_TEST_TMPDIR"
}

# holds PAIR...: see tests/findings/pairs.py.
holds() { python3 "$ROOT/tests/findings/pairs.py" "$@"; }

@test "uncoalesced and misaligned accesses" {
	holds "uncoalesced load" "uncoalesced store" "uncoalesced atomic" "misaligned load" "misaligned store"
}

@test "bytes never used" {
	holds "bytes never used" "bytes never used, structures of 64 bytes" "bytes never used, one lane"
}

@test "misses of L1" {
	holds "L1 too small" "L1 conflicts" "dropped by stores" "read by several SMs" "blocks share L1"
}

@test "misses of L2" {
	holds "L2 too small" "L2 too small, fetches of 64 bytes" "L2 conflicts" "partial store" "repeated store"
}

@test "shared and local memory, atomics on one address" {
	holds "shared-memory bank conflicts" "local memory" "atomics on one address"
}

@test "launches, device memory, TLBs, polling" {
	holds "launches outweigh the kernel" "DRAM rows" "DRAM channels" "TLB reach" polling
}

@test "every pair is in a test, and every kind of finding has a pair" {
	holds --list | while read -r pair; do
		grep -q "^	holds .*\($pair\| \"$pair\"\)" "$BATS_TEST_FILENAME"
	done
	grep -oE '^	ROW\(find_[a-z0-9_]+, [a-z0-9_]+' "$ROOT/lib/report/findings/kinds.c" | sed 's/.* //' | sort >kinds
	holds --findings | sort -u >held
	diff kinds held
}

@test "the kept PTX is what clang 14 makes of the sources" {
	clang --version | grep -q 'version 14\.' || skip "another clang: it may write other PTX"
	cp -r "$ROOT/tests/findings" made
	mkdir -p ../../examples made/made
	make -s -C "$ROOT/tests/findings" ptx PTX="$PWD/made/made"
	diff -r made/made "$ROOT/tests/findings/ptx"
}

# bats test_tags=cuda
@test "programs of nvcc: each finding, with the line of each array's allocation" {
	needs_cuda
	make -s -C "$ROOT/tests/findings" OUT="$PWD"
	prepare_preload
	holds --list | tr '\n' '\0' | LD_PRELOAD=$PRELOAD xargs -0 python3 "$ROOT/tests/findings/pairs.py" --programs "$PWD"
}
