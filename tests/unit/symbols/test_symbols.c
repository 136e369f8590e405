// SPDX-License-Identifier: BSD-3-Clause
// Names of code: small programs in C, C++ and Fortran are built in several ways and run twice, tell
// the return addresses of marked lines and their memory maps, and are looked up.
#include "analysis/symbols/symbols.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "tests/lib/check.h"
#include "tests/lib/check_scratch.h"
#include "tests/maker/maker.h"

#define CALL_SITES_MAX 8
#define MAPS_BYTES (1u << 18)
#define ANY "" /* inlined or not, as the compiler likes */
#define PROBE "-L. -lprobe -Wl,-rpath,'$ORIGIN' -Wl,--build-id=0x0123456789abcdef"

enum detail { /* what is known of a program's own sites */
	NOTHING = 0,
	SYMBOLS,
	LINES
};

struct level { /* of an inline chain */
	const char *function;
	const char *mark; /* of its line; NULL ends the chain */
};

struct expected {
	const char *name;
	const char *function;
	const char *outer;
	const char *symbol; /* in the symbol table, demangled */
	const char *source;
	const struct level *chain; /* NULL: as the compiler likes */
};

struct program {
	const char *title;
	const char *build; /* P: the folder of the sources */
	const char *argument;
	const struct expected *expected;
	const char *source; /* whose detail it is */
	enum detail detail;
};

struct process { /* one run */
	size_t call_site_count;
	char names[CALL_SITES_MAX][32];
	uint64_t addresses[CALL_SITES_MAX];
	char maps[MAPS_BYTES];
};

static const struct level inlined_twice[] = {
	{ "innermost", "inlined" }, { "between", "between" }, { "exchange", "exchange" }, { 0 }
};
static const struct level inlined_once[] = { { "beside", "beside" },
					     { "exchange", "second" },
					     { 0 } };
static const struct level not_inlined[] = { { "exchange", "plain" }, { 0 } };
static const struct expected in_c[] = {
	{ "inlined", "innermost", "exchange", "exchange", "plain.c", inlined_twice },
	{ "beside", "beside", "exchange", "exchange", "plain.c", inlined_once },
	{ "plain", "exchange", NULL, "exchange", "plain.c", not_inlined },
	{ "team", "sum_up", NULL, "sum_up", "plain.c", NULL },
	{ "inner", "sum_up", NULL, "sum_up", "plain.c", NULL },
	{ "library", "probe_library", NULL, "probe_library", "probe.c", NULL },
	{ "plugin", "run_plugin", NULL, "run_plugin", "plugin.c", NULL },
	{ 0 },
};
static const struct expected in_cxx[] = {
	{ "member", "solver::Grid<double>::exchange(double)", NULL,
	  "solver::Grid<double>::exchange(double)", "plain.cc", NULL },
	{ "free", "solver::sweep(int)", NULL, "solver::sweep(int)", "plain.cc", NULL },
	{ "local", "solver::(anonymous namespace)::Local::step", ANY, NULL, "plain.cc", NULL },
	{ "team", "solver::sum_up(int)", NULL, "solver::sum_up(int)", "plain.cc", NULL },
	{ "library", "probe_library", NULL, "probe_library", "probe.c", NULL },
	{ 0 },
};
static const struct expected in_fortran[] = {
	{ "module", "sweep", NULL, "__probes_MOD_sweep", "plain.f90", NULL },
	{ "inside", "inside", ANY, NULL, "plain.f90", NULL },
	{ "external", "external", ANY, "external_", "plain.f90", NULL },
	{ "team", "sum_up", ANY, "sum_up_", "plain.f90", NULL },
	{ "program", "places", ANY, "MAIN__", "plain.f90", NULL },
	{ 0 },
};

#define STRIPPED(name) "objcopy --only-keep-debug " name " " name ".debug && strip " name
#define LINKED(name) STRIPPED(name) " && objcopy --add-gnu-debuglink=" name ".debug " name
#define IN(compiler, source) compiler " $P/" source " -o c " PROBE
#define IN_C(flags) IN("gcc " flags, "plain.c")
#define RELATIVE(flags)                                                                            \
	"mkdir -p d && cp $P/plain.c . && cd d && " flags " -I$P -c ../plain.c -o ../c.o && "      \
	"cd .. && gcc c.o -o c " PROBE

