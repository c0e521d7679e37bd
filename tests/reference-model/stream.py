# SPDX-License-Identifier: MIT
"""A stream as plain objects, its text form (gtrace-cat(1), Text; gtrace(5)), and random small streams.

A Stream has launches; a launch has fields (the record "kernel"), rows, and counts, a list of (stage, counters).
A row is a dict of its columns: numbers, except op, hint, work, shared and status, which are the texts that gtrace-cat prints.
In place of base, stride and lanes an access has "addresses", {lane: address} with the lanes rising.
"""

REQUEST = ["address", "sectors", "full", "lanes"]
ACCESS = ["size", "mask", "base", "stride", "lanes"]
OPTIONAL = ["step", "sm", "status", "latency", "hint", "work", "shared"]
TEXTS = {"op", "status", "hint", "work", "shared"}
SPACE = 1 << 64
LINE = 128
SECTOR = 32


class Launch:
    def __init__(self, fields, rows=(), counts=()):
        self.fields = dict(fields)
        self.rows = list(rows)
        self.counts = list(counts)


class Stream:
    def __init__(self, launches=(), gpu=None):
        self.launches = list(launches)
        self.gpu = gpu


class Case:
    """A stream, the tools that it goes through, each with its arguments, and the files {name: text} that they read.
    With table, the last tool prints text, not a stream; the model then returns the text's lines, each a list of fields."""

    def __init__(self, stream, commands, files=None, table=False, **options):
        self.stream = stream
        self.commands = commands
        self.files = files or {}
        self.table = table
        self.__dict__.update(options)


class Refused(Exception):
    """A model raises this where the manual says that the tool ends with an error."""


def is_access(row):
    return "addresses" in row


def kind(row):
    """load, store, atomic, reduction, or what the row does in place of an access: prefetch, discard or apply."""
    for part in row.get("hint", "none").split(","):
        name = part.split(".")[0]
        if name in ("prefetch", "discard", "applypriority"):
            return name
    return row["op"].split(".")[0]


def space(row):
    return row["op"].split(".")[1]


def operator(row):
    """The cache operator: none, ca, cg, ..."""
    parts = row["op"].split(".")
    return parts[2] if len(parts) > 2 else "none"


def bits(mask):
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def without_addresses(row):
    """The columns that a row keeps when it becomes requests."""
    return {key: value for key, value in row.items() if key not in ("addresses", "size")}


# Reading text

def value(text):
    """A counter or a field: a number, an array of numbers, or a text."""
    if text.startswith("[") and text.endswith("]"):
        return [int(part) for part in text[1:-1].split(",") if part]
    return int(text) if text.isdigit() else text


def pairs(parts):
    return {key: text for key, _, text in (part.partition("=") for part in parts)}


def parse_addresses(cells):
    lanes = bits(int(cells["mask"], 0))
    if cells["lanes"] != "-":
        return dict(zip(lanes, [int(text, 0) for text in cells["lanes"].split(",")]))
    base, stride = int(cells["base"], 0), int(cells["stride"], 0)
    return {lane: (base + stride * (lane - lanes[0])) % SPACE for lane in lanes}


def parse_row(cells):
    row = {}
    access = cells.get("mask", "-") != "-"
    columns = ["block", "warp", "an", "pc", "op"] + (["size"] if access else REQUEST) + OPTIONAL
    for name in columns:
        if cells.get(name, "-") != "-":
            row[name] = cells[name] if name in TEXTS else int(cells[name], 0)
    if row.get("hint") == "none":
        del row["hint"]
    if access:
        row["addresses"] = parse_addresses(cells)
    return row


def parse(text):
    stream = Stream()
    names = []
    launches = {}
    ended = False
    for line in text.splitlines():
        parts = line.split("\t")
        if parts[0] == "#kernel":
            fields = {key: value(text) if key != "name" else text for key, text in pairs(parts[1:]).items()}
            launches[str(fields["id"])] = Launch(fields)
            stream.launches.append(launches[str(fields["id"])])
        elif parts[0] == "#gpu":
            stream.gpu = pairs(parts[1:])
        elif parts[0] == "#count":
            counters = {key: value(text) for key, text in pairs(parts[1:]).items()}
            stage = counters.pop("stage")
            launches[str(counters.pop("kernel"))].counts.append((stage, counters))
        elif parts[0] == "#block":
            names = [parts[0][1:]] + parts[1:]
        elif parts[0] == "#end":
            ended = True
        elif not line.startswith("#"):
            cells = dict(zip(names, parts))
            launches[cells["kernel"]].rows.append(parse_row(cells))
    if not ended:
        raise ValueError("the text has no #end")
    return stream


