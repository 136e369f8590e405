// SPDX-License-Identifier: BSD-3-Clause
// crit-waits-play: plays films that stdin describes in words, and prints their costs.
//
// A film: "film BEGIN END THREADS LAST", then "part P" for each bucket, then "vertex BUCKET" for
// each or for none, then its entries in the order in which they are written, then "play":
//   until TIME NODE BUCKET | wait TIME NODE KIND NUMBER | end TIME NODE KIND NUMBER |
//   queue TIME NODE | run TIME NODE | sleep TIME NODE | wake TIME NODE |
//   cause|need TIME NODE NUMBER | arrival TIME NODE OBJECT IS-LAST | birth TIME NODE THREAD |
//   woken TIME NODE KIND THREAD
// Or, instead of "play", for each scenario "scenario IS-WITHOUT-TRANSFER", then "factor NUMERATOR
// DENOMINATOR" for each bucket, and "queued" likewise for each thread or for none, then "forecast
// OUTSIDE", which prints when it ends, and how often a lock could go to another; or, for one
// scenario, "share OUTSIDE NODES CPUS DO-WAITERS-BLOCK IS-LAST", with thread i on node i % NODES;
// the film is kept for another scenario until IS-LAST.  Or "key THREAD CALL SITE CODE IS-CALL" for
// each bucket, with the call after it, or that it is in, then "delays".
// --fork-call: prints the call that begins a parallel region.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/delays/delays.h"
#include "analysis/waits/backwards/backplay.h"
#include "analysis/waits/resolved_film.h"
#include "analysis/whatif/cpu_sharing.h"
#include "core/base/call.h"
#include "core/base/cleanup.h"
#include "tests/waits/turned.h"

#define BUCKETS_MAX 256
#define SCENARIOS_MAX 16
#define THREADS_MAX 64

struct text_film {
	struct crit_film *film;
	struct crit_film_entry until; /* that is not put yet, as what comes next may tell it */
	uint32_t *waiters; /* of each number of a wait so far */
	size_t waiter_count, waiter_capacity;
	struct crit_backplay_options options;
	uint8_t parts[BUCKETS_MAX];
	uint32_t vertices[BUCKETS_MAX];
	size_t vertex_count;
	struct crit_scenario scenarios[SCENARIOS_MAX];
	struct crit_factor factors[SCENARIOS_MAX][BUCKETS_MAX];
	struct crit_factor queue_factors[SCENARIOS_MAX][THREADS_MAX];
	size_t scenario_count, factor_count, queue_count; /* factors of the last scenario */
	struct crit_filmed_run run; /* of scenarios that share CPUs */
	struct crit_code_key keys[BUCKETS_MAX];
	uint32_t codes[BUCKETS_MAX];
	size_t key_count;
};

/* Of every other thread a bucket that ends with a wait, or where one begins, is told by that. */
static int put(struct text_film *text, const struct crit_film_entry *entry)
{
	struct crit_film_entry given = *entry;
	struct crit_film_entry *until = &text->until;
	const bool does_tell = until->type && until->node == given.node &&
			       until->time_ns == given.time_ns &&
			       (given.type == CRIT_FILM_WAIT || given.type == CRIT_FILM_END);
	int rc = 0;

	if (does_tell)
		given.more = crit_film_tell(until->number);
	else if (until->type)
		rc = crit_film_put(text->film, until, NULL);
	until->type = CRIT_FILM_NONE;
	if (rc)
		return rc;
	if (given.type != CRIT_FILM_UNTIL || !(given.node & 1) || given.node & CRIT_FILM_OBJECT)
		return crit_film_put(text->film, &given, NULL);
	*until = given;
	return 0;
}

static int finish(struct text_film *text, struct crit_err *err)
{
	int rc = text->until.type ? crit_film_put(text->film, &text->until, err) : 0;

	text->until.type = CRIT_FILM_NONE;
	return rc ? rc : crit_film_finish(text->film, err);
}

