# SPDX-License-Identifier: MIT
"""gcache(1), the functional level: which options are drawn, and where values come from. level.py serves the requests."""

import math

import coalesce
import stream
from causes import Instances
from level import Level, has_halves, place_cycles, spread_of, way
from tags import rounds

K = 1024
LEVELS = {
    "l1": {"scope": "private", "size": 32 * K, "ways": "4", "write": "through", "allocate": "no", "constant": "2048,4,64"},
    "l2": {"scope": "shared", "size": 2048 * K, "ways": "16", "write": "back", "allocate": "yes"},
    "texture": {"scope": "private", "size": 12 * K, "ways": "96", "line": 32, "index": "texture", "write": "through",
                "allocate": "no"},
    "readonly": {"scope": "private", "size": 48 * K, "ways": "4", "write": "through", "allocate": "no"},
    "name": {"scope": "shared", "size": 32 * K, "ways": "4", "write": "back", "allocate": "yes"},
    "tlb": {"scope": "shared", "size": 32 * K * K, "ways": "full", "line": 2 * K * K},
    "window": {"scope": "shared", "size": 512 * K * K, "ways": "1", "line": 512 * K * K},
}
COMMON = {"line": 128, "sector": 32, "index": "mod", "replace": "lru", "partial": "read", "fetch": "sector",
          "bypass": "none", "operators": "yes", "hints": "honour", "flush": "kernel", "write_hits": "sector", "read_misses": "all",
          "warm": "none", "arrival": "step", "spread": "none", "dirty_ways": "all", "found_dirty": 0, "combine": "none", "coalescer": "none", "emit": "misses", "by": "none", "causes": False,
          "interleave": "set", "partitions": 1, "banks": 1, "sets": None, "launch_reads": "none", "constant": "none", "absent": False}
NUMBERS = ["size", "line", "sector", "fetch", "partitions", "banks"]
MOST_MRU = 256


# Drawing

def draw_index(random, sets, line):
    power = sets & sets - 1 == 0
    names = ["mod", "mod", "smod", "hash", "rotate", "golden", "table"]
    names += ["prime"] if sets > 1 else []
    names += ["xor", "fermi", "ipoly", "bits"] if power else []
    names += ["texture"] if power and line <= 128 else []
    name = random.choice(names)
    if name == "smod":
        return f"smod:{random.randrange(4)}"
    if name == "bits":
        if sets == 1:
            return "mod"
        return "bits:" + ",".join(draw_expression(random, line.bit_length() - 1) for _ in range(sets.bit_length() - 1))
    if name == "table":
        digits = 1 if sets <= 16 else 2
        return "table:" + "".join(f"{random.randrange(sets):0{digits}x}" for _ in range(random.randrange(1, 40)))
    return name


def draw_expression(random, lowest):
    def bit():
        return str(random.randrange(lowest, 16))
    return "^".join(random.choice([bit(), bit() + "&" + bit()]) for _ in range(random.choice([1, 2, 3])))


def draw_policy(random, ways):
    name = random.choice(["lru", "lru", "lru", "fifo", "lfu", "lfu:way", "weighted", "order", "srrip", "plru", "random", "tail:1"])
    if name == "weighted":
        certain = random.randrange(ways)
        return "weighted:" + ",".join("1" if way == certain else "0" for way in range(ways))
    if name == "order":
        return "order:" + ",".join(str(random.randrange(1, ways + 1)) for _ in range(random.randrange(1, 7)))
    if name == "plru" and ways & ways - 1 or name == "random" and ways > 1:
        return "lru"
    return name


def draw_shape(random, options, tlb, halves):
    line = 128 if halves else random.choice([32, 64, 128, 128, 128, 256, 1024]) if not tlb else random.choice([128, 512, 2048, 4096])
    sets, ways = random.choice([1, 2, 3, 4, 7, 8, 16, 32]), random.choice([1, 2, 3, 4, 6, 8])
    options["line"] = line
    if not halves and stream.some(random, 0.1):
        each = [random.randrange(1, 5) for _ in range(random.randrange(2, 6))]
        options["sets"] = ",".join(map(str, each))
        options["index"] = random.choice(["mod", "smod:1", "rotate", "hash"])
        options["replace"] = random.choice(["lru", "fifo", "lfu", "srrip"])
    else:
        options["size"] = sets * ways * line * (2 if halves else 1)
        options["ways"] = random.choice([str(ways), f"full/{sets}"] + (["full"] if sets == 1 else []))
        options["index"] = draw_index(random, sets, line)
        options["replace"] = draw_policy(random, ways)
    if tlb or halves:
        return
    if stream.some(random, 0.4):
        options["sector"] = random.choice([32, 64, "line"])
        if options["sector"] == 64 and line == 32:
            options["sector"] = "line"
    sector = line if options.get("sector") == "line" else options.get("sector", 32)
    if stream.some(random, 0.3):
        options["fetch"] = random.choice([size for size in (32, 64, 128, 256, 512, 1024) if sector <= size <= line] + ["sector"])


