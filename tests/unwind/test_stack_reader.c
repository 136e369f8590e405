// SPDX-License-Identifier: BSD-3-Clause
// Rings made by hand; and this program's own stack, through the ring to chunks, and back to its
// callers.
#include "analysis/unwind/stack_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/unwind/process_maps.h"
#include "core/base/chunk.h"
#include "core/base/cleanup.h"
#include "tests/lib/check.h"
#include "tests/unwind/ring_writer.h"

#define SMALL_BYTES (sizeof(struct crit_stacks_copy) + 16) /* of an entry of put_small() */
#define RING_BYTES (64u << 10)
#define PATHS_MAX 100000
#define FILES_MAX 64

/* What was put, as who reads a recording has it. */
static struct {
	struct crit_rec_path paths[PATHS_MAX]; /* by number */
	char files[FILES_MAX][128];
	struct crit_rec_sample_path samples[PATHS_MAX];
	size_t path_count, file_count, sample_count, put_count;
	int rc;
} told;

static void take_paths(const unsigned char *body, size_t byte_count)
{
	struct crit_rec_path path;

	CHECK_UINT_EQ(byte_count % sizeof(path), 0);
	for (size_t i = 0; i + sizeof(path) <= byte_count; i += sizeof(path)) {
		memcpy(&path, body + i, sizeof(path));
		CHECK_UINT_EQ(path.path, CRIT_PATH_FIRST + told.path_count);
		CHECK(path.parent < path.path && path.parent != CRIT_PATH_NONE);
		CHECK(path.file < told.file_count);
		CHECK_UINT_EQ(path.reserved, 0);
		told.paths[CRIT_PATH_FIRST + told.path_count++] = path;
	}
}

static void take_files(const unsigned char *body, size_t byte_count)
{
	struct crit_rec_path_file file;

	for (size_t i = 0; i < byte_count;) {
		memcpy(&file, body + i, sizeof(file));
		i += sizeof(file);
		if (!CHECK(crit_chunk_padded(file.name_bytes) <= byte_count - i) ||
		    !CHECK(told.file_count < FILES_MAX) || !CHECK(file.name_bytes < 128))
			return;
		CHECK_UINT_EQ(file.file, told.file_count);
		memcpy(told.files[told.file_count], body + i, file.name_bytes);
		told.files[told.file_count++][file.name_bytes] = '\0';
		i += crit_chunk_padded(file.name_bytes);
	}
}

static int put(enum crit_chunk_kind kind, const void *body, size_t byte_count, void *user)
{
	(void)user;
	told.put_count++;
	CHECK(byte_count > 0 && byte_count <= CRIT_STACK_BODY_MAX);
	if (kind == CRIT_C_PATH_FILES) {
		take_files(body, byte_count);
	} else if (kind == CRIT_C_PATHS) {
		take_paths(body, byte_count);
	} else {
		CHECK_UINT_EQ(kind, CRIT_C_SAMPLES);
		memcpy(told.samples + told.sample_count, body, byte_count);
		told.sample_count += byte_count / sizeof(told.samples[0]);
	}
	return told.rc;
}

static struct ring_writer writer;
static struct crit_elf_reader *elf_reader;
static struct crit_stack_reader *reader;

static void begin(uint64_t ring_bytes)
{
	const struct crit_elf_reader_options elf_options = { .wait_s = 60 };
	struct crit_stack_reader_options options = { .put = put };

	memset(&told, 0, sizeof(told));
	ring_writer_init(&writer, ring_bytes);
	CHECK_INT_EQ(crit_elf_reader_create(&elf_options, &elf_reader), 0);
	options.memory = writer.head;
	options.memory_bytes = writer.memory_bytes;
	options.elf_reader = elf_reader;
	CHECK_INT_EQ(crit_stack_reader_create(&options, &reader), 0);
}

static void end(void)
{
	crit_stack_reader_destroy(reader);
	crit_elf_reader_destroy(elf_reader);
	ring_writer_fini(&writer);
}

static const struct crit_stack_counts *counts(void)
{
	return crit_stack_reader_counts(reader);
}

static void look_twice(void) /* what is there is unwound by the second time */
{
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
}

/* A stack that nothing is known of but where it was. */
static void put_small(uint32_t request, uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	static const unsigned char stack[13];
	const struct crit_stacks_copy copy = { .request = request,
					       .pid = pid,
					       .stack_bytes = sizeof(stack),
					       .time_ns = time_ns,
					       .ip = ip,
					       .sp = 0x7000 };

	ring_writer_put_copy(&writer, &copy, stack);
}

