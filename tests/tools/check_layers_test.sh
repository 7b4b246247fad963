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

# header room/file.h [LINE]: a sound header that also holds LINE, as its line 3.
header() {
    guard=YK_$(echo "$1" | tr 'a-z/.' 'A-Z__')
    printf '#ifndef %s\n#define %s\n%s\n#endif\n' "$guard" "$guard" "${2:-}" | write "$1"
}

house() {
    rm -rf "$tree/src" "$tree/include"
    public plan.h 'int yoke_plan(void);'
    header base/text.h 'struct yk_text;'
    header graph/graph.h '#include "base/text.h"'
    header sched/schedule.h '#include "graph/graph.h"'
    header trace/trace.h '#include "base/text.h"'
    header comm/comm.h 'struct yk_comm { void (*abort)(int); };'
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
void yk_comm_end(struct yk_comm *comm) { comm->abort(1); }
END
    write cli/main.c <<'END'
#include "sched/schedule.h"
#include <stdio.h>
int main(void) { printf("cli may print\n"); return 0; }
END
    write library/plan.c <<'END'
#include "sched/schedule.h"
#include <yoke/plan.h>
int yoke_plan(void) { return 0; }
END
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
refused 'base using a room' base/text.h:3: 'base must not use graph'

header graph/graph.h '#include "sched/schedule.h"'
refused 'an arrow upwards' graph/graph.h:3: 'graph must not use sched: it is above graph'

header sched/schedule.h '#include "trace/trace.h"'
refused 'an arrow along a row' sched/schedule.h:3: 'sched must not use trace: they are in one row'

header attic/box.h
refused 'an unknown room' attic/box.h:1: 'there is no room attic'

header stray.h
refused 'a file outside all rooms' stray.h:1: 'a source stands in a room'

header sched/schedule.h '#include "attic/box.h"'
refused 'an include of an unknown room' sched/schedule.h:3: 'there is no room attic'

header sched/schedule.h '#include "schedule.h"'
refused 'an include without its room' sched/schedule.h:3: 'with its room'

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
refused 'a kernel that prints' backend/cuda/rows.cu:2: 'printf() in a library room'

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
    refused "$call in a library room" graph/graph.c:2: "${call%%[ (]*}() in a library room"
done

printf '#include "graph/graph.h"\nvoid f(void) { /* a */ fputs("x", stderr); }\n' | write graph/graph.c
refused 'writing to standard error' graph/graph.c:2: 'belong to cli'

printf '#include "graph/graph.h"\n/* one\n two */ void f(void) { abort(); }\n' | write graph/graph.c
refused 'a call after a comment of two lines' graph/graph.c:3: 'abort() in a library room'

printf '#include <yoke/plan.h>\n' | write sched/second.c
refused 'a public header below the library' sched/second.c:1: 'public headers are for others'

header planner/plan.h '#include "library/plan.h"'
refused 'the library below itself' planner/plan.h:3: 'planner must not use library: it is above planner'

public plan.h '#include <jansson.h>'
refused 'a library in a public header' yoke/plan.h:3: 'alone' include

public plan.h '#include "base/text.h"'
refused 'a room in a public header' yoke/plan.h:3: 'alone' include

public plan.h 'yoke_unknown yoke_lonely(void);'
refused 'a public header that leans on another' yoke/plan.h:3: 'unknown type name' include

printf '#ifndef PLAN_H\n#define PLAN_H\n#endif\n' >"$tree/include/yoke/plan.h"
refused 'a public guard of another name' yoke/plan.h:1: '#ifndef YOKE_PLAN_H' include

rm -rf "$tree/src"
mkdir "$tree/src"
if run_check; then verdict no 'an empty src/ is not refused'; else verdict yes; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
