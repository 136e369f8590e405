// SPDX-License-Identifier: BSD-3-Clause
// Opens an archive, reads its definitions, and runs the checks.
#include "otf2/verify/verify_archive.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "otf2/archive/library_words.h"
#include "otf2/verify/claims.h"
#include "otf2/verify/faults.h"
#include "otf2/verify/verify_definitions.h"
#include "otf2/verify/verify_events.h"
#include "otf2/verify/verify_messages.h"
#include "otf2/verify/verify_regions.h"

#define SUFFIX ".otf2"
#define LOCATIONS_AT_ONCE 1024 /* of one reader, which looks for each among all that it has seen */

static int refuse_strange(const char *path, struct crit_err *err)
{
	struct stat status;

	if (stat(path, &status) || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return 0; /* what is missing is told of later */
	return crit_err_set(err, -EPROTO, "cannot read %.160s: not a regular file", path);
}

/* The reader would wait for one who writes to a FIFO. */
static int refuse_strange_files(const struct crit_otf2_verifier *verifier, const char *anchor,
				struct crit_err *err)
{
	char path[sizeof(verifier->base) + NAME_MAX + 2];
	const struct dirent *entry;
	DIR *directory;
	int rc = refuse_strange(anchor, err);

	(void)snprintf(path, sizeof(path), "%s.def", verifier->base);
	if (!rc)
		rc = refuse_strange(path, err);
	directory = opendir(verifier->base);
	while (!rc && directory && (entry = readdir(directory))) {
		(void)snprintf(path, sizeof(path), "%s/%s", verifier->base, entry->d_name);
		rc = refuse_strange(path, err);
	}
	if (directory)
		(void)closedir(directory);
	return rc;
}

static bool open_anchor(struct crit_otf2_verifier *verifier, const char *anchor)
{
	verifier->reader = OTF2_Reader_Open(anchor);
	return verifier->reader &&
	       OTF2_Reader_SetSerialCollectiveCallbacks(verifier->reader) == OTF2_SUCCESS;
}

/* Opens the anchor, and asks what it claims. */
static int open_reader(struct crit_otf2_verifier *verifier, const char *anchor,
		       struct crit_err *err)
{
	size_t length = strlen(anchor), suffix = strlen(SUFFIX);
	struct stat status;
	int rc;

	if (stat(anchor, &status))
		return crit_err_set(err, -errno, "cannot open %.160s: %s", anchor, strerror(errno));
	if (length <= suffix || length >= sizeof(verifier->base) ||
	    strcmp(anchor + length - suffix, SUFFIX) != 0)
		return crit_err_set(err, -EPROTO, "%.160s is no anchor of an OTF2 archive (*.otf2)",
				    anchor);
	memcpy(verifier->base, anchor, length - suffix);
	verifier->base[length - suffix] = '\0';
	rc = refuse_strange_files(verifier, anchor, err);
	if (rc)
		return rc;
	if (!open_anchor(verifier, anchor))
		return crit_err_set(err, -EPROTO, "cannot read %.120s: %.100s", anchor,
				    verifier->words.text[0] ? verifier->words.text
							    : "not an OTF2 archive");
	crit_otf2_verify_claims(verifier);
	return 0;
}

/* Which files are there: a reader that selects a location without one fails as a whole. */
static void find_files(struct crit_otf2_verifier *verifier)
{
	char path[sizeof(verifier->base) + 40];
	struct stat status;

	for (size_t i = 0; i < verifier->location_count; i++) {
		struct crit_otf2_seen_location *location = &verifier->locations[i];
		unsigned long long reference = location->reference;

		(void)snprintf(path, sizeof(path), "%s/%llu.evt", verifier->base, reference);
		location->has_events = stat(path, &status) == 0 && status.st_size > 0;
		if (!location->has_events)
			crit_otf2_fault(verifier,
					"location %llu: its file %llu.evt is missing or empty; "
					"readers fail",
					reference, reference);
		(void)snprintf(path, sizeof(path), "%s/%llu.def", verifier->base, reference);
		location->has_definitions = stat(path, &status) == 0 && status.st_size > 0;
		if (!location->has_definitions)
			crit_otf2_fault(verifier,
					"location %llu: its file %llu.def is missing or empty; its "
					"clock offsets are lost",
					reference, reference);
	}
}

static void close_verifier(struct crit_otf2_verifier *verifier)
{
	if (verifier->reader)
		(void)OTF2_Reader_Close(verifier->reader); /* nothing was written */
	crit_otf2_listen_no_more();
	for (size_t i = 0; i < verifier->group_count; i++)
		free(verifier->groups[i].members);
	free(verifier->groups);
	free(verifier->locations);
	free(verifier->communicators);
	crit_map_fini(&verifier->location_numbers);
	crit_map_fini(&verifier->location_groups);
	crit_map_fini(&verifier->ranks);
	crit_otf2_verify_fini_regions(verifier);
	crit_map_fini(&verifier->group_numbers);
	free(verifier->locks);
	crit_map_fini(&verifier->lock_numbers);
	crit_map_fini(&verifier->threads);
	crit_map_fini(&verifier->memberships);
	crit_map_fini(&verifier->communicator_numbers);
	crit_otf2_tally_fini(&verifier->messages);
	crit_otf2_tally_fini(&verifier->collectives);
	crit_otf2_tally_fini(&verifier->tasks);
}

/* A reader that has seen no location. */
static bool renew_reader(struct crit_otf2_verifier *verifier)
{
	char anchor[sizeof(verifier->base) + sizeof(SUFFIX)];

	(void)OTF2_Reader_Close(verifier->reader);
	(void)snprintf(anchor, sizeof(anchor), "%s%s", verifier->base, SUFFIX);
	if (open_anchor(verifier, anchor))
		return true;
	verifier->has_unread = true;
	crit_otf2_fault(verifier, "%.160s cannot be opened again: %s", anchor,
			verifier->words.text);
	return false;
}

static int check_locations(struct crit_otf2_verifier *verifier)
{
	int rc = 0;

	for (size_t first = 0, end; first < verifier->location_count && !rc; first = end) {
		end = first + LOCATIONS_AT_ONCE;
		if (end > verifier->location_count)
			end = verifier->location_count;
		if (first && !renew_reader(verifier))
			return 0;
		rc = crit_otf2_verify_offsets(verifier, first, end);
		if (!rc)
			rc = crit_otf2_verify_events(verifier, first, end);
	}
	if (!rc)
		crit_otf2_verify_ends(verifier);
	return rc ? rc : verifier->error;
}

/* All checks, or those of the definitions when they cannot be read. */
static int check(struct crit_otf2_verifier *verifier)
{
	int rc = crit_otf2_verify_definitions(verifier);

	if (rc <= 0)
		return rc;
	find_files(verifier);
	rc = check_locations(verifier);
	if (!rc)
		crit_otf2_verify_matches(verifier);
	return rc;
}

int crit_otf2_verify(const char *anchor, void (*fault)(void *user, const char *text), void *user,
		     struct crit_otf2_verified *ret_verified,
		     struct crit_otf2_entered_list *ret_entered, struct crit_err *err)
{
	struct crit_otf2_verifier *verifier = calloc(1, sizeof(*verifier));
	int rc;

	if (!verifier)
		return -ENOMEM;
	verifier->fault = fault;
	verifier->user = user;
	verifier->comm_locations = CRIT_NONE;
	verifier->thread_locations = CRIT_NONE;
	crit_otf2_listen(&verifier->words);
	rc = open_reader(verifier, anchor, err);
	if (!rc)
		rc = check(verifier);
	if (!rc) {
		crit_otf2_verify_analysis(verifier);
		*ret_verified = (struct crit_otf2_verified){
			.fault_count = verifier->fault_count,
			.location_count = verifier->location_count,
			.event_count = verifier->event_count,
			.message_count = verifier->message_count,
		};
	}
	if (!rc && ret_entered) {
		*ret_entered = verifier->entered;
		verifier->entered = (struct crit_otf2_entered_list){ 0 };
	}
	close_verifier(verifier);
	free(verifier);
	return rc;
}
