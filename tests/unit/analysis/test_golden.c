// SPDX-License-Identifier: BSD-3-Clause
//
// Recordings whose bytes are checked in, of every version of the format: the maker makes the same,
// and the analysis reads all versions alike.
//
//   test-golden --write   makes tests/data/golden anew, after a deliberate change of the format
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/maker.h"
#include "tests/sim/synthetic.h"

#define T0 5000000000ull

static bool is_written;

/* mpirun lives already, and starts the program. */
static void make_birth(struct crit_maker *m)
{
	struct crit_kernel_head head = { .time_ns = T0, .flags = CRIT_KF_RUNNING };

	crit_maker_file(m, (struct crit_rec_file){ .cpu_count = 2,
						   .uid = 1000,
						   .level = CRIT_LEVEL_TRACE,
						   .start_mono_ns = T0,
						   .start_real_ns = 1700000000000000000ull,
						   .run_id = 42,
						   .max_bytes = 1u << 31,
						   .boot = "boot",
						   .host = "golden",
						   .run_key = "key",
						   .kernel_release = "6.1",
						   .critd_version = "0.1",
						   .exe = "/bin/golden" });
	crit_maker_enrol(
		m,
		(struct crit_kernel_enrol){
			.head = head, .tid = 100, .tgid = 100, .ns_tid = 100, .comm = "mpirun" });
	head.flags = CRIT_KF_NEW_PROCESS;
	head.time_ns = T0 + 1000;
	crit_maker_fork(m, (struct crit_kernel_fork){ .head = head,
						      .parent_tid = 100,
						      .parent_tgid = 100,
						      .tid = 200,
						      .tgid = 200,
						      .ns_tid = 2,
						      .comm = "mpirun" });
	head.flags = 0;
	crit_maker_wake_new(m, (struct crit_kernel_wake){ .head = head, .tid = 200 });
	head.cpu = 1;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = 200 });
	head.time_ns = T0 + 2000;
	crit_maker_exec(m, (struct crit_kernel_exec){ .head = head,
						      .tid = 200,
						      .old_tid = 200,
						      .tgid = 200,
						      .ns_tid = 2,
						      .comm = "golden" });
}

/* The program registers and becomes rank 0; yields its stream. */
static uint32_t make_rank(struct crit_maker *m)
{
	crit_maker_process(m, (struct crit_rec_process){ .pid = 200,
							 .ns_pid = 2,
							 .flavour = CRIT_FLAVOUR_OPENMPI,
							 .has_memfd = 1,
							 .time_ns = T0 + 3000,
							 .exe = "/bin/golden",
							 .arguments = "golden -x" });
	crit_maker_maps(m, (struct crit_rec_maps){ .pid = 200, .time_ns = T0 + 3000 },
			"00400000-00401000 r-xp 00000000 00:00 0 /bin/golden\n");
	crit_maker_rank(m, (struct crit_rec_rank){ .pid = 200,
						   .size = 1,
						   .open_ns = T0 + 4000,
						   .world = "world",
						   .library = "Golden MPI" });
	return crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = 200, .ns_tid = 2, .claim_ns = T0 + 3000 });
}

/* It waits in a barrier, blocked, and polls for 40 us. */
static void make_work(struct crit_maker *m, uint32_t stream)
{
	struct crit_kernel_head head = { .cpu = 1 };

	crit_maker_enter(m, stream, T0 + 10000, CRIT_MPI_Barrier);
	head.time_ns = T0 + 11000;
	head.state = 1;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head,
							  .prev_tid = 200,
							  .prev_tag = crit_maker_tag(m, stream) });
	head.state = 0;
	head.time_ns = T0 + 14000;
	crit_maker_wake(m, (struct crit_kernel_wake){ .head = head, .tid = 200 });
	head.time_ns = T0 + 15000;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = 200 });
	crit_maker_leave(m, stream, T0 + 16000, CRIT_MPI_Barrier);
	crit_maker_poll(m, stream,
			(struct crit_maker_poll){ .first_ns = T0 + 20000,
						  .last_ns = T0 + 60000,
						  .call = CRIT_MPI_Test,
						  .count = 100,
						  .gap_sum_ns = 9000,
						  .site = 0x401000 });
	head.time_ns = T0 + 70000;
	head.flags = CRIT_KF_PREEMPTED;
	crit_maker_preempted(m, (struct crit_kernel_preempted){
					.switched = { .head = head,
						      .prev_tid = 200,
						      .prev_tag = crit_maker_tag(m, stream) },
					.taker_tid = 300,
					.taker_tgid = 300,
					.taker_comm = "hog" });
	head.time_ns = T0 + 75000;
	head.flags = 0;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = 200 });
	head.time_ns = T0 + 80000;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = 200 });
	head.time_ns = T0 + 85000;
	crit_maker_ran(m, (struct crit_kernel_ran){ .head = head, .tid = 200, .ran_ns = 2000 });
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = 200 });
	head.time_ns = T0 + 86000;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = 200 });
}

