// SPDX-License-Identifier: BSD-3-Clause
// Adds up how long threads are blocked: from where they leave their CPU to where they are runnable.
#include "analysis/samples/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "analysis/samples/call_paths.h"
#include "analysis/samples/tallies.h"

#define UNTOLD 0 /* row of the sum of all threads without cells, of no thread */
#define ROWS_MAX (1u << 19) /* then objects are not told apart any more */

struct block_row { /* with address 0 a cell, else what was captured of one */
	struct crit_bucket_key cell; /* its site is 0 */
	struct crit_block_call call;
	uint64_t address;
	uint32_t path;
	uint32_t count;
	uint64_t blocked_ns; /* of captures: by their probability, and a weight */
};

_Static_assert(sizeof(struct block_row) == CRIT_BLOCKS_ROW_BYTES, "a row as others get it");

struct capture { /* of the way to a block */
	uint64_t address; /* 0: there is none */
	uint32_t request;
	uint32_t keep; /* probability times 65536 */
};

struct blocked { /* a thread */
	struct crit_block_call call; /* that it blocked in the last time */
	struct capture capture; /* likewise */
	struct capture next; /* of the block that is told next */
	uint64_t since_ns;
	uint32_t row; /* a cell: of the time since then, or of the last time */
	uint32_t operation; /* of a futex, that it blocked in the last time */
	bool is_counted; /* since then */
	struct crit_last_block last;
};

struct crit_blocks {
	struct crit_engine *engine;
	struct crit_call_paths *paths; /* NULL: there are no captures */
	uint32_t
		*places; /* in followed, of each thread, from 1 on; 0: none of its calls was told */
	uint8_t *is_untold; /* of each thread: it is blocked, and has none */
	struct blocked *followed;
	size_t followed_count, followed_capacity;
	struct block_row *rows;
	size_t row_count, row_capacity;
	struct crit_index numbers; /* of rows */
	struct crit_last_waits lasts;
	bool has_lasts; /* they were found */
};

static enum crit_block_object object_kind_of(const struct crit_kernel_call *system_call)
{
	if (system_call->flags & CRIT_CALL_COMPAT)
		return CRIT_BLOCK_OBJECT_NONE;
	switch (system_call->number) {
	case SYS_futex:
		return CRIT_BLOCK_OBJECT_FUTEX;
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_flock:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_ioctl:
	case SYS_epoll_pwait:
#if defined(SYS_epoll_wait)
	case SYS_epoll_wait:
#endif
		return CRIT_BLOCK_OBJECT_DESCRIPTOR;
	default:
		return CRIT_BLOCK_OBJECT_NONE;
	}
}

static struct crit_block_call call_of(const struct crit_kernel_call *system_call)
{
	struct crit_block_call call = { .number = CRIT_BLOCK_NOT_TOLD };

	if (!system_call)
		return call;
	call.number = system_call->number < 0 ? CRIT_BLOCK_NO_CALL : system_call->number;
	call.is_compat = system_call->flags & CRIT_CALL_COMPAT;
	call.object_kind = (uint8_t)object_kind_of(system_call);
	if (call.object_kind == CRIT_BLOCK_OBJECT_DESCRIPTOR)
		call.object = (uint32_t)system_call->argument;
	else if (call.object_kind == CRIT_BLOCK_OBJECT_FUTEX)
		call.object = system_call->argument;
	return call;
}

static bool is_same_call(const struct crit_block_call *a, const struct crit_block_call *b)
{
	return a->object == b->object && a->number == b->number && a->is_compat == b->is_compat &&
	       a->object_kind == b->object_kind;
}

static int compare_calls(const struct crit_block_call *a, const struct crit_block_call *b)
{
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->is_compat != b->is_compat)
		return a->is_compat - b->is_compat;
	if (a->object_kind != b->object_kind)
		return crit_by_number(a->object_kind, b->object_kind);
	return crit_by_number(a->object, b->object);
}

