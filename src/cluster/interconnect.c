
#include "base/nearest_name.h"
#include "cluster/datasheet.h"

#define GB 1e9
#define GBIT 0.125e9
#define US 1e-6

#define PCIE_SOURCE "PCI-SIG base specification, lanes x transfer rate, rounded up as is usual"
#define ETHERNET_SOURCE "IEEE 802.3, the line rate"
#define INFINIBAND_SOURCE "InfiniBand Trade Association roadmap, 4 lanes"

/* Rows of one family: what differs between them. */
/* clang-format off */
#define PCIE(name, version, gb) {"pcie" name, "PCIe " version, 10 * US, (gb) * GB, PCIE_SOURCE}
#define NVLINK(name, title, gb, source)                                                            \
    {"nvlink" name, "NVLink " title, 5 * US, (gb) * GB, "NVIDIA " source " links"}
#define INFINITY_FABRIC(number, gb, source)                                                        \
    {"infinity" number, "Infinity Fabric " number, 5 * US, (gb) * GB, "AMD " source " links"}
#define ETHERNET(us, gbit)                                                                         \
    {#gbit "GbE", #gbit " gigabit Ethernet", (us) * US, (gbit) * GBIT, ETHERNET_SOURCE}
#define INFINIBAND(name, title, gbit)                                                              \
    {"ib-" name, "InfiniBand " title, 5 * US, (gbit) * GBIT, INFINIBAND_SOURCE}

const struct yk_interconnect yk_interconnects[] = {
    PCIE("3", "3.0 x16", 16),
    PCIE("4", "4.0 x16", 32),
    PCIE("5", "5.0 x16", 64),
    PCIE("3x8", "3.0 x8", 8),
    PCIE("4x8", "4.0 x8", 16),
    PCIE("5x8", "5.0 x8", 32),
    NVLINK("1", "1", 80, "Tesla P100 whitepaper, 4"),
    NVLINK("2", "2", 150, "Tesla V100 whitepaper, 6"),
    NVLINK("3", "3", 300, "A100 whitepaper, 12"),
    NVLINK("4", "4", 450, "H100 whitepaper, 18"),
    NVLINK("5", "5", 900, "Blackwell architecture brief, 18"),
    NVLINK("2-bridge", "2 bridge", 50, "Turing whitepaper, 2"),
    NVLINK("3-bridge", "3 bridge", 56.25, "GA102 whitepaper, 4"),
    INFINITY_FABRIC("3", 400, "CDNA 2 whitepaper, 8"),
    INFINITY_FABRIC("4", 448, "CDNA 3 whitepaper, 7"),
    ETHERNET(100, 1),
    ETHERNET(50, 10),
    ETHERNET(30, 25),
    ETHERNET(30, 40),
    ETHERNET(20, 50),
    ETHERNET(20, 100),
    ETHERNET(20, 200),
    ETHERNET(20, 400),
    INFINIBAND("fdr", "FDR", 56),
    INFINIBAND("edr", "EDR", 100),
    INFINIBAND("hdr", "HDR", 200),
    INFINIBAND("ndr", "NDR", 400),
};
/* clang-format on */
const size_t yk_interconnect_count = sizeof yk_interconnects / sizeof yk_interconnects[0];

const struct yk_interconnect *yk_interconnect_find(const char *name)
{
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        if (yk_datasheet_is_same_name(name, yk_interconnects[i].name)) {
            return &yk_interconnects[i];
        }
    }
    return NULL;
}

const char *yk_interconnect_nearest_name(const char *name)
{
    const char *names[sizeof yk_interconnects / sizeof yk_interconnects[0]];
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        names[i] = yk_interconnects[i].name;
    }
    return yk_nearest_name(name, names, yk_interconnect_count);
}
