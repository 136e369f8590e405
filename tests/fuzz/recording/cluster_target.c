// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary recordings of several nodes to one process and to several, which must agree to
// the last bit.  Choices: bit 0 leave checksums as they are, bit 1 three analysis processes instead
// of two, bits 2 and 3 the rule, bits 4 and 5 how many steps a round has, bit 6 the results are
// written, bit 7 analysis process 0 is told of all nodes.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "core/base/array.h"
#include "core/base/err.h"
#include "tests/fuzz/recording/parts.h"
#include "tests/fuzz/repair.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/recording/written.h"
#include "tests/lib/analysed.h"
#include "tests/lib/cluster.h"
#include "tests/lib/order.h"

static void fail(const char *what)
{
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void compare(const struct parts *parts, const char *const *paths)
{
	static const size_t rounds[] = { 1, 7, 100, 0 };
	const enum crit_active_rule rule = (enum crit_active_rule)(parts->choice >> 2 & 3);
	const bool is_gathered = parts->choice & 128;
	struct crit_test_order orders[2] = { { 0 } };
	const struct crit_trace_sink sinks[] = { crit_test_order_sink(&orders[0]),
						 crit_test_order_sink(&orders[1]) };
	const struct crit_listener listeners[] = { crit_test_order_listener(&orders[0]),
						   crit_test_order_listener(&orders[1]) };
	const struct crit_test_crew crew = { .transport = parts->choice & 2 ? 3 : 2,
					     .round_steps = rounds[parts->choice >> 4 & 3],
					     .rule = rule,
					     .sinks = is_gathered ? &sinks[1] : NULL,
					     .listeners = is_gathered ? &listeners[1] : NULL,
					     .is_gathered = is_gathered,
					     .blind = CRIT_NONE };
	const struct crit_analysis_options options = { .rule = rule,
						       .trace = is_gathered ? &sinks[0] : NULL,
						       .listener = is_gathered ? &listeners[0]
									       : NULL };
	struct crit_results *alone = NULL, *together = NULL;
	const char *broken = NULL;
	struct crit_err err;
	int rc = crit_analyse(paths, parts->count, &options, &alone, &err);

	if (crit_test_crew_analyse(&crew, paths, parts->count, &together) != rc)
		fail("peers end otherwise than one process");
	if (!rc)
		broken = crit_analysed_failed_check(alone);
	if (broken)
		fail(broken);
	if (!rc && crit_analysed_digest(alone) != crit_analysed_digest(together))
		fail("peers yield other results than one process");
	if (!rc && orders[0].sum != orders[1].sum)
		fail("process 0 is told otherwise than one process");
	if (!rc && parts->choice & 64)
		written_check(alone);
	crit_results_destroy(alone);
	crit_results_destroy(together);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *paths[FUZZ_PARTS_MAX];
	char names[FUZZ_PARTS_MAX][32];
	int fds[FUZZ_PARTS_MAX];
	struct parts parts;

	if (!parts_take(&parts, data, size))
		return 0;
	for (size_t i = 0; i < parts.count; i++) {
		if (!(parts.choice & 1))
			crit_repair(parts.files[i].bytes, parts.files[i].length);
		fds[i] = parts_open(&parts.files[i], names[i]);
		paths[i] = names[i];
	}
	compare(&parts, paths);
	for (size_t i = 0; i < parts.count; i++)
		close(fds[i]);
	free(parts.bytes);
	return 0;
}
