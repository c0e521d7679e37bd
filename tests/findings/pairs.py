#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds findings to kernels in pairs: the first has the finding, the second does the same work without it.

    pairs.py PAIR...               the kernels' PTX, by gtrace-ptx
    pairs.py --programs DIR PAIR   the programs that nvcc has made of the sources in DIR, by gtrace-record
    pairs.py --list, --findings    the names of the pairs; the findings' identifiers

Of the first kernel: the finding, its title, line, arrays, numbers and gains, where the numbers are sums done by hand (below), and gains are
also those of the stages' counters (gstats --csv), added up here. A gain that says computed is then held to the second kernel: at its
boundary this one moves what the gain promises, to 10 %; one that says bounded promises no less than that. The second
kernel does not have the finding.
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BOUNDARIES = ("l1", "l2", "dram")
STAGES = [["gcoalesce", "--by", "site"], ["gschedule"], ["gcache", "--l1", "--by", "site", "--causes"],
          ["gcache", "--l2", "--by", "site", "--causes"], ["gdram"]]
TLB = ["gcache", "--tlb", "l1", "--emit", "all"]


class Pair:
    """finding: its identifier; also: other findings that the first kernel has; shape: ((grid), (block), elements of a, of b, n, launches);
    numbers: of the evidence; gains: (sectors, basis) by boundary, or passes, with None for sectors that only SUMS gives; places: lines that have
    it, the first of which is held; besides: what else the second kernel spares."""

    def __init__(self, finding, title, source, kernel, gpu, shape, arrays, numbers, gains, also=(), mended=None, tlb=False, fill="",
                 place=True, places=1, besides=()):
        self.finding, self.title, self.source, self.kernel, self.gpu, self.shape = finding, title, source, kernel, gpu, shape
        self.arrays, self.numbers, self.gains, self.also = arrays, numbers, gains, set(also)
        self.mended, self.tlb, self.fill, self.place, self.places = mended or shape, tlb, fill, place, places
        self.besides = dict(besides)


