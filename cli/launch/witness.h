/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a signal sent to our whole process group from one sent to us alone. */
#ifndef CRIT_WITNESS_H
#define CRIT_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct crit_witness {
	pid_t pid; /* 0: there is none, and it saw nothing */
	int fd; /* questions and answers */
};

/* Starts the witness.  Ownership: end it with crit_witness_fini; without one, pid is 0. */
void crit_witness_init(struct crit_witness *witness);

/*
 * Did the whole group get the signal we have just taken from our queue?
 * Cost: two messages.  Threads: one; every signal taken must be asked about, so that the next one
 * of its number is not mistaken for it.  Errors: false once the witness is dead or stopped.
 */
bool crit_witness_saw(struct crit_witness *witness, int number);

void crit_witness_fini(struct crit_witness *witness);

#endif
