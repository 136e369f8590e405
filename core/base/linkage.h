/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether LD_PRELOAD works for a program, read from its file. */
#ifndef CRIT_LINKAGE_H
#define CRIT_LINKAGE_H

#include <stdbool.h>

enum crit_linkage {
	CRIT_LINKAGE_OPEN =
		0, /* a library can be preloaded; or not known: a script, no such file */
	CRIT_LINKAGE_STATIC = 1,
	CRIT_LINKAGE_SETID = 2, /* it runs as another user or group */
	CRIT_LINKAGE_CAPABLE = 3, /* its file has capabilities that its user lacks */
	CRIT_LINKAGE_MUSL = 4, /* its loader is musl's: the shims need glibc */
	CRIT_LINKAGE_FOREIGN = 5, /* 32-bit where we are 64-bit, or another machine's */
	CRIT_LINKAGE_COUNT
};

/*
 * Of an executable file, for the calling process's user.  Where the kernel would ignore set-user-ID
 * bits and capabilities (nosuid, no_new_privs), so does this.  Errors: none.
 */
enum crit_linkage crit_linkage_of(const char *path);

/*
 * Of a command line, the first word that is the path (with a slash) of an executable file into
 * which nothing can be preloaded.  Range: words end with NULL.  Ownership: ret_name is one of them.
 */
enum crit_linkage crit_linkage_of_words(char *const *words, const char **ret_name);

/* It has more rights than its user, who may not observe it: the kernel half leaves it out, too. */
static inline bool crit_linkage_is_privileged(enum crit_linkage linkage)
{
	return linkage == CRIT_LINKAGE_SETID || linkage == CRIT_LINKAGE_CAPABLE;
}

/* "is statically linked", …: behind the program's name; and what to do, an imperative. */
const char *crit_linkage_text(enum crit_linkage linkage);
const char *crit_linkage_fix(enum crit_linkage linkage);

#endif
