"""Moments in time: read from text, placed in a zone, told as text."""

import difflib
import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

LENGTH_MAX = 100
NAMED_DAYS = {"today": 0, "tomorrow": 1, "yesterday": -1}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Everything that has a meaning without a locale. glibc takes widths such as %9999999d, which would fill the memory.
DIRECTIVES = "aAbBcdfHIjmMpSuUVWwxXyYzZGDFTRe%"


class Refusal(Exception):
    """What is wrong with the question, in words for whoever asked it."""


def read_zone(name):
    """A name of the IANA database, or an offset such as +05:30."""
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", name)
    if offset:
        sign, hours, minutes = offset.groups()
        away = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if away >= timedelta(hours=24):
            raise Refusal(f"The offset {name} is out of range.")
        return timezone(-away if sign == "-" else away)
    wanted = name.strip().replace(" ", "_")
    if wanted.lower() in ("", "z", "utc"):
        return UTC
    return open_zone(wanted) or look_for_zone(wanted)


def open_zone(name):
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return None


def look_for_zone(name):
    """In any case of letters, and by the name of a city alone."""
    known, low = {zone.lower(): zone for zone in available_timezones()}, name.lower()
    cities = [zone for key, zone in known.items() if low in (key, key.rpartition("/")[2])]
    if len(cities) == 1:
        return ZoneInfo(cities[0])
    near = cities or [known[key] for key in difflib.get_close_matches(low, known, 3)]
    meant = f" Did you mean {' or '.join(sorted(near)[:4])}?" if near else ""
    raise Refusal(f"The time zone '{name[:60]}' is not known: write it as Europe/Paris or +02:00.{meant}")


def read_moment(text, zone, now):
    """The moment, and remarks about how it was read. A time without an offset is one of that zone."""
    text = text.strip()
    if len(text) > LENGTH_MAX:
        raise Refusal(f"A time is written in at most {LENGTH_MAX} characters.")
    if text.lower() in ("now", ""):
        return now.astimezone(zone), []
    if text.lower() in NAMED_DAYS:
        day = now.astimezone(zone).date() + timedelta(days=NAMED_DAYS[text.lower()])
        return placed(datetime(day.year, day.month, day.day), zone)
    if re.fullmatch(r"@-?\d{1,12}(\.\d{1,6})?", text):
        return datetime.fromtimestamp(0, UTC).astimezone(zone) + timedelta(seconds=float(text[1:])), []
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        example = "2026-03-29T14:30, 2026-03-29T14:30+02:00, 2026-03-29, now, tomorrow or @1774787400"
        raise Refusal(f"'{text}' is not a time ({error}). Write it as {example}.") from None
    return placed(read, zone) if read.tzinfo is None else (read, [])


def placed(wall, zone):
    """What the clocks of the zone mean by this; they skip an hour in spring and show one twice in autumn."""
    moment = wall.replace(tzinfo=zone, fold=0)
    later = moment.replace(fold=1)
    if moment.utcoffset() == later.utcoffset():
        return moment, []
    real = moment.astimezone(UTC).astimezone(zone)
    if real.replace(tzinfo=None) != wall:
        return real, [f"The clocks in {zone_name(zone)} skip {wall:%Y-%m-%d %H:%M}; {real:%H:%M} is taken instead."]
    return moment, [f"The clocks in {zone_name(zone)} show {wall:%Y-%m-%d %H:%M} twice; the earlier is taken."]


def zone_name(zone):
    return getattr(zone, "key", None) or str(zone)


def tell(moment):
    """As `Sunday 2026-03-29 14:30:00 in Europe/Paris (CEST, UTC+02:00)`."""
    clock = f"{moment:%H:%M:%S}{f'.{moment.microsecond:06d}' if moment.microsecond else ''}"
    offset = f"UTC{offset_text(moment)}"
    name, short = zone_name(moment.tzinfo), moment.tzname() or ""
    where = f" in {name}" if name not in (offset, "UTC") else ""
    shown = offset if short in (offset, "") or short[0] in "+-" else f"{short}, {offset}"
    # strftime writes years before 1000 with fewer digits.
    date = moment.date().isoformat()
    return f"{WEEKDAYS[moment.weekday()]} {date} {clock}{where} ({'UTC' if short == 'UTC' else shown})"


def offset_text(moment):
    away = moment.utcoffset() or timedelta(0)
    sign = "-" if away < timedelta(0) else "+"
    minutes, seconds = divmod(int(abs(away).total_seconds()), 60)
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}{f':{seconds:02d}' if seconds else ''}"


def facts(moment):
    year, week, _ = moment.isocalendar()
    return {
        "iso": moment.isoformat(),
        "zone": zone_name(moment.tzinfo),
        "abbreviation": moment.tzname(),
        "offset": offset_text(moment),
        "unix": unix_seconds(moment),
        "weekday": WEEKDAYS[moment.weekday()],
        "day_of_year": moment.timetuple().tm_yday,
        "iso_week": f"{year:04d}-W{week:02d}",
        "is_dst": bool(moment.dst()),
    }


def unix_seconds(moment):
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    whole = since // timedelta(seconds=1)
    return whole if since.microseconds == 0 else since.total_seconds()


def formatted(moment, pattern):
    if len(pattern) > LENGTH_MAX:
        raise Refusal(f"A format has at most {LENGTH_MAX} characters.")
    for directive in re.findall(r"%(.?)", pattern.replace("%%", ""), re.DOTALL):
        if directive == "" or directive not in DIRECTIVES:
            raise Refusal(f"'%{directive}' is not known in a format. Known are: {' '.join('%' + one for one in DIRECTIVES)}.")
    return moment.strftime(pattern)
