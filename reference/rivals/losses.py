"""Losses and gradients of rival objectives, computed with PyTorch and nothing of padir: crates/train/tests/rivals.rs compares.

    python -m venv venv && venv/bin/pip install torch
    venv/bin/python reference/rivals/losses.py > reference/rivals/losses.json

A small encoder-decoder (T5's layers, learned positions, the pooled length predictor) has the initial weights of a seed; two sentence
pairs are corrupted with the streams that training would use. Everything is double precision.

    cmlm    mask k of the n tokens before the end, k uniform on 1..n; cross-entropy of the masked ones
    smart   the same masks, predict everything, mask k' of the predictions; cross-entropy of all
    disco   every token from a set of others, the end among them; cross-entropy of all but the end
    sundae  a rate for each sentence, uniform tokens at that rate; cross-entropy of all; sample; cross-entropy of all; their mean
"""

import json
import math

import torch
import torch.nn.functional as F

D, K, H, FF, VOCABULARY, PIECES, POSITIONS = 16, 8, 2, 24, 40, 36, 12
CLASSES, QUERIES, HIDDEN, SIGMA = 12, 2, 8, 1.5
SMOOTHING, Z_LOSS, LENGTH_WEIGHT = 0.1, 1e-3, 0.5
SEED, MASK, RANDOM = 11, VOCABULARY - 1, range(3, VOCABULARY)
SOURCES = [[10, 11, 12, 13, 14, 1], [20, 21, 22, 1]]
TARGETS = [[15, 16, 17, 18, 19, 25, 1], [30, 31, 32, 1]]
CORRUPTION, INITIAL = 5, 6  # purposes of streams
LOW = 0xFFFFFFFF
torch.set_default_dtype(torch.float64)


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & LOW, (a >> 32) ^ c[3] ^ k[1], a & LOW]
        k = [(k[0] + 0x9E3779B9) & LOW, (k[1] + 0xBB67AE85) & LOW]
    return c


class Stream:
    """Numbers named by seed, purpose and index."""

    def __init__(self, purpose, index):
        self.place, self.block, self.words = (purpose, index), 0, []

    def u32(self):
        if not self.words:
            self.words = philox([self.block, self.place[0], self.place[1], 0], [SEED, 0])
            self.block += 1
        return self.words.pop(0)

    def u64(self):
        low = self.u32()
        return self.u32() << 32 | low

    def uniform(self):
        return (self.u64() >> 11) / 2**53

    def below(self, n):
        while True:
            product = self.u64() * n
            if product % 2**64 >= (2**64 - n) % n:
                return product >> 64

    def normals(self, count, std):
        numbers = []
        while len(numbers) < count:
            radius = math.sqrt(-2 * math.log(((self.u64() >> 12) + 0.5) / 2**52))
            angle = 2 * math.pi * self.uniform()
            numbers += [std * radius * math.cos(angle), std * radius * math.sin(angle)]
        return torch.tensor(numbers[:count]).float().double()  # checkpoints are single precision


def inventory():
    """Names, shapes and initial deviations; None is all ones, 0 all zeros."""

    def attention(layer, kind):
        inner = H * K
        yield f"{layer}.{kind}.q.weight", (inner, D), (D * K) ** -0.5
        yield f"{layer}.{kind}.k.weight", (inner, D), D**-0.5
        yield f"{layer}.{kind}.v.weight", (inner, D), D**-0.5
        yield f"{layer}.{kind}.o.weight", (D, inner), inner**-0.5
        yield f"{layer}.layer_norm.weight", (D,), None

    def feed(layer):
        yield f"{layer}.DenseReluDense.wi.weight", (FF, D), D**-0.5
        yield f"{layer}.DenseReluDense.wo.weight", (D, FF), FF**-0.5
        yield f"{layer}.layer_norm.weight", (D,), None

    def stack(name, cross):
        layer = f"{name}.block.0.layer"
        yield from attention(f"{layer}.0", "SelfAttention")
        yield f"{layer}.0.SelfAttention.relative_attention_bias.weight", (32, H), D**-0.5
        if cross:
            yield from attention(f"{layer}.1", "EncDecAttention")
        yield from feed(f"{layer}.{2 if cross else 1}")
        yield f"{name}.final_layer_norm.weight", (D,), None

    yield "shared.weight", (VOCABULARY, D), 1.0
    yield from stack("encoder", False)
    yield "decoder.position_embedding.weight", (POSITIONS, D), 1.0
    yield from stack("decoder", True)
    length = "length_predictor"
    yield f"{length}.query.weight", (QUERIES, D), D**-0.5
    yield f"{length}.source_length.weight", (256, HIDDEN), 0
    wide = (QUERIES + 1) * D
    yield f"{length}.hidden.0.weight", (HIDDEN, wide), wide**-0.5
    yield f"{length}.hidden.0.bias", (HIDDEN,), 0
    yield f"{length}.output.weight", (CLASSES, HIDDEN), HIDDEN**-0.5
    yield f"{length}.output.bias", (CLASSES,), 0


