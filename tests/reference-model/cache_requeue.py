# SPDX-License-Identifier: MIT
"""gcache(1), the timed model of a level that decides itself which warps issue: --on-full requeue, the model of [002], with each of its units, orders and
policies, and stall with the same policies. Tags, index, replacement and stores are those of level.py, misses in flight those of cache_timed.py."""

import cache
import schedule
import stream
from cache_timed import Entry, Timed, TIMED, counters_of, ordered
from level import pieces
from stream import some

REQUEUE = {"requeue_unit": "line", "fill": "same", "issue": "fifo-pool", "schedulers": "auto", "clip": "yes", "delay": "auto"}


# Drawing

def draw(random):
    drawn = stream.draw_stream(random, kernels=2, blocks=random.choice([3, 8]), warps=4, accesses=random.choice([3, 8]), extent=random.choice([1024, 8192]),
                               hints=False, spaces=("global", "global", "local"))
    unit = random.choice(["line", "line", "access", "first-lane"])
    options = {"size": 128 * random.choice([4, 8, 16, 64]), "ways": random.choice(["1", "2", "4"]), "index": "mod", "on_full": "requeue"}
    for name, chance, values in (
            ("requeue_unit", 1 if unit != "line" else 0.3, [unit]), ("fill", 0.5, ["same", "next"]), ("issue", 0.5, ["rr", "gto", "fifo-pool"]),
            ("schedulers", 0.5, [1, 2, 3]), ("clip", 0.4, ["yes", "no"]), ("delay", 0.4, [0, 1, 2]), ("hit_latency", 0.4, [1, 3]),
            ("latency", 0.9, ["fixed:0", "fixed:1", "fixed:2", "fixed:5", "fixed:30"]), ("mshr", 0.7, ["1x1", "1x2", "1x4", "1x8"]),
            ("per_warp_mshr", 0.2 * (unit == "line"), [1, 2]), ("merges", 0.3 * (unit == "line"), [0, 1]), ("ports", 0.2 * (unit == "line"), [1, 2]),
            ("write", 0.7, ["through", "evict"]), ("allocate", 0.3, ["yes", "no"]), ("replace", 0.3, ["lru", "fifo"]), ("sector", 0.3, ["line"]),
            ("emit", 0.8, ["all", "none"])):
        if some(random, chance):
            options[name] = random.choice(values)
    if some(random, 0.3):
        for name in ("requeue_unit", "fill", "clip"):
            options.pop(name, None)
        options.update(on_full="stall", issue=random.choice(["rr", "gto", "fifo-pool"]))
        if options["issue"] == "rr":
            options.pop("delay", None)
        if options.get("latency") == "fixed:0":
            options["latency"] = "fixed:3"
    command = ["gcache", "--quiet", "--l1"]
    for key, item in options.items():
        command += ["--" + key.replace("_", "-"), str(item)]
    chosen = {"sm": random.choice([1, 2]), "max-blocks": random.choice([1, 2, 8])}
    scheduled = ["gschedule"] + [word for name, item in chosen.items() for word in ("--" + name, str(item))]
    stage = {"level": "l1", "name": "l1", "options": options, "command": command}
    return stream.Case(drawn, [["gcoalesce"], scheduled, command], stage=stage, chosen=chosen, described=None, first=True)


# The model

class Warp:
    def __init__(self, accesses):
        self.accesses = accesses   # each a list of its requests
        self.at = 0                # requests of the first that are served
        self.ready = 0
        self.effect = 0            # when all of the access that it serves has taken effect


class Effect:
    """What a lookup does at the end of a step: its line is filled, or becomes the most recently used."""

    def __init__(self, time, hit, entry):
        self.time, self.hit, self.entry = time, hit, entry


def waves_of(rows):
    """A wave ends where a new block begins with a smaller access number than the row before."""
    waves, known = [], set()
    for row in rows:
        if not waves or row["block"] not in known and row["an"] < waves[-1][-1]["an"]:
            waves.append([])
        known.add(row["block"])
        waves[-1].append(row)
    return waves


def warps_of(rows):
    warps = {}
    for row in rows:
        accesses = warps.setdefault((row["block"], row["warp"]), {})
        accesses.setdefault(row["an"], []).append(row)
    return [Warp(list(warps[key].values())) for key in sorted(warps)]


