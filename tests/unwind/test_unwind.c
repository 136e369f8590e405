// SPDX-License-Identifier: BSD-3-Clause
// Call paths by hand: maps of two times, expressions, and chains of this program's own frames with
// what may be wrong with a copy.
#include "analysis/unwind/unwind.h"

#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "analysis/unwind/frame_registers.h"
#include "core/base/cleanup.h"
#include "tests/lib/check.h"
#include "tests/lib/check_scratch.h"

#define SP 0x7fff0000ull

static void add(struct crit_unwind_maps *maps, struct crit_mapped_files *files, const char *text)
{
	CHECK_INT_EQ(crit_unwind_maps_add(maps, files, text, strlen(text)), 0);
}

/* "file+offset", "none", "disputed" or "unmapped". */
static const char *place_of(const struct crit_unwind_maps *maps,
			    const struct crit_mapped_files *files, uint64_t address)
{
	static char text[128];
	const struct crit_unwind_mapping *mapping = crit_unwind_maps_find(maps, address);

	if (!mapping)
		return "unmapped";
	if (mapping->file == CRIT_UNWIND_NO_FILE)
		return "none";
	if (mapping->file == CRIT_UNWIND_DISPUTED)
		return "disputed";
	(void)snprintf(text, sizeof(text), "%s+%llx", files->files[mapping->file].path,
		       (unsigned long long)(address - mapping->base));
	return text;
}

static void check_maps(void)
{
	struct crit_mapped_files files = { 0 };
	struct crit_unwind_maps maps = { 0 };

	CHECK_STR_EQ(place_of(&maps, &files, 0x1000), "unmapped");
	add(&maps, &files,
	    "1000-2000 r--p 00000000 00:01 7 /a\n"
	    "2000-4000 r-xp 00001000 00:01 7 /a\n"
	    "4000-5000 r-xp 00003000 00:01 7 /a\n"
	    "3000-9000 r-xp 00000000 00:01 8 /overlaps what is there\n"
	    "8000-9000 r-xp 00000000 00:00 0 \n"
	    "a000-c000 r-xp 00000000 00:00 0 [vdso]\n"
	    "d000-e000 r-xp 00000000 00:01 9 /cut");
	CHECK_UINT_EQ(maps.mapping_count, 3);
	CHECK_STR_EQ(place_of(&maps, &files, 0x1fff), "unmapped");
	CHECK_STR_EQ(place_of(&maps, &files, 0x2000), "/a+1000");
	CHECK_STR_EQ(place_of(&maps, &files, 0x4fff), "/a+3fff");
	CHECK_STR_EQ(place_of(&maps, &files, 0x5000), "unmapped");
	CHECK_STR_EQ(place_of(&maps, &files, 0x8000), "none");
	CHECK_STR_EQ(place_of(&maps, &files, 0xa010), "[vdso]+10");
	CHECK_STR_EQ(place_of(&maps, &files, 0xd000), "unmapped");
	add(&maps, &files,
	    "2800-4800 r-xp 00001800 00:01 7 /a\n"
	    "4800-6000 r-xp 00000000 00:01 5 /b\n"
	    "8800-8900 r-xp 00000000 00:01 5 /b\n");
	CHECK_STR_EQ(place_of(&maps, &files, 0x2000), "/a+1000");
	CHECK_STR_EQ(place_of(&maps, &files, 0x47ff), "/a+37ff");
	CHECK_STR_EQ(place_of(&maps, &files, 0x4800), "disputed");
	CHECK_STR_EQ(place_of(&maps, &files, 0x5000), "/b+800");
	CHECK_STR_EQ(place_of(&maps, &files, 0x87ff), "none");
	CHECK_STR_EQ(place_of(&maps, &files, 0x8800), "disputed");
	CHECK_STR_EQ(place_of(&maps, &files, 0x8900), "none");
	/* another file of the same name is another file, and stays so */
	add(&maps, &files, "2000-4000 r-xp 00001000 00:01 17 /a\n");
	add(&maps, &files, "2000-4000 r-xp 00001000 00:01 7 /a\n");
	CHECK_STR_EQ(place_of(&maps, &files, 0x2000), "disputed");
	CHECK_STR_EQ(place_of(&maps, &files, 0x4000), "/a+3000");
	crit_unwind_maps_fini(&maps);
	crit_mapped_files_fini(&files);
}

