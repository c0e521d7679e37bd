# SPDX-License-Identifier: MIT
"""The global accesses of a launch as the references of the example kernels count them: warp accesses, lanes,
sectors, by action."""

LOAD, STORE, ATOMIC = "load", "store", "atomic"


class Launch:
    """The global accesses of one launch, warp by warp."""

    def __init__(self, kernel, grid, block):
        self.kernel, self.grid, self.block = kernel, grid, block
        self.counts = {}

    def access(self, action, indices):
        """A warp access to these four-byte elements of one buffer, one for each active lane."""
        if not indices:
            return
        count = self.counts.setdefault(action, [0, 0, 0])
        count[0] += 1
        count[1] += len(indices)
        count[2] += len({index // 8 for index in indices})

    def warps(self):
        """The lanes of each warp: (block x, block y, thread x, thread y)."""
        (grid_x, grid_y), (block_x, block_y) = self.grid, self.block
        for by in range(grid_y):
            for bx in range(grid_x):
                threads = [(bx, by, t % block_x, t // block_x) for t in range(block_x * block_y)]
                for first in range(0, len(threads), 32):
                    yield threads[first:first + 32]

    def places(self):
        """As warps, but each lane is (x, y) in the whole grid."""
        for warp in self.warps():
            yield [(bx * self.block[0] + tx, by * self.block[1] + ty) for bx, by, tx, ty in warp]


def up(n, by):
    return (n + by - 1) // by


def numbers(arguments, *defaults):
    given = [int(argument) for argument in arguments]
    return given + list(defaults[len(given):])
