/* SPDX-License-Identifier: MIT */
/* The code of libcudart.so.12 and of those before it: calls that are not those of CUDA 13, for programs that look them up with
 * dlsym, which knows no versions. NAMES is a file with a line FORWARD(NAME) for each; IN is what the stand-in's own name of the
 * call begins with. */
#define JOINED_(A, B) A##B
#define JOINED(A, B) JOINED_(A, B)
#if defined __x86_64__
#define JUMP(TO) jmp *TO@GOTPCREL(%rip)
#elif defined __aarch64__
#define JUMP(TO) adrp x16, :got:TO; ldr x16, [x16, :got_lo12:TO]; br x16
#endif
#define FORWARD(NAME) .globl NAME; .type NAME, %function; NAME: JUMP(JOINED(IN, NAME)); .size NAME, . - NAME

	.text
#include NAMES
	.section .note.GNU-stack, "", %progbits
