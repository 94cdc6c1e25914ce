# Does its small work, and notices when it is not alone.
set -eu
shopt -s nullglob dotglob
processes=(/proc/[0-9]*)
left=(/tmp/* /dev/shm/*)
echo "$1 ${#processes[@]} ${#left[@]}"
