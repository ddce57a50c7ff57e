"""What a comparison is written as: JSON, and tables in Markdown."""

import json
import os
import platform

OURS = "spark-collectives"

# Above this a message takes longer than its way.
SMALL_BYTES = 64 << 10


def machine():
    model = platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    return {"processor": model, "processors": os.cpu_count(), "system": f"{platform.system()} {platform.release()}"}


def size(bytes_):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if bytes_ >= 1 << shift:
            return f"{bytes_ / (1 << shift):g} {unit}"
    return f"{bytes_} B"


def micros(value):
    return "" if value is None else f"{value:.1f} µs" if value < 1000 else f"{value / 1000:.2f} ms"


def markdown(table):
    names = list(dict.fromkeys(name for row in table["rows"] for name in row["micros"]))
    others = [name for name in names if name != OURS]
    round_trip = table["roundTripMicros"]
    heads = ["size", "ours"] + (["in round trips"] if round_trip else []) + [head for name in others for head in (name, f"{name} / ours")]
    lines = [
        f"**{table['path']}: {table['operation']}**; load average {table['loadBefore']:.1f} before, {table['loadAfter']:.1f} after"
        + (f"; bare round trip {round_trip:.2f} µs" if round_trip else ""),
        "",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
    ]
    for row in table["rows"]:
        own = row["micros"].get(OURS)
        cells = [size(row["bytes"]), micros(own)]
        if round_trip:
            cells.append(f"{own / round_trip:.2g}" if own and row["bytes"] <= SMALL_BYTES else "")
        for name in others:
            other = row["micros"].get(name)
            cells += [micros(other), f"{other / own:.3g}" if own and other else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(document, folder):
    with open(os.path.join(folder, "comparison.json"), "w", encoding="utf-8") as out:
        json.dump(document, out, indent=2)
    about = document["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items() if version)
    head = (
        f"{document['ranks']} ranks, float32, best of {document['rounds']} run medians in interleaved rounds, "
        f"{document['secondsPerSize']} s for each size; {about['processors']} processors ({about['processor']}), {about['system']}; {versions}.\n"
    )
    with open(os.path.join(folder, "comparison.md"), "w", encoding="utf-8") as out:
        out.write("\n\n".join([head.strip()] + [markdown(table) for table in document["tables"]]) + "\n")
