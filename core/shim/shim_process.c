// SPDX-License-Identifier: BSD-3-Clause
// Registers a process with critd, again after a fork, and opens and closes its window.
#include "core/shim/shim_process.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/base/call.h"
#include "core/base/cleanup.h"
#include "core/base/guard.h"
#include "core/base/setting.h"
#include "core/client/client_key.h"
#include "core/client/client_log.h"
#include "core/shim/shim_clock.h"
#include "core/shim/shim_comm.h"
#include "core/shim/shim_memory.h"
#include "core/shim/shim_poll.h"
#include "core/shim/shim_region.h"
#include "core/shim/shim_thread.h"

#define START_STACK_BYTES (256u << 10)

struct crit_shim_process crit_process = { .client = { .fd = -1 }, .memfd = -1 };

/* The memory is critd's now, or of no use. */
static void close_memfd(void)
{
	if (crit_process.memfd >= 0)
		close(crit_process.memfd);
	crit_process.memfd = -1;
}

/*
 * The child of a fork is a process of its own: it keeps nothing of its parent's recording and
 * registers anew at its first MPI call.  Only this thread came along.
 */
static void on_fork_child(void)
{
	CRIT_GUARD;

	crit_memory_unmap();
	close_memfd();
	crit_client_fini(&crit_process.client);
	crit_scratch_release(&crit_this_thread);
	crit_comm_forget_slots();
	crit_region_forget_slots();
	memset(&crit_this_thread, 0, sizeof(crit_this_thread));
	atomic_store_explicit(&crit_process.state, CRIT_PROCESS_NEW, memory_order_release);
}

static void prepare_once(void)
{
	static bool
		is_prepared; /* one starter at a time; a fork's child inherits key and handler */

	if (is_prepared)
		return;
	is_prepared = true;
	crit_process.has_key = pthread_key_create(&crit_process.key, crit_thread_release) == 0 &&
			       pthread_atfork(NULL, NULL, on_fork_child) == 0;
}

static int64_t tag_offset(void)
{
	return (int64_t)((intptr_t)&crit_this_thread.tag - (intptr_t)__builtin_thread_pointer());
}

static bool is_of(const Dl_info *object, const char *prefix)
{
	const char *slash = strrchr(object->dli_fname, '/');

	return strncmp(slash ? slash + 1 : object->dli_fname, prefix, strlen(prefix)) == 0;
}

/*
 * Does the program's call of this name reach another library first?  A definition in the program
 * itself is its own matter: no order of libraries is before that.
 */
static bool is_in_front(const char *name)
{
	const void *entry = (const void *)(uintptr_t)getauxval(AT_ENTRY);
	const void *first = dlsym(RTLD_DEFAULT, name);
	Dl_info object, program;

	if (!first || !dladdr(first, &object) || !object.dli_fname)
		return false;
	if (dladdr(entry, &program) && program.dli_fbase == object.dli_fbase)
		return false;
	return !is_of(&object, "libcrit_pmpi.so") && !is_of(&object, "libmpi");
}

/* Calls that any library would wrap which looks at the time spent in MPI. */
static bool has_pmpi_in_front(void)
{
	static const char *const names[] = { "MPI_Init",    "MPI_Init_thread", "MPI_Send",
					     "MPI_Recv",    "MPI_Isend",       "MPI_Irecv",
					     "MPI_Wait",    "MPI_Waitall",     "MPI_Barrier",
					     "MPI_Bcast",   "MPI_Reduce",      "MPI_Allreduce",
					     "MPI_Finalize" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_in_front(names[i]))
			return true;
	return false;
}

static bool is_set_to(const char *variable, const char *value)
{
	const char *text = getenv(variable);

	return text && strcasecmp(text, value) == 0;
}

/* By the standard's variable, or by those with which LLVM's and GNU's runtimes overrule it. */
static bool is_omp_passive(void)
{
	return is_set_to("OMP_WAIT_POLICY", "passive") || is_set_to("KMP_BLOCKTIME", "0") ||
	       is_set_to("GOMP_SPINCOUNT", "0");
}

/* enum crit_process_flag: PMPI libraries in front of crit's, and how OpenMP threads wait. */
static uint16_t environment_flags(void)
{
	return (uint16_t)((has_pmpi_in_front() ? CRIT_PF_PMPI_IN_FRONT : 0) |
			  (is_omp_passive() ? CRIT_PF_OMP_PASSIVE : 0));
}

static struct crit_client_options client_options(enum crit_client_role role)
{
	return (struct crit_client_options){ .role = role,
					     .flavour = crit_process.flavour,
					     .env = &crit_process.env };
}

static void make_memory(void)
{
	const int error = crit_memory_create(&crit_process.memfd);
	char text[96];

	if (error == 0)
		return;
	(void)snprintf(text, sizeof(text), "no shared memory (%s): spans are not recorded",
		       strerrordesc_np(-error));
	crit_client_log(crit_process.client.exe, text);
}

