"""Reads what a server sends and makes text of it, trusting neither its length nor its packing nor its encoding."""

import http.client
import re
import ssl
import time
import zlib

from web.failures import Unreachable

# Of what goes over the network, and of what it unpacks to.
RAW_MAX = 2_000_000
BODY_MAX = 4_000_000
CHUNK = 65_536
# Codecs that are neither text nor slow: Python has `zip`, `idna` and others besides.
CHARSETS = re.compile(
    r"(utf[-_]?(8|16|32)([-_]?(le|be|sig))?|us[-_]?ascii|ascii|latin[-_]?1|iso[-_]?8859[-_]\d{1,2}|windows[-_]?125\d|cp\d{3,4}"
    r"|koi8[-_][rtu]|gb2312|gbk|gb18030|big5([-_]?hkscs)?|shift[-_]?jis|sjis|euc[-_](jp|kr)|iso[-_]?2022[-_](jp|kr)|macroman|mac[-_]roman)",
    re.IGNORECASE,
)


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
