/* SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "base/options.h"
#include "base/pages.h"
#include "check.h"

static uint64_t size_of(const char *text)
{
	struct gt_error error;
	uint64_t value;

	return gt_parse_size(text, 0, UINT64_MAX, &value, &error) == 0 ? value : 123456789;
}

static void sizes_are_read(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"0", 0}, {"96", 96}, {"128K", 131072}, {"4.5M", 4718592}, {"1.5k", 1536},
		    {"0.25K", 256}, {"24G", UINT64_C(24) << 30}, {"2T", UINT64_C(2) << 40}, {"1.75M", 1835008}};
	static const char *const bad[] = {"", "K", "-1", "+1", "1.3", "0.3K", "1KB", "16777216T",
					  "99999999999999999999", " 1", "1 ", "0x10K", "nan"};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		CHECK_EQUAL(size_of(good[i].text), good[i].bytes);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_EQUAL(size_of(bad[i]), 123456789);
}

static void sizes_are_written_as_they_are_read(void)
{
	char text[32];

	for (uint64_t size = 1; size < UINT64_C(1) << 50; size = size * 3 / 2 + 1)
		CHECK_EQUAL(size_of(gt_format_size(size, text)), size);
	CHECK_TEXT(gt_format_size(32768, text), "32K");
	CHECK_TEXT(gt_format_size(4718592, text), "4.5M");
	CHECK_TEXT(gt_format_size(96, text), "96");
	CHECK_TEXT(gt_format_size(1000, text), "1000");
}

static void counts_are_read(void)
{
	struct gt_error error;
	uint64_t value;

	CHECK(gt_parse_count("18446744073709551615", 0, UINT64_MAX, &value, &error) == 0 && value == UINT64_MAX);
	CHECK(gt_parse_count("0x10", 0, 100, &value, &error) == 0 && value == 16);
	CHECK(gt_parse_count("18446744073709551616", 0, UINT64_MAX, &value, &error) != 0);
	CHECK(gt_parse_count("7", 8, 9, &value, &error) != 0);
	CHECK(gt_parse_count("-7", 0, UINT64_MAX, &value, &error) != 0);
	CHECK(gt_parse_count("7x", 0, 9, &value, &error) != 0);
	CHECK(gt_parse_count("", 0, 9, &value, &error) != 0);
}

/* Memory of an arena begins on a line of the machine's cache, overlaps no other, keeps what it holds when it grows, and is zero if asked for so,
 * even where an arena before has written. */
static void an_arena_gives_memory_once(void)
{
	struct gt_arena arena = {0};
	uint32_t *grown = NULL;
	size_t capacity = 0;
	char *before = NULL;

	for (size_t i = 0; i < 3000; i++) {
		size_t bytes = i % 1000 == 999 ? (size_t)9 << 20 : i * 7 % 5000;
		char *taken = i % 2 ? gt_arena_take(&arena, bytes) : gt_arena_zeroed(&arena, bytes);
		CHECK(taken && (uintptr_t)taken % 64 == 0);
		for (size_t k = 0; i % 2 == 0 && k < bytes; k += 61)
			CHECK_EQUAL(taken[k], 0);
		memset(taken, 0xff, bytes);
		if (before)
			CHECK_EQUAL(*before, -1);
		before = bytes ? taken : before;
		grown = gt_arena_grown(&arena, grown, i + 1, &capacity, sizeof *grown);
		CHECK(grown && capacity > i);
		grown[i] = (uint32_t)i;
	}
	for (size_t i = 0; i < 3000; i++)
		CHECK_EQUAL(grown[i], i);
	CHECK(!gt_arena_take(&arena, SIZE_MAX));
	gt_arena_close(&arena);
	CHECK(!arena.chunks);
}

static void an_arena_gives_memory(void)
{
	an_arena_gives_memory_once();
	an_arena_gives_memory_once();
}

