/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of a film that is written or read; for film.h alone. */
#ifndef CRIT_FILM_BLOCK_H
#define CRIT_FILM_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"

#define CRIT_FILM_BLOCK_HEAD 16
#define CRIT_FILM_BLOCK_ENTRIES                                                                    \
	((CRIT_FILM_BLOCK_BYTES - CRIT_FILM_BLOCK_HEAD) / CRIT_FILM_ENTRY_BYTES)

struct crit_film_block {
	uint32_t count;
	uint32_t reserved[3];
	struct crit_film_entry entries[CRIT_FILM_BLOCK_ENTRIES];
};

struct crit_film { /* its fields are the functions' below */
	int fd;
	int failure; /* the first, since when the block in memory is empty; 0: none */
	uint64_t max_bytes;
	uint64_t blocks; /* in the file; when reading: before the one in memory */
	uint64_t written; /* blocks of a film that is finished */
	uint64_t entry_count;
	struct crit_film_block block;
};

/* Into the block in memory, which has room. */
static inline void crit_film_append(struct crit_film *film, const struct crit_film_entry *entry)
{
	film->block.entries[film->block.count++] = *entry;
	film->entry_count++;
}

/* As put, where a block begins: writes the one in memory, if there is one.  Errors: likewise. */
int crit_film_put_in_next(struct crit_film *film, const struct crit_film_entry *entry,
			  struct crit_err *err);

static inline int crit_film_put(struct crit_film *film, const struct crit_film_entry *entry,
				struct crit_err *err)
{
	if (film->block.count - 1 >= CRIT_FILM_BLOCK_ENTRIES - 1)
		return crit_film_put_in_next(film, entry, err);
	crit_film_append(film, entry);
	return 0;
}

/* The block before the one in memory.  Yields 1; 0: there is none.  Errors: -EIO, -EPROTO. */
int crit_film_read_block(struct crit_film *film);

static inline int crit_film_back(struct crit_film *film, struct crit_film_entry *ret_entry)
{
	int rc = film->block.count ? 1 : crit_film_read_block(film);

	if (rc > 0)
		*ret_entry = film->block.entries[--film->block.count];
	return rc;
}

static inline int crit_film_back_many(struct crit_film *film, uint32_t max,
				      struct crit_film_entry *ret_entries)
{
	int rc = film->block.count ? 1 : crit_film_read_block(film);
	const struct crit_film_entry *next;
	uint32_t count;

	if (rc <= 0)
		return rc;
	count = film->block.count < max ? film->block.count : max;
	next = &film->block.entries[film->block.count];
	for (uint32_t i = 0; i < count; i++)
		ret_entries[i] = *--next;
	film->block.count -= count;
	return (int)count;
}

static inline bool crit_film_soon(const struct crit_film *film, uint32_t more,
				  struct crit_film_entry *ret_entry)
{
	if (more >= film->block.count)
		return false;
	*ret_entry = film->block.entries[film->block.count - 1 - more];
	return true;
}

#endif
