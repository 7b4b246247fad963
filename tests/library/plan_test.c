#include "public_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BATCH = 16,
    SEQUENCE = 1024, /* as ask() has it */
};

/* Counted, so that the result is the same on every machine. */
static const struct yoke_search counted = {.moves = 300};

static yoke_plan *find(yoke_request *request)
{
    yoke_plan *plan = NULL;
    assert_done(yoke_request_set_search(request, &counted));
    assert_done(yoke_plan_find(request, &plan));
    yoke_request_destroy(request); /* the plan holds it */
    return plan;
}

static yoke_plan *find_unequal(void)
{
    return find(ask("1xrtx6000ada + 2xrtx3090 @ 32GB/s", BATCH));
}

static void check_ranks(const yoke_plan *plan)
{
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    for (int32_t r = 0; r < info->rank_count; r++) {
        const struct yoke_rank *rank = yoke_plan_rank(plan, r);
        double memory = 0;
        for (int kind = 0; kind < YOKE_MEMORY_KIND_COUNT; kind++) {
            memory += rank->memory_bytes[kind];
        }
        assert_near(memory, rank->peak_bytes);
        assert_true(rank->peak_bytes <= rank->limit_bytes);
        assert_near(rank->compute_s + rank->exposed_s + rank->idle_s, info->step_s);
        assert_contains(rank->device_name, "gpu");
    }
    assert_null(yoke_plan_rank(plan, info->rank_count));
    assert_null(yoke_plan_rank(plan, -1));
}

static void check_layers(const yoke_plan *plan)
{
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    for (int32_t l = 0; l < info->layer_count; l++) {
        const struct yoke_plan_layer *layer = yoke_plan_layer(plan, l);
        int64_t shares = 0;
        double parts = 0;
        for (int32_t i = 0; i < layer->rank_count; i++) {
            assert_non_null(yoke_plan_rank(plan, layer->ranks[i]));
            shares += layer->shares[i];
            parts += layer->parts[i];
        }
        assert_int_equal(shares, BATCH);
        assert_near(parts, 1);
        assert_non_null(layer->strategy);
    }
    assert_string_equal(yoke_plan_layer(plan, 0)->name, "embed");
    assert_null(yoke_plan_layer(plan, info->layer_count));
}

static void a_plan_adds_up(void **state)
{
    (void)state;
    yoke_plan *plan = find_unequal();
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    assert_int_equal(info->layer_count, 15);
    assert_true(info->fits);
    assert_int_equal(info->missing_rank, -1);
    assert_true(info->bound_s > 0 && info->bound_s <= info->step_s);
    assert_near(info->tokens_per_s, BATCH * SEQUENCE / info->step_s);
    assert_true(info->mfu > 0 && info->mfu < 1);
    assert_true(info->trials > 0);
    assert_contains(info->source, "datasheet");
    assert_non_null(info->summary);
    assert_non_null(info->bottleneck);
    check_ranks(plan);
    check_layers(plan);
    yoke_plan_destroy(plan);
}

static void what_others_do_is_never_faster(void **state)
{
    (void)state;
    yoke_plan *plan = find_unequal();
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    bool found = false;
    assert_true(info->alternative_count > 0);
    for (int32_t i = 0; i < info->alternative_count; i++) {
        const struct yoke_alternative *alternative = yoke_plan_alternative(plan, i);
        assert_true(!alternative->fits || alternative->step_s >= info->step_s * (1 - 1e-9));
        found = found || strcmp(alternative->name, "auto") == 0;
    }
    assert_true(found);
    for (int32_t i = 0; i < info->leave_one_out_count; i++) {
        const struct yoke_leave_one_out *leave_one_out = yoke_plan_leave_one_out(plan, i);
        assert_true(leave_one_out->device >= 0 && leave_one_out->device < 3);
        assert_true(isnan(leave_one_out->step_s) || leave_one_out->step_s > 0);
    }
    assert_null(yoke_plan_alternative(plan, info->alternative_count));
    assert_null(yoke_plan_leave_one_out(plan, info->leave_one_out_count));
    yoke_plan_destroy(plan);
}

/* (6 × weights that are multiplied with, those of blocks and head, + 12 × blocks × width × context)
 * × tokens/s over the peak of one 3090: NVIDIA says 71 TFLOPS of dense bf16 with fp32 accumulation.
 */
