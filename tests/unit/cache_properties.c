/* SPDX-License-Identifier: MIT */
/* Properties that hold for any parameters, and the papers' results for index functions. */
#include "cache/config.h"
#include "cache/level.h"
#include "cache/state.h"
#include "cache/index/index.h"
#include "base/random.h"
#include "cache_names.h"
#include "check.h"
#include "stream/op.h"

static struct gt_error error;
static uint64_t random_state = 7;

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

/* A level's counters after one kernel; the texts are --NAME VALUE pairs, NULL at the end. */
static struct gt_count run(const struct gt_rows *rows, const char *const *texts)
{
	static struct gt_level_config config;
	struct gt_level_settings settings = {.role = &gt_roles[gt_roles_n - 1]};
	struct gt_rows *out = gt_rows_new(64, &error);
	struct gt_sink sink = {out, discard, NULL};
	struct gt_count count;

	for (; texts[0]; texts += 2)
		for (int id = 0; id < GT_PARAMETERS; id++)
			if (strcmp(gt_parameters[id].name, texts[0]) == 0)
				CHECK_EQUAL(gt_level_set(&settings, (enum gt_parameter_id)id, texts[1], &error), 0);
	CHECK_EQUAL(gt_level_resolve(&settings, NULL, NULL, &config, &error), 0);
	CHECK_EQUAL(gt_level_check(&config, ~UINT64_C(0), &error), 0);
	struct gt_level *level = gt_level_open(&config, &error);
	CHECK(level != NULL);
	gt_level_begin(level);
	CHECK_EQUAL(gt_level_take(level, rows, &sink, &error), 0);
	CHECK_EQUAL(gt_level_finish(level, &sink, &error), 0);
	CHECK_EQUAL(gt_level_count(level, "x", 1, &count, &error), 0);
	gt_level_close(level);
	gt_rows_free(out);
	return count;
}

#define RUN_LEVEL(ROWS, ...) run(ROWS, (const char *const[]){__VA_ARGS__, NULL, NULL})

static struct gt_rows *make_rows(size_t n, uint32_t lines, unsigned stores)
{
	struct gt_rows *rows = gt_rows_new(n, &error);

