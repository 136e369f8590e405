/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of the run: which local communicators of the processes are the same one.
 *
 * A process numbers its communicators and windows; slots of kind COMM say what each number means.
 * Two processes mean the same one when the hash of the members, nth and their world agree.  A
 * member is known once its process has announced it.  MPI_COMM_WORLD and MPI_COMM_SELF need no
 * announcement: 1 and 2 are known from the ranks' registration.
 */
#ifndef CRIT_COMMUNICATORS_H
#define CRIT_COMMUNICATORS_H

#include "analysis/model/model.h"
#include "core/abi/abi_shim.h"
#include "core/base/index.h"

#define CRIT_COMMUNICATORS_MAX 65536u

struct crit_communicator {
	uint64_t hash;
	uint32_t nth;
	uint32_t world;
	uint32_t parent; /* index, CRIT_NONE */
	uint32_t size[2]; /* by side; [1]: intercommunicators only */
	uint32_t known[2];
	enum crit_communicator_kind kind;
	uint32_t name_process; /* that gave the name */
	char name[CRIT_COMMUNICATOR_BYTES]; /* by MPI_Comm_set_name, "" none */
};

struct crit_comm_member {
	uint32_t communicator;
	uint32_t number; /* its rank there */
	uint32_t rank; /* index into the model's ranks, CRIT_NONE */
	uint32_t next_sequence; /* of collectives; analysis/mpi/collectives.c keeps it */
	bool is_known; /* it announced itself; before, others may have named it as a peer */
};

/* What a process means by a number. */
struct crit_communicator_view {
	uint32_t index; /* into rows, CRIT_NONE: not known */
	uint32_t side; /* of an intercommunicator: whose group is the process's own */
	uint32_t member; /* the process itself, CRIT_NONE */
};

struct crit_communicators {
	const struct crit_model *model;
	struct crit_communicator *rows;
	size_t count, capacity;
	struct crit_comm_member *members;
	size_t member_count, member_capacity;
	struct crit_index keys; /* of rows that several processes may share, by what names them */
	struct crit_map numbers; /* process, number -> index into views */
	struct crit_map places; /* index, side, rank -> index into members */
	struct crit_communicator_view *views;
	size_t view_count, view_capacity;
	struct crit_communicator_view *worlds; /* by rank of the model: what is number 1 to it */
	uint64_t dropped; /* found no room */
};

/* The worlds and MPI_COMM_SELF are there from the beginning.  Errors: -ENOMEM. */
int crit_communicators_init(struct crit_communicators *all, const struct crit_model *model);
void crit_communicators_fini(struct crit_communicators *all);

/* A slot of kind COMM by a process.  Errors: -ENOMEM. */
int crit_communicators_take(struct crit_communicators *all, uint32_t process,
			    const struct crit_slot_comm *slot);

/* A detail of kind COMM_NAME or COMM_NAME_MORE by a process; the first one's name holds. */
void crit_communicators_rename(struct crit_communicators *all, uint32_t process,
			       const struct crit_slot_detail *part);

struct crit_communicator_view crit_communicators_view(const struct crit_communicators *all,
						      uint32_t process, uint32_t number);

/* The member with a rank on a side: index into members, or CRIT_NONE. */
uint32_t crit_communicators_member(const struct crit_communicators *all, uint32_t index,
				   uint32_t side, uint32_t number);

/*
 * The member a process names as a peer: of the remote group of an intercommunicator, else of its
 * own.  It may announce itself later.  *ret_member: index into members; CRIT_NONE where the
 * communicator or the peer is not known.  Errors: -ENOMEM.
 */
int crit_communicators_peer(struct crit_communicators *all, uint32_t process,
			    struct crit_communicator_view view, int32_t peer, uint32_t *ret_member);

/* "MPI_COMM_WORLD", "comm 3 of 4 ranks" and so on. */
void crit_communicators_name(const struct crit_communicators *all, uint32_t index, char *text,
			     size_t text_bytes);

#endif
