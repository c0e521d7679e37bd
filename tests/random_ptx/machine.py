# SPDX-License-Identifier: MIT
"""Runs a kernel one thread at a time, on the text of its instructions, and keeps every access.

A thread runs until it is done or waits: at a barrier for the block, at an operation over lanes for the
members of its mask. When no thread can run, what they wait for is done; if nothing can be, or a
register is read that was never written, the kernel is ill-defined.
"""

import re
from collections import defaultdict

from integers import IllDefined, WIDTHS, is_signed, ones, value_of
from operations import VIDEOS, meaning
from steps import (BARRIER, DONE, LANES, branch, branch_indexed, call, convert_address, give_back, is_space,
                   leave, move_parts, with_carry)
from steps_block import barrier_object, copy, load_matrix, store_matrix
from steps_lanes import barrier_of, elect, match, over_lanes, over_matrices, product, reduce_lanes, shuffle, transposed, vote
from steps_memory import atomic, load, reduction, store

STEPS_MAX = 20000  # instructions of one thread
LINE = re.compile(r"(?:@(!?)(%\w+) )?([\w.:]+)(?: (.*?))?;(?: // (.*))?$")


def split_operands(text):
    """Splits at commas outside of brackets."""
    parts, depth, at = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "{[(") - (c in "}])")
        if c == "," and depth == 0:
            parts.append(text[at:i].strip())
            at = i + 1
    return parts + [text[at:].strip()] if text else []


class Thread:
    __slots__ = ("r", "pc", "lane", "warp", "state", "carry", "local", "frames", "turns", "steps", "wait", "code")

    def __init__(self, lane, warp, code, registers, local):
        self.lane, self.warp, self.code, self.r, self.local = lane, warp, code, registers, local
        self.pc, self.state, self.carry, self.frames, self.turns = 0, None, 0, [], []
        self.steps, self.wait = 0, None


class Code:
    """A function's instructions, compiled; registers are numbered, and constants follow them."""

    def __init__(self, function, machine):
        self.function, self.machine = function, machine
        self.index, self.types, self.initial = {}, [], []
        for name, kind in function.registers.items():
            self.slot(name, kind, None)
        self.labels = {line[:-1]: i for i, line in enumerate(function.lines) if line.endswith(":")}
        self.steps = [self.compile(i, line) for i, line in enumerate(function.lines)]

    def slot(self, name, kind, value):
        if name not in self.index:
            self.index[name] = len(self.types)
            self.types.append(kind)
            self.initial.append(value)
        return self.index[name]

    def source(self, text, kind):
        if text in self.index:
            return self.index[text]
        if text.startswith("%"):
            return self.slot(text, "u32", text)
        return self.slot("%s:%s" % (text, kind), kind, self.constant(text, kind))

    def constant(self, text, kind):
        if text[:2] in ("0f", "0d"):
            return int(text[2:], 16)
        if text in self.machine.symbols:
            return self.machine.symbols[text][1]
        if text in self.function.locals:
            return self.function.locals[text]
        return int(text, 0) & ones(WIDTHS[kind])

    def result(self, text):
        return self.slot("_", "sink", None) if text == "_" else self.index[text]

    def compile(self, i, line):
        if line.endswith(":"):
            return None, None, None
        if line.startswith("//"):
            return None, None, marker(line)
        found = LINE.match(line)
        negated, guard, opcode, text, self.comment = found.groups()
        operands = split_operands(text or "")
        step = self.operation(i, opcode, operands)
        return (self.index[guard] if guard else None), bool(negated), step

    def operation(self, i, opcode, operands):
        base, *mods = opcode.split(".")
        special = SPECIAL.get(base)
        if special and (base != "mov" or "{" in "".join(operands)):
            return special(self, i, mods, operands)
        if base in ("add", "sub", "mad") and "cc" in mods:
            return with_carry(self, i, [base] + mods, operands)
        three = base in ("min", "max") and len(operands) == 4
        results, sources, f = meaning(".".join([base + "3" * three] + mods), operands)
        if base in VIDEOS:
            sources, operands = sources[:len(operands) - 1], [x.lstrip("-").split(".")[0] for x in operands]
        return self.plain(results, sources, f, operands)

    def plain(self, results, sources, f, operands):
        first = operands[0].split("|")
        slots = [self.source(x.lstrip("!"), t) for x, t in zip(operands[1:], sources)]
        turned = [int(x.startswith("!")) for x in operands[1:]]
        if len(slots) != len(sources) or len(operands) != len(sources) + 1:
            raise IllDefined("operands of " + repr(operands))
        cut = [ones(WIDTHS[t]) for t in sources]
        to = [(self.result(x), self.widen(x, t)) for x, t in zip(first, results)]
        several = len(results) > 1
        def step(t):
            r = t.r
            xs = []
            for s, m, turn in zip(slots, cut, turned):
                x = r[s]
                if x is None:
                    raise IllDefined("a register is read before it is written")
                xs.append(x & m ^ turn)
            y = f(*xs)
            if several:
                for (d, widen), value in zip(to, y):
                    r[d] = value
            else:
                d, widen = to[0]
                r[d] = widen(y) if widen else y
        return step

    def widen(self, name, t):
        """The function that extends a result of type t to a wider register; None if it has its width."""
        if name == "_" or WIDTHS[self.types[self.index[name]]] == WIDTHS[t]:
            return None
        n, all_ones = WIDTHS[t], ones(WIDTHS[self.types[self.index[name]]])
        if is_signed(t):
            return lambda x: value_of(t, x) & all_ones
        return lambda x: x & ones(n) & all_ones

    def address(self, text):
        """A function of the thread, for [register + offset], [symbol + offset]."""
        base, _, offset = text[1:-1].partition("+")
        offset = int(offset or "0", 0)
        if base in self.index:
            slot, n = self.index[base], WIDTHS[self.types[self.index[base]]]
            return lambda t: (t.r[slot] + offset) & ones(n)
        at = self.machine.symbols[base][1] if base in self.machine.symbols else self.function.locals[base]
        return lambda t: at + offset