def draw_options(random, level):
    options = {}
    tlb = level in ("tlb", "window")
    shared = level in ("l2", "name")
    halves = shared and stream.some(random, 0.15)
    if halves:
        options["spread"] = random.choice(["far:0", "far:40,slice:9", "sm:7,far:3"])
    elif shared and stream.some(random, 0.1):
        options["spread"] = random.choice(["sm:20", "slice:9", "slice:12,sm:5"])
    if stream.some(random, 0.9):
        draw_shape(random, options, tlb, halves)
    if "spread" not in options and stream.some(random, 0.3):
        options["scope"] = random.choice(["private", "shared"])
    if stream.some(random, 0.4):
        options["flush"] = random.choice(["never", "between"])
    if stream.some(random, 0.3):
        options["emit"] = random.choice(["all", "all", "none"])
    if tlb:
        return options
    for name, chance, values in (
            ("write", 0.5, ["back", "through", "evict"]), ("allocate", 0.4, ["yes", "no"]),
            ("partial", 0.4, ["keep", "read", "fetch"]), ("bypass", 0.1, ["writes", "reads", "all"]),
            ("operators", 0.3, ["no", "drop"]), ("hints", 0.2, ["ignore", "no-prefetch"]), ("write_hits", 0.3, ["tag"]), ("read_misses", 0.3, ["pair"]), ("by", 0.3, ["pc", "site", "site"])):
        if stream.some(random, chance):
            options[name] = random.choice(values)
    if halves:
        options.pop("read_misses", None)
    if options.get("scope", LEVELS[level]["scope"]) == "private" and stream.some(random, 0.4):
        options["constant"] = random.choice(["none", "128,1,64", "512,2,32", "1K,1,256", "768,3,128"])
    elif shared and options.get("scope") != "private" and options.get("emit") != "all" and stream.some(random, 0.25):
        options["constant"] = random.choice(["64K,256,256", "256,1,256", "512,2,32", "1K,2,128"])
    write = options.get("write", LEVELS[level]["write"])
    if shared and options.get("scope") != "private":
        if stream.some(random, 0.2):
            options["warm"] = "copies"
        if stream.some(random, 0.15):
            options["arrival"] = random.choice(["rr", "travel"])
        elif "spread" in options and stream.some(random, 0.5):
            options["arrival"] = "travel"
    if write == "back" and stream.some(random, 0.3):
        options["dirty_ways"] = random.choice(["1", "2", "3"])
    keeps = write == "back" and options.get("allocate") != "no" and options.get("bypass") not in ("writes", "all")
    if keeps and shared and options.get("scope") != "private" and options.get("flush") == "between" and stream.some(random, 0.5):
        options["found_dirty"] = random.choice([1, 6, 17, 40, 1000])
    if write != "back" and options.get("scope", LEVELS[level]["scope"]) == "private" and stream.some(random, 0.3):
        options["combine"] = f"{random.randrange(1, 6)},{random.randrange(10)}"
    if shared and options.get("scope") != "private" and options.get("emit") != "all" and stream.some(random, 0.25):
        options["coalescer"] = f"{random.randrange(2, 5)},{random.randrange(9)}"
        if stream.some(random, 0.5):
            options["hit_cycles"], options["miss_cycles"] = str(random.randrange(9)), f"{random.randrange(20)},30:{random.randrange(40)}"
    return options


PRIORITIES = ["evict_first", "evict_normal", "evict_last", "evict_unchanged"]