static bool is_of_cell(const struct block_row *row, const struct crit_bucket_key *cell,
		       const struct crit_block_call *call)
{
	return is_same_call(&row->call, call) && row->cell.thread == cell->thread &&
	       row->cell.region == cell->region && row->cell.call == cell->call &&
	       row->cell.span_class == cell->span_class;
}

static uint64_t hash_of(const struct block_row *row)
{
	uint64_t hash =
		crit_hash_mix(row->call.object, (uint64_t)row->cell.thread << 32 | row->path);

	hash = crit_hash_mix(hash, row->address);
	return crit_hash_mix(
		hash, (uint64_t)row->cell.region << 40 | (uint64_t)row->cell.call << 24 |
			      (uint64_t)row->cell.span_class << 16 | (uint16_t)row->call.number);
}

/* Yields the row's number.  Errors: -ENOMEM. */
static int64_t find_row(struct crit_blocks *blocks, struct block_row *wanted)
{
	struct crit_probe probe;
	uint64_t hash;
	uint32_t number;

	if (blocks->row_count >= ROWS_MAX && wanted->call.object_kind) {
		wanted->call.object_kind = CRIT_BLOCK_OBJECT_OTHERS;
		wanted->call.object = 0;
	}
	hash = hash_of(wanted);
	number = crit_index_first(&blocks->numbers, hash, &probe);
	while (number != CRIT_NONE &&
	       !(is_of_cell(&blocks->rows[number], &wanted->cell, &wanted->call) &&
		 blocks->rows[number].address == wanted->address &&
		 blocks->rows[number].path == wanted->path))
		number = crit_index_next(&blocks->numbers, &probe);
	if (number != CRIT_NONE)
		return number;
	if (crit_array_grow(&blocks->rows, &blocks->row_capacity, blocks->row_count + 1,
			    sizeof(*blocks->rows)) ||
	    crit_index_put(&blocks->numbers, hash, (uint32_t)blocks->row_count))
		return -ENOMEM;
	blocks->rows[blocks->row_count] = *wanted;
	blocks->rows[blocks->row_count].count = 0;
	blocks->rows[blocks->row_count].blocked_ns = 0;
	return (int64_t)blocks->row_count++;
}

/* NULL: no system call of the thread was told so far. */
static struct blocked *find_followed(const struct crit_blocks *blocks, uint32_t thread)
{
	return blocks->places[thread] ? &blocks->followed[blocks->places[thread] - 1] : NULL;
}

/* From now on the thread has cells.  Errors: -ENOMEM. */
static int follow(struct crit_blocks *blocks, uint32_t thread)
{
	if (crit_array_grow(&blocks->followed, &blocks->followed_capacity,
			    blocks->followed_count + 1, sizeof(*blocks->followed)))
		return -ENOMEM;
	blocks->followed[blocks->followed_count++] =
		(struct blocked){ .call.number = CRIT_BLOCK_NOT_TOLD, .row = CRIT_NONE };
	blocks->places[thread] = (uint32_t)blocks->followed_count;
	return 0;
}

/* Of threads without cells, as short ones, all time is in one row: ends less begins. */
static void turn_untold(struct crit_blocks *blocks, uint32_t thread, bool is_untold,
			uint64_t time_ns)
{
	if (blocks->is_untold[thread] == is_untold)
		return;
	blocks->is_untold[thread] = is_untold;
	blocks->rows[UNTOLD].count += is_untold;
	blocks->rows[UNTOLD].blocked_ns += is_untold ? -time_ns : time_ns;
}

/* Finds the cell of what the thread is in now.  Errors: -ENOMEM. */
static int find_cell(struct crit_blocks *blocks, const struct crit_bucket_key *key,
		     struct blocked *blocked)
{
	struct block_row cell = { .cell = *key, .call = blocked->call };
	int64_t row;

	cell.cell.site = 0;
	row = find_row(blocks, &cell);
	if (row < 0)
		return (int)row;
	blocked->row = (uint32_t)row;
	return 0;
}

