/* SPDX-License-Identifier: MIT */
/* How far a tool is, for --verbose and SIGUSR1. */
#include "common/parts.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>


static volatile sig_atomic_t progress_asked;

static void ask_progress(int signal_number)
{
	(void)signal_number;
	progress_asked = 1;
}

void tool_hear_progress(void)
{
	struct sigaction action = {.sa_handler = ask_progress, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
}

/* One line on stderr: rows, rows a second, and how much of a file is done. */
static void show_progress(const struct tool *tool, uint64_t rows, uint64_t bytes, double seconds, char end)
{
	char bar[64] = "";

	if (tool->input_bytes > 0 && bytes <= tool->input_bytes) {
		int done = (int)(20.0 * (double)bytes / (double)tool->input_bytes);
		snprintf(bar, sizeof bar, " [%.*s%.*s]", done, "####################", 20 - done, "....................");
	}
	fprintf(stderr, "%s: %" PRIu64 " rows, %.2f M rows/s%s%c", tool->name, rows,
		seconds > 0 ? (double)rows / seconds / 1e6 : 0.0, bar, end);
}

void tool_progress(const struct tool *tool, uint64_t rows, uint64_t bytes, bool last)
{
	static double shown;

	if (!tool->verbose && !progress_asked)
		return;
	double time = tool_now();
	if (progress_asked || (tool->verbose && (last || time - shown > 0.5))) {
		bool stays = progress_asked || last || !isatty(STDERR_FILENO);
		show_progress(tool, rows, bytes, time - tool->started, stays ? '\n' : '\r');
		shown = time;
		progress_asked = 0;
	}
}
