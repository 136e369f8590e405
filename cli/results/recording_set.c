// SPDX-License-Identifier: BSD-3-Clause
// Finds the recordings of a directory and analyses them, reading each file's index once.
#include "cli/results/recording_set.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/cluster/transport.h"
#include "cli/install/grant.h"
#include "cli/install/installation.h"
#include "cli/console/progress.h"
#include "cli/results/run_waits.h"
#include "report/fixes/prediction.h"
#include "report/findings/summarise.h"
#include "report/graph/wait_graph.h"
#include "report/pages/report_files.h"
#include "report/tables/call_sites.h"
#include "report/tables/summary.h"
#include "core/base/array.h"
#include "core/base/setting.h"

struct crit_recording_set {
	char *directory; /* of the first recording */
	char **paths;
	size_t count;
	size_t capacity;
	struct crit_run_index *index; /* made by the first analysis, for those after it */
	uint64_t indexed_bytes; /* size of all files then */
	struct crit_symbols *symbols; /* of the same; NULL: not asked for so far */
	struct crit_elf_reader *reader; /* of names; made by the first need, or given before */
	uint32_t active_max; /* of analyses */
	bool is_filmed; /* likewise */
	unsigned int film_wishes; /* bits of enum crit_film_wish */
	struct crit_err no_waits; /* why they could not be */
};

struct crit_analysis {
	struct crit_results *results;
	struct crit_symbols *symbols; /* the set's */
	struct crit_call_sites *call_sites; /* their texts are of symbols */
	struct crit_run_waits *waits; /* NULL: none */
	struct crit_cause_table *causes; /* of these, by place */
	struct crit_wait_graph graph; /* of these; no table: none */
	struct crit_fix_table fixes; /* no rows: not known */
	struct crit_err no_waits; /* why there are none */
	struct crit_err
		no_excess; /* why ranks could not be compared; "": they were, or need not be */
	bool could_have_waits; /* and that is not the recordings' fault */
};

struct crit_recording_set *crit_recording_set_create(struct crit_elf_reader *reader)
{
	struct crit_recording_set *set = calloc(1, sizeof(*set));

	if (set)
		set->reader = reader;
	else
		crit_elf_reader_destroy(reader);
	return set;
}

void crit_recording_set_destroy(struct crit_recording_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		free(set->paths[i]);
	crit_run_index_destroy(set->index);
	crit_symbols_destroy(set->symbols);
	crit_elf_reader_destroy(set->reader);
	free(set->paths);
	free(set->directory);
	free(set);
}

const char *const *crit_recording_set_paths(const struct crit_recording_set *set)
{
	return (const char *const *)set->paths;
}

size_t crit_recording_set_count(const struct crit_recording_set *set)
{
	return set ? set->count : 0;
}

const char *crit_recording_set_directory(const struct crit_recording_set *set)
{
	return set->directory;
}

static int add_file(struct crit_recording_set *set, char *path) /* takes path */
{
	if (!path || crit_array_grow(&set->paths, &set->capacity, set->count + 1, sizeof(path))) {
		free(path);
		return -ENOMEM;
	}
	set->paths[set->count++] = path;
	return 0;
}

static int is_recording(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && entry->d_name[0] != '.' &&
	       strcmp(entry->d_name + length - 5, ".crit") == 0;
}

static int add_directory(struct crit_recording_set *set, const char *directory,
			 struct crit_err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, is_recording, alphasort);
	int rc = count > 0 ? 0 : count < 0 ? -errno : -ENOENT;

	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!rc && asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0)
			path = NULL;
		if (!rc)
			rc = add_file(set, path);
		free(entries[i]);
	}
	free(entries);
	if (count == 0)
		return crit_err_set(
			err, -ENOENT,
			"%.160s holds no recording (*.crit); name the directory crit-<program>-...",
			directory);
	return rc ? crit_err_set(err, rc, "cannot read directory %.160s: %s", directory,
				 strerror(-rc))
		  : 0;
}

