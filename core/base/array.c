// SPDX-License-Identifier: BSD-3-Clause
// Growing arrays.
#include "core/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* There are arrays in each of many threads. */
#define FIRST_BYTES 256u

int crit_array_make_room(void *array, size_t *capacity, size_t need, size_t element_bytes)
{
	size_t wanted = *capacity ? *capacity * 2 : FIRST_BYTES / element_bytes;
	void *old;
	void *grown;

	if (wanted < need)
		wanted = need;
	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, wanted, element_bytes);
	if (!grown)
		return -ENOMEM;
	memset((char *)grown + *capacity * element_bytes, 0, (wanted - *capacity) * element_bytes);
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
