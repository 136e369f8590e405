// SPDX-License-Identifier: BSD-3-Clause
// The kernel half is loaded in the kernel where that can be done, and by libbpf elsewhere.
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/source/kernel_object.h"
#include "tests/lib/check.h"

/* Does this kernel find the fields of its types for programs?  Since 5.17. */
static bool is_kernel_able(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 17);
}

static void try_load(bool has_task_storage, bool is_light)
{
	const struct crit_kernel_settings settings = {
		.rodata = { .has_task_storage = has_task_storage,
			    .slot_count = 1,
			    .cpu_count = 1,
			    .cpu_ring_bytes = 4096 },
		.ring_bytes = 4096,
		.registered_count = 1,
	};
	struct crit_kernel_object object = { .light = NULL };
	const int rc = crit_kernel_object_load(&object, &settings);

	CHECK_INT_EQ(rc, 0);
	if (rc)
		return;
	CHECK_INT_EQ(object.light != NULL, is_light);
	CHECK_INT_EQ(object.bpf != NULL, !is_light);
	CHECK(object.bss && object.members_fd > 0 && object.registered_fd > 0 &&
	      object.records_fd > 0 && object.cpu_clock_fd > 0);
	object.bss->run_counters[0].run_number = 0; /* may be written */
	CHECK_INT_EQ(crit_kernel_object_attach(&object), 0);
	crit_kernel_object_close(&object);
	CHECK(!object.light && !object.bpf);
	crit_kernel_object_close(&object);
}

int main(void)
{
	if (geteuid() != 0)
		check_skip("needs root, to load programs");
	if (is_kernel_able())
		try_load(true, true);
	try_load(false, false);
	return check_done();
}
