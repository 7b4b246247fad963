#!/bin/sh
# The library is installed under a prefix of its own, the example is built against it with pkg-config
# alone and says what the program says: embed_test.sh EXAMPLE BUILD CMAKE CC
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
cp "$example/main.c" "$example/Makefile" "$scratch"
make -C "$scratch" CC="$compiler" CFLAGS='-Wall -Wextra -Werror' >"$scratch/made"

three='1xrtx6000ada + 2xrtx3090 @ 32GB/s'
"$scratch/embed" gpt2 "$three" 16 "$scratch/plan.json" >"$scratch/printed"
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
"$scratch/embed" gpt2 2xrtx3091 16 >"$scratch/none" 2>"$scratch/said" || status=$?
[ "$status" = 4 ] || complain "an unknown device ends with $status"
grep -q 'did you mean rtx3090' "$scratch/said" || complain "an unknown device is told as: $(cat "$scratch/said")"

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