def marker(line):
    """Loops are marked in comments, so that accesses can be identified by their loop iterations."""
    word = line.split()[1]
    def step(t):
        if word == "loop":
            t.turns.append(0)
        elif word == "turn":
            t.turns[-1] += 1
        else:
            t.turns.pop()
    return step


def active(code, i, mods, operands):
    raise IllDefined("activemask has no one result")


def nothing(code, i, mods, operands):
    return lambda t: None


SPECIAL = {
    "mov": move_parts, "cvta": convert_address, "isspacep": is_space, "ld": load, "st": store, "atom": atomic,
    "red": reduction, "bra": branch, "brx": branch_indexed, "ret": give_back,
    "exit": lambda code, i, mods, operands: leave, "call": call, "bar": barrier_of, "barrier": barrier_of,
    "addc": lambda code, i, mods, operands: with_carry(code, i, ["addc"] + mods, operands),
    "subc": lambda code, i, mods, operands: with_carry(code, i, ["subc"] + mods, operands),
    "madc": lambda code, i, mods, operands: with_carry(code, i, ["madc"] + mods, operands),
    "shfl": over_lanes(shuffle, 2, lambda m: ("b32", "u32", "u32", "b32")),
    "vote": over_lanes(vote, 1, lambda m: ("pred", "b32")),
    "match": over_lanes(match, 2, lambda m: (m[-1], "b32")),
    "redux": over_lanes(reduce_lanes, 1, lambda m: (m[-1], "b32")),
    "elect": over_lanes(elect, 2, lambda m: ("b32",)), "cp": copy, "ldmatrix": load_matrix, "stmatrix": store_matrix,
    "mbarrier": barrier_object, "movmatrix": over_matrices(transposed), "mma": over_matrices(product),
    "activemask": active, "membar": nothing, "fence": nothing,
}


