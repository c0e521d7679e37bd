# SPDX-License-Identifier: MIT
"""Reads damaged copies of a stream with the module gtrace: there is an Error, or the rows of the whole stream.

    hostile.py STREAM N     every cut; N single bits that are flipped; N records changed, with a checksum that is right
"""
import copy
import io
import random
import sys

import msgpack
import xxhash

import gtrace

RANDOM = random.Random(1)
VALUES = [None, -1, 0, 1, 3, 65535, 65536, 2**63, 2**64 - 1, 1.5, "", "x", b"", b"\x00", b"\xff" * 8, [], [0, b""], [0, b"\x00" * 7], {}, {"id": 1}, True]


def outcome(data):
    """None after an Error, else the number of rows. Anything else is raised."""
    try:
        trace = gtrace.read(io.BytesIO(data))
        rows = 0
        for kind in ("access", "request"):
            lengths = {len(column) for column in trace.to_numpy(kind).values()}
            assert len(lengths) <= 1, lengths
            assert len(trace.to_pandas(kind)) == sum(lengths)
            rows += sum(lengths)
        trace.counts_to_pandas()
        assert sum(len(next(iter(columns.values()))) for _, _, columns in gtrace.batches(io.BytesIO(data))) == rows
        return rows
    except gtrace.Error:
        return None


def packed(records, rows):
    """A stream of the records, and an end that is right."""
    data = b"".join(msgpack.packb(record) for record in records)
    return data + msgpack.packb(["end", {"rows": rows, "xxh3": xxhash.xxh3_64(data).intdigest()}])


def change(value):
    """Changes one place within a list or a map."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    if not keys:
        return
    key = RANDOM.choice(list(keys))
    inner, how = value[key], RANDOM.randrange(5)
    if isinstance(inner, (list, dict)) and inner and how > 0:
        change(inner)
    elif isinstance(inner, bytes) and inner and how > 1:
        at = RANDOM.randrange(len(inner))
        value[key] = (inner[:at], inner[:at] + bytes([RANDOM.randrange(256)]) + inner[at + 1:], inner + inner[:1])[how - 2]
    elif how == 0:
        del value[key]
    else:
        value[key] = copy.deepcopy(RANDOM.choice(VALUES))


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    n = int(sys.argv[2])
    whole = outcome(data)
    assert whole
    for length in range(len(data)):
        assert outcome(data[:length]) is None, length
    assert outcome(data + b"\xc0") is None
    assert outcome(data + data) is None
    for bit in RANDOM.sample(range(8 * len(data)), min(n, 8 * len(data))):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert outcome(bytes(flipped)) is None, bit
    records = list(msgpack.Unpacker(io.BytesIO(data), raw=False))[:-1]
    assert outcome(packed(records, whole)) == whole
    read = 0
    for _ in range(n):
        damaged = copy.deepcopy(records)
        change(damaged[RANDOM.randrange(len(damaged))] if RANDOM.random() < 0.95 else damaged)
        read += outcome(packed(damaged, whole)) is not None
    print(read, "of", n, "read")


main()
