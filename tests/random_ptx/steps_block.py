# SPDX-License-Identifier: MIT
"""What a block does together: asynchronous copies, matrices in shared memory, barriers with a result, mbarriers."""

from integers import IllDefined
from steps import BARRIER, LANES, elements
from steps_memory import note, owned, reach


def copy(code, i, mods, operands):
    """cp.async: here a copy is over at once, and those who do not wait for it are not drawn."""
    if "commit_group" in mods or "wait_group" in mods or "wait_all" in mods:
        return lambda t: None
    to, source, size = code.address(operands[0]), code.address(operands[1]), int(operands[2])
    more = operands[3] if len(operands) > 3 else None
    ignores = more in code.index and code.types[code.index[more]] == "pred"
    slot = code.source(more, "pred" if ignores else "u32") if more else None
    machine = code.machine
    def step(t):
        n = size if slot is None else size * (1 - t.r[slot]) if ignores else t.r[slot]
        got = bytes(size)
        if n:
            space, name, memory, at = reach(machine, t, "global", source(t), size, i)
            owned(machine, t, name, at, n, False)
            note(machine, t, space, name, at, size, i, "load")
            got = bytes(memory[at:at + n]) + bytes(size - n)
        space, name, memory, at = reach(machine, t, "shared", to(t), size, i)
        owned(machine, t, name, at, size, True)
        note(machine, t, space, name, at, size, i, "store")
        memory[at:at + size] = got
    return step


def rows_of(code, i, mods, operands, stores):
    """ldmatrix and stmatrix: lane l has elements 2 (l % 4) and the next of row l / 4 of each matrix, or, .trans, of that column; the rows are
    at the addresses of lanes 0 to 7, 8 to 15, ..."""
    vector, place = (operands[1], operands[0]) if stores else operands
    n, trans, address = int(next(m for m in mods if m in ("x1", "x2", "x4"))[1]), "trans" in mods, code.address(place)
    slots = [code.source(x, "b32") for x in elements(vector)]
    machine = code.machine
    def finish(threads):
        rows = []
        for t in threads[:8 * n]:
            space, name, memory, at = reach(machine, t, "shared", address(t), 16, i)
            owned(machine, t, name, at, 16, stores)
            note(machine, t, space, name, at, 16, i, "store" if stores else "load")
            rows.append((memory, at))
        for t in threads:
            for k, s in enumerate(slots):
                word = bytearray((t.r[s] or 0).to_bytes(4, "little"))
                for e in range(2):
                    row, column = (2 * (t.lane % 4) + e, t.lane // 4) if trans else (t.lane // 4, 2 * (t.lane % 4) + e)
                    memory, at = rows[8 * k + row]
                    if stores:
                        memory[at + 2 * column:at + 2 * column + 2] = word[2 * e:2 * e + 2]
                    else:
                        word[2 * e:2 * e + 2] = memory[at + 2 * column:at + 2 * column + 2]
                if stores and t.r[s] is None:
                    raise IllDefined("a register is stored before it is written")
                if not stores:
                    t.r[s] = int.from_bytes(word, "little")
    def step(t):
        t.state, t.wait = LANES, (tuple(call for _, _, call, _ in t.frames), i, 0xffffffff, finish)
        return t.pc
    return step


def load_matrix(code, i, mods, operands):
    return rows_of(code, i, mods, operands, False)


def store_matrix(code, i, mods, operands):
    return rows_of(code, i, mods, operands, True)


def count(code, i, mods, operands):
    """bar.red: the predicates of those who wait, as the barrier ends."""
    d, number, last = code.result(operands[0]), int(operands[1]), operands[-1]
    negated, slot = last.startswith("!"), code.source(last.lstrip("!"), "pred")
    how = next(m for m in mods if m in ("popc", "and", "or"))
    def finish(threads):
        held = [t.r[slot] ^ negated for t in threads]
        for t in threads:
            t.r[d] = {"popc": sum(held), "and": int(all(held)), "or": int(any(held))}[how]
    def step(t):
        t.state, t.wait = BARRIER, (i, number, finish, None)
        return t.pc
    return step


class Phases:
    """An mbarrier: the arrivals and bytes that its phase lacks, the arrivals of each, and how many phases are over."""

    def __init__(self, expected):
        self.pending = self.expected = expected
        self.bytes = self.phase = 0

    def change(self, arrivals, more):
        self.pending -= arrivals
        self.bytes += more
        if self.pending < 0:
            raise IllDefined("more arrivals than a phase expects")
        if self.pending == 0 and self.bytes == 0:
            self.pending = self.expected
            self.phase += 1


def barrier_object(code, i, mods, operands):
    action, machine = mods[0], code.machine
    tests = action in ("test_wait", "try_wait")
    d = code.result(operands.pop(0)) if tests or action == "arrive" else None
    address = code.address(operands[0])
    slot = code.source(operands[1], "b64" if tests and "parity" not in mods else "u32") if len(operands) > 1 else None
    kind = "load" if tests else {"init": "store", "arrive": "atomic"}.get(action, "reduction")
    def step(t):
        at = address(t)
        note(machine, t, "shared", "shared", at, 8, i, kind)
        x = t.r[slot] if slot is not None else 1
        phases = machine.phases.get(at)
        if action == "init":
            machine.phases[at] = Phases(x)
        elif tests:
            t.r[d] = int(phases.phase % 2 != x) if "parity" in mods else int(phases.phase != x)
        else:
            if d is not None:
                t.r[d] = phases.phase
            arrives = action == "arrive"
            phases.change((1 if "expect_tx" in mods else x) if arrives else 0, x * ("expect_tx" in mods) - x * (action == "complete_tx"))
    return step
