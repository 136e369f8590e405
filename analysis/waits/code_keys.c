// SPDX-License-Identifier: BSD-3-Clause
// Numbers the places of code that threads were in.
#include "analysis/waits/code_keys.h"

#define KEYS_MAX (1u << 20) /* then a thread has one for all that is new */

static bool is_same(const struct crit_code_key *a, const struct crit_code_key *b)
{
	return a->thread == b->thread && a->region == b->region && a->is_around == b->is_around &&
	       a->is_call == b->is_call && a->before.site == b->before.site &&
	       a->before.call == b->before.call && a->after.site == b->after.site &&
	       a->after.call == b->after.call;
}

static uint64_t hash_of(const struct crit_code_key *key)
{
	const uint64_t calls = (uint64_t)key->thread << 32 | (uint32_t)key->before.call << 16 |
			       key->after.call;

	const uint64_t region = (uint64_t)key->region << 1 | key->is_around;

	return crit_hash_mix(crit_hash_mix(crit_hash_mix(calls, key->before.site), region),
			     key->after.site << 1 | key->is_call);
}

int crit_code_keys_put(struct crit_code_keys *keys, const struct crit_code_key *key,
		       uint32_t *ret_number)
{
	const struct crit_code_key other = { .thread = key->thread };
	struct crit_probe probe;
	uint64_t hash = hash_of(key);
	uint32_t row = crit_index_first(&keys->numbers, hash, &probe);
	int rc;

	while (row != CRIT_NONE && !is_same(&keys->rows[row], key))
		row = crit_index_next(&keys->numbers, &probe);
	*ret_number = row;
	if (row != CRIT_NONE)
		return 0;
	if (keys->count >= KEYS_MAX && !is_same(key, &other))
		return crit_code_keys_put(keys, &other, ret_number);
	rc = crit_array_grow(&keys->rows, &keys->capacity, keys->count + 1, sizeof(*keys->rows));
	if (!rc)
		rc = crit_array_grow(&keys->followers, &keys->followers_capacity, keys->count + 1,
				     sizeof(*keys->followers));
	if (!rc)
		rc = crit_index_put(&keys->numbers, hash, (uint32_t)keys->count);
	if (rc)
		return rc;
	*ret_number = (uint32_t)keys->count;
	keys->followers[keys->count] = *ret_number;
	keys->rows[keys->count++] = *key;
	return 0;
}

int crit_code_keys_follow(struct crit_code_keys *keys, uint32_t number,
			  const struct crit_code_key *key, uint32_t *ret_number)
{
	int rc;

	*ret_number = keys->followers[number];
	if (is_same(&keys->rows[*ret_number], key))
		return 0;
	rc = crit_code_keys_put(keys, key, ret_number);
	if (!rc)
		keys->followers[number] = *ret_number;
	return rc;
}

void crit_code_keys_fini(struct crit_code_keys *keys)
{
	crit_index_fini(&keys->numbers);
	free(keys->rows);
	free(keys->followers);
	*keys = (struct crit_code_keys){ 0 };
}
