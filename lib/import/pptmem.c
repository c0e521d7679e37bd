/* SPDX-License-Identifier: MIT */
/* PPT-GPU's memory traces: a file "kernel_K_block_B.mem" for each block, in a folder memory_traces,
 * and next to that folder app_config.py with the launches (import/pptconfig.h).
 *
 * A record is "OPCODE [warp] [predoff active pred] ADDRESS...". In the original dialect a line of
 * "=====" stands between records and addresses begin with 0x; in that of [004] a record is a line
 * and numbers are hexadecimal without 0x, except that the warp is decimal until the file's first
 * address has been written. Inactive lanes are left out, so lanes are numbered in order.
 *
 * The optional fields count warps or lanes, hence are below 1024, and no address that is written
 * without 0x is: how many of the numbers behind an opcode are so small tells which fields a file
 * has. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/scan.h"
#include "import/formats.h"
#include "import/opcode.h"
#include "import/place.h"
#include "import/pptconfig.h"
#include "import/slots.h"
#include "stream/rows.h"

#define FIELD_MAX 1023 /* what an optional field may be */
#define RECORD "expected 'OPCODE [WARP] [PREDOFF ACTIVE PRED] ADDRESS...'"

/* ---- one file */

struct reader {
	struct gt_input *input;
	struct gt_trace *to;
	struct gt_error *error;
	struct gt_opcodes opcodes;
	struct gt_slots slots;
	uint32_t block;
	unsigned warps;	 /* of a block; 0: unknown */
	unsigned last_lanes; /* lanes of the last of them */
	unsigned fields; /* optional fields: 0, 1, 3 or 4 */
	bool hex;	 /* an address was written, and with it all numbers turned hexadecimal */
};

