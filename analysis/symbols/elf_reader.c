// SPDX-License-Identifier: BSD-3-Clause
// One question at a time goes through a socket that the supervisor and its reader share.  A reader
// takes a question off the socket after it was answered: where it dies of one, the supervisor finds
// it there and answers in its place, and starts the next reader when the next question comes.
#include "analysis/symbols/elf_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_comm.h"
#include "core/base/array.h"
#include "core/base/close_from.h"

#define WAIT_S 20
#define GRACE_S 5 /* more than a reader gives itself */
#define SECOND_NS 1000000000ull
#define DEATHS_MAX 8 /* readers; then the recording is taken for one made to kill them */
#define STACK_BYTES (8u << 20)
/* Of the places of an answer: 32 KiB of small ones, and any one after them. */
#define PLACES_BYTES ((sizeof(struct crit_elf_place) + (32u << 10)) & ~7ul)
#define ANSWER_NS SECOND_NS /* then a place more is one of the next answer */
#define GUARD_BYTES (64u << 10)
#define MEMORY_BYTES_MAX (4ull << 30) /* of a reader, beyond what it was born with */

enum question_kind {
	QUESTION_OPEN = 0,
	QUESTION_FIND,
	QUESTION_FRAME,
	QUESTION_REFERS
};

struct question {
	uint64_t number;
	uint64_t inode;
	uint64_t changed_ns;
	uint64_t addresses[CRIT_ELF_ADDRESSES_MAX];
	uint64_t target; /* REFERS */
	uint32_t file;
	uint32_t kind;
	uint32_t wait_s; /* what its reader may take */
	uint32_t address_count; /* FIND; the others have one */
	char path[PATH_MAX]; /* sent up to its end */
};

struct answer {
	uint64_t number; /* of the question */
	uint32_t status; /* enum crit_elf_status */
	uint32_t is_last; /* its reader died of the question */
	uint64_t place_count;
	union {
		struct crit_elf_head head;
		uint64_t places[PLACES_BYTES / 8]; /* as far as each is used */
		struct crit_frame_row row;
		uint8_t refers;
	} tail; /* sent as far as it is used */
};

struct reading { /* what reads: in a reader's process, or in ours */
	const char *debug_directories;
	struct crit_elf_file **files; /* by number; NULL: not open */
	size_t file_count, file_capacity;
};

struct crit_elf_reader {
	struct reading here;
	int fd; /* -1: none */
	pid_t supervisor_pid;
	uint32_t wait_s;
	uint64_t left_ns; /* for all answers */
	uint32_t death_count;
	bool is_here;
	bool is_stuck; /* it does not answer */
	uint64_t number; /* of the last question */
	struct question question;
	size_t answer_bytes;
	struct answer answer;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static struct crit_elf_file *file_of(struct reading *reading, const struct question *question,
				     enum crit_elf_status *ret_status)
{
	size_t count = (size_t)question->file + 1;
	struct crit_elf_file *file;

	*ret_status = CRIT_ELF_UNREAD;
	if (count > reading->file_count) {
		if (crit_array_grow(&reading->files, &reading->file_capacity, count,
				    sizeof(struct crit_elf_file *)))
			return NULL;
		memset(reading->files + reading->file_count, 0,
		       (count - reading->file_count) * sizeof(struct crit_elf_file *));
		reading->file_count = count;
	}
	file = reading->files[question->file];
	if (file && question->kind == QUESTION_OPEN) { /* of a table with other numbers */
		crit_elf_file_close(file);
		file = NULL;
	}
	*ret_status = CRIT_ELF_OPEN;
	if (!file)
		file = crit_elf_file_open(question->path, question->inode,
					  reading->debug_directories, ret_status);
	reading->files[question->file] = file;
	return file;
}

static size_t used_bytes(const struct crit_elf_place *place)
{
	return (offsetof(struct crit_elf_place, texts) + place->text_bytes + 7) & ~7ul;
}

/* Answers how many bytes of the tail count. */
static size_t find_places(struct crit_elf_file *file, const struct question *question,
			  struct answer *answer)
{
	const uint64_t begin_ns = now_ns();
	size_t used = 0;