static void make_end(struct crit_maker *m, uint32_t stream)
{
	struct crit_counter counter = { .site = 0x401234, .call = CRIT_MPI_Send, .count = 17 };
	struct crit_kernel_head head = { .cpu = 1 };

	crit_maker_name(m, (struct crit_rec_name){ .tid = 100, .tgid = 100, .comm = "mpirun" });
	crit_maker_note(m,
			(struct crit_rec_note){ .code = CRIT_NOTE_REFUSED, .time_ns = T0 + 5000 },
			"a stranger was refused");
	crit_maker_close(m, (struct crit_rec_close){ .pid = 200, .close_ns = T0 + 104000 });
	crit_maker_counters(m, stream, &counter, 1);
	crit_maker_stream_end(m, stream, (struct crit_rec_stream_end){ .release_ns = T0 + 105000 });
	head.time_ns = T0 + 110000;
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = head, .tid = 200, .tgid = 200, .comm = "golden" });
	head.state = 0x80;
	head.flags = CRIT_KF_TAG_STALE;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = 200 });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = 200, .time_ns = T0 + 110000 });
	crit_maker_window(m, T0 + 120000);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = T0 + 130000,
						   .kernel_records = crit_maker_kernel_count(m),
						   .shim_slots = crit_maker_slot_count(m),
						   .critd_cpu_ns = 5 });
}

/* Every kind of chunk and record there is; what they add up to stands in every.txt. */
static void make_every(struct crit_maker *m)
{
	uint32_t stream;

	make_birth(m);
	stream = make_rank(m);
	make_work(m, stream);
	make_end(m, stream);
}

static void make_synthetic(struct crit_maker *m)
{
	crit_synthetic_write(&(struct crit_synthetic){ .nodes = 1,
						       .ranks = 3,
						       .threads = 2,
						       .period_ns = 700000001,
						       .periods = 10 },
			     0, m);
}

static void print_attribution(FILE *out, const struct crit_attribution *e)
{
	fprintf(out, " cmetric %.12g %.12g stall %.12g %.12g for %.12g waiting %llu\n",
		crit_fix_seconds(e->cmetric[0]), crit_fix_seconds(e->cmetric[1]),
		crit_fix_seconds(e->all_waiting[0]), crit_fix_seconds(e->all_waiting[1]),
		crit_fix_seconds(e->blame), (unsigned long long)e->waiting_ns);
}

