/*
 * Fuzz target of files of instructions: lines that are accepted must keep the promises of
 * data/instructions.h, and fit the windows of a sampler.
 */
#include "fuzz/fuzz.h"

#include "support/files/word_tokenizer.h"

#include "data/instruction_sampler.h"
#include "data/instructions.h"

enum {
    LONGEST = 24,
    MOST_WINDOWS = 64 /* looked at */
};

static void check_one(const struct yk_instruction *instruction, int32_t limit)
{
    int64_t bearing = 0;
    fuzz_expect(instruction->count > 1 && instruction->count <= LONGEST, "none is too long");
    fuzz_expect(!instruction->has_loss[0], "the first token bears no loss");
    for (int64_t i = 0; i < instruction->count; i++) {
        fuzz_expect(instruction->tokens[i] >= 0 && instruction->tokens[i] < limit,
                    "tokens are the tokenizer's");
        bearing += instruction->has_loss[i];
    }
    fuzz_expect(bearing > 0, "there is something to learn");
}

static void check_windows(const struct yk_instructions *instructions)
{
    static const struct yk_sampler_options packed = {.sequence = LONGEST, .packed = true};
    struct yk_sampler *sampler = NULL;
    int32_t tokens[LONGEST];
    int32_t targets[LONGEST];
    int32_t length = 0;
    fuzz_expect(yk_instruction_sampler_create(instructions, &packed, &sampler) == YK_OK,
                "what is not too long can be packed");
    for (int64_t n = 0; n < sampler->epoch_units && n < MOST_WINDOWS; n++) {
        struct yk_sample_slice slice = {.tokens = tokens, .targets = targets, .lengths = &length};
        fuzz_expect(yk_sampler_fetch_slice(sampler, n, 1, &slice) == YK_OK, "windows can be taken");
        fuzz_expect(slice.token_count == length && length > 1 && length <= LONGEST,
                    "windows have room");
        fuzz_expect(slice.loss_targets > 0, "each window bears loss");
    }
    yk_sampler_destroy(sampler);
}

static void check(const struct yk_instructions *instructions, int32_t limit)
{
    int64_t line = 0;
    for (int64_t i = 0; i < instructions->count; i++) {
        const struct yk_instruction instruction = yk_instructions_at(instructions, i);
        fuzz_expect(instruction.line > line, "lines come in order");
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
    (void)yk_instruction_files_recognize_beginning((const char *)data, size);
    for (int options = 0; options < 4; options++) {
        const struct yk_instructions_request request = {
            .path = "fuzz",
            .tokenizer = tokenizer,
            .longest = LONGEST,
            .skip_faulty = (options & 1) != 0,
            .cut_long = (options & 2) != 0,
        };
        struct yk_instructions *instructions = NULL;
        if (yk_instructions_parse((const char *)data, size, &request, &instructions) == YK_OK) {
            fuzz_accept();
            check(instructions, yk_tokenizer_vocabulary_size(tokenizer));
        }
        yk_instructions_close(instructions);
    }
    return 0;
}
