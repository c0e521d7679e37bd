#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a CUDA program of random functions of integers of 8 to 128 bits. It runs them on the device and on the host, and says where they
differ. The compiler chooses the instructions: those of its own divisions, shifts and conversions, too, which no list of instructions names.
Half of the functions are expressions; the others have nested loops, breaks, switches, gotos and returns, arrays that are indexed by what was
computed, unaligned members, and calls of functions, virtual ones and recursive ones. With WARPS, they are programs of warps whose lanes part, and
vote, shuffle, match, reduce and add to shared memory among those that are there: the host computes all lanes of a warp in step.

usage: tests/random_functions.py SEED FUNCTIONS [WARPS] >program.cu
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
struct __attribute__((packed)) Packed { uint8_t a; uint32_t b; int16_t c; uint64_t d; u128 e; };
struct Fields { uint32_t a : 5, b : 11; int32_t c : 7; uint64_t d : 40; };
struct Pair { uint64_t first; int32_t second; };
EITHER __noinline__ Pair turned(Pair p, Packed q) { return Pair{p.first ^ q.d ^ (uint64_t)q.e, (int32_t)((uint32_t)p.second + q.b + (uint32_t)q.c + q.a)}; }
typedef uint64_t (*operation)(uint64_t, uint64_t);
EITHER __noinline__ uint64_t plus_(uint64_t a, uint64_t b) { return a + 3 * b; }
EITHER __noinline__ uint64_t times_(uint64_t a, uint64_t b) { return a * (b | 1); }
EITHER __noinline__ uint64_t descends(uint64_t a, uint64_t b) { return (b & 15) == 0 ? a : b % 3 == 0 ? descends(a + b, b - 1) ^ a : descends(a * 5, b - 1) + b; }
EITHER inline operation chosen(uint64_t x) { return x % 3 == 0 ? plus_ : x % 3 == 1 ? times_ : descends; }
struct Shape { uint64_t side; EITHER Shape(uint64_t s) : side(s) {} EITHER virtual uint64_t area(uint64_t x) const { return side + x; } };
struct Square : Shape { EITHER Square(uint64_t s) : Shape(s) {} EITHER uint64_t area(uint64_t x) const override { return side * side ^ x; } };
struct Cube : Square {
	uint32_t more;
	EITHER Cube(uint64_t s) : Square(s), more((uint32_t)s >> 3) {}
	EITHER uint64_t area(uint64_t x) const override { return more * Square::area(x) + x; }
};
EITHER __noinline__ uint64_t area(const Shape *shape, uint64_t x) { return shape->area(x); }
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
	cudaDeviceSetLimit(cudaLimitStackSize, 16384); /* for recursion */
	cudaMalloc(&from, sizeof in);
	cudaMalloc(&to, sizeof out);
	cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
	for (int number = 0; number < FUNCTIONS; number++) {
		device<<<THREADS / 64, 64>>>(from, to, number);
		if (cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess)
			return printf("function %d: %s\n", number, cudaGetErrorString(cudaGetLastError())), 1;
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

    def word(self, depth=2):
        """An expression of 64 bits, also of the variables of a function with statements."""
        draw = self.draw
        if draw.random() < .4:
            return draw.choice(["v0", "v1", "v2", f"t[{draw.choice(['v0', 'v1', 'v2'])} & 7]", "packed.d", "packed.b", "(uint64_t)packed.c", "(uint64_t)packed.e",
                                "fields.b", "(uint64_t)fields.c", "fields.d", "pair.first", "(uint64_t)pair.second"])
        x = self.expression(depth)[0]
        return f"(uint64_t)({x})" if draw.random() < .5 else f"((uint64_t)({x}) {draw.choice('+^*-')} {self.word(1)})"

    def condition(self):
        return f"({self.word(1)} {self.draw.choice(['<', '>', '==', '!='])} {self.word(1)})" if self.draw.random() < .5 else \
            f"(({self.word(1)}) % {self.draw.choice([2, 3, 5, 7])} {self.draw.choice(['==', '!='])} {self.draw.randrange(2)})"

    def simple(self):
        draw, x = self.draw, self.word
        v = f"v{draw.randrange(3)}"
        return draw.choice([
            f"{v} {draw.choice(['=', '+=', '^=', '-='])} {x()};",
            f"t[({x(1)}) & 7] {draw.choice(['=', '+=', '^='])} (uint32_t)({x(1)});",
            f"packed.{draw.choice('abcde')} {draw.choice(['=', '^='])} {x(1)};",
            f"fields.{draw.choice('abcd')} {draw.choice(['=', '^='])} {x(1)};",
            f"memcpy(m + (({x(1)}) & 15), &{v}, {draw.choice([1, 2, 4, 8])});",
            f"memcpy(&{v}, m + (({x(1)}) & 15), {draw.choice([1, 2, 4, 8])});",
            f"{v} = chosen({x(1)})({x(1)}, {x(1)});",
            f"{v} ^= descends({x(1)}, {x(1)} % 40);",
            f"pair = turned(pair, packed);",
            f"pair = Pair{{{x(1)}, (int32_t)({x(1)})}};",
            f"{{ Square square({x(1)}); Cube cube({x(1)}); Shape shape(v1); "
            f"{v} += area({self.condition()} ? {self.condition()} ? &square : (const Shape *)&cube : &shape, v0); }}"])

    def block(self, depth, loops):
        return " ".join(self.statement(depth, loops) for _ in range(self.draw.randrange(1, 4)))

    def statement(self, depth, loops):
        draw = self.draw
        if depth == 0 or draw.random() < .35:
            return self.simple()
        kind = draw.choice(["if", "else", "for", "for", "while", "switch", "return", "goto", "do"] + ["break", "continue"] * (2 * loops))
        inner = lambda inside=loops: self.block(depth - 1, inside)
        if kind in ("if", "else"):
            return f"if ({self.condition()}) {{ {inner()} }}" + (f" else {{ {inner()} }}" if kind == "else" else "")
        self.loops += 1
        i = f"i{self.loops}"
        if kind == "for":
            return f"for (uint32_t {i} = 0; {i} < (({self.word(1)}) & {draw.choice([3, 7])}); {i}++) {{ v0 += {i}; {inner(True)} }}"
        if kind == "while":
            return f"{{ uint32_t {i} = 0; while ({i}++ < {draw.choice([2, 5])} && {self.condition()}) {{ {inner(True)} }} }}"
        if kind == "do":
            return f"{{ uint32_t {i} = 0; do {{ {inner(True)} }} while ({i}++ < 3 && {self.condition()}); }}"
        if kind == "switch":
            cases = " ".join(f"case {c}: {inner()} {draw.choice(['break;', ''])}" for c in draw.sample(range(6), 4))
            return f"switch (({self.word(1)}) % 7) {{ {cases} default: {inner()} }}"
        if kind == "return":
            return f"if ({self.condition()} && {self.condition()}) return v0 ^ {self.word(1)};"
        if kind == "goto":
            return f"if ({self.condition()}) goto out;"
        return f"if ({self.condition()}) {kind};"

    def statements(self, number):
        self.loops = 0
        body = "\n\t".join(self.statement(4, False) for _ in range(self.draw.randrange(2, 5)))
        return (f"EITHER uint64_t f{number}(uint64_t a, uint64_t b, uint64_t c, uint64_t d)\n{{\n"
                "\tuint64_t v0 = a, v1 = b, v2 = c ^ d;\n\tuint32_t t[8] = {1, 2, (uint32_t)a, 4, 5, (uint32_t)d, 7, 8};\n\tunsigned char m[24] = {0};\n"
                "\tPacked packed = {(uint8_t)a, (uint32_t)b, (int16_t)c, d, a};\n\tFields fields = {};\n\tPair pair = {a, (int32_t)b};\n\tmemcpy(m, &b, 8);\n"
                f"\t{body}\nout:\n\tfor (int i = 0; i < 8; i++)\n\t\tv0 = v0 * 31 + t[i] + m[i * 3];\n"
                "\treturn v0 ^ v1 * 3 ^ v2 * 5 ^ packed.b ^ packed.d ^ (uint64_t)packed.e ^ fields.a ^ fields.d ^ (uint64_t)fields.c ^ pair.first "
                "^ (uint32_t)pair.second;\n}\n")

    def function(self, number):
        if number % 2:
            return self.statements(number)
        code, type = self.expression(self.draw.randrange(3, 6))
        return (f"EITHER uint64_t f{number}(uint64_t a, uint64_t b, uint64_t c, uint64_t d)\n{{\n"
                f"\tconst {type} x = ({type}){code};\n\treturn (uint64_t)x ^ (uint64_t)((u128)x >> 64) * 3;\n}}\n")


# Programs of warps: @0 to @2 are a lane's variables and @L is its number. The host has them of 32 lanes, and does each statement for the lanes of a mask.
WARPS = r"""/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <cstring>
#define EITHER __host__ __device__
enum { WARPS = 3, THREADS = 32 * WARPS };
struct Shared { uint32_t sum[16], odd[16], most[16], least[16], cell[THREADS]; unsigned long long wide[4]; float real[4]; unsigned short half[4]; };
/* Where a shuffle of a mode reads: 0 idx, 1 up, 2 down, 3 xor. */
EITHER inline uint32_t source(int mode, uint32_t lane, uint32_t by, uint32_t width)
{
	const uint32_t first = lane / width * width, last = first + width - 1;
	const uint32_t to = mode == 0 ? first + by % width : mode == 1 ? lane - by : mode == 2 ? lane + by : lane ^ by;
	return mode == 1 ? (by > lane - first ? lane : to) : mode == 3 ? (to > last ? lane : to) : to > last ? lane : to;
}
__device__ inline void begin(Shared &s)
{
	for (uint32_t i = threadIdx.x; i < sizeof s / 4; i += THREADS)
		((uint32_t *)&s)[i] = 0;
	__syncthreads();
	if (threadIdx.x < 16)
		s.least[threadIdx.x] = 0xffffffff;
	__syncthreads();
}
__device__ inline void finish(uint32_t v0, uint32_t v1, uint32_t v2, const Shared &s, uint32_t *out, Shared *shared)
{
	out[3 * threadIdx.x] = v0, out[3 * threadIdx.x + 1] = v1, out[3 * threadIdx.x + 2] = v2;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < sizeof s / 4; i += THREADS)
		((uint32_t *)shared)[i] = ((const uint32_t *)&s)[i];
}
/* All threads of a block meet, and pass a number on. */
__device__ inline void exchange(uint32_t &v0, uint32_t &v1, uint32_t &v2, Shared &s, uint32_t by, bool counts)
{
	__syncthreads();
	s.cell[threadIdx.x] = v0;
	v2 += (uint32_t)__syncthreads_count(counts);
	v1 ^= s.cell[(threadIdx.x + by) % THREADS];
	v0 += __syncthreads_or((int)(v1 % 97 == 5)) != 0;
}
static void exchange_all(uint32_t (*v)[3][32], uint32_t by, uint32_t count)
{
	uint32_t cell[THREADS], some = 0;
	for (uint32_t t = 0; t < THREADS; t++)
		cell[t] = v[t / 32][0][t % 32];
	for (uint32_t t = 0; t < THREADS; t++) {
		v[t / 32][2][t % 32] += count;
		some |= (v[t / 32][1][t % 32] ^= cell[(t + by) % THREADS]) % 97 == 5;
	}
	for (uint32_t t = 0; t < THREADS; t++)
		v[t / 32][0][t % 32] += some;
}
__device__ inline void add_half(unsigned short *at, uint32_t more)
{
	unsigned short old = *(volatile unsigned short *)at, seen;
	while ((seen = atomicCAS(at, old, (unsigned short)(old + more))) != old)
		old = seen;
}
#define FOR(M) for (uint32_t L = 0; L < 32; L++) if ((M) >> L & 1)
static inline uint32_t vote(uint32_t m, const bool *c) { uint32_t r = 0; FOR(m) r |= (uint32_t)c[L] << L; return r; }
"""
WARPS_MAIN = r"""
int main()
{
	static uint32_t in[3 * THREADS], out[3 * THREADS], *device_in, *device_out;
	static Shared found, *device_shared;
	int differ = 0;
	uint32_t state = 2463534242u;
	cudaMalloc(&device_in, sizeof in);
	cudaMalloc(&device_out, sizeof out);
	cudaMalloc(&device_shared, sizeof found);
	for (int number = 0; number < FUNCTIONS; number++) {
		for (int i = 0; i < 3 * THREADS; i++) {
			state ^= state << 13, state ^= state >> 17, state ^= state << 5;
			in[i] = state >> (i % 5 * 6);
		}
		cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
		launch(number, device_in, device_out, device_shared);
		cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
		cudaMemcpy(&found, device_shared, sizeof found, cudaMemcpyDeviceToHost);
		static uint32_t v[WARPS][3][32];
		static Shared s;
		memset(&s, 0, sizeof s);
		memset(s.least, 255, sizeof s.least);
		for (int i = 0; i < 3 * THREADS; i++)
			v[i / 3 / 32][i % 3][i / 3 % 32] = in[i];
		host(number, v, s);
		memset(s.cell, 0, sizeof s.cell);
		memset(found.cell, 0, sizeof found.cell);
		int wrong = memcmp(&s, &found, sizeof s) != 0;
		for (int i = 0; i < 3 * THREADS; i++)
			wrong |= 2 * (v[i / 3 / 32][i % 3][i / 3 % 32] != out[i]);
		if (wrong)
			printf("function %d: %s\n", number, wrong & 1 ? "shared memory" : "variables");
		differ += wrong != 0;
	}
	printf("%d functions, %d differ\n", FUNCTIONS, differ);
	return differ != 0;
}
"""


class Warps:
    """Each statement is a pair: of the device, and of the host."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.names = 0

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def value(self, depth=2):
        draw = self.draw
        if depth == 0 or draw.random() < .2:
            return draw.choice(["@0", "@1", "@2", "@L", f"{draw.randrange(40)}u", f"{draw.getrandbits(32)}u"])
        x, y = self.value(depth - 1), self.value(depth - 1)
        return draw.choice([f"({x} {draw.choice('+-*^&|')} {y})", f"({x} >> ({y} & 31))", f"({x} % ({y} | 1))", f"({x} < {y} ? {x} : {y})"])

    def condition(self):
        return f"(({self.value()}) % {self.draw.choice([2, 3, 4, 7])} {self.draw.choice(['==', '!='])} {self.draw.randrange(2)})"

    @staticmethod
    def device(text):
        for i in "012":
            text = text.replace(f"@{i}", f"v{i}")
        return text.replace("@L", "lane")

    @staticmethod
    def host(text):
        for i in "012":
            text = text.replace(f"@{i}", f"v[{i}][L]")
        return text.replace("@L", "L")

    def set(self, m, v, x, y):
        return f"{v} = {x};", f"FOR({m}) {{ {v} = {x}; }}"

    def shuffle(self, m, v, x, y):
        """A lane that would read one that is not there takes 7."""
        mode, width = self.draw.randrange(4), self.draw.choice([32, 32, 16, 8, 4])
        call = ["__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"][mode]
        by = f"(({y}) % {width})" if self.draw.random() < .5 else str(self.draw.randrange(width))
        t, u, there = self.name("t"), self.name("u"), f"const uint32_t from = source({mode}, @L, {by}, {width})"
        return (f"{{ {there}, x = {x}, y = {call}({m}, x, {by}, {width}); {v} += {m} >> from & 1 ? y : 7; }}",
                f"{{ uint32_t {t}[32], {u}[32]; FOR({m}) {t}[L] = {x}; FOR({m}) {{ {there}; {u}[L] = {m} >> from & 1 ? {t}[from] : 7; }} "
                f"FOR({m}) {v} += {u}[L]; }}")

    def vote(self, m, v, x, y):
        how = self.draw.choice(["ballot", "any", "all"])
        result = {"ballot": "r", "any": "(r != 0)", "all": f"(r == {m})"}[how]
        c = self.condition()
        return (f"{v} ^= (uint32_t)__{how}_sync({m}, {c}){'' if how == 'ballot' else ' != 0'};",
                f"{{ uint32_t r = 0; FOR({m}) r |= (uint32_t){c} << L; FOR({m}) {v} ^= {result}; }}")

    def match(self, m, v, x, y):
        t, x = self.name("t"), f"(({x}) & {self.draw.choice([1, 3, 7])})"
        return (f"{v} ^= __match_any_sync({m}, {self.draw.choice(['', '(unsigned long long)'])}{x});",
                f"{{ uint32_t {t}[32]; FOR({m}) {t}[L] = {x}; FOR({m}) {{ uint32_t r = 0; for (int k = 0; k < 32; k++) "
                f"r |= (uint32_t)({m} >> k & 1 && {t}[k] == {t}[L]) << k; {v} ^= r; }} }}")

    def alike(self, m, v, x, y):
        x = f"(({x}) & 1)"
        return (f"{{ int same; {v} ^= __match_all_sync({m}, {x}, &same); {v} += same != 0; }}",
                f"{{ uint32_t some = 0, none = 0; FOR({m}) ({x} ? some : none) |= 1u << L; "
                f"FOR({m}) {{ {v} ^= some && none ? 0 : {m}; {v} += !(some && none); }} }}")

    def reduce(self, m, v, x, y):
        how, first, step = self.draw.choice([
            ("add", "0", "r += x"), ("and", "~0u", "r &= x"), ("or", "0", "r |= x"), ("xor", "0", "r ^= x"),
            ("min", "~0u", "r = x < r ? x : r"), ("max", "0", "r = x > r ? x : r"),
            ("min", "0x7fffffff", "r = x < r ? x : r"), ("max", "~0x7fffffff", "r = x > r ? x : r")])
        type = "int32_t" if "7f" in first else "uint32_t"
        return (f"{v} ^= (uint32_t)__reduce_{how}_sync({m}, ({type})({x}));",
                f"{{ {type} r = {first}; FOR({m}) {{ const {type} x = ({type})({x}); {step}; }} FOR({m}) {v} ^= (uint32_t)r; }}")

    def shared(self, m, v, x, y):
        """Only sums and the like, whose order does not show, and each has memory of its own."""
        at, few = f"({y}) & 15", f"({y}) & 3"
        device, host = self.draw.choice([
            (f"atomicAdd(&s.sum[{at}], {x});", f"s.sum[{at}] += {x};"), (f"atomicXor(&s.odd[{at}], {x});", f"s.odd[{at}] ^= {x};"),
            (f"atomicMax(&s.most[{at}], {x});", f"s.most[{at}] = {x} > s.most[{at}] ? {x} : s.most[{at}];"),
            (f"atomicMin(&s.least[{at}], {x});", f"s.least[{at}] = {x} < s.least[{at}] ? {x} : s.least[{at}];"),
            (f"atomicAdd(&s.wide[{few}], (unsigned long long)({x}) * 65537);", f"s.wide[{few}] += (unsigned long long)({x}) * 65537;"),
            (f"atomicAdd(&s.real[{few}], (float)(({x}) & 63));", f"s.real[{few}] += (float)(({x}) & 63);"),
            (f"add_half(&s.half[{few}], {x});", f"s.half[{few}] = (unsigned short)(s.half[{few}] + ({x}));")])
        return device, f"FOR({m}) {{ {host} }}"

    def cell(self, m, v, x, y):
        """What another lane has put into shared memory; its own, if that is not there."""
        t, other = self.name("t"), self.draw.randrange(1, 32)
        from_ = f"({m} >> (@L ^ {other}) & 1 ? @L ^ {other} : @L)"
        return (f"s.cell[threadIdx.x] = {x}; __syncwarp({m}); {v} -= s.cell[threadIdx.x / 32 * 32 + {from_}]; __syncwarp({m});",
                f"{{ uint32_t {t}[32]; FOR({m}) {t}[L] = {x}; FOR({m}) {v} -= {t}[{from_}]; }}")

    def simple(self, m):
        make = self.draw.choice([self.set, self.set, self.shuffle, self.shuffle, self.vote, self.match, self.alike, self.reduce, self.shared, self.shared,
                                 self.cell])
        device, host = make(m, f"@{self.draw.randrange(3)}", self.value(), self.value(1))
        return self.device(device), self.host(host)

    def block(self, m, depth, loops):
        """Statements of the lanes of a mask. loops: the ways on in the body of a loop. Lanes that have gone on do not hear of a later break."""
        device, host = "", ""
        for _ in range(self.draw.randrange(1, 4)):
            d, h, rest = self.statement(m, depth, loops)
            if rest != m and " continue;" in d:
                loops = ("continue",)
            device, host, m = device + d + "\n", host + h + "\n", rest
        return device, host

    def statement(self, m, depth, loops):
        """Of the lanes of a mask; and the mask of those that go on behind it."""
        D, H, draw = self.device, self.host, self.draw
        if depth == 0 or draw.random() < .4:
            return (*self.simple(m), m)
        kind = draw.choice(["if", "else", "for", "for", "switch"] + list(loops) * 2)
        c, inner, b, condition = self.name("c"), self.name("m"), self.name("b"), self.condition()
        asks = D(f"const bool {c} = {condition}; const uint32_t {b} = __ballot_sync({m}, {c});")
        asked = f"bool {c}[32]; FOR({m}) {c}[L] = {H(condition)}; const uint32_t {b} = vote({m}, {c});"
        if kind in ("break", "continue"):
            rest = (f" going &= ~{b};" if kind == "break" else "") + f" const uint32_t {inner} = {m} & ~{b};"
            return f"{asks} if ({c}) {kind};{rest}", asked + rest, inner
        if kind in ("if", "else"):
            first, second = self.block(b, depth - 1, ()), self.block(inner, depth - 1, ())
            d, h = f"{asks} if ({c}) {{ {first[0]} }}", f"{asked} {first[1]}"
            if kind == "else":
                d, h = f"{d} else {{ const uint32_t {inner} = {m} & ~{b}; {second[0]} }}", f"{h} {{ const uint32_t {inner} = {m} & ~{b}; {second[1]} }}"
            return f"{{ {d} }}", f"{{ {h} }}", m
        if kind == "switch":
            n, which = self.name("k"), self.value()
            d = D(f"{{ const uint32_t {n} = ({which}) % 4, {b} = __match_any_sync({m}, {n});")
            h = f"{{ uint32_t {n}[32]; FOR({m}) {n}[L] = ({H(which)}) % 4;"
            d += f" switch ({n}) {{"
            for i in range(4):
                part = self.block(b, depth - 1, ())
                d += f" {'default' if i == 3 else f'case {i}'}: {{ {part[0]} break; }}"
                h += f" {{ uint32_t {b} = 0; FOR({m}) {b} |= (uint32_t)({n}[L] == {i}) << L; {part[1]} }}"
            return d + " } }", h + " }", m
        i, most = self.name("i"), draw.choice([2, 4, 6])
        d, h = self.block(inner, depth - 1, ("break", "continue"))
        condition = f"{i} < {most} && {condition}"
        return (D(f"{{ uint32_t going = {m}; for (uint32_t {i} = 0;; {i}++) {{ const bool {c} = {condition}; "
                  f"const uint32_t {inner} = going = __ballot_sync(going, {c}); if (!{c}) break; ") + f"{d} }} }}",
                f"{{ uint32_t going = {m}; for (uint32_t {i} = 0; going; {i}++) {{ bool {c}[32]; FOR(going) {c}[L] = {H(condition)}; "
                f"going = vote(going, {c}); const uint32_t {inner} = going; {h} }} }}", m)

    def function(self, number):
        n = self.draw.randrange(1, 4)
        device = host = ""
        parts = [self.block("m0", 4, ()) for _ in range(n)]
        for part, (d, h) in enumerate(parts):
            device += (f"__device__ __noinline__ void d{number}_{part}(uint32_t &v0, uint32_t &v1, uint32_t &v2, uint32_t lane, Shared &s)\n"
                       f"{{\nconst uint32_t m0 = 0xffffffff;\n{d}}}\n")
            host += f"static void h{number}_{part}(uint32_t (*v)[32], Shared &s)\n{{\nconst uint32_t m0 = 0xffffffff;\n{h}}}\n"
        by, c = self.draw.randrange(1, 96), self.condition()
        device += (f"__global__ void k{number}(const uint32_t *in, uint32_t *out, Shared *shared)\n{{\n__shared__ Shared s;\n"
                   "const uint32_t lane = threadIdx.x % 32;\nuint32_t v0 = in[3 * threadIdx.x], v1 = in[3 * threadIdx.x + 1], v2 = in[3 * threadIdx.x + 2];\n"
                   "begin(s);\nfor (int turn = 0; turn < 2; turn++) {\n")
        host += f"static void host{number}(uint32_t (*v)[3][32], Shared &s)\n{{\nfor (int turn = 0; turn < 2; turn++) {{\n"
        for part in range(n):
            device += f"d{number}_{part}(v0, v1, v2, lane, s);\nexchange(v0, v1, v2, s, {by}, {self.device(c)});\n"
            host += (f"for (int w = 0; w < WARPS; w++)\nh{number}_{part}(v[w], s);\nuint32_t count{part} = 0;\n"
                     f"for (int w = 0; w < WARPS; w++) FOR(~0u) count{part} += {self.host(c).replace('v[', 'v[w][')};\n"
                     f"exchange_all(v, {by}, count{part});\n")
        return device + "}\nfinish(v0, v1, v2, s, out, shared);\n}\n" + host + "}\n}\n"


def warps(seed, n):
    writer = Warps(seed)
    print(WARPS + f"enum {{ FUNCTIONS = {n} }};\n" + "".join(writer.function(i) for i in range(n)))
    print("static void launch(int number, const uint32_t *in, uint32_t *out, Shared *s)\n{\n\tswitch (number) {")
    print("".join(f"\tcase {i}: k{i}<<<1, THREADS>>>(in, out, s); break;\n" for i in range(n)) + "\t}\n}")
    print("static void host(int number, uint32_t (*v)[3][32], Shared &s)\n{\n\tswitch (number) {")
    print("".join(f"\tcase {i}: host{i}(v, s); break;\n" for i in range(n)) + "\t}\n}" + WARPS_MAIN)


def main():
    seed, n = sys.argv[1], int(sys.argv[2])
    if len(sys.argv) > 3:
        return warps(seed, n)
    writer = Writer(seed)
    print(BEFORE + f"enum {{ THREADS = 256, FUNCTIONS = {n} }};\n" + "".join(writer.function(i) for i in range(n)))
    print("EITHER uint64_t call(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)\n{\n\tswitch (number) {")
    print("".join(f"\tcase {i}: return f{i}(a, b, c, d);\n" for i in range(n)) + "\t}\n\treturn 0;\n}" + AFTER)


main()
