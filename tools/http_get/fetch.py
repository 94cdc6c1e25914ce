"""Fetches one page over HTTP, trusting nothing of what comes back: not its length, its speed, its encoding or its redirects."""

import http.client
import ipaddress
import os
import re
import socket
import ssl
import threading
import time
import zlib
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

URL_MAX = 4_096
REDIRECTS_MAX = 5
HEADERS_MAX = 100
HEADER_VALUE_MAX = 1_000
# Of what goes over the network, and of what it unpacks to.
RAW_MAX = 2_000_000
BODY_MAX = 4_000_000
CHUNK = 65_536
REDIRECTS = (301, 302, 303, 307, 308)
DEFAULT_PORTS = {"http": 80, "https": 443}
# Headers of the connection, which are not a caller's to set.
OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "accept-encoding"}
# Not to be sent to another host than the one they were given for.
PRIVATE_HEADERS = {"authorization", "cookie", "proxy-authorization"}
# What of IPv6 is handed out, and where it stands for IPv4.
UNICAST = ipaddress.ip_network("2000::/3")
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
# Codecs that are neither text nor slow: Python has `zip`, `idna` and others besides.
CHARSETS = re.compile(
    r"(utf[-_]?(8|16|32)([-_]?(le|be|sig))?|us[-_]?ascii|ascii|latin[-_]?1|iso[-_]?8859[-_]\d{1,2}|windows[-_]?125\d|cp\d{3,4}"
    r"|koi8[-_][rtu]|gb2312|gbk|gb18030|big5([-_]?hkscs)?|shift[-_]?jis|sjis|euc[-_](jp|kr)|iso[-_]?2022[-_](jp|kr)|macroman|mac[-_]roman)",
    re.IGNORECASE,
)


class Refusal(Exception):
    """What is wrong with the request, in words for whoever made it."""


class Unreachable(Exception):
    """What went wrong on the way or at the other end."""


class Page(NamedTuple):
    url: str
    status: int
    reason: str
    headers: dict
    body: bytes
    # Where a redirect leads that was not followed.
    redirect: str | None
    redirects: list
    # Why there is less of the body than the server has, or None.
    cut: str | None


def fetch_in_time(url, headers, follow, allow_private, seconds):
    """The page or an exception, within that time: looking up a name cannot be interrupted, so that it is done aside."""
    outcome = []

    def work():
        try:
            outcome.append(fetch(url, headers, follow, allow_private, time.monotonic() + seconds))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds + 0.5)
    if not outcome:
        raise Unreachable(f"No complete answer came from {urlsplit(url).hostname} within {seconds} seconds.")
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def fetch(url, headers, follow, allow_private, deadline):
    url, redirects = checked_url(url), []
    headers = checked_headers(headers)
    while True:
        page = fetch_one(url, headers, allow_private, deadline)
        if page.status not in REDIRECTS or page.redirect is None:
            return page._replace(redirect=None, redirects=redirects)
        target = checked_location(url, page.redirect)
        if not is_followed(url, target, follow):
            return page._replace(redirect=target, redirects=redirects)
        redirects.append(target)
        if len(redirects) > REDIRECTS_MAX:
            raise Unreachable(f"The page redirects more than {REDIRECTS_MAX} times, at last to {shortened(target)}.")
        if host_of(url) != host_of(target):
            headers = {name: value for name, value in headers.items() if name.lower() not in PRIVATE_HEADERS}
        url = target


def checked_url(url):
    """An address in ASCII without a fragment."""
    if len(url) > URL_MAX:
        raise Refusal(f"The address has more than {URL_MAX} characters.")
    if re.search(r"[\x00-\x20\x7f\\]", url.strip()):
        raise Refusal("The address holds a space, a backslash or a control character: write it percent-encoded.")
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise Refusal(f"The address is not valid: {error}.") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise Refusal("Only addresses that begin with http:// or https:// can be fetched.")
    if parts.username is not None or parts.password is not None:
        raise Refusal("The address holds a user name or a password: send it as the header Authorization.")
    if not host or port == 0:
        raise Refusal("The address names no host, or no possible port.")
    netloc = ascii_host(host) + (f":{port}" if port not in (None, DEFAULT_PORTS[parts.scheme]) else "")
    path, query = (quote(part, safe="/%:@!$&'()*+,;=~?-._[]|") for part in (parts.path or "/", parts.query))
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def ascii_host(host):
    if ":" in host:
        return f"[{checked_ipv6(host)}]"
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        name = ""
    if len(name) > 253 or not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9.])?", name):
        raise Refusal(f"'{host[:100]}' is not the name of a host.")
    return name.lower()


