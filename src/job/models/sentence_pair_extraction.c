#include "job/models/sentence_pair_extraction.h"

#include "base/json_write.h"
#include "job/output_files.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    KEY_SIZE = 32
};

/* Where programs keep their catalogues; the second is Ubuntu's. */
static const char *const system_folders[] = {"/usr/share/locale", "/usr/share/locale-langpack"};

/* Places in the list of files. */
enum {
    ENGLISH,
    TRANSLATED,
    HELD_OUT_ENGLISH,
    HELD_OUT_TRANSLATED
};

static yk_status name_files(const struct yk_sentence_pair_extraction_request *request,
                            struct yk_sentence_pair_extraction_result *out)
{
    const char *paths[YK_SENTENCE_PAIR_EXTRACTION_MAX_FILES] = {NULL};
    out->path_count =
        request->held_out > 0 ? YK_SENTENCE_PAIR_EXTRACTION_MAX_FILES : HELD_OUT_ENGLISH;
    yk_text_addf(&out->paths[ENGLISH], "%s.en", request->output);
    yk_text_addf(&out->paths[TRANSLATED], "%s.%s", request->output, request->language);
    yk_text_addf(&out->paths[HELD_OUT_ENGLISH], "%s.held-out.en", request->output);
    yk_text_addf(&out->paths[HELD_OUT_TRANSLATED], "%s.held-out.%s", request->output,
                 request->language);
    for (size_t i = 0; i < out->path_count; i++) {
        YK_TRY(yk_text_status(&out->paths[i]));
        paths[i] = yk_text_chars(&out->paths[i]);
    }
    return yk_output_files_check_paths(paths, out->path_count, 0);
}

static void add_line(struct yk_text *out, const char *sentence)
{
    yk_text_add(out, sentence);
    yk_text_add(out, "\n");
}

static yk_status write_files(const struct yk_sentence_pair_extraction_result *result)
{
    const struct yk_gettext_pairs *pairs = result->pairs;
    struct yk_output_files outputs = {.together = true};
    struct yk_text *texts[YK_SENTENCE_PAIR_EXTRACTION_MAX_FILES] = {NULL};
    for (size_t i = 0; i < result->path_count; i++) {
        texts[i] = yk_output_files_add(&outputs, yk_text_chars(&result->paths[i]));
    }
    for (int32_t i = 0; i < pairs->count; i++) {
        const struct yk_gettext_pair *pair = &pairs->items[i];
        add_line(texts[pair->held_out ? HELD_OUT_ENGLISH : ENGLISH], pair->source);
        add_line(texts[pair->held_out ? HELD_OUT_TRANSLATED : TRANSLATED], pair->translation);
    }
    return yk_output_files_write_and_free(&outputs);
}

yk_status yk_sentence_pair_extraction_run(const struct yk_sentence_pair_extraction_request *request,
                                          struct yk_sentence_pair_extraction_result *out)
{
    const size_t folder_count = sizeof system_folders / sizeof system_folders[0];
    const struct yk_gettext_pairs_request wanted = {
        .folders = request->locale_folder ? &request->locale_folder : system_folders,
        .folder_count = request->locale_folder ? 1 : (int32_t)folder_count,
        .language = request->language,
        .longest = request->max_characters,
        .held_out = request->held_out,
    };
    YK_TRY(yk_gettext_pairs_check_language(request->language));
    YK_TRY(name_files(request, out));
    YK_TRY(yk_gettext_pairs_collect(&wanted, &out->pairs));
    return write_files(out);
}

void yk_sentence_pair_extraction_result_free(struct yk_sentence_pair_extraction_result *result)
{
    for (size_t i = 0; i < YK_SENTENCE_PAIR_EXTRACTION_MAX_FILES; i++) {
        yk_text_free(&result->paths[i]);
    }
    yk_gettext_pairs_destroy(result->pairs);
    *result = (struct yk_sentence_pair_extraction_result){0};
}

yk_status
yk_sentence_pair_extraction_write_text(const struct yk_sentence_pair_extraction_result *result,
                                       struct yk_text *out)
{
    const struct yk_gettext_pairs *pairs = result->pairs;
    for (size_t i = 0; i < result->path_count; i++) {
        yk_text_addf(out, "%s%s", i == 0 ? "" : ", ", yk_text_chars(&result->paths[i]));
    }
    yk_text_addf(out, "\n\n  catalogues          %" PRId32 "\n", pairs->catalogues);
    yk_text_addf(out, "  messages            %" PRId64 "\n", pairs->entries);
    yk_text_addf(out, "  pairs               %" PRId32 "\n", pairs->count - pairs->held_out);
    yk_text_addf(out, "  held out            %" PRId32 "\n\nLeft out\n", pairs->held_out);
    yk_text_addf(out, "  catalogues          %" PRId32 "\n", pairs->broken);
    for (int i = YK_SENTENCE_PAIR_ACCEPTED + 1; i < YK_SENTENCE_PAIR_REJECT_REASON_COUNT; i++) {
        yk_text_addf(out, "  %-18s  %" PRId64 "\n",
                     yk_sentence_pair_cleaning_reason_name((enum yk_sentence_pair_reject_reason)i),
                     pairs->rejected[i]);
    }
    return yk_text_status(out);
}

/* "no letters" has the key "no_letters". */
static void write_rejected(enum yk_sentence_pair_reject_reason reason, int64_t count,
                           struct yk_json_writer *json)
{
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof key, "%s", yk_sentence_pair_cleaning_reason_name(reason));
    for (char *c = key; *c; c++) {
        if (*c == ' ') {
            *c = '_';
        }
    }
    yk_json_write_integer(json, key, count);
}

yk_status
yk_sentence_pair_extraction_write_json(const struct yk_sentence_pair_extraction_result *result,
                                       const char *language, struct yk_text *out)
{
    const struct yk_gettext_pairs *pairs = result->pairs;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "pairs");
    yk_json_write_string(&json, "language", language);
    yk_json_write_begin_array(&json, "files");
    for (size_t i = 0; i < result->path_count; i++) {
        yk_json_write_string(&json, NULL, yk_text_chars(&result->paths[i]));
    }
    yk_json_write_end_array(&json);
    yk_json_write_integer(&json, "catalogues", pairs->catalogues);
    yk_json_write_integer(&json, "messages", pairs->entries);
    yk_json_write_integer(&json, "pairs", pairs->count - pairs->held_out);
    yk_json_write_integer(&json, "held_out", pairs->held_out);
    yk_json_write_begin_object(&json, "left_out");
    yk_json_write_integer(&json, "catalogues", pairs->broken);
    for (int i = YK_SENTENCE_PAIR_ACCEPTED + 1; i < YK_SENTENCE_PAIR_REJECT_REASON_COUNT; i++) {
        write_rejected((enum yk_sentence_pair_reject_reason)i, pairs->rejected[i], &json);
    }
    yk_json_write_end_object(&json);
    return yk_json_write_end_yoke_document(&json);
}
