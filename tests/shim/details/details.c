// SPDX-License-Identifier: BSD-3-Clause
// Makes calls of every kind that has details, and writes down what a shim should say of each.
//
// usage: details given|ignored|many|failing|threads OUTPUT      three ranks write to OUTPUT.0 to .2
// given: the caller wants statuses; ignored: it does not; many: it waits for very many requests;
// failing: for some that end in errors; threads: several make communicators.  Lines:
//   CALL DETAIL comm peer tag bytes request      request: - or rN, in order of their starts
//   comm NUMBER KEY flags rank size parent       KEY is the same where the communicator is
//   tags N                                       tags of messages on communicators of threads
//   lost N                                       details a shim does not tell
#include "tests/shim/details/details.h"

int rank, size, left, right;
MPI_Status statuses[8];
bool has_statuses;
static int comms_made, requests_made;

const char *next_request(void)
{
	static char names[8][16];
	char *name = names[requests_made % 8];

	(void)snprintf(name, sizeof(names[0]), "r%d", requests_made++);
	return name;
}

struct known_comm know(MPI_Comm comm, const char *key, int flags, int parent)
{
	struct known_comm known = { .comm = comm, .number = ++comms_made };
	int own_rank, own_size;

	MPI_Comm_rank(comm, &own_rank);
	MPI_Comm_size(comm, &own_size);
	printf("comm %d %s %d %d %d %d\n", known.number, key, flags, own_rank, own_size, parent);
	return known;
}

int know_other(const char *key, int flag, int parent)
{
	printf("comm %d %s %d %d %d %d\n", ++comms_made, key, flag, rank, size, parent);
	return comms_made;
}

int next_sequence(int number)
{
	static int next[256];

	return next[number % 256]++;
}

void expect_together(const char *call, int number)
{
	expect("%s COLL %d -1 %d 0 +0", call, number, next_sequence(number));
}

static void send_and_receive(const struct known_comm *on)
{
	int in[10] = { 0 }, out[10] = { 1, 2, 3, 4, 5, 6 };
	MPI_Datatype holes;

	MPI_Type_vector(3, 1, 2, MPI_INT, &holes);
	MPI_Type_commit(&holes);
	MPI_Sendrecv(out, 2, MPI_INT, right, 5, in, 10, MPI_INT, left, MPI_ANY_TAG, on->comm,
		     STATUS);
	expect("Sendrecv SEND %d %d 5 8 -", on->number, right);
	expect("Sendrecv RECV %d %d 5 8 -", on->number, left);
	MPI_Sendrecv_replace(out, 1, holes, right, 6, left, 6, on->comm, STATUS);
	expect("Sendrecv_replace SEND %d %d 6 12 -", on->number, right);
	expect("Sendrecv_replace RECV %d %d 6 12 -", on->number, left);
	if (rank == 0) {
		MPI_Send(out, 2, MPI_DOUBLE, 1, 7, on->comm);
		expect("Send SEND %d 1 7 16 -", on->number);
		MPI_Ssend(out, 1, holes, 1, 8, on->comm);
		expect("Ssend SEND %d 1 8 12 -", on->number);
		MPI_Send(NULL, 0, MPI_BYTE, 1, 9, on->comm);
		expect("Send SEND %d 1 9 0 -", on->number);
	} else if (rank == 1) {
		MPI_Recv(in, 5, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, on->comm, STATUS);
		expect("Recv RECV %d 0 7 16 -", on->number);
		MPI_Recv(in, 10, MPI_INT, MPI_ANY_SOURCE, 8, on->comm, STATUS);
		expect("Recv RECV %d 0 8 12 -", on->number);
		MPI_Recv(in, 0, MPI_INT, 0, 9, on->comm, STATUS);
		expect("Recv RECV %d 0 9 0 -", on->number);
	}
	MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 7, on->comm);
	MPI_Recv(out, 1, MPI_INT, MPI_PROC_NULL, 7, on->comm, STATUS);
	MPI_Type_free(&holes);
}

/* One element of each: sizes are known by handle, or asked for. */
static void send_types(const struct known_comm *on)
{
	const MPI_Datatype types[] = { MPI_CHAR,
				       MPI_SHORT,
				       MPI_LONG_DOUBLE,
				       MPI_BYTE,
				       MPI_C_DOUBLE_COMPLEX,
				       MPI_2INT,
				       MPI_DOUBLE_INT,
				       MPI_PACKED,
				       MPI_INT64_T,
				       MPI_AINT,
				       MPI_LONG_DOUBLE_INT };
	char in[64], out[64] = "";

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int bytes;

		MPI_Type_size(types[i], &bytes);
		MPI_Sendrecv(out, 1, types[i], right, 12, in, 1, types[i], left, 12, on->comm,
			     STATUS);
		expect("Sendrecv SEND %d %d 12 %d -", on->number, right, bytes);
		expect("Sendrecv RECV %d %d 12 %d -", on->number, left, bytes);
	}
}

