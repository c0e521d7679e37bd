# SPDX-License-Identifier: MIT
"""grd(1): reuse distances, their tables and their counters."""

import math

import coalesce
import stream
from stream import LINE, SECTOR, some

STATUSES = ["none", "hit", "miss", "reservation_fail", "merged", "latency_miss", "tlb_hit", "tlb_miss"]
MODES = ["filter", "filter", "profile", "csdd", "mru", "lines", "curve", "curve-sets", "sdcm", "sdcm-normal", "classes",
         "sharing", "distances"]


# Drawing

def draw_per(random, mode, scheduled):
    sets = random.choice([2, 3, 4, 8])
    plain = ["warp", "block", "global"] + (["sm", "sm"] if scheduled else [])
    with_sets = [f"set:{sets}"] + ([f"sm,set:{sets}"] if scheduled else [])
    if mode == "classes":
        return random.choice(with_sets)
    if mode in ("curve-sets", "sharing", "sdcm", "sdcm-normal"):
        return random.choice([None] + [per for per in plain if per in ("sm", "global")])
    return random.choice([None] + plain + with_sets)


def draw_mode(random, mode, scheduled):
    """The option that prints, without its dashes, and its value."""
    numbers = sorted(random.sample([1, 2, 3, 4, 7, 8, 16, 40], random.randrange(1, 4)))
    if mode == "mru":
        return random.randrange(1, 9)
    if mode == "lines":
        return ",".join(map(str, numbers))
    if mode == "curve-sets":
        return ",".join(map(str, random.sample([1, 2, 4, 8], random.randrange(1, 4))))
    if mode.startswith("sdcm"):
        ways, line = random.choice([1, 2, 4, 8]), random.choice([32, 64, 128])
        return f"{ways * line * random.choice([1, 2, 4])},{ways},{line}"
    if mode == "classes":
        return ",".join(map(str, numbers))
    if mode == "sharing":
        return random.choice(["warp", "block"] + (["sm"] if scheduled else [])) + ":" + ",".join(map(str, numbers))
    return ""


def add_arrays(random, launch):
    """Names arrays of device memory, by the stage allocations."""
    base = random.choice([0x7F0000000000, 0])
    starts = [base + start for start in sorted(random.sample(range(0, 8192, 32), random.randrange(1, 5)))]
    ends = starts[1:] + [base + 16384]
    sizes = [random.choice([end - start, 32]) for start, end in zip(starts, ends)]
    names = [random.choice([name, name, ""]) for name in "ABCD"[:len(starts)]]
    launch.counts.append(("allocations", {"addresses": starts, "bytes": sizes, "names": ",".join(names)}))


def draw_rows(random):
    if some(random, 0.5):
        drawn = stream.draw_requests(random, lines=random.choice([8, 24, 64]), sms=random.choice([0, 3]), accesses=8)
        if some(random, 0.3):
            for launch in drawn.launches:
                for row in launch.rows:
                    row["status"] = random.choice(STATUSES[:6])
        return drawn
    drawn = stream.draw_stream(random, extent=random.choice([1024, 4096]))
    if some(random, 0.3):
        drawn.gpu = coalesce.draw_gpu(random, latency=False)
    if some(random, 0.5):
        for launch in drawn.launches:
            stream.schedule(random, launch.rows, 3)
            launch.rows.sort(key=lambda row: (row["step"], row["sm"]))
            launch.fields["order"] = "none"
    return drawn


def draw_granularity(random, drawn, mode):
    if mode.startswith("sdcm"):
        return None
    accesses = all(stream.is_access(row) for launch in drawn.launches for row in launch.rows)
    choices = [None, "line", "line:32", "line:64", "line:256", "sector"]
    return random.choice(choices + (["address", "address:4", "address:64"] if accesses else []))


