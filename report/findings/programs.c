// SPDX-License-Identifier: BSD-3-Clause
// Counts the programs of the ranks; the commonest one gives the run its name.
#include "report/findings/programs.h"

#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const char *crit_programs_name(const struct crit_results *results, size_t *ret_others)
{
	const char **names = calloc(results->rank_count + 1, sizeof(*names));
	const char *most = NULL;
	size_t count = 0, programs = 0, most_ranks = 0;

	for (size_t i = 0; names && i < results->rank_count; i++)
		if (results->ranks[i].program[0])
			names[count++] = results->ranks[i].program;
	if (count)
		qsort(names, count, sizeof(*names), compare_names);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && !strcmp(names[end], names[first]);)
			end++;
		programs++;
		if (end - first > most_ranks) {
			most_ranks = end - first;
			most = names[first];
		}
	}
	free(names);
	*ret_others = programs > 1 ? programs - 1 : 0;
	return most ? most : base_name(results->exe);
}

/* Names of programs are cut in recordings. */
bool crit_programs_has_launcher(const struct crit_results *results)
{
	size_t others;

	return strncmp(crit_programs_name(results, &others), base_name(results->exe),
		       CRIT_PROGRAM_BYTES - 1) != 0;
}

const char *crit_programs_exe(const struct crit_results *results)
{
	size_t others;

	return crit_programs_has_launcher(results) ? crit_programs_name(results, &others)
						   : results->exe;
}

const char *crit_programs_arguments(const struct crit_results *results)
{
	const char *name = crit_programs_exe(results);

	for (size_t i = 0; name != results->exe && i < results->rank_count; i++)
		if (strcmp(results->ranks[i].program, name) == 0)
			return results->ranks[i].arguments;
	return results->arguments;
}
