// SPDX-License-Identifier: BSD-3-Clause
// Opens a location's file at its first event, writes what every location has, and closes it.
#include "otf2/events/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

struct held_sample {
	uint64_t time_ns;
	uint32_t context;
};

struct stream {
	OTF2_EvtWriter *events; /* NULL: not open */
	struct crit_trace_sums *last_sums; /* of the program's end, once is_over */
	uint64_t last_ns;
	uint64_t waited_ns;
	uint32_t context; /* of the innermost region; CRIT_NONE: outside all */
	struct held_sample *samples; /* later than the last event: messages may come before them */
	size_t sample_count, sample_capacity;
	uint32_t seen; /* the context of the last event; below that of a region after a sample */
	uint32_t state; /* region of its kernel state since last_ns, 1 more; 0 none */
	uint32_t blocks_in; /* system call that it blocks in next, 1 more; 0 not known */
	uint32_t group; /* of the location, once open */
	bool has_more; /* a state or samples, to be written before an event */
	bool has_kernel; /* the group's node's kernel half was recorded */
	bool is_begun; /* its first event is written */
	bool has_init; /* it has called MPI_Init, and MPI_Finalize may come */
	bool is_over; /* only MPI_Finalize and the program's end are to come */
	bool is_closed; /* its file is whole */
};

struct crit_otf2_streams {
	struct crit_otf2_files *files;
	struct crit_otf2_definitions named;
	OTF2_AttributeList *attributes;
	struct stream *rows;
	uint64_t *event_counts;
	struct crit_otf2_extent extent;
	unsigned int metrics; /* bits: those that are written */
};

struct shared_extent { /* to process 0 */
	uint64_t first_ns, last_ns, event_count, has_losses;
	uint64_t location_count; /* behind it */
};

struct shared_location {
	uint64_t row, event_count;
};

struct crit_otf2_streams *crit_otf2_streams_create(struct crit_otf2_files *files,
						   const struct crit_otf2_definitions *named,
						   uint64_t first_ns, uint64_t last_ns,
						   unsigned int metrics)
{
	struct crit_otf2_streams *streams = calloc(1, sizeof(*streams));
	size_t most = crit_otf2_layout_location_count(named->layout) + 1; /* the stranger's */

	if (!streams)
		return NULL;
	*streams = (struct crit_otf2_streams){
		.files = files,
		.named = *named,
		.attributes = OTF2_AttributeList_New(),
		.rows = calloc(most, sizeof(*streams->rows)),
		.event_counts = calloc(most, sizeof(*streams->event_counts)),
		.extent = { .first_ns = first_ns, .last_ns = last_ns },
		.metrics = metrics,
	};
	for (size_t i = 0; streams->rows && i < most; i++)
		streams->rows[i].context = streams->rows[i].seen = CRIT_NONE;
	if (streams->attributes && streams->rows && streams->event_counts)
		return streams;
	crit_otf2_streams_destroy(streams);
	return NULL;
}

void crit_otf2_streams_destroy(struct crit_otf2_streams *streams)
{
	size_t count;

	if (!streams)
		return;
	count = streams->rows ? crit_otf2_layout_location_count(streams->named.layout) : 0;
	for (size_t i = 0; i < count; i++) {
		if (streams->rows[i].events)
			crit_otf2_files_drop_events(streams->files, (uint32_t)i,
						    streams->rows[i].events);
		free(streams->rows[i].last_sums);
		free(streams->rows[i].samples);
	}
	if (streams->attributes)
		(void)OTF2_AttributeList_Delete(streams->attributes);
	free(streams->rows);
	free(streams->event_counts);
	free(streams);
}

/* Opens the file at first use.  Errors: -EIO. */
static int open_stream(struct crit_otf2_streams *streams, uint32_t row)
{
	const struct crit_otf2_layout *layout = streams->named.layout;
	const struct crit_otf2_location *location = crit_otf2_layout_location(layout, row);
	struct stream *stream = &streams->rows[row];

	if (stream->events || stream->is_closed)
		return 0;
	stream->group = location->group;
	stream->has_kernel = crit_otf2_layout_group(layout, location->group)->has_kernel;
	stream->events = crit_otf2_files_events(streams->files, row, location->reference);
	return stream->events ? 0 : -EIO;
}