static enum crit_frame_fault evaluate(const struct crit_frame_op *ops, size_t count,
				      bool is_bp_known, uint64_t *ret_value)
{
	static const uint64_t words[] = { 11, 22, SP + 8 };
	const struct crit_stack_copy stack = { (const unsigned char *)words, SP, sizeof(words) };
	const struct crit_frame_registers registers = {
		.pc = 0x40100b, .sp = SP, .bp = SP + 16, .is_bp_known = is_bp_known
	};

	return crit_frame_evaluate(ops, count, &registers, 0xcfa, &stack, ret_value);
}

#define CHECK_OPS(fault, value, ...)                                                               \
	do {                                                                                       \
		const struct crit_frame_op ops[] = { __VA_ARGS__ };                                \
		uint64_t yielded = 0;                                                              \
                                                                                                   \
		CHECK_UINT_EQ(evaluate(ops, sizeof(ops) / sizeof(ops[0]), true, &yielded), fault); \
		CHECK_UINT_EQ(yielded, (uint64_t)(value));                                         \
	} while (0)
#define OP(name) ((struct crit_frame_op){ .code = DW_OP_##name })
#define OP_NOT ((struct crit_frame_op){ .code = DW_OP_not })
#define WITH(name, number) ((struct crit_frame_op){ .code = DW_OP_##name, .operand = (number) })
#define OF(name, number)                                                                           \
	((struct crit_frame_op){ .code = DW_OP_breg0 + CRIT_FRAME_REGISTER_##name,                 \
				 .operand = (number) })

static void check_expressions(void)
{
	const struct crit_frame_op bp = OF(BP, 0);
	uint64_t value = 0;

	/* of a PLT: 8 more in the second half of an entry */
	CHECK_OPS(CRIT_FRAME_FINE, SP + 16, OF(SP, 8), OF(PC, 0), WITH(consts, 15), OP(and),
		  WITH(consts, 11), OP(ge), WITH(consts, 3), OP(shl), OP(plus));
	/* of a frame that aligned its stack: what lies below rbp */
	CHECK_OPS(CRIT_FRAME_FINE, 22, OF(BP, -8), OP(deref));
	CHECK_OPS(CRIT_FRAME_FINE, 22, OF(BP, 0), OP(deref), OP(deref));
	CHECK_OPS(CRIT_FRAME_FINE, 0xcfa - 2, OP(call_frame_cfa), WITH(plus_uconst, -2), OP(nop));
	CHECK_OPS(CRIT_FRAME_FINE, 3, WITH(consts, 5), WITH(consts, 2), OP(minus));
	CHECK_OPS(CRIT_FRAME_FINE, -1, WITH(consts, -5), WITH(consts, 1), OP(dup), OP(drop),
		  OP(shra), OP_NOT, OP(neg), WITH(consts, 1), OP(swap), OP(over), OP(drop),
		  OP(plus), WITH(consts, 0), OP(or));
	CHECK_OPS(CRIT_FRAME_FINE, 1, WITH(consts, -1), WITH(consts, 0), OP(lt));
	CHECK_OPS(CRIT_FRAME_FINE, 0, WITH(consts, 1), WITH(consts, 64), OP(shl));
	CHECK_OPS(CRIT_FRAME_NO_MEMORY, 0, OF(SP, 17), OP(deref));
	CHECK_OPS(CRIT_FRAME_NO_MEMORY, 0, OF(SP, -1), OP(deref));
	CHECK_OPS(CRIT_FRAME_NO_SENSE, 0, OP(deref));
	CHECK_OPS(CRIT_FRAME_NO_SENSE, 0, WITH(consts, 1), OP(plus));
	CHECK_OPS(CRIT_FRAME_NO_SENSE, 0, WITH(consts, 1), OP(drop));
	CHECK_OPS(CRIT_FRAME_NO_SENSE, 0, WITH(consts, 1), WITH(consts, 1), OP(div));
	CHECK_OPS(CRIT_FRAME_NO_SENSE, 0, OF(SP, 0), OP(dup), OP(dup), OP(dup), OP(dup), OP(dup),
		  OP(dup), OP(dup), OP(dup), OP(dup), OP(dup), OP(dup), OP(dup), OP(dup), OP(dup),
		  OP(dup), OP(dup));
	CHECK_UINT_EQ(evaluate(&bp, 1, false, &value), CRIT_FRAME_NO_MEMORY);
	CHECK_UINT_EQ(evaluate(NULL, 0, true, &value), CRIT_FRAME_NO_SENSE);
}

