#!/bin/sh
# Tests of tools/check-words: check_words_test.sh CHECK_WORDS. Lays out a small tree that passes, then
# breaks one rule at a time and expects the refusal to name the file, the line and the word.
set -eu
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

verdict() {
    if [ "$1" = yes ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $2; check-words said:"
        sed 's/^/    /' "$tree.said"
    fi
}

write() {
    mkdir -p "$tree/$(dirname "$1")"
    cat >"$tree/$1"
}

house() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/include" "$tree/tests" "$tree/bench" "$tree/tools" "$tree/examples"
    write src/sched/heft.c <<'END'
/* Words of a comment are free: take, put, wish. */
static int overtake = 0; // taken over
const char *yk_heft_text(void)
{
    return "a sentence may take any word, without harm";
}
int yk_heft_run(int output)
{
    return overtake + output;
}
END
}

run() {
    status=0
    "$check" "$tree" >"$tree.said" 2>&1 || status=$?
}

passes() {
    run
    if [ "$status" = 0 ]; then
        verdict yes
    else
        verdict no "$1 should pass"
    fi
}

# refused WHAT FRAGMENT: the check fails and one of its lines holds the fragment.
refused() {
    run
    if [ "$status" != 0 ] && grep -qF -- "$2" "$tree.said"; then
        verdict yes
    else
        verdict no "$1 should be refused with: $2"
    fi
}

house
passes 'a tree without retired words'

house
write src/sched/cpop.c <<'END'
int yk_cpop_take(void)
{
    return 0;
}
END
refused 'an identifier' 'src/sched/cpop.c:1: the identifier yk_cpop_take: "take" is retired'

house
echo 'struct yk_job_callbacks { int wish; };' | write include/job.h
refused 'a member' 'include/job.h:1: the identifier wish'

house
echo 'enum { YK_LEAST_ROUNDS = 3 };' | write tests/rounds_test.c
refused 'a constant in a test' 'tests/rounds_test.c:1: the identifier YK_LEAST_ROUNDS'

house
: | write src/sched/thrifty.c
refused 'a file name' 'src/sched/thrifty.c: the file name thrifty'

house
: | write tools/give-things
refused 'the name of a script' 'tools/give-things: the file name give-things'

house
echo 'static const char *const option = "--least-rate";' | write src/cli/rows.c
refused 'an option' 'src/cli/rows.c:1: the key or option --least-rate'

house
printf 'static int zero;\nstatic const char *const key = "messages_beside_compute";\n' | write src/plan/file.c
refused 'a key' 'src/plan/file.c:2: the key or option messages_beside_compute'

house
echo 'const wish = { told: 1 };' | write src/report/web/time_chart.js
refused 'an identifier of a script' 'src/report/web/time_chart.js:1: the identifier wish'

house
write src/sched/peft.c <<'END'
int yk_peft_run(int a,
                int b)
{
    return a + b;
}

int
yk_lookahead_run(int a, int b)
{
    return a + b;
}
END
refused 'a function that does not carry its file' \
    'src/sched/peft.c:8: yk_lookahead_run() does not carry the name of its file, peft'

house
write src/sched/groups.c <<'END'
int yk_group_count(int a);
static int yk_list_own(int a)
{
    return a;
}
int yk_group_count(int a)
{
    return yk_list_own(a);
}
END
passes 'a plural, a declaration and a static function'

rm -rf "${tree:?}"/*
refused 'an empty tree' 'there are no sources'

rm -f "$tree.said"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
