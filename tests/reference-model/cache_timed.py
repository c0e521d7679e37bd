# SPDX-License-Identifier: MIT
"""gcache(1), the timed model with --on-full stall and --issue schedule. Tags, index, replacement and stores are those of
level.py."""

import math
from fractions import Fraction

import cache
import stream
from level import Level, chunks, pieces, place_cycles
from tags import place

LEVELS = ["l1", "l1", "l2", "l2", "name", "readonly"]
TIMED = {"ports": "unlimited", "mshr": "unlimited", "merges": "unlimited", "per_warp_mshr": "unlimited",
         "latency": "fixed:1", "hit_latency": 0}
BINS = 22


# Drawing

def draw_timing(random):
    options = {}
    for name, chance, values in (
            ("ports", 0.4, [1, 2, 3]), ("merges", 0.4, [0, 1, 2]), ("per_warp_mshr", 0.2, [1, 2, 3]),
            ("latency", 0.8, ["fixed:1", "fixed:2", "fixed:5", "fixed:30", "adaptive:3,0.5", "adaptive:1,2"]), ("hit_latency", 0.3, [1, 4])):
        if stream.some(random, chance):
            options[name] = random.choice(values)
    if stream.some(random, 0.6):
        options["mshr"] = f"1x{random.choice([1, 2, 4, 8])}"
    return options or {"latency": "fixed:3"}


def draw_banked(random, options):
    """Partitions and banks, which divide the sets evenly, and the MSHRs of the partitions."""
    partitions, banks = random.choice([1, 2, 3, 4]), random.choice([1, 2, 4])
    sets, ways, line = random.choice([1, 2, 4, 8]), random.choice([1, 2, 4]), random.choice([64, 128, 256])
    total = partitions * banks
    scheme = random.choice(["mod", "hash", "two-level", "set"] + ["xor"] * (total & total - 1 == 0))
    options.update(line=line, ways=str(ways), size=sets * total * ways * line, partitions=partitions, banks=banks)
    options.update(index="mod" if scheme == "set" else cache.draw_index(random, sets, line), interleave=scheme)
    options["mshr"] = f"{random.randrange(1, partitions + 1)}x{random.choice([1, 2, 4])}"
    if options["mshr"].startswith("3x") and partitions == 4:
        options["mshr"] = "2x2"


def draw(random):
    level = random.choice(LEVELS)
    drawn = stream.draw_requests(random, lines=random.choice([4, 16, 48]), sms=3, hints=False)
    options = draw_timing(random)
    if stream.some(random, 0.3):
        draw_banked(random, options)
    elif stream.some(random, 0.9):
        cache.draw_shape(random, options, False, False)
    for name, chance, values in (
            ("write", 0.5, ["back", "through", "evict"]), ("allocate", 0.4, ["yes", "no"]),
            ("partial", 0.4, ["keep", "read", "fetch"]), ("bypass", 0.1, ["writes", "reads", "all"]),
            ("operators", 0.3, ["no", "drop"]), ("write_hits", 0.2, ["tag"]), ("read_misses", 0.3, ["pair"]), ("scope", 0.3, ["private", "shared"]),
            ("flush", 0.3, ["never", "between"]), ("emit", 0.6, ["all", "none"])):
        if stream.some(random, chance):
            options[name] = random.choice(values)
    if level in ("l1", "readonly") and stream.some(random, 0.3):
        drawn.gpu = {**(drawn.gpu or {}), "l2.partitions": str(random.randrange(1, 4)), "l2.banks": "2"}
    if level != "l2" and stream.some(random, 0.3):
        drawn.gpu = {**(drawn.gpu or {}), "l2.spread": random.choice(["sm:9", "slice:5", "far:5,sm:3,slice:2"]), "dram.channels": str(random.randrange(1, 5))}
    name = "other" if level == "name" else level
    command = ["gcache", "--quiet", "--" + level] + ([name] if level == "name" else [])
    for key, item in options.items():
        command += ["--" + key.replace("_", "-"), str(item)]
    stage = {"level": level, "name": name, "options": options, "command": command}
    return stream.Case(drawn, [command], stages=[stage])


