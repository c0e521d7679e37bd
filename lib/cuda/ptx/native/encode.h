/* SPDX-License-Identifier: MIT */
/* Machine code of x86-64 with AVX2 or AVX-512, instruction by instruction, into a buffer that grows. */
#ifndef GT_PTX_NATIVE_ENCODE_H
#define GT_PTX_NATIVE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_native_code {
	unsigned char *bytes;
	size_t n, capacity;
	bool failed; /* memory was short */
};

/* General registers by their numbers in instructions. */
enum { GT_RAX, GT_RCX, GT_RDX, GT_RBX, GT_RBP = 5, GT_RSI, GT_RDI, GT_R8, GT_R9, GT_R10, GT_R11, GT_R12, GT_R13, GT_R14, GT_R15 };
/* The three bytes that select a group of opcodes, and the prefixes. */
enum gt_native_map { GT_0F = 1, GT_0F38, GT_0F3A };
enum gt_native_prefix { GT_NP, GT_66, GT_F3, GT_F2 };

/* An opcode of a vector instruction. W is set where elements have 64 bits. */
struct gt_native_op {
	uint8_t map, prefix, wide, opcode;
};

/* Opcodes of vector instructions by their names in Intel's manual, volume 2; the map and the prefix of an instruction tell those of one number
 * apart. D, Q: elements of 32 and of 64 bits; where a name has neither, W says which. */
enum gt_vector_opcode {
	GT_VMOVDQA = 0x6f, /* with F3 VMOVDQU, of 512 bits VMOVDQA32 and so on */
	GT_VMOVDQU_STORE = 0x7f,
	GT_VMOV_FROM_GENERAL = 0x6e, /* VMOVD and VMOVQ */
	GT_VMOV_TO_GENERAL = 0x7e,
	GT_VMOVQ_STORE = 0xd6,
	GT_VPEXTR = 0x16,
	GT_VMOVMSK = 0x50,
	GT_VPADDD = 0xfe, GT_VPADDQ = 0xd4, GT_VPSUBD = 0xfa, GT_VPSUBQ = 0xfb,
	GT_VPMULL = 0x40, GT_VPMULDQ = 0x28, GT_VPMULUDQ = 0xf4,
	GT_VPAND = 0xdb, GT_VPANDN = 0xdf, GT_VPOR = 0xeb, GT_VPXOR = 0xef, GT_VPTERNLOG = 0x25,
	GT_VPMINS = 0x39, GT_VPMINU = 0x3b, GT_VPMAXS = 0x3d, GT_VPMAXU = 0x3f,
	GT_VPSLLV = 0x47, GT_VPSRLV = 0x45, GT_VPSRAV = 0x46, GT_VPSHIFTW = 0x71, GT_VPSHIFTD = 0x72, GT_VPSHIFTQ = 0x73, /* the latter by an immediate */
	GT_VADD = 0x58, GT_VSUB = 0x5c, GT_VMUL = 0x59, GT_VDIV = 0x5e, GT_VSQRT = 0x51, GT_VFMADD231 = 0xb8, GT_VCMP = 0xc2,
	GT_VPCMPEQD = 0x76, GT_VPCMPEQQ = 0x29, GT_VPCMPGTD = 0x66, GT_VPCMPGTQ = 0x37, GT_VPTEST = 0x17,
	GT_VPCMP = 0x1f, GT_VPCMPU = 0x1e, GT_VPTESTM = 0x27, /* AVX-512, to an opmask register */
	GT_VCVTDQ2PD = 0xe6, GT_VCVTPD2DQ = 0xe6, GT_VCVTPS2PD = 0x5a, GT_VCVTPD2PS = 0x5a, GT_VMIN = 0x5d, GT_VMAX = 0x5f,
	GT_VROUNDPS = 0x08, GT_VROUNDPD = 0x09, /* VRNDSCALEPS and VRNDSCALEPD */
	GT_VCVTDQ2PS = 0x5b, GT_VCVTTPS2DQ = 0x5b, GT_VCVTQQ2PD = 0xe6, GT_VCVTU = 0x7a, /* VCVTUDQ2PS, VCVTUQQ2PD */
	GT_VPABSD = 0x1e, GT_VPMOVM2 = 0x38, GT_VPMOV2M = 0x39, /* AVX-512, from and to an opmask register */
	GT_VPMOVSXDQ = 0x25, GT_VPMOVZXDQ = 0x35, GT_VPMOVQD = 0x35,
	GT_VPBROADCASTD = 0x58, GT_VPBROADCASTQ = 0x59, GT_VPBROADCAST_GENERAL = 0x7c,
	GT_VPBLENDW = 0x0e, GT_VPBLENDD = 0x02, GT_VBLENDVPS = 0x4a, GT_VPBLENDVB = 0x4c, GT_VPBLENDM = 0x64,
	GT_VEXTRACTI128 = 0x39, GT_VINSERTI128 = 0x38, GT_VEXTRACTI64X4 = 0x3b, GT_VINSERTI64X4 = 0x3a,
	GT_VPUNPCKLDQ = 0x62, GT_VPUNPCKHDQ = 0x6a, GT_VPUNPCKLQDQ = 0x6c, GT_VPUNPCKHQDQ = 0x6d, GT_VBROADCASTI128 = 0x5a,
	GT_VSHUFPS = 0xc6, GT_VPSHUFD = 0x70, GT_VPERMQ = 0x00, GT_VPERMD = 0x36, GT_VPERMI2D = 0x76,
	GT_VPGATHERD = 0x90, GT_VPGATHERQ = 0x91, /* by the elements of the index */
	GT_VPMASKMOV = 0x8c, GT_VPMASKMOV_STORE = 0x8e, /* VPMASKMOVD and VPMASKMOVQ */
	GT_VPCOMPRESSQ = 0x8b,
	/* Of 16 bits, and of 8. VPMOVDW, VPMOVDB and VPMOVWB are some of AVX-512. */
	GT_VPADDW = 0xfd, GT_VPSUBW = 0xf9, GT_VPMULLW = 0xd5, GT_VPMINSW = 0xea, GT_VPMAXSW = 0xee, GT_VPMINUW = 0x3a, GT_VPMAXUW = 0x3e, GT_VPSUBUSW = 0xd9,
	GT_VPMOVSXBW = 0x20, GT_VPMOVSXBD = 0x21, GT_VPMOVZXBW = 0x30, GT_VPMOVZXBD = 0x31, GT_VPMOVWB = 0x30, GT_VPMOVDB = 0x31, GT_VPBROADCASTB = 0x78,
	GT_VPMOVSXWD = 0x23, GT_VPMOVZXWD = 0x33, GT_VPMOVDW = 0x33, GT_VCVTPH2PS = 0x13, GT_VCVTPS2PH = 0x1d, GT_VPBLENDMW = 0x66,
	GT_VPSHUFB = 0x00, GT_VPMADDUBSW = 0x04, GT_VPMADDWD = 0xf5, GT_VPSADBW = 0xf6, GT_VPLZCNT = 0x44, GT_VPACKSSDW = 0x6b, GT_VPBROADCASTW = 0x79,
	/* On opmask registers. */
	GT_KMOV = 0x90, GT_KMOV_STORE = 0x91, GT_KMOV_FROM_GENERAL = 0x92, GT_KMOV_TO_GENERAL = 0x93,
	GT_KAND = 0x41, GT_KOR = 0x45, GT_KXOR = 0x47, GT_KXNOR = 0x46, GT_KNOT = 0x44, GT_KUNPCK = 0x4b, GT_KORTEST = 0x98, GT_KSHIFTRW = 0x30,
};

