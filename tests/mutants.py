#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages a text file in many ways, and gives each copy to a command in the place of {}: it must end in a result, or with status 1
and one line on standard error, of characters that a terminal may get.

    mutants.py N SEED FILE COMMAND [ARGUMENT...]      the copies are named like FILE, in the present folder
"""
import os
import random
import subprocess
import sys
from collections import Counter

SECONDS = 20
WORDS = [b"", b"-", b"-1", b"0", b"1", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616",
         b"1e400", b"-1e400", b"nan", b"inf", b"0x", b"0xffffffffffffffffff", b"1.2.3", b"1,234,5", b"\"", b"\"\"", b"'", b"=x", b"%s%n", b"%",
         b"\x00", b"\xff\xfe", b"\xe2\x80\xae", b"\x1b[31m", b"\r", b"\t", b"/", b"..", b"../../x", b"/dev/null", b".", b"~", b"$(x)", b"`x`", b"#",
         b"A" * 300, b"7" * 400, b"(" * 70, b"[" * 70, b"," * 70, b":", b";", b"{", b"}"]
SEPARATORS = b" ,\t=:;|\"\n"


def field(data, pick):
    """The place of a field: between two separators."""
    at = pick.randrange(len(data) + 1)
    begin = end = at
    while begin > 0 and data[begin - 1] not in SEPARATORS:
        begin -= 1
    while end < len(data) and data[end] not in SEPARATORS:
        end += 1
    return begin, end


def damage_bytes(data, pick):
    at = pick.randrange(len(data) + 1)
    how = pick.randrange(4)
    if how == 0:
        return data[:at] + bytes([pick.randrange(256)]) + data[at + 1:]
    if how == 1:
        return data[:at] + bytes([pick.choice(SEPARATORS)]) + data[at:]
    if how == 2:
        return data[:at] + data[at + pick.choice([1, 1, 2, 5, 20]):]
    return data[:at] if pick.randrange(4) == 0 else data[:at] + data[max(0, at - pick.randrange(200)):]


def damage_field(data, pick):
    begin, end = field(data, pick)
    word = pick.choice(WORDS)
    if pick.randrange(4) == 0:
        other = field(data, pick)
        word = data[other[0]:other[1]]
    return data[:begin] + word + data[end:]


def damage_lines(data, pick):
    lines = data.split(b"\n")
    at, other = pick.randrange(len(lines)), pick.randrange(len(lines))
    how = pick.randrange(5)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(at, lines[other])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        lines[at] = lines[at] * pick.choice([2, 30])
    else:
        lines[at] += lines[other]
    return b"\n".join(lines)


def mutant(data, pick):
    for _ in range(pick.choice([1, 1, 2, 3, 8])):
        data = pick.choice([damage_bytes, damage_field, damage_field, damage_lines])(data, pick)
    return data


def shown(text):
    """Whether a terminal may get it: a line of UTF-8 without control characters, and none that turn text around."""
    try:
        line = text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(c == "\n" or (c.isprintable() and c not in "\u202e\u202d\u2066\u2067") for c in line)


def fault(done):
    """What is wrong with how a command ended; None: nothing."""
    said = [line for line in done.stderr.split(b"\n") if line and b"warning: " not in line]
    if done.returncode not in (0, 1):
        return "status %d" % done.returncode
    if done.returncode == 1 and len(said) != 1:
        return "%d lines" % len(said)
    return None if shown(done.stderr) else "not for a terminal"


def try_mutants(n, name, make, run, fault):
    """Writes what make() returns to the file `name` and has run() read it, N times. A file with which fault(done) finds something wrong
    is kept as name.I. Returns whether nothing is wrong, and some were read and some refused."""
    ended, wrong = Counter(), 0
    for i in range(n):
        with open(name, "wb") as file:
            file.write(make())
        try:
            done = run()
            ended[done.returncode] += 1
            why = fault(done)
        except subprocess.TimeoutExpired as late:
            why, done = "longer than %d s" % late.timeout, None
        if why:
            wrong += 1
            os.replace(name, "%s.%d" % (name, i))
            print("%s.%d: %s %s" % (name, i, why, done.stderr[:400] if done else ""))
    print("%d mutants: %d read, %d refused, %d wrong" % (n, ended[0], ended[1], wrong))
    return wrong == 0 and ended[0] > 0 and ended[1] > 0


def main():
    n, seed, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    command = [name if word == "{}" else word for word in sys.argv[4:]]
    pick = random.Random(seed)
    print(" ".join(command))
    sys.exit(not try_mutants(n, name, lambda: mutant(data, pick), lambda: subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS), fault))


if __name__ == "__main__":
    main()
