"""The peer of `padir bench decode`: the same autoregressive model and inputs in CTranslate2 on a CPU.

Requirements: Python 3.11+, ctranslate2 4.8.4; torch 2.15.0 and transformers 5.22.2 to convert and to test:

    pip install ctranslate2==4.8.4 torch==2.15.0 transformers==5.22.2 safetensors==0.8.0 numpy==2.4.6
    python bench/ctranslate2_decode.py DIR           # answers commands on stdin, see below
    python bench/ctranslate2_decode.py --self-test   # against transformers' generate, on made-up models

DIR is a causal checkpoint of padir, that is a T5.1.0 checkpoint: config.json and model.safetensors. Ids go in
and ids come out, so its vocabulary is not read and need not exist: a piece is called what its id is.

Commands are JSON, one a line; each is answered by one line on stdout, remarks go to stderr:

    {"describe": true}       versions, the settings that can be tried and what was tried so far
    {"translate": {...}}     {"outputs": [[id...]...], "seconds": [of each call...], "peak_rss_bytes", ...}
    {"best_threads": {...}}  tries settings on the same input: {"threads", "inter_threads", "backend", "table"}
    {"quit": true}           ends, as does the end of input

What is translated, and how; only "sources" must be given:

    sources         rows of ids as the encoder reads them, the final EOS included, and not EOS alone
    precision       "float32" (default) or "int8": weights per row, activations per token, as CTranslate2 does it
    beam            1 (default) is greedy
    length_penalty  a score is divided by length^a, EOS counted (default 1; irrelevant when greedy)
    min_length, max_length   in steps: EOS is forbidden (its probability shared out) in the first min_length, and
                    max_length ends the search, with or without EOS; equal, they fix the number of tokens, EOS
                    not being one of them (default 1 and 256)
    batch           1 (default): a call per sentence. b: one call for all sources, which CTranslate2 sorts by
                    length and divides into batches of b; "seconds" then holds one number
    threads         OpenMP threads of one translation (default: all cores)
    inter_threads   batches translated at the same time (default 1)
    backend         "default" (chosen by the processor's vendor), "onednn" or "mkl"
    warm_up         calls before the clock starts (default 1)

Outputs end with EOS 1 if it was made. The clock runs around translate_batch alone: pieces are named before
and ids read after. An answer is held back until OpenMP's threads have ceased to spin, lest they take a core
from whoever is measured next; as they must be woken again, and caches filled, there is a call to warm up.

Each setting of precision, threads and backend has a process of its own, which loads the model once, keeps it
and is asked again for the same setting; so its high-water mark of memory (VmHWM) is that of one model, and
torch is not in it. "import_rss_bytes" says how much of it was there before the weights were read. Settings
that lose in "best_threads" are unloaded. Its candidates, all divisions of the cores and both backends unless
one is named, take turns for "rounds" rounds (default 3), and the one with the least total of a round wins.
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

from peer import Refused, all_refused, cores, number, peak_rss, say, serve

PAD, EOS, UNKNOWN = 0, 1, 2
PRECISIONS = ("float32", "int8")
# Outside Intel's processors CTranslate2 prefers oneDNN; MKL, with packed weights, may be the faster.
BACKENDS = {"default": {}, "onednn": {"CT2_USE_MKL": "0"}, "mkl": {"CT2_USE_MKL": "1"}}
TRIED_BACKENDS = ("onednn", "mkl")
REST = 0.05  # seconds


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a loaded model is tied to."""

    precision: str = "float32"
    threads: int = 0
    inter_threads: int = 1
    backend: str = "default"


@dataclasses.dataclass(frozen=True)
class Search:
    """How a translation is searched for, and in what batches."""

    beam: int = 1
    length_penalty: float = 1.0
    min_length: int = 1
    max_length: int = 256
    batch: int = 1
    warm_up: int = 1


# Conversion, in a process of its own