static int fail(const struct reader *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

static bool is_separator(const char *line)
{
	size_t length = strspn(line, "=");

	return length >= 3 && line[length + strspn(line + length, " \t")] == '\0';
}

/* How many small numbers stand before the first address of a record; -1 if there is no address. */
static int count_fields(const char *at)
{
	const char *word;
	size_t length;
	uint64_t number;
	int fields = 0;

	if (!gt_scan_word(&at, &word, &length))
		return -1;
	while (gt_scan_gap(&at) && *at != '\0') {
		if ((at[0] == '0' && at[1] == 'x') || !gt_scan_hex(&at, &number) || number > FIELD_MAX)
			return fields;
		fields++;
	}
	return -1;
}

/* Finds out which fields the file has. Addresses in shared memory may be small too, but then
 * stand behind the fields: the least count is right. */
static int find_fields(struct reader *reader)
{
	char line[256 + GT_SCAN_SLACK] = "";
	const char *head;
	size_t bytes;
	int least = -1;

	if (gt_input_peek(reader->input, &head, &bytes, reader->error) != 0)
		return -1;
	while (gt_head_line(&head, &bytes, line, 256)) {
		int fields = count_fields(line);

		if (fields >= 0 && (least < 0 || fields < least))
			least = fields;
	}
	reader->fields = least < 0 ? 0 : (unsigned)least;
	if (reader->fields == 2 || reader->fields > 4)
		return gt_fail(reader->error,
			       "%s: %u numbers below 1024 before the addresses: expected none, a warp, "
			       "'predoff active pred', or all four",
			       gt_input_name(reader->input), reader->fields);
	return 0;
}

/* Takes the optional fields; of these only the warp matters. */
static int scan_fields(const struct reader *reader, const char **at, uint64_t *warp)
{
	bool (*const scan)(const char **, uint64_t *) = reader->hex ? gt_scan_hex : gt_scan_decimal;
	uint64_t number;

	*warp = 0;
	for (unsigned i = 0; i < reader->fields; i++) {
		if (!gt_scan_gap(at) || !scan(at, &number) || number > FIELD_MAX)
			return gt_input_fail(reader->input, reader->error,
					     "expected %u %s numbers below 1024 before the addresses, as in the "
					     "file's first records",
					     reader->fields, reader->hex ? "hexadecimal" : "decimal");
		if (i == 0 && reader->fields != 3)
			*warp = number;
	}
	return 0;
}

/* Takes all addresses that are not 0; returns how many, or -1. */
static int scan_addresses(const struct reader *reader, const char *at, unsigned max, uint64_t *addresses)
{
	unsigned n = 0;

	while (!gt_scan_end(&at)) {
		bool marked = at[0] == '0' && at[1] == 'x';

		if (n == max)
			return gt_input_fail(reader->input, reader->error,
					     "more than %u addresses: expected one for each lane", max);
		if (!gt_scan_hex(&at, &addresses[n]) || (*at != ' ' && *at != '\t' && *at != '\0'))
			return fail(reader, "expected hexadecimal addresses of at most 64 bits");
		if (!marked && max == GT_WARP_SIZE && addresses[n] > 0 && addresses[n] <= FIELD_MAX)
			return fail(reader, "an address below 1024: expected as many fields as in the file's first records");
		n += addresses[n] != 0;
	}
	return (int)n;
}

static int emit(struct reader *reader, struct gt_trace_access *access, const uint64_t *addresses, unsigned n)
{
	if (n > GT_WARP_SIZE)
		return fail(reader, "more than 32 addresses in one of the two lists of an LDGSTS");
	access->mask = n == GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << n) - 1;
	access->addresses = addresses;
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

/* LDGSTS: the lists in global and in shared memory run together. Addresses within shared memory
 * are small; if none is, the first half is taken for the global ones. The load is handed on first. */
static int emit_two(struct reader *reader, struct gt_trace_access *access, const uint64_t *addresses, unsigned n)
{
	bool shared_first = addresses[0] < GT_WINDOW_BYTES;
	unsigned split = 0, changes = 0;

	for (unsigned i = 1; i < n; i++)
		if ((addresses[i] < GT_WINDOW_BYTES) != (addresses[i - 1] < GT_WINDOW_BYTES)) {
			split = i;
			changes++;
		}
	if (changes == 0 && !shared_first && n % 2 == 0) {
		split = n / 2;
		changes = 1;
	}
	if (changes != 1)
		return fail(reader, "LDGSTS: expected the addresses in global memory and as many in shared memory");
	const uint64_t *global = shared_first ? addresses + split : addresses;
	const uint64_t *shared = shared_first ? addresses : addresses + split;

	if (emit(reader, access, global, shared_first ? n - split : split) != 0)
		return -1;
	access->op = gt_opcode_shared_store();
	return emit(reader, access, shared, shared_first ? split : n - split);
}

static int read_record(struct reader *reader, const char *at)
{
	struct gt_trace_access access = {.numbering = GT_AN_OF_WARP, .block = reader->block};
	uint64_t addresses[2 * GT_WARP_SIZE + 1], slot;
	const char *text;
	size_t length;

	if (!gt_scan_word(&at, &text, &length))
		return fail(reader, RECORD);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s: expected the opcode of a load, a store or an atomic",
				     (int)(length < 80 ? length : 80), text);
	if (scan_fields(reader, &at, &slot) != 0)
		return -1;
	int n = scan_addresses(reader, at, opcode->two ? 2 * GT_WARP_SIZE : GT_WARP_SIZE, addresses);

	if (n < 0)
		return -1;
	if (n == 0)
		return reader->to->passed_over(reader->to->context, "accesses without an active lane", 1,
					       reader->error);
	reader->hex = true;
	access.op = opcode->op;
	access.size = opcode->size;
	access.warp = (uint16_t)slot;
	bool not_last = reader->warps > 1 && (opcode->two ? n / 2 : n) > (int)reader->last_lanes;

	if (reader->warps > 0 && gt_slots_warp(&reader->slots, reader->block, (uint16_t)slot, reader->warps,
					       not_last, &access.warp, reader->error) != 0)
		return gt_import_place(reader->input, reader->error);
	return opcode->two ? emit_two(reader, &access, addresses, (unsigned)n) :
			     emit(reader, &access, addresses, (unsigned)n);
}

/* Reads the records of one block. */
static int read_records(struct reader *reader, struct gt_input *input)
{
	char *line;
	size_t length;
	int got;

	reader->input = input;
	reader->hex = false;
	gt_slots_clear(&reader->slots);
	if (find_fields(reader) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, reader->error)) > 0) {
		const char *at = line;

		if (gt_scan_end(&at) || is_separator(at))
			continue;
		if (read_record(reader, at) != 0)
			return -1;
	}
	return got;
}

