# SPDX-License-Identifier: MIT
# Installing gtrace, and using the library.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$ROOT"
	work=$BATS_TEST_TMPDIR
	# Installs the present build and builds nothing (-o all), since other tests run the programs meanwhile.
	install=(make -s -o all -o plugins DESTDIR="$work/image" BUILD="$BUILD" BIN="$(dirname "$(command -v gcache)")")
}

# A copy of what was built, in $work/build and $work/bin, in which a test may build.
copy_build() {
	cp -a "$BUILD" "$work/build"
	cp -a "$(dirname "$(command -v gcache)")" "$work/bin"
	copy=(make -s BUILD="$work/build" BIN="$work/bin")
}

@test "make install, a program against the library, make uninstall" {
	"${install[@]}" install PREFIX=/opt/gtrace
	[ -x "$work/image/opt/gtrace/bin/gcache" ]
	[ -f "$work/image/opt/gtrace/share/man/man1/gcache.1" ]
	[ -f "$work/image/opt/gtrace/share/gtrace/gpus/titanv" ]
	[ -f "$work/image/opt/gtrace/share/doc/gtrace/examples/filter.c" ]
	export PKG_CONFIG_PATH=$work/image/opt/gtrace/lib/pkgconfig
	[ "$(pkg-config --modversion gtrace)" = "$(gcache --version | cut -d ' ' -f 2)" ]
	sed -i "s|^prefix=.*|prefix=$work/image/opt/gtrace|" "$PKG_CONFIG_PATH/gtrace.pc"
	# shellcheck disable=SC2046
	cc ${SANITIZE-} -o "$work/filter" examples/filter.c $(pkg-config --cflags --libs gtrace)
	gtrace-order examples/traces/conv.rdgc.xz | LD_LIBRARY_PATH=$work/image/opt/gtrace/lib "$work/filter" 0 7 | gtrace-cat --check
	(cd / && "$work/image/opt/gtrace/bin/gtrace-cat" --gpu titanv | grep -q 'NVIDIA TITAN V')
	"${install[@]}" uninstall PREFIX=/opt/gtrace
	[ -z "$(find "$work/image" ! -type d)" ]
}

# bats test_tags=whole
@test "an installed user sweeps without a clone, by the pipelines and examples that are installed" {
	"${install[@]}" install PREFIX=/opt/gtrace
	share=$work/image/opt/gtrace/share/gtrace
	mkdir "$work/elsewhere"
	cd "$work/elsewhere"
	printf 'trace = %s\ngpu = titanv\nl1.size = 8K 64K\n' "$share/examples/traces/conv.rdgc.xz" >my.sweep
	PATH=$work/image/opt/gtrace/bin:/usr/bin:/bin make -s -f "$share/pipelines/sweep.mk" SWEEP=my.sweep >said
	[ "$(cat said)" = results/sweeps/my.csv ]
	[ "$(cut -d, -f 4 results/sweeps/my.csv | paste -sd ' ')" = "l1.size 8192 65536" ]
	# What is installed is what is in the repository.
	(cd "$ROOT" && git ls-files pipelines examples) | while read -r file; do cmp "$ROOT/$file" "$share/$file"; done
}

@test "libgtrace(3): its example compiles against the installed library, and counts as gstats does" {
	"${install[@]}" install PREFIX=/opt/gtrace
	prefix=$work/image/opt/gtrace
	[ -f "$prefix/share/man/man3/libgtrace.3" ]
	man_examples libgtrace.3 | sed 's/&\(error\)/\&\1/' >"$work/sectors.c"
	sed -i "s|^prefix=.*|prefix=$prefix|" "$prefix/lib/pkgconfig/gtrace.pc"
	# shellcheck disable=SC2046
	cc -std=gnu11 -Wall -Wextra -Werror ${SANITIZE-} -o "$work/sectors" "$work/sectors.c" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs gtrace)
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce >"$work/requests.gt"
	LD_LIBRARY_PATH=$prefix/lib "$work/sectors" <"$work/requests.gt" >"$work/said"
	gstats --csv "$work/requests.gt" | awk -F, '$1 == "total" && $2 == "coalesce" { v[$3] = $4 }
		END { print v["requests"] " requests, " v["sectors"] " sectors" }' | diff - "$work/said"
	head -c 300 "$work/requests.gt" | expect_failure 1 "sectors: " env LD_LIBRARY_PATH="$prefix/lib" "$work/sectors"
}

