# SPDX-License-Identifier: MIT
"""The lines of one instance of a cache level: index functions, interleaving, replacement (gcache(1), Shape)."""

import math

WORD = (1 << 64) - 1
FERMI = [13, 14, 15, 17, 19]
PRIORITIES = {"evict_first": 0, "evict_normal": 1, "evict_last": 2}
NEVER = math.inf


def rotated(word, places):
    return (word << places | word >> (64 - places)) & WORD


def xxh3(number):
    """XXH3 (64 bits, seed 0) of 8 bytes, little-endian, after the specification of xxHash: the input of 4 to 8 bytes."""
    secret = bytes.fromhex("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db")
    keyed = rotated(number, 32) ^ int.from_bytes(secret[8:16], "little") ^ int.from_bytes(secret[16:24], "little")
    word = keyed ^ rotated(keyed, 49) ^ rotated(keyed, 24)
    word = word * 0x9FB21C651E98DF25 & WORD
    word ^= (word >> 35) + 8
    word = word * 0x9FB21C651E98DF25 & WORD
    return word ^ word >> 28


def prime_at_most(number):
    return next(n for n in range(number, 1, -1) if all(n % d for d in range(2, n)))


def bits_of(sets):
    return sets.bit_length() - 1


def slices(number, bits):
    """The XOR of all slices of that many bits."""
    result = 0
    while bits and number:
        result ^= number % (1 << bits)
        number >>= bits
    return result


def remainder(number, polynomial):
    """Of polynomials over GF(2)."""
    while number.bit_length() >= polynomial.bit_length():
        number ^= polynomial << (number.bit_length() - polynomial.bit_length())
    return number


def irreducible(degree):
    """The smallest irreducible polynomial of a degree."""
    for polynomial in range(1 << degree, 2 << degree):
        if all(remainder(polynomial, divisor) for divisor in range(2, 1 << degree)):
            return polynomial
    return None


def expression(text, address):
    return sum(all(address >> int(bit) & 1 for bit in part.split("&")) for part in text.split("^")) % 2


