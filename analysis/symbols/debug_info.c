// SPDX-License-Identifier: BSD-3-Clause
// Units are found by a table of our own: clang writes no .debug_aranges, and libdw looks nowhere
// else.  A function is found by walking the unit's tree down, since the innermost scope alone does
// not tell into which function it was inlined.
#include "analysis/symbols/debug_info.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX (1u << 22)
#define RANGES_MAX (1u << 24)
#define OVERLAPS_MAX 256
#define STEPS_MAX 10000000u
#define DEPTH_MAX 128
#define MANGLED_BYTES_MAX 16384
#define ORIGINS_MAX 8

/* libstdc++ has it, under the name every C++ ABI of ELF systems gives it. */
extern char *__cxa_demangle(const char *symbol, char *buffer, size_t *bytes, int *ret_status);

struct walk { /* down from a unit to an address */
	uint64_t address;
	uint32_t steps;
	bool is_deep; /* into functions and blocks the address is not in, and into classes */
	bool has_function;
	bool has_source;
	Dwarf_Die inner; /* innermost function, inlined or not */
	Dwarf_Die outer; /* the one with code of its own around it */
	Dwarf_Die source; /* where that is part of a function by OpenMP: the function */
};

struct function_search { /* for the function a line is in */
	Dwarf_Word file; /* its number in the unit */
	int line;
	int best; /* line of the last function to begin before, 0 none */
	uint32_t steps;
	Dwarf_Die die;
};

char *crit_demangle(const char *symbol)
{
	char *name = NULL;
	int rc = 0;

	if (strncmp(symbol, "_Z", 2) == 0 && strnlen(symbol, MANGLED_BYTES_MAX) < MANGLED_BYTES_MAX)
		name = __cxa_demangle(symbol, NULL, NULL, &rc);
	return name ? name : strdup(symbol);
}

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
	info->units[info->unit_count++] = (struct crit_debug_unit){ *die, split ? *split : *die };
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
	free(info->units);
	free(info->ranges);
	memset(info, 0, sizeof(*info));
}

/* The last range to begin: what linkers leave of discarded functions begins at 0. */
static const struct crit_debug_unit *find_unit(const struct crit_debug_info *info, uint64_t address)
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

/* May functions lie in it, wherever its own code is? */
static bool is_scope(const struct walk *walk, int tag)
{
	if (tag == DW_TAG_namespace || tag == DW_TAG_module)
		return true;
	return walk->is_deep && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
				 tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
				 tag == DW_TAG_union_type);
}

static bool is_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Compilers move the bodies of OpenMP's constructs into functions of their own. */
static bool is_outlined(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name && (strncmp(name, ".omp", 4) == 0 || strstr(name, "omp_outlined") ||
			strstr(name, "._omp_fn."));
}

static void note_function(struct walk *walk, const Dwarf_Die *die, int tag)
{
	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return;
	walk->inner = *die;
	if (tag == DW_TAG_subprogram)
		walk->outer = *die;
	walk->has_function = true;
}

/* True when the address is inside a child of parent. */
static bool descend(struct walk *walk, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die child;
	int rest = depth < DEPTH_MAX ? dwarf_child(parent, &child) : 1;

	while (rest == 0 && walk->steps++ < STEPS_MAX) {
		int tag = dwarf_tag(&child);
		bool is_in = is_code(tag) && dwarf_haspc(&child, walk->address) > 0;

		if (is_in) {
			note_function(walk, &child, tag);
			(void)descend(walk, &child, depth + 1); /* false: in none of its children */
			return true;
		}
		if (is_scope(walk, tag) && descend(walk, &child, depth + 1)) {
			if (tag == DW_TAG_subprogram && !walk->has_source && !is_outlined(&child)) {
				walk->source = child;
				walk->has_source = true;
			}
			return true;
		}
		rest = dwarf_siblingof(&child, &child);
	}
	return false;
}

/* libdw has no name for file 0, which clang counts from. */
static bool has_file(Dwarf_Die *die, Dwarf_Word *ret_file)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) &&
	       dwarf_formudata(&attribute, ret_file) == 0;
}