	rows->kind = GT_REQUESTS;
	rows->scheduled = true;
	rows->n = n;
	for (size_t i = 0; i < n; i++) {
		bool store = draw(100) < stores;
		rows->op[i] = gt_op(store ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
		rows->address[i] = (uint64_t)GT_LINE * draw(draw(2) ? lines : lines / 8 + 1);
		rows->sectors[i] = (uint8_t)(draw(2) ? 15 : 1 + draw(15));
		rows->full[i] = store ? rows->sectors[i] & (uint8_t)draw(16) : 0;
		rows->step[i] = i;
		rows->sm[i] = (uint16_t)draw(4);
	}
	return rows;
}

static uint64_t first_elements(const struct gt_count *count, const char *name, size_t n)
{
	const struct gt_count_entry *entry = gt_count_find(count, name);
	uint64_t sum = 0;

	CHECK(entry && entry->kind == GT_COUNT_ARRAY && entry->n >= n);
	for (size_t i = 0; entry && i < n; i++)
		sum += entry->array[i];
	return sum;
}

/* What a store does that allocates. */
struct storing {
	const char *write, *partial, *write_hits;
	bool writes_exact;
};

/* The first k MRU counters are the hits of k ways and the same 16 sets, for lines of any number of
 * sectors: of the nibbles, of the bytes, and of the loop over sectors. */
static void compare_associativities(const char *line, const char *sector, unsigned most_ways, unsigned line_bytes,
				    const struct storing *storing)
{
	struct gt_rows *rows = make_rows(20000, 700, 30);
	char size[32], ways[32];

	snprintf(ways, sizeof ways, "%u", most_ways);
	snprintf(size, sizeof size, "%u", most_ways * line_bytes * 16);
	struct gt_count large = RUN_LEVEL(rows, "scope", "private", "size", size, "ways", ways, "line", line, "sector",
					  sector, "allocate", "yes", "write", storing->write, "partial", storing->partial,
					  "write-hits", storing->write_hits);
	uint64_t last = 0;
	for (unsigned k = 1; k <= most_ways; k += 1 + k / 8) {
		snprintf(ways, sizeof ways, "%u", k);
		snprintf(size, sizeof size, "%u", k * line_bytes * 16);
		struct gt_count small = RUN_LEVEL(rows, "scope", "private", "size", size, "ways", ways, "line", line,
						  "sector", sector, "allocate", "yes", "write", storing->write, "partial",
						  storing->partial, "write-hits", storing->write_hits);
		CHECK_EQUAL(first_elements(&large, "mru", k), gt_count_value(&small, "read_hits", 0));
		if (storing->writes_exact)
			CHECK_EQUAL(first_elements(&large, "mru_writes", k), gt_count_value(&small, "write_hits", 0));
		CHECK(gt_count_value(&small, "read_hits", 0) >= last);
		last = gt_count_value(&small, "read_hits", 0);
		gt_count_clear(&small);
	}
	CHECK(last > 0);
	CHECK_EQUAL(first_elements(&large, "mru_writes", most_ways), gt_count_value(&large, "write_hits", 0));
	gt_count_clear(&large);
	gt_rows_free(rows);
}

/* gcache(1): exact but for mru_writes where a sector can be written in part and stay invalid. */
static void test_mru_gives_every_associativity(void)
{
	static const struct storing all[] = {
		{"back", "keep", "sector", true},   {"back", "keep", "tag", true}, {"back", "fetch", "sector", true},
		{"back", "fetch", "tag", true},	    {"back", "read", "sector", false}, {"back", "read", "tag", true},
		{"through", "keep", "sector", false}, {"through", "keep", "tag", true},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		compare_associativities("128", "32", 4, 128, &all[i]);
		compare_associativities("128", "32", 16, 128, &all[i]);
		compare_associativities("128", "32", 40, 128, &all[i]);
		compare_associativities("128", "128", 12, 128, &all[i]);
		compare_associativities("32", "32", 16, 32, &all[i]);
		compare_associativities("1K", "32", 8, 1024, &all[i]);
	}
}

/* Misses are fetched, requests sent are counted, and no dirty sector is lost. */
static void test_conservation(void)
{
	for (int i = 0; i < 32; i++) {
		struct gt_rows *rows = make_rows(5000, 50 + draw(1000), draw(60));
		uint64_t sectors = 0, hits, misses;
		for (size_t r = 0; r < rows->n; r++)
			sectors += (uint64_t)__builtin_popcount(rows->sectors[r]);
		struct gt_count count = RUN_LEVEL(rows, "size", "16K", "replace", policy_text((size_t)i / 2), "write",
						  i % 2 ? "back" : "through");
		hits = gt_count_value(&count, "read_hits", 0) + gt_count_value(&count, "write_hits", 0);
		misses = gt_count_value(&count, "line_misses", 0) + gt_count_value(&count, "sector_misses", 0);
		CHECK_EQUAL(hits + misses, sectors);
		CHECK_EQUAL(gt_count_value(&count, "reads", 0) + gt_count_value(&count, "writes", 0), sectors);
		CHECK_EQUAL(gt_count_value(&count, "sent_reads", 0),
			    gt_count_value(&count, "reads", 0) - gt_count_value(&count, "read_hits", 0));
		if (i % 2 == 0)
			CHECK_EQUAL(gt_count_value(&count, "sent_writes", 0), gt_count_value(&count, "writes", 0));
		gt_count_clear(&count);
		gt_rows_free(rows);
	}
}

/* A cache as large as its working set misses each sector once, whatever it is made of. */
static void test_what_fits_misses_once(void)
{
	struct gt_rows *rows = make_rows(20000, 256, 0);
	struct gt_count full = RUN_LEVEL(rows, "size", "32K", "ways", "full");
	struct gt_count sets = RUN_LEVEL(rows, "size", "32K", "ways", "4");
	struct gt_count list = RUN_LEVEL(rows, "size", "1M", "ways", "full");

	CHECK_EQUAL(gt_count_value(&full, "evictions", 1), 0);
	CHECK_EQUAL(gt_count_value(&sets, "evictions", 1), 0);
	CHECK_EQUAL(gt_count_value(&full, "read_hits", 0), gt_count_value(&list, "read_hits", 1));
	CHECK_EQUAL(gt_count_value(&full, "read_hits", 0), gt_count_value(&sets, "read_hits", 1));
	CHECK(gt_count_find(&full, "mru") != NULL);
	CHECK(gt_count_find(&list, "mru") == NULL);
	gt_count_clear(&full);
	gt_count_clear(&sets);
	gt_count_clear(&list);
	gt_rows_free(rows);
}

/* No policy has more hits than opt, where all lookups are alike: loads, and sectors of a whole line. */
static void test_opt_is_a_bound(void)
{
	static const char *const ways[] = {"1", "2", "4", "16", "full"};
	static const char *const indexes[] = {"mod", "hash", "prime"};

	for (unsigned i = 0; i < 45; i++) {
		struct gt_rows *rows = make_rows(4000, 20 + draw(500), 0);
		struct gt_count best = RUN_LEVEL(rows, "size", "16K", "sector", "line", "ways", ways[i % 5], "index",
						 indexes[i % 3], "scope", i % 2 ? "shared" : "private", "replace", "opt");
		uint64_t bound = gt_count_value(&best, "read_hits", 0);
		CHECK(bound > 0);
		for (unsigned p = 0; p < gt_policies_n; p++) {
			if (gt_policies[p]->looks_ahead || gt_policies[p]->check) /* which is for some numbers of ways */
				continue;
			struct gt_count other = RUN_LEVEL(rows, "size", "16K", "sector", "line", "ways", ways[i % 5],
							  "index", indexes[i % 3], "scope",
							  i % 2 ? "shared" : "private", "replace",
							  policy_text(p));
			CHECK(gt_count_value(&other, "read_hits", UINT64_MAX) <= bound);
			gt_count_clear(&other);
		}
		gt_count_clear(&best);
		gt_rows_free(rows);
	}
}

/* The most hits that any choice of victims gives in one set, by trying all choices. A store counts as a lookup if it
 * allocates its line; with write evict it only invalidates a line. */
struct choices {
	const struct gt_rows *rows;
	unsigned ways;
	bool evict, allocate;
};

static unsigned most_hits(const struct choices *choices, const uint64_t *held, size_t i)
{
	const struct gt_rows *rows = choices->rows;
	unsigned ways = choices->ways, most = 0, way = 0;
	uint64_t next[4];

	if (i == rows->n)
		return 0;
	uint64_t line = rows->address[i] / GT_LINE + 1;
	bool store = gt_op_action(rows->op[i]) == GT_STORE;
	memcpy(next, held, sizeof next);
	while (way < ways && held[way] != line)
		way++;
	if (store && !choices->allocate) {
		if (choices->evict && way < ways)
			next[way] = 0;
		return most_hits(choices, next, i + 1);
	}
	if (way < ways)
		return 1 + most_hits(choices, next, i + 1);
	for (way = 0; way < ways && held[way] != 0; way++)
		;
	for (unsigned victim = way < ways ? way : 0; victim < (way < ways ? way + 1 : ways); victim++) {
		next[victim] = line;
		unsigned hits = most_hits(choices, next, i + 1);
		most = hits > most ? hits : most;
		next[victim] = held[victim];
	}
	return most;
}

static void test_opt_is_optimal(void)
{
	static const struct {
		const char *write, *allocate;
		bool stores_count;
	} modes[] = {{"back", "yes", true}, {"back", "no", false}, {"through", "yes", true}, {"through", "no", false},
		     {"evict", "no", false}};

	for (unsigned i = 0; i < 500; i++) {
		struct gt_rows *rows = make_rows(14, 5, i % 10 < 5 ? 0 : 35);
		const unsigned mode = i % 5, ways = 2 + i % 2;
		const struct choices choices = {rows, ways, mode == 4, modes[mode].stores_count};
		const uint64_t empty[4] = {0};
		for (size_t r = 0; r < rows->n; r++) {
			rows->sectors[r] = 15;
			rows->full[r] = gt_op_action(rows->op[r]) == GT_STORE ? 15 : 0;
		}
		struct gt_count count = RUN_LEVEL(rows, "size", ways == 2 ? "256" : "384", "ways", "full", "sector", "line",
						  "write", modes[mode].write, "allocate", modes[mode].allocate, "replace",
						  "opt");
		uint64_t hits = gt_count_value(&count, "read_hits", 0);
		hits += modes[mode].stores_count ? gt_count_value(&count, "write_hits", 0) : 0;
		CHECK_EQUAL(hits, most_hits(&choices, empty, 0));
		gt_count_clear(&count);
		gt_rows_free(rows);
	}
}

static struct gt_index open_index(const char *name, uint32_t sets, uint64_t line_bytes)
{
	const struct gt_index_function *function = NULL;
	struct gt_index index = {0};
	struct gt_index_argument argument;

