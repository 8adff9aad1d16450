#!/usr/bin/env bash
# Checks against peers that others wrote: official typings, API documents, clients and servers.
# Needs Node 20. Installs exact versions into .peers/ (git-ignored); fails on any failure.
#
#   tests/peers/run.sh            every section
#   tests/peers/run.sh notion     one section
#
# A section is a folder here with a package.json (exact versions), an optional prepare.sh that runs
# inside .peers/<section>, and pytest modules. PYTHON names the interpreter to use.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
if [ -z "${PYTHON:-}" ]; then
    PYTHON="$root/.venv/bin/python"
    [ -x "$PYTHON" ] || PYTHON=python3
fi
export PYTHON
export FOOTNOTE_PEERS="$root/.peers"
sections=("$@")
if [ ${#sections[@]} -eq 0 ]; then
    for folder in "$here"/*/; do
        [ -f "$folder/package.json" ] && sections+=("$(basename "$folder")")
    done
fi

major="$(node --version | sed 's/^v\([0-9]*\).*/\1/')"
if [ "$major" -lt 20 ]; then
    echo "The peers need Node 20 or newer, this is $(node --version)." >&2
    exit 1
fi

cd "$root"
for section in "${sections[@]}"; do
    echo "== peers: $section"
    work="$FOOTNOTE_PEERS/$section"
    mkdir -p "$work"
    if ! cmp -s "$here/$section/package.json" "$work/package.json" || [ ! -d "$work/node_modules" ]; then
        rm -rf "$work/node_modules"
        cp "$here/$section/package.json" "$work/package.json.new"
        mv "$work/package.json.new" "$work/package.json"
        (cd "$work" && npm install --no-audit --no-fund --no-package-lock --loglevel=error) ||
            { rm -f "$work/package.json"; exit 1; }
    fi
    if [ -f "$here/$section/prepare.sh" ]; then
        (cd "$work" && bash "$here/$section/prepare.sh")
    fi
    "$PYTHON" -m pytest "tests/peers/$section"
done