C, B = "computed", "bounded"
PAIRS = {
    # 80 blocks of 2 warps; a warp's load touches 32 sectors, and needs 4; 64 loads each.
    "uncoalesced load": Pair(
        "uncoalesced_load", "uncoalesced load", "access", "load", "titanv", ((80, 1), (64, 1), 5120 * 64, 5120, 64), "a",
        {"accesses": 160 * 64, "sectors_per_access": 32, "least_sectors_per_access": 4}, {"l1": (160 * 64 * 28, C)}),
    "uncoalesced store": Pair(
        "uncoalesced_store", "uncoalesced store", "access", "store", "titanv", ((80, 1), (64, 1), 5120, 5120 * 64, 64), "b",
        {"accesses": 160 * 64, "sectors_per_access": 32, "least_sectors_per_access": 4}, {"l1": (160 * 64 * 28, C), "l2": (160 * 64 * 28, C)}),
    "uncoalesced atomic": Pair(
        "uncoalesced_atomic", "uncoalesced atomic", "access", "atomic", "titanv", ((80, 1), (64, 1), 5120, 5120 * 64, 64), "b",
        {"accesses": 160 * 64, "sectors_per_access": 32, "least_sectors_per_access": 4}, {"l1": (160 * 64 * 28, C), "l2": (160 * 64 * 28, C)}),
    # 2048 warps, of whose accesses each touches a sector more than its 4.
    "misaligned load": Pair(
        "misaligned", "misaligned access", "access", "misaligned_load", "titanv", ((256, 1), (256, 1), 65536 + 32, 65536, 65536), "a",
        {"accesses": 2048, "sectors_per_access": 5, "least_sectors_per_access": 4}, {"l1": (2048, C)}),
    "misaligned store": Pair(
        "misaligned", "misaligned access", "access", "misaligned_store", "titanv", ((256, 1), (256, 1), 65536, 65536 + 32, 65536), "b",
        {"accesses": 2048, "sectors_per_access": 5, "least_sectors_per_access": 4}, {"l1": (2048, C), "l2": (2048, C)}),
    # 64 blocks copy 256 elements, each of which is an access of a sector; 32 of a block would do. Of the mended kernel the code is longer.
    "few active lanes": Pair(
        "few_lanes", "few active lanes", "access", "few", "titanv", ((64, 1), (1, 1), 16384, 16384, 256), None,
        {"accesses": 2 * 16384, "lanes_per_access": 1}, {"l1": (2 * (16384 - 2048), B), "l2": (16384 - 2048, B)},
        mended=((64, 1), (32, 1), 16384, 16384, 256), place=False),
    # 4 bytes of each of 65536 sectors: 8192 would do.
    "bytes never used": Pair(
        "unused_bytes", "bytes never used", "access", "fields", "titanv", ((256, 1), (256, 1), 65536 * 8, 65536, 65536), "a",
        {"read_sectors": 65536, "read_bytes": 4 * 65536}, {"l2": (65536 - 8192, B), "dram": (65536 - 8192, B)}, also=("uncoalesced_load",)),
    # L2 fetches 64 bytes for 4: 131072 sectors for 8192.
    "bytes never used, structures of 64 bytes": Pair(
        "unused_bytes", "bytes never used", "access", "wide", "titanv", ((256, 1), (256, 1), 65536 * 16, 65536, 65536), "a",
        {"read_sectors": 65536, "read_bytes": 4 * 65536}, {"l2": (65536 - 8192, B), "dram": (131072 - 8192, B)}, also=("uncoalesced_load",)),
    "bytes never used, one lane": Pair(
        "unused_bytes", "bytes never used", "access", "parameters", "titanv", ((2048, 1), (32, 1), 2048 * 8, 65536, 7), "a",
        {"read_sectors": 2048, "read_bytes": 4 * 2048}, {"l2": (2048 - 256, B), "dram": (2048 - 256, B)}),
    # 8 blocks, each on an SM, read 160 KB four times; L1, which is LRU, has 64 KB. All but the first round is lost.
    "L1 too small": Pair(
        "l1_capacity", "L1 too small", "caches", "l1_capacity", "t4", ((8, 1), (1024, 1), 8 * 40960, 8192, 40960), "a",
        {"reads": 4 * 8 * 5120, "capacity_misses": 3 * 8 * 5120, "size": 64 << 10, "size_that_keeps_90_percent": 160 << 10},
        {"l2": (3 * 8 * 5120, C)}),
    # 8 planes of 4 lines in 4 sets of 4 ways; which of the lines the set loses is random in this GPU (see SUMS).
    "L1 conflicts": Pair(
        "l1_conflict", "L1 conflicts", "caches", "l1_conflict", "gtx560ti", ((8, 1), (128, 1), 9 * 262144, 1024, 262144), "a",
        {"reads": 4 * 8 * 8 * 16}, {"l2": (None, C)}),
    # 16 rounds of 8 blocks: each but the first loads 32 sectors a warp, which the warp has stored before.
    "dropped by stores": Pair(
        "l1_dropped", "dropped by stores", "caches", "dropped", "gtx560ti", ((8, 1), (256, 1), 2048, 2048, 16), "a",
        {"invalidated": 15 * 256}, {"l2": (15 * 256, B)}, places=2, also=("repeated_store",),
        besides={"l2": 15 * 256 + 256}),  # stores, and the last load
    # 4 parts of 16 KB, each read by 8 blocks on as many SMs: 7 of them find another was first.
    "read by several SMs": Pair(
        "read_by_many_sms", "read by several SMs", "caches", "several", "titanv", ((8, 4), (256, 1), 16384, 8192, 4096), "a",
        {"misses": 4 * 8 * 512, "elsewhere": 4 * 7 * 512}, {"l2": (4 * 7 * 512, B)}, mended=((1, 4), (256, 1), 16384, 8192, 4096),
        besides={"l2": 32}),  # code, of 4 SMs and not of 32
    # 12 blocks read 160 KB four times, past L1: 1920 KB; L2 has 1536 KB. Its index is a hash (see SUMS).
    "L2 too small": Pair(
        "l2_capacity", "L2 too small", "caches", "l2_capacity", "gtx780", ((12, 1), (1024, 1), 12 * 40960, 12288, 40960), "a",
        {"reads": 4 * 12 * 5120, "size": 1536 << 10, "size_that_keeps_90_percent": 2 << 20}, {"dram": (None, C)}),
    # 64 blocks read every second sector of 128 KB, 8 MB in all; L2 has 4.5 MB, and fetches both sectors.
    "L2 too small, fetches of 64 bytes": Pair(
        "l2_capacity", "L2 too small", "caches", "l2_fetches", "titanv", ((64, 1), (512, 1), 64 * 32768, 64 * 512, 32768), "a",
        {"reads": 4 * 64 * 2048, "capacity_misses": 3 * 64 * 2048}, {"dram": (3 * 64 * 4096, C)}),
    # 64 rows of 4 lines in 4 sets of 8 ways.
    "L2 conflicts": Pair(
        "l2_conflict", "L2 conflicts", "caches", "l2_conflict", "gt740m", ((1, 1), (32, 1), 64 * 16400, 32, 64), "a",
        {"reads": 4 * 64 * 4}, {"dram": (None, C)}),
    # 1024 warps store 31 of 32 elements: the last of 4 sectors is written in part, and read then.
    "partial store": Pair(
        "partial_store", "partial store", "caches", "partial", "a100", ((128, 1), (256, 1), 32768, 32768, 64), "b",
        {"partial_writes": 1024, "partial_reads": 1024, "bytes_per_sector": 31}, {"dram": (1024, C)}),
    # 160 warps store 65 times.
    "repeated store": Pair(
        "repeated_store", "repeated store", "caches", "stored", "titanv", ((80, 1), (64, 1), 5120 * 64, 5120, 64), "b",
        {"stored": 160 * 4 * 65, "written": 160 * 4}, {"l1": (160 * 4 * 64, B), "l2": (160 * 4 * 64, B)}),
    # 4 blocks an SM read 8 KB each four times; L1 has 24 KB.
    "blocks share L1": Pair(
        "resident_blocks", "blocks share L1", "caches", "blocks", "gtx1080", ((80, 1), (512, 1), 80 * 2048, 80 * 512, 2048), None,
        {"resident_blocks": 4, "blocks_that_fit": 3, "working_set": 32 << 10}, {"l2": (3 * 80 * 256, B)}, also=("l1_capacity",),
        mended=((20, 1), (512, 1), 80 * 2048, 80 * 512, 2048), place=False),
    # 64 tiles: 32 accesses each of a column, whose words are in one bank.
    "shared-memory bank conflicts": Pair(
        "bank_conflict", "shared-memory bank conflicts", "memory", "bank", "titanv", ((64, 1), (32, 8), 2048 * 32, 2048 * 32, 2048), "tile",
        {"accesses": 64 * 32, "passes_per_access": 32, "least_passes_per_access": 1}, {"passes": (64 * 32 * 31, C)}),
    # 2048 warps, each of whose lanes reads another element of 4 KB; the cache of constants has 2 KB.
    "constants in turn": Pair(
        "constant_turns", "constants in turn", "memory", "constant", "titanv", ((256, 1), (256, 1), 1024, 65536, 1024), None,
        {"accesses": 2048, "addresses_per_access": 32}, {"l2": (None, B)}, place=False),
    # 256 warps clear 4 elements of local memory, change one 16 times, and read 4; sectors of lanes that change the same one are together.
    "local memory": Pair(
        "local_memory", "local memory", "memory", "local", "titanv", ((64, 1), (128, 1), 8192 * 16, 8192, 16), None,
        {}, {"l1": (None, C), "l2": (None, B)}, fill=":rand(1,100.0)"),
    # 2048 warps, a sector each; 256 blocks need one each.
    "atomics on one address": Pair(
        "same_address_atomic", "atomics on one address", "memory", "sum", "titanv", ((256, 1), (256, 1), 65536, 1, 65536), "b",
        {"accesses": 2048, "lanes_per_address": 32}, {"l2": (2048 - 256, B)}),
    # 200 launches of 29 sectors, 12 of which are missed each time and fetched by two; 4 of a launch come from memory.
    "launches outweigh the kernel": Pair(
        "launch_traffic", "launches outweigh the kernel", "memory", "launches", "titanv", ((1, 1), (128, 1), 128, 128, 200, 200), None,
        {"launches": 200}, {"l2": (None, B), "dram": (200 * 4, B)}, mended=((1, 1), (128, 1), 128, 128, 200), place=False,
        besides={"l2": 199 * 16, "dram": 199 * 32}),  # what each launch reads and writes again
    # Of 64 bytes of a row every second sector finds it open; so do nearly all of 512 stores.
    "DRAM rows": Pair(
        "dram_rows", "DRAM rows", "memory", "rows", "gt740m", ((4, 1), (128, 1), 512 * 64, 512, 64), None, {}, {}, place=False),
    # 4096 pieces of 4 sectors in one of 24 channels, and as many in all.
    "DRAM channels": Pair(
        "dram_channels", "DRAM channels", "memory", "channels", "titanv", ((512, 1), (32, 8), 4096 * 1600, 4096 * 32, 1536), None,
        {"channels": 24}, {}, place=False),
    # 64 lines of each of 40 pages of 2 MB, in turn; the TLB has 16.
    "TLB reach": Pair(
        "tlb_reach", "TLB reach", "memory", "tlb", "gtx780", ((1, 1), (32, 1), 40 * 524288, 32, 40), None,
        {"lookups": 64 * 40, "misses": 64 * 40}, {}, tlb=True, place=False),
    "polling": Pair(
        "polling", "polling", "memory", "polling", "titanv", ((16, 1), (128, 1), 2048, 16, 7), None, {}, {}, also=("few_lanes",), place=False),
}


