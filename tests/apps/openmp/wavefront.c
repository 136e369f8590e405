// SPDX-License-Identifier: BSD-3-Clause
// The longest common subsequence of two long texts, by tasks that depend on their neighbours.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 250
#define BLOCKS 16
#define LENGTH (BLOCK * BLOCKS)

static char texts[2][LENGTH];
static int16_t lengths[LENGTH + 1][LENGTH + 1];

static void fill(uint32_t seed, char *text)
{
	for (int i = 0; i < LENGTH; i++) {
		seed = seed * 1664525u + 1013904223u;
		text[i] = (char)('a' + (seed >> 24) % 4);
	}
}

static void compare(int block_row, int block_column)
{
	for (int r = block_row * BLOCK + 1; r <= (block_row + 1) * BLOCK; r++)
		for (int c = block_column * BLOCK + 1; c <= (block_column + 1) * BLOCK; c++) {
			const int16_t up = lengths[r - 1][c], left = lengths[r][c - 1];

			lengths[r][c] = texts[0][r - 1] == texts[1][c - 1]
						? (int16_t)(lengths[r - 1][c - 1] + 1)
						: (up > left ? up : left);
		}
}

/* A block's last cell stands for it. */
#define BLOCK_AT(r, c) lengths[BLOCK * (r)][BLOCK * (c)]

/* clang-format off */
static void compare_all(void)
{
#pragma omp parallel
#pragma omp single
	for (int r = 0; r < BLOCKS; r++)
		for (int c = 0; c < BLOCKS; c++)
#pragma omp task depend(in: BLOCK_AT(r, c + 1), BLOCK_AT(r + 1, c)) \
		 depend(out: BLOCK_AT(r + 1, c + 1))
			compare(r, c);
}
/* clang-format on */

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10;

	for (int i = 0; i < rounds; i++) {
		fill((uint32_t)i, texts[0]);
		fill((uint32_t)i + 77, texts[1]);
		compare_all();
		printf("wavefront: round %d, length %d\n", i, lengths[LENGTH][LENGTH]);
	}
	return 0;
}
