# SPDX-License-Identifier: MIT
"""gstats(1): the counters of drawn launches as CSV, JSON, a table and the metrics of a profiler, one by one, by kernel and in total."""

import csv
import io
import json
import re
from fractions import Fraction

import stream
from stream import some
from tools import Failed, put, through

MOST = (1 << 64) - 1
WORDS = {"write": ["through", "back"], "replace": ["lru", "fifo"], "limited_by": ["grid", "blocks"], "rule": ["default", "fermi"]}
SETTINGS = {"size", "ways", "sets", "line", "sector", "instances", "channels", "banks", "row"}
OF_STAGE = {"schedule": {"resident_blocks", "sms", "shared_carveout", "l1_bytes"}, "dram": {"interleave"}}
COALESCE = ["requests", "sectors"] + [f"{kind}_{what}" for kind in ("load", "store", "atomic", "reduction") for what in ("accesses", "requests", "sectors")]
LEVEL = ["requests", "reads", "read_hits", "writes", "write_hits", "atomics", "atomic_hits", "sent_reads", "sent_writes"]
SOME_LEVEL = ["bypassed_reads", "bypassed_writes", "pair_misses", "neighbours", "constant_reads", "constant_hits", "launch_reads", "launch_hits",
              "far_reads", "far_neighbours", "far_writes", "far_atomics", "far_reductions", "far_hits", "merged_reads"]
TIMED = ["latency_steps", "reservations", "load_steps", "hit_lookups", "merges", "busy_entries", "instance_steps", "stalls"]
STAGES = {
    "order": (["accesses", "loads", "stores", "atomics", "threads"], ["other_records"], [], []),
    "coalesce": (COALESCE + ["load_warp_sectors"], ["repeated_sectors", "shared_accesses", "bank_passes", "shared_cycles"], [], ["rule"]),
    "schedule": (["resident_blocks", "waves", "steps", "sms", "blocks", "modelled_blocks", "rows", "l1_bytes"], ["shared_carveout"], [], ["limited_by"]),
    "l1": (LEVEL + ["size", "line", "sector", "sets", "instances", "ways"], SOME_LEVEL + TIMED, ["mru"], ["write", "replace"]),
    "l2": (LEVEL + ["size", "ways"], SOME_LEVEL, ["mru"], ["write"]),
    "dram": (["channels", "banks", "row", "interleave", "reads", "writes", "row_hits", "row_misses"], [], ["channel_reads"], []),
    "mine": (["apples", "size"], ["pears"], ["list"], ["word"]),
}
# name, numerator, denominator, factor
RATIOS = [
    ("lanes_per_access", ["threads"], ["accesses"], 1),
    ("requests_per_access", ["requests"], ["load_accesses", "store_accesses", "atomic_accesses"], 1),
    ("sectors_per_access", ["sectors"], ["load_accesses", "store_accesses", "atomic_accesses"], 1),
    ("sectors_per_load_access", ["load_sectors"], ["load_accesses"], 1),
    ("sectors_per_store_access", ["store_sectors"], ["store_accesses"], 1),
    ("sectors_per_atomic_access", ["atomic_sectors"], ["atomic_accesses"], 1),
    ("passes_per_shared_access", ["bank_passes"], ["shared_accesses"], 1),
    ("cycles_per_shared_access", ["shared_cycles"], ["shared_accesses"], 1),
    ("read_hit_ratio", ["read_hits"], ["reads"], 100),
    ("merged_read_hit_ratio", ["read_hits", "merged_reads"], ["reads"], 100),
    ("write_hit_ratio", ["write_hits"], ["writes"], 100),
    ("atomic_hit_ratio", ["atomic_hits"], ["atomics"], 100),
    ("mean_latency", ["latency_steps"], ["reservations"], 1),
    ("mean_load_latency", ["load_steps"], ["hit_lookups", "reservations", "merges"], 1),
    ("mean_mshr", ["busy_entries"], ["reservations"], 1),
    ("misses_in_flight", ["latency_steps"], ["instance_steps"], 1),
    ("stall_ratio", ["stalls"], ["instance_steps"], 100),
    ("row_hit_ratio", ["row_hits"], ["row_hits", "row_misses"], 100),
]
BESIDE = {"threads": "lanes_per_access", "requests": "requests_per_access", "sectors": "sectors_per_access", "merged_reads": "merged_read_hit_ratio",
          "load_steps": "mean_load_latency", "latency_steps": "mean_latency", "busy_entries": "mean_mshr", "instance_steps": "misses_in_flight",
          **{above[0]: name for name, above, _, _ in RATIOS[3:8] + RATIOS[10:12] + RATIOS[16:]}, "read_hits": "read_hit_ratio"}


