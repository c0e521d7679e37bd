# SPDX-License-Identifier: MIT
# What SECURITY.md promises and no other file tests; and that each promise has its test.

bats_require_minimum_version 1.5.0

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	kernel=$ROOT/examples/kernels/ptx/gemm.ptx
	launch='gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)'
}

# traced CALLS COMMAND...: runs it; its system calls of these kinds are in the file calls.
traced() {
	local kinds=$1
	shift
	not_instrumented gtrace-ptx # the sanitizers' search for leaks does not run under strace
	strace -qq -o /dev/null true || skip "strace may not trace here"
	strace -f -qq -e signal=none -e trace="$kinds" -o calls "$@" >/dev/null
}

@test "SECURITY.md names tests that exist" {
	python3 - "$ROOT" <<-'PYTHON'
		import re, sys
		root, named = sys.argv[1], 0
		for line in open(root + "/SECURITY.md"):
		    for path, names in re.findall(r'`(tests/[^`]*[.]bats)`: ((?:"[^"]*"(?:, )?)+)', line):
		        text = open(root + "/" + path).read()
		        for name in re.findall('"([^"]*)"', names):
		            assert '@test "%s" {' % name in text, (path, name)
		            named += 1
		    assert not line.startswith("| ") or line.startswith("| input") or "`tests/" in line or "| yes |" in line or "| no |" in line or \
		        line.startswith("| promise") or "`make " in line, line
		assert named > 20
	PYTHON
}

@test "no page is writable and executable at once, also where machine code is made" {
	traced mmap,mprotect gtrace-ptx --launch "$launch" "$kernel"
	run ! grep 'PROT_WRITE.*PROT_EXEC\|PROT_EXEC.*PROT_WRITE' calls
	if [ "$(uname -m)" = x86_64 ] && grep -q avx2 /proc/cpuinfo && [ "${GTRACE_PTX_LEVEL:-native}" != plain ]; then
		grep -q 'mprotect(.*PROT_EXEC' calls
	fi
}

@test "no tool can open a network connection" {
	for program in "$(dirname "$(command -v gtrace-order)")"/g* "$BUILD"/cudart/libcudart.so.13; do
		run ! grep -E ' (connect|bind|listen|accept|getaddrinfo|gethostbyname)(@|$)' <(nm -D --undefined-only "$program")
	done
}

@test "a tool writes what its options name, and temporary files, which are gone" {
	mkdir temporary
	export TMPDIR=$BATS_TEST_TMPDIR/temporary
	gtrace-ptx --launch "$launch" "$kernel" >stream
	gtrace-order "$ROOT/examples/traces/gemm.rdgc.xz" >/dev/null
	seq 1 60000 | awk '{ print $1 % 50, 0, $1 % 32, "R", $1 * 64, 4 }' >long.rdgc
	# shellcheck disable=SC2016 # for the inner shell
	traced open,openat,creat,mkdir,rename,renameat,renameat2,link,symlink,unlink,unlinkat bash -c '
		gtrace-order --format rdgc -S 64K long.rdgc && gtrace-ptx -S 1M --launch "$1" --dump C=dumped "$2" &&
		gtrace report --quiet -o page stream && gtrace sizes --quiet stream && gstats --output table stream' - "$launch" "$kernel"
	[ -z "$(ls temporary)" ]
	grep -E 'O_WRONLY|O_RDWR|O_CREAT|creat\(|mkdir|rename|link' calls | grep -vE 'ENOENT|EEXIST' | grep -oE '"[^"]*"' | tr -d '"' | sort -u >written
	grep -q dumped written
	run ! grep -vE "^($TMPDIR(/.*)?|(.*/)?(dumped|page|table|index[.]html)([./].*)?|/dev/(null|tty|zero))$" written
}

@test "programs and libraries are hardened" {
	if [ -n "${SANITIZE:-}" ]; then skip "instrumented"; fi # of make, which hardens the others
	local programs=("$(dirname "$(command -v gtrace-order)")"/g* "$BUILD"/cudart/libcudart.so.13 "$BUILD"/libgtrace.so.*)
	[ ${#programs[@]} -gt 15 ]
	readelf -hldW --dyn-syms "${programs[@]}" | awk -v programs=${#programs[@]} '
		/^File: / { file = $2; files++ }
		/Type: *DYN/ { has[file, "position-independent"] }
		/GNU_RELRO/ { has[file, "RELRO"] }
		/BIND_NOW|Flags:.* NOW/ { has[file, "BIND_NOW"] }
		/GNU_STACK/ && !/RWE/ { has[file, "a stack without code"] }
		/__stack_chk_fail/ { has[file, "a guarded stack"] }
		/__[a-z]*_chk@/ { has[file, "checked copies"] }
		END {
			for (i in has) n++
			for (i in has) { split(i, of, SUBSEP); each[of[2]]++ }
			for (i in each) print each[i] " of " files " have " i
			exit !(files == programs && n == 6 * files)
		}'
}
