// SPDX-License-Identifier: BSD-3-Clause
// Compares the windows of two runs, then the useful time and the losses they are made of.
#include "report/diff/difference.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "core/base/line.h"

#define WORTH_SAYING_RATIO 0.2 /* of the difference of the windows */
#define MOVED_RATIO 0.05 /* of the window, where that did not change */
#define PARTS_SAID 2

struct part {
	const char *key; /* in lost_time */
	const char *name;
	double change_s;
};

#define PARTS 7

static void append(char *text, size_t text_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t text_bytes, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text + used, text_bytes - used, format, arguments);
	va_end(arguments);
}

static double number(const json_t *report, const char *object, const char *key)
{
	return json_number_value(json_object_get(json_object_get(report, object), key));
}

/* Units of both must be the same kind: a thread's time says nothing about a rank's. */
static bool find_parts(const json_t *a, const json_t *b, struct part parts[PARTS])
{
	static const struct part all[PARTS] = {
		{ .key = "useful_s", .name = "useful time" },
		{ .key = "cpus_s", .name = "waiting for CPUs" },
		{ .key = "imbalance_s", .name = "imbalance" },
		{ .key = "all_waiting_s", .name = "all-waiting time" },
		{ .key = "blocked_s", .name = "blocked time" },
		{ .key = "mpi_library_s", .name = "work of the MPI library" },
		{ .key = "unknown_s", .name = "unknown time" },
	};
	const json_t *unit_a = json_object_get(json_object_get(a, "verdict"), "unit");
	const json_t *unit_b = json_object_get(json_object_get(b, "verdict"), "unit");

	memcpy(parts, all, sizeof(all));
	if (!json_object_get(a, "lost_time") || !json_object_get(b, "lost_time") ||
	    !json_equal(unit_a, unit_b))
		return false;
	for (int i = 0; i < PARTS; i++)
		parts[i].change_s =
			number(b, "lost_time", parts[i].key) - number(a, "lost_time", parts[i].key);
	return true;
}

/* The largest part in that direction that is not said yet and is worth a word; NULL none. */
static struct part *next_part(struct part parts[PARTS], double direction, double least_s)
{
	struct part *best = NULL;

	for (int i = 0; i < PARTS; i++) {
		double change_s = direction * parts[i].change_s;

		if (change_s > 0 && change_s >= least_s &&
		    (!best || change_s > direction * best->change_s))
			best = &parts[i];
	}
	return best;
}

static void say_parts(struct part parts[PARTS], double direction, double least_s, const char *lead,
		      char *text, size_t text_bytes)
{
	struct part *part;

	for (int i = 0; i < PARTS_SAID && (part = next_part(parts, direction, least_s)); i++) {
		append(text, text_bytes, "%s%s %.3f s %s", i ? ", " : lead, part->name,
		       fabs(part->change_s), part->change_s < 0 ? "less" : "more");
		part->change_s = 0;
	}
}

const char *crit_difference_say(const json_t *a, const json_t *b, char *text, size_t text_bytes)
{
	double before_s = number(a, "job", "window_s"), after_s = number(b, "job", "window_s");
	double change_s = after_s - before_s, direction = change_s < 0 ? -1 : 1;
	double least_s = WORTH_SAYING_RATIO * fabs(change_s);
	const char *lead = "; most of it: ", *other = "; but ";
	struct part parts[PARTS];

	text[0] = '\0';
	if (!(before_s > 0) || !(after_s > 0)) {
		append(text, text_bytes, "No difference to tell: a report has no window.");
		return text;
	}
	if (fabs(change_s) < CRIT_DIFFERENCE_NOISE * before_s) {
		append(text, text_bytes, "No difference beyond %.0f%%",
		       100 * CRIT_DIFFERENCE_NOISE);
		least_s = MOVED_RATIO * before_s;
		lead = "; inside it: ";
		other = ", ";
	} else {
		append(text, text_bytes, "%.1f%% %s", 100 * fabs(change_s) / before_s,
		       change_s < 0 ? "faster" : "slower");
	}
	append(text, text_bytes, ": window %.3f s -> %.3f s", before_s, after_s);
	if (find_parts(a, b, parts)) {
		size_t length = strlen(text);

		say_parts(parts, direction, least_s, lead, text, text_bytes);
		say_parts(parts, -direction, least_s, strlen(text) > length ? other : lead, text,
			  text_bytes);
	}
	append(text, text_bytes, ".");
	return text;
}

json_t *crit_difference_path(const char *path)
{
	crit_autofree char *text = strdup(path);

	if (!text)
		return NULL;
	crit_line_tame(text, strlen(text), true);
	return json_string(text);
}
