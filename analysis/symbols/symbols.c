// SPDX-License-Identifier: BSD-3-Clause
// Finds the mapping of an address, its file, then its function and line; caches each step.
#include "analysis/symbols/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/schema/region_results.h"
#include "analysis/symbols/address_space.h"
#include "analysis/symbols/elf_reader.h"
#include "core/base/map.h"

#define OFFSET_BITS 44 /* of a key; what lies beyond has no name */
#define NAMES_MAX (1u << 22)
#define NESTED_MAX 8 /* regions, each begun by the code of the one around it */

struct symbol_queue { /* what the reader is asked next of a file */
	size_t count;
	uint32_t names[CRIT_ELF_ADDRESSES_MAX]; /* of symbols */
	uint64_t addresses[CRIT_ELF_ADDRESSES_MAX];
};

struct symbol_file { /* beside spaces.known.files */
	struct crit_elf_head *head; /* NULL: it was not opened */
	enum crit_elf_status status;
	bool has_asked;
	bool is_doubted; /* for some process */
	uint64_t seen_real_ns; /* Unix time any process was seen to have it last; 0 unknown */
	struct symbol_queue *queue; /* NULL: nothing so far */
};

struct symbol_name {
	bool is_queued; /* nothing is known of it yet */
	struct crit_source_frame *frames; /* in one block with their texts; NULL none */
	uint32_t frame_count;
	uint32_t cut_count;
	uint64_t function_offset;
	uint64_t function_begin;
};

struct symbol_caller { /* of a region's code in the same file */
	uint64_t file_offset;
	uint64_t seen_real_ns;
	bool has_asked, refers; /* whether its function names that code */
};

struct crit_symbols {
	struct crit_elf_reader *reader;
	struct crit_address_spaces spaces;
	const struct crit_mapping *last; /* asked for, and alone there; NULL: none */
	struct symbol_file *files;
	struct crit_index file_numbers; /* by path */
	struct symbol_name *names;
	size_t name_count, name_capacity;
	struct crit_map numbers; /* file and offset -> names */
	struct symbol_caller *callers;
	size_t caller_count, caller_capacity;
	struct crit_map caller_numbers; /* file and offset of a region's code -> callers */
};

static int index_files(struct crit_symbols *symbols)
{
	const struct crit_address_spaces *spaces = &symbols->spaces;

	symbols->files = calloc(spaces->known.file_count + 1, sizeof(*symbols->files));
	if (!symbols->files)
		return -ENOMEM;
	for (size_t i = 0; i < spaces->known.file_count; i++)
		if (crit_index_put(&symbols->file_numbers,
				   crit_hash_text(spaces->known.files[i].path), (uint32_t)i))
			return -ENOMEM;
	for (size_t i = 0; i < spaces->mapping_count; i++) {
		const struct crit_mapping *mapping = &spaces->mappings[i];
		struct symbol_file *file = &symbols->files[mapping->file];

		if (file->seen_real_ns < mapping->seen_real_ns)
			file->seen_real_ns = mapping->seen_real_ns;
	}
	return 0;
}

int crit_symbols_create(const char *const *paths, size_t path_count,
			const struct crit_recording *const *opened, struct crit_elf_reader *reader,
			struct crit_symbols **ret_symbols, struct crit_err *err)
{
	struct crit_symbols *symbols = calloc(1, sizeof(*symbols));
	int rc =
		symbols ? crit_address_spaces_read(&symbols->spaces, paths, path_count, opened, err)
			: -ENOMEM;

	if (!rc) {
		symbols->reader = reader;
		rc = index_files(symbols);
	}
	if (rc) {
		crit_symbols_destroy(symbols);
		return rc;
	}
	*ret_symbols = symbols;
	return 0;
}

static void file_fini(struct symbol_file *file)
{
	free(file->head);
	free(file->queue);
}

void crit_symbols_destroy(struct crit_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->name_count; i++)
		free(symbols->names[i].frames);
	free(symbols->names);
	crit_map_fini(&symbols->numbers);
	free(symbols->callers);
	crit_map_fini(&symbols->caller_numbers);
	for (size_t i = 0; symbols->files && i < symbols->spaces.known.file_count; i++)
		file_fini(&symbols->files[i]);
	free(symbols->files);
	crit_index_fini(&symbols->file_numbers);
	crit_address_spaces_fini(&symbols->spaces);
	free(symbols);
}