def checked_ipv6(host):
    try:
        return ipaddress.IPv6Address(host).compressed
    except ValueError:
        raise Refusal(f"'{host[:100]}' is no address of IPv6.") from None


def checked_location(url, location):
    try:
        # Headers are read byte by byte; what stands there is mostly UTF-8.
        location = location.encode("latin-1").decode("utf-8", "replace")
        return checked_url(urljoin(url, location))
    except (Refusal, ValueError) as error:
        raise Unreachable(f"The page redirects to an address that is not fetched: {error}") from None


def is_followed(url, target, follow):
    if follow == "any":
        return True
    before, after = urlsplit(url), urlsplit(target)
    is_downgrade = before.scheme == "https" and after.scheme == "http"
    return follow == "same_host" and host_of(url) == host_of(target) and not is_downgrade


def host_of(url):
    """The host with its port; http and https at their own ports are one."""
    parts = urlsplit(url)
    return parts.hostname, parts.port


def checked_headers(headers):
    if len(headers) > 30:
        raise Refusal("At most 30 headers can be sent.")
    checked = {"User-Agent": "Toolyard", "Accept": "*/*"}
    for name, value in headers.items():
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise Refusal(f"The header {name[:100]} is neither text nor a number.")
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", name) or not re.fullmatch(r"[\t\x20-\x7e]{0,4000}", str(value)):
            raise Refusal(f"The header '{name[:100]}' has characters that headers cannot have, or is too long.")
        if name.lower() in OWN_HEADERS:
            raise Refusal(f"The header {name} belongs to the connection and cannot be set.")
        checked = {known: kept for known, kept in checked.items() if known.lower() != name.lower()} | {name: str(value)}
    return checked


def fetch_one(url, headers, allow_private, deadline):
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    connection = http.client.HTTPConnection(parts.hostname, port)
    try:
        # Held here as well, because the connection lets go of it once the headers are read.
        sock = connection.sock = connect(parts, port, allow_private, deadline)
        target = urlunsplit(("", "", parts.path, parts.query, ""))
        own = {"Host": parts.netloc, "Accept-Encoding": "gzip, deflate", "Connection": "close"}
        connection.request("GET", target, headers=headers | own)
        response = connection.getresponse()
        body, cut = read_body(response, sock, deadline)
        shown = readable_headers(response.getheaders())
        return Page(url, response.status, response.reason[:100], shown, body, response.getheader("location"), [], cut)
    except (http.client.HTTPException, OSError, zlib.error) as error:
        raise Unreachable(explain(error, parts.hostname)) from None
    finally:
        connection.close()


def connect(parts, port, allow_private, deadline):
    """To an address that was looked at: a name may mean another one when it is looked up again."""
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(
            f"The host {parts.hostname} could not be looked up ({error}): its name is wrong, or there is no network."
        ) from None
    addresses = [(family, address) for family, _, _, _, address in found]
    public = [one for one in addresses if allow_private or is_public(one[1][0])]
    if not public:
        raise Refusal(
            f"{parts.hostname} is {addresses[0][1][0]}, an address that is not public."
            " An operator can allow such addresses with the setting allow_private_addresses."
        )
    last = None
    for family, address in public[:4]:
        plain = socket.socket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(max(deadline - time.monotonic(), 0.1))
            plain.connect(address)
            if parts.scheme == "http":
                return plain
            return ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
        except OSError as error:
            plain.close()
            last = error
    raise last


