"""The command line against what others measured on real judgements.

Expected numbers were computed by scikit-learn 1.9.1, statsmodels 0.15.0 and krippendorff 0.9.0;
they are written as measured, to four digits. A test is skipped where its data is absent.
"""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import cf_collection
from tests.helpers.run import run_inside

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
Row = dict[str, Any]


def data_path(name: str) -> Path:
    """Return the path of some of the data, or skip the test."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"these judgements are not here: {name}")
    return path


def pooler(folder: Path, *arguments: str | Path) -> Any:
    """Run a command on the collection of a folder."""
    return run_inside(*arguments, "--collection", folder / "collection.db").fine()


def measured(folder: Path, *arguments: str) -> dict[str, list[Row]]:
    """Measure agreement without intervals; return the tables by name."""
    answer = pooler(folder, "agreement", *arguments, "--resamples", "0", "--format", "json")
    tables: dict[str, list[Row]] = answer.json()
    return tables


def pair(tables: dict[str, list[Row]], first: str, second: str, level: int | None = None) -> Row:
    """Return the row of two judges at a level, or graded."""
    wanted = ({first, second}, level)
    rows = [one for one in tables["pairs"]
            if ({one["first"], one["second"]}, one["level"]) == wanted]  # fmt: skip
    assert len(rows) == 1
    return rows[0]


def check_pairs(tables: dict[str, list[Row]], expected: list[Any], *levels: int) -> None:
    """Compare kappa, linear and quadratic kappa of grades, and kappa at levels, of some pairs."""
    for first, second, *kappas in expected:
        graded = pair(tables, first, second)
        found = [graded[name] for name in ("kappa", "linear", "quadratic")]
        found += [pair(tables, first, second, level)["kappa"] for level in levels]
        assert found == [about(one) for one in kappas], (first, second)


def of_all(tables: dict[str, list[Row]], coefficient: str, level: int | None = None) -> float:
    """Return a coefficient of all judges together."""
    [value] = [row["value"] for row in tables["all_judges"]
               if (row["coefficient"], row["level"]) == (coefficient, level)]  # fmt: skip
    return float(value)


about = partial(pytest.approx, abs=5e-5)


@pytest.fixture(scope="module")
def cf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the Cystic Fibrosis collection: documents, questions, four judges."""
    folder = tmp_path_factory.mktemp("cf")
    qrels = cf_collection.write_qrels(folder)
    pooler(folder, "init", "--scale", "0-2")
    pooler(folder, "import", "topics", cf_collection.write_topics(folder))
    pooler(folder, "import", "docs", cf_collection.write_documents(folder), "--all")
    for judge, path in qrels.items():
        pooler(folder, "import", "judgements", path, "--judge", judge, "--kind", "human")
    return folder


CF_PAIRS = [
    ("REW", "colleagues", 0.4003, 0.5659, 0.7202, 0.4955, 0.6710),
    ("REW", "post-docs", 0.4736, 0.6266, 0.7639, 0.5654, 0.7146),
    ("REW", "JBW", 0.0605, 0.1662, 0.2732, -0.0537, 0.4589),
    ("colleagues", "post-docs", 0.3795, 0.5512, 0.7109, 0.5062, 0.6199),
    ("colleagues", "JBW", -0.0120, 0.0967, 0.2079, -0.1106, 0.3883),
    ("post-docs", "JBW", 0.0539, 0.1580, 0.2624, -0.0477, 0.4431),
]  # fmt: skip
"""Two judges; kappa, linear, quadratic, binary at 1 and at 2."""


def test_pairs_of_cf_judges_agree_as_measured(cf: Path) -> None:
    """Kappas of the 4,819 documents."""
    listed = measured(cf)
    check_pairs(listed, CF_PAIRS, 1, 2)
    assert {row["n"] for row in listed["pairs"]} == {4819}


def test_all_cf_judges_agree_as_measured(cf: Path) -> None:
    """Alpha and Fleiss' kappa of four judges."""
    listed = measured(cf)
    expected = {"alpha_nominal": 0.2040, "alpha_ordinal": 0.4269, "alpha_interval": 0.4792, "fleiss": 0.2040}
    for coefficient, value in expected.items():
        assert of_all(listed, coefficient) == about(value)
    assert of_all(listed, "fleiss", 1) == about(0.2035)


