#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the structure of source trees, one column per tree.

usage: measure.py [--list] TREE...

A module is a .c file with its header of the same name and folder, or a header without one.  Module
A uses module B if it includes B's header, or names a function that B defines and any header
declares.  A circle is a largest set of modules that all use each other, directly or not.
--list names what the figures count.  structure.py tests some of them.
"""
import collections
import os
import re
import subprocess
import sys

from files import sources

ROOMS = ("core", "bpf", "pmpi", "ompt", "collector", "analysis", "otf2", "report", "cli", "jobs")
SHARED_BY_TESTS = ("tests/lib", "tests/maker", "tests/sim")
MODULES = 15  # at most, in a folder
PROGRAMS = 25
FUNCTION_LINES = 60
VALUE_MEMBERS = 4
PROGRAM = (".c", ".cc", ".F90", ".f90")
LINES = PROGRAM + (".h", ".def", ".S", ".py", ".sh", ".inc")


def blank(match):
    return re.sub(r"[^\n]", "", match.group())


def strip(text):
    """C without comments, contents of strings, and preprocessor lines; lines stay lines."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                  lambda m: '""' if m.group()[0] == '"' else "0" if m.group()[0] == "'"
                  else blank(m), text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def items(text):
    """(text, body, first line, last line) of each declaration and definition at the top level."""
    start, depth, parens, brace = 0, 0, 0, None
    for at, char in enumerate(text):
        if char in "()":
            parens += 1 if char == "(" else -1
        elif char == "{":
            if not depth:
                brace = at
            depth += 1
        elif char == "}":
            depth -= 1
        is_function = brace is not None and re.search(r"\)\s*$", text[start:brace])
        if not depth and (char == ";" and not parens or char == "}" and is_function):
            first = start + len(text[start:at]) - len(text[start:at].lstrip())
            lines = text.count("\n", 0, first) + 1, text.count("\n", 0, at) + 1
            if brace is None:
                yield text[first:at], None, *lines
            else:
                yield text[first:brace], text[brace:at], *lines
            start, brace = at + 1, None


def function_name(head):
    """The name that a declaration gives a function, or None."""
    ornaments = r"__attribute__\s*\(\(.*?\)\)|\bSEC\(\"\"\)|\b_Static_assert\b.*"
    head = re.sub(ornaments, "", head, flags=re.S)
    match = re.match(r"[\w\s*]*?\b(\w+)\s*\((?!\s*\*)", head)
    if not match or "=" in head.split("(")[0] or re.match(r"\s*(typedef|CRIT_\w+\()", head):
        return None
    return match.group(1) if re.match(r"\s*\w+[\s*]+\w", head) else None


class Source:
    """What one C file includes, declares and defines."""

    def __init__(self, root, path):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        self.path = path
        self.folder = os.path.dirname(path)
        self.module = os.path.splitext(path)[0]
        self.includes = re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', text, re.M)
        code = strip(text)
        self.words = set(re.findall(r"\w+", code))
        self.bodies = {m.group(1): self.members(code, m.end()) for m in re.finditer(
            r"\bstruct\s+(?:__attribute__\s*\(\([^)]*\)\)\s*)?(\w+)\s*\{", code)}
        self.forward = set(re.findall(r"^struct\s+(\w+)\s*;", code, re.M))
        self.defined, self.declared, self.long = set(), set(), []
        for head, body, first, last in items(code):
            name = function_name(head)
            is_static = re.search(r"\bstatic\b", head)
            if name and body is not None:
                if last - first + 1 > FUNCTION_LINES:
                    self.long.append(f"{path}:{first}: {name}: {last - first + 1} lines")
                if not is_static:
                    self.defined.add(name)
            elif name and not is_static:
                self.declared.add(name)

    @staticmethod
    def members(code, at):
        depth, end = 1, at
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        return code[at:end - 1]


def is_value(body):
    """Few members, and no pointer to anything that can be changed or freed."""
    count = 0
    for member in filter(str.strip, body.split(";")):
        if re.search(r"\*", member) and not re.match(r"\s*const\b", member):
            return False
        count += 1 + re.sub(r"\([^)]*\)|\[[^]]*\]|\{.*", "", member, flags=re.S).count(",")
    return count <= VALUE_MEMBERS


