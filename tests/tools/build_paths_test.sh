#!/bin/sh
# What is installed does not name the folder that it was built in: build_paths_test.sh FOLDER FILE…
# Assertions, debug information and defaults may all carry such a path.
set -u
folder=$1
shift
failed=0
for file; do
    found=$(grep -a -o -F "$folder/" "$file" | wc -l)
    [ "$found" -eq 0 ] && continue
    failed=1
    echo "FAILED: $file names $folder $found times"
done
exit $failed