static void put_text(uint32_t pid, uint64_t time_ns, const char *text)
{
	ring_writer_put_maps(&writer, pid, time_ns, text, strlen(text));
}

/* Where the samples' chains ended, as digits by request: path numbers of chains without callers. */
static const char *ends(void)
{
	static char text[256];

	CHECK_INT_EQ(crit_stack_reader_flush(reader), 0);
	for (size_t i = 0; i < told.sample_count && i < sizeof(text) - 1; i++) {
		CHECK_UINT_EQ(told.samples[i].request, i + 1);
		(void)snprintf(text + i, 2, "%u", told.samples[i].path);
	}
	text[told.sample_count] = '\0';
	return text;
}

#define TEXT "1000-2000 r-xp 00000000 00:01 7 /no/such/file\n"
#define OTHER "1000-2000 r-xp 00000000 00:01 8 /no/such/other\n2000-3000 r-xp 00000000 00:00 0 \n"

/* 3: a file without CFI; 4: no maps. */
static void check_maps_by_time(void)
{
	begin(RING_BYTES);
	put_small(1, 5, 90, 0x1500); /* asked for the maps that come behind it */
	put_text(5, 100, TEXT);
	put_small(2, 6, 100, 0x1500); /* another process */
	put_small(3, 5, 150, 0x1500); /* up to 200 it is the same file */
	put_text(5, 200, TEXT);
	put_small(4, 5, 250, 0x1500); /* which of two? */
	put_small(5, 5, 250, 0x2500); /* only one knows it */
	put_text(5, 300, OTHER);
	put_small(6, 5, 350, 0x1500);
	put_small(7, 5, 350, 0x3500);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	CHECK_UINT_EQ(counts()->maps_count, 3);
	CHECK_UINT_EQ(counts()->copy_count, 0);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	CHECK_STR_EQ(ends(), "3434334");
	CHECK_UINT_EQ(counts()->end_counts[CRIT_UNWIND_CUT_NO_CFI], 4);
	CHECK_UINT_EQ(counts()->end_counts[CRIT_UNWIND_CUT_MAPS], 3);
	CHECK_UINT_EQ(told.path_count, 0);
	CHECK_UINT_EQ(told.put_count, 1);
	CHECK_INT_EQ(crit_stack_reader_flush(reader), 0);
	CHECK_UINT_EQ(told.put_count, 1); /* nothing is new */
	put_small(8, 5, 400, 0x1500);
	ring_writer_end(&writer);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 1); /* at once, at the end */
	CHECK_STR_EQ(ends(), "34343343");
	end();
}

/* Entries of all lengths and places, some of them across the end of the ring. */
static void check_wrap(void)
{
	uint32_t request = 0;

	begin(4096);
	put_text(5, 1, TEXT);
	for (int i = 0; i < 3000; i++) {
		const uint32_t words[64] = { 77, 8 * (1 + (uint32_t)i % 32) };

		ring_writer_put(&writer, words, words[1]); /* of a kind to come */
		put_small(++request, 5, 1, 0x1500);
		put_text(5, 1, TEXT);
		look_twice();
	}
	CHECK_UINT_EQ(counts()->copy_count, 3000);
	CHECK_UINT_EQ(counts()->end_counts[CRIT_UNWIND_CUT_NO_CFI], 3000);
	CHECK_UINT_EQ(counts()->maps_count, 3001);
	CHECK_UINT_EQ(counts()->refused_count, 3000);
	CHECK_UINT_EQ(counts()->overrun_count, 0);
	CHECK_INT_EQ(crit_stack_reader_flush(reader), 0);
	CHECK_UINT_EQ(told.sample_count, 3000);
	for (uint32_t i = 0; i < request; i++)
		CHECK_UINT_EQ(told.samples[i].request, i + 1);
	end();
}

/* The writer is faster: what is left is read, and what is lost is counted. */
static void check_overrun(void)
{
	begin(4096);
	put_text(5, 1, TEXT);
	look_twice();
	for (uint32_t i = 0; i < 100; i++)
		put_small(i, 5, 1, 0x1500);
	look_twice();
	CHECK_UINT_EQ(counts()->copy_count, 0); /* where the old ones end is not known */
	CHECK_INT_GE(counts()->overrun_count, 1);
	/* half of the ring is unwound at once, and stacks that waited are lost alone */
	for (uint32_t i = 0; i < 30; i++)
		put_small(i, 5, 1, 0x1500);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	CHECK_UINT_EQ(counts()->copy_count, 30);
	put_small(30, 5, 1, 0x1500);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	for (uint32_t i = 31; i < 30 + 4096 / SMALL_BYTES; i++)
		put_small(i, 5, 1, 0x1500);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	CHECK_UINT_EQ(counts()->copy_count, 30 + 4096 / SMALL_BYTES);
	/* while an entry is read */
	put_small(90, 5, 1, 0x1500);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	writer.head->begun += 4096;
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 0);
	CHECK_UINT_EQ(counts()->copy_count, 30 + 4096 / SMALL_BYTES);
	CHECK_UINT_EQ(counts()->lost_bytes % SMALL_BYTES, 0);
	end();
}

