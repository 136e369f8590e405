// SPDX-License-Identifier: BSD-3-Clause
// The sink: what the replay tells becomes event records.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "otf2/together.h"

OTF2_EvtWriter *crit_otf2_writer_of(struct crit_otf2_writer *writer, uint32_t thread,
				    struct crit_otf2_location **ret_location, uint64_t *time_ns,
				    int *ret_rc)
{
	struct crit_otf2_location *location = &writer->locations[thread];
	OTF2_EvtWriter *events;

	*ret_rc = 0;
	*ret_location = location;
	if (!location->is_listed || !location->is_own)
		return NULL;
	if (location->is_closed ||
	    location->is_over) { /* it was told to end: what comes now cannot be written */
		writer->has_losses = true;
		return NULL;
	}
	events = crit_otf2_events(writer, location);
	if (!events)
		*ret_rc = -EIO;
	if (*time_ns < location->last_ns)
		*time_ns = location->last_ns;
	location->last_ns = *time_ns;
	return events;
}

static int write_metric(struct crit_otf2_writer *writer, OTF2_EvtWriter *events, uint64_t time_ns,
			uint64_t cmetric_ns)
{
	static const OTF2_Type type = OTF2_TYPE_UINT64;
	OTF2_MetricValue value = { .unsigned_int = cmetric_ns };

	if (!writer->options->has_metrics)
		return 0;
	return crit_otf2_check(writer,
			       OTF2_EvtWriter_Metric(events, NULL, time_ns, CRIT_OTF2_METRIC, 1,
						     &type, &value),
			       "a metric");
}

/* Attributes of a leave.  Errors: what the library answered first. */
static OTF2_ErrorCode add_sums(struct crit_otf2_writer *writer,
			       const struct crit_otf2_location *location,
			       const struct crit_trace_sums *sums)
{
	const struct crit_otf2_group *group = &writer->groups[location->group];
	const struct {
		uint64_t value;
		bool is_known;
	} sum[] = {
		[CRIT_OTF2_CMETRIC] = { sums->cmetric_ns, true },
		[CRIT_OTF2_STALL] = { sums->stall_ns, true },
		[CRIT_OTF2_RUNNING] = { sums->state_ns[CRIT_STATE_RUNNING], group->has_kernel },
		[CRIT_OTF2_RUNNABLE] = { sums->state_ns[CRIT_STATE_RUNNABLE], group->has_kernel },
		[CRIT_OTF2_BLOCKED] = { sums->state_ns[CRIT_STATE_BLOCKED], group->has_kernel },
		[CRIT_OTF2_POLLED] = { sums->polled, sums->polled != 0 },
	};
	OTF2_ErrorCode code = OTF2_SUCCESS;
	unsigned int i;

	for (i = 0; i < sizeof(sum) / sizeof(sum[0]) && code == OTF2_SUCCESS; i++) {
		if (sum[i].is_known)
			code = OTF2_AttributeList_AddUint64(writer->attributes, i, sum[i].value);
	}
	return code;
}

static int on_thread_begin(void *user, uint32_t thread, uint64_t time_ns)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	OTF2_EvtWriter *events;
	int rc;

	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	rc = crit_otf2_begin_location(writer, location, time_ns);
	return rc ? rc : write_metric(writer, events, time_ns, 0);
}

int crit_otf2_end_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			   uint64_t time_ns, const struct crit_trace_sums *sums)
{
	const struct crit_otf2_group *group = &writer->groups[location->group];
	OTF2_EvtWriter *events = location->events;
	OTF2_ErrorCode code = sums ? add_sums(writer, location, sums) : OTF2_SUCCESS;
	int rc;

	if (code == OTF2_SUCCESS)
		code = OTF2_EvtWriter_Leave(events, writer->attributes, time_ns, group->program);
	if (code == OTF2_SUCCESS && crit_otf2_is_main(group, location))
		code = OTF2_EvtWriter_ProgramEnd(events, NULL, time_ns, OTF2_UNDEFINED_INT64);
	rc = crit_otf2_check(writer, code, "an event");
	return rc ? rc : crit_otf2_close_location(writer, location);
}

/* MPI_Finalize comes behind it, and the program ends after that. */
static int wait_for_finalize(struct crit_otf2_location *location,
			     const struct crit_trace_sums *sums)
{
	location->last_sums = malloc(sizeof(*location->last_sums));
	if (!location->last_sums)
		return -ENOMEM;
	*location->last_sums = *sums;
	location->is_over = true;
	return 0;
}

