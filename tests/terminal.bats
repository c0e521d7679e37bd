#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Names in a trace cannot steer the terminal that shows them, nor turn its text around.

bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# A name with ESC, C1 controls (U+0080, U+009B), overrides and marks of direction (U+202E, U+2066, U+200F, U+061C), the end of a
# line (U+2028), a lone 0x9b byte, and letters that stay: é, 漢. Written by a stream's own importer, so that it reaches every writer.
hostile='k\033[31m\302\200\302\2331m\342\200\256x\342\201\246y\342\200\217\330\234\342\200\250\233z\303\251\346\274\242'
shown='k?[31m??1m?x?y????zé漢'

make_stream() {
	# shellcheck disable=SC2059
	printf "#kernel id=1 name=$hostile grid=1,1,1 block=32,1,1\n0 0 0 R 0x1000 4\n" >hostile.rdgc
	gtrace-order --format rdgc hostile.rdgc >ordered
	gschedule --gpu titanv ordered | gcache --l1 | gcache --l2 | gdram >counts
}

# harmless FILE: neither control bytes nor overrides of direction.
harmless() {
	python3 - "$1" <<-'END'
		import sys
		text = open(sys.argv[1], "rb").read().decode("utf-8")
		bad = [hex(ord(c)) for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160
		       or ord(c) in (0x61c, 0x200e, 0x200f) or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069]
		assert not bad, bad[:5]
	END
}

@test "tables, CSV, JSON, text and pages show names without what a terminal obeys" {
	make_stream
	local command
	while read -r command; do
		bash -c "$command" >out
		harmless out || { echo "$command"; return 1; }
		grep -qF "zé漢" out || { echo "no name: $command"; return 1; }
	done <<-'END'
		gtrace-cat ordered
		gstats counts
		gstats --json counts
		gstats --names ncu counts
		gstats --names ncu --csv counts
		gstats --names nvprof --json counts
		grd --by kernel --profile ordered
		gstats --report page counts && cat page/index.html
	END
	gstats counts | grep -qF "$shown"
}

@test "JSON keeps the name, escaped" {
	make_stream
	gstats --json counts | python3 -c '
import json, sys
name = json.load(sys.stdin)["kernels"][0]["name"]
assert name == "k\x1b[31m\x80\x9b1m\u202ex\u2066y\u200f\u061c\u2028\ufffdzé漢", ascii(name)'
}

@test "messages show neither names of files nor of kernels as they are" {
	run -1 --separate-stderr gtrace-cat $'a\033[31m\302\233b\342\200\256'
	printf '%s\n' "$stderr" >err
	harmless err
	grep -qF 'a?[31m?b?' err
}

@test "a history line is one line" {
	printf '0 0 0 R 0x1000 4\n' >$'t\033]0;x\a'
	gtrace-order --format rdgc --kernel $'a\033\[31m|.' $'t\033]0;x\a' | gtrace-cat >out
	harmless out
	grep -q '^#history' out
}