	CHECK_EQUAL(gt_index_parse(name, &function, &argument, &error), 0);
	CHECK_EQUAL(gt_index_open(&index, function, &argument, sets, line_bytes, &error), 0);
	return index;
}

/* [002] 5.1: each address bit alone, and pairs that cancel. */
static void test_fermi_bits(void)
{
	static const int set_bit[32] = {[7] = 1, [8] = 2, [9] = 3, [10] = 4, [11] = 5,
					[13] = 1, [14] = 2, [15] = 3, [17] = 4, [19] = 5};
	struct gt_index small = open_index("fermi", 32, 128), large = open_index("fermi", 64, 128);

	for (unsigned bit = 7; bit < 32; bit++) {
		uint64_t line = (UINT64_C(1) << bit) / 128;
		uint32_t expected = set_bit[bit] ? 1U << (set_bit[bit] - 1) : 0;
		CHECK_EQUAL(gt_index_set(&small, line), expected);
		CHECK_EQUAL(gt_index_set(&large, line), bit == 12 ? 32 : expected);
	}
	CHECK_EQUAL(gt_index_set(&small, 0x2080 / 128), 0);
	CHECK_EQUAL(gt_index_set(&small, (0xf80 | 1 << 14) / 128), 31 ^ 2);
	CHECK_EQUAL(gt_index_set(&large, (0x1f80 | 1 << 19) / 128), 63 ^ 16);
}

/* [002] figure 12 varies the cache: 16 sets of 256-byte lines have bits 8 to 11 of the address, 256 sets of 64-byte
 * lines bits 6 to 13; the first five of them are XORed with bits 13, 14, 15, 17 and 19. */
static void test_fermi_of_other_caches(void)
{
	struct gt_index small = open_index("fermi", 16, 256), large = open_index("fermi", 256, 64);

	CHECK_EQUAL(gt_index_set(&small, (1 << 8) / 256), 1);
	CHECK_EQUAL(gt_index_set(&small, (1 << 11 | 1 << 13) / 256), 8 ^ 1);
	CHECK_EQUAL(gt_index_set(&small, (1 << 19) / 256), 0);
	CHECK_EQUAL(gt_index_set(&large, (1 << 6) / 64), 1);
	CHECK_EQUAL(gt_index_set(&large, (1 << 13) / 64), 128 ^ 1);
	CHECK_EQUAL(gt_index_set(&large, (1 << 12 | 1 << 19) / 64), 64 ^ 16);
}

/* .618 x 32 = 19.8; 1.236 leaves .236 x 32 = 7.6; 1.854 leaves .854 x 32 = 27.3; of 5 sets .618 x 5 = 3.1. */
static void test_golden(void)
{
	struct gt_index index = open_index("golden", 32, 128), five = open_index("golden", 5, 128);

	CHECK_EQUAL(gt_index_set(&index, 0), 0);
	CHECK_EQUAL(gt_index_set(&index, 1), 19);
	CHECK_EQUAL(gt_index_set(&index, 2), 7);
	CHECK_EQUAL(gt_index_set(&index, 3), 27);
	CHECK_EQUAL(gt_index_set(&five, 1), 3);
}

/* [002] figure 7: two passes of n loads, a stride of 2^s bytes, the 16 KB cache with LRU. They miss
 * once if the set bits that vary spread them over enough sets of four, else always. */
static void test_fermi_strides(void)
{
	static const int set_bit[32] = {[7] = 1, [8] = 2, [9] = 3, [10] = 4, [11] = 5,
					[13] = 1, [14] = 2, [15] = 3, [17] = 4, [19] = 5};

	for (unsigned s = 7; s < 20; s++) {
		for (unsigned log_n = 2; log_n < 10; log_n++) {
			size_t n = (size_t)1 << log_n;
			unsigned varied = 0, sets = 0;
			for (unsigned bit = s; bit < s + log_n && bit < 32; bit++)
				if (set_bit[bit])
					varied |= 1U << set_bit[bit];
			sets = 1U << __builtin_popcount(varied);
			struct gt_rows *rows = make_rows(2 * n, 10, 0);
			for (size_t i = 0; i < 2 * n; i++) {
				rows->address[i] = (i % n) << s;
				rows->sectors[i] = 15;
				rows->sm[i] = 0;
			}
			struct gt_count count = RUN_LEVEL(rows, "size", "16K", "index", "fermi", "sector", "line");
			CHECK_EQUAL(gt_count_value(&count, "read_hits", 0), n / sets <= 4 ? n : 0);
			gt_count_clear(&count);
			gt_rows_free(rows);
		}
	}
}

/* [001] figure 12: bits 7 and 8 are the set of four, bits 5 and 6 are not. */
static void test_texture_sets(void)
{
	struct gt_index index = open_index("texture", 4, 32);

	for (uint64_t address = 0; address < 4096; address += 32)
		CHECK_EQUAL(gt_index_set(&index, address / 32), address >> 7 & 3);
}

/* Irreducible polynomials of the lowest degrees, and their use as a modulus: no power-of-two stride maps the lines of a
 * cache to the same set. */
static void test_ipoly(void)
{
	static const uint64_t known[] = {1, 2, 7, 11, 19, 37, 67, 131, 283, 515, 1033};

	for (unsigned degree = 0; degree <= 10; degree++)
		CHECK_EQUAL(gt_polynomial_irreducible(degree), known[degree]);
	for (uint32_t sets = 4; sets <= 4096; sets *= 2) {
		struct gt_index index = open_index("ipoly", sets, 128);
		for (unsigned shift = 0; shift < 40; shift += 3) {
			static unsigned char seen[4096];
			memset(seen, 0, sizeof seen);
			unsigned distinct = 0;
			for (uint64_t i = 0; i < sets; i++) {
				uint32_t set = gt_index_set(&index, i << shift);
				CHECK(set < sets);
				distinct += seen[set % 4096]++ == 0;
			}
			CHECK_EQUAL(distinct, sets);
		}
		gt_index_close(&index);
	}
}

static struct gt_interleave open_interleave(const char *name, uint32_t partitions, uint32_t banks, uint64_t line_bytes)
{
	struct gt_interleave interleave;

