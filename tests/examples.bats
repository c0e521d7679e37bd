#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The filters of examples/, and every command of its README.

load helpers

trace=examples/traces/conv.traceg.xz

setup() {
	cd "$ROOT" || return 1
	gtrace-order "$trace" >"$BATS_TEST_TMPDIR/ordered.gt"
}

# The first Python that has the modules that filter-numpy.py needs, or a visible skip.
python_with_numpy() {
	local python
	for python in $(type -ap python3); do
		if "$python" -c 'import msgpack, numpy, xxhash' 2>/dev/null; then
			echo "$python"
			return
		fi
	done
	return 1
}

# The commands of the README, except those that need an installed library.
readme_commands() {
	sed -n 's/^    //p' examples/README.md | grep -vE '^cc |\./filter |filter-numpy'
}

# Installs the present build (-o all: without building) and builds the filter against it.
installed_filter() {
	local build=${BUILD:-build} root=$BATS_TEST_TMPDIR/root sanitize="" flags
	make -s -o all install BUILD="$build" BIN="$(dirname "$(command -v gtrace-order)")" DESTDIR="$root" PREFIX=/usr
	if nm "$build/libgtrace.a" 2>/dev/null | grep -q __asan_init; then
		sanitize=-fsanitize=address,undefined
	fi
	flags=$(PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --define-variable=prefix="$root/usr" --cflags --libs gtrace)
	# shellcheck disable=SC2086
	${CC:-cc} -std=c11 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L $sanitize -o "$BATS_TEST_TMPDIR/filter" examples/filter.c $flags -Wl,-rpath,"$root/usr/lib"
}

# The rows that both filters must keep: loads of blocks 3 to 17, in the text view.
wanted() {
	gtrace-cat "$BATS_TEST_TMPDIR/ordered.gt" | awk -F '\t' '!/^#/ && $1 >= 3 && $1 <= 17 && $5 ~ /^load/'
}

@test "filter.c builds against the installed library and keeps the loads of its blocks" {
	installed_filter
	"$BATS_TEST_TMPDIR/filter" 3 17 <"$BATS_TEST_TMPDIR/ordered.gt" >"$BATS_TEST_TMPDIR/kept.gt"
	wanted >"$BATS_TEST_TMPDIR/wanted"
	[ -s "$BATS_TEST_TMPDIR/wanted" ]
	gtrace-cat "$BATS_TEST_TMPDIR/kept.gt" | grep -v '^#' | diff "$BATS_TEST_TMPDIR/wanted" -
	# The earlier history is passed on, and the filter adds itself.
	gstats --csv "$BATS_TEST_TMPDIR/ordered.gt" | diff - <(gstats --csv "$BATS_TEST_TMPDIR/kept.gt")
	gtrace-cat "$BATS_TEST_TMPDIR/kept.gt" | grep -q '^#history.filter'
	# A truncated stream must not be mistaken for a complete one.
	head -c 5000 "$BATS_TEST_TMPDIR/ordered.gt" | expect_failure_of_filter
}

expect_failure_of_filter() {
	local status=0
	"$BATS_TEST_TMPDIR/filter" 3 17 >"$BATS_TEST_TMPDIR/cut.gt" 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/stderr")" -eq 1 ]
	run gstats "$BATS_TEST_TMPDIR/cut.gt"
	[ "$status" -eq 1 ]
}

@test "filter.py keeps the same rows" {
	gtrace-cat "$BATS_TEST_TMPDIR/ordered.gt" | python3 examples/filter.py --blocks 3-17 --op load |
		gtrace-cat --from >"$BATS_TEST_TMPDIR/kept.gt"
	gtrace-cat "$BATS_TEST_TMPDIR/kept.gt" | grep -v '^#' | diff <(wanted) -
	gtrace-cat "$BATS_TEST_TMPDIR/ordered.gt" | head -n 100 | python3 examples/filter.py --blocks 3-17 >"$BATS_TEST_TMPDIR/cut.tsv"
	expect_failure 1 "#end" bash -c "gtrace-cat --from <'$BATS_TEST_TMPDIR/cut.tsv' | wc -c >&- 2>&- ; exit \${PIPESTATUS[0]}"
}