/* Of a place in a file; false: too far away for one. */
static bool key_of_place(uint32_t file, uint64_t offset, uint64_t *ret_key)
{
	*ret_key = (uint64_t)file << OFFSET_BITS | offset;
	return !(offset >> OFFSET_BITS || file >> (63 - OFFSET_BITS));
}

static struct crit_elf_wanted wanted_of(const struct crit_symbols *symbols, uint32_t file)
{
	const struct crit_mapped_file *mapped = &symbols->spaces.known.files[file];
	const struct crit_elf_head *head = symbols->files[file].head;

	return (struct crit_elf_wanted){ .path = mapped->path,
					 .inode = mapped->inode,
					 .changed_ns = head ? head->changed_ns : 0,
					 .number = file };
}

static void open_file(struct crit_symbols *symbols, uint32_t number)
{
	const struct crit_elf_wanted wanted = wanted_of(symbols, number);
	struct symbol_file *file = &symbols->files[number];

	file->has_asked = true;
	file->status = CRIT_ELF_UNREAD;
	file->head = malloc(sizeof(*file->head));
	if (file->head)
		file->status = crit_elf_reader_open(symbols->reader, &wanted, file->head);
	if (file->status != CRIT_ELF_OPEN) {
		free(file->head);
		file->head = NULL;
	}
}

/* The file that was mapped at a time, if it is still there. */
static const struct crit_elf_head *head_of(struct crit_symbols *symbols, uint32_t number,
					   uint64_t seen_real_ns)
{
	struct symbol_file *file = &symbols->files[number];

	if (symbols->spaces.known.files[number].path[0] != '/')
		return NULL;
	if (!file->has_asked)
		open_file(symbols, number);
	if (file->head && file->head->changed_ns <= seen_real_ns)
		return file->head;
	file->is_doubted = true;
	return NULL;
}

static struct symbol_name copy_of(const struct crit_elf_place *place)
{
	const size_t frame_bytes = place->frame_count * sizeof(struct crit_source_frame);
	struct symbol_name name = { .cut_count = place->cut_count,
				    .function_offset = place->function_offset,
				    .function_begin = place->function_begin };
	char *texts;

	if (place->frame_count)
		name.frames = malloc(frame_bytes + place->text_bytes);
	if (!name.frames)
		return name;
	texts = (char *)name.frames + frame_bytes;
	memcpy(texts, place->texts, place->text_bytes);
	name.frame_count = place->frame_count;
	for (uint32_t i = 0; i < place->frame_count; i++) {
		const struct crit_elf_frame *frame = &place->frames[i];

		name.frames[i] = (struct crit_source_frame){
			.function = frame->function_at ? texts + frame->function_at : NULL,
			.file = frame->file_at ? texts + frame->file_at : NULL,
			.line = frame->line,
		};
	}
	return name;
}

/* Asks for all that is in a file's queue. */
static void ask_names(struct crit_symbols *symbols, uint32_t number)
{
	const struct crit_elf_wanted wanted = wanted_of(symbols, number);
	const struct crit_elf_place *places[CRIT_ELF_ADDRESSES_MAX];
	struct symbol_file *file = &symbols->files[number];
	struct symbol_queue *queue = file->queue;
	size_t done = 0, count = 0;

	while (done < queue->count && file->status == CRIT_ELF_OPEN) {
		file->status = crit_elf_reader_find(symbols->reader, &wanted,
						    queue->addresses + done, queue->count - done,
						    places, &count);
		if (file->status != CRIT_ELF_OPEN)
			break;
		for (size_t i = 0; i < count; i++)
			symbols->names[queue->names[done++]] = copy_of(places[i]);
	}
	for (; done < queue->count; done++)
		symbols->names[queue->names[done]].is_queued = false;
	file->is_doubted = file->is_doubted || file->status != CRIT_ELF_OPEN;
	queue->count = 0;
}

