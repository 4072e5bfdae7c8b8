"""The chapters of the page on alignment, a file each, and what they share: texts to write on, and where each word looked."""
