"""When listeners hear the letter that they write: `listening`, a row for each string at each noise."""

from collections.abc import Sequence

import torch

from core.experiments.cases import Row
from core.interventions import permute, uniform
from core.models.listener import STEP, Listener
from core.sounds import frames, spectrogram, synthesize

NOISES, PACE, SEED = (0.0, 0.5, 1.0, 1.5, 2.0), 6.0, 7
SETTINGS: Row = {"pace": PACE, "sound_seed": SEED}


@torch.no_grad()
def listening(model: Listener, strings: Sequence[str]) -> list[Row]:
    """letters, noise; exact (all letters are right), with uniform and with shuffled weights; mean share of attention within the
    letter that is written (own) and how often the most attended moment lies in it (hit), while the right letters are told."""
    return [_row(model, letters, noise) for letters in strings for noise in NOISES]


def _row(model: Listener, letters: str, noise: float) -> Row:
    sound = synthesize(letters, pace=PACE, noise=noise, seed=SEED)
    heard = [spectrogram(sound.samples)]
    mask = model.source(heard).mask
    order = torch.randperm(mask.shape[1], generator=torch.Generator().manual_seed(SEED))[None]
    ways = {"exact": {}, "exact_uniform": {"intervene": uniform(mask)}, "exact_shuffled": {"intervene": permute(order)}}
    written = {name: model.words(model.written(heard, **way).ids[0].tolist()) for name, way in ways.items()}
    attention = model.forced(heard, model.targets([letters])).attention[0]
    own = [attention[at, list(part)].sum() for at, part in enumerate(frames(sound, STEP))]
    hit = [int(attention[at].argmax()) in part for at, part in enumerate(frames(sound, STEP))]
    return {
        "letters": len(letters),
        "noise": noise,
        **{name: float("".join(words) == letters) for name, words in written.items()},
        "own": float(torch.stack(own).mean()),
        "hit": sum(hit) / len(hit),
    }
