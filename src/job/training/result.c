#include "job/training/result.h"

#include "base/json_write.h"

void yk_train_result_free(struct yk_train_result *result)
{
    yk_text_free(&result->plan);
    yk_arena_destroy(result->arena);
    *result = (struct yk_train_result){0};
}

static void write_predicted(const struct yk_train_result *result, struct yk_json_writer *out)
{
    yk_json_write_string(out, "model", result->model);
    yk_json_write_integer(out, "parameters", result->parameters);
    yk_json_write_integer(out, "trainable", result->trainable);
    yk_json_write_string(out, "folder", result->folder);
    yk_json_write_integer(out, "steps", result->steps);
    yk_json_write_integer(out, "batch", result->batch);
    yk_json_write_integer(out, "sequence", result->sequence);
    yk_json_write_string(out, "precision", result->precision);
    yk_json_write_integer(out, "micro_batches", result->micro_batches);
    yk_json_write_number(out, "predicted_step_s", result->predicted_step_s);
    yk_json_write_number(out, "predicted_error", result->predicted_error);
    yk_json_write_number(out, "planned_bytes", result->planned_bytes);
    yk_json_write_number(out, "limit_bytes", result->limit_bytes);
}

static void write_rebalancings(const struct yk_train_result *result, struct yk_json_writer *out)
{
    yk_json_write_begin_array(out, "rebalanced");
    for (int32_t i = 0; i < result->rebalancing_count; i++) {
        const struct yk_train_share_change *change = &result->rebalancings[i];
        yk_json_write_begin_object(out, NULL);
        yk_json_write_integer(out, "step", change->step);
        yk_json_write_integers(out, "shares_before", change->shares_before, result->rank_count);
        yk_json_write_integers(out, "shares", change->shares, result->rank_count);
        yk_json_write_number(out, "predicted_step_s", change->predicted_step_s);
        yk_json_write_end_object(out);
    }
    yk_json_write_end_array(out);
}

static void write_measured(const struct yk_train_result *result, struct yk_json_writer *out)
{
    yk_json_write_string(out, "backend", result->backend);
    yk_json_write_string(out, "device", result->device);
    yk_json_write_integer(out, "steps_done", result->steps_done);
    yk_json_write_number(out, "first_loss", result->first_loss);
    yk_json_write_number(out, "last_loss", result->last_loss);
    yk_json_write_number(out, "evaluation_loss", result->evaluation_loss);
    if (result->images) {
        yk_json_write_number(out, "accuracy", result->accuracy);
        yk_json_write_number(out, "top5_accuracy", result->top5_accuracy);
    }
    yk_json_write_number(out, result->unit->plural, result->tokens);
    yk_json_write_number(out, "seconds", result->seconds);
    yk_json_write_number(out, result->unit->speed_member, result->tokens_per_s);
    yk_json_write_number(out, "mfu", result->mfu);
    yk_json_write_number(out, "exact_mfu", result->exact_mfu);
    yk_json_write_number(out, "median_step_s", result->median_step_s);
    yk_json_write_number(out, "peak_bytes", result->peak_bytes);
    if (result->device_bytes > 0) {
        yk_json_write_number(out, "device_bytes", result->device_bytes);
    }
    yk_json_write_string(out, "checkpoint", result->checkpoint);
    if (result->rebalancing_count > 0) {
        write_rebalancings(result, out);
    }
    if (result->rank_count > 1) {
        yk_json_write_key(out, "ranks");
        yk_run_summary_write_ranks_json(result->ranks, result->rank_count, out->text);
    }
    if (result->counters.count > 0) {
        yk_json_write_key(out, "counters");
        yk_counters_file_write_averages_json(&result->counters, out->text);
    }
}

yk_status yk_train_result_write_json(const struct yk_train_result *result, struct yk_text *out)
{
    struct yk_json_writer writer = {.text = out};
    yk_json_write_begin_yoke_document(&writer, "training");
    write_predicted(result, &writer);
    if (result->trained) {
        write_measured(result, &writer);
    } else {
        yk_json_write_number(&writer, "predicted_s", result->predicted_s);
    }
    return yk_json_write_end_yoke_document(&writer);
}
