/* SPDX-License-Identifier: MIT */
/* The first record of a stream: its version, and the filters that it has passed. */
#ifndef GT_STREAM_HEADER_H
#define GT_STREAM_HEADER_H

#include "stream/frames.h"

/* Reads it. The history is one line a filter, of words with tabs between, up to a NULL, which gt_history_free frees; NULL if
 * the header has none. Returns 0, or -1: the history may have been begun then. */
int gt_header_read(struct gt_frames *frames, char ***history, struct gt_error *error);
void gt_history_free(char **history);

/* Packs one with that history (NULL: none), and this filter behind it. */
void gt_header_pack(msgpack_packer *packer, const char *const *history, const char *tool, const char *version, char *const argv[]);

#endif
