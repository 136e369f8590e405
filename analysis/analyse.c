// SPDX-License-Identifier: BSD-3-Clause
// Front door of the analysis: opens and indexes the recordings, replays them once, fills the
// results.
#include "analysis/analyse.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/account/engine.h"
#include "analysis/clock/clock_corrections.h"
#include "analysis/clock/clocks.h"
#include "analysis/cluster/cluster.h"
#include "analysis/identity/identity.h"
#include "analysis/model/hosts.h"
#include "analysis/model/index_pass.h"
#include "analysis/model/model.h"
#include "analysis/mpi/messages.h"
#include "analysis/replay/emitter.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/thread_ends.h"
#include "analysis/replay/trace_tee.h"
#include "analysis/replay/tracer.h"
#include "analysis/samples/samples.h"
#include "analysis/schema/results.h"
#include "analysis/table/call_rows.h"
#include "analysis/table/tables.h"
#include "core/base/cleanup.h"
#include "core/base/err.h"

/* Of more threads the index is made anew for each analysis: keeping it would double the memory. */
#define KEPT_THREADS_MAX 65536u

/* GAPP's own rule needs the kernel half everywhere: mixed figures would mean nothing. */
static int check_rule(const struct crit_model *model, enum crit_active_rule rule,
		      struct crit_err *err)
{
	if (rule >= CRIT_ACTIVE_COUNT)
		return crit_err_set(err, -EINVAL, "cannot analyse: rule %d is unknown", (int)rule);
	for (size_t i = 0; i < model->node_count && rule == CRIT_ACTIVE_KERNEL; i++) {
		const struct crit_rec_file *file = &model->nodes[i].recording->file;

		if (model->nodes[i].row.kernel_half == CRIT_HALF_NONE)
			return crit_err_set(err, -EINVAL,
					    "cannot count by kernel state alone: the recording of "
					    "%s has no kernel half; use the default rule",
					    file->host[0] ? file->host : "one node");
	}
	return 0;
}

/* What all analysis processes must see alike: recordings that still grow are not. */
static uint64_t sum_up(const struct crit_model *model)
{
	uint64_t sum = model->window_end_ns - model->window_begin_ns;

	for (size_t i = 0; i < model->node_count; i++)
		sum = sum * 31 + model->nodes[i].recording->size_bytes;
	sum = sum * 31 + model->thread_count;
	return sum * 31 + model->rank_count;
}

struct crit_run_index {
	struct crit_model model;
	struct crit_model_state *state; /* as the index pass left it */
	struct crit_clock_corrections *corrections;
	bool is_open;
	bool is_indexed;
	const struct crit_recording **opened; /* by path; NULL: nobody asked so far */
};

struct crit_run_index *crit_run_index_create(void)
{
	struct crit_run_index *index = calloc(1, sizeof(*index));

	if (index)
		index->corrections = crit_clock_corrections_create();
	if (index && !index->corrections) {
		free(index);
		return NULL;
	}
	return index;
}

void crit_run_index_renew(struct crit_run_index *index)
{
	crit_model_state_destroy(index->state);
	crit_model_fini(&index->model);
	free(index->opened);
	*index = (struct crit_run_index){ .corrections = index->corrections };
}

int crit_run_index_open(struct crit_run_index *index, const char *const *paths, size_t path_count,
			struct crit_err *err)
{
	int rc = index->is_open ? 0 : crit_model_open(&index->model, paths, path_count, err);

	index->is_open = !rc;
	if (rc)
		crit_run_index_renew(index);
	return rc;
}

void crit_run_index_destroy(struct crit_run_index *index)
{
	if (!index)
		return;
	crit_run_index_renew(index);
	crit_clock_corrections_destroy(index->corrections);
	free(index);
}

const struct crit_recording *const *crit_run_index_opened(struct crit_run_index *index)
{
	const struct crit_model *model = &index->model;

	if (!index->is_open)
		return NULL;
	if (!index->opened)
		index->opened = calloc(model->node_count, sizeof(struct crit_recording *));
	for (size_t i = 0; i < model->node_count && index->opened; i++)
		index->opened[i] = model->nodes[i].recording;
	return index->opened;
}

bool crit_run_index_has_moved_clocks(const struct crit_run_index *index)
{
	return crit_clock_corrections_are_known(index->corrections) &&
	       crit_clock_corrections_count(index->corrections);
}

struct attempt { /* at an analysis */
	const struct crit_analysis_options *options;
	struct crit_run_index *index;
	struct crit_cluster *cluster; /* NULL: this process is alone */
	bool is_trial; /* what messages say of the clocks is found now */
};

