"""The peer of `padir bench train`: the same network on the same batches in eager PyTorch on a CPU.

Requirements: Python 3.11+, torch 2.15.0, safetensors 0.8.0, numpy 2.4.6; transformers 5.22.2 only for
--transformers, --parity and --self-test:

    pip install torch==2.15.0 safetensors==0.8.0 numpy==2.4.6 transformers==5.22.2
    padir bench train --dump DIR ...
    python bench/pytorch_train.py DIR                # answers commands on stdin, see below
    python bench/pytorch_train.py DIR --steps 20     # one run, one line, no commands
    python bench/pytorch_train.py DIR --check        # losses of 3 steps without dropout, gradient norms
    python bench/pytorch_train.py DIR --parity       # against transformers' T5: loss and gradients
    python bench/pytorch_train.py --self-test        # every variant on made-up data

DIR holds batches.jsonl, one {"source": [[id...]...], "target": [[id...]...]} a line (rows end with EOS 1,
0 is padding; a parallel decoder's batch may carry its corrupted "input"; batches with the same "step" have
their gradients added up), config.json with T5's keys and "padir": {"decoder": "causal" or "parallel", ...},
and model.safetensors with T5's parameter names and, for a parallel decoder, padir's.

Commands are JSON, one a line; each is answered by one line on stdout, remarks go to stderr:

    {"describe": true}  versions, parameters, the chosen variant and what the trial measured
    {"run": 20}         makes the next 20 steps (cyclically); seconds, tokens, losses, peak memory
    {"quit": true}      ends, as does the end of input

Send {"describe": true} first: its answer says that trial and warm-up are over and both cores are free.

What eager PyTorch can be given is given to it: attention as products and softmax, with the bias added by
the product, or as scaled_dot_product_attention; Q, K, V as three products or one; RMSNorm composed or
fused; logits of padded or of real positions, or linear_cross_entropy in chunks; a fused or a foreach
AdamW; memory returned to the system or kept. A trial in a process of its own (so that its memory is not
counted) times the choices one after the other on the first batches and keeps the fastest of each;
--variant attention=sdpa,head=padded fixes some or all. Denormals are flushed. Batches are padded to
their longest row before the clock starts. Tokens are real ones, of sources and targets. Peak memory is
the high-water mark of this process (VmHWM); "import_rss_bytes" says how much of it was there before
the weights were read, which is more in CUDA builds of torch than in CPU builds. The first run allocates
the optimiser's moments: give it a few steps and do not count them.

Loss: cross-entropy, plus z_loss * log(Z)^2, summed over the target tokens and divided by their number. A
parallel decoder adds its stages up, and the length loss, as in PaDIR.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import functools
import itertools
import json
import math
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from peer import Refused, peak_rss, say
from peer import serve as answer_commands
from safetensors.torch import load_file, save_file

PAD, EOS = 0, 1
MASKED = -1e10
CHOICES = {
    "attention": ("matmul", "baddbmm", "sdpa"),
    "projections": ("separate", "joined"),
    "norm": ("composed", "fused"),
    "head": ("gathered", "padded", "chunked"),
    "update": ("fused", "foreach"),
    "allocator": ("system", "kept"),
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to write the same step."""

    attention: str = "matmul"
    projections: str = "separate"
    norm: str = "composed"
    head: str = "gathered"
    update: str = "fused"
    allocator: str = "system"

    def __str__(self):
        return ",".join(f"{field}={value}" for field, value in dataclasses.asdict(self).items())


@dataclasses.dataclass(frozen=True)
class Config:
    """The keys of config.json that shape the network."""

    vocab_size: int
    d_model: int
    d_kv: int
    d_ff: int
    num_layers: int
    num_decoder_layers: int
    num_heads: int
    relative_attention_num_buckets: int = 32
    relative_attention_max_distance: int = 128
    dropout_rate: float = 0.1
    layer_norm_epsilon: float = 1e-6
    tie_word_embeddings: bool = True
    padir: dict = dataclasses.field(default_factory=dict)

    @staticmethod
    def read(directory):
        with open(f"{directory}/config.json", encoding="utf-8") as file:
            found = json.load(file)
        if found.get("feed_forward_proj", "relu") != "relu":
            sys.exit(f"{directory}/config.json: feed_forward_proj is {found['feed_forward_proj']}, only relu is written here")
        names = {field.name for field in dataclasses.fields(Config)}
        found.setdefault("num_decoder_layers", found.get("num_layers"))
        return Config(**{key: value for key, value in found.items() if key in names})

    @property
    def parallel(self):
        return self.padir.get("decoder", "causal") == "parallel"


@dataclasses.dataclass
class Batch:
    """Padded ids [row, position] and the number of real tokens."""

    source: torch.Tensor
    target: torch.Tensor
    given: torch.Tensor | None
    tokens: int
    target_tokens: int
    step: int