/* Makes a name for a place without.  CRIT_NONE: out of memory, or the file is not readable. */
static uint32_t queue_name(struct crit_symbols *symbols, uint32_t number, uint64_t key,
			   uint64_t address)
{
	struct symbol_file *file = &symbols->files[number];
	const uint32_t name = (uint32_t)symbols->name_count;

	if (file->status != CRIT_ELF_OPEN || name >= NAMES_MAX ||
	    crit_array_grow(&symbols->names, &symbols->name_capacity, symbols->name_count + 1,
			    sizeof(*symbols->names)))
		return CRIT_NONE;
	if (!file->queue)
		file->queue = calloc(1, sizeof(*file->queue));
	if (!file->queue || crit_map_set(&symbols->numbers, key, name))
		return CRIT_NONE;
	symbols->names[symbols->name_count++] = (struct symbol_name){ .is_queued = true };
	file->queue->names[file->queue->count] = name;
	file->queue->addresses[file->queue->count++] = address;
	if (file->queue->count == CRIT_ELF_ADDRESSES_MAX)
		ask_names(symbols, number);
	return name;
}

/* The name of the byte before a return address.  CRIT_NONE: as queue_name, or too far away. */
static uint32_t number_of(struct crit_symbols *symbols, uint32_t file, uint64_t offset)
{
	uint64_t key;
	uint32_t known;

	if (!key_of_place(file, offset, &key))
		return CRIT_NONE;
	known = crit_map_get(&symbols->numbers, key);
	return known != CRIT_NONE ? known : queue_name(symbols, file, key, offset - 1);
}

/* What the file calls the address; NULL: out of memory, too far away, or not readable any more. */
static const struct symbol_name *name_of(struct crit_symbols *symbols, uint32_t file,
					 uint64_t offset)
{
	const uint32_t number = number_of(symbols, file, offset);

	if (number == CRIT_NONE)
		return NULL;
	if (symbols->names[number].is_queued)
		ask_names(symbols, file);
	return &symbols->names[number];
}

static void put_name(struct crit_source_location *location, const struct symbol_name *name)
{
	location->frames = name->frames;
	location->frame_count = name->frame_count;
	location->cut_count = name->cut_count;
	location->function_begin = name->function_begin;
	if (!name->frame_count)
		return;
	location->function = name->frames[0].function;
	location->file = name->frames[0].file;
	location->line = name->frames[0].line;
	if (name->frame_count > 1)
		location->outer = name->frames[name->frame_count - 1].function;
	if (!location->line && name->function_offset)
		location->function_offset = name->function_offset + 1;
}

/* The place of a byte of a file, which lies before a return address.  False: the file is gone. */
static bool find_in(struct crit_symbols *symbols, uint32_t number, uint64_t file_offset,
		    uint64_t seen_real_ns, struct crit_source_location *ret_place)
{
	const struct crit_elf_head *head = head_of(symbols, number, seen_real_ns);
	const struct symbol_name *name;
	uint64_t before;

	ret_place->module = symbols->spaces.known.files[number].path;
	if (!head)
		return false;
	if (crit_elf_head_address(head, file_offset, &before))
		ret_place->offset = before + 1;
	if (head->build_id[0])
		ret_place->build_id = head->build_id;
	name = name_of(symbols, number, ret_place->offset);
	if (name)
		put_name(ret_place, name);
	return true;
}

/* The mapping of what lies before a return address, and where in the file.  NULL: in none. */
static const struct crit_mapping *mapping_of(struct crit_symbols *symbols, uint32_t node,
					     uint32_t pid, uint64_t address,
					     uint64_t *ret_file_offset)
{
	const struct crit_mapping *mapping = symbols->last;

	if (!mapping || mapping->node != node || mapping->pid != pid ||
	    address - 1 - mapping->begin >= mapping->end - mapping->begin)
		mapping = crit_address_spaces_find(&symbols->spaces, node, pid, address - 1);
	if (!mapping)
		return NULL;
	if (mapping != symbols->last)
		symbols->last = crit_address_spaces_is_alone(&symbols->spaces, mapping) ? mapping
											: NULL;
	*ret_file_offset = address - 1 - mapping->begin + mapping->file_offset;
	return mapping;
}

