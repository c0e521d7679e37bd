/* SPDX-License-Identifier: MIT */
/* A sparse matrix for tests of products. */
#ifndef TESTS_CUDA_SPARSE_H
#define TESTS_CUDA_SPARSE_H

#include <cstdint>

/* Which elements of a group a row keeps: of four two, of two of tf32 one; and the four bits that say so. */
static uint32_t kept(int bytes, int row, int group, int at[2])
{
	static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
	const int i = row * 5 + group * 7 + row / 9;

	at[0] = bytes == 4 ? i % 2 : pairs[i % 6][0];
	at[1] = bytes == 4 ? -1 : pairs[i % 6][1];
	return bytes == 4 ? (at[0] ? 0xe : 0x4) : (uint32_t)(at[0] | at[1] << 2);
}

#endif