static const struct program programs[] = {
	{ "gcc -O2", IN_C("-O2 -g"), "plugin.so", in_c, "plain.c", LINES },
	{ "gcc -O2 -no-pie", IN_C("-O2 -g -no-pie"), "plugin.so", in_c, "plain.c", LINES },
	{ "gcc -O0", RELATIVE("gcc -O0 -g"), "", in_c, "plain.c", LINES },
	{ "gcc -gdwarf-4 -gz", RELATIVE("gcc -O2 -gdwarf-4 -gz"), "", in_c, "plain.c", LINES },
	{ "gcc -gsplit-dwarf", RELATIVE("gcc -O2 -g -gsplit-dwarf"), "", in_c, "plain.c", LINES },
	{ "gcc -fopenmp", IN_C("-O2 -g -fopenmp"), "", in_c, "plain.c", LINES },
	{ "gcc -O0 -fopenmp", IN_C("-O0 -g -fopenmp"), "", in_c, "plain.c", LINES },
	{ "clang -fopenmp", IN("clang -O2 -g -fopenmp", "plain.c"), "", in_c, "plain.c", LINES },
	{ "clang -O0 -fopenmp", IN("clang -O0 -g -fopenmp", "plain.c"), "", in_c, "plain.c",
	  LINES },
	{ "g++ -fopenmp", IN("g++ -O2 -g -fopenmp", "plain.cc"), "", in_cxx, "plain.cc", LINES },
	{ "clang++ -fopenmp", IN("clang++ -O2 -g -fopenmp", "plain.cc"), "", in_cxx, "plain.cc",
	  LINES },
	{ "gfortran -fopenmp", IN("gfortran -O2 -g -fopenmp -J.", "plain.f90"), "", in_fortran,
	  "plain.f90", LINES },
	{ "gcc, no debug data", IN_C("-O2"), "", in_c, "plain.c", SYMBOLS },
	{ "gcc, stripped", IN_C("-O2 -g -s"), "", in_c, "plain.c", NOTHING },
	{ "debug file beside", IN_C("-O2 -g") " && " LINKED("c"), "", in_c, "plain.c", LINES },
	{ "debug file in .debug",
	  IN_C("-O2 -g") " && " LINKED("c") " && mkdir -p .debug && mv c.debug .debug", "", in_c,
	  "plain.c", LINES },
	{ "debug file by build id",
	  "rm -rf .debug && " IN_C("-O2 -g") " && " STRIPPED(
		  "c") " && mkdir -p store/.build-id/01 && "
		       "mv c.debug store/.build-id/01/23456789abcdef.debug",
	  "", in_c, "plain.c", LINES },
	{ "debug file of another build",
	  "rm -rf store && " IN_C("-O2 -g") " && " LINKED(
		  "c") " && gcc -O1 -g $P/plain.c -o other " PROBE
		       ",--build-id=0xff && objcopy --only-keep-debug other c.debug",
	  "", in_c, "plain.c", NOTHING },
	{ "no build id, debug file by checksum", IN_C("-O2 -g") ",--build-id=none && " LINKED("c"),
	  "", in_c, "plain.c", LINES },
	{ "no build id, wrong checksum",
	  IN_C("-O2 -g") ",--build-id=none && " LINKED("c") " && printf x >>c.debug", "", in_c,
	  "plain.c", NOTHING },
	{ "clang -O2", IN("clang -O2 -g", "plain.c"), "plugin.so", in_c, "plain.c", LINES },
	{ "clang -no-pie", IN("clang -O2 -g -no-pie", "plain.c"), "", in_c, "plain.c", LINES },
	{ "g++ -O2", IN("g++ -O2 -g", "plain.cc"), "", in_cxx, "plain.cc", LINES },
	{ "clang++ -O2", IN("clang++ -O2 -g", "plain.cc"), "", in_cxx, "plain.cc", LINES },
	{ "g++, symbols", IN("g++ -O2 -fno-ipa-sra", "plain.cc"), "", in_cxx, "plain.cc", SYMBOLS },
	{ "gfortran", IN("gfortran -O2 -g -J.", "plain.f90"), "", in_fortran, "plain.f90", LINES },
	{ "gfortran, no debug data", IN("gfortran -O1 -fno-inline -J.", "plain.f90"), "",
	  in_fortran, "plain.f90", SYMBOLS },
};

