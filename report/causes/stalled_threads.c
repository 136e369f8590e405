// SPDX-License-Identifier: BSD-3-Clause
// Tells by the functions and system calls that threads end in what could let them go on.
#include "report/causes/stalled_threads.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "report/tables/labels.h"
#include "report/tables/location_fit.h"
#include "report/tables/thread_kinds.h"

#define PLACES_MAX 16u /* told apart */
#define PLACES_SAID 4u
#define THREADS_SAID 3u /* of each */
#define PLACE_COLUMNS 72
#define NAME_BYTES 64
#define IDLE_RATIO 0.01 /* of the window, that a process works which only waits for others */

enum wanted { /* what would end a wait */
	WANTED_LOCK = 0, /* a thread that releases it */
	WANTED_THREAD, /* that a thread comes, or ends */
	WANTED_WAKE, /* a thread, or the handler of a signal, that wakes it */
	WANTED_FUTEX, /* one of these, or a timeout */
	WANTED_OUTSIDE, /* input, time, a signal */
	WANTED_COUNT
};

struct stalled_place { /* where some of them wait */
	char text[192]; /* "pthread_mutex_lock at debit bank.c:11" */
	enum wanted wanted;
	size_t count;
	uint32_t rows[THREADS_SAID]; /* of threads */
};

struct stalled {
	const struct crit_summary *summary;
	struct stalled_place places[PLACES_MAX];
	size_t place_count;
	size_t counts[WANTED_COUNT]; /* threads */
	size_t onlookers, idle;
};

struct way { /* by which a thread came to its system call */
	char function[NAME_BYTES]; /* of a library, that the program calls; "" not known */
	struct crit_source_location place; /* where it does; module NULL: not known */
	bool is_earlier; /* so it came there before */
};

struct captured { /* on its way */
	uint64_t address; /* 0: was not */
	uint32_t path;
	bool is_earlier;
};

static bool is_library(const struct crit_source_location *place)
{
	return crit_thread_kinds_is_runtime(place->module) ||
	       strncmp(crit_file_name(place->module), "libcrit_", 8) == 0;
}

static bool is_in_header(const char *file)
{
	return file && (strncmp(file, "/usr/include/", 13) == 0 || strstr(file, "/include/c++/"));
}

/* The innermost line of the program's own: not what was inlined there from a library's headers. */
static void leave_headers(struct crit_source_location *place)
{
	for (uint32_t i = 0; i < place->frame_count; i++) {
		if (is_in_header(place->frames[i].file))
			continue;
		crit_source_see_from(place, &place->frames[i]);
		return;
	}
}

/* One frame outward.  False: it is the program's own, and the way ends. */
static bool follow(struct way *way, const struct crit_source_location *place)
{
	const char *function = place->outer ? place->outer : place->function;

	if (!place->module)
		return false;
	if (!is_library(place) && !(is_in_header(place->file) && !place->outer)) {
		way->place = *place;
		leave_headers(&way->place);
		return false;
	}
	while (function && *function == '_')
		function++;
	if (function && strcmp(function, "pthread_clockjoin_ex") == 0)
		function = "pthread_join";
	if (function && strncmp(function, "new_sem_wait", 12) == 0)
		function = "sem_wait";
	if (function && strncmp(way->function, "pthread_", 8) != 0) /* what C++ makes of these */
		(void)crit_name_bare(function, way->function, sizeof(way->function));
	return true;
}

/* By which way the thread came to the same call, on the same object, most often. */
static struct captured earlier_one(const struct crit_results *results,
				   const struct crit_last_wait *wait)
{
	const struct crit_block_results *blocks = &results->blocks;
	struct captured captured = { .is_earlier = true };
	size_t low = 0, high = blocks->cell_count;
	uint32_t most = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (blocks->cells[middle].thread < wait->thread)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < blocks->cell_count && blocks->cells[low].thread == wait->thread; low++) {
		const struct crit_block_cell *cell = &blocks->cells[low];

		for (size_t i = 0; i < cell->path_count; i++) {
			const struct crit_block_path *path = &blocks->paths[cell->first_path + i];

			if (cell->call.number != wait->call.number || path->count <= most ||
			    cell->call.object_kind != wait->call.object_kind ||
			    cell->call.object != wait->call.object)
				continue;
			most = path->count;
			captured.address = path->address;
			captured.path = path->path;
		}
	}
	return captured;
}

