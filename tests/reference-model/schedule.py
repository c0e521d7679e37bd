# SPDX-License-Identifier: MIT
"""gschedule(1): which SM a block runs on, how many are resident, and in which step an access issues."""

import itertools

import stream
from stream import some

import coalesce

OCCUPANCY = ("blocks", "warps", "registers", "shared")
DROPPED = ("status", "latency", "work", "shared")


# Drawing

def draw_gpu(random, sms):
    gpu = {"sms": str(sms)}
    choices = {"schedulers": ["1", "2", "4"], "max_blocks": ["1", "2", "3", "4", "8"], "max_warps": ["4", "6", "8", "16"],
               "registers": ["16384", "32768", "65536"], "register_unit": ["1", "64", "256"], "warp_unit": ["1", "2", "4"],
               "shared": ["16384", "32768", "49152"], "shared_unit": ["128", "256"], "shared_reserved": ["0", "1024"],
               "dispatch": ["wave", "first-done"]}
    for key, values in choices.items():
        if some(random, 0.5):
            gpu[key] = random.choice(values)
    if sms > 1 and some(random, 0.4):
        cuts = [0, *sorted(random.sample(range(1, sms), random.randrange(1, sms))), sms]
        gpu["gpc_sms"] = ",".join(str(end - begin) for begin, end in zip(cuts, cuts[1:]))
        if some(random, 0.7):
            gpu["gpc_again"] = f"{random.randrange(1, 4)},{random.randrange(1, 4)}"
    if some(random, 0.4):
        gpu.update(shared="32768", unified="65536", shared_options=random.choice(["8192,16384,32768", "0,8192,32768", "16384,32768"]))
        if some(random, 0.4):
            gpu["shared_least"] = "8192"
        if some(random, 0.4):
            gpu["l1_reserved"] = random.choice(["0", "7168", "32767"])
        if some(random, 0.4):
            gpu["shared_warps"] = random.choice(["1", "4", "12", "40"])
        elif some(random, 0.5):
            gpu.update(shared_room=random.choice(["1", "2", "3"]), shared_room_none=random.choice(["1", "2", "4"]))
    return gpu


def draw_options(random, sms, described):
    chosen = {}
    if not described or some(random, 0.2):
        chosen["sm"] = sms
    for name, values in {"max-blocks": [1, 2, 3, 4, "all"], "max-warps": [4, 5, 8, 12], "registers": [8192, 20000, 65536],
                         "shared": [8192, 16384, 49152], "schedulers": [1, 2, 3, 4]}.items():
        if some(random, 0.25):
            chosen[name] = random.choice(values)
    if some(random, 0.3):
        chosen["map"] = f"part:{random.randrange(1, 4)}"
    if some(random, 0.5):
        chosen["dispatch"] = random.choice(["wave", "first-done"])
    if chosen.get("dispatch") == "first-done" and (sms == 1 or "map" in chosen) and some(random, 0.3):
        chosen.update(dispatch="any-done", seed=random.randrange(9))
    if some(random, 0.5):
        chosen["issue"] = random.choice(["rr", "gto"])
    if some(random, 0.2):
        chosen["only-sm"] = ",".join(map(str, sorted(random.sample(range(sms), random.randrange(1, sms + 1)))))
    if some(random, 0.2):
        chosen["waves"] = random.randrange(1, 4)
    return chosen


def draw_fields(random, launch, orders):
    if some(random, 0.5):
        launch.fields["registers"] = random.choice([16, 24, 32, 33, 40, 64])
    if some(random, 0.5):
        launch.fields["shared_bytes"] = random.choice([100, 1024, 4000, 8192])
    if some(random, 0.15):
        launch.fields["carveout"] = random.choice([0, 10, 25, 50, 100])
    if some(random, 0.1):
        launch.fields["grid"] = "0,0,0"
    if some(random, 0.1):
        launch.fields["block"] = "0,0,0"
    if some(random, 0.1):
        for row in launch.rows:
            row["work"] = random.choice(["0,0", "5,0", "12,1,waits"])
            row["shared"] = random.choice(["0,0", "34,64"])
    if some(random, 0.1) and not any(map(stream.is_access, launch.rows)):
        for row in launch.rows:
            row.update(status=random.choice(["none", "hit", "miss"]), latency=random.randrange(300))
    order = random.choice(orders)
    launch.fields["order"] = order
    keys = {"block": ("block", "an", "warp"), "an": ("an", "block", "warp")}
    if order in keys:
        launch.rows.sort(key=lambda row: [row[key] for key in keys[order]])


