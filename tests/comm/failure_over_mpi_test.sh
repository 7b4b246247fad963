#!/bin/sh
# What goes wrong on one rank ends all of them with its code, and is said: PROGRAM PLUGIN.
set -eu
here=$(dirname "$0")
command -v mpirun >/dev/null || exit 77

# expect KIND WORDS: the run ends with code 6, and rank 1 says these words.
expect() {
    code=0
    said=$(timeout 60 "$here/with-mpirun" 2 "$program" "$plugin" "$1" 2>&1) || code=$?
    if [ $code != 6 ] || ! echo "$said" | grep -qF "rank 1: $2"; then
        echo "$1: code $code, and not 'rank 1: $2', but:"
        echo "$said"
        failed=1
    fi
}

program=$1
plugin=$2
failed=0
expect end 'it has had enough'
expect waiting 'it waits'
expect long 'receiving from rank 0: MPI_ERR_TRUNCATE: message truncated'
expect short 'rank 0 sends 8 bytes where 16 are expected: ranks differ in what they exchange'
expect group 'mpi: a group is not the same on all ranks'
exit $failed
