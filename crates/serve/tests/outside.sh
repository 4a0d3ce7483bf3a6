#!/usr/bin/env bash
# `padir serve` and programs of others: Python clients of LibreTranslate, and the page in Chromium. Says what it skips.
#
#   crates/serve/tests/outside.sh PADIR [directory of screenshots]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
padir=$(realpath "$1")
pictures=${2:+$(mkdir -p "$2" && realpath "$2")}
work=$(mktemp -d)
skip() { printf '== skipped: %s\n' "$1"; }

"$padir" serve --models "$here/../../../models" --listen 127.0.0.1:0 --log off 2> "$work/said" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 600); do grep -q '^listening on ' "$work/said" && break; sleep 0.1; done
url=$(sed -n 's/^listening on //p' "$work/said")
[ -n "$url" ] || { cat "$work/said"; exit 1; }

if python3 -m venv "$work/venv" 2>/dev/null && "$work/venv/bin/pip" install --quiet libretranslatepy deep-translator 2>"$work/pip"; then
  printf '== Python clients\n'
  "$work/venv/bin/python" "$here/clients/clients.py" "$url"
else
  skip "Python clients (pip cannot install libretranslatepy and deep-translator)"
fi

# Debian's Chromium, where it can be installed.
if [ ! -x /usr/bin/chromium ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { timeout 120 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 400 apt-get install -y -qq --no-install-recommends chromium; } >"$work/apt" 2>&1 || true
fi
if [ -x /usr/bin/chromium ] && command -v npm >/dev/null && ( cd "$work" && npm install --silent --no-audit --no-fund playwright-core >/dev/null 2>&1 ); then
  printf '== the page in Chromium\n'
  ( cd "$work" && node "$here/browser/page.mjs" "$url" ${pictures:+"$pictures"} )
else
  skip "the page (needs /usr/bin/chromium, and npm that can install playwright-core)"
fi