static int close_stream(struct crit_otf2_streams *streams, uint32_t row)
{
	struct stream *stream = &streams->rows[row];
	OTF2_EvtWriter *events;
	int rc = open_stream(streams, row);

	if (rc || stream->is_closed)
		return rc;
	events = stream->events;
	stream->events = NULL;
	stream->is_closed = true;
	rc = crit_otf2_files_close_events(streams->files, row, events, &streams->event_counts[row]);
	streams->extent.event_count += streams->event_counts[row];
	return rc;
}

/* May a location without open file have an event?  Opens it then.  Errors: -EIO. */
static bool admit(struct crit_otf2_streams *streams, uint32_t row, int *ret_rc)
{
	const struct crit_otf2_location *location =
		crit_otf2_layout_location(streams->named.layout, row);
	const struct stream *stream = &streams->rows[row];

	if (!location->is_listed || !location->is_own)
		return false;
	if (stream->is_closed || stream->is_over) { /* its end was told: too late for an event */
		streams->extent.has_losses = true;
		return false;
	}
	*ret_rc = open_stream(streams, row);
	return *ret_rc == 0;
}

/* Of a context one region is new, and the one around it went on. */
#define ENTER_DISTANCE 2u

static inline OTF2_ErrorCode enter(const struct crit_otf2_streams *streams, struct stream *stream,
				   uint64_t time_ns, uint32_t region)
{
	if (!streams->named.contexts)
		return OTF2_EvtWriter_Enter(stream->events, NULL, time_ns, region);
	stream->context =
		crit_otf2_contexts_enter(streams->named.contexts, stream->context, region);
	stream->seen = stream->context;
	return stream->context == CRIT_NONE
		       ? OTF2_ERROR_MEM_ALLOC_FAILED
		       : OTF2_EvtWriter_CallingContextEnter(stream->events, NULL, time_ns,
							    stream->context, ENTER_DISTANCE);
}

static inline OTF2_ErrorCode leave(const struct crit_otf2_streams *streams, struct stream *stream,
				   OTF2_AttributeList *attributes, uint64_t time_ns,
				   uint32_t region)
{
	uint32_t context = stream->context;

	if (!streams->named.contexts)
		return OTF2_EvtWriter_Leave(stream->events, attributes, time_ns, region);
	stream->context = crit_otf2_contexts_parent(streams->named.contexts, context);
	stream->seen = stream->context;
	return OTF2_EvtWriter_CallingContextLeave(stream->events, attributes, time_ns, context);
}

/* The kernel state between the last event and one that comes now.  Errors: -EIO. */
static int write_state(struct crit_otf2_streams *streams, struct stream *stream, uint64_t time_ns)
{
	uint32_t region = stream->state - 1;
	OTF2_ErrorCode code = enter(streams, stream, stream->last_ns, region);

	if (code == OTF2_SUCCESS)
		code = leave(streams, stream, NULL, time_ns, region);
	return crit_otf2_check(streams->files, code, "an event");
}

/* Those up to an event that comes now.  Errors: -EIO. */
static int write_samples(struct crit_otf2_streams *streams, struct stream *stream, uint64_t time_ns)
{
	const struct crit_otf2_contexts *contexts = streams->named.contexts;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	size_t i, count = 0;

	while (count < stream->sample_count && stream->samples[count].time_ns <= time_ns)
		count++;
	for (i = 0; i < count && code == OTF2_SUCCESS; i++) {
		const struct held_sample *held = &stream->samples[i];
		uint32_t distance =
			crit_otf2_contexts_distance(contexts, stream->seen, held->context);

		stream->seen = held->context;
		if (held->time_ns > stream->last_ns)
			stream->last_ns = held->time_ns;
		code = OTF2_EvtWriter_CallingContextSample(stream->events, NULL, stream->last_ns,
							   held->context, distance,
							   CRIT_OTF2_SAMPLING_CLOCK);
	}
	stream->sample_count -= count;
	memmove(stream->samples, &stream->samples[count],
		stream->sample_count * sizeof(*stream->samples));
	return crit_otf2_check(streams->files, code, "a sample");
}

/* What lies between the last event and one that comes now.  Errors: -EIO. */
static int write_more(struct crit_otf2_streams *streams, struct stream *stream, uint64_t time_ns)
{
	int rc = stream->sample_count ? write_samples(streams, stream, time_ns) : 0;

	return !rc && stream->state && time_ns > stream->last_ns
		       ? write_state(streams, stream, time_ns)
		       : rc;
}

