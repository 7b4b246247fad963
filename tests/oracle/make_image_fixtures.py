#!/usr/bin/env python3
"""Asks Pillow and transformers what pictures decode to and become, as the cases that
tests/data/image_oracle_test.c replays.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install pillow==13.0.0 transformers==5.23.0 numpy
    /tmp/oracle/bin/python tests/oracle/make_image_fixtures.py            # writes tests/data/fixtures/images
    /tmp/oracle/bin/python tests/oracle/make_image_fixtures.py --check    # compares with what is there

The pictures are made up here: gradients and noise. PNG files are written by this script, in all colour
types, depths and both interlacings, JPEG files by Pillow. cases.json holds lists of cases; the expected
pixels of a case, (height, width, channels) bytes, are in expected.bin at "offset".
  decode      "file", "height", "width": convert("RGB"), then convert("L") follow each other
  resize      "file", "channels", "filter", "box" (left, upper, right, lower), "height", "width"
  processor   "file", "config" (the text of a preprocessor_config.json), "height", "width", "rescale", "mean", "std":
              what the Pillow processors of transformers make of it before they rescale
  broken      "file": a file that Pillow refuses
"""
import argparse
import io
import json
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "fixtures" / "images"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}


def picture(height, width, channels, most=255, seed=1):
    """A gradient with noise, (height, width, channels)."""
    random = np.random.default_rng(seed)
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    smooth = (x * (c + 1) / width + y * (3 - c) / height) / 4
    noisy = smooth + random.normal(0, 0.12, smooth.shape)
    return np.clip(np.rint(noisy * most), 0, most).astype(np.uint16)


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def pack_rows(samples, depth):
    """The bytes of the rows of a pass, each with a filter."""
    height = samples.shape[0]
    rows = samples.reshape(height, -1)
    out = b""
    step = max(1, samples.shape[2] * depth // 8)
    before = None
    for y in range(height):
        if depth == 16:
            row = rows[y].astype(">u2").tobytes()
        elif depth == 8:
            row = rows[y].astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(v), f"0{depth}b") for v in rows[y])
            bits += "0" * (-len(bits) % 8)
            row = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        kind = y % 3 if depth >= 8 else 0  # none, sub, up
        left = bytes(step) + row
        above = before or bytes(len(row))
        packed = {0: row, 1: bytes((a - b) % 256 for a, b in zip(row, left)),
                  2: bytes((a - b) % 256 for a, b in zip(row, above))}[kind]
        out += bytes([kind]) + packed
        before = row
    return out


def png(samples, colour, depth, interlaced=False, extra=()):
    height, width = samples.shape[:2]
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    data = b""
    for top, left, down, across in passes if interlaced else [(0, 0, 1, 1)]:
        part = samples[top::down, left::across]
        data += pack_rows(part, depth) if part.size else b""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunk(*e) for e in extra) +
            chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def palette(count):
    return bytes((i * k + k) % 256 for i in range(count) for k in (37, 91, 150))


def jpeg(pixels, mode="RGB", **options):
    out = io.BytesIO()
    pixels = pixels.astype(np.uint8)
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels, mode).save(out, "JPEG", **options)
    return out.getvalue()


