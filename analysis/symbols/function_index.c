// SPDX-License-Identifier: BSD-3-Clause
// The unit's tree is walked once.  Its ranges, sorted, become stretches without overlaps, so that a
// search is short whatever a file claims; the tree itself says what was inlined into what.
#include "analysis/symbols/function_index.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 10000000u
#define DEPTH_MAX 128

struct range {
	uint64_t begin;
	uint64_t end;
	uint32_t function;
	uint32_t depth; /* of it in the tree */
};

struct walk { /* down from a unit */
	struct crit_function_index *index;
	uint64_t unit_offset;
	struct range *ranges;
	size_t range_count, range_capacity;
	uint32_t steps; /* DIEs and ranges */
	int rc;
};

struct sweep { /* over the ranges, by address */
	struct crit_function_index *index;
	const struct range *ranges;
	uint32_t *open; /* numbers of ranges that began and may not have ended */
	size_t open_count;
};

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* May functions lie in it? */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return is_function(tag);
	}
}

static bool may_step(struct walk *walk)
{
	if (walk->steps++ < STEPS_MAX)
		return true;
	walk->index->is_cut = true;
	return false;
}

static int add_ranges(struct walk *walk, Dwarf_Die *die, uint32_t function, uint32_t depth)
{
	Dwarf_Addr base;
	Dwarf_Addr begin;
	Dwarf_Addr end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0 && may_step(walk)) {
		if (begin >= end)
			continue;
		if (crit_array_grow(&walk->ranges, &walk->range_capacity, walk->range_count + 1,
				    sizeof(*walk->ranges)))
			return -ENOMEM;
		walk->ranges[walk->range_count++] = (struct range){ begin, end, function, depth };
	}
	return 0;
}

static int add_function(struct walk *walk, Dwarf_Die *die, uint32_t parent, uint32_t depth)
{
	struct crit_function_index *index = walk->index;

	if (crit_array_grow(&index->functions, &index->function_capacity, index->function_count + 1,
			    sizeof(*index->functions)))
		return -ENOMEM;
	index->functions[index->function_count] = (struct crit_function){
		.die = (uint32_t)(dwarf_dieoffset(die) - walk->unit_offset),
		.parent = parent,
		.name = CRIT_NONE,
		.is_inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine,
	};
	return add_ranges(walk, die, (uint32_t)index->function_count++, depth);
}

static void descend(struct walk *walk, Dwarf_Die *parent_die, uint32_t parent, uint32_t depth);

/* What has neither code nor functions with code in it is forgotten again: declarations. */
static void visit_function(struct walk *walk, Dwarf_Die *die, uint32_t parent, uint32_t depth)
{
	const size_t functions_before = walk->index->function_count;
	const size_t ranges_before = walk->range_count;

	walk->rc = add_function(walk, die, parent, depth);
	if (!walk->rc)
		descend(walk, die, (uint32_t)functions_before, depth + 1);
	if (walk->range_count == ranges_before)
		walk->index->function_count = functions_before;
}

static void descend(struct walk *walk, Dwarf_Die *parent_die, uint32_t parent, uint32_t depth)
{
	Dwarf_Die child;
	Dwarf_Die next = { 0 };
	int rest = 1;

	if (depth < DEPTH_MAX)
		rest = dwarf_child(parent_die, &child);
	else
		walk->index->is_cut = walk->index->is_cut || dwarf_haschildren(parent_die);
	while (rest == 0 && !walk->rc && may_step(walk)) {
		const int tag = dwarf_tag(&child);

		if (is_function(tag))
			visit_function(walk, &child, parent, depth);
		else if (is_scope(tag))
			descend(walk, &child, parent, depth + 1);
		rest = dwarf_siblingof(&child, &next);
		if (rest == 0 && (uintptr_t)next.addr <= (uintptr_t)child.addr)
			break; /* round in a circle */
		child = next;
	}
}

/* What shall win comes last. */
static int compare_range(const void *a, const void *b)
{
	const struct range *left = a;
	const struct range *right = b;
	int order = crit_by_number(left->begin, right->begin);

	if (!order)
		order = crit_by_number(left->depth, right->depth);
	return order ? order : crit_by_number(right->function, left->function);
}

static void begin_stretch(struct crit_function_index *index, uint64_t begin, uint32_t owner)
{
	size_t count = index->stretch_count;

	if (count && index->begins[count - 1] == begin)
		count--;
	if (count && index->owners[count - 1] == owner) {
		index->stretch_count = count;
		return;
	}
	index->begins[count] = begin;
	index->owners[count] = owner;
	index->stretch_count = count + 1;
}

static const struct range *innermost(const struct sweep *sweep)
{
	return sweep->open_count ? &sweep->ranges[sweep->open[sweep->open_count - 1]] : NULL;
}

/* Ends the ranges that end up to there. */
static void close_ranges(struct sweep *sweep, uint64_t up_to)
{
	const struct range *range = innermost(sweep);

	while (range && range->end <= up_to) {
		const uint64_t end = range->end;

		while (range && range->end <= end) {
			sweep->open_count--;
			range = innermost(sweep);
		}
		begin_stretch(sweep->index, end, range ? range->function : CRIT_NONE);
	}
}

static int lay_stretches(struct crit_function_index *index, const struct range *ranges,
			 size_t count)
{
	struct sweep sweep = { .index = index, .ranges = ranges };

	index->begins = calloc(2 * count, sizeof(*index->begins));
	index->owners = calloc(2 * count, sizeof(*index->owners));
	sweep.open = calloc(count, sizeof(uint32_t));
	if (!index->begins || !index->owners || !sweep.open) {
		free(sweep.open);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		close_ranges(&sweep, ranges[i].begin);
		sweep.open[sweep.open_count++] = (uint32_t)i;
		begin_stretch(index, ranges[i].begin, ranges[i].function);
	}
	close_ranges(&sweep, UINT64_MAX);
	free(sweep.open);
	return 0;
}

/* Gives back what was allocated ahead. */
static void *shrink(void *array, size_t bytes)
{
	void *fitting = bytes ? realloc(array, bytes) : NULL;

	return fitting ? fitting : array;
}

int crit_function_index_init(struct crit_function_index *index, Dwarf_Die *unit)
{
	struct walk walk = { .index = index,
			     .unit_offset = dwarf_dieoffset(unit) - dwarf_cuoffset(unit) };

	descend(&walk, unit, CRIT_NONE, 0);
	if (!walk.rc && walk.range_count) {
		qsort(walk.ranges, walk.range_count, sizeof(*walk.ranges), compare_range);
		walk.rc = lay_stretches(index, walk.ranges, walk.range_count);
	}
	free(walk.ranges);
	if (walk.rc)
		return walk.rc;
	index->functions =
		shrink(index->functions, index->function_count * sizeof(*index->functions));
	index->function_capacity = index->function_count;
	index->begins = shrink(index->begins, index->stretch_count * sizeof(*index->begins));
	index->owners = shrink(index->owners, index->stretch_count * sizeof(*index->owners));
	return 0;
}

void crit_function_index_fini(struct crit_function_index *index)
{
	free(index->functions);
	free(index->begins);
	free(index->owners);
	memset(index, 0, sizeof(*index));
}

uint32_t crit_function_index_find(const struct crit_function_index *index, uint64_t address)
{
	size_t low = 0;
	size_t high = index->stretch_count;

	while (low < high) { /* the first one that begins above the address */
		size_t middle = low + (high - low) / 2;

		if (index->begins[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? index->owners[low - 1] : CRIT_NONE;
}
