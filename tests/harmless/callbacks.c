// SPDX-License-Identifier: BSD-3-Clause
// User code that MPI calls back: operators, attributes, error handlers, generalised requests.  What
// it calls of MPI lies inside the call that is under way and is not counted.
//
// usage: callbacks [OUTPUT]      two ranks; with OUTPUT they write to OUTPUT.0 and OUTPUT.1
#include "tests/shim/counted.h"

enum callback {
	IN_OPERATOR,
	IN_COPY,
	IN_DELETE,
	IN_HANDLER,
	IN_QUERY,
	IN_FREE,
	IN_CANCEL,
	CALLBACKS
};

static int made[CALLBACKS]; /* calls of MPI made in each kind of callback */

/* N(IN_COPY, Comm_rank, …) makes a call from within another. */
#define N(where, name, ...) (made[where]++, MPI_##name(__VA_ARGS__))

static void add(void *in, void *in_out, int *length, MPI_Datatype *type)
{
	const int *from = in;
	int *to = in_out, bytes;

	N(IN_OPERATOR, Type_size, *type, &bytes);
	for (int i = 0; i < *length; i++)
		to[i] += from[i] * (bytes == (int)sizeof(int));
}

static void reduce(void)
{
	int out[2] = { 1 + rank, 10 * rank }, in[8] = { 0 };
	MPI_Request request;
	MPI_Op op;

	C(Op_create, add, 0, &op);
	C(Allreduce, out, in, 2, MPI_INT, op, MPI_COMM_WORLD);
	C(Reduce, out, in + 2, 2, MPI_INT, op, 0, MPI_COMM_WORLD);
	C(Scan, out, in + 4, 2, MPI_INT, op, MPI_COMM_WORLD);
	C(Ireduce, out, in + 6, 2, MPI_INT, op, 1, MPI_COMM_WORLD, &request);
	C(Wait, &request, MPI_STATUS_IGNORE);
	C(Reduce_local, out, in, 2, MPI_INT, op);
	C(Op_free, &op);
	say("reduced", in, 8);
}

static int copy_of_comm(MPI_Comm comm, int key, void *extra, void *value, void *ret_value,
			int *ret_flag)
{
	int whole;

	(void)key;
	(void)extra;
	N(IN_COPY, Comm_size, comm, &whole);
	*(void **)ret_value = (char *)value + whole;
	*ret_flag = 1;
	return MPI_SUCCESS;
}

static int delete_of_comm(MPI_Comm comm, int key, void *value, void *extra)
{
	int flag;

	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	N(IN_DELETE, Initialized, &flag);
	N(IN_DELETE, Finalized, &flag);
	return MPI_SUCCESS;
}

static int copy_of_type(MPI_Datatype type, int key, void *extra, void *value, void *ret_value,
			int *ret_flag)
{
	int bytes;

	(void)key;
	(void)extra;
	N(IN_COPY, Type_size, type, &bytes);
	*(void **)ret_value = (char *)value + bytes;
	*ret_flag = 1;
	return MPI_SUCCESS;
}

static int delete_of_type(MPI_Datatype type, int key, void *value, void *extra)
{
	int bytes;

	(void)key;
	(void)value;
	(void)extra;
	return N(IN_DELETE, Type_size, type, &bytes);
}

static void keep_attributes(void)
{
	static char base[64];
	MPI_Datatype pair, pair_copy;
	int comm_key, type_key, flag, values[2] = { -1, -1 };
	MPI_Comm copy;
	void *value;

	C(Comm_create_keyval, copy_of_comm, delete_of_comm, &comm_key, NULL);
	C(Comm_set_attr, MPI_COMM_WORLD, comm_key, base);
	C(Comm_dup, MPI_COMM_WORLD, &copy);
	C(Comm_get_attr, copy, comm_key, &value, &flag);
	values[0] = flag ? (int)((char *)value - base) : -1;
	C(Comm_free, &copy);
	C(Comm_delete_attr, MPI_COMM_WORLD, comm_key);
	C(Comm_set_attr, MPI_COMM_SELF, comm_key, base); /* deleted by MPI_Finalize */
	C(Comm_free_keyval, &comm_key);

	C(Type_contiguous, 2, MPI_INT, &pair);
	C(Type_create_keyval, copy_of_type, delete_of_type, &type_key, NULL);
	C(Type_set_attr, pair, type_key, base);
	C(Type_dup, pair, &pair_copy);
	C(Type_get_attr, pair_copy, type_key, &value, &flag);
	values[1] = flag ? (int)((char *)value - base) : -1;
	C(Type_free, &pair_copy);
	C(Type_free, &pair);
	C(Type_free_keyval, &type_key);
	say("attributes", values, 2);
}

