"""The peer of `padir bench decode`: one pass of a parallel decoder, logits included, in ONNX Runtime on a CPU.

Requirements: Python 3.11+ and

    pip install onnxruntime==1.31.1 onnx==1.23.2 onnxscript==0.7.2 torch==2.15.0 safetensors==0.8.0 numpy==2.4.6
    python bench/onnx_step.py DIR           # answers commands on stdin, see below
    python bench/onnx_step.py --self-test   # every variant against eager PyTorch, on made-up models

DIR is a parallel checkpoint of padir: config.json and model.safetensors. The graph, exported by torch.onnx:

    in    token ids [1, n], and what the decoder knows of the source (see "form")
    out   the most probable token of each position [1, n] and its log-probability [1, n]

Commands are JSON, one a line; each is answered by one line on stdout, remarks go to stderr:

    {"describe": true}       versions, the choices and what trials measured so far
    {"run": {...}}           {"seconds": [of each run...], "argmax": [n ids], "log_probs": [n], "variant", ...}
    {"best_threads": {...}}  the same keys: {"threads", "table"}
    {"quit": true}           ends, as does the end of input

What is run, and how; only "tokens" must be given:

    tokens         n ids, none of them padding
    memory         the states of the encoder: a .npy of [m, d] or [1, m, d], or a seed (default 7) for normal ones
    source_length  m, if memory is a seed (default n)
    form           "cached" (default): keys and values of the cross-attentions are inputs, made before the clock
                   starts; "memory": the graph makes them from the encoder's states
    precision      "float32" (default) or "int8"
    threads        of ONNX Runtime (default: all cores)
    repeats, warm_up   runs with and without the clock (default 20 and 3)
    variant        choices to fix, such as "attention=fused,top=topk" (default: what a trial finds fastest)

What ONNX Runtime can be given is given to it. n and m are fixed; whatever depends on n alone is a constant: the
relative bias, and the attention weights of positional attention, whose queries and keys are then not computed.
The scale of the logits is folded into the last norm. Weights lie as the products want them and are prepacked;
all graph optimisations are on, denormals are flushed, inputs and outputs are bound beforehand. An answer is
held back until its threads have ceased to spin, lest they take a core from whoever is measured next. The rest
is tried on the first run of each form, precision and number of threads, which takes some ten exports and so
minutes, one choice after the other; the fastest is kept:

    attention    products and softmax, or the fused MultiHeadAttention of com.microsoft
    projections  Q, K, V as one product or three
    norm         composed, which ONNX Runtime fuses; or SkipSimplifiedLayerNormalization, residual sum included
    top          TopK, or ArgMax and ReduceMax
    normaliser   of log-probabilities: Softmax, LogSoftmax, or Exp and ReduceSum
    quantizer    int8 only. s8, u8: quantize_dynamic with weights of that type, per channel, activations u8 per
                 tensor. s8 has weights of 7 bits where the processor lacks VNNI, as products saturate there.
                 blocks: MatMulNBits with 8 bits, a scale for each 32 or 128 weights, activations int8
"""

import argparse
import collections
import contextlib
import dataclasses
import itertools
import json
import logging
import os
import platform
import shutil
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from peer import Refused, all_refused, cores, number, peak_rss, say, serve
from pytorch_train import PAD, Config, Network, joined, relative_buckets
from pytorch_train import Variant as Eager
from safetensors.torch import load_file

FORMS = ("cached", "memory")
PRECISIONS = ("float32", "int8")
CHOICES = {
    "attention": ("matmul", "fused"),
    "projections": ("joined", "separate"),
    "norm": ("composed", "skip"),
    "top": ("topk", "argmax"),
    "normaliser": ("softmax", "logsoftmax", "exp"),
    "quantizer": ("s8", "u8", "blocks32", "blocks128"),
}
OPSET = 20
KEPT_SESSIONS, KEPT_EXPORTS = 4, 2
REST = 0.05  # seconds


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to write the same pass."""

    attention: str = "matmul"
    projections: str = "joined"
    norm: str = "composed"
    top: str = "topk"
    normaliser: str = "softmax"
    quantizer: str = "none"

    def __str__(self):
        return ",".join(f"{field}={value}" for field, value in dataclasses.asdict(self).items())


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a graph is fixed to: its inputs, positions of the target and of the source."""

    form: str
    positions: int
    source: int


