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
	dpkg-deb -c build-deb/gtrace-cuda-plugins_*.deb | grep -cE "stub/(cublas/libcublas(Lt)?\.so\.13|cufft/libcufft\.so\.12|curand/libcurand\.so\.10)$" >"$BATS_TEST_TMPDIR/plugins"
	[ "$(cat "$BATS_TEST_TMPDIR/plugins")" -eq 4 ]
	[ "$(dpkg-deb -c build-deb/gtrace-cuda-plugins_*.deb | grep -cE 'stub/(cublas/libcublas(Lt)?.so.13|cufft/libcufft.so.12|curand/libcurand.so.10)$')" -eq 4 ]
	# Unpacked, they run.
	for package in build-deb/*.deb; do dpkg-deb -x "$package" image; done
	image/usr/bin/gtrace-order examples/traces/gemm.rdgc.xz | image/usr/bin/gschedule --gpu titanv | image/usr/bin/gcache --l1 |
		image/usr/bin/gstats --csv | grep -q '^total,l1,reads,'
}

@test "make wheel: a virtual environment runs it, and it leaves nothing behind" {
	local python name pip=(venv/bin/pip --disable-pip-version-check --quiet)
	for python in python3 /usr/bin/python3; do
		if "$python" -c 'import msgpack, numpy, pandas, xxhash' 2>/dev/null; then break; fi
	done
	"$python" -c 'import msgpack, numpy, pandas, xxhash' || skip "no Python with msgpack, numpy, pandas and xxhash: make deps"
	cd "$BATS_TEST_TMPDIR"
	"$python" -m venv --system-site-packages venv >said 2>&1 || skip "no virtual environments (python3-venv): $(tail -n 1 said)"
	make -s -C "$ROOT" -o all BUILD="$BUILD" BIN="$(dirname "$(command -v gcache)")" wheel >built
	name=$BUILD/wheel/$(basename "$(cat built)")
	[ "$("$python" -m zipfile -l "$name" | grep -c ' 1980-01-01 00:00:00 ')" -eq "$("$python" -m zipfile -l "$name" | tail -n +2 | wc -l)" ] # no date of today
	unset PYTHONPATH GTRACE_CUDART
	"${pip[@]}" install --no-index --no-deps "$name"
	cp "$ROOT/examples/traces/gemm.rdgc.xz" .
	PATH=/usr/bin:/bin venv/bin/python -c 'import gtrace; run = gtrace.run("gemm.rdgc.xz", gpu="titanv")
print(run.gpu, len(run.findings) > 0, run.counts[(run.counts.stage == "l1") & (run.counts.counter == "reads")].value.sum())' >found
	gtrace-order gemm.rdgc.xz | gcoalesce | gschedule --gpu titanv | gcache --l1 | gstats --csv >counted
	[ "$(cat found)" = "NVIDIA TITAN V True $(awk -F, '$1 == "total" && $2 == "l1" && $3 == "reads" { print $4 }' counted)" ]
	venv/bin/gtrace-record --stub curand true 2>&1 | grep -aq 'brought no device code' # it finds its runtime and plug-ins
	"${pip[@]}" uninstall -y gtrace
	[ ! -e venv/bin/gtrace ]
	[ ! -e venv/lib/gtrace/libcudart.so.13 ]
}
