// SPDX-License-Identifier: BSD-3-Clause
// Strokes of damage, some of them on the edges of what checks look for.
#include "tests/fuzz/mutate.h"

#include <stdint.h>
#include <string.h>

/* Values that sit on the edges of checks. */
static void place_edge(struct crit_random *random, unsigned char *at, size_t room)
{
	static const uint64_t edges[] = { 0,          1,          UINT64_MAX, UINT64_MAX - 1,
					  1ull << 31, 1ull << 32, 1ull << 62, 1ull << 63,
					  0xffff,     0x7fffffff, 0xffffffff };
	uint64_t edge = edges[crit_random_below(random, sizeof(edges) / sizeof(edges[0]))];
	size_t width = (size_t)1 << crit_random_below(random, 4);

	memcpy(at, &edge, width < room ? width : room);
}

void crit_mutate(struct crit_random *random, struct input *input)
{
	size_t at = (size_t)crit_random_below(random, input->length);
	size_t room = input->length - at;
	size_t span = 1 + (size_t)crit_random_below(random, room < 300 ? room : 300);
	size_t from = (size_t)crit_random_below(random, input->length - span + 1);

	switch (crit_random_below(random, 6)) {
	case 0:
		input->bytes[at] ^= (unsigned char)(1u << crit_random_below(random, 8));
		break;
	case 1:
		input->bytes[at] = (unsigned char)crit_random_next(random);
		break;
	case 2:
		place_edge(random, input->bytes + at, room);
		break;
	case 3:
		place_edge(random, input->bytes + (at & ~(size_t)7), room);
		break;
	case 4:
		memmove(input->bytes + at, input->bytes + from, span);
		break;
	default:
		if (crit_random_is(random, 20))
			input->length = at + 1;
		break;
	}
}
