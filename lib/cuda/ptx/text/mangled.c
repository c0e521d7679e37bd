/* SPDX-License-Identifier: MIT */
/* Names of the source in those that C++ mangles. */
#include <stdio.h>
#include <string.h>

#include "cuda/ptx/text/module.h"

/* The <length><identifier> of the Itanium mangling; NULL if there is none. */
static const char *source_name(const char *at, size_t *length)
{
	size_t digits = strspn(at, "0123456789");
	size_t n = 0;

	if (digits == 0 || digits > 4)
		return NULL;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (size_t)(at[i] - '0');
	if (n == 0 || strlen(at + digits) < n)
		return NULL;
	*length = n;
	return at + digits;
}

/* A mangled name without what nvcc -rdc puts before those of internal linkage: "__nv_static_<length>_<unit>_". */
static const char *without_unit(const char *name)
{
	static const char prefix[] = "__nv_static_";
	size_t n;
	const char *unit = strncmp(name, prefix, strlen(prefix)) == 0 ? source_name(name + strlen(prefix), &n) : NULL;

	return unit && strlen(unit) > n + 2 && strncmp(unit + n + 2, "_Z", 2) == 0 ? unit + n + 2 : name;
}

/* The variable of a function's own, to the end of the name: "tile" of _ZZ9transposePfE4tile, "tile_0" if it is the second such; NULL if there is
 * none. The first place will do, since what follows an E inside the function's name does not reach to the end. */
static const char *own_variable(const char *at)
{
	size_t n;

	while ((at = strchr(at, 'E')) != NULL) {
		const char *name = source_name(++at, &n);
		if (name && (name[n] == '\0' || (name[n] == '_' && name[n + strspn(name + n, "_0123456789")] == '\0')))
			return name;
	}
	return NULL;
}

const char *gt_ptx_plain_name(const char *name, size_t *length)
{
	const char *at = without_unit(name), *found = NULL, *part;
	size_t n;

	*length = strlen(name);
	if (strncmp(at, "_ZZ", 3) == 0 && (found = own_variable(at)) != NULL)
		*length = strlen(found);
	if (found || strncmp(at, "_Z", 2) != 0)
		return found ? found : name;
	at += 2;
	bool nested = *at == 'N';
	at += nested;
	at += *at == 'L'; /* of internal linkage */
	while ((part = source_name(at, &n)) != NULL) {
		found = part;
		*length = n;
		at = part + n;
		if (!nested)
			break;
	}
	return found ? found : name;
}

bool gt_ptx_plain_same(const char *left, const char *right)
{
	size_t n, m;
	const char *a = gt_ptx_plain_name(left, &n), *b = gt_ptx_plain_name(right, &m);

	return n == m && memcmp(a, b, n) == 0;
}

const char *gt_ptx_variable_name(const char *name, unsigned same, char text[GT_PTX_VARIABLE_NAME])
{
	size_t length;
	const char *plain = gt_ptx_plain_name(name, &length);
	int shown = (int)(length < GT_PTX_VARIABLE_NAME - 16 ? length : GT_PTX_VARIABLE_NAME - 16);

	if (same > 0)
		snprintf(text, GT_PTX_VARIABLE_NAME, "%.*s #%u", shown, plain, same + 1);
	else
		snprintf(text, GT_PTX_VARIABLE_NAME, "%.*s", shown, plain);
	return text;
}
