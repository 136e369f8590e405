// SPDX-License-Identifier: BSD-3-Clause
// Appends the steps of a script.
#include "tests/fuzz/critd/script.h"

#include <stdlib.h>
#include <string.h>

void script_add(struct script *script, struct hostile_step step, const void *bytes)
{
	const size_t needed = script->input.length + sizeof(step) + step.length + 1;

	if (needed > script->capacity) {
		script->capacity = 2 * needed;
		script->input.bytes = realloc(script->input.bytes, script->capacity);
		if (!script->input.bytes)
			abort();
	}
	memcpy(script->input.bytes + script->input.length, &step, sizeof(step));
	script->input.length += sizeof(step);
	if (step.length > 0)
		memcpy(script->input.bytes + script->input.length, bytes, step.length);
	script->input.length += step.length;
}

void script_send(struct script *script, unsigned int client, unsigned int fds, const void *message,
		 size_t size)
{
	const unsigned char *bytes = message;

	while (size > 8 && bytes[size - 1] == 0)
		size--;
	script_add(script,
		   (struct hostile_step){ .act = HOSTILE_SEND,
					  .client = (uint8_t)client,
					  .how = (uint8_t)fds,
					  .flags = HOSTILE_RIGHT,
					  .length = (uint16_t)size },
		   message);
}
