/* SPDX-License-Identifier: MIT */
/* The timed level: the papers' tables step by step, and properties that hold for any parameters. */
#include <stdlib.h>

#include "base/random.h"
#include "cache/config.h"
#include "cache/level.h"
#include "cache/timed/engine.h"
#include "check.h"
#include "stream/op.h"
#include "timed_reference.h"

static struct gt_error error;
static uint64_t random_state = 11;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)((gt_random(&random_state) >> 32) * below >> 32);
}

static int discard(void *context, struct gt_rows *rows, struct gt_error *unused)
{
	(void)context, (void)unused;
	rows->n = 0;
	return 0;
}

/* The requests sent, as a digest that depends on the order, and their number. */
struct digest {
	uint64_t hash, rows, last_step;
};

static int note(void *context, struct gt_rows *rows, struct gt_error *unused)
{
	struct digest *digest = context;

	(void)unused;
	for (size_t i = 0; i < rows->n; i++) {
		const uint64_t parts[] = {rows->address[i], rows->sectors[i], rows->full[i], rows->op[i], rows->block[i],
					  rows->warp[i], rows->an[i], rows->sm[i], rows->threads[i]};
		for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
			uint64_t state = digest->hash ^ parts[p];
			digest->hash = gt_random(&state);
		}
		CHECK(rows->step[i] >= digest->last_step);
		digest->last_step = rows->step[i];
		digest->rows++;
	}
	rows->n = 0;
	return 0;
}

/* The rows of --emit all. */
static struct {
	uint64_t step, line;
	uint8_t status;
} told[65536];
static size_t told_n;

static int note_told(void *context, struct gt_rows *rows, struct gt_error *unused)
{
	(void)context, (void)unused;
	CHECK(rows->n == 0 || rows->has_status);
	for (size_t i = 0; i < rows->n && told_n < sizeof told / sizeof told[0]; i++, told_n++) {
		told[told_n].step = rows->step[i];
		told[told_n].line = rows->address[i] / GT_LINE;
		told[told_n].status = rows->status[i];
	}
	rows->n = 0;
	return 0;
}

static bool read_config(const char *const *texts, struct gt_level_config *config)
{
	struct gt_level_settings settings = {.role = &gt_roles[gt_roles_n - 1]};

	for (; texts[0]; texts += 2)
		for (int id = 0; id < GT_PARAMETERS; id++)
			if (strcmp(gt_parameters[id].name, texts[0]) == 0 &&
			    gt_level_set(&settings, (enum gt_parameter_id)id, texts[1], &error) != 0)
				return false;
	return gt_level_resolve(&settings, NULL, NULL, config, &error) == 0 &&
	       gt_level_check(config, ~UINT64_C(0), &error) == 0;
}

#define CONFIG(...) ((const char *const[]){__VA_ARGS__, NULL, NULL})

static const struct gt_kernel kernel; /* one that says nothing */

#define EVENTS 65536
static struct gt_timed_event events[EVENTS];
static size_t events_n;
static bool unwatched; /* no events are recorded: a level may then use fast paths */

static void watch(void *context, const struct gt_timed_event *event)
{
	(void)context;
	if (events_n < EVENTS)
		events[events_n++] = *event;
}

/* Runs one kernel through the timed level, into `events`. */
static struct gt_count run_timed(const struct gt_rows *rows, const char *const *texts, struct digest *digest)
{
	static struct gt_level_config config;
	struct gt_count count = {0};

	CHECK(read_config(texts, &config));
	struct gt_sink sink = {gt_rows_new(64, &error),
			       config.emit == GT_EMIT_ALL ? note_told : digest ? note : discard, digest};
	told_n = 0;
	void *timed = gt_level_kind_timed.open(&config, 1, &error);
	CHECK(timed != NULL);
	events_n = 0;
	if (!unwatched)
		gt_timed_watch(timed, watch, NULL);
	CHECK_EQUAL(gt_level_kind_timed.begin(timed, &kernel, &error), 0);
	CHECK_EQUAL(gt_level_kind_timed.take(timed, rows, &sink, &error), 0);
	CHECK_EQUAL(gt_level_kind_timed.finish(timed, &sink, &error), 0);
	CHECK_EQUAL(sink.flush(sink.context, sink.rows, &error), 0);
	CHECK_EQUAL(gt_level_kind_timed.count(timed, "x", 1, &count, &error), 0);
	gt_level_kind_timed.close(timed);
	gt_rows_free(sink.rows);
	return count;
}

