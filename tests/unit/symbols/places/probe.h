/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells where it was called from; places.c builds the rest. */
#ifndef CRIT_TESTS_PROBE_H
#define CRIT_TESTS_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

int probe(const char *name); /* prints "site NAME ADDRESS" */
int probe_library(void);

#ifdef __cplusplus
}
#endif

#endif
