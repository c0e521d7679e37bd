# SPDX-License-Identifier: MIT
"""The accesses that the programs after PolyBench/GPU and Rodinia must make, in the form of kernels_reference.py."""
from kernels_launch import LOAD, STORE, Launch, numbers, up


def kernel(name, columns, rows, block, inside, before=(), turns=0, turn=(), after=()):
    """A launch over columns x rows threads, those `inside`: the accesses before a loop, in each turn of it, and
    after it, each an action and the index as a function of (x, y) or, in the loop, (x, y, k)."""
    launch = Launch(name, (up(columns, block[0]), up(rows, block[1])), block)
    for warp in launch.places():
        active = [(x, y) for x, y in warp if x < columns and y < rows and inside(x, y)]
        for action, index in before:
            launch.access(action, [index(x, y) for x, y in active])
        for k in range(turns):
            for action, index in turn:
                launch.access(action, [index(x, y, k) for x, y in active])
        for action, index in after:
            launch.access(action, [index(x, y) for x, y in active])
    return launch


def everywhere(_x, _y):
    return True


def lanes(*kernels):
    """The closed formula: threads, then loads and stores before and after the loop, iterations, those of an iteration."""
    return {LOAD: sum(threads * (loads + turns * each) for threads, loads, _, turns, each, _ in kernels),
            STORE: sum(threads * (stores + turns * each) for threads, _, stores, turns, _, each in kernels)}


def product(name, n, block, a, b, loads_sum, turns=None):
    """A sum kept in an n x n matrix and stored in each iteration; it is loaded first, or is zero."""
    def here(x, y, _k=0):
        return y * n + x

    before = [(LOAD, here), (STORE, here)] if loads_sum else [(STORE, here)]
    turn = [(LOAD, a), (LOAD, b), (STORE, here)]
    return kernel(name, n, n, block, everywhere, before, turns or n, turn)


def matrices(names, loads_sum):
    """Products of square matrices, one after another."""
    def program(arguments):
        n, block_x, block_y = numbers(arguments, 512, 32, 8)
        launches = [product(name, n, (block_x, block_y), lambda x, y, k: y * n + k, lambda x, y, k: k * n + x, first)
                    for name, first in zip(names, loads_sum)]
        return launches, lanes(*((n * n, first, 1, n, 2, 1) for first in loads_sum))
    return program


def syrk(arguments):
    n, m, block_x, block_y = numbers(arguments, 1024, 1024, 32, 8)
    launch = product("syrk_kernel", n, (block_x, block_y), lambda x, y, k: y * m + k, lambda x, y, k: x * m + k, True, m)
    return [launch], lanes((n * n, 1, 1, m, 2, 1))


def syr2k(arguments):
    n, m, block_x, block_y = numbers(arguments, 1024, 1024, 32, 8)
    rows = [(LOAD, lambda x, y, k: y * m + k), (LOAD, lambda x, y, k: x * m + k)]
    here = [(LOAD, lambda x, y: y * n + x), (STORE, lambda x, y: y * n + x)]
    launch = kernel("syr2k_kernel", n, n, (block_x, block_y), everywhere, here, m, rows + rows + [(STORE, lambda x, y, k: y * n + x)])
    return [launch], lanes((n * n, 1, 1, m, 4, 1))


def by_row(name, rows, columns, block, loads_sum, matrices_read=1, after=()):
    """One thread per row: its row of each matrix, the vector, and the sum of each matrix stored in each iteration. If
    there are two sums, the store of one may alias the other and the vector, so all are loaded again."""
    sums = [(LOAD, lambda x, y: x)] * loads_sum + [(STORE, lambda x, y: x)] * (not loads_sum) * matrices_read
    turn = ([(LOAD, lambda x, y, k: x * columns + k), (STORE, lambda x, y, k: x)] * matrices_read
            + [(LOAD, lambda x, y, k: k)] * matrices_read
            + [(LOAD, lambda x, y, k: x)] * (matrices_read if matrices_read > 1 else 0))
    return kernel(name, rows, 1, (block, 1), everywhere, sums, columns, turn, after)


def by_column(name, rows, columns, block, loads_sum, after=()):
    """One thread per column."""
    turn = [(LOAD, lambda x, y, k: k * columns + x), (LOAD, lambda x, y, k: k), (STORE, lambda x, y, k: x)]
    before = [(LOAD, lambda x, y: x)] if loads_sum else [(STORE, lambda x, y: x)]
    return kernel(name, columns, 1, (block, 1), everywhere, before, rows, turn, after)


def bicg(arguments):
    nx, ny, block = numbers(arguments, 4096, 4096, 256)
    launches = [by_column("bicg_kernel1", nx, ny, block, False), by_row("bicg_kernel2", nx, ny, block, False)]
    return launches, lanes((ny, 0, 1, nx, 2, 1), (nx, 0, 1, ny, 2, 1))


def atax(arguments):
    nx, ny, block = numbers(arguments, 4096, 4096, 256)
    launches = [by_row("atax_kernel1", nx, ny, block, False), by_column("atax_kernel2", nx, ny, block, False)]
    return launches, lanes((nx, 0, 1, ny, 2, 1), (ny, 0, 1, nx, 2, 1))


