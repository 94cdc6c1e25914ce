"""Fetches an address and answers with its status, headers and body, as one JSON object on stdout."""

import base64
import html
import json
import re
import sys
from urllib.parse import urlsplit

from outline import outline
from web.addresses import shortened
from web.body import decoded
from web.ending import end_with, without_braces
from web.fetch import fetch_in_time

SECONDS_MAX = 15
TEXT_MAX = 2_600
# Bytes of JSON, of the 64,000 that data may have.
BODY_JSON_MAX = 40_000
JSON_DEPTH_MAX = 40
# Longer JSON is shown as text: small values take much memory each.
JSON_CHARACTERS_MAX = 500_000
TEXTUAL = re.compile(r"text/|application/(.*\+)?(json|xml|javascript|ecmascript|x-www-form-urlencoded|yaml|toml|x-sh)|.*\+(json|xml)$")


def main(encoded):
    payload = json.loads(base64.b64decode(encoded))
    params, settings = payload.get("params", {}), payload.get("settings", {})
    follow = params.get("follow_redirects", "same_host")
    seconds = min(max(float(params.get("timeout_seconds", 10)), 0.1), SECONDS_MAX)
    offset = max(int(params.get("offset", 0)), 0)
    allow_private = str(settings.get("allow_private_addresses", False)).lower() == "true"
    page = fetch_in_time(str(params.get("url", "")), params.get("headers", {}), follow, allow_private, seconds)
    return answer(page, offset)


def answer(page, offset):
    content_type = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    remarks = [f"Only a part of the body came: {page.cut}."] if page.cut else []
    shown, content, more = show_body(page, content_type, offset)
    remarks += more
    head = f"HTTP {page.status} {page.reason}".strip() + f" from {shortened(page.url)}"
    size = f"{content_type or 'no content type'}, {len(page.body)} bytes"
    if page.redirect:
        remarks.append(
            f"It redirects to {shortened(page.redirect)}, which was not followed:"
            " fetch that address, or set follow_redirects to any."
        )
    lines = [without_braces(line) for line in (head, size, *remarks)]
    return {
        "text": "\n".join(lines) + (f"\n\n{shown}" if shown else ""),
        "title": without_braces(f"{page.status} {urlsplit(page.url).hostname}"),
        "html": card(head, size, shown),
        "data": {
            "url": page.url,
            "status": page.status,
            "reason": page.reason,
            "headers": kept_headers(page.headers),
            "redirects": page.redirects,
            "redirect": page.redirect,
            "content_type": content_type,
            "bytes": len(page.body),
            "cut": page.cut,
            **content,
        },
    }


def show_body(page, content_type, offset):
    """The body for the text, for the data, and what is to be said of it."""
    is_text = TEXTUAL.match(content_type) or (content_type == "" and b"\0" not in page.body[:1_000])
    if not page.body:
        return "", {"body": "", "characters": 0, "truncated": False}, []
    if not is_text:
        return "", {"body": None, "truncated": True}, ["The body is not text, so it is not shown."]
    text, remark = decoded(page)
    remarks = [f"As for its text, {remark}."] if remark else []
    value = as_json(text) if offset == 0 else None
    if value is not None:
        is_small = len(json.dumps(value[0], ensure_ascii=False).encode("utf-8", "replace")) <= BODY_JSON_MAX
        content = {"json": value[0]} if is_small else {"body": cut_to_json(text)}
        return outline(value[0], TEXT_MAX), {**content, "characters": len(text), "truncated": not is_small}, remarks
    part = cut_to_json(text[offset:])
    shown = without_braces(part[:TEXT_MAX])
    if len(text) > offset + len(shown):
        remarks.append(
            f"Characters {offset} to {offset + len(shown)} of {len(text)} follow; for more set offset to {offset + len(shown)}."
        )
    return shown, {"body": part, "offset": offset, "characters": len(text), "truncated": len(part) < len(text) - offset}, remarks


def as_json(text):
    """The value in a list, or None where it is none or would be too deep for whoever reads it."""
    if len(text) > JSON_CHARACTERS_MAX or not re.match(r"\s*[\[{]", text):
        return None
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    return [value] if depth_of(value) <= JSON_DEPTH_MAX else None


def refuse_constant(name):
    raise ValueError(name)


def depth_of(value):
    level, depth = [value], 0
    while level and depth <= JSON_DEPTH_MAX:
        level = [one for outer in level if isinstance(outer, (dict, list)) for one in (outer.values() if isinstance(outer, dict) else outer)]
        depth += 1
    return depth


def cut_to_json(text):
    """As much of the text as fits into the bytes that the data has for it."""
    part = text[:BODY_JSON_MAX]
    while len(json.dumps(part, ensure_ascii=False).encode()) > BODY_JSON_MAX:
        part = part[: len(part) * 3 // 4]
    return part


def kept_headers(headers):
    kept, room = {}, 12_000
    for name, value in headers.items():
        room -= len(json.dumps([name, value]))
        if room < 0:
            break
        kept[name] = value
    return kept


def card(head, size, shown):
    lines = [
        f'<div style="font-weight:600;word-break:break-all">{html.escape(head)}</div>',
        f'<div style="color:#666;font-size:0.85rem;margin-bottom:8px">{html.escape(size)}</div>',
    ]
    if shown:
        lines.append(f'<pre style="margin:0;white-space:pre-wrap;word-break:break-word">{html.escape(shown[:1_000])}</pre>')
    return f'<div style="padding:16px;font-family:sans-serif">{"".join(lines)}</div>'


if __name__ == "__main__":
    end_with(main, sys.argv[1])
