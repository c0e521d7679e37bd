# SPDX-License-Identifier: MIT
"""gtrace-order(1): thread accesses become warp accesses, in logical order, whatever the format that they come in.

A trace is a list of Traced launches; each format writes it in its own way, and what must come out is expanded here.
The formats of the hardware's tracers are in importers.py."""

import subprocess

import stream
from stream import SPACE, some
from tools import put, through

PACK = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", ".bz2": "bzip2"}


class Traced:
    """A launch of a file: what the file says of it (None: nothing), and its accesses of one lane each, in the order of the file.
    An access is a dict of block, warp, lane, op, size, address and, if they are known, an, pc, hint and sm."""

    def __init__(self, accesses=(), **fields):
        self.accesses = list(accesses)
        self.fields = fields
        self.of_warps = False
        self.skipped = {}
        self.stages = []


# Expansion

def numbered(accesses, of_warps):
    """The accesses with their numbers: those that they have, else counted from 0 for each warp (an access of several lanes has the same
    'row') or for each thread."""
    counts, result = {}, []
    for access in accesses:
        who = (access["block"], access["warp"]) + (() if of_warps else (access["lane"],))
        if "an" not in access:
            seen = counts.setdefault(who, {})
            access = dict(access, an=seen.setdefault(access.get("row", len(seen)), len(seen)))
        result.append(access)
    return result


def fold(accesses, by):
    """Warp accesses in order. A second access of a lane, all else equal, goes into a second warp access, and so on."""
    groups = {}
    for place, access in enumerate(accesses):
        key = tuple(access.get(name) for name in ("block", "warp", "an", "op", "size", "hint"))
        rows = groups.setdefault(key, [])
        row = next((row for row in rows if access["lane"] not in row), None)
        if row is None:
            row = {}
            rows.append(row)
        row[access["lane"]] = (place, access)
    result = []
    for rows in groups.values():
        for lanes in rows:
            lowest = min(lanes)
            place, first = lanes[lowest]
            row = {name: first[name] for name in ("block", "warp", "an", "op", "size", "hint", "sm", "work", "shared") if name in first}
            row["pc"] = first.get("pc", 0)
            if "sm" in row:
                row["step"] = 0
            row["addresses"] = {lane: lanes[lane][1]["address"] % SPACE for lane in sorted(lanes)}
            order = ("block", "an", "warp") if by == "block" else ("an", "block", "warp")
            result.append(([row[name] for name in order] + [lowest, place], row))
    return [row for _, row in sorted(result, key=lambda item: item[0])]


def counts_of(rows, skipped):
    kinds = [row["op"].split(".")[0] for row in rows]
    counters = {"accesses": len(rows), "loads": kinds.count("load"), "stores": kinds.count("store"),
                "atomics": kinds.count("atomic") + kinds.count("reduction"), "threads": sum(len(row["addresses"]) for row in rows)}
    counters.update({name: number for name, number in skipped.items() if number})
    return counters


def shape(traced):
    """The grid and the block: those of the trace, else from the largest block and warp."""
    grid, block = traced.fields.get("grid"), traced.fields.get("block")
    if grid is None:
        grid = [max((access["block"] for access in traced.accesses), default=0) + 1, 1, 1]
    if block is None:
        block = [32 * (max((access["warp"] for access in traced.accesses), default=0) + 1), 1, 1]
    return ",".join(map(str, grid)), ",".join(map(str, block))


def expected(files, options):
    """What must come of the files, [(name, [Traced])], as a Stream."""
    launches, taken = [], {}
    for number, (name, trace) in enumerate(files):
        for traced in trace:
            traced.fields.setdefault("name", None)
            if traced.fields["name"] is None:
                traced.fields["name"] = name
            known = taken.get(traced.fields.get("id"))
            same = known and all(known[1].fields.get(key) == traced.fields.get(key) for key in ("name", "grid", "block"))
            if traced.fields.get("id") and known and same and not traced.fields.get("own"):
                known[1].accesses += traced.accesses
                continue
            if not traced.fields.get("id") or known:
                traced.fields["id"] = next(n for n in range(1, len(taken) + 2) if n not in taken)
            taken[traced.fields["id"]] = (number, traced)
            launches.append(traced)
    result = []
    for traced in launches:
        if options.get("kernel") and options["kernel"] not in traced.fields["name"]:
            continue
        result.append(one(traced, options))
    return stream.Stream(result)


