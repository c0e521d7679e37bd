/* SPDX-License-Identifier: MIT */
/* A GPU description from a configuration of GPGPU-Sim, which Accel-Sim has too (gpgpusim.config): a line "-OPTION VALUE" each, with # before
 * comments and quotes around values that have blanks or more lines. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/input.h"
#include "base/options.h"
#include "base/scan.h"
#include "gpu/describe.h"

#define SOURCE "assumed: of the configuration, "

/* ---- the options of a configuration ---- */

struct option {
	char *name, *value; /* owned; without the dash, the quotes and the comment */
	bool used;
};

struct config {
	struct option *options; /* owned */
	size_t n, capacity;
	FILE *to;
	bool failed; /* a value is not as expected: the error says which */
	struct gt_error *error;
};

static struct option *find(const struct config *config, const char *name)
{
	for (size_t i = config->n; i-- > 0;)
		if (strcmp(config->options[i].name, name) == 0) {
			config->options[i].used = true;
			return &config->options[i];
		}
	return NULL;
}

static int add_option(struct config *config, const char *name, size_t length)
{
	struct option *bigger = gt_grown(config->options, config->n, &config->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(config->error, "the configuration");
	config->options = bigger;
	bigger[config->n] = (struct option){strndup(name, length), strdup(""), false};
	if (!bigger[config->n].name || !bigger[config->n].value)
		return gt_fail_memory(config->error, "the configuration");
	config->n++;
	return 0;
}

/* Adds words to the value of the last option, one blank between them. */
static int add_words(struct config *config, const char *at)
{
	struct option *last = &config->options[config->n - 1];

	for (size_t length; *(at += strspn(at, " \t\"")); at += length) {
		length = strcspn(at, " \t\"");
		char *longer = gt_resized(last->value, strlen(last->value) + length + 2, 1);
		if (!longer)
			return gt_fail_memory(config->error, "the configuration");
		last->value = longer;
		if (*longer)
			strcat(longer, " ");
		strncat(longer, at, length);
	}
	return 0;
}

static int read_config(struct config *config, struct gt_input *input)
{
	bool quoted = false;
	size_t length;
	char *line;
	int got;

	while ((got = gt_input_line(input, &line, &length, config->error)) > 0) {
		line[strcspn(line, "#\r")] = '\0';
		const char *at = line + strspn(line, " \t");
		if (*at == '\0')
			continue;
		if (!quoted && (*at != '-' || !isalpha((unsigned char)at[1])))
			return gt_input_fail(input, config->error, "expected '-OPTION VALUE', as in gpgpusim.config");
		size_t name = quoted ? 0 : strcspn(at, " \t");
		if (!quoted && add_option(config, at + 1, name - 1) != 0)
			return -1;
		if (add_words(config, at + name) != 0)
			return -1;
		for (; *at; at++)
			quoted ^= *at == '"';
	}
	if (got == 0 && config->n == 0)
		return gt_fail(config->error, "%s: expected options, as in gpgpusim.config", gt_input_name(input));
	return got;
}

/* ---- values ---- */

static void put(struct config *config, const char *key, const char *value, const char *option)
{
	char source[2 * GT_GPU_TEXT];
	const struct option *from = find(config, option);

	snprintf(source, sizeof source, "-%s %s", option, from ? from->value : "");
	source[GT_GPU_TEXT - sizeof SOURCE] = '\0';
	fprintf(config->to, "%-20s = %-25s # " SOURCE "%s\n", key, value, source);
}

static void put_number(struct config *config, const char *key, uint64_t value, bool is_size, const char *option)
{
	char text[GT_GPU_TEXT];

	if (is_size)
		gt_format_size(value, text);
	else
		snprintf(text, sizeof text, "%" PRIu64, value);
	put(config, key, text, option);
}

/* The number at the beginning of an option's value; `otherwise` if there is no such option. */
static uint64_t number_of(struct config *config, const char *name, uint64_t otherwise)
{
	const struct option *option = find(config, name);
	const char *at = option ? option->value : "";
	uint64_t number = otherwise;

	if (option && !gt_scan_decimal(&at, &number) && !config->failed) {
		gt_fail(config->error, "-%s '%.100s': expected a number", name, option->value);
		config->failed = true;
	}
	return number;
}

/* Options whose numbers are values as they stand, but for a factor. */
static const struct {
	const char *option, *key;
	uint64_t factor; /* 0: it is a count; else bytes */
} plain[] = {
	{"gpgpu_num_sched_per_core", "schedulers", 0},
	{"gpgpu_shader_cta", "max_blocks", 0},
	{"gpgpu_shader_registers", "registers", 0},
	{"gpgpu_shmem_size", "shared", 1},
	{"gpgpu_shmem_per_block", "shared_block", 1},
	{"gpgpu_unified_l1d_size", "unified", 1024},
	{"gpgpu_shmem_num_banks", "shared_banks", 0},
	{"gpgpu_n_mem", "dram.channels", 0},
};

static void put_plain(struct config *config)
{
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (find(config, plain[i].option)) {
			uint64_t factor = plain[i].factor ? plain[i].factor : 1;
			put_number(config, plain[i].key, number_of(config, plain[i].option, 0) * factor, plain[i].factor > 0, plain[i].option);
		}
}

/* "2048:32": threads of an SM and of a warp. */
static void put_warps(struct config *config)
{
	uint64_t threads = number_of(config, "gpgpu_shader_core_pipeline", 0);

	if (threads >= 32)
		put_number(config, "max_warps", threads / 32, false, "gpgpu_shader_core_pipeline");
}

static void put_machine(struct config *config)
{
	static const struct {
		uint64_t least;
		const char *name;
	} architectures[] = {{120, "Blackwell"}, {100, "Blackwell"}, {90, "Hopper"}, {89, "Ada"}, {80, "Ampere"}, {75, "Turing"}, {70, "Volta"},
			     {60, "Pascal"}, {50, "Maxwell"}, {30, "Kepler"}, {20, "Fermi"}, {0, "Tesla"}};
	uint64_t major = number_of(config, "gpgpu_compute_capability_major", 0), minor = number_of(config, "gpgpu_compute_capability_minor", 0);
	uint64_t sms = number_of(config, "gpgpu_n_clusters", 0) * number_of(config, "gpgpu_n_cores_per_cluster", 1);
	char capability[48];
	size_t i = 0;

	while (architectures[i].least > 10 * major + minor)
		i++;
	snprintf(capability, sizeof capability, "%" PRIu64 ".%" PRIu64, major, minor);
	if (major > 0) {
		put(config, "architecture", architectures[i].name, "gpgpu_compute_capability_major");
		put(config, "compute_capability", capability, "gpgpu_compute_capability_major");
	}
	if (sms > 0)
		put_number(config, "sms", sms, false, "gpgpu_n_clusters");
}

/* "0,8,16,32": KB. */
static void put_shared_options(struct config *config)
{
	const struct option *option = find(config, "gpgpu_shmem_option");
	char text[GT_GPU_TEXT] = "";
	uint64_t kilobytes;

	for (const char *at = option ? option->value : ""; gt_scan_decimal(&at, &kilobytes); at += *at == ',') {
		size_t length = strlen(text);
		snprintf(text + length, sizeof text - length, "%s%" PRIu64 "%s", length ? "," : "", kilobytes, kilobytes ? "K" : "");
	}
	if (*text)
		put(config, "shared_options", text, "gpgpu_shmem_option");
}

/* ---- caches ---- */

/* "S:SETS:LINE:WAYS,REPLACEMENT:WRITE:WHEN:ALLOCATE:INDEX,...": cache_config::init of GPGPU-Sim. */
struct cache {
	char kind, replacement, write, when, allocate, index;
	uint64_t sets, line, ways;
};

static bool scan_letter(const char **at, char *letter)
{
	*letter = **at;
	if (!isalpha((unsigned char)*letter))
		return false;
	++*at;
	return true;
}

static bool scan_cache(const char *at, struct cache *cache)
{
	return scan_letter(&at, &cache->kind) && gt_scan_char(&at, ':') && gt_scan_decimal(&at, &cache->sets) && gt_scan_char(&at, ':') &&
	       gt_scan_decimal(&at, &cache->line) && gt_scan_char(&at, ':') && gt_scan_decimal(&at, &cache->ways) && gt_scan_char(&at, ',') &&
	       scan_letter(&at, &cache->replacement) && gt_scan_char(&at, ':') && scan_letter(&at, &cache->write) && gt_scan_char(&at, ':') &&
	       scan_letter(&at, &cache->when) && gt_scan_char(&at, ':') && scan_letter(&at, &cache->allocate) && gt_scan_char(&at, ':') &&
	       scan_letter(&at, &cache->index) && cache->sets > 0 && cache->line > 0 && cache->ways > 0;
}

/* Letters of a cache, and what they are called here. */
struct letter {
	char letter;
	const char *value;
};

static const struct letter replacements[] = {{'L', "lru"}, {'F', "fifo"}, {0, NULL}};
/* Of L, which writes local memory back and global memory through, only the latter is told: streams have no local memory behind coalescing. */
static const struct letter writes[] = {{'B', "back"}, {'T', "through"}, {'E', "evict"}, {'L', "through"}, {0, NULL}};
static const struct letter allocates[] = {{'N', "no"}, {'W', "yes"}, {'F', "yes"}, {'L', "yes"}, {0, NULL}};
/* What a store does whose bytes are not all that a sector has: it fetches the rest at once, or when it is read. */
static const struct letter partials[] = {{'N', "read"}, {'W', "fetch"}, {'F', "fetch"}, {'L', "read"}, {0, NULL}};
static const struct letter indexes[] = {{'L', "mod"}, {'X', "xor"}, {'P', "ipoly"}, {'H', "fermi"}, {0, NULL}};

static void put_letter(struct config *config, const char *level, const char *parameter, const struct letter *letters, char letter, const char *option)
{
	char key[64];

	while (letters->letter && letters->letter != letter)
		letters++;
	snprintf(key, sizeof key, "%s.%s", level, parameter);
	if (letters->letter)
		put(config, key, letters->value, option);
	else if (!config->failed) {
		gt_fail(config->error, "-%s '%.100s': %s '%c' has no counterpart", option, find(config, option)->value, parameter, letter);
		config->failed = true;
	}
}

/* A level of `slices` such caches, together of `bytes`. */
static void put_level(struct config *config, const char *level, const char *option, uint64_t slices, uint64_t unified)
{
	const struct option *from = find(config, option);
	struct cache cache;
	char key[64];

	if (!from || strcmp(from->value, "none") == 0)
		return;
	if (!scan_cache(from->value, &cache)) {
		if (!config->failed)
			gt_fail(config->error, "-%s '%.100s': expected KIND:SETS:LINE:WAYS,REPLACEMENT:WRITE:WHEN:ALLOCATE:INDEX", option, from->value);
		config->failed = true;
		return;
	}
	uint64_t sets = cache.sets * slices, bytes = unified ? unified : sets * cache.line * cache.ways;
	snprintf(key, sizeof key, "%s.size", level);
	put_number(config, key, bytes, true, option);
	snprintf(key, sizeof key, "%s.ways", level);
	if (unified) {
		char ways[48];
		snprintf(ways, sizeof ways, "full/%" PRIu64, cache.sets);
		put(config, key, ways, option);
	} else {
		put_number(config, key, cache.ways, false, option);
	}
	snprintf(key, sizeof key, "%s.line", level);
	put_number(config, key, cache.line, true, option);
	snprintf(key, sizeof key, "%s.sector", level);
	put_number(config, key, cache.kind == 'S' ? 32 : cache.line, true, option);
	put_letter(config, level, "replace", replacements, cache.replacement, option);
	put_letter(config, level, "write", writes, cache.write, option);
	put_letter(config, level, "allocate", allocates, cache.allocate, option);
	put_letter(config, level, "partial", partials, cache.allocate, option);
	/* A hash of a power of two of sets; over others, even as well. */
	snprintf(key, sizeof key, "%s.index", level);
	if ((sets & (sets - 1)) != 0 && cache.index != 'L')
		put(config, key, "rotate", option);
	else
		put_letter(config, level, "index", indexes, cache.index, option);
}

/* ---- DRAM ---- */

/* "dramid@8;...RRRR.BBBCCCCB.CCSSSSS": a channel's bits begin at that one, and columns and bytes are C and S. */
static void put_mapping(struct config *config)
{
	const struct option *option = find(config, "gpgpu_mem_addr_mapping");
	const char *at = option ? strstr(option->value, "dramid@") : NULL;
	uint64_t bit, columns = 0;

	if (!at)
		return;
	at += strlen("dramid@");
	if (!gt_scan_decimal(&at, &bit) || bit > 40)
		return;
	for (; *at; at++)
		columns += *at == 'C' || *at == 'S';
	if (columns > 0 && columns < 40)
		put_number(config, "dram.row", UINT64_C(1) << columns, true, "gpgpu_mem_addr_mapping");
	put_number(config, "dram.interleave", UINT64_C(1) << bit, true, "gpgpu_mem_addr_mapping");
}

static void put_dram(struct config *config)
{
	const struct option *timing = find(config, "gpgpu_dram_timing_opt");
	const char *at = timing ? strstr(timing->value, "nbk=") : NULL;
	uint64_t banks, width = number_of(config, "gpgpu_dram_buswidth", 0), burst = number_of(config, "gpgpu_dram_burst_length", 0);

	put_mapping(config);
	if (at && (at += strlen("nbk="), gt_scan_decimal(&at, &banks)))
		put_number(config, "dram.banks", banks, false, "gpgpu_dram_timing_opt");
	if (width * burst > 0)
		put_number(config, "dram.sector", width * burst * number_of(config, "gpgpu_n_mem_per_ctrlr", 1), true, "gpgpu_dram_buswidth");
}

/* ---- the description ---- */

/* What is needed to place blocks and is in no configuration, from a description. */
static void put_rest(struct config *config, const struct gt_gpu *from, const char *name)
{
	static const char *const keys[] = {"gpcs", "register_unit", "warp_unit", "max_registers_thread", "shared_unit", "shared_reserved",
					   "shared_bank_bytes", "coalesce", "dispatch"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (gt_gpu_get(from, keys[i]))
			fprintf(config->to, "%-20s = %-25s # assumed: of %s\n", keys[i], gt_gpu_get(from, keys[i]), name);
}

static size_t put_others(struct config *config)
{
	size_t n = 0;

	for (size_t i = 0; i < config->n; i++)
		n += !config->options[i].used;
	fprintf(config->to, "\n# Without a counterpart, %zu options: time, queues, networks, power, and what is an option of a stage (gcache --mshr, --merges, --flush).\n", n);
	for (size_t i = 0; i < config->n; i++)
		if (!config->options[i].used)
			fprintf(config->to, "# -%s %s\n", config->options[i].name, config->options[i].value);
	return n;
}

static void put_description(struct config *config, const struct gt_gpu *rest, const char *rest_name)
{
	uint64_t slices = number_of(config, "gpgpu_n_mem", 1) * number_of(config, "gpgpu_n_sub_partition_per_mchannel", 1);
	bool adaptive = number_of(config, "gpgpu_adaptive_cache_config", 0) > 0;
	uint64_t unified = adaptive ? 1024 * number_of(config, "gpgpu_unified_l1d_size", 0) : 0;

	put_machine(config);
	put_plain(config);
	put_warps(config);
	put_shared_options(config);
	put_rest(config, rest, rest_name);
	fputc('\n', config->to);
	put_level(config, "l1", "gpgpu_cache:dl1", 1, unified);
	fputc('\n', config->to);
	put_level(config, "l2", "gpgpu_cache:dl2", slices, 0);
	fputc('\n', config->to);
	put_dram(config);
}

/* The name of a configuration is that of its folder, as Accel-Sim has them: "SM7_QV100/gpgpusim.config". */
static void name_config(const char *path, char *name, size_t size)
{
	const char *end = strrchr(path, '/'), *begin = end;

	while (begin && begin > path && begin[-1] != '/')
		begin--;
	if (begin && end > begin && *begin != '.')
		snprintf(name, size, "%.*s", (int)(end - begin), begin);
	else
		snprintf(name, size, "%s", end ? end + 1 : path);
}

int gt_describe_gpgpusim(const char *path, const struct gt_gpu *rest, const char *rest_name, FILE *to, size_t counts[2], struct gt_error *error)
{
	struct config config = {.to = to, .error = error};
	struct gt_input *input = gt_input_open(path, error);
	struct gt_error ignored;
	char name[128];
	int result = input ? read_config(&config, input) : -1;

	if (input && gt_input_close(input, result == 0 ? error : &ignored) != 0)
		result = -1;
	if (result == 0) {
		name_config(path, name, sizeof name);
		fprintf(to, "# %s, as a configuration of GPGPU-Sim and Accel-Sim describes it.\n%-20s = %-25s # " SOURCE "its name\n", name, "name", name);
		put_description(&config, rest, rest_name);
		counts[1] = put_others(&config);
		counts[0] = config.n - counts[1];
		result = config.failed ? -1 : 0;
	}
	for (size_t i = 0; i < config.n; i++) {
		free(config.options[i].name);
		free(config.options[i].value);
	}
	free(config.options);
	return result;
}
