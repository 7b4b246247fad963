#include "job/models/tokenize.h"
#include "base/json_node.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/command.h"
#include "cli/options/common_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"

#include <inttypes.h>
#include <string.h>

enum {
    MAX_BUFFERED_BYTES = 1 << 22,
    TOKENS_BETWEEN_CHECKS = 1 << 14
};

/* "3 files, 1.2MB" */
static void add_files(int32_t files, int64_t bytes, struct yk_text *out)
{
    yk_text_addf(out, "%" PRId32 " file%s, %s", files, yk_text_plural_suffix(files),
                 YK_UNITS_FORMAT_TEMPORARY((double)bytes, YK_UNIT_BYTES));
}

static yk_status learned_text(const struct yk_tokenize_train_tokenizer_request *request,
                              const struct yk_tokenize_train_tokenizer_result *result,
                              struct yk_text *out)
{
    yk_text_addf(out, "%s\n\n  text    ", request->output);
    add_files(result->files, result->bytes, out);
    yk_text_addf(out, ", %" PRId32 " different words\n", result->words);
    yk_text_addf(out, "  tokens  %" PRId32 ": %" PRId32 " special, %d bytes, %" PRId32 " learned\n",
                 result->tokens, result->special, YK_TOKENIZE_BYTE_TOKENS,
                 result->tokens - result->special - YK_TOKENIZE_BYTE_TOKENS);
    yk_text_addf(out, "  took    %s\n",
                 YK_UNITS_FORMAT_TEMPORARY(result->seconds, YK_UNIT_SECONDS));
    if (result->tokens < request->tokens) {
        const int64_t times = result->min_times > 1 ? result->min_times : 1;
        yk_text_addf(out,
                     "\nno pair was left that occurs at least %" PRId64 " time%s; a longer text "
                     "gives more tokens\n",
                     times, yk_text_plural_suffix(times));
    }
    return yk_text_status(out);
}

static yk_status learned_json(const struct yk_tokenize_train_tokenizer_request *request,
                              const struct yk_tokenize_train_tokenizer_result *result,
                              struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "learned tokenizer");
    yk_json_write_string(&json, "output", request->output);
    yk_json_write_integer(&json, "tokens", result->tokens);
    yk_json_write_integer(&json, "special", result->special);
    yk_json_write_integer(&json, "merges", result->merges);
    yk_json_write_integer(&json, "files", result->files);
    yk_json_write_integer(&json, "bytes", result->bytes);
    yk_json_write_integer(&json, "words", result->words);
    yk_json_write_number(&json, "seconds", result->seconds);
    return yk_json_write_end_yoke_document(&json);
}

static yk_status encoded_text(const struct yk_tokenize_write_shards_request *request,
                              const struct yk_tokenize_write_shards_result *result,
                              struct yk_text *out)
{
    yk_text_addf(out, "%s\n\n  tokenizer  %s", request->output, yk_text_chars(&result->tokenizer));
    yk_text_add(out, "\n  text       ");
    add_files(result->files, result->bytes, out);
    yk_text_addf(out, "\n  tokens     %" PRId64 ", %.2f bytes of text each\n", result->tokens,
                 (double)result->bytes / (double)result->tokens);
    yk_text_addf(out, "  shards     %" PRId32 ", %s\n", result->shards,
                 YK_UNITS_FORMAT_TEMPORARY((double)result->shard_bytes, YK_UNIT_BYTES));
    yk_text_addf(
        out, "  speed      %s\n",
        YK_UNITS_FORMAT_TEMPORARY((double)result->bytes / result->seconds, YK_UNIT_BYTES_PER_S));
    return yk_text_status(out);
}

