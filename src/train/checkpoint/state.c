#include "train/checkpoint/folder.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/precision.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON strings contain no line breaks, so the first occurrence of OPTIONS starts the options. */
static const char OPTIONS[] = "\n  \"options\": ";
static const char END[] = "\n}\n";

static const int64_t MAX_INTEGER = INT64_C(1) << 53; /* JSON numbers are exact up to here */

enum {
    MAX_BAD = 1 << 30,
    SEED_SIZE = 24, /* digits of 64 bits */
};

static yk_status check_object(const char *text, size_t length, const char *what)
{
    struct yk_json *root = NULL;
    YK_TRY(yk_json_parse(text, length, &root));
    const bool object = yk_json_is_object(root);
    yk_json_destroy(root);
    return object ? YK_OK : yk_fail(YK_ERROR_INPUT, "the %s must be an object of JSON", what);
}

static void write_workload(const struct yk_net *net, struct yk_json_writer *json)
{
    const struct yk_workload *workload = &net->workload;
    yk_json_write_begin_object(json, "workload");
    json->line_indent = 0;
    yk_json_write_string(json, "precision", yk_precision_name(workload->precision));
    yk_json_write_integer(json, "batch", workload->batch);
    yk_json_write_integer(json, "sequence", workload->sequence);
    yk_json_write_integer(json, "lora_rank", workload->lora_rank);
    yk_json_write_number(json, "lora_alpha", net->options.lora_alpha);
    yk_json_write_bool(json, "nf4", workload->nf4);
    yk_json_write_end_object(json);
    json->line_indent = 2;
}

static void write_progress(const struct yk_checkpoint_progress *state, struct yk_json_writer *json)
{
    char seed[SEED_SIZE];
    (void)snprintf(seed, sizeof seed, "%" PRIu64, state->seed);
    yk_json_write_integer(json, "step", state->step);
    yk_json_write_integer(json, "updates", state->updates);
    yk_json_write_integer(json, "samples", state->samples);
    yk_json_write_integer(json, "epoch", state->epoch);
    yk_json_write_integer(json, "bad", state->bad);
    yk_json_write_string(json, "seed", seed);
    yk_json_write_begin_object(json, "scaler");
    json->line_indent = 0;
    yk_json_write_number(json, "scale", state->scaler.scale);
    yk_json_write_integer(json, "clean", state->scaler.clean);
    yk_json_write_end_object(json);
    json->line_indent = 2;
}

yk_status yk_checkpoint_state_write_json(const struct yk_checkpoint_content *content,
                                         struct yk_text *out)
{
    const char *options = content->options_json ? content->options_json : "{}";
    struct yk_json_writer json = {.text = out, .spaced = true};
    YK_TRY(check_object(options, strlen(options), "options of a run"));
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "state");
    yk_json_write_string(&json, "model", content->store->net->config->name);
    write_progress(&content->state, &json);
    write_workload(content->store->net, &json);
    yk_json_write_string(&json, "base_model", content->base_model);
    yk_json_write_raw(&json, "options", options); /* OPTIONS and END rely on this form */
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

static bool read_seed(const char *digits, uint64_t *out)
{
    if (!digits || *digits == '\0' || strspn(digits, "0123456789") != strlen(digits)) {
        return false;
    }
    errno = 0;
    *out = strtoull(digits, NULL, 10);
    return errno == 0;
}