/* False: it has none, or what comes before could not be written. */
static __attribute__((noinline)) bool prepare_event(struct crit_otf2_streams *streams,
						    uint32_t thread, uint64_t time_ns, int *ret_rc)
{
	struct stream *stream = &streams->rows[thread];

	if ((!stream->events || stream->is_over) && !admit(streams, thread, ret_rc))
		return false;
	if (stream->has_more)
		*ret_rc = write_more(streams, stream, time_ns);
	return !*ret_rc;
}

bool crit_otf2_streams_at(struct crit_otf2_streams *streams, uint32_t thread, uint64_t time_ns,
			  struct crit_otf2_moment *ret_at, int *ret_rc)
{
	struct stream *stream = &streams->rows[thread];

	*ret_rc = 0;
	if ((!stream->events || stream->is_over || stream->has_more) &&
	    !prepare_event(streams, thread, time_ns, ret_rc))
		return false;
	if (time_ns > stream->last_ns)
		stream->last_ns = time_ns;
	ret_at->events = stream->events;
	ret_at->time_ns = stream->last_ns;
	ret_at->row = thread;
	ret_at->group = stream->group;
	return true;
}

int crit_otf2_streams_enter(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			    uint32_t region)
{
	return crit_otf2_check(streams->files,
			       enter(streams, &streams->rows[at->row], at->time_ns, region),
			       "an event");
}

int crit_otf2_streams_sample(struct crit_otf2_streams *streams, uint32_t thread, uint64_t time_ns,
			     const struct crit_trace_sample *sample)
{
	struct stream *stream = &streams->rows[thread];
	struct held_sample held = { .time_ns = time_ns };

	if (!stream->events || stream->is_over)
		return 0;
	held.context = crit_otf2_contexts_sample(streams->named.contexts, stream->context,
						 stream->group, sample);
	if (held.context == CRIT_NONE || crit_array_grow(&stream->samples, &stream->sample_capacity,
							 stream->sample_count + 1, sizeof(held)))
		return -ENOMEM;
	stream->samples[stream->sample_count++] = held;
	stream->has_more = true;
	return 0;
}

void crit_otf2_streams_block(struct crit_otf2_streams *streams, uint32_t thread, int system_call)
{
	streams->rows[thread].blocks_in = (uint32_t)(system_call + 1);
}

void crit_otf2_streams_state(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			     enum crit_kernel_state state)
{
	struct stream *stream = &streams->rows[at->row];
	struct crit_otf2_regions *regions = streams->named.regions;

	if (state == CRIT_STATE_BLOCKED)
		stream->state = crit_otf2_regions_blocked(regions, (int)stream->blocks_in - 1) + 1;
	else
		stream->state = crit_otf2_regions_state(regions, state) + 1;
	stream->blocks_in = 0;
	stream->has_more = stream->state || stream->sample_count;
}

int crit_otf2_streams_metric(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			     enum crit_otf2_metric metric, uint64_t sum_ns)
{
	static const OTF2_Type type = OTF2_TYPE_UINT64;
	OTF2_MetricValue value = { .unsigned_int = sum_ns };

	if (!(streams->metrics & 1u << metric))
		return 0;
	return crit_otf2_check(streams->files,
			       OTF2_EvtWriter_Metric(at->events, NULL, at->time_ns, metric, 1,
						     &type, &value),
			       "a metric");
}

int crit_otf2_streams_wait(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			   uint64_t waited_ns)
{
	struct stream *stream = &streams->rows[at->row];

	stream->waited_ns += waited_ns;
	return crit_otf2_streams_metric(streams, at, CRIT_OTF2_METRIC_WAITING, stream->waited_ns);
}

/* One of value 0 is not written: a leave without it says the same, and most are 0. */
static inline OTF2_ErrorCode add(OTF2_AttributeList *attributes, enum crit_otf2_attribute attribute,
				 uint64_t value)
{
	return value ? OTF2_AttributeList_AddUint64(attributes, attribute, value) : OTF2_SUCCESS;
}

static OTF2_ErrorCode add_states(OTF2_AttributeList *attributes,
				 const uint64_t state_ns[CRIT_STATE_COUNT])
{
	OTF2_ErrorCode code = add(attributes, CRIT_OTF2_RUNNING, state_ns[CRIT_STATE_RUNNING]);

	if (code == OTF2_SUCCESS)
		code = add(attributes, CRIT_OTF2_RUNNABLE, state_ns[CRIT_STATE_RUNNABLE]);
	return code == OTF2_SUCCESS
		       ? add(attributes, CRIT_OTF2_BLOCKED, state_ns[CRIT_STATE_BLOCKED])
		       : code;
}

