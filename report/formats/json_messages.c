// SPDX-License-Identifier: BSD-3-Clause
/* The part of report.json that level trace fills: who sent what to whom, who arrived last. */
#include "report/formats/json_messages.h"

#include "report/formats/json.h"
#include "report/formats/messages.h"
#include "core/base/call.h"

static json_t *volume_of(const struct crit_volume *volume)
{
	json_t *object = json_object();
	json_t *sizes = json_array();

	set_count(object, "count", volume->count);
	set_count(object, "bytes", volume->bytes);
	set_count(object, "unknown_count", volume->unknown_count);
	for (unsigned int bin = 0; bin < CRIT_SIZE_BINS; bin++) {
		json_t *row;

		if (!volume->sizes[bin])
			continue;
		row = json_object();
		set_count(row, "min_bytes", bin ? 1ull << (bin - 1) : 0);
		set_count(row, "max_bytes", crit_messages_bin_max(bin));
		set_count(row, "count", volume->sizes[bin]);
		(void)json_array_append_new(sizes, row);
	}
	set(object, "sizes", sizes);
	return object;
}

void crit_json_call_traffic(json_t *row, const struct crit_results *results,
			    const struct crit_call_row *call)
{
	const struct crit_traffic_row *traffic = crit_messages_traffic(results, call->call);
	uint64_t bytes = call->counted_bytes;

	if (traffic)
		bytes += traffic->sent.bytes + traffic->received.bytes;
	if (traffic || bytes)
		set_count(row, "bytes", bytes);
	else
		set(row, "bytes", json_null());
	set_count(row, "failed", crit_messages_failed(results, call->call));
	set(row, "sent", traffic ? volume_of(&traffic->sent) : json_null());
	set(row, "received", traffic ? volume_of(&traffic->received) : json_null());
}

static void set_rank_of(json_t *row, const char *key, const struct crit_results *results,
			uint32_t rank_row)
{
	bool is_known = rank_row < results->rank_count;

	set(row, key, is_known ? json_integer(results->ranks[rank_row].rank) : json_null());
}

static json_t *pairs_of(const struct crit_results *results)
{
	json_t *array = json_array();

	for (size_t i = 0; i < results->messages.pair_count; i++) {
		const struct crit_pair_row *pair = &results->messages.pairs[i];
		json_t *row = json_object();

		set_rank_of(row, "from_rank", results, pair->from_row);
		set_count(row, "from_world", results->ranks[pair->from_row].world_number);
		set_rank_of(row, "to_rank", results, pair->to_row);
		set_count(row, "to_world", results->ranks[pair->to_row].world_number);
		set_count(row, "sent_messages", pair->sent_count);
		set_count(row, "sent_bytes", pair->sent_bytes);
		set_count(row, "received_messages", pair->received_count);
		set_count(row, "received_bytes", pair->received_bytes);
		(void)json_array_append_new(array, row);
	}
	return array;
}

static json_t *communicators_of(const struct crit_message_results *messages)
{
	static const char *const kinds[CRIT_COMMUNICATOR_KIND_COUNT] = { "world",  "self",
									 "intra",  "inter",
									 "window", "foreign" };
	json_t *array = json_array();

	for (size_t i = 0; i < messages->communicator_count; i++) {
		const struct crit_communicator_row *communicator = &messages->communicators[i];
		json_t *row = json_object();

		set_count(row, "number", i);
		SET_FIELD(row, "name", communicator->name);
		set_text(row, "kind", kinds[communicator->kind], 16);
		set_count(row, "size", communicator->size);
		set_count(row, "remote_size", communicator->remote_size);
		set_count(row, "known_members", communicator->known_members);
		set(row, "parent",
		    communicator->parent < messages->communicator_count
			    ? json_integer(communicator->parent)
			    : json_null());
		(void)json_array_append_new(array, row);
	}
	return array;
}

static json_t *lasts_of(const struct crit_results *results, const struct crit_collective_row *row)
{
	json_t *array = json_array();

	for (size_t i = 0; i < row->last_count; i++) {
		const struct crit_last_row *last = &results->messages.lasts[row->first_last + i];
		json_t *object = json_object();

		set_rank_of(object, "rank", results, last->rank_row);
		set_count(object, "count", last->count);
		set_ns(object, "spread_sum_s", last->spread_sum_ns);
		set_ns(object, "spread_max_s", last->spread_max_ns);
		set_ns(object, "late_sum_s", last->late_sum_ns);
		set_ns(object, "late_max_s", last->late_max_ns);
		(void)json_array_append_new(array, object);
	}
	return array;
}

static json_t *collectives_of(const struct crit_results *results)
{
	const struct crit_message_results *messages = &results->messages;
	json_t *array = json_array();

	for (size_t i = 0; i < messages->collective_count; i++) {
		const struct crit_collective_row *collective = &messages->collectives[i];
		json_t *row = json_object();

		set_count(row, "communicator", collective->communicator);
		SET_FIELD(row, "communicator_name",
			  messages->communicators[collective->communicator].name);
		set_text(row, "name", crit_call_name(collective->call), 64);
		set_count(row, "visits", collective->visits);
		set_count(row, "sent_bytes", collective->sent_bytes);
		set_count(row, "received_bytes", collective->received_bytes);
		set_count(row, "instances", collective->instances);
		set_count(row, "inferred_instances", collective->inferred);
		set_count(row, "incomplete_instances", collective->incomplete);
		set_ns(row, "spread_sum_s", collective->spread_sum_ns);
		set_ns(row, "spread_max_s", collective->spread_max_ns);
		set_ns(row, "late_sum_s", collective->late_sum_ns);
		set_ns(row, "late_max_s", collective->late_max_ns);
		set(row, "last", lasts_of(results, collective));
		(void)json_array_append_new(array, row);
	}
	return array;
}

static json_t *losses_of(const struct crit_message_losses *losses)
{
	json_t *object = json_object();

	set_count(object, "details", losses->details);
	set_count(object, "stray_completions", losses->stray);
	set_count(object, "unfinished_requests", losses->unfinished);
	set_count(object, "freed_requests", losses->freed);
	set_count(object, "unresolved_messages", losses->unresolved);
	set_count(object, "estimated_sizes", losses->estimated);
	set_count(object, "unusable_statuses", losses->unusable_statuses);
	set_count(object, "unknown_sources", losses->unknown_sources);
	set_count(object, "late_arrivals", losses->late_arrivals);
	set_count(object, "communicators", losses->communicators);
	set_count(object, "foreign_communicators", losses->foreign);
	set_count(object, "missing_members", losses->missing_members);
	set_count(object, "received_before_sent", losses->early);
	set_ns(object, "received_before_sent_max_s", losses->early_max_ns);
	return object;
}

json_t *crit_json_messages(const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	json_t *object = json_object();

	set_ns(object, "until_s", crit_messages_traced_ns(results));
	set(object, "is_whole", json_boolean(results->messages.is_whole));
	set(object, "losses", losses_of(&results->messages.losses));
	set(object, "pairs", pairs_of(results));
	set(object, "communicators", communicators_of(&results->messages));
	set(object, "collectives", collectives_of(results));
	return object;
}
