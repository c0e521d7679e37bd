#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds findings to the faults that were put into planted.cu.

    planted.py SOURCE BAD MENDED     what `gtrace run --json --all` prints of the program with and without them

Of each kernel the first finding is the fault, at its line, of its array; and without the fault the kernel moves as much less at each boundary as the
findings say that are gone: what is computed, to 10 %, and at most also what is bounded.
"""
import json
import re
import sys

BOUNDARIES = ("l1_sectors", "l2_sectors", "dram_sectors")


def faults(path):
    """{kernel: (finding, line, array)}."""
    kernel, found = None, {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            kernel = (re.findall(r"__global__ void (\w+)", line) or [kernel])[0]
            for finding, array in re.findall(r"planted: (\w+) (\w+)", line):
                found[kernel] = finding, number, array
    return found


def kernels(path):
    with open(path, encoding="utf-8") as file:
        return {kernel["name"]: kernel for kernel in json.load(file)["kernels"]}


def gains(findings, boundary, bases):
    return sum(one["gain"][boundary]["value"] for one in findings if boundary in one["gain"] and one["gain"][boundary]["basis"] in bases)


def differences(name, fault, bad, mended):
    finding, line, array = fault
    first = bad["findings"][0]
    if (first["finding"], first["place"]) != (finding, f"planted.cu:{line}") or (first["arrays"] or "").split(" ")[0] != array:
        yield f"{name}: expected {finding} planted.cu:{line} {array} first, got {first['finding']} {first['place']} {first['arrays']}"
    left = {(one["finding"], (one["arrays"] or "").split(" ")[0]) for one in mended["findings"]}
    gone = [one for one in bad["findings"] if (one["finding"], (one["arrays"] or "").split(" ")[0]) not in left]
    if first not in gone:
        yield f"{name}: {finding} is not gone"
    for boundary in BOUNDARIES:
        less = bad["traffic"][boundary] - mended["traffic"][boundary]
        least, most = gains(gone, boundary, ["computed"]), gains(gone, boundary, ["computed", "bounded"])
        if less < 0.9 * least or (boundary in first["gain"] and less > 1.1 * most):
            yield f"{name}: {less} fewer {boundary}, {least} computed, at most {most}"


def main():
    source, bad, mended = sys.argv[1:]
    bad, mended, planted = kernels(bad), kernels(mended), faults(source)
    found = [text for name, fault in planted.items() for text in differences(name, fault, bad[name], mended[name])]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(planted)} faults, {len(found)} differences")
    sys.exit(1 if found or planted.keys() != bad.keys() else 0)


main()
