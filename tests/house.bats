# SPDX-License-Identifier: MIT
# Rules that every file and every tool must follow.

bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$ROOT"; }

@test "manual pages: one for every tool, without mandoc warnings" {
	for tool in tools/*.c; do
		name=$(basename "$tool" .c)
		[ -f "man/$name.1" ] || { echo "no man/$name.1"; return 1; }
	done
	mandoc -T lint -W warning man/*
}

@test "manual pages: every heading is rendered completely, and all name the same system" {
	for page in man/*; do
		mandoc -T ascii "$page" | sed 's/.\x08//g' >"$BATS_TEST_TMPDIR/page"
		sed -n 's/^\.S[hs] //p' "$page" | sed 's/\\&//; s/"//g' >"$BATS_TEST_TMPDIR/headings"
		[ -s "$BATS_TEST_TMPDIR/headings" ]
		sed 's/^   //' "$BATS_TEST_TMPDIR/page" | grep -vxFf - "$BATS_TEST_TMPDIR/headings" >"$BATS_TEST_TMPDIR/missing" || [ $? -eq 1 ]
		[ ! -s "$BATS_TEST_TMPDIR/missing" ] || { echo "$page:"; cat "$BATS_TEST_TMPDIR/missing"; return 1; }
		grep -qx '\.Os gtrace' "$page"
	done
}

@test "HACKING names every folder of lib, and its paths exist" {
	for folder in lib/*/ lib/cuda/*/ lib/cuda/plugins/*/; do
		[[ $folder != lib/cuda/ && $folder != lib/cuda/plugins/ ]] || continue
		grep -qF "| \`${folder%/}\` |" HACKING.md || { echo "no row of $folder"; return 1; }
	done
	grep -oE '`(lib|tests|man|gpus|tools)/[^`]*`' HACKING.md | tr -d '`' | grep -v NAME | while read -r path; do
		compgen -G "$path" >/dev/null || { echo "no $path"; return 1; }
	done
}

@test "--help and the manual have the same options" {
	for tool in tools/*.c; do
		name=$(basename "$tool" .c)
		diff <("$name" --help | sed '/^example:/,$d' | grep -oE -e '--[a-z][a-z0-9-]+' | grep -vE -e '--(help|version)$' | sort -u) \
			<(grep -oE '^\.(It )?Fl .*|Fl -[a-z][a-z0-9-]+' "man/$name.1" | grep -oE 'Fl -[a-z][a-z0-9-]+' | sed 's/Fl -/--/' | grep -vE -e '--(help|version)$' | sort -u) ||
			{ echo "$name: --help on the left, the manual on the right"; return 1; }
	done
}

@test "shell scripts pass shellcheck" {
	find .ci deps pipelines tests examples -type f -exec awk 'FNR == 1 && /^#!.*[\/ ](ba)?sh$/ { print FILENAME }' {} + |
		xargs shellcheck
}

# In bats, a failing line "! command" does not fail the test, nor does "[ a ] && [ b ]" whose first half fails, nor
# anything that ends in "|| true".
@test "assertions of the tests can fail" {
	local negated='(^|;|do|then|else)[[:space:]]*! '
	local joined="^[[:space:]]*(\\[.*\\]|(grep|cmp|diff|test) ([^|('\"]|'[^']*'|\"[^\"]*\")*) && "
	local ignored='[|][|] *(true|:)[[:space:];]*$'
	run -1 grep -nE "$negated" tests/*.bats tests/long/*.bats
	[ "$(grep -nE "$joined" tests/*.bats tests/long/*.bats | grep -vc ' || ')" -eq 0 ]
	[ "$(grep -nE "$ignored" tests/*.bats tests/long/*.bats | grep -vc '\<kill ')" -eq 0 ]
	grep -lE '(^|[[:space:]])run (!|-[0-9])' tests/*.bats tests/long/*.bats >"$BATS_TEST_TMPDIR/files"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/files")" -gt 10 ]
	[ -z "$(xargs grep -Lx 'bats_require_minimum_version 1.5.0' <"$BATS_TEST_TMPDIR/files")" ]
}

@test "a test that needs the CUDA toolkit says so in its tags: tests/run hides the toolkit from all others" {
	run awk 'FNR == 1 { file = tagged = 0 }
		/^# bats file_tags=.*cuda/ { file = 1 }
		/^# bats test_tags=/ { tagged = /cuda/ }
		/^@test/ { name = $0; has_tag = file || tagged; tagged = 0 }
		/^}/ { name = "" }
		$1 == "needs_cuda" && name && !has_tag { print FILENAME ": " name }' "$ROOT"/tests/*.bats "$ROOT"/tests/long/*.bats
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "every source names its licence first" {
	# shellcheck disable=SC2046
	run awk 'FNR <= 2 && /SPDX-License-Identifier: MIT/ { named[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in named)) print ARGV[i] }' \
		$(find lib -name '*.[ch]') tools/*.[ch] tools/common/*.[ch] tests/*/*.[ch] tests/*.bats tests/*.bash Makefile gpus/* pipelines/*.mk
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "no stage includes another" {
	for stage in import order coalesce sample schedule cache dram reuse dissect report; do
		if grep -nE '#include "(import|order|coalesce|sample|schedule|cache|dram|reuse|dissect|cuda|report)/' lib/$stage/*.[ch] lib/$stage/*/*.[ch] 2>/dev/null | grep -v "include \"$stage/"; then
			return 1
		fi
	done
}