def choose(policy, ready, last, failed):
    """The next of the ready warps of a scheduler."""
    if not ready:
        return None
    if policy == "rr":
        after = last.place if last else -1
        return min(ready, key=lambda warp: (warp.place <= after, warp.place))
    if policy == "gto":
        return last if last in ready and last is not failed else min(ready, key=lambda warp: (warp is failed, warp.place))
    return min(ready, key=lambda warp: warp.queued)


class Stalled(Timed):
    """All schedulers issue one access each, together, and the next when these are served."""

    def attempt(self, lookup, key, ports):
        """Notes the step at whose end the warp has its data: one before the sectors of a miss are valid."""
        before, merged = len(self.load_latencies), self.timed["merges"]
        served = super().attempt(lookup, key, ports)
        warp = lookup.row["block"], lookup.row["warp"]
        wait = self.load_latencies[-1] if len(self.load_latencies) > before else 0
        self.effects[warp] = max(self.effects.get(warp, 0), self.step + wait - (wait > 0 and self.timed["merges"] == merged))
        if served:
            self.last[warp] = self.step
        return served

    def serve_wave(self, rows, key):
        if self.config["issue"] == "rr":
            return self.serve_rounds(rows, key)
        warps = warps_of(rows)
        n = 1 if self.config["schedulers"] == "auto" else int(self.config["schedulers"])
        factor = 0 if self.config["delay"] == "auto" else int(self.config["delay"])
        for place, warp in enumerate(warps):
            warp.place, warp.queued = place, (self.step, place)
        last, left, order = [None] * n, list(warps), len(warps)
        while left:
            chosen = []
            for scheduler in range(n):
                ready = [warp for warp in left if warp.place % n == scheduler and warp.ready <= self.step]
                warp = choose(self.config["issue"], ready, last[scheduler], None)
                if warp:
                    last[scheduler] = warp
                    chosen.append(warp)
            if not chosen:
                self.timed["stalls"] += 1
                self.step += 1
                continue
            self.effects, self.last = {}, {}
            chosen.sort(key=lambda warp: warp.place)
            self.serve_group([row for warp in chosen for row in warp.accesses[0]], key)
            for warp in chosen:
                first = warp.accesses.pop(0)[0]
                order += 1
                effect, served = (noted[first["block"], first["warp"]] for noted in (self.effects, self.last))
                warp.ready = max(self.step, served + 1 + factor * (effect - served))  # the group may go on after the warp's last request
                warp.queued = (warp.ready, order)
            left = [warp for warp in left if warp.accesses]

    def serve_rounds(self, rows, key):
        """By access number, in each by block, as many warps of it together as there are schedulers."""
        n = 1 if self.config["schedulers"] == "auto" else int(self.config["schedulers"])
        for number in sorted({row["an"] for row in rows}):
            for block in sorted({row["block"] for row in rows}):
                for first in range(0, 1 + max(row["warp"] for row in rows), n):
                    together = [row for warp in range(first, first + n) for row in rows if (row["an"], row["block"], row["warp"]) == (number, block, warp)]
                    if together:
                        self.effects, self.last = {}, {}
                        self.serve_group(together, key)

    def run(self, rows):
        by_sm = {}
        for row in rows:
            by_sm.setdefault(row["sm"], []).append(row)
        for key in sorted(by_sm):
            self.flights[key] = []
            self.step, begin = 0, by_sm[key][0]["step"]
            for wave in waves_of(by_sm[key]):
                self.step = max(self.step, wave[0]["step"])
                self.serve_wave(wave, key)
            self.timed["instance_steps"] += self.step - begin
            self.timed["steps"] = max(self.timed["steps"], self.step)
            while self.flights[key]:
                self.step = min(entry.arrives for entry in self.flights[key])
                self.arrive(key)


