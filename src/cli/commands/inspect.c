#include "cli/commands/inspect.h"

#include "base/folder.h"
#include "cli/options/command.h"
#include "data/token_shard.h"
#include "train/checkpoint_folder.h"
#include "train/shard.h"

#include <string.h>

struct arguments {
    const char *path;
    bool json;
};

struct opened {
    struct yk_arena *arena;
    struct yk_checkpoint *checkpoint;
    struct yk_tensor_set *set;
    struct yk_tensor_file *optimizer;
};

/* A checkpoint says of itself that it is one; the folder of a run has them in a folder. */
static yk_status holds_checkpoint(const char *path, struct yk_arena *arena, bool *out)
{
    struct yk_checkpoint_list list = {0};
    *out = yk_folder_has(path, "manifest.json") || yk_folder_has(path, "checkpoints");
    if (!*out && yk_folder_is(path)) {
        YK_TRY(yk_checkpoint_list(path, arena, &list));
        *out = list.count > 0;
    }
    return YK_OK;
}

static bool is_shard(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".bin") == 0 && !yk_folder_is(path);
}

/* A checkpoint that several ranks saved has its tensors in their shards, piece by piece. */
static yk_status open_shards(struct opened *out)
{
    const struct yk_checkpoint *checkpoint = out->checkpoint;
    const char **names = NULL;
    struct yk_text name = {0};
    yk_status status = YK_OK;
    YK_TRY_NEW(out->arena, names, checkpoint->shards);
    for (int32_t rank = 0; status == YK_OK && rank < checkpoint->shards; rank++) {
        name.length = 0;
        yk_shard_add_file_name(&name, rank, checkpoint->shards);
        status = yk_text_status(&name);
        names[rank] = yk_arena_copy_text(out->arena, yk_text_chars(&name), name.length);
        if (status == YK_OK && !names[rank]) {
            status = yk_fail_out_of_memory();
        }
    }
    yk_text_free(&name);
    YK_TRY(status);
    return yk_tensor_set_open_files(checkpoint->path, names, checkpoint->shards, &out->set);
}

static yk_status open_all(const char *path, struct opened *out)
{
    bool checkpoint = false;
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(holds_checkpoint(path, out->arena, &checkpoint));
    if (!checkpoint) {
        return yk_tensor_set_open(path, &out->set);
    }
    YK_TRY(yk_checkpoint_open(path, &out->checkpoint));
    if (out->checkpoint->shards > 0) {
        return open_shards(out);
    }
    YK_TRY(yk_tensor_set_open(out->checkpoint->path, &out->set));
    if (yk_folder_has(out->checkpoint->path, "optimizer.safetensors")) {
        const char *file = NULL;
        YK_TRY(yk_folder_path(out->checkpoint->path, "optimizer.safetensors", out->arena, &file));
        YK_TRY(yk_tensor_file_open(file, &out->optimizer));
    }
    return YK_OK;
}

static void close_all(struct opened *opened)
{
    yk_tensor_file_close(opened->optimizer);
    yk_tensor_set_close(opened->set);
    yk_checkpoint_close(opened->checkpoint);
    yk_arena_destroy(opened->arena);
}

static yk_status run_shard(const struct arguments *arguments, struct yk_text *out)
{
    struct yk_token_shard *shard = NULL;
    YK_TRY(yk_token_shard_open(arguments->path, &shard));
    const int64_t tokens = yk_token_shard_count(shard);
    yk_token_shard_close(shard);
    return yk_inspect_write_shard(arguments->path, tokens, arguments->json, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct opened opened = {0};
    if (is_shard(arguments->path)) {
        return run_shard(arguments, out);
    }
    yk_status status = open_all(arguments->path, &opened);
    if (status == YK_OK) {
        const struct yk_inspected inspected = {
            .path = opened.checkpoint ? opened.checkpoint->path : arguments->path,
            .checkpoint = opened.checkpoint,
            .set = opened.set,
            .optimizer = opened.optimizer,
        };
        status = arguments->json ? yk_inspect_write_json(&inspected, out)
                                 : yk_inspect_write_text(&inspected, out);
    }
    close_all(&opened);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "PATH",
        .help =
            "A .safetensors file, a folder of them, a checkpoint, the folder of a run, or a token "
            "shard (.bin)",
        .required = true,
        .offset = offsetof(struct arguments, path),
    },
};

static const struct yk_option options[] = {
    {
        .name = "json",
        .help = "Print JSON instead of text",
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
};

static const struct yk_example examples[] = {
    {"yoke inspect model.safetensors", "The tensors of a file, with their types and shapes"},
    {"yoke inspect runs/gpt-mini", "The newest checkpoint of a run: how far it is, and of what"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "there is no such file or folder, or it is torn or makes no sense"},
    {0, NULL},
};

const struct yk_command yk_command_inspect = {
    .name = "inspect",
    .summary = "list the tensors of a file, a folder or a checkpoint",
    .description = "Prints every tensor with its type, shape and bytes, their sums, and what the "
                   "files say about themselves. Of a checkpoint, all files are compared with their "
                   "sizes and hashes first, and its step, model and settings are printed; one that "
                   "is torn is an error that names the file.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
