import os
import signal
import sys

# Stays when it should go; the word says how.
kind = sys.argv[1]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if kind == "daemon":
    for _ in range(10):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    signal.pause()
            os._exit(0)
    print("left", flush=True)
    sys.exit(0)
os.write(1, b"before")
os.write(2, b"ready")
if kind == "closed":
    os.closerange(0, 1024)
if kind == "stopped":
    os.kill(os.getpid(), signal.SIGSTOP)
while True:
    signal.pause()
