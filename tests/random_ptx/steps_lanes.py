# SPDX-License-Identifier: MIT
"""Operations over the lanes of a warp: a thread waits until all members of its mask have arrived."""

import re

from integers import IllDefined, value_of
from steps import LANES, barrier, elements
from steps_block import count
from steps_memory import combine


def over_lanes(f, n_results, operand_types):
    """The last operand is the members' mask; f(lanes, sources by lane) gives results by lane."""
    def make(code, i, mods, operands):
        types = operand_types(mods)
        to = [code.result(x) for x in operands[0].split("|")]
        negated = [x.startswith("!") for x in operands[1:]]
        slots = [code.source(x.lstrip("!"), t) for x, t in zip(operands[1:], types)]
        mask = slots[-1]
        def finish(threads):
            lanes = [t.lane for t in threads]
            sources = {t.lane: [1 - t.r[s] if n else t.r[s] for s, n in zip(slots[:-1], negated)]
                       for t in threads}
            if any(x is None for xs in sources.values() for x in xs):
                raise IllDefined("a register is read before it is written")
            results = f(mods, lanes, sources)
            for t in threads:
                for d, value in zip(to, results[t.lane]):
                    t.r[d] = value
        def step(t):
            members = t.r[mask]
            if members is None or not members >> t.lane & 1:
                raise IllDefined("a lane that is no member")
            context = tuple(call for _, _, call, _ in t.frames)
            t.state, t.wait = LANES, (context, i, members, finish)
            return t.pc
        return step
    return make


def over_matrices(f):
    """Of a whole warp; f(mods, registers by lane) gives the registers of the result by lane."""
    def make(code, i, mods, operands):
        parts = [elements(x) if x.startswith("{") else [x] for x in operands]
        to = [code.result(x) for x in parts[0]]
        slots = [[code.source(x, "b32") for x in part] for part in parts[1:]]
        def finish(threads):
            sources = {t.lane: [[t.r[s] for s in part] for part in slots] for t in threads}
            if any(x is None for lane in sources.values() for part in lane for x in part):
                raise IllDefined("a register is read before it is written")
            results = f(mods, sources)
            for t in threads:
                for d, value in zip(to, results[t.lane]):
                    t.r[d] = value
        def step(t):
            t.state, t.wait = LANES, (tuple(call for _, _, call, _ in t.frames), i, 0xffffffff, finish)
            return t.pc
        return step
    return make


def transposed(mods, sources):
    """movmatrix: lane l has columns 2 (l % 4) and the next of row l / 4."""
    matrix = [[sources[4 * row + column // 2][0][0] >> 16 * (column % 2) & 0xffff for column in range(8)] for row in range(8)]
    return {lane: (sum(matrix[2 * (lane % 4) + k][lane // 4] << 16 * k for k in range(2)),) for lane in range(32)}


def product(mods, sources):
    """mma of integers: a register of A has successive elements of a row, of B of a column, and C and D have two successive ones of a row."""
    m, n, k = map(int, re.findall(r"\d+", next(x for x in mods if x[:2] in ("m8", "m1"))))
    a_type, b_type = next((x, y) for x, y in zip(mods[mods.index("s32") + 1:], mods[mods.index("s32") + 2:]))
    bits = int(a_type[1:])
    each = 32 // bits
    lines = [[0] * k for _ in range(m)], [[0] * k for _ in range(n)]  # of A and B
    c = {}
    for lane in range(32):
        group, thread = lane // 4, lane % 4
        for r, word in enumerate(sources[lane][0]):
            for e in range(each):
                lines[0][group + 8 * (r % (m // 8))][each * (thread + 4 * (r // (m // 8))) + e] = part(word, e, a_type)
        for r, word in enumerate(sources[lane][1]):
            for e in range(each):
                lines[1][group][each * (thread + 4 * r) + e] = part(word, e, b_type)
        for r, word in enumerate(sources[lane][2]):
            c[group + 8 * (r // 2), 2 * thread + r % 2] = word
    times = (lambda x, y: x ^ y) if "xor" in mods else lambda x, y: x * y  # of bits .and is the product
    for (row, column), start in c.items():
        total = value_of("s32", start) + sum(map(times, lines[0][row], lines[1][column]))
        if "satfinite" in mods:
            total = max(-2 ** 31, min(2 ** 31 - 1, total))
        c[row, column] = total & 0xffffffff
    return {lane: [c[lane // 4 + 8 * (r // 2), 2 * (lane % 4) + r % 2] for r in range(m // 4)] for lane in range(32)}


def part(word, k, t):
    n = int(t[1:])
    x = word >> n * k & (1 << n) - 1
    return x - (1 << n) if t[0] == "s" and x >> (n - 1) else x


def shuffle(mods, lanes, sources):
    mode = next(m for m in mods if m in ("up", "down", "bfly", "idx"))
    results = {}
    for lane in lanes:
        _, b, c = sources[lane]
        segment, limit, b = c >> 8 & 31, c & 31, b & 31
        most = (lane & segment) | (limit & ~segment & 31)
        if mode == "up":
            j, inside = lane - b, lane - b >= most
        elif mode == "down":
            j, inside = lane + b, lane + b <= most
        elif mode == "bfly":
            j, inside = lane ^ b, lane ^ b <= most
        else:
            j = (lane & segment) | (b & ~segment & 31)
            inside = j <= most
        j = j if inside else lane
        if j not in sources:
            raise IllDefined("a value of a lane that takes no part")
        results[lane] = (sources[j][0], int(inside))
    return results


def vote(mods, lanes, sources):
    votes = [sources[lane][0] for lane in lanes]
    if "ballot" in mods:
        result = sum(1 << lane for lane, v in zip(lanes, votes) if v)
    else:
        result = int({"all": all(votes), "any": any(votes), "uni": len(set(votes)) == 1}[
            next(m for m in mods if m in ("all", "any", "uni"))])
    return {lane: (result,) for lane in lanes}


def match(mods, lanes, sources):
    values = {lane: sources[lane][0] for lane in lanes}
    if "any" in mods:
        return {lane: (sum(1 << k for k in lanes if values[k] == values[lane]),) for lane in lanes}
    same = len(set(values.values())) == 1
    return {lane: (sum(1 << k for k in lanes) if same else 0, int(same)) for lane in lanes}


def reduce_lanes(mods, lanes, sources):
    operation, t = next(m for m in mods if m != "sync"), mods[-1]
    f = combine(operation, t)
    result = sources[lanes[0]][0]
    for lane in lanes[1:]:
        result = f(result, sources[lane][0])
    return {lane: (result,) for lane in lanes}


def elect(mods, lanes, sources):
    return {lane: (min(lanes), int(lane == min(lanes))) for lane in lanes}


def wait_for_members(mods, lanes, sources):
    return {lane: () for lane in lanes}


def barrier_of(code, i, mods, operands):
    if "warp" in mods:
        return over_lanes(wait_for_members, 0, lambda m: ("b32",))(code, i, mods, ["_"] + operands)
    return count(code, i, mods, operands) if "red" in mods else barrier(code, i, mods, operands)
