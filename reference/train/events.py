"""Reads and writes TensorBoard event files with TensorBoard itself.

Requirements: Python 3.11+, tensorboard 2.21.0 (pip install tensorboard==2.21.0).
Usage: python events.py > event.hex        the record of `train/loss` 0.5 at step 3, time 2
       python events.py --check RUN        whether TensorBoard finds in a run's directory exactly
                                           what its metrics.jsonl says
"""

import io
import json
import math
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


def record():
    value = Summary.Value(tag="train/loss", simple_value=0.5)
    event = Event(wall_time=2.0, step=3, summary=Summary(value=[value]))
    out = io.BytesIO()
    RecordWriter(out).write(event.SerializeToString())
    return out.getvalue().hex()


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def check(run):
    expected = {}
    for line in (pathlib.Path(run) / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        step, kind = row["step"], row["kind"]
        for name, value in row.items():
            if name not in ("step", "kind", "time", "seconds", "tokens"):
                tag = f"train/{name}" if kind == "train" else name.replace(".", "/", 1)
                value = math.nan if value is None else single(value)
                expected.setdefault(tag, []).append((step, value, row["time"]))
    found = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
    tags = found.Tags()["scalars"]
    assert sorted(tags) == sorted(expected), (tags, expected.keys())
    for tag in tags:
        scalars = [(s.step, s.value, s.wall_time) for s in found.Scalars(tag)]
        assert len(scalars) == len(expected[tag]), tag
        for ours, theirs in zip(expected[tag], scalars):
            assert repr(ours) == repr(theirs), (tag, ours, theirs)
    print(f"{sum(map(len, expected.values()))} numbers under {len(tags)} tags agree")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        check(sys.argv[2])
    else:
        print(record())
