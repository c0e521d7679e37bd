/* SPDX-License-Identifier: MIT */
#include "cache/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_file.h"
#include "base/options.h"
#include "cache/config_store.h"
#include "cache/halves.h"
#include "stream/rows.h"

#define BYTES_MAX (UINT64_C(1) << 48)
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

const struct gt_role gt_roles[] = {
	{"l1", "a data cache in each SM", "l1", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	{"l2", "the data cache that all SMs share", "l2", false, false, {[GT_LEVEL_SIZE] = "2M", [GT_LEVEL_WAYS] = "16"}},
	/* [001] table 4 and figure 12. */
	{"texture", "a texture L1 in each SM", "texture", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_SIZE] = "12K", [GT_LEVEL_WAYS] = "96", [GT_LEVEL_LINE] = "32", [GT_LEVEL_INDEX] = "texture",
	  [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	{"readonly", "a read-only data cache in each SM", "readonly", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_SIZE] = "48K", [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	/* [001] 4.2: on Kepler page entries of 512 MB are active at a time. */
	{"window", "the page entries that are active at a time", "window", true, true,
	 {[GT_LEVEL_SIZE] = "512M", [GT_LEVEL_WAYS] = "full", [GT_LEVEL_LINE] = "512M", [GT_LEVEL_SECTOR] = "line", [GT_LEVEL_HIT_CYCLES] = "0"}},
	/* [001] 4.2: 16 entries of 2 MB, fully associative, outside the SMs. */
	{"tlb", "a translation buffer of that name; l1 and l2 are l1tlb and l2tlb", NULL, true, false,
	 {[GT_LEVEL_SIZE] = "32M", [GT_LEVEL_WAYS] = "full", [GT_LEVEL_LINE] = "2M", [GT_LEVEL_SECTOR] = "line", [GT_LEVEL_HIT_CYCLES] = "0"}},
	{"name", "a level of that name, or another name for one of those above", NULL, false, false, {0}},
};
const size_t gt_roles_n = LENGTH(gt_roles);

int gt_level_name(struct gt_level_settings *settings, const char *name, struct gt_error *error)
{
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	if (name[0] < 'a' || name[0] > 'z' || name[strspn(name, accepted)] != '\0' ||
	    strlen(name) >= sizeof settings->name)
		return gt_fail(error, "'%s': expected a name of lower-case letters, digits and _", name);
	snprintf(settings->name, sizeof settings->name, "%s", name);
	return 0;
}

bool gt_level_timed(const struct gt_level_settings *settings)
{
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (gt_parameters[id].timed && settings->option[id])
			return true;
	return false;
}

int gt_level_set(struct gt_level_settings *settings, enum gt_parameter_id id, const char *text,
		 struct gt_error *error)
{
	struct gt_level_config scratch = {0};

	settings->option[id] = text;
	return gt_level_store(&scratch, id, text, error);
}

/* An option for one overrides the description's key for the other: `sets` excludes `size` and `ways`, and another `write` than
 * the description's may leave no dirty lines. */
static bool outranked(const struct gt_level_settings *settings, enum gt_parameter_id id)
{
	return (id == GT_LEVEL_SETS && (settings->option[GT_LEVEL_SIZE] || settings->option[GT_LEVEL_WAYS])) ||
	       (id == GT_LEVEL_DIRTY_WAYS && settings->option[GT_LEVEL_WRITE]);
}

/* Whether the kernel names the fetch size. */
static bool fetch_by_kernel(const struct gt_level_settings *settings, const struct gt_kernel *kernel)
{
	return !settings->option[GT_LEVEL_FETCH] && kernel && kernel->prefers.l2_fetch_bytes >= GT_SECTOR &&
	       strcmp(settings->name, "l2") == 0;
}

/* The text of a parameter by precedence: option; kernel (l1_bytes, the size of the level named l1, and l2_fetch_bytes, the
 * fetch size of that named l2, written into `buffer` of 32 bytes); GPU description; role; table. gpu and kernel may be
 * NULL. */
static const char *parameter_text(const struct gt_level_settings *settings, enum gt_parameter_id id,
			  const struct gt_gpu *gpu, const struct gt_kernel *kernel, char *buffer)
{
	char key[GT_KEY_BYTES];

	if (settings->option[id])
		return settings->option[id];
	if (id == GT_LEVEL_SIZE && kernel && kernel->l1_bytes > 0 && strcmp(settings->name, "l1") == 0) {
		snprintf(buffer, 32, "%" PRIu64, kernel->l1_bytes);
		return buffer;
	}
	if (id == GT_LEVEL_FETCH && fetch_by_kernel(settings, kernel)) {
		uint64_t most = kernel->prefers.l2_fetch_bytes < 128 ? kernel->prefers.l2_fetch_bytes : 128;
		snprintf(buffer, 32, "%u", 1U << (31 - __builtin_clz((unsigned)most)));
		return buffer;
	}
	const char *text = outranked(settings, id) ? NULL : gt_gpu_get(gpu, gt_parameter_key(settings->name, id, key));
	if (!text)
		text = settings->role->values[id];
	return text ? text : gt_parameters[id].otherwise;
}

/* All requests bypass an absent level; its shape must be valid, and is not counted. */
static int resolve_absent(const struct gt_level_settings *settings, struct gt_level_config *config,
			  struct gt_error *error)
{
	const char *size = settings->role->values[GT_LEVEL_SIZE];

	if (config->translate)
		return gt_fail(error, "%s.size: none: expected the size of a TLB; leave an absent TLB out of the pipe",
			       settings->name);
	config->bypass = GT_BYPASS_ALL;
	return gt_parse_size(size ? size : gt_parameters[GT_LEVEL_SIZE].otherwise, GT_SECTOR, BYTES_MAX, &config->size,
			     error);
}

/* The banks of the L2 that a private level sends to. */
static int resolve_below(const struct gt_gpu *gpu, struct gt_level_config *config, struct gt_error *error)
{
	uint64_t partitions, banks;

	if (gt_gpu_count(gpu, "l2.partitions", 1, &partitions, error) != 0 ||
	    gt_gpu_count(gpu, "l2.banks", 1, &banks, error) != 0)
		return -1;
	if (config->shared) {
		partitions = config->timed.partitions;
		banks = config->timed.banks;
	}
	config->timed.below = (uint32_t)(partitions * banks < GT_BANKS_MAX ? partitions * banks : GT_BANKS_MAX);
	return 0;
}

/* The values of "auto", as in the models of the papers. In [000] all schedulers of an SM issue together, and no warp waits
 * for its data; in [002] one request is served in a step, and a warp waits for its whole access. */
static int resolve_issue(const struct gt_gpu *gpu, struct gt_timed_config *timed, struct gt_error *error)
{
	bool requeue = timed->on_full == GT_FULL_REQUEUE;
	uint64_t schedulers = 1;

	if (timed->issue == GT_OWN_AUTO)
		timed->issue = requeue ? GT_OWN_FIFO_POOL : GT_OWN_SCHEDULE;
	if (timed->issue == GT_OWN_SCHEDULE && (timed->delay >= 0 || timed->schedulers != GT_AUTO_SCHEDULERS))
		return gt_fail(error, "delay and schedulers apply if the level decides which warps issue: expected issue rr, gto or fifo-pool too");
	if (timed->delay < 0)
		timed->delay = requeue ? 1 : 0;
	if (timed->schedulers != GT_AUTO_SCHEDULERS)
		return 0;
	if (!requeue && gt_gpu_count(gpu, "schedulers", 1, &schedulers, error) != 0)
		return -1;
	timed->schedulers = (uint32_t)(schedulers < GT_TIMED_MAX ? schedulers : GT_TIMED_MAX);
	return 0;
}

int gt_level_resolve(const struct gt_level_settings *settings, const struct gt_gpu *gpu,
		     const struct gt_kernel *kernel, struct gt_level_config *config, struct gt_error *error)
{
	memset(config, 0, sizeof *config);
	config->translate = settings->role->translate;
	config->activated = settings->role->activated;
	config->memory = settings->memory ? settings->memory : GT_LEVEL_MEMORY;
	config->directory = settings->directory ? settings->directory : "/tmp";
	for (int id = 0; id < GT_PARAMETERS; id++) {
		char buffer[32];
		const char *text = parameter_text(settings, (enum gt_parameter_id)id, gpu, kernel, buffer);
		if (gt_level_store(config, (enum gt_parameter_id)id, text, error) != 0) {
			struct gt_error why = *error;
			return gt_fail(error, "%s.%s in the GPU description: %s", settings->name,
				       gt_parameters[id].name, why.text);
		}
	}
	if (gt_gpu_count(gpu, "gpcs", 1, &config->launch.gpcs, error) != 0 || resolve_below(gpu, config, error) != 0 ||
	    resolve_issue(gpu, &config->timed, error) != 0)
		return -1;
	if (config->absent && resolve_absent(settings, config, error) != 0)
		return -1;
	if (config->sector == 0 || config->translate)
		config->sector = config->line;
	if (config->fetch == 0)
		config->fetch = config->sector;
	if (fetch_by_kernel(settings, kernel) && config->fetch < config->sector)
		config->fetch = config->sector;
	if (fetch_by_kernel(settings, kernel) && config->fetch > config->line)
		config->fetch = config->line;
	/* In the timed model requests arrive at their steps, so a description's value applies to the functional model only. */
	if (gt_level_timed(settings) && !settings->option[GT_LEVEL_ARRIVAL])
		config->arrival = GT_ARRIVAL_STEP;
	if (gt_level_timed(settings) && !settings->option[GT_LEVEL_HALVES])
		config->halves = false;
	if (gt_level_timed(settings) && !settings->option[GT_LEVEL_DIRTY_WAYS])
		config->dirty_ways = GT_LEVEL_SLOTS_MAX;
	if (config->halves)
		config->size /= GT_HALVES;
	return 0;
}

char *gt_level_said(const struct gt_level_settings *settings, const struct gt_gpu *gpu, const struct gt_kernel *kernel,
		    const struct gt_level_config *config, struct gt_error *error)
{
	/* The further keys that gt_level_resolve and its parts use. */
	static const char *const keys[] = {"schedulers", "gpcs", "l2.partitions", "l2.banks"};
	struct gt_memory_file said;
	char buffer[32];

	if (gt_memory_file_open(&said, error) != 0)
		return NULL;
	/* What a kernel may say in other words: 32 and sector are one fetch size. */
	fprintf(said.file, "%" PRIu64 "\n%d\n%" PRIu64 "\n", config->size, config->absent, config->fetch);
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (id != GT_LEVEL_SIZE && id != GT_LEVEL_FETCH)
			fprintf(said.file, "%s\n", parameter_text(settings, (enum gt_parameter_id)id, gpu, kernel, buffer));
	for (size_t i = 0; i < LENGTH(keys); i++)
		fprintf(said.file, "%s\n", gt_gpu_get(gpu, keys[i]) ? gt_gpu_get(gpu, keys[i]) : "");
	return gt_memory_file_take(&said, NULL, "a level", error);
}
