/* SPDX-License-Identifier: MIT */
/* A pipe is a list of words in which a NULL ends each command, so that it can be shown and its commands started as they are. */
#include "compose/pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/grown.h"
#include "base/utf8.h"

/* Puts `word`, which may be NULL, behind the last. Takes it over, also on error. */
static int append(struct gt_pipe *pipe, char *word, struct gt_error *error)
{
	char **bigger = gt_grown(pipe->words, pipe->n, &pipe->capacity, sizeof *pipe->words);

	if (!bigger) {
		free(word);
		return gt_fail_memory(error, "a pipe");
	}
	pipe->words = bigger;
	pipe->words[pipe->n++] = word;
	return 0;
}

static int append_copy(struct gt_pipe *pipe, const char *word, size_t length, struct gt_error *error)
{
	char *copy = strndup(word, length);

	return copy ? append(pipe, copy, error) : gt_fail_memory(error, "a pipe");
}

int gt_pipe_command(struct gt_pipe *pipe, const char *words, struct gt_error *error)
{
	for (size_t length; *words; words += length + (words[length] == ' ')) {
		length = strcspn(words, " ");
		if (append_copy(pipe, words, length, error) != 0)
			return -1;
	}
	pipe->commands++;
	return append(pipe, NULL, error);
}

int gt_pipe_word(struct gt_pipe *pipe, const char *word, struct gt_error *error)
{
	pipe->n--; /* the NULL that ends the command */
	if (append_copy(pipe, word, strlen(word), error) != 0) {
		pipe->n++;
		return -1;
	}
	return append(pipe, NULL, error);
}

int gt_pipe_option(struct gt_pipe *pipe, const char *option, const char *argument, struct gt_error *error)
{
	if (!argument)
		return 0;
	return gt_pipe_word(pipe, option, error) != 0 ? -1 : gt_pipe_word(pipe, argument, error);
}

void gt_pipe_clear(struct gt_pipe *pipe)
{
	for (size_t i = 0; i < pipe->n; i++)
		free(pipe->words[i]);
	free(pipe->words);
	*pipe = (struct gt_pipe){0};
}

/* Within $'': what a terminal may not show as it is becomes bytes in octal. */
static void write_escaped(const char *word, FILE *to)
{
	size_t taken, shown;

	fputs("$'", to);
	for (; *word; word += taken) {
		bool itself = gt_utf8_shown(word);
		gt_utf8_next(word, &taken, &shown);
		if (*word == '\'' || *word == '\\')
			putc('\\', to);
		for (size_t i = 0; i < taken; i++)
			fprintf(to, itself ? "%c" : "\\%03o", (unsigned char)word[i]);
	}
	putc('\'', to);
}

static bool is_shown(const char *word)
{
	size_t taken, shown;

	for (; *word && gt_utf8_shown(word); word += taken)
		gt_utf8_next(word, &taken, &shown);
	return *word == '\0';
}

static void write_word(const char *word, FILE *to)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, to);
		return;
	}
	if (!is_shown(word)) {
		write_escaped(word, to);
		return;
	}
	putc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			putc(*word, to);
	putc('\'', to);
}

void gt_pipe_write(const struct gt_pipe *pipe, FILE *to)
{
	const char *from = pipe->from;

	for (size_t i = 0; i < pipe->n; i++) {
		if (pipe->words[i]) {
			if (i > 0)
				putc(' ', to);
			write_word(pipe->words[i], to);
			continue;
		}
		if (from) {
			fputs(" <", to);
			write_word(from, to);
		}
		from = NULL;
		if (i + 1 < pipe->n)
			fputs(" |", to);
	}
	if (pipe->into)
		fprintf(to, " >%s", pipe->into);
}

char *gt_pipe_text(const struct gt_pipe *pipe, struct gt_error *error)
{
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	if (to)
		gt_pipe_write(pipe, to);
	if (!to || fclose(to) != 0) {
		free(text);
		text = NULL;
	}
	if (!text)
		gt_fail_memory(error, "a pipe");
	return text;
}

/* A pipe that no command inherits but as a standard stream. */
static int open_pipe(int ends[2], struct gt_error *error)
{
	if (pipe(ends) != 0)
		return gt_fail_errno(error, "no pipe");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return 0;
}

/* ---- signals that end this process: its commands end first ---- */

static const pid_t *volatile now; /* the processes of the pipe that runs */
static volatile sig_atomic_t n_now, now_apart;
static void (*volatile clean)(void);

static const struct {
	int number;
	const char *line;
} stops[] = {
#define ROW(NAME) {NAME, "gtrace: ended by " #NAME ": its pipe was stopped, and what that should have written is missing or not whole\n"}
	ROW(SIGHUP), ROW(SIGINT), ROW(SIGQUIT), ROW(SIGTERM)
#undef ROW
};

