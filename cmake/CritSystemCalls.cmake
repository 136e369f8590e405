# crit_system_calls(FILE): names of system calls as initialisers of an array, by the numbers that the kernel's own
# headers give this machine.
function(crit_system_calls file)
	execute_process(COMMAND ${CMAKE_C_COMPILER} -E -dM -x c -include asm/unistd.h /dev/null
		OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
	string(REGEX MATCHALL "#define __NR_[A-Za-z0-9_]+ [0-9]+" macros "${macros}")
	list(TRANSFORM macros REPLACE "#define __NR_([A-Za-z0-9_]+) ([0-9]+)" "[\\2] = \"\\1\",\n")
	list(JOIN macros "" names)
	file(CONFIGURE OUTPUT ${file} CONTENT "${names}" @ONLY)
endfunction()
