// SPDX-License-Identifier: BSD-3-Clause
// ld, gold, lld and mold write one kind of table: offsets of 4 bytes from the begin of the section.
#include "analysis/symbols/frame_table.h"

#include <gelf.h>
#include <stddef.h>
#include <string.h>

#define VERSION 1
#define COUNT_UDATA4 0x03 /* encodings; DW_EH_PE_* */
#define TABLE_DATAREL_SDATA4 0x3b

struct table_head {
	uint8_t version;
	uint8_t frame_encoding;
	uint8_t count_encoding;
	uint8_t table_encoding;
	int32_t frame_at; /* of any encoding of 4 bytes */
	uint32_t row_count;
};

struct table_row {
	int32_t begin;
	int32_t description;
};

static bool find_section(Elf *elf, GElf_Phdr *ret_header)
{
	size_t count = 0;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, ret_header) && ret_header->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

static struct table_row row_at(const Elf_Data *data, size_t number)
{
	struct table_row row;

	memcpy(&row, (const char *)data->d_buf + sizeof(struct table_head) + number * sizeof(row),
	       sizeof(row));
	return row;
}

/* 0: it is another kind of table. */
static size_t row_count_of(const Elf_Data *data)
{
	struct table_head head;
	size_t room;

	if (!data || data->d_size < sizeof(head))
		return 0;
	memcpy(&head, data->d_buf, sizeof(head));
	room = (data->d_size - sizeof(head)) / sizeof(struct table_row);
	if (head.version != VERSION || head.count_encoding != COUNT_UDATA4 ||
	    head.table_encoding != TABLE_DATAREL_SDATA4 || (head.frame_encoding & 0x07) != 0x03)
		return 0;
	return head.row_count < room ? head.row_count : room;
}

bool crit_frame_table_find(Elf *elf, uint64_t address, struct crit_frame_range *ret_range)
{
	const Elf_Data *data = NULL;
	GElf_Phdr header;
	size_t low = 0;
	size_t count, high;

	if (find_section(elf, &header))
		data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					    ELF_T_BYTE);
	count = high = row_count_of(data);
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if ((int64_t)(address - header.p_vaddr) < row_at(data, middle).begin)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return false;
	ret_range->begin = header.p_vaddr + (uint64_t)(int64_t)row_at(data, low - 1).begin;
	ret_range->next = low < count ? header.p_vaddr + (uint64_t)(int64_t)row_at(data, low).begin
				      : UINT64_MAX;
	return true;
}