def pad(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def read_batches(directory, vocab_size, limit=None):
    path = f"{directory}/batches.jsonl"
    batches = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(itertools.islice(file, limit), 1):
            found = json.loads(line)
            sources, targets, given = found["source"], found["target"], found.get("input")
            for row in itertools.chain(sources, targets, given or ()):
                if not row or min(row) <= PAD or max(row) >= vocab_size:
                    sys.exit(f"{path}, line {number}: a row is empty or holds an id outside 1..{vocab_size - 1}")
            target_tokens = sum(map(len, targets))
            tokens = sum(map(len, sources)) + target_tokens
            given = pad(given) if given else None
            batches.append(Batch(pad(sources), pad(targets), given, tokens, target_tokens, found.get("step", number)))
    if not batches:
        sys.exit(f"{path} holds no batch")
    return batches


def by_step(batches):
    """The batches of each step."""
    return [list(parts) for _, parts in itertools.groupby(batches, key=lambda batch: batch.step)]


def joined(weights):
    """Q, K and V of each self-attention, K and V of each cross-attention, as one matrix."""
    result = dict(weights)
    for name in weights:
        if name.endswith(".q.weight"):
            stem = name.removesuffix("q.weight")
            parts = "qkv" if "SelfAttention" in name else "kv" if "EncDecAttention" in name else "qk"
            result[f"{stem}{parts}.weight"] = torch.cat([result.pop(f"{stem}{part}.weight") for part in parts])
    return result


def read_weights(path, variant):
    weights = {name: tensor.to(torch.get_default_dtype(), copy=True) for name, tensor in load_file(path).items()}
    for tied in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
        weights.pop(tied, None)
    weights = joined(weights) if variant.projections == "joined" else weights
    return {name: tensor.requires_grad_() for name, tensor in weights.items()}


def relative_buckets(length, buckets, max_distance, bidirectional):
    """T5's buckets of key minus query position, [length, length]."""
    positions = torch.arange(length)
    distance = positions[None, :] - positions[:, None]
    offset = torch.zeros_like(distance)
    if bidirectional:
        buckets //= 2
        offset = (distance > 0).long() * buckets
        distance = distance.abs()
    else:
        distance = (-distance).clamp(min=0)
    exact = buckets // 2
    scaled = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact) * (buckets - exact)
    return offset + torch.where(distance < exact, distance, (exact + scaled.long()).clamp(max=buckets - 1))


