/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites as places in files: the same line of all ranks is one site, wherever it was loaded. */
#ifndef CRIT_SITES_H
#define CRIT_SITES_H

#include "analysis/results.h"
#include "core/err.h"

struct crit_site_row { /* sums over the processes that call from here */
	uint32_t call;
	const char *module; /* path of the executable or library; NULL unknown */
	uint64_t offset; /* as addr2line takes it; the address itself when module is NULL */
	uint32_t process_count;
	uint64_t visits;
	uint64_t time_ns;
	uint64_t wait_ns;
	crit_fix stall;
	uint64_t waiting_ns;
};

struct crit_sites {
	struct crit_site_map *maps; /* executable parts of address spaces */
	size_t map_count;
	struct crit_site_row *rows; /* by stall + waiting, descending */
	size_t row_count;
};

/*
 * Reads the memory maps in the recordings and joins the sites of the results by them.
 * Range: paths in the order they were analysed in.  Ownership: fini frees; paths are borrowed
 * during the call, rows point into maps.  Errors: those of crit_recording_open; -ENOMEM.
 */
int crit_sites_init(struct crit_sites *sites, const char *const *paths, size_t path_count,
		    const struct crit_results *results, struct crit_err *err);
void crit_sites_fini(struct crit_sites *sites);

/* The file an address of a process lies in, and where in it; NULL when nobody knows. */
const char *crit_sites_find(const struct crit_sites *sites, const struct crit_call_row *site,
			    uint64_t *ret_offset);

/* "solver+0x14c1", the name cut to fit; or the bare address. */
const char *crit_site_text(const char *module, uint64_t offset, char *text, size_t text_bytes);

#endif
