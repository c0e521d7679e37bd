# SPDX-License-Identifier: MIT
"""A slow, obvious gschedule, to compare the real one with on small random traces.

usage: schedule.py SEED TRACES

Every mapping, dispatch, issue and number of schedulers is tried on every trace, with the rows
ordered by block and shuffled, in memory and in a file, and first-done with and without the steps
that blocks take. Accesses are also scheduled after gcoalesce and before it, which must be the same. Exits 1 at the first difference.
"""
import random
import subprocess
import sys
import tempfile

ACCESS = "block warp an pc op size mask base stride lanes".split()
REQUEST = "block warp an pc op address sectors full lanes".split()


class Trace:
    """Rows as text, by block; some blocks have none."""

    def __init__(self, dice):
        self.requests = dice.random() < 0.3
        self.blocks = dice.choice([1, 3, 9, 26, 40])
        self.warps = dice.choice([1, 2, 3, 5])
        self.known = dice.random() < 0.8  # the launch's shape
        self.shared = dice.choice([0, 0.1, 0.5])  # part of the rows; those of requests are turns, which are not written
        self.rows = []  # (block, an, warp, text), in logical order
        for block in range(self.blocks):
            if dice.random() < 0.2:
                continue
            for an in range(dice.choice([1, 2, 4, 9])):
                if dice.random() < 0.15:
                    continue
                for warp in range(self.warps):
                    for _ in range(dice.choice([0, 1, 1, 1, 2])):
                        self.rows.append((block, 3 * an if block % 5 == 4 else an, warp, self.text(dice, self.shared)))

    def text(self, dice, shared):
        pc = "0x%x" % dice.randrange(1 << 16)
        if dice.random() < shared:
            return [pc, "load.shared"] + (["0x000000000000", "0x0", "0x0", "0"] if self.requests else ["4", "0x0000ffff", "0x000000000040", "4", "-"])
        if self.requests:
            return [pc, "load.global", "0x%012x" % (128 * dice.randrange(1 << 20)), "0x%x" % dice.randint(1, 15), "0x0",
                    str(dice.randint(1, 32))]
        if dice.random() < 0.2:
            lanes = ",".join("0x%012x" % dice.randrange(0, 1 << 30, 4) for _ in range(3))
            return [pc, "store.global", "4", "0x00000015", "-", "-", lanes]
        return [pc, "load.global", "4", "0x0000ffff", "0x%012x" % dice.randrange(0, 1 << 30, 4), "4", "-"]

    def tsv(self, rows, order, sms=None):
        shape = "\tgrid=%d,1,1\tblock=%d,1,1" % (self.blocks, self.warps * 32) if self.known else ""
        lines = ["#kernel\tid=1\tname=k" + shape + "\torder=" + order]
        names = REQUEST if self.requests else ACCESS
        lines.append("#" + "\t".join(names + (["step", "sm"] if sms else []) + ["kernel"]))
        for block, an, warp, text in rows:
            extra = ["0", str(sms[block])] if sms else []
            lines.append("\t".join([str(block), str(warp), str(an)] + text + extra + ["1"]))
        return "\n".join(lines) + "\n"


class Block:
    def __init__(self, trace, number, rows):
        mine = [row for row in rows if row[0] == number]
        self.number = number
        self.left = sorted(mine, key=lambda row: (row[1], row[2]))
        self.warps = trace.warps if trace.known else 1 + max((row[2] for row in mine), default=0)

    def take(self, an, warps):
        taken = [row for row in self.left if row[1] == an and row[2] in warps]
        self.left = [row for row in self.left if not (row[1] == an and row[2] in warps)]
        return taken


class Source:
    """Blocks that wait, what is known of the steps they take, and the step that it is."""

    step = 0

    def __init__(self, queue, takes):
        self.queue, self.takes = queue, takes


