"""The studio's doors: what must not get in, one case each. None passes, and what is refused leaves nothing."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest
from httpx2 import Response

from sfumato.errors import SfumatoError
from sfumato.studio import guard
from sfumato.studio.desk import Desk
from sfumato.studio.screens.table import inside
from sfumato.studio.workspace import Work, Workspace
from tests.studio_visitor import HOST, ORIGIN, TOKEN, Visitor

SCRIPT = "<script>alert(1)</script>"
ROWS = "\n".join(f"{20 + at % 40},{'ab'[at % 2]},{['flu', 'gout', 'cold'][at % 3]}" for at in range(60))
PEOPLE = f'age,"sex{SCRIPT}",disease\n{ROWS}\n'.encode()


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor.of(tmp_path / "work").enter()


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Visitor, Work]:
    """A visitor whose table has been looked at; nobody changes it."""
    visitor = Visitor.of(tmp_path_factory.mktemp("stocked") / "work").enter()
    return visitor, visitor.uploaded("people.csv", PEOPLE)


@pytest.fixture
def stranger(tmp_path: Path) -> Visitor:
    return Visitor.of(tmp_path / "work")


@pytest.mark.parametrize("path", ["/", "/static/studio.css", "/w/0123456789abcdef/table", "/nothing", "/static/"])
def test_without_a_token_nothing_is_shown(stranger: Visitor, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 401
    assert "<html" not in answer.text


@pytest.mark.parametrize("given", ["", "wrong", TOKEN + "x", TOKEN[:-1], "\u0000", TOKEN.upper()])
def test_a_wrong_token_opens_nothing(stranger: Visitor, given: str) -> None:
    answer = stranger.client.get("/enter", params={"token": given})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_after_many_wrong_tokens_the_right_one_is_not_looked_at(stranger: Visitor) -> None:
    for _ in range(guard.GUESSES):
        stranger.client.get("/enter?token=wrong")
    assert stranger.client.get(f"/enter?token={TOKEN}").status_code == 403


@pytest.mark.parametrize("cookie", ["", "x", "sfumato_studio=", "sfumato_studio=chosen-by-somebody-else", "a=b; =;,"])
def test_a_session_is_never_one_that_the_browser_brings_along(stranger: Visitor, cookie: str) -> None:
    assert stranger.client.get("/", headers={"cookie": cookie}).status_code == 401


def test_a_session_that_was_planted_does_not_become_the_visitor_s(stranger: Visitor) -> None:
    planted = {"cookie": f"{guard.COOKIE}=planted"}
    answer = stranger.client.get(f"/enter?token={TOKEN}", headers=planted, follow_redirects=False)
    assert answer.status_code == 303
    assert "planted" not in answer.headers["set-cookie"]
    assert stranger.client.get("/", headers=planted).status_code == 401


def test_the_cookie_is_kept_from_scripts_and_other_sites(stranger: Visitor) -> None:
    told = stranger.client.get(f"/enter?token={TOKEN}", follow_redirects=False).headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=strict" in told


def test_an_idle_session_ends(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert visitor.get("/").status_code == 200
    monkeypatch.setattr(guard, "IDLE", -1.0)
    assert visitor.get("/").status_code == 401


@pytest.mark.slow
def test_too_many_requests_are_refused(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PACE", 0.0)
    answers = {visitor.get("/static/icon.svg").status_code for _ in range(guard.BURST + 5)}
    assert answers == {200, 429}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:9", "localhost:8000.evil.example", ""])
def test_another_host_is_refused(visitor: Visitor, host: str) -> None:
    assert visitor.client.get("/", headers={"host": host}).status_code == 403


FOREIGN = [
    {},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": f"https://{HOST}"},
    {"origin": "http://127.0.0.1:8001"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_another_page_asks_is_not_done(visitor: Visitor, headers: dict[str, str]) -> None:
    answer = visitor.client.post("/new", headers=headers)
    assert answer.status_code == 403
    assert visitor.studio.space.works() == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_unknown(visitor: Visitor, method: str) -> None:
    assert visitor.client.request(method, "/", headers={"origin": ORIGIN}).status_code == 405


WAYS = ["..%2f..%2fetc%2fpasswd", "....//", "%2e%2e", "0123456789abcdef%00", "ABCDEF0123456789", "0123456789abcdeg"]


@pytest.mark.parametrize("id", WAYS)
@pytest.mark.parametrize("place", ["/w/{}/table", "/w/{}/recipe", "/w/{}/zip/x", "/w/{}/picture/01", "/w/{}/follow/01"])
def test_a_name_in_an_address_leads_nowhere(visitor: Visitor, id: str, place: str) -> None:
    assert visitor.get(place.format(id)).status_code == 404


@pytest.mark.parametrize("rest", ["zip/%2e%2e%2fx", "picture/..%2f..", "follow/..%2f..", "static/../guard.py"])
def test_a_name_below_a_piece_of_work_leads_nowhere(visitor: Visitor, rest: str) -> None:
    assert visitor.get(f"/w/{visitor.new().id}/{rest}").status_code in (404, 401)
    assert visitor.get("/static/..%2fguard.py").status_code == 404


@pytest.mark.parametrize("given", ["../../x.csv", "/etc/x.csv", "..\\..\\x.csv", "a\0b.csv", ".csv", "C:\\x.csv"])
def test_an_upload_stays_in_its_folder(visitor: Visitor, given: str) -> None:
    work = visitor.new()
    visitor.post(f"/w/{work.id}/upload", files={"file": (given, PEOPLE)})
    outside = [path for path in work.folder.parent.parent.rglob("*.csv") if work.folder / "table" not in path.parents]
    assert outside == []
    assert len(list(work.folder.rglob("*.csv"))) == 1


@pytest.mark.parametrize("given", ["x.sh", "x.csv.exe", "x", "recipe.yaml", "x.html"])
def test_other_kinds_of_files_are_refused(visitor: Visitor, given: str) -> None:
    work = visitor.new()
    answer = visitor.post(f"/w/{work.id}/upload", files={"file": (given, PEOPLE)})
    assert "its name ends with one of" in answer.text
    assert not (work.folder / "table").exists()


def test_an_upload_that_says_it_is_too_large_is_refused_unread(visitor: Visitor) -> None:
    work = visitor.new()
    headers = {"origin": ORIGIN, "content-length": str(10 << 30), "content-type": "multipart/form-data; boundary=x"}
    assert visitor.client.post(f"/w/{work.id}/upload", content=b"", headers=headers).status_code == 413
    assert not (work.folder / "table").exists()


def test_an_upload_that_does_not_say_how_large_it_is_is_cut_off(visitor: Visitor) -> None:
    work = visitor.new()
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\n'
    endless = (part for part in (head, *(b"1,2\n" * 50_000 for _ in range(30))))
    headers = {"origin": ORIGIN, "content-type": "multipart/form-data; boundary=x"}
    answer = visitor.client.post(f"/w/{work.id}/upload", content=endless, headers=headers)
    assert answer.status_code == 413
    assert list(work.folder.rglob("*.csv")) == []


def test_a_form_that_is_too_large_is_refused(visitor: Visitor) -> None:
    work = visitor.new()
    text = "x" * (guard.MOST_BODY + 1)
    assert visitor.post(f"/w/{work.id}/recipe", {"text": text}).status_code == 413


@pytest.mark.slow
def test_a_bomb_in_a_workbook_is_refused(visitor: Visitor) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", b"0" * (60 << 20))
    work = visitor.uploaded("bomb.xlsx", packed.getvalue())
    job = Desk(visitor.studio.space, visitor.studio.jobs, work).job("look")
    assert job.state == "failed"


@pytest.mark.slow
def test_words_of_a_table_are_words_and_no_markup(stocked: tuple[Visitor, Work]) -> None:
    visitor, work = stocked
    for screen in ("table?rows=5", "attributes", "trees", "survive", "privacy", "run", "compare", "recipe"):
        text = visitor.get(f"/w/{work.id}/{screen}").text
        assert SCRIPT not in text
    assert "&lt;script&gt;" in visitor.get(f"/w/{work.id}/attributes").text


def test_every_answer_forbids_what_is_not_ours(visitor: Visitor) -> None:
    answers = [visitor.get("/"), visitor.get("/nothing"), visitor.get("/static/htmx.min.js")]
    answers.append(visitor.client.get("/", headers={"cookie": ""}))
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_page_has_script_or_style_of_its_own(stocked: tuple[Visitor, Work]) -> None:
    visitor, work = stocked
    for screen in ("table", "attributes", "trees", "survive", "privacy", "run", "compare", "understand", "release"):
        text = visitor.get(f"/w/{work.id}/{screen}").text
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick=" not in text
        assert text.count("<script") == text.count('<script src="/static/')


@pytest.mark.parametrize("given", ["", "..", "../x.csv", "/etc/passwd", "link.csv", "a\0b", "folder", "work/x.csv"])
def test_a_path_beside_the_server_stays_there(tmp_path: Path, given: str) -> None:
    beside = tmp_path / "beside"
    (beside / "folder").mkdir(parents=True)
    (tmp_path / "x.csv").write_text("a\n1\n")
    (beside / "link.csv").symlink_to(tmp_path / "x.csv")
    space = Workspace.opened(beside / "work", beside)
    (space.root / "x.csv").write_text("a\n1\n")
    desk = Desk(space, Visitor.of(space.root).studio.jobs, Work(space.root))
    with pytest.raises(SfumatoError, match="in which it was started"):
        inside(desk, given)


@pytest.mark.parametrize("table", ["/etc/passwd", "../../../other.csv", "/dev/zero"])
def test_a_recipe_names_no_file_elsewhere(stocked: tuple[Visitor, Work], table: str) -> None:
    visitor, work = stocked
    before = work.recipe_text() or ""
    text = before.replace("table/people.csv", table)
    assert "a recipe names files of its own folder" in visitor.post(f"/w/{work.id}/recipe", {"text": text}).text
    answer = visitor.post(f"/w/{work.id}/run/start")
    assert "That was not possible" in answer.text
    assert work.trials == []
    work.save_recipe(before)


def test_the_folder_is_its_owner_s_alone(stocked: tuple[Visitor, Work]) -> None:
    visitor, work = stocked
    every = [visitor.studio.space.root, *work.folder.rglob("*"), work.folder]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in every} == {0}


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SfumatoError, match="works in a folder"):
        Workspace.opened(tmp_path / "link", tmp_path)


def test_an_unforeseen_error_quotes_no_cell() -> None:
    from sfumato.studio.child import _unforeseen

    try:
        raise ValueError("Maria Muster, 4711")
    except ValueError as error:
        told = " ".join(_unforeseen(error).values())
    assert "Maria" not in told
    assert "ValueError" in told


def all_of(answer: Response) -> str:
    return f"{answer.headers} {answer.text}"


def test_the_token_is_never_repeated(visitor: Visitor) -> None:
    assert TOKEN not in all_of(visitor.get("/"))
    assert TOKEN not in all_of(visitor.client.get(f"/enter?token={TOKEN}", follow_redirects=False))
