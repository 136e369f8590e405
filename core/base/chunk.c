// SPDX-License-Identifier: BSD-3-Clause
// Checksums chunks with CRC-32C (Castagnoli) of the ISA-L library.
#include "core/base/chunk.h"

#include <isa-l/crc.h>

#ifdef __x86_64__
__attribute__((target("avx"))) static void zero_upper_halves(void)
{
	__builtin_ia32_vzeroupper();
}
#endif

/*
 * The library leaves the upper halves of the vector registers in use.  Then the next instruction of
 * SSE, and the next of AVX after it, take some 80 ns each: more than the checksum of a small chunk.
 */
static inline void release_vectors(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		zero_upper_halves();
#endif
}

static __u32 checksum(const struct crit_chunk_head *head, const void *payload)
{
	struct crit_chunk_head copy = *head;
	unsigned int crc = ~0u;

	copy.crc32c = 0;
	crc = crc32_iscsi((unsigned char *)&copy, sizeof(copy), crc);
	/* the library takes a plain pointer but only reads */
	crc = crc32_iscsi((unsigned char *)payload, (int)head->length, crc);
	release_vectors();
	return ~crc;
}

void crit_chunk_seal(struct crit_chunk_head *head, const void *payload, size_t length)
{
	head->magic = CRIT_CHUNK_MAGIC;
	if (!crit_chunk_version_is_known(head))
		head->version = CRIT_RECORDING_VERSION;
	head->length = (__u32)length;
	head->crc32c = checksum(head, payload);
}

bool crit_chunk_head_is_sane(const struct crit_chunk_head *head)
{
	return head->magic == CRIT_CHUNK_MAGIC && crit_chunk_version_is_known(head) &&
	       head->length <= CRIT_CHUNK_PAYLOAD_MAX;
}

bool crit_chunk_is_whole(const struct crit_chunk_head *head, const void *payload)
{
	return head->crc32c == checksum(head, payload);
}