static yk_status encoded_json(const struct yk_tokenize_write_shards_request *request,
                              const struct yk_tokenize_write_shards_result *result,
                              struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "tokenized");
    yk_json_write_string(&json, "output", request->output);
    yk_json_write_integer(&json, "files", result->files);
    yk_json_write_integer(&json, "bytes", result->bytes);
    yk_json_write_integer(&json, "tokens", result->tokens);
    yk_json_write_integer(&json, "shards", result->shards);
    yk_json_write_integer(&json, "shard_bytes", result->shard_bytes);
    yk_json_write_number(&json, "seconds", result->seconds);
    return yk_json_write_end_yoke_document(&json);
}

/* Tokens on their way to standard output: held back until they are complete, as long as they are
 * few. */
struct listing {
    struct yk_text *out;
    struct yk_json_writer json; /* into `out` */
    bool as_json;
    bool printed;   /* some of it, and `out` is the rest */
    int64_t tokens; /* of this file */
};

static yk_status begin_file(void *user, const char *path)
{
    struct listing *listing = user;
    listing->tokens = 0;
    if (listing->as_json) {
        yk_json_write_begin_object(&listing->json, NULL);
        yk_json_write_string(&listing->json, "path", path);
        yk_json_write_begin_array(&listing->json, "tokens");
    }
    return YK_OK;
}

static yk_status print_long(struct listing *listing)
{
    struct yk_text *out = listing->out;
    YK_TRY(yk_text_status(out));
    if (out->length < MAX_BUFFERED_BYTES) {
        return YK_OK;
    }
    YK_TRY(yk_terminal_print_result(out));
    listing->printed = true;
    out->length = 0;
    return YK_OK;
}

static yk_status add_token(void *user, int32_t id, const char *text)
{
    struct listing *listing = user;
    if (listing->as_json) {
        yk_json_write_begin_object(&listing->json, NULL);
        yk_json_write_integer(&listing->json, "id", id);
        yk_json_write_string(&listing->json, "text", text);
        yk_json_write_end_object(&listing->json);
    } else {
        yk_text_addf(listing->out, "%s%" PRId32, listing->tokens > 0 ? " " : "", id);
    }
    return listing->tokens++ % TOKENS_BETWEEN_CHECKS == 0 ? print_long(listing) : YK_OK;
}

static yk_status end_file(void *user)
{
    struct listing *listing = user;
    if (listing->as_json) {
        yk_json_write_end_array(&listing->json);
        yk_json_write_end_object(&listing->json);
    } else {
        yk_text_add(listing->out, "\n");
    }
    return yk_text_status(listing->out);
}

/* Conversations on their way to standard output. */
struct conversations {
    struct listing listing;
    bool render;
    bool mask;
    bool text_only; /* `render` without `mask` */
};

/* Unlike yk_text_add_json_string(), leaves '<' as it is: templates are full of it. */
static yk_status add_json_text(const struct yk_tokenize_chat_conversation *given,
                               struct yk_text *out)
{
    static const char delete = '\x7f'; /* JSON may contain it, but terminals show it otherwise */
    struct yk_json *node = yk_json_node_new_string(given->text, given->text_length);
    YK_TRY_ALLOCATED(node);
    struct yk_text quoted = {0};
    yk_json_node_append_text(node, &quoted);
    yk_json_destroy(node);
    const char *rest = yk_text_chars(&quoted);
    for (const char *found = strchr(rest, delete); found; found = strchr(rest, delete)) {
        yk_text_add_bytes(out, rest, (size_t)(found - rest));
        yk_text_add(out, "\\u007F");
        rest = found + 1;
    }
    yk_text_add(out, rest);
    const yk_status status = yk_text_status(&quoted);
    yk_text_free(&quoted);
    return status;
}

static void add_tokens_json(struct yk_json_writer *json,
                            const struct yk_tokenize_chat_conversation *given)
{
    yk_json_write_begin_array(json, "ids");
    for (int64_t i = 0; i < given->count; i++) {
        yk_json_write_integer(json, NULL, given->ids[i]);
    }
    yk_json_write_end_array(json);
    yk_json_write_begin_array(json, "mask");
    for (int64_t i = 0; i < given->count; i++) {
        yk_json_write_integer(json, NULL, given->mask[i]);
    }
    yk_json_write_end_array(json);
}

