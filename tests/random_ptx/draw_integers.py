# SPDX-License-Identifier: MIT
"""Random statements of integers and bits."""

from integers import WIDTHS
from parts import INTEGERS, kind_of


class Integers:
    def integer_arithmetic(self):
        t = self.one_of(*INTEGERS)
        n = WIDTHS[t]
        op = self.one_of("add", "sub", "mul", "mad", "sad", "min", "max", "abs", "neg", "div", "rem", "sat")
        if op == "sat":
            op = self.one_of("add.sat.s32", "sub.sat.s32", "mad.hi.sat.s32", "mad24.hi.sat.s32")
            self.do(op, "s32", ("s32",) * (3 if op[0] == "m" else 2))
        elif op in ("mul", "mad"):
            part = self.one_of("lo", "hi", "wide")
            if part == "wide":
                t = self.one_of("u16", "s16", "u32", "s32")
            d = t if part != "wide" else t[0] + str(2 * WIDTHS[t])
            self.do("%s.%s.%s" % (op, part, t), d, (t, t) if op == "mul" else (t, t, d))
        elif op in ("abs", "neg"):
            t = self.one_of("s16", "s32", "s64")
            self.do("%s.%s" % (op, t), t, (t,))
        elif op in ("div", "rem"):
            divisor = self.fresh("b%d" % n)
            guard, self.guard = self.guard, None
            if t[0] == "u":
                self.emit("or.b%d %s, %s, 1" % (n, divisor, self.source("b%d" % n)))
            else:
                self.emit("and.b%d %s, %s, %d" % (n, divisor, self.source("b%d" % n), (1 << (n - 1)) - 1))
                self.emit("or.b%d %s, %s, 3" % (n, divisor, divisor))
                if self.chance(0.5):
                    self.emit("neg.%s %s, %s" % (t, divisor, divisor))
            self.guard = guard
            self.do("%s.%s" % (op, t), t, (t, divisor))
        elif op == "sad":
            self.do("sad." + t, t, (t, t, t))
        else:
            relu = ".relu" if op in ("min", "max") and t == "s32" and self.chance(0.3) else ""
            self.do("%s%s.%s" % (op, relu, t), t, (t, t))

    def small_products(self):
        op = self.one_of("mul24", "mad24", "dp4a", "dp2a", "halves", "pack")
        if op == "halves":
            t = self.one_of("u16x2", "s16x2")
            op = self.one_of("add", "min", "max")
            relu = ".relu" if op != "add" and t == "s16x2" and self.chance(0.4) else ""
            self.do("%s%s.%s" % (op, relu, t), "b32", ("b32", "b32"))
            return
        if op == "pack":
            t = self.one_of("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2")
            third = () if t[1:] == "16" else ("b32",)
            self.do("cvt.pack.sat.%s.s32%s" % (t, ".b32" if third else ""), "b32", ("s32", "s32") + third)
            return
        if op in ("mul24", "mad24"):
            t, part = self.one_of("u32", "s32"), self.one_of("lo", "hi")
            self.do("%s.%s.%s" % (op, part, t), t, (t,) * (2 if op == "mul24" else 3))
            return
        ta, tb = self.one_of("u32", "s32"), self.one_of("u32", "s32")
        d = "s32" if "s32" in (ta, tb) else "u32"
        half = "." + self.one_of("lo", "hi") if op == "dp2a" else ""
        self.do("%s%s.%s.%s" % (op, half, ta, tb), d, (ta, tb, d))

    def bits(self):
        n = self.one_of(16, 32, 64)
        b = "b%d" % n
        wide = self.one_of("b32", "b64")
        op = self.one_of("and", "or", "xor", "not", "cnot", "shl", "shr", "popc", "clz", "brev", "bfind", "bfe",
                         "bfi", "prmt", "lop3", "shf", "bmsk", "fns", "szext", "pred")
        if op in ("and", "or", "xor"):
            self.do("%s.%s" % (op, b), b, (b, self.one_of(b, "u%d" % n)))
        elif op in ("not", "cnot"):
            self.do("%s.%s" % (op, b), b, (b,))
        elif op in ("shl", "shr"):
            t = b if op == "shl" else self.one_of("b", "u", "s") + str(n)
            by = self.one_of(str(self.random.randrange(n + 8)), "b32", self.small(n + 4))
            self.do("%s.%s" % (op, t), t, (t, by))
        elif op in ("popc", "clz"):
            self.do("%s.%s" % (op, wide), "u32", (wide,))
        elif op == "brev":
            self.do("brev." + wide, wide, (wide,))
        elif op == "bfind":
            t = self.one_of("u32", "s32", "u64", "s64")
            self.do("bfind.%s%s" % (self.one_of("", "shiftamt."), t), "u32", (t,))
        elif op == "bfe":
            t = self.one_of("u32", "s32", "u64", "s64")
            self.do("bfe." + t, t, (t, self.position(), self.position()))
        elif op == "bfi":
            self.do("bfi." + wide, wide, (wide, wide, self.position(), self.position()))
        elif op == "prmt":
            mode = self.one_of("", "", "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")
            self.do("prmt.b32" + mode, "b32", ("b32", "b32", self.one_of("b32", hex(self.random.getrandbits(16)))))
        elif op == "lop3":
            self.do("lop3.b32", "b32", ("b32", "b32", "b32", hex(self.random.getrandbits(8))))
        elif op == "shf":
            opcode = "shf.%s.%s.b32" % (self.one_of("l", "r"), self.one_of("wrap", "clamp"))
            self.do(opcode, "b32", ("b32", "b32", self.one_of("u32", str(self.random.randrange(40)), self.small(40))))
        elif op == "bmsk":
            self.do("bmsk.%s.b32" % self.one_of("clamp", "wrap"), "b32", (self.position(), self.position()))
        elif op == "fns":
            at = self.one_of(str(self.random.randrange(32)), self.small(32))
            self.do("fns.b32", "b32", ("b32", at, self.one_of(str(self.random.randrange(-20, 20)), self.small(12))))
        elif op == "szext":
            t = self.one_of("u32", "s32")
            self.do("szext.%s.%s" % (self.one_of("clamp", "wrap"), t), t, (t, self.position()))
        else:
            op = self.one_of("and", "or", "xor", "not", "mov")
            xs = ("pred", "pred") if op in ("and", "or", "xor") else ("pred",)
            self.do(op + ".pred", "pred", xs)

    def small(self, below):
        """A register with a small number."""
        guard, self.guard = self.guard, None
        name = self.fresh("b32")
        self.emit("rem.u32 %s, %s, %d" % (name, self.source("b32"), below))
        self.guard = guard
        return name

    def position(self):
        return self.one_of(str(self.random.randrange(40)), self.small(36), "b32", str(self.random.randrange(256)))

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
