// SPDX-License-Identifier: BSD-3-Clause
// Looks at each four bytes: lea has a displacement, of programs that are not moved mov an address.
#include "analysis/symbols/code_refs.h"

#include <gelf.h>
#include <string.h>

#define CODE_BYTES_MAX (1u << 20)

/* The bytes of the file from an address to another, or fewer.  NULL: none are loaded. */
static const Elf_Data *code_of(Elf *elf, uint64_t begin, uint64_t end)
{
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		uint64_t left, bytes = end - begin;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    begin < header.p_vaddr || begin - header.p_vaddr >= header.p_filesz)
			continue;
		left = header.p_filesz - (begin - header.p_vaddr);
		bytes = bytes < left ? bytes : left;
		bytes = bytes < CODE_BYTES_MAX ? bytes : CODE_BYTES_MAX;
		return elf_getdata_rawchunk(elf,
					    (int64_t)(header.p_offset + begin - header.p_vaddr),
					    bytes, ELF_T_BYTE);
	}
	return NULL;
}

bool crit_code_refers(Elf *elf, uint64_t begin, uint64_t end, uint64_t target)
{
	const Elf_Data *code;
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return false;
	if (header.e_machine != EM_X86_64)
		return true;
	code = begin < end ? code_of(elf, begin, end) : NULL;
	for (size_t at = 0; code && at + sizeof(int32_t) <= code->d_size; at++) {
		int32_t word;

		memcpy(&word, (const char *)code->d_buf + at, sizeof(word));
		if (begin + at + sizeof(word) + (uint64_t)(int64_t)word == target ||
		    (header.e_type == ET_EXEC && (uint64_t)(int64_t)word == target))
			return true;
	}
	return false;
}