/* The index pass, or what it has learnt before; kept where it may be used again. */
static int make_index(const struct attempt *attempt)
{
	struct crit_run_index *index = attempt->index;
	int rc;

	if (index->is_indexed) {
		crit_model_restore(&index->model, index->state);
		return 0;
	}
	crit_clocks_set(&index->model, index->corrections);
	rc = crit_index_pass(&index->model);
	if (rc || index->model.thread_count > KEPT_THREADS_MAX ||
	    !(attempt->options->index || crit_clock_corrections_can_be(&index->model)))
		return rc;
	index->state = crit_model_save(&index->model);
	index->is_indexed = index->state != NULL;
	return index->is_indexed ? 0 : -ENOMEM;
}

static int index_pass(struct attempt *attempt)
{
	struct crit_run_index *index = attempt->index;
	const struct crit_model *model = &index->model;
	int rc = make_index(attempt);

	attempt->is_trial = !rc && !crit_clock_corrections_are_known(index->corrections) &&
			    crit_clock_corrections_can_be(model) &&
			    crit_model_traced_until_ns(model) > model->window_begin_ns;
	crit_clock_corrections_set_known(index->corrections, !attempt->is_trial);
	return crit_cluster_agree(attempt->cluster, sum_up(model), rc);
}

struct work {
	struct crit_identity *identity;
	struct crit_messages messages;
	struct crit_message_sink message_sink; /* the tracer's, of one process */
	struct crit_tracer *tracer; /* NULL: nobody listens */
	struct crit_engine engine;
	struct crit_samples *samples;
	struct crit_thread_ends *ends; /* NULL: the run has ranks */
};

/* What analysis process 0 has taken yields results. */
static int conclude(struct crit_model *model, struct work *work, const struct attempt *attempt,
		    struct crit_results *results)
{
	struct crit_clock_corrections *corrections = attempt->index->corrections;
	int rc = crit_call_rows_add_counters(model, &work->engine);

	if (!rc)
		rc = crit_tables_fill(model, &work->engine, &work->messages, work->identity,
				      results);
	if (!rc)
		rc = crit_samples_fill(work->samples, crit_identity_thread_rows(work->identity),
				       results);
	if (!rc)
		rc = crit_thread_ends_fill(work->ends, results);
	if (!rc && (!results->messages.has_order || !results->messages.losses.early))
		crit_clock_corrections_set_known(corrections, true);
	if (!rc && !crit_clock_corrections_are_known(corrections))
		rc = crit_clock_corrections_find(corrections, model,
						 work->messages.match.latencies);
	return rc;
}

/* Connects a sink to the engine, and to messages where no cluster stands between. */
static int listen(struct work *work, const struct crit_trace_sink *sink,
		  struct crit_cluster *cluster)
{
	int rc = crit_tracer_create(&work->engine, work->identity, sink,
				    crit_cluster_queue(cluster), &work->tracer);

	if (!rc && sink->sample && (!cluster || crit_cluster_sink(cluster)))
		crit_samples_listen(work->samples, &(struct crit_samples_listener){
							   .user = work->tracer,
							   .on_sample = crit_tracer_sample });
	if (!rc)
		work->message_sink =
			(struct crit_message_sink){ .user = crit_tracer_emitter(work->tracer),
						    .message = crit_emitter_message,
						    .communicator = crit_emitter_communicator };
	return rc;
}

/* Is nobody told anything, since it might be void? */
static bool is_mute(const struct attempt *attempt)
{
	return attempt->is_trial && !attempt->options->retell;
}

/* Who is told of edges by this process; NULL nobody.  sink: whom it tells of spans. */
static const struct crit_listener *listener_of(const struct attempt *attempt,
					       const struct crit_trace_sink *sink)
{
	if (is_mute(attempt))
		return NULL;
	if (!attempt->options->is_gathered)
		return attempt->options->listener;
	return sink ? crit_cluster_listener(attempt->cluster) : NULL;
}

