/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of samples, as chunks of a recording have them. */
#ifndef CRIT_ABI_PATHS_H
#define CRIT_ABI_PATHS_H

#include <linux/types.h>

/* Paths without a frame, from which those hang whose chains end so. */
enum crit_path_root {
	CRIT_PATH_NONE = 0, /* no path */
	CRIT_PATH_COMPLETE = 1, /* up to the program's or thread's begin */
	CRIT_PATH_CUT_MEMORY = 2, /* the copy of the stack is too short */
	CRIT_PATH_CUT_CFI = 3, /* code without unwind information */
	CRIT_PATH_CUT_MAPS = 4, /* which file the code is from was not known at that time */
	CRIT_PATH_FIRST = 5 /* that has a frame */
};

struct crit_rec_sample_path {
	__u32 request; /* of a SAMPLE */
	__u32 path; /* where it was called from: the innermost frame the SAMPLE has itself */
};

struct crit_rec_path { /* parents come before children */
	__u32 path;
	__u32 parent; /* the caller's path; of the outermost frame an enum crit_path_root */
	__u32 file; /* struct crit_rec_path_file */
	__u32 reserved;
	__u64 offset; /* in the file, within the calling instruction */
};

struct crit_rec_path_file { /* then the name as in /proc/PID/maps, padded to 8 */
	__u32 file;
	__u32 name_bytes; /* without NUL and padding */
};

_Static_assert(sizeof(struct crit_rec_sample_path) == 8, "path of a sample");
_Static_assert(sizeof(struct crit_rec_path) == 24, "path");
_Static_assert(sizeof(struct crit_rec_path_file) == 8, "file of paths");

#endif
