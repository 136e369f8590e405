// SPDX-License-Identifier: BSD-3-Clause
// Unites the masks of a node's threads and adds up quotas along the tree of cgroups.
#include "analysis/model/cpu_masks.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/model/processes.h"
#include "core/base/cleanup.h"

#define MILLIONTHS_MAX 1000000000000000ull /* a thousand million CPUs */
#define LEAST_AWAKE_RATIO 0.01 /* of the one awake longest; less is next to nothing */
#define LEAST_AWAKE_THREAD_RATIO 0.05 /* likewise, without ranks: as lost time leaves out */
#define IDLE_AWAKE_RATIO 0.05 /* of all: so many that live for a short time are what the run does */

struct cgroup { /* with a limit of its own */
	uint64_t limit_millionths;
	uint64_t below_millionths; /* sum over the limited cgroups right below it */
	uint32_t parent; /* the next limited one above, of a smaller index; CRIT_NONE none */
	bool has_process; /* with no other limit in between */
};

struct mask { /* where it stands */
	uint32_t ref; /* chunk of the node; CRIT_NONE nowhere */
	uint32_t entry; /* of the chunk */
};

struct common { /* what threads of a process share, when they were all alike */
	uint32_t ref; /* the last such chunk; CRIT_NONE none */
	bool is_added;
	uint64_t time_ns;
};

struct cpus { /* of a node */
	uint64_t words[CRIT_CPU_WORDS_MAX]; /* of the masks */
	double limit; /* by quotas; less than 0 none */
	double most_awake, all_awake, idle_awake; /* of app threads; of those below */
	bool are_all_counted; /* also those that do next to nothing */
};

struct cpu_masks {
	struct crit_model *model;
	const bool *has_app; /* by process */
	struct mask *own; /* by thread: the last mask of its own */
	struct common *common; /* by process */
	struct crit_map threads; /* node << 32 | tid -> newest thread */
	unsigned char *payload; /* of a chunk */
	uint32_t node; /* the one whose chunks are read */
	struct cgroup *cgroups; /* of that node, parents first */
	size_t cgroup_count, cgroup_capacity;
	struct crit_map numbers; /* of a cgroup in the recording -> index */
	bool is_unlimited; /* a process without a limit */
};

static int add_limit(struct cpu_masks *fold, const struct crit_rec_cpu_limit *limit,
		     uint32_t *parent)
{
	const uint64_t key = limit->cgroup % UINT64_MAX; /* the largest one is no key */
	uint64_t millionths = limit->cpu_millionths;
	uint32_t index = crit_map_get(&fold->numbers, key);
	int rc = 0;

	if (millionths > MILLIONTHS_MAX)
		millionths = MILLIONTHS_MAX;
	if (index == CRIT_NONE) {
		index = (uint32_t)fold->cgroup_count;
		rc = crit_array_grow(&fold->cgroups, &fold->cgroup_capacity, index + 1,
				     sizeof(*fold->cgroups));
		if (!rc)
			rc = crit_map_set(&fold->numbers, key, index);
		if (rc)
			return rc;
		fold->cgroup_count++;
		fold->cgroups[index] = (struct cgroup){ .parent = *parent };
	}
	if (millionths > fold->cgroups[index].limit_millionths)
		fold->cgroups[index].limit_millionths = millionths;
	*parent = index;
	return 0;
}

/* The limits stand from the process's cgroup up. */
static int add_limits(struct cpu_masks *fold, const struct crit_rec_cpu_limit *limits,
		      uint32_t count)
{
	uint32_t index = CRIT_NONE;
	int rc = 0;

	for (; count && !rc; count--)
		rc = add_limit(fold, &limits[count - 1], &index);
	if (!rc && index == CRIT_NONE)
		fold->is_unlimited = true;
	else if (!rc)
		fold->cgroups[index].has_process = true;
	return rc;
}

static size_t entry_words(const struct crit_rec_usable_cpus *head)
{
	return 1 + (size_t)head->word_count;
}

static size_t entries_at(const struct crit_rec_usable_cpus *head)
{
	return sizeof(*head) + head->limit_count * sizeof(struct crit_rec_cpu_limit);
}

static bool is_sane(const struct crit_rec_usable_cpus *head, size_t length)
{
	return length >= sizeof(*head) && head->limit_count <= CRIT_CPU_LIMITS_MAX &&
	       head->thread_count <= CRIT_CPU_THREADS_MAX && head->word_count > 0 &&
	       head->word_count <= CRIT_CPU_WORDS_MAX &&
	       length >=
		       entries_at(head) + head->thread_count * entry_words(head) * sizeof(uint64_t);
}