# Drawing

def draw_number(random):
    return random.choice([0, 0, 1, 7, random.randrange(1000), random.randrange(1 << 20), random.randrange(1 << 40)])


def draw_stage(random, name):
    always, sometimes, arrays, words = STAGES[name]
    counters = {counter: draw_number(random) for counter in always}
    counters.update({counter: draw_number(random) for counter in sometimes if some(random, 0.4)})
    counters.update({array: [draw_number(random) for _ in range(random.choice([1, 3, 8, 9]))] for array in arrays})
    counters.update({word: random.choice(WORDS.get(word, ["a", "b c", "=x", '"q"', "-1", "+", "a,b"])) for word in words})
    for setting in SETTINGS | OF_STAGE.get(name, set()):
        if setting in counters:
            counters[setting] = random.choice([1024, 1024, 1024, 1536, 3 << 20, 1])
    if name == "schedule":
        counters["modelled_blocks"] = random.choice([1, 3, 64])
        counters["blocks"] = counters["modelled_blocks"] * random.choice([1, 2, 7]) + random.choice([0, 1])
    return counters


def draw_weight(random):
    modelled = random.choice([0, 3, 100])
    return {"launches": random.choice([1, 2, 5]), "modelled_launches": 1, "sectors": modelled * random.choice([1, 2]) + (modelled and random.randrange(9)),
            "modelled_sectors": modelled}


def draw(random):
    names, sampled = random.choice([["k"], ["k", "other"], ["k", "a,b", "=f", ""]]), some(random, 0.2)
    stages = [name for name in STAGES if some(random, 0.7)]
    if some(random, 0.15):
        stages.append("l1")
    launches = []
    for number in range(random.randrange(1, 5)):
        fields = {"id": random.randrange(1, 10) + 10 * random.randrange(2) * number + 30 * number, "name": random.choice(names), "grid": random.choice(["2,1,1", "64,3,1", "0,0,0"]),
                  "block": random.choice(["32,1,1", "32,1,1", "8,4,2"]), "registers": random.choice([0, 8]), "shared_bytes": random.choice([0, 1024])}
        counts = [(name, draw_stage(random, name)) for name in stages if some(random, 0.9)]
        if sampled:
            counts.append(("sample", draw_weight(random)))
        launches.append(stream.Launch(fields, [], counts))
    if some(random, 0.03):
        for launch in launches:
            launch.counts.append(("large", {"number": (1 << 63) - random.randrange(2)}))
    form = random.choice(["--csv", "--csv", "--json", "--json", "table", "ncu"])
    by = random.choice([None, "kernel", "launch"])
    arguments = [form] if form.startswith("--") else ["--names", "ncu", "--csv"] if form == "ncu" else []
    arguments += ["--by", by] if by else []
    by = by or ("kernel" if form == "table" else "launch")
    scale, only = some(random, 0.2), random.choice(names) if some(random, 0.1) else None
    arguments += ["--scale"] * scale + (["--kernel", f"^\\Q{only}\\E$"] if only is not None else [])
    gpu = {"name": "Some GPU", "cc": "7.0"} if some(random, 0.3) else None
    return stream.Case(stream.Stream(launches, gpu), [["gstats", "--quiet", *arguments]], form=form, by=by, scale=scale, only=only)


# What each launch has

def is_setting(stage, counter):
    return counter in SETTINGS or counter in OF_STAGE.get(stage.partition("#")[0], set())


def scaled(number, up, down):
    return (2 * number * up + down) // (2 * down)