/* A rank of two threads: a phase, in it a parallel region, in that a lock; then an MPI call. */
static void make_teams(struct crit_maker *m)
{
	static const char phase[] = "time step with a name of two slots";
	const struct crit_maker_construct spans[] = {
		{ CRIT_CONSTRUCT_PHASE, 1, 0, 0 },
		{ CRIT_CONSTRUCT_PARALLEL, 2, 0x401000, CRIT_INSTANCE_PRIMARY | 2ull << 48 | 1 },
		{ CRIT_CONSTRUCT_PARALLEL, 2, 0x401000, 1 },
		{ CRIT_CONSTRUCT_LOCK_WAIT, 2, 0x401010, 0xabc0 },
		{ CRIT_CONSTRUCT_IMPLICIT_BARRIER, 2, 0x401020, 0 },
	};
	uint32_t main_stream, worker;

	crit_maker_file(m, (struct crit_rec_file){ .cpu_count = 2,
						   .level = CRIT_LEVEL_TRACE,
						   .kernel_status = -1,
						   .start_mono_ns = T0,
						   .host = "golden" });
	crit_maker_process(m,
			   (struct crit_rec_process){ .pid = 200, .ns_pid = 200, .time_ns = T0 });
	crit_maker_rank(m, (struct crit_rec_rank){ .pid = 200, .size = 1, .open_ns = T0 });
	main_stream = crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = 200, .ns_tid = 200, .claim_ns = T0 });
	worker = crit_maker_stream(
		m,
		(struct crit_rec_stream){ .pid = 200, .ns_tid = 201, .buffer = 1, .claim_ns = T0 });
	crit_maker_worker(m, worker, T0);
	crit_maker_region(m, main_stream,
			  (struct crit_slot_region){ .call = CRIT_CONSTRUCT_PHASE, .region = 1 },
			  phase);
	crit_maker_construct(m, main_stream, T0 + 1000, spans[0]);
	crit_maker_region(m, main_stream,
			  (struct crit_slot_region){ .site = 0x401000,
						     .call = CRIT_CONSTRUCT_PARALLEL,
						     .region = 2,
						     .parent = 1 },
			  NULL);
	crit_maker_construct(m, main_stream, T0 + 2000, spans[1]);
	crit_maker_construct(m, worker, T0 + 2500, spans[2]);
	crit_maker_construct(m, worker, T0 + 3000, spans[3]);
	crit_maker_leave(m, worker, T0 + 4000, CRIT_CONSTRUCT_LOCK_WAIT);
	crit_maker_release(m, worker, T0 + 4500, CRIT_CONSTRUCT_LOCK_WAIT, 0xabc0);
	crit_maker_construct(m, worker, T0 + 6000, spans[4]);
	crit_maker_construct(m, main_stream, T0 + 9000, spans[4]);
	crit_maker_leave(m, main_stream, T0 + 9000, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, main_stream, T0 + 9000, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_enter_at(m, main_stream, T0 + 10000, CRIT_MPI_Barrier, 0x402000);
	crit_maker_leave(m, main_stream, T0 + 12000, CRIT_MPI_Barrier);
	crit_maker_leave(m, main_stream, T0 + 13000, CRIT_CONSTRUCT_PHASE);
	crit_maker_leave(m, worker, T0 + 14000, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	crit_maker_leave(m, worker, T0 + 14000, CRIT_CONSTRUCT_PARALLEL);
	crit_maker_stream_end(m, worker, (struct crit_rec_stream_end){ .release_ns = T0 + 15000 });
	crit_maker_close(m, (struct crit_rec_close){ .pid = 200, .close_ns = T0 + 15000 });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = 200, .time_ns = T0 + 16000 });
}

static void print_cells(FILE *out, const struct crit_cells *cells)
{
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		for (int class = 0; class < CRIT_CLASS_COUNT; class ++)
			if (cells->ns[state][class])
				fprintf(out, "  cell %d %s %llu\n", state,
					crit_class_name((enum crit_span_class) class),
					(unsigned long long)cells->ns[state][class]);
}

static void print_regions(FILE *out, const struct crit_results *r)
{
	for (size_t i = 0; i < r->regions.row_count; i++) {
		const struct crit_region_row *row = &r->regions.rows[i];

		fprintf(out, "region %u of %u in %d: %s 0x%llx \"%s\" visits %llu elapsed %llu",
			row->number, row->pid, row->parent, crit_call_name(row->call),
			(unsigned long long)row->site, row->name, (unsigned long long)row->visits,
			(unsigned long long)row->elapsed_ns);
		fprintf(out, " team %u scheduling %llu imbalance %llu\n", row->team_max,
			(unsigned long long)row->scheduling_ns,
			(unsigned long long)row->imbalance_ns);
		for (size_t j = row->first_part; j < row->first_part + row->part_count; j++) {
			const struct crit_region_part *part = &r->regions.parts[j];

			fprintf(out, "  thread %u visits %llu time %llu useful %llu wait %llu",
				r->threads[part->thread].tid, (unsigned long long)part->visits,
				(unsigned long long)part->time_ns,
				(unsigned long long)part->useful_ns,
				(unsigned long long)part->omp_wait_ns);
			fprintf(out, " mpi %llu", (unsigned long long)part->mpi_ns);
			print_attribution(out, &part->run);
		}
	}
}

