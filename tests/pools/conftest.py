"""The command line and the sample collection; one Spark for all tests of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a URI under which Hadoop's own viewfs shows this session's temporary files."""
    base = tmp_path_factory.getbasetemp()
    folder = tmp_path_factory.mktemp("spark")
    settings = f"spark.hadoop.fs.viewfs.mounttable.far.link./all file://{base}\n"
    (folder / "spark-defaults.conf").write_text(settings, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "SPARK_CONF_DIR", str(folder))
        yield "viewfs://far/all"


@pytest.fixture(scope="session")
def spark(hadoop: str) -> Iterator[None]:
    """Let Spark have two processors; once started, it lasts for the session."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "SPARK_MASTER", "local[2]")
        yield


@pytest.fixture
def far(hadoop: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the URI of the test's own folder."""
    return f"{hadoop}/{tmp_path.relative_to(tmp_path_factory.getbasetemp())}"