static struct crit_client_member member(void)
{
	return (struct crit_client_member){ .tls_offset = tag_offset(),
					    .clock_offset_ns = crit_process.clock_offset_ns,
					    .memfd = crit_process.memfd,
					    .flags = environment_flags() };
}

static bool is_chosen(void)
{
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	return crit_client_is_chosen(path);
}

static enum crit_process_state fail(void)
{
	crit_client_log(crit_process.client.exe, crit_process.failure.text);
	crit_client_fini(&crit_process.client);
	close_memfd();
	return CRIT_PROCESS_OFF;
}

static bool is_wanted(void)
{
	crit_process.failure.text[0] = '\0';
	crit_process.init_ns = 0;
	crit_notice_init(&crit_process.notice);
	crit_client_env_read(&crit_process.env);
	if (crit_process.env.is_disabled || !is_chosen())
		return false;
	crit_process.poll_gap_ns = crit_process.env.poll_gap_ns;
	crit_process.omitted = crit_process.env.groups_off |
			       (crit_client_has_choice() ? CRIT_OMITS_PROGRAMS : 0);
	prepare_once();
	crit_clock_init();
	return true;
}

/* On the connection there is. */
static enum crit_process_state enter_run(void)
{
	const struct crit_client_options options = client_options(CRIT_ROLE_SHIM);
	const struct crit_client_member self = member();
	struct crit_err *failure = &crit_process.failure;
	int error = crit_client_finish(&crit_process.client, &options, failure);

	if (error == 0)
		error = crit_client_register(&crit_process.client, &self, NULL, failure);
	close_memfd();
	return error == 0 ? CRIT_PROCESS_READY : fail();
}

static enum crit_process_state start(void)
{
	const struct crit_client_options options = client_options(CRIT_ROLE_SHIM);
	enum crit_process_state state;

	if (!is_wanted())
		return CRIT_PROCESS_OFF;
	if (crit_client_begin(&crit_process.client, &options, &crit_process.failure) < 0)
		return fail();
	make_memory();
	state = enter_run();
	if (state == CRIT_PROCESS_OFF)
		crit_memory_unmap();
	return state;
}

/*
 * The threads that MPI_Init makes are told from the program's by there being none before; the
 * kernel counts those of a process as links of a directory.
 */
