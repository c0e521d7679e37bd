# SPDX-License-Identifier: MIT
"""gdram(1): transfers, and hits in open rows."""

import coalesce
import stream

DEFAULTS = {"channels": 1, "banks": 16, "row": 2048, "interleave": 256}
SIZES = {"row": [32, 64, 96, 512, 1024, 2048, 4096], "interleave": [32, 64, 128, 160, 256, 1024]}


def draw(random):
    chosen = {}
    for name in ("channels", "banks"):
        if stream.some(random, 0.7):
            chosen[name] = random.choice([1, 2, 3, 4, 5, 8, 12, 16])
    for name, sizes in SIZES.items():
        if stream.some(random, 0.7):
            chosen[name] = random.choice(sizes)
    described = {}
    if stream.some(random, 0.4):
        chosen["partial"] = random.choice(["write", "read"])
    for name in DEFAULTS:
        if stream.some(random, 0.2):
            described["dram." + name] = str(chosen.get(name, DEFAULTS[name]) * 2)
    if stream.some(random, 0.3):
        drawn = stream.draw_stream(random)
        described.update(coalesce.draw_gpu(random))
    else:
        drawn = stream.draw_requests(random, sms=random.choice([0, 3]))
    drawn.gpu = described or None
    arguments = [word for name, number in chosen.items() for word in ("--" + name, str(number))]
    return stream.Case(drawn, [["gdram", *arguments]], chosen=chosen, described=described)


def configuration(case):
    """Each parameter is taken from its option, else from the GPU description, else from the default."""
    found = {name: case.chosen.get(name, int(case.described.get("dram." + name, default))) for name, default in DEFAULTS.items()}
    return {**found, "merges": case.chosen.get("partial", "write") == "read"}


def place(address, config):
    """Address mapping."""
    turn = address // config["interleave"]
    channel = turn % config["channels"]
    within = turn // config["channels"] * config["interleave"] + address % config["interleave"]
    return channel, within // config["row"] % config["banks"], within // config["row"] // config["banks"]


def transfers(row, merges):
    """Rows: a load or a prefetch reads, a store writes, with --partial read what it writes in part after a read; an atomic or a reduction does both, in the order of the addresses;
    a discard and a change of priority transfer nothing."""
    what = stream.kind(row)
    if what in ("discard", "applypriority"):
        return
    for sector in stream.bits(row["sectors"]):
        address = row["address"] + stream.SECTOR * sector
        if what != "store" or (merges and not row["full"] >> sector & 1):
            yield "reads", address
        if what in ("store", "atomic", "reduction"):
            yield "writes", address


def count(rows, config):
    counts = dict({name: config[name] for name in DEFAULTS}, reads=0, writes=0, row_hits=0, row_misses=0)
    for name in ("channel_reads", "channel_writes", "channel_row_hits"):
        counts[name] = [0] * config["channels"]
    opened = {}
    for row in rows:
        for what, address in transfers(row, config["merges"]):
            channel, bank, line = place(address, config)
            counts[what] += 1
            counts["channel_" + what][channel] += 1
            if opened.get((channel, bank)) == line:
                counts["row_hits"] += 1
                counts["channel_row_hits"][channel] += 1
            else:
                counts["row_misses"] += 1
            opened[channel, bank] = line
    return counts


def model(case):
    """Accesses are coalesced first, by the rule of the description, and counted."""
    config = configuration(case)
    launches = []
    for launch in case.stream.launches:
        if any(map(stream.is_access, launch.rows)):
            launch = coalesce.coalesce(launch, *coalesce.configuration(case.described), arrays=[])
        launches.append(stream.Launch(launch.fields, [], launch.counts + [("dram", count(launch.rows, config))]))
    return stream.Stream(launches, case.stream.gpu)
