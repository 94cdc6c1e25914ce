import os
import sys

# Says how many files it finds, then makes as many as it is told to.
print(len(os.listdir("/tmp")))
for at in range(int(sys.argv[1])):
    if at % 1000 == 0:
        os.mkdir(f"/tmp/{at // 1000}")
    os.mknod(f"/tmp/{at // 1000}/{at}")
