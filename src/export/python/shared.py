def _cut(share, micro_batch):
    return share // MICRO_BATCHES + (micro_batch < share % MICRO_BATCHES)


def samples(rank, micro_batch):
    """Where the samples of a rank's micro-batch stand in the batch."""
    first = sum(_cut(share, k) for k in range(micro_batch) for share in SHARES)
    first += sum(_cut(share, micro_batch) for share in SHARES[:rank])
    return range(first, first + _cut(SHARES[rank], micro_batch))


class Shares(torch.utils.data.Sampler):
    """Gives a rank its share: DataLoader(data, batch_sampler=Shares(len(data), rank)).

    One micro-batch after the other, MICRO_BATCHES a step. A micro-batch that the rank has no
    samples in gets the first one of the batch, which is weighted with 0: every rank must
    take part in the communication of every layer.
    """

    def __init__(self, length, rank, shuffle=True, seed=0):
        self.length, self.rank, self.shuffle, self.seed = length, rank, shuffle, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.length // BATCH * MICRO_BATCHES

    def __iter__(self):
        order = torch.arange(self.length)
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(self.length, generator=generator)
        for start in range(0, self.length - BATCH + 1, BATCH):
            for micro_batch in range(MICRO_BATCHES):
                mine = samples(self.rank, micro_batch) or range(1)
                yield [int(order[start + i]) for i in mine]


def loss_weights(rank, tokens=None):
    """What the mean loss of each micro-batch is multiplied by.

    PyTorch sums the gradients of all ranks and divides by their number, which is wrong for
    unequal shares: the gradient of the batch weights each by its part of the batch. Where
    samples differ in how many of their tokens bear loss, `tokens` counts those of this
    rank, a number for each micro-batch.
    """
    own = [len(samples(rank, k)) for k in range(MICRO_BATCHES)]
    if tokens is None:
        return [count * RANKS / BATCH for count in own]
    own = [count if taken else 0 for count, taken in zip(tokens, own)]
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    total = torch.tensor(float(sum(own)), dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return [count * RANKS / total.item() for count in own]


def limit_memory(rank):
    """Keeps PyTorch's allocator below the planned limit of this rank's device."""
    if torch.cuda.is_available():
        fraction = LIMIT_BYTES[rank] / torch.cuda.mem_get_info()[1]
        torch.cuda.set_per_process_memory_fraction(min(1.0, fraction))


def recompute(model, names):
    """Makes modules save only their input, and run forward again in backward."""
    for name in names:
        parent, _, last = name.rpartition(".")
        parent = model.get_submodule(parent)
        module = getattr(parent, last)
        if any(True for _ in module.parameters()):
            setattr(parent, last, checkpoint_wrapper(module))