@test "the installed completions offer every option of --help, the words an option takes, and files" {
	"${install[@]}" install PREFIX=/opt/gtrace
	share=$work/image/opt/gtrace/share
	for program in "$(dirname "$(command -v gcache)")"/*; do
		tool=$(basename "$program")
		bash -n "$share/bash-completion/completions/$tool"
		# Each option in the three files, as their shells write it.
		"$program" --help | sed -n 's/^ *\(-[A-Za-z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p' | sort -u >"$work/options"
		[ -s "$work/options" ]
		grep -oE -- '--[a-z0-9-]+' "$share/bash-completion/completions/$tool" | sort -u | comm -23 "$work/options" - >"$work/missing"
		grep -oE -- "'--[a-z0-9-]+" "$share/zsh/site-functions/_$tool" | tr -d "'" | sort -u | comm -23 "$work/options" - >>"$work/missing"
		sed -n 's/.* -l \([a-z0-9-]*\)\( .*\|\)$/--\1/p' "$share/fish/vendor_completions.d/$tool.fish" | sort -u | comm -23 "$work/options" - >>"$work/missing"
		[ ! -s "$work/missing" ] || { echo "$tool:"; cat "$work/missing"; return 1; }
	done
	# offers COMMAND WORD...: what bash offers for the last word.
	offers() {
		bash -c 'source "$1/bash-completion/completions/$2"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${1//-/_}; printf "%s\n" "${COMPREPLY[@]}"' \
			bash "$share" "$@"
	}
	[ "$(offers gschedule --gpu tita | paste -sd ' ')" = "titanv titanx-pascal" ]
	[ "$(offers gtrace-order --by '' | paste -sd ' ')" = "block an" ]
	[ "$(offers gtrace-order --by b)" = block ]
	[ "$(offers gplot sc)" = scatter ]
	# A text of several lines is that of its option, also where a line begins with the name of another.
	[ "$(grep -c -- ' -l json' "$share/fish/vendor_completions.d/gstats.fish")" = 1 ]
	grep -qF "mean and largest values (kernel; launch with --csv, --json)'" "$share/fish/vendor_completions.d/gstats.fish"
	[ "$(offers gcache --siz)" = --size ]
	[ "$(offers gtrace help si)" = sizes ]
	[ "$(offers gtrace help gco)" = gcoalesce ]
	grep -qF "compadd start misses " "$share/zsh/site-functions/_gtrace"
	grep -qF "__fish_seen_subcommand_from help' -a 'start misses " "$share/fish/vendor_completions.d/gtrace.fish"
	[ "$(offers gstats READM)" = README.md ]
	if command -v zsh >/dev/null; then for file in "$share"/zsh/site-functions/_*; do zsh -n "$file"; done; fi
	if command -v fish >/dev/null; then for file in "$share"/fish/vendor_completions.d/*; do fish -n "$file"; done; fi
}

# bats test_tags=whole
@test "make dist has what is committed, named after the tag, and refuses another version's" {
	git -c safe.directory='*' clone -q "$ROOT" "$work/clone" 2>/dev/null || skip "not a git repository"
	cd "$work/clone"
	version=$(gcache --version | cut -d ' ' -f 2)
	git tag | xargs -r git tag -d >/dev/null
	export XZ_OPT=-0
	[[ "$(make -s dist)" == gtrace-$version-*-g*.tar.xz ]]
	git tag "v$version"
	[ "$(make -s dist)" = "gtrace-$version.tar.xz" ]
	tar -tf "gtrace-$version.tar.xz" | sed "s|^gtrace-$version/||" | grep -v '/$' | sort | diff <(git ls-files | sort) <(grep . /dev/stdin)
	git tag -d "v$version" >/dev/null
	git tag v99.0.0
	run make -s dist
	[ "$status" -ne 0 ]
	[[ "$output" == *"the tag is v99.0.0, and VERSION is $version"* ]]
}

@test "the versions of the Makefile, the packages and the citation are one" {
	version=$(gcache --version | cut -d ' ' -f 2)
	grep -qx "version: $version" CITATION.cff
	head -n 1 debian/changelog | grep -qF "gtrace ($version) "
	grep -qx "## $version" CHANGELOG.md
	for key in cff-version message title authors; do grep -q "^$key:" CITATION.cff; done
}

# Puts the installed library into $prefix, and its flags into $flags.
installed_library() {
	"${install[@]}" install PREFIX=/opt/gtrace
	prefix=$work/image/opt/gtrace
	flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --define-variable=prefix="$prefix" "$@" --cflags --libs gtrace)
}

@test "the installed headers are gtrace.h and those it includes, valid in C11 and C++17" {
	installed_library
	cd "$prefix/include/gtrace"
	find . -name '*.h' | sed 's|^\./||' | sort >"$work/headers"
	cc -MM -I. gtrace.h | tr ' \\' '\n\n' | grep '\.h$' | sort -u | diff - "$work/headers"
	[ "$(wc -l <"$work/headers")" -lt 40 ]
	sed 's|.*|#include "&"|' "$work/headers" | tee "$work/all.c" >"$work/all.cc"
	for compiler in "gcc -std=c11" "clang -std=c11"; do
		$compiler -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only "$work/all.c"
	done
	for compiler in "g++ -std=c++17" "clang++ -std=c++17"; do
		command -v "${compiler%% *}" >/dev/null || skip "no ${compiler%% *}"
		$compiler -Wall -Wextra -Wpedantic -Werror -I. -fsyntax-only "$work/all.cc"
	done
}

@test "the shared library has a soname, and exports what the headers declare and nothing else" {
	installed_library
	readelf -d "$prefix/lib/libgtrace.so" | grep -q 'SONAME.*\[libgtrace\.so\.0\]'
	[ -e "$prefix/lib/libgtrace.so.0" ]
	python3 tests/declared.py | sort -u >"$work/declared"
	[ "$(wc -l <"$work/declared")" -gt 100 ]
	nm -D --defined-only "$prefix/lib/libgtrace.so" | awk '{ print $3 }' | grep -v '^__\(asan\|ubsan\|odr_asan\)' | sort | diff "$work/declared" -
}

@test "a C++ program gets gcache's counts, with the shared library and with the static one" {
	cat >"$work/model.cc" <<-'END'
		#include <cinttypes>
		#include <cstdio>
		#include <gtrace.h>

		int main()
		{
			static const char *const parameters[] = {"size", "16K", "ways", "4", "index", "mod", nullptr};
			static const char *const wrong[] = {"mshr", "1x4", nullptr};
			gt_error error;
			gt_reader *in = gt_reader_open(0, "standard input", nullptr, 0, &error);
			gt_rows *rows = gt_rows_new(GT_ROWS_BATCH, &error);
			gt_sink none = {rows, [](void *, gt_rows *sent, gt_error *) { sent->n = 0; return 0; }, nullptr};
			gt_level *level = nullptr;
			uint64_t kernel = 0;
			if (!in || !rows || gt_level_make("l3", nullptr, nullptr, nullptr, &error) ||
			    gt_level_make("l1", wrong, nullptr, nullptr, &error))
				return 1;
			for (gt_event event; (event = gt_read(in, &error)) != GT_END;) {
				if (event == GT_FAILED)
					return 1;
				if (event == GT_KERNEL) {
					kernel = gt_reader_kernel(in)->id;
					level = gt_level_make("l1", parameters, gt_reader_gpu(in), gt_reader_kernel(in), &error);
					if (!level)
						return 1;
					gt_level_begin(level);
				}
				if (event == GT_ROWS && gt_level_take(level, gt_reader_rows(in), &none, &error) != 0)
					return 1;
			}
			gt_count count;
			if (gt_level_finish(level, &none, &error) != 0 || gt_level_count(level, "l1", kernel, &count, &error) != 0)
				return 1;
			std::printf("%" PRIu64 "\n", gt_count_value(&count, "read_hits", 0));
			gt_count_clear(&count);
			gt_level_close(level);
			gt_rows_free(rows);
			gt_reader_close(in);
		}
	END
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce | gschedule --sm 4 >"$work/scheduled"
	hits=$(gcache --l1 --size 16K --ways 4 --index mod "$work/scheduled" | gstats --csv | awk -F, '$1 == 1 && $3 == "read_hits" { print $4 }')
	sanitize=
	if nm "$BUILD/libgtrace.a" | grep -q __asan_init; then sanitize=-fsanitize=address,undefined; fi
	installed_library
	# shellcheck disable=SC2086
	g++ -std=c++17 $sanitize -o "$work/model" "$work/model.cc" $flags -Wl,-rpath,"$prefix/lib"
	readelf -d "$work/model" | grep -q 'NEEDED.*libgtrace\.so\.0\]'
	[ "$("$work/model" <"$work/scheduled")" = "$hits" ]
	installed_library --static
	rm "$prefix"/lib/libgtrace.so*
	# shellcheck disable=SC2086
	g++ -std=c++17 $sanitize -o "$work/model" "$work/model.cc" $flags
	[ "$("$work/model" <"$work/scheduled")" = "$hits" ]
}

@test "each folder is installed where its variable says, and uninstalled completely" {
	folders=(PREFIX=/p bindir=/p/b libdir=/q/lib64 includedir=/p/i datadir=/p/d mandir=/p/m docdir=/p/doc)
	"${install[@]}" install "${folders[@]}"
	for file in b/gcache ../q/lib64/libgtrace.a ../q/lib64/gtrace/libcudart.so.13 i/gtrace/gtrace.h d/gtrace/gpus/titanv m/man7/gtrace.7 doc/LICENSE; do
		[ -f "$work/image/p/$file" ] || { echo "no $file"; return 1; }
	done
	grep -qx 'libdir=/q/lib64' "$work/image/q/lib64/pkgconfig/gtrace.pc"
	grep -qx 'includedir=${prefix}/i/gtrace' "$work/image/q/lib64/pkgconfig/gtrace.pc"
	"${install[@]}" uninstall "${folders[@]}"
	[ -z "$(find "$work/image" ! -type d)" ]
}

# bats test_tags=whole
@test "another PREFIX or VERSION rebuilds only its own file, and the Makefile's date rebuilds nothing" {
	copy_build
	"${copy[@]}" all
	touch "$work/before"
	"${copy[@]}" -W Makefile all
	[ -z "$(find "$work/build" "$work/bin" -type f -newer "$work/before")" ]
	"${copy[@]}" PREFIX=/elsewhere VERSION=9.8.7 all
	"$work/bin/gcache" --version | grep -qx 'gcache 9.8.7'
	strings "$work/bin/gcache" | grep -qx '/elsewhere/share/gtrace'
	[ "$(cd "$work/build" && find . -name '*.o' -newer "$work/before")" = ./lib/base/installed.o ]
}

# bats test_tags=whole
@test "a folder with a blank is refused before anything is installed or removed" {
	local goal
	mkdir -p "$BATS_TEST_TMPDIR/a"
	for goal in install install-plugins uninstall; do
		expect_failure 2 "DESTDIR='$BATS_TEST_TMPDIR/a b': expected a folder without blanks" make -C "$ROOT" --no-print-directory "$goal" DESTDIR="$BATS_TEST_TMPDIR/a b"
		expect_failure 2 "PREFIX='$BATS_TEST_TMPDIR/a b': expected a folder without blanks" make -C "$ROOT" --no-print-directory "$goal" PREFIX="$BATS_TEST_TMPDIR/a b"
	done
	[ -d "$BATS_TEST_TMPDIR/a" ]
	[ ! -e "$BATS_TEST_TMPDIR/a b" ]
}

@test "man -k gtrace finds every tool after make install" {
	command -v mandb >/dev/null || skip "no mandb"
	"${install[@]}" install PREFIX=/usr
	mandb -q --user-db --create "$work/image/usr/share/man" 2>/dev/null || mandb -q "$work/image/usr/share/man"
	man -M "$work/image/usr/share/man" -k gtrace >"$work/found"
	for page in man/*; do
		name=${page#man/}
		grep -q "^${name%.*} (${name##*.})" "$work/found" || { echo "$name"; cat "$work/found"; return 1; }
	done
}

@test "without apt, deps names what to install" {
	mkdir "$work/bin"
	for program in cat id sh; do ln -s "$(command -v $program)" "$work/bin"; done
	PATH=$work/bin run -1 "$ROOT/deps"
	[[ $output == *"no apt-get"*PCRE2*gnuplot*original-awk* ]]
	run -2 "$ROOT/deps" --no-such-option
}

@test "where another apt runs, deps waits for its locks" {
	mkdir -p "$work/bin"
	cat >"$work/bin/apt-get" <<-'END'
		#!/bin/sh
		echo "$@" >>"$CALLS"
		[ "$1" != update ] || [ "$(grep -c update "$CALLS")" -ne 1 ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt)' >&2; exit 100; }
	END
	printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
	printf '#!/bin/sh\n' >"$work/bin/apt-cache"
	chmod +x "$work"/bin/*
	CALLS=$work/calls DEPS_PAUSE=0 PATH=$work/bin:$PATH run -0 "$ROOT/deps"
	[[ $output == *"another apt runs: waiting"* ]]
	[ "$(grep -c ^update "$work/calls")" -eq 2 ]
	grep -q '^install -o DPkg::Lock::Timeout=600 .*libmsgpack-dev' "$work/calls"
	printf '#!/bin/sh\necho "E: no network"\nexit 100\n' >"$work/bin/apt-get"
	PATH=$work/bin:$PATH run ! "$ROOT/deps"
	[[ $output == *"no network"* ]]
}

@test "every header of lib compiles alone, and all of them together" {
	local n=0 flags="-std=c11 -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8 -Wall -Wextra -Werror -Ilib -fsyntax-only -x c -"
	for header in $(find lib -name '*.h' ! -path 'lib/cuda/*'); do # the rest is not of the library
		printf '#include "%s"\n' "${header#lib/}" >"$work/$((++n)).c"
	done
	# clang's own command (-cc1) takes many files without starting anew for each.
	# shellcheck disable=SC2086
	clang ${flags% -x c -} -### "$work/1.c" 2>&1 | sed -n '$s/"-disable-free"\|"[^"]*1.c"$//gp' >"$work/command"
	[ -s "$work/command" ]
	eval "$(cat "$work/command")" '"$work"/[0-9]*.c'
	cat "$work"/[0-9]*.c >"$work/all.c"
	[ "$(wc -l <"$work/all.c")" -gt 100 ]
	for compiler in gcc clang; do
		# shellcheck disable=SC2086
		$compiler $flags <"$work/all.c"
	done
}

# commands FILE: each command of the steps of a workflow, one a line.
commands() { sed -n 's/^ *- run: //p' "$1" | sed 's/ && /\n/g'; }

@test "the forge's workflow is valid, and runs commands and targets that exist" {
	workflow=.github/workflows/check.yml
	if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
		/usr/bin/python3 -c 'import sys, yaml
flow = yaml.safe_load(open(sys.argv[1]))
steps = [step for job in flow["jobs"].values() for step in job["steps"]]
assert all(("run" in step) != ("uses" in step) for step in steps), steps
print(sum("run" in step for step in steps))' "$workflow" >"$work/steps"
		[ "$(cat "$work/steps")" -eq "$(grep -c -e '- run:' "$workflow")" ]
	fi
	[ "$(commands "$workflow" | wc -l)" -gt 5 ]
	while read -r program first _; do
		case $program in
		make) grep -q "^$first:" Makefile ;;
		*/*) [ -x "$program" ] ;;
		apt-get | git) ;;
		*) echo "$program: not known"; return 1 ;;
		esac || { echo "no $program $first"; return 1; }
	done < <(commands "$workflow")
}

