// SPDX-License-Identifier: BSD-3-Clause
// Opens the recordings of a run, and destroys its model.
#include "analysis/model/model.h"

#include <stdlib.h>

static enum crit_kernel_half half_of(const struct crit_rec_file *file)
{
	if (!file->kernel_status)
		return CRIT_HALF_BPF;
	return file->perf_status == 1 ? CRIT_HALF_PERF : CRIT_HALF_NONE;
}

/* One that cannot be read does not spoil the others' result; it is named there. */
static int open_node(struct crit_node *node, const char *path, bool is_one_of_many,
		     struct crit_err *err)
{
	int rc = crit_recording_open(path, &node->recording, err);

	node->row.is_unread = is_one_of_many && crit_recording_is_unreadable(rc);
	return node->row.is_unread ? crit_recording_stand_in(path, &node->recording) : rc;
}

int crit_model_open(struct crit_model *model, const char *const *paths, size_t path_count,
		    struct crit_err *err)
{
	size_t read_count = 0;

	model->nodes = calloc(path_count, sizeof(*model->nodes));
	if (!model->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < path_count; i++) {
		int rc = open_node(&model->nodes[i], paths[i], path_count > 1, err);

		if (rc)
			return rc;
		model->nodes[i].row.kernel_half = half_of(&model->nodes[i].recording->file);
		model->node_count++;
		read_count += !model->nodes[i].row.is_unread;
	}
	return read_count ? 0 : -ENODATA; /* err is the last one's */
}

void crit_model_fini(struct crit_model *model)
{
	for (size_t i = 0; i < model->node_count; i++) {
		crit_recording_close(model->nodes[i].recording);
		crit_map_fini(&model->nodes[i].stream_numbers);
		crit_map_fini(&model->nodes[i].pids);
		crit_map_fini(&model->nodes[i].threads);
	}
	free(model->nodes);
	for (size_t i = 0; i < model->process_count; i++)
		free(model->processes[i].arguments);
	free(model->threads);
	free(model->processes);
	free(model->ranks);
	free(model->streams);
	free(model->revisions);
	free(model->returns);
	free(model->expelled);
	free(model->windows);
}

struct crit_model_state {
	struct crit_thread *threads;
	uint64_t *slot_counts; /* by node */
	struct crit_losses losses;
};

struct crit_model_state *crit_model_save(const struct crit_model *model)
{
	struct crit_model_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->threads = calloc(model->thread_count + 1, sizeof(*state->threads));
	state->slot_counts = calloc(model->node_count, sizeof(*state->slot_counts));
	if (!state->threads || !state->slot_counts) {
		crit_model_state_destroy(state);
		return NULL;
	}
	for (size_t i = 0; i < model->thread_count; i++)
		state->threads[i] = model->threads[i];
	for (size_t i = 0; i < model->node_count; i++)
		state->slot_counts[i] = model->nodes[i].row.slot_count;
	state->losses = model->losses;
	return state;
}

void crit_model_restore(struct crit_model *model, const struct crit_model_state *state)
{
	for (size_t i = 0; i < model->thread_count; i++)
		model->threads[i] = state->threads[i];
	for (size_t i = 0; i < model->node_count; i++)
		model->nodes[i].row.slot_count = state->slot_counts[i];
	model->losses = state->losses;
}

void crit_model_state_destroy(struct crit_model_state *state)
{
	if (!state)
		return;
	free(state->threads);
	free(state->slot_counts);
	free(state);
}

uint64_t crit_model_traced_until_ns(const struct crit_model *model)
{
	uint64_t until_ns = model->window_end_ns;

	for (size_t i = 0; i < model->node_count; i++) {
		const struct crit_node *node = &model->nodes[i];

		if (node->recording->file.level == CRIT_LEVEL_PROFILE)
			until_ns = model->window_begin_ns;
		else if (node->row.fallback_ns && node->row.fallback_ns < until_ns)
			until_ns = node->row.fallback_ns;
	}
	return until_ns < model->window_begin_ns ? model->window_begin_ns : until_ns;
}
