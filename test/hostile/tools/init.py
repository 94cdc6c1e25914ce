import ctypes
import glob
import os
import resource
import signal
import sys

from attempt import attempt, checked, libc, report, system

# What a process of the same user may try against PID 1, which holds the connection to the worker.


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


buffer = ctypes.create_string_buffer(64)
here = ctypes.byref(Vector(ctypes.addressof(buffer), 64))
there = ctypes.byref(Vector(0x400000, 64))

for name in ["mem", "environ", "maps", "pagemap", "auxv", "syscall", "stack", "io", "personality", "timers"]:
    attempt(f"read {name}", lambda: os.read(os.open(f"/proc/1/{name}", os.O_RDONLY), 16))
for name in ["mem", "oom_score_adj", "comm", "coredump_filter", "clear_refs", "autogroup", "loginuid", "attr/current"]:
    attempt(f"write {name}", lambda: os.write(os.open(f"/proc/1/{name}", os.O_WRONLY), b"0"))
for name in ["fd/0", "fd/1", "fd/2", "task/1/fd/1"]:
    attempt(f"open {name}", lambda: os.open(f"/proc/1/{name}", os.O_RDWR))
for name in ["fd", "fdinfo", "map_files", "cwd/", "root/"]:
    attempt(f"list {name}", lambda: os.listdir(f"/proc/1/{name}"))
attempt("descriptors by name", lambda: glob.glob("/proc/1/fd/*"))
attempt("attach", lambda: checked(libc.ptrace(ctypes.c_long(16), ctypes.c_long(1), None, None)))
attempt("seize", lambda: checked(libc.ptrace(ctypes.c_long(0x4206), ctypes.c_long(1), None, None)))
attempt("process_vm_readv", lambda: system("process_vm_readv", 1, here, 1, there, 1, 0))
attempt("process_vm_writev", lambda: system("process_vm_writev", 1, here, 1, there, 1, 0))
attempt("kcmp", lambda: system("kcmp", 1, os.getpid(), 0, 1, 1))
for descriptor in range(8):
    attempt(f"take descriptor {descriptor}", lambda: system("pidfd_getfd", system("pidfd_open", 1, 0), descriptor, 0))
attempt("madvise", lambda: system("process_madvise", system("pidfd_open", 1, 0), there, 1, 21, 0))
attempt("enter its namespaces", lambda: checked(libc.setns(system("pidfd_open", 1, 0), 0x20000)))

# Signals are delivered, and must not be heard.
for number in range(1, 65) if sys.argv[1] != "quiet" else []:
    os.kill(1, number)
    libc.sigqueue(1, number, ctypes.c_void_p(0))
if sys.argv[1] != "quiet":
    attempt("pidfd SIGKILL", lambda: system("pidfd_send_signal", system("pidfd_open", 1, 0), signal.SIGKILL, None, 0) and None)

# The same user may lower the limits of its processes, and change how they are scheduled.
for kind in range(16):
    attempt(f"limit {kind}", lambda: resource.prlimit(1, kind, (0, 0)))
attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))
attempt("nice its group", lambda: os.setpriority(os.PRIO_PGRP, 1, 19))
attempt("nice its user", lambda: os.setpriority(os.PRIO_USER, 0, 19))
attempt("scheduler", lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)))
attempt("scheduler's parameters", lambda: os.sched_setparam(1, os.sched_param(0)))
attempt("affinity", lambda: os.sched_setaffinity(1, [min(os.sched_getaffinity(0))]))
for name, which, who in [("process", 1, 1), ("group", 2, 1), ("user", 3, 0), ("user by its id", 3, os.getuid())]:
    attempt(f"input and output of its {name}", lambda: system("ioprio_set", which, who, 3 << 13))
report()