static struct gt_rows *new_rows(size_t n)
{
	struct gt_rows *rows = gt_rows_new(n, &error);

	rows->kind = GT_REQUESTS;
	rows->scheduled = true;
	rows->n = n;
	return rows;
}

static void set_row(struct gt_rows *rows, size_t i, uint16_t warp, uint32_t an, uint64_t line, uint64_t step)
{
	rows->block[i] = 0;
	rows->warp[i] = warp;
	rows->an[i] = an;
	rows->pc[i] = 0;
	rows->op[i] = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	rows->address[i] = line * GT_LINE;
	rows->sectors[i] = 15;
	rows->full[i] = 0;
	rows->threads[i] = 32;
	rows->step[i] = step;
	rows->sm[i] = 0;
}

/* [000] table 3. Two warps issue together, a third after them; even lines are of bank 0. */
enum { A, B, C, D, E, F, G, H };
static const char names[] = "ABCDEFGH";

static void append(char *text, char letter)
{
	size_t n = strlen(text);

	text[n] = letter;
	text[n + 1] = '\0';
}

static struct gt_rows *table_3_rows(void)
{
	static const struct {
		uint16_t warp;
		uint64_t step, line;
	} accesses[] = {{0, 0, A}, {0, 0, B}, {0, 0, C}, {0, 0, D}, {1, 0, E}, {1, 0, F}, {1, 0, G}, {1, 0, H},
			{2, 1, A}, {2, 1, D}};
	struct gt_rows *rows = new_rows(10);

	for (size_t i = 0; i < 10; i++)
		set_row(rows, i, accesses[i].warp, accesses[i].warp / 2, accesses[i].line, accesses[i].step);
	return rows;
}

/* Lines of a bank in the order in which their accesses were served: a distance is how many others
 * have been since. -1 for the first time. */
static int distance_in(char *stack, char line)
{
	char *at = strchr(stack, line);
	int distance = at ? (int)(at - stack) : -1;

	memmove(stack + 1, stack, at ? (size_t)(at - stack) : strlen(stack) + 1);
	stack[0] = line;
	return distance;
}

static void test_rdgc_table_3(void)
{
	/* Bank 0 port 0, port 1, bank 1 port 0, port 1; '-' where no access is. */
	static const char *const port[5] = {"ACBD", "EGBD", "EGFH", "--FH", "A-D-"};
	static const char *const status[5] = {"mmff", "ffmm", "mmff", "--mm", "h-h-"};
	static const int distances[5][4] = {{-1, -1, -2, -2}, {-2, -2, -1, -1}, {-1, -1, -2, -2}, {-2, -2, -1, -1}, {3, -2, 2, -2}};
	static const uint64_t free_entries[5] = {0, 0, 0, 0, 2};
	static const char *const update[5] = {"", "AC", "BD", "EG", "FH"};
	char found_port[5][5] = {"----", "----", "----", "----", "----"};
	char found_status[5][5] = {"----", "----", "----", "----", "----"}, found_update[5][9] = {""};
	char stacks[2][16] = {"", ""};
	struct gt_rows *rows = table_3_rows();
	struct gt_count count = run_timed(rows, CONFIG("size", "4K", "ways", "8", "banks", "2", "ports", "2", "mshr", "1x2",
						       "latency", "fixed:2", "write", "through"), NULL);

	for (size_t i = 0; i < events_n; i++) {
		const struct gt_timed_event *event = &events[i];
		CHECK(event->step < 5 && event->line < 8);
		if (event->status == GT_TIMED_EFFECT) {
			append(found_update[event->step], names[event->line]);
			continue;
		}
		size_t place = 2 * event->bank + event->port;
		found_port[event->step][place] = names[event->line];
		found_status[event->step][place] = "hm?f"[event->status];
		int distance = event->status == GT_TIMED_FAIL ? -2 : distance_in(stacks[event->bank], names[event->line]);
		CHECK_EQUAL(distance, distances[event->step][place]);
		/* The state after the step is that after its last access. */
		if (i + 1 == events_n || events[i + 1].step != event->step)
			CHECK_EQUAL(2 - event->busy_after, free_entries[event->step]);
	}
	for (size_t step = 0; step < 5; step++) {
		CHECK_TEXT(found_port[step], port[step]);
		CHECK_TEXT(found_status[step], status[step]);
		CHECK_TEXT(found_update[step], update[step]);
	}
	CHECK_EQUAL(gt_count_value(&count, "steps", 0), 5);
	CHECK_EQUAL(gt_count_value(&count, "reservation_fails", 0), 6);
	CHECK_EQUAL(gt_count_value(&count, "stalls", 0), 3);
	gt_count_clear(&count);
	gt_rows_free(rows);
}