/* A receive from the left and a send to the right, started; names in ret_names. */
static void start_pair(const struct known_comm *on, int tag, int *buffers, MPI_Request *requests,
		       const char **ret_names)
{
	MPI_Irecv(&buffers[0], 1, MPI_INT, MPI_ANY_SOURCE, tag, on->comm, &requests[0]);
	ret_names[0] = next_request();
	expect("Irecv IRECV %d -1 %d 4 %s", on->number, tag, ret_names[0]);
	MPI_Isend(&buffers[1], 1, MPI_INT, right, tag, on->comm, &requests[1]);
	ret_names[1] = next_request();
	expect("Isend ISEND %d %d %d 4 %s", on->number, right, tag, ret_names[1]);
}

static void expect_done(const char *call, int tag, const char *const *names)
{
	expect("%s DONE 0 %d %d 4 %s", call, left, tag, names[0]);
	expect("%s DONE send %s", call, names[1]);
}

static void wait_for_requests(const struct known_comm *on)
{
	int buffers[2] = { 0 }, index, count, indices[2];
	MPI_Request requests[2];
	const char *names[2];

	start_pair(on, 20, buffers, requests, names);
	MPI_Wait(&requests[0], STATUS);
	MPI_Wait(&requests[1], STATUS);
	expect_done("Wait", 20, names);
	start_pair(on, 21, buffers, requests, names);
	MPI_Waitall(2, requests, STATUSES);
	expect_done("Waitall", 21, names);
	start_pair(on, 22, buffers, requests, names);
	MPI_Waitany(1, requests, &index, STATUS);
	MPI_Waitsome(1, requests + 1, &count, indices, STATUSES);
	expect("Waitany DONE 0 %d 22 4 %s", left, names[0]);
	expect("Waitsome DONE send %s", names[1]);
	start_pair(on, 23, buffers, requests, names);
	MPI_Waitall(1, requests + 1, STATUSES);
	expect("Waitall DONE send %s", names[1]);
	MPI_Waitsome(2, requests, &count, indices, STATUSES);
	expect("Waitsome DONE 0 %d 23 4 %s", left, names[0]);
}

/* Several at a time, to which the libraries may give one handle. */
static void send_several(const struct known_comm *on)
{
	int in, out = 1;
	MPI_Request requests[3];
	const char *names[3];

	for (int i = 0; i < 3; i++) {
		MPI_Isend(&out, 1, MPI_INT, right, 24 + i, on->comm, &requests[i]);
		names[i] = next_request();
		expect("Isend ISEND %d %d %d 4 %s", on->number, right, 24 + i, names[i]);
	}
	for (int i = 0; i < 3; i++) {
		MPI_Recv(&in, 1, MPI_INT, left, 24 + i, on->comm, STATUS);
		expect("Recv RECV %d %d %d 4 -", on->number, left, 24 + i);
	}
	MPI_Waitall(3, requests, STATUSES);
	for (int i = 0; i < 3; i++)
		expect("Waitall DONE send %s", names[i]);
}

static void test_requests(const struct known_comm *on)
{
	int buffers[2] = { 0 }, flag = 0, index, count = 0, indices[2];
	MPI_Request requests[2];
	const char *names[2];

	start_pair(on, 30, buffers, requests, names);
	while (!flag)
		MPI_Test(&requests[0], &flag, STATUS);
	expect("Test DONE 0 %d 30 4 %s", left, names[0]);
	MPI_Wait(&requests[1], STATUS);
	expect("Wait DONE send %s", names[1]);
	start_pair(on, 31, buffers, requests, names);
	for (flag = 0; !flag;)
		MPI_Testall(2, requests, &flag, STATUSES);
	expect_done("Testall", 31, names);
	start_pair(on, 32, buffers, requests, names);
	for (flag = 0; !flag;)
		MPI_Testany(1, requests, &index, &flag, STATUS);
	expect("Testany DONE 0 %d 32 4 %s", left, names[0]);
	MPI_Barrier(on->comm);
	expect_together("Barrier", on->number);
	while (count == 0)
		MPI_Testsome(2, requests, &count, indices, STATUSES);
	expect("Testsome DONE send %s", names[1]);
	MPI_Irecv(&buffers[0], 1, MPI_INT, left, 33, on->comm, &requests[0]);
	names[0] = next_request();
	expect("Irecv IRECV %d %d 33 4 %s", on->number, left, names[0]);
	MPI_Cancel(&requests[0]);
	MPI_Wait(&requests[0], STATUS);
	expect("Wait CANCELLED %s", names[0]);
}

