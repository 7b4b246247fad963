/*
 * The table of datasheets. Its columns, after the names:
 *
 *   GiB of memory, GB/s of memory; TFLOPS in fp32, tf32, fp16, bf16; bus, peer link, source
 *
 * without those that are the same for all of a generation.
 *
 * 0 means that the device has no such unit with fp32 sums. That includes half precision on Pascal:
 * what those chips do natively sums in half precision, and training libraries compute in fp32.
 *
 * Where a maker gives only a sparse rate the dense one is half of it; 16 bits run at half of fp8.
 *
 * NVLink that needs a bridge across two cards is no peer link: nobody can take it for granted.
 */
#include "cluster/datasheet.h"

#define GIB (1024.0 * 1024.0 * 1024.0)
#define GB_PER_S 1e9
#define TFLOPS 1e12

#define CORES_TIMES_CLOCK ", 2 x cores x boost clock"
#define HALF_RATE "; fp32 sums at half the tensor rate"

#define GEFORCE_10 "NVIDIA GeForce 10 series and TITAN specifications" CORES_TIMES_CLOCK
#define TITAN_V "NVIDIA TITAN V product page" CORES_TIMES_CLOCK
#define TURING_PAPER "NVIDIA Turing architecture whitepaper, comparison tables, reference clocks"
#define GEFORCE_20 "NVIDIA GeForce 20 series specifications" CORES_TIMES_CLOCK HALF_RATE
#define GEFORCE_30 "NVIDIA GeForce 30 series specifications" CORES_TIMES_CLOCK HALF_RATE
#define GA102_PAPER "NVIDIA Ampere GA102 whitepaper v2.1, comparison tables"
#define GEFORCE_40 "NVIDIA GeForce 40 series specifications" CORES_TIMES_CLOCK HALF_RATE
#define ADA_PAPER "NVIDIA Ada GPU architecture whitepaper, appendix A"
#define GEFORCE_50 "NVIDIA GeForce 50 series specifications" CORES_TIMES_CLOCK HALF_RATE
#define RTX50_PAPER "NVIDIA RTX Blackwell architecture whitepaper, appendices A and B"
#define QUADRO_RTX "NVIDIA Quadro RTX datasheet of the card"
#define RTX_A "NVIDIA RTX A series datasheet of the card, half of the sparse tensor rate"
#define RTX_ADA "NVIDIA RTX Ada Generation datasheet of the card, a quarter of its sparse fp8 rate"
#define RTX_PRO "NVIDIA RTX PRO 6000 Blackwell datasheet, an eighth of its sparse fp4 rate"
#define P4_P40 "NVIDIA Tesla P4 and P40 datasheets" CORES_TIMES_CLOCK
#define P100_PAPER "NVIDIA Tesla P100 whitepaper and datasheets"
#define V100_SHEET "NVIDIA V100 datasheet"
#define T4_SHEET "NVIDIA T4 datasheet; memory from the Turing whitepaper"
#define A2_SHEET "NVIDIA A2 datasheet"
#define A10_SHEET "NVIDIA A10 datasheet"
#define A10G_SHEET "NVIDIA A10G datasheet, as Amazon EC2 G5 has it"
#define A16_SHEET "NVIDIA A16 datasheet, a quarter of the board"
#define A30_SHEET "NVIDIA A30 datasheet"
#define A40_SHEET "NVIDIA A40 datasheet, half of the sparse tensor rate"
#define A100_SHEET "NVIDIA A100 datasheet"
#define L4_SHEET "NVIDIA L4 datasheet, half of the sparse tensor rate"
#define L40_SHEET "NVIDIA L40 datasheet"
#define L40S_SHEET "NVIDIA L40S datasheet"
#define H100_PAPER "NVIDIA H100 whitepaper v1.04, table of tensor core rates, dense"
#define H100_NVL "NVIDIA H100 NVL datasheet, half of the sparse tensor rate"
#define H200_SHEET "NVIDIA H200 datasheet, half of the sparse tensor rate"
#define GH200_SHEET "NVIDIA GH200 datasheet, HBM3 version, half of the sparse tensor rate"
#define B200_SHEET "NVIDIA HGX B200 datasheet, an eighth of the board, half of its sparse rate"
#define MI100_SHEET "AMD Instinct MI100 data sheet"
#define MI210_SHEET "AMD Instinct MI210 data sheet"
#define MI250_SHEET "AMD Instinct MI200 series data sheet"
#define MI300_SHEET "AMD Instinct MI300X data sheet"
#define MI325_SHEET "AMD Instinct MI325X data sheet"

