"""The link: everything that decides what a page shows, as short codes that a lecturer can send to a class.

`lang`, `mode`, `model`, `text`, `query`, `target` and `seed` are read from the address and checked before any widget exists,
and written back as codes on every run, defaults included, so that the address in the browser always is the link to share. A
page's own keys carry its name and `_` in front (`agreement_graph`).

A `text` that begins with `sample:` names one of the project's sentences (`sample:review-03`); any other text is the reader's
own. Own texts travel in the link up to 300 characters; a longer one stays in the session, and the link then names the sample
that was chosen last. An unknown value never breaks a page: it becomes a note, which the page shows, and the default is used.

`read` and `write` are pure. `opened`, `current`, `put` and `publish` keep the link in the session: the session's link counts
unless the address was changed by hand, which shows in its differing from what was last written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode, urljoin

import streamlit as st

from core.types import Card, Note

LANGUAGES = {"en": "English", "ko": "한국어"}
MODES = ("study", "lecture")
LONGEST = 300  # characters of an own text or query that a link carries
SAMPLE = "sample:"
DEFAULT_MODELS = {"en": ("sst2/bilstm-additive", "sst2/self-attention", "sst2/minilm"), "ko": ("nsmc/bilstm-additive",)}
SEEDS = range(2**31)
WHOLE = {"lang", "mode", "model", "text"}  # what every address says that a page has written

Samples = Callable[[str], Sequence[str]]  # a model's name -> the ids of the sentences that suit it


@dataclass(frozen=True)
class Link:
    """What is shown. `sample` is the chosen sample's id; `own` is the reader's own text, None while a sample is shown.

    `target` is the label explained ("" for the predicted one). `keys` holds the pages' own keys that are set.
    """

    lang: str
    mode: str
    model: str
    sample: str = ""
    own: str | None = None
    query: str = ""
    target: str = ""
    seed: int = 0
    keys: Mapping[str, str] = field(default_factory=dict)


def read(
    codes: Mapping[str, str],
    *,
    locale: str | None,
    cards: Mapping[str, Card],
    samples: Samples,
    own_keys: Mapping[str, Sequence[str]] | None = None,
    before: Link | None = None,
) -> tuple[Link, tuple[Note, ...]]:
    """The link that the codes name, and a note for each code that could not be used.

    Codes that are missing are taken from the link `before`, else from the browser's language and the defaults. `own_keys` are
    the pages' own keys with their allowed codes, the default first; other keys are left out.
    """
    notes: list[Note] = []
    given = {**(write(before) if before else {}), **codes}
    first = "ko" if (locale or "").lower().startswith("ko") else "en"
    lang = _one_of("lang", given, tuple(LANGUAGES), first, notes)
    mode = _one_of("mode", given, MODES, MODES[0], notes)
    model = _one_of("model", given, tuple(cards), default_model(lang, cards), notes)
    labels = cards[model].task.labels if model in cards else ()
    if before and before.model != model and "target" not in codes:
        given.pop("target", None)
    target = _one_of("target", given, ("", *labels), "", notes)
    keys = {k: _one_of(k, given, allowed, allowed[0], notes) for k, allowed in (own_keys or {}).items() if k in given}
    link = Link(lang, mode, model, target=target, seed=_seed(given, notes), keys=keys)
    return _with_text(link, codes, samples(model) if model else (), before, notes), tuple(notes)


def write(link: Link, page: str | None = None) -> dict[str, str]:
    """The link as codes: language, mode, model and text always, the others where they are set; own keys of one page, or all."""
    codes = {"lang": link.lang, "mode": link.mode, "model": link.model}
    if link.own is not None and _travels(link.own) and _travels(link.query):
        codes |= {"text": link.own} | ({"query": link.query} if link.query else {})
    elif link.sample:
        codes["text"] = SAMPLE + link.sample
    codes |= {"target": link.target} if link.target else {}
    codes |= {"seed": str(link.seed)} if link.seed else {}
    prefix = f"{page.replace('-', '_')}_" if page is not None else ""
    return codes | {key: value for key, value in link.keys.items() if key.startswith(prefix)}


def carried(link: Link) -> bool:
    """Whether the link carries the text that is shown (an own text may be too long for it)."""
    return link.own is None or (_travels(link.own) and _travels(link.query))


def address(link: Link, page: str, base: str = "") -> str:
    """The link of a page as an address; `base` is the address of the server's root."""
    return urljoin(base, page) + "?" + urlencode(write(link, page))


def default_model(lang: str, cards: Mapping[str, Card]) -> str:
    """The model shown first in a language: the first of its own that is there, else of English, else any, else none."""
    wanted = (*DEFAULT_MODELS[lang], *DEFAULT_MODELS["en"], *cards)
    return next((name for name in wanted if name in cards), "")


def moved(link: Link, model: str, suits: Callable[[Link, str], bool], samples: Samples) -> Link:
    """The link with another model. An own text stays where it suits the model; a sample stays where the model has it too."""
    ids = samples(model)
    sample = link.sample if link.sample in ids else (ids[0] if ids else "")
    own = link.own if suits(link, model) else None
    return replace(link, model=model, sample=sample, own=own, query=link.query if own is not None else "", target="")


def opened(cards: Mapping[str, Card], samples: Samples, own_keys: Mapping[str, Sequence[str]]) -> Link:
    """The link of this run. What could not be used is kept, for the page to say it until something else is chosen."""
    codes, state = st.query_params.to_dict(), st.session_state
    before: Link | None = state.get("link")
    if before is None or codes != state.get("link_written"):
        locale = st.context.locale
        before = left(before, state.get("link_written", {}), codes) if before else None
        state["link"], state["link_notes"] = read(
            codes, locale=locale, cards=cards, samples=samples, own_keys=own_keys, before=before
        )
    return state["link"]