@pytest.mark.parametrize(
    ("rule", "relevant"),
    [
        (("1", "max"), 4819),  # any judge
        (("1", "majority", "--ties", "high", "--binary-first"), 2267),  # two of 4
        (("1", "majority", "--ties", "low", "--binary-first"), 1655),  # three
        (("1", "min"), 1188),  # all
        (("2", "max"), 1927),
        (("4", "sum"), 1544),
    ],
)
def test_rules_of_collapse_find_as_many_relevant(cf: Path, rule: tuple[str, ...], relevant: int) -> None:
    """Relevant pairs of the four judges, by rule, are as counted."""
    level, *how = rule
    pooler(cf, "qrels", "define", "official", "--aggregate", *how)
    qrels = pooler(cf, "export", "qrels", "--level", level).out.splitlines()
    assert len(qrels) == 4819
    assert sum(line.endswith(" 1") for line in qrels) == relevant


def test_cf_qrels_of_other_programs_say_how_many_went_in(cf: Path) -> None:
    """A qrels file of one judge has every grade as often as its source."""
    qrels = pooler(cf, "export", "qrels", "JBW").out.splitlines()
    counts = [sum(line.endswith(f" {grade}") for line in qrels) for grade in (0, 1, 2)]
    assert counts == [1365, 2043, 1411]


