import errno
import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import time

from attempt import attempt, checked, libc, report, system

# Asks the kernel for what only root of the host may have.

def move_interface():
    """Sets the loopback interface down, as the root of a network namespace may."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", b"lo", 0))


def become_root():
    if subprocess.check_output(["/hostile/setuid-id", "-u"], text=True).strip() != "0":
        raise PermissionError(errno.EPERM, "still nobody")


def raise_limit(kind):
    try:
        resource.setrlimit(kind, (1048576, 1048576))
    except ValueError as refusal:
        raise PermissionError(errno.EPERM, "refused") from refusal


NAMESPACES = {"user": 0x10000000, "mnt": 0x00020000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x08000000,
              "uts": 0x04000000, "cgroup": 0x02000000, "time": 0x00000080}
for name, flag in NAMESPACES.items():
    attempt(f"unshare {name}", lambda: checked(libc.unshare(flag)))
attempt("clone into a user namespace", lambda: system("clone3", struct.pack("Q10Q", 0x10000000, *[0] * 10), 88))
attempt("enter the namespace of the init", lambda: checked(libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0)))

for kind in [b"proc", b"tmpfs", b"sysfs", b"overlay"]:
    attempt(f"mount {kind.decode()}", lambda: checked(libc.mount(kind, b"/tmp", kind, 0, None)))
attempt("bind mount", lambda: checked(libc.mount(b"/etc", b"/tmp", None, 4096, None)))
attempt("remount / writable", lambda: checked(libc.mount(None, b"/", None, 32, None)))
attempt("unmount /proc/kcore", lambda: checked(libc.umount2(b"/proc/kcore", 2)))
attempt("unmount /tmp", lambda: checked(libc.umount2(b"/tmp", 2)))
attempt("fsopen", lambda: system("fsopen", b"proc", 0))
attempt("open_tree", lambda: system("open_tree", -100, b"/", 1))
attempt("mount_setattr", lambda: system("mount_setattr", -100, b"/", 0, bytes(32), 32))
attempt("pivot_root", lambda: system("pivot_root", b"/tmp", b"/tmp"))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("swapon", lambda: checked(libc.swapon(b"/tmp/x", 0)))

attempt("raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close())
attempt("raw v6 socket", lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58).close())
attempt("packet socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3).close())
attempt("move an interface", lambda: move_interface())

attempt("add_key", lambda: system("add_key", b"user", b"x", b"y", 1, -3))
attempt("request_key", lambda: system("request_key", b"user", b"x", None, 0))
attempt("keyctl join", lambda: system("keyctl", 1, None))
attempt("keyctl search", lambda: system("keyctl", 10, -4, b"user", b"x", 0))
attempt("bpf", lambda: system("bpf", 0, bytes(72), 72))
attempt("io_uring", lambda: system("io_uring_setup", 4, bytes(120)))
attempt("userfaultfd", lambda: system("userfaultfd", 1))
attempt("perf_event_open", lambda: system("perf_event_open", struct.pack("II112x", 1, 120), 0, -1, -1, 0))
attempt("kexec_load", lambda: system("kexec_load", 0, 0, None, 0))
attempt("init_module", lambda: system("init_module", b"", 0, b""))
attempt("open_by_handle_at", lambda: system("open_by_handle_at", -100, bytes(24), 0))
attempt("fanotify", lambda: system("fanotify_init", 0, 0))
attempt("read the kernel's log", lambda: system("syslog", 3, bytes(64), 64))
attempt("accounting", lambda: system("acct", b"/tmp/x"))
attempt("quota", lambda: system("quotactl", 0x800002 << 8, b"/dev/vda", 0, None))
attempt("reboot", lambda: checked(libc.reboot(0x89ABCDEF)))
attempt("iopl", lambda: checked(libc.iopl(3)))

attempt("set the clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
attempt("set the time of day", lambda: checked(libc.settimeofday(struct.pack("qq", 1, 0), None)))
attempt("slow the clock down", lambda: checked(libc.adjtimex(struct.pack("I204x", 0x4000))))
attempt("set the host's name", lambda: socket.sethostname("owned"))

attempt("setuid 0", lambda: os.setuid(0))
attempt("setresuid 0", lambda: os.setresuid(0, 0, 0))
attempt("setgid 0", lambda: os.setgid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("give a file to root", lambda: os.chown(os.open("/tmp/owned", os.O_CREAT), 0, 0))
attempt("setuid binary", lambda: become_root())
attempt("nice -20", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
attempt("real-time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
attempt("more files", lambda: raise_limit(resource.RLIMIT_NOFILE))
attempt("larger cores", lambda: raise_limit(resource.RLIMIT_CORE))
attempt("signal everybody", lambda: os.kill(-1, signal.SIGCONT))
report()
