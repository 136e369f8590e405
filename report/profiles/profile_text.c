// SPDX-License-Identifier: BSD-3-Clause
// Stacks as text: collapsed lines, and JSON for speedscope.
#include "report/profiles/profile_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "report/findings/programs.h"
#include "report/profiles/stacks.h"

/* A ";" is what stands between names. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		(void)fputc(*name == ';' ? ',' : *name, out);
}

int crit_collapsed_write(FILE *out, const struct crit_summary *summary)
{
	struct crit_stacks stacks;
	struct crit_stack stack;
	uint64_t so_far_ns = 0;
	int rc = crit_stacks_init(&stacks, summary, false);

	if (rc)
		return rc;
	while (crit_stacks_next(&stacks, &stack)) {
		const uint64_t before_us = (so_far_ns + 500) / 1000;
		uint64_t us;

		so_far_ns += stack.cmetric_ns;
		us = (so_far_ns + 500) / 1000 - before_us;
		for (size_t i = stack.frame_count; us && i--;) {
			put_name(out, stacks.frames[stack.frames[i]].name);
			(void)fputc(i ? ';' : ' ', out);
		}
		if (us)
			fprintf(out, "%" PRIu64 "\n", us);
	}
	crit_stacks_fini(&stacks);
	return 0;
}

static void put_json(FILE *out, json_t *value)
{
	(void)json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(value);
}

/* Ours are valid; the name of a program need not be. */
static void put_text(FILE *out, const char *key, const char *text)
{
	json_t *valid = json_string(text);

	fprintf(out, "\"%s\":", key);
	put_json(out, valid ? valid : json_string("?"));
}

static void put_frames(FILE *out, const struct crit_stacks *stacks)
{
	for (size_t i = 0; i < stacks->frame_count; i++) {
		(void)fputs(i ? ",\n{" : "\n{", out);
		put_text(out, "name", stacks->frames[i].name);
		if (stacks->frames[i].module[0]) {
			(void)fputc(',', out);
			put_text(out, "file", stacks->frames[i].module);
		}
		(void)fputc('}', out);
	}
}

/* Which frames, or which weights: both arrays have the stacks in the same order. */
static void put_stacks(FILE *out, struct crit_stacks *stacks, bool are_weights)
{
	const char *separator = "";
	struct crit_stack stack;

	stacks->at = 0;
	stacks->cmetric = 0;
	while (crit_stacks_next(stacks, &stack)) {
		(void)fputs(separator, out);
		separator = ",\n";
		if (are_weights) {
			put_json(out, json_real((double)stack.cmetric_ns * 1e-9));
			continue;
		}
		(void)fputc('[', out);
		for (size_t i = stack.frame_count; i--;)
			fprintf(out, "%" PRIu32 "%s", stack.frames[i], i ? "," : "]");
	}
}

int crit_speedscope_write(FILE *out, const struct crit_summary *summary)
{
	size_t other_count;
	const char *name = crit_programs_name(summary->results, &other_count);
	struct crit_stacks stacks;
	int rc = crit_stacks_init(&stacks, summary, false);

	if (rc)
		return rc;
	(void)fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		    "\"exporter\":\"crit\",\n",
		    out);
	put_text(out, "name", name);
	(void)fputs(",\n\"shared\":{\"frames\":[", out);
	put_frames(out, &stacks);
	(void)fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"CMetric\",\"unit\":"
		    "\"seconds\",\"startValue\":0,\n\"samples\":[",
		    out);
	put_stacks(out, &stacks, false);
	(void)fputs("],\n\"weights\":[", out);
	put_stacks(out, &stacks, true);
	(void)fputs("],\n\"endValue\":", out);
	put_json(out, json_real(crit_fix_seconds(stacks.cmetric)));
	(void)fputs("}]}\n", out);
	crit_stacks_fini(&stacks);
	return 0;
}
