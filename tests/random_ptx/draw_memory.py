# SPDX-License-Identifier: MIT
"""Random loads, stores and atomics without data races."""

from integers import WIDTHS
from parts import BITS, CELL, CONSTANT_BYTES, FLOATS, INPUT_CELLS, INTEGERS, kind_of


class Memory:
    # Addresses of lanes side by side, by their bytes: those of a warp, or 16 and 16, as in a tile's rows.
    PACKED_OUT, PACKED_IN, PACKED_SHARED = (({n: "%%%s%d" % (base, n) for n in (1, 2, 4, 8, 16)}, {n: "%%%st%d" % (base, n) for n in (4, 8)})
                                            for base in ("out", "in", "sh"))

    def packed(self, addresses, size):
        """Where lanes of so many bytes are side by side, or, of fewer, further apart."""
        tiles = self.one_of(*addresses)
        fit = [n for n in tiles if n >= size]
        return tiles[min(fit) if self.chance(0.7) else self.one_of(*fit)] if fit else addresses[0][size]

    def store_row(self, t, x, comment=None, width=None):
        """A row of cells in the output, one cell a thread: as far apart as cells are, or side by side."""
        address = self.one_of("%outa", "%outb")
        if self.chance(0.4):
            address = self.packed(self.PACKED_OUT, WIDTHS[t.split(".")[-1]] // 8 * (width or 1))
            self.rows += 1
            self.emit("st.global.%s [%s+%d], %s" % (t, address, (self.rows - 1) * CELL * self.threads, x), comment)
            return
        row = self.rows
        self.rows += 1
        space = self.one_of("st.global", "st.global", "st", "st.global.cg", "st.global.wb", "st.volatile.global")
        if space == "st":
            address = address.replace("out", "gen")
        if space == "st.volatile.global":
            space = "st.volatile.global" if width is None else "st.global"
        self.emit("%s.%s [%s+%d], %s" % (space, t, address, row * CELL * self.threads, x), comment)

    def comment_of(self, kind):
        return kind if kind in FLOATS else None

    def store(self):
        """Any register of the pool, whole, truncated, or several in a vector."""
        if self.in_function:
            return
        kind = self.one_of(*BITS, *FLOATS)
        n = self.one_of(1, 1, 2, 4)
        n = n if n * WIDTHS[kind] <= 128 else 2
        if n > 1:
            xs = "{%s}" % ", ".join(self.source(kind) for _ in range(n))
            bits = 8 if kind == "b16" and self.chance(0.5) else WIDTHS[kind]
            self.store_row("v%d.b%d" % (n, bits), xs, self.comment_of(kind), n)
            return
        t = "b%d" % WIDTHS[kind]
        if kind in BITS and self.chance(0.4):
            t = self.one_of(*[x for x in ("u8", "s8", "b8") + INTEGERS if WIDTHS[x] <= WIDTHS[kind]])
        elif kind in ("f32", "f64"):
            t = kind
        self.store_row(t, self.source(kind), self.comment_of(kind))

    def store_predicate(self):
        if self.in_function:
            return
        name = self.fresh("b32")
        self.emit("selp.u32 %s, 1, 0, %s" % (name, self.source("pred")))
        self.store_row("u32", name)

    LAYOUT = {"b64": 0, "f64": 1, "f32": 2, "f16": 3, "bf16": 4, "f16x2": 3, "bf16x2": 4, "b32": 6, "b16": 7}

    def load_input(self):
        """From the read-only input: constants' offsets, or an index made of a register."""
        if self.in_function:
            return
        base, gen = "%in", "%ingen"
        if self.chance(0.4):
            self.load_typed(self.one_of("ld.global", "ld.global.nc"), lambda size: self.packed(self.PACKED_IN, size), lambda kind, t: 16 * self.random.randrange(250), True)
            return
        if self.chance(0.5):
            guard, self.guard = self.guard, None
            index, base = self.fresh("b32"), self.register("b64", "u64")
            self.emit("and.b32 %s, %s, %d" % (index, self.source("b32"), INPUT_CELLS - 1))
            self.emit("mad.wide.u32 %s, %s, 64, %s" % (base, index, "%in0"))
            self.guard, gen = guard, base
        space = self.one_of("ld.global", "ld.global", "ld.global.nc", "ld.global.ca", "ld.global.cg", "ld.volatile.global", "ld")
        self.load_typed(space, gen if space == "ld" else base, lambda kind, t: 8 * self.column(kind), True)

    def column(self, kind):
        """Random bits, or the content made for that kind."""
        return self.one_of(self.LAYOUT[kind], 5 if kind == "b64" else 0)

    def load_typed(self, space, base, offset_of, vectors):
        kind = self.one_of(*BITS, *FLOATS)
        n = self.one_of(1, 1, 2, 4) if vectors and "volatile" not in space else 1
        packed = not isinstance(base, str)
        n = min(n, (128 if packed else 64) // WIDTHS[kind])
        if n > 1:
            names = self.targets(kind, n)
            bits = 8 if kind == "b16" and self.chance(0.5) else WIDTHS[kind]
            where = base(bits // 8 * n) if packed else base
            self.emit("%s.v%d.b%d {%s}, [%s+%d]" % (space, n, bits, ", ".join(names), where, offset_of(kind, kind)))
            if not self.guard:
                self.pool[kind] += [x for x in names if x not in self.pool[kind]]
            return
        if kind in BITS:
            t = self.one_of(*[x for x in ("u8", "s8", "b8") + INTEGERS + BITS if WIDTHS[x] <= WIDTHS[kind]])
        else:
            t = kind if kind in ("f32", "f64") else "b%d" % WIDTHS[kind]
        size = WIDTHS[t] // 8
        at = offset_of(kind, t)
        base = base(size) if packed else base
        if kind in BITS:
            at += self.random.randrange(8 // size) * size
        if kind == "b64" and base[0] == "%" and not self.guard and self.chance(0.4):
            self.load_into_address(space, t, base, at, vectors and not packed)
            return
        to = self.target(kind)
        self.emit("%s.%s %s, [%s+%d]" % (space, t, to, base, at))
        self.settle()

    def load_into_address(self, space, t, base, at, vectors):
        """What is loaded takes the place of its own address, which may come of another block, as in a walk along a list."""
        name = self.register("b64", "u64")
        self.emit("add.u64 %s, %s, %d" % (name, base, at))
        self.maybe_new_block(0.5)
        if vectors and t == "b64" and at % 16 == 0 and "volatile" not in space and self.chance(0.5):
            names = [name, self.register("b64")]
            self.random.shuffle(names)
            self.emit("%s.v2.b64 {%s, %s}, [%s]" % (space, *names, name))
            self.pool["b64"] += names
            return
        self.emit("%s.%s %s, [%s]" % (space, t, name, name))
        self.pool["b64"].append(name)

    def walk(self):
        """Each thread puts a pointer to its input into its cell of the output, finds it there again, in any block, and goes on along it."""
        if self.guard or self.in_function:
            return
        name, at = self.register("b64", "u64"), self.rows * CELL * self.threads
        self.rows += 1
        self.emit("st.global.u64 [%%outa+%d], %%in" % at)
        self.emit("add.u64 %s, %%outa, %d" % (name, at))
        self.maybe_new_block(0.5)
        if self.chance(0.5):
            self.simple()
            self.maybe_new_block(0.5)
        self.emit("ld.global.u64 %s, [%s]" % (name, name))
        self.maybe_new_block(0.5)
        self.emit("ld.global.u64 %s, [%s+%d]" % (name, name, 8 * self.column("b64")))
        self.emit("st.global.u64 [%%outa+%d], %s" % (at, name))
        self.pool["b64"].append(name)

    def load_constant(self):
        guard, self.guard = self.guard, None
        base = "ctab"
        at = self.random.randrange(CONSTANT_BYTES // 8) * 8
        if self.chance(0.6):
            table, index, base = self.register("b64", "u64"), self.fresh("b32"), self.register("b64", "u64")
            self.emit("mov.u64 %s, ctab" % table)
            self.emit("and.b32 %s, %s, %d" % (index, self.source("b32"), 15))
            self.emit("mad.wide.u32 %s, %s, 8, %s" % (base, index, table))
            at = self.random.randrange(CONSTANT_BYTES // 16) * 8
        self.guard = guard
        self.load_typed("ld.const", base, lambda kind, t: at, False)

    def load_parameter(self):
        if self.in_function:
            return
        name, kind, _ = self.random.choice(self.kernel.values[2:])
        if isinstance(kind, int):
            self.load_typed("ld.param", name, lambda k, t: self.random.randrange(kind // 8) * 8, False)
            return
        to = self.target(self.holder(kind) if kind not in FLOATS else kind)
        self.emit("ld.param.%s %s, [%s]" % (kind if kind not in ("f16",) else "b16", to, name))
        self.settle()

    def local_memory(self):
        """Writes some bytes of the thread's own array, and then reads some."""
        if self.in_function:
            return
        guard, self.guard = self.guard, None
        base, space = self.one_of(("loc", ".local"), ("%spl", ".local"), ("%sp", ""))
        if base != "loc" and self.chance(0.6):
            index, address = self.fresh("b32"), self.register("b64", "u64")
            self.emit("and.b32 %s, %s, 3" % (index, self.source("b32")))
            self.emit("mad.wide.u32 %s, %s, 8, %s" % (address, index, base))
            base = address
        self.guard = guard
        t = self.one_of("u8", "s8", "b8", "b16", "b32", "b64", "s16", "u32", "v2.b32", "v4.b16", "v2.b16")
        at = 8 * self.random.randrange(4)
        part = t.split(".")[-1]
        n = int(t[1]) if t[0] == "v" else 1
        kind = self.one_of(*[k for k in BITS if WIDTHS[k] >= WIDTHS[part]]) if n == 1 else part
        xs = [self.source(kind) for _ in range(n)]
        if n == 1:
            at += self.random.randrange(8 // (WIDTHS[part] // 8)) * WIDTHS[part] // 8
        self.emit("st%s.%s [%s+%d], %s" % (space, t, base, at, xs[0] if n == 1 else "{%s}" % ", ".join(xs)))
        guard, self.guard = self.guard, guard
        kind = self.random.choice(BITS)
        t = self.one_of(*[x for x in ("u8", "s8", "b8") + INTEGERS if WIDTHS[x] <= WIDTHS[kind]])
        size = WIDTHS[t] // 8
        to = self.target(kind)
        self.emit("ld%s.%s %s, [%s+%d]" % (space, t, to, base, 8 * self.random.randrange(4) +
                                           self.random.randrange(8 // size) * size))
        self.settle()

    def only_some(self, body):
        """Lets some lanes alone do it."""
        if not self.features.get("divergence"):
            body()
            return
        end = self.label()
        self.f.lines.append("@%s bra %s;" % (self.decide(), end))
        self.scope(body)
        self.f.lines.append(end + ":")

    def packed_phase(self):
        """The same with elements side by side, of which some threads write theirs again, and some alone read."""
        kind = self.one_of("b16", "b32", "b64", "f32", "f64", "b32", "f32")
        n = min(self.one_of(1, 1, 2, 4), 128 // WIDTHS[kind])
        bits = 8 if kind == "b16" and self.chance(0.7) else WIDTHS[kind]
        own = self.packed(self.PACKED_SHARED, bits // 8 * n) + self.one_of("", "n")
        t = "v%d.b%d" % (n, bits) if n > 1 else "b%d" % bits
        def write():
            xs = ", ".join(self.source(kind) for _ in range(n))
            self.emit("st.shared.%s [%s], %s" % (t, own, "{%s}" % xs if n > 1 else xs))
        write()
        self.only_some(write)
        self.emit("bar.sync 0")
        def read():
            for other in (own, own if self.left else own.replace("sh", "sho", 1)):
                names = [self.register(kind) for _ in range(n)]
                if kind == ("b32" if own.endswith("n") else "b64") and self.chance(0.5):
                    self.emit("mov.%s %s, %s" % (kind, names[0], other))
                    self.maybe_new_block(0.5)
                    other = names[0]
                self.emit("ld.shared.%s %s, [%s]" % (t, "{%s}" % ", ".join(names) if n > 1 else names[0], other))
                self.pool[kind] += names
            self.store_row("b%d" % WIDTHS[kind], names[0], self.comment_of(kind))
        self.only_some(read)
        self.emit("bar.sync 0")

    def shared_phase(self):
        """Every thread writes its cell, all wait, every thread reads another's cell, all wait."""
        if self.depth or self.guard or self.in_function:
            return
        if self.chance(0.5):
            self.packed_phase()
            return
        kind = self.one_of(*BITS, *FLOATS)
        n = min(self.one_of(1, 2, 4), 128 // WIDTHS[kind])
        v = "v%d." % n if n > 1 else ""
        xs = [self.source(kind) for _ in range(n)]
        own, other = self.one_of(("%sha", "%shb"), ("%shga", "%shgb"), ("%shna", "%shnb"))
        other = own if self.left else other
        space = "" if own == "%shga" else ".shared"
        text = "{%s}" % ", ".join(xs) if n > 1 else xs[0]
        self.emit("st%s.%sb%d [%s], %s" % (space, v, WIDTHS[kind], own, text))
        self.emit(self.one_of("bar.sync 0", "barrier.sync 0", "bar.sync 0"))
        names = []
        for _ in range(n):
            name = self.register(kind)
            names.append(name)
        text = "{%s}" % ", ".join(names) if n > 1 else names[0]
        self.emit("ld%s.%sb%d %s, [%s]" % (space, v, WIDTHS[kind], text, other))
        if kind in BITS and self.chance(0.5):
            t = self.one_of(*[x for x in ("u8", "s8") + INTEGERS if WIDTHS[x] <= WIDTHS[kind]])
            to = self.register("b64")
            self.emit("ld%s.%s %s, [%s+%d]" % (space, t, to, other, 0))
            self.pool["b64"].append(to)
        self.emit("bar.sync 0")
        self.pool[kind] += names

    def apart(self):
        """Lanes of one access in memories that have nothing to do with each other: what each finds, it has written, or is the input."""
        if self.guard or self.in_function:
            return
        at, own = self.rows * CELL * self.threads, 16 * self.kernel.block
        self.rows += 1
        kind = self.one_of("b64", "b64", "b32", "b16")
        n = self.random.randint(1, min(4, 128 // WIDTHS[kind]) if kind == "b32" else 128 // WIDTHS[kind] if kind == "b64" else 1)
        t = "v%d.%s" % (n, kind) if n in (2, 4) else kind
        n = n if n in (2, 4) else 1
        places = [("%outa", at), ("%in", 0)]
        generic = self.chance(0.6)
        if generic:
            places = self.random.sample([("%gena", at), ("%shga", own), ("%sp", 32), ("%ingen", 0)], self.one_of(2, 2, 3))
        address = self.register("b64", "u64")
        self.emit("add.u64 %s, %s, %d" % (address, *places[0]))
        for base, offset in places[1:]:
            other = self.register("b64", "u64")
            self.emit("add.u64 %s, %s, %d" % (other, base, offset))
            self.emit("selp.b64 %s, %s, %s, %s" % (address, address, other, self.decide()))
        for place in places:
            if place[0][:3] != "%in":
                self.emit("st%s.b64 [%s+%d], %s" % ("" if generic else ".global", *place, self.source("b64")))
                self.emit("st%s.b64 [%s+%d], %s" % ("" if generic else ".global", place[0], place[1] + 8, self.source("b64")))
        space = "" if generic else ".global"
        names = [self.register(kind) for _ in range(n)]
        if all(base[:3] != "%in" for base, _ in places) and self.chance(0.6):
            xs = [self.source(kind) for _ in range(n)]
            self.emit("st%s.%s [%s], %s" % (space, t, address, "{%s}" % ", ".join(xs) if n > 1 else xs[0]))
        self.maybe_new_block(0.3)
        self.emit("ld%s.%s %s, [%s]" % (space, t, "{%s}" % ", ".join(names) if n > 1 else names[0], address))
        self.pool[kind] += names

    def atomics(self):
        """On a thread's own cell, whose old value is known; or on one that all share, in any order."""
        if self.guard or self.in_function:
            return
        self.one_of(self.own_atomic, self.own_atomic, self.common_atomic, self.common_atomic, self.vector_atomic, self.wide_memory)()

    ATOMICS = (("add", "u32"), ("add", "s32"), ("add", "u64"), ("min", "u32"), ("min", "s32"), ("max", "u32"),
               ("max", "s32"), ("min", "u64"), ("max", "s64"), ("and", "b32"), ("or", "b32"), ("xor", "b32"),
               ("and", "b64"), ("or", "b64"), ("xor", "b64"), ("min", "s64"), ("max", "u64"))

    def own_atomic(self):
        row = self.rows
        self.rows += 1
        space, place = "global", "[%%outa+%d]" % (row * CELL * self.threads)
        if self.chance(0.3):
            space, place = "shared", "[%%%s+%d]" % (self.one_of("sha", "shna"), 16 * self.kernel.block)
        op, t = self.one_of(*self.ATOMICS, ("exch", "b32"), ("exch", "b64"), ("cas", "b32"), ("cas", "b64"),
                            ("inc", "u32"), ("dec", "u32"), ("cas", "b16"), ("add", "f32"), ("add", "f64"), ("add.noftz", "f16"),
                            ("add.noftz", "f16x2"), ("add.noftz", "bf16"), ("add.noftz", "bf16x2"))
        scope = self.one_of("", ".relaxed.gpu", ".acq_rel.sys", ".relaxed.cta")
        kind = kind_of(t)
        self.emit("st.%s.b%d %s, %s" % (space, WIDTHS[t], place, self.source(kind)), self.comment_of(kind))
        if op == "cas":
            old = self.fresh(kind)
            self.emit("ld.%s.b%d %s, %s" % (space, WIDTHS[t], old, place))
            compare = self.one_of(old, self.source(kind))
            xs = "%s, %s" % (compare, self.source(kind))
        else:
            xs = self.source(kind)
        generic = self.chance(0.2) and "shna" not in place
        where = place.replace("outa", "gena").replace("sha", "shga") if generic else place
        if op not in ("exch", "cas") and self.chance(0.3):
            self.emit("red%s%s.%s.%s %s, %s" % (scope.replace("acq_rel", "release"), "" if generic else "." + space, op, t, where, xs), self.comment_of(kind))
            return
        to = self.target(kind)
        self.emit("atom%s%s.%s.%s %s, %s, %s" % (scope, "" if generic else "." + space, op, t, to, where, xs),
                  self.comment_of(kind))
        self.settle()

    def common_atomic(self):
        """On one place of the output that all threads share, or on some."""
        base, n = "%acc", self.one_of(1, 1, 4)
        if n > 1:
            base = self.shared_places("%acc", n)
        place = "[%s+%d]" % (base, 8 * self.accumulators)
        self.accumulators += n
        self.change_common("global", place)

    def shared_places(self, base, n):
        """The address of one of n places, for threads in turn or in groups."""
        index, address = self.fresh("b32"), self.register("b64", "u64")
        self.emit("shr.u32 %s, %%tid0, %d" % (index, self.one_of(0, 0, 2, 4)))
        self.emit("and.b32 %s, %s, %d" % (index, index, n - 1))
        self.emit("mad.wide.u32 %s, %s, 8, %s" % (address, index, base))
        return address

    def change_common(self, space, place):
        op, t = self.one_of(*self.ATOMICS, ("add", "f32"), ("add", "f64"), ("inc", "u32"))
        x = self.source(kind_of(t))
        if t[0] == "f":
            number = self.small(50)
            x = self.fresh(t)
            self.emit("cvt.rn.%s.u32 %s, %s" % (t, x, number))
        elif op == "inc":
            x = "1000"
        if self.chance(0.6):
            self.emit("red.%s.%s.%s %s, %s" % (space, op, t, place, x))
        else:
            self.emit("atom.%s.%s.%s %s, %s, %s" % (space, op, t, self.fresh(kind_of(t)), place, x))

    def vector_atomic(self):
        """Of several floats in the thread's own cell; results may take the place of sources."""
        kind, n = self.one_of(("f32", 2), ("f32", 4), ("f16", 2), ("f16", 4), ("f16", 8), ("bf16", 4), ("bf16", 8), ("f16x2", 2), ("bf16x2", 4))
        op = "add" if kind == "f32" else self.one_of("add.noftz", "min.noftz", "max.noftz")
        at, bits = self.rows * CELL * self.threads, WIDTHS[kind]
        self.rows += 1
        for i in range(0, n, 4):
            xs = [self.source(kind) for _ in range(min(n, 4))]
            self.emit("st.global.v%d.b%d [%%outa+%d], {%s}" % (len(xs), bits, at + i * bits // 8, ", ".join(xs)), kind)
        xs = [self.source(kind) for _ in range(n)]
        if self.chance(0.3):
            self.emit("red.global.%s.v%d.%s [%%outa+%d], {%s}" % (op, n, kind, at, ", ".join(xs)))
            return
        old = list(dict.fromkeys(xs)) if self.chance(0.5) else []
        self.random.shuffle(old)
        names = old + [self.register(kind) for _ in range(n - len(old))]
        self.emit("atom.global.%s.v%d.%s {%s}, [%%outa+%d], {%s}" % (op, n, kind, ", ".join(names), at, ", ".join(xs)))
        self.pool[kind] += [x for x in names if x not in self.pool[kind]]

    def wide_memory(self):
        """Registers of 128 bits: loaded, exchanged with the thread's cell, and in parts."""
        if self.features.get("newer") and self.chance(0.3):
            n, kind = self.one_of((8, "b32"), (4, "b64"))
            names = [self.register(kind) for _ in range(n)]
            self.emit("ld.global.v%d.%s {%s}, [%%in+%d]" % (n, kind, ", ".join(names), 32 * self.random.randrange(2)))
            self.pool[kind] += names
            return
        at = self.rows * CELL * self.threads
        self.rows += 1
        old, new, before = (self.register("b128", "b128") for _ in range(3))
        self.emit("ld.global.b128 %s, [%%in+%d]" % (old, 16 * self.random.randrange(4)))
        self.emit("mov.b128 %s, {%s, %s}" % (new, self.source("b64"), self.source("b64")))
        self.emit("st.global.b128 [%%outa+%d], %s" % (at, old))
        if self.chance(0.5):
            self.emit("atom.global.exch.b128 %s, [%%outa+%d], %s" % (before, at, new))
        else:
            self.emit("atom.global.cas.b128 %s, [%%outa+%d], %s, %s" % (before, at, self.one_of(old, new), new))
        names = [self.register("b64") for _ in range(2)]
        self.emit("mov.b128 {%s}, %s" % (", ".join(names), before))
        self.pool["b64"] += names
