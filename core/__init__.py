"""The argument of the dashboard, without a screen: what attention is, what it agrees with, and what happens when it
is changed.

Read in this order: `types` (the records), `interventions` (ways to change attention), `models/classifier` (embed,
encode, score, normalize, intervene, decode), `models/transformer` (the same seam in a Hugging Face classifier),
`models/decoder` (the same seam where words are written and each asks anew; `translating` trains such models), `importance`
and `agreement` (what mattered, and how far two answers agree), `explanation` (both on one input), `debate/` (one argument a
file), `attattr/` (what attention contributes inside a Transformer), `experiments` (the same over data sets).

Axes, always in this order where they meet: batch, layer, head, query, key, token, word, label, dim. A *token* is what
the model reads (a piece of a word, or start, end, padding), a *word* what the reader wrote. Symbols, in docstrings
only: x input, e embedding, h state, q query, α attention, c context, p probability.
"""