@pytest.fixture(scope="module")
def dl20(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import NIST and five model judges; those who said yes or no said grade 2 or 0."""
    folder = tmp_path_factory.mktemp("dl20")
    pooler(folder, "init", "--scale", "0-5")
    files = {
        "nist": ("qrels.dl20-passage.txt.gz", ()),
        "umbrella": ("umbrella_gpt-4_zeroshot_dl20.txt.gz", ()),
        "exam": ("qrels.max.exam_selfrate_graded_dl20.txt.gz", ()),
        "gpt4": ("binary_gpt4_dl20.txt.gz", ("--map", "1=2")),
        "gpt4o": ("binary_gpt4o_dl20.txt.gz", ("--map", "1=2")),
        "llama3.2": ("binary_llama3.2_dl20.txt.gz", ("--map", "1=2")),
    }
    for judge, (name, mapped) in files.items():
        file = data_path(f"dl20-nist-vs-llm/{name}")
        pooler(folder, "import", "judgements", file, "--judge", judge, *mapped)
    return folder


@pytest.mark.slow
def test_model_judges_agree_with_nist_as_measured(dl20: Path) -> None:
    """Judges on different scales, with documents missing, one of them mapped."""
    tables = measured(dl20, "--against", "nist", "--level", "2")
    assert pair(tables, "umbrella", "nist")["kappa"] == about(0.3254)
    assert pair(tables, "exam", "nist")["kappa"] == about(0.1407)
    at_2 = {"umbrella": (0.4266, 11_386), "exam": (0.1786, 11_386), "gpt4": (0.3512, 11_354),
            "gpt4o": (0.3665, 11_381), "llama3.2": (0.1789, 11_386)}  # fmt: skip
    for judge, (kappa, n) in at_2.items():
        row = pair(tables, judge, "nist", 2)
        assert (row["kappa"], row["n"]) == (about(kappa), n)


@pytest.fixture(scope="module")
def web_crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import 15,567 labels of 177 workers, and the reference, as one topic."""
    folder = tmp_path_factory.mktemp("web-crowd")
    crowd, truth = data_path("web-crowd/web_crowd.txt.gz"), data_path("web-crowd/web_truth.txt.gz")
    pooler(folder, "init", "--scale", "1-5")
    pooler(folder, "import", "judgements", crowd, "--columns", "docno,judge,grade", "--topic", "T")
    pooler(folder, "import", "judgements", truth, "--columns", "docno,grade", "--topic", "T",
           "--judge", "reference")  # fmt: skip
    return folder


@pytest.mark.slow
def test_a_crowd_agrees_as_measured(web_crowd: Path) -> None:
    """177 workers with few common documents: alpha of all, and kappa of three pairs."""
    workers = [str(number) for number in range(1, 178)]
    tables = measured(web_crowd, *workers, "--resamples", "0")
    assert of_all(tables, "alpha_nominal") == about(0.2104)
    assert of_all(tables, "alpha_ordinal") == about(0.3828)
    assert all(row["n"] for row in tables["pairs"])
    for first, second, n, *kappas in [
        ("1", "3", 440, 0.4895, 0.6397, 0.7471),
        ("3", "12", 405, 0.4566, 0.6207, 0.7230),
        ("3", "16", 402, 0.4743, 0.5932, 0.6600),
    ]:
        row = pair(tables, first, second)
        assert row["n"] == n
        assert [row[name] for name in ("kappa", "linear", "quadratic")] == list(map(about, kappas))


@pytest.mark.slow
def test_every_label_of_a_crowd_against_the_reference(web_crowd: Path) -> None:
    """All labels of all workers, thrown together, against one judge."""
    tables = measured(web_crowd, "--against", "reference")
    [row] = [one for one in tables["pairs"] if one["n"] == 15_539 and one["level"] is None]
    assert (row["kappa"], row["quadratic"]) == (about(0.4313), about(0.6024))


def llmjudge_files() -> dict[str, Path]:
    """Return the files of the model judges and the human, by judge."""
    scores = sorted(data_path("llmjudge/scores").glob("*.txt.gz"))
    files = {path.name.removesuffix(".txt.gz"): path for path in scores}
    return files | {"human": data_path("llmjudge/llmjudge_test_qrel_idx.txt.gz")}


@pytest.fixture(scope="module")
def llmjudge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import one human and 33 model judges from one file that names them in column 2."""
    folder = tmp_path_factory.mktemp("llmjudge")
    lines = []
    for judge, path in llmjudge_files().items():
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            topic, _, docno, grade = line.split()
            lines.append(f"{topic} {judge} {docno} {grade}\n")
    (folder / "all.qrels").write_text("".join(lines), "utf-8")
    pooler(folder, "init", "--scale", "0-3")
    pooler(folder, "import", "judgements", folder / "all.qrels", "--judge-column", "2",
           "--map", "10=3", "--map", "5=3")  # fmt: skip
    return folder


LLMJUDGE_PAIRS = [
    ("human", "willia-umbrela1", 0.2863, 0.3963, 0.5044, 0.3985),
    ("human", "h2oloo-zeroshot2", 0.2589, 0.3426, 0.4191, 0.3278),
    ("human", "RMITIR-llama70B", 0.2654, 0.3867, 0.4887, 0.3916),
    ("NISTRetrieval-instruct0", "NISTRetrieval-instruct1", 0.9965, 0.9971, 0.9979, 0.9989),
    ("h2oloo-fewself", "willia-umbrela1", 0.6487, 0.7638, 0.8561, 0.7607),
    ("Olz-gpt4o", "RMITIR-GPT4o", 0.5226, 0.6975, 0.8359, 0.8245),
    ("TREMA-nuggets", "prophet-setting4", 0.0807, 0.0900, 0.0944, 0.0602),
]
"""Two judges; kappa, linear, quadratic, binary at 2."""


@pytest.mark.slow
def test_one_human_and_33_models_agree_as_measured(llmjudge: Path) -> None:
    """34 judges on the same documents, grades off the scale mapped onto it."""
    tables = measured(llmjudge)
    check_pairs(tables, LLMJUDGE_PAIRS, 2)
    assert of_all(tables, "fleiss") == about(0.3007)
    assert of_all(tables, "fleiss", 2) == about(0.4225)
    assert of_all(tables, "alpha_nominal") == about(0.3007)
    assert of_all(tables, "alpha_ordinal") == about(0.5269)


@pytest.mark.parametrize(("judge", "docnos"), [("RMITIR-llama70B", ["p3021", "p8935"]),
                                               ("h2oloo-zeroshot2", ["p8028"])])  # fmt: skip
def test_a_grade_off_the_scale_is_refused_by_its_line(tmp_path: Path, judge: str, docnos: list[str]) -> None:
    """Every line with a grade that was not declared is named; nothing is imported."""
    path = llmjudge_files()[judge]
    pooler(tmp_path, "init", "--scale", "0-3")
    answer = run_inside("import", "judgements", path, "--judge", judge, "--collection",
                        tmp_path / "collection.db").failed(1)  # fmt: skip
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    off = [number for number, line in enumerate(lines, 1) if int(line.split()[3]) > 3]
    assert [lines[number - 1].split()[2] for number in off] == docnos
    assert all(f"{path}:{number}:" in answer.err for number in off)
    assert "--map" in answer.err
    assert not pooler(tmp_path, "export", "judgements").out