def times(stage, counters, up, down):
    """All numbers but settings."""
    result = {}
    for counter, item in counters.items():
        if isinstance(item, list):
            item = [scaled(number, up, down) for number in item]
        elif isinstance(item, int) and not is_setting(stage, counter):
            item = scaled(item, up, down)
        result[counter] = item
    return result


def stages_of(launch, scale):
    """The stages of a launch in their order, (name, counters), each name once."""
    result, weight, behind, part = [], None, False, None
    for stage, counters in launch.counts:
        if stage == "sample":
            weight = (counters["sectors"], counters["modelled_sectors"]) if counters["modelled_sectors"] else (counters["launches"], 1)
    if scale:
        part = next(((counters["blocks"], counters["modelled_blocks"]) for stage, counters in launch.counts if stage == "schedule"), None)
        if part is None:
            raise stream.Refused("no counts of gschedule")
    for stage, counters in launch.counts:
        seen = sum(name.partition("#")[0] == stage for name, _ in result)
        if part and behind and stage != "sample":
            counters = times(stage, counters, *part)
        if weight and stage != "sample":
            counters = times(stage, counters, *weight)
        behind = behind or stage == "schedule"
        result.append((stage if seen == 0 else f"{stage}#{seen + 1}", counters))
    return result


def together(launches):
    """The sums of several lists of stages, and for each counter its values."""
    stages, values = {}, {}
    for launch in launches:
        for stage, counters in launch:
            for counter, item in counters.items():
                values.setdefault(stage, {}).setdefault(counter, []).append(item)
    for stage, counters in values.items():
        stages[stage] = {}
        for counter, items in counters.items():
            if isinstance(items[0], str) or is_setting(stage, counter):
                if all(item == items[0] for item in items):
                    stages[stage][counter] = items[0]
            elif isinstance(items[0], list):
                length = max(map(len, items))
                stages[stage][counter] = [sum(item[n] for item in items if n < len(item)) for n in range(length)]
            else:
                stages[stage][counter] = sum(items)
    for counters in stages.values():
        for item in counters.values():
            if max(item if isinstance(item, list) else [item] if isinstance(item, int) else [0], default=0) > MOST:
                raise stream.Refused("more than 64 bits")
    return stages


def ratio(counters, above, below, factor):
    """A quotient of sums, None if it is none; a term that begins with ? may be absent, one with - is taken off."""
    def total(terms):
        number = 0
        for term in terms:
            name = term.lstrip("?-")
            if name not in counters and "?" not in term:
                raise KeyError(name)
            number += counters.get(name, 0) * (-1 if term.startswith("-") else 1)
        return number
    top, bottom = total(above), total(below) if below else 1
    return None if bottom <= 0 or top < 0 else Fraction(factor * top, bottom)


def ratios(counters):
    result = {}
    for name, above, below, factor in RATIOS:
        try:
            result[name] = ratio(counters, above, below, factor)
        except KeyError:
            pass
    return result


# Groups of launches

def groups(case):
    """What is reported by itself: (label, the launches), and all launches."""
    chosen = [launch for launch in case.stream.launches if case.only in (None, launch.fields["name"])]
    if not chosen:
        raise stream.Refused("no kernel of that name")
    result = {}
    for launch in chosen:
        name = launch.fields["name"]
        result.setdefault((name, None if name else launch.fields["id"]) if case.by == "kernel" else launch.fields["id"], []).append(launch)
    return [(key[0] if case.by == "kernel" else key, launches) for key, launches in result.items()], chosen


def sheltered(text):
    """As a text stands in CSV: with an apostrophe before what a spreadsheet took for a formula."""
    text = str(text)
    return "'" + text if text[:1] in ("=", "+", "-", "@") and not re.fullmatch(r"[+-]?[0-9.]+", text) else text


def csv_rows(label, stages):
    for stage, counters in stages.items():
        for counter, item in counters.items():
            items = enumerate(item) if isinstance(item, list) else [(None, item)]
            for index, one in items:
                yield [sheltered(label), stage, counter + ("" if index is None else f"[{index}]"), sheltered(one)]