/* Attributes of a leave.  Errors: what the library answered first. */
static OTF2_ErrorCode add_sums(OTF2_AttributeList *attributes, bool has_kernel,
			       const struct crit_trace_sums *sums)
{
	OTF2_ErrorCode code = add(attributes, CRIT_OTF2_CMETRIC, sums->cmetric_ns);

	if (code == OTF2_SUCCESS)
		code = add(attributes, CRIT_OTF2_ALL_WAITING, sums->all_waiting_ns);
	if (code == OTF2_SUCCESS && has_kernel)
		code = add_states(attributes, sums->state_ns);
	return code == OTF2_SUCCESS ? add(attributes, CRIT_OTF2_POLLED, sums->polled) : code;
}

int crit_otf2_streams_leave(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			    uint32_t region, const struct crit_trace_sums *sums, uint32_t site)
{
	OTF2_AttributeList *attributes = streams->attributes;
	OTF2_ErrorCode code = OTF2_SUCCESS;

	if (sums)
		code = add_sums(attributes, streams->rows[at->row].has_kernel, sums);

	if (site != CRIT_NONE && code == OTF2_SUCCESS)
		code = OTF2_AttributeList_AddStringRef(attributes, CRIT_OTF2_CALL_SITE, site);
	if (code == OTF2_SUCCESS)
		code = leave(streams, &streams->rows[at->row], attributes, at->time_ns, region);
	return crit_otf2_check(streams->files, code, "an event");
}

/* The program of a rank begins.  Errors: -ENOMEM, -EIO. */
static int begin_program(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at)
{
	const struct crit_otf2_layout *layout = streams->named.layout;
	uint32_t arguments[CRIT_OTF2_ARGUMENTS_MAX];
	int count = crit_otf2_layout_arguments(layout, at->group, arguments);
	uint32_t name = crit_otf2_layout_group(layout, at->group)->program_name;

	if (count < 0)
		return count;
	return crit_otf2_check(streams->files,
			       OTF2_EvtWriter_ProgramBegin(at->events, NULL, at->time_ns, name,
							   (uint32_t)count, arguments),
			       "an event");
}

int crit_otf2_streams_begin(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at)
{
	const struct crit_otf2_layout *layout = streams->named.layout;
	uint32_t program = crit_otf2_layout_group(layout, at->group)->program;
	int rc = 0;

	if (streams->rows[at->row].is_begun)
		return 0;
	streams->rows[at->row].is_begun = true;
	if (crit_otf2_layout_is_main(layout, at->row))
		rc = begin_program(streams, at);
	return rc ? rc : crit_otf2_streams_enter(streams, at, program);
}

static int end_program(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
		       const struct crit_trace_sums *sums)
{
	const struct crit_otf2_layout *layout = streams->named.layout;
	uint32_t program = crit_otf2_layout_group(layout, at->group)->program;
	int rc = crit_otf2_streams_leave(streams, at, program, sums, CRIT_NONE);

	if (!rc && crit_otf2_layout_is_main(layout, at->row))
		rc = crit_otf2_check(streams->files,
				     OTF2_EvtWriter_ProgramEnd(at->events, NULL, at->time_ns,
							       OTF2_UNDEFINED_INT64),
				     "an event");
	return rc ? rc : close_stream(streams, at->row);
}

int crit_otf2_streams_end(struct crit_otf2_streams *streams, const struct crit_otf2_moment *at,
			  const struct crit_trace_sums *sums)
{
	struct stream *stream = &streams->rows[at->row];

	if (!sums || !stream->has_init)
		return end_program(streams, at, sums);
	/* MPI_Finalize comes behind it, and the program ends after that. */
	stream->last_sums = malloc(sizeof(*stream->last_sums));
	if (!stream->last_sums)
		return -ENOMEM;
	*stream->last_sums = *sums;
	stream->is_over = true;
	return 0;
}

/* The call: nothing was measured in it. */
static int write_setup(struct crit_otf2_streams *streams, const struct crit_otf2_moment *begin,
		       const struct crit_otf2_moment *end, const struct crit_trace_setup *setup)
{
	uint32_t region = crit_otf2_regions_call(streams->named.regions, setup->call);
	uint32_t site = CRIT_NONE;
	int rc = crit_otf2_streams_enter(streams, begin, region);

	if (setup->site)
		site = crit_otf2_call_sites_text(streams->named.call_sites, begin->group,
						 setup->site);
	return rc ? rc : crit_otf2_streams_leave(streams, end, region, NULL, site);
}