def draw_hint(random, what):
    if what == "load" and stream.some(random, 0.15):
        return random.choice(["prefetch.L1", "prefetch.L2", "discard.L2", "applypriority.L2,L2::evict_last", "applypriority.L2,L2::evict_normal"])
    parts = ["L1::" + random.choice(PRIORITIES + (["no_allocate"] if what == "load" else []))] if stream.some(random, 0.5) else []
    parts += ["L2::" + random.choice(PRIORITIES)] if stream.some(random, 0.5) else []
    parts += ["L2::" + random.choice(["64B", "128B", "256B"])] if what == "load" and stream.some(random, 0.2) else []
    return ",".join(parts) or "none"


def draw_hinted(random):
    """Few lines, and hints with half of the requests."""
    drawn = stream.draw_requests(random, lines=random.choice([4, 16]), sms=random.choice([0, 3]), hints=False, spaces=("global",))
    for launch in drawn.launches:
        for row in launch.rows:
            what = stream.kind(row)
            hint = draw_hint(random, what) if what in ("load", "store") and stream.some(random, 0.5) else "none"
            if hint != "none":
                row["hint"] = hint
            if stream.kind(row) in ("prefetch", "discard", "applypriority"):
                row.update(sectors=15, op="load.global")
    return drawn


def draw_stage(random, level, drawn, latency):
    """A command and what the model needs of it. Some options are given by the description in the stream."""
    options = draw_options(random, level)
    if latency:
        options["emit"] = "latency"
        options.pop("coalescer", None)
        if options.get("scope", LEVELS[level]["scope"]) == "shared":
            options.pop("constant", None)
        if "spread" in options:
            drawn.gpu = {**(drawn.gpu or {}), "dram.channels": str(random.randrange(1, 9))}
        options.pop("arrival", None)
        options["miss_cycles"], options["hit_cycles"] = draw_cycles(random), draw_cycles(random)
    if "coalescer" in options and stream.some(random, 0.5):
        counts = [random.randrange(1, 4) for _ in range(random.randrange(1, 4))]
        drawn.gpu = {**(drawn.gpu or {}), "sms": str(sum(counts)), "gpc_sms": ",".join(map(str, counts))}
    name = {"tlb": random.choice(["l1tlb", "l2tlb"]), "name": "other"}.get(level, level)
    command = ["gcache", "--quiet", "--" + level] + ([name] if level in ("tlb", "name") else [])
    for key in list(options):
        if level != "name" and key != "spread" and stream.some(random, 0.15) and f"{name}.{key}" not in (drawn.gpu or {}):
            drawn.gpu = drawn.gpu or {}
            drawn.gpu[f"{name}.{key}"] = str(options[key])
        else:
            command += ["--" + key.replace("_", "-"), str(options[key])]
    if "dirty_ways" in options and "--dirty-ways" not in command and "--write" in command:
        options["dirty_ways"] = "all"
    if "--combine" not in command:  # a description's is for steps that are cycles by the history
        options["combine"] = "none"
    hints = any("hint" in row or "l2_window" in launch.fields for launch in drawn.launches for row in launch.rows)
    if level not in ("tlb", "window") and not hints and not has_halves(options) and stream.some(random, 0.3):
        options["causes"] = True
        command += ["--causes"]
    if stream.some(random, 0.2):
        command += ["-j", str(random.choice([2, 3]))]
    return {"level": level, "name": name, "options": options, "command": command}


def draw_special(random, level, drawn):
    """A level with a policy or a shape that goes with few other options."""
    name = "other" if level == "name" else level
    command = ["gcache", "--quiet", "--" + level] + ([name] if level == "name" else [])
    options, more = {}, []
    what = random.choice(["opt", "opt", "launch", "none", "l1_bytes", "interleave", "interleave"])
    if what == "opt":
        draw_shape(random, options, False, False)
        options["replace"] = "opt"
        if stream.some(random, 0.5):
            options["hints"] = "ignore"
        else:
            for launch in drawn.launches:
                launch.fields.pop("l2_window", None)
                for row in launch.rows:
                    if stream.kind(row) in ("load", "store") or "," in row.get("hint", ""):
                        row.pop("hint", None)
        options["write"] = random.choice(["back", "through", "evict"])
        options["allocate"] = random.choice(["yes", "no"])
        options["emit"] = random.choice(["misses", "all"])
    elif what == "launch" and level != "l1":
        options.update(size=128 * random.choice([1, 2, 4, 64]), ways="full", emit="none", flush=random.choice(["kernel", "never"]))
        distinct = random.randrange(15)
        options["launch_reads"] = f"{32 * random.randrange(5)},{distinct + random.randrange(5) * (distinct > 0)},{32 * distinct}"
        if stream.some(random, 0.5):
            options["launch_reads"] += f",{random.randrange(8)}"
        drawn.gpu = {**(drawn.gpu or {}), "gpcs": str(random.randrange(1, 5)), "dram.channels": str(random.randrange(1, 9))}
    elif what == "none":
        options["size"] = "none"
    elif what == "l1_bytes":
        for launch in drawn.launches:
            launch.fields["l1_bytes"] = random.choice([2048, 4096])
        options.update(ways="full/4", replace=random.choice(["lru", "lfu"]))
        if level != "l1":
            options["size"] = 1024
        options["flush"] = random.choice(["kernel", "never"])
    elif level != "name":
        draw_banks(random, options, drawn, name)
        more = ["partitions", "banks"]
    for key in options:
        if key not in more:
            command += ["--" + key.replace("_", "-"), str(options[key])]
    return {"level": level, "name": name, "options": options, "command": command}


