// SPDX-License-Identifier: BSD-3-Clause
// The sink: hands each event to the tables it belongs to, and finishes the archive at the end.
#include "otf2/archive_listener.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "otf2/archive_parts.h"
#include "otf2/events/message_records.h"
#include "otf2/global_definitions.h"
#include "otf2/local_definitions.h"
#include "otf2/shares.h"

struct crit_otf2_listener {
	const struct crit_otf2_options *options;
	const char *directory;
	struct crit_err *err;
	const struct crit_results *run; /* identities; borrowed from the replay */
	struct crit_otf2_parts parts;
	struct crit_otf2_claims claims;
	uint64_t end_ns; /* of the window, as far as it is told */
};

struct crit_otf2_listener *crit_otf2_listener_create(const struct crit_otf2_options *options,
						     const char *directory, struct crit_err *err)
{
	struct crit_otf2_listener *listener = calloc(1, sizeof(*listener));

	if (listener)
		*listener = (struct crit_otf2_listener){ .options = options,
							 .directory = directory,
							 .err = err };
	return listener;
}

void crit_otf2_listener_destroy(struct crit_otf2_listener *listener)
{
	if (!listener)
		return;
	crit_otf2_parts_fini(&listener->parts);
	free(listener);
}

/* Nobody is going to tell of the waits that a metric is to be made of. */
static bool are_waits_missing(const struct crit_otf2_options *options,
			      const struct crit_results *run)
{
	return options->ret_waits && options->second_trace->threads_max &&
	       run->thread_count > options->second_trace->threads_max;
}

static int lay_out(struct crit_otf2_listener *listener)
{
	const struct crit_results *run = listener->run;
	int rc;

	if (listener->end_ns <= run->window_begin_ns)
		return crit_err_set(listener->err, -ENODATA, "no trace can be made: %s",
				    run->window_ns
					    ? "the run was recorded at level profile; record "
					      "it with CRIT_LEVEL=trace"
					    : "the run's window is empty");
	listener->parts.files = crit_otf2_files_create(listener->directory,
						       listener->options->transport, listener->err);
	if (!listener->parts.files)
		return -ENOMEM;
	rc = crit_otf2_parts_init(&listener->parts, listener->options, run, listener->end_ns);
	if (!rc && are_waits_missing(listener->options, run))
		rc = crit_err_set(listener->err, -EFBIG,
				  "waits are not followed in a run of more than %zu threads; "
				  "export without --waits",
				  listener->options->second_trace->threads_max);
	if (!rc && !crit_otf2_layout_group_count(listener->parts.layout))
		rc = crit_err_set(listener->err, -ENODATA,
				  "no trace can be made: no rank and no thread of the program was "
				  "recorded; --all exports the rest");
	return rc;
}

static int open_files(struct crit_otf2_listener *listener)
{
	const struct crit_otf2_parts *parts = &listener->parts;

	return crit_otf2_files_open(parts->files, crit_otf2_layout_location_count(parts->layout));
}

static int on_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct crit_otf2_listener *listener = user;
	const struct crit_transport *transport = listener->options->transport;
	int rc;

	listener->run = run;
	listener->end_ns = end_ns;
	rc = lay_out(listener);
	if (crit_otf2_leads(transport) && !rc)
		rc = open_files(listener);
	rc = crit_otf2_agree(transport, rc); /* there are its directories for the others */
	if (!crit_otf2_leads(transport) && !rc)
		rc = open_files(listener);
	return crit_otf2_agree(transport, rc);
}

static int on_thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_streams *streams = listener->parts.streams;
	struct crit_otf2_moment at;
	int rc;

	if (!crit_otf2_streams_at(streams, thread, time_ns, &at, &rc))
		return rc;
	rc = crit_otf2_streams_begin(streams, &at);
	if (!rc)
		rc = crit_otf2_streams_metric(streams, &at, CRIT_OTF2_METRIC_CMETRIC, 0);
	return rc ? rc : crit_otf2_streams_wait(streams, &at, 0);
}

static int on_thread_end(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sums *sums)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_streams *streams = listener->parts.streams;
	struct crit_otf2_moment at;
	int rc;

	if (!crit_otf2_streams_at(streams, thread, time_ns, &at, &rc))
		return rc;
	if (sums)
		rc = crit_otf2_streams_metric(streams, &at, CRIT_OTF2_METRIC_CMETRIC,
					      sums->total_cmetric_ns);
	return rc ? rc : crit_otf2_streams_end(streams, &at, sums);
}

