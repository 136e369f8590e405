// SPDX-License-Identifier: BSD-3-Clause
/* Call sites: one line of two ranks loaded at different addresses is one site; no map, no name. */
#include "cli/sites.h"

#include <unistd.h>

#include "core/call.h"
#include "tests/lib/check.h"
#include "tests/lib/recording_maker.h"
#include "tests/unit/results_sample.h"

static const char maps_1000[] =
	"555500000000-555500001000 r--p 00000000 08:01 11  /opt/bin/solver\n"
	"555500001000-555500009000 r-xp 00001000 08:01 11  /opt/bin/solver\n"
	"7f0000000000-7f0000010000 r-xp 00000000 08:01 12  /opt/lib/libm one.so\n"
	"7ffc00000000-7ffc00010000 rw-p 00000000 00:00 0   [stack]\n";
static const char maps_1001[] =
	"56aa00000000-56aa00001000 r--p 00000000 08:01 11  /opt/bin/solver\n"
	"56aa00001000-56aa00009000 r-xp 00001000 08:01 11  /opt/bin/solver\n"
	"00400000-00500000 r-xp 00000000 08:01 13          /opt/bin/fixed\n";

static void write_recording(const char *path)
{
	struct crit_maker *maker = crit_maker_create(&(struct crit_maker_options){ 0 });

	crit_maker_file(maker, (struct crit_rec_file){ .host = "node1" });
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1000 }, maps_1000);
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1001 }, maps_1001);
	crit_maker_foot(maker, (struct crit_rec_foot){ 0 });
	crit_maker_write(maker, path);
	crit_maker_destroy(maker);
}

static void place(struct results_sample *sample, size_t i, uint32_t pid, uint64_t address)
{
	sample->sites[i] = sample->sites[0];
	sample->sites[i].pid = pid;
	sample->sites[i].site = address;
}

static void test_merge(const char *path)
{
	static struct results_sample sample;
	struct crit_sites sites = { 0 };
	struct crit_err err = { { 0 } };
	char text[22];

	results_sample_barriers(&sample);
	place(&sample, 1, 1001, 0x56aa000014c1);
	place(&sample, 2, 1001, 0x401234);
	place(&sample, 3, 1001, 0x7f0000000010); /* mapped in the other process only */
	place(&sample, 0, 1000, 0x5555000014c1);
	sample.results.site_count = 4;
	if (!CHECK_INT_EQ(crit_sites_init(&sites, &path, 1, &sample.results, &err), 0))
		return;
	CHECK_INT_EQ(sites.row_count, 3);
	CHECK_STR_EQ(sites.rows[0].module, "/opt/bin/solver");
	CHECK_UINT_EQ(sites.rows[0].offset, 0x14c1);
	CHECK_INT_EQ(sites.rows[0].process_count, 2);
	CHECK_UINT_EQ(sites.rows[0].visits, 160);
	CHECK_NEAR(crit_fix_seconds(sites.rows[0].stall), 0.2, 1e-12);
	CHECK_STR_EQ(crit_site_text(sites.rows[0].module, sites.rows[0].offset, text, sizeof(text)),
		     "solver+0x14c1");
	CHECK(sites.rows[1].module == NULL);
	CHECK_UINT_EQ(sites.rows[1].offset, 0x7f0000000010);
	CHECK_STR_EQ(sites.rows[2].module, "/opt/bin/fixed");
	CHECK_UINT_EQ(sites.rows[2].offset, 0x401234); /* not position-independent: as it stands */
	crit_sites_fini(&sites);
	CHECK_STR_EQ(crit_site_text("/a/very_long_program_name", 0x14c1, text, sizeof(text)),
		     "very_long_prog+0x14c1");
}

int main(void)
{
	char path[] = "/tmp/crit-sites-XXXXXX";
	int fd = mkstemp(path);

	if (!CHECK(fd >= 0))
		return check_done();
	close(fd);
	write_recording(path);
	test_merge(path);
	(void)unlink(path);
	return check_done();
}
