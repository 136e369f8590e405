// SPDX-License-Identifier: BSD-3-Clause
// Profiles of a hand-filled run, with call paths and without: every stack, its weight, the sum.
#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/findings/summarise.h"
#include "report/profiles/profile_files.h"
#include "tests/lib/check.h"
#include "tests/unit/report/path_sample.h"

#define PART_NS 50000000u
#define ROOM 65536u

static struct results_sample sample;

/* What a format writes of the run.  Ownership: the caller's. */
static char *written(const char *format, size_t *ret_length)
{
	struct crit_summary summary;
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_length);

	CHECK_INT_EQ(
		crit_summarise(&summary, &sample.results,
			       &(struct crit_summary_options){ .finder = &path_sample_finder }),
		0);
	CHECK_INT_EQ(crit_profile_put(crit_profile_find(format), out, &summary), 0);
	(void)fclose(out);
	crit_summary_fini(&summary);
	return text;
}

static void test_collapsed(void)
{
	size_t length;
	char *text = written("collapsed", &length);

	CHECK_STR_EQ(text, "start;main 50000\n"
			   "start;main;sweep;relax 400000\n"
			   "start;main;relax;inner 200000\n"
			   "start;main;sweep;sweep;relax 150000\n"
			   "[not captured];relax 100000\n"
			   "[cut: no CFI];[in no known file];[in no known file] 50000\n"
			   "[not sampled] 50000\n");
	free(text);
}

/* "main<start" of a sample. */
static void name_stack(json_t *frames, const json_t *stack, char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = json_array_size(stack); i-- && used < text_bytes;) {
		json_t *frame = json_array_get(
			frames, (size_t)json_integer_value(json_array_get(stack, i)));

		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", used ? "<" : "",
					 json_string_value(json_object_get(frame, "name")));
	}
}

static void test_speedscope(void)
{
	json_t *file, *frames, *profile, *samples, *weights, *weight;
	char text[256], first[256] = "";
	size_t length, i;
	char *bytes = written("speedscope", &length);
	double sum = 0;

	file = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL);
	free(bytes);
	if (!CHECK(file))
		return;
	frames = json_object_get(json_object_get(file, "shared"), "frames");
	profile = json_array_get(json_object_get(file, "profiles"), 0);
	samples = json_object_get(profile, "samples");
	weights = json_object_get(profile, "weights");
	CHECK_STR_EQ(json_string_value(json_object_get(profile, "unit")), "seconds");
	CHECK_UINT_EQ(json_array_size(frames), 9); /* relax is one, whoever called it */
	CHECK_UINT_EQ(json_array_size(samples), 7);
	CHECK_UINT_EQ(json_array_size(weights), 7);
	json_array_foreach(weights, i, weight)
	{
		sum += json_real_value(weight);
		name_stack(frames, json_array_get(samples, i), text, sizeof(text));
		if (json_real_value(weight) > 0.39)
			(void)snprintf(first, sizeof(first), "%s", text);
	}
	CHECK_STR_EQ(first, "relax<sweep<main<start");
	CHECK_REL(sum, 1, 1e-9, 0);
	CHECK_REL(json_real_value(json_object_get(profile, "endValue")), 1, 1e-9, 0);
	json_decref(file);
}

struct reader { /* of a message */
	const unsigned char *at, *end;
};

static uint64_t varint(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; reader->at < reader->end && shift < 64; shift += 7) {
		value |= (uint64_t)(*reader->at & 0x7f) << shift;
		if (!(*reader->at++ & 0x80))
			break;
	}
	return value;
}

/* The next field, a number or the inside of a message. */
static bool next(struct reader *reader, uint64_t *ret_field, uint64_t *ret_value,
		 struct reader *ret_inner)
{
	uint64_t key, value;

