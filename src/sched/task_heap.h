/* Task heap: a binary heap of tasks, ordered by key. Tasks with equal keys are ordered by task
 * number. The caller allocates the array `tasks`. */
#ifndef YK_SCHED_TASK_HEAP_H
#define YK_SCHED_TASK_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct yk_task_heap {
    const int64_t *keys; /* (tasks of the graph) key of each task */
    bool ascending;      /* true: the smallest key is on top; false: the largest key is on top */
    int32_t *tasks;      /* tasks[0] is the top */
    int32_t count;
};

static inline bool yk_task_heap_is_before(const struct yk_task_heap *heap, int32_t a, int32_t b)
{
    const int64_t x = heap->keys[a];
    const int64_t y = heap->keys[b];
    return x != y ? (x < y) == heap->ascending : a < b;
}

static inline void yk_task_heap_push(struct yk_task_heap *heap, int32_t task)
{
    int32_t place = heap->count++;
    while (place > 0 && yk_task_heap_is_before(heap, task, heap->tasks[(place - 1) / 2])) {
        heap->tasks[place] = heap->tasks[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->tasks[place] = task;
}

static inline int32_t yk_task_heap_pop(struct yk_task_heap *heap)
{
    const int32_t top = heap->tasks[0];
    const int32_t last = heap->tasks[--heap->count];
    int32_t place = 0;
    for (int32_t child = 1; child < heap->count; child = 2 * place + 1) {
        if (child + 1 < heap->count &&
            yk_task_heap_is_before(heap, heap->tasks[child + 1], heap->tasks[child])) {
            child++;
        }
        if (!yk_task_heap_is_before(heap, heap->tasks[child], last)) {
            break;
        }
        heap->tasks[place] = heap->tasks[child];
        place = child;
    }
    heap->tasks[place] = last;
    return top;
}

#endif
