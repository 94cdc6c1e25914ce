"""Works out an expression, converts the result to another unit, and answers with one JSON object on stdout."""

import base64
import html
import json
import sys

from expression import evaluate
from functions import Refusal
from numbers_text import decimal_text, fraction_text
from units import convert

DIGITS = 20
DIGITS_MAX = 200
ECHO_MAX = 120
# What JSON readers take for a number without losing any of it.
SAFE_WHOLE = 2**53


def main(encoded):
    params = json.loads(base64.b64decode(encoded)).get("params", {})
    expression = str(params.get("expression", "")).strip()
    digits = min(max(int(params.get("digits", DIGITS)), 1), DIGITS_MAX)
    source, target = params.get("from_unit", "").strip(), params.get("to_unit", "").strip()
    if expression == "":
        raise Refusal("The expression is empty.")
    if target and not source:
        raise Refusal("Say in from_unit what the expression is measured in.")
    number = evaluate(expression)
    converted = convert(number, source, target) if target else number
    return answer(expression, number, converted, digits, source, target)


def answer(expression, number, converted, digits, source, target):
    echo = expression if len(expression) <= ECHO_MAX else f"{expression[:ECHO_MAX]}…"
    result, is_whole_truth = decimal_text(converted.value, digits, converted.exact)
    fraction = fraction_text(converted.value) if converted.exact and not is_whole_truth else None
    unit = target or source
    shown = f"{result} {unit}".strip()
    asked = f"{asked_text(echo, number, digits)} {source}" if target else echo
    sign = "=" if is_whole_truth else "≈"
    exactly = f" (exactly {fraction})" if fraction else ""
    return {
        "text": f"{asked} {sign} {shown}{exactly}",
        "title": shown if len(shown) <= ECHO_MAX else "Result",
        "html": card(asked, f"{sign} {shown}", f"exactly {fraction}" if fraction else ""),
        "data": {
            "result": result,
            "exact": is_whole_truth,
            "fraction": str(converted.value) if converted.exact else None,
            "number": as_number(converted),
            "unit": unit or None,
        },
    }


def asked_text(echo, number, digits):
    """1/3 of a mile reads ill as `1/3 mi`; what was worked out reads well."""
    value, _ = decimal_text(number.value, digits, number.exact)
    return echo if echo.replace(" ", "") == value else f"{echo} = {value}"


def as_number(number):
    if number.exact and number.value.denominator == 1 and abs(number.value) <= SAFE_WHOLE:
        return number.value.numerator
    try:
        return float(number.value)
    except OverflowError:
        return None


def card(asked, result, below):
    lines = [
        f'<div style="color:#666;word-break:break-all">{html.escape(asked)}</div>',
        f'<div style="font-size:1.4rem;font-weight:600;word-break:break-all">{html.escape(result)}</div>',
    ]
    if below:
        lines.append(f'<div style="color:#666;font-size:0.85rem">{html.escape(below)}</div>')
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