static struct way way_of(const struct crit_summary *summary, const struct crit_last_wait *wait)
{
	const struct crit_region_finder *finder = &summary->finder;
	const struct crit_sample_results *samples = &summary->results->samples;
	const struct crit_thread_row *thread = &summary->results->threads[wait->thread];
	struct crit_source_location place = { 0 };
	const struct captured captured =
		wait->address ? (struct captured){ .address = wait->address, .path = wait->path }
			      : earlier_one(summary->results, wait);
	struct way way = { .function = "", .is_earlier = captured.is_earlier };
	uint32_t path = captured.path;

	if (!captured.address || !finder->find)
		return way;
	finder->find(finder->user, thread->node, thread->pid, captured.address, &place);
	while (follow(&way, &place)) {
		const struct crit_path_row *row = &samples->paths[path];

		if (path < CRIT_PATH_FIRST || path >= samples->path_count ||
		    row->file == CRIT_NONE || !finder->find_in_file)
			break;
		place = (struct crit_source_location){ .module = samples->path_files[row->file] };
		finder->find_in_file(finder->user, place.module, row->offset, &place);
		path = row->parent;
	}
	return way;
}

static bool contains_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/* A futex, by the function that waits for it. */
static enum wanted wanted_in(const char *function, bool is_private)
{
	static const char *const others[] = { "pthread_join", "thrd_join", "barrier_wait",
					      "call_once" };
	static const char *const wakes[] = { "cond_wait", "cnd_wait", "sem_wait" };
	static const char *const timed[] = { "timed", "clock", "wait_for", "wait_until" };
	static const char *const locks[] = { "mutex_lock", "rwlock_",   "lll_lock_wait",
					     "mtx_lock",   "_set_lock", "set_nest_lock",
					     "critical_" };

	if (contains_any(function, others, sizeof(others) / sizeof(others[0])))
		return WANTED_THREAD;
	if (contains_any(function, timed, sizeof(timed) / sizeof(timed[0])) ||
	    (*function && !is_private))
		return WANTED_OUTSIDE;
	if (contains_any(function, locks, sizeof(locks) / sizeof(locks[0])))
		return WANTED_LOCK;
	return contains_any(function, wakes, sizeof(wakes) / sizeof(wakes[0])) ? WANTED_WAKE
									       : WANTED_FUTEX;
}

/* Are there processes beside it that stand still, and is none left out of the recording? */
static bool has_others(const struct crit_summary *summary, const struct crit_last_wait *wait)
{
	const struct crit_results *results = summary->results;
	const struct crit_thread_standstill *still = &summary->lost.threads_still;

	for (size_t i = 0; i < results->thread_count && !results->end_count; i++)
		if (results->threads[i].pid != results->threads[wait->thread].pid &&
		    crit_thread_standstill_wait(still, results, i))
			return true;
	return false;
}

static enum wanted wanted_by(const struct crit_summary *summary, const struct crit_last_wait *wait,
			     const struct way *way)
{
	if (wait->construct)
		return wait->construct >= CRIT_CONSTRUCT_CRITICAL_WAIT &&
				       wait->construct <= CRIT_CONSTRUCT_ATOMIC_WAIT
			       ? WANTED_LOCK
			       : WANTED_THREAD;
	if (wait->call.is_compat)
		return WANTED_OUTSIDE;
	switch (wait->call.number) {
	case SYS_futex:
		return wanted_in(way->function, wait->operation & FUTEX_PRIVATE_FLAG);
	case SYS_wait4:
	case SYS_waitid:
		return has_others(summary, wait) ? WANTED_THREAD : WANTED_OUTSIDE;
	default:
		return WANTED_OUTSIDE;
	}
}

/* "pthread_mutex_lock at debit bank.c:11", "epoll_wait at serve server.c:20", "futex". */
static void say_place(const struct crit_summary *summary, const struct crit_last_wait *wait,
		      struct stalled_place *ret_place)
{
	const struct crit_thread_row *thread = &summary->results->threads[wait->thread];
	struct way way = way_of(summary, wait);
	const struct crit_wait_row row = { .call = wait->call };
	char call[48], place[CRIT_REGION_TEXT] = "";
	const char *name = wait->call.number == CRIT_BLOCK_NOT_TOLD
				   ? "a call that is not recorded"
				   : crit_wait_call(&row, call, sizeof(call));