class Network:
    """T5 1.0 with a causal decoder, or PaDIR's parallel one, over a dictionary of weights.

    Names of PaDIR's own weights: decoder.block.N.positional.PositionalAttention.{q,k,v,o}.weight,
    decoder.block.N.positional.layer_norm.weight, decoder.position_embedding.weight, length_predictor.weight.
    """

    def __init__(self, config, weights, variant, dropout, shared_masks=False, z_loss=0.0):
        self.config, self.weights, self.variant = config, weights, variant
        self.dropout, self.shared_masks, self.z_loss = dropout, shared_masks, z_loss
        self.bucket_tables = {}

    # Pieces

    def drop(self, x, shared=True):
        """x is [row, position, feature]; T5X draws one mask for all positions of a row."""
        if self.dropout == 0:
            return x
        if not (self.shared_masks and shared):
            return F.dropout(x, self.dropout)
        keep = 1 - self.dropout
        return x * x.new_empty(x.shape[0], 1, x.shape[2]).bernoulli_(keep).div_(keep)

    def norm(self, x, name):
        scale, epsilon = self.weights[name], self.config.layer_norm_epsilon
        if self.variant.norm == "fused":
            return F.rms_norm(x, scale.shape, scale, epsilon)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * scale

    def project(self, x, stem, parts):
        """The products of x with the matrices of parts, each [row, head, position, d_kv]."""
        if self.variant.projections == "joined" and len(parts) > 1:
            products = F.linear(x, self.weights[f"{stem}.{parts}.weight"]).chunk(len(parts), -1)
        else:
            products = [F.linear(x, self.weights[f"{stem}.{part}.weight"]) for part in parts]
        shape = (x.shape[0], x.shape[1], self.config.num_heads, self.config.d_kv)
        return [product.view(shape).transpose(1, 2) for product in products]

    def attend(self, q, k, v, bias):
        """softmax(q k' + bias) v, without a scale as in T5; bias as prepared by `spread`."""
        rows, heads, queries, width = q.shape
        keys = k.shape[2]
        dropout = self.dropout
        if self.shared_masks and dropout:  # one mask for all queries is a mask on the values
            v = v * v.new_empty(rows, heads, keys, 1).bernoulli_(1 - dropout).div_(1 - dropout)
            dropout = 0.0
        if self.variant.attention == "sdpa":
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=dropout, scale=1.0)
        elif self.variant.attention == "baddbmm":
            q, k, v = (x.reshape(rows * heads, -1, width) for x in (q, k, v))
            scores = torch.baddbmm(bias, q, k.transpose(1, 2))
            mixed = torch.bmm(F.dropout(scores.softmax(-1), dropout), v).view(rows, heads, queries, width)
        else:
            scores = q @ k.transpose(2, 3) + bias
            mixed = F.dropout(scores.softmax(-1), dropout) @ v
        return mixed.transpose(1, 2).reshape(rows, queries, heads * width)

    def spread(self, bias, rows, queries, keys):
        """Shapes a bias once per stack as the attention wants it."""
        if self.variant.attention == "matmul":
            return bias
        heads = self.config.num_heads
        bias = bias.expand(rows, heads, queries, keys)
        return bias.reshape(rows * heads, queries, keys) if self.variant.attention == "baddbmm" else bias

    def relative_bias(self, stack, length, bidirectional):
        sizes = self.config.relative_attention_num_buckets, self.config.relative_attention_max_distance
        if torch.compiler.is_compiling():  # a memory of lengths would mean one compilation for each
            buckets = relative_buckets(length, *sizes, bidirectional)
        else:
            key = (length, bidirectional)
            if key not in self.bucket_tables:
                self.bucket_tables[key] = relative_buckets(length, *sizes, bidirectional)
            buckets = self.bucket_tables[key]
        table = self.weights[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        return F.embedding(buckets, table).permute(2, 0, 1)[None]  # [1, head, query, key]

    def self_attention(self, x, stem, bias):
        q, k, v = self.project(self.norm(x, f"{stem}.layer_norm.weight"), f"{stem}.SelfAttention", "qkv")
        mixed = self.attend(q, k, v, bias)
        return x + self.drop(F.linear(mixed, self.weights[f"{stem}.SelfAttention.o.weight"]))

    def cross_attention(self, x, encoded, stem, bias):
        (q,) = self.project(self.norm(x, f"{stem}.layer_norm.weight"), f"{stem}.EncDecAttention", "q")
        k, v = self.project(encoded, f"{stem}.EncDecAttention", "kv")
        mixed = self.attend(q, k, v, bias)
        return x + self.drop(F.linear(mixed, self.weights[f"{stem}.EncDecAttention.o.weight"]))

    def positional_attention(self, x, stem, bias):
        """Queries and keys are positions, values the residual stream as it is; no output dropout."""
        rows, length, _ = x.shape
        places = self.norm(self.weights["decoder.position_embedding.weight"][None, :length], f"{stem}.layer_norm.weight")
        q, k = self.project(places, f"{stem}.PositionalAttention", "qk")
        (v,) = self.project(x, f"{stem}.PositionalAttention", "v")
        mixed = self.attend(q.expand(rows, -1, -1, -1), k.expand(rows, -1, -1, -1), v, bias)
        return x + F.linear(mixed, self.weights[f"{stem}.PositionalAttention.o.weight"])

    def feed_forward(self, x, stem):
        hidden = F.linear(self.norm(x, f"{stem}.layer_norm.weight"), self.weights[f"{stem}.DenseReluDense.wi.weight"])
        hidden = self.drop(F.relu(hidden))
        return x + self.drop(F.linear(hidden, self.weights[f"{stem}.DenseReluDense.wo.weight"]))

    # Stacks

    def encode(self, source, x):
        rows, length = source.shape
        blocked = (source == PAD)[:, None, None, :] * MASKED
        bias = self.spread(self.relative_bias("encoder", length, True) + blocked, rows, length, length)
        x = self.drop(x)
        for layer in range(self.config.num_layers):
            stem = f"encoder.block.{layer}.layer"
            x = self.self_attention(x, f"{stem}.0", bias)
            x = self.feed_forward(x, f"{stem}.1")
        return self.drop(self.norm(x, "encoder.final_layer_norm.weight"), shared=False)

    def decode(self, target, x, encoded, source):
        """Decoder states from embedded inputs x; target only says where padding is."""
        rows, length = target.shape
        parallel = self.config.parallel
        if parallel:
            blocked = (target == PAD)[:, None, None, :] * MASKED
        else:
            blocked = torch.full((length, length), MASKED).triu(1)
        own = self.spread(self.relative_bias("decoder", length, parallel) + blocked, rows, length, length)
        across = (source == PAD)[:, None, None, :] * MASKED
        across = self.spread(across, rows, length, source.shape[1])
        x = self.drop(x)
        for layer in range(self.config.num_decoder_layers):
            stem = f"decoder.block.{layer}"
            x = self.self_attention(x, f"{stem}.layer.0", own)
            if parallel and self.config.padir.get("positional_attention", True):
                x = self.positional_attention(x, f"{stem}.positional", own)
            x = self.cross_attention(x, encoded, f"{stem}.layer.1", across)
            x = self.feed_forward(x, f"{stem}.layer.2")
        return self.drop(self.norm(x, "decoder.final_layer_norm.weight"))

    # Losses

    def cross_entropy(self, states, weight, labels):
        """Sum over labels other than PAD, and the logits."""
        logits = F.linear(states, weight)
        if self.z_loss == 0:
            return F.cross_entropy(logits, labels, ignore_index=PAD, reduction="sum"), logits
        real = labels != PAD
        log_z = logits.logsumexp(-1)
        each = log_z - logits.gather(-1, labels[:, None])[:, 0] + self.z_loss * log_z.square()
        return (each * real).sum(), logits

    def token_loss(self, states, target, predictions=False):
        """Summed loss of decoder states [row, position, feature]; predictions [row, position] if wanted."""
        if self.config.tie_word_embeddings:
            weight, states = self.weights["shared.weight"], states * self.config.d_model**-0.5
        else:
            weight = self.weights["lm_head.weight"]
        states, labels = states.flatten(0, 1), target.flatten()
        if self.variant.head == "padded":
            loss, logits = self.cross_entropy(states, weight, labels)
            return loss, logits.detach().argmax(-1).view(target.shape) if predictions else None
        real = labels.nonzero()[:, 0]
        states, labels = states.index_select(0, real), labels.index_select(0, real)
        if self.variant.head == "chunked":
            options = torch.nn.LinearCrossEntropyOptions()
            return F.linear_cross_entropy(states, weight, labels, reduction="sum", options=options), None
        loss, logits = self.cross_entropy(states, weight, labels)
        if not predictions:
            return loss, None
        places = target.new_zeros(target.numel()).index_copy(0, real, logits.detach().argmax(-1))
        return loss, places.view(target.shape)

    def embed(self, *ids):
        """One look-up for all, so that one dense gradient is made and not several."""
        flat = torch.cat([part.flatten() for part in ids])
        found = F.embedding(flat, self.weights["shared.weight"])
        parts = found.split([part.numel() for part in ids])
        return [x.view(*part.shape, -1) for x, part in zip(parts, ids)]

    def loss(self, batch):
        """Loss per target token."""
        return self.summed_loss(batch.source, batch.target, batch.given) / batch.target_tokens

    def summed_loss(self, source, target, given):
        return self.parallel_loss(source, target, given) if self.config.parallel else self.causal_loss(source, target)

    def causal_loss(self, source, target):
        shifted = F.pad(target[:, :-1], (1, 0), value=PAD)  # T5 starts with the padding id
        from_source, from_target = self.embed(source, shifted)
        encoded = self.encode(source, from_source)
        return self.token_loss(self.decode(target, from_target, encoded, source), target)[0]

    def corrupt(self, target):
        """The paper's law: 85 % uniform tokens from 3 on, never at EOS."""
        noise = torch.rand(target.shape) >= self.config.padir.get("correct_prob", 0.15)
        noise &= (target != PAD) & (target != EOS)
        return torch.where(noise, torch.randint(3, self.config.vocab_size, target.shape), target)

    def parallel_loss(self, source, target, given):
        """Stages of X -> logits -> argmax -> X, the encoder once: its masks are the same in all stages."""
        settings = self.config.padir
        if settings.get("rejecter", False):
            raise SystemExit("a rejecter is not part of this peer: train without `model.rejecter`")
        given = self.corrupt(target) if given is None else given
        source = F.pad(source, (1, 0), value=settings.get("length_token_id", self.config.vocab_size - 3))
        from_source, from_given = self.embed(source, given)
        encoded = self.encode(source, from_source)
        lengths = (target != PAD).sum(1)
        classes = self.weights["length_predictor.weight"]
        length_loss = self.length_loss(encoded[:, 0], classes, lengths.clamp(max=len(classes)) - 1)
        total = settings.get("length_weight", 1.0) * length_loss
        encoded, source = encoded[:, 1:], source[:, 1:]
        stages = settings.get("stages", 2)
        scale = 1 / stages if settings.get("stage_reduction", "sum") == "mean" else 1.0
        for stage in range(stages):
            more = stage + 1 < stages
            loss, given = self.token_loss(self.decode(target, from_given, encoded, source), target, predictions=more)
            total = total + scale * loss
            if more:
                (from_given,) = self.embed(given * (target != PAD))
        return total

    def length_loss(self, states, classes, labels):
        """Apart from `cross_entropy`, because class 0 is a length (one token) and not padding."""
        logits = F.linear(states, classes)
        log_z = logits.logsumexp(-1)
        each = log_z - logits.gather(-1, labels[:, None])[:, 0] + self.z_loss * log_z.square()
        return each.sum()


class Adafactor(torch.optim.Optimizer):
    """T5X's: factored second moments (both of two dimensions >= 128), update clipped to RMS 1, the step
    relative to the parameter's RMS, decay 1 - t^-0.8, no momentum."""

    def __init__(self, parameters, lr, decay=0.8, clip=1.0, epsilon=1e-30, floor=1e-3, factor_from=128):
        super().__init__(parameters, {"lr": lr})
        self.decay, self.clip, self.epsilon, self.floor, self.factor_from = decay, clip, epsilon, floor, factor_from

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.update(parameter, parameter.grad, self.state[parameter], group["lr"])

    def update(self, parameter, gradient, state, lr):
        state["step"] = step = state.get("step", 0) + 1
        fresh = step**-self.decay
        square = gradient.square().add_(self.epsilon)
        if gradient.dim() == 2 and min(gradient.shape) >= self.factor_from:
            if step == 1:
                state["rows"], state["columns"] = torch.zeros(gradient.shape[0]), torch.zeros(gradient.shape[1])
            rows = state["rows"].lerp_(square.mean(1), fresh)
            columns = state["columns"].lerp_(square.mean(0), fresh)
            change = torch.mul(gradient, (rows / rows.mean()).rsqrt()[:, None], out=square).mul_(columns.rsqrt())
        else:
            if step == 1:
                state["square"] = torch.zeros_like(square)
            change = gradient * state["square"].lerp_(square, fresh).rsqrt()
        size = root_mean_square(change)
        scale = max(root_mean_square(parameter), self.floor)
        parameter.add_(change, alpha=-lr * scale / max(1.0, size / self.clip))


def root_mean_square(x):
    return float(torch.linalg.vector_norm(x)) / math.sqrt(x.numel())


def make_optimizer(options, weights, variant):
    parameters = list(weights.values())
    if options.optimizer == "adafactor":
        return Adafactor(parameters, options.lr)
    how = {"fused": True} if variant.update == "fused" else {"foreach": True}
    return torch.optim.AdamW(
        parameters, lr=options.lr, betas=tuple(options.betas), eps=options.epsilon, weight_decay=options.weight_decay, **how
    )


def make_transformers(config, path, dropout):
    """Hugging Face's T5 with the same weights: (parameters by name, loss function)."""
    from transformers import T5Config, T5ForConditionalGeneration

    if config.parallel:
        sys.exit("transformers has no parallel decoder; --transformers and --parity need a causal one")
    keys = {field.name: getattr(config, field.name) for field in dataclasses.fields(config) if field.name != "padir"}
    model = T5ForConditionalGeneration(T5Config(**{**keys, "dropout_rate": dropout, "decoder_start_token_id": PAD}))
    if torch.get_default_dtype() == torch.float64:
        model.double()
        for norm in (module for module in model.modules() if type(module).__name__ == "T5LayerNorm"):
            norm.forward = functools.partial(double_norm, norm.weight, norm.variance_epsilon)
    tied = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}
    if not config.tie_word_embeddings:  # a fresh T5 of transformers 5 is tied whatever its config says
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
        tied.remove("lm_head.weight")
    found = model.load_state_dict(load_file(path), strict=False)
    if found.unexpected_keys or set(found.missing_keys) - tied:
        sys.exit(f"transformers misses {found.missing_keys} and does not know {found.unexpected_keys}")
    model.train()

    def loss(batch):
        labels = batch.target.masked_fill(batch.target == PAD, -100)
        mask = (batch.source != PAD).long()
        return model(input_ids=batch.source, attention_mask=mask, labels=labels, use_cache=False).loss

    return dict(model.named_parameters()), loss


