# SPDX-License-Identifier: MIT
"""A slow, obvious column work of Accel-Sim traces, to compare gtrace-order --work with on random traces.

usage: work.py SEED TRACES

Exits 1 at the first difference.
"""
import random
import subprocess
import sys
import tempfile

# Opcode, bytes a lane, registers that it loads into, and whether the next access counts from it.
ACCESSES = [
    ("LDG.E", 4, True), ("LDG.E.64", 8, True), ("LDG.E.128", 16, True), ("LDG.E.U8", 1, True), ("ATOMG.E.ADD", 4, True),
    ("STG.E", 4, True), ("RED.E.ADD", 4, True), ("LDL", 4, True), ("LDS", 4, False), ("STS.64", 8, False),
]
OTHERS = ["IADD3", "FFMA", "MOV", "BAR.SYNC.DEFER_BLOCKING", "BAR.RED.POPC", "BAR.ARV", "EXIT", "BARX"]
NEVER_LOADED = ["R255", "P0", "UR4", "UP1"]


def names(dice):
    return [dice.choice(NEVER_LOADED) if dice.random() < 0.1 else "R%d" % dice.choice([0, 1, 2, 3, 5, 8, 60, 64, 127, 253, 254]) for _ in range(dice.choice([0, 1, 1, 2, 3]))]


def instruction(dice):
    """A line of the trace, and what it means: results, sources, access (op, bytes, counts), mask."""
    results, sources = names(dice)[:1], names(dice)
    mask = dice.choice([0xffffffff, 0xffffffff, 1, 0x80000001, 0])
    access = dice.choice(ACCESSES) if dice.random() < 0.4 else None
    opcode = access[0] if access else dice.choice(OTHERS)
    if access and not access[0].startswith(("LD", "ATOM")):
        results = []
    words = ["%04x" % (16 * dice.randrange(4096)), "%08x" % mask, str(len(results)), *results, opcode, str(len(sources)), *sources]
    words += ["0"] if not access else [str(access[1])] + (["0"] + ["0x7f0000%06x" % dice.randrange(1 << 24) for _ in range(bin(mask).count("1"))] if mask else [])
    return " ".join(words), results, sources, opcode, access if mask else None


def work_of(warp):
    """The column work of the rows of a warp."""
    column, loading, instructions, barriers, waits = [], set(), 0, 0, False
    for _, results, sources, opcode, access in warp:
        if loading & set(results + sources):
            loading, waits = set(), True
        counts = access and access[2]
        if access:
            column.append("%d,%d%s" % (instructions, barriers, ",waits" if waits and counts else ""))
        if counts:
            instructions, barriers, waits = 0, 0, False
            for register in results:
                if register not in NEVER_LOADED:
                    first = int(register[1:])
                    loading |= {"R%d" % r for r in range(first, first + max(1, access[1] // 4)) if r < 255}
        else:
            instructions += 1
        barriers += opcode in ("BAR.SYNC.DEFER_BLOCKING", "BAR.RED.POPC")
    return column


def main():
    dice, traces = random.Random(int(sys.argv[1])), int(sys.argv[2])
    for number in range(traces):
        blocks, warps = dice.choice([1, 3]), dice.choice([1, 2, 4])
        lines = ["-kernel name = k", "-kernel id = 1", "-grid dim = (%d,1,1)" % blocks, "-block dim = (%d,1,1)" % (32 * warps),
                 "-accelsim tracer version = 4", "#traces format"]
        expected = {}
        for block in range(blocks):
            lines += ["#BEGIN_TB", "thread block = %d,0,0" % block]
            for warp in range(warps):
                made = [instruction(dice) for _ in range(dice.choice([0, 1, 8, 80]))]
                lines += ["warp = %d" % warp, "insts = %d" % len(made)] + [m[0] for m in made]
                expected[block, warp] = work_of(made)
            lines.append("#END_TB")
        with tempfile.NamedTemporaryFile("w", suffix=".traceg") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            out = subprocess.run(["bash", "-o", "pipefail", "-c", "gtrace-order --quiet --work %s | gtrace-cat" % file.name], stdout=subprocess.PIPE, check=True).stdout.decode()
        found = {at: [] for at in expected}
        names_of = next((line[1:].split("\t") for line in out.splitlines() if line.startswith("#block")), [])
        for line in out.splitlines():
            if not line.startswith("#"):
                row = dict(zip(names_of, line.split("\t")))
                found[int(row["block"]), int(row["warp"])].append(row["work"])
        for at in expected:
            if found[at] != expected[at]:
                print("trace %d, block %d, warp %d: expected %s, found %s" % (number, *at, expected[at], found[at]))
                print("\n".join(lines))
                sys.exit(1)


main()
