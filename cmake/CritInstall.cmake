# Installing: the parts find each other by the way from one directory to the other, so no prefix is compiled in, and
# nothing is built anew for another one.
file(RELATIVE_PATH CRIT_BIN_FROM_LIB ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_BINDIR})
file(RELATIVE_PATH CRIT_LIB_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

# Before all other rules: which of the directories are we going to make?  make uninstall removes these alone.
install(CODE "set(CRIT_BUILD ${PROJECT_BINARY_DIR})")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/directories.cmake)

# crit_left_out(WHAT WHY): a part that is not built; cmake says so at once, and once more when it installs.
function(crit_left_out what why)
	message(STATUS "left out: ${what}: ${why}")
	set_property(GLOBAL APPEND_STRING PROPERTY CRIT_LEFT_OUT "message(\"crit: left out: ${what}: ${why}\")\n")
endfunction()

# crit_install_pages(): manual pages, and what they and README point to, where README says.
function(crit_install_pages)
	file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.[1-8])
	foreach(page ${pages})
		string(REGEX REPLACE ".*\\." "" section ${page})
		install(FILES ${page} DESTINATION share/man/man${section})
	endforeach()
	foreach(page LICENSE README.md CHANGES.md CONTRIBUTING.md)
		install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION share/doc/crit)
	endforeach()
	foreach(page architecture.md arm64.md crit-report.schema.json metric.md scale.md tutorial.md vampir.md)
		install(FILES ${PROJECT_SOURCE_DIR}/docs/${page} DESTINATION share/doc/crit/docs)
	endforeach()
endfunction()

# crit_install_rest(): what no room installs itself, after all rooms.  The target product is all that is installed.
function(crit_install_rest)
	add_custom_target(product)
	foreach(target crit critd crit_shim_core crit_pmpi crit_ompt crit_spank)
		if(TARGET ${target})
			add_dependencies(product ${target})
		endif()
	endforeach()
	foreach(flavour ${CRIT_MPI_FLAVOURS})
		add_dependencies(product crit_pmpi_${flavour} crit-merge.${flavour})
	endforeach()
	if(TARGET crit)
		install(TARGETS crit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	endif()
	crit_install_pages()
	install(FILES ${PROJECT_SOURCE_DIR}/core/crit.h ${PROJECT_SOURCE_DIR}/core/crit.f90
		DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
	get_property(left_out GLOBAL PROPERTY CRIT_LEFT_OUT)
	install(CODE "${left_out}")
	install(CODE "message(\"crit: installed; so that LD_PRELOAD=libcrit_pmpi.so is found without a path, either
  module use \${CMAKE_INSTALL_PREFIX}/share/modulefiles && module load crit
or, as root,
  echo \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR} >/etc/ld.so.conf.d/crit.conf && ldconfig\")")
endfunction()