def left(before: Link, written: Mapping[str, str], codes: Mapping[str, str]) -> Link:
    """The link before, without what the address said then and a whole address no longer says: the back button leads to a
    setting's default too. An address that is typed in part, or of a page that was only walked to, takes nothing away."""
    gone = set(written) - set(codes) if set(codes) >= WHOLE else set()
    target, seed = "" if "target" in gone else before.target, 0 if "seed" in gone else before.seed
    return replace(before, target=target, seed=seed, keys={k: v for k, v in before.keys.items() if k not in gone})


def suit(cards: Mapping[str, Card], usable: Sequence[str], samples: Samples) -> None:
    """Gives a page a model that it can show where the link names another: the last one that had to give way, else the default.

    It is said where the address asks for the other one; who only walks from page to page need not be told.
    """
    now, state = current(), st.session_state
    if not usable:
        return
    if now.model in usable:
        state["link_notes"] = of_page(state["link_notes"], now, cards, usable, samples)
        return
    left = state.get("link_left", "")
    model = left if left in usable else default_model(now.lang, {name: cards[name] for name in usable})
    state["link_left"] = now.model
    alike = now.model in cards and cards[now.model].task.kind == cards[model].task.kind
    state["link"] = moved(now, model, lambda link, name: alike, samples)
    state["link_notes"] = of_page(state["link_notes"], state["link"], cards, usable, samples)
    if now.model == st.query_params.get("model") != state.get("link_written", {}).get("model"):
        sentence = f"This page cannot show {now.model}; {model} is shown. It can show {', '.join(usable)}."
        values = {"given": now.model, "used": model, "allowed": tuple(usable)}
        state["link_notes"] = (*state["link_notes"], Note("unsuited_in_link", sentence, values))


def of_page(
    notes: Sequence[Note], now: Link, cards: Mapping[str, Card], usable: Sequence[str], samples: Samples
) -> tuple[Note, ...]:
    """The notes; those on an unknown model, label or sentence with what the page shows and could show instead."""
    ids = samples(now.model)
    said: dict[object, tuple[Sequence[str], str]] = {
        "model": (usable, now.model),
        "target": (cards[now.model].task.labels, ""),
        "text": ([SAMPLE + name for name in ids[:3]] + ["…"], SAMPLE + now.sample),
    }
    return tuple(
        unknown(str(key), str(note.values["given"]), *said[key])
        if note.code == "unknown_in_link" and (key := note.values["key"]) in said
        else note
        for note in notes
    )


def publish(page: str) -> None:
    """Writes the codes of this run into the address."""
    written = write(current(), page)
    if written != st.query_params.to_dict():
        st.query_params.from_dict(written)
    st.session_state["link_written"] = written


def current() -> Link:
    """The link of this run."""
    return st.session_state["link"]


def put(**changes: Any) -> None:
    """Changes the link, for callbacks of widgets: the next run shows it. Earlier complaints about the link are done with."""
    state = st.session_state
    state["link"] = replace(state["link"], **changes)
    state["link_notes"] = ()


def _one_of(key: str, given: Mapping[str, str], allowed: Sequence[str], default: str, notes: list[Note]) -> str:
    value = given.get(key, default)
    if value in allowed:
        return value
    notes.append(unknown(key, value, [name for name in allowed if name], default))
    return default


def unknown(key: str, value: str, allowed: Sequence[str], used: str) -> Note:
    """The note on a value in the link that cannot be used."""
    sentence = f"{key}={value} in the link is not known; {used or 'the default'} is used. Allowed: {', '.join(allowed)}."
    return Note("unknown_in_link", sentence, {"key": key, "given": value, "allowed": tuple(allowed), "used": used})


def _seed(given: Mapping[str, str], notes: list[Note]) -> int:
    value = given.get("seed", "0")
    if value.isascii() and value.isdigit() and len(value) < 11 and int(value) in SEEDS:
        return int(value)
    notes.append(unknown("seed", value, [f"0 … {SEEDS[-1]}"], "0"))
    return 0


def _with_text(link: Link, codes: Mapping[str, str], ids: Sequence[str], before: Link | None, notes: list[Note]) -> Link:
    """The link with its sample or own text. An own text keeps the last sample in reserve, for links that cannot carry it."""
    reserve = before.sample if before and before.sample in ids else (ids[0] if ids else "")
    if "text" not in codes:
        return replace(link, sample=reserve, own=before.own if before else None, query=before.query if before else "")
    text, query = codes["text"], codes.get("query", "")
    if text.startswith(SAMPLE):
        sample = text.removeprefix(SAMPLE)
        if sample not in ids:
            notes.append(unknown("text", text, [SAMPLE + name for name in ids[:3]] + ["…"], SAMPLE + reserve))
        return replace(link, sample=sample if sample in ids else reserve)
    if len(text) > LONGEST or len(query) > LONGEST:
        values = {"given": max(len(text), len(query)), "allowed": LONGEST}
        notes.append(Note("long_in_link", f"A link carries at most {LONGEST} characters of text; the rest was cut.", values))
    return replace(link, sample=reserve, own=_shortened(text), query=_shortened(query))


def _shortened(text: str) -> str:
    """What a link carries of a text: its whole words, where it has more than one."""
    if len(text) <= LONGEST:
        return text
    head, _, rest = text[: LONGEST + 1].rpartition(" ")
    return head or rest[:LONGEST]


def _travels(text: str) -> bool:
    return len(text) <= LONGEST and not text.startswith(SAMPLE)