@test "the Containerfile installs the libraries that the programs need, and copies what is there" {
	# Debian names the package of libNAME.so.N libNAMEN, or with a dash if the name ends in a digit.
	objdump -p "$BUILD"/libgtrace.so.* | sed -n 's/^ *NEEDED *//p' | sort -u | grep -v '^lib\(c\|m\|asan\|ubsan\)\.so' >"$work/needed"
	[ "$(wc -l <"$work/needed")" -ge 3 ]
	while read -r library; do
		package=$(echo "$library" | sed 's/\([0-9]\)\.so\./\1-/; s/\.so\.//')
		sed -n '/^FROM.*slim$/,$p' Containerfile | grep -qw -e "$package" || { echo "$package is not in Containerfile"; return 1; }
	done <"$work/needed"
	# What builds is what ./deps installs for building.
	for package in gcc libc6-dev make pkg-config libpcre2-dev libxxhash-dev liblz4-dev libzstd-dev libmsgpack-dev; do
		grep -qw -e "$package" Containerfile
		grep -qw -e "$package" deps
	done
	"${install[@]}" install PREFIX=/usr/local
	[ -f "$work/image$(sed -n 's/^ENV PYTHONPATH=//p' Containerfile)/gtrace.py" ]
	cmp python/gtrace_schema.json "$work/image/usr/local/share/gtrace/python/gtrace_schema.json"
}

