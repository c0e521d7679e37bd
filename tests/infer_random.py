#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpchase infer on random caches of gcache: each case draws a cache, makes a coarse chase through it and then the chases
that infer advises until it advises none, and holds what infer says beside the cache that was drawn.

    infer_random.py CASES [FIRST] [-v]     prints the scores; -v also each case that is not all right

wrong: a value that infer calls sure and that is not the cache's. named: the policy named right, or excluded with "not".
repeated: a chase advised that was given before, or advice without end. What is right is computed here from the manual
page of gcache, not by the library.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

TURNS_MAX = 24
SIZE_MAX = 4096  # of a cache, so that a case takes a second; the L1 of Fermi may have 8192
MASK = (1 << 64) - 1
POLICIES = ["lru", "fifo", "plru", "lfu", "lfu:way", "srrip", "random", "weighted", "order"]
INDEXES = ["mod", "smod", "prime", "xor", "fermi", "texture", "hash", "rotate", "golden", "ipoly", "bits", "table", "sets"]
IRREDUCIBLE = {1: 2, 2: 7, 3: 11, 4: 19}  # the smallest of each degree


# ---- the cache that is drawn ----

def xxh3(number):
    """XXH3 of 8 bytes, from the specification (XXH3_len_4to8_64b, seed 0)."""
    def turned(value, bits):
        return (value << bits | value >> 64 - bits) & MASK

    secret = bytes.fromhex("1cad21f72c81017c" "db979083e96dd4de")
    flip = int.from_bytes(secret[:8], "big") ^ int.from_bytes(secret[8:], "big")
    value = ((number >> 32) | (number & 0xFFFFFFFF) << 32) ^ flip
    value ^= turned(value, 49) ^ turned(value, 24)
    value = value * 0x9FB21C651E98DF25 & MASK
    value ^= (value >> 35) + 8
    value = value * 0x9FB21C651E98DF25 & MASK
    return value ^ value >> 28


def power_of_two(number):
    return number & (number - 1) == 0


def log2(number):
    return number.bit_length() - 1


def prime_below(number):
    return next(p for p in range(number, 0, -1) if p < 3 or all(p % d for d in range(2, p)))


def polynomial_rest(number, degree):
    for bit in range(number.bit_length() - 1, degree - 1, -1):
        if number >> bit & 1:
            number ^= IRREDUCIBLE[degree] << bit - degree
    return number


def sum_of(text, address):
    """One expression of bits: as in 13^7&14."""
    return sum(all(address >> int(bit) & 1 for bit in term.split("&")) for term in text.split("^")) & 1


