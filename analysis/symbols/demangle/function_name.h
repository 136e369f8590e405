/* SPDX-License-Identifier: BSD-3-Clause */
/* What the source calls a function of the DWARF. */
#ifndef CRIT_FUNCTION_NAME_H
#define CRIT_FUNCTION_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Demangled; static functions of C++ with their scopes.  The caller frees; NULL: it has none. */
char *crit_function_name(Dwarf_Die *die);

/* A C++ name as in the source, all else as it is.  The caller frees; NULL: out of memory. */
char *crit_demangle(const char *symbol);

/* So, too, of the function that a construct of OpenMP is in, where GCC has made one of that. */
char *crit_demangle_source(const char *symbol);

/* Compilers move the bodies of OpenMP's constructs into functions of their own: is it one? */
bool crit_function_is_outlined(Dwarf_Die *die);

/*
 * The last function of the unit to begin before an outlined one in the same file, where nothing but
 * the line says what it is part of.  False: none.  Cost: the unit's DIEs, at most ten million.
 */
bool crit_function_before(Dwarf_Die *unit, Dwarf_Die *outlined, Dwarf_Die *ret_function);

#endif