def make_pngs():
    files = {}
    for depth in (1, 2, 4, 8, 16):
        samples = picture(13, 11, 1, 2 ** depth - 1)
        files[f"grey{depth}.png"] = png(samples, GREY, depth)
        files[f"grey{depth}-interlaced.png"] = png(samples, GREY, depth, True)
    dim = picture(13, 11, 1, 300)
    files["grey16-dim.png"] = png(dim, GREY, 16)
    for depth in (8, 16):
        most = 2 ** depth - 1
        files[f"rgb{depth}.png"] = png(picture(13, 11, 3, most), RGB, depth)
        files[f"rgb{depth}-interlaced.png"] = png(picture(13, 11, 3, most), RGB, depth, True)
        files[f"rgba{depth}.png"] = png(picture(13, 11, 4, most), RGBA, depth)
        files[f"grey-alpha{depth}.png"] = png(picture(13, 11, 2, most), GREY_ALPHA, depth)
    for depth in (1, 2, 4, 8):
        count = 2 ** depth
        files[f"palette{depth}.png"] = png(picture(13, 11, 1, count - 1), PALETTE, depth,
                                           extra=[(b"PLTE", palette(count))])
    files["palette-short.png"] = png(picture(13, 11, 1, 255), PALETTE, 8, extra=[(b"PLTE", palette(100))])
    files["palette-transparent.png"] = png(picture(13, 11, 1, 63), PALETTE, 8, True,
                                           extra=[(b"PLTE", palette(64)), (b"tRNS", bytes(range(0, 256, 8)))])
    files["grey-transparent.png"] = png(picture(13, 11, 1), GREY, 8, extra=[(b"tRNS", struct.pack(">H", 100))])
    files["rgb-transparent.png"] = png(picture(13, 11, 3), RGB, 8, extra=[(b"tRNS", struct.pack(">HHH", 1, 2, 3))])
    files["rgb-gamma.png"] = png(picture(13, 11, 3), RGB, 8, extra=[(b"gAMA", struct.pack(">I", 100000))])
    files["one-pixel.png"] = png(picture(1, 1, 3), RGB, 8)
    return files


def make_jpegs():
    rgb = picture(19, 21, 3)
    turned = Image.Exif()
    turned[0x0112] = 6
    return {
        "rgb444.jpg": jpeg(rgb, quality=90, subsampling=0),
        "rgb422.jpg": jpeg(rgb, quality=85, subsampling=1),
        "rgb420.jpg": jpeg(rgb, quality=75, subsampling=2),
        "rgb420-large.jpg": jpeg(picture(36, 47, 3, seed=2), quality=40, subsampling=2),
        "rgb-progressive.jpg": jpeg(rgb, quality=80, progressive=True),
        "rgb-restarts.jpg": jpeg(rgb, quality=80, restart_marker_blocks=2),
        "rgb-colours.jpg": jpeg(rgb, quality=80, keep_rgb=True),
        "rgb-turned.jpg": jpeg(rgb, quality=80, exif=turned),
        "grey.jpg": jpeg(picture(19, 21, 1), "L", quality=80),
        "grey-progressive.jpg": jpeg(picture(19, 21, 1), "L", quality=60, progressive=True),
        "cmyk.jpg": jpeg(picture(19, 21, 4), "CMYK", quality=90),
    }


