"""Which windows of a shard yoke train takes as samples, so that PyTorch can take the very same.

The twin of src/data/sampler.c and src/data/window_sampler.c.
"""

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
ROUNDS = 6


def scramble(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def mix(seed, number):
    return scramble((scramble((seed + GOLDEN) & MASK) + (number + 1) * GOLDEN) & MASK)


def encrypt(key, bits, number):
    mask = (1 << bits) - 1
    left, right = number >> bits, number & mask
    for turn in range(ROUNDS):
        left, right = right, left ^ (mix((key + turn) & MASK, right) & mask)
    return left << bits | right


def permuted(key, count, index):
    bits = 0
    while 1 << (2 * bits) < count:
        bits += 1
    if bits == 0:
        return 0
    index = encrypt(key, bits, index)
    while index >= count:
        index = encrypt(key, bits, index)
    return index


def first_token(number, tokens, sequence, seed=1):
    """Where sample `number` begins, in a shard of so many tokens."""
    windows = max(1, (tokens - sequence) // sequence)
    phases = min(tokens - sequence * windows, sequence)
    key = mix(seed, number // windows)
    phase = mix(key, 0) % phases
    return phase + permuted(key, windows, number % windows) * sequence
