# SPDX-License-Identifier: MIT
"""The parts of random kernels: declarations, registers by their contents, operands, one instruction.

Registers are kept by what they hold. Floats never become bits without their NaNs made canonical, since
the payload of a NaN is nobody's; approximate results are stored and not used again.
"""

import random
import struct

from integers import WIDTHS

# The types that a register of each kind may be declared with.
DECLARED = {"pred": ("pred",), "b16": ("b16", "u16", "s16"), "b32": ("b32", "u32", "s32"),
            "b64": ("b64", "u64", "s64"), "f16": ("b16", "f16"), "bf16": ("b16",),
            "f16x2": ("b32",), "bf16x2": ("b32",), "f32": ("f32", "b32"), "f64": ("f64", "b64")}
PREFIX = {"pred": "p", "b16": "rs", "b32": "r", "b64": "rd", "f16": "h", "bf16": "bh", "f16x2": "hh",
          "bf16x2": "bb", "f32": "f", "f64": "fd", "b8": "rb", "b128": "q"}
BITS = ("b16", "b32", "b64")
FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
CELL = 16  # bytes that a thread has in each row of the output
INPUT_CELLS = 128  # of 64 bytes, one for each kind of content
CONSTANT_BYTES = 256


def kind_of(t):
    return t if t in DECLARED else "b%d" % WIDTHS[t]



class Function:
    """A kernel or a function: its declarations, and its instructions as text."""

    def __init__(self, name, first_local=0):
        self.name, self.lines, self.registers = name, [], {}
        self.parameters, self.returns = {}, {}
        self.locals, self.sizes, self.local = {}, {}, first_local
        self.targets, self.functions, self.shared, self.first_line = {}, {}, 0, 0
        self.grid, self.block, self.values, self.output_bytes = 1, 32, [], 0
        self.declared_locals = []
        self.falls_through = False  # then lanes that took different ways may be at one place in turn

    def line_of(self, i):
        return self.first_line + i

    def add_local(self, name, size, alignment):
        self.local = -(-self.local // 16) * 16
        self.locals[name], self.sizes[name] = self.local, size
        self.local += size


class Parts:
    """The common parts of all statements."""

    def __init__(self, seed, name, features):
        self.random = random.Random(seed)
        self.features = features
        self.kernel = self.f = Function(name)
        self.kernel.locals["loc"] = 0
        self.kernel.local = 64
        self.kernel.sizes["loc"] = 64
        self.pool = {kind: [] for kind in DECLARED}
        self.count, self.labels, self.rows, self.accumulators = 0, 0, 0, 0
        self.guard = None
        self.depth = 0
        self.in_function = False
        self.together = None  # the mask of lanes that work together in a branch
        self.left = None  # after an exit: the mask of the lanes that stay, or "some" that nobody knows

    # Small parts ------------------------------------------------------------------------------------

    def chance(self, p):
        return self.random.random() < p

    def one_of(self, *xs):
        return self.random.choice(xs)

    def emit(self, text, comment=None):
        # Assemblers (ptxas 13.0) compute a set or a testp whatever their guard is, so that a GPU could not be compared.
        guard = "@%s " % self.guard if self.guard and not text.startswith(("set.", "testp.")) else ""
        self.f.lines.append("%s%s;%s" % (guard, text, " // " + comment if comment else ""))

    def label(self):
        self.labels += 1
        return "L%d" % self.labels

    def register(self, kind, declared=None):
        self.count += 1
        name = "%%%s%d" % (PREFIX[kind], self.count)
        self.f.registers[name] = declared or self.one_of(*DECLARED[kind])
        return name

    def fresh(self, kind):
        """A register that nothing else uses; it may be written under a guard, and read after it."""
        return self.register(kind)

    def target(self, kind):
        """The destination of a result: an old register, or a new one of the pool."""
        old = self.pool[kind]
        if old and (self.guard or len(old) > 7 or self.chance(0.35)):
            return self.random.choice(old)
        name = self.register(kind)
        self.pending = (kind, name)
        return name

    def settle(self):
        """Adds the written register to the pool."""
        if self.pending:
            self.pool[self.pending[0]].append(self.pending[1])
        self.pending = None

    pending = None

    def targets(self, kind, n):
        """Several different ones."""
        old = self.pool[kind]
        names = self.random.sample(old, min(n, len(old))) if self.guard or self.chance(0.3) else []
        return names + [self.register(kind) for _ in range(n - len(names))]

    def source(self, kind):
        return self.random.choice(self.pool[kind])

    def immediate(self, t):
        n = WIDTHS[t]
        x = self.one_of(0, 1, 2, 7, 255, (1 << n) - 1, 1 << (n - 1), (1 << (n - 1)) - 1,
                        self.random.getrandbits(n), self.random.getrandbits(8))
        if t[0] == "s" and x >> (n - 1):
            x -= 1 << n
        return str(x) if x < 0 or self.chance(0.5) else hex(x)

    def operand(self, t):
        """A register, or sometimes a constant, of an instruction's type."""
        if t in ("f32", "f64") and self.chance(0.1):
            x = self.one_of(0.0, -0.0, 1.0, -1.5, 3.0, 1e-3, 65504.0, 1e30)
            if t == "f32":
                return "0f%08X" % struct.unpack("<I", struct.pack("<f", x))
            return "0d%016X" % struct.unpack("<Q", struct.pack("<d", x))
        if t[0] in "us" and t != "s8" and self.chance(0.15):
            return self.immediate(t)
        return self.source(kind_of(t))

    def predicate_source(self):
        return self.one_of("", "!") + self.source("pred")

    def do(self, opcode, d, sources):
        """One instruction by its types; a type in `sources` is drawn, anything else is used as it is."""
        xs = [self.operand(s) if s in WIDTHS else s for s in sources]
        to = self.target(kind_of(d))
        self.emit("%s %s, %s" % (opcode, to, ", ".join(xs)))
        self.settle()
