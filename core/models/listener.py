"""A sound in, letters out, and when the model listened at each letter (Chan et al. 2016, *Listen, Attend and Spell*).

    annotations   frames of a spectrogram, two of them at a time, read from both sides by a GRU: one each 20 ms
    decoder       the GRU of `core.models.decoder` with additive scores over the annotations

Chan et al. halve the number of frames three times in a pyramid of LSTMs, since a second of speech has a hundred; our sounds are
short, so one convolution of stride 2 is enough.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from core.models.decoder import Source
from core.models.perceiver import Perceiver, PerceiverCard
from core.sounds import BANDS, HOP

HEARD = 48  # numbers of a frame after the convolution, and of each direction of the GRU
STRIDE = 2
STEP = STRIDE * HOP  # samples between two annotations


class Listener(Perceiver):
    """A convolution and a bidirectional GRU over frames, and a decoder that looks at them."""

    def __init__(self, card: PerceiverCard) -> None:
        super().__init__(card, 2 * HEARD)
        self.convolution = nn.Conv1d(BANDS, HEARD, 3, STRIDE, padding=1)
        self.gru = nn.GRU(HEARD, HEARD, batch_first=True, bidirectional=True)

    def source(self, signals: Sequence[Tensor]) -> Source:
        """What the decoder looks at, from spectrograms "frame band"; its summary are the last states of both directions."""
        lengths = torch.tensor([(len(signal) + 1) // STRIDE for signal in signals])
        frames = pad_sequence(list(signals), True).transpose(1, 2)
        heard = torch.relu(self.convolution(frames)).transpose(1, 2)
        packed = pack_padded_sequence(heard, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.gru(packed)
        annotations = pad_packed_sequence(states, batch_first=True)[0]
        mask = torch.arange(annotations.shape[1]) < lengths[:, None]
        return self.decoder.source(annotations, mask.to(annotations.device), last.transpose(0, 1).flatten(1))
