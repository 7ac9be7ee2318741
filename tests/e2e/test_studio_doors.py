"""What comes in and what goes out of the studio: bombs of gigabytes are refused in little memory, nothing leaves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.studio.jobs import Job
from tests.studio_visitor import Visitor

pytestmark = pytest.mark.slow
GIGABYTES = 3
MEGABYTE = bytes(1 << 20)
MOST_MEMORY = 700
"""Megabytes that the process which reads an upload may take: half of it is taken by libraries alone."""


def workbook(path: Path) -> Path:
    """A workbook whose one sheet unpacks to gigabytes of spaces, and says so."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(b"") + packer.flush(zlib.Z_FINISH)
    packed = block * (GIGABYTES << 10) + last
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("xl/worksheets/sheet1.xml", packed)
        entry = file.getinfo("xl/worksheets/sheet1.xml")
        local = entry.header_offset
    content = bytearray(path.read_bytes())
    for start, method, size in ((local, 8, 22), (content.rindex(b"PK\x01\x02"), 10, 24)):
        content[start + method : start + method + 2] = zipfile.ZIP_DEFLATED.to_bytes(2, "little")
        content[start + size : start + size + 4] = (GIGABYTES << 30).to_bytes(4, "little")
    path.write_bytes(content)
    return path


def parquet(path: Path) -> Path:
    """A Parquet file of which every row group unpacks to megabytes."""
    batch = pa.table({"name": pa.array([MEGABYTE] * 32, pa.binary())})
    with pq.ParquetWriter(path, batch.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(GIGABYTES << 5):
            writer.write_table(batch)
    return path


def taken(pid: int) -> int:
    """Megabytes that a process took at most so far."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) >> 10 if found else 0


@pytest.mark.parametrize(("name", "make"), [("a.xlsx", workbook), ("a.parquet", parquet)])
def test_a_bomb_of_gigabytes_is_refused_in_little_memory(
    tmp_path: Path, name: str, make: Callable[[Path], Path]
) -> None:
    bomb = make(tmp_path / name)
    assert bomb.stat().st_size < 10 << 20
    visitor = Visitor.of(tmp_path / "studio", most_upload=1 << 28).enter()
    work = visitor.new()
    before = taken(os.getpid())
    visitor.post(f"/w/{work.id}/upload", files={"file": (name, bomb.read_bytes())})
    job, most = Job(work.job("look")), 0
    while job.under_way:
        process = visitor.studio.jobs.running.get(job.folder)
        most = max(most, 0 if process is None else taken(process.pid))
        time.sleep(0.01)
    assert job.state == "failed"
    assert "its size" in str(job.error) or "more rows" in str(job.error)
    assert 0 < most < MOST_MEMORY
    assert taken(os.getpid()) - before < 100
    assert "did not work" in visitor.get(f"/w/{work.id}/table").text


def test_an_archive_is_no_table(tmp_path: Path) -> None:
    visitor = Visitor.of(tmp_path / "studio", most_upload=1 << 28).enter()
    work = visitor.new()
    told = visitor.post(f"/w/{work.id}/upload", files={"file": ("a.zip", b"PK")}).text
    assert "its name ends with one of" in told
    assert not (work.folder / "table").exists()


JOURNEY = """
import io, sys
from pathlib import Path
import pyarrow.csv as pv
import sfumato as sf
from sfumato.studio.jobs import Job
from tests.studio_visitor import Visitor

people = io.BytesIO()
pv.write_csv(sf.datasets.load("adult").table.select(["age", "education_num", "sex", "income"]).slice(0, 300), people)
visitor = Visitor.of(Path(sys.argv[1]) / "studio", most_upload=1 << 28).enter()
work = visitor.uploaded("people.csv", people.getvalue())

def done(action, job, data=None):
    visitor.post(f"/w/{work.id}/{action}", data)
    visitor.done(Job(job()))

done("survive/clusters", lambda: work.job("clusters"))
done("privacy/feasible", lambda: work.job("feasible"))
done("run/start", lambda: work.trials[-1])
done("understand/explain", lambda: work.job("explain"))
done("understand/attack", lambda: work.job("attack"))
done("release/ask", lambda: work.job("ledger"))
done("release/release", lambda: work.job("release"), {"name": "people", "understood": "yes"})
for screen in ("table", "attributes", "trees", "survive", "privacy", "run", "compare", "understand", "release"):
    assert visitor.get(f"/w/{work.id}/{screen}").status_code == 200
assert sf.verify(work.folder / "releases" / "people").holds
"""
COUNTS = """
import re
from pathlib import Path
lines = Path("/proc/net/snmp").read_text().splitlines()
heads, figures = [line.split()[1:] for line in lines if line.startswith("Ip:")]
six = re.search(r"Ip6OutNoRoutes\\s+(\\d+)", Path("/proc/net/snmp6").read_text())
print("left:", int(dict(zip(heads, figures))["OutNoRoutes"]) + (int(six[1]) if six else 0))
"""
ASKS = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 53))"


def alone(tmp_path: Path, *scripts: str) -> str:
    """What scripts print in a network of their own that leads nowhere; its kernel counts what wanted to leave."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rn", "true"], capture_output=True).returncode:
        pytest.skip("no network of its own can be made here")
    words = " && ".join(f'"$PYTHON" -c "${name}" "$PLACE"' for name in (f"SCRIPT{at}" for at in range(len(scripts))))
    given = {f"SCRIPT{at}": script for at, script in enumerate(scripts)}
    env = {
        **os.environ,
        **given,
        "PYTHON": sys.executable,
        "PLACE": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "s"),
    }
    found = subprocess.run([unshare, "-rn", "sh", "-c", words], env=env, capture_output=True, text=True, check=True)
    return found.stdout


def test_nothing_leaves_the_machine(tmp_path: Path) -> None:
    assert alone(tmp_path, ASKS, COUNTS) == "left: 1\n"  # who wants to is seen
    assert alone(tmp_path, JOURNEY, COUNTS) == "left: 0\n"
