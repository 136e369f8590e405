// SPDX-License-Identifier: BSD-3-Clause
// Buffers that analysis processes exchange, and agreement on one error.
#include "analysis/cluster/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

int crit_exchange_buffer_put(struct crit_exchange_buffer *buffer, const void *bytes, size_t size)
{
	int rc;

	if (!size)
		return 0;
	rc = crit_array_grow(&buffer->bytes, &buffer->capacity, buffer->size + size, 1);
	if (rc)
		return rc;
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
	return 0;
}

bool crit_exchange_buffer_take(const struct crit_exchange_buffer *buffer, size_t *at,
			       void *ret_bytes, size_t size)
{
	if (buffer->size - *at < size)
		return false;
	if (size)
		memcpy(ret_bytes, buffer->bytes + *at, size);
	*at += size;
	return true;
}

struct crit_exchange_buffer *crit_exchange_buffers_create(uint32_t count)
{
	return calloc(count, sizeof(struct crit_exchange_buffer));
}

void crit_exchange_buffers_empty(struct crit_exchange_buffer *buffers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		buffers[i].size = 0;
}

void crit_exchange_buffers_destroy(struct crit_exchange_buffer *buffers, uint32_t count)
{
	for (uint32_t i = 0; buffers && i < count; i++)
		free(buffers[i].bytes);
	free(buffers);
}

struct opinion {
	uint64_t sum;
	int64_t rc;
};

static int judge(const struct crit_transport *transport, const struct opinion *own,
		 const struct crit_exchange_buffer *from)
{
	struct opinion opinion;
	bool is_alike = true;

	for (uint32_t i = 0; i < transport->count; i++) {
		size_t at = 0;

		if (!crit_exchange_buffer_take(&from[i], &at, &opinion, sizeof(opinion)))
			return -EPROTO;
		if (opinion.rc)
			return own->rc ? (int)own->rc : (int)opinion.rc;
		is_alike = is_alike && opinion.sum == own->sum;
	}
	return is_alike ? 0 : -ESTALE;
}

int crit_transport_agree(const struct crit_transport *transport, uint64_t sum, int rc)
{
	struct crit_exchange_buffer *to = crit_exchange_buffers_create(transport->count);
	struct crit_exchange_buffer *from = crit_exchange_buffers_create(transport->count);
	struct opinion own = { .sum = sum, .rc = rc };

	rc = to && from ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < transport->count && !rc; i++)
		rc = crit_exchange_buffer_put(&to[i], &own, sizeof(own));
	if (!rc)
		rc = transport->exchange(transport->user, to, from);
	if (!rc)
		rc = judge(transport, &own, from);
	crit_exchange_buffers_destroy(to, transport->count);
	crit_exchange_buffers_destroy(from, transport->count);
	return rc;
}

int crit_transport_broadcast(const struct crit_transport *transport, uint64_t *values, size_t count)
{
	struct crit_exchange_buffer *to = crit_exchange_buffers_create(transport->count);
	struct crit_exchange_buffer *from = crit_exchange_buffers_create(transport->count);
	size_t at = 0;
	int rc = to && from ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < transport->count && !rc && !transport->rank; i++)
		rc = crit_exchange_buffer_put(&to[i], values, count * sizeof(*values));
	if (!rc)
		rc = transport->exchange(transport->user, to, from);
	if (!rc && !crit_exchange_buffer_take(&from[0], &at, values, count * sizeof(*values)))
		rc = -EPROTO;
	crit_exchange_buffers_destroy(to, transport->count);
	crit_exchange_buffers_destroy(from, transport->count);
	return rc;
}
