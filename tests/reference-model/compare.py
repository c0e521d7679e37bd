# SPDX-License-Identifier: MIT
"""gtrace compare (gtrace(1), Comparison): which kernels and findings of two runs are one, and what differs."""

import json
import os
from fractions import Fraction

import coalesce
import findings
import stream
from stream import some
from tools import through

NAMES = ["k", "k<1>", "k<2>", "k(int)", "one::k", "two::k<one::t<3>>", "other", "one::other<8>", None]
SITES = ["--by", "site"]


# Drawing

def rename(random, launches, pool):
    """Names, or none. Launches of one name execute one program."""
    for launch in launches:
        name = random.choice(pool)
        launch.fields["name"] = name or f"unnamed {launch.fields['id']}"
    findings.same_programs(random, launches)
    for launch in launches:
        if launch.fields["name"].startswith("unnamed"):
            del launch.fields["name"]


def draw_side(random, pool):
    drawn = stream.draw_stream(random, kernels=4, blocks=6, accesses=12, extent=random.choice([2048, 16384]), hints=False,
                               spaces=("global", "global", "global", "local", "shared"))
    for launch in drawn.launches:
        if some(random, 0.6):
            coalesce.add_allocations(random, launch)
    rename(random, drawn.launches, pool)
    return drawn


def changed(random, side):
    """The same program, some of whose launches and accesses are gone, and whose file has another name or whose lines have moved."""
    launches = [stream.Launch(launch.fields, [row for row in launch.rows if some(random, 0.9)], launch.counts)
                for launch in side.launches if some(random, 0.8) or launch is side.launches[0]]
    moved, name = random.choice([0, 0, 3]), random.choice(["a.cu", "a.cu", "c.cu"])
    for launch in launches:
        launch.counts = [(stage, dict(counters, lines=[line + moved for line in counters["lines"]], names=counters["names"].replace("a.cu", name))
                          if stage == "source" else counters) for stage, counters in launch.counts]
    return stream.Stream(stream.in_order(launches))


def draw(random):
    pool = random.sample(NAMES, random.choice([1, 3, 7]))
    one = draw_side(random, pool)
    other = changed(random, one) if some(random, 0.6) else draw_side(random, random.sample(NAMES, 3))
    pipe = [["gcoalesce", *SITES], ["gschedule", "--sm", "2"], ["gcache", "--l1", "--size", "2048", "--ways", "4", "--index", "mod", *SITES, "--causes"],
            ["gcache", "--l2", "--size", random.choice(["8192", "65536"]), "--ways", "4", "--index", "mod", *SITES, "--causes"],
            ["gdram", "--channels", random.choice(["1", "3"])]]
    return stream.Case(one, [["gtrace", "compare", "--quiet", "--json", "a.gt", "b.gt"]], sides=[one, other], pipe=pipe)


# Kernels

QUANTITIES = ["asked_bytes", "l1_sectors", "l2_sectors", "dram_sectors", "unique_bytes", "sectors_per_access", "l1_read_hit_ratio", "l2_read_hit_ratio",
              "dram_per_unique"]


def ratio(numerator, denominator, factor=1):
    return Fraction(factor * numerator, denominator) if denominator else None


def values_of(kernels):
    """The quantities of kernels together."""
    def total(stage, *counters):
        return sum(kernel.of(stage, counter) for kernel in kernels for counter in counters)
    traffic = {name: sum(kernel.traffic()[name] for kernel in kernels) for name in QUANTITIES[:5]}
    accesses = total("coalesce", "load_accesses", "store_accesses", "atomic_accesses")
    return {**traffic, "sectors_per_access": ratio(traffic["l1_sectors"], accesses),
            "l1_read_hit_ratio": ratio(total("l1", "read_hits"), total("l1", "reads"), 100),
            "l2_read_hit_ratio": ratio(total("l2", "read_hits"), total("l2", "reads"), 100),
            "dram_per_unique": ratio(32 * traffic["dram_sectors"], traffic["unique_bytes"])}


def plain(name):
    return name.split("<")[0].split("(")[0].split("::")[-1]


def pair(kernels):
    """[(of A or None, of B or None)]. Of several that would do, the next after the one that was paired last."""
    left, right = kernels
    taken, pairs = set(), []
    for same in (lambda a, b: a.name and a.name == b.name, lambda a, b: a.name and b.name and plain(a.name) == plain(b.name),
                 lambda a, b: not a.name or not b.name):
        last = len(right) - 1
        for one in left:
            places = [place % len(right) for place in range(last + 1, last + 1 + len(right))]
            match = next((place for place in places if place not in taken and same(one, right[place])), None)
            if match is not None and one not in [pair[0] for pair in pairs]:
                pairs.append((one, right[match]))
                taken.add(match)
                last = match
    left = [one for one in left if one not in [pair[0] for pair in pairs]]
    right = [one for place, one in enumerate(right) if place not in taken]
    if len(left) == 1 and len(right) == 1:
        return pairs + [(left[0], right[0])]
    return pairs + [(one, None) for one in left] + [(None, one) for one in right]