def one(traced, options):
    grid, block = shape(traced)
    registers, shared = traced.fields.get("registers") or 0, traced.fields.get("shared_bytes") or 0
    if registers > 255:
        registers = 0
        if options.get("registers") is None:
            traced.skipped["impossible_register_counts"] = 1
    if shared > 256 * 1024:
        shared = 0
        if options.get("shared") is None:
            traced.skipped["impossible_shared_memory"] = 1
    if options.get("registers") is not None:
        registers = options["registers"]
    if options.get("shared") is not None:
        shared = options["shared"]
    rows = fold(numbered(traced.accesses, traced.of_warps), options["by"])
    fields = {"id": traced.fields["id"], "name": traced.fields["name"], "grid": grid, "block": block, "registers": registers,
              "shared_bytes": shared, "order": options["by"]}
    return stream.Launch(fields, rows, traced.stages + [("order", counts_of(rows, traced.skipped))])


# Drawing

NAMES = ["k", "gemm", "void f<int, 4>(float *)", "a b", "other(unsigned int*, x)", "id", "k - LAUNCH - x"]


def draw_shape(random):
    """A grid, a block, and the threads of a block."""
    grid = random.choice([[1, 1, 1], [3, 1, 1], [2, 3, 1], [2, 1, 2], [1, 4, 1]])
    block = random.choice([[32, 1, 1], [40, 1, 1], [8, 4, 2], [1, 1, 1], [33, 2, 1], [128, 1, 1], [5, 3, 1]])
    return grid, block


def draw_fields(random):
    grid, block = draw_shape(random)
    fields = {"name": random.choice(NAMES), "grid": grid, "block": block}
    if some(random, 0.6):
        fields.update(registers=random.choice([0, 8, 255, 256, 40]), shared_bytes=random.choice([0, 1024, 262144, 262145]))
    return fields


def draw_address(random, size):
    base = random.choice([0x7F0000000000, 0x10, SPACE - 4096, 0x7F0000000000])
    return (base + random.randrange(0, 2048, random.choice([1, size]))) % SPACE


def draw_threads(random, fields, ops, sizes, numbers):
    """Accesses of threads, in any order; each thread's own numbers may repeat, if there are numbers."""
    x, y, z = fields["block"]
    blocks, threads = fields["grid"][0] * fields["grid"][1] * fields["grid"][2], x * y * z
    accesses, base = [], draw_address(random, 8)
    for _ in range(random.randrange(1, 80)):
        thread = random.randrange(threads if some(random, 0.5) else min(threads, 6))
        size = random.choice(sizes)
        address = base + size * thread if some(random, 0.6) else draw_address(random, size)
        access = {"block": random.randrange(blocks), "warp": thread // 32, "lane": thread % 32, "op": random.choice(ops), "size": size,
                  "address": address % SPACE}
        if numbers:
            access["an"] = random.randrange(random.choice([2, 2, 5, 4294967295]))
        accesses.append(access)
    return accesses


def kept(fields, random, names, chance=0.8):
    """The fields that a file says, the others None."""
    return {key: item if key not in names or some(random, chance) else None for key, item in fields.items()}


# RDGC

def draw_rdgc(random):
    trace, with_ids = [], some(random, 0.5)
    for number in range(random.randrange(1, 4)):
        fields = draw_fields(random)
        accesses = draw_threads(random, fields, ["load.global", "store.global"], random.choice([[4], [1, 2, 4, 8, 16, 32, 3]]), True)
        said = kept(fields, random, ("name", "grid", "block", "registers", "shared_bytes"))
        if with_ids:
            said["id"] = 3 * number + random.randrange(1, 4)
        trace.append(Traced(accesses, **said))
    return trace


def kernel_line(random, fields):
    keys = {"id": "id", "name": "name", "grid": "grid", "block": "block", "registers": "registers", "shared_bytes": "shared"}
    words = []
    for key, item in fields.items():
        if item is not None:
            words.append(f"{keys[key]}={','.join(map(str, item)) if isinstance(item, list) else item}")
    random.shuffle(words)
    return " ".join(["#kernel"] + words)


def rdgc_line(random, access):
    thread = 32 * access["warp"] + access["lane"]
    what = random.choice("Rr0" if access["op"].startswith("load") else "Ww1")
    address = random.choice(["{:x}", "0x{:x}", "0x{:016x}", "{:X}"]).format(access["address"])
    size = "" if access["size"] == 4 and some(random, 0.5) else str(access["size"])
    blank = random.choice([" ", "  ", "\t"])
    return blank.join([str(access["an"]), str(access["block"]), str(thread), what, address, size]).rstrip()


