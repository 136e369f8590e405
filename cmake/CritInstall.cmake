# What no room installs itself.  bin/ and lib/ lie side by side, because libraries find the programs as ../bin.
if(TARGET crit)
	install(TARGETS crit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.[1-8])
foreach(page ${pages})
	string(REGEX REPLACE ".*\\." "" section ${page})
	install(FILES ${page} DESTINATION share/man/man${section})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
	${PROJECT_SOURCE_DIR}/CHANGES.md DESTINATION share/doc/crit)
install(FILES ${PROJECT_SOURCE_DIR}/core/crit.h ${PROJECT_SOURCE_DIR}/core/crit.f90
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