static bool shell(const char *command)
{
	char line[2048];

	(void)snprintf(line, sizeof(line), "P='%s/places'; export CPATH=\"$P/../../../..\"; %s",
		       SOURCE_DIR, command);
	return CHECK_INT_EQ(system(line), 0);
}

/* The line a marker is on. */
static uint32_t line_of(const char *source, const char *name)
{
	char path[PATH_MAX], marker[64], line[512];
	crit_autofclose FILE *file = NULL;

	(void)snprintf(path, sizeof(path), "%s/places/%s", SOURCE_DIR, source);
	(void)snprintf(marker, sizeof(marker), " MARK %s\n", name);
	file = fopen(path, "r");
	for (uint32_t number = 1; file && fgets(line, sizeof(line), file); number++)
		if (strstr(line, marker))
			return number;
	return 0;
}

static bool run(struct process *process, const char *argument)
{
	FILE *output;
	char command[PATH_MAX];
	char line[4096];
	size_t used = 0;

	memset(process, 0, sizeof(*process));
	(void)snprintf(command, sizeof(command), "./c %s%s", argument[0] ? "./" : "", argument);
	output = popen(command, "r");
	while (output && fgets(line, sizeof(line), output)) {
		size_t i = process->call_site_count;
		size_t length = strlen(line);

		if (i < CALL_SITES_MAX && sscanf(line, "site %31s %" SCNx64, process->names[i],
						 &process->addresses[i]) == 2) {
			process->call_site_count++;
		} else if (used + length < sizeof(process->maps)) {
			memcpy(process->maps + used, line, length + 1);
			used += length;
		}
	}
	return CHECK(output && pclose(output) == 0);
}

static struct crit_elf_reader *reader; /* of the symbols made last */

static void start_reader(uint32_t wait_s, uint32_t total_s)
{
	const struct crit_elf_reader_options options = { .debug_directories = "nowhere::store",
							 .wait_s = wait_s,
							 .total_s = total_s };

	CHECK_INT_EQ(crit_elf_reader_create(&options, &reader), 0);
}

static void forget_names(struct crit_symbols *symbols)
{
	crit_symbols_destroy(symbols);
	crit_elf_reader_destroy(reader);
	reader = NULL;
}

static struct crit_maker *begin_recording(void)
{
	struct crit_maker *maker = crit_maker_create(NULL);
	const uint64_t now_ns = crit_clock_ns(CLOCK_REALTIME);

	crit_maker_file(maker, (struct crit_rec_file){ .host = "node", .start_real_ns = now_ns });
	return maker;
}

/* Ownership: takes the maker. */
static struct crit_symbols *names_of(struct crit_maker *maker)
{
	const char *paths[] = { "run.crit" };
	struct crit_symbols *symbols = NULL;
	struct crit_err err;

	crit_maker_foot(maker, (struct crit_rec_foot){ 0 });
	crit_maker_write(maker, paths[0]);
	crit_maker_destroy(maker);
	if (!reader)
		start_reader(0, 0);
	CHECK_INT_EQ(crit_symbols_create(paths, 1, NULL, reader, &symbols, &err), 0);
	return symbols;
}

/* Two processes, 100 and 101, as critd records them. */
static struct crit_symbols *read_names(const struct process *processes)
{
	struct crit_maker *maker = begin_recording();

	for (uint32_t i = 0; i < 2; i++)
		crit_maker_maps(maker, (struct crit_rec_maps){ .pid = 100 + i }, processes[i].maps);
	return names_of(maker);
}

static void check_lines(const struct expected *expected, const struct crit_source_location *place)
{
	char text[128];
	char wanted[128];
	uint32_t line = line_of(expected->source, expected->name);
	const char *function = expected->function;
	size_t length = strlen(function);

	/* clang gives linkage names, and with them parameters, to local functions too */
	if (place->function && strncmp(place->function, function, length) == 0 &&
	    strcmp(place->function + length, "(int)") == 0)
		function = place->function;
	(void)snprintf(wanted, sizeof(wanted), "%s %s:%" PRIu32, function, expected->source, line);
	CHECK_STR_EQ(crit_source_location_text(place, text, sizeof(text)), wanted);
	CHECK_UINT_EQ(place->line, line);
	if (!expected->outer || expected->outer[0])
		CHECK_STR_EQ(place->outer, expected->outer);
	CHECK_UINT_EQ(place->function_offset, 0);
}

