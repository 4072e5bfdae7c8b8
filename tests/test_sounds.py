"""Sounds: chords where they should be, in the spectrum and in time; what has no sound is refused; splits share nothing."""

import io
import wave

import pytest
import torch

from core import sounds
from core.sounds import HIGH, HOP, LETTERS, LOW, RATE, WINDOW, checked, chord, frames, spectrogram, split, strings, synthesize
from core.types import Refusal


def test_letters_have_chords_of_their_own() -> None:
    assert (chord("A"), chord("F"), chord("G")) == ((LOW[0], HIGH[0]), (LOW[5], HIGH[0]), (LOW[0], HIGH[1]))
    assert len({chord(letter) for letter in LETTERS}) == 26


@pytest.mark.parametrize("letter", ["A", "M", "Z"])
def test_the_two_loudest_bands_of_a_letter_are_its_tones(letter: str) -> None:
    sound = synthesize(letter, pace=3, noise=0.0)
    heard = spectrogram(sound.samples)[list(frames(sound)[0])].mean(0)
    width = RATE / WINDOW
    for tones, tone in ((LOW, chord(letter)[0]), (HIGH, chord(letter)[1])):
        low, high = int(tones[0] / width) - 1, int(tones[-1] / width) + 2
        loudest = low + int(heard[low:high].argmax())
        assert abs(loudest * width - tone) < 1.25 * width


def test_letters_sound_one_after_the_other_and_silence_is_between() -> None:
    sound = synthesize("NOON", noise=0.0, seed=3)
    assert len(sound.spans) == 4
    assert all(end > start for start, end in sound.spans)
    assert all(before[1] < after[0] for before, after in zip(sound.spans[:-1], sound.spans[1:], strict=True))
    silent = torch.ones_like(sound.samples, dtype=torch.bool)
    for start, end in sound.spans:
        silent[start:end] = False
    assert not sound.samples[silent].any()
    assert sound.samples.abs().max() <= 1


def test_a_frame_belongs_to_the_letter_that_sounds_in_its_middle() -> None:
    sound = sounds.Sound("AB", torch.zeros(1000), ((81, 320), (400, 401)))
    assert frames(sound) == [range(2, 4), range(5, 6)]
    assert len(spectrogram(sound.samples)) == 1000 // HOP + 1


def test_the_same_seed_gives_the_same_sound() -> None:
    one, again, other = (synthesize("AHA", seed=seed).samples for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert one.shape != other.shape or not torch.equal(one, other)


def test_a_pace_is_kept_on_average_and_noise_is_as_loud_as_said() -> None:
    letters = "ABCDEFGH"
    assert 0.8 < len(synthesize(letters, pace=4).samples) / RATE / 2 < 1.2
    loud, still = synthesize(letters, noise=1.0), synthesize(letters, noise=0.0)
    rest = loud.samples[: loud.spans[0][0]] * 5
    assert still.spans == loud.spans and float(rest.std()) == pytest.approx(1, abs=0.15)


def test_a_wav_file_holds_the_samples() -> None:
    sound = synthesize("WAV")
    with wave.open(io.BytesIO(sounds.wav(sound))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (RATE, 1, len(sound.samples))


def test_letters_are_read_in_capitals_without_spaces() -> None:
    assert checked(" so Na\n") == "SONA"


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "letters_blank"), (" \t", "letters_blank"), ("ABC1", "letters_other"), ("안녕", "letters_other"),
     ("😀", "letters_other"), ("ß", "letters_other"), ("A\x00", "letters_other"), ("ABCDEFGHI", "letters_many")],
)  # fmt: skip
def test_other_letters_are_refused(text: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        checked(text)
    assert refused.value.code == code


@pytest.mark.parametrize("settings", [{"pace": 1.0}, {"pace": 40.0}, {"noise": -0.1}, {"noise": 2.5}, {"pace": float("nan")}])
def test_paces_and_noises_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(Refusal, match="is allowed"):
        synthesize("A", **settings)


def test_splits_share_no_string() -> None:
    drawn = {name: set(strings(name, 200)) for name in ("train", "validation", "test")}
    assert all(split(letters) == name for name, some in drawn.items() for letters in some)
    assert {len(letters) for letters in drawn["test"]} == set(range(3, 9))
    assert strings("test", 20) == strings("test", 20) != strings("test", 20, seed=1)
