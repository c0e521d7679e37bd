#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A filter in Python, without numpy: keeps the rows of some blocks and some ops.

    gtrace-cat STREAM | python3 examples/filter.py --blocks 0-63 --op load.global | gtrace-cat --from

It works on the text that gtrace-cat writes: lines that begin with '#' describe the stream and are
passed on unchanged; the one that begins with "#block" names the columns.
gtrace-cat --from checks the rows again, and refuses text that was cut short.
"""
import argparse
import sys


def block_range(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def filter_rows(lines, blocks, op):
    columns = []
    for line in lines:
        if line.startswith("#"):
            if line.startswith("#block\t"):
                columns = line[1:].rstrip("\n").split("\t")
            yield line
            continue
        row = dict(zip(columns, line.rstrip("\n").split("\t")))
        if int(row["block"]) in blocks and row["op"].startswith(op):
            yield line


def main():
    parser = argparse.ArgumentParser(description="keep the rows of some blocks and some ops")
    parser.add_argument("--blocks", type=block_range, required=True, metavar="FIRST-LAST")
    parser.add_argument("--op", default="", help="what the op begins with, such as load or store.global")
    options = parser.parse_args()
    sys.stdout.writelines(filter_rows(sys.stdin, options.blocks, options.op))


if __name__ == "__main__":
    main()
