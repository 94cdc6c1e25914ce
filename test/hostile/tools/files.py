import glob
import os
import socket
import stat

from attempt import attempt, report, write

# Writes where nothing of the host, the kernel or the image may be written, and reads what tells of the host.

for path in ["/new", "/etc/passwd", "/usr/bin/python3", "/.toolyard/init", "/.toolyard/new", "/var/tmp/new"]:
    attempt(f"write {path}", lambda: write(path, "x"))
attempt("remove /etc/hostname", lambda: os.unlink("/etc/hostname"))
attempt("rename /.toolyard", lambda: os.rename("/.toolyard", "/tmp/toolyard"))
attempt("change the mode of /", lambda: os.chmod("/", 0o777))

for path in ["kernel/core_pattern", "kernel/hostname", "kernel/randomize_va_space", "vm/overcommit_memory",
             "net/ipv4/ip_forward", "fs/file-max", "kernel/ns_last_pid"]:
    attempt(f"write /proc/sys/{path}", lambda: write(f"/proc/sys/{path}", "1"))
for path in ["/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/sys/power/state", "/sys/kernel/uevent_helper",
             "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
             "/sys/fs/cgroup/pids/pids.max", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/release_agent",
             "/sys/fs/cgroup/cgroup.procs"]:
    attempt(f"write {path}", lambda: write(path, "1"))
attempt("make a cgroup", lambda: [os.mkdir(f"{folder}/new") for folder in glob.glob("/sys/fs/cgroup/*/")] or
        os.mkdir("/sys/fs/cgroup/new"))
attempt("lower its own oom score", lambda: write("/proc/self/oom_score_adj", "-1000"))
attempt("map itself to root", lambda: write("/proc/self/uid_map", "0 0 1"))

# An empty file is what the engine puts over those that tell too much.
for path in ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/kmsg", "/dev/mem", "/dev/kmsg",
             "/dev/port", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/loop-control"]:
    attempt(f"read {path}", lambda: len(os.read(os.open(path, os.O_RDONLY), 16)))
attempt("write /dev", lambda: write("/dev/new", "x"))
for major, minor in [(1, 1), (8, 0), (254, 0)]:
    attempt(f"make the device {major}:{minor}",
            lambda: os.mknod(f"/tmp/device-{major}", 0o666 | stat.S_IFBLK, os.makedev(major, minor)))

for path in ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
             "/run/dbus/system_bus_socket"]:
    attempt(f"connect to {path}", lambda: socket.socket(socket.AF_UNIX).connect(path))
attempt("other sockets", lambda: [os.path.join(folder, name) for top in ["/run", "/var", "/tmp", "/mnt", "/home", "/root"]
                                  for folder, _, names in os.walk(top) for name in names
                                  if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode)])

# Everything of the host that could be seen through a mount: what is mounted, but the engine's own three files.
mounts = [line.split() for line in open("/proc/self/mountinfo")]
attempt("bind mounts", lambda: sorted(fields[4] for fields in mounts
                                      if fields[3] != "/" and not fields[4].startswith(("/proc", "/sys", "/dev"))))
report()
