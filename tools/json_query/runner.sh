#!/usr/bin/env bash
# Runs a jq program over JSON. Both come from callers, so both go to jq in files: nothing of them is ever a word of a
# command, and jq sees no environment.
set -euo pipefail

readonly tool=${BASH_SOURCE[0]%/*}
readonly results_max=50000 text_max=2600 seconds_max=6
# Enough for 4 MiB of JSON; a query that builds more is told so instead of being killed.
readonly memory_max_kib=180000

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf "$scratch"' EXIT

refuse() {
  # Braces would be cut from it together with what stands between them.
  jq -cn --arg error "${1:0:600}" '{error: ($error | gsub("\\{"; "(") | gsub("\\}"; ")"))}'
  exit 1
}

read_payload() {
  if (($# > 0)); then printf '%s' "$1"; else cat; fi | base64 -d >"$scratch/payload"
}

run_query() {
  (
    ulimit -v "$memory_max_kib"
    cd "$scratch"
    exec env -i "PATH=$PATH" timeout --kill-after=1 "$seconds_max" jq -c -f "$scratch/query" "$scratch/json"
  ) 2>"$scratch/faults" | head -c "$((results_max + 1))" >"$scratch/results"
}

# The sentence of jq, without what is true of our files only.
fault() {
  head -c 2000 "$scratch/faults" | sed -E \
    -e '/^jq: [0-9]+ compile errors?$/d' \
    -e 's/^jq: error( \(at [^)]*\))?:? ?//; s/ \(Unix shell quoting issues\?\)//; s/<top-level>, //' |
    tr '\n' ' ' | sed 's/ *$//'
}

tell_fault() {
  local status=$1
  case $status in
    124 | 137) refuse "The query did not end within $seconds_max seconds: let it do less." ;;
    3) refuse "The query is not understood: $(fault)" ;;
  esac
  if grep -q 'cannot allocate memory' "$scratch/faults"; then
    refuse "This needs more memory than there is: let the query collect less at once, or give less JSON."
  fi
  if ! jq -e -n 'reduce inputs as $one (null; null) | true' "$scratch/json" >/dev/null 2>"$scratch/unreadable"; then
    mv "$scratch/unreadable" "$scratch/faults"
    refuse "The parameter json is not valid JSON: $(fault)"
  fi
  refuse "The query failed: $(fault)"
}

read_payload "$@"
jq -j '.params.query // ""' "$scratch/payload" >"$scratch/query"
jq -j '.params.json // ""' "$scratch/payload" >"$scratch/json"
rm "$scratch/payload"
grep -q '[^[:space:]]' "$scratch/query" || refuse "The query is empty: write a jq program, as .items[] | .name"
grep -q '[^[:space:]]' "$scratch/json" || refuse "The parameter json is empty."

status=0
run_query || status=$?
is_cut=false
if (($(wc -c <"$scratch/results") > results_max)); then
  is_cut=true
  # jq was stopped while it wrote, so the last line is half of one.
  head -c "$results_max" "$scratch/results" | sed '$d' >"$scratch/whole"
  mv "$scratch/whole" "$scratch/results"
  [[ -s $scratch/results ]] || refuse "The first result is larger than $results_max bytes: narrow the query."
elif ((status != 0)); then
  tell_fault "$status"
fi
jq -c -n -L "$tool" --arg is_cut "$is_cut" --arg text_max "$text_max" --rawfile query "$scratch/query" \
  -f "$tool/answer.jq" "$scratch/results"
