// SPDX-License-Identifier: BSD-3-Clause
// The collective callbacks of libotf2, of which its files need few: rank, size, one broadcast.
#include "otf2/archive/peer_callbacks.h"

#include <stdint.h>
#include <string.h>

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode get_size(void *user, OTF2_CollectiveContext *context, uint32_t *ret_size)
{
	const struct crit_transport *transport = user;

	(void)context;
	*ret_size = transport->count;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get_rank(void *user, OTF2_CollectiveContext *context, uint32_t *ret_rank)
{
	const struct crit_transport *transport = user;

	(void)context;
	*ret_rank = transport->rank;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode wait_for_all(void *user, OTF2_CollectiveContext *context)
{
	(void)user;
	(void)context;
	return OTF2_CALLBACK_SUCCESS;
}

/* The status of the first process, 0; others have not set it. */
static OTF2_CallbackCode broadcast(void *user, OTF2_CollectiveContext *context, void *data,
				   uint32_t count, OTF2_Type type, uint32_t root)
{
	const struct crit_transport *transport = user;

	(void)context;
	if (count != 1 || type != OTF2_TYPE_INT64)
		return OTF2_CALLBACK_ERROR;
	if (transport->rank != root)
		memset(data, 0, sizeof(int64_t));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode one_for_each(void *user, OTF2_CollectiveContext *context, const void *in,
				      void *out, uint32_t count, OTF2_Type type, uint32_t root)
{
	(void)user;
	(void)context;
	(void)in;
	(void)out;
	(void)count;
	(void)type;
	(void)root;
	return OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode gather_many(void *user, OTF2_CollectiveContext *context, const void *in,
				     uint32_t in_count, void *out, const uint32_t *out_counts,
				     OTF2_Type type, uint32_t root)
{
	(void)out_counts;
	return one_for_each(user, context, in, out, in_count, type, root);
}

static OTF2_CallbackCode scatter_many(void *user, OTF2_CollectiveContext *context, const void *in,
				      const uint32_t *in_counts, void *out, uint32_t out_count,
				      OTF2_Type type, uint32_t root)
{
	(void)in_counts;
	return one_for_each(user, context, in, out, out_count, type, root);
}
// NOLINTEND(readability-function-size)

OTF2_ErrorCode crit_otf2_set_collectives(OTF2_Archive *archive,
					 const struct crit_transport *transport)
{
	static const OTF2_CollectiveCallbacks callbacks = {
		.otf2_get_size = get_size,
		.otf2_get_rank = get_rank,
		.otf2_barrier = wait_for_all,
		.otf2_bcast = broadcast,
		.otf2_gather = one_for_each,
		.otf2_gatherv = gather_many,
		.otf2_scatter = one_for_each,
		.otf2_scatterv = scatter_many,
	};
	void *user = (void *)(uintptr_t)transport;

	return transport
		       ? OTF2_Archive_SetCollectiveCallbacks(archive, &callbacks, user, NULL, NULL)
		       : OTF2_Archive_SetSerialCollectiveCallbacks(archive);
}
