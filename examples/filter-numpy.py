#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A filter with the module gtrace and numpy: sectors and requests of each instruction.

    gtrace-order TRACE | gcoalesce | python3 examples/filter-numpy.py

prints a line for each pc: requests, sectors, sectors per request, distinct lines. A column of a
batch is one array of numpy. The module compares the checksum at the stream's end; nothing is
printed before.

Needs python3-msgpack, python3-numpy and python3-xxhash (make deps installs them), and where gtrace
is installed PYTHONPATH=PREFIX/share/gtrace/python.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import gtrace  # noqa: E402


def main():
    requests, sectors, lines = {}, {}, {}
    bits = numpy.array([bin(mask).count("1") for mask in range(256)])
    for _kernel, kind, rows in gtrace.batches("-"):
        if kind != "request":
            continue
        for one in numpy.unique(rows["pc"]):
            here = rows["pc"] == one
            requests[one] = requests.get(one, 0) + int(here.sum())
            sectors[one] = sectors.get(one, 0) + int(bits[rows["sectors"][here]].sum())
            lines.setdefault(one, set()).update(rows["address"][here].tolist())
    print("pc\trequests\tsectors\tsectors/request\tlines")
    for one in sorted(requests):
        print(f"{one:#x}\t{requests[one]}\t{sectors[one]}\t{sectors[one] / requests[one]:.2f}\t{len(lines[one])}")


if __name__ == "__main__":
    try:
        main()
    except gtrace.Error as error:
        sys.exit(f"filter-numpy.py: {error}")