static int last_class;

static void look_up(int code)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	N(IN_HANDLER, Error_class, code, &last_class);
	N(IN_HANDLER, Error_string, code, text, &length);
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
	int answer;

	N(IN_HANDLER, Comm_rank, *comm, &answer);
	look_up(*code);
}

static void on_window(MPI_Win *window, int *code, ...)
{
	(void)window;
	look_up(*code);
}

static void on_file(MPI_File *file, int *code, ...)
{
	(void)file;
	look_up(*code);
}

static void err_on_comm(void)
{
	MPI_Errhandler handler;
	int classes[3], in;

	C(Comm_create_errhandler, on_comm, &handler);
	C(Comm_set_errhandler, MPI_COMM_WORLD, handler);
	C(Send, &rank, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
	classes[0] = last_class == MPI_ERR_RANK;
	C(Recv, &in, -1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	classes[1] = last_class == MPI_ERR_COUNT;
	C(Comm_call_errhandler, MPI_COMM_WORLD, MPI_ERR_OTHER);
	classes[2] = last_class == MPI_ERR_OTHER;
	C(Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	C(Errhandler_free, &handler);
	say("errors", classes, 3);
}

static void err_elsewhere(void)
{
	MPI_Errhandler handler;
	int memory[2] = { 0 }, classes[3], answer;
	MPI_File file;
	MPI_Win window;

	C(Win_create, memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	C(Win_create_errhandler, on_window, &handler);
	C(Win_set_errhandler, window, handler);
	C(Win_fence, 0, window);
	C(Put, &rank, 1, MPI_INT, 4711, 0, 1, MPI_INT, window);
	classes[0] = last_class == MPI_ERR_RANK;
	C(Win_fence, 0, window);
	C(Win_call_errhandler, window, MPI_ERR_OTHER);
	classes[1] = last_class == MPI_ERR_OTHER;
	C(Win_free, &window);
	C(Errhandler_free, &handler);

	C(File_create_errhandler, on_file, &handler);
	C(File_set_errhandler, MPI_FILE_NULL, handler);
	answer = C(File_open, MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL,
		   &file);
	classes[2] = answer != MPI_SUCCESS && last_class != MPI_ERR_OTHER;
	C(File_set_errhandler, MPI_FILE_NULL, MPI_ERRORS_RETURN);
	C(Errhandler_free, &handler);
	say("errors elsewhere", classes, 3);
}

static int query(void *extra, MPI_Status *status)
{
	N(IN_QUERY, Status_set_elements, status, MPI_INT, *(int *)extra);
	N(IN_QUERY, Status_set_cancelled, status, *(int *)extra == 0);
	status->MPI_SOURCE = rank;
	status->MPI_TAG = 17;
	return MPI_SUCCESS;
}

static int free_request(void *extra)
{
	int flag;

	(void)extra;
	return N(IN_FREE, Initialized, &flag);
}

static MPI_Request pending;

static int cancel(void *extra, int is_complete)
{
	if (is_complete)
		return MPI_SUCCESS;
	*(int *)extra = 0;
	return N(IN_CANCEL, Grequest_complete, pending);
}

static void generalise(void)
{
	int elements = 3, values[5] = { 0 };
	MPI_Status status;

	C(Grequest_start, query, free_request, cancel, &elements, &pending);
	C(Grequest_complete, pending);
	C(Wait, &pending, &status);
	C(Get_elements, &status, MPI_INT, &values[0]);
	values[1] = status.MPI_TAG;
	C(Grequest_start, query, free_request, cancel, &elements, &pending);
	C(Grequest_complete, pending);
	C(Test, &pending, &values[2], &status);
	C(Grequest_start, query, free_request, cancel, &elements, &pending);
	C(Cancel, &pending);
	C(Wait, &pending, &status);
	C(Test_cancelled, &status, &values[3]);
	say("generalised", values, 4);
}

int main(int argc, char **argv)
{
	int were_made[CALLBACKS];

	C(Init, &argc, &argv);
	if (open_pair(argc > 1 ? argv[1] : NULL) < 0)
		return 1;
	reduce();
	keep_attributes();
	err_on_comm();
	err_elsewhere();
	generalise();
	C(Finalize);
	for (int i = 0; i < CALLBACKS; i++)
		were_made[i] = made[i] > 0;
	say("calls made in callbacks of each kind", were_made, CALLBACKS);
	say_counts();
	return 0;
}
