import os
import sys

# stdout: for ever; stderr: for ever; line: a single one of a hundred million bytes.
kind = sys.argv[1]
block = b"x" * 65536 if kind == "line" else (b"y" * 1023 + b"\n") * 64
count = 1526 if kind == "line" else 1 << 40
for _ in range(count):
    os.write(2 if kind == "stderr" else 1, block)
