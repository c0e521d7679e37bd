#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole main pipe, slow and plain: fold, coalesce, schedule, two cache levels, DRAM.

Reads RDGC five-tuples and prints `kernel,stage,counter,value` for each kernel, as gstats --csv
does. Written from the definitions (gtrace(7) and the tools' man pages), one byte, one lane and one
sector at a time, to be compared with the filters; it shares nothing with them.

    slow_pipe.py --sm 80 --max-blocks 8 --l1 size=32768,ways=4 --l2 size=262144,ways=16 trace.rdgc
"""
import argparse

LINE, SECTOR, WARP = 128, 32, 32
SPACE = 1 << 64  # addresses are modulo 2^64


# ---------------------------------------------------------------- the trace
class Kernel:
    def __init__(self, ident, name, grid, block):
        self.id, self.name, self.grid, self.block = ident, name, grid, block
        self.threads = []  # (an, block, thread, op, address, size), in the order of the file

    def blocks(self):
        return self.grid[0] * self.grid[1] * self.grid[2]


def read_rdgc(lines):
    kernels = []
    for line in lines:
        line = line.strip()
        if line.startswith('#kernel'):
            words = dict(word.split('=', 1) for word in line.split()[1:])
            three = {key: [int(n) for n in words[key].split(',')] for key in ('grid', 'block')}
            kernels.append(Kernel(int(words['id']), words['name'], three['grid'], three['block']))
        elif line and not line.startswith('#'):
            an, block, thread, op, address, *size = line.split()
            op = {'R': 'load', '0': 'load', 'W': 'store', '1': 'store'}[op]
            kernels[-1].threads.append((int(an), int(block), int(thread), op, int(address, 16),
                                        int(size[0]) if size else 4))
    return kernels


# ---------------------------------------------------------------- fold
class Access:
    def __init__(self, block, warp, an, op, size):
        self.block, self.warp, self.an, self.op, self.size = block, warp, an, op, size
        self.lanes = {}  # lane: address


def fold(kernel):
    """Threads of one (block, warp, an) with the same op and size make one access; those that
    differ make further ones, in lane order. In logical order: block, an, warp."""
    together = {}
    for an, block, thread, op, address, size in kernel.threads:
        together.setdefault((block, an, thread // WARP), []).append((thread % WARP, op, size, address))
    accesses = []
    for (block, an, warp), lanes in sorted(together.items()):
        made = {}
        for lane, op, size, address in sorted(lanes):
            if (op, size) not in made:
                made[op, size] = Access(block, warp, an, op, size)
            made[op, size].lanes[lane] = address
        accesses.extend(made.values())
    return accesses


# ---------------------------------------------------------------- coalesce
class Request:
    def __init__(self, op, line, step=0, sm=0):
        self.op, self.line, self.step, self.sm = op, line, step, sm
        self.bytes = set()  # of the line, touched by some lane
        self.sectors, self.full = set(), set()


def group_of(lane, size, rule):
    if not rule.startswith('pascal'):
        return 0
    together = 8 if size <= 4 else 4 if size <= 8 else 2 if size <= 16 else 1
    return lane // together


def coalesce(access, rule):
    requests = {}
    for lane, address in sorted(access.lanes.items()):
        for byte in range(access.size):
            at = (address + byte) % SPACE
            key = (group_of(lane, access.size, rule), at // LINE)
            if key not in requests:
                requests[key] = Request(access.op, at // LINE, access.step, access.sm)
            requests[key].bytes.add(at % LINE)
    for request in requests.values():
        for sector in range(LINE // SECTOR):
            touched = sum(byte // SECTOR == sector for byte in request.bytes)
            if touched > 0 or rule == 'fermi':
                request.sectors.add(sector)
            if touched == SECTOR and access.op == 'store':
                request.full.add(sector)
    if rule == 'pascal' and access.op == 'store':
        return joined(requests.values())
    return list(requests.values())


def joined(requests):
    """Requests of a store's groups to one line are one request, unless they share a sector."""
    kept = []
    for request in requests:
        for other in kept:
            if other.line == request.line and not other.sectors & request.sectors:
                other.bytes |= request.bytes
                other.sectors |= request.sectors
                other.full |= request.full
                break
        else:
            kept.append(request)
    return kept


# ---------------------------------------------------------------- schedule
def sm_of(block, mapping, sms):
    if mapping.startswith('part:'):
        return block // int(mapping[5:]) % sms
    return block % sms


def schedule(kernel, accesses, sms, resident, schedulers, mapping):
    """Gives every access its SM and step, wave by wave; returns them by step, SM and issue order, and the number of
    steps and waves of the longest SM."""
    issued, most_steps, most_waves = [], 0, 0
    for sm in range(sms):
        mine = [block for block in range(kernel.blocks()) if sm_of(block, mapping, sms) == sm]
        step = 0
        for first in range(0, len(mine), resident):
            wave = mine[first:first + resident]
            here = [access for access in accesses if access.block in wave]
            for an in sorted({access.an for access in here}):
                for block in wave:
                    groups = {}
                    for access in here:
                        if access.an == an and access.block == block:
                            groups.setdefault(access.warp // schedulers, []).append(access)
                    for _, group in sorted(groups.items()):
                        for access in group:
                            access.sm, access.step = sm, step
                            issued.append(access)
                        step += 1
        most_steps = max(most_steps, step)
        most_waves = max(most_waves, -(-len(mine) // resident))
    issued.sort(key=lambda access: (access.step, access.sm))  # stable: issue order stays
    return issued, most_steps, most_waves


# ---------------------------------------------------------------- a cache
class Line:
    def __init__(self, line):
        self.line = line
        self.came = self.used = 0
        self.valid, self.dirty, self.parts = set(), set(), set()


class Cache:
    """One instance. Counts are in sectors, and are shared by the instances of a level."""

    def __init__(self, settings, count):
        self.ways = settings['ways']
        self.sets = [[] for _ in range(settings['size'] // LINE // self.ways)]
        assert len(self.sets) * self.ways * LINE == settings['size'] > 0
        self.settings, self.count = settings, count
        self.clock = 0
        self.sent = []

    def send(self, op, line, sectors, full, cause):
        if sectors:
            request = Request(op, line, cause.step, cause.sm)
            request.sectors, request.full = set(sectors), set(full)
            self.sent.append(request)
            self.count['sent_requests'] += 1
            self.count['sent_reads' if op == 'load' else 'sent_writes'] += len(sectors)

    def write_back(self, line, cause):
        """A sector that is dirty but not valid was written partially."""
        self.send('store', line.line, line.dirty, line.dirty & line.valid, cause)

    def set_of(self, line):
        return self.sets[line % len(self.sets)]

    def find(self, request):
        for line in self.set_of(request.line):
            if line.line == request.line:
                return line
        return None

    def take_way(self, request):
        lines = self.set_of(request.line)
        if len(lines) == self.ways:
            by = {'lru': lambda line: line.used, 'fifo': lambda line: line.came}[self.settings['replace']]
            victim = min(lines, key=by)
            lines.remove(victim)
            self.count['evictions'] += 1
            self.write_back(victim, request)
        line = Line(request.line)
        line.came = self.clock
        lines.append(line)
        return line

    def take(self, request):
        self.sent = []
        self.clock += 1
        self.count['requests'] += 1
        line = self.find(request)
        if request.op == 'load':
            self.look_up('read', line, request.sectors, line.valid if line else set())
            self.load(line, request)
        else:
            self.look_up('write', line, request.sectors, line.valid | line.dirty | line.parts if line else set())
            self.store(line, request)
        return self.sent

    def look_up(self, kind, line, wanted, present):
        hits = len(wanted & present)
        self.count[kind + 's'] += len(wanted)
        self.count[kind + '_hits'] += hits
        self.count['sector_misses' if line else 'line_misses'] += len(wanted) - hits

    def load(self, line, request):
        line = line or self.take_way(request)
        line.used = self.clock
        missing = request.sectors - line.valid
        line.valid |= missing
        self.send('load', request.line, missing, set(), request)

    def store(self, line, request):
        write = self.settings['write']
        if write == 'evict':
            if line:
                self.count['dropped'] += len(line.valid)
                self.set_of(request.line).remove(line)
        elif line or self.settings['allocate'] == 'yes':
            line = line or self.take_way(request)
            line.used = self.clock
            if write == 'back':
                self.store_back(line, request)
                return
            line.valid |= request.sectors if self.settings['partial'] == 'keep' else request.full
            line.parts |= request.sectors
        self.send('store', request.line, request.sectors, request.full, request)

    def store_back(self, line, request):
        in_part = request.sectors - request.full - line.valid
        if self.settings['partial'] == 'fetch':
            self.send('load', request.line, in_part, set(), request)
        line.dirty |= request.sectors
        line.valid |= request.sectors - (in_part if self.settings['partial'] == 'read' else set())

    def flush(self, cause):
        """Sends dirty sectors, by set, then from most to least recent; all lines become invalid."""
        self.sent = []
        for lines in self.sets:
            for line in sorted(lines, key=lambda line: -line.used):
                self.count['flushed'] += len(line.dirty)
                self.write_back(line, cause)
            lines.clear()
        return self.sent


LEVEL_COUNTERS = ['requests', 'reads', 'read_hits', 'writes', 'write_hits', 'line_misses', 'sector_misses',
                  'evictions', 'dropped', 'sent_requests', 'sent_reads', 'sent_writes', 'flushed']


class Level:
    """A cache for each SM, or one for all."""

    def __init__(self, instances, settings):
        self.settings = settings
        self.count = {}
        self.caches = [Cache(settings, self.count) for _ in range(instances)]

    def run(self, requests):
        self.count.update({name: 0 for name in LEVEL_COUNTERS})
        sent = []
        for request in requests:
            sent += self.caches[request.sm if len(self.caches) > 1 else 0].take(request)
        if self.settings['flush'] == 'kernel':
            for sm, cache in enumerate(self.caches):
                sent += cache.flush(Request('store', 0, 0, sm))
        return sent


# ---------------------------------------------------------------- DRAM
def dram(requests, channels, banks, row, interleave):
    count = {'reads': 0, 'writes': 0, 'row_hits': 0, 'row_misses': 0}
    for channel in range(channels):
        count['channel_reads[%d]' % channel] = count['channel_writes[%d]' % channel] = 0
    opened = {}
    for request in requests:
        for sector in sorted(request.sectors):
            address = request.line * LINE + sector * SECTOR
            turn = address // interleave
            channel, within = turn % channels, turn // channels * interleave + address % interleave
            bank, here = within // row % banks, within // row // banks
            kind = 'reads' if request.op == 'load' else 'writes'
            count[kind] += 1
            count['channel_%s[%d]' % (kind, channel)] += 1
            count['row_hits' if opened.get((channel, bank)) == here else 'row_misses'] += 1
            opened[channel, bank] = here
    return count


# ---------------------------------------------------------------- all of it
def order_counts(accesses):
    loads = sum(access.op == 'load' for access in accesses)
    return {'accesses': len(accesses), 'loads': loads, 'stores': len(accesses) - loads, 'atomics': 0,
            'threads': sum(len(access.lanes) for access in accesses)}


def coalesce_counts(accesses, requests):
    count = {'accesses': len(accesses), 'requests': len(requests),
             'sectors': sum(len(request.sectors) for request in requests), 'bank_passes': 0}
    for op in ('load', 'store'):
        mine = [request for request in requests if request.op == op]
        count[op + '_requests'] = len(mine)
        count[op + '_sectors'] = sum(len(request.sectors) for request in mine)
    return count


def config(text, defaults):
    values = dict(defaults)
    for pair in filter(None, (text or '').split(',')):
        key, value = pair.split('=')
        values[key] = type(defaults[key])(value)
    return values


CACHE = {'size': 32768, 'ways': 4, 'replace': 'lru', 'write': 'through', 'allocate': 'no', 'partial': 'read',
         'flush': 'kernel'}


def run(kernel, options, l1, l2):
    """(stage, counter, value) of one kernel; the levels keep their contents for the next."""
    accesses = fold(kernel)
    issued, steps, waves = schedule(kernel, accesses, options['sm'], options['max_blocks'], options['schedulers'],
                                    options['map'])
    requests = [request for access in issued for request in coalesce(access, options['rule'])]
    after_l2 = l2.run(l1.run(requests))
    for stage, count in (('order', order_counts(accesses)), ('coalesce', coalesce_counts(accesses, requests)),
                         ('schedule', {'steps': steps, 'waves': waves}), ('l1', l1.count), ('l2', l2.count),
                         ('dram', dram(after_l2, **options['dram']))):
        for name, value in count.items():
            yield stage, name, value


def main():
    parser = argparse.ArgumentParser(description='the main pipe, slow')
    parser.add_argument('--rule', default='default')
    parser.add_argument('--sm', type=int, default=80)
    parser.add_argument('--max-blocks', type=int, default=8)
    parser.add_argument('--schedulers', type=int, default=1)
    parser.add_argument('--map', default='rr')
    parser.add_argument('--l1', default='')
    parser.add_argument('--l2', default='')
    parser.add_argument('--dram', default='')
    parser.add_argument('trace')
    options = vars(parser.parse_args())
    options['dram'] = config(options['dram'], {'channels': 1, 'banks': 16, 'row': 2048, 'interleave': 256})
    l1 = Level(options['sm'], config(options['l1'], CACHE))
    l2 = Level(1, config(options['l2'], dict(CACHE, size=262144, ways=16, write='back', allocate='yes')))
    with open(options['trace']) as lines:
        kernels = read_rdgc(lines)
    print('kernel,stage,counter,value')
    for kernel in kernels:
        for stage, name, value in run(kernel, options, l1, l2):
            print('%d,%s,%s,%d' % (kernel.id, stage, name, value))


if __name__ == '__main__':
    main()
