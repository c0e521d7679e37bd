# SPDX-License-Identifier: MIT
"""Loads, stores and atomics. Every access is recorded, and data races are refused."""

from integers import IllDefined, WIDTHS, ones
from operations import meaning
from steps import LOCAL_WINDOW, SHARED_WINDOW, elements

SPACES = ("global", "shared", "local", "const", "param")


def reach(machine, thread, space, address, size, pc):
    """The bytes that hold the address, and where in them."""
    if space == "generic":
        if address >= LOCAL_WINDOW:
            space, address = "local", address - LOCAL_WINDOW
        elif address >= SHARED_WINDOW:
            space, address = "shared", address - SHARED_WINDOW
        else:
            space = "global"
    if address % size:
        raise IllDefined("an address that is not aligned")
    if space == "shared":
        name, memory, at = "shared", machine.shared, address
    elif space == "local":
        name, memory, at = "local", thread.local, address
    elif space == "param":
        memory, at, name = machine.parameters, address, None
    else:
        name, memory, at = machine.find(address)
    if at < 0 or at + size > len(memory):
        raise IllDefined("an address outside")
    return space, name, memory, at


def owned(machine, thread, name, at, size, writes):
    """Refuses unordered accesses of two threads to the same bytes if one of them writes."""
    if name in ("shared", "out"):
        me = thread.warp, thread.lane, machine.block
        for byte in range(at, at + size):
            who, phase = machine.writers.get((name, byte), (me, 0))
            if who != me and (name == "out" or phase == machine.phase):
                raise IllDefined("two threads at one place")
            if writes:
                machine.writers[name, byte] = me, machine.phase


def note(machine, thread, space, name, at, size, pc, action):
    if space != "param":
        context = tuple(call for _, _, call, _ in thread.frames) + tuple(thread.turns)
        machine.accesses[machine.block, thread.warp, thread.code.function.line_of(pc), context].append(
            (thread.lane, space, name, at, size, action))


def space_of(code, mods, operand):
    for m in mods:
        if m.split("::")[0] in SPACES:
            space = m.split("::")[0]
            name = operand[1:-1].partition("+")[0]
            return "local" if space == "param" and name in code.function.locals else space
    return "generic"


def load(code, i, mods, operands):
    machine, t = code.machine, mods[-1]
    names = elements(operands[0]) if operands[0].startswith("{") else [operands[0]]
    to = [(code.result(x), code.widen(x, t)) for x in names]
    size = WIDTHS[t] // 8
    address, space = code.address(operands[1]), space_of(code, mods, operands[1])
    traced = "param" not in mods
    def step(thread):
        where, name, memory, at = reach(machine, thread, space, address(thread), size * len(to), i)
        owned(machine, thread, name, at, size * len(to), False)
        if traced:
            note(machine, thread, where, name, at, size * len(to), i, "load")
        for k, (d, widen) in enumerate(to):
            x = int.from_bytes(memory[at + k * size:at + (k + 1) * size], "little")
            thread.r[d] = widen(x) if widen else x
    return step


def store(code, i, mods, operands):
    machine, t = code.machine, mods[-1]
    names = elements(operands[1]) if operands[1].startswith("{") else [operands[1]]
    sources = [code.source(x, t) for x in names]
    size = WIDTHS[t] // 8
    address, space = code.address(operands[0]), space_of(code, mods, operands[0])
    traced = "param" not in mods
    kind = code.comment  # how the stored bytes are compared, if not bit by bit
    def step(thread):
        where, name, memory, at = reach(machine, thread, space, address(thread), size * len(sources), i)
        owned(machine, thread, name, at, size * len(sources), True)
        if traced:
            note(machine, thread, where, name, at, size * len(sources), i, "store")
        for k, s in enumerate(sources):
            x = thread.r[s]
            if x is None:
                raise IllDefined("a register is stored before it is written")
            memory[at + k * size:at + (k + 1) * size] = (x & ones(8 * size)).to_bytes(size, "little")
            if name == "out":
                machine.kinds[at + k * size] = (kind, size) if kind else None
    return step


def combine(operation, t):
    if operation in ("add", "min", "max", "and", "or", "xor"):
        return meaning("%s.%s" % (operation, t))[2]
    return {"exch": lambda old, b: b,
            "inc": lambda old, b: 0 if old >= b else old + 1,
            "dec": lambda old, b: b if old == 0 or old > b else old - 1}[operation]


def atomic(code, i, mods, operands, returns=True):
    machine, t = code.machine, mods[-1]
    if any(m in mods for m in ("v2", "v4", "v8")):
        return atomic_vector(code, i, mods, operands, returns)
    operation = next(m for m in mods if m in ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"))
    size = WIDTHS[t] // 8
    d = code.result(operands.pop(0)) if returns else None
    address, space = code.address(operands[0]), space_of(code, mods, operands[0])
    sources = [code.source(x, t) for x in operands[1:]]
    f = None if operation == "cas" else combine(operation, t)
    in_global = meaning("add.ftz.f32")[2] if (operation, t) == ("add", "f32") else f  # subnormals: PTX, atom
    def step(thread):
        where, name, memory, at = reach(machine, thread, space, address(thread), size, i)
        owned(machine, thread, name, at, size, False)
        note(machine, thread, where, name, at, size, i, "atomic" if returns else "reduction")
        old = int.from_bytes(memory[at:at + size], "little")
        xs = [thread.r[s] for s in sources]
        change = in_global if where == "global" else f
        new = (xs[1] if old == xs[0] else old) if f is None else change(old, xs[0])
        memory[at:at + size] = new.to_bytes(size, "little")
        if returns:
            thread.r[d] = old
    return step


def atomic_vector(code, i, mods, operands, returns):
    """Each element by itself, in global memory."""
    machine, t, size = code.machine, mods[-1], WIDTHS[mods[-1]] // 8
    change = meaning("%s.%s" % (next(m for m in mods if m in ("add", "min", "max")), "ftz.f32" if t == "f32" else t))[2]
    to = [code.result(x) for x in elements(operands.pop(0))] if returns else []
    address, sources = code.address(operands[0]), [code.source(x, t) for x in elements(operands[1])]
    def step(thread):
        where, name, memory, at = reach(machine, thread, "global", address(thread), size * len(sources), i)
        owned(machine, thread, name, at, size * len(sources), False)
        note(machine, thread, where, name, at, size * len(sources), i, "atomic" if returns else "reduction")
        xs, olds = [thread.r[s] for s in sources], []
        for k, x in enumerate(xs):
            place = slice(at + k * size, at + (k + 1) * size)
            olds.append(int.from_bytes(memory[place], "little"))
            memory[place] = change(olds[k], x).to_bytes(size, "little")
        for d, old in zip(to, olds):
            thread.r[d] = old
    return step


def reduction(code, i, mods, operands):
    return atomic(code, i, mods, operands, False)