def text_rdgc(random, trace):
    lines, parts = [], []
    for number, traced in enumerate(trace):
        bare = all(item is None for item in traced.fields.values())
        cut = random.randrange(len(traced.accesses)) if traced.fields.get("id") and some(random, 0.3) else len(traced.accesses)
        parts.insert(number, (number, traced, bare, traced.accesses[:cut]))
        if cut < len(traced.accesses):
            parts.append((len(trace), traced, False, traced.accesses[cut:]))
    for number, traced, bare, accesses in sorted(parts, key=lambda part: part[0]):
        lines.append("" if bare and some(random, 0.5) else kernel_line(random, traced.fields))
        for access in accesses:
            lines.append(rdgc_line(random, access))
            if some(random, 0.05):
                lines.append(random.choice(["# a comment", "#", "#kernels id=9", "# 0 0 0 R 10"]))
        if some(random, 0.3):
            lines += [""] * random.randrange(1, 3)
    return lines


# Nugteren's tracer

def draw_trc(random):
    fields = draw_fields(random)
    x, y, z = fields["block"]
    fields = {"grid": None, "block": [x, y, z]}
    drawn = dict(fields, grid=[random.randrange(1, 5), 1, 1])
    return [Traced(draw_threads(random, drawn, ["load.global", "store.global"], [1, 4, 8, 16], False), **fields)]


def text_trc(random, trace):
    x, y, z = trace[0].fields["block"]
    lines = [f"blocksize: {x} {y} {z}"]
    for access in trace[0].accesses:
        thread = access["block"] * x * y * z + 32 * access["warp"] + access["lane"]
        lines.append(f"{thread} {int(access['op'].startswith('store'))} {access['address']} {access['size']}")
    return lines


# Text of gtrace-cat

SPACES = ("global", "global", "local", "shared", "texture", "constant")


def draw_tsv(random):
    """Warp accesses in any order, of which some are folded; what a scheduler added is there in some."""
    drawn = stream.draw_stream(random, kernels=3, hints=some(random, 0.5), spaces=SPACES)
    trace, scheduled = [], some(random, 0.3)
    for launch in drawn.launches:
        accesses = []
        if some(random, 0.5):
            random.shuffle(launch.rows)
        for row in launch.rows:
            if some(random, 0.2):
                row["an"] = random.randrange(2)
            if scheduled:
                row["sm"] = row["block"] % 3
            accesses.append(row)
        fields = {"id": launch.fields["id"] * random.choice([1, 1, 10]), "name": random.choice(NAMES),
                  "grid": launch.fields["grid"].split(","), "block": launch.fields["block"].split(",")}
        trace.append(Traced([], **fields))
        trace[-1].rows = accesses
        trace[-1].accesses = [dict({key: item for key, item in row.items() if key != "addresses"}, lane=lane, address=address)
                              for row in accesses for lane, address in row["addresses"].items()]
        trace[-1].counts = [("warps", {"instructions": random.randrange(1000), "list": [1, 2]})] if some(random, 0.3) else []
    for number, traced in enumerate(trace):
        if traced.fields["id"] in [other.fields["id"] for other in trace[:number]]:
            traced.fields["id"] = 100 + number
    trace.sort(key=lambda traced: not traced.rows)
    trace[-1].skipped["descriptions_and_counts"] = sum(len(traced.counts) for traced in trace)
    return trace


def draw_stream(random):
    """The same as a stream, whose other records pass; with --work its rows have the column."""
    trace = draw_tsv(random)
    work, shared = some(random, 0.4), some(random, 0.5)
    for traced in trace:
        traced.skipped, traced.stages, traced.work = {}, traced.counts, work
        for row in traced.rows if work else []:
            row["work"] = random.choice(["0,0", "5,0", "12,1,waits"])
            if shared:
                row["shared"] = random.choice(["34,64", "1,2"])
        accesses = {(row["block"], row["warp"], row["an"]) for row in traced.rows}
        if work and len(accesses) < len(traced.rows):  # which of several the column is of is not said
            return draw_stream(random)
        traced.accesses = [dict({key: item for key, item in row.items() if key != "addresses"}, lane=lane, address=address)
                           for row in traced.rows for lane, address in row["addresses"].items()]
    return trace


def text_tsv(random, trace):
    launches = []
    for traced in trace:
        fields = dict(traced.fields, grid=",".join(traced.fields["grid"]), block=",".join(traced.fields["block"]), order="none")
        rows = [dict(row, step=number) if "sm" in row else row for number, row in enumerate(traced.rows)]
        launches.append(stream.Launch(fields, rows, traced.counts))
    return stream.text(stream.Stream(launches)).splitlines()


# Described by an expression

