/* SPDX-License-Identifier: MIT */
/* The warp accesses of a naive N x N matrix product in blocks of 32 x 8 threads, each thread one
 * element of C: per k a broadcast of A and a row of B, at the end one store. Written in the order
 * of blocks, as a stream, as Accel-Sim text, as NVBit's mem_trace, or as PPT-GPU's files in a FOLDER that exists.
 *   matmul N stream|text|nvbit
 *   matmul N mem FOLDER */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/stream.h"

enum { WARPS = 8 };
static const uint64_t a = UINT64_C(0x7f3a40000000), b = UINT64_C(0x7f3a48000000), c = UINT64_C(0x7f3a50000000);

static _Noreturn void fail(const struct gt_error *error)
{
	fprintf(stderr, "matmul: %s\n", error->text);
	exit(1);
}

/* Access `an` of a warp that computes C[i][j...j+31]. */
static void access_of(uint32_t n, uint32_t an, uint32_t i, uint32_t j, uint64_t *base, int64_t *stride, uint8_t *op)
{
	uint64_t k = an / 2;

	*op = an == 2 * n;
	*stride = *op || an % 2 ? 4 : 0;
	*base = *op ? c + 4 * ((uint64_t)i * n + j) : an % 2 ? b + 4 * (k * n + j) : a + 4 * ((uint64_t)i * n + k);
}

static void write_stream(uint32_t n)
{
	struct gt_error error;
	char *argv[] = {NULL};
	struct gt_kernel kernel = {.id = 1, .name = "matmul", .grid = {n / 32, n / 8, 1}, .block = {32, WARPS, 1},
				   .registers = 32, .order = GT_ORDER_BLOCK};
	struct gt_writer *writer = gt_writer_open(STDOUT_FILENO, NULL, "matmul", "1", argv, &error);
	struct gt_sink *sink = writer ? gt_writer_sink(writer) : NULL;
	struct gt_rows *rows = sink ? sink->rows : NULL;

	if (!writer || gt_write_kernel(writer, &kernel, &error) != 0 ||
	    gt_sink_begin(sink, GT_ACCESSES, false, &error) != 0)
		fail(&error);
	for (uint32_t block = 0; block < (n / 32) * (n / 8); block++)
		for (uint32_t an = 0; an <= 2 * n; an++)
			for (uint16_t warp = 0; warp < WARPS; warp++) {
				if (gt_sink_room(sink, &error) != 0)
					fail(&error);
				size_t r = rows->n++;
				rows->block[r] = block;
				rows->warp[r] = warp;
				rows->an[r] = an;
				rows->pc[r] = an == 2 * n ? 0x30 : an % 2 ? 0x20 : 0x10;
				rows->size[r] = 4;
				rows->mask[r] = UINT32_MAX;
				access_of(n, an, block / (n / 32) * 8 + warp, block % (n / 32) * 32, &rows->base[r],
					  &rows->stride[r], &rows->op[r]);
			}
	if (gt_writer_finish(writer, &error) != 0)
		fail(&error);
	gt_writer_close(writer);
}

static void write_text(uint32_t n)
{
	printf("-kernel name = matmul\n-kernel id = 1\n-grid dim = (%" PRIu32 ",%" PRIu32 ",1)\n-block dim = (32,8,1)\n"
	       "-shmem = 0\n-nregs = 32\n-binary version = 70\n-cuda stream id = 0\n"
	       "-shmem base_addr = 0x00007f2b00000000\n-local mem base_addr = 0x00007f2af0000000\n"
	       "-nvbit version = 1.5.5\n-accelsim tracer version = 3\n\n"
	       "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
	       "[mem_addresses]\n\n",
	       n / 32, n / 8);
	for (uint32_t block = 0; block < (n / 32) * (n / 8); block++) {
		printf("#BEGIN_TB\n\nthread block = %" PRIu32 ",%" PRIu32 ",0\n\n", block % (n / 32), block / (n / 32));
		for (uint32_t warp = 0; warp < WARPS; warp++) {
			printf("warp = %" PRIu32 "\ninsts = %" PRIu32 "\n", warp, 3 * n + 1);
			for (uint32_t an = 0; an <= 2 * n; an++) {
				uint64_t base;
				int64_t stride;
				uint8_t op;
				access_of(n, an, block / (n / 32) * 8 + warp, block % (n / 32) * 32, &base, &stride, &op);
				printf(op ? "0030 ffffffff 0 STG.E.SYS 2 R2 R4 4 1 0x%016" PRIx64 " %" PRId64 "\n"
					  : "0010 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x%016" PRIx64 " %" PRId64 "\n",
				       base, stride);
				if (an % 2)
					puts("0028 ffffffff 1 R6 FFMA 3 R4 R5 R6 0");
			}
			putchar('\n');
		}
		puts("#END_TB\n");
	}
}

