#!/bin/sh
# Shows that `make demo` (without a terminal) and `make check` work on a Debian 12 that has nothing
# but its base system and make: debootstraps one, clones the committed tree into it, runs both.
#
#   tests/peers/chroot.sh [DIRECTORY]        as root; `make check-chroot` calls it
#
# Mirror, proxy and keys are those of this machine's apt. Everything is made below one new directory
# in DIRECTORY (/var/tmp) and mounted in a mount and process name space of its own: when this ends,
# by whatever cause, no mount and no process is left, and the directory is removed.
set -eu
SRC=$(cd "$(dirname "$0")/../.." && pwd)
suite=bookworm

# Lines `URI SUITE COMPONENTS…` from both forms of apt's sources.
apt_sources() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    awk '$1 == "deb" { sub(/^deb[ \t]+(\[[^]]*\])?[ \t]*/, ""); print }' || true
  # An empty line ends a stanza; one is put after each file.
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && cat "$file" && echo
  done | awk '
    function flush(   i, j, uri, name, n_uris, n_names) {
      if (types ~ /(^| )deb( |$)/ && enabled != "no") {
        n_uris = split(uris, uri, " ")
        n_names = split(suites, name, " ")
        for (i = 1; i <= n_uris; i++)
          for (j = 1; j <= n_names; j++)
            print uri[i], name[j], components
      }
      types = uris = suites = components = enabled = ""
    }
    function value(   text) { text = $0; sub(/^[^:]*:[ \t]*/, "", text); return text }
    /^[ \t]*$/ { flush(); next }
    /^Types:/ { types = value() }
    /^URIs:/ { uris = value() }
    /^Suites:/ { suites = value() }
    /^Components:/ { components = value() }
    /^Enabled:/ { enabled = value() }
    END { flush() }' || true
}

# Of them, those of the suite itself: its updates and security fixes, but no third parties.
debian_sources() {
  apt_sources | awk -v suite=$suite '
    $2 ~ "^" suite "(-updates|-security|/updates)?$" && / main( |$)/ && !seen[$0]++'
}

# What apt has to know to reach its mirrors: proxies, time-outs, what it may ignore.
apt_configuration() {
  apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|Check|AllowInsecure|Force)' || true
}

# Everything from here on happens in the name spaces. $1 is the root to fill.
inside() {
  root=$1
  mirror=$(debian_sources | awk -v suite=$suite '$2 == suite { print $1; exit }')
  if [ -z "$mirror" ]; then
    echo "chroot.sh: apt knows no mirror of $suite" >&2
    exit 77
  fi
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  export http_proxy="${http_proxy-}" https_proxy="${https_proxy-}"
  include='make'
  case $(debian_sources) in *https:*) include=make,ca-certificates ;; esac

  step 1 'debootstrap' debootstrap --variant=minbase --include=$include $suite "$root" "$mirror"
  debian_sources | sed 's/^/deb /' >"$root/etc/apt/sources.list"
  apt_configuration >"$root/etc/apt/apt.conf.d/10as-outside"
  cp -a /etc/apt/trusted.gpg.d /etc/apt/keyrings "$root/etc/apt/" 2>/dev/null || true
  if [ -s /etc/ssl/certs/ca-certificates.crt ] && [ -d "$root/etc/ssl/certs" ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  fi
  rm -f "$root"/var/lib/apt/lists/*_Packages*

  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  git clone --quiet --no-hardlinks "$SRC" "$root/root/pult"
  failed=false
  step 60 'make demo' in_root "$root" make demo || failed=true
  step 25 'make check' in_root "$root" make check || failed=true
  ! $failed
}

in_root() {
  chroot "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root TERM=dumb LC_ALL=C.UTF-8 http_proxy="$http_proxy" https_proxy="$https_proxy" \
    sh -c 'cd /root/pult && shift && exec "$@"' sh "$@"
}

# step LINES NAME COMMAND…: how long it took and its last LINES lines; all of it if it failed.
step() {
  lines=$1 name=$2
  shift 2
  started=$(date +%s)
  status=0
  "$@" </dev/null >"$root.log" 2>&1 || status=$?
  echo "--- $name: exit status $status after $(($(date +%s) - started)) s"
  if [ $status = 0 ]; then
    tail -n "$lines" "$root.log"
  else
    cat "$root.log"
    return 1
  fi
}

if [ "${1-}" = --inside ]; then
  inside "$2"
  exit
fi

if [ "$(id -u)" != 0 ]; then
  echo "chroot.sh: only root can debootstrap and chroot" >&2
  exit 77
fi
[ -z "$(git -C "$SRC" status --porcelain)" ] || echo 'note: what is not committed is not tested'
place=$(mktemp -d "${1:-/var/tmp}/pult-chroot.XXXXXX")
child=
# unshare holds off INT and TERM; killed, it takes everything in its name spaces along. What dies
# may still be writing while the directory is first removed.
clean() {
  [ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true
  rm -rf --one-file-system "$place" 2>/dev/null || { sleep 2 && rm -rf --one-file-system "$place"; }
}
trap clean EXIT
trap 'exit 130' INT TERM HUP
mkdir "$place/root"
unshare --mount --propagation private --pid --fork --kill-child \
  "$SRC/tests/peers/chroot.sh" --inside "$place/root" &
child=$!
status=0
wait "$child" || status=$?
child=
exit $status