static void check_chain(const struct expected *expected, const struct crit_source_location *place)
{
	const struct level *level = expected->chain;
	uint32_t depth = 0;

	CHECK_UINT_EQ(place->cut_count, 0);
	CHECK_UINT_EQ(place->frame_count > 1, place->outer != NULL);
	for (; level && level->mark && depth < place->frame_count; level++, depth++) {
		const struct crit_source_frame *frame = &place->frames[depth];

		CHECK_STR_EQ(frame->function, level->function);
		CHECK(frame->file && strstr(frame->file, expected->source) &&
		      access(frame->file, R_OK) == 0);
		CHECK_UINT_EQ(frame->line, line_of(expected->source, level->mark));
	}
	CHECK(!level || (!level->mark && depth == place->frame_count));
}

static void check_symbol(const struct expected *expected, const struct crit_source_location *place)
{
	CHECK(!place->file && place->line == 0);
	if (expected->symbol) /* else inlined or local: the name is the compiler's */
		CHECK_STR_EQ(place->function, expected->symbol);
	CHECK(place->function_offset > 0);
	CHECK_UINT_EQ(place->frame_count, 1);
}

static void check_site(const struct program *program, const struct expected *expected,
		       const struct crit_source_location *place)
{
	enum detail detail = strcmp(expected->source, program->source) ? LINES : program->detail;

	CHECK(place->module && place->module[0] == '/');
	if (detail == LINES) {
		check_lines(expected, place);
		check_chain(expected, place);
	}
	if (detail == SYMBOLS)
		check_symbol(expected, place);
	if (detail == NOTHING)
		CHECK(!place->file && !place->function && !place->frame_count);
	CHECK((detail == NOTHING) == (place->function_begin > 0));
}

static void check_program(const struct program *program)
{
	static struct process processes[2];
	struct crit_symbols *symbols;
	char text[256];

	printf("%s\n", program->title);
	if (!shell(program->build) || !run(&processes[0], program->argument) ||
	    !run(&processes[1], program->argument))
		return;
	symbols = read_names(processes);
	for (size_t i = 0; symbols && i < processes[0].call_site_count; i++) {
		const struct expected *expected = program->expected;
		struct crit_source_location places[2];

		while (expected->name && strcmp(expected->name, processes[0].names[i]) != 0)
			expected++;
		for (uint32_t p = 0; p < 2; p++)
			crit_symbols_find(symbols, 0, 100 + p, processes[p].addresses[i],
					  &places[p]);
		if (CHECK(expected->name))
			check_site(program, expected, &places[1]);
		CHECK_INT_EQ(crit_source_location_compare(&places[0], &places[1]), 0);
		CHECK_INT_EQ(crit_source_location_compare(&places[0], &places[0]), 0);
	}
	CHECK(processes[0].call_site_count >= 3);
	CHECK_UINT_EQ(crit_symbols_doubts(symbols, text, sizeof(text)), 0);
	CHECK_STR_EQ(text, "");
	forget_names(symbols);
}

static bool has_been_opened(int watch)
{
	char bytes[sizeof(struct inotify_event) + NAME_MAX + 1];
	struct inotify_event event = { 0 };

	do {
		if (read(watch, bytes, sizeof(bytes)) < (ssize_t)sizeof(event))
			return false;
		memcpy(&event, bytes, sizeof(event));
	} while (!(event.mask & IN_OPEN));
	return true;
}

/* What lies there after the run is not what ran. */
static void test_replaced(void)
{
	static const struct {
		const char *change;
		const char *doubt;
	} changes[] = {
		{ "true", "" },
		{ "touch c", "was changed since the run" },
		{ "mv c old && cp -p old c", "is another file now" },
		{ "rm -f c && mkfifo c", "is no program that makes sense" },
		{ "rm c", "cannot be opened" },
	};
	static struct process processes[2];
	crit_autoclose int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (!shell(IN_C("-O2 -g")) || !run(&processes[0], "") || !run(&processes[1], ""))
		return;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct crit_symbols *symbols = read_names(processes);
		struct crit_source_location place;
		char text[PATH_MAX];

		if (!symbols || !shell(changes[i].change))
			return;
		(void)inotify_add_watch(watch, "c", IN_OPEN); /* not there in the end */
		crit_symbols_find(symbols, 0, 100, processes[0].addresses[0], &place);
		CHECK_INT_EQ(has_been_opened(watch), i < 3); /* no FIFO */
		CHECK(strstr(place.module, "/c"));
		CHECK((place.line > 0) == (i == 0));
		CHECK((place.function != NULL) == (i == 0));
		CHECK((place.build_id != NULL) == (i == 0));
		CHECK_UINT_EQ(crit_symbols_doubts(symbols, text, sizeof(text)), i > 0);
		CHECK(strstr(text, changes[i].doubt));
		(void)crit_source_location_text(&place, text, sizeof(text));
		CHECK(i == 0 || strncmp(text, "c+0x", 4) == 0);
		forget_names(symbols);
	}
}