def convert(directory, output, precision):
    """Writes DIR as a model of CTranslate2, by its own converter."""
    import torch
    import transformers
    from ctranslate2.converters import TransformersConverter

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()

    class Converter(TransformersConverter):
        """Their converter of T5, with numbers instead of a tokenizer."""

        def load_model(self, model_class, path, **options):
            options["dtype"] = torch.float32
            model, found = model_class.from_pretrained(path, output_loading_info=True, **options)
            if faults := {key: sorted(map(str, value)) for key, value in found.items() if value}:
                sys.exit(f"{path} is not exactly a T5: {faults}")
            # transformers 5 says "tied" of every T5, and CTranslate2 then divides the logits by sqrt(d).
            model.config.tie_word_embeddings = model.config.scale_decoder_outputs
            self.vocab_size = model.config.vocab_size
            return model

        def load_tokenizer(self, *_, **__):
            return Numbers(self.vocab_size)

    Converter(directory).convert(output, quantization=precision)


class Numbers:
    """The vocabulary "0", "1", ..., as far as the converter asks for one."""

    pad_token, eos_token, unk_token = str(PAD), str(EOS), str(UNKNOWN)

    def __init__(self, size):
        self.size = size

    def get_vocab(self):
        return {str(number): number for number in range(self.size)}

    def convert_ids_to_tokens(self, number):
        return str(number)


# The process that holds a model


def work(model, setting):
    """Loads a model and answers {"sources", "search"} until the end of input."""
    # ctranslate2 imports these if it can, for conversion: hundreds of megabytes that are not its own.
    sys.modules.update(dict.fromkeys(("torch", "transformers", "huggingface_hub")))
    import ctranslate2

    import_rss = peak_rss()
    start = time.perf_counter()
    translator = ctranslate2.Translator(
        model,
        device="cpu",
        compute_type=setting.precision,
        inter_threads=setting.inter_threads,
        intra_threads=setting.threads,
    )
    fixed = {"import_rss_bytes": import_rss, "load_seconds": time.perf_counter() - start}
    if translator.compute_type != setting.precision and not translator.compute_type.startswith(setting.precision):
        sys.exit(f"CTranslate2 computes in {translator.compute_type}, not in {setting.precision}")
    say({"loaded": True} | fixed)
    for line in sys.stdin:
        task = json.loads(line)
        outputs, seconds = translate(translator, task["sources"], Search(**task["search"]))
        time.sleep(REST)
        say({"outputs": outputs, "seconds": seconds, "peak_rss_bytes": peak_rss()} | fixed)


def translate(translator, sources, search):
    rows = [[str(token) for token in source] for source in sources]
    calls = [[row] for row in rows] if search.batch == 1 else [rows]

    def call(rows):
        return translator.translate_batch(
            rows,
            beam_size=search.beam,
            length_penalty=search.length_penalty,
            min_decoding_length=search.min_length,
            max_decoding_length=search.max_length,
            max_batch_size=search.batch,
            max_input_length=0,  # would otherwise be cut without a word
            return_end_token=True,  # also makes EOS count in the length that a score is divided by
        )

    for rows in calls[: search.warm_up]:
        call(rows)
    results, seconds = [], []
    for rows in calls:
        start = time.perf_counter()
        answer = call(rows)
        seconds.append(time.perf_counter() - start)
        results += answer
    return [[int(piece) for piece in result.hypotheses[0]] for result in results], seconds


# The process that takes commands


