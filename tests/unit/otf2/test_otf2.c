// SPDX-License-Identifier: BSD-3-Clause
//
// The OTF2 writer fed by hand, and the verifier on archives with planted faults: each is found, and
// a good archive has none.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/call.h"
#include "otf2/archive_listener.h"
#include "otf2/staging.h"
#include "otf2/verify/verify_archive.h"
#include "tests/lib/check.h"
#include "tests/unit/otf2/otf2_between.h"

#define MS 1000000ull
#define CHUNK 262144
#define MANY_SPANS 60000u

enum plant {
	PLANT_NONE = 0,
	PLANT_NO_EVENTS,
	PLANT_EMPTY_EVENTS,
	PLANT_CUT_INSIDE,
	PLANT_CUT_AT_CHUNK,
	PLANT_TIME_BACK,
	PLANT_NO_DEFINITIONS,
	PLANT_ONE_OFFSET,
	PLANT_NO_GLOBAL,
	PLANT_CUT_GLOBAL,
	PLANT_COUNT,
	PLANT_BALANCE,
	PLANT_LOST_SEND,
	PLANT_OTHER_BYTES,
	PLANT_REQUEST,
	PLANT_COLLECTIVE,
	PLANT_MEMBER,
	PLANT_PEER,
	PLANT_FAR_PEER, /* no fault: a message that names a peer beyond all bounds is left out */
	PLANT_STRANGERS /* no fault: the other side of an intercommunicator is not known */
};

struct world { /* two ranks of one thread each */
	struct crit_results results;
	struct crit_node_row node;
	struct crit_rank_row ranks[2];
	struct crit_thread_row threads[2];
};

/* libotf2 forgets what it had opened when the next file is not there. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}

static char scratch[] = "/tmp/crit-otf2.XXXXXX";

static void make_world(struct world *world)
{
	*world = (struct world){ .node = { .host = "node0" } };
	for (uint32_t i = 0; i < 2; i++) {
		world->ranks[i] = (struct crit_rank_row){ .pid = 100 + i, .rank = i };
		world->threads[i] = (struct crit_thread_row){
			.pid = 100 + i, .tid = 100 + i, .rank_row = (int32_t)i, .name = "solver"
		};
	}
	world->results = (struct crit_results){ .has_ranks = true,
						.window_begin_ns = 10 * MS,
						.window_ns = 1000 * MS,
						.start_real_ns = 1700000000000000000ull,
						.exe = "/opt/solver",
						.arguments = "solver -n 3",
						.nodes = &world->node,
						.node_count = 1,
						.ranks = world->ranks,
						.rank_count = 2,
						.threads = world->threads,
						.thread_count = 2 };
}

static void tell(const struct crit_trace_sink *sink, uint32_t thread, uint64_t time_ns,
		 struct crit_trace_message message)
{
	CHECK_INT_EQ(sink->message(sink->user, thread, time_ns, &message), 0);
}

static void tell_span(const struct crit_trace_sink *sink, uint32_t thread, uint64_t begin_ns,
		      uint64_t end_ns, unsigned int call)
{
	struct crit_trace_span span = { .call = (uint16_t)call, .site = 0x1234 };
	struct crit_trace_sums sums = { .cmetric_ns = 5, .polled = call == CRIT_MPI_Test ? 7 : 0 };

	CHECK_INT_EQ(sink->enter(sink->user, thread, begin_ns, &span, 0), 0);
	CHECK_INT_EQ(sink->leave(sink->user, thread, end_ns, &span, &sums), 0);
}

/* Rank 0 sends twice, blocking and not, rank 1 receives; then both meet in a collective. */
static void tell_messages(const struct crit_trace_sink *sink, enum plant plant)
{
	struct crit_trace_message m = { .peer = 1, .tag = 9, .bytes = 800 };
	struct crit_trace_message c = { .call = CRIT_MPI_Allreduce, .peer = CRIT_TRACE_NONE };

	m.kind = CRIT_TRACE_SEND;
	m.communicator = 1;
	m.peer = 3;
	if (plant == PLANT_STRANGERS)
		tell(sink, 0, 19 * MS, m);
	m.communicator = 0;
	m.peer = 1;
	if (plant != PLANT_LOST_SEND)
		tell(sink, 0, 20 * MS, m);
	m.kind = CRIT_TRACE_ISEND;
	m.request = 1;
	tell(sink, 0, 21 * MS, m);
	m.kind = CRIT_TRACE_ISEND_COMPLETE;
	if (plant != PLANT_REQUEST)
		tell(sink, 0, 22 * MS, m);
	m.kind = CRIT_TRACE_RECV;
	m.peer = 0;
	if (plant == PLANT_OTHER_BYTES)
		m.bytes--;
	tell(sink, 1, 23 * MS, m);
	m.bytes = 800;
	m.kind = CRIT_TRACE_IRECV_REQUEST;
	tell(sink, 1, 23 * MS, m);
	m.kind = CRIT_TRACE_IRECV;
	tell(sink, 1, 24 * MS, m);
	for (uint32_t thread = 0; thread < 2; thread++) {
		if (thread && plant == PLANT_COLLECTIVE)
			continue;
		c.kind = CRIT_TRACE_COLLECTIVE_BEGIN;
		tell(sink, thread, 25 * MS, c);
		c.kind = CRIT_TRACE_COLLECTIVE_END;
		tell(sink, thread, 26 * MS, c);
	}
}

