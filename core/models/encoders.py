"""From embeddings to states, one state per token: how much of the sentence does a state already contain?

That is the question behind the disagreement of attention and gradients. `Average` gives each token a state of its own
(the name refers to the attention-weighted average that follows), `CNN` mixes in up to three neighbors on each side,
`BiLSTM` everything. Jain & Wallace 2019, §3; their widths 1, 3, 5, 7.
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


class Average(nn.Module):
    """States "batch token dim": tanh of an affine map of the token's own embedding, nothing else."""

    def __init__(self, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.linear = nn.Linear(embedding_dim, 2 * hidden_dim)
        self.state_dim = 2 * hidden_dim

    def forward(self, embedding: Tensor, present: Tensor) -> Tensor:
        return torch.tanh(self.linear(embedding))


Encoder = BiLSTM | CNN | Average
ENCODERS: dict[str, Callable[[int, int], Encoder]] = {"bilstm": BiLSTM, "cnn": CNN, "average": Average}
