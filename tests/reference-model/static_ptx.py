# SPDX-License-Identifier: MIT
"""gtrace-ptx --static (gtrace-ptx(1), Static analysis): where it says that an address is exact, the degrees must be those of a run.

Each kernel computes indices from those of threads and blocks, constants and parameters, by drawn integer instructions, some in a loop, and
accesses an array there. gcoalesce --degree has what the run did."""

import stream
from stream import some
from tools import put, through

WORDS = 1 << 16  # of the array
TYPES = {1: "u8", 2: "u16", 4: "f32", 8: "f64", 16: "v4.f32"}
REGISTERS = {1: "%h1", 2: "%h1", 4: "%f1", 8: "%d1", 16: "{%f1, %f2, %f3, %f4}"}
SPECIAL = ["%tid.x", "%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.x", "%laneid"]


class Code:
    """The instructions of a kernel, and for each register the most that it holds."""

    def __init__(self):
        self.lines, self.most = [], {}

    def put(self, text, most):
        name = f"%r{len(self.most) + 1}"
        self.lines.append(text.format(name))
        self.most[name] = most
        return name


def special_most(name, grid, block):
    axis = "xyz".find(name[-1])
    if name == "%laneid":
        return 31
    return {"%tid": block[axis] - 1, "%ctaid": grid[axis] - 1, "%ntid": block[axis], "%nctaid": grid[axis]}[name.split(".")[0]]


def draw_value(random, code, known):
    """One more register, from those that there are; products and sums stay below 2^24."""
    a, b = random.choice(known), random.choice(known)
    most_a, most_b = code.most[a], code.most[b]
    constant = random.choice([1, 2, 3, 4, 7, 8, 12, 32, 33, 64])
    mask = random.choice([1, 3, 7, 15, 31, 63, 255, 1023, 4095])
    what = random.choice(["add", "add", "addc", "mulc", "mul", "mad", "shl", "shr", "and", "or", "xor", "min", "max", "rem", "div", "selp", "bfe"])
    if what == "mul" and most_a * most_b >= 1 << 24 or what in ("mulc", "shl", "mad") and most_a * 64 + most_b >= 1 << 24:
        what = "and"
    if what == "add":
        return code.put(f"add.s32 {{}}, {a}, {b};", most_a + most_b)
    if what == "addc":
        return code.put(f"add.s32 {{}}, {a}, {constant};", most_a + constant)
    if what == "mulc":
        return code.put(f"mul.lo.s32 {{}}, {a}, {constant};", most_a * constant)
    if what == "mul":
        return code.put(f"mul.lo.s32 {{}}, {a}, {b};", most_a * most_b)
    if what == "mad":
        return code.put(f"mad.lo.s32 {{}}, {a}, {constant}, {b};", most_a * constant + most_b)
    if what == "shl":
        return code.put(f"shl.b32 {{}}, {a}, {constant.bit_length() - 1};", most_a << constant.bit_length() - 1)
    if what == "shr":
        return code.put(f"shr.u32 {{}}, {a}, {random.randrange(5)};", most_a)
    if what == "and":
        return code.put(f"and.b32 {{}}, {a}, {mask};", min(most_a, mask))
    if what in ("or", "xor"):
        return code.put(f"{what}.b32 {{}}, {a}, {random.choice([b, str(constant)])};", max(most_a, most_b, constant) * 2 + 1)
    if what in ("min", "max"):
        return code.put(f"{what}.u32 {{}}, {a}, {random.choice([b, str(constant)])};", max(most_a, most_b, constant))
    if what in ("rem", "div"):
        return code.put(f"{what}.u32 {{}}, {a}, {constant};", most_a)
    if what == "bfe":
        return code.put(f"bfe.u32 {{}}, {a}, {random.randrange(4)}, {random.randrange(1, 9)};", most_a)
    code.lines.append(f"setp.lt.u32 %p1, {a}, {constant};")
    return code.put(f"selp.b32 {{}}, {a}, {b}, %p1;", max(most_a, most_b))


