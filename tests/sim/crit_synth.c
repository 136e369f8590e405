// SPDX-License-Identifier: BSD-3-Clause
// crit-synth: writes synthetic recordings of any size and prints what they amount to.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/sim/synthetic.h"

static const char usage[] =
	"usage: crit-synth [options] DIR\n"
	"  -n N  nodes, one recording each (1)\n"
	"  -r R  ranks per node (4)\n"
	"  -t T  threads per rank (1)\n"
	"  -e E  events per second and thread (10000)\n"
	"  -s S  seconds (1)\n"
	"  -S    threads wait by spinning: no kernel records while they run\n"
	"  -m    messages and collectives in detail\n"
	"  -x N  the same, with messages to the N next ranks instead of one\n"
	"  -k N  barriers from N places in the program (1)\n"
	"  -p N  periods within N phases of the program, which take turns (0)\n"
	"  -c NS comparisons of the nodes' clocks err by so much\n"
	"  -f N  instead of all that: one process that forks N others, and they\n"
	"        live on\n"
	"  -b N  instead of all that: one rank that starts N threads, of which\n"
	"        one after the other lives 1 us\n";

struct request {
	struct crit_synthetic spec;
	double events_per_s;
	double seconds;
	uint32_t forks;
	uint32_t brief_threads;
	const char *directory;
};

static int parse(int argc, char **argv, struct request *ret)
{
	int option;

	*ret = (struct request){ .spec = { .nodes = 1, .ranks = 4, .threads = 1 },
				 .events_per_s = 10000,
				 .seconds = 1 };
	while ((option = getopt(argc, argv, "n:r:t:e:s:Smx:k:p:c:f:b:")) != -1) {
		if (option == 'n')
			ret->spec.nodes = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			ret->spec.ranks = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 't')
			ret->spec.threads = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'e')
			ret->events_per_s = strtod(optarg, NULL);
		else if (option == 's')
			ret->seconds = strtod(optarg, NULL);
		else if (option == 'S')
			ret->spec.is_spinning = true;
		else if (option == 'm')
			ret->spec.peers = 1;
		else if (option == 'x')
			ret->spec.peers = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'k')
			ret->spec.sites = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'p')
			ret->spec.phases = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'c')
			ret->spec.skew_ns = strtoull(optarg, NULL, 10);
		else if (option == 'f')
			ret->forks = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'b')
			ret->brief_threads = (uint32_t)strtoul(optarg, NULL, 10);
		else
			return -EINVAL;
	}
	if (optind + 1 != argc || !ret->spec.nodes || !ret->spec.ranks || !ret->spec.threads ||
	    !(ret->events_per_s > 0) || !(ret->seconds > 0) ||
	    ret->spec.peers >= ret->spec.nodes * ret->spec.ranks ||
	    ret->spec.phases >= CRIT_REGIONS_MAX)
		return -EINVAL;
	ret->directory = argv[optind];
	return 0;
}

static void settle(struct request *request)
{
	struct crit_synthetic *spec = &request->spec;
	uint64_t floor_ns = 16ull * spec->nodes * spec->ranks;

	spec->period_ns = (uint64_t)((spec->is_spinning ? 2e9 : 5e9) / request->events_per_s);
	if (spec->period_ns < floor_ns)
		spec->period_ns = floor_ns;
	spec->periods = (uint64_t)(request->seconds * 1e9 / (double)spec->period_ns);
	if (!spec->periods)
		spec->periods = 1;
}

static void write_flood(uint32_t forks, struct crit_maker *m)
{
	crit_maker_file(m, (struct crit_rec_file){ .host = "node", .exe = "flood" });
	crit_maker_exec(m, (struct crit_kernel_exec){ .head.time_ns = 1000,
						      .tid = 100,
						      .old_tid = 100,
						      .tgid = 100,
						      .ns_tid = 100,
						      .comm = "flood" });
	for (uint32_t i = 0; i < forks; i++)
		crit_maker_fork(m, (struct crit_kernel_fork){ .head.time_ns = 2000 + i * 100ull,
							      .parent_tid = 100,
							      .parent_tgid = 100,
							      .tid = 101 + i,
							      .tgid = 101 + i,
							      .ns_tid = 101 + i,
							      .comm = "flood" });
	crit_maker_foot(m, (struct crit_rec_foot){ 0 });
}

