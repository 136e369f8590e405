/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a small archive back through libotf2, each location as a line of words. */
#ifndef CRIT_TESTS_OTF2_HEARD_H
#define CRIT_TESTS_OTF2_HEARD_H

#include <otf2/otf2.h>

#define OTF2_HEARD_LOCATIONS 4 /* three threads of rank 0, one of rank 1 */
#define OTF2_HEARD_REGIONS 256
#define OTF2_HEARD_BYTES 2048

struct otf2_heard {
	char *strings[256];
	char regions[OTF2_HEARD_REGIONS][64]; /* names */
	unsigned int roles[OTF2_HEARD_REGIONS]; /* role << 8 | paradigm */
	uint32_t comm_groups[64];
	char groups[64][64]; /* of OpenMP: members */
	char texts[OTF2_HEARD_LOCATIONS][OTF2_HEARD_BYTES];
};

/* Ownership: the caller closes the reader, and frees what was heard. */
OTF2_Reader *otf2_heard_read(struct otf2_heard *heard, const char *directory);
void otf2_heard_fini(struct otf2_heard *heard);

#endif
