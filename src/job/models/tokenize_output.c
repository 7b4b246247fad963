#include "job/models/tokenize_output.h"

#include "base/text.h"
#include "job/outputs.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum {
    TOKENIZER_FILES = 2,
    NUMBER_LENGTH = 11 /* of "_000000.bin" */
};

/* "-" is standard input, which may well be a file. */
static const char *input_of(const char *path)
{
    return path && strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

/* The file of that name in the tokenizer's folder; NULL where there is none. */
static yk_status find_in_folder(const char *folder, const char *name, struct yk_arena *arena,
                                const char **out)
{
    struct stat found;
    struct yk_text path = {0};
    yk_text_addf(&path, "%s/%s", folder, name);
    yk_status status = yk_text_status(&path);
    *out = NULL;
    if (status == YK_OK && stat(path.bytes, &found) == 0) {
        *out = yk_arena_copy_text(arena, path.bytes, path.length);
        status = *out ? YK_OK : yk_fail_out_of_memory();
    }
    yk_text_free(&path);
    return status;
}

/* Whether a path ends as the files of a series do. */
static bool is_numbered(const char *path)
{
    const size_t length = strlen(path);
    if (length < NUMBER_LENGTH) {
        return false;
    }
    const char *end = path + length - NUMBER_LENGTH;
    return end[0] == '_' && strspn(end + 1, "0123456789") == 6 && strcmp(end + 7, ".bin") == 0;
}

/* The first file of a series, and that of the same number as each input that has one: the others
 * are no inputs. */
static yk_status check_series(const char *output, const char *const *inputs, size_t count)
{
    const size_t length = strlen(output);
    const bool named = length > 4 && strcmp(output + length - 4, ".bin") == 0;
    struct yk_text path = {0};
    yk_status status = YK_OK;
    for (size_t i = 0; i <= count && status == YK_OK; i++) {
        const char *input = i < count ? inputs[i] : "_000000.bin";
        if (!input || !is_numbered(input)) {
            continue;
        }
        path.length = 0;
        yk_text_add_bytes(&path, output, named ? length - 4 : length);
        yk_text_add(&path, input + strlen(input) - NUMBER_LENGTH);
        status = yk_text_status(&path);
        if (status == YK_OK) {
            const char *const pair[] = {i < count ? input : NULL, path.bytes};
            status = yk_outputs_check(pair, 2, 1);
        }
    }
    yk_text_free(&path);
    return status;
}

yk_status yk_tokenize_target_check(const struct yk_tokenize_target *output,
                                   const struct yk_text_files *files, struct yk_arena *arena)
{
    const char *tokenizer = output->tokenizer;
    const size_t file_count = (size_t)files->count;
    const size_t input_count = file_count + 1 + TOKENIZER_FILES;
    const char **paths = NULL;
    YK_TRY_NEW(arena, paths, input_count + 1);
    for (size_t i = 0; i < file_count; i++) {
        paths[i] = input_of(files->paths[i]);
    }
    paths[file_count] = input_of(tokenizer);
    if (tokenizer) {
        YK_TRY(find_in_folder(tokenizer, "tokenizer.json", arena, &paths[file_count + 1]));
        YK_TRY(find_in_folder(tokenizer, "vocabulary.json", arena, &paths[file_count + 2]));
    }
    if (output->is_series) {
        return check_series(output->path, paths, input_count);
    }
    paths[input_count] = output->path;
    return yk_outputs_check(paths, input_count + 1, input_count);
}
