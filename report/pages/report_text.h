/* SPDX-License-Identifier: BSD-3-Clause */
/* report.txt: a page of the figures that matter, then the tables. */
#ifndef CRIT_REPORT_TEXT_H
#define CRIT_REPORT_TEXT_H

#include <stdio.h>

#include "report/tables/summary.h"

struct crit_text_options {
	bool has_colour; /* bold and colours by escape sequences */
	bool is_first_screen_only;
	int columns; /* of the page, brought to 60 to 200; 0: 80 */
};

void crit_write_text(FILE *out, const struct crit_summary *summary,
		     const struct crit_text_options *options);

#endif
