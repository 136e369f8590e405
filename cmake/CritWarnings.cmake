# One interface target that carries language level, warnings and a way of zeroing; every room links it.
include(CheckCCompilerFlag)
add_library(crit_warnings INTERFACE)
target_compile_features(crit_warnings INTERFACE c_std_11)
target_compile_definitions(crit_warnings INTERFACE _GNU_SOURCE)
target_compile_options(crit_warnings INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -fno-common)
if(NOT CRIT_SANITIZE) # they widen frames; a stack may be limited to 64 KiB
	target_compile_options(crit_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wframe-larger-than=24576>)
endif()
# GCC zeroes 100 bytes by "rep stos", which begins slowly: by stores, each event of a replay takes less.
set(by_stores -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
check_c_compiler_flag(${by_stores} CRIT_CAN_ZERO_BY_STORES)
if(CRIT_CAN_ZERO_BY_STORES)
	target_compile_options(crit_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:${by_stores}>)
endif()
option(CRIT_WERROR "Treat warnings as errors" OFF)
if(CRIT_WERROR)
	target_compile_options(crit_warnings INTERFACE -Werror)
endif()
