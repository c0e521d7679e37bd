#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Reads a page that gstats --report wrote and fails if it is not well-formed, refers to anything outside, runs scripts, or
# lacks accessibility attributes. Prints its contents, one item a line:
# each heading, each row of a table (cells with tabs between), each picture's words and texts.
import base64
import sys
import xml.etree.ElementTree as tree
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.row, self.text = [], set(), [], None, None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert tag not in ("script", "iframe", "object", "link"), tag
        assert not any(name.startswith("on") for name in attributes), attributes
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "img":
            self.picture(attributes)
        if tag == "th":
            assert attributes.get("scope") in ("col", "row", "rowgroup"), attributes
        if tag == "html":
            assert attributes.get("lang")
        if tag == "tr":
            self.row = []
        if tag in ("h1", "h2", "h3", "title", "th", "td", "code", "summary"):
            self.text = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open}"
        self.open.pop()
        if tag in ("th", "td"):
            self.row.append(self.text)
        elif tag == "tr":
            print("row", "\t".join(self.row), sep="\t")
        elif tag in ("h1", "h2", "h3", "title", "code", "summary"):
            print(tag, self.text)

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def picture(self, attributes):
        assert attributes["alt"], "a picture without words"
        kind, picture = attributes["src"].split(",", 1)
        assert kind == "data:image/svg+xml;base64", kind
        print("picture", attributes["alt"])
        for text in tree.fromstring(base64.b64decode(picture, validate=True)).iter(SVG + "text"):
            print("text", "".join(text.itertext()))


page = Page()
source = open(sys.argv[1], encoding="utf-8").read()
assert source.startswith("<!DOCTYPE html>")
assert "http:" not in source and "https:" not in source and "url(" not in source
page.feed(source)
page.close()
assert not page.open, page.open
assert all(link[0] == "#" and link[1:] in page.ids for link in page.links), page.links
