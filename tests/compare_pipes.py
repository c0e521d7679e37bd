#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random small traces through the filters and through slow_pipe.py, counter for counter.

    compare_pipes.py CASES [SEED]     prints how many cases and counters agree, or the first that do not
"""
import os
import random
import subprocess
import sys
import tempfile

import slow_pipe

SIZES = [1, 2, 4, 4, 4, 8, 16]


def random_lanes(rnd, threads, base, size):
    """Addresses of some of the threads of a warp: contiguous, equal, spaced, or arbitrary."""
    shape = rnd.random()
    lanes = [lane for lane in threads if rnd.random() < 0.9] or threads[:1]
    if shape < 0.4:
        return {lane: base + size * lane for lane in lanes}
    if shape < 0.5:
        return {lane: base for lane in lanes}
    if shape < 0.7:
        stride = rnd.choice([-size, 2 * size, 12, 32, 64, 128, 260])
        return {lane: base + stride * lane for lane in lanes}
    return {lane: base + rnd.randrange(2048) // size * size for lane in lanes}


def random_kernel(rnd, ident, heap, write):
    grid = [rnd.randrange(1, 5), rnd.randrange(1, 4), 1]
    block = [rnd.choice([1, 7, 32, 40, 64, 100]), 1, 1]
    lines = []
    for b in range(grid[0] * grid[1]):
        for first in range(0, block[0], 32):
            threads = list(range(min(32, block[0] - first)))
            for an in range(rnd.randrange(0, 6)):
                op, size = rnd.choice('RRRW'), rnd.choice(SIZES)
                base = rnd.choice(heap) + rnd.randrange(rnd.choice([512, 4096])) // size * size + (rnd.random() < 0.1)
                for lane, address in random_lanes(rnd, threads, base, size).items():
                    if rnd.random() < 0.02:
                        op = 'W' if op == 'R' else 'R'
                    lines.append('%d %d %d %s 0x%x %d\n' % (an, b, first + lane, op, address % 2**64, size))
    rnd.shuffle(lines)
    write('#kernel id=%d name=k%d grid=%d,%d,%d block=%d,%d,%d\n' % (ident, ident, *grid, *block))
    write(''.join(lines))


def random_trace(rnd, path):
    heap = [0x7f0000000000, 0x7f0000001000] + ([2**64 - 2048] if rnd.random() < 0.2 else [])
    with open(path, 'w') as out:
        for ident in range(1, rnd.randrange(2, 5)):
            random_kernel(rnd, ident, heap, out.write)


def random_level(rnd, write):
    ways, sets = rnd.choice([1, 2, 4]), rnd.choice([1, 2, 3, 8])
    return {'size': ways * sets * 128, 'ways': ways, 'replace': rnd.choice(['lru', 'lru', 'fifo']),
            'write': rnd.choice(write), 'allocate': rnd.choice(['yes', 'no']),
            'partial': rnd.choice(['keep', 'read', 'fetch']), 'flush': rnd.choice(['kernel', 'never'])}


def random_options(rnd):
    return {'rule': rnd.choice(['default', 'default', 'pascal', 'pascal-apart', 'fermi']), 'sm': rnd.randrange(1, 6),
            'max_blocks': rnd.randrange(1, 4), 'schedulers': rnd.choice([1, 2, 4]),
            'map': rnd.choice(['rr', 'rr', 'part:4']),
            'l1': random_level(rnd, ['through', 'through', 'evict', 'back']), 'l2': random_level(rnd, ['back', 'through']),
            'dram': {'channels': rnd.randrange(1, 4), 'banks': rnd.randrange(1, 4),
                     'row': rnd.choice([96, 256, 2048]), 'interleave': rnd.choice([32, 96, 128, 256])}}


def pipe_of(options, where):
    """The pipe with gcoalesce before or after gschedule, or without it."""
    words = lambda settings: ' '.join('--%s %s' % pair for pair in settings.items())
    coalesce = 'gcoalesce --rule %s' % options['rule']
    schedule = 'gschedule --sm %(sm)d --max-blocks %(max_blocks)d --schedulers %(schedulers)d --map %(map)s' % options
    stages = {'before': [coalesce, schedule], 'after': [schedule, coalesce], 'without': [schedule]}[where]
    return ' | '.join(['gtrace-order trace.rdgc', *stages, 'gcache --l1 ' + words(options['l1']),
                       'gcache --l2 ' + words(options['l2']), 'gdram ' + words(options['dram']), 'gstats --csv'])


def slow_counters(options):
    l1 = slow_pipe.Level(options['sm'], options['l1'])
    l2 = slow_pipe.Level(1, options['l2'])
    with open('trace.rdgc') as lines:
        kernels = slow_pipe.read_rdgc(lines)
    for kernel in kernels:
        for stage, name, value in slow_pipe.run(kernel, options, l1, l2):
            yield '%d,%s,%s,%d' % (kernel.id, stage, name, value)


def compare(seed):
    """The number of counters that agreed in one case, for each place of gcoalesce; exits if one did not."""
    rnd = random.Random(seed)
    options = random_options(rnd)
    random_trace(rnd, 'trace.rdgc')
    expected, agreed = set(slow_counters(options)), 0
    for where in ['before', 'after'] + (['without'] if options['rule'] == 'default' else []):
        pipe = pipe_of(options, where)
        done = subprocess.run(['bash', '-o', 'pipefail', '-c', pipe], stdout=subprocess.PIPE, text=True)
        wrong = sorted(expected - set(done.stdout.splitlines()))
        if done.returncode != 0 or wrong:
            print('seed %d: %s\nexit %d; expected and not found:' % (seed, pipe, done.returncode), *wrong[:20], sep='\n')
            print(*(line for line in done.stdout.splitlines() if line.rsplit(',', 1)[0] in
                    {line.rsplit(',', 1)[0] for line in wrong[:20]}), sep='\n')
            sys.exit(1)
        agreed += len(expected)
    return agreed


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        agreed = sum(compare(seed + case) for case in range(cases))
    print('%d cases, %d counters agree' % (cases, agreed))


if __name__ == '__main__':
    main()
