"""Last chapter: sound to letters. Letters that the reader types are sounded as chords, and a network with attention reads them
back; where it listened for each letter lies under the spectrogram.

What is typed stays in the link under the page's own keys, as it was typed; what has no sound is refused in words.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from scipy.stats import binomtest

from core import sounds
from core.models.listener import STEP, Listener
from core.sounds import LONGEST, PACES, RATE
from core.types import Refusal
from dashboard import charts, controls, exhibits, frames, resources, shell, texts, tokens
from dashboard.alignment import sound_picture, writing
from dashboard.alignment.keys import KEYS, LONGEST_LETTERS
from dashboard.alignment.sound_picture import Heard
from dashboard.exhibits import Exhibit
from dashboard.shell import Here
from dashboard.theme import Look

MODEL, TABLE = "sounds/gru-additive", "listening"
TYPED, SLIDER = 220, 230


def heard(model: Listener, letters: str, pace: float, noise: float, seed: int) -> Heard:
    """The letters as sound, and what the model makes of it."""
    sound = sounds.synthesize(letters, pace=pace, noise=noise, seed=seed)
    spectrogram = sounds.spectrogram(sound.samples)
    run = model.written([spectrogram])
    written = "".join(model.words(run.ids[0].tolist()))
    attention = run.attention[0, : len(written)].numpy()
    prob = run.logits[0].softmax(-1).gather(-1, run.ids[0][:, None])[: len(written), 0]
    parts = sounds.frames(sound, STEP)
    inside = [float(row[part.start : part.stop].sum()) for row, part in zip(attention, parts, strict=False)]
    return Heard(
        letters,
        written,
        tuple(prob.tolist()),
        attention,
        (*inside, *[None] * (len(written) - len(inside))),
        spectrogram.numpy(),
        tuple((start / RATE, end / RATE) for start, end in sound.spans),
        len(sound.samples) / RATE,
        sounds.wav(sound),
    )


def show(here: Here) -> None:
    """The reader's letters as sound, the picture of where the model listened, and how well it reads unseen strings."""
    here = replace(here, t=texts.page("sound", here.link.lang))
    if not here.lecture:
        st.markdown(here.t("idea"))
    with shell.guarded(here):
        listened(here)
    left, right = st.columns(2, gap="medium")
    with left, shell.guarded(here):
        by_noise(here)
    with right:
        st.markdown(f"**{here.t('speech.title')}**\n\n{here.t('speech.text')}")


def listened(here: Here) -> None:
    """The controls, the sound to be played, and the picture."""
    t = here.t
    letters, pace, noise = given(here)
    found = resources.perceive(heard, MODEL, sounds.checked(letters), pace, noise, here.link.seed)
    st.audio(found.wav, format="audio/wav", width=420)
    with exhibits.figure(here, "sound", t("picture.title")) as frame:
        right = found.written == found.typed
        written = texts.plain(found.written) or t("picture.nothing")
        st.markdown(t("picture.right" if right else "picture.wrong", typed=found.typed, written=written))
        st.html(tokens.legend_html([tokens.Legend("0", t("picture.most"))]))
        alt_text = t("picture.alt", values=spoken(here, found))

        def draw(look: Look) -> Any:
            words = {name: t(f"picture.{name}") for name in ("seconds", "frequency", "weight", "power")}
            return sound_picture.picture(found, words, alt_text, look)

        table = pd.DataFrame(
            {
                "letter": list(found.written),
                "p": found.prob,
                "share": found.share,
                "peak": [(int(row.argmax()) * STEP) / RATE for row in found.attention],
            }
        )
        card = resources.perceivers_here()[MODEL]
        caption = t("picture.caption", pace=f"{pace:g}", noise=f"{noise:g}", seed=here.link.seed, model=MODEL,
                    trained=card.seed)  # fmt: skip
        own = exhibits.made_by(here, MODEL)
        exhibit = Exhibit("sound", caption, t("picture.source"), {"": table}, draw, alt_text, link=own)
        exhibits.show(here, frame, exhibit, t("picture.note"))


