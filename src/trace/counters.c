#include "trace/counters.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

struct row {
    const char *name;
    const char *key;
    enum yk_counter_unit unit;
};

static const struct row rows[YK_COUNTER_COUNT] = {
    [YK_COUNTER_SM] = {"SM active", "sm", YK_COUNTER_UNIT_FRACTION},
    [YK_COUNTER_OCCUPANCY] = {"SM occupancy", "occupancy", YK_COUNTER_UNIT_FRACTION},
    [YK_COUNTER_TENSOR] = {"tensor active", "tensor", YK_COUNTER_UNIT_FRACTION},
    [YK_COUNTER_DRAM] = {"DRAM active", "dram", YK_COUNTER_UNIT_FRACTION},
    [YK_COUNTER_PCIE_IN] = {"PCIe in", "pcie_in", YK_COUNTER_UNIT_BYTES_PER_S},
    [YK_COUNTER_PCIE_OUT] = {"PCIe out", "pcie_out", YK_COUNTER_UNIT_BYTES_PER_S},
    [YK_COUNTER_NVLINK_IN] = {"NVLink in", "nvlink_in", YK_COUNTER_UNIT_BYTES_PER_S},
    [YK_COUNTER_NVLINK_OUT] = {"NVLink out", "nvlink_out", YK_COUNTER_UNIT_BYTES_PER_S},
    [YK_COUNTER_CLOCK] = {"clock", "clock", YK_COUNTER_UNIT_HERTZ},
    [YK_COUNTER_POWER] = {"power", "power", YK_COUNTER_UNIT_WATTS},
    [YK_COUNTER_MEMORY] = {"memory", "memory", YK_COUNTER_UNIT_BYTES},
    [YK_COUNTER_CORES] = {"cores", "cores", YK_COUNTER_UNIT_NUMBER},
    [YK_COUNTER_CYCLES] = {"cycles", "cycles", YK_COUNTER_UNIT_PER_SECOND},
    [YK_COUNTER_INSTRUCTIONS] = {"instructions", "instructions", YK_COUNTER_UNIT_PER_SECOND},
    [YK_COUNTER_CACHE_MISS_BYTES] = {"cache misses", "misses_bytes", YK_COUNTER_UNIT_BYTES_PER_S},
};

const char *yk_counter_name(enum yk_counter counter)
{
    return rows[counter].name;
}

const char *yk_counter_json_key(enum yk_counter counter)
{
    return rows[counter].key;
}

enum yk_counter_unit yk_counter_get_unit(enum yk_counter counter)
{
    return rows[counter].unit;
}

/* Three digits or so, with a prefix of thousands and a unit. */
static void format_thousands(double value, const char *unit, char out[YK_COUNTER_TEXT_SIZE])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    size_t prefix = 0;
    while (prefix + 1 < sizeof prefixes / sizeof *prefixes && fabs(value) >= 999.5) {
        value /= 1000;
        prefix++;
    }
    const int decimals = fabs(value) >= 99.95 || value == trunc(value) ? 0
                         : fabs(value) < 9.995                         ? 2
                                                                       : 1;
    (void)snprintf(out, YK_COUNTER_TEXT_SIZE, "%.*f%s%s", decimals, value, prefixes[prefix], unit);
}

void yk_counter_format_value(enum yk_counter counter, double value, char out[YK_COUNTER_TEXT_SIZE])
{
    _Static_assert((int)YK_COUNTER_TEXT_SIZE >= (int)YK_UNITS_BUFFER_SIZE, "units have room");
    if (!isfinite(value)) {
        (void)snprintf(out, YK_COUNTER_TEXT_SIZE, "n/a");
        return;
    }
    switch (yk_counter_get_unit(counter)) {
    case YK_COUNTER_UNIT_FRACTION:
        (void)snprintf(out, YK_COUNTER_TEXT_SIZE, "%.1f %%", 100 * value);
        break;
    case YK_COUNTER_UNIT_PER_SECOND:
        format_thousands(value, "/s", out);
        break;
    case YK_COUNTER_UNIT_BYTES_PER_S:
        yk_units_format(value, YK_UNIT_BYTES_PER_S, out);
        break;
    case YK_COUNTER_UNIT_HERTZ:
        format_thousands(value, "Hz", out);
        break;
    case YK_COUNTER_UNIT_WATTS:
        (void)snprintf(out, YK_COUNTER_TEXT_SIZE, "%.0fW", value);
        break;
    case YK_COUNTER_UNIT_BYTES:
        yk_units_format(value, YK_UNIT_BYTES, out);
        break;
    case YK_COUNTER_UNIT_NUMBER:
        (void)snprintf(out, YK_COUNTER_TEXT_SIZE, "%.2f", value);
        break;
    }
}
