/*
 * Fuzz target of files of instructions: lines that are accepted must keep the promises of
 * data/instructions.h, and fit the windows of a sampler.
 */
#include "support/word_tokenizer.h"

#include "data/instruction_sampler.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LONGEST = 24,
    MOST_WINDOWS = 64 /* looked at */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool kept, const char *promise)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", promise);
        abort();
    }
}

static void check_one(const struct yk_instruction *instruction, int32_t limit)
{
    int64_t bearing = 0;
    expect(instruction->count > 1 && instruction->count <= LONGEST, "none is too long");
    expect(!instruction->bears[0], "the first token bears no loss");
    for (int64_t i = 0; i < instruction->count; i++) {
        expect(instruction->tokens[i] >= 0 && instruction->tokens[i] < limit,
               "tokens are the tokenizer's");
        bearing += instruction->bears[i];
    }
    expect(bearing > 0, "there is something to learn");
}

static void check_windows(const struct yk_instructions *instructions)
{
    static const struct yk_instruction_sampling packed = {.sequence = LONGEST, .packed = true};
    struct yk_sampler *sampler = NULL;
    int32_t tokens[LONGEST];
    int32_t targets[LONGEST];
    int32_t length = 0;
    expect(yk_instruction_sampler_create(instructions, &packed, &sampler) == YK_OK,
           "what is not too long can be packed");
    for (int64_t n = 0; n < sampler->epoch_units && n < MOST_WINDOWS; n++) {
        struct yk_piece piece = {.tokens = tokens, .targets = targets, .lengths = &length};
        expect(yk_sampler_take(sampler, n, 1, &piece) == YK_OK, "windows can be taken");
        expect(piece.present == length && length > 1 && length <= LONGEST, "windows have room");
        expect(piece.counted > 0, "each window bears loss");
    }
    yk_sampler_destroy(sampler);
}

static void check(const struct yk_instructions *instructions, int32_t limit)
{
    int64_t line = 0;
    for (int64_t i = 0; i < yk_instructions_count(instructions); i++) {
        const struct yk_instruction instruction = yk_instructions_at(instructions, i);
        expect(instruction.line > line, "lines come in order");
        line = instruction.line;
        check_one(&instruction, limit);
    }
    check_windows(instructions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"<|begin_of_text|>",   "<|end_of_text|>",
                                        "<|start_header_id|>", "<|end_header_id|>",
                                        "<|eot_id|>",          NULL};
    static struct yk_tokenizer *tokenizer;
    if (!tokenizer) {
        tokenizer = support_word_tokenizer(names, 10, "<|begin_of_text|>");
    }
    for (int wishes = 0; wishes < 4; wishes++) {
        const struct yk_instructions_request request = {
            .path = "fuzz",
            .tokenizer = tokenizer,
            .longest = LONGEST,
            .skip_faulty = (wishes & 1) != 0,
            .cut_long = (wishes & 2) != 0,
        };
        struct yk_instructions *instructions = NULL;
        if (yk_instructions_read((const char *)data, size, &request, &instructions) == YK_OK) {
            check(instructions, yk_tokenizer_count(tokenizer));
        }
        yk_instructions_close(instructions);
    }
    return 0;
}