int crit_recording_set_add(struct crit_recording_set *set, const char *path, struct crit_err *err)
{
	struct stat status;
	const char *slash = strrchr(path, '/');
	bool is_directory;

	if (!set)
		return -ENOMEM;
	if (stat(path, &status))
		return crit_err_set(err, -errno, "cannot open %.160s: %s", path, strerror(errno));
	is_directory = S_ISDIR(status.st_mode);
	if (!set->directory) {
		if (is_directory)
			set->directory = strdup(path);
		else
			set->directory = slash ? strndup(path, (size_t)(slash - path) + 1)
					       : strdup(".");
		if (!set->directory)
			return -ENOMEM;
	}
	return is_directory ? add_directory(set, path, err) : add_file(set, strdup(path));
}

struct crit_elf_reader *crit_reader_create(void)
{
	const struct crit_elf_reader_options options = {
		.debug_directories = crit_setting_text(CRIT_SETTING_DEBUG_PATH, NULL),
	};
	struct crit_elf_reader *reader = NULL;

	(void)crit_elf_reader_create(&options, &reader); /* the report says what it lacks */
	return reader;
}

struct crit_elf_reader *crit_recording_set_reader(struct crit_recording_set *set)
{
	if (!set->reader)
		set->reader = crit_reader_create();
	return set->reader;
}

uint64_t crit_recording_set_bytes(const struct crit_recording_set *set)
{
	uint64_t sum_bytes = 0;
	struct stat status;

	for (size_t i = 0; i < crit_recording_set_count(set); i++)
		if (stat(set->paths[i], &status) == 0)
			sum_bytes += (uint64_t)status.st_size;
	return sum_bytes;
}

struct crit_run_index *crit_recording_set_index(struct crit_recording_set *set)
{
	uint64_t size_bytes = crit_recording_set_bytes(set);

	if (!set->index)
		set->index = crit_run_index_create();
	else if (size_bytes != set->indexed_bytes)
		crit_run_index_renew(set->index);
	if (size_bytes != set->indexed_bytes) {
		crit_symbols_destroy(set->symbols);
		set->symbols = NULL;
	}
	set->indexed_bytes = size_bytes;
	return set->index;
}

int crit_recording_set_symbols(struct crit_recording_set *set, struct crit_symbols **ret_symbols,
			       struct crit_err *err)
{
	struct crit_run_index *index = crit_recording_set_index(set); /* forgets shorter files */
	const char *const *paths = (const char *const *)set->paths;
	int rc = 0;

	if (!set->symbols && index)
		rc = crit_run_index_open(index, paths, set->count, err);
	if (!set->symbols && !rc)
		rc = crit_symbols_create(paths, set->count,
					 index ? crit_run_index_opened(index) : NULL,
					 crit_recording_set_reader(set), &set->symbols, err);
	if (!rc)
		*ret_symbols = set->symbols;
	return rc;
}

/* All bits of a wish. */
static bool is_wished(const struct crit_recording_set *set, enum crit_film_wish wish)
{
	return (set->film_wishes & wish) == wish;
}

static void drop_waits(struct crit_analysis *analysis)
{
	crit_cause_table_destroy(analysis->causes);
	analysis->causes = NULL;
	crit_run_waits_destroy(analysis->waits);
	analysis->waits = NULL;
}

/* Makes the tables of what was played. */
static int tabulate_waits(struct crit_analysis *analysis)
{
	analysis->causes = crit_analysis_cause_table(analysis, CRIT_CAUSE_BY_PLACE);
	if (!analysis->causes)
		return -ENOMEM;
	return crit_wait_graph_init(&analysis->graph, analysis->causes, analysis->results);
}

