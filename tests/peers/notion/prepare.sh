#!/usr/bin/env bash
# Runs in .peers/notion: the schema of the official typings, random blocks of official shape, and the
# requests that the product's own tests make.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
cp "$here/types.ts" .
npx --no-install ts-json-schema-generator --path types.ts --type '*' --no-type-check --out schema.json
node "$here/random_blocks.cjs" schema.json blocks.json 2000 20261102

# Every request that the product sends to the stand-in in the tests of its Notion adapter is kept, for
# the official document to judge. Whether those tests pass is for "make test" to say.
rm -rf recordings
mkdir recordings
export FOOTNOTE_RECORD="$PWD/recordings"
cd "$root"
"$PYTHON" -m pytest -q -p no:cacheprovider tests/adapters/sources/test_notion_*.py
