"""Where the tables of experiments lie and how they are read back, with what their figures come from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core.models.checkpoints import ASSETS
from core.types import Refusal

RESULTS = ASSETS / "results"


def path_of(name: str, model: str, root: Path | None = None) -> Path:
    """Where the table of an experiment with a model is."""
    return (root or RESULTS) / name / f"{model.replace(':', '@')}.parquet"


def results(name: str, model: str, root: Path | None = None) -> pd.DataFrame:
    """The table, with its provenance in `attrs["provenance"]`. Refuses where the experiment was not run or its file is
    damaged."""
    path = path_of(name, model, root)
    if not path.exists():
        raise Refusal(
            "no_results",
            f"{name} was not run for {model}; `python -m core experiment {name} --model {model}` makes it.",
            name=name,
            model=model,
        )
    try:
        table = pq.read_table(path)
        frame = table.to_pandas()
        frame.attrs["provenance"] = json.loads(table.schema.metadata[b"provenance"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        sentence = f"The results of {name} for {model} in {path} cannot be read; `make results` makes them again."
        raise Refusal("damaged_results", sentence, name=name, model=model) from error
    return frame


def keep(frame: pd.DataFrame, path: Path, provenance: Mapping[str, Any]) -> None:
    """Writes a table with its provenance."""
    table = pa.Table.from_pandas(_small(frame), preserve_index=False)
    metadata = {**(table.schema.metadata or {}), b"provenance": json.dumps(provenance).encode()}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def _small(frame: pd.DataFrame) -> pd.DataFrame:
    """Floats in single precision, which is more than any figure shows; what is undefined everywhere is a number too."""
    return frame.astype({c: "float32" for c in frame.columns if frame[c].dtype == "float64" or frame[c].isna().all()})
