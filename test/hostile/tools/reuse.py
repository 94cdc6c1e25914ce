import ctypes
import glob
import json
import os
import signal
import socket
import sys
import time

from attempt import checked, libc

# `leave`: puts its secret wherever something could outlive it. `look`: prints all that it can find of others.
given = sys.argv[-1] if len(sys.argv) > 1 else sys.stdin.read()
order, secret = (given.split(" ") + [""])[:2]
# gVisor has no message queues, and no place for them.
PLACES = ["/tmp", "/dev/shm", "/dev/mqueue"]
PORT = 4711


def leave():
    os.umask(0)
    for place in ["/tmp", "/dev/shm"]:
        for name in ["plain", ".hidden", f".{secret}", "-rf *", "new\nline", b"\xff\xfe"]:
            path = os.path.join(os.fsencode(place), os.fsencode(name))
            with open(path, "w") as file:
                file.write(secret)
            os.chmod(path, 0)
    os.makedirs("/tmp/locked/inside")
    open("/tmp/locked/inside/file", "w").write(secret)
    os.symlink("/tmp/plain", "/tmp/link")
    os.mkfifo("/tmp/fifo")
    os.link("/tmp/plain", "/tmp/locked/again")
    os.chmod("/tmp/locked/inside", 0)
    os.chmod("/tmp/locked", 0)
    deep()
    objects()
    held = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    held[0].bind("/tmp/socket")
    held[1].bind(f"\0{secret}")
    listener = socket.socket()
    listener.bind(("127.0.0.1", PORT))
    for one in [*held, listener]:
        one.listen()
    os.environ["SECRET"] = secret
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execv("/bin/sleep", [secret, "600"])
    os.write(2, b"ready")


def deep():
    here = os.open("/tmp", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open(secret, os.O_CREAT, dir_fd=here))


def objects():
    """System V objects, and a queue with a message in it."""
    segment = checked(libc.shmget(0x70, 4096, 0o1666))
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memmove(libc.shmat(segment, None, 0), secret.encode(), len(secret))
    checked(libc.semget(0x70, 3, 0o1666))
    queue = checked(libc.msgget(0x70, 0o1666))
    checked(libc.msgsnd(queue, (1).to_bytes(8, "little") + secret.encode(), len(secret), 0))
    named = checked(libc.mq_open(f"/{secret}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None))
    checked(libc.mq_send(named, secret.encode(), len(secret), 0))


def look():
    found = {}
    found["files"] = [os.path.join(place, name) for place in PLACES if os.path.isdir(place)
                      for name in os.listdir(place)]
    found["objects"] = [call for call, words in [("shmget", (0x70, 0, 0)), ("semget", (0x70, 0, 0)), ("msgget", (0x70, 0))]
                        if getattr(libc, call)(*words) >= 0]
    found["tables"] = [path for path in ["shm", "sem", "msg"] if len(read(f"/proc/sysvipc/{path}").splitlines()) > 1]
    found["processes"] = [pid for pid in os.listdir("/proc") if pid.isdigit() and pid not in ("1", str(os.getpid()))]
    found["sockets"] = [line.split()[-1] for line in read("/proc/net/unix").splitlines()[1:]]
    found["listeners"] = [line for line in read("/proc/net/tcp").splitlines()[1:] if line.split()[3] == "0A"]
    found["connected"] = connect()
    found["descriptors"] = sorted(set(os.listdir("/proc/self/fd")) - {"0", "1", "2", "3"})
    found["folder"] = os.getcwd()
    texts = [*os.environ.values(), read("/proc/1/cmdline"), read("/proc/1/environ"), read("/proc/self/mountinfo"),
             *sys.argv, *(read(path) for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"))]
    print(json.dumps({**found, "text": "\n".join(texts)}))


def connect():
    opened = []
    for family, address in [(socket.AF_INET, ("127.0.0.1", PORT)), (socket.AF_UNIX, "/tmp/socket"), (socket.AF_UNIX, f"\0{secret}")]:
        try:
            socket.socket(family).connect(address)
            opened.append(str(address))
        except OSError:
            pass
    return opened


def read(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""


if order == "look":
    look()
else:
    leave()
    print("left", flush=True)
if order == "hold":
    while True:
        time.sleep(600)