void gt_native_byte(struct gt_native_code *code, unsigned byte);
void gt_native_bytes(struct gt_native_code *code, const void *bytes, size_t n);
/* Instructions as a string. */
#define gt_native_text(CODE, BYTES) gt_native_bytes(CODE, BYTES, sizeof BYTES - 1)
void gt_native_word(struct gt_native_code *code, uint32_t word);

/* Instructions with the VEX prefix. `large`: L is set, which means vectors of 256 bits. OP d, a, b; and the same with [base + offset] in the
 * place of b. a 0 where an instruction has none; an immediate goes behind it. */
void gt_native_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned b);
void gt_native_vex_memory(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned d, unsigned a, unsigned base,
			  uint32_t offset);
/* The prefix and the opcode. `r` is in the byte behind the opcode, with `b` or a base; registers' bits 3 are inverted in the prefix. */
void gt_native_begin_vex(struct gt_native_code *code, struct gt_native_op op, bool large, unsigned r, unsigned a, unsigned b);

/* Machine code of x86-64 on general registers: what addresses are made of, and jumps. */

/* Opcodes of OP d, s for two registers, or for a register and [base + offset]. */
enum gt_general_opcode { GT_ADD = 0x03, GT_AND = 0x23, GT_SUB = 0x2b, GT_XOR = 0x33, GT_COMPARE = 0x3b, GT_MOVE = 0x8b };
/* Of OP d, immediate. */
enum gt_general_immediate { GT_ADD_NUMBER = 0, GT_COMPARE_NUMBER = 7 };
/* When a jump is taken: the bits of its opcode. */
enum gt_jump { GT_NO_OVERFLOW = 1, GT_BELOW, GT_NOT_BELOW, GT_EQUAL, GT_NOT_EQUAL, GT_NOT_ABOVE, GT_ABOVE, GT_NEGATIVE, GT_NOT_GREATER = 14, GT_ALWAYS = 16 };

/* Registers have 64 bits, or 32 if not `wide`. A base is none of rsp and r12. */
void gt_general(struct gt_native_code *code, bool wide, enum gt_general_opcode opcode, unsigned d, unsigned s);
void gt_general_at(struct gt_native_code *code, bool wide, enum gt_general_opcode opcode, unsigned d, unsigned base, size_t offset);
void gt_general_store(struct gt_native_code *code, bool wide, unsigned s, unsigned base, size_t offset);
void gt_general_number(struct gt_native_code *code, bool wide, enum gt_general_immediate what, unsigned d, uint32_t number);
/* OP [base + offset], number. */
void gt_general_number_at(struct gt_native_code *code, bool wide, enum gt_general_immediate what, unsigned base, size_t offset,
			  uint32_t number);
/* mov dword [base + offset], number. */
void gt_general_set_at(struct gt_native_code *code, unsigned base, size_t offset, uint32_t number);
/* d = 64 bits. */
void gt_general_constant(struct gt_native_code *code, unsigned d, uint64_t bits);
/* d = the address of `what`. */
void gt_general_address(struct gt_native_code *code, unsigned d, const void *what);

/* A jump to a place that is not written yet; returns where it ends, which gt_general_land takes when the place is. */
size_t gt_general_jump(struct gt_native_code *code, enum gt_jump when);
void gt_general_land(struct gt_native_code *code, size_t jump);
void gt_general_land_at(struct gt_native_code *code, size_t jump, size_t place);
/* A call to what is written already. */
void gt_general_call_to(struct gt_native_code *code, size_t place);

#endif