static void print_results(FILE *out, const struct crit_results *r)
{
	fprintf(out, "window %llu %llu\n", (unsigned long long)r->window_begin_ns,
		(unsigned long long)r->window_ns);
	for (size_t i = 0; i < r->thread_count; i++) {
		const struct crit_thread_row *t = &r->threads[i];

		fprintf(out, "thread %u %u role %d \"%s\" life %llu switches %llu", t->pid, t->tid,
			(int)t->role, t->name, (unsigned long long)t->life_ns,
			(unsigned long long)t->switches);
		print_attribution(out, &t->run);
		print_cells(out, &t->cells);
	}
	for (size_t i = 0; i < r->rank_count; i++) {
		fprintf(out, "rank %u", r->ranks[i].rank);
		print_attribution(out, &r->ranks[i].run);
	}
	for (size_t i = 0; i < r->call_count; i++) {
		const struct crit_call_row *c = &r->calls[i];

		fprintf(out, "call %s visits %llu polled %llu time %llu wait %llu",
			crit_call_name(c->call), (unsigned long long)c->visits,
			(unsigned long long)c->polled_calls, (unsigned long long)c->time_ns,
			(unsigned long long)c->wait_ns);
		print_attribution(out, &c->run);
	}
	print_regions(out, r);
	for (size_t i = 0; i < r->check_count; i++)
		fprintf(out, "law %d %d cmetric %.12g stall %.12g active %llu\n",
			(int)r->checks[i].unit, (int)r->checks[i].scope,
			crit_fix_seconds(r->checks[i].cmetric_sum),
			crit_fix_seconds(r->checks[i].all_waiting_sum),
			(unsigned long long)r->checks[i].active_ns);
	fprintf(out, "losses %llu\n", (unsigned long long)crit_analysed_losses(&r->losses));
}

/* What the file holds; *ret_length bytes, a zero behind them. */
static char *read_file(const char *path, size_t *ret_length)
{
	FILE *file = fopen(path, "rb");
	char *bytes = calloc(1, 1 << 20);

	*ret_length = 0;
	if (file && bytes)
		*ret_length = fread(bytes, 1, (1 << 20) - 1, file);
	if (file)
		(void)fclose(file);
	return bytes;
}

static void keep(const char *path, const void *bytes, size_t length)
{
	FILE *file = fopen(path, "wb");

	if (!CHECK(file))
		return;
	CHECK_UINT_EQ(fwrite(bytes, 1, length, file), length);
	(void)fclose(file);
}

/* The bytes are read as the text on disk says. */
static void check_text(const char *name, const char *bytes, size_t length)
{
	struct crit_results *r = NULL;
	char path[512];
	size_t text_length, printed_length;
	char *text, *printed = NULL;
	FILE *out = open_memstream(&printed, &printed_length);

	(void)snprintf(path, sizeof(path), DATA_DIR "/%s.txt", name);
	if (out && CHECK_INT_EQ(crit_analysed_bytes(bytes, length, CRIT_ACTIVE_DEFAULT, &r), 0) &&
	    r)
		print_results(out, r);
	if (out)
		(void)fclose(out);
	if (is_written)
		keep(path, printed, printed_length);
	text = read_file(path, &text_length);
	CHECK_STR_EQ(printed, text);
	crit_results_destroy(r);
	free(printed);
	free(text);
}

/* The bytes on disk are those the maker makes of this version. */
static void check_golden(const char *name, void (*make)(struct crit_maker *m), uint16_t version)
{
	struct crit_maker_options options = { .version = version };
	struct crit_maker *m = crit_maker_create(&options);
	size_t made_length, length;
	unsigned char *made;
	char path[512], *bytes;

	CHECK_CASE("%s, version %u", name, version);
	make(m);
	made = crit_maker_bytes(m, &made_length);
	(void)snprintf(path, sizeof(path), DATA_DIR "/%s-%u.crit", name, version);
	if (is_written)
		keep(path, made, made_length);
	bytes = read_file(path, &length);
	CHECK_UINT_EQ(length, made_length);
	CHECK(bytes && length == made_length && memcmp(bytes, made, length) == 0);
	check_text(name, bytes, length);
	free(bytes);
	free(made);
	crit_maker_destroy(m);
}

/* Of version 1 there is what was made in its day: what stood for a golden recording then. */
static void check_first(void)
{
	size_t length;
	char *bytes = read_file(DATA_DIR "/first-1.crit", &length);

	CHECK_CASE("first, version 1");
	check_text("first", bytes, length);
	free(bytes);
}

int main(int argc, char **argv)
{
	is_written = argc > 1 && !strcmp(argv[1], "--write");
	check_first();
	for (uint16_t version = 2; version <= CRIT_RECORDING_VERSION; version++) {
		check_golden("every", make_every, version);
		check_golden("teams", make_teams, version);
		check_golden("synthetic", make_synthetic, version);
	}
	return check_done();
}
