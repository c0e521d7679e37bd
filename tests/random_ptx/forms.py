# SPDX-License-Identifier: MIT
"""Which forms of operations there are that use no memory, control or other lanes: the PTX manual's, as patterns.

{a|b} is one of them, [x] may be left out, a word in capitals is a set. min3 and max3 are min and max of three sources.
"""

import functools
import re

SETS = {
    "INTEGER": "u16|s16|u32|s32|u64|s64", "SIGNED": "s16|s32|s64", "WORD": "u32|s32", "WIDE": "u32|s32|u64|s64", "BITS": "b16|b32|b64",
    "ANY": "u8|s8|u16|s16|u32|s32|u64|s64", "NUMBER": "b16|b32|b64|u16|s16|u32|s32|u64|s64|f32|f64",
    "ROUND": "rn|rz|rm|rp", "WHOLE": "rni|rzi|rmi|rpi", "HALF": "f16|f16x2", "BRAIN": "bf16|bf16x2",
    "UNORDERED": "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan", "BOOL": "and|or|xor", "BYTES": "e4m3x2|e5m2x2",
    "TINY": "e2m1x2|e2m3x2|e3m2x2",
}

INTEGERS = ("{add|sub|min|max|mul.lo|mul.hi}.{INTEGER}", "{mad.lo|mad.hi|sad}.{INTEGER}", "{mul|mad}.wide.{u16|s16|u32|s32}",
            "{div|rem}.{INTEGER}", "{abs|neg}.{SIGNED}", "{add|sub}.sat.s32", "{mad|mad24}.hi.sat.s32", "{min|max}.relu.s32")
PRODUCTS = ("{mul24|mad24}.{lo|hi}.{WORD}", "dp4a.{WORD}.{WORD}", "dp2a.{lo|hi}.{WORD}.{WORD}", "{add|min|max}.{u16x2|s16x2}",
            "{min|max}.relu.s16x2", "cvt.pack.sat.{u16|s16}.s32", "cvt.pack.sat.{u8|s8|u4|s4|u2|s2}.s32.b32",
            "vabsdiff{2|4}.u32.{u32.u32|s32.s32}[.add]")
# With parts of the operands, and signs, which are drawn.
VIDEO = ("{vadd|vsub|vabsdiff|vmin|vmax}.{WORD}.{WORD}.{WORD}[.sat][.{add|min|max}]",
         "{vshl|vshr}.{WORD}.{WORD}.u32[.sat].{clamp|wrap}[.{add|min|max}]", "vset.{WORD}.{WORD}.{eq|ne|lt|le|gt|ge}[.{add|min|max}]",
         "vmad.{WORD}.{WORD}.{WORD}[.po][.sat][.{shr7|shr15}]", "{vadd|vsub|vavrg|vabsdiff|vmin|vmax}{2|4}.{WORD}.{WORD}.{WORD}[.{sat|add}]",
         "vset{2|4}.{WORD}.{WORD}.{eq|ne|lt|le|gt|ge}[.add]")
LOGIC = ("{and|or|xor|not}.{BITS|pred}", "cnot.{BITS}", "mov.pred", "{shl.b|shr.b|shr.u|shr.s}{16|32|64}", "{popc|clz|brev}.{b32|b64}",
         "bfind[.shiftamt].{WIDE}", "bfe.{WIDE}", "bfi.{b32|b64}", "prmt.b32[.{f4e|b4e|rc8|ecl|ecr|rc16}]", "prmt.b32", "lop3[.{and|or}].b32",
         "shf.{l|r}.{wrap|clamp}.b32", "bmsk.{clamp|wrap}.b32", "fns.b32", "szext.{clamp|wrap}.{WORD}")
FLOATS = ("{add|sub|mul}[.{ROUND}][.ftz][.sat].f32", "{fma|mad}.{ROUND}[.ftz][.sat].f32", "{add|sub|mul}[.{ROUND}].f64", "{fma|mad}.{ROUND}.f64",
          "{add|sub|mul}[.rn][.ftz][.sat].{HALF}", "fma.rn[.ftz][.{sat|relu}].{HALF}", "{add|sub|mul}[.rn].{BRAIN}", "fma.rn[.relu].{BRAIN}",
          "{min|max}[.ftz][.NaN][.xorsign.abs].{f32|HALF}", "{min|max}[.NaN][.xorsign.abs].{BRAIN}", "{min|max}.f64",
          "{abs|neg}[.ftz].{f32|HALF}", "{abs|neg}.{f64|BRAIN}", "{div|rcp|sqrt}.{ROUND}[.ftz].f32", "{div|rcp|sqrt}.{ROUND}.f64",
          "copysign.{f32|f64}", "testp.{finite|infinite|number|notanumber|normal|subnormal}.{f32|f64}")
