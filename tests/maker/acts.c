// SPDX-License-Identifier: BSD-3-Clause
// Steps of a run, record by record.
#include "tests/maker/acts.h"

#include <stdio.h>

struct crit_maker *crit_act_begin(const char *host)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_rec_file file = { .cpu_count = 4, .level = CRIT_LEVEL_TRACE };

	(void)snprintf(file.host, sizeof(file.host), "%s", host);
	crit_maker_file(m, file);
	return m;
}

void crit_act_enrol(struct crit_maker *m, uint64_t at_ns, uint32_t tid)
{
	crit_maker_enrol(m, (struct crit_kernel_enrol){
				    .head = { .time_ns = at_ns, .flags = CRIT_KF_RUNNING },
				    .tid = tid,
				    .tgid = tid,
				    .ns_tid = tid });
}

void crit_act_start(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t tgid, uint16_t cpu)
{
	crit_maker_fork(m, (struct crit_kernel_fork){
				   .head = { .time_ns = at_ns,
					     .flags = tid == tgid ? CRIT_KF_NEW_PROCESS : 0 },
				   .parent_tid = CRIT_ACT_ROOT,
				   .parent_tgid = CRIT_ACT_ROOT,
				   .tid = tid,
				   .tgid = tgid,
				   .ns_tid = tid });
	crit_maker_wake_new(m,
			    (struct crit_kernel_wake){ .head = { .time_ns = at_ns }, .tid = tid });
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = at_ns, .cpu = cpu },
							  .next_tid = tid });
}

void crit_act_out(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu, uint8_t state)
{
	crit_maker_switch(m, (struct crit_kernel_switch){
				     .head = { .time_ns = at_ns, .cpu = cpu, .state = state },
				     .prev_tid = tid });
}

void crit_act_in(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint16_t cpu)
{
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = { .time_ns = at_ns, .cpu = cpu },
							  .next_tid = tid });
}

void crit_act_wake(struct crit_maker *m, uint64_t at_ns, uint32_t tid)
{
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = { .time_ns = at_ns }, .tid = tid });
}

void crit_act_end(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint32_t tgid, uint16_t cpu)
{
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = { .time_ns = at_ns }, .tid = tid, .tgid = tgid });
	crit_act_out(m, at_ns, tid, cpu, 0x80);
}

uint32_t crit_act_open(struct crit_maker *m, struct crit_act_rank r)
{
	crit_maker_process(m, (struct crit_rec_process){ .pid = r.pid,
							 .ns_pid = r.pid,
							 .flavour = r.flavour ? r.flavour
									      : CRIT_FLAVOUR_MPICH,
							 .has_memfd = 1,
							 .time_ns = r.begin_ns });
	crit_maker_rank(m, (struct crit_rec_rank){ .pid = r.pid,
						   .rank = r.rank,
						   .size = r.size,
						   .open_ns = r.open_ns ? r.open_ns : r.begin_ns,
						   .world = "world" });
	return crit_act_claim(m, r.pid, r.pid, r.begin_ns);
}

uint32_t crit_act_claim(struct crit_maker *m, uint32_t pid, uint32_t tid, uint64_t at_ns)
{
	return crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = pid, .ns_tid = tid, .claim_ns = at_ns });
}

void crit_act_shut(struct crit_maker *m, uint32_t pid, uint32_t stream, uint64_t close_ns,
		   uint64_t gone_ns)
{
	crit_maker_close(m, (struct crit_rec_close){ .pid = pid, .close_ns = close_ns });
	crit_maker_stream_end(m, stream, (struct crit_rec_stream_end){ .release_ns = close_ns });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = pid, .time_ns = gone_ns });
}

uint32_t crit_act_rank(struct crit_maker *m, uint32_t pid, uint32_t rank, uint64_t open_ns)
{
	return crit_act_open(m, (struct crit_act_rank){ .pid = pid,
							.rank = rank,
							.size = 2,
							.begin_ns = open_ns - CRIT_ACT_MS,
							.open_ns = open_ns });
}

void crit_act_close(struct crit_maker *m, uint32_t pid, uint32_t stream, uint64_t close_ns)
{
	crit_act_shut(m, pid, stream, close_ns, close_ns + CRIT_ACT_MS);
}
