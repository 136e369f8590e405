/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording: one append-only file per node, a sequence of chunks, each a 64-byte head and a
 * payload padded to 8 bytes.  Little-endian.  crit-recording(5) is the prose.
 *
 * A reader takes whole chunks with a right checksum and cuts the rest; the first chunk is FILE.
 * Chunks of one source are in order; chunks of different sources interleave as critd drained them.
 * Chunks, kernel records and slots of kinds a reader does not know are stepped over and counted,
 * and of what is longer than the reader knows it takes the begin: so much needs no new version.
 */
#ifndef CRIT_ABI_RECORDING_H
#define CRIT_ABI_RECORDING_H

#include <linux/types.h>

#include "core/abi/abi_kernel.h"
#include "core/abi/abi_paths.h"
#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"

#define CRIT_CHUNK_MAGIC 0x43545243u /* "CRTC" */
#define CRIT_RECORDING_VERSION 3u
#define CRIT_RECORDING_VERSION_LEAST 1u /* 1: without RAN; up to 2: struct crit_kernel_head_2 */
#define CRIT_CHUNK_PAYLOAD_MAX (1u << 20)

enum crit_chunk_kind {
	CRIT_C_NONE = 0,
	CRIT_C_FILE = 1, /* struct crit_rec_file; always first */
	CRIT_C_KERNEL = 2, /* struct crit_kernel_* back to back; source 0 */
	CRIT_C_SHIM = 3, /* struct crit_slot[]; source = stream, position = first slot number */
	/* struct crit_rec_stream: a thread took a thread buffer; source = stream */
	CRIT_C_STREAM = 4,
	CRIT_C_STREAM_END = 5, /* struct crit_rec_stream_end */
	CRIT_C_COUNTERS = 6, /* struct crit_counter[], all of a stream's: the last chunk counts */
	CRIT_C_PROCESS = 7, /* struct crit_rec_process */
	/* struct crit_rec_rank; behind it, if the rank registered inside MPI_Init, a __u64: when it
	 * had entered that, with one thread */
	CRIT_C_RANK = 8,
	CRIT_C_CLOSE = 9, /* struct crit_rec_close */
	CRIT_C_GONE = 10, /* struct crit_rec_gone */
	CRIT_C_MAPS = 11, /* struct crit_rec_maps, then the text of /proc/PID/maps */
	CRIT_C_NAMES = 12, /* struct crit_rec_name[] of live threads */
	CRIT_C_NOTE = 13, /* struct crit_rec_note, then a line of text */
	CRIT_C_WINDOW = 14, /* struct crit_rec_window: all ranks here closed, rings drained */
	CRIT_C_FOOT = 15, /* struct crit_rec_foot: the end of a complete recording */
	CRIT_C_CLOCK = 16, /* struct crit_rec_clock */
	CRIT_C_NODES = 17, /* char[CRIT_WORLD_BYTES] each: hosts a world runs on */
	CRIT_C_SAMPLES = 18, /* struct crit_rec_sample_path[]: the paths of samples */
	CRIT_C_COUNTER_VALUES = 19, /* reserved: node counters */
	CRIT_C_JOB = 20, /* struct crit_rec_job */
	CRIT_C_USABLE_CPUS = 21, /* struct crit_rec_usable_cpus, limits, masks */
	CRIT_C_PATHS = 22, /* struct crit_rec_path[] */
	CRIT_C_PATH_FILES = 23, /* struct crit_rec_path_file and the name, back to back */
	CRIT_C_COUNT = 24
};

struct crit_chunk_head { /* 64 bytes */
	__u32 magic;
	__u16 version;
	__u16 kind;
	__u32 source;
	__u32 length; /* payload bytes, before padding */
	__u32 crc32c; /* of head (with this field 0) and payload */
	__u32 reserved;
	__u64 first_ns; /* smallest and largest stamp inside; 0, 0 when none */
	__u64 last_ns;
	__u64 lost; /* records of this source lost before this chunk, since its last one */
	__u64 position; /* number of the first record (slot) inside */
	__u64 chunk; /* running number in the file, from 0 */
};

struct crit_rec_file {
	__u32 cpu_count;
	__u32 uid;
	__u32 level;
	__s32 kernel_status; /* 0: kernel half at work; else -errno why not */
	__u64 start_mono_ns;
	__u64 start_real_ns;
	__u64 run_id;
	__u64 max_bytes;
	char boot[40]; /* boot id */
	char host[CRIT_WORLD_BYTES];
	char run_key[CRIT_RUN_KEY_BYTES];
	char kernel_release[CRIT_WORLD_BYTES];
	char critd_version[16];
	/* 1: perf events stand in for that; 0: untried; else -errno, beside it of samples */
	__s32 perf_status;
	__s32 perf_paranoid; /* kernel.perf_event_paranoid, once it was tried */
	char exe[CRIT_EXE_BYTES];
};

struct crit_rec_process { /* at registration; attached: no memfd and no arguments */
	__u32 pid; /* initial pid namespace */
	__u32 ns_pid; /* its own */
	__u32 flavour;
	__u16 has_memfd;
	__u16 flags; /* enum crit_process_flag; 0 in recordings of before there were any */
	__s64 clock_offset_ns;
	__u64 time_ns;
	char exe[CRIT_EXE_BYTES];
	char arguments[CRIT_EXE_BYTES];
};

