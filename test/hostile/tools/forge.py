import os
import struct
import sys

# Frames as the init writes them: a report of success, a hello, a promise of cleanliness, an endless one.
def frame(kind, body):
    return kind + bytes(3) + struct.pack("<I", len(body)) + body


forged = frame(b"X", bytes(64)) + frame(b"H", struct.pack("<II", 1, 6291456)) + frame(b"A", bytes(8))
forged += frame(b"F", struct.pack("<I", 2) + b"never started") + b"O" + bytes(3) + b"\xff\xff\xff\x7f"
os.write(1, forged)
os.write(2, forged)
# And as the engine writes them around those.
for stream in [0, 1, 2, 3]:
    os.write(1, bytes([stream, 0, 0, 0]) + struct.pack(">I", 8) + forged[:8])
sys.exit(9)
