// SPDX-License-Identifier: BSD-3-Clause
// Part of details: requests that are given up, that move nothing, or that nobody started.
#include "tests/shim/details/details.h"

#define NULL_PEER (-2)

/* A library may have been done with it before. */
static void give_up(const struct known_comm *on)
{
	int in, out = 1;
	MPI_Request request;
	const char *name;

	MPI_Isend(&out, 1, MPI_INT, right, 80, on->comm, &request);
	name = next_request();
	expect("Isend ISEND %d %d 80 4 %s", on->number, right, name);
	MPI_Request_free(&request);
	expect("Request_free DONE send %s", name);
	MPI_Recv(&in, 1, MPI_INT, left, 80, on->comm, STATUS);
	expect("Recv RECV %d %d 80 4 -", on->number, left);
}

static void expect_nothing_moved(MPI_Request *request, const char *name)
{
	MPI_Wait(request, STATUS);
	expect("Wait DONE null %s", name);
}

static void talk_to_nobody(const struct known_comm *on)
{
	int data[4] = { 0 };
	MPI_Message message;
	MPI_Request requests[3];
	const char *names[3];

	MPI_Isend(data, 4, MPI_INT, MPI_PROC_NULL, 81, on->comm, &requests[0]);
	names[0] = next_request();
	expect("Isend ISEND %d %d 81 0 %s", on->number, NULL_PEER, names[0]);
	MPI_Irecv(data, 4, MPI_INT, MPI_PROC_NULL, 81, on->comm, &requests[1]);
	names[1] = next_request();
	expect("Irecv IRECV %d %d 81 0 %s", on->number, NULL_PEER, names[1]);
	MPI_Mprobe(MPI_PROC_NULL, 81, on->comm, &message, STATUS);
	MPI_Imrecv(data, 4, MPI_INT, &message, &requests[2]);
	names[2] = next_request();
	expect("Imrecv IRECV 0 %d -1 0 %s", NULL_PEER, names[2]);
	for (int i = 0; i < 3; i++)
		expect_nothing_moved(&requests[i], names[i]);
}

/* Halves of a persistent exchange at an edge: waited for before they are started, and after. */
static void start_in_vain(const struct known_comm *on)
{
	int data[4] = { 0 };
	MPI_Request requests[2];
	const char *names[2];

	MPI_Send_init(data, 4, MPI_INT, MPI_PROC_NULL, 82, on->comm, &requests[0]);
	names[0] = next_request();
	expect("Send_init SEND_INIT %d %d 82 0 %s", on->number, NULL_PEER, names[0]);
	MPI_Recv_init(data, 4, MPI_INT, MPI_PROC_NULL, 82, on->comm, &requests[1]);
	names[1] = next_request();
	expect("Recv_init RECV_INIT %d %d 82 0 %s", on->number, NULL_PEER, names[1]);
	for (int i = 0; i < 2; i++)
		expect_nothing_moved(&requests[i], names[i]);
	MPI_Startall(2, requests);
	for (int i = 0; i < 2; i++)
		expect("Startall START %s", names[i]);
	for (int i = 0; i < 2; i++) {
		expect_nothing_moved(&requests[i], names[i]);
		MPI_Request_free(&requests[i]);
		expect("Request_free FREED %s", names[i]);
	}
}

static int query(void *unused, MPI_Status *status)
{
	(void)unused;
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	return MPI_Status_set_cancelled(status, 0);
}

static int free_nothing(void *unused)
{
	(void)unused;
	return MPI_SUCCESS;
}

static int cancel_nothing(void *unused, int is_complete)
{
	(void)is_complete;
	return free_nothing(unused);
}

static void complete_own(void)
{
	MPI_Request request;
	const char *name;

	MPI_Grequest_start(query, free_nothing, cancel_nothing, NULL, &request);
	name = next_request();
	expect("Grequest_start ISEND 0 %d 0 0 %s", NULL_PEER, name);
	MPI_Grequest_complete(request);
	expect_nothing_moved(&request, name);
}

void details_requests(const struct known_comm *on)
{
	give_up(on);
	talk_to_nobody(on);
	start_in_vain(on);
	complete_own();
}
