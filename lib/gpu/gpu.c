/* SPDX-License-Identifier: MIT */
/* GPU descriptions (gpu/gpu.h): their keys and values, and how they are found and read on disk (gtrace-gpu(5)). */
#include "gpu/gpu.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/grown.h"
#include "base/installed.h"
#include "base/options.h"
#include "gpu/parameter.h"

/* ---- keys and values ---- */

#define BYTES_MAX (UINT64_C(1) << 48)
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

#define TEXT {GT_VALUE_TEXT, NULL, 0, 0}
#define WORD {GT_VALUE_WORD, NULL, 0, 0}
#define COUNT {GT_VALUE_COUNT, NULL, 1, UINT32_MAX}
#define SIZE {GT_VALUE_SIZE, NULL, 1, BYTES_MAX}
#define SIZE_OR_0 {GT_VALUE_SIZE, NULL, 0, BYTES_MAX}

/* The keys that do not belong to a cache level. Keys of levels are LEVEL.PARAMETER. */
static const struct {
	const char *name;
	struct gt_value_type type;
} keys[] = {
	{"name", TEXT},
	{"architecture", TEXT},
	{"compute_capability", WORD},
	{"sms", COUNT},
	{"gpcs", COUNT},
	{"gpc_sms", WORD},
	{"gpc_again", WORD},
	{"schedulers", COUNT},
	{"access_cycles", COUNT},
	{"scheduler_access_cycles", COUNT},
	{"warp_order", WORD},
	{"max_warps", COUNT},
	{"max_blocks", COUNT},
	{"registers", COUNT},
	{"register_unit", COUNT},
	{"warp_unit", COUNT},
	{"max_registers_thread", COUNT},
	{"shared", SIZE_OR_0},
	{"shared_block", SIZE_OR_0},
	{"shared_unit", SIZE},
	{"shared_reserved", SIZE_OR_0},
	{"shared_least", SIZE_OR_0},
	{"shared_warps", COUNT},
	{"shared_room", COUNT},
	{"shared_room_none", COUNT},
	{"shared_options", {GT_VALUE_SIZES, NULL, 0, BYTES_MAX}},
	{"shared_banks", COUNT},
	{"shared_bank_bytes", COUNT},
	{"shared_bank_unit", COUNT},
	{"shared_latency", WORD},
	{"unified", SIZE},
	{"l1_reserved", SIZE_OR_0},
	{"coalesce", WORD},
	{"dispatch", WORD},
	{"dram.channels", COUNT},
	{"dram.banks", COUNT},
	{"dram.row", SIZE},
	{"dram.interleave", SIZE},
	{"dram.sector", SIZE},
	{"dram.partial", WORD},
};

/* Keys that were, and what says the same now. */
static const struct {
	const char *old, *now;
} renamed[] = {
	{"l2_spread", "l2.spread = slice:CYCLES"},
	{"l2.halves", "l2.spread = far:CYCLES"},
};

/* Whether the end of a key is the name of an option, with _ for -. */
static bool is_name(const char *end, const char *name)
{
	for (; *end && (*end == *name || (*end == '_' && *name == '-')); end++)
		name++;
	return *end == '\0' && *name == '\0';
}

/* The parameter that a key sets, for any level; NULL if it sets none. */
static const struct gt_parameter *parameter_of_key(const char *key)
{
	const char *dot = strchr(key, '.');

	for (size_t level = 0; dot && level < gt_gpu_levels_n; level++) {
		size_t length = strlen(gt_gpu_levels[level]);
		if (length != (size_t)(dot - key) || memcmp(key, gt_gpu_levels[level], length) != 0)
			continue;
		for (int id = 0; id < GT_PARAMETERS; id++)
			if (is_name(dot + 1, gt_parameters[id].name))
				return &gt_parameters[id];
	}
	return NULL;
}

static const struct gt_value_type *type_of(const char *key)
{
	const struct gt_parameter *parameter = parameter_of_key(key);

	for (size_t i = 0; i < LENGTH(keys); i++)
		if (strcmp(keys[i].name, key) == 0)
			return &keys[i].type;
	return parameter ? &parameter->type : NULL;
}

bool gt_gpu_known(const char *key)
{
	return type_of(key) != NULL;
}

