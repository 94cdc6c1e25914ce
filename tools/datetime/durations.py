"""Spans of time: read, added to a moment, and taken between two."""

import calendar
import re
from datetime import UTC, date, timedelta
from typing import NamedTuple

from moments import Refusal, placed

AMOUNT_MAX = 1_000_000_000
LENGTH_MAX = 200
CALENDAR_UNITS = {"year": 12, "quarter": 3, "month": 1}
DAY_UNITS = {"fortnight": 14, "week": 7, "day": 1}
CLOCK_UNITS = {"hour": 3_600, "minute": 60, "second": 1}
SHORT = {"y": "year", "yr": "year", "mo": "month", "mon": "month", "w": "week", "wk": "week", "d": "day"} | {
    "h": "hour", "hr": "hour", "m": "minute", "min": "minute", "s": "second", "sec": "second",
}  # fmt: skip
ISO = re.compile(
    r"([+-])?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?"
)
PART = re.compile(r"\s*(?:,|and\b)?\s*([+-]?)\s*(\d+(?:\.\d{1,6})?)\s*([A-Za-z]+)")


class Duration(NamedTuple):
    """The length of a month and of a day depends on where it begins, so they are kept apart."""

    months: int
    days: int
    working_days: int
    clock: timedelta


def read_duration(text):
    written = text.strip()
    if len(written) > LENGTH_MAX:
        raise Refusal(f"An amount is written in at most {LENGTH_MAX} characters.")
    iso = ISO.fullmatch(written.upper())
    parts = iso_parts(iso) if iso else worded_parts(written)
    if not parts:
        raise Refusal("The amount is empty: write it as 3 days, 1 month -2 hours, 10 working days or P1M2DT3H.")
    months = days = working_days = 0
    clock = timedelta(0)
    for number, unit in parts:
        if abs(float(number)) > AMOUNT_MAX:
            raise Refusal(f"{number} is too much: at most {AMOUNT_MAX} of a unit can be added.")
        if unit in CLOCK_UNITS:
            clock += timedelta(seconds=float(number) * CLOCK_UNITS[unit])
            continue
        if float(number) != int(float(number)):
            raise Refusal(f"Years, months, weeks and days are added whole, not {number} {unit}s.")
        months += int(float(number)) * CALENDAR_UNITS.get(unit, 0)
        days += int(float(number)) * DAY_UNITS.get(unit, 0)
        working_days += int(float(number)) if unit == "working day" else 0
    return Duration(months, days, working_days, clock)


def iso_parts(match):
    sign, *numbers = match.groups()
    units = ("year", "month", "week", "day", "hour", "minute", "second")
    return [(f"{sign or ''}{number}", unit) for number, unit in zip(numbers, units) if number is not None]


def worded_parts(text):
    # "working days" and "business days" are one unit of two words.
    text = re.sub(r"\b(?:working|business|week)[\s_-]?days?\b", "workingday", text, flags=re.IGNORECASE)
    parts, at, sign = [], 0, ""
    while at < len(text):
        match = PART.match(text, at)
        if match is None:
            raise Refusal(f"'{text[at:].strip()[:40]}' is not understood in an amount: write 3 days or 1 month -2 hours.")
        sign, number, unit = match.groups()
        parts.append((f"{sign}{number}", unit_of(unit)))
        at = match.end()
    return parts


def unit_of(word):
    low = word.lower()
    if low == "workingday":
        return "working day"
    for name in (low, low.removesuffix("s")):
        name = SHORT.get(name, name)
        if name in CALENDAR_UNITS or name in DAY_UNITS or name in CLOCK_UNITS:
            return name
    raise Refusal(f"'{word[:40]}' is no unit of time: years, months, weeks, days, working days, hours, minutes, seconds.")


def add(moment, duration):
    """Months and days on the calendar of the moment's zone, hours and below on the clock of the world."""
    zone, remarks = moment.tzinfo, []
    wall = moment.replace(tzinfo=None, fold=0)
    try:
        if duration.months:
            wall = add_months(wall, duration.months)
        wall += timedelta(days=duration.days)
        wall = add_working_days(wall, duration.working_days)
        if wall != moment.replace(tzinfo=None, fold=0):
            moment, remarks = placed(wall, zone)
        return (moment.astimezone(UTC) + duration.clock).astimezone(zone), remarks
    except (OverflowError, ValueError):
        raise Refusal("The result lies outside of the years 1 to 9999.") from None


def add_months(wall, months):
    year, month = divmod(wall.year * 12 + wall.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    # A month later than January the 31st is the last day of February.
    return wall.replace(year=year, month=month + 1, day=min(wall.day, calendar.monthrange(year, month + 1)[1]))


def add_working_days(wall, count):
    """Monday to Friday; no holidays are known."""
    if count == 0:
        return wall
    step = 1 if count > 0 else -1
    weeks, rest = divmod(abs(count), 5)
    wall += timedelta(days=7 * weeks * step)
    if rest == 0 and wall.weekday() > 4:
        # From a weekend, whole weeks of working days end on the working day before it.
        return wall - timedelta(days=wall.weekday() - 4) if step > 0 else wall + timedelta(days=7 - wall.weekday())
    while rest:
        wall += timedelta(days=step)
        rest -= wall.weekday() < 5
    return wall


def between(start, end):
    """How far `end` is from `start`, on the calendar of the zone of `start` and in plain totals."""
    sign = -1 if end < start else 1
    early, late = (end, start) if sign < 0 else (start, end)
    zone = start.tzinfo
    first, last = (one.astimezone(zone) for one in (early, late))
    months = (last.year - first.year) * 12 + last.month - first.month
    while months > 0 and add(first, Duration(months, 0, 0, timedelta(0)))[0] > last:
        months -= 1
    anchor, _ = add(first, Duration(months, 0, 0, timedelta(0)))
    days = (last.date() - anchor.date()).days
    while days > 0 and add(anchor, Duration(0, days, 0, timedelta(0)))[0] > last:
        days -= 1
    anchor, _ = add(anchor, Duration(0, days, 0, timedelta(0)))
    rest = late.astimezone(UTC) - anchor.astimezone(UTC)
    total = late.astimezone(UTC) - early.astimezone(UTC)
    return {
        "years": sign * (months // 12),
        "months": sign * (months % 12),
        "days": sign * days,
        "hours": sign * (rest.seconds // 3_600),
        "minutes": sign * (rest.seconds % 3_600 // 60),
        "seconds": number(sign * (rest.seconds % 60 + rest.microseconds / 1_000_000)),
        "total_seconds": number(sign * total.total_seconds()),
        "total_days": number(sign * total.total_seconds() / 86_400),
        "calendar_days": sign * (last.date() - first.date()).days,
        "working_days": sign * working_days(first.date(), last.date()),
    }


def number(value):
    return int(value) if value == int(value) else round(value, 6)


def working_days(first: date, last: date):
    """From Monday to Friday, the first day counted and the last one not."""
    weeks, rest = divmod((last - first).days, 7)
    return weeks * 5 + sum((first.weekday() + day) % 7 < 5 for day in range(rest))


def tell_between(parts):
    named = [(parts[name], name.removesuffix("s")) for name in ("years", "months", "days", "hours", "minutes", "seconds")]
    told = [f"{abs(count)} {name}{'' if abs(count) == 1 else 's'}" for count, name in named if count]
    return ", ".join(told) or "no time at all"
