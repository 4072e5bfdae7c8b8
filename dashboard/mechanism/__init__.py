"""The chapters of the page on the mechanism, a file each, and what they share: numbers, formulas, pictures."""
