#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slow, simple fold and order, to compare gtrace-order with.

    reference.py make SEED FORMAT        a random trace, in rdgc, trc or regex form
    reference.py rows FORMAT [by]        its rows, as this program folds and orders them
    reference.py text                    rows of gtrace-cat's text in the same form

A row is: kernel block warp an op size mask pc addresses..., in order.
"""
import random
import sys

OPS = ['load.global', 'store.global', 'atomic.global', 'load.shared', 'reduction.global', 'load.global.cg']


def make(seed, form):
    """Thread accesses in the order of the file: (kernel, block, thread, an, op, size, address, pc)."""
    r = random.Random(seed)
    lines = []
    for kernel in range(1, 4 if form == 'rdgc' else 2):
        blocks, threads = r.randrange(1, 6), r.choice([1, 7, 32, 33, 96, 256])
        accesses = []
        for block in range(blocks):
            for an in range(r.randrange(1, 8)):
                pattern = r.randrange(4)
                base, stride, size = r.getrandbits(r.choice([16, 40, 64])), r.randrange(-64, 64), r.randrange(1, 33)
                for thread in range(threads):
                    if r.random() < 0.2:
                        continue
                    for _ in range(r.choice([1, 1, 1, 1, 1, 1, 1, 2, 3]) if r.random() < 0.3 else 1):
                        address = base + stride * thread if pattern < 2 else base if pattern == 2 else r.getrandbits(40)
                        op = r.choice(OPS) if r.random() < 0.1 else OPS[an % 2]
                        if form != 'regex' and not op in OPS[:2]:
                            op = OPS[1]
                        accesses.append((kernel, block, thread, an, op, size if r.random() < 0.95 else r.choice([1, 32]),
                                         address % 2 ** 64, r.choice([0, 16, 0xfffffff0]) if form == 'regex' else 0))
        how = r.randrange(3)
        if how == 1:
            r.shuffle(accesses)
        elif how == 2:
            accesses.sort(key=lambda a: (a[2], a[1]))
        lines.append((kernel, blocks, threads, accesses))
    return lines


def write(lines, form, out):
    if form == 'trc':
        out.write('blocksize: %d 1 1\n' % lines[0][2])
    for kernel, blocks, threads, accesses in lines:
        if form == 'rdgc':
            out.write('\n#kernel id=%d name=random kernel %d grid=%d,1,1 block=%d,1,1\n' % (kernel, kernel, blocks, threads))
        for k, block, thread, an, op, size, address, pc in accesses:
            if form == 'rdgc':
                out.write('%d %d\t%d %s 0x%x %d\n' % (an, block, thread, 'RW'[op != OPS[0]], address, size))
            elif form == 'trc':
                out.write('%d %d %d %d\n' % (block * threads + thread, op != OPS[0], address, size))
            else:
                out.write('%s of %d by t%d/b%d (number %d) at %x, pc 0x%x\n' % (op, size, thread, block, an, address, pc))


def read(form, lines):
    """Parses the text again, so that exactly the contents of the file are folded."""
    kernel, threads, ordinals = 1, 0, {}
    for line in lines:
        word = line.split()
        if not word:
            continue
        if form == 'rdgc' and word[0] == '#kernel':
            kernel = int(word[1].split('=')[1])
        elif form == 'rdgc':
            yield (kernel, int(word[1]), int(word[2]), int(word[0]), OPS['RW'.index(word[3])], int(word[5]), int(word[4], 16), 0)
        elif form == 'trc' and word[0] == 'blocksize:':
            threads = int(word[1])
        elif form == 'trc':
            thread = int(word[0])
            ordinals[thread] = ordinals.get(thread, -1) + 1
            yield (1, thread // threads, thread % threads, ordinals[thread], OPS[int(word[1])], int(word[3]), int(word[2]), 0)
        else:
            thread, block = word[4].split('/')
            yield (1, int(block[1:]), int(thread[1:]), int(word[6][:-1]), word[0], int(word[2]), int(word[8][:-1], 16), int(word[10], 16))


def fold(accesses, by):
    keys = {}
    for order, (kernel, block, thread, an, op, size, address, pc) in enumerate(accesses):
        place = (kernel, block, an, thread // 32) if by == 'block' else (kernel, an, block, thread // 32)
        groups = keys.setdefault(place, [])
        lane = thread % 32
        for group in groups:
            if group['kind'] == (op, size) and lane not in group['lanes']:
                break
        else:
            group = {'kind': (op, size), 'lanes': {}}
            groups.append(group)
        group['lanes'][lane] = (order, address, pc)
    for place in sorted(keys):
        kernel, block, an, warp = place if by == 'block' else (place[0], place[2], place[1], place[3])

        def first(group):
            lane = min(group['lanes'])
            return lane, group['lanes'][lane][0]
        for group in sorted(keys[place], key=first):
            lanes = sorted(group['lanes'])
            print(kernel, block, warp, an, *group['kind'], '0x%08x' % sum(1 << lane for lane in lanes),
                  '0x%x' % group['lanes'][lanes[0]][2], *('0x%x' % group['lanes'][lane][1] for lane in lanes))


def text(lines):
    names = []
    for line in lines:
        field = line.rstrip('\n').split('\t')
        if field[0] == '#block':
            names = [field[0][1:]] + field[1:]
        if line.startswith('#'):
            continue
        row = dict(zip(names, field))
        mask = int(row['mask'], 16)
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        if row['lanes'] != '-':
            addresses = [int(a, 16) for a in row['lanes'].split(',')]
        else:
            addresses = [(int(row['base'], 16) + int(row['stride']) * (lane - lanes[0])) % 2 ** 64 for lane in lanes]
        print(row['kernel'], row['block'], row['warp'], row['an'], row['op'], row['size'], '0x%08x' % mask, row['pc'],
              *('0x%x' % a for a in addresses))


if sys.argv[1] == 'make':
    write(make(int(sys.argv[2]), sys.argv[3]), sys.argv[3], sys.stdout)
elif sys.argv[1] == 'rows':
    fold(read(sys.argv[2], sys.stdin), sys.argv[3] if len(sys.argv) > 3 else 'block')
else:
    text(sys.stdin)
