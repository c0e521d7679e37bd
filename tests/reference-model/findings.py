# SPDX-License-Identifier: MIT
"""gtrace-findings(7): what gstats --findings says of a kernel, from the counters of the stages before it."""

import json
import re
from fractions import Fraction

import coalesce
import stream
from stream import some
from tools import given

BOUNDARIES = ("l1", "l2", "dram")
SECTOR = stream.SECTOR
LATENCIES = {"l1": "l1.hit_cycles", "l2": "l2.hit_cycles", "dram": "l2.miss_cycles"}


# Drawing

def same_programs(random, launches):
    """Launches of one name execute one program: an instruction that another of them has otherwise gets a number of its own. Each instruction has one
    source line, if any; several may be of one."""
    programs, places = {}, {}
    for launch in launches:
        name = launch.fields["name"]
        program = programs.setdefault(name, {})
        for row in launch.rows:
            while program.setdefault(row["pc"], (row["op"], row["size"])) != (row["op"], row["size"]):
                row["pc"] += 0x1000
        for pc in program:
            places.setdefault((name, pc), (random.randrange(7, 10), random.randrange(2)) if some(random, 0.8) else None)
    sources = {name: some(random, 0.6) for name in programs}
    for launch in launches:
        name = launch.fields["name"]
        known = {pc: places[name, pc] for pc in sorted(programs[name]) if places[name, pc]}
        if sources[name] and known:
            launch.counts.append(("source", {"pcs": list(known), "lines": [line for line, _ in known.values()],
                                             "files": [file for _, file in known.values()], "names": "a.cu,b.cu"}))


def draw_l1(random):
    command = ["gcache", "--l1", "--size", str(128 * random.choice([8, 16, 64])), "--ways", random.choice(["1", "2", "4", "8"])]
    if some(random, 0.4):
        command += ["--write", random.choice(["through", "evict"])]
    if some(random, 0.3):
        command += ["--replace", random.choice(["lru", "fifo", "plru"])]
    if some(random, 0.2):
        command += ["--sector", "line"]
    return command + ["--index", "mod"]


def draw(random):
    told_apart = some(random, 0.9)
    drawn = stream.draw_stream(random, kernels=3, blocks=8, accesses=random.choice([6, 20]), extent=random.choice([2048, 16384]), hints=False,
                               spaces=("global", "global", "global", "local", "shared") if told_apart else ("global",))
    sms = random.choice([1, 2, 4])
    if some(random, 0.5):
        drawn.gpu = {"sms": str(sms)}
        if some(random, 0.7):
            drawn.gpu.update({key: str(random.randrange(1, 500)) for key in LATENCIES.values()})
    for launch in drawn.launches:
        if some(random, 0.6):
            coalesce.add_allocations(random, launch)
    same_programs(random, drawn.launches)
    for row in [row for launch in drawn.launches for row in launch.rows if not told_apart]:
        row["pc"] = 0
    l2 = ["gcache", "--l2", "--size", str(128 * random.choice([16, 64, 512])), "--ways", random.choice(["2", "4", "8"]), "--index", "mod"]
    if some(random, 0.5):
        l2 += ["--partial", "fetch"]
    if some(random, 0.3):
        l2 += ["--fetch", "64"]
    if some(random, 0.3):
        l2 += ["--launch-reads", random.choice(["512,13,256", "64,2,64,3", "0,40,1280"])]
    sites = ["--by", "site"]
    pipe = [["gcoalesce", *sites], ["gschedule", "--sm", str(sms)], draw_l1(random) + sites + ["--causes"], l2 + sites + ["--causes"],
            ["gdram", "--channels", random.choice(["1", "2", "3"])]]
    if some(random, 0.2):
        pipe = pipe[:random.randrange(1, 5)]
    every = some(random, 0.7)
    return stream.Case(drawn, pipe + [["gstats", "--findings", "--json"] + (["--all"] if every else [])], every=every)


# Counters