class Machine:
    """Memory and threads of one launch. `buffers` are (name, address, bytearray)."""

    def __init__(self, kernel, buffers, constants, grid, block, values):
        self.kernel, self.grid, self.block_size = kernel, grid, block
        self.buffers = list(buffers) + list(constants)
        self.shared, self.parameters = None, bytearray()
        self.accesses, self.kinds = defaultdict(list), {}
        self.writers, self.phase = {}, 0  # of what threads share: who wrote it last, and between which barriers
        self.symbols = {name: (name, address) for name, address, _ in constants}
        self.symbols["sh"] = ("sh", 0)
        self.codes, self.block, self.phases, self.arrived = {}, 0, {}, defaultdict(int)
        for name, kind, bits in values:
            size = kind if isinstance(kind, int) else WIDTHS[kind] // 8
            alignment = 8 if isinstance(kind, int) else size
            while len(self.parameters) % alignment:
                self.parameters.append(0)
            self.symbols[name] = (name, len(self.parameters))
            self.parameters += bits if isinstance(bits, bytes) else bits.to_bytes(size, "little")
        self.main = Code(kernel, self)

    def code_of(self, name):
        if name not in self.codes:
            self.codes[name] = Code(self.kernel.functions[name], self)
        return self.codes[name]

    def find(self, address):
        for name, base, memory in self.buffers:
            if 0 <= address - base < len(memory):
                return name, memory, address - base
        raise IllDefined("an address outside every buffer")

    def registers_for(self, code, thread):
        lane, thread_id = thread.lane, thread.warp * 32 + thread.lane
        special = {"%tid.x": thread_id, "%tid.y": 0, "%tid.z": 0, "%ntid.x": self.block_size, "%ntid.y": 1,
                   "%ctaid.x": self.block, "%ctaid.y": 0, "%nctaid.x": self.grid, "%laneid": lane,
                   "%lanemask_eq": 1 << lane, "%lanemask_lt": ones(lane), "%lanemask_le": ones(lane + 1),
                   "%lanemask_gt": ones(32) & ~ones(lane + 1), "%lanemask_ge": ones(32) & ~ones(lane)}
        return [special[x] if isinstance(x, str) else x for x in code.initial]

    def run(self):
        for self.block in range(self.grid):
            self.shared = bytearray(self.kernel.shared)
            self.phase += 1
            self.phases, self.arrived = {}, defaultdict(int)
            threads = []
            for i in range(self.block_size):
                t = Thread(i % 32, i // 32, self.main, None, bytearray(self.kernel.local))
                t.r = self.registers_for(self.main, t)
                threads.append(t)
            self.run_block(threads)

    def run_block(self, threads):
        while True:
            for t in threads:
                if t.state is None:
                    run_thread(t)
            if all(t.state == DONE for t in threads):
                return
            if not self.release(threads):
                raise IllDefined("threads wait for ever")

    def release(self, threads):
        moved = False
        groups = defaultdict(list)
        for t in threads:
            if t.state == LANES:
                groups[(t.warp,) + t.wait[:3]].append(t)
        for (warp, _, _, members), group in groups.items():
            if sum(1 << t.lane for t in group) == members:
                group[0].wait[3](group)
                go_on(group)
                moved = True
        alive = [t for t in threads if t.state != DONE]
        if not moved and alive and all(t.state == BARRIER for t in alive) and len({t.wait for t in alive}) == 1:
            if alive[0].wait[2]:
                alive[0].wait[2](alive)
            go_on(alive)
            self.phase += 1
            self.arrived.clear()
            moved = True
        return moved or self.release_some(alive)

    def release_some(self, alive):
        """Those at a barrier of so many threads, when all of them have come."""
        groups = defaultdict(list)
        for t in alive:
            if t.state == BARRIER and t.wait[3]:
                groups[t.wait[1], t.wait[3]].append(t)
        for (number, n), group in groups.items():
            if len(group) + self.arrived[number] == n:
                self.arrived[number] = 0
                self.phase += 1
                go_on(group)
                return True
        return False


def go_on(threads):
    for t in threads:
        t.state = None
        t.pc += 1


def run_thread(t):
    while t.state is None:
        guard, negated, step = t.code.steps[t.pc]
        t.steps += 1
        if t.steps > STEPS_MAX:
            raise IllDefined("a thread does not end")
        if guard is not None:
            holds = t.r[guard]
            if holds is None:
                raise IllDefined("a guard is read before it is written")
            if bool(holds) == negated:
                t.pc += 1
                continue
        to = step(t) if step else None
        if t.state is None:
            t.pc = t.pc + 1 if to is None else to
