"""Formulas with the reader's numbers in them, as LaTeX: a line for each word, short enough for a phone.

A word stands in a formula only where it is letters and digits; any other is called by its place, so that nothing typed becomes
a command.
"""

from collections.abc import Sequence

from dashboard.mechanism.numbers import short

LETTERS = 10  # of a word in a formula
HEADS = {
    "additive": r"v^\top \tanh(W h_t + U q)",
    "dot": r"h_t^\top q",
    "scaled-dot": r"h_t^\top q \,/\, \sqrt{d}",
    "general": r"h_t^\top W q",
    "cosine": r"\beta \cos(h_t, q)",
    "location": r"(W q)_t",
}


def named(words: Sequence[str]) -> list[str]:
    """The words as subscripts."""
    return [rf"\text{{{word}}}" if word.isalnum() and len(word) <= LETTERS else str(i) for i, word in enumerate(words, 1)]


def aligned(lines: Sequence[str]) -> str:
    """Lines with their & below each other."""
    return r"\begin{aligned}" + r"\\".join(lines) + r"\end{aligned}"


def bracketed(number: float) -> str:
    """A number as a factor: a negative one in brackets."""
    return f"({short(number)})" if number < 0 else short(number)


def rounded(number: float) -> str:
    """A result with two decimals, a very large one as a power of ten."""
    if abs(number) >= 1e5:
        digits, power = f"{number:.1e}".split("e")
        return rf"{digits}\cdot 10^{{{int(power)}}}"
    text = f"{number:.2f}"
    return "0.00" if text == "-0.00" else text


def vector(numbers: Sequence[float], exact: bool = True) -> str:
    """A vector in a line."""
    return "(" + r",\,".join((short if exact else rounded)(number) for number in numbers) + ")"


def product(one: Sequence[float], other: Sequence[float]) -> str:
    """A dot product written out."""
    return " + ".join(rf"{bracketed(a)}\cdot{bracketed(b)}" for a, b in zip(one, other, strict=True))


def dot_products(words: Sequence[str], query: Sequence[float], keys: Sequence[Sequence[float]], scores: Sequence[float]) -> str:
    """s = q · k for each word."""
    lines = [
        rf"s_{{{name}}} &= {product(query, key)} = {rounded(score)}"
        for name, key, score in zip(named(words), keys, scores, strict=True)
    ]
    return aligned([r"s_t &= q \cdot k_t", *lines])


def softmax(words: Sequence[str], powers: Sequence[float], weights: Sequence[float], temperature: float) -> str:
    """α = exp(s / T) / Σ for each word; `powers` are exp(s / T)."""
    total = sum(powers)
    lines = [
        rf"\alpha_{{{name}}} &= {rounded(power)} \,/\, {rounded(total)} = {rounded(weight)}"
        for name, power, weight in zip(named(words), powers, weights, strict=True)
    ]
    head = rf"\alpha_t &= \frac{{e^{{s_t/T}}}}{{\sum_j e^{{s_j/T}}}}, \quad T = {short(temperature)}"
    return aligned([head, *lines])


def weighted_sum(
    words: Sequence[str], weights: Sequence[float], values: Sequence[Sequence[float]], context: Sequence[float]
) -> str:
    """What each word adds, and the sum."""
    lines = [
        rf"\text{{+}}\; {rounded(weight)} \cdot {vector(value)} &= {vector([weight * v for v in value], exact=False)}"
        for weight, value in zip(weights, values, strict=True)
    ]
    return aligned([r"c = \sum_t \alpha_t v_t &", *lines, rf"c &= {vector(context, exact=False)}"])


def single(weights: Sequence[float], values: Sequence[float], total: float) -> str:
    """A weighted sum of single numbers, a line for each two."""
    parts = [rf"{rounded(weight)}\cdot{bracketed(value)}" for weight, value in zip(weights, values, strict=True)]
    pairs = [" + ".join(parts[start : start + 2]) for start in range(0, len(parts), 2)]
    return aligned([f"c &= {pairs[0]}", *(rf"&\quad + {pair}" for pair in pairs[1:]), f"&= {rounded(total)}"])


def by_score(
    name: str, words: Sequence[str], query: Sequence[float], keys: Sequence[Sequence[float]], scores: Sequence[float]
) -> str:
    """One of the six scores, its parameters as `core.mechanism.small` sets them, and each word's score with its numbers."""
    lines = [
        rf"s_{{{word}}} &= {inside(name, place, query, key)} = {rounded(score)}"
        for place, (word, key, score) in enumerate(zip(named(words), keys, scores, strict=True))
    ]
    return aligned([rf"s_t &= {HEADS[name]}", *(rf"&\quad {line}" for line in parameters(name, query)), *lines])


def parameters(name: str, query: Sequence[float]) -> list[str]:
    """The small parameters of a score, and what they make of the query."""
    match name:
        case "additive":
            return [r"W = 1,\; U = -\tfrac12,\; v = (1,\,3)"]
        case "scaled-dot":
            return [r"d = 2,\; \sqrt d = 1.41"]
        case "general":
            return [rf"W = \begin{{pmatrix}}0&1\\1&0\end{{pmatrix}},\; Wq = {vector(tuple(reversed(query)))}"]
        case "cosine":
            return [r"\beta = 4"]
        case "location":
            return [r"W = (0,\,0.8),\, (0,\,0.4),\, (0,\,0.2) \dots"]
    return []


def inside(name: str, place: int, query: Sequence[float], key: Sequence[float]) -> str:
    """One word's score written out."""
    swapped = tuple(reversed(query))
    match name:
        case "additive":
            first, second = (rounded(k - q / 2) for k, q in zip(key, query, strict=True))
            return rf"\tanh({first}) + 3\tanh({second})"
        case "scaled-dot":
            return rf"({product(key, query)}) / 1.41"
        case "general":
            return product(key, swapped)
        case "cosine":
            return rf"4 \cdot \cos({vector(key)}, {vector(query)})"
        case "location":
            return rf"{0.8 * 0.5**place:g} \cdot {bracketed(query[1])}"
    return product(key, query)
