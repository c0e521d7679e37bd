# SPDX-License-Identifier: MIT
"""gpchase infer: what it calls sure of caches that are simulated here, with noise, and with policies that gpchase does not know.

tests/infer_random.py does so with gcache's own caches, all of whose latencies are exact. Here a cache is some lists; its latencies vary,
some are outliers, and something else takes lines out of it now and then, as on a GPU whose other parts are at work."""

import copy
import os
import re
import sys

import stream
from stream import some
from tools import put, through

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import infer_random as known  # noqa: E402  the set of a line, and how sizes and unequal sets are written

TURNS = 6
ACCESSES = 60000
FOREIGN = ["nru", "mru", "second", "middle"]
POLICIES = ["lru", "lru", "fifo", "plru", "srrip", "random", *FOREIGN]
LINES_LEAST = 8  # with two or three, chance and noise may look like anything
ALIKE = 8  # contradictions that a policy must have more than another to be told from it


class Cache:
    """Each set is a list of ways; a way is None or a line, with the sectors that are there and what the policy knows of it."""

    def __init__(self, case, rng):
        self.case, self.rng = case, rng
        self.sets = [[None] * case.ways for _ in range(case.sets)]
        self.tree = [0] * case.sets
        self.hand = [0] * case.sets
        self.clock = 0

    def access(self, address):
        """Whether a sector is there; it is afterwards."""
        case, rng = self.case, self.rng
        self.clock += 1
        if case.evict and rng.random() < case.evict:
            ways = rng.choice(self.sets)
            ways[rng.randrange(len(ways))] = None
        number = address // case.line
        place = known.set_of(case.index, case.sets, case.line, number)
        ways, sector = self.sets[place], address % case.line // case.sector
        way = next((way for way, item in enumerate(ways) if item and item["line"] == number), None)
        if way is None:
            way = next((way for way, item in enumerate(ways) if item is None), None)
            if way is None:
                way = self.victim(place)
            ways[way] = {"line": number, "sectors": {sector}, "used": self.clock, "came": self.clock, "again": False, "rrpv": 2}
            self.touch(place, way, True)
            return False
        hit = sector in ways[way]["sectors"]
        ways[way]["sectors"].add(sector)
        ways[way].update(used=self.clock, again=True, rrpv=0)
        self.touch(place, way, False)
        return hit

    def touch(self, place, way, fresh):
        """The bits of a tree of ways point away from the one that was used; NRU keeps one way unused."""
        ways, low, high, node = self.sets[place], 0, len(self.sets[place]), 1
        while self.case.policy == "plru" and high - low > 1:
            middle = (low + high) // 2
            right = way >= middle
            self.tree[place] = self.tree[place] & ~(1 << node) | (not right) << node
            low, high, node = (middle, high, 2 * node + 1) if right else (low, middle, 2 * node)
        if self.case.policy == "nru":
            ways[way]["again"] = True
            if all(item and item["again"] for item in ways):
                for other, item in enumerate(ways):
                    item["again"] = other == way

    def victim(self, place):
        ways, policy = self.sets[place], self.case.policy
        if policy == "lru":
            return min(range(len(ways)), key=lambda way: ways[way]["used"])
        if policy == "mru":
            return max(range(len(ways)), key=lambda way: ways[way]["used"])
        if policy == "middle":
            return sorted(range(len(ways)), key=lambda way: ways[way]["used"])[len(ways) // 2]
        if policy == "fifo":
            return min(range(len(ways)), key=lambda way: ways[way]["came"])
        if policy == "random":
            return self.rng.randrange(len(ways))
        if policy == "nru":
            return next(way for way, item in enumerate(ways) if not item["again"] or len(ways) == 1)
        if policy == "second":
            return self.second_chance(place)
        if policy == "srrip":
            while all(item["rrpv"] < 3 for item in ways):
                for item in ways:
                    item["rrpv"] += 1
            return next(way for way, item in enumerate(ways) if item["rrpv"] == 3)
        return self.by_tree(place, len(ways))

    def second_chance(self, place):
        ways = self.sets[place]
        while ways[self.hand[place]]["again"]:
            ways[self.hand[place]]["again"] = False
            self.hand[place] = (self.hand[place] + 1) % len(ways)
        way = self.hand[place]
        self.hand[place] = (way + 1) % len(ways)
        return way

    def by_tree(self, place, count):
        low, high, node = 0, count, 1
        while high - low > 1:
            middle = (low + high) // 2
            right = self.tree[place] >> node & 1
            low, high, node = (middle, high, 2 * node + 1) if right else (low, middle, 2 * node)
        return low


def draw(random):
    case = stream.Case(stream.Stream(), [["gpchase", "infer", "..."]], {})
    case.policy = random.choice(POLICIES)
    case.line = random.choice([32, 64, 128])
    case.sector = random.choice([size for size in (32, 64, 128) if size <= case.line])
    case.ways = random.choice([2, 4, 8]) if case.policy == "plru" else random.choice([1, 2, 3, 4, 6, 8])
    case.index = random.choice(["mod", "mod", "mod", "xor", "smod:1", "hash"])
    case.sets = random.choice([1, 2, 4, 8])
    while case.sets * case.ways * case.line > 2048:
        case.sets, case.ways = (case.sets // 2, case.ways) if case.sets > 1 else (1, case.ways // 2)
    while case.sets * case.ways < LINES_LEAST:
        case.sets *= 2
    case.jitter = random.choice([0, 0, 2, 4])
    case.outliers = random.choice([0, 0, 0.001, 0.01])
    case.evict = random.choice([0, 0, 0, 0.001]) if case.policy != "fifo" else 0  # gpchase(1), Caveats
    case.wrong = random.choice([0, 0, 0, 0.0005, 0.002]) if case.evict == 0 else 0
    case.hit, case.miss = random.choice([(100, 200), (32, 190), (116, 404)])
    case.seed = random.randrange(1 << 30)
    case.says = f"{case.policy} {case.sets} sets of {case.ways} ways, lines of {case.line}, sectors of {case.sector}, {case.index}; " \
                f"jitter {case.jitter}, outliers {case.outliers}, evictions {case.evict}, wrong {case.wrong}"
    return case


def latency(case, rng, hit):
    if case.outliers and rng.random() < case.outliers:
        return rng.randrange(20, 3000)
    if case.wrong and rng.random() < case.wrong:
        hit = not hit
    return (case.hit if hit else case.miss) + (rng.randint(-case.jitter, case.jitter) if case.jitter else 0)


def chase(case, arguments, path, rng, folder):
    """Writes the series of a chase; each run begins with an empty cache, as each kernel does. Returns its accesses."""
    text = through(["gtrace-cat"], through(["gpchase", "trace", "--base", "0", *arguments], b"", folder), folder).decode()
    sizes, rows, last, cache = {}, [], None, None
    for line in text.splitlines():
        cells = line.split("\t")
        if cells[0] == "#kernel":
            fields = stream.pairs(cells[1:])
            sizes[fields["id"]] = re.search(r"N=(\d+)", fields["name"])[1]
        if line.startswith("#"):
            continue
        if cells[-1] != last:
            cache, last = Cache(case, rng), cells[-1]
            case.runs.append([])
            rows.append("N\toffset\tlatency")
        address = int(cells[7], 0)
        case.runs[-1].append(address)
        rows.append(f"{sizes[last]}\t{address}\t{latency(case, rng, cache.access(address))}")
    put(folder, {path: "\n".join(rows) + "\n"})
    return len(rows)


def looks_alike(case, name):
    """Whether the chases that were made give the same hits and misses with that policy, all but a few."""
    differ = 0
    for run in case.runs:
        caches = []
        for policy in (case.policy, name):
            plain = copy.copy(case)
            plain.policy, plain.evict = policy, 0
            caches.append(Cache(plain, None))
        differ += sum(caches[0].access(address) != caches[1].access(address) for address in run)
    return differ < ALIKE


def same_policy(case, name):
    """None: it depends on the chases that were made."""
    if case.ways == 1 or name == case.policy:
        return True
    if case.ways == 2 and {case.policy, name} <= {"lru", "plru", "nru"}:
        return True
    if case.ways == 2 and {case.policy, name} <= {"fifo", "second"}:
        return True
    if case.policy in FOREIGN and name in ("lru", "fifo", "srrip", "plru"):
        return None
    return case.policy == "random" and name.startswith("weighted")


def same_index(case, text, note, sets):
    """Whether lines share a set where they do in the cache, over the address bits that were seen; of as many sets as were inferred."""
    seen = re.search(r"address bits (\d+) to (\d+)", note)
    lines = min(1 << 1 + int(seen[2]) - known.log2(case.line), 1 << 12)
    sets = sets if text.partition(":")[0] != "bits" else 1 << text.count(",") + 1
    there, back = {}, {}
    for number in range(lines):
        ours, theirs = known.set_of(case.index, case.sets, case.line, number), known.set_of(text, sets, case.line, number)
        if there.setdefault(ours, theirs) != theirs or back.setdefault(theirs, ours) != ours:
            return False
    return True


def wrong_values(case, text):
    wrong = []
    said = dict(re.findall(r"^l1\.(\w+) = (\S+) #", text, re.M))
    sets = known.size(said["size"]) // known.size(said["line"]) // int(said["ways"]) if {"size", "line", "ways"} <= said.keys() else case.sets
    for key, value, note in re.findall(r"^l1\.(\w+) = (\S+) # measured: (.*)$", text, re.M):
        right = {"size": lambda: known.size(value) == case.sets * case.ways * case.line, "line": lambda: known.size(value) == case.line,
                 "sector": lambda: known.size(value) == case.sector, "ways": lambda: int(value) == case.ways, "sets": lambda: False,
                 "index": lambda: same_index(case, value, note, sets), "replace": lambda: same_policy(case, value) or same_policy(case, value) is None and looks_alike(case, value)}[key]()
        if not right:
            wrong.append(f"{key} = {value} # {note}")
    for excluded in re.findall(r"^# undetermined: the replacement policy.*?; (?:it is )?not ([^:;,\n]*(?:, [^:;,\n]*)*)", text, re.M):
        wrong += ["not " + name for name in re.split(r", | or | nor ", excluded) if same_policy(case, name.lower())]
    return wrong


def check(case, folder):
    """Follows the advice as far as it leads, and looks at what is sure after each turn."""
    import random  # the case's own, since how many numbers are drawn depends on the advice
    rng = random.Random(case.seed)
    paths, given = [], set()
    case.runs = []
    wanted = [("-N 256..4K:256 -s 16", 1)]
    made = 0
    for _ in range(TURNS):
        for arguments, times in wanted:
            given.add(arguments)
            for _ in range(times):
                paths.append(f"series{len(paths)}")
                made += chase(case, arguments.split(), paths[-1], rng, folder)
        text = through(["gpchase", "infer", *paths], b"", folder).decode()
        wrong = wrong_values(case, text)
        if wrong:
            case.commands[0][2:] = sorted(given)
            return f"{case.says}: sure and wrong: {'; '.join(wrong)}"
        advised = re.findall(r"^# undetermined: .*: gpchase trace (.*?)(?:, (\d+) times .*)? would settle it$", text, re.M)
        wanted = [(arguments, min(int(times or 1), 3)) for arguments, times in advised if arguments not in given]
        if not wanted or made > ACCESSES:
            break
    return None
