/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of a finisher's call paths becomes part of the recording.
 *
 * The finisher is a process of the user's, and so is who reads the recording: critd looks at kinds
 * and sizes, never at what is inside, and bounds how much comes.
 */
#ifndef CRIT_COLLECTOR_PATH_INTAKE_H
#define CRIT_COLLECTOR_PATH_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_socket.h"

#define CRIT_PATHS_PER_SECOND (1u << 20) /* bytes */
#define CRIT_PATHS_PER_RUN (64u << 20)

struct crit_path_intake { /* zeroed: of a run that begins */
	uint64_t since_ns; /* bytes of a second are counted since then */
	uint64_t second_bytes;
	uint64_t run_bytes;
	uint64_t dropped_bytes; /* of messages beyond the bounds, or that make no sense */
};

/*
 * The body of the chunk that a PATHS message of so many bytes stands for.  Range: message points to
 * bytes of them; run_max is CRIT_PATHS_PER_RUN, or less where the recording is to be small.
 * Errors: -EINVAL: it makes no sense; -ENOSPC: it is beyond the bounds; both are counted.
 */
int crit_path_intake_take(struct crit_path_intake *intake, const struct crit_message_paths *message,
			  size_t bytes, uint64_t run_max, uint64_t now_ns, size_t *ret_body_bytes);

#endif
