/*
 * What training takes from the machine: nothing during a step, and no more altogether than the plan
 * said. Under the sanitizers, which take memory of their own, there is nothing to be seen.
 */
#include "program/memory/memory.h"
#include "support/support.h"
#include "support/training/trainer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 12,
    SEQUENCE = 128,
    EXTRA_MIB = 60, /* docs/training.md: the program, its libraries, OpenBLAS's buffers */
};

#if defined(__SANITIZE_ADDRESS__)

static void sanitizers_allocate_memory_of_their_own(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sanitizers_allocate_memory_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* glibc's own names for what is counted on the way. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

static atomic_bool counting;
static atomic_int allocations;

static void note(void)
{
    if (atomic_load(&counting)) {
        atomic_fetch_add(&allocations, 1);
    }
}

void *malloc(size_t size)
{
    note();
    return __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
    note();
    return __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    note();
    return __libc_realloc(ptr, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    note();
    return __libc_memalign(alignment, size);
}

static struct trainer *open_mini(void)
{
    const struct yk_model_config *config = NULL;
    assert_int_equal(yk_model_config_find_builtin("gpt-mini", &config), YK_OK);
    struct trainer *trainer = trainer_open(&(struct trainer_request){
        .config = config,
        .batch = BATCH,
        .sequence = SEQUENCE,
        .micro_batches = 2,
        .clip = true,
        .optimizer = {.kind = YK_OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8},
    });
    assert_int_equal(
        yk_parameter_store_init_parameters(trainer->store, 1, YK_PARAMETER_STORE_INIT_ALL), YK_OK);
    return trainer;
}

static void step(struct trainer *trainer, int64_t number)
{
    static int32_t tokens[BATCH * SEQUENCE];
    for (int i = 0; i < BATCH * SEQUENCE; i++) {
        tokens[i] = i % 65;
    }
    (void)trainer_step(trainer, tokens, tokens, number * BATCH,
                       (struct yk_step_options){.lr = 1e-3, .updates = number, .clip = 1});
}

static void a_step_allocates_nothing(void **state)
{
    (void)state;
    struct trainer *trainer = open_mini();
    step(trainer, 0); /* threads start, OpenBLAS takes its buffers */
    atomic_store(&counting, true);
    step(trainer, 1);
    step(trainer, 2);
    assert_int_equal(atomic_load(&allocations), 0);
    struct yk_arena *arena = NULL;
    assert_int_equal(yk_arena_create(&arena), YK_OK); /* that would have been noticed */
    atomic_store(&counting, false);
    assert_true(atomic_load(&allocations) > 0);
    yk_arena_destroy(arena);
    trainer_close(trainer);
}

/* The most resident memory this process has had, in bytes. */
static double peak_bytes(void)
{
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kilobytes = strtod(line + 6, NULL);
        }
    }
    (void)fclose(file);
    assert_true(kilobytes > 0);
    return kilobytes * 1024;
}

static void the_process_allocates_what_was_planned(void **state)
{
    (void)state;
    struct trainer *trainer = open_mini();
    struct yk_program_memory *memory = NULL;
    struct yk_memory_peak peak;
    step(trainer, 0);
    step(trainer, 1);
    assert_int_equal(yk_program_memory_count_for_rank(trainer->program, 0, trainer->arena, &memory),
                     YK_OK);
    assert_int_equal(yk_program_memory_find_peak(trainer->program, 0, memory, &peak), YK_OK);
    const double trained = peak.bytes - peak.by_kind[YK_MEMORY_CONTEXT];
    const double max = 1.05 * peak.bytes + EXTRA_MIB * 1048576.0;
    if (!(peak_bytes() <= max) || !(peak_bytes() >= 0.95 * trained)) {
        fail_msg("%.1f MiB, planned %.1f MiB", peak_bytes() / 1048576, peak.bytes / 1048576);
    }
    trainer_close(trainer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(the_process_allocates_what_was_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