static void write_rank(struct crit_maker *m)
{
	crit_maker_enrol(m, (struct crit_kernel_enrol){
				    .head = { .time_ns = 1000, .flags = CRIT_KF_RUNNING },
				    .tid = 100,
				    .tgid = 100,
				    .ns_tid = 100,
				    .comm = "brief" });
	crit_maker_process(m, (struct crit_rec_process){ .pid = 100,
							 .ns_pid = 100,
							 .flavour = CRIT_FLAVOUR_OPENMPI,
							 .has_memfd = 1,
							 .time_ns = 1000,
							 .exe = "/bin/brief",
							 .arguments = "brief" });
	crit_maker_rank(m, (struct crit_rec_rank){ .pid = 100,
						   .size = 1,
						   .open_ns = 2000,
						   .world = "world",
						   .library = "Synthetic MPI" });
}

static void write_thread(struct crit_maker *m, uint32_t tid, uint64_t time_ns)
{
	struct crit_kernel_head head = { .cpu = 1, .time_ns = time_ns };

	crit_maker_fork(m, (struct crit_kernel_fork){ .head = head,
						      .parent_tid = 100,
						      .parent_tgid = 100,
						      .tid = tid,
						      .tgid = 100,
						      .ns_tid = tid,
						      .comm = "brief" });
	crit_maker_wake_new(m, (struct crit_kernel_wake){ .head = head, .tid = tid });
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .next_tid = tid });
	head.time_ns += 1000;
	crit_maker_exit(m, (struct crit_kernel_exit){
				   .head = head, .tid = tid, .tgid = 100, .comm = "brief" });
	head.state = 0x80;
	head.flags = CRIT_KF_TAG_STALE;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = tid });
}

static void write_brief(uint32_t threads, struct crit_maker *m)
{
	const uint64_t end_ns = 3000 + threads * 1100ull;

	crit_maker_file(m, (struct crit_rec_file){ .host = "node",
						   .exe = "/bin/brief",
						   .cpu_count = 2,
						   .level = CRIT_LEVEL_TRACE });
	write_rank(m);
	for (uint32_t i = 0; i < threads; i++)
		write_thread(m, 101 + i, 3000 + i * 1100ull);
	crit_maker_close(m, (struct crit_rec_close){ .pid = 100, .close_ns = end_ns });
	crit_maker_window(m, end_ns + 1000);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = end_ns + 2000,
						   .kernel_records = crit_maker_kernel_count(m) });
}

static int write_node(const struct request *request, uint32_t node)
{
	char path[4096];
	struct crit_maker *m;
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/node%u.crit", request->directory, node);
	out = fopen(path, "wb");
	if (!out)
		return -errno;
	m = crit_maker_create(&(struct crit_maker_options){ .out = out });
	if (request->forks)
		write_flood(request->forks, m);
	else if (request->brief_threads)
		write_brief(request->brief_threads, m);
	else
		crit_synthetic_write(&request->spec, node, m);
	crit_maker_destroy(m);
	return fclose(out) ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct request request;

	if (parse(argc, argv, &request)) {
		fputs(usage, stderr);
		return 2;
	}
	settle(&request);
	if (mkdir(request.directory, 0777) && errno != EEXIST) {
		fprintf(stderr, "crit-synth: cannot make %s: %s\n", request.directory,
			strerror(errno));
		return 1;
	}
	for (uint32_t node = 0; node < request.spec.nodes; node++) {
		int rc = write_node(&request, node);

		if (rc) {
			fprintf(stderr, "crit-synth: cannot write node %u into %s: %s\n", node,
				request.directory, strerror(-rc));
			return 1;
		}
	}
	if (request.forks || request.brief_threads)
		return 0;
	printf("events,%llu\n", (unsigned long long)crit_synthetic_events(&request.spec));
	printf("rank,cmetric_s,stall_s\n");
	for (uint32_t rank = 0; rank < request.spec.nodes * request.spec.ranks; rank++)
		printf("%u,%.12g,%.12g\n", rank,
		       crit_synthetic_cmetric_ns(&request.spec, rank) * 1e-9,
		       crit_synthetic_all_waiting_ns(&request.spec) * 1e-9);
	return 0;
}
