# SPDX-License-Identifier: MIT
"""The accesses that the programs of examples/kernels must make, from the indices in their sources, not from PTX.

    kernels_reference.py count NAME ARGUMENT...
        prints what each launch must show: launch, kernel, action, accesses, lanes, sectors
    kernels_reference.py compare <LIST
        compares that with traces, one a line: ACCESSES REQUESTS KERNEL NAME ARGUMENT..., the files being
        two texts of gtrace-cat, as it was recorded and after gcoalesce. KERNEL is - for a trace of the
        whole program, else the kernel whose first launch is all that the trace has
    kernels_reference.py compare-static REPORT ACCESSES
        compares the degrees of a report of gtrace-ptx --static with those of a trace of the same launch,
        where they are exact; prints how many accesses were compared
    kernels_reference.py data NAME ARGUMENT... DIRECTORY
        writes the program's input buffers, BUFFER.bin each

Lanes are counted twice: one by one along the warps, and in a closed formula; both must agree.
"""
import functools
import struct
import sys

from kernels_launch import ATOMIC, LOAD, STORE, Launch, numbers, up
from kernels_suites import SUITES

class Random:
    """The generator of example.h."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1664525 + 1013904223) % 2 ** 32
        return self.state >> 8

    def floats(self, n):
        return [self.next() / 8388608.0 - 1.0 for _ in range(n)]


def vectoradd(arguments):
    n, block, bits = numbers(arguments, 4096, 256, 32)
    launch = Launch("vectoradd" if bits == 32 else "vectoradd_double", (up(n, block), 1), (block, 1))
    for warp in launch.places():
        active = [x * bits // 32 for x, _ in warp if x < n]
        launch.access(LOAD, active)
        launch.access(LOAD, active)
        launch.access(STORE, active)
    return [launch], {LOAD: 2 * n, STORE: n}


def product(name, m, n, p, block):
    """An m x n matrix times one of n x p, a thread an element."""
    launch = Launch(name, (up(p, block[0]), up(m, block[1])), block)
    for warp in launch.places():
        active = [(x, y) for x, y in warp if x < p and y < m]
        for k in range(n):
            launch.access(LOAD, [y * n + k for _, y in active])
            launch.access(LOAD, [k * p + x for x, _ in active])
        launch.access(STORE, [y * p + x for x, y in active])
    return [launch], {LOAD: 2 * m * n * p, STORE: m * p}


def gemm(arguments):
    n, block_x, block_y = numbers(arguments, 64, 32, 8)
    return product("gemm", n, n, n, (block_x, block_y))


def gemm_wide(arguments):
    m, = numbers(arguments[:1], 64)
    m, n, p = numbers(arguments, m, m, m)
    return product("gemm_wide", m, n, p, (32, 32))


def knee(arguments):
    rows, passes, blocks = numbers(arguments, 32, 4, 1)
    launch = Launch("knee", (blocks, 1), (256, 1))
    for warp in launch.places():
        for _ in range(passes):
            for row in range(rows):
                launch.access(LOAD, [row * 256 + x % 256 for x, _ in warp])
        launch.access(STORE, [x for x, _ in warp])
        launch.access(STORE, [0 for x, _ in warp if x == 0])
    return [launch], {LOAD: blocks * passes * rows * 256, STORE: blocks * 256 + 1}


def gemm_tiled(arguments):
    n, tile = numbers(arguments, 64, 16)
    tiles = up(n, tile)
    launch = Launch("gemm_tiled", (tiles, tiles), (tile, tile))
    for warp in launch.warps():
        lanes = [(bx * tile + tx, by * tile + ty, tx, ty) for bx, by, tx, ty in warp]
        for first in range(0, n, tile):
            launch.access(LOAD, [row * n + first + x for _, row, x, _ in lanes if row < n and first + x < n])
            launch.access(LOAD, [(first + y) * n + column for column, _, _, y in lanes if column < n and first + y < n])
        launch.access(STORE, [row * n + column for column, row, _, _ in lanes if row < n and column < n])
    return [launch], {LOAD: 2 * tiles * n ** 2, STORE: n ** 2}


def transpose(arguments):
    rows, columns, block_x, block_y = numbers(arguments, 64, 64, 32, 8)
    launch = Launch("transpose", (up(columns, block_x), up(rows, block_y)), (block_x, block_y))
    for warp in launch.places():
        active = [(x, y) for x, y in warp if x < columns and y < rows]
        launch.access(LOAD, [y * columns + x for x, y in active])
        launch.access(STORE, [x * rows + y for x, y in active])
    return [launch], {LOAD: rows * columns, STORE: rows * columns}


def transpose_tiled(arguments):
    rows, columns, block_y, tile = numbers(arguments, 64, 64, 8, 32)
    launch = Launch("transpose_tiled" if tile == 32 else "transpose_tiled_16", (up(columns, tile), up(rows, tile)), (tile, block_y))
    for warp in launch.warps():
        # Blocks are 32 or 16 wide: a warp is one or two rows of its block, the last one possibly partial.
        for y in range(0, tile, block_y):
            launch.access(LOAD, [(by * tile + ty + y) * columns + bx * tile + x for bx, by, x, ty in warp
                                 if ty + y < tile and bx * tile + x < columns and by * tile + ty + y < rows])
        for y in range(0, tile, block_y):
            launch.access(STORE, [(bx * tile + ty + y) * rows + by * tile + x for bx, by, x, ty in warp
                                  if ty + y < tile and by * tile + x < rows and bx * tile + ty + y < columns])
    return [launch], {LOAD: rows * columns, STORE: rows * columns}


def conv2d(arguments):
    width, height, block_x, block_y = numbers(arguments, 64, 64, 32, 8)
    launch = Launch("conv2d", (up(width - 2, block_x), up(height - 2, block_y)), (block_x, block_y))
    for warp in launch.places():
        active = [(x + 1) + (y + 1) * width for x, y in warp if x + 1 < width - 1 and y + 1 < height - 1]
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                launch.access(LOAD, [i + dy * width + dx for i in active])
        launch.access(STORE, active)
    inner = (width - 2) * (height - 2)
    return [launch], {LOAD: 9 * inner, STORE: inner}


def conv3d(arguments):
    n, block_x, block_y = numbers(arguments, 18, 16, 4)
    launch = Launch("conv3d", (up(n - 2, block_x), up(n - 2, block_y)), (block_x, block_y))
    for warp in launch.places():
        column = [(x + 1) + (y + 1) * n for x, y in warp if x + 1 < n - 1 and y + 1 < n - 1]
        for z in range(1, n - 1):
            for i in range(27):
                shift = (i // 9 - 1) * n * n + (i // 3 % 3 - 1) * n + i % 3 - 1
                launch.access(LOAD, [z * n * n + place + shift for place in column])
            launch.access(STORE, [z * n * n + place for place in column])
    return [launch], {LOAD: 27 * (n - 2) ** 3, STORE: (n - 2) ** 3}


def matvec(arguments):
    rows, columns, block = numbers(arguments, 128, 128, 64)
    by_row = Launch("matvec", (up(rows, block), 1), (block, 1))
    for warp in by_row.places():
        active = [x for x, _ in warp if x < rows]
        for column in range(columns):
            by_row.access(LOAD, [row * columns + column for row in active])
            by_row.access(LOAD, [column for _ in active])
        by_row.access(STORE, active)
    by_column = Launch("matvec_transposed", (up(columns, block), 1), (block, 1))
    for warp in by_column.places():
        active = [x for x, _ in warp if x < columns]
        for row in range(rows):
            by_column.access(LOAD, [row * columns + column for column in active])
            by_column.access(LOAD, [row for _ in active])
        by_column.access(STORE, active)
    return [by_row, by_column], {LOAD: 4 * rows * columns, STORE: rows + columns}


def syrk(arguments):
    n, k, block_x, block_y = numbers(arguments, 64, 32, 32, 8)
    launch = Launch("syrk", (up(n, block_x), up(n, block_y)), (block_x, block_y))
    for warp in launch.places():
        active = [(x, y) for x, y in warp if x < n and y < n]
        for i in range(k):
            launch.access(LOAD, [y * k + i for _, y in active])
            launch.access(LOAD, [x * k + i for x, _ in active])
        launch.access(LOAD, [y * n + x for x, y in active])
        launch.access(STORE, [y * n + x for x, y in active])
    return [launch], {LOAD: 2 * n * n * k + n * n, STORE: n * n}


def grid_strides(launch, n):
    """The elements that each warp's lanes access in a grid-stride loop, iteration by iteration."""
    stride = launch.grid[0] * launch.block[0]
    for warp in launch.places():
        for turn in range(up(n, stride)):
            yield [x + turn * stride for x, _ in warp if x + turn * stride < n]


