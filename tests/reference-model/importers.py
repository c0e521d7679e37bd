# SPDX-License-Identifier: MIT
"""The traces of NVBit, Accel-Sim and PPT-GPU, as gtrace-order(1) describes them: random kernels, written in the corners of each
format, and the warp accesses that they are."""

import order
import stream
from order import Traced, draw_options, packed, texts
from stream import some

BELOW = 1 << 24
SHARED_BASE, LOCAL_BASE = 0x7F2B00000000, 0x7F2AF0000000
SUFFIXES = {1: ["U8", "S8"], 2: ["U16", "S16"], 4: [""], 8: ["64"], 16: ["128"]}
OPERATORS = [("CA", "ca"), ("CG", "cg"), ("CS", "cs"), ("CV", "cv"), ("LU", "lu"), ("CONSTANT", "nc"), ("CI", "nc"), ("BYPASS", "cg")]
HINTS = [("EF", "L1::evict_first"), ("EL", "L1::evict_last"), ("EU", "L1::evict_unchanged"), ("NA", "L1::no_allocate"),
         ("LTC64B", "L2::64B"), ("LTC128B", "L2::128B"), ("LTC256B", "L2::256B")]
ASIDE = [("CCTL.E.PF1", "prefetch.L1"), ("CCTL.E.PF2", "prefetch.L2"), ("CCTL.DML2", "discard.L2")]
WORDS = {"load": {"global": "LDG.E", "local": "LDL", "shared": "LDS"}, "store": {"global": "STG.E", "local": "STL", "shared": "STS"},
         "atomic": {"global": "ATOMG.E.ADD", "shared": "ATOMS.ADD"}, "reduction": {"global": "RED.E.ADD"}}
OTHERS = ["IMAD.MOV.U32", "NOP", "EXIT", "ISETP.GE.AND", "HMMA.16816.F32", "LDGDEPBAR", "BAR.SYNC"]


# Warp accesses with their opcodes

def draw_opcode(random):
    """An opcode, and what it does: operation, size and hint. LDGSTS is both a load and a store."""
    if some(random, 0.05):
        word, hint = random.choice(ASIDE)
        return word, "load.global", 1, hint
    size = random.choice([1, 2, 4, 4, 4, 8, 16])
    kind = random.choices(["load", "store", "atomic", "reduction", "both"], [8, 4, 1, 1, 1])[0]
    if kind == "both":
        size = random.choice([4, 8, 16])
        return ".".join(["LDGSTS", "E"] + [part for part in SUFFIXES[size] if part]), "both", size, None
    space = random.choice([space for space in WORDS[kind] for _ in range(3 if space == "global" else 1)])
    op, parts, hint = f"{kind}.{space}", [WORDS[kind][space]], None
    parts.append(random.choice(SUFFIXES[size]))
    if kind in ("load", "store") and space != "shared" and some(random, 0.3):
        part, operator = random.choice(OPERATORS)
        parts.append(part)
        op += "." + operator
    elif op == "load.global" and some(random, 0.2):
        parts.append(random.choice(["STRONG.GPU", "STRONG.SYS"]))
        op += ".cg"
    elif some(random, 0.2):
        parts.append(random.choice(["SYS", "STRONG.SM"]) if space == "global" else "")
    if space == "global" and kind in ("load", "store") and some(random, 0.2):
        part, hint = random.choice(HINTS)
        parts.insert(1, part)
    return ".".join(part for part in parts if part), op, size, hint


def draw_mask(random, there):
    lanes = list(range(there))
    if some(random, 0.4):
        return lanes
    if some(random, 0.4):
        first = random.randrange(there)
        return lanes[first:random.randrange(first, there) + 1]
    return sorted(random.sample(lanes, random.randrange(1, there + 1)))