/* Who comes too late has what is left of the ring, maps as well, and all that comes after. */
static void check_late(void)
{
	uint64_t first;

	begin(16384);
	writer.has_marks = true;
	for (uint32_t i = 0; i < 1000; i++) {
		if (i % 50 == 0)
			put_text(5, 1 + i, TEXT);
		put_small(i, 5, 1 + i, 0x1500);
	}
	look_twice();
	CHECK_UINT_EQ(counts()->overrun_count, 2); /* of maps, and of copies */
	CHECK_INT_GE(counts()->copy_count, (16384 - 16384 / 8 - 2 * 256) / (SMALL_BYTES + 3));
	CHECK_INT_GE(counts()->maps_count, 3);
	CHECK_UINT_EQ(counts()->refused_count, 0);
	CHECK_INT_EQ(crit_stack_reader_flush(reader), 0);
	first = told.samples[0].request;
	CHECK_UINT_EQ(told.sample_count, 1000 - first);
	for (uint32_t i = 0; i < told.sample_count; i++)
		CHECK_UINT_EQ(told.samples[i].request, first + i);
	CHECK_INT_GE(counts()->end_counts[CRIT_UNWIND_CUT_NO_CFI], 1000 - first - 50);
	put_small(1000, 5, 1001, 0x1500);
	look_twice();
	CHECK_UINT_EQ(counts()->copy_count, 1001 - first);
	CHECK_UINT_EQ(counts()->overrun_count, 2);
	end();
}

/* A mark is no entry's for ever: what lies there now is not taken for one. */
static void check_old_marks(void)
{
	begin(16384);
	writer.has_marks = true;
	for (uint32_t i = 0; i < 100; i++)
		put_small(i, 5, 1, 0x1500);
	writer.has_marks = false;
	for (uint32_t i = 100; i < 1000; i++)
		put_small(i, 5, 1, 0x1500);
	look_twice();
	CHECK_UINT_EQ(counts()->copy_count, 0);
	CHECK_UINT_EQ(counts()->refused_count, 0);
	end();
}

static void put_words(uint32_t kind, uint32_t byte_count, size_t written_bytes)
{
	static uint32_t words[1024];

	words[0] = kind;
	words[1] = byte_count;
	ring_writer_put(&writer, words, written_bytes);
}

/* After each of them it goes on with what is written then. */
static void check_nonsense(void)
{
	static const uint32_t lengths[] = { 0, 4, 7, 9, 4096 + 8, 0xfffffff8, 0xffffffff, 64 };
	struct crit_stacks_copy copy = { { CRIT_STACKS_COPY, sizeof(copy) }, .stack_bytes = 1 };
	uint64_t refused = 0;

	begin(4096);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_words(CRIT_STACKS_COPY, lengths[i], 48);
		look_twice();
		CHECK_INT_GE(counts()->refused_count, ++refused);
		refused = counts()->refused_count;
		put_small((uint32_t)i + 1, 5, 1, 0x1500);
		look_twice();
		CHECK_UINT_EQ(counts()->copy_count, i + 1);
		CHECK_UINT_EQ(counts()->refused_count, refused);
	}
	put_words(CRIT_STACKS_COPY, 48, 48); /* too short for their kinds */
	put_words(CRIT_STACKS_MAPS, 16, 16);
	ring_writer_put(&writer, &copy, sizeof(copy)); /* has less stack than it says */
	look_twice();
	CHECK_UINT_EQ(counts()->refused_count, refused + 3);
	put_words(CRIT_STACKS_MAPS, 24, 24); /* an empty text */
	look_twice();
	CHECK_UINT_EQ(counts()->maps_count, 1);
	writer.head->written -= 8; /* a writer that goes back */
	look_twice();
	writer.head->written += 1000;
	look_twice();
	CHECK_UINT_EQ(counts()->copy_count, sizeof(lengths) / sizeof(lengths[0]));
	end();
}