@test "the folders of lib do not include each other in a circle" {
	find lib -name '*.[ch]' -exec awk '
		FNR == 1 { room = FILENAME; sub(/^lib\//, "", room); sub(/\/[^\/]*$/, "", room) }
		/^#include ".*\/[^\/]*"$/ { to = $0; sub(/^#include "/, "", to); sub(/\/[^\/]*$/, "", to); if (to != room) print room, to }' {} + |
		sort -u >"$BATS_TEST_TMPDIR/edges"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/edges")" -gt 40 ]
	tsort "$BATS_TEST_TMPDIR/edges" >"$BATS_TEST_TMPDIR/rooms"
	grep -qx base "$BATS_TEST_TMPDIR/rooms"
	# report and the folders that it uses include no stage
	run grep -E '^(base|counter|gpu|stream|report)(/[a-z]+)? (import|order|coalesce|sample|schedule|cache|dram|reuse|dissect|cuda)' "$BATS_TEST_TMPDIR/edges"
	[ "$status" -eq 1 ]
}

# objects: those of lib.
objects() {
	local source
	find lib -name '*.c' | while read -r source; do echo "${source%.c}.o"; done
}

# "caller callee" for each call from an object of lib to another.
calls() {
	objects | (cd "$BUILD" && xargs nm -A -g) | awk '
		{ file = $1; sub(/^lib\//, "", file); sub(/\.o:.*$/, "", file) }
		$2 == "U" { calls[file " " $3]; next }
		$2 != "w" && $2 != "v" { home[$3] = file }
		END {
			for (call in calls) {
				split(call, at, " ")
				if (at[2] in home && home[at[2]] != at[1])
					print at[1], home[at[2]]
			}
		}'
}

@test "the folders of lib do not call each other in a circle" {
	calls | awk '{ gsub(/\/[a-z0-9_]+( |$)/, " "); if ($1 != $2) print $1, $2 }' | sort -u >"$BATS_TEST_TMPDIR/edges"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/edges")" -gt 40 ]
	tsort "$BATS_TEST_TMPDIR/edges" >"$BATS_TEST_TMPDIR/rooms"
	grep -qx cache/timed "$BATS_TEST_TMPDIR/rooms"
}

@test "the files of lib do not call each other in a circle" {
	calls | sort -u >"$BATS_TEST_TMPDIR/edges"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/edges")" -gt 400 ]
	tsort "$BATS_TEST_TMPDIR/edges" >"$BATS_TEST_TMPDIR/files"
	grep -qx cache/timed/timed "$BATS_TEST_TMPDIR/files"
}

@test "lib is divided into files and headers that are subjects, which tests/rooms.py measures" {
	run python3 tests/rooms.py "$BUILD"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 7 ]
}