	if (reader->at >= reader->end)
		return false;
	key = varint(reader);
	value = varint(reader);
	*ret_field = key >> 3;
	*ret_value = value;
	*ret_inner = (struct reader){ 0 };
	if (!CHECK((key & 7) == 0 ||
		   ((key & 7) == 2 && value <= (uint64_t)(reader->end - reader->at))))
		return false;
	if ((key & 7) == 2) {
		*ret_inner = (struct reader){ reader->at, reader->at + value };
		reader->at += value;
	}
	return true;
}

struct pprof {
	struct reader texts[256], samples[64], mappings[8], locations[64], functions[64];
	size_t counts[16];
};

static void take_apart(struct reader whole, struct pprof *pprof)
{
	uint64_t field, value;
	struct reader inner;

	while (next(&whole, &field, &value, &inner) && CHECK(field < 16)) {
		const size_t at = pprof->counts[field]++;

		if (field == 2 && CHECK(at < 64))
			pprof->samples[at] = inner;
		if (field == 3 && CHECK(at < 8))
			pprof->mappings[at] = inner;
		if (field == 4 && CHECK(at < 64))
			pprof->locations[at] = inner;
		if (field == 5 && CHECK(at < 64))
			pprof->functions[at] = inner;
		if (field == 6 && CHECK(at < 256))
			pprof->texts[at] = inner;
	}
}

/* A number of a message, or the inside of a message in it. */
static uint64_t number_in(struct reader message, uint64_t wanted, struct reader *ret_inner)
{
	uint64_t field, value, found = 0;
	struct reader inner;

	while (next(&message, &field, &value, &inner))
		if (field == wanted) {
			found = value;
			*ret_inner = inner;
		}
	return found;
}

static void append(char *text, size_t text_bytes, const char *separator, struct reader name)
{
	const size_t used = strlen(text);

	(void)snprintf(text + used, text_bytes - used, "%s%.*s", used ? separator : "",
		       (int)(name.end - name.at), (const char *)name.at);
}

/* "relax:10<sweep:20": by locations, their lines and the functions of these. */
static void name_sample(const struct pprof *pprof, struct reader stack, char *text,
			size_t text_bytes)
{
	text[0] = '\0';
	while (stack.at < stack.end) {
		const uint64_t location = varint(&stack);
		struct reader line = { 0 }, none;
		uint64_t function;
		char number[32];

		if (!CHECK(location && location <= pprof->counts[4]))
			return;
		CHECK_UINT_EQ(number_in(pprof->locations[location - 1], 1, &none), location);
		CHECK(number_in(pprof->locations[location - 1], 2, &none) <= pprof->counts[3]);
		(void)number_in(pprof->locations[location - 1], 4, &line);
		function = number_in(line, 1, &none);
		if (!CHECK(function && function <= pprof->counts[5]))
			return;
		append(text, text_bytes, "<",
		       pprof->texts[number_in(pprof->functions[function - 1], 2, &none)]);
		(void)snprintf(number, sizeof(number), ":%u", (unsigned)number_in(line, 2, &none));
		append(text, text_bytes, "",
		       (struct reader){ (unsigned char *)number,
					(unsigned char *)number + strlen(number) });
	}
}

static size_t inflated(const char *bytes, size_t length, unsigned char *room)
{
	struct inflate_state *state = calloc(1, sizeof(*state));
	size_t size;

	isal_inflate_init(state);
	state->crc_flag = ISAL_GZIP;
	state->next_in = (unsigned char *)bytes;
	state->avail_in = (uint32_t)length;
	state->next_out = room;
	state->avail_out = ROOM;
	CHECK_INT_EQ(isal_inflate(state), ISAL_DECOMP_OK);
	CHECK_INT_EQ(state->block_state, ISAL_BLOCK_FINISH);
	size = state->total_out;
	free(state);
	return size;
}

