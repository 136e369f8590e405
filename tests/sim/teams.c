// SPDX-License-Identifier: BSD-3-Clause
// Threads of a rank that begin and end parallel regions, work, wait, idle, and are dismissed.
#include "tests/sim/teams.h"

#include "core/base/call.h"

#define NONE UINT32_MAX

static const struct team_frame *top_of(const struct team_thread *t)
{
	return t->depth ? &t->frames[t->depth - 1] : NULL;
}

static enum crit_span_class class_of(const struct sim_teams *w, uint32_t thread)
{
	const struct team_frame *top = top_of(&w->threads[thread]);

	if (top)
		return crit_call_class(top->call);
	return thread ? CRIT_CLASS_OMP_IDLE : CRIT_CLASS_USER;
}

static uint32_t innermost_instance(const struct team_thread *t)
{
	for (uint32_t i = t->depth; i > 0; i--) {
		if (t->frames[i - 1].instance != NONE)
			return t->frames[i - 1].instance;
	}
	return NONE;
}

static bool is_idle_class(enum crit_span_class class)
{
	return class == CRIT_CLASS_OMP_WAIT || class == CRIT_CLASS_OMP_IDLE;
}

static bool is_mpi_class(enum crit_span_class class)
{
	return class >= CRIT_CLASS_MPI && class <= CRIT_CLASS_MPI_WAIT;
}

static bool is_active_class(enum crit_span_class class)
{
	return class == CRIT_CLASS_USER || class == CRIT_CLASS_OMP || class == CRIT_CLASS_MPI;
}

static void pass_thread(struct sim_teams *w, uint32_t thread, uint64_t dt_ns, uint32_t active)
{
	struct team_thread *t = &w->threads[thread];
	enum crit_span_class class = class_of(w, thread);
	const struct team_frame *top = top_of(t);
	uint32_t instance = top ? innermost_instance(t) : t->idling;
	double attributed = is_active_class(class) ? (double)dt_ns / active : 0;

	t->cells[class] += dt_ns;
	t->cmetric += attributed;
	if (is_idle_class(class) && instance != NONE)
		w->instances[instance].idle_ns[thread] += dt_ns;
	if (class == CRIT_CLASS_OMP_IDLE && is_mpi_class(class_of(w, 0)) &&
	    innermost_instance(&w->threads[0]) == NONE)
		w->in_mpi_ns += dt_ns;
	if (top && top->region) {
		struct team_part *part = &w->regions[top->region].parts[thread];

		part->time_ns += dt_ns;
		part->useful_ns += class == CRIT_CLASS_OMP ? dt_ns : 0;
		part->useful_ns += class == CRIT_CLASS_USER ? dt_ns : 0;
		part->omp_wait_ns += class == CRIT_CLASS_OMP_WAIT ? dt_ns : 0;
		part->mpi_ns += is_mpi_class(class) ? dt_ns : 0;
		part->cmetric += attributed;
	}
}

static void pass(struct sim_teams *w, uint64_t dt_ns)
{
	uint32_t active = 0;

	for (uint32_t i = 0; i < TEAM_THREADS; i++)
		active += is_active_class(class_of(w, i));
	for (uint32_t i = 0; i < TEAM_THREADS; i++)
		pass_thread(w, i, dt_ns, active);
	w->now_ns += dt_ns;
}

static void define(struct sim_teams *w, uint32_t number)
{
	const struct team_region *region = &w->regions[number];
	uint32_t stream = w->threads[crit_random_below(&w->random, TEAM_THREADS)].stream;

	crit_maker_region(w->m, stream,
			  (struct crit_slot_region){ .site = region->site,
						     .call = (uint16_t)region->call,
						     .region = number,
						     .parent = region->parent,
						     .caller = 3 * region->site },
			  region->call == CRIT_CONSTRUCT_PHASE
				  ? "a phase with a name that needs two slots"
				  : NULL);
}

/* The number of a construct here, perhaps made known now, twice, or never. */
static uint32_t region_for(struct sim_teams *w, uint32_t call, uint32_t parent)
{
	uint64_t site = call == CRIT_CONSTRUCT_PHASE ? 0 : 1 + crit_random_below(&w->random, 2);
	uint32_t i;

	for (i = 1; i <= w->region_count; i++) {
		if (w->regions[i].call == call && w->regions[i].parent == parent &&
		    w->regions[i].site == site)
			return i;
	}
	if (i == TEAM_REGIONS)
		return parent;
	w->region_count = i;
	w->regions[i].call = call;
	w->regions[i].parent = parent;
	w->regions[i].site = site;
	w->regions[i].is_defined = !crit_random_is(&w->random, 10);
	if (w->regions[i].is_defined && crit_random_is(&w->random, 70)) {
		define(w, i);
		if (crit_random_is(&w->random, 20))
			define(w, i);
	}
	return i;
}

