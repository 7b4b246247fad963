#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"
#include "base/utf8.h"
#include "job/models/tokenize.h"
#include "job/text_files.h"
#include "tokenizer/formats/bpe_file.h"
#include "tokenizer/models/bpe.h"
#include "tokenizer/pre_tokenizer.h"

#include <inttypes.h>
#include <string.h>

enum {
    MIN_TIMES = 2,        /* min_frequency of Hugging Face's ByteLevelBPETokenizer */
    MEMORY_PER_WORDS = 16 /* bytes for each one that counting takes */
};

/* A tokenizer that is being learned. */
struct learner {
    const struct yk_tokenize_train_tokenizer_request *request;
    struct yk_arena *arena;
    struct yk_bpe_file_preset style;
    struct yk_pre_tokenizer *pre_tokenizer;
    struct yk_pre_tokenizer_workspace workspace;
    struct yk_chunk_boundary_rules cut;
    struct yk_word_counts *counts;
    struct yk_text_files files;
    struct yk_bpe_trainer_result trained;
    struct yk_tokenize_train_tokenizer_result *result;
};

static yk_status check_specials(const char *const *specials, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const char *name = specials[i];
        const size_t length = strlen(name);
        const size_t valid = yk_utf8_valid_prefix_length(name, length);
        if (length == 0) {
            return yk_fail(YK_ERROR_USAGE, "--special: a token without a name; write tokens such "
                                           "as \"<pad>,<s>,</s>\"");
        }
        if (valid < length) {
            return yk_fail(YK_ERROR_USAGE,
                           "--special: byte 0x%02x of token %" PRId32
                           " is not UTF-8; write names in UTF-8",
                           (unsigned)(unsigned char)name[valid], i + 1);
        }
        for (int32_t k = 0; k < i; k++) {
            if (strcmp(specials[k], name) == 0) {
                return yk_fail(YK_ERROR_USAGE, "--special: %s is there twice; name each token once",
                               name);
            }
        }
    }
    return YK_OK;
}

/* "<pad>,<s>" as special tokens, with nothing put around a text. */
static yk_status split_specials(struct learner *learner, const char *names)
{
    int32_t count = 1;
    for (const char *c = names; *c; c++) {
        count += *c == ',';
    }
    const char **specials = NULL;
    YK_TRY_NEW(learner->arena, specials, count);
    for (int32_t i = 0; i < count; i++) {
        const size_t length = strcspn(names, ",");
        specials[i] = yk_arena_copy_text(learner->arena, names, length);
        YK_TRY_ALLOCATED(specials[i]);
        names += length + 1;
    }
    YK_TRY(check_specials(specials, count));
    learner->style = *yk_bpe_file_preset_at(0);
    learner->style.specials = specials;
    learner->style.special_count = count;
    learner->style.prefix_token = NULL;
    learner->style.suffix_token = NULL;
    return YK_OK;
}

static yk_status choose_style(struct learner *learner)
{
    const char *word = learner->request->special ? learner->request->special : "pairs";
    const struct yk_bpe_file_preset *style = yk_bpe_file_find_preset(word);
    if (style) {
        learner->style = *style;
        return YK_OK;
    }
    /* A bare word is more likely a mistyped style than a token. */
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789")] == '\0') {
        struct yk_text names = {0};
        for (size_t i = 0; (style = yk_bpe_file_preset_at(i)); i++) {
            yk_text_addf(&names, "%s%s", i > 0 ? ", " : "", style->name);
        }
        const yk_status status = yk_fail(YK_ERROR_USAGE,
                                         "--special: \"%s\" is none of %s; or write tokens such as "
                                         "\"<pad>,<s>,</s>\"",
                                         word, yk_text_chars(&names));
        yk_text_free(&names);
        return status;
    }
    return split_specials(learner, word);
}

