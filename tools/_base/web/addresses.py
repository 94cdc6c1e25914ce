"""Which addresses are fetched, and how they are written: the open internet's, in ASCII."""

import ipaddress
import re
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from web.failures import Refusal, Unreachable

URL_MAX = 4_096
DEFAULT_PORTS = {"http": 80, "https": 443}
# What of IPv6 is handed out, and where it stands for IPv4.
UNICAST = ipaddress.ip_network("2000::/3")
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


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


def is_public(text):
    """Whether an address is one of the open internet, also where it holds another one."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if address.version == 6:
        is_translated = address in TRANSLATED
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if is_translated else inner
        return is_public(str(inner)) if inner else address in UNICAST and address.is_global
    return address.is_global and not address.is_multicast


def shortened(url):
    return url if len(url) <= 300 else f"{url[:300]}…"