# bats test_tags=whole
@test "the plug-ins of CUDA libraries are a part of their own, and one that is missing is named with its package" {
	"${install[@]}" install PREFIX=/opt/gtrace PLUGINS=no
	[ ! -e "$work/image/opt/gtrace/lib/gtrace/stub" ]
	run -2 env -u GTRACE_CUDART "$work/image/opt/gtrace/bin/gtrace-record" --stub curand true
	[[ $output == *"/lib/gtrace/stub/curand'"*"package gtrace-cuda-plugins"*"make install-plugins"* ]]
	"${install[@]}" install-plugins PREFIX=/opt/gtrace
	[ "$(cd "$work/image/opt/gtrace/lib/gtrace/stub" && echo */*)" = "$(cd "$BUILD/cudart/stub" && echo */*.so.*[0-9])" ]
	[ -e "$work/image/opt/gtrace/lib/gtrace/stub/curand/libcurand.so.10" ]
	# Without the libraries that they call, the others are left out, and make says so.
	make -s BUILD="$BUILD" BIN="$(dirname "$(command -v gcache)")" CBLAS= FFTW= plugins >"$work/said"
	[ "$(grep -c 'gtrace-record will refuse --stub \(cublas\|cufft\)$' "$work/said")" -eq 2 ]
	"${install[@]}" uninstall PREFIX=/opt/gtrace
	[ -z "$(find "$work/image" ! -type d)" ]
}
