// SPDX-License-Identifier: BSD-3-Clause
// Sorts the symbols of a module, and tells which of those at an address libdw takes.
#include "analysis/symbols/function_symbols.h"

#include <stdlib.h>

#include "core/base/array.h"

struct crit_symbol_range {
	uint64_t begin, end; /* equal: it has no size */
	uint32_t number; /* in the module's table */
	uint8_t strength; /* of its binding */
	bool is_local; /* these are looked at where there is no other one */
};

void crit_function_symbols_init(struct crit_function_symbols *symbols, Dwfl_Module *module)
{
	*symbols = (struct crit_function_symbols){ .module = module };
}

void crit_function_symbols_fini(struct crit_function_symbols *symbols)
{
	free(symbols->ranges);
	free(symbols->ends);
	*symbols = (struct crit_function_symbols){ 0 };
}

static uint8_t strength_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	default:
		return 0;
	}
}

/* False: it stands for no place in the code or data. */
static bool is_place(const GElf_Sym *symbol, const char *name)
{
	const unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return name && name[0] && symbol->st_shndx != SHN_UNDEF && type != STT_SECTION &&
	       type != STT_FILE && type != STT_TLS;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct crit_symbol_range *left = a, *right = b;
	int order = crit_by_number(left->begin, right->begin);

	return order ? order : crit_by_number(left->number, right->number);
}

/* Nothing where there is no memory: libdw is asked then. */
static void read_table(struct crit_function_symbols *symbols)
{
	const int all = dwfl_module_getsymtab(symbols->module);
	const int first_global = dwfl_module_getsymtab_first_global(symbols->module);
	uint64_t end = 0;

	symbols->has_read = true;
	if (all <= 0)
		return;
	symbols->ranges = calloc((size_t)all, sizeof(*symbols->ranges));
	symbols->ends = calloc((size_t)all, sizeof(*symbols->ends));
	if (!symbols->ranges || !symbols->ends)
		return;
	for (int i = 1; i < all; i++) {
		struct crit_symbol_range *range = &symbols->ranges[symbols->count];
		GElf_Sym symbol;
		GElf_Addr begin;

		if (!is_place(&symbol, dwfl_module_getsym_info(symbols->module, i, &symbol, &begin,
							       NULL, NULL, NULL)))
			continue;
		*range = (struct crit_symbol_range){ begin, begin + symbol.st_size, (uint32_t)i,
						     strength_of(&symbol), i < first_global };
		if (range->end < begin)
			range->end = UINT64_MAX;
		symbols->count++;
	}
	qsort(symbols->ranges, symbols->count, sizeof(*symbols->ranges), compare_ranges);
	for (size_t i = 0; i < symbols->count; i++) {
		end = symbols->ranges[i].end > end ? symbols->ranges[i].end : end;
		symbols->ends[i] = end;
	}
}

/* How many begin at an address, or before. */
static size_t count_up_to(const struct crit_function_symbols *symbols, uint64_t address)
{
	size_t from = 0, to = symbols->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (symbols->ranges[middle].begin <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Of those that begin at one place: the strongest one, of these the shortest, then the first. */
static bool is_better(const struct crit_symbol_range *range, const struct crit_symbol_range *best)
{
	if (range->strength != best->strength)
		return range->strength > best->strength;
	if (range->end != best->end)
		return range->end < best->end;
	return range->number < best->number;
}

struct candidates { /* that an address lies in: global ones, and local ones */
	const struct crit_symbol_range *best[2];
	bool are_nested[2]; /* they begin in several places */
};

static void take(struct candidates *found, const struct crit_symbol_range *range)
{
	const struct crit_symbol_range **best = &found->best[range->is_local];

	if (*best && (*best)->begin != range->begin)
		found->are_nested[range->is_local] = true;
	if (!*best || is_better(range, *best))
		*best = range;
}

/* Does a symbol without size stand between the last end before an address and that? */
static bool has_label(const struct crit_function_symbols *symbols, size_t count)
{
	for (size_t i = count; i > 0; i--) {
		const struct crit_symbol_range *range = &symbols->ranges[i - 1];

		if (range->begin < symbols->ends[count - 1])
			return false;
		if (range->begin == range->end)
			return true;
	}
	return false;
}

static const char *name_of(const GElf_Sym *symbol, const char *name)
{
	const unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return name && name[0] && (type == STT_FUNC || type == STT_GNU_IFUNC) ? name : NULL;
}

static const char *ask_libdw(const struct crit_function_symbols *symbols, uint64_t address,
			     uint64_t *ret_offset)
{
	GElf_Sym symbol = { 0 };
	GElf_Off offset = 0;
	const char *name =
		dwfl_module_addrinfo(symbols->module, address, &offset, &symbol, NULL, NULL, NULL);

	name = name_of(&symbol, name);
	if (name)
		*ret_offset = offset;
	return name;
}

const char *crit_function_symbols_find(struct crit_function_symbols *symbols, uint64_t address,
				       uint64_t *ret_offset)
{
	struct candidates found = { 0 };
	const struct crit_symbol_range *best;
	GElf_Sym symbol = { 0 };
	GElf_Addr begin;
	const char *name;
	size_t count;
	bool is_local;

	if (!symbols->has_read)
		read_table(symbols);
	if (!symbols->count)
		return ask_libdw(symbols, address, ret_offset);
	count = count_up_to(symbols, address);
	for (size_t i = count; i > 0 && symbols->ends[i - 1] > address; i--)
		if (symbols->ranges[i - 1].end > address)
			take(&found, &symbols->ranges[i - 1]);
	is_local = !found.best[false];
	best = found.best[is_local];
	if (best ? found.are_nested[is_local] : has_label(symbols, count))
		return ask_libdw(symbols, address, ret_offset);
	if (!best)
		return NULL;
	name = dwfl_module_getsym_info(symbols->module, (int)best->number, &symbol, &begin, NULL,
				       NULL, NULL);
	name = name_of(&symbol, name);
	if (name)
		*ret_offset = address - best->begin;
	return name;
}
