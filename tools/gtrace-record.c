/* SPDX-License-Identifier: MIT */
/* For realpath, which is in the XSI part of POSIX. */
#define _XOPEN_SOURCE 700
/* gtrace-record: runs a CUDA program with a CUDA runtime of ours, and traces its kernels. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/options.h"
#include "ptx/record/record.h"
#include "tool.h"

#define PATH_BYTES 4096
#define DEFAULT_GPU "a100"
#define STREAM_DESCRIPTOR 100 /* or above: out of the way of what programs open */
#define CANNOT_RUN 127

static const char usage[] =
	"usage: gtrace-record [-v] [--kernel RE] [--launches LIST] [--blocks N] [--skip-untraced]\n"
	"                     [--replay] [--space LIST] [--gpu NAME|FILE] [--memory SIZE] [--max-instructions N]\n"
	"                     [--ignore-unsupported] [--check no|fault|list] [--ptx DIR] [--ptxas] [--stdout FILE]\n"
	"                     PROGRAM [ARGUMENT...]\n"
	"\n"
	"      --kernel RE         trace the launches of kernels whose names RE matches\n"
	"      --launches LIST     trace these launches: 1 is the program's first; such as 2,5-7\n"
	"      --blocks N          trace the first N blocks of each launch\n"
	"      --skip-untraced     do not execute what is not traced (results will be wrong)\n"
	"      --replay            run each traced launch twice and write back what it changed in between, as\n"
	"                          profilers do: the first is \"NAME pass 1\"\n"
	"      --space LIST        trace accesses to these: global, local, shared, texture, constant\n"
	"                          (global,local)\n"
	"      --gpu NAME|FILE     the GPU that the program sees (" DEFAULT_GPU "); put into the stream if given\n"
	"      --memory SIZE       memory that it has (16G)\n"
	"      --max-instructions N  give up on a launch after N warp instructions\n"
	"      --ignore-unsupported  end the stream although work or data is missing that a GPU would have made\n"
	"      --check no|fault|list  stop at an access outside of every allocation (fault); list them and go on; or\n"
	"                          be silent about reads in the granule around an allocation\n"
	"      --ptx DIR           write the PTX text of each module that is run to DIR/1.ptx and so on\n"
	"      --ptxas             ask ptxas for the registers of kernels without machine code\n"
	"      --stdout FILE       where the program's standard output goes (standard error)\n"
	"  -v, --verbose           a line for each launch on stderr\n"
	"      --help, --version\n"
	"\n"
	"example: gtrace-record --gpu titanv ./program | gcoalesce | gschedule --gpu titanv | gcache --l1 | gstats\n";

static pid_t child;

static void pass_on(int signal_number)
{
	if (child > 0)
		kill(child, signal_number);
}

/* ---- options ---- */

static void set_count(struct tool *tool, const char *option, uint64_t *value)
{
	if (gt_parse_count(optarg, 1, UINT64_MAX, value, &tool->error) != 0)
		tool_usage_error(tool, option);
}

static void set_text(struct tool *tool, const char *option, char *to)
{
	if (strlen(optarg) >= GT_RECORD_TEXT || optarg[0] == '\0')
		tool_usage(tool, "%s: expected 1 to %d bytes", option, GT_RECORD_TEXT - 1);
	strcpy(to, optarg);
}

/* The runtime reads these again; here wrong ones are found before anything runs. */
static void set_tracing(struct tool *tool, const struct gt_record *record, const char *option, char *to)
{
	struct gt_ptx_tracing tracing;

	set_text(tool, option, to);
	if (gt_record_tracing(record, &tracing, &tool->error) != 0)
		tool_usage_error(tool, option);
	gt_ptx_tracing_clear(&tracing);
}

/* The program may change its working directory. */
static void set_folder(struct tool *tool, const char *option, char *to)
{
	char absolute[PATH_BYTES];

	if (!realpath(optarg, absolute) || access(absolute, W_OK | X_OK) != 0)
		tool_usage(tool, "%s: %s: %s", option, optarg, strerror(errno));
	optarg = absolute;
	set_text(tool, option, to);
}

/* The program may be anywhere by the time it looks: the description's path is made absolute. */
static void set_gpu(struct tool *tool, struct gt_record *record, const char *name)
{
	struct gt_gpu gpu;
	char path[PATH_BYTES], directory[PATH_BYTES - 256], absolute[PATH_BYTES];
	struct gt_error ignored;

	if (gt_gpu_load(&gpu, name, &tool->error) != 0)
		tool_usage_error(tool, "--gpu");
	gt_gpu_clear(&gpu);
	snprintf(path, sizeof path, "%s", name);
	if (access(path, R_OK) != 0 && gt_gpu_directory(directory, sizeof directory, &ignored) == 0)
		snprintf(path, sizeof path, "%s/%.250s", directory, name);
	if (!realpath(path, absolute) || strlen(absolute) >= sizeof record->gpu)
		tool_usage(tool, "--gpu: %s: %s", path, strerror(errno));
	strcpy(record->gpu, absolute);
}

