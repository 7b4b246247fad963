# Read by the tests of examples that train (". …/common.sh"): "$example" is the folder of the example,
# "$scratch" one that is gone at the end, and the test ends with end_test.
# shellcheck shell=sh
example=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
complain() {
    echo "$1"
    failed=1
}

# Runs the quick form with a program, enters its folder, and looks for its files: run_quick YOKE FILE…
run_quick() {
    YOKE=$1 "$example/run" --quick "$scratch/out" >"$scratch/said" 2>"$scratch/progress" ||
        complain "it fails:
$(cat "$scratch/said" "$scratch/progress")"
    shift
    cd "$scratch/out" || exit 1
    for file; do
        [ -s "$file" ] || complain "there is no $file"
    done
    [ "$failed" = 0 ] || exit 1
}

# The form for GPUs refuses what is said in its environment: refused_with YOKE SENTENCE NAME=VALUE
refused_with() {
    status=0
    env PRETEND=1 YOKE="$1" "$3" "$example/gpu" "$scratch/refused" >"$scratch/words" 2>&1 || status=$?
    [ "$status" = 2 ] || complain "$3 ends with $status"
    grep -qF -- "$2" "$scratch/words" || complain "$3: $(cat "$scratch/words")"
}

# The README shows lines of table.md as they are now: shown_in_readme PATTERN…
shown_in_readme() {
    for pattern; do
        grep -- "$pattern" table.md
    done | while read -r line; do
        grep -qxF -- "$line" "$example/README.md" || echo "$line"
    done >"$scratch/missing"
    [ ! -s "$scratch/missing" ] || complain "README.md does not show:
$(cat "$scratch/missing")"
}

end_test() { exit "$failed"; }