def draw_addresses(random, lanes, size, low):
    """At least 1024, below which PPT-GPU's optional fields are."""
    base = (1024 if low else 0x7F1000000000) + random.randrange(1 << 12) * 16
    stride = random.choice([0, size, size, 64, -size, 5, None])
    if stride is None:
        return {lane: base + size * random.randrange(512) for lane in lanes}
    base += 64 * 32 * (stride < 0)
    return {lane: base + stride * (lane - lanes[0]) for lane in lanes}


class Warp:
    """An access of a warp: block, warp, opcode, op, size, hint, and the addresses of its lanes (none: it is no access)."""

    def __init__(self, block, warp, pc, what, addresses):
        self.block, self.warp, self.pc = block, warp, pc
        self.opcode, self.op, self.size, self.hint = what
        self.addresses = addresses

    def accesses(self, row, **known):
        made = {"block": self.block, "warp": self.warp, "size": self.size, **known}
        if self.hint:
            made["hint"] = self.hint
        lanes = [dict(made, op=self.op_at(address), lane=lane, address=address) for lane, address in self.addresses.items()]
        spaces = list(dict.fromkeys(lane["op"] for lane in lanes))
        return [dict(lane, row=4 * row + spaces.index(lane["op"])) for lane in lanes]

    def op_at(self, address):
        """A generic access, whose op has no space, is in the window that the address is in."""
        if "." in self.op:
            return self.op
        windows = [(SHARED_BASE, "shared"), (LOCAL_BASE, "local")]
        return f"{self.op}." + next((space for base, space in windows if base <= address < base + BELOW), "global")


def copies(random, warp, both):
    """The accesses of an LDGSTS: its load and its store, of which a format may have one."""
    lanes = list(warp.addresses)
    what = [("load.global", False), ("store.shared", True)]
    made = [Warp(warp.block, warp.warp, warp.pc, (warp.opcode, op, warp.size, None), draw_addresses(random, lanes, warp.size, low)) for op, low in what]
    return made if both else [random.choice(made)]