static void utilisation_is_that_of_the_formula(void **state)
{
    (void)state;
    yoke_plan *plan = find(ask("1xrtx3090", 4));
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    const double products = 6 * (12 * 12 * 768.0 * 768 + 50257 * 768.0);
    const double attention = 12.0 * 12 * 768;
    assert_near(info->mfu, (products + attention * SEQUENCE) * info->tokens_per_s / 71e12);
    assert_near(info->exact_mfu,
                (products + attention * (SEQUENCE + 1) / 2) * info->tokens_per_s / 71e12);
    assert_int_equal(info->rank_count, 1);
    assert_int_equal(yoke_plan_rank(plan, 0)->share, 4);
    assert_string_equal(yoke_plan_layer(plan, 3)->strategy, "replicated");
    yoke_plan_destroy(plan);
}

/* Frozen weights have no gradient: 4 operations each, adapters of rank 8 on the four linears of a
 * block 6. The head is frozen too. */
static void utilisation_counts_no_gradient_of_frozen_weights(void **state)
{
    (void)state;
    const struct yoke_workload workload = {.batch = 4, .lora_rank = 8};
    yoke_plan *plan = find(ask_for(&workload, "1xrtx3090"));
    const struct yoke_plan_info *info = yoke_plan_info(plan);
    const double frozen = 12 * 12 * 768.0 * 768 + 50257 * 768.0;
    const double adapters = 12 * 8.0 * ((768 + 3 * 768) + (768 + 768) + 2 * (768 + 3072));
    const double operations = 4 * frozen + 6 * adapters + 12.0 * 12 * 768 * SEQUENCE;
    assert_near(info->mfu, operations * info->tokens_per_s / 71e12);
    yoke_plan_destroy(plan);
}

static void a_limit_on_memory_is_kept(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090", BATCH);
    const double limit = 6.0 * (1 << 30);
    assert_done(yoke_request_set_memory(request, limit));
    yoke_plan *plan = find(request);
    for (int32_t r = 0; r < yoke_plan_info(plan)->rank_count; r++) {
        assert_true(yoke_plan_rank(plan, r)->peak_bytes <= limit);
        assert_near(yoke_plan_rank(plan, r)->limit_bytes, limit);
    }
    yoke_plan_destroy(plan);
}

static void nothing_that_fits_is_told_with_the_device(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090", BATCH);
    yoke_plan *plan = NULL;
    assert_done(yoke_request_set_memory(request, 1 << 28));
    assert_mentions(yoke_plan_find(request, &plan), YOKE_ERROR_NO_FIT, "gpt2");
    assert_null(plan);
    yoke_request_destroy(request);
}

static void one_strategy_is_taken_for_all_layers(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090 @ 32GB/s", BATCH);
    assert_done(yoke_request_set_strategy(request, "kept"));
    assert_done(yoke_request_set_decisions(request, YOKE_DECIDE_SHARES));
    yoke_plan *plan = find(request);
    for (int32_t l = 0; l < yoke_plan_info(plan)->layer_count; l++) {
        assert_string_equal(yoke_plan_layer(plan, l)->strategy, "kept");
    }
    yoke_plan_destroy(plan);
}

static void what_is_not_decided_is_plain(void **state)
{
    (void)state;
    yoke_request *request = ask("1xrtx3090 + 1xrtx3080 @ 32GB/s", BATCH);
    assert_done(yoke_request_set_decisions(request, 0));
    yoke_plan *plan = find(request);
    assert_int_equal(yoke_plan_info(plan)->rank_count, 2);
    for (int32_t r = 0; r < 2; r++) {
        assert_int_equal(yoke_plan_rank(plan, r)->share, BATCH / 2);
        assert_near(yoke_plan_rank(plan, r)->part, 0.5);
    }
    assert_int_equal(yoke_plan_info(plan)->transfer_count, 0);
    assert_int_equal(yoke_plan_info(plan)->prefetch, 1);
    assert_near(yoke_plan_info(plan)->block_bytes, 25.0 * (1 << 20));
    yoke_plan_destroy(plan);
}

static void micro_batches_and_clipping_are_as_asked_for(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090", BATCH);
    assert_done(yoke_request_set_micro_batches(request, 4));
    assert_done(yoke_request_set_clip(request, true));
    yoke_plan *plan = find(request);
    assert_int_equal(yoke_plan_info(plan)->micro_batches, 4);
    assert_true(yoke_plan_info(plan)->clip);
    assert_non_null(yoke_plan_info(plan)->pipeline);
    yoke_plan_destroy(plan);
}

static void a_greater_slowdown_takes_no_less_time(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090 @ 32GB/s", BATCH);
    assert_done(yoke_request_set_decisions(request, 0));
    assert_done(yoke_request_set_slowdown(request, 1));
    yoke_plan *fast = NULL;
    yoke_plan *slow = NULL;
    assert_done(yoke_plan_find(request, &fast));
    assert_done(yoke_request_set_slowdown(request, 2));
    assert_done(yoke_plan_find(request, &slow));
    assert_true(yoke_plan_info(slow)->step_s > yoke_plan_info(fast)->step_s);
    yoke_request_destroy(request);
    yoke_plan_destroy(fast);
    yoke_plan_destroy(slow);
}