class Slots:
    """The blocks of an SM. A slot is free when its block has issued, and as long as it takes has passed. One without rows takes a step."""

    def __init__(self, blocks, source, capacity):
        self.blocks, self.source = blocks, source
        self.blocks += [None] * (capacity - len(blocks))
        self.free = [0] * capacity
        self.begun = [None] * capacity
        for slot in range(capacity):
            self.pass_by(slot)

    def pass_by(self, slot):
        """A block without rows has the slot."""
        block = self.blocks[slot]
        if block and not block.left:
            self.free[slot] = Source.step + max(1, self.source.takes.get(block.number, 0))
            self.blocks[slot] = None

    def issued(self, slot):
        block = self.blocks[slot]
        if self.begun[slot] is None:
            self.begun[slot] = Source.step
        if not block.left:
            self.free[slot] = self.begun[slot] + self.source.takes.get(block.number, 0)
            self.blocks[slot] = self.begun[slot] = None

    def refill(self):
        """Blocks for the free slots, lowest first; which slots were filled."""
        filled = []
        for slot, block in enumerate(self.blocks):
            if block is None and self.free[slot] <= Source.step and self.source.queue:
                self.blocks[slot] = self.source.queue.pop(0)
                self.pass_by(slot)
                if self.blocks[slot]:
                    filled.append(slot)
        return filled


def round_robin(blocks, source, capacity, n):
    """One group of rows after another, as an SM issues them; none while all slots wait."""
    start = [0] * capacity
    now = 0
    sm = Slots(blocks, source, capacity)
    slots = sm.blocks
    while any(slots) or source.queue:
        if not any(slots):
            yield []
            for fresh in sm.refill():
                start[fresh] = now + 1
        for slot in range(len(slots)):
            block = slots[slot]
            if block is None or now < start[slot]:
                continue
            for first in range(0, 64, n):
                group = block.take(now - start[slot], range(first, first + n))
                if not group:
                    continue
                sm.issued(slot)
                yield group
                for fresh in sm.refill():
                    start[fresh] = now + 1
        now += 1


def greedy(blocks, source, capacity, n):
    queues = [[] for _ in range(n)]
    sm = Slots(blocks, source, capacity)
    slots = sm.blocks

    def enter(slot):
        block = slots[slot]
        for warp in sorted({row[2] for row in block.left}):
            queues[(slot * block.warps + warp) % n].append((slot, warp))

    for slot, block in enumerate(slots):
        if block:
            enter(slot)
    while any(slots) or source.queue:
        group, touched = [], []
        for queue in queues:
            if not queue:
                continue
            slot, warp = queue[0]
            block = slots[slot]
            group += block.take(min(row[1] for row in block.left if row[2] == warp), [warp])
            if not any(row[2] == warp for row in block.left):
                queue.pop(0)
            touched.append(slot)
        for slot in sorted(set(touched)):
            sm.issued(slot)
        yield group
        for fresh in sm.refill():
            enter(fresh)


def waves(lists, capacity, issue, n, takes):
    for first in range(0, len(lists), capacity):
        slots = [block if block.left else None for block in lists[first:first + capacity]]
        yield from issue(slots, Source([], takes), capacity, n)


def first_done(lists, capacity, issue, n, takes):
    queue = list(lists)
    slots = [queue.pop(0) for _ in range(min(capacity, len(queue)))]
    yield from issue(slots, Source(queue, takes), capacity, n)


def floating(blocks, sms, capacity, issue, n, takes):
    queue = list(blocks)
    dealt = [queue.pop(0) for _ in range(min(capacity * sms, len(queue)))]
    return [issue(dealt[sm::sms], Source(queue, takes), capacity, n) for sm in range(sms)]


def schedule(trace, rows, sm_of, sms, capacity, dispatch, issue, n, takes):
    """Lines of text, as gtrace-cat prints them."""
    blocks = [Block(trace, number, rows) for number in range(trace.blocks)]
    capacity = min(capacity, trace.blocks)
    if sm_of is None:
        units = floating(blocks, sms, capacity, issue, n, takes)
    else:
        lists = [[b for b in blocks if sm_of.get(b.number) == sm] for sm in range(sms)]
        units = [dispatch(mine, capacity, issue, n, takes) for mine in lists]
    lines, step = [], 0
    units = list(enumerate(units))
    while units:
        Source.step = step
        for unit in list(units):
            group = next(unit[1], None)
            if group is None:
                units.remove(unit)
                continue
            for block, an, warp, text in group:
                if text[1] == "load.shared" and trace.requests:
                    continue
                lines.append("\t".join([str(block), str(warp), str(an)] + text + [str(step), str(unit[0]), "1"]))
        step += 1
    return lines


