"""Where results are kept besides being printed: OUT names a file, or a folder for gpu.jsonl."""
import json
import os


def keep(record):
    place = os.environ.get("OUT")
    if not place:
        return
    path = os.path.join(place, "gpu.jsonl") if os.path.isdir(place) else place
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