def given(here: Here) -> tuple[str, float, float]:
    """What is typed, the pace and the noise, from the link and its controls."""
    t, page = here.t, "alignment-sound"
    st.session_state[f"{page}-letters"] = here.key("letters")
    st.session_state[f"{page}-pace"] = int(here.key("pace"))

    def take(name: str) -> None:
        value = str(st.session_state[f"{page}-{name}"])
        writing.put_key(here, {name: value if value.strip() else " "})

    with st.container(horizontal=True, vertical_alignment="bottom", key="picker"):
        typed: dict[str, Any] = {"max_chars": LONGEST_LETTERS, "width": TYPED, "on_change": partial(take, "letters")}
        st.text_input(t("control.letters"), key=f"{page}-letters", help=t("control.help", n=LONGEST), **typed)
        st.slider(
            t("control.pace"), int(PACES[0]), int(PACES[1]), key=f"{page}-pace", width=SLIDER, on_change=partial(take, "pace")
        )
        names = {code: code for code in sorted(KEYS["noise"], key=float)}
        noise = controls.choose(here, "noise", names, t("control.noise"), help_text=t("control.noise_help"))
        controls.seed(here)
    return here.key("letters"), float(here.key("pace")), float(noise)


def spoken(here: Here, found: Heard) -> str:
    """Where the model listened for each letter, in words."""
    seconds = [tokens.number(int(row.argmax()) * STEP / RATE) for row in found.attention]
    pairs = zip(found.written, seconds, strict=True)
    return ", ".join(here.t("picture.at", letter=letter, second=second) for letter, second in pairs)


def by_noise(here: Here) -> None:
    """The share of unseen strings that are read without a mistake, and of attention within the letter, by noise."""
    t = here.t
    with exhibits.figure(here, "noise", t("noise.title")) as frame:
        table = resources.results(TABLE, MODEL)
        card = resources.perceivers_here().get(MODEL)
        if card is not None and table.attrs["provenance"]["weights_sha256"] != card.weights_sha256:
            sentence = f"The table of {TABLE} for {MODEL} was made with other weights; `make results` makes it again."
            raise Refusal("stale_results", sentence, model=MODEL)
        rows = curve(table)
        said = {"exact": t("noise.exact"), "own": t("noise.own")}
        frame_of = rows.assign(series=rows["series"].map(said))
        values = ", ".join(f"{row['series']} {row['x']:g}: {tokens.number(row['mean'])}" for row in frame_of.to_dict("records"))

        def draw(look: Look) -> Any:
            words: dict[str, Any] = {"x": t("noise.x"), "y": t("noise.y"), "alt_text": t("noise.alt", values=values)}
            return charts.line(frame_of, domain=(0.0, 1.0), look=look, **words)

        n = int(rows["n"].min())
        where = table.attrs["provenance"]
        caption = t("noise.caption", n=texts.count(n), pace=f"{where['pace']:g}", seed=where["seed"])
        shuffled = 100 * float(table.loc[table["noise"] == 0, "exact_shuffled"].mean())
        uniform = 100 * float(table.loc[table["noise"] == 0, "exact_uniform"].mean())
        note = t("noise.note", shuffled=f"{shuffled:.0f}", uniform=f"{uniform:.0f}")
        own = exhibits.made_by(here, MODEL)
        exhibits.show(here, frame, Exhibit("noise", caption, t("noise.source"), {"": frame_of}, draw, link=own), note)


def curve(table: pd.DataFrame) -> pd.DataFrame:
    """x (noise), series ("exact", "own"), mean, low, high (95 %: Wilson, bootstrap over strings), n."""
    rows: list[dict[str, Any]] = []
    for noise, part in table.groupby("noise"):
        right, n = int(part["exact"].sum()), len(part)
        interval = binomtest(right, n).proportion_ci(method="wilson")
        ends = {"mean": right / n, "low": float(interval.low), "high": float(interval.high)}
        mean, low, high = frames.mean_interval(part["own"].tolist())
        rows.append({"x": noise, "series": "exact", **ends, "n": n})
        rows.append({"x": noise, "series": "own", "mean": mean, "low": low, "high": high, "n": n})
    return pd.DataFrame(rows).sort_values(["series", "x"], ignore_index=True)
