// SPDX-License-Identifier: BSD-3-Clause
// Two hand-made reports: figures paired by name, sorted by change; what does not fit.
#include "report/diff/difference.h"
#include "report/diff/hot_difference.h"
#include "report/diff/diff_changes.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/check.h"

#define CALL(call, function, line)                                                                 \
	"{\"call\": \"" call "\", \"function\": \"" function "\", \"line\": " #line "}"
#define CAUSE(rank, kind, before, after, cost_s)                                                   \
	"{\"world\": 0, \"rank\": " #rank ", \"kind\": \"" kind "\", \"before\": " before          \
	", \"after\": " after ", \"cost_s\": " #cost_s "}"

static const char before[] =
	"{\"schema\": \"crit-report/2\", \"is_complete\": true,"
	" \"job\": {\"exe\": \"/a/x\", \"args\": \"1\", \"ranks\": 2, \"nodes\": 1, \"threads\": 2,"
	"   \"mpi\": \"m\", \"omp\": \"none\", \"active\": \"default\", \"mode\": \"full\","
	"   \"level\": \"trace\", \"window_s\": 2.0, \"elapsed_s\": 2.5, \"all_waiting_window_s\": "
	"0.5},"
	" \"verdict\": {\"gain_s\": 0.4},"
	" \"efficiency\": {\"cpu\": {\"parallel_ratio\": 0.5}, \"wall\": {\"parallel_ratio\": "
	"0.6}},"
	" \"ranks\": [{\"rank\": 0, \"world\": 0, \"cmetric_s\": 1.0, \"share\": 0.75},"
	"   {\"rank\": 1, \"world\": 0, \"cmetric_s\": 0.5, \"share\": 0.25}],"
	" \"regions\": [{\"path\": \"phase a\", \"cmetric_s\": 1.0},"
	"   {\"path\": \"phase gone\", \"cmetric_s\": 0.25}],"
	" \"mpi_calls\": [{\"name\": \"MPI_Recv\", \"wait_s\": 0.5, \"visits\": 10},"
	"   {\"name\": \"MPI_Barrier\", \"wait_s\": 1.0, \"visits\": 4}],"
	" \"omp_constructs\": [],"
	" \"mpi_call_sites\": [{\"name\": \"MPI_Recv\", \"file\": \"x.c\", \"line\": 7, "
	"\"wait_s\": "
	"0.25},"
	"   {\"name\": \"MPI_Recv\", \"file\": \"x.c\", \"line\": 7, \"wait_s\": 0.25}],"
	" \"nodes\": [{\"host\": \"n2\"}, {\"host\": \"n1\"}],"
	" \"threads\": [{\"node\": \"n1\", \"pid\": 7, \"tid\": 9, \"name\": \"worker\"}],"
	" \"causes\": [" CAUSE(
		0, "code", CALL("MPI_Recv", "get", 7), CALL("MPI_Send", "put", 9),
		2) "," CAUSE(0, "code", CALL("MPI_Recv", "get", 8), CALL("MPI_Send", "put", 9),
			     1) "," CAUSE(1, "call", CALL("MPI_Wait", "get", 3), "null",
					  0.5) "," CAUSE(1, "cpu", "null", "null",
							 0.5) ", {\"kind\": \"outside\", \"rank\": "
							      "null, \"cost_s\": 0.25}"
							      ", {\"kind\": \"outside\", \"rank\": "
							      "null, \"before\": {\"call\": "
							      "\"blocked\", \"system_call\": "
							      "\"fdatasync\"}, \"cost_s\": 0.0625}"
							      "," CAUSE(1, "blocked",
									CALL("MPI_Recv", "get", 7),
									CALL("MPI_Send", "put", 9),
									0.03125) ", {\"kind\": "
										 "\"code\", "
										 "\"rank\": "
										 "null, \"node\": "
										 "1, \"pid\": 7, "
										 "\"tid\": 9,"
										 "   \"before\": "
										 "{\"call\": "
										 "\"blocked\", "
										 "\"system_call\": "
										 "\"futex\"}, "
										 "\"after\": null,"
										 "   \"cost_s\": "
										 "0.125}]}";

