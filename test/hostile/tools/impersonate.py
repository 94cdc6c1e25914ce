import os
import struct
import sys

# Writes in the place of its init, where the kernel lets it: what no init says, or that all went well and is clean.


def frame(kind, body=b""):
    return kind + bytes(3) + struct.pack("<I", len(body)) + body


FORGERIES = {
    "garbage": b"garbage!",
    "endless": b"O" + bytes(3) + b"\xff\xff\xff\x7f",
    "hello": frame(b"H", struct.pack("<II", 1, 6291456)),
    "not started": frame(b"F", struct.pack("<I", 2) + b"never started"),
    "clean": frame(b"X", bytes(64)) + frame(b"A", bytes(8)),
}
try:
    init = os.open("/proc/1/fd/1", os.O_WRONLY)
except PermissionError:
    sys.exit(9)
os.write(init, FORGERIES[sys.argv[1]])
while True:
    pass
