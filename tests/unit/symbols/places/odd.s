# SPDX-License-Identifier: BSD-3-Clause
# Debug data as no compiler writes it, and what is rare in theirs: one unit, from 0x1000 to 0x9000.
	.macro abbreviation number, tag, children
	.uleb128 \number, \tag
	.byte \children
	.endm
	.macro function name, begin, end, number=2
	.uleb128 \number
	.asciz "\name"
	.quad \begin, \end
	.endm
	.macro inlined origin, begin, end
	.uleb128 4
	.long \origin - unit
	.quad \begin, \end
	.endm

	.section .debug_abbrev, "", @progbits
	abbreviation 1, 0x11, 1			# unit: name, low_pc, high_pc
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0, 0
	abbreviation 2, 0x2e, 1			# subprogram: the same
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0, 0
	abbreviation 3, 0x2e, 0			# without code: name
	.uleb128 0x03, 0x08, 0, 0
	abbreviation 4, 0x1d, 1			# inlined_subroutine: abstract_origin, low_pc, high_pc
	.uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x01, 0, 0
	abbreviation 5, 0x0b, 1			# lexical_block
	.uleb128 0, 0
	abbreviation 6, 0x2e, 0			# subprogram: sibling, name, low_pc, high_pc
	.uleb128 0x01, 0x13, 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0, 0
	abbreviation 7, 0x2e, 0			# subprogram: abstract_origin, low_pc, high_pc
	.uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x01, 0, 0
	.byte 0

	.section .debug_info, "", @progbits
unit:	.long end - version
version:
	.short 4
	.long 0
	.byte 8
	function "odd.c", 0x1000, 0x9000, 1
a:	.uleb128 3
	.asciz "a"
b:	.uleb128 3
	.asciz "b"
	function "plain", 0x1000, 0x1100
	 inlined a, 0x1010, 0x1050
	  inlined b, 0x1010, 0x1020		# begins where its caller does
	  .byte 0
	  .uleb128 5
	   inlined b, 0x1040, 0x1060		# ends after its caller
	   .byte 0, 0, 0, 0
	function "inverted", 0x2100, 0x2000
	.byte 0
	function "first", 0x3000, 0x3100	# the same code twice
	.byte 0
	function "second", 0x3000, 0x3100
	.byte 0
	function "narrow", 0x4000, 0x4100
	.byte 0
	function "wide", 0x3f00, 0x6000
	.byte 0
	function "crossing", 0x5f00, 0x6100
	.byte 0
	function "around", 0x6200, 0x6300	# elsewhere than what lies in it
	 function "nested", 0x6800, 0x6900
	  inlined a, 0x6810, 0x6820
	  .byte 0, 0, 0
	.uleb128 4				# inlined into nothing
	.long a - unit
	.quad 0x6a00, 0x6b00
	.byte 0
cycle:	.uleb128 7
	.long cycled - unit
	.quad 0x7000, 0x7100
cycled:	.uleb128 7
	.long cycle - unit
	.quad 0x7100, 0x7200
	.rept 1000
	.uleb128 5
	.endr
	function "deep", 0x8000, 0x8100
	.byte 0
	.fill 1000, 1, 0
again:	.uleb128 6
	.long again - unit
	.asciz "again"
	.quad 0x8200, 0x8300
	.byte 0
end:
