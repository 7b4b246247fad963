#include "job/models/pair_extraction.h"

#include "data/gettext_pairs.h"
#include "job/output_files.h"

/* Where programs keep their catalogues; the second is Ubuntu's. */
static const char *const system_folders[] = {"/usr/share/locale", "/usr/share/locale-langpack"};

/* Places in the list of files. */
enum {
    ENGLISH,
    TRANSLATED,
    HELD_OUT_ENGLISH,
    HELD_OUT_TRANSLATED
};

static yk_status name_files(const struct yk_pair_extraction_request *request,
                            struct yk_pair_extraction_result *out)
{
    const char *paths[YK_PAIR_EXTRACTION_MAX_FILES] = {NULL};
    out->path_count = request->held_out > 0 ? YK_PAIR_EXTRACTION_MAX_FILES : HELD_OUT_ENGLISH;
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

static yk_status write_files(const struct yk_gettext_pairs *pairs,
                             const struct yk_pair_extraction_result *result)
{
    struct yk_output_files outputs = {.together = true};
    struct yk_text *texts[YK_PAIR_EXTRACTION_MAX_FILES] = {NULL};
    for (size_t i = 0; i < result->path_count; i++) {
        texts[i] = yk_output_files_add(&outputs, yk_text_chars(&result->paths[i]));
    }
    for (int32_t i = 0; i < pairs->count; i++) {
        const struct yk_gettext_pair *pair = &pairs->items[i];
        add_line(texts[pair->held_out ? HELD_OUT_ENGLISH : ENGLISH], pair->source);
        add_line(texts[pair->held_out ? HELD_OUT_TRANSLATED : TRANSLATED], pair->translation);
    }
    return yk_output_files_write(&outputs);
}

static void count(const struct yk_gettext_pairs *pairs, struct yk_pair_extraction_result *out)
{
    out->catalogues = pairs->catalogues;
    out->broken = pairs->broken;
    out->messages = pairs->entries;
    out->pairs = pairs->count - pairs->held_out;
    out->held_out = pairs->held_out;
    for (int i = YK_PAIR_ACCEPTED + 1; i < YK_PAIR_REJECT_REASON_COUNT; i++) {
        out->left_out[out->left_out_count++] = (struct yk_pair_extraction_rejections){
            .reason = yk_pair_cleaning_reason_name((enum yk_pair_reject_reason)i),
            .count = pairs->rejected[i],
        };
    }
}

yk_status yk_pair_extraction_run(const struct yk_pair_extraction_request *request,
                                 struct yk_pair_extraction_result *out)
{
    struct yk_gettext_pairs *pairs = NULL;
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
    YK_TRY(yk_gettext_pairs_collect(&wanted, &pairs));
    const yk_status status = write_files(pairs, out);
    if (status == YK_OK) {
        count(pairs, out);
    }
    yk_gettext_pairs_destroy(pairs);
    return status;
}

void yk_pair_extraction_result_free(struct yk_pair_extraction_result *result)
{
    for (size_t i = 0; i < YK_PAIR_EXTRACTION_MAX_FILES; i++) {
        yk_text_free(&result->paths[i]);
    }
    *result = (struct yk_pair_extraction_result){0};
}