/* Plays what was filmed.  Without waits an analysis is whole all the same. */
static void play_waits(struct crit_analysis *analysis, bool has_excess, bool has_fixes)
{
	const struct crit_fix_wishes none = { 0 };
	struct crit_run_waits *waits = analysis->waits;
	struct crit_err err = { { 0 } };
	int rc;

	if (!waits)
		return;
	rc = crit_run_waits_play(waits, &analysis->no_waits);
	analysis->could_have_waits = rc && rc != -ENODATA;
	if (rc) {
		drop_waits(analysis);
		return;
	}
	if (has_excess &&
	    crit_run_waits_compare(waits, analysis->results, analysis->symbols,
				   &analysis->no_excess) &&
	    !analysis->no_excess.text[0])
		(void)crit_err_set(&analysis->no_excess, -ENOMEM, "out of memory");
	rc = tabulate_waits(analysis);
	if (rc) {
		(void)crit_err_set(&analysis->no_waits, rc, "out of memory");
		analysis->could_have_waits = true;
		drop_waits(analysis);
		return;
	}
	if (has_fixes)
		(void)crit_analysis_fixes(analysis, &none, &analysis->fixes, &err);
}

/* What tables of code and changes ask for. */
static void expect_samples(struct crit_symbols *symbols, const struct crit_results *results)
{
	for (size_t i = 0; i < results->samples.row_count; i++) {
		const struct crit_sample_row *row = &results->samples.rows[i];
		const struct crit_thread_row *thread = &results->threads[row->thread];

		crit_symbols_expect(symbols, thread->node, thread->pid, row->address);
	}
}

int crit_recording_set_name(struct crit_recording_set *set, struct crit_results *results,
			    struct crit_run_waits *waits, struct crit_analysis **ret_analysis,
			    struct crit_err *err)
{
	struct crit_analysis *analysis = calloc(1, sizeof(*analysis));
	int rc = -ENOMEM;

	if (!analysis) {
		crit_results_destroy(results);
		crit_run_waits_destroy(waits);
		return rc;
	}
	analysis->results = results;
	analysis->waits = waits;
	analysis->no_waits = set->no_waits;
	analysis->could_have_waits = set->no_waits.text[0] != '\0';
	rc = crit_recording_set_symbols(set, &analysis->symbols, err);
	if (!rc)
		rc = crit_symbols_know_regions(analysis->symbols, &results->regions);
	if (!rc)
		analysis->call_sites = crit_call_sites_create(analysis->symbols, results);
	if (!rc && !analysis->call_sites)
		rc = -ENOMEM;
	if (rc) {
		crit_analysis_destroy(analysis);
		return rc;
	}
	expect_samples(analysis->symbols, results);
	play_waits(analysis, is_wished(set, CRIT_FILM_EXCESS), is_wished(set, CRIT_FILM_FIXES));
	*ret_analysis = analysis;
	return 0;
}

void crit_recording_set_gate(struct crit_recording_set *set, uint32_t active_max)
{
	set->active_max = active_max;
}

void crit_recording_set_film(struct crit_recording_set *set, unsigned int wishes)
{
	if (!set)
		return; /* nothing is analysed */
	set->is_filmed = true;
	set->film_wishes |= wishes;
}

struct crit_run_waits *crit_recording_set_begin_waits(struct crit_recording_set *set,
						      struct crit_err *err)
{
	const struct crit_filming_options wishes = {
		.file.directory = set->directory,
		.has_needs = is_wished(set, CRIT_FILM_NEEDS),
		.has_states = is_wished(set, CRIT_FILM_STATES),
		.are_regions_apart = is_wished(set, CRIT_FILM_REGIONS),
	};
	struct crit_run_waits *waits = NULL;

	set->no_waits.text[0] = '\0';
	if (set->is_filmed && !set->active_max)
		waits = crit_run_waits_create(&wishes, &set->no_waits);
	if (!waits && err)
		*err = set->no_waits;
	return waits;
}

int crit_recording_set_analyse(struct crit_recording_set *set, enum crit_active_rule rule,
			       bool has_progress, const struct crit_transport *transport,
			       struct crit_analysis **ret_analysis, struct crit_err *err)
{
	struct crit_progress progress = crit_progress_begin("analysing");
	struct crit_analysis_options options = {
		.rule = rule,
		.active_max = set->active_max,
		.user = &progress,
		.transport = transport,
		.index = crit_recording_set_index(set),
	};
	struct crit_results *results = NULL;
	const char *const *paths = crit_recording_set_paths(set);
	struct crit_run_waits *waits = NULL;
	int rc;

