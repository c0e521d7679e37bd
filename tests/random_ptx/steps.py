# SPDX-License-Identifier: MIT
"""The effect of an instruction on a thread, if it is more than a function of its sources' bits: each
takes the code it stands in, its index, its modifiers and operands, and gives a step.

A step returns the index to go on at, or None for the next.
"""

from integers import IllDefined, WIDTHS, ones, value_of

SHARED_WINDOW, LOCAL_WINDOW = 1 << 60, 1 << 61  # generic addresses; not what another machine would give
DONE, BARRIER, LANES = "done", "barrier", "lanes"


def elements(text):
    return [x.strip() for x in text[1:-1].split(",")]


def move_parts(code, i, mods, operands):
    n = WIDTHS[mods[-1]]
    if operands[0].startswith("{"):
        to = [code.result(x) for x in elements(operands[0])]
        part = n // len(to)
        source = code.source(operands[1], mods[-1])
        def unpack(t):
            for k, d in enumerate(to):
                t.r[d] = t.r[source] >> part * k & ones(part)
        return unpack
    names = elements(operands[1])
    part = n // len(names)
    sources = [code.source(x, "b%d" % part) for x in names]
    d = code.result(operands[0])
    def pack(t):
        t.r[d] = sum((t.r[s] & ones(part)) << part * k for k, s in enumerate(sources))
    return pack


def with_carry(code, i, words, operands):
    """add.cc, addc, sub.cc, subc, mad.cc, madc: one bit of carry between them, which after a difference is 1 if it borrows nothing."""
    base, mods = words[0], words[1:]
    t = mods[-1]
    n = WIDTHS[t]
    takes, gives = base.endswith("c"), "cc" in mods
    slots = [code.source(x, t) for x in operands[1:]]
    d = code.result(operands[0])
    def step(thread):
        xs = [thread.r[s] for s in slots]
        carry = thread.carry if takes else int(base.startswith("sub"))
        if base.startswith("sub"):
            total = xs[0] - xs[1] - (1 - carry)
            out = int(total >= 0)
        else:
            if base.startswith("mad"):
                whole = value_of(t, xs[0]) * value_of(t, xs[1])
                xs = [(whole >> n if "hi" in mods else whole) & ones(n), xs[2]]
            total = xs[0] + xs[1] + carry
            out = total >> n
        thread.r[d] = total & ones(n)
        if gives:
            thread.carry = out
    return step


def convert_address(code, i, mods, operands):
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(next(m for m in mods if m not in ("to",)), 0)
    sign = -1 if "to" in mods else 1
    d = code.result(operands[0])
    source = code.source(operands[1], mods[-1])
    def step(t):
        t.r[d] = t.r[source] + sign * window
    return step


def is_space(code, i, mods, operands):
    d, source = code.result(operands[0]), code.source(operands[1], "u64")
    def step(t):
        x = t.r[source]
        space = "local" if x >= LOCAL_WINDOW else "shared" if x >= SHARED_WINDOW else "global"
        t.r[d] = int(space == mods[0].split("::")[0])
    return step


def branch(code, i, mods, operands):
    target = code.labels[operands[0]]
    return lambda t: target


def branch_indexed(code, i, mods, operands):
    index = code.source(operands[0], "u32")
    targets = [code.labels[x] for x in code.function.targets[operands[1]]]
    def step(t):
        if t.r[index] is None or t.r[index] >= len(targets):
            raise IllDefined("brx.idx outside its list")
        return targets[t.r[index]]
    return step


def leave(t):
    t.state = DONE
    return t.pc


def give_back(code, i, mods, operands):
    def step(t):
        if not t.frames:
            return leave(t)
        callee, registers = t.code, t.r
        t.code, t.r, pc, returns = t.frames.pop()
        for to, formal in zip(returns, callee.function.returns):
            hand_over(t, t.code, t.r, to, callee, registers, formal)
        return pc + 1
    return step


def hand_over(t, to_code, to_registers, to, from_code, from_registers, source):
    """A value from the caller's variable to the callee's, or back: registers, or .param variables."""
    if to in to_code.function.locals:
        at, start = to_code.function.locals[to], from_code.function.locals[source]
        size = to_code.function.sizes[to]
        t.local[at:at + size] = t.local[start:start + size]
    elif to != "_":
        to_registers[to_code.index[to]] = from_registers[from_code.index[source]]


def call(code, i, mods, operands):
    """call.uni (results), name, (arguments);"""
    returns, name, arguments = elements(operands[0]), operands[1], elements(operands[2])
    callee = code.machine.code_of(name)
    def step(t):
        registers = code.machine.registers_for(callee, t)
        for formal, actual in zip(callee.function.parameters, arguments):
            hand_over(t, callee, registers, formal, code, t.r, actual)
        t.frames.append((t.code, t.r, i, returns))
        t.code, t.r = callee, registers
        return 0
    return step


def barrier(code, i, mods, operands):
    """Of all threads, or of so many, of which some arrive only."""
    number, n = int(operands[0]), int(operands[1]) if len(operands) > 1 else None
    def step(t):
        t.state, t.wait = BARRIER, (i, number, None, n)
        return t.pc
    def arrive(t):
        code.machine.arrived[number] += 1
    return arrive if "arrive" in mods else step
