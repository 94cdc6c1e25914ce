import os

# Empty files cost no data, only the kernel's memory.
at = 0
os.write(2, b"ready")
while True:
    os.close(os.open(f"/tmp/{at}", os.O_CREAT | os.O_WRONLY))
    at += 1