static void push(struct sim_teams *w, uint32_t thread, uint32_t call, uint32_t region,
		 uint32_t instance, uint64_t arg)
{
	struct team_thread *t = &w->threads[thread];

	crit_maker_construct(w->m, t->stream, w->now_ns,
			     (struct crit_maker_construct){
				     call, region, region ? w->regions[region].site : 0, arg });
	t->frames[t->depth++] = (struct team_frame){ call, region, instance, w->now_ns };
	if (region && call == w->regions[region].call) {
		w->regions[region].parts[thread].visits++;
		w->regions[region].visits += call != CRIT_CONSTRUCT_PARALLEL ||
					     arg & CRIT_INSTANCE_PRIMARY;
	}
	t->spans++;
}

static void count_elapsed(struct sim_teams *w, uint32_t thread, const struct team_frame *frame)
{
	bool is_begun = frame->call == CRIT_CONSTRUCT_TASK || frame->call == CRIT_CONSTRUCT_PHASE ||
			(frame->call == CRIT_CONSTRUCT_PARALLEL &&
			 w->instances[frame->instance].primary == thread);

	if (is_begun && frame->region)
		w->regions[frame->region].elapsed_ns += w->now_ns - frame->enter_ns;
}

static void book(struct sim_teams *w, uint32_t number)
{
	struct team_instance *instance = &w->instances[number];
	struct team_region *region = &w->regions[instance->region];
	uint64_t least_ns = UINT64_MAX, sum_ns = 0;
	uint32_t count = 0;

	for (uint64_t i = 0; i < TEAM_THREADS; i++) {
		if (!instance->has[i])
			continue;
		count++;
		sum_ns += instance->idle_ns[i];
		if (instance->idle_ns[i] < least_ns)
			least_ns = instance->idle_ns[i];
	}
	instance->is_live = false;
	if (!instance->region)
		return;
	region->scheduling_ns += count * least_ns;
	region->imbalance_ns += sum_ns - count * least_ns;
	if (count > region->team_max)
		region->team_max = count;
}

static bool is_member(const struct team_thread *t, uint32_t instance)
{
	for (uint32_t i = 0; i < t->depth; i++) {
		if (t->frames[i].instance == instance)
			return true;
	}
	return false;
}

/* The primary is through: nobody is in it any longer; what is open is told of later. */
static void end_instance(struct sim_teams *w, uint32_t number)
{
	book(w, number);
	for (uint32_t i = 0; i < TEAM_THREADS; i++) {
		struct team_thread *t = &w->threads[i];

		if (t->called == number)
			t->called = NONE;
		if (t->idling == number)
			t->idling = NONE;
		if (i == w->instances[number].primary || !is_member(t, number))
			continue;
		while (t->depth) {
			struct team_frame frame = *top_of(t);

			count_elapsed(w, i, &frame);
			t->depth--;
			if (frame.instance != NONE && w->instances[frame.instance].primary == i)
				end_instance(w, frame.instance);
		}
	}
}

static void pop(struct sim_teams *w, uint32_t thread)
{
	struct team_thread *t = &w->threads[thread];
	struct team_frame frame = *top_of(t);

	crit_maker_leave(w->m, t->stream, w->now_ns, frame.call);
	count_elapsed(w, thread, &frame);
	t->depth--;
	if (frame.instance == NONE)
		return;
	if (w->instances[frame.instance].primary == thread)
		end_instance(w, frame.instance);
	else
		t->idling = frame.instance; /* and nothing around it */
}

/* Its team's primary has left; its runtime tells that later, one by one. */
static void collect_late(struct team_thread *t, const struct team_thread *before)
{
	for (uint32_t i = t->depth; i < before->depth; i++)
		t->late[t->late_count++] = (uint16_t)before->frames[i].call;
}

static void begin_parallel(struct sim_teams *w, uint32_t thread)
{
	struct team_thread *t = &w->threads[thread];
	uint32_t parent = t->depth ? top_of(t)->region : 0;
	uint32_t number = ++w->instance_count;
	struct team_instance *instance = &w->instances[number];

	instance->region = region_for(w, CRIT_CONSTRUCT_PARALLEL, parent);
	instance->primary = thread;
	instance->is_live = true;
	instance->has[thread] = true;
	t->idling = t->depth ? t->idling : NONE;
	push(w, thread, CRIT_CONSTRUCT_PARALLEL, instance->region, number,
	     CRIT_INSTANCE_PRIMARY | number);
	for (uint32_t i = 1; i < TEAM_THREADS; i++) {
		struct team_thread *worker = &w->threads[i];

		if (i != thread && !worker->depth && worker->called == NONE &&
		    crit_random_is(&w->random, 70))
			worker->called = number;
	}
}

