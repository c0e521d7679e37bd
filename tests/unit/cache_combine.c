/* SPDX-License-Identifier: MIT */
/* Write combining (gcache --combine) against a second implementation, which goes from cycle to cycle: random stores of three SMs, with loads
 * and atomics between them, in batches of any size. What is sent must be equal to the bit. */
#include "base/random.h"
#include "cache/config.h"
#include "cache/level.h"
#include "check.h"
#include "stream/op.h"

enum { SMS = 3, REQUESTS = 400, MOST_LINES = 6, CASES = 300 };

static uint64_t random_state = 11;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)((gt_random(&random_state) >> 32) * below >> 32);
}

/* ---- the reference: an SM's queue, of which each cycle is looked at ---- */

struct entry {
	uint64_t line, since;
	unsigned sectors, full;
};

struct queue {
	struct entry entries[MOST_LINES];
	int n, room;
	uint64_t wait, now, crossbar_free;
};

static void leave(struct queue *queue, uint64_t cycle)
{
	queue->crossbar_free = cycle + 1 + (uint64_t)__builtin_popcount(queue->entries[0].sectors);
	queue->n--;
	for (int i = 0; i < queue->n; i++)
		queue->entries[i] = queue->entries[i + 1];
}

/* The cycles up to one in which a store comes, none of which has a store. */
static void pass(struct queue *queue, uint64_t until)
{
	for (; queue->now < until; queue->now++)
		if (queue->n > 0 && queue->entries[0].since + queue->wait <= queue->now && queue->crossbar_free <= queue->now)
			leave(queue, queue->now);
}

/* Returns the sectors that are sent. */
static unsigned store(struct queue *queue, uint64_t step, uint64_t line, unsigned sectors, unsigned full)
{
	struct entry *same = NULL;

	pass(queue, step);
	for (int i = 0; i < queue->n; i++)
		if (queue->entries[i].line == line)
			same = &queue->entries[i];
	unsigned sent = 0;
	for (unsigned sector = 1; sector < 16; sector *= 2) {
		bool waits = same && same->sectors & sector, adds = full & sector && !(same && same->full & sector);
		if (sectors & sector && (!waits || adds))
			sent |= sector;
	}
	if (same) {
		same->sectors |= sent;
		same->full |= full & sent;
	} else if (sent) {
		if (queue->n == queue->room) {
			uint64_t waited = queue->entries[0].since + queue->wait;
			leave(queue, waited > queue->crossbar_free ? waited : queue->crossbar_free);
		}
		queue->entries[queue->n++] = (struct entry){line, queue->now, sent, full & sent};
	}
	queue->now++;
	return sent;
}

/* ---- the level ---- */

static struct gt_request sent[REQUESTS];
static size_t sent_n;

static int gather(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context, (void)error;
	for (size_t i = 0; i < rows->n && sent_n < REQUESTS; i++)
		if (gt_op_action(rows->op[i]) == GT_STORE)
			sent[sent_n++] = gt_request_of(rows, i);
	rows->n = 0;
	return 0;
}

static uint64_t counted(const struct gt_count *count, const char *name)
{
	const struct gt_count_entry *entry = gt_count_find(count, name);

	CHECK(entry);
	return entry ? entry->number : 0;
}

static struct gt_level *open_level(int lines, int cycles)
{
	char combine[32];
	struct gt_error error;

	snprintf(combine, sizeof combine, "%d,%d", lines, cycles);
	const char *parameters[] = {"size", "4K", "ways", "4", "write", draw(2) ? "through" : "evict", "combine", combine, NULL};
	return gt_level_make("l1", parameters, NULL, NULL, &error);
}

static struct gt_request draw_request(uint64_t *step, unsigned busy)
{
	static const enum gt_action actions[] = {GT_STORE, GT_STORE, GT_STORE, GT_STORE, GT_LOAD, GT_ATOMIC, GT_REDUCTION};
	struct gt_request request = {.address = draw(8) * GT_LINE, .sm = (uint16_t)draw(SMS), .sectors = (uint8_t)(1 + draw(15)), .threads = 32,
				     .op = gt_op(actions[draw(7)], GT_GLOBAL, GT_OPERATOR_NONE)};

	*step += draw(busy) == 0 ? draw(40) : 0;
	request.step = *step;
	request.full = gt_op_action(request.op) == GT_STORE ? request.sectors & (uint8_t)draw(16) : 0;
	return request;
}

static void compare(struct gt_level *level, struct queue queues[SMS], struct gt_rows *rows, struct gt_sink *sink, uint64_t *step, unsigned busy)
{
	struct gt_error error;
	struct gt_request expected[REQUESTS];
	size_t n = 0;
	uint64_t sectors = 0, left = 0;

	sent_n = 0;
	for (int i = 0; i < REQUESTS; i++) {
		struct gt_request request = draw_request(step, busy);
		gt_request_append(rows, &request);
		if (gt_op_action(request.op) == GT_STORE) {
			sectors += (uint64_t)__builtin_popcount(request.sectors);
			request.sectors = (uint8_t)store(&queues[request.sm], request.step, request.address, request.sectors, request.full);
			request.full &= request.sectors;
			left += (uint64_t)__builtin_popcount(request.sectors);
			if (request.sectors)
				expected[n++] = request;
		}
		if (rows->n == rows->capacity || draw(9) == 0 || i == REQUESTS - 1) {
			CHECK_EQUAL(gt_level_take(level, rows, sink, &error), 0);
			rows->n = 0;
		}
	}
	CHECK_EQUAL(gt_level_finish(level, sink, &error), 0);
	gather(NULL, sink->rows, &error);
	CHECK_EQUAL(sent_n, n);
	for (size_t i = 0; i < n && i < sent_n; i++) {
		CHECK_EQUAL(sent[i].address, expected[i].address);
		CHECK_EQUAL(sent[i].step, expected[i].step);
		CHECK_EQUAL(sent[i].sectors, expected[i].sectors);
		CHECK_EQUAL(sent[i].full, expected[i].full);
	}
	struct gt_count count;
	CHECK_EQUAL(gt_level_count(level, "l1", 1, &count, &error), 0);
	CHECK_EQUAL(counted(&count, "writes"), sectors);
	CHECK_EQUAL(counted(&count, "sent_writes"), left);
	CHECK_EQUAL(counted(&count, "combined_writes"), sectors - left);
	gt_count_clear(&count);
}

static void stores_that_wait_are_sent_once(void)
{
	struct gt_error error;
	struct gt_rows *rows = gt_rows_new(16, &error);
	struct gt_sink sink = {gt_rows_new(32, &error), gather, NULL};

	rows->kind = GT_REQUESTS;
	rows->scheduled = true;
	for (int round = 0; round < CASES; round++) {
		int lines = 1 + (int)draw(MOST_LINES), cycles = (int)draw(13);
		struct gt_level *level = open_level(lines, cycles);
		CHECK(level);
		/* Of a second launch nothing waits of the first. */
		for (int launch = 0; launch < 2; launch++) {
			struct queue queues[SMS] = {{.n = 0}};
			uint64_t step = draw(3);
			for (int sm = 0; sm < SMS; sm++)
				queues[sm] = (struct queue){.room = lines, .wait = (uint64_t)cycles};
			gt_level_begin(level);
			compare(level, queues, rows, &sink, &step, 1 + draw(8));
		}
		gt_level_close(level);
	}
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

int main(void)
{
	RUN(stores_that_wait_are_sent_once);
	return check_report();
}