static int on_setup(void *user, uint32_t thread, const struct crit_trace_setup *setup)
{
	struct crit_otf2_listener *listener = user;

	return crit_otf2_streams_setup(listener->parts.streams, thread, setup);
}

static int on_state(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
		    uint64_t ran_ns)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_streams *streams = listener->parts.streams;
	struct crit_otf2_moment at;
	int rc;

	(void)ran_ns; /* what was told stays */
	if (listener->run->has_ranks)
		return 0;
	if (crit_otf2_streams_at(streams, thread, time_ns, &at, &rc))
		crit_otf2_streams_state(streams, &at, state);
	return rc;
}

static int on_block(void *user, uint32_t thread, uint64_t time_ns, int system_call)
{
	struct crit_otf2_listener *listener = user;

	crit_otf2_streams_block(listener->parts.streams, thread, system_call);
	(void)time_ns;
	return 0;
}

static int on_sample(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_sample *sample)
{
	struct crit_otf2_listener *listener = user;

	return crit_otf2_streams_sample(listener->parts.streams, thread, time_ns, sample);
}

/* The provisional region of a span.  Errors: CRIT_NONE when out of memory. */
static uint32_t region_of(struct crit_otf2_parts *parts, const struct crit_otf2_moment *at,
			  const struct crit_trace_span *span)
{
	const struct crit_otf2_frame *team;

	if (span->call < CRIT_CALL_OMP_FIRST)
		return crit_otf2_regions_call(parts->regions, span->call);
	team = crit_otf2_teams_innermost(parts->teams, at->row);
	return crit_otf2_constructs_region(parts->constructs, at->group, span,
					   team ? team->site : 0);
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_parts *parts = &listener->parts;
	struct crit_otf2_moment at;
	uint32_t region;
	int rc;

	if (!crit_otf2_streams_at(parts->streams, thread, time_ns, &at, &rc))
		return rc;
	region = region_of(parts, &at, span);
	if (region == CRIT_NONE)
		return -ENOMEM;
	rc = crit_otf2_streams_metric(parts->streams, &at, CRIT_OTF2_METRIC_CMETRIC,
				      total_cmetric_ns);
	if (!rc && span->call == CRIT_CONSTRUCT_PARALLEL)
		rc = crit_otf2_teams_enter(parts->teams, &at, span);
	if (!rc && span->call == CRIT_CONSTRUCT_TASK)
		rc = crit_otf2_tasks_enter(parts->tasks, &at, span->arg);
	return rc ? rc : crit_otf2_streams_enter(parts->streams, &at, region);
}

/* What a thread has once a wait is over. */
static bool is_wait_for_lock(unsigned int call)
{
	return call == CRIT_CONSTRUCT_CRITICAL_WAIT || call == CRIT_CONSTRUCT_LOCK_WAIT ||
	       call == CRIT_CONSTRUCT_NEST_LOCK_WAIT || call == CRIT_CONSTRUCT_ORDERED_WAIT ||
	       call == CRIT_CONSTRUCT_ATOMIC_WAIT;
}

/* What is freed when a thread ends. */
static bool is_section(unsigned int call)
{
	return call == CRIT_CONSTRUCT_CRITICAL || call == CRIT_CONSTRUCT_ORDERED;
}

/* What comes before the leave itself.  Errors: -ENOMEM, -EIO. */
static int leave_locks(struct crit_otf2_parts *parts, const struct crit_otf2_moment *at,
		       const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	int rc = 0;

	if (sums && is_wait_for_lock(span->call))
		rc = crit_otf2_locks_acquire(parts->locks, at, span->arg);
	if (!rc && is_section(span->call))
		rc = crit_otf2_locks_leave_section(parts->locks, at, span->arg);
	return rc;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_parts *parts = &listener->parts;
	uint32_t site = CRIT_NONE, region;
	struct crit_otf2_moment at;
	int rc;

	if (!crit_otf2_streams_at(parts->streams, thread, time_ns, &at, &rc))
		return rc;
	region = region_of(parts, &at, span);
	if (region == CRIT_NONE)
		return -ENOMEM;
	rc = leave_locks(parts, &at, span, sums);
	if (sums && !rc)
		rc = crit_otf2_streams_metric(parts->streams, &at, CRIT_OTF2_METRIC_CMETRIC,
					      sums->total_cmetric_ns);
	if (span->site && span->call < CRIT_CALL_OMP_FIRST) /* regions of others are named so */
		site = crit_otf2_call_sites_text(parts->call_sites, at.group, span->site);
	if (!rc)
		rc = crit_otf2_streams_leave(parts->streams, &at, region, sums, site);
	if (!rc && span->call == CRIT_CONSTRUCT_PARALLEL)
		rc = crit_otf2_teams_leave(parts->teams, &at);
	if (!rc && span->call == CRIT_CONSTRUCT_TASK)
		rc = crit_otf2_tasks_leave(parts->tasks, &at);
	return rc;
}

