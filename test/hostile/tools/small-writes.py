import os

# As many system calls on files as there is time for.
file = os.open("/tmp/small", os.O_CREAT | os.O_RDWR)
os.write(2, b"ready")
while True:
    for at in range(4096):
        os.pwrite(file, b"x", at)
    os.rename("/tmp/small", "/tmp/large")
    os.rename("/tmp/large", "/tmp/small")