static yk_status need_integer(const struct yk_json *object, const char *key, int64_t max,
                              int64_t *out)
{
    if (!yk_json_get_member(object, key)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    return yk_json_get_integer(object, key, 0, max, out);
}

static yk_status read_position(const struct yk_json *root, struct yk_checkpoint_progress *out)
{
    const struct yk_json *scaler = yk_json_get_member(root, "scaler");
    YK_TRY(need_integer(root, "step", MAX_INTEGER, &out->step));
    YK_TRY(need_integer(root, "updates", MAX_INTEGER, &out->updates));
    YK_TRY(need_integer(root, "samples", MAX_INTEGER, &out->samples));
    if (yk_json_get_member(root, "epoch")) {
        YK_TRY(yk_json_get_integer(root, "epoch", 0, MAX_INTEGER, &out->epoch));
    }
    YK_TRY(need_integer(root, "bad", MAX_BAD, &out->bad));
    if (!read_seed(yk_json_string_value(yk_json_get_member(root, "seed")), &out->seed)) {
        return yk_fail(YK_ERROR_INPUT, "\"seed\" must be a string of digits, below 2^64");
    }
    if (!yk_json_number_value(yk_json_get_member(scaler, "scale"), &out->scaler.scale)) {
        return yk_fail(YK_ERROR_INPUT, "\"scaler\" has no number \"scale\"");
    }
    return need_integer(scaler, "clean", MAX_INTEGER, &out->scaler.clean);
}

static yk_status read_workload(const struct yk_json *node, struct yk_workload *out, double *alpha)
{
    const char *precision = yk_json_string_value(yk_json_get_member(node, "precision"));
    if (!precision || !yk_precision_find(precision, &out->precision)) {
        return yk_fail(YK_ERROR_INPUT, "\"workload\" has no known \"precision\"");
    }
    YK_TRY(need_integer(node, "batch", MAX_INTEGER, &out->batch));
    YK_TRY(need_integer(node, "sequence", MAX_INTEGER, &out->sequence));
    YK_TRY(need_integer(node, "lora_rank", MAX_INTEGER, &out->lora_rank));
    if (!yk_json_number_value(yk_json_get_member(node, "lora_alpha"), alpha) ||
        !yk_json_boolean_value(yk_json_get_member(node, "nf4"), &out->nf4)) {
        return yk_fail(YK_ERROR_INPUT, "\"workload\" has no \"lora_alpha\" or no \"nf4\"");
    }
    return YK_OK;
}

static yk_status read_options(const char *bytes, size_t length, struct yk_arena *arena,
                              const char **out)
{
    const size_t marker = sizeof OPTIONS - 1;
    const size_t end = sizeof END - 1;
    const char *found = memmem(bytes, length, OPTIONS, marker);
    const size_t before = found ? (size_t)(found - bytes) + marker : length;
    if (length < before + end || memcmp(bytes + length - end, END, end) != 0) {
        return yk_fail(YK_ERROR_INPUT, "\"options\" are not where they were written");
    }
    const size_t kept = length - before - end;
    YK_TRY(check_object(bytes + before, kept, "options"));
    *out = yk_arena_copy_text(arena, bytes + before, kept);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static yk_status read_root(const struct yk_json *root, struct yk_arena *arena,
                           struct yk_checkpoint *out, const char **model)
{
    static const char *const known[] = {
        "yoke",  "kind", "name", "comment", "model",    "step",       "updates", "samples",
        "epoch", "bad",  "seed", "scaler",  "workload", "base_model", "options",
    };
    const char *name = NULL;
    YK_TRY(yk_json_check_yoke_document(root, "state", known, sizeof known / sizeof known[0]));
    YK_TRY(read_position(root, &out->state));
    YK_TRY(read_workload(yk_json_get_member(root, "workload"), &out->workload, &out->lora_alpha));
    YK_TRY(yk_json_read_nonempty_string(yk_json_get_member(root, "model"), "model", &name));
    YK_TRY(yk_arena_strdup(arena, name, model));
    return yk_arena_strdup(arena, yk_json_string_value(yk_json_get_member(root, "base_model")),
                           &out->base_model);
}

yk_status yk_checkpoint_state_parse_json(const char *bytes, size_t length, struct yk_arena *arena,
                                         struct yk_checkpoint *out, const char **model)
{
    struct yk_json *root = NULL;
    YK_TRY(yk_json_parse(bytes, length, &root));
    yk_status status = read_root(root, arena, out, model);
    yk_json_destroy(root);
    return status == YK_OK ? read_options(bytes, length, arena, &out->options_json) : status;
}
