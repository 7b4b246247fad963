#include "job/planning/transfer_order_job.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "job/job.h"
#include "planner/order/slot_window.h"
#include "planner/order/transfer_order.h"

#include <math.h>
#include <string.h>

static yk_status find_order(const struct yk_transfer_order_job_request *request,
                            struct yk_transfer_order_job_result *out)
{
    const struct yk_transfer_order_milp_options options = {
        .budget_s = request->budget_s,
        .stop = yk_job_stop_flag(request->job),
    };
    yk_job_report_begin(request->job);
    const double begin_s = yk_clock_now_s();
    const yk_status status =
        strcmp(request->method, "greedy") == 0
            ? yk_transfer_order_solve_greedy(out->problem, out->arena, &out->order)
            : yk_transfer_order_solve_milp(out->problem, &options, out->arena, &out->order);
    out->seconds = yk_clock_now_s() - begin_s;
    yk_job_report_end(request->job);
    if (status == YK_OK) {
        yk_job_log_if_stopped(request->job);
    }
    return status == YK_ERROR_NO_FIT ? yk_status_prefix_message(status, out->source) : status;
}

yk_status yk_transfer_order_job_run(const struct yk_transfer_order_job_request *request,
                                    struct yk_transfer_order_job_result *out)
{
    const char *text = NULL;
    size_t length = 0;
    out->source = strcmp(request->file, "-") == 0 ? "standard input" : request->file;
    out->method = request->method;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_file_read_document_to_arena(request->file, out->arena, &text, &length));
    YK_TRY(yk_transfer_order_problem_parse(text, length, out->source, out->arena, &out->problem));
    YK_TRY(find_order(request, out));
    const int32_t slots = yk_transfer_order_slot_count(out->problem);
    YK_TRY(yk_transfer_order_to_plan_transfers(out->problem, out->order, out->arena,
                                               &out->transfers, &out->transfer_count));
    YK_TRY_NEW(out->arena, out->load_s, slots);
    YK_TRY_NEW(out->arena, out->used_bytes, slots);
    yk_transfer_order_compute_slot_link_times(out->problem, out->order, out->load_s);
    yk_transfer_order_compute_slot_memory(out->problem, out->order, out->used_bytes);
    return YK_OK;
}

void yk_transfer_order_job_result_free(struct yk_transfer_order_job_result *result)
{
    yk_arena_destroy(result->arena);
    *result = (struct yk_transfer_order_job_result){0};
}

/* Slots whose sums differ by less count as equal in a run. */
static const double alike = 1e-6;

/* How far above the bound the order is, as a part of the bound. */
static double gap_of(const struct yk_transfer_order *order)
{
    return order->bound_s > 0 ? fmax(0, order->step_s / order->bound_s - 1) : 0;
}

/* Whether the transfer is a gather for backward. */
static bool is_for_backward(const struct yk_transfer_order_problem *problem,
                            const struct yk_plan_transfer *transfer)
{
    return transfer->kind == YK_TRANSFER_ALL_GATHER &&
           yk_transfer_order_slot_is_between_passes(problem, transfer->layer, transfer->slot);
}

/* Slots from `first` to `last`, with the transfers of the first one from `transfer` on. */
struct run {
    int32_t first;
    int32_t last;
    int32_t transfer;
    int32_t count; /* of transfers in each of its slots */
};

/* By how much a layer's number grows from slot to slot: forward, backward; 0 in the gaps. */
static int32_t direction_of(const struct yk_transfer_order_problem *problem, int32_t slot)
{
    const int32_t n = problem->layer_count;
    return slot < n ? 1 : (slot > n && slot <= 2 * n ? -1 : 0);
}

static int32_t count_transfers(const struct yk_transfer_order_job_result *result, int32_t from,
                               int32_t slot)
{
    int32_t count = 0;
    while (from + count < result->transfer_count && result->transfers[from + count].slot == slot) {
        count++;
    }
    return count;
}

static bool is_alike(double a, double b)
{
    return fabs(a - b) <= alike * fmax(fabs(a), fabs(b));
}

/* Whether the slot after the run does the same with the layers after. */
static bool continues_run(const struct yk_transfer_order_job_result *result, const struct run *run)
{
    const struct yk_transfer_order_problem *problem = result->problem;
    const int32_t next = run->last + 1;
    const int32_t direction = direction_of(problem, run->first);
    const int32_t steps = next - run->first;
    const struct yk_plan_transfer *old = &result->transfers[run->transfer];
    const struct yk_plan_transfer *new = old + (int64_t)steps * run->count;
    if (next >= yk_transfer_order_slot_count(problem) || direction == 0 ||
        direction_of(problem, next) != direction ||
        !is_alike(problem->compute_s[next], problem->compute_s[run->first]) ||
        !is_alike(result->load_s[next], result->load_s[run->first]) ||
        count_transfers(result, run->transfer + steps * run->count, next) != run->count) {
        return false;
    }
    for (int32_t k = 0; k < run->count; k++) {
        if (new[k].kind != old[k].kind || new[k].block_count != old[k].block_count ||
            new[k].layer != old[k].layer + direction * steps ||
            is_for_backward(problem, &new[k]) != is_for_backward(problem, &old[k])) {
            return false;
        }
    }
    return true;
}

