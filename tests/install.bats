# SPDX-License-Identifier: MIT
# What a packager and a user of the library do.

setup() {
	cd "$ROOT"
	work=$BATS_TEST_TMPDIR
}

@test "make install, a program against the library, make uninstall" {
	make install DESTDIR="$work/image" PREFIX=/opt/gtrace BUILD="$BUILD" BIN="$(dirname "$(command -v gcache)")" >/dev/null
	[ -x "$work/image/opt/gtrace/bin/gcache" ]
	[ -f "$work/image/opt/gtrace/share/man/man1/gcache.1" ]
	[ -f "$work/image/opt/gtrace/share/gtrace/gpus/titanv" ]
	export PKG_CONFIG_PATH=$work/image/opt/gtrace/lib/pkgconfig
	[ "$(pkg-config --modversion gtrace)" = "$(gcache --version | cut -d ' ' -f 2)" ]
	sed -i "s|^prefix=.*|prefix=$work/image/opt/gtrace|" "$PKG_CONFIG_PATH/gtrace.pc"
	# shellcheck disable=SC2046
	cc ${SANITIZE-} -o "$work/filter" examples/filter.c $(pkg-config --cflags --libs gtrace)
	gtrace-order examples/traces/conv.rdgc.xz | "$work/filter" 0 7 | gtrace-cat --check
	(cd / && "$work/image/opt/gtrace/bin/gtrace-cat" --gpu titanv | grep -q 'NVIDIA TITAN V')
	make uninstall DESTDIR="$work/image" PREFIX=/opt/gtrace >/dev/null
	[ -z "$(find "$work/image" -type f)" ]
}

@test "the header of every stage can be included alone" {
	for header in lib/gtrace.h lib/*/*.h lib/*/*/*.h; do
		[[ $header != lib/ptx/cudart/* ]] || continue # not of the library
		printf '#include "%s"\n' "${header#lib/}" | cc -std=c11 -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8 -Wall -Werror -Ilib -fsyntax-only -x c - || { echo "$header"; return 1; }
	done
}