# Findings

def array_of(found):
    """The first array, without the line of its allocation."""
    return (found["arrays"] or "").split(" ")[0].split(",")[0]


def pair_findings(one, other):
    """Those of two kernels that are the same, by rule after rule."""
    def line(place):
        return (place or "").rpartition(":")[2] if ":" in (place or "") else None
    rules = [lambda a, b: a["place"] == b["place"] and a["arrays"] == b["arrays"], lambda a, b: a["place"] == b["place"],
             lambda a, b: line(a["place"]) and line(a["place"]) == line(b["place"]) and array_of(a) and array_of(a) == array_of(b),
             lambda a, b: array_of(a) and array_of(a) == array_of(b), lambda a, b: not array_of(a) and not array_of(b)]
    left, right, pairs = list(one), list(other), []
    for rule in rules:
        for found in list(left):
            match = next((it for it in right if it["finding"] == found["finding"] and rule(found, it)), None)
            if match:
                pairs.append((found, match))
                left.remove(found)
                right.remove(match)
    return pairs + [(found, None) for found in left] + [(None, found) for found in right]


def words(found):
    return f"{found['finding']} {found['place']} {found['arrays']}" if found else "-"


def numbers_of(found):
    return {name: one["value"] for part in ("evidence", "gain") for name, one in found[part].items()}


def state_of(one, other):
    """None: neither side has enough of it to show it."""
    shown = tuple(found is not None and found["share"] >= 0.02 for found in (one, other))
    if shown == (False, False):
        return None
    if one and other:
        left, right = numbers_of(one), numbers_of(other)
        if left.keys() == right.keys() and all(abs(right[name] - left[name]) <= 0.01 * abs(left[name]) for name in left):
            return "same"
    return {(True, False): "gone", (False, True): "new"}.get(shown, "changed")


def compare_findings(expected, got):
    wanted = sorted((f"{words(one)} | {words(other)}", state_of(one, other)) for one, other in expected if state_of(one, other))
    found = sorted((" | ".join(words(side) for side in each["sides"]), each["state"]) for each in got)
    if wanted != found:
        return f"findings: expected {[one for one in wanted if one not in found]}, got {[one for one in found if one not in wanted]}"
    return None


# Comparison

def differs(expected, got):
    return (expected is None) != (got is None) or (expected is not None and abs(expected - got) > 1e-5 * abs(expected))


def compare_values(expected, got, what):
    for name in QUANTITIES:
        for side, values in enumerate(expected):
            number = values and values[name]
            if differs(number, got[name][side]):
                return f"{what}, {name} of {'AB'[side]}: expected {number and float(number)}, got {got[name][side]}"
    return None


def check(case, folder):
    sides, reports = [], []
    for name, side in zip(("a.gt", "b.gt"), case.sides):
        data = through(["gtrace-cat", "--from"], stream.text(side).encode(), folder)
        for command in case.pipe:
            data = through(command, data, folder)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        sides.append(findings.kernels_of(stream.parse(through(["gtrace-cat"], data, folder).decode())))
        reports.append({one["kernel"]: one["findings"] for one in json.loads(through(["gstats", "--findings", "--json", "--all"], data, folder))["kernels"]})
    got = json.loads(through(case.commands[0], b"", folder))
    text = compare_values([values_of(side) for side in sides], got["total"]["values"], "total")
    if text:
        return text
    pairs = {tuple((one.name, one.number) if one else None for one in both): both for both in pair(sides)}
    for one in got["kernels"]:
        one["names"] = [name or ("" if launches else None) for name, launches in zip(one["names"], one["launches"])]
    names = sorted(str([one and one.name for one in both]) for both in pairs.values())
    if names != sorted(str(one["names"]) for one in got["kernels"]):
        return f"pairs: expected {names}, got {[one['names'] for one in got['kernels']]}"
    last = None
    for one in got["kernels"]:
        same = [both for both in pairs.values() if [kernel and kernel.name for kernel in both] == one["names"]
                and not compare_values([kernel and values_of([kernel]) for kernel in both], one["values"], "")]
        if not same:
            both = next(both for both in pairs.values() if [kernel and kernel.name for kernel in both] == one["names"])
            return compare_values([kernel and values_of([kernel]) for kernel in both], one["values"], f"kernels {one['names']}")
        both = same[0]
        if [kernel and kernel.launches for kernel in both] != one["launches"]:
            return f"kernels {one['names']}: launches {one['launches']}"
        if None not in both:
            change = abs(sum(kernel.traffic()[name] * sign for kernel, sign in zip(both, (1, -1)) for name in ("l1_sectors", "l2_sectors", "dram_sectors")))
            if last is not None and change > last:
                return f"kernels {one['names']}: its cost changes by {change}, that of the pair before by {last}"
            last = change
            text = compare_findings(pair_findings(*(report[kernel.number] for report, kernel in zip(reports, both))), one["findings"])
            if text:
                return f"kernels {one['names']}: {text}"
    return None