def draw(random):
    drawn = draw_rows(random)
    rows = [row for launch in drawn.launches for row in launch.rows]
    scheduled = any("sm" in row for row in rows)
    mode = random.choice(MODES)
    options = {}
    if mode != "filter":
        options[mode] = draw_mode(random, mode, scheduled)
        if mode != "distances":
            options.update({name: "" for name in [random.choice(["total", "count"])] if some(random, 0.5)})
    options.update(draw_selection(random, drawn, mode, scheduled))
    draw_index(random, mode, options)
    if "by" not in options and mode not in ("classes", "sharing", "distances") and some(random, 0.2):
        options["jobs"] = random.choice("023")
    named = [word for name, item in options.items() if item is not None for word in ("--" + name, str(item)) if word]
    table = mode != "filter" and "count" not in options
    return stream.Case(drawn, [["grd", *named]], table=table, mode=mode, options=options, scheduled=scheduled)


def draw_index(random, mode, options):
    """xor only with a power of two."""
    sets = options[mode].split(",") if mode == "curve-sets" else [str(sets_of(options["per"] or ""))]
    if max(map(int, sets)) == 1 or some(random, 0.5):
        return
    powers = all(int(number) in (1, 2, 4, 8) for number in sets)
    options["index"] = random.choice(["mod", "smod:1", "prime"] + (["xor"] if powers else []))


def draw_selection(random, drawn, mode, scheduled):
    options = {"granularity": draw_granularity(random, drawn, mode), "per": draw_per(random, mode, scheduled)}
    if some(random, 0.3):
        options["op"] = random.choice(["loads", "stores", "atomics", "loads,stores", "loads,atomics", "all"])
    if mode != "distances" and some(random, 0.4):
        options["by"] = random.choice(["pc", "op", "status", "array", "kernel"])
        if options["by"] == "array":
            for launch in drawn.launches:
                if launch.rows and some(random, 0.7):
                    add_arrays(random, launch)
    if some(random, 0.4):
        options["flush"] = random.choice(["kernel", "never"])
    if not mode.startswith("sdcm") and some(random, 0.3):
        options["bound"] = random.choice(["1", "2", "5", "16"])
    if mode == "filter" and some(random, 0.2):
        options["name"] = "mine"
    return options


# References

