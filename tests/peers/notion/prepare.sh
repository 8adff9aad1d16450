#!/usr/bin/env bash
# Runs in .peers/notion: the schema of the official typings, random blocks of official shape, and the
# requests that the product's own tests make.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
cp "$here/types.ts" .
npx --no-install ts-json-schema-generator --path types.ts --type '*' --no-type-check --out schema.json
node "$here/random_blocks.cjs" schema.json blocks.json 2000 20261102

# Every request that tests of the Notion adapter send to the stand-in is kept, for the official
# document to judge. The tests themselves are judged by "make test".
rm -rf recordings
mkdir recordings
if compgen -G "$root/tests/adapters/sources/test_notion*.py" > /dev/null; then
    (cd "$root" && FOOTNOTE_RECORD="$PWD/.peers/notion/recordings" \
        "$PYTHON" -m pytest -q -p no:cacheprovider tests/adapters/sources)
fi
