#include "cluster/mps.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    MULTIPROCESSORS = 16, /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
};

static const struct {
    const char *name;
    size_t offset; /* of its pointer in struct yk_mps_cuda_driver */
} symbols[] = {
    {"cuInit", offsetof(struct yk_mps_cuda_driver, begin)},
    {"cuDeviceGet", offsetof(struct yk_mps_cuda_driver, device)},
    {"cuDeviceGetAttribute", offsetof(struct yk_mps_cuda_driver, attribute)},
    {"cuDevicePrimaryCtxRetain", offsetof(struct yk_mps_cuda_driver, retain)},
    {"cuDevicePrimaryCtxRelease_v2", offsetof(struct yk_mps_cuda_driver, release)},
};

bool yk_mps_load_cuda_driver(struct yk_mps_cuda_driver *out)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof symbols / sizeof symbols[0]; i++) {
        /* Copied as bytes: C has no cast from an object's pointer to a function's. */
        void *symbol = dlsym(library, symbols[i].name);
        memcpy((char *)out + symbols[i].offset, &symbol, sizeof symbol);
        if (!symbol) {
            return false;
        }
    }
    return library != NULL;
}

struct yk_mps_environment yk_mps_read_environment(void)
{
    return (struct yk_mps_environment){
        .percent = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"),
        .limits = getenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"),
    };
}

/* The part that is asked for; 1 where none is. */
static double read_percent(const char *environment)
{
    char *end = NULL;
    const double percent = environment ? strtod(environment, &end) : 100;
    return environment && end == environment ? 1 : percent > 0 && percent < 100 ? percent / 100 : 1;
}

/* How many multiprocessors the driver counts for this process; 0: it does not say. A process is a
 * client of the service, and has its part, from its first context on: where all are counted though
 * a part is asked for, it gets one for the time of asking. */
static int count(const struct yk_mps_cuda_driver *driver, int number, int whole, bool wants_part)
{
    int device = 0;
    int visible = 0;
    void *context = NULL;
    if (driver->begin(0) != 0 || driver->device(&device, number) != 0 ||
        driver->attribute(&visible, MULTIPROCESSORS, device) != 0) {
        return 0;
    }
    if (wants_part && visible >= whole && driver->retain(&context, device) == 0) {
        if (driver->attribute(&visible, MULTIPROCESSORS, device) != 0) {
            visible = 0;
        }
        (void)driver->release(device);
    }
    return visible;
}

double yk_mps_sm_fraction(const struct yk_mps_cuda_driver *driver,
                          const struct yk_mps_environment *environment, int number, int whole)
{
    const double asked = read_percent(environment->percent);
    const int visible = driver && whole > 0 ? count(driver, number, whole, asked < 1) : 0;
    if (visible <= 0) {
        return asked;
    }
    return visible < whole ? (double)visible / whole : 1;
}

/* "24G", "512M", "24GiB": bytes; 0: none of these. */
static double read_bytes(const char *text)
{
    char *end = NULL;
    const double number = strtod(text, &end);
    if (end == text || !(number > 0)) {
        return 0;
    }
    switch (toupper((unsigned char)*end)) {
    case 'G':
        return number * 1024 * 1024 * 1024;
    case 'M':
        return number * 1024 * 1024;
    case 'K':
        return number * 1024;
    default:
        return *end == '\0' || *end == ',' ? number : 0;
    }
}

double yk_mps_memory_limit_bytes(const struct yk_mps_environment *environment, int number,
                                 double whole)
{
    double bytes = whole;
    for (const char *entry = environment->limits; entry; entry = strchr(entry, ',')) {
        entry += *entry == ',' ? 1 : 0;
        char *end = NULL;
        const long device = strtol(entry, &end, 10);
        if (end != entry && *end == '=' && device == number) {
            const double limit = read_bytes(end + 1);
            bytes = limit > 0 && limit < whole ? limit : whole;
        }
    }
    return bytes;
}