static int on_thread_end(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sums *sums)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	OTF2_EvtWriter *events;
	int rc;

	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	if (sums)
		rc = write_metric(writer, events, time_ns, sums->total_cmetric_ns);
	if (rc)
		return rc;
	return sums && location->has_init ? wait_for_finalize(location, sums)
					  : crit_otf2_end_location(writer, location, time_ns, sums);
}

static uint32_t region_of(struct crit_otf2_writer *writer,
			  const struct crit_otf2_location *location,
			  const struct crit_trace_span *span)
{
	return span->call < CRIT_CALL_OMP_FIRST
		       ? crit_otf2_call_region(writer, span->call)
		       : crit_otf2_construct_region(writer, location, span);
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	OTF2_EvtWriter *events;
	uint32_t region;
	int rc;

	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	region = region_of(writer, location, span);
	if (region == CRIT_NONE)
		return -ENOMEM;
	rc = write_metric(writer, events, time_ns, total_cmetric_ns);
	if (!rc && span->call == CRIT_CONSTRUCT_PARALLEL)
		rc = crit_otf2_team_enter(writer, location, time_ns, span);
	if (!rc && span->call == CRIT_CONSTRUCT_TASK)
		rc = crit_otf2_task_enter(writer, location, time_ns, span->arg);
	return rc ? rc
		  : crit_otf2_check(writer, OTF2_EvtWriter_Enter(events, NULL, time_ns, region),
				    "an event");
}

/* What a thread has once a wait is over. */
static bool is_wait_for_lock(unsigned int call)
{
	return call == CRIT_CONSTRUCT_CRITICAL_WAIT || call == CRIT_CONSTRUCT_LOCK_WAIT ||
	       call == CRIT_CONSTRUCT_NEST_LOCK_WAIT || call == CRIT_CONSTRUCT_ORDERED_WAIT ||
	       call == CRIT_CONSTRUCT_ATOMIC_WAIT;
}

/* What a thread gives back with its end. */
static bool is_section(unsigned int call)
{
	return call == CRIT_CONSTRUCT_CRITICAL || call == CRIT_CONSTRUCT_ORDERED;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t site = CRIT_NONE;
	OTF2_EvtWriter *events;
	int rc;

	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	if (sums && is_wait_for_lock(span->call))
		rc = crit_otf2_lock_taken(writer, location, time_ns, span->arg);
	if (is_section(span->call))
		rc = crit_otf2_section_left(writer, location, time_ns, span->arg);
	if (sums && !rc) {
		code = add_sums(writer, location, sums);
		rc = write_metric(writer, events, time_ns, sums->total_cmetric_ns);
	}
	if (span->site && span->call < CRIT_CALL_OMP_FIRST) /* regions of others are named so */
		site = crit_otf2_site(writer, location->group, span->site);
	if (site != CRIT_NONE && code == OTF2_SUCCESS)
		code = OTF2_AttributeList_AddStringRef(writer->attributes, CRIT_OTF2_SITE, site);
	if (code == OTF2_SUCCESS)
		code = OTF2_EvtWriter_Leave(events, writer->attributes, time_ns,
					    region_of(writer, location, span));
	if (!rc)
		rc = crit_otf2_check(writer, code, "an event");
	if (!rc && span->call == CRIT_CONSTRUCT_PARALLEL)
		rc = crit_otf2_team_leave(writer, location, time_ns);
	if (!rc && span->call == CRIT_CONSTRUCT_TASK)
		rc = crit_otf2_task_leave(writer, location, time_ns);
	return rc;
}

static int lay_out(struct crit_otf2_writer *writer)
{
	const struct crit_results *run = writer->run;
	int rc;

	if (writer->end_ns <= run->window_begin_ns)
		return crit_err_set(writer->err, -ENODATA, "no trace can be made: %s",
				    run->window_ns
					    ? "the run was recorded at level profile; record "
					      "it with CRIT_LEVEL=trace"
					    : "the run's window is empty");
	rc = crit_otf2_layout(writer);
	if (!rc && !writer->group_count)
		rc = crit_err_set(writer->err, -ENODATA,
				  "no trace can be made: no rank and no thread of the program was "
				  "recorded; --all exports the rest");
	return rc;
}