static void check_heads(void)
{
	struct crit_stack_reader_options options = { .put = put };
	struct crit_stack_reader *none = NULL;

	ring_writer_init(&writer, 4096);
	options.memory = writer.head;
	for (size_t i = 0; i < writer.memory_bytes; i++) {
		options.memory_bytes = i;
		CHECK_INT_EQ(crit_stack_reader_create(&options, &none), -EPROTO);
	}
	options.memory_bytes = writer.memory_bytes;
	for (int bit = 0; bit < 64; bit++) {
		writer.head->ring_bytes = 4096 ^ 1ull << bit;
		CHECK_INT_EQ(crit_stack_reader_create(&options, &none), -EPROTO);
	}
	writer.head->ring_bytes = 4096;
	writer.head->magic++;
	CHECK_INT_EQ(crit_stack_reader_create(&options, &none), -EPROTO);
	CHECK(!none);
	ring_writer_fini(&writer);
}

/* Thousands of processes: those that were not met for longest are forgotten. */
static void check_many_processes(void)
{
	struct crit_mapped_files files = { 0 };
	struct crit_process_maps maps = { .process_max = 1000 };
	char text[128];

	for (uint32_t pid = 1; pid <= 5000; pid++) {
		(void)snprintf(text, sizeof(text), "%x000-%x000 r-xp 00000000 00:01 7 /a\n", pid,
			       pid + 1);
		CHECK_INT_EQ(crit_process_maps_add(&maps, &files, pid, pid, text, strlen(text)), 0);
		CHECK_UINT_EQ(crit_process_maps_find(&maps, 1, 0)->mapping_count, 1);
	}
	CHECK_UINT_EQ(maps.process_count, 1000);
	CHECK_UINT_EQ(maps.mapping_count, 1000);
	CHECK_UINT_EQ(maps.forgotten_count, 4000);
	for (uint32_t pid = 2; pid <= 4001; pid++)
		CHECK_UINT_EQ(crit_process_maps_find(&maps, pid, pid)->mapping_count, 0);
	for (uint32_t pid = 4002; pid <= 5000; pid++)
		CHECK_UINT_EQ(crit_process_maps_find(&maps, pid, 0)->mappings[0].begin,
			      (uint64_t)pid << 12);
	maps.mapping_max = 10;
	CHECK_INT_EQ(crit_process_maps_add(&maps, &files, 1, 9, OTHER, strlen(OTHER)), 0);
	CHECK_UINT_EQ(maps.mapping_count, 10);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 1, 9)->mapping_count, 2);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 5000, 0)->mapping_count, 1);
	crit_process_maps_fini(&maps);
	crit_mapped_files_fini(&files);
}

/* A process that changes all the time: of what is too old nothing is said. */
static void check_many_versions(void)
{
	struct crit_mapped_files files = { 0 };
	struct crit_process_maps maps = { 0 };
	char text[128];

	for (uint32_t i = 1; i <= 10; i++) {
		(void)snprintf(text, sizeof(text), "1000-2000 r-xp 00000000 00:01 %u /a\n", i);
		CHECK_INT_EQ(crit_process_maps_add(&maps, &files, 5, i * 10, text, strlen(text)),
			     0);
	}
	CHECK_UINT_EQ(maps.mapping_count, 4);
	CHECK_UINT_EQ(maps.forgotten_count, 6);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 5, 69)->mapping_count, 0);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 5, 70)->mappings[0].file, 6);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 5, 75)->mappings[0].file, CRIT_UNWIND_DISPUTED);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 5, 101)->mappings[0].file, 9);
	/* as if seen with the last */
	CHECK_INT_EQ(crit_process_maps_add(&maps, &files, 5, 1, TEXT, strlen(TEXT)), 0);
	CHECK_UINT_EQ(crit_process_maps_find(&maps, 5, 100)->mappings[0].file, 10);
	crit_process_maps_fini(&maps);
	crit_mapped_files_fini(&files);
}

static char own_maps[1 << 16];
static size_t own_maps_bytes;

static void read_own_maps(void)
{
	ssize_t count = 1;
	crit_autoclose int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && count > 0) {
		count = read(fd, own_maps + own_maps_bytes, sizeof(own_maps) - own_maps_bytes);
		own_maps_bytes += count > 0 ? (size_t)count : 0;
	}
}

static uint64_t callers[3]; /* return addresses of the functions below */

__attribute__((noinline)) static void put_own(uint32_t request)
{
	callers[0] = (uint64_t)__builtin_return_address(0);
	ring_writer_put_own(&writer, request);
}

