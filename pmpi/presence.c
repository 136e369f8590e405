// SPDX-License-Identifier: BSD-3-Clause
// Presence check: which ranks have the library preloaded.
//
// Ranks that were not given it, say because one node lacks it, never come to a collective of ours.
// Nor may one be begun in the hope that they do: libraries number the non-blocking ones of a
// communicator, Open MPI those inside MPI_Comm_dup too, so the application's own would from then on
// meet others.  So ranks report by message, rows to their first and those to rank 0, which tells
// them what it has heard.  Only who has reported is answered, and so has the library; where who
// should hear has not, an empty message with a tag that nobody uses stays behind.
#include "pmpi/presence.h"

#include <sched.h>
#include <stdlib.h>

#include "pmpi/details.h"
#include "pmpi/rows.h"

#define SPIN_NS 30000 /* an answer is quicker than who gets the CPU that is given away */
#define TAG_BELOW 20631 /* of the largest one, which is 32767 at least */

/*
 * MPI_Init lets go of all at about one time.  Whoever hears gives up long before those who wait for
 * its answer, for all must go by the same one.
 */
#define ROW_NS 15000000000u
#define FIRST_NS 20000000000u
#define ANSWER_NS 30000000000u

struct report { /* of another rank: what it has heard itself */
	MPI_Request request;
	uint8_t is_whole;
	bool is_here;
};

static struct {
	int tag;
	uint8_t heard, answer, told; /* buffers */
	MPI_Request answers;
	struct report *reports; /* until all are here, for who is late writes there */
	int count;
} presence = { .answers = MPI_REQUEST_NULL };

bool crit_is_done_by(MPI_Request *request, uint64_t deadline_ns)
{
	const uint64_t begin_ns = crit_shim_now_ns();
	int is_done = 0;

	while (NATIVE(MPI_Test)(request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done) {
		const uint64_t now_ns = crit_shim_now_ns();

		if (now_ns > deadline_ns)
			break;
		if (now_ns - begin_ns > SPIN_NS)
			(void)sched_yield();
	}
	return is_done;
}

static bool find_tag(void)
{
	int *largest, is_known = 0;

	if (NATIVE(MPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&largest, &is_known) !=
		    MPI_SUCCESS ||
	    !is_known)
		return false;
	presence.tag = *largest - TAG_BELOW;
	return true;
}

static bool expect(uint8_t *ret_byte, int from, MPI_Request *ret_request)
{
	return NATIVE(MPI_Irecv)(ret_byte, 1, MPI_BYTE, from, presence.tag, MPI_COMM_WORLD,
				 ret_request) == MPI_SUCCESS;
}

static void tell(const uint8_t *byte, int to, uint64_t deadline_ns)
{
	MPI_Request request = MPI_REQUEST_NULL;

	if (NATIVE(MPI_Isend)(byte, 1, MPI_BYTE, to, presence.tag, MPI_COMM_WORLD, &request) ==
		    MPI_SUCCESS &&
	    !crit_is_done_by(&request, deadline_ns))
		(void)NATIVE(MPI_Request_free)(&request);
}

/* All of them are expected before the first is waited for.  Returns whether all are whole. */
static bool hear(int rank, int size, uint64_t deadline_ns)
{
	const int width = crit_row_width(size);
	bool is_whole = true;

	for (int i = 0; i < presence.count; i++) {
		const int from = crit_row_reports(rank, size, width, i);
		struct report *report = &presence.reports[i];

		report->request = MPI_REQUEST_NULL;
		report->is_here = expect(&report->is_whole, from, &report->request);
	}
	for (int i = 0; i < presence.count; i++) {
		struct report *report = &presence.reports[i];

		report->is_here = report->is_here && crit_is_done_by(&report->request, deadline_ns);
		is_whole = is_whole && report->is_here && report->is_whole;
	}
	return is_whole;
}

/* What is heard goes up, and the answer comes down. */
static bool ask(int hears, uint64_t deadline_ns)
{
	if (!expect(&presence.answer, hears, &presence.answers))
		return false;
	tell(&presence.heard, hears, deadline_ns);
	return crit_is_done_by(&presence.answers, deadline_ns) && presence.answer;
}

bool crit_presence_check(int rank, int size)
{
	const uint64_t begin_ns = crit_shim_now_ns();
	const int width = crit_row_width(size);
	bool answer;

	while (crit_row_reports(rank, size, width, presence.count) >= 0)
		presence.count++;
	presence.reports = calloc((size_t)presence.count + 1, sizeof(*presence.reports));
	if (!presence.reports || !find_tag())
		return false;
	presence.heard = hear(rank, size, begin_ns + (rank ? ROW_NS : FIRST_NS));
	answer = rank ? ask(crit_row_hears(rank, width), begin_ns + ANSWER_NS) : presence.heard;
	presence.told = answer;
	for (int i = 0; i < presence.count; i++)
		if (presence.reports[i].is_here)
			tell(&presence.told, crit_row_reports(rank, size, width, i),
			     begin_ns + ANSWER_NS);
	return answer;
}

static void cancel(MPI_Request *request)
{
	if (*request == MPI_REQUEST_NULL)
		return;
	(void)NATIVE(MPI_Cancel)(request);
	(void)NATIVE(MPI_Request_free)(request);
}

void crit_presence_end(void)
{
	cancel(&presence.answers);
	for (int i = 0; presence.reports && i < presence.count; i++)
		cancel(&presence.reports[i].request);
}
