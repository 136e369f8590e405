/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties that crit gives its archives besides those of OTF2. */
#ifndef CRIT_OTF2_PROPERTIES_H
#define CRIT_OTF2_PROPERTIES_H

#define CRIT_OTF2_ANALYSIS "CRIT::ANALYSIS" /* run (hexadecimal) and window in ns */
#define CRIT_OTF2_HAS_LOSSES "CRIT::HAS_LOSSES" /* events are missing */
#define CRIT_OTF2_IS_CUT "CRIT::ENDS_BEFORE_WINDOW"
#define CRIT_OTF2_HAS_ALL "CRIT::HAS_ALL" /* service threads and processes without a rank too */
#define CRIT_OTF2_HAS_JOINED "CRIT::HAS_JOINED_REGIONS" /* too many constructs: some by kind */

#endif