def double_norm(scale, epsilon, x):
    """In place of transformers', which takes the mean square in single precision whatever it is given."""
    return scale * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon))


class Trainer:
    """A network, its optimiser and its place in the batches."""

    def __init__(self, options, config, batches, variant, dropout):
        path = f"{options.directory}/model.safetensors"
        self.steps, self.next = by_step(batches), 0
        if options.transformers:
            self.weights, self.loss = make_transformers(config, path, dropout)
        else:
            self.weights = read_weights(path, variant)
            network = Network(config, self.weights, variant, dropout, options.dropout_masks == "shared", options.z_loss)
            if options.compile:
                network.summed_loss = torch.compile(network.summed_loss, dynamic=True)
            self.loss = network.loss
        self.optimizer = make_optimizer(options, self.weights, variant)
        self.warm_up()

    def warm_up(self):
        """A forward and backward pass that leaves weights and random numbers as they were."""
        state = torch.get_rng_state()
        for parts in self.steps[:2]:
            self.loss(parts[0]).backward()
        if unused := [name for name, weight in self.weights.items() if weight.grad is None]:
            sys.exit(f"model.safetensors holds weights that this network does not use: {', '.join(unused)}")
        self.optimizer.zero_grad(set_to_none=True)
        torch.set_rng_state(state)

    def step(self):
        parts = self.steps[self.next % len(self.steps)]
        self.next += 1
        self.optimizer.zero_grad(set_to_none=True)
        tokens = sum(batch.target_tokens for batch in parts)
        total = 0.0
        for batch in parts:
            loss = self.loss(batch)
            if len(parts) > 1:  # the loss is per token of its batch
                loss = loss * (batch.target_tokens / tokens)
            loss.backward()
            total += loss.item()
        self.optimizer.step()
        return total

    def run(self, steps):
        coming = [batch for step in range(steps) for batch in self.steps[(self.next + step) % len(self.steps)]]
        start = time.perf_counter()
        losses = [self.step() for _ in range(steps)]
        seconds = time.perf_counter() - start
        return {
            "seconds": seconds,
            "steps": steps,
            "tokens": sum(batch.tokens for batch in coming),
            "target_tokens": sum(batch.target_tokens for batch in coming),
            "padded_tokens": sum(batch.source.numel() + batch.target.numel() for batch in coming),
            "losses": losses,
        }