static yk_status add_conversation_json(struct conversations *conversations,
                                       const struct yk_tokenize_chat_conversation *given)
{
    struct listing *listing = &conversations->listing;
    struct yk_json_writer *json = &listing->json;
    yk_json_write_begin_object(json, NULL);
    if (!conversations->text_only) {
        add_tokens_json(json, given);
    }
    yk_json_write_key(json, "text");
    YK_TRY(add_json_text(given, listing->out));
    yk_json_write_end_object(json);
    return YK_OK;
}

static yk_status add_conversation(void *user, const struct yk_tokenize_chat_conversation *given)
{
    struct conversations *conversations = user;
    struct listing *listing = &conversations->listing;
    struct yk_text *out = listing->out;
    if (listing->as_json) {
        YK_TRY(add_conversation_json(conversations, given));
        return print_long(listing);
    }
    if (conversations->render) {
        YK_TRY(add_json_text(given, out));
        yk_text_add(out, "\n");
    }
    if (conversations->mask) {
        for (int64_t i = 0; i < given->count; i++) {
            yk_text_add(out, given->mask[i] ? (i > 0 ? " 1" : "1") : (i > 0 ? " 0" : "0"));
        }
        yk_text_add(out, "\n");
    }
    if (!conversations->render && !conversations->mask) {
        for (int64_t i = 0; i < given->count; i++) {
            yk_text_addf(out, "%s%" PRId32, i > 0 ? " " : "", given->ids[i]);
        }
        yk_text_add(out, "\n");
    }
    return print_long(listing);
}

struct arguments {
    struct yk_option_string_list files;
    const char *tokenizer;
    struct yk_chat_options chat_options;
    const char *decode;
    const char *special; /* NULL: not given */
    const char *output;
    int64_t learn;
    int64_t min_times; /* −1: not given */
    int64_t shard_tokens;
    bool append_end;
    bool chat;
    bool render;
    bool mask;
    bool prompt;
    bool json;
    bool quiet;
};

/* Fails if options for chats and other options are mixed. */
static yk_status check_chat(const struct arguments *arguments)
{
    const struct yk_chat_options *chat = &arguments->chat_options;
    if (arguments->chat) {
        return arguments->output || arguments->append_end || arguments->learn > 0 ||
                       arguments->decode
                   ? yk_fail(YK_ERROR_USAGE,
                             "--chat prints conversations: yoke tokenize --tokenizer FOLDER --chat "
                             "messages.jsonl")
                   : YK_OK;
    }
    const char *given = arguments->render     ? "--render"
                        : arguments->mask     ? "--mask"
                        : arguments->prompt   ? "--add-generation-prompt"
                        : chat->template_path ? "--chat-template"
                        : chat->variables     ? "--chat-template-kwargs"
                        : chat->tools         ? "--tools"
                                              : NULL;
    return given ? yk_fail(YK_ERROR_USAGE, "%s is for conversations: --chat messages.jsonl", given)
                 : YK_OK;
}

static yk_status check_decode(const struct arguments *arguments)
{
    if (arguments->files.count > 0 || arguments->output || arguments->append_end ||
        arguments->json) {
        return yk_fail(YK_ERROR_USAGE, "--decode takes one shard and a tokenizer alone: yoke "
                                       "tokenize --tokenizer tokenizer.json --decode tokens.bin");
    }
    return YK_OK;
}

/* Fails if options for training a tokenizer and options for encoding are mixed. */
static yk_status check_kind(const struct arguments *arguments)
{
    if (arguments->learn == 0 && (arguments->special || arguments->min_times >= 0)) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s is for learning a tokenizer: --learn 8000 -o tokenizer.json",
                       arguments->special ? "--special" : "--min-count");
    }
    if (arguments->learn > 0 && arguments->append_end) {
        return yk_fail(YK_ERROR_USAGE, "--append-end is for tokens that are shown or written: "
                                       "--tokenizer tokenizer.json");
    }
    return YK_OK;
}

