"""The words of a raw text: what attention is shown over, and so what every weight, gradient and erasure belongs to.

The models were trained on sentences that the Stanford Sentiment Treebank had already split by the conventions of the
Penn Treebank, so a typed text is split the same way: clitics are words of their own ("do n't", "it 's"), punctuation
stands alone, hyphenated words and numbers stay whole. A text that is split already comes out unchanged, and splitting
twice is splitting once. One word is what a reader sees as one sign: an emoji with its skin tone, a flag, a letter
with its accents. In Korean a word is an eojeol (what stands between two spaces), its punctuation apart. Nothing is
markup: "<script>" is three words.

Case is kept, for showing; lower-casing is the vocabulary's business. Text in scripts without spaces (Thai, Japanese,
Chinese) is not segmented: a run of letters is one word.
"""

import hashlib
import unicodedata

import regex

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "\u200b": " "})
_SPACES = regex.compile(r"[\s\x1c-\x1f]")
# Joiners hold emoji and Indic letters together, tags spell the flags of regions: both are kept.
_INVISIBLE = regex.compile(r"(?![\u200c\u200d\U000E0020-\U000E007F])[\p{Cc}\p{Cs}\p{Cf}]")

_C = r"[\p{L}\p{N}\p{M}\u200c\u200d]"
# Spelt out because \X takes quadratic time over a long chain of joined emoji.
_PICTURE = r"\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}\U000E0020-\U000E007F]*"
_CLITIC = rf"(?:s|re|ve|ll|d|m)(?!{_C})"
_WORD = regex.compile(
    rf"""(?!\p{{Default_Ignorable_Code_Point}})(?:
      {_PICTURE}(?:\u200d{_PICTURE})* | \p{{Regional_Indicator}}{{2}}
    | [0-9\#*]\uFE0F?\u20E3
    | -[lr][rsc]b-
    | ''|``|\.{{2,}}|-{{2,}}|[!?]{{2,}}|~{{2,}}|\^{{2,}}|;{{2,}}
    | '{_CLITIC} | '\p{{Nd}}{{2}}s?(?!{_C}) | 'n'(?!{_C}) | '(?:n|em|til|tis|twas|cause)(?!{_C}) | ol'(?!{_C})
    | (?:\p{{L}}\.){{2,6}}(?!{_C})
    | (?=[\p{{L}}\p{{N}}])(?:{_C}|[-_](?={_C})(?!n't(?!{_C})))+?(?=n't(?!{_C}))
    | (?=[\p{{L}}\p{{N}}])(?:{_C}|[-_](?={_C})|(?<=\p{{Nd}})[.,:/](?=\p{{Nd}})|'(?!{_CLITIC})(?={_C}))+
    | \S\p{{M}}*
    )""",
    regex.VERBOSE | regex.IGNORECASE,
)


def words(text: str) -> tuple[str, ...]:
    """The words of a text in order, case kept; empty for a text without a visible character.

    `words(" ".join(words(text))) == words(text)` for every text. Splitting follows the Penn Treebank's conventions
    (Marcus, Santorini and Marcinkiewicz 1993) as far as the Stanford Sentiment Treebank shows them.
    """
    spaced = _SPACES.sub(" ", text.translate(_APOSTROPHES))
    visible = unicodedata.normalize("NFC", _INVISIBLE.sub("", spaced))
    return tuple(_BRACKETS.get(word.lower(), word) for word in _WORD.findall(visible))


def is_mark(word: str) -> bool:
    """Whether a word is punctuation or a sign of arithmetic or money; letters, digits and pictures are none."""
    return all(unicodedata.category(char)[0] == "P" or unicodedata.category(char) in ("Sm", "Sc", "Sk") for char in word)


def digest(text: str) -> int:
    """64 bits of a text's SHA-256: the same on every machine, for cuts of a data set that never move."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
