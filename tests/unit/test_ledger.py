"""The ledger: what runs spent on the same people, added up, under a lock."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.ledger import Ledger, People
from sfumato.privacy.mechanisms import Mechanisms, OpenDPNoise, SeededNoise

SCHEMA = sf.Schema(age=sf.Number(), items=sf.ItemSet())
TABLE = pa.table({"age": [3, 1, 2, 1], "items": [["a"], ["b", "c"], None, []]})


def test_runs_add_up_and_the_last_share_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state" / "ledger.jsonl")
    budget = Budget("1/3", total=1)
    people = ledger.people_of(ledger.look(TABLE), encode(TABLE, SCHEMA))
    for _ in range(3):
        ledger.reserve(people, budget, mask="private_tree")
    assert ledger.spent(people) == 1
    with pytest.raises(sf.BudgetError, match="1 spent before"):
        ledger.reserve(people, budget, mask="private_tree")
    assert ledger.spent(People.named("others")) == 0
    assert ledger.people_of(ledger.look(TABLE), encode(TABLE, SCHEMA)).called == people.called
    assert oct(ledger.path.stat().st_mode & 0o777) == "0o600"


def test_a_run_that_fails_before_it_spends_gives_its_share_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    mechanisms = Mechanisms(Spending(Budget(1)), OpenDPNoise())
    with pytest.raises(KeyError), ledger.reserved(People.named("us"), mechanisms, mask="m"):
        raise KeyError
    assert ledger.spent(People.named("us")) == 0
    with pytest.raises(sf.BudgetError, match="1/2 of 1"), ledger.reserved(People.named("us"), mechanisms, mask="m"):
        mechanisms.counts("half", pa.array([1]).to_numpy(), epsilon=Fraction(1, 2))
    assert ledger.spent(People.named("us")) == 1


def test_noise_that_repeats_is_not_entered(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    mechanisms = Mechanisms(Spending(Budget(1)), SeededNoise(0))
    with ledger.reserved(People.named("us"), mechanisms, mask="m"):
        mechanisms.counts("all", pa.array([1]).to_numpy(), epsilon=Fraction(1))
    assert ledger.entries() == ()


def test_a_damaged_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text("not an entry\n")
    with pytest.raises(sf.ReleaseError, match="every line"):
        Ledger(path).entries()


SPEND = """
import sys
from sfumato.privacy.budget import Budget, BudgetError
from sfumato.privacy.ledger import Ledger, People
won = 0
for _ in range(10):
    try:
        Ledger(sys.argv[1]).reserve(People.named("us"), Budget(1, total=7), mask="m")
        won += 1
    except BudgetError:
        pass
print(won)
"""


def test_two_processes_cannot_both_spend_the_last_share(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    runs = [
        subprocess.Popen([sys.executable, "-c", SPEND, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert sum(int(run.communicate()[0]) for run in runs) == 7
    assert Ledger(path).spent(People.named("us")) == 7
