"""What readers may begin with: dates in both languages, and sentences such as stand under pictures, all written for it."""

DATES = (  # the first in English, the second in Korean: what each language begins with
    "3rd of March 1998",
    "1998년 3월 3일",
    "the twenty-first of October 2015",
    "'98. 3. 3.",
    "Thursday, 24 December 1936",
    "서기 2024년 시월 9일",
    "Jul 4, '76",
    "1919. 3. 1.(토)",
    "SEPTEMBER THE NINTH, 2001",
    "31.12.1999",
)
SENTENCES = (
    "A man in a red jacket is walking his dog along the beach .",
    "Two children are playing football in front of a white house .",
    "A woman is reading a book on a bench in the park .",
    "A small brown dog jumps over a fallen tree .",
    "An old man with a hat is sitting at a table and drinking coffee .",
    "Three young women are dancing on a stage .",
    "A boy in a blue shirt is riding his bicycle down the street .",
    "A group of people is waiting for the train .",
    "The girl with the yellow umbrella is looking at the camera .",
    "A black cat is sleeping on a green chair .",
    "Several workers are repairing the roof of a building .",
    "A child is building a castle in the sand .",
    "A musician plays the guitar while a crowd watches him .",
    "Two dogs run through the snow .",
)
