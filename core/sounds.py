"""Sounds whose truth is known: letters as chords that the project synthesizes, to be read back by a decoder with attention.

Speech recognition met attention in Chorowski et al. (2015) and Chan et al. (2016, *Listen, Attend and Spell*): an encoder hears
frames of sound, and the decoder looks for those of the next letter. Real speech needs hours of recordings. Here each letter is
a chord of two tones, one of six low and one of five high ones, as the keys of a telephone are. How long a letter lasts, how
loud and how well in tune it is differs each time, and noise lies over all; so the frames of a letter must be found, and since
the sound is synthesized it is known where they are.

A string of letters belongs by its hash to training, validation or test. Single letters are heard in training only.
"""

import io
import random
import wave
from dataclasses import dataclass
from string import ascii_letters, ascii_uppercase
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from core.text import digest
from core.types import Refusal

Split = Literal["train", "validation", "test"]

RATE = 8000  # samples a second
WINDOW, HOP = 128, 80  # samples: frames of 16 ms, 10 ms apart
BANDS = 48  # of 62.5 Hz each, up to 3 kHz
LETTERS, LONGEST = ascii_uppercase, 8
LOW = (360.0, 450.0, 560.0, 700.0, 860.0, 1050.0)  # Hz
HIGH = (1350.0, 1600.0, 1880.0, 2200.0, 2560.0)
PACES, NOISES = (3.0, 12.0), (0.0, 2.0)  # letters a second; noise in amplitudes of a tone
FLOOR = 1e-3  # of power under the logarithm


@dataclass(frozen=True)
class Sound:
    """Letters as sound: samples "sample" within -1 … 1, and where each letter sounds, in samples (start, end)."""

    letters: str
    samples: Tensor
    spans: tuple[tuple[int, int], ...]


def chord(letter: str) -> tuple[float, float]:
    """The two tones of a letter in Hz: A to F share the first high tone, G to L the second, and so on."""
    high, low = divmod(LETTERS.index(letter), len(LOW))
    return LOW[low], HIGH[high]


def checked(text: str) -> str:
    """The letters of a text, in capitals. Refuses a blank one, other signs than A to Z, and more than eight letters."""
    letters = "".join(text.split())
    if not letters:
        raise Refusal("letters_blank", "There is no letter to sound; type one to eight letters, A to Z.")
    if strange := "".join(dict.fromkeys(sign for sign in letters if sign not in ascii_letters)):
        raise Refusal("letters_other", f"Only A to Z have a sound here; {strange[:20]!r} have none.", given=strange[:20])
    if len(letters) > LONGEST:
        sentence = f"{len(letters)} letters were typed; 1 to {LONGEST} are allowed."
        raise Refusal("letters_many", sentence, given=len(letters), allowed=LONGEST)
    return letters.upper()


def synthesize(letters: str, *, pace: float = 6.0, noise: float = 0.5, seed: int = 0) -> Sound:
    """The sound of checked letters at a pace (letters a second), with white noise whose standard deviation is `noise` times the
    amplitude of a full tone.

    A letter takes 0.7 to 1.3 times its share of the pace, a fifth to two fifths of it as silence; it is 0.6 to 1 times as loud,
    and up to 1.5 % out of tune. Refuses a pace or a noise out of range.
    """
    for name, given, (low, high) in (("pace", pace, PACES), ("noise", noise, NOISES)):
        if not low <= given <= high:
            sentence = f"The {name} is {given:g}; {low:g} to {high:g} is allowed."
            raise Refusal("out_of_range", sentence, given=given, allowed=f"{low:g} … {high:g}")
    rng = np.random.default_rng([seed, digest(letters) % 2**32])
    parts, spans, at = [], [], 0
    for letter in letters:
        length = int(RATE / pace * rng.uniform(0.7, 1.3))
        silence = int(length * rng.uniform(0.2, 0.4))
        start = at + silence // 2
        tone = _tone(letter, length - silence, rng)
        parts.append(np.pad(tone, (silence // 2, length - len(tone) - silence // 2)))
        spans.append((start, start + len(tone)))
        at += length
    samples = np.concatenate(parts)
    samples = samples + noise * rng.standard_normal(len(samples))
    loudest = 2 + 3 * noise  # two tones, and noise that is rarely above three deviations
    return Sound(letters, torch.from_numpy((samples / loudest).clip(-1, 1)).float(), tuple(spans))


def _tone(letter: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """A letter's chord for n samples, faded in and out over 5 ms."""
    time, tune = np.arange(n) / RATE, 1 + rng.uniform(-0.015, 0.015)
    waves = [np.sin(2 * np.pi * (tune * f * time + rng.uniform())) for f in chord(letter)]
    fade = np.minimum(1, np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.005 * RATE))
    return rng.uniform(0.6, 1.0) * fade * sum(waves)


def spectrogram(samples: Tensor) -> Tensor:
    """Log power "frame band": a frame every 10 ms, bands of 62.5 Hz, each sound scaled to the same mean power."""
    window = torch.hann_window(WINDOW, device=samples.device)
    spectrum = torch.stft(samples, WINDOW, HOP, window=window, center=True, pad_mode="constant", return_complex=True)
    power = spectrum.abs().pow(2)[:BANDS].T
    return torch.log(power / power.mean().clamp(min=1e-12) + FLOOR)


def frames(sound: Sound, step: int = HOP) -> list[range]:
    """For each letter the frames in which it sounds: those whose middle lies in its span; a frame every `step` samples."""
    return [range(-(-start // step), max(-(-start // step), (end - 1) // step) + 1) for start, end in sound.spans]


def wav(sound: Sound) -> bytes:
    """The sound as a WAV file, 16 bits, mono."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((sound.samples.numpy() * 32767).astype("<i2").tobytes())
    return out.getvalue()


def split(letters: str) -> Split:
    """Where a string belongs: a tenth to test, a tenth to validation, the others and single letters to training."""
    number = digest(letters) % 10 if len(letters) > 1 else 9
    return "test" if number == 0 else "validation" if number == 1 else "train"


def strings(which: Split, n: int, seed: int = 0) -> list[str]:
    """`n` strings of a split, drawn at random: of each length from 1 (in training) or 3 to 8 alike."""
    rng = random.Random(f"{which} {seed}")
    found: list[str] = []
    while len(found) < n:
        length = rng.randint(1 if which == "train" else 3, LONGEST)
        letters = "".join(rng.choices(LETTERS, k=length))
        if split(letters) == which:
            found.append(letters)
    return found


def recording(letters: str, seed: int, most: float = 1.0) -> Sound:
    """A string at a pace and with a noise that are drawn from the seed: 4 to 10 letters a second, noise up to `most`."""
    rng = random.Random(f"{letters} {seed}")
    return synthesize(letters, pace=rng.uniform(4, 10), noise=rng.uniform(0, most), seed=seed)