/* [002] tables 3 to 5: what each access finds, and which lines take effect when. */
struct column {
	uint16_t thread;
	uint32_t instruction;
	uint64_t line;
	char status; /* m, h or f */
	int distance; /* -1: infinite */
	uint64_t latency, effect, busy, busy_after;
};

static void check_columns(const struct column *columns, size_t n, const char *const *effects, size_t steps, bool mshrs)
{
	char found[16][8] = {""};
	size_t served = 0;

	for (size_t i = 0; i < events_n; i++) {
		const struct gt_timed_event *event = &events[i];
		CHECK(event->step < steps);
		if (event->status == GT_TIMED_EFFECT) {
			append(found[event->step], event->line ? '1' : '0');
			continue;
		}
		CHECK(served < n);
		const struct column *column = &columns[served];
		CHECK_EQUAL(event->step, served);
		CHECK_EQUAL(event->warp, column->thread);
		CHECK_EQUAL(event->an, column->instruction);
		CHECK_EQUAL(event->line, column->line);
		CHECK_EQUAL("hmmf"[event->status], column->status);
		CHECK_EQUAL(event->status == GT_TIMED_HIT ? (int)event->position : -1, column->distance);
		if (mshrs) {
			CHECK_EQUAL(event->busy, column->busy);
			CHECK_EQUAL(event->busy_after, column->busy_after);
		}
		if (event->status != GT_TIMED_FAIL) {
			CHECK_EQUAL(event->latency, column->latency);
			CHECK_EQUAL(event->effect, column->effect);
		}
		served++;
	}
	CHECK_EQUAL(served, n);
	for (size_t step = 0; step < steps; step++)
		CHECK_TEXT(found[step], effects[step]);
}

/* Four threads, a warp each: x[2 tid], then x[2 tid + 1], four elements a line. */
static struct gt_rows *four_threads(void)
{
	struct gt_rows *rows = new_rows(8);

	for (size_t i = 0; i < 8; i++)
		set_row(rows, i, (uint16_t)(i % 4), (uint32_t)(i / 4), (2 * (i % 4) + i / 4) / 4, i);
	return rows;
}

static void test_nugteren_table_3(void)
{
	static const struct column columns[] = {
		{0, 0, 0, 'm', -1, 2, 2, 0, 0}, {1, 0, 0, 'm', -1, 2, 3, 0, 0}, {2, 0, 1, 'm', -1, 2, 4, 0, 0},
		{3, 0, 1, 'm', -1, 2, 5, 0, 0}, {0, 1, 0, 'h', 0, 2, 6, 0, 0},	{1, 1, 0, 'h', 1, 2, 7, 0, 0},
		{2, 1, 1, 'h', 0, 2, 8, 0, 0},	{3, 1, 1, 'h', 1, 2, 9, 0, 0}};
	static const char *const effects[] = {"", "", "0", "0", "1", "1", "0", "0", "1", "1"};
	struct gt_rows *rows = four_threads();
	struct gt_count count = run_timed(rows, CONFIG("scope", "private", "size", "1K", "ways", "full", "latency", "fixed:2",
						       "hit-latency", "2", "on-full", "requeue", "clip", "no", "delay", "0",
						       "write", "evict"), NULL);

	check_columns(columns, 8, effects, 10, false);
	gt_count_clear(&count);
	gt_rows_free(rows);
}