class Worker:
    """A process that holds a model in one setting."""

    def __init__(self, model, setting):
        command = [sys.executable, __file__, model, "--work", json.dumps(dataclasses.asdict(setting))]
        environment = os.environ | BACKENDS[setting.backend]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.setting = setting
        self.receive()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise Refused(f"the process of {self.setting} ended with status {self.process.wait()}")
        return json.loads(line)

    def translate(self, sources, search):
        try:
            print(json.dumps({"sources": sources, "search": dataclasses.asdict(search)}), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # receive says why
        return self.receive()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Peer:
    """Converts each precision once, loads each setting once."""

    def __init__(self, directory, scratch):
        with open(f"{directory}/config.json", encoding="utf-8") as file:
            config = json.load(file)
        if config.get("padir", {}).get("decoder", "causal") != "causal":
            sys.exit(f"{directory} is not autoregressive; CTranslate2 has no parallel decoder")
        self.directory, self.scratch, self.vocab_size = directory, scratch, config["vocab_size"]
        self.models, self.workers, self.trials = {}, {}, []

    def model(self, precision):
        if precision not in self.models:
            path = f"{self.scratch}/{precision}"
            command = [sys.executable, __file__, self.directory, "--convert", path, "--precision", precision]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
            if done.returncode != 0:
                raise Refused(f"{self.directory} was not converted to {precision}")
            self.models[precision] = path
        return self.models[precision]

    def worker(self, setting):
        if setting not in self.workers:
            self.workers[setting] = Worker(self.model(setting.precision), setting)
        return self.workers[setting]

    def unload(self, setting):
        if setting in self.workers:
            self.workers.pop(setting).close()

    def ask(self, setting, sources, search):
        try:
            return self.worker(setting).translate(sources, search)
        except Refused:
            self.unload(setting)
            raise

    def translate(self, task):
        sources, setting, search = self.read(task)
        return self.ask(setting, sources, search) | dataclasses.asdict(setting)

    def best_threads(self, task):
        """The fastest of all divisions of the cores and of all backends; one that is named in the task stays."""
        sources, given, search = self.read(task, "rounds")
        rounds = number(task.get("rounds", 3), "rounds")
        candidates = [
            dataclasses.replace(given, threads=threads, inter_threads=inter, backend=backend)
            for inter, threads in divisions(search.batch)
            for backend in TRIED_BACKENDS
            if "threads" not in task or threads == given.threads
            if "inter_threads" not in task or inter == given.inter_threads
            if "backend" not in task or backend == given.backend
        ] or [given]
        loaded = set(self.workers)
        times = {candidate: [] for candidate in candidates}
        for _, candidate in itertools.product(range(rounds), candidates):
            times[candidate].append(sum(self.ask(candidate, sources, search)["seconds"]))
        best = min(candidates, key=lambda candidate: min(times[candidate]))
        for candidate in candidates:
            if candidate != best and candidate not in loaded:
                self.unload(candidate)
        table = [dataclasses.asdict(candidate) | {"seconds": min(times[candidate])} for candidate in candidates]
        answer = {"threads": best.threads, "inter_threads": best.inter_threads, "backend": best.backend, "table": table}
        self.trials.append({"precision": best.precision, **dataclasses.asdict(search), **answer})
        return answer

    def read(self, task, *more):
        """A task as sources, setting and search, or Refused; what more it may hold is not looked at."""
        if not isinstance(task, dict):
            raise Refused("what is to be translated is a JSON object")
        known = {field.name: field.default for part in (Setting, Search) for field in dataclasses.fields(part)}
        if unknown := set(task) - set(known) - {"sources", *more}:
            raise Refused(f"unknown: {', '.join(sorted(unknown))}; known: sources, {', '.join(known)}")
        sources = task.get("sources")
        if not isinstance(sources, list) or not sources:
            raise Refused("sources are missing")
        for index, row in enumerate(sources):
            if not isinstance(row, list) or not row:
                raise Refused(f"source {index} is empty or not a row of ids")
            if not all(type(token) is int and 0 <= token < self.vocab_size for token in row):
                raise Refused(f"source {index} holds something other than ids below {self.vocab_size}")
            if row == [EOS]:
                raise Refused(f"source {index} is EOS alone, which CTranslate2 answers with nothing, without computing")
        values = {key: task.get(key, default) for key, default in known.items()}
        values["threads"] = values["threads"] or cores()
        setting = Setting(**{field.name: values[field.name] for field in dataclasses.fields(Setting)})
        search = Search(**{field.name: values[field.name] for field in dataclasses.fields(Search)})
        check(setting, search)
        return sources, setting, search

    def describe(self):
        from importlib.metadata import version

        return {
            "name": "CTranslate2",
            "ctranslate2": version("ctranslate2"),
            "python": sys.version.split()[0],
            "cores": cores(),
            "precisions": PRECISIONS,
            "backends": TRIED_BACKENDS,
            "threads": sorted({threads for _, threads in divisions(1)}),
            "loaded": [dataclasses.asdict(setting) for setting in self.workers],
            "trials": self.trials,
        }

    def answer(self, command):
        if not isinstance(command, dict):
            raise Refused("a command is a JSON object")
        if "translate" in command:
            return self.translate(command["translate"])
        if "best_threads" in command:
            return self.best_threads(command["best_threads"])
        if "describe" in command:
            return self.describe()
        raise Refused(f"unknown command {', '.join(command)}")

    def close(self):
        for setting in list(self.workers):
            self.unload(setting)


def check(setting, search):
    for name in ("threads", "inter_threads"):
        number(getattr(setting, name), name)
    for name, least in (("beam", 1), ("min_length", 0), ("max_length", 1), ("batch", 1), ("warm_up", 0)):
        number(getattr(search, name), name, least)
    if search.min_length > search.max_length:
        raise Refused(f"min_length {search.min_length} exceeds max_length {search.max_length}")
    if not isinstance(search.length_penalty, (int, float)):
        raise Refused(f"length_penalty is {json.dumps(search.length_penalty)}, not a number")
    for value, known in ((setting.precision, PRECISIONS), (setting.backend, tuple(BACKENDS))):
        if value not in known:
            raise Refused(f"{json.dumps(value)} is not one of {', '.join(known)}")


def divisions(batch):
    """(inter_threads, threads) that fit the cores; one sentence at a time has no use for the former."""
    most = cores()
    at_once = range(1, most + 1) if batch > 1 else (1,)
    return [(inter, threads) for inter in at_once for threads in range(1, most // inter + 1)]


# Tests


def make_up(directory, tied):
    """A small T5 whose scales, biases and heads (not d/h wide) could not be confused unnoticed."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(11)
    keys = {"vocab_size": 151, "d_model": 48, "d_kv": 12, "d_ff": 80, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 3}
    model = T5ForConditionalGeneration(T5Config(**keys, decoder_start_token_id=PAD, pad_token_id=PAD, eos_token_id=EOS))
    model.save_pretrained(directory)
    path = f"{directory}/model.safetensors"
    weights = load_file(path)
    for name, tensor in weights.items():
        if "layer_norm" in name or "relative_attention_bias" in name:
            tensor += torch.randn_like(tensor) * 0.5
        if name == "decoder.final_layer_norm.weight":
            tensor[::2] *= -2  # lest a tied table repeat the last token for ever
    if not tied:
        weights["lm_head.weight"] = torch.randn(151, 48) * 0.3
    weights["shared.weight" if tied else "lm_head.weight"][EOS] *= 12 if tied else 2.5  # lest nothing end
    save_file(weights, path, metadata={"format": "pt"})
    with open(f"{directory}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    with open(f"{directory}/config.json", "w", encoding="utf-8") as file:
        json.dump(config | {"tie_word_embeddings": tied}, file)


def draw_sources():
    """Ragged, one longer than the largest relative distance."""
    import torch

    lengths = [5, 1, 150, 3, 9, 30, 31, 12, 2, 17, 64, 7]
    return [torch.randint(3, 151, (length,)).tolist() + [EOS] for length in lengths]


def expect(model, sources, search):
    """What transformers' generate makes of the sources."""
    import torch

    longest = max(map(len, sources))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in sources])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in sources])
    penalty = {"length_penalty": search.length_penalty, "early_stopping": True} if search.beam > 1 else {}
    with torch.no_grad():
        found = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=False,
            use_cache=False,  # theirs has as many layers as the encoder
            renormalize_logits=True,  # as CTranslate2 does where EOS is forbidden
            min_new_tokens=search.min_length,
            max_new_tokens=search.max_length,
            num_beams=search.beam,
            **penalty,
        )
    return [cut(row[1:], search) for row in found.tolist()]


