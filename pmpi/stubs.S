/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names libcrit_pmpi.so exports: each jumps through its place in a table.  A place leads
 * first to a lazy entry, which keeps all argument registers, asks crit_pmpi_resolve where to go,
 * and goes there; the resolver has filled the place by then.
 */
#if defined(__x86_64__)

	.macro STUB symbol, place
	.text
	.balign 16
	.globl \symbol
	.type \symbol, @function
\symbol:
	.cfi_startproc
	endbr64
	jmp *crit_pmpi_table+8*\place(%rip)
	.cfi_endproc
	.size \symbol, . - \symbol
	.section .text.lazy,"ax",@progbits
.Llazy_\symbol:
	endbr64
	movl $\place, %r11d
	jmp crit_pmpi_lazy
	.endm

	.section .text.lazy,"ax",@progbits
	.globl crit_pmpi_lazy
	.type crit_pmpi_lazy, @function
crit_pmpi_lazy:
	.cfi_startproc
	subq $200, %rsp /* 16-byte alignment for the call */
	.cfi_adjust_cfa_offset 200
	movq %rdi, 0(%rsp)
	movq %rsi, 8(%rsp)
	movq %rdx, 16(%rsp)
	movq %rcx, 24(%rsp)
	movq %r8, 32(%rsp)
	movq %r9, 40(%rsp)
	movq %rax, 48(%rsp)
	movups %xmm0, 64(%rsp)
	movups %xmm1, 80(%rsp)
	movups %xmm2, 96(%rsp)
	movups %xmm3, 112(%rsp)
	movups %xmm4, 128(%rsp)
	movups %xmm5, 144(%rsp)
	movups %xmm6, 160(%rsp)
	movups %xmm7, 176(%rsp)
	movl %r11d, %edi
	movq 200(%rsp), %rsi /* the caller */
	movq %rsp, %rdx /* the arguments */
	call crit_pmpi_resolve
	movq %rax, %r11
	movq 0(%rsp), %rdi
	movq 8(%rsp), %rsi
	movq 16(%rsp), %rdx
	movq 24(%rsp), %rcx
	movq 32(%rsp), %r8
	movq 40(%rsp), %r9
	movq 48(%rsp), %rax
	movups 64(%rsp), %xmm0
	movups 80(%rsp), %xmm1
	movups 96(%rsp), %xmm2
	movups 112(%rsp), %xmm3
	movups 128(%rsp), %xmm4
	movups 144(%rsp), %xmm5
	movups 160(%rsp), %xmm6
	movups 176(%rsp), %xmm7
	addq $200, %rsp
	.cfi_adjust_cfa_offset -200
	jmp *%r11
	.cfi_endproc

#elif defined(__aarch64__)

	.macro STUB symbol, place
	.text
	.balign 16
	.globl \symbol
	.type \symbol, %function
\symbol:
	.cfi_startproc
	hint #34 /* bti c */
	adrp x16, crit_pmpi_table+8*\place
	add x16, x16, #:lo12:crit_pmpi_table+8*\place
	ldar x16, [x16] /* what the place leads to was made ready before */
	br x16
	.cfi_endproc
	.size \symbol, . - \symbol
	.section .text.lazy,"ax",%progbits
.Llazy_\symbol:
	hint #38 /* bti jc */
	mov w17, #\place
	b crit_pmpi_lazy
	.endm

	.section .text.lazy,"ax",%progbits
	.globl crit_pmpi_lazy
	.type crit_pmpi_lazy, %function
crit_pmpi_lazy:
	.cfi_startproc
	stp x29, x30, [sp, #-224]!
	.cfi_def_cfa_offset 224
	.cfi_offset x29, -224
	.cfi_offset x30, -216
	mov x29, sp
	stp x0, x1, [sp, #16]
	stp x2, x3, [sp, #32]
	stp x4, x5, [sp, #48]
	stp x6, x7, [sp, #64]
	str x8, [sp, #80]
	stp q0, q1, [sp, #96]
	stp q2, q3, [sp, #128]
	stp q4, q5, [sp, #160]
	stp q6, q7, [sp, #192]
	mov w0, w17
	mov x1, x30 /* the caller */
	add x2, sp, #16 /* the arguments */
	bl crit_pmpi_resolve
	mov x16, x0
	ldp x0, x1, [sp, #16]
	ldp x2, x3, [sp, #32]
	ldp x4, x5, [sp, #48]
	ldp x6, x7, [sp, #64]
	ldr x8, [sp, #80]
	ldp q0, q1, [sp, #96]
	ldp q2, q3, [sp, #128]
	ldp q4, q5, [sp, #160]
	ldp q6, q7, [sp, #192]
	ldp x29, x30, [sp], #224
	.cfi_def_cfa_offset 0
	br x16
	.cfi_endproc

#else
#error "pmpi/stubs.S knows x86-64 and AArch64"
#endif

	.globl crit_pmpi_table
	.hidden crit_pmpi_table
	.hidden crit_pmpi_lazy
	.hidden crit_pmpi_resolve

#include "stubs.inc"

	.section .note.GNU-stack,"",%progbits