def mvt(arguments):
    n, block = numbers(arguments, 4096, 256)
    launches = [by_row("mvt_kernel1", n, n, block, True), by_column("mvt_kernel2", n, n, block, True)]
    return launches, lanes(*[(n, 1, 0, n, 2, 1)] * 2)


def gesummv(arguments):
    n, block = numbers(arguments, 4096, 256)
    after = [(LOAD, lambda x, y: x), (STORE, lambda x, y: x)]
    return [by_row("gesummv_kernel", n, n, block, False, 2, after)], lanes((n, 1, 3, n, 6, 2))


def points(shifts):
    """Only loads, at these distances from an index."""
    return lambda at: [(LOAD, lambda x, y, shift=shift: at(x, y) + shift) for shift in shifts]


def conv2d(arguments):
    ni, nj, block_x, block_y = numbers(arguments, 4096, 4096, 32, 8)

    def here(x, y):
        return y * nj + x

    loads = points([dy * nj + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1)])(here)
    launch = kernel("convolution2D_kernel", nj, ni, (block_x, block_y),
                    lambda x, y: 0 < x < nj - 1 and 0 < y < ni - 1, loads + [(STORE, here)])
    return [launch], lanes(((ni - 2) * (nj - 2), 9, 1, 0, 0, 0))


def conv3d(arguments):
    ni, nj, nk, block_x, block_y = numbers(arguments, 256, 256, 256, 32, 8)
    near = [(0, -1, 0), (0, 0, 0), (0, 1, 0)] + [(z, y, 1) for z in (-1, 1) for y in (-1, 0, 1)] + [(-1, -1, -1), (1, -1, -1)]
    loads = points([(z * nj + y) * nk + x for z, y, x in near])
    launches = []
    for i in range(1, ni - 1):
        def here(x, y, i=i):
            return (i * nj + y) * nk + x
        launches.append(kernel("convolution3D_kernel", nk, nj, (block_x, block_y),
                               lambda x, y: 0 < x < nk - 1 and 0 < y < nj - 1, loads(here) + [(STORE, here)]))
    return launches, lanes(((ni - 2) * (nj - 2) * (nk - 2), 11, 1, 0, 0, 0))


def jacobi2d(arguments):
    n, steps, block_x, block_y = numbers(arguments, 1024, 20, 32, 8)

    def here(x, y):
        return y * n + x

    def inner(x, y):
        return 0 < x < n - 1 and 0 < y < n - 1

    launches = []
    for _ in range(steps):
        for name, shifts in ("runJacobiCUDA_kernel1", (0, -1, 1, n, -n)), ("runJacobiCUDA_kernel2", (0,)):
            launches.append(kernel(name, n, n, (block_x, block_y), inner, points(shifts)(here) + [(STORE, here)]))
    return launches, lanes(((n - 2) ** 2 * steps, 6, 2, 0, 0, 0))


def fdtd2d(arguments):
    nx, ny, steps, block_x, block_y = numbers(arguments, 2048, 2048, 20, 32, 8)
    block, wide = (block_x, block_y), ny + 1

    def here(x, y):
        return y * ny + x

    def of_x(x, y):
        return y * wide + x

    launches = []
    for t in range(steps):
        first = kernel("fdtd_step1_kernel", ny, nx, block, lambda x, y: y > 0, points((0, -ny))(here) + [(LOAD, here), (STORE, here)])
        # The upper edge takes the source, in whichever warps have a part of it.
        for warp in first.places():
            edge = [x for x, y in warp if y == 0 and x < ny]
            first.access(LOAD, [t for _ in edge])
            first.access(STORE, edge)
        second = kernel("fdtd_step2_kernel", ny, nx, block, lambda x, y: x > 0,
                        points((0, -1))(here) + [(LOAD, of_x), (STORE, of_x)])
        third = kernel("fdtd_step3_kernel", ny, nx, block, everywhere,
                       points((0, 1))(of_x) + points((0, ny))(here) + [(LOAD, here), (STORE, here)])
        launches += [first, second, third]
    return launches, lanes(((nx - 1) * ny * steps, 3, 1, 0, 0, 0), (ny * steps, 1, 1, 0, 0, 0),
                           (nx * (ny - 1) * steps, 3, 1, 0, 0, 0), (nx * ny * steps, 5, 1, 0, 0, 0))


def hotspot(arguments):
    n, height, steps = numbers(arguments, 1024, 2, 2)
    launches, loads, stores = [], 0, 0
    tiles = up(n, 16 - 2 * height)
    for done in range(0, steps, height):
        now = min(height, steps - done)
        launch = Launch("calculate_temp", (tiles, tiles), (16, 16))
        for warp in launch.warps():
            # A tile goes on by what this launch's steps leave of it, its border by what the program was told.
            cells = [((16 - 2 * now) * bx - height + tx, (16 - 2 * now) * by - height + ty, tx, ty) for bx, by, tx, ty in warp]
            cells = [(x, y, tx, ty) for x, y, tx, ty in cells if 0 <= x < n and 0 <= y < n]
            read = [y * n + x for x, y, _, _ in cells]
            written = [y * n + x for x, y, tx, ty in cells if now <= tx < 16 - now and now <= ty < 16 - now]
            launch.access(LOAD, read)
            launch.access(LOAD, read)
            launch.access(STORE, written)
        # Along one side: the cells of all tiles, then squared.
        tile = [[(16 - 2 * now) * b - height + t for b in range(tiles)] for t in range(16)]
        side = sum(0 <= x < n for line in tile for x in line)
        inner = sum(0 <= x < n for line in tile[now:16 - now] for x in line)
        loads, stores = loads + 2 * side ** 2, stores + inner ** 2
        launches.append(launch)
    return launches, {LOAD: loads, STORE: stores}


def pathfinder(arguments):
    columns, rows, height = numbers(arguments, 100000, 100, 20)
    launches, loads, stores = [], 0, 0
    blocks = up(columns, 256 - 2 * height)
    for first in range(0, rows - 1, height):
        now = min(height, rows - 1 - first)
        launch = Launch("dynproc_kernel", (blocks, 1), (256, 1))
        for warp in launch.warps():
            cells = [((256 - 2 * now) * bx - height + tx, tx) for bx, _, tx, _ in warp]
            cells = [(x, tx) for x, tx in cells if 0 <= x < columns]
            launch.access(LOAD, [x for x, _ in cells])
            for i in range(now):
                launch.access(LOAD, [columns * (first + i) + x for x, tx in cells if i < tx < 255 - i])
            launch.access(STORE, [x for x, tx in cells if now <= tx < 256 - now])
        for block in range(blocks):
            left = (256 - 2 * now) * block - height
            reach = [min(columns, left + 256 - lost) - max(0, left + lost) for lost in range(now + 1)]
            loads += sum(max(0, cells) for cells in [reach[0]] + reach[1:])
            stores += max(0, reach[now])
        launches.append(launch)
    return launches, {LOAD: loads, STORE: stores}


def nn(arguments):
    records, block = numbers(arguments, 42764, 256)
    launch = kernel("euclid", records, 1, (block, 1), everywhere,
                    [(LOAD, lambda x, y: 2 * x), (LOAD, lambda x, y: 2 * x + 1), (STORE, lambda x, y: x)])
    return [launch], lanes((records, 2, 1, 0, 0, 0))


def gaussian(arguments):
    n, = numbers(arguments, 16)
    launches, threads = [], [0, 0, 0]
    for t in range(n - 1):
        first = kernel("Fan1", n, 1, (128, 1), lambda x, y, t=t: x < n - 1 - t,
                       [(LOAD, lambda x, y, t=t: n * (x + t + 1) + t), (LOAD, lambda x, y, t=t: n * t + t),
                        (STORE, lambda x, y, t=t: n * (x + t + 1) + t)])
        second = kernel("Fan2", n, n, (16, 16), lambda x, y, t=t: x < n - 1 - t and y < n - t,
                        [(LOAD, lambda x, y, t=t: n * (x + 1 + t) + t), (LOAD, lambda x, y, t=t: n * t + y + t),
                         (LOAD, lambda x, y, t=t: n * (x + 1 + t) + y + t), (STORE, lambda x, y, t=t: n * (x + 1 + t) + y + t)])
        # The upper row of threads goes on to the right side.
        for warp in second.places():
            edge = [x for x, y in warp if y == 0 and x < n - 1 - t]
            for action, indices in ((LOAD, [n * (x + 1 + t) + t for x in edge]), (LOAD, [t for _ in edge]),
                                    (LOAD, [x + 1 + t for x in edge]), (STORE, [x + 1 + t for x in edge])):
                second.access(action, indices)
        for i, n_threads in enumerate((n - 1 - t, (n - 1 - t) * (n - t), n - 1 - t)):
            threads[i] += n_threads
        launches += [first, second]
    return launches, {LOAD: 2 * threads[0] + 3 * threads[1] + 3 * threads[2], STORE: sum(threads)}


SUITES = {
    "polybench_gemm": matrices(["gemm_kernel"], [True]),
    "polybench_2mm": matrices(["mm2_kernel1", "mm2_kernel2"], [False, True]),
    "polybench_3mm": matrices(["mm3_kernel1", "mm3_kernel2", "mm3_kernel3"], [False, False, False]),
    "polybench_syrk": syrk, "polybench_syr2k": syr2k, "polybench_bicg": bicg, "polybench_atax": atax,
    "polybench_mvt": mvt, "polybench_gesummv": gesummv, "polybench_2dconv": conv2d,
    "polybench_3dconv": conv3d, "polybench_jacobi2d": jacobi2d, "polybench_fdtd2d": fdtd2d,
    "rodinia_hotspot": hotspot, "rodinia_pathfinder": pathfinder, "rodinia_nn": nn,
    "rodinia_gaussian": gaussian,
}