class Requeue(Timed):
    def due(self, entry):
        """Whether what arrives is there for lookups of this step."""
        return entry.arrives < self.step or entry.arrives == self.step and self.config["fill"] == "same" and entry.taken < self.step

    def free(self, key, piece, row):
        used = [entry for entry in self.flights[key] if not self.due(entry)]
        if self.config["mshr"] != "unlimited" and len(used) >= int(self.config["mshr"].split("x")[1]):
            return False
        if self.config["per_warp_mshr"] != "unlimited":
            held = [entry for entry in used if (entry.row["block"], entry.row["warp"]) == (row["block"], row["warp"])]
            return len(held) < int(self.config["per_warp_mshr"])
        return True

    def needed(self, key, piece):
        """The sectors that are neither valid nor in flight."""
        where, way = self.instance(key).at(piece.number)
        there = set(where.ways[way].valid) if way is not None else set()
        return piece.used - there.union(*[entry.units for entry in self.flights[key] if entry.number == piece.number])

    def look(self, key, row, piece, always=False):
        """A load's line: the step in which it has taken effect, or None if it has to retry."""
        where, way = self.instance(key).at(piece.number)
        line = where.ways[way] if way is not None else None
        mine = [entry for entry in self.flights[key] if entry.number == piece.number]
        valid = (line.valid if line else set()).union(*[entry.units for entry in mine if self.due(entry)])
        missing = piece.used - valid
        flying = [entry for entry in mine if not self.due(entry)]
        arriving = set().union(*[entry.units for entry in flying]) & missing
        need = missing - arriving
        joined = [entry for entry in flying if entry.units & missing] if missing and not need else []
        if joined and self.config["merges"] != "unlimited":
            if joined[-1].merged >= int(self.config["merges"]):
                return None
        elif need and not always and not self.free(key, piece, row):
            return None
        self.row = row
        self.count("reads", piece.used, piece.used - missing)
        self.miss(line is not None, missing)
        self.timed["lookups"] += 1
        self.timed["latency_misses"] += len(arriving)
        self.timed["merged_reads"] += len(arriving)
        latency = int(self.config["latency"].split(":")[1])
        if not missing:
            self.timed["hit_lookups"] += 1
            time = self.step + int(self.config["hit_latency"])
            self.load_latencies.append(time - self.step)
            self.status = "hit"
            self.effects.append(Effect(time, True, Entry(piece.number, piece.used, row, self.step, 0, True)))
        elif not need:
            self.timed["merges"] += 1
            joined[-1].merged += 1
            time = max(entry.arrives for entry in joined) if self.config["clip"] == "yes" else self.step + latency
            self.load_latencies.append(time - self.step)
            self.status = "latency_miss"
            self.effects.append(Effect(time, False, Entry(piece.number, piece.used, row, self.step, 0, True)))
        else:
            entry = Entry(piece.number, self.fetched(need, valid | set().union(*[other.units for other in flying])), row, self.step, latency, True)
            self.flights[key].append(entry)
            time = entry.arrives
            self.timed["reservations"] += 1
            self.latencies.append(latency)
            self.load_latencies.append(latency)
            self.busy.append(len([other for other in self.flights[key] if not self.due(other)]))
            self.send_read(piece.number, entry.units)
            self.status = "miss"
            self.effects.append(Effect(time, False, entry))
        return time

    def take_effect(self, key, effects):
        for effect in effects:
            entry = effect.entry
            self.row = entry.row
            where, way = self.instance(key).at(entry.number)
            if way is None:
                way = self.take(where, entry.number)
            else:
                where.use(way)
            where.ways[way].valid |= entry.units
            if self.streams(entry.row):
                where.demote(way)
            self.effects.remove(effect)
        self.flights[key] = [entry for entry in self.flights[key] if any(effect.entry is entry for effect in self.effects)]

    def end_step(self, key):
        due = [effect for effect in self.effects if effect.time <= self.step]
        if self.config["fill"] == "next":
            due = [effect for effect in due if effect.hit] + [effect for effect in due if not effect.hit]
        else:
            due.sort(key=lambda effect: effect.time)
        self.take_effect(key, due)

    # Serving

    def waits(self, row):
        return stream.kind(row) == "load" and not self.bypasses(row)

    def serve_request(self, key, row, ports, always=False):
        """A request: when it has taken effect; None: no MSHR; -1: no port."""
        if self.config["ports"] != "unlimited" and (not self.bypasses(row) or self.leaves(row)):
            if ports[0] >= int(self.config["ports"]):
                self.timed["port_conflicts"] += 1
                return -1
            ports[0] += 1
        if not self.waits(row):
            self.pass_at_once(row)
            return self.step
        piece, = pieces(row, self.config)
        time = self.look(key, row, piece, always)
        if time is None:
            self.timed["reservation_fails"] += 1
        self.show(row, row["address"], row["sectors"], self.status if time is not None else "reservation_fail")
        return time

    def obstacle(self, key, access):
        """The request for which there is no MSHR, so that an access is held as a whole; None if it is served."""
        used = len([entry for entry in self.flights[key] if not self.due(entry)])
        if self.config["mshr"] == "unlimited" or used == 0:
            return None
        for row in access[:1] if self.config["requeue_unit"] == "first-lane" else access:
            if self.waits(row) and self.needed(key, pieces(row, self.config)[0]):
                used += 1
                if used > int(self.config["mshr"].split("x")[1]):
                    return row
        return None

    def serve_turn(self, key, warp, ports):
        """What a scheduler serves of a warp in a step: kept, failed or done."""
        access = warp.accesses[0]
        if self.config["requeue_unit"] != "line":
            row = self.obstacle(key, access)
            if row:
                self.timed["reservation_fails"] += 1
                self.show(row, row["address"], row["sectors"], "reservation_fail")
                return "failed"
            warp.effect = max(self.serve_request(key, row, ports, True) for row in access)
            return "done"
        time = self.serve_request(key, access[warp.at], ports)
        if time is None:
            return "failed"
        if time < 0:
            return "kept"
        warp.at, warp.effect = warp.at + 1, max(warp.effect, time)
        return "done" if warp.at == len(access) else "kept"

    def done(self, warp):
        warp.accesses.pop(0)
        factor = 1 if self.config["delay"] == "auto" else int(self.config["delay"])
        warp.ready = self.step + 1 + factor * (warp.effect - self.step)
        warp.at = warp.effect = 0

    def serve_wave(self, rows, key):
        warps = warps_of(rows)
        self.counts["requests"] += len(rows)
        n = 1 if self.config["schedulers"] == "auto" else int(self.config["schedulers"])
        for place, warp in enumerate(warps):
            warp.place = place
            warp.queued = (self.step, False, place)
        current, turns, failed = [None] * n, [None] * n, [None] * n
        left = list(warps)
        order = len(warps)
        while left:
            ports, busy = [0], False
            for scheduler in range(n):
                mine = [warp for warp in left if warp.place % n == scheduler and warp.ready <= self.step]
                warp = current[scheduler] or choose(self.config["issue"], mine, turns[scheduler], failed[scheduler])
                if not warp:
                    continue
                busy = True
                turns[scheduler] = warp
                what = self.serve_turn(key, warp, ports)
                current[scheduler] = warp if what == "kept" else None
                failed[scheduler] = warp if what == "failed" else None
                order += 1
                if what == "done":
                    self.done(warp)
                    warp.queued = (warp.ready, self.config["fill"] == "next" and warp.ready > self.step + 1, order)
                elif what == "failed":
                    warp.ready = self.step + 1
                    warp.queued = (self.step, True, order)
            left = [warp for warp in left if warp.accesses]
            self.timed["stalls"] += not busy
            self.end_step(key)
            self.step += 1

    def run(self, rows):
        by_sm = {}
        for row in rows:
            by_sm.setdefault(row["sm"], []).append(row)
        for key in sorted(by_sm):
            self.effects, self.flights[key] = [], []
            self.step, begin = 0, by_sm[key][0]["step"]
            for wave in waves_of(by_sm[key]):
                begins = max(self.step, wave[0]["step"])
                while self.step < begins:
                    self.end_step(key)
                    self.step += 1
                self.serve_wave(wave, key)
            self.timed["instance_steps"] += self.step - begin
            self.timed["steps"] = max(self.timed["steps"], self.step)
            self.end = max(self.end, self.step)
            while self.effects:
                self.step = max(self.step, min(effect.time for effect in self.effects))
                self.end_step(key)
                self.end = max(self.end, self.step)
                self.step += 1


def model(case):
    instances, made, stage = {}, [], case.stage
    for launch in schedule.model(case).launches:
        config = {**TIMED, **REQUEUE, "l2.spread": "none", "slices": 1, **cache.configuration(stage, launch), "constant": "none"}
        level = (Stalled if config["on_full"] == "stall" else Requeue)(config, launch, instances)
        level.run(launch.rows)
        level.flush([])
        rows = {"all": ordered(level.served, config), "none": []}.get(config["emit"], ordered(level.sent, config))
        counters = counters_of(level, config)
        if config["replace"] == "lru":
            for name, hits in (("mru", "read_hits"), ("mru_writes", "write_hits")):
                counters[name] = cache.Within(max(config["set_ways"]), counters[hits])
        made.append(stream.Launch(launch.fields, rows, launch.counts + [(stage["name"], counters)]))
    return stream.Stream(made, case.stream.gpu)
