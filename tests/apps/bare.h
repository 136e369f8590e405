/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's own functions, past any shim. */
#ifndef CRIT_TESTS_BARE_H
#define CRIT_TESTS_BARE_H

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int bare_find(struct dl_phdr_info *info, size_t size, void *ret_library)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *base = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (strncmp(base, "libmpi.so.", 10) != 0 && strncmp(base, "libmpich.so.", 12) != 0)
		return 0;
	*(void **)ret_library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return *(void **)ret_library != NULL;
}

/* A function of the MPI library that the program is linked to; the program ends without it. */
static inline void *bare(const char *name)
{
	void *library = NULL, *function = NULL;

	dl_iterate_phdr(bare_find, &library);
	if (library)
		function = dlsym(library, name);
	if (!function) {
		fprintf(stderr, "no %s in the MPI library\n", name);
		exit(1);
	}
	return function;
}

#endif