__attribute__((noinline)) static void inner(uint32_t request)
{
	callers[1] = (uint64_t)__builtin_return_address(0);
	put_own(request);
	__asm__ volatile("" ::: "memory"); /* no tail calls */
}

__attribute__((noinline)) static void outer(uint32_t request)
{
	callers[2] = (uint64_t)__builtin_return_address(0);
	inner(request);
	__asm__ volatile("" ::: "memory");
}

/* Is that path's frame the call that returns there? */
static void check_frame(const struct crit_unwind_maps *maps, uint32_t path, uint64_t address)
{
	const struct crit_unwind_mapping *mapping = crit_unwind_maps_find(maps, address - 1);
	char program[128] = "";

	if (!CHECK(mapping) || !CHECK(path >= CRIT_PATH_FIRST))
		return;
	CHECK_UINT_EQ(told.paths[path].offset, address - 1 - mapping->base);
	CHECK(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	CHECK_STR_EQ(told.files[told.paths[path].file], program);
}

static void check_own_stack(void)
{
	struct crit_mapped_files files = { 0 };
	struct crit_unwind_maps maps = { 0 };
	volatile uint32_t stack_count = 3; /* one call, three times */
	uint32_t path;

	begin(1 << 20);
	read_own_maps();
	CHECK_INT_EQ(crit_unwind_maps_add(&maps, &files, own_maps, own_maps_bytes), 0);
	ring_writer_put_maps(&writer, 5, 1, own_maps, own_maps_bytes);
	for (uint32_t i = 1; i <= stack_count; i++)
		outer(i);
	ring_writer_end(&writer);
	CHECK_INT_EQ(crit_stack_reader_look(reader, 0), 1);
	CHECK_UINT_EQ(counts()->end_counts[CRIT_UNWIND_COMPLETE], 3);
	CHECK_INT_EQ(crit_stack_reader_flush(reader), 0);
	CHECK_UINT_EQ(told.sample_count, 3);
	CHECK_UINT_EQ(told.samples[0].path, told.samples[2].path);
	path = told.samples[2].path;
	for (size_t i = 0; i < 3; i++, path = told.paths[path].parent)
		check_frame(&maps, path, callers[i]);
	while (path >= CRIT_PATH_FIRST)
		path = told.paths[path].parent;
	CHECK_UINT_EQ(path, CRIT_PATH_COMPLETE);
	end();
	crit_unwind_maps_fini(&maps);
	crit_mapped_files_fini(&files);
}

/* A function's first instruction, called from code in no file; what put answers is handed on. */
static void check_no_file_and_failure(void)
{
	static const char anonymous[] = "8000-9000 r-xp 00000000 00:00 0 \n";
	const uint64_t stack[] = { 0x8021, 0 };
	const struct crit_stacks_copy copy = { .request = 1,
					       .pid = 5,
					       .stack_bytes = sizeof(stack),
					       .time_ns = 1,
					       .ip = (uint64_t)inner,
					       .sp = 0x7000,
					       .lr = stack[0] };
	static char text[sizeof(own_maps) + sizeof(anonymous)];

	begin(1 << 20);
	memcpy(text, anonymous, sizeof(anonymous) - 1);
	memcpy(text + sizeof(anonymous) - 1, own_maps, own_maps_bytes);
	ring_writer_put_maps(&writer, 5, 1, text, sizeof(anonymous) - 1 + own_maps_bytes);
	ring_writer_put_copy(&writer, &copy, stack);
	look_twice();
	CHECK_INT_EQ(crit_stack_reader_flush(reader), 0);
	CHECK_UINT_EQ(told.sample_count, 1);
	CHECK_UINT_EQ(told.samples[0].path, CRIT_PATH_FIRST);
	CHECK_UINT_EQ(told.paths[CRIT_PATH_FIRST].offset, 0x8020);
	CHECK_UINT_EQ(told.paths[CRIT_PATH_FIRST].parent, CRIT_PATH_CUT_CFI);
	CHECK_STR_EQ(told.files[told.paths[CRIT_PATH_FIRST].file], CRIT_STACK_NO_FILE_NAME);
	told.rc = -EPIPE;
	put_small(2, 5, 1, 0x8010);
	look_twice();
	CHECK_INT_EQ(crit_stack_reader_flush(reader), -EPIPE);
	end();
}

int main(void)
{
	check_maps_by_time();
	check_wrap();
	check_overrun();
	check_late();
	check_old_marks();
	check_nonsense();
	check_heads();
	check_many_processes();
	check_many_versions();
	check_own_stack();
	check_no_file_and_failure();
	return check_done();
}
