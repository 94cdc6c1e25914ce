hoard = []
while True:
    hoard.append(b"x" * 1048576)