def keep_memory():
    """Asks glibc not to return freed blocks: a large tensor is then not faulted in anew every step."""
    trim_threshold, mmap_max, arena_max = -1, -4, -8
    mallopt = ctypes.CDLL(None).mallopt
    return all(mallopt(name, value) for name, value in ((mmap_max, 0), (trim_threshold, -1), (arena_max, 1)))


def allowed(options, config):
    """The choices that exist for these options, the fixed ones alone."""
    choices = {field: list(values) for field, values in CHOICES.items()}
    if options.z_loss or config.parallel or not hasattr(F, "linear_cross_entropy"):
        choices["head"].remove("chunked")
    if options.compile:  # the number of real positions is data, which would break the graph
        choices["head"] = ["padded"]
    if options.optimizer == "adafactor":  # its moments would be factored over the joined matrix
        choices["projections"].remove("joined")
        choices["update"] = ["foreach"]
    if sys.platform != "linux":
        choices["allocator"] = ["system"]
    for setting in filter(None, options.variant.split(",")):
        field, _, value = setting.partition("=")
        if field == "auto":
            continue
        if value not in choices.get(field, ()):
            known = "; ".join(f"{name}={'|'.join(values)}" for name, values in choices.items())
            sys.exit(f"--variant {setting} is not among {known}")
        choices[field] = [value]
    return choices


