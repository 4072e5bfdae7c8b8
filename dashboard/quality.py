"""How good is the model whose attention is looked at? Said on every page: attention of a model that fails explains nothing."""

from core.types import Card
from dashboard import shell, texts
from dashboard.shell import Here

INFORMATIVE = 0.03  # how much the text must add to the accuracy


def said(here: Here) -> dict[str, str]:
    """What the chosen model's card says of its test, as it stands in sentences; percentages with one decimal."""
    card = here.card
    if card is None or "accuracy" not in card.test:
        return {}
    test = {"blank": blank_of(card), "bayes": card.test.get("naive_bayes_accuracy"), "floor": card.test.get("floor")}
    shares = {"accuracy": card.test["accuracy"], **{name: value for name, value in test.items() if value is not None}}
    values = {"model": card.name, "n": texts.count(card.test["n"]), "seed": str(card.seed)}
    return values | {name: f"{100 * value:.1f}" for name, value in shares.items()}


def blank_of(card: Card) -> float | None:
    """The test accuracy without what attention reads, for tasks that have a query."""
    return next((value for name, value in card.test.items() if name.startswith("accuracy_blank")), None)


def line(here: Here) -> str:
    """One line on how good the model is, and what it scores without its text or what single words alone reach."""
    values, card = said(here), here.card
    if card is None or not values:
        return ""
    parts = [here.t("quality.line", **values)]
    if "bayes" in values and card.test["accuracy"] <= card.test["naive_bayes_accuracy"]:
        parts.append(here.t("quality.bayes", **values))
    if "blank" in values:
        parts.append(here.t(f"quality.blank_{card.task.kind}", **values))
    return " ".join(parts)


def show(here: Here) -> None:
    """Warns of a model below its floor, and of one that does nearly as well without the text that its attention reads."""
    values, card = said(here), here.card
    if card is None or not values:
        return
    accuracy, blank = card.test["accuracy"], blank_of(card)
    warnings = [here.t("quality.floor", **values)] if accuracy < card.test.get("floor", 0) else []
    if blank is not None and accuracy - blank < INFORMATIVE:
        warnings.append(here.t(f"quality.gap_{card.task.kind}", **values))
    if warnings:
        shell.warn(warnings)
