/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code addresses of a run as names: file, function and line, the same for every process that runs
 * the same code, wherever it was loaded.  Read from the programs and libraries after the run, as
 * the user; nobody is asked over a network.
 *
 * A recording names files by path and inode, without a build id.  What lies there now counts as the
 * file of the run when it is that inode and was not changed since critd saw it mapped; of any other
 * nothing is read, and crit_symbols_doubts says so.
 */
#ifndef CRIT_SYMBOLS_H
#define CRIT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_elf_reader;
struct crit_err;
struct crit_recording;
struct crit_region_results;
struct crit_symbols;

struct crit_source_frame {
	const char *function; /* demangled; NULL unknown */
	const char *file; /* as the compiler names it; NULL unknown */
	uint32_t line; /* in function: of the address, or of the call that was inlined; 0 unknown */
};

struct crit_source_location {
	const char *module; /* path of the program or library; NULL: the address is in no file */
	const char *build_id; /* hexadecimal; NULL: it has none, or is not the file of the run */
	uint64_t offset; /* in module, as addr2line takes it; without module the address itself */
	const char *function; /* the one the line is in, demangled; NULL unknown */
	const char *outer; /* the one that was inlined into; NULL: it was not inlined */
	uint64_t function_offset; /* from the begin of function; 0: that, or the line is known */
	uint64_t function_begin; /* in module, of a function without a name; 0 unknown */
	const char *file; /* as the compiler names it; NULL unknown */
	uint32_t line; /* 0 unknown */
	/* the inline chain: function first, then what each was inlined into, outer last */
	const struct crit_source_frame *frames;
	uint32_t frame_count; /* 1: nothing was inlined; 0: nothing is known */
	uint32_t cut_count; /* levels left out before the last: beyond 64, or names too long */
};

/*
 * Reads the memory maps of the recordings, one path per node as crit_analyse has them; opened: they
 * are open already, borrowed until this returns; else NULL.
 * reader: borrowed; NULL: files are not read, and crit_symbols_doubts says so.
 * Ownership: crit_symbols_destroy.  Errors: those of crit_recording_open; -ENOMEM.
 */
int crit_symbols_create(const char *const *paths, size_t path_count,
			const struct crit_recording *const *opened, struct crit_elf_reader *reader,
			struct crit_symbols **ret_symbols, struct crit_err *err);
void crit_symbols_destroy(struct crit_symbols *symbols);

/*
 * Says that crit_symbols_find will be asked for an address: questions to the reader are asked
 * together then.  Cost: as crit_symbols_find, but for messages.
 */
void crit_symbols_expect(struct crit_symbols *symbols, uint32_t node, uint32_t pid,
			 uint64_t address);

/*
 * The place of a return address of a process: of a call site or a parallel region, what
 * crit_call_row.site, crit_region_row.site and crit_trace_span.site hold.  It names the call there;
 * of an address one byte behind the begin of what GCC made of an OpenMP construct, the directive.
 * Ownership: texts live as long as symbols.  Errors: none; what is unknown is NULL or 0.
 * Threads: one at a time.  Cost: a file is opened, and a unit's lines are read, when first needed;
 * a place asked for again costs a search.
 */
void crit_symbols_find(struct crit_symbols *symbols, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place);

/*
 * Learns what parallel regions and tasks are called by.  GCC makes functions of them that files
 * without symbols have no names for: then such a place has the function, and the line, of the call
 * that begins it, but its own offset.  Where optimised code jumps to the runtime instead, they are
 * those of the call before that, unless another file has it.
 * Errors: -ENOMEM.
 */
int crit_symbols_know_regions(struct crit_symbols *symbols,
			      const struct crit_region_results *regions);

/*
 * The place of a byte of a file, which is within a call: the frames of a path have these.  Where
 * nodes have files of their own by one path it is read in the one that lies there now.
 * Ownership, errors, threads and cost as above; module is path where no process had the file.
 */
void crit_symbols_find_in_file(struct crit_symbols *symbols, const char *path, uint64_t offset,
			       struct crit_source_location *ret_place);

/* By module, build id before path, and offset: 0 for the same place of any two processes. */
int crit_source_location_compare(const struct crit_source_location *left,
				 const struct crit_source_location *right);

/* By module and function, of those without a name by where they begin. */
int crit_source_function_compare(const struct crit_source_location *left,
				 const struct crit_source_location *right);

/* The place as seen from one function of its inline chain. */
static inline void crit_source_see_from(struct crit_source_location *place,
					const struct crit_source_frame *frame)
{
	place->function = frame->function;
	place->file = frame->file;
	place->line = frame->line;
}

/*
 * In one line, cut to fit: "exchange solver.c:42", "exchange+0x1c", where it begins "exchange",
 * "solver+0x14c1" or "0x7f0000000010".
 */
const char *crit_source_location_text(const struct crit_source_location *location, char *text,
				      size_t text_bytes);

/* Does any process with a shim have a file in memory whose name begins so, as "libgomp.so" does? */
bool crit_symbols_has_file(const struct crit_symbols *symbols, const char *name);

/*
 * How many files asked for so far could not be read, because they are gone or are not those of the
 * run; text (cut to fit) names the first and why, "" none.
 */
size_t crit_symbols_doubts(const struct crit_symbols *symbols, char *text, size_t text_bytes);

/* How many more lack names, all or some, because the time for all names was used up. */
size_t crit_symbols_late_files(const struct crit_symbols *symbols);

#endif
