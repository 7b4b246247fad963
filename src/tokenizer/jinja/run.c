#include "tokenizer/jinja/run.h"

#include <inttypes.h>

static yk_status fail_memory(const struct yk_jinja_run *run)
{
    return yk_fail(YK_ERROR_INPUT, "the template needs more than the allowed %zu bytes of memory",
                   run->memory_limit);
}

yk_status yk_jinja_run_charge_memory(struct yk_jinja_run *run, size_t bytes)
{
    if (bytes > run->memory_left) {
        return fail_memory(run);
    }
    run->memory_left -= bytes;
    return YK_OK;
}

yk_status yk_jinja_run_allocate(struct yk_jinja_run *run, size_t count, size_t size, void **out)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return fail_memory(run);
    }
    YK_TRY(yk_jinja_run_charge_memory(run, bytes));
    *out = yk_arena_allocate(run->arena, count, size);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_jinja_run_fail_steps(const struct yk_jinja_run *run)
{
    return yk_fail(YK_ERROR_INPUT,
                   "the template runs for more than the allowed %" PRId64
                   " steps; does it loop for ever?",
                   run->step_limit);
}

yk_status yk_jinja_run_fail_depth(const struct yk_jinja_run *run)
{
    return yk_fail(YK_ERROR_INPUT,
                   "the template nests more than the allowed %" PRId32
                   " levels; does a macro call itself for ever?",
                   run->depth_limit);
}
