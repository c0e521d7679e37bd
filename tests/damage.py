#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Feeds damaged copies of a stream to a filter, which must exit 1 with one line on stderr.

    damage.py cut STREAM TOOL...          cut off at every byte
    damage.py flip NUMBER STREAM TOOL...  so many single bits flipped, chosen with a fixed seed
"""
import random
import subprocess
import sys


def must_fail(tool, data, what):
    done = subprocess.run(tool, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 1 or done.stderr.count(b'\n') != 1:
        print('%s, %s: exit status %d, stderr %r' % (' '.join(tool), what, done.returncode, done.stderr))
        sys.exit(1)


def main():
    kind, *words = sys.argv[1:]
    number = int(words.pop(0)) if kind == 'flip' else 0
    stream, *tool = words
    with open(stream, 'rb') as file:
        data = file.read()
    if subprocess.run(tool, input=data, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit('%s fails without damage' % tool)
    if kind == 'cut':
        for length in range(len(data)):
            must_fail(tool, data[:length], 'cut to %d bytes' % length)
        return
    bits = range(8 * len(data))
    for bit in random.Random(1).sample(bits, min(number, len(bits))):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        must_fail(tool, bytes(flipped), 'bit %d flipped' % bit)


if __name__ == '__main__':
    main()