def reduce(arguments):
    n, block, grid = numbers(arguments, 10000, 128, 8)
    launch = Launch("reduce", (grid, 1), (block, 1))
    for active in grid_strides(launch, n):
        launch.access(LOAD, active)
    for _ in range(grid):
        launch.access(ATOMIC, [0])
    return [launch], {LOAD: n, ATOMIC: grid}


def fast_walsh(arguments):
    log2n, = numbers(arguments, 13)
    launches, rows, n = [], 1, 1 << log2n
    lanes = 0
    while log2n > 11:
        row = 1 << log2n
        launch = Launch("fwtBatch2Kernel", (row // 1024, rows), (256, 1))
        for warp in launch.warps():
            for action in LOAD, STORE:
                for quarter in range(4):
                    launch.access(action, [by * row + bx * 256 + tx + quarter * row // 4 for bx, by, tx, _ in warp])
        launches.append(launch)
        log2n, rows, lanes = log2n - 2, rows * 4, lanes + n
    row = 1 << log2n
    launch = Launch("fwtBatch1Kernel", (rows, 1), (row // 4, 1))
    for warp in launch.warps():
        for action in LOAD, STORE:
            for turn in range(4):
                launch.access(action, [bx * row + tx + turn * row // 4 for bx, _, tx, _ in warp])
    return launches + [launch], {LOAD: lanes + n, STORE: lanes + n}


def dct8x8(arguments):
    width, height = numbers(arguments, 64, 32)
    launch = Launch("CUDAkernel2DCT", (width // 32, height // 16), (32, 2))  # 8 x 4 x 2
    for warp in launch.warps():
        for action in LOAD, STORE:
            for i in range(8):
                launch.access(action, [(by * 16 + ty * 8 + i) * width + bx * 32 + tx for bx, by, tx, ty in warp])
    return [launch], {LOAD: width * height, STORE: width * height}


def histogram64(arguments):
    n, = numbers(arguments, 4096)
    launch = Launch("histogram64Kernel", (up(n, 64 * 15), 1), (64, 1))
    for active in grid_strides(launch, n):
        launch.access(LOAD, [4 * i for i in active])
    for warp in launch.places():
        launch.access(STORE, [x for x, _ in warp])
    return [launch], {LOAD: n, STORE: launch.grid[0] * 64}


def histogram_values(n, bins):
    random = Random(1)
    return [random.next() % bins for _ in range(n)]


def histogram(arguments):
    n, bins, block, grid = numbers(arguments, 10000, 256, 128, 8)
    launch = Launch("histogram", (grid, 1), (block, 1))
    values = histogram_values(n, bins)
    for active in grid_strides(launch, n):
        launch.access(LOAD, active)
    found = [{values[i] for i in range(n) if i // block % grid == b} for b in range(grid)]
    for b in range(grid):
        for first in range(0, bins, block):
            for warp in range(0, block, 32):
                turn = range(first + warp, min(first + warp + 32, first + block, bins))
                launch.access(ATOMIC, [bin for bin in turn if bin in found[b]])
    return [launch], {LOAD: n, ATOMIC: sum(len(f) for f in found)}


def sparse(rows, most):
    random = Random(1)
    first = [0]
    for _ in range(rows):
        first.append(first[-1] + random.next() % (most + 1))
    return first, [random.next() % rows for _ in range(first[-1])]


def spmv(arguments):
    rows, most, block = numbers(arguments, 256, 9, 64)
    first, column = sparse(rows, most)
    launch = Launch("spmv", (up(rows, block), 1), (block, 1))
    for warp in launch.places():
        active = [x for x, _ in warp if x < rows]
        launch.access(LOAD, active)
        launch.access(LOAD, [row + 1 for row in active])
        for turn in range(most):
            at = [first[row] + turn for row in active if first[row] + turn < first[row + 1]]
            launch.access(LOAD, at)
            launch.access(LOAD, at)
            launch.access(LOAD, [column[i] for i in at])
        launch.access(STORE, active)
    return [launch], {LOAD: 2 * rows + 3 * first[-1], STORE: rows}


def graph(nodes, edges):
    random = Random(1)
    first = [0]
    for _ in range(nodes):
        first.append(first[-1] + random.next() % (2 * edges))
    return first, [random.next() % nodes for _ in range(first[-1])]


def bfs_visit(launch, first, to, frontier, visited):
    reached = set()
    nodes = len(first) - 1
    for warp in launch.places():
        launch.access(LOAD, [x for x, _ in warp if x < nodes])
        active = [x for x, _ in warp if x in frontier]
        launch.access(LOAD, active)
        launch.access(LOAD, [node + 1 for node in active])
        for turn in range(max((first[node + 1] - first[node] for node in active), default=0)):
            at = [first[node] + turn for node in active if first[node] + turn < first[node + 1]]
            others = [to[i] for i in at]
            launch.access(LOAD, at)
            launch.access(LOAD, others)
            fresh = [other for other in others if other not in visited]
            launch.access(STORE, fresh)
            launch.access(STORE, fresh)
            reached.update(fresh)
    return reached


def bfs_advance(launch, nodes, reached):
    for warp in launch.places():
        active = [x for x, _ in warp if x < nodes]
        launch.access(LOAD, active)
        launch.access(STORE, active)
        fresh = [node for node in active if node in reached]
        launch.access(STORE, fresh)
        launch.access(STORE, fresh)
        launch.access(STORE, [0 for _ in fresh])


def bfs(arguments):
    nodes, edges, block = numbers(arguments, 512, 3, 128)
    first, to = graph(nodes, edges)
    frontier, visited, launches, stores = {0}, {0}, [], 0
    while frontier:
        shape = (up(nodes, block), 1), (block, 1)
        launches += [Launch("bfs_visit", *shape), Launch("bfs_advance", *shape)]
        stores += 2 * sum(to[i] not in visited for node in frontier for i in range(first[node], first[node + 1]))
        frontier = bfs_visit(launches[-2], first, to, frontier, visited)
        bfs_advance(launches[-1], nodes, frontier)
        visited |= frontier
    levels = len(launches) // 2
    followed = sum(first[node + 1] - first[node] for node in visited)
    loads = 2 * nodes * levels + 2 * len(visited) + 2 * followed
    return launches, {LOAD: loads, STORE: stores + nodes * levels + 3 * (len(visited) - 1)}


def jacobi(arguments):
    width, height, steps, block_x, block_y = numbers(arguments, 64, 64, 4, 32, 8)
    launches = []
    for _ in range(steps):
        launch = Launch("jacobi", (up(width - 2, block_x), up(height - 2, block_y)), (block_x, block_y))
        for warp in launch.places():
            active = [(x + 1) + (y + 1) * width for x, y in warp if x + 1 < width - 1 and y + 1 < height - 1]
            for shift in (-1, 1, -width, width):
                launch.access(LOAD, [i + shift for i in active])
            launch.access(STORE, active)
        launches.append(launch)
    inner = (width - 2) * (height - 2) * steps
    return launches, {LOAD: 4 * inner, STORE: inner}


def pchase(arguments):
    size, stride, rounds = numbers(arguments, 16384, 32, 3)
    steps, window, launches = size // stride * rounds, 6000, []
    for begin in range(0, steps, window):
        end = min(begin + window, steps)
        launch = Launch("pchase", (1, 1), (1, 1))
        for step in range(end):  # up to the first that is noted, and the noted ones
            launch.access(LOAD, [step * stride % size // 4])
        for step in range(end - begin):
            launch.access(STORE, [step])
            launch.access(STORE, [step])
        launches.append(launch)
    loads = sum(min(begin + window, steps) for begin in range(0, steps, window))
    return launches, {LOAD: loads, STORE: 2 * steps}


def strides(arguments):
    grid, block = numbers(arguments, 32, 64)
    launches = []
    for name, stride in ("stride_32", 32), ("stride_4", 4), ("same_location", 0), ("coalescing", 1):
        launch = Launch(name, (grid, 1), (block, 1))
        for warp in launch.places():
            for action in LOAD, STORE:
                launch.access(action, [x * stride for x, _ in warp])
        launches.append(launch)
    return launches, {LOAD: 4 * grid * block, STORE: 4 * grid * block}


def atomic_exch(_):
    launches = []
    for name, lanes_a_word in ("own_words", 1), ("four_words", 8), ("one_word", 32):
        launch = Launch(name, (1, 1), (32, 1))
        launch.access(ATOMIC, [lane // lanes_a_word for lane in range(32)])
        launch.access(STORE, range(32))
        launches.append(launch)
    return launches, {ATOMIC: 3 * 32, STORE: 3 * 32}


def invert_image(arguments):
    width, height = numbers(arguments, 512, 32)
    launch = Launch("invert_image", (width // 512, height // 8), (32, 8))
    for y in range(height):
        for first in range(0, width, 32):
            for action in LOAD, STORE:
                launch.access(action, range(y * width + first, y * width + first + 32))
    return [launch], {LOAD: width * height, STORE: width * height}


def reductions(arguments):
    n, = numbers(arguments, 16384)
    launches = []
    for name, loads in ("reduce_shared", 1), ("reduce_shared_unrolled", 4):
        launch = Launch(name, (n // 256 // loads, 1), (256, 1))
        for warp in launch.warps():
            for i in range(loads):
                launch.access(LOAD, [(bx * loads + i) * 256 + tx for bx, _, tx, _ in warp])
        for block in range(n // 256 // loads):
            launch.access(STORE, [block])
        launches.append(launch)
    launch = Launch("reduce_global", (n // 256, 1), (256, 1))
    for block in range(n // 256):
        for half in 128, 64, 32, 16, 8, 4, 2, 1:
            for first in range(0, max(half, 32), 32):
                own = range(block * 256 + first, block * 256 + first + 32)
                launch.access(LOAD, own)
                launch.access(LOAD, [i + half for i in own])
                launch.access(STORE, own)
        launch.access(LOAD, [block * 256])
        launch.access(STORE, [block])
    launches.append(launch)
    # Of 256 words 128, 64 and six times 32 are added to.
    return launches, {LOAD: 2 * n + n // 256 * (2 * 384 + 1), STORE: n // 256 + n // 1024 + n // 256 * (384 + 1)}


def transposes(arguments):
    n, = numbers(arguments, 64)
    launches = []
    for name, read_down, written_down in (("reads_down", 1, 0), ("writes_down", 0, 1), ("tile_filled_down", 0, 0), ("tile_read_down", 0, 0),
                                          ("tile_padded", 0, 0)):
        launch = Launch(name, (n // 32, n // 32), (32, 32))
        for warp in launch.places():
            # Doubles of a row, or one a row, beginning at the warp's first.
            for action, down in (LOAD, read_down), (STORE, written_down):
                launch.access(action, [2 * (x * n + y if down else y * n + x) for x, y in warp])
        launches.append(launch)
    return launches, {LOAD: 5 * n * n, STORE: 5 * n * n}


def sobel(arguments):
    width, height = numbers(arguments, 64, 64)
    launches = []
    for name, around in ("sobel", 8), ("sobel_tiled", 9):
        launch = Launch(name, (up(width, 32), up(height, 32)), (32, 32))
        for warp in launch.places():
            for y in range(3):
                for x in range(3):
                    if (x, y) != (1, 1) or around == 9:
                        launch.access(LOAD, [(py + y) * width + px + x for px, py in warp])
            launch.access(STORE, [py * width + px for px, py in warp])
        launches.append(launch)
    threads = 1024 * up(width, 32) * up(height, 32)
    return launches, {LOAD: 17 * threads, STORE: 2 * threads}


PROGRAMS = {f.__name__: f for f in (vectoradd, gemm, gemm_tiled, gemm_wide, knee, transpose, transpose_tiled, conv2d, conv3d, matvec,
                                    syrk, reduce, fast_walsh, dct8x8, histogram, histogram64, spmv, bfs, jacobi, pchase, strides,
                                    atomic_exch, invert_image, reductions, sobel, transposes)} | SUITES


@functools.lru_cache(maxsize=None)
def expected(name, arguments):
    launches, lanes = PROGRAMS[name](arguments)
    for action in LOAD, STORE, ATOMIC:
        counted = sum(launch.counts.get(action, [0, 0, 0])[1] for launch in launches)
        assert counted == lanes.get(action, 0), f"{name}: {action}: {counted} lanes counted, {lanes.get(action, 0)} by the formula"
    return launches


def rows_of(path):
    """The rows of a text of gtrace-cat as dictionaries; fails if the text is truncated."""
    columns, names, whole = [], {}, False
    with open(path) as text:
        for line in text:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "#block":
                columns = ["block"] + fields[1:]
            elif fields[0] == "#kernel":
                pairs = dict(field.split("=", 1) for field in fields[1:])
                names[pairs["id"]] = pairs["name"]
            elif fields[0] == "#end":
                whole = True
            elif not fields[0].startswith("#"):
                row = dict(zip(columns, fields))
                row["name"] = names[row["kernel"]]
                yield row
    assert whole, f"{path}: cut short"


def action_of(op):
    """load, store or atomic (with or without a result) of a global access, else None."""
    action, space = op.split(".")[:2]
    if space != "global":
        return None
    return ATOMIC if action == "reduction" else action


def traced(accesses, requests):
    """{launch: [kernel's name, {action: [accesses, lanes, sectors]}]}, launches in their order."""
    launches = {}
    for path, request in (accesses, False), (requests, True):
        for row in rows_of(path):
            action = action_of(row["op"])
            if not action:
                continue
            _, counts = launches.setdefault(int(row["kernel"]), [row["name"], {}])
            count = counts.setdefault(action, [0, 0, 0])
            if request:
                count[2] += bin(int(row["sectors"], 0)).count("1")
            else:
                count[0] += 1
                count[1] += bin(int(row["mask"], 0)).count("1")
    return [launches[launch] for launch in sorted(launches)]


def compare(accesses, requests, kernel, name, *arguments):
    launches, found = expected(name, arguments), traced(accesses, requests)
    where = " ".join((accesses, name) + arguments)
    if kernel != "-":
        launches = [launch for launch in launches if launch.kernel == kernel][:1]
    if len(found) != len(launches):
        sys.exit(f"{where}: {len(found)} launches in the trace, expected {len(launches)}")
    for i, (launch, (shown, counts)) in enumerate(zip(launches, found)):
        if launch.kernel not in shown:
            sys.exit(f"{where}: launch {i + 1} is of {shown}, expected {launch.kernel}")
        if counts != launch.counts:
            sys.exit(f"{where}: launch {i + 1}, {shown}: accesses, lanes, sectors: {counts}, expected {launch.counts}")


def addresses(row):
    """The addresses of a row's active lanes, lowest lane first."""
    if row["lanes"] != "-":
        return [int(address, 0) for address in row["lanes"].split(",")]
    mask, base, stride = (int(row[column], 0) for column in ("mask", "base", "stride"))
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    return [base + stride * (lane - lanes[0]) for lane in lanes]


def traced_degrees(path):
    """{PTX line: [lanes, those within 128 bytes of the first one's sector, accesses, sectors]}."""
    degrees = {}
    for row in rows_of(path):
        if not action_of(row["op"]):
            continue
        lanes = addresses(row)
        start = lanes[0] // 32 * 32
        degree = degrees.setdefault(int(row["pc"], 0), [0, 0, 0, 0])
        degree[0] += len(lanes)
        degree[1] += sum(start <= address < start + 128 for address in lanes)
        degree[2] += 1
        last = int(row["size"]) - 1
        degree[3] += len({(address + byte) // 32 for address in lanes for byte in (0, last)})
    return degrees


def compare_static(report, accesses):
    found, compared = traced_degrees(accesses), 0
    with open(report) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    for _, line, _, _, degree, _, _, sectors, basis, address in rows:
        if line == "all" or basis != "exact" or int(line) not in found:
            continue
        lanes, in_range, warps, touched = found[int(line)]
        traced_ones = f"{100 * in_range / lanes:.4g}", f"{touched / warps:.4g}"
        if traced_ones != (degree, sectors):
            sys.exit(f"line {line}, {address}: degree and sectors {degree}, {sectors}; traced {traced_ones}")
        compared += 1
    print(compared)


def bfs_data(arguments):
    nodes, edges, _ = numbers(arguments, 512, 3, 128)
    first, to = graph(nodes, edges)
    start = [1] + [0] * (nodes - 1)
    return {"first": first, "to": to or [0], "frontier": start, "visited": start}


def data(name, arguments):
    """The integer buffers that decide which addresses a program reaches."""
    if name == "histogram":
        return {"values": histogram_values(*numbers(arguments, 10000, 256)[:2])}
    if name == "spmv":
        first, column = sparse(*numbers(arguments, 256, 9, 64)[:2])
        return {"first": first, "column": column or [0]}
    if name == "bfs":
        return bfs_data(arguments)
    if name == "pchase":
        size, stride, _ = numbers(arguments, 16384, 32, 3)
        return {"array": [(i + stride // 4) % (size // 4) for i in range(size // 4)]}
    return {}


def main(what, *arguments):
    if what == "count":
        for i, launch in enumerate(expected(arguments[0], arguments[1:])):
            for action in sorted(launch.counts):
                print(i + 1, launch.kernel, action, *launch.counts[action], sep="\t")
    elif what == "compare":
        traces = [line.split() for line in sys.stdin]
        for trace in traces:
            compare(*trace)
        assert traces, "no traces"
    elif what == "compare-static":
        compare_static(*arguments)
    elif what == "data":
        for buffer, values in data(arguments[0], arguments[1:-1]).items():
            with open(f"{arguments[-1]}/{buffer}.bin", "wb") as file:
                file.write(struct.pack(f"<{len(values)}i", *values))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
