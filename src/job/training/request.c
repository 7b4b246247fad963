#include "job/training/request.h"

#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/log.h"
#include "job/training/folder.h"
#include "plan/plan_file.h"
#include "train/checkpoint/checkpoint.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_NAMES = 128
};

/* ---- option sources ---- */

/* Options that must not change: optimizer state and data position would become meaningless. */
static const char *const fixed_options[] = {
    "model", "data-part", "eval-part", "seq",    "precision", "lora",    "lora-alpha",
    "nf4",   "optimizer", "seed",      "faulty", "packed",    "longest", "tokenizer",
};

static const char *const changeable_options[] = {
    "batch",   "batch-tokens", "micro-batches", "recompute",  "dropout", "label-smoothing",
    "rate",    "rate-rule",    "warmup",        "least-rate", "beta1",   "beta2",
    "epsilon", "decay",        "momentum",      "clip",
};

static yk_status add_source(struct yk_option_files *sources, struct yk_arena *arena,
                            const char *name, const char *json, size_t length)
{
    const struct yk_option_file source = {
        .name = yk_arena_copy_text(arena, name, strlen(name)),
        .json = yk_arena_copy_text(arena, json, length),
    };
    YK_TRY_ALLOCATED(source.name && source.json);
    sources->items[sources->count++] = source;
    return YK_OK;
}

/* `weights` is the value of --weights. Sets `*resumed` to the path of the checkpoint. */
static yk_status add_resumed(const struct yk_train_request *request, const char *weights,
                             struct yk_arena *arena, struct yk_option_files *out,
                             const char **resumed)
{
    const char *folder = NULL;
    struct yk_checkpoint *checkpoint = NULL;
    bool found = false;
    YK_TRY(yk_train_folder_resolve_path(request, arena, &folder));
    YK_TRY(yk_train_folder_has_checkpoint(folder, arena, &found));
    if (!found) {
        return yk_fail(YK_ERROR_INPUT, "%s holds no checkpoint yet; start the run without --resume",
                       folder);
    }
    YK_TRY(yk_checkpoint_open(folder, &checkpoint));
    yk_status status = YK_OK;
    const char *json = checkpoint->options_json;
    if (!json) {
        status = yk_fail(YK_ERROR_INPUT,
                         "%s is no checkpoint of a run, so there is nothing to resume; start from "
                         "its weights with --weights",
                         checkpoint->path);
    } else if (weights && checkpoint->workload.lora_rank == 0) {
        status = yk_fail(YK_ERROR_USAGE,
                         "a run goes on with the weights of its checkpoint; leave out --weights, "
                         "or begin another run with another --out");
    } else {
        status = add_source(out, arena, checkpoint->path, json, strlen(json));
    }
    yk_checkpoint_close(checkpoint);
    YK_TRY(status);
    *resumed = out->items[out->count - 1].name;
    return YK_OK;
}

/* Copies the member `from` of the plan under the name `to`, if the plan has it. */
static void copy_member(const struct yk_json *object, const char *from, const char *to,
                        struct yk_json_writer *out)
{
    const struct yk_json *value = yk_json_get_member(object, from);
    double number = 0;
    bool flag = false;
    if (yk_json_number_value(value, &number) && number > 0) {
        yk_json_write_number(out, to, number);
    } else if (yk_json_string_value(value)) {
        yk_json_write_string(out, to, yk_json_string_value(value));
    } else if (yk_json_boolean_value(value, &flag) && flag) {
        yk_json_write_bool(out, to, true);
    }
}

/* A resumed run already has its model, and the plan may name that model by a different file. */
static void write_planned(const struct yk_json *plan, const struct yk_plan_source_paths *sources,
                          bool resumed, struct yk_text *out)
{
    static const char *const names[][2] = {
        {"batch", "batch"}, {"sequence", "seq"}, {"precision", "precision"},
        {"lora", "lora"},   {"nf4", "nf4"},
    };
    struct yk_json_writer writer = {.text = out};
    bool clip = true;
    yk_json_write_begin_object(&writer, NULL);
    if (!resumed) {
        yk_json_write_string(&writer, "model", sources->model);
    }
    yk_json_write_string(&writer, "cluster", sources->cluster);
    copy_member(plan, "micro_batches", "micro-batches", &writer);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        copy_member(yk_json_get_member(plan, "workload"), names[i][0], names[i][1], &writer);
    }
    if (yk_json_boolean_value(yk_json_get_member(plan, "clip"), &clip) && !clip) {
        yk_json_write_integer(&writer, "clip", 0);
    }
    yk_json_write_end_object(&writer);
}