static uint64_t hash_of(const char *key)
{
	return XXH3_64bits(key, strlen(key));
}

static struct gt_gpu_figure *figure_of(const struct gt_gpu *gpu, const char *key)
{
	uint64_t hash = gpu ? hash_of(key) : 0;

	for (size_t i = 0; gpu && i < gpu->n; i++)
		if (gpu->hashes[i] == hash && strcmp(gpu->figures[i].key, key) == 0)
			return &gpu->figures[i];
	return NULL;
}

const char *gt_gpu_get(const struct gt_gpu *gpu, const char *key)
{
	const struct gt_gpu_figure *figure = figure_of(gpu, key);

	return figure ? figure->value : NULL;
}

/* A figure without a value, for a key. */
static struct gt_gpu_figure *append(struct gt_gpu *gpu, const char *key, struct gt_error *error)
{
	struct gt_gpu_figure *figures = gt_grown(gpu->figures, gpu->n, &gpu->capacity, sizeof *figures);
	uint64_t *hashes = gt_grown(gpu->hashes, gpu->n, &gpu->hashes_capacity, sizeof *hashes);

	gpu->figures = figures ? figures : gpu->figures;
	gpu->hashes = hashes ? hashes : gpu->hashes;
	if (!figures || !hashes) {
		gt_fail_memory(error, "a GPU description");
		return NULL;
	}
	gpu->hashes[gpu->n] = hash_of(key);
	return &gpu->figures[gpu->n++];
}

static int copy(char *to, size_t bytes, const char *from, const char *what, struct gt_error *error)
{
	if (strlen(from) >= bytes)
		return gt_fail(error, "expected a %s of at most %zu bytes", what, bytes - 1);
	strcpy(to, from);
	return 0;
}

int gt_gpu_set(struct gt_gpu *gpu, const char *key, const char *value, const char *status,
	       const char *source, struct gt_error *error)
{
	const struct gt_value_type *type = type_of(key);
	struct gt_gpu_figure new;
	struct gt_value ignored;
	struct gt_error reason;

	for (size_t i = 0; !type && i < LENGTH(renamed); i++)
		if (strcmp(renamed[i].old, key) == 0)
			return gt_fail(error, "%s is %s now: see gtrace-gpu(5)", key, renamed[i].now);
	if (!type)
		return gt_fail(error, "'%.100s': unknown key: expected one of those in gtrace-gpu(5)", key);
	if (copy(new.key, sizeof new.key, key, "key", error) != 0 ||
	    copy(new.value, sizeof new.value, value, "value", error) != 0 ||
	    copy(new.status, sizeof new.status, status, "status", error) != 0 ||
	    copy(new.source, sizeof new.source, source, "source", error) != 0)
		return -1;
	if (gt_value_read(type, value, &ignored, &reason) != 0)
		return gt_fail(error, "%s: %s", key, reason.text);
	struct gt_gpu_figure *figure = figure_of(gpu, key);
	if (!figure)
		figure = append(gpu, key, error);
	if (!figure)
		return -1;
	*figure = new;
	return 0;
}

int gt_gpu_join(struct gt_gpu *gpu, const struct gt_gpu *from, struct gt_error *error)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct gt_gpu_figure *figure = &from->figures[i];
		if (gt_gpu_set(gpu, figure->key, figure->value, figure->status, figure->source, error) != 0)
			return -1;
	}
	return 0;
}

void gt_gpu_clear(struct gt_gpu *gpu)
{
	free(gpu->figures);
	free(gpu->hashes);
	*gpu = (struct gt_gpu){0};
}

int gt_gpu_count(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		 struct gt_error *error)
{
	const char *written = gt_gpu_get(gpu, key);
	struct gt_error reason;

	*value = otherwise;
	if (written && gt_parse_count(written, 0, UINT32_MAX, value, &reason) != 0)
		return gt_fail(error, "gpu: %s: %s", key, reason.text);
	return 0;
}

int gt_gpu_size(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		struct gt_error *error)
{
	const char *written = gt_gpu_get(gpu, key);
	struct gt_error reason;

	*value = otherwise;
	if (written && gt_parse_size(written, 0, UINT64_C(1) << 48, value, &reason) != 0)
		return gt_fail(error, "gpu: %s: %s", key, reason.text);
	return 0;
}