WORDS = {"load.global": ["R", "r", "0", "L", "LD", "read", "Load", "LDG.E", "load.global", "LDG"],
         "store.global": ["W", "w", "1", "S", "st", "write", "STORE", "STG.E", "store.global"],
         "atomic.global": ["atomic", "ATOMIC", "ATOMG.E.ADD", "atomic.global"], "reduction.global": ["reduction", "RED.E.ADD"],
         "load.shared": ["LDS", "load.shared"], "store.local.cg": ["STL.CG", "store.local.cg"], "load.global.nc": ["LDG.E.CONSTANT"]}
SAID = {1: ["U8", "S8"], 2: ["U16", "S16"], 8: ["64"], 16: ["128"]}


def draw_regex(random):
    groups = [name for name in ("block", "an", "op", "size", "pc") if some(random, 0.7)]
    groups.append(random.choice(["thread", "thread", "warp", "none"]))
    fields = draw_fields(random)
    ops = list(WORDS) if "op" in groups else ["load.global"]
    accesses = draw_threads(random, fields, ops, [1, 2, 4, 8, 16, 32, 5] if "size" in groups else [4], "an" in groups)
    made = []
    for row, access in enumerate(accesses):
        access["block"] *= "block" in groups
        if "pc" in groups:
            access["pc"] = random.randrange(1 << 32)
        if "thread" not in groups:
            access["lane"] = 0
            access["warp"] *= "warp" in groups
        if "warp" in groups:
            access["row"] = row
            made += [dict(access, lane=lane, address=draw_address(random, 4)) for lane in range(random.choice([1, 2, 32]))]
        else:
            made.append(access)
    traced = Traced(made)
    traced.of_warps = "warp" in groups
    traced.groups, traced.hexadecimal = groups, some(random, 0.5)
    return [traced]


def regex_of(traced):
    groups = {"block": r"b(?<block>\d+) ", "thread": r"t(?<thread>\d+) ", "warp": r"w(?<warp>\d+) ", "an": r"#(?<an>\d+) ", "op": r"(?<op>\S+) ",
              "size": r"(?<size>\d+) bytes ", "pc": r"at (?<pc>\w+) ", "none": ""}
    address = "hexaddress" if traced.hexadecimal else "address"
    return "^" + "".join(groups[name] for name in traced.groups) + f"to (?<{address}>[0-9a-fA-Fx, ]+)$"


def regex_address(random, traced, address):
    return random.choice(["{:x}", "0x{:x}"] if traced.hexadecimal else ["{:d}", "0x{:X}"]).format(address)


def text_regex(random, trace):
    traced, lines = trace[0], []
    rows = {}
    for number, access in enumerate(traced.accesses):
        rows.setdefault(access.get("row", number), []).append(access)
    for accesses in rows.values():
        first = accesses[0]
        word = random.choice(WORDS[first["op"]])
        if word.isupper() and word.startswith(("LDG", "STG", "STL", "LDS", "ATOMG", "RED")):
            first = dict(first, size=4 if "size" not in traced.groups else first["size"])
            if first["size"] in SAID and some(random, 0.7):
                word += "." + random.choice(SAID[first["size"]])
            elif first["size"] != 4:
                word = first["op"]
        texts = {"block": f"b{first['block']} ", "thread": f"t{32 * first['warp'] + first['lane']} ", "warp": f"w{first['warp']} ",
                 "an": f"#{first.get('an')} ", "op": word + " ", "size": f"{first['size']} bytes ", "pc": f"at {first.get('pc', 0):x} ", "none": ""}
        addresses = random.choice([" ", ",", ", "]).join(regex_address(random, traced, access["address"]) for access in accesses)
        lines.append("".join(texts[name] for name in traced.groups) + "to " + addresses)
        if some(random, 0.1):
            lines.append(random.choice(["", "junk", "b0 to"]))
            traced.skipped["lines_that_do_not_match"] = traced.skipped.get("lines_that_do_not_match", 0) + 1
    return lines


# CPU traces: one thread

def draw_cpu(random):
    form = random.choice(["din", "lackey", "drmemtrace"])
    traced = Traced([])
    traced.form, traced.lines = form, []
    for _ in range(random.randrange(1, 40)):
        what = random.choice(["load", "load", "store", "fetch", "both" if form == "lackey" else "load"])
        size = 4 if form == "din" else random.choice([1, 2, 4, 8, 16, 32, 33, 64, 65, 10])
        address, pc = random.randrange(1 << random.choice([8, 32, 47])), random.randrange(1 << 32)
        traced.lines.append((what, address, size, pc))
        if what == "fetch":
            traced.skipped["instruction_fetches"] = traced.skipped.get("instruction_fetches", 0) + 1
        for kind in {"both": ["load", "store"], "fetch": []}.get(what, [what]):
            for part in range(0, size, 32):
                traced.accesses.append({"block": 0, "warp": 0, "lane": 0, "op": kind + ".global", "size": min(32, size - part),
                                        "address": address + part, "pc": pc if form == "drmemtrace" else 0})
    if len(traced.accesses) == 0:
        return draw_cpu(random)
    return [traced]


