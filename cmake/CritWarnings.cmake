# One interface target that carries language level and warnings; every room links it.
add_library(crit_warnings INTERFACE)
target_compile_features(crit_warnings INTERFACE c_std_11)
target_compile_definitions(crit_warnings INTERFACE _GNU_SOURCE)
target_compile_options(crit_warnings INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
	-Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -fno-common)
if(NOT CRIT_SANITIZE) # they widen frames; a stack may be limited to 64 KiB
	target_compile_options(crit_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wframe-larger-than=24576>)
endif()
option(CRIT_WERROR "Treat warnings as errors" OFF)
if(CRIT_WERROR)
	target_compile_options(crit_warnings INTERFACE -Werror)
endif()
