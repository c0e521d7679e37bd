# SPDX-License-Identifier: MIT
"""Random statements of all threads of a block: asynchronous copies, matrices in shared memory, and barriers with results."""


class Block:
    arrivals = 0  # phases of the mbarrier so far

    def over_block(self):
        """Only where all of them are."""
        if self.depth or self.guard or self.in_function:
            return
        ways = [self.copies, self.counts]
        if not self.left:
            ways += [self.arrive, self.sums] + [self.hand_over] * (self.kernel.block == 64) + ([self.matrices] if self.kernel.block % 32 == 0 else [])
        self.one_of(*ways)()

    def shared_cells(self):
        """The addresses of the thread's cell and of that of another, which has to be alive."""
        own, other = self.one_of(("%sha", "%shb"), ("%shna", "%shnb"))
        return own, own if self.left else other

    def copies(self):
        """Into the thread's cell, of which the rest becomes zeros; then every thread reads another's."""
        own, other = self.shared_cells()
        size = self.one_of(4, 8, 16)
        self.emit("st.shared.v2.b64 [%s], {%s, %s}" % (own, self.source("b64"), self.source("b64")))
        part = self.one_of("", "", ", %d" % self.random.randrange(size + 1), ", " + self.small(size + 1), ", " + self.source("pred"))
        self.guard = self.decide() if self.chance(0.3) else None
        self.emit("cp.async.%s.shared%s.global [%s], [%%in+%d], %d%s" % (
            self.one_of("ca", "cg") if size == 16 else "ca", self.one_of("", "::cta"), own, size * self.random.randrange(64 // size), size, part))
        self.guard = None
        for text in self.one_of(("cp.async.wait_all",), ("cp.async.commit_group", "cp.async.wait_group 0")):
            self.emit(text)
        self.emit("bar.sync 0")
        names = [self.register("b64") for _ in range(2)]
        self.emit("ld.shared.v2.b64 {%s}, [%s]" % (", ".join(names), other))
        self.emit("bar.sync 0")
        self.pool["b64"] += names

    def matrices(self):
        """Rows of 16 bytes in the threads' cells, to registers of a warp; or back."""
        own, other = self.shared_cells()
        self.emit("st.shared.v4.b32 [%s], {%s}" % (own, ", ".join(self.source("b32") for _ in range(4))))
        self.emit("bar.sync 0")
        n, trans, at = self.one_of(1, 2, 4), self.one_of("", ".trans"), self.one_of(own, other)
        form = "matrix.sync.aligned.m8n8.x%d%s.shared%s.b16" % (n, trans, self.one_of("", "::cta"))
        if self.chance(0.5):
            names = [self.register("b32") for _ in range(n)]
            if at[3] == "n" and self.chance(0.5):
                at, first = self.random.choice(names), at
                self.emit("mov.b32 %s, %s" % (at, first))
            self.emit("ld%s {%s}, [%s]" % (form, ", ".join(names), at))
        else:
            self.emit("st%s [%s], {%s}" % (form, at, ", ".join(self.source("b32") for _ in range(n))))
            self.emit("bar.sync 0")
            names = [self.register("b32") for _ in range(4)]
            self.emit("ld.shared.v4.b32 {%s}, [%s]" % (", ".join(names), self.one_of(own, other)))
        self.emit("bar.sync 0")
        self.pool["b32"] += names

    def counts(self):
        """A barrier that tells how many threads have a predicate, or whether any or all have it."""
        which, kind = self.one_of(("popc.u32", "b32"), ("and.pred", "pred"), ("or.pred", "pred"))
        threads = ", %d" % self.kernel.block if self.kernel.block % 32 == 0 and not self.left and self.chance(0.5) else ""
        to = self.target(kind)
        self.emit("%s.red.%s %s, %d%s, %s" % (self.one_of("bar", "barrier", "barrier.cta"), which, to, self.random.randrange(16), threads,
                                              self.predicate_source()))
        self.settle()

    def hand_over(self):
        """A warp writes and arrives; the other waits for it, and reads."""
        p, address = self.fresh("pred"), self.register("b64", "u64")
        giver, number, otherwise, end = self.one_of(0, 32), self.random.randint(1, 15), self.label(), self.label()
        self.emit("setp.%s.u32 %s, %%tid0, 32" % ("ge" if giver == 0 else "lt", p))
        self.f.lines.append("@%s bra %s;" % (p, otherwise))
        self.emit("st.shared.v2.b64 [%%sha], {%s, %s}" % (self.source("b64"), self.source("b64")))
        self.emit("%s.arrive %d, 64" % (self.one_of("bar", "barrier"), number))
        self.emit("bra %s" % end)
        self.f.lines.append(otherwise + ":")
        self.emit("%s.sync %d, 64" % (self.one_of("bar", "barrier"), number))
        self.emit("%s.u64 %s, %%sha, 512" % ("sub" if giver == 0 else "add", address))
        names = [self.register("b64") for _ in range(2)]
        self.emit("ld.shared.v2.b64 {%s}, [%s]" % (", ".join(names), address))
        self.store_row("v2.b64", "{%s}" % ", ".join(names), width=2)
        self.f.lines.append(end + ":")
        self.emit("bar.sync 0")

    def sums(self):
        """Atomics of all threads on places in shared memory, from zeros on."""
        at = 32 * self.kernel.block + 8
        first = self.fresh("pred")
        self.emit("setp.eq.u32 %s, %%tid0, 0" % first)
        for i in range(4):
            self.f.lines.append("@%s st.shared.u64 [%%sh0+%d], 0;" % (first, at + 8 * i))
        self.emit("bar.sync 0")
        place = "[%s+%d]" % (self.shared_places("%sh0", 4) if self.chance(0.6) else "%sh0", at)
        name = self.register("b64")
        self.change_common("shared", place)
        self.emit("bar.sync 0")
        self.emit("ld.shared.b64 %s, %s" % (name, place))
        self.emit("bar.sync 0")
        self.pool["b64"].append(name)

    def arrive(self):
        """A phase of an mbarrier: before a thread arrives it is not over, and when all have arrived it is."""
        at = "[%%sh0+%d]" % (32 * self.kernel.block)
        each = 2 if self.kernel.block > 40 else 1
        if not self.arrivals:
            first = self.fresh("pred")
            self.emit("setp.eq.u32 %s, %%tid0, 0" % first)
            self.f.lines.append("@%s mbarrier.init.shared%s.b64 %s, %d;" % (first, self.one_of("", "::cta"), at, each * self.kernel.block))
            self.emit("bar.sync 0")
        old, new = self.arrivals % 2, (self.arrivals + 1) % 2
        self.arrivals += 1
        if self.chance(0.5):
            self.test("parity", at, self.one_of(old, new))
        state = self.register("b64", "b64")
        if self.chance(0.3):
            self.emit("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 %s, 48" % at)
            self.emit("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 %s, 48" % at)
        if each == 1 and self.chance(0.4):
            self.emit("mbarrier.arrive.expect_tx%s.b64 %s, %s, 16" % (self.one_of(".shared", ".release.cta.shared::cta"), state, at))
            self.emit("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 %s, 16" % at)
        else:
            self.emit("mbarrier.arrive%s.b64 %s, %s%s" % (self.one_of(".shared", ".release.cta.shared::cta"), state, at, ", 2" if each == 2 else ""))
        self.emit("bar.sync 0")
        for how, what in self.random.sample((("", state), ("parity", old), ("parity", new)), 2):
            self.test(how, at, what)
        self.emit("bar.sync 0")

    def test(self, how, at, what):
        p = self.register("pred")
        self.emit("mbarrier.%s%s.shared%s.b64 %s, %s, %s" % (self.one_of("test_wait", "try_wait") if how == "" else "test_wait", "." + how if how else "",
                                                             self.one_of("", "::cta"), p, at, what))
        self.pool["pred"].append(p)