def make_broken(files):
    jpg, progressive, whole = files["rgb420.jpg"], files["rgb-progressive.jpg"], files["rgb8.png"]
    flipped = bytearray(whole)
    flipped[whole.index(b"IDAT") + 12] ^= 0x55
    return {
        "cut.jpg": jpg[:len(jpg) * 2 // 3],
        "cut-progressive.jpg": progressive[:len(progressive) // 2],
        "cut-header.jpg": jpg[:100],
        "cut.png": whole[:len(whole) * 2 // 3],
        "cut-header.png": whole[:20],
        "changed.png": bytes(flipped),
    }


class Cases:
    def __init__(self, files):
        self.files = files
        self.bytes = b""
        self.lists = {"decode": [], "resize": [], "processor": [], "broken": []}

    def open(self, name):
        return Image.open(io.BytesIO(self.files[name]))

    def add(self, kind, pixels, **case):
        case["offset"] = len(self.bytes)
        self.bytes += np.ascontiguousarray(pixels).astype(np.uint8).tobytes()
        self.lists[kind].append(case)


def add_decodes(cases, names):
    for name in names:
        image = cases.open(name)
        both = [np.array(image.convert("RGB")).ravel(), np.array(image.convert("L")).ravel()]
        cases.add("decode", np.concatenate(both), file=name, height=image.height, width=image.width)


def add_resizes(cases):
    sizes = [(5, 6), (17, 20), (13, 4), (6, 11), (1, 1), (13, 11)]  # height, width
    for number in range(6):
        for height, width in sizes[number % 2::2] + [(7, 9)]:
            for channels, mode in ((3, "RGB"), (1, "L")):
                image = cases.open("rgb8.png").convert(mode)
                out = image.resize((width, height), number)
                cases.add("resize", np.array(out), file="rgb8.png", channels=channels, filter=number,
                          box=[0, 0, 11, 13], height=height, width=width)
        image = cases.open("rgb420-large.jpg").crop((5, 3, 44, 34))
        cases.add("resize", np.array(image.resize((8, 8), number)), file="rgb420-large.jpg", channels=3,
                  filter=number, box=[5, 3, 44, 34], height=8, width=8)


def add_processors(cases):
    from transformers.models.beit.image_processing_pil_beit import BeitImageProcessorPil
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
    from transformers.models.convnext.image_processing_pil_convnext import ConvNextImageProcessorPil
    from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    wanted = [
        (ViTImageProcessorPil, "ViTImageProcessor", {"size": {"height": 12, "width": 9}}, 12, 9),
        (ViTImageProcessorPil, "ViTFeatureExtractor", {"size": 10, "resample": 3, "image_mean": [0.1, 0.2, 0.3]}, 10, 10),
        (ViTImageProcessorPil, "ViTImageProcessor", {"size": 10, "do_rescale": False, "do_normalize": False,
                                                     "resample": 0}, 10, 10),
        (CLIPImageProcessorPil, "CLIPImageProcessor", {"size": {"shortest_edge": 14}, "crop_size": 10}, 10, 10),
        (CLIPImageProcessorPil, "CLIPFeatureExtractor", {"size": 15, "crop_size": {"height": 8, "width": 11}}, 8, 11),
        (CLIPImageProcessorPil, "CLIPImageProcessor", {"size": 9, "crop_size": {"height": 12, "width": 12},
                                                       "rescale_factor": 0.5}, 12, 12),
        (DeiTImageProcessorPil, "DeiTImageProcessor", {"size": 16, "crop_size": 11}, 11, 11),
        (BeitImageProcessorPil, "BeitImageProcessor", {"size": {"height": 15, "width": 17}, "crop_size": 12,
                                                       "do_center_crop": True}, 12, 12),
        (ConvNextImageProcessorPil, "ConvNextImageProcessor", {"size": {"shortest_edge": 12}, "crop_pct": 0.8,
                                                               "resample": 2}, 12, 12),
        (ConvNextImageProcessorPil, "ConvNextFeatureExtractor", {"size": 14}, 14, 14),
    ]
    for name in ("rgb420-large.jpg", "rgb422.jpg"):
        image = cases.open(name).convert("RGB")
        for kind, type_name, options, height, width in wanted:
            made = kind(**options)
            pixels = made(image, do_rescale=False, do_normalize=False)["pixel_values"][0]
            pixels = np.asarray(pixels).transpose(1, 2, 0)
            assert pixels.shape == (height, width, 3), (type_name, pixels.shape)
            assert np.array_equal(pixels, np.rint(pixels))
            key = "feature_extractor_type" if "Extractor" in type_name else "image_processor_type"
            cases.add("processor", pixels, file=name, config=json.dumps({key: type_name, **options}), height=height,
                      width=width, rescale=made.rescale_factor if made.do_rescale else 1,
                      mean=list(made.image_mean) if made.do_normalize else [0, 0, 0],
                      std=list(made.image_std) if made.do_normalize else [1, 1, 1])


def add_broken(cases, names):
    for name in names:
        try:
            cases.open(name).convert("RGB")
        except (OSError, SyntaxError, zlib.error):
            cases.lists["broken"].append({"file": name})
        else:
            sys.exit(f"Pillow reads {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files that are there")
    options = parser.parse_args()
    files = {**make_pngs(), **make_jpegs()}
    good = list(files)
    broken = make_broken(files)
    files.update(broken)
    cases = Cases(files)
    add_decodes(cases, good)
    add_resizes(cases)
    add_processors(cases)
    add_broken(cases, broken)
    files["expected.bin"] = cases.bytes
    lists = ",\n".join(f' "{kind}": [\n' + ",\n".join("  " + json.dumps(c) for c in many) + "\n ]"
                       for kind, many in cases.lists.items())
    files["cases.json"] = ("{\n" + lists + "\n}\n").encode()
    if options.check:
        wrong = [name for name, data in files.items() if (FOLDER / name).read_bytes() != data]
        sys.exit(f"these differ: {' '.join(wrong)}" if wrong else 0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
