/* SPDX-License-Identifier: BSD-3-Clause */
/* Shortens function names and source locations to a number of columns. */
#ifndef CRIT_LOCATION_FIT_H
#define CRIT_LOCATION_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/symbols/symbols.h"

/* The last component of a path. */
const char *crit_file_name(const char *path);

/* A text in so many columns; what is too long is cut in its middle: "reduce..domains". */
const char *crit_name_fit(const char *name, int columns, char *text, size_t text_bytes);

/*
 * A function by its bare name: "smooth" of "void ns::Solver<int>::smooth<2>(Grid&) const", and of
 * "__solver_MOD_smooth".  An operator keeps its class: "Halo::operator()".
 */
const char *crit_name_bare(const char *function, char *text, size_t text_bytes);

/* The same with its class or innermost namespace, where no line tells which it is. */
const char *crit_name_scoped(const char *function, char *text, size_t text_bytes);

/*
 * Is the function meant by a name?  Its own, whole or without arguments, with as much of its scope
 * as there is: "smooth", "Solver::smooth" and "ns::Solver::smooth" are names of the one above.
 */
bool crit_name_is(const char *function, const char *wanted);

/*
 * A place in so many columns, "smooth solver.hpp:134".  The function is cut first, then left out,
 * then the name of the file is cut; the line stays whole.
 */
const char *crit_location_fit(const struct crit_source_location *place, int columns, char *text,
			      size_t text_bytes);

#endif
