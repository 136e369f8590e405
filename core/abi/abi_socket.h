/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between critd and those who speak to it, over SOCK_SEQPACKET Unix sockets.
 *
 *   shim or runner             critd                     finisher
 *     HELLO ------------------->
 *     <------------------ WELCOME     (held back until the run has output; is_first asks for it)
 *     OUTPUT + 2 fds ---------->      (only when is_first: recording file, finisher's socket)
 *     REGISTER [+ memfd] ------>      (the sender's process becomes a member of the run)
 *     <--------------- REGISTERED
 *     JOB --------------------->      (of a process that a scheduler started)
 *     RANK -------------------->      (after PMPI_Init returned; or first Session_init)
 *     CLOCK ------------------->      (of one rank of a node; in MPI_Init and in MPI_Finalize)
 *     HURRY ------------------->      (a ring is half full, and the timer may come too late)
 *     CLOSE ------------------->      (at the entry of MPI_Finalize; or last Session_finalize)
 *                                  STACKS + memfd -------->   (of samples, abi_stacks.h)
 *                                  <----------------- PATHS   (what they say, again and again)
 *                                  <------------- PATHS_END   (no more come, now or at the end)
 *                                  CLOSED ---------------->   (all ranks here closed or gone)
 *                                  <--------------- WRITTEN   (report is in place, or why not)
 *     <------------------ WRITTEN     (to every connection of the run that is still open)
 *
 * A process that starts critd, or waits for that, and calls MPI_Init, sends HELLO with role STARTER
 * and OUTPUT, or HELLO with role IN_INIT, and REGISTER, all before the first answer; and after
 * MPI_Init HELLO with role SHIM.  So long it is not asked for output, and its REGISTER waits for
 * that.  A STARTER's HELLO is the first that critd receives: nobody else is asked for output while
 * it is there.
 *
 * A runner (crit run) sends HELLO with role RUNNER and never REGISTER; its child registers before
 * exec with role ROOT and no memfd.  ATTACH with a pidfd makes a running process a member until the
 * sender hangs up.  The finisher's socket reads end-of-file when the recording is complete.  Texts
 * are NUL-terminated inside their field.
 */
#ifndef CRIT_ABI_SOCKET_H
#define CRIT_ABI_SOCKET_H

#include <linux/types.h>

#define CRIT_SOCKET_VERSION 1u
#define CRIT_SAMPLE_HZ_MAX 9999u /* per CPU */
#define CRIT_SAMPLE_BUDGET_MAX 1000u /* 1/10 per cent of each CPU */
#define CRIT_RUN_KEY_BYTES 128
#define CRIT_EXE_BYTES 256
#define CRIT_PATH_BYTES 1024
#define CRIT_WORLD_BYTES 64
#define CRIT_TEXT_BYTES 128
#define CRIT_MESSAGE_MAX 4096
#define CRIT_TLS_NONE ((__s64)1 << 62) /* tls_offset: no tag word */

enum crit_message_kind {
	CRIT_M_NONE = 0,
	CRIT_M_HELLO = 1,
	CRIT_M_WELCOME = 2,
	CRIT_M_OUTPUT = 3,
	CRIT_M_REGISTER = 4,
	CRIT_M_REGISTERED = 5,
	CRIT_M_ATTACH = 6, /* + pidfd; answered by REGISTERED */
	CRIT_M_RANK = 7,
	CRIT_M_CLOSE = 8,
	CRIT_M_CLOSED = 9,
	CRIT_M_WRITTEN = 10,
	CRIT_M_CLOCK = 11, /* a node's clock was compared with the reference node's */
	CRIT_M_NODES = 12, /* the nodes of its world, or only the first of them */
	CRIT_M_JOB = 13, /* which job of a scheduler the process belongs to */
	CRIT_M_DRAIN = 14, /* only a head: take what the rings hold now */
	CRIT_M_STACKS = 15, /* only a head, + memfd: struct crit_stacks_head */
	CRIT_M_PATHS = 16, /* struct crit_message_paths, then the body of a chunk */
	CRIT_M_PATHS_END = 17, /* only a head */
	CRIT_M_COUNT = 18
};

enum crit_client_role {
	CRIT_ROLE_NONE = 0,
	CRIT_ROLE_SHIM = 1,
	CRIT_ROLE_RUNNER = 2,
	CRIT_ROLE_ROOT = 3,
	CRIT_ROLE_IN_INIT = 4,
	CRIT_ROLE_STARTER = 5
};

enum crit_flavour {
	CRIT_FLAVOUR_NONE = 0,
	CRIT_FLAVOUR_OPENMPI = 1,
	CRIT_FLAVOUR_MPICH = 2,
	CRIT_FLAVOUR_OMPT = 3 /* OpenMP only */
};

struct crit_message_head {
	__u16 kind;
	__u16 version; /* CRIT_SOCKET_VERSION */
	__u32 size; /* whole message */
};

struct crit_message_hello {
	struct crit_message_head head;
	__u32 role;
	__u32 flavour;
	char run_key[CRIT_RUN_KEY_BYTES];
	char exe[CRIT_EXE_BYTES]; /* absolute path of the program */
};

struct crit_message_welcome {
	struct crit_message_head head;
	__s32 status; /* 0, or -errno: refused */
	__u32 is_first; /* 1: send OUTPUT next */
	__s32 kernel_status; /* 0: kernel half at work; else -errno why not */
	__s32 perf_status; /* as in struct crit_rec_file */
	__u64 run_id;
};

struct crit_message_output { /* + recording fd, finisher's socket fd */
	struct crit_message_head head;
	__u64 max_bytes; /* CRIT_MAX_BYTES */
	__u32 level; /* CRIT_LEVEL */
	__u32 sample_hz; /* CRIT_SAMPLE_HZ; 0: CRIT_SAMPLE is off */
	char directory[CRIT_PATH_BYTES];
	char host[CRIT_WORLD_BYTES];
	__u32 sample_budget; /* CRIT_SAMPLE_BUDGET; earlier clients end before it: no stacks */
	__u32 reserved;
};

enum crit_process_flag { /* in PROCESS chunks as well */
	CRIT_PF_PMPI_IN_FRONT = 1 << 0, /* another library's MPI_X calls crit's */
	CRIT_PF_OMP_PASSIVE = 1 << 1, /* its environment keeps OpenMP threads from spinning */
	CRIT_PF_LINKAGE = 7 << 2 /* enum crit_linkage of a program in its command line */
};

#define CRIT_PF_LINKAGE_SHIFT 2

struct crit_message_register { /* [+ memfd] */
	struct crit_message_head head;
	__s64 tls_offset; /* tag word minus thread pointer, or CRIT_TLS_NONE */
	__s64 clock_offset_ns;
	__u32 ns_pid; /* as the sender sees itself */
	__u16 has_memfd;
	__u16 flags; /* enum crit_process_flag */
	char arguments[CRIT_EXE_BYTES]; /* command line, blank-separated, cut */
};

struct crit_message_registered {
	struct crit_message_head head;
	__s32 status;
	__u32 level;
	__u32 tau_ns;
	__u32 reserved;
	char directory[CRIT_PATH_BYTES];
};

struct crit_message_rank {
	struct crit_message_head head;
	__u32 rank;
	__u32 size;
	__u32 thread_level;
	__u32 init_us; /* so long before open_ns it entered MPI_Init; 0: registered before that */
	__u64 open_ns; /* host CLOCK_MONOTONIC at the return of MPI_Init */
	char world[CRIT_WORLD_BYTES]; /* name of the MPI_COMM_WORLD; equal for all its ranks */
	char library[CRIT_TEXT_BYTES]; /* first line of MPI_Get_library_version */
};

struct crit_message_close {
	struct crit_message_head head;
	__u64 close_ns; /* 0 with has_reopened */
	__u32 has_reopened; /* a new session began after the last one ended */
	__u32 reserved;
};

/*
 * The reference clock is that of the node of world rank 0, or of the first rank that is recorded:
 * host CLOCK_MONOTONIC there minus host CLOCK_MONOTONIC here lies in offset_ns +- bound_ns.
 */
struct crit_message_clock {
	struct crit_message_head head;
	__u64 time_ns; /* this node's, when it was compared */
	__s64 offset_ns;
	__u64 bound_ns;
	char reference[CRIT_WORLD_BYTES]; /* host name of the reference node */
};

#define CRIT_NODES_MAX 60 /* host names in one message; more come in more messages */

struct crit_message_nodes {
	struct crit_message_head head;
	__u32 count;
	__u32 reserved;
	char hosts[CRIT_NODES_MAX][CRIT_WORLD_BYTES];
};

#define CRIT_TASK_NONE 0xffffffffu /* the scheduler did not start it itself */

struct crit_job { /* "" where there is none; in JOB chunks as well */
	__u32 task; /* number in its step, or CRIT_TASK_NONE */
	__u32 restart_count; /* of a job that was requeued */
	char scheduler[16]; /* slurm, pbs, lsf, flux */
	char name[64]; /* of the job */
	char step[64];
	char array[64]; /* <job>_<element> */
};

struct crit_message_job {
	struct crit_message_head head;
	struct crit_job job;
};

#define CRIT_PATHS_MESSAGE_MAX (64u << 10) /* of PATHS; the others have CRIT_MESSAGE_MAX */

struct crit_message_paths {
	struct crit_message_head head;
	__u32 chunk_kind; /* CRIT_C_PATH_FILES, CRIT_C_PATHS or CRIT_C_SAMPLES */
	__u32 bytes; /* of the chunk's body, which follows */
};

struct crit_message_status { /* CLOSED, WRITTEN */
	struct crit_message_head head;
	__s32 status; /* 0, or -errno */
	__u32 reserved;
	__u64 time_ns;
};

_Static_assert(sizeof(struct crit_message_hello) == 16 + 128 + 256, "hello");
_Static_assert(sizeof(struct crit_message_welcome) == 32, "welcome");
_Static_assert(sizeof(struct crit_message_output) == 24 + 1024 + 64 + 8, "output");
_Static_assert(sizeof(struct crit_message_register) == 32 + 256, "register");
_Static_assert(sizeof(struct crit_message_registered) == 24 + 1024, "registered");
_Static_assert(sizeof(struct crit_message_rank) == 32 + 64 + 128, "rank");
_Static_assert(sizeof(struct crit_message_close) == 24, "close");
_Static_assert(sizeof(struct crit_message_clock) == 32 + 64, "clock");
_Static_assert(sizeof(struct crit_message_nodes) == 16 + 60 * 64, "nodes");
_Static_assert(sizeof(struct crit_message_job) == 8 + 8 + 16 + 3 * 64, "job");
_Static_assert(sizeof(struct crit_message_paths) == 16, "paths");
_Static_assert(sizeof(struct crit_message_status) == 24, "status");

#endif
