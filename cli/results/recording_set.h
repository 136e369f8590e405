/* SPDX-License-Identifier: BSD-3-Clause */
/* The recordings of one run, and their analysis. */
#ifndef CRIT_RECORDING_SET_H
#define CRIT_RECORDING_SET_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/analyse.h"
#include "analysis/schema/results.h"
#include "core/base/err.h"
#include "report/causes/cause_table.h"
#include "report/fixes/fix_table.h"

struct crit_elf_reader;

struct crit_recording_set;
struct crit_symbols;

struct crit_analysis; /* results of a set, with the names of their call sites */

/*
 * An empty set.  NULL: out of memory.
 * reader: takes it, for programs that must fork before all else; NULL: made when it is needed.
 */
struct crit_recording_set *crit_recording_set_create(struct crit_elf_reader *reader);
void crit_recording_set_destroy(struct crit_recording_set *set);

/*
 * Adds PATH itself, or the *.crit files of the directory PATH, sorted by name.
 * Errors: -errno with a line in err, -ENOENT when a directory holds no recording; -ENOMEM also of
 * a set that is NULL.
 */
int crit_recording_set_add(struct crit_recording_set *set, const char *path, struct crit_err *err);

/* Borrowed. */
const char *const *crit_recording_set_paths(const struct crit_recording_set *set);
size_t crit_recording_set_count(const struct crit_recording_set *set);

/* Of the first recording. */
const char *crit_recording_set_directory(const struct crit_recording_set *set);

/* Borrowed.  NULL: none can be made, and names will be missing. */
struct crit_elf_reader *crit_recording_set_reader(struct crit_recording_set *set);

/* Borrowed; renewed where files have grown.  NULL: out of memory, each analysis makes its own. */
struct crit_run_index *crit_recording_set_index(struct crit_recording_set *set);

/* Borrowed, as long as files do not grow.  Errors: those of crit_symbols_create. */
int crit_recording_set_symbols(struct crit_recording_set *set, struct crit_symbols **ret_symbols,
			       struct crit_err *err);

/* A reader for programs that must fork before all else: give it to a set.  NULL: none. */
struct crit_elf_reader *crit_reader_create(void);

/* Sum of the sizes of all files. Units: bytes. */
uint64_t crit_recording_set_bytes(const struct crit_recording_set *set);

/* Analyses from here on leave out time with more active threads than that; 0: none. */
void crit_recording_set_gate(struct crit_recording_set *set, uint32_t active_max);

#define CRIT_FILMED_BYTES_MAX (4u << 20) /* of sets whose first report tells what waits cost */

enum crit_film_wish { /* bits */
	CRIT_FILM_WAITS = 0, /* what they cost */
	CRIT_FILM_NEEDS = 1, /* they can be played with changes */
	CRIT_FILM_STATES = 2 | CRIT_FILM_NEEDS, /* and on other CPUs */
	CRIT_FILM_FIXES = 4 | CRIT_FILM_NEEDS, /* tells what would help */
	CRIT_FILM_EXCESS = 8 | CRIT_FILM_NEEDS, /* compares what the ranks did */
	CRIT_FILM_REGIONS = 16, /* tells pairs apart by the regions they are in */
	CRIT_FILM_REPORT = CRIT_FILM_FIXES | CRIT_FILM_EXCESS
};

/*
 * Analyses from here on tell what waits cost as well, which takes them up to twice as long: those
 * of all time.  All processes of an analysis are to say so.
 * wishes: bits of enum crit_film_wish.
 */
void crit_recording_set_film(struct crit_recording_set *set, unsigned int wishes);

struct crit_run_waits;
struct crit_transport;
struct crit_summary;

/*
 * For analyses of the set that are not done by crit_recording_set_analyse.
 * Ownership: the caller's.  NULL: nothing is to be filmed, or nothing can; the analysis knows why,
 * and err, which may be NULL.
 */
struct crit_run_waits *crit_recording_set_begin_waits(struct crit_recording_set *set,
						      struct crit_err *err);

/*
 * Analyses the set.
 * Ownership: crit_analysis_destroy.  Errors: those of crit_analyse.
 * has_progress draws a bar on stderr once the work has taken a second.  peers: NULL, or who does it
 * together; then process 0 gets the analysis, and others NULL.
 */
int crit_recording_set_analyse(struct crit_recording_set *set, enum crit_active_rule rule,
			       bool has_progress, const struct crit_transport *transport,
			       struct crit_analysis **ret_analysis, struct crit_err *err);
void crit_analysis_destroy(struct crit_analysis *analysis);

/* Borrowed.  NULL: they were not filmed, or err says why they are not known. */
const struct crit_run_waits *crit_analysis_waits(const struct crit_analysis *analysis,
						 struct crit_err *err);

/* Why delays of an analysis with waits are not known.  Borrowed.  NULL: they are. */
const char *crit_analysis_no_excess(const struct crit_analysis *analysis);

/* What promises most to help.  Borrowed.  NULL: nothing was filmed for it, or can be foretold. */
const struct crit_fix_table *crit_analysis_promising(const struct crit_analysis *analysis);

/*
 * Of an analysis whose set was to be filmed, with waits.  Ownership: fini by the caller.
 * Errors: those of crit_run_waits_fixes.
 */
int crit_analysis_fixes(const struct crit_analysis *analysis, const struct crit_fix_wishes *wishes,
			struct crit_fix_table *ret_table, struct crit_err *err);

struct crit_prediction;

/* When the run would end with the times of the other one: both have waits and were filmed. */
int crit_analysis_predict(const struct crit_analysis *analysis, const struct crit_analysis *other,
			  struct crit_prediction *ret_prediction, struct crit_err *err);

/* Of an analysis that has waits.  Ownership: the caller's.  Errors: NULL, out of memory. */
struct crit_cause_table *crit_analysis_cause_table(const struct crit_analysis *analysis,
						   enum crit_cause_by by);

/*
 * Makes an analysis of results of the set that were found otherwise: names their call sites, and
 * plays their waits, NULL none.
 * Takes results and waits, also after an error.
 * Ownership: crit_analysis_destroy.  Errors: those of crit_symbols_create, -ENOMEM.
 */
int crit_recording_set_name(struct crit_recording_set *set, struct crit_results *results,
			    struct crit_run_waits *waits, struct crit_analysis **ret_analysis,
			    struct crit_err *err);

/*
 * Puts an analysis of the set into a summary, which borrows it.
 * Ownership: crit_summary_fini.  Errors: -ENOMEM.
 */
int crit_analysis_summarise(const struct crit_analysis *analysis, bool is_live,
			    struct crit_summary *ret_summary);

#endif
