"""Gives the readable text, the title and the links of a web page, as one JSON object on stdout."""

import base64
import html
import json
import sys

from readable import read_page
from web.addresses import shortened
from web.body import decoded
from web.ending import end_with, without_braces
from web.failures import Refusal, Unreachable
from web.fetch import fetch_in_time

FETCH_SECONDS = 12
READ_SECONDS = 4
SOURCE_MAX = 1_000_000
TEXT_MAX = 2_400
# Bytes of JSON, of the 64,000 that data may have.
BODY_JSON_MAX = 36_000
LINKS_JSON_MAX = 16_000


def main(encoded):
    payload = json.loads(base64.b64decode(encoded))
    params, settings = payload.get("params", {}), payload.get("settings", {})
    url, source = str(params.get("url", "")).strip(), params.get("html")
    offset = max(int(params.get("offset", 0)), 0)
    remarks = []
    if source is None:
        if url == "":
            raise Refusal("Give the address of a page in url, or a page itself in html.")
        allow_private = str(settings.get("allow_private_addresses", False)).lower() == "true"
        url, source, remarks = download(url, params.get("follow_redirects", "same_host"), allow_private)
    readable, is_whole = read_page(source[:SOURCE_MAX], url, READ_SECONDS)
    if not is_whole:
        remarks.append("Only a part of the page could be read in time.")
    elif len(source) > SOURCE_MAX:
        remarks.append(f"Only the first {SOURCE_MAX} characters of the page were read.")
    return answer(url, readable, offset, params.get("show", "text"), remarks)


def download(url, follow, allow_private):
    """The address in the end, the source, and what is to be said of it."""
    headers = {"Accept": "text/html, application/xhtml+xml;q=0.9, text/plain;q=0.8"}
    page = fetch_in_time(url, headers, follow, allow_private, FETCH_SECONDS)
    if page.redirect:
        raise Unreachable(
            f"{shortened(page.url)} redirects to {shortened(page.redirect)}, another host:"
            " give that address, or set follow_redirects to any."
        )
    if page.status >= 300:
        raise Unreachable(f"The server answered {page.status} {page.reason} for {shortened(page.url)}.")
    content_type = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in ("", "text/html", "application/xhtml+xml", "text/plain"):
        raise Refusal(f"{shortened(page.url)} is {content_type}, not a page: fetch it with http_get.")
    source, remark = decoded(page)
    if content_type == "text/plain":
        source = f"<pre>{html.escape(source)}</pre>"
    remarks = [f"As for its text, {remark}."] if remark else []
    if page.cut:
        remarks.append(f"Only a part of the page came: {page.cut}.")
    return page.url, source, remarks


def answer(url, readable, offset, show, remarks):
    text, shown, more = (show_links if show == "links" else show_text)(readable, offset)
    body = cut_to_json(readable.text[offset:] if show == "text" else readable.text)
    links = fitting(readable.links)
    head = [one for one in (readable.title, shortened(url), *remarks, more) if one]
    return {
        "text": without_braces("\n".join(head) + f"\n\n{text}"),
        "title": without_braces(readable.title[:200]) or "Page",
        "html": card(readable, url, shown),
        "data": {
            "url": url or None,
            "title": readable.title,
            "description": readable.description,
            "language": readable.language,
            "text": body,
            "characters": len(readable.text),
            "truncated": len(body) < len(readable.text),
            "links": links,
            "link_count": len(readable.links),
        },
    }


def show_text(readable, offset):
    shown = readable.text[offset : offset + TEXT_MAX]
    total = len(readable.text)
    if shown == "":
        return ("The page has no text." if total == 0 else f"The text has only {total} characters."), "", ""
    end = offset + len(shown)
    more = f"Characters {offset} to {end} of {total} follow; for more set offset to {end}." if end < total else ""
    return shown, shown, more


def show_links(readable, offset):
    lines, room = [], TEXT_MAX
    for link in readable.links[offset:]:
        line = f"- {link['text']}: {link['url']}"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    end, total = offset + len(lines), len(readable.links)
    more = f"Links {offset} to {end} of {total} follow; for more set offset to {end}." if lines and end < total else ""
    return "\n".join(lines) or "The page has no more links.", "\n".join(lines), more


def cut_to_json(text):
    """As much of the text as fits into the bytes that the data has for it."""
    part = text[:BODY_JSON_MAX]
    while len(json.dumps(part, ensure_ascii=False).encode("utf-8", "replace")) > BODY_JSON_MAX:
        part = part[: len(part) * 3 // 4]
    return part


def fitting(links):
    kept, room = [], LINKS_JSON_MAX
    for link in links:
        room -= len(json.dumps(link, ensure_ascii=False).encode("utf-8", "replace")) + 1
        if room < 0:
            break
        kept.append(link)
    return kept


def card(readable, url, shown):
    lines = [
        f'<div style="font-size:1.1rem;font-weight:600">{html.escape(readable.title or "Page")}</div>',
        f'<div style="color:#666;font-size:0.85rem;margin-bottom:8px;word-break:break-all">{html.escape(shortened(url))}</div>',
        f'<div style="white-space:pre-wrap;word-break:break-word">{html.escape(readable.description or shown[:600])}</div>',
    ]
    return f'<div style="padding:16px;font-family:sans-serif">{"".join(lines)}</div>'


if __name__ == "__main__":
    end_with(main, sys.argv[1] if len(sys.argv) > 1 else sys.stdin.buffer.read())
