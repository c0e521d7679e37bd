/* SPDX-License-Identifier: MIT */
#include "stream/schema.h"

#include <inttypes.h>

#include "stream/op.h"
#include "stream/rows.h"
#include "stream/status.h"

/* "u4" for an unsigned element of 4 bytes, "i8" for a signed one of 8. */
static void write_columns(enum gt_rows_kind kind, FILE *to)
{
	for (size_t i = 0, n = 0; i < gt_columns_n; i++) {
		const struct gt_column *column = &gt_columns[i];
		if (kind == GT_ACCESSES ? column->in_access : column->in_request)
			fprintf(to, "%s\"%s\": \"%c%u\"", n++ > 0 ? ", " : "", column->name, column->is_signed ? 'i' : 'u', column->width);
	}
	/* Of lanes, not of rows. */
	if (kind == GT_ACCESSES)
		fputs(", \"lanes\": \"u8\"", to);
}

static void write_ops(FILE *to)
{
	char name[GT_OP_TEXT];

	for (unsigned op = 0, n = 0; op <= UINT8_MAX; op++)
		if (gt_op_valid((uint8_t)op))
			fprintf(to, "%s\"%u\": \"%s\"", n++ > 0 ? ", " : "", op, gt_op_format((uint8_t)op, name));
}

static void write_statuses(FILE *to)
{
	for (unsigned status = 0; status < GT_STATUSES; status++)
		fprintf(to, "%s\"%s\"", status > 0 ? ", " : "", gt_status_names[status]);
}

void gt_schema_write(FILE *to)
{
	fputs("{\n \"columns\": {\n  \"access\": {", to);
	write_columns(GT_ACCESSES, to);
	fputs("},\n  \"request\": {", to);
	write_columns(GT_REQUESTS, to);
	fprintf(to, "}\n },\n \"stride_lanes\": %" PRIi64 ",\n \"ops\": {", GT_STRIDE_LANES);
	write_ops(to);
	fputs("},\n \"statuses\": [", to);
	write_statuses(to);
	fputs("]\n}\n", to);
}