	CHECK_EQUAL(gt_interleave_parse(name, &interleave, &error), 0);
	CHECK_EQUAL(gt_interleave_open(&interleave, partitions, banks, line_bytes, &error), 0);
	return interleave;
}

/* Lines a stride apart: the number of banks that they use, and the most lines in one bank. */
static void spread(const struct gt_interleave *interleave, uint64_t stride_lines, unsigned n, unsigned *reached,
		   unsigned *most)
{
	unsigned counts[64] = {0};

	*reached = *most = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint32_t bank = interleave->scheme->place(interleave, i * stride_lines).bank;
		CHECK(bank < interleave->banks);
		*reached += counts[bank % 64]++ == 0;
		*most = counts[bank % 64] > *most ? counts[bank % 64] : *most;
	}
}

/* Whole rounds of lines: each line has a place of its own, and all banks have the same line numbers, from 0 on. So bank and
 * number identify a line, and so do a set and a tag made from that number, with any index function. */
static void test_interleaves_are_bijections(void)
{
	static const char *const schemes[] = {"mod", "mod:512", "hash", "hash:1K", "two-level", "two-level:2K", "xor", "xor:256"};
	enum { ROUNDS = 48, LINES_MAX = 64 * ROUNDS * 32 };
	static unsigned char seen[LINES_MAX];

	for (uint32_t partitions = 1; partitions <= 8; partitions++) {
		for (uint32_t banks = 1; banks <= 4; banks++) {
			uint32_t all = partitions * banks;
			for (unsigned s = 0; s < 6 + 2 * ((all & (all - 1)) == 0); s++) {
				struct gt_interleave interleave = open_interleave(schemes[s], partitions, banks, s % 3 ? 64 : 128);
				uint64_t each = (uint64_t)ROUNDS << interleave.chunk_shift;
				memset(seen, 0, sizeof seen);
				for (uint64_t line = 0; line < each * all; line++) {
					struct gt_bank_line place = interleave.scheme->place(&interleave, line);
					CHECK(place.bank < all && place.line < each);
					CHECK(seen[(place.bank * each + place.line) % LINES_MAX]++ == 0);
				}
			}
		}
	}
}

