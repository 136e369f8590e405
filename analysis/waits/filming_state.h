/* SPDX-License-Identifier: BSD-3-Clause */
/* A filming as its parts see it: those that take spans, and those that take edges. */
#ifndef CRIT_FILMING_STATE_H
#define CRIT_FILMING_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/code_keys.h"
#include "analysis/waits/filmed_regions.h"
#include "analysis/waits/filmed_samples.h"
#include "analysis/waits/filmed_thread.h"
#include "analysis/waits/filming.h"

#define CRIT_FILM_KIND_CALL 1 /* of a wait */
/* The object that those wait for of whom no waker was told. */
#define CRIT_FILM_NOBODY CRIT_FILM_OBJECT

struct crit_filming {
	struct crit_filming_options options;
	struct crit_film *film;
	struct crit_filmed_thread *threads;
	struct crit_filmed_regions regions;
	struct crit_code_keys keys;
	struct crit_filmed_samples samples;
	size_t thread_count;
	uint64_t begin_ns, end_ns;
	struct crit_filming_counts counts;
	uint32_t number;
	bool has_ranks;
	int failed; /* the film did: the analysis goes on without */
	struct crit_err err; /* why */
};

/* Each answers 0, also where the film failed, or -ENOMEM. */

int crit_filming_put_entry(struct crit_filming *filming, const struct crit_film_entry *entry);
int crit_filming_put(struct crit_filming *filming, enum crit_film_type type, uint64_t time_ns,
		     uint32_t node, uint32_t number);

/* What a wait needs, but came before it. */
int crit_filming_put_need(struct crit_filming *filming, uint64_t time_ns, uint32_t node,
			  uint32_t number);

/* When the thread acted that did so at a time: one that waits has acted before. */
uint64_t crit_filming_act_of(struct crit_filming *filming, uint32_t cause, uint64_t time_ns);

#endif
