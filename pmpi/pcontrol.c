// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pcontrol(1, "name") begins a phase and MPI_Pcontrol(-1, "name") ends it; MPI leaves its
// meaning to tools.  Other levels, and these without a name, mean nothing here.  The call is
// handed on as it came.
//
// It is variadic, so whether there is a name is not said: what lies in its place is a name when it
// points to some text.
#include "pmpi/pcontrol.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/abi/abi_slot.h"
#include "core/base/line.h"
#include "core/shim/shim_construct.h"
#include "pmpi/fortran.h"
#include "pmpi/resolve.h"

#define NAME_BYTES (CRIT_REGION_NAME_MAX + 1)

/* As much of it as there is, without touching it: it may be no address. */
static size_t read_bytes(uint64_t address, size_t most, char *ret_bytes)
{
	const ssize_t read = process_vm_readv(getpid(), &(struct iovec){ ret_bytes, most }, 1,
					      &(struct iovec){ (void *)(uintptr_t)address, most },
					      1, 0);

	return read > 0 ? (size_t)read : 0;
}

static bool is_text(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if (crit_line_is_control(*name))
			return false;
	return true;
}

/* most: bytes the program says there are, or more. */
static bool read_name(uint64_t address, uint64_t most, char ret_name[NAME_BYTES])
{
	size_t length = most < CRIT_REGION_NAME_MAX ? (size_t)most : CRIT_REGION_NAME_MAX;

	length = read_bytes(address, length, ret_name);
	ret_name[length] = '\0';
	length = strlen(ret_name);
	while (length > 0 && ret_name[length - 1] == ' ')
		ret_name[--length] = '\0';
	return is_text(ret_name);
}

/* Fortran passes a text's length as one more argument; without a text it is anything. */
static bool has_fortran_name(const uint64_t *arguments, char ret_name[NAME_BYTES])
{
	const uint64_t length = arguments[2] & UINT32_MAX;

	return length <= 4096 && read_name(arguments[1], length, ret_name);
}

static void take_call(bool is_fortran, const uint64_t *arguments)
{
	const int level = is_fortran ? *(const int *)(uintptr_t)arguments[0] : (int)arguments[0];
	char name[NAME_BYTES];

	if (level != 1 && level != -1)
		return;
	if (!(is_fortran ? has_fortran_name(arguments, name)
			 : read_name(arguments[1], CRIT_REGION_NAME_MAX, name)))
		return;
	if (level == 1)
		crit_region_begin(name);
	else
		crit_region_end();
}

void *crit_pmpi_pcontrol(uint32_t form, const char *symbol, const void *site,
			 const uint64_t *arguments)
{
	static __thread const void *fortran_site __attribute__((tls_model("initial-exec")));
	const bool is_fortran = form > 0;

	/* Fortran's function calls that of C, or jumps there as if its caller did */
	if (is_fortran || (site != fortran_site && !crit_pmpi_is_in_mpi(site)))
		if (crit_pmpi_is_loaded() && crit_pmpi_is_recording(0))
			take_call(is_fortran, arguments);
	fortran_site = is_fortran ? site : NULL;
	return is_fortran ? crit_pmpi_fortran_next(symbol, site) : crit_pmpi_next("PMPI_Pcontrol");
}