def draw_durations(random, drawn):
    lines = ["# kernel, block, steps"]
    for launch in drawn.launches:
        for block in range(10):
            if some(random, 0.6):
                lines.append(f"{launch.fields['id']} {block} {random.randrange(0, 40)}")
    return "\n".join(lines) + "\n"


def draw(random):
    sms = random.randrange(1, 5)
    requests = some(random, 0.4)
    if requests:
        drawn = stream.draw_requests(random, kernels=2, blocks=12, accesses=5, sms=random.choice([0, sms]))
    else:
        drawn = stream.draw_stream(random, kernels=2, blocks=12, accesses=5, extent=2048)
    scheduled = any("sm" in row for launch in drawn.launches for row in launch.rows)
    for launch in drawn.launches:
        draw_fields(random, launch, ["none"] if scheduled else ["block", "block", "an"])
    where = random.choice(["none", "stream", "file", "both"])
    if where in ("stream", "both"):
        drawn.gpu = draw_gpu(random, sms)
    described = draw_gpu(random, sms) if where in ("file", "both") else None
    chosen = draw_options(random, sms, where != "none")
    if scheduled and some(random, 0.5):
        chosen["map"] = "trace"
    if any(gpu and chosen.get("shared", 0) + int(gpu.get("l1_reserved", 0)) >= int(gpu.get("unified", 1 << 40)) for gpu in (drawn.gpu, described)):
        del chosen["shared"]  # no lines would be left to L1: refused
    files = {}
    if chosen.get("dispatch") in ("first-done", "any-done") and some(random, 0.4):
        files["durations"] = draw_durations(random, drawn)
    command = ["gschedule"]
    if described:
        command += ["--gpu", "./gpu"]
        files["gpu"] = coalesce.gpu_file(described)
    command += [word for name, item in chosen.items() for word in ("--" + name, str(item))]
    if "durations" in files:
        command += ["--block-steps", "durations"]
    if some(random, 0.1):
        command += ["-S", "1K"]
    first = not requests and some(random, 0.3)
    commands = [["gcoalesce"], command] if first else [command]
    return stream.Case(drawn, commands, files, chosen=chosen, described=described, first=first)


# Occupancy