/* Notes whose mask an entry is. */
static void note_mask(struct cpu_masks *fold, uint64_t number, uint32_t process, struct mask mask)
{
	const uint64_t key = (uint64_t)fold->node << 32 | (uint32_t)number;
	const uint32_t thread = crit_map_get(&fold->threads, key);

	if (thread != CRIT_NONE && fold->model->threads[thread].process == process)
		fold->own[thread] = mask;
}

static int take_chunk(struct cpu_masks *fold, uint32_t index)
{
	const struct crit_node *node = &fold->model->nodes[fold->node];
	const struct crit_chunk_ref *ref = &node->recording->refs[index];
	const struct crit_rec_usable_cpus *head = (const void *)fold->payload;
	const ssize_t length =
		crit_recording_read(node->recording, ref, 0, fold->payload, ref->length);
	const uint64_t *entry;
	uint32_t process;
	uint64_t time_ns;

	if (length < 0 || !is_sane(head, (size_t)length)) {
		fold->model->losses.corrupt_chunks++;
		return 0;
	}
	time_ns = crit_model_time(node, head->time_ns);
	process = crit_process_find(fold->model, fold->node, head->pid, time_ns);
	if (process == CRIT_NONE || !fold->has_app[process])
		return 0;
	entry = (const void *)(fold->payload + entries_at(head));
	for (uint32_t i = 0; i < head->thread_count; i++, entry += entry_words(head)) {
		if (*entry)
			note_mask(fold, *entry, process, (struct mask){ index, i });
		else
			fold->common[process] = (struct common){ .ref = index, .time_ns = time_ns };
	}
	return add_limits(fold, (const void *)(fold->payload + sizeof(*head)), head->limit_count);
}

/* A cgroup allows its own limit, or what those below allow if that is less and all is there. */
static uint64_t sum_limits(const struct cpu_masks *fold)
{
	uint64_t sum = 0;

	for (size_t i = fold->cgroup_count; i > 0; i--) {
		const struct cgroup *cgroup = &fold->cgroups[i - 1];
		uint64_t *above = cgroup->parent == CRIT_NONE
					  ? &sum
					  : &fold->cgroups[cgroup->parent].below_millionths;
		uint64_t allowed = cgroup->limit_millionths;

		if (!cgroup->has_process && cgroup->below_millionths < allowed)
			allowed = cgroup->below_millionths;
		*above += allowed;
		if (*above > MILLIONTHS_MAX)
			*above = MILLIONTHS_MAX;
	}
	return sum;
}

/* Yields what quotas allow on the node. */
static int read_node(struct cpu_masks *fold, uint32_t index, double *ret_limit)
{
	const struct crit_recording *recording = fold->model->nodes[index].recording;
	int rc = 0;

	fold->node = index;
	fold->cgroup_count = 0;
	fold->is_unlimited = false;
	for (uint32_t i = 0; i < recording->ref_count && !rc; i++) {
		if (recording->refs[i].kind == CRIT_C_USABLE_CPUS)
			rc = take_chunk(fold, i);
	}
	*ret_limit = fold->is_unlimited ? -1 : 1e-6 * (double)sum_limits(fold);
	crit_map_fini(&fold->numbers);
	fold->numbers = (struct crit_map){ 0 };
	return rc;
}

static void add_mask(const struct cpu_masks *fold, uint32_t node, struct mask mask,
		     struct cpus *cpus)
{
	const struct crit_recording *recording = fold->model->nodes[node].recording;
	const struct crit_chunk_ref *ref = &recording->refs[mask.ref];
	uint64_t entry[1 + CRIT_CPU_WORDS_MAX];
	struct crit_rec_usable_cpus head;
	size_t bytes;

	if (!crit_recording_read_struct(recording, ref, &head, sizeof(head)) ||
	    !is_sane(&head, ref->length))
		return;
	bytes = entry_words(&head) * sizeof(entry[0]);
	if (crit_recording_read(recording, ref, entries_at(&head) + mask.entry * bytes, entry,
				bytes) != (ssize_t)bytes)
		return;
	for (uint32_t i = 0; i < head.word_count; i++)
		cpus->words[i] |= entry[1 + i];
}

/* The last mask counts; a thread that ended before its process's were alike keeps its own. */
static void add_thread(const struct cpu_masks *fold, uint32_t index, struct cpus *cpus)
{
	const struct crit_thread *thread = &fold->model->threads[index];
	struct common *common = &fold->common[thread->process];
	const struct mask *own = &fold->own[index];

	if (own->ref != CRIT_NONE && (common->ref == CRIT_NONE || own->ref > common->ref ||
				      thread->death_ns < common->time_ns)) {
		add_mask(fold, thread->node, *own, cpus);
	} else if (common->ref != CRIT_NONE && !common->is_added) {
		add_mask(fold, thread->node, (struct mask){ .ref = common->ref }, cpus);
		common->is_added = true;
	}
}

