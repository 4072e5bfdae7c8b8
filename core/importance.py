"""What mattered to this prediction? Three voices to hold attention against, none of them ground truth.

gradient               how the target's probability moves with a word's embedding, attention held fixed (Algorithm 1, line 2)
input × gradient       the same with attention left in the graph, signed
integrated gradients   the gradient averaged on the way from no words to these words: its sum is what the words added
leave-one-out          what the prediction loses when the word is not there, everything computed anew (Algorithm 1, line 4)

After Jain & Wallace 2019, §3 and Algorithm 1; Sundararajan et al. 2017. The sum over the vocabulary in Algorithm 1
with its indicator is, by the chain rule, the inner product of a word's embedding with the gradient there. Values are
per token, so a word cut into pieces is the sum of them (`to_words`).

Attention is that with which the answer is read: the only one a classifier has; in a Transformer the row of the classification
token in the last layer, the mean over its heads, since no other row of that layer reaches the answer (the layers below have
mixed the words by then, as a BiLSTM has). There every layer's attention is cut out of the graph for `gradient`, and what the
special tokens get belongs to no word, so that a text's attention may sum to less than one.
"""

import numpy as np
import torch
from torch import Tensor

from core.agreement import tvd
from core.interventions import detach
from core.models import batches
from core.models.batches import repeat
from core.models.classifier import Classifier
from core.models.text_model import TextModel
from core.types import Batch, Intervention

TOKENS_AT_ONCE = 2**15  # how many tokens the batches of deletions and path points may hold


def probabilities(logits: Tensor) -> Tensor:
    """Probability of each label, "batch label"; zero for labels that may not be answered."""
    return torch.softmax(logits, dim=-1)


def to_words(batch: Batch, values: Tensor) -> list[list[float]]:
    """For each example one sum per word over its pieces; start, end and padding are left out."""
    words = batches.words(batch)
    summed = torch.zeros(values.shape[0], max(map(len, words)) + 1, dtype=values.dtype, device=values.device)
    summed.scatter_add_(1, (batch.word + 1), values * batch.mask)
    return [row[1 : len(own) + 1].tolist() for row, own in zip(summed, words, strict=True)]


def attention(model: TextModel, batch: Batch) -> Tensor:
    """The weights with which the answer is read, "batch token": in the last layer the mean over its heads, of the queries that
    the model answers from; they sum to one over the tokens that are attended."""
    weights = model.unchanged(batch).attention[:, -1].mean(1)
    return torch.einsum("bq,bqk->bk", model.reader(batch).to(weights), weights)


def gradient(model: TextModel, batch: Batch, *, target: Tensor, intervene: Intervention = detach) -> Tensor:
    """Input × gradient of the target's probability, signed, "batch token": Σ_d e_td ∂p/∂e_td.

    Jain & Wallace use its absolute value with attention cut out of the graph, which `detach` does; `keep` leaves it
    in.
    """
    embedding = model.embed(batch).detach().requires_grad_()
    prob = target_prob(model.run(batch, embedding=embedding, intervene=intervene).logits, target)
    (slope,) = torch.autograd.grad(prob.sum(), embedding)
    return (slope * embedding).sum(-1).detach()


def integrated_gradients(model: TextModel, batch: Batch, *, target: Tensor, nodes: int = 50) -> Tensor:
    """Integrated gradients of the target's probability, "batch token", from words without embedding (start and end
    stay).

    IG_t = Σ_d e_td ∫₀¹ ∂p(αe)/∂e_td dα by Gauss–Legendre with `nodes` points; ΣIG = p(words) − p(no embeddings).
    Sundararajan et al. 2017, §3.
    """
    points, weights = np.polynomial.legendre.leggauss(nodes)
    embedding = model.embed(batch).detach()
    words = embedding * batch.mask[..., None]
    total = torch.zeros_like(embedding)
    at_once = _at_once(model, batch.ids.numel())
    for start in range(0, nodes, at_once):
        alpha = torch.tensor((points[start : start + at_once] + 1) / 2, dtype=embedding.dtype, device=embedding.device)
        weight = torch.tensor(weights[start : start + at_once] / 2, dtype=embedding.dtype, device=embedding.device)
        path = ((embedding - words)[None] + alpha[:, None, None, None] * words[None]).flatten(0, 1).requires_grad_()
        copies = repeat(batch, len(alpha))
        prob = target_prob(model.run(copies, embedding=path).logits, target.repeat(len(alpha)))
        (slope,) = torch.autograd.grad(prob.sum(), path)
        total += torch.einsum("n,nbtd->btd", weight, slope.unflatten(0, (len(alpha), -1)))
    return (total * words).sum(-1)


def leave_one_out(model: TextModel, batch: Batch, *, target: Tensor) -> tuple[list[list[float]], list[list[float]]]:
    """For each word of each example, how far the prediction moves without it (TVD), and the signed change p(x) − p(x
    without it).

    The word is deleted and the rest encoded again, with attention recomputed; the answers that are allowed stay the
    same. A single word leaves nothing to encode: its lists are empty. Jain & Wallace 2019, Algorithm 1; run this
    in double precision.
    """
    with torch.no_grad():
        whole = probabilities(model.unchanged(batch).logits)
        distance: list[list[float]] = [[] for _ in batch.examples]
        change: list[list[float]] = [[] for _ in batch.examples]
        for i, words in enumerate(batches.words(batch)):
            places = range(len(words)) if len(words) > 1 else ()
            at_once = _at_once(model, batch.ids.shape[1])
            for start in range(0, len(places), at_once):
                prob = probabilities(model.without(batches.only(batch, i), places[start : start + at_once]))
                distance[i] += tvd(whole[i], prob).tolist()
                change[i] += (whole[i, target[i]] - prob[:, target[i]]).tolist()
    return distance, change


def mixing(model: Classifier, batch: Batch, *, words: int = 40) -> list[list[float]]:
    """How much the state at each word depends on each word, ‖∂h_t/∂e_j‖ (Frobenius), rows divided by their sum; one
    example.

    The identity for an encoder that looks at one word at a time. Only the first `words` words are asked.
    """
    if len(batch.examples) != 1:
        raise ValueError(f"Mixing is computed for one example at a time, {len(batch.examples)} were given.")
    n = min(words, len(batch.examples[0].text))
    embedding = model.embed(batch).detach()
    dim = model.states(batch, embedding).shape[-1]
    copies = repeat(batch, dim)
    path = embedding.repeat(dim, 1, 1).requires_grad_()
    states = model.states(copies, path)
    norms = torch.zeros(n, n, dtype=embedding.dtype)
    position = batch.word[0]
    for piece in range(int((position < n).nonzero().max()) + 1):
        if not 0 <= (word := int(position[piece])) < n:
            continue
        (slope,) = torch.autograd.grad(states[:, piece].diagonal().sum(), path, retain_graph=True)
        squared = slope.square().sum((0, -1)).cpu()
        for other in range(len(position)):
            if 0 <= int(position[other]) < n:
                norms[word, int(position[other])] += squared[other]
    rows = norms.sqrt()
    return (rows / rows.sum(-1, keepdim=True).clamp(min=torch.finfo(rows.dtype).tiny)).tolist()


def target_prob(logits: Tensor, target: Tensor) -> Tensor:
    """Probability of one label of each example, "batch"."""
    return probabilities(logits).gather(-1, target[:, None]).squeeze(-1)


def _at_once(model: TextModel, tokens: int) -> int:
    """How many copies of a batch with so many tokens may be run together."""
    return max(1, min(TOKENS_AT_ONCE, model.tokens_at_once) // max(1, tokens))
