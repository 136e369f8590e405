#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the jump stubs, the export map and one backend per MPI flavour.

usage: generate.py stubs CALLS OUTPUT | exports CALLS OUTPUT
       generate.py backend CALLS OUTPUT COMPILER INCLUDE_DIR...
       generate.py check CALLS OUTPUT COMPILER INCLUDE_DIR...

CALLS is core/abi/mpi_calls.def; gomp.map beside it has the names that are handed to libcrit_ompt.so.  A
backend takes its prototypes from the flavour's own mpi.h, and wraps what both know.  check lists the
functions of mpi.h that are neither in the table nor left alone on purpose, and fails when there are any.
"""
import os
import re
import subprocess
import sys

import details
import generate_fortran

PMPI_FIRST = 1024  # table places below are MPI_X, from here on PMPI_X
OPENMP_FIRST = 768  # names of gomp.map; pmpi/resolve.h has these numbers too
PCONTROL_FIRST = 1000
PCONTROL = ["MPI_Pcontrol", "mpi_pcontrol_", "mpi_pcontrol", "mpi_pcontrol__", "MPI_PCONTROL"]
BY_HAND = {"Init", "Init_thread", "Finalize", "Session_init", "Session_finalize"}
# Pass through untouched, as core/abi/mpi_calls.def says.
LEFT_ALONE = re.compile(r"Wtime|Wtick|Pcontrol|Aint_|T_|\w+_(c2f|f2c|f082c|c2f08|f082f|f2f08)$")
GENERIC = """
static int wrap_{name}({listed})
{{
	const bool is_outer = crit_shim_{poll}enter(CRIT_SHIM_WHAT({number}, CRIT_CLASS_{kind}),
		FRAME, SITE);
	const int answer = {call};

	if (answer != MPI_SUCCESS)
		crit_shim_failed({number}, answer);
	if (is_outer)
		{leave};
	return answer;
}}
"""
DETAILED = """
static int wrap_{name}({listed})
{{
	const unsigned int role = crit_shim_{poll}enter_detailed(
		CRIT_SHIM_WHAT({number}, CRIT_CLASS_{kind}), FRAME, SITE);
	int answer;
{before}
	answer = {call};
	if (answer != MPI_SUCCESS)
		crit_shim_failed({number}, answer);
{after}	if (role & CRIT_SHIM_OUTER)
		{leave};
	return answer;
}}
"""
SPDX = "SPDX-License-Identifier: BSD-3-Clause"


def read_calls(path):
    """Rows (number, name, class) of the call table."""
    row = re.compile(r"^CRIT_MPI_CALL\((\d+), (\w+), (\w+), \w+\)", re.M)
    with open(path, encoding="ascii") as file:
        return [(int(n), name, kind) for n, name, kind in row.findall(file.read())]


def read_others(path):
    """(place, name) of what is exported besides: OpenMP's names, and Pcontrol in C and Fortran."""
    with open(os.path.join(os.path.dirname(path), "gomp.map"), encoding="ascii") as file:
        names = re.findall(r"^\t\t(\w+);", file.read(), re.M)
    assert OPENMP_FIRST + len(names) <= PCONTROL_FIRST
    return list(enumerate(names, OPENMP_FIRST)) + list(enumerate(PCONTROL, PCONTROL_FIRST))


