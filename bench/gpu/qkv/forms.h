/*
 * Forms: the ways in which queries, keys and values can come of x, and the parts that these ways
 * are made of, each put on the GPU alone.
 *
 * The table of a backend hides streams; here they are taken out of its lanes, and put into them, to
 * try what yoke itself does not do. All of it belongs to one thread. What goes wrong ends the
 * program with a sentence.
 */
#ifndef YK_BENCH_GPU_QKV_FORMS_H
#define YK_BENCH_GPU_QKV_FORMS_H

#include "backend/cuda/device.h"

enum {
    PARTS = 3, /* q, k and v */
    SIDES = PARTS - 1,
};

/* Streams beside the first, and what is said between them and it. */
struct sides {
    cudaStream_t streams[SIDES];
    cudaEvent_t fork;
    cudaEvent_t joins[SIDES];
};

struct bench {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane
        *lanes[PARTS];  /* with scratch memory; work begins and ends on the first */
    struct sides sides; /* its streams are those of the other lanes */
    void *little;       /* bytes for work that takes no time, LITTLE a part */
    cudaEvent_t begin;
    cudaEvent_t end;
    void *long_room; /* what is cleared to keep the GPU busy */
    double clear_us; /* how long that takes */
    double bandwidth_bytes_per_s;
};

/* One shape: c (m, n) = x (m, k) · wᵀ with w (n, k), in bf16. */
struct product {
    struct yk_matmul_op whole; /* without cuts */
    struct yk_matmul_op cut;   /* the same with them */
    struct yk_matmul_op parts[PARTS];
};

struct form {
    const char *name;
    void (*enqueue)(struct bench *bench, const struct product *product);
    bool waits;    /* the host waits within it */
    bool captured; /* put once, into `graph`, which is what runs */
    cudaGraphExec_t graph;
};

/* Of products; the first is what others are compared with. */
extern const struct form product_forms[];
extern const int product_form_count;
/* Of what they are made of, without a product. */
extern const struct form cost_forms[];
extern const int cost_form_count;

void must(cudaError_t error, const char *doing);
void must_status(yk_status status);
/* Memory of the host, or the end. */
void *must_malloc(size_t bytes) __attribute__((returns_nonnull, malloc));

/* Everything in a bench but its backend and device. */
void bench_open(struct bench *bench);
void bench_close(struct bench *bench);
/* Waits for all lanes. */
void bench_finish(struct bench *bench);

void sides_make(struct sides *sides);
void sides_destroy(const struct sides *sides);

/* Runs it once, so that nothing has to be found or made later, and captures what wants it. */
void form_open(struct bench *bench, const struct product *product, struct form *form);
void form_close(struct form *form);
void form_enqueue(struct bench *bench, const struct product *product, const struct form *form);

#endif
