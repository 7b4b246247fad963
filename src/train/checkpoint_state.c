#include "train/checkpoint_state.h"

#include "base/json_value.h"
#include "base/precision.h"

#include <inttypes.h>
#include <string.h>

/* A line break is never inside a string of JSON, so that the first of these begins the settings. */
static const char SETTINGS[] = "\n  \"settings\": ";
static const char ENDING[] = "\n}\n";

static const int64_t MOST = INT64_C(1) << 53; /* what JSON's numbers hold exactly */

enum {
    MOST_BAD = 1 << 30
};

static yk_status check_object(const char *text, size_t length, const char *what)
{
    struct yk_json *root = NULL;
    YK_TRY(yk_json_parse(text, length, &root));
    const bool object = yk_json_is_object(root);
    yk_json_destroy(root);
    return object ? YK_OK : yk_fail(YK_ERROR_INPUT, "the %s must be an object of JSON", what);
}

static void add_words(struct yk_text *out, const char *key, const char *words)
{
    yk_text_addf(out, ",\n  \"%s\": ", key);
    if (words) {
        yk_text_add_json(out, words);
    } else {
        yk_text_add(out, "null");
    }
}

static void add_workload(const struct yk_net *net, struct yk_text *out)
{
    const struct yk_workload *workload = &net->workload;
    yk_text_addf(out,
                 ",\n  \"workload\": {\"precision\": \"%s\", \"batch\": %" PRId64
                 ", \"sequence\": %" PRId64 ", \"lora_rank\": %" PRId64 ", \"lora_alpha\": ",
                 yk_precision_name(workload->precision), workload->batch, workload->sequence,
                 workload->lora_rank);
    yk_text_add_number(out, net->settings.lora_alpha);
    yk_text_addf(out, ", \"nf4\": %s}", workload->nf4 ? "true" : "false");
}

yk_status yk_checkpoint_state_write(const struct yk_checkpoint_content *content,
                                    struct yk_text *out)
{
    const struct yk_checkpoint_state *state = &content->state;
    const char *settings = content->settings_json ? content->settings_json : "{}";
    YK_TRY(check_object(settings, strlen(settings), "settings of a run"));
    yk_text_add(out, "{\n  \"yoke\": 1,\n  \"kind\": \"state\"");
    add_words(out, "model", content->store->net->config->name);
    yk_text_addf(out,
                 ",\n  \"step\": %" PRId64 ",\n  \"updates\": %" PRId64 ",\n  \"samples\": %" PRId64
                 ",\n  \"epoch\": %" PRId64 ",\n  \"bad\": %" PRId64 ",\n  \"seed\": \"%" PRIu64
                 "\",\n  \"scaler\": {",
                 state->step, state->updates, state->samples, state->epoch, state->bad,
                 state->seed);
    yk_text_add(out, "\"scale\": ");
    yk_text_add_number(out, state->scaler.scale);
    yk_text_addf(out, ", \"clean\": %" PRId64 "}", state->scaler.clean);
    add_workload(content->store->net, out);
    add_words(out, "base_model", content->base_model);
    yk_text_addf(out, ",%s", SETTINGS);
    yk_text_add(out, settings);
    yk_text_add(out, ENDING);
    return yk_text_status(out);
}

static bool read_seed(const char *digits, uint64_t *out)
{
    *out = 0;
    if (!digits || *digits == '\0') {
        return false;
    }
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9' || __builtin_mul_overflow(*out, 10U, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*digits - '0'), out)) {
            return false;
        }
    }
    return true;
}

