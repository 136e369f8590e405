// SPDX-License-Identifier: BSD-3-Clause
// Feeds the files of arbitrary OTF2 archives to crit verify's reader.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "otf2/verify/verify_archive.h"
#include "tests/fuzz/recording/archive.h"
#include "tests/fuzz/recording/place.h"
#include "tests/fuzz/target.h"

#define MEMORY_BYTES (256u << 20)

/*
 * An anchor names counts, and libotf2 allocates that much: what is too much fails, as it does where
 * memory is short.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=256:allocator_may_return_null=1";
}

static void limit_memory(void)
{
#ifndef CRIT_SANITIZED
	const struct rlimit limit = { MEMORY_BYTES, MEMORY_BYTES };

	if (setrlimit(RLIMIT_DATA, &limit))
		abort();
#endif
}

static void on_fault(void *user, const char *text)
{
	(void)text;
	++*(uint64_t *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct crit_otf2_verified verified;
	struct crit_err err = { "" };
	struct parts parts;
	uint64_t faults = 0;
	char anchor[128];

	limit_memory();
	if (!parts_take(&parts, data, size))
		return 0;
	place_empty();
	place_make("traces");
	for (size_t i = 0; i < parts.count; i++)
		if (parts.files[i].length > 0)
			place_write(archive_files[i], &parts.files[i]);
	(void)snprintf(anchor, sizeof(anchor), "%s/%s", place_directory(), archive_files[0]);
	if (crit_otf2_verify(anchor, on_fault, &faults, &verified, NULL, &err) == 0 &&
	    faults != verified.fault_count)
		abort();
	free(parts.bytes);
	return 0;
}
