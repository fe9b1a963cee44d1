"""Names of the API, for editors and type checkers: `tests/api/test_stub.py --freeze`."""

from pooler import datasets as datasets
from pooler.commands.judge.assign import assign as assign
from pooler.commands.judge.status_recall import status_recall as status_recall
from pooler.commands.measure.compare import compare as compare
from pooler.commands.pool.duplicates import duplicates as duplicates
from pooler.commands.pool.pool import pool as pool
from pooler.commands.pool.pool_diff import pool_diff as pool_diff
from pooler.commands.pool.pool_drop import pool_drop as pool_drop
from pooler.commands.pool.pool_next import pool_next as pool_next
from pooler.commands.pool.replay import replay as replay
from pooler.commands.start.check import check as check
from pooler.commands.trust.diagnose import diagnose as diagnose
from pooler.commands.trust.sensitivity import sensitivity as sensitivity
from pooler.commands.trust.variation import variation as variation
from pooler.pages.report import report as report
from pooler.results.agree.aggregate import Qrels as Qrels
from pooler.results.agree.aggregate import aggregate as aggregate
from pooler.results.agree.aggregate import collapse as collapse
from pooler.results.agree.agreement import agreement as agreement
from pooler.results.agree.clusters import clusters as clusters
from pooler.results.agree.differences import compare_qrels as compare_qrels
from pooler.results.agree.order_stability import disagreement_matters as disagreement_matters
from pooler.results.agree.sharing import plan_sharing as plan_sharing
from pooler.results.audit.audit import audit as audit
from pooler.results.audit.corrected import corrected as corrected
from pooler.results.keep.verify import verify as verify
from pooler.results.look.details import details as details
from pooler.results.look.disagreements import disagreements as disagreements
from pooler.results.look.effort import effort as effort
from pooler.results.look.erasing import erasing as erasing
from pooler.results.look.history import history as history
from pooler.results.look.listing import listing as listing
from pooler.results.look.outdated import outdated as outdated
from pooler.results.look.status import status as status
from pooler.results.measures.at_rank import attainable as attainable
from pooler.results.measures.choice import choose as choose
from pooler.results.measures.curves import curves as curves
from pooler.results.measures.design import design as design
from pooler.results.measures.estimate import estimate as estimate
from pooler.results.measures.evaluate import evaluate as evaluate
from pooler.results.measures.evaluate import list_measures as list_measures
from pooler.results.paper.kishida import paper_of_kishida as paper_of_kishida
from pooler.results.paper.redone import paper as paper
from pooler.results.paper.required import ap_properties as ap_properties
from pooler.results.paper.required import required_difference as required_difference
from pooler.results.paper.required import swap_of_ranks as swap_of_ranks
from pooler.results.pool.pool import list_strategies as list_strategies
from pooler.results.reading import create_collection as create_collection
from pooler.results.reading import open_collection as open_collection
from pooler.results.reading import read_qrels as read_qrels
from pooler.results.reading import read_runs as read_runs
from pooler.results.source import source as source
from pooler.version import __version__ as __version__
from store.errors import ArgumentError as ArgumentError
from store.errors import FormatError as FormatError
from store.errors import PoolerError as PoolerError
from store.errors import StoreError as StoreError
from store.errors import UnknownNameError as UnknownNameError

__all__: list[str]

def foreign_store() -> str: ...
