#include "support/exchanges/host_messages.h"

#include "comm/host_collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static yk_status expect(bool is_true, const char *what)
{
    return is_true ? YK_OK : yk_fail(YK_ERROR_NUMBERS, "not so: %s", what);
}

#define EXPECT(condition) YK_TRY(expect((condition), #condition))

static yk_status try_numbers(const struct yk_communicator *ranks)
{
    const double n = ranks->size;
    double sums[3] = {ranks->rank, 1, 0.1};
    const bool is_last = ranks->rank == ranks->size - 1;
    double largest[4] = {ranks->rank, -ranks->rank, is_last ? NAN : 1, ranks->rank > 0 ? 1 : NAN};
    YK_TRY(yk_host_collective_all_reduce_sum(ranks, sums, 3));
    EXPECT(sums[0] == n * (n - 1) / 2);
    EXPECT(sums[1] == n);
    EXPECT(fabs(sums[2] - 0.1 * n) < 1e-15);
    YK_TRY(yk_host_collective_all_reduce_max(ranks, largest, 4));
    EXPECT(largest[0] == n - 1);
    EXPECT(largest[1] == 0);
    EXPECT(isnan(largest[2]));
    EXPECT(isnan(largest[3]));
    YK_TRY(yk_host_collective_all_reduce_sum(ranks, NULL, 0));
    YK_TRY(yk_host_collective_all_reduce_max(ranks, largest, 0));
    return yk_host_collective_barrier(ranks);
}

static yk_status try_text(const struct yk_communicator *ranks, int32_t from, const char *sentence)
{
    struct yk_text text = {0};
    yk_text_add(&text, ranks->rank == from ? sentence : "something else");
    yk_status status = yk_host_collective_broadcast_text(ranks, from, &text);
    if (status == YK_OK) {
        status = expect(strcmp(yk_text_chars(&text), sentence) == 0, sentence);
    }
    yk_text_free(&text);
    return status;
}

/* Rank r hands in r * 1000 bytes, each r. */
static yk_status check_collected(const struct yk_communicator *ranks,
                                 const struct yk_host_collective_gathered_bytes *collected)
{
    EXPECT((collected != NULL) == (ranks->rank == 0));
    for (int32_t i = 0; collected && i < ranks->size; i++) {
        EXPECT(collected[i].size == (size_t)i * 1000);
        for (size_t at = 0; at < collected[i].size; at++) {
            EXPECT(collected[i].bytes[at] == (char)i);
        }
        EXPECT(collected[i].bytes[collected[i].size] == '\0');
    }
    return YK_OK;
}

static yk_status try_collect(const struct yk_communicator *ranks)
{
    char own[4000];
    struct yk_host_collective_gathered_bytes *collected = NULL;
    struct yk_arena *arena = NULL;
    memset(own, ranks->rank, sizeof own);
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_host_collective_gather_on_rank0(ranks, own, (size_t)ranks->rank * 1000,
                                                          arena, &collected);
    if (status == YK_OK) {
        status = check_collected(ranks, collected);
    }
    yk_arena_destroy(arena);
    return status;
}

/* The ranks from `first` on have each a failure of their own. */
static yk_status try_failure(const struct yk_communicator *ranks, int32_t first)
{
    char expected[64];
    yk_status mine = YK_OK;
    if (ranks->size == 1) {
        (void)snprintf(expected, sizeof expected, "the disk of %d is full", (int)first);
    } else {
        (void)snprintf(expected, sizeof expected, "rank %d: the disk of %d is full", (int)first,
                       (int)first);
    }
    if (ranks->rank >= first) {
        mine = yk_fail(YK_ERROR_INPUT, "the disk of %d is full", (int)ranks->rank);
    }
    const yk_status all = yk_host_collective_agree_on_status(ranks, mine);
    EXPECT(all == YK_ERROR_INPUT);
    EXPECT(strcmp(yk_status_message(), expected) == 0);
    return YK_OK;
}

static yk_status try_clocks(const struct yk_communicator *ranks)
{
    struct yk_clock_offset clock = {.error_s = -1};
    YK_TRY(yk_host_collective_estimate_clock_offset(ranks, &clock));
    EXPECT(clock.error_s >= 0);
    EXPECT(fabs(clock.offset_s) <= clock.error_s);
    return YK_OK;
}

yk_status exchange_host_run(const struct yk_communicator *ranks)
{
    YK_TRY(try_numbers(ranks));
    for (int32_t from = 0; from < ranks->size; from++) {
        YK_TRY(try_text(ranks, from, ""));
        YK_TRY(try_text(ranks, from, "{\"yoke\": 1}"));
        YK_TRY(try_failure(ranks, from));
    }
    YK_TRY(yk_host_collective_agree_on_status(ranks, YK_OK));
    YK_TRY(try_collect(ranks));
    return try_clocks(ranks);
}