static void test_nugteren_table_4(void)
{
	static const struct column columns[] = {
		{0, 0, 0, 'm', -1, 2, 2, 0, 0}, {1, 0, 0, 'm', -1, 2, 3, 0, 0}, {2, 0, 1, 'm', -1, 2, 4, 0, 0},
		{3, 0, 1, 'm', -1, 2, 5, 0, 0}, {0, 1, 0, 'h', 0, 0, 4, 0, 0},	{1, 1, 0, 'h', 0, 0, 5, 0, 0},
		{2, 1, 1, 'h', 1, 0, 6, 0, 0},	{3, 1, 1, 'h', 0, 0, 7, 0, 0}};
	static const char *const effects[] = {"", "", "0", "0", "10", "10", "1", "1"};
	struct gt_rows *rows = four_threads();
	struct gt_count count = run_timed(rows, CONFIG("scope", "private", "size", "256", "ways", "full", "latency", "fixed:2",
						       "on-full", "requeue", "clip", "no", "delay", "0", "write", "evict"), NULL);

	check_columns(columns, 8, effects, 8, false);
	CHECK_EQUAL(gt_count_value(&count, "merges", 0), 2);
	CHECK_EQUAL(gt_count_value(&count, "latency_misses", 0), 8);
	gt_count_clear(&count);
	/* Clipped, the request at time 1 takes effect at 2. */
	count = run_timed(rows, CONFIG("scope", "private", "size", "256", "ways", "full", "latency", "fixed:2", "on-full",
				       "requeue", "delay", "0", "write", "evict"), NULL);
	CHECK(events_n > 1 && events[1].step == 1 && events[1].effect == 2);
	gt_count_clear(&count);
	gt_rows_free(rows);
}

/* Threads 0 and 2 of these, and one MSHR. */
static void test_nugteren_table_5(void)
{
	static const struct column columns[] = {
		{0, 0, 0, 'm', -1, 2, 2, 0, 1}, {2, 0, 1, 'f', -1, 0, 0, 1, 1}, {0, 1, 0, 'h', 0, 0, 2, 0, 0},
		{2, 0, 1, 'm', -1, 2, 5, 0, 1}, {2, 1, 1, 'm', -1, 2, 6, 1, 1}};
	static const char *const effects[] = {"", "", "00", "", "", "1", "1"};
	struct gt_rows *rows = new_rows(4);

	set_row(rows, 0, 0, 0, 0, 0);
	set_row(rows, 1, 2, 0, 1, 1);
	set_row(rows, 2, 0, 1, 0, 2);
	set_row(rows, 3, 2, 1, 1, 3);
	struct gt_count count = run_timed(rows, CONFIG("scope", "private", "size", "256", "ways", "full", "latency", "fixed:2",
						       "mshr", "1x1", "on-full", "requeue", "clip", "no", "delay", "0", "write",
						       "evict"), NULL);
	check_columns(columns, 5, effects, 7, true);
	gt_count_clear(&count);
	gt_rows_free(rows);
}

/* Loads, stores and atomics of a few warps and SMs, by step. */
static struct gt_rows *random_rows(size_t n, uint32_t lines, bool loads_only, uint32_t sms)
{
	struct gt_rows *rows = new_rows(n);
	uint64_t step = 0;

	for (size_t i = 0; i < n; i++) {
		static const uint8_t actions[] = {GT_LOAD, GT_LOAD, GT_LOAD, GT_STORE, GT_ATOMIC, GT_REDUCTION};
		set_row(rows, i, (uint16_t)draw(4), 0, draw(draw(2) ? lines : lines / 4 + 1), step += draw(2));
		rows->block[i] = draw(3);
		rows->op[i] = gt_op((enum gt_action)actions[loads_only ? 0 : draw(6)], GT_GLOBAL,
				    loads_only || draw(2) ? GT_OPERATOR_NONE : (enum gt_operator)draw(GT_OPERATORS));
		rows->sectors[i] = (uint8_t)(draw(3) ? 15 : 1 + draw(15));
		rows->full[i] = gt_op_action(rows->op[i]) == GT_STORE ? rows->sectors[i] & (uint8_t)draw(16) : 0;
		rows->threads[i] = (uint8_t)(1 + draw(32));
		rows->sm[i] = (uint16_t)draw(sms);
	}
	return rows;
}

/* All that the functional level counts. */
static bool same_entries(const struct gt_count *functional, const struct gt_count *timed)
{
	for (size_t i = 0; i < functional->n; i++) {
		const struct gt_count_entry *entry = &functional->entries[i], *other = gt_count_find(timed, entry->name);
		bool same = other && other->kind == entry->kind &&
			    (entry->kind == GT_COUNT_NUMBER ? other->number == entry->number
			     : entry->kind == GT_COUNT_TEXT ? strcmp(other->text, entry->text) == 0
							    : other->n == entry->n &&
								      memcmp(other->array, entry->array, entry->n * sizeof *entry->array) == 0);
		if (!same) {
			printf("# %s differs\n", entry->name);
			return false;
		}
	}
	return true;
}