static const char after[] =
	"{\"schema\": \"crit-report/2\", \"is_complete\": true,"
	" \"job\": {\"exe\": \"/a/x\", \"args\": \"1\", \"ranks\": 3, \"nodes\": 1, \"threads\": 3,"
	"   \"mpi\": \"m\", \"omp\": \"none\", \"active\": \"default\", \"mode\": \"full\","
	"   \"level\": \"trace\", \"window_s\": 1.5, \"elapsed_s\": 2.0, \"all_waiting_window_s\": "
	"0.5},"
	" \"verdict\": {\"gain_s\": 0.1},"
	" \"efficiency\": {\"cpu\": {\"parallel_ratio\": 0.8}, \"wall\": {\"parallel_ratio\": "
	"0.9}},"
	" \"ranks\": [{\"rank\": 0, \"world\": 0, \"cmetric_s\": 0.75, \"share\": 0.5},"
	"   {\"rank\": 1, \"world\": 0, \"cmetric_s\": 0.0, \"share\": 0.0},"
	"   {\"rank\": 2, \"world\": 0, \"cmetric_s\": 0.125, \"share\": 0.5}],"
	" \"regions\": [{\"path\": \"phase new\", \"cmetric_s\": 2.0},"
	"   {\"path\": \"phase a\", \"cmetric_s\": 1.0}],"
	" \"mpi_calls\": [{\"name\": \"MPI_Barrier\", \"wait_s\": 0.125, \"visits\": 8},"
	"   {\"name\": \"MPI_Recv\", \"wait_s\": 0.25, \"visits\": 10}],"
	" \"omp_constructs\": [{\"name\": \"omp barrier\", \"wait_s\": 0.0625, \"visits\": 1}],"
	" \"mpi_call_sites\": [{\"name\": \"MPI_Recv\", \"file\": \"x.c\", \"line\": 7, "
	"\"wait_s\": "
	"0.25}],"
	" \"nodes\": [{\"host\": \"n2\"}, {\"host\": \"n1\"}],"
	" \"threads\": [{\"node\": \"n2\", \"pid\": 3, \"tid\": 4, \"name\": \"other\"},"
	"   {\"node\": \"n1\", \"pid\": 3, \"tid\": 4, \"name\": \"worker\"}],"
	" \"causes\": [" CAUSE(
		0, "code", CALL("MPI_Recv", "get", 17), CALL("MPI_Send", "put", 20),
		4) ", {\"kind\": \"code\", \"rank\": null, \"node\": 1, \"pid\": 3, \"tid\": 4,"
		   "   \"before\": {\"call\": \"blocked\", \"system_call\": \"futex\"}, \"after\": "
		   "null,"
		   "   \"cost_s\": 0.125}]}";

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *report = json_loads(text, 0, &error);

	if (report)
		return report;
	fprintf(stderr, "bad fixture: %s\n", error.text);
	exit(1);
}

static const struct crit_diff_change *find(const struct crit_diff *diff, enum crit_diff_group group,
					   const char *name, const char *figure)
{
	size_t count;
	const struct crit_diff_change *change = crit_diff_changes(diff, &count);

	for (const struct crit_diff_change *end = change + count; change < end; change++) {
		if (change->group == group && !strcmp(change->name, name) &&
		    !strcmp(change->figure, figure))
			return change;
	}
	fprintf(stderr, "no change %s %s\n", name, figure);
	exit(1);
}

static void check(const struct crit_diff_change *change, double a, double b)
{
	CHECK_CASE("%.40s %.20s", change->name, change->figure);
	CHECK_NEAR(change->a, a, 0);
	CHECK_NEAR(change->b, b, 0);
	CHECK_NEAR(crit_diff_by(change), b - a, 0);
}

/* Names of the rows of a group, in their order. */
static void check_order(const struct crit_diff *diff, enum crit_diff_group group,
			const char *expected)
{
	char order[512] = "";
	const char *last = "";
	size_t count;
	const struct crit_diff_change *change = crit_diff_changes(diff, &count);

	for (const struct crit_diff_change *end = change + count; change < end; change++) {
		if (change->group != group || !strcmp(last, change->name))
			continue;
		last = change->name;
		(void)snprintf(order + strlen(order), sizeof(order) - strlen(order), "%s;", last);
	}
	CHECK_STR_EQ(order, expected);
}

