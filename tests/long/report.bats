#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The page of gstats --report in a browser, at the width of a desktop and of a phone. tests/page.py checks that it has one
# script and no outside references. make deps-long installs the browser.

setup() {
	command -v chromium >/dev/null || skip "no chromium"
	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME=$BATS_TEST_TMPDIR
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)' \
		"$ROOT/examples/kernels/ptx/gemm.ptx" | gschedule --gpu titanv | gcache --l1 | grd --by array --name behind | gcache --l2 | gdram |
		gstats --report page
}

# shot WIDTHxHEIGHT FILE [dark]: a screenshot of the page in a frame of that size, as phones are narrower than the smallest
# window of a browser; for a reader with a light or dark screen (0: dark, 1: light in Blink).
shot() {
	local width=${1%x*} height=${1#*x} scheme=1
	[ "${3-}" != dark ] || scheme=0
	printf '<!DOCTYPE html><body style="margin:0"><iframe src="page/index.html" style="width:%spx;height:%spx;border:0"></iframe>' "$width" "$height" >frame.html
	timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --blink-settings=preferredColorScheme=$scheme \
		--window-size="$((width > 500 ? width : 500)),$height" --screenshot="$2" "file://$PWD/frame.html" >/dev/null 2>chromium.log
}

@test "a desktop and a phone show the page: text, and the colours of the pictures" {
	shot 1200x2400 desktop.png
	shot 390x2400 phone.png
	shot 1200x2400 desktop-dark.png dark
	shot 390x2400 phone-dark.png dark
	python3 - <<-'END'
		import struct, zlib

		def pixels(path):
		    data, at, body = open(path, "rb").read(), 8, b""
		    while at < len(data):
		        size, kind = struct.unpack(">I4s", data[at:at + 8])
		        chunk = data[at + 8:at + 8 + size]
		        at += 12 + size
		        if kind == b"IHDR":
		            width, height, depth, colour = struct.unpack(">IIBB", chunk[:10])
		            channels = {2: 3, 6: 4}[colour]
		        elif kind == b"IDAT":
		            body += chunk
		    raw, stride, rows, before = zlib.decompress(body), width * channels, [], bytearray(width * channels)
		    for y in range(height):
		        method, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
		        for x in range(stride):
		            a = row[x - channels] if x >= channels else 0
		            b, c = before[x], before[x - channels] if x >= channels else 0
		            if method == 1: row[x] = row[x] + a & 255
		            elif method == 2: row[x] = row[x] + b & 255
		            elif method == 3: row[x] = row[x] + (a + b) // 2 & 255
		            elif method == 4:
		                p = a + b - c
		                row[x] = row[x] + min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2] & 255
		        rows.append(row)
		        before = row
		    return [tuple(row[x:x + 3]) for row in rows for x in range(0, stride, channels)]

		for name in ("desktop", "phone"):
		    for mode, paper, bar in (("", 255, (0, 114, 178)), ("-dark", 22, (74, 163, 223))):
		        path = name + mode + ".png"
		        seen = pixels(path)
		        ground = sum(p[0] == paper for p in seen)
		        text = sum(sum(p) < 200 for p in seen) if not mode else sum(sum(p) > 560 for p in seen)
		        bars = sum(p == bar for p in seen)
		        print(path, len(seen), text, bars, ground)
		        assert text > 3000 and bars > 8000 and ground > len(seen) / 3, path
	END
}

@test "a click on a heading sorts the table by it, and another one turns the order" {
	sed 's|</body>|<script>const t=document.querySelector("table.sort"),b=t.tHead.querySelectorAll("button")[1],v=()=>[...t.tBodies[0].rows].map(r=>+r.cells[1].textContent.replace(/,/g,""));b.click();const down=v();b.click();const up=v();document.title=down+" "+up</script></body>|' page/index.html >sorted.html
	timeout 120 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 --dump-dom "file://$PWD/sorted.html" >dom 2>chromium.log
	sed -n 's/.*<title>\([0-9,]*\) \([0-9,]*\)<.*/\1 \2/p' dom >orders
	read -r down up <orders
	[ "$(tr , '\n' <<<"$down" | wc -l)" -gt 2 ]
	[ "$(tr , '\n' <<<"$down" | sort -rn)" = "$(tr , '\n' <<<"$down")" ]
	[ "$(tr , '\n' <<<"$up" | sort -n)" = "$(tr , '\n' <<<"$up")" ]
}

@test "on a phone nothing is wider than the screen" {
	# A copy of the page with a script measures it.
	sed 's|</body>|<script>parent.postMessage(document.documentElement.scrollWidth + " of " + innerWidth, "*")</script></body>|' \
		page/index.html >asked.html
	printf '%s' '<!DOCTYPE html><body><script>onmessage = event => { document.title = event.data }</script>' \
		'<iframe src="asked.html" style="width:390px;height:2000px;border:0"></iframe>' >frame.html
	timeout 120 chromium --headless --no-sandbox --disable-gpu --window-size=500,2000 --virtual-time-budget=5000 \
		--dump-dom "file://$PWD/frame.html" >dom 2>chromium.log
	sed -n 's/.*<title>\([0-9]*\) of \([0-9]*\)<.*/\1 \2/p' dom | awk '{ print "page " $1 ", screen " $2; fits = $1 <= $2 && $2 == 390 } END { exit !fits }'
}