static int on_release(void *user, uint32_t thread, uint64_t time_ns, uint16_t call, uint64_t lock)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_moment at;
	int rc;

	(void)call;
	if (!crit_otf2_streams_at(listener->parts.streams, thread, time_ns, &at, &rc))
		return rc;
	return crit_otf2_locks_release(listener->parts.locks, &at, lock);
}

static int on_task(void *user, uint32_t thread, uint64_t time_ns, uint16_t note, uint64_t task)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_moment at;
	int rc;

	if (!crit_otf2_streams_at(listener->parts.streams, thread, time_ns, &at, &rc))
		return rc;
	return crit_otf2_tasks_note(listener->parts.tasks, &at, note, task);
}

static int on_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	struct crit_otf2_listener *listener = user;

	return crit_otf2_comms_add(listener->parts.comms, communicator);
}

/*
 * May the archive name the communicator and the peer of a message?  A reference to nowhere breaks
 * readers.  Errors: -ENOSPC, -ENOMEM.
 */
static int note_names(struct crit_otf2_parts *parts, const struct crit_trace_message *message)
{
	if (!crit_otf2_message_has_communicator(message))
		return 0;
	if (message->communicator == CRIT_TRACE_NONE)
		return -ENOSPC;
	return crit_otf2_message_has_peer(message)
		       ? crit_otf2_comms_note_peer(parts->comms, message->communicator,
						   message->peer)
		       : 0;
}

static int on_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_parts *parts = &listener->parts;
	struct crit_otf2_moment at;
	int rc = note_names(parts, message);

	if (rc == -ENOSPC) {
		crit_otf2_streams_lose(parts->streams);
		return 0;
	}
	if (rc || !crit_otf2_streams_at(parts->streams, thread, time_ns, &at, &rc))
		return rc;
	return crit_otf2_message_write(parts->files, &at, message);
}

/* Everything that may have made an event disappear; folding comes after level trace's end. */
static bool has_lost_records(const struct crit_results *results)
{
	const struct crit_losses *losses = &results->losses;

	for (size_t i = 0; i < results->node_count; i++) {
		if (results->nodes[i].cap_ns)
			return true;
	}
	return losses->shim_spans || losses->corrupt_chunks || losses->truncated_bytes ||
	       losses->missing_chunks || losses->unknown_chunks || losses->unknown_records ||
	       losses->no_buffer_threads || losses->refused_clients || losses->crowded_records ||
	       losses->unbalanced_spans;
}

/* A rank that died, or lives on, is inside a call nobody saw the end of. */
static bool are_ranks_closed(const struct crit_results *results)
{
	for (size_t i = 0; i < results->rank_count; i++) {
		if (results->ranks[i].is_open)
			return false;
	}
	return true;
}

/* Is an event missing, as far as this process knows? */
static bool has_missing(const struct crit_otf2_parts *parts)
{
	return crit_otf2_streams_extent(parts->streams).has_losses ||
	       crit_otf2_comms_has_strangers(parts->comms);
}

/* What the archive claims to hold all of. */
static void claim(struct crit_otf2_listener *listener, const struct crit_results *results,
		  bool are_messages_whole)
{
	const struct crit_otf2_parts *parts = &listener->parts;
	uint64_t window_end_ns = results->window_begin_ns + results->window_ns;
	bool has_losses = has_missing(parts) || has_lost_records(results);
	bool is_whole = !has_losses && are_ranks_closed(results) &&
			listener->end_ns == window_end_ns;

	listener->claims = (struct crit_otf2_claims){
		.are_messages_whole = is_whole && are_messages_whole,
		.are_teams_whole = is_whole && crit_otf2_teams_are_whole(parts->teams) &&
				   crit_otf2_tasks_are_whole(parts->tasks),
		.are_locks_whole = is_whole && crit_otf2_locks_are_whole(parts->locks),
		.has_losses = has_losses,
		.is_cut = listener->end_ns < window_end_ns,
	};
}

