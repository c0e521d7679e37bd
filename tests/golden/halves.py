# SPDX-License-Identifier: MIT
"""A slow, obvious L2 of two halves, to compare gcache --spread far:0 with on random requests.

usage: halves.py SEED TRACES

Exits 1 at the first difference.
"""
import random
import subprocess
import sys
from collections import OrderedDict

LINE = 128
COUNTERS = ["reads", "read_hits", "writes", "write_hits", "atomics", "atomic_hits", "far_reads", "far_hits", "far_neighbours",
            "far_writes", "far_atomics", "far_reductions", "dropped_copies",
            "half_reads", "half_hits", "neighbours", "sent_reads", "sent_writes", "flushed"]


def home_of(line):
    return bits(line >> 5) & 1


def bits(mask):
    return bin(mask).count("1")


def group(sectors):
    """Pairs of sectors, of --fetch 64."""
    return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1


class Half:
    """Sets of lines by recency, each with its valid and its dirty sectors."""

    def __init__(self, sets, ways, counts):
        self.sets, self.ways, self.counts = [OrderedDict() for _ in range(sets)], ways, counts

    def find(self, line):
        return self.sets[line % len(self.sets)].get(line)

    def use(self, line):
        lines = self.sets[line % len(self.sets)]
        if line not in lines:
            if len(lines) == self.ways:
                _, (_, dirty) = lines.popitem(last=False)
                self.counts["sent_writes"] += bits(dirty)
            lines[line] = [0, 0]
        lines.move_to_end(line)
        return lines[line]

    def drop(self, line):
        del self.sets[line % len(self.sets)][line]


def model(requests, sets, ways):
    counts = {name: 0 for name in COUNTERS}
    counts["half_reads"], counts["half_hits"] = [0, 0], [0, 0]
    halves = [Half(sets, ways, counts) for _ in range(2)]
    for sm, action, line, sectors, full in requests:
        home, mine = home_of(line), sm % 2
        other = halves[1 - home]
        if action == "load":
            counts["reads"] += bits(sectors)
            missing = sectors
            if mine != home:
                copy = halves[mine].find(line)
                hits = sectors & copy[0] if copy else 0
                if copy:
                    halves[mine].use(line)
                counts["half_reads"][mine] += bits(sectors)
                counts["half_hits"][mine] += bits(hits)
                counts["read_hits"] += bits(hits)
                missing = sectors & ~hits
                counts["far_reads"] += bits(missing)
            if missing:
                there = halves[home].use(line)
                hits = missing & there[0]
                counts["half_reads"][home] += bits(missing)
                counts["half_hits"][home] += bits(hits)
                counts["read_hits"] += bits(hits)
                counts["far_hits"] += bits(hits) if mine != home else 0
                counts["sent_reads"] += bits(missing & ~hits)
                counts["neighbours"] += bits(group(missing & ~hits) & ~there[0] & ~missing)
                counts["sent_reads"] += bits(group(missing & ~hits) & ~there[0] & ~missing)
                there[0] |= group(missing & ~hits)
                if mine != home:
                    has = halves[mine].find(line)
                    asked = group(missing) & ~(has[0] if has else 0)
                    counts["far_neighbours"] += bits(asked & ~missing)
                    if asked & there[0]:
                        halves[mine].use(line)[0] |= asked & there[0]
            continue
        kind = {"store": "writes", "atomic": "atomics", "reduction": "reductions"}[action]
        counts["far_" + kind] += bits(sectors) if mine != home else 0
        copy = other.find(line) if mine == home or action != "store" else None
        if copy:
            counts["dropped_copies"] += bits(copy[0] & sectors)
            copy[0] &= ~sectors
            if not copy[0]:
                other.drop(line)
        there = halves[home].use(line)
        kind = "write" if action == "store" else "atomic"
        counts[kind + "s"] += bits(sectors)
        counts[kind + "_hits"] += bits(sectors & (there[0] | there[1] if action == "store" else there[0]))
        brought = 0 if action == "store" else group(sectors & ~there[0]) & ~there[0]
        counts["sent_reads"] += bits(brought)
        counts["neighbours"] += bits(brought & ~sectors)
        there[0] |= full if action == "store" else sectors | brought
        there[1] |= sectors
    for half in halves:
        for lines in half.sets:
            counts["flushed"] += sum(bits(dirty) for _, dirty in lines.values())
    counts["sent_writes"] += counts["flushed"]
    return {name: "[%d,%d]" % tuple(value) if isinstance(value, list) else str(value) for name, value in counts.items()}


def main():
    dice, traces = random.Random(int(sys.argv[1])), int(sys.argv[2])
    for number in range(traces):
        sets, ways = dice.choice([1, 2, 8]), dice.choice([1, 2, 4, 20])
        lines, sms = dice.choice([4, 30, 200]), dice.choice([1, 2, 5])
        requests = [(dice.randrange(sms), dice.choice(["load"] * 6 + ["store", "atomic", "reduction"]), dice.randrange(lines) * dice.choice([1, 32]), dice.randint(1, 15), dice.randrange(16))
                    for _ in range(dice.choice([5, 400]))]
        requests = [(sm, action, line, sectors, full & sectors if action == "store" else 0) for sm, action, line, sectors, full in requests]
        text = ["#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\torder=block", "#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm"]
        for step, (sm, action, line, sectors, full) in enumerate(requests):
            text.append("0\t0\t%d\t0x0\t%s.global\t0x%x\t0x%x\t0x%x\t32\t%d\t%d" % (step, action, line * LINE, sectors, full, step, sm))
        size = 2 * sets * ways * LINE
        command = "gtrace-cat --from | gcache --l2 --spread far:0 --fetch 64 --index mod --size %d --ways %d" % (size, ways)
        stream = subprocess.run(["bash", "-o", "pipefail", "-c", command], input="\n".join(text).encode() + b"\n", stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["gtrace-cat", "--check"], input=stream, stdout=subprocess.DEVNULL, check=True)
        out = subprocess.run(["gtrace-cat", "--no-rows"], input=stream, stdout=subprocess.PIPE, check=True).stdout.decode()
        count = next(line for line in out.splitlines() if line.startswith("#count\tstage=l2"))
        found = dict(entry.split("=", 1) for entry in count.split("\t")[1:])
        expected = model(requests, sets, ways)
        if any(found.get(name, "0") != expected[name] for name in COUNTERS):
            print("trace %d: %s: expected %s, found %s" % (number, command, expected, {name: found.get(name) for name in COUNTERS}))
            sys.exit(1)


main()
