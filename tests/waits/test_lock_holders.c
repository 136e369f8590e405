// SPDX-License-Identifier: BSD-3-Clause
// Which stretches of a lock are told, step by step: of locks that are handed over, taken by who
// comes between, released late, and lost sight of.
#include "analysis/waits/locks/lock_holders.h"

#include "core/base/array.h"
#include "tests/lib/check.h"

enum act {
	END,
	ASK,
	TAKE,
	RELEASE,
	LOSE
};

struct row {
	enum act act;
	uint32_t thread;
	uint64_t time_ns, asked_ns; /* TAKE */
	const char *steps; /* "begins", "held by 1", "free", "released by 1" */
};

/* 1 has it for 30 ns, 2 comes between for 10, 3 has waited for both. */
static const struct row between[] = {
	{ TAKE, 1, 0, 0, "" },
	{ ASK, 3, 5, 0, "begins" },
	{ RELEASE, 1, 30, 0, "held by 1, begins" },
	{ ASK, 2, 31, 0, "" },
	{ TAKE, 2, 32, 31, "free, begins" },
	{ RELEASE, 2, 42, 0, "held by 2, begins" },
	{ TAKE, 3, 44, 5, "" },
	{ RELEASE, 3, 50, 0, "held by 3" },
	{ TAKE, 1, 60, 60, "" },
	{ RELEASE, 1, 70, 0, "released by 1" },
	{ 0 },
};

/* The runtime tells of a release when the next thread has it. */
static const struct row late[] = {
	{ ASK, 1, 0, 0, "" },
	{ TAKE, 1, 1, 0, "" },
	{ ASK, 2, 5, 0, "begins" },
	{ ASK, 3, 6, 0, "" },
	{ TAKE, 2, 9, 5, "held by 1, begins" },
	{ RELEASE, 2, 12, 0, "held by 2, begins" },
	{ TAKE, 3, 12, 6, "" },
	{ RELEASE, 3, 12, 0, "free, released by 3" },
	{ TAKE, 1, 13, 13, "" },
	{ TAKE, 2, 15, 15, "released by 1" },
	{ 0 },
};

/* Its owner asks once more; who has it is not known after a span whose end is missing. */
static const struct row lost[] = {
	{ TAKE, 1, 0, 0, "" },
	{ ASK, 1, 1, 0, "" },
	{ TAKE, 1, 2, 1, "" },
	{ ASK, 2, 3, 0, "begins" },
	{ LOSE, 1, 4, 0, "free" },
	{ ASK, 3, 5, 0, "" },
	{ LOSE, 3, 6, 0, "" },
	{ TAKE, 2, 7, 3, "" },
	{ RELEASE, 2, 8, 0, "released by 2" },
	{ 0 },
};

static void write_steps(const struct crit_lock_steps *steps, char text[128])
{
	static const char *const words[] = { [CRIT_LOCK_BEGINS] = "begins",
					     [CRIT_LOCK_WAS_HELD] = "held by ",
					     [CRIT_LOCK_WAS_FREE] = "free",
					     [CRIT_LOCK_RELEASED] = "released by " };
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < steps->count; i++) {
		const struct crit_lock_step *step = &steps->rows[i];
		char thread[12] = "";

		if (step->thread != CRIT_NONE)
			(void)snprintf(thread, sizeof(thread), "%u", step->thread);
		used += (size_t)snprintf(text + used, 128 - used, "%s%s%s", i ? ", " : "",
					 words[step->kind], thread);
	}
}

static void check_rows(const char *name, const struct row *row)
{
	struct crit_lock_holders holders = { 0 };
	struct crit_lock_holder *holder = crit_lock_holders_obtain(&holders, 3);

	CHECK_UINT_EQ(holders.count, 4);
	for (; row->act; row++) {
		struct crit_lock_steps steps;
		char text[128];

		CHECK_CASE("%s at %llu", name, (unsigned long long)row->time_ns);
		if (row->act == ASK)
			crit_lock_holder_ask(holder, row->thread, row->time_ns, &steps);
		else if (row->act == TAKE)
			crit_lock_holder_take(holder, row->thread, row->asked_ns, row->time_ns,
					      &steps);
		else if (row->act == RELEASE)
			crit_lock_holder_release(holder, row->thread, row->time_ns, &steps);
		else
			crit_lock_holder_lose(holder, row->thread, &steps);
		write_steps(&steps, text);
		CHECK_STR_EQ(text, row->steps);
	}
	crit_lock_holders_fini(&holders);
}

int main(void)
{
	check_rows("between", between);
	check_rows("late", late);
	check_rows("lost", lost);
	return check_done();
}
