// SPDX-License-Identifier: BSD-3-Clause
// The first question about a file opens it; what its reader answers is checked, since a file may
// have taken it over.
#include "analysis/unwind/frame_rules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX (1u << 18)
#define OFFSETS_MAX (1u << 20)

struct stretch { /* of addresses with one rule */
	uint64_t begin;
	uint64_t end;
	uint32_t rule;
	uint32_t reserved;
};

struct crit_frame_source {
	struct crit_elf_head *head; /* NULL: it was not opened */
	struct stretch *stretches; /* known ones, sorted */
	size_t stretch_count, stretch_capacity;
	bool has_asked;
};

static const struct crit_frame_rule no_rule; /* the CFA is undefined */

void crit_frame_rules_init(struct crit_frame_rules *rules, struct crit_elf_reader *reader)
{
	rules->reader = reader;
}

static void forget_rules(struct crit_frame_rules *rules)
{
	crit_map_fini(&rules->numbers);
	memset(&rules->numbers, 0, sizeof(rules->numbers));
	rules->rule_count = 0;
	rules->op_count = 0;
	for (size_t i = 0; i < rules->source_count; i++)
		rules->sources[i].stretch_count = 0;
	rules->forgotten_count++;
}

void crit_frame_rules_fini(struct crit_frame_rules *rules)
{
	for (size_t i = 0; i < rules->source_count; i++) {
		free(rules->sources[i].head);
		free(rules->sources[i].stretches);
	}
	free(rules->sources);
	free(rules->rules);
	free(rules->ops);
	crit_map_fini(&rules->numbers);
	memset(rules, 0, sizeof(*rules));
}

static struct crit_elf_wanted wanted_of(const struct crit_frame_rules *rules,
					const struct crit_mapped_files *files, uint32_t file)
{
	const struct crit_elf_head *head = rules->sources[file].head;

	return (struct crit_elf_wanted){ .path = files->files[file].path,
					 .inode = files->files[file].inode,
					 .changed_ns = head ? head->changed_ns : 0,
					 .number = file };
}

static void close_source(struct crit_frame_source *source)
{
	free(source->head);
	source->head = NULL;
}

/* NULL: it cannot be read. */
static const struct crit_elf_head *open_source(struct crit_frame_rules *rules,
					       const struct crit_mapped_files *files, uint32_t file)
{
	struct crit_frame_source *source;
	struct crit_elf_wanted wanted;

	if (file >= rules->source_count) {
		if (crit_array_grow(&rules->sources, &rules->source_capacity, (size_t)file + 1,
				    sizeof(*rules->sources)))
			return NULL;
		rules->source_count = (size_t)file + 1;
	}
	source = &rules->sources[file];
	if (source->has_asked)
		return source->head;
	source->has_asked = true;
	wanted = wanted_of(rules, files, file);
	source->head = malloc(sizeof(*source->head));
	if (source->head && crit_elf_reader_open(rules->reader, &wanted, source->head))
		close_source(source);
	return source->head;
}

static bool is_value_sound(const struct crit_frame_value *value, uint32_t op_count)
{
	return value->kind < CRIT_FRAME_KIND_COUNT &&
	       (uint32_t)value->op_begin + value->op_count <= op_count;
}

static bool is_sound(const struct crit_frame_rule *rule)
{
	return rule->op_count <= CRIT_FRAME_OPS_MAX && is_value_sound(&rule->cfa, rule->op_count) &&
	       is_value_sound(&rule->pc, rule->op_count) &&
	       is_value_sound(&rule->bp, rule->op_count);
}

/* Where in the stretches the first one is that ends above the address. */
static size_t search(const struct crit_frame_source *source, uint64_t address)
{
	size_t low = 0;
	size_t high = source->stretch_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->stretches[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* CRIT_NONE: none that is known holds there. */
static uint32_t known_at(const struct crit_frame_source *source, uint64_t address)
{
	const size_t i = search(source, address);

	return i < source->stretch_count && source->stretches[i].begin <= address
		       ? source->stretches[i].rule
		       : CRIT_NONE;
}

/* From the address up to the end of its row, or to what is known already. */
static int remember(struct crit_frame_source *source, uint64_t address,
		    const struct crit_frame_row *row, uint32_t rule)
{
	const size_t i = search(source, address);
	struct stretch stretch = { .begin = address, .end = address + 1, .rule = rule };

	if (row && address < row->end)
		stretch.end = row->end;
	if (crit_array_grow(&source->stretches, &source->stretch_capacity,
			    source->stretch_count + 1, sizeof(*source->stretches)))
		return -ENOMEM;
	if (i < source->stretch_count && source->stretches[i].begin < stretch.end)
		stretch.end = source->stretches[i].begin;
	memmove(source->stretches + i + 1, source->stretches + i,
		(source->stretch_count - i) * sizeof(*source->stretches));
	source->stretches[i] = stretch;
	source->stretch_count++;
	return 0;
}

/* Asks for the row of an address and keeps its rule.  CRIT_NONE: out of memory. */
static uint32_t ask(struct crit_frame_rules *rules, const struct crit_mapped_files *files,
		    uint32_t file, uint64_t address)
{
	const struct crit_elf_wanted wanted = wanted_of(rules, files, file);
	const struct crit_frame_row *row = NULL;
	const uint32_t number = (uint32_t)rules->rule_count;
	struct crit_frame_rule *rule;

	if (crit_array_grow(&rules->rules, &rules->rule_capacity, rules->rule_count + 1,
			    sizeof(*rules->rules)) ||
	    crit_array_grow(&rules->ops, &rules->op_capacity, rules->op_count + CRIT_FRAME_OPS_MAX,
			    sizeof(*rules->ops)))
		return CRIT_NONE;
	rules->question_count++;
	if (crit_elf_reader_frame_row(rules->reader, &wanted, address, &row))
		close_source(&rules->sources[file]); /* every later answer would be the same */
	if (row && !is_sound(&row->rule))
		row = NULL;
	if (remember(&rules->sources[file], address, row, number))
		return CRIT_NONE;
	rule = &rules->rules[rules->rule_count++];
	*rule = row ? row->rule : no_rule;
	rule->op_at = (uint32_t)rules->op_count;
	if (row)
		memcpy(rules->ops + rules->op_count, row->ops,
		       rule->op_count * sizeof(*rules->ops));
	rules->op_count += rule->op_count;
	return number;
}

const struct crit_frame_rule *crit_frame_rules_ask(struct crit_frame_rules *rules,
						   const struct crit_mapped_files *files,
						   uint32_t file, uint64_t offset)
{
	const uint64_t key = (uint64_t)file << CRIT_FRAME_OFFSET_BITS | offset;
	const struct crit_elf_head *head = open_source(rules, files, file);
	uint64_t address;
	uint32_t number;

	if (offset >> CRIT_FRAME_OFFSET_BITS || !head ||
	    !crit_elf_head_address(head, offset, &address))
		return &no_rule;
	if (rules->rule_count == RULES_MAX || rules->numbers.count == OFFSETS_MAX)
		forget_rules(rules);
	number = known_at(&rules->sources[file], address);
	if (number == CRIT_NONE)
		number = ask(rules, files, file, address);
	if (number == CRIT_NONE || crit_map_set(&rules->numbers, key, number))
		return NULL;
	return &rules->rules[number];
}