/* No latency, no limits: the functional level, count for count and row for row. */
static void test_without_time_it_is_functional(void)
{
	static const char *const writes[] = {"back", "through", "evict"}, *const lines[] = {"128", "32", "64", "256"};
	static const char *const policies[] = {"lru", "fifo", "random", "srrip", "plru"}, *const scopes[] = {"shared", "private"};
	static const char *const partials[] = {"keep", "read", "fetch"}, *const bypasses[] = {"none", "none", "writes", "reads"};
	static const char *const operators[] = {"yes", "drop"};

	for (int run = 0; run < 300; run++) {
		static struct gt_level_config config;
		bool private = run % 2;
		const char *const *texts = CONFIG("size", "8K", "ways", draw(2) ? "4" : "8", "line", lines[draw(4)], "write",
						  writes[draw(3)], "replace", policies[draw(5)], "partial", partials[draw(3)],
						  "bypass", bypasses[draw(4)], "allocate", draw(2) ? "yes" : "no", "latency",
						  "fixed:0", "scope", scopes[private], "operators", operators[draw(2)]);
		struct gt_rows *rows = random_rows(400, 200, false, private ? 1 : 3);
		struct digest expected = {0}, found = {0};
		struct gt_sink sink = {gt_rows_new(64, &error), note, &expected};
		struct gt_count timed = run_timed(rows, texts, &found), functional;
		CHECK(read_config(texts, &config));
		struct gt_level *level = gt_level_open(&config, &error);
		gt_level_begin(level);
		CHECK_EQUAL(gt_level_take(level, rows, &sink, &error), 0);
		CHECK_EQUAL(gt_level_finish(level, &sink, &error), 0);
		note(&expected, sink.rows, &error);
		CHECK_EQUAL(gt_level_count(level, "x", 1, &functional, &error), 0);
		CHECK(same_entries(&functional, &timed));
		CHECK_EQUAL(found.rows, expected.rows);
		CHECK_EQUAL(found.hash, expected.hash);
		CHECK(expected.rows > 0);
		gt_level_close(level);
		gt_count_clear(&timed);
		gt_count_clear(&functional);
		gt_rows_free(sink.rows);
		gt_rows_free(rows);
	}
}

/* Same seed, same rows; another seed, others. */
static void test_seeds(void)
{
	struct gt_rows *rows = random_rows(2000, 200, true, 1);
	struct digest digests[3] = {{0}, {0}, {0}};
	static const char *const seeds[] = {"half-normal:20,10,1", "half-normal:20,10,1", "half-normal:20,10,2"};
	uint64_t steps[3];

	for (int i = 0; i < 3; i++) {
		struct gt_count count = run_timed(rows, CONFIG("size", "8K", "mshr", "1x4", "latency", seeds[i]), &digests[i]);
		steps[i] = gt_count_value(&count, "steps", 0);
		/* The mean of MIN + |N(0, SIGMA)| is MIN + SIGMA sqrt(2 / pi). */
		double mean = (double)gt_count_value(&count, "latency_steps", 0) / (double)gt_count_value(&count, "reservations", 1);
		CHECK(mean > 20 + 7 && mean < 20 + 9);
		gt_count_clear(&count);
	}
	CHECK_EQUAL(steps[0], steps[1]);
	CHECK_EQUAL(digests[0].hash, digests[1].hash);
	CHECK(steps[0] != steps[2]);
	gt_rows_free(rows);
}

/* What gschedule makes of two waves of two blocks of two or three warps: a few requests an access,
 * two warps a step. */
static unsigned make_accesses(struct ref_access *accesses, unsigned stores)
{
	unsigned n = 0, warps = 2 + draw(2), instructions = 2 + draw(5), lines = 4 + draw(60), width = 1 + draw(6);
	uint64_t step = draw(10);

	for (unsigned wave = 0; wave < 2; wave++)
		for (unsigned an = 0; an < instructions; an++)
			for (unsigned block = 2 * wave; block < 2 * wave + 2; block++)
				for (unsigned warp = 0; warp < warps; warp++) {
					bool store = draw(100) < stores;
					unsigned requests = 1 + draw(width);
					step += warp % 2 == 0;
					for (unsigned i = 0; i < requests; i++)
						accesses[n++] = (struct ref_access){
							.line = draw(lines), .step = step, .sectors = draw(3) ? 15 : 1 + draw(15),
							.warp = 4 * block + warp, .an = an, .wave = wave, .full = store ? draw(16) : 0, .store = store};
				}
	return n;
}

