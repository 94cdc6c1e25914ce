"""Fetches one page over HTTP, trusting nothing of what comes back: not its length, its speed, its encoding or its redirects."""

import http.client
import re
import socket
import ssl
import threading
import time
import zlib
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from web.addresses import DEFAULT_PORTS, checked_location, checked_url, host_of, is_followed, is_public, shortened
from web.body import read_body
from web.failures import Refusal, Unreachable

REDIRECTS_MAX = 5
HEADERS_MAX = 100
HEADER_VALUE_MAX = 1_000
REDIRECTS = (301, 302, 303, 307, 308)
# Headers of the connection, which are not a caller's to set.
OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "accept-encoding"}
# Not to be sent to another host than the one they were given for.
PRIVATE_HEADERS = {"authorization", "cookie", "proxy-authorization"}


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
