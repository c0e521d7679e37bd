/* SPDX-License-Identifier: MIT */
/* The level against the reference: thousands of small random configs on random streams. The requests sent and the counts
 * must be equal. */
#include "cache_names.h"
#include "cache_reference.h"

#include "cache/config.h"
#include "cache/level.h"
#include "check.h"

static uint64_t random_state = 42;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)((gt_random(&random_state) >> 32) * below >> 32);
}

#define PICK(...) pick((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const char *pick(const char *const *texts, size_t n)
{
	return texts[draw((uint32_t)n)];
}

/* A batch that grows no further: what a level sends, gathered. */
struct gathered {
	struct ref_request *items;
	size_t n, capacity;
};

static int gather(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gathered *to = context;

	(void)error;
	for (size_t i = 0; i < rows->n; i++) {
		if (to->n == to->capacity) {
			to->capacity = to->capacity ? 2 * to->capacity : 1024;
			to->items = realloc(to->items, to->capacity * sizeof *to->items);
		}
		to->items[to->n++] = (struct ref_request){
			rows->address[i], rows->scheduled ? rows->step[i] : 0, rows->block[i], rows->an[i], rows->pc[i],
			rows->warp[i], rows->scheduled ? rows->sm[i] : 0, rows->op[i], rows->sectors[i], rows->full[i],
			rows->threads[i], rows->has_status ? rows->status[i] : 0};
	}
	rows->n = 0;
	return 0;
}

/* A stream with reuse at several distances. */
static void make_stream(struct gt_rows *rows, size_t n, uint32_t lines, bool with_atomics)
{
	static uint64_t step;

	rows->kind = GT_REQUESTS;
	rows->scheduled = true;
	rows->n = n;
	for (size_t i = 0; i < n; i++) {
		static const uint8_t actions[] = {GT_LOAD, GT_LOAD, GT_LOAD, GT_LOAD, GT_STORE, GT_STORE, GT_ATOMIC,
						  GT_REDUCTION};
		uint8_t action = actions[draw(with_atomics ? 8 : 6)];
		rows->block[i] = draw(100);
		rows->warp[i] = (uint16_t)draw(32);
		rows->an[i] = draw(1000);
		rows->pc[i] = draw(1000);
		rows->op[i] = gt_op((enum gt_action)action, draw(3) ? GT_GLOBAL : GT_LOCAL, draw(3) ? 0 : (enum gt_operator)draw(GT_OPERATORS));
		rows->address[i] = (uint64_t)draw(draw(2) ? lines : lines / 4 + 1) * GT_LINE;
		if (draw(8) == 0)
			rows->address[i] += UINT64_C(0x7f0000000000);
		rows->sectors[i] = (uint8_t)(draw(3) ? 15 : 1 + draw(15));
		rows->full[i] = action != GT_STORE ? 0 : (uint8_t)(rows->sectors[i] & (draw(2) ? 15 : draw(16)));
		rows->threads[i] = (uint8_t)(1 + draw(32));
		rows->step[i] = step += draw(2);
		rows->sm[i] = (uint16_t)draw(3);
	}
}

