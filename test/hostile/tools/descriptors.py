import os
import socket

from attempt import attempt, report

held = []


def hoard(make):
    while True:
        held.append(make())


attempt("files", lambda: hoard(lambda: os.open("/dev/null", os.O_RDONLY)))
count = len(held)
attempt("one more socket", lambda: socket.socket())
attempt("one more pipe", lambda: os.pipe())
os.close(held.pop())
attempt("count", lambda: count)
report()