def expected_csv(parts, whole):
    rows = []
    for label, stages in parts + [("total", whole)]:
        rows += csv_rows(label, stages)
    return rows


def without_order(rows):
    """Rows as a set with their counts; the order is that of the pipe."""
    return sorted(map(tuple, rows))


def check_csv(text, parts, whole):
    found = list(csv.reader(io.StringIO(text)))
    if found[0] != ["kernel", "stage", "counter", "value"]:
        return f"heading {found[0]}"
    wanted, got = without_order(expected_csv(parts, whole)), without_order(found[1:])
    for one, other in zip(wanted, got):
        if one != other:
            return f"expected {one}, got {other}"
    return None if len(wanted) == len(got) else f"expected {len(wanted)} rows, got {len(got)}"


def near(wanted, got):
    return wanted is got is None or wanted is not None and got is not None and abs(float(wanted) - got) <= 0.00501 + 1e-15 * abs(got)


def check_stages(what, stages, found):
    if sorted(stages) != sorted(one["stage"] for one in found):
        return f"{what}: expected stages {list(stages)}, got {[one['stage'] for one in found]}"
    for one in found:
        counters, wanted = stages[one["stage"]], ratios(stages[one["stage"]])
        if counters != one["counters"]:
            return f"{what}, {one['stage']}: expected {counters}, got {one['counters']}"
        if set(wanted) != set(one["ratios"]) or not all(near(wanted[name], one["ratios"][name]) for name in wanted):
            return f"{what}, {one['stage']}: expected ratios { {name: item and float(item) for name, item in wanted.items()} }, got {one['ratios']}"
    return None


def same_field(launches, name):
    items = [launch.fields[name] for launch in launches]
    item = items[0] if all(one == items[0] for one in items) else None
    return [int(part) for part in item.split(",")] if isinstance(item, str) and name != "name" else item


def check_json(case, text, report, parts, whole, listed):
    if report["gtrace_report"] != 1 or report["gpu"] != (case.stream.gpu or {}).get("name") or report["total"]["kernels"] != (
            len(listed) if case.by == "launch" else report["total"]["kernels"]):
        return f"head: {text[:200]}"
    for (label, stages), (_, launches), found in zip(parts, listed, report["kernels"]):
        fields = {"kernel": launches[0].fields["id"], "name": launches[0].fields["name"]}
        fields.update({name: same_field(launches, name) for name in ("grid", "block", "registers", "shared_bytes")})
        for name, item in fields.items():
            if found.get(name) != item:
                return f"{label}: {name}: expected {item}, got {found.get(name)}"
        text = check_stages(label, stages, found["stages"])
        if text:
            return text
    return check_stages("total", whole, report["total"]["stages"])


# The table

def beside(stages, stage, counter, cells):
    """What is wrong with the ratio beside a counter."""
    wanted = ratios(stages[stage])
    name = BESIDE.get(counter)
    cell = next((cell for cell in cells[1:] if re.match(r"([0-9.]+|-) (per|%|steps a|entries in|misses at)", cell)), None)
    if name not in wanted:
        return f"{stage} {counter}: expected no ratio, got {cells}" if cell else None
    number = cell and cell.split(" ")[0]
    if cell is None or not near(wanted[name], None if number == "-" else float(number)):
        return f"{stage} {counter}: expected {name} {wanted[name] and float(wanted[name])}, got {cells}"
    return None


def check_table(text, parts, whole):
    """All numbers that are not 0 are there, each in the part of its kernel."""
    sections = re.split(r"(?m)^(?=kernel |total of )", text)[1:]
    if len(sections) != len(parts) + 1:
        return f"expected {len(parts) + 1} sections, got {len(sections)}"
    for section, (label, stages) in zip(sections, parts + [("total", whole)]):
        if section.startswith("total") and ": the same" in section:
            continue
        stage = None
        found = {}
        for line in section.splitlines()[1:]:
            match = re.match(r"^  (\S+ +| {2,})(\S.*?) {2,}(\S.*)$", line)
            if match and match[1].strip():
                stage = match[1].strip()
            if match:
                found[stage, match[2].split("  ")[0]] = re.split(" {2,}", match[3])
        for name, counters in stages.items():
            for counter, item in counters.items():
                if not isinstance(item, int) or counter == "load_warp_sectors":
                    continue
                cells = found.get((name, counter))
                if cells is None and item:
                    return f"{label}: {name} {counter} {item} is missing"
                if cells and cells[0].replace(",", "") != str(item) and not re.search("[KMG]", cells[0]):
                    return f"{label}: {name} {counter}: expected {item}, got {cells}"
                wrong = cells and beside(stages, name, counter, cells)
                if wrong:
                    return f"{label}: {wrong}"
    return None