static void parse_options(struct tool *tool, struct gt_record *record, const char **output)
{
	enum { KERNEL = 256, LAUNCHES, BLOCKS, SKIP, REPLAY, SPACE, GPU, MEMORY, INSTRUCTIONS, IGNORE, CHECK, PTX, PTXAS, STDOUT };
	static const struct option options[] = {
		{"kernel", required_argument, NULL, KERNEL},	   {"launches", required_argument, NULL, LAUNCHES},
		{"blocks", required_argument, NULL, BLOCKS},	   {"skip-untraced", no_argument, NULL, SKIP}, {"replay", no_argument, NULL, REPLAY},
		{"space", required_argument, NULL, SPACE},	   {"gpu", required_argument, NULL, GPU},
		{"memory", required_argument, NULL, MEMORY},	   {"max-instructions", required_argument, NULL, INSTRUCTIONS},
		{"ignore-unsupported", no_argument, NULL, IGNORE}, {"check", required_argument, NULL, CHECK}, {"ptx", required_argument, NULL, PTX}, {"ptxas", no_argument, NULL, PTXAS}, {"stdout", required_argument, NULL, STDOUT}, TOOL_OPTIONS,
	};
	const char *gpu = DEFAULT_GPU;
	int option;

	/* What follows the program's name is the program's: '+'. */
	while ((option = tool_option(tool, "+v", options)) != -1) {
		switch (option) {
		case KERNEL: set_tracing(tool, record, "--kernel", record->kernel); break;
		case LAUNCHES: set_tracing(tool, record, "--launches", record->launches); break;
		case BLOCKS: set_count(tool, "--blocks", &record->blocks); break;
		case SKIP: record->skip_untraced = true; break;
		case REPLAY: record->replay = true; break;
		case SPACE: set_tracing(tool, record, "--space", record->spaces); break;
		case GPU: gpu = optarg; record->gpu_chosen = true; break;
		case MEMORY:
			if (gt_parse_size(optarg, 1 << 20, UINT64_C(64) << 30, &record->memory, &tool->error) != 0)
				tool_usage_error(tool, "--memory");
			break;
		case INSTRUCTIONS: set_count(tool, "--max-instructions", &record->max_instructions); break;
		case IGNORE: record->ignore_unsupported = true; break;
		case CHECK: set_tracing(tool, record, "--check", record->check); break;
		case PTX: set_folder(tool, "--ptx", record->ptx); break;
		case PTXAS: record->ptxas = true; break;
		case STDOUT: *output = optarg; break;
		default: break;
		}
	}
	if (optind == tool->argc)
		tool_usage(tool, "expected a program to run");
	set_gpu(tool, record, gpu);
	record->verbose = tool->verbose;
	for (int i = 0; i + 1 < tool->argc && i < GT_RECORD_ARGUMENTS; i++)
		record->arguments[i] = tool->argv[i + 1];
}

/* ---- the program's surroundings ---- */

/* The stream leaves by a descriptor of its own; the program's standard output goes elsewhere. */
static void open_descriptors(struct tool *tool, struct gt_record *record, int *ours, const char *output)
{
	int ends[2];

	if (isatty(STDOUT_FILENO))
		tool_must(tool, gt_fail(&tool->error, "a stream is binary and is not written to a terminal (gtrace-cat shows it)"));
	record->stream = fcntl(STDOUT_FILENO, F_DUPFD, STREAM_DESCRIPTOR);
	int to = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666) : dup(STDERR_FILENO);
	if (to < 0 || dup2(to, STDOUT_FILENO) < 0)
		tool_must(tool, gt_fail_errno(&tool->error, "%s", output ? output : "standard error"));
	close(to);
	if (record->stream < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot make a descriptor"));
	record->token = fcntl(ends[1], F_DUPFD, STREAM_DESCRIPTOR);
	*ours = ends[0];
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(record->token, F_SETFL, O_NONBLOCK);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	close(ends[1]);
	if (record->token < 0 || write(ends[0], "t", 1) != 1)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot make a descriptor"));
}

/* ---- the program ---- */

static void run(struct tool *tool, char **program)
{
	struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART}, ignore = {.sa_handler = SIG_IGN};

	sigemptyset(&action.sa_mask);
	sigemptyset(&ignore.sa_mask);
	child = fork();
	if (child < 0)
		tool_must(tool, gt_fail_errno(&tool->error, "cannot start a process"));
	if (child == 0) {
		signal(SIGUSR1, SIG_DFL);
		execvp(program[0], program);
		tool_warn(tool, "%s: %s", program[0], strerror(errno));
		_exit(CANNOT_RUN);
	}
	/* A terminal sends these to the program too. */
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGQUIT, &ignore, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static int wait_for_status(void)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Says what is wrong with a stream although the program may be content. */
static int judge(struct tool *tool, const struct gt_record *record, int ours, const char *program, int status)
{
	char byte, reason[GT_RECORD_TEXT];

	if (status == CANNOT_RUN)
		return status;
	if (read(record->token, &byte, 1) == 1) {
		gt_record_explain(program, reason, sizeof reason);
		tool_warn(tool, "%s brought no device code to the CUDA runtime: %s", program, reason);
		return status ? status : 1;
	}
	if (status != 0)
		return status;
	if (read(ours, &byte, 1) != 1)
		tool_warn(tool, "%s ended without its exit handlers: the stream has no end", program);
	else if (byte == GT_RECORD_WHOLE)
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	struct tool tool;
	struct gt_record record;
	const char *output = NULL;
	int ours;

	tool_begin(&tool, "gtrace-record", usage, argc, argv);
	gt_record_defaults(&record);
	parse_options(&tool, &record, &output);
	open_descriptors(&tool, &record, &ours, output);
	tool_must(&tool, gt_record_export(&record, &tool.error));
	run(&tool, argv + optind);
	close(record.stream);
	return judge(&tool, &record, ours, argv[optind], wait_for_status());
}