static void restart_requests(const struct known_comm *on)
{
	int in[4] = { 0 }, out[4] = { 0 };
	MPI_Request requests[2];
	const char *names[2];

	MPI_Recv_init(in, 4, MPI_INT, left, MPI_ANY_TAG, on->comm, &requests[0]);
	names[0] = next_request();
	expect("Recv_init RECV_INIT %d %d -1 16 %s", on->number, left, names[0]);
	MPI_Send_init(out, 4, MPI_INT, right, 40, on->comm, &requests[1]);
	names[1] = next_request();
	expect("Send_init SEND_INIT %d %d 40 16 %s", on->number, right, names[1]);
	for (int round = 0; round < 2; round++) {
		if (round == 0) {
			MPI_Startall(2, requests);
		} else {
			MPI_Start(&requests[0]);
			MPI_Start(&requests[1]);
		}
		for (int i = 0; i < 2; i++)
			expect("%s START %s", round == 0 ? "Startall" : "Start", names[i]);
		MPI_Waitall(2, requests, STATUSES);
		expect("Waitall DONE 0 %d 40 16 %s", left, names[0]);
		expect("Waitall DONE send %s", names[1]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Request_free(&requests[i]);
		expect("Request_free FREED %s", names[i]);
	}
}

static void match_probed(const struct known_comm *on)
{
	int in[4], out[3] = { 0 }, flag = 0;
	MPI_Message message;
	MPI_Request request;
	const char *name;

	MPI_Send(out, 3, MPI_INT, right, 50, on->comm);
	expect("Send SEND %d %d 50 12 -", on->number, right);
	MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, on->comm, &message, STATUS);
	MPI_Mrecv(in, 4, MPI_INT, &message, STATUS);
	expect("Mrecv RECV %d %d 50 12 -", on->number, left);
	MPI_Send(out, 3, MPI_INT, right, 51, on->comm);
	expect("Send SEND %d %d 51 12 -", on->number, right);
	while (!flag)
		MPI_Improbe(left, 51, on->comm, &flag, &message, STATUS);
	MPI_Imrecv(in, 4, MPI_INT, &message, &request);
	name = next_request();
	expect("Imrecv IRECV %d %d 51 16 %s", on->number, left, name);
	MPI_Wait(&request, STATUS);
	expect("Wait DONE 0 %d 51 12 %s", left, name);
}

/* More than a shim has room for at first, and one more. */
static void wait_for_many(const struct known_comm *on)
{
	enum {
		MANY = 4096
	};
	static MPI_Request requests[MANY + 1];
	static int first[MANY + 1];
	MPI_Status *volatile ignored = MPI_STATUSES_IGNORE; /* compilers warn of the constant */
	int in[4], out = 0;

	for (int count = MANY; count <= MANY + 1; count++) {
		for (int i = 0; i < count; i++) {
			MPI_Irecv(&in[i % 4], 1, MPI_INT, 0, i, on->comm, &requests[i]);
			first[i] = requests_made;
			expect("Irecv IRECV %d 0 %d 4 %s", on->number, i, next_request());
		}
		for (int i = 0; i < count; i++) {
			MPI_Send(&out, 1, MPI_INT, 0, i, on->comm);
			expect("Send SEND %d 0 %d 4 -", on->number, i);
		}
		MPI_Waitall(count, requests, ignored);
		for (int i = 0; i < count; i++)
			expect("Waitall DONE 0 0 %d 4 r%d", i, first[i]);
	}
}

/* Two receives from the left; the first is too small. */
static void start_small(const struct known_comm *on, int tag, int *in, MPI_Request *requests,
			const char **ret_names)
{
	const int out[4] = { 1, 2, 3, 4 };

	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&in[i], i == 0 ? 1 : 4, MPI_INT, left, tag + i, on->comm, &requests[i]);
		ret_names[i] = next_request();
		expect("Irecv IRECV %d %d %d %d %s", on->number, left, tag + i, i == 0 ? 4 : 16,
		       ret_names[i]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Send(out, 4, MPI_INT, right, tag + i, on->comm);
		expect("Send SEND %d %d %d 16 -", on->number, right, tag + i);
	}
}

