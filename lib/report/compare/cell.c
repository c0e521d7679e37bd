/* SPDX-License-Identifier: MIT */
#include "report/compare/cell.h"

#include <string.h>

int gt_reference_unit(const char *unit, const struct gt_metric *metric, double *scale, struct gt_error *error)
{
	static const char prefixes[] = "KMGT";
	const char *prefix = *unit ? strchr(prefixes, *unit) : NULL;
	size_t length = strlen(metric->unit);

	*scale = 1;
	for (const char *p = prefixes; prefix && p <= prefix; p++)
		*scale *= 1000;
	const char *plain = prefix ? unit + 1 : unit;
	if (*unit == '\0' || (strncmp(plain, metric->unit, length) == 0 && (!plain[length] || !strcmp(plain + length, "s"))))
		return 0;
	return gt_fail(error, "unit '%.60s' of %s: expected %s, possibly with K, M, G or T before it", unit, metric->name,
		       metric->unit);
}

int gt_reference_shape(const char *text, uint32_t shape[3], struct gt_error *error)
{
	static const char digits[] = "0123456789";
	const char *at = text;
	unsigned n = 0;

	shape[0] = shape[1] = shape[2] = 0;
	for (at += strcspn(at, digits); *at && n < 3; at += strcspn(at, digits), n++) {
		uint64_t value = 0;
		for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
			value = 10 * value + (uint64_t)(*at - '0');
		if (value == 0 || value > UINT32_MAX)
			break;
		shape[n] = (uint32_t)value;
	}
	for (unsigned i = n; n > 0 && i < 3; i++)
		shape[i] = 1;
	if (*at || text[strspn(text, "0123456789(), xX")] != '\0' || (n == 0 && *text))
		return gt_fail(error, "'%.60s': expected a shape such as (4, 16, 1)", text);
	return 0;
}
