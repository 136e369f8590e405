// SPDX-License-Identifier: BSD-3-Clause
// Loads the kernel half by a program that runs in the kernel, or else by libbpf.
//
// libbpf reads and searches all of the kernel's types (5 MiB), to find the fields that our programs
// use.  Since Linux 5.17 the kernel finds them itself, and a loader that bpftool made, itself a BPF
// program, creates all maps and programs in one call.  It can leave none of them out: where the
// kernel lacks or refuses one, as task storage before 5.11, libbpf loads what is left.
#include "collector/source/kernel_object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "crit.lskel.h"

_Static_assert(sizeof(struct crit_light__rodata) == sizeof(struct crit_bpf__rodata), "one object");
_Static_assert(sizeof(struct crit_light__bss) == sizeof(struct crit_bpf__bss), "one object");

static int load_light(struct crit_kernel_object *ret_object,
		      const struct crit_kernel_settings *settings)
{
	struct crit_light *light = crit_light__open();
	int rc;

	if (!light)
		return -ENOMEM;
	memcpy(light->rodata, &settings->rodata, sizeof(settings->rodata));
	light->maps.members_by_tid.max_entries = 1; /* not used */
	light->maps.registered.max_entries = settings->registered_count;
	light->maps.records.max_entries = settings->ring_bytes;
	light->maps.cpu_rings.max_entries = settings->rodata.slot_count;
	light->maps.active_counts.max_entries = settings->rodata.slot_count;
	light->maps.stack_slots.max_entries = settings->rodata.slot_count;
	rc = crit_light__load(light);
	if (rc) {
		crit_light__destroy(light);
		return rc;
	}
	*ret_object = (struct crit_kernel_object){
		.light = light,
		.bss = (void *)light->bss,
		.members_fd = light->maps.members.map_fd,
		.registered_fd = light->maps.registered.map_fd,
		.records_fd = light->maps.records.map_fd,
		.cpu_rings_fd = light->maps.cpu_rings.map_fd,
		.cpu_clock_fd = light->progs.on_cpu_clock.prog_fd,
	};
	return 0;
}

static void configure(struct crit_bpf *bpf, const struct crit_kernel_settings *settings)
{
	const bool has_task_storage = settings->rodata.has_task_storage;

	*bpf->rodata = settings->rodata;
	(void)bpf_map__set_autocreate(bpf->maps.members, has_task_storage);
	(void)bpf_map__set_autocreate(bpf->maps.members_by_tid, !has_task_storage);
	(void)bpf_map__set_max_entries(bpf->maps.registered, settings->registered_count);
	(void)bpf_map__set_max_entries(bpf->maps.records, settings->ring_bytes);
	(void)bpf_map__set_max_entries(bpf->maps.cpu_rings, settings->rodata.slot_count);
	(void)bpf_map__set_max_entries(bpf->maps.active_counts, settings->rodata.slot_count);
	(void)bpf_map__set_max_entries(bpf->maps.stack_slots, settings->rodata.slot_count);
}

static int load_by_libbpf(struct crit_kernel_object *ret_object,
			  const struct crit_kernel_settings *settings, bool has_sampling)
{
	struct crit_bpf *bpf = crit_bpf__open();
	int rc;

	if (!bpf)
		return -errno;
	configure(bpf, settings);
	(void)bpf_program__set_autoload(bpf->progs.on_cpu_clock, has_sampling);
	rc = crit_bpf__load(bpf);
	if (rc) {
		crit_bpf__destroy(bpf);
		return rc;
	}
	*ret_object = (struct crit_kernel_object){
		.bpf = bpf,
		.bss = bpf->bss,
		.members_fd = bpf_map__fd(settings->rodata.has_task_storage
						  ? bpf->maps.members
						  : bpf->maps.members_by_tid),
		.registered_fd = bpf_map__fd(bpf->maps.registered),
		.records_fd = bpf_map__fd(bpf->maps.records),
		.cpu_rings_fd = bpf_map__fd(bpf->maps.cpu_rings),
		.cpu_clock_fd = has_sampling ? bpf_program__fd(bpf->progs.on_cpu_clock) : -1,
	};
	return 0;
}

int crit_kernel_object_load(struct crit_kernel_object *object,
			    const struct crit_kernel_settings *settings)
{
	int rc = -EOPNOTSUPP;

	if (settings->rodata.has_task_storage)
		rc = load_light(object, settings);
	if (rc)
		rc = load_by_libbpf(object, settings, true);
	if (rc && rc != -EPERM)
		rc = load_by_libbpf(object, settings, false);
	return rc;
}

int crit_kernel_object_attach(const struct crit_kernel_object *object)
{
	return object->light ? crit_light__attach(object->light) : crit_bpf__attach(object->bpf);
}

void crit_kernel_object_close(struct crit_kernel_object *object)
{
	if (object->light)
		crit_light__destroy(object->light);
	crit_bpf__destroy(object->bpf);
	memset(object, 0, sizeof(*object));
}
