// SPDX-License-Identifier: BSD-3-Clause
// Call sites: one line of two ranks loaded at different addresses is one site; no map, no name.
#include "report/tables/call_sites.h"

#include <limits.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "core/base/call.h"
#include "core/base/err.h"
#include "tests/lib/check.h"
#include "tests/maker/maker.h"
#include "tests/unit/report/results_sample.h"

static const char maps_1000[] =
	"555500000000-555500001000 r--p 00000000 08:01 11  /opt/bin/solver\n"
	"555500001000-555500009000 r-xp 00001000 08:01 11  /opt/bin/solver\n"
	"7f0000000000-7f0000010000 r-xp 00000000 08:01 12  /opt/lib/libm one.so\n"
	"7ffc00000000-7ffc00010000 rw-p 00000000 00:00 0   [stack]\n"
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0   [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";
static const char maps_1001[] =
	"56aa00000000-56aa00001000 r--p 00000000 08:01 11  /opt/bin/solver\n"
	"56aa00001000-56aa00009000 r-xp 00001000 08:01 11  /opt/bin/solver\n"
	"00400000-00500000 r-xp 00000000 08:01 13          /opt/bin/fixed\n";

/* At two times something else at the same place, and a last line that was cut. */
static const char maps_1002[] = "00400000-00500000 r-xp 00000000 08:01 13          /opt/bin/fixed\n"
				"00600000-00700000 r-xp 00000000 08:01 14          /opt/lib/a.so\n";
static const char maps_1002_later[] =
	"00400000-00500000 r-xp 00000000 08:01 13          /opt/bin/fixed\n"
	"00580000-00680000 r-xp 00000000 08:01 15          /opt/lib/b.so\n"
	"00800000-00900000 r-xp 00000000 08:01 16          /opt/lib/cu";

static void write_recording(const char *path)
{
	struct crit_maker *maker = crit_maker_create(&(struct crit_maker_options){ 0 });

	crit_maker_file(maker, (struct crit_rec_file){ .host = "node1" });
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1000 }, maps_1000);
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1001 }, maps_1001);
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1002 }, maps_1002);
	crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 1002 }, maps_1002_later);
	crit_maker_foot(maker, (struct crit_rec_foot){ 0 });
	crit_maker_write(maker, path);
	crit_maker_destroy(maker);
}

static void place(struct results_sample *sample, size_t i, uint32_t pid, uint64_t address)
{
	sample->call_sites[i] = sample->call_sites[0];
	sample->call_sites[i].pid = pid;
	sample->call_sites[i].site = address;
}

static void test_merge(const char *path)
{
	static struct results_sample sample;
	const struct crit_elf_reader_options options = { 0 };
	struct crit_elf_reader *reader = NULL;
	struct crit_call_sites *call_sites;
	const struct crit_call_site_row *rows;
	size_t count;
	struct crit_symbols *symbols = NULL;
	struct crit_source_location vdso;
	struct crit_err err = { { 0 } };
	char text[PATH_MAX];

	results_sample_barriers(&sample);
	place(&sample, 1, 1001, 0x56aa000014c1);
	place(&sample, 2, 1001, 0x401234);
	place(&sample, 3, 1001, 0x7f0000000010); /* mapped in the other process only */
	place(&sample, 0, 1000, 0x5555000014c1);
	sample.results.call_site_count = 4;
	if (!CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0) ||
	    !CHECK_INT_EQ(crit_symbols_create(&path, 1, NULL, reader, &symbols, &err), 0))
		return;
	call_sites = crit_call_sites_create(symbols, &sample.results);
	rows = crit_call_sites_rows(call_sites, &count);
	if (!CHECK_UINT_EQ(count, 3))
		return;
	CHECK_STR_EQ(rows[0].place.module, "/opt/bin/solver");
	CHECK_UINT_EQ(rows[0].place.offset, 0x14c1);
	CHECK_INT_EQ(rows[0].process_count, 2);
	CHECK_UINT_EQ(rows[0].visits, 160);
	CHECK_NEAR(crit_fix_seconds(rows[0].all_waiting), 0.2, 1e-12);
	CHECK_STR_EQ(crit_source_location_text(&rows[0].place, text, sizeof(text)),
		     "solver+0x14c1");
	CHECK(rows[1].place.module == NULL);
	CHECK_UINT_EQ(rows[1].place.offset, 0x7f0000000010);
	CHECK_STR_EQ(rows[2].place.module, "/opt/bin/fixed");
	CHECK_UINT_EQ(rows[2].place.offset, 0x401234); /* not position-independent: as it stands */
	crit_symbols_find(symbols, 0, 1000, 0x7ffd00000123, &vdso);
	CHECK_STR_EQ(vdso.module, "[vdso]");
	CHECK_UINT_EQ(vdso.offset, 0x123);
	CHECK(!vdso.function && !vdso.build_id);
	CHECK_UINT_EQ(crit_symbols_doubts(symbols, text, sizeof(text)), 2);
	CHECK_STR_EQ(text, "/opt/bin/solver cannot be opened");
	crit_call_sites_destroy(call_sites);
	crit_symbols_destroy(symbols);
	crit_elf_reader_destroy(reader);
}

