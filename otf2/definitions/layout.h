/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank or process becomes which location group, and which thread which location.
 *
 * A location's row is its thread's row in the results; ranks without a thread have rows behind
 * these, and the last one may be of ranks that were not recorded (the stranger).
 */
#ifndef CRIT_OTF2_LAYOUT_H
#define CRIT_OTF2_LAYOUT_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/schema/results.h"
#include "otf2/archive/strings.h"
#include "otf2/definitions/region_definitions.h"

#define CRIT_OTF2_ARGUMENTS_MAX (CRIT_EXE_BYTES / 2) /* of a program, one byte and a blank each */

struct crit_otf2_group { /* a location group: a rank, or a process without one */
	uint32_t node;
	uint32_t pid;
	int32_t rank_row; /* -1: no rank */
	bool has_kernel; /* its node's kernel half was recorded */
	uint32_t name; /* string */
	uint32_t program, program_name; /* region of everything outside MPI; string */
};

struct crit_otf2_location {
	uint64_t reference; /* thread << 32 | group */
	uint32_t name; /* string */
	uint32_t group;
	bool is_listed; /* belongs into the archive */
	bool is_own; /* written by this process, not by another */
};

struct crit_otf2_layout;

struct crit_otf2_layout_options {
	bool has_all; /* service threads and processes without a rank too */
	const struct crit_transport *transport; /* NULL: this process writes all */
};

/* Everything is borrowed.  Errors: -ENOMEM. */
int crit_otf2_layout_create(const struct crit_results *run,
			    const struct crit_otf2_layout_options *options,
			    struct crit_otf2_strings *strings, struct crit_otf2_regions *regions,
			    struct crit_otf2_layout **ret_layout);
void crit_otf2_layout_destroy(struct crit_otf2_layout *layout);

/* Groups of ranks come first. */
size_t crit_otf2_layout_group_count(const struct crit_otf2_layout *layout);
size_t crit_otf2_layout_rank_count(const struct crit_otf2_layout *layout);
size_t crit_otf2_layout_location_count(const struct crit_otf2_layout *layout);
uint32_t crit_otf2_layout_world_count(const struct crit_otf2_layout *layout);

/* How many groups and strings there were before the first event. */
uint32_t crit_otf2_layout_first_group_count(const struct crit_otf2_layout *layout);
uint32_t crit_otf2_layout_string_count(const struct crit_otf2_layout *layout);

const struct crit_otf2_group *crit_otf2_layout_group(const struct crit_otf2_layout *layout,
						     uint32_t group);
const struct crit_otf2_location *crit_otf2_layout_location(const struct crit_otf2_layout *layout,
							   uint32_t row);

/* Does the program of a rank begin and end in this location? */
bool crit_otf2_layout_is_main(const struct crit_otf2_layout *layout, uint32_t row);

/*
 * The strings of the arguments of a rank's program, without its name: what stands between blanks.
 * Range: ret_strings has CRIT_OTF2_ARGUMENTS_MAX.  Errors: -ENOMEM, or how many there are.
 */
int crit_otf2_layout_arguments(const struct crit_otf2_layout *layout, uint32_t group,
			       uint32_t *ret_strings);

/* The index in COMM_LOCATIONS of ranks that were not recorded; made when first asked for. */
uint32_t crit_otf2_layout_stranger(struct crit_otf2_layout *layout);

/* The stranger's location; NULL: there is none. */
const struct crit_otf2_location *
crit_otf2_layout_stranger_location(const struct crit_otf2_layout *layout);

/* Defines groups and locations; event_counts by row. */
OTF2_ErrorCode crit_otf2_layout_write(const struct crit_otf2_layout *layout,
				      OTF2_GlobalDefWriter *global, const uint64_t *event_counts);

#endif