static int begin(struct crit_blocks *blocks, uint32_t thread, uint64_t time_ns)
{
	const struct crit_bucket_key *key = &blocks->engine->accounts[thread].bucket->key;
	struct blocked *blocked = find_followed(blocks, thread);
	int rc = 0;

	if (blocked->row == CRIT_NONE ||
	    !is_of_cell(&blocks->rows[blocked->row], key, &blocked->call))
		rc = find_cell(blocks, key, blocked);
	if (rc)
		return rc;
	blocked->since_ns = time_ns;
	blocked->is_counted = true;
	blocks->rows[blocked->row].count++;
	return 0;
}

/* What was captured of a block stands for as many as its probability says.  Errors: -ENOMEM. */
static int add_capture(struct crit_blocks *blocks, uint32_t thread, uint64_t blocked_ns)
{
	const struct blocked *blocked = find_followed(blocks, thread);
	const struct crit_thread *of = &blocks->engine->model->threads[thread];
	struct block_row captured = blocks->rows[blocked->row];
	int64_t row;

	if (blocks->row_count >= ROWS_MAX)
		return 0;
	captured.address = blocked->capture.address;
	if (crit_call_paths_find(blocks->paths, of->node, blocked->capture.request, &captured.path))
		return -ENOMEM;
	row = find_row(blocks, &captured);
	if (row < 0)
		return (int)row;
	blocks->rows[row].count++;
	blocks->rows[row].blocked_ns +=
		(uint64_t)((crit_fix)blocked_ns * 65536 / blocked->capture.keep);
	return 0;
}

static int end(struct crit_blocks *blocks, uint32_t thread, uint64_t time_ns)
{
	struct blocked *blocked = find_followed(blocks, thread);
	const bool is_counted = blocked->is_counted && time_ns > blocked->since_ns;

	blocked->is_counted = false;
	if (!is_counted)
		return 0;
	blocks->rows[blocked->row].blocked_ns += time_ns - blocked->since_ns;
	crit_last_block_note(&blocked->last,
			     &(struct crit_last_block){ .since_ns = blocked->since_ns,
							.until_ns = time_ns,
							.call = blocked->call,
							.address = blocked->capture.address,
							.request = blocked->capture.request,
							.operation = blocked->operation });
	return blocked->capture.address && blocks->paths
		       ? add_capture(blocks, thread, time_ns - blocked->since_ns)
		       : 0;
}

static bool is_blocked(const struct crit_blocks *blocks, uint32_t thread)
{
	const struct crit_thread_account *account = &blocks->engine->accounts[thread];

	return account->state == CRIT_STATE_BLOCKED && account->share != CRIT_SHARE_OUT;
}

static int on_thread(void *user, const struct crit_event *event)
{
	struct crit_blocks *blocks = user;
	const struct blocked *blocked = find_followed(blocks, event->thread);
	const bool is_counted = is_blocked(blocks, event->thread);

	if (!blocked)
		turn_untold(blocks, event->thread, is_counted, event->time_ns);
	if (!blocked || is_counted == blocked->is_counted)
		return 0;
	if (is_counted)
		return begin(blocks, event->thread, event->time_ns);
	return end(blocks, event->thread, event->time_ns);
}

/* Where it was blocked already, by what is known of it, it was not in between. */
static int on_block(void *user, const struct crit_event *event)
{
	struct crit_blocks *blocks = user;
	struct blocked *blocked;
	int rc = 0;

	if (!blocks->places[event->thread]) {
		turn_untold(blocks, event->thread, false, event->time_ns);
		if (!event->system_call)
			return on_thread(user, event);
		rc = follow(blocks, event->thread);
	}
	if (rc)
		return rc;
	rc = end(blocks, event->thread, event->time_ns);
	blocked = find_followed(blocks, event->thread);
	blocked->call = call_of(event->system_call);
	blocked->operation = event->system_call ? event->system_call->argument_2 : 0;
	blocked->capture = blocked->next;
	blocked->next.address = 0;
	if (rc)
		return rc;
	return is_blocked(blocks, event->thread) ? begin(blocks, event->thread, event->time_ns) : 0;
}