/* Makes all that the replay needs; fini_work is due also after an error. */
static int prepare(struct crit_model *model, const struct attempt *attempt, struct work *work,
		   const struct crit_trace_sink *sink, enum crit_active_rule rule)
{
	struct crit_cluster *cluster = attempt->cluster;
	const struct crit_message_sink *message_sink = cluster ? crit_cluster_messages(cluster)
							       : &work->message_sink;
	const struct crit_listener *listener = listener_of(attempt, sink);
	int rc = crit_engine_init(&work->engine, model, rule, crit_cluster_steps(cluster));

	work->engine.run.left_out_from =
		attempt->options->active_max ? attempt->options->active_max + 1 : 0;
	if (attempt->options->has_no_blame)
		crit_blame_init(&work->engine.blame, 0); /* as of a run without ranks */
	if (!rc)
		work->identity = crit_identity_create(model);
	if (!work->identity)
		return -ENOMEM;
	work->engine.listeners.thread_rows = crit_identity_thread_rows(work->identity);
	if (listener)
		rc = crit_listeners_add(&work->engine.listeners, listener);
	if (!rc)
		rc = crit_samples_create(&work->engine, &work->samples);
	if (!rc)
		rc = crit_thread_ends_create(&work->engine, &work->ends);
	if (!rc && sink)
		rc = listen(work, sink, cluster);
	if (!rc)
		rc = crit_messages_init(&work->messages, model,
					sink && sink->message ? message_sink : NULL,
					&work->engine.listeners);
	if (!rc)
		rc = crit_cluster_begin(cluster, &work->engine, work->samples, work->ends,
					&work->messages,
					sink ? crit_tracer_emitter(work->tracer) : NULL);
	return rc;
}

static void fini_work(struct work *work)
{
	crit_tracer_destroy(work->tracer);
	crit_messages_fini(&work->messages);
	crit_thread_ends_destroy(work->ends);
	crit_samples_destroy(work->samples);
	crit_engine_fini(&work->engine);
	crit_identity_destroy(work->identity);
}

/*
 * Process 0's to all, since it alone has taken messages.  Errors: those of
 * crit_transport_broadcast.
 */
static int broadcast_corrections(struct crit_clock_corrections *corrections,
				 const struct crit_cluster *cluster)
{
	uint64_t count = crit_clock_corrections_count(corrections), *numbers;
	int rc = crit_cluster_broadcast(cluster, &count, 1);
	size_t number_count = 0;

	crit_clock_corrections_set_known(corrections, !rc);
	if (rc || !count)
		return rc;
	numbers = crit_clock_corrections_numbers(corrections, count, &number_count);
	rc = crit_cluster_agree(cluster, 0, numbers ? 0 : -ENOMEM);
	return rc ? rc : crit_cluster_broadcast(cluster, numbers, number_count);
}

/* Others than process 0 have no results. */
static int play(struct crit_model *model, struct attempt *attempt, struct work *work,
		const struct crit_trace_sink *sink, struct crit_results *results)
{
	struct crit_cluster *cluster = attempt->cluster;
	int rc = sink ? crit_tracer_begin(work->tracer) : 0;

	if (!rc)
		rc = crit_replay_run(model, &work->engine, &work->messages, attempt->options,
				     crit_cluster_share(cluster));
	rc = crit_cluster_end(cluster, rc);
	if (!rc && crit_cluster_leads(cluster))
		rc = conclude(model, work, attempt, results);
	if (!rc)
		rc = work->engine.listeners.error; /* of what conclude has told */
	if (!rc && sink)
		rc = crit_tracer_end_setups(work->tracer);
	if (sink || attempt->is_trial)
		rc = crit_cluster_agree(cluster, 0, rc);
	if (!rc && cluster && attempt->is_trial)
		rc = broadcast_corrections(attempt->index->corrections, cluster);
	if (!rc && sink)
		rc = crit_tracer_end(work->tracer, results, work->messages.trace.is_whole);
	return rc;
}

/* The sink, if it is to be told. */
static const struct crit_trace_sink *sink_of(const struct attempt *attempt,
					     const struct crit_trace_sink *sink)
{
	const size_t threads = attempt->index->model.thread_count;

	return is_mute(attempt) || (sink && sink->threads_max && threads > sink->threads_max)
		       ? NULL
		       : sink;
}

/* Whom this process tells of spans; options->trace, or those who gather for it. */
static const struct crit_trace_sink *first_sink(const struct attempt *attempt)
{
	return sink_of(attempt, attempt->options->is_gathered ? crit_cluster_sink(attempt->cluster)
							      : attempt->options->trace);
}

