/* SPDX-License-Identifier: BSD-3-Clause */
/* In main of programs that are stepped: between the first mark and the second. */
#ifndef CRIT_TESTS_MARKS_H
#define CRIT_TESTS_MARKS_H

#define STEPPER_MARK() __asm__ volatile("int3")

#endif