# bats test_tags=whole
@test "filter-numpy.py counts what awk counts, and notices damage" {
	python=$(python_with_numpy) || skip "no python3 with msgpack, numpy and xxhash"
	gcoalesce "$BATS_TEST_TMPDIR/ordered.gt" >"$BATS_TEST_TMPDIR/requests.gt"
	"$python" examples/filter-numpy.py <"$BATS_TEST_TMPDIR/requests.gt" >"$BATS_TEST_TMPDIR/numpy"
	gtrace-cat "$BATS_TEST_TMPDIR/requests.gt" | awk -f examples/misses-by-pc.awk | LC_ALL=C sort |
		awk -F '\t' '{ print $1 "\t" $3 "\t" $4 }' >"$BATS_TEST_TMPDIR/awk"
	sed 1d "$BATS_TEST_TMPDIR/numpy" | cut -f 1-3 | LC_ALL=C sort | diff "$BATS_TEST_TMPDIR/awk" -
	[ "$(wc -l <"$BATS_TEST_TMPDIR/awk")" -gt 5 ]
	size=$(stat -c %s "$BATS_TEST_TMPDIR/requests.gt")
	for at in 300 $((size / 2)) $((size - 40)); do
		"$python" - "$BATS_TEST_TMPDIR/requests.gt" "$at" >"$BATS_TEST_TMPDIR/flipped.gt" <<-'PYTHON'
			import sys
			data = bytearray(open(sys.argv[1], "rb").read())
			data[int(sys.argv[2])] ^= 4
			sys.stdout.buffer.write(data)
		PYTHON
		run "$python" examples/filter-numpy.py <"$BATS_TEST_TMPDIR/flipped.gt"
		[ "$status" -ne 0 ]
		head -c "$at" "$BATS_TEST_TMPDIR/requests.gt" >"$BATS_TEST_TMPDIR/cut.gt"
		run "$python" examples/filter-numpy.py <"$BATS_TEST_TMPDIR/cut.gt"
		[ "$status" -eq 1 ]
		[[ "$output" == *"no end record"* ]]
	done
}

@test "the awk scripts agree with gstats" {
	gcoalesce "$BATS_TEST_TMPDIR/ordered.gt" >"$BATS_TEST_TMPDIR/requests.gt"
	gtrace-cat "$BATS_TEST_TMPDIR/requests.gt" >"$BATS_TEST_TMPDIR/requests.tsv"
	counted() { gstats --csv "$BATS_TEST_TMPDIR/requests.gt" | awk -F, -v name="$1" '$1 == "total" && $2 == "coalesce" && $3 == name { print $4 }'; }
	[ "$(awk -f examples/hot-lines.awk "$BATS_TEST_TMPDIR/requests.tsv" | awk '{ n += $2 } END { print n }')" = "$(counted requests)" ]
	[ "$(awk -f examples/misses-by-pc.awk "$BATS_TEST_TMPDIR/requests.tsv" | awk '{ n += $4 } END { print n }')" = "$(counted sectors)" ]
	[ "$(awk -f examples/requests-per-access.awk "$BATS_TEST_TMPDIR/requests.tsv" | awk '{ n += $3 } END { print n }')" = "$(counted accesses)" ]
}

@test "the awk scripts refuse accesses, and truncated text" {
	for script in hot-lines misses-by-pc requests-per-access; do
		gtrace-cat "$BATS_TEST_TMPDIR/ordered.gt" >"$BATS_TEST_TMPDIR/accesses.tsv"
		expect_failure 1 "expected requests" awk -f examples/$script.awk "$BATS_TEST_TMPDIR/accesses.tsv"
		gcoalesce "$BATS_TEST_TMPDIR/ordered.gt" | gtrace-cat | sed '$d' >"$BATS_TEST_TMPDIR/cut.tsv"
		expect_failure 1 "cut short" awk -f examples/$script.awk "$BATS_TEST_TMPDIR/cut.tsv"
	done
}

@test "every command of the README runs" {
	count=0
	while IFS= read -r command; do
		count=$((count + 1))
		bash -o pipefail -c "$command" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || {
			echo "fails: $command"
			cat "$BATS_TEST_TMPDIR/err"
			return 1
		}
		[ -s "$BATS_TEST_TMPDIR/out" ]
	done < <(readme_commands)
	[ "$count" -ge 6 ]
}
