"""One SparkContext a process: started when it is first needed, its jobs, its words in one line, its end."""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from threading import Thread, current_thread, main_thread
from typing import Any, BinaryIO, TypeVar, cast
from uuid import uuid4

from pooler.telling import progress
from store.errors import ArgumentError, PoolerError

Found = TypeVar("Found")

MASTER = "local[*]"
"""All processors of this machine."""
_MASTERS = re.compile(
    r"local|local\[(?P<threads>\*|[1-9][0-9]*)(?P<failures>,[1-9][0-9]*)?\]"
    r"|local-cluster\[\s*[1-9][0-9]*\s*,\s*[1-9][0-9]*\s*,\s*[1-9][0-9]*\s*\]"
    r"|spark://(?P<hosts>[^\s/,:]+:[0-9]+(?:,[^\s/,:]+:[0-9]+)*)|yarn|k8s://\S+"
)
_FAILURES = 4
"""Times a task is tried; Spark's own number, but for `local`, where it would be one."""
_CONNECT_S = 10.0
_POLL_S = 0.2
_END_S = 15.0
"""For so long Spark may put its things away."""
_MISSES = (
    ("UnsupportedClassVersionError", "this Java is too old for it", "a Java runtime, version 17 or later"),
    ("HADOOP_CONF_DIR or YARN_CONF_DIR", "YARN is not known here", "HADOOP_CONF_DIR names its settings"),
    ("No module named 'pooler", "its workers have no pooler", "install the same pooler on every worker"),
    (
        "PYTHON_VERSION_MISMATCH",
        "its workers have another Python",
        "PYSPARK_PYTHON names that of the workers",
    ),
    ("Cannot run program", "its workers have no such Python", "PYSPARK_PYTHON names that of the workers"),
    (
        "Python worker exited unexpectedly",
        f"a worker died {_FAILURES} times at the same work",
        "were they killed for want of memory? fewer of them at once need less: --master 'local[1]'",
    ),
    ("Answer from Java side is empty", "Java has ended", "was it killed for want of memory?"),
    (
        "OutOfMemoryError",
        "Java had too little memory",
        "SPARK_CONF_DIR: spark.driver.memory, 1g unless it is set",
    ),
    (
        "No space left on device",
        "a disk is full",
        "SPARK_LOCAL_DIRS names another place for what it puts aside",
    ),
)
"""Of what Spark says: some words, what they mean, and what to do."""


class _Ours:
    """The context that was started here, and what goes with it."""

    context: Any = None
    master = ""
    folder = ""
    log = ""
    is_log_named = False


def spark_context(master: str | None) -> Any:
    """Return the SparkContext of this process, or start one, on all processors of this machine unless told.

    It lasts as long as the process, so that results may come back to it. One that the caller has made is used
    as it is. `PoolerError`: there is no PySpark, no Java, or no such master.
    """
    try:
        from pyspark import SparkContext
    except ImportError as error:
        message = "pooling and measuring on Spark need the package pyspark"
        raise PoolerError(message, hint="pip install 'pooler[spark]'") from error
    there = SparkContext._active_spark_context
    if there is not None and there is not _Ours.context:
        if master not in (None, there.master):
            requirement = f"must be left out, or be `{there.master}`, that of the SparkContext there is"
            raise ArgumentError("master", requirement, master)
        return there
    master = MASTER if master is None else master
    found = _MASTERS.fullmatch(master)
    if found is None:
        requirement = "must be local, local[N], local[*], spark://HOST:PORT, yarn or k8s://..."
        raise ArgumentError("master", requirement, master)
    if there is None or _Ours.master != master:
        _check_java()
        _check_answers(master, found["hosts"])
        stop_spark()
        _start(master, found)
    return _Ours.context