/* The properties of each scheme in gcache(1). */
static void test_interleaves_spread_strides(void)
{
	struct gt_interleave mod = open_interleave("mod", 7, 2, 32), levels = open_interleave("two-level", 7, 2, 32);
	struct gt_interleave xor = open_interleave("xor", 4, 4, 32), hash = open_interleave("hash", 7, 2, 32);
	unsigned reached, most;

	/* mod: banks have turns, and a stride of as many lines as banks stays in one. */
	spread(&mod, 1, 1400, &reached, &most);
	CHECK(reached == 14 && most == 100);
	spread(&mod, 14, 1400, &reached, &most);
	CHECK(reached == 1);
	/* two-level: no power of two comes back to a partition of seven before all have had it. */
	for (unsigned shift = 3; shift < 20; shift++) {
		unsigned partitions[7] = {0};
		for (uint64_t i = 0; i < 700; i++)
			partitions[levels.scheme->place(&levels, i << shift).bank % 7]++;
		for (unsigned p = 0; p < 7; p++)
			CHECK_EQUAL(partitions[p], 100);
	}
	/* The lines of a chunk are of one partition, and of its banks in turn. */
	for (uint64_t line = 0; line < 16; line++)
		CHECK_EQUAL(levels.scheme->place(&levels, line).bank, line / 8 + 7 * (line % 2));
	/* xor: a stride of as many lines as banks reaches all alike, and so does any smaller power of two. */
	for (unsigned shift = 0; shift < 12; shift++) {
		spread(&xor, UINT64_C(1) << shift, 1600, &reached, &most);
		CHECK_EQUAL(reached, 16);
		CHECK(most < 130);
	}
	/* hash: any stride reaches all, and no bank has twice its part. */
	for (uint64_t stride = 1; stride < 3000; stride += 1 + stride / 3) {
		spread(&hash, stride, 14000, &reached, &most);
		CHECK_EQUAL(reached, 14);
		CHECK(most < 2000);
	}
}