/* The last function of the file to begin before the line. */
static void find_before(struct function_search *wanted, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die child;
	int rest = depth < DEPTH_MAX ? dwarf_child(parent, &child) : 1;

	while (rest == 0 && wanted->steps++ < STEPS_MAX) {
		int tag = dwarf_tag(&child);
		Dwarf_Word file;
		int line;

		if (tag == DW_TAG_subprogram && !dwarf_hasattr(&child, DW_AT_declaration) &&
		    !dwarf_hasattr(&child, DW_AT_artificial) &&
		    dwarf_decl_line(&child, &line) == 0 && line > wanted->best &&
		    line <= wanted->line && !is_outlined(&child) && has_file(&child, &file) &&
		    file == wanted->file) {
			wanted->best = line;
			wanted->die = child;
		} else if (tag == DW_TAG_namespace) {
			find_before(wanted, &child, depth + 1);
		}
		rest = dwarf_siblingof(&child, &child);
	}
}

/*
 * The function of the source that an outlined one is part of: gcc puts it there, clang leaves
 * nothing but the line of the construct.
 */
static Dwarf_Die source_of(const struct walk *walk, Dwarf_Die *unit, Dwarf_Die die)
{
	struct function_search wanted = { 0 };

	if (!is_outlined(&die))
		return die;
	if (walk->has_source)
		return walk->source;
	if (!has_file(&die, &wanted.file) || dwarf_decl_line(&die, &wanted.line) != 0)
		return die;
	find_before(&wanted, unit, 0);
	return wanted.best ? wanted.die : die;
}

static bool is_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
}

/* Where the name was declared: what lies around it there belongs to it. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(&die, DW_AT_specification, &attribute))
			break;
		if (!dwarf_formref_die(&attribute, &origin))
			break;
		die = origin;
	}
	return die;
}

/* g++ gives no linkage name to what other files cannot call: scopes and name, joined by "::". */
static char *scoped_name(Dwarf_Die die)
{
	Dwarf_Die declaration = declaration_of(die);
	Dwarf_Die *scopes = NULL;
	int count = dwarf_getscopes_die(&declaration, &scopes);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	for (int i = count - 2; out && i > 0; i--) { /* the last one is the unit */
		const char *name = dwarf_diename(&scopes[i]);

		if (name)
			fprintf(out, "%s::", name);
		else if (dwarf_tag(&scopes[i]) == DW_TAG_namespace)
			(void)fputs("(anonymous namespace)::", out);
	}
	if (out)
		(void)fputs(dwarf_diename(&die), out);
	if (out && fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	free(scopes);
	return text;
}

/* gfortran names main's program and modules' procedures well; the linkage names are its own. */
static char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name || strncmp(name, "_Z", 2) != 0)
		name = dwarf_diename(die);
	if (!name || !name[0])
		return NULL;
	return strncmp(name, "_Z", 2) != 0 && is_cxx(die) ? scoped_name(*die) : crit_demangle(name);
}

static void find_function(struct crit_debug_unit unit, uint64_t address,
			  struct crit_debug_location *location)
{
	struct walk walk = { .address = address };
	Dwarf_Die inner;
	Dwarf_Die outer;

	if (!descend(&walk, &unit.split, 0)) {
		walk.is_deep = true;
		(void)descend(&walk, &unit.split, 0);
	}
	if (!walk.has_function)
		return;
	inner = source_of(&walk, &unit.split, walk.inner);
	location->function = name_of(&inner);
	if (!walk.outer.addr || walk.outer.addr == walk.inner.addr)
		return;
	outer = source_of(&walk, &unit.split, walk.outer);
	if (outer.addr != inner.addr)
		location->outer = name_of(&outer);
}

void crit_debug_info_find(const struct crit_debug_info *info, uint64_t address,
			  struct crit_debug_location *ret_place)
{
	const struct crit_debug_unit *unit = find_unit(info, address);
	Dwarf_Die die;
	Dwarf_Line *line;
	int number = 0;

	*ret_place = (struct crit_debug_location){ 0 };
	if (!unit)
		return;
	die = unit->die;
	line = dwarf_getsrc_die(&die, address);
	if (line && dwarf_lineno(line, &number) == 0 && number > 0) {
		ret_place->file = dwarf_linesrc(line, NULL, NULL);
		ret_place->line = ret_place->file ? (uint32_t)number : 0;
	}
	find_function(*unit, address, ret_place);
}