/*
 * The reader dies of the program, or does not come to an end: its other names are missing, those of
 * the library are there.
 */
static void test_fatal(void)
{
	static const struct {
		const char *build;
		const char *change; /* after the first name */
		const char *doubt;
	} cases[] = {
		{ IN_C("-O2 -g"), "truncate -s 100 c", "it changed while it was read" },
		{ IN_C("-O2 -g"), "cp -p c old && cat old >c", "it changed while it was read" },
		{ IN_C("-O2 -g -gsplit-dwarf"), "rm -f *.dwo && mkfifo c-plain.dwo",
		  "that took too long" },
	};
	static struct process processes[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct crit_symbols *symbols;
		struct crit_source_location place;
		char text[PATH_MAX];
		bool is_first = strstr(cases[i].doubt, "changed") != NULL;

		CHECK_CASE("%s", cases[i].change);
		start_reader(1, 0);
		if (!shell(cases[i].build) || !run(&processes[0], "") || !run(&processes[1], ""))
			return;
		symbols = read_names(processes);
		if (is_first) { /* else the first name opens the unit's own file */
			crit_symbols_find(symbols, 0, 100, processes[0].addresses[0], &place);
			CHECK(place.line > 0);
		}
		if (!shell(cases[i].change))
			return;
		for (int round = 0; round < 2; round++) {
			crit_symbols_find(symbols, 0, 100, processes[0].addresses[1], &place);
			CHECK(!place.file && !place.function && strstr(place.module, "/c"));
			CHECK_UINT_EQ(crit_symbols_doubts(symbols, text, sizeof(text)), 1);
			CHECK(strstr(text, cases[i].doubt));
		}
		for (size_t site = 0; site < processes[0].call_site_count; site++)
			if (strcmp(processes[0].names[site], "library") == 0)
				crit_symbols_find(symbols, 0, 100, processes[0].addresses[site],
						  &place);
		CHECK_STR_EQ(place.function, "probe_library");
		CHECK(place.line > 0);
		forget_names(symbols);
	}
	CHECK_CASE("%s", "");
}

/* A slow file uses up the time for all: it is slow, and the next one is not read any more. */
static void test_late(void)
{
	static struct process processes[2];
	struct crit_symbols *symbols;
	struct crit_source_location place;
	char text[PATH_MAX];

	CHECK_CASE("late");
	start_reader(0, 1);
	if (!shell("rm -f *.dwo") || !shell(IN_C("-O2 -g -gsplit-dwarf")) ||
	    !run(&processes[0], "") || !run(&processes[1], "") ||
	    !shell("rm *.dwo && mkfifo c-plain.dwo"))
		return;
	symbols = read_names(processes);
	crit_symbols_find(symbols, 0, 100, processes[0].addresses[1], &place);
	CHECK(!place.function);
	CHECK_UINT_EQ(crit_symbols_late_files(symbols), 0);
	for (size_t site = 0; site < processes[0].call_site_count; site++)
		if (strcmp(processes[0].names[site], "library") == 0)
			crit_symbols_find(symbols, 0, 100, processes[0].addresses[site], &place);
	CHECK(!place.function && strstr(place.module, "/libprobe.so"));
	CHECK_UINT_EQ(crit_symbols_late_files(symbols), 1);
	CHECK_UINT_EQ(crit_symbols_doubts(symbols, text, sizeof(text)), 1);
	CHECK(strstr(text, "that took too long"));
	forget_names(symbols);
	CHECK_CASE("%s", "");
}

