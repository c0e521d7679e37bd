# SPDX-License-Identifier: MIT
"""Random branches, loops, switches, calls and functions."""

from integers import WIDTHS
from parts import BITS, DECLARED, Function


class Control:
    def scope(self, body):
        """Registers that are first written inside are not known afterwards."""
        before = {kind: list(names) for kind, names in self.pool.items()}
        self.depth += 1
        body()
        self.depth -= 1
        self.pool = before

    def decide(self):
        """A predicate that usually differs between lanes."""
        p = self.fresh("pred")
        form = self.random.randrange(4)
        if form == 0:
            return self.source("pred")
        if form == 1:
            bit = self.fresh("b32")
            self.emit("and.b32 %s, %%tid0, %d" % (bit, 1 << self.random.randrange(5)))
            self.emit("setp.ne.u32 %s, %s, 0" % (p, bit))
        elif form == 2:
            self.emit("setp.%s.u32 %s, %%tid0, %d" % (self.one_of("lt", "gt", "eq", "ne"), p, self.random.randrange(40)))
        else:
            self.emit("setp.lt.s32 %s, %s, %s" % (p, self.source("b32"), self.source("b32")))
        return p

    def maybe_new_block(self, p):
        """What follows is a block of its own, to which a branch of all lanes leads."""
        if self.chance(p):
            label = self.label()
            self.f.lines.append(self.one_of("bra", "bra.uni") + " %s;" % label)
            self.f.lines.append(label + ":")

    def branch(self):
        otherwise, end = self.label(), self.label()
        negated = self.one_of("", "!")
        self.f.lines.append("@%s%s bra %s;" % (negated, self.decide(), otherwise))
        self.scope(lambda: self.statements(self.random.randint(1, 4)))
        two = self.chance(0.6)
        if two:
            self.emit("bra %s" % end)
        self.f.lines.append(otherwise + ":")
        if two:
            self.scope(lambda: self.statements(self.random.randint(1, 4)))
            self.f.lines.append(end + ":")

    def loop(self):
        top, end = self.label(), self.label()
        count, p = self.register("b32", "u32"), self.fresh("pred")
        turns = self.one_of("each", "same", "some")
        if turns == "same":
            self.emit("mov.u32 %s, %d" % (count, self.random.randint(1, 3)))
        else:
            self.emit("and.b32 %s, %s, 3" % (count, "%tid0" if turns == "each" else self.source("b32")))
            skip = self.label()
            self.emit("setp.eq.u32 %s, %s, 0" % (p, count))
            self.f.lines.append("@%s bra %s;" % (p, skip))
        self.f.lines.append("// loop")
        self.f.lines.append(top + ":")
        self.f.lines.append("// turn")
        def body():
            self.statements(self.random.randint(1, 4))
            if self.chance(0.3):
                self.f.lines.append("@%s bra %s;" % (self.decide(), end))
                self.statements(self.random.randint(1, 3))
            self.emit("add.s32 %s, %s, -1" % (count, count))
            self.emit("setp.ne.u32 %s, %s, 0" % (p, count))
            self.f.lines.append("@%s bra %s;" % (p, top))
        self.scope(body)
        self.f.lines.append(end + ":")
        self.f.lines.append("// end")
        if turns != "same":
            self.f.lines.append(skip + ":")

    def switch(self):
        n = self.one_of(2, 4, 3)
        index, end, name = self.fresh("b32"), self.label(), "T" + self.label()
        labels = [self.label() for _ in range(n)]
        self.emit("rem.u32 %s, %s, %d" % (index, self.one_of("%tid0", self.source("b32")), n))
        self.f.targets[name] = [self.random.choice(labels) if self.chance(0.2) else x for x in labels]
        self.emit("brx.idx %s, %s" % (index, name))
        for k, x in enumerate(labels):
            self.f.lines.append(x + ":")
            self.scope(lambda: self.statements(self.random.randint(1, 3)))
            if k < n - 1 and self.chance(0.8):
                self.emit("bra %s" % end)
            elif k < n - 1:
                self.kernel.falls_through = True
        self.f.lines.append(end + ":")

    def leave_early(self):
        """As `if (i >= n) return;`: those who stay go on without the others, and wait for each other at barriers."""
        if self.guard or self.in_function or self.together:
            return
        p = self.decide()
        if self.depth == 0 and self.kernel.block % 32 == 0 and self.left != "some":
            stay = self.fresh("b32")
            self.emit("vote.sync.ballot.b32 %s, !%s, %s" % (stay, p, self.left or "0xffffffff"))
            self.left = stay
        else:
            self.left = "some"
        self.f.lines.append("@%s %s;" % (p, self.one_of("exit", "ret")))

    def guarded(self):
        self.guard = self.one_of("", "!") + self.decide()
        for _ in range(self.random.randint(1, 3)):
            self.simple()
        self.guard = None

    def call(self):
        if not self.kernel.functions:
            return
        callee = self.random.choice(list(self.kernel.functions.values()))
        by_register = all(name.startswith("%") for name in callee.parameters)
        arguments, returns = [], []
        for formal, t in callee.parameters.items():
            arguments.append(self.source(t) if by_register else self.parameter(t))
        for formal, t in callee.returns.items():
            returns.append(self.register(t) if by_register else self.parameter(t, write=False))
        self.emit("call.uni (%s), %s, (%s)" % (", ".join(returns), callee.name, ", ".join(arguments)))
        for x, t in zip(returns, callee.returns.values()):
            if by_register:
                self.pool[t].append(x)
            else:
                name = self.register(t)
                self.emit("ld.param.b%d %s, [%s]" % (WIDTHS[t], name, x))
                self.pool[t].append(name)

    def parameter(self, t, write=True):
        name = "param%d" % self.count
        self.count += 1
        self.f.add_local(name, WIDTHS[t] // 8, WIDTHS[t] // 8)
        self.f.declared_locals.append((name, t))
        if write:
            self.emit("st.param.b%d [%s], %s" % (WIDTHS[t], name, self.source(t)))
        return name

    def make_function(self, number):
        """A function of a few values, with branches and loops of its own, and early returns."""
        saved = self.f, self.pool
        f = self.f = Function("%s_f%d" % (self.kernel.name, number), self.kernel.local)
        self.pool = {kind: [] for kind in DECLARED}
        self.in_function = True
        by_register = self.chance(0.4)
        kinds = [self.one_of("b16", "b32", "b64", "f32", "f64") if not by_register else self.one_of("b32", "b64", "f32")
                 for _ in range(self.random.randint(1, 3))]
        tid = self.register("b32", "u32")
        f.registers["%tid0"] = "u32"
        self.emit("mov.u32 %tid0, %tid.x")
        for i, t in enumerate(kinds):
            if by_register:
                name = "%%a%d" % i
                f.registers[name] = t
                f.parameters[name] = t
                copy = self.register(t)
                self.emit("mov.b%d %s, %s" % (WIDTHS[t], copy, name))
                self.pool[t].append(copy)
            else:
                name = "%s_p%d" % (f.name, i)
                f.parameters[name] = t
                f.add_local(name, WIDTHS[t] // 8, WIDTHS[t] // 8)
                copy = self.register(t)
                self.emit("ld.param.b%d %s, [%s]" % (WIDTHS[t], copy, name))
                self.pool[t].append(copy)
        del f.registers[tid]
        self.fill_pool()
        t = self.one_of("b32", "b64", "f32")
        name = "%rv" if by_register else "%s_rv" % f.name
        f.returns[name] = t
        if by_register:
            f.registers[name] = t
        else:
            f.add_local(name, WIDTHS[t] // 8, WIDTHS[t] // 8)
        def give_back(guard=""):
            to = "mov.b%d %s, %s" % (WIDTHS[t], name, self.source(t)) if by_register else \
                "st.param.b%d [%s], %s" % (WIDTHS[t], name, self.source(t))
            f.lines.append("%s%s;" % (guard, to))
            f.lines.append("%sret;" % guard)
        self.statements(self.random.randint(2, 5))
        if self.chance(0.5):
            give_back("@%s " % self.decide())
            self.statements(self.random.randint(1, 3))
        give_back()
        self.in_function = False
        self.f, self.pool = saved
        self.kernel.functions[f.name] = f
        self.kernel.local = f.local

    def fill_pool(self):
        """At least one register of every kind, without memory."""
        for kind, names in self.pool.items():
            for _ in range(2 if not names else 1):
                name = self.register(kind)
                if kind == "pred":
                    self.emit("setp.lt.u32 %s, %%tid0, %d" % (name, self.random.randrange(64)))
                elif kind in BITS:
                    self.emit("mov.b%d %s, 0x%x" % (WIDTHS[kind], name, self.random.getrandbits(WIDTHS[kind])))
                elif kind in ("f32", "f64"):
                    number = self.fresh("b32")
                    self.emit("mad.lo.u32 %s, %%tid0, %d, %d" % (number, self.random.randrange(9), self.random.randrange(999)))
                    self.emit("cvt.rn.%s.u32 %s, %s" % (kind, name, number))
                else:
                    bits = self.one_of(0x3C00, 0xBC01, 0x3F80, 0x0001, 0x4500)
                    bits |= self.one_of(0x3C00, 0xBC01, 0x3F80, 0x8001) << 16 if kind.endswith("x2") else 0
                    self.emit("mov.b%d %s, 0x%x" % (WIDTHS[kind], name, bits))
                names.append(name)
