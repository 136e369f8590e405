// SPDX-License-Identifier: BSD-3-Clause
// Reads made recordings back with nothing but the contracts, so that others may trust the maker.
#include <unistd.h>

#include "core/base/call.h"
#include "core/base/chunk.h"
#include "tests/lib/check.h"
#include "tests/maker/maker.h"

#define CHUNKS_MAX 64

struct read_back {
	struct crit_chunk_head heads[CHUNKS_MAX];
	const unsigned char *payloads[CHUNKS_MAX];
	size_t count;
};

static void read_chunks(const unsigned char *bytes, size_t length, struct read_back *ret_chunks)
{
	size_t at = 0;

	memset(ret_chunks, 0, sizeof(*ret_chunks));
	while (at + sizeof(struct crit_chunk_head) <= length && ret_chunks->count < CHUNKS_MAX) {
		struct crit_chunk_head *head = &ret_chunks->heads[ret_chunks->count];

		memcpy(head, bytes + at, sizeof(*head));
		at += sizeof(*head);
		if (!CHECK(crit_chunk_head_is_sane(head)) ||
		    !CHECK(at + crit_chunk_padded(head->length) <= length) ||
		    !CHECK(crit_chunk_is_whole(head, bytes + at)))
			return;
		CHECK_UINT_EQ(head->chunk, ret_chunks->count);
		ret_chunks->payloads[ret_chunks->count++] = bytes + at;
		at += crit_chunk_padded(head->length);
	}
	CHECK_UINT_EQ(at, length);
}

static struct crit_maker *make_example(const struct crit_maker_options *options)
{
	struct crit_maker *m = crit_maker_create(options);
	uint32_t stream;

	crit_maker_file(m, (struct crit_rec_file){ .host = "node0", .cpu_count = 2 });
	stream = crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = 100, .ns_tid = 100, .buffer = 70 });
	crit_maker_enter(m, stream, 1000, CRIT_MPI_Barrier);
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = 1100, .state = 1 },
							  .prev_tid = 100,
							  .prev_tag = crit_maker_tag(m, stream) });
	crit_maker_leave(m, stream, 2000, CRIT_MPI_Barrier);
	crit_maker_poll(m, stream,
			(struct crit_maker_poll){ .first_ns = 2500,
						  .last_ns = 9000,
						  .call = CRIT_MPI_Test,
						  .count = 40,
						  .gap_sum_ns = 700 });
	crit_maker_lose(m, 0, 3);
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = { .time_ns = 1500 }, .tid = 100 });
	crit_maker_note(m, (struct crit_rec_note){ .code = CRIT_NOTE_LEVEL }, "odd");
	crit_maker_stream_end(m, stream, (struct crit_rec_stream_end){ .release_ns = 9100 });
	crit_maker_window(m, 10000);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = 10001 });
	return m;
}

static const unsigned char *find(const struct read_back *chunks, enum crit_chunk_kind kind,
				 const struct crit_chunk_head **ret_head)
{
	for (size_t i = 0; i < chunks->count; i++) {
		if (chunks->heads[i].kind != kind)
			continue;
		*ret_head = &chunks->heads[i];
		return chunks->payloads[i];
	}
	CHECK_MSG(false, "no chunk of kind %d", (int)kind);
	*ret_head = &chunks->heads[0];
	return chunks->payloads[0];
}

static void check_records(const struct read_back *chunks)
{
	const struct crit_chunk_head *head;
	const unsigned char *payload = find(chunks, CRIT_C_KERNEL, &head);
	struct crit_kernel_switch record;
	struct crit_slot slots[4];
	struct crit_rec_stream_end end;

	memcpy(&record, payload, sizeof(record));
	CHECK_INT_EQ(record.head.kind, CRIT_K_SWITCH);
	CHECK_INT_EQ(record.head.size, sizeof(record));
	CHECK_INT_EQ(record.head.flags, CRIT_KF_PREV_MEMBER);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(record.prev_tag, SEQUENCE), 1);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(record.prev_tag, CALL), CRIT_MPI_Barrier);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(record.prev_tag, CLASS), CRIT_CLASS_MPI_WAIT);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(record.prev_tag, BUFFER), 6);
	CHECK_UINT_EQ(head->first_ns, 1100);

	payload = find(chunks, CRIT_C_SHIM, &head);
	CHECK_UINT_EQ(head->length, sizeof(slots));
	memcpy(slots, payload, sizeof(slots));
	CHECK_INT_EQ(slots[0].kind, CRIT_S_ENTER);
	CHECK_INT_EQ(slots[1].kind, CRIT_S_LEAVE);
	CHECK_INT_EQ(slots[2].kind, CRIT_S_POLL);
	CHECK_INT_EQ(slots[2].slots, 2);
	CHECK_UINT_EQ(slots[2].arg, 9000);
	CHECK_INT_EQ(slots[3].kind, CRIT_S_CONTINUED);
	CHECK_UINT_EQ(head->source, 1);
	CHECK_UINT_EQ(head->first_ns, 1000);

	payload = find(chunks, CRIT_C_STREAM_END, &head);
	memcpy(&end, payload, sizeof(end));
	CHECK_UINT_EQ(end.end_pos, 4);
	CHECK_INT_EQ(end.pid, 100);
	payload = find(chunks, CRIT_C_NOTE, &head);
	CHECK_UINT_EQ(head->length, sizeof(struct crit_rec_note) + 3);
	CHECK(memcmp(payload + sizeof(struct crit_rec_note), "odd", 3) == 0);
}

