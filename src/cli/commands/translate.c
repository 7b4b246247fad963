#include "job/models/translate.h"

#include "cli/options/command.h"
#include "cli/options/common_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"
#include "job/output_files.h"

struct arguments {
    struct yk_translate_request request;
    const char *output;
    bool json;
    bool quiet;
};

static yk_status add_line(void *user, const char *bytes, size_t length)
{
    struct yk_text *translated = user;
    yk_text_add_bytes(translated, bytes, length);
    yk_text_add(translated, "\n");
    return yk_text_status(translated);
}

/* Translations go to a file, or are the result, unless their score is. */
static yk_status write_all(const struct arguments *arguments,
                           const struct yk_translate_result *result,
                           const struct yk_text *translated, struct yk_text *out)
{
    struct yk_output_files outputs = {0};
    if (arguments->request.reference) {
        YK_TRY(arguments->json ? yk_bleu_score_write_json(&result->score, out)
                               : yk_bleu_score_write_text(&result->score, out));
    } else if (!arguments->output) {
        YK_TRY(yk_terminal_print_text_chunk(NULL, yk_text_chars(translated), translated->length));
    }
    if (arguments->output) {
        yk_text_add_bytes(yk_output_files_add(&outputs, arguments->output),
                          yk_text_chars(translated), translated->length);
    }
    return yk_terminal_print_unsaved_result(yk_output_files_write_and_free(&outputs), out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_translate_request request = arguments->request;
    struct yk_translate_result result = {0};
    struct yk_text translated = {0};
    const char *const paths[] = {request.input, request.reference, arguments->output};
    if (arguments->json && !request.reference) {
        return yk_fail(YK_ERROR_USAGE, "--json is for the score; add --bleu REFERENCE");
    }
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 2));
    request.line = add_line;
    request.user = &translated;
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_TERMINATION);
    yk_status status = yk_translate_run(&request, &result);
    YK_IF_OK(write_all(arguments, &result, &translated, out));
    yk_text_free(&translated);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)
#define SEARCH_GROUP "Search options"

static const struct yk_operand operands[] = {
    YK_LOADED_MODEL_OPERAND(struct arguments, request.model),
    {
        .placeholder = "TEXT",
        .help = "What to translate, a sentence a line; else standard input",
        TO(request.input),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW("beams", "N", SEARCH_GROUP,
                   "Keep the N likeliest beginnings; 1 takes the likeliest token each time"),
     YK_OPTION_INIT_INTEGER(1, 256, "4"), TO(request.beams)},
    {YK_OPTION_ROW("length-penalty", "NUMBER", SEARCH_GROUP,
                   "How far long translations are favoured: what has ended is ranked by its "
                   "logarithmic probability over ((5 + length) / 6) to this power"),
     YK_OPTION_INIT_NUMBER("0.6"), .allows_zero = true, TO(request.length_penalty)},
    {YK_OPTION_ROW("longest", "TOKENS", SEARCH_GROUP,
                   "The most tokens of a translation; else twice those of its sentence and 16"),
     YK_OPTION_INIT_INTEGER(1, 1 << 20, NULL), TO(request.max_tokens)},
    {YK_OPTION_ROW("batch", "N", SEARCH_GROUP, "Sentences at a time"),
     YK_OPTION_INIT_INTEGER(1, 4096, "32"), TO(request.batch)},
    YK_LOADED_MODEL_OPTIONS(struct arguments, request.model),
    {YK_OPTION_ROW(
         "bleu", "REFERENCE", YK_OUTPUT_OPTION_HEADING,
         "Print the BLEU score against these translations by people instead, as sacreBLEU "
         "computes and signs it"),
     YK_OPTION_INIT_INPUT_FILE, TO(request.reference)},
    YK_OUTPUT_OPTION(struct arguments, output, "FILE", "Write the translations to a file"),
    {YK_OPTION_ROW("json", NULL, YK_OUTPUT_OPTION_HEADING, "Print the score as JSON"),
     YK_OPTION_INIT_FLAG, TO(json)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
};

static const struct yk_command_example examples[] = {
    {"yoke translate runs/en-de < news.en > news.de", "Translate a text, a sentence a line"},
    {"yoke translate runs/en-de test.en --bleu test.de -o test.out",
     "Score a translation, and keep it"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "the checkpoint does not translate, or a line is no UTF-8 or too long"},
    {YK_ERROR_NUMBERS, "the model's weights have gone bad"},
    {YK_ERROR_STOPPED, "stopped by Ctrl-C or TERM; nothing was written"},
};

const struct yk_command yk_command_translate = {
    .name = "translate",
    .summary = "translate text by a trained encoder–decoder",
    .description = "Translates each line by beam search and prints the translations, line by line; "
                   "an empty line stays empty. With --bleu the score of the translations is "
                   "printed instead.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