/* One core of a common server: two 8-wide multiply-adds a cycle at 2.8 GHz. */
#define CPU_SOURCE "AMD EPYC 7543 product page, 1/32 of 8 channels DDR4-3200; memory: 4 GiB a core"

#define NONE NULL
#define ALSO(...) ((const char *const[]){__VA_ARGS__, NULL})

#define ROW(name_, title_, also_, generation_, plan_only_, gib_, gb_per_s_, vector_, fp32_, tf32_, \
            fp16_, bf16_, bus_, peer_, source_)                                                    \
    {                                                                                              \
        .name = (name_), .title = (title_), .aliases = (also_), .generation = (generation_),       \
        .plan_only = (plan_only_), .memory_bytes = (gib_)*GIB,                                     \
        .memory_bytes_per_s = (gb_per_s_)*GB_PER_S, .vector_flops = (vector_)*TFLOPS,              \
        .matrix_flops = {[YK_PRECISION_FP32] = (fp32_)*TFLOPS,                                     \
                         [YK_PRECISION_TF32] = (tf32_)*TFLOPS,                                     \
                         [YK_PRECISION_FP16] = (fp16_)*TFLOPS,                                     \
                         [YK_PRECISION_BF16] = (bf16_)*TFLOPS},                                    \
        .host_interconnect = (bus_), .peer_interconnect = (peer_), .source = (source_),            \
    }

/* NVIDIA's tensor cores do no fp32: a product in fp32 runs on the ordinary cores. */
#define GPU(generation_, name_, title_, also_, gib_, gb_per_s_, fp32_, tf32_, fp16_, bf16_, bus_,  \
            peer_, source_)                                                                        \
    ROW(name_, title_, also_, YK_DEVICE_GENERATION_##generation_, false, gib_, gb_per_s_, fp32_,   \
        fp32_, tf32_, fp16_, bf16_, bus_, peer_, source_)

/* Up to Turing there is no bf16, before Volta no tensor core; from Ampere on bf16 is as fast as
 * fp16. */
#define PASCAL(name_, title_, also_, gib_, gb_per_s_, fp32_, peer_, source_)                       \
    GPU(PASCAL, name_, title_, also_, gib_, gb_per_s_, fp32_, 0, 0, 0, "pcie3", peer_, source_)
#define VOLTA(name_, title_, also_, gib_, gb_per_s_, fp32_, fp16_, peer_, source_)                 \
    GPU(VOLTA, name_, title_, also_, gib_, gb_per_s_, fp32_, 0, fp16_, 0, "pcie3", peer_, source_)
#define TURING(name_, title_, also_, gib_, gb_per_s_, fp32_, fp16_, source_)                       \
    GPU(TURING, name_, title_, also_, gib_, gb_per_s_, fp32_, 0, fp16_, 0, "pcie3", NULL, source_)
#define RECENT(generation_, name_, title_, also_, gib_, gb_per_s_, fp32_, tf32_, half_, bus_,      \
               peer_, source_)                                                                     \
    GPU(generation_, name_, title_, also_, gib_, gb_per_s_, fp32_, tf32_, half_, half_, bus_,      \
        peer_, source_)

/* GeForce cards that are also known by their number alone. */
#define GTX_10(number_, title_, gib_, gb_per_s_, fp32_)                                            \
    PASCAL("gtx" number_, "GeForce GTX " title_, ALSO(number_), gib_, gb_per_s_, fp32_, NULL,      \
           GEFORCE_10)
#define RTX_20(number_, title_, gib_, gb_per_s_, fp32_, fp16_, source_)                            \
    TURING("rtx" number_, "GeForce RTX " title_, ALSO(number_), gib_, gb_per_s_, fp32_, fp16_,     \
           source_)
