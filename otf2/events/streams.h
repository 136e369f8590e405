/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of each location, from its first to its last: the program's begin and end, MPI_Init
 * and MPI_Finalize outside the window, and leaves with what was measured.
 */
#ifndef CRIT_OTF2_STREAMS_H
#define CRIT_OTF2_STREAMS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/schema/trace.h"
#include "otf2/archive/archive_files.h"
#include "otf2/definitions/call_site_table.h"
#include "otf2/definitions/context_table.h"
#include "otf2/definitions/layout.h"
#include "otf2/definitions/region_definitions.h"

enum crit_otf2_attribute { /* their references in the archive */
	CRIT_OTF2_CMETRIC = 0,
	CRIT_OTF2_ALL_WAITING,
	CRIT_OTF2_RUNNING,
	CRIT_OTF2_RUNNABLE,
	CRIT_OTF2_BLOCKED,
	CRIT_OTF2_POLLED,
	CRIT_OTF2_CALL_SITE,
	CRIT_OTF2_ATTRIBUTE_COUNT
};

enum crit_otf2_metric { /* their references, and bits of a mask: those an archive has */
	CRIT_OTF2_METRIC_CMETRIC = 0,
	CRIT_OTF2_METRIC_WAITING,
	CRIT_OTF2_METRIC_COUNT
};

struct crit_otf2_streams;

struct crit_otf2_moment { /* where an event is written, and when */
	OTF2_EvtWriter *events;
	uint64_t time_ns;
	uint32_t row; /* of the location */
	uint32_t group;
};

struct crit_otf2_definitions { /* what events name */
	const struct crit_otf2_layout *layout;
	struct crit_otf2_regions *regions;
	struct crit_otf2_call_sites *call_sites;
	struct crit_otf2_contexts
		*contexts; /* NULL: events name regions, and there are no samples */
};

/* Everything is borrowed; events are expected from first_ns to last_ns.  NULL: out of memory. */
struct crit_otf2_streams *crit_otf2_streams_create(struct crit_otf2_files *files,
						   const struct crit_otf2_definitions *named,
						   uint64_t first_ns, uint64_t last_ns,
						   unsigned int metrics);
void crit_otf2_streams_destroy(struct crit_otf2_streams *streams);

/*
 * Where an event of a thread may be written, never before the one before it.
 * Errors: false, and *ret_rc is 0 when the archive does not have it, or -EIO.
 */
bool crit_otf2_streams_at(struct crit_otf2_streams *streams, uint32_t thread, uint64_t time_ns,
			  struct crit_otf2_moment *ret_at, int *ret_rc);

/* Begins the program on a location, unless it has begun.  Errors: -ENOMEM, -EIO. */
int crit_otf2_streams_begin(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at);

/* Enters a region, by its provisional reference.  Errors: -ENOMEM, -EIO. */
int crit_otf2_streams_enter(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			    uint32_t region);

/*
 * A sample, where there are contexts; nothing where the thread has no location.  It is written when
 * a later event comes: messages are told as late as their call's end.  Errors: -ENOMEM.
 */
int crit_otf2_streams_sample(struct crit_otf2_streams *streams, uint32_t thread, uint64_t time_ns,
			     const struct crit_trace_sample *sample);

/*
 * The kernel has the thread in another state from here on: a region inside the code that it stops,
 * in parts where other events lie in between, none while it runs.
 */
void crit_otf2_streams_state(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			     enum crit_kernel_state state);

/* The system call that a thread blocks in, right before it does; -1: not known. */
void crit_otf2_streams_block(struct crit_otf2_streams *streams, uint32_t thread, int system_call);

/*
 * Ends it and the location's file, or waits for MPI_Finalize, which is still to come; sums NULL:
 * not known.  Errors: -ENOMEM, -EIO.
 */
int crit_otf2_streams_end(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			  const struct crit_trace_sums *sums);

/* MPI_Init or MPI_Finalize, outside the window.  Errors: -ENOMEM, -EIO. */
int crit_otf2_streams_setup(struct crit_otf2_streams *streams, uint32_t thread,
			    const struct crit_trace_setup *setup);

/* What the thread has of it so far, where it was asked for.  Errors: -EIO. */
int crit_otf2_streams_metric(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			     enum crit_otf2_metric metric, uint64_t sum_ns);

/* The thread has waited once more, for so long.  Errors: -EIO. */
int crit_otf2_streams_wait(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			   uint64_t waited_ns);

/* Leaves a region; sums may be NULL, site (a string) CRIT_NONE.  Errors: -EIO. */
int crit_otf2_streams_leave(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			    uint32_t region, const struct crit_trace_sums *sums, uint32_t site);

/* Notes that an event is missing. */
void crit_otf2_streams_lose(struct crit_otf2_streams *streams);

/* Ends the files of all own events.  Errors: -EIO. */
int crit_otf2_streams_close(struct crit_otf2_streams *streams);

struct crit_otf2_extent { /* of all events */
	uint64_t first_ns, last_ns;
	uint64_t event_count;
	bool has_losses;
};

struct crit_otf2_extent crit_otf2_streams_extent(const struct crit_otf2_streams *streams);

/* How many events each location has, by row. */
const uint64_t *crit_otf2_streams_event_counts(const struct crit_otf2_streams *streams);

/* Extent and counts, for process 0.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_streams_pack(const struct crit_otf2_streams *streams,
			   struct crit_exchange_buffer *buffer);
int crit_otf2_streams_unpack(struct crit_otf2_streams *streams,
			     const struct crit_exchange_buffer *buffer, size_t *at);

#endif
