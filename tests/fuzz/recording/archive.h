/* SPDX-License-Identifier: BSD-3-Clause */
/* An OTF2 archive as an input of several parts: which file is which. */
#ifndef CRIT_TESTS_ARCHIVE_H
#define CRIT_TESTS_ARCHIVE_H

#include "tests/fuzz/recording/parts.h"

/* Locations of threads 0 of ranks 0 and 1, and of thread 1 of rank 0. */
static const char *const archive_files[FUZZ_PARTS_MAX] = {
	"traces.otf2",  "traces.def",   "traces/0.def",          "traces/0.evt",
	"traces/1.def", "traces/1.evt", "traces/4294967296.def", "traces/4294967296.evt",
};

#endif
