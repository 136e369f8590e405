# Packages every room may ask for, found once, as imported targets.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(BPF IMPORTED_TARGET libbpf)
pkg_check_modules(SECCOMP IMPORTED_TARGET libseccomp)
pkg_check_modules(DW IMPORTED_TARGET libdw)
