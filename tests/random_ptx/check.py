# SPDX-License-Identifier: MIT
"""Runs kernels in gtrace-ptx and in the slow interpreter, and reports the differences."""

import math
import os
import re
import struct
import subprocess
from collections import Counter, defaultdict

import floats
from floats import FORMATS
from forms import GROUPS, every_form
from generate import Generator
from machine import Machine
from module import make_constants, make_input, write_module
from parts import CELL

PARTS = 100  # kernels that have all forms
IN_ADDRESS, OUT_ADDRESS, CONST_ADDRESS = 0x100000, 0x10000000, 0x8000


class Expected:
    """The results of the slow interpreter: the output's bytes, how they are compared, the accesses. The buffers are where `places` has
    them by name, so that pointers agree."""

    def __init__(self, kernel, seed, places={}):
        self.output = bytearray(kernel.output_bytes)
        into, out = places.get("in", IN_ADDRESS), places.get(kernel.name + "_buffer", OUT_ADDRESS)
        buffers = [("in", into, bytearray(make_input(seed))), ("out", out, self.output)]
        constants = [("ctab", places.get("ctab", CONST_ADDRESS), bytearray(make_constants(seed)))]
        values = [(kernel.values[0][0], "u64", into), (kernel.values[1][0], "u64", out)]
        self.machine = Machine(kernel, buffers, constants, kernel.grid, kernel.block, values + kernel.values[2:])
        self.machine.run()
        self.kinds = {at: kind for at, kind in self.machine.kinds.items() if kind}


def module_of(options, first, n):
    """n kernels, numbered from `first`; each follows from the seed and its number."""
    kernels = []
    opcodes = every_form([g for g in GROUPS if g != "newer" or options.features["newer"]]) if options.forms else []
    for i in range(first, first + n):
        generator = Generator("%s %d" % (options.seed, i), "k%d" % i, options.features)
        kernels.append(generator.generate(None, options.size, opcodes[i % PARTS::PARTS]))
    return kernels


def argument(kind, bits):
    if isinstance(bits, bytes):
        return "hex(%s)" % bits.hex()
    if kind == "f32":
        return repr(struct.unpack("<f", struct.pack("<I", bits))[0])
    if kind == "f64":
        return repr(struct.unpack("<d", struct.pack("<Q", bits))[0])
    return str(bits)


def launch_text(kernel, input_file, first):
    values = ["in=u8[]:@" + input_file if first else "in", "%s_buffer=u8[%d]" % (kernel.name, kernel.output_bytes)]
    values += [argument(kind, bits) for _, kind, bits in kernel.values[2:]]
    return "%s<<<%d,%d>>>(%s)" % (kernel.name, kernel.grid, kernel.block, ", ".join(values))


