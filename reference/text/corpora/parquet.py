"""Writes the parquet files that the tests of crates/text/src/columnar read.

    pip install pyarrow==26.0.1
    python reference/text/corpora/parquet.py crates/text/src/columnar/golden

The files are small and committed; run again only to add one.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [(f"sentence {i % 7} é 中文 🙂", f"Satz {i * i} ü") for i in range(60)]


def translation(rows, nullable=True):
    struct = pa.struct([pa.field(name, pa.string(), nullable) for name in ("en", "de")])
    values = [None if row is None else {"en": row[0], "de": row[1]} for row in rows]
    schema = pa.schema([pa.field("translation", struct, nullable)])
    return pa.table([pa.array(values, struct)], schema=schema)


def write(folder, name, table, **options):
    pq.write_table(table, folder / f"{name}.parquet", **options)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    table = translation(ROWS)
    for codec in ("none", "snappy", "gzip", "zstd", "brotli"):
        write(folder, codec, table, compression=codec)
    # pyarrow's "lz4" is parquet's LZ4_RAW.
    write(folder, "lz4", table, compression="lz4")
    write(folder, "v2", table, data_page_version="2.0", compression="zstd")
    write(folder, "plain", table, use_dictionary=False, data_page_size=256)
    for name, encoding in (
        ("delta_length", "DELTA_LENGTH_BYTE_ARRAY"),
        ("delta_byte_array", "DELTA_BYTE_ARRAY"),
    ):
        columns = {f"translation.{side}": encoding for side in ("en", "de")}
        write(folder, name, table, use_dictionary=False, column_encoding=columns)
    write(folder, "required", translation(ROWS, nullable=False))
    write(folder, "groups", table, row_group_size=13)
    flat = pa.table(
        {
            "id": list(range(60)),
            "english": [source for source, _ in ROWS],
            "tags": [["a", "b"]] * 60,
            "german": [target for _, target in ROWS],
            "domain": ["news"] * 60,
        }
    )
    write(folder, "flat", flat)
    bad = [
        ("one", "eins"),
        ("two", None),
        (None, "drei"),
        None,
        ("fo\nur", "vier"),
        ("f\0ive", "fünf"),
        ("x" * 101, "sechs"),
        ("end\r\n", "Ende\n"),
        ("", ""),
    ]
    write(folder, "bad", translation(bad))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
