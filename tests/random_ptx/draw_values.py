# SPDX-License-Identifier: MIT
"""Random moves."""

from integers import WIDTHS
from parts import BITS, FLOATS


class Values:
    def holder(self, t):
        """A kind of register that can hold a type of 8 bits or more, for cvt, ld and st."""
        if t in FLOATS:
            return t
        return self.one_of(*[k for k in BITS if WIDTHS[k] >= WIDTHS[t]])

    def move(self):
        form = self.one_of("copy", "pack", "unpack", "in", "out", "special", "halves", "space")
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
            self.do("mov.u32", "u32", (self.one_of("%tid.x", "%laneid", "%ctaid.x", "%ntid.x", "%nctaid.x", "%lanemask_lt", "%lanemask_le",
                                                   "%lanemask_ge", "%lanemask_gt", "%lanemask_eq"),))
        elif form == "space":
            if not self.in_function:
                self.do("isspacep." + self.one_of("global", "shared", "local", "shared::cta"), "pred", (self.one_of("%gena", "%ingen", "%shga", "%sp"),))
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
