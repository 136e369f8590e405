/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frame rules of code by file and offset, the same for all processes that run it: each is asked of
 * the file's reader once, by the first frame there.
 */
#ifndef CRIT_FRAME_RULES_H
#define CRIT_FRAME_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/symbols/frame_rule.h"
#include "analysis/unwind/unwind_maps.h"
#include "core/base/map.h"

struct crit_frame_source; /* a file, as far as its rules need it */

struct crit_frame_rules {
	struct crit_elf_reader *reader; /* of no other questions: numbers of files are ours */
	struct crit_frame_source *sources; /* beside the files */
	size_t source_count, source_capacity;
	struct crit_map numbers; /* file and offset -> rule */
	struct crit_frame_rule *rules;
	size_t rule_count, rule_capacity;
	struct crit_frame_op *ops; /* of all rules with expressions */
	size_t op_count, op_capacity;
	uint64_t question_count; /* asked of the reader */
	uint64_t forgotten_count; /* times that all rules were dropped to make room */
};

#define CRIT_FRAME_OFFSET_BITS 44 /* of a file; what lies beyond has no rules */

/* Range: zeroed memory.  reader: borrowed, and NULL: no file has rules.  Ownership: fini. */
void crit_frame_rules_init(struct crit_frame_rules *rules, struct crit_elf_reader *reader);
void crit_frame_rules_fini(struct crit_frame_rules *rules);

/* Asks for the rule of an offset that is not known yet.  NULL: out of memory. */
const struct crit_frame_rule *crit_frame_rules_ask(struct crit_frame_rules *rules,
						   const struct crit_mapped_files *files,
						   uint32_t file, uint64_t offset);

/*
 * The rule at an offset of a file; its CFA is undefined where the file does not say, or cannot be
 * read.  NULL: out of memory.  Borrowed until the next one.  Cost: a search in a hash table, or two
 * messages to another process.
 */
static inline const struct crit_frame_rule *
crit_frame_rules_find(struct crit_frame_rules *rules, const struct crit_mapped_files *files,
		      uint32_t file, uint64_t offset)
{
	const uint64_t key = (uint64_t)file << CRIT_FRAME_OFFSET_BITS | offset;
	uint32_t known = CRIT_NONE;

	if (!(offset >> CRIT_FRAME_OFFSET_BITS))
		known = crit_map_get(&rules->numbers, key);
	return known != CRIT_NONE ? &rules->rules[known]
				  : crit_frame_rules_ask(rules, files, file, offset);
}

#endif
