# SPDX-License-Identifier: MIT
"""gcoalesce(1): warp accesses become requests; the passes of shared memory; the degree of coalescing."""

from fractions import Fraction
from math import floor

import stream
from stream import LINE, SECTOR, SPACE, some

RULES = ["default", "pascal", "pascal-apart", "fermi"]
BANKS = ["16x4", "32x4", "32x8:4", "32x8", "32x4:4", "8x8:4"]
LATENCIES = ["1:50,2:88,32:1210", "1:23,2:25,4:29,8:37,16:53,32:85", "1:30,2:34", "4:10,8:100", "1:28"]
KINDS = ["load", "store", "atomic"]
ASIDE = {"prefetch": "prefetch", "discard": "discard", "applypriority": "discard"}


def draw_gpu(random, latency=True):
    """A GPU description {key: value} with what decides about coalescing."""
    gpu = {"sms": "4"}
    if some(random, 0.7):
        gpu["coalesce"] = random.choice(RULES)
    if some(random, 0.7):
        gpu.update(shared_banks=random.choice(["16", "32"]), shared_bank_bytes=random.choice(["4", "8"]))
        if gpu["shared_bank_bytes"] == "8" and some(random, 0.5):
            gpu["shared_bank_unit"] = "4"
    if latency and some(random, 0.5):
        gpu["shared_latency"] = random.choice(LATENCIES)
    return gpu


def gpu_file(gpu):
    return "".join(f"{key} = {item} # assumed: drawn\n" for key, item in gpu.items())


def add_arrays(random, launch):
    """Names arrays of shared memory, by the stage shared."""
    starts = sorted(random.sample(range(0, 8192, 64), random.randrange(1, 4)))
    ends = starts[1:] + [16384]
    sizes = [random.choice([end - start, 32]) for start, end in zip(starts, ends)]
    names = ",".join("ABC"[:len(starts)])
    launch.counts.append(("shared", {"addresses": starts, "bytes": sizes, "names": names}))


