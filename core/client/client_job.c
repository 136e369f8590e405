// SPDX-License-Identifier: BSD-3-Clause
// Which job of a scheduler a process belongs to, as the environment of its tasks tells.
#include "core/client/client_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/client/client_env.h"

static const struct {
	const char *scheduler;
	const char *job; /* variables; NULL: it has none for that */
	const char *step;
	const char *task; /* counts with a step only: what a step's task starts inherits it */
	const char *array_job;
	const char *array_task;
	const char *restarts;
} schedulers[] = {
	{ "slurm", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_ARRAY_JOB_ID",
	  "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT" },
	{ "pbs", "PBS_JOBID", NULL, NULL, "PBS_ARRAY_ID", "PBS_ARRAY_INDEX", NULL },
	{ "lsf", "LSB_JOBID", NULL, NULL, "LSB_JOBID", "LSB_JOBINDEX", NULL },
	{ "flux", "FLUX_JOB_ID", NULL, "FLUX_TASK_RANK", NULL, NULL, NULL },
};

/* Names become part of a path. */
static const char *text_of(const char *variable)
{
	const char *value = variable ? getenv(variable) : NULL;

	return value && !strchr(value, '/') ? value : "";
}

static uint32_t number_of(const char *variable, uint32_t otherwise)
{
	const char *text = text_of(variable);
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return end == text || *end || value >= CRIT_TASK_NONE ? otherwise : (uint32_t)value;
}

bool crit_client_job(struct crit_job *ret_job)
{
	memset(ret_job, 0, sizeof(*ret_job));
	ret_job->task = CRIT_TASK_NONE;
	for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
		const char *element = text_of(schedulers[i].array_task);

		if (!*text_of(schedulers[i].job))
			continue;
		(void)crit_client_copy(ret_job->scheduler, sizeof(ret_job->scheduler),
				       schedulers[i].scheduler);
		(void)crit_client_copy(ret_job->name, sizeof(ret_job->name),
				       text_of(schedulers[i].job));
		(void)crit_client_copy(ret_job->step, sizeof(ret_job->step),
				       text_of(schedulers[i].step));
		/* LSF numbers elements from 1, and says 0 to all other jobs */
		if (*element && *text_of(schedulers[i].array_job) &&
		    (strcmp(element, "0") != 0 || strcmp(schedulers[i].scheduler, "lsf") != 0))
			(void)snprintf(ret_job->array, sizeof(ret_job->array), "%.40s_%.20s",
				       text_of(schedulers[i].array_job), element);
		if (!schedulers[i].step || ret_job->step[0])
			ret_job->task = number_of(schedulers[i].task, CRIT_TASK_NONE);
		ret_job->restart_count = number_of(schedulers[i].restarts, 0);
		return true;
	}
	return false;
}
