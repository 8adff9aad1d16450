#!/usr/bin/env bash
# Runs in .peers/slack: the schema of the official typings.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cp "$here/types.ts" .
npx --no-install ts-json-schema-generator --path types.ts --type '*' --no-type-check --out schema.json
