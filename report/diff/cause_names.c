// SPDX-License-Identifier: BSD-3-Clause
// Names of causes by what does not change from run to run.
#include "report/diff/cause_names.h"

#include <stdio.h>
#include <string.h>

#define CALL_BYTES 96

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static long long number_of(const json_t *row, const char *key)
{
	return (long long)json_integer_value(json_object_get(row, key));
}

static uint64_t hash_thread(const json_t *row)
{
	return crit_hash_mix(crit_hash_mix(0, (uint64_t)number_of(row, "tid")),
			     (uint64_t)number_of(row, "pid"));
}

int crit_cause_names_init(struct crit_cause_names *names, const json_t *report)
{
	const json_t *thread;
	int rc = 0;
	size_t i;

	*names = (struct crit_cause_names){ .report = report };
	json_array_foreach(json_object_get(report, "threads"), i, thread)
	{
		if (!rc)
			rc = crit_index_put(&names->threads, hash_thread(thread), (uint32_t)i);
	}
	return rc;
}

void crit_cause_names_fini(struct crit_cause_names *names)
{
	crit_index_fini(&names->threads);
}

/* The name in threads[] of the thread that a row is of. */
static const char *thread_name(const struct crit_cause_names *names, const json_t *row)
{
	const json_t *nodes = json_object_get(names->report, "nodes");
	const json_t *threads = json_object_get(names->report, "threads");
	const char *host = text_of(json_array_get(nodes, (size_t)number_of(row, "node")), "host");
	struct crit_probe probe;
	uint32_t i = crit_index_first(&names->threads, hash_thread(row), &probe);

	for (; i != CRIT_NONE; i = crit_index_next(&names->threads, &probe)) {
		const json_t *thread = json_array_get(threads, i);
		const char *of = text_of(thread, "node");

		if (number_of(thread, "tid") == number_of(row, "tid") &&
		    number_of(thread, "pid") == number_of(row, "pid") && of && host &&
		    strcmp(of, host) == 0)
			return text_of(thread, "name");
	}
	return NULL;
}

static void name_who(const struct crit_cause_names *names, const json_t *row, char *text,
		     size_t text_bytes)
{
	const char *name;

	if (json_is_integer(json_object_get(row, "rank"))) {
		(void)snprintf(text, text_bytes, "%lld.%lld", number_of(row, "world"),
			       number_of(row, "rank"));
		return;
	}
	name = thread_name(names, row);
	(void)snprintf(text, text_bytes, "%s", name ? name : "?");
}

/* "MPI_Recv receive", "MPI_Recv solver+12", "futex". */
static const char *name_call(const json_t *call, char text[CALL_BYTES])
{
	const char *function = text_of(call, "function");
	const char *module = text_of(call, "module");
	const char *system_call = text_of(call, "system_call");
	const char *slash = module ? strrchr(module, '/') : NULL;
	const char *name = text_of(call, "call");

	if (system_call)
		(void)snprintf(text, CALL_BYTES, "%s", system_call);
	else if (function)
		(void)snprintf(text, CALL_BYTES, "%.40s %s", name ? name : "?", function);
	else if (module)
		(void)snprintf(text, CALL_BYTES, "%.40s %.30s+%lld", name ? name : "?",
			       slash ? slash + 1 : module, number_of(call, "offset"));
	else
		(void)snprintf(text, CALL_BYTES, "%s", name ? name : "?");
	return text;
}

static void name_place(const json_t *row, char *text, size_t text_bytes)
{
	const json_t *before = json_object_get(row, "before");
	const json_t *after = json_object_get(row, "after");
	char first[CALL_BYTES], second[CALL_BYTES];

	if (json_is_object(before))
		(void)name_call(before, first);
	if (json_is_object(after))
		(void)name_call(after, second);
	if (json_is_object(before) && json_is_object(after))
		(void)snprintf(text, text_bytes, "between %s and %s", first,
			       strcmp(first, second) ? second : "the next");
	else if (json_is_object(before))
		(void)snprintf(text, text_bytes, "from %s to its end", first);
	else if (json_is_object(after))
		(void)snprintf(text, text_bytes, "from its begin to %s", second);
	else
		(void)snprintf(text, text_bytes, "from its begin to its end");
}

void crit_cause_names_say(const struct crit_cause_names *names, const json_t *row, char *text,
			  size_t text_bytes)
{
	const char *kind = text_of(row, "kind");
	char who[48], what[2 * CALL_BYTES + 32], call[CALL_BYTES];

	if (kind && !strcmp(kind, "outside")) {
		const json_t *before = json_object_get(row, "before");

		(void)snprintf(text, text_bytes, "nobody of the run%s%s",
			       json_is_object(before) ? ": what ends " : "",
			       json_is_object(before) ? name_call(before, call) : "");
		return;
	}
	name_who(names, row, who, sizeof(who));
	if (kind && !strcmp(kind, "cpu"))
		(void)snprintf(what, sizeof(what), "wants a CPU and has none");
	else if (kind && !strcmp(kind, "call"))
		(void)snprintf(what, sizeof(what), "in %s",
			       name_call(json_object_get(row, "before"), call));
	else
		name_place(row, what, sizeof(what));
	(void)snprintf(text, text_bytes, "%s: %s%s", who,
		       kind && !strcmp(kind, "blocked") ? "blocked " : "", what);
}