static struct gt_rows *rows_of(const struct ref_access *accesses, unsigned n)
{
	struct gt_rows *rows = new_rows(n);

	for (unsigned i = 0; i < n; i++) {
		set_row(rows, i, (uint16_t)(accesses[i].warp % 4), accesses[i].an, accesses[i].line, accesses[i].step);
		rows->block[i] = accesses[i].warp / 4;
		rows->sectors[i] = (uint8_t)accesses[i].sectors;
		rows->full[i] = (uint8_t)(accesses[i].full & accesses[i].sectors);
		if (accesses[i].store)
			rows->op[i] = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	}
	return rows;
}

/* Ports have no numbers unless they are limited. */
static bool same_event(const struct ref_config *config, const struct gt_timed_event *found, const struct ref_event *expected)
{
	bool same_port = config->ports == REF_MAX || found->port == expected->port;

	return (int)found->status == (int)expected->status && found->step == expected->step && found->line == expected->line &&
	       (expected->status == REF_EFFECT || (found->bank == expected->bank && same_port &&
						   4 * found->block + found->warp == expected->warp)) &&
	       (expected->status == REF_EFFECT || expected->status == REF_FAIL ||
		(found->latency == expected->latency && found->effect == expected->effect));
}

static bool same_run(const struct ref_cache *cache, const struct gt_count *count)
{
	static const char *const counters[] = {"reads", "read_hits", "line_misses", "sector_misses", "merges", "latency_misses",
					       "reservation_fails", "port_conflicts", "steps", "stalls", "sent_reads"};
	const uint64_t *expected = &cache->counters.reads;
	size_t accesses = 0, effects = 0;

	for (size_t i = 0; i < events_n; i++)
		if (!(events[i].status == GT_TIMED_EFFECT
			      ? effects < cache->effects_n && same_event(&cache->config, &events[i], &cache->effects[effects++])
			      : accesses < cache->events_n && same_event(&cache->config, &events[i], &cache->events[accesses++]))) {
			printf("# event %zu: status %d step %" PRIu64 " line %" PRIu64 "\n", i, (int)events[i].status,
			       events[i].step, events[i].line);
			return false;
		}
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		if (gt_count_value(count, counters[i], UINT64_MAX) != expected[i]) {
			printf("# %s is %" PRIu64 ", expected %" PRIu64 "\n", counters[i],
			       gt_count_value(count, counters[i], UINT64_MAX), expected[i]);
			return false;
		}
	/* The reference has no atomics. */
	CHECK_EQUAL(gt_count_value(count, "merged_reads", UINT64_MAX), cache->counters.latency_misses);
	return unwatched || (accesses == cache->events_n && effects == cache->effects_n);
}

/* Each lookup and each failed attempt is a row, with the right status. */
static bool same_told(const struct ref_cache *cache)
{
	bool requeue = cache->config.requeue;
	const uint8_t statuses[] = {
		[REF_HIT] = GT_STATUS_HIT, [REF_MISS] = GT_STATUS_MISS, [REF_FAIL] = GT_STATUS_RESERVATION_FAIL,
		[REF_MERGED] = requeue ? GT_STATUS_LATENCY_MISS : GT_STATUS_MERGED};

	for (size_t i = 0; i < cache->events_n && i < told_n; i++) {
		const struct ref_event *event = &cache->events[i];
		uint8_t status = event->status == REF_PASSED ? event->found ? GT_STATUS_HIT : GT_STATUS_MISS
							     : statuses[event->status];
		if (told[i].step == event->step && told[i].line == event->line && told[i].status == status)
			continue;
		printf("# row %zu: step %" PRIu64 " line %" PRIu64 " status %u, expected %u\n", i, told[i].step, told[i].line,
		       told[i].status, status);
		return false;
	}
	return told_n == cache->events_n;
}

static char texts_of[20][48];

