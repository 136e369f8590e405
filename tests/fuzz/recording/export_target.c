// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary recordings to the OTF2 writer; the archive has no fault but messages that do not
// match, which a damaged slot can tell of.  Choices: bit 0 leave checksums as they are, bit 1
// metrics, bits 2 and 3 the rule, bit 4 processes without rank.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "otf2/archive_export.h"
#include "otf2/verify/verify_archive.h"
#include "tests/fuzz/recording/parts.h"
#include "tests/fuzz/recording/place.h"
#include "tests/fuzz/repair.h"
#include "tests/fuzz/target.h"

#define MISMATCH "communicator "
#define MISMATCHES "pairs of ranks whose messages do not match" /* the rest of them */

static void on_fault(void *user, const char *text)
{
	(void)user;
	if (strncmp(text, MISMATCH, sizeof(MISMATCH) - 1) == 0 || strstr(text, MISMATCHES))
		return;
	fprintf(stderr, "broken: %s\n", text);
	abort();
}

static void export_and_verify(const struct parts *parts, const char *const *paths)
{
	const struct crit_otf2_options options = {
		.rule = (enum crit_active_rule)(parts->choice >> 2 & 3),
		.has_metrics = parts->choice & 2,
		.has_all = parts->choice & 16,
		.has_samples = parts->choice & 32,
		.creator = "crit",
	};
	struct crit_otf2_archive archive;
	struct crit_otf2_verified verified;
	struct crit_err err = { "" };
	char anchor[128];

	place_empty();
	if (crit_otf2_export(paths, parts->count, place_directory(), &options, &archive, &err))
		return;
	(void)snprintf(anchor, sizeof(anchor), "%s/" CRIT_OTF2_ANCHOR, place_directory());
	if (crit_otf2_verify(anchor, on_fault, NULL, &verified, NULL, &err))
		on_fault(NULL, err.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *paths[FUZZ_PARTS_MAX];
	char names[FUZZ_PARTS_MAX][32];
	int fds[FUZZ_PARTS_MAX];
	struct parts parts;

	if (!parts_take(&parts, data, size))
		return 0;
	for (size_t i = 0; i < parts.count; i++) {
		if (!(parts.choice & 1))
			crit_repair(parts.files[i].bytes, parts.files[i].length);
		fds[i] = parts_open(&parts.files[i], names[i]);
		paths[i] = names[i];
	}
	export_and_verify(&parts, paths);
	for (size_t i = 0; i < parts.count; i++)
		close(fds[i]);
	free(parts.bytes);
	return 0;
}
