#include "data/images/image_sampler.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/random.h"
#include "data/images/image_file.h"
#include "data/images/image_transform.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_THREADS = 64,
    MAX_FAULTS_IN_A_ROW = 100,
    FILE_PIXELS = 1 << 18,   /* decoding a file takes at least as long as resizing so many pixels */
    THREAD_PIXELS = 1 << 18, /* for fewer, starting a thread takes longer than it saves */
    MAX_CHECK_S = 30         /* on a slow file system, the steps find what remains */
};

struct image_sampler {
    struct yk_sampler base;
    struct yk_image_sampler_request request;
};

/* The key of an epoch's order; each image of the epoch has its own random numbers under it. */
static uint64_t key_of(const struct image_sampler *sampler, int64_t number)
{
    const uint64_t epoch = (uint64_t)(number / sampler->request.count);
    return yk_sampler_hash_seed_and_number(sampler->request.options.seed, epoch);
}

/* The image of the split that is `ahead` places after sample `number` in its epoch. */
static int64_t item_of(const struct image_sampler *sampler, int64_t number, int64_t ahead)
{
    const struct yk_image_sampler_request *request = &sampler->request;
    const int64_t place = (number % request->count + ahead) % request->count;
    const int64_t index =
        request->options.sequential
            ? place
            : yk_sampler_permuted_index(key_of(sampler, number), request->count, place);
    return request->items[index];
}

static yk_status read_item(const struct image_sampler *sampler, int64_t number, int64_t item,
                           uint8_t *pixels)
{
    const struct yk_image_sampler_request *request = &sampler->request;
    const struct yk_image_split *split = request->split;
    struct yk_image image = {0};
    struct yk_random random = yk_random_from_seed(
        yk_sampler_hash_seed_and_number(~key_of(sampler, number), (uint64_t)number));
    YK_TRY(yk_image_set_read(split, item, request->processor->channels, &image));
    const yk_status status = yk_image_transform_apply(
        request->processor, &image, request->options.sequential ? NULL : &random, pixels);
    yk_image_free(&image);
    return split->paths ? yk_status_prefix_message(status, split->paths[item]) : status;
}

/* Notes a faulty image, and says so the first time. */
static void note_fault(struct yk_image_faults *faults, int64_t item)
{
    if (atomic_exchange(&faults->known[item], 1) == 0) {
        atomic_fetch_add(&faults->count, 1);
        yk_log(YK_LOG_WARNING, "%s; it is left out", yk_status_message());
    }
}

/* Reads an image unless it is known to be faulty; a failure that is no fault of the image is
 * passed on. */
static yk_status try_item(const struct image_sampler *sampler, int64_t number, int64_t item,
                          uint8_t *pixels, bool *out_good)
{
    struct yk_image_faults *faults = sampler->request.faults;
    *out_good = false;
    if (faults && atomic_load(&faults->known[item])) {
        return YK_OK;
    }
    const yk_status status = read_item(sampler, number, item, pixels);
    *out_good = status == YK_OK;
    if (faults && status == YK_ERROR_INPUT) {
        note_fault(faults, item);
        return YK_OK;
    }
    return status;
}

static yk_status fetch_image(const struct image_sampler *sampler, int64_t number, uint8_t *pixels,
                             int32_t *label)
{
    const struct yk_image_sampler_request *request = &sampler->request;
    const bool sequential = request->options.sequential;
    const int64_t tries = sequential ? 1 : yk_number_min(request->count, MAX_FAULTS_IN_A_ROW);
    for (int64_t i = 0; i < tries; i++) {
        const int64_t item = item_of(sampler, number, i);
        bool good = false;
        YK_TRY(try_item(sampler, number, item, pixels, &good));
        if (good) {
            *label = request->split->labels[item];
            return YK_OK;
        }
    }
    if (!sequential) {
        return yk_fail(YK_ERROR_INPUT,
                       "%" PRId64 " images in a row cannot be decoded, the last of them %s", tries,
                       request->split->paths[item_of(sampler, number, tries - 1)]);
    }
    memset(pixels, 0, (size_t)sampler->base.pixel_bytes);
    *label = YK_SAMPLER_NO_TARGET;
    return YK_OK;
}

/* A slice that several threads fetch. Each takes the next image that none has taken. */
struct shared_slice {
    const struct image_sampler *sampler;
    int64_t first;
    int64_t count;
    uint8_t *pixels;
    int32_t *labels;
    atomic_llong next;
    atomic_bool stopped;
    pthread_mutex_t mutex; /* guards the members below */
    int64_t failed;        /* index of the first image that failed, if status is a failure */
    yk_status status;
    char *message;
};