/* "FIRST,THEN", both below 100. */
static int get_again(const struct gt_gpu *gpu, struct gt_gpcs *gpcs, struct gt_error *error)
{
	const char *text = gt_gpu_get(gpu, "gpc_again");
	int length = 0;

	gpcs->again = gpcs->then_again = 0;
	if (text && (text[strspn(text, "0123456789,")] || sscanf(text, "%2" SCNu32 ",%2" SCNu32 "%n", &gpcs->again, &gpcs->then_again, &length) != 2 ||
		     text[length] || gpcs->again == 0 || gpcs->then_again == 0))
		return gt_fail(error, "gpu: gpc_again: '%.100s': expected two counts of 1 to 99, such as 5,6", text);
	return 0;
}

int gt_gpu_gpcs(const struct gt_gpu *gpu, uint64_t sms, struct gt_gpcs *gpcs, struct gt_error *error)
{
	const char *text = gt_gpu_get(gpu, "gpc_sms"), *at = text;
	uint32_t end = 0;

	gpcs->n = 0;
	if (get_again(gpu, gpcs, error) != 0)
		return -1;
	while (at && gpcs->n < GT_GPCS_MAX) {
		size_t digits = strspn(at, "0123456789");
		if (digits == 0 || digits > 5 || at[0] == '0' || (at[digits] && at[digits] != ','))
			break;
		gpcs->end[gpcs->n++] = end += (uint32_t)strtoul(at, NULL, 10);
		at = at[digits] ? at + digits + 1 : NULL;
	}
	if (at)
		return gt_fail(error, "gpu: gpc_sms: '%.100s': expected the SMs of at most %d GPCs, such as 16,18", text, GT_GPCS_MAX);
	if (sms > 0 && gt_gpcs_sms(gpcs) != sms)
		gpcs->n = 0;
	if (gpcs->n < 2)
		gpcs->again = 0;
	return 0;
}

/* ---- descriptions on disk ---- */

/* Of a description, whose SMs no option has changed yet. */
static int check_gpcs(const struct gt_gpu *gpu, const char *path, struct gt_error *error)
{
	struct gt_error why;
	struct gt_gpcs gpcs;
	uint64_t sms;

	if (gt_gpu_gpcs(gpu, 0, &gpcs, &why) != 0 || gt_gpu_count(gpu, "sms", 0, &sms, &why) != 0)
		return gt_fail(error, "%s: %s", path, why.text);
	if (gpcs.n > 0 && sms > 0 && gt_gpcs_sms(&gpcs) != sms)
		return gt_fail(error, "%s: gpc_sms: %" PRIu64 " SMs in all, and sms are %" PRIu64, path, gt_gpcs_sms(&gpcs), sms);
	return 0;
}

#define PATH_BYTES 4096
#define LINE_BYTES 1024
#define BLANKS " \t\r\n"

static const char *const statuses[] = {"vendor", "standard", "paper", "measured", "assumed"};
#define STATUSES (sizeof statuses / sizeof statuses[0])

/* ---- finding a file ---- */