	*ret_place = (struct stalled_place){ .wanted = wanted_by(summary, wait, &way), .count = 1 };
	if (wait->call.number == SYS_futex && way.function[0])
		name = way.function;
	if (wait->construct) {
		name = crit_call_name(wait->construct);
		way = (struct way){ .function = "" };
		if (summary->finder.find)
			summary->finder.find(summary->finder.user, thread->node, thread->pid,
					     wait->site, &way.place);
	}
	(void)snprintf(ret_place->text, sizeof(ret_place->text), "%s%s%s", name,
		       !way.place.module ? ""
		       : way.is_earlier  ? ", earlier at "
					 : " at ",
		       way.place.module
			       ? crit_location_fit(&way.place, PLACE_COLUMNS, place, sizeof(place))
			       : "");
	ret_place->rows[0] = wait->thread;
}

/* A process that did nothing but start others, and waits for these: a shell, timeout. */
static bool is_onlooker(const struct crit_summary *summary, const struct crit_last_wait *wait)
{
	const struct crit_results *results = summary->results;
	const struct crit_thread_row *thread = &results->threads[wait->thread];
	struct crit_usage usage;

	if (wait->call.is_compat ||
	    (wait->call.number != SYS_wait4 && wait->call.number != SYS_waitid &&
	     wait->call.number != SYS_rt_sigsuspend && wait->call.number != SYS_rt_sigtimedwait))
		return false;
	crit_usage_of(&thread->cells, &usage);
	if ((double)usage.useful_ns > IDLE_RATIO * (double)results->window_ns)
		return false;
	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *other = &results->threads[i];

		if (other != thread && other->node == thread->node && other->pid == thread->pid)
			return false;
	}
	return true;
}

static void add_wait(struct stalled *stalled, const struct crit_last_wait *wait)
{
	struct stalled_place place;
	size_t at = 0;

	if (wait->is_idle) {
		stalled->idle++;
		return;
	}
	if (is_onlooker(stalled->summary, wait)) {
		stalled->onlookers++;
		return;
	}
	say_place(stalled->summary, wait, &place);
	stalled->counts[place.wanted]++;
	while (at < stalled->place_count && (stalled->places[at].wanted != place.wanted ||
					     strcmp(stalled->places[at].text, place.text) != 0))
		at++;
	if (at == PLACES_MAX)
		return;
	if (at == stalled->place_count) {
		stalled->places[stalled->place_count++] = place;
		return;
	}
	if (stalled->places[at].count < THREADS_SAID)
		stalled->places[at].rows[stalled->places[at].count] = wait->thread;
	stalled->places[at].count++;
}

/* Locks first, then what is wanted of others, then the rest; of each the fewest threads first. */
static int compare_places(const void *a, const void *b)
{
	const struct stalled_place *left = a, *right = b;

	if (left->wanted != right->wanted)
		return left->wanted < right->wanted ? -1 : 1;
	if (left->count != right->count)
		return left->count < right->count ? -1 : 1;
	return crit_by_number(left->rows[0], right->rows[0]);
}

static enum crit_stall judge(const struct stalled *stalled)
{
	const size_t *counts = stalled->counts;
	const size_t all = counts[WANTED_LOCK] + counts[WANTED_THREAD] + counts[WANTED_WAKE] +
			   counts[WANTED_FUTEX];
	const bool is_alone = !stalled->counts[WANTED_OUTSIDE] &&
			      !stalled->summary->lost.threads_still.ticker_count;

	if (is_alone && !counts[WANTED_FUTEX] && (counts[WANTED_LOCK] || !counts[WANTED_WAKE]))
		return CRIT_STALL_DEADLOCK;
	if (is_alone && all + stalled->idle > 1)
		return CRIT_STALL_FUTEXES;
	return stalled->counts[WANTED_LOCK] ? CRIT_STALL_LOCKS : CRIT_STALL_OUTSIDE;
}

static void append(char *text, size_t text_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append(char *text, size_t text_bytes, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text + used, text_bytes - used, format, args);
	va_end(args);
}

