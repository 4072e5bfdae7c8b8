"""Second and third chapter: the reader's own date, letter by letter, and the reader's own sentence, word by word."""

import streamlit as st

from dashboard import shell
from dashboard.alignment import examples, writing
from dashboard.alignment.keys import LONGEST_DATE, LONGEST_SENTENCE
from dashboard.alignment.writing import Piece
from dashboard.link import LANGUAGES
from dashboard.shell import Here

BEGIN = dict(zip(LANGUAGES, examples.DATES, strict=False))
SAME = dict.fromkeys(LANGUAGES, examples.SENTENCES[0])
DATES = Piece("dates", "dates/gru-additive", "", "date", "letter", examples.DATES, BEGIN, LONGEST_DATE)
GERMAN = Piece("german", "multi30k/gru-additive", " ", "sentence", "word", examples.SENTENCES, SAME, LONGEST_SENTENCE)


def dates(here: Here) -> None:
    """A date in any of many spellings, and its ISO form."""
    _piece(here, DATES, here.link.lang)


def german(here: Here) -> None:
    """An English sentence and what the translator makes of it."""
    _piece(here, GERMAN, "en")


def _piece(here: Here, piece: Piece, language: str) -> None:
    if not here.lecture:
        st.markdown(here.t(f"{piece.name}.idea"))
    text = writing.field(here, piece)
    with shell.guarded(here):
        found = writing.written(here, piece, text)
        st.markdown(here.t(f"{piece.name}.result", text=writing.quoted(found.text)))
        writing.one_by_one(here, piece, found, language)
        writing.whole(here, piece, found)
