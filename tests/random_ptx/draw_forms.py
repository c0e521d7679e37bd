# SPDX-License-Identifier: MIT
"""Random operations of the table of forms, with operands for which they are defined; and what is made of several of them."""

import re

from forms import GROUPS, forms_of
from integers import WIDTHS
from operations import VIDEOS, meaning, takes_three
from parts import BITS, INPUT_CELLS, kind_of

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
STRICT = re.compile("[us]16x2|e[0-9]m[0-9]x2|ue8m0|tf32")  # whose registers' types are bits

ROUND_FLOATS = {  # approximations: the types, modifiers, whether the operand is to be tame, and the bound
    "rcp.approx.ftz": ("f64", True, "rel 2e-6"), "rsqrt.approx": ("f64", True, "rel 2e-6"), "rsqrt.approx.ftz": ("f64", True, "rel 2e-6"),
    "div.full[.ftz]": ("f32", False, "rel 3e-7 abs 2e-38"), "div.approx[.ftz]": ("f32", True, "rel 3e-7 abs 2e-38"),
    "{rcp|sqrt|rsqrt|ex2}.approx[.ftz]": ("f32", False, "rel 3e-7 abs 2e-38"), "{sin|cos}.approx[.ftz]": ("f32", True, "rel 1e-6 abs 1e-6"),
    "lg2.approx[.ftz]": ("f32", True, "rel 3e-7 abs 3e-7"), "tanh.approx": ("f32", False, "rel 5e-4"),
    "{ex2|tanh}.approx": ("f16|f16x2", False, "rel 4e-3 abs 6e-8"), "ex2.approx.ftz": ("bf16|bf16x2", False, "rel 8e-3"),
    "tanh.approx ": ("bf16|bf16x2", False, "rel 8e-3"),
}


def is_extended(opcode, t):
    """Whether the register may be wider than the type: that of an integer that is converted, but for bf16."""
    return opcode[:4] == "cvt." and t in INTEGERS and "pack" not in opcode and ".bf16" not in opcode


