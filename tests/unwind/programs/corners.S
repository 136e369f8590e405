/* SPDX-License-Identifier: BSD-3-Clause */
/* CFI that compilers write seldom, or with mistakes that are theirs for ever. */
	.text

	.type leaf, @function
leaf:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size leaf, . - leaf

/* Behind its pop the CFI still has rbp in a slot, which anybody may have overwritten by then. */
	.type pops_first, @function
pops_first:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	lea -64(%rsp), %rbp
	call leaf
	pop %rbp
	.cfi_def_cfa_offset 8
	movq $1, -8(%rsp)
	nop
	ret
	.cfi_endproc
	.size pops_first, . - pops_first

/* The caller's rbp is computed, not loaded. */
	.type shifts, @function
shifts:
	.cfi_startproc
	sub $16, %rbp
	.cfi_escape 0x16, 6, 2, 0x76, 16	/* val_expression of rbp: rbp + 16 */
	call leaf
	add $16, %rbp
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size shifts, . - shifts

/* The CFA is in a slot below rbp, and the caller's rbp at rbp. */
	.type aligns, @function
aligns:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	lea 16(%rsp), %rax
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	push %rax
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	/* def_cfa_expression: *(rbp - 8) */
	.cfi_escape 0x10, 6, 2, 0x76, 0	/* expression of rbp: at rbp */
	and $-64, %rsp
	call leaf
	lea (%rbp), %rsp
	.cfi_def_cfa rsp, 16
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size aligns, . - aligns

/* Rows before and behind an early return, kept and restored. */
	.type returns_early, @function
returns_early:
	.cfi_startproc
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	test %edi, %edi
	je 1f
	call leaf
	.cfi_remember_state
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
1:
	.cfi_restore_state
	call leaf
	nop
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size returns_early, . - returns_early

/* Its CFA is by rbp: what it calls must give it back. */
	.globl main
	.type main, @function
main:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	push %rbx
	.cfi_offset rbx, -24
	sub $24, %rsp
	mov $8, %ebx
	int3
0:
	call pops_first
	call shifts
	call aligns
	xor %edi, %edi
	call returns_early
	mov $1, %edi
	call returns_early
	dec %ebx
	jne 0b
	int3
	xor %eax, %eax
	add $24, %rsp
	pop %rbx
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size main, . - main

	.section .note.GNU-stack, "", @progbits
