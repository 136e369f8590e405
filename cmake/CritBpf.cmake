# crit_bpf_skeleton(NAME SOURCE [LIGHT NAME] HEADERS …): BPF C → stripped, linked object → NAME.skel.h, and with LIGHT
# NAME.lskel.h, which the kernel loads by itself; target crit_bpf_NAME.
find_program(CRIT_CLANG NAMES clang clang-14 clang-16 clang-18 REQUIRED)
find_program(CRIT_BPFTOOL NAMES bpftool PATHS /usr/sbin /usr/local/sbin REQUIRED)
find_program(CRIT_LLVM_STRIP NAMES llvm-strip llvm-strip-14 llvm-strip-16 llvm-strip-18 REQUIRED)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
	set(CRIT_BPF_ARCH arm64)
else()
	set(CRIT_BPF_ARCH x86)
endif()

function(crit_bpf_skeleton name source)
	cmake_parse_arguments(B "" "LIGHT" "HEADERS" ${ARGN})
	set(dir ${CMAKE_CURRENT_BINARY_DIR})
	set(headers)
	foreach(header ${B_HEADERS})
		list(APPEND headers ${PROJECT_SOURCE_DIR}/${header})
	endforeach()
	add_custom_command(
		OUTPUT ${dir}/${name}.skel.h
		COMMAND ${CRIT_CLANG} -target bpf -g -O2 -mcpu=v3 -Wall -Wextra -Werror
			-Wno-missing-declarations -D__TARGET_ARCH_${CRIT_BPF_ARCH} -I${PROJECT_SOURCE_DIR}
			-c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${dir}/${name}.raw.o
		COMMAND ${CRIT_LLVM_STRIP} -g ${dir}/${name}.raw.o
		COMMAND ${CRIT_BPFTOOL} gen object ${dir}/${name}.bpf.o ${dir}/${name}.raw.o
		COMMAND ${CRIT_BPFTOOL} gen skeleton ${dir}/${name}.bpf.o name ${name}_bpf
			> ${dir}/${name}.skel.h
		DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${headers}
		COMMENT "BPF ${name}"
		VERBATIM)
	add_custom_target(crit_bpf_${name}_skeleton DEPENDS ${dir}/${name}.skel.h)
	if(B_LIGHT)
		add_custom_command(
			OUTPUT ${dir}/${name}.lskel.h
			COMMAND ${CRIT_BPFTOOL} gen skeleton -L ${dir}/${name}.bpf.o name ${B_LIGHT}
				> ${dir}/${name}.lskel.h
			DEPENDS ${dir}/${name}.skel.h
			COMMENT "BPF ${name}, light"
			VERBATIM)
		add_custom_target(crit_bpf_${name}_light DEPENDS ${dir}/${name}.lskel.h)
		add_dependencies(crit_bpf_${name}_skeleton crit_bpf_${name}_light)
	endif()
	add_library(crit_bpf_${name} INTERFACE)
	add_dependencies(crit_bpf_${name} crit_bpf_${name}_skeleton)
	target_include_directories(crit_bpf_${name} SYSTEM INTERFACE ${dir})
	target_link_libraries(crit_bpf_${name} INTERFACE PkgConfig::BPF)
endfunction()
