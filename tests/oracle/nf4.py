"""NF4 with double quantisation (Dettmers et al. 2023, QLoRA), as bitsandbytes stores it, in NumPy."""
import numpy as np

BLOCK = 64
SCALE_BLOCK = 256

VALUES = np.array(
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
     -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
     0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023,
     1.0], np.float32)


def dynamic_map():
    """The 256 values of a signed 8-bit number: seven decades, each with twice the fractions of the one below."""
    values = [0.0, 1.0]
    for i in range(7):
        edges = np.linspace(0.1, 1.0, 2**i + 1)
        middles = (edges[1:] + edges[:-1]) / 2 * 10.0 ** (i - 6)
        values += [*middles, *-middles]
    return np.sort(np.array(values)).astype(np.float32)


def nearest(values, numbers):
    """The place of the nearest of `values` for each number. Fails where a number lies so close to the middle
    of two that the rounding of another implementation might choose the other."""
    middles = (values[1:].astype(np.float64) + values[:-1]) / 2
    margin = np.abs(numbers[:, None].astype(np.float64) - middles).min(1)
    assert (margin > 1e-7 + 1e-6 * np.abs(numbers)).all(), "a number in the middle of two; take another seed"
    return np.searchsorted(middles, numbers, side="left").astype(np.uint8)


def in_blocks(numbers, block):
    padded = np.zeros(-(-numbers.size // block) * block, np.float32)
    padded[:numbers.size] = numbers
    return padded.reshape(-1, block)


def quantise(weight):
    """The parts of a weight, row by row as it is stored: two codes a byte, the earlier in the high half; a
    scale for each 64 numbers as one of the dynamic map's values, in blocks of 256, less the mean."""
    numbers = weight.astype(np.float32).ravel()
    absolute = np.abs(in_blocks(numbers, BLOCK)).max(1)
    codes = nearest(VALUES, numbers / np.repeat(absolute, BLOCK)[:numbers.size])
    codes = np.append(codes, np.zeros(codes.size % 2, np.uint8))
    mean = np.float32(absolute.astype(np.float64).mean())
    scale_scales = np.abs(in_blocks(absolute - mean, SCALE_BLOCK)).max(1)
    scales = nearest(dynamic_map(), (absolute - mean) / np.repeat(scale_scales, SCALE_BLOCK)[:absolute.size])
    return dict(original=weight.copy(), codes=codes[0::2] << 4 | codes[1::2], scales=scales,
                scale_scales=scale_scales, mean=np.array([mean], np.float32))


def dequantise(parts):
    """The fp32 numbers that the parts stand for, in the shape of the original."""
    shape = parts["original"].shape
    count = int(np.prod(shape))
    codes = np.stack([parts["codes"] >> 4, parts["codes"] & 15], 1).ravel()[:count]
    blocks = np.repeat(parts["scale_scales"], SCALE_BLOCK)[:parts["scales"].size]
    absolute = dynamic_map()[parts["scales"]] * blocks + parts["mean"][0]
    return (VALUES[codes] * np.repeat(absolute, BLOCK)[:count]).reshape(shape)
