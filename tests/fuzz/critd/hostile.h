/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays hostile clients of critd after a script in bytes: steps of struct hostile_step, each with
 * the bytes it names behind it.
 */
#ifndef CRIT_TESTS_HOSTILE_H
#define CRIT_TESTS_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hostile_act {
	HOSTILE_CONNECT = 0, /* how: number of the process */
	HOSTILE_SEND = 1, /* how: two enum hostile_fd, 4 bits each; flags */
	HOSTILE_CLOSE = 2,
	/* writes into shared memory: at thread buffer how - 1; 0: the head; flags */
	HOSTILE_MEMORY = 3,
	HOSTILE_TICK = 4,
	HOSTILE_FINISHER = 5, /* sends on the finisher's socket; how odd: closes it */
	HOSTILE_ACT_COUNT = 6
};

enum hostile_fd {
	HOSTILE_FD_NONE = 0,
	HOSTILE_FD_MEMORY, /* sealed, of 64 thread buffers with little rings */
	HOSTILE_FD_WIDE, /* the same with rings of a megabyte */
	HOSTILE_FD_UNSEALED,
	HOSTILE_FD_OUTPUT, /* a new recording */
	HOSTILE_FD_FINISHER,
	HOSTILE_FD_PIPE,
	HOSTILE_FD_PIDFD,
	HOSTILE_FD_NULL, /* /dev/null */
	HOSTILE_FD_READ_ONLY,
	HOSTILE_FD_STREAM,
	HOSTILE_FD_DIRECTORY,
	HOSTILE_FD_COUNT
};

enum hostile_flag {
	HOSTILE_RIGHT = 1, /* SEND: version and size are set right, what is short is filled up */
	HOSTILE_MANY = 2, /* SEND: six pipes as well */
	HOSTILE_COUNTERS = 4, /* MEMORY: counts from the thread buffer's counters */
	HOSTILE_RING = 8 /* MEMORY: counts from the thread buffer's ring, in slots */
};

struct hostile_step {
	uint8_t act;
	uint8_t client;
	uint8_t how;
	uint8_t flags;
	uint16_t at; /* MEMORY: bytes, or slots */
	uint16_t length; /* of the bytes that follow */
};

/*
 * Plays the script against critd; with has_rank after a rank has registered its memory, as client 0
 * of run "k".  Every recording must then be whole, and the consistency checks of its analysis hold.
 * Errors: aborts.
 */
void hostile_play(const uint8_t *data, size_t size, bool has_rank);

#endif
