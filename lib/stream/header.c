/* SPDX-License-Identifier: MIT */
#include "stream/header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "stream/columns.h"
#include "stream/objects.h"
#include "stream/pack.h"
#include "stream/records.h"
#include "stream/stream.h"

/* ---- reading ---- */

/* Tool, version and arguments of one history entry, with tabs between; tabs and newlines inside a
 * word become spaces. NULL when memory is short. */
static char *history_line(const msgpack_object *entry)
{
	static const char *const keys[] = {"tool", "version", "argv"};
	struct gt_bytes line = {0};

	for (int k = 0; k < 3; k++) {
		const msgpack_object *value = gt_object_get(entry, keys[k]);
		bool many = value && value->type == MSGPACK_OBJECT_ARRAY;
		uint32_t n = !value ? 0 : many ? value->via.array.size : 1;
		const msgpack_object *words = many ? value->via.array.ptr : value;
		for (uint32_t i = 0; i < n; i++) {
			if (words[i].type != MSGPACK_OBJECT_STR)
				continue;
			if (line.n > 0)
				gt_bytes_write(&line, "\t", 1);
			for (uint32_t c = 0; c < words[i].via.str.size; c++) {
				char byte = words[i].via.str.ptr[c];
				gt_bytes_write(&line, strchr("\t\n", byte) ? " " : &byte, 1);
			}
		}
	}
	gt_bytes_write(&line, "", 1);
	if (line.failed) {
		free(line.data);
		return NULL;
	}
	return (char *)line.data;
}

static int keep_history(struct gt_frames *frames, const msgpack_object *history, char ***lines, struct gt_error *error)
{
	char **kept = calloc((size_t)history->via.array.size + 1, sizeof *kept);

	*lines = kept;
	if (!kept)
		return gt_fail_memory(error, "a stream's history");
	for (uint32_t i = 0; i < history->via.array.size; i++) {
		const msgpack_object *entry = &history->via.array.ptr[i];
		if (entry->type != MSGPACK_OBJECT_MAP)
			return gt_frames_fail(frames, error, "header: expected maps in 'history'");
		kept[i] = history_line(entry);
		if (!kept[i])
			return gt_fail_memory(error, "a stream's history");
	}
	return 0;
}

int gt_header_read(struct gt_frames *frames, char ***lines, struct gt_error *error)
{
	int result = gt_frames_next(frames, error);

	if (result < 0)
		return -1;
	if (result == 0)
		return gt_fail(error, "%s: empty: expected a gtrace stream", frames->name);
	const msgpack_object_array *header = gt_frames_arguments(frames);
	const char *tool = gt_compression_tool(frames->buffer + frames->record, frames->end - frames->record);
	if (tool)
		return gt_fail(error, "%s: compressed: '%s -dc' makes the stream of it", frames->name, tool);
	if (!header || !gt_object_is(&header->ptr[0], "gtrace"))
		return gt_fail(error, "%s: not a gtrace stream (gtrace-order makes one of a trace)", frames->name);
	if (header->size != 3 || header->ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    header->ptr[2].type != MSGPACK_OBJECT_MAP)
		return gt_frames_fail(frames, error, "header: expected a version and a map");
	if (header->ptr[1].via.u64 != GT_STREAM_VERSION)
		return gt_fail(error, "%s: stream version %" PRIu64 ": this program reads version %d", frames->name,
			       header->ptr[1].via.u64, GT_STREAM_VERSION);
	const msgpack_object *history = gt_object_get(&header->ptr[2], "history");
	if (history && history->type != MSGPACK_OBJECT_ARRAY)
		return gt_frames_fail(frames, error, "header: expected an array as 'history'");
	return history ? keep_history(frames, history, lines, error) : 0;
}

void gt_history_free(char **history)
{
	for (char **line = history; line && *line; line++)
		free(*line);
	free(history);
}

/* ---- writing ---- */

/* The next word of a line of words with tabs between, and where the following one begins. */
static const char *pack_word(msgpack_packer *packer, const char *line)
{
	size_t n = strcspn(line, "\t");

	msgpack_pack_str_with_body(packer, line, n);
	return line[n] ? line + n + 1 : line + n;
}

static void pack_history_entry(msgpack_packer *packer, const char *line)
{
	size_t words = *line ? 1 : 0;

	for (const char *at = line; *at; at++)
		words += *at == '\t';
	msgpack_pack_map(packer, 3);
	gt_pack_text(packer, "tool");
	line = pack_word(packer, line);
	gt_pack_text(packer, "version");
	line = pack_word(packer, line);
	gt_pack_text(packer, "argv");
	msgpack_pack_array(packer, words > 2 ? words - 2 : 0);
	for (size_t i = 2; i < words; i++)
		line = pack_word(packer, line);
}

void gt_header_pack(msgpack_packer *packer, const char *const *history, const char *tool, const char *version, char *const argv[])
{
	size_t entries = 0, words = 0;

	while (history && history[entries])
		entries++;
	while (argv[words])
		words++;
	gt_pack_begin(packer, "gtrace", 3);
	msgpack_pack_int(packer, GT_STREAM_VERSION);
	msgpack_pack_map(packer, 1);
	gt_pack_text(packer, "history");
	msgpack_pack_array(packer, entries + 1);
	for (size_t i = 0; i < entries; i++)
		pack_history_entry(packer, history[i]);
	msgpack_pack_map(packer, 3);
	gt_pack_text(packer, "tool");
	gt_pack_text(packer, tool);
	gt_pack_text(packer, "version");
	gt_pack_text(packer, version);
	gt_pack_text(packer, "argv");
	msgpack_pack_array(packer, words);
	for (size_t i = 0; i < words; i++)
		gt_pack_text(packer, argv[i]);
}