static int on_capture(void *user, const struct crit_event *event)
{
	struct crit_blocks *blocks = user;
	const struct crit_kernel_sample *record = event->sample;
	int rc = 0;

	if (!blocks->places[event->thread]) {
		turn_untold(blocks, event->thread, false, event->time_ns);
		rc = follow(blocks, event->thread);
		if (!rc && is_blocked(blocks, event->thread)) /* in a damaged recording */
			rc = begin(blocks, event->thread, event->time_ns);
	}
	if (rc)
		return rc;
	find_followed(blocks, event->thread)->next =
		(struct capture){ .address = record->ip ? record->ip : 1,
				  .request = record->request,
				  .keep = record->keep ? record->keep : 65536 };
	return 0;
}

size_t crit_blocks_rows(const struct crit_blocks *blocks, const void **ret_rows)
{
	*ret_rows = blocks->rows;
	return blocks->row_count;
}

int crit_blocks_add_row(struct crit_blocks *blocks, const void *row)
{
	struct block_row added = *(const struct block_row *)row;
	const uint32_t count = added.count;
	const uint64_t blocked_ns = added.blocked_ns;
	int64_t number;

	if (added.cell.thread >= blocks->engine->model->thread_count &&
	    added.cell.thread != CRIT_NONE)
		return -EPROTO;
	number = find_row(blocks, &added);
	if (number < 0)
		return (int)number;
	blocks->rows[number].count += count;
	blocks->rows[number].blocked_ns += blocked_ns;
	return 0;
}

int crit_blocks_create(struct crit_engine *engine, struct crit_call_paths *paths,
		       struct crit_blocks **ret_blocks)
{
	struct crit_blocks *blocks = calloc(1, sizeof(*blocks));
	struct block_row untold = { .cell.thread = CRIT_NONE, .call.number = CRIT_BLOCK_NOT_TOLD };
	struct crit_listener listener = { .user = blocks };
	int rc;

	if (!blocks)
		return -ENOMEM;
	blocks->engine = engine;
	blocks->paths = paths;
	blocks->places = calloc(engine->model->thread_count + 1, sizeof(*blocks->places));
	blocks->is_untold = calloc(engine->model->thread_count + 1, sizeof(*blocks->is_untold));
	listener.on[CRIT_EVENT_THREAD] = on_thread;
	listener.on[CRIT_EVENT_BLOCK] = on_block;
	listener.on[CRIT_EVENT_CAPTURE] = on_capture;
	rc = blocks->places && blocks->is_untold && find_row(blocks, &untold) == UNTOLD
		     ? crit_listeners_add(&engine->listeners, &listener)
		     : -ENOMEM;
	if (rc)
		crit_blocks_destroy(blocks);
	else
		*ret_blocks = blocks;
	return rc;
}

void crit_blocks_destroy(struct crit_blocks *blocks)
{
	if (!blocks)
		return;
	crit_index_fini(&blocks->numbers);
	free(blocks->places);
	free(blocks->is_untold);
	free(blocks->followed);
	free(blocks->rows);
	crit_last_waits_fini(&blocks->lasts);
	free(blocks);
}

/* By cells without regard to regions and calls of MPI, of which the results do not tell. */
static int compare_shown(const struct block_row *left, const struct block_row *right,
			 const uint32_t *thread_rows)
{
	int order = crit_by_number(thread_rows[left->cell.thread], thread_rows[right->cell.thread]);

	return order ? order : compare_calls(&left->call, &right->call);
}

/* Then by these, and a cell before what was captured of it. */
static int compare_rows(const void *a, const void *b, void *user)
{
	const struct block_row *left = *(const struct block_row *const *)a;
	const struct block_row *right = *(const struct block_row *const *)b;
	int order = compare_shown(left, right, user);

	if (!order)
		order = crit_tallies_compare_cells(&left->cell, &right->cell);
	if (!order)
		order = crit_by_number(left->address, right->address);
	return order ? order : crit_by_number(left->path, right->path);
}

