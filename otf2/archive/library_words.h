/* SPDX-License-Identifier: BSD-3-Clause */
/* Error messages of libotf2: kept for crit's own messages instead of printed. */
#ifndef CRIT_OTF2_LIBRARY_WORDS_H
#define CRIT_OTF2_LIBRARY_WORDS_H

#include "core/base/err.h"

/* Keeps the library's last message in ret_words; for one reader or writer at a time. */
void crit_otf2_listen(struct crit_err *ret_words);

/* The library prints its messages again. */
void crit_otf2_listen_no_more(void);

#endif