static size_t count_notes(const struct crit_diff *diff)
{
	size_t count = 0;

	while (crit_diff_note(diff, count))
		count++;
	return count;
}

static void test_changes(void)
{
	const struct crit_diff_change *change;
	size_t count;
	json_t *a = parse(before);
	json_t *b = parse(after);
	struct crit_diff *diff;

	CHECK_INT_EQ(crit_diff_create(a, b, &diff), 0);
	check(find(diff, CRIT_DIFF_RUN, "run", "window_s"), 2.0, 1.5);
	check(find(diff, CRIT_DIFF_RUN, "run", "gain_s"), 0.4, 0.1);
	check(find(diff, CRIT_DIFF_EFFICIENCY, "cpu", "parallel_ratio"), 0.5, 0.8);
	check(find(diff, CRIT_DIFF_EFFICIENCY, "wall", "parallel_ratio"), 0.6, 0.9);
	check(find(diff, CRIT_DIFF_RANKS, "0.0", "cmetric_s"), 1.0, 0.75);
	check(find(diff, CRIT_DIFF_RANKS, "0.2", "share"), 0, 0.5);
	CHECK(!find(diff, CRIT_DIFF_RANKS, "0.2", "share")->has_a);
	check(find(diff, CRIT_DIFF_REGIONS, "phase gone", "cmetric_s"), 0.25, 0);
	CHECK(!find(diff, CRIT_DIFF_REGIONS, "phase gone", "cmetric_s")->has_b);
	check(find(diff, CRIT_DIFF_CALLS, "MPI_Barrier", "visits"), 4, 8);
	check(find(diff, CRIT_DIFF_CALLS, "omp barrier", "wait_s"), 0, 0.0625);
	check(find(diff, CRIT_DIFF_CALL_SITES, "MPI_Recv x.c:7", "wait_s"), 0.5, 0.25);
	check_order(diff, CRIT_DIFF_RANKS, "0.1;0.0;0.2;");
	check_order(diff, CRIT_DIFF_REGIONS, "phase new;phase gone;phase a;");
	check_order(diff, CRIT_DIFF_CALLS, "MPI_Barrier;MPI_Recv;omp barrier;");
	/* lines and numbers of threads are others, and two lines of one run are one row */
	check(find(diff, CRIT_DIFF_CAUSES, "0.0: between MPI_Recv get and MPI_Send put", "cost_s"),
	      3, 4);
	check(find(diff, CRIT_DIFF_CAUSES, "worker: from futex to its end", "cost_s"), 0.125,
	      0.125);
	check_order(diff, CRIT_DIFF_CAUSES,
		    "0.0: between MPI_Recv get and MPI_Send put;0.1: in MPI_Wait get;"
		    "0.1: wants a CPU and has none;nobody of the run;"
		    "nobody of the run: what ends fdatasync;"
		    "0.1: blocked between MPI_Recv get and MPI_Send put;"
		    "worker: from futex to its end;");
	CHECK_UINT_EQ(count_notes(diff), 1); /* ranks */
	CHECK(strstr(crit_diff_note(diff, 0), "ranks: 2 and 3"));
	CHECK(!crit_diff_is_incomplete(diff));
	crit_diff_destroy(diff);

	CHECK_INT_EQ(crit_diff_create(a, a, &diff), 0);
	change = crit_diff_changes(diff, &count);
	for (size_t i = 0; i < count; i++)
		CHECK_NEAR(crit_diff_by(&change[i]), 0, 0);
	CHECK_UINT_EQ(count_notes(diff), 0);
	crit_diff_destroy(diff);
	json_decref(a);
	json_decref(b);
}

static json_t *load(const char *path)
{
	json_error_t error;
	json_t *report = json_load_file(path, 0, &error);

	if (report)
		return report;
	fprintf(stderr, "%s: %s\n", path, error.text);
	exit(1);
}

