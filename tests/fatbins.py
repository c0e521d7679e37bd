#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages the fat binary of a CUDA program in many ways, and has gtrace-record run each copy: it must end in a result, or in one line
of gtrace-record, or in one of the program, whose kernel computes something else. A copy with damage in headers only either fails or
gives the same stream; the kind of an entry, which says whether it is read at all, counts as code.

    fatbins.py N SEED PROGRAM [ARGUMENT...]      the copies are called program, in the present folder, and program.I if something is wrong
"""
import os
import random
import resource
import subprocess
import sys

from mutants import try_mutants

SECONDS, ADDRESSES = 10, 4 << 30
CONTAINER, ENTRY, WRAPPER = 16, 64, 24
MAGIC = b"\x50\xed\x55\xba"
KIND_BYTES = 2 # the first field of an entry
# Offset and bytes of the other fields of headers.
CONTAINER_FIELDS = [(0, 4), (4, 2), (6, 2), (8, 8)]
ENTRY_FIELDS = [(2, 2), (4, 4), (8, 8), (16, 4), (20, 4), (24, 2), (26, 2), (28, 4), (32, 4), (36, 4), (40, 8), (48, 8), (56, 8)]
WRAPPER_FIELDS = [(0, 4), (4, 4), (16, 8)]
SIZES = [0, 1, 2, 3, 4, 8, 15, 16, 17, 63, 64, 65, 72, 4096, 0x7fff, 0xffff, 1 << 20, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
         (1 << 63) - 1, 1 << 63, (1 << 64) - 64, (1 << 64) - 16, (1 << 64) - 1]


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def sections(data):
    """Offset and bytes of each section of an ELF file, by name."""
    table, each, count, names = number(data, 40, 8), number(data, 58, 2), number(data, 60, 2), number(data, 62, 2)
    headers = [data[table + i * each:table + (i + 1) * each] for i in range(count)]
    texts = number(headers[names], 24, 8)
    return {data[texts + number(header, 0, 4):].split(b"\0", 1)[0]: (number(header, 24, 8), number(header, 32, 8)) for header in headers}


def layout(data):
    """The fields of all headers, and the payloads and kinds of entries, as offset and bytes."""
    parts = sections(data)
    begin, size = parts[b".nv_fatbin"]
    wrapper, wrappers = parts[b".nvFatBinSegment"]
    fields = [(at + offset, n) for at in range(wrapper, wrapper + wrappers, WRAPPER) for offset, n in WRAPPER_FIELDS]
    payloads, at = [], data.find(MAGIC, begin, begin + size)
    if at < 0:
        return fields, [(begin, size)]
    while at >= 0:
        fields += [(at + offset, n) for offset, n in CONTAINER_FIELDS]
        end, entry = at + CONTAINER + number(data, at + 8, 8), at + CONTAINER
        while entry < end:
            header, payload = number(data, entry + 4, 4), number(data, entry + 8, 8)
            fields += [(entry + offset, n) for offset, n in ENTRY_FIELDS]
            payloads += [(entry, KIND_BYTES), (entry + header, payload)]
            entry += header + payload
        at = data.find(MAGIC, end, begin + size)
    return fields, payloads


def damage_field(data, fields, pick):
    at, size = pick.choice(fields)
    value, how = number(data, at, size), pick.randrange(4)
    if how == 0:
        value = pick.choice(SIZES)
    elif how == 1:
        value += pick.choice([-64, -16, -8, -1, 1, 8, 16, 64, pick.randrange(-5000, 5000)])
    elif how == 2:
        value ^= 1 << pick.randrange(8 * size)
    else:
        value = number(data, *pick.choice(fields))
    data[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")


def damage_payload(data, payloads, pick):
    at, size = pick.choice(payloads)
    place = at + (pick.randrange(size) if pick.randrange(2) else pick.randrange(min(size, 256)))
    how = pick.randrange(4)
    if how == 0:
        data[place] = pick.randrange(256)
    elif how == 1:
        data[place] ^= 1 << pick.randrange(8)
    elif how == 2:
        data[place:at + size] = bytes(at + size - place)
    else:
        n = min(pick.choice([1, 4, 16, 64]), at + size - place)
        source = at + pick.randrange(size - n + 1)
        data[place:place + n] = data[source:source + n]


def mutant(data, places, pick):
    """A damaged copy, and whether a payload was damaged."""
    copy, in_payload = bytearray(data), False
    headers_only = pick.randrange(2) == 0
    for _ in range(pick.choice([1, 1, 2, 3, 4])):
        if headers_only or pick.randrange(2):
            damage_field(copy, places[0], pick)
        else:
            damage_payload(copy, places[1], pick)
            in_payload = True
    return bytes(copy), in_payload


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def record(arguments):
    os.chmod("program", 0o755)
    return subprocess.run(["gtrace-record", "--memory", "1G", "./program"] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=SECONDS, preexec_fn=limit)


def fault(done, whole, in_payload):
    """What is wrong with how a copy ended; None: nothing."""
    said = [line for line in done.stderr.split(b"\n") if line.startswith(b"gtrace-record: ") and b"warning: " not in line]
    if done.returncode not in (0, 1):
        return "status %d" % done.returncode
    if done.returncode == 1 and len(said) != 1 and not in_payload:
        return "%d lines" % len(said)
    if done.returncode == 1 and not done.stderr.strip():
        return "no line"
    if done.returncode == 0 and done.stdout != whole and not in_payload:
        return "another stream"
    return None


def main():
    n, seed, path, arguments = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    with open(path, "rb") as file:
        data = file.read()
    places, pick = layout(data), random.Random(seed)
    with open("program", "wb") as file:
        file.write(data)
    sound, damaged = record(arguments), {}
    if sound.returncode != 0:
        sys.exit("%s fails without damage: %s" % (path, sound.stderr))

    def make():
        copy, damaged["in_payload"] = mutant(data, places, pick)
        return copy

    sys.exit(not try_mutants(n, "program", make, lambda: record(arguments), lambda done: fault(done, sound.stdout, damaged["in_payload"])))


if __name__ == "__main__":
    main()
