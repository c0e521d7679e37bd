#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a CUDA program of random functions of integers of 8 to 128 bits. It runs them on the device and on the host, and says where they
differ. The compiler chooses the instructions: those of its own divisions, shifts and conversions, too, which no list of instructions names.

usage: tests/random_functions.py SEED FUNCTIONS >program.cu
Build it with nvcc -std=c++17 -fmad=false -Xcompiler -fwrapv,-ffp-contract=off."""
import random, sys

BITS = {"uint8_t": 8, "int8_t": 8, "uint16_t": 16, "int16_t": 16, "uint32_t": 32, "int32_t": 32, "uint64_t": 64, "int64_t": 64, "u128": 128, "i128": 128}
ARGUMENTS = [("a", "uint64_t"), ("b", "uint64_t"), ("(uint32_t)c", "uint32_t"), ("(int32_t)d", "int32_t"), ("(int64_t)b", "int64_t"),
             ("((u128)a << 64 | c)", "u128"), ("((i128)(int64_t)d * (i128)b)", "i128"), ("(int8_t)a", "int8_t"), ("(uint16_t)c", "uint16_t"),
             ("(int16_t)b", "int16_t"), ("(uint8_t)d", "uint8_t")]

# Signed sums wrap; a divisor of 0, and the quotient that no signed number holds, have results of their own.
BEFORE = r"""/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <cstring>
typedef unsigned __int128 u128;
typedef __int128 i128;
#define EITHER __host__ __device__
template <class T> EITHER T quotient(T a, T b) { return b == 0 ? (T)1 : (T)-1 < (T)0 && b == (T)-1 ? (T)(0 - (u128)a) : (T)(a / b); }
template <class T> EITHER T rest(T a, T b) { return b == 0 ? (T)1 : (T)-1 < (T)0 && b == (T)-1 ? (T)0 : (T)(a % b); }
template <class T> EITHER __noinline__ T turns(T x, uint32_t n)
{
	T y = 1;
	for (uint32_t i = 0; i < n % 16; i++) {
		y = (T)((u128)y * (u128)x + i);
		if ((y & 7) == 3)
			y = (T)(y ^ (T)(x >> 1));
	}
	return y;
}
EITHER inline uint64_t upper(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b >> 64); }
EITHER inline uint64_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
EITHER inline uint64_t bits_of(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
"""
AFTER = r"""
__global__ void device(const uint64_t *in, uint64_t *out, int number)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = call(number, in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]);
}
/* Random words, and such as are 0, all ones, one bit or short. */
static uint64_t word(int i)
{
	static uint64_t state = 88172645463325252ULL;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	const uint64_t words[9] = {0, UINT64_MAX, UINT64_C(1) << (state >> 40 & 63), state & 0xffff, state >> 32, UINT64_C(1) << 63 >> (state >> 40 & 3) * 16,
				   state, state, state};
	return words[i * 7 % 9];
}
int main()
{
	static uint64_t in[4 * THREADS], out[THREADS], *from, *to;
	int differ = 0;
	for (int i = 0; i < 4 * THREADS; i++)
		in[i] = word(i);
	cudaMalloc(&from, sizeof in);
	cudaMalloc(&to, sizeof out);
	cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
	for (int number = 0; number < FUNCTIONS; number++) {
		device<<<THREADS / 64, 64>>>(from, to, number);
		cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost);
		for (int i = 0; i < THREADS; i++)
			if (out[i] != call(number, in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3])) {
				printf("function %d, thread %d\n", number, i);
				differ++;
				break;
			}
	}
	printf("%d functions, %d differ\n", FUNCTIONS, differ);
	return differ != 0;
}
"""


def unsigned(type):
    return "u128" if type == "i128" else type if type.startswith("u") else "u" + type


class Writer:
    def __init__(self, seed):
        self.draw = random.Random(seed)

    def type(self):
        return self.draw.choice(list(BITS))

    def constant(self):
        type = self.type()
        return f"({type}){self.draw.choice([0, 1, 2, 3, 7, 10, 31, 63, 100, 255, self.draw.getrandbits(31)])}u", type

    def sum(self, x, y):
        type = self.draw.choice([x[1], y[1], self.type()])
        part = unsigned(type)
        return f"(({type})(({part})({x[0]}) {self.draw.choice('+-*&|^')} ({part})({y[0]})))", type

    def quotient(self, x, y):
        type = self.type()
        return f"{self.draw.choice(['quotient', 'rest'])}<{type}>(({type})({x[0]}), ({type})({y[0]}))", type

    def shift(self, x, y):
        type, left = self.type(), self.draw.random() < .5
        count = f"((uint32_t)({y[0]}) & {BITS[type] - 1})"
        return f"(({type})(({unsigned(type) if left else type})({x[0]}) {'<<' if left else '>>'} {count}))", type

    def choice(self, x, y):
        type, compared = self.draw.choice([x[1], y[1]]), self.type()
        how = self.draw.choice(["<", "<=", "==", "!=", ">", ">="])
        return f"((({compared})({x[0]}) {how} ({compared})({y[0]})) ? ({type})({x[0]}) : ({type})({y[0]}))", type

    def float(self, x, y):
        type = self.draw.choice(["float", "double"])
        return f"bits_of(({type})(int32_t)({x[0]}) {self.draw.choice('+*')} ({type})(int32_t)({y[0]}))", "uint64_t"

    def upper(self, x, y):
        return f"upper((uint64_t)({x[0]}), (uint64_t)({y[0]}))", "uint64_t"

    def turns(self, x, y):
        type = self.type()
        return f"turns<{type}>(({type})({x[0]}), (uint32_t)({y[0]}))", type

    def expression(self, depth):
        """C++ and its type."""
        if depth == 0 or self.draw.random() < .12:
            return self.constant() if self.draw.random() < .25 else self.draw.choice(ARGUMENTS)
        make = self.draw.choice([self.sum] * 4 + [self.quotient, self.shift, self.choice, self.float, self.upper, self.turns])
        return make(self.expression(depth - 1), self.expression(depth - 1))

    def function(self, number):
        code, type = self.expression(self.draw.randrange(3, 6))
        return (f"EITHER uint64_t f{number}(uint64_t a, uint64_t b, uint64_t c, uint64_t d)\n{{\n"
                f"\tconst {type} x = ({type}){code};\n\treturn (uint64_t)x ^ (uint64_t)((u128)x >> 64) * 3;\n}}\n")


def main():
    seed, n = sys.argv[1], int(sys.argv[2])
    writer = Writer(seed)
    print(BEFORE + f"enum {{ THREADS = 256, FUNCTIONS = {n} }};\n" + "".join(writer.function(i) for i in range(n)))
    print("EITHER uint64_t call(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)\n{\n\tswitch (number) {")
    print("".join(f"\tcase {i}: return f{i}(a, b, c, d);\n" for i in range(n)) + "\t}\n\treturn 0;\n}" + AFTER)


main()
