/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for copies made by hand, at the addresses of golden.h.  It is never executed. */
#include "golden.h"
#define AT(address) .org address - GOLDEN_TEXT, 0x90
#define CALL_BEFORE(address, function) AT(address - 5); call function

	.text

	AT(GOLDEN_START)
	.cfi_startproc
	.cfi_undefined rip
	CALL_BEFORE(GOLDEN_START_CALLED, calls)
	hlt
	.cfi_endproc

	AT(GOLDEN_CALLS)
calls:
	.cfi_startproc
#ifdef IS_OTHER /* another file's function: what rbp is does not matter to it */
	sub $40, %rsp
	.cfi_def_cfa_offset 48
#else
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
#endif
	CALL_BEFORE(GOLDEN_CALLS_CALLED, leaf)
	call elsewhere@PLT
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc

	AT(GOLDEN_LEAF)
leaf:
	.cfi_startproc
	nop
	ret
	.cfi_endproc

	/* as compilers write it: rbp stays in a slot that is given back */
	AT(GOLDEN_POPS)
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	xor %ebp, %ebp
	pop %rbp
	.cfi_def_cfa_offset 8
	AT(GOLDEN_POPS_POPPED)
	ret
	.cfi_endproc

	/* the caller's stack pointer is remembered below rbp (DRAP) */
	AT(GOLDEN_ALIGNS)
	.cfi_startproc
	lea 8(%rsp), %r10
	.cfi_def_cfa r10, 0
	and $-64, %rsp
	push -8(%r10)
	push %rbp
	mov %rsp, %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0		/* rbp is at rbp */
	push %r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	/* the CFA is *(rbp - 8) */
	CALL_BEFORE(GOLDEN_ALIGNS_CALLED, leaf)
	hlt
	.cfi_endproc

	AT(GOLDEN_LARGE)
	.cfi_startproc
	sub $GOLDEN_LARGE_BYTES + 8, %rsp
	.cfi_def_cfa_offset GOLDEN_LARGE_BYTES + 16
	CALL_BEFORE(GOLDEN_LARGE_CALLED, leaf)
	add $GOLDEN_LARGE_BYTES + 8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	/* as the C library has it: the kernel lets handlers return to it, so it begins before it */
	AT(GOLDEN_RESTORES - 1)
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6	/* the CFA is *(rsp + GOLDEN_SAVED_SP) */
	.cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0	/* rbp is at rsp + GOLDEN_SAVED_BP */
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1	/* rip is at rsp + GOLDEN_SAVED_PC */
	AT(GOLDEN_RESTORES)
	mov $15, %rax
	syscall
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