static void tell_threads(const struct crit_trace_sink *sink, enum plant plant, uint32_t spans)
{
	struct crit_trace_sums sums = { .cmetric_ns = 3 };
	struct crit_trace_span lost = { .call = CRIT_MPI_Wait };

	for (uint32_t thread = 0; thread < 2; thread++)
		CHECK_INT_EQ(sink->thread_begin(sink->user, thread, 10 * MS), 0);
	tell_messages(sink, plant);
	for (uint32_t thread = 0; thread < 2; thread++) {
		for (uint32_t i = 0; i < spans; i++)
			tell_span(sink, thread, 30 * MS + 1000ull * i, 30 * MS + 1000ull * i + 500,
				  i % 3 ? CRIT_MPI_Barrier : CRIT_MPI_Test);
		if (plant == PLANT_BALANCE)
			(void)sink->enter(sink->user, thread, 500 * MS, &lost, 0);
		CHECK_INT_EQ(sink->thread_end(sink->user, thread, 900 * MS, &sums), 0);
	}
}

static bool source_location_of(void *user, uint32_t node, uint32_t pid, uint64_t site,
			       struct crit_source_location *ret_place)
{
	(void)user;
	CHECK_UINT_EQ(node, 0);
	CHECK(pid == 100 || pid == 101);
	CHECK_UINT_EQ(site, 0x1234);
	*ret_place = (struct crit_source_location){ .module = "/opt/solver", .offset = 0x1234 };
	return true;
}

static void change_member(struct otf2_group *group)
{
	if (group->type == OTF2_GROUP_TYPE_COMM_GROUP)
		group->members[1] = 7;
}

static void change_count(struct otf2_group *group)
{
	if (group->type == OTF2_GROUP_TYPE_COMM_GROUP)
		group->count = 1;
}

static void plant_in_definitions(enum plant plant)
{
	otf2_between_change = plant == PLANT_MEMBER ? change_member
			      : plant == PLANT_PEER ? change_count
						    : NULL;
	otf2_between_more_events = plant == PLANT_COUNT;
}

