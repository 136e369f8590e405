// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/symbols/own_names.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "tests/lib/check.h"
#include "tests/maker/maker.h"

const char *own_maps(void)
{
	static char maps[1u << 18];
	crit_autofclose FILE *file = NULL;

	if (maps[0])
		return maps;
	file = fopen("/proc/self/maps", "r");
	if (CHECK(file))
		CHECK_INT_GT(fread(maps, 1, sizeof(maps) - 1, file), 0);
	return maps;
}

struct crit_symbols *own_names(struct crit_elf_reader *reader)
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_symbols *symbols = NULL;
	int fd;
	char path[64];
	const char *const paths[] = { path };
	struct crit_err err;

	crit_maker_file(m,
			(struct crit_rec_file){ .host = "node",
						.start_real_ns = crit_clock_ns(CLOCK_REALTIME) });
	crit_maker_maps(m, (struct crit_rec_maps){ .pid = OWN_PID }, own_maps());
	fd = crit_maker_memfd(m);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_INT_EQ(crit_symbols_create(paths, 1, NULL, reader, &symbols, &err), 0);
	(void)close(fd);
	crit_maker_destroy(m);
	return symbols;
}