int crit_otf2_streams_setup(struct crit_otf2_streams *streams, uint32_t thread,
			    const struct crit_trace_setup *setup)
{
	struct stream *stream = &streams->rows[thread];
	struct crit_otf2_moment begin, end;
	bool is_over = stream->is_over, is_there;
	int rc;

	stream->is_over = false;
	is_there = crit_otf2_streams_at(streams, thread, setup->begin_ns, &begin, &rc) &&
		   crit_otf2_streams_at(streams, thread, setup->end_ns, &end, &rc);
	stream->is_over = is_over;
	if (!is_there)
		return rc;
	stream->has_init = true;
	if (begin.time_ns < streams->extent.first_ns)
		streams->extent.first_ns = begin.time_ns;
	if (end.time_ns > streams->extent.last_ns)
		streams->extent.last_ns = end.time_ns;
	rc = crit_otf2_streams_begin(streams, &begin);
	if (!rc)
		rc = write_setup(streams, &begin, &end, setup);
	if (!rc && is_over)
		rc = end_program(streams, &end, stream->last_sums);
	return rc;
}

void crit_otf2_streams_lose(struct crit_otf2_streams *streams)
{
	streams->extent.has_losses = true;
}

/* A listed location without a file makes readers fail, even without an event. */
int crit_otf2_streams_close(struct crit_otf2_streams *streams)
{
	const struct crit_otf2_layout *layout = streams->named.layout;
	int rc = 0;

	for (uint32_t i = 0; i < crit_otf2_layout_location_count(layout) && !rc; i++) {
		const struct crit_otf2_location *location = crit_otf2_layout_location(layout, i);
		const struct stream *stream = &streams->rows[i];
		const struct crit_otf2_moment at = { stream->events, stream->last_ns, i,
						     location->group };

		if (stream->is_over && !stream->is_closed) /* no MPI_Finalize came */
			rc = end_program(streams, &at, stream->last_sums);
		else if (location->is_listed && location->is_own)
			rc = close_stream(streams, i);
	}
	return rc;
}

struct crit_otf2_extent crit_otf2_streams_extent(const struct crit_otf2_streams *streams)
{
	return streams->extent;
}

const uint64_t *crit_otf2_streams_event_counts(const struct crit_otf2_streams *streams)
{
	return streams->event_counts;
}

int crit_otf2_streams_pack(const struct crit_otf2_streams *streams,
			   struct crit_exchange_buffer *buffer)
{
	size_t most = crit_otf2_layout_location_count(streams->named.layout), i;
	struct shared_extent all = { .first_ns = streams->extent.first_ns,
				     .last_ns = streams->extent.last_ns,
				     .event_count = streams->extent.event_count,
				     .has_losses = streams->extent.has_losses };
	int rc;

	for (i = 0; i < most; i++)
		all.location_count += streams->rows[i].is_closed;
	rc = crit_exchange_buffer_put(buffer, &all, sizeof(all));
	for (i = 0; i < most && !rc; i++) {
		struct shared_location row = { i, streams->event_counts[i] };

		if (streams->rows[i].is_closed)
			rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
	}
	return rc;
}

int crit_otf2_streams_unpack(struct crit_otf2_streams *streams,
			     const struct crit_exchange_buffer *buffer, size_t *at)
{
	struct crit_otf2_extent *all = &streams->extent;
	struct shared_location row;
	struct shared_extent one;

	if (!crit_exchange_buffer_take(buffer, at, &one, sizeof(one)))
		return -EPROTO;
	if (one.first_ns < all->first_ns)
		all->first_ns = one.first_ns;
	if (one.last_ns > all->last_ns)
		all->last_ns = one.last_ns;
	all->event_count += one.event_count;
	all->has_losses = all->has_losses || one.has_losses;
	for (uint64_t i = 0; i < one.location_count; i++) {
		if (!crit_exchange_buffer_take(buffer, at, &row, sizeof(row)) ||
		    row.row >= crit_otf2_layout_location_count(streams->named.layout))
			return -EPROTO;
		streams->event_counts[row.row] = row.event_count;
	}
	return 0;
}