static bool is_directory(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int from_environment(char *buffer, size_t bytes)
{
	const char *named = getenv("GTRACE_GPUS");

	return named && (size_t)snprintf(buffer, bytes, "%s", named) < bytes ? 0 : -1;
}

/* A directory beside the running program's bin/. */
static int beside_program(const char *name, char *buffer, size_t bytes)
{
	char program[GT_PROGRAM_FOLDER], *slash;

	gt_program_folder(program);
	if (!(slash = strrchr(program, '/')))
		return -1;
	*slash = '\0';
	return (size_t)snprintf(buffer, bytes, "%s/%s", program, name) < bytes ? 0 : -1;
}

static int in_source_tree(char *buffer, size_t bytes)
{
	return beside_program("gpus", buffer, bytes);
}

/* Found also if the installation was moved. */
static int in_same_prefix(char *buffer, size_t bytes)
{
	return beside_program("share/gtrace/gpus", buffer, bytes);
}

static int installed(char *buffer, size_t bytes)
{
	return (size_t)snprintf(buffer, bytes, "%s/gpus", gt_datadir) < bytes ? 0 : -1;
}

static int (*const places[])(char *buffer, size_t bytes) = {from_environment, in_source_tree, in_same_prefix,
									 installed};

int gt_gpu_directory(char *buffer, size_t bytes, struct gt_error *error)
{
	const char *named = getenv("GTRACE_GPUS");

	if (named && !is_directory(named))
		return gt_fail(error, "GTRACE_GPUS: '%s' is not a directory", named);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (places[i](buffer, bytes) == 0 && is_directory(buffer))
			return 0;
	return gt_fail(error, "found no directory of GPU descriptions: set GTRACE_GPUS to one");
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

#define NAMES_MAX 64
struct names {
	char of[NAMES_MAX][32];
	size_t n;
};

/* The descriptions in a directory, sorted. */
static void read_names(const char *directory, struct names *names)
{
	DIR *open = opendir(directory);

	names->n = 0;
	for (struct dirent *entry; open && names->n < NAMES_MAX && (entry = readdir(open));)
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < sizeof names->of[0])
			strcpy(names->of[names->n++], entry->d_name);
	if (open)
		closedir(open);
	qsort(names->of, names->n, sizeof names->of[0], compare_names);
}

/* The name that is nearest to a word, of those with fewer than `limit` wrong letters; NULL if there is none. */
static const char *nearest(const struct names *names, const char *word, unsigned limit)
{
	const char *best = NULL;

	for (size_t i = 0; i < names->n; i++) {
		unsigned distance = gt_edit_distance(word, names->of[i]);
		if (distance >= limit)
			continue;
		limit = distance;
		best = names->of[i];
	}
	return best;
}

int gt_gpu_nearest(const char *word, char *name, size_t bytes, struct gt_error *error)
{
	char directory[PATH_BYTES];
	struct names names;

	if (gt_gpu_directory(directory, sizeof directory, error) != 0)
		return -1;
	read_names(directory, &names);
	const char *found = nearest(&names, word, (unsigned)strlen(word));
	snprintf(name, bytes, "%s", found ? found : "");
	return 0;
}

/* "NAME, NAME, ...", cut if they do not fit. */
static void list_names(const struct names *names, char *buffer, size_t bytes)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < names->n && used < bytes; i++)
		used += (size_t)snprintf(buffer + used, bytes - used, "%s%s", i > 0 ? ", " : "", names->of[i]);
}

int gt_gpu_path(const char *name_or_file, char *path, size_t bytes, struct gt_error *error)
{
	char directory[PATH_BYTES - 256], list[400], proposal[64] = "";
	struct names names;
	struct stat about;
	bool is_file = stat(name_or_file, &about) == 0 && S_ISREG(about.st_mode) && access(name_or_file, R_OK) == 0;

	if (strchr(name_or_file, '/') || is_file) {
		if ((size_t)snprintf(path, bytes, "%s", name_or_file) >= bytes)
			return gt_fail(error, "'%.100s...': path too long", name_or_file);
		return 0;
	}
	if (gt_gpu_directory(directory, sizeof directory, error) != 0)
		return -1;
	if (name_or_file[0] != '\0' && name_or_file[0] != '.' &&
	    (size_t)snprintf(path, bytes, "%s/%s", directory, name_or_file) < bytes && stat(path, &about) == 0)
		return 0;
	read_names(directory, &names);
	list_names(&names, list, sizeof list);
	const char *near = nearest(&names, name_or_file, (unsigned)strlen(name_or_file) / 3 + 1);
	if (near)
		snprintf(proposal, sizeof proposal, "did you mean '%s'? ", near);
	return gt_fail(error, "'%.100s': no such GPU: %sexpected a file or one of %s", name_or_file, proposal, list);
}

/* ---- reading a file ---- */

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
	text += strspn(text, BLANKS);
	for (size_t length = strlen(text); length > 0 && strchr(BLANKS, text[length - 1]); length--)
		text[length - 1] = '\0';
	return text;
}

/* Splits at the first `separator`; NULL if there is none. Returns what follows, both trimmed. */
static char *split(char **text, char separator)
{
	char *at = strchr(*text, separator);

	if (!at)
		return NULL;
	*at = '\0';
	*text = trim(*text);
	return trim(at + 1);
}

