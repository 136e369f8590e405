/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Composes the recording of one node, in memory or straight into a file, for tests and benchmarks.
 *
 *   struct crit_maker *m = crit_maker_create(NULL);
 *   crit_maker_file(m, (struct crit_rec_file){ .host = "node0", .cpu_count = 2 });
 *   uint32_t stream = crit_maker_stream(m, (struct crit_rec_stream){ .pid = 100, .ns_tid = 100 });
 *   crit_maker_enter(m, stream, 5000, CRIT_MPI_Barrier);
 *   crit_maker_leave(m, stream, 6000, CRIT_MPI_Barrier);
 *   int fd = crit_maker_memfd(m);   (its path: /proc/self/fd/N)
 *   crit_maker_destroy(m);
 *
 * Records collect per source; a source's chunk is closed when full, by crit_maker_drain(), or at
 * the end.  Numbers and checksums are set last, so chunks may be dropped and interleaved before.
 * No function fails: out of memory or a write error ends the program with a line on stderr.
 */
#ifndef CRIT_TESTS_MAKER_H
#define CRIT_TESTS_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/abi/abi_recording.h"
#include "core/abi/abi_wake.h"

struct crit_maker;
/* Ends the program: "recording maker: cannot WHAT". */
void crit_maker_fail(const char *what) __attribute__((noreturn));
void *crit_maker_grow(void *array, size_t *capacity, size_t wanted, size_t item_bytes);

struct crit_maker_options {
	size_t chunk_bytes; /* at which a chunk is closed, 0: 65536; below 64 splits polls */
	uint16_t version; /* of the format, 0: today's; no jumbling below 3 */
	FILE *out; /* borrowed; write every chunk at once and forget it, NULL: keep all in memory */
	/* Sees every kernel record before it is stored; may change it, or drop it (false). */
	bool (*tamper_kernel)(void *user, struct crit_kernel_head *record);
	bool (*tamper_slot)(void *user, uint32_t stream, struct crit_slot *slot); /* the same */
	void *user;
	uint64_t samples; /* not 0: a seed; samples of known threads lie among kernel records */
};

/* Ownership: options are copied, NULL means defaults; the caller destroys the maker. */
struct crit_maker *crit_maker_create(const struct crit_maker_options *options);
void crit_maker_destroy(struct crit_maker *m);

/* Any chunk, as it is.  Closes the chunks of the same source first, so order within it holds. */
void crit_maker_chunk(struct crit_maker *m, struct crit_chunk_head head, const void *payload,
		      size_t length);

/* Chunks that hold one record.  time_ns of the head is that of the record, where it has one. */
void crit_maker_file(struct crit_maker *m, struct crit_rec_file file);
void crit_maker_process(struct crit_maker *m, struct crit_rec_process process);
void crit_maker_rank(struct crit_maker *m, struct crit_rec_rank rank);
void crit_maker_close(struct crit_maker *m, struct crit_rec_close close);
void crit_maker_gone(struct crit_maker *m, struct crit_rec_gone gone);
void crit_maker_maps(struct crit_maker *m, struct crit_rec_maps maps, const char *text);
void crit_maker_clock(struct crit_maker *m, struct crit_rec_clock clock);
void crit_maker_name(struct crit_maker *m, struct crit_rec_name name);
void crit_maker_note(struct crit_maker *m, struct crit_rec_note note, const char *text);
void crit_maker_path_file(struct crit_maker *m, uint32_t file, const char *name);
void crit_maker_window(struct crit_maker *m, uint64_t closed_ns);
void crit_maker_foot(struct crit_maker *m, struct crit_rec_foot foot);

/* Any kernel record, as it is but for its size. */
void crit_maker_kernel(struct crit_maker *m, struct crit_kernel_head *record, size_t bytes);
/* Kernel records.  kind, size and the membership flags (member: tid not 0) are set here. */
void crit_maker_switch(struct crit_maker *m, struct crit_kernel_switch record);
void crit_maker_preempted(struct crit_maker *maker, struct crit_kernel_preempted record);
void crit_maker_outside(struct crit_maker *m, struct crit_kernel_outside record);
void crit_maker_yields(struct crit_maker *m, struct crit_kernel_yields record);
void crit_maker_ran(struct crit_maker *m, struct crit_kernel_ran record);
void crit_maker_wake(struct crit_maker *m, struct crit_kernel_wake record);
void crit_maker_wake_new(struct crit_maker *m, struct crit_kernel_wake record);
void crit_maker_fork(struct crit_maker *m, struct crit_kernel_fork record);
void crit_maker_exec(struct crit_maker *m, struct crit_kernel_exec record);
void crit_maker_exit(struct crit_maker *m, struct crit_kernel_exit record);
void crit_maker_enrol(struct crit_maker *m, struct crit_kernel_enrol record);
void crit_maker_sample(struct crit_maker *m, struct crit_kernel_sample record);