def try_variants(options, config, batches, choices):
    """Greedy: for each choice in turn, the candidates alternate on the same batches; the least time wins."""
    best = Variant(**{field: values[0] for field, values in choices.items()})
    table = []
    for field, values in choices.items():
        if len(values) == 1 and (table or field != "allocator"):
            continue
        candidates = [dataclasses.replace(best, **{field: value}) for value in values]
        trainers = [Trainer(options, config, batches, variant, options.dropout) for variant in candidates]
        rounds = [[trainer.run(len(trainer.steps))["seconds"] for trainer in trainers] for _ in range(options.trial_rounds)]
        seconds = [min(times) / len(trainers[0].steps) for times in zip(*rounds)]
        best = candidates[min(range(len(values)), key=seconds.__getitem__)]
        table.append({"choice": field, "seconds_per_step": dict(zip(values, seconds))})
    return {"variant": dataclasses.asdict(best), "seconds": min(table[-1]["seconds_per_step"].values()), "table": table}


def choose_variant(options, config):
    """Trials in processes of their own, one per allocator."""
    choices = allowed(options, config)
    untried = options.transformers or options.compile  # compiling every candidate would take an hour
    if untried or all(len(values) == 1 for values in choices.values()):
        return Variant(**{field: values[0] for field, values in choices.items()}), []
    trials = []
    for allocator in choices["allocator"]:
        fixed = {**{field: values[0] for field, values in choices.items() if len(values) == 1}, "allocator": allocator}
        settings = ",".join(f"{field}={value}" for field, value in fixed.items())
        command = [sys.executable, *sys.orig_argv[1:], "--trial", "--variant", settings]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
        trials.append({"allocator": allocator, **json.loads(done.stdout)})
    best = min(trials, key=lambda trial: trial["seconds"])
    return Variant(**best["variant"]), trials


def describe(options, trainer, variant, trials, import_rss):
    return {
        "torch": torch.__version__,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "parameters": sum(weight.numel() for weight in trainer.weights.values()),
        "steps": len(trainer.steps),
        "variant": name_of(options, variant),
        "trials": trials,
        "import_rss_bytes": import_rss,
    }


def name_of(options, variant):
    name = "transformers" if options.transformers else str(variant)
    return f"{name},optimizer={options.optimizer},masks={options.dropout_masks},compile={'on' if options.compile else 'off'}"


def serve(options, trainer, variant, trials, import_rss):
    """Answers commands until told to quit."""

    def answer(command):
        if not isinstance(command, dict):
            raise Refused("a command is a JSON object")
        if isinstance(command.get("run"), int) and command["run"] > 0:
            report = trainer.run(command["run"])
            report |= {"peak_rss_bytes": peak_rss(), "import_rss_bytes": import_rss}
            return report | {"variant": name_of(options, variant), "threads": torch.get_num_threads()}
        if "describe" in command:
            return describe(options, trainer, variant, trials, import_rss)
        raise Refused(f"unknown command {json.dumps(command)}")

    if options.steps:
        return say(answer({"run": options.steps}))
    answer_commands(answer)


