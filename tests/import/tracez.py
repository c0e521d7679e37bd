# SPDX-License-Identifier: MIT
"""Rewrites a grouped Accel-Sim trace as .tracez, with a dictionary or without, in pieces of a few lines.
usage: tracez.py TRACEG TRACEZ [LINES-OF-A-PIECE [DICTIONARY]]"""
import struct, subprocess, sys, tempfile

text = open(sys.argv[1]).read()
piece_lines = int(sys.argv[3]) if len(sys.argv) > 3 else 2048
dictionary = open(sys.argv[4], "rb").read() if len(sys.argv) > 4 else b""
head, *blocks = text.split("#BEGIN_TB")


def packed(lines):
    with tempfile.NamedTemporaryFile("w") as piece:
        piece.write("\n".join(lines))
        piece.flush()
        return subprocess.run(["zstd", "-q", "-c", piece.name] + (["-D", sys.argv[4]] if dictionary else []), stdout=subprocess.PIPE, check=True).stdout


out = head.encode() + b"\0" + struct.pack("<II", len(dictionary), piece_lines) + dictionary
index = struct.pack("<I", len(blocks))
for block in blocks:
    lines = [line for line in block.split("\n") if line]
    place = next(line for line in lines if line.startswith("thread block = "))
    warps = []  # in the order of their numbers; those without a line have no instructions
    for line in lines:
        if line.startswith("warp = "):
            number = int(line[7:])
            warps += [[] for _ in range(number + 1 - len(warps))]
        elif line[0] not in "#wti" and not line.startswith("cluster "):
            warps[number].append(line)
    index += struct.pack("<11I", *map(int, place[15:].split(",")), 0, 0, 0, 0, 0, 0, 0, len(warps))
    for warp in warps:
        pieces = [warp[i:i + piece_lines] for i in range(0, len(warp), piece_lines)]
        index += struct.pack("<IIQ", len(warp), len(pieces), len(out)) + struct.pack(f"<{len(pieces)}I", *map(len, pieces))
        out += struct.pack("<II", len(warp), len(pieces))
        for piece in pieces:
            data = packed(piece)
            out += struct.pack("<I", len(data)) + data
open(sys.argv[2], "wb").write(out + index + struct.pack("<Q", len(out)))