/* Keeps the failure of the first image: those before it were taken before it, so the message does
 * not depend on the threads. */
static void note_failure(struct shared_slice *slice, int64_t index, yk_status status)
{
    pthread_mutex_lock(&slice->mutex);
    if (slice->status == YK_OK || index < slice->failed) {
        free(slice->message);
        slice->message = strdup(yk_status_message());
        slice->status = status;
        slice->failed = index;
    }
    pthread_mutex_unlock(&slice->mutex);
    atomic_store(&slice->stopped, true);
}

static void *fetch_some(void *argument)
{
    struct shared_slice *slice = argument;
    while (!atomic_load(&slice->stopped)) {
        const int64_t i = atomic_fetch_add(&slice->next, 1);
        if (i >= slice->count) {
            break;
        }
        const yk_status status =
            fetch_image(slice->sampler, slice->first + i,
                        slice->pixels + i * slice->sampler->base.pixel_bytes, &slice->labels[i]);
        if (status != YK_OK) {
            note_failure(slice, i, status);
        }
    }
    return NULL;
}

/* The number of threads that is worth it. */
static int64_t thread_count(const struct image_sampler *sampler, int64_t count)
{
    const struct yk_image_split *split = sampler->request.split;
    const int64_t source = split->paths ? FILE_PIXELS : split->height * split->width;
    const int64_t pixels =
        source + sampler->request.processor->height * sampler->request.processor->width;
    const int64_t useful = yk_number_min(count, count * pixels / THREAD_PIXELS);
    cpu_set_t cores;
    const int64_t usable = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    return yk_number_max(1, yk_number_min(yk_number_min(useful, usable), MAX_THREADS));
}

/* NOLINTBEGIN(readability-non-const-parameter): fetch_some() writes to both */
static yk_status fetch_images(const struct yk_sampler *base, int64_t first, int64_t count,
                              uint8_t *pixels, int32_t *labels)
/* NOLINTEND(readability-non-const-parameter) */
{
    const struct image_sampler *sampler = (const struct image_sampler *)base;
    if (!pixels) {
        for (int64_t i = 0; i < count; i++) {
            labels[i] = sampler->request.split->labels[item_of(sampler, first + i, 0)];
        }
        return YK_OK;
    }
    struct shared_slice slice = {
        .sampler = sampler,
        .first = first,
        .count = count,
        .pixels = pixels,
        .labels = labels,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };
    pthread_t threads[MAX_THREADS];
    const int64_t others = thread_count(sampler, count) - 1;
    int64_t started = 0;
    /* What cannot be started is no failure: this thread does the work of all that are missing. */
    while (started < others && pthread_create(&threads[started], NULL, fetch_some, &slice) == 0) {
        started++;
    }
    fetch_some(&slice);
    for (int64_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&slice.mutex);
    const yk_status status =
        slice.status == YK_OK
            ? YK_OK
            : yk_fail(slice.status, "%s", slice.message ? slice.message : "out of memory");
    free(slice.message);
    return status;
}

/* Looks at the header of every file, so that a broken one is known before the first step. */
static yk_status check_headers(const struct image_sampler *sampler)
{
    const struct yk_image_sampler_request *request = &sampler->request;
    const double end_s = yk_clock_now_s() + MAX_CHECK_S;
    for (int64_t i = 0; i < request->count && yk_clock_now_s() < end_s; i++) {
        const int64_t item = request->items[i];
        const yk_status status = yk_image_file_check_header(request->split->paths[item]);
        if (status == YK_ERROR_INPUT && request->faults) {
            note_fault(request->faults, item);
        } else {
            YK_TRY(status);
        }
    }
    return YK_OK;
}

static const struct yk_sampler_callbacks images_kind = {.fetch_images = fetch_images};

yk_status yk_image_sampler_create(const struct yk_image_sampler_request *request,
                                  struct yk_sampler **out)
{
    assert(request->count > 0);
    struct image_sampler *sampler = calloc(1, sizeof *sampler);
    YK_TRY_ALLOCATED(sampler);
    sampler->base = (struct yk_sampler){
        .kind = &images_kind,
        .epoch_units = request->count,
        .sequence = 1,
        .all_tokens_have_targets = !(request->options.sequential && request->faults),
        .pixel_bytes = yk_image_processor_bytes(request->processor),
    };
    sampler->request = *request;
    if (!request->split->paths) {
        sampler->request.faults = NULL; /* what is in memory is not faulty */
        sampler->base.all_tokens_have_targets = true;
    } else {
        YK_TRY_OR_CLEAN_UP(check_headers(sampler), free(sampler));
    }
    sampler->base.labels_need_pixels = sampler->request.faults != NULL;
    *out = &sampler->base;
    return YK_OK;
}