/* Reads only the workload; the plan itself is read and checked later. */
static yk_status add_planned(const char *path, bool resumed, struct yk_arena *arena,
                             struct yk_option_files *out)
{
    const char *text = NULL;
    size_t length = 0;
    struct yk_text source = {0};
    struct yk_json *plan = NULL;
    struct yk_plan_source_paths sources = {0};
    YK_TRY(yk_file_read_document_to_arena(path, arena, &text, &length));
    YK_TRY(yk_plan_file_parse_source_paths(text, length, path, arena, &sources));
    YK_TRY(yk_json_parse(text, length, &plan));
    write_planned(plan, &sources, resumed, &source);
    yk_json_destroy(plan);
    const yk_status status = add_source(out, arena, path, yk_text_chars(&source), source.length);
    yk_text_free(&source);
    return status;
}

static yk_status add_file(const char *path, struct yk_arena *arena, struct yk_option_files *out)
{
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_file_read_document_to_arena(path, arena, &text, &length));
    return add_source(out, arena, path, text, length);
}

static yk_status check_request(const struct yk_train_request *request)
{
    if (request->steps > 0 && !isnan(request->epochs)) {
        return yk_fail(YK_ERROR_USAGE, "--steps and --epochs both say how long; leave one out");
    }
    if (request->weights && strcmp(request->weights, YK_CHECKPOINT_RANDOM_BASE_MODEL_NAME) != 0 &&
        access(request->weights, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", request->weights, strerror(errno));
    }
    return YK_OK;
}

yk_status yk_train_request_read_option_sources(struct yk_train_request *request,
                                               struct yk_arena *arena, struct yk_option_files *out)
{
    struct yk_train_request named = *request;
    const struct yk_option_file *file = NULL;
    struct yk_option_files from_file = {0};
    YK_TRY(check_request(request));
    if (request->config) {
        YK_TRY(add_file(request->config, arena, &from_file));
        file = &from_file.items[0];
        YK_TRY(yk_option_apply_file(&yk_train_option_table, file, arena, &named));
        if (named.config != request->config) {
            return yk_fail(YK_ERROR_INPUT, "%s: \"config\" names another file; one is enough",
                           request->config);
        }
        named.out = request->out ? request->out : named.out;
        named.plan = request->plan ? request->plan : named.plan;
        named.model = request->model ? request->model : named.model;
    }
    if (named.resume) {
        YK_TRY(add_resumed(&named, request->weights, arena, out, &request->resumed));
    }
    if (named.plan) {
        YK_TRY(add_planned(named.plan, named.resume, arena, out));
    }
    if (file) {
        out->items[out->count++] = *file;
    }
    return YK_OK;
}

/* The member as text; "not given" if it is missing. */
static void add_option(const struct yk_json *options, const char *key, struct yk_text *out)
{
    out->length = 0;
    if (!yk_option_json_value_to_text(yk_json_get_member(options, key), out)) {
        yk_text_add(out, "not given");
    }
}

/* Logs the options that may change when a run is resumed, and did. */
static void note_changes(const struct yk_json *before, const struct yk_json *now,
                         struct yk_text *old, struct yk_text *new)
{
    struct yk_text changes = {0};
    for (size_t i = 0; i < sizeof changeable_options / sizeof changeable_options[0]; i++) {
        add_option(before, changeable_options[i], old);
        add_option(now, changeable_options[i], new);
        if (strcmp(yk_text_chars(old), yk_text_chars(new)) != 0) {
            yk_text_addf(&changes, "%s%s was %s, is now %s", changes.length > 0 ? "; " : "",
                         changeable_options[i], yk_text_chars(old), yk_text_chars(new));
        }
    }
    if (changes.length > 0) {
        yk_log(YK_LOG_NOTE, "%s", yk_text_chars(&changes));
    }
    yk_text_free(&changes);
}

static yk_status compare(const struct yk_json *before, const struct yk_json *now,
                         const char *source)
{
    struct yk_text old = {0};
    struct yk_text new = {0};
    yk_status status = YK_OK;
    for (size_t i = 0; i < sizeof fixed_options / sizeof fixed_options[0] && status == YK_OK; i++) {
        add_option(before, fixed_options[i], &old);
        add_option(now, fixed_options[i], &new);
        if (strcmp(yk_text_chars(&old), yk_text_chars(&new)) != 0) {
            status = yk_fail(YK_ERROR_INPUT,
                             "%s: --%s was %s there and is %s now; a run goes on with what it "
                             "began with: leave it out, or begin another run with another --out",
                             source, fixed_options[i], yk_text_chars(&old), yk_text_chars(&new));
        }
    }
    add_option(before, "data", &old);
    add_option(now, "data", &new);
    if (status == YK_OK && strcmp(yk_text_chars(&old), yk_text_chars(&new)) != 0) {
        yk_log(YK_LOG_NOTE, "--data was %s and is %s now: unless that is the same, samples differ",
               yk_text_chars(&old), yk_text_chars(&new));
    }
    if (status == YK_OK) {
        note_changes(before, now, &old, &new);
    }
    yk_text_free(&old);
    yk_text_free(&new);
    return status;
}

yk_status yk_train_request_check_resume_options(const struct yk_train_request *request,
                                                const char *options_json, const char *source)
{
    struct yk_text text = {0};
    struct yk_json *before = NULL;
    struct yk_json *now = NULL;
    yk_status status = yk_option_write_values_as_json(&yk_train_option_table, request, &text);
    YK_IF_OK(yk_json_parse(options_json, strlen(options_json), &before));
    YK_IF_OK(yk_json_parse(yk_text_chars(&text), text.length, &now));
    YK_IF_OK(compare(before, now, source));
    yk_json_destroy(before);
    yk_json_destroy(now);
    yk_text_free(&text);
    return status;
}

/* ---- options by name ---- */

static yk_status fail_unknown(const char *name)
{
    const char *names[MAX_NAMES];
    size_t count = 0;
    while (count < MAX_NAMES && count < yk_train_option_table.count) {
        names[count] = yk_train_option_table.rows[count].name;
        count++;
    }
    const char *meant = yk_option_suggest_from_names(name, names, count);
    return meant ? yk_fail(YK_ERROR_USAGE, "there is no setting \"%s\"; did you mean \"%s\"?", name,
                           meant)
                 : yk_fail(YK_ERROR_USAGE, "there is no setting \"%s\"", name);
}

static yk_status store_flag(const struct yk_option *option, const char *value,
                            struct yk_arena *arena, struct yk_train_request *out)
{
    if (strcmp(value, "true") == 0) {
        return yk_option_parse_and_store(option, NULL, arena, out);
    }
    if (strcmp(value, "false") != 0) {
        return yk_fail(YK_ERROR_USAGE, "--%s: true or false, not \"%s\"", option->name, value);
    }
    yk_option_set_not_given(option, out);
    return YK_OK;
}

static yk_status store(const struct yk_train_option *given, bool over_sources,
                       struct yk_arena *arena, struct yk_train_request *out)
{
    const struct yk_option *option = yk_option_find(&yk_train_option_table, given->name);
    if (!option) {
        return fail_unknown(given->name);
    }
    if (option->kind == YK_OPTION_FLAG) {
        return store_flag(option, given->value, arena, out);
    }
    const char *kept = NULL;
    YK_TRY(yk_arena_strdup(arena, given->value, &kept));
    return over_sources ? yk_option_override_value(&yk_train_option_table, option, kept, arena, out)
                        : yk_option_parse_and_store(option, kept, arena, out);
}

yk_status yk_train_request_check_option(const struct yk_train_option *option)
{
    struct yk_train_request scratch = {0};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, store(option, false, arena, &scratch));
    return YK_OK;
}

static yk_status store_all(const struct yk_train_option *options, size_t count, bool over_sources,
                           struct yk_arena *arena, struct yk_train_request *out)
{
    for (size_t i = 0; i < count; i++) {
        YK_TRY(store(&options[i], over_sources, arena, out));
    }
    return YK_OK;
}

yk_status yk_train_request_from_options(const struct yk_train_option *options, size_t count,
                                        struct yk_arena *arena, struct yk_train_request *out)
{
    struct yk_train_request request = {0};
    struct yk_option_files sources = {0};
    YK_TRY(yk_option_store_defaults(&yk_train_option_table, arena, &request));
    YK_TRY(store_all(options, count, false, arena, &request));
    YK_TRY(yk_train_request_read_option_sources(&request, arena, &sources));
    if (sources.count > 0) {
        YK_TRY(
            yk_option_apply_defaults_and_files(&yk_train_option_table, &sources, arena, &request));
        YK_TRY(store_all(options, count, true, arena, &request));
    }
    *out = request;
    return YK_OK;
}
