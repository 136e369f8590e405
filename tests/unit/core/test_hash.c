// SPDX-License-Identifier: BSD-3-Clause
// Hashes stay what they were: recordings and the names of sockets hold them.
#include "core/base/hash.h"
#include "tests/lib/check.h"

int main(void)
{
	uint64_t numbers = crit_hash_mix(crit_hash_mix(0, 1), 2);

	/* test vectors of FNV-1a (draft-eastlake-fnv) */
	CHECK_UINT_EQ(crit_hash_text(""), CRIT_HASH_EMPTY);
	CHECK_UINT_EQ(crit_hash_text("a"), 0xaf63dc4c8601ec8cull);
	CHECK_UINT_EQ(crit_hash_text("foobar"), 0x85944171f73967e8ull);
	CHECK_UINT_EQ(crit_hash_bytes(CRIT_HASH_EMPTY, "foobar", 6), crit_hash_text("foobar"));
	CHECK_UINT_EQ(crit_hash_bytes(crit_hash_text("foo"), "bar", 3), crit_hash_text("foobar"));
	CHECK_UINT_EQ(crit_hash_text("\xff"), crit_hash_bytes(CRIT_HASH_EMPTY, "\xff", 1));

	CHECK_UINT_EQ(numbers, 0x9c388adbb85671f6ull);
	CHECK(numbers != crit_hash_mix(crit_hash_mix(0, 2), 1));

	CHECK_UINT_EQ(crit_hash_place(0, 100), 0u);
	CHECK_UINT_EQ(crit_hash_place(UINT64_MAX, 100), 99u);
	CHECK_UINT_EQ(crit_hash_place(1ull << 63, 4096), 2048u);
	return check_done();
}
