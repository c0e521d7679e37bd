# SPDX-License-Identifier: MIT
"""gsample(1): which launches are passed on, and what each stands for. A stream in which the estimated number of lines decides by less
than its error is drawn again."""

from fractions import Fraction

import stream
from stream import LINE, some

CLOSE = Fraction(3, 100)
EQUAL = ("name", "block", "cluster", "registers", "shared_bytes", "device", "carveout", "l2_fetch_bytes", "l2_persisting_bytes", "l2_window")


class Close(Exception):
    """Two launches differ by about the tolerance in the number of their lines."""


# Drawing

def draw_request(random, lines, base, block, an):
    sectors = random.choice([1, 3, 15])
    op = random.choice(["load.global", "load.global", "store.global", "load.local"])
    return {"block": block, "warp": 0, "an": an, "pc": 16 * an, "op": op, "address": base + LINE * random.randrange(lines), "sectors": sectors,
            "full": sectors if op.startswith("store") else 0, "lanes": random.choice([1, 8, 32])}


def draw_rows(random):
    """Requests of a kernel; a launch has as many or a few more or less."""
    blocks, accesses, lines = random.randrange(1, 5), random.randrange(1, 12), random.choice([4, 40])
    return [draw_request(random, lines, 0, block, an) for block in range(blocks) for an in range(accesses)]


def varied(random, rows):
    """Another launch: other addresses, and perhaps some requests fewer or of other sectors."""
    base = random.randrange(1 << 20) * LINE
    rows = [dict(row, address=row["address"] + base) for row in rows if not some(random, random.choice([0, 0, 0.03, 0.1]))]
    for row in rows:
        if some(random, 0.05):
            row.update(sectors=15, lanes=random.choice([row["lanes"], 32]))
            row["full"] = 15 if row["op"].startswith("store") else 0
    return rows


def draw_fields(random, number, rows):
    fields = {"id": number, "name": random.choice(["k", "k", "other"]), "block": random.choice(["32,1,1", "32,1,1", "32,1,1", "8,4,1"]), "order": "none",
              "grid": f"{max([row['block'] for row in rows], default=0) + 1 + random.choice([0, 0, 0, 1])},1,1"}
    for name, values in {"registers": [16, 16, 16, 32], "shared_bytes": [0, 0, 0, 512], "device": [1, 1, 2], "carveout": [50, 50, 25],
                         "l2_fetch_bytes": [32, 64],
                         "cluster": ["2,1,1"]}.items():
        if some(random, 0.1) and (name != "cluster" or int(fields["grid"].split(",")[0]) % 2 == 0):
            fields[name] = random.choice(values)
    return fields


def draw_counts(random, number):
    counts = []
    if number:
        counts.append(("ptx", {"warp_instructions": number + random.choice([0, 0, 1, number // 10]), "polls": random.choice([0, 0, 0, 3]),
                               "0x10 in.accesses": random.randrange(100)}))
    if some(random, 0.05):
        counts.append(("untraced", {"names": "libx", "calls": [1]}))
    return counts


def draw_case(random):
    programs = [draw_rows(random) for _ in range(random.randrange(1, 3))]
    launches, instructions = [], random.choice([0, 0, 100])
    for number in range(1, random.randrange(2, 14)):
        rows = varied(random, random.choice(programs)) if some(random, 0.95) else []
        launches.append(stream.Launch(draw_fields(random, number, rows), rows, draw_counts(random, instructions)))
    tolerance = random.choice([5, 5, 10, 25, 50, 100])
    arguments = [] if tolerance == 5 and some(random, 0.5) else ["--tolerance", str(tolerance)]
    arguments += ["-S", "64K"] if some(random, 0.2) else []
    return stream.Case(stream.Stream(stream.in_order(launches)), [["gsample", *arguments]], tolerance=tolerance)


def draw(random):
    while True:
        case = draw_case(random)
        try:
            model(case)
            return case
        except Close:
            pass


# Groups

def off(one, other):
    """How far two numbers differ, as a part of the larger."""
    return Fraction(abs(one - other), max(one, other)) if max(one, other) else Fraction(0)


def numbers(launch):
    """What must be alike, by name; absent ones are 0."""
    x, y, z = map(int, launch.fields["grid"].split(","))
    found = {"blocks": x * y * z, "requests": len(launch.rows), "sectors": sectors(launch), "lanes": sum(row["lanes"] for row in launch.rows)}
    for stage, counters in launch.counts:
        for counter, item in counters.items():
            if isinstance(item, int) and " " not in counter:
                found[stage, counter] = item
    return found


def sectors(launch):
    return sum(row["sectors"].bit_count() for row in launch.rows)


def alike(one, other, tolerance):
    if any(str(one.fields.get(name, DEFAULT.get(name))) != str(other.fields.get(name, DEFAULT.get(name))) for name in EQUAL):
        return False
    mine, others = numbers(one), numbers(other)
    if any(off(mine.get(name, 0), others.get(name, 0)) > tolerance for name in mine.keys() | others.keys()):
        return False
    lines = off(len({row["address"] for row in one.rows}), len({row["address"] for row in other.rows}))
    if abs(lines - tolerance) < CLOSE:
        raise Close
    return lines <= tolerance


DEFAULT = {"registers": 0, "shared_bytes": 0, "device": 0}


def model(case):
    groups = []
    for launch in case.stream.launches:
        group = None
        if not any(stage == "untraced" for stage, _ in launch.counts):
            group = next((group for group in reversed(groups) if alike(launch, group[0], Fraction(case.tolerance, 100))), None)
        if group:
            group.append(launch)
        else:
            groups.append([launch])
    launches = []
    for group in groups:
        counters = {"launches": len(group), "modelled_launches": 1, "sectors": sum(map(sectors, group)), "modelled_sectors": sectors(group[0])}
        launches.append(stream.Launch(group[0].fields, group[0].rows, group[0].counts + [("sample", counters)]))
    return stream.Stream(launches)