static void answer_call(struct sim_teams *w, uint32_t thread)
{
	struct team_thread *t = &w->threads[thread];
	uint32_t number = t->called;

	t->called = NONE;
	if (w->instances[number].has[thread])
		return;
	t->idling = NONE;
	w->instances[number].has[thread] = true;
	push(w, thread, CRIT_CONSTRUCT_PARALLEL, w->instances[number].region, number, number);
}

static void begin_something(struct sim_teams *w, uint32_t thread)
{
	static const uint32_t calls[] = {
		CRIT_CONSTRUCT_LOOP,      CRIT_CONSTRUCT_BARRIER,
		CRIT_CONSTRUCT_TASKWAIT,  CRIT_CONSTRUCT_TASK,
		CRIT_CONSTRUCT_LOCK_WAIT, CRIT_CONSTRUCT_CRITICAL,
		CRIT_CONSTRUCT_PHASE,     CRIT_MPI_Recv,
		CRIT_MPI_Get_count,
	};
	struct team_thread *t = &w->threads[thread];
	uint32_t call = calls[crit_random_below(&w->random, sizeof(calls) / sizeof(calls[0]))];
	uint32_t region = t->depth ? top_of(t)->region : 0;

	if (t->depth && is_mpi_class(class_of(w, thread)))
		return;
	if (call == CRIT_CONSTRUCT_TASK || call == CRIT_CONSTRUCT_PHASE)
		region = region_for(w, call, region);
	push(w, thread, call, region, NONE, 0);
}

static void act(struct sim_teams *w, uint32_t thread)
{
	struct team_thread *t = &w->threads[thread];
	struct team_thread before[TEAM_THREADS];
	unsigned int die = (unsigned int)crit_random_below(&w->random, 100);

	if (t->late_count) {
		crit_maker_leave(w->m, t->stream, w->now_ns, t->late[--t->late_count]);
	} else if (thread && !t->depth && t->called != NONE) {
		answer_call(w, thread);
	} else if (thread && !t->depth) {
		return; /* a worker without work */
	} else if (die < 25 && t->depth < TEAM_DEPTH && w->instance_count + 1 < TEAM_INSTANCES &&
		   !is_mpi_class(class_of(w, thread))) {
		begin_parallel(w, thread);
	} else if (die < 60 && t->depth < TEAM_DEPTH) {
		begin_something(w, thread);
	} else if (t->depth) {
		for (uint32_t i = 0; i < TEAM_THREADS; i++)
			before[i] = w->threads[i];
		pop(w, thread);
		for (uint32_t i = 0; i < TEAM_THREADS; i++) {
			if (i != thread)
				collect_late(&w->threads[i], &before[i]);
		}
	}
}

static void begin_world(struct sim_teams *w, uint64_t seed,
			const struct crit_maker_options *options)
{
	struct crit_rec_file file = { .cpu_count = 4,
				      .level = CRIT_LEVEL_TRACE,
				      .kernel_status = -1 };

	*w = (struct sim_teams){ .random = { seed }, .now_ns = TEAM_BEGIN };
	w->m = crit_maker_create(options);
	crit_maker_file(w->m, file);
	for (uint32_t i = 0; i < TEAM_THREADS; i++) {
		struct team_thread *t = &w->threads[i];

		t->called = t->idling = NONE;
		t->stream = i ? crit_maker_stream(
					w->m, (struct crit_rec_stream){ .pid = TEAM_PID,
									.ns_tid = TEAM_PID + i,
									.buffer = i,
									.claim_ns = TEAM_BEGIN })
			      : crit_act_rank(w->m, TEAM_PID, 0, TEAM_BEGIN);
		if (i)
			crit_maker_worker(w->m, t->stream, TEAM_BEGIN);
	}
}

static void end_world(struct sim_teams *w)
{
	for (uint32_t i = 1; i <= w->region_count; i++) {
		if (w->regions[i].is_defined)
			define(w, i);
	}
	for (uint32_t i = 0; i < TEAM_THREADS; i++) {
		struct team_thread *t = &w->threads[i];
		uint32_t j;

		for (j = 0; j < t->depth; j++)
			count_elapsed(w, i, &t->frames[j]);
		if (i)
			crit_maker_stream_end(w->m, t->stream,
					      (struct crit_rec_stream_end){ .release_ns =
										    w->now_ns });
	}
	for (uint32_t i = 1; i <= w->instance_count; i++) {
		if (w->instances[i].is_live)
			book(w, i);
	}
	crit_act_close(w->m, TEAM_PID, w->threads[0].stream, w->now_ns);
}

void sim_teams_make(struct sim_teams *w, uint64_t seed, const struct crit_maker_options *options)
{
	unsigned int steps;

	begin_world(w, seed, options);
	steps = 20 + (unsigned int)crit_random_below(&w->random, 400);
	for (unsigned int i = 0; i < steps; i++) {
		pass(w, 1 + crit_random_below(&w->random, 1000));
		act(w, (uint32_t)crit_random_below(&w->random, TEAM_THREADS));
	}
	pass(w, 1);
	end_world(w);
}