# ---- running ----

def run(command, data=None, **more):
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True, **more)
    return done.stdout


def stream(pair, suffix, programs):
    """The stream of a kernel of a pair: what gdram writes."""
    (gx, gy), (bx, by), a, b, n, *launches = pair.shape if suffix == "bad" else pair.mended
    count = launches[0] if launches else 1
    name = f"{pair.kernel}_{suffix}"
    if programs:
        source = ["gtrace-record", "--gpu", pair.gpu, "--space", "global,local,shared,constant", os.path.join(programs, pair.source), name] + [
            str(number) for number in (gx, gy, bx, by, a, b, n, count)]
    else:
        first = f"{name}<<<({gx},{gy}),({bx},{by})>>>(a=f32[{a}]{pair.fill}, b=f32[{b}], n={n})"
        again = f"{name}<<<({gx},{gy}),({bx},{by})>>>(a, b, n={n})"
        source = ["gtrace-ptx", "--gpu", pair.gpu, "--space", "global,local,shared,constant"]
        for i in range(count):
            source += ["--launch", again if i else first]
        source.append(os.path.join(HERE, "ptx", pair.source + ".ptx"))
    stages = [source] + STAGES[:2] + ([TLB] if pair.tlb else []) + STAGES[2:]
    before, running = None, []
    for stage in stages:
        running.append(subprocess.Popen(stage, stdin=before, stdout=subprocess.PIPE))
        if before:
            before.close()
        before = running[-1].stdout
    data = before.read()
    for command, process in zip(stages, running):
        if process.wait() != 0:
            sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return data