/* A report as crit-report/1 had it against the same one of today: the same figures by new names. */
static void test_old_schema(void)
{
	static const char *const names[] = { "barriers.json", "hybrid.json" };
	struct crit_diff *diff;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct crit_diff_change *changes;
		size_t count;
		char path[256];
		json_t *a, *b;

		CHECK_CASE("%s", names[i]);
		(void)snprintf(path, sizeof(path), "%s/1/%s", DATA_DIR, names[i]);
		a = load(path);
		CHECK_STR_EQ(json_string_value(json_object_get(a, "schema")), "crit-report/1");
		CHECK_INT_EQ(crit_diff_update(a), 0);
		CHECK(!json_object_get(a, "laws"));
		CHECK(json_array_size(json_object_get(a, "checks")) > 0);
		(void)snprintf(path, sizeof(path), "%s/%s", DATA_DIR, names[i]);
		b = load(path);
		CHECK_INT_EQ(crit_diff_update(b), 0);
		CHECK_INT_EQ(crit_diff_create(a, b, &diff), 0);
		(void)find(diff, CRIT_DIFF_RUN, "run", "all_waiting_window_s");
		(void)find(diff, CRIT_DIFF_RUN, "run", "gain_s");
		(void)find(diff, CRIT_DIFF_RANKS, "0.0", "all_waiting_s");
		(void)find(diff, CRIT_DIFF_RANKS, "0.0", "blame_s");
		changes = crit_diff_changes(diff, &count);
		for (size_t k = 0; k < count; k++) {
			CHECK_NEAR(crit_diff_by(&changes[k]), 0, 0);
			CHECK(changes[k].has_a && changes[k].has_b);
		}
		CHECK_UINT_EQ(count_notes(diff), 1);
		CHECK(strstr(crit_diff_note(diff, 0), "causes: both do not tell"));
		crit_diff_destroy(diff);
		json_decref(a);
		json_decref(b);
	}
}

/* One of them lacks what waits cost: no rows, which would be new or gone. */
static void test_without_causes(void)
{
	json_t *a = parse(before), *b = parse(after);
	const json_t *pairs[][2] = { { a, b }, { b, a } };
	static const char *const notes[] = { "causes: B does not tell", "causes: A does not tell" };

	(void)json_object_del(b, "causes");
	for (size_t i = 0; i < 2; i++) {
		const struct crit_diff_change *changes;
		struct crit_diff *diff;
		size_t count;

		CHECK_INT_EQ(crit_diff_create(pairs[i][0], pairs[i][1], &diff), 0);
		changes = crit_diff_changes(diff, &count);
		for (size_t k = 0; k < count; k++)
			CHECK(changes[k].group != CRIT_DIFF_CAUSES);
		CHECK_UINT_EQ(count_notes(diff), 2); /* ranks, causes */
		CHECK(strstr(crit_diff_note(diff, 1), notes[i]));
		CHECK(!crit_diff_is_incomplete(diff));
		crit_diff_destroy(diff);
	}
	json_decref(a);
	json_decref(b);
}

/* A name of the new schema is kept; other schemas are refused and stay as they are. */
static void test_schemas(void)
{
	json_t *both = parse("{\"schema\": \"crit-report/1\", \"verdict\": "
			     "{\"stake_s\": 2, \"gain_s\": 1}}");
	json_t *new = parse("{\"schema\": \"crit-report/2\", \"laws\": 1}");
	json_t *other = parse("{\"schema\": \"crit-report/3\", \"laws\": 1}");
	json_t *none = parse("[]");
	const json_t *verdict = json_object_get(both, "verdict");

	CHECK_INT_EQ(crit_diff_update(both), 0);
	CHECK_INT_EQ(json_integer_value(json_object_get(verdict, "gain_s")), 1);
	CHECK(!json_object_get(verdict, "stake_s"));
	CHECK_INT_EQ(crit_diff_update(new), 0);
	CHECK(json_object_get(new, "laws"));
	CHECK_INT_EQ(crit_diff_update(other), -EPROTO);
	CHECK(json_object_get(other, "laws"));
	CHECK_INT_EQ(crit_diff_update(none), -EPROTO);
	json_decref(both);
	json_decref(new);
	json_decref(other);
	json_decref(none);
}

