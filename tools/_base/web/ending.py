"""How a tool that fetches ends: one JSON object on stdout, also where it refuses or reaches nothing."""

import json
import os
import sys

from web.failures import Refusal, Unreachable


def end_with(main, encoded):
    output, code = run(main, encoded)
    # A lone half of a character, which bad encodings and references leave, cannot be written as UTF-8.
    sys.stdout.buffer.write(json.dumps(output, ensure_ascii=False).encode("utf-8", "replace"))
    sys.stdout.flush()
    # Without waiting for a lookup that hangs.
    os._exit(code)


def run(main, encoded):
    try:
        return main(encoded), 0
    except Refusal as refusal:
        return {"error": without_braces(str(refusal))}, 1
    except Unreachable as failure:
        return {"error": without_braces(str(failure)), "failure_class": "external"}, 1


def without_braces(text):
    """What stands between braces would be cut from the text."""
    return text.replace("{", "(").replace("}", ")")
