# SPDX-License-Identifier: MIT
"""A slow, obvious gschedule --issue latency, cycle by cycle, to compare the real one with on small random traces.

usage: latency.py SEED TRACES

Exits 1 at the first difference.
"""
import random
import subprocess
import sys
import tempfile
from collections import OrderedDict

COLUMNS = "block warp an pc op address sectors full lanes work shared kernel".split()
QUEUE = 5
MASK = (1 << 64) - 1


class Trace:
    def __init__(self, dice):
        self.blocks, self.warps = dice.choice([1, 2, 5, 9]), dice.choice([1, 2, 3, 6])
        self.lines = dice.choice([2, 8, 40])
        # Of columns an access reads one whole, or a part of it: lines at even distances that warps use together again.
        self.columns = [(128 + dice.randrange(200), dice.choice([1, 3, -2]), dice.choice([8, 12, 31, 32])) for _ in range(dice.choice([1, 3, 6]))] if dice.random() < 0.5 else []
        self.shares = dice.random() < 0.6  # some accesses have others to shared memory before them
        self.rows = []  # (block, an, warp, op, line, sectors, work, shared)
        self.idle = {}  # instructions of blocks without rows, where they are known
        for block in range(self.blocks):
            if block < self.blocks - 1 and dice.random() < 0.3:
                if dice.random() < 0.8:
                    self.idle[block] = dice.randint(0, 60)
                continue
            for an in range(dice.choice([1, 3, 8]) if not self.columns else dice.choice([6, 16])):
                barrier = an > 0 and dice.random() < 0.2
                for warp in range(self.warps):
                    if dice.random() < 0.1 and not (an == 0 and warp == 0):
                        continue
                    op = dice.choice(["load.global"] * 4 + ["store.global", "atomic.global", "reduction.global", "load.global.cg"])
                    work = (dice.choice([0, 1, 2, 9]), dice.randint(1, 2) if barrier else 0, dice.random() < 0.5)
                    shared = self.draw_shared(dice)
                    if self.columns and dice.random() < 0.8:
                        self.draw_column(dice, (block, an, warp, dice.choice(["load.global"] * 9 + ["store.global"])), (work, shared))
                        continue
                    for _ in range(dice.choice([1, 1, 2, 4])):
                        self.rows.append((block, an, warp, op, dice.randrange(self.lines), dice.randint(1, 15), work, shared))

    def draw_shared(self, dice):
        """Accesses to shared memory, and their passes: some of more than one."""
        accesses = dice.choice([0, 1, 2, 7, 30]) if self.shares else 0
        return accesses, accesses + (dice.choice([0, 3, 40]) if accesses else 0)

    def draw_column(self, dice, access, noted):
        first, step, n = dice.choice(self.columns)
        begin, end = (0, n) if dice.random() < 0.8 else (dice.randrange(3), n - dice.randrange(3))
        sectors = dice.choice([1, 1, 2, 15])
        self.rows += [(*access, first + i * step, sectors, *noted) for i in range(begin, end)]

    def tsv(self):
        lines = ["#kernel\tid=1\tname=k\tgrid=%d,1,1\tblock=%d,1,1\torder=block" % (self.blocks, 32 * self.warps)]
        if self.idle:
            lists = [",".join(map(str, numbers)) for numbers in (self.idle.keys(), self.idle.values())]
            lines.append("#count\tstage=idle\tkernel=1\tblocks=[%s]\tinstructions=[%s]" % tuple(lists))
        lines.append("#" + "\t".join(c for c in COLUMNS if self.shares or c != "shared"))
        for block, an, warp, op, line, sectors, (instructions, barriers, waits), shared in self.rows:
            work = "%d,%d%s" % (instructions, barriers, ",waits" if waits else "")
            noted = [work, "%d,%d" % shared] if self.shares else [work]
            full = "0x%x" % sectors if op == "store.global" else "0x0"
            lines.append("\t".join([str(block), str(warp), str(an), "0x0", op, "0x%012x" % (128 * line), "0x%x" % sectors, full, "32", *noted, "1"]))
        return "\n".join(lines) + "\n"


class Lines:
    """Lines by recency, each with its valid sectors and the time when all of them are there."""

    def __init__(self, n):
        self.n, self.lines = n, OrderedDict()

    def use(self, line):
        if line not in self.lines:
            if len(self.lines) == self.n:
                self.lines.popitem(last=False)
            self.lines[line] = [0, 0]
        self.lines.move_to_end(line)
        return self.lines[line]