/* Of regions with one body the caller that comes first. */
static int know_region(struct crit_symbols *symbols, const struct crit_region_row *region)
{
	uint64_t body = 0, call = 0, key = 0;
	const struct crit_mapping *code =
		mapping_of(symbols, region->node, region->pid, region->site, &body);
	const struct crit_mapping *caller =
		mapping_of(symbols, region->node, region->pid, region->caller, &call);

	if (!code || !caller || code->file != caller->file ||
	    !key_of_place(code->file, body, &key) ||
	    crit_map_get(&symbols->caller_numbers, key) != CRIT_NONE)
		return 0;
	if (crit_array_grow(&symbols->callers, &symbols->caller_capacity, symbols->caller_count + 1,
			    sizeof(*symbols->callers)) ||
	    crit_map_set(&symbols->caller_numbers, key, (uint32_t)symbols->caller_count))
		return -ENOMEM;
	symbols->callers[symbols->caller_count++] =
		(struct symbol_caller){ .file_offset = call, .seen_real_ns = caller->seen_real_ns };
	return 0;
}

int crit_symbols_know_regions(struct crit_symbols *symbols,
			      const struct crit_region_results *regions)
{
	int rc = 0;

	for (size_t i = 0; i < regions->row_count && !rc; i++)
		if (regions->rows[i].caller)
			rc = know_region(symbols, &regions->rows[i]);
	return rc;
}

/*
 * Does the function that a call is in name the code it calls?  Else it was only returned to: the
 * call was a jump, from a function that is not known.
 */
static bool refers(struct crit_symbols *symbols, uint32_t number, struct symbol_caller *caller,
		   uint64_t address, uint64_t target)
{
	const struct crit_elf_wanted wanted = wanted_of(symbols, number);
	struct symbol_file *file = &symbols->files[number];

	if (!caller->has_asked && file->status == CRIT_ELF_OPEN) {
		file->status = crit_elf_reader_refers(symbols->reader, &wanted, address, target,
						      &caller->refers);
		file->is_doubted = file->is_doubted || file->status != CRIT_ELF_OPEN;
		caller->has_asked = true;
	}
	return caller->refers;
}

/* A region's code without a name has that of who calls it, but stays where it is. */
static void name_by_caller(struct crit_symbols *symbols, uint32_t file, uint64_t file_offset,
			   struct crit_source_location *place)
{
	struct crit_source_location named = *place;
	uint64_t begin = place->offset - 1; /* of the code that is called */

	for (int nested = 0; !named.function && nested < NESTED_MAX; nested++) {
		uint32_t number = CRIT_NONE;
		struct symbol_caller *caller;
		uint64_t key;

		if (key_of_place(file, file_offset, &key))
			number = crit_map_get(&symbols->caller_numbers, key);
		if (number == CRIT_NONE)
			return;
		caller = &symbols->callers[number];
		file_offset = caller->file_offset;
		if (!find_in(symbols, file, file_offset, caller->seen_real_ns, &named) ||
		    !refers(symbols, file, caller, named.offset - 1, begin))
			return;
		begin = named.function_begin;
		if (named.function_begin) /* which may be the code of another region */
			file_offset -= named.offset - 1 - named.function_begin;
	}
	if (!named.function)
		return;
	named.offset = place->offset;
	*place = named;
}

void crit_symbols_find(struct crit_symbols *symbols, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place)
{
	uint64_t file_offset = 0;
	const struct crit_mapping *mapping = mapping_of(symbols, node, pid, address, &file_offset);

	*ret_place = (struct crit_source_location){ .offset = address };
	if (!mapping)
		return;
	ret_place->offset = address - mapping->base;
	if (find_in(symbols, mapping->file, file_offset, mapping->seen_real_ns, ret_place) &&
	    !ret_place->function)
		name_by_caller(symbols, mapping->file, file_offset, ret_place);
}

void crit_symbols_expect(struct crit_symbols *symbols, uint32_t node, uint32_t pid,
			 uint64_t address)
{
	uint64_t file_offset = 0, before;
	const struct crit_mapping *mapping = mapping_of(symbols, node, pid, address, &file_offset);
	const struct crit_elf_head *head =
		mapping ? head_of(symbols, mapping->file, mapping->seen_real_ns) : NULL;

	if (!head)
		return;
	if (!crit_elf_head_address(head, file_offset, &before))
		before = address - mapping->base - 1;
	(void)number_of(symbols, mapping->file, before + 1);
}