static yk_status check(const struct arguments *arguments)
{
    if (arguments->learn > 0 && arguments->tokenizer) {
        return yk_fail(YK_ERROR_USAGE,
                       "--learn makes a tokenizer and --tokenizer names one; give one of them");
    }
    if (arguments->learn == 0 && !arguments->tokenizer) {
        return yk_fail(YK_ERROR_USAGE, "name a tokenizer (--tokenizer tokenizer.json), or learn "
                                       "one (--learn 8000 -o tokenizer.json)");
    }
    if (arguments->learn > 0 && (!arguments->output || arguments->decode)) {
        return yk_fail(YK_ERROR_USAGE, arguments->decode
                                           ? "--learn and --decode do not go together"
                                           : "say where the tokenizer goes: -o tokenizer.json");
    }
    YK_TRY(check_kind(arguments));
    YK_TRY(check_chat(arguments));
    if (arguments->decode) {
        return check_decode(arguments);
    }
    if (arguments->shard_tokens > 0 && (arguments->learn > 0 || !arguments->output)) {
        return yk_fail(YK_ERROR_USAGE, "--shard-tokens is for tokens that are written: --tokenizer "
                                       "tokenizer.json -o tokens.bin");
    }
    return YK_OK;
}

static yk_status learn(const struct arguments *arguments, struct yk_text *out)
{
    const struct yk_tokenize_train_tokenizer_request request = {
        .files = arguments->files.items,
        .file_count = arguments->files.count,
        .tokens = arguments->learn,
        .special = arguments->special,
        .min_times = arguments->min_times,
        .output = arguments->output,
        .job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_TERMINATION),
    };
    struct yk_tokenize_train_tokenizer_result result = {0};
    YK_TRY(yk_tokenize_train_tokenizer(&request, &result));
    return arguments->json ? learned_json(&request, &result, out)
                           : learned_text(&request, &result, out);
}

static struct yk_tokenize_input input_of(const struct arguments *arguments)
{
    return (struct yk_tokenize_input){
        .files = arguments->files.items,
        .file_count = arguments->files.count,
        .tokenizer = arguments->tokenizer,
        .append_end = arguments->append_end,
    };
}

static yk_status encode(const struct arguments *arguments, struct yk_text *out)
{
    const struct yk_tokenize_write_shards_request request = {
        .input = input_of(arguments),
        .output = arguments->output,
        .shard_tokens = arguments->shard_tokens,
        .job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_TERMINATION),
    };
    struct yk_tokenize_write_shards_result result = {0};
    yk_status status = yk_tokenize_write_shards(&request, &result);
    YK_IF_OK(arguments->json ? encoded_json(&request, &result, out)
                             : encoded_text(&request, &result, out));
    yk_tokenize_write_shards_result_free(&result);
    return status;
}

static yk_status show(const struct arguments *arguments, struct yk_text *out)
{
    struct listing listing = {.out = out, .json = {.text = out}, .as_json = arguments->json};
    const struct yk_tokenize_list_tokens_request request = {
        .input = input_of(arguments),
        .texts = arguments->json,
        .begin = begin_file,
        .token = add_token,
        .end = end_file,
        .user = &listing,
        .job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_TERMINATION),
    };
    if (arguments->json) {
        yk_json_write_begin_yoke_document(&listing.json, "tokens");
        yk_json_write_begin_array(&listing.json, "texts");
    }
    const yk_status status = yk_tokenize_list_tokens(&request);
    if (status == YK_ERROR_STOPPED && listing.printed) {
        return yk_fail(YK_ERROR_STOPPED, "stopped; the tokens are not complete");
    }
    YK_TRY(status);
    if (arguments->json) {
        yk_json_write_end_array(&listing.json);
        return yk_json_write_end_yoke_document(&listing.json);
    }
    return yk_text_status(out);
}