static const char *const *config_of(const struct ref_config *config)
{
	static const char *const issues[] = {
		[REF_SCHEDULE] = "schedule", [REF_RR] = "rr", [REF_GTO] = "gto", [REF_FIFO_POOL] = "fifo-pool"};
	static const char *const units[] = {[REF_LINE] = "line", [REF_ACCESS] = "access", [REF_FIRST_LANE] = "first-lane"};
	bool requeue = config->requeue;
	static const char *texts[48];
	unsigned n = 0, t = 0;

#define PUT(NAME, ...)                                                                                                       \
	(snprintf(texts_of[t], sizeof texts_of[t], __VA_ARGS__), texts[n++] = NAME, texts[n++] = texts_of[t++])
	PUT("size", "%u", config->sets * config->ways * 128);
	PUT("ways", "%u", config->ways);
	PUT("partitions", "%u", config->partitions);
	PUT("banks", "%u", config->banks / config->partitions);
	PUT("mshr", "%ux%u", config->mshr_sets, config->entries);
	PUT("per-warp-mshr", "%u", config->per_warp);
	PUT("hit-latency", "%u", config->hit_latency);
	if (config->ports < REF_MAX)
		PUT("ports", "%u", config->ports);
	if (config->unit == REF_LINE)
		PUT("merges", "%u", config->merges);
	if (requeue)
		PUT("requeue-unit", "%s", units[config->unit]);
	if (requeue)
		PUT("fill", "%s", config->next ? "next" : "same");
	PUT("issue", "%s", issues[config->issue]);
	if (config->issue != REF_SCHEDULE) {
		PUT("schedulers", "%u", config->schedulers);
		PUT("delay", "%.2f", config->delay);
	}
	if (config->k2 > 0)
		PUT("latency", "adaptive:%u,%.2f", config->latency, config->k2);
	else
		PUT("latency", "fixed:%u", config->latency);
#undef PUT
	const char *const rest[] = {"emit", config->emit ? "all" : "misses", "write", config->evict ? "evict" : "through", "allocate", "no", "on-full",
				    requeue ? "requeue" : "stall", "clip", config->clip ? "yes" : "no", "scope",
				    config->issue == REF_SCHEDULE ? "shared" : "private", NULL, NULL};
	memcpy(&texts[n], rest, sizeof rest);
	return texts;
}

static struct ref_config random_config(bool requeue)
{
	static const unsigned bank_counts[] = {1, 1, 2, 3, 4, 6}, ways[] = {1, 2, 4, 8};
	struct ref_config config = {.sets = 12, .ways = ways[draw(4)], .partitions = 1, .mshr_sets = 1, .requeue = requeue,
				    .emit = draw(2)};

	config.banks = bank_counts[draw(6)];
	if (config.banks > 1 && draw(2))
		config.partitions = config.banks % 2 ? config.banks : 2;
	if (config.partitions > 1 && draw(2))
		config.mshr_sets = config.partitions;
	config.ports = draw(3) ? 1 + draw(3) : REF_MAX;
	config.entries = 1 + draw(draw(2) ? 4 : 40);
	config.merges = draw(2) ? draw(3) : 100;
	config.per_warp = draw(2) ? 1 + draw(6) : 1000;
	config.hit_latency = draw(2) ? draw(4) : 0;
	config.latency = 1 + draw(draw(2) ? 4 : 40);
	config.k2 = draw(3) ? 0 : 0.25 * (1 + draw(8));
	config.issue = !requeue && draw(2) ? REF_SCHEDULE : draw(2) ? REF_FIFO_POOL : draw(2) ? REF_RR : REF_GTO;
	config.schedulers = draw(2) ? 1 : 1 + draw(4);
	config.below = config.issue == REF_SCHEDULE ? config.banks : 1;
	config.evict = draw(2);
	config.clip = !requeue || draw(2);
	config.next = requeue && draw(2);
	config.delay = draw(3) ? 1 : 0.5 * draw(4);
	if (!requeue || draw(2))
		return config;
	config.unit = draw(2) ? REF_ACCESS : REF_FIRST_LANE;
	config.ports = config.merges = REF_MAX;
	return config;
}

static void compare_with_reference(bool requeue, int runs)
{
	uint64_t seen[4] = {0};

	for (int run = 0; run < runs; run++) {
		static struct ref_cache cache;
		static struct ref_access accesses[REF_MAX];
		unsigned n = make_accesses(accesses, draw(2) ? 0 : 30);
		struct gt_rows *rows = rows_of(accesses, n);
		memset(&cache, 0, sizeof cache);
		cache.config = random_config(requeue);
		unwatched = draw(2);
		struct gt_count count = run_timed(rows, config_of(&cache.config), NULL);
		(cache.config.issue == REF_SCHEDULE ? ref_stall : ref_waves)(&cache, accesses, n);
		bool same = same_run(&cache, &count) && (!cache.config.emit || same_told(&cache));
		CHECK(same);
		for (int i = 0; !same && i < 20; i++)
			printf("# %s\n", texts_of[i]);
		seen[0] += cache.counters.merges;
		seen[1] += cache.counters.reservation_fails;
		seen[2] += cache.counters.read_hits;
		seen[3] += cache.counters.stalls;
		gt_count_clear(&count);
		gt_rows_free(rows);
		if (!same)
			break;
	}
	unwatched = false;
	for (int i = 0; i < 4; i++)
		CHECK(seen[i] > 1000);
}