void crit_symbols_find_in_file(struct crit_symbols *symbols, const char *path, uint64_t offset,
			       struct crit_source_location *ret_place)
{
	struct crit_probe probe;
	uint32_t number = crit_index_first(&symbols->file_numbers, crit_hash_text(path), &probe);

	*ret_place = (struct crit_source_location){ .module = path, .offset = offset + 1 };
	for (; number != CRIT_NONE; number = crit_index_next(&symbols->file_numbers, &probe))
		if (strcmp(symbols->spaces.known.files[number].path, path) == 0 &&
		    find_in(symbols, number, offset, symbols->files[number].seen_real_ns,
			    ret_place))
			return;
}

static const char *key_of(const struct crit_source_location *location)
{
	if (location->build_id)
		return location->build_id;
	return location->module ? location->module : "";
}

int crit_source_location_compare(const struct crit_source_location *left,
				 const struct crit_source_location *right)
{
	const char *left_key = key_of(left), *right_key = key_of(right);
	int order = left_key == right_key ? 0 : strcmp(left_key, right_key);

	return order ? order : (left->offset > right->offset) - (left->offset < right->offset);
}

static int compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

int crit_source_function_compare(const struct crit_source_location *left,
				 const struct crit_source_location *right)
{
	int order = compare_text(left->module, right->module);

	if (!order)
		order = compare_text(left->function, right->function);
	return order ? order
		     : (left->function_begin > right->function_begin) -
			       (left->function_begin < right->function_begin);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *crit_source_location_text(const struct crit_source_location *location, char *text,
				      size_t text_bytes)
{
	const char *name = location->function;
	char where[64] = ""; /* behind the name */
	int room;

	if (location->file)
		(void)snprintf(where, sizeof(where), " %s:%" PRIu32, file_name(location->file),
			       location->line);
	else if (!name || location->function_offset)
		(void)snprintf(where, sizeof(where), "+%#" PRIx64,
			       name ? location->function_offset : location->offset);
	if (!name && !location->file && location->module)
		name = file_name(location->module);
	room = (int)text_bytes - (int)strlen(where) - 1;
	if (name && room > 0)
		(void)snprintf(text, text_bytes, "%.*s%s", room, name, where);
	else /* the end says most */
		(void)snprintf(text, text_bytes, "%s", where + 1 + (room < -1 ? -1 - room : 0));
	return text;
}

static const char *doubt_of(const struct symbol_file *file)
{
	static const char *const texts[CRIT_ELF_STATUS_COUNT] = {
		[CRIT_ELF_OPEN] = "was changed since the run",
		[CRIT_ELF_GONE] = "cannot be opened",
		[CRIT_ELF_REPLACED] = "is another file now",
		[CRIT_ELF_FOREIGN] = "is no program that makes sense",
		[CRIT_ELF_CHANGED] = "could not be read: it changed while it was read",
		[CRIT_ELF_SLOW] = "could not be read: that took too long",
		[CRIT_ELF_FATAL] = "could not be read: its debug data made the reader fail",
		[CRIT_ELF_UNREAD] = "was not read: no process was left to read it",
	};

	return texts[file->status];
}

size_t crit_symbols_doubts(const struct crit_symbols *symbols, char *text, size_t text_bytes)
{
	size_t count = 0;

	text[0] = '\0';
	for (size_t i = 0; i < symbols->spaces.known.file_count; i++) {
		if (!symbols->files[i].is_doubted || symbols->files[i].status == CRIT_ELF_LATE)
			continue;
		if (count++ == 0)
			(void)snprintf(text, text_bytes, "%s %s",
				       symbols->spaces.known.files[i].path,
				       doubt_of(&symbols->files[i]));
	}
	return count;
}

size_t crit_symbols_late_files(const struct crit_symbols *symbols)
{
	size_t count = 0;

	for (size_t i = 0; i < symbols->spaces.known.file_count; i++)
		count += symbols->files[i].status == CRIT_ELF_LATE;
	return count;
}

bool crit_symbols_has_file(const struct crit_symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->spaces.known.file_count; i++) {
		const char *path = symbols->spaces.known.files[i].path;
		const char *slash = strrchr(path, '/');

		if (symbols->spaces.known.files[i].has_shim &&
		    strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0)
			return true;
	}
	return false;
}
