# SPDX-License-Identifier: MIT
"""Counts by site, and causes of load misses (gcache(1), Sites and causes), of levels without halves, for requests without hints."""

import coalesce
import stream

SERVED = ["reads", "read_hits", "writes", "atomics", "bypassed", "sent_reads", "sent_writes"]
CAUSES = ["compulsory", "capacity", "conflict", "invalidated", "partial_reads"]


class Instances(dict):
    """The instances of a level, what each has been given, and the same level of one set."""

    def __init__(self):
        super().__init__()
        self.pasts, self.full, self.constants = {}, {}, {}
        self.arrays = []

    def clear(self):
        super().clear()
        self.pasts, self.full = {}, {}
        self.constants.clear()


class Past:
    """What an instance was asked for since it was last empty: lines, the last used first; how far back each sector was used."""

    def __init__(self):
        self.given, self.dropped, self.lines, self.since = set(), set(), [], {}

    def use(self, number, units):
        """All its sectors are at least as far back as the line was."""
        if number in self.lines:
            back = self.lines.index(number)
            self.lines.remove(number)
            for unit in range(units):
                self.since[number, unit] = max(self.since.get((number, unit), 0), back)
        self.lines.insert(0, number)


def bin_of(distance):
    """1 + 4 k + f, of four equal parts of the distances from 2^k on."""
    if distance == 0:
        return 0
    k = distance.bit_length() - 1
    return 1 + 4 * k + (distance - 2 ** k) * 4 // 2 ** k


def empty(config):
    more = ["elsewhere" if config["scope"] == "private" else "others_hits"]
    return {**dict.fromkeys(CAUSES + more, 0), "distance": []}


