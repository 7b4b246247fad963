#!/bin/sh
# Tests of tools/check-layers: check_layers_test.sh CHECK_LAYERS. Lays out a small house that passes,
# then breaks one rule at a time and expects the refusal to name the file, the line and the fault.
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
        echo "FAILED: $2; check-layers said:"
        sed 's/^/    /' "$tree/said"
    fi
}

write() {
    mkdir -p "$tree/src/$(dirname "$1")"
    cat >"$tree/src/$1"
}

# public file.h [LINE]: a sound public header that also holds LINE, as its line 3.
public() {
    mkdir -p "$tree/include/yoke"
    guard=YOKE_$(echo "$1" | tr 'a-z.' 'A-Z_')
    printf '#ifndef %s\n#define %s\n%s\n#endif\n' "$guard" "$guard" "${2:-}" >"$tree/include/yoke/$1"
}

# header layer/file.h [LINE]: a sound header that also holds LINE, as its line 3.
header() {
    guard=YK_$(echo "$1" | tr 'a-z/.' 'A-Z__')
    printf '#ifndef %s\n#define %s\n%s\n#endif\n' "$guard" "$guard" "${2:-}" | write "$1"
}

house() {
    rm -rf "$tree/src" "$tree/include" "$tree/build"
    public plan.h 'int yoke_plan(void);'
    header base/text.h 'struct yk_text;'
    header graph/graph.h '#include "base/text.h"'
    header sched/schedule.h '#include "graph/graph.h"'
    header trace/trace.h '#include "base/text.h"'
    header comm/comm.h 'struct yk_comm_backend { void (*abort)(int); };'
    write base/json.c <<'END'
#include <jansson.h>
END
    write graph/graph.c <<'END'
#include "graph/graph.h"

#include <stdio.h>
/* Nothing here prints: printf("…") and exit(1) in a comment are only words. */
const char *yk_graph_word(char *out) { snprintf(out, 9, "x"); return "abort(); puts(\"a\") // stderr"; }
END
    header backend/cuda/rows.cuh '#include <cuda_bf16.h>'
    write backend/cuda/rows.cu <<'END'
#include "backend/cuda/rows.cuh"

#include <cublasLt.h>
#include <cudnn.h>
#include <nvtx3/nvToolsExt.h>
END
    write comm/comm.c <<'END'
#include "comm/comm.h"
void yk_comm_end(struct yk_comm_backend *comm) { comm->abort(1); }
END
    header job/job.h '#include "sched/schedule.h"'
    write cli/main.c <<'END'
#include "job/job.h"
#include <stdio.h>
int main(void) { printf("cli may print\n"); return 0; }
END
    write library/plan.c <<'END'
#include "sched/schedule.h"
#include <yoke/plan.h>
int yoke_plan(void) { return 0; }
END
}

# build FILE…: these sources of the house compiled, and what CMake writes down of that. A source of base
# is in two targets: the program's, and a plug-in's that has some of base too.
build() {
    mkdir -p "$tree/build/release"
    for file; do
        object=CMakeFiles/yoke.dir/src/$file.o
        [ "${file#base/plugin}" = "$file" ] || object=CMakeFiles/plugin.dir/src/$file.o
        mkdir -p "$tree/build/release/$(dirname "$object")"
        ${CC:-cc} -I"$tree/src" -c -o "$tree/build/release/$object" "$tree/src/$file"
        printf '{\n  "directory": "%s",\n  "command": "cc -o %s -c",\n  "file": "%s"\n},\n' \
            "$tree/build/release" "$object" "$tree/src/$file"
    done >"$tree/build/release/compile_commands.json"
}

run_check() { "$check" "$tree" >"$tree/said" 2>&1; }

# refused NAME PLACE MESSAGE [FOLDER]: the house as it stands is refused with that message at that place.
refused() {
    if run_check; then
        verdict no "$1 is not refused"
    elif grep -F "${4:-src}/$2" "$tree/said" | grep -qF "$3"; then
        verdict yes "$1"
    else
        verdict no "$1: expected src/$2 … $3"
    fi
    house
}

house
if run_check; then verdict yes; else verdict no 'the sound house is refused'; fi

header base/text.h '#include "graph/graph.h"'
refused 'base using a layer' base/text.h:3: 'base must not use graph'

header graph/graph.h '#include "sched/schedule.h"'
refused 'an arrow upwards' graph/graph.h:3: 'graph must not use sched: it is above graph'

header sched/schedule.h '#include "trace/trace.h"'
refused 'an arrow along a row' sched/schedule.h:3: 'sched must not use trace: they are in one row'

header attic/box.h
refused 'an unknown layer' attic/box.h:1: 'there is no layer attic'

header sched/graph/graph.h 'struct yk_sched_graph;'
refused 'a header that hides a layer' sched/schedule.h:3: '"graph/graph.h" means src/sched/graph/graph.h here'

header stray.h
refused 'a file outside all layers' stray.h:1: 'a source stands in a layer'