@test "no name is both a type's and a function's" {
	objects | (cd "$BUILD" && xargs nm -g --defined-only) | awk '$2 == "T" { print $3 }' | sort -u >"$BATS_TEST_TMPDIR/functions"
	find lib -name '*.[ch]' -exec grep -ohE '(struct|enum|union) gt_[a-z0-9_]+' {} + | sed 's/.* //' | sort -u >"$BATS_TEST_TMPDIR/types"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/types")" -gt 200 ]
	[ -z "$(comm -12 "$BATS_TEST_TMPDIR/functions" "$BATS_TEST_TMPDIR/types")" ]
}

@test "arrays grow by base/grown.h" {
	[ "$(grep -rlE '\<realloc *\(' lib tools)" = lib/base/grown.h ]
}

@test "every external of the library begins with gt_" {
	nm -g --defined-only "$BUILD/libgtrace.a" | awk 'NF == 3 && $3 !~ /^__(asan|ubsan|odr_asan)/ { print $3 }' >"$BATS_TEST_TMPDIR/externals"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/externals")" -gt 500 ]
	run grep -v '^gt_' "$BATS_TEST_TMPDIR/externals"
	[ "$status" -eq 1 ]
}

@test "clang gives no warnings; gcc's fail the build of .ci/run" {
	flags="-std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Ilib -Itools -Itests/unit -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8"
	# clang starts itself anew for each file, which takes longer than most files do. Its own command (-cc1) takes all of them at once.
	# shellcheck disable=SC2086
	clang $flags -DGT_VERSION='""' -DGT_DATADIR='""' -DGT_LIBDIR='""' -fsyntax-only -### tools/gdram.c 2>&1 | sed -n '$s/"-disable-free"\|"tools.gdram.c"$//gp' >"$BATS_TEST_TMPDIR/command"
	[ -s "$BATS_TEST_TMPDIR/command" ]
	# shellcheck disable=SC2046
	eval "$(cat "$BATS_TEST_TMPDIR/command")" $(find lib tools tests/unit -name '*.c' | sort | few_lines 40)
	grep -qE '^exec make .* check WERROR=-Werror$' .ci/run
}

@test "--help ends in an example, which runs" {
	for tool in tools/*.c; do
		name=$(basename "$tool" .c)
		example=$("$name" --help | sed '1,/^example:$/d')
		[[ $example == *"$name"* ]]
		[ "$name" != gtrace-record ] || continue # wants a program; its manual's examples run
		bash -o pipefail -c "$example || [ \$? -eq 141 ]" >"$BATS_TEST_TMPDIR/out"
		[ -s "$BATS_TEST_TMPDIR/out" ]
	done
}

@test "--help and gtrace help keep to 80 columns, and a heading stands alone" {
	for tool in tools/*.c; do
		name=$(basename "$tool" .c)
		"$name" --help >"$BATS_TEST_TMPDIR/$name.help"
	done
	gtrace help >"$BATS_TEST_TMPDIR/tasks.help"
	for task in $(sed -n '/^Tasks/,/^$/s/^  \([a-z]*\) .*/\1/p' "$BATS_TEST_TMPDIR/tasks.help"); do
		gtrace help "$task" >"$BATS_TEST_TMPDIR/task-$task.help"
	done
	[ "$(ls "$BATS_TEST_TMPDIR"/*.help | wc -l)" -gt 24 ]
	awk 'length > 80 || / $/ || /\t/ { print FILENAME ": " $0; bad = 1 }
		FNR == 1 { heading = 0 }
		heading && !/^ *-/ && FILENAME ~ /gcache/ { print FILENAME ": a heading without options: " $0; bad = 1 }
		{ heading = FILENAME ~ /gcache/ && /:$/ && !/^ / && !/^example/ ; n += heading }
		END { exit bad || n < 9 }' "$BATS_TEST_TMPDIR"/*.help
}