/* "all_gather 3 … 20 (6 of 8)", "all_gather 31 for backward". */
static void add_transfer(const struct yk_transfer_order_job_result *result,
                         const struct yk_plan_transfer *transfer, int32_t further,
                         struct yk_text *words)
{
    const int32_t blocks = result->problem->layers[transfer->layer].blocks;
    yk_text_addf(words, "%s %d", yk_plan_transfer_kind_name(transfer->kind), transfer->layer);
    if (further != 0) {
        yk_text_addf(words, " … %d", transfer->layer + further);
    }
    if (is_for_backward(result->problem, transfer)) {
        yk_text_add(words, " for backward");
    }
    if (transfer->block_count < blocks) {
        yk_text_addf(words, " (%d of %d)", transfer->block_count, blocks);
    }
}

/* The slot of the run whose memory is fullest. */
static int32_t fullest(const struct yk_transfer_order_job_result *result, int32_t first,
                       int32_t last)
{
    int32_t slot = first;
    for (int32_t t = first; t <= last; t++) {
        if (result->problem->room_bytes[t] - result->used_bytes[t] <
            result->problem->room_bytes[slot] - result->used_bytes[slot]) {
            slot = t;
        }
    }
    return slot;
}

static void add_seconds(struct yk_text_table *table, double seconds)
{
    yk_text_table_add_cell(table, "%s",
                           seconds > 0 ? YK_UNITS_FORMAT_TEMPORARY(seconds, YK_UNIT_SECONDS) : "");
}

static void add_row(const struct yk_transfer_order_job_result *result, const struct run *run,
                    struct yk_text_table *table)
{
    const struct yk_transfer_order_problem *problem = result->problem;
    const double compute_s = problem->compute_s[run->first];
    const double load_s = result->load_s[run->first];
    const double exposed_s = load_s - compute_s;
    const int32_t tightest = fullest(result, run->first, run->last);
    const int32_t further = direction_of(problem, run->first) * (run->last - run->first);
    char name[YK_TRANSFER_ORDER_SLOT_NAME_SIZE];
    struct yk_text words = {0};
    yk_transfer_order_format_slot_name(problem, run->first, name);
    yk_text_add(&words, name);
    if (further != 0) {
        const int32_t n = problem->layer_count;
        yk_text_addf(&words, " … %d", run->last < n ? run->last : 2 * n - run->last);
    }
    yk_text_table_add_cell(table, "%s", yk_text_chars(&words));
    add_seconds(table, compute_s);
    add_seconds(table, load_s);
    add_seconds(table, exposed_s > alike * load_s ? exposed_s : 0);
    yk_text_table_add_cell(table, "%s",
                           YK_UNITS_FORMAT_TEMPORARY(result->used_bytes[tightest], YK_UNIT_BYTES));
    yk_text_table_add_cell(table, "%s",
                           YK_UNITS_FORMAT_TEMPORARY(problem->room_bytes[tightest], YK_UNIT_BYTES));
    words.length = 0;
    for (int32_t k = 0; k < run->count; k++) {
        yk_text_add(&words, k > 0 ? ", " : "");
        add_transfer(result, &result->transfers[run->transfer + k], further, &words);
    }
    yk_text_table_add_cell(table, "%s", run->count > 0 ? yk_text_chars(&words) : "");
    yk_text_free(&words);
}

static yk_status add_table(const struct yk_transfer_order_job_result *result, struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"slots", YK_TEXT_TABLE_LEFT},        {"compute", YK_TEXT_TABLE_RIGHT},
        {"link", YK_TEXT_TABLE_RIGHT},        {"exposed", YK_TEXT_TABLE_RIGHT},
        {"memory", YK_TEXT_TABLE_RIGHT},      {"of", YK_TEXT_TABLE_RIGHT},
        {"what travels", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    int32_t transfer = 0;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (int32_t t = 0; t < yk_transfer_order_slot_count(result->problem);) {
        struct run run = {t, t, transfer, count_transfers(result, transfer, t)};
        while (continues_run(result, &run)) {
            run.last++;
        }
        add_row(result, &run, table);
        transfer += (run.last - run.first + 1) * run.count;
        t = run.last + 1;
    }
    return yk_text_table_write_and_destroy(table, out);
}

/* "layers 0, 3 … 7 and so on", or "no layer". */
static void add_kept(const struct yk_transfer_order_job_result *result, struct yk_text *out)
{
    const bool *kept = result->order->kept;
    const int32_t n = result->problem->layer_count;
    int32_t count = 0;
    yk_text_add(out, "kept between forward and backward: ");
    for (int32_t i = 0; i < n; i++) {
        int32_t last = i;
        if (!kept[i]) {
            continue;
        }
        while (last + 1 < n && kept[last + 1]) {
            last++;
        }
        yk_text_addf(out, "%s%d", count > 0 ? ", " : "layers ", i);
        if (last > i) {
            yk_text_addf(out, " … %d", last);
        }
        count += last - i + 1;
        i = last;
    }
    if (count > 0) {
        yk_text_addf(out, ", %d of %d\n", count, n);
    } else {
        yk_text_add(out, "no layer\n");
    }
}

