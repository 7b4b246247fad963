#include "job/chat_options.h"

#include "base/file.h"
#include "base/text.h"
#include "tokenizer/chat/chat_template.h"

yk_status yk_chat_options_apply_template(const struct yk_chat_options *options,
                                         struct yk_tokenizer *tokenizer)
{
    if (!options->template_path) {
        return YK_OK;
    }
    if (!tokenizer) {
        return yk_fail(YK_ERROR_USAGE, "--chat-template needs a model with a tokenizer");
    }
    return yk_tokenizer_read_chat_template(tokenizer, options->template_path);
}

yk_status yk_chat_options_read_variables(const struct yk_chat_options *options,
                                         struct yk_json **out)
{
    *out = NULL;
    return options->variables
               ? yk_status_prefix_message(yk_chat_template_parse_variables(options->variables, out),
                                          "--chat-template-kwargs")
               : YK_OK;
}

static yk_status parse_tools(const struct yk_text *text, struct yk_json **out)
{
    struct yk_json *root = NULL;
    YK_TRY(yk_json_parse(yk_text_chars(text), text->length, &root));
    if (!yk_json_is_array(root)) {
        const yk_status status =
            yk_fail(YK_ERROR_INPUT, "tools must be a list, not %s", yk_json_type_name(root));
        yk_json_destroy(root);
        return status;
    }
    *out = root;
    return YK_OK;
}

yk_status yk_chat_options_read_tools(const struct yk_chat_options *options, struct yk_json **out)
{
    struct yk_text text = {0};
    *out = NULL;
    if (!options->tools) {
        return YK_OK;
    }
    yk_status status = yk_file_read_document(options->tools, &text);
    if (status == YK_OK) {
        status = yk_status_prefix_message(parse_tools(&text, out), options->tools);
    }
    yk_text_free(&text);
    return status;
}