def set_of(index, sets, line, number, ways=None):
    """The set of a line, as gcache(1) defines each function. `ways`: of unequal sets."""
    name, _, argument = index.partition(":")
    address = number * line
    if ways:
        number >>= int(argument) if name == "smod" else 0
        rounds = [s for turn in range(max(ways)) for s in range(len(ways)) if ways[s] > turn]
        return rounds[number % len(rounds)]
    if name == "mod":
        return number % sets
    if name == "smod":
        return (number >> int(argument)) % sets
    if name == "prime":
        return number % prime_below(sets)
    if name == "xor":
        value = 0
        while sets > 1 and number:
            value ^= number % sets
            number //= sets
        return value
    if name == "fermi":
        five = (address >> 13 & 7) | (address >> 17 & 1) << 3 | (address >> 19 & 1) << 4
        return (number ^ five) % sets
    if name == "texture":
        return address // 128 % sets
    if name == "hash":
        return xxh3(number) % sets
    if name == "rotate":
        return (number + xxh3(number // sets)) % sets
    if name == "golden":
        value = number * 0.61803398875
        return int((value - int(value)) * sets)
    if name == "ipoly":
        return polynomial_rest(number, log2(sets)) if sets > 1 else 0
    if name == "bits":
        return sum(sum_of(text, address) << i for i, text in enumerate(argument.split(",")))
    digits = 1 if sets <= 16 else 2
    return int(argument[number * digits % len(argument):][:digits], 16)


def drawn_bits(rnd, line, sets):
    """Independent sums of bits, each with one that the others lack."""
    bits, low = log2(sets), log2(line)
    own = rnd.sample(range(low, low + bits + 2), bits)
    spare = [b for b in range(low, low + bits + 3) if b not in own]
    return "bits:" + ",".join("^".join(map(str, sorted([b] + rnd.sample(spare, rnd.randrange(3))))) for b in own)


def drawn_table(rnd, sets):
    digits = [s for s in range(sets) for _ in range(2)]
    rnd.shuffle(digits)
    return "table:" + "".join("%x" % s for s in digits)


class Cache:
    def __init__(self, number):
        rnd = random.Random(number)
        self.policy = POLICIES[number % len(POLICIES)]
        self.kind = rnd.choice(INDEXES)
        self.line = rnd.choice([32, 64, 128, 128])
        self.sector = rnd.choice([size for size in (32, 64, 128) if size <= self.line])
        self.ways = rnd.choice([2, 4, 8, 16] if self.policy == "plru" else
                               [2, 3, 4] if self.policy in ("weighted", "order") else [1, 2, 3, 4, 6, 8, 12])
        self.sets = rnd.choice([2, 4, 8, 16] if self.kind in ("xor", "texture", "ipoly", "bits", "table") else
                               [32] if self.kind == "fermi" and self.line == 128 and self.ways <= 2 else
                               [2, 3, 5, 8] if self.kind == "prime" else [1, 2, 3, 4, 8, 16])
        if self.kind == "fermi" and self.sets != 32:
            self.kind = "mod"
        while self.sets * self.ways * self.line > SIZE_MAX and self.kind != "fermi":
            self.sets, self.ways = (self.sets // 2, self.ways) if self.sets > 2 else (self.sets, max(2, self.ways // 2))
        self.unequal = None
        if self.kind == "sets" and self.policy not in ("plru", "weighted", "order"):
            self.sets = max(2, min(self.sets, 6))
            self.unequal = [self.ways + (rnd.randrange(1, 4) if s == 0 else 0) for s in range(self.sets)]
        self.index = {"smod": "smod:%d" % rnd.randrange(1, 4), "bits": drawn_bits(rnd, self.line, self.sets),
                      "table": drawn_table(rnd, self.sets), "sets": "mod"}.get(self.kind, self.kind)
        self.used = prime_below(self.sets) if self.kind == "prime" else self.sets
        if self.used * self.ways == 1:
            self.ways = 2
        self.replace = self.policy
        if self.policy == "weighted":
            parts = rnd.choice([p for p in ([2, 1], [3, 1], [2, 1, 1], [1, 3, 1], [1, 3, 1, 1], [4, 1, 1, 1]) if len(p) == self.ways])
            self.replace = "weighted:" + ",".join("%d/%d" % (p, sum(parts)) for p in parts)
        elif self.policy == "order":
            turns = list(range(1, self.ways + 1)) + [rnd.randrange(1, self.ways + 1) for _ in range(rnd.randrange(3))]
            rnd.shuffle(turns)
            self.replace = "order:" + ",".join(map(str, turns))

    def options(self):
        shape = ["--sets", ",".join(map(str, self.unequal))] if self.unequal else \
            ["--size", str(self.sets * self.ways * self.line), "--ways", str(self.ways)]
        return shape + ["--line", str(self.line), "--sector", str(self.sector), "--index", self.index, "--replace", self.replace]

    def bytes(self):
        return (sum(self.unequal) if self.unequal else self.used * self.ways) * self.line

    def set_of(self, number):
        return set_of(self.index, self.sets, self.line, number, self.unequal)

    def same_policy(self, name):
        """Whether this policy and that of the cache cannot be told apart."""
        if self.ways == 1 and not self.unequal:
            return True
        truth = self.replace
        turns = truth.partition(":")[2].split(",") if truth.startswith("order:") else ["0"]
        if len(turns) % self.ways == 0 and all(int(way) == 1 + i % self.ways for i, way in enumerate(turns)):
            truth = "fifo"
        if self.ways == 2 and not self.unequal and {truth, name} <= {"lru", "plru"}:
            return True
        if truth.startswith("weighted:") and name.startswith("weighted:"):
            def values(text):
                return [int(part.split("/")[0]) / int(part.split("/")[1]) for part in text[9:].split(",")]
            left, right = values(truth), values(name)
            return len(left) == len(right) and all(abs(a - b) < 1e-9 for a, b in zip(left, right))
        return truth == name


# ---- the chases and what infer says ----

def run(command, source=None):
    done = subprocess.run(command, stdin=source, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stderr.decode()))
    return done.stdout


def chase(cache, arguments, path, seed):
    """Appends the path of a chase through the cache."""
    with subprocess.Popen(["gpchase", "trace", "--base", "0"] + arguments, stdout=subprocess.PIPE) as trace:
        out = run(["gcache", "--l1"] + cache.options() + ["--seed", str(seed), "--emit", "latency", "--hit-cycles", "100",
                                                          "--miss-cycles", "200"], trace.stdout)
    with open(path, "wb") as file:
        file.write(out)


def converse(cache, folder):
    """Follows the advice until it ends. Returns the last text, the number of turns, and the first repeated advice."""
    paths = []

    def take(arguments, times=1):
        for _ in range(times):
            paths.append(os.path.join(folder, str(len(paths))))
            chase(cache, arguments, paths[-1], len(paths))

    given = {"-N 1K..16K:1K -s 16"}
    take("-N 1K..16K:1K -s 16".split())
    for turn in range(1, TURNS_MAX + 1):
        text = run(["gpchase", "infer"] + paths).decode()
        advised = re.findall(r"^# undetermined: .*: gpchase trace (.*?)(?:, (\d+) times .*)? would settle it$", text, re.M)
        if not advised:
            return text, turn, None
        for arguments, times in advised:
            if arguments in given:
                return text, turn, arguments
            given.add(arguments)
            take(arguments.split(), int(times or 1))
    return text, turn, "no end"


def size(text):
    return int(float(text[:-1]) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[text[-1]]) if text[-1].isalpha() else int(text)


def same_index(cache, text, note, ways):
    """Whether lines share a set where they do in the cache, over the address bits that infer says it saw."""
    seen = re.search(r"address bits (\d+) to (\d+)", note)
    lines = min(1 << 1 + int(seen.group(2)) - log2(cache.line), 1 << 12)
    sets = cache.used if text.partition(":")[0] != "bits" else 1 << text.count(",") + 1
    there, back = {}, {}
    for number in range(lines):
        ours, theirs = cache.set_of(number), set_of(text, sets, cache.line, number, ways)
        if there.setdefault(ours, theirs) != theirs or back.setdefault(theirs, ours) != ours:
            return False
    return True


def unequal_ways(text):
    ways = []
    for part in text.split(","):
        count, _, times = part.partition("x")
        ways += [int(count)] * int(times or 1)
    return ways


def wrong_values(cache, text):
    """The keys that are sure and wrong."""
    rows = {key: (value, note) for key, value, note in re.findall(r"^l1\.(\w+) = (\S+) # measured: (.*)$", text, re.M)}
    ways = unequal_ways(rows["sets"][0]) if "sets" in rows else None
    wrong = []
    for key, (value, note) in rows.items():
        right = {"size": lambda: size(value) == cache.bytes(), "line": lambda: size(value) == cache.line,
                 "sector": lambda: size(value) == cache.sector,
                 "ways": lambda: not cache.unequal and int(value) == cache.ways,
                 "sets": lambda: cache.unequal and sorted(ways) == sorted(cache.unequal),
                 "index": lambda: same_index(cache, value, note, ways),
                 "replace": lambda: cache.same_policy(value)}[key]()
        if not right:
            wrong.append("%s = %s" % (key, value))
    for excluded in re.findall(r"^# undetermined: the replacement policy.*?; (?:it is )?not ([^:;,\n]*(?:, [^:;,\n]*)*)", text, re.M):
        wrong += ["not " + name for name in re.split(r", | or | nor ", excluded) if cache.same_policy(name)]
    return wrong


def named(cache, text):
    value = re.search(r"^l1\.replace = (\S+) ", text, re.M)
    if value:
        return cache.same_policy(value.group(1))
    return re.search(r"^# undetermined: the replacement policy; (it is )?not", text, re.M) is not None


def main():
    verbose = "-v" in sys.argv
    numbers = [int(a) for a in sys.argv[1:] if a != "-v"]
    cases, first = numbers[0], numbers[1] if len(numbers) > 1 else 0
    scores = dict.fromkeys(["wrong", "named", "repeated", "settled", "turns"], 0)
    for number in range(first, first + cases):
        cache = Cache(number)
        with tempfile.TemporaryDirectory() as folder:
            text, turns, again = converse(cache, folder)
        wrong, good = wrong_values(cache, text), named(cache, text)
        scores["wrong"] += bool(wrong)
        scores["named"] += good
        scores["repeated"] += again is not None
        scores["settled"] += "not sure" not in text and "# undetermined" not in text
        scores["turns"] += turns
        if verbose and (wrong or not good or again):
            print("cache %d: %s: wrong and sure: %s; policy %s; repeated: %s; %d turns" % (
                number, " ".join(cache.options()), ", ".join(wrong) or "none", "named" if good else "not named", again, turns),
                flush=True)
    print("%d caches: %d wrong and sure, %d with the policy named or excluded, %d with repeated advice, %d settled in all, %.1f turns" % (
        cases, scores["wrong"], scores["named"], scores["repeated"], scores["settled"], scores["turns"] / max(cases, 1)))


if __name__ == "__main__":
    main()