def circles(uses):
    """Strongly connected sets of more than one node (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(uses):
        if root in index:
            continue
        work = [(root, iter(sorted(uses[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = set()
                    while node not in group:
                        group.add(stack.pop())
                    on_stack -= group
                    if len(group) > 1:
                        found.append(sorted(group))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(sorted(uses[following]))))
            elif following in on_stack:
                low[node] = min(low[node], index[following])
    return sorted(found, key=lambda group: (-len(group), group))


class Tree:
    """The C files of a source tree, and what they are to each other."""

    def __init__(self, root):
        self.root = root
        self.paths = sorted(sources(self.root))
        self.sources = [Source(root, path) for path in self.paths
                        if path.endswith((".c", ".h")) and path.split("/")[0] in ROOMS]
        self.by_path = {source.path: source for source in self.sources}
        self.definer = {name: source for source in self.sources if source.path.endswith(".c")
                        for name in source.defined}

    def uses(self):
        public = {name for source in self.sources for name in source.declared} & set(self.definer)
        uses = {source.module: set() for source in self.sources}
        for source in self.sources:
            for path in source.includes:
                if path in self.by_path:
                    uses[source.module].add(self.by_path[path].module)
            for name in (source.words & public) - source.declared:
                uses[source.module].add(self.definer[name].module)
            uses[source.module].discard(source.module)
        return uses

    def circles(self):
        """(across folders, inside one)"""
        groups = circles(self.uses())
        across = [g for g in groups if len({os.path.dirname(m) for m in g}) > 1]
        return across, [g for g in groups if g not in across]

    def modules(self):
        """Modules by folder, of the product and of what tests share."""
        folders = collections.defaultdict(set)
        for path in self.paths:
            folder = os.path.dirname(path)
            if path.endswith((".c", ".h")) and (folder.split("/")[0] in ROOMS or folder in SHARED_BY_TESTS):
                folders[folder].add(os.path.splitext(path)[0])
        return folders

    def programs(self):
        """Test programs by folder."""
        folders = collections.defaultdict(set)
        for path in self.paths:
            folder = os.path.dirname(path)
            if path.startswith("tests/") and folder not in SHARED_BY_TESTS and path.endswith(PROGRAM):
                folders[folder].add(path)
        return folders

    def several_bodies(self):
        places = collections.defaultdict(list)
        for source in self.sources:
            for tag in source.bodies:
                places[tag].append(source.path)
        return {tag: paths for tag, paths in places.items() if len(paths) > 1}

    def several_places(self):
        """Base names of more than one module of the product."""
        places = collections.defaultdict(set)
        for source in self.sources:
            places[os.path.basename(source.module)].add(source.module)
        return {name: sorted(modules) for name, modules in places.items()
                if len(modules) > 1 and name != "main"}

    def foreign(self):
        """(prototypes, those in a header whose .c does not define them)"""
        count, foreign = 0, []
        for source in self.sources:
            for name in source.declared if source.path.endswith(".h") else ():
                if name in self.definer:
                    count += 1
                    if self.definer[name].module != source.module:
                        foreign.append(f"{source.path}: {name} of {self.definer[name].path}")
        return count, sorted(foreign)

    def structs(self):
        """(opaque, open) tags that another folder sees, without schema rows and values."""
        shared = {path for source in self.sources for path in source.includes
                  if path in self.by_path and self.by_path[path].folder != source.folder}
        visible = {tag: body for path in shared for tag, body in self.by_path[path].bodies.items()}
        known = {tag for source in self.sources for tag in source.bodies}
        schema = {tag for path in self.by_path for tag in self.by_path[path].bodies
                  if re.match(r"core/abi(/|_)|analysis/schema/|analysis/results", path)}
        rows = set()
        for path in self.paths:
            if path.endswith("columns.def"):
                with open(os.path.join(self.root, path), encoding="utf-8") as file:
                    rows |= set(re.findall(r"\bstruct (\w+)", file.read()))
        hidden = {tag for path in shared for tag in self.by_path[path].forward} & known - set(visible)
        apart = schema | rows
        return sorted(hidden - apart), sorted(
            tag for tag, body in visible.items() if tag not in apart and not is_value(body))

    def line_count(self, paths):
        count = 0
        for path in paths:
            if path.endswith(LINES):
                with open(os.path.join(self.root, path), "rb") as file:
                    count += file.read().count(b"\n")
        return count

    def room(self, room):
        return [path for path in self.paths if path.startswith(room + "/")]


def largest(folders):
    folder = max(folders, key=lambda f: len(folders[f]), default="")
    return f"{len(folders[folder])} ({folder})" if folder else "0"


def above(folders, limit):
    return [f"{folder}: {len(names)}" for folder, names in sorted(folders.items()) if len(names) > limit]


def circle_rows(tree):
    across, inside = tree.circles()
    yield "circles across folders", f"{len(across)}", "0", map(" ".join, across)
    yield "modules in the largest of them", f"{max(map(len, across), default=0)}", "0", []
    size = max(map(len, inside), default=0)
    yield "modules in the largest circle inside a folder", f"{size}", "3", map(" ".join, inside)


def folder_rows(tree):
    for what, folders, limit in (("modules", tree.modules(), MODULES), ("test programs", tree.programs(), PROGRAMS)):
        wide = above(folders, limit)
        yield f"folders above {limit} {what}", f"{len(wide)}", "0", wide
        yield f"{what} in the largest folder", largest(folders), f"{limit}", []


def name_rows(tree):
    tags = tree.several_bodies()
    places = [f"{tag}: {' '.join(paths)}" for tag, paths in sorted(tags.items())]
    yield "struct tags with several bodies", f"{len(tags)}", "0", places
    names = tree.several_places()
    places = [" ".join(modules) for name, modules in sorted(names.items())]
    yield "names of several modules", f"{len(names)}", "0", places
    count, foreign = tree.foreign()
    yield "prototypes in a foreign header", f"{len(foreign)} of {count}", "0", foreign
    hidden, opened = tree.structs()
    count = len(hidden) + len(opened)
    share = f"{len(hidden)} of {count} ({100 * len(hidden) / max(1, count):.0f} %)"
    names = [f"open: {tag}" for tag in opened] + [f"opaque: {tag}" for tag in hidden]
    yield "opaque of structs another folder sees", share, ">= 40 %", names


def size_rows(tree):
    long = [text for source in tree.sources for text in source.long]
    yield "functions above 60 lines", f"{len(long)}", "0", long
    product = [path for room in ROOMS for path in tree.room(room)]
    for what, paths in (("the product", product), ("tests", tree.room("tests"))):
        yield f"lines of {what}", f"{tree.line_count(paths)}", "", []
        paths = [path for path in paths if path.endswith((".c", ".h"))]
        yield "  of these .c and .h", f"{tree.line_count(paths)}", "", []
    for room in ROOMS:
        yield f"  {room}", f"{tree.line_count(tree.room(room))}", "", []


def figures(tree):
    """(what, figure, aim, what it counts) by row."""
    for rows in (circle_rows, folder_rows, name_rows, size_rows):
        yield from rows(tree)


def name_of(root):
    git = subprocess.run(["git", "-C", root, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False)
    return git.stdout.strip() or root


def main():
    is_list = "--list" in sys.argv
    roots = [argument for argument in sys.argv[1:] if argument != "--list"]
    if not roots or any(not os.path.isdir(root) for root in roots):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    tables = [list(figures(Tree(root))) for root in roots]
    print("| figure | " + " | ".join(map(name_of, roots)) + " | aim |")
    print("|---" * (len(roots) + 2) + "|")
    for rows in zip(*tables):
        print(f"| {rows[0][0]} | " + " | ".join(row[1] for row in rows) + f" | {rows[0][2]} |")
        if is_list:
            for root, row in zip(roots, rows):
                for text in row[3]:
                    print(f"  {name_of(root)}: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
