import os
import signal
import sys

# Fills the process table and is gone at once.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    while os.fork() > 0:
        pass
    while True:
        signal.pause()
except OSError:
    sys.exit(3)