/* Arrays of a room begin on a line of the machine's cache, and keep what they hold until they are given back, small and large ones. */
static void a_room_has_arrays(void)
{
	enum { ARRAYS = 64 };
	struct gt_room room = {.lists = {.bytes = 0}};
	uint64_t *array[ARRAYS] = {NULL};
	size_t n[ARRAYS] = {0}, taken = 0;

	for (size_t i = 0; i < 4000; i++) {
		const size_t k = i * 29 % ARRAYS;
		for (size_t j = 0; j < n[k]; j += 127)
			CHECK_EQUAL(array[k][j], k + j);
		gt_room_give(&room, array[k], n[k] * sizeof **array);
		n[k] = i % 500 == 499 ? ((size_t)5 << 20) / sizeof **array : 1 + i * 7 % 3000;
		array[k] = gt_room_take(&room, n[k] * sizeof **array);
		CHECK(array[k] && (uintptr_t)array[k] % 64 == 0);
		taken += i % 500 == 499 ? 0 : n[k] * sizeof **array;
		for (size_t j = 0; j < n[k]; j++)
			array[k][j] = k + j;
	}
	CHECK(room.lists.bytes < taken / 8); /* what is given back is taken again */
	CHECK(!gt_room_take(&room, SIZE_MAX));
	for (size_t k = 0; k < ARRAYS; k++)
		gt_room_give(&room, array[k], n[k] * sizeof **array);
	gt_room_close(&room);
	CHECK(!room.arena.chunks);
}

static void lists_are_read(void)
{
	struct gt_error error;
	unsigned char chosen[8] = {0};
	static const char *const bad[] = {"", ",", "8", "5-3", "1,,2", "1-", "a", "1,9-10", "99999999999999999999"};

	CHECK(gt_parse_list("0,3-5,7", chosen, 8, &error) == 0);
	CHECK(memcmp(chosen, "\1\0\0\1\1\1\0\1", 8) == 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK(gt_parse_list(bad[i], chosen, 8, &error) != 0);
}

static void a_map_keeps_what_it_is_given(void)
{
	struct gt_error error;
	struct gt_map map;
	int fresh;

	CHECK(gt_map_open(&map, 0, &error) == 0);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t *value = gt_map_put(&map, i * i * 128, i, &fresh);
		CHECK(value && fresh && *value == i);
	}
	CHECK_EQUAL(map.used, 100000);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t *value = gt_map_get(&map, i * i * 128);
		CHECK(value && *value == i);
	}
	CHECK(gt_map_get(&map, 3) == NULL);
	CHECK(gt_map_put(&map, 128, 5, &fresh) && !fresh);
	gt_map_clear(&map);
	CHECK(gt_map_get(&map, 128) == NULL);
	gt_map_close(&map);
}

static void errors_are_one_printable_line(void)
{
	struct gt_error error;

	CHECK_EQUAL(gt_fail(&error, "a\nb\tc\x7f" "d"), -1);
	CHECK_TEXT(error.text, "a?b?c?d");
}

static void edit_distances(void)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} rows[] = {
		{"", "", 0}, {"size", "size", 0}, {"", "abc", 3}, {"seize", "size", 1}, {"szie", "size", 1}, {"sise", "size", 1},
		{"siz", "size", 1}, {"jsno", "json", 1}, {"kitten", "sitting", 3}, {"abcd", "badc", 2}, {"ca", "abc", 3},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CHECK_EQUAL(gt_edit_distance(rows[i].a, rows[i].b), rows[i].distance);
		CHECK_EQUAL(gt_edit_distance(rows[i].b, rows[i].a), rows[i].distance);
	}
}

int main(void)
{
	RUN(sizes_are_read);
	RUN(sizes_are_written_as_they_are_read);
	RUN(counts_are_read);
	RUN(an_arena_gives_memory);
	RUN(a_room_has_arrays);
	RUN(lists_are_read);
	RUN(a_map_keeps_what_it_is_given);
	RUN(errors_are_one_printable_line);
	RUN(edit_distances);
	return check_report();
}