header sched/schedule.h '#include "attic/box.h"'
refused 'an include of an unknown layer' sched/schedule.h:3: 'there is no layer attic'

header sched/schedule.h '#include "schedule.h"'
refused 'an include without its layer' sched/schedule.h:3: 'with its layer'

header sched/schedule.h '#include <graph/graph.h>'
refused 'a header of ours in angle brackets' sched/schedule.h:3: 'included with quotes'

header sched/schedule.h '  #  include "cli/main.h" // spaced out'
refused 'a disguised include' sched/schedule.h:3: 'sched must not use cli'

write graph/graph.c <<'END'
#include <stdio.h>
#include "graph/graph.h"
END
refused 'another header before the own one' graph/graph.c:1: 'the first include must be the own header'

write graph/graph.h <<'END'
/* A graph. */
#ifndef GRAPH_H
#define GRAPH_H
#endif
END
refused 'a guard of another name' graph/graph.h:2: '#ifndef YK_GRAPH_GRAPH_H'

write graph/graph.h <<'END'
#ifndef YK_GRAPH_GRAPH_H
#define YK_GRAPH_H
#endif
END
refused 'a guard that is never defined' graph/graph.h:2: '#define YK_GRAPH_GRAPH_H'

write backend/cpu/ops.h <<'END'
#ifndef YK_BACKEND_OPS_H
#define YK_BACKEND_OPS_H
#endif
END
refused 'a guard without the inner folder' backend/cpu/ops.h:1: 'YK_BACKEND_CPU_OPS_H'

header sched/schedule.h 'yk_unknown_type yk_lonely(void);'
refused 'a header that leans on another' sched/schedule.h:3: 'unknown type name'

write backend/cuda/rows.cuh <<'END'
#ifndef YK_BACKEND_CUDA_ROWS_H
#define YK_BACKEND_CUDA_ROWS_H
#endif
END
refused 'a guard of a header for nvcc' backend/cuda/rows.cuh:1: 'YK_BACKEND_CUDA_ROWS_CUH'

header backend/cuda/rows.cuh
printf '#include "base/text.h"\n#include "backend/cuda/rows.cuh"\n' | write backend/cuda/rows.cu
refused 'another header before the own one, of nvcc' backend/cuda/rows.cu:1: '"backend/cuda/rows.cuh"'

header backend/cuda/rows.h
printf '#include "backend/cuda/rows.cuh"\n#include "backend/cuda/rows.h"\n' | write backend/cuda/rows.cu
refused 'a kernel before its declaration' backend/cuda/rows.cu:1: '"backend/cuda/rows.h"'

echo '#include "sched/schedule.h"' | write backend/cuda/rows.cu
refused 'an arrow upwards from a kernel' backend/cuda/rows.cu:1: 'backend must not use sched: it is above backend'

printf '#include "base/text.h"\n__global__ void f() { printf("x"); }\n' | write backend/cuda/rows.cu
refused 'a kernel that prints' backend/cuda/rows.cu:2: 'printf() in a library layer'

for library in jansson.h sqlite3.h mpi.h nccl.h cuda_runtime.h cublas_v2.h cublasLt.h cudnn.h nvtx3/nvToolsExt.h; do
    echo "#include <$library>" | write cli/main.c
    refused "$library outside its wrapper" cli/main.c:1: "<$library> is wrapped elsewhere"
done

echo '#include "jansson.h"' | write cli/main.c
refused 'a wrapped header in quotes' cli/main.c:1: '<jansson.h> is wrapped elsewhere'

echo '#include <sqlite3.h>' | write profile/profile.c
echo '#include <sqlite3.h>' | write profile/second.c
refused 'a second wrapper' profile/second.c:1: 'included by src/profile/profile.c already'

for call in 'exit(1)' '_exit(1)' 'abort()' 'printf("x")' 'fprintf(f, "x")' 'puts ("x")' 'perror("x")'; do
    printf '#include "graph/graph.h"\nvoid f(void) { %s; }\n' "$call" | write graph/graph.c
    refused "$call in a library layer" graph/graph.c:2: "${call%%[ (]*}() in a library layer"
done

printf '#include "graph/graph.h"\nvoid f(void) { /* a */ fputs("x", stderr); }\n' | write graph/graph.c
refused 'writing to standard error' graph/graph.c:2: 'belong to cli'

printf '#include "graph/graph.h"\n/* one\n two */ void f(void) { abort(); }\n' | write graph/graph.c
refused 'a call after a comment of two lines' graph/graph.c:3: 'abort() in a library layer'

printf '#include <yoke/plan.h>\n' | write sched/second.c
refused 'a public header below the library' sched/second.c:1: 'public headers are for others'

header planner/plan.h '#include "library/plan.h"'
refused 'the library below itself' planner/plan.h:3: 'planner must not use library: it is above planner'

public plan.h '#include <jansson.h>'
refused 'a library in a public header' yoke/plan.h:3: 'alone' include

