"""CTC losses and gradients by PyTorch, in double precision.

    pip install torch==2.15.0
    python ctc.py > ctc.json

States y [slots, width], a table E [tokens, width], logits y·Eᵀ; the loss is the sum of `ctc_loss` over sentences of different numbers of
slots. The gradients of y and E are those of autograd. Targets that do not fit have loss and gradient 0 (`zero_infinity`). Numbers come
from a formula, so that the file need not hold them: x(i) = 2·sin(1.3·i + 0.7) for states, x(i) = sin(0.9·i) for the table.
"""

import json
import math

import torch

WIDTH, TOKENS, BLANK = 5, 9, 7
CASES = {
    "ragged": [(6, [1, 2, 3]), (9, [4, 4, 5, 6]), (1, [8])],
    "empty targets": [(3, []), (1, [])],
    "repeats fill all slots": [(5, [3, 3, 3])],
    "one does not fit": [(4, [1, 2]), (2, [5, 5]), (7, [0, 8, 0, 8])],
    "long": [(40, [1, 2, 2, 3, 4, 5, 6, 6, 8, 0, 1, 2])],
}


def numbers(count, formula):
    return torch.tensor([formula(i) for i in range(count)], dtype=torch.float64)


def solve(case):
    slots = sum(n for n, _ in case)
    y = numbers(slots * WIDTH, lambda i: 2 * math.sin(1.3 * i + 0.7)).reshape(slots, WIDTH)
    table = numbers(TOKENS * WIDTH, lambda i: math.sin(0.9 * i)).reshape(TOKENS, WIDTH)
    y.requires_grad_()
    table.requires_grad_()
    log_probs = torch.log_softmax(y @ table.T, dim=-1)
    total, start = torch.zeros((), dtype=torch.float64), 0
    for n, labels in case:
        piece = log_probs[start : start + n].unsqueeze(1)
        target = torch.tensor([labels], dtype=torch.long).reshape(1, len(labels))
        lengths = torch.tensor([n]), torch.tensor([len(labels)])
        total = total + torch.nn.functional.ctc_loss(
            piece, target, *lengths, blank=BLANK, reduction="sum", zero_infinity=True
        )
        start += n
    total.backward()
    return {
        "sentences": [{"slots": n, "labels": labels} for n, labels in case],
        "loss": total.item(),
        "dy": y.grad.flatten().tolist(),
        "dtable": table.grad.flatten().tolist(),
    }


result = {"torch": torch.__version__, "width": WIDTH, "tokens": TOKENS, "blank": BLANK}
result["cases"] = {name: solve(case) for name, case in CASES.items()}
print(json.dumps(result, indent=1))