# Metrics of ncu

PIPE = "_pipe_lsu_mem_global_op_"
L1_READS, L1_WRITES = ["l1.reads", "?l1.bypassed_reads"], ["l1.writes", "?l1.bypassed_writes"]
L2_READS = ["l2.reads", "?l2.far_reads", "?l2.far_neighbours", "?l2.constant_reads", "?l2.launch_reads"]
L2_HITS = ["l2.read_hits", "?l2.constant_hits", "?l2.launch_hits"]
ATOMS = ["coalesce.atomic_sectors", "-coalesce.reduction_sectors", "?coalesce.repeated_sectors"]
ATOM_REQUESTS = ["coalesce.atomic_accesses", "-coalesce.reduction_accesses"]
NCU = [
    (f"l1tex__t_requests{PIPE}ld.sum", ["coalesce.load_accesses"], None, 1),
    (f"l1tex__t_requests{PIPE}st.sum", ["coalesce.store_accesses"], None, 1),
    (f"l1tex__t_requests{PIPE}atom.sum", ATOM_REQUESTS, None, 1),
    (f"l1tex__t_requests{PIPE}red.sum", ["coalesce.reduction_accesses"], None, 1),
    (f"l1tex__average_t_sectors_per_request{PIPE}ld.ratio", ["coalesce.load_sectors"], ["coalesce.load_accesses"], 1),
    (f"l1tex__average_t_sectors_per_request{PIPE}st.ratio", ["coalesce.store_sectors"], ["coalesce.store_accesses"], 1),
    (f"l1tex__average_t_sectors_per_request{PIPE}atom.ratio", ATOMS, ATOM_REQUESTS, 1),
    (f"l1tex__average_t_sectors_per_request{PIPE}red.ratio", ["coalesce.reduction_sectors"], ["coalesce.reduction_accesses"], 1),
    (f"l1tex__t_sectors{PIPE}ld.sum", L1_READS, None, 1),
    (f"l1tex__t_sectors{PIPE}st.sum", L1_WRITES, None, 1),
    (f"l1tex__t_sectors{PIPE}ld.sum", ["coalesce.load_sectors"], None, 1),
    (f"l1tex__t_sectors{PIPE}st.sum", ["coalesce.store_sectors"], None, 1),
    (f"l1tex__t_sectors{PIPE}ld_lookup_hit.sum", ["l1.read_hits"], None, 1),
    (f"l1tex__t_sectors{PIPE}st_lookup_hit.sum", ["l1.write_hits"], None, 1),
    (f"l1tex__t_sectors{PIPE}ld_lookup_miss.sum", L1_READS + ["-l1.read_hits", "-?l1.pair_misses"], None, 1),
    (f"l1tex__t_sectors{PIPE}st_lookup_miss.sum", L1_WRITES + ["-l1.write_hits"], None, 1),
    (f"l1tex__t_sectors{PIPE}atom.sum", ATOMS, None, 1),
    (f"l1tex__t_sectors{PIPE}red.sum", ["coalesce.reduction_sectors"], None, 1),
    ("l1tex__t_sector_hit_rate.pct", ["l1.read_hits", "l1.write_hits", "l1.atomic_hits"],
     L1_READS + L1_WRITES + ["l1.atomics", "?coalesce.repeated_sectors"], 100),
    ("lts__t_sectors_op_read.sum", L2_READS, None, 1),
    ("lts__t_sectors_op_read_lookup_hit.sum", L2_HITS, None, 1),
    ("lts__t_sectors_op_read_lookup_miss.sum", L2_READS + ["-" + term for term in L2_HITS] + ["?l2.neighbours"], None, 1),
    ("lts__t_sectors_op_write.sum", ["l2.writes", "?l2.far_writes"], None, 1),
    ("lts__t_sectors_op_write_lookup_hit.sum", ["l2.writes", "?l2.far_writes"], None, 1),
    ("lts__t_sectors_op_atom.sum", ["l2.atomics", "-coalesce.reduction_sectors", "?coalesce.repeated_sectors", "?l2.far_atomics"], None, 1),
    ("lts__t_sectors_op_red.sum", ["coalesce.reduction_sectors", "?l2.far_reductions", "l2.atomics", "-l2.atomics"], None, 1),
    ("lts__t_sector_op_read_hit_rate.pct", L2_HITS, L2_READS, 100),
    ("lts__t_sector_op_write_hit_rate.pct", ["l2.writes"], ["l2.writes"], 100),
    ("lts__t_sector_hit_rate.pct", L2_HITS + ["l2.writes", "?l2.far_writes", "l2.atomic_hits", "?coalesce.repeated_sectors"],
     L2_READS + ["l2.writes", "?l2.far_writes", "l2.atomics", "?coalesce.repeated_sectors"], 100),
    ("lts__t_sectors_srcunit_tex_op_read.sum", ["l2.reads"], None, 1),
    ("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", ["l2.read_hits", "-?l2.far_hits"], None, 1),
    ("lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum", ["l2.reads", "-l2.read_hits", "?l2.far_hits", "?l2.neighbours"], None, 1),
    ("lts__t_sectors_srcunit_tex_op_write.sum", ["l2.writes"], None, 1),
    ("lts__t_sectors_srcunit_tex_op_write_lookup_hit.sum", ["l2.writes"], None, 1),
    ("dram__sectors_read.sum", ["dram.reads"], None, 1),
    ("dram__sectors_write.sum", ["dram.writes"], None, 1),
    ("dram__bytes_read.sum", ["dram.reads"], None, 32),
    ("dram__bytes_write.sum", ["dram.writes"], None, 32),
]


