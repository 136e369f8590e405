// SPDX-License-Identifier: BSD-3-Clause
// The kernel half's decisions as the kernel's own compiler makes them.
#include <bpf/bpf.h>
#include <linux/types.h>
#include <unistd.h>

#include "decide.skel.h"
#include "tests/bpf/decide_cases.h"
#include "tests/lib/check.h"

struct arguments { /* as in decide.bpf.c */
	__u32 prev_state;
	__u32 state_now;
	__u32 is_preempted;
	__u32 uid;
	__u32 euid;
	__u32 served_uid;
	__u64 mm_flags;
	__u32 is_privileged;
	__u32 ret_state;
	__u32 ret_expulsion;
	__u32 active;
	__u64 tag;
	__u32 cpu_count;
	__u32 ret_keep;
};

static void run(int program, struct arguments *arguments)
{
	struct bpf_test_run_opts opts = { .sz = sizeof(opts),
					  .ctx_in = arguments,
					  .ctx_size_in = sizeof(*arguments) };

	CHECK_INT_EQ(bpf_prog_test_run_opts(program, &opts), 0);
}

static void try_states(int program)
{
	for (size_t i = 0; i < sizeof(crit_state_cases) / sizeof(crit_state_cases[0]); i++) {
		const struct crit_state_case *c = &crit_state_cases[i];
		struct arguments a = { .prev_state = c->prev_state,
				       .state_now = c->state_now,
				       .is_preempted = c->is_preempted,
				       .ret_state = 99 };

		CHECK_CASE("state %#x", c->prev_state);
		run(program, &a);
		CHECK_INT_EQ(a.ret_state, c->expected);
	}
}

static void try_expulsions(int program)
{
	for (size_t i = 0; i < sizeof(crit_expulsion_cases) / sizeof(crit_expulsion_cases[0]);
	     i++) {
		const struct crit_expulsion_case *c = &crit_expulsion_cases[i];
		struct arguments a = { .uid = c->uid,
				       .euid = c->euid,
				       .served_uid = c->served_uid,
				       .mm_flags = c->mm_flags,
				       .is_privileged = c->is_privileged,
				       .ret_expulsion = 99 };

		CHECK_CASE("expulsion %zu", i);
		run(program, &a);
		CHECK_INT_EQ(a.ret_expulsion, c->expected);
	}
}

static void try_keeps(int program)
{
	for (size_t i = 0; i < sizeof(crit_keep_cases) / sizeof(crit_keep_cases[0]); i++) {
		const struct crit_keep_case *c = &crit_keep_cases[i];
		struct arguments a = { .tag = crit_tag_pack(77, 5, 3, c->span_class, 1),
				       .active = c->active,
				       .cpu_count = c->cpu_count,
				       .ret_keep = 99 };

		CHECK_CASE("class %u, %u active", c->span_class, c->active);
		run(program, &a);
		CHECK_INT_EQ(a.ret_keep, c->expected);
	}
}

int main(void)
{
	struct decide_bpf *bpf;

	if (geteuid() != 0)
		check_skip("needs root, to load a program");
	bpf = decide_bpf__open_and_load();
	if (!CHECK(bpf))
		return check_done();
	try_states(bpf_program__fd(bpf->progs.decide));
	try_expulsions(bpf_program__fd(bpf->progs.decide));
	try_keeps(bpf_program__fd(bpf->progs.decide));
	decide_bpf__destroy(bpf);
	return check_done();
}
