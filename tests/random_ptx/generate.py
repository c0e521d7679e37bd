# SPDX-License-Identifier: MIT
"""Random kernels with a defined result: every choice follows from the seed."""

import re
from collections import Counter

from draw_block import Block
from draw_control import Control
from draw_forms import Forms
from draw_lanes import Lanes
from draw_memory import Memory
from draw_values import Values
from integers import WIDTHS
from parts import BITS, CELL, FLOATS, INPUT_CELLS, Parts


WORD = re.compile(r"%\w+|\bloc\b")


class Generator(Forms, Values, Memory, Block, Control, Lanes, Parts):
    def simple(self):
        weights = (("integers", 14), ("products", 4), ("video", 4), ("logic", 14), ("floats", 16), ("comparisons", 12), ("conversions", 12),
                   ("small", 4), ("newer", 4 if self.features.get("newer") else 0), (self.move, 8), (self.load_input, 6),
                   (self.load_constant, 2), (self.load_parameter, 2), (self.store, 4), (self.local_memory, 3))
        what = self.random.choices([w[0] for w in weights], [w[1] for w in weights])[0]
        self.form(what) if isinstance(what, str) else what()

    def statement(self):
        self.maybe_new_block(0.1)
        compound = ((self.carries, 3), (self.approximation, 3), (self.atomics, 3), (self.guarded, 5),
                    (self.shared_phase, 3), (self.over_block, 3), (self.over_lanes, 6 if self.features.get("lanes") else 0),
                    (self.store_predicate, 1), (self.walk, 4), (self.apart, 3))
        if self.depth < 3 and self.features.get("divergence"):
            compound += ((self.branch, 4), (self.loop, 3), (self.switch, 1), (self.call, 3), (self.leave_early, 0.4),
                         (self.divided, 3 if self.features.get("lanes") else 0), (self.guarded_members, 2 if self.features.get("lanes") else 0))
        if self.chance(0.75):
            self.simple()
        else:
            self.random.choices([w[0] for w in compound], [w[1] for w in compound])[0]()

    def statements(self, n):
        for _ in range(n):
            self.statement()

    def prologue(self):
        k = self.kernel
        for name, declared in (("%in0", "u64"), ("%in", "u64"), ("%ingen", "u64"), ("%outa", "u64"), ("%outb", "u64"),
                               ("%gena", "u64"), ("%genb", "u64"), ("%acc", "u64"), ("%sp", "u64"), ("%spl", "u64"),
                               ("%tid0", "u32"), ("%gid", "u32"), ("%rev", "u32"), ("%cell", "u32"), ("%lane0", "u32"),
                               ("%sha", "u64"), ("%shb", "u64"), ("%shga", "u64"), ("%shgb", "u64"), ("%shna", "u32"),
                               ("%shnb", "u32"), ("%other", "u32"), ("%out0", "u64"), ("%tile", "u32"), ("%tidt", "u32"), ("%othert", "u32"),
                               *((x, "u64") for names in self.PACKED_OUT + self.PACKED_IN for x in names.values()),
                               *((x + n, "u32" if n else "u64") for names in self.PACKED_SHARED for w in names.values() for x in (w, w.replace("sh", "sho"))
                                 for n in ("", "n")),
                               ("%wraps", "pred"), ("%sh0", "u64"), ("%shg0", "u64")):
            k.registers[name] = declared
        turn, start = self.random.randrange(k.block), self.random.randrange(INPUT_CELLS)
        for text in (
                "ld.param.u64 %%in0, [%s]" % k.values[0][0], "ld.param.u64 %%outa, [%s]" % k.values[1][0],
                "cvta.to.global.u64 %in0, %in0", "cvta.to.global.u64 %outa, %outa", "mov.u64 %out0, %outa",
                "mov.u32 %tid0, %tid.x", "mov.u32 %gid, %ctaid.x", "mov.u32 %rev, %ntid.x", "mov.u32 %lane0, %laneid",
                "mad.lo.u32 %gid, %gid, %rev, %tid0",
                "add.u32 %%cell, %%gid, %d" % start, "and.b32 %%cell, %%cell, %d" % (INPUT_CELLS - 1),
                "mad.wide.u32 %in, %cell, 64, %in0", "cvta.global.u64 %ingen, %in",
                "add.u64 %acc, %outa, ACC",
                "sub.u32 %%rev, %d, %%gid" % (self.threads - 1),
                "mad.wide.u32 %%outb, %%rev, %d, %%outa" % CELL, "mad.wide.u32 %%outa, %%gid, %d, %%outa" % CELL,
                "cvta.global.u64 %gena, %outa", "cvta.global.u64 %genb, %outb",
                "add.u32 %%other, %%tid0, %d" % turn, "setp.ge.u32 %%wraps, %%other, %d" % k.block,
                "@%%wraps sub.u32 %%other, %%other, %d" % k.block,
                "mov.u64 %sh0, sh", "cvta.shared.u64 %shg0, %sh0",
                "mad.wide.u32 %sha, %tid0, 16, %sh0", "mad.wide.u32 %shb, %other, 16, %sh0",
                "mad.wide.u32 %shga, %tid0, 16, %shg0", "mad.wide.u32 %shgb, %other, 16, %shg0",
                "cvt.u32.u64 %shna, %sha", "cvt.u32.u64 %shnb, %shb",
                "mov.u64 %spl, loc", "cvta.local.u64 %sp, %spl"):
            self.emit(text)
        self.packed_addresses()
        for kind in ("b64", "b32", "b16", "f64", "f32", "f16", "bf16", "f16x2", "bf16x2"):
            for _ in range(self.random.randint(2, 3)):
                name = self.register(kind)
                self.emit("ld.global.b%d %s, [%%in+%d]" % (WIDTHS[kind], name, 8 * self.column(kind)))
                self.pool[kind].append(name)
        for i in range(8):
            self.emit("st.local.b64 [loc+%d], %s" % (8 * i, self.source("b64")))
        for _ in range(2):
            name = self.register("pred")
            self.emit("setp.lt.s32 %s, %s, %s" % (name, self.source("b32"), self.source("b32")))
            self.pool["pred"].append(name)

    def packed_addresses(self):
        """Those of elements side by side; in a tile 16 are, and the next 24 elements further on."""
        for index, tile in (("%gid", "%tile"), ("%tid0", "%tidt"), ("%other", "%othert")):
            self.emit("shr.u32 %s, %s, 4" % (tile, index))
            self.emit("mad.lo.u32 %s, %s, 8, %s" % (tile, tile, index))
        for packed, base, indexes in ((self.PACKED_OUT, "%out0", ("%gid", "%tile")), (self.PACKED_IN, "%in0", ("%gid", "%tile")),
                                      (self.PACKED_SHARED, "%sh0", ("%tid0", "%tidt"))):
            for names, index in zip(packed, indexes):
                for size, name in names.items():
                    self.emit("mad.wide.u32 %s, %s, %d, %s" % (name, index, size, base))
                    if base == "%sh0":
                        other = name.replace("sh", "sho")
                        self.emit("mad.wide.u32 %s, %s, %d, %s" % (other, index.replace("tid0", "other").replace("tidt", "othert"), size, base))
                        self.emit("cvt.u32.u64 %sn, %s" % (name, name))
                        self.emit("cvt.u32.u64 %sn, %s" % (other, other))

    def without_unused(self, lines, n):
        """Drops those of the first n lines, which prepare registers, whose result is not used."""
        words = Counter(word for line in lines[n:] for word in WORD.findall(line))
        kept = lines[n:]
        for line in reversed(lines[:n]):
            found = WORD.findall(line)
            result = found[line.startswith("@")]
            if words[result] or (result == "loc" and (words["%spl"] or words["%sp"])):
                words.update(found)
                kept.insert(0, line)
        return kept

    def epilogue(self):
        for kind in (*BITS, *FLOATS):
            for x in self.random.sample(self.pool[kind], min(2, len(self.pool[kind]))):
                self.store_row("b%d" % WIDTHS[kind], x, self.comment_of(kind))
        self.store_predicate()
        if self.chance(0.3) and self.features.get("divergence"):
            self.f.lines.append("@%s %s;" % (self.decide(), self.one_of("exit", "ret")))
            self.store()
            self.store()
        self.emit("ret")

    def generate(self, base, size, forms=None):
        """The kernel; its rows of output begin `base` bytes after the output buffer's start. It has so many statements, or these forms."""
        k = self.kernel
        k.grid, k.block = (1, 64) if forms else (self.one_of(1, 1, 2), self.one_of(32, 32, 32, 64, 33, 20, 40))
        self.threads = k.grid * k.block
        k.shared = 32 * k.block + 40  # a cell of a thread, one for its atomics, an mbarrier, and four places that all share
        k.values = [(k.name + "_in", "u64", None), (k.name + "_out", "u64", base)]
        for i, t in enumerate(("u8", "s16", "u32", "s64", "f32", "f64", "b16")):
            if self.chance(0.4):
                k.values.append(("%s_p%d" % (k.name, i), t, self.random.getrandbits(WIDTHS[t]) if t[0] != "f" else
                                 {"f32": 0x40490FDB, "f64": 0x4005BF0A8B145769}[t]))
        k.values.append((k.name + "_struct", 24, self.random.randbytes(24)))
        if self.features.get("divergence"):
            for i in range(self.random.choice((0, 0, 1, 2))):
                self.make_function(i)
        self.prologue()
        prepares = len(k.lines)
        if forms:
            self.each_form(forms)
        else:
            self.statements(size)
        self.epilogue()
        k.lines = self.without_unused(k.lines, prepares)
        accumulators = self.rows * CELL * self.threads
        k.lines = [x.replace(", ACC;", ", %d;" % accumulators) for x in k.lines]
        k.output_bytes = accumulators + 8 * self.accumulators
        return k