static void test_times(const char *path)
{
	static const struct {
		uint64_t address;
		const char *module;
	} cases[] = {
		{ 0x400001, "/opt/bin/fixed" }, { 0x400000, NULL }, { 0x500000, "/opt/bin/fixed" },
		{ 0x580001, "/opt/lib/b.so" },  { 0x600001, NULL }, /* two claim it */
		{ 0x680001, "/opt/lib/a.so" },  { 0x700001, NULL }, { 0x800001, NULL },
	};
	struct crit_symbols *symbols = NULL;
	struct crit_err err;

	if (!CHECK_INT_EQ(crit_symbols_create(&path, 1, NULL, NULL, &symbols, &err), 0))
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct crit_source_location place;

		CHECK_CASE("%#llx", (unsigned long long)cases[i].address);
		crit_symbols_find(symbols, 0, 1002, cases[i].address, &place);
		CHECK_STR_EQ(place.module, cases[i].module);
	}
	CHECK_CASE("%s", "");
	crit_symbols_destroy(symbols);
}

static void test_text(void)
{
	const struct crit_source_location line = { .module = "/bin/solver",
						   .function = "exchange(double*)",
						   .file = "/src/a_solver.c",
						   .line = 42 };
	const struct crit_source_location symbol = { .module = "/bin/solver",
						     .function = "exchange",
						     .function_offset = 0x1c };
	const struct crit_source_location offset = { .module = "/a/very_long_program_name",
						     .offset = 0x14c1 };
	const struct crit_source_location begin = { .module = "/bin/solver",
						    .function = "main._omp_fn.0",
						    .offset = 0x1401 };
	const struct crit_source_location bare = { .offset = 0x7f0000000010 };
	char text[22];

	CHECK_STR_EQ(crit_source_location_text(&line, text, sizeof(text)), "exchang a_solver.c:42");
	CHECK_STR_EQ(crit_source_location_text(&line, text, 10), "lver.c:42");
	CHECK_STR_EQ(crit_source_location_text(&symbol, text, sizeof(text)), "exchange+0x1c");
	CHECK_STR_EQ(crit_source_location_text(&offset, text, sizeof(text)),
		     "very_long_prog+0x14c1");
	CHECK_STR_EQ(crit_source_location_text(&begin, text, sizeof(text)), "main._omp_fn.0");
	CHECK_STR_EQ(crit_source_location_text(&begin, text, 10), "main._omp");
	CHECK_STR_EQ(crit_source_location_text(&bare, text, sizeof(text)), "0x7f0000000010");
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
	test_times(path);
	test_text();
	(void)unlink(path);
	return check_done();
}