# Writing text

def text_of(item):
    return "[" + ",".join(map(str, item)) + "]" if isinstance(item, list) else str(item)


def text_pairs(items):
    return "".join(f"\t{key}={text_of(item)}" for key, item in items.items())


def access_cells(row):
    lanes = list(row["addresses"])
    addresses = list(row["addresses"].values())
    mask = sum(1 << lane for lane in lanes)
    return {"size": row["size"], "mask": hex(mask), "base": "-", "stride": "-",
            "lanes": ",".join(hex(address) for address in addresses)}


def row_line(row, names, kernel):
    cells = dict(row, kernel=kernel)
    if is_access(row):
        cells.update(access_cells(row))
    return "\t".join(str(cells.get(name, "none" if name == "hint" else "-")) for name in names)


def row_names(row):
    names = ["block", "warp", "an", "pc", "op"] + (ACCESS if is_access(row) else REQUEST)
    return names + [name for name in OPTIONAL if name in row or name == "hint"] + ["kernel"]


def text(stream):
    lines = ["#gtrace\t0"]
    if stream.gpu is not None:
        lines.append("#gpu" + text_pairs(stream.gpu))
    names = None
    for launch in stream.launches:
        lines.append("#kernel" + text_pairs(launch.fields))
        for stage, counters in launch.counts:
            lines.append(f"#count\tstage={stage}\tkernel={launch.fields['id']}" + text_pairs(counters))
        for row in launch.rows:
            if row_names(row) != names:
                names = row_names(row)
                lines.append("#" + "\t".join(names))
            lines.append(row_line(row, names, launch.fields["id"]))
    return "\n".join(lines) + "\n#end\n"


# Random streams

OPERATORS = {"load": ["ca", "cg", "cs", "cv", "nc", "lu"], "store": ["cg", "cs"]}
HINTS = ["L1::evict_first", "L1::evict_last", "L1::evict_normal", "L1::evict_unchanged", "L1::no_allocate",
         "L2::evict_first", "L2::evict_last", "L2::evict_normal", "L2::64B", "L2::128B", "L2::256B",
         "L1::evict_last,L2::evict_first", "L1::no_allocate,L2::128B"]
PLACES = ["prefetch.L1", "prefetch.L2", "discard.L2", "applypriority.L2"]


def some(random, chance):
    return random.random() < chance


def draw_op(random, spaces):
    where = random.choice(spaces)
    if where in ("texture", "constant"):
        return "load." + where
    what = random.choices(["load", "store", "atomic", "reduction"], [10, 5, 2, 1])[0]
    if where == "local" and what in ("atomic", "reduction"):
        what = "store"
    op = f"{what}.{where}"
    if where in ("global", "local") and what in OPERATORS and some(random, 0.2):
        op += "." + random.choice(OPERATORS[what])
    return op


def draw_instruction(random, spaces, hints, number):
    """What all warps that execute an instruction have in common."""
    op = draw_op(random, spaces)
    instruction = {"pc": 16 * number, "op": op, "size": random.choice([1, 2, 4, 4, 4, 8, 16])}
    if hints and some(random, 0.15) and op.startswith("load.global"):
        if some(random, 0.4):
            instruction.update(op="load.global", hint=random.choice(PLACES))
        else:
            instruction["hint"] = random.choice(HINTS)
    elif hints and some(random, 0.15) and op.startswith("store.global"):
        instruction["hint"] = random.choice([hint for hint in HINTS if "B" not in hint])
    return instruction


def draw_lanes(random, threads):
    """Active lanes of a warp of that many threads."""
    shape = random.randrange(6)
    if shape < 3:
        return list(range(threads))
    if shape == 3:
        return sorted(random.sample(range(threads), random.randrange(1, threads + 1)))
    if shape == 4:
        return [random.randrange(threads)]
    return list(range(random.randrange(1, threads + 1)))


def draw_addresses(random, lanes, size, base, extent):
    """Evenly spaced, one for all, or random addresses in the extent bytes from base on; mostly aligned to the size."""
    shape = random.randrange(6)
    unit = 1 if some(random, 0.1) else size
    start = base + random.randrange(0, extent, unit)
    if shape < 3:
        stride = random.choice([1, 1, 1, 2, 3, 5, 8, 32, 33, -1]) * unit
        addresses = [start + stride * lane for lane in lanes]
    elif shape == 3:
        addresses = [start for _ in lanes]
    else:
        addresses = [base + random.randrange(0, extent, unit) for _ in lanes]
    return {lane: address % SPACE for lane, address in zip(lanes, addresses)}


