// SPDX-License-Identifier: BSD-3-Clause
// Frees the list.
#include "otf2/verify/entered.h"

#include <stdlib.h>

void crit_otf2_entered_fini(struct crit_otf2_entered_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->rows[i].name);
		free(list->rows[i].file);
	}
	free(list->rows);
	*list = (struct crit_otf2_entered_list){ 0 };
}
