# SPDX-License-Identifier: MIT
# usage: pascal_sets.py FILE: plays a Pascal L1's P-chase (N_bytes, accessed_offset_bytes, latency_cycles) through 24 KB of
# 128-byte lines filled by 32-byte sectors, 4 sets of 48 ways, LRU, and prints how many accesses there are and how many
# disagree. The set: with x the line's number, bit 1 is the parity of x & 169; bit 0 is the parity of x & 86, and, where bit 1 is
# that of line 192, of bit 0 of x too: no XOR of address bits does the same.
import csv
import sys


def parity(x):
    return bin(x).count("1") & 1


def set_of(x):
    high = parity(x & 169)
    return 2 * high + (parity(x & 86) ^ (x & 1 if high == parity(192 & 169) else 0))


def play(size, rows):
    sets = [{} for _ in range(4)]  # line -> valid sectors, the least recent first

    def serve(offset):
        line, sector = divmod(offset // 32, 4)
        lines = sets[set_of(line)]
        valid = lines.pop(line, set())
        hit = sector in valid
        if not valid and len(lines) == 48:
            del lines[next(iter(lines))]
        lines[line] = valid | {sector}
        return hit

    # The file begins in the midst of a round, and in steady state: a round and a part come before.
    start = rows[0][0]
    for offset in list(range(0, size, 32)) + list(range(0, start, 32)):
        serve(offset)
    return sum(serve(offset) != (latency < 150) for offset, latency in rows)


runs = {}
with open(sys.argv[1]) as file:
    for row in csv.DictReader(file):
        runs.setdefault(int(row["N_bytes"]), []).append((int(row["accessed_offset_bytes"]), int(row["latency_cycles"])))
print(sum(map(len, runs.values())), sum(play(size, rows) for size, rows in runs.items()))
