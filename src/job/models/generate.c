#include "job/models/generate.h"

#include "base/number.h"
#include "job/models/chat_prompt.h"
#include "nn/inference/inference.h"
#include "nn/inference/sampling.h"
#include "tokenizer/tokenizer_encoder.h"

#include <string.h>

enum {
    MAX_TORN = 8 /* tokens that one character may take */
};

/* The state of a generation. */
struct generation {
    const struct yk_generate_request *request;
    struct yk_loaded_model loaded;
    struct yk_inference *inference;
    int64_t window;     /* context length: tokens that the model attends to */
    int64_t vocabulary; /* V */
    int32_t *ids;       /* of the prompt and after it */
    int64_t count;
    int64_t emitted;                       /* of them */
    int32_t chat_end;                      /* token that ends an answer; −1: none */
    float *logits;                         /* (V) */
    struct yk_sampling_candidate *scratch; /* (V) */
};

/* "464,3290" as ids. */
static yk_status read_ids(const struct generation *generation, struct yk_token_ids *out)
{
    const char *word = generation->request->prompt;
    while (*word) {
        const size_t length = strcspn(word, ",");
        int64_t id = 0;
        if (!yk_number_parse_integer(word, length, &id) || id < 0 || id >= generation->vocabulary) {
            return yk_fail(YK_ERROR_USAGE,
                           "--prompt: \"%.*s\" is no token of this model, which has no tokenizer; "
                           "write ids from 0 to %lld with commas between them",
                           (int)length, word, (long long)generation->vocabulary - 1);
        }
        yk_token_ids_add(out, (int32_t)id);
        word += length + (word[length] == ',' ? 1 : 0);
    }
    return YK_OK;
}

/* Texts begin with the token that a tokenizer has for it, as published models expect; one that was
 * trained on text alone has hardly seen it. */
static yk_status read_text(const struct generation *generation, struct yk_token_ids *out)
{
    const struct yk_tokenizer *tokenizer = generation->loaded.tokenizer;
    const char *prompt = generation->request->prompt;
    const int32_t begin = yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_BEGIN);
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    YK_TRY(yk_tokenizer_encoder_create(tokenizer, &encoder));
    const yk_status status = yk_tokenizer_encoder_encode(
        encoder, prompt, strlen(prompt), "--prompt", YK_ADD_SPECIAL_TOKENS_NO, &ids);
    if (begin >= 0 && (ids.count == 0 || ids.items[0] != begin)) {
        yk_token_ids_add(out, begin);
    }
    yk_token_ids_add_all(out, ids.items, ids.count);
    yk_tokenizer_encoder_destroy(encoder);
    yk_token_ids_free(&ids);
    return status;
}

static yk_status read_chat(struct generation *generation, struct yk_token_ids *out)
{
    const struct yk_generate_request *request = generation->request;
    const struct yk_chat_prompt_request prompt = {
        .options = request->chat_options,
        .messages = request->messages,
        .system = request->system,
        .prompt = request->prompt,
    };
    return yk_chat_prompt_encode(&prompt, generation->loaded.checkpoint->tokenizer, out,
                                 &generation->chat_end);
}

/* Copies the tokens of the prompt to memory with room for those that are generated. */
static yk_status store_prompt(struct generation *generation, const struct yk_token_ids *ids)
{
    struct yk_loaded_model *loaded = &generation->loaded;
    YK_TRY(yk_token_ids_status(ids));
    if (ids->count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       generation->request->chat
                           ? "the chat template writes nothing for this chat; name another by "
                             "--chat-template"
                           : "--prompt: the tokenizer gives no token for this text");
    }
    const int64_t most = ids->count + generation->request->tokens;
    generation->window = loaded->model->workload.sequence;
    generation->window = most < generation->window ? most : generation->window;
    YK_TRY_NEW(loaded->arena, generation->ids, most);
    for (int64_t i = 0; i < ids->count; i++) {
        if (ids->items[i] >= generation->vocabulary) {
            return yk_fail(YK_ERROR_INPUT,
                           "--prompt: token %d is outside the model's vocabulary of %lld; its "
                           "tokenizer does not fit it",
                           (int)ids->items[i], (long long)generation->vocabulary);
        }
        generation->ids[generation->count++] = ids->items[i];
    }
    return YK_OK;
}

static yk_status read_prompt(struct generation *generation)
{
    const bool chat = generation->request->chat;
    const bool has_tokenizer = generation->loaded.tokenizer != NULL;
    struct yk_token_ids ids = {0};
    if (chat && !has_tokenizer) {
        return yk_fail(YK_ERROR_INPUT, "%s has no tokenizer, and chats are text",
                       generation->loaded.checkpoint->path);
    }
    yk_status status = chat            ? read_chat(generation, &ids)
                       : has_tokenizer ? read_text(generation, &ids)
                                       : read_ids(generation, &ids);
    YK_IF_OK(store_prompt(generation, &ids));
    /* The question is not printed. */
    generation->emitted = chat ? generation->count : 0;
    yk_token_ids_free(&ids);
    return status;
}

