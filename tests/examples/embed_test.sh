#!/bin/sh
# The library is installed under a prefix of its own, the examples are built against it with pkg-config
# alone, and plan and train as the program does: embed_test.sh EXAMPLE BUILD CMAKE CC
set -eu
example=$1
build=$2
cmake=$3
compiler=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
complain() {
    echo "$1"
    failed=1
}
# The first number of that name in a JSON file, with six digits.
figure() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" "$2" | head -n 1 | xargs printf '%.6f'; }

"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/installed"
mv "$scratch/first" "$scratch/prefix" # yoke.pc says where things are, wherever they are moved
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name yoke.pc)")
export PKG_CONFIG_PATH
yoke=$scratch/prefix/bin/yoke
cp "$example"/*.c "$example/Makefile" "$scratch"
make -C "$scratch" CC="$compiler" CFLAGS='-Wall -Wextra -Werror' >"$scratch/made"

three='1xrtx6000ada + 2xrtx3090 @ 32GB/s'
"$scratch/plan" gpt2 "$three" 16 "$scratch/plan.json" >"$scratch/printed"
"$yoke" plan --model gpt2 --cluster "$three" --batch 16 --trials 300 --json --quiet >"$scratch/planned"
"$yoke" simulate "$scratch/plan.json" --json --quiet >"$scratch/simulated"
step=$(figure step_s "$scratch/planned")
grep -q "^step $step s, bound $(figure bound_s "$scratch/planned") s," "$scratch/printed" ||
    complain "the program plans a step of $step s, the example another one:
$(cat "$scratch/printed")"
[ "$(figure step_s "$scratch/simulated")" = "$step" ] || complain 'the saved plan takes another time'
[ "$(awk '/^gpu/ { sum += $2 } END { print sum }' "$scratch/printed")" = 16 ] ||
    complain 'the shares printed are not those of 16 samples'
while read -r line; do
    grep -qxF -- "$line" "$example/README.md" || complain "README.md does not show: $line"
done <"$scratch/printed"

status=0
"$scratch/plan" gpt2 2xrtx3091 16 >"$scratch/none" 2>"$scratch/said" || status=$?
[ "$status" = 4 ] || complain "an unknown device ends with $status"
grep -q 'did you mean rtx3090' "$scratch/said" || complain "an unknown device is told as: $(cat "$scratch/said")"

# The library says what it is, and takes from the system nothing that ends the process or prints; what
# it starts processes for, yoke.h says.
library=$(find "$scratch/prefix" -name 'libyoke.so.*.*.*')
readelf -d "$library" | grep -q 'SONAME.*\[libyoke\.so\.[0-9.]*\]' || complain 'the library has no soname'
nm -D --undefined-only "$library" | sed 's/@.*//' | awk '{ print $2 }' | grep -xE \
    '_?exit|_Exit|abort|v?f?printf|__v?f?printf_chk|puts|putchar|perror|v?dprintf|system|popen|vfork|exec[lv]p?e?|signal|setlocale' \
    >"$scratch/taken" && complain "the library takes from the system: $(cat "$scratch/taken")"
grep -q ' forks ' "$(find "$scratch/prefix" -name yoke.h)" || complain 'yoke.h does not say that it forks'

# The second example trains as the program does, to the last digit, continues, and prints nothing else.
text=$scratch/text.txt
i=0
while [ $i -lt 300 ]; do
    echo "line $((i % 7)) of a text that repeats itself" >>"$text"
    i=$((i + 1))
done
# losses FOLDER: those of metrics.jsonl, as the example prints them.
losses() {
    sed -n 's/^{"step": *\([0-9]*\), *"loss": *\([0-9.]*\).*/\1 \2/p' "$1/metrics.jsonl" |
        while read -r step loss; do printf '%d %.6f\n' "$step" "$loss"; done
}
printed() { sed -n 's/^step \([0-9]*\) of [0-9]*: loss \(.*\)/\1 \2/p' "$@"; }
"$yoke" train --model gpt-nano --data "$text" --out "$scratch/whole" --batch 4 --steps 6 --rate 1e-3 \
    --rate-rule constant --profile none --quiet >"$scratch/summary"
