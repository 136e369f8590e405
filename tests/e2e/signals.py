#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A signal reaches the program of crit run once, whoever it was sent to: signals.py CRIT.

One line per way: crit's pid, its process group, a terminal's keys; stopping and going on from a terminal."""
import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

ROUNDS = 20
PATIENCE_S = 20
SETTLE_S = 0.05
WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCONT)
PROGRAM = """
import os, signal, sys
watched = %s
signal.pthread_sigmask(signal.SIG_BLOCK, watched)
os.write(1, b"%%d\\n" %% os.getpid())
while True:
    os.write(1, b"%%d\\n" %% signal.sigwait(watched))
""" % str([int(number) for number in WATCHED])


class Run:
    """crit run of a program that prints its pid, then the number of every signal it gets."""

    def __init__(self, crit):
        self.child = subprocess.Popen([crit, "run", "--", sys.executable, "-c", PROGRAM],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0)
        self.program = self.take(PATIENCE_S)[0]

    def take(self, patience_s):
        """Numbers printed until nothing has come for a moment."""
        out = self.child.stdout.fileno()
        text = b""
        while select.select([out], [], [], patience_s)[0]:
            more = os.read(out, 4096)
            if not more:
                break
            text += more
            patience_s = SETTLE_S
        return [int(line) for line in text.split()]

    def end(self):
        os.kill(self.program, signal.SIGKILL)
        self.child.stdout.close()
        self.child.wait(PATIENCE_S)


def once(name, run, number, send):
    """Reports how many times the program got a signal that is sent ROUNDS times."""
    got = []
    for _ in range(ROUNDS):
        send()
        got += run.take(PATIENCE_S)
    is_good = got == [number] * ROUNDS
    print("%-5s %-32s %d sent, %d arrived" % ("ok" if is_good else "FAIL", name, ROUNDS, len(got)), flush=True)
    return is_good


def without_terminal(crit):
    run = Run(crit)
    good = True
    for number in WATCHED:
        for name, send in (("pid", os.kill), ("group", os.killpg)):
            good &= once("%s to %s" % (number.name, name), run, number, lambda: send(run.child.pid, number))
    run.end()
    return good


def comes_to(pid, state):
    """Waits for a process to be in a state, as /proc spells it."""
    found, deadline = "", time.monotonic() + PATIENCE_S
    while found != state and time.monotonic() < deadline:
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            found = file.read().rpartition(")")[2].split()[0]
    return found == state


def from_terminal(crit, keyboard):
    """A shell's part: the job in the foreground, stopped by a key, sent on by SIGCONT to its group."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    run = Run(crit)
    os.tcsetpgrp(0, run.child.pid)
    good = once("Ctrl-C", run, signal.SIGINT, lambda: os.write(keyboard, b"\x03"))
    for turn in range(2):
        os.write(keyboard, b"\x1a")
        status = os.waitpid(run.child.pid, os.WUNTRACED)[1]
        is_stopped = os.WIFSTOPPED(status) and comes_to(run.program, "T")
        os.killpg(run.child.pid, signal.SIGCONT)
        is_once = run.take(PATIENCE_S) == [signal.SIGCONT] and comes_to(run.program, "S")
        print("%-5s Ctrl-Z and on, turn %d" % ("ok" if is_stopped and is_once else "FAIL", turn), flush=True)
        good &= is_stopped and is_once
    good &= once("Ctrl-C after that", run, signal.SIGINT, lambda: os.write(keyboard, b"\x03"))
    run.end()
    return good


def with_terminal(crit):
    keyboard, screen = pty.openpty()
    shell = os.fork()
    if shell == 0:
        os.setsid()
        fcntl.ioctl(screen, termios.TIOCSCTTY, 0)
        os.dup2(screen, 0)
        os._exit(0 if from_terminal(crit, keyboard) else 1)
    os.close(screen)
    deadline = time.monotonic() + 4 * PATIENCE_S
    while time.monotonic() < deadline:
        if select.select([keyboard], [], [], 0.05)[0]:
            try:
                os.read(keyboard, 4096)  # the echo
            except OSError:
                time.sleep(SETTLE_S)  # the terminal is gone with its last user
        pid, status = os.waitpid(shell, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) == 0
    os.kill(shell, signal.SIGKILL)
    print("FAIL  the terminal's part does not end")
    return False


def main(crit):
    good = without_terminal(crit)
    good &= with_terminal(crit)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
