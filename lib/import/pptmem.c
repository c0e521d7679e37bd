/* SPDX-License-Identifier: MIT */
/* PPT-GPU's memory traces: a file "kernel_K_block_B.mem" for each block, in a folder memory_traces, and next to that folder
 * app_config.py with the launches (import/pptconfig.h). */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/scan.h"
#include "import/formats.h"
#include "import/opcode.h"
#include "import/pptblock.h"
#include "import/pptconfig.h"
#include "import/pptfolder.h"
#include "import/pptparts.h"
#include "stream/rows.h"

/* Reports a launch and its files. */
static int read_launch(struct gt_pptparts *parts, const struct gt_trace *to, const struct gt_kernel *kernel,
		       const struct gt_pptfile *files, size_t n, struct gt_error *error)
{
	uint64_t blocks = gt_kernel_blocks(kernel), threads = gt_kernel_threads(kernel);

	if (n > 0 && files[n - 1].block >= blocks)
		return gt_fail(error, "%s: expected a block below %" PRIu64 ", the size of the grid", files[n - 1].path, blocks);
	if (to->kernel(to->context, kernel, error) != 0)
		return -1;
	for (size_t i = 0; to->block && i < n; i++)
		if (to->block(to->context, files[i].block, error) != 0)
			return -1;
	return gt_pptparts_read(parts, files, n, (unsigned)gt_kernel_warps(kernel),
				threads % GT_WARP_SIZE ? threads % GT_WARP_SIZE : GT_WARP_SIZE, error);
}

/* Launches as the configuration has them. */
static int read_described(struct gt_pptparts *parts, const struct gt_trace *to, const struct gt_pptfolder *folder,
			  struct gt_error *error)
{
	struct gt_pptconfig config;
	int result = 0;
	size_t n, read = 0;

	if (gt_pptconfig_read(&config, folder->config, error) != 0)
		return -1;
	for (size_t i = 0; i < folder->n && result == 0; i++)
		if ((i == 0 || folder->files[i - 1].kernel != folder->files[i].kernel) &&
		    !gt_pptconfig_find(&config, folder->files[i].kernel))
			result = gt_fail(error, "%s: expected a kernel that %s lists", folder->files[i].path, folder->config);
	for (; read < config.n && result == 0; read++) {
		const struct gt_pptfile *files = gt_pptfolder_files(folder, config.kernels[read].id, &n);

		result = read_launch(parts, to, &config.kernels[read], files, n, error);
	}
	gt_pptconfig_clear(&config);
	return result;
}

/* Launches as the names of the files give them. */
static int read_undescribed(struct gt_pptparts *parts, const struct gt_trace *to, const struct gt_pptfolder *folder,
			    struct gt_error *error)
{
	size_t n;

	for (size_t i = 0; i < folder->n; i += n) {
		struct gt_kernel kernel = {.id = folder->files[i].kernel, .grid = {0, 1, 1}};
		const struct gt_pptfile *files = gt_pptfolder_files(folder, kernel.id, &n);

		snprintf(kernel.name, sizeof kernel.name, "kernel_%" PRIu64, kernel.id);
		kernel.grid[0] = files[n - 1].block + 1;
		if (read_launch(parts, to, &kernel, files, n, error) != 0)
			return -1;
	}
	return 0;
}

static int read_folder(const struct gt_pptfolder *folder, const struct gt_trace *to, struct gt_error *error)
{
	struct gt_pptparts *parts = gt_pptparts_open(to, error);
	struct stat status;

	if (!parts)
		return -1;
	int result = (stat(folder->config, &status) == 0 ? read_described : read_undescribed)(parts, to, folder, error);
	gt_pptparts_close(parts);
	return result;
}

static int read_paths(char *const paths[], size_t n, struct gt_trace *to, struct gt_error *error)
{
	struct gt_pptfolder folder = {0};
	int result = gt_pptfolder_open(&folder, paths, n, error);

	if (result == 0)
		result = read_folder(&folder, to, error);
	gt_pptfolder_close(&folder);
	return result;
}

/* A single file: block 0 of a launch without a description. */
static int read_pptmem(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct gt_pptblock *reader = gt_pptblock_open(to, error);
	struct gt_kernel kernel;

	if (!reader)
		return -1;
	gt_implicit_kernel(&kernel, input);
	kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
	int result = to->kernel(to->context, &kernel, error) == 0 ? gt_pptblock_read(reader, input) : -1;
	gt_pptblock_close(reader);
	return result;
}

/* A separator, or an opcode and a hexadecimal number. */
static bool detect(const char *head, size_t bytes)
{
	char line[128 + GT_SCAN_SLACK] = "";
	const char *word;
	size_t length;
	uint64_t number;
	uint8_t op, size;
	uint16_t hint;

	while (gt_head_line(&head, &bytes, line, 128)) {
		const char *at = line;

		if (gt_scan_end(&at) || gt_pptblock_separates(at))
			continue;
		return gt_scan_word(&at, &word, &length) && gt_sass_access(word, length, &op, &size, &hint) == 0 &&
		       (gt_scan_end(&at) || (gt_scan_hex(&at, &number) && (*at == ' ' || gt_scan_end(&at))));
	}
	return false;
}

const struct gt_importer gt_import_pptmem = {
	.name = "pptmem",
	.summary = "PPT-GPU's .mem files, or a folder of them with app_config.py",
	.detect = detect,
	.read = read_pptmem,
	.owns_path = gt_pptfolder_owns,
	.read_paths = read_paths,
};
