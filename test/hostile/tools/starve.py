import os
import signal
import time

from attempt import attempt

# Says so first, because nothing is heard of it afterwards: tries to put the init behind everybody, and keeps every
# processor busy.
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(2, b"ready")
time.sleep(0.1)
attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19))
attempt("scheduler", lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)))
for _ in range(50):
    if os.fork() == 0:
        break
while True:
    pass
