// SPDX-License-Identifier: BSD-3-Clause
// What is written value by value is what jansson writes of the same values.
#include "report/formats/json_stream.h"
#include "report/formats/real_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "tests/lib/check.h"

#define FLAGS (JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY)
#define RANDOM_VALUES 200000

static void check_real(double value)
{
	char ours[CRIT_REAL_TEXT], theirs[64];
	json_t *real = json_real(value);
	const size_t length = json_dumpb(real, theirs, sizeof(theirs) - 1, FLAGS);

	CHECK_CASE("%a", value);
	theirs[length] = '\0';
	CHECK_UINT_EQ(crit_real_text(value, ours), length);
	CHECK_STR_EQ(ours, theirs);
	json_decref(real);
}

static double next_to(double value, int steps)
{
	for (; steps > 0; steps--)
		value = nextafter(value, INFINITY);
	for (; steps < 0; steps++)
		value = nextafter(value, 0);
	return value;
}

/* Where the number of digits before or behind the point changes, and how it is written. */
static void test_bounds(void)
{
	static const double others[] = { 0,
					 -0.0,
					 1,
					 -1,
					 0.1,
					 0.3,
					 -2.5,
					 1e-300,
					 1e300,
					 5e-324,
					 0x1p52,
					 0x1p53,
					 0x1p54,
					 0x1p63,
					 1e15 + 0.5,
					 1e22,
					 1.7976931348623157e308 };
	char text[32];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check_real(others[i]);
	for (int power = -25; power <= 25; power++) {
		(void)snprintf(text, sizeof(text), "1e%d", power);
		for (int steps = -40; steps <= 40; steps++) {
			check_real(next_to(strtod(text, NULL), steps));
			check_real(-next_to(5 * strtod(text, NULL), steps));
		}
	}
}

/* Digits that end in 5 behind the 17th: to even. */
static void test_ties(void)
{
	for (int exponent = -29; exponent <= 53; exponent++)
		for (uint64_t odd = 1; odd < 4096; odd += 2) {
			check_real(ldexp((double)odd, exponent));
			check_real(ldexp(0x1p52 + (double)odd, exponent - 52));
		}
}

static void test_random_values(void)
{
	for (int i = 0; i < RANDOM_VALUES; i++) {
		const double fraction = 1 + drand48();

		check_real(ldexp(fraction, (int)(mrand48() % 40)));
		check_real((double)(lrand48() * lrand48() % 1000000000000) * 1e-9);
		check_real(-ldexp(fraction, (int)(mrand48() % 1000)));
	}
}

/* Ownership: the caller frees. */
static char *written(void (*put)(struct crit_json_stream *json), int status)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	struct crit_json_stream *json = crit_json_stream_begin(out);

	put(json);
	CHECK_INT_EQ(crit_json_stream_end(json), status);
	(void)fclose(out);
	return text;
}

static void put_values(struct crit_json_stream *json)
{
	crit_json_array(crit_json_key(json, "array"));
	crit_json_null(json);
	crit_json_object(json);
	crit_json_close(json);
	crit_json_array(json);
	crit_json_integer(json, INT64_MIN);
	crit_json_close(json);
	crit_json_close(json);
	crit_json_array(crit_json_key(json, "empty"));
	crit_json_close(json);
	(void)crit_json_key(json, "given up");
	crit_json_object(crit_json_key(json, "object"));
	crit_json_bool(crit_json_key(json, "false"), false);
	crit_json_bool(crit_json_key(json, "true"), true);
	(void)crit_json_key(json, "given up as well");
	crit_json_close(json);
	crit_json_real(crit_json_key(json, "real"), 0.5);
	crit_json_array(crit_json_key(json, "texts"));
	crit_json_text(json, NULL, SIZE_MAX);
	crit_json_text(json, "cut here", 3);
	crit_json_text(json, "\"\\/\n\t\x01\x7f", SIZE_MAX);
	crit_json_text(json, "gr\xc3\xbc\xc3\x9f", SIZE_MAX);
	crit_json_text(json, "no \xff\xfe text", SIZE_MAX);
	crit_json_close(json);
}

static void test_layout(void)
{
	crit_autofree char *text = written(put_values, 0);
	json_t *read = json_loads(text, 0, NULL);
	crit_autofree char *again = json_dumps(read, FLAGS);
	const json_t *texts = json_object_get(read, "texts");

	CHECK(again && strncmp(text, again, strlen(again)) == 0);
	CHECK_STR_EQ(text + strlen(again), "\n");
	CHECK_UINT_EQ(json_object_size(read), 5);
	CHECK_STR_EQ(json_string_value(json_array_get(texts, 1)), "cut");
	CHECK_STR_EQ(json_string_value(json_array_get(texts, 2)), "\"\\/\n\t\x01\x7f");
	CHECK_STR_EQ(json_string_value(json_array_get(texts, 4)), "no ?? text");
	json_decref(read);
}

static void put_nothing(struct crit_json_stream *json)
{
	(void)json;
}

static void put_no_number(struct crit_json_stream *json)
{
	crit_json_real(crit_json_key(json, "real"), NAN);
	crit_json_fail(json, -ENOMEM); /* the first failure is told */
}

static void test_failures(void)
{
	crit_autofree char *nothing = written(put_nothing, 0);
	FILE *full = fopen("/dev/full", "w");
	struct crit_json_stream *json = crit_json_stream_begin(full);

	CHECK_STR_EQ(nothing, "{}\n");
	free(written(put_no_number, -EDOM));
	(void)setvbuf(full, NULL, _IONBF, 0);
	CHECK_INT_EQ(crit_json_stream_end(json), -EIO);
	(void)fclose(full);
}

int main(void)
{
	test_bounds();
	test_ties();
	test_random_values();
	test_layout();
	test_failures();
	return check_done();
}
