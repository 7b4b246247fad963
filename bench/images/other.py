"""What Pillow takes for what bench/images/run asks of yoke, as its JSON.

    other.py make FOLDER COUNT          images to compare with, gradients and noise, in two classes
    other.py read FOLDER SIDE [png|jpg] decodes and resizes them (bicubic), as transformers'
                                        processors do, and adds up their bytes
"""
import json
import pathlib
import sys
import time

import numpy as np
from PIL import Image


def make(folder, count):
    """Half of them as JPEG, with the usual 500 × 375 pixels of ImageNet, half as PNG."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[0:375, 0:500]
    for i in range(int(count)):
        waves = [np.sin(x / random.uniform(8, 90) + y / random.uniform(8, 90)) for _ in range(3)]
        pixels = np.stack(waves, -1) * 90 + 128 + random.normal(0, 8, (375, 500, 3))
        image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
        for ending, options in (("jpg", {"quality": 90}), ("png", {})):
            path = pathlib.Path(folder) / ending / f"class{i % 2}" / f"{i:05d}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            image.save(path, **options)


def read(folder, side):
    """Into arrays of (channels, height, width), as yoke does."""
    side = int(side)
    paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    total = 0
    start = time.perf_counter()
    for path in paths:
        image = Image.open(path).convert("RGB").resize((side, side), Image.Resampling.BICUBIC)
        planes = np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))
        total += int(planes.sum())
    seconds = time.perf_counter() - start
    print(json.dumps({"images": len(paths), "seconds": seconds, "sum": total}))


if __name__ == "__main__":
    {"make": make, "read": read}[sys.argv[1]](*sys.argv[2:])
