# SPDX-License-Identifier: MIT
"""Random operations over lanes, of a whole warp or of groups, each with its own mask."""

class Lanes:
    def over_lanes(self):
        """Only where all lanes of the warp are active, and in whole warps."""
        if self.depth or self.guard or self.in_function or self.kernel.block % 32 or self.left == "some":
            return
        if self.left:
            self.over_members(self.left)
            return
        mask, width = self.members()
        op = self.one_of("shfl", "shfl", "vote", "match", "redux", "elect", "movmatrix", "mma")
        if op == "shfl":
            self.shuffle(mask, width)
        elif op == "movmatrix":
            self.do("movmatrix.sync.aligned.m8n8.trans.b16", "b32", (self.source("b32"),))
        elif op == "mma":
            self.product()
        else:
            getattr(self, op)(mask)

    def vote(self, mask):
        which = self.one_of("all.pred", "any.pred", "uni.pred", "ballot.b32")
        d = "pred" if which.endswith("pred") else "b32"
        self.do("vote.sync." + which, d, (self.predicate_source(), mask))

    def match(self, mask):
        t = self.one_of("b32", "b64")
        x = self.source(t)
        if self.chance(0.7):
            guard = self.fresh(t)
            self.emit("and.%s %s, %s, %d" % (t, guard, x, self.one_of(1, 3)))
            x = guard
        if self.chance(0.5):
            self.do("match.any.sync." + t, "b32", (x, mask))
        else:
            d, p = self.fresh("b32"), self.fresh("pred")
            self.emit("match.all.sync.%s %s|%s, %s, %s" % (t, d, p, x, mask))
            self.pool["b32"].append(d)
            self.pool["pred"].append(p)

    def redux(self, mask):
        op, t = self.one_of(("add", "s32"), ("add", "u32"), ("min", "u32"), ("min", "s32"), ("max", "u32"),
                            ("max", "s32"), ("and", "b32"), ("or", "b32"), ("xor", "b32"))
        self.do("redux.sync.%s.%s" % (op, t), t, (self.source("b32"), mask))

    def divided(self):
        """A branch whose lanes have voted who they are, and work together in it; perhaps so do the others."""
        if self.guard or self.in_function or self.kernel.block % 32 or (self.depth and not self.together) or self.left == "some":
            return
        all_of = self.together or self.left or "0xffffffff"
        p, mask = self.decide(), self.fresh("b32")
        otherwise, end = self.label(), self.label()
        self.emit("vote.sync.ballot.b32 %s, %s, %s" % (mask, p, all_of))
        self.f.lines.append("@!%s bra %s;" % (p, otherwise))
        self.scope(lambda: self.work_together(mask))
        two = self.chance(0.4)
        if two:
            self.emit("bra %s" % end)
        self.f.lines.append(otherwise + ":")
        if two:
            others = self.fresh("b32")
            self.emit("xor.b32 %s, %s, %s" % (others, mask, all_of))
            self.scope(lambda: self.work_together(others))
            self.f.lines.append(end + ":")

    def guarded_members(self):
        """Lanes that work together without a branch: each operation is guarded by what they have voted on."""
        if self.guard or self.in_function or self.kernel.block % 32 or (self.depth and not self.together) or self.left == "some":
            return
        p, mask = self.fresh("pred"), self.fresh("b32")
        self.emit("mov.pred %s, %s" % (p, self.decide()))
        self.emit("vote.sync.ballot.b32 %s, %s, %s" % (mask, p, self.together or self.left or "0xffffffff"))
        def some():
            self.guard = p
            for _ in range(self.random.randint(1, 3)):
                self.over_members(mask)
                self.store()
            self.guard = None
        self.scope(some)

    def work_together(self, mask):
        before, self.together = self.together, mask
        for _ in range(self.random.randint(1, 4)):
            if self.chance(0.5):
                self.over_members(mask)
            elif self.depth < 3 and self.chance(0.2):
                self.divided()
            else:
                self.simple()
        self.together = before

    def over_members(self, mask):
        """Where the lanes of a mask, which are not known, are active: whatever needs no other lane, or one of the mask."""
        op = self.one_of("vote", "match", "redux", "elect", "shfl", "shfl", "sync")
        if op == "shfl":
            lane, kind = self.fresh("b32"), self.one_of("b32", "f32")
            if self.chance(0.5):
                self.emit("bfind.u32 %s, %s" % (lane, mask))
            else:
                self.emit("brev.b32 %s, %s" % (lane, mask))
                self.emit("clz.b32 %s, %s" % (lane, lane))
            d = self.register(kind)
            self.emit("shfl.sync.idx.b32 %s, %s, %s, 31, %s" % (d, self.source(kind), lane, mask))
            self.pool[kind].append(d)
        elif op == "sync":
            self.emit("bar.warp.sync %s" % mask)
        else:
            getattr(self, op)(mask)

    def elect(self, mask):
        d, p = self.fresh("b32"), self.fresh("pred")
        self.emit("elect.sync %s|%s, %s" % (d, p, mask))
        self.pool["b32"].append(d)
        self.pool["pred"].append(p)

    PRODUCTS = (((8, 8, 16), 8), ((16, 8, 16), 8), ((16, 8, 32), 8), ((8, 8, 32), 4), ((16, 8, 32), 4), ((16, 8, 64), 4),
                ((8, 8, 128), 1), ((16, 8, 128), 1), ((16, 8, 256), 1))

    def product(self):
        """mma of integers; the result may take the place of a source."""
        (m, n, k), bits = self.one_of(*self.PRODUCTS)
        sizes = m * k * bits // 1024, n * k * bits // 1024, m // 4
        registers = [[self.source("b32") for _ in range(size)] for size in sizes]
        d = [self.fresh("b32") for _ in range(m // 4)]
        if self.chance(0.3):
            registers[2] = d
            for x in d:
                self.emit("mov.b32 %s, %s" % (x, self.source("b32")))
        a, b = ("b1", "b1") if bits == 1 else (self.one_of("u", "s") + str(bits), self.one_of("u", "s") + str(bits))
        self.emit("mma.sync.aligned.m%dn%dk%d.row.col.%ss32.%s.%s.s32%s %s" % (
            m, n, k, self.one_of("", "satfinite.") if bits > 1 else "", a, b, self.one_of(".and.popc", ".xor.popc") if bits == 1 else "",
            ", ".join("{%s}" % ", ".join(r) for r in [d, *registers])))
        self.pool["b32"] += d

    def members(self):
        """A mask of the lane's group, and the width of groups."""
        if not self.features.get("groups") or self.chance(0.5):
            return "0xffffffff", 32
        width = self.one_of(2, 4, 8, 16)
        first, mask = self.fresh("b32"), self.fresh("b32")
        self.emit("and.b32 %s, %%lane0, %d" % (first, 32 - width))
        self.emit("shl.b32 %s, 0x%x, %s" % (mask, (1 << width) - 1, first))
        return mask, width

    def shuffle(self, mask, width):
        mode = self.one_of("up", "down", "bfly", "idx")
        segment = self.one_of(*[w for w in (2, 4, 8, 16, 32) if w <= width])
        c = (32 - segment) << 8 | (0 if mode == "up" else segment - 1 if self.chance(0.8) else self.random.randrange(segment))
        if mode == "up" and self.chance(0.3):
            c |= self.random.randrange(4)
        by = self.one_of(str(self.random.randrange(segment)), self.small(segment),
                         str(self.random.randrange(segment if mode == "bfly" else 32)))
        kind = self.one_of("b32", "b32", "f32")
        if self.chance(0.5):
            d, p = self.register(kind), self.register("pred")
            self.emit("shfl.sync.%s.b32 %s|%s, %s, %s, %s, %s" % (mode, d, p, self.source(kind), by, hex(c), mask))
            self.pool["pred"].append(p)
        else:
            d = self.register(kind)
            self.emit("shfl.sync.%s.b32 %s, %s, %s, %s, %s" % (mode, d, self.source(kind), by, hex(c), mask))
        self.pool[kind].append(d)
