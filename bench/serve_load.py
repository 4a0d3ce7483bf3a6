"""Load on a server of translations, bounded in count: what came back, and how fast.

    padir serve --listen 127.0.0.1:0 --log off &          # prints its address
    python3 bench/serve_load.py http://127.0.0.1:PORT [--requests 10000] [--concurrency 64] [--hup PID]

Requests have one to twelve sentences of a few words. One in twenty is cancelled after a few milliseconds, one in twenty is malformed, and one in a hundred
is sent slowly. With --hup the server of this process id is told to load its models again in the middle. Only the standard library is needed.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import time
from collections import Counter
from urllib.parse import urlsplit

WORDS = "my brother the old house a small dog is in on reads writes sees every day green book with of and then we they".split()


def body(chance: random.Random) -> bytes:
    sentence = lambda: " ".join(chance.choices(WORDS, k=chance.randint(3, 14))).capitalize() + "."
    texts = [sentence() for _ in range(chance.choice([1, 1, 1, 1, 2, 3, 12]))]
    return json.dumps({"q": texts, "source": "en", "target": "de"}).encode()


async def request(host: str, port: int, chance: random.Random, counts: Counter, times: list) -> None:
    kind = chance.random()
    content = b'{"q": [' if kind < 0.05 else body(chance)
    head = f"POST /translate HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    started = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection(host, port)
        if 0.10 <= kind < 0.11:
            for byte in head.encode() + content[:-1]:
                writer.write(bytes([byte]))
                if chance.random() < 0.02:
                    await asyncio.sleep(0.05)
            writer.write(content[-1:])
        else:
            writer.write(head.encode() + content)
        await writer.drain()
        if 0.05 <= kind < 0.10:
            await asyncio.sleep(chance.random() * 0.02)
            writer.close()
            counts["cancelled by the client"] += 1
            return
        answer = await reader.read()
        writer.close()
    except OSError as error:
        counts[f"lost: {type(error).__name__}"] += 1
        return
    status = answer.split(b" ", 2)[1].decode() if answer.startswith(b"HTTP/1.1 ") else "lost: no answer"
    counts[f"{status} to a malformed request" if kind < 0.05 else status] += 1
    if status == "200":
        times.append(time.perf_counter() - started)


def memory(pid: int | None) -> int | None:
    try:
        with open(f"/proc/{pid}/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except OSError:
        return None


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--hup", type=int, metavar="PID")
    options = parser.parse_args()
    count = min(options.requests, 10_000)
    place = urlsplit(options.url)
    chance, counts, times, left = random.Random(1), Counter(), [], iter(range(count))

    async def client() -> None:
        for number in left:
            if options.hup and number == count // 2:
                os.kill(options.hup, signal.SIGHUP)
            await request(place.hostname, place.port, chance, counts, times)

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(options.concurrency)))
    seconds = time.perf_counter() - started
    times.sort()
    result = {
        "requests": count,
        "concurrency": options.concurrency,
        "seconds": round(seconds, 2),
        "requests_per_second": round(count / seconds, 1),
        "p50_ms": round(1000 * statistics.median(times), 1) if times else None,
        "p99_ms": round(1000 * times[int(len(times) * 0.99)], 1) if times else None,
        "answers": dict(sorted(counts.items())),
        "peak_memory_kb": memory(options.hup),
    }
    print(json.dumps(result, indent=2))


asyncio.run(main())
