#include "backend/cpu/counter.h"

enum {
    LOOKS = 4000 /* a few microseconds: about what falling asleep and being woken costs */
};

yk_status yk_cpu_counter_init(struct yk_cpu_counter *count)
{
    atomic_init(&count->value, 0);
    count->sleepers = 0;
    if (pthread_mutex_init(&count->mutex, NULL) != 0) {
        return yk_fail_out_of_memory();
    }
    if (pthread_cond_init(&count->raised, NULL) != 0) {
        pthread_mutex_destroy(&count->mutex);
        return yk_fail_out_of_memory();
    }
    return YK_OK;
}

/* Whoever saw the last value may end the count while the thread that raised it is still inside. */
void yk_cpu_counter_destroy(struct yk_cpu_counter *count)
{
    pthread_mutex_lock(&count->mutex);
    pthread_mutex_unlock(&count->mutex);
    pthread_cond_destroy(&count->raised);
    pthread_mutex_destroy(&count->mutex);
}

uint64_t yk_cpu_counter_value(const struct yk_cpu_counter *count)
{
    return atomic_load_explicit(&count->value, memory_order_acquire);
}

void yk_cpu_counter_raise(struct yk_cpu_counter *count, uint64_t value)
{
    pthread_mutex_lock(&count->mutex);
    atomic_store_explicit(&count->value, value, memory_order_release);
    if (count->sleepers > 0) {
        pthread_cond_broadcast(&count->raised);
    }
    pthread_mutex_unlock(&count->mutex);
}

void yk_cpu_counter_wait(struct yk_cpu_counter *count, uint64_t value)
{
    for (int look = 0; look < LOOKS; look++) {
        if (yk_cpu_counter_value(count) >= value) {
            return;
        }
    }
    pthread_mutex_lock(&count->mutex);
    count->sleepers++;
    while (yk_cpu_counter_value(count) < value) {
        pthread_cond_wait(&count->raised, &count->mutex);
    }
    count->sleepers--;
    pthread_mutex_unlock(&count->mutex);
}
