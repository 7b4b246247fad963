#include "base/number.h"
#include "cli/interrupt.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "data/chat.h"
#include "job/loaded.h"
#include "nn/forward.h"
#include "nn/sample.h"

#include <string.h>

enum {
    MOST_TORN = 8,   /* tokens that one character may take */
    MOST_BEGUN = 64, /* tokens around the prompt */
};

struct arguments {
    struct yk_loaded_request loaded;
    const char *prompt;
    bool chat;
    int64_t tokens;
    double temperature;
    int64_t top_k;
    double top_p;
    int64_t seed;
};

/* What is being written, and what it is written with. */
struct writing {
    const struct arguments *arguments;
    struct yk_loaded loaded;
    struct yk_forward *forward;
    int64_t window; /* the most tokens that the model looks back on */
    int64_t known;  /* V */
    int32_t *ids;   /* of the prompt and after it */
    int64_t count;
    int64_t printed;
    float *logits;                   /* (V) */
    struct yk_sample_place *scratch; /* (V) */
};

/* "464,3290" as ids. */
static yk_status read_ids(struct writing *writing)
{
    const char *word = writing->arguments->prompt;
    while (*word) {
        const size_t length = strcspn(word, ",");
        int64_t id = 0;
        if (!yk_number_read_integer(word, length, &id) || id < 0 || id >= writing->known) {
            return yk_fail(YK_ERROR_USAGE,
                           "--prompt: \"%.*s\" is no token of this model, which has no tokenizer; "
                           "write ids from 0 to %lld with commas between them",
                           (int)length, word, (long long)writing->known - 1);
        }
        writing->ids[writing->count++] = (int32_t)id;
        word += length + (word[length] == ',' ? 1 : 0);
    }
    return YK_OK;
}

/* Texts begin with the token that a tokenizer has for it, as published models expect; one that was
 * trained on text alone has hardly seen it. */
static yk_status keep_prompt(struct writing *writing, const struct yk_ids *ids)
{
    const int32_t begin = yk_tokenizer_role(writing->loaded.tokenizer, YK_TOKEN_BEGIN);
    YK_TRY(yk_ids_status(ids));
    if (begin >= 0 && (ids->count == 0 || ids->items[0] != begin)) {
        writing->ids[writing->count++] = begin;
    }
    for (int64_t i = 0; i < ids->count; i++) {
        if (ids->items[i] >= writing->known) {
            return yk_fail(YK_ERROR_INPUT,
                           "--prompt: token %d is outside the model's vocabulary of %lld; its "
                           "tokenizer does not fit it",
                           (int)ids->items[i], (long long)writing->known);
        }
        writing->ids[writing->count++] = ids->items[i];
    }
    return YK_OK;
}

/* The prompt as what a user says, up to where the answer begins. */
static yk_status add_chat(const struct writing *writing, struct yk_encoder *encoder,
                          struct yk_ids *out)
{
    struct yk_chat chat = {0};
    int64_t first = 0;
    yk_status status = yk_chat_open(writing->loaded.tokenizer, encoder, &chat);
    if (status == YK_OK) {
        yk_chat_add_begin(&chat, out);
        status = yk_chat_add_message(&chat, YK_CHAT_USER, writing->arguments->prompt, "--prompt",
                                     out, &first);
    }
    if (status == YK_OK) {
        yk_chat_add_header(&chat, YK_CHAT_ASSISTANT, out);
    }
    yk_chat_close(&chat);
    return status;
}

static yk_status read_prompt(struct writing *writing)
{
    const char *prompt = writing->arguments->prompt;
    const struct yk_tokenizer *tokenizer = writing->loaded.tokenizer;
    struct yk_encoder *encoder = NULL;
    struct yk_ids ids = {0};
    if (!tokenizer) {
        return read_ids(writing);
    }
    YK_TRY(yk_encoder_create(tokenizer, &encoder));
    yk_status status = writing->arguments->chat ? add_chat(writing, encoder, &ids)
                                                : yk_encoder_add(encoder, prompt, strlen(prompt),
                                                                 "--prompt", YK_FRAMING_NONE, &ids);
    if (status == YK_OK) {
        status = keep_prompt(writing, &ids);
    }
    /* What was asked is not said again. */
    writing->printed = writing->arguments->chat ? writing->count : 0;
    yk_encoder_destroy(encoder);
    yk_ids_free(&ids);
    return status;
}

