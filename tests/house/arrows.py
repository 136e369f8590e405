#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every #include "room/…" follows the arrows between rooms and folders.

usage: arrows.py [--list] ROOT

--list prints what is wrong as known.txt wants it.
"""
import fnmatch
import os
import re
import sys

import known
from files import sources

# What a room may include: patterns on the included path.  Generated headers carry no room.
ROOMS = {
    "core": "core/*",
    "bpf": "bpf/* core/abi/*.h",
    "collector": "collector/* core/*",
    "pmpi": "pmpi/* core/*",
    "ompt": "ompt/* core/*",
    "analysis": "analysis/* core/*",
    "otf2": "otf2/* analysis/analyse.h analysis/schema/* analysis/symbols/symbols.h analysis/symbols/system_calls.h "
            "analysis/cluster/transport.h core/*",
    "report": "report/* analysis/* core/*",
    "cli": "cli/* core/* analysis/* report/* otf2/*",
    "jobs": "core/*",
    "tests": "*",
}
# What a folder may include of its own room, itself apart: folders, "." is the room's own headers.
FOLDERS = {
    "bpf/decide": "",
    "bpf/events": ".",
    "core/abi": "",
    "core/base": "abi",
    "core/client": "abi base",
    "core/shim": "abi base client",
    "collector/system": "",
    "collector/record": "system",
    "collector/source": "system record",
    "collector/member": "system record source",
    "collector/loop": ". system record source member",
    "analysis/schema": "",
    "analysis/recording": "schema",
    "analysis/model": "schema recording",
    "analysis/clock": "schema recording model",
    "analysis/identity": "schema recording model",
    "analysis/account": "schema recording model clock identity",
    "analysis/mpi": "schema recording model clock identity account",
    "analysis/table": "schema recording model clock identity account mpi",
    "analysis/replay": "schema recording model clock identity account mpi",
    "analysis/samples": "schema recording model account",
    "analysis/cluster": "schema recording model clock identity account mpi replay samples",
    "analysis/symbols": "schema recording symbols/demangle",
    "analysis/symbols/demangle": "",
    "analysis/unwind": "symbols",
    "analysis/waits": "schema recording model waits/film waits/backwards waits/forwards waits/locks",
    "analysis/waits/film": "",
    "analysis/waits/backwards": "waits/film",
    "analysis/waits/forwards": "",
    "analysis/waits/locks": "",
    "analysis/whatif": "waits waits/film waits/forwards",
    "analysis/delays": "waits waits/film",
    "cli/console": "",
    "cli/install": "",
    "cli/results": "console install",
    "cli/launch": "console install results",
    "cli/merge": "console results",
    "otf2": "archive definitions events openmp",
    "otf2/archive": "",
    "otf2/definitions": "archive",
    "otf2/events": "archive definitions",
    "otf2/openmp": "archive definitions events",
    "otf2/verify": "archive",
    "jobs/slurm": "",
    "report/tables": "",
    "report/causes": "tables",
    "report/fixes": "tables causes",
    "report/findings": "tables causes fixes",
    "report/formats": "tables causes fixes findings graph",
    "report/profiles": "tables findings",
    "report/graph": "tables causes",
    "report/pages": "tables causes fixes graph findings formats",
    "report/diff": "tables findings formats",
}


def is_allowed(folder, path):
    room, place = folder.split("/")[0], os.path.dirname(path)
    if not any(fnmatch.fnmatch(path, pattern) for pattern in ROOMS[room].split()):
        return False
    if folder not in FOLDERS or path.split("/")[0] != room or place == folder:
        return True
    return (place[len(room) + 1:] or ".") in FOLDERS[folder].split()


def includes(root):
    """(file, line, included path) of every #include "…" of C files."""
    for path in sorted(sources(root)):
        if not path.endswith((".c", ".h")):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = re.match(r'\s*#\s*include\s+"([^"]*)', line)
                if match:
                    yield path, number, match.group(1)


def main():
    root = sys.argv[-1]
    arrows, faults, seen = {}, [], 0
    for path, number, included in includes(root):
        seen += 1
        folder = os.path.dirname(path)
        room = folder.split("/")[0]
        if room not in ROOMS:
            faults.append(f"{path}: '{room}' is not a room")
        elif "/" not in included:
            # One without a room is generated into the room's build folder.
            if os.path.exists(os.path.join(root, folder, included)):
                faults.append(f'{path}:{number}: "{included}": include from the root')
        elif not is_allowed(folder, included):
            arrows[f"{path} {included}"] = f"{folder} may not include it (line {number})"
        elif folder != room and room != "tests" and folder not in FOLDERS:
            faults.append(f"{path}: arrows.py does not say what '{folder}' may include")
    if "--list" in sys.argv:
        print(*(f"arrow {arrow}" for arrow in sorted(arrows)), sep="\n")
        return 0
    faults += known.faults("arrow", arrows, root)
    if not seen:
        faults.append(f"no #include found below {root}")
    print(*sorted(set(faults)), sep="\n")
    return 1 if faults else 0


sys.exit(main())