def draw_banks(random, options, drawn, name):
    """Partitions and banks are those of the description: their options make a level timed."""
    partitions, banks = random.choice([1, 2, 3, 4]), random.choice([1, 2, 4])
    sets, ways, line = random.choice([1, 2, 3, 4, 8]), random.choice([1, 2, 4]), random.choice([32, 64, 128, 256])
    power = partitions * banks & partitions * banks - 1 == 0
    scheme = random.choice(["mod", "hash", "two-level", "set"] + ["xor"] * power)
    within = draw_index(random, sets, line)
    options.update(line=line, ways=str(ways), size=sets * partitions * banks * ways * line, partitions=partitions, banks=banks)
    options.update(index="mod" if scheme == "set" else within, interleave=scheme)
    if scheme != "set" and stream.some(random, 0.5):
        options["interleave"] += f":{line * random.choice([1, 2, 4])}"
    drawn.gpu = {**(drawn.gpu or {}), f"{name}.partitions": str(partitions), f"{name}.banks": str(banks)}


def draw_cycles(random):
    pairs = sorted(random.sample(range(1, 400), random.choice([0, 0, 1, 2])))
    return ",".join([str(random.randrange(300))] + [f"{start}:{random.randrange(300)}" for start in pairs])


def draw(random):
    hints = stream.some(random, 0.25)
    if hints:
        drawn = draw_hinted(random)
    elif stream.some(random, 0.1):
        drawn = stream.draw_stream(random, extent=random.choice([1024, 8192]), spaces=("global", "local", "shared"))
    else:
        drawn = stream.draw_requests(random, lines=random.choice([4, 16, 48]), sms=random.choice([0, 3, 3]))
    draw_fields(random, drawn)
    if stream.some(random, 0.3):
        for launch in drawn.launches:
            if stream.some(random, 0.7):
                coalesce.add_allocations(random, launch)
    latency = stream.some(random, 0.1)
    if latency:
        levels = ["l1"] * stream.some(random, 0.7) + ["l2"] + ["tlb"] * random.randrange(2) + ["window"] * random.randrange(2)
    elif stream.some(random, 0.2):
        levels = ["l1", "l2"]
    else:
        levels = random.choices(list(LEVELS), [6, 8, 1, 1, 3, 2, 1])[:1]
    if levels in (["l1"], ["l2"], ["name"]) and stream.some(random, 0.3):
        stages = [draw_special(random, levels[0], drawn)]
    else:
        stages = [draw_stage(random, level, drawn, latency) for level in levels]
    return stream.Case(drawn, [stage["command"] for stage in stages], stages=stages)


def draw_fields(random, drawn):
    """What a launch says about L1 and L2, and what was copied before it."""
    kinds = ["normal", "streaming", "persisting"]
    for launch in drawn.launches:
        addresses = [row["address"] for row in launch.rows if "address" in row]
        if addresses and stream.some(random, 0.1):
            base = random.choice(addresses) + random.choice([0, 0, 32])
            launch.fields["l2_window"] = (f"{base:#x},{random.choice([128, 1000, 100000])},{random.choice([0, 1000000])},"
                                          f"{random.choice(kinds)},{random.choice(kinds[:2])}")
            if stream.some(random, 0.8):
                launch.fields["l2_persisting_bytes"] = random.choice([128, 1024, 4096, 1 << 20])
        if stream.some(random, 0.05):
            launch.fields["l2_fetch_bytes"] = random.choice([32, 48, 64, 100, 128])
        if addresses and stream.some(random, 0.1):
            places = [random.choice(addresses) + random.choice([0, 32, 40]) for _ in range(random.randrange(1, 4))]
            launch.counts.append(("copies", {"addresses": places, "bytes": [random.choice([4, 32, 100, 300, 1000]) for _ in places]}))