def add_allocations(random, launch):
    """Names arrays in other memory, by the stage allocations; names may be those of shared memory, and have blanks."""
    unit = random.choice([1, 32, 256])
    starts = sorted(random.sample(range(0x7F0000000000 - 512, 0x7F0000000000 + 8192, unit), random.randrange(1, 4)))
    sizes = [random.choice([end - start, (end - start) // 2]) for start, end in zip(starts, starts[1:] + [0x7F0000000000 + 9000])]
    names = ",".join(random.sample(["A", "B", "in a.cu:7"], len(starts)))
    launch.counts.append(("allocations", {"addresses": starts, "bytes": sizes, "names": names}))


def odd_sizes(random, launch):
    """Sizes that are no powers of two, in some accesses to other memory than shared."""
    for row in launch.rows:
        if stream.space(row) != "shared" and some(random, 0.3):
            row["size"] = random.choice([3, 5, 12, 24, 32])


def edge(random, launch):
    """Addresses at the end of the address space."""
    for row in launch.rows:
        if stream.space(row) != "shared" and some(random, 0.1):
            row["addresses"] = {lane: (address - row["addresses"][min(row["addresses"])] - 40) % SPACE
                                for lane, address in row["addresses"].items()}


def draw(random):
    drawn = stream.draw_stream(random, kernels=4)
    for launch in drawn.launches:
        if some(random, 0.3):
            add_arrays(random, launch)
        if some(random, 0.2):
            odd_sizes(random, launch)
        if some(random, 0.1):
            edge(random, launch)
    options = {"rule": None, "banks": None, "file": {}}
    if some(random, 0.3):
        other = stream.draw_requests(random).launches
        for launch, requests in zip(drawn.launches, other):
            launch.rows = requests.rows + (launch.rows if some(random, 0.5) else [])
            launch.fields.update(order="none", grid="100,1,1", block="1024,1,1")
        drawn.launches = stream.in_order(drawn.launches)
    if some(random, 0.4):
        drawn.gpu = draw_gpu(random)
    arguments = []
    if some(random, 0.4):
        options["rule"] = random.choice(RULES)
        arguments += ["--rule", options["rule"]]
    elif some(random, 0.4):
        options["file"] = draw_gpu(random)
        arguments += ["--gpu", "./gpu"]
    if some(random, 0.3):
        options["banks"] = random.choice(BANKS)
        arguments += ["--banks", options["banks"]]
    if some(random, 0.2):
        arguments += ["-j", random.choice(["0", "2", "3"])]
    options["by_site"] = some(random, 0.5)
    if options["by_site"]:
        arguments += ["--by", "site"]
        for launch in drawn.launches:
            if some(random, 0.5):
                add_allocations(random, launch)
    if some(random, 0.15):
        return draw_degree(random, drawn)
    return stream.Case(drawn, [["gcoalesce", *arguments]], {"gpu": gpu_file(options["file"])}, **options)


def draw_degree(random, drawn):
    """With --degree the input must have accesses."""
    for launch in drawn.launches:
        launch.rows = [row for row in launch.rows if stream.is_access(row)]
    drawn.launches = stream.in_order(drawn.launches)
    graph = some(random, 0.5)
    command = ["gcoalesce", "--degree"] + (["--graph"] if graph else [])
    return stream.Case(drawn, [command], table=True, graph=graph)


# Lines and sectors

def touched(address, size):
    """The sectors in which a lane's bytes lie, that of the first byte first, as (line, sector).
    As a lane has at most 32 bytes, they are those of its first and of its last byte."""
    places = [(byte % SPACE // LINE * LINE, byte % LINE // SECTOR) for byte in (address, address + size - 1)]
    return places[:1] if places[0] == places[1] else places


def request(row, line, lanes):
    """The request of these lanes for the line."""
    sectors = 0
    first = 0
    for lane in lanes:
        for at, sector in touched(row["addresses"][lane], row["size"]):
            if at == line:
                sectors |= 1 << sector
        first += row["addresses"][lane] // LINE * LINE == line
    full = written_sectors(row, line, lanes) if stream.kind(row) == "store" else 0
    return dict(stream.without_addresses(row), address=line, sectors=sectors, full=full, lanes=first)


def written_sectors(row, line, lanes):
    """The sectors of the line of which the lanes write all bytes."""
    written = set()
    for lane in lanes:
        address = row["addresses"][lane]
        written.update(byte % SPACE for byte in range(address, address + row["size"]))
    starts = [line + SECTOR * sector for sector in range(4)]
    return sum(1 << n for n, start in enumerate(starts) if written.issuperset(range(start, start + SECTOR)))


def lines_of(row, lanes):
    """The lines that the lanes touch, in the order of the first lane that does."""
    found = []
    for lane in lanes:
        for line, _ in touched(row["addresses"][lane], row["size"]):
            if line not in found:
                found.append(line)
    return found


def together(row, lanes):
    return [request(row, line, lanes) for line in lines_of(row, lanes)]


# Rules

def group_size(size):
    rounded = next(power for power in (1, 2, 4, 8, 16, 32) if power >= size)
    return {8: 4, 16: 2, 32: 1}.get(rounded, 8)


def groups_of(row):
    size = group_size(row["size"])
    groups = {}
    for lane in row["addresses"]:
        groups.setdefault(lane // size, []).append(lane)
    return list(groups.values())


def pascal(row, apart):
    """A request for each line of each group; those of a store for the same line become one unless they share a sector."""
    made = []
    for group in groups_of(row):
        for new in together(row, group):
            same = [old for old in made if old["address"] == new["address"] and not old["sectors"] & new["sectors"]]
            if stream.kind(row) == "store" and not apart and same:
                for column in ("sectors", "full", "lanes"):
                    same[0][column] += new[column]
            else:
                made.append(new)
    return made


def whole_lines(row):
    """What a prefetch or a discard asks for: each line that a lane addresses."""
    lines = []
    for address in row["addresses"].values():
        if address // LINE * LINE not in lines:
            lines.append(address // LINE * LINE)
    return [dict(request(dict(row, size=1), line, row["addresses"]), sectors=15) for line in lines]


def requests(row, rule):
    """The requests of an access that is not to shared memory."""
    if stream.kind(row) in ASIDE:
        return whole_lines(row)
    if rule.startswith("pascal") and stream.space(row) != "constant":
        return pascal(row, rule == "pascal-apart")
    made = together(row, list(row["addresses"]))
    if rule == "fermi" and stream.space(row) not in ("texture", "constant"):
        for one in made:
            one["sectors"] = 15
    return made


# Shared memory

def parse_banks(text):
    """Banks, bytes that a bank serves per pass, consecutive bytes in one bank."""
    sizes, _, unit = text.partition(":")
    banks, served = map(int, sizes.split("x"))
    return banks, served, int(unit) if unit else served


def text_of_banks(banks, served, unit):
    return f"{banks}x{served}" + (f":{unit}" if unit != served else "")


def part_lanes(row, banks, served):
    """The lanes of a part: of loads twice as many where pairs of lanes have one address."""
    part, lanes = min(banks * served // row["size"], banks), row["addresses"]
    agrees = any(all(lanes[lane] == lanes.get(lane ^ distance, lanes[lane]) for lane in lanes) for distance in (1, 2))
    return 2 * part if agrees and stream.kind(row) == "load" and part < 32 and (banks, served) == (32, 4) else part


def least_passes(row, banks, served):
    """One for each part of the warp that has an active lane."""
    part = part_lanes(row, banks, served)
    return len({lane // part for lane in row["addresses"]})


def turns(row):
    """Lanes of an atomic that ask for the same address take turns: each sector counts as often as most lanes ask for one in it."""
    asked = {}
    for address in row["addresses"].values():
        lanes = asked.setdefault(address // stream.SECTOR, {})
        lanes[address] = lanes.get(address, 0) + 1
    return sum(max(lanes.values()) for lanes in asked.values())


def passes(row, banks, served, unit):
    part = part_lanes(row, banks, served)
    total = 0
    for start in range(0, 32, part):
        rows = {}
        for lane, address in row["addresses"].items():
            if start <= lane < start + part:
                for byte in range(address, address + row["size"]):
                    rows.setdefault(byte // unit % banks, set()).add(byte // (banks * served))
        total += max(map(len, rows.values()), default=0)
    return total


def cycles(count, latency):
    """Linear between and beyond the measured numbers of passes, rounded; one measured number stands for all."""
    known = [tuple(map(int, pair.split(":"))) for pair in latency.split(",")]
    if len(known) == 1:
        return known[0][1]
    later = next((n for n, (at, _) in enumerate(known) if at >= count), len(known) - 1)
    (x0, y0), (x1, y1) = known[max(later, 1) - 1], known[max(later, 1)]
    return max(0, floor(y0 + Fraction(y1 - y0, x1 - x0) * (count - x0) + Fraction(1, 2)))


# Counters

def array_at(address, arrays):
    for start, size, name in arrays:
        if start <= address < start + size:
            return name
    return "-"


def array_of(row, arrays):
    return array_at(row["addresses"][min(row["addresses"])], arrays)


class Counts:
    """The stage coalesce of a kernel."""

    def __init__(self, rule, banks, latency, arrays):
        self.banks, self.latency, self.arrays = banks, latency, arrays
        self.n = {"rule": rule}
        for what in ("accesses", "requests", "sectors"):
            for name in [what] + [f"{kind}_{what}" for kind in KINDS + ["reduction"]]:
                self.n[name] = 0
        self.n.update(load_warp_sectors=0, shared_accesses=0, bank_passes=0)
        self.cycles = 0

    def add(self, name, number):
        self.n[name] = self.n.get(name, 0) + number

    def shared(self, row):
        count = passes(row, *self.banks)
        self.n["banks"] = text_of_banks(*self.banks)
        self.add("accesses", 1)
        self.add("shared_accesses", 1)
        self.add("bank_passes", count)
        kind = {"reduction": "atomic"}.get(stream.kind(row), stream.kind(row))
        for name in ("load", "store", "atomic"):
            mine = count if name == kind else 0
            self.add(f"shared_{name}_passes", mine)
            self.add(f"{name}_bank_conflicts", mine and mine - least_passes(row, *self.banks[:2]))
        if self.arrays:
            array = array_of(row, self.arrays)
            self.add(array + ".shared_accesses", 1)
            self.add(array + ".bank_passes", count)
        if self.latency:
            self.cycles += cycles(count, self.latency)

    def constant(self, row, made):
        self.add("accesses", 1)
        self.add("constant_accesses", 1)
        self.add("constant_turns", len(set(row["addresses"].values())))
        self.add("constant_requests", len(made))
        self.add("constant_sectors", sum(one["sectors"].bit_count() for one in made))

    def made(self, row, rule, made):
        if stream.space(row) == "constant":
            self.constant(row, made)
            return
        kind = stream.kind(row)
        kinds = [ASIDE.get(kind, kind)]
        if kind == "reduction":
            kinds = ["atomic", "reduction"]
        sectors = sum(one["sectors"].bit_count() for one in made)
        for prefix in [""] + [name + "_" for name in kinds]:
            self.add(prefix + "accesses", 1)
            self.add(prefix + "requests", len(made))
            self.add(prefix + "sectors", sectors)
        if kind == "atomic" and rule == "default":
            self.add("repeated_sectors", turns(row) - len({at // stream.SECTOR for at in row["addresses"].values()}))
        if kind == "load":
            rule = "default" if rule.startswith("pascal") else rule
            self.add("load_warp_sectors", sum(one["sectors"].bit_count() for one in requests(row, rule)))

    def counters(self):
        if "banks" in self.n and self.latency:
            self.n["shared_cycles"] = self.cycles
        return self.n


def arrays_of(launch, named="shared"):
    for stage, counters in launch.counts:
        if stage == named:
            return list(zip(counters["addresses"], counters["bytes"], counters["names"].split(",")))
    return []


# Counters by site

def stride_of(row):
    """Bytes from lane to lane, or several; None of one lane."""
    lanes = list(row["addresses"])
    if len(lanes) == 1:
        return None
    first = row["addresses"][lanes[0]]
    distance, gap = apart(row["addresses"][lanes[1]], first), lanes[1] - lanes[0]
    stride = distance // gap
    regular = all((first + stride * (lane - lanes[0])) % SPACE == address for lane, address in row["addresses"].items())
    return stride if regular and distance % gap == 0 else "several"


def bytes_of(row):
    return [byte % SPACE for address in row["addresses"].values() for byte in range(address, address + row["size"])]


def apart(address, first):
    """How far an address is from another, either way around the address space."""
    return (address - first + SPACE // 2) % SPACE - SPACE // 2


def is_misaligned(row):
    """Whether the lanes fill a range, no byte twice, that does not begin at a sector."""
    first = row["addresses"][min(row["addresses"])]
    touched = sorted(byte for address in row["addresses"].values()
                     for byte in range(first + apart(address, first), first + apart(address, first) + row["size"]))
    return touched == list(range(touched[0], touched[0] + len(touched))) and touched[0] % SECTOR != 0


class Sites:
    """What --by site counts of a kernel."""

    def __init__(self, allocations, shared):
        self.allocations, self.shared = allocations, shared
        self.n, self.strides, self.touched, self.read = {}, {}, set(), set()

    def add(self, site, name, number):
        self.n[f"{site}.{name}"] = self.n.get(f"{site}.{name}", 0) + number

    def common(self, row, arrays):
        """What is counted of any memory; returns the site's name."""
        site = f"{hex(row['pc'])} {array_of(row, arrays)}"
        self.n[site + ".op"] = row["op"] if self.n.get(site + ".op", row["op"]) == row["op"] else "several"
        stride = stride_of(row)
        if stride is not None:
            self.strides.setdefault(site, set()).add(stride)
        self.add(site, "accesses", 1)
        self.add(site, "lanes", len(row["addresses"]))
        self.add(site, "bytes", len(row["addresses"]) * row["size"])
        if stream.kind(row) in ("atomic", "reduction"):
            self.add(site, "addresses", len(set(row["addresses"].values())))
        return site

    def passes(self, row, banks):
        site = self.common(row, self.shared)
        self.add(site, "passes", passes(row, *banks))
        self.add(site, "least_passes", least_passes(row, *banks[:2]))

    def made(self, row, made):
        if stream.kind(row) in ASIDE or stream.space(row) == "constant":
            return
        site = self.common(row, self.allocations)
        sectors = sum(one["sectors"].bit_count() for one in made)
        least = min(sectors, -(-len(row["addresses"]) * row["size"] // SECTOR))
        self.add(site, "sectors", sectors)
        self.add(site, "least_sectors", least)
        self.add(site, "misaligned_sectors", sectors - least if is_misaligned(row) else 0)
        if stream.kind(row) == "store":
            self.add(site, "partial_sectors", sectors - sum(one["full"].bit_count() for one in made))
        self.touched.update(bytes_of(row))
        if stream.kind(row) in ("load", "atomic"):
            self.read.update(bytes_of(row))

    def unique(self):
        for name, some_bytes in (("unique", self.touched), ("unique_read", self.read)):
            self.n[name + "_bytes"] = len(some_bytes)
            self.n[name + "_sectors"] = len({byte // SECTOR for byte in some_bytes})
        sectors = set()
        for byte in sorted(self.read):
            array = array_at(byte, self.allocations)
            self.add(array, "unique_read_bytes", 1)
            self.add(array, "unique_read_sectors", byte // SECTOR not in sectors)
            sectors.add(byte // SECTOR)

    def counters(self):
        self.unique()
        for site, strides in self.strides.items():
            self.n[site + ".stride"] = stream.value(str(strides.pop() if len(strides) == 1 else "several"))
        return self.n


def turn(row):
    """What remains of an access to shared memory that is not scheduled yet."""
    return dict(stream.without_addresses(row), address=0, sectors=0, full=0, lanes=0)


def coalesce(launch, rule, banks, latency, arrays=None, sites=None):
    """A launch with requests, and the counts of this stage if it has accesses."""
    counts = Counts(rule, banks, latency, arrays_of(launch) if arrays is None else arrays)
    rows = []
    for row in launch.rows:
        if not stream.is_access(row):
            rows.append(row)
        elif stream.space(row) == "shared":
            counts.shared(row)
            if sites:
                sites.passes(row, banks)
            if "step" not in row:
                rows.append(turn(row))
        else:
            made = requests(row, rule)
            counts.made(row, rule, made)
            if sites:
                sites.made(row, made)
            rows += made
    if sites:
        counts.n.update(sites.counters())
    done = any(stage == "coalesce" for stage, _ in launch.counts)
    if launch.rows and not any(map(stream.is_access, launch.rows)):
        done = True
    return stream.Launch(launch.fields, rows, launch.counts + ([] if done else [("coalesce", counts.counters())]))


def configuration(gpu):
    """The rule, the banks and the latencies of a GPU description, which may be None."""
    gpu = gpu or {}
    served = int(gpu.get("shared_bank_bytes", 4))
    banks = (int(gpu.get("shared_banks", 32)), served, int(gpu.get("shared_bank_unit", served)))
    return gpu.get("coalesce", "default"), banks, gpu.get("shared_latency")


def model(case):
    if case.table:
        return degrees(case.stream, case.graph)
    rule, banks, latency = configuration(case.file or case.stream.gpu)
    rule = case.rule or rule
    if case.banks:
        banks = parse_banks(case.banks)
    launches, allocations = [], []
    for launch in case.stream.launches:
        allocations = arrays_of(launch, "allocations") or allocations
        sites = Sites(allocations, arrays_of(launch)) if case.by_site else None
        if sites and not all(map(stream.is_access, launch.rows)):
            raise stream.Refused("a kernel is coalesced already")
        launches.append(coalesce(launch, rule, banks, latency, sites=sites))
    return stream.Stream(launches, case.stream.gpu)


# Degree of coalescing

class Degree:
    """An instruction: one line of the table."""

    def __init__(self):
        self.accesses = self.lanes = self.in_range = self.sectors = 0
        self.range_sectors = set()
        self.words = [0] * 32

    def add(self, row):
        start = row["addresses"][min(row["addresses"])] // SECTOR * SECTOR
        self.accesses += 1
        self.lanes += len(row["addresses"])
        self.sectors += sum(one["sectors"].bit_count() for one in requests(row, "default"))
        for address in row["addresses"].values():
            offset = (address - start) % SPACE
            if offset < LINE:
                self.in_range += 1
                self.range_sectors.add(offset // SECTOR)
                self.words[offset // 4] += 1

    def numbers(self):
        return Fraction(100 * self.in_range, self.lanes), Fraction(self.sectors, self.accesses)


def degree_lines(name, pc, op, size, numbers, range_sectors, sums, graph, words):
    degree, sectors = numbers
    ratios = [degree, range_sectors, 100 * range_sectors / degree, sectors]
    yield [name, pc, op, size, *[f"{float(ratio):.4g}" for ratio in ratios], *map(str, sums)]
    if graph:
        yield ["#graph", *[f"{float(word):.3g}" for word in words]]


def op_number(op):
    """The number of an operation; gtrace(5), Columns."""
    what, where, operator = (op.split(".") + ["none"])[:3]
    return (["load", "store", "atomic", "reduction"].index(what)
            + 4 * ["global", "local", "shared", "texture", "constant"].index(where)
            + 32 * ["none", "ca", "cg", "cs", "cv", "nc", "lu"].index(operator))


def degrees_of(name, instructions, graph):
    loads = []
    for (pc, op, size), degree in sorted(instructions.items(), key=lambda item: (item[0][0], op_number(item[0][1]), item[0][2])):
        words = [Fraction(count, degree.accesses) for count in degree.words]
        if op.startswith("load.global"):
            loads.append((degree, words))
        yield from degree_lines(name, hex(pc), op, str(size), degree.numbers(), len(degree.range_sectors),
                                (degree.accesses, degree.lanes, degree.in_range), graph, words)
    if loads:
        mean = [sum(column) / len(loads) for column in zip(*[degree.numbers() for degree, _ in loads])]
        ranges = [degree.range_sectors for degree, _ in loads]
        sums = [sum(getattr(degree, key) for degree, _ in loads) for key in ("accesses", "lanes", "in_range")]
        words = [sum(column) / len(loads) for column in zip(*[words for _, words in loads])]
        yield from degree_lines(name, "all", "load.global", "-", mean, len(set().union(*ranges)), sums, graph, words)


def degrees(drawn, graph):
    kernels = {}
    for launch in drawn.launches:
        instructions = kernels.setdefault(launch.fields["name"], {})
        for row in launch.rows:
            if stream.space(row) != "shared" and stream.kind(row) not in ASIDE:
                instructions.setdefault((row["pc"], row["op"], row["size"]), Degree()).add(row)
    lines = [["#kernel", "pc", "op", "bytes", "degree", "range_sectors", "expected", "sectors", "accesses", "lanes", "in_range"]]
    for name, instructions in kernels.items():
        lines += degrees_of(name, instructions, graph)
    return lines
