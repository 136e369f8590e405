/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the places of code that threads were in. */
#ifndef CRIT_CODE_KEYS_H
#define CRIT_CODE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/code_key.h"
#include "core/base/index.h"

struct crit_code_keys { /* zeroed: empty */
	struct crit_code_key *rows;
	size_t count, capacity;
	struct crit_index numbers;
};

/*
 * The key's number; where there are too many, that of all others of its thread.
 * Errors: -ENOMEM.  Cost: a search by hash.
 */
int crit_code_keys_put(struct crit_code_keys *keys, const struct crit_code_key *key,
		       uint32_t *ret_number);

void crit_code_keys_fini(struct crit_code_keys *keys);

#endif