static void test_identity(void)
{
	static struct process processes[2];
	struct crit_symbols *symbols;
	struct crit_source_location first, second;

	if (!shell(IN_C("-O2 -g")) || !run(&processes[0], "") || !run(&processes[1], ""))
		return;
	CHECK(processes[0].addresses[0] != processes[1].addresses[0]); /* else they prove little */
	symbols = read_names(processes);
	crit_symbols_find(symbols, 0, 100, processes[0].addresses[0], &first);
	CHECK_STR_EQ(first.build_id, "0123456789abcdef");
	crit_symbols_find(symbols, 0, 101, processes[1].addresses[1], &second);
	CHECK(crit_source_location_compare(&first, &second) < 0);
	CHECK(crit_source_location_compare(&second, &first) > 0);
	crit_symbols_find(symbols, 0, 102, processes[1].addresses[1], &second); /* nobody's */
	CHECK(!second.module && second.offset == processes[1].addresses[1]);
	crit_symbols_find(symbols, 0, 100, 0, &second);
	CHECK(!second.module && second.offset == 0);
	forget_names(symbols);
}

/* A file server's clock may be ahead: what counts is when the file was seen last. */
static void test_clock_ahead(void)
{
	static struct process process;

	if (!shell(IN_C("-O2 -g")) || !run(&process, ""))
		return;
	for (int is_late = 0; is_late < 2; is_late++) {
		struct crit_rec_maps maps = { .pid = 100, .time_ns = 1000000000 };
		struct crit_maker *maker = begin_recording();
		struct crit_source_location place;
		struct crit_symbols *symbols;

		crit_maker_maps(maker, maps, process.maps);
		maps.time_ns = 101000000000;
		crit_maker_maps(maker, maps, process.maps);
		(void)shell(is_late ? "touch -d '+200 seconds' c" : "touch -d '+50 seconds' c");
		symbols = names_of(maker);
		crit_symbols_find(symbols, 0, 100, process.addresses[0], &place);
		CHECK((place.line > 0) == !is_late);
		forget_names(symbols);
	}
}

/* Another program lay there before, say.  Of process 101 critd alone read something. */
static void test_without_shim(void)
{
	static const char text[] = "0-ffffffffffff r-xp 00000000 fe:00 1 /bin/before\n";
	static struct process process;

	if (!shell(IN_C("-O2 -g")) || !run(&process, ""))
		return;
	for (uint32_t is_read = 0; is_read < 2; is_read++) {
		struct crit_rec_maps maps = { .pid = 100, .without_shim = is_read };
		struct crit_maker *maker = begin_recording();
		struct crit_source_location place;
		struct crit_symbols *symbols;

		crit_maker_maps(maker, maps, text);
		maps = (struct crit_rec_maps){ .pid = 100, .time_ns = 1000000000 };
		crit_maker_maps(maker, maps, process.maps);
		maps = (struct crit_rec_maps){ 101, 1, maps.time_ns };
		crit_maker_maps(maker, maps, process.maps);
		symbols = names_of(maker);
		crit_symbols_find(symbols, 0, 100, process.addresses[0], &place);
		CHECK((place.line > 0) == is_read);
		crit_symbols_find(symbols, 0, 101, process.addresses[0], &place);
		CHECK(place.line > 0);
		forget_names(symbols);
	}
}

/* A server for debug data that counts who comes. */
static int listen_for_debuginfod(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char url[64];

	if (!CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) == 0 &&
		   listen(fd, 16) == 0 &&
		   getsockname(fd, (struct sockaddr *)&address, &bytes) == 0))
		return fd;
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(address.sin_port));
	(void)setenv("DEBUGINFOD_URLS", url, 1);
	(void)setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	return fd;
}

int main(void)
{
	int server = listen_for_debuginfod();

	if (!check_enter_scratch())
		return check_done();
	if (shell("gcc -O2 -g -fPIC -shared $P/probe.c -o libprobe.so && "
		  "gcc -O2 -g -fPIC -shared $P/plugin.c -o plugin.so " PROBE)) {
		for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
			check_program(&programs[i]);
		test_identity();
		test_replaced();
		test_fatal();
		test_late();
		test_clock_ahead();
		test_without_shim();
	}
	CHECK(accept(server, NULL, NULL) < 0 && errno == EAGAIN); /* nobody asked */
	check_leave_scratch();
	return check_done();
}