static int compute(struct attempt *attempt, struct work *work, struct crit_results *results)
{
	struct crit_model *model = &attempt->index->model;
	const struct crit_analysis_options *options = attempt->options;
	const struct crit_trace_sink *sink;
	struct crit_trace_sink both;
	struct crit_trace_tee tee;
	int rc = index_pass(attempt);

	if (!rc && options->is_gathered && !attempt->is_trial)
		rc = crit_cluster_gather(attempt->cluster, options->trace, options->listener);
	if (rc)
		return rc;
	tee.first = first_sink(attempt);
	tee.second = sink_of(attempt, options->second_trace);
	sink = tee.first ? tee.first : tee.second;
	if (tee.first && tee.second) {
		both = crit_trace_tee_sink(&tee);
		sink = &both;
	}
	rc = prepare(model, attempt, work, sink, results->rule);
	rc = crit_cluster_agree(attempt->cluster, 0, rc); /* or nobody begins */
	if (!rc)
		rc = play(model, attempt, work, sink, results);
	fini_work(work);
	return rc;
}

/*
 * Opens the recordings where no analysis before has, and replays them.  index: what it has learnt.
 */
static int analyse_opened(struct attempt *attempt, const char *const *paths, size_t path_count,
			  struct crit_results *results, struct crit_err *err)
{
	crit_autofree struct work *work = calloc(1, sizeof(*work));
	struct crit_run_index *index = attempt->index;
	int rc = work ? crit_run_index_open(index, paths, path_count, err) : -ENOMEM;

	if (!rc)
		rc = check_rule(&index->model, results->rule, err);
	if (rc)
		(void)crit_cluster_agree(attempt->cluster, 0, rc); /* tells the others */
	else
		rc = compute(attempt, work, results);
	for (size_t i = 0; !rc && i < index->model.node_count; i++)
		rc = crit_hosts_take(&results->hosts, index->model.nodes[i].recording);
	if (rc || !index->is_indexed)
		crit_run_index_renew(index);
	return rc;
}

/* Ownership: the caller destroys *ret_results, which others than process 0 leave. */
static int analyse_once(struct attempt *attempt, const char *const *paths, size_t path_count,
			struct crit_results **ret_results, struct crit_err *err)
{
	const struct crit_transport *transport = attempt->options->transport;
	struct crit_results *results = calloc(1, sizeof(*results));
	int rc = -ENOMEM;

	attempt->cluster = transport ? crit_cluster_create(transport) : NULL;
	if (results && (attempt->cluster || !transport)) {
		results->rule = attempt->options->rule;
		rc = analyse_opened(attempt, paths, path_count, results, err);
	}
	if (rc || !crit_cluster_leads(attempt->cluster))
		crit_results_destroy(results);
	else
		*ret_results = results;
	crit_cluster_destroy(attempt->cluster);
	attempt->cluster = NULL;
	return rc;
}

/* Once more where messages move clocks, which changes the index, or where a sink waits for that. */
static int analyse(struct attempt *attempt, const char *const *paths, size_t path_count,
		   struct crit_results **ret_results, struct crit_err *err)
{
	const struct crit_analysis_options *options = attempt->options;
	const bool is_awaited = options->trace || options->listener || options->is_gathered;
	int rc = analyse_once(attempt, paths, path_count, ret_results, err);

	if (rc || !attempt->is_trial)
		return rc;
	if (crit_clock_corrections_count(attempt->index->corrections)) {
		crit_run_index_renew(attempt->index);
		rc = options->retell ? options->retell(options->told) : 0;
		if (rc)
			return rc;
	} else if (options->retell || !is_awaited) {
		return 0;
	}
	crit_results_destroy(*ret_results);
	*ret_results = NULL;
	return analyse_once(attempt, paths, path_count, ret_results, err);
}

static void explain(int rc, const char *path, struct crit_err *err)
{
	if (rc == -ESTALE)
		(void)crit_err_set(err, rc,
				   "cannot analyse %.160s together: processes read "
				   "different recordings; do they still grow?",
				   path);
	if (rc == -ENOMEM)
		(void)crit_err_set(err, rc, "cannot analyse %s: out of memory", path);
}

int crit_analyse(const char *const *paths, size_t path_count,
		 const struct crit_analysis_options *options, struct crit_results **ret_results,
		 struct crit_err *err)
{
	static const struct crit_analysis_options defaults;
	struct attempt attempt = { .options = options ? options : &defaults };
	struct crit_results *results = NULL;
	struct crit_run_index *own;
	int rc = -ENOMEM;

	if (!path_count)
		return crit_err_set(err, -EINVAL, "cannot analyse: no recording was named");
	own = attempt.options->index ? NULL : crit_run_index_create();
	attempt.index = own ? own : attempt.options->index;
	if (attempt.index)
		rc = analyse(&attempt, paths, path_count, &results, err);
	crit_run_index_destroy(own);
	explain(rc, paths[0], err);
	if (rc)
		crit_results_destroy(results);
	else if (results)
		*ret_results = results;
	return rc;
}
