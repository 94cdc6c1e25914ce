#!/usr/bin/env bash
# The whole contract in one program: a payload in base64 comes in as the argument, one JSON object goes out on stdout.
set -euo pipefail

# What callers send is data to jq from beginning to end, never a part of a command; `@html` makes it safe in the card.
printf '%s' "${1-}" | base64 -d | jq '
  (.params.name // "World") as $name
  | (.telemetry.city // "") as $city
  | (.telemetry.time // "") as $time
  | def line($style; $words): if $words == "" then "" else @html "<div style=\"\($style)\">\($words)</div>" end;
  {
    text: ("Hello, \($name)!" + if $city == "" then "" else " You'\''re in \($city)." end),
    html: (
      "<div style=\"padding:16px;font-family:sans-serif\">"
      + line("font-size:1.4rem;font-weight:600;margin-bottom:8px"; "Hello, \($name)!")
      + line("color:#666;margin-bottom:4px"; if $city == "" then "" else "📍 \($city)" end)
      + line("color:#999;font-size:0.85rem"; $time)
      + "</div>"
    )
  }'
