/* SPDX-License-Identifier: BSD-3-Clause */
/* An archive being written: what its parts share. */
#ifndef CRIT_OTF2_WRITER_H
#define CRIT_OTF2_WRITER_H

#include "analysis/schema/trace.h"
#include "core/abi/abi_tag.h"
#include "otf2/export.h"
#include "otf2/openmp.h"
#include "otf2/parts.h"
#include "otf2/strings.h"

#define CRIT_OTF2_CHUNK_BYTES (256u * 1024u) /* the least OTF2 takes */
#define CRIT_OTF2_NAME "traces"
#define CRIT_OTF2_CALLS (1u << CRIT_TAG_CALL_BITS)
#define CRIT_OTF2_ARGUMENTS_MAX (CRIT_EXE_BYTES / 2) /* of a program, one byte and a blank each */
#define CRIT_OTF2_SITES_MAX 16384u /* texts of call sites; their table must fit a chunk */
#define CRIT_OTF2_PEERS_MAX (1u << 22) /* sum of all peer limits; messages beyond are not told */

struct crit_otf2_writer {
	const struct crit_otf2_options *options;
	const struct crit_results *run; /* identities; borrowed from the replay */
	const char *directory;
	struct crit_err *err;
	struct crit_err words; /* what the library said last */
	OTF2_Archive *archive;
	OTF2_AttributeList *attributes;
	struct crit_otf2_strings strings;
	struct crit_otf2_group *groups;
	size_t group_count, rank_groups; /* those of ranks come first */
	struct crit_otf2_location *locations; /* by row of threads, then those of empty ranks */
	size_t location_count;
	struct crit_otf2_region *regions;
	size_t region_count, region_capacity;
	uint32_t first_call; /* provisional region of call 0, behind those of programs */
	bool has_call[CRIT_OTF2_CALLS]; /* it was seen */
	uint32_t call_regions[CRIT_OTF2_CALLS]; /* the global ones, once all is told */
	struct crit_map program_regions; /* string -> region */
	struct crit_map sites; /* group and address -> provisional string */
	struct crit_otf2_strings site_texts;
	uint32_t first_text; /* provisional string of site text 0, behind those of the layout */
	uint32_t *site_strings; /* by site text, once all is told */
	uint32_t told_groups; /* of the layout, without the stranger's */
	struct crit_otf2_openmp openmp;
	struct crit_otf2_members *members; /* groups behind COMM_LOCATIONS */
	size_t member_count, member_capacity;
	struct crit_index member_numbers; /* rows of members, by what is in them */
	struct crit_otf2_communicator *communicators;
	size_t communicator_count, communicator_capacity, peer_limit_count;
	uint32_t *peer_limits; /* by communicator: one more than the largest peer named */
	uint64_t peer_limit_sum;
	bool has_stranger; /* index rank_groups in COMM_LOCATIONS is nobody's rank */
	uint32_t stranger; /* his location */
	uint32_t world_count;
	uint64_t end_ns; /* of the window, as far as it is told */
	uint64_t first_ns, last_ns; /* of all events */
	uint64_t event_count;
	bool are_messages_whole, are_teams_whole, are_locks_whole;
	bool has_losses;
	bool is_broken; /* the library failed */
};

/* The sink of a writer.  Ownership: the writer is borrowed. */
void crit_otf2_sink(struct crit_otf2_writer *writer, struct crit_trace_sink *ret_sink);

/* Names groups and locations.  Errors: -ENOMEM. */
int crit_otf2_layout(struct crit_otf2_writer *writer);

/*
 * The strings of the arguments of a rank's program, without its name: what stands between blanks.
 * Range: ret_strings has CRIT_OTF2_ARGUMENTS_MAX.  Errors: -ENOMEM, or how many there are.
 */
int crit_otf2_arguments(struct crit_otf2_writer *writer, const struct crit_otf2_group *group,
			uint32_t *ret_strings);

/* The index in COMM_LOCATIONS of whom nobody knows; he appears when first asked for. */
uint32_t crit_otf2_stranger(struct crit_otf2_writer *writer);

/* The next communicator: its reference is the replay's number.  Errors: -ENOMEM. */
int crit_otf2_add_communicator(struct crit_otf2_writer *writer,
			       const struct crit_trace_communicator *told);

/* The communicators every run has, for a replay that told of none.  Errors: -ENOMEM. */
int crit_otf2_add_worlds(struct crit_otf2_writer *writer);

/* Opens the archive in writer->directory, for the groups laid out.  Errors: -EIO. */
int crit_otf2_open(struct crit_otf2_writer *writer);

/* The event writer of a location, opened at first use.  Errors: NULL, with words in err. */
OTF2_EvtWriter *crit_otf2_events(struct crit_otf2_writer *writer,
				 struct crit_otf2_location *location);

/*
 * The location of a row of threads and its writer, where *time_ns may be written, perhaps clamped.
 * NULL: not in the archive, or *ret_rc says why.
 */
OTF2_EvtWriter *crit_otf2_writer_of(struct crit_otf2_writer *writer, uint32_t thread,
				    struct crit_otf2_location **ret_location, uint64_t *time_ns,
				    int *ret_rc);

/* Part of the sink. */
int crit_otf2_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message);

/* Part of the sink. */
int crit_otf2_setup(void *user, uint32_t thread, const struct crit_trace_setup *setup);

/* Begins the program on a location, unless it has begun.  Errors: -ENOMEM, -EIO. */
int crit_otf2_begin_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			     uint64_t time_ns);

/* Ends it, and the location; sums NULL: nobody knows them.  Errors: -EIO. */
int crit_otf2_end_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			   uint64_t time_ns, const struct crit_trace_sums *sums);

/* The provisional text of a call site, asked for once per process and address, or CRIT_NONE. */
uint32_t crit_otf2_site(struct crit_otf2_writer *writer, uint32_t group, uint64_t site);

/* Ends a location's file.  Errors: -EIO. */
int crit_otf2_close_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location);

/* Ends the files of all own events.  Errors: -EIO. */
int crit_otf2_close_events(struct crit_otf2_writer *writer);

/* Writes all definitions and closes the archive.  Errors: -ENOMEM, -EIO. */
int crit_otf2_finish(struct crit_otf2_writer *writer);
int crit_otf2_define(struct crit_otf2_writer *writer);
/* Closes what is open and frees all. */
void crit_otf2_writer_fini(struct crit_otf2_writer *writer);

/* A region of its own.  Errors: CRIT_NONE when out of memory. */
uint32_t crit_otf2_add_region(struct crit_otf2_writer *writer, unsigned int call, const char *name,
			      uint32_t file, uint32_t line);
/* The provisional region of a call, or CRIT_NONE; and the global ones.  Errors: -ENOMEM. */
uint32_t crit_otf2_call_region(struct crit_otf2_writer *writer, unsigned int call);
int crit_otf2_name_calls(struct crit_otf2_writer *writer);
/* The strings of call sites, in their own order.  Errors: -ENOMEM. */
int crit_otf2_name_sites(struct crit_otf2_writer *writer);
/* The region of a program's own code. */
uint32_t crit_otf2_program_region(struct crit_otf2_writer *writer, const char *name);

/* Answers 0, or -EIO with what the library said last in err. */
int crit_otf2_check(struct crit_otf2_writer *writer, OTF2_ErrorCode code, const char *what);

#endif