def units_of(row, granularity, rule):
    """The numbers of the lines, or of the addresses, that a row references."""
    what, size = granularity
    if what == "address":
        return [address // size for address in row["addresses"].values()]
    units = []
    for one in coalesce.requests(row, rule) if stream.is_access(row) else [row]:
        found = {(one["address"] + SECTOR * sector) // size for sector in stream.bits(one["sectors"])}
        units += sorted(found)
    return units


def granularity_of(options):
    if "sdcm" in options or "sdcm-normal" in options:
        return "line", int((options.get("sdcm") or options.get("sdcm-normal")).split(",")[2])
    what, _, size = (options.get("granularity") or "line").partition(":")
    return what, int(size or {"line": LINE, "sector": SECTOR, "address": 1}[what])


def index_of(unit, sets, index):
    """The index functions of gcache(1), as far as they are drawn."""
    name, _, shift = index.partition(":")
    if name == "smod":
        return (unit >> int(shift)) % sets
    if name == "prime":
        prime = next((n for n in range(sets, 1, -1) if all(n % k for k in range(2, n))), 1)
        return unit % prime
    if name == "xor":
        width = sets.bit_length() - 1
        mixed = 0
        while width and unit:
            mixed ^= unit % sets
            unit >>= width
        return mixed
    return unit % sets


def stack_of(per, launch, row, unit, index):
    """What tells one stack from another."""
    key = []
    for part in per.split(","):
        name, _, sets = part.partition(":")
        key.append({"warp": lambda: (launch.fields["id"], row["block"], row["warp"]),
                    "block": lambda: (launch.fields["id"], row["block"]), "sm": lambda: row["sm"], "global": lambda: 0,
                    "set": lambda: index_of(unit, int(sets), index)}[name]())
    return tuple(key)


class Stacks:
    """LRU stacks. The reuse distance is a line's place in its stack; None is infinite."""

    def __init__(self):
        self.stacks = {}

    def distance(self, key, unit):
        stack = self.stacks.setdefault(key, [])
        found = stack.index(unit) if unit in stack else None
        if found is not None:
            stack.pop(found)
        stack.insert(0, unit)
        return found


class Reference:
    def __init__(self, launch, row, unit, size):
        self.launch, self.row, self.unit, self.address = launch, row, unit, unit * size
        self.distance = self.whole = self.private = None
        self.status = row.get("status", "none")
        self.refused = self.status == "reservation_fail"

    def within(self, lines):
        return self.distance is not None and self.distance < lines


def is_referenced(row, options):
    kind = stream.kind(row)
    chosen = options.get("op", "all").split(",")
    groups = {"load": "loads", "store": "stores", "atomic": "atomics", "reduction": "atomics"}
    return stream.space(row) != "shared" and kind in groups and ("all" in chosen or groups[kind] in chosen)


def measure(case, per):
    """All references with their distances, and, refused, what found no MSHR, which is no reference; also in one cache without sets (whole), and in that of who alone (private)."""
    options = case.options
    rule = coalesce.configuration(case.stream.gpu)[0]
    granularity = granularity_of(options)
    index = options.get("index", "mod")
    stacks, whole, private = Stacks(), Stacks(), Stacks()
    found = []
    for launch in case.stream.launches:
        if options.get("flush", "kernel") == "kernel":
            stacks, whole, private = Stacks(), Stacks(), Stacks()
        for row in launch.rows:
            if not is_referenced(row, options):
                continue
            for unit in units_of(row, granularity, rule):
                reference = Reference(launch, row, unit, granularity[1])
                if reference.refused:
                    found.append(reference)
                    continue
                reference.distance = stacks.distance(stack_of(per, launch, row, unit, index), unit)
                if "classes" in options:
                    without = "sm" if "sm" in per else "global"
                    reference.whole = whole.distance(stack_of(without, launch, row, unit, index), unit)
                if "sharing" in options:
                    who = options["sharing"].split(":")[0]
                    key = stack_of(f"{per},{who}", launch, row, unit, index)
                    reference.private = private.distance(key, unit)
                found.append(reference)
    return found


# Classes of --by

def array_of(reference, case):
    """The array of the last record before the reference."""
    arrays = []
    for launch in case.stream.launches:
        for stage, counters in launch.counts:
            if stage == "allocations":
                arrays = list(zip(counters["addresses"], counters["bytes"], counters["names"].split(",")))
        if launch is reference.launch:
            break
    for start, size, name in arrays:
        if start <= reference.address < start + size:
            return name or f"0x{start:x}"
    return "-"


def array_names(case):
    """Of all records, as they list them; outside of all arrays comes first."""
    names = ["-"]
    for launch in case.stream.launches:
        for stage, counters in launch.counts:
            if stage == "allocations":
                for start, name in zip(counters["addresses"], counters["names"].split(",")):
                    names.append(name or f"0x{start:x}")
    return names


def class_of(reference, case):
    by = case.options.get("by")
    row = reference.row
    return {None: lambda: None, "pc": lambda: row["pc"], "op": lambda: row["op"], "status": lambda: reference.status,
            "array": lambda: array_of(reference, case), "kernel": lambda: reference.launch.fields["name"]}[by]()


def classes_of(references, case):
    """{class: references}, in the order of the tables. Only --classes shows what found no MSHR."""
    found = {}
    for reference in references:
        if reference.refused and case.mode != "classes":
            continue
        found.setdefault(class_of(reference, case), []).append(reference)
    order = {"pc": lambda item: item[0], "op": lambda item: coalesce.op_number(item[0]),
             "status": lambda item: STATUSES.index(item[0]),
             "array": lambda item: array_names(case).index(item[0])}.get(case.options.get("by"))
    return dict(sorted(found.items(), key=order)) if order else found


def agreed(texts):
    texts = set(texts)
    return texts.pop() if len(texts) == 1 else "several"


def class_columns(name, references, case):
    by = case.options.get("by")
    if by == "pc":
        return [hex(name), agreed(one.row["op"] for one in references), "-",
                agreed(one.launch.fields["name"] for one in references)]
    return [] if by is None else [name]


# Histograms

def bound_of(options):
    most = [int(options.get("bound", 65536))]
    if "mru" in options:
        most.append(int(options["mru"]))
    if "lines" in options:
        most += map(int, options["lines"].split(","))
    return max(most)


def bin_of(distance, bound):
    """(first, last) of the distances that are counted together."""
    if distance < bound:
        return distance, distance
    k = (distance // bound).bit_length() - 1
    return bound << k, (bound << k + 1) - 1


def histogram(references, bound):
    found = {}
    for one in references:
        if one.distance is not None:
            where = bin_of(one.distance, bound)
            found[where] = found.get(where, 0) + 1
    return dict(sorted(found.items()))


def reuse_counts(references, bound):
    """references, infinite, distance and far."""
    bins = histogram(references, bound)
    near = [where[0] for where in bins if where[0] < bound]
    far = [(where[0] // bound).bit_length() - 1 for where in bins if where[0] >= bound]
    return {"references": len(references), "infinite": sum(one.distance is None for one in references),
            "distance": [bins.get((d, d), 0) for d in range(max(near, default=-1) + 1)],
            "far": [bins.get((bound << k, (bound << k + 1) - 1), 0) for k in range(max(far, default=-1) + 1)]}


# Tables

def ratio(part, whole):
    return f"{part / whole:.6f}" if whole else "-"


def profile_rows(references, case, *_):
    rows = [[low, high, count] for (low, high), count in histogram(references, bound_of(case.options)).items()]
    infinite = sum(one.distance is None for one in references)
    return rows + ([["inf", "inf", infinite]] if infinite else [])


def csdd_rows(references, case, *_):
    below = 0
    rows = []
    for (_, high), count in histogram(references, bound_of(case.options)).items():
        below += count
        rows.append([high + 1, below, ratio(below, len(references))])
    return rows


def mru_rows(references, case, *_):
    ways = int(case.options["mru"])
    counts = [sum(one.distance == position for one in references) for position in range(ways)]
    return [[position, count] for position, count in enumerate(counts + [len(references) - sum(counts)])]


def lines_counts(references, lines):
    hits = sum(one.within(lines) for one in references)
    compulsory = sum(one.distance is None for one in references)
    return {"references": len(references), "hits": hits, "compulsory": compulsory,
            "capacity": len(references) - hits - compulsory}


def lines_rows(references, case, *_):
    rows = []
    for lines in map(int, case.options["lines"].split(",")):
        counts = lines_counts(references, lines)
        total, *parts = counts.values()
        rows.append([lines, total, *parts, *[ratio(part, total) for part in parts]])
    return rows


def curve_rows(references, case, sets, _):
    """A row for one way, and for each number of ways at which the misses decrease."""
    line = granularity_of(case.options)[1]
    misses = len(references)
    bins = histogram(references, bound_of(case.options))
    points = {1: misses} if references else {}
    for (_, high), count in bins.items():
        misses -= count
        points[high + 1] = misses
    return [[sets, ways, sets * ways * line, len(references), left, ratio(left, len(references)), "0.000000"]
            for ways, left in sorted(points.items())]


def sdcm_chance(distance, lines, ways, normal):
    """The model: the probability of a hit."""
    if distance is None or distance >= 64 * lines:
        return 0.0
    if distance < ways:
        return 1.0
    p = ways / lines
    if p == 1:
        return 0.0
    if normal:
        spread = math.sqrt(distance * p * (1 - p))
        return 0.5 * math.erfc(-(ways - 0.5 - distance * p) / spread / math.sqrt(2))
    return sum(math.comb(distance, a) * p ** a * (1 - p) ** (distance - a) for a in range(ways))


def sdcm_cache(case):
    """size, ways, line, and whether with the normal distribution."""
    size, ways, line = map(int, case.options[case.mode].split(","))
    return size, ways, line, case.mode == "sdcm-normal"


def sdcm_hits(references, case):
    size, ways, line, normal = sdcm_cache(case)
    return sum(sdcm_chance(one.distance, size // line, ways, normal) for one in references)


def sdcm_rows(references, case, *_):
    hits = sdcm_hits(references, case)
    return [[*sdcm_cache(case)[:3], len(references), f"{hits:.3f}", ratio(hits, len(references))]]


def class_counts(references, refused, ways, sets):
    counts = dict.fromkeys(["hits", "compulsory", "capacity", "conflict", "spared", "latency_miss", "merged"], 0)
    for one in references:
        fits = one.whole is not None and one.whole < sets * ways
        if one.distance is None:
            counts["compulsory"] += 1
        elif one.status in ("latency_miss", "merged"):
            counts[one.status] += 1
        elif one.distance < ways:
            counts["hits"] += 1
            counts["spared"] += not fits
        else:
            counts["conflict" if fits else "capacity"] += 1
    return dict(counts, reservation_fail=refused)


def classes_rows(references, case, sets, refused):
    rows = []
    for ways in map(int, case.options["classes"].split(",")):
        counts = class_counts(references, refused, ways, sets)
        rows.append([ways, sets * ways, len(references), *counts.values()])
    return rows


def sharing_counts(references, lines):
    alone = [one.private is not None and one.private < lines for one in references]
    together = [one.within(lines) for one in references]
    return {"references": len(references), "alone": sum(alone), "together": sum(together),
            "gained": sum(b and not a for a, b in zip(alone, together)), "lost": sum(a and not b for a, b in zip(alone, together))}


def sharing_rows(references, case, *_):
    numbers = case.options["sharing"].split(":")[1].split(",")
    return [[lines, *sharing_counts(references, int(lines)).values()] for lines in numbers]


COLUMNS = {"profile": "distance to count", "csdd": "distance below fraction", "mru": "position count",
           "lines": "lines references hits compulsory capacity hit_ratio compulsory_ratio capacity_ratio",
           "curve": "sets ways bytes references misses miss_ratio error", "sdcm": "size ways line references hits hit_ratio",
           "classes": "ways lines references hits compulsory capacity conflict spared latency_miss merged reservation_fail",
           "sharing": "lines references alone together gained lost"}
COLUMNS.update({"curve-sets": COLUMNS["curve"], "sdcm-normal": COLUMNS["sdcm"]})
ROWS = {"profile": profile_rows, "csdd": csdd_rows, "mru": mru_rows, "lines": lines_rows, "curve": curve_rows,
        "curve-sets": curve_rows, "sdcm": sdcm_rows, "sdcm-normal": sdcm_rows, "classes": classes_rows, "sharing": sharing_rows}


def sets_of(per):
    return int(per.partition("set:")[2] or 1)


def groups(case, references):
    """The tables: one for each launch, or one of all: (name, references)."""
    if "total" in case.options:
        return [("total", references)]
    return [(launch.fields["id"], [one for one in references if one.launch is launch]) for launch in case.stream.launches]


def table(case, per):
    by = case.options.get("by")
    first = {"pc": ["pc", "op", "line", "name"], None: []}.get(by, [by])
    lines = [["kernel", *first, *COLUMNS[case.mode].split()]]
    pers = [per]
    if case.mode == "curve-sets":
        pers = [with_sets(per, sets) for sets in case.options["curve-sets"].split(",")]
    measured = [(sets_of(one), groups(case, measure(case, one))) for one in pers]
    for number, (name, _) in enumerate(measured[0][1]):
        for sets, tables in measured:
            lines += table_lines(case, name, tables[number][1], sets)
    return lines


def table_lines(case, name, references, sets):
    """The lines of a launch, or of all, for each class."""
    lines = []
    by_class = classes_of(references, case) if "by" in case.options else {None: references}
    for kind, part in by_class.items():
        met = [one for one in part if not one.refused]
        for row in ROWS[case.mode](met, case, sets, len(part) - len(met)):
            lines.append([str(cell) for cell in [name, *class_columns(kind, part, case), *row]])
    return lines


def with_sets(per, sets):
    return f"set:{sets}" if per == "global" else f"{per},set:{sets}"


def distance_lines(case, per):
    lines = ["kernel sm block warp an pc op address distance status".split()]
    for one in measure(case, per):
        if one.refused:
            continue
        row = one.row
        lines.append([str(one.launch.fields["id"]), str(row.get("sm", "-")), str(row["block"]), str(row["warp"]), str(row["an"]),
                      hex(row["pc"]), row["op"], hex(one.address), "inf" if one.distance is None else str(one.distance),
                      row.get("status", "-")])
    return lines


# Counters

def stages(case, per):
    """(stage, counters without granularity and per, function of references and fails that counts) for a launch."""
    options, mode = case.options, case.mode
    bound = bound_of(options)
    if mode == "lines":
        return [(f"lines:{n}", {"lines": int(n)}, lambda part, _, n=n: lines_counts(part, int(n))) for n in options["lines"].split(",")]
    if mode == "classes":
        sets = sets_of(per)
        return [(f"classes:{n}", {"ways": int(n), "lines": int(n) * sets},
                 lambda part, refused, n=n: {"references": len(part), **class_counts(part, refused, int(n), sets)})
                for n in options["classes"].split(",")]
    if mode == "sharing":
        who, numbers = options["sharing"].split(":")
        return [(f"sharing:{n}", {"private": who, "lines": int(n)}, lambda part, _, n=n: sharing_counts(part, int(n)))
                for n in numbers.split(",")]
    if mode.startswith("sdcm"):
        size, ways, line, _ = sdcm_cache(case)
        return [(mode, {"size": size, "ways": ways, "line": line},
                 lambda part, _: {"references": len(part), "infinite": sum(one.distance is None for one in part),
                               "expected_hits": math.floor(100 * sdcm_hits(part, case) + 0.5)})]
    return [(options.get("name", "reuse"), {}, lambda part, _: reuse_counts(part, bound))]


def counters(case, launch, references, per):
    what, size = granularity_of(case.options)
    mine = [one for one in references if one.launch is launch and not one.refused]
    refused = [one for one in references if one.launch is launch and one.refused]
    earlier = case.stream.launches[:case.stream.launches.index(launch) + 1]
    timed = {"reservation_fails": len(refused)} if any("status" in row for one in earlier for row in one.rows) else {}
    found = []
    for name, settings, count in stages(case, per):
        ops = case.options.get("op", "all").split(",")
        less = {"ops": ",".join(ops)} if "all" not in ops and len(set(ops)) < 3 else {}
        counts = {**less, "granularity": f"{what}:{size}", "per": per_name(per), **timed, **settings, **count(mine, len(refused))}
        if "by" in case.options:
            for kind, part in classes_of(mine + refused, case).items():
                title = hex(kind) if case.options["by"] == "pc" else kind
                met = [one for one in part if not one.refused]
                counts.update({f"{title}.{key}": item for key, item in count(met, len(part) - len(met)).items()})
                if case.options["by"] == "pc":
                    counts[f"{title}.op"] = agreed(one.row["op"] for one in part)
        found.append((name, counts))
    return found


def per_name(per):
    return "global," + per if per.startswith("set:") else per


def filtered(case, per):
    measured = {per: measure(case, per)}
    names = {per: None}
    if case.mode == "curve-sets":
        chosen = case.options["curve-sets"].split(",")
        names = {with_sets(per, sets) if sets != "1" else per: f"reuse:{sets}" for sets in chosen}
        measured = {one: measure(case, one) for one in names}
    launches = []
    for launch in case.stream.launches:
        counts = list(launch.counts)
        for one, references in measured.items():
            counts += [(names[one] or stage, made) for stage, made in counters(case, launch, references, one)]
        launches.append(stream.Launch(launch.fields, launch.rows, counts))
    return stream.Stream(launches, case.stream.gpu)


def model(case):
    per = case.options.get("per") or ("sm" if case.scheduled else "global")
    if case.mode == "distances":
        return distance_lines(case, per)
    return table(case, per) if case.table else filtered(case, per)
