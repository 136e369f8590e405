/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for what readers of OTF2 archives overlook, or trip over. */
#ifndef CRIT_OTF2_VERIFY_H
#define CRIT_OTF2_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct crit_otf2_verified {
	uint64_t fault_count;
	uint64_t location_count;
	uint64_t event_count;
	uint64_t message_count; /* sends */
};

enum crit_otf2_owner { /* of a region */
	CRIT_OTF2_OWNER_NONE = 0, /* the program, or somebody else */
	CRIT_OTF2_OWNER_MPI,
	CRIT_OTF2_OWNER_OPENMP,
	CRIT_OTF2_OWNER_PHASE
};

struct crit_otf2_entered { /* a region, and how often it was entered */
	char *name; /* as defined */
	char *file; /* NULL: its line is not known */
	uint32_t line;
	enum crit_otf2_owner owner;
	uint64_t count;
};

struct crit_otf2_entered_list {
	struct crit_otf2_entered *rows;
	size_t count;
	/* crit wrote it, and it has every span of app threads: nothing was lost, cut or joined */
	bool is_whole;
	uint64_t run_id; /* of the analysis it was written with */
	uint64_t window_ns;
};

void crit_otf2_entered_fini(struct crit_otf2_entered_list *list);

/*
 * Verifies the archive with this anchor (traces.otf2).  fault is told one line per fault, the first
 * of its kind in a location.
 * Errors: -ENOENT, -EPROTO no archive libotf2 understands, -ENOMEM; a fault is no error.
 * Cost: reads every event once, however the files may be cut; memory O(locations + pairs of ranks
 * that talk).
 */
int crit_otf2_verify(const char *anchor, void (*fault)(void *user, const char *text), void *user,
		     struct crit_otf2_verified *ret_verified, struct crit_err *err);

/* The same, and lists all regions, which the caller frees with fini. */
int crit_otf2_verify_entered(const char *anchor, void (*fault)(void *user, const char *text),
			     void *user, struct crit_otf2_verified *ret_verified,
			     struct crit_otf2_entered_list *ret_entered, struct crit_err *err);

#endif