# The model

class Entry:
    """A miss in flight: an MSHR."""

    def __init__(self, number, units, row, step, latency, present):
        self.number, self.units, self.row = number, units, row
        self.taken, self.latency = step, latency
        self.arrives = step + latency
        self.present = present
        self.merged = 0
        self.dirty = set()

    def in_use(self, step):
        return step == self.taken or self.taken < step < self.arrives - 1


class Lookup:
    """A load has one for each line, other requests have one."""

    def __init__(self, row, piece, waits, bank, order):
        self.row, self.piece, self.waits, self.bank, self.order = row, piece, waits, bank, order


def bin_of(number):
    return number.bit_length()


def counted(numbers):
    """Bins: 0, and 2^(k-1) to 2^k - 1."""
    bins = [0] * BINS
    for number in numbers:
        bins[bin_of(number)] += 1
    return bins


class Timed(Level):
    def __init__(self, config, launch, instances):
        super().__init__(config, launch, instances)
        self.timed = dict.fromkeys(
            ["steps", "instance_steps", "lookups", "hit_lookups", "passed_lookups", "stalls", "port_conflicts",
             "reservation_fails", "reservations", "merges", "latency_misses", "merged_reads"], 0)
        self.latencies, self.load_latencies, self.busy = [], [], []
        self.flights = {}
        self.served = []
        self.step = self.end = 0

    def key(self, row):
        return row["sm"] if self.config["scope"] == "private" else 0

    def bank(self, number):
        return place(self.config, number) % (self.config["partitions"] * self.config["banks"])

    def mshr_set(self, number):
        sets = int(self.config["mshr"].split("x")[0])
        partitions = self.config["partitions"]
        return self.bank(number) % partitions // -(-partitions // sets)

    def send(self, row):
        super().send({**row, "step": self.step})

    # One lookup

    def free(self, key, piece, row):
        """Whether there is an MSHR for the line and for the warp."""
        used = [entry for entry in self.flights[key] if entry.in_use(self.step)]
        if self.config["mshr"] != "unlimited":
            here = [entry for entry in used if self.mshr_set(entry.number) == self.mshr_set(piece.number)]
            if len(here) >= int(self.config["mshr"].split("x")[1]):
                return False
        if self.config["per_warp_mshr"] != "unlimited":
            warp = (row["sm"], row["block"], row["warp"])
            held = [entry for entry in used if (entry.row["sm"], entry.row["block"], entry.row["warp"]) == warp]
            return len(held) < int(self.config["per_warp_mshr"])
        return True

    def latency_of(self, key):
        """The steps of a miss. An adaptive one grows with the entries in use before it, and the SMs that had a request in this kernel."""
        model, _, rest = self.config["latency"].partition(":")
        if model == "fixed":
            return int(rest)
        first, each = map(Fraction, rest.split(","))
        used = len([entry for entry in self.flights[key] if entry.in_use(self.step)])
        active, parallel = (len(self.active), self.config["parallel"]) if self.config["scope"] == "private" else (1, self.config["partitions"] * self.config["banks"])
        return max(1, math.floor(first + each * used * active / parallel + Fraction(1, 2)))

    def try_waiting(self, lookup, key):
        """A load or an atomic: the status, or None if it has to retry."""
        row, piece = lookup.row, lookup.piece
        where, way = self.instance(key).at(piece.number)
        line = where.ways[way] if way is not None else None
        valid = line.valid if line else set()
        missing = piece.used - valid
        flying = [entry for entry in self.flights[key] if entry.number == piece.number]
        arriving = set().union(*[entry.units for entry in flying]) & missing
        need = missing - arriving
        if missing and not need:
            joined = [entry for entry in flying if entry.units & missing]
            if self.config["merges"] != "unlimited" and joined[-1].merged >= int(self.config["merges"]):
                return None
            joined[-1].merged += 1
        elif need and not self.free(key, piece, row):
            return None
        self.row = row
        load = stream.kind(row) == "load"
        self.count("reads" if load else "atomics", piece.used, piece.used - missing)
        self.miss(line is not None, missing)
        self.timed["latency_misses"] += len(arriving)
        self.timed["merged_reads"] += len(arriving) if load else 0
        if line:
            where.use(way)
        if not missing:
            if self.streams(row):
                where.demote(way)
            self.timed["hit_lookups"] += 1
            self.load_latencies.append(int(self.config["hit_latency"]))
            if not load:
                line.dirty |= piece.used
            return "hit"
        if not need:
            self.timed["merges"] += 1
            self.load_latencies.append(max(entry.arrives for entry in joined) - 1 - self.step)
            if not load:
                joined[-1].dirty |= piece.used
            return "merged"
        latency = self.latency_of(key)
        if self.config["scope"] == "private":
            below = {"spread": self.config["l2.spread"], "slices": self.config["slices"]}
            latency = max(1, latency + place_cycles(below, row.get("sm", 0), piece.number * self.config["line"] // 128))
        entry = Entry(piece.number, self.fetched(need, valid | set().union(*[other.units for other in flying])), row,
                      self.step, latency, line is not None)
        self.flights[key].append(entry)
        if not load:
            entry.dirty |= piece.used
        self.timed["reservations"] += 1
        self.latencies.append(latency)
        self.load_latencies.append(latency)
        self.busy.append(len([other for other in self.flights[key] if other.in_use(self.step) and (
            self.config["mshr"] == "unlimited" or self.mshr_set(other.number) == self.mshr_set(piece.number))]))
        self.send_read(piece.number, entry.units)
        return "miss"

    def arrive(self, key):
        """What is valid from this step on, in the order of sending."""
        due = sorted([entry for entry in self.flights[key] if entry.arrives <= self.step], key=lambda entry: entry.arrives)
        for entry in due:
            self.fill(key, entry)
        self.flights[key] = [entry for entry in self.flights[key] if entry not in due]

    def fill(self, key, entry):
        now, self.row = self.step, entry.row
        self.step = entry.arrives - 1
        where, way = self.instance(key).at(entry.number)
        if way is None:
            way = self.take(where, entry.number)
        elif entry.present:
            where.refer(way)
        else:
            where.use(way)
        line = where.ways[way]
        line.valid |= entry.units
        line.dirty |= entry.dirty
        if self.streams(entry.row):
            where.demote(way)
        self.step = now

    # Groups

    def lookups_of(self, row, order):
        """The lookups of a request: of loads, and of atomics that this level performs, one for each line."""
        what = stream.kind(row)
        back = self.config["write"] == "back"
        found = pieces(row, self.config)
        if not self.bypasses(row) and (what == "load" or what != "store" and back):
            return [Lookup(row, piece, True, self.bank(piece.number), order) for piece in found]
        return [Lookup(row, None, False, self.bank(found[0].number), order)]

    def serve_group(self, rows, key):
        """From self.step on; returns the step after it."""
        waiting = []
        turn, last = 0, None
        for row in rows:
            self.counts["requests"] += 1
            warp = (row["sm"], row["block"], row["warp"])
            turn, last = turn + (warp != last), warp
            waiting += self.lookups_of(row, turn)
        waiting.sort(key=lambda lookup: (lookup.order, lookup.bank))
        first = True
        while waiting:
            if not first:
                self.timed["stalls"] += 1
            first = False
            self.arrive(key)
            ports = {}
            again = []
            for lookup in waiting:
                if not self.attempt(lookup, key, ports):
                    again.append(lookup)
            waiting = again
            self.step += 1
        return self.step

    def attempt(self, lookup, key, ports):
        row = lookup.row
        if (not self.bypasses(row) or self.leaves(row)) and self.config["ports"] != "unlimited":
            if ports.get(lookup.bank, 0) >= int(self.config["ports"]):
                self.timed["port_conflicts"] += 1
                return False
            ports[lookup.bank] = ports.get(lookup.bank, 0) + 1
        if not lookup.waits:
            self.pass_at_once(row)
            return True
        status = self.try_waiting(lookup, key)
        if status is None:
            self.timed["reservation_fails"] += 1
        else:
            self.timed["lookups"] += 1
        for address, mask in chunks(lookup.piece.number, lookup.piece.used, self.config):
            if address == row["address"]:
                self.show(row, address, mask & row["sectors"], status or "reservation_fail")
        return status is not None

    def pass_at_once(self, row):
        """A request that never waits: it changes the level as in a functional one."""
        requests = self.counts["requests"]
        status = self.serve(row)
        self.counts["requests"] = requests
        self.timed["lookups"] += 1
        self.timed["passed_lookups"] += 1
        self.show(row, row["address"], row["sectors"], status)

    def show(self, row, address, sectors, status):
        self.served.append({**row, "step": self.step, "address": address, "sectors": sectors, "full": row["full"] & sectors,
                            "status": status})

    def run(self, rows):
        """All groups of each instance."""
        groups = {}
        self.active = {row["sm"] for row in rows}
        for row in rows:
            groups.setdefault(self.key(row), {}).setdefault(row["step"], []).append(row)
        for key in sorted(groups):
            self.flights[key] = []
            self.step = 0
            begin = min(groups[key])
            for step in sorted(groups[key]):
                self.step = max(self.step, step)
                self.serve_group(groups[key][step], key)
            self.timed["instance_steps"] += self.step - begin
            self.timed["steps"] = max(self.timed["steps"], self.step)
            self.end = max(self.end, self.step)
            while self.flights[key]:
                self.step = min(entry.arrives for entry in self.flights[key])
                self.arrive(key)
                self.end = max(self.end, self.step)


def counters_of(level, config):
    counters = cache.counters_of(level, config)
    counters.update(level.timed)
    counters.update(latency_steps=sum(level.latencies), latency=counted(level.latencies),
                    load_steps=sum(level.load_latencies), load_latency=counted(level.load_latencies),
                    busy_entries=sum(level.busy), mshr=counted(level.busy))
    return counters


def ordered(rows, config):
    """By step and instance."""
    private = config["scope"] == "private"
    return sorted(rows, key=lambda row: (row["step"], row["sm"] if private else 0))


def through(stage, launches, gpu):
    instances, made = {}, []
    for launch in launches:
        config = {**TIMED, **cache.configuration(stage, launch), "constant": "none"}
        config.update({"l2.spread": gpu.get("l2.spread", "none"), "slices": int(gpu.get("dram.channels", 1)),
                       "parallel": int(gpu.get("l2.partitions", 1)) * int(gpu.get("l2.banks", 1))})
        level = Timed(config, launch, instances)
        level.run(launch.rows)
        sent = len(level.sent)
        level.step = level.end + 1
        level.flush([{"sm": 0, "step": level.step - 1}] if launch.rows else [])
        flushed = level.sent[sent:]
        rows = {"all": ordered(level.served, config), "none": []}.get(config["emit"], ordered(level.sent[:sent], config) + flushed)
        counters = counters_of(level, config)
        if config["replace"] in ("lru", "tail:1"):
            for name, hits in (("mru", "read_hits"), ("mru_writes", "write_hits")):
                counters[name] = cache.Within(max(config["set_ways"]), counters[hits])
        made.append(stream.Launch(launch.fields, rows, launch.counts + [(stage["name"], counters)]))
    return made


def model(case):
    return stream.Stream(through(case.stages[0], case.stream.launches, case.stream.gpu or {}), case.stream.gpu)