static size_t read_own_maps(char *text, size_t bytes)
{
	size_t used = 0;
	ssize_t count = 1;
	crit_autoclose int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && count > 0) {
		count = read(fd, text + used, bytes - used);
		used += count > 0 ? (size_t)count : 0;
	}
	return used;
}

#if defined(__aarch64__)
#define TAKE_REGISTERS(copy)                                                                       \
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"                   \
			 : "=&r"((copy).pc), "=&r"((copy).sp), "=&r"((copy).bp), "=&r"((copy).lr))
#else
#define TAKE_REGISTERS(copy)                                                                       \
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"                      \
			 : "=&r"((copy).pc), "=&r"((copy).sp), "=&r"((copy).bp))
#endif

/* Registers and stack of the function this is inlined into. */
#define TAKE_COPY(copy)                                                                            \
	do {                                                                                       \
		TAKE_REGISTERS(copy);                                                              \
		(copy).stack = (const unsigned char *)(copy).sp;                                   \
	} while (0)

struct own {
	struct crit_elf_reader *reader;
	struct crit_unwinder *unwinder;
	struct crit_unwind_maps maps;
	char text[1 << 16];
	size_t text_bytes;
};

static struct own own;
static struct crit_unwind_chain chain;

static void begin_own(bool has_reader)
{
	const struct crit_elf_reader_options options = { .wait_s = 60 };

	memset(&own, 0, sizeof(own));
	own.text_bytes = read_own_maps(own.text, sizeof(own.text));
	if (has_reader)
		CHECK_INT_EQ(crit_elf_reader_create(&options, &own.reader), 0);
	CHECK_INT_EQ(crit_unwinder_create(own.reader, &own.unwinder), 0);
	CHECK_INT_EQ(crit_unwind_maps_add(&own.maps, crit_unwinder_files(own.unwinder), own.text,
					  own.text_bytes),
		     0);
}

static void end_own(void)
{
	crit_unwind_maps_fini(&own.maps);
	crit_unwinder_destroy(own.unwinder);
	crit_elf_reader_destroy(own.reader);
}

/* Bytes of stack that reach up to main's callers. */
static size_t stack_bytes(uint64_t sp)
{
	// NOLINTNEXTLINE(bugprone-signal-handler): the thread itself raises the signal
	const uint64_t top = (uint64_t)getauxval(AT_RANDOM); /* above all frames */

	return top > sp && top - sp < CRIT_UNWIND_STACK_BYTES_MAX ? top - sp
								  : CRIT_UNWIND_STACK_BYTES_MAX;
}

__attribute__((noinline)) static void check_chain_ends(void)
{
	struct crit_unwind_copy copy;
	struct crit_unwind_copy less;
	uint32_t whole;

	TAKE_COPY(copy);
	copy.stack_bytes = stack_bytes(copy.sp);
	begin_own(true);
	crit_unwind(own.unwinder, &own.maps, &copy, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_COMPLETE);
	CHECK_INT_GE(chain.frame_count, 4); /* this, main, libc, _start */
	CHECK_UINT_EQ(chain.frames[0].file, chain.frames[1].file);
	CHECK_UINT_EQ(chain.frames[0].file, chain.frames[chain.frame_count - 1].file);
	whole = chain.frame_count;
	less = copy;
	for (less.stack_bytes = 0; less.stack_bytes < copy.stack_bytes; less.stack_bytes += 8) {
		crit_unwind(own.unwinder, &own.maps, &less, &chain);
		if (chain.end == CRIT_UNWIND_COMPLETE)
			break;
		CHECK_UINT_EQ(chain.end, CRIT_UNWIND_CUT_MEMORY);
		CHECK_INT_LT(chain.frame_count, whole);
	}
	CHECK_UINT_EQ(chain.frame_count, whole);
	less = copy;
	less.pc = 8; /* a call of a null pointer */
	crit_unwind(own.unwinder, &own.maps, &less, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_CUT_MAPS);
	CHECK_UINT_EQ(chain.frame_count, 0);
	end_own();
}

