// SPDX-License-Identifier: BSD-3-Clause
//
// What a process tells peer 0 of its constructs yields the regions that a single process writes.
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "otf2/openmp/construct_table.h"
#include "tests/lib/check.h"
#include "tests/unit/otf2/otf2_between.h"

struct process { /* one that writes an archive */
	struct crit_node_row node;
	struct crit_rank_row rank;
	struct crit_results results;
	struct crit_otf2_strings *strings;
	struct crit_otf2_regions *regions;
	struct crit_otf2_layout *layout;
	struct crit_otf2_call_sites *call_sites;
	struct crit_otf2_constructs *constructs;
};

static void begin(struct process *process)
{
	const struct crit_otf2_layout_options options = { 0 };

	*process = (struct process){ .node = { .host = "node0" }, .rank = { .world_size = 1 } };
	process->results = (struct crit_results){ .has_ranks = true,
						  .nodes = &process->node,
						  .node_count = 1,
						  .ranks = &process->rank,
						  .rank_count = 1,
						  .exe = "/opt/solver" };
	process->strings = crit_otf2_strings_create();
	process->regions = crit_otf2_regions_create(process->strings);
	CHECK_INT_EQ(crit_otf2_layout_create(&process->results, &options, process->strings,
					     process->regions, &process->layout),
		     0);
	process->call_sites = crit_otf2_call_sites_create(process->layout, NULL, NULL);
	process->constructs = crit_otf2_constructs_create(&(struct crit_otf2_definitions){
		process->layout, process->regions, process->call_sites, NULL });
}

static void end(struct process *process)
{
	crit_otf2_constructs_destroy(process->constructs);
	crit_otf2_call_sites_destroy(process->call_sites);
	crit_otf2_layout_destroy(process->layout);
	crit_otf2_regions_destroy(process->regions);
	crit_otf2_strings_destroy(process->strings);
}

/* libgomp's wait at a fork, and a barrier of all members. */
static void find_constructs(struct process *process)
{
	struct crit_trace_span span = { .call = CRIT_CONSTRUCT_RUNTIME_BARRIER, .site = 0x50 };

	CHECK(crit_otf2_constructs_region(process->constructs, 0, &span, 0x50) != CRIT_NONE);
	span.site = 0x51;
	CHECK(crit_otf2_constructs_region(process->constructs, 0, &span, 0x50) != CRIT_NONE);
}

/* Names the constructs; ret_roles: those of the regions behind the program's. */
static void define(struct process *process, OTF2_RegionRole ret_roles[2])
{
	const struct crit_region_results none = { 0 };

	otf2_between_roles[1] = otf2_between_roles[2] = OTF2_REGION_ROLE_UNKNOWN;
	CHECK_INT_EQ(crit_otf2_constructs_name(process->constructs, &none), 0);
	CHECK_INT_EQ(crit_otf2_regions_write(process->regions, NULL), OTF2_SUCCESS);
	ret_roles[0] = otf2_between_roles[1];
	ret_roles[1] = otf2_between_roles[2];
}

int main(void)
{
	OTF2_RegionRole alone[2], told[2];
	struct crit_exchange_buffer parcel = { 0 };
	struct process process, first;
	struct crit_otf2_told rows;
	size_t at = 0;

	begin(&process);
	find_constructs(&process);
	CHECK_INT_EQ(crit_otf2_constructs_pack(process.constructs, &parcel), 0);
	define(&process, alone);
	begin(&first);
	CHECK_INT_EQ(crit_otf2_constructs_unpack(first.constructs, &parcel, &at, &rows), 0);
	CHECK_UINT_EQ(at, parcel.size);
	CHECK_UINT_EQ(rows.count, 2);
	CHECK(crit_otf2_constructs_has_openmp(first.constructs));
	define(&first, told);
	CHECK(alone[0] == OTF2_REGION_ROLE_IMPLICIT_BARRIER);
	CHECK(alone[1] == OTF2_REGION_ROLE_FUNCTION);
	CHECK_UINT_EQ(told[0], alone[0]);
	CHECK_UINT_EQ(told[1], alone[1]);
	free(parcel.bytes);
	end(&first);
	end(&process);
	return check_done();
}
