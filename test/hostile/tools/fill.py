import os
import sys

from attempt import attempt, report

# Fills what can be written, each place in its own way: data, then names.
places = sys.argv[1].split(",")


def fill(place):
    with open(f"{place}/.fill", "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 65536)


for place in places:
    attempt(place, lambda: fill(place))
    attempt(f"{place} holds", lambda: os.stat(f"{place}/.fill").st_blocks * 512)
report()
