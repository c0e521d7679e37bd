/* SPDX-License-Identifier: MIT */
/* Sweep files. Their reader is a script of awk and the shell, which coverage does not guide: each input is planned, and gives a plan,
 * or one line and no plan. Nothing that a sweep file says is run by planning it. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../shared/target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREPARE "cd \"$FUZZ_PLAN\" && mkdir here && echo 1 >here/t1 && echo 2 >here/t2"
#define PLAN                                                                                                             \
	"cd \"$FUZZ_PLAN/here\" && rm -rf ../results && timeout 20 \"$FUZZ_ROOT/pipelines/sweep/plan\" ../results ../results/plan " \
	"../file >../out 2>../said </dev/null"

static char folder[] = "/tmp/gtrace-fuzz-XXXXXX";

static void remove_folder(void)
{
	if (system("rm -rf \"$FUZZ_PLAN\"") != 0)
		perror(folder);
}

static void prepare(void)
{
	char root[4096];

	if (!mkdtemp(folder) || !getcwd(root, sizeof root) || setenv("FUZZ_ROOT", root, 1) != 0 ||
	    setenv("FUZZ_PLAN", folder, 1) != 0 || atexit(remove_folder) != 0 || system(PREPARE) != 0) {
		perror(folder);
		abort();
	}
}

/* A file in the folder, opened. */
static FILE *open_in_folder(const char *name, const char *mode)
{
	char path[sizeof folder + 64];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return fopen(path, mode);
}

static size_t read_in_folder(const char *name, char *text, size_t size)
{
	FILE *file = open_in_folder(name, "r");
	size_t bytes = file ? fread(text, 1, size, file) : 0;

	if (file)
		fclose(file);
	return bytes;
}

/* Digests are taken of all files in a folder that is named: those elsewhere on the disk are many. */
static bool leaves_folder(const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if ((data[i] == '/' && (i == 0 || !memchr("abcdefghijklmnopqrstuvwxyz0123456789", data[i - 1], 36))) ||
		    (data[i] == '.' && i > 0 && data[i - 1] == '.'))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static bool prepared;
	char text[4096], points[1];

	if (leaves_folder(data, bytes))
		return 0;
	if (!prepared)
		prepare();
	prepared = true;
	FILE *file = open_in_folder("file", "w");
	if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
		abort();
	int status = system(PLAN);
	size_t said = read_in_folder("said", text, sizeof text);
	bool one_line = said > 7 && memcmp(text, "sweep: ", 7) == 0 && memchr(text, '\n', said) == text + said - 1;
	bool refused = WIFEXITED(status) && WEXITSTATUS(status) == 2 && one_line;
	bool planned = WIFEXITED(status) && WEXITSTATUS(status) == 0 && said == 0 &&
		       read_in_folder("results/plan/points", points, 1) == 1;
	if (!refused && !planned) {
		fprintf(stderr, "status %d: %.*s\n", status, (int)said, text);
		abort();
	}
	return 0;
}
