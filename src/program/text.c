#include "program/program.h"

#include "base/text_table.h"
#include "base/units.h"

/* "ranks 0, 2 (gpu0, gpu2): 41 ops". */
static void write_heading(const struct yk_program *program, int32_t first, struct yk_text *out)
{
    const struct yk_op *ops = program->ranks[first].ops;
    struct yk_text numbers = {0};
    struct yk_text names = {0};
    int32_t count = 0;
    for (int32_t r = first; r < program->rank_count; r++) {
        if (program->ranks[r].ops == ops) {
            const char *name = program->cluster->devices[program->plan->ranks[r].device].name;
            yk_text_addf(&numbers, "%s%d", count > 0 ? ", " : "", r);
            yk_text_addf(&names, "%s%s", count > 0 ? ", " : "", name);
            count++;
        }
    }
    yk_text_addf(out, "%s %s (%s): %d ops\n", count > 1 ? "ranks" : "rank", yk_text_chars(&numbers),
                 yk_text_chars(&names), program->ranks[first].op_count);
    out->failed = out->failed || numbers.failed || names.failed;
    yk_text_free(&numbers);
    yk_text_free(&names);
}

/* The op, what it carries and for whom, and the step if it is not this one. */
static void write_op(const struct yk_program *program, const struct yk_op *op, struct yk_text *out)
{
    char bytes[YK_UNITS_BUFFER_SIZE];
    yk_op_describe(program, op, out);
    if (op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) {
        yk_text_addf(out, " %s %d", op->kind == YK_OP_SEND ? "to" : "from", op->peer);
    }
    if (op->kind == YK_OP_ALL_GATHER && op->backward) {
        yk_text_add(out, " for backward");
    }
    if (op->lane == YK_LANE_COMM) {
        yk_units_format(op->bytes, YK_UNIT_BYTES, bytes);
        yk_text_addf(out, ", %s", bytes);
    }
    if (op->step != 0) {
        yk_text_add(out, op->step > 0 ? ", next step" : ", step before");
    }
}

static void write_waits(const struct yk_op_list *list, const struct yk_op *op, struct yk_text *out)
{
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &list->waits[op->first_wait + w];
        yk_text_addf(out, "%s%d%s", w > 0 ? ", " : "", wait->op, wait->lag > 0 ? "'" : "");
    }
}

static yk_status write_row(const struct yk_program *program, const struct yk_op_list *list,
                           int32_t number, struct yk_text_table *table)
{
    const struct yk_op *op = &list->ops[number];
    struct yk_text described = {0};
    struct yk_text waits = {0};
    write_op(program, op, &described);
    write_waits(list, op, &waits);
    yk_text_table_add_cell(table, "%d", number);
    for (int32_t lane = 0; lane < YK_LANE_COUNT; lane++) {
        yk_text_table_add_cell(table, "%s",
                               (int32_t)op->lane == lane ? yk_text_chars(&described) : "");
    }
    yk_text_table_add_cell(table, "%s", yk_text_chars(&waits));
    const yk_status status = described.failed || waits.failed ? yk_fail_out_of_memory() : YK_OK;
    yk_text_free(&described);
    yk_text_free(&waits);
    return status;
}

static yk_status write_list(const struct yk_program *program, const struct yk_op_list *list,
                            struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"op", YK_TEXT_TABLE_RIGHT},  {"compute", YK_TEXT_TABLE_LEFT}, {"comm", YK_TEXT_TABLE_LEFT},
        {"copy", YK_TEXT_TABLE_LEFT}, {"after", YK_TEXT_TABLE_LEFT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    yk_status status = YK_OK;
    for (int32_t i = 0; i < list->op_count && status == YK_OK; i++) {
        status = write_row(program, list, i, table);
    }
    YK_IF_OK(yk_text_table_write(table, out));
    yk_text_table_destroy(table);
    return status;
}

yk_status yk_program_text_write(const struct yk_program *program, struct yk_text *out)
{
    yk_text_add(out, "Each op follows the one above it in its column, and those under \"after\": "
                     "a number with ' is\nthat of the round before.\n");
    for (int32_t r = 0; r < program->rank_count; r++) {
        if (yk_op_list_first_equal_rank(program, r) == r) {
            yk_text_add(out, "\n");
            write_heading(program, r, out);
            YK_TRY(write_list(program, &program->ranks[r], out));
        }
    }
    return yk_text_status(out);
}
