#include "job/planning/order.h"

#include "base/clock.h"
#include "base/file.h"
#include "job/search.h"
#include "planner/order/order.h"
#include "planner/order/slots.h"

#include <string.h>

static yk_status read_problem(const struct yk_order_request *request, struct yk_order_result *out)
{
    struct yk_text text = {0};
    yk_status status = yk_file_read(request->file, &text);
    if (status == YK_OK) {
        status = yk_order_problem_read(yk_text_chars(&text), text.length, out->source, out->arena,
                                       &out->problem);
    }
    yk_text_free(&text);
    return status;
}

static yk_status find(const struct yk_order_request *request, struct yk_order_result *out)
{
    const struct yk_order_options options = {
        .budget_s = request->budget_s,
        .stop = yk_job_stop(request->job),
    };
    yk_job_begin(request->job);
    const double begin_s = yk_clock_now_s();
    const yk_status status = strcmp(request->method, "greedy") == 0
                                 ? yk_order_greedy(out->problem, out->arena, &out->order)
                                 : yk_order_milp(out->problem, &options, out->arena, &out->order);
    out->seconds = yk_clock_now_s() - begin_s;
    yk_job_end(request->job);
    if (status == YK_OK) {
        yk_job_note_interruption(request->job);
    }
    return status == YK_ERROR_NO_FIT ? yk_fail_in(status, out->source) : status;
}

yk_status yk_order_run(const struct yk_order_request *request, struct yk_order_result *out)
{
    out->source = strcmp(request->file, "-") == 0 ? "standard input" : request->file;
    out->method = request->method;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(read_problem(request, out));
    YK_TRY(find(request, out));
    const int32_t slots = yk_order_slot_count(out->problem);
    YK_TRY(yk_order_transfers(out->problem, out->order, out->arena, &out->transfers,
                              &out->transfer_count));
    YK_TRY_NEW(out->arena, out->load_s, slots);
    YK_TRY_NEW(out->arena, out->used_bytes, slots);
    yk_order_loads_s(out->problem, out->order, out->load_s);
    yk_order_memory_bytes(out->problem, out->order, out->used_bytes);
    return YK_OK;
}

void yk_order_result_free(struct yk_order_result *result)
{
    yk_arena_destroy(result->arena);
    *result = (struct yk_order_result){0};
}