def run_machine(kernels, seed, directory):
    """The outputs by kernel, the trace as text, and the message of a failure."""
    text = os.path.join(directory, "module.ptx")
    inputs = os.path.join(directory, "input")
    with open(text, "w") as f:
        f.write(write_module(kernels, make_constants(seed)))
    with open(inputs, "wb") as f:
        f.write(make_input(seed))
    command = ["gtrace-ptx", "--space", "global,local,shared,constant", "--max-instructions", "1000000"]
    for i, kernel in enumerate(kernels):
        command += ["--launch", launch_text(kernel, inputs, i == 0)]
        command += ["--dump", "%s_buffer=%s" % (kernel.name, os.path.join(directory, kernel.name))]
    with open(os.path.join(directory, "trace"), "wb") as trace:
        done = subprocess.run(command + [text], stdout=trace, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, None, done.stderr.strip()
    outputs = {}
    for kernel in kernels:
        with open(os.path.join(directory, kernel.name), "rb") as f:
            outputs[kernel.name] = f.read()
    rows = subprocess.run(["gtrace-cat", "--decimal", os.path.join(directory, "trace")], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return outputs, rows, None


# Output ---------------------------------------------------------------------------------------------

def close(fmt, got, wanted, bounds):
    if floats.is_nan(fmt, wanted):
        return floats.is_nan(fmt, got)
    if got == wanted:
        return True
    x, y = floats.to_python(fmt, got), floats.to_python(fmt, wanted)
    if x != x or math.isinf(x) or math.isinf(y):
        return False
    relative, absolute = bounds
    return abs(x - y) <= relative * abs(y) + absolute


def same_cell(kind, size, got, wanted):
    """Whether two values of a store of that kind agree; the kind is 'f32', or 'f32 rel 1e-6 abs 1e-9'."""
    t, *words = kind.split()
    bounds = dict(zip(words[::2], map(float, words[1::2])))
    limits = bounds.get("rel", 0.0), bounds.get("abs", 0.0)
    fmt = FORMATS[t[:-2] if t.endswith("x2") else t]
    width = fmt.width // 8
    parts = ((int.from_bytes(x[i:i + width], "little") for x in (got, wanted)) for i in range(0, size, width))
    return all(close(fmt, g, w, limits) for g, w in parts)


def compare_output(kernel, expected, got):
    """The first difference, as text, or None."""
    if got == expected.output:
        return None
    threads, rows = kernel.grid * kernel.block, kernel.output_bytes
    at = 0
    while at < rows:
        if at % CELL == 0 and got[at:at + CELL] == expected.output[at:at + CELL]:
            at += CELL
            continue
        kind = expected.kinds.get(at)
        size = kind[1] if kind else 1
        g, w = got[at:at + size], bytes(expected.output[at:at + size])
        if g != w and not (kind and same_cell(kind[0], size, g, w)):
            row, cell = divmod(at // CELL, threads)
            return "%s: output row %d, cell %d, byte %d (%s): %s from gtrace-ptx, %s wanted" % (
                kernel.name, row, cell, at % CELL, kind[0] if kind else "bits", g[::-1].hex(), w[::-1].hex())
        at += size
    return None


# Accesses -------------------------------------------------------------------------------------------

def read_trace(text):
    """By kernel: a Counter of (block, warp, line, op, size, mask, addresses), the addresses as (name, offset); and where arrays are, by name."""
    kernels, arrays = defaultdict(Counter), []
    names, all_arrays = {}, {}
    for line in text.splitlines():
        if line.startswith("#"):
            fields = dict(x.split("=", 1) for x in line.split("\t")[1:] if "=" in x)
            if line.startswith("#kernel"):
                names[fields["id"]] = fields["name"]
            elif line.startswith("#count") and fields["stage"] == "allocations":
                arrays = sorted(zip(map(int, fields["addresses"].strip("[]").split(",")),
                                    map(int, fields["bytes"].strip("[]").split(",")), fields["names"].split(",")))
                all_arrays.update((name, start) for start, _, name in arrays)
            continue
        block, warp, _, pc, op, size, mask, base, stride, lanes, kernel = line.split("\t")
        mask = int(mask, 0)
        members = [i for i in range(32) if mask >> i & 1]
        if lanes != "-":
            addresses = list(map(int, lanes.split(",")))
        else:
            addresses = [(int(base) + int(stride) * (i - members[0])) % 2**64 for i in members]
        action, space = op.split(".")[:2]
        places = tuple(place(space, x, arrays) for x in addresses)
        kernels[names[kernel]][int(block), int(warp), int(pc, 0), action, space, int(size), mask, places] += 1
    return kernels, all_arrays


def place(space, address, arrays):
    if space == "local":  # interleaved as the stream's maker likes
        return "local"
    if space == "shared":
        return address
    for start, size, name in arrays:
        if start <= address < start + size:
            return name, address - start
    return None, address


def by_space(accesses):
    """Lanes whose generic addresses are in several spaces are an access in each."""
    return [[x for x in accesses if x[1] == space] for space in {x[1] for x in accesses}]


def wanted_accesses(kernel, expected):
    """The accesses of the slow interpreter, combining lanes with the same calls and loop iterations."""
    spaces = {"const": "constant"}
    names = {"in": "in", "out": kernel.name + "_buffer", "ctab": "ctab"}
    wanted = Counter()
    for (block, warp, line, context), accesses in expected.machine.accesses.items():
        accesses.sort()
        rounds = defaultdict(list)  # a straight line is passed once in a context, but for a function called twice
        seen = Counter()
        for access in accesses:
            which = access[0], access[-1]  # a copy is a load and a store
            rounds[access[-1], seen[which]].append(access)
            seen[which] += 1
        for group in (lanes for together in rounds.values() for lanes in by_space(together)):
            _, space, _, _, size, action = group[0]
            mask = sum(1 << lane for lane, *_ in group)
            places = tuple("local" if space == "local" else at if space == "shared" else (names[name], at)
                           for _, space, name, at, _, _ in group)
            words = -(-size // 4) if space == "local" else 1  # local memory is accessed word by word
            wanted[block, warp, line, action, spaces.get(space, space), size // words, mask, places] += words
    return wanted


def atomic_lines(kernel):
    """The lines of atom: if the result is not used, the assembler makes a reduction of it."""
    return {kernel.line_of(i) for i, line in enumerate(kernel.lines) if re.match(r"(@!?%\w+ )?atom\.", line)}


def by_lane(rows):
    """The same accesses, whatever lanes are combined."""
    lanes = Counter()
    for (*row, mask, places), n in rows.items():
        for lane, where in zip((i for i in range(32) if mask >> i & 1), places):
            lanes[(*row, 1 << lane, (where,))] += n
    return lanes


def compare_accesses(kernel, expected, got):
    wanted, atomics = wanted_accesses(kernel, expected), atomic_lines(kernel)
    got = Counter({row[:3] + (("atomic",) if row[2] in atomics and row[3] == "reduction" else row[3:4]) + row[4:]: n
                   for row, n in got.items()})
    if kernel.falls_through:
        wanted, got = by_lane(wanted), by_lane(got)
    if got == wanted:
        return None
    def show(counter):
        if not counter:
            return "none"
        block, warp, line, action, space, size, mask, places = min(counter, key=lambda x: (x[2], x[0], x[1]))
        return "block %d, warp %d, line %d, %s.%s of %d bytes, mask 0x%08x, first %s" % (
            block, warp, line, action, space, size, mask, places[0])
    return "%s: accesses differ: %s from gtrace-ptx, %s wanted" % (kernel.name, show(got - wanted), show(wanted - got))


# All ------------------------------------------------------------------------------------------------

def check(kernels, seed, directory):
    """A list of (kernel, message) of the differences; raises IllDefined if a kernel has no defined result."""
    found = []
    outputs, rows, message = run_machine(kernels, seed, directory)
    if message:
        if len(kernels) == 1:
            Expected(kernels[0], seed)
            return [(kernels[0], message)]
        for kernel in kernels:
            found += check([kernel], seed, directory)
        return found
    trace, places = read_trace(rows)
    for kernel in kernels:
        expected = Expected(kernel, seed, places)
        message = compare_output(kernel, expected, outputs[kernel.name])
        if not message:
            message = compare_accesses(kernel, expected, trace.get(kernel.name, Counter()))
        if message:
            found.append((kernel, message))
    return found
