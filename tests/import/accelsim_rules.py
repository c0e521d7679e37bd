#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads traces as Accel-Sim's trace parser and trace-driven core do (dev, October 2024), with what they assert, and prints the accesses.
   tests/import/accelsim_rules.py FOLDER [warps]
An access a line: launch, block, warp, PC, mask, opcode, its addresses. With `warps`, in place of these, the instructions of each warp
without addresses. Exit status 1 with a line if Accel-Sim would stop: a header that it does not find, a block too many or too few, a warp
without an instruction or without an EXIT of all its lanes as the last, more than one register written or four read, an opcode that Volta's table lacks."""
import os
import re
import sys

OPCODES = set("LD LDC LDG LDL LDS ST STG STL STS ATOM ATOMS ATOMG RED CCTL TLD EXIT BAR IADD3 FFMA MOV IMAD".split())


def expect(condition, what):
    if not condition:
        sys.exit(f"accelsim_rules.py: expected {what}")


def addresses(words, mask):
    """Of the words behind the width: (mode, ...)."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    if words[0] == "1":
        expect(lanes == list(range(lanes[0], lanes[0] + len(lanes))), "adjacent lanes in mode 1")
        return [int(words[1], 16) + i * int(words[2]) for i in range(len(lanes))]
    expect(words[0] == "0" and len(words) >= 1 + len(lanes), "mode 0 or 1 with all addresses")
    return [int(word, 16) for word in words[1:1 + len(lanes)]]


def instruction(line):
    words = line.split(" ")
    pc, mask, n = int(words[0], 16), int(words[1], 16), int(words[2])
    expect(n <= 1, "one result at most")
    opcode, sources = words[3 + n], int(words[4 + n])
    expect(sources <= 4, "four sources at most")
    for register in words[3:3 + n] + words[5 + n:5 + n + sources]:
        expect(re.fullmatch(r"R\d+", register) and int(register[1:]) <= 255, f"a register, not {register}")
    expect(opcode.split(".")[0] in OPCODES, f"an opcode of Volta, not {opcode}")
    width = int(words[5 + n + sources])
    return pc, mask, opcode, addresses(words[6 + n + sources:], mask) if width else None, width


def block_lines(lines):
    """The lines of the next block, or None; as get_next_threadblock_traces reads them."""
    found = []
    for line in lines:
        if line == "#END_TB":
            return found
        if line:
            found.append(line)
    expect(not found, "#END_TB")
    return None


def read_launch(path, number, of_warps):
    with open(path, newline="") as file:
        text = file.read()
    expect(text.endswith("\n"), "a newline at the end")
    lines, header = iter(text[:-1].split("\n")), {}
    for line in lines:
        if line.startswith("#"):
            break
        if line.startswith("-"):
            key, value = line[1:].split(" = ", 1)
            header[key] = value
    expect(header["binary version"] == "70" and int(header["accelsim tracer version"]) >= 3, "Volta's opcodes, and lines without a block")
    grid, block = (eval(header[key]) for key in ("grid dim", "block dim"))  # "(4,16,1)"
    threads = block[0] * block[1] * block[2]
    for n in range(grid[0] * grid[1] * grid[2]):
        found = block_lines(lines)
        expect(found and found[0] == "#BEGIN_TB", f"block {n} of the grid")
        at = (n % grid[0], n // grid[0] % grid[1], n // grid[0] // grid[1])
        expect(found[1] == "thread block = %d,%d,%d" % at, f"block {at}")
        read_block(found[2:], threads, f"{number}\t{n}", of_warps)
    expect(block_lines(lines) is None, "no further block")


def read_block(lines, threads, label, of_warps):
    warps = (threads + 31) // 32
    at = 0
    for warp in range(warps):
        expect(lines[at] == f"warp = {warp}", f"warp {warp}")
        n = int(lines[at + 1].removeprefix("insts = "))
        expect(n > 0, "an instruction in each warp")
        instructions = [instruction(line) for line in lines[at + 2:at + 2 + n]]
        lanes = (1 << min(32, threads - 32 * warp)) - 1
        expect(instructions[-1][1:3] == (lanes, "EXIT") and all(i[2] != "EXIT" for i in instructions[:-1]), "EXIT of all lanes at the end")
        if of_warps:
            print(label, warp, *(i[2].split(".")[0] for i in instructions), sep="\t")
        for pc, mask, opcode, where, width in () if of_warps else instructions:
            if width:
                print(label, warp, f"{pc:x}", f"{mask:08x}", opcode, *(f"{a:x}" for a in where), sep="\t")
        at += 2 + n
    expect(at == len(lines), "no further warp")


def main():
    with open(os.path.join(sys.argv[1], "kernelslist.g")) as listed:
        launches = [line.rstrip("\n") for line in listed if line.startswith("kernel")]
    for number, name in enumerate(launches, 1):
        read_launch(os.path.join(sys.argv[1], name), number, "warps" in sys.argv[2:])


main()
