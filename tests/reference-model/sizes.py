# SPDX-License-Identifier: MIT
"""gtrace sizes (gtrace(1), Sizes): the table of what caches of other sizes would serve, against gcache with each size by itself."""

import csv
import io
import os
import re
from fractions import Fraction

import stream
from stream import some
from tools import through

COLUMNS = ["l1.reads", "l1.read_hit_rate", "l2.reads", "l2.read_hit_rate", "dram.reads"]
LINE = stream.LINE
TAKES = Fraction(5, 100)


# Drawing

def draw_level(random, name):
    ways = random.choice([1, 2, 3, 4, 8])
    sets = random.choice([1, 2, 4, 8] + ([] if name == "l1" else [16, 32]))
    level = {"size": str(LINE * ways * sets), "ways": str(ways), "index": random.choice(["mod", "mod", "xor"])}
    if some(random, 0.3):
        level["replace"] = random.choice(["lru", "fifo"])
    if some(random, 0.3):
        level["sector"] = "128"
    return {f"{name}.{key}": item for key, item in level.items()}


def draw(random):
    drawn = stream.draw_stream(random, kernels=2, blocks=6, warps=3, accesses=random.choice([6, 30]), extent=random.choice([2048, 16384]), hints=False,
                               spaces=("global", "local"))
    gpu = {"sms": str(random.randrange(1, 4)), **draw_level(random, "l1"), **draw_level(random, "l2")}
    return stream.Case(drawn, [["gtrace", "sizes", "--csv", "--quiet", "--gpu", "./gpu", "case.gt"]],
                       {"gpu": "".join(f"{key} = {item} # assumed: drawn\n" for key, item in gpu.items())}, gpu=gpu)


# The table

def bytes_of(text):
    return Fraction(text[:-1]) * 2 ** {"K": 10, "M": 20}[text[-1]] if text[-1] in "KM" else int(text)


