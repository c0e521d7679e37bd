#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Prints the contents of an SVG that gnuplot wrote, one item a line: its size, its title, each text, the number of bars,
# lines, dots and shaded areas of the series without the legend, and each bar's height relative to the highest.
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
print("size", root.get("width"), root.get("height"))
print("title", root.findtext(SVG + "title"))
for text in root.iter(SVG + "text"):
    print("text", "".join(text.itertext()).strip())

counts = {"boxes": 0, "lines": 0, "points": 0, "areas": 0}
heights = []


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", text)]


for group in root.iter(SVG + "g"):
    if not re.fullmatch(r"gnuplot_plot_\d+[a-z]*", group.get("id") or ""):
        continue
    polygons = [numbers(polygon.get("points"))[1::2] for polygon in group.iter(SVG + "polygon")]
    dots = len(list(group.iter(SVG + "use")))
    strokes = [part for path in group.iter(SVG + "path") for part in path.get("d").split("M") if part.strip()]
    if any(True for _ in group.iter(SVG + "text")):  # the series' own mark in the legend
        polygons = polygons[1:]
        dots -= dots > 0
        strokes = strokes[1:]
    bars = [max(ys) - min(ys) for ys in polygons if len(ys) <= 5]
    heights += bars
    counts["boxes"] += len(bars)
    counts["areas"] += len(polygons) - len(bars)
    counts["points"] += dots
    counts["lines"] += any(len(numbers(stroke)) >= 4 for stroke in strokes)
for name, count in counts.items():
    print(name, count)
for height in sorted(heights):
    print(f"height {height / max(heights):.2f}")
