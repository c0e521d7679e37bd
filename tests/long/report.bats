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

# A page with all sections: the source of a kernel whose lines are known, 30 kernels, and hardware's counts.
whole_page() {
	seq -f 'text of line %g: a line of source that is as long as lines of source are, and somewhat longer than a phone is wide' 60 >gemm.cu
	{
		gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)' \
			"$ROOT/examples/kernels/ptx/gemm.ptx" | gcoalesce --by site | gschedule --gpu a100 | gcache --l1 --by site --causes | grd --by array --name behind |
			gcache --l2 --by site --causes | gdram | gtrace-cat
	} | awk -F '\t' -v OFS='\t' '
		/^#count\tstage=source/ { next }
		/^#kernel/ { print; print "#count", "stage=source", "kernel=1", "pcs=[61,64,66,70,94]", "lines=[10,10,30,30,50]", "files=[0,0,0,0,0]", "names=/not/here/gemm.cu"; next }
		{ print }' >text
	gtrace-cat --from text >stream
	gstats --report page stream
}

# in_browser WIDTH SCRIPT [light|dark] [SED]: what a script says of the page in a frame of that width: it ends with say(TEXT).
in_browser() {
	local scheme=1
	[ "${3-}" != dark ] || scheme=0
	{
		printf '<script>const say = text => parent.postMessage(String(text), "*"); addEventListener("load", () => {\n'
		cat "$2"
		printf '\n})</script></body>\n'
	} >script.html
	sed -e "${4-}" page/index.html | awk '/<\/body>/ { while ((getline line <"script.html") > 0) print line; next } { print }' >asked.html
	printf '%s' '<!DOCTYPE html><body><script>onmessage = event => { document.body.innerHTML = "<pre>"; document.querySelector("pre").textContent = event.data }</script>' \
		"<iframe src=\"asked.html\" style=\"width:$1px;height:2000px;border:0\"></iframe>" >frame.html
	timeout 120 chromium --headless --no-sandbox --disable-gpu --blink-settings=preferredColorScheme=$scheme --window-size="$(($1 > 500 ? $1 : 500)),2000" \
		--virtual-time-budget=5000 --dump-dom "file://$PWD/frame.html" 2>chromium.log | sed -n '/<pre>/,/<\/pre>/p' | sed 's/.*<pre>//; s/<\/pre>.*//; s/&gt;/>/g'
}

# make_wide: wide.js, which says what is wider than its column.
make_wide() {
	cat >wide.js <<-'END'
		const wide = [...document.querySelectorAll("body, body *")].filter(e => !e.matches(".scroll, .scroll > svg") &&
			!(e.closest("svg") && e.tagName !== "svg") && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1)
		say([document.documentElement.scrollWidth > innerWidth ? "page" : "fits", innerWidth, ...wide.map(e => e.tagName + " " + e.className + " " + e.textContent.slice(0, 40))].join("|"))
	END
}

# fits: nothing is, at four widths, folded or open.
fits() {
	local width open said
	for width in 390 800 1400 2560; do
		for open in '' 's/<details>/<details open>/'; do
			said=$(in_browser $width wide.js light "$open")
			[ "$said" = "fits|$width" ] || { echo "$said"; return 1; }
		done
	done
}

@test "at the width of a phone, a tablet, a desktop and a wide screen nothing is wider than its column" {
	whole_page
	make_wide
	fits
	# On a tablet the whole chart is seen.
	cat >chart.js <<-'END'
		say(Math.max(...[...document.querySelectorAll(".chart .scroll")].map(e => e.scrollWidth - e.clientWidth)))
	END
	[ "$(in_browser 800 chart.js)" = 0 ]
	# On a phone it stands upright, beside no other.
	echo 'say([...document.querySelectorAll(".chart svg")].filter(e => e.clientWidth > 0).map(e => e.classList + " " + (e.clientWidth <= innerWidth)).join("|"))' >chart.js
	[ "$(in_browser 390 chart.js)" = "tall true" ]
}

@test "a comparison fits these widths, too" {
	whole_page
	gtrace-cat stream | sed 's/sent_reads=[0-9]*/sent_reads=7/; s/lines=.10,10,30/lines=[12,12,40/' | gtrace-cat --from >other
	gtrace compare --quiet --as before,after --page page stream other
	grep -q 'Memory chart: after' page/index.html
	make_wide
	fits
}

