# Makes what a container runtime makes: own processes, own IPC, a read-only root with a few tmpfs in it, a uid without
# privileges. Called as PID 1 of new namespaces: root.sh ROOT UID INIT [WORDS...]
set -e
root=$1 uid=$2
shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
for volume in tmp dev/shm; do mount -t tmpfs -o mode=1777,nosuid,nodev,size=64m tmpfs "$root/$volume"; done
for volume in ${VOLUMES-}; do mount -t tmpfs -o "${VOLUME_OPTIONS-mode=1777}" tmpfs "$root/$volume"; done
if [ -z "${WITHOUT_QUEUES-}" ]; then mount -t mqueue mqueue "$root/dev/mqueue" && chmod 1777 "$root/dev/mqueue"; fi
for shared in ${SHARED-}; do
  mount --bind "/$shared" "$root/$shared"
  mount -o remount,bind,ro "$root/$shared"
done
if [ -n "${CGROUP-}" ]; then
  echo $$ >"$CGROUP/cgroup.procs"
  mount --bind "$CGROUP" "$root/sys/fs/cgroup/memory"
  mount -o remount,bind,ro "$root/sys/fs/cgroup/memory"
fi
[ -n "${WRITABLE_ROOT-}" ] || mount -o remount,bind,ro "$root"
cd "$root"
exec env -i PATH=/bin HOME=/tmp FROM_CONTAINER=yes ASAN_OPTIONS=detect_leaks=0 \
  "$(command -v setpriv)" --no-new-privs "$(command -v chroot)" --userspec="$uid:$uid" --groups= "$root" ${LAUNCHER-} "$@"
