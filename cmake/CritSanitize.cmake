# CRIT_SANITIZE=address;undefined and the like: carried by crit_warnings, so every room and test has it, BPF has not.
set(CRIT_SANITIZE "" CACHE STRING "Sanitizers to build with, as the compiler names them")
option(CRIT_FUZZ "Build the libFuzzer targets (clang only)" OFF)
if(CRIT_SANITIZE)
	string(REPLACE ";" "," sanitizers "${CRIT_SANITIZE}")
	target_compile_options(crit_warnings INTERFACE
		-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(crit_warnings INTERFACE -fsanitize=${sanitizers})
endif()
if(CRIT_FUZZ)
	target_compile_options(crit_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()
