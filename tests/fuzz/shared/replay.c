/* SPDX-License-Identifier: MIT */
/* Calls a target with each file, as libFuzzer would: TARGET FILE... */
#include <stdio.h>
#include <stdlib.h>

#include "target.h"

#define BYTES_MAX ((size_t)1 << 20)

int main(int argc, char **argv)
{
	uint8_t *data = malloc(BYTES_MAX);

	for (int i = 1; data && i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		if (!file) {
			perror(argv[i]);
			return 1;
		}
		size_t bytes = fread(data, 1, BYTES_MAX, file);
		fclose(file);
		LLVMFuzzerTestOneInput(data, bytes);
	}
	free(data);
	printf("%d inputs\n", argc - 1);
	return argc > 1 ? 0 : 1;
}
