/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of an archive, and how often each was entered. */
#ifndef CRIT_OTF2_ENTERED_H
#define CRIT_OTF2_ENTERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
