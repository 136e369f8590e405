// SPDX-License-Identifier: BSD-3-Clause
// Which of a run's nodes reports: by what its recording names and what lies beside it.
#include <unistd.h>

#include "cli/results/nodes.h"
#include "core/client/client_key.h"
#include "tests/lib/check.h"
#include "tests/maker/maker.h"

static char directory[] = "/tmp/crit-nodes-XXXXXX";
static char own[CRIT_WORLD_BYTES];

static const char *path_of(const char *host)
{
	static char path[sizeof(directory) + CRIT_WORLD_BYTES + 8];

	(void)snprintf(path, sizeof(path), "%s/%s.crit", directory, host);
	return path;
}

static void name_node(struct crit_maker *m, const char *host)
{
	char name[CRIT_WORLD_BYTES] = { 0 };

	(void)snprintf(name, sizeof(name), "%s", host);
	crit_maker_chunk(m, (struct crit_chunk_head){ .kind = CRIT_C_NODES }, name, sizeof(name));
}

/* A recording that names two nodes, or one, or none. */
static void make(const char *host, const char *first, const char *second)
{
	FILE *out = fopen(path_of(host), "w");
	struct crit_maker *m;

	if (!CHECK(out != NULL))
		return;
	m = crit_maker_create(&(struct crit_maker_options){ .out = out });
	crit_maker_file(m, (struct crit_rec_file){ .cpu_count = 1 });
	if (first)
		name_node(m, first);
	if (second)
		name_node(m, second);
	crit_maker_destroy(m);
	fclose(out);
}

/* Alone it reports; what if another node's recording lies beside its own? */
static void check_reporter(const char *first, const char *second, bool is_reporter)
{
	make(own, first, second);
	CHECK_INT_EQ(crit_nodes_is_reporter(directory), true);
	make("other", NULL, NULL);
	CHECK_INT_EQ(crit_nodes_is_reporter(directory), is_reporter);
	CHECK_INT_EQ(unlink(path_of(own)), 0);
	CHECK_INT_EQ(unlink(path_of("other")), 0);
}

int main(void)
{
	crit_client_host(own);
	if (!CHECK(mkdtemp(directory) != NULL))
		return check_done();
	CHECK_CASE("one node");
	check_reporter(NULL, NULL, true);
	CHECK_CASE("the first one");
	check_reporter(own, "other", true);
	CHECK_CASE("another one");
	check_reporter("other", NULL, false);
	CHECK_CASE("another one, and the first of a world that came later");
	check_reporter("other", own, false);
	CHECK_CASE("the first one is not here");
	check_reporter("third", NULL, true);
	CHECK_CASE("moved away");
	CHECK_INT_EQ(crit_nodes_is_reporter(directory), false);
	CHECK_CASE("the node has another name now");
	make("former", "other", NULL);
	CHECK_INT_EQ(crit_nodes_is_reporter(directory), true);
	CHECK_INT_EQ(unlink(path_of("former")), 0);
	CHECK_INT_EQ(rmdir(directory), 0);
	return check_done();
}
