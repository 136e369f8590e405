#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Is critd for a finisher: tells it that the window is closed, prints what it answers and whether a report is there by
# then, and hangs up at once, or when a file is there.
# usage: closed_window.py CRIT DIRECTORY [FILE]
import os
import socket
import struct
import subprocess
import sys
import time

STATUS = struct.Struct("=HHIiIQ")  # struct crit_message_status
CLOSED, WRITTEN, VERSION = 9, 10, 1

crit, directory, *until = sys.argv[1:]
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
finisher = subprocess.Popen([crit, "finish", "--directory", directory, "--socket-fd", str(theirs.fileno())],
                            pass_fds=[theirs.fileno()])
theirs.close()
ours.settimeout(60)
ours.send(STATUS.pack(CLOSED, VERSION, STATUS.size, 0, 0, 0))
kind, _, _, status, _, _ = STATUS.unpack(ours.recv(STATUS.size))
has_report = os.path.exists(os.path.join(directory, "report.json"))
if kind != WRITTEN:
    sys.exit(f"message {kind}")
print(os.strerror(-status), "with report" if has_report else "without report")
deadline = time.monotonic() + 60
while until and not os.path.exists(until[0]) and time.monotonic() < deadline:
    time.sleep(0.01)
ours.close()
sys.exit(finisher.wait(60))