/* All events are written: what has provisional references gets its own.  Errors: -ENOMEM. */
static int name_all(struct crit_otf2_parts *parts, const struct crit_results *results,
		    const struct crit_otf2_options *options)
{
	int rc = options->know_regions
			 ? options->know_regions(options->site_user, &results->regions)
			 : 0;

	if (!rc && results->has_ranks && !crit_otf2_comms_count(parts->comms))
		rc = crit_otf2_comms_add_worlds(parts->comms);
	if (!rc)
		rc = crit_otf2_regions_name_calls(parts->regions);
	if (!rc)
		rc = crit_otf2_call_sites_name(parts->call_sites, parts->strings);
	if (!rc)
		rc = crit_otf2_constructs_name(parts->constructs, &results->regions);
	if (!rc && parts->contexts)
		rc = crit_otf2_contexts_name(parts->contexts);
	return rc ? rc
		  : crit_otf2_teams_name(parts->teams, parts->strings,
					 crit_otf2_comms_count(parts->comms));
}

/* Writes all definitions and closes the archive: the first process after the others. */
static int finish(struct crit_otf2_listener *listener)
{
	const struct crit_transport *transport = listener->options->transport;
	struct crit_otf2_parts *parts = &listener->parts;
	int rc =
		crit_otf2_define_locations(parts, listener->run->window_begin_ns, listener->end_ns);

	if (!rc && !crit_otf2_leads(transport))
		rc = crit_otf2_files_close(parts->files);
	rc = crit_otf2_agree(transport, rc);
	if (rc || !crit_otf2_leads(transport))
		return rc;
	rc = crit_otf2_define(parts, listener->options, listener->run, &listener->claims);
	return rc ? rc : crit_otf2_files_close(parts->files);
}

static int on_end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_parts *parts = &listener->parts;
	const struct crit_transport *transport = listener->options->transport;
	struct crit_otf2_shares *shares = NULL;
	int rc = crit_otf2_agree(transport, crit_otf2_streams_close(parts->streams));

	if (!rc)
		rc = crit_otf2_shares_gather(transport, parts, &shares);
	if (!rc && crit_otf2_leads(transport)) {
		rc = name_all(parts, results, listener->options);
		claim(listener, results, are_messages_whole);
	}
	rc = crit_otf2_agree(transport, rc);
	if (!rc)
		rc = crit_otf2_shares_spread(shares, parts);
	crit_otf2_shares_destroy(shares);
	rc = crit_otf2_agree(transport, rc);
	return rc ? rc : finish(listener);
}

static int on_wait(void *user, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
	struct crit_otf2_listener *listener = user;
	struct crit_otf2_streams *streams = listener->parts.streams;
	struct crit_otf2_moment at;
	int rc;

	if (!crit_otf2_streams_at(streams, thread, end_ns, &at, &rc))
		return rc;
	return crit_otf2_streams_wait(streams, &at, end_ns - begin_ns);
}

struct crit_wait_listener crit_otf2_listener_waits(struct crit_otf2_listener *listener)
{
	return (struct crit_wait_listener){ .user = listener, .wait = on_wait };
}

void crit_otf2_listener_sink(struct crit_otf2_listener *listener, struct crit_trace_sink *ret_sink)
{
	*ret_sink = (struct crit_trace_sink){
		.user = listener,
		.has_all = listener->options->has_all,
		.begin = on_begin,
		.thread_begin = on_thread_begin,
		.thread_end = on_thread_end,
		.setup = on_setup,
		.enter = on_enter,
		.leave = on_leave,
		.state = on_state,
		.block = on_block,
		.sample = listener->options->has_samples ? on_sample : NULL,
		.release = on_release,
		.task = on_task,
		.communicator = on_communicator,
		.message = on_message,
		.end = on_end,
	};
}

void crit_otf2_listener_summary(const struct crit_otf2_listener *listener,
				const struct crit_results *results,
				struct crit_otf2_archive *ret_archive)
{
	const struct crit_otf2_parts *parts = &listener->parts;

	*ret_archive = (struct crit_otf2_archive){
		.event_count = crit_otf2_streams_extent(parts->streams).event_count,
		.location_count = crit_otf2_layout_location_count(parts->layout),
		.begin_ns = results->window_begin_ns,
		.end_ns = listener->end_ns,
		.window_end_ns = results->window_begin_ns + results->window_ns,
		.has_losses = listener->claims.has_losses || has_missing(parts),
		.are_messages_whole = listener->claims.are_messages_whole,
	};
}
