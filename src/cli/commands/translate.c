#include "cli/commands/bleu_output.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "job/models/translating.h"
#include "job/outputs.h"

struct arguments {
    struct yk_loaded_request loaded;
    const char *input;
    struct yk_translating how;
    const char *bleu;
    const char *output;
    bool json;
    bool quiet;
};

static yk_status check_model(const struct yk_loaded *loaded)
{
    if (loaded->model->config->encoder_layers == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s is no encoder–decoder, which translating takes; see yoke generate",
                       loaded->checkpoint->path);
    }
    if (!loaded->tokenizer) {
        return yk_fail(YK_ERROR_INPUT, "%s has no tokenizer to cut text into tokens",
                       loaded->checkpoint->path);
    }
    if (yk_tokenizer_count(loaded->tokenizer) > loaded->model->config->vocabulary) {
        return yk_fail(YK_ERROR_INPUT, "%s: the tokenizer has %d tokens, but the model knows %lld",
                       loaded->checkpoint->path, (int)yk_tokenizer_count(loaded->tokenizer),
                       (long long)loaded->model->config->vocabulary);
    }
    return YK_OK;
}

static yk_status score(const struct arguments *arguments, const struct yk_text *translated,
                       struct yk_text *out)
{
    const struct yk_bleu_options options = {0};
    struct yk_lines *hypotheses = NULL;
    YK_TRY(
        yk_lines_of(yk_text_chars(translated), translated->length, "the translation", &hypotheses));
    const yk_status status =
        yk_bleu_report(hypotheses, arguments->bleu, &options, arguments->json, out);
    yk_lines_destroy(hypotheses);
    return status;
}

/* Translations go to a file, or are the result, unless their score is. */
static yk_status finish(const struct arguments *arguments, const struct yk_text *translated,
                        struct yk_text *out)
{
    struct yk_outputs outputs = {0};
    if (arguments->bleu) {
        YK_TRY(score(arguments, translated, out));
    }
    if (arguments->output) {
        yk_text_add_bytes(yk_outputs_add(&outputs, arguments->output), yk_text_chars(translated),
                          translated->length);
    } else if (!arguments->bleu) {
        YK_TRY(yk_terminal_print_data(translated));
    }
    YK_TRY(yk_terminal_print_despite(yk_outputs_write(&outputs), out));
    return yk_text_status(out);
}

/* As many references as lines: a score at the end of a long translation must not fail on that. */
static yk_status check_reference(const struct arguments *arguments, const char *source,
                                 const struct yk_lines *lines)
{
    struct yk_lines *references = NULL;
    if (!arguments->bleu) {
        return YK_OK;
    }
    YK_TRY(yk_lines_read(arguments->bleu, &references));
    const int64_t count = references->count;
    yk_lines_destroy(references);
    return count == lines->count
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s and %s have %lld and %lld lines; a score compares them line by line",
                         source, arguments->bleu, (long long)lines->count, (long long)count);
}

static yk_status translate(const struct arguments *arguments, struct yk_loaded *loaded,
                           struct yk_text *out)
{
    const char *source = NULL;
    struct yk_lines *lines = NULL;
    struct yk_text translated = {0};
    YK_TRY(yk_loaded_open(&arguments->loaded, loaded));
    YK_TRY(check_model(loaded));
    YK_TRY(yk_lines_read_input(arguments->input, &source, &lines));
    yk_status status = check_reference(arguments, source, lines);
    if (status == YK_OK) {
        status = yk_translate_lines(&arguments->how, loaded, lines, source, &translated);
    }
    if (status == YK_OK) {
        status = finish(arguments, &translated, out);
    }
    yk_text_free(&translated);
    yk_lines_destroy(lines);
    return status;
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    const char *const paths[] = {arguments->input, arguments->bleu, arguments->output};
    struct yk_loaded loaded = {0};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    if (arguments->json && !arguments->bleu) {
        return yk_fail(YK_ERROR_USAGE, "--json is for the score; add --bleu REFERENCE");
    }
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 2));
    const yk_status status = translate(arguments, &loaded, out);
    yk_loaded_close(&loaded);
    return status;
}

static const struct yk_operand operands[] = {
    YK_LOADED_OPERAND(struct arguments, loaded),
    {
        .placeholder = "TEXT",
        .help = "What to translate, a sentence a line; else standard input",
        .offset = offsetof(struct arguments, input),
    },
};

#define SEARCH_GROUP "Search options"

static const struct yk_option options[] = {
    {
        .name = "beams",
        .placeholder = "N",
        .help = "Keep the N likeliest beginnings; 1 takes the likeliest token each time",
        .group = SEARCH_GROUP,
        .preset = "4",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = 256,
        .offset = offsetof(struct arguments, how.beams),
    },
    {
        .name = "length-penalty",
        .placeholder = "NUMBER",
        .help = "How far long translations are favoured: what has ended is ranked by its "
                "logarithmic probability over ((5 + length) / 6) to this power",
        .group = SEARCH_GROUP,
        .preset = "0.6",
        .kind = YK_OPTION_NUMBER,
        .zero = true,
        .offset = offsetof(struct arguments, how.length_penalty),
    },
    {
        .name = "longest",
        .placeholder = "TOKENS",
        .help = "The most tokens of a translation; else twice those of its sentence and 16",
        .group = SEARCH_GROUP,
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = 1 << 20,
        .offset = offsetof(struct arguments, how.longest),
    },
    {
        .name = "batch",
        .placeholder = "N",
        .help = "Sentences at a time",
        .group = SEARCH_GROUP,
        .preset = "32",
        .kind = YK_OPTION_INTEGER,
        .least = 1,
        .most = 4096,
        .offset = offsetof(struct arguments, how.batch),
    },
    YK_LOADED_OPTIONS(struct arguments, loaded),
    {
        .name = "bleu",
        .placeholder = "REFERENCE",
        .help = "Print the BLEU score against these translations by people instead, as sacreBLEU "
                "computes and signs it",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, bleu),
    },
    {
        .name = "output",
        .letter = 'o',
        .placeholder = "FILE",
        .help = "Write the translations to a file",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FILE,
        .offset = offsetof(struct arguments, output),
    },
    {
        .name = "json",
        .help = "Print the score as JSON",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "quiet",
        .help = "No notes on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke translate runs/en-de < news.en > news.de", "Translate a text, a sentence a line"},
    {"yoke translate runs/en-de test.en --bleu test.de -o test.out",
     "Score a translation, and keep it"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "the checkpoint does not translate, or a line is no UTF-8 or too long"},
    {YK_ERROR_NUMBERS, "the model's weights have gone bad"},
    {YK_ERROR_STOPPED, "stopped by Ctrl-C or TERM; nothing was written"},
    {0, NULL},
};

const struct yk_command yk_command_translate = {
    .name = "translate",
    .summary = "translate text by a trained encoder–decoder",
    .description = "Translates each line by beam search and prints the translations, line by line; "
                   "an empty line stays empty. With --bleu the score of the translations is "
                   "printed instead.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