static void add_summary(const struct yk_transfer_order_job_result *result, struct yk_text *out)
{
    const struct yk_transfer_order *order = result->order;
    const double gap = gap_of(order);
    double compute_s = 0;
    for (int32_t t = 0; t < yk_transfer_order_slot_count(result->problem); t++) {
        compute_s += result->problem->compute_s[t];
    }
    const char *bound = YK_UNITS_FORMAT_TEMPORARY(order->bound_s, YK_UNIT_SECONDS);
    yk_text_addf(out, "%s, ordered by %s: %d layers%s\n", result->source, order->method,
                 result->problem->layer_count,
                 result->problem->barrier ? ", with a barrier before the update" : "");
    yk_text_addf(out, "step %s: %s of computation, %s of communication exposed\n",
                 YK_UNITS_FORMAT_TEMPORARY(order->step_s, YK_UNIT_SECONDS),
                 YK_UNITS_FORMAT_TEMPORARY(compute_s, YK_UNIT_SECONDS),
                 YK_UNITS_FORMAT_TEMPORARY(fmax(0, order->step_s - compute_s), YK_UNIT_SECONDS));
    if (gap <= alike) {
        yk_text_addf(out, "bound %s: no order is faster\n", bound);
    } else {
        yk_text_addf(out, "bound %s: no order is faster by more than %.2f %%\n", bound,
                     100 * gap / (1 + gap));
    }
    add_kept(result, out);
}

yk_status yk_transfer_order_job_write_text(const struct yk_transfer_order_job_result *result,
                                           struct yk_text *out)
{
    add_summary(result, out);
    yk_text_add(out, "\n");
    return add_table(result, out);
}

static void add_kept_json(const struct yk_transfer_order_job_result *result,
                          struct yk_json_writer *json)
{
    yk_json_write_begin_array(json, "kept");
    for (int32_t i = 0; i < result->problem->layer_count; i++) {
        if (result->order->kept[i]) {
            yk_json_write_integer(json, NULL, i);
        }
    }
    yk_json_write_end_array(json);
}

static void add_transfer_json(const struct yk_transfer_order_job_result *result,
                              const struct yk_plan_transfer *transfer, struct yk_json_writer *json)
{
    const bool backward =
        transfer->kind != YK_TRANSFER_ALL_GATHER || is_for_backward(result->problem, transfer);
    yk_json_write_begin_object(json, NULL);
    yk_json_write_string(json, "op", yk_plan_transfer_kind_name(transfer->kind));
    yk_json_write_integer(json, "layer", transfer->layer);
    yk_json_write_integer(json, "blocks", transfer->block_count);
    yk_json_write_string(json, "pass", backward ? "backward" : "forward");
    yk_json_write_end_object(json);
}

static void add_slots_json(const struct yk_transfer_order_job_result *result,
                           struct yk_json_writer *json)
{
    int32_t next = 0;
    yk_json_write_begin_array(json, "order");
    for (int32_t t = 0; t < yk_transfer_order_slot_count(result->problem); t++) {
        char name[YK_TRANSFER_ORDER_SLOT_NAME_SIZE];
        yk_transfer_order_format_slot_name(result->problem, t, name);
        yk_json_write_begin_object_on_new_line(json, 0);
        yk_json_write_string(json, "name", name);
        yk_json_write_number(json, "compute_s", result->problem->compute_s[t]);
        yk_json_write_number(json, "comm_s", result->load_s[t]);
        yk_json_write_number(json, "used_bytes", result->used_bytes[t]);
        yk_json_write_number(json, "available_bytes", result->problem->room_bytes[t]);
        yk_json_write_begin_array(json, "transfers");
        while (next < result->transfer_count && result->transfers[next].slot == t) {
            add_transfer_json(result, &result->transfers[next++], json);
        }
        yk_json_write_end_array(json);
        yk_json_write_end_object(json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_transfer_order_job_write_json(const struct yk_transfer_order_job_result *result,
                                           struct yk_text *out)
{
    const struct yk_transfer_order *order = result->order;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "order");
    yk_json_write_string(&json, "source", result->source);
    yk_json_write_string(&json, "method", result->method);
    yk_json_write_string(&json, "found_by", order->method);
    yk_json_write_number(&json, "step_s", order->step_s);
    yk_json_write_number(&json, "bound_s", order->bound_s);
    yk_json_write_number(&json, "gap", gap_of(order));
    yk_json_write_number(&json, "seconds", result->seconds);
    yk_json_write_integer(&json, "layers", result->problem->layer_count);
    add_kept_json(result, &json);
    add_slots_json(result, &json);
    return yk_json_write_end_yoke_document(&json);
}