def findings_of(data):
    wide = [line for line in run(["gstats", "--findings", "--all", "--program", "./program"], data).decode().split("\n\nGPU ")[0].split("\n") if len(line) > 80]
    expect("lines of over 80 columns", wide, [])
    kernels = json.loads(run(["gstats", "--findings", "--json"], data))["kernels"]
    assert len(kernels) == 1, f"{len(kernels)} kernels"
    return kernels[0]


def counters_of(data):
    """The counters of all launches added up: by stage and name; those by site also by line."""
    numbers, words, lines = collections.Counter(), {}, {}
    pcs, sites = {}, collections.Counter()
    rows = list(csv.DictReader(io.StringIO(run(["gstats", "--csv"], data).decode())))
    for row in rows:
        if row["kernel"] == "total":
            continue
        key = row["stage"], row["counter"]
        words[key] = row["value"]
        try:
            numbers[key] += int(row["value"])
        except ValueError:
            pass
    for (stage, counter), value in words.items():
        if stage == "source" and counter.startswith("pcs["):
            pcs[int(value)] = int(words[stage, "lines" + counter[3:]])
    for (stage, counter), value in numbers.items():
        if counter.startswith("0x"):
            site, _, name = counter.rpartition(".")
            sites[stage, name, pcs.get(int(site.split()[0], 16))] += value
    return numbers, words, sites


