// SPDX-License-Identifier: BSD-3-Clause
// Names of functions: demangled, with the scopes they were declared in.
#include "analysis/symbols/demangle/function_name.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/demangle/rust_name.h"

#define STEPS_MAX 10000000u
#define DEPTH_MAX 128
#define MANGLED_BYTES_MAX 16384
#define ORIGINS_MAX 8
#define GCC_CONSTRUCT "._omp_fn." /* behind the name of the function that has the directive */

/* libstdc++ has it, under the name every C++ ABI of ELF systems gives it. */
extern char *__cxa_demangle(const char *symbol, char *buffer, size_t *bytes, int *ret_status);

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
	if (name)
		crit_rust_name(name);
	return name ? name : strdup(symbol);
}

/* How much of a name is the source's. */
static size_t source_bytes(const char *name)
{
	const char *construct = strstr(name, GCC_CONSTRUCT);

	return construct && construct > name ? (size_t)(construct - name) : strlen(name);
}

char *crit_demangle_source(const char *symbol)
{
	char *source = strndup(symbol, source_bytes(symbol));
	char *name = source ? crit_demangle(source) : NULL;

	free(source);
	return name;
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
	const char *function = dwarf_diename(&die);
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
		(void)fwrite(function, 1, source_bytes(function), out);
	if (out && fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	free(scopes);
	return text;
}

/* gfortran names main's program and modules' procedures well; the linkage names are its own. */
char *crit_function_name(Dwarf_Die *die)
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
	return strncmp(name, "_Z", 2) != 0 && is_cxx(die) ? scoped_name(*die)
							  : crit_demangle_source(name);
}

bool crit_function_is_outlined(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name && (strncmp(name, ".omp", 4) == 0 || strstr(name, "omp_outlined") ||
			strstr(name, GCC_CONSTRUCT));
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
		    line <= wanted->line && !crit_function_is_outlined(&child) &&
		    has_file(&child, &file) && file == wanted->file) {
			wanted->best = line;
			wanted->die = child;
		} else if (tag == DW_TAG_namespace) {
			find_before(wanted, &child, depth + 1);
		}
		rest = dwarf_siblingof(&child, &child);
	}
}

bool crit_function_before(Dwarf_Die *unit, Dwarf_Die *outlined, Dwarf_Die *ret_function)
{
	struct function_search wanted = { 0 };

	if (!has_file(outlined, &wanted.file) || dwarf_decl_line(outlined, &wanted.line) != 0)
		return false;
	find_before(&wanted, unit, 0);
	if (wanted.best)
		*ret_function = wanted.die;
	return wanted.best > 0;
}