public plan.h '#include "base/text.h"'
refused 'a layer in a public header' yoke/plan.h:3: 'alone' include

public plan.h 'yoke_unknown yoke_lonely(void);'
refused 'a public header that leans on another' yoke/plan.h:3: 'unknown type name' include

printf '#ifndef PLAN_H\n#define PLAN_H\n#endif\n' >"$tree/include/yoke/plan.h"
refused 'a public guard of another name' yoke/plan.h:1: '#ifndef YOKE_PLAN_H' include

header cli/page.h '#include "sched/schedule.h"'
refused 'the command line using more than it may' cli/page.h:3: 'cli must not use sched: it uses only job, report, base'

header cli/page.h '#include "library/plan.h"'
refused 'the command line using the library' cli/page.h:3: 'cli must not use library: they are in one row'

# calling FILE NAME OTHER…: a source with one function, which calls the others.
calling() {
    file=$1
    name=$2
    shift 2
    {
        [ $# = 0 ] || printf 'int %s(void);\n' "$@"
        echo "int $name(void) { return 0"
        [ $# = 0 ] || printf ' + %s()\n' "$@"
        echo '; }'
    } | write "$file"
}

# passes NAME: the house as it stands is not refused.
passes() {
    if run_check; then verdict yes; else verdict no "$1 is refused"; fi
    house
}

calling base/status.c yk_fail
calling base/plugin/host.c yk_fail
calling base/list.c yk_list yk_fail
calling graph/order.c yk_transfer_order yk_list yk_fail
calling graph/walk.c yk_walk yk_transfer_order
calling job/plan.c yk_job_callbacks yk_walk yk_transfer_order
calling cli/main.c main yk_job_callbacks yk_fail
build base/status.c base/plugin/host.c base/list.c graph/order.c graph/walk.c job/plan.c cli/main.c
passes 'a house in which all calls go down'

# The header of job brings the call in; no #include line of cli shows it.
calling sched/heft.c yk_heft
header job/job.h 'int yk_heft(void);'
printf '#include "job/job.h"\nint main(void) { return yk_heft(); }\n' | write cli/main.c
build sched/heft.c cli/main.c
refused 'a call past job' cli/main.c: 'calls yk_heft in src/sched/heft.c: cli must not use sched: it uses only job'

echo 'const int yk_kinds[] = {1, 2};' | write sched/kinds.c
printf 'extern const int yk_kinds[];\nint main(void) { return yk_kinds[0]; }\n' | write cli/main.c
build sched/kinds.c cli/main.c
refused 'data past job' cli/main.c: 'uses yk_kinds in src/sched/kinds.c: cli must not use sched'

calling graph/order.c yk_transfer_order yk_heft
calling sched/heft.c yk_heft
build graph/order.c sched/heft.c
refused 'a call upwards' graph/order.c: 'calls yk_heft in src/sched/heft.c: graph must not use sched: it is above graph'

calling graph/order.c yk_transfer_order yk_walk
calling graph/walk.c yk_walk yk_transfer_order
build graph/order.c graph/walk.c
refused 'two files that call each other' graph/order.c: \
    'calls yk_walk in src/graph/walk.c, which calls yk_transfer_order back: move what both need below both'

calling graph/deep/order.c yk_transfer_order yk_walk
calling graph/walk.c yk_walk yk_transfer_order
build graph/deep/order.c graph/walk.c
refused 'two folders of a layer that call each other' graph/deep/order.c: 'which calls yk_transfer_order back'

# A file that calls into the circle and one that is called from it are not named.
calling graph/top.c yk_top yk_a
calling graph/a.c yk_a yk_b
calling graph/b.c yk_b yk_c yk_low
calling graph/c.c yk_c yk_a yk_low
calling graph/low.c yk_low
build graph/top.c graph/a.c graph/b.c graph/c.c graph/low.c
refused 'three files in a circle' graph/a.c: \
    'calls yk_b in src/graph/b.c, which calls yk_c in src/graph/c.c, which calls yk_a back: move what they all need'

calling graph/a.c yk_a yk_b
calling graph/b.c yk_b yk_a yk_c
calling graph/c.c yk_c yk_b
build graph/a.c graph/b.c graph/c.c
refused 'the second of two circles' graph/b.c: 'calls yk_c in src/graph/c.c, which calls yk_b back'

calling graph/order.c yk_transfer_order yk_walk
calling graph/walk.c yk_walk
build graph/order.c graph/walk.c
rm "$tree/build/release/CMakeFiles/yoke.dir/src/graph/walk.c.o"
refused 'a folder in which not all is built' graph/walk.c ''

calling graph/order.c yk_transfer_order yk_walk
calling graph/walk.c yk_walk yk_transfer_order
build graph/order.c graph/walk.c
calling graph/walk.c yk_walk
build graph/order.c graph/walk.c
passes 'a circle that was cut'

rm -rf "$tree/src"
mkdir "$tree/src"
if run_check; then verdict no 'an empty src/ is not refused'; else verdict yes; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
