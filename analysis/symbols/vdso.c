// SPDX-License-Identifier: BSD-3-Clause
// The kernel tells a process in its auxiliary vector where its vDSO is, and in its maps how long.
#include "analysis/symbols/vdso.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/cleanup.h"

static uint64_t bytes_mapped_at(uint64_t address)
{
	crit_autofclose FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	uint64_t begin, end;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 && begin == address)
			return end - begin;
	return 0;
}

int crit_vdso_open(uint64_t mapped_bytes)
{
	const unsigned long address = getauxval(AT_SYSINFO_EHDR);
	int fd;

	if (!address || mapped_bytes == 0 || bytes_mapped_at(address) != mapped_bytes)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes addresses as numbers
	if (write(fd, (const void *)address, mapped_bytes) == (ssize_t)mapped_bytes)
		return fd;
	close(fd);
	return -EIO;
}
