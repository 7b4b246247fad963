#include "train/metrics_file.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/text.h"
#include "program/program_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct yk_metrics_file {
    struct yk_arena *arena;
    int file;
    const char *path;
    const struct yk_throughput_unit *unit;
};

/* The step of a line; −1: the line is incomplete. */
static int64_t step_of(const char *line, size_t length)
{
    struct yk_json *json = NULL;
    double step = -1;
    if (yk_json_parse(line, length, &json) == YK_OK) {
        (void)yk_json_number_value(yk_json_get_member(json, "step"), &step);
        yk_json_destroy(json);
    }
    return (int64_t)step;
}

/* Removes the lines after `step`. */
static yk_status truncate_after(const char *path, int64_t step)
{
    struct yk_text before = {0};
    struct yk_text after = {0};
    if (access(path, F_OK) != 0) {
        return YK_OK;
    }
    YK_TRY(yk_file_check_not_symlink(path));
    yk_status status = yk_file_read_with_limit(path, YK_FILE_MAX_TRACE_BYTES, &before);
    const char *line = yk_text_chars(&before);
    while (status == YK_OK && *line) {
        const size_t length = strcspn(line, "\n");
        const int64_t number = step_of(line, length);
        if (number >= 0 && number <= step) {
            yk_text_add_bytes(&after, line, length);
            yk_text_add(&after, "\n");
        }
        line += length + (line[length] == '\n');
    }
    YK_IF_OK(yk_text_status(&after));
    YK_IF_OK(yk_file_write_nofollow(path, &after));
    yk_text_free(&before);
    yk_text_free(&after);
    return status;
}

yk_status yk_metrics_file_open(const char *path, int64_t step,
                               const struct yk_throughput_unit *unit, struct yk_metrics_file **out)
{
    struct yk_metrics_file *metrics = NULL;
    YK_TRY(truncate_after(path, step));
    YK_TRY_NEW_WITH_OWN_ARENA(metrics);
    metrics->file = -1;
    metrics->unit = unit;
    yk_status status = yk_arena_strdup(metrics->arena, path, &metrics->path);
    YK_IF_OK(yk_file_open_nofollow_for_writing(path, O_WRONLY | O_APPEND, &metrics->file));
    YK_TRY_OR_CLEAN_UP(status, yk_metrics_file_close(metrics));
    *out = metrics;
    return YK_OK;
}

void yk_metrics_file_close(struct yk_metrics_file *metrics)
{
    if (metrics) {
        if (metrics->file >= 0) {
            (void)close(metrics->file);
        }
        yk_arena_destroy(metrics->arena);
    }
}

/* Opens the file again if it was removed or replaced. */
static yk_status reopen_if_replaced(struct yk_metrics_file *metrics)
{
    struct stat own;
    struct stat named;
    if (fstat(metrics->file, &own) != 0 ||
        (lstat(metrics->path, &named) == 0 && own.st_dev == named.st_dev &&
         own.st_ino == named.st_ino)) {
        return YK_OK;
    }
    int file = -1;
    YK_TRY(yk_file_open_nofollow_for_writing(metrics->path, O_WRONLY | O_APPEND, &file));
    (void)close(metrics->file);
    metrics->file = file;
    yk_log(YK_LOG_WARNING,
           "%s was removed or replaced while it was written; what it held is lost, "
           "and it goes on with the next line",
           metrics->path);
    return YK_OK;
}

/* Begins the line of a step. */
static struct yk_json_writer begin_line(struct yk_text *text, int64_t step)
{
    struct yk_json_writer json = {.text = text, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "step", step);
    return json;
}

/* Ends the line, writes it and frees its text. A partial write is undone, so that a reader never
 * sees an incomplete line. */
static yk_status write_line(struct yk_metrics_file *metrics, struct yk_json_writer *json)
{
    struct yk_text *text = json->text;
    yk_json_write_end_object(json);
    yk_text_add(text, "\n");
    yk_status status = yk_text_status(text);
    YK_IF_OK(reopen_if_replaced(metrics));
    if (status == YK_OK) {
        const off_t before = lseek(metrics->file, 0, SEEK_END);
        const ssize_t written = write(metrics->file, text->bytes, text->length);
        if (written != (ssize_t)text->length) {
            status = yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", metrics->path,
                             written < 0 ? strerror(errno) : "the disk is full");
            (void)!ftruncate(metrics->file, before);
        }
    }
    yk_text_free(text);
    return status;
}

yk_status yk_metrics_file_add_step(struct yk_metrics_file *metrics,
                                   const struct yk_step_metrics *step)
{
    struct yk_text text = {0};
    struct yk_json_writer json = begin_line(&text, step->step);
    yk_json_write_number(&json, "loss", step->loss);
    yk_json_write_number(&json, "norm", step->norm);
    yk_json_write_number(&json, "lr", step->lr);
    yk_json_write_number(&json, "seconds", step->seconds);
    yk_json_write_number(&json, metrics->unit->speed_member, step->tokens_per_s);
    if (step->loss_scale != 1) {
        yk_json_write_number(&json, "loss_scale", step->loss_scale);
    }
    if (step->skipped) {
        yk_json_write_bool(&json, "skipped", true);
    }
    if (step->ranks > 1 && step->compute_s[0] > 0) { /* unknown in the first steps */
        yk_json_write_begin_array(&json, "ranks_s");
        for (int32_t r = 0; r < step->ranks; r++) {
            yk_json_write_number(&json, NULL, step->compute_s[r]);
        }
        yk_json_write_end_array(&json);
    }
    return write_line(metrics, &json);
}

yk_status yk_metrics_file_add_evaluation(struct yk_metrics_file *metrics, int64_t step,
                                         const struct yk_evaluation_result *result)
{
    struct yk_text text = {0};
    struct yk_json_writer json = begin_line(&text, step);
    yk_json_write_number(&json, "evaluation_loss", result->loss);
    yk_json_write_integer(&json, metrics->unit->plural, result->tokens);
    if (!isnan(result->accuracy)) {
        yk_json_write_number(&json, "accuracy", result->accuracy);
        yk_json_write_number(&json, "top5_accuracy", result->top5_accuracy);
    }
    return write_line(metrics, &json);
}

yk_status yk_metrics_file_add_rank_shares(struct yk_metrics_file *metrics, int64_t step,
                                          const struct yk_plan *plan)
{
    struct yk_text text = {0};
    struct yk_json_writer json = begin_line(&text, step);
    yk_json_write_bool(&json, "rebalanced", true);
    yk_json_write_begin_array(&json, "shares");
    for (int32_t r = 0; r < plan->rank_count; r++) {
        const int32_t member = yk_program_facts_group_member_index(plan, 0, r);
        yk_json_write_integer(&json, NULL, member >= 0 ? plan->groups[0].members[member].share : 0);
    }
    yk_json_write_end_array(&json);
    return write_line(metrics, &json);
}
