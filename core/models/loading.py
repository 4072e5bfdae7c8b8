"""Loading with the Hugging Face libraries, whose bars and advice would stand where an answer or a refusal is printed."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging as library


@contextmanager
def quiet() -> Iterator[None]:
    """No bars, no warnings of heads that are new and no advice on code that is not ours, until it ends."""
    before, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity(logging.ERROR)
    library.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        library.set_verbosity(before)
        if bars:
            library.enable_progress_bar()
