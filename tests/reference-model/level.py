# SPDX-License-Identifier: MIT
"""A functional cache level (gcache(1), What happens)."""

import stream
from causes import Notes
from tags import NEVER, Line, Tags

REQUEST = ["block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm"]
CAUSE = ["block", "warp", "an", "pc", "step", "sm"]
COUNTERS = ["requests", "reads", "read_hits", "writes", "write_hits", "atomics", "atomic_hits", "line_misses",
            "sector_misses", "evictions", "dropped", "sent_requests", "sent_reads", "sent_writes", "sent_atomics",
            "flushed", "bypassed"]
BYPASSED = {"load": "bypassed_reads", "store": "bypassed_writes"}
PLACES = ["prefetches", "prefetch_hits", "discards", "discarded", "sent_prefetches", "sent_discards"]


FOUND = 1 << 59 # where sectors are that a kernel finds dirty


def spread_of(config):
    """--spread as numbers by name."""
    return {name: int(cycles) for name, _, cycles in (item.partition(":") for item in config.get("spread", "none").split(",")) if cycles}


def has_halves(config):
    return "far" in spread_of(config)


def mixed(seed, n):
    """SplitMix64's first output for generator n of a seed."""
    z = (seed ^ n * 0xD1342543DE82EF95 % (1 << 64)) + 0x9E3779B97F4A7C15 & (1 << 64) - 1
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % (1 << 64)
    z = (z ^ z >> 27) * 0x94D049BB133111EB % (1 << 64)
    return z ^ z >> 31


