/* SPDX-License-Identifier: MIT */
#include "report/markup.h"

#include <string.h>

#include "base/utf8.h"

void gt_markup_text(const char *text, FILE *to)
{
	char one[5], tidy[4 * 8 + 1];

	while (*text) {
		size_t length = gt_utf8_length((const unsigned char *)text);
		snprintf(one, sizeof one, "%.*s", (int)(length ? length : 1), text);
		text += length ? length : 1;
		switch (*one) {
		case '&': fputs("&amp;", to); break;
		case '<': fputs("&lt;", to); break;
		case '>': fputs("&gt;", to); break;
		case '"': fputs("&quot;", to); break;
		case '\'': fputs("&#39;", to); break;
		default: fputs(gt_utf8_tidy(one, 8, tidy), to);
		}
	}
}