static bool random_settings(struct gt_level_settings *settings, struct gt_level_config *config)
{
	struct gt_error error;
	bool unequal = draw(8) == 0;
	const char *const text[GT_PARAMETERS] = {
		[GT_LEVEL_SCOPE] = PICK("private", "shared"),
		[GT_LEVEL_SIZE] = PICK("1K", "2K", "4K", "6K", "8K", "16K", "32K"),
		[GT_LEVEL_WAYS] = PICK("1", "2", "3", "4", "4", "8", "16", "24", "32", "full"),
		[GT_LEVEL_LINE] = PICK("32", "64", "128", "128", "128", "256", "1K"),
		[GT_LEVEL_SECTOR] = PICK("32", "32", "32", "64", "128", "256", "line"),
		[GT_LEVEL_SETS] = unequal ? PICK("5,2x6", "1,2,3", "17,8x6", "4x4", "20,1", "300,2") : NULL,
		[GT_LEVEL_INDEX] = draw(3) ? index_text(draw(1000))
					   : PICK("mod", "smod:1", "smod:3", "bits:7^13,8^14&15", "bits:10^9&12&20",
						  "table:0123321032", "table:01001110"),
		[GT_LEVEL_INTERLEAVE] = draw(4) ? NULL : PICK("mod", "mod:256", "xor", "hash", "hash:512", "two-level", "two-level:1K"),
		[GT_LEVEL_PARTITIONS] = PICK("1", "2", "2", "3", "4", "7"),
		[GT_LEVEL_BANKS] = PICK("1", "1", "2"),
		[GT_LEVEL_REPLACE] = draw(3) ? policy_text(draw(1000)) : PICK("lru", "lfu:way", "random:7", "weighted:0.25,0.75", "order:1,2,1", "opt", "tail:1"),
		[GT_LEVEL_WRITE] = PICK("back", "through", "evict"),
		[GT_LEVEL_ALLOCATE] = PICK("yes", "no"),
		[GT_LEVEL_DIRTY_WAYS] = draw(4) ? "all" : PICK("1", "2"),
		[GT_LEVEL_PARTIAL] = PICK("keep", "read", "fetch"),
		[GT_LEVEL_WRITE_HITS] = PICK("sector", "sector", "tag"),
		[GT_LEVEL_READ_MISSES] = PICK("all", "pair"),
		[GT_LEVEL_FETCH] = PICK("sector", "sector", "32", "64", "128", "256"),
		[GT_LEVEL_BYPASS] = PICK("none", "none", "none", "writes", "reads", "all"),
		[GT_LEVEL_OPERATORS] = PICK("yes", "yes", "no", "drop"),
		[GT_LEVEL_FLUSH] = PICK("kernel", "kernel", "never"),
		[GT_LEVEL_ARRIVAL] = PICK("step", "step", "rr"),
	};

	memset(settings, 0, sizeof *settings);
	settings->role = &gt_roles[gt_roles_n - (draw(8) ? 1 : 2)]; /* --name or --tlb */
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (text[id] && !(unequal && (id == GT_LEVEL_SIZE || id == GT_LEVEL_WAYS)) &&
		    gt_level_set(settings, (enum gt_parameter_id)id, text[id], &error) != 0)
			return false;
	if (gt_level_resolve(settings, NULL, NULL, config, &error) != 0)
		return false;
	/* of a list, tail draws from its lines in no order */
	if (config->replacement.tail > 1 && (unequal || text[GT_LEVEL_WAYS][0] == 'f'))
		return false;
	config->is_timed = false; /* a functional level has partitions and banks only by its GPU */
	if (gt_level_check(config, ~UINT64_C(0), &error) != 0)
		return false;
	uint32_t ways, sets = gt_level_sets(config, &ways);
	return sets <= REF_SETS && ways <= REF_WAYS;
}

static void print_settings(const struct gt_level_settings *settings)
{
	printf("#");
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (settings->option[id])
			printf(" --%s %s", gt_parameters[id].name, settings->option[id]);
	printf("\n");
}

static bool same_counters(const struct gt_level *level, const struct ref_counters *reference)
{
	static const char *const names[] = {
		"requests", "reads", "read_hits", "writes", "write_hits", "atomics", "atomic_hits", "line_misses",
		"sector_misses", "evictions", "dropped", "sent_requests", "sent_reads", "sent_writes", "sent_atomics",
		"flushed", "bypassed", "pair_misses"};
	const uint64_t *expected = &reference->requests;
	struct gt_count count;
	struct gt_error error;
	bool same = true;

	CHECK_EQUAL(gt_level_count(level, "x", 3, &count, &error), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		uint64_t found = gt_count_value(&count, names[i], i + 1 < sizeof names / sizeof names[0] ? UINT64_MAX : 0);
		if (found != expected[i])
			printf("# %s is %" PRIu64 ", expected %" PRIu64 "\n", names[i], found, expected[i]);
		same = same && found == expected[i];
	}
	gt_count_clear(&count);
	return same;
}

static bool same_requests(const struct ref_request *a, const struct ref_request *b)
{
	return a->address == b->address && a->step == b->step && a->block == b->block && a->an == b->an &&
	       a->pc == b->pc && a->warp == b->warp && a->sm == b->sm && a->op == b->op && a->sectors == b->sectors &&
	       a->full == b->full && a->threads == b->threads;
}