def cpu_line(form, what, address, size, pc, number):
    if form == "din":
        return f"{['load', 'store', 'fetch'].index(what)} {address:x}"
    if form == "lackey":
        return f"{ {'load': ' L', 'store': ' S', 'fetch': 'I ', 'both': ' M'}[what]} {address:08x},{size}"
    head = f"{number + 1:12} {number:11}:      872902 "
    if what == "fetch":
        return head + f"ifetch {size:2} byte(s) @ 0x{address:016x} 48 89 e7 mov"
    return head + f"{ {'load': 'read ', 'store': 'write'}[what]} {size:2} byte(s) @ 0x{address:016x} by PC 0x{pc:016x}"


def text_cpu(random, trace):
    form = trace[0].form
    lines = [cpu_line(form, *line, number) for number, line in enumerate(trace[0].lines)]
    if form == "lackey" and some(random, 0.5):
        return ["==12== Lackey", *lines, "==12== "]
    if form == "drmemtrace":
        return ["Output format:", "<--record#-> <--instr#->: <---tid---> <record details>",
                "------------------------------------------------------------", *lines]
    return lines


# The case

FORMATS = {"rdgc": (draw_rdgc, text_rdgc), "trc": (draw_trc, text_trc), "tsv": (draw_tsv, text_tsv), "regex": (draw_regex, text_regex),
           "cpu": (draw_cpu, text_cpu), "stream": (draw_stream, text_tsv)}


def draw_options(random):
    options = {"by": random.choice(["block", "block", "an"])}
    arguments = ["--by", "an"] if options["by"] == "an" else []
    if some(random, 0.1):
        options["registers"] = random.choice([0, 32, 255])
        arguments += ["--registers", str(options["registers"])]
    if some(random, 0.1):
        options["shared"] = random.choice([0, 1024, 262144])
        arguments += ["--shared", str(options["shared"])]
    if some(random, 0.3):
        arguments += ["-j", random.choice(["0", "2", "3"])]
    if some(random, 0.3):
        arguments += ["-S", "64K"]
    return options, arguments


def texts(random, lines):
    """A file's text: with carriage returns, without its last newline, or with a byte-order mark, or none of these."""
    end = "\r\n" if some(random, 0.2) else "\n"
    text = end.join(lines) + ("" if some(random, 0.2) and lines[-1] else end)
    return ("\ufeff" if some(random, 0.1) else "") + text


def packed(path, text):
    """The bytes of a file, compressed as its name says."""
    tool = next((tool for end, tool in PACK.items() if path.endswith(end)), None)
    return subprocess.run([tool, "-c"], input=text.encode(), capture_output=True, check=True).stdout if tool else text.encode()


def draw(random):
    options, arguments = draw_options(random)
    files, given, bodies = [], [], {}
    form = random.choice(list(FORMATS))
    for number in range(1 if form in ("regex", "tsv", "stream") else random.choice([1, 1, 2, 3])):
        one_form = random.choice([form, "rdgc", "trc"]) if form != "regex" and number else form
        make, write = FORMATS[one_form]
        trace = make(random)
        name = random.choice(["trace", "a b", "x"]) + str(number)
        path = name + random.choice([".txt", ".v2.txt", "", ".rdgc"]) + (random.choice(list(PACK)) if some(random, 0.3) else "")
        if form == "stream":
            path = name + ".gt"
            arguments += ["--work"] * trace[0].work
        bodies[path] = packed(path, texts(random, write(random, trace)))
        files.append((name, trace))
        given.append(path)
        if form == "regex":
            arguments += ["--format-regex", regex_of(trace[0])]
    if some(random, 0.1):
        options["kernel"] = random.choice([traced.fields.get("name") or name for name, trace in files for traced in trace])
        arguments += ["--kernel", "\\Q" + options["kernel"] + "\\E"]
    return stream.Case(stream.Stream(), [["gtrace-order", "--quiet", *arguments, *given]], bodies, traced=files, options=options)


def ask(case, folder):
    put(folder, case.files)
    for name in case.files:
        if name.endswith(".gt"):
            put(folder, {name: through(["gtrace-cat", "--from", name], b"", folder)})
    return stream.parse(through(["gtrace-cat"], through(case.commands[0], b"", folder), folder).decode())


def model(case):
    return expected(case.traced, case.options)
