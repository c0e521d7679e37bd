# SPDX-License-Identifier: MIT
"""Random statements of floats."""

from parts import FLOATS, ROUNDINGS


class Floats:
    def flags(self, *choices):
        return "".join("." + c for c in choices if c and self.chance(0.4))

    def float_arithmetic(self):
        t = self.one_of(*FLOATS)
        single, double, half = t == "f32", t == "f64", t.startswith("f16")
        ops = ["add", "sub", "mul", "fma", "min", "max", "abs", "neg"]
        ops += ["div", "rcp", "sqrt", "copysign", "testp", "mad"] if single or double else []
        ops += ["xorsign"] if single else []
        op = self.one_of(*ops)
        if op in ("add", "sub", "mul"):
            if single:
                how = "." + self.one_of(*ROUNDINGS) + self.flags("ftz", "sat")
            elif double:
                how = "." + self.one_of(*ROUNDINGS)
            elif half:
                how = self.one_of("", ".rn") + self.flags("ftz", "sat")
            else:
                how = self.one_of("", ".rn")
            self.do("%s%s.%s" % (op, how, t), t, (t, t))
        elif op == "fma":
            if single:
                how = "." + self.one_of(*ROUNDINGS) + self.flags("ftz", "sat")
            elif double:
                how = "." + self.one_of(*ROUNDINGS)
            elif half:
                how = ".rn" + self.flags("ftz") + self.one_of("", ".sat", ".relu")
            else:
                how = ".rn" + self.flags("relu")
            self.do("fma%s.%s" % (how, t), t, (t, t, t))
        elif op in ("min", "max"):
            how = self.flags("ftz" if single or half else "", "NaN" if not double else "")
            self.do("%s%s.%s" % (op, how, t), t, (t, t))
        elif op in ("abs", "neg"):
            self.do("%s%s.%s" % (op, self.flags("ftz" if single or half else ""), t), t, (t,))
        elif op in ("div", "rcp", "sqrt"):
            how = "." + self.one_of(*ROUNDINGS) + self.flags("ftz" if single else "")
            self.do("%s%s.%s" % (op, how, t), t, (t, t) if op == "div" else (t,))
        elif op == "mad":
            self.do("mad.%s%s.%s" % (self.one_of(*ROUNDINGS), self.flags("ftz", "sat") if single else "", t), t, (t, t, t))
        elif op == "xorsign":
            # The sign of a NaN is nobody's.
            self.do("%s%s.xorsign.abs.f32" % (self.one_of("min", "max"), self.flags("ftz", "NaN")), t, (self.numbered(t), self.numbered(t)))
        elif op == "testp":
            which = self.one_of("finite", "infinite", "number", "notanumber", "normal", "subnormal")
            self.do("testp.%s.%s" % (which, t), "pred", (t,))
        else:
            self.do("copysign." + t, t, (self.numbered(t), t))

    def numbered(self, t):
        """A float that is not NaN and whose sign is known."""
        guard, self.guard = self.guard, None
        name = self.fresh(t)
        zero = "0f00000000" if t == "f32" else "0d0000000000000000"
        p = self.fresh("pred")
        x = self.source(t)
        self.emit("setp.num.%s %s, %s, %s" % (t, p, x, x))
        self.emit("selp.%s %s, %s, %s, %s" % (t, name, x, zero, p))
        self.guard = guard
        return name

    def approximation(self):
        """Stored with its bound, and not used again."""
        if self.guard or self.depth or self.in_function:
            return
        t = self.one_of("f32", "f32", "f32", "f16", "f64")
        d = self.fresh(t)
        if t == "f64":
            x = self.tame(t)
            op = self.one_of("rcp.approx.ftz.f64", "rsqrt.approx.f64")
            self.emit("%s %s, %s" % (op, d, x))
            bound = "rel 2e-6"
        elif t == "f16":
            op = self.one_of("ex2.approx.f16", "tanh.approx.f16")
            self.emit("%s %s, %s" % (op, d, self.source("f16")))
            bound = "rel 4e-3 abs 6e-8"
        else:
            ftz = self.one_of("", ".ftz")
            op = self.one_of("div.full", "div.approx", "rcp.approx", "sqrt.approx", "rsqrt.approx", "sin.approx",
                             "cos.approx", "lg2.approx", "ex2.approx", "tanh.approx")
            near = op in ("sin.approx", "cos.approx", "div.approx", "lg2.approx")
            x = self.tame(t) if near else self.source("f32")
            y = ", " + self.tame(t) if op.startswith("div") else ""
            if op == "tanh.approx":
                ftz = ""
            self.emit("%s%s.f32 %s, %s%s" % (op, ftz, d, x, y))
            bound = {"sin.approx": "rel 1e-6 abs 1e-6", "cos.approx": "rel 1e-6 abs 1e-6",
                     "lg2.approx": "rel 3e-7 abs 3e-7", "tanh.approx": "rel 5e-4"}.get(op, "rel 3e-7 abs 2e-38")
        self.store_row("b16" if t == "f16" else t, d, "%s %s" % (t, bound))

    def tame(self, t):
        """Between 1 and 3; NaN becomes 1."""
        name, one = self.fresh(t), self.fresh("f32")
        source = self.source("f32")
        self.emit("add.sat.f32 %s, %s, 0f00000000" % (one, source))
        self.emit("fma.rn.f32 %s, %s, 0f40000000, 0f3F800000" % (one, one))
        if t == "f32":
            return one
        self.emit("cvt.f64.f32 %s, %s" % (name, one))
        return name
