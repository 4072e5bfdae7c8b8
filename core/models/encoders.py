"""From embeddings to states, one state per token: how much of the sentence does a state already contain?

That is the question behind the disagreement of attention and gradients. `Average` gives each token a state of its own
(the name refers to the attention-weighted average that follows), `CNN` mixes in up to three neighbors on each side,
`BiLSTM` everything. Jain & Wallace 2019, §3; their widths 1, 3, 5, 7.

`without` gives the states of one text without some neighboring tokens, for many such deletions at once: `left` ("deletion
token") marks the tokens that stay, and the states come closed up, "deletion kept_token dim", as `kept` orders them.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLSTM(nn.Module):
    """States "batch token dim" that concatenate the two directions; padding is skipped."""

    def __init__(self, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.state_dim = 2 * hidden_dim

    def forward(self, embedding: Tensor, present: Tensor) -> Tensor:
        if bool(present.all()):
            return self.lstm(embedding)[0]
        lengths = present.sum(-1).clamp(min=1).cpu()
        packed = pack_padded_sequence(embedding, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=embedding.shape[1])[0]

    def without(self, embedding: Tensor, left: Tensor) -> Tensor:
        """States without the tokens that are not left; a direction is computed anew only beyond the first of them."""
        ahead = _skipping(*self._gates(embedding, ""), left)
        back = _skipping(*self._gates(embedding.flip(0), "_reverse"), left.flip(1)).flip(1)
        return _closed_up(torch.cat([ahead, back], dim=-1), left)

    def _gates(self, embedding: Tensor, direction: str) -> tuple[Tensor, Tensor]:
        """What each token brings to the gates i, f, g, o of a direction, "token gate", and the recurrent weights, "dim gate";
        g comes doubled, as tanh x = 2 σ(2x) - 1."""
        inward, recurrent = (getattr(self.lstm, f"weight_{kind}_l0{direction}").T for kind in ("ih", "hh"))
        bias = getattr(self.lstm, f"bias_ih_l0{direction}") + getattr(self.lstm, f"bias_hh_l0{direction}")
        double = torch.tensor([1.0, 1.0, 2.0, 1.0], dtype=bias.dtype, device=bias.device).repeat_interleave(len(bias) // 4)
        return (embedding @ inward + bias) * double, recurrent * double


class CNN(nn.Module):
    """States "batch token dim": convolutions of widths 1, 3, 5, 7, a ReLU, side by side; padding counts as zeros."""

    widths = (1, 3, 5, 7)

    def __init__(self, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        filters = 2 * hidden_dim // len(self.widths)
        self.convolutions = nn.ModuleList(nn.Conv1d(embedding_dim, filters, w, padding=w // 2) for w in self.widths)
        self.state_dim = filters * len(self.widths)

    def forward(self, embedding: Tensor, present: Tensor) -> Tensor:
        channels = (embedding * present[..., None]).transpose(1, 2)
        return torch.cat([torch.relu(c(channels)) for c in self.convolutions], dim=1).transpose(1, 2)

    def without(self, embedding: Tensor, left: Tensor) -> Tensor:
        """States without the tokens that are not left; only those whose filters reach over the gap are computed anew."""
        order, present = kept(left)
        states = self(embedding[None], torch.ones_like(left[:1]))[0][order]
        reach = max(self.widths) // 2
        gap = (~left).to(torch.int8).argmax(-1, keepdim=True)  # how many tokens stay before it
        near = gap + torch.arange(-2 * reach, 2 * reach, device=left.device)
        inside = (near >= 0) & (near < present.sum(-1, keepdim=True))
        around = self(embedding[order.gather(1, near.clamp(0, order.shape[1] - 1))], inside)
        anew = inside & (near >= gap - reach) & (near < gap + reach)
        states[anew.nonzero()[:, 0], near[anew]] = around[anew]
        return states


class Average(nn.Module):
    """States "batch token dim": tanh of an affine map of the token's own embedding, nothing else."""

    def __init__(self, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(embedding_dim, 2 * hidden_dim)
        self.state_dim = 2 * hidden_dim

    def forward(self, embedding: Tensor, present: Tensor) -> Tensor:
        return torch.tanh(self.linear(embedding))

    def without(self, embedding: Tensor, left: Tensor) -> Tensor:
        """The states of the tokens that are left, which know nothing of the others."""
        return self(embedding, left)[kept(left)[0]]


def kept(left: Tensor) -> tuple[Tensor, Tensor]:
    """Where the tokens that are left stood, "deletion kept_token", and which of these places are filled; padding comes
    last."""
    order = (~left).to(torch.int8).argsort(dim=-1, stable=True)[:, : int(left.sum(-1).max())]
    return order, left.gather(-1, order)


def _closed_up(states: Tensor, left: Tensor) -> Tensor:
    order, _ = kept(left)
    return states.gather(1, order[..., None].expand(-1, -1, states.shape[-1]))


def _skipping(inputs: Tensor, recurrent: Tensor, left: Tensor) -> Tensor:
    """One direction of an LSTM over `inputs` ("token gate") for each deletion of neighboring tokens.

    Row 0 is the whole text. A deletion is the whole text until its first token, and joins as a row of its own after its
    last one, with the state that the whole text had before the first.
    """
    first = (~left).to(torch.int8).argmax(-1)
    last = first + (~left).sum(-1) - 1
    order = last.argsort(stable=True)
    joining: dict[int, list[int]] = {}
    for start, end in zip(first[order].tolist(), last[order].tolist(), strict=True):
        joining.setdefault(end, []).append(start)
    h = c = inputs.new_zeros(1, recurrent.shape[0])
    before = []
    states = inputs.new_empty(len(inputs), len(left), recurrent.shape[0])
    for t, row in enumerate(inputs):
        before.append((h[:1], c[:1]))
        i, f, g, o = torch.sigmoid(torch.addmm(row, h, recurrent)).chunk(4, dim=-1)
        c = f * c + i * (2 * g - 1)
        h = o * torch.tanh(c)
        states[t, : len(h) - 1], states[t, len(h) - 1 :] = h[1:], h[0]
        if t in joining:
            h, c = (torch.cat([x, *(before[start][which] for start in joining[t])]) for which, x in enumerate((h, c)))
    return states.transpose(0, 1)[order.argsort()]


Encoder = BiLSTM | CNN | Average
ENCODERS: dict[str, Callable[[int, int], Encoder]] = {"bilstm": BiLSTM, "cnn": CNN, "average": Average}
