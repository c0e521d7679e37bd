/* SPDX-License-Identifier: MIT */
/* The configuration of a cache level from the parameters of gpu/parameter.h, and the sources of their values. */
#ifndef GT_CACHE_CONFIG_H
#define GT_CACHE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cache/index/index.h"
#include "replace/replace.h"
#include "gpu/gpu.h"
#include "gpu/parameter.h"
#include "stream/count.h"
#include "stream/kernel.h"

/* ---- the latency of a miss in the timed model, in steps: a table of models ---- */

#define GT_LATENCY_MAX (UINT32_C(1) << 20) /* steps; larger draws count as this */

struct gt_latency;

/* The inputs of a latency model. */
struct gt_level_traffic {
	uint64_t busy;	      /* misses of this cache in flight */
	uint64_t active;      /* SMs that had a request in this kernel; 1 for a shared level */
	uint64_t parallelism; /* for a private level, banks of the next level; for a shared one, its own */
};

struct gt_latency_model {
	const char *name;
	int (*parse)(struct gt_latency *latency, const char *text, struct gt_error *error);
	uint64_t (*steps)(const struct gt_latency *latency, const struct gt_level_traffic *traffic, uint64_t *random);
};

struct gt_latency {
	const struct gt_latency_model *model;
	double first, second; /* N; K1 and K2; MIN and SIGMA */
	uint64_t seed;
};

/* Draws the latency of a miss. `random` is the state of the cache's generator. */
static inline uint64_t gt_latency_steps(const struct gt_latency *latency, const struct gt_level_traffic *traffic,
					uint64_t *random)
{
	return latency->model->steps(latency, traffic, random);
}

/* ---- the parameters of the timed model ---- */

#define GT_UNLIMITED UINT32_MAX
#define GT_BANKS_MAX 65536 /* of all partitions */

enum gt_on_full { GT_FULL_STALL, GT_FULL_REQUEUE };
/* What --on-full requeue admits or holds. */
enum gt_requeue_unit { GT_UNIT_ACCESS, GT_UNIT_FIRST_LANE, GT_UNIT_LINE };
/* What decides which warps issue: the steps of the schedule, or a policy of the level. */
enum gt_own_issue { GT_OWN_AUTO, GT_OWN_SCHEDULE, GT_OWN_RR, GT_OWN_GTO, GT_OWN_FIFO_POOL };

struct gt_timed_config {
	uint32_t partitions;
	uint32_t banks; /* of a partition */
	uint32_t ports; /* of a bank; or GT_UNLIMITED */
	uint32_t mshr_sets;
	uint32_t mshr_entries; /* of a set; or GT_UNLIMITED */
	uint32_t merges;       /* of an entry, besides the miss that took it; or GT_UNLIMITED */
	uint32_t per_warp;     /* entries that a warp may hold; or GT_UNLIMITED */
	uint32_t hit_latency;  /* steps */
	struct gt_latency latency;
	bool instant; /* all misses take no time */
	enum gt_on_full on_full;
	enum gt_requeue_unit unit;
	enum gt_own_issue issue;
	uint32_t schedulers; /* of an SM; not with GT_OWN_SCHEDULE */
	bool fill_next; /* what arrives in a step comes after the accesses that are served in it, and their hits */
	bool clip;	/* a request for a line in flight takes effect with it */
	double delay;	/* of a warp, as a multiple of its access's latency */
	uint32_t below; /* banks of the level below, for an adaptive latency */
	struct gt_spread spread; /* of the L2 below a private level: a miss takes so much more or less, by SM and line */
};

/* The MSHR set of a partition: neighbouring partitions share one ([000] 4.4.2). */
static inline uint32_t gt_mshr_set(const struct gt_timed_config *config, uint32_t partition)
{
	return partition / ((config->partitions + config->mshr_sets - 1) / config->mshr_sets);
}

/* ---- the parameters of every level ---- */

