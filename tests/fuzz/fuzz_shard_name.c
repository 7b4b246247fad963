/*
 * Fuzz target of the names in a checkpoint of several ranks: of its files and of the pieces in
 * them. What is accepted must keep the promises of shard.h.
 */
#include "fuzz/fuzz.h"

#include "train/checkpoint/shard.h"

#include <stdlib.h>
#include <string.h>

static void check_again(const struct yk_text *again, const char *name)
{
    fuzz_expect(yk_text_status(again) == YK_OK && strcmp(yk_text_chars(again), name) == 0,
                "a name is written in one way only");
}

static void check_part(const char *name)
{
    struct yk_shard_slice_name part;
    struct yk_text again = {0};
    if (!yk_shard_parse_slice_name(name, &part)) {
        return;
    }
    fuzz_accept();
    fuzz_expect(part.first >= 0 && part.parameter_length > 0, "a part is of something");
    char *parameter = malloc(part.parameter_length + 1);
    if (parameter) {
        memcpy(parameter, part.parameter, part.parameter_length);
        parameter[part.parameter_length] = '\0';
        yk_shard_append_slice_name(&again, part.kind, parameter, part.first);
        check_again(&again, name);
    }
    free(parameter);
    yk_text_free(&again);
}

static void check_file(const char *name)
{
    char again[YK_SHARD_FILE_NAME_SIZE];
    int32_t rank = -1;
    int32_t ranks = -1;
    if (!yk_shard_parse_file_name(name, &rank, &ranks)) {
        return;
    }
    fuzz_accept();
    fuzz_expect(rank >= 0 && rank < ranks && ranks <= YK_SHARD_MAX_RANKS, "a rank is one of all");
    yk_shard_format_file_name(rank, ranks, again);
    fuzz_expect(strcmp(again, name) == 0, "a name is written in one way only");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (name) {
        memcpy(name, data, size);
        name[size] = '\0';
        check_part(name);
        check_file(name);
    }
    free(name);
    return 0;
}
