/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions of Rust: its first mangling is that of C++, but for some characters. */
#ifndef CRIT_RUST_NAME_H
#define CRIT_RUST_NAME_H

/*
 * Makes of a name that was demangled as of C++ what the source has, if it is one of Rust: without
 * the hash at its end, "$LT$T$u20$as$u20$core..Trait$GT$" as "<T as core::Trait>".  In place.
 */
void crit_rust_name(char *name);

#endif