/* One line: nothing, a comment, or "key = value # status: source". */
static int read_figure(struct gt_gpu *gpu, char *line, struct gt_error *error)
{
	char *key = trim(line);

	if (key[0] == '\0' || key[0] == '#')
		return 0;
	char *status = split(&key, '#');
	char *value = split(&key, '=');
	if (!value)
		return gt_fail(error, "expected 'key = value  # status: source'");
	char *source = status ? split(&status, ':') : NULL;
	size_t i = 0;
	while (source && i < STATUSES && strcmp(status, statuses[i]) != 0)
		i++;
	if (!source || i == STATUSES || source[0] == '\0')
		return gt_fail(error, "%.100s: expected '# status: source' after the value, "
				      "the status vendor, standard, paper, measured or assumed", key);
	if (gt_gpu_get(gpu, key))
		return gt_fail(error, "%.100s: given twice", key);
	return gt_gpu_set(gpu, key, value, status, source, error);
}

static int read_lines(struct gt_gpu *gpu, FILE *file, const char *path, struct gt_error *error)
{
	char line[LINE_BYTES];
	struct gt_error reason;

	for (unsigned long n = 1; fgets(line, sizeof line, file); n++) {
		if (!strchr(line, '\n') && !feof(file))
			return gt_fail(error, "%s:%lu: expected a line of text of at most %d bytes", path, n,
				       LINE_BYTES - 2);
		if (read_figure(gpu, line + (n == 1 ? strspn(line, "\xef\xbb\xbf") : 0), &reason) != 0) /* behind a byte-order mark */
			return gt_fail(error, "%s:%lu: %s", path, n, reason.text);
	}
	if (ferror(file))
		return gt_fail_errno(error, "%s", path);
	if (gpu->n == 0)
		return gt_fail(error, "%s: expected at least one value", path);
	return 0;
}

int gt_gpu_load(struct gt_gpu *gpu, const char *name_or_file, struct gt_error *error)
{
	char path[PATH_BYTES];

	*gpu = (struct gt_gpu){0};
	if (gt_gpu_path(name_or_file, path, sizeof path, error) != 0)
		return -1;
	FILE *file = fopen(path, "r");
	if (!file)
		return gt_fail_errno(error, "%s", path);
	int result = read_lines(gpu, file, path, error);
	fclose(file);
	if (result == 0)
		result = check_gpcs(gpu, path, error);
	if (result != 0)
		gt_gpu_clear(gpu);
	return result;
}

unsigned gt_gpu_capability(const struct gt_gpu *gpu)
{
	const char *text = gt_gpu_get(gpu, "compute_capability");
	unsigned major, minor;

	return text && sscanf(text, "%3u.%1u", &major, &minor) == 2 ? 10 * major + minor : 0;
}

bool gt_gpu_runs(unsigned capability, struct gt_gpu_target target)
{
	if (target.features == 'a')
		return capability == target.capability;
	return capability >= target.capability && (target.features != 'f' || capability / 10 == target.capability / 10);
}

/* "NAME, NAME, ...": those of a directory that run it, cut if they do not fit. */
static void list_running(const char *directory, struct gt_gpu_target target, char *buffer, size_t bytes)
{
	char path[PATH_BYTES];
	struct gt_error ignored;
	struct names names;
	size_t kept = 0;

	read_names(directory, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct gt_gpu gpu = {0};
		snprintf(path, sizeof path, "%.3000s/%s", directory, names.of[i]);
		if (gt_gpu_load(&gpu, path, &ignored) == 0 && gt_gpu_runs(gt_gpu_capability(&gpu), target))
			memmove(names.of[kept++], names.of[i], sizeof names.of[0]);
		gt_gpu_clear(&gpu);
	}
	names.n = kept;
	list_names(&names, buffer, bytes);
}

void gt_gpu_explain(const char *directory, unsigned capability, struct gt_gpu_target target, char reason[GT_GPU_REASON])
{
	const char *range = target.features == 'a' ? " alone" : target.features == 'f' ? " and later ones of its family" : "";
	char gpus[128];

	list_running(directory, target, gpus, sizeof gpus);
	snprintf(reason, GT_GPU_REASON, "its PTX is for compute capability %u.%u%s, and the GPU has %u.%u%s%s%s", target.capability / 10,
		 target.capability % 10, range, capability / 10, capability % 10, gpus[0] ? " (--gpu with it: " : "", gpus,
		 gpus[0] ? ")" : "");
}