class Occupancy:
    """The blocks that an SM can hold (None: any number), what limits them, and the parts of the common store."""

    def __init__(self, launch, gpu, everything):
        self.gpu = gpu
        fields = launch.fields
        threads = product(fields["block"])
        self.warps = (threads + 31) // 32
        self.registers = int(fields.get("registers", 0))
        reserved, unit = int(gpu.get("shared_reserved", 0)), int(gpu.get("shared_unit", 1))
        self.shared_bytes = int(fields.get("shared_bytes", 0))
        self.shared = up(self.shared_bytes + reserved, unit)
        self.carveout = self.l1_bytes = None
        shared = number(gpu, "shared")
        if "unified" in gpu and "shared_options" in gpu:
            shared = self.carveout = self.part(fields.get("carveout"))
            self.l1_bytes = int(gpu["unified"]) - shared - int(gpu.get("l1_reserved", 0))
        limits = self.limits(shared)
        self.limit = min([limit for limit in limits if limit is not None], default=None)
        self.limited_by = "grid" if self.limit is None else OCCUPANCY[limits.index(self.limit)]
        if everything:
            self.limit, self.limited_by = None, "grid"
        if self.limit == 0:
            raise stream.Refused(f"no block fits: {self.limited_by}")

    def limits(self, shared):
        """In the order of OCCUPANCY; None limits nothing."""
        gpu = self.gpu
        found = [number(gpu, "max_blocks"), None, None, None]
        if self.warps:
            if "max_warps" in gpu:
                found[1] = int(gpu["max_warps"]) // self.warps
            if "registers" in gpu and self.registers:
                warp = up(32 * self.registers, int(gpu.get("register_unit", 1)))
                warps = int(gpu["registers"]) // warp
                found[2] = warps // int(gpu.get("warp_unit", 1)) * int(gpu.get("warp_unit", 1)) // self.warps
        if shared is not None and self.shared:
            found[3] = shared // self.shared
        return found

    def blocks(self, shared):
        return min([limit for limit in self.limits(shared) if limit is not None], default=None)

    def part(self, carveout):
        """The option that shared memory gets."""
        most = int(self.gpu["shared"])
        options = [option for option in map(int, self.gpu["shared_options"].split(",")) if option < most] + [most]
        if carveout is not None:
            reserved = 0 if self.shared_bytes else self.room(up(int(self.gpu.get("shared_reserved", 0)), int(self.gpu.get("shared_unit", 1))), most)
            least = max(int(carveout) * most / 100, self.shared, reserved)
            return next((option for option in options if option >= least), most)
        least = max(int(self.gpu.get("shared_least", 0)), self.room(self.shared, most))
        return next((option for option in options if option >= least and self.blocks(option) == self.blocks(most)), most)


    def room(self, each, most):
        """For the blocks of shared_warps, or shared_room times those that are resident, up to half of the unified memory."""
        blocks = self.blocks(most)
        several = blocks is not None and blocks > 1
        if "shared_room" in self.gpu and several and self.warps < 32:
            blocks *= int(self.gpu["shared_room"])
        if "shared_room_none" in self.gpu and several and self.warps and not self.shared_bytes:
            blocks = int(self.gpu["shared_room_none"]) * (int(self.gpu.get("max_warps", 0)) // self.warps)
        if "shared_warps" in self.gpu and self.warps:
            blocks = int(self.gpu["shared_warps"]) // self.warps
        if blocks is not None:
            blocks = min(blocks, int(self.gpu.get("max_blocks", blocks)))
        return min(each * blocks, int(self.gpu["unified"]) // 2) if each and blocks is not None else 0


def number(gpu, key):
    return int(gpu[key]) if key in gpu else None


def up(amount, unit):
    return (amount + unit - 1) // unit * unit


def product(text):
    x, y, z = map(int, str(text).split(","))
    return x * y * z


# Blocks and SMs

class Block:
    """rows[warp][an]: the rows of an access."""

    def __init__(self, index):
        self.index = index
        self.rows = {}
        self.sm = self.slot = self.start = self.first = self.arrived = None
        self.left = 0
        self.warps = 0

    def add(self, row):
        """Where the size of a block is not known, it has the warps up to the highest one seen."""
        self.warps = max(self.warps, row["warp"] + 1)
        accesses = self.rows.setdefault(row["warp"], {})
        if row["an"] not in accesses:
            self.left += 1
        accesses.setdefault(row["an"], []).append(row)


def blocks_of(launch):
    count = product(launch.fields["grid"]) or 1 + max((row["block"] for row in launch.rows), default=-1)
    blocks = [Block(index) for index in range(count)]
    for row in launch.rows:
        blocks[row["block"]].add(row)
    return blocks


def mapped(block, launch, mapping, sms):
    """The SM of a block; for rr where blocks do not go to the SM that has room."""
    if mapping == "trace":
        return next((row["sm"] for row in launch.rows if row["block"] == block.index), None)
    size = int(mapping.partition(":")[2] or 1)
    return block.index // size % sms


class Sm:
    """An SM with slots. It issues a group a step, and tells which blocks have finished."""

    def __init__(self, schedulers, issue, warps, durations):
        self.schedulers, self.issue, self.warps, self.durations = schedulers, issue, warps, durations
        self.slots = {}
        self.round, self.pending = -1, []
        self.current = [None] * schedulers

    def take(self, block, slot, step):
        block.slot, block.arrived = slot, step
        block.start = self.round + 1
        self.slots[slot] = block

    def running(self):
        return [block for block in self.slots.values() if block.left]

    def free_slot(self, limit):
        slot = next(n for n in range(len(self.slots) + 1) if n not in self.slots)
        return slot if limit is None or slot < limit else None

    def group(self):
        return self.group_gto() if self.issue == "gto" else self.group_rr()

    def groups_of_round(self):
        """The groups of this round: of each resident block, of n consecutive warps."""
        for slot in sorted(self.slots):
            block = self.slots[slot]
            access = self.round - block.start
            first = {}
            for warp in sorted(block.rows):
                if access in block.rows[warp]:
                    first.setdefault(warp // self.schedulers, []).append((block, warp, access))
            yield from first.values()

    def group_rr(self):
        if not self.running():
            return []
        while not self.pending:
            self.round += 1
            self.pending = list(self.groups_of_round())
        return self.pending.pop(0)

    def group_gto(self):
        found = []
        for scheduler in range(self.schedulers):
            mine = self.current[scheduler]
            if mine is None or not self.accesses_left(*mine):
                warps = [(block.arrived, block.slot, warp, block) for block in self.slots.values() for warp in block.rows
                         if (block.slot * (self.warps or block.warps) + warp) % self.schedulers == scheduler and self.accesses_left(block, warp)]
                mine = min(warps, key=lambda item: item[:3])[2:][::-1] if warps else None
                self.current[scheduler] = mine
            if mine:
                block, warp = mine
                found.append((block, warp, min(block.rows[warp])))
        return found

    @staticmethod
    def accesses_left(block, warp):
        return bool(block.rows.get(warp))

    def step(self, now):
        """The rows that issue now."""
        issued = []
        for block, warp, access in self.group():
            issued += block.rows[warp].pop(access)
            block.left -= 1
            block.first = now if block.first is None else block.first
        return issued

    def leave(self, now):
        """Blocks whose slot is free from the next step on leave."""
        for slot, block in list(self.slots.items()):
            begin = block.first if block.rows else block.arrived
            until = begin + self.durations.get(block.index, 0) if begin is not None else 0
            if not block.left and now + 1 >= until:
                del self.slots[slot]


class Machine:
    """All SMs, in one time."""

    def __init__(self, launch, chosen, gpu, durations):
        self.occupancy = Occupancy(launch, gpu, chosen.get("max-blocks") == "all")
        self.limit = self.occupancy.limit
        self.n_sms = int(gpu["sms"])
        self.gpu = gpu
        self.blocks = blocks_of(launch)
        self.mapping = chosen.get("map", "rr")
        self.replaces = chosen.get("dispatch", gpu.get("dispatch", "wave")) != "wave"
        self.anywhere = self.replaces and self.mapping == "rr"
        self.sms = [Sm(int(gpu.get("schedulers", 1)), chosen.get("issue", "rr"), self.occupancy.warps, durations) for _ in range(self.n_sms)]
        self.only = list(map(int, str(chosen["only-sm"]).split(","))) if "only-sm" in chosen else list(range(self.n_sms))
        self.choosy = "only-sm" in chosen
        self.waves = chosen.get("waves")
        self.lists = [[] for _ in self.sms]
        for block in self.blocks:
            block.sm = mapped(block, launch, self.mapping, self.n_sms)
            if block.sm is not None:
                self.lists[block.sm].append(block)
        self.most = max((len(blocks) for sm, blocks in enumerate(self.lists) if sm in self.only), default=0)
        self.capacity = None if self.waves is None or self.limit is None else self.waves * self.limit
        self.lists = [blocks[:self.capacity] for blocks in self.lists]
        self.taken = [0] * self.n_sms
        self.rows = []
        self.steps = 0

    def run(self):
        if self.anywhere:
            self.run_anywhere()
        else:
            for sm in self.only:
                self.run_sm(sm)
        self.rows.sort(key=lambda row: (row["step"], row["sm"]))

    def issue(self, sm, now):
        for row in self.sms[sm].step(now):
            self.steps = max(self.steps, now + 1)
            if sm in self.only and row.get("sectors") != 0:
                kept = {key: item for key, item in row.items() if key not in DROPPED}
                self.rows.append(dict(kept, step=now, sm=sm))
        self.sms[sm].leave(now)

    def run_sm(self, sm):
        """An SM with a list of its own."""
        waiting = list(self.lists[sm])
        now = 0
        while waiting or self.sms[sm].slots:
            if self.replaces or not self.sms[sm].slots:
                self.fill(sm, waiting, now)
            if not self.replaces and not self.sms[sm].running():
                self.sms[sm].leave(now)
                continue
            self.issue(sm, now)
            now += 1

    def fill(self, sm, waiting, now):
        while waiting:
            slot = self.sms[sm].free_slot(self.limit) if self.replaces else self.next_of_wave(sm)
            if slot is None:
                return
            self.taken[sm] += bool(waiting[0].rows)
            self.sms[sm].take(waiting.pop(0), slot, now)

    def next_of_wave(self, sm):
        slot = len(self.sms[sm].slots)
        return slot if self.limit is None or slot < self.limit else None

    def first_turns(self):
        """The SMs, in the order in which the first blocks come to them."""
        counts = [int(count) for count in self.gpu.get("gpc_sms", "").split(",") if count]
        fits = self.limit is None or len(self.blocks) <= self.n_sms * self.limit
        if fits or len(counts) < 2 or sum(counts) != self.n_sms or "gpc_again" not in self.gpu:
            yield from itertools.cycle(range(self.n_sms))
        first, *others = [range(sum(counts[:i]), sum(counts[: i + 1])) for i in range(len(counts))]
        others = itertools.cycle(others)
        again, then_again = map(int, self.gpu["gpc_again"].split(","))
        for n in itertools.chain([again], itertools.repeat(then_again)):
            yield from first
            for _ in range(n):
                yield from next(others)

    def run_anywhere(self):
        """In turns until all SMs are full, then to the SM that has room first."""
        listed = sum(self.lists, [])
        waiting = [block for block in self.blocks if block in listed]
        turns = self.first_turns()
        while waiting and any(self.sms[sm].free_slot(self.limit) is not None for sm in range(self.n_sms)):
            sm = next(turns)
            slot = self.sms[sm].free_slot(self.limit)
            if slot is not None:
                self.taken[sm] += bool(waiting[0].rows)
                self.sms[sm].take(waiting.pop(0), slot, 0)
        now = 0
        while any(sm.slots for sm in self.sms):
            for sm in range(self.n_sms):
                self.issue(sm, now)
            now += 1
            for sm in range(self.n_sms):
                self.fill(sm, waiting, now)

    def counters(self):
        most = self.most
        held = most if self.limit is None else min(self.limit, most)
        limited_by = "grid" if self.limit is None or most <= self.limit else self.occupancy.limited_by
        modelled = sum(len(blocks) for sm, blocks in enumerate(self.lists) if sm in self.only)
        if self.anywhere and self.choosy:
            modelled = sum(self.taken[sm] for sm in self.only)
        found = {"resident_blocks": held, "waves": -(-most // held) if held else 0, "steps": self.steps, "sms": self.n_sms,
                 "blocks": len(self.blocks), "modelled_blocks": modelled, "rows": len(self.rows), "limited_by": limited_by}
        if self.occupancy.carveout is not None:
            found.update(shared_carveout=self.occupancy.carveout, l1_bytes=self.occupancy.l1_bytes)
        return found


def described(case):
    """The description that holds, and is written: the options set single values in it."""
    gpu = dict(case.described or case.stream.gpu or {})
    names = {"sm": "sms", "max-blocks": "max_blocks", "max-warps": "max_warps", "registers": "registers", "shared": "shared",
             "schedulers": "schedulers"}
    gpu.update({key: str(case.chosen[name]) for name, key in names.items() if case.chosen.get(name, "all") != "all"})
    return gpu


def durations_of(case, launch):
    found = {}
    for line in case.files.get("durations", "").splitlines():
        if not line.startswith("#"):
            kernel, block, steps = map(int, line.split())
            if kernel == launch.fields["id"]:
                found[block] = steps
    return found


def schedule(case, launch, gpu):
    machine = Machine(launch, case.chosen, gpu, durations_of(case, launch))
    machine.run()
    fields = dict(launch.fields, order="none")
    if machine.occupancy.l1_bytes is not None:
        fields["l1_bytes"] = machine.occupancy.l1_bytes
    return stream.Launch(fields, machine.rows, launch.counts + [("schedule", machine.counters())])


def model(case):
    gpu = described(case)
    launches = case.stream.launches
    if case.first:
        rule, banks, latency = coalesce.configuration(case.stream.gpu)
        launches = [coalesce.coalesce(launch, rule, banks, latency) for launch in launches]
    written = gpu if case.described or case.stream.gpu else None
    return stream.Stream([schedule(case, launch, gpu) for launch in launches], written)