def draw_access(random, code, index, size):
    """An access at an index of elements, within the array."""
    masked = code.put(f"and.b32 {{}}, {index}, {WORDS * 4 // size - 1};", WORDS)
    code.lines.append(random.choice([f"mul.wide.u32 %rd2, {masked}, {size};",
                                     f"cvt.u64.u32 %rd3, {masked};\n\tshl.b64 %rd2, %rd3, {size.bit_length() - 1};"]))
    code.lines.append("add.s64 %rd4, %rd1, %rd2;")
    offset = random.choice([0, 0, size, 128])
    kind = TYPES[size]
    if some(random, 0.6):
        code.lines.append(f"ld.global.{kind} {REGISTERS[size]}, [%rd4+{offset}];")
    elif size in (4, 8) and some(random, 0.3):
        code.lines.append(f"red.global.add.{kind} [%rd4+{offset}], {REGISTERS[size]};")
    else:
        code.lines.append(f"st.global.{kind} [%rd4+{offset}], {REGISTERS[size]};")


def draw(random):
    grid = [random.randrange(1, 5), random.randrange(1, 4), 1]
    block = random.choice([[32, 1, 1], [64, 1, 1], [16, 4, 1], [8, 8, 2], [40, 1, 1], [5, 3, 1], [128, 1, 1], [33, 2, 1], [1, 32, 1]])
    code, n = Code(), random.choice([1, 5, 16, 100])
    known = [code.put("ld.param.u32 {}, [n];", n)]
    for name in {random.choice(SPECIAL) for _ in range(4)} | {"%tid.x"}:
        known.append(code.put(f"mov.u32 {{}}, {name};", special_most(name, grid, block)))
    known.sort()
    turns = random.choice([0, 0, 0, 32])  # --static takes turns until the offset in a sector repeats: a divisor of 32
    for _ in range(random.randrange(1, 9)):
        known.append(draw_value(random, code, known))
    if turns:
        code.lines += ["mov.u32 %r90, 0;", "again:"]
        code.most["%r90"] = turns
        step = code.put(f"mad.lo.s32 {{}}, %r90, {random.choice([1, 2, 8, 32])}, {known[-1]};", code.most[known[-1]] + 32 * turns)
        known = known + [step]
    for _ in range(random.randrange(1, 4)):
        draw_access(random, code, random.choice(known[-3:]), random.choice([1, 2, 4, 4, 4, 8, 16]))
    if turns:
        code.lines += ["add.s32 %r90, %r90, 1;", f"setp.lt.u32 %p2, %r90, {turns};", "@%p2 bra again;"]
    text = "\n".join([".version 7.0", ".target sm_70", ".address_size 64", ".visible .entry k(.param .u64 a, .param .u32 n)", "{",
                      ".reg .b32 %r<100>;", ".reg .b64 %rd<8>;", ".reg .pred %p<4>;", ".reg .b16 %h<2>;", ".reg .f32 %f<5>;", ".reg .f64 %d<2>;",
                      "ld.param.u64 %rd1, [a];", *code.lines, "ret;", "}", ""])
    launch = f"k<<<({grid[0]},{grid[1]}),({block[0]},{block[1]},{block[2]})>>>(a=u8[{WORDS * 4 + 512}], n={n})"
    return stream.Case(stream.Stream(), [["gtrace-ptx", "--quiet", "--static", "--launch", launch, "k.ptx"]], {"k.ptx": text}, launch=launch)


def same(one, other):
    return abs(float(one) - float(other)) <= 0.0006 * max(float(one), float(other), 1)


def check(case, folder):
    put(folder, case.files)
    found = [line.split("\t") for line in through(case.commands[0], b"", folder).decode().splitlines()[1:]]
    run = through(["gtrace-ptx", "--quiet", "--launch", case.launch, "k.ptx"], b"", folder)
    wanted = [line.split("\t") for line in through(["gcoalesce", "--degree"], run, folder).decode().splitlines()[1:]]
    traced = {int(row[1], 16): row for row in wanted if row[1] != "all"}
    for row in found:
        if row[1] == "all" or row[8] != "exact":
            continue
        expected = traced[int(row[1])]
        if [row[2], row[3]] != [expected[2].split(".")[0], expected[3]] or not all(same(*pair) for pair in zip(row[4:8], expected[4:8])):
            return f"line {row[1]}: a run has {expected[2:8]}, --static says {row[2:8]}, {row[9]}"
    return None