/* Every function stays within its sets, whatever the line. */
static void test_cycles(void)
{
	static const char *const wrong[] = {"", ",", "1,", "1:2", "1,2", "1,2:", "1,2:3x", "1,2:3,2:4", "1,0:3", "-1", "1,4294967296:1"};
	struct gt_cycles cycles;

	CHECK_EQUAL(gt_cycles_parse("84,666:579,682:577", &cycles, &error), 0);
	CHECK_EQUAL(gt_cycles_add(&cycles, 0), 84);
	CHECK_EQUAL(gt_cycles_add(&cycles, 665), 665 + 84);
	CHECK_EQUAL(gt_cycles_add(&cycles, 666), 666 + 579);
	CHECK_EQUAL(gt_cycles_add(&cycles, 681), 681 + 579);
	CHECK_EQUAL(gt_cycles_add(&cycles, 682), 682 + 577);
	CHECK_EQUAL(gt_cycles_add(&cycles, UINT32_MAX - 1), UINT32_MAX);
	CHECK_EQUAL(gt_cycles_parse("unknown", &cycles, &error), 0);
	CHECK_EQUAL(cycles.n, 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		CHECK_EQUAL(gt_cycles_parse(wrong[i], &cycles, &error), -1);
}

static void test_sets_in_range(void)
{
	static const char *const any[] = {"mod", "smod:5", "prime", "hash"};
	static const char *const powers[] = {"xor", "ipoly", "texture"};

	for (uint32_t sets = 1; sets < 3000; sets += 1 + sets / 3) {
		for (unsigned f = 0; f < 4 + 3 * ((sets & (sets - 1)) == 0); f++) {
			struct gt_index index = open_index(f < 4 ? any[f] : powers[f - 4], sets, 128);
			for (int i = 0; i < 200; i++)
				CHECK(gt_index_set(&index, gt_random(&random_state) >> draw(60)) < sets);
			gt_index_close(&index);
		}
	}
}

/* Columns of lines, whole, cut and crossed, that are loaded again and again, and other requests between them. */
static struct gt_rows *make_columns(size_t n, uint32_t columns, unsigned others)
{
	struct gt_rows *rows = make_rows(n, 40 * columns, 20);

	for (size_t i = 0, length; i < n; i += length) {
		uint32_t column = draw(columns), first = draw(8) ? 0 : draw(20), sectors = 1 + (column + draw(3)) % 15;
		uint64_t distance = column % 3 ? (1 + column % 4 * 3) * GT_LINE : 0 - (uint64_t)(16 * GT_LINE);
		length = draw(100) < others ? 1 + draw(3) : 1 + draw(draw(3) ? 32 : 70);
		for (size_t k = i; length > 3 && k < i + length && k < n; k++) {
			rows->op[k] = gt_op(GT_LOAD, GT_GLOBAL, column % 7 == 6 ? GT_CG : GT_OPERATOR_NONE);
			rows->address[k] = UINT64_C(0x10000000) + (uint64_t)column * 100 * GT_LINE + (first + k - i) * distance;
			rows->sectors[k] = (uint8_t)(draw(60) ? sectors : 1 + draw(15));
			rows->full[k] = 0;
			rows->sm[k] = (uint16_t)(column % 3);
		}
	}
	return rows;
}

/* Whether row i goes on with those from `first` on that may be one. */
static bool goes_on(const struct gt_rows *rows, size_t first, size_t i)
{
	return i == first + 1 || rows->address[i] - rows->address[i - 1] == rows->address[first + 1] - rows->address[first];
}

/* The same requests, of which those at even distances are one row, as far as the draw says. */
static struct gt_rows *make_spans(const struct gt_rows *rows)
{
	struct gt_rows *spans = gt_rows_new(rows->n, &error);

	gt_rows_shape(spans, rows);
	spans->has_spans = true;
	for (size_t i = 0, n; i < rows->n; i += n) {
		const size_t most = draw(20) ? 64 : 1 + draw(8);
		for (n = 1; i + n < rows->n && n < most && rows->op[i + n] == rows->op[i] && rows->sectors[i + n] == rows->sectors[i] &&
			    rows->full[i + n] == rows->full[i] && rows->sm[i + n] == rows->sm[i] && rows->step[i + n] == rows->step[i] && goes_on(rows, i, i + n);)
			n++;
		CHECK_EQUAL(gt_rows_copy(spans, rows, i, &error), 0);
		spans->width[spans->n - 1] = (uint8_t)(n > 1 ? n : draw(2));
		spans->pitch[spans->n - 1] = n > 1 ? (int64_t)(rows->address[i + 1] - rows->address[i]) : 1;
	}
	return spans;
}

struct sent {
	uint64_t hash, rows;
};

static int note_sent(void *context, struct gt_rows *rows, struct gt_error *unused)
{
	struct sent *sent = context;

	(void)unused;
	for (size_t i = 0; i < rows->n; i++)
		sent->hash = gt_fibonacci(sent->hash ^ rows->address[i] ^ rows->sectors[i] ^ (uint64_t)rows->op[i] << 8 ^ (uint64_t)rows->step[i] << 20);
	sent->rows += rows->n;
	return discard(context, rows, unused);
}

/* Serves some batches. */
static struct sent serve_batches(struct gt_level *level, struct gt_rows *const *batches, size_t n)
{
	struct gt_rows *out = gt_rows_new(64, &error);
	struct sent sent = {0};
	struct gt_sink sink = {out, note_sent, &sent};

	gt_level_begin(level);
	for (size_t i = 0; i < n; i++)
		CHECK_EQUAL(gt_level_take(level, batches[i], &sink, &error), 0);
	CHECK_EQUAL(gt_level_finish(level, &sink, &error), 0);
	note_sent(&sent, out, &error);
	gt_rows_free(out);
	return sent;
}

/* Columns are served together in the fast wing, in sets that keep their order in bytes, with the result of the general path; so are rows
 * that are several requests, in any level. */
static void test_columns(void)
{
	static const char *const sizes[] = {"4K", "16K", "32K", "128K"}, *const ways[] = {"17", "32", "64", "128", "256", "full"};

	for (unsigned round = 0; round < 120; round++) {
		static struct gt_level_config config;
		struct gt_level_settings settings = {.role = &gt_roles[gt_roles_n - 1]};
		const char *const texts[][2] = {{"scope", round % 5 ? "private" : "shared"}, {"size", sizes[round % 4]}, {"ways", ways[draw(6)]},
						{"index", draw(2) ? "mod" : "hash"}, {"write", draw(2) ? "through" : "back"},
						{"fetch", draw(2) ? "sector" : "64"}, {"read-misses", draw(2) ? "all" : "pair"}};
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			for (int id = 0; id < GT_PARAMETERS; id++)
				if (strcmp(gt_parameters[id].name, texts[i][0]) == 0)
					CHECK_EQUAL(gt_level_set(&settings, (enum gt_parameter_id)id, texts[i][1], &error), 0);
		if (gt_level_resolve(&settings, NULL, NULL, &config, &error) != 0 || gt_level_check(&config, ~UINT64_C(0), &error) != 0)
			continue;
		struct gt_level *fast = gt_level_open(&config, &error), *plain = gt_level_open_plain(&config, true, &error);
		struct gt_level *spans = draw(4) ? gt_level_open(&config, &error) : gt_level_open_plain(&config, true, &error);
		struct gt_rows *batches[4], *folded[4];
		for (size_t i = 0; i < 4; i++) {
			batches[i] = make_columns(1 + draw(4096), 1 + draw(draw(2) ? 4 : 40), draw(60));
			for (size_t k = 0; k < batches[i]->n; k++)
				batches[i]->step[k] = k / 100;
			folded[i] = make_spans(batches[i]);
		}
		struct sent by_spans = serve_batches(spans, folded, 4);
		struct sent by_fast = serve_batches(fast, batches, 4), by_plain = serve_batches(plain, batches, 4);
		CHECK(memcmp(&fast->counters, &plain->counters, sizeof fast->counters) == 0);
		CHECK_EQUAL(fast->pair.pair_misses, plain->pair.pair_misses);
		CHECK_EQUAL(by_fast.rows, by_plain.rows);
		CHECK_EQUAL(by_fast.hash, by_plain.hash);
		CHECK(memcmp(&spans->counters, &plain->counters, sizeof spans->counters) == 0);
		CHECK_EQUAL(spans->pair.pair_misses, plain->pair.pair_misses);
		CHECK_EQUAL(by_spans.rows, by_plain.rows);
		CHECK_EQUAL(by_spans.hash, by_plain.hash);
		for (size_t i = 0; i < 4; i++) {
			gt_rows_free(batches[i]);
			gt_rows_free(folded[i]);
		}
		gt_level_close(spans);
		gt_level_close(fast);
		gt_level_close(plain);
	}
}

int main(void)
{
	RUN(test_columns);
	RUN(test_mru_gives_every_associativity);
	RUN(test_conservation);
	RUN(test_what_fits_misses_once);
	RUN(test_opt_is_a_bound);
	RUN(test_opt_is_optimal);
	RUN(test_fermi_bits);
	RUN(test_fermi_of_other_caches);
	RUN(test_golden);
	RUN(test_fermi_strides);
	RUN(test_texture_sets);
	RUN(test_ipoly);
	RUN(test_cycles);
	RUN(test_sets_in_range);
	RUN(test_interleaves_are_bijections);
	RUN(test_interleaves_spread_strides);
	return check_report();
}
