#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every key of report.json and column of the tables is explained, and nothing else is.  usage: figures.py ROOT

Explained: named by .Va in docs/crit-report.1, or in backquotes in docs/metric.md."""
import glob
import os
import re
import sys

KEY = re.compile(r'\b(?:set|set_\w+|SET_FIELD|put_rows|crit_json_stream_member)\(\s*\w+,\s*"([a-z0-9_]+)"')
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
HEAD = re.compile(r"[a-z0-9_]+(?:,[a-z0-9_]+)+,?")


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def keys_and_columns(root):
    """Names the writers use: keys in set...(), columns in the strings that are a table's head."""
    names = {}
    for path in sorted(glob.glob(os.path.join(root, "report", "**", "*.c"), recursive=True)):
        if os.path.basename(path).startswith("diff"):
            continue
        text = read(path)
        found = set(KEY.findall(text))
        if "csv" in text:
            for string in STRING.findall(text):
                string = string.removesuffix("\\n")
                if HEAD.fullmatch(string):
                    found.update(name for name in string.split(",") if name)
        for name in found:
            names.setdefault(name, os.path.relpath(path, root))
    headers = read(os.path.join(root, "report", "formats", "json.h"))
    for name in KEY.findall(headers):
        names.setdefault(name, "report/formats/json.h")
    return names


def explained(root):
    manual = set()
    for line in read(os.path.join(root, "docs", "crit-report.1")).split("\n"):
        if re.match(r"\.(It )?Va ", line):
            manual.update(re.findall(r"[a-z0-9_]{2,}", line.split("Va ", 1)[1]))
    code = set()
    for span in re.findall(r"`([^`\n]+)`", read(os.path.join(root, "docs", "metric.md"))):
        code.update(re.findall(r"[a-z0-9_]+", span))
    return manual, code


def main():
    root = sys.argv[1]
    names = keys_and_columns(root)
    manual, code = explained(root)
    faults = [f"{names[name]}: {name} is explained neither in crit-report.1 nor in metric.md"
              for name in sorted(names) if name not in manual | code]
    faults += [f"docs/crit-report.1: {name} is no key and no column" for name in sorted(manual - names.keys())]
    for fault in faults:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
