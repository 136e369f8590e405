/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleanup attributes for locals: freed or closed when they leave their scope. */
#ifndef CRIT_CLEANUP_H
#define CRIT_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void crit_cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void crit_cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void crit_cleanup_fclose(FILE **file)
{
	if (*file)
		(void)fclose(*file); /* callers that write check fclose themselves */
}

#define crit_autofree __attribute__((cleanup(crit_cleanup_free)))
#define crit_autoclose __attribute__((cleanup(crit_cleanup_close)))
#define crit_autofclose __attribute__((cleanup(crit_cleanup_fclose)))

#endif