@dataclasses.dataclass(frozen=True)
class Task:
    """A command that was understood."""

    tokens: tuple
    memory: np.ndarray = dataclasses.field(hash=False, compare=False)
    shape: Shape
    precision: str
    threads: int
    repeats: int
    warm_up: int
    fixed: tuple

    @property
    def kind(self):
        """What a trial holds for."""
        return self.shape.form, self.precision, self.threads, self.fixed


# The graph


def cross_stem(layer):
    return f"decoder.block.{layer}.layer.1.EncDecAttention"


def heads_first(x, heads):
    """[1, length, h k] as [1, h, length, k]."""
    return x.view(1, x.shape[1], heads, -1).transpose(1, 2)


def cached_inputs(config, weights, memory):
    """Keys [1, h, k, m] and values [1, h, m, k] of all cross-attentions, as `Step` wants them."""
    result = []
    for layer in range(config.num_decoder_layers):
        k, v = (heads_first(F.linear(memory, weights[f"{cross_stem(layer)}.{part}.weight"]), config.num_heads) for part in "kv")
        result += [k.transpose(2, 3).contiguous(), v.contiguous()]
    return result


class Step(torch.nn.Module):
    """A pass of the decoder over n positions, everything that depends on n alone being a constant."""

    def __init__(self, config, weights, shape, variant):
        super().__init__()
        self.config, self.shape, self.variant = config, shape, variant
        self.names = {}
        heads, positions = config.num_heads, shape.positions
        buckets = relative_buckets(
            positions, config.relative_attention_num_buckets, config.relative_attention_max_distance, bidirectional=True
        )
        bias = weights["decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"][buckets].permute(2, 0, 1)[None]
        self.constant("bias", bias)  # [1, h, n, n]
        self.constant("table", weights["shared.weight"])
        if config.padir.get("learned_positions", False):
            self.constant("places", weights["decoder.position_embedding.weight"][None, :positions])
        for layer in range(config.num_decoder_layers):
            self.take_layer(f"decoder.block.{layer}", weights, heads, bias)
        scale = config.d_model**-0.5 if config.tie_word_embeddings else 1.0
        self.constant("final", weights["decoder.final_layer_norm.weight"] * scale)
        head = weights["shared.weight" if config.tie_word_embeddings else "lm_head.weight"]
        self.constant("head", head.T)

    def take_layer(self, stem, weights, heads, bias):
        parts = ["layer.0.SelfAttention.o", "layer.1.EncDecAttention.q", "layer.1.EncDecAttention.o"]
        parts += ["layer.2.DenseReluDense.wi", "layer.2.DenseReluDense.wo"]
        both = [("layer.0.SelfAttention", "qkv")]
        if self.shape.form == "memory":
            both.append(("layer.1.EncDecAttention", "kv"))
        for attention, letters in both:
            if self.variant.projections == "joined":
                stack = torch.cat([weights[f"{stem}.{attention}.{letter}.weight"] for letter in letters])
                self.constant(f"{stem}.{attention}.{letters}", stack.T)
            else:
                parts += [f"{attention}.{letter}" for letter in letters]
        if self.positional:
            parts += ["positional.PositionalAttention.v", "positional.PositionalAttention.o"]
            self.constant(f"{stem}.positional", positional_weights(self.config, weights, stem, bias))
        for part in parts:
            self.constant(f"{stem}.{part}", weights[f"{stem}.{part}.weight"].T)
        for layer in range(3):
            self.constant(f"{stem}.layer.{layer}.layer_norm", weights[f"{stem}.layer.{layer}.layer_norm.weight"])

    @property
    def positional(self):
        return self.config.padir.get("positional_attention", True)

    def constant(self, name, tensor):
        self.names[name] = f"constant_{len(self.names)}"
        self.register_buffer(self.names[name], tensor.detach().clone(memory_format=torch.contiguous_format))

    def __getitem__(self, name):
        return getattr(self, self.names[name])

    def forward(self, tokens, *inputs):
        """inputs are K and V of each layer, or the states of the encoder."""
        x = F.embedding(tokens, self["table"])  # [1, n, d]
        if "places" in self.names:
            x = x + self["places"]
        residual = None  # not yet added to x: the next norm may do both at once
        for layer in range(self.config.num_decoder_layers):
            stem = f"decoder.block.{layer}"
            x, y = self.norm(x, residual, f"{stem}.layer.0.layer_norm")
            q, k, v = self.project(y, f"{stem}.layer.0.SelfAttention", "qkv")
            residual = self.attend(q, k, v, self["bias"]) @ self[f"{stem}.layer.0.SelfAttention.o"]
            if self.positional:
                x, residual = x + residual, None
                residual = self.attend_by_position(x, f"{stem}.positional")
            x, y = self.norm(x, residual, f"{stem}.layer.1.layer_norm")
            residual = self.attend_to_source(y, layer, inputs) @ self[f"{cross_stem(layer)}.o"]
            x, y = self.norm(x, residual, f"{stem}.layer.2.layer_norm")
            residual = F.relu(y @ self[f"{stem}.layer.2.DenseReluDense.wi"]) @ self[f"{stem}.layer.2.DenseReluDense.wo"]
        _, y = self.norm(x, residual, "final")
        return self.best(y @ self["head"])  # [1, n, V]

    def norm(self, x, residual, name):
        """x + residual, and that normalised."""
        scale, epsilon = self[name], self.config.layer_norm_epsilon
        if self.variant.norm == "skip" and residual is not None:
            # Of its four outputs the second and third serve training only.
            y, _, _, x = torch.onnx.ops.symbolic_multi_out(
                "com.microsoft::SkipSimplifiedLayerNormalization", (x, residual, scale), {"epsilon": epsilon},
                dtypes=[x.dtype] * 4, shapes=[x.shape, x.shape[:2] + (1,), x.shape[:2] + (1,), x.shape], version=1,
            )  # fmt: skip
            return x, y
        x = x if residual is None else x + residual
        # As ONNX Runtime knows it: Pow, ReduceMean, Add, Sqrt, Div, Mul.
        return x, x / torch.sqrt(x.pow(2.0).mean(-1, keepdim=True) + epsilon) * scale

    def project(self, x, stem, letters):
        """Products of x, each [1, length, h k]."""
        if self.variant.projections == "joined":
            return (x @ self[f"{stem}.{letters}"]).chunk(len(letters), -1)
        return [x @ self[f"{stem}.{letter}"] for letter in letters]

    def attend(self, q, k, v, bias):
        if self.variant.attention == "fused":
            return self.fused(q, k, v, bias)
        heads = self.config.num_heads
        return self.mix(heads_first(q, heads), heads_first(k, heads).transpose(2, 3), heads_first(v, heads), bias)

    def fused(self, q, k, v, bias):
        """k and v are [1, length, h k] or [1, h, length, k]."""
        attributes = {"num_heads": self.config.num_heads, "scale": 1.0}
        inputs = (q, k, v) if bias is None else (q, k, v, None, None, bias)
        return torch.onnx.ops.symbolic(
            "com.microsoft::MultiHeadAttention", inputs, attributes, dtype=q.dtype, shape=q.shape, version=1
        )

    def mix(self, q, k, v, bias):
        """q is [1, h, n, k], k transposed already."""
        scores = q @ k if bias is None else q @ k + bias
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(1, q.shape[2], -1)

    def attend_by_position(self, x, stem):
        """The weights of attention are constant."""
        v = heads_first(x @ self[f"{stem}.PositionalAttention.v"], self.config.num_heads)
        mixed = (self[stem] @ v).transpose(1, 2).reshape(1, x.shape[1], -1)
        return mixed @ self[f"{stem}.PositionalAttention.o"]

    def attend_to_source(self, y, layer, inputs):
        q = y @ self[f"{cross_stem(layer)}.q"]
        if self.shape.form == "memory":
            k, v = self.project(inputs[0], cross_stem(layer), "kv")
            return self.attend(q, k, v, None)
        k, v = inputs[2 * layer : 2 * layer + 2]
        if self.variant.attention == "fused":
            return self.fused(q, k, v, None)
        return self.mix(heads_first(q, self.config.num_heads), k, v, None)

    def best(self, logits):
        """The most probable tokens and their log-probabilities."""
        if self.variant.normaliser == "exp":
            value, token = self.top(logits)
            return token, -(logits - value[..., None]).exp().sum(-1).log()
        if self.variant.normaliser == "logsoftmax":
            value, token = self.top(logits.log_softmax(-1))
            return token, value
        value, token = self.top(logits.softmax(-1))
        return token, value.log()

    def top(self, x):
        if self.variant.top == "topk":
            value, token = x.topk(1, -1)
            return value.squeeze(-1), token.squeeze(-1)
        return x.amax(-1), x.argmax(-1)


