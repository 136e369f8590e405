// SPDX-License-Identifier: BSD-3-Clause
// Threads meet at a barrier, and each copies what the others have laid out for it.
#include "tests/lib/cluster.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/analyse.h"
#include "core/base/err.h"

struct room { /* where all meet */
	const struct crit_test_crew *crew;
	const char *const *paths;
	size_t path_count;
	pthread_barrier_t barrier;
	/* of an exchange and of the one before, which others may still read: from and for whom */
	struct crit_exchange_buffer offers[2][CRIT_TEST_CLUSTER_MAX][CRIT_TEST_CLUSTER_MAX];
};

struct member {
	struct room *room;
	uint32_t rank;
	uint32_t turn; /* of the offers */
	struct crit_results *results;
	int rc;
};

static int copy(struct crit_exchange_buffer *to, const struct crit_exchange_buffer *from)
{
	to->size = 0;
	return crit_exchange_buffer_put(to, from->bytes, from->size);
}

static int exchange(void *user, const struct crit_exchange_buffer *to,
		    struct crit_exchange_buffer *from)
{
	struct member *member = user;
	struct room *room = member->room;
	const uint32_t turn = member->turn, count = room->crew->transport;
	int rc = 0;

	member->turn = !turn;
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = copy(&room->offers[turn][member->rank][i], &to[i]);
	(void)pthread_barrier_wait(&room->barrier);
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = copy(&from[i], &room->offers[turn][i][member->rank]);
	return rc;
}

static void free_offers(struct room *room)
{
	for (uint32_t i = 0; i < CRIT_TEST_CLUSTER_MAX; i++) {
		for (uint32_t j = 0; j < CRIT_TEST_CLUSTER_MAX; j++) {
			free(room->offers[0][i][j].bytes);
			free(room->offers[1][i][j].bytes);
		}
	}
}

static void *analyse(void *user)
{
	static const char *const nothing[] = { "/nonexistent" };
	struct member *member = user;
	const struct crit_test_crew *crew = member->room->crew;
	const bool is_told = !crew->is_gathered || !member->rank;
	struct crit_transport transport = { .rank = member->rank,
					    .count = crew->transport,
					    .round_steps = crew->round_steps,
					    .user = member,
					    .exchange = exchange };
	struct crit_analysis_options options = {
		.rule = crew->rule,
		.transport = &transport,
		.trace = is_told && crew->sinks ? &crew->sinks[member->rank] : NULL,
		.listener = is_told && crew->listeners ? &crew->listeners[member->rank] : NULL,
		.is_gathered = crew->is_gathered,
	};
	struct crit_err err = { .text = "" };
	bool is_blind = crew->blind == member->rank;

	member->rc = crit_analyse(is_blind ? nothing : member->room->paths,
				  is_blind ? 1 : member->room->path_count, &options,
				  &member->results, &err);
	return NULL;
}

int crit_test_crew_analyse(const struct crit_test_crew *crew, const char *const *paths,
			   size_t count, struct crit_results **ret_results)
{
	struct room room = { .crew = crew, .paths = paths, .path_count = count };
	struct member members[CRIT_TEST_CLUSTER_MAX] = { 0 };
	pthread_t threads[CRIT_TEST_CLUSTER_MAX];
	int rc;

	if (pthread_barrier_init(&room.barrier, NULL, crew->transport))
		return -EAGAIN;
	for (uint32_t i = 0; i < crew->transport; i++) {
		members[i] = (struct member){ .room = &room, .rank = i };
		if (pthread_create(&threads[i], NULL, analyse, &members[i]))
			return -EAGAIN;
	}
	for (uint32_t i = 0; i < crew->transport; i++)
		(void)pthread_join(threads[i], NULL);
	(void)pthread_barrier_destroy(&room.barrier);
	free_offers(&room);
	rc = members[0].rc;
	for (uint32_t i = 1; i < crew->transport; i++) {
		if (members[i].rc != rc || members[i].results)
			rc = -EDOM;
	}
	*ret_results = members[0].results;
	return rc;
}