/* A thread takes a buffer: yields the stream's number (from 1), which is its chunks' source. */
uint32_t crit_maker_stream(struct crit_maker *m, struct crit_rec_stream stream);
/* end_pos is set here when it is 0. */
void crit_maker_stream_end(struct crit_maker *m, uint32_t stream, struct crit_rec_stream_end end);
void crit_maker_slot(struct crit_maker *m, uint32_t stream, struct crit_slot slot);
void crit_maker_enter(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call);
void crit_maker_enter_at(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			 uint64_t site);
void crit_maker_leave(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call);

struct crit_maker_construct {
	uint32_t call, region; /* region: in force inside */
	uint64_t site, arg;
};

/* OpenMP: a span that nests, until crit_maker_leave; MPI calls inside have its region. */
void crit_maker_construct(struct crit_maker *m, uint32_t stream, uint64_t time_ns,
			  struct crit_maker_construct construct);
void crit_maker_worker(struct crit_maker *m, uint32_t stream, uint64_t time_ns);
void crit_maker_release(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			uint64_t lock);
/* A definition, with a phase's name or NULL. */
void crit_maker_region(struct crit_maker *m, uint32_t stream, struct crit_slot_region region,
		       const char *name);

/* Slots without a stamp: what the span does whose leave (or poll record) comes next. */
void crit_maker_detail(struct crit_maker *m, uint32_t stream, struct crit_slot_detail detail);
void crit_maker_comm(struct crit_maker *m, uint32_t stream, struct crit_slot_comm comm);

struct crit_maker_poll {
	uint64_t first_ns, last_ns; /* begin of the first failing call, end of the span */
	uint32_t call;
	uint64_t count, gap_sum_ns, site;
};

void crit_maker_poll(struct crit_maker *m, uint32_t stream, struct crit_maker_poll poll);
void crit_maker_counters(struct crit_maker *m, uint32_t stream, const struct crit_counter *counters,
			 size_t count);

/* The tag word of the stream's thread now: slots written so far, innermost open span. */
uint64_t crit_maker_tag(const struct crit_maker *m, uint32_t stream);
/* The same inside a poll call, which leaves no slot before its span is over. */
uint64_t crit_maker_poll_tag(const struct crit_maker *m, uint32_t stream, uint32_t call);

/* Counts records of a source (0: kernel) as lost; its next chunk says so. */
void crit_maker_lose(struct crit_maker *m, uint32_t source, uint64_t count);

/* Closes all open chunks, as critd does every few milliseconds. */
void crit_maker_drain(struct crit_maker *m);
/* So far, for FOOT. */
uint64_t crit_maker_kernel_count(const struct crit_maker *m);
uint64_t crit_maker_slot_count(const struct crit_maker *m);

/* In memory only: the chunks so far, in file order. */
size_t crit_maker_chunk_count(struct crit_maker *m);
enum crit_chunk_kind crit_maker_chunk_kind(struct crit_maker *m, size_t index);
void crit_maker_drop_chunk(struct crit_maker *m, size_t index, bool is_renumbered);
/* Another order of draining: FILE first, WINDOW and FOOT last, each source in order. */
void crit_maker_interleave(struct crit_maker *m, uint64_t seed);
/* Another order of kernel records: neighbours whose stamps differ, by at most within_ns. */
void crit_maker_jumble(struct crit_maker *m, uint64_t seed, uint64_t within_ns);

/* In memory only.  Ownership: the caller frees the bytes, and closes files. */
unsigned char *crit_maker_bytes(struct crit_maker *m, size_t *ret_length);
int crit_maker_memfd(struct crit_maker *m);
void crit_maker_write(struct crit_maker *m, const char *path);
int crit_maker_memfd_of(const void *bytes, size_t length);

#endif
