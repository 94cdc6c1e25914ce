"""Answers questions about times, zones and spans, with one JSON object on stdout."""

import base64
import html
import json
import sys
from datetime import UTC, datetime

from durations import add, between, read_duration, tell_between
from moments import Refusal, facts, formatted, read_moment, read_zone, tell, zone_name

ZONES_MAX = 20


def main(encoded):
    payload = json.loads(base64.b64decode(encoded))
    params, settings = payload.get("params", {}), payload.get("settings", {})
    action = params.get("action", "now")
    if action not in ACTIONS:
        raise Refusal(f"'{action}' is no action: {', '.join(ACTIONS)}.")
    zone = read_zone(str(params.get("zone") or settings.get("zone") or "UTC"))
    try:
        return ACTIONS[action](params, zone, datetime.now(UTC).replace(microsecond=0))
    except OverflowError:
        raise Refusal("The result lies outside of the years 1 to 9999.") from None


def tell_now(params, zone, now):
    zones = read_zones(params) or [zone]
    return told([now.astimezone(one) for one in zones], [], f"{now.astimezone(zones[0]):%H:%M}")


def convert(params, zone, now):
    moment, remarks = read_moment(wanted(params, "time"), zone, now)
    zones = read_zones(params)
    if not zones:
        raise Refusal("Say in to_zones where to convert the time to, as a list such as Asia/Tokyo, America/New_York.")
    return told([moment, *(moment.astimezone(one) for one in zones)], remarks, f"{moment.astimezone(zones[0]):%H:%M}")


def add_amount(params, zone, now):
    start, remarks = read_moment(params.get("time", "now"), zone, now)
    end, more = add(start, read_duration(wanted(params, "amount")))
    answer = told([end], remarks + more, f"{end:%Y-%m-%d %H:%M}")
    answer["text"] = f"{tell(start)} plus {params['amount'].strip()} is:\n{answer['text']}"
    return answer


def difference(params, zone, now):
    start, remarks = read_moment(wanted(params, "time"), zone, now)
    end, more = read_moment(wanted(params, "until"), zone, now)
    parts = between(start, end)
    direction = "later" if end >= start else "earlier"
    lines = [
        f"{tell(end)} is {tell_between(parts)} {direction} than {tell(start)}.",
        f"In all {abs(parts['total_seconds'])} seconds, or {abs(parts['total_days'])} days of 24 hours;"
        f" {abs(parts['working_days'])} days from Monday to Friday, the later day not counted.",
        *remarks,
        *more,
    ]
    title = tell_between(parts)
    return {
        "text": "\n".join(lines),
        "title": title,
        "html": card([(f"from {tell(start)}", ""), (f"to {tell(end)}", title)]),
        "data": {"from": facts(start), "until": facts(end), "difference": parts},
    }


def write(params, zone, now):
    moment, remarks = read_moment(params.get("time", "now"), zone, now)
    zones = read_zones(params)
    if len(zones) > 1:
        raise Refusal("A time is formatted in one zone: give one in to_zones.")
    moment = moment.astimezone(zones[0]) if zones else moment
    text = formatted(moment, wanted(params, "format"))
    return {
        "text": without_braces("\n".join([text, *remarks])),
        "title": without_braces(text[:200]),
        "html": card([(tell(moment), text)]),
        "data": {"formatted": text, "times": [facts(moment)]},
    }


ACTIONS = {"now": tell_now, "convert": convert, "add": add_amount, "difference": difference, "format": write}


def wanted(params, name):
    value = params.get(name)
    if not isinstance(value, str) or value.strip() == "":
        raise Refusal(f"The action '{params.get('action')}' needs the parameter {name}.")
    return value


def read_zones(params):
    names = params.get("to_zones", [])
    if len(names) > ZONES_MAX:
        raise Refusal(f"At most {ZONES_MAX} zones are converted to at once.")
    return [read_zone(str(name)) for name in names]


def told(moments, remarks, title):
    return {
        "text": "\n".join([*(tell(moment) for moment in moments), *remarks]),
        "title": title,
        "html": card([(zone_name(moment.tzinfo), f"{moment:%a %H:%M}, {moment.date().isoformat()}") for moment in moments]),
        "data": {"times": [facts(moment) for moment in moments]},
    }


def card(rows):
    lines = [
        f'<div style="color:#666;font-size:0.85rem">{html.escape(label)}</div>'
        f'<div style="font-size:1.2rem;font-weight:600;margin-bottom:8px">{html.escape(value)}</div>'
        for label, value in rows
    ]
    return f'<div style="padding:16px;font-family:sans-serif">{"".join(lines)}</div>'


def without_braces(text):
    """What stands between braces would be cut from it."""
    return text.replace("{", "(").replace("}", ")")


if __name__ == "__main__":
    try:
        print(json.dumps(main(sys.argv[1]), ensure_ascii=False))
    except Refusal as refusal:
        print(json.dumps({"error": without_braces(str(refusal))}, ensure_ascii=False))
        sys.exit(1)
