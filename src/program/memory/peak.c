#include "program/memory/memory.h"
#include "program/memory/sweep.h"

yk_status yk_program_memory_peak(const struct yk_program *program, int32_t rank,
                                 const struct yk_program_memory *memory, struct yk_memory_peak *out)
{
    struct yk_sweep *sweep = NULL;
    struct yk_memory_peak peak = {.bytes = -1, .compute_op = -1, .comm_op = -1};
    int32_t compute_point = 0;
    int32_t comm_point = 0;
    YK_TRY(yk_sweep_create(&program->ranks[rank], memory, &sweep));
    /* A rank without computation still holds what it always holds. */
    for (int32_t point = yk_sweep_first(sweep); point <= yk_sweep_end(sweep); point++) {
        int32_t first = 0;
        int32_t last = 0;
        yk_sweep_advance(sweep, point);
        yk_sweep_range(sweep, &first, &last);
        const double bytes = yk_sweep_max(sweep, first, last);
        if (bytes > peak.bytes) {
            peak.bytes = bytes;
            compute_point = point;
            comm_point = yk_sweep_argmax(sweep, first, last);
        }
    }
    int32_t round = 0;
    peak.compute_op = yk_sweep_op(sweep, YK_LANE_COMPUTE, compute_point, &round);
    peak.comm_op = yk_sweep_op(sweep, YK_LANE_COMM, comm_point, &round);
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        peak.by_kind[kind] =
            yk_sweep_bytes(sweep, (enum yk_memory_kind)kind, compute_point, comm_point);
    }
    yk_sweep_destroy(sweep);
    *out = peak;
    return YK_OK;
}