def is_public(text):
    """Whether an address is one of the open internet, also where it holds another one."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if address.version == 6:
        is_translated = address in TRANSLATED
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if is_translated else inner
        return is_public(str(inner)) if inner else address in UNICAST and address.is_global
    return address.is_global and not address.is_multicast


def read_body(response, sock, deadline):
    """What the server sends, unpacked, up to what is kept of it; and why it is less than all."""
    unpack, is_packed = unpacker(response.getheader("content-encoding", ""))
    body, raw_length, cut = bytearray(), 0, None
    # Where the server says how much it sends, whatever follows is not read.
    announced = None if response.chunked else response.length
    while cut is None and raw_length != announced:
        left = deadline - time.monotonic()
        if left <= 0:
            cut = "the time for it ran out"
            break
        sock.settimeout(left)
        try:
            chunk = response.read1(CHUNK if announced is None else min(CHUNK, announced - raw_length))
        except TimeoutError:
            cut = "the time for it ran out"
            break
        except (http.client.IncompleteRead, ConnectionError, ssl.SSLError):
            cut = "the server broke off"
            break
        if not chunk:
            break
        raw_length += len(chunk)
        body += unpack(chunk, BODY_MAX + 1 - len(body))
        if len(body) > BODY_MAX or raw_length > RAW_MAX:
            cut = f"more than {BODY_MAX if len(body) > BODY_MAX else RAW_MAX} bytes are not read"
    # A connection that ends early looks like the end of the body.
    if cut is None and announced is not None and raw_length < announced:
        cut = "the server sent less than it announced"
    if cut is None and is_packed and not unpack(b"", -1):
        cut = "the server sent compressed data that ends too early"
    return bytes(body[:BODY_MAX]), cut


def unpacker(encoding):
    """A function that unpacks chunk after chunk, never more than it is given room for; with room -1, whether it is done."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda chunk, room: chunk[:room], False
    if name not in ("gzip", "x-gzip", "deflate"):
        raise Unreachable(f"The server packed the page as '{name[:40]}', which was not asked for.")
    stream = [zlib.decompressobj(zlib.MAX_WBITS | 32)]
    is_begun = []

    def unpack(chunk, room):
        if room < 0:
            return stream[0].eof or not is_begun
        try:
            unpacked = stream[0].decompress(chunk, max(room, 1))
        except zlib.error:
            # Many servers call a stream without its envelope deflate.
            if name != "deflate" or is_begun:
                raise
            stream[0] = zlib.decompressobj(-zlib.MAX_WBITS)
            unpacked = stream[0].decompress(chunk, max(room, 1))
        is_begun.append(True)
        return unpacked

    return unpack, True


def readable_headers(pairs):
    headers = {}
    for name, value in pairs[:HEADERS_MAX]:
        name, value = name.lower()[:100], value[:HEADER_VALUE_MAX]
        headers[name] = f"{headers[name]}, {value}"[:HEADER_VALUE_MAX] if name in headers else value
    return headers


def explain(error, host):
    if isinstance(error, ConnectionRefusedError):
        return f"{host} refused the connection."
    if isinstance(error, TimeoutError):
        return f"{host} did not answer in time."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} is not valid: {error.verify_message}."
    if isinstance(error, ssl.SSLError):
        return f"No encrypted connection to {host} came about ({error.reason or 'unknown reason'})."
    if isinstance(error, zlib.error):
        return f"{host} sent compressed data that cannot be unpacked."
    if isinstance(error, http.client.HTTPException):
        return f"{host} did not answer in HTTP ({type(error).__name__})."
    return f"The connection to {host} failed ({error.strerror or type(error).__name__})."


def decoded(page):
    """The body as text, and a remark where its encoding had to be guessed. Never fails."""
    content_type = page.headers.get("content-type", "")
    declared = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", content_type, re.IGNORECASE)
    in_page = re.search(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]{1,40})", page.body[:2_048], re.IGNORECASE)
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if page.body.startswith(mark):
            return page.body.decode(name, "replace"), None
    name = declared.group(1) if declared else in_page.group(1).decode() if in_page else "utf-8"
    try:
        if not CHARSETS.fullmatch(name):
            raise LookupError
        return page.body.decode(name, "replace"), None
    except LookupError:
        return page.body.decode("utf-8", "replace"), f"the encoding '{name}' is not known; UTF-8 was taken"


def shortened(url):
    return url if len(url) <= 300 else f"{url[:300]}…"


def leave(code):
    """Ends the process without waiting for a lookup that hangs."""
    os._exit(code)