static bool has_one_thread(void)
{
	struct stat status;

	return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

static enum crit_process_state start_in_init(void)
{
	const struct crit_client_options options = client_options(CRIT_ROLE_IN_INIT);
	enum crit_process_state state = CRIT_PROCESS_IN_INIT;

	if (!has_one_thread())
		return start();
	if (!is_wanted())
		return CRIT_PROCESS_OFF;
	crit_process.init_ns = crit_clock_now_ns(&crit_this_thread.clock);
	if (crit_client_begin(&crit_process.client, &options, &crit_process.failure) < 0)
		return fail();
	make_memory();
	if (crit_process.client.way == CRIT_CLIENT_GIVEN) {
		crit_process.init_ns = 0;
		state = enter_run();
	} else {
		const struct crit_client_member self = member();

		if (crit_client_announce(&crit_process.client, &options, &self,
					 &crit_process.failure) < 0)
			state = fail();
	}
	if (state == CRIT_PROCESS_OFF)
		crit_memory_unmap();
	return state;
}

/* Threads may have taken their buffers: where nobody reads these, nobody writes them either. */
static enum crit_process_state enter_run_after_init(void)
{
	const enum crit_process_state state = enter_run();

	if (state == CRIT_PROCESS_OFF && crit_process.head)
		__atomic_store_n(&crit_process.head->is_stopped, 1, __ATOMIC_RELAXED);
	return state;
}

typedef enum crit_process_state step_function(void);

struct apart { /* in the lowest pages of the memory that a step runs on; the next is a guard */
	ucontext_t caller;
	ucontext_t own;
	step_function *step;
	enum crit_process_state state;
};

static void step_here(unsigned int high, unsigned int low) /* halves of a struct apart * */
{
	struct apart *apart = (struct apart *)(((uintptr_t)high << 32) | low);

	apart->state = apart->step();
}

/* Paths, messages and the loader want 30 kB; the thread that comes first may have 16 in all. */
static enum crit_process_state do_apart(step_function *step)
{
	struct apart *apart = mmap(NULL, START_STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t guard_at = (sizeof(*apart) + page - 1) / page * page;
	enum crit_process_state state;

	if (apart == MAP_FAILED) {
		(void)crit_err_set(&crit_process.failure, -ENOMEM, "no memory to start with");
		return CRIT_PROCESS_OFF;
	}
	apart->step = step;
	apart->state = CRIT_PROCESS_OFF;
	/* runs without it all the same */
	(void)mprotect((char *)apart + guard_at, page, PROT_NONE);
	// cppcheck-suppress getcontextCalled ; the program would see a thread
	if (getcontext(&apart->own) == 0) {
		apart->own.uc_stack.ss_sp = (char *)apart + guard_at + page;
		apart->own.uc_stack.ss_size = START_STACK_BYTES - guard_at - page;
		apart->own.uc_link = &apart->caller;
		makecontext(&apart->own, (void (*)(void))step_here, 2,
			    (unsigned int)((uintptr_t)apart >> 32), (unsigned int)(uintptr_t)apart);
		// cppcheck-suppress swapcontextCalled
		(void)swapcontext(&apart->caller, &apart->own); /* else it stays off */
	}
	state = apart->state;
	(void)munmap(apart, START_STACK_BYTES);
	return state;
}

static bool start_by(step_function *step, enum crit_flavour flavour)
{
	int state = CRIT_PROCESS_NEW;

	if (atomic_compare_exchange_strong(&crit_process.state, &state, CRIT_PROCESS_STARTING)) {
		CRIT_GUARD; /* a thread cancelled here would leave the process starting for ever */
		crit_process.flavour = flavour;
		state = do_apart(step);
		atomic_store_explicit(&crit_process.state, state, memory_order_release);
	}
	return state != CRIT_PROCESS_OFF;
}

bool crit_shim_start(enum crit_flavour flavour)
{
	return start_by(start, flavour);
}

bool crit_shim_start_in_init(enum crit_flavour flavour)
{
	return start_by(start_in_init, flavour);
}

void crit_shim_init_returned(void)
{
	CRIT_GUARD;

	if (atomic_load_explicit(&crit_process.state, memory_order_acquire) == CRIT_PROCESS_IN_INIT)
		atomic_store_explicit(&crit_process.state, do_apart(enter_run_after_init),
				      memory_order_release);
}

static bool is_ready(void)
{
	return atomic_load_explicit(&crit_process.state, memory_order_acquire) ==
	       CRIT_PROCESS_READY;
}

bool crit_shim_wants(uint32_t call)
{
	uint32_t off = crit_process.env.groups_off;

	if (!is_ready()) /* another thread is starting */
		(void)crit_groups_parse(crit_setting_text(CRIT_SETTING_CALLS, NULL), &off);
	return crit_call_is_window(call) || !(off >> crit_call_group(call) & 1);
}

/* Up to open_ns, rounded up; an hour and more is one. */
static uint32_t init_us(uint64_t open_ns)
{
	const uint64_t us = (open_ns - crit_process.init_ns) / 1000 + 1;

	if (!crit_process.init_ns)
		return 0;
	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

void crit_shim_open_window(struct crit_message_rank *message)
{
	if (!is_ready())
		return;
	message->open_ns = crit_clock_now_ns(&crit_this_thread.clock);
	message->init_us = init_us(message->open_ns);
	(void)crit_client_send_rank(&crit_process.client, message); /* critd gone: nobody to tell */
}

void crit_shim_close_window(uint64_t close_ns)
{
	if (!is_ready())
		return;
	if (crit_this_thread.buffer)
		crit_poll_flush(&crit_this_thread);
	(void)crit_client_send_close(&crit_process.client, close_ns, false);
}

void crit_shim_reopen_window(void)
{
	if (is_ready())
		(void)crit_client_send_close(&crit_process.client, 0, true);
}

void crit_shim_tell_clock(struct crit_message_clock *message)
{
	if (is_ready())
		(void)crit_client_send_clock(&crit_process.client, message);
}

void crit_shim_tell_nodes(struct crit_message_nodes *message)
{
	if (is_ready())
		(void)crit_client_send_nodes(&crit_process.client, message);
}

const char *crit_shim_host(void)
{
	return is_ready() ? crit_process.client.host : "";
}

bool crit_shim_is_first(void)
{
	return is_ready() ? crit_process.client.is_first : crit_shim_has_failed();
}

bool crit_shim_has_failed(void)
{
	return atomic_load_explicit(&crit_process.state, memory_order_acquire) ==
		       CRIT_PROCESS_OFF &&
	       crit_process.failure.text[0];
}

const char *crit_shim_directory(void)
{
	return is_ready() ? crit_process.client.directory : "";
}

void crit_shim_name_world(char ret_name[CRIT_WORLD_BYTES])
{
	CRIT_GUARD;

	crit_client_world_name(is_ready() ? crit_process.client.run_key : "", ret_name);
}

bool crit_shim_move_recording(const char *directory)
{
	CRIT_GUARD;
	struct crit_client *client = &crit_process.client;
	char from[CRIT_PATH_BYTES + CRIT_WORLD_BYTES + 8];
	char to[CRIT_PATH_BYTES + CRIT_WORLD_BYTES + 8];
	bool is_moved = false;

	if (is_ready() && client->is_first && strcmp(directory, client->directory) != 0) {
		(void)snprintf(from, sizeof(from), "%s/%s.crit", client->directory, client->host);
		(void)snprintf(to, sizeof(to), "%s/%s.crit", directory, client->host);
		/* link refuses to replace another node's file of that name */
		is_moved = link(from, to) == 0 && unlink(from) == 0;
		if (is_moved)
			(void)rmdir(client->directory); /* stays if anything else lies in it */
	}
	return is_moved;
}
