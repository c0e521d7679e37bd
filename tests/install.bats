# SPDX-License-Identifier: MIT
# What a packager and a user of the library do.

bats_require_minimum_version 1.5.0
load helpers

setup() {
	cd "$ROOT"
	work=$BATS_TEST_TMPDIR
	# Installs what was built (-o all), and builds nothing: other tests run the programs meanwhile.
	install=(make -s -o all DESTDIR="$work/image" BUILD="$BUILD" BIN="$(dirname "$(command -v gcache)")")
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
	cc ${SANITIZE-} -o "$work/filter" examples/filter.c $(pkg-config --static --cflags --libs gtrace)
	gtrace-order examples/traces/conv.rdgc.xz | "$work/filter" 0 7 | gtrace-cat --check
	(cd / && "$work/image/opt/gtrace/bin/gtrace-cat" --gpu titanv | grep -q 'NVIDIA TITAN V')
	"${install[@]}" uninstall PREFIX=/opt/gtrace
	[ -z "$(find "$work/image" ! -type d)" ]
}

@test "each folder goes where it is told, and all of it goes again" {
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

@test "another PREFIX or VERSION builds what holds it again, and the Makefile's date builds nothing" {
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

@test "a system without apt is told what to install" {
	mkdir "$work/bin"
	for program in cat id sh; do ln -s "$(command -v $program)" "$work/bin"; done
	PATH=$work/bin run -1 "$ROOT/deps"
	[[ $output == *"no apt-get"*PCRE2*gnuplot*original-awk* ]]
	run -2 "$ROOT/deps" --no-such-option
}

@test "the header of every stage can be included alone" {
	for header in lib/gtrace.h lib/*/*.h lib/*/*/*.h; do
		[[ $header != lib/cudart/* ]] || continue # not of the library
		printf '#include "%s"\n' "${header#lib/}" | cc -std=c11 -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8 -Wall -Werror -Ilib -fsyntax-only -x c - || { echo "$header"; return 1; }
	done
}
