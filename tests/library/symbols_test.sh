#!/bin/sh
# The library exports the functions that its headers declare, and nothing else; each of them is called
# by a test: symbols_test.sh LIBRARY HEADERS TESTS
set -eu
library=$1
headers=$2
tests=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

nm -D --defined-only "$library" | awk '{ print $3 }' | sort >"$scratch/exported"
# A declaration may go over several lines; its name stands before the first parenthesis.
cat "$headers"/*.h | tr '\n' ' ' | tr ';' '\n' | sed -n 's/.*YOKE_API [^(]*[ *]\(yoke_[a-z_]*\)(.*/\1/p' |
    sort >"$scratch/declared"
[ "$(wc -l <"$scratch/declared")" -gt 50 ] || {
    echo 'no declarations were found'
    failed=1
}
if ! diff "$scratch/declared" "$scratch/exported" >"$scratch/difference"; then
    echo 'declared (<) and exported (>) differ:'
    cat "$scratch/difference"
    failed=1
fi
while read -r name; do
    grep -q "$name(\|, $name" "$tests"/*_test.c || {
        echo "no test calls $name"
        failed=1
    }
done <"$scratch/declared"
exit $failed