static void print_costs(const struct crit_costs *costs)
{
	for (size_t i = 0; i <= costs->bucket_count; i++) {
		const struct crit_cost *row = &costs->buckets[i];

		printf("bucket %zu %" PRId64, i, (int64_t)row->direct);
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			printf(" %" PRId64 " %" PRIu64, (int64_t)row->cost[part],
			       row->path_ns[part]);
		putchar('\n');
	}
	for (size_t i = 1; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];

		printf("edge %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRId64, edge->from,
		       edge->to, edge->count, edge->raw_ns, (int64_t)edge->impact);
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			printf(" %" PRIu64, edge->part_ns[part]);
		putchar('\n');
	}
	for (size_t i = 0; i < costs->acts.kept_count; i++) {
		const struct crit_late_act *act = &costs->acts.kept[i];

		printf("act %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32
		       " %" PRIu64 " %" PRId64 "\n",
		       act->thread, act->bucket, act->time_ns, act->waiters, act->longest,
		       act->longest_bucket, act->longest_ns, (int64_t)act->impact);
	}
	printf("waits %" PRIu64 " %" PRId64 " %" PRIu64 "\ndone\n", costs->wait_count,
	       (int64_t)costs->waiting, costs->cycle_count);
}

static int play(struct text_film *text)
{
	struct crit_err err = { "" };
	struct crit_costs costs = { 0 };
	int rc = finish(text, &err);

	if (text->vertex_count == text->options.bucket_count)
		text->options.bucket_vertices = text->vertices;
	else if (text->vertex_count)
		rc = -EINVAL;
	if (!rc)
		rc = crit_backplay(text->film, &text->options, &costs, &err);
	if (!rc)
		rc = crit_costs_check(&costs, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s\n", err.text);
	else
		print_costs(&costs);
	crit_costs_fini(&costs);
	crit_film_destroy(text->film);
	text->film = NULL;
	return rc;
}

static int turn_round(struct text_film *text, struct crit_filmed_run *ret_run, struct crit_err *err)
{
	const struct crit_resolved_film_options options = {
		.file = { .directory = ".", .max_bytes = 1u << 30 },
		.begin_ns = text->options.begin_ns,
		.thread_count = text->options.thread_count,
		.bucket_count = text->options.bucket_count,
	};

	return crit_test_turn_round(text->film, &options, ret_run, err);
}

/* Of a finished film, whatever scenarios there are. */
static int play_forwards(struct text_film *text, struct crit_forecast *ret_forecast,
			 uint32_t outside, struct crit_err *err)
{
	struct crit_filmed_run run = { 0 };
	int rc = turn_round(text, &run, err);

	run.options.outside = outside;
	run.options.scenarios = text->scenarios;
	run.options.scenario_count = text->scenario_count;
	if (!rc)
		rc = crit_forecast_play(run.film, &run.options, ret_forecast, err);
	crit_filmed_run_fini(&run);
	return rc;
}

static int forecast(struct text_film *text, uint32_t outside)
{
	struct crit_err err = { "" };
	struct crit_forecast told = { 0 };
	int rc = finish(text, &err);

	if (!rc)
		rc = play_forwards(text, &told, outside, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s\n", err.text);
	else
		printf("recorded %" PRIu64 "\n", told.recorded_ns);
	for (size_t i = 0; i < text->scenario_count && !rc; i++)
		printf("end %" PRIu64 " %" PRIu64 "\n", told.end_ns[i], told.order_changes[i]);
	puts("done");
	crit_forecast_fini(&told);
	crit_film_destroy(text->film);
	text->film = NULL;
	return rc;
}

struct sharing {
	unsigned outside, nodes, cpus, do_block, is_last;
};

static int play_shared(struct text_film *text, const struct sharing *sharing, uint64_t *ret_end_ns,
		       struct crit_err *err)
{
	uint32_t nodes[THREADS_MAX] = { 0 };
	double cpus[THREADS_MAX];
	const struct crit_run_steps_options options = {
		.begin_ns = text->options.begin_ns,
		.thread_count = text->options.thread_count,
		.bucket_count = text->options.bucket_count,
		.node_count = sharing->nodes,
		.thread_nodes = nodes,
		.outside = sharing->outside,
		.steps_max = 1u << 20,
	};
	const struct crit_cpu_sharing_options played = { .node_cpus = cpus,
							 .scenario = text->scenarios[0],
							 .do_waiters_block = sharing->do_block };
	struct crit_run_steps steps = { 0 };
	uint64_t circles;
	int rc;

	for (size_t i = 0; i < THREADS_MAX; i++) {
		nodes[i] = (uint32_t)(i % sharing->nodes);
		cpus[i] = sharing->cpus;
	}
	crit_film_rewind(text->run.film);
	rc = crit_run_steps_make(text->run.film, &options, &steps, err);
	if (!rc)
		rc = crit_cpu_sharing_play(&steps, &played, ret_end_ns, &circles);
	crit_run_steps_fini(&steps);
	return rc;
}

/* The film is turned round by the first of its scenarios. */
static int share(struct text_film *text, const struct sharing *sharing)
{
	struct crit_err err = { "" };
	uint64_t end_ns;
	int rc = 0;

	if (!text->run.film)
		rc = finish(text, &err);
	if (!rc && !text->run.film)
		rc = turn_round(text, &text->run, &err);
	if (!rc)
		rc = play_shared(text, sharing, &end_ns, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s\n", err.text);
	else
		printf("end %" PRIu64 "\n", end_ns);
	text->scenario_count = 0;
	if (!sharing->is_last)
		return rc;
	crit_filmed_run_fini(&text->run);
	crit_film_destroy(text->film);
	text->film = NULL;
	return rc;
}

/* Of a finished film. */
static int find_delays(struct text_film *text, struct crit_delays *ret_delays, struct crit_err *err)
{
	const struct crit_delay_options options = {
		.begin_ns = text->options.begin_ns,
		.thread_count = text->options.thread_count,
		.bucket_count = text->options.bucket_count,
		.keys = text->keys,
		.codes = text->codes,
	};
	struct crit_filmed_run run = { 0 };
	int rc = turn_round(text, &run, err);

	if (!rc)
		rc = crit_delays_find(run.film, &options, ret_delays);
	crit_filmed_run_fini(&run);
	return rc;
}

static int print_delays(struct text_film *text)
{
	struct crit_err err = { "" };
	struct crit_delays delays = { 0 };
	int rc = finish(text, &err);

	if (!rc)
		rc = find_delays(text, &delays, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s %s\n", err.text, strerror(-rc));
	for (size_t i = 0; i < text->options.bucket_count && !rc; i++)
		printf("delay %zu %.17g %.17g\n", i, delays.buckets[i].code_ns,
		       delays.buckets[i].cpu_ns);
	if (!rc)
		printf("late %.17g\nmeetings %" PRIu64 "\ndone\n", delays.late_ns,
		       delays.meeting_count);
	crit_delays_fini(&delays);
	crit_film_destroy(text->film);
	text->film = NULL;
	return rc;
}

static int take_key(struct text_film *text, const char *line)
{
	struct crit_code_key key = { 0 };
	struct crit_code_call call;
	uint32_t code;
	unsigned is_call;

	if (text->key_count == BUCKETS_MAX ||
	    sscanf(line, "key %" SCNu32 " %" SCNu16 " %" SCNu64 " %" SCNu32 " %u", &key.thread,
		   &call.call, &call.site, &code, &is_call) != 5)
		return -EINVAL;
	key.is_call = is_call;
	*(is_call ? &key.before : &key.after) = call;
	text->codes[text->key_count] = code;
	text->keys[text->key_count++] = key;
	return 0;
}

static int begin(struct text_film *text, const char *line, const char *directory)
{
	const struct crit_film_options options = { .directory = directory, .max_bytes = 1u << 30 };
	struct crit_err err = { "" };
	int rc;

	text->scenario_count = text->key_count = text->vertex_count = text->waiter_count = 0;
	text->options =
		(struct crit_backplay_options){ .bucket_parts = text->parts, .edges_max = 100000 };
	if (sscanf(line, "film %" SCNu64 " %" SCNu64 " %zu %" SCNu32, &text->options.begin_ns,
		   &text->options.end_ns, &text->options.thread_count,
		   &text->options.last_thread) != 4)
		return -EINVAL;
	rc = crit_film_create(&options, &text->film, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s\n", err.text);
	return rc;
}

/* A cause before its wait is of none: then any node will do, as it is in another wait. */
static void find_waiter(const struct text_film *text, struct crit_film_entry *cause)
{
	cause->more = cause->number & CRIT_FILM_OBJECT ? cause->number : cause->node;
	if (cause->number < text->waiter_count && text->waiters[cause->number] != CRIT_NONE)
		cause->more = text->waiters[cause->number];
}

static int note_waiter(struct text_film *text, const struct crit_film_entry *wait)
{
	int rc = crit_array_grow(&text->waiters, &text->waiter_capacity, wait->number + 1u,
				 sizeof(*text->waiters));

	if (rc)
		return rc;
	while (text->waiter_count <= wait->number)
		text->waiters[text->waiter_count++] = CRIT_NONE;
	text->waiters[wait->number] = wait->node;
	return 0;
}

/* A line of an entry, by its first word. */
static int take_entry(struct text_film *text, const char *line)
{
	struct crit_film_entry entry = { 0 };
	int rc = 0;

	if (sscanf(line, "until %" SCNu64 " %" SCNu32 " %" SCNu32, &entry.time_ns, &entry.node,
		   &entry.number) == 3)
		entry.type = CRIT_FILM_UNTIL;
	else if (sscanf(line, "wait %" SCNu64 " %" SCNu32 " %" SCNu8 " %" SCNu32, &entry.time_ns,
			&entry.node, &entry.kind, &entry.number) == 4)
		entry.type = CRIT_FILM_WAIT;
	else if (sscanf(line, "end %" SCNu64 " %" SCNu32 " %" SCNu8 " %" SCNu32, &entry.time_ns,
			&entry.node, &entry.kind, &entry.number) == 4)
		entry.type = CRIT_FILM_END;
	else if (sscanf(line, "queue %" SCNu64 " %" SCNu32, &entry.time_ns, &entry.node) == 2)
		entry.type = CRIT_FILM_QUEUE;
	else if (sscanf(line, "run %" SCNu64 " %" SCNu32, &entry.time_ns, &entry.node) == 2)
		entry.type = CRIT_FILM_RUN;
	else if (sscanf(line, "sleep %" SCNu64 " %" SCNu32, &entry.time_ns, &entry.node) == 2)
		entry.type = CRIT_FILM_SLEEP;
	else if (sscanf(line, "wake %" SCNu64 " %" SCNu32, &entry.time_ns, &entry.node) == 2)
		entry.type = CRIT_FILM_WAKE;
	else if (sscanf(line, "woken %" SCNu64 " %" SCNu32 " %" SCNu8 " %" SCNu32, &entry.time_ns,
			&entry.node, &entry.kind, &entry.number) == 4)
		entry.type = CRIT_FILM_WOKEN;
	else if (sscanf(line, "cause %" SCNu64 " %" SCNu32 " %" SCNu32, &entry.time_ns, &entry.node,
			&entry.number) == 3)
		entry.type = CRIT_FILM_CAUSE;
	else if (sscanf(line, "need %" SCNu64 " %" SCNu32 " %" SCNu32, &entry.time_ns, &entry.node,
			&entry.number) == 3)
		entry.type = CRIT_FILM_NEED;
	else if (sscanf(line, "arrival %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu8, &entry.time_ns,
			&entry.node, &entry.number, &entry.kind) == 4)
		entry.type = CRIT_FILM_ARRIVAL;
	else if (sscanf(line, "birth %" SCNu64 " %" SCNu32 " %" SCNu32, &entry.time_ns, &entry.node,
			&entry.number) == 3)
		entry.type = CRIT_FILM_BIRTH;
	else
		return -EINVAL;
	if (entry.type == CRIT_FILM_CAUSE)
		find_waiter(text, &entry);
	else if ((entry.type == CRIT_FILM_WAIT || entry.type == CRIT_FILM_END) &&
		 !(entry.number & CRIT_FILM_OBJECT))
		rc = note_waiter(text, &entry);
	return rc ? rc : put(text, &entry);
}

/* The next factor of a bucket, or of a thread without a CPU, in the last scenario. */
static int take_factor(struct text_film *text, const char *line)
{
	const size_t last = text->scenario_count - 1;
	struct crit_factor factor;
	char what;

	if (!text->scenario_count || sscanf(line, "%c%*s %" SCNu32 " %" SCNu32, &what,
					    &factor.numerator, &factor.denominator) != 3)
		return -EINVAL;
	if (what == 'f' && text->factor_count < BUCKETS_MAX) {
		text->factors[last][text->factor_count++] = factor;
		return 0;
	}
	if (what != 'q' || text->queue_count == THREADS_MAX)
		return -EINVAL;
	text->queue_factors[last][text->queue_count++] = factor;
	text->scenarios[last].queue_factors = text->queue_factors[last];
	return 0;
}

static int take(struct text_film *text, const char *line, const char *directory)
{
	struct sharing sharing;
	unsigned part, outside, is_bare;
	uint32_t vertex;

	if (!strncmp(line, "film ", 5) && !text->film)
		return begin(text, line, directory);
	if (!text->film)
		return -EINVAL;
	if (sscanf(line, "part %u", &part) == 1 && text->options.bucket_count < BUCKETS_MAX) {
		text->parts[text->options.bucket_count++] = (uint8_t)part;
		return 0;
	}
	if (sscanf(line, "vertex %" SCNu32, &vertex) == 1 && text->vertex_count < BUCKETS_MAX) {
		text->vertices[text->vertex_count++] = vertex;
		return 0;
	}
	if (sscanf(line, "scenario %u", &is_bare) == 1 && text->scenario_count < SCENARIOS_MAX) {
		text->factor_count = text->queue_count = 0;
		text->scenarios[text->scenario_count] = (struct crit_scenario){
			.factors = text->factors[text->scenario_count],
			.is_without_transfer = is_bare != 0,
		};
		text->scenario_count++;
		return 0;
	}
	if (!strncmp(line, "factor ", 7) || !strncmp(line, "queued ", 7))
		return take_factor(text, line);
	if (sscanf(line, "forecast %u", &outside) == 1)
		return forecast(text, outside);
	if (sscanf(line, "share %u %u %u %u %u", &sharing.outside, &sharing.nodes, &sharing.cpus,
		   &sharing.do_block, &sharing.is_last) == 5)
		return text->scenario_count == 1 && sharing.nodes && sharing.nodes <= THREADS_MAX &&
				       text->options.thread_count <= THREADS_MAX
			       ? share(text, &sharing)
			       : -EINVAL;
	if (!strncmp(line, "key ", 4))
		return take_key(text, line);
	if (!strcmp(line, "delays\n"))
		return text->key_count == text->options.bucket_count ? print_delays(text) : -EINVAL;
	return strcmp(line, "play\n") ? take_entry(text, line) : play(text);
}

int main(int argc, char **argv)
{
	static struct text_film text;
	crit_autofree char *line = NULL;
	size_t capacity = 0;
	int rc = 0;

	if (argc == 2 && !strcmp(argv[1], "--fork-call")) {
		printf("%d\n", CRIT_CONSTRUCT_PARALLEL);
		return 0;
	}
	if (argc != 2) {
		fputs("usage: crit-waits-play DIRECTORY <films\n", stderr);
		return 2;
	}
	while (!rc && getline(&line, &capacity, stdin) > 0) {
		rc = take(&text, line, argv[1]);
		if (rc)
			fprintf(stderr, "crit-waits-play: %s: %s", strerror(-rc), line);
	}
	crit_film_destroy(text.film);
	free(text.waiters);
	return rc ? 1 : 0;
}