	if (has_progress)
		options.progress = crit_progress_draw;
	options.is_gathered = transport && set->is_filmed && !set->active_max;
	if (!transport || !transport->rank)
		waits = crit_recording_set_begin_waits(set, NULL);
	if (waits)
		crit_run_waits_listen(waits, &options.trace, &options.listener);
	if (waits && !transport)
		options.retell = crit_run_waits_retell;
	options.told = waits;
	*ret_analysis = NULL;
	rc = crit_analyse(paths, set->count, &options, &results, err);
	if (!rc && results)
		rc = crit_recording_set_name(set, results, waits, ret_analysis, err);
	else
		crit_run_waits_destroy(waits);
	crit_progress_end(&progress);
	return rc;
}

const struct crit_run_waits *crit_analysis_waits(const struct crit_analysis *analysis,
						 struct crit_err *err)
{
	*err = analysis->no_waits;
	return analysis->waits;
}

const char *crit_analysis_no_excess(const struct crit_analysis *analysis)
{
	return analysis->no_excess.text[0] ? analysis->no_excess.text : NULL;
}

const struct crit_fix_table *crit_analysis_promising(const struct crit_analysis *analysis)
{
	return analysis->fixes.row_count ? &analysis->fixes : NULL;
}

int crit_analysis_fixes(const struct crit_analysis *analysis, const struct crit_fix_wishes *wishes,
			struct crit_fix_table *ret_table, struct crit_err *err)
{
	return crit_run_waits_fixes(analysis->waits, analysis->results, analysis->symbols, wishes,
				    ret_table, err);
}

int crit_analysis_predict(const struct crit_analysis *analysis, const struct crit_analysis *other,
			  struct crit_prediction *ret_prediction, struct crit_err *err)
{
	const struct crit_analysis *both[2] = { analysis, other };
	struct crit_fix_input inputs[2];
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = crit_run_waits_input(both[i]->waits, both[i]->results, both[i]->symbols,
					  &inputs[i], err);
	if (!rc)
		rc = crit_predict(&inputs[0], &inputs[1], ret_prediction, err);
	return rc;
}

struct crit_cause_table *crit_analysis_cause_table(const struct crit_analysis *analysis,
						   enum crit_cause_by by)
{
	return crit_run_waits_table(analysis->waits, analysis->results, analysis->symbols, by);
}

int crit_analysis_summarise(const struct crit_analysis *analysis, bool is_live,
			    struct crit_summary *ret_summary)
{
	char critd_path[PATH_MAX];
	struct crit_grant grant;
	struct crit_summary_options options = {
		.critd_path = critd_path,
		.call_sites = analysis->call_sites,
		.causes = analysis->causes,
		.wait_graph = analysis->graph.table ? &analysis->graph : NULL,
		.fixes = crit_analysis_promising(analysis),
		.no_excess = crit_analysis_no_excess(analysis),
		.no_causes = analysis->could_have_waits ? analysis->no_waits.text : NULL,
		.symbols = analysis->symbols,
		.is_live = is_live,
	};

	if (crit_installation_program("critd", critd_path, sizeof(critd_path)) == 0) {
		crit_grant_find(critd_path, &grant);
		if (!grant.is_given)
			options.privileges_fix = grant.fix;
	} /* else the bare name will do */
	return crit_summarise(ret_summary, analysis->results, &options);
}

void crit_analysis_destroy(struct crit_analysis *analysis)
{
	if (!analysis)
		return;
	crit_fix_table_fini(&analysis->fixes);
	crit_wait_graph_fini(&analysis->graph);
	crit_cause_table_destroy(analysis->causes);
	crit_run_waits_destroy(analysis->waits);
	crit_results_destroy(analysis->results);
	crit_call_sites_destroy(analysis->call_sites);
	free(analysis);
}
