"""What the page keeps in the link besides language and mode: its keys with their codes, the default first."""

from collections.abc import Mapping, Sequence

from core.sounds import PACES
from dashboard.alignment.examples import DATES, SENTENCES
from dashboard.codes import Codes

CHAPTERS = ("memory", "dates", "german", "kinds", "moved", "sound")
LONGEST_DATE, LONGEST_SENTENCE, LONGEST_LETTERS = 60, 300, 40  # characters that are carried
STEPS = 60

KEYS: Mapping[str, Sequence[str]] = {
    "chapter": CHAPTERS,
    "date": Codes(rf"(?s).{{1,{LONGEST_DATE}}}", DATES[0]),
    "letter": ("", *map(str, range(1, STEPS + 1))),
    "sentence": Codes(rf"(?s).{{1,{LONGEST_SENTENCE}}}", SENTENCES[0]),
    "word": ("", *map(str, range(1, STEPS + 1))),
    "letters": Codes(rf"(?s).{{1,{LONGEST_LETTERS}}}", "LISTEN"),
    "pace": ("6", *(str(pace) for pace in range(int(PACES[0]), int(PACES[1]) + 1) if pace != 6)),
    "noise": ("0.5", "0", "1", "1.5", "2"),
}
