"""Prints the ratios that the benchmarks measure under the table of times."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    session = getattr(config, "_benchmarksession", None)
    for bench in session.benchmarks if session else ():
        for what, value in bench.extra_info.items():
            terminalreporter.write_line(f"{bench.name}: {what}: {value:.3g}")