	do {
		struct crit_elf_place *place = (void *)&answer->tail.places[used / 8];

		crit_elf_file_find(file, question->addresses[answer->place_count++], place);
		used += used_bytes(place);
	} while (answer->place_count < question->address_count &&
		 used + sizeof(struct crit_elf_place) <= PLACES_BYTES &&
		 now_ns() - begin_ns < ANSWER_NS);
	return used;
}

/* What is asked of an open file.  Answers how many bytes of the tail count. */
static size_t answer_of(struct crit_elf_file *file, const struct question *question,
			struct answer *answer)
{
	if (question->kind == QUESTION_OPEN) {
		answer->tail.head = *crit_elf_file_head(file);
		return sizeof(answer->tail.head);
	}
	if (question->kind == QUESTION_FRAME) {
		if (!crit_elf_file_frame_row(file, question->addresses[0], &answer->tail.row))
			memset(&answer->tail.row, 0, sizeof(answer->tail.row));
		return offsetof(struct crit_frame_row, ops) +
		       answer->tail.row.rule.op_count * sizeof(struct crit_frame_op);
	}
	if (question->kind == QUESTION_REFERS) {
		answer->tail.refers =
			crit_elf_file_refers(file, question->addresses[0], question->target);
		return sizeof(answer->tail.refers);
	}
	return find_places(file, question, answer);
}

/* Answers how many bytes of *ret_answer count. */
static size_t answer_question(struct reading *reading, const struct question *question,
			      struct answer *ret_answer)
{
	enum crit_elf_status status;
	struct crit_elf_file *file = file_of(reading, question, &status);
	size_t used = 0;

	memset(ret_answer, 0, offsetof(struct answer, tail));
	ret_answer->number = question->number;
	if (file)
		used = answer_of(file, question, ret_answer);
	if (file && question->kind != QUESTION_OPEN &&
	    (crit_elf_file_head(file)->changed_ns != question->changed_ns ||
	     !crit_elf_file_is_whole(file))) {
		status = CRIT_ELF_CHANGED;
		used = 0;
	}
	ret_answer->status = status;
	return offsetof(struct answer, tail) + used;
}

static void reading_fini(struct reading *reading)
{
	for (size_t i = 0; i < reading->file_count; i++)
		crit_elf_file_close(reading->files[i]);
	free(reading->files);
}

/* The next question, left on the socket.  False: there is none any more. */
static bool peek(int fd, struct question *question)
{
	ssize_t bytes;

	do {
		memset(question->path, 0, sizeof(question->path));
		bytes = recv(fd, question, sizeof(*question), MSG_PEEK);
	} while (bytes < 0 && errno == EINTR);
	return bytes > (ssize_t)offsetof(struct question, path);
}

static bool take_off(int fd)
{
	char first;

	return recv(fd, &first, sizeof(first), MSG_DONTWAIT) > 0;
}

/* Faults end the process, quietly, whatever the program made of these signals. */
static void die_quietly(void)
{
	static const int signals[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGALRM };
	const struct rlimit none = { 0 };
	sigset_t empty;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)signal(signals[i], SIG_DFL);
	(void)sigemptyset(&empty);
	(void)sigprocmask(SIG_SETMASK, &empty, NULL);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* What is mapped already counts, and sanitizers map terabytes. */
static void bound_memory(void)
{
	unsigned long long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");
	bool is_read = statm && fscanf(statm, "%*u %*u %*u %*u %*u %llu", &pages) == 1;
	struct rlimit limit;
	rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BYTES_MAX;

	if (statm)
		(void)fclose(statm);
	if (!is_read || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	(void)setrlimit(RLIMIT_DATA, &limit); /* lowering cannot fail */
}

static int read_names(void *user)
{
	struct crit_elf_reader *reader = user;

	die_quietly();
	bound_memory();
	while (peek(reader->fd, &reader->question)) {
		size_t bytes;

		(void)alarm(reader->question.wait_s);
		bytes = answer_question(&reader->here, &reader->question, &reader->answer);
		(void)alarm(0);
		if (send(reader->fd, &reader->answer, bytes, MSG_NOSIGNAL) < 0)
			break;
		(void)take_off(reader->fd);
	}
	return 0; /* ends the process */
}

/* libdw wants more than 130 kB, and the limit of the program's stack may be below. */
static char *map_stack(void)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	(void)mprotect(stack, GUARD_BYTES, PROT_NONE);
	return stack + STACK_BYTES;
}

static enum crit_elf_status cause_of(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS)
		return CRIT_ELF_CHANGED;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return CRIT_ELF_SLOW;
	return CRIT_ELF_FATAL;
}

/* Every other descriptor is closed: locks and pipes of the program end with the program. */
static void keep_only(int *fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++) /* what prints, prints there */
		if (i != *fd)
			(void)dup2(null, i);
	if (dup2(*fd, 3) == 3)
		*fd = 3;
	crit_close_from((unsigned int)*fd + 1);
}

