// SPDX-License-Identifier: BSD-3-Clause
// Seals whatever lies there as chunks.
#include "tests/fuzz/repair.h"

#include <string.h>

#include "core/base/chunk.h"

void crit_repair(unsigned char *bytes, size_t length)
{
	struct crit_chunk_head head;
	size_t at = 0;

	while (at + sizeof(head) <= length) {
		size_t room = length - at - sizeof(head);
		size_t payload;

		memcpy(&head, bytes + at, sizeof(head));
		payload = head.length;
		if (crit_chunk_padded(payload) > room || payload > CRIT_CHUNK_PAYLOAD_MAX)
			payload = room < 4096 ? room & ~(size_t)7 : 4096;
		crit_chunk_seal(&head, bytes + at + sizeof(head), payload);
		memcpy(bytes + at, &head, sizeof(head));
		at += sizeof(head) + crit_chunk_padded(payload);
	}
}