def positional_weights(config, weights, stem, bias):
    """softmax(q k' + bias) over positions, [1, h, n, n]."""
    positions = bias.shape[-1]
    places = weights["decoder.position_embedding.weight"][None, :positions]
    scale = weights[f"{stem}.positional.layer_norm.weight"]
    places = F.rms_norm(places, scale.shape, scale, config.layer_norm_epsilon)
    attention = f"{stem}.positional.PositionalAttention"
    q, k = (heads_first(F.linear(places, weights[f"{attention}.{part}.weight"]), config.num_heads) for part in "qk")
    return (q @ k.transpose(2, 3) + bias).softmax(-1)


# From PyTorch to ONNX Runtime


def example_inputs(config, weights, shape, variant, memory):
    """The inputs other than tokens, and their names. The fused attention wants keys as they come."""
    if shape.form == "memory":
        return [memory], ["memory"]
    inputs = cached_inputs(config, weights, memory)
    if variant.attention == "fused":
        inputs[::2] = [k.transpose(2, 3).contiguous() for k in inputs[::2]]
    return inputs, [f"{part}_{layer}" for layer in range(config.num_decoder_layers) for part in "kv"]


def export(config, weights, shape, variant, path):
    """Writes the graph in float32."""
    step = Step(config, weights, shape, variant).eval()
    inputs, names = example_inputs(config, weights, shape, variant, torch.zeros(1, shape.source, config.d_model))
    tokens = torch.ones(1, shape.positions, dtype=torch.long)
    with open(os.devnull, "w", encoding="utf-8") as silence, contextlib.redirect_stdout(silence):
        torch.onnx.export(
            step, (tokens, *inputs), path, input_names=["tokens", *names], output_names=["argmax", "log_probs"],
            opset_version=OPSET, dynamo=True, external_data=True, verbose=False,
        )  # fmt: skip


