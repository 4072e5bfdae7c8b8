"""Experiments trained on the page: to the end, and stopped half way."""

import pytest

from tests.browser.visit import Visit, complaints

LONG = 400_000  # milliseconds; alone a training takes some seconds
pytestmark = pytest.mark.timeout(900)


def test_a_deception_is_trained_while_one_watches(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    visit.open("deception", model="pronoun/average-additive", mode="lecture")
    page.get_by_role("textbox", name="First class").fill("splendid")
    page.get_by_role("textbox", name="First class").press("Enter")
    visit.rest()
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text("Model 1 of 2: Honest").wait_for(timeout=LONG)
    page.get_by_text("Model 2 of 2: Deceptive").wait_for(timeout=LONG)
    table = page.get_by_test_id("stTable").filter(has_text="Deceptive")
    table.wait_for(timeout=LONG)
    visit.rest()
    honest, hiding = (row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all())
    assert honest[0] == "Honest" and float(honest[2]) > 0.8
    assert hiding[0] == "Deceptive" and float(hiding[2]) < 0.01 and float(hiding[1].removesuffix(" %")) > 98
    page.get_by_text("splendid / rainy").wait_for()
    assert page.get_by_role("button", name="Train", exact=True).is_enabled()
    assert visit.overflow() == 0 and list(complaints(visit)) == []


def test_a_training_can_be_stopped(visit: Visit) -> None:
    visit.open("trained-adversary", model="sst2/bilstm-additive", mode="lecture")
    page = visit.page
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text("Model 1 of 2: Base, batch").wait_for(timeout=LONG)
    main = page.get_by_test_id("stMainBlockContainer")  # Streamlit's head has a button of the same name while a script runs
    main.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("The training was stopped. Finished models: 0 of 2").wait_for(timeout=LONG)
    visit.rest()
    assert main.get_by_role("button", name="Stop", exact=True).count() == 0
    assert page.get_by_role("button", name="Train", exact=True).is_enabled()
    assert list(complaints(visit)) == []
