/* SPDX-License-Identifier: MIT */
/* The text of gtrace-cat, or msgpack rows, made into a stream. */
#include <fcntl.h>
#include <unistd.h>

#include "../shared/target.h"
#include "stream/views.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct gt_error error = {.text = ""}, second;
	struct gt_input *input = target_input(data, bytes);
	char *arguments[] = {NULL};
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), result;

	if (input && bytes > 0 && (data[0] & 0xf0) == 0x90)
		result = gt_plain_to_stream(input, nowhere, "fuzz", "0", arguments, &error);
	else
		result = input ? gt_tsv_to_stream(input, nowhere, "fuzz", "0", arguments, &error) : 0;
	target_check(result, &error);
	if (input)
		gt_input_close(input, &second);
	close(nowhere);
	return 0;
}