static void check_memory(void)
{
	struct crit_maker *m = make_example(NULL);
	struct read_back chunks;
	size_t length;
	unsigned char *bytes = crit_maker_bytes(m, &length);

	read_chunks(bytes, length, &chunks);
	CHECK_INT_EQ(chunks.heads[0].kind, CRIT_C_FILE);
	check_records(&chunks);
	/* the loss stands on the first kernel chunk after it */
	CHECK_UINT_EQ(chunks.heads[2].lost + chunks.heads[3].lost + chunks.heads[4].lost, 3);
	free(bytes);
	crit_maker_destroy(m);
}

static void check_streaming_is_alike(void)
{
	FILE *file = tmpfile();
	struct crit_maker *memory = make_example(NULL);
	struct crit_maker *streaming;
	struct read_back a, b;
	unsigned char *bytes, *other;
	size_t length;

	if (!CHECK(file))
		return;
	streaming = make_example(&(struct crit_maker_options){ .out = file });
	bytes = crit_maker_bytes(memory, &length);
	other = calloc(1, length + 1);
	rewind(file);
	CHECK_UINT_EQ(fread(other, 1, length + 1, file), length);
	read_chunks(bytes, length, &a);
	read_chunks(other, length, &b);
	CHECK(memcmp(bytes, other, length) == 0);
	free(bytes);
	free(other);
	crit_maker_destroy(memory);
	crit_maker_destroy(streaming);
	(void)fclose(file);
}

static void check_interleave(void)
{
	struct crit_maker *m = make_example(&(struct crit_maker_options){ .chunk_bytes = 32 });
	size_t count = crit_maker_chunk_count(m);
	size_t orders = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct read_back chunks;
		uint64_t slots = 0, last_kernel = 0;
		size_t length;
		unsigned char *bytes;

		crit_maker_interleave(m, seed);
		bytes = crit_maker_bytes(m, &length);
		read_chunks(bytes, length, &chunks);
		CHECK_UINT_EQ(chunks.count, count);
		CHECK_INT_EQ(chunks.heads[0].kind, CRIT_C_FILE);
		CHECK_INT_EQ(chunks.heads[count - 1].kind, CRIT_C_FOOT);
		CHECK_INT_EQ(chunks.heads[count - 2].kind, CRIT_C_WINDOW);
		orders += chunks.heads[1].kind == CRIT_C_KERNEL;
		for (size_t i = 0; i < count; i++) {
			if (chunks.heads[i].kind == CRIT_C_SHIM) {
				CHECK_UINT_EQ(chunks.heads[i].position, slots);
				slots += chunks.heads[i].length / CRIT_SLOT_BYTES;
			} else if (chunks.heads[i].kind == CRIT_C_KERNEL) {
				CHECK(chunks.heads[i].position >= last_kernel);
				last_kernel = chunks.heads[i].position;
			}
		}
		CHECK_UINT_EQ(slots, 4);
		free(bytes);
	}
	CHECK_MSG(orders > 0 && orders < 20, "all orders alike: %zu", orders);
	crit_maker_destroy(m);
}

static bool drop_wakes(void *user, struct crit_kernel_head *record)
{
	(void)user;
	return record->kind != CRIT_K_WAKE;
}

static void check_tamper_and_drop(void)
{
	struct crit_maker *m =
		make_example(&(struct crit_maker_options){ .tamper_kernel = drop_wakes });
	size_t count = crit_maker_chunk_count(m);
	struct read_back chunks;
	unsigned char *bytes;
	size_t length;

	CHECK_UINT_EQ(crit_maker_kernel_count(m), 1);
	CHECK_UINT_EQ(crit_maker_slot_count(m), 4);
	crit_maker_drop_chunk(m, 1, true);
	bytes = crit_maker_bytes(m, &length);
	read_chunks(bytes, length, &chunks);
	CHECK_UINT_EQ(chunks.count, count - 1);
	free(bytes);
	crit_maker_destroy(m);
}

int main(void)
{
	check_memory();
	check_streaming_is_alike();
	check_interleave();
	check_tamper_and_drop();
	return check_done();
}