def weights():
    found = {}
    for index, (name, shape, std) in enumerate(inventory()):
        if std is None:
            numbers = torch.ones(shape)
        elif std == 0:
            numbers = torch.zeros(shape)
        else:
            numbers = Stream(INITIAL, index).normals(math.prod(shape), std).reshape(shape)
        found[name] = numbers.requires_grad_()
    return found


class Network:
    def __init__(self):
        self.w = weights()

    def norm(self, x, name):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * self.w[name]

    def attend(self, x, memory, layer, kind, bias, visible=None):
        n = self.norm(x, f"{layer}.layer_norm.weight")
        memory = n if memory is None else memory
        project = lambda y, part: (y @ self.w[f"{layer}.{kind}.{part}.weight"].T).view(-1, H, K).transpose(0, 1)
        scores = project(n, "q") @ project(memory, "k").transpose(1, 2)
        if bias is not None:
            # Within eight positions every distance has a bucket of its own.
            away = torch.arange(len(memory))[None, :] - torch.arange(len(n))[:, None]
            assert away.abs().max() < 8
            scores = scores + bias[torch.where(away > 0, 16 + away, -away)].permute(2, 0, 1)
        if visible is not None:
            scores = scores.masked_fill(~visible, -math.inf)
        found = (scores.softmax(-1) @ project(memory, "v")).transpose(0, 1).reshape(len(n), H * K)
        return x + found @ self.w[f"{layer}.{kind}.o.weight"].T

    def feed(self, x, layer):
        n = self.norm(x, f"{layer}.layer_norm.weight")
        hidden = F.relu(n @ self.w[f"{layer}.DenseReluDense.wi.weight"].T)
        return x + hidden @ self.w[f"{layer}.DenseReluDense.wo.weight"].T

    def encode(self, source):
        layer = "encoder.block.0.layer"
        bias = self.w[f"{layer}.0.SelfAttention.relative_attention_bias.weight"]
        x = self.w["shared.weight"][source]
        x = self.attend(x, None, f"{layer}.0", "SelfAttention", bias)
        return self.norm(self.feed(x, f"{layer}.1"), "encoder.final_layer_norm.weight")

    def logits(self, tokens, memory):
        layer = "decoder.block.0.layer"
        bias = self.w[f"{layer}.0.SelfAttention.relative_attention_bias.weight"]
        x = self.w["shared.weight"][tokens] + self.w["decoder.position_embedding.weight"][: len(tokens)]
        x = self.attend(x, None, f"{layer}.0", "SelfAttention", bias)
        x = self.attend(x, memory, f"{layer}.1", "EncDecAttention", None)
        x = self.norm(self.feed(x, f"{layer}.2"), "decoder.final_layer_norm.weight")
        return x @ self.w["shared.weight"].T / math.sqrt(D)

    def disentangled_logits(self, tokens, memory, visible):
        """The stream starts from positions; keys and values are tokens with positions, as no other token has touched them."""
        layer = "decoder.block.0.layer"
        bias = self.w[f"{layer}.0.SelfAttention.relative_attention_bias.weight"]
        x = self.w["decoder.position_embedding.weight"][: len(tokens)]
        embedded = self.norm(self.w["shared.weight"][tokens] + x, f"{layer}.0.layer_norm.weight")
        x = self.attend(x, embedded, f"{layer}.0", "SelfAttention", bias, visible)
        x = self.attend(x, memory, f"{layer}.1", "EncDecAttention", None)
        x = self.norm(self.feed(x, f"{layer}.2"), "decoder.final_layer_norm.weight")
        return x @ self.w["shared.weight"].T / math.sqrt(D)

    def length_loss(self, memory, length):
        w = lambda part: self.w[f"length_predictor.{part}"]
        pools = (memory @ w("query.weight").T).softmax(0).T @ memory
        x = torch.cat([pools, memory.sum(0, keepdim=True) / 32]).reshape(-1)
        z = F.relu(w("hidden.0.weight") @ x + w("hidden.0.bias") + w("source_length.weight")[len(memory) - 1])
        logits = w("output.weight") @ z + w("output.bias")
        true = length - len(memory) + CLASSES // 2
        soft = torch.exp(-0.5 * ((torch.arange(CLASSES) - true) / SIGMA) ** 2)
        soft = (1 - SMOOTHING) * soft / soft.sum() + SMOOTHING / CLASSES
        return -(soft * logits.log_softmax(0)).sum() + Z_LOSS * logits.logsumexp(0) ** 2


