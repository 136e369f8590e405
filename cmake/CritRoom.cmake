# Properties of shared libraries: libcrit_NAME.so, which users preload, is a link to a file that has the version.
set(CRIT_SHARED_VERSION VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

# crit_room(NAME KIND SOURCES … USES …): a room's library crit_NAME, with paths from the repository root.
function(crit_room name kind)
	cmake_parse_arguments(ROOM "" "" "SOURCES;USES" ${ARGN})
	add_library(crit_${name} ${kind} ${ROOM_SOURCES})
	target_include_directories(crit_${name} PUBLIC ${PROJECT_SOURCE_DIR})
	set_target_properties(crit_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_link_libraries(crit_${name} PRIVATE crit_warnings PUBLIC ${ROOM_USES})
endfunction()

# All unit tests, which is what the sanitizer presets build.  Where CRIT_ONE_THREAD is set they never have a second
# thread, so ThreadSanitizer has nothing to find: they are labelled so, and not built for it.
add_custom_target(unit)
if(CRIT_SANITIZE STREQUAL thread)
	set(CRIT_HUNTS_RACES ON)
endif()

# crit_unit_needs(TARGET …): what unit tests run besides their own program.
function(crit_unit_needs)
	if(NOT (CRIT_HUNTS_RACES AND CRIT_ONE_THREAD))
		add_dependencies(unit ${ARGN})
	endif()
endfunction()

# crit_test(NAME LABEL SOURCES … USES … [TIMEOUT s]): a plain test program, run by ctest under its label.
function(crit_test name label)
	cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;USES" ${ARGN})
	add_executable(${name} ${T_SOURCES})
	target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
	target_link_libraries(${name} PRIVATE crit_warnings ${T_USES})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
	if(label STREQUAL unit)
		crit_unit_needs(${name})
	endif()
	crit_test_command(${name} ${label} TIMEOUT "${T_TIMEOUT}" COMMAND $<TARGET_FILE:${name}>)
endfunction()

# The python3 of a version manager is a script that starts ten times slower than the interpreter it looks for, and tests
# start many: they find that one first.
find_program(CRIT_PYTHON3 python3)
mark_as_advanced(CRIT_PYTHON3)
execute_process(COMMAND python3 -c "import os, sys; print(os.path.dirname(sys.executable), end='')"
	OUTPUT_VARIABLE CRIT_PYTHON_DIRECTORY ERROR_QUIET)
cmake_path(GET CRIT_PYTHON3 PARENT_PATH CRIT_PYTHON_FOUND_IN)
if(CRIT_PYTHON_DIRECTORY AND NOT CRIT_PYTHON_DIRECTORY STREQUAL CRIT_PYTHON_FOUND_IN)
	set(CRIT_TEST_ENVIRONMENT ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${CRIT_PYTHON_DIRECTORY}")
endif()

# crit_test_command(NAME LABEL [TIMEOUT s] COMMAND …): any command as a test: exit 0, 1, or 77 for a skip, which
# tests/gate.sh allows only to the labels in CRIT_MAY_SKIP.  It also ends a test that takes too long, and may run one
# three times; ctest's own limit is for the whole.  What measures or traces has the machine to itself; these do not.
set(CRIT_RUNS_BESIDE_OTHERS "^(test-(attach|constructs|decide|details|fortran|hostile|limits|miscount)\
|test-(search|spans)\
|shim_(absent|breadth|choice|details|failure|kinds|last_line|layers|leaving|libraries|ompt|phases|tools)\
|shim_(transparency|worlds|(fortran_)?table_.*)\
|attack_(fifos|forged_lines|fork_flood|shrinking_program|small_stack|squatted|uid_without_root)\
|e2e_(attach|bounding_set|diff|finisher|gather|installed|linkage|messages|mutated)\
|e2e_(otf2|privileges|region_lines|regions|report|roles|run|settings|signals|umask|usable_cpus))$")
# Of these, those whose ranks do not wait busily for most of their time; the others take two of ctest's places.
set(CRIT_LEAVES_CPUS "^(test-miscount|shim_(absent|failure)|attack_(fork_flood|small_stack)\
|e2e_(finisher|otf2|privileges|region_lines))$")

function(crit_test_command name label)
	cmake_parse_arguments(T "" "TIMEOUT" "COMMAND" ${ARGN})
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 300)
	endif()
	if(CRIT_SANITIZE)
		math(EXPR T_TIMEOUT "${T_TIMEOUT} * 5")
	endif()
	add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/gate.sh ${label} ${T_TIMEOUT} ${T_COMMAND})
	math(EXPR all_attempts "3 * (${T_TIMEOUT} + 70)")
	set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT ${all_attempts}
		${CRIT_TEST_ENVIRONMENT})
	if(CRIT_ONE_THREAD AND label STREQUAL unit)
		set_property(TEST ${name} APPEND PROPERTY LABELS one-thread)
	endif()
	if(NOT label MATCHES "^(unit|house|fuzz)$")
		# these first: what is short fits beside them; and after the last of them house-left-over
		set_tests_properties(${name} PROPERTIES COST 100 FIXTURES_REQUIRED processes)
		if(NOT name MATCHES "${CRIT_RUNS_BESIDE_OTHERS}")
			set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
		elseif(NOT name MATCHES "${CRIT_LEAVES_CPUS}")
			set_tests_properties(${name} PROPERTIES PROCESSORS 2)
		endif()
	endif()
endfunction()