def run(text, options, pipe="gschedule %s"):
    pipe = "gtrace-cat --from | " + pipe % options + " | gtrace-cat"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", pipe], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (pipe, done.stderr))
    return [line for line in done.stdout.splitlines() if not line.startswith("#")]


def main():
    dice = random.Random(int(sys.argv[1]))
    scratch = tempfile.gettempdir()
    tried = 0
    for _ in range(int(sys.argv[2])):
        trace = Trace(dice)
        numbers = range(trace.blocks)
        shuffled = trace.rows[:]
        dice.shuffle(shuffled)
        for mapping in ("rr", "part:3", "random:7", "trace"):
            for dispatch in (waves, first_done):
                for issue in (round_robin, greedy):
                    sms, n = dice.choice([1, 2, 5]), dice.choice([1, 2, 3])
                    capacity = dice.choice([1, 2, 3, 1000])
                    traced = {b: dice.randrange(sms) for b in numbers}
                    options = "--sm %d --max-blocks %s --schedulers %d --map %s --dispatch %s --issue %s" % (
                        sms, capacity if capacity < 1000 else "all", n, mapping,
                        "wave" if dispatch is waves else "first-done", "rr" if issue is round_robin else "gto")
                    rows, order = (trace.rows, "block") if dice.random() < 0.6 else (shuffled, "none")
                    tsv = trace.tsv(rows, order, traced if mapping == "trace" else None)
                    options += dice.choice(["", " -S 0 -T " + scratch])
                    takes = {}
                    if dispatch is first_done and dice.random() < 0.7:
                        takes = {b: dice.randrange(dice.choice([2, 20, 60])) for b in numbers if dice.random() < 0.8}
                        with open(scratch + "/block-steps", "w") as out:
                            out.write("# kernel block steps\n2 0 9\n")
                            out.writelines("1\t%d %d\n" % item for item in dice.sample(sorted(takes.items()), len(takes)))
                        options += " --block-steps " + scratch + "/block-steps"
                    found = run(tsv, options)
                    sm_of = {"rr": {b: b % sms for b in numbers}, "part:3": {b: b // 3 % sms for b in numbers},
                             "trace": {b: traced[b] for b in {row[0] for row in rows}}}.get(mapping)
                    if mapping == "random:7":
                        # Where it puts blocks is its own affair, but those without rows count, too.
                        full = trace.tsv([(b, 0, 0, trace.text(dice, 0)) for b in numbers], "block")
                        sm_of = {int(line.split("\t")[0]): int(line.split("\t")[-2]) for line in run(full, options)}
                    if mapping == "rr" and dispatch is first_done:
                        sm_of = None
                    wanted = schedule(trace, rows, sm_of, sms, capacity, dispatch, issue, n, takes)
                    if found != wanted:
                        with open(scratch + "/schedule.tsv", "w") as out:
                            out.write(tsv)
                        for i, (left, right) in enumerate(zip(found + [""], wanted + [""])):
                            if left != right:
                                sys.exit("%s: row %d of %s/schedule.tsv:\nfound  %s\nwanted %s" % (options, i, scratch, left, right))
                    if not trace.requests and mapping != "trace" and run(tsv, options, "gcoalesce | gschedule %s") != run(tsv, options, "gschedule %s | gcoalesce"):
                        with open(scratch + "/schedule.tsv", "w") as out:
                            out.write(tsv)
                        sys.exit("%s: %s/schedule.tsv: gcoalesce first and gschedule first differ" % (options, scratch))
                    tried += 1
    print(tried, "schedules agree")


main()
