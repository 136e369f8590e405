# All fuzz targets, which is what the presets fuzz and coverage build.
add_custom_target(fuzz)

# crit_fuzz(NAME COUNT n SEEDS … [SOURCES …] USES … [OPTIONS …]): a fuzz target, NAME_target.c and SOURCES.
# fuzz-NAME-smoke runs it over what SEEDS make, inputs kept in tests/data/fuzz/NAME and COUNT mutations of them.  With
# CRIT_FUZZ, fuzz-NAME is the same with libFuzzer.  OPTIONS are of both programs' linking.
function(crit_fuzz name)
	cmake_parse_arguments(F "" "COUNT" "SOURCES;SEEDS;USES;OPTIONS" ${ARGN})
	crit_room(test_fuzz_${name} STATIC SOURCES ${name}_target.c ${F_SOURCES} USES ${F_USES})
	set(kept ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name})
	add_executable(fuzz-${name}-smoke ${PROJECT_SOURCE_DIR}/tests/fuzz/smoke.c
		${PROJECT_SOURCE_DIR}/tests/fuzz/mutate.c ${F_SEEDS})
	set(programs fuzz-${name}-smoke)
	if(CRIT_FUZZ)
		add_executable(fuzz-${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_main.c)
		target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
		list(APPEND programs fuzz-${name})
	endif()
	foreach(program ${programs})
		target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR})
		target_link_libraries(${program} PRIVATE crit_warnings crit_test_fuzz_${name} m)
		target_link_options(${program} PRIVATE ${F_OPTIONS})
		set_target_properties(${program} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
	endforeach()
	add_dependencies(fuzz ${programs})
	crit_test_command(fuzz-${name}-smoke fuzz COMMAND $<TARGET_FILE:fuzz-${name}-smoke>
		--kept ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name} ${F_COUNT})
endfunction()
