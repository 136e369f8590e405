// SPDX-License-Identifier: BSD-3-Clause
// Resolves the wrapper of each Fortran name at its first call.
//
// A Fortran library converts the arguments and makes the C call of the same name; the wrappers of
// C see that one, but its caller is the library.  So a Fortran name is wrapped as well, for its
// return address: the same arguments go to the next symbol of the same name, unread but for the
// flag of a poll call, and the C call inside is no second call.  Calls that begin and end the
// window are announced only, for their C wrapper has more to do than to open a span.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "core/base/call.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_span.h"
#include "pmpi/fortran.h"
#include "pmpi/resolve.h"

#define NAME_BYTES 64
#define PATH_BYTES 4096
#define OBJECTS_MAX 64 /* libraries of an MPI in one process that are looked at */

enum crit_form { /* FORMS of pmpi/generate_fortran.py; for type(c_ptr) + FORM_COUNT */
	FORM_UNDERSCORE = 0,
	FORM_PLAIN = 1,
	FORM_TWO_UNDERSCORES = 2,
	FORM_UPPER = 3,
	FORM_F08 = 4,
	FORM_F08TS = 5,
	FORM_F08_LARGE = 6,
	FORM_F08TS_LARGE = 7,
	FORM_COUNT = 8
};

static const char *const suffixes[FORM_COUNT] = {
	"_", "", "__", "", "_f08_", "_f08ts_", "_f08_large_", "_f08ts_large_"
};

static const struct row {
	uint16_t call;
	uint8_t span_class;
	uint8_t form;
	uint8_t flag;
} rows[] = {
#include "fortran_calls.inc"
};

_Static_assert(sizeof(rows) / sizeof(*rows) <= CRIT_PMPI_FORTRAN_PLACES, "places");

__attribute__((visibility(
	"hidden"))) struct crit_pmpi_fortran crit_pmpi_fortran[sizeof(rows) / sizeof(*rows)];
extern __attribute__((visibility("hidden"))) char crit_pmpi_fortran_stubs[];

/* Not those of the C library: in a Turkish locale they leave some letters alone. */
static char in_case(char letter, bool is_upper)
{
	const char first = is_upper ? 'a' : 'A';

	return letter >= first && letter < first + 26 ? (char)(letter ^ ('a' ^ 'A')) : letter;
}

static void write_symbol(const struct row *row, char ret_symbol[NAME_BYTES])
{
	const enum crit_form form = row->form % FORM_COUNT;
	const char *name = crit_pmpi_c_name(row->call);
	size_t length = strlen(name);

	if (form >= FORM_F08_LARGE)
		length -= strlen("_c");
	(void)snprintf(ret_symbol, NAME_BYTES, "mpi_%.*s%s%s", (int)length, name,
		       row->form >= FORM_COUNT ? "_cptr" : "", suffixes[form]);
	for (char *at = ret_symbol; *at; at++)
		*at = in_case(*at, form == FORM_UPPER);
}

struct library_search { /* the path of the nth library of an MPI */
	unsigned int nth;
	char path[PATH_BYTES];
};

static int take_nth(struct dl_phdr_info *info, size_t size, void *search_of)
{
	struct library_search *search = search_of;

	(void)size;
	if (!crit_pmpi_is_of_mpi(info->dlpi_name) || search->nth-- > 0)
		return 0;
	(void)snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

static void *find_in(const char *path, const char *symbol)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, symbol) : NULL;

	if (handle && !found)
		(void)dlclose(handle);
	return found; /* and the library stays loaded */
}

/*
 * What came with RTLD_LOCAL is not next to us: the caller's own scope has it, which may be a
 * plug-in with a function of that name, or else a library of MPI.
 */
static void *find_local(const char *symbol, const void *site)
{
	struct library_search search;
	Dl_info caller;
	void *found = dladdr(site, &caller) ? find_in(caller.dli_fname, symbol) : NULL;

	for (unsigned int nth = 0; !found && nth < OBJECTS_MAX; nth++) {
		search.nth = nth;
		if (!dl_iterate_phdr(take_nth, &search))
			return NULL;
		found = find_in(search.path, symbol);
	}
	return found;
}

/* Nobody has such a function, so nobody can be called; without us the loader would say so. */
static void do_nothing(void)
{
}

/*
 * A name without underscore at its end may be a program's own: it is MPI's where an MPI has it.
 * With one it may also be another tool's, which will call MPI's.
 */
static bool is_wrapped(const char *symbol, const void *next, uint32_t number)
{
	return (crit_pmpi_is_in_mpi(next) || symbol[strlen(symbol) - 1] == '_') &&
	       crit_pmpi_is_recording(number);
}

void *crit_pmpi_fortran_next(const char *symbol, const void *site)
{
	void *next = dlsym(RTLD_NEXT, symbol);

	if (!next)
		next = find_local(symbol, site);
	return next ? next : (void *)(uintptr_t)do_nothing;
}

void *crit_pmpi_fortran_resolve(uint32_t place, const void *site)
{
	struct crit_pmpi_fortran *call = &crit_pmpi_fortran[place];
	const struct row *row = &rows[place];
	const bool is_loaded = crit_pmpi_is_loaded();
	char symbol[NAME_BYTES];
	void *next;

	write_symbol(row, symbol);
	next = crit_pmpi_fortran_next(symbol, site);
	if (next == (void *)(uintptr_t)do_nothing || !is_loaded)
		return next;
	call->flag = row->flag;
	call->is_announced = crit_call_is_window(row->call);
	if (is_wrapped(symbol, next, row->call) && crit_shim_wants(row->call))
		call->what = CRIT_SHIM_WHAT(row->call, row->span_class) | CRIT_SHIM_FORTRAN;
	__atomic_store_n(&call->next, next, __ATOMIC_RELEASE);
	return call->what ? &crit_pmpi_fortran_stubs[CRIT_PMPI_STUB_BYTES * place] : next;
}

bool crit_pmpi_fortran_enter(const struct crit_pmpi_fortran *call, const void *frame)
{
	const void *site = ((void *const *)frame)[1];

	if (call->is_announced)
		return crit_shim_announce(frame);
	if (call->flag)
		return crit_shim_poll_enter(call->what, frame, site);
	return crit_shim_enter(call->what, frame, site);
}

void crit_pmpi_fortran_leave(const struct crit_pmpi_fortran *call, const int32_t *const *arguments)
{
	if (call->is_announced)
		crit_shim_announce_end();
	else if (call->flag)
		crit_shim_poll_leave(*arguments[call->flag] != 0);
	else
		crit_shim_leave();
}