static int on_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct crit_otf2_writer *writer = user;
	int rc;

	writer->run = run;
	writer->end_ns = end_ns;
	writer->first_ns = run->window_begin_ns;
	writer->last_ns = end_ns;
	rc = lay_out(writer);
	if (crit_otf2_leads(writer) && !rc)
		rc = crit_otf2_open(writer);
	rc = crit_otf2_agree(writer, rc); /* there are its directories for the others */
	if (!crit_otf2_leads(writer) && !rc)
		rc = crit_otf2_open(writer);
	return crit_otf2_agree(writer, rc);
}

/* Everything that may have made an event disappear; folding comes after level trace's end. */
static bool has_losses(const struct crit_results *results)
{
	const struct crit_losses *losses = &results->losses;
	size_t i;

	for (i = 0; i < results->node_count; i++) {
		if (results->nodes[i].cap_ns)
			return true;
	}
	return losses->shim_spans || losses->corrupt_chunks || losses->truncated_bytes ||
	       losses->missing_chunks || losses->no_stripe_threads || losses->refused_clients ||
	       losses->crowded_records || losses->unbalanced_spans;
}

/* A rank that died, or lives on, is inside a call nobody saw the end of. */
static bool are_ranks_closed(const struct crit_results *results)
{
	size_t i;

	for (i = 0; i < results->rank_count; i++) {
		if (results->ranks[i].is_open)
			return false;
	}
	return true;
}

/* What an archive claims to hold all of. */
static void claim(struct crit_otf2_writer *writer, const struct crit_results *results,
		  bool are_messages_whole)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	bool is_whole = !writer->has_losses && are_ranks_closed(results) &&
			writer->end_ns == results->window_begin_ns + results->window_ns;

	writer->are_messages_whole = is_whole && are_messages_whole;
	/* without one, nobody knows whether there was none or nobody to tell of it */
	writer->are_teams_whole = is_whole && openmp->forks && !openmp->lost_teams &&
				  !openmp->lost_tasks;
	writer->are_locks_whole = is_whole && openmp->acquisitions && !openmp->lost_locks;
}

/* Everything is told: what has provisional numbers gets its own.  Errors: -ENOMEM. */
static int name_all(struct crit_otf2_writer *writer, const struct crit_results *results,
		    bool are_messages_whole)
{
	int rc = 0;

	writer->has_losses = writer->has_losses || has_losses(results);
	if (results->has_ranks && !writer->communicator_count)
		rc = crit_otf2_add_worlds(writer);
	if (!rc)
		rc = crit_otf2_name_calls(writer);
	if (!rc)
		rc = crit_otf2_name_sites(writer);
	if (!rc)
		rc = crit_otf2_name_constructs(writer, results);
	if (!rc)
		rc = crit_otf2_name_teams(writer);
	claim(writer, results, are_messages_whole);
	return rc;
}

static int on_end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_shares shares = { 0 };
	int rc = crit_otf2_agree(writer, crit_otf2_close_events(writer));

	writer->openmp.lost_tasks += writer->openmp.tasks.objects; /* not complete, say cancelled */
	if (!rc && writer->options->peers)
		rc = crit_otf2_gather_shares(writer, &shares);
	if (!rc && crit_otf2_leads(writer))
		rc = name_all(writer, results, are_messages_whole);
	rc = crit_otf2_agree(writer, rc);
	if (!rc && writer->options->peers)
		rc = crit_otf2_spread_numbers(writer, &shares);
	crit_otf2_shares_fini(writer, &shares);
	rc = crit_otf2_agree(writer, rc);
	return rc ? rc : crit_otf2_finish(writer);
}

static int on_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	return crit_otf2_add_communicator(user, communicator);
}

void crit_otf2_sink(struct crit_otf2_writer *writer, struct crit_trace_sink *ret_sink)
{
	*ret_sink = (struct crit_trace_sink){
		.user = writer,
		.has_all = writer->options->has_all,
		.begin = on_begin,
		.thread_begin = on_thread_begin,
		.thread_end = on_thread_end,
		.setup = crit_otf2_setup,
		.enter = on_enter,
		.leave = on_leave,
		.release = crit_otf2_lock_released,
		.task = crit_otf2_task_told,
		.communicator = on_communicator,
		.message = crit_otf2_message,
		.end = on_end,
	};
}
