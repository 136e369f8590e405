// SPDX-License-Identifier: BSD-3-Clause
// Half a second of nested calls: callbacks, the PLT, a signal handler, frames of all kinds.
#include "tests/unwind/programs/nest.h"

int main(void)
{
	while (is_time_left(0.5))
		level1();
	return 0;
}