static yk_status need_integer(const struct yk_json *object, const char *key, int64_t most,
                              int64_t *out)
{
    if (!yk_json_get(object, key)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    return yk_json_integer(object, key, 0, most, out);
}

static yk_status read_position(const struct yk_json *root, struct yk_checkpoint_state *out)
{
    const struct yk_json *scaler = yk_json_get(root, "scaler");
    YK_TRY(need_integer(root, "step", MOST, &out->step));
    YK_TRY(need_integer(root, "updates", MOST, &out->updates));
    YK_TRY(need_integer(root, "samples", MOST, &out->samples));
    if (yk_json_get(root, "epoch")) {
        YK_TRY(yk_json_integer(root, "epoch", 0, MOST, &out->epoch));
    }
    YK_TRY(need_integer(root, "bad", MOST_BAD, &out->bad));
    if (!read_seed(yk_json_string(yk_json_get(root, "seed")), &out->seed)) {
        return yk_fail(YK_ERROR_INPUT, "\"seed\" must be a string of digits, below 2^64");
    }
    if (!yk_json_number(yk_json_get(scaler, "scale"), &out->scaler.scale)) {
        return yk_fail(YK_ERROR_INPUT, "\"scaler\" has no number \"scale\"");
    }
    return need_integer(scaler, "clean", MOST, &out->scaler.clean);
}

static yk_status read_workload(const struct yk_json *node, struct yk_workload *out, double *alpha)
{
    const char *precision = yk_json_string(yk_json_get(node, "precision"));
    if (!precision || !yk_precision_find(precision, &out->precision)) {
        return yk_fail(YK_ERROR_INPUT, "\"workload\" has no known \"precision\"");
    }
    YK_TRY(need_integer(node, "batch", MOST, &out->batch));
    YK_TRY(need_integer(node, "sequence", MOST, &out->sequence));
    YK_TRY(need_integer(node, "lora_rank", MOST, &out->lora_rank));
    if (!yk_json_number(yk_json_get(node, "lora_alpha"), alpha) ||
        !yk_json_boolean(yk_json_get(node, "nf4"), &out->nf4)) {
        return yk_fail(YK_ERROR_INPUT, "\"workload\" has no \"lora_alpha\" or no \"nf4\"");
    }
    return YK_OK;
}

static yk_status read_settings(const char *bytes, size_t length, struct yk_arena *arena,
                               const char **out)
{
    const size_t marker = sizeof SETTINGS - 1;
    const size_t ending = sizeof ENDING - 1;
    const char *found = memmem(bytes, length, SETTINGS, marker);
    const size_t before = found ? (size_t)(found - bytes) + marker : length;
    if (length < before + ending || memcmp(bytes + length - ending, ENDING, ending) != 0) {
        return yk_fail(YK_ERROR_INPUT, "\"settings\" are not where they were written");
    }
    const size_t kept = length - before - ending;
    YK_TRY(check_object(bytes + before, kept, "settings"));
    *out = yk_arena_copy_text(arena, bytes + before, kept);
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static yk_status read_root(const struct yk_json *root, struct yk_arena *arena,
                           struct yk_checkpoint *out, const char **model)
{
    static const char *const known[] = {
        "yoke",  "kind", "name", "comment", "model",    "step",       "updates",  "samples",
        "epoch", "bad",  "seed", "scaler",  "workload", "base_model", "settings",
    };
    const char *name = NULL;
    YK_TRY(yk_json_check_form(root, "state", known, sizeof known / sizeof known[0]));
    YK_TRY(read_position(root, &out->state));
    YK_TRY(read_workload(yk_json_get(root, "workload"), &out->workload, &out->lora_alpha));
    YK_TRY(yk_json_name(yk_json_get(root, "model"), "model", &name));
    YK_TRY(yk_json_keep(arena, name, model));
    return yk_json_keep(arena, yk_json_string(yk_json_get(root, "base_model")), &out->base_model);
}

yk_status yk_checkpoint_state_read(const char *bytes, size_t length, struct yk_arena *arena,
                                   struct yk_checkpoint *out, const char **model)
{
    struct yk_json *root = NULL;
    YK_TRY(yk_json_parse(bytes, length, &root));
    yk_status status = read_root(root, arena, out, model);
    yk_json_destroy(root);
    return status == YK_OK ? read_settings(bytes, length, arena, &out->settings_json) : status;
}
