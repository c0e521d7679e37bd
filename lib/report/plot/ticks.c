/* SPDX-License-Identifier: MIT */
#include "report/plot/ticks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/options.h"

/* "0.25", "1500", "20k", "1.5M": no suffix below 10k. */
static void decimal(double value, double most, char label[GT_TICK_TEXT])
{
	static const struct {
		double unit;
		const char *letter;
	} units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (most >= (units[i].unit == 1e3 ? 1e4 : units[i].unit) && fabs(value) > 0 && most < 1e15) {
			snprintf(label, GT_TICK_TEXT, "%g%s", value / units[i].unit, units[i].letter);
			return;
		}
	snprintf(label, GT_TICK_TEXT, "%g", fabs(value) < most * 1e-9 ? 0.0 : value);
}

static void mark(const struct gt_axis *axis, struct gt_ticks *ticks, double at)
{
	if (ticks->n == GT_TICKS || at < ticks->least || at > ticks->most)
		return;
	char *label = ticks->label[ticks->n];
	if (axis->numbers == GT_SIZES && at >= 1 && at < 0x1p63 && at == floor(at))
		gt_format_size((uint64_t)at, label);
	else
		decimal(at, axis->scale == GT_LINEAR ? fmax(fabs(ticks->most), fabs(ticks->least)) : at, label);
	ticks->at[ticks->n++] = at;
}

/* The smallest step of 1, 2 or 5 times a power of ten, or a power of two, that needs few marks. */
static double linear_step(const struct gt_axis *axis, double span, unsigned wanted)
{
	if (axis->numbers == GT_SIZES && span >= wanted)
		return exp2(ceil(log2(span / wanted)));
	double power = pow(10, floor(log10(span / wanted)));
	double ratio = span / wanted / power;
	return power * (ratio > 5 ? 10 : ratio > 2 ? 5 : ratio > 1 ? 2 : 1);
}

static void linear(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks)
{
	if (axis->from_zero) {
		least = fmin(least, 0);
		most = fmax(most, 0);
	}
	most = fmax(most, axis->end != 0 ? axis->end : most);
	if (most - least <= 1e-12 * fmax(fabs(most), fabs(least))) { /* one value: add room on both sides */
		double room = most != 0 ? fabs(most) / 10 : 1;
		most += room;
		least -= least == 0 && axis->from_zero ? 0 : room;
	}
	double step = linear_step(axis, most - least, wanted), edge = axis->numbers == GT_SIZES ? step / 4 : step;
	ticks->least = axis->from_zero && least == 0 ? 0 : floor(least / edge + 1e-9) * edge;
	ticks->most = axis->end != 0 && most <= axis->end ? axis->end : ceil(most / edge - 1e-9) * edge;
	double first = ceil(ticks->least / step - 1e-9);
	for (int i = 0; i < GT_TICKS; i++)
		mark(axis, ticks, (first + i) * step);
}

static void logarithmic(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks)
{
	double base = axis->scale == GT_LOG2 ? 2 : 10;

	if (axis->scale == GT_LOG2) {
		ticks->least = least == most ? least / 2 : least / 1.05;
		ticks->most = least == most ? most * 2 : most * 1.05;
	} else {
		ticks->least = pow(10, floor(log10(least) + 1e-9));
		ticks->most = pow(10, ceil(log10(most) - 1e-9));
		if (ticks->most <= ticks->least)
			ticks->most = ticks->least * 10;
	}
	double first = ceil(log(ticks->least) / log(base) - 1e-9), last = floor(log(ticks->most) / log(base) + 1e-9);
	double step = fmax(ceil((last - first + 1) / wanted), 1);
	for (double power = first; power <= last; power += step)
		mark(axis, ticks, pow(base, power));
	if (axis->zero > 0 && ticks->n < GT_TICKS) { /* the mark of 0, in the place of the number that would be there */
		size_t i = 0;
		while (i < ticks->n && ticks->at[i] != axis->zero)
			i++;
		ticks->n += i == ticks->n;
		ticks->at[i] = axis->zero;
		strcpy(ticks->label[i], "0");
	}
	if (ticks->n < 2) { /* within one power: label the ends */
		ticks->n = 0;
		ticks->least = least;
		ticks->most = least == most ? most * base : most;
		mark(axis, ticks, ticks->least);
		mark(axis, ticks, ticks->most);
	}
}

void gt_ticks_place(const struct gt_axis *axis, double least, double most, unsigned wanted, struct gt_ticks *ticks)
{
	ticks->n = 0;
	if (axis->scale == GT_LINEAR)
		linear(axis, least, most, wanted, ticks);
	else
		logarithmic(axis, least, most, wanted, ticks);
}
