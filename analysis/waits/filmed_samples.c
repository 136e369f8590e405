// SPDX-License-Identifier: BSD-3-Clause
// A list for each stretch, and an index of rows by bucket and address.
#include "analysis/waits/filmed_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"

#define ROWS_MAX (1u << 20) /* then a bucket has one for all that is new */

static int by_address(const void *a, const void *b)
{
	const struct crit_filmed_sample *left = a, *right = b;

	return crit_by_number(left->address, right->address);
}

/* What the one stands for counts for the other as well, whatever its address. */
static void add(struct crit_filmed_sample *to, const struct crit_filmed_sample *sample)
{
	to->cpu_ns += sample->cpu_ns;
	to->squares += sample->squares;
	to->count += sample->count;
}

static void join(struct crit_filmed_stretch *stretch)
{
	size_t used = 0;

	qsort(stretch->rows, stretch->count, sizeof(*stretch->rows), by_address);
	for (size_t i = 0; i < stretch->count; i++) {
		struct crit_filmed_sample *last = used ? &stretch->rows[used - 1] : NULL;

		if (last && last->address == stretch->rows[i].address)
			add(last, &stretch->rows[i]);
		else
			stretch->rows[used++] = stretch->rows[i];
	}
	stretch->count = used;
}

/* Below a number, at random; source: Marsaglia, Xorshift RNGs, 2003. */
static uint64_t draw(struct crit_filmed_stretch *stretch, uint64_t below)
{
	if (!stretch->random)
		stretch->random = 1;
	stretch->random ^= stretch->random << 13;
	stretch->random ^= stretch->random >> 17;
	stretch->random ^= stretch->random << 5;
	return (uint64_t)((unsigned __int128)stretch->random * below >> 32);
}

/*
 * Of two neighbours that stand for little one stays, for both: as many on average, whatever
 * addresses they are summed by.  What stands for much stays by itself.  At most half of the room is
 * used then, for any two neighbours stand for more than a quarter of it would on average.
 */
static void thin(struct crit_filmed_stretch *stretch)
{
	uint64_t sum_ns = 0, least_ns;
	size_t used = 0;

	for (size_t i = 0; i < stretch->count; i++)
		sum_ns += stretch->rows[i].cpu_ns;
	least_ns = sum_ns / (CRIT_FILMED_STRETCH / 4);
	for (size_t i = 0; i < stretch->count; i++) {
		struct crit_filmed_sample *left = used ? &stretch->rows[used - 1] : NULL;
		const struct crit_filmed_sample *right = &stretch->rows[i];
		const uint64_t cpu_ns = left ? left->cpu_ns + right->cpu_ns : 0;

		if (!left || cpu_ns > least_ns) {
			stretch->rows[used++] = *right;
			continue;
		}
		if (draw(stretch, cpu_ns) >= left->cpu_ns)
			left->address = right->address;
		add(left, right);
	}
	stretch->count = used;
}

int crit_filmed_stretch_add(struct crit_filmed_stretch *stretch, uint64_t address, uint64_t cpu_ns)
{
	int rc;

	if (stretch->count == CRIT_FILMED_STRETCH) {
		join(stretch);
		if (stretch->count > CRIT_FILMED_STRETCH / 4 * 3)
			thin(stretch);
	}
	rc = crit_array_grow(&stretch->rows, &stretch->capacity, stretch->count + 1,
			     sizeof(*stretch->rows));
	if (!rc)
		stretch->rows[stretch->count++] =
			(struct crit_filmed_sample){ .address = address,
						     .cpu_ns = cpu_ns,
						     .squares = (double)cpu_ns * (double)cpu_ns,
						     .count = 1 };
	return rc;
}

static int add_row(struct crit_filmed_samples *samples, const struct crit_filmed_sample *sample)
{
	const uint64_t hash = crit_hash_mix(sample->bucket, sample->address);
	struct crit_filmed_sample other = *sample;
	struct crit_probe probe;
	uint32_t row = crit_index_first(&samples->numbers, hash, &probe);
	int rc;

	while (row != CRIT_NONE && (samples->rows[row].bucket != sample->bucket ||
				    samples->rows[row].address != sample->address))
		row = crit_index_next(&samples->numbers, &probe);
	if (row != CRIT_NONE) {
		add(&samples->rows[row], sample);
		return 0;
	}
	if (samples->count >= ROWS_MAX && sample->address) {
		other.address = 0;
		return add_row(samples, &other);
	}
	rc = crit_array_grow(&samples->rows, &samples->capacity, samples->count + 1,
			     sizeof(*samples->rows));
	if (!rc)
		rc = crit_index_put(&samples->numbers, hash, (uint32_t)samples->count);
	if (!rc)
		samples->rows[samples->count++] = *sample;
	return rc;
}

int crit_filmed_samples_add(struct crit_filmed_samples *samples,
			    struct crit_filmed_stretch *stretch, uint32_t bucket)
{
	int rc = 0;

	for (size_t i = 0; i < stretch->count && bucket != CRIT_NONE && !rc; i++) {
		stretch->rows[i].bucket = bucket;
		rc = add_row(samples, &stretch->rows[i]);
	}
	stretch->count = 0;
	return rc;
}

void crit_filmed_stretch_fini(struct crit_filmed_stretch *stretch)
{
	free(stretch->rows);
	*stretch = (struct crit_filmed_stretch){ 0 };
}

void crit_filmed_samples_fini(struct crit_filmed_samples *samples)
{
	crit_index_fini(&samples->numbers);
	free(samples->rows);
	*samples = (struct crit_filmed_samples){ 0 };
}
