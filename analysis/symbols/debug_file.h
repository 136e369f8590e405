/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the separate file with the names and lines that were stripped from a program. */
#ifndef CRIT_DEBUG_FILE_H
#define CRIT_DEBUG_FILE_H

#include <stddef.h>
#include <stdint.h>

#define CRIT_BUILD_ID_BYTES 64 /* longest taken; linkers write 8 to 20 */

struct crit_debug_wanted {
	const char *module; /* path of the program or library */
	const unsigned char *build_id; /* NULL none */
	size_t build_id_bytes;
	const char *link; /* name in its .gnu_debuglink; NULL none */
	uint32_t link_crc; /* checksum of the linked file; what counts without a build id */
	const char *directories; /* searched before /usr/lib/debug; a:b:c, may be NULL */
};

/*
 * Looks where debuggers look: by build id in .build-id/ of each directory, then by link beside the
 * module, in .debug/ there, and below each directory.  A file that is not the module's own, by
 * build id or checksum, is no answer.  Nobody is asked over a network.
 * Ownership: the caller closes the descriptor and frees *ret_path.  Errors: -ENOENT.
 */
int crit_debug_file_open(const struct crit_debug_wanted *wanted, char **ret_path);

/* Opens a regular ELF file; FIFOs and devices are not opened.  Errors: -errno, -ENOEXEC. */
int crit_debug_file_open_elf(const char *path);

#endif