/* Two kernels through both models. */
static bool agree(const struct gt_level_config *config, size_t requests)
{
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(requests, &error), *out = gt_rows_new(7, &error);
	struct gathered gathered = {0};
	struct gt_sink sink = {out, gather, &gathered};
	struct gt_level *level = gt_level_open(config, &error);
	struct ref_model *reference = ref_open(config);
	uint32_t lines = 8 + draw(400);
	bool same = level != NULL, atomics = draw(2) == 0;

	for (int kernel = 0; same && kernel < 2; kernel++) {
		make_stream(rows, requests, lines, atomics);
		gt_level_begin(level);
		memset(&reference->count, 0, sizeof reference->count);
		reference->last_step = 0;
		same = gt_level_take(level, rows, &sink, &error) == 0 && gt_level_finish(level, &sink, &error) == 0;
		gather(&gathered, out, &error);
		struct gathered came = {0};
		gather(&came, rows, &error);
		ref_serve_all(reference, came.items, came.n, NULL);
		free(came.items);
		ref_flush(reference);
		same = same_counters(level, &reference->count) && same;
	}
	for (size_t i = 0; same && i < gathered.n && i < reference->n; i++)
		same = same_requests(&gathered.items[i], &reference->sent[i]);
	same = same && gathered.n == reference->n;
	gt_level_close(level);
	ref_close(reference);
	gt_rows_free(rows);
	gt_rows_free(out);
	free(gathered.items);
	return same;
}

/* A kernel that is passed on with --emit all: the order of the requests, and the status of each. */
static bool agree_on_status(const struct gt_level_config *config, size_t requests)
{
	static struct gt_level_config emitting;
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(requests, &error), *out = gt_rows_new(7, &error);
	struct gathered emitted = {0}, came = {0};
	struct gt_sink sink = {out, gather, &emitted};
	struct ref_request *order = malloc(requests * sizeof *order);

	emitting = *config;
	emitting.emit = GT_EMIT_ALL;
	struct gt_level *level = gt_level_open(&emitting, &error);
	struct ref_model *reference = ref_open(config);
	make_stream(rows, requests, 8 + draw(400), draw(2) == 0);
	gt_level_begin(level);
	CHECK_EQUAL(gt_level_take(level, rows, &sink, &error), 0);
	CHECK_EQUAL(gt_level_finish(level, &sink, &error), 0);
	gather(&emitted, out, &error);
	gather(&came, rows, &error);
	ref_serve_all(reference, came.items, came.n, order);
	bool same = emitted.n == requests;
	for (size_t i = 0; same && i < requests; i++)
		same = emitted.items[i].address == order[i].address && emitted.items[i].status == order[i].status;
	gt_level_close(level);
	ref_close(reference);
	gt_rows_free(rows);
	gt_rows_free(out);
	free(emitted.items);
	free(came.items);
	free(order);
	return same;
}

static void test_random_configs(void)
{
	static struct gt_level_config config;
	struct gt_level_settings settings;
	unsigned tried = 0, translating = 0, in_turn = 0, interleaved = 0;

	for (int i = 0; i < 16000 && check_failures == 0; i++) {
		if (!random_settings(&settings, &config))
			continue;
		tried++;
		translating += config.translate;
		interleaved += gt_level_interleaved(&config);
		in_turn += config.arrival == GT_ARRIVAL_RR;
		bool same = agree(&config, 300) && agree_on_status(&config, 100);
		CHECK(same);
		if (!same)
			print_settings(&settings);
	}
	CHECK(tried > 2000);
	CHECK(translating > 100);
	CHECK(in_turn > 100);
	CHECK(interleaved > 100);
	printf("# %u configs\n", tried);
}

/* Every policy with every index and write mode, at the shape most levels have. */
static void test_each_combination(void)
{
	static struct gt_level_config config;
	static const char *const writes[] = {"back", "through", "evict"};
	struct gt_error error;

	for (size_t i = 0; i < gt_policies_n * gt_index_functions_n * 3; i++) {
		struct gt_level_settings settings = {.role = &gt_roles[gt_roles_n - 1]};
		CHECK_EQUAL(gt_level_set(&settings, GT_LEVEL_SCOPE, "private", &error), 0);
		CHECK_EQUAL(gt_level_set(&settings, GT_LEVEL_SIZE, "16K", &error), 0);
		CHECK_EQUAL(gt_level_set(&settings, GT_LEVEL_REPLACE, policy_text(i), &error), 0);
		CHECK_EQUAL(gt_level_set(&settings, GT_LEVEL_INDEX, index_text(i / gt_policies_n), &error), 0);
		CHECK_EQUAL(gt_level_set(&settings, GT_LEVEL_WRITE, writes[i / gt_policies_n / gt_index_functions_n], &error), 0);
		CHECK_EQUAL(gt_level_resolve(&settings, NULL, NULL, &config, &error), 0);
		CHECK_EQUAL(gt_level_check(&config, ~UINT64_C(0), &error), 0);
		bool same = agree(&config, 3000);
		CHECK(same);
		if (!same)
			print_settings(&settings);
	}
}

int main(void)
{
	RUN(test_each_combination);
	RUN(test_random_configs);
	return check_report();
}
