// SPDX-License-Identifier: BSD-3-Clause
// Which of a finisher's messages become chunks: kinds, sizes, and how much of them.
#include <errno.h>

#include "collector/record/path_intake.h"
#include "core/abi/abi_recording.h"
#include "tests/lib/check.h"

#define SECOND_NS 1000000000ull
#define HEAD_BYTES sizeof(struct crit_message_paths)

static struct crit_message_paths message_of(__u32 chunk_kind, __u32 body_bytes)
{
	return (struct crit_message_paths){
		.head = { CRIT_M_PATHS, CRIT_SOCKET_VERSION, (__u32)(HEAD_BYTES + body_bytes) },
		.chunk_kind = chunk_kind,
		.bytes = body_bytes,
	};
}

static int take(const struct crit_message_paths *message, size_t bytes)
{
	struct crit_path_intake intake = { 0 };
	size_t body = 12345;
	int rc = crit_path_intake_take(&intake, message, bytes, CRIT_PATHS_PER_RUN, 1, &body);

	CHECK_UINT_EQ(intake.dropped_bytes, rc ? bytes : 0);
	CHECK_UINT_EQ(body, rc ? 12345 : bytes - HEAD_BYTES);
	return rc;
}

static void try_kinds(void)
{
	static const struct {
		__u32 kind;
		__u32 bytes;
		int expected;
	} cases[] = {
		{ CRIT_C_SAMPLES, 8, 0 },
		{ CRIT_C_SAMPLES, 12, -EINVAL },
		{ CRIT_C_PATHS, 24, 0 },
		{ CRIT_C_PATHS, 48, 0 },
		{ CRIT_C_PATHS, 32, -EINVAL },
		{ CRIT_C_PATH_FILES, 32, 0 },
		{ CRIT_C_PATH_FILES, 33, -EINVAL },
		{ CRIT_C_PATHS, 0, -EINVAL },
		{ CRIT_C_NONE, 24, -EINVAL },
		{ CRIT_C_FILE, 24, -EINVAL },
		{ CRIT_C_KERNEL, 24, -EINVAL },
		{ CRIT_C_FOOT, 24, -EINVAL },
		{ CRIT_C_COUNT, 24, -EINVAL },
		{ CRIT_C_PATHS + 65536, 24, -EINVAL },
		{ CRIT_C_SAMPLES, CRIT_PATHS_MESSAGE_MAX - HEAD_BYTES, 0 },
		{ CRIT_C_SAMPLES, CRIT_PATHS_MESSAGE_MAX - HEAD_BYTES + 8, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct crit_message_paths message = message_of(cases[i].kind, cases[i].bytes);

		CHECK_CASE("kind %u, %u bytes", cases[i].kind, cases[i].bytes);
		CHECK_INT_EQ(take(&message, HEAD_BYTES + cases[i].bytes), cases[i].expected);
	}
}

/* A message says how long it is in two places, and both must be so. */
static void try_sizes(void)
{
	struct crit_message_paths message = message_of(CRIT_C_PATHS, 48);

	CHECK_CASE("sizes");
	CHECK_INT_EQ(take(&message, HEAD_BYTES + 48), 0);
	CHECK_INT_EQ(take(&message, HEAD_BYTES + 24), -EINVAL);
	CHECK_INT_EQ(take(&message, HEAD_BYTES + 72), -EINVAL);
	CHECK_INT_EQ(take(&message, HEAD_BYTES), -EINVAL);
	CHECK_INT_EQ(take(&message, sizeof(message.head)), -EINVAL);
	message.bytes = 24;
	CHECK_INT_EQ(take(&message, HEAD_BYTES + 48), -EINVAL);
	message.bytes = (__u32)-8;
	CHECK_INT_EQ(take(&message, HEAD_BYTES + 48), -EINVAL);
	message = message_of(CRIT_C_PATHS, 48);
	message.head.version++;
	CHECK_INT_EQ(take(&message, HEAD_BYTES + 48), -EINVAL);
}

static size_t count_taken(struct crit_path_intake *intake, __u64 run_max, __u64 now_ns)
{
	const struct crit_message_paths message = message_of(CRIT_C_SAMPLES, 65536 - HEAD_BYTES);
	size_t body, count = 0;

	for (int i = 0; i < 100; i++)
		count += crit_path_intake_take(intake, &message, 65536, run_max, now_ns, &body) ==
			 0;
	return count;
}

static void try_bounds(void)
{
	const __u64 start_ns = 77 * SECOND_NS;
	struct crit_path_intake intake = { 0 };
	size_t count;

	CHECK_CASE("bounds");
	CHECK_UINT_EQ(count_taken(&intake, CRIT_PATHS_PER_RUN, start_ns), 16);
	CHECK_UINT_EQ(intake.dropped_bytes, 84 * 65536);
	CHECK_UINT_EQ(count_taken(&intake, CRIT_PATHS_PER_RUN, start_ns + SECOND_NS - 1), 0);
	count = 16;
	for (__u64 i = 1; i < 100; i++)
		count += count_taken(&intake, CRIT_PATHS_PER_RUN, start_ns + i * SECOND_NS);
	CHECK_UINT_EQ(count, 1024);
	intake = (struct crit_path_intake){ 0 };
	CHECK_UINT_EQ(count_taken(&intake, 3 * 65536 + 65535, start_ns), 3);
}

int main(void)
{
	try_kinds();
	try_sizes();
	try_bounds();
	return check_done();
}
