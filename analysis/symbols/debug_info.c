// SPDX-License-Identifier: BSD-3-Clause
// Units are found by a table of our own: clang writes no .debug_aranges, and libdw looks nowhere
// else.  A unit's functions are indexed when it is first asked for, and named when they are.
#include "analysis/symbols/debug_info.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/demangle/function_name.h"

#define UNITS_MAX (1u << 22)
#define RANGES_MAX (1u << 24)
#define FUNCTIONS_MAX (1u << 24) /* of a file; units beyond have lines only */
#define OVERLAPS_MAX 256

static int add_range(struct crit_debug_info *info, uint64_t begin, uint64_t end)
{
	if (begin >= end || info->range_count >= RANGES_MAX)
		return 0;
	if (crit_array_grow(&info->ranges, &info->range_capacity, info->range_count + 1,
			    sizeof(*info->ranges)))
		return -1;
	info->ranges[info->range_count++] = (struct crit_debug_range){
		.begin = begin, .end = end, .unit = (uint32_t)info->unit_count
	};
	return 0;
}

static int add_unit(struct crit_debug_info *info, Dwarf_Die *die, const Dwarf_Die *split)
{
	size_t ranges_before = info->range_count;
	Dwarf_Addr base;
	Dwarf_Addr begin;
	Dwarf_Addr end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0)
		if (add_range(info, begin, end))
			return -1;
	if (info->range_count == ranges_before)
		return 0;
	if (crit_array_grow(&info->units, &info->unit_capacity, info->unit_count + 1,
			    sizeof(*info->units)))
		return -1;
	info->units[info->unit_count++] =
		(struct crit_debug_unit){ .die = *die, .split = split ? *split : *die };
	return 0;
}

static int compare_range(const void *a, const void *b)
{
	const struct crit_debug_range *left = a;
	const struct crit_debug_range *right = b;

	return (left->begin > right->begin) - (left->begin < right->begin);
}

