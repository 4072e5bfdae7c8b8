"""The entry: `streamlit run dashboard/app.py`, from any folder.

Streamlit puts this file's folder on the path, not the repository's root: the first lines do. Everything else is in `shell`.
"""

import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

import streamlit as st

from dashboard import resources, shell

st.set_page_config(layout="wide", initial_sidebar_state="collapsed")
resources.prepare()
shell.run()
