/*
 * Run: the memory and the limits of one rendering. Values are allocated in the arena of the run and
 * are freed with it. Only one thread at a time may use a run.
 */
#ifndef YK_TOKENIZER_JINJA_RUN_H
#define YK_TOKENIZER_JINJA_RUN_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_jinja_library;

struct yk_jinja_run {
    struct yk_arena *arena;
    size_t memory_left;
    size_t memory_limit;
    int64_t steps_left;
    int64_t step_limit;
    int32_t depth_left;
    int32_t depth_limit;
    int64_t unix_time_s;
    const struct yk_jinja_library *library; /* filters and tests, for those that call others */
};

/* Sets `*out` to `count` zeroed elements of `size` bytes. */
yk_status yk_jinja_run_allocate(struct yk_jinja_run *run, size_t count, size_t size,
                                void **out) YK_MUST_USE;

/* Counts memory that is allocated elsewhere. The bytes of a text are counted as it is written, and
 * again when a string is made of it. What was counted stays counted. */
yk_status yk_jinja_run_charge_memory(struct yk_jinja_run *run, size_t bytes) YK_MUST_USE;

yk_status yk_jinja_run_fail_steps(const struct yk_jinja_run *run) YK_MUST_USE;
yk_status yk_jinja_run_fail_depth(const struct yk_jinja_run *run) YK_MUST_USE;

/* Counts `steps` steps. */
static inline yk_status yk_jinja_run_step(struct yk_jinja_run *run, int64_t steps)
{
    run->steps_left -= steps;
    return run->steps_left >= 0 ? YK_OK : yk_jinja_run_fail_steps(run);
}

enum {
    YK_JINJA_BYTES_PER_STEP = 32
};

/* Counts the steps of work that is proportional to `bytes`, such as copying. Work that is slower
 * passes a multiple. */
static inline yk_status yk_jinja_run_charge_bytes(struct yk_jinja_run *run, size_t bytes)
{
    return yk_jinja_run_step(run, (int64_t)(bytes / YK_JINJA_BYTES_PER_STEP));
}

/* Enters one level of recursion. If it succeeds, the caller must leave the level. */
static inline yk_status yk_jinja_run_enter(struct yk_jinja_run *run)
{
    return --run->depth_left >= 0 ? YK_OK : (run->depth_left++, yk_jinja_run_fail_depth(run));
}

static inline void yk_jinja_run_leave(struct yk_jinja_run *run)
{
    run->depth_left++;
}

/* Sets `pointer` to `count` new zeroed elements, or makes the calling function return. */
#define YK_JINJA_TRY_NEW(run, pointer, count)                                                      \
    do {                                                                                           \
        void *yk_jinja_memory_ = NULL;                                                             \
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): may be an array of pointers */              \
        const size_t yk_jinja_size_ = sizeof *(pointer);                                           \
        YK_TRY(yk_jinja_run_allocate((run), (size_t)(count), yk_jinja_size_, &yk_jinja_memory_));  \
        (pointer) = yk_jinja_memory_;                                                              \
    } while (0)

#endif
