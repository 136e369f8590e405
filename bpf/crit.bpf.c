// SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only)
// The BPF object of crit: the programs of each event family, which share maps and members.
#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/sample.bpf.h"
#include "bpf/events/sched_process.bpf.h"
#include "bpf/events/sched_switch.bpf.h"
#include "bpf/events/sched_wakeup.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
