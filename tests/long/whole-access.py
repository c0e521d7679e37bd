#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second implementation of [002] 4.1 to 4.5 for the experiment of its figure 3 alone, written from the paper's text and not
from lib/: a copy by columns, in which a thread reads a row of 1024 words. Prints, for each number of threads, the lines that miss
in percent of those that loads access: mean, least and most over the seeds.

    whole-access.py MIN,SIGMA SEEDS THREADS...
"""
import collections
import heapq
import random
import sys

MSHRS, WAYS, COLUMNS = 64, 4, 1024
ADDRESS_BITS = (13, 14, 15, 17, 19)


def set_of(line):
    """5.1: bits 7 to 11 of the address, each with one of five higher ones."""
    address = line << 7
    return (line & 31) ^ sum((address >> bit & 1) << i for i, bit in enumerate(ADDRESS_BITS))


def missed(threads, least, sigma, seed):
    draw = random.Random(seed)
    sets = collections.defaultdict(collections.OrderedDict)
    queue = collections.deque(range(threads // 32))  # 4.5: warps, first in first out
    column = [0] * (threads // 32)
    back = []  # when a warp returns to the queue
    coming = []  # what takes effect, in the order of time and issue
    free, issued, now, misses, total = MSHRS, 0, 0, 0, 0

    def arrive(until):
        nonlocal free
        while coming and coming[0][0] <= until:
            _, _, line, was_miss = heapq.heappop(coming)
            stack = sets[set_of(line)]
            stack.pop(line, None)
            stack[line] = True
            if len(stack) > WAYS:
                stack.popitem(last=False)
            free += was_miss

    while queue or back:
        if not queue:
            now = max(now, back[0][0])
        while back and back[0][0] <= now:
            queue.append(heapq.heappop(back)[2])
        arrive(now)
        warp = queue.popleft()
        lines = [(32 * warp + lane) * COLUMNS * 4 + column[warp] * 4 >> 7 for lane in range(32)]
        absent = [line for line in lines if line not in sets[set_of(line)]]
        if len(absent) > free:
            queue.append(warp)  # 4.4: put on hold and issued again later
        else:
            wait = 0
            for line in lines:
                miss = line not in sets[set_of(line)]
                latency = max(1, round(least + abs(draw.gauss(0, sigma)))) if miss else 0
                heapq.heappush(coming, (now + latency, issued, line, miss))
                issued += 1
                wait = max(wait, latency)
            free -= len(absent)
            misses += len(absent)
            total += 32
            column[warp] += 1
            if column[warp] < COLUMNS:
                heapq.heappush(back, (now + max(wait, 1), issued, warp))
        now += 1
    return 100 * misses / total


def main():
    least, sigma = (float(part) for part in sys.argv[1].split(","))
    seeds = int(sys.argv[2])
    for threads in sys.argv[3:]:
        rates = [missed(int(threads), least, sigma, seed) for seed in range(1, seeds + 1)]
        print(threads, *(f"{rate:.2f}" for rate in (sum(rates) / seeds, min(rates), max(rates))), sep="\t")


if __name__ == "__main__":
    main()
