// SPDX-License-Identifier: BSD-3-Clause
// Names as Rust's compiler writes them, and what its source calls them.
#include <stdlib.h>

#include "analysis/symbols/demangle/function_name.h"
#include "tests/lib/check.h"

static const struct {
	const char *symbol, *name;
} rows[] = {
	{ "_ZN4farm6refine17h9c9dc7e7cddc642cE", "farm::refine" },
	{ "_ZN4farm4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	  "farm::main::{{closure}}" },
	{ "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h9c9dc7e7cddc642cE",
	  "<T as core::convert::Into<U>>::into" },
	{ "_ZN4core3ptr38drop_in_place$LT$$RF$$LP$i$C$j$RP$$GT$17h0000000000000000E",
	  "core::ptr::drop_in_place<&(i,j)>" },
	/* of C++, which a class named like a hash but for one thing stays */
	{ "_ZN4farm6refine16h9c9dc7e7cddc642E", "farm::refine::h9c9dc7e7cddc642" },
	{ "_ZN4farm6refine17H9c9dc7e7cddc642cE", "farm::refine::H9c9dc7e7cddc642c" },
	{ "_ZN4farm6refineEi", "farm::refine(int)" },
	{ "h9c9dc7e7cddc642c", "h9c9dc7e7cddc642c" },
	{ "_ZN17h9c9dc7e7cddc642cE", "h9c9dc7e7cddc642c" },
	/* what is no escape stays */
	{ "_ZN5f$uz$17h9c9dc7e7cddc642cE", "f$uz$" },
	{ "_ZN6a$u00$17h9c9dc7e7cddc642cE", "a$u00$" },
	{ "_ZN3a.b17h9c9dc7e7cddc642cE", "a.b" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *name = crit_demangle(rows[i].symbol);

		if (CHECK(name != NULL))
			CHECK_STR_EQ(name, rows[i].name);
		free(name);
	}
	return check_done();
}
