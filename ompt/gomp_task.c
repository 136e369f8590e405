// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the tasks of libgomp; a thread that runs a task inside a barrier does not wait.
//
// libgomp keeps a copy of a task's data, made byte by byte or by a function of the program's, and
// hands that to the task.  It is given a block with the data behind a note of what to run, so
// nothing is allocated here.  Data that fits no block goes past us: such a task counts as a wait.
#include "core/shim/shim_region.h"
#include "ompt/gomp_parallel.h"

#include <string.h>

#define FLAG_REDUCTION (1u << 12) /* of the GOMP interface: data has a pointer behind the bounds */
#define FLAG_DETACH (1u << 13) /* the data's first word is an event */
#define BLOCK_BYTES 1024
#define BLOCK_ALIGN 64

typedef void copy_function(void *to, void *from);

struct task { /* what the program asked for */
	crit_gomp_body *body;
	void *data;
	copy_function *copy;
	long bytes;
	long align;
};

struct note { /* at the front of a block */
	void *bounds[3]; /* libgomp writes a loop's two, and reads where its reductions are */
	crit_gomp_body *body;
	const void *site;
	uint32_t region;
	uint32_t offset; /* of the data */
	uint64_t number; /* 0: one of a loop's, which libgomp makes */
	bool is_loop;
	/* for copy_block: */
	const struct task *task;
};

struct task_block {
	_Alignas(BLOCK_ALIGN) struct note note;
	char room[BLOCK_BYTES - sizeof(struct note)];
};

static void copy_block(void *to, void *from)
{
	const struct note *note = from;

	memcpy(to, note, sizeof(*note));
	note->task->copy((char *)to + note->offset, note->task->data);
}

static void run_block(void *block)
{
	const struct note *note = block;
	char *data = (char *)block + note->offset;

	if (note->is_loop)
		memcpy(data, note->bounds, 2 * sizeof(note->bounds[0]));
	crit_shim_construct_begin(CRIT_CONSTRUCT_TASK, note->region, note->site, note->number);
	note->body(data);
	crit_shim_construct_end(CRIT_CONSTRUCT_TASK);
}

/* Makes of the task one that runs run_block.  False: its data do not fit. */
static bool wrap(struct task *task, struct task_block *block, struct task *original,
		 const void *caller)
{
	const void *site = crit_gomp_body_site(task->body);
	struct note *note = &block->note;
	const long align = task->align > 16 ? task->align : 16;
	const long offset = ((long)sizeof(*note) + align - 1) & -align;

	if (align > BLOCK_ALIGN || (!task->copy && offset + task->bytes > (long)sizeof(*block)))
		return false;
	*original = *task;
	*note = (struct note){
		.body = task->body,
		.site = site,
		.region =
			crit_shim_region(CRIT_CONSTRUCT_TASK, site, caller, crit_shim_region_now()),
		.offset = (uint32_t)offset,
		.task = original,
	};
	if (!task->copy)
		memcpy((char *)block + offset, task->data, (size_t)task->bytes);
	*task = (struct task){ run_block, block, task->copy ? copy_block : NULL,
			       offset + task->bytes, align };
	return true;
}

/* Parameters are libgomp's. NOLINTBEGIN(readability-function-size) */
CRIT_GOMP_EXPORT void GOMP_task(crit_gomp_body *body, void *data, copy_function *copy, long bytes,
				long align, bool is_deferred, unsigned int flags, void **depend,
				int priority, void *detach);

void GOMP_task(crit_gomp_body *body, void *data, copy_function *copy, long bytes, long align,
	       bool is_deferred, unsigned int flags, void **depend, int priority, void *detach)
{
	struct task task = { body, data, copy, bytes, align };
	struct task original;
	struct task_block block;

	if (crit_gomp_is_on() && !(flags & FLAG_DETACH) &&
	    wrap(&task, &block, &original, CRIT_GOMP_CALL_SITE))
		block.note.number = crit_shim_task_made();
	CRIT_GOMP_NEXT(GOMP_task)
	(task.body, task.data, task.copy, task.bytes, task.align, is_deferred, flags, depend,
	 priority, detach);
}

/* Tasks that are parts of a loop, of long or of unsigned long long. */
#define TASKLOOP(name, type)                                                                       \
	CRIT_GOMP_EXPORT void name(crit_gomp_body *body, void *data, copy_function *copy,          \
				   long bytes, long align, unsigned int flags,                     \
				   unsigned long tasks, int priority, type start, type end,        \
				   type step);                                                     \
	void name(crit_gomp_body *body, void *data, copy_function *copy, long bytes, long align,   \
		  unsigned int flags, unsigned long tasks, int priority, type start, type end,     \
		  type step)                                                                       \
	{                                                                                          \
		struct task task = { body, data, copy, bytes, align };                             \
		struct task original;                                                              \
		struct task_block block;                                                           \
                                                                                                   \
		if (crit_gomp_is_on() && wrap(&task, &block, &original, CRIT_GOMP_CALL_SITE)) {    \
			block.note.is_loop = true;                                                 \
			if (flags & FLAG_REDUCTION)                                                \
				block.note.bounds[2] = ((void **)data)[2];                         \
		}                                                                                  \
		CRIT_GOMP_NEXT(name)                                                               \
		(task.body, task.data, task.copy, task.bytes, task.align, flags, tasks, priority,  \
		 start, end, step);                                                                \
	}

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
/* NOLINTEND(readability-function-size) */