def index(function, number, line, sets):
    """The set of a line number."""
    name, _, rest = function.partition(":")
    if name == "mod":
        return number % sets
    if name == "smod":
        return (number >> int(rest)) % sets
    if name == "prime":
        return number % prime_at_most(sets)
    if name == "xor":
        return slices(number, bits_of(sets))
    if name == "fermi":
        return (number ^ sum((number * line >> bit & 1) << place for place, bit in enumerate(FERMI))) % sets
    if name == "texture":
        return number * line // 128 % sets
    if name == "hash":
        return xxh3(number) % sets
    if name == "rotate":
        return (number + xxh3(number // sets)) % sets
    if name == "golden":
        return int(math.modf(number * 0.61803398875)[0] * sets)
    if name == "ipoly":
        return remainder(number, irreducible(bits_of(sets)))
    if name == "bits":
        return sum(expression(text, number * line) << place for place, text in enumerate(rest.split(",")))
    digits = 1 if sets <= 16 else 2
    cell = number % (len(rest) // digits) * digits
    return int(rest[cell:cell + digits], 16)


def rounds(ways):
    """The sets in the order in which lines are assigned to them, if they differ."""
    return [number for turn in range(max(ways)) for number, has in enumerate(ways) if has > turn]


def permuted(scheme, chunk, banks):
    """The bank of a chunk, for the schemes but two-level."""
    if scheme == "mod":
        return chunk % banks
    if scheme == "xor":
        return slices(chunk, bits_of(banks))
    return (chunk + xxh3(chunk // banks)) % banks


def place(config, number):
    """The set of a line, by the index function and the interleaving."""
    sets, line = config["sets"], config["line"]
    if "order" in config:
        order = config["order"]
        return order[index(config["index"], number, line, len(order))]
    scheme, _, size = config["interleave"].partition(":")
    partitions, banks = config["partitions"], config["banks"]
    total = partitions * banks
    if scheme == "set":
        return index(config["index"], number, line, sets)
    chunk_bytes = int(size) if size else max(256, line) if scheme == "two-level" else line
    chunk_lines = chunk_bytes // line
    chunk, rest = divmod(number, chunk_lines)
    if scheme == "two-level":
        partition = chunk % partitions
        inner = chunk // partitions * chunk_lines + rest
        bank, within = inner % banks * partitions + partition, inner // banks
    else:
        bank, within = permuted(scheme, chunk, total), chunk // total * chunk_lines + rest
    return index(config["index"], within, line, sets // total) * total + bank


class Line:
    def __init__(self, number):
        self.number = number
        self.valid = set()
        self.dirty = set()
        self.written = set()
        self.priority = "evict_normal"
        self.uses = 0
        self.filled = self.last_use = 0
        self.interval = 2
        self.next_use = (NEVER,)


class Set:
    """The ways of a set, and what its policy knows. The list recent has the ways, the most recently used first."""

    def __init__(self, ways, policy):
        self.ways = [None] * ways
        self.policy, _, self.parameter = policy.partition(":")
        self.recent = []
        self.tree = {}
        self.turn = 0
        self.clock = 0

    def find(self, number):
        return next((way for way, line in enumerate(self.ways) if line and line.number == number), None)

    def lines(self):
        """From the most to the least recently used."""
        return [self.ways[way] for way in self.recent]

    def use(self, way):
        line = self.ways[way]
        self.clock += 1
        line.last_use = self.clock
        line.uses += 1
        line.interval = 0
        self.refer(way)

    def refer(self, way):
        if way in self.recent:
            self.recent.remove(way)
        self.recent.insert(0, way)
        low, high = 0, len(self.ways)
        while high - low > 1:
            middle = (low + high) // 2
            self.tree[low, high] = "high" if way < middle else "low"
            low, high = (low, middle) if way < middle else (middle, high)

    def demote(self, way):
        """Least recently used from now on."""
        self.recent.remove(way)
        self.recent.append(way)

    def remove(self, way):
        self.ways[way] = None
        self.recent.remove(way)

    def put(self, way, line):
        self.ways[way] = line
        self.clock += 1
        line.filled = line.last_use = self.clock
        line.uses = 1
        line.interval = 2
        self.refer(way)

    def free_way(self):
        return next((way for way, line in enumerate(self.ways) if line is None), None)

    def victim(self):
        """The way to replace: the choice of the policy, unless another line has a lower priority."""
        way = getattr(self, "by_" + self.policy)()
        rank = [PRIORITIES[line.priority] for line in self.ways]
        if rank[way] == min(rank):
            return way
        return [other for other in self.recent if rank[other] == min(rank)][-1]

    def least(self, key):
        return min(range(len(self.ways)), key=lambda way: key(self.ways[way]))

    def by_lru(self):
        return self.recent[-1]

    def by_tail(self):
        """Drawn from one line only, as by_random."""
        return self.recent[-1]

    def by_fifo(self):
        return self.least(lambda line: line.filled)

    def by_lfu(self):
        if self.parameter == "way":
            return self.least(lambda line: line.uses)
        return self.least(lambda line: (line.uses, line.last_use))

    def by_random(self):
        """Drawn for one way only: the sequence is not in the manual."""
        return 0

    def by_weighted(self):
        """Drawn with one way that is certain."""
        return self.parameter.split(",").index("1")

    def by_order(self):
        turns = self.parameter.split(",")
        way = int(turns[self.turn % len(turns)]) - 1
        self.turn += 1
        return way

    def by_plru(self):
        low, high = 0, len(self.ways)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tree.get((low, high), "low") == "low" else (middle, high)
        return low

    def by_srrip(self):
        while max(line.interval for line in self.ways) < 3:
            for line in self.ways:
                line.interval += 1
        return next(way for way, line in enumerate(self.ways) if line.interval == 3)

    def by_opt(self):
        farthest = max(line.next_use for line in self.ways)
        return next(way for way, line in enumerate(self.ways) if line.next_use == farthest)


class Tags:
    def __init__(self, config):
        self.config = config
        self.sets = [Set(ways, config["replace"]) for ways in config["set_ways"]]

    def at(self, number):
        """The set of a line number, and the way of that line there, or None."""
        where = self.sets[place(self.config, number)]
        return where, where.find(number)