static struct reader *open_reader(struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = calloc(1, sizeof *reader);

	if (!reader) {
		gt_fail_memory(error, "a trace's reader");
		return NULL;
	}
	reader->to = to;
	reader->error = error;
	if (gt_slots_open(&reader->slots, error) == 0)
		return reader;
	free(reader);
	return NULL;
}

static void close_reader(struct reader *reader)
{
	gt_slots_close(&reader->slots);
	free(reader);
}

/* A file by itself: block 0 of a launch that nothing describes. */
static int read_pptmem(struct gt_input *input, struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = open_reader(to, error);
	struct gt_kernel kernel;

	if (!reader)
		return -1;
	gt_implicit_kernel(&kernel, input);
	kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
	int result = to->kernel(to->context, &kernel, error) == 0 ? read_records(reader, input) : -1;
	close_reader(reader);
	return result;
}

/* ---- a folder of files */

struct entry {
	uint64_t kernel;
	uint32_t block;
	char *path;
};

struct folder {
	char *config; /* path of app_config.py, which need not exist */
	char *traces; /* path of the folder with the .mem files */
	struct entry *entries;
	size_t n, capacity;
	size_t sm_traces; /* files of an SM instead of a block */
};

/* "FOLDER/NAME", or NULL. An empty folder is the current one. */
static char *join(const char *folder, const char *name)
{
	size_t bytes = strlen(folder) + strlen(name) + 2;
	char *path = malloc(bytes);

	if (path)
		snprintf(path, bytes, "%s%s%s", folder, *folder ? "/" : "", name);
	return path;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool joined_exists(const char *folder, const char *name, bool as_folder)
{
	char *path = join(folder, name);
	struct stat status;
	bool exists = path && stat(path, &status) == 0 && (!as_folder || S_ISDIR(status.st_mode));

	free(path);
	return exists;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "kernel_K_block_B.mem" or "kernel_K_sm_S.mem", possibly compressed. */
static bool scan_name(const char *name, uint64_t *kernel, uint64_t *number, bool *sm)
{
	static const char *const ends[] = {"", ".gz", ".xz", ".zst"};

	if (!gt_scan_text(&name, "kernel_") || !gt_scan_upto(&name, GT_KERNEL_NEXT - 1, kernel))
		return false;
	*sm = gt_scan_text(&name, "_sm_");
	if ((!*sm && !gt_scan_text(&name, "_block_")) || !gt_scan_decimal(&name, number) ||
	    !gt_scan_text(&name, ".mem"))
		return false;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strcmp(name, ends[i]) == 0)
			return true;
	return false;
}

/* Adds a file of the folder, unless its name says that it is no trace. */
static int add_file(struct folder *folder, const char *name, struct gt_error *error)
{
	uint64_t kernel, number;
	bool sm;

	if (!scan_name(name, &kernel, &number, &sm))
		return 0;
	folder->sm_traces += sm;
	if (sm)
		return 0;
	if (number >= UINT32_MAX)
		return gt_fail(error, "%s/%s: expected a block below %" PRIu32, folder->traces, name, UINT32_MAX);
	if (folder->n == folder->capacity) {
		size_t capacity = folder->capacity ? folder->capacity * 2 : 64;
		struct entry *entries = realloc(folder->entries, capacity * sizeof *entries);

		if (!entries)
			return gt_fail_memory(error, "the names of files");
		folder->entries = entries;
		folder->capacity = capacity;
	}
	char *path = join(folder->traces, name);

	if (!path)
		return gt_fail_memory(error, "the names of files");
	folder->entries[folder->n++] = (struct entry){.kernel = kernel, .block = (uint32_t)number, .path = path};
	return 0;
}

static int add_folder(struct folder *folder, struct gt_error *error)
{
	DIR *directory = opendir(*folder->traces ? folder->traces : ".");
	struct dirent *file;
	int result = 0;

	if (!directory)
		return gt_fail_errno(error, "%s", folder->traces);
	errno = 0;
	while (result == 0 && (file = readdir(directory)) != NULL)
		result = add_file(folder, file->d_name, error);
	if (result == 0 && errno != 0)
		result = gt_fail_errno(error, "%s", folder->traces);
	closedir(directory);
	return result;
}

/* Where the traces and the configuration are, from a path the user gave. */
static int locate(const char *path, char **traces, char **config, struct gt_error *error)
{
	char *base = strdup(path);

	*traces = *config = NULL;
	if (!base)
		return gt_fail_memory(error, "a path");
	if (!is_folder(path))
		base[file_name(path) > path ? file_name(path) - path - 1 : 0] = '\0';
	/* A lone slash before the file's name. */
	const char *folder = *base || path[0] != '/' ? base : "/.";
	bool above = is_folder(path) && joined_exists(folder, "memory_traces", true);

	*traces = above ? join(folder, "memory_traces") : strdup(folder);
	*config = join(folder, above || joined_exists(folder, "app_config.py", false) ? "app_config.py" :
									       "../app_config.py");
	free(base);
	return *traces && *config ? 0 : gt_fail_memory(error, "a path");
}

static int add_path(struct folder *folder, const char *path, struct gt_error *error)
{
	char *traces, *config;
	int result = locate(path, &traces, &config, error);

	if (result == 0 && !folder->traces) {
		folder->traces = traces;
		folder->config = config;
		traces = config = NULL;
	}
	if (result == 0 && traces && strcmp(folder->traces, traces) != 0)
		result = gt_fail(error, "%s: expected the traces of one folder, %s", path, folder->traces);
	free(traces);
	free(config);
	if (result != 0)
		return result;
	return is_folder(path) ? add_folder(folder, error) : add_file(folder, file_name(path), error);
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* Sorts the files, and refuses two of one block. */
static int sort_entries(struct folder *folder, struct gt_error *error)
{
	if (folder->n == 0)
		return gt_fail(error, "%s: expected files kernel_K_block_B.mem%s", folder->traces,
			       folder->sm_traces ? "; traces of an SM do not tell the blocks apart" : "");
	qsort(folder->entries, folder->n, sizeof *folder->entries, compare);
	for (size_t i = 1; i < folder->n; i++)
		if (compare(&folder->entries[i - 1], &folder->entries[i]) == 0)
			return gt_fail(error, "%s: expected one file for a block, found also %s",
				       folder->entries[i].path, folder->entries[i - 1].path);
	return 0;
}

/* The first of the sorted files of a launch, and how many there are. */
static const struct entry *files_of(const struct folder *folder, uint64_t kernel, size_t *n)
{
	size_t low = 0, high = folder->n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (folder->entries[middle].kernel < kernel)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < folder->n && folder->entries[end].kernel == kernel; end++)
		;
	*n = end - low;
	return folder->entries + low;
}

static int read_block(struct reader *reader, const struct entry *entry)
{
	struct gt_input *input = gt_input_open(entry->path, reader->error);
	struct gt_error ignored;

	if (!input)
		return -1;
	reader->block = entry->block;
	int result = read_records(reader, input);
	if (gt_input_close(input, result == 0 ? reader->error : &ignored) != 0)
		result = -1;
	return result;
}

/* Hands a launch and its files on. */
static int read_launch(struct reader *reader, const struct gt_kernel *kernel, const struct entry *files, size_t n)
{
	uint64_t blocks = gt_kernel_blocks(kernel), threads = gt_kernel_threads(kernel);

	if (n > 0 && files[n - 1].block >= blocks)
		return gt_fail(reader->error, "%s: expected a block below %" PRIu64 ", the size of the grid",
			       files[n - 1].path, blocks);
	if (reader->to->kernel(reader->to->context, kernel, reader->error) != 0)
		return -1;
	reader->warps = (unsigned)gt_kernel_warps(kernel);
	reader->last_lanes = threads % GT_WARP_SIZE ? threads % GT_WARP_SIZE : GT_WARP_SIZE;
	for (size_t i = 0; i < n; i++)
		if (read_block(reader, &files[i]) != 0)
			return -1;
	return 0;
}

/* Launches as the configuration has them. */
static int read_described(struct reader *reader, const struct folder *folder)
{
	struct gt_pptconfig config;
	int result = 0;
	size_t n, read = 0;

	if (gt_pptconfig_read(&config, folder->config, reader->error) != 0)
		return -1;
	for (size_t i = 0; i < folder->n && result == 0; i++)
		if ((i == 0 || folder->entries[i - 1].kernel != folder->entries[i].kernel) &&
		    !gt_pptconfig_find(&config, folder->entries[i].kernel))
			result = gt_fail(reader->error, "%s: expected a kernel that %s lists",
					 folder->entries[i].path, folder->config);
	for (; read < config.n && result == 0; read++) {
		const struct entry *files = files_of(folder, config.kernels[read].id, &n);

		result = read_launch(reader, &config.kernels[read], files, n);
	}
	gt_pptconfig_clear(&config);
	return result;
}

/* Launches as far as the names of the files tell. */
static int read_undescribed(struct reader *reader, const struct folder *folder)
{
	size_t n;

	for (size_t i = 0; i < folder->n; i += n) {
		struct gt_kernel kernel = {.id = folder->entries[i].kernel, .grid = {0, 1, 1}};
		const struct entry *files = files_of(folder, kernel.id, &n);

		snprintf(kernel.name, sizeof kernel.name, "kernel_%" PRIu64, kernel.id);
		kernel.grid[0] = files[n - 1].block + 1;
		if (read_launch(reader, &kernel, files, n) != 0)
			return -1;
	}
	return 0;
}

static int read_folder(const struct folder *folder, struct gt_trace *to, struct gt_error *error)
{
	struct reader *reader = open_reader(to, error);
	struct stat status;

	if (!reader)
		return -1;
	int result = stat(folder->config, &status) == 0 ? read_described(reader, folder) :
							  read_undescribed(reader, folder);
	close_reader(reader);
	return result;
}

/* The paths of traces; that of a configuration among them is taken instead of the one that would be
 * looked for. */
static int add_paths(struct folder *folder, char *const paths[], size_t n, struct gt_error *error)
{
	const char *config = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(file_name(paths[i]), "app_config.py") == 0)
			config = paths[i];
		else if (add_path(folder, paths[i], error) != 0)
			return -1;
	}
	if (!folder->traces)
		return gt_fail(error, "%s: expected a folder with traces, or .mem files, too", config);
	if (!config)
		return 0;
	free(folder->config);
	folder->config = strdup(config);
	return folder->config ? 0 : gt_fail_memory(error, "a path");
}