static yk_status prepare(struct learner *learner)
{
    struct yk_json *words = NULL;
    YK_TRY(choose_style(learner));
    const int64_t min_tokens = (int64_t)learner->style.special_count + YK_TOKENIZE_BYTE_TOKENS;
    if (learner->request->tokens < min_tokens) {
        return yk_fail(YK_ERROR_USAGE,
                       "--learn must be at least %" PRId64 ", not %" PRId64
                       ": there are 256 bytes and %" PRId32 " special tokens",
                       min_tokens, learner->request->tokens, learner->style.special_count);
    }
    learner->result->min_times =
        learner->request->min_times >= 0 ? learner->request->min_times : MIN_TIMES;
    YK_TRY(yk_bpe_file_create_pre_tokenizer(&learner->style, &words));
    yk_chunk_boundary_rules_from_pre_tokenizer(words, &learner->cut);
    const yk_status status =
        yk_pre_tokenizer_from_json(words, YK_BYTE_LEVEL_WORDS_AS_BYTES, &learner->pre_tokenizer);
    yk_json_destroy(words);
    YK_TRY(status);
    YK_TRY(yk_regex_workspace_create(&learner->workspace.regex));
    YK_TRY(yk_word_counts_create(&learner->counts));
    yk_word_counts_set_max_bytes(learner->counts, yk_system_free_memory_bytes() / MEMORY_PER_WORDS);
    const struct yk_tokenize_train_tokenizer_request *request = learner->request;
    YK_TRY(
        yk_text_files_list(request->files, request->file_count, learner->arena, &learner->files));
    return yk_tokenize_check_output_path(&(struct yk_tokenize_output_path){.path = request->output},
                                         &learner->files, learner->arena);
}

static yk_status count_word(void *counts, const struct yk_aligned_segment *word)
{
    YK_TRY(yk_bpe_merge_word_check_length(word->length));
    return yk_word_counts_add(counts, word->bytes, word->length);
}

static yk_status count_words(void *user, const char *path, const char *text, size_t length)
{
    struct learner *learner = user;
    const struct yk_aligned_segment segment = {.bytes = text, .length = length};
    const yk_status status = yk_pre_tokenizer_split(learner->pre_tokenizer, &learner->workspace,
                                                    &segment, count_word, learner->counts);
    return status == YK_OK ? YK_OK : yk_status_prefix_message(status, path);
}

static yk_status learn(struct learner *learner)
{
    const struct yk_text_files_chunk_consumer consumer = {.consume = count_words, .user = learner};
    struct yk_tokenize_train_tokenizer_result *result = learner->result;
    const double start_s = yk_clock_now_s();
    YK_TRY(prepare(learner));
    const struct yk_bpe_trainer_options request = {
        .words = learner->counts,
        .specials = learner->style.specials,
        .special_count = learner->style.special_count,
        .token_count = (int32_t)learner->request->tokens,
        .stop = yk_job_stop_flag(learner->request->job),
        .min_times = result->min_times,
    };
    YK_TRY(yk_text_files_read_chunks(&learner->files, &learner->cut, "counting words", &consumer,
                                     learner->request->job, &result->bytes));
    yk_status status = yk_bpe_trainer_train(&request, &learner->trained);
    YK_TRY(status == YK_ERROR_STOPPED ? yk_text_files_stopped_error() : status);
    struct yk_text file = {0};
    yk_bpe_file_append_contents(&learner->trained, &learner->style, &file);
    status = yk_file_write(learner->request->output, &file);
    yk_text_free(&file);
    result->tokens = yk_token_map_count(learner->trained.tokens);
    result->special = learner->style.special_count;
    result->merges = learner->trained.rule_count;
    result->files = learner->files.count;
    result->words = yk_word_counts_distinct_count(learner->counts);
    result->seconds = yk_clock_now_s() - start_s;
    return status;
}

yk_status yk_tokenize_train_tokenizer(const struct yk_tokenize_train_tokenizer_request *request,
                                      struct yk_tokenize_train_tokenizer_result *out)
{
    struct learner learner = {.request = request, .result = out};
    YK_TRY(yk_arena_create(&learner.arena));
    const yk_status status = learn(&learner);
    yk_bpe_trainer_result_free(&learner.trained);
    yk_word_counts_destroy(learner.counts);
    yk_pre_tokenizer_destroy(learner.pre_tokenizer);
    yk_regex_workspace_destroy(learner.workspace.regex);
    yk_pre_tokenizer_workspace_free(&learner.workspace);
    yk_arena_destroy(learner.arena);
    return status;
}
