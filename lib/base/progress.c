/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

#define FIRST 1.0 /* seconds until the line is shown: what is short needs none */
#define AGAIN 0.25
#define RETURNS 0.01 /* so often at most, since it costs a system call */
#define LEFT_FROM 1.0 /* seconds from which the time left is known well enough */
#define LONG_KNOWN 5.0 /* seconds of a launch from which its rate tells how long it takes */
#define LONG 300.0 /* seconds, of which a user is warned */
#define COLUMNS 80
#define NAME_LEAST 8 /* columns of a kernel's name, or it is left out */
#define ERASE "\r\033[K"

double gt_progress_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool can_erase(FILE *to)
{
	const char *terminal = getenv("TERM");

	return terminal && *terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(to));
}

void gt_progress_begin(struct gt_progress *progress, const char *who, FILE *to, bool wanted)
{
	*progress = (struct gt_progress){.who = who, .begun = gt_progress_now()};
	progress->looked = progress->begun + FIRST - AGAIN;
	if (wanted && can_erase(to))
		progress->to = to;
}

bool gt_progress_due(struct gt_progress *progress)
{
	if (!progress->to)
		return false;
	double now = gt_progress_now();
	if (now - progress->looked < AGAIN)
		return false;
	progress->looked = now;
	return true;
}

bool gt_progress_returns(const struct gt_progress *progress)
{
	return progress->shown > 0 && gt_progress_now() - progress->shown >= RETURNS;
}

/* The columns that a line may have, one less than the terminal has: then the cursor stays in the line. */
static size_t width_of(FILE *to)
{
	struct winsize size;

	if (ioctl(fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col > COLUMNS)
		return COLUMNS - 1;
	return size.ws_col - 1U;
}

/* "43 %, " */
static int write_share(char *text, size_t bytes, const struct gt_progress_state *state)
{
	if (state->all == 0 || state->done > state->all)
		return 0;
	return snprintf(text, bytes, "%.0f %%, ", 100 * (double)state->done / (double)state->all);
}

/* "1:05 left, ", or with hours. */
static int write_left(char *text, size_t bytes, const struct gt_progress_state *state, double now)
{
	if (state->all == 0 || state->done == 0 || state->done > state->all || now - state->since < LEFT_FROM)
		return 0;
	double left = (now - state->since) * (double)(state->all - state->done) / (double)state->done;
	if (left > 359999)
		return 0;
	unsigned seconds = (unsigned)(left + 0.5), minutes = seconds / 60;
	if (minutes >= 60)
		return snprintf(text, bytes, "%u:%02u:%02u left, ", minutes / 60, minutes % 60, seconds % 60);
	return snprintf(text, bytes, "%u:%02u left, ", minutes, seconds % 60);
}

/* "412 k" or "12.3 M" */
static const char *write_short(char text[16], double number)
{
	if (number < 1e6)
		snprintf(text, 16, "%.0f k", number / 1e3);
	else
		snprintf(text, 16, "%.1f M", number / 1e6);
	return text;
}

static void write_numbers(char text[COLUMNS], const struct gt_progress_state *state, double now, double seconds)
{
	int length = write_share(text, COLUMNS, state);
	char rows[16], rate[16];

	if (state->rows > 0)
		length += snprintf(text + length, COLUMNS - (size_t)length, "%s rows, %s rows/s, ", write_short(rows, (double)state->rows),
				   write_short(rate, seconds > 0 ? (double)state->rows / seconds : 0));
	length += write_left(text + length, COLUMNS - (size_t)length, state, now);
	if (length >= 2)
		text[length - 2] = '\0'; /* the last comma */
}

void gt_progress_show(struct gt_progress *progress, const struct gt_progress_state *state)
{
	const double now = gt_progress_now();
	const size_t width = width_of(progress->to);
	char numbers[COLUMNS] = "", launch[32] = "", line[2 * COLUMNS], name[4 * COLUMNS + 1] = "";
	bool named = state->kernel && *state->kernel;

	write_numbers(numbers, state, now, now - progress->begun);
	if (named)
		snprintf(launch, sizeof launch, ", launch %" PRIu64 "%s", state->launch, *numbers ? ": " : "");
	size_t used = (size_t)snprintf(line, sizeof line, "%s: %s%s", progress->who, launch, numbers);
	if (named && used + NAME_LEAST <= width)
		gt_utf8_tidy(state->kernel, width - used, name);
	else if (used - strlen(launch) > width)
		numbers[0] = '\0';
	fprintf(progress->to, ERASE "%s: %s%s%s", progress->who, name, *name ? launch : "", numbers);
	fflush(progress->to);
	progress->visible = true;
	progress->shown = now;
}

/* "12 minutes", "3 hours" or "5 days" */
static void write_long(char text[32], double seconds)
{
	if (seconds < 2 * 3600)
		snprintf(text, 32, "%.0f minutes", seconds / 60);
	else if (seconds < 2 * 86400)
		snprintf(text, 32, "%.0f hours", seconds / 3600);
	else
		snprintf(text, 32, "%.0f days", seconds / 86400);
}

/* Blocks that wait for each other end together, so the rate is known only when as much time has passed again as until the first ended. */
bool gt_progress_is_long(struct gt_progress_forecast *forecast, const struct gt_progress_state *state, char text[GT_PROGRESS_FORECAST])
{
	char about[32];

	if (state->done < forecast->next || state->done >= state->all)
		return false;
	const double now = gt_progress_now(), seconds = now - state->since;
	if (forecast->next == 0)
		forecast->first = now;
	forecast->next = state->done + state->done / 16 + 1; /* so that blocks of a microsecond do not pay for a clock */
	if (seconds < LONG_KNOWN || seconds < 2 * (forecast->first - state->since))
		return false;
	const double all = seconds * (double)state->all / (double)state->done;
	if (all <= LONG)
		return false;
	forecast->next = UINT64_MAX;
	write_long(about, all);
	snprintf(text, GT_PROGRESS_FORECAST, "%" PRIu64 " blocks: at the rate of the first %" PRIu64 ", about %s", state->all, state->done, about);
	return true;
}

void gt_progress_erase(struct gt_progress *progress)
{
	if (!progress->visible)
		return;
	fputs(ERASE, progress->to);
	fflush(progress->to);
	progress->visible = false;
}

const char *gt_progress_eraser(FILE *to)
{
	return can_erase(to) ? ERASE : "";
}
