# The MPI flavours, asked of their own compiler wrappers.  Per flavour: crit_mpi_<flavour>_headers for who only
# compiles against its mpi.h, crit_mpi_<flavour> for programs; CRIT_MPI_FLAVOURS lists those found.
set(CRIT_MPI_FLAVOURS)
foreach(flavour openmpi mpich)
	find_program(CRIT_MPICC_${flavour} mpicc.${flavour})
	find_program(CRIT_MPIRUN_${flavour} mpirun.${flavour})
	if(NOT CRIT_MPICC_${flavour})
		continue()
	endif()
	execute_process(COMMAND ${CRIT_MPICC_${flavour}} -show OUTPUT_VARIABLE shown
		OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
	separate_arguments(shown UNIX_COMMAND "${shown}")
	set(headers ${shown})
	list(FILTER headers INCLUDE REGEX "^-I")
	list(TRANSFORM headers REPLACE "^-I" "")
	list(FILTER shown INCLUDE REGEX "^-[Ll]")
	add_library(crit_mpi_${flavour}_headers INTERFACE)
	target_include_directories(crit_mpi_${flavour}_headers SYSTEM INTERFACE ${headers})
	add_library(crit_mpi_${flavour} INTERFACE)
	target_link_libraries(crit_mpi_${flavour} INTERFACE crit_mpi_${flavour}_headers ${shown})
	list(APPEND CRIT_MPI_FLAVOURS ${flavour})
endforeach()

# crit_app(NAME [SOURCES …] [USES …]): a program of tests/apps, by default from NAME.c.
function(crit_app name)
	cmake_parse_arguments(A "" "" "SOURCES;USES" ${ARGN})
	if(NOT A_SOURCES)
		set(A_SOURCES ${name}.c)
	endif()
	add_executable(${name} ${A_SOURCES})
	target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
	target_link_libraries(${name} PRIVATE crit_warnings ${A_USES})
	set_target_properties(${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/apps)
endfunction()

# crit_mpi_app(NAME [USES …]): NAME.c with every flavour, as NAME.openmpi and NAME.mpich.
function(crit_mpi_app name)
	cmake_parse_arguments(A "" "" "USES" ${ARGN})
	foreach(flavour ${CRIT_MPI_FLAVOURS})
		crit_app(${name}.${flavour} SOURCES ${name}.c USES crit_mpi_${flavour} ${A_USES})
	endforeach()
endfunction()