static yk_status show_chat(const struct arguments *arguments, struct yk_text *out)
{
    struct conversations conversations = {
        .listing = {.out = out, .json = {.text = out}, .as_json = arguments->json},
        .render = arguments->render,
        .mask = arguments->mask,
        .text_only = arguments->render && !arguments->mask,
    };
    struct listing *listing = &conversations.listing;
    const struct yk_tokenize_chat_request request = {
        .files = arguments->files.items,
        .file_count = arguments->files.count,
        .tokenizer = arguments->tokenizer,
        .chat = arguments->chat_options,
        .prompt = arguments->prompt,
        .text_only = conversations.text_only,
        .mask = arguments->mask || arguments->json,
        .conversation = add_conversation,
        .user = &conversations,
        .job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_TERMINATION),
    };
    if (arguments->json) {
        yk_json_write_begin_yoke_document(&listing->json, "conversations");
        yk_json_write_begin_array(&listing->json, "conversations");
    }
    struct yk_tokenize_chat_result result = {0};
    YK_TRY(yk_tokenize_chat_list(&request, &result));
    if (arguments->json) {
        yk_json_write_end_array(&listing->json);
        yk_json_write_integer(&listing->json, "bytes", result.bytes);
        yk_json_write_number(&listing->json, "seconds", result.seconds);
        return yk_json_write_end_yoke_document(&listing->json);
    }
    return yk_text_status(out);
}

static yk_status decode(const struct arguments *arguments)
{
    const struct yk_tokenize_decode_shard_request request = {
        .tokenizer = arguments->tokenizer,
        .shard = arguments->decode,
        .text = yk_terminal_print_text_chunk,
    };
    return yk_tokenize_decode_shard(&request);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    YK_TRY(check(arguments));
    if (arguments->learn > 0) {
        return learn(arguments, out);
    }
    if (arguments->decode) {
        return decode(arguments);
    }
    if (arguments->chat) {
        return show_chat(arguments, out);
    }
    return arguments->output ? encode(arguments, out) : show(arguments, out);
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)
#define TOKEN_GROUP "Token options"
#define LEARN_GROUP "Options for learning"
#define CHAT_GROUP "Chat options"

