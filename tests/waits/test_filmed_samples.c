// SPDX-License-Identifier: BSD-3-Clause
//
// Samples of a film: those of a stretch are its bucket's, sums stay whole however many there are.
#include "analysis/waits/filmed_samples.h"

#include <math.h>

#include "tests/lib/check.h"
#include "tests/maker/random.h"

static const struct crit_filmed_sample *find(const struct crit_filmed_samples *samples,
					     uint32_t bucket, uint64_t address)
{
	for (size_t i = 0; i < samples->count; i++)
		if (samples->rows[i].bucket == bucket && samples->rows[i].address == address)
			return &samples->rows[i];
	return NULL;
}

static uint64_t sum_ns(const struct crit_filmed_samples *samples, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (samples->rows[i].address >= from && samples->rows[i].address < to)
			sum += samples->rows[i].cpu_ns;
	return sum;
}

/* Three stretches of two buckets, and one of nobody knows which. */
static void check_buckets(void)
{
	struct crit_filmed_samples samples = { 0 };
	struct crit_filmed_stretch stretch = { 0 };

	CHECK(crit_filmed_stretch_add(&stretch, 0x10, 5) == 0);
	CHECK(crit_filmed_stretch_add(&stretch, 0x20, 7) == 0);
	CHECK(crit_filmed_stretch_add(&stretch, 0x10, 5) == 0);
	CHECK(crit_filmed_samples_add(&samples, &stretch, 3) == 0);
	CHECK(stretch.count == 0);
	CHECK(crit_filmed_stretch_add(&stretch, 0x10, 1) == 0);
	CHECK(crit_filmed_samples_add(&samples, &stretch, 4) == 0);
	CHECK(crit_filmed_stretch_add(&stretch, 0x10, 100) == 0);
	CHECK(crit_filmed_samples_add(&samples, &stretch, CRIT_NONE) == 0);
	CHECK(crit_filmed_stretch_add(&stretch, 0x10, 2) == 0);
	CHECK(crit_filmed_samples_add(&samples, &stretch, 3) == 0);
	CHECK(samples.count == 3);
	CHECK(find(&samples, 3, 0x10)->cpu_ns == 12 && find(&samples, 3, 0x10)->count == 3);
	CHECK(find(&samples, 3, 0x20)->cpu_ns == 7 && find(&samples, 3, 0x20)->count == 1);
	CHECK(find(&samples, 4, 0x10)->cpu_ns == 1);
	crit_filmed_stretch_fini(&stretch);
	crit_filmed_samples_fini(&samples);
}

/* Yields how much more of the first quarter of the addresses was counted than there was. */
static double long_stretch(uint64_t addresses, uint64_t seed)
{
	struct crit_filmed_samples samples = { 0 };
	struct crit_filmed_stretch stretch = { .random = (uint32_t)seed };
	uint64_t low_ns = 0, counted_ns;
	struct crit_random dice = { seed };

	for (int i = 0; i < 20000; i++) {
		const uint64_t address = 1 + crit_random_below(&dice, addresses);

		low_ns += address <= addresses / 4;
		CHECK(crit_filmed_stretch_add(&stretch, address, 1) == 0);
		CHECK(stretch.count <= CRIT_FILMED_STRETCH);
	}
	CHECK(crit_filmed_samples_add(&samples, &stretch, 0) == 0);
	CHECK(sum_ns(&samples, 0, UINT64_MAX) == 20000);
	counted_ns = sum_ns(&samples, 0, addresses / 4 + 1);
	crit_filmed_stretch_fini(&stretch);
	crit_filmed_samples_fini(&samples);
	return (double)counted_ns - (double)low_ns;
}

/* Of many addresses some stand for others: right on average, within its standard error. */
static void check_mean(void)
{
	double sum = 0, squares = 0, error;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		const double off = long_stretch(1u << 20, seed);

		sum += off;
		squares += off * off;
	}
	error = sqrt(squares) / 100;
	CHECK_MSG(fabs(sum / 100) < 4 * error && error < 200, "off by %.0f, error %.0f", sum / 100,
		  error);
}

int main(void)
{
	check_buckets();
	CHECK(long_stretch(300, 1) == 0.0); /* of few nothing is lost */
	check_mean();
	return check_done();
}
