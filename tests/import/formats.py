# SPDX-License-Identifier: MIT
"""Writes one random kernel in a trace format.

    formats.py FORMAT SEED [whole] [FOLDER]

FORMAT is rdgc, nvbit, traceg3, traceg5, traceg6 (Accel-Sim, by the tracer's version), trace (ungrouped), mem or memwarp
(PPT-GPU, in both dialects; into FOLDER). `whole` makes a kernel of whole warps with no lane off.
The same seed gives the same kernel in every format."""
import os
import random
import sys

SUFFIX = {1: '.U8', 2: '.S16', 4: '', 8: '.64', 16: '.128'}


class Kernel:
    """accesses[block][warp] is a list of (store, size, {lane: address})."""

    def __init__(self, seed, whole):
        rnd = random.Random(seed)
        self.grid = (rnd.randrange(1, 5), rnd.randrange(1, 4), rnd.randrange(1, 3))
        self.shape = (32, 2, 1) if whole else (20, 2, 2)
        self.threads = self.shape[0] * self.shape[1] * self.shape[2]
        self.warps = (self.threads + 31) // 32
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        self.accesses = [[[self.access(rnd, warp, whole) for _ in range(rnd.choice([0, 7, 30, 30]) + (block < 3))]
                          for warp in range(self.warps)] for block in range(self.blocks)]

    def access(self, rnd, warp, whole):
        size = rnd.choice([1, 2, 4, 4, 8, 16])
        exist = range(min(32, self.threads - 32 * warp))
        lanes = list(exist) if whole or rnd.random() < 0.5 else [l for l in exist if rnd.random() < 0.6] or [0]
        base = 0x7f1000000000 + rnd.randrange(1 << 20) * 16
        stride = rnd.choice([0, size, size, 64, -size, None])
        if stride is None:
            return rnd.random() < 0.3, size, {l: base + size * rnd.randrange(4096) for l in lanes}
        return rnd.random() < 0.3, size, {l: base + stride * (l - lanes[0]) for l in lanes}

    def place(self, block):
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)

    def interleaved(self, seed):
        """(block, warp, an, access), with the warps of all blocks interleaved at random, each in its order."""
        rnd = random.Random(seed + 1)
        left = [[b, w, 0] for b in range(self.blocks) for w in range(self.warps) if self.accesses[b][w]]
        while left:
            place = rnd.choice(left)
            block, warp, an = place
            yield block, warp, an, self.accesses[block][warp][an]
            place[2] += 1
            if place[2] == len(self.accesses[block][warp]):
                left.remove(place)


def rdgc(kernel, seed, out):
    out.write('#kernel id=1 name=k grid=%d,%d,%d block=%d,%d,%d\n' % (*kernel.grid, *kernel.shape))
    for block, warp, an, (store, size, lanes) in kernel.interleaved(seed):
        for lane, address in lanes.items():
            out.write('%d %d %d %s 0x%x %d\n' % (an, block, 32 * warp + lane, 'RW'[store], address, size))


def nvbit(kernel, seed, out):
    context = 'MEMTRACE: CTX 0x0000000000abc000 - '
    out.write('output of the program\n' + context + 'LAUNCH - Kernel pc 0x00007f0000000200 - Kernel name k - grid launch id 9'
              ' - grid launch id 1 - grid size %d,%d,%d - block size %d,%d,%d - nregs 8 - shmem 0 - cuda stream id 0\n'
              % (*kernel.grid, *kernel.shape))
    for block, warp, an, (store, size, lanes) in kernel.interleaved(seed):
        slot = warp + kernel.warps * (block % 5)
        # Lanes that do not exist repeat the first active one.
        exist = kernel.threads - 32 * warp
        first = next(iter(lanes.values()))
        shown = [lanes.get(lane, 0) if lane < exist else first for lane in range(32)]
        out.write(context + 'grid_launch_id 0 - CTA %d,%d,%d - warp %d - %s.E%s - ' % (*kernel.place(block), slot,
                  ['LDG', 'STG'][store], SUFFIX[size]) + ''.join('0x%016x ' % a for a in shown) + '\n')
    out.write('done\n')