def cut(row, search):
    """A row up to its EOS: the rest is padding."""
    return row[: row.index(EOS) + 1] if EOS in row else row[: search.max_length]


def self_test():
    import transformers

    transformers.utils.logging.disable_progress_bar()
    agrees = True
    for tied in (True, False):
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as scratch:
            make_up(directory, tied)
            with contextlib.closing(Peer(directory, scratch)) as peer:
                agrees &= compare(peer, "tied" if tied else "untied")
                agrees &= refuses(peer)
    sys.exit(0 if agrees else 1)


def compare(peer, name):
    """Searches with transformers' and CTranslate2's: equal in float32, mostly equal in int8."""
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    model = transformers.T5ForConditionalGeneration.from_pretrained(peer.directory, dtype=torch.float32).eval()
    torch.manual_seed(12)
    sources = draw_sources()
    lengths = {"free": (1, 40), "fixed": (30, 30), "at least": (8, 40)}
    searches = [(1, 1.0), (5, 0.0), (5, 0.6), (5, 1.0)]
    agrees, ended = True, 0
    for (beam, penalty), (kind, (least, most)) in itertools.product(searches, lengths.items()):
        search = Search(beam=beam, length_penalty=penalty, min_length=least, max_length=most)
        expected = expect(model, sources, search)
        report = {"model": name, "beam": beam, "length_penalty": penalty, "length": kind}
        report |= {"sentences": len(sources), "ended": sum(row[-1] == EOS for row in expected)}
        for backend, batch in itertools.product(TRIED_BACKENDS, (1, 4)):
            task = dataclasses.asdict(search) | {"sources": sources, "batch": batch, "backend": backend, "threads": 1}
            found = {precision: peer.translate(task | {"precision": precision})["outputs"] for precision in PRECISIONS}
            equal = sum(map(list.__eq__, found["float32"], expected))
            report[f"{backend}, batch {batch}"] = {"float32 equal": equal, "int8 tokens equal": overlap(found["int8"], expected)}
            agrees &= equal == len(sources)
            ended += sum(row[-1] == EOS for row in found["float32"])
            agrees &= kind != "fixed" or all(len(row) == most and EOS not in row for rows in found.values() for row in rows)
        say(report)
    agrees &= ended > 0
    trial = peer.best_threads({"sources": sources[:3], "max_length": 5, "rounds": 1})
    return agrees and trial["threads"] in range(1, cores() + 1)