def draw_access(random, instruction, threads, where):
    base, extent = where
    row = dict(instruction)
    row["addresses"] = draw_addresses(random, draw_lanes(random, threads), row["size"], base, extent)
    if space(row) == "shared":
        row["addresses"] = {lane: address % 49152 for lane, address in row["addresses"].items()}
    return row


def draw_launch(random, number, spaces, hints, blocks, warps, accesses, extent):
    """A launch whose warps execute the same few instructions, each warp not all of them, sorted by block, an and warp."""
    x = random.randrange(1, blocks + 1)
    y = random.randrange(1, 3) if some(random, 0.3) else 1
    threads = random.randrange(1, 32 * warps + 1) if some(random, 0.3) else 32 * random.randrange(1, warps + 1)
    fields = {"id": number, "name": random.choice(["k", "other"]), "grid": f"{x},{y},1", "block": f"{threads},1,1",
              "order": "block"}
    program = [draw_instruction(random, spaces, hints, n) for n in range(random.randrange(1, 7))]
    where = (0 if some(random, 0.1) else 0x7F0000000000, random.choice([256, 1024, extent]))
    share = random.choice([0.5, 1])
    rows = []
    for block in range(x * y):
        if some(random, 0.1):
            continue
        for warp in range((threads + 31) // 32):
            there = min(32, threads - 32 * warp)
            for an in range(random.randrange(accesses + 1)):
                if some(random, share) or an == 0:
                    row = draw_access(random, program[an % len(program)], there, where)
                    rows.append(dict(row, block=block, warp=warp, an=an))
    rows.sort(key=lambda row: (row["block"], row["an"], row["warp"]))
    return Launch(fields, rows)


def in_order(launches):
    """gtrace-cat --from announces launches without rows last."""
    return sorted(launches, key=lambda launch: not launch.rows)


def draw_stream(random, kernels=3, blocks=6, warps=4, accesses=6, extent=8192, hints=True,
                spaces=("global", "global", "global", "local", "shared", "texture", "constant")):
    """A stream of accesses; the numbers are the most there are of each, a launch."""
    if some(random, 0.3):
        spaces = ("global",)
    hints = hints and some(random, 0.5)
    count = random.randrange(1, kernels + 1)
    launches = [draw_launch(random, n + 1, spaces, hints, blocks, warps, accesses, extent) for n in range(count)]
    return Stream(in_order(launches))


def draw_request(random, instruction, lines):
    """A request of one of the lines."""
    row = {key: item for key, item in instruction.items() if key != "size"}
    first = random.randrange(4)
    row["address"] = 0x7F0000000000 + LINE * random.choice(lines)
    row["sectors"] = random.choice([15, 1 << first, 15 >> first, random.randrange(1, 16)])
    row["full"] = 0
    row["lanes"] = random.randrange(33)
    if kind(row) in ("prefetch", "discard", "applypriority"):
        row["sectors"] = 15
    if kind(row) == "store":
        row["full"] = random.choice([row["sectors"], row["sectors"] & random.randrange(16), 0])
    return row


def draw_requests(random, kernels=3, blocks=6, warps=4, accesses=8, lines=64, hints=True, sms=0,
                  spaces=("global", "global", "global", "local", "texture", "constant")):
    """A stream of requests, each of one of that many lines; with sms, they are scheduled on up to that many SMs."""
    stream = draw_stream(random, kernels, blocks, warps, accesses, LINE, hints, spaces)
    pool = [random.randrange(16 * lines) for _ in range(random.randrange(1, lines + 1))]
    sms = sms and random.randrange(1, sms + 1)
    for launch in stream.launches:
        rows = []
        for row in launch.rows:
            access = {key: item for key, item in row.items() if key != "addresses"}
            rows += [draw_request(random, access, pool) for _ in range(random.randrange(1, 3))]
        if sms:
            schedule(random, rows, sms)
            rows.sort(key=lambda row: (row["step"], row["sm"]))
            launch.fields["order"] = "none"
        launch.rows = rows
    return stream


def schedule(random, rows, sms):
    """Any steps will do, but the requests of an access, which follow each other, share theirs."""
    last, times = None, {}
    for row in rows:
        access = (row["block"], row["warp"], row["an"])
        row["sm"] = row["block"] % sms
        if access != last:
            times[row["sm"]] = times.get(row["sm"], -1) + random.choice([0, 1, 1, 1, 2, 5])
            last = access
        row["step"] = max(0, times[row["sm"]])