__attribute__((noinline)) static void check_unknown_files(void)
{
	struct crit_unwind_copy copy;
	char text[256];

	TAKE_COPY(copy);
	copy.stack_bytes = stack_bytes(copy.sp);
	begin_own(false);
	crit_unwind(own.unwinder, &own.maps, &copy, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_CUT_NO_CFI);
	CHECK_UINT_EQ(chain.frame_count, 1);
	end_own();
	begin_own(true);
	(void)snprintf(text, sizeof(text), "%llx-%llx r-xp 00000000 00:01 1 /another\n",
		       (unsigned long long)copy.pc & ~0xfffull,
		       ((unsigned long long)copy.pc & ~0xfffull) + 0x1000);
	add(&own.maps, crit_unwinder_files(own.unwinder), text);
	crit_unwind(own.unwinder, &own.maps, &copy, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_CUT_MAPS);
	CHECK_UINT_EQ(chain.frame_count, 0);
	crit_unwind_maps_fini(&own.maps);
	add(&own.maps, crit_unwinder_files(own.unwinder), text); /* is no file */
	crit_unwind(own.unwinder, &own.maps, &copy, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_CUT_NO_CFI);
	CHECK_UINT_EQ(chain.frame_count, 1);
	end_own();
}

#if defined(__aarch64__)
#define SIGNATURE (0x5aull << 48)

/* As where its callers had signed their return addresses. */
__attribute__((noinline)) static void check_signed(void)
{
	static uint64_t words[CRIT_UNWIND_STACK_BYTES_MAX / 8];
	static struct crit_unwind_chain unsigned_chain;
	struct crit_unwind_copy copy;

	TAKE_COPY(copy);
	copy.stack_bytes = stack_bytes(copy.sp) & -8ull;
	begin_own(true);
	crit_unwind(own.unwinder, &own.maps, &copy, &unsigned_chain);
	memcpy(words, copy.stack, copy.stack_bytes);
	for (size_t i = 0; i < copy.stack_bytes / 8; i++)
		if (crit_unwind_maps_find(&own.maps, words[i]))
			words[i] |= SIGNATURE;
	copy.stack = (const unsigned char *)words;
	copy.lr |= SIGNATURE;
	crit_unwind(own.unwinder, &own.maps, &copy, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_COMPLETE);
	CHECK_UINT_EQ(chain.frame_count, unsigned_chain.frame_count);
	end_own();
}
#endif

static struct crit_unwind_copy in_handler;
static struct crit_unwind_chain interrupted_chain;

__attribute__((noinline)) static void handle(int number)
{
	(void)number;
	TAKE_COPY(in_handler);
	in_handler.stack_bytes = stack_bytes(in_handler.sp);
	// NOLINTNEXTLINE(bugprone-signal-handler): likewise; its frames are gone afterwards
	crit_unwind(own.unwinder, &own.maps, &in_handler, &interrupted_chain);
}

/* From a handler to what was interrupted, and on. */
__attribute__((noinline)) static void check_handler(void)
{
	struct crit_unwind_copy copy;

	begin_own(true);
	(void)signal(SIGUSR1, handle);
	TAKE_COPY(copy);
	copy.stack_bytes = stack_bytes(copy.sp);
	crit_unwind(own.unwinder, &own.maps, &copy, &chain);
	CHECK_INT_EQ(raise(SIGUSR1), 0);
	CHECK_UINT_EQ(interrupted_chain.end, CRIT_UNWIND_COMPLETE);
	/* the handler, what returns from it, and libc's raise() */
	CHECK_INT_GE(interrupted_chain.frame_count, chain.frame_count + 3);
	for (uint32_t i = 1; i < chain.frame_count && i < interrupted_chain.frame_count; i++)
		CHECK_UINT_EQ(interrupted_chain.frames[interrupted_chain.frame_count - i].offset,
			      chain.frames[chain.frame_count - i].offset);
	(void)signal(SIGUSR1, SIG_DFL);
	end_own();
}

/*
 * The vDSO's functions have frames of nothing but their return address, at their first byte.  On
 * arm64 it has no CFI, and check_handler() returns to it.
 */
