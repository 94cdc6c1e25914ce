import socket
import sys

from attempt import attempt, report

# Everything that could be reached from where there is no network. The payload is a port and a name on the host.
port, name = sys.argv[1].split(",")


def broadcast():
    with socket.socket(type=socket.SOCK_DGRAM) as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        caller.sendto(b"x", ("255.255.255.255", 9))


attempt("interfaces", lambda: sorted(name for _, name in socket.if_nameindex()))
attempt("routes", lambda: len(open("/proc/net/route").read().splitlines()) - 1)
for address in ["127.0.0.1", "10.0.0.1", "172.17.0.1", "192.168.0.1", "169.254.169.254", "1.1.1.1"]:
    attempt(f"tcp {address}", lambda: socket.create_connection((address, int(port)), 2).close())
    attempt(f"udp {address}", lambda: socket.socket(type=socket.SOCK_DGRAM).connect((address, 53)))
for address in ["::1", "fd00:ec2::254", "2606:4700:4700::1111"]:
    attempt(f"tcp {address}", lambda: socket.create_connection((address, int(port)), 2).close())
attempt("broadcast", lambda: broadcast())
attempt("a name", lambda: socket.getaddrinfo("example.com", 80))
# Families whose sockets know no network namespace, or bring in a module that nobody needs.
for name, family in {"vsock": 40, "alg": 38, "bluetooth": 31, "tipc": 30, "rds": 21, "can": 29, "qipcrtr": 42, "xdp": 44}.items():
    attempt(name, lambda: socket.socket(family, socket.SOCK_SEQPACKET if name == "alg" else socket.SOCK_STREAM).close())
attempt("the host's abstract socket", lambda: socket.socket(socket.AF_UNIX).connect(f"\0{name}"))
report()
