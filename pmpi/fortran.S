/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Fortran names libcrit_pmpi.so exports, and their one wrapper.  It hands on the arguments as
 * they came: those in registers, and as many stack words as the longest call could have, which
 * tests/shim checks; a callee with fewer does not look at the rest.
 */
#include "pmpi/fortran.h"

	.text
	.globl crit_pmpi_fortran_stubs
	.hidden crit_pmpi_fortran_stubs
	.hidden crit_pmpi_fortran
	.hidden crit_pmpi_fortran_enter
	.hidden crit_pmpi_fortran_leave
	.hidden crit_pmpi_lazy
	.balign CRIT_PMPI_STUB_BYTES

#if defined(__x86_64__)

	.macro FORTRAN_STUB symbol, place
	.balign CRIT_PMPI_STUB_BYTES
	.globl \symbol
	.type \symbol, @function
\symbol:
	endbr64
	movl $\place, %r11d
	jmp .Lfortran
	.size \symbol, . - \symbol
	.endm

crit_pmpi_fortran_stubs:
	.cfi_startproc
#include "fortran_stubs.inc"

	.type .Lfortran, @function
.Lfortran: /* r11: place; from here on rax: struct crit_pmpi_fortran */
	movl %r11d, %eax
	shlq $4, %rax
	leaq crit_pmpi_fortran(%rip), %r11
	addq %r11, %rax
	cmpq $0, (%rax)
	je .Lfirst
	cmpl $0, 8(%rax)
	jne .Lspan
	jmp *(%rax)
.Lfirst:
	subq %r11, %rax
	shrq $4, %rax
	leal CRIT_PMPI_FORTRAN(%rax), %r11d
	jmp crit_pmpi_lazy
.Lspan:
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %r9
	pushq %r8
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi /* -48(%rbp): the arguments, in order */
	pushq %rax /* -56(%rbp): the call */
	pushq %rax /* -64(%rbp): is it the outermost?  later: the answer */
	movq %rax, %rdi
	movq %rbp, %rsi
	call crit_pmpi_fortran_enter
	movzbl %al, %eax
	movq %rax, -64(%rbp)
	subq $80, %rsp /* ten stack words; the stack stays aligned by 16 */
	movups 16(%rbp), %xmm0
	movups 32(%rbp), %xmm1
	movups 48(%rbp), %xmm2
	movups 64(%rbp), %xmm3
	movups 80(%rbp), %xmm4
	movups %xmm0, 0(%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movq -48(%rbp), %rdi
	movq -40(%rbp), %rsi
	movq -32(%rbp), %rdx
	movq -24(%rbp), %rcx
	movq -16(%rbp), %r8
	movq -8(%rbp), %r9
	movq -56(%rbp), %rax
	call *(%rax)
	cmpq $0, -64(%rbp)
	je .Lreturn
	movq %rax, -64(%rbp)
	movq -56(%rbp), %rdi
	leaq -48(%rbp), %rsi
	call crit_pmpi_fortran_leave
	movq -64(%rbp), %rax
.Lreturn:
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc

#elif defined(__aarch64__)

	.macro FORTRAN_STUB symbol, place
	.balign CRIT_PMPI_STUB_BYTES
	.globl \symbol
	.type \symbol, %function
\symbol:
	hint #34 /* bti c */
	mov w17, #\place
	b .Lfortran
	.size \symbol, . - \symbol
	.endm

crit_pmpi_fortran_stubs:
	.cfi_startproc
#include "fortran_stubs.inc"

	.type .Lfortran, %function
.Lfortran: /* x17: place; from here on x16: struct crit_pmpi_fortran */
	adrp x16, crit_pmpi_fortran
	add x16, x16, #:lo12:crit_pmpi_fortran
	add x16, x16, x17, lsl #4
	ldar x15, [x16]
	cbz x15, .Lfirst
	ldr w14, [x16, #8]
	cbnz w14, .Lspan
	mov x16, x15
	br x16
.Lfirst:
	add w17, w17, #CRIT_PMPI_FORTRAN
	b crit_pmpi_lazy
.Lspan:
	stp x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset x29, -96
	.cfi_offset x30, -88
	mov x29, sp
	.cfi_def_cfa_register x29
	stp x0, x1, [x29, #16] /* the arguments, in order */
	stp x2, x3, [x29, #32]
	stp x4, x5, [x29, #48]
	stp x6, x7, [x29, #64]
	str x16, [x29, #80] /* the call */
	mov x0, x16
	mov x1, x29
	bl crit_pmpi_fortran_enter
	and x0, x0, #255
	str x0, [x29, #88] /* is it the outermost?  later: the answer */
	sub sp, sp, #64 /* eight stack words */
	ldp x9, x10, [x29, #96]
	stp x9, x10, [sp]
	ldp x9, x10, [x29, #112]
	stp x9, x10, [sp, #16]
	ldp x9, x10, [x29, #128]
	stp x9, x10, [sp, #32]
	ldp x9, x10, [x29, #144]
	stp x9, x10, [sp, #48]
	ldp x0, x1, [x29, #16]
	ldp x2, x3, [x29, #32]
	ldp x4, x5, [x29, #48]
	ldp x6, x7, [x29, #64]
	ldr x16, [x29, #80]
	ldr x16, [x16]
	blr x16
	ldr x9, [x29, #88]
	cbz x9, .Lreturn
	str x0, [x29, #88]
	ldr x0, [x29, #80]
	add x1, x29, #16
	bl crit_pmpi_fortran_leave
	ldr x0, [x29, #88]
.Lreturn:
	mov sp, x29
	ldp x29, x30, [sp], #96
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc

#else
#error "pmpi/fortran.S knows x86-64 and AArch64"
#endif

	.section .note.GNU-stack,"",%progbits