__attribute__((noreturn)) static void supervise(struct crit_elf_reader *reader)
{
	char *stack_top = map_stack();

	die_quietly();
	(void)signal(SIGCHLD, SIG_DFL);
	(void)prctl(PR_SET_NAME, CRIT_NAMES_COMM, 0, 0, 0);
	keep_only(&reader->fd);
	while (peek(reader->fd, &reader->question)) {
		pid_t pid = stack_top ? clone(read_names, stack_top, SIGCHLD, reader) : -1;
		int status = 0;

		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
			break;
		if (recv(reader->fd, &reader->question, sizeof(reader->question), MSG_DONTWAIT) < 0)
			continue; /* it died idle */
		reader->answer = (struct answer){
			.number = reader->question.number,
			.status = pid < 0 ? CRIT_ELF_UNREAD : cause_of(status),
			.is_last = pid > 0,
		};
		if (send(reader->fd, &reader->answer, offsetof(struct answer, tail), MSG_NOSIGNAL) <
		    0)
			break;
	}
	_exit(0);
}

static int start(struct crit_elf_reader *reader)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	reader->supervisor_pid = fork();
	if (reader->supervisor_pid == 0) {
		reader->fd = ends[1];
		supervise(reader);
	}
	close(ends[1]);
	reader->fd = ends[0];
	return reader->supervisor_pid < 0 ? -errno : 0;
}

int crit_elf_reader_create(const struct crit_elf_reader_options *options,
			   struct crit_elf_reader **ret_reader)
{
	struct crit_elf_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (!reader)
		return -ENOMEM;
	reader->fd = -1;
	reader->here.debug_directories = options->debug_directories;
	reader->wait_s = options->wait_s ? options->wait_s : WAIT_S;
	reader->left_ns = (options->total_s ? options->total_s : CRIT_ELF_TOTAL_S) * SECOND_NS;
	reader->is_here = options->is_here;
	rc = options->is_here ? 0 : start(reader);
	if (rc) {
		crit_elf_reader_destroy(reader);
		return rc;
	}
	*ret_reader = reader;
	return 0;
}