COMPARISONS = ("setp.{eq|ne}[.{BOOL}].{BITS}", "setp.{eq|ne|lt|le|gt|ge}[.{BOOL}].{INTEGER}", "setp.{lo|ls|hi|hs}[.{BOOL}].{u16|u32|u64}",
               "setp.{UNORDERED}[.{BOOL}][.ftz].{f32|HALF}", "setp.{UNORDERED}[.{BOOL}].{f64|BRAIN}",
               "set.{eq|ne|lt|le|gt|ge}[.{BOOL}].{u32|s32|f32}.{INTEGER}", "set.{eq|ne}[.{BOOL}].{u32|s32|f32}.{BITS}",
               "set.{UNORDERED}[.{BOOL}][.ftz].{u32|s32|f32}.f32", "set.{UNORDERED}[.{BOOL}].{u32|s32|f32}.f64",
               "set.{UNORDERED}[.{BOOL}][.ftz].{u16|s16|u32|s32|f16}.f16", "set.{UNORDERED}[.{BOOL}][.ftz].{u32|s32|f16x2}.f16x2",
               "set.{UNORDERED}[.{BOOL}].{u16|s16|u32|s32|bf16}.bf16", "set.{UNORDERED}[.{BOOL}].{u32|s32|bf16x2}.bf16x2",
               "selp.{NUMBER}", "slct.{NUMBER}.s32", "slct[.ftz].{NUMBER}.f32")
CONVERSIONS = ("cvt.{ANY}.{ANY}", "cvt.sat.{u8|u16|u32|u64}.{s8|s16|s32|s64}", "cvt.sat.{s8|s16|s32|s64}.u64", "cvt.sat.{s8|s16|s32}.{u32|s64}",
               "cvt.sat.{s8|s16}.{u16|s32}", "cvt.sat.s8.{u8|s16}", "cvt.sat.u8.{u16|u32|u64}", "cvt.sat.u16.{u32|u64}", "cvt.sat.u32.u64",
               "cvt.{ROUND}[.ftz][.sat].f32.{ANY}", "cvt.{ROUND}[.sat].f64.{ANY}", "cvt.{ROUND}[.sat].f16.{ANY}", "cvt.{ROUND}.bf16.{INTEGER}",
               "cvt.{WHOLE}[.ftz][.sat].{ANY}.f32", "cvt.{WHOLE}[.sat].{ANY}.{f16|f64}", "cvt.{WHOLE}.{INTEGER}.bf16",
               "cvt.{ROUND}[.ftz][.sat].f32.f64", "cvt[.ftz][.sat].f64.f32", "cvt.{ROUND}[.ftz][.sat].f16.f32", "cvt[.ftz][.sat].f32.f16",
               "cvt.{ROUND}[.sat].f16.f64", "cvt[.sat].f64.f16", "cvt[.{rm|rp}][.ftz].f32.bf16", "cvt.f64.bf16", "cvt.{ROUND}.bf16.f64", "cvt.{ROUND}.{f16.bf16|bf16.f16}",
               "cvt.{WHOLE}[.ftz][.sat].f32.f32", "cvt.{WHOLE}[.sat].{f16.f16|f64.f64}", "cvt.{WHOLE}.bf16.bf16", "cvt.sat[.ftz].f32.f32",
               "cvt.sat.{f16.f16|f64.f64}")
# To fewer bits: two floats of which the first becomes the upper part.
SMALL = ("cvt.{rn|rz}[.relu][.satfinite].{f16|bf16|f16x2|bf16x2}.f32", "cvt.{rn|rz}[.relu].tf32.f32", "cvt.rna[.satfinite].tf32.f32",
         "cvt.rn.satfinite[.relu].{BYTES}.{f32|f16x2}", "cvt.rn[.relu].f16x2.{BYTES}")
# Of sm_100 and later.
NEWER = ("{add|sub|mul}[.{ROUND}][.ftz].f32x2", "fma.{ROUND}[.ftz].f32x2", "{add|sub}[.{ROUND}][.sat].f32.{f16|bf16}",
         "fma.{ROUND}[.sat].f32.{f16|bf16}", "{min3|max3}[.ftz][.NaN][.abs].f32", "cvt.rn.satfinite[.relu].{TINY}.f32",
         "cvt.rn[.relu].f16x2.{TINY}", "cvt.{rn|rz}.satfinite[.relu].tf32.f32",
         "cvt.{rz|rp}[.satfinite].ue8m0x2.{f32|bf16x2}", "cvt.rn.bf16x2.ue8m0x2")
GROUPS = {"integers": INTEGERS, "products": PRODUCTS, "video": VIDEO, "logic": LOGIC, "floats": FLOATS, "comparisons": COMPARISONS,
          "conversions": CONVERSIONS, "small": SMALL, "newer": NEWER}

PART = re.compile(r"\{([^{}\[\]]*)\}|\[([^{}\[\]]*)\]")
SET = re.compile("|".join(r"\b%s\b" % name for name in SETS))


@functools.lru_cache(maxsize=None)
def forms_of(pattern):
    """All opcodes of a pattern."""
    pattern = SET.sub(lambda m: SETS[m[0]], pattern)
    part = PART.search(pattern)
    if not part:
        return (pattern,)
    ways = part[1].split("|") if part[1] is not None else [*part[2].split("|"), ""]
    return tuple(form for way in ways for form in forms_of(pattern[:part.start()] + way + pattern[part.end():]))


def every_form(groups):
    """Of some groups, each once."""
    return list(dict.fromkeys(form for group in groups for pattern in GROUPS[group] for form in forms_of(pattern)))
