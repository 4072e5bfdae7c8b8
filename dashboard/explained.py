"""An explanation in the reader's words: a strip for each measure, and what is said beside and below the strips.

The page's texts hold the sentences; here stands which numbers go into them and how they are rounded.
"""

from collections.abc import Sequence
from math import floor, log10, sqrt

from core.explanation import Explanation, Pair
from dashboard import texts, tokens
from dashboard.texts import Texts

OTHERS = ("gradient", "leave_one_out", "integrated_gradients")
UNBROKEN = "\u00a0"  # a space at which no line ends


def strip_rows(t: Texts, found: Explanation, numbers: bool) -> list[tokens.Row]:
    """Attention, gradient, leave-one-out, integrated gradients, with what stands beside each."""
    n = len(found.words)
    note = f"{t('strips.tau')}, {t('strips.n', n=n).replace(' ', UNBROKEN)}"
    rows = [tokens.Row(t("measure.attention"), found.scores["attention"], t("strips.attention"), note=note)]
    for name in OTHERS:
        values, signed = found.signed.get(name, found.scores[name]), name in found.signed
        about = t(f"strips.{name}", label=t.label(found.target))
        beside = beside_strip(t, found.agreement[f"attention~{name}"], numbers)
        decimals = digits(values)
        rows.append(tokens.Row(t(f"measure.{name}"), values, about, signed=signed, tau=beside, decimals=decimals))
    return rows


def beside_strip(t: Texts, pair: Pair, numbers: bool) -> tokens.Tau:
    """Tau with its interval, its p and the words shared in the top k, with numbers also their tau; or that it is undefined."""
    tau, top = pair.kendall, pair.top_k
    if tau.kendall_tau is None:
        return tokens.Tau(None, text=t("strips.undefined"))
    parts = [texts.p_value(tau.p_value)] if tau.p_value is not None else []
    if top.overlap is not None:
        parts.append(t("strips.top", k=top.k, shared=round(top.overlap * top.k)))
        parts += [t("strips.top_tau", tau=tokens.number(top.tau))] if numbers else []
    kept = (part.replace(" ", UNBROKEN) for part in parts)  # a line ends between the parts
    return tokens.Tau(tau.kendall_tau, tau.low, tau.high, text=", ".join(kept))


def digits(values: Sequence[float | None]) -> int:
    """Decimals that leave the largest score two figures: scores of a confident prediction are small."""
    largest = max((abs(value) for value in values if value), default=1.0)
    return min(max(2, 1 - floor(log10(largest))), 6)


def comparison(t: Texts, found: Explanation) -> str:
    """How far gradient and leave-one-out agree with each other on this sentence."""
    tau = found.agreement["gradient~leave_one_out"].kendall
    if tau.kendall_tau is None:
        return t("strips.comparison_undefined")
    parts = [] if tau.low is None else [t("strips.between", low=tokens.number(tau.low), high=tokens.number(tau.high))]
    parts += [] if tau.p_value is None else [texts.p_value(tau.p_value)]
    around = f" ({', '.join(parts)})" if parts else ""
    return t("strips.comparison", tau=tokens.number(tau.kendall_tau), around=around)


def reading(t: Texts, n: int) -> str:
    """How tau is read on so many words: what chance alone reaches in one of twenty sentences."""
    if n < 4:
        return ""
    bound = 1.96 * sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))
    return t("strips.reading", n=n, bound=tokens.number(min(bound, 1.0)))