class Notes:
    def __init__(self, level, launch):
        self.level, self.config = level, level.config
        self.arrays = getattr(level.instances, "arrays", [])
        self.sites, self.served = {}, {}
        self.everywhere, self.bringers, self.writers = set(), {}, {}
        self.full, self.site, self.missed, self.loads = None, None, {}, []
        if self.config["causes"]:
            self.pasts = level.instances.pasts
            full = {**self.config, "set_ways": [sum(self.config["set_ways"])], "sets": 1, "index": "mod", "interleave": "set", "replace": "lru",
                    "by": "none", "causes": False, "emit": "none", "dirty_ways": "all", "ignores_constants": self.config["constant"] != "none", "constant": "none"}
            full.pop("order", None)
            self.full = type(level)(full, launch, level.instances.full)
            self.full.looks = self
        self.units = self.config["line"] // self.config["sector"]

    # A request

    def begin(self, row):
        first = row["address"] + stream.SECTOR * next(iter(stream.bits(row["sectors"])), 0)
        self.site = (row["pc"], coalesce.array_at(first, self.arrays)) if self.config["by"] == "site" else None
        self.served.setdefault(self.site, dict.fromkeys(SERVED + ["partial_writes"], 0))
        self.sites.setdefault(self.site, empty(self.config))
        self.before, self.loads = dict(self.level.counts), []

    def end(self, row):
        served = self.served[self.site]
        for name in SERVED:
            served[name] += self.level.counts[name] - self.before[name]
        if stream.kind(row) == "store":
            served["partial_writes"] += len(list(stream.bits(row["sectors"] & ~row["full"])))
        if not self.full:
            return
        self.missed = {}
        self.full.serve(row)
        site = self.sites[self.site]
        for number, missing, fresh, dropped in self.loads:
            for unit in missing:
                cause = "compulsory" if unit in fresh else "invalidated" if unit in dropped else \
                    "capacity" if unit in self.missed.get(number, ()) else "conflict"
                site[cause] += 1

    # What it is about to do to a line

    def past(self, row):
        return self.pasts.setdefault(row.get("sm", 0) if self.config["scope"] == "private" else 0, Past())

    def look(self, piece, row, counts=True):
        if not self.full:
            return
        what, leaves = stream.kind(row), self.level.leaves(row)
        if what == "store":
            self.store(piece, row)
        elif what == "load" and not leaves:
            self.load(piece, row, counts)
        elif self.config["write"] == "back" and not leaves:
            self.bring(piece.number, piece.used, row, counts=True)
        else:
            past = self.past(row)
            past.dropped |= {(piece.number, unit) for unit in piece.used} & past.given

    def line(self, number, row):
        where, way = self.level.tags(row, number).at(number)
        return where.ways[way] if way is not None else None

    def load(self, piece, row, counts):
        past, line, site = self.past(row), self.line(piece.number, row), self.sites.get(self.site)
        valid = line.valid if line else set()
        keys = {unit: (piece.number, unit) for unit in piece.used}
        fresh = {unit for unit, key in keys.items() if key not in past.given}
        dropped = {unit for unit, key in keys.items() if key in past.dropped}
        if counts:
            self.loads.append((piece.number, piece.used - valid, fresh, dropped))
            for unit in piece.used & valid if self.config["scope"] == "shared" else ():
                site["others_hits"] += self.bringers.get(keys[unit], row.get("sm", 0)) != row.get("sm", 0)
            for unit in fresh if self.config["scope"] == "private" else ():
                site["elsewhere"] += keys[unit] in self.everywhere
        back = dict(past.since)
        Past.use(past, piece.number, self.units)
        for unit in piece.used - fresh - dropped if counts else ():
            self.count_distance(site, past.since.get(keys[unit], 0))
        past.since = {key: past.since.get(key, back.get(key, 0)) for key in past.since}
        self.bring(piece.number, piece.used, row, counts, used=True)

    @staticmethod
    def count_distance(site, distance):
        site["distance"] += [0] * (bin_of(distance) + 1 - len(site["distance"]))
        site["distance"][bin_of(distance)] += 1

    def group(self, missing):
        width = max(1, self.config["fetch"] // self.config["sector"])
        return {unit // width * width + n for unit in missing for n in range(width)}

    def give(self, number, units, row):
        past = self.past(row)
        for unit in units:
            past.given.add((number, unit))
            past.dropped.discard((number, unit))
            self.everywhere.add((number, unit))
            self.bringers[number, unit] = row.get("sm", 0)

    def bring(self, number, units, row, counts=False, used=False):
        if not self.full:
            return
        past, line = self.past(row), self.line(number, row)
        valid = line.valid if line else set()
        if not used:
            past.use(number, self.units)
        missing = units - valid
        if counts and line:
            self.count_partial(number, len(missing & (line.written | line.dirty)), row)
        self.age(past, number, units)
        self.give(number, self.group(missing) - valid, row)

    def age(self, past, number, units):
        """A sector is used; so is what comes with it, unless the sector is nearer."""
        far = {unit: float("inf") if (number, unit) not in past.given or (number, unit) in past.dropped else past.since.get((number, unit), 0)
               for unit in range(self.units)}
        nearer = {other for unit in units for other in self.group({unit}) if far[unit] >= far[other] or far[other] == float("inf")}
        for unit in units | nearer:
            past.since[number, unit] = 0

    def count_partial(self, number, sectors, row):
        key = row.get("sm", 0) if self.config["scope"] == "private" else 0
        site = self.writers.get((key, number), self.site)
        if sectors:
            self.sites[site]["partial_reads"] += sectors

    def store(self, piece, row):
        past, line, config = self.past(row), self.line(piece.number, row), self.config
        if config["write"] == "evict":
            past.dropped |= {key for key in past.given if key[0] == piece.number}
            return
        back, valid = config["write"] == "back", line.valid if line else set()
        whole = piece.used if config["partial"] == "keep" or back and config["partial"] == "fetch" else piece.full
        if config["allocate"] == "yes":
            past.use(piece.number, self.units)
        for unit in whole:
            past.since[piece.number, unit] = 0
        if line is None and config["allocate"] == "no":
            return
        parts = piece.used - piece.full - valid
        if parts:
            self.writers[row.get("sm", 0) if config["scope"] == "private" else 0, piece.number] = self.site
        brought = set(whole)
        if parts and back and config["partial"] == "fetch":
            brought |= self.group(parts)
            self.count_partial(piece.number, len(parts), row)
        self.give(piece.number, brought - valid, row)

    # Counters

    def counters(self):
        found = {}
        if self.full:
            total = empty(self.config)
            for site in self.sites.values():
                for name, value in site.items():
                    if name != "distance":
                        total[name] += value
                total["distance"] += [0] * (len(site["distance"]) - len(total["distance"]))
                for place, value in enumerate(site["distance"]):
                    total["distance"][place] += value
            found.update(total)
        if self.config["by"] == "site":
            for site, served in self.served.items():
                counts = {name: value for name, value in served.items() if name != "sent_writes" or self.config["write"] != "back"}
                counts.update(self.sites[site] if self.full else {})
                found.update({f"{site[0]:#x} {site[1]}.{name}": value for name, value in counts.items()})
        return found
