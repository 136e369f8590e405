// SPDX-License-Identifier: BSD-3-Clause
// Enters of an archive against the visits of a report: what is right, and each way to be wrong.
#include <stdlib.h>
#include <unistd.h>

#include "cli/results/visits.h"
#include "tests/lib/check.h"

#define WINDOW_NS 2000000000u
#define RUN_ID 0xabcdu

/* Two ranks; constructs on one line of two files, and one that nobody knows the line of. */
static const char report[] =
	"{\"job\": {\"run_id\": \"000000000000abcd\", \"window_s\": 2.0},"
	" \"ranks\": [{}, {}],"
	" \"mpi_calls\": [{\"name\": \"MPI_Barrier\", \"visits\": 7}],"
	" \"omp_construct_call_sites\": ["
	"  {\"name\": \"omp for\", \"file\": \"/a.c\", \"line\": 5, \"visits\": 10},"
	"  {\"name\": \"omp for\", \"file\": \"/b.c\", \"line\": 5, \"visits\": 20},"
	"  {\"name\": \"omp for\", \"file\": \"/b.c\", \"line\": 5, \"visits\": 2},"
	"  {\"name\": \"omp for\", \"file\": null, \"line\": null, \"visits\": 3},"
	"  {\"name\": \"phase\", \"file\": null, \"line\": null, \"visits\": 6}]}";

static char for_a[] = "omp for @a.c:5", for_b[] = "omp for @b.c:5",
	    for_some[] = "omp for @solver+1c", barrier[] = "MPI_Barrier", init[] = "MPI_Init",
	    solve[] = "solve", set_up[] = "set up", program[] = "solver", a_c[] = "/a.c",
	    b_c[] = "/b.c";

enum row {
	ROW_FOR_A = 0,
	ROW_FOR_B,
	ROW_FOR_SOME,
	ROW_BARRIER,
	ROW_INIT,
	ROW_SOLVE,
	ROW_SET_UP,
	ROW_PROGRAM,
	ROW_COUNT
};

static const struct crit_otf2_entered right[ROW_COUNT] = {
	[ROW_FOR_A] = { for_a, a_c, 5, CRIT_OTF2_OWNER_OPENMP, 10 },
	[ROW_FOR_B] = { for_b, b_c, 5, CRIT_OTF2_OWNER_OPENMP, 22 },
	[ROW_FOR_SOME] = { for_some, NULL, 0, CRIT_OTF2_OWNER_OPENMP, 3 },
	[ROW_BARRIER] = { barrier, NULL, 0, CRIT_OTF2_OWNER_MPI, 7 },
	[ROW_INIT] = { init, NULL, 0, CRIT_OTF2_OWNER_MPI, 2 }, /* one per rank, in no table */
	[ROW_SOLVE] = { solve, NULL, 0, CRIT_OTF2_OWNER_PHASE, 4 },
	[ROW_SET_UP] = { set_up, NULL, 0, CRIT_OTF2_OWNER_PHASE, 2 },
	[ROW_PROGRAM] = { program, NULL, 0, CRIT_OTF2_OWNER_NONE, 2 },
};

static const struct {
	const char *name;
	enum row row; /* entered so often instead */
	uint64_t count;
	int64_t faults;
	const char *pattern; /* of the last fault */
} cases[] = {
	{ "right", ROW_FOR_A, 10, 0, "" },
	{ "more in one file", ROW_FOR_A, 32, 1,
	  "omp for at /a.c:5 is entered 32 times, and has 10" },
	{ "less in one file", ROW_FOR_B, 0, 1, "omp for at /b.c:5 is entered 0 times, and has 22" },
	{ "nobody knows where", ROW_FOR_SOME, 4, 1, "omp for is entered 4 times, and has 3" },
	{ "a call of MPI", ROW_BARRIER, 6, 1, "MPI_Barrier is entered 6 times, and has 7" },
	{ "too many begins of MPI", ROW_INIT, 3, 1, "MPI_Init is entered 3 times, and has 0" },
	{ "no begin of MPI", ROW_INIT, 0, 0, "" },
	{ "a phase", ROW_SOLVE, 5, 1, "phase is entered 7 times, and has 6" },
	{ "the program", ROW_PROGRAM, 9, 0, "" },
};

static char last[512];

static void take_fault(void *user, const char *text)
{
	(void)user;
	(void)snprintf(last, sizeof(last), "%s", text);
}

static void check_cases(const char *anchor)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct crit_otf2_entered rows[ROW_COUNT];
		struct crit_otf2_entered_list list = { rows, ROW_COUNT, true, RUN_ID, WINDOW_NS };

		CHECK_CASE("%s", cases[i].name);
		memcpy(rows, right, sizeof(rows));
		rows[cases[i].row].count = cases[i].count;
		last[0] = '\0';
		CHECK_INT_EQ(crit_visits_compare(anchor, &list, take_fault, NULL), cases[i].faults);
		CHECK_MSG(strstr(last, cases[i].pattern) != NULL, "%s", last);
	}
	CHECK_CASE("%s", "");
}

/* What is of another analysis, or not all there, is not compared. */
static void check_others(const char *anchor)
{
	struct crit_otf2_entered row = { barrier, NULL, 0, CRIT_OTF2_OWNER_MPI, 99 };
	struct crit_otf2_entered_list list = { &row, 1, true, RUN_ID, WINDOW_NS };

	CHECK(crit_visits_compare(anchor, &list, take_fault, NULL) > 0);
	list.is_whole = false;
	CHECK_INT_EQ(crit_visits_compare(anchor, &list, take_fault, NULL), 0);
	list = (struct crit_otf2_entered_list){ &row, 1, true, RUN_ID + 1, WINDOW_NS };
	CHECK_INT_EQ(crit_visits_compare(anchor, &list, take_fault, NULL), 0);
	list = (struct crit_otf2_entered_list){ &row, 1, true, RUN_ID, WINDOW_NS + 1 };
	CHECK_INT_EQ(crit_visits_compare(anchor, &list, take_fault, NULL), 0);
	list.window_ns = WINDOW_NS;
	CHECK_INT_EQ(crit_visits_compare("/nowhere/traces.otf2", &list, take_fault, NULL), 0);
}

int main(void)
{
	char directory[] = "/tmp/crit-visits.XXXXXX", anchor[64], path[64];
	FILE *file;

	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	(void)snprintf(anchor, sizeof(anchor), "%s/traces.otf2", directory);
	(void)snprintf(path, sizeof(path), "%s/report.json", directory);
	file = fopen(path, "we");
	if (!CHECK(file != NULL))
		return check_done();
	(void)fputs(report, file);
	(void)fclose(file);
	check_cases(anchor);
	check_others(anchor);
	CHECK_INT_EQ(unlink(path), 0);
	CHECK_INT_EQ(rmdir(directory), 0);
	return check_done();
}