#define RTX(generation_, number_, title_, gib_, gb_per_s_, fp32_, tf32_, half_, bus_, source_)     \
    RECENT(generation_, "rtx" number_, "GeForce RTX " title_, ALSO(number_), gib_, gb_per_s_,      \
           fp32_, tf32_, half_, bus_, NULL, source_)

/* AMD's matrix cores do: their fp32 rate follows that of the ordinary cores. */
#define AMD(generation_, name_, title_, also_, gib_, gb_per_s_, vector_, fp32_, tf32_, fp16_,      \
            bf16_, bus_, peer_, source_)                                                           \
    ROW(name_, title_, also_, YK_DEVICE_GENERATION_##generation_, true, gib_, gb_per_s_, vector_,  \
        fp32_, tf32_, fp16_, bf16_, bus_, peer_, source_)

/* One line a device, or two where its names are long. */
/* clang-format off */
const struct yk_datasheet yk_datasheets[] = {
    /* GeForce 10 and Titan (Pascal). Half precision runs at 1/64; libraries compute it in fp32. */
    PASCAL("gtx1060", "GeForce GTX 1060 6GB", ALSO("1060", "GeForce GTX 1060"),
        6, 192, 4.37, NULL, GEFORCE_10),
    GTX_10("1070",   "1070",    8, 256, 6.46),
    GTX_10("1070ti", "1070 Ti", 8, 256, 8.19),
    GTX_10("1080",   "1080",    8, 320, 8.87),
    GTX_10("1080ti", "1080 Ti", 11, 484, 11.34),
    PASCAL("titanx", "TITAN X (Pascal)", NONE, 12, 480, 10.97, NULL, GEFORCE_10),
    PASCAL("titanxp", "TITAN Xp", NONE, 12, 547.6, 12.15, NULL, GEFORCE_10),

    /* GeForce 20 and Titan (Volta, Turing) */
    VOLTA("titanv", "TITAN V", NONE, 12, 652.8, 14.9, 110, NULL, TITAN_V),
    RTX_20("2060",   "2060",       6, 336, 6.45, 25.8, GEFORCE_20),
    RTX_20("2060s",  "2060 SUPER", 8, 448, 7.18, 28.7, GEFORCE_20),
    RTX_20("2070",   "2070",       8, 448, 7.46, 29.9, TURING_PAPER),
    RTX_20("2070s",  "2070 SUPER", 8, 448, 9.06, 36.3, GEFORCE_20),
    RTX_20("2080",   "2080",       8, 448, 10.07, 40.3, TURING_PAPER),
    RTX_20("2080s",  "2080 SUPER", 8, 496, 11.15, 44.6, GEFORCE_20),
    RTX_20("2080ti", "2080 Ti",    11, 616, 13.45, 53.8, TURING_PAPER),
    TURING("titanrtx", "TITAN RTX", NONE, 24, 672, 16.31, 130.5, TURING_PAPER),

    /* GeForce 30 (Ampere) */
    RTX(AMPERE, "3060",   "3060",         12, 360, 12.74, 12.74, 25.5, "pcie4", GEFORCE_30),
    RTX(AMPERE, "3060ti", "3060 Ti",      8, 448, 16.2, 16.2, 32.4, "pcie4", GEFORCE_30),
    RTX(AMPERE, "3070",   "3070",         8, 448, 20.31, 20.31, 40.6, "pcie4", GA102_PAPER),
    RTX(AMPERE, "3070ti", "3070 Ti",      8, 608, 21.75, 21.75, 43.5, "pcie4", GEFORCE_30),
    RTX(AMPERE, "3080",   "3080",         10, 760, 29.77, 29.77, 59.5, "pcie4", GA102_PAPER),
    RECENT(AMPERE, "rtx3080-12", "GeForce RTX 3080 12GB", NONE,
        12, 912, 30.64, 30.64, 61.3, "pcie4", NULL, GEFORCE_30),
    RTX(AMPERE, "3080ti", "3080 Ti",      12, 912, 34.1, 34.1, 68.2, "pcie4", GEFORCE_30),
    RTX(AMPERE, "3090",   "3090",         24, 936, 35.58, 35.6, 71, "pcie4", GA102_PAPER),
    RTX(AMPERE, "3090ti", "3090 Ti",      24, 1008, 40, 40, 80, "pcie4", GEFORCE_30),

    /* GeForce 40 (Ada) */
    RTX(ADA, "4060",    "4060",          8, 272, 15.11, 15.1, 30.2, "pcie4x8", GEFORCE_40),
    RTX(ADA, "4060ti",  "4060 Ti",       16, 288, 22.06, 22.05, 44.1, "pcie4x8", GEFORCE_40),
    RTX(ADA, "4070",    "4070",          12, 504, 29.15, 29.15, 58.3, "pcie4", GEFORCE_40),
    RTX(ADA, "4070s",   "4070 SUPER",    12, 504, 35.48, 35.5, 71, "pcie4", GEFORCE_40),
    RTX(ADA, "4070ti",  "4070 Ti",       12, 504, 40.09, 40.1, 80.2, "pcie4", ADA_PAPER),
    RTX(ADA, "4070tis", "4070 Ti SUPER", 16, 672, 44.1, 44.1, 88.2, "pcie4", GEFORCE_40),
    RTX(ADA, "4080",    "4080",          16, 716.8, 48.74, 48.75, 97.5, "pcie4", ADA_PAPER),
    RTX(ADA, "4080s",   "4080 SUPER",    16, 736, 52.22, 52.2, 104.4, "pcie4", GEFORCE_40),
    RTX(ADA, "4090",    "4090",          24, 1008, 82.58, 82.6, 165.2, "pcie4", ADA_PAPER),

    /* GeForce 50 (Blackwell) */
    RTX(BLACKWELL, "5060",   "5060",         8, 448, 19.18, 19.2, 38.4, "pcie5x8", GEFORCE_50),
    RTX(BLACKWELL, "5060ti", "5060 Ti",      16, 448, 23.7, 23.7, 47.4, "pcie5x8", GEFORCE_50),
    RTX(BLACKWELL, "5070",   "5070",         12, 672, 30.87, 30.85, 61.7, "pcie5", RTX50_PAPER),
    RTX(BLACKWELL, "5070ti", "5070 Ti",      16, 896, 43.94, 43.95, 87.9, "pcie5", RTX50_PAPER),
    RTX(BLACKWELL, "5080",   "5080",         16, 960, 56.28, 56.3, 112.6, "pcie5", RTX50_PAPER),
    RTX(BLACKWELL, "5090",   "5090",         32, 1792, 104.8, 104.75, 209.5, "pcie5", RTX50_PAPER),

    /* Workstation cards: tensor cores at the full rate */
    TURING("quadrortx4000", "Quadro RTX 4000", NONE, 8, 416, 7.12, 57, QUADRO_RTX),
    TURING("quadrortx5000", "Quadro RTX 5000", NONE, 16, 448, 11.15, 89.2, QUADRO_RTX),
    TURING("quadrortx6000", "Quadro RTX 6000", NONE, 24, 672, 16.31, 130.5, TURING_PAPER),
    TURING("quadrortx8000", "Quadro RTX 8000", ALSO("rtx8000"), 48, 672, 16.31, 130.5, QUADRO_RTX),
    RECENT(AMPERE, "a2000", "RTX A2000 12GB", ALSO("rtxa2000"),
        12, 288, 7.99, 15.97, 31.9, "pcie4", NULL, RTX_A),
    RECENT(AMPERE, "a4000", "RTX A4000", NONE, 16, 448, 19.17, 38.35, 76.7, "pcie4", NULL, RTX_A),
    RECENT(AMPERE, "a4500", "RTX A4500", NONE, 20, 640, 23.65, 47.3, 94.6, "pcie4", NULL, RTX_A),
    RECENT(AMPERE, "a5000", "RTX A5000", NONE, 24, 768, 27.77, 55.55, 111.1, "pcie4", NULL, RTX_A),
    RECENT(AMPERE, "a5500", "RTX A5500", NONE, 24, 768, 34.1, 68.2, 136.4, "pcie4", NULL, RTX_A),
    RECENT(AMPERE, "a6000", "RTX A6000", NONE,
        48, 768, 38.71, 77.4, 154.8, "pcie4", NULL, GA102_PAPER),
    RECENT(ADA, "rtx2000ada", "RTX 2000 Ada Generation", ALSO("2000ada"),
        16, 224, 12, 24, 48, "pcie4x8", NULL, RTX_ADA),
    RECENT(ADA, "rtx4000ada", "RTX 4000 Ada Generation", ALSO("4000ada"),
        20, 360, 26.7, 40.95, 81.9, "pcie4", NULL, RTX_ADA),
    RECENT(ADA, "rtx4500ada", "RTX 4500 Ada Generation", ALSO("4500ada"),
        24, 432, 39.6, 79.25, 158.5, "pcie4", NULL, RTX_ADA),
    RECENT(ADA, "rtx5000ada", "RTX 5000 Ada Generation", ALSO("5000ada"),
        32, 576, 65.3, 130.55, 261.1, "pcie4", NULL, RTX_ADA),
    RECENT(ADA, "rtx6000ada", "RTX 6000 Ada Generation", ALSO("6000ada"),
        48, 960, 91.1, 182.1, 364.25, "pcie4", NULL, RTX_ADA),
    RECENT(BLACKWELL, "rtxpro6000", "RTX PRO 6000 Blackwell Workstation Edition", NONE,
        96, 1792, 126, 251.9, 503.8, "pcie5", NULL, RTX_PRO),

    /* Servers, Pascal to Turing */
    PASCAL("p4", "Tesla P4", NONE, 8, 192, 5.5, NULL, P4_P40),
    PASCAL("p40", "Tesla P40", NONE, 24, 345.6, 11.76, NULL, P4_P40),
    PASCAL("p100", "Tesla P100-SXM2-16GB", ALSO("p100-sxm"), 16, 732, 10.6, "nvlink1", P100_PAPER),
    PASCAL("p100-pcie", "Tesla P100-PCIE-16GB", NONE, 16, 732, 9.3, NULL, P100_PAPER),
    VOLTA("v100-16", "Tesla V100-SXM2-16GB", ALSO("v100", "v100-16gb", "v100-sxm2"),
        16, 900, 15.7, 125, "nvlink2", V100_SHEET),
    VOLTA("v100-32", "Tesla V100-SXM2-32GB", ALSO("v100-32gb", "v100-sxm3-32gb"),
        32, 900, 15.7, 125, "nvlink2", V100_SHEET),
    VOLTA("v100-pcie-16", "Tesla V100-PCIE-16GB", ALSO("v100-pcie"),
        16, 900, 14, 112, NULL, V100_SHEET),
    VOLTA("v100-pcie-32", "Tesla V100-PCIE-32GB", NONE, 32, 900, 14, 112, NULL, V100_SHEET),
    VOLTA("v100s", "Tesla V100S-PCIE-32GB", NONE, 32, 1134, 16.4, 130, NULL, V100_SHEET),
    TURING("t4", "Tesla T4", NONE, 16, 320, 8.1, 65, T4_SHEET),

    /* Servers, Ampere and Ada */
    RECENT(AMPERE, "a2", "A2", NONE, 16, 200, 4.5, 9, 18, "pcie4x8", NULL, A2_SHEET),
    RECENT(AMPERE, "a10", "A10", NONE, 24, 600, 31.2, 62.5, 125, "pcie4", NULL, A10_SHEET),
    RECENT(AMPERE, "a10g", "A10G", NONE, 24, 600, 35, 35, 70, "pcie4", NULL, A10G_SHEET),
    RECENT(AMPERE, "a16", "A16 (one of its four)", NONE,
        16, 200, 4.5, 9, 17.9, "pcie4x8", NULL, A16_SHEET),
    RECENT(AMPERE, "a30", "A30", NONE, 24, 933, 10.3, 82, 165, "pcie4", NULL, A30_SHEET),
    RECENT(AMPERE, "a40", "A40", NONE, 48, 696, 37.4, 74.8, 149.7, "pcie4", NULL, A40_SHEET),
    RECENT(AMPERE, "a100-40", "A100-SXM4-40GB", ALSO("a100-40gb", "a100-40gb-sxm4"),
        40, 1555, 19.5, 156, 312, "pcie4", "nvlink3", A100_SHEET),
    RECENT(AMPERE, "a100-80", "A100-SXM4-80GB", ALSO("a100", "a100-80gb", "a100-80gb-sxm4"),
        80, 2039, 19.5, 156, 312, "pcie4", "nvlink3", A100_SHEET),
    RECENT(AMPERE, "a100-pcie-40", "A100-PCIE-40GB", ALSO("a100 40gb pcie"),
        40, 1555, 19.5, 156, 312, "pcie4", NULL, A100_SHEET),
    RECENT(AMPERE, "a100-pcie-80", "A100 80GB PCIe", ALSO("a100-pcie"),
        80, 1935, 19.5, 156, 312, "pcie4", NULL, A100_SHEET),
    RECENT(ADA, "l4", "L4", NONE, 24, 300, 30.3, 60.5, 121, "pcie4", NULL, L4_SHEET),
    RECENT(ADA, "l40", "L40", NONE, 48, 864, 90.5, 90.5, 181.05, "pcie4", NULL, L40_SHEET),
    RECENT(ADA, "l40s", "L40S", NONE, 48, 864, 91.6, 183, 362.05, "pcie4", NULL, L40S_SHEET),

    /* Servers, Hopper and Blackwell */
    RECENT(HOPPER, "h100", "H100 80GB HBM3", ALSO("h100-sxm", "h100-80", "h100-80gb"),
        80, 3350, 66.9, 494.7, 989.4, "pcie5", "nvlink4", H100_PAPER),
    RECENT(HOPPER, "h100-pcie", "H100 PCIe", ALSO("h100-pcie-80"),
        80, 2039, 51.2, 378, 756, "pcie5", NULL, H100_PAPER),
    RECENT(HOPPER, "h100-nvl", "H100 NVL", NONE,
        94, 3938, 60, 417.5, 835.5, "pcie5", NULL, H100_NVL),
    RECENT(HOPPER, "h200", "H200", ALSO("h200-sxm"),
        141, 4800, 66.9, 494.7, 989.4, "pcie5", "nvlink4", H200_SHEET),
    RECENT(HOPPER, "h200-nvl", "H200 NVL", NONE,
        141, 4800, 60, 417.5, 835.5, "pcie5", NULL, H200_SHEET),
    RECENT(HOPPER, "gh200", "GH200 480GB", ALSO("gh200-96", "gh-96"),
        96, 4000, 66.9, 494.7, 989.4, "pcie5", "nvlink4", GH200_SHEET),
    RECENT(BLACKWELL, "b200", "B200", NONE,
        180, 7700, 75, 1125, 2250, "pcie5", "nvlink5", B200_SHEET),

    /* AMD: planned for, not run on. A MI250 counts both of its dies. */
    AMD(CDNA, "mi100", "Instinct MI100", NONE,
        32, 1228.8, 23.1, 46.1, 0, 184.6, 92.3, "pcie4", NULL, MI100_SHEET),
    AMD(CDNA, "mi210", "Instinct MI210", NONE,
        64, 1638.4, 22.6, 45.3, 0, 181, 181, "pcie4", NULL, MI210_SHEET),
    AMD(CDNA, "mi250", "Instinct MI250", NONE,
        128, 3276.8, 45.3, 90.5, 0, 362.1, 362.1, "pcie4", "infinity3", MI250_SHEET),
    AMD(CDNA, "mi250x", "Instinct MI250X", NONE,
        128, 3276.8, 47.9, 95.7, 0, 383, 383, "pcie4", "infinity3", MI250_SHEET),
    AMD(CDNA, "mi300x", "Instinct MI300X", NONE,
        192, 5300, 163.4, 163.4, 653.7, 1307.4, 1307.4, "pcie5", "infinity4", MI300_SHEET),
    AMD(CDNA, "mi325x", "Instinct MI325X", NONE,
        256, 6000, 163.4, 163.4, 653.7, 1307.4, 1307.4, "pcie5", "infinity4", MI325_SHEET),

    /* One core; whoever names a number of cores gets that many times as much. */
    ROW("cpu", "CPU core", NONE, YK_DEVICE_GENERATION_CPU, false,
        4, 6.4, 0.0896, 0.0896, 0, 0, 0, "pcie4", NULL, CPU_SOURCE),
};
/* clang-format on */
const size_t yk_datasheet_count = sizeof yk_datasheets / sizeof yk_datasheets[0];
