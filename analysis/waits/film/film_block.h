/* SPDX-License-Identifier: BSD-3-Clause */
/* How a film packs its entries, and keeps the block that is written or read; for film.h alone. */
#ifndef CRIT_FILM_BLOCK_H
#define CRIT_FILM_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"

#define CRIT_FILM_BLOCK_HEAD 16
#define CRIT_FILM_BLOCK_ENTRIES                                                                    \
	((CRIT_FILM_BLOCK_BYTES - CRIT_FILM_BLOCK_HEAD) / CRIT_FILM_ENTRY_BYTES)
#define CRIT_FILM_TIME_BITS 48 /* signed, from the block's first entry: 39 hours either way */

struct crit_film_packed {
	uint64_t word; /* time, kind, type */
	uint32_t node;
	uint32_t number;
	uint32_t more;
} __attribute__((packed, aligned(4)));

struct crit_film_block {
	uint64_t base_ns;
	uint32_t count;
	uint32_t reserved;
	struct crit_film_packed entries[CRIT_FILM_BLOCK_ENTRIES];
};

struct crit_film { /* its fields are the functions' below */
	int fd;
	int failure; /* the first, 0: none */
	uint64_t max_bytes;
	uint64_t blocks; /* in the file; when reading: before the one in memory */
	uint64_t written; /* blocks of a film that is finished */
	uint64_t entry_count;
	struct crit_film_block block;
};

static inline bool crit_film_is_near(uint64_t time_ns, uint64_t base_ns)
{
	const uint64_t most = 1ull << (CRIT_FILM_TIME_BITS - 1);

	return time_ns - base_ns + most < 2 * most;
}

/* Writes the block in memory, if there is one, and begins another at this time.  Errors: as put. */
int crit_film_begin_block(struct crit_film *film, uint64_t time_ns, struct crit_err *err);

static inline int crit_film_put(struct crit_film *film, const struct crit_film_entry *entry,
				struct crit_err *err)
{
	struct crit_film_block *block = &film->block;
	int rc = film->failure;

	if (!rc && (block->count - 1 >= CRIT_FILM_BLOCK_ENTRIES - 1 ||
		    !crit_film_is_near(entry->time_ns, block->base_ns)))
		rc = crit_film_begin_block(film, entry->time_ns, err);
	if (rc)
		return rc;
	block->entries[block->count++] = (struct crit_film_packed){
		.word = ((entry->time_ns - block->base_ns) & ((1ull << CRIT_FILM_TIME_BITS) - 1)) |
			(uint64_t)entry->kind << CRIT_FILM_TIME_BITS | (uint64_t)entry->type << 56,
		.node = entry->node,
		.number = entry->number,
		.more = entry->more,
	};
	film->entry_count++;
	return 0;
}

/* The block before the one in memory.  Yields 1; 0: there is none.  Errors: -EIO, -EPROTO. */
int crit_film_read_block(struct crit_film *film);

static inline struct crit_film_entry crit_film_unpack(const struct crit_film_block *block,
						      uint32_t i)
{
	const struct crit_film_packed *packed = &block->entries[i];
	const int shift = 64 - CRIT_FILM_TIME_BITS;

	return (struct crit_film_entry){
		.time_ns = block->base_ns + (uint64_t)((int64_t)(packed->word << shift) >> shift),
		.node = packed->node,
		.number = packed->number,
		.more = packed->more,
		.type = (uint8_t)(packed->word >> 56),
		.kind = (uint8_t)(packed->word >> CRIT_FILM_TIME_BITS),
	};
}

static inline int crit_film_back(struct crit_film *film, struct crit_film_entry *ret_entry)
{
	int rc = film->block.count ? 1 : crit_film_read_block(film);

	if (rc > 0)
		*ret_entry = crit_film_unpack(&film->block, --film->block.count);
	return rc;
}

static inline bool crit_film_soon(const struct crit_film *film, uint32_t more,
				  struct crit_film_entry *ret_entry)
{
	if (more >= film->block.count)
		return false;
	*ret_entry = crit_film_unpack(&film->block, film->block.count - 1 - more);
	return true;
}

#endif