def options(gpu, level, size):
    """Of a cache of that size: as many sets as it takes, or as many ways. None: it cannot be made."""
    own, ways = int(gpu[level + ".size"]), int(gpu[level + ".ways"])
    sets, lines = own // LINE // ways, size // LINE if size % LINE == 0 else 0
    if lines and lines % ways == 0 and (gpu[level + ".index"] == "mod" or (lines // ways).bit_count() == 1):
        return ["--size", str(size)]
    if lines and lines % sets == 0:
        return ["--size", str(size), "--ways", str(lines // sets)]
    return None


def counts(text):
    sums = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["kernel"] == "total" and row["value"].isdigit():
            sums[row["stage"], row["counter"]] = int(row["value"])
    return sums


def row_of(level, size, varied, folder, scheduled):
    """The caches run with one of them varied."""
    data = scheduled
    for name in ("l1", "l2"):
        data = through(["gcache", "--" + name] + (varied if name == level else []), data, folder)
    sums = counts(through(["gstats", "--csv"], through(["gdram"], data, folder), folder).decode())
    row = {"level": level, "size": size}
    for name in ("l1", "l2"):
        reads = sums[name, "reads"]
        row[name + ".reads"] = reads
        row[name + ".hits"] = sums[name, "read_hits"]
        row[name + ".read_hit_rate"] = f"{100 * row[name + '.hits'] / reads:.2f}" if reads else "-"
    row["dram.reads"] = sums["dram", "reads"]
    row["misses"] = row[level + ".reads"] - row[level + ".hits"]
    return row


def takes(row, larger):
    return row["misses"] > 0 and Fraction(row["misses"] - larger["misses"], row["misses"]) >= TAKES


def knee_of(rows):
    """The smallest size of whose load misses no larger one takes 5 %."""
    sizes, infinite = rows[:-1], rows[-1]
    for number, row in enumerate(sizes):
        if not any(takes(row, larger) for larger in sizes[number + 1:]):
            return None if number in (0, len(sizes) - 1) and takes(row, infinite) else row["size"]
    return None


def percent(part, whole):
    """As a text says it: all or none only where it is that."""
    if part in (0, whole):
        return "All" if part else "None"
    number = Fraction(100 * part, whole)
    if number < 1:
        return "Less than 1 %"
    return "More than 99 %" if number > 99 else f"{float(number):.0f} %"


def size_text(size):
    return next((f"{float(Fraction(size, 1 << shift)):g}{unit}" for shift, unit in ((20, "M"), (10, "K")) if size >= 1 << shift), str(size))


def sentences(level, rows, own, knee):
    """What the table shows of a level's load misses."""
    sizes, infinite = rows[:-1], rows[-1]
    gpu = next(row for row in sizes if row["size"] == own)
    if gpu[level + ".reads"] == 0:
        return "no load reaches it."
    if gpu["misses"] == 0:
        return "every load hits."
    larger, largest = [row for row in sizes if row["size"] > own], sizes[-1]
    if not any(takes(gpu, row) for row in larger):
        words = f"no size up to {size_text(largest['size'])} helps." if takes(gpu, infinite) else "no larger size helps."
    else:
        best = next((row for row in larger if row["size"] == knee and takes(gpu, row)), largest)
        words = f"{size_text(best['size'])} would take {percent(gpu['misses'] - best['misses'], gpu['misses']).lower()} of the load misses of the GPU's {size_text(own)}"
        words += " (the knee)." if best["size"] == knee else ", and a larger one more." if takes(largest, infinite) else "."
    words += f" {percent(infinite['misses'], gpu['misses'])} of its {gpu['misses']:,} load misses are compulsory, first reads of a sector"
    words += " by an SM." if level == "l1" else "."
    smaller = next((row for row in sizes if row["size"] < own and not takes(row, gpu)), None)
    if smaller:
        words += f" {size_text(smaller['size'])} would do as well as {size_text(own)}"
        words += "." if smaller["size"] != knee else " (the knee is there or below)." if smaller is sizes[0] else " (the knee)."
    return words


def check(case, folder):
    """What the table and the sentences above it differ in."""
    for name, content in case.files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    data = through(["gtrace-cat", "--from"], stream.text(case.stream).encode(), folder)
    with open(os.path.join(folder, "case.gt"), "wb") as file:
        file.write(data)
    found = list(csv.DictReader(io.StringIO(through(case.commands[0], b"", folder).decode())))
    text = re.sub(r"\n +", " ", through([word for word in case.commands[0] if word != "--csv"], b"", folder).decode().split("\n\n")[0])
    said = dict(line.split(": ", 1) for line in text.splitlines())
    scheduled = through(["gschedule", "--gpu", "./gpu"], through(["gcoalesce", "--gpu", "./gpu"], data, folder), folder)
    for level in ("l1", "l2"):
        own = int(case.gpu[level + ".size"])
        sizes = [(own * 2 ** n // 8, options(case.gpu, level, own * 2 ** n // 8)) for n in range(6) if own * 2 ** n % 8 == 0]
        rows = [row_of(level, size, varied, folder, scheduled) for size, varied in sizes if varied]
        rows.append(row_of(level, "infinite", ["--size", "16M", "--ways", "full", "--replace", "lru"], folder, scheduled))
        got = [row for row in found if row["level"] == level]
        if [row["size"] for row in rows] != [row["size"] if row["size"] == "infinite" else bytes_of(row["size"]) for row in got]:
            return f"{level}: expected sizes {[row['size'] for row in rows]}, got {[row['size'] for row in got]}"
        knee = knee_of(rows)
        for row, other in zip(rows, got):
            expected = [str(row[name]) for name in COLUMNS] + ["yes" if row["size"] == own else "no", "yes" if row["size"] == knee else "no"]
            if expected != [other[name] for name in COLUMNS + ["gpu", "knee"]]:
                return f"{level}, size {row['size']}: expected {expected}, got {dict(other)}; misses {[one['misses'] for one in rows]}"
        expected = sentences(level, rows, own, knee)
        if said[level.upper()] != expected:
            return f"{level}: expected {expected!r}, got {said[level.upper()]!r}; misses {[one['misses'] for one in rows]}"
    return None