def cut_attributes(text):
    """Removes __attribute__((...)) with whatever brackets it holds."""
    while (start := text.find("__attribute__")) >= 0:
        depth = 0
        for end in range(text.index("(", start), len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                break
        text = text[:start] + text[end + 1:]
    return text


def read_prototypes(compiler, include_dirs):
    """name -> list of parameter declarations, for every int MPI_name(...) of mpi.h."""
    command = [compiler, "-E", "-P", "-x", "c", "-"]
    command += [f"-I{directory}" for directory in include_dirs]
    text = subprocess.run(command, input="#include <mpi.h>\n", text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    text = re.sub(r"\s+", " ", cut_attributes(text))
    found = {}
    for name, parameters in re.findall(r"\bint MPI_(\w+) ?\(([^()]*)\) ?;", text):
        parts = [part.strip() for part in parameters.split(",")]
        found[name] = [] if parts == ["void"] else parts
    return found


def parameter_name(declaration):
    """The declared name: the last word before any brackets."""
    return re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", declaration).group(1)


def is_done(name, names):
    """C expression: did a poll call find what it was asked about?"""
    if name in ("Request_get_status_some", "Testsome"):
        return "answer || *outcount"
    assert "flag" in names, f"MPI_{name} polls without a flag"
    return "answer || *flag"


def wrapper(number, name, kind, parameters):
    """One wrapper: enter, the next function of that name, its details, leave."""
    names = [parameter_name(parameter) for parameter in parameters]
    listed = ", ".join(parameters) or "void"
    poll = "poll_" if kind == "MPI_POLL" else ""
    leave = f"crit_shim_poll_leave({is_done(name, names)})" if poll else "crit_shim_leave()"
    detail = details.find(name, kind, parameters, names)
    passed = detail.passed if detail else {}
    call = f"NEXT({number}, int (*)({listed}))({', '.join(passed.get(n, n) for n in names)})"
    if not detail:
        return GENERIC.format(name=name, listed=listed, poll=poll, number=number, kind=kind,
                              call=call, leave=leave)
    before = "".join(f"\t{line}\n" for line in detail.before)
    after = "\n".join(f"\t\t{line}" for line in detail.after)
    if after:
        after = (f"\tif (role & {detail.role} && answer == MPI_SUCCESS) {{\n{after}\n\t}}\n")
    if detail and detail.failed:
        failed = "\n".join(f"\t\t{line}" for line in detail.failed)
        after = after[:-1] + f" else if (role & {detail.role}) {{\n{failed}\n\t}}\n"
    return DETAILED.format(name=name, listed=listed, poll=poll, number=number, kind=kind,
                           call=call, leave=leave, before=before, after=after)


def write_backend(calls, output, compiler, include_dirs):
    """The generic wrappers of a flavour and the table of all its wrappers."""
    prototypes = read_prototypes(compiler, include_dirs)
    known = [row for row in calls if row[1] in prototypes]
    output.write(f"// {SPDX}\n// Generated by pmpi/generate.py: the wrappers of one MPI flavour.\n")
    for header in ("details", "details_comm", "window"):
        output.write(f'#include "pmpi/{header}.h"\n')
    for number, name, kind in known:
        if name not in BY_HAND:
            output.write(wrapper(number, name, kind, prototypes[name]))
    output.write("\nvoid *const crit_backend_wrappers[CRIT_PMPI_CALLS] = {\n")
    for number, name, _ in known:
        prefix = "crit_backend_" if name in BY_HAND else "wrap_"
        output.write(f"\t[{number}] = (void *){prefix}{name},\n")
    output.write("};\n")


def check(calls, output, compiler, include_dirs):
    """Names the functions nobody listed."""
    known = {name for _, name, _ in calls}
    missing = [name for name in sorted(read_prototypes(compiler, include_dirs))
               if name not in known and not LEFT_ALONE.match(name)]
    output.writelines(f"MPI_{name} is not in the table\n" for name in missing)
    return missing


def write_stubs(calls, others, output):
    """Rows for pmpi/stubs.S: STUB symbol, place."""
    output.write(f"/* {SPDX} */\n/* Generated by pmpi/generate.py: one row per exported name. */\n")
    output.writelines(f"STUB {name}, {place}\n" for place, name in others)
    for number, name, _ in calls:
        output.write(f"STUB MPI_{name}, {number}\n")
        output.write(f"STUB PMPI_{name}, {PMPI_FIRST + number}\n")
    output.write("\t.section .data.rel.local,\"aw\"\n\t.balign 8\ncrit_pmpi_table:\n")
    places = {number: f"MPI_{name}" for number, name, _ in calls}
    places.update(others)
    places.update({PMPI_FIRST + number: f"PMPI_{name}" for number, name, _ in calls})
    for place in range(2 * PMPI_FIRST):
        target = f".Llazy_{places[place]}" if place in places else "0"
        output.write(f"\t.quad {target}\n")


def write_names(calls, others, output):
    """Names by number, for the resolver."""
    output.write(f"/* {SPDX} */\n/* Generated by pmpi/generate.py: names by number. */\n")
    for number, name, _ in calls:
        output.write(f"[{number}] = \"PMPI_{name}\",\n")
    output.writelines(f"[{place}] = \"{name}\",\n" for place, name in others)


def write_exports(calls, path, output):
    """The version script of libcrit_pmpi.so, with that of libgomp's names."""
    output.write("VERSION {\n\tglobal:\n\t\tompt_start_tool;\n};\n")  # as LLVM names it
    output.write("CRIT_PMPI_1 {\n\tglobal:\n")
    for _, name, _ in calls:
        output.write(f"\t\tMPI_{name};\n\t\tPMPI_{name};\n")
    output.writelines(f"\t\t{place[0]};\n" for place in generate_fortran.read_places(path))
    output.writelines(f"\t\t{name};\n" for name in PCONTROL)
    output.write("\tlocal:\n\t\t*;\n};\n")
    with open(os.path.join(os.path.dirname(path), "gomp.map"), encoding="ascii") as file:
        output.write(file.read())


def main(arguments):
    """Dispatches; a wrong command is a fault of the build."""
    what, calls, path = arguments[0], read_calls(arguments[1]), arguments[2]
    with open(path, "w", encoding="ascii") as output:
        if what == "backend":
            write_backend(calls, output, arguments[3], arguments[4:])
        elif what == "check":
            return 1 if check(calls, output, arguments[3], arguments[4:]) else 0
        elif what == "exports":
            write_exports(calls, arguments[1], output)
        else:
            writers = {"stubs": write_stubs, "names": write_names}
            writers[what](calls, read_others(arguments[1]), output)
    return 0


sys.exit(main(sys.argv[1:]))