void crit_elf_reader_destroy(struct crit_elf_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	if (reader->supervisor_pid > 0) {
		if (reader->is_stuck)
			(void)kill(reader->supervisor_pid, SIGKILL); /* its reader dies with it */
		while (waitpid(reader->supervisor_pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	reading_fini(&reader->here);
	free(reader);
}

/* Takes the time since begin_ns off the time left for all answers: a second at most. */
static uint64_t spend(struct crit_elf_reader *reader, uint64_t begin_ns)
{
	const uint64_t end_ns = now_ns();
	uint64_t passed_ns = end_ns - begin_ns;

	passed_ns = passed_ns < SECOND_NS ? passed_ns : SECOND_NS;
	reader->left_ns -= passed_ns < reader->left_ns ? passed_ns : reader->left_ns;
	return end_ns;
}

/* False: none will come any more. */
static bool wait_answer(struct crit_elf_reader *reader, uint64_t begin_ns)
{
	struct pollfd wanted = { .fd = reader->fd, .events = POLLIN };
	uint32_t passed_s = 0;

	/* in steps: a job may be stopped for hours */
	while (passed_s < reader->question.wait_s + GRACE_S) {
		ssize_t bytes;
		int count = poll(&wanted, 1, 1000);

		begin_ns = spend(reader, begin_ns);
		passed_s += count == 0;
		if (count <= 0)
			continue;
		bytes = recv(reader->fd, &reader->answer, sizeof(reader->answer), MSG_DONTWAIT);
		if (bytes < (ssize_t)offsetof(struct answer, tail))
			break;
		if (reader->answer.number != reader->number)
			continue;
		reader->answer_bytes = (size_t)bytes;
		return true;
	}
	reader->is_stuck = true;
	return false;
}

static enum crit_elf_status ask_apart(struct crit_elf_reader *reader)
{
	const uint64_t left_s = (reader->left_ns + SECOND_NS - 1) / SECOND_NS;
	const uint64_t begin_ns = now_ns();
	size_t bytes = offsetof(struct question, path) + strlen(reader->question.path) + 1;

	if (left_s == 0)
		return CRIT_ELF_LATE;
	reader->question.wait_s = left_s < reader->wait_s ? (uint32_t)left_s : reader->wait_s;
	if (reader->is_stuck || send(reader->fd, &reader->question, bytes, MSG_NOSIGNAL) < 0 ||
	    !wait_answer(reader, begin_ns))
		return CRIT_ELF_UNREAD;
	if (reader->answer.is_last)
		reader->is_stuck = ++reader->death_count >= DEATHS_MAX;
	return reader->answer.status < CRIT_ELF_STATUS_COUNT
		       ? (enum crit_elf_status)reader->answer.status
		       : CRIT_ELF_FATAL;
}

/* The places of an answer.  False: they make no sense. */
static bool see_places(const struct crit_elf_reader *reader, size_t bytes,
		       const struct crit_elf_place *ret_places[CRIT_ELF_ADDRESSES_MAX])
{
	size_t used = 0;

	if (!reader->answer.place_count ||
	    reader->answer.place_count > reader->question.address_count)
		return false;
	for (size_t i = 0; i < reader->answer.place_count; i++) {
		const struct crit_elf_place *place =
			(const void *)&reader->answer.tail.places[used / 8];

		if (used >= bytes || !crit_elf_place_is_sound(place, bytes - used))
			return false;
		ret_places[i] = place;
		used += used_bytes(place);
	}
	return true;
}

/* A reader has seen files that nobody vouches for, and may not be itself any more. */
static bool is_sound(const struct crit_elf_reader *reader, enum question_kind kind)
{
	const size_t bytes = reader->answer_bytes - offsetof(struct answer, tail);
	const struct crit_elf_head *head = &reader->answer.tail.head;
	const struct crit_frame_row *row = &reader->answer.tail.row;

	if (kind == QUESTION_FIND)
		return true; /* seen place by place */
	if (kind == QUESTION_REFERS)
		return bytes >= sizeof(reader->answer.tail.refers);
	if (kind == QUESTION_FRAME)
		return bytes >= offsetof(struct crit_frame_row, ops) &&
		       row->rule.op_count <= CRIT_FRAME_OPS_MAX &&
		       (bytes - offsetof(struct crit_frame_row, ops)) / sizeof(row->ops[0]) >=
			       row->rule.op_count;
	return bytes >= sizeof(*head) && head->segment_count <= CRIT_ELF_SEGMENTS_MAX &&
	       memchr(head->build_id, '\0', sizeof(head->build_id));
}

static enum crit_elf_status ask(struct crit_elf_reader *reader,
				const struct crit_elf_wanted *wanted, enum question_kind kind,
				const uint64_t *addresses, size_t count)
{
	size_t length = strlen(wanted->path);
	enum crit_elf_status status;

	if (!reader)
		return CRIT_ELF_UNREAD;
	if (length >= PATH_MAX)
		return CRIT_ELF_GONE;
	reader->question.number = ++reader->number;
	reader->question.inode = wanted->inode;
	reader->question.changed_ns = wanted->changed_ns;
	if (count)
		memcpy(reader->question.addresses, addresses, count * sizeof(*addresses));
	reader->question.address_count = (uint32_t)count;
	reader->question.file = wanted->number;
	reader->question.kind = kind;
	memcpy(reader->question.path, wanted->path, length + 1);
	if (!reader->is_here) {
		status = ask_apart(reader);
		return status != CRIT_ELF_OPEN || is_sound(reader, kind) ? status : CRIT_ELF_FATAL;
	}
	reader->answer_bytes = answer_question(&reader->here, &reader->question, &reader->answer);
	return (enum crit_elf_status)reader->answer.status;
}

enum crit_elf_status crit_elf_reader_open(struct crit_elf_reader *reader,
					  const struct crit_elf_wanted *wanted,
					  struct crit_elf_head *ret_head)
{
	enum crit_elf_status status = ask(reader, wanted, QUESTION_OPEN, NULL, 0);

	if (status == CRIT_ELF_OPEN)
		*ret_head = reader->answer.tail.head;
	return status;
}

enum crit_elf_status
crit_elf_reader_find(struct crit_elf_reader *reader, const struct crit_elf_wanted *wanted,
		     const uint64_t *addresses, size_t count,
		     const struct crit_elf_place *ret_places[CRIT_ELF_ADDRESSES_MAX],
		     size_t *ret_count)
{
	enum crit_elf_status status = ask(reader, wanted, QUESTION_FIND, addresses, count);

	if (status != CRIT_ELF_OPEN)
		return status;
	if (!see_places(reader, reader->answer_bytes - offsetof(struct answer, tail), ret_places))
		return CRIT_ELF_FATAL;
	*ret_count = (size_t)reader->answer.place_count;
	return status;
}

enum crit_elf_status crit_elf_reader_frame_row(struct crit_elf_reader *reader,
					       const struct crit_elf_wanted *wanted,
					       uint64_t address,
					       const struct crit_frame_row **ret_row)
{
	enum crit_elf_status status = ask(reader, wanted, QUESTION_FRAME, &address, 1);

	if (status == CRIT_ELF_OPEN)
		*ret_row = &reader->answer.tail.row;
	return status;
}

enum crit_elf_status crit_elf_reader_refers(struct crit_elf_reader *reader,
					    const struct crit_elf_wanted *wanted, uint64_t address,
					    uint64_t target, bool *ret_refers)
{
	enum crit_elf_status status;

	if (reader)
		reader->question.target = target;
	status = ask(reader, wanted, QUESTION_REFERS, &address, 1);
	if (status == CRIT_ELF_OPEN)
		*ret_refers = reader->answer.tail.refers == 1;
	return status;
}
