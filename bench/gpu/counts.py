"""Parameters and operations of a case, counted by hand, and the share of a GPU's peak they make.

A product (m, k) x (k, n) is 2mkn operations, its two gradients as many each; that of a frozen
matrix has one gradient. Attention between n pairs of positions is 4 C n operations forward and
twice that backward. Nothing is counted for what an implementation computes again.
"""

PEAK_FLOPS = 989e12  # H200 and H100 SXM, dense bf16


def llama_linears(sizes):
    """(in, out) of the seven linears of a block."""
    width, inner = sizes["width"], sizes["inner"]
    keys = width // sizes["heads"] * sizes["kv_heads"]
    return {"q_proj": (width, width), "k_proj": (width, keys), "v_proj": (width, keys),
            "o_proj": (width, width), "gate_proj": (width, inner), "up_proj": (width, inner),
            "down_proj": (inner, width)}


def block_matrix(case):
    """Numbers in the matrices of one block; of translation, those of the encoder."""
    sizes = case.sizes
    if case.family == "llama":
        return sum(rows * columns for rows, columns in llama_linears(sizes).values())
    return 4 * sizes["width"] ** 2 + 2 * sizes["width"] * sizes["inner"]


def adapter_numbers(case):
    return case.lora_rank * case.sizes["layers"] * sum(
        rows + columns for rows, columns in llama_linears(case.sizes).values())


def parameters(case):
    """All of them, tied ones once, without adapters."""
    sizes = case.sizes
    width, inner, layers = sizes["width"], sizes["inner"], sizes["layers"]
    table = sizes["vocabulary"] * width
    if case.family == "llama":
        return 2 * table + layers * (block_matrix(case) + 2 * width) + width
    vectors = 9 * width + inner  # biases of four linears of width, of two inner ones, two norms
    blocks = layers * (block_matrix(case) + vectors)
    if case.family == "translation":
        return table + 2 * blocks + layers * (4 * width ** 2 + 6 * width)
    positions = sizes["positions"] * width
    if case.family == "bert":
        head = width ** 2 + 3 * width + sizes["vocabulary"]
        return table + positions + 4 * width + blocks + head
    return table + positions + blocks + 2 * width


def formula_per_token(case):
    """6 P + 12 L C T, what MFU usually means; None where samples differ in length."""
    sizes = case.sizes
    if not case.sequence:
        return None
    return 6 * parameters(case) + 12 * sizes["layers"] * sizes["width"] * case.sequence


def exact_per_token(case):
    """Of a model whose samples are all of one length."""
    sizes = case.sizes
    width, layers, length = sizes["width"], sizes["layers"], case.sequence
    head = sizes["vocabulary"] * width + (width ** 2 if case.family == "bert" else 0)
    matrices = layers * block_matrix(case) + head
    seen = length if case.family == "bert" else (length + 1) / 2  # positions, on average
    attention = 12 * layers * width * seen
    if case.lora_rank:
        return 4 * matrices + 6 * adapter_numbers(case) + attention
    return 6 * matrices + attention


def exact_per_token_of_pairs(case, pairs):
    """`pairs`: the lengths (S, T) of sentences with their ends. Tokens of both sides count."""
    sizes = case.sizes
    width, layers = sizes["width"], sizes["layers"]
    square = width ** 2
    sources = sum(source for source, _ in pairs)
    targets = sum(target for _, target in pairs)
    on_sources = layers * (block_matrix(case) + 2 * square)  # and keys and values of the decoder
    on_targets = layers * (block_matrix(case) + 2 * square) + sizes["vocabulary"] * width
    seen = sum(s * s + t * (t + 1) / 2 + s * t for s, t in pairs)
    operations = 6 * (on_sources * sources + on_targets * targets) + 12 * layers * width * seen
    return operations / (sources + targets)
