#!/usr/bin/env bash
# Builds the Dockerfile and tries the image: bash tools/image.sh [FOLDER].
#
# The image runs without a network, on a read-only root, without capabilities, as its user without rights: the app must
# answer on loopback, and a run must end. By docker or podman where one of them answers. Elsewhere (as root, on Debian)
# it needs `apt-get install buildah debootstrap`, and the base is a bare Debian with Python, for a registry may be out of
# reach; FOLDER (default: a temporary one, removed) keeps the image store then, about 4 GB.
set -euo pipefail
cd "$(dirname "$0")/.."

health='import urllib.request as u; u.urlopen("http://127.0.0.1:8501/_stcore/health", timeout=3)'
job='dpsyn sample demo && dpsyn synth demo/sample.csv --schema demo/sample.schema.json --epsilon 1 --delta 1e-9 --out s.csv --manifest m.json --quiet'

contained() { # by the runtime that is named
  local box locked=(--read-only --network none --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp)
  "$1" build --tag dpsyn-studio .
  test "$("$1" run --rm dpsyn-studio id -u)" -ne 0
  if "$1" run --rm "${locked[@]}" dpsyn-studio touch /home/dpsyn/x /opt/kernels/x 2>/dev/null; then
    echo "the root is not read-only"
    return 1
  fi
  box=$("$1" run --detach "${locked[@]}" dpsyn-studio)
  trap "$1 rm --force $box >/dev/null" EXIT
  for _ in $(seq 120); do
    "$1" exec "$box" python -c "$health" 2>/dev/null && break
    sleep 0.5
  done
  "$1" exec "$box" python -c "$health"
  echo "the app answers, without a network, on a read-only root"
  "$1" exec --workdir /tmp "$box" sh -c "$job"
}

inside() { # in namespaces of its own, where nothing but the image is to be harmed
  local root=$1 data=$2
  ip link set lo up
  mount --bind "$root" "$root"
  mount -o remount,ro,bind "$root"
  mount -t tmpfs tmpfs "$root/tmp"
  mount --bind "$data" "$root/home/dpsyn/data"
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  within() {
    chroot --userspec=dpsyn "$root" env -i HOME=/home/dpsyn PATH=/opt/dpsyn/bin:/usr/bin:/bin \
      DPSYN_HOME=/home/dpsyn/data NUMBA_CACHE_DIR=/opt/kernels PYTHONDONTWRITEBYTECODE=1 \
      STREAMLIT_SERVER_ADDRESS=0.0.0.0 LANG=C.UTF-8 sh -c "cd /home/dpsyn && $1"
  }
  if within "touch /home/dpsyn/x /opt/kernels/x" 2>/dev/null; then
    echo "the root is not read-only"
    return 1
  fi
  within "exec dpsyn app --no-browser --port 8501" &
  for _ in $(seq 120); do
    within "python -c '$health'" 2>/dev/null && break
    sleep 0.5
  done
  within "python -c '$health'"
  echo "the app answers, without a network, on a read-only root"
  within "cd /tmp && $job"
}

if [ "${1:-}" = --inside ]; then
  inside "$2" "$3"
  exit
fi

for runtime in docker podman; do
  if "$runtime" info >/dev/null 2>&1; then
    contained "$runtime"
    exit
  fi
done

folder=${1:-$(mktemp -d)}
mkdir -p "$folder/context" "$folder/data"
[ -n "${1:-}" ] || trap 'rm -rf "$folder"' EXIT
store=(buildah --root "$folder/store" --runroot "$folder/run" --storage-driver vfs)

if ! "${store[@]}" inspect --type image localhost/base >/dev/null 2>&1; then
  mirror=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
    sed -n 's/^URIs: *//p; s/^deb \(http\S*\).*/\1/p' | sed -n 1p) || true
  debootstrap --variant=minbase --include=python3,python3-venv,python-is-python3,ca-certificates \
    stable "$folder/base" ${mirror:+"$mirror"} >"$folder/base.log"
  base=$("${store[@]}" from scratch)
  "${store[@]}" add --quiet "$base" "$folder/base" / >/dev/null
  "${store[@]}" commit --quiet --rm "$base" localhost/base >/dev/null
fi

# how this machine reaches the package index is lent to the build and stays out of the image
lent=()
for path in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt $(python3 -m pip config list 2>/dev/null |
  grep -oE "(file://)?/[^ ',]+" | sed 's#^file://##; s#/simple/*$##'); do
  [ -e "$path" ] && lent+=(--volume "$path:$path:ro")
done
git ls-files -z | tar --null -T - -cf - | tar -C "$folder/context" -xf -
"${store[@]}" bud --isolation chroot "${lent[@]}" --build-arg BASE=localhost/base -t dpsyn-studio "$folder/context"

box=$("${store[@]}" from dpsyn-studio)
root=$("${store[@]}" mount "$box")
chown "$(stat -c %u:%g "$root/home/dpsyn/data")" "$folder/data"
unshare --net --mount --pid --fork --kill-child bash tools/image.sh --inside "$root" "$folder/data"
"${store[@]}" rm "$box" >/dev/null