def add(into, numbers):
    """Sums of counters; of arrays element by element. Texts are left out."""
    for key, number in numbers.items():
        if isinstance(number, list):
            old = into.get(key, [])
            longest = max(len(old), len(number))
            into[key] = [a + b for a, b in zip(old + [0] * (longest - len(old)), number + [0] * (longest - len(number)))]
        elif isinstance(number, int):
            into[key] = into.get(key, 0) + number


def sites_of(counters):
    """The counters of each site, of a stage that counts by site: {(pc, array): {counter: value}}."""
    sites = {}
    for key, number in counters.items():
        if key.startswith("0x"):
            site, _, counter = key.rpartition(".")
            pc, _, array = site.partition(" ")
            sites.setdefault((int(pc, 16), array), {})[counter] = number
    return sites


def sources_of(launch):
    """The source file and line of each instruction."""
    for stage, counters in launch.counts:
        if stage == "source":
            names = counters["names"].split(",")
            return {pc: (names[file], line) for pc, line, file in zip(counters["pcs"], counters["lines"], counters["files"])}
    return {}


def places_of(launch):
    return {pc: f"{file}:{line}" for pc, (file, line) in sources_of(launch).items()}


class Group(dict):
    """What was counted at a place of one operation in one array, {stage: counters}, in sectors of 32 bytes."""

    def __init__(self):
        super().__init__(coalesce={}, l1={}, l2={})

    def of(self, stage, counter):
        return self[stage].get(counter, 0)


def in_sectors(numbers, sectors):
    """A level counts what it sends and reads of partial stores in sectors of 32 bytes, all else in its own."""
    return {key: number if key.startswith("sent_") or key == "partial_reads" else
            [sectors * one for one in number] if isinstance(number, list) else sectors * number for key, number in numbers.items()}


def action_of(op):
    """What an operation does, and the memory: global stands for all but local and shared. Several count as loads."""
    if op == "several":
        return "load", "global"
    what, where = op.split(".")[:2]
    return {"reduction": "atomic"}.get(what, what), where if where in ("local", "shared") else "global"


