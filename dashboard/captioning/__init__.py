"""The page on captions: scenes to compose, pictures with attention over them, words that are put to the test."""