def draw_warps(random, fields, whole=False):
    """The accesses of every warp: {(block, warp): [Warp, ...]}."""
    threads = fields["block"][0] * fields["block"][1] * fields["block"][2]
    blocks = fields["grid"][0] * fields["grid"][1] * fields["grid"][2]
    program = [(draw_opcode(random), 16 * number) for number in range(random.randrange(1, 8))]
    result = {}
    for block in range(blocks):
        for warp in range((threads + 31) // 32):
            there = min(32, threads - 32 * warp)
            result[block, warp] = []
            for what, pc in program[:random.choice([0, len(program), len(program), random.randrange(len(program))])]:
                lanes = list(range(there)) if whole else draw_mask(random, there)
                low = ".shared" in what[1]
                result[block, warp].append(Warp(block, warp, pc, what, draw_addresses(random, lanes, what[2], low)))
    return result


def coordinates(fields, block):
    x, y, _ = fields["grid"]
    return block % x, block // x % y, block // (x * y)


def draw_fields(random):
    fields = order.draw_fields(random)
    fields.setdefault("registers", 8)
    fields.setdefault("shared_bytes", 0)
    return fields


# NVBit's mem_trace

def nvbit_line(random, fields, launch, warp, slot, threads):
    """All 32 addresses; lanes that the block does not have may repeat the first."""
    x, y, z = coordinates(fields, warp.block)
    there = min(32, threads - 32 * warp.warp)
    repeated = next(iter(warp.addresses.values()), 0) if there < 32 and some(random, 0.5) else 0
    addresses = [warp.addresses.get(lane, 0 if lane < there else repeated) for lane in range(32)]
    return (f"MEMTRACE: CTX 0x0000000000abc000 - grid_launch_id {launch} - CTA {x},{y},{z} - warp {slot} - {warp.opcode} - "
            + "".join(f"0x{address:016x} " for address in addresses))


def nvbit(random):
    """Warps stand in the hardware's slots, n adjacent ones for each block; all blocks are interleaved."""
    lines, trace, behind = ["the program's own"] * some(random, 0.5), [], some(random, 0.7)
    for number in range(random.randrange(1, 3)):
        fields = draw_fields(random)
        threads = fields["block"][0] * fields["block"][1] * fields["block"][2]
        n = (threads + 31) // 32
        lines.append("MEMTRACE: CTX 0x0000000000abc000 - LAUNCH - Kernel pc 0x00007f0000000200 - Kernel name {} - grid launch id {} - grid size {} - "
                     "block size {} - nregs {} - shmem {} - cuda stream id 0".format(
                         fields["name"], number + 4, ",".join(map(str, fields["grid"])), ",".join(map(str, fields["block"])), fields["registers"],
                         fields["shared_bytes"]))
        traced = Traced([], id=number + 4, own=True, **fields)
        traced.of_warps = True
        trace.append(traced)
        warps = draw_warps(random, fields)
        start = {block: n * random.randrange(4) for block, _ in warps}
        left = [(key, list(some_warps)) for key, some_warps in warps.items()]
        row = 0
        while left:
            (block, index), some_warps = random.choice(left)
            if not some_warps:
                left = [item for item in left if item[1] is not some_warps]
                continue
            warp = some_warps.pop(0)
            both = copies(random, warp, True) if warp.op == "both" else [warp]
            random.shuffle(both)
            if some(random, 0.05) and warp.op != "both":
                both[0].addresses = {}
                traced.skipped["accesses_without_an_active_lane"] = traced.skipped.get("accesses_without_an_active_lane", 0) + 1
            for one in both:
                row += 1
                traced.accesses += [dict(access, pc=0) for access in one.accesses(row)]
                lines.append(nvbit_line(random, fields, number + 4 - behind, one, start[block] + index, threads))
            if some(random, 0.05):
                lines.append(random.choice(["result = 4", "", "MEMTRACE"]))
    return trace, lines


# Accel-Sim

def compressed(random, warp, prefix):
    lanes, addresses = list(warp.addresses), list(warp.addresses.values())
    modes = [0]
    steps = [second - first for first, second in zip(addresses, addresses[1:])]
    if lanes == list(range(lanes[0], lanes[0] + len(lanes))) and len(set(steps)) < 2:
        modes.append(1)
    modes.append(2)
    mode = random.choice(modes)
    first = f"{prefix}{addresses[0]:016x}" if some(random, 0.5) else f"0x{addresses[0]:x}"
    if mode == 0:
        return "0 " + " ".join(f"0x{address:x}" for address in addresses)
    if mode == 1:
        return f"1 {first} {steps[0] if steps else random.choice([0, 4])}"
    return " ".join(["2", first, *map(str, steps)])


def accelsim_line(random, warp, version, lead, source):
    mask = sum(1 << lane for lane in warp.addresses)
    register = random.choice(["R4", "R255"] + (["UR4", "P0"] if version == 6 else []))
    words = lead + ([str(source)] if source is not None else []) + [f"{warp.pc:04x}", f"{mask:08x}"]
    words += ["1", register] if some(random, 0.6) else ["0"]
    words.append(warp.opcode)
    words += random.choice([["0"], ["1", "R2"], ["2", "R2", "R3"]])
    if not warp.addresses:
        words.append(str(warp.size) if warp.op else "0")
    else:
        words += [random.choice([str(warp.size), "4", "128"]), compressed(random, warp, "0x")]
    text = " ".join(words)
    if version >= 4:
        text += " " + random.choice(["0", "16", "-8"])
    if version >= 6:
        text += " " + random.choice(["0", "1"]) + random.choice(["", " NoVal", " Val 1 7f ffffffffffffffff"])
    return text + random.choice(["", " "])


def header(random, fields, version, lineinfo):
    lines = [f"-kernel name = {fields['name']}", f"-kernel id = {fields['id']}", "-grid dim = ({},{},{})".format(*fields["grid"]),
             "-block dim = ({},{},{})".format(*fields["block"]), f"-shmem = {fields['shared_bytes']}", f"-nregs = {fields['registers']}"]
    rest = ["-binary version = 70", f"-shmem base_addr = 0x{SHARED_BASE:016x}", f"-local mem base_addr = 0x{LOCAL_BASE:016x}",
            "-nvbit version = 1.5.5", f"-accelsim tracer version = {version}"] + ["-enable lineinfo = 1"] * lineinfo
    random.shuffle(rest)
    return lines + rest + ["", "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]", ""]


def generic(random, warp):
    """Sometimes LD or ST in place of the space's own opcode: each address has its space."""
    kind, space = warp.op.split(".")[:2]
    if kind not in ("load", "store") or space == "shared" or warp.hint or warp.op.count(".") > 1 or not some(random, 0.3):
        return
    bases = [random.choice([SHARED_BASE, LOCAL_BASE, SHARED_BASE + BELOW, SHARED_BASE - 64, LOCAL_BASE + BELOW - 64, 0]) for _ in range(random.choice([1, 1, 2, 3]))]
    first = next(iter(warp.addresses.values()))
    for lane, address in warp.addresses.items():
        base = random.choice(bases)
        if base:
            warp.addresses[lane] = base + random.choice([0, 4]) + max(0, address - first)
    warp.opcode = ".".join([{"load": "LD", "store": "ST"}[kind], "E"] + [part for part in [random.choice(SUFFIXES[warp.size])] if part])
    warp.op = kind


def instructions(random, warps):
    """The instructions of a warp, in its trace: its accesses, others, and such as have no active lane."""
    made = []
    for warp in warps:
        while some(random, 0.4):
            made.append(Warp(warp.block, warp.warp, 8 * random.randrange(100), (random.choice(OTHERS), None, 4, None), {}))
        if some(random, 0.03):
            made.append(Warp(warp.block, warp.warp, 8, ("UTMALDG.2D", "tma", 4, None), {}))
        if warp.op == "both":
            made += copies(random, warp, False)
        else:
            generic(random, warp)
            if some(random, 0.05):
                warp.addresses = {}
            made.append(warp)
    return made


def accelsim_text(random, one, version, lead, source):
    if one.op == "tma":
        return " ".join(lead + ([str(source)] if source is not None else []) + ["0040 00000003 0 UTMALDG.2D 1 UR4 128 4 0x7f10 2 128"])
    return accelsim_line(random, one, version, lead, source)


def accelsim(random):
    """Grouped by block and warp, or each line by itself."""
    lines, trace = [], []
    grouped = some(random, 0.7)
    for number in range(random.randrange(1, 3)):
        fields = dict(draw_fields(random), id=number + random.randrange(1, 3))
        version, lineinfo = random.choice([1, 2, 3, 4, 5, 6]), some(random, 0.2)
        traced = Traced([], own=True, **fields)
        traced.of_warps = True
        trace.append(traced)
        lines += header(random, fields, version, lineinfo)
        warps, places, used, row = draw_warps(random, fields), {}, set(), 0
        made = {key: instructions(random, some_warps) for key, some_warps in warps.items()}
        blocks = list(dict.fromkeys(block for block, _ in warps))
        random.shuffle(blocks)
        loose = []
        for block in blocks:
            of_block = [(warp, some_made) for (other, warp), some_made in made.items() if other == block]
            lines += ["#BEGIN_TB", "", "thread block = {},{},{}".format(*coordinates(fields, block)), ""] * grouped
            for warp, some_made in of_block:
                if some(random, 0.1) and grouped:
                    some_made = []
                lead = [*map(str, coordinates(fields, block)), str(warp)] if version < 3 or not grouped else []
                lines += [f"warp = {warp}", f"insts = {len(some_made)}"] * grouped
                for one in some_made:
                    row += 1
                    source = random.randrange(1, 100) if lineinfo else None
                    source = places.setdefault(one.pc, source)
                    text = accelsim_text(random, one, version, lead, source)
                    (lines if grouped else loose).append(text)
                    if one.op not in (None, "tma"):
                        used.add(one.pc)
                    if one.op == "tma":
                        traced.skipped["tma_instructions"] = traced.skipped.get("tma_instructions", 0) + 1
                    else:
                        traced.accesses += one.accesses(row, pc=one.pc)
                lines += [""] * grouped
            lines += ["#END_TB", ""] * grouped
        lines += loose
        if used and lineinfo:
            used = sorted(used)
            traced.stages.append(("source", {"pcs": used, "lines": [places[pc] for pc in used], "files": [0] * len(used), "names": "???"}))
    return trace, lines


# PPT-GPU

def ppt_record(random, warp, dialect, slot, first):
    prefix = "0x" if dialect["original"] or some(random, 0.2) else ""
    words = [warp.opcode]
    if dialect["warp"]:
        words.append(str(slot) if first else f"{slot:x}")
    if dialect["counts"]:
        words += ["0", str(len(warp.addresses)), str(len(warp.addresses))]
    return " ".join(words + [f"{prefix}{address:x}" for address in warp.addresses.values()])


def ppt_files(random, folder):
    """A folder with a file a block, in one of the dialects."""
    dialect = {"original": some(random, 0.4)}
    dialect["warp"] = not dialect["original"] and some(random, 0.6)
    dialect["counts"] = not dialect["original"] and some(random, 0.5)
    kernels, files, trace = sorted(random.sample(range(1, 20), random.randrange(1, 3))), {}, []
    config = []
    for kernel in kernels:
        fields = dict(draw_fields(random), name=random.choice(["k", "gemm", "a b"]), id=kernel)
        config.append("kernel_{} = {{\n'kernel_name': '{}',\n'num_registers': {},\n'shared_mem_bytes': {},\n'grid_size': ({}, {}, {}),\n"
                      "'block_size': ({}, {}, {})\n}}".format(kernel, fields["name"], fields["registers"], fields["shared_bytes"], *fields["grid"], *fields["block"]))
        traced = Traced([], own=True, **fields)
        traced.of_warps = True
        trace.append(traced)
        warps = draw_warps(random, fields)
        row = 0
        for block in sorted({block for block, _ in warps}):
            records, slots = [], len([1 for other, _ in warps if other == block]) * random.randrange(3)
            for (other, index), some_warps in warps.items():
                for warp in some_warps if other == block else []:
                    both = copies(random, warp, True) if warp.op == "both" else [warp]
                    for one in both:
                        row += 1
                        one.addresses = dict(enumerate(one.addresses.values()))
                        one.warp = index if dialect["warp"] else 0
                        traced.accesses += [dict(access, pc=0) for access in one.accesses(row)]
                    if len(both) > 1:
                        shuffled = random.sample(both, 2)
                        addresses = list(shuffled[0].addresses.values()) + list(shuffled[1].addresses.values())
                        both = [Warp(one.block, one.warp, 0, (one.opcode, None, 4, None), dict(enumerate(addresses)))]
                    records.append(ppt_record(random, both[0], dialect, slots + index, not records))
            text = "\n=====\n".join(["", *records, ""]) if dialect["original"] else "".join(record + "\n" for record in records)
            files[f"{folder}/memory_traces/kernel_{kernel}_block_{block}.mem"] = text.encode()
    files[f"{folder}/app_config.py"] = ("\n".join(config) + f"\napp_kernels_id = {kernels}\n").encode()
    return trace, files


# The case

def draw(random):
    options, arguments = draw_options(random)
    form = random.choice([nvbit, accelsim, ppt_files])
    if form is ppt_files:
        trace, bodies = ppt_files(random, "app")
        given = [random.choice(["app", "app/memory_traces"])]
    else:
        trace, lines = form(random)
        given = ["trace" + random.choice(["", "", ".gz", ".xz", ".zst"])]
        bodies = {given[0]: packed(given[0], texts(random, lines))}
    return stream.Case(stream.Stream(), [["gtrace-order", "--quiet", *arguments, *given]], bodies, traced=[("trace", trace)], options=options)


ask, model = order.ask, order.model