/* "threads 12 (first) and 13 (second) are in pthread_mutex_lock at debit bank.c:11". */
static void say_threads(const struct stalled *stalled, const struct stalled_place *place,
			bool is_first, char *text, size_t text_bytes)
{
	const struct crit_thread_row *threads = stalled->summary->results->threads;
	const size_t said = place->count < THREADS_SAID ? place->count : THREADS_SAID;

	append(text, text_bytes, "%sthread%s", is_first ? "" : ", ", place->count > 1 ? "s" : "");
	for (size_t i = 0; i < said; i++) {
		const struct crit_thread_row *thread = &threads[place->rows[i]];

		append(text, text_bytes, "%s %u (%.16s)",
		       !i                      ? ""
		       : i + 1 == place->count ? " and"
					       : ",",
		       thread->tid, thread->name);
	}
	if (place->count > said)
		append(text, text_bytes, " and %zu more", place->count - said);
	append(text, text_bytes, "%s in %s",
	       !is_first          ? ""
	       : place->count > 1 ? " are"
				  : " is",
	       place->text);
}

static void say_end(const struct stalled *stalled, enum crit_stall stall, char *text,
		    size_t text_bytes)
{
	const struct crit_thread_standstill *still = &stalled->summary->lost.threads_still;

	switch (stall) {
	case CRIT_STALL_DEADLOCK:
		append(text, text_bytes,
		       "; nobody is left who could let %s go on: that is a deadlock",
		       still->waiter_count > 1 ? "one of them" : "it");
		break;
	case CRIT_STALL_FUTEXES:
		append(text, text_bytes,
		       "; nobody is left who could wake one of them: that is a deadlock, unless "
		       "they wait for a signal or a timeout");
		break;
	case CRIT_STALL_LOCKS:
		append(text, text_bytes,
		       "; that is a deadlock, unless one that waits for input, time or a signal "
		       "has the lock");
		break;
	default:
		append(text, text_bytes,
		       "; what would let them go on is not recorded, as input, time or a signal");
	}
}

static const char *signal_name(int number, char *text, size_t text_bytes)
{
	const char *name = sigabbrev_np(number);

	if (name)
		(void)snprintf(text, text_bytes, "SIG%s", name);
	else
		(void)snprintf(text, text_bytes, "signal %d", number);
	return text;
}

static void say(const struct stalled *stalled, enum crit_stall stall, char *text, size_t text_bytes)
{
	const struct crit_thread_standstill *still = &stalled->summary->lost.threads_still;
	size_t left = still->waiter_count - stalled->onlookers - stalled->idle;
	char name[32];

	append(text, text_bytes, "for the last %.3f s (%.1f%% of the window), until ", still->s,
	       100 * still->s / stalled->summary->lost.window_s);
	if (still->exit_signal)
		append(text, text_bytes, "%s ends them",
		       signal_name(still->exit_signal, name, sizeof(name)));
	else
		append(text, text_bytes, "the recording ends");
	append(text, text_bytes, ", no thread computes");
	if (still->ticker_count)
		append(text, text_bytes, " but %zu that %s now and then, for %.3f s at most",
		       still->ticker_count, still->ticker_count > 1 ? "do" : "does",
		       still->ticker_s);
	append(text, text_bytes, ": ");
	for (size_t i = 0; i < stalled->place_count && i < PLACES_SAID; i++) {
		say_threads(stalled, &stalled->places[i], !i, text, text_bytes);
		left -= stalled->places[i].count;
	}
	if (left)
		append(text, text_bytes, " and %zu more elsewhere", left);
	say_end(stalled, stall, text, text_bytes);
}

enum crit_stall crit_stalled_threads_say(const struct crit_summary *summary, char *text,
					 size_t text_bytes)
{
	const struct crit_thread_standstill *still = &summary->lost.threads_still;
	struct stalled stalled = { .summary = summary };
	enum crit_stall stall;

	text[0] = '\0';
	if (still->s <= 0)
		return CRIT_STALL_NONE;
	for (size_t i = 0; i < summary->results->thread_count; i++) {
		const struct crit_last_wait *wait =
			crit_thread_standstill_wait(still, summary->results, i);

		if (wait)
			add_wait(&stalled, wait);
	}
	if (!stalled.place_count)
		return CRIT_STALL_NONE;
	qsort(stalled.places, stalled.place_count, sizeof(stalled.places[0]), compare_places);
	stall = judge(&stalled);
	say(&stalled, stall, text, text_bytes);
	return stall;
}
