#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a stream itself, with msgpack and numpy: sectors and requests of each instruction.

    gtrace-order TRACE | gcoalesce | python3 examples/filter-numpy.py

prints a line for each pc: requests, sectors, sectors per request, distinct lines. A column of a
batch is one call of numpy.frombuffer (see gtrace(5), "Columns"). The stream's last record holds
the XXH3 of all before it; nothing is printed before it was compared.

Needs python3-msgpack, python3-numpy and python3-xxhash (make deps installs them).
"""
import sys

import msgpack
import numpy
import xxhash

# Columns of requests: the type of an element in full width.
REQUEST = {"pc": "<u4", "address": "<u8", "sectors": "u1"}


def records(file):
    """The records of a stream, one by one; raises ValueError if it is damaged or incomplete."""
    unpacker = msgpack.Unpacker(raw=False, unicode_errors="replace", strict_map_key=False)
    digest = xxhash.xxh3_64()
    pending = b""  # fed to the unpacker, and not yet part of a record
    hashed = 0  # bytes of the records so far
    while chunk := file.read(1 << 20):
        unpacker.feed(chunk)
        pending += chunk
        used = 0
        for record in unpacker:
            size = unpacker.tell() - hashed
            if record[0] == "end":
                if record[1]["xxh3"] != digest.intdigest():
                    raise ValueError("the checksum is wrong: the stream was damaged on its way")
                return
            digest.update(memoryview(pending)[used:used + size])
            used += size
            hashed += size
            yield record
        pending = pending[used:]
    raise ValueError("no end record: the program before this one failed")


def column(value, n, dtype):
    """A column of n elements: as it is, one element for all rows, or narrower ones and an offset."""
    dtype = numpy.dtype(dtype)
    if isinstance(value, list):
        offset, narrow = value
        thin = numpy.frombuffer(narrow, f"<u{len(narrow) // n}")
        return thin.astype(dtype) + dtype.type(offset)
    if len(value) == dtype.itemsize:
        return numpy.broadcast_to(numpy.frombuffer(value, dtype), n)
    return numpy.frombuffer(value, dtype)


def main():
    requests, sectors, lines = {}, {}, {}
    bits = numpy.array([bin(mask).count("1") for mask in range(256)])
    for kind, *rest in records(sys.stdin.buffer):
        if kind != "request":
            continue
        n, columns = rest
        pc, address, mask = (column(columns[name], n, dtype) for name, dtype in REQUEST.items())
        for one in numpy.unique(pc):
            here = pc == one
            requests[one] = requests.get(one, 0) + int(here.sum())
            sectors[one] = sectors.get(one, 0) + int(bits[mask[here]].sum())
            lines.setdefault(one, set()).update(address[here].tolist())
    print("pc\trequests\tsectors\tsectors/request\tlines")
    for one in sorted(requests):
        print(f"{one:#x}\t{requests[one]}\t{sectors[one]}\t{sectors[one] / requests[one]:.2f}\t{len(lines[one])}")


if __name__ == "__main__":
    try:
        main()
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        sys.exit(f"filter-numpy.py: {error}")