def place_cycles(config, sm, line):
    """By how much the SM is farther from the line than the mean."""
    spread, slices = spread_of(config), config["slices"]
    of_sm, of_slice = spread.get("sm", 0), spread.get("slice", 0)
    turned = (sm * 0x9E3779B9 + 0x80000000) % (1 << 32)
    return ((of_sm + 1) // 2 - (turned * (of_sm + 1) >> 32)
            + of_slice // 2 - mixed(1, sm * slices + mixed(0, line) % slices) % (of_slice + 1))


def way(config, sm, line):
    """By how much longer a request of the SM is on its way to the line than from the nearest place: half of what it takes more."""
    spread = spread_of(config)
    of_sm, of_slice = spread.get("sm", 0), spread.get("slice", 0)
    return (place_cycles(config, sm, line) + of_sm // 2 + of_slice - of_slice // 2) // 2


def side_of(config, sm):
    """The half of an SM: quarters of the SMs take turns; if their number is not known, SMs do."""
    return sm * 4 // config["sms"] % 2 if config["sms"] else sm % 2


def home_of(number):
    """The half that is a line's home: the XOR of all bits of the number of its 4 KB."""
    return count_of(number // 32) % 2


class Piece:
    """What a request has of one line: M and F of the manual."""

    def __init__(self, number):
        self.number = number
        self.used = set()
        self.full = set()


def pieces(row, config):
    """By rising address. A sector of the level is in F if the store writes all its sectors of 32 bytes."""
    if config["tlb"]:
        piece = Piece(row["address"] // config["line"])
        piece.used = {0}
        return [piece]
    found = {}
    written = {}
    for sector in stream.bits(row["sectors"]):
        number, offset = divmod(row["address"] + stream.SECTOR * sector, config["line"])
        unit = offset // config["sector"]
        found.setdefault(number, Piece(number)).used.add(unit)
        if row["full"] >> sector & 1:
            written[number, unit] = written.get((number, unit), 0) + stream.SECTOR
    for (number, unit), size in written.items():
        if size == config["sector"]:
            found[number].full.add(unit)
    return [found[number] for number in sorted(found)]


def chunks(number, units, config):
    """Sectors of a line of the level as pairs of a line of 128 bytes and a mask of sectors of 32, by rising address."""
    masks = {}
    for unit in sorted(units):
        first = number * config["line"] + unit * config["sector"]
        for address in range(first, first + config["sector"], stream.SECTOR):
            line = address // stream.LINE * stream.LINE
            masks[line] = masks.get(line, 0) | 1 << (address - line) // stream.SECTOR
    return sorted(masks.items())


def count_of(mask):
    return bin(mask).count("1")


def hint_parts(row):
    return row.get("hint", "none").split(",")


def hinted(row, prefix):
    """The part of the hint for L1 or L2 without its prefix: a priority, no_allocate, or None."""
    names = ["evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"]
    return next((name for name in names if f"{prefix}::{name}" in hint_parts(row)), None)


def beside(config):
    """The cache of constants of an SM or a GPC: its lines are fetched whole."""
    size, ways, line = (int(part[:-1]) * 1024 if part.endswith("K") else int(part) for part in config["constant"].split(","))
    sets = size // ways // line
    kept = {key: item for key, item in config.items() if key != "order"}
    return {**kept, "size": size, "line": line, "sector": stream.SECTOR, "fetch": line, "sets": sets, "set_ways": [ways] * sets,
            "index": "mod", "interleave": "set", "replace": "lru", "bypass": "none", "operators": "no", "hints": "ignore",
            "scope": "private", "spread": "none", "coalescer": "none", "found_dirty": 0, "write": "through", "dirty_ways": "all", "by": "none", "causes": False, "constant": "none"}


class Level:
    """One level during one kernel; instances {SM: Tags} stay from kernel to kernel."""

    def __init__(self, config, launch, instances):
        self.config = config
        self.fields = launch.fields
        self.instances = instances
        self.reached = set(instances) if config["flush"] == "never" else set() # that had a request since they were last empty
        self.counts = dict.fromkeys(COUNTERS, 0)
        self.bypassed = dict.fromkeys(BYPASSED.values(), 0)
        self.places = dict.fromkeys(PLACES, 0)
        self.by_pc = {}
        self.halves = {"far_reads": 0, "far_hits": 0, "far_neighbours": 0, "far_writes": 0, "far_atomics": 0, "far_reductions": 0, "dropped_copies": 0, "half_reads": [0, 0], "half_hits": [0, 0]}
        self.launch = {"launch_reads": 0, "launch_hits": 0}
        self.found = {"found_dirty": 0, "found_writes": 0}
        self.neighbours = self.pair_misses = self.left_dirty = self.cleaned = 0
        self.constants = {"constant_reads": 0, "constant_hits": 0}
        self.gpc_constants = {"gpc_constant_reads": 0, "gpc_constant_hits": 0}
        self.beside = Level(beside(config), launch, instances.constants) if config["constant"] != "none" else None
        self.combined = {"combined_requests": 0, "combined_writes": 0}
        self.queues = {}
        self.coalesced = {"coalesced_requests": 0, "coalesced_reads": 0}
        self.asked = {}
        self.open = None
        self.unsent = False
        self.sent = []
        self.row = {"block": 0, "warp": 0, "an": 0, "pc": 0}
        self.notes = Notes(self, launch) if config["by"] == "site" or config["causes"] else None
        self.future = launch.rows if config["replace"] == "opt" else None
        self.now = -1

    # What is sent

    def send(self, row):
        """A request for the next level."""
        self.sent.append(row)
        self.counts["sent_requests"] += 1
        size = count_of(row["sectors"])
        what = stream.kind(row)
        if what == "prefetch":
            self.places["sent_prefetches"] += size
        elif what in ("discard", "applypriority"):
            self.places["sent_discards"] += size
        else:
            self.counts[{"load": "sent_reads", "store": "sent_writes"}.get(what, "sent_atomics")] += size

    def pass_on(self, row):
        """Unchanged, but for the sectors of stores that wait already."""
        sent = {key: item for key, item in row.items() if key in REQUEST or key == "hint"}
        if self.config["combine"] == "none" or stream.kind(row) != "store":
            return self.send(sent)
        left = self.combine(row)
        self.combined["combined_writes"] += count_of(row["sectors"] & ~left)
        if left:
            return self.send({**sent, "sectors": left, "full": row["full"] & left})
        self.combined["combined_requests"] += 1

    def combine(self, row):
        """The sectors that are sent."""
        room, wait = map(int, self.config["combine"].split(","))
        queue = self.queues.setdefault(row.get("sm", 0), {"waiting": [], "next": 0, "crossbar": 0})
        waiting = queue["waiting"]

        def leave(cycle):
            queue["crossbar"] = cycle + 1 + count_of(waiting.pop(0)["sectors"])

        def earliest():
            return max(waiting[0]["since"] + wait, queue["crossbar"])
        now = max(row.get("step", 0), queue["next"])
        while waiting and max(earliest(), queue["next"]) < now:
            leave(max(earliest(), queue["next"]))
        queue["next"] = now + 1
        same = next((one for one in waiting if one["address"] == row["address"]), {"sectors": 0, "full": 0})
        left = row["sectors"] & ~same["sectors"] | row["sectors"] & row["full"] & ~same["full"]
        if "address" in same:
            same["sectors"] |= left
            same["full"] |= row["full"] & left
        elif left:
            if len(waiting) == room:
                leave(earliest())
            waiting.append({"address": row["address"], "since": now, "sectors": left, "full": row["full"] & left})
        return left

    # Loads that are served with others

    def gpc(self, sm):
        if self.config["gpc_sms"]:
            counts = self.config["gpc_sms"]
            return next(n for n in range(len(counts)) if sm < sum(counts[:n + 1]) or n == len(counts) - 1)
        pairs = (self.config["sms"] + 1) // 2
        return sm // 2 % pairs * self.config["gpcs"] // pairs if pairs else 0

    def is_coalesced(self, row):
        """A load that is served with an earlier one, which is then not looked up."""
        self.open = None
        if self.config["coalescer"] == "none" or "step" not in row or stream.kind(row) != "load" or self.constants_of(row) or self.bypasses(row):
            return False
        key = row["address"], self.gpc(row["sm"]), row["sectors"]
        asked = self.asked.get(key)
        if asked and row["step"] <= asked["until"] and asked["n"] < int(self.config["coalescer"].split(",")[0]):
            asked["n"] += 1
            self.coalesced["coalesced_requests"] += 1
            self.coalesced["coalesced_reads"] += count_of(row["sectors"])
            return True
        self.open = self.asked[key] = {"until": row["step"], "n": 1}
        self.before = self.counts["line_misses"] + self.counts["sector_misses"], self.halves["far_reads"]
        return False

    def keep_open(self, row):
        if not self.open or self.config["arrival"] != "travel":
            return
        hit, miss = (int(self.config[name].split(",")[0]) if self.config.get(name) else None for name in ("hit_cycles", "miss_cycles"))
        self.open["until"] += int(self.config["coalescer"].split(",")[1])
        if self.halves["far_reads"] > self.before[1]:
            self.open["until"] += spread_of(self.config)["far"]
        if self.counts["line_misses"] + self.counts["sector_misses"] > self.before[0] and hit is not None and miss is not None:
            self.open["until"] += max(0, miss - hit)

    def send_read(self, number, units):
        if self.unsent:
            return
        for address, mask in chunks(number, units, self.config):
            row = {key: self.row[key] for key in CAUSE if key in self.row}
            row.update(address=address, sectors=mask, full=0, op="load." + stream.space(self.row), lanes=0)
            if stream.kind(self.row) in ("load", "prefetch"):
                row.update(op=self.row["op"], lanes=self.row["lanes"])
            if "hint" in self.row:
                row["hint"] = self.row["hint"]
            self.send(row)

    def write_back(self, line):
        """The dirty sectors, of which those are not full that are not valid."""
        if line.number * self.config["line"] >= FOUND:
            self.found["found_writes"] += len(line.dirty) * self.config["sector"] // stream.SECTOR
        full = dict(chunks(line.number, line.dirty & line.valid, self.config))
        for address, mask in chunks(line.number, line.dirty, self.config):
            row = {key: self.row[key] for key in CAUSE if key in self.row}
            row.update(address=address, sectors=mask, full=full.get(address, 0), op="store.global", lanes=0)
            self.send(row)
        line.dirty = set()

    # Lines

    def tags(self, row, number=0):
        """The instance that serves a line: that of the SM, the only one, or the half that is the line's home."""
        if has_halves(self.config):
            return self.instance(home_of(number))
        return self.instance(row.get("sm", 0) if self.config["scope"] == "private" else 0)

    def instance(self, key):
        self.reached.add(key)
        if key not in self.instances:
            self.instances[key] = Tags(self.config)
        return self.instances[key]

    def priority(self, row):
        """What the request asks for its line, or None, and whether a window asks it."""
        if self.config["hints"] == "ignore" or self.config["tlb"] or self.constants_of(row):
            return None, False
        if self.config["scope"] == "private":
            return hinted(row, "L1"), False
        asked = hinted(row, "L2")
        return (asked, False) if asked else (self.window(row), True)

    def window(self, row):
        if "l2_window" not in self.fields:
            return None
        base, size, ratio, hit, miss = self.fields["l2_window"].split(",")
        if not int(base, 0) - stream.LINE < row["address"] < int(base, 0) + int(size, 0):
            return None
        names = {"persisting": "evict_last", "streaming": "evict_first", "normal": "evict_normal"}
        return names[hit if int(ratio) else miss]

    def streams(self, row):
        """Whether a line that the request uses becomes the least recently used."""
        if self.config["operators"] == "no" or self.config["replace"] not in ("lru", "tail:1") or stream.kind(row) != "load":
            return False
        if self.config["tlb"]:
            return False
        shared = ["cs", "lu", "cv"] if self.config["scope"] == "shared" else ["cs", "lu"]
        return stream.operator(row) in shared

    def take(self, where, number):
        """A way for a line that is absent: the replaced line is written back."""
        way = where.free_way()
        if way is None:
            way = where.victim()
            self.counts["evictions"] += 1
            self.write_back(where.ways[way])
            where.remove(way)
        where.put(way, Line(number))
        return way

    def used(self, where, way, new, row):
        """The line was used: it has its place in the order."""
        asked, _ = self.priority(row)
        line = where.ways[way]
        if not new and asked != "evict_unchanged":
            where.use(way)
        if self.future:
            line.next_use = self.next_use(line.number, row)
        if self.streams(row):
            where.demote(way)

    def prioritize(self, row):
        """The lines of the request that are present take its priority."""
        asked, by_window = self.priority(row)
        if asked not in ("evict_first", "evict_normal", "evict_last"):
            return
        for piece in pieces(row, self.config):
            where, way = self.tags(row, piece.number).at(piece.number)
            if way is not None:
                where.ways[way].priority = asked
                if by_window and asked == "evict_last":
                    self.limit(where)

    def next_use(self, number, row):
        """The request, and its line, in which this instance uses the line again, if it is not invalidated before."""
        for place in range(self.now + 1, len(self.future)):
            other = self.future[place]
            if self.constants_of(other) == "beside":
                continue
            same = self.config["scope"] == "shared" or other.get("sm") == row.get("sm")
            lines = [piece.number for piece in pieces(other, self.config)]
            if same and self.leaves(other) and number in lines:
                return (NEVER,)
            if same and not self.bypasses(other) and number in lines:
                what = stream.kind(other)
                if what in ("applypriority", "discard", "prefetch"):
                    if self.config["tlb"] and what == "prefetch":
                        return place, 0
                    if self.config["tlb"] or self.config["hints"] == "ignore" or what == "applypriority":
                        continue
                    return (place, lines.index(number)) if what == "prefetch" else (NEVER,)
                if what == "load" or self.config["tlb"] or self.config["write"] == "back" and what != "store":
                    return place, lines.index(number)
                if what != "store" or self.config["write"] == "evict":
                    return (NEVER,)
                if self.config["allocate"] == "yes":
                    return place, lines.index(number)
        return (NEVER,)

    def limit(self, where):
        """The evict_last lines of the set that were used last have the ways set aside."""
        room = -(-len(where.ways) * self.fields.get("l2_persisting_bytes", 0) // self.config["size"])
        for line in [line for line in where.lines() if line.priority == "evict_last"][room:]:
            line.priority = "evict_normal"

    # Lookups

    def miss(self, present, missing):
        self.counts["sector_misses" if present else "line_misses"] += len(missing)

    def fetched(self, missing, spared):
        """The missing sectors and their aligned groups, without those that are spared."""
        wanted = self.groups(missing) - spared
        self.neighbours += len(wanted - missing)
        return wanted

    def groups(self, units):
        group = max(1, min(self.config["line"], max(self.config["fetch"], self.size_hint())) // self.config["sector"])
        return {unit // group * group + n for unit in units for n in range(group)}

    def size_hint(self):
        """The bytes that the request asks a shared level to bring in."""
        if self.config["scope"] == "private" or self.config["hints"] == "ignore":
            return 0
        return max([int(part[4:-1]) for part in hint_parts(self.row) if part.startswith("L2::") and part.endswith("B")], default=0)

    def asks(self, row, address, size):
        """Whether the request asks for a sector of these aligned bytes."""
        return any((row["address"] + stream.SECTOR * sector) // size == address // size for sector in stream.bits(row["sectors"]))

    def others(self, row):
        """If a sector of the request missed: other lines among the aligned bytes of the hint's size around its sectors come in."""
        line, size = self.config["line"], self.size_hint()
        if size <= max(line, self.config["fetch"]):
            return
        first = row["address"] // 256 * 256
        for address in range(first, first + 256, line):
            if self.asks(row, address, size) and not self.asks(row, address, line):
                self.bring(address // line, row)

    def bring(self, number, row):
        where, way = self.tags(row, number).at(number)
        new = way is None
        if new:
            way = self.take(where, number)
        wanted = set(range(self.config["line"] // self.config["sector"])) - where.ways[way].valid
        self.neighbours += len(wanted)
        self.send_read(number, wanted)
        where.ways[way].valid |= wanted
        if not new:
            where.use(way)

    def read(self, piece, row, name):
        """A load, an atomic or a prefetch; returns its line."""
        where, way = self.tags(row, piece.number).at(piece.number)
        line = where.ways[way] if way is not None else None
        valid = line.valid if line else set()
        missing = piece.used - valid
        if name == "reads" and hasattr(self, "looks"):
            self.looks.missed.setdefault(piece.number, set()).update(missing)
        self.count(name, piece.used, piece.used - missing)
        if name != "prefetches":
            self.miss(line is not None, missing)
        keeps = self.priority(row)[0] != "no_allocate"
        new = line is None and keeps
        if new:
            way = self.take(where, piece.number)
            line = where.ways[way]
        if missing:
            wanted = self.fetched(missing, valid) if keeps else missing
            self.send_read(piece.number, wanted)
            if keeps:
                line.valid |= wanted
        if line:
            self.used(where, way, new, row)
        self.hit &= not missing
        return where, line

    def count(self, name, units, hits):
        single = {"reads": "read_hits", "writes": "write_hits", "atomics": "atomic_hits", "prefetches": "prefetch_hits"}
        counts = self.places if name == "prefetches" else self.counts
        counts[name] += len(units)
        counts[single[name]] += len(hits)
        if name == "reads":
            self.pair_misses += sum(unit ^ 1 in hits for unit in units - hits)
            counts = self.by_pc.setdefault(self.row["pc"], [0, 0])
            counts[0] += len(units)
            counts[1] += len(hits)

    def constants_of(self, row):
        """Who serves a load of constant memory: the cache beside the level, or of a GPC before it, or the level, which counts it apart; None: as other loads."""
        if stream.kind(row) != "load" or stream.space(row) != "constant" or self.config["tlb"]:
            return None
        if self.config["scope"] == "private":
            return "beside" if self.beside or self.config.get("ignores_constants") else None
        if self.beside or self.config.get("ignores_constants"):
            return "before"
        return None if self.bypasses(row) else "apart"

    def read_beside(self, row):
        if not self.beside:
            return "none"
        sent = len(self.beside.sent)
        before = dict(self.beside.counts)
        status = self.beside.serve_row(row)
        for name, mine in (("constant_reads", "reads"), ("constant_hits", "read_hits")):
            self.constants[name] += self.beside.counts[mine] - before[mine]
        for one in self.beside.sent[sent:]:
            self.send(one)
        return status

    def read_before(self, row):
        """The cache of the GPC; the level serves what that lacks, and passes it on if it passes loads on."""
        if not self.beside:
            return
        sent, before = len(self.beside.sent), dict(self.beside.counts)
        self.beside.serve_row({**row, "sm": self.gpc(row["sm"])} if "sm" in row else row)
        self.gpc_constants["gpc_constant_reads"] += self.beside.counts["reads"] - before["reads"]
        self.gpc_constants["gpc_constant_hits"] += self.beside.counts["read_hits"] - before["read_hits"]
        for one in self.beside.sent[sent:]:
            self.row = {**one, "sm": row["sm"]} if "sm" in row else one
            if self.bypasses(self.row):
                self.counts["bypassed"] += count_of(one["sectors"])
                self.bypassed["bypassed_reads"] += count_of(one["sectors"])
                self.pass_on(self.row)
            else:
                self.read_apart(self.row)

    def read_apart(self, row):
        """It is sent, and counts in two counters of its own."""
        counts, by_pc, neighbours = dict(self.counts), {pc: list(pair) for pc, pair in self.by_pc.items()}, self.neighbours
        pair_misses = self.pair_misses
        halves = {name: list(n) if isinstance(n, list) else n for name, n in self.halves.items()}
        for piece in pieces(row, self.config):
            if self.notes:
                self.notes.look(piece, row, counts=False)
            self.read_line(piece, row)
        self.constants["constant_reads"] += self.counts["reads"] - counts["reads"]
        self.constants["constant_hits"] += self.counts["read_hits"] - counts["read_hits"]
        for name in ("reads", "read_hits", "line_misses", "sector_misses"):
            self.counts[name] = counts[name]
        self.by_pc, self.neighbours, self.halves, self.pair_misses = by_pc, neighbours, halves, pair_misses
        return "hit" if self.hit else "miss"

    def read_launch(self, row):
        """A sector that the launch itself reads: it counts as a lookup and as sent, and as nothing else."""
        counts, by_pc, neighbours = dict(self.counts), {pc: list(pair) for pc, pair in self.by_pc.items()}, self.neighbours
        self.row, self.hit = {"pc": 0, **row}, True
        memory = self.config["launch_reads"].split(",")[3:]
        self.unsent = bool(memory) and self.counts["sent_reads"] >= int(memory[0])
        if self.notes:
            self.notes.look(pieces(row, self.config)[0], row, counts=False)
        self.read_line(pieces(row, self.config)[0], row)
        self.unsent = False
        self.launch["launch_reads"] += 1
        self.launch["launch_hits"] += self.hit
        for name in ("reads", "read_hits", "line_misses", "sector_misses"):
            self.counts[name] = counts[name]
        self.by_pc, self.neighbours = by_pc, neighbours
        if self.notes and self.notes.full:
            self.notes.full.read_launch(row)

    def find(self, first):
        """What a profiler has left dirty, whole lines, before the first row. Nothing else tells of these stores than what they evict and send."""
        ways = self.config["set_ways"]
        bound = sum(ways) if self.config["dirty_ways"] == "all" else min(sum(ways), len(ways) * int(self.config["dirty_ways"]))
        most = bound * self.config["line"] // stream.SECTOR * (2 if has_halves(self.config) else 1)
        whole = self.config["line"] // stream.SECTOR
        n = min(-(-self.config["found_dirty"] // whole) * whole, most)
        place = {"block": 0, "warp": 0, "an": 0, "pc": 0}
        if "step" in first:
            place.update(sm=0, step=0 if self.config["arrival"] == "rr" else first["step"])
        kept = ("sent_requests", "sent_reads", "sent_writes", "evictions")
        counts, halves, pair_misses = dict(self.counts), {**self.halves}, self.pair_misses
        for at in range(0, n, 4):
            mask = (1 << min(4, n - at)) - 1
            row = {**place, "address": FOUND + at * stream.SECTOR, "sectors": mask, "full": mask, "op": "store.global", "lanes": 0}
            self.row, self.hit = row, True
            for piece in pieces(row, self.config):
                if self.notes:
                    self.notes.look(piece, row, counts=False)
                self.store_line(piece, row)
        self.counts = {name: self.counts[name] if name in kept else counts[name] for name in counts}
        self.halves, self.pair_misses = halves, pair_misses
        self.found["found_dirty"] = n
        if self.notes and self.notes.full:
            self.notes.full.find(first)

    def read_line(self, piece, row):
        if has_halves(self.config):
            self.read_halves(piece, row)
        else:
            self.read(piece, row, "reads")

    def look(self, half, number, units):
        """A load looks into a half: the sectors that are valid there. A line that is present is used."""
        where, way = self.instance(half).at(number)
        hits = units & where.ways[way].valid if way is not None else set()
        self.halves["half_reads"][half] += len(units)
        self.halves["half_hits"][half] += len(hits)
        return where, way, hits

    def read_halves(self, piece, row):
        """First the half of the SM, then, for what is not there and its groups, the line's home."""
        near, home = side_of(self.config, row.get("sm", 0)), home_of(piece.number)
        where, way, hits = self.look(near, piece.number, piece.used)
        missing, new = piece.used - hits, way is None
        valid = set() if new else set(where.ways[way].valid)
        far_missing = missing
        if near == home:
            self.miss(not new, missing)
        elif missing:
            far_missing = self.read_far(home, piece.number, missing, row)
        self.count("reads", piece.used, piece.used - far_missing)
        self.hit &= not far_missing
        if near == home:
            way = self.take(where, piece.number) if new else way
            line = where.ways[way]
            if missing:
                wanted = self.fetched(missing, line.valid)
                self.send_read(piece.number, wanted)
                line.valid |= wanted
        else:
            asked = self.groups(missing) - valid
            self.halves["far_neighbours"] += len(asked - missing)
            there, at = self.instance(home).at(piece.number)
            copied = asked & there.ways[at].valid if at is not None else set()
            if new and not copied:
                return
            way = self.take(where, piece.number) if new else way
            where.ways[way].valid |= copied
        self.used(where, way, new, row)

    def read_far(self, home, number, units, row):
        """Returns the sectors that were not there and are fetched."""
        where, way, hits = self.look(home, number, units)
        missing = units - hits
        self.halves["far_reads"] += len(units)
        self.halves["far_hits"] += len(hits)
        self.miss(way is not None, missing)
        new = way is None
        if new:
            way = self.take(where, number)
        line = where.ways[way]
        if missing:
            wanted = self.fetched(missing, line.valid)
            self.send_read(number, wanted)
            line.valid |= wanted
        self.used(where, way, new, row)
        return missing

    def note_far(self, piece, row, what):
        """What is no load and comes from an SM of the other half is counted; but for a store of these, it makes the sectors of a copy invalid."""
        if not has_halves(self.config):
            return
        if side_of(self.config, row.get("sm", 0)) != home_of(piece.number):
            self.halves[{"store": "far_writes", "atomic": "far_atomics", "reduction": "far_reductions"}[what]] += len(piece.used)
            if what == "store":
                return
        where, way = self.instance(1 - home_of(piece.number)).at(piece.number)
        if way is not None:
            line = where.ways[way]
            self.halves["dropped_copies"] += len(line.valid & piece.used)
            line.valid -= piece.used
            if not line.valid:
                where.remove(way)

    def atomic_line(self, piece, row):
        """With write back, a read of M that makes M dirty."""
        where, line = self.read(piece, row, "atomics")
        line.dirty |= piece.used
        self.clean(where, line)

    def drop_line(self, piece, row):
        """An atomic that a lower level performs."""
        self.counts["atomics"] += len(piece.used)
        self.leave(piece, row)

    def leave(self, piece, row):
        """The sectors become invalid; those that are dirty are written back."""
        where, way = self.tags(row, piece.number).at(piece.number)
        if way is None:
            return
        line = where.ways[way]
        kept, line.dirty = line.dirty - piece.used, line.dirty & piece.used
        self.write_back(line)
        line.dirty = kept
        self.counts["dropped"] += len(piece.used & line.valid)
        line.valid -= piece.used
        line.written -= piece.used
        if not line.valid | line.dirty:
            where.remove(way)

    def store_line(self, piece, row):
        where, way = self.tags(row, piece.number).at(piece.number)
        line = where.ways[way] if way is not None else None
        there = line.valid | line.written | line.dirty if line else set()
        missing = piece.used - there
        hits = piece.used - missing
        if line and self.config["write_hits"] == "tag":
            missing, hits = set(), piece.used
        self.count("writes", piece.used, hits)
        self.miss(line is not None, missing)
        self.hit &= piece.used <= there
        if self.config["write"] == "evict":
            if line:
                self.counts["dropped"] += len(line.valid)
                where.remove(way)
            return
        new = line is None
        if new and self.config["allocate"] == "yes":
            way = self.take(where, piece.number)
            line = where.ways[way]
        if line is None and self.config["write"] == "back":
            self.send_piece(piece, row)
        elif line is not None:
            self.write(where, line, piece)
            self.used(where, way, new, row)

    def send_piece(self, piece, row):
        """A store that does not allocate its line."""
        full = dict(chunks(piece.number, piece.full, self.config))
        for address, mask in chunks(piece.number, piece.used, self.config):
            if address == row["address"]:
                mask &= row["sectors"]
                self.send({**{key: row[key] for key in REQUEST + ["hint"] if key in row},
                           "sectors": mask, "full": mask & row["full"]})

    def write(self, where, line, piece):
        """F becomes valid, and with write back M dirty."""
        partial = piece.used - piece.full - line.valid
        line.written |= partial
        if self.config["write"] == "through":
            line.valid |= piece.used if self.config["partial"] == "keep" else piece.full
            return
        line.dirty |= piece.used
        line.valid |= piece.full
        self.clean(where, line)
        if self.config["partial"] == "keep":
            line.valid |= partial
        elif self.config["partial"] == "fetch" and partial:
            wanted = self.fetched(partial, line.valid | piece.full)
            self.send_read(piece.number, wanted)
            line.valid |= wanted

    def clean(self, where, line):
        """Of too many dirty lines, the least recently used of the others is written back."""
        if self.config["dirty_ways"] == "all":
            return
        dirty = [other for other in where.lines() if other.dirty]
        if len(dirty) <= int(self.config["dirty_ways"]):
            return
        last = [other for other in dirty if other is not line][-1]
        before = self.counts["sent_writes"]
        self.write_back(last)
        self.cleaned += self.counts["sent_writes"] - before

    # Requests

    def leaves(self, row):
        """Whether a load takes its sectors out of the level that it bypasses."""
        return (self.config["operators"] == "drop" and self.config["scope"] == "private" and not self.config["tlb"] and stream.kind(row) == "load"
                and self.config["bypass"] not in ("reads", "all") and stream.operator(row) in ("cg", "cv", "lu"))

    def bypasses(self, row):
        what = stream.kind(row)
        private = self.config["scope"] == "private"
        if self.config["tlb"]:
            return False
        if self.config["bypass"] == "all" or self.config["bypass"] == "reads" and what in ("load", "prefetch"):
            return True
        if what == "prefetch":
            return private and ("prefetch.L2" in hint_parts(row) or self.config["hints"] != "honour")
        if what in ("discard", "applypriority"):
            return private
        if self.config["bypass"] == "writes" and what != "load":
            return True
        return self.leaves(row) or (private and self.config["operators"] == "yes" and what == "load"
                                    and stream.operator(row) in ("cg", "cv"))

    def serve(self, row):
        """Returns the status."""
        if self.notes:
            self.notes.begin(row)
        status = self.serve_row(row)
        if self.notes:
            self.notes.end(row)
        return status

    def serve_row(self, row):
        self.row = row
        self.now += 1
        self.hit = True
        self.counts["requests"] += 1
        self.tags(row)
        what = stream.kind(row)
        constants = self.constants_of(row)
        if constants == "before":
            self.read_before(row)
            return "none"
        if constants:
            return self.read_beside(row) if constants == "beside" else self.read_apart(row)
        if self.bypasses(row):
            self.counts["bypassed"] += count_of(row["sectors"])
            if what in BYPASSED:
                self.bypassed[BYPASSED[what]] += count_of(row["sectors"])
            for piece in pieces(row, self.config) if self.leaves(row) else []:
                if self.notes:
                    self.notes.look(piece, row)
                self.leave(piece, row)
            self.pass_on(row)
            return "none"
        if self.config["tlb"]:
            return self.translate(row)
        if what == "prefetch":
            self.prefetch(row)
            self.prioritize(row)
            if self.config["hints"] == "ignore":
                return "none"
        elif what in ("discard", "applypriority"):
            self.discard(row, what)
            self.prioritize(row)
            return "none"
        else:
            back = self.config["write"] == "back"
            by = {"load": self.read_line, "store": self.store_line}.get(what, self.atomic_line if back else self.drop_line)
            for piece in pieces(row, self.config):
                if what != "load":
                    self.note_far(piece, row, what)
                if self.notes:
                    self.notes.look(piece, row)
                by(piece, row)
            if what == "load" and not self.hit:
                self.others(row)
            self.prioritize(row)
            if what != "load" and not back:
                self.pass_on(row)
            if what in ("atomic", "reduction") and not back:
                return "none"
        return "hit" if self.hit else "miss"

    def prefetch(self, row):
        for piece in pieces(row, self.config):
            if self.config["hints"] == "ignore":
                self.places["prefetches"] += len(piece.used)
            else:
                self.read(piece, row, "prefetches")

    def discard(self, row, what):
        for piece in pieces(row, self.config):
            self.places["discards"] += len(piece.used)
            where, way = self.tags(row, piece.number).at(piece.number)
            if way is None or self.config["hints"] == "ignore":
                continue
            line = where.ways[way]
            if what == "discard":
                self.places["discarded"] += len(piece.used & line.dirty)
                line.valid -= piece.used
                line.dirty -= piece.used
                line.written -= piece.used
                if not line.valid | line.written:
                    where.remove(way)

    def translate(self, row):
        what = stream.kind(row)
        if what in ("discard", "applypriority"):
            return "none"
        name = {"load": "reads", "prefetch": "reads", "store": "writes"}.get(what, "atomics")
        piece = pieces(row, self.config)[0]
        where, way = self.tags(row, piece.number).at(piece.number)
        first = self.config["first_hits"] and name + "s" and not self.counts["reads"] + self.counts["writes"] + self.counts["atomics"]
        hit = way is not None or first
        self.count(name, {0}, {0} if hit else set())
        if not hit:
            self.counts["line_misses"] += 1
        if way is None:
            way = self.take(where, piece.number)
            where.ways[way].valid = {0}
            self.used(where, way, True, row)
            if not first:
                self.pass_on(row)
        else:
            self.used(where, way, False, row)
        return "hit" if hit else "miss"

    # Kernels

    def warm(self, ranges):
        """The sectors of these addresses and bytes are there when the kernel begins."""
        counts, sent = dict(self.counts), list(self.sent)
        for first, size in ranges:
            lines = {}
            for unit in range(first // self.config["sector"], (first + size - 1) // self.config["sector"] + 1):
                number, inner = divmod(unit, self.config["line"] // self.config["sector"])
                lines.setdefault(number, set()).add(inner)
            for number, units in lines.items():
                if self.notes:
                    self.notes.bring(number, units, {})
                where, way = self.tags({}, number).at(number)
                if way is None:
                    way = self.take(where, number)
                else:
                    where.use(way)
                where.ways[way].valid |= units
        self.counts, self.sent = counts, sent
        if self.notes and self.notes.full:
            self.notes.full.warm(ranges)

    def flush(self, rows):
        """At the end of a kernel; rows are those that it served."""
        if self.config["flush"] == "never":
            return
        if self.beside:
            self.beside.flush([])
        if self.notes and self.notes.full:
            self.notes.pasts.clear()
            self.notes.full.flush(rows)
        for sm in sorted(self.instances):
            for where in self.instances[sm].sets:
                for line in where.lines():
                    self.flush_line(line, rows, sm)
        for tags in self.instances.values():
            tags.sets = Tags(self.config).sets

    def flush_line(self, line, rows, sm):
        if self.config["flush"] == "between" and line.number * self.config["line"] >= FOUND:
            return
        if self.config["flush"] == "between":
            self.left_dirty += len(line.dirty) * self.config["sector"] // stream.SECTOR
            return
        self.row = {"block": 0, "warp": 0, "an": 0, "pc": 0}
        if rows and "sm" in rows[0]:
            self.row.update(sm=sm, step=max(row["step"] for row in rows) + 1)
        before = self.counts["sent_writes"]
        self.write_back(line)
        self.counts["flushed"] += self.counts["sent_writes"] - before
