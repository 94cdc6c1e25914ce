"""In: one argument, base64 of {"params", "settings", "telemetry"}. Out: one JSON object on stdout; logs go to stderr."""

import base64
import json
import sys


def run(params, settings, telemetry):
    return {"text": f"Hello, {params['name']}!"}


payload = json.loads(base64.b64decode(sys.argv[1]))
try:
    output = run(payload["params"], payload["settings"], payload["telemetry"])
except ValueError as error:
    # What the caller can mend. Anything else ends the program, and its last words on stderr are the message.
    output = {"error": str(error)}
print(json.dumps(output))
