# SPDX-License-Identifier: BSD-3-Clause
"""The files of a source tree, without builds."""
import os
import re


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not re.match(r"\.git$|build(-|$)|crit-", f)]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root)
