#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The Debian packages: built from what is committed, clean for lintian, and complete.

bats_require_minimum_version 1.5.0

load ../helpers

@test "make deb builds four packages that lintian finds clean, with the files of make install" {
	for program in dpkg-buildpackage dh lintian; do
		command -v "$program" >/dev/null || skip "no $program"
	done
	git -c safe.directory='*' clone -q "$ROOT" "$BATS_TEST_TMPDIR/clone"
	cd "$BATS_TEST_TMPDIR/clone"
	PATH=/usr/sbin:/usr/bin:/sbin:/bin make deb >"$BATS_TEST_TMPDIR/said" 2>&1 || { tail -n 30 "$BATS_TEST_TMPDIR/said"; return 1; }
	for package in gtrace libgtrace0 libgtrace-dev gtrace-doc; do
		dpkg-deb -c build-deb/${package}_*.deb | awk '$1 !~ /^d/ { print $6 }' >"$BATS_TEST_TMPDIR/$package"
	done
	grep -qx './usr/bin/gcache' "$BATS_TEST_TMPDIR/gtrace"
	grep -q '/gtrace/libcudart.so.13$' "$BATS_TEST_TMPDIR/gtrace"
	grep -qx './usr/share/gtrace/pipelines/sweep.mk' "$BATS_TEST_TMPDIR/gtrace"
	grep -q '/libgtrace.so.0$' "$BATS_TEST_TMPDIR/libgtrace0"
	grep -qx './usr/share/man/man3/libgtrace.3.gz' "$BATS_TEST_TMPDIR/libgtrace-dev"
	grep -qx './usr/share/doc/gtrace-doc/examples/filter.c' "$BATS_TEST_TMPDIR/gtrace-doc"
	# Unpacked, they run.
	for package in build-deb/*.deb; do dpkg-deb -x "$package" image; done
	image/usr/bin/gtrace-order examples/traces/gemm.rdgc.xz | image/usr/bin/gschedule --gpu titanv | image/usr/bin/gcache --l1 |
		image/usr/bin/gstats --csv | grep -q '^total,l1,reads,'
}
