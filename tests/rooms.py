#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how the code of lib is divided, and holds it to limits.
   tests/rooms.py BUILD        run in the root of the tree; prints each measure with its limit; exit status 1 if one is exceeded

A room is a .c file with its .h; an arrow goes from a room to each room whose header it includes. What is measured:
  rooms, headers        how many there are
  used once             external functions of lib that one other object of lib uses, in percent of all: they belong beside their caller
  circle                the most rooms that include each other in a circle
  file, function        the longest, in lines
  median function       in lines"""
import collections
import glob
import os
import re
import statistics
import subprocess
import sys

LIMITS = {"rooms": 290, "headers": 165, "used once": 35, "circle": 2, "file": 1000, "function": 60, "median function": 10}


def sources():
    return sorted(f for f in glob.glob("lib/**/*.[ch]", recursive=True))


def room(file):
    return os.path.splitext(file)[0]


def arrows(files):
    """For each room the rooms that it includes."""
    known, to = set(files), {room(f): set() for f in files}
    for file in files:
        with open(file) as text:
            for name in re.findall(r'^#include "([^"]+)"', text.read(), re.M):
                for found in ("lib/" + name, os.path.normpath(os.path.dirname(file) + "/" + name)):
                    if found in known and room(found) != room(file):
                        to[room(file)].add(room(found))
    return to


def reached(to, start):
    seen, next_rooms = set(), [start]
    while next_rooms:
        for other in to[next_rooms.pop()] - seen:
            seen.add(other)
            next_rooms.append(other)
    return seen


def circles(to):
    """Sets of rooms that reach each other by includes."""
    reach = {r: reached(to, r) for r in to}
    return {frozenset(o for o in reach[r] if r in reach[o]) for r in to if r in reach[r]}


def used_once(build):
    """External functions of lib that one other object of lib uses, and all of them."""
    home, users = {}, collections.defaultdict(set)
    objects = [f"{build}/{room(f)}.o" for f in sources() if f.endswith(".c")]
    # Plug-ins are left out where the library that they call is missing.
    objects = [o for o in objects if "/plugins/" not in o or os.path.exists(o)]
    listing = subprocess.run(["nm", "-A", "-g", *objects], stdout=subprocess.PIPE, text=True)
    if listing.returncode != 0:
        sys.exit(f"tests/rooms.py: {build}: expected the objects of all of lib: make first")
    for line in listing.stdout.splitlines():
        file, symbol = line.split(":", 1)
        kind, name = symbol.split()[-2:]
        if kind == "T":
            home[name] = file
        elif kind == "U":
            users[name].add(file)
    functions = [name for name in home if name.startswith("gt_")]
    return [name for name in functions if len(users[name]) == 1], functions


def function_lengths(file):
    """Lines of each function, from the line before its brace to its end, and where it ends."""
    begin = None
    with open(file) as text:
        for number, line in enumerate(text, 1):
            if line.startswith("{"):
                begin = number
            elif line == "}\n" and begin:
                yield number - begin + 2, f"{file}:{number}"
                begin = None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    files = sources()
    once, functions = used_once(sys.argv[1])
    around = sorted((len(circle), sorted(circle)) for circle in circles(arrows(files)))
    lengths = []
    for file in files:
        with open(file) as text:
            lengths.append((sum(1 for _ in text), file))
    of_functions = [f for file in files if file.endswith(".c") for f in function_lengths(file)]
    measures = {
        "rooms": (len({room(f) for f in files}), ""),
        "headers": (sum(f.endswith(".h") for f in files), ""),
        "used once": (100 * len(once) / len(functions), f"% ({len(once)} of {len(functions)})"),
        "circle": (around[-1][0], " ".join(around[-1][1])) if around else (0, ""),
        "file": max(lengths),
        "function": max(of_functions),
        "median function": (statistics.median(length for length, _ in of_functions), ""),
    }
    failed = False
    for name, (value, note) in measures.items():
        over = value > LIMITS[name]
        failed = failed or over
        print(f"{name:16} {value:7.5g} of {LIMITS[name]:5} at most {note}{'   TOO MUCH' if over else ''}")
    sys.exit(failed)


main()