/* What the call made of the second one; MPICH leaves it alone where the first has failed. */
static void expect_second(const char *call, int tag, MPI_Request *request, const char *name)
{
	if (*request != MPI_REQUEST_NULL) {
		MPI_Wait(request, MPI_STATUS_IGNORE);
		call = "Wait";
	}
	expect("%s DONE 0 %d %d 16 %s", call, left, tag, name);
}

#define UNKNOWN (~0ull) /* bytes */

/* The call answers an error; a receive whose buffer is too small has ended all the same. */
static void expect_truncated(const char *call, int tag, const char *name)
{
	expect("%s FAILED", call);
	expect("%s DONE 0 %d %d %llu %s", call, left, tag, UNKNOWN, name);
}

static void receive_too_much(const struct known_comm *on, int tag)
{
	int in, out[4] = { 1, 2, 3, 4 };

	MPI_Send(out, 4, MPI_INT, right, tag, on->comm);
	expect("Send SEND %d %d %d 16 -", on->number, right, tag);
	MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag, on->comm, MPI_STATUS_IGNORE);
	expect("Recv FAILED");
	expect("Recv RECV %d %d %d %llu -", on->number, left, tag, UNKNOWN);
	MPI_Sendrecv(out, 4, MPI_INT, right, tag, &in, 1, MPI_INT, left, tag, on->comm, STATUS);
	expect("Sendrecv FAILED");
	expect("Sendrecv SEND %d %d %d 16 -", on->number, right, tag);
	expect("Sendrecv RECV %d %d %d %llu -", on->number, left, tag, UNKNOWN);
	MPI_Send(out, 1, MPI_INT, 99, tag, on->comm);
	expect("Send FAILED");
}

static void fail(const struct known_comm *on)
{
	MPI_Status *volatile ignored = MPI_STATUSES_IGNORE; /* compilers warn of the constant */
	int in[8], index, count, indices[2];
	MPI_Request requests[2];
	const char *names[2];

	MPI_Comm_set_errhandler(on->comm, MPI_ERRORS_RETURN);
	start_small(on, 60, in, requests, names);
	MPI_Waitall(2, requests, ignored);
	expect_truncated("Waitall", 60, names[0]);
	expect_second("Waitall", 61, &requests[1], names[1]);
	start_small(on, 62, in, requests, names);
	MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
	expect_truncated("Waitany", 62, names[0]);
	expect_second("Wait", 63, &requests[1], names[1]);
	start_small(on, 64, in, requests, names);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	expect_truncated("Wait", 64, names[0]);
	expect_second("Wait", 65, &requests[1], names[1]);
	start_small(on, 66, in, requests, names);
	MPI_Waitsome(1, requests, &count, indices, ignored);
	expect_truncated("Waitsome", 66, names[0]);
	expect_second("Wait", 67, &requests[1], names[1]);
	receive_too_much(on, 68);
}

/* Everything but wait_for_many. */
static void make_every_kind(const struct known_comm *world, const struct known_comm *self,
			    const char *path)
{
	struct known_comm copy;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy.comm);
	copy = know(copy.comm, "copy", 0, world->number);
	expect_together("Comm_dup", world->number);
	send_and_receive(world);
	send_and_receive(&copy);
	send_types(&copy);
	wait_for_requests(&copy);
	send_several(&copy);
	test_requests(&copy);
	restart_requests(&copy);
	match_probed(&copy);
	details_collective(world, self);
	details_groups(world);
	details_remote(world, path);
	details_requests(&copy); /* last: MPICH's persistent collectives cannot bear it */
	MPI_Comm_free(&copy.comm);
	expect("comm %d freed", copy.number);
}

int main(int argc, char **argv)
{
	char path[512];
	struct known_comm world, self;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 3 || argc != 3) {
		fprintf(stderr,
			"usage: details given|ignored|many|failing|threads OUTPUT, 3 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	has_statuses = strcmp(argv[1], "given") == 0;
	left = (rank + 2) % 3;
	right = (rank + 1) % 3;
	snprintf(path, sizeof(path), "%s.%d", argv[2], rank);
	if (!freopen(path, "w", stdout))
		return 1;
	world = know(MPI_COMM_WORLD, "world", 0, 0);
	self = know(MPI_COMM_SELF, rank == 0 ? "self0" : rank == 1 ? "self1" : "self2", 0, 0);
	if (strcmp(argv[1], "many") == 0)
		wait_for_many(&self);
	else if (strcmp(argv[1], "failing") == 0)
		fail(&world);
	else if (strcmp(argv[1], "threads") == 0)
		details_threads();
	else
		make_every_kind(&world, &self, argv[2]);
	MPI_Finalize();
	return 0;
}