/* Slots of transfers are those of the step, in their order, and every layer is one of the model. */
static void an_order_can_be_read(void **state)
{
    (void)state;
    yoke_plan *plan = find_unequal();
    const int32_t layers = yoke_plan_info(plan)->layer_count;
    const int32_t count = yoke_plan_info(plan)->transfer_count;
    int32_t last = 0;
    assert_true(count > 0);
    for (int32_t i = 0; i < count; i++) {
        const struct yoke_transfer *transfer = yoke_plan_transfer(plan, i);
        assert_true(transfer->slot >= last && transfer->slot < 2 * layers + 3);
        assert_true(transfer->layer >= 0 && transfer->layer < layers);
        assert_true(transfer->block_count > 0);
        last = transfer->slot;
    }
    assert_null(yoke_plan_transfer(plan, count));
    yoke_plan_destroy(plan);
}

static void kinds_of_memory_have_names(void **state)
{
    (void)state;
    assert_string_equal(yoke_memory_kind_name(YOKE_MEMORY_PARAMETERS), "parameters");
    assert_string_equal(yoke_memory_kind_name(YOKE_MEMORY_CONTEXT), "context");
    assert_null(yoke_memory_kind_name(YOKE_MEMORY_KIND_COUNT));
}

static void a_plan_reads_back_as_it_was_written(void **state)
{
    (void)state;
    yoke_plan *plan = find_unequal();
    yoke_plan *again = NULL;
    char *text = NULL;
    char *second = NULL;
    assert_done(yoke_plan_write(plan, &text));
    assert_done(yoke_plan_read(text, "written", NULL, &again));
    assert_near(yoke_plan_info(again)->step_s, yoke_plan_info(plan)->step_s);
    assert_string_equal(yoke_plan_info(again)->summary, yoke_plan_info(plan)->summary);
    assert_int_equal(yoke_plan_info(again)->alternative_count, 0);
    assert_done(yoke_plan_write(again, &second));
    assert_string_equal(text, second);
    yoke_free(text);
    yoke_free(second);
    yoke_plan_destroy(plan);
    yoke_plan_destroy(again);
}

static void a_saved_plan_is_opened_with_what_is_given(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-plan-XXXXXX";
    yoke_plan *plan = find_unequal();
    yoke_plan *again = NULL;
    struct yoke_plan_reading reading = {.compare = true, .search = &counted};
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_done(yoke_plan_save(plan, path));
    assert_done(yoke_model_open("gpt2", NULL, &reading.model));
    assert_done(yoke_cluster_open("1xrtx6000ada + 2xrtx3090 @ 32GB/s", &reading.cluster));
    assert_done(yoke_plan_open(path, &reading, &again));
    yoke_model_destroy(reading.model); /* the plan holds both */
    yoke_cluster_destroy(reading.cluster);
    assert_near(yoke_plan_info(again)->step_s, yoke_plan_info(plan)->step_s);
    assert_true(yoke_plan_info(again)->alternative_count > 0);
    yoke_plan_destroy(again);
    yoke_plan_destroy(plan);
    remove(path);
}

static void a_plan_is_compared_under_what_it_was_asked_for(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090", BATCH);
    yoke_plan *again = NULL;
    char *text = NULL;
    const struct yoke_plan_reading reading = {.compare = true, .search = &counted};
    assert_done(yoke_request_set_memory(request, 3.0 * (1 << 30)));
    assert_done(yoke_request_set_micro_batches(request, 2));
    assert_done(yoke_request_set_slowdown(request, 1.5));
    yoke_plan *plan = find(request);
    assert_done(yoke_plan_write(plan, &text));
    assert_done(yoke_plan_read(text, "written", &reading, &again));
    assert_near(yoke_plan_info(again)->step_s, yoke_plan_info(plan)->step_s);
    assert_int_equal(yoke_plan_info(again)->alternative_count,
                     yoke_plan_info(plan)->alternative_count);
    for (int32_t i = 0; i < yoke_plan_info(plan)->alternative_count; i++) {
        const struct yoke_alternative *wanted = yoke_plan_alternative(plan, i);
        const struct yoke_alternative *found = yoke_plan_alternative(again, i);
        assert_string_equal(found->name, wanted->name);
        assert_int_equal(found->fits, wanted->fits);
        assert_near(found->step_s, wanted->step_s);
    }
    yoke_free(text);
    yoke_plan_destroy(again);
    yoke_plan_destroy(plan);
}