def check(options, config):
    """Losses of three steps without dropout, and the norm of each gradient of the first."""
    variant = Variant(head="padded", update="foreach")
    trainer = Trainer(options, config, read_batches(options.directory, config.vocab_size, 3), variant, 0.0)
    first = trainer.step()
    norms = {name: float(weight.grad.norm()) for name, weight in trainer.weights.items() if weight.grad is not None}
    say({"losses": [first, trainer.step(), trainer.step()], "gradient_norms": norms, "optimizer": options.optimizer})


def parity(options, config, variants):
    """Compares the first batch with transformers': the loss as trained, the gradients in double precision.

    In single precision a ReLU whose input is 1e-7 from zero may open in one network and not in the other;
    one such unit among millions shows as a relative difference of 1e-3 in the gradients below it.
    """
    path = f"{options.directory}/model.safetensors"
    batch = read_batches(options.directory, config.vocab_size, 1)[0]
    theirs, their_loss = make_transformers(config, path, 0.0)
    expected = their_loss(batch).item()
    with default_dtype(torch.float64):
        theirs, their_loss = make_transformers(config, path, 0.0)
        their_loss(batch).backward()
    theirs = {name: weight.grad for name, weight in theirs.items()}
    return all([compare(config, path, variant, batch, expected, theirs) for variant in variants])


def compare(config, path, variant, batch, expected, theirs):
    with default_dtype(torch.float32), torch.no_grad():
        loss = Network(config, read_weights(path, variant), variant, 0.0).loss(batch).item()
    with default_dtype(torch.float64):
        network = Network(config, read_weights(path, variant), variant, 0.0)
        network.loss(batch).backward()
    theirs = joined(theirs) if variant.projections == "joined" else theirs
    differences = {
        name: float((weight.grad - theirs[name]).norm() / theirs[name].norm().clamp(min=1e-12))
        for name, weight in network.weights.items()
    }
    worst = max(differences, key=differences.get)
    agrees = abs(loss - expected) < 1e-4 and differences[worst] < 1e-6
    say({"variant": str(variant), "loss": loss, "transformers": expected, "gradients": len(differences),
         "worst_relative_gradient_difference": differences[worst], "of": worst, "agrees": agrees})  # fmt: skip
    return agrees


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def make_up(directory, decoder, tied):
    """A small DIR: transformers' T5 initialisation (scaled up where it is too tame to test), random ragged ids."""
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(5)
    keys = {"vocab_size": 301, "d_model": 48, "d_kv": 12, "d_ff": 80, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 3}
    model = T5ForConditionalGeneration(T5Config(**keys))
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items() if "embed_tokens" not in name}
    del weights["lm_head.weight"]
    if not tied:
        weights["lm_head.weight"] = torch.randn(301, 48) * 0.1
    for name, tensor in weights.items():
        if "layer_norm" in name or "relative_attention_bias" in name:
            tensor += torch.randn_like(tensor) * 0.5
    if decoder == "parallel":
        shapes = {"decoder.position_embedding": (256, 48), "length_predictor": (128, 48)}
        for layer in range(3):
            stem = f"decoder.block.{layer}.positional"
            attention = f"{stem}.PositionalAttention"
            shapes |= {f"{attention}.{part}": (36, 48) for part in "qkv"}
            shapes |= {f"{attention}.o": (48, 36), f"{stem}.layer_norm": (48,)}
        weights |= {f"{name}.weight": torch.randn(shape) * 0.3 for name, shape in shapes.items()}
    save_file(weights, f"{directory}/model.safetensors")
    with open(f"{directory}/config.json", "w", encoding="utf-8") as file:
        json.dump({**keys, "tie_word_embeddings": tied, "padir": {"decoder": decoder}}, file)

    def rows(lengths):
        return [torch.randint(3, 301, (length,)).tolist() + [EOS] for length in lengths]

    with open(f"{directory}/batches.jsonl", "w", encoding="utf-8") as file:
        targets = [7, 120, 1, 12, 0]
        batch = {"source": rows([5, 1, 150, 0, 9]), "target": rows(targets)}
        if decoder == "parallel":
            batch["input"] = rows(targets)
        print(json.dumps(batch), file=file)


