#include "model/work.h"

const char *yk_work_class_name(enum yk_work_class class)
{
    static const char *const names[YK_WORK_CLASS_COUNT] = {
        [YK_WORK_MATRIX] = "matrix",
        [YK_WORK_ATTENTION] = "attention",
        [YK_WORK_VECTOR] = "vector",
    };
    return names[class];
}

double yk_work_operations(const struct yk_work_list *list, enum yk_work_class class)
{
    double sum = 0;
    for (int32_t i = 0; i < list->count; i++) {
        if (list->items[i].class == class) {
            sum += list->items[i].operations;
        }
    }
    return sum;
}
