/*
 * Pair list: sentences and their translations, from two files of one sentence a line
 * (data/lines.h), as tokens. Line n of one file translates line n of the other. A source is the
 * tokens of its line and an end token, and so is a target, as in Marian (Junczys-Dowmunt et al.,
 * 2018). A decoder reads a start token and all of the target but its end.
 *
 * Faulty are pairs with a side that is empty or too long: the first is refused by its line, or all
 * are left out and counted. Text that is not UTF-8 and files of different numbers of lines are
 * always refused. All tokens are in memory, four bytes each. A list does not change once it is
 * open: any number of threads may use one. It keeps nothing of the request.
 */
#ifndef YK_DATA_PAIR_LIST_H
#define YK_DATA_PAIR_LIST_H

#include "base/status.h"
#include "base/text.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_pair_list;

struct yk_pair_list_request {
    const char *source_path;
    const char *target_path;
    const struct yk_tokenizer *source_tokenizer;
    const struct yk_tokenizer *target_tokenizer; /* often the same */
    int64_t longest;                             /* tokens of a side, its end token included */
    int32_t start_id;                            /* what a decoder reads first */
    bool skip_faulty;
    double from;  /* which lines: those from this part of them on, */
    double until; /* up to this part of them; 0: to the end. There may be none from a part on. */
};

struct yk_pair {
    const int32_t *source; /* with the end token, as all counts here */
    int64_t source_count;
    const int32_t *target;
    int64_t target_count;
    int64_t line; /* of the files, from 1 */
};

/* Of all pairs together. */
struct yk_pair_totals {
    int64_t pairs;
    int64_t skipped;
    int64_t source_tokens;
    int64_t target_tokens;
    int64_t longest_source; /* of one */
    int64_t longest_target;
    double mean_longer_side; /* tokens of a pair's longer side: what it is padded to */
};

yk_status yk_pair_list_open(const struct yk_pair_list_request *request,
                            struct yk_pair_list **out) YK_MUST_USE;
void yk_pair_list_close(struct yk_pair_list *list);

int64_t yk_pair_list_count(const struct yk_pair_list *list);
struct yk_pair_totals yk_pair_list_totals(const struct yk_pair_list *list);

/* 0 <= index < count, in the order of the lines. The tokens belong to the list. */
struct yk_pair yk_pair_list_at(const struct yk_pair_list *list, int64_t index);

/* What a decoder reads first, and what either side is padded with: the tokenizer's padding, or 0
 * where it has none. */
int32_t yk_pair_list_start_id(const struct yk_pair_list *list);
int32_t yk_pair_list_source_padding_id(const struct yk_pair_list *list);
int32_t yk_pair_list_target_padding_id(const struct yk_pair_list *list);

/* "29000 pairs, 412034 + 430123 tokens, 0 left out". */
void yk_pair_list_describe(const struct yk_pair_list *list, struct yk_text *out);

#endif
