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

static void check_piece(const char *name)
{
    struct yk_shard_slice piece;
    struct yk_text again = {0};
    if (!yk_shard_read_slice_name(name, &piece)) {
        return;
    }
    fuzz_accept();
    fuzz_expect(piece.first >= 0 && piece.parameter_length > 0, "a piece is of something");
    char *parameter = malloc(piece.parameter_length + 1);
    if (parameter) {
        memcpy(parameter, piece.parameter, piece.parameter_length);
        parameter[piece.parameter_length] = '\0';
        yk_shard_add_slice_name(&again, piece.kind, parameter, piece.first);
        check_again(&again, name);
    }
    free(parameter);
    yk_text_free(&again);
}

static void check_file(const char *name)
{
    struct yk_text again = {0};
    int32_t rank = -1;
    int32_t ranks = -1;
    if (!yk_shard_read_file_name(name, &rank, &ranks)) {
        return;
    }
    fuzz_accept();
    fuzz_expect(rank >= 0 && rank < ranks && ranks <= YK_SHARD_MAX_RANKS, "a rank is one of all");
    yk_shard_add_file_name(&again, rank, ranks);
    check_again(&again, name);
    yk_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (name) {
        memcpy(name, data, size);
        name[size] = '\0';
        check_piece(name);
        check_file(name);
    }
    free(name);
    return 0;
}
