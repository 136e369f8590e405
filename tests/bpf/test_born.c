// SPDX-License-Identifier: BSD-3-Clause
// A thread that is born of a member stays counted as such, whoever adds it as well: what is counted
// and not taken off again keeps a run from its end.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "collector/source/kernel_half.h"
#include "tests/lib/check.h"

#define RUN 1u

static sem_t is_enough;
static atomic_uint born_tid;

static void *live(void *unused)
{
	(void)unused;
	atomic_store(&born_tid, (unsigned int)gettid());
	while (sem_wait(&is_enough))
		;
	return NULL;
}

static int64_t living(const struct crit_kernel *kernel)
{
	return __atomic_load_n(&crit_kernel_counters(kernel, RUN)->live_forked, __ATOMIC_RELAXED);
}

/* One that critd lists, and finds to be none, before it is told to be born of a member. */
static void try_thread(const struct crit_kernel *kernel, const struct crit_member *listed)
{
	struct crit_member born = { .flags = 0 };
	pthread_t thread = 0;

	atomic_store(&born_tid, 0);
	if (!CHECK_INT_EQ(pthread_create(&thread, NULL, live, NULL), 0))
		return;
	while (!atomic_load(&born_tid))
		(void)usleep(1000);
	CHECK_INT_EQ(living(kernel), 1);
	CHECK_INT_EQ(crit_kernel_member_add(kernel, born_tid, listed), -EEXIST);
	CHECK_INT_EQ(crit_kernel_member_get(kernel, born_tid, &born), 0);
	CHECK_UINT_EQ(born.flags & CRIT_MF_FORKED, CRIT_MF_FORKED);
	(void)sem_post(&is_enough);
	(void)pthread_join(thread, NULL);
	for (int ms = 0; ms < 5000 && living(kernel); ms++)
		(void)usleep(1000);
	CHECK_INT_EQ(living(kernel), 0);
}

static void try_map(bool is_storage_refused)
{
	const struct crit_source_options options = { .served_uid = geteuid(),
						     .is_storage_refused = is_storage_refused };
	const struct crit_member listed = { .run_number = RUN,
					    .flags = CRIT_MF_UNVERIFIED | CRIT_MF_NEW };
	struct crit_kernel kernel;
	struct crit_err err = { .text = "" };

	CHECK_CASE("%s", is_storage_refused ? "by number" : "task storage");
	if (!CHECK_MSG(crit_kernel_open(&kernel, &options, &err) == 0, "%s", err.text))
		return;
	crit_kernel_begin_run(&kernel, RUN, false, 0);
	CHECK_INT_EQ(crit_kernel_member_add(&kernel, (uint32_t)gettid(), &listed), 0);
	CHECK_INT_EQ(crit_kernel_member_add(&kernel, (uint32_t)gettid(), &listed), -EEXIST);
	try_thread(&kernel, &listed);
	crit_kernel_end_run(&kernel, RUN);
	crit_kernel_close(&kernel);
}

int main(void)
{
	if (geteuid() != 0)
		check_skip("needs root, to load programs");
	(void)sem_init(&is_enough, 0, 0);
	try_map(false);
	try_map(true);
	return check_done();
}