def quantize(source, path, quantizer):
    """Writes the int8 version of a graph."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    if quantizer.startswith("blocks"):
        level = 4  # activations in int8 blocks, too
        size = int(quantizer.removeprefix("blocks"))
        blocks = MatMulNBitsQuantizer(onnx.load(source), bits=8, block_size=size, is_symmetric=True, accuracy_level=level)
        blocks.process()
        blocks.model.save_model_to_file(path, use_external_data_format=True)
        return
    weight_type = QuantType.QInt8 if quantizer == "s8" else QuantType.QUInt8
    quantize_dynamic(
        source, path, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=weight_type,
        reduce_range=quantizer == "s8" and not has_vnni(), use_external_data_format=True,
    )  # fmt: skip


def has_vnni():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return False
    return "avx512_vnni" in flags or "avx_vnni" in flags


def open_session(path, threads, optimised=None):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    if optimised:
        options.optimized_model_filepath = optimised
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class Graph:
    """A graph in float32 on the disk, for one variant and all of its quantizers."""

    def __init__(self, config, weights, shape, variant, scratch):
        self.directory = tempfile.mkdtemp(dir=scratch)
        self.path = f"{self.directory}/float32.onnx"
        with torch.no_grad():
            export(config, weights, shape, variant, self.path)

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class Runner:
    """A graph, ready to run."""

    def __init__(self, peer, shape, variant, threads):
        self.config, self.weights, self.shape, self.variant = peer.config, peer.weights, shape, variant
        graph = peer.graph(shape, variant)
        with tempfile.TemporaryDirectory(dir=peer.scratch) as directory:
            path = graph.path
            if variant.quantizer != "none":
                path = f"{directory}/int8.onnx"
                quantize(graph.path, path, variant.quantizer)
            optimised = f"{directory}/optimised.onnx"
            self.session = open_session(path, threads)
            self.operators = count_operators(path, optimised)

    def bind(self, tokens, memory):
        """Inputs and outputs in place, so that a run copies nothing."""
        import onnxruntime

        with torch.no_grad():
            inputs, names = example_inputs(self.config, self.weights, self.shape, self.variant, torch.from_numpy(memory))
        arrays = {"tokens": np.array([tokens], dtype=np.int64)} | {name: x.numpy() for name, x in zip(names, inputs)}
        outputs = {"argmax": np.int64, "log_probs": np.float32}
        binding = self.session.io_binding()
        values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        results = {
            name: onnxruntime.OrtValue.ortvalue_from_shape_and_type([1, len(tokens)], kind) for name, kind in outputs.items()
        }
        for name, value in results.items():
            binding.bind_ortvalue_output(name, value)
        return binding, values, results

    def run(self, tokens, memory, repeats, warm_up):
        """Seconds of each run, tokens, log-probabilities."""
        binding, values, results = self.bind(tokens, memory)
        for _ in range(warm_up):
            self.session.run_with_iobinding(binding)
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            self.session.run_with_iobinding(binding)
            seconds.append(time.perf_counter() - start)
        time.sleep(REST)
        del values  # bound until here
        return seconds, results["argmax"].numpy()[0], results["log_probs"].numpy()[0]

    def close(self):
        self.session = None


def count_operators(path, optimised):
    """How often each operator stands in the optimised graph."""
    import onnx

    open_session(path, 1, optimised)
    graph = onnx.load(optimised, load_external_data=False).graph
    return dict(collections.Counter(node.op_type for node in graph.node).most_common())


# Commands


class Peer:
    """A checkpoint, its trials and the graphs that are loaded."""

    def __init__(self, directory, scratch):
        self.config = Config.read(directory)
        if not self.config.parallel:
            sys.exit(f"{directory} is not parallel: its decoder makes one token at a time")
        self.weights = {name: tensor.float() for name, tensor in load_file(f"{directory}/model.safetensors").items()}
        self.scratch = scratch
        self.graphs, self.runners = collections.OrderedDict(), collections.OrderedDict()
        self.variants, self.trials = {}, []

    def graph(self, shape, variant):
        key = shape, dataclasses.replace(variant, quantizer="none")
        return recall(self.graphs, KEPT_EXPORTS, key, lambda: Graph(self.config, self.weights, *key, self.scratch))

    def runner(self, shape, variant, threads):
        key = shape, variant, threads
        return recall(self.runners, KEPT_SESSIONS, key, lambda: Runner(self, *key))

    def variant(self, task):
        """The fastest, by a trial the first time that form, precision and threads are asked for."""
        if task.kind not in self.variants:
            self.variants[task.kind] = self.try_variants(task)
        return self.variants[task.kind]

    def try_variants(self, task, rounds=3):
        """Greedy: for each choice in turn, the candidates alternate on the same input; the least median wins."""
        choices = allowed(task)
        best = Variant(**{field: values[0] for field, values in choices.items()})
        table = []
        for field, values in choices.items():
            if len(values) == 1:
                continue
            candidates = [dataclasses.replace(best, **{field: value}) for value in values]
            medians = [[] for _ in candidates]
            for _, (index, candidate) in itertools.product(range(rounds), enumerate(candidates)):
                runner = self.runner(task.shape, candidate, task.threads)
                seconds, _, _ = runner.run(task.tokens, task.memory, task.repeats, task.warm_up)
                medians[index].append(float(np.median(seconds)))
            seconds = [min(one) for one in medians]
            best = candidates[seconds.index(min(seconds))]
            table.append({"choice": field, "seconds": dict(zip(values, seconds))})
        form, precision, threads, _ = task.kind
        trial = {"form": form, "precision": precision, "threads": threads, "variant": str(best), "table": table}
        self.trials.append(trial | {"operators": self.runner(task.shape, best, task.threads).operators})
        return best

    def run(self, task):
        variant = self.variant(task)
        runner = self.runner(task.shape, variant, task.threads)
        seconds, tokens, log_probs = runner.run(task.tokens, task.memory, task.repeats, task.warm_up)
        return {
            "seconds": seconds,
            "argmax": tokens.tolist(),
            "log_probs": log_probs.tolist(),
            "variant": str(variant),
            "threads": task.threads,
            "precision": task.precision,
            **dataclasses.asdict(task.shape),
            "peak_rss_bytes": peak_rss(),
        }

    def best_threads(self, command):
        table = []
        for threads in range(1, cores() + 1):
            answer = self.run(self.read(command | {"threads": threads}))
            table.append({"threads": threads, "seconds": float(np.median(answer["seconds"])), "variant": answer["variant"]})
        return {"threads": min(table, key=lambda row: row["seconds"])["threads"], "table": table}

    def read(self, command):
        """A task, or Refused."""
        known = {"tokens", "memory", "source_length", "form", "precision", "threads", "repeats", "warm_up", "variant"}
        if not isinstance(command, dict):
            raise Refused("what is to be run is a JSON object")
        if unknown := set(command) - known:
            raise Refused(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(known))}")
        tokens = command.get("tokens")
        most = self.config.padir.get("max_positions", 256)
        if not isinstance(tokens, list) or not 1 <= len(tokens) <= most:
            raise Refused(f"tokens are not a list of 1 to {most} ids")
        if not all(type(token) is int and PAD < token < self.config.vocab_size for token in tokens):
            raise Refused(f"tokens hold something other than ids from 1 to {self.config.vocab_size - 1}")
        memory = self.read_memory(command.get("memory", 7), number(command.get("source_length", len(tokens)), "source_length"))
        precision = one_of(command, "precision", PRECISIONS)
        return Task(
            tokens=tuple(tokens),
            memory=memory,
            shape=Shape(one_of(command, "form", FORMS), len(tokens), memory.shape[1]),
            precision=precision,
            threads=number(command.get("threads", cores()), "threads"),
            repeats=number(command.get("repeats", 20), "repeats"),
            warm_up=number(command.get("warm_up", 3), "warm_up", 0),
            fixed=read_choices(command.get("variant", ""), precision),
        )

    def read_memory(self, memory, length):
        """[1, m, d]"""
        width = self.config.d_model
        if type(memory) is int and memory >= 0:
            return np.random.default_rng(memory).standard_normal((1, length, width), dtype=np.float32)
        if not isinstance(memory, str):
            raise Refused("memory is neither the path of a .npy nor a seed")
        try:
            found = np.load(memory, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise Refused(f"{memory}: {error}") from error
        found = found[None] if found.ndim == 2 else found
        if found.ndim != 3 or found.shape[0] != 1 or found.shape[1] == 0 or found.shape[2] != width:
            raise Refused(f"{memory} has the shape {list(found.shape)}, not [m, {width}] or [1, m, {width}]")
        return np.ascontiguousarray(found, dtype=np.float32)

    def describe(self):
        import onnx
        import onnxruntime

        return {
            "name": "ONNX Runtime",
            "onnxruntime": onnxruntime.__version__,
            "onnx": onnx.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "cores": cores(),
            "opset": OPSET,
            "vnni": has_vnni(),
            "forms": FORMS,
            "precisions": PRECISIONS,
            "choices": CHOICES,
            "trials": self.trials,
        }

    def answer(self, command):
        if not isinstance(command, dict):
            raise Refused("a command is a JSON object")
        if "run" in command:
            return self.run(self.read(command["run"]))
        if "best_threads" in command:
            self.read(command["best_threads"])
            return self.best_threads(command["best_threads"])
        if "describe" in command:
            return self.describe()
        raise Refused(f"unknown command {', '.join(command)}")

    def close(self):
        for kept in (self.runners, self.graphs):
            while kept:
                kept.popitem()[1].close()


def recall(kept, most, key, make):
    """What was made for the key, made unless it is there; the least recently used ones go."""
    if key not in kept:
        kept[key] = make()
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)[1].close()
    return kept[key]


def one_of(command, name, known):
    value = command.get(name, known[0])
    if value not in known:
        raise Refused(f"{name} {json.dumps(value)} is not one of {', '.join(known)}")
    return value


def read_choices(text, precision):
    """Fixed choices as sorted pairs."""
    if not isinstance(text, str):
        raise Refused("variant is not a text such as attention=fused,top=topk")
    fixed = {}
    for setting in filter(None, text.split(",")):
        field, _, value = setting.partition("=")
        if field == "quantizer" and value == "none" and precision == "float32":
            continue
        if value not in CHOICES.get(field, ()) or (field == "quantizer" and precision == "float32"):
            known = "; ".join(f"{name}={'|'.join(values)}" for name, values in CHOICES.items())
            raise Refused(f"variant {setting} is not among {known} (quantizer for int8 only)")
        fixed[field] = value
    return tuple(sorted(fixed.items()))


def allowed(task):
    """The choices that exist for a task, the fixed ones alone."""
    choices = CHOICES | ({"quantizer": ("none",)} if task.precision == "float32" else {})
    return choices | {field: (value,) for field, value in task.fixed}


# Tests


def eager(config, weights, tokens, memory):
    """Log-probabilities [n, V] by the network of pytorch_train.py, in double precision."""
    weights = {name: tensor.double() for name, tensor in weights.items()}
    network = Network(config, joined(weights), Eager(projections="joined"), 0.0)
    tokens, memory = torch.tensor([tokens]), torch.from_numpy(memory).double()
    x = F.embedding(tokens, weights["shared.weight"])
    if config.padir.get("learned_positions", False):
        x = x + weights["decoder.position_embedding.weight"][: tokens.shape[1]]
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        states = network.decode(tokens, x, memory, torch.ones(1, memory.shape[1], dtype=torch.long))
    finally:
        torch.set_default_dtype(before)
    if config.tie_word_embeddings:
        logits = F.linear(states * config.d_model**-0.5, weights["shared.weight"])
    else:
        logits = F.linear(states, weights["lm_head.weight"])
    return logits.log_softmax(-1)[0]


def make_up(directory, tied, **padir):
    """A small parallel model with random scales and with heads that are not d/h wide."""
    from safetensors.torch import save_file

    torch.manual_seed(5)
    d, k, f, h, v, layers = 64, 12, 96, 4, 301, 3
    settings = {"decoder": "parallel", "max_positions": 64, "positional_attention": True, "learned_positions": False} | padir
    shapes = {"shared": (v, d), "decoder.final_layer_norm": (d,), "decoder.position_embedding": (64, d)}
    shapes |= {"decoder.block.0.layer.0.SelfAttention.relative_attention_bias": (32, h)}
    if not tied:
        shapes["lm_head"] = (v, d)
    for layer in range(layers):
        stem = f"decoder.block.{layer}"
        attentions = {"layer.0": "SelfAttention", "layer.1": "EncDecAttention"}
        if settings["positional_attention"]:
            attentions["positional"] = "PositionalAttention"
        for place, attention in attentions.items():
            shapes |= {f"{stem}.{place}.{attention}.{part}": (h * k, d) for part in "qkv"}
            shapes |= {f"{stem}.{place}.{attention}.o": (d, h * k), f"{stem}.{place}.layer_norm": (d,)}
        shapes |= {f"{stem}.layer.2.DenseReluDense.wi": (f, d), f"{stem}.layer.2.DenseReluDense.wo": (d, f)}
        shapes[f"{stem}.layer.2.layer_norm"] = (d,)
    weights = {f"{name}.weight": torch.randn(shape) * scale_of(name, d, k) for name, shape in shapes.items()}
    for name, tensor in weights.items():
        if "layer_norm" in name:
            tensor.mul_(0.3).add_(1)
    save_file(weights, f"{directory}/model.safetensors")
    keys = {"vocab_size": v, "d_model": d, "d_kv": k, "d_ff": f, "num_layers": 1, "num_decoder_layers": layers, "num_heads": h}
    with open(f"{directory}/config.json", "w", encoding="utf-8") as file:
        json.dump({**keys, "tie_word_embeddings": tied, "padir": settings}, file)


def scale_of(name, d, k):
    if name in ("shared", "decoder.position_embedding") or "layer_norm" in name or "relative" in name:
        return 1.0
    return (d * k) ** -0.5 * 2 if name.endswith(".q") else d**-0.5


def covering(precision):
    """Every value of a choice, the others at their first, and the last values together. In int8 of the quantizer only."""
    choices = CHOICES | ({"quantizer": ("none",)} if precision == "float32" else {})
    base = Variant(**{field: values[0] for field, values in choices.items()})
    varied = choices if precision == "float32" else {"quantizer": choices["quantizer"]}
    found = [dataclasses.replace(base, **{field: value}) for field, values in varied.items() for value in values]
    return list(dict.fromkeys([*found, Variant(**{field: values[-1] for field, values in choices.items()})]))


def self_test():
    agrees = True
    for name, tied, settings in (
        ("tied", True, {}),
        ("untied, learned positions", False, {"learned_positions": True}),
        ("no positional attention", True, {"positional_attention": False}),
    ):
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as scratch:
            make_up(directory, tied, **settings)
            with contextlib.closing(Peer(directory, scratch)) as peer:
                every = name == "tied"
                for form, precision in itertools.product(FORMS, PRECISIONS):
                    variants = covering(precision)
                    for variant in variants if every else variants[-1:]:
                        agrees &= compare(peer, name, form, precision, variant)
                agrees &= refuses(peer)
                if every:
                    agrees &= tries(peer)
    sys.exit(0 if agrees else 1)


def compare(peer, name, form, precision, variant):
    """One variant against eager PyTorch: equal in float32, close in int8."""
    tokens = np.random.default_rng(3).integers(1, peer.config.vocab_size, 30).tolist()
    command = {"tokens": tokens, "memory": 9, "source_length": 23, "form": form, "precision": precision}
    task = peer.read(command | {"variant": str(variant), "repeats": 1, "warm_up": 0, "threads": 1})
    found = peer.run(task)
    with torch.no_grad():
        expected = eager(peer.config, peer.weights, tokens, task.memory)
    value, token = expected.max(-1)
    same = float((token == torch.tensor(found["argmax"])).double().mean())
    worst = float((value - torch.tensor(found["log_probs"])).abs().max())
    exact = precision == "float32"
    agrees = found["variant"] == str(variant) and (same == 1 and worst < 1e-4 if exact else same >= 0.8 and worst < 0.5)
    say({"model": name, "form": form, "precision": precision, "variant": str(variant), "same argmax": same,
         "worst log-probability": worst, "agrees": agrees, "operators": peer.trials[-1]["operators"]})  # fmt: skip
    return agrees


def tries(peer):
    """A trial comes to an end and its choice is used."""
    fixed = "attention=matmul,projections=joined,norm=composed"
    command = {"tokens": [5, 6, 7], "repeats": 2, "variant": fixed, "precision": "float32"}
    found = peer.answer({"best_threads": command})
    described = peer.answer({"describe": True})
    return found["threads"] in range(1, cores() + 1) and fixed in described["trials"][-1]["variant"]


def refuses(peer):
    """Commands that must be refused, not answered and not fatal."""
    cases = {
        "no object": 7,
        "unknown command": {"sing": True},
        "no tokens": {"run": {}},
        "padding": {"run": {"tokens": [5, PAD]}},
        "an id too large": {"run": {"tokens": [10_000]}},
        "too many positions": {"run": {"tokens": [5] * 65}},
        "an unknown key": {"run": {"tokens": [5], "steps": 4}},
        "an unknown form": {"run": {"tokens": [5], "form": "stored"}},
        "no such file": {"run": {"tokens": [5], "memory": "no such file.npy"}},
        "an unknown choice": {"run": {"tokens": [5], "variant": "attention=lost"}},
        "a quantizer without int8": {"run": {"tokens": [5], "variant": "quantizer=s8"}},
        "no threads": {"run": {"tokens": [5], "threads": 0}},
        "no task": {"best_threads": 7},
    }
    return all_refused(peer.answer, cases)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", help="a parallel checkpoint")
    parser.add_argument("--self-test", action="store_true", help="compare every variant with eager PyTorch on made-up models")
    options = parser.parse_args()
    if not options.directory and not options.self_test:
        parser.error("DIR is missing")
    return options


def main():
    options = arguments()
    torch.set_num_threads(1)  # export and reference; ONNX Runtime has threads of its own
    logging.disable(logging.WARNING)  # exporter and quantizers tell of every node
    if options.self_test:
        self_test()
    else:
        with tempfile.TemporaryDirectory(prefix="padir-onnx-") as scratch, contextlib.closing(Peer(options.directory, scratch)) as peer:
            serve(peer.answer)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
