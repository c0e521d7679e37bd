/* SPDX-License-Identifier: MIT */
/* What rows are as plain msgpack, for who writes them and who reads them. Private to lib/stream. */
#ifndef GT_STREAM_PLAIN_FORM_H
#define GT_STREAM_PLAIN_FORM_H

#define PLAIN_VERSION 1

/* The elements that every access and every request has. */
enum { PLAIN_ACCESS_ELEMENTS = 8, PLAIN_REQUEST_ELEMENTS = 9 };

/* The optional elements of a row, in their order. */
enum { PLAIN_STEP, PLAIN_SM, PLAIN_STATUS, PLAIN_LATENCY, PLAIN_HINT, PLAIN_WORK, PLAIN_FURTHER };

#endif
