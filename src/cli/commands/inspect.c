#include "job/models/inspect.h"
#include "cli/options/command.h"

struct arguments {
    struct yk_inspect_request request;
    bool json;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_inspect_result result = {0};
    yk_status status = yk_inspect_run(&arguments->request, &result);
    YK_IF_OK(arguments->json ? yk_inspect_write_json(&result, out)
                             : yk_inspect_write_text(&result, out));
    yk_inspect_result_free(&result);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "PATH",
        .help =
            "A .safetensors file, a folder of them, a checkpoint, the folder of a run, or a token "
            "shard (.bin)",
        .required = true,
        YK_OPTION_OFFSET_OF(struct arguments, request.path),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW("json", NULL, NULL, "Print JSON instead of text"), YK_OPTION_INIT_FLAG,
     YK_OPTION_OFFSET_OF(struct arguments, json)},
};

static const struct yk_command_example examples[] = {
    {"yoke inspect model.safetensors", "The tensors of a file, with their types and shapes"},
    {"yoke inspect runs/gpt-mini", "The newest checkpoint of a run: how far it is, and of what"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "there is no such file or folder, or it is torn or makes no sense"},
};

const struct yk_command yk_command_inspect = {
    .name = "inspect",
    .summary = "list the tensors of a file, a folder or a checkpoint",
    .description = "Prints every tensor with its type, shape and bytes, their sums, and what the "
                   "files say about themselves. Of a checkpoint, all files are compared with their "
                   "sizes and hashes first, and its step, model and settings are printed; one that "
                   "is torn is an error that names the file.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
