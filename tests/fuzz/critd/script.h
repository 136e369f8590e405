/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes scripts for tests/fuzz/critd/hostile.h. */
#ifndef CRIT_TESTS_SCRIPT_H
#define CRIT_TESTS_SCRIPT_H

#include "tests/fuzz/critd/hostile.h"
#include "tests/fuzz/mutate.h"

struct script {
	struct input input; /* the caller frees its bytes */
	size_t capacity;
};

void script_add(struct script *script, struct hostile_step step, const void *bytes);

/* The message's kind stands in its head; the rest of it is bytes, cut where only zeros follow. */
void script_send(struct script *script, unsigned int client, unsigned int fds, const void *message,
		 size_t size);

#endif
