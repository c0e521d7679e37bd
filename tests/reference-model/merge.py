# SPDX-License-Identifier: MIT
"""gtrace-cat --part (gtrace-cat(1), Parts) and gstats --merge: which launches a part has, and the report on the parts against that on the whole."""

import os
import random as random_numbers
import re

import coalesce
import findings
import stream
from stream import some
from tools import through

REPORTS = [["--csv"], ["--csv", "--by", "kernel"], ["--json"], [], ["--by", "kernel"], ["--findings", "--json", "--all"], ["--findings"], ["--lines", "--csv"],
           ["--kernels", "--csv"], ["--names", "ncu", "--csv"]]


def draw(random):
    drawn = stream.draw_stream(random, kernels=random.choice([1, 4, 9]), blocks=6, accesses=6, extent=random.choice([2048, 16384]), hints=some(random, 0.3))
    if some(random, 0.5):
        for launch in drawn.launches:
            coalesce.add_allocations(random, launch)
    findings.same_programs(random, drawn.launches)
    pipe = [["gcoalesce", "--by", "site"], ["gschedule", "--sm", random.choice(["1", "2", "4"])],
            ["gcache", "--l1", "--size", "2048", "--ways", "4", "--index", "mod", "--by", "site", "--causes"],
            ["gcache", "--l2", "--size", "8192", "--ways", "4", "--index", "mod", "--by", "site"], ["gdram", "--channels", "3"]]
    if some(random, 0.3):
        pipe = [[word for word in stage if word not in ("--by", "site", "--causes")] for stage in pipe]
    if some(random, 0.2):
        pipe[2:] = [["grd", "--per", "sm"] + (["--by", "array"] if some(random, 0.3) else [])] # of a part without rows grd does not see that it is scheduled
    pipe = pipe[:random.randrange(1, len(pipe) + 1)]
    reports = [report for report in REPORTS if pipe[0] == ["gcoalesce", "--by", "site"] or "--lines" not in report]
    return stream.Case(drawn, pipe + [["gstats", *random.choice(reports)]], parts=random.randrange(1, 5), shuffle=random.randrange(100))


def division(launches, parts):
    """The numbers of the launches of each part: a launch goes to the part with the fewest rows and launches, in the order of the stream."""
    loads, numbers = [0] * parts, [[] for _ in range(parts)]
    for launch in launches:
        part = loads.index(min(loads))
        loads[part] += len(launch.rows) + 1
        numbers[part].append(launch.fields["id"])
    return numbers


def without_history(text):
    """The lines; of an object on one line the order of its members does not matter."""
    def apart(line):
        return sorted(re.split(r'(?:, |{)"|}', line)) if '{"stage": ' in line else line
    return [apart(line) for line in text.decode().splitlines() if "gtrace-cat" not in line]


def check(case, folder):
    data = through(["gtrace-cat", "--from"], stream.text(case.stream).encode(), folder)
    expected = data
    for command in case.commands:
        expected = through(command, expected, folder)
    names = []
    for part, numbers in enumerate(division(case.stream.launches, case.parts)):
        some_launches = through(["gtrace-cat", "--part", f"{part + 1}/{case.parts}"], data, folder)
        got = sorted(launch.fields["id"] for launch in stream.parse(through(["gtrace-cat"], some_launches, folder).decode()).launches)
        if got != sorted(numbers):
            return f"part {part + 1} of {case.parts}: expected launches {sorted(numbers)}, got {got}"
        for command in case.commands[:-1]:
            some_launches = through(command, some_launches, folder)
        names.append(f"part-{part + 1}.gt")
        with open(os.path.join(folder, names[-1]), "wb") as file:
            file.write(some_launches)
    random_numbers.Random(case.shuffle).shuffle(names)
    merged = through(case.commands[-1] + ["--merge", *names], b"", folder)
    for number, (line, other) in enumerate(zip(without_history(expected), without_history(merged))):
        if line != other:
            return f"line {number}: of the whole {line!r}, of {case.parts} parts {other!r}"
    if len(without_history(expected)) != len(without_history(merged)):
        return f"the whole has {len(without_history(expected))} lines, the parts {len(without_history(merged))}"
    return None
