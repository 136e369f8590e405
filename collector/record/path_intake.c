// SPDX-License-Identifier: BSD-3-Clause
// Checks the sizes of call paths, and counts them.
#include "collector/record/path_intake.h"

#include <errno.h>

#include "core/abi/abi_recording.h"

#define SECOND_NS 1000000000ull

/* Bytes of which the body is a multiple; 0: no such chunk comes from a finisher. */
static size_t unit_of(uint32_t chunk_kind)
{
	switch (chunk_kind) {
	case CRIT_C_SAMPLES:
		return sizeof(struct crit_rec_sample_path);
	case CRIT_C_PATHS:
		return sizeof(struct crit_rec_path);
	case CRIT_C_PATH_FILES:
		return sizeof(struct crit_rec_path_file);
	default:
		return 0;
	}
}

static int check(const struct crit_message_paths *message, size_t bytes)
{
	size_t unit;

	if (bytes <= sizeof(*message) || bytes > CRIT_PATHS_MESSAGE_MAX ||
	    message->head.kind != CRIT_M_PATHS || message->head.version != CRIT_SOCKET_VERSION ||
	    message->head.size != bytes || message->bytes != bytes - sizeof(*message))
		return -EINVAL;
	unit = unit_of(message->chunk_kind);
	return unit == 0 || message->bytes % unit != 0 ? -EINVAL : 0;
}

int crit_path_intake_take(struct crit_path_intake *intake, const struct crit_message_paths *message,
			  size_t bytes, uint64_t run_max, uint64_t now_ns, size_t *ret_body_bytes)
{
	int rc = check(message, bytes);

	if (now_ns - intake->since_ns >= SECOND_NS) {
		intake->since_ns = now_ns;
		intake->second_bytes = 0;
	}
	if (!rc && (intake->second_bytes + bytes > CRIT_PATHS_PER_SECOND ||
		    intake->run_bytes + bytes > run_max))
		rc = -ENOSPC;
	if (rc) {
		intake->dropped_bytes += bytes;
		return rc;
	}
	intake->second_bytes += bytes;
	intake->run_bytes += bytes;
	*ret_body_bytes = message->bytes;
	return 0;
}