@test "no text of a chart is wider than its box or the gap between two, nor over another" {
	whole_page
	gtrace-cat stream | awk -F '\t' -v OFS='\t' '/^#count/ { for (i = 4; i <= NF; i++) if ($i ~ /^([a-z]+_)?(reads|writes|accesses|sectors|passes|hits|misses|conflicts)=[0-9]+$/ ||
		$i ~ /[.](accesses|bytes|sectors|passes)=[0-9]+$/) sub(/=0*/, "=98765", $i) } { print }' | gtrace-cat --from >large
	cat >inside.js <<-'END'
		for (const part of document.querySelectorAll("details")) part.open = true
		let n = 0
		const out = []
		for (const svg of document.querySelectorAll(".chart svg")) {
			const texts = [...svg.querySelectorAll("text")].map(text => [text.getBBox(), text.textContent]).filter(([t]) => t.width > 0)
			const boxes = [...svg.querySelectorAll(".box, .absent")].map(box => box.getBBox())
			n += texts.length
			texts.forEach(([t, text], i) => {
				const own = boxes.find(b => t.x >= b.x && t.x < b.x + b.width && t.y >= b.y - 1 && t.y < b.y + b.height)
				const end = own ? own.x + own.width : Math.min(svg.viewBox.baseVal.width, ...boxes.filter(b => b.x > t.x && b.y <= t.y && t.y < b.y + b.height).map(b => b.x))
				const over = texts.slice(i + 1).find(([o]) => t.x < o.x + o.width - 1 && o.x < t.x + t.width - 1 && t.y < o.y + o.height - 3 && o.y < t.y + t.height - 3)
				if (t.x + t.width > end + .5 || (own && t.y + t.height > own.y + own.height) || over) out.push(text + (over ? " over " + over[1] : ""))
			})
		}
		say([n > 20, ...out].join("|"))
	END
	for source in stream large; do
		gstats --report page "$source"
		for width in 390 1400; do
			said=$(in_browser $width inside.js)
			[ "$said" = true ] || { echo "$source $width: $said"; return 1; }
		done
	done
}

@test "on paper nothing is wider than the page, and all is open" {
	whole_page
	cat >paper.js <<-'END'
		dispatchEvent(new Event("beforeprint"))
		const wide = [...document.querySelectorAll("body *")].filter(e => !(e.closest("svg") && e.tagName !== "svg") && e.getBoundingClientRect().right > innerWidth + 1)
		say([document.querySelectorAll("details:not([open])").length, ...wide.map(e => e.tagName + " " + e.className + " " + e.textContent.slice(0, 40))].join("|"))
	END
	# A4 without its margins has 718 pixels of CSS.
	said=$(in_browser 718 paper.js light 's/@media print/@media all/; s/@media screen and/@media not all and/')
	[ "$said" = 0 ] || { echo "$said"; return 1; }
	timeout 120 chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf=page.pdf "file://$PWD/page/index.html" 2>chromium.log
	[ "$(grep -ac '/Type */Page\b' page.pdf)" -ge 3 ]
}

@test "text has a contrast of 4.5 to 1 or more, light and dark" {
	whole_page
	cat >contrast.js <<-'END'
		for (const part of document.querySelectorAll("details")) part.open = true
		const numbers = colour => colour.match(/[\d.]+/g).map(Number)
		const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0)
		const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05)
		const behind = element => {
			for (; element; element = element.parentElement) {
				const colour = numbers(getComputedStyle(element).backgroundColor)
				if (colour.length < 4 || colour[3] > 0) return colour
			}
		}
		const box = document.querySelector(".box"), grounds = [...document.querySelectorAll(".box, .inner")].map(e => numbers(getComputedStyle(e).fill))
		let least = 99, where = "", n = 0
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
		for (let node; (node = walker.nextNode());) {
			const element = node.parentElement, style = getComputedStyle(element)
			if (!node.data.trim() || element.closest("script, title, desc")) continue
			const drawn = element.closest("svg"), ink = numbers(drawn ? style.fill : style.color)
			for (const ground of [behind(element), ...(drawn ? grounds : [])]) {
				n++
				if (contrast(ink, ground) < least) [least, where] = [contrast(ink, ground), node.data.slice(0, 40) + " " + element.className]
			}
		}
		say(n > 300 && least >= 4.5 ? "enough " + least.toFixed(1) : n + " " + least + " " + where)
	END
	for mode in light dark; do
		in_browser 1400 contrast.js $mode | tee said
		grep -q ^enough said
	done
	# The two are not one.
	[ "$(echo 'say(getComputedStyle(document.body).backgroundColor)' >ground.js; in_browser 1400 ground.js light)" != "$(in_browser 1400 ground.js dark)" ]
}

@test "the keyboard reaches all that scrolls, sorts, unfolds and leads on, in the order of the page" {
	whole_page
	python3 "$ROOT/tests/page.py" page/index.html >said
	cat >keys.js <<-'END'
		for (const part of document.querySelectorAll("details")) part.open = true
		const stops = [...document.querySelectorAll("a, button, summary, [tabindex]")]
		const scrolls = [...document.querySelectorAll("body *")].filter(e => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth)
		say([stops.length > 20, stops.every(e => e.tabIndex === 0), scrolls.length > 0, scrolls.every(e => e.tabIndex === 0),
			[...document.querySelectorAll("svg[role=img]")].every(e => e.querySelector(":scope > title"))].join(" "))
	END
	[ "$(in_browser 390 keys.js)" = "true true true true true" ]
	# The contents lead to sections in their order.
	grep -o '<li><a href="#[a-z]*"' page/index.html | grep -o '#[a-z]*' | tr -d '#' >links
	grep -o '<h2 id="[a-z]*"' page/index.html | grep -o '"[a-z]\+' | tr -d '"' | diff links -
}
