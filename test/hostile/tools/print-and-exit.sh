printf '%s' "$1"
printf '%s' "$1" >&2
exit 7