class Forms:
    def form(self, group):
        self.operation(self.one_of(*forms_of(self.one_of(*GROUPS[group]))))

    def operation(self, opcode):
        """One form: its sources, itself, and its results, which are returned as (kind, register)."""
        results, types, _ = meaning(opcode)
        name = opcode.split(".")[0]
        if name in VIDEOS:
            return self.video(opcode)
        xs = [self.operand_of(opcode, i, t) for i, t in enumerate(types)]
        written = opcode.replace("3.", ".", 1) if name in ("min3", "max3") else opcode
        if name == "setp" and not opcode.endswith("x2") and (opcode.endswith("f16") or self.chance(0.75)):
            results = results[:1]
        if len(results) > 1:
            return self.several(written, results, xs)
        if results[0] in ("f32x2", "e2m1x2"):
            return self.packed_result(written, results[0], xs)
        kind = self.holder(results[0]) if is_extended(opcode, results[0]) else kind_of(results[0])
        to = self.of_bits(kind) if STRICT.search(opcode) and kind in BITS else self.target(kind)
        self.emit("%s %s, %s" % (written, to, ", ".join(xs)))
        self.settle()
        return [(kind, to)]

    def video(self, opcode):
        """With parts of the operands, or signs, as the form allows them."""
        name, *mods = opcode.split(".")
        n = int(name[-1]) if name[-1] in "24" else 0
        three = takes_three(name, mods)
        xs = [self.source("b32") for _ in range(3)]
        part = ""
        if n:
            letter = "h" if n == 2 else "b"
            xs[:2] = [x + "." + letter + "".join(str(self.random.randrange(2 * n)) for _ in range(n)) if self.chance(0.5) else x for x in xs[:2]]
            mask = "".join(str(i) for i in reversed(range(n)) if self.chance(0.6))
            part = "." + letter + mask if mask and self.chance(0.6) else ""
        else:
            ways = ("b0", "b1", "b2", "b3", "h0", "h1")
            xs[:2] = [x + "." + self.one_of(*ways) if self.chance(0.6) else x for x in xs[:2]]
            if name == "vmad" and "po" not in mods:
                turned = self.one_of((), (0,), (1,), (0, 1), (2,), (0, 1, 2))
                xs = ["-" * (i in turned) + x for i, x in enumerate(xs)]
            elif not three and self.chance(0.5):
                part, three = "." + self.one_of(*ways), True
        to = self.target("b32")
        self.emit("%s %s, %s" % (opcode, to + part, ", ".join(xs if three else xs[:2])))
        self.settle()
        return [("b32", to)]

    def each_form(self, opcodes):
        """Each of these forms, with operands from the input, and its results stored."""
        for opcode in opcodes:
            if self.chance(0.2):
                self.pool = {kind: names[-3:] for kind, names in self.pool.items()}
            for t in meaning(opcode)[1]:
                kinds = {"f32x2": "f32", "e2m1x2": "b16"}.get(t) or kind_of(t)
                if kinds in self.LAYOUT:
                    self.load_kind(kinds)
            self.guard = self.one_of("", "!") + self.decide() if self.chance(0.2) else None
            results = self.operation(opcode)
            self.guard = None
            for kind, name in results:
                self.store_result(kind, name)

    def load_kind(self, kind):
        """A register of that kind, from the cell of the thread, or from that of another."""
        base, name, size = "%in", self.register(kind), WIDTHS[kind] // 8
        if self.chance(0.5):
            index, base = self.fresh("b32"), self.register("b64", "u64")
            self.emit("xor.b32 %s, %%cell, %d" % (index, self.random.randrange(INPUT_CELLS)))
            self.emit("mad.wide.u32 %s, %s, 64, %%in0" % (base, index))
        self.emit("ld.global.b%d %s, [%s+%d]" % (8 * size, name, base, 8 * self.column(kind) + size * self.random.randrange(8 // size)))
        self.pool[kind].append(name)

    def store_result(self, kind, name):
        if kind == "pred":
            kind, p, name = "b32", name, self.fresh("b32")
            self.emit("selp.u32 %s, 1, 0, %s" % (name, p))
        self.store_row("b%d" % WIDTHS[kind], name, self.comment_of(kind))

    def several(self, opcode, results, xs):
        kinds = [kind_of(t) for t in results]
        names = self.targets(kinds[0], 2) if kinds[0] == kinds[1] else [self.targets(k, 1)[0] for k in kinds]
        self.emit("%s %s, %s" % (opcode, "|".join(names), ", ".join(xs)))
        if not self.guard:
            for kind, name in zip(kinds, names):
                self.pool[kind] += [name] if name not in self.pool[kind] else []
        return list(zip(kinds, names))

    def packed_result(self, opcode, t, xs):
        """In a register of its own, of which the parts are used."""
        kind, part, n = {"f32x2": ("b64", "f32", 2), "e2m1x2": ("b8", "b16", 1)}[t]
        whole, names = self.register(kind, kind), self.targets(part, n)
        self.emit("%s %s, %s" % (opcode, whole, ", ".join(xs)))
        self.emit("mov.b64 {%s}, %s" % (", ".join(names), whole) if n > 1 else "cvt.u16.u8 %s, %s" % (names[0], whole))
        if not self.guard:
            self.pool[part] += [x for x in names if x not in self.pool[part]]
        return [(part, x) for x in names]

    def operand_of(self, opcode, i, t):
        name, *mods = opcode.split(".")
        if name in ("div", "rem") and i == 1 and t[0] in "us":
            return self.unguarded(self.divisor, t)
        if (name == "copysign" and i == 0) or "xorsign" in mods:
            return self.unguarded(self.numbered, t)
        if name in ("shl", "shr", "shf") and i == (2 if name == "shf" else 1):
            n = 8 + WIDTHS[mods[-1]]
            return self.one_of(str(self.random.randrange(n)), "0x%x" % self.random.getrandbits(32), self.small(n), self.source("b32"))
        if (name in ("bfe", "bfi") and t == "u32" and i >= len(meaning(opcode)[1]) - 2) or name == "bmsk" or (name == "szext" and i == 1):
            return self.position()
        if name == "fns" and i > 0:
            n = self.one_of(self.random.randrange(32), self.random.randrange(32) - 20 * (i - 1), None)
            return self.small(32 if i == 1 else 12) if n is None else str(n)
        if name == "lop3" and i == 3:
            return hex(self.random.getrandbits(8))
        if name == "prmt" and i == 2 and self.chance(0.4):
            return hex(self.random.getrandbits(16))
        if t == "pred":
            return self.predicate_source() if name != "selp" else self.source("pred")
        if t in ("f32x2", "e2m1x2"):
            return self.unguarded(self.packed_source, t)
        if is_extended(opcode, t):
            return self.source(self.holder(t))
        if STRICT.search(opcode) and kind_of(t) in BITS:
            return self.of_bits(kind_of(t))
        return self.source(kind_of(t)) if t.endswith("x2") else self.operand(t)

    def of_bits(self, kind):
        """A register that is declared as bits."""
        names = [x for x in self.pool[kind] if self.f.registers[x] == kind]
        return self.one_of(*names) if names else self.unguarded(self.copy, kind)

    def copy(self, kind):
        name = self.register(kind, kind)
        self.emit("mov.%s %s, %s" % (kind, name, self.source(kind)))
        self.pool[kind].append(name)
        return name

    def unguarded(self, make, t):
        guard, self.guard = self.guard, None
        name = make(t)
        self.guard = guard
        return name

    def packed_source(self, t):
        if t == "f32x2":
            name = self.register("b64", "b64")
            self.emit("mov.b64 %s, {%s, %s}" % (name, self.source("f32"), self.source("f32")))
        else:
            name = self.register("b8", "b8")
            self.emit("cvt.u8.u16 %s, %s" % (name, self.source("b16")))
        return name

    def divisor(self, t):
        n = WIDTHS[t]
        name = self.fresh("b%d" % n)
        if t[0] == "u":
            self.emit("or.b%d %s, %s, 1" % (n, name, self.source("b%d" % n)))
            return name
        self.emit("and.b%d %s, %s, %d" % (n, name, self.source("b%d" % n), (1 << (n - 1)) - 1))
        self.emit("or.b%d %s, %s, 3" % (n, name, name))
        if self.chance(0.5):
            self.emit("neg.%s %s, %s" % (t, name, name))
        return name

    def numbered(self, t):
        """A float that is not NaN and whose sign is known."""
        if t.endswith("x2"):
            name = self.fresh(t)
            self.emit("mov.b32 %s, {%s, %s}" % (name, self.numbered(t[:-2]), self.numbered(t[:-2])))
            return name
        name, p, x, zero = self.fresh(t), self.fresh("pred"), self.source(t), self.fresh(t)
        self.emit("setp.num.%s %s, %s, %s" % (t, p, x, x))
        self.emit("mov.b%d %s, 0" % (WIDTHS[t], zero))
        self.emit("selp.b%d %s, %s, %s, %s" % (WIDTHS[t], name, x, zero, p))
        return name

    def small(self, below):
        """A register with a small number."""
        guard, self.guard = self.guard, None
        name = self.fresh("b32")
        self.emit("rem.u32 %s, %s, %d" % (name, self.source("b32"), below))
        self.guard = guard
        return name

    def position(self):
        return self.one_of(str(self.random.randrange(40)), self.small(36), self.source("b32"), str(self.random.randrange(256)))

    def carries(self):
        """A sum, a difference or a product of several words, without other instructions in between."""
        t = self.one_of("u32", "s32", "u64", "s64")
        kind, n = kind_of(t), self.random.randint(2, 3)
        op = self.one_of("add", "sub", "mad")
        first = [self.operand(t) for _ in range(3 * n)]
        names = [self.register(kind) for _ in range(n)]
        for i in range(n):
            word = op if i == 0 else op + "c"
            cc = ".cc" if i < n - 1 else self.one_of("", ".cc")
            xs = first[3 * i:3 * i + (3 if op == "mad" else 2)]
            part = "." + self.one_of("lo", "hi") if op == "mad" else ""
            self.emit("%s%s%s.%s %s, %s" % (word, part, cc, t, names[i], ", ".join(xs)))
        self.pool[kind] += names

    def approximation(self):
        """Stored with its bound, and not used again."""
        if self.guard or self.depth or self.in_function:
            return
        pattern = self.one_of(*ROUND_FLOATS)
        types, tame, bound = ROUND_FLOATS[pattern]
        t, opcode = self.one_of(*types.split("|")), self.one_of(*forms_of(pattern.strip()))
        d = self.fresh(t)
        xs = [self.tame(t) if tame else self.source(t)] + ([self.tame(t)] if opcode[:3] == "div" else [])
        self.emit("%s.%s %s, %s" % (opcode, t, d, ", ".join(xs)))
        self.store_row(t if t in ("f32", "f64") else "b%d" % WIDTHS[t], d, "%s %s" % (t, bound))

    def tame(self, t):
        """Between 1 and 3; NaN becomes 1."""
        name, one = self.fresh(t), self.fresh("f32")
        self.emit("add.sat.f32 %s, %s, 0f00000000" % (one, self.source("f32")))
        self.emit("fma.rn.f32 %s, %s, 0f40000000, 0f3F800000" % (one, one))
        if t == "f32":
            return one
        self.emit("cvt.f64.f32 %s, %s" % (name, one))
        return name
