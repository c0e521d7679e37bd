#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Reads a page that gstats --report wrote and fails if it is not well-formed, refers to anything outside, has more than its one
# script, which must not change what a reader without scripts sees, lacks accessibility attributes, or skips a level of headings. Prints its contents, one
# item a line: each heading, each row of a table (cells with tabs between), each picture's words, texts, and the values that
# its marks tell.
import sys
from html.parser import HTMLParser

VOID = {"meta", "br", "link", "input", "line", "path"}
TEXTS = ("h1", "h2", "h3", "title", "desc", "th", "td", "code", "summary", "text", "dd")


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.row, self.text, self.scripts = [], set(), [], None, None, 0
        self.labels, self.titled, self.level = [], [], 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert tag not in ("iframe", "object", "link", "img"), tag
        if tag == "script":
            self.scripts += 1
            assert not attributes and self.open == ["html", "body"], "a script with attributes, or in the middle of the page"
        assert not any(name.startswith("on") for name in attributes), attributes
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "svg":
            assert attributes["role"] == "img", "a picture without a role"
            assert attributes.get("aria-label") or attributes.get("aria-labelledby"), "a picture without words"
            if "aria-label" in attributes:
                print("picture", attributes["aria-label"])
            self.labels += attributes.get("aria-labelledby", "").split()
            self.titled.append(False)
        if tag == "title" and self.open[-1] == "svg":
            self.titled[-1] = True
        if tag[0] == "h" and tag[1:].isdigit():
            assert int(tag[1:]) <= self.level + 1, f"{tag} below h{self.level}"
            self.level = int(tag[1:])
        if tag == "th":
            assert attributes.get("scope") in ("col", "row", "rowgroup"), attributes
        if tag == "html":
            assert attributes.get("lang")
        if tag == "tr":
            self.row = []
        if tag in TEXTS:
            self.text = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in ("rect", "line", "path", "circle"), tag  # of SVG

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open}"
        self.open.pop()
        if tag in ("th", "td"):
            self.row.append(self.text)
        elif tag == "tr":
            print("row", "\t".join(self.row), sep="\t")
        elif tag in TEXTS:
            print("value" if tag == "title" and "svg" in self.open else tag, self.text)

    def handle_data(self, data):
        if self.text is not None:
            self.text += data


page = Page()
source = open(sys.argv[1], encoding="utf-8").read()
assert source.startswith("<!DOCTYPE html>")
assert "http:" not in source and "https:" not in source and "url(" not in source
page.feed(source)
page.close()
assert not page.open, page.open
assert page.scripts == 1
assert all(page.titled), "a picture without a title"
assert all(label in page.ids for label in page.labels), page.labels
assert all(link[0] == "#" and link[1:] in page.ids for link in page.links), page.links
