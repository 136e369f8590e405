# The MPI flavours, asked of their own compiler wrappers.  Per flavour: crit_mpi_<flavour>_headers for who only
# compiles against its mpi.h, crit_mpi_<flavour> for programs; CRIT_MPI_FLAVOURS lists those found.
set(CRIT_MPI_FLAVOURS)
find_program(CRIT_GFORTRAN gfortran) # what the wrappers for Fortran call here
foreach(flavour openmpi mpich)
	find_program(CRIT_MPICC_${flavour} mpicc.${flavour})
	find_program(CRIT_MPIRUN_${flavour} mpirun.${flavour})
	find_program(CRIT_MPIFORT_${flavour} mpifort.${flavour})
	if(NOT CRIT_MPICC_${flavour})
		crit_left_out("MPI calls of ${flavour}" "mpicc.${flavour} is missing; install lib${flavour}-dev")
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

# crit_mpi_app(NAME [SOURCES …] [USES …]): NAME.c and SOURCES with every flavour, as NAME.openmpi and NAME.mpich.
function(crit_mpi_app name)
	cmake_parse_arguments(A "" "" "SOURCES;USES" ${ARGN})
	foreach(flavour ${CRIT_MPI_FLAVOURS})
		crit_app(${name}.${flavour} SOURCES ${name}.c ${A_SOURCES} USES crit_mpi_${flavour} ${A_USES})
	endforeach()
endfunction()

# crit_mpi_fortran_app(NAME [FLAVOURS …] [OPTIONS …] [OBJECTS …]): NAME.F90 with every flavour, or these, in
# every dialect of its interface, as NAME_mpifh.openmpi and so on, by the flavour's compiler wrapper, which knows
# its module files.
function(crit_mpi_fortran_app name)
	cmake_parse_arguments(A "" "" "FLAVOURS;OPTIONS;OBJECTS" ${ARGN})
	set(source ${CMAKE_CURRENT_SOURCE_DIR}/${name}.F90)
	foreach(flavour ${CRIT_MPI_FLAVOURS})
		set(dialect 0)
		foreach(interface mpifh usempi usempif08)
			math(EXPR dialect "${dialect} + 1")
			set(app ${name}_${interface}.${flavour})
			set(output ${PROJECT_BINARY_DIR}/tests/apps/${app})
			if(CRIT_GFORTRAN AND CRIT_MPIFORT_${flavour} AND (NOT A_FLAVOURS OR flavour IN_LIST A_FLAVOURS))
				set(modules ${CMAKE_CURRENT_BINARY_DIR}/modules/${app})
				file(MAKE_DIRECTORY ${modules})
				add_custom_command(OUTPUT ${output}
					COMMAND ${CRIT_MPIFORT_${flavour}} -cpp -DDIALECT=${dialect} -O1 -g -w
						-J ${modules} -ffree-line-length-none -fallow-argument-mismatch
						${A_OPTIONS}
						${source} ${A_OBJECTS} -o ${output}
					DEPENDS ${source} ${A_OBJECTS} COMMAND_EXPAND_LISTS VERBATIM)
				add_custom_target(crit_fortran_${app} ALL DEPENDS ${output})
			endif()
		endforeach()
	endforeach()
endfunction()
