/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of all formats for the kinds of things in a report: "imbalance", "runnable", "app". */
#ifndef CRIT_WORDS_H
#define CRIT_WORDS_H

#include "analysis/schema/results.h"

enum crit_mode {
	CRIT_MODE_FULL = 0,
	CRIT_MODE_SHIMS_ONLY,
	CRIT_MODE_KERNEL_ONLY,
	CRIT_MODE_APPROXIMATE, /* perf events stand in for the kernel half of a node */
	CRIT_MODE_COUNT
};

enum crit_verdict {
	CRIT_VERDICT_NOTHING = 0, /* nothing was active */
	CRIT_VERDICT_INCOMPLETE, /* too much was lost */
	CRIT_VERDICT_TOO_SHORT,
	CRIT_VERDICT_EVEN, /* no loss is worth a word; else the largest: */
	CRIT_VERDICT_CPUS,
	CRIT_VERDICT_IMBALANCE,
	CRIT_VERDICT_ALL_WAITING,
	CRIT_VERDICT_BLOCKED,
	CRIT_VERDICT_LIBRARY,
	CRIT_VERDICT_COUNT
};

/* All static; "?" for a number without a word. */
const char *crit_verdict_name(enum crit_verdict verdict);
const char *crit_mode_name(enum crit_mode mode);
const char *crit_half_name(enum crit_kernel_half half);
const char *crit_level_name(uint32_t level);
const char *crit_rule_name(enum crit_active_rule rule);
const char *crit_role_name(enum crit_role role);
const char *crit_unit_name(enum crit_unit unit);
const char *crit_scope_name(enum crit_scope scope);
const char *crit_state_name(enum crit_kernel_state state);
const char *crit_preemptor_kind_name(enum crit_preemptor_kind kind);
const char *crit_communicator_kind_name(enum crit_communicator_kind kind);
const char *crit_clock_kind_name(enum crit_clock_kind kind);

/* NULL: the process did not end early. */
const char *crit_process_end_name(enum crit_process_end end);

/* The rule of that name.  Errors: -EINVAL for an unknown one. */
int crit_rule_parse(const char *name, enum crit_active_rule *ret_rule);

#endif
