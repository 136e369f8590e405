/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of the installed parts of crit, relative to this program. */
#ifndef CRIT_INSTALLATION_H
#define CRIT_INSTALLATION_H

#include <stddef.h>

/* Absolute path of the program; its bare name, for messages, with -ENOENT. */
int crit_installation_program(const char *name, char *ret_path, size_t size);

/*
 * Absolute path of LLVM's OpenMP runtime: where the dynamic linker finds it, else of the newest
 * LLVM in /usr/lib.  Errors: -ENOENT.
 */
int crit_installation_libomp(char *ret_path, size_t size);

/* Absolute path of a library in ../lib, or where install puts libraries.  Errors: -ENOENT. */
int crit_installation_library(const char *name, char *ret_path, size_t size);

#endif
