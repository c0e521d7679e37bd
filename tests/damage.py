#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Feeds damaged copies of a stream to a filter, which must exit 1 with one line on stderr that names it; gstats prints nothing else.

    damage.py cut NUMBER STREAM TOOL...   cut off at so many places, spread over it and its ends; 0: at every byte
    damage.py flip NUMBER STREAM TOOL...  so many single bits flipped, chosen with a fixed seed
"""
import random
import subprocess
import sys


def must_fail(tool, data, what):
    done = subprocess.run(tool, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    named = done.stderr.startswith(tool[0].encode() + b': ') and done.stderr.count(b'\n') == 1
    if done.returncode != 1 or not named or tool[0] == 'gstats' and done.stdout:
        print('%s, %s: exit status %d, stderr %r' % (' '.join(tool), what, done.returncode, done.stderr))
        sys.exit(1)


def main():
    kind, *words = sys.argv[1:]
    number = int(words.pop(0))
    stream, *tool = words
    with open(stream, 'rb') as file:
        data = file.read()
    if subprocess.run(tool, input=data, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit('%s fails without damage' % tool)
    if kind == 'cut':
        step = max(len(data) // number, 1) if number else 1
        for length in sorted({*range(0, len(data), step), len(data) - 1}):
            must_fail(tool, data[:length], 'cut to %d bytes' % length)
        return
    bits = range(8 * len(data))
    for bit in random.Random(1).sample(bits, min(number, len(bits))):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        must_fail(tool, bytes(flipped), 'bit %d flipped' % bit)


if __name__ == '__main__':
    main()
