#!/bin/sh
# Removes from a node_modules what no process ever reads: types, source maps, documents and tests, and the second copies in which some
# packages come (for require, for browsers). It is two thirds of what npm installs.
set -eu
cd "${1:?the folder of node_modules}"

find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.flow' \
  -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.tsx' \
  -o -iname '*.md' ! -iname 'license*' -o -name '*.markdown' \) -delete
find . -type d \( -name test -o -name tests -o -name __tests__ -o -name docs -o -name doc -o -name example -o -name examples \
  -o -name benchmark -o -name benchmarks -o -name .github \) \
  -exec sh -c 'grep -q "\"name\"" "$1/../package.json" 2>/dev/null && rm -r "$1"' sh {} \; -prune
rm -rf ./@types ./*/node_modules/@types

# Each of these is imported, never required.
rm -rf ./stripe/cjs ./@cantoo/pdf-lib/cjs ./@cantoo/pdf-lib/src ./@cantoo/pdf-lib/ts3.4 ./@cantoo/pdf-lib/dist/*.js
[ ! -d drizzle-orm ] || find drizzle-orm -name '*.cjs' -delete
# For browsers.
rm -f ./pdfkit/js/pdfkit.browser* ./pdfkit/js/pdfkit.standalone* ./pdfkit/js/*.old.* ./fontkit/dist/browser*
find . -type d -empty -delete