/* What makes figures mean something else is said, and is exit code 3. */
static void test_incomparable(void)
{
	static const struct {
		const char *key;
		const char *value;
		bool is_grave;
	} cases[] = {
		{ "active", "kernel", true },  { "mode", "shims only", true },
		{ "level", "profile", false }, { "exe", "/b/y", false },
		{ "mpi", "other", false },
	};
	struct crit_diff *diff;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *a = parse(before);
		json_t *b = parse(before);

		CHECK_CASE("%s", cases[i].key);
		json_object_set_new(json_object_get(b, "job"), cases[i].key,
				    json_string(cases[i].value));
		CHECK_INT_EQ(crit_diff_create(a, b, &diff), 0);
		CHECK_UINT_EQ(count_notes(diff), 1);
		CHECK(strstr(crit_diff_note(diff, 0), cases[i].value));
		CHECK_INT_EQ(crit_diff_is_incomplete(diff), cases[i].is_grave);
		crit_diff_destroy(diff);
		json_object_set_new(a, "is_complete", json_false());
		CHECK_INT_EQ(crit_diff_create(a, b, &diff), 0);
		CHECK_UINT_EQ(count_notes(diff), 2);
		CHECK(crit_diff_is_incomplete(diff));
		crit_diff_destroy(diff);
		json_decref(a);
		json_decref(b);
	}
}

/* One sentence: by how much, from what to what, and which parts of the window made it. */
static void test_sentence(void)
{
	static const struct {
		double window_s[2], useful_s[2], imbalance_s[2];
		const char *sentence;
	} rows[] = {
		{ { 4, 3 },
		  { 2, 2 },
		  { 2, 1 },
		  "25.0% faster: window 4.000 s -> 3.000 s; most of it: imbalance 1.000 s less." },
		{ { 4, 5 },
		  { 2, 2.5 },
		  { 2, 2.5 },
		  "25.0% slower: window 4.000 s -> 5.000 s; most of it: useful time 0.500 s more, "
		  "imbalance 0.500 s more." },
		{ { 4, 3 },
		  { 3, 1 },
		  { 1, 2 },
		  "25.0% faster: window 4.000 s -> 3.000 s; most of it: useful time 2.000 s less; "
		  "but imbalance 1.000 s more." },
		{ { 4, 4.03 },
		  { 3, 3.03 },
		  { 1, 1 },
		  "No difference beyond 1%: window 4.000 s -> 4.030 s." },
		{ { 4, 4 },
		  { 3, 2 },
		  { 1, 2 },
		  "No difference beyond 1%: window 4.000 s -> 4.000 s; inside it: imbalance "
		  "1.000 s more, useful time 1.000 s less." },
		{ { 0, 4 }, { 0, 2 }, { 0, 2 }, "No difference to tell: a report has no window." },
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *sides[2];

		for (int j = 0; j < 2; j++)
			sides[j] = json_pack("{s:{s:f}, s:{s:s}, s:{s:f, s:f}}", "job", "window_s",
					     rows[i].window_s[j], "verdict", "unit", "ranks",
					     "lost_time", "useful_s", rows[i].useful_s[j],
					     "imbalance_s", rows[i].imbalance_s[j]);
		CHECK_STR_EQ(crit_difference_say(sides[0], sides[1], text, sizeof(text)),
			     rows[i].sentence);
		if (i == 0) { /* a thread's time says nothing about a rank's */
			json_object_set_new(json_object_get(sides[1], "verdict"), "unit",
					    json_string("threads"));
			CHECK_STR_EQ(crit_difference_say(sides[0], sides[1], text, sizeof(text)),
				     "25.0% faster: window 4.000 s -> 3.000 s.");
		}
		json_decref(sides[0]);
		json_decref(sides[1]);
	}
}