/* Cycles that a level adds to an access. [001] table 3 measures whole accesses, and the cost of a miss depends on the level
 * that has the data, so the cycles may depend on those added by earlier levels. */

#define GT_CYCLES_STEPS 8

struct gt_cycles {
	unsigned n; /* 0: not known */
	struct {
		uint32_t from;	/* cycles so far, ascending, the first 0 */
		uint32_t added; /* for accesses with at least that many, up to the next `from` */
	} step[GT_CYCLES_STEPS];
};

/* "84" or "84,666:579,682:577": 84 are added, 579 from 666 cycles on, 577 from 682 on; or "unknown". Returns 0, or -1
 * with what was expected. */
int gt_cycles_parse(const char *text, struct gt_cycles *cycles, struct gt_error *error);

/* The latency of an access after this level, at most UINT32_MAX. `cycles` is known. */
static inline uint32_t gt_cycles_add(const struct gt_cycles *cycles, uint32_t latency)
{
	unsigned i = cycles->n - 1;

	while (i > 0 && cycles->step[i].from > latency)
		i--;
	uint64_t sum = (uint64_t)latency + cycles->step[i].added;
	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

#define GT_LEVEL_SETS_MAX 4096	     /* sets that --sets can list */
#define GT_LEVEL_MEMORY ((size_t)2 << 30)
#define GT_LEVEL_SECTORS_MAX 64	     /* sectors of a line */

enum gt_write { GT_WRITE_BACK, GT_WRITE_THROUGH, GT_WRITE_EVICT };
enum gt_partial { GT_PARTIAL_KEEP, GT_PARTIAL_READ, GT_PARTIAL_FETCH };
enum gt_bypass { GT_BYPASS_NONE, GT_BYPASS_WRITES, GT_BYPASS_READS, GT_BYPASS_ALL };
enum gt_emit { GT_EMIT_MISSES, GT_EMIT_ALL, GT_EMIT_NONE, GT_EMIT_LATENCY };
enum gt_level_by { GT_BY_NONE, GT_BY_PC, GT_BY_SITE };
enum gt_flush { GT_FLUSH_KERNEL, GT_FLUSH_NEVER, GT_FLUSH_BETWEEN };
enum gt_warm { GT_WARM_NONE, GT_WARM_COPIES, GT_WARM_ALLOCATIONS, GT_WARMS };
enum gt_arrival { GT_ARRIVAL_STEP, GT_ARRIVAL_RR, GT_ARRIVAL_TRAVEL };

enum { GT_L2_PARTITIONS = 2 }; /* of --spread far:N */

/* DROP: loads that bypass a private level by their operator leave none of their sectors there. */
enum gt_operators { GT_OPERATORS_IGNORE, GT_OPERATORS_HONOUR, GT_OPERATORS_DROP };
/* NO_PREFETCH: prefetches pass a private level by. */
enum gt_hints { GT_HINTS_HONOUR, GT_HINTS_NO_PREFETCH, GT_HINTS_IGNORE };

/* What a launch reads by itself, which no trace has. */
struct gt_launch_reads {
	uint64_t code;	/* bytes that each GPC with a block reads */
	uint64_t reads; /* sectors that the launch reads, whatever its blocks */
	uint64_t bytes; /* which these sectors are out of */
	uint64_t memory; /* sectors of these, and of the code, that the next level is asked for, at most */
	uint64_t gpcs;	/* of the GPU */
};

static inline bool gt_launch_reads_any(const struct gt_launch_reads *reads)
{
	return reads->code > 0 || reads->reads > 0;
}

/* The request coalescer before a shared level, by GPC. */
struct gt_coalescing {
	struct gt_gpcs gpcs; /* none: the SMs are divided evenly */
	uint64_t requests; /* that are served as one, at most; 0: there is none */
	uint64_t cycles;   /* by which they may come after a first that hits, in its own partition, if steps are cycles */
};

/* The queue of stores of a private level that writes through, before the crossbar. */
struct gt_combining {
	uint64_t lines;	 /* that wait, at most; 0: stores are sent one by one */
	uint64_t cycles; /* that each waits at least */
};

#define GT_COMBINING_LINES_MAX 256

/* The cache of constants of an SM, beside a private data cache; or of a GPC, before a shared one. */
struct gt_constant_shape {
	uint64_t size; /* bytes; 0: there is none */
	uint64_t ways, line;
};

/* Who serves loads of constant memory: the level, as other loads; a cache beside it; the level, which counts them apart; the same behind
 * the cache of their GPC. */
enum gt_constants { GT_CONSTANTS_LOADS, GT_CONSTANTS_BESIDE, GT_CONSTANTS_APART, GT_CONSTANTS_BEFORE };
enum { GT_CONSTANT_LINE_MAX = 4096 }; /* bytes of a line before a shared level: it lies in one partition */

struct gt_level_config {
	bool translate; /* a TLB: it maps lines (pages) and holds no bytes */
	bool activated; /* a kernel's first lookup hits: its launch brought that page */
	bool absent;	/* the GPU has no such level: all requests bypass it */
	bool is_timed;	/* an option asks for the timed model */
	bool shared;	/* one instance, else one for each SM */
	uint64_t size;	/* bytes; of an instance, so of an L2 partition */
	uint64_t ways;	/* 0: all lines are divided into `divided` sets */
	uint64_t divided; /* if ways is 0: sets, 1 or the N of --ways full/N */
	uint64_t line, sector; /* bytes */
	uint64_t fetch;	       /* bytes; 0: one sector */
	const struct gt_index_function *index;
	struct gt_index_argument index_argument;
	struct gt_interleave interleave;
	struct gt_replacement replacement;
	enum gt_write write;
	bool allocate; /* a store that misses allocates a line; not with GT_WRITE_EVICT */
	enum gt_partial partial; /* GT_PARTIAL_FETCH: with write back */
	bool tag_hits; /* a store hits if its line is present, whichever sectors are valid */
	enum gt_bypass bypass;
	bool pairs;	/* misses of loads beside a hit of their pair of sectors are counted */
	enum gt_operators operators; /* what those of loads do */
	enum gt_hints hints;
	uint32_t set_ways[GT_LEVEL_SETS_MAX]; /* --sets: ways of each set */
	uint32_t sets_listed;		      /* 0: size and ways decide */
	enum gt_emit emit;
	enum gt_level_by by; /* what it counts by, too */
	bool causes;	     /* the causes of load misses are found */
	enum gt_flush flush;
	enum gt_warm warm; /* the contents when a kernel begins, which cache/stage/stage.c loads */
	enum gt_arrival arrival;
	struct gt_coalescing coalescer;
	struct gt_combining combining;
	enum gt_constants constants;
	struct gt_constant_shape constant; /* of GT_CONSTANTS_BESIDE and GT_CONSTANTS_BEFORE */
	struct gt_launch_reads launch_reads; /* what a launch reads by itself */
	struct gt_spread spread;
	bool l2_partitions; /* two instances, each for half of the SMs, that hold copies of each other's lines */
	uint64_t found_dirty; /* sectors that a kernel finds dirty; at most as many as may be */
	uint32_t dirty_ways; /* with write back: lines of a set that may be dirty; GT_LEVEL_SLOTS_MAX: all */
	struct gt_cycles hit_cycles, miss_cycles; /* with GT_EMIT_LATENCY */
	size_t memory;	       /* bytes, for requests that wait because the policy looks ahead */
	const char *directory; /* of the file that takes the rest of them */
	struct gt_timed_config timed; /* the functional model uses partitions and banks if they are interleaved */
	uint64_t l1_bytes, l2_fetch_bytes; /* what the launch for which it was made said of these, or 0 */
};

/* A kind of level with its defaults. */
struct gt_role {
	const char *option; /* --l1 */
	const char *help;
	const char *name;    /* of the level; NULL: the user gives it */
	bool translate, activated; /* as in the config */
	const char *values[GT_PARAMETERS];
};
extern const struct gt_role gt_roles[];
extern const size_t gt_roles_n;

/* The parameters that the user gave. */
struct gt_level_settings {
	const struct gt_role *role;
	char name[GT_COUNT_NAME];		/* of the stage its counters belong to */
	const char *option[GT_PARAMETERS];	/* texts from the command line, not owned; NULL: not given */
	bool causes;	       /* of the config */
	bool cycles;	       /* steps of the requests are cycles */
	size_t memory;	       /* of the config; 0: GT_LEVEL_MEMORY */
	const char *directory; /* of the config; NULL: /tmp */
};

/* Names the level: lower-case letters, digits and _, beginning with a letter. */
int gt_level_name(struct gt_level_settings *settings, const char *name, struct gt_error *error);
/* Sets a parameter, whose text must outlive the settings. Returns 0, or -1 with what is accepted. */
int gt_level_set(struct gt_level_settings *settings, enum gt_parameter_id id, const char *text,
		 struct gt_error *error);

/* What --help says of a parameter: its option, and what it means, its default, and the roles that have another one; and the option of
 * a role. */
#define GT_OPTION_HELP 64 /* bytes */
#define GT_LEVEL_HELP 512
void gt_parameter_help(enum gt_parameter_id id, char option[GT_OPTION_HELP], char text[GT_LEVEL_HELP]);
void gt_role_help(const struct gt_role *role, char option[GT_OPTION_HELP]);

/* Makes the config from all sources. Returns 0, or -1 naming an invalid key of the description. */
int gt_level_resolve(const struct gt_level_settings *settings, const struct gt_gpu *gpu,
		     const struct gt_kernel *kernel, struct gt_level_config *config, struct gt_error *error);

/* Whether a config that was made for a launch is the one that gt_level_resolve makes for another of the same GPU. */
static inline bool gt_level_suits(const struct gt_level_config *config, const struct gt_kernel *kernel)
{
	return config->l1_bytes == kernel->l1_bytes && config->l2_fetch_bytes == kernel->prefers.l2_fetch_bytes;
}

/* The config of a functional level by the names of its role and parameters, as gt_level_make has them. */
int gt_level_configure(const char *role, const char *const *parameters, const struct gt_gpu *gpu, const struct gt_kernel *kernel,
		       struct gt_level_config *config, struct gt_error *error);

/* All inputs of gt_level_resolve as text, and what it made of those of the kernel: if the text is the same, so is the level. To
 * be freed; NULL when memory is short. */
char *gt_level_said(const struct gt_level_settings *settings, const struct gt_gpu *gpu, const struct gt_kernel *kernel,
		    const struct gt_level_config *config, struct gt_error *error);

/* Whether the parameters are compatible, and supported by the timed model if the level is timed: those whose bit (1 << id) is in `known`,
 * or all for ~0. */
int gt_level_check(const struct gt_level_config *config, uint64_t known, struct gt_error *error);

/* Whether a scheme determines the bank of a line; else the index function does. */
static inline bool gt_level_interleaved(const struct gt_level_config *config)
{
	return config->interleave.scheme->place != NULL;
}

/* The number of sets of a config that passed the check, and the ways of each if they are equal
 * (else 0). */
/* Whether a cache of constants can be beside or before the level: before a shared one it hides requests, so these are not passed on. */
bool gt_level_can_have_constants(const struct gt_level_config *config);

/* Whether a kernel can find dirty sectors: a profiler empties the level, which keeps what is stored. */
bool gt_level_can_find_dirty(const struct gt_level_config *config);

uint32_t gt_level_sets(const struct gt_level_config *config, uint32_t *ways);

#endif