static const struct yk_operand operands[] = {
    {
        .placeholder = "FILE",
        .help = "Texts and folders of texts, one after the other; with --chat, files of "
                "conversations (default: standard input)",
        .many = true,
        TO(files),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW(
         "tokenizer", "PATH", TOKEN_GROUP,
         "A tokenizer.json as Hugging Face's tokenizers write it, a tokenizer.model of "
         "SentencePiece, a vocabulary of characters, or the folder of a model with one of these, "
         "with vocab.json and merges.txt, or with vocab.txt"),
     YK_OPTION_INIT_INPUT_FILE, TO(tokenizer)},
    {YK_OPTION_ROW("append-end", NULL, TOKEN_GROUP,
                   "Append the token that ends a text to each file"),
     YK_OPTION_INIT_FLAG, TO(append_end)},
    {YK_OPTION_ROW("shard-tokens", "N", TOKEN_GROUP,
                   "Tokens in each file of a series: NAME_000000.bin, NAME_000001.bin and so on"),
     YK_OPTION_INIT_INTEGER(1, INT32_MAX, NULL), TO(shard_tokens)},
    {YK_OPTION_ROW("decode", "FILE", TOKEN_GROUP,
                   "Print the text of the tokens in this shard (.bin)"),
     YK_OPTION_INIT_INPUT_FILE, TO(decode)},
    {YK_OPTION_ROW("chat", NULL, CHAT_GROUP,
                   "The files are conversations or other instructions, as yoke train reads them: "
                   "print the ids of each on a line"),
     YK_OPTION_INIT_FLAG, TO(chat)},
    {YK_OPTION_ROW("render", NULL, CHAT_GROUP, "Print the text of each instead, as a JSON string"),
     YK_OPTION_INIT_FLAG, TO(render)},
    {YK_OPTION_ROW("mask", NULL, CHAT_GROUP,
                   "Print which of its tokens bear loss instead, by 0 and 1"),
     YK_OPTION_INIT_FLAG, TO(mask)},
    {YK_OPTION_ROW("add-generation-prompt", NULL, CHAT_GROUP,
                   "Add what begins the next answer of the assistant"),
     YK_OPTION_INIT_FLAG, TO(prompt)},
    YK_CHAT_OPTIONS(struct arguments, chat_options, CHAT_GROUP),
    {YK_OPTION_ROW("tools", "FILE", CHAT_GROUP, YK_CHAT_TOOLS_OPTION_HELP),
     YK_OPTION_INIT_INPUT_FILE, TO(chat_options.tools)},
    {YK_OPTION_ROW("learn", "N", LEARN_GROUP,
                   "Learn a byte-level BPE of N tokens in all, like vocab_size of Hugging Face's "
                   "BpeTrainer: the special ones, 256 bytes, and the most frequent pairs, merged"),
     YK_OPTION_INIT_INTEGER(YK_TOKENIZE_BYTE_TOKENS, YK_TOKENIZE_MAX_VOCABULARY, NULL), TO(learn)},
    {YK_OPTION_ROW(
         "special", "TOKENS", LEARN_GROUP,
         "Its special tokens: pairs (<pad>, <s> before a text, </s> behind it), llama3 (with "
         "Llama 3's names), bert ([CLS] before, [SEP] behind), none, or names with commas "
         "between them (default: pairs)"),
     YK_OPTION_INIT_TEXT(NULL), TO(special)},
    {YK_OPTION_ROW("min-count", "N", LEARN_GROUP,
                   "Merge only pairs that occur at least N times (default: 2)"),
     YK_OPTION_INIT_INTEGER(0, INT64_MAX, NULL), .missing_value = -1, TO(min_times)},
    YK_OUTPUT_OPTION(
        struct arguments, output, "FILE",
        "The tokenizer.json, or the shard of tokens (.bin); without it, tokens are printed"),
    YK_JSON_OPTION(struct arguments, json),
    YK_QUIET_OPTION(struct arguments, quiet, "notes and no progress"),
};

static const struct yk_command_example examples[] = {
    {"yoke tokenize --learn 8000 -o tokenizer.json books/", "Learn a tokenizer from texts"},
    {"yoke tokenize --tokenizer tokenizer.json -o tokens.bin books/",
     "Write their tokens, for yoke train --data tokens.bin"},
    {"echo \"Hello, world\" | yoke tokenize --tokenizer tokenizer.json", "Print the tokens"},
    {"yoke tokenize --tokenizer tokenizer.json --decode tokens.bin", "Read what was written"},
    {"yoke tokenize --tokenizer ./model --chat --render messages.jsonl",
     "See conversations as the model sees them"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "the tokenizer, a text or a shard is invalid"},
    {YK_ERROR_STOPPED, "stopped by a signal; nothing was written"},
};

const struct yk_command yk_command_tokenize = {
    .name = "tokenize",
    .summary = "learn a tokenizer, or turn texts into tokens and back",
    .description =
        "With --tokenizer, the tokens of the texts are printed, one line of ids for each file, or "
        "with -o written to a shard as llm.c has them: two bytes a token, or four where the "
        "tokenizer has more than 65,536. Files of any size are encoded in chunks, whose tokens are "
        "those of the whole; 1 GiB of text without a place to cut, such as a space between two "
        "words, is refused, and so is a file of more than 1 GiB if its pre-tokenizer is not known. "
        "Long lists of ids are printed as they come.\n\n"
        "With --chat, conversations are written by the chat template of the model "
        "(chat_template.jinja or tokenizer_config.json beside its tokenizer), as transformers' "
        "apply_chat_template() does. --json gives ids, mask and text of each, or "
        "with --render the text alone.\n\n"
        "With --learn, a byte-level BPE tokenizer is learned from the texts. Its merges are those "
        "that Hugging Face's BpeTrainer finds when each file is one text of train_from_iterator() "
        "(train() cuts files into lines), and its file can be read by their tokenizers.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
