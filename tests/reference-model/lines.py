# SPDX-License-Identifier: MIT
"""gstats(1), Source lines: what gstats --lines and --callgrind say of each source line, from the counters of the stages before it."""

import csv
import io
import os
import re

import findings
import stream
from findings import action_of, add, sites_of
from stream import some
from tools import Failed, pipe, through

OF_LEVEL = {"l1": ["reads", "read_hits", "compulsory", "capacity", "conflict", "invalidated"], "l2": ["reads", "read_hits"]}
OF_COALESCE = ["accesses", "bytes", "sectors", "least_sectors", "passes", "least_passes"]
COLUMNS = OF_COALESCE + [f"{level}_{name}" for level, names in OF_LEVEL.items() for name in names] + ["dram_reads"]


def draw(random):
    case = findings.draw(random)
    names = sorted({launch.fields.get("name", "") for launch in case.stream.launches})
    case.only = random.choice(names) if some(random, 0.2) else None
    case.commands[-1] = ["gstats", "--quiet", "--lines"] + (["--kernel", f"^\\Q{case.only}\\E$"] if case.only is not None else [])
    return case


def operation(op):
    action, where = action_of(op)
    return "shared" if where == "shared" else action


def told(launches):
    """What instructions of each kernel do: several, if launches or arrays differ."""
    ops = {}
    for launch in launches:
        for (pc, array), counters in sites_of(dict(launch.counts).get("coalesce", {})).items():
            for key in (launch.fields.get("name"), pc, array), (launch.fields.get("name"), pc):
                ops[key] = counters["op"] if ops.get(key, counters["op"]) == counters["op"] else "several"
    return ops


def lines_of(launches):
    """The rows: {(file, line, kernel if the line is not known, operation): counters}. What a level reads is of loads, whatever the site does."""
    lines, ops, mixed = {}, told(launches), set()

    def line(place, does):
        return lines.setdefault((*place, does), dict.fromkeys(COLUMNS, 0))

    for launch in launches:
        name, places = launch.fields.get("name"), findings.sources_of(launch)
        for stage, counters in launch.counts:
            if stage not in ("coalesce", "l1", "l2"):
                continue
            for (pc, array), numbers in sites_of(counters).items():
                place = (*places[pc], None) if pc in places else (hex(pc), 0, name)
                op = ops.get((name, pc, array), ops[name, pc])
                does = operation(op)
                if op == "several":
                    mixed.add(place)
                if stage == "coalesce":
                    add(line(place, does), {key: numbers.get(key, 0) for key in OF_COALESCE})
                    continue
                add(line(place, "load"), {f"{stage}_{key}": numbers.get(key, 0) for key in OF_LEVEL[stage]})
                if stage == "l2":
                    add(line(place, does), {"dram_reads": numbers.get("sent_reads", 0)})
    named = {(*place, "several" if does == "load" and tuple(place) in mixed else does): counters for (*place, does), counters in lines.items()}
    return {key: counters for key, counters in named.items() if any(counters.values())}


def sorted_rows(lines):
    return sorted([file, line, op, *counters.values()] for (file, line, _, op), counters in lines.items())


def cells(op, counters):
    """The numbers of a row on a terminal: what an access takes, the least, hits, and causes in percent."""
    took, least = ("passes", "least_passes") if op == "shared" else ("sectors", "least_sectors")
    accesses, reads, causes = counters["accesses"], [], "-"
    for level in OF_LEVEL:
        of = counters[f"{level}_reads"]
        reads.append(f"{100 * counters[f'{level}_read_hits'] / of:.1f}" if of else "-")
    misses = [counters[f"l1_{cause}"] for cause in ("compulsory", "capacity", "conflict", "invalidated")]
    if sum(misses):
        causes = "/".join(f"{100 * cause / sum(misses):3.0f}" for cause in misses[:3]).strip()
    return [f"{counters[what] / accesses:.2f}" if accesses else "-" for what in (took, least)] + reads + [causes]