static void tell_communicators(const struct crit_trace_sink *sink, enum plant plant)
{
	static const uint32_t members[] = { 0, 1 };
	struct crit_trace_communicator comm = { .parent = CRIT_TRACE_NONE };

	CHECK_INT_EQ(sink->communicator(sink->user, &comm), 0);
	if (plant != PLANT_STRANGERS)
		return;
	comm = (struct crit_trace_communicator){ .kind = CRIT_TRACE_COMM_INTER,
						 .parent = CRIT_TRACE_NONE,
						 .members = members,
						 .member_count = 2 };
	CHECK_INT_EQ(sink->communicator(sink->user, &comm), 0);
}

static void write_archive(const char *directory, enum plant plant, uint32_t spans)
{
	const struct crit_trace_message far = { .kind = CRIT_TRACE_SEND, .peer = 0x7fffffff };
	struct crit_otf2_options options = { .creator = "test",
					     .has_metrics = plant == PLANT_NONE,
					     .source_location_of = source_location_of };
	struct crit_err err = { { 0 } };
	struct crit_otf2_listener *listener = crit_otf2_listener_create(&options, directory, &err);
	struct crit_otf2_archive archive;
	struct crit_trace_sink sink;
	struct world world;

	make_world(&world);
	crit_otf2_listener_sink(listener, &sink);
	if (!CHECK_INT_EQ(sink.begin(sink.user, &world.results, 1010 * MS), 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	if (plant == PLANT_FAR_PEER)
		CHECK_INT_EQ(sink.message(sink.user, 0, 10 * MS, &far), 0);
	tell_threads(&sink, plant, spans);
	tell_communicators(&sink, plant);
	plant_in_definitions(plant);
	CHECK_INT_EQ(sink.end(sink.user, &world.results, true), 0);
	crit_otf2_listener_summary(listener, &world.results, &archive);
	CHECK_INT_EQ(archive.has_losses, plant == PLANT_FAR_PEER || plant == PLANT_STRANGERS);
	crit_otf2_listener_destroy(listener);
}

static void path_of(char path[256], const char *directory, const char *name)
{
	(void)snprintf(path, 256, "%s/%s", directory, name);
}

/* Replaces the first stamp of this value in a file. */
static void change_stamp(const char *path, uint64_t from_ns, uint64_t to_ns)
{
	unsigned char bytes[4096];
	int fd = open(path, O_RDWR);
	ssize_t length = pread(fd, bytes, sizeof(bytes), 0);
	ssize_t at;

	for (at = 0; at + 8 <= length && memcmp(bytes + at, &from_ns, 8) != 0; at++)
		;
	if (CHECK(at + 8 <= length))
		CHECK_INT_EQ(pwrite(fd, &to_ns, 8, at), 8);
	close(fd);
}

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool is_final)
{
	(void)user;
	(void)type;
	(void)location;
	(void)caller;
	(void)is_final;
	return OTF2_FLUSH;
}

/* Another archive lends its local definitions, which have one clock offset. */
static void plant_one_offset(const char *directory)
{
	static const OTF2_FlushCallbacks flushing = { .otf2_pre_flush = flush };
	char other[256], from[300], to[300];
	OTF2_Archive *archive;
	OTF2_DefWriter *local;

	path_of(other, directory, "other");
	archive = OTF2_Archive_Open(other, "traces", OTF2_FILEMODE_WRITE, CHUNK, CHUNK,
				    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	CHECK_INT_EQ(OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL), OTF2_SUCCESS);
	CHECK_INT_EQ(OTF2_Archive_SetSerialCollectiveCallbacks(archive), OTF2_SUCCESS);
	CHECK_INT_EQ(OTF2_Archive_OpenDefFiles(archive), OTF2_SUCCESS);
	local = OTF2_Archive_GetDefWriter(archive, 1);
	CHECK_INT_EQ(OTF2_DefWriter_WriteClockOffset(local, 10 * MS, 0, 0), OTF2_SUCCESS);
	CHECK_INT_EQ(OTF2_Archive_CloseDefWriter(archive, local), OTF2_SUCCESS);
	(void)OTF2_Archive_CloseDefFiles(archive);
	(void)OTF2_Archive_Close(archive);
	(void)snprintf(from, sizeof(from), "%s/traces/1.def", other);
	(void)snprintf(to, sizeof(to), "%s/traces/1.def", directory);
	CHECK_INT_EQ(rename(from, to), 0);
}

static void plant_in_files(const char *directory, enum plant plant)
{
	char events[256], local[256], global[256];
	struct stat status;

	path_of(events, directory, "traces/1.evt");
	path_of(local, directory, "traces/1.def");
	path_of(global, directory, "traces.def");
	CHECK_INT_EQ(stat(events, &status), 0);
	if (plant == PLANT_NO_EVENTS)
		CHECK_INT_EQ(unlink(events), 0);
	else if (plant == PLANT_EMPTY_EVENTS)
		CHECK_INT_EQ(truncate(events, 0), 0);
	else if (plant == PLANT_CUT_INSIDE)
		CHECK_INT_EQ(truncate(events, status.st_size - CHUNK / 2), 0);
	else if (plant == PLANT_CUT_AT_CHUNK)
		CHECK_INT_EQ(truncate(events, 2l * CHUNK), 0);
	else if (plant == PLANT_TIME_BACK)
		change_stamp(events, 30 * MS, 15 * MS);
	else if (plant == PLANT_NO_DEFINITIONS)
		CHECK_INT_EQ(unlink(local), 0);
	else if (plant == PLANT_ONE_OFFSET)
		plant_one_offset(directory);
	else if (plant == PLANT_NO_GLOBAL)
		CHECK_INT_EQ(unlink(global), 0);
	else if (plant == PLANT_CUT_GLOBAL)
		CHECK_INT_EQ(truncate(global, 100), 0);
}

struct faults {
	const char *pattern;
	unsigned int found;
	unsigned int others;
	char last[512];
};

static void take_fault(void *user, const char *text)
{
	struct faults *faults = user;

	if (faults->pattern && strstr(text, faults->pattern))
		faults->found++;
	else
		faults->others++;
	if (!faults->pattern || !strstr(text, faults->pattern))
		(void)snprintf(faults->last, sizeof(faults->last), "%s", text);
	CHECK(!strchr(text, '\n'));
}

static const struct {
	enum plant plant;
	const char *name;
	const char *pattern; /* of the fault; NULL: none */
	uint32_t spans;
} cases[] = {
	{ PLANT_NONE, "nothing", NULL, 10 },
	{ PLANT_NONE, "nothing, many events", NULL, MANY_SPANS },
	{ PLANT_STRANGERS, "strangers", NULL, 10 },
	{ PLANT_FAR_PEER, "far peer", NULL, 10 },
	{ PLANT_NO_EVENTS, "no events", "1.evt is missing", 10 },
	{ PLANT_EMPTY_EVENTS, "empty events", "1.evt is missing or empty", 10 },
	{ PLANT_CUT_INSIDE, "cut inside a chunk", "location 1", MANY_SPANS },
	{ PLANT_CUT_AT_CHUNK, "cut at a chunk", "location 1", MANY_SPANS },
	{ PLANT_TIME_BACK, "time back", "time goes back", 10 },
	{ PLANT_NO_DEFINITIONS, "no definitions", "1.def is missing", 10 },
	{ PLANT_ONE_OFFSET, "one offset", "only one clock offset", 10 },
	{ PLANT_NO_GLOBAL, "no global definitions", "global definitions cannot be read", 10 },
	{ PLANT_CUT_GLOBAL, "cut global definitions", "global definitions", 10 },
	{ PLANT_COUNT, "count", "events are defined", 10 },
	{ PLANT_BALANCE, "balance", "is left at", 10 },
	{ PLANT_LOST_SEND, "lost send", "sent 1 messages", 10 },
	{ PLANT_OTHER_BYTES, "other bytes", "1599 bytes", 10 },
	{ PLANT_REQUEST, "request", "requests are not complete", 10 },
	{ PLANT_COLLECTIVE, "collective", "takes part in", 10 },
	{ PLANT_MEMBER, "member", "member 7 is out of range", 10 },
	{ PLANT_PEER, "peer", "rank 1 of a message is out of range", 10 },
};

static void check_case(size_t i)
{
	struct faults faults = { .pattern = cases[i].pattern };
	struct crit_otf2_verified verified = { 0 };
	struct crit_err err = { { 0 } };
	char directory[128], anchor[256];
	int rc;

	CHECK_CASE("%s", cases[i].name);
	(void)snprintf(directory, sizeof(directory), "%s/%zu", scratch, i);
	CHECK_INT_EQ(mkdir(directory, 0700), 0);
	write_archive(directory, cases[i].plant, cases[i].spans);
	plant_in_files(directory, cases[i].plant);
	path_of(anchor, directory, "traces.otf2");
	rc = crit_otf2_verify(anchor, take_fault, &faults, &verified, NULL, &err);
	CHECK_MSG(rc == 0, "verify answers %d: %s", rc, err.text);
	CHECK_UINT_EQ(verified.fault_count, faults.found + faults.others);
	if (!cases[i].pattern) {
		/* program begin and end, its region; metrics with every enter and leave */
		uint64_t spans = 2 * (4 + 2 * cases[i].spans);

		CHECK_MSG(!verified.fault_count, "a fault in a good archive: %s", faults.last);
		if (cases[i].plant == PLANT_NONE) {
			CHECK_UINT_EQ(verified.event_count, spans + (spans - 4) + 3 + 3 + 4);
			CHECK_UINT_EQ(verified.message_count, 2);
		}
	} else {
		CHECK_MSG(faults.found > 0, "not found; %u others: %s", faults.others, faults.last);
	}
	CHECK_CASE("%s", "");
}

/* What is no archive cannot be read, which is no fault. */
static void check_unreadable(void)
{
	static const char text[] = "not an archive";
	struct crit_otf2_verified verified;
	struct faults faults = { .pattern = NULL };
	struct crit_err err = { { 0 } };
	char path[256];
	int fd;

	path_of(path, scratch, "nothing.otf2");
	CHECK_INT_EQ(crit_otf2_verify(path, take_fault, &faults, &verified, NULL, &err), -ENOENT);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK_INT_EQ(write(fd, text, sizeof(text)), sizeof(text));
	close(fd);
	CHECK_INT_EQ(crit_otf2_verify(path, take_fault, &faults, &verified, NULL, &err), -EPROTO);
	CHECK(err.text[0]);
	CHECK_UINT_EQ(faults.others, 0);
}

/* A directory of somebody's that bears our name is not ours to replace; an older archive is. */
static void check_spared(void)
{
	struct crit_otf2_staging staging;
	struct crit_err err = { { 0 } };
	char directory[256], traces[256], notes[256], events[256];

	path_of(directory, scratch, "spared");
	path_of(traces, scratch, "spared/traces");
	path_of(notes, scratch, "spared/traces/notes.txt");
	path_of(events, scratch, "spared/traces/0.evt");
	CHECK_INT_EQ(mkdir(directory, 0700), 0);
	CHECK_INT_EQ(mkdir(traces, 0700), 0);
	CHECK_INT_EQ(mkdir(notes, 0700), 0);
	CHECK_INT_EQ(crit_otf2_stage(&staging, directory, &err), -EEXIST);
	CHECK(strstr(err.text, "notes.txt") != NULL);
	CHECK_INT_EQ(rename(notes, events), 0);
	CHECK_INT_EQ(crit_otf2_stage(&staging, directory, &err), 0);
	crit_otf2_unstage(&staging);
	CHECK_INT_EQ(access(events, F_OK), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

int main(void)
{
	if (!mkdtemp(scratch)) {
		perror(scratch);
		return 1;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(i);
	check_unreadable();
	check_spared();
	(void)nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return check_done();
}
