// SPDX-License-Identifier: BSD-3-Clause
// The nested calls in threads of an OpenMP runtime, between barriers.
#include "tests/unwind/programs/nest.h"

int main(void)
{
	while (is_time_left(1)) {
#pragma omp parallel num_threads(3)
		for (int i = 0; i < 10; i++) {
			level1();
#pragma omp barrier
		}
	}
	return 0;
}