def overlap(rows, others):
    """The share of positions with the same token."""
    pairs = [pair for row, other in zip(rows, others) for pair in itertools.zip_longest(row, other)]
    return round(sum(a == b for a, b in pairs) / len(pairs), 3)


def refuses(peer):
    """Commands that must be refused, not answered and not fatal."""
    cases = {
        "no object": 7,
        "unknown command": {"sing": True},
        "no sources": {"translate": {}},
        "an empty source": {"translate": {"sources": [[3, EOS], []]}},
        "EOS alone": {"translate": {"sources": [[3, EOS], [EOS]]}},
        "an id too large": {"translate": {"sources": [[10_000, EOS]]}},
        "an id that is no number": {"translate": {"sources": [["3", EOS]]}},
        "an unknown key": {"translate": {"sources": [[3, EOS]], "beams": 5}},
        "an unknown precision": {"translate": {"sources": [[3, EOS]], "precision": "int3"}},
        "no beam": {"translate": {"sources": [[3, EOS]], "beam": 0}},
        "no task": {"best_threads": 7},
        "no rounds": {"best_threads": {"sources": [[3, EOS]], "rounds": 0}},
        "lengths crossed": {"translate": {"sources": [[3, EOS]], "min_length": 9, "max_length": 3}},
    }
    return all_refused(peer.answer, cases)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", help="a causal checkpoint")
    parser.add_argument("--self-test", action="store_true", help="compare with transformers on made-up models")
    parser.add_argument("--convert", help=argparse.SUPPRESS)
    parser.add_argument("--precision", help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.directory and not options.self_test:
        parser.error("DIR is missing")
    return options


def main():
    options = arguments()
    if options.self_test:
        self_test()
    elif options.convert:
        convert(options.directory, options.convert, options.precision)
    elif options.work:
        work(options.directory, Setting(**json.loads(options.work)))
    else:
        with tempfile.TemporaryDirectory(prefix="padir-ctranslate2-") as scratch, contextlib.closing(Peer(options.directory, scratch)) as peer:
            serve(peer.answer)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