static yk_status check_model(const struct yk_loaded *loaded)
{
    const struct yk_model_config *config = loaded->model->config;
    if (config->encoder_layers > 0) {
        return yk_fail(YK_ERROR_INPUT, "%s is an encoder–decoder; see yoke translate",
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

static yk_status begin(struct writing *writing)
{
    struct yk_loaded *loaded = &writing->loaded;
    const struct arguments *arguments = writing->arguments;
    YK_TRY(yk_loaded_open(&arguments->loaded, loaded));
    YK_TRY(check_model(loaded));
    writing->known = yk_model_config_target_vocabulary(loaded->model->config);
    const size_t most = MOST_BEGUN + strlen(arguments->prompt) + (size_t)arguments->tokens;
    writing->window = loaded->model->workload.sequence;
    writing->window = (int64_t)most < writing->window ? (int64_t)most : writing->window;
    YK_TRY_NEW(loaded->arena, writing->ids, most);
    YK_TRY_NEW(loaded->arena, writing->logits, writing->known);
    YK_TRY_NEW(loaded->arena, writing->scratch, writing->known);
    YK_TRY(read_prompt(writing));
    return yk_forward_create(
        loaded->store,
        &(struct yk_forward_shape){.samples = 1, .sequence = writing->window, .last_only = true},
        &writing->forward);
}

/* Whether text ends in what a cut-off character is shown as: more tokens may complete it. */
static bool ends_torn(const struct yk_text *text)
{
    static const char torn[] = "\xef\xbf\xbd";
    const size_t length = sizeof torn - 1;
    return text->length >= length && memcmp(text->bytes + text->length - length, torn, length) == 0;
}

/* Prints what has not been printed yet; but not half a character, unless it is the end. */
static yk_status print_new(struct writing *writing, bool last)
{
    const struct yk_tokenizer *tokenizer = writing->loaded.tokenizer;
    const int32_t *ids = writing->ids + writing->printed;
    const int64_t count = writing->count - writing->printed;
    struct yk_text text = {0};
    yk_status status = YK_OK;
    if (tokenizer) {
        status = yk_tokenizer_decode(tokenizer, ids, count, true, &text);
    }
    for (int64_t i = 0; i < count && !tokenizer; i++) {
        yk_text_addf(&text, writing->printed + i > 0 ? ",%d" : "%d", (int)ids[i]);
    }
    if (status == YK_OK) {
        status = yk_text_status(&text);
    }
    const bool torn = !last && count < MOST_TORN && ends_torn(&text);
    if (status == YK_OK && !torn) {
        status = yk_terminal_print_data(&text);
        writing->printed = writing->count;
    }
    yk_text_free(&text);
    return status;
}

static yk_status write_token(struct writing *writing, struct yk_random *random)
{
    const struct arguments *arguments = writing->arguments;
    const struct yk_sample_settings settings = {
        .temperature = arguments->temperature,
        .top_k = arguments->top_k,
        .top_p = arguments->top_p,
    };
    const int64_t seen = writing->count < writing->window ? writing->count : writing->window;
    YK_TRY(yk_forward_run(writing->forward, writing->ids + writing->count - seen, 1, seen));
    YK_TRY(yk_forward_logits(writing->forward, 0, 0, writing->logits));
    YK_TRY(yk_sample_token(writing->logits, writing->known, &settings, random, writing->scratch,
                           &writing->ids[writing->count]));
    writing->count++;
    return print_new(writing, false);
}

/* What was written last ends the text. */
static bool has_ended(const struct writing *writing)
{
    const struct yk_tokenizer *tokenizer = writing->loaded.tokenizer;
    const int32_t last = writing->ids[writing->count - 1];
    return tokenizer && (last == yk_tokenizer_role(tokenizer, YK_TOKEN_END) ||
                         last == yk_tokenizer_id(tokenizer, "<|eot_id|>"));
}

static yk_status write_all(struct writing *writing)
{
    const atomic_bool *stop = yk_interrupt_watch();
    struct yk_random random = yk_random_from_seed((uint64_t)writing->arguments->seed);
    YK_TRY(begin(writing));
    YK_TRY(print_new(writing, false));
    for (int64_t i = 0; i < writing->arguments->tokens && !atomic_load(stop); i++) {
        YK_TRY(write_token(writing, &random));
        if (has_ended(writing)) {
            break;
        }
    }
    return print_new(writing, true);
}

static yk_status run(const void *given, struct yk_text *out)
{
    struct writing writing = {.arguments = given};
    if (!writing.arguments->prompt) {
        return yk_fail(YK_ERROR_USAGE, "say what the text begins with: --prompt \"int main\"");
    }
    const yk_status status = write_all(&writing);
    yk_forward_destroy(writing.forward);
    yk_loaded_close(&writing.loaded);
    if (status != YK_OK) {
        if (writing.printed > 0) {
            yk_terminal_end_line();
        }
        return status;
    }
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

static const struct yk_operand operands[] = {
    YK_LOADED_OPERAND(struct arguments, loaded),
};

static const struct yk_option options[] = {
    {
        .name = "prompt",
        .placeholder = "TEXT",
        .help =
            "What the text begins with; for a model without a tokenizer, ids of tokens: 464,3290",
        .group = "Text options",
        .kind = YK_OPTION_TEXT,
        .offset = offsetof(struct arguments, prompt),
    },
    {
        .name = "chat",
        .help = "The prompt is what a user asks: print the answer of a model that was taught so, "
                "in Llama 3's form",
        .group = "Text options",
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, chat),
    },
    {
        .name = "tokens",
        .placeholder = "N",
        .help = "Write this many tokens",
        .group = "Text options",
        .preset = "200",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = 1 << 30,
        .offset = offsetof(struct arguments, tokens),
    },
    {
        .name = "temperature",
        .placeholder = "NUMBER",
        .help = "How daring: less than 1 prefers likely tokens even more, 0 takes the likeliest",
        .group = "Text options",
        .preset = "0.8",
        .kind = YK_OPTION_NUMBER,
        .zero = true,
        .offset = offsetof(struct arguments, temperature),
    },
    {
        .name = "top-k",
        .placeholder = "N",
        .help = "Choose among the N likeliest tokens; 0: among all",
        .group = "Text options",
        .preset = "0",
        .kind = YK_OPTION_INTEGER,
        .most = INT64_MAX,
        .offset = offsetof(struct arguments, top_k),
    },
    {
        .name = "top-p",
        .placeholder = "P",
        .help = "Choose among the likeliest tokens that together have this probability",
        .group = "Text options",
        .preset = "1",
        .kind = YK_OPTION_NUMBER,
        .ceiling = 1,
        .offset = offsetof(struct arguments, top_p),
    },
    {
        .name = "seed",
        .placeholder = "N",
        .help = "Seed of the choice: the same text every time",
        .group = "Text options",
        .preset = "1",
        .kind = YK_OPTION_INTEGER,
        .most = INT64_MAX,
        .offset = offsetof(struct arguments, seed),
    },
    YK_LOADED_OPTIONS(struct arguments, loaded),
};

static const struct yk_example examples[] = {
    {"yoke generate runs/gpt-mini --prompt \"static yk_status \"",
     "Let a model that was trained on source go on with it"},
    {"yoke generate runs/tuned --chat --prompt \"What is 3 plus 4?\"",
     "Ask a model that was tuned on instructions"},
    {"yoke generate runs/gpt-mini --prompt \"The \" --tokens 500 --temperature 1 --top-k 40",
     "A longer and more daring text"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "the checkpoint makes no sense, or the prompt has characters it never saw"},
    {YK_ERROR_NUMBERS, "the model's weights have gone bad"},
    {0, NULL},
};

const struct yk_command yk_command_generate = {
    .name = "generate",
    .summary = "let a trained model go on with a text",
    .description = "Prints the prompt and then token after token as the model draws them, each "
                   "from what it has read and written so far, up to the length of its samples in "
                   "training. Ctrl-C ends the text, and so does a token that ends texts.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