class Warp:
    def __init__(self, block, index, accesses, now):
        self.block, self.index, self.accesses, self.at = block, index, accesses, now
        self.data, self.queued, self.passed = 0, 0, 0
        self.look()

    def look(self):
        """What comes before the next access."""
        self.held, self.came, self.since = False, None, None  # when it and all others have come to its barriers
        if self.accesses:
            _, barriers, self.waits = self.accesses[0][0][6]
            self.held, self.passed = barriers > 0, self.passed + barriers

    def arrived(self, now):
        return self.at <= now and not (self.waits and (self.queued > 0 or self.data > now))

    def ready(self, now):
        if not self.accesses or not self.arrived(now):
            return False
        return not self.held or all(not w.accesses or w.passed > self.passed or (w.passed == self.passed and (not w.held or w.arrived(now)))
                                    for w in self.block.warps)


class Block:
    def __init__(self, trace, number, slot, now):
        mine = [row for row in trace.rows if row[0] == number]
        self.slot, self.warps = slot, []
        for warp in range(trace.warps):
            accesses = []
            for row in mine:
                if row[2] == warp:
                    if accesses and accesses[-1][0][1] == row[1]:
                        accesses[-1].append(row)
                    else:
                        accesses.append([row])
            if accesses:
                self.warps.append(Warp(self, warp, accesses, now))

    def done(self):
        return all(not w.accesses and w.queued == 0 for w in self.warps)


class LoadStoreUnit:
    """Serves the schedulers in turn, each a pass of shared memory a cycle."""

    def __init__(self, times):
        self.by_wait = times["order"] == "ready"
        self.least, self.least_of_scheduler = max(times["access"], 1), times["of_scheduler"]
        self.turn, self.taken = 0, 0  # cycles that other accesses take

    def ask(self, scheduler, shared):
        """How long it takes at least."""
        accesses, passes = shared
        wanted = max(passes, accesses * self.least)
        scheduler.passes += wanted
        if accesses:
            scheduler.spare = QUEUE * wanted // accesses
        return accesses * self.least_of_scheduler

    def step(self, schedulers):
        if self.taken > 0:
            self.taken -= 1
            return
        for _ in schedulers:
            scheduler = schedulers[self.turn]
            if any(s.passes > 0 for s in schedulers):
                self.turn = (self.turn + 1) % len(schedulers)
            if scheduler.passes > 0:
                scheduler.passes -= 1
                return


class Scheduler:
    def __init__(self, unit):
        self.by_wait = unit.by_wait
        self.warps, self.current, self.last, self.until, self.queue, self.sends = [], None, None, 0, [], 0
        self.unit, self.passes, self.spare = unit, 0, 0

    def choose(self, able):
        if self.last in able and not (self.by_wait and len(self.queue) == QUEUE):
            return self.last
        return min(reversed(able), key=lambda warp: warp.since) if self.by_wait else able[-1]

    def run(self, now):
        for warp in self.warps:
            if warp.since is None and warp.ready(now):
                warp.since = max([warp.came] + [w.came for w in warp.block.warps if warp.held and w.held and w.accesses and w.passed == warp.passed])
        while self.until <= now and self.passes <= self.spare:
            if not self.current:
                able = [w for w in self.warps if w.ready(now)]
                if not able:
                    return
                self.current = self.last = self.choose(able)
                _, _, _, _, _, _, (instructions, _, _), shared = self.current.accesses[0][0]
                self.until = now + max(instructions, self.unit.ask(self, shared))
            elif len(self.queue) == QUEUE:
                return
            else:
                warp, self.current, self.until = self.current, None, now + 1
                self.queue.append((warp, warp.accesses.pop(0)))
                warp.queued, warp.at = warp.queued + 1, now + 1
                warp.look()


def halves(sectors, fetch):
    if fetch == 64:
        return (3 if sectors & 3 else 0) | (12 if sectors & 12 else 0)
    return sectors


def mixed(seed, n):
    """SplitMix64's first output for generator n of a seed."""
    z = (seed ^ n * 0xD1342543DE82EF95 & MASK) + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


