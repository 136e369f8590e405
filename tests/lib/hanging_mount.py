#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file system that answers nothing: a process that looks into it waits in the kernel until this one ends.

usage: hanging_mount.py DIRECTORY; prints "mounted"; needs root.  The daemon's half of FUSE, linux/fuse.h, as far as
INIT; every other request is read, so that its caller can no longer be killed, and is not answered.
"""
import ctypes
import os
import struct
import sys

IN_HEADER = struct.Struct("=IIQQIIII")  # length, opcode, unique, node, uid, gid, pid, padding
OUT_HEADER = struct.Struct("=IiQ")  # length, error, unique
INIT_OUT = struct.Struct("=IIIIHHIIHHI28x")  # major, minor, read-ahead, flags, …
INIT = 26
REQUEST_BYTES = 1 << 18


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hanging", os.fsencode(sys.argv[1]), b"fuse", 0, options.encode()):
        sys.exit(f"hanging_mount: cannot mount on {sys.argv[1]}: {os.strerror(ctypes.get_errno())}")
    print("mounted", flush=True)
    while True:
        request = os.read(device, REQUEST_BYTES)
        opcode, unique = IN_HEADER.unpack_from(request)[1:3]
        if opcode == INIT:
            body = INIT_OUT.pack(7, 31, 0, 0, 8, 8, 4096, 1, 1, 0, 0)
            os.write(device, OUT_HEADER.pack(OUT_HEADER.size + len(body), 0, unique) + body)


main()
