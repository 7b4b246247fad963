#include "base/file.h"
#include "base/folder.h"
#include "cli/terminal.h"
#include "job/outputs.h"
#include "job/profiling/profile.h"
#include "job/workload.h"
#include "report/profile_report.h"
#include "report/profile_words.h"

#include <ctype.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct showing {
    const struct yk_profile_words *words;
    struct yk_arena *arena;
    const char **shapes; /* (precisions × layers) of the model that is named */
    struct yk_profile_report_wish wish;
    struct yk_profile_report report;
};

/* Adds the shapes of the model's layers, of which there are as many in any precision. */
static yk_status add_shapes(struct showing *showing, const struct yk_model_config *config,
                            const char *precision)
{
    const struct yk_profile_words *words = showing->words;
    const struct yk_workload_request workload_words = {
        .batch = words->batch,
        .sequence = words->sequence,
        .target_sequence = words->target_sequence,
        .precision = precision,
        .lora_rank = words->lora_rank,
        .nf4 = words->nf4,
    };
    struct yk_workload workload;
    const struct yk_model *model = NULL;
    YK_TRY(yk_workload_read(&workload_words, config, &workload));
    YK_TRY(yk_model_describe(config, &workload, showing->arena, &model));
    if (!showing->shapes) {
        YK_TRY_NEW(showing->arena, showing->shapes, YK_PRECISION_COUNT * model->layer_count);
        showing->wish.shapes = showing->shapes;
    }
    for (int32_t l = 0; l < model->layer_count; l++) {
        showing->shapes[showing->wish.shape_count++] = model->layers[l].shape;
    }
    return YK_OK;
}

/* Whether a list of words with commas between them has this one. */
static bool names(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at;) {
        const size_t here = strcspn(at, ",");
        if (here == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += here + (at[here] == ',' ? 1 : 0);
    }
    return false;
}

/* Layers of the model only, in the precisions that are named, or in any. */
static yk_status choose_layers(struct showing *showing)
{
    const struct yk_profile_words *words = showing->words;
    const struct yk_model_config *config = NULL;
    YK_TRY(yk_model_config_open(words->model, showing->arena, &config));
    for (int p = 0; p < YK_PRECISION_COUNT; p++) {
        const char *precision = yk_precision_name((enum yk_precision)p);
        if (!words->precision || names(words->precision, precision)) {
            YK_TRY(add_shapes(showing, config, precision));
        }
    }
    showing->wish.sequence = words->sequence;
    return showing->shapes ? YK_OK
                           : yk_fail(YK_ERROR_USAGE,
                                     "--precision %s: there is fp32, tf32, fp16, "
                                     "bf16",
                                     words->precision);
}

static yk_status read_profile(struct showing *showing)
{
    struct yk_profile *profile = NULL;
    const char *path = showing->wish.path;
    if (!showing->words->profile && access(path, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "nothing has been measured yet: there is no %s; yoke profile --model MODEL "
                       "measures",
                       path);
    }
    YK_TRY(yk_profile_open(path, &profile));
    const yk_status status =
        yk_profile_report_make(profile, &showing->wish, showing->arena, &showing->report);
    yk_profile_close(profile);
    return status;
}

/* What a file is called: letters and digits of `words`, others are hyphens. */
static void add_file_name(const char *words, struct yk_text *out)
{
    for (const char *letter = words; *letter; letter++) {
        const char lower = (char)tolower((unsigned char)*letter);
        const bool plain = isalnum((unsigned char)*letter) && (unsigned char)*letter < 128;
        const bool repeats = out->length > 0 && out->bytes[out->length - 1] == '-';
        if (plain || !repeats) {
            yk_text_add_bytes(out, plain ? &lower : "-", 1);
        }
    }
}

/* Names that differ in other signs only are told apart by their numbers. */
static yk_status write_picture(const struct showing *showing, const char *kind, int32_t number,
                               const char *words, const struct yk_text *picture)
{
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s-%d-", showing->words->svg, kind, (int)number);
    add_file_name(words, &path);
    yk_text_add(&path, ".svg");
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        status = yk_file_write_own(yk_text_chars(&path), picture);
    }
    yk_text_free(&path);
    return status;
}

static yk_status draw_links(const struct showing *showing)
{
    const struct yk_profile_report *report = &showing->report;
    yk_status status = YK_OK;
    for (int32_t i = 0, next = 0, number = 1; i < report->link_count && status == YK_OK;
         i = next, number++) {
        struct yk_text picture = {0};
        status = yk_profile_figure_link(report, i, showing->arena, &picture, &next);
        if (status == YK_OK) {
            status = write_picture(showing, "link", number, report->links[i].rows[0].link.link,
                                   &picture);
        }
        yk_text_free(&picture);
    }
    return status;
}

static yk_status draw_layers(const struct showing *showing)
{
    const struct yk_profile_report *report = &showing->report;
    yk_status status = YK_OK;
    for (int32_t i = 0; i < report->layer_count && status == YK_OK; i++) {
        const struct yk_profile_layer *layer = &report->layers[i].rows[0].layer;
        struct yk_text picture = {0};
        struct yk_text words = {0};
        yk_profile_say_device(layer, &words);
        yk_text_addf(&words, " %s", layer->shape);
        status = yk_profile_figure_layer(&report->layers[i], showing->arena, &picture);
        if (status == YK_OK) {
            status = write_picture(showing, "layer", i + 1, yk_text_chars(&words), &picture);
        }
        yk_text_free(&words);
        yk_text_free(&picture);
    }
    return status;
}

static yk_status draw(const struct showing *showing)
{
    YK_TRY(yk_folder_make(showing->words->svg));
    YK_TRY(draw_links(showing));
    return draw_layers(showing);
}

static bool is_empty(const struct yk_profile_report *report)
{
    return report->layer_row_count + report->link_row_count + report->fact_count == 0;
}

static yk_status write_report(const struct showing *showing, struct yk_text *out)
{
    if (showing->words->json) {
        return yk_profile_report_json(&showing->report, out);
    }
    if (is_empty(&showing->report)) {
        yk_text_addf(out, "%s: %s\n", showing->wish.path,
                     showing->report.known > 0
                         ? "nothing that was measured is of this device and model"
                         : "nothing has been measured yet");
        return yk_text_status(out);
    }
    return yk_profile_report_text(&showing->report, yk_terminal_width(), out);
}

static yk_status show(struct showing *showing, struct yk_text *out)
{
    const struct yk_profile_words *words = showing->words;
    struct yk_outputs outputs = {0};
    YK_TRY(yk_profiling_find_path(words, showing->arena, &showing->wish.path));
    showing->wish.now = (int64_t)time(NULL);
    showing->wish.device =
        words->device && strcmp(words->device, "all") != 0 ? words->device : NULL;
    if (words->model) {
        YK_TRY(choose_layers(showing));
    }
    YK_TRY(read_profile(showing));
    YK_TRY(write_report(showing, out));
    if (words->svg) {
        yk_outputs_made(&outputs, draw(showing));
    }
    return yk_terminal_print_despite(yk_outputs_write(&outputs), out);
}

yk_status yk_profile_show_run(const struct yk_profile_words *words, struct yk_text *out)
{
    struct showing showing = {.words = words};
    YK_TRY(yk_arena_create(&showing.arena));
    const yk_status status = show(&showing, out);
    yk_arena_destroy(showing.arena);
    return status;
}