class Memory:
    def __init__(self, times):
        self.times, self.two = times, times["far"] is not None
        self.l2 = [Lines(times["l2"] // 128 // (2 if self.two else 1)) for _ in range(2)]

    def farther(self, sm, line):
        """Than the mean distance."""
        times = self.times
        slice_of_line = mixed(0, line) % times["slices"]
        turned = (sm * 0x9E3779B9 + 0x80000000) % (1 << 32)
        return (times["slice"] // 2 - mixed(1, sm * times["slices"] + slice_of_line) % (times["slice"] + 1)
                + (times["sm"] + 1) // 2 - (turned * (times["sm"] + 1) >> 32))

    def side_of(self, sm):
        """Quarters of the SMs take turns."""
        return sm * 4 // self.times["sms"] % 2

    def home_of(self, line):
        return bin(line >> 5).count("1") % 2 if self.two else 0

    def ask_home(self, line, sectors, now):
        entry = self.l2[self.home_of(line)].use(line)
        if sectors & ~entry[0]:
            entry[1] = max(entry[1], now + self.times["dram_cycles"])
            entry[0] |= halves(sectors & ~entry[0], self.times["fetch"])
        return max(entry[1], now + self.times["l2_cycles"])

    def ask_l2(self, sm, line, sectors, now):
        if self.two and self.side_of(sm) != self.home_of(line):
            near, home = self.l2[self.side_of(sm)], self.l2[self.home_of(line)].lines
            missing, there = sectors & ~near.lines.get(line, [0])[0], now + self.times["l2_cycles"]
            copied = 0
            if missing:
                there = self.ask_home(line, missing, now) + self.times["far"]
                copied = halves(missing, self.times["fetch"]) & home[line][0]
            if copied or line in near.lines:
                copy = near.use(line)
                if copied:
                    copy[0] |= copied
                    copy[1] = max(copy[1], there)
                there = max(there, copy[1])
        else:
            there = self.ask_home(line, sectors, now)
        return max(now, there + self.farther(sm, line))

    def write(self, sm, line, sectors):
        self.l2[self.home_of(line)].use(line)[0] |= sectors
        if self.two and self.side_of(sm) == self.home_of(line) and line in self.l2[1 - self.home_of(line)].lines:
            self.l2[1 - self.home_of(line)].lines[line][0] &= ~sectors

    def request(self, l1, sm, row, now):
        _, _, _, op, line, sectors, _, _ = row
        if op == "store.global":
            if self.times["allocate"]:
                l1.use(line)[0] |= sectors
            self.write(sm, line, sectors)
            return now
        if op != "load.global":
            return self.ask_l2(sm, line, sectors, now)
        entry = l1.use(line)
        missing, there = sectors & ~entry[0], entry[1] if sectors & entry[0] else 0
        if missing:
            there = max(there, self.ask_l2(sm, line, missing, now))
            entry[0] |= missing
            entry[1] = max(entry[1], there)
        return max(there, now + self.times["l1_cycles"])


class SM:
    def __init__(self, number, n, memory):
        self.number, self.memory, self.l1 = number, memory, Lines(memory.times["l1"] // 128)
        self.unit = LoadStoreUnit(memory.times)
        self.schedulers, self.turn, self.free, self.blocks = [Scheduler(self.unit) for _ in range(n)], 0, 0, []
        self.free_at = {}  # of each place, when its block has issued

    def admit(self, trace, block):
        self.blocks.append(block)
        for warp in block.warps:
            self.schedulers[(block.slot * trace.warps + warp.index) % len(self.schedulers)].warps.append(warp)

    def step(self, now, out):
        for warp in [warp for block in self.blocks for warp in block.warps]:
            if warp.came is None and warp.accesses and warp.arrived(now):
                warp.came = now
        for scheduler in self.schedulers:
            scheduler.run(now)
        if self.free <= now:
            self.serve(now, out)
        self.unit.step(self.schedulers)

    def serve(self, now, out):
        for _ in self.schedulers:
            scheduler = self.schedulers[self.turn]
            self.turn = (self.turn + 1) % len(self.schedulers)
            if scheduler.queue and scheduler.sends <= now:
                self.take(scheduler, now, out)
                return

    def take(self, scheduler, now, out):
        warp, rows = scheduler.queue.pop(0)
        for i, row in enumerate(rows):
            there = self.memory.request(self.l1, self.number, row, now + i)
            if row[3] != "reduction.global":
                warp.data = max(warp.data, there)
            out.append((now, self.number, row))
        self.free = now + max(len(rows), self.memory.times["access"])
        self.unit.taken += self.unit.least
        scheduler.sends = now + self.memory.times["of_scheduler"]
        warp.queued -= 1
        if not warp.accesses and warp.queued == 0:
            scheduler.warps.remove(warp)
        if warp.block.done():
            self.blocks.remove(warp.block)
            self.free_at[warp.block.slot] = max(now + 1, warp.data)

    def place(self, capacity, now):
        """The lowest that is free; None: none is."""
        taken = [block.slot for block in self.blocks]
        return next((slot for slot in range(capacity) if slot not in taken and self.free_at.get(slot, 0) <= now), None)


def schedule(trace, sms, capacity, n, times):
    """Waves: as many blocks as fit, then none until all have finished."""
    memory, out, now = Memory({**times, "sms": sms}), [], 0
    machines = [SM(i, n, memory) for i in range(sms)]
    waiting = [list(range(sm, trace.blocks, sms)) for sm in range(sms)]
    while any(waiting) or any(m.blocks for m in machines):
        for machine, blocks in zip(machines, waiting):
            while not machine.blocks and blocks:
                first, blocks[:] = blocks[:capacity], blocks[capacity:]
                for slot, number in enumerate(first):
                    if any(row[0] == number for row in trace.rows):
                        machine.admit(trace, Block(trace, number, slot, now))
            machine.step(now, out)
        now += 1
    return ["%d %d %d %d %d 0x%012x 0x%x" % (step, sm, row[0], row[2], row[1], 128 * row[4], row[5]) for step, sm, row in out]


def first_done(trace, sms, capacity, n, times):
    """A block takes the place of one that is done, on the SM that has it first. Blocks without rows take places too."""
    memory, out, now = Memory({**times, "sms": sms}), [], 0
    machines = [SM(i, n, memory) for i in range(sms)]
    waiting = list(range(trace.blocks))

    def take(machine, slot):
        number = waiting.pop(0)
        if any(row[0] == number for row in trace.rows):
            machine.admit(trace, Block(trace, number, slot, now))
        else:
            instructions, beside = trace.idle.get(number, 0), min(n, trace.warps)
            machine.free_at[slot] = now + max(1, -(-instructions // beside))

    for i in range(min(len(waiting), sms * capacity)):
        take(machines[i % sms], i // sms)
    while waiting or any(m.blocks for m in machines):
        for machine in machines:
            while waiting and machine.place(capacity, now) is not None:
                take(machine, machine.place(capacity, now))
            machine.step(now, out)
        now += 1
    return ["%d %d %d %d %d 0x%012x 0x%x" % (step, sm, row[0], row[2], row[1], 128 * row[4], row[5]) for step, sm, row in out]


def run(tsv, gpu, options):
    text = subprocess.run("gtrace-cat --from | gschedule --quiet --gpu %s --issue latency %s | gtrace-cat" % (gpu, options), input=tsv,
                          shell=True, capture_output=True, text=True)
    if text.returncode != 0 or text.stderr:
        sys.exit(text.stderr)
    rows = []
    for line in text.stdout.splitlines():
        if line.startswith("#"):
            names = line[1:].split("\t")
        else:
            row = dict(zip(names, line.split("\t")))
            rows.append(" ".join(row[c] for c in ("step", "sm", "block", "warp", "an", "address", "sectors")))
    return rows


def main():
    dice = random.Random(int(sys.argv[1]))
    scratch = tempfile.gettempdir()
    for _ in range(int(sys.argv[2])):
        trace, sms, capacity, n = Trace(dice), dice.choice([1, 2, 3]), dice.choice([1, 2, 4]), dice.choice([1, 2, 4])
        times = {"l1": 128 * (dice.choice([64, 70, 100, 200]) if trace.columns else dice.choice([1, 4, 16])), "l2": 128 * dice.choice([4, 32]), "l1_cycles": dice.choice([1, 7]),
                 "l2_cycles": dice.choice([10, 25]), "dram_cycles": dice.choice([30, 60]), "fetch": dice.choice([32, 64]),
                 "allocate": dice.random() < 0.5, "slice": dice.choice([0, 3, 8]), "slices": dice.choice([1, 4]),
                 "sm": dice.choice([0, 0, 9]), "far": dice.choice([None, None, 0, 7]),
                 "access": dice.choice([0, 0, 2, 3]), "of_scheduler": dice.choice([0, 0, 4]), "order": dice.choice(["greedy", "ready", 0])}
        spread = ",".join("%s:%d" % (name, times[name]) for name in ("far", "slice", "sm") if times[name] is not None)
        gpu = scratch + "/latency.gpu"
        with open(gpu, "w") as out:
            for key, value in (("name", "small"), ("sms", sms), ("schedulers", n), ("max_blocks", capacity), ("l1.size", times["l1"]),
                               ("l1.allocate", "yes" if times["allocate"] else "no"), ("l1.hit_cycles", times["l1_cycles"]),
                               ("l2.size", times["l2"]), ("l2.fetch", times["fetch"]), ("l2.hit_cycles", "%d,500:1" % times["l2_cycles"]),
                               ("l2.miss_cycles", times["dram_cycles"]), ("l2.spread", spread),
                               ("dram.channels", times["slices"]), ("access_cycles", times["access"]),
                               ("scheduler_access_cycles", times["of_scheduler"]), ("warp_order", times["order"])):
                if value != 0:
                    out.write("%s = %s # assumed: a test\n" % (key, value))
        tsv = trace.tsv()
        with open(scratch + "/latency.tsv", "w") as out:
            out.write(tsv)
        dispatch, slow = dice.choice([("wave", schedule), ("first-done", first_done)])
        found, wanted = run(tsv, gpu, "--dispatch " + dispatch), slow(trace, sms, capacity, n, times)
        if found != wanted:
            for i, (left, right) in enumerate(zip(found + [""], wanted + [""])):
                if left != right:
                    sys.exit("row %d of %s/latency.tsv, %s:\nfound  %s\nwanted %s" % (i, scratch, dispatch, left, right))
    print(sys.argv[2], "schedules agree")


main()