def instruction(an, access, version):
    """The lines of an access: an instruction without addresses, then the access."""
    store, size, lanes = access
    places, addresses = sorted(lanes), [lanes[l] for l in sorted(lanes)]
    deltas = [b - a for a, b in zip(addresses, addresses[1:])]
    adjacent = places == list(range(places[0], places[0] + len(places)))
    end = ' 0' if version >= 5 else ''
    if version >= 6:  # two immediates, and sometimes the values of the three registers of either instruction
        end = ' 0 0 NoVal' if an % 3 else ' -4 0x10 Val' + ' 1 7f' * 2 + ' 32' + ' ffffffffffffffff' * 32 if an % 2 else ' 0'
    register = 'UR' if version >= 5 else 'R'
    # WIDTH is wrong for signed types: readers must not use it.
    text = '%04x %08x ' % (16 * an + 8, sum(1 << l for l in places))
    text += '0 STG.E%s.SYS 2 R2 R4 4 ' % SUFFIX[size] if store else '1 R4 LDG.E%s.SYS 2 R2 %s4 4 ' % (SUFFIX[size], register)
    if adjacent and len(set(deltas)) == 1 and an % 3:
        text += '1 0x%x %d' % (addresses[0], deltas[0])
    elif an % 2:
        text += ' '.join(['2 0x%x' % addresses[0]] + [str(d) for d in deltas])
    else:
        text += ' '.join(['0'] + ['0x%016x' % a for a in addresses])
    other = '4 R24 HGMMA.64x128x16.F32 4 R24 UR4 UR8 UP0 1' if version >= 6 and an % 2 else '1 R9 IMAD.MOV.U32 2 R255 R1'
    return ['%04x ffffffff %s 0%s' % (16 * an, other.replace('4 R24', '1 R24', 1), end), text + end]


def header(kernel, version, out):
    out.write('-kernel name = k\n-kernel id = 1\n-grid dim = (%d,%d,%d)\n-block dim = (%d,%d,%d)\n' % (*kernel.grid, *kernel.shape))
    out.write('-shmem = 0\n-nregs = 8\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f2b00000000\n')
    out.write('-local mem base_addr = 0x00007f2af0000000\n-nvbit version = 1.5.5\n-accelsim tracer version = %d\n' % version)
    out.write('\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [mem_addresses]\n\n')


def grouped(version):
    def write(kernel, seed, out):
        header(kernel, version, out)
        for block in range(kernel.blocks):
            out.write('#BEGIN_TB\n\nthread block = %d,%d,%d\n' % kernel.place(block))
            if version >= 5:
                out.write('cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n')
            for warp in range(kernel.warps):
                lines = [line for an, access in enumerate(kernel.accesses[block][warp]) for line in instruction(an, access, version)]
                out.write('\nwarp = %d\ninsts = %d\n' % (warp, len(lines)) + ''.join(line + '\n' for line in lines))
            out.write('\n#END_TB\n\n')
    return write


def ungrouped(kernel, seed, out):
    header(kernel, 5, out)
    for block, warp, an, access in kernel.interleaved(seed):
        for line in instruction(an, access, 5):
            out.write('%d %d %d %d ' % (*kernel.place(block), warp) + line + '\n')


def folder(with_warps):
    def write(kernel, seed, path):
        os.makedirs(path + '/memory_traces')
        with open(path + '/app_config.py', 'w') as out:
            out.write('kernel_1 = {\n\n\t"kernel_name"\t\t\t: "k",\n\t"num_registers"\t\t\t: 8,\n\t"shared_mem_bytes"\t\t: 0,\n')
            out.write('\t"grid_size"\t\t\t: %d,\n\t"block_size"\t\t\t: %d,\n\t"cuda_stream_id"\t\t: 0\n}\n\napp_kernels_id = [1]\n'
                      % (kernel.blocks, kernel.threads))
        files = {}
        for block, warp, an, (store, size, lanes) in kernel.interleaved(seed):
            first = block not in files
            text = files.setdefault(block, [])
            opcode = ['LDG', 'STG'][store] + '.E' + SUFFIX[size] + '.SYS'
            if with_warps:
                slot = warp + kernel.warps * (block % 6 + 4)
                text.append('%s %s ' % (opcode, '%d' % slot if first else '%x' % slot) + ''.join('%x ' % a for a in lanes.values()) + '\n')
            else:
                text.append('\n=====\n%s ' % opcode + ''.join('0x%x ' % a for a in lanes.values()))
        for block, text in files.items():
            with open('%s/memory_traces/kernel_1_block_%d.mem' % (path, block), 'w') as out:
                out.write(''.join(text))
    return write


FORMATS = dict(rdgc=rdgc, nvbit=nvbit, traceg3=grouped(3), traceg5=grouped(5), traceg6=grouped(6), trace=ungrouped,
               mem=folder(False), memwarp=folder(True))

if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if a != 'whole']
    seed = int(arguments[1])
    FORMATS[arguments[0]](Kernel(seed, 'whole' in sys.argv), seed, arguments[2] if len(arguments) > 2 else sys.stdout)