static yk_status check_model(const struct yk_loaded_model *loaded)
{
    const struct yk_model_config *config = loaded->model->config;
    if (config->encoder_layers > 0) {
        return yk_fail(YK_ERROR_INPUT, "%s is an encoder–decoder; see yoke translate",
                       loaded->checkpoint->path);
    }
    if (yk_model_config_reads_images(config)) {
        return yk_fail(YK_ERROR_INPUT, "%s classifies images and writes no text; see yoke eval",
                       loaded->checkpoint->path);
    }
    if (config->masked_head) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s foretells words between others and does not go on with a text; see "
                       "yoke eval",
                       loaded->checkpoint->path);
    }
    return YK_OK;
}

static yk_status begin(struct generation *generation)
{
    struct yk_loaded_model *loaded = &generation->loaded;
    const struct yk_generate_request *request = generation->request;
    YK_TRY(yk_loaded_model_open(&request->model, loaded));
    YK_TRY(check_model(loaded));
    generation->vocabulary = yk_model_config_target_vocabulary_size(loaded->model->config);
    YK_TRY_NEW(loaded->arena, generation->logits, generation->vocabulary);
    YK_TRY_NEW(loaded->arena, generation->scratch, generation->vocabulary);
    YK_TRY(read_prompt(generation));
    return yk_inference_create(loaded->store,
                               &(struct yk_inference_shape){
                                   .samples = 1, .sequence = generation->window, .last_only = true},
                               &generation->inference);
}

/* Whether text ends in what a cut-off character is shown as: more tokens may complete it. */
static bool ends_in_partial_character(const struct yk_text *text)
{
    static const char torn[] = "\xef\xbf\xbd";
    const size_t length = sizeof torn - 1;
    return text->length >= length && memcmp(text->bytes + text->length - length, torn, length) == 0;
}

/* Passes the text of new tokens to the callback. Keeps a partial character back, unless `last`. */
static yk_status emit_text(struct generation *generation, bool last)
{
    const struct yk_tokenizer *tokenizer = generation->loaded.tokenizer;
    const int32_t *ids = generation->ids + generation->emitted;
    const int64_t count = generation->count - generation->emitted;
    struct yk_text text = {0};
    yk_status status = YK_OK;
    if (tokenizer) {
        status = yk_tokenizer_decode(tokenizer, ids, count, true, &text);
    }
    for (int64_t i = 0; i < count && !tokenizer; i++) {
        yk_text_addf(&text, generation->emitted + i > 0 ? ",%d" : "%d", (int)ids[i]);
    }
    YK_IF_OK(yk_text_status(&text));
    const bool torn = !last && count < MAX_TORN && ends_in_partial_character(&text);
    if (status == YK_OK && !torn) {
        generation->emitted = generation->count;
        if (text.length > 0) {
            status = generation->request->text(generation->request->user, text.bytes, text.length);
        }
    }
    yk_text_free(&text);
    return status;
}

static yk_status write_token(struct generation *generation, struct yk_random *random)
{
    const struct yk_generate_request *request = generation->request;
    const struct yk_sampling_options options = {
        .temperature = request->temperature,
        .top_k = request->top_k,
        .top_p = request->top_p,
    };
    const int64_t visible =
        generation->count < generation->window ? generation->count : generation->window;
    YK_TRY(yk_inference_run(generation->inference, generation->ids + generation->count - visible, 1,
                            visible));
    YK_TRY(yk_inference_get_logits(generation->inference, 0, 0, generation->logits));
    YK_TRY(yk_sampling_draw_token(generation->logits, generation->vocabulary, &options, random,
                                  generation->scratch, &generation->ids[generation->count]));
    generation->count++;
    return emit_text(generation, false);
}

/* What was written last ends the text: by the tokenizer, or by the model's config. */
static bool reached_end_token(const struct generation *generation)
{
    const struct yk_tokenizer *tokenizer = generation->loaded.tokenizer;
    const struct yk_special_token_ids *ids = &generation->loaded.model->config->ids;
    const int32_t last = generation->ids[generation->count - 1];
    bool ends = tokenizer && (last == ids->end || last == generation->chat_end ||
                              last == yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_END) ||
                              last == yk_tokenizer_find_token_id(tokenizer, "<|eot_id|>"));
    for (int32_t i = 0; tokenizer && i < ids->more_end_count; i++) {
        ends = ends || last == ids->more_ends[i];
    }
    return ends;
}

static yk_status write_all(struct generation *generation, struct yk_generate_result *out)
{
    const struct yk_generate_request *request = generation->request;
    struct yk_random random = yk_random_from_seed((uint64_t)request->seed);
    YK_TRY(begin(generation));
    out->prompt_tokens = generation->count;
    YK_TRY(emit_text(generation, false));
    while (out->tokens < request->tokens && !out->ended && !yk_job_stop_requested(request->job)) {
        YK_TRY(write_token(generation, &random));
        out->tokens++;
        out->ended = reached_end_token(generation);
    }
    return emit_text(generation, true);
}

yk_status yk_generate_run(const struct yk_generate_request *request, struct yk_generate_result *out)
{
    struct generation generation = {.request = request, .chat_end = -1};
    *out = (struct yk_generate_result){0};
    const yk_status status = write_all(&generation, out);
    yk_inference_destroy(generation.inference);
    yk_loaded_model_close(&generation.loaded);
    return status;
}