static int read_paths(char *const paths[], size_t n, struct gt_trace *to, struct gt_error *error)
{
	struct folder folder = {0};
	int result = add_paths(&folder, paths, n, error);

	if (result == 0)
		result = sort_entries(&folder, error);
	if (result == 0)
		result = read_folder(&folder, to, error);
	for (size_t i = 0; i < folder.n; i++)
		free(folder.entries[i].path);
	free(folder.entries);
	free(folder.config);
	free(folder.traces);
	return result;
}

static bool owns_path(const char *path)
{
	uint64_t kernel, number;
	bool sm, found = false;

	if (!is_folder(path))
		return scan_name(file_name(path), &kernel, &number, &sm);
	if (joined_exists(path, "memory_traces", true) || joined_exists(path, "app_config.py", false))
		return true;
	DIR *directory = opendir(path);

	for (struct dirent *file; directory && !found && (file = readdir(directory)) != NULL;)
		found = scan_name(file->d_name, &kernel, &number, &sm);
	if (directory)
		closedir(directory);
	return found;
}

/* A separator, or an opcode and a hexadecimal number. */
static bool detect(const char *head, size_t bytes)
{
	char line[128 + GT_SCAN_SLACK] = "";
	const char *word;
	size_t length;
	uint64_t number;
	uint8_t op;

	while (gt_head_line(&head, &bytes, line, 128)) {
		const char *at = line;

		if (gt_scan_end(&at) || is_separator(at))
			continue;
		return gt_scan_word(&at, &word, &length) && gt_sass_op(word, length, &op) == 0 &&
		       (gt_scan_end(&at) || (gt_scan_hex(&at, &number) && (*at == ' ' || gt_scan_end(&at))));
	}
	return false;
}

const struct gt_importer gt_import_pptmem = {
	.name = "pptmem",
	.summary = "PPT-GPU's .mem files, or a folder of them with app_config.py",
	.detect = detect,
	.read = read_pptmem,
	.owns_path = owns_path,
	.read_paths = read_paths,
};