static double usable(const struct cpus *cpus)
{
	double count = 0;

	for (size_t i = 0; i < CRIT_CPU_WORDS_MAX; i++)
		count += __builtin_popcountll(cpus->words[i]);
	return cpus->limit >= 0 && cpus->limit < count ? cpus->limit : count;
}

static bool is_app(const struct crit_thread *thread)
{
	return thread->role == CRIT_THREAD_APP && thread->process != CRIT_NONE;
}

/*
 * Next to nothing does, for one, a main thread that waits for those it bound; but of those that
 * call MPI or OpenMP nobody, for that may be the one that too little is left to.
 */
static bool is_idle(const struct crit_model *model, const struct crit_thread *thread,
		    const struct cpus *cpus)
{
	const double ratio = model->rank_count ? LEAST_AWAKE_RATIO : LEAST_AWAKE_THREAD_RATIO;

	return !thread->has_stream &&
	       (double)crit_thread_awake(thread, model->nodes[thread->node].end_ns) <
		       ratio * cpus->most_awake;
}

/* Of a node where some that do more have no mask, as they ended early, all masks count. */
static void find_idle(const struct cpu_masks *fold, struct cpus *cpus)
{
	const struct crit_model *model = fold->model;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct crit_thread *thread = &model->threads[i];
		struct cpus *node = &cpus[thread->node];
		const double awake =
			(double)crit_thread_awake(thread, model->nodes[thread->node].end_ns);

		if (!is_app(thread))
			continue;
		node->all_awake += awake;
		if (awake > node->most_awake)
			node->most_awake = awake;
	}
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct crit_thread *thread = &model->threads[i];
		struct cpus *node = &cpus[thread->node];

		if (!is_app(thread))
			continue;
		if (is_idle(model, thread, node))
			node->idle_awake += (double)crit_thread_awake(
				thread, model->nodes[thread->node].end_ns);
		else if (fold->own[i].ref == CRIT_NONE &&
			 fold->common[thread->process].ref == CRIT_NONE)
			node->are_all_counted = true;
	}
	for (uint32_t i = 0; i < model->node_count; i++)
		if (cpus[i].idle_awake > IDLE_AWAKE_RATIO * cpus[i].all_awake)
			cpus[i].are_all_counted = true;
}

static int fold_all(struct cpu_masks *fold, struct cpus *cpus)
{
	struct crit_model *model = fold->model;
	int rc = 0;

	for (uint32_t i = 0; i < model->thread_count && !rc; i++)
		rc = crit_map_set(&fold->threads,
				  (uint64_t)model->threads[i].node << 32 | model->threads[i].tid,
				  i);
	for (uint32_t i = 0; i < model->node_count && !rc; i++)
		rc = read_node(fold, i, &cpus[i].limit);
	if (rc)
		return rc;
	find_idle(fold, cpus);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct crit_thread *thread = &model->threads[i];
		struct cpus *node = &cpus[thread->node];

		if (is_app(thread) && (node->are_all_counted || !is_idle(model, thread, node)))
			add_thread(fold, i, node);
	}
	for (uint32_t i = 0; i < model->node_count; i++)
		model->nodes[i].row.usable_cpus = usable(&cpus[i]);
	return 0;
}

static bool *find_apps(const struct crit_model *model)
{
	bool *has_app = calloc(model->process_count + 1, sizeof(*has_app));

	for (size_t i = 0; has_app && i < model->thread_count; i++) {
		if (is_app(&model->threads[i]))
			has_app[model->threads[i].process] = true;
	}
	return has_app;
}

int crit_cpu_masks_survey(struct crit_model *model)
{
	crit_autofree bool *has_app = find_apps(model);
	crit_autofree struct mask *own = malloc((model->thread_count + 1) * sizeof(*own));
	crit_autofree struct common *common = calloc(model->process_count + 1, sizeof(*common));
	crit_autofree struct cpus *cpus = calloc(model->node_count + 1, sizeof(*cpus));
	crit_autofree unsigned char *payload = malloc(CRIT_CHUNK_PAYLOAD_MAX);
	struct cpu_masks fold = {
		.model = model, .has_app = has_app, .own = own, .common = common, .payload = payload
	};
	int rc;

	if (!has_app || !own || !common || !cpus || !payload)
		return -ENOMEM;
	for (size_t i = 0; i < model->thread_count; i++)
		own[i].ref = CRIT_NONE;
	for (size_t i = 0; i < model->process_count; i++)
		common[i].ref = CRIT_NONE;
	rc = fold_all(&fold, cpus);
	crit_map_fini(&fold.threads);
	crit_map_fini(&fold.numbers);
	free(fold.cgroups);
	return rc;
}
