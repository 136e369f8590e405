# crit_skewed(NAME KIND ORIGIN): the target ORIGIN once more, with clocks that CRIT_TEST_CLOCK bends; for tests alone.
function(crit_skewed name kind origin)
	get_target_property(sources ${origin} SOURCES)
	get_target_property(room ${origin} SOURCE_DIR)
	list(TRANSFORM sources PREPEND ${room}/)
	add_library(${name} ${kind} ${sources} ${PROJECT_SOURCE_DIR}/tests/lib/skewed_clock.c)
	foreach(what INCLUDE_DIRECTORIES COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_OPTIONS LINK_LIBRARIES OUTPUT_NAME
		VERSION SOVERSION
		INTERFACE_INCLUDE_DIRECTORIES INTERFACE_COMPILE_DEFINITIONS INTERFACE_LINK_LIBRARIES)
		get_target_property(value ${origin} ${what})
		if(value)
			set_target_properties(${name} PROPERTIES ${what} "${value}")
		endif()
	endforeach()
	target_compile_definitions(${name} PRIVATE CRIT_SKEWS_CLOCKS)
endfunction()