# Values

def shape(config):
    """The ways of each set; the size follows from --sets."""
    line, ways = config["line"], config["ways"]
    if has_halves(config):
        config["size"] //= 2
    if config["sets"]:
        config["set_ways"] = [int(way) for way in config["sets"].split(",")]
        config["size"] = sum(config["set_ways"]) * line
    elif ways.startswith("full"):
        sets = int(ways.partition("/")[2] or 1)
        config["set_ways"] = [config["size"] // line // sets] * sets
    else:
        config["set_ways"] = [int(ways)] * (config["size"] // line // int(ways))
    if len(set(config["set_ways"])) > 1:
        config["order"] = rounds(config["set_ways"])
    config["sets"] = len(config["set_ways"])


def configuration(stage, launch):
    config = {**COMMON, **LEVELS[stage["level"]], **stage["options"]}
    config["tlb"] = stage["level"] in ("tlb", "window")
    config["first_hits"] = stage["level"] == "window"
    if stage["level"] == "l1" and "size" not in stage["options"]:
        config["size"] = launch.fields.get("l1_bytes") or config["size"]
    if config["size"] == "none":
        config.update(absent=True, bypass="all", size=LEVELS[stage["level"]]["size"])
    if config["scope"] == "shared" and "constant" not in stage["options"]:
        config["constant"] = "none"
    for name in NUMBERS:
        if str(config[name]).isdigit():
            config[name] = int(config[name])
    shape(config)
    if config["sector"] == "line" or config["tlb"]:
        config["sector"] = config["line"]
    if config["fetch"] == "sector":
        config["fetch"] = config["sector"]
    if stage["name"] == "l2" and "l2_fetch_bytes" in launch.fields and "--fetch" not in stage["command"]:
        named = min(128, 1 << launch.fields["l2_fetch_bytes"].bit_length() - 1)
        config["fetch"] = max(config["sector"], min(config["line"], named))
    return config


# Counters

class Within:
    """A list of that many numbers with that sum, where the manual promises no more."""

    def __init__(self, count, total):
        self.count, self.total = count, total

    def __eq__(self, other):
        return isinstance(other, list) and len(other) == self.count and sum(other) == self.total

    def __repr__(self):
        return f"{self.count} numbers with the sum {self.total}"


def shape_counters(config):
    counters = {"size": config["size"], "line": config["line"], "sector": config["sector"], "sets": config["sets"]}
    if len(set(config["set_ways"])) == 1:
        counters["ways"] = config["set_ways"][0]
    counters.update({name: config[name].partition(":")[0] for name in ("index", "replace")})
    if not config["tlb"]:
        counters["write"] = config["write"]
    if config["interleave"] != "set":
        counters["interleave"] = config["interleave"].partition(":")[0]
    if config["emit"] != "misses":
        counters["emit"] = config["emit"]
    return counters


def counters_of(level, config):
    counters = dict(level.counts)
    if any(level.bypassed.values()):
        counters.update(level.bypassed)
    if level.constants["constant_reads"]:
        counters.update(level.constants)
    if level.gpc_constants["gpc_constant_reads"]:
        counters.update(level.gpc_constants)
    if any(level.places.values()):
        counters.update(level.places)
    if config["found_dirty"]:
        counters.update(level.found)
    if config["launch_reads"] != "none" and any(map(int, config["launch_reads"].split(",")[:2])):
        counters.update(level.launch)
    if config["fetch"] > config["sector"]:
        counters["neighbours"] = level.neighbours
    if config["read_misses"] == "pair":
        counters["pair_misses"] = level.pair_misses
    if config["flush"] == "between":
        counters["left_dirty"] = level.left_dirty
    if config["dirty_ways"] != "all":
        counters["cleaned"] = level.cleaned
    if config["combine"] != "none":
        counters.update(level.combined)
    if config["coalescer"] != "none":
        counters.update(level.coalesced)
    if config["by"] == "pc":
        for pc, (reads, hits) in level.by_pc.items():
            counters[f"{pc:#x}.reads"], counters[f"{pc:#x}.read_hits"] = reads, hits
    if level.notes:
        counters.update(level.notes.counters())
    if has_halves(config):
        counters.update(level.halves)
    if config["absent"]:
        return {**counters, "size": "none"}
    parts = 2 if has_halves(config) else 1
    counters["instances"] = parts if config["scope"] == "shared" else len(level.reached)
    counters.update(shape_counters(config))
    return counters


def emitted(level, config, served):
    if config["emit"] in ("all", "latency"):
        return served
    return level.sent if config["emit"] == "misses" else []


def cycles(text, latency):
    """A number, and pairs of a latency and the number from that on."""
    first, *pairs = text.split(",")
    number = int(first)
    for pair in pairs:
        start, other = map(int, pair.split(":"))
        if latency >= start:
            number = other
    return number


def with_latency(level, config, row):
    """The row with this level's status and cycles added."""
    row = dict(row)
    before = row.pop("status", None) if "latency" in row else None
    row.pop("status", None)
    latency = row.get("latency", 0)
    if before == ("tlb_hit" if config["tlb"] else "hit"):
        return {**row, "status": before}
    far = level.halves["far_reads"]
    status = level.serve(row)
    if status == "none":
        return {**row, "status": before or "none", "latency": latency}
    added = cycles(config["hit_cycles" if status == "hit" else "miss_cycles"], latency)
    if "sm" in row:
        added += place_cycles(config, row["sm"], row["address"] // 128)
    if level.halves["far_reads"] > far:
        added += spread_of(config).get("far", 0)
    added = max(added, 0)
    return {**row, "status": "tlb_" * config["tlb"] + status, "latency": latency + added}


def in_rounds(rows):
    """One request from each SM, by rising SM, over and over; the step is the number of the round."""
    queues = {}
    for row in rows:
        queues.setdefault(row.get("sm", 0), []).append(row)
    ordered = []
    for turn in range(max(map(len, queues.values()), default=0)):
        for sm in sorted(queues):
            if turn < len(queues[sm]):
                row = queues[sm][turn]
                ordered.append({**row, "step": turn} if "step" in row else row)
    return ordered


def by_travel(config, rows):
    """By the step at which they come, then by SM, then in their order. None comes before the latest step that was sent."""
    latest, coming = 0, []
    for row in rows:
        latest = max(latest, row["step"])
        coming.append({**row, "step": max(row["step"] + way(config, row["sm"], row["address"] // 128), latest)})
    return sorted(coming, key=lambda row: (row["step"], row["sm"]))


def read_launch(level, config, launch):
    """What the launch reads by itself; the addresses are not in the manual, so only counts are compared."""
    code, reads, size = map(int, config["launch_reads"].split(",")[:3])
    blocks = math.prod(map(int, launch.fields["grid"].split(",")))
    own = (1 << 61) + 4096 * sum(ord(letter) << 8 * place for place, letter in enumerate(launch.fields["name"]))
    addresses = [own + 32 * n for n in range(code // 32)] * min(config["gpcs"], blocks)
    addresses += [(1 << 60) + 32 * n % max(size, 1) for n in range(reads)]
    for address in addresses:
        line = address // stream.LINE * stream.LINE
        level.read_launch({"address": line, "sectors": 1 << (address - line) // 32, "full": 0, "op": "load.constant", "lanes": 0})


def serve(config, launch, instances):
    """A kernel: the rows that are written, and the level with its counts."""
    rows = [{key: item for key, item in row.items() if key not in ("work", "shared")} for row in launch.rows]
    if config["arrival"] == "rr":
        rows = in_rounds(rows)
    elif config["arrival"] == "travel" and all("step" in row for row in rows):
        rows = by_travel(config, rows)
    level = Level(config, stream.Launch(launch.fields, rows), instances)
    if config["warm"] == "copies":
        for stage, counters in launch.counts:
            if stage == "copies":
                level.warm(list(zip(counters["addresses"], counters["bytes"])))
    if launch.rows:
        instances.first = launch.rows[0]
    if config["found_dirty"]: # a kernel without rows is as the last one with some, at step 0
        first = getattr(instances, "first", {})
        level.find(first if launch.rows or "step" not in first else {**first, "step": 0})
    if config["launch_reads"] != "none":
        read_launch(level, config, launch)
    served = []
    for row in rows:
        if level.is_coalesced(row):
            continue
        if config["emit"] == "latency":
            served.append(with_latency(level, config, row))
        else:
            served.append({**row, "status": level.serve(row)})
        level.keep_open(row)
    level.flush(rows)
    return emitted(level, config, served), level


def exact(launches, config):
    """Whether mru and mru_writes are what caches of fewer ways have."""
    rows = [row for launch in launches for row in launch.rows]
    if config["launch_reads"] != "none" or config["coalescer"] != "none" or config["found_dirty"]:
        return False, False
    keeps = config["partial"] == "keep" or config["partial"] == "fetch" and config["write"] == "back"
    allocates = config["tlb"] or config["allocate"] == "yes" and config["write"] != "evict"
    first = config["first_hits"] and config["flush"] == "never"
    dropped = not config["tlb"] and config["write"] != "back" and any(row["op"].split(".")[0] in ("atomic", "reduction") for row in rows)
    hints = any("hint" in row or stream.operator(row) in (("cs", "lu", "cv", "cg") if config["operators"] == "drop" else ("cs", "lu", "cv")) for row in rows)
    reads = allocates and not first and not dropped and not any("l2_window" in launch.fields for launch in launches) and not hints and config["fetch"] == config["sector"]
    return reads, reads and (config["tlb"] or keeps or config["write_hits"] == "tag")


def with_ways(config, ways):
    return {**config, "causes": False, "set_ways": [min(ways, has) for has in config["set_ways"]]}


def levels_of(configs, launches, ways):
    """The level in each kernel, if it had so many ways."""
    instances = Instances()
    for number, (config, launch) in enumerate(zip(configs, launches)):
        if number and config != configs[number - 1]:
            instances.clear()
        yield serve(with_ways(config, ways), launch, instances)[1]


def add_mru(configs, launches, results):
    """Element i: hits in a cache of i + 1 ways that miss in one of i."""
    most = [max(config["set_ways"]) for config in configs]
    known = [exact(launches, config) for config in configs]
    for which, (name, hits) in enumerate((("mru", "read_hits"), ("mru_writes", "write_hits"))):
        if not all(both[which] for both in known):
            for (_, counters), ways in zip(results, most):
                counters[name] = Within(ways, counters[hits])
            continue
        before = [0] * len(launches)
        for _, counters in results:
            counters[name] = []
        for ways in range(1, max(most) + 1):
            for number, level in enumerate(levels_of(configs, launches, ways)):
                if ways <= most[number]:
                    results[number][1][name].append(level.counts[hits] - before[number])
                before[number] = level.counts[hits]


def through(stage, launches, gpu):
    """The launches after a stage."""
    results, instances = [], Instances()
    configs = [{**configuration(stage, launch), "gpcs": int((gpu or {}).get("gpcs", 1)), "slices": int((gpu or {}).get("dram.channels", 1)), "sms": int((gpu or {}).get("sms", 0)),
                "gpc_sms": [int(n) for n in (gpu or {}).get("gpc_sms", "").split(",") if n]} for launch in launches]
    for number, (config, launch) in enumerate(zip(configs, launches)):
        if number and config != configs[number - 1]:
            instances.clear()
        instances.arrays = coalesce.arrays_of(launch, "allocations") or instances.arrays
        rows, level = serve(config, launch, instances)
        results.append((rows, counters_of(level, config)))
    config = configs[0]
    if config["replace"] in ("lru", "tail:1") and max(map(max, (one["set_ways"] for one in configs))) <= MOST_MRU and not has_halves(config):
        add_mru(configs, launches, results)
    return [stream.Launch(launch.fields, rows, launch.counts + [(stage["name"], counters)])
            for launch, (rows, counters) in zip(launches, results)]


def coalesced(drawn):
    """Accesses are coalesced first; rows of shared memory are passed over."""
    settings = coalesce.configuration(drawn.gpu)
    launches = [coalesce.coalesce(launch, *settings, arrays=[]) if any(map(stream.is_access, launch.rows)) else launch
                for launch in drawn.launches]
    return [stream.Launch(launch.fields, [row for row in launch.rows if stream.space(row) != "shared"], launch.counts)
            for launch in launches]


def model(case):
    launches = coalesced(case.stream)
    for stage in case.stages:
        launches = through(stage, launches, case.stream.gpu)
    return stream.Stream(launches, case.stream.gpu)