static void check_sample(const struct pprof *pprof, const char *wanted, uint64_t parts)
{
	bool is_found = false;

	for (size_t i = 0; i < pprof->counts[2]; i++) {
		struct reader stack = { 0 }, values = { 0 };
		char text[256];

		(void)number_in(pprof->samples[i], 1, &stack);
		(void)number_in(pprof->samples[i], 2, &values);
		name_sample(pprof, stack, text, sizeof(text));
		if (strcmp(text, wanted) != 0)
			continue;
		is_found = true;
		CHECK_UINT_EQ(varint(&values), parts * PART_NS);
		CHECK_UINT_EQ(varint(&values),
			      wanted[0] == '[' && wanted[1] == 'n' ? 0 : 10 * parts);
	}
	CHECK_MSG(is_found, "no sample %s", wanted);
}

static void test_pprof(void)
{
	static unsigned char room[ROOM];
	static struct pprof pprof;
	size_t length;
	char *bytes = written("pprof", &length);
	uint64_t sum = 0;

	take_apart((struct reader){ room, room + inflated(bytes, length, room) }, &pprof);
	free(bytes);
	CHECK(pprof.texts[0].at == pprof.texts[0].end);
	CHECK_UINT_EQ(pprof.counts[1], 2);
	CHECK_UINT_EQ(pprof.counts[2], 8);
	CHECK_UINT_EQ(pprof.counts[3], 2); /* solver and libc */
	CHECK_UINT_EQ(pprof.counts[4], pprof.counts[5]);
	for (size_t i = 0; i < pprof.counts[2]; i++) {
		struct reader values = { 0 };

		(void)number_in(pprof.samples[i], 2, &values);
		sum += varint(&values);
	}
	CHECK_UINT_EQ(sum, 20ull * PART_NS);
	check_sample(&pprof, "relax:10<sweep:20<main:90<start:0", 6);
	check_sample(&pprof, "relax:11<sweep:20<main:90<start:0", 2);
	check_sample(&pprof, "relax:10<sweep:20<sweep:20<main:90<start:0", 3);
	check_sample(&pprof, "inner:5<relax:12<main:91<start:0", 4);
	check_sample(&pprof, "relax:10<[not captured]:0", 2);
	check_sample(&pprof, "[not sampled]:0", 1);
}

/* Recordings without call paths have lines, with what they were inlined into. */
static void test_lines(void)
{
	size_t length;
	char *text;

	sample.results.samples.path_count = CRIT_PATH_FIRST;
	for (size_t i = 0; i < sample.results.samples.row_count; i++)
		sample.results.samples.rows[i].path = CRIT_PATH_NONE;
	text = written("collapsed", &length);
	CHECK_STR_EQ(text, "relax 650000\n"
			   "relax;inner 200000\n"
			   "[in no known file] 50000\n"
			   "main 50000\n"
			   "[not sampled] 50000\n");
	free(text);
}

static void test_files(void)
{
	char directory[] = "/tmp/crit-profiles-XXXXXX", path[256];
	struct crit_summary summary;
	struct crit_err err = { { 0 } };
	struct stat status;

	CHECK(!crit_profile_find("otf2"));
	if (!CHECK(mkdtemp(directory)))
		return;
	(void)snprintf(path, sizeof(path), "%s/cmetric.collapsed", directory);
	CHECK_INT_EQ(
		crit_summarise(&summary, &sample.results,
			       &(struct crit_summary_options){ .finder = &path_sample_finder }),
		0);
	CHECK_INT_EQ(crit_profile_write(crit_profile_find("collapsed"), directory, &summary, &err),
		     0);
	CHECK(stat(path, &status) == 0 && status.st_size > 0);
	sample.results.samples.count = 0;
	CHECK_INT_EQ(crit_profile_write(crit_profile_find("collapsed"), directory, &summary, &err),
		     -ENODATA);
	CHECK(strstr(err.text, "the recordings have no samples"));
	CHECK(stat(path, &status) == 0 && status.st_size > 0); /* stays */
	crit_summary_fini(&summary);
	(void)unlink(path);
	CHECK_INT_EQ(rmdir(directory), 0);
}

int main(void)
{
	path_sample_fill(&sample);
	test_collapsed();
	test_speedscope();
	test_pprof();
	test_lines();
	test_files();
	return check_done();
}
