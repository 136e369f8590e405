# Hybrid programs of tests/apps, as NAME-RUNTIME[.FLAVOUR]: runtime llvm (clang with libomp) or gnu (gcc with libgomp),
# with every MPI flavour or without MPI.  The project is C by one compiler; these are built by commands of their own.
find_program(CRIT_OMP_C_llvm clang)
find_program(CRIT_OMP_CXX_llvm clang++)
find_program(CRIT_OMP_C_gnu gcc)
find_program(CRIT_OMP_CXX_gnu g++)
set(CRIT_OMP_RUNTIMES)
file(WRITE ${CMAKE_BINARY_DIR}/omp_trial.c "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
foreach(runtime llvm gnu)
	if(CRIT_OMP_C_${runtime})
		execute_process(COMMAND ${CRIT_OMP_C_${runtime}} -fopenmp omp_trial.c -o omp_trial
			WORKING_DIRECTORY ${CMAKE_BINARY_DIR} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
		if(NOT failed)
			list(APPEND CRIT_OMP_RUNTIMES ${runtime})
		endif()
	endif()
endforeach()
# CRIT_OMP_TOOLS: the folder of omp-tools.h, which clang keeps among its own headers; without it the room ompt is not
# built.
file(GLOB clang_headers /usr/lib/llvm-*/lib/clang/*/include /usr/lib/clang/*/include /usr/lib64/clang/*/include)
list(SORT clang_headers COMPARE NATURAL ORDER DESCENDING)
find_path(CRIT_OMP_TOOLS omp-tools.h PATHS ${clang_headers} NO_DEFAULT_PATH)
find_path(CRIT_OMP_TOOLS omp-tools.h)
message(STATUS "OpenMP runtimes for the tests: ${CRIT_OMP_RUNTIMES}")

# crit_omp_command(OUTPUT SOURCE [COMMAND …] [DEPENDS …]): one program of tests/apps.
function(crit_omp_command app source)
	cmake_parse_arguments(C "" "" "COMMAND;DEPENDS" ${ARGN})
	set(output ${PROJECT_BINARY_DIR}/tests/apps/${app})
	set(flags -fopenmp -O2 -g -I ${PROJECT_SOURCE_DIR} -D_GNU_SOURCE)
	set(headers tests/apps/steps.h tests/apps/work.h tests/apps/clocked.h core/crit.h)
	list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/)
	add_custom_command(OUTPUT ${output}
		COMMAND ${C_COMMAND} ${flags} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${output}
		DEPENDS ${source} ${PROJECT_SOURCE_DIR}/tests/apps/openmp/hybrid.h ${headers} ${C_DEPENDS} VERBATIM)
	add_custom_target(crit_omp_${app} ALL DEPENDS ${output})
endfunction()

# crit_omp_app(SOURCE [MPI]): without MPI, or with MPI (and HYBRID_MPI defined) in every flavour.
function(crit_omp_app source)
	get_filename_component(name ${source} NAME_WE)
	set(language C)
	if(source MATCHES "\\.cc$")
		set(language CXX)
	endif()
	foreach(runtime ${CRIT_OMP_RUNTIMES})
		set(compiler ${CRIT_OMP_${language}_${runtime}})
		if(NOT compiler)
			continue()
		endif()
		if(NOT "MPI" IN_LIST ARGN)
			crit_omp_command(${name}-${runtime} ${source} COMMAND ${compiler} -Wall -Wextra -Werror)
			continue()
		endif()
		foreach(flavour ${CRIT_MPI_FLAVOURS})
			if(language STREQUAL CXX)
				find_program(CRIT_MPICXX_${flavour} mpicxx.${flavour})
				set(wrapper ${CRIT_MPICXX_${flavour}})
			else()
				set(wrapper ${CRIT_MPICC_${flavour}})
			endif()
			if(wrapper)
				set(compilers OMPI_CC=${compiler} OMPI_CXX=${compiler}
					MPICH_CC=${compiler} MPICH_CXX=${compiler})
				crit_omp_command(${name}-${runtime}.${flavour} ${source}
					COMMAND ${CMAKE_COMMAND} -E env ${compilers} ${wrapper} -Wall -Wextra
						-DHYBRID_MPI -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
			endif()
		endforeach()
	endforeach()
endfunction()

# crit_omp_fortran_app(NAME SOURCES …): gfortran knows libgomp alone; in every dialect, as crit_mpi_fortran_app has it.
function(crit_omp_fortran_app name)
	if("gnu" IN_LIST CRIT_OMP_RUNTIMES)
		crit_mpi_fortran_app(${name} ${ARGN})
	endif()
endfunction()