static void test_stall_is_the_reference(void)
{
	compare_with_reference(false, 1500);
}

static void test_requeue_is_the_reference(void)
{
	compare_with_reference(true, 1500);
}

/* A single warp is served in its own order, as by an LRU list. */
static void test_one_warp_is_in_order(void)
{
	for (int run = 0; run < 100; run++) {
		unsigned n = 300, lines = 10 + draw(40), hits = 0, latency = 1 + draw(50);
		struct gt_rows *rows = new_rows(n);
		uint64_t list[16], held = 0;
		char text[32];
		for (unsigned i = 0; i < n; i++) {
			unsigned at = 0;
			set_row(rows, i, 0, i, draw(lines), i);
			uint64_t line = rows->address[i] / GT_LINE;
			while (at < held && list[at] != line)
				at++;
			hits += at < held;
			held += at == held && held < 16;
			for (at = at < held ? at : (unsigned)held - 1; at > 0; at--)
				list[at] = list[at - 1];
			list[0] = line;
		}
		/* Each access waits for the one before, so that nothing is ever in flight. */
		snprintf(text, sizeof text, "fixed:%u", latency);
		struct gt_count count = run_timed(rows, CONFIG("size", "2K", "ways", "full", "scope", "private", "latency", text,
							       "on-full", "requeue", "mshr", "1x1", "write", "evict"), NULL);
		CHECK_EQUAL(gt_count_value(&count, "read_hits", 0), 4 * hits);
		CHECK_EQUAL(gt_count_value(&count, "reservation_fails", 1), 0);
		gt_count_clear(&count);
		gt_rows_free(rows);
	}
}

/* The output of one instance is not delayed to the end by another that has had its last request long before. */
static void test_rows_leave_though_an_instance_is_idle(void)
{
	static struct gt_level_config config;
	struct digest digest = {0};
	struct gt_sink sink = {gt_rows_new(64, &error), note, &digest};
	struct gt_rows *rows = new_rows(1000);

	CHECK(read_config(CONFIG("scope", "private", "write", "back", "latency", "fixed:3", "mshr", "1x4"), &config));
	void *timed = gt_level_kind_timed.open(&config, 1, &error);
	CHECK_EQUAL(gt_level_kind_timed.begin(timed, &kernel, &error), 0);
	for (unsigned batch = 0; batch < 200; batch++) {
		for (size_t i = 0; i < 1000; i++) {
			uint64_t at = 1000 * (uint64_t)batch + i;
			set_row(rows, i, 0, 0, at, at);
			rows->op[i] = gt_op(at % 2 ? GT_ATOMIC : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
			rows->sm[i] = at > 0 && at % 1000 != 999;
		}
		rows->sm[999] = batch < 3 ? 2 : 1;
		CHECK_EQUAL(gt_level_kind_timed.take(timed, rows, &sink, &error), 0);
	}
	note(&digest, sink.rows, &error);
	CHECK(digest.rows > 200000);
	CHECK_EQUAL(gt_level_kind_timed.finish(timed, &sink, &error), 0);
	note(&digest, sink.rows, &error);
	CHECK(digest.rows > 299000);
	gt_level_kind_timed.close(timed);
	gt_rows_free(sink.rows);
	gt_rows_free(rows);
}

int main(void)
{
	RUN(test_stall_is_the_reference);
	RUN(test_requeue_is_the_reference);
	RUN(test_one_warp_is_in_order);
	RUN(test_rdgc_table_3);
	RUN(test_nugteren_table_3);
	RUN(test_nugteren_table_4);
	RUN(test_nugteren_table_5);
	RUN(test_without_time_it_is_functional);
	RUN(test_seeds);
	RUN(test_rows_leave_though_an_instance_is_idle);
	return check_report();
}
