# SPDX-License-Identifier: MIT
# What a packager and a user of the library do.

setup() {
	cd "$ROOT"
	work=$BATS_TEST_TMPDIR
}

@test "make install, a program against the library, make uninstall" {
	make install DESTDIR="$work/root" PREFIX=/opt/gtrace BUILD="$BUILD" BIN="$(dirname "$(command -v gcache)")" >/dev/null
	[ -x "$work/root/opt/gtrace/bin/gcache" ]
	[ -f "$work/root/opt/gtrace/share/man/man1/gcache.1" ]
	[ -f "$work/root/opt/gtrace/share/gtrace/titanv" ]
	export PKG_CONFIG_PATH=$work/root/opt/gtrace/lib/pkgconfig
	[ "$(pkg-config --modversion gtrace)" = "$(gcache --version | cut -d ' ' -f 2)" ]
	sed -i "s|^prefix=.*|prefix=$work/root/opt/gtrace|" "$PKG_CONFIG_PATH/gtrace.pc"
	# shellcheck disable=SC2046
	cc ${SANITIZE-} -o "$work/filter" examples/filter.c $(pkg-config --cflags --libs gtrace)
	gtrace-order examples/traces/conv.rdgc.xz | "$work/filter" | gtrace-cat --check
	make uninstall DESTDIR="$work/root" PREFIX=/opt/gtrace >/dev/null
	[ -z "$(find "$work/root" -type f)" ]
}

@test "the header of every stage can be included alone" {
	for header in lib/gtrace.h lib/*/*.h; do
		printf '#include "%s"\n' "${header#lib/}" | cc -std=c11 -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8 -Wall -Werror -Ilib -fsyntax-only -x c - || { echo "$header"; return 1; }
	done
}