def metrics(stages):
    counters = {f"{stage}.{counter}": item for stage, some_counters in stages.items() for counter, item in some_counters.items()}
    result = {}
    for name, above, below, factor in NCU:
        try:
            item = ratio(counters, above, below, factor)
        except KeyError:
            continue
        if item is not None:
            result.setdefault(name, item)
    return result


def check_ncu(text, parts, listed):
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        found.setdefault(row["ID"], {})[row["Metric Name"]] = row["Metric Value"]
    for (label, stages), (_, launches) in zip(parts, listed):
        got, wanted = found.get(str(launches[0].fields["id"]), {}), metrics(stages)
        for name in {name for name, *_ in NCU}:
            if name in wanted and (name not in got or not near(wanted[name], float(got[name]))) or name not in wanted and name in got:
                return f"{label}: {name}: expected {wanted.get(name) and float(wanted[name])}, got {got.get(name)}"
    return None


def check(case, folder):
    put(folder, case.files)
    text = stream.text(case.stream).replace("\n", "\n#history\tgschedule\t0.1.0\n#history\tgsample\t0.1.0\n", 1)
    data = through(["gtrace-cat", "--from"], text.encode(), folder)
    try:
        listed, chosen = groups(case)
        stages = {id(launch): stages_of(launch, case.scale) for launch in chosen}
        parts = [(label, together([stages[id(launch)] for launch in launches])) for label, launches in listed]
        whole = together(list(stages.values()))
    except stream.Refused as refusal:
        try:
            through(case.commands[0], data, folder)
        except Failed as failure:
            return None if "exit 1:" in str(failure) else str(failure)
        return f"expected an error: {refusal}"
    text = through(case.commands[0], data, folder).decode()
    if case.form == "--csv":
        return check_csv(text, parts, whole)
    if case.form == "--json":
        return check_json(case, text, json.loads(text), parts, whole, listed)
    if case.form == "ncu":
        return check_ncu(text, parts, listed)
    return check_table(text, parts, whole)