/* Lines and functions: by more than two standard errors of both, or not at all. */
static void test_hot(void)
{
	static const char *const texts[2] = {
		"{\"hot\": ["
		"{\"kind\": \"code\", \"function\": \"void g<int>()\", \"file\": \"/a/x.cc\","
		" \"line\": 3, \"cmetric_s\": 5.0, \"error_s\": 0.2, \"samples\": 500},"
		"{\"kind\": \"code\", \"function\": \"void g<int>()\", \"file\": \"/a/x.cc\","
		" \"line\": 4, \"cmetric_s\": 4.0, \"error_s\": 0.3, \"samples\": 400},"
		"{\"kind\": \"code\", \"function\": \"__m_MOD_f\", \"file\": \"m.f90\","
		" \"line\": 9, \"cmetric_s\": 1.0, \"error_s\": 0.1, \"samples\": 100}]}",
		"{\"hot\": ["
		"{\"kind\": \"code\", \"function\": \"void g<int>()\", \"file\": \"/b/x.cc\","
		" \"line\": 3, \"cmetric_s\": 10.0, \"error_s\": 0.8, \"samples\": 500},"
		"{\"kind\": \"code\", \"function\": \"__m_MOD_f\", \"file\": \"m.f90\","
		" \"line\": 9, \"cmetric_s\": 10.0, \"error_s\": null, \"samples\": 500}]}",
	};
	static const struct {
		const char *function;
		bool is_line;
		long long line;
		double a, b, error;
		bool is_changed;
	} rows[] = {
		/* 0 samples of 1000: 3 of them are two standard errors */
		{ "void g<int>()", true, 4, 0.4, 0, 0.0300375, true },
		{ "__m_MOD_f", true, 9, 0.1, 0.5, -1, false },
		{ "void g<int>()", true, 3, 0.5, 0.5, 0.0447214, false },
		{ "void g<int>()", false, 0, 0.9, 0.5, 0.0640312, true },
		{ "__m_MOD_f", false, 0, 0.1, 0.5, -1, false },
	};
	json_t *reports[2] = { parse(texts[0]), parse(texts[1]) };
	struct crit_hot_difference hot;

	CHECK_INT_EQ(crit_hot_difference_init(&hot, (const json_t *const *)reports), 0);
	if (!CHECK_UINT_EQ(hot.count, sizeof(rows) / sizeof(rows[0])))
		exit(1);
	for (size_t i = 0; i < hot.count; i++) {
		CHECK_CASE("row %zu", i);
		CHECK_STR_EQ(hot.rows[i].function, rows[i].function);
		CHECK_INT_EQ(hot.rows[i].is_line, rows[i].is_line);
		CHECK_INT_EQ(hot.rows[i].line, rows[i].line);
		CHECK_NEAR(hot.rows[i].sides[0].share, rows[i].a, 1e-9);
		CHECK_NEAR(hot.rows[i].sides[1].share, rows[i].b, 1e-9);
		CHECK_NEAR(hot.rows[i].error, rows[i].error, 1e-6);
		CHECK_INT_EQ(hot.rows[i].is_changed, rows[i].is_changed);
	}
	crit_hot_difference_fini(&hot);
	json_object_del(reports[1], "hot");
	CHECK_INT_EQ(crit_hot_difference_init(&hot, (const json_t *const *)reports), 0);
	CHECK_UINT_EQ(hot.count, 0);
	crit_hot_difference_fini(&hot);
	json_decref(reports[0]);
	json_decref(reports[1]);
}

/* Any JSON at all: no figure, no crash. */
static void test_nonsense(void)
{
	static const char *const texts[] = { "{}", "{\"ranks\": 3, \"job\": []}",
					     "{\"ranks\": [1, null, {}], \"efficiency\": [1]}" };
	struct crit_diff *diff;
	char sentence[256];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *a = parse(texts[i]);

		CHECK_INT_EQ(crit_diff_create(a, a, &diff), 0);
		CHECK(crit_diff_is_incomplete(diff));
		crit_diff_destroy(diff);
		CHECK(crit_difference_say(a, a, sentence, sizeof(sentence))[0]);
		json_decref(a);
	}
}

int main(void)
{
	test_changes();
	test_old_schema();
	test_without_causes();
	test_schemas();
	test_incomparable();
	test_sentence();
	test_hot();
	test_nonsense();
	return check_done();
}
