// SPDX-License-Identifier: BSD-3-Clause
// The symbol of an address is the one that libdw has for it, at the edges of symbols of real files.
#include "analysis/symbols/function_symbols.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

#define MOST 4000 /* symbols of a file whose edges are tried: libdw goes through all for each */

// NOLINTBEGIN(readability-function-size): the signature is the library's
static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			      const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)path;
	(void)link;
	(void)crc;
	(void)ret_path;
	return -1;
}
// NOLINTEND(readability-function-size)

static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
					  .find_debuginfo = find_no_debug_file,
					  .section_address = dwfl_offline_section_address };

static const char *libdw_has(Dwfl_Module *module, uint64_t address, uint64_t *ret_offset)
{
	GElf_Sym symbol = { 0 };
	GElf_Off offset = 0;
	const char *name =
		dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	const unsigned int type = GELF_ST_TYPE(symbol.st_info);

	if (!name || !name[0] || (type != STT_FUNC && type != STT_GNU_IFUNC))
		return NULL;
	*ret_offset = offset;
	return name;
}

static bool is_same(Dwfl_Module *module, struct crit_function_symbols *symbols, uint64_t address)
{
	uint64_t wanted_offset = 0, offset = 0;
	const char *wanted = libdw_has(module, address, &wanted_offset);
	const char *found = crit_function_symbols_find(symbols, address, &offset);

	return CHECK_MSG((wanted && found) ? strcmp(wanted, found) == 0 && wanted_offset == offset
					   : wanted == found,
			 "%#llx: %s+%#llx, not %s+%#llx", (unsigned long long)address,
			 found ? found : "none", (unsigned long long)offset,
			 wanted ? wanted : "none", (unsigned long long)wanted_offset);
}

static void try_edges(Dwfl_Module *module, int count)
{
	struct crit_function_symbols symbols;
	int step = count / MOST + 1, named = 0;

	crit_function_symbols_init(&symbols, module);
	for (int i = 1; i < count; i += step) {
		GElf_Sym symbol;
		GElf_Addr begin;

		if (!dwfl_module_getsym_info(module, i, &symbol, &begin, NULL, NULL, NULL))
			continue;
		named += is_same(module, &symbols, begin);
		(void)is_same(module, &symbols, begin - 1);
		(void)is_same(module, &symbols, begin + symbol.st_size / 2);
		(void)is_same(module, &symbols, begin + symbol.st_size - 1);
		(void)is_same(module, &symbols, begin + symbol.st_size);
	}
	(void)is_same(module, &symbols, 0);
	(void)is_same(module, &symbols, UINT64_MAX);
	CHECK(named > 0);
	crit_function_symbols_fini(&symbols);
}

static int try_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		      void *count)
{
	int symbols = dwfl_module_getsymtab(module);

	(void)user;
	(void)base;
	printf("%s: %d symbols\n", name, symbols);
	if (CHECK(symbols > 1))
		try_edges(module, symbols);
	++*(int *)count;
	return DWARF_CB_OK;
}

/* A file that the test has loaded: with local symbols or, as most libraries, without. */
static int try_file(struct dl_phdr_info *loaded, size_t size, void *tried)
{
	const char *path = loaded->dlpi_name[0] ? loaded->dlpi_name : "/proc/self/exe";
	Dwfl *session;

	(void)size;
	if (path[0] != '/') /* the kernel's */
		return 0;
	session = dwfl_begin(&callbacks);
	CHECK(dwfl_report_offline(session, path, path, -1) != NULL);
	CHECK_INT_EQ(dwfl_report_end(session, NULL, NULL), 0);
	CHECK_INT_EQ(dwfl_getmodules(session, try_module, tried, 0), 0);
	dwfl_end(session);
	return 0;
}

int main(void)
{
	int tried = 0;

	(void)dl_iterate_phdr(try_file, &tried);
	CHECK(tried >= 3); /* itself, libdw, the C library */
	return check_done();
}
