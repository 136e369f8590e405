// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/symbols/places/stripped.h"

static const void *volatile kept;

static void first(void);
static void second(void);
static void third(void);

/* Each names the other two, as what begins regions names their bodies. */
static __attribute__((noinline)) void first(void)
{
	kept = (const void *)&second;
	kept = (const void *)&third;
}

static __attribute__((noinline)) void second(void)
{
	kept = (const void *)&third;
	kept = (const void *)&first;
}

static __attribute__((noinline)) void third(void)
{
	kept = (const void *)&first;
	kept = (const void *)&second;
}

const void *stripped_returns(void)
{
	return kept;
}

void stripped_codes(const void *volatile codes[STRIPPED_CODES])
{
	codes[0] = (const void *)&first;
	codes[1] = (const void *)&second;
	codes[2] = (const void *)&third;
}