def alone_and_together(options, config, variants):
    """Padding must not matter: rows one by one give the loss of the batch, in every variant the same."""
    path = f"{options.directory}/model.safetensors"
    batch = read_batches(options.directory, config.vocab_size, 1)[0]
    results = []
    with default_dtype(torch.float64), torch.no_grad():
        for variant in variants:
            network = Network(config, read_weights(path, variant), variant, 0.0, z_loss=1e-4)
            together = network.loss(batch).item()
            alone = 0.0
            for rows in zip(batch.source, batch.target, batch.given):
                source, target, given = (row[row != PAD][None] for row in rows)
                alone += network.loss(Batch(source, target, given, 0, batch.target_tokens, 0)).item()
            results.append((together, alone))
            say({"variant": str(variant), "together": together, "alone": alone, "agrees": math.isclose(together, alone)})
    expected = results[0][0]
    return all(math.isclose(value, expected, rel_tol=1e-9) for pair in results for value in pair)


def whole_and_parts(options, config):
    """Three steps on a batch, and on its rows as two batches of one step, have the same losses."""
    batch = read_batches(options.directory, config.vocab_size, 1)[0]

    def some(rows):
        given = None if batch.given is None else batch.given[rows]
        counts = [int((side[rows] != PAD).sum()) for side in (batch.source, batch.target)]
        return Batch(batch.source[rows], batch.target[rows], given, sum(counts), counts[1], batch.step)

    variant = Variant(head="padded", update="foreach")
    losses = []
    for batches in ([batch], [some(slice(0, 2)), some(slice(2, None))]):
        trainer = Trainer(options, config, batches, variant, 0.0)
        losses.append([trainer.step() for _ in range(3)])
    agrees = all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(*losses))
    say({"whole": losses[0], "parts": losses[1], "agrees": agrees})
    return agrees


def self_test(options):
    """A causal decoder against transformers, a parallel one (which has no peer) against itself."""
    fields = [field for field in CHOICES if field not in ("update", "allocator")]
    products = itertools.product(*(CHOICES[field] for field in fields))
    variants = [Variant(**dict(zip(fields, values))) for values in products]
    agrees = True
    for decoder, tied in itertools.product(("causal", "parallel"), (True, False)):
        with tempfile.TemporaryDirectory() as directory:
            make_up(directory, decoder, tied)
            options.directory = directory
            config = Config.read(directory)
            agrees &= whole_and_parts(options, config)
            if config.parallel:
                agrees &= alone_and_together(options, config, [one for one in variants if one.head != "chunked"])
            else:
                agrees &= parity(options, config, variants)
    sys.exit(0 if agrees else 1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", help="what padir bench train --dump wrote")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, help="train so many steps, answer once and end")
    parser.add_argument("--seed", type=int, default=7, help="of dropout and corruption")
    parser.add_argument("--dropout", type=float, help="instead of the config's dropout_rate")
    parser.add_argument("--dropout-masks", choices=("elementwise", "shared"), default="elementwise",
                        help="shared: one mask for all positions of a row, as T5X draws them")  # fmt: skip
    parser.add_argument("--z-loss", type=float, default=0.0)
    parser.add_argument("--optimizer", choices=("adamw", "adafactor"), default="adamw")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--betas", type=float, nargs=2, default=(0.9, 0.98))
    parser.add_argument("--epsilon", type=float, default=1e-8)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--variant", default="auto", help="auto, or choices to fix, such as attention=sdpa,head=padded")
    parser.add_argument("--trial-batches", type=int, default=3)
    parser.add_argument("--trial-rounds", type=int, default=3)
    parser.add_argument("--compile", action="store_true", help="torch.compile the loss (needs a C++ compiler and minutes); no trial")
    parser.add_argument("--transformers", action="store_true", help="train Hugging Face's T5 instead")
    parser.add_argument("--check", action="store_true", help="print three losses without dropout")
    parser.add_argument("--parity", action="store_true", help="compare with transformers on the first batch")
    parser.add_argument("--self-test", action="store_true", help="compare every variant with transformers on made-up data")
    parser.add_argument("--trial", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.directory and not options.self_test:
        parser.error("DIR is missing")
    if options.steps is not None and options.steps < 1:
        parser.error("--steps must be at least 1")
    if options.transformers and (options.z_loss or options.compile):
        parser.error("--transformers goes without --z-loss and --compile")
    return options


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)
    import_rss = peak_rss()
    if options.self_test:
        return self_test(options)
    config = Config.read(options.directory)
    options.dropout = config.dropout_rate if options.dropout is None else options.dropout
    if options.check:
        return check(options, config)
    if options.parity:
        sys.exit(0 if parity(options, config, [Variant()]) else 1)
    if options.trial:
        choices = allowed(options, config)
        if choices["allocator"] == ["kept"]:
            keep_memory()
        batches = read_batches(options.directory, config.vocab_size, options.trial_batches)
        return say(try_variants(options, config, batches, choices))
    variant, trials = choose_variant(options, config)
    if variant.allocator == "kept":
        keep_memory()
    batches = read_batches(options.directory, config.vocab_size)
    trainer = Trainer(options, config, batches, variant, options.dropout)
    serve(options, trainer, variant, trials, import_rss)


if __name__ == "__main__":
    main()
