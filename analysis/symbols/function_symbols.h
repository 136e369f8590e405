/* SPDX-License-Identifier: BSD-3-Clause */
/* The function symbol of an address, by a search in a sorted copy of the symbol table. */
#ifndef CRIT_FUNCTION_SYMBOLS_H
#define CRIT_FUNCTION_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_symbol_range; /* what a symbol is of */

struct crit_function_symbols {
	Dwfl_Module *module; /* borrowed */
	struct crit_symbol_range *ranges; /* by where they begin */
	uint64_t *ends; /* the last end of all ranges up to each */
	size_t count;
	bool has_read; /* the table */
};

/* Range: zeroed memory.  Ownership: fini frees. */
void crit_function_symbols_init(struct crit_function_symbols *symbols, Dwfl_Module *module);
void crit_function_symbols_fini(struct crit_function_symbols *symbols);

/*
 * The name that dwfl_module_addrinfo has for an address of the session, if it is a function's, and
 * the address's distance from its begin; NULL: none.  Ownership: the name is the module's.
 * Cost: the first time the whole table is read and sorted, then a search; but as libdw, which goes
 * through the whole table each time, where symbols lie in others or have no size.
 */
const char *crit_function_symbols_find(struct crit_function_symbols *symbols, uint64_t address,
				       uint64_t *ret_offset);

#endif