"$scratch/train" "$text" "$scratch/run" 4 >"$scratch/first" 2>"$scratch/errors"
"$scratch/train" "$text" "$scratch/run" 6 >"$scratch/second" 2>>"$scratch/errors"
losses "$scratch/whole" >"$scratch/expected"
[ "$(wc -l <"$scratch/expected")" = 6 ] || complain 'the program trained no 6 steps'
printed "$scratch/first" "$scratch/second" | diff "$scratch/expected" - ||
    complain 'the example trains otherwise than the program (above)'
[ "$(grep -cv '^step ' "$scratch/second")" = 1 ] || complain "the example prints more: $(cat "$scratch/second")"
grep -q "^1 rank, 6 steps, loss .*: $scratch/run/checkpoints/step-00000006\$" "$scratch/second" ||
    complain "the example ends with: $(tail -n 1 "$scratch/second")"
[ ! -s "$scratch/errors" ] || complain "standard error has: $(cat "$scratch/errors")"

# On two ranks, where there is what starts them; one goes on alone.
if command -v mpirun >"$scratch/found" && [ -n "$(find "$scratch/prefix" -name yoke-mpi.so)" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    two() { mpirun --oversubscribe -n 2 "$scratch/train" "$text" "$scratch/two" "$1"; }
    { two 2 && two 4 && "$scratch/train" "$text" "$scratch/two" 6; } >"$scratch/ranks" 2>"$scratch/errors" ||
        complain "two ranks end with: $(cat "$scratch/errors")"
    grep -q '^2 ranks, 4 steps' "$scratch/ranks" || complain "two ranks print: $(cat "$scratch/ranks")"
    # Sums in another order differ in the last bits.
    printed "$scratch/ranks" | paste -d ' ' "$scratch/expected" - |
        awk '$1 != $3 || ($2 - $4) ^ 2 > 1e-8 { print; bad = 1 } END { exit NR != 6 || bad }' ||
        complain 'two ranks train otherwise than one (above)'
    [ ! -s "$scratch/errors" ] || complain "standard error of two ranks has: $(cat "$scratch/errors")"
else
    echo 'there is no mpirun here: two ranks were not tried'
fi
status=0
"$scratch/train" "$scratch/nothing.txt" "$scratch/elsewhere" 2 >"$scratch/nothing" 2>"$scratch/said" || status=$?
[ "$status" = 4 ] || complain "a text that is missing ends with $status"
grep -q 'nothing.txt: No such file' "$scratch/said" || complain "a text that is missing: $(cat "$scratch/said")"

# The first program of docs/library.md is one.
# shellcheck disable=SC2016 # the backquotes are Markdown's
sed -n '/^```c$/,/^```$/{/^```/d;p;};/^}$/q' "$example/../../docs/library.md" >"$scratch/page.c"
# shellcheck disable=SC2046 # one word for each flag
"$compiler" -std=c11 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags yoke) "$scratch/page.c" ||
    complain 'docs/library.md shows a program that does not compile'
[ "$(grep -c yoke_ "$scratch/page.c")" -gt 5 ] || complain 'docs/library.md shows no program'

# The same headers in C++, where there is a compiler for it.
cat >"$scratch/version.cpp" <<'END'
#include <cstdio>
#include <yoke/yoke.h>
int main()
{
    const struct yoke_workload workload = yoke_workload();
    yoke_model *model = nullptr;
    if (yoke_model_open("gpt2", &workload, &model) != YOKE_OK) {
        return 1;
    }
    std::printf("%s %d\n", yoke_version(), static_cast<int>(yoke_model_info(model)->layer_count));
    yoke_model_destroy(model);
}
END
if command -v c++ >"$scratch/found"; then
    # shellcheck disable=SC2046 # one word for each flag
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$scratch/version.cpp" -o "$scratch/version" \
        $(pkg-config --cflags --libs yoke) "-Wl,-rpath,$(pkg-config --variable=libdir yoke)"
    [ "$("$scratch/version")" = "$(pkg-config --modversion yoke) 15" ] || complain 'C++ sees another version'
else
    echo 'there is no c++ here: the headers were not tried with it'
fi
exit $failed