static void write_nvbit(uint32_t n)
{
	printf("MEMTRACE: CTX 0x0000000000abc000 - LAUNCH - Kernel pc 0x00007f0000000200 - Kernel name matmul - grid launch id 1"
	       " - grid size %" PRIu32 ",%" PRIu32 ",1 - block size 32,8,1 - nregs 32 - shmem 0 - cuda stream id 0\n",
	       n / 32, n / 8);
	for (uint32_t block = 0; block < (n / 32) * (n / 8); block++)
		for (uint32_t an = 0; an <= 2 * n; an++)
			for (uint32_t warp = 0; warp < WARPS; warp++) {
				uint64_t base;
				int64_t stride;
				uint8_t op;
				access_of(n, an, block / (n / 32) * 8 + warp, block % (n / 32) * 32, &base, &stride, &op);
				printf("MEMTRACE: CTX 0x0000000000abc000 - grid_launch_id 0 - CTA %" PRIu32 ",%" PRIu32
				       ",0 - warp %" PRIu32 " - %s - ",
				       block % (n / 32), block / (n / 32), warp, op ? "STG.E" : "LDG.E");
				for (uint32_t lane = 0; lane < 32; lane++)
					printf("0x%016" PRIx64 " ", base + (uint64_t)stride * lane);
				putchar('\n');
			}
}

/* A file of FOLDER/memory_traces, or app_config.py beside that folder. */
static FILE *open_file(const char *folder, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static void write_mem(uint32_t n, const char *folder)
{
	uint32_t blocks = (n / 32) * (n / 8);
	FILE *file = open_file(folder, "app_config.py");

	fprintf(file, "app_kernels_id = [1]\nkernel_1 = {'kernel_name': 'matmul', 'num_registers': 32, 'shared_mem_bytes': 0,"
		" 'grid_size': %" PRIu32 ", 'block_size': 256}\n", blocks);
	fclose(file);
	for (uint32_t block = 0; block < blocks; block++) {
		char name[64];
		snprintf(name, sizeof name, "memory_traces/kernel_1_block_%" PRIu32 ".mem", block);
		file = open_file(folder, name);
		for (uint32_t warp = 0; warp < WARPS; warp++)
			for (uint32_t an = 0; an <= 2 * n; an++) {
				uint64_t base;
				int64_t stride;
				uint8_t op;
				access_of(n, an, block / (n / 32) * 8 + warp, block % (n / 32) * 32, &base, &stride, &op);
				fputs(op ? "STG.E" : "LDG.E", file);
				for (uint32_t lane = 0; lane < 32; lane++)
					fprintf(file, " %" PRIx64, base + (uint64_t)stride * lane);
				putc('\n', file);
			}
		fclose(file);
	}
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	const char *form = argc > 2 ? argv[2] : "";

	if (n < 32 || n % 32 != 0 || n > 8192) {
		fputs("matmul: expected N, a multiple of 32 up to 8192\n", stderr);
		return 2;
	}
	if (argc == 3 && strcmp(form, "stream") == 0)
		write_stream(n);
	else if (argc == 3 && strcmp(form, "text") == 0)
		write_text(n);
	else if (argc == 3 && strcmp(form, "nvbit") == 0)
		write_nvbit(n);
	else if (argc == 4 && strcmp(form, "mem") == 0)
		write_mem(n, argv[3]);
	else {
		fputs("usage: matmul N stream|text|nvbit, or matmul N mem FOLDER\n", stderr);
		return 2;
	}
	return fflush(stdout) != 0;
}