class Kernel:
    """The launches of one name, summed. Groups are those of a place, an action, a memory and an array."""

    def __init__(self, launch):
        self.number, self.name, self.launches, self.blocks = launch.fields["id"], launch.fields.get("name"), 0, 0
        self.stages, self.groups, self.asked, self.resident, self.operations = {}, {}, 0, set(), {}

    def note(self, launch):
        """What the instructions do: several, if they or their launches differ. A site that only levels count has what its instruction does elsewhere."""
        for (pc, array), counters in sites_of(dict(launch.counts).get("coalesce", {})).items():
            for key in ((pc, array), pc):
                op = self.operations.setdefault(key, counters["op"])
                self.operations[key] = op if op == counters["op"] else "several"

    def add(self, launch):
        self.launches += 1
        x, y, z = map(int, str(launch.fields["grid"]).split(","))
        self.blocks += x * y * z
        places = places_of(launch)
        for stage, counters in launch.counts:
            add(self.stages.setdefault(stage, {}), counters)
            if stage == "schedule":
                self.resident.add(counters["resident_blocks"])
            if stage not in ("coalesce", "l1", "l2"):
                continue
            for (pc, array), numbers in sites_of(counters).items():
                if stage != "coalesce":
                    numbers = in_sectors(numbers, counters["sector"] // SECTOR)
                action, where = action_of(self.operations.get((pc, array), self.operations[pc]))
                key = places.get(pc, hex(pc)), action, where, array
                add(self.groups.setdefault(key, Group())[stage], numbers)
                if stage == "coalesce" and where != "shared":
                    self.asked += numbers["bytes"]

    def of(self, stage, counter):
        return self.stages.get(stage, {}).get(counter, 0)

    def traffic(self):
        """What is known: without gdram, what L2 sends."""
        known = {"asked_bytes": self.asked, "unique_bytes": self.of("coalesce", "unique_bytes"), "l1_sectors": self.of("coalesce", "sectors")}
        if "l1" in self.stages:
            known["l2_sectors"] = sum(self.of("l1", what) for what in ("sent_reads", "sent_writes", "sent_atomics")) + self.of("l2", "launch_reads")
        if "dram" in self.stages:
            known["dram_sectors"] = self.of("dram", "reads") + self.of("dram", "writes")
        elif "l2" in self.stages:
            known["dram_sectors"] = sum(self.of("l2", what) for what in ("sent_reads", "sent_writes", "sent_atomics"))
        return known

    def those(self, action=None, memory=None, holds=lambda group: True, by=lambda place, action, memory, array: (place, action, memory)):
        """The groups of an action and a memory of which something holds, summed by their line or by another key:
        [(place, array that is accessed most, Group)]."""
        sums = {}
        for (place, does, where, array), group in self.groups.items():
            if action not in (None, does) or memory not in (None, where) or not holds(group):
                continue
            key = by(place, does, where, array)
            _, arrays, total = sums.setdefault(key, (place, {}, Group()))
            arrays[array] = arrays.get(array, 0) + group.of("coalesce", "passes" if where == "shared" else "sectors")
            for stage, numbers in group.items():
                add(total[stage], numbers)
        return [(place, arrays, total) for place, arrays, total in sums.values()]


def kernels_of(run):
    """Launches of one name are one kernel, those without a name are each their own."""
    kernels = {}
    for launch in run.launches:
        kernels.setdefault(launch.fields.get("name") or launch.fields["id"], Kernel(launch)).note(launch)
    for launch in run.launches:
        kernels[launch.fields.get("name") or launch.fields["id"]].add(launch)
    return list(kernels.values())


# Findings

class Finding:
    def __init__(self, what, place, arrays, evidence=None, **gains):
        """gains: of a boundary, or passes: (sectors, basis). evidence: some of its numbers."""
        self.what, self.place, self.arrays, self.evidence = what, place, arrays, evidence or {}
        self.gains = {name: gain for name, gain in gains.items() if gain[0] > 0}

    def cost(self, latencies):
        """What orders findings: half of a bounded gain counts."""
        return sum(Fraction(latencies[name] * sectors, 1 if basis == "computed" else 2)
                   for name, (sectors, basis) in self.gains.items() if name in latencies)


C, B = "computed", "bounded"
BEHIND = {"l1": "l2", "l2": "dram"}


def fetched(group, level, sectors):
    """What a level reads for so many sectors that loads miss, of those that it does not pass on."""
    missed = group.of(level, "reads") - group.of(level, "read_hits")
    return max(sectors, sectors * (group.of(level, "sent_reads") - group.of(level, "bypassed")) // missed) if missed else sectors


def misses(group, level):
    return fetched(group, level, group.of(level, "capacity") + group.of(level, "conflict"))


def excess(group):
    return group.of("coalesce", "sectors") - group.of("coalesce", "least_sectors")


def is_misaligned(group):
    return 2 * group.of("coalesce", "misaligned_sectors") > excess(group)


def is_uncoalesced(group):
    return 4 * group.of("coalesce", "sectors") > 5 * group.of("coalesce", "least_sectors") and not is_misaligned(group)


def ratios(group, what, least):
    accesses = group.of("coalesce", "accesses")
    return {"accesses": accesses, what + "_per_access": Fraction(group.of("coalesce", what), accesses or 1),
            least + "_per_access": Fraction(group.of("coalesce", least), accesses or 1)}


def passed_on(group, action, sectors):
    """Of sectors beyond the least, those that go on to L2 as they are."""
    bypassed = group.of("l1", "bypassed")
    return sectors if action != "load" else sectors * bypassed // (group.of("l1", "reads") + bypassed) if bypassed else 0


def coalescing(kernel):
    for action in ("load", "store", "atomic"):
        for place, arrays, group in kernel.those(action, "global", is_uncoalesced):
            behind = {"l2": (passed_on(group, action, excess(group)), C)}
            if action == "load":
                behind = {"l2": (behind["l2"][0] + misses(group, "l1"), B if group.of("l1", "reads") else C), "dram": (misses(group, "l2"), B)}
            yield Finding("uncoalesced_" + action, place, arrays, ratios(group, "sectors", "least_sectors"), l1=(excess(group), C), **behind)
        for place, arrays, group in kernel.those(action, "global", is_misaligned):
            misaligned = group.of("coalesce", "misaligned_sectors")
            yield Finding("misaligned", place, arrays, l1=(misaligned, C), l2=(passed_on(group, action, misaligned), C))


def few_lanes(kernel):
    groups = [(action, group) for (_, action, where, _), group in kernel.groups.items() if where == "global"]
    accesses, lanes = (sum(group.of("coalesce", what) for _, group in groups) for what in ("accesses", "lanes"))
    spare = [(action, group, max(0, group.of("coalesce", "least_sectors") - -(-group.of("coalesce", "bytes") // SECTOR))) for action, group in groups]
    if lanes < 8 * accesses and any(sectors for _, _, sectors in spare):
        yield Finding("few_lanes", None, {}, {"accesses": accesses, "lanes_per_access": Fraction(lanes, accesses)}, l1=(sum(sectors for _, _, sectors in spare), B),
                      l2=(sum(passed_on(group, action, sectors) for action, group, sectors in spare), B))


def unused_bytes(kernel):
    for _, arrays, group in kernel.those("load", "global", by=lambda place, action, memory, array: array):
        array, = arrays
        read, sectors = kernel.of("coalesce", array + ".unique_read_bytes"), kernel.of("coalesce", array + ".unique_read_sectors")
        spare = sectors - -(-read // SECTOR)
        first = max(sectors, fetched(group, "l2", group.of("l2", "compulsory")))
        if spare > 0:
            yield Finding("unused_bytes", None, arrays, {"read_sectors": sectors, "read_bytes": read}, l2=(group.of("l1", "sent_reads") * spare // sectors, B),
                          dram=(group.of("l2", "sent_reads") * (first - sectors + spare) // first, B))


def first_of(element):
    """The least distance of an element of distance."""
    if element == 0:
        return 0
    k, f = divmod(element - 1, 4)
    return 2 ** k + -(-(f * 2 ** k) // 4)


def kept(distances, lines, number):
    """The lines that keep 90 % of the loads whose distance is at least as many lines, and how many of the misses these are."""
    beyond = [(first_of(element + 1), sectors) for element, sectors in enumerate(distances) if first_of(element) >= lines]
    whole, nearer = sum(sectors for _, sectors in beyond), 0
    for end, sectors in beyond:
        nearer += sectors
        if 10 * nearer >= 9 * whole:
            return end, number * nearer // whole
    return 0, 0


def lines_of(config):
    return config["size"] // config["line"]


def capacity(kernel, level, config):
    for place, arrays, group in kernel.those("load", holds=lambda group: group.of(level, "capacity") > 0):
        number = group.of(level, "capacity")
        need, sectors = kept(group[level]["distance"], lines_of(config), number)
        gain = (fetched(group, level, sectors), C) if need else (fetched(group, level, number), B)
        size = config["size"] if not need else config["line"] * need
        yield Finding(level + "_capacity", place, arrays, {"capacity_misses": number, "size_that_keeps_90_percent": size}, **{BEHIND[level]: gain})


def conflict(kernel, level, config):
    for place, arrays, group in kernel.those("load", holds=lambda group: group.of(level, "conflict") > 0):
        far = sum(number for element, number in enumerate(group[level].get("distance", [])) if first_of(element) >= lines_of(config))
        hits = max(0, far - group.of(level, "capacity"))
        if group.of(level, "conflict") > hits:
            yield Finding(level + "_conflict", place, arrays, **{BEHIND[level]: (fetched(group, level, group.of(level, "conflict") - hits), C)})


def resident(kernel, config):
    """Fewer blocks an SM would fit."""
    level = in_sectors(kernel.stages["l1"], config["sector"] // SECTOR)
    need, sectors = kept(level["distance"], lines_of(config), level["capacity"])
    blocks = kernel.resident.pop() if len(kernel.resident) == 1 else 0
    if level["capacity"] and need and 0 < blocks * lines_of(config) // need < blocks:
        yield Finding("resident_blocks", None, {}, l2=(sectors, B))


def others(kernel):
    for place, arrays, group in kernel.those("load", holds=lambda group: group.of("l1", "invalidated") > 0):
        yield Finding("l1_dropped", place, arrays, l2=(group.of("l1", "invalidated"), B))
    for _, arrays, group in kernel.those("load", holds=lambda group: group.of("l1", "elsewhere") > 0,
                                         by=lambda place, action, memory, array: (place, memory, array) if array == "-" else array):
        yield Finding("read_by_many_sms", None, arrays, l2=(group.of("l1", "elsewhere"), B))


def stores(kernel):
    for place, arrays, group in kernel.those(holds=lambda group: group.of("l2", "partial_reads") > 0):
        yield Finding("partial_store", place, arrays, dram=(group.of("l2", "partial_reads"), C))
    least = sum(group.of("coalesce", "least_sectors") for _, _, group in kernel.those("store", "global"))
    written = kernel.of("l2", "sent_writes")
    stored_bytes = sum(group.of("coalesce", "bytes") for _, _, group in kernel.those("store", "global"))
    only_read = {array for _, _, _, array in kernel.groups} - {array for _, action, where, array in kernel.groups if (action, where) == ("store", "global")}
    distinct = min(SECTOR * written, kernel.of("coalesce", "unique_bytes") - sum(kernel.of("coalesce", array + ".unique_read_bytes") for array in only_read))
    if least > 2 * written and stored_bytes > 2 * distinct and kernel.of("l2", "flushed"):
        spared = least - max(written, least * distinct // stored_bytes)
        stored = {(place, array) for place, action, where, array in kernel.groups if (action, where) == ("store", "global") and array != "-"}
        again = [group for (place, action, where, array), group in kernel.groups.items()
                 if (action, where) == ("load", "global") and (place, array) in stored]
        yield Finding("repeated_store", None, None, l1=(spared + sum(group.of("coalesce", "sectors") for group in again), B),
                      l2=(spared + sum(group.of("l1", "sent_reads") for group in again), B))


def apart(kernel):
    for place, arrays, group in kernel.those(None, "shared", lambda group: 10 * group.of("coalesce", "passes") > 11 * group.of("coalesce", "least_passes"),
                                             by=lambda place, action, memory, array: place):
        yield Finding("bank_conflict", place, arrays, ratios(group, "passes", "least_passes"), passes=(group.of("coalesce", "passes") - group.of("coalesce", "least_passes"), C))
    for _, _, group in kernel.those(None, "local", by=lambda *key: 0):
        yield Finding("local_memory", None, None, l1=(group.of("coalesce", "sectors"), C),
                      l2=(group.of("l1", "reads") - group.of("l1", "read_hits") + group.of("l1", "writes"), B))
    for place, arrays, group in kernel.those("atomic", "global", lambda group: group.of("coalesce", "lanes") >= 4 * group.of("coalesce", "addresses") > 0):
        yield Finding("same_address_atomic", place, arrays, l2=(group.of("coalesce", "sectors") - kernel.blocks, B))


def constants(kernel):
    accesses, turns = kernel.of("coalesce", "constant_accesses"), kernel.of("coalesce", "constant_turns")
    if accesses and turns >= 2 * accesses:
        missed = kernel.of("l1", "constant_reads") - kernel.of("l1", "constant_hits") - kernel.of("l2", "gpc_constant_hits")
        yield Finding("constant_turns", None, {}, {"accesses": accesses, "addresses_per_access": Fraction(turns, accesses)}, l2=(missed, B))


def launched(kernel):
    reads = kernel.of("l2", "launch_reads")
    if kernel.launches > 1 and 5 * reads > reads + kernel.of("l2", "reads"):
        sites = sum(group.of("l2", "sent_reads") for _, _, group in kernel.those())
        yield Finding("launch_traffic", None, {}, l2=(reads, B), dram=(kernel.of("l2", "sent_reads") - sites, B))


def memory(kernel):
    hits, misses_of_rows = kernel.of("dram", "row_hits"), kernel.of("dram", "row_misses")
    if 10 * hits < 7 * (hits + misses_of_rows):
        yield Finding("dram_rows", None, {})
    sectors = [a + b for a, b in zip(kernel.of("dram", "channel_reads") or [], kernel.of("dram", "channel_writes") or [])]
    if sectors and sum(sectors) >= 100 * len(sectors) * kernel.launches and 2 * max(sectors) * len(sectors) > 3 * sum(sectors):
        yield Finding("dram_channels", None, {}, excess=(max(sectors) - sum(sectors) // len(sectors), C))


def findings_of(kernel, configs):
    for found in (coalescing, few_lanes, unused_bytes, others, stores, apart, constants, launched, memory):
        yield from found(kernel)
    if "l1" in configs:
        yield from resident(kernel, configs["l1"])
    for level, config in configs.items():
        yield from capacity(kernel, level, config)
        yield from conflict(kernel, level, config)


# Comparison

KEYS = {"l1": "l1_sectors", "l2": "l2_sectors", "dram": "dram_sectors", "passes": "passes"}


def gains_of(found):
    return {name: (found["gain"][key]["value"], found["gain"][key]["basis"]) for name, key in KEYS.items() if key in found["gain"]}


def bounded(finding, kernel):
    """A gain is no more than what crosses its boundary. Sets the share."""
    traffic = kernel.traffic()
    whole = {name: traffic[key] for name, key in KEYS.items() if key in traffic}
    whole["passes"] = kernel.of("coalesce", "bank_passes")
    gains = {name: (min(sectors, whole[name]), basis) for name, (sectors, basis) in finding.gains.items() if name in whole}
    finding.gains = {name: gain for name, gain in gains.items() if gain[0] > 0} | {name: gain for name, gain in finding.gains.items() if name == "excess"}
    finding.share = max((Fraction(sectors, whole[name]) for name, (sectors, _) in gains.items() if sectors), default=Fraction(0))
    if finding.what == "constant_turns":
        accesses, turns = kernel.of("coalesce", "constant_accesses"), kernel.of("coalesce", "constant_turns")
        finding.share = max(finding.share, Fraction(turns - accesses, turns + kernel.of("coalesce", "accesses") - accesses))
    if finding.what == "dram_rows":
        finding.share = 1 - Fraction(kernel.of("dram", "row_hits"), kernel.of("dram", "row_hits") + kernel.of("dram", "row_misses"))
    return finding


def arrays_text(arrays):
    """The array that is accessed most comes first; without those that have no name."""
    named = {array: number for array, number in arrays.items() if array != "-"}
    first = max(named.values(), default=0)
    return {f"{array.split(' ')[0]} ({array.partition(' ')[2]})" if " " in array else array for array, number in named.items() if number == first}


def is_the_same(finding, found):
    if finding.what != found["finding"] or {name: gain for name, gain in finding.gains.items() if name in KEYS} != gains_of(found):
        return False
    if finding.place is not None and finding.place != found["place"]:
        return False
    if finding.arrays is None:
        return True
    first = arrays_text(finding.arrays)
    return (found["arrays"] or "").split(", ")[0] in first if first else not found["arrays"]


def words(finding):
    return f"{finding.what} {finding.place} {finding.arrays} {finding.gains}"


def compare(expected, found, latencies):
    """The first difference in words, or None."""
    unmatched = list(expected)
    last = None
    for one in found:
        same = [finding for finding in unmatched if is_the_same(finding, one)]
        if not same:
            return (f"not expected: {one['finding']} {one['place']} {one['arrays']} {gains_of(one)}\n  expected " +
                    "\n           ".join(map(words, unmatched)))
        unmatched.remove(same[0])
        if one["finding"] != "dram_channels" and abs(one["share"] - same[0].share) > 1e-5:
            return f"{words(same[0])}: expected share {float(same[0].share)}, got {one['share']}"
        for name, number in same[0].evidence.items():
            if abs(one["evidence"][name]["value"] - number) > 1e-5 * number:
                return f"{words(same[0])}: expected {name} {float(number)}, got {one['evidence'][name]['value']}"
        cost = same[0].cost(latencies)
        if last is not None and cost > last:
            return f"order: {words(same[0])} costs {float(cost)}, the one before it {float(last)}"
        last = cost
    return f"expected {words(unmatched[0])}" if unmatched else None


SHOWN = [5, 3, 2, 2, 2]


def read_report(text):
    """The kernels of a report: [name, [(title, place)], how many findings are counted only]."""
    found = []
    for line, behind in zip(text.splitlines(), text.splitlines()[1:]):
        if behind.startswith("  asked "):
            found.append([line.split(", ")[0], [], 0])
        elif re.match(r"  [ \d]?\d  \S", line):
            found[-1][1].append(tuple(re.split(r"   +", line.strip().split("  ", 1)[1])[:2]))
        elif re.match(r"     \d+ smaller one", line):
            found[-1][2] = int(line.split()[0])
    return found


def cost_of(one, latencies):
    return sum(one["traffic"].get(KEYS[name], 0) * latencies[name] for name in BOUNDARIES)


def compare_report(text, kernels, latencies):
    """What the report shows: kernels by their cost, and so many findings of each."""
    def cost(one):
        return cost_of(one, latencies)
    found = read_report(text)
    expected = sorted(kernels, key=cost, reverse=True)
    if [cost(one) for one in kernels if one["name"] not in [name for name, *_ in found]] and len(kernels) <= len(SHOWN):
        return f"report: expected kernels {[one['name'] for one in expected]}, got {[name for name, *_ in found]}"
    for (name, shown, smaller), one, most in zip(found, expected, SHOWN):
        if len(found) > 1 and name != one["name"] and cost(one) != cost(next(other for other in kernels if other["name"] == name)):
            return f"report: expected kernel {one['name']}, got {name}"
        one = next(other for other in kernels if other["name"] == name)
        wanted = [(each["title"], *([each["place"]] if each["place"] else [])) for each in one["findings"] if each["share"] >= 0.02][:most]
        if [each[:len(want)] for each, want in zip(shown, wanted)] != wanted or len(shown) != len(wanted) or smaller != len(one["findings"]) - len(wanted):
            return f"report: expected {wanted} and {len(one['findings']) - len(wanted)} smaller ones of {name}, got {shown} and {smaller}"
    return None


def check(case, folder):
    """What the findings differ in, from the counters that they are made of."""
    before, text = given(case, folder)
    kernels = kernels_of(before)
    configs = {stage: counters for launch in before.launches for stage, counters in launch.counts if stage in ("l1", "l2")}
    got = json.loads(text)["kernels"]
    if [one["kernel"] for one in got] != [kernel.number for kernel in kernels]:
        return f"kernels: expected {[kernel.number for kernel in kernels]}, got {[one['kernel'] for one in got]}"
    latencies = {name: int((before.gpu or {}).get(key, 0)) for name, key in LATENCIES.items()}
    latencies = latencies if all(latencies.values()) else dict.fromkeys(BOUNDARIES, 1)
    latencies.update(passes=latencies["l1"], excess=latencies["dram"])
    whole = sum(cost_of(one, latencies) for one in got)
    for kernel, one in zip(kernels, got):
        what = f"kernel {kernel.number}: "
        if abs(one["cost_share"] - (cost_of(one, latencies) / whole if whole else 0)) > 1e-5:
            return what + f"cost_share: expected {cost_of(one, latencies)} of {whole}, got {one['cost_share']}"
        if one["traffic"] != kernel.traffic() or one["launches"] != kernel.launches:
            return what + f"traffic: expected {kernel.launches} launches, {kernel.traffic()}, got {one['launches']}, {one['traffic']}"
        reads = {level: {"reads": kernel.of(level, "reads"), "hits": kernel.of(level, "read_hits")} for level in ("l1", "l2") if kernel.of(level, "reads")}
        if one["reads"] != reads:
            return what + f"reads: expected {reads}, got {one['reads']}"
        expected = [bounded(finding, kernel) for finding in findings_of(kernel, configs)]
        if not case.every:
            expected = [finding for finding in expected if finding.share >= Fraction(2, 100) or finding.what == "dram_channels"]
        difference = compare(expected, one["findings"], latencies)
        if difference:
            return what + difference
    if case.every:
        case.commands[-1] = ["gstats", "--findings"]
        return compare_report(given(case, folder)[1], got, latencies)
    return None
