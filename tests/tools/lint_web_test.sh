#!/bin/sh
# tools/lint finds what a browser could not read: lint_web_test.sh SOURCES. A folder of sound files passes; then
# one fault of each sort is planted. Skipped (77) where there is no Node.js.
set -eu
sources=$1
command -v node >/dev/null || exit 77

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$scratch/tools" "$scratch/src/web" "$scratch/tests"
cp "$sources/tools/lint" "$sources/tools/lint_web.js" "$scratch/tools/"

failed=0
sound() {
    printf 'const a = 1;\n' >"$scratch/src/web/a.js"
    printf 'function b() {\n  return a;\n}\n' >"$scratch/src/web/b.js"
    printf '/* { */\np{color:red}\n@media print{\na:hover{content:"}"}\n}\n' >"$scratch/src/web/c.css"
    printf '<!doctype html>\n<p class="x">{{slot}}<br>\n<b>y</b></p>\n' >"$scratch/src/web/d.html"
}

# expect WORDS: lint fails and says so.
expect() {
    if "$scratch/tools/lint" web >"$scratch/out" 2>&1; then
        echo "passed, though: $1"
        failed=1
    elif ! grep -qF -- "$1" "$scratch/out"; then
        echo "not said: $1"
        cat "$scratch/out"
        failed=1
    fi
    sound
}

sound
if ! "$scratch/tools/lint" web >"$scratch/out" 2>&1; then
    echo 'sound files do not pass:'
    cat "$scratch/out"
    failed=1
fi
printf 'function b() {\n  return (a;\n}\n' >"$scratch/src/web/b.js"
expect 'src/web/b.js:2: '
printf 'const a = 2;\n' >"$scratch/src/web/b.js" # in the scope that a.js has put it in
expect 'has already been declared'
printf 'p{color:red}\na{b:c\n' >"$scratch/src/web/c.css"
expect 'src/web/c.css:2: { is not closed'
printf 'p{color:red}}\n' >"$scratch/src/web/c.css"
expect 'src/web/c.css:1: } closes nothing'
printf 'p{\n  color red}\n' >"$scratch/src/web/c.css"
expect 'src/web/c.css:2: not a declaration: color red'
printf '<p>\n<b>x</p>\n' >"$scratch/src/web/d.html"
expect 'src/web/d.html:2: </p> closes <b>'
printf '<p>\n<b>x</b>\n' >"$scratch/src/web/d.html"
expect 'src/web/d.html:1: <p> is not closed'
printf '<p class=x">y</p>\n' >"$scratch/src/web/d.html"
expect 'src/web/d.html:1: '
exit $failed
