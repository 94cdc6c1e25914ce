#!/usr/bin/env bash
# In: one argument, base64 of {"params", "settings", "telemetry"}. Out: one JSON object on stdout; logs go to stderr.
set -euo pipefail

# Params are data to jq from beginning to end, never a part of a command.
printf '%s' "${1-}" | base64 -d | jq '
  .params as $params
  | { text: "Hello, \($params.name)!" }'