def _check_java() -> None:
    """Raise `PoolerError` where there is no Java."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java" if not home else str(Path(home, "bin", "java"))) is None:
        where = f"in JAVA_HOME, {home}" if home else "on the PATH"
        message = f"Spark needs Java, and there is none {where}"
        raise PoolerError(message, hint="install a Java runtime, version 17 or later (headless is enough)")


def _check_answers(master: str, hosts: str | None) -> None:
    """Raise `PoolerError` where nobody answers: Spark itself would try for a minute."""
    reasons = []
    for name in hosts.split(",") if hosts else ():
        host, _, port = name.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
        except (OSError, OverflowError) as error:
            reasons.append(str(getattr(error, "strerror", None) or error).lower())
        else:
            return
    if reasons:
        message = f"{master}: no Spark master answers there ({reasons[0]})"
        raise PoolerError(message, hint="--master spark://HOST:PORT, as the master's own page shows it")


def _start(master: str, found: re.Match[str]) -> None:
    """Start Java and a context; what they have to say goes into a file."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    descriptor, _Ours.log = tempfile.mkstemp(prefix="pooler-spark-", suffix=".log")
    _Ours.folder = tempfile.mkdtemp(prefix="pooler-spark-")
    _Ours.master, _Ours.is_log_named = master, False
    atexit.register(stop_spark)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)  # it would show traces where Java ends
    with warnings.catch_warnings(), suppress(ImportError):
        # PySpark looks there for numpy at its first call of Java, and it doubts versions of pandas.
        warnings.simplefilter("ignore")
        import_module("pyspark.testing.utils")
    is_local = master.startswith("local")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.maxResultSize": "0",  # a pool comes back whole
        "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
        "spark.python.worker.memory": "256m",  # of a worker's tables, before it goes on on disk
        "spark.hadoop.ipc.client.connect.max.retries": "2",
        "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "2",
        "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms": "30000",
        "spark.hadoop.yarn.resourcemanager.connect.retry-interval.ms": "5000",
        "spark.hadoop.mapreduce.input.fileinputformat.list-status.num-threads": "16",
    }
    if is_local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": _Ours.folder,
        }
    told = master
    if found["failures"] is None and not master.startswith("local-") and is_local:
        told = f"local[{found['threads'] or 1},{_FAILURES}]"
    with (
        os.fdopen(descriptor, "wb") as log,
        told_in_a_line(f"Spark could not start on `{master}`"),
        _own_interrupts(),
    ):
        first = SparkConf(loadDefaults=False).setMaster(told).setAppName("pooler")
        gateway = launch_gateway(first, popen_kwargs={"stdout": log, "stderr": log, "cwd": _Ours.folder})
        SparkContext._ensure_initialized(gateway=gateway)
        conf = SparkConf()
        for name, value in settings.items():
            conf.setIfMissing(name, value)
        _Ours.context = SparkContext(conf=conf)


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep Ctrl-C as it is: PySpark would take it."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def stop_spark() -> None:
    """End the context that was started here, Java and all, if there is one."""
    if not _Ours.log:
        return
    from pyspark import SparkContext

    atexit.unregister(stop_spark)
    gateway = SparkContext._gateway
    if _Ours.context is not None:
        with suppress(Exception):  # Java may be gone
            _Ours.context.stop()
    if gateway is not None:
        with suppress(Exception):
            gateway.shutdown()
        if gateway.proc is not None:
            _end(gateway.proc)
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    shutil.rmtree(_Ours.folder, ignore_errors=True)
    if not _Ours.is_log_named:
        Path(_Ours.log).unlink(missing_ok=True)
    _Ours.context, _Ours.log = None, ""


def _end(java: Popen[bytes]) -> None:
    """End Java: it waits for the end of its input, to end its workers and itself."""
    with suppress(OSError):
        cast("BinaryIO", java.stdin).close()
    try:
        java.wait(_END_S)
    except TimeoutExpired:
        java.kill()
        java.wait()


def run_job(context: Any, job: Callable[[], Found], label: str, n_tasks: int) -> Found:
    """Have Spark do a job, and show how far it has come; `PoolerError` when it cannot.

    The job waits in a thread of its own, so that this one acts on Ctrl-C at once: Spark then drops it.
    """
    group = uuid4().hex
    outcome: list[Found] = []
    failure: list[Exception] = []

    def work() -> None:
        try:
            context.setJobGroup(group, label, interruptOnCancel=True)
            outcome.append(job())
        except Exception as error:  # noqa: BLE001 - raised by the thread that waits
            failure.append(error)

    thread = Thread(target=work, daemon=True)
    with progress(label, n_tasks) as advance, told_in_a_line("Spark could not do it"):
        thread.start()
        n_done = 0
        try:
            while thread.is_alive():
                thread.join(_POLL_S)
                n_now = min(_n_finished(context, group), n_tasks)
                advance(n_now - n_done)
                n_done = n_now
        except BaseException:
            with suppress(Exception):
                context.cancelJobGroup(group)
            raise
        if failure:
            raise failure[0]
        advance(n_tasks - n_done)
    return outcome[0]


def _n_finished(context: Any, group: str) -> int:
    """Count the finished tasks of some jobs."""
    done = 0
    with suppress(Exception):  # what fails here fails in the job, and is told there
        tracker = context.statusTracker()
        for job in tracker.getJobIdsForGroup(group):
            for stage in tracker.getJobInfo(job).stageIds:
                info = tracker.getStageInfo(stage)
                done += 0 if info is None else info.numCompletedTasks
    return done


@contextmanager
def told_in_a_line(what: str) -> Iterator[None]:
    """Tell what Spark or Java raise in one line; the rest is in the file that it names."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        why, hint = _why(error)
        if _Ours.log:
            _Ours.is_log_named = True
            hint = (
                f"{hint}; all that Spark said: {_Ours.log}" if hint else f"all that Spark said: {_Ours.log}"
            )
        message = f"{what}: {why}"
        raise PoolerError(message, hint=hint) from None


def _why(error: Exception) -> tuple[str, str | None]:
    """Say what went wrong in a few words, and what to do about it where that is known."""
    text = str(error)
    if _Ours.log and not hasattr(error, "java_exception"):  # Java ended, and only the file says why
        with suppress(OSError):
            text += Path(_Ours.log).read_text("utf-8", "replace")
    for words, meaning, hint in _MISSES:
        if words in text:
            return meaning, hint
    return java_reason(error), None


def java_reason(error: Exception) -> str:
    """Return the innermost reason of an error of Java, in one line."""
    cause = getattr(error, "java_exception", None)
    if cause is None:
        told = [line for line in str(error).splitlines() if line.strip()]
        return told[-1].strip() if told else type(error).__name__
    while cause.getCause() is not None:
        cause = cause.getCause()
    name = str(cause.getClass().getSimpleName())
    # What a task of Python raised stands at the end of its trace, before that of Java.
    lines = [line.strip() for line in str(cause.getMessage() or "").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("at ", "Driver stacktrace"))]
    if not lines:
        return name
    return lines[-1] if name == "SparkException" or name == "PythonException" else f"{name}: {lines[0]}"
