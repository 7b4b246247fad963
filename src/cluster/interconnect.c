#include "cluster/interconnect.h"

#include "base/nearest.h"
#include "cluster/spelling.h"

#define GB 1e9
#define GBIT 0.125e9
#define US 1e-6

#define PCIE "PCI-SIG base specification, lanes x transfer rate, rounded up as is usual"
#define ETHERNET "IEEE 802.3, the line rate"
#define INFINIBAND "InfiniBand Trade Association roadmap, 4 lanes"

const struct yk_interconnect yk_interconnects[] = {
    {"pcie3", "PCIe 3.0 x16", 10 * US, 16 * GB, PCIE},
    {"pcie4", "PCIe 4.0 x16", 10 * US, 32 * GB, PCIE},
    {"pcie5", "PCIe 5.0 x16", 10 * US, 64 * GB, PCIE},
    {"pcie3x8", "PCIe 3.0 x8", 10 * US, 8 * GB, PCIE},
    {"pcie4x8", "PCIe 4.0 x8", 10 * US, 16 * GB, PCIE},
    {"pcie5x8", "PCIe 5.0 x8", 10 * US, 32 * GB, PCIE},
    {"nvlink1", "NVLink 1", 5 * US, 80 * GB, "NVIDIA Tesla P100 whitepaper, 4 links"},
    {"nvlink2", "NVLink 2", 5 * US, 150 * GB, "NVIDIA Tesla V100 whitepaper, 6 links"},
    {"nvlink3", "NVLink 3", 5 * US, 300 * GB, "NVIDIA A100 whitepaper, 12 links"},
    {"nvlink4", "NVLink 4", 5 * US, 450 * GB, "NVIDIA H100 whitepaper, 18 links"},
    {"nvlink5", "NVLink 5", 5 * US, 900 * GB, "NVIDIA Blackwell architecture brief, 18 links"},
    {"nvlink2-bridge", "NVLink 2 bridge", 5 * US, 50 * GB, "NVIDIA Turing whitepaper, 2 links"},
    {"nvlink3-bridge", "NVLink 3 bridge", 5 * US, 56.25 * GB, "NVIDIA GA102 whitepaper, 4 links"},
    {"infinity3", "Infinity Fabric 3", 5 * US, 400 * GB, "AMD CDNA 2 whitepaper, 8 links"},
    {"infinity4", "Infinity Fabric 4", 5 * US, 448 * GB, "AMD CDNA 3 whitepaper, 7 links"},
    {"1GbE", "1 gigabit Ethernet", 100 * US, 1 * GBIT, ETHERNET},
    {"10GbE", "10 gigabit Ethernet", 50 * US, 10 * GBIT, ETHERNET},
    {"25GbE", "25 gigabit Ethernet", 30 * US, 25 * GBIT, ETHERNET},
    {"40GbE", "40 gigabit Ethernet", 30 * US, 40 * GBIT, ETHERNET},
    {"50GbE", "50 gigabit Ethernet", 20 * US, 50 * GBIT, ETHERNET},
    {"100GbE", "100 gigabit Ethernet", 20 * US, 100 * GBIT, ETHERNET},
    {"200GbE", "200 gigabit Ethernet", 20 * US, 200 * GBIT, ETHERNET},
    {"400GbE", "400 gigabit Ethernet", 20 * US, 400 * GBIT, ETHERNET},
    {"ib-fdr", "InfiniBand FDR", 5 * US, 56 * GBIT, INFINIBAND},
    {"ib-edr", "InfiniBand EDR", 5 * US, 100 * GBIT, INFINIBAND},
    {"ib-hdr", "InfiniBand HDR", 5 * US, 200 * GBIT, INFINIBAND},
    {"ib-ndr", "InfiniBand NDR", 5 * US, 400 * GBIT, INFINIBAND},
};
const size_t yk_interconnect_count = sizeof yk_interconnects / sizeof yk_interconnects[0];

const struct yk_interconnect *yk_interconnect_find(const char *name)
{
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        if (yk_spelling_same(name, yk_interconnects[i].name)) {
            return &yk_interconnects[i];
        }
    }
    return NULL;
}

const char *yk_interconnect_nearest(const char *name)
{
    const char *names[sizeof yk_interconnects / sizeof yk_interconnects[0]];
    for (size_t i = 0; i < yk_interconnect_count; i++) {
        names[i] = yk_interconnects[i].name;
    }
    return yk_nearest(name, names, yk_interconnect_count);
}