struct crit_rec_rank {
	__u32 pid;
	__u32 rank;
	__u32 size;
	__u32 thread_level;
	__u64 open_ns;
	char world[CRIT_WORLD_BYTES];
	char library[CRIT_TEXT_BYTES];
};

struct crit_rec_close {
	__u32 pid;
	__u32 has_reopened;
	__u64 close_ns;
};

struct crit_rec_clock { /* as struct crit_message_clock */
	__u64 time_ns;
	__s64 offset_ns;
	__u64 bound_ns;
	char reference[CRIT_WORLD_BYTES];
};

struct crit_rec_job { /* of a registered process, where a scheduler started it */
	__u32 pid;
	__u32 reserved;
	__u64 time_ns;
	struct crit_job job;
};

#define CRIT_CPU_WORDS_MAX 64u /* 4096 CPUs */
#define CRIT_CPU_LIMITS_MAX 16u
#define CRIT_CPU_THREADS_MAX 1024u

/*
 * What a registered process may use.  First the CPU limits of its cgroup and those above it, its
 * own first, as struct crit_rec_cpu_limit[limit_count]; levels without a limit are left out.  Then
 * the affinity masks of its threads, for each a __u64 with the thread's number and its mask in
 * __u64[word_count], CPU 0 being bit 0 of the first.  Where all masks are alike there is one, with
 * the number 0.  Written when something changed.
 */
struct crit_rec_usable_cpus {
	__u32 pid;
	__u32 limit_count;
	__u32 thread_count;
	__u32 word_count;
	__u64 time_ns;
};

struct crit_rec_cpu_limit {
	__u64 cgroup; /* a number for its path: equal numbers, equal cgroups of this node */
	__u64 cpu_millionths; /* quota by period; 1000000 is one CPU */
};

struct crit_rec_gone { /* a registered process ended */
	__u32 pid;
	__u32 reserved;
	__u64 time_ns;
};

struct crit_rec_stream {
	__u32 pid;
	__u32 ns_tid;
	__u32 buffer;
	__u32 reserved;
	__u64 claim_ns;
	__u64 claim_pos;
};

struct crit_rec_stream_end {
	__u32 pid;
	__u32 ns_tid;
	__u64 release_ns; /* 0: owner died or still lives */
	__u64 end_pos;
	__u64 lost_spans; /* by this owner */
	__u64 counters_lost;
	__u64 folded_ns;
	__u32 open_call; /* the poll span that was open, or 0 */
	__u32 open_class;
	__u64 open_first_ns;
	__u64 open_last_ns;
	__u64 open_count;
	__u64 open_gap_sum_ns;
	__u64 open_site;
};

struct crit_rec_maps {
	__u32 pid;
	__u32 without_shim; /* 1: critd read it by itself; 0: when the shim registered or closed */
	__u64 time_ns;
};

struct crit_rec_name {
	__u32 tid;
	__u32 tgid;
	char comm[CRIT_COMM_BYTES];
};

enum crit_note_code {
	CRIT_NOTE_NONE = 0,
	CRIT_NOTE_LEVEL = 1, /* trace fell back to profile */
	CRIT_NOTE_CAP = 2, /* the cap is reached, recording ended */
	CRIT_NOTE_OUTPUT = 3, /* the output could not be written; value = -errno */
	CRIT_NOTE_REFUSED = 4, /* a client or its memory was refused */
	CRIT_NOTE_CORRUPT = 5, /* a rank's ring made no sense and was left alone */
	CRIT_NOTE_MAPS = 6, /* memory maps that could not be read or kept */
	CRIT_NOTE_PATHS = 7, /* bytes of call paths beyond what critd takes were dropped */
	CRIT_NOTE_STACKS = 8, /* stacks that the budget refused; value = how many */
	CRIT_NOTE_SAMPLES = 9, /* threads that could not be sampled; value = -errno */
	CRIT_NOTE_COUNT = 10
};

struct crit_rec_note {
	__u32 code;
	__s32 value;
	__u64 time_ns;
};

struct crit_rec_window {
	__u64 closed_ns;
};

struct crit_rec_foot {
	__u64 time_ns;
	__u64 kernel_records;
	__u64 kernel_lost;
	__u64 shim_slots;
	__u64 shim_lost; /* whole spans */
	__u64 write_errors;
	__u64 critd_cpu_ns; /* critd's own CPU time so far */
	__u64 no_buffer; /* threads that found no buffer: their spans are not recorded */
};

_Static_assert(sizeof(struct crit_chunk_head) == 64, "chunk head");
_Static_assert(sizeof(struct crit_rec_file) == 48 + 40 + 64 + 128 + 64 + 16 + 8 + 256, "file");
_Static_assert(sizeof(struct crit_rec_process) == 32 + 512, "process");
_Static_assert(sizeof(struct crit_rec_rank) == 24 + 64 + 128, "rank");
_Static_assert(sizeof(struct crit_rec_clock) == 24 + 64, "clock");
_Static_assert(sizeof(struct crit_rec_job) == 16 + sizeof(struct crit_job), "job");
_Static_assert(sizeof(struct crit_rec_usable_cpus) == 24, "usable CPUs");
_Static_assert(sizeof(struct crit_rec_cpu_limit) == 16, "CPU limit");
_Static_assert(sizeof(struct crit_rec_stream) == 32, "stream");
_Static_assert(sizeof(struct crit_rec_stream_end) == 96, "stream end");
_Static_assert(sizeof(struct crit_rec_name) == 24, "name");
_Static_assert(sizeof(struct crit_rec_foot) == 64, "foot");

#endif
