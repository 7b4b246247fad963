#include "report/plan_look.h"

#include "program/program.h"

#include <string.h>

_Static_assert((int)YK_LOOK_OTHER_OP == (int)YK_OP_KIND_COUNT,
               "one look for each kind of op, and one more");

int32_t yk_look_op_kind(const char *op)
{
    const size_t length = strcspn(op, " ");
    for (int32_t k = 0; k < YK_LOOK_OTHER_OP; k++) {
        const char *name = yk_look_op_name(k);
        if (strlen(name) == length && strncmp(name, op, length) == 0) {
            return k;
        }
    }
    return YK_LOOK_OTHER_OP;
}

const char *yk_look_op_name(int32_t kind)
{
    return kind == YK_LOOK_OTHER_OP ? "other" : yk_op_kind_name((enum yk_op_kind)kind);
}

const char *yk_look_op_code(int32_t kind)
{
    static const char *const codes[YK_LOOK_OP_COUNT] = {
        [YK_OP_LOAD] = "L",       [YK_OP_FORWARD] = "F",         [YK_OP_RECOMPUTE] = "C",
        [YK_OP_BACKWARD] = "B",   [YK_OP_ALL_GATHER] = "G",      [YK_OP_REDUCE_SCATTER] = "S",
        [YK_OP_ALL_REDUCE] = "R", [YK_OP_SEND] = "\xe2\x86\x92", [YK_OP_RECV] = "\xe2\x86\x90",
        [YK_OP_AGREE] = "A",      [YK_OP_UPDATE] = "U",          [YK_OP_RELEASE] = "X",
        [YK_LOOK_OTHER_OP] = "?",
    };
    return codes[kind];
}

/* Plain colours and a media query, no variables: drawing programs read those too. Computation is
 * blue, what travels is warm or green, what is kept for good in memory is cool. */
const char yk_look_style[] =
    ".op-forward{fill:#8ab8e6;background:#8ab8e6}.op-recompute{fill:#b9d7f0;background:#b9d7f0}\n"
    ".op-backward{fill:#5e93d1;background:#5e93d1}.op-update{fill:#b9b3d9;background:#b9b3d9}\n"
    ".op-all_gather{fill:#ee9b7d;background:#ee9b7d}.op-reduce_scatter{fill:#e8c468;background:#"
    "e8c468}\n"
    ".op-all_reduce{fill:#e39bb4;background:#e39bb4}.op-send{fill:#c3cf5a;background:#c3cf5a}\n"
    ".op-recv{fill:#93cfa0;background:#93cfa0}.op-agree{fill:#d2b48c;background:#d2b48c}\n"
    ".op-load{fill:#5fc2a5;background:#5fc2a5}.op-release{fill:#8b93a5;background:#8b93a5}\n"
    ".op-other{fill:#b8bec9;background:#b8bec9}\n"
    ".memory-parameters{fill:#6d9fd6;background:#6d9fd6}\n"
    ".memory-gathered{fill:#a9cdec;background:#a9cdec}\n"
    ".memory-gradients{fill:#ee9b7d;background:#ee9b7d}\n"
    ".memory-optimizer{fill:#b0a9d6;background:#b0a9d6}\n"
    ".memory-activations{fill:#6cc5aa;background:#6cc5aa}\n"
    ".memory-buffers{fill:#e8c468;background:#e8c468}\n"
    ".memory-context{fill:#aab1be;background:#aab1be}\n"
    ".time-compute{fill:#8ab8e6;background:#8ab8e6}.time-exposed{fill:#ee9b7d;background:#ee9b7d}\n"
    ".time-idle{fill:#dfe3ea;background:#dfe3ea}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".op-forward{fill:#7aa9d8;background:#7aa9d8}.op-recompute{fill:#abc8e0;background:#abc8e0}\n"
    ".op-backward{fill:#5a8cc8;background:#5a8cc8}.op-update{fill:#a8a1cd;background:#a8a1cd}\n"
    ".op-all_gather{fill:#dc8a6c;background:#dc8a6c}.op-reduce_scatter{fill:#d4b158;background:#"
    "d4b158}\n"
    ".op-all_reduce{fill:#cf88a1;background:#cf88a1}.op-send{fill:#b0bb4e;background:#b0bb4e}\n"
    ".op-recv{fill:#82bb8f;background:#82bb8f}.op-agree{fill:#bfa27b;background:#bfa27b}\n"
    ".op-load{fill:#52b096;background:#52b096}.op-release{fill:#8b93a5;background:#8b93a5}\n"
    ".op-other{fill:#a3aab6;background:#a3aab6}\n"
    ".memory-parameters{fill:#6293c9;background:#6293c9}\n"
    ".memory-gathered{fill:#98bcdb;background:#98bcdb}\n"
    ".memory-gradients{fill:#dc8a6c;background:#dc8a6c}\n"
    ".memory-optimizer{fill:#9e97c6;background:#9e97c6}\n"
    ".memory-activations{fill:#58b097;background:#58b097}\n"
    ".memory-buffers{fill:#d4b158;background:#d4b158}\n"
    ".memory-context{fill:#8d95a3;background:#8d95a3}\n"
    ".time-compute{fill:#7aa9d8;background:#7aa9d8}.time-exposed{fill:#dc8a6c;background:#dc8a6c}\n"
    ".time-idle{fill:#3d4450;background:#3d4450}\n"
    "}\n";
