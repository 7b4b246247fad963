#include "job/models/generate.h"

#include "cli/options/command.h"
#include "cli/options/common_options.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"

/* Prints a piece as it comes; `user` is whether anything has been printed. */
static yk_status print(void *user, const char *bytes, size_t length)
{
    *(bool *)user = true;
    return yk_terminal_print_text_chunk(NULL, bytes, length);
}

static yk_status check(const struct yk_generate_request *request)
{
    const struct yk_chat_options *chat = &request->chat_options;
    const char *given = request->system       ? "--system"
                        : request->messages   ? "--messages"
                        : chat->template_path ? "--chat-template"
                        : chat->variables     ? "--chat-template-kwargs"
                        : chat->tools         ? "--tools"
                                              : NULL;
    if (!request->prompt && !(request->chat && request->messages)) {
        return yk_fail(YK_ERROR_USAGE, "say what the text begins with: --prompt \"int main\"");
    }
    return given && !request->chat ? yk_fail(YK_ERROR_USAGE, "%s is for chats: --chat", given)
                                   : YK_OK;
}

static yk_status run(const void *given, struct yk_text *out)
{
    struct yk_generate_request request = *(const struct yk_generate_request *)given;
    struct yk_generate_result result = {0};
    bool printed = false;
    YK_TRY(check(&request));
    request.text = print;
    request.user = &printed;
    yk_terminal_job_catch_signals(YK_TERMINAL_JOB_INTERRUPT);
    request.job = yk_terminal_job_get_callbacks(YK_TERMINAL_JOB_NO_SIGNALS);
    const yk_status status = yk_generate_run(&request, &result);
    if (status != YK_OK) {
        if (printed) {
            yk_terminal_print_newline();
        }
        return status;
    }
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

#define TO(member) YK_OPTION_OFFSET_OF(struct yk_generate_request, member)
#define TEXT_GROUP "Text options"
#define CHAT_GROUP "Chat options"

static const struct yk_operand operands[] = {
    YK_LOADED_MODEL_OPERAND(struct yk_generate_request, model),
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW(
         "prompt", "TEXT", TEXT_GROUP,
         "What the text begins with; for a model without a tokenizer, ids of tokens: 464,3290"),
     YK_OPTION_INIT_TEXT(NULL), TO(prompt)},
    {YK_OPTION_ROW(
         "chat", NULL, TEXT_GROUP,
         "The prompt is what a user asks: print the answer, in the form of the chat template that "
         "the model brings along"),
     YK_OPTION_INIT_FLAG, TO(chat)},
    {YK_OPTION_ROW("tokens", "N", TEXT_GROUP, "Write this many tokens"),
     YK_OPTION_INIT_INTEGER(1, 1 << 30, "200"), TO(tokens)},
    {YK_OPTION_ROW(
         "temperature", "NUMBER", TEXT_GROUP,
         "How daring: less than 1 prefers likely tokens even more, 0 takes the likeliest"),
     YK_OPTION_INIT_NUMBER("0.8"), .allows_zero = true, TO(temperature)},
    {YK_OPTION_ROW("top-k", "N", TEXT_GROUP, "Choose among the N likeliest tokens; 0: among all"),
     YK_OPTION_INIT_INTEGER(0, INT64_MAX, "0"), TO(top_k)},
    {YK_OPTION_ROW("top-p", "P", TEXT_GROUP,
                   "Choose among the likeliest tokens that together have this probability"),
     YK_OPTION_INIT_NUMBER("1"), .max_value = 1, TO(top_p)},
    {YK_OPTION_ROW("seed", "N", TEXT_GROUP, "Seed of the choice: the same text every time"),
     YK_OPTION_INIT_INTEGER(0, INT64_MAX, "1"), TO(seed)},
    {YK_OPTION_ROW("system", "TEXT", CHAT_GROUP, "What the system says first"),
     YK_OPTION_INIT_TEXT(NULL), TO(system)},
    {YK_OPTION_ROW("messages", "FILE", CHAT_GROUP,
                   "The chat so far, before the prompt: a JSON list of messages, or an object with "
                   "\"messages\" and perhaps \"tools\""),
     YK_OPTION_INIT_INPUT_FILE, TO(messages)},
    YK_CHAT_OPTIONS(struct yk_generate_request, chat_options, CHAT_GROUP),
    {YK_OPTION_ROW("tools", "FILE", CHAT_GROUP, YK_CHAT_TOOLS_OPTION_HELP),
     YK_OPTION_INIT_INPUT_FILE, TO(chat_options.tools)},
    YK_LOADED_MODEL_OPTIONS(struct yk_generate_request, model),
};

static const struct yk_command_example examples[] = {
    {"yoke generate runs/gpt-mini --prompt \"static yk_status \"",
     "Let a model that was trained on source go on with it"},
    {"yoke generate runs/tuned --chat --prompt \"What is 3 plus 4?\"",
     "Ask a model that was tuned on instructions"},
    {"yoke generate runs/gpt-mini --prompt \"The \" --tokens 500 --temperature 1 --top-k 40",
     "A longer and more daring text"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "the checkpoint makes no sense, or the prompt has characters it never saw"},
    {YK_ERROR_NUMBERS, "the model's weights have gone bad"},
};

const struct yk_command yk_command_generate = {
    .name = "generate",
    .summary = "let a trained model go on with a text",
    .description = "Prints the prompt and then token after token as the model draws them, each "
                   "from what it has read and written so far, up to the length of its samples in "
                   "training. Ctrl-C ends the text, and so does a token that ends texts.",
    YK_COMMAND_INITIALIZERS(struct yk_generate_request),
};