@test "--help and --version go to standard output, wrong options to standard error" {
	for tool in tools/*.c; do
		name=$(basename "$tool" .c)
		"$name" --help 2>/dev/null | grep -q "^usage: $name"
		"$name" --version 2>/dev/null | grep -qx "$name [0-9.]*"
		status=0
		"$name" --no-such-option </dev/null >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
		[ "$status" -eq 2 ]
		[ ! -s "$BATS_TEST_TMPDIR/out" ]
		[ -s "$BATS_TEST_TMPDIR/err" ]
	done
}

@test "a misspelt option gets a suggestion, an unrelated one does not" {
	run gcache --l1 --seize 32K
	[ "$status" -eq 2 ]
	[[ $output == *"did you mean '--size'?"* ]]
	run gstats --jsno
	[[ $output == *"did you mean '--json'?"* ]]
	run gcache --l1 --hit-cycels=3
	[[ $output == *"did you mean '--hit-cycles'?"* ]]
	for option in --no-such-option --s --; do
		run gcache --l1 "$option" 1
		[[ $output != *"did you mean"* ]]
	done
}

@test "loops that are compiled for several machines take the widest of this one, by gcc and by clang" {
	grep -qw avx2 /proc/cpuinfo 2>/dev/null || skip "this machine has no AVX2"
	cat >"$BATS_TEST_TMPDIR/wide.c" <<-'END'
		#include "base/wide.h"
		#include <stdio.h>
		GT_WIDE static void *here(void)
		{
			void *at;
			__asm__ volatile("lea 0(%%rip), %0" : "=r"(at));
			return at;
		}
		int main(void) { return printf("%p\n", here()) < 0; }
	END
	for cc in gcc clang; do
		command -v "$cc" >/dev/null || continue
		"$cc" -O2 -g -no-pie -fno-pie -Ilib -o "$BATS_TEST_TMPDIR/wide" "$BATS_TEST_TMPDIR/wide.c"
		nm "$BATS_TEST_TMPDIR/wide" | sort | awk -v at="$("$BATS_TEST_TMPDIR/wide" | sed 's/0x//')" 'BEGIN {
			while (length(at) < 16)
				at = "0" at
		}
		tolower($2) == "t" && $1 <= at { last = $3 }
		END { print last }' >"$BATS_TEST_TMPDIR/taken"
		grep -qE 'avx2|avx512|x86[_-]64[_-]v[34]' "$BATS_TEST_TMPDIR/taken" || { echo "$cc takes $(cat "$BATS_TEST_TMPDIR/taken")"; return 1; }
	done
}

@test "a wrong option is one line that says what is expected" {
	while IFS='|' read -r command said; do
		# shellcheck disable=SC2086
		expect_failure 2 "$said" $command
	done <<-'TABLE'
		gcache --l3|gcache: unknown option '--l3' ('gcache --help' lists all)
		gcache -l1|gcache: unknown option '-l1': did you mean '--l1'?
		gcache --L1|gcache: unknown option '--L1': did you mean '--l1'?
		gcache -x|gcache: unknown option '-x' ('gcache --help' lists all)
		gcache --size|gcache: --size: expected an argument: --size BYTES|none
		gcache -S|gcache: -S: expected an argument: -S, --memory SIZE
		gcache --l1=3|gcache: --l1: expected no argument
		gcache --s|gcache: '--s': several options begin so ('gcache --help' lists all)
		gdram --gpu a100|gdram: unknown option '--gpu': gschedule takes the GPU ('gdram --help' lists all)
		gtrace run --gpu|gtrace: --gpu: expected an argument: --gpu NAME
	TABLE
}

@test "a file of another kind is named, with what takes it" {
	cd "$BATS_TEST_TMPDIR"
	cp "$(command -v gcache)" program
	chmod -x program
	cp "$ROOT/examples/kernels/ptx/gemm.ptx" kernel.ptx
	cp "$ROOT/examples/kernels/gemm.cu" source.cu
	ordered conv | gcoalesce >requests
	head -c 100 requests | tr -d '\223' >bytes
	cp /bin/true here
	while IFS='|' read -r status command said; do
		# shellcheck disable=SC2086
		expect_failure "$status" "$said" $command
	done <<-'TABLE'
		1|gtrace-order program|gtrace-order: program: expected a trace, found a program (gtrace-record runs it)
		1|gtrace-order kernel.ptx|expected a trace, found PTX (gtrace-ptx runs its kernels)
		1|gtrace-order source.cu|expected a trace, found a source (nvcc -g -lineinfo -cudart shared
		1|gtrace-order bytes|bytes: expected a trace, found binary data
		1|gtrace-order requests|found requests: gcoalesce or another stage made them; order the stream before it
		2|gtrace-order --format accel kernel.ptx|--format 'accel': expected one of nvbit, accelsim, pptmem,
		1|gtrace-ptx --list program|gtrace-ptx: program: expected PTX, found a program
		1|gtrace-ptx --list requests|requests: expected PTX, found a gtrace stream (gtrace-cat shows it)
		127|gtrace-record source.cu|gtrace-record: source.cu: expected a program, found a source (nvcc
		127|gtrace-record ./kernel.ptx|./kernel.ptx: expected a program, found PTX
		127|gtrace-record requests|requests: expected a program, found a gtrace stream
		127|gtrace-record here|here: expected a program; one in this folder is called ./here
		127|gtrace-record ./program|./program: expected a program, found a file that may not be run (chmod +x)
	TABLE
}

@test "a binary stream is not written to a terminal" {
	needs_terminal
	gtrace-order examples/traces/conv.traceg.xz >"$BATS_TEST_TMPDIR/stream"
	for tool in gcoalesce gsample "gschedule --sm 2" "gcache --l1" gdram; do
		run -1 script -qec "$tool <$BATS_TEST_TMPDIR/stream" /dev/null </dev/null
		[[ $output == *terminal* ]] || { echo "$tool: $output"; return 1; }
	done
}

@test "nothing waits for a terminal" {
	needs_terminal
	for tool in "gcache --l1" "gtrace-order" "grd --curve" gstats "gstats --errors -" gtrace-cat "gtrace-cat --from" "gpchase infer" "gplot curve"; do
		run -1 timeout 20 script -qec "$tool >/dev/null" /dev/null </dev/null
		[[ $output == *terminal* ]] || { echo "$tool: $output"; return 1; }
	done
}

@test "the project speaks of itself alone" {
	run -1 git grep -nIE '(^|[^[:alnum:]_}])/(work|root|home)/[a-z]|/tmp/wt' -- . ':!tests/house.bats'
}

@test "the overview's examples" {
	# The other host is this one; tests/long/sweep.bats uses a real sshd.
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$BATS_TEST_TMPDIR/bin/ssh"
	chmod +x "$BATS_TEST_TMPDIR/bin/ssh"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	run_man_examples gtrace.7
}

@test "the README's first command ends in a finding" {
	make -s -o all demo BIN="$(dirname "$(command -v gcache)")" BUILD="$BUILD" >"$BATS_TEST_TMPDIR/report"
	grep -qE '^  1  uncoalesced store +[^ ]+ +out$' "$BATS_TEST_TMPDIR/report"
	grep -qE '^     32.00 sectors an access, 4.00 are enough' "$BATS_TEST_TMPDIR/report"
}

@test "README is one screen a part: 120 lines, 80 columns where it is text; its links and those of docs lead to files" {
	[ "$(wc -l <README.md)" -le 120 ]
	for page in ./README.md docs/*.md; do
		awk '/^    / || /^!\[/ { next } length > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad }' "$page"
		[ "$page" = ./README.md ] || grep -qF "]($page)" README.md || { echo "README does not name $page"; return 1; }
		tr '\n' ' ' <"$page" | grep -oE '\]\([^)]+\)' | sed -E 's/^..//; s/\)$//' | awk '!/^(https?:|#)/' >"$BATS_TEST_TMPDIR/links"
		while IFS='#' read -r file heading; do
			[ -e "${page%/*}/$file" ] || { echo "$page: no $file"; return 1; }
			[ -z "$heading" ] || sed -nE 's/^#+ //p' "${page%/*}/$file" | tr 'A-Z ' 'a-z-' | tr -d "[],.:'()" | grep -qxF "$heading" ||
				{ echo "$page: no heading $heading in $file"; return 1; }
		done <"$BATS_TEST_TMPDIR/links"
	done
}
