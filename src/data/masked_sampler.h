/*
 * Masked sampler: samples for masked language modelling, the training method of BERT (Devlin et
 * al., 2018). A sample consists of [CLS], a window of T - 2 tokens of a corpus, and [SEP]. Each
 * token that is not special is chosen with a probability of 15 %; if none is chosen in this way,
 * one of these tokens is chosen at random. Of the chosen tokens, 80 % become [MASK], 10 % become a
 * random token that is not special, and 10 % stay unchanged. The targets are the original tokens at
 * the chosen positions.
 *
 * In training, the windows are shuffled (struct yk_sampler_window_layout). Each window occurs
 * exactly once per epoch, and every epoch has different masks. The seed and the sample number
 * determine both the order and the masks. In evaluation (sequential), windows occur in data order
 * and always have the same masks. The last window may be shorter; its sample is padded after [SEP].
 */
#ifndef YK_DATA_MASKED_SAMPLER_H
#define YK_DATA_MASKED_SAMPLER_H

#include "data/corpus.h"
#include "data/sampler.h"
#include "tokenizer/tokenizer.h"

/* The token ids that masking needs. */
struct yk_masked_sampler_token_ids {
    int32_t class_id;
    int32_t separator_id;
    int32_t mask_id;
    int32_t pad_id;
    int32_t count;                        /* number of tokens of the vocabulary */
    int32_t special[YK_TOKEN_ROLE_COUNT]; /* ascending; these tokens are never chosen, and never
                                             replace another token */
    int32_t special_count;
};

struct yk_masked_sampler_request {
    struct yk_corpus_range range;
    struct yk_masked_sampler_token_ids tokens;
    struct yk_sampler_options options; /* T is at least 3 */
};

/* Finds the token ids in a tokenizer. A token with a role (enum yk_token_role) is special. Fails if
 * the tokenizer has no [CLS], [SEP] or [MASK]. */
yk_status yk_masked_sampler_find_token_ids(const struct yk_tokenizer *tokenizer,
                                           struct yk_masked_sampler_token_ids *out) YK_MUST_USE;

/* Creates a sampler. Fails if the range has fewer than T - 2 tokens; for a sequential sampler,
 * fails only if the range is empty. */
yk_status yk_masked_sampler_create(const struct yk_masked_sampler_request *request,
                                   struct yk_sampler **out) YK_MUST_USE;

#endif