static void check_vdso(void)
{
	const uint64_t begin = getauxval(AT_SYSINFO_EHDR);
	const struct crit_frame_row *row;
	struct crit_elf_head head;
	struct crit_elf_wanted wanted = { .path = "[vdso]", .number = 0 };
	const struct crit_unwind_mapping *mapping;
	uint64_t with_rule = 0;

	begin_own(true);
	mapping = crit_unwind_maps_find(&own.maps, begin);
	if (!begin || !CHECK(mapping))
		return end_own();
	wanted.inode = mapping->end - mapping->begin + 4096; /* another kernel's */
	CHECK_UINT_EQ(crit_elf_reader_open(own.reader, &wanted, &head), CRIT_ELF_GONE);
	wanted.inode = mapping->end - mapping->begin;
	CHECK_UINT_EQ(crit_elf_reader_open(own.reader, &wanted, &head), CRIT_ELF_OPEN);
	wanted.changed_ns = head.changed_ns;
	for (uint64_t at = 0; at < wanted.inode && with_rule < 10; at += 16)
		if (crit_elf_reader_frame_row(own.reader, &wanted, at, &row) == CRIT_ELF_OPEN &&
		    row->rule.cfa.kind == CRIT_FRAME_SP && row->rule.cfa.offset == 8)
			with_rule++;
	CHECK_UINT_EQ(with_rule, CRIT_FRAME_IS_LINKED ? 0 : 10);
	end_own();
}

/* The dynamic linker begins in assembly without CFI, and nobody has called it. */
static void check_entry(void)
{
	const uint64_t begin = getauxval(AT_BASE);
	struct crit_unwind_copy copy;
	Elf64_Ehdr header;

	TAKE_COPY(copy);
	copy.stack_bytes = 0;
	begin_own(true);
	if (begin) {
		// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes addresses as numbers
		memcpy(&header, (const void *)begin, sizeof(header));
		for (uint64_t at = 0; at < 8; at += 4) {
			copy.pc = begin + header.e_entry + at;
			copy.lr = 0;
			crit_unwind(own.unwinder, &own.maps, &copy, &chain);
			CHECK_UINT_EQ(chain.end, CRIT_UNWIND_COMPLETE);
			CHECK_UINT_EQ(chain.frame_count, 1);
		}
	}
	end_own();
}

/* A library may name a function of its own as its entry point, and that one has callers. */
static void check_library_entry(void)
{
	const struct crit_frame_row *row = NULL;
	struct crit_elf_head head;
	struct crit_elf_wanted wanted = { 0 };
	struct stat status;
	char path[PATH_MAX];
	Elf64_Ehdr header;
	int fd = -1;

	if (!check_enter_scratch())
		return;
	begin_own(true);
	if (CHECK_INT_EQ(system("echo 'int f(int a) { return a + 1; }' | cc -O2 -shared -fPIC"
				" -fno-asynchronous-unwind-tables -Wl,-e,f -x c - -o lib.so"),
			 0) &&
	    CHECK(realpath("lib.so", path)) &&
	    CHECK((fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) &&
	    CHECK_INT_EQ(fstat(fd, &status), 0) &&
	    CHECK_INT_EQ(read(fd, &header, sizeof(header)), sizeof(header))) {
		wanted.path = path;
		wanted.inode = status.st_ino;
		CHECK_INT_EQ(crit_elf_reader_open(own.reader, &wanted, &head), CRIT_ELF_OPEN);
		wanted.changed_ns = head.changed_ns;
		CHECK(header.e_entry);
		if (CHECK_INT_EQ(crit_elf_reader_frame_row(own.reader, &wanted, header.e_entry,
							   &row),
				 CRIT_ELF_OPEN) &&
		    CHECK(row))
			CHECK_UINT_EQ(row->rule.cfa.kind, CRIT_FRAME_UNDEFINED);
	}
	if (fd >= 0)
		close(fd);
	end_own();
	check_leave_scratch();
}

int main(void)
{
	check_maps();
	check_entry();
	check_library_entry();
	check_expressions();
	check_chain_ends();
	check_unknown_files();
	check_handler();
#if defined(__aarch64__)
	check_signed();
#endif
	check_vdso();
	return check_done();
}
