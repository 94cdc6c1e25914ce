import fcntl
import os
import struct
import sys
import termios

# Each byte waits until the one before has been read, so that each becomes a frame of its own.
pipe = 2 if sys.argv[1] == "stderr" else 1
unread = bytearray(4)
while True:
    os.write(pipe, b"x")
    while True:
        fcntl.ioctl(pipe, termios.FIONREAD, unread)
        if struct.unpack("i", unread)[0] == 0:
            break
