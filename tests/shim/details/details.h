/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the program details share. */
#ifndef CRIT_TESTS_SHIM_DETAILS_H
#define CRIT_TESTS_SHIM_DETAILS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FLAG_INTER 2
#define FLAG_SECOND 4
#define FLAG_WINDOW 8
#define FLAG_FILE 32

#define STATUS (has_statuses ? &statuses[0] : MPI_STATUS_IGNORE)
#define STATUSES (has_statuses ? statuses : MPI_STATUSES_IGNORE)
#define expect(...) (printf(__VA_ARGS__), printf("\n"))

struct known_comm {
	MPI_Comm comm;
	int number; /* a shim's, in order of creation */
};

extern int rank, size, left, right;
extern MPI_Status statuses[8];
extern bool has_statuses;

/* The name of the request just started. */
const char *next_request(void);

/* A communicator was made: what is expected of its definition. */
struct known_comm know(MPI_Comm comm, const char *key, int flags, int parent);
/* The number of a window or file. */
int know_other(const char *key, int flag, int parent);

/* Of collective calls on the communicator, window or file of that number: counts them. */
int next_sequence(int number);
/* The call was made by all members of it, and moved nothing. */
void expect_together(const char *call, int number);

void details_collective(const struct known_comm *world, const struct known_comm *self);
void details_groups(const struct known_comm *world);
void details_requests(const struct known_comm *on);
void details_threads(void);
void details_remote(const struct known_comm *world, const char *path);

#endif