def cross_entropy(logits, target, counts):
    """Label smoothing and z-loss as a sum over the positions that count."""
    log_p = logits.log_softmax(-1)
    right = log_p.gather(1, torch.tensor(target)[:, None])[:, 0]
    each = -(1 - SMOOTHING) * right - SMOOTHING * log_p.mean(1) + Z_LOSS * logits.logsumexp(1) ** 2
    return (each * torch.tensor(counts, dtype=torch.float64)).sum()


def mask(stream, sentence):
    body = len(sentence) - 1
    missing = 1 + stream.below(body)
    masked = [False] * len(sentence)
    for i in range(body):
        if missing and stream.below(body - i) < missing:
            masked[i], missing = True, missing - 1
    for _ in range(sum(masked)):
        stream.uniform()  # what becomes of a token is drawn, though it is always a mask
    return [MASK if m else t for m, t in zip(masked, sentence)], masked


def noise(stream, sentence):
    rate = stream.uniform()
    noised = [i for i in range(len(sentence) - 1) if stream.uniform() < rate]
    tokens = list(sentence)
    for i in noised:
        stream.uniform()
        tokens[i] = RANDOM[0] + stream.below(len(RANDOM))
    return tokens


def draw(logits, key, site, first):
    """One class per row by inverting the distribution function."""
    drawn = []
    for row, p in enumerate(logits.softmax(-1), start=first):
        words = philox([row, 0, site, 0x5A3B], key)
        u = ((words[1] << 32 | words[0]) >> 11) / 2**53
        drawn.append(int((p.cumsum(0) <= u * p.sum()).sum()))
    return drawn


def cmlm(network, memories, stream):
    total = 0
    for memory, target in zip(memories, TARGETS):
        tokens, masked = mask(stream, target)
        total = total + cross_entropy(network.logits(tokens, memory), target, masked)
    return total


def smart(network, memories, stream):
    first = [mask(stream, target)[0] for target in TARGETS]
    predicted = [network.logits(t, m).argmax(-1).tolist() for t, m in zip(first, memories)]
    second = [mask(stream, p[:-1] + t[-1:])[0] for p, t in zip(predicted, TARGETS)]
    pairs = zip(second, memories, TARGETS)
    return sum(cross_entropy(network.logits(t, m), target, [1] * len(t)) for t, m, target in pairs)


def sundae(network, memories, stream):
    key = [stream.u32(), stream.u32()]
    read = [noise(stream, target) for target in TARGETS]
    total, first = 0, 0
    for i, target in enumerate(TARGETS):
        one = network.logits(read[i], memories[i])
        two = network.logits(draw(one.detach(), key, 0, first), memories[i])
        first += len(target)
        everywhere = [0.5] * len(target)
        total = total + cross_entropy(one, target, everywhere) + cross_entropy(two, target, everywhere)
    return total


def visible_sets(stream, n):
    visible = torch.zeros(n, n, dtype=torch.bool)
    visible[n - 1, : n - 1] = True
    for i in range(n - 1):
        others = [j for j in range(n - 1) if j != i]
        missing = min(int((n - 1) * stream.uniform()), len(others))
        stream.below(1)  # the number of a set of known size
        for place, j in enumerate(others):
            if missing and stream.below(len(others) - place) < missing:
                visible[i, j], missing = True, missing - 1
        visible[i, n - 1] = True
    return visible


def disco(network, memories, stream):
    sets = [visible_sets(stream, len(target)) for target in TARGETS]
    total = 0
    for memory, target, visible in zip(memories, TARGETS, sets):
        counts = [1] * (len(target) - 1) + [0]
        total = total + cross_entropy(network.disentangled_logits(target, memory, visible), target, counts)
    return total


def main():
    cases = {}
    for name, objective in [("cmlm", cmlm), ("smart", smart), ("sundae", sundae), ("disco", disco)]:
        network = Network()
        memories = [network.encode(source) for source in SOURCES]
        lengths = sum(network.length_loss(m, len(t)) for m, t in zip(memories, TARGETS))
        loss = objective(network, memories, Stream(CORRUPTION, 3)) + LENGTH_WEIGHT * lengths
        loss.backward()
        norm = lambda w: 0.0 if w.grad is None else w.grad.norm().item()
        cases[name] = {
            "loss": loss.item(),
            "length_loss": lengths.item(),
            "gradient_norms": {name: norm(w) for name, w in network.w.items()},
        }
    print(json.dumps({"torch": torch.__version__.split("+")[0], "cases": cases}, indent=1))


main()
