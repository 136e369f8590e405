/* SPDX-License-Identifier: BSD-3-Clause */
/* Saves errno and disables thread cancellation while a shim works inside the caller's calls. */
#ifndef CRIT_GUARD_H
#define CRIT_GUARD_H

#include <errno.h>
#include <pthread.h>

struct crit_guard {
	int saved_errno;
	int cancel_state;
};

static inline struct crit_guard crit_guard_begin(void)
{
	struct crit_guard guard = { .saved_errno = errno };

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancel_state);
	return guard;
}

static inline void crit_guard_end(const struct crit_guard *guard)
{
	(void)pthread_setcancelstate(guard->cancel_state, NULL);
	errno = guard->saved_errno;
}

/* From here to the end of the scope. */
#define CRIT_GUARD                                                                                 \
	__attribute__((cleanup(crit_guard_end), unused))                                           \
	const struct crit_guard guard = crit_guard_begin()

#endif