/*
 * Divides the time of a cell, rows[0], among its captures, the other rows: what is rounded off one
 * goes to the next.
 */
static void divide(struct block_row *const *rows, size_t count, struct crit_block_cell *cell,
		   struct crit_block_results *results)
{
	const uint64_t blocked_ns = rows[0]->blocked_ns;
	crit_fix whole = 0, before = 0;
	uint64_t given_ns = 0;

	for (size_t i = 1; i < count; i++)
		whole += rows[i]->blocked_ns;
	if (!whole)
		cell->not_captured_ns += blocked_ns;
	for (size_t i = 1; i < count && whole; i++) {
		struct crit_block_path *path = &results->paths[results->path_count++];
		uint64_t up_to_ns;

		before += rows[i]->blocked_ns;
		up_to_ns = (uint64_t)(before * blocked_ns / whole);
		*path = (struct crit_block_path){ .address = rows[i]->address,
						  .path = rows[i]->path,
						  .count = rows[i]->count,
						  .blocked_ns = up_to_ns - given_ns };
		given_ns = up_to_ns;
		cell->path_count++;
		results->captures += rows[i]->count;
	}
}

static void fill_cells(size_t row_count, const uint32_t *thread_rows, struct block_row **order,
		       struct crit_block_results *results)
{
	for (size_t i = 0, next; i < row_count; i = next) {
		struct crit_block_cell *cell;

		for (next = i + 1; next < row_count && order[next]->address; next++)
			;
		if (!i || compare_shown(order[i - 1], order[i], thread_rows) != 0)
			results->cells[results->cell_count++] = (struct crit_block_cell){
				.call = order[i]->call,
				.thread = thread_rows[order[i]->cell.thread],
				.first_path = results->path_count
			};
		cell = &results->cells[results->cell_count - 1];
		cell->count += order[i]->count;
		cell->blocked_ns += order[i]->blocked_ns;
		divide(&order[i], next - i, cell, results);
	}
}

int crit_blocks_find_last(struct crit_blocks *blocks, struct crit_last_waits **ret_waits)
{
	int rc = 0;

	for (uint32_t i = 0; i < blocks->engine->model->thread_count && !rc && !blocks->has_lasts;
	     i++) {
		const struct blocked *blocked = find_followed(blocks, i);

		if (blocks->engine->model->threads[i].role == CRIT_THREAD_APP)
			rc = crit_last_waits_note(&blocks->lasts, blocks->engine, blocks->paths, i,
						  blocked ? &blocked->last : NULL);
	}
	blocks->has_lasts = !rc;
	*ret_waits = &blocks->lasts;
	return rc;
}

int crit_blocks_fill(struct crit_blocks *blocks, const uint32_t *thread_rows,
		     struct crit_results *results)
{
	struct block_row **order = calloc(blocks->row_count + 1, sizeof(struct block_row *));
	struct crit_last_waits *lasts;
	size_t count = 0;
	int rc = crit_blocks_find_last(blocks, &lasts) || !order ? -ENOMEM : 0;

	results->blocks.cells = calloc(blocks->row_count + 1, sizeof(*results->blocks.cells));
	results->blocks.paths = calloc(blocks->row_count + 1, sizeof(*results->blocks.paths));
	if (!rc && results->blocks.cells && results->blocks.paths) {
		results->blocks.untold_count = blocks->rows[UNTOLD].count;
		results->blocks.untold_ns = blocks->rows[UNTOLD].blocked_ns;
		for (size_t i = UNTOLD + 1; i < blocks->row_count; i++)
			order[count++] = &blocks->rows[i];
		qsort_r(order, count, sizeof(struct block_row *), compare_rows,
			(void *)thread_rows);
		fill_cells(count, thread_rows, order, &results->blocks);
		crit_last_waits_yield(lasts, thread_rows, results);
	} else {
		rc = -ENOMEM;
	}
	free(order);
	return rc;
}