/* Replaces the first `from` in `text` by as many characters. */
static void edit(char *text, const char *from, const char *to)
{
    char *place = strstr(text, from);
    assert_non_null(place);
    assert_int_equal(strlen(from), strlen(to));
    for (size_t i = 0; to[i]; i++) {
        place[i] = to[i];
    }
}

static void an_edited_plan_that_does_not_fit_says_what_it_lacks(void **state)
{
    (void)state;
    yoke_plan *plan = find(ask("1xrtx3090", 4));
    yoke_plan *again = NULL;
    char *text = NULL;
    assert_done(yoke_plan_write(plan, &text));
    edit(text, "\"limit\": \"24GiB\"", "\"limit\": \"24MiB\"");
    assert_done(yoke_plan_read(text, "edited", NULL, &again));
    const struct yoke_plan_info *info = yoke_plan_info(again);
    assert_false(info->fits);
    assert_int_equal(info->missing_rank, 0);
    assert_near(info->missing_bytes, yoke_plan_rank(again, 0)->peak_bytes - 24 * 1048576.0);
    assert_near(info->step_s, yoke_plan_info(plan)->step_s);
    yoke_free(text);
    yoke_plan_destroy(plan);
    yoke_plan_destroy(again);
}

static void plans_that_are_for_something_else_are_refused(void **state)
{
    (void)state;
    yoke_plan *plan = find(ask("1xrtx3090", 4));
    yoke_plan *again = NULL;
    struct yoke_plan_reading reading = {0};
    char *text = NULL;
    assert_done(yoke_plan_write(plan, &text));
    assert_done(yoke_model_open("gpt2-medium", NULL, &reading.model));
    assert_mentions(yoke_plan_read(text, "mine", &reading, &again), YOKE_ERROR_INPUT, "mine: ");
    yoke_model_destroy(reading.model);
    reading = (struct yoke_plan_reading){.slowdown = 0.5};
    assert_says(yoke_plan_read(text, "mine", &reading, &again), YOKE_ERROR_USAGE,
                "a slowdown is 1 or more, or 0 for the usual one, not 0.5");
    reading = (struct yoke_plan_reading){.profile = "/no/such/profile"};
    assert_mentions(yoke_plan_read(text, "mine", &reading, &again), YOKE_ERROR_INPUT,
                    "/no/such/profile");
    assert_mentions(yoke_plan_read("[]", "mine", NULL, &again), YOKE_ERROR_INPUT, "mine: ");
    assert_mentions(yoke_plan_open("/no/such/plan", NULL, &again), YOKE_ERROR_INPUT,
                    "/no/such/plan");
    assert_int_equal(yoke_plan_save(plan, "/no/such/folder/plan"), YOKE_ERROR_SYSTEM);
    assert_null(again);
    yoke_free(text);
    yoke_plan_destroy(plan);
}

static void a_program_names_its_ops(void **state)
{
    (void)state;
    yoke_plan *plan = find(ask("1xrtx3090", 4));
    char *text = NULL;
    assert_done(yoke_plan_program(plan, &text));
    assert_contains(text, "forward layer 11");
    assert_contains(text, "update layer 0");
    yoke_free(text);
    yoke_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_adds_up),
        cmocka_unit_test(what_others_do_is_never_faster),
        cmocka_unit_test(utilisation_is_that_of_the_formula),
        cmocka_unit_test(utilisation_counts_no_gradient_of_frozen_weights),
        cmocka_unit_test(a_limit_on_memory_is_kept),
        cmocka_unit_test(nothing_that_fits_is_told_with_the_device),
        cmocka_unit_test(one_strategy_is_taken_for_all_layers),
        cmocka_unit_test(what_is_not_decided_is_plain),
        cmocka_unit_test(micro_batches_and_clipping_are_as_asked_for),
        cmocka_unit_test(a_greater_slowdown_takes_no_less_time),
        cmocka_unit_test(an_order_can_be_read),
        cmocka_unit_test(kinds_of_memory_have_names),
        cmocka_unit_test(a_plan_reads_back_as_it_was_written),
        cmocka_unit_test(a_plan_is_compared_under_what_it_was_asked_for),
        cmocka_unit_test(a_saved_plan_is_opened_with_what_is_given),
        cmocka_unit_test(an_edited_plan_that_does_not_fit_says_what_it_lacks),
        cmocka_unit_test(plans_that_are_for_something_else_are_refused),
        cmocka_unit_test(a_program_names_its_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
