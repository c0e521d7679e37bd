/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/native/encode.h"

#include "base/grown.h"

void gt_native_byte(struct gt_native_code *code, unsigned byte)
{
	unsigned char *grown = gt_grown(code->bytes, code->n, &code->capacity, 1);

	if (!grown) {
		code->failed = true;
		return;
	}
	code->bytes = grown;
	code->bytes[code->n++] = (unsigned char)byte;
}

void gt_native_bytes(struct gt_native_code *code, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gt_native_byte(code, ((const unsigned char *)bytes)[i]);
}

void gt_native_word(struct gt_native_code *code, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		gt_native_byte(code, word >> 8 * i & 0xff);
}
