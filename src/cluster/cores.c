#include "cluster/cores.h"

#include "base/number.h"
#include "cluster/topology.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CORES = 8192
};

yk_status yk_cores_find_allowed(struct yk_arena *arena, struct yk_allowed_cores *out)
{
    const size_t size = CPU_ALLOC_SIZE(MAX_CORES);
    cpu_set_t *allowed = CPU_ALLOC(MAX_CORES);
    struct yk_cpu_core *known = NULL;
    int32_t known_count = 0;
    if (!allowed || sched_getaffinity(0, size, allowed) != 0) {
        CPU_FREE(allowed);
        return yk_fail(YK_ERROR_SYSTEM, "the system does not tell which cores may be used");
    }
    /* Where hwloc knows nothing, the system's own order will do. */
    if (yk_topology_list_cores(arena, &known, &known_count) != YK_OK) {
        known_count = 0;
    }
    const int32_t count = CPU_COUNT_S(size, allowed);
    struct yk_cpu_core *cores = yk_arena_allocate(arena, (size_t)count, sizeof *cores);
    int32_t used = 0;
    if (!cores) {
        CPU_FREE(allowed);
        return yk_fail_out_of_memory();
    }
    for (int32_t i = 0; i < known_count; i++) {
        if (known[i].number < MAX_CORES && CPU_ISSET_S((size_t)known[i].number, size, allowed)) {
            cores[used++] = known[i];
            CPU_CLR_S((size_t)known[i].number, size, allowed);
        }
    }
    for (int32_t i = 0; i < MAX_CORES && used < count; i++) {
        if (CPU_ISSET_S((size_t)i, size, allowed)) {
            cores[used++] = (struct yk_cpu_core){.number = i};
        }
    }
    *out = (struct yk_allowed_cores){
        .cores = cores,
        .count = count,
        .machine_count = known_count > count ? known_count : count,
    };
    CPU_FREE(allowed);
    return YK_OK;
}

/* A run of cores that is one rank's. */
struct block {
    int32_t first;
    int32_t count;
    int32_t threads;
};

/* Of rank `rank` of this machine; each counts as one where nobody says. */
static int32_t threads_of(const struct yk_cores_request *request, int32_t rank)
{
    return request->threads && request->threads[rank] > 1 ? request->threads[rank] : 1;
}

/* Cores are given in the order of ranks: to each as many as it has threads, and what is left one by
 * one; or to each its part, where there are too few. */
static struct block find_block(const struct yk_cores_request *request, int32_t count)
{
    const int32_t ranks = request->launcher.local_size;
    const int32_t me = request->launcher.local_rank;
    const int64_t own = threads_of(request, me);
    int64_t before = 0;
    int64_t after = 0;
    for (int32_t i = 0; i < ranks; i++) {
        before += i < me ? threads_of(request, i) : 0;
        after += i > me ? threads_of(request, i) : 0;
    }
    const int64_t all = before + own + after;
    struct block block = {0};
    if (!request->threads || all > count) {
        block.first = (int32_t)(before * count / all);
        block.count = (int32_t)((before + own) * count / all) - block.first;
        block.count = block.count > 0 ? block.count : 1;
        block.threads = request->threads ? (int32_t)own : block.count;
    } else {
        const int64_t left = count - all;
        const int64_t each = left / ranks;
        const int64_t more = left % ranks; /* ranks that get one more */
        block.first = (int32_t)(before + me * each + yk_number_min(me, more));
        block.count = (int32_t)(own + each) + (me < more ? 1 : 0);
        block.threads = (int32_t)own;
    }
    return block;
}

/* Physical cores first, then those that share one. */
static void order_block(const struct yk_cpu_core *cores, struct block block, int32_t *out)
{
    int32_t used = 0;
    for (int32_t sibling = 0; used < block.count; sibling++) {
        for (int32_t i = 0; i < block.count; i++) {
            int32_t before = 0; /* in this block */
            for (int32_t j = i; j > 0 && cores[block.first + j].sibling > 0; j--) {
                before++;
            }
            if (before == sibling) {
                out[used++] = cores[block.first + i].number;
            }
        }
    }
}

yk_status yk_cores_assign(const struct yk_cores_request *request,
                          const struct yk_allowed_cores *allowed, struct yk_arena *arena,
                          struct yk_cores_assignment *out)
{
    const struct yk_launcher *launcher = &request->launcher;
    const int32_t count = allowed->count;
    if (count < 1) {
        return yk_fail(YK_ERROR_SYSTEM, "this process may use no core at all");
    }
    struct block block;
    if (launcher->is_bound_to_cores) {
        const int32_t wanted = request->threads ? threads_of(request, launcher->local_rank) : count;
        block = (struct block){.count = count, .threads = wanted};
    } else {
        block = find_block(request, count);
    }
    int32_t *order = NULL;
    YK_TRY_NEW(arena, order, block.count);
    order_block(allowed->cores, block, order);
    /* A launcher may bind ranks to sockets, several to one; who shares with whom it does not say.
     */
    if (launcher->is_bound_to_cores &&
        (int64_t)count * launcher->local_size > allowed->machine_count) {
        *out = (struct yk_cores_assignment){
            .compute = order, .compute_count = block.count, .comm_core = -1, .shared = true};
        return YK_OK;
    }
    *out = (struct yk_cores_assignment){
        .compute = order,
        .compute_count = (int32_t)yk_number_min(block.threads, block.count),
        .comm_core = order[block.count - 1],
        .is_comm_core_exclusive = block.threads < block.count,
    };
    return YK_OK;
}

/* "0-3,8" */
static void add_ranges(const int32_t *numbers, int32_t count, struct yk_text *out)
{
    int32_t *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) {
        out->failed = true;
        return;
    }
    memcpy(sorted, numbers, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, yk_number_qsort_compare_int32);
    for (int32_t i = 0; i < count;) {
        int32_t last = i;
        while (last + 1 < count && sorted[last + 1] <= sorted[last] + 1) {
            last++;
        }
        yk_text_addf(out, "%s%" PRId32, i > 0 ? "," : "", sorted[i]);
        if (sorted[last] > sorted[i]) {
            yk_text_addf(out, "-%" PRId32, sorted[last]);
        }
        i = last + 1;
    }
    free(sorted);
}

void yk_cores_describe(const struct yk_cores_assignment *cores, int32_t rank, struct yk_text *out)
{
    yk_text_addf(out, "rank %" PRId32 ": compute on core%s ", rank,
                 yk_text_plural_suffix(cores->compute_count));
    add_ranges(cores->compute, cores->compute_count, out);
    if (cores->shared) {
        yk_text_add(out, ", which the launcher gives to other ranks, too");
    } else {
        yk_text_addf(out, ", messages on core %" PRId32, cores->comm_core);
    }
}
