# SPDX-License-Identifier: MIT
"""Random comparisons, conversions and moves."""

from integers import WIDTHS
from parts import BITS, FLOATS, INTEGERS, ROUNDINGS, contains, kind_of


class Values:
    def comparison_of(self):
        kind = self.one_of("b", "u", "s", "f", "f")
        if kind == "f":
            t = self.one_of("f16", "bf16", "f32", "f64")
            name = self.one_of("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
            return name, t, self.flags("ftz" if t in ("f16", "f32") else "")
        t = kind + str(self.one_of(16, 32, 64))
        names = {"b": ("eq", "ne"), "s": ("eq", "ne", "lt", "le", "gt", "ge"),
                 "u": ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs")}[kind]
        return self.one_of(*names), t, ""

    def compare(self):
        name, t, ftz = self.comparison_of()
        form = self.one_of("setp", "setp", "setp2", "set", "selp", "slct")
        how = self.one_of("", "", ".and", ".or", ".xor")
        xs = [self.operand(t), self.operand(t)] + ([self.predicate_source()] if how else [])
        if form == "setp":
            self.do("setp.%s%s%s.%s" % (name, how, ftz, t), "pred", xs)
        elif form == "setp2":
            if t in ("f16", "bf16"):
                t += "x2"
                name, ftz = self.one_of("eq", "lt", "neu", "geu", "nan"), ""
                xs[:2] = [self.source(t), self.source(t)]
            one, two = self.targets("pred", 2)
            self.emit("setp.%s%s%s.%s %s|%s, %s" % (name, how, ftz, t, one, two, ", ".join(xs)))
            if not self.guard:
                self.pool["pred"] += [x for x in (one, two) if x not in self.pool["pred"]]
        elif form == "set":
            if t in ("f16", "bf16") and self.chance(0.5):
                t += "x2"
                xs[:2] = [self.source(t), self.source(t)]
                d = self.one_of(t, "u32", "s32")
            else:
                d = self.one_of("u32", "s32", *((t, "u16") if t in ("f16", "bf16") else ("f32",)))
            self.do("set.%s%s%s.%s.%s" % (name, how, ftz, d, t), d, xs)
        elif form == "selp":
            t = self.one_of("b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64")
            self.do("selp." + t, t, (t, t, "pred"))
        else:
            t = self.one_of("b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64")
            self.do("slct.%s.%s" % (t, "s32"), t, (t, t, "s32"))

    def select_by_float(self):
        t = self.one_of("b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64")
        self.do("slct%s.%s.f32" % (self.flags("ftz"), t), t, (t, t, "f32"))


    def holder(self, t):
        """A kind of register that can hold a type of 8 bits or more, for cvt, ld and st."""
        if t in FLOATS:
            return t
        return self.one_of(*[k for k in BITS if WIDTHS[k] >= WIDTHS[t]])

    def conversion(self):
        whole = ("u8", "s8") + INTEGERS
        form = self.one_of("ii", "if", "fi", "ff", "pair")
        if form == "ii":
            d, s = self.one_of(*whole), self.one_of(*whole)
            sat = "" if contains(d, s) else self.one_of("", ".sat")
            self.convert("cvt%s.%s.%s" % (sat, d, s), d, s)
        elif form == "if":
            d, s = self.one_of("f16", "f32", "f64", "bf16"), self.one_of(*whole)
            rounding = "." + (self.one_of(*ROUNDINGS) if d in ("f32", "f64") else "rn")
            if d == "bf16":
                s = self.one_of(*INTEGERS)
                self.do("cvt%s.bf16.%s" % (rounding, s), d, (kind_of(s),))
                return
            self.convert("cvt%s%s.%s.%s" % (rounding, self.flags("sat") if d != "bf16" else "", d, s), d, s)
        elif form == "fi":
            d, s = self.one_of(*whole), self.one_of("f16", "f32", "f64", "bf16")
            flags = self.flags("ftz" if s == "f32" else "", "sat")
            if s == "bf16":
                flags, d = "", self.one_of(*INTEGERS)
                self.do("cvt.%s.%s.bf16" % (self.one_of("rni", "rzi", "rmi", "rpi"), d), d, ("bf16",))
                return
            self.convert("cvt.%s%s.%s.%s" % (self.one_of("rni", "rzi", "rmi", "rpi"), flags, d, s), d, s)
        elif form == "pair":
            d = self.one_of("f16x2", "bf16x2")
            how = self.one_of("rn", "rz") + self.flags("relu")
            self.do("cvt.%s.%s.f32" % (how, d), d, ("f32", "f32"))
        else:
            self.float_to_float()

    def float_to_float(self):
        opcode, d, s = self.one_of(
            ("cvt.%s%s.f32.f64" % (self.one_of(*ROUNDINGS), self.flags("ftz", "sat")), "f32", "f64"),
            ("cvt%s.f64.f32" % self.flags("ftz"), "f64", "f32"),
            ("cvt.%s%s.f16.f32" % (self.one_of("rn", "rz"), self.flags("ftz", "sat")), "f16", "f32"),
            ("cvt%s.f32.f16" % self.flags("ftz", "sat"), "f32", "f16"),
            ("cvt.rn.f16.f64", "f16", "f64"), ("cvt.f64.f16", "f64", "f16"), ("cvt.f32.bf16", "f32", "bf16"),
            ("cvt.%s%s.bf16.f32" % (self.one_of("rn", "rz"), self.flags("relu")), "bf16", "f32"),
            ("cvt.%s%s.f32.f32" % (self.one_of("rni", "rzi", "rmi", "rpi"), self.flags("ftz", "sat")), "f32", "f32"),
            ("cvt.%s%s.f64.f64" % (self.one_of("rni", "rzi", "rmi", "rpi"), self.flags("sat")), "f64", "f64"),
            ("cvt.%s.f16.f16" % self.one_of("rni", "rzi", "rmi", "rpi"), "f16", "f16"),
            ("cvt.sat%s.f32.f32" % self.flags("ftz"), "f32", "f32"))
        self.do(opcode, d, (s,))

    def convert(self, opcode, d, s):
        source = self.source(self.holder(s))
        to = self.target(self.holder(d))
        self.emit("%s %s, %s" % (opcode, to, source))
        self.settle()

    def move(self):
        form = self.one_of("copy", "pack", "unpack", "in", "out", "special", "halves")
        if form == "copy":
            t = self.one_of("b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64", "pred")
            self.do("mov." + t, t, (t,))
        elif form == "pack":
            n, part = self.one_of(("b32", "b16"), ("b64", "b32"), ("b64", "b16"))
            xs = ", ".join(self.source(part) for _ in range(WIDTHS[n] // WIDTHS[part]))
            self.do("mov." + n, n, ("{%s}" % xs,))
        elif form == "unpack":
            n, part = self.one_of(("b32", "b16"), ("b64", "b32"), ("b64", "b16"))
            self.unpack(n, part, n)
        elif form == "halves":
            pair = self.one_of("f16x2", "bf16x2")
            if self.chance(0.5):
                self.unpack("b32", pair[:-2], pair)
            else:
                self.do("mov.b32", pair, ("{%s, %s}" % (self.source(pair[:-2]), self.source(pair[:-2])),))
        elif form == "special":
            self.do("mov.u32", "u32", (self.one_of("%tid.x", "%laneid", "%ctaid.x", "%ntid.x", "%lanemask_lt",
                                                   "%lanemask_ge", "%lanemask_eq", "%nctaid.x"),))
        elif form == "in":
            t = self.one_of("f16", "f32", "f64", "f16x2", "bf16")
            self.do("mov.b%d" % WIDTHS[t], t, ("b%d" % WIDTHS[t],))
        else:
            self.float_to_bits()

    def unpack(self, n, part, source):
        x, names = self.source(source), self.targets(part, WIDTHS[n] // WIDTHS[part])
        if self.chance(0.1):
            names[0] = "_"
        self.emit("mov.%s {%s}, %s" % (n, ", ".join(names), x))
        if not self.guard:
            self.pool[part] += [x for x in names if x not in self.pool[part] and x != "_"]

    def float_to_bits(self):
        guard, self.guard = self.guard, None
        t = self.one_of("f16", "f32", "f64")
        n = WIDTHS[t]
        p, x, bits = self.fresh("pred"), self.source(t), self.fresh("b%d" % n)
        self.emit("setp.nan.%s %s, %s, %s" % (t, p, x, x))
        self.emit("mov.b%d %s, %s" % (n, bits, x))
        self.emit("@%s mov.b%d %s, 0x%x" % (p, n, bits, {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FF8 << 48}[n]))
        self.guard = guard
        self.pool["b%d" % n].append(bits)