ROW = re.compile(r" *(\w+)? (load|store|atomic|shared|several) +\S+(?: [kMGT])?" + r" +(\S+)" * 4 + r" +(-|\d+/ *\d+/ *\d+)(  .*)?")


def compare_text(text, lines):
    """A row of numbers for each operation of a line; of instructions without a line, of the first 40."""
    known = [row.groups()[1:7] for row in map(ROW.fullmatch, text.splitlines()) if row]
    expected = [(op, *cells(op, counters)) for (*_, op), counters in lines.items()]
    spare = [row for row in known if row not in expected]
    if spare or len(known) != len(expected) and " more\n" not in text:
        return f"on a terminal: expected {expected}\n  got {known}"
    return None


def events_of(launches):
    """{(kernel, file, line): {event: number}} and the sums: what each stage counted of each instruction."""
    events, total = {}, {}
    for launch in launches:
        places = findings.sources_of(launch)
        for stage, counters in launch.counts:
            for (pc, _), numbers in sites_of(counters).items():
                numbers = {f"{stage}_{key}": number for key, number in numbers.items() if isinstance(number, int) and key != "stride"}
                if f"{stage}_read_hits" in numbers:
                    numbers[f"{stage}_read_misses"] = numbers[f"{stage}_reads"] - numbers.pop(f"{stage}_read_hits")
                add(events.setdefault((launch.fields.get("name") or "?", *places.get(pc, ("???", 0))), {}), numbers)
                add(total, numbers)
    return {key: {event: number for event, number in numbers.items() if number} for key, numbers in events.items() if any(numbers.values())}, total


def read_callgrind(text):
    got, total, names, file, function = {}, {}, [], None, None
    for line in text.splitlines():
        if line.startswith("events: "):
            names = line.split()[1:]
        elif line.startswith("summary: "):
            total = dict(zip(names, map(int, line.split()[1:])))
        elif line[:3] in ("fl=", "fn="):
            file, function = (line[3:], function) if line[1] == "l" else (file, line[3:])
        elif line[:1].isdigit():
            number, *counts = map(int, line.split())
            add(got.setdefault((function, file, number), {}), {name: count for name, count in zip(names, counts) if count})
    return {key: numbers for key, numbers in got.items() if numbers}, total


def compare_callgrind(text, launches):
    (expected, total), (got, sums) = events_of(launches), read_callgrind(text)
    for key in expected | got:
        if expected.get(key) != got.get(key):
            return f"callgrind, {key}: expected {expected.get(key)}\n  got {got.get(key)}"
    return None if total == sums else f"callgrind, summary: expected {total}\n  got {sums}"


def check(case, folder):
    before = pipe(case, folder, case.commands[:-1])
    run = stream.parse(through(["gtrace-cat"], before, folder).decode())
    chosen = [launch for launch in run.launches if case.only is None or launch.fields.get("name", "") == case.only]
    lines = lines_of(chosen)
    expected = sorted_rows(lines)
    try:
        rows = list(csv.reader(io.StringIO(through(case.commands[-1] + ["--csv"], before, folder).decode())))
    except Failed as failure:
        return None if not expected and "nothing was counted by instruction" in str(failure) else str(failure)
    if rows[0] != ["file", "line", "op"] + COLUMNS:
        return f"columns: {rows[0]}"
    got = sorted([row[0], int(row[1]), row[2], *map(int, row[3:])] for row in rows[1:])
    for wanted, row in zip(expected, got):
        if wanted != row:
            return f"expected {wanted}\n  got      {row}"
    if len(expected) != len(got):
        return f"expected {len(expected)} rows, got {len(got)}"
    difference = compare_text(through(case.commands[-1], before, folder).decode(), lines)
    if difference:
        return difference
    through(["gstats", "--callgrind", "out"] + case.commands[-1][3:], before, folder)
    with open(os.path.join(folder, "out"), encoding="utf-8") as file:
        return compare_callgrind(file.read(), chosen)