/* Sends a signal to the commands that are left; 0: whether any is. */
static bool send(int number)
{
	bool any = false;

	for (int i = 0; i < n_now; i++) {
		if (waitpid(now[i], NULL, WNOHANG) != 0)
			continue;
		any = true;
		if (number != 0)
			kill(now_apart ? -now[i] : now[i], number);
	}
	return any;
}

/* A signal of the terminal has reached the commands, too, unless they are apart. */
static void end_with_commands(int number, siginfo_t *about, void *context)
{
	(void)context;
	send(about->si_code > 0 && !now_apart ? 0 : number);
	for (int tenths = 0; tenths < 50 && send(0); tenths++)
		poll(NULL, 0, 10);
	send(SIGKILL);
	if (clean)
		clean();
	for (size_t i = 0; n_now > 0 && i < sizeof stops / sizeof *stops; i++)
		if (stops[i].number == number && write(STDERR_FILENO, stops[i].line, strlen(stops[i].line)) < 0)
			break;
	signal(number, SIG_DFL);
	raise(number);
}

/* What is ignored, as by nohup, stays so. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_sigaction = end_with_commands, .sa_flags = SA_SIGINFO | SA_RESTART}, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		sigaddset(&action.sa_mask, stops[i].number);
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		if (sigaction(stops[i].number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(stops[i].number, &action, NULL);
}

void gt_pipe_clean_at_signal(void (*function)(void))
{
	clean = function;
	catch_signals();
}

/* ---- running ---- */

/* Starts the commands; gt_pipe_wait follows in any case. */
static int start(const struct gt_pipe *pipe, int input, int output, struct gt_pipe_running *running, struct gt_error *error)
{
	char **argv = pipe->words;
	int from = input, result = 0;

	*running = (struct gt_pipe_running){.processes = calloc(pipe->commands + 1, sizeof *running->processes)};
	if (!running->processes)
		return gt_fail_memory(error, "a pipe");
	now = running->processes;
	now_apart = pipe->apart;
	catch_signals();
	for (size_t i = 0; i < pipe->commands && result == 0; i++) {
		int ends[2] = {-1, output};
		if (i + 1 < pipe->commands && open_pipe(ends, error) != 0)
			break;
		result = gt_child_start_tied(argv, (const int[GT_CHILD_STREAMS]){from, ends[1], STDERR_FILENO}, pipe->apart, &running->processes[i]);
		if (result != 0)
			gt_fail(error, "%s cannot be run: %s", argv[0], gt_child_reason(argv[0], result));
		else
			n_now = (sig_atomic_t)++running->n;
		running->last = argv[0];
		if (from != input)
			close(from);
		if (ends[1] != output)
			close(ends[1]);
		from = ends[0];
		while (*argv++)
			;
	}
	if (from != input && from >= 0)
		close(from);
	return running->n == pipe->commands ? 0 : -1;
}

static int status_of(const struct gt_pipe_running *running, size_t i, struct gt_error *killed)
{
	int status = gt_child_wait(running->processes[i]);

	if (status < 0)
		return 1;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE && i + 1 == running->n)
		gt_fail(killed, "%s was ended by a signal (%s): its output is not whole", running->last, strsignal(WTERMSIG(status)));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int gt_pipe_start(const struct gt_pipe *pipe, int input, int *from, struct gt_pipe_running *running, struct gt_error *error)
{
	int ends[2];

	*running = (struct gt_pipe_running){0};
	*from = -1;
	if (open_pipe(ends, error) != 0)
		return -1;
	*from = ends[0];
	int result = start(pipe, input, ends[1], running, error);
	close(ends[1]);
	return result;
}

int gt_pipe_wait(struct gt_pipe_running *running, struct gt_error *killed)
{
	int status = 0;

	killed->text[0] = '\0';
	for (size_t i = 0; i < running->n; i++) {
		int one = status_of(running, i, killed);
		if (status == 0 || (status == GT_PIPE_CLOSED && one != 0))
			status = one;
	}
	n_now = 0;
	now = NULL;
	free(running->processes);
	*running = (struct gt_pipe_running){0};
	return status;
}

int gt_pipe_run(const struct gt_pipe *pipe, int input, int output, int *status, struct gt_error *error)
{
	struct gt_pipe_running running;
	struct gt_error killed;
	int result = start(pipe, input, output, &running, error);

	*status = gt_pipe_wait(&running, &killed);
	if (result != 0)
		*status = 0; /* what was started found no reader, which is no reason */
	else
		*error = killed;
	return result;
}