# ---- what counters add up to, by the kind of finding ----

def excess(sites, line):
    return sites["coalesce", "sectors", line] - sites["coalesce", "least_sectors", line]


SUMS = {
    "uncoalesced_load": lambda n, s, l: {"l1": excess(s, l)},
    "uncoalesced_store": lambda n, s, l: {"l1": excess(s, l), "l2": excess(s, l)},
    "uncoalesced_atomic": lambda n, s, l: {"l1": excess(s, l), "l2": excess(s, l)},
    "l1_capacity": lambda n, s, l: {"l2": s["l1", "capacity", l]},
    "l1_conflict": lambda n, s, l: {"l2": 4 * s["l1", "conflict", l]},  # a sector of this L1 is a line
    "l1_dropped": lambda n, s, l: {"l2": 4 * s["l1", "invalidated", l]},
    "read_by_many_sms": lambda n, s, l: {"l2": s["l1", "elsewhere", l]},
    "l2_conflict": lambda n, s, l: {"dram": s["l2", "conflict", l]},
    "partial_store": lambda n, s, l: {"dram": s["l2", "partial_reads", l]},
    "constant_turns": lambda n, s, l: {"l2": n["l1", "constant_reads"] - n["l1", "constant_hits"] - n["l2", "gpc_constant_hits"]},
    "resident_blocks": lambda n, s, l: {"l2": sum(value for (stage, name, _), value in s.items() if (stage, name) == ("l1", "capacity"))},
    "launch_traffic": lambda n, s, l: {"l2": n["l2", "launch_reads"], "dram": min(2 * (n["l2", "launch_reads"] - n["l2", "launch_hits"]), 4 * n["l2", "launch_reads"] // 29)},
}


def local_sectors(n, words):
    return sum(n[stage, counter[:-3] + ".sectors"] for (stage, counter), word in words.items()
               if stage == "coalesce" and counter.startswith("0x") and counter.endswith(".op") and ".local" in word)


def channels(n):
    """The sectors of each channel of device memory."""
    sums = collections.Counter()
    for (stage, counter), value in n.items():
        if stage == "dram" and counter.startswith(("channel_reads[", "channel_writes[")):
            sums[counter.split("[")[1]] += value
    return sums


# Numbers of the evidence, and gains that are no line's: by the kind of finding, from counters (n) and words (w).
OTHER_SUMS = {
    "constant_turns": lambda n, w: {"addresses_per_access": n["coalesce", "constant_turns"] / n["coalesce", "constant_accesses"]},
    "local_memory": lambda n, w: {"local_sectors": local_sectors(n, w)},
    "dram_rows": lambda n, w: {"row_hits": n["dram", "row_hits"] / (n["dram", "row_hits"] + n["dram", "row_misses"])},
    "dram_channels": lambda n, w: {"busiest_over_mean": max(channels(n).values()) * 24 / sum(channels(n).values())},
    "tlb_reach": lambda n, w: {"misses": n["l1tlb", "reads"] - n["l1tlb", "read_hits"]},
    "polling": lambda n, w: {"polls": n["ptx", "polls"]},
}


# ---- the test ----

def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found}, expected {expected}")


def close(what, found, expected, part):
    if abs(found - expected) > part * expected:
        sys.exit(f"{what}: found {found}, expected {expected} to {100 * part:g} %")


def line_of(source, word):
    """The line of a source whose comment has this word."""
    with open(os.path.join(HERE, source + ".cu")) as lines:
        found = [i for i, line in enumerate(lines, 1) if "/*" in line and word in line.split("/*")[1].split()]
    expect(f"lines of {source}.cu with {word}", len(found), 1)
    return found[0]


def hold(pair, programs):
    bad = stream(pair, "bad", programs)
    numbers, words, sites = counters_of(bad)
    kernel = findings_of(bad)
    found = [one["finding"] for one in kernel["findings"]]
    expect("the findings", sorted(set(found)), sorted({pair.finding} | pair.also))
    one, *others = [one for one in kernel["findings"] if one["finding"] == pair.finding]
    expect("places that have it", 1 + len(others), pair.places)
    expect("the title", one["title"], pair.title)
    line = line_of(pair.source, f"{pair.kernel}:{pair.finding}") if pair.place else None
    expect("the place", one["place"], f"{pair.source}.cu:{line}" if pair.place else None)
    arrays = one["arrays"]
    if programs and arrays:
        arrays = arrays.split(" (")[0]
    expect("the arrays", arrays, pair.arrays)
    for name, number in pair.numbers.items():
        close(name, one["evidence"][name]["value"], number, 1e-5)
    gains = {name.replace("_sectors", ""): (gain["value"], gain["basis"]) for name, gain in one["gain"].items()}
    expect("the boundaries of gains", {name: gain[1] for name, gain in gains.items()}, {name: gain[1] for name, gain in pair.gains.items()})
    for name, (gain, _) in pair.gains.items():
        if gain is not None:
            expect(f"the gain at {name}", gains[name][0], gain)
    if pair.finding in SUMS:
        expect("the gains, from counters", {name: gain[0] for name, gain in gains.items()}, SUMS[pair.finding](numbers, sites, line))
    if pair.finding in OTHER_SUMS:
        for name, number in OTHER_SUMS[pair.finding](numbers, words).items():
            close(f"{name}, from counters", one["evidence"][name]["value"], number, 1e-5)
    data = stream(pair, "mended", programs)
    mended, after = findings_of(data), counters_of(data)[0]
    expect("the finding in the mended kernel", [one["finding"] for one in mended["findings"] if one["finding"] == pair.finding], [])
    for name, (gain, basis) in gains.items():
        if name == "passes":
            expect("passes of the mended kernel", after["coalesce", "bank_passes"], numbers["coalesce", "bank_passes"] - gain)
            continue
        promised, measured = kernel["traffic"][name + "_sectors"] - gain, mended["traffic"][name + "_sectors"]
        print(f"# {name}: {kernel['traffic'][name + '_sectors']}, {promised} promised ({basis}), {measured} measured")
        if basis == C:
            close(f"what the mended kernel moves at {name}", measured, promised, 0.1)
        elif measured < promised - pair.besides.get(name, 0):
            sys.exit(f"the mended kernel moves {measured} sectors at {name}, fewer than the bound, {promised}")


def main(arguments):
    programs = None
    if arguments[:1] == ["--list"]:
        print("\n".join(PAIRS))
        return
    if arguments[:1] == ["--findings"]:
        print("\n".join(pair.finding for pair in PAIRS.values()))
        return
    if arguments[:1] == ["--programs"]:
        programs, arguments = arguments[1], arguments[2:]
    for name in arguments:
        hold(PAIRS[name], programs)


main(sys.argv[1:])
