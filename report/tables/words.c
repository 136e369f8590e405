// SPDX-License-Identifier: BSD-3-Clause
// One table of words per enumeration.
#include "report/tables/words.h"

#include <errno.h>
#include <string.h>

#include "core/abi/abi_socket.h"

#define WORD_OF(words, index)                                                                      \
	((size_t)(index) < sizeof(words) / sizeof((words)[0]) ? (words)[index] : "?")

static const char *const rules[CRIT_ACTIVE_COUNT] = {
	[CRIT_ACTIVE_DEFAULT] = "default",
	[CRIT_ACTIVE_KERNEL] = "kernel",
	[CRIT_ACTIVE_POLL] = "poll-active",
	[CRIT_ACTIVE_MAY_WAIT] = "may-wait-active",
};

const char *crit_rule_name(enum crit_active_rule rule)
{
	return WORD_OF(rules, rule);
}

int crit_rule_parse(const char *name, enum crit_active_rule *ret_rule)
{
	for (int i = 0; i < CRIT_ACTIVE_COUNT; i++)
		if (strcmp(name, rules[i]) == 0) {
			*ret_rule = (enum crit_active_rule)i;
			return 0;
		}
	return -EINVAL;
}

const char *crit_verdict_name(enum crit_verdict verdict)
{
	static const char *const words[CRIT_VERDICT_COUNT] = {
		"nothing",   "incomplete",  "too_short", "even",        "cpus",
		"imbalance", "all_waiting", "blocked",   "mpi_library",
	};

	return WORD_OF(words, verdict);
}

const char *crit_mode_name(enum crit_mode mode)
{
	static const char *const words[CRIT_MODE_COUNT] = { "full", "shims only", "kernel only",
							    "approximate" };

	return WORD_OF(words, mode);
}

const char *crit_half_name(enum crit_kernel_half half)
{
	static const char *const words[CRIT_HALF_COUNT] = { "none", "bpf", "perf" };

	return WORD_OF(words, half);
}

const char *crit_level_name(uint32_t level)
{
	return level == CRIT_LEVEL_PROFILE ? "profile" : level == CRIT_LEVEL_TRACE ? "trace" : "?";
}

const char *crit_role_name(enum crit_role role)
{
	static const char *const words[CRIT_THREAD_ROLE_COUNT] = { "app", "service", "launcher" };

	return WORD_OF(words, role);
}

const char *crit_unit_name(enum crit_unit unit)
{
	return unit == CRIT_UNIT_RANKS ? "ranks" : "threads";
}

const char *crit_scope_name(enum crit_scope scope)
{
	return scope == CRIT_SCOPE_NODE ? "node" : "run";
}

const char *crit_state_name(enum crit_kernel_state state)
{
	static const char *const words[CRIT_STATE_COUNT] = { "none",    "running", "runnable",
							     "blocked", "unknown", "assumed" };

	return WORD_OF(words, state);
}

const char *crit_preemptor_kind_name(enum crit_preemptor_kind kind)
{
	static const char *const words[CRIT_PREEMPTOR_COUNT] = { "member", "stranger", "hidden",
								 "idle",   "others",   "unknown" };

	return WORD_OF(words, kind);
}

const char *crit_communicator_kind_name(enum crit_communicator_kind kind)
{
	static const char *const words[CRIT_COMMUNICATOR_KIND_COUNT] = { "world",  "self",
									 "intra",  "inter",
									 "window", "foreign" };

	return WORD_OF(words, kind);
}

const char *crit_clock_kind_name(enum crit_clock_kind kind)
{
	static const char *const words[CRIT_CLOCK_KIND_COUNT] = {
		"none", "reference", "compared", "compared_once", "same", "wall",
	};

	return WORD_OF(words, kind);
}

const char *crit_process_end_name(enum crit_process_end end)
{
	static const char *const words[CRIT_END_COUNT] = {
		[CRIT_END_UNTOLD] = "unknown",
		[CRIT_END_OTHER_USER] = "user",
		[CRIT_END_PRIVILEGES] = "privileges",
		[CRIT_END_UNREADABLE] = "unreadable",
		[CRIT_END_KILLED_IN_INIT] = "killed_in_init",
	};

	return (unsigned int)end < CRIT_END_COUNT ? words[end] : NULL;
}
