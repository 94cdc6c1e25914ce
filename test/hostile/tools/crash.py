import ctypes
import os
import signal

# A core would hold the payload and the settings. First a child dies, to be looked at; then the tool itself.
os.chdir("/tmp")
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGQUIT)
_, status = os.waitpid(child, 0)
print(os.WCOREDUMP(status), os.listdir("/tmp"), flush=True)
ctypes.string_at(1)