int crit_debug_info_init(struct crit_debug_info *info, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	Dwarf_Die split;
	uint8_t type;
	int rc = 0;

	while (!rc && info->unit_count < UNITS_MAX &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
		rc = add_unit(info, &die, type == DW_UT_skeleton && split.addr ? &split : NULL);
	if (info->range_count)
		qsort(info->ranges, info->range_count, sizeof(*info->ranges), compare_range);
	for (size_t i = 0; i < info->range_count; i++) {
		struct crit_debug_range *range = &info->ranges[i];

		range->end_max = i && range[-1].end_max > range->end ? range[-1].end_max
								     : range->end;
	}
	return rc ? -ENOMEM : 0;
}

void crit_debug_info_fini(struct crit_debug_info *info)
{
	for (size_t i = 0; i < info->unit_count; i++)
		crit_function_index_fini(&info->units[i].index);
	for (size_t i = 0; i < info->name_count; i++)
		free(info->names[i].function);
	free(info->names);
	free(info->units);
	free(info->ranges);
	memset(info, 0, sizeof(*info));
}

/* The last range to begin: what linkers leave of discarded functions begins at 0. */
static struct crit_debug_unit *find_unit(const struct crit_debug_info *info, uint64_t address)
{
	size_t low = 0;
	size_t high = info->range_count;
	size_t seen = 0;

	while (low < high) { /* the first one that begins above the address */
		size_t middle = low + (high - low) / 2;

		if (info->ranges[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- && info->ranges[low].end_max > address && seen++ < OVERLAPS_MAX)
		if (info->ranges[low].end > address)
			return &info->units[info->ranges[low].unit];
	return NULL;
}

static struct crit_function_index *index_of(struct crit_debug_info *info,
					    struct crit_debug_unit *unit)
{
	if (!unit->has_index && info->function_count < FUNCTIONS_MAX) {
		if (crit_function_index_init(&unit->index, &unit->split))
			crit_function_index_fini(&unit->index); /* its lines remain */
		info->function_count += unit->index.function_count;
	}
	unit->has_index = true;
	return &unit->index;
}

static bool die_of(struct crit_debug_unit *unit, uint32_t function, Dwarf_Die *ret_die)
{
	const Dwarf_Off begin = dwarf_dieoffset(&unit->split) - dwarf_cuoffset(&unit->split);

	return dwarf_offdie(dwarf_cu_getdwarf(unit->split.cu),
			    begin + unit->index.functions[function].die, ret_die);
}

/*
 * The function of the source that an outlined one is part of: gcc puts it there, clang leaves
 * nothing but the line of the construct.
 */
static Dwarf_Die source_of(struct crit_debug_unit *unit, uint32_t function, Dwarf_Die die)
{
	const struct crit_function *functions = unit->index.functions;
	Dwarf_Die source;

	if (!crit_function_is_outlined(&die))
		return die;
	while ((function = functions[function].parent) != CRIT_NONE)
		if (!functions[function].is_inlined && die_of(unit, function, &source) &&
		    !crit_function_is_outlined(&source))
			return source;
	return crit_function_before(&unit->split, &die, &source) ? source : die;
}

static void read_call(struct crit_debug_unit *unit, Dwarf_Die *die, struct crit_debug_name *name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file;
	Dwarf_Word line;
	Dwarf_Files *files;
	size_t file_count;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) ||
	    dwarf_getsrcfiles(&unit->split, &files, &file_count) || line > INT32_MAX)
		return;
	name->call_file = dwarf_filesrc(files, file, NULL, NULL);
	name->call_line = name->call_file ? (uint32_t)line : 0;
}

/* Where the code of a construct begins, of its main part where it has two; 0: it is none's. */
static uint64_t directive_of(Dwarf_Die *die)
{
	Dwarf_Addr base;
	Dwarf_Addr begin;
	Dwarf_Addr end;

	if (!crit_function_is_outlined(die) || dwarf_tag(die) != DW_TAG_subprogram)
		return 0;
	return dwarf_ranges(die, 0, &base, &begin, &end) > 0 ? begin : 0;
}

/* NULL: out of memory.  Valid until the next one is asked for. */
static const struct crit_debug_name *name_of(struct crit_debug_info *info,
					     struct crit_debug_unit *unit, uint32_t number)
{
	struct crit_function *function = &unit->index.functions[number];
	struct crit_debug_name *name;
	Dwarf_Die die;

	if (function->name != CRIT_NONE)
		return &info->names[function->name];
	if (!die_of(unit, number, &die) ||
	    crit_array_grow(&info->names, &info->name_capacity, info->name_count + 1,
			    sizeof(*info->names)))
		return NULL;
	name = &info->names[info->name_count];
	if (function->is_inlined)
		read_call(unit, &die, name);
	name->directive = directive_of(&die);
	die = source_of(unit, number, die);
	name->source = die.addr;
	name->function = crit_function_name(&die);
	function->name = (uint32_t)info->name_count++;
	return name;
}

static void add_frame(struct crit_debug_chain *chain, struct crit_debug_frame frame)
{
	if (chain->frame_count < CRIT_INLINED_MAX)
		chain->frame_count++;
	else
		chain->cut_count++;
	chain->frames[chain->frame_count - 1] = frame;
}

static void set_line(struct crit_debug_frame *place, Dwarf_Line *line)
{
	int number = 0;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return;
	place->file = dwarf_linesrc(line, NULL, NULL);
	place->line = place->file ? (uint32_t)number : 0;
}

static size_t first_row(Dwarf_Lines *lines, size_t count, uint64_t address)
{
	size_t low = 0;
	size_t high = count;
	Dwarf_Addr row;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &row) || row >= address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * The row a function begins with, of those at its address: libdw finds the last one.  What the
 * function before left there begins no statement.
 */
static Dwarf_Line *row_of_begin(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Lines *lines;
	Dwarf_Line *line;
	size_t count;
	Dwarf_Addr row;
	bool is_end = false;
	bool begins = false;

	if (dwarf_getsrclines(unit, &lines, &count))
		return NULL;
	for (size_t i = first_row(lines, count, address); i < count; i++) {
		line = dwarf_onesrcline(lines, i);
		if (dwarf_lineaddr(line, &row) || row != address ||
		    dwarf_lineendsequence(line, &is_end) || dwarf_linebeginstatement(line, &begins))
			break;
		if (begins && !is_end)
			return line;
	}
	return dwarf_getsrc_die(unit, address);
}

/*
 * The construct whose code begins at the address, CRIT_NONE none.  What compilers make a function
 * of begins with the directive's line, at the same address as lines of its first statement and of
 * functions that were inlined there.
 */
static uint32_t find_directive(struct crit_debug_info *info, struct crit_debug_unit *unit,
			       uint64_t address)
{
	const struct crit_function_index *index = index_of(info, unit);
	uint32_t function = crit_function_index_find(index, address);
	const struct crit_debug_name *name;

	while (function != CRIT_NONE && index->functions[function].is_inlined)
		function = index->functions[function].parent;
	name = function != CRIT_NONE ? name_of(info, unit, function) : NULL;
	return name && name->directive && name->directive == address ? function : CRIT_NONE;
}

/* From the innermost function to the one with code of its own. */
static void follow(struct crit_debug_info *info, struct crit_debug_unit *unit, uint32_t function,
		   struct crit_debug_frame place, struct crit_debug_chain *chain)
{
	const struct crit_function_index *index = &unit->index;
	const void *inner = NULL;

	while (function != CRIT_NONE) {
		const struct crit_debug_name *name = name_of(info, unit, function);

		if (!name)
			break;
		place.function = name->function;
		if (name->source != inner) /* else part of the same by OpenMP */
			add_frame(chain, place);
		if (!index->functions[function].is_inlined)
			break;
		inner = name->source;
		place.file = name->call_file;
		place.line = name->call_line;
		function = index->functions[function].parent;
	}
	if (!chain->frame_count && place.line)
		add_frame(chain, place);
}

void crit_debug_info_find(struct crit_debug_info *info, uint64_t address,
			  struct crit_debug_chain *ret_chain)
{
	struct crit_debug_unit *unit = find_unit(info, address);
	struct crit_debug_frame place = { 0 };
	Dwarf_Attribute attribute;
	uint32_t function;

	ret_chain->frame_count = 0;
	ret_chain->cut_count = 0;
	ret_chain->directory = NULL;
	if (!unit)
		return;
	function = find_directive(info, unit, address);
	set_line(&place, function != CRIT_NONE ? row_of_begin(&unit->die, address)
					       : dwarf_getsrc_die(&unit->die, address));
	if (function == CRIT_NONE)
		function = crit_function_index_find(&unit->index, address);
	follow(info, unit, function, place, ret_chain);
	ret_chain->directory = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
}
