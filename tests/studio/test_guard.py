"""Who may come in, and what a browser may do there."""

import pytest

from likewise.studio import Visitors
from tests.studio.conftest import enter

JSON = {"content-type": "application/json"}


def test_without_the_link_nothing_is_to_be_had(open_studio):
    with open_studio() as browser:
        for path in ("/", "/api/start", "/api/map", "/media/row/0", "/static/index.html", "/none"):
            assert browser.get(path).status_code == 403
        assert browser.get("/?token=guess").status_code == 403
        assert browser.get("/api/start?token=the-token").status_code == 403


def test_the_link_gives_a_cookie_that_scripts_cannot_read(open_studio):
    with open_studio() as browser:
        response = browser.get("/?token=the-token", follow_redirects=False)
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert "the-token" not in cookie
        assert browser.get("/").status_code == 200


def test_a_ticket_lets_in_whoever_comes_first_and_the_link_everybody(open_studio):
    visitors = Visitors("the-token")
    ticket = visitors.ticket()
    assert ticket != visitors.ticket()
    tokens = (ticket, ticket, "the-token", "the-token")
    with open_studio(visitors=visitors) as browser:
        answers = [browser.get(f"/?token={token}", follow_redirects=False) for token in tokens]
    assert [answer.status_code for answer in answers] == [303, 403, 303, 303]
    assert "the one that the studio printed" in answers[1].json()["error"]


def test_every_response_forbids_what_the_page_does_not_need(client):
    for path in ("/", "/api/start", "/api/none", "/media/row/0"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    assert client.get("/api/start").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:8642",
            "",
            "127.0.0.1.evil.example",
            "127.0.0.1:1@evil.example",
        ),
        *("127.0.0.1:8642/x?", "127.0.0.1/x#", "127.0.0.1:", "127.0.0.1:80:80", "[::1]x", "[::1"),
    ],
)
def test_a_host_that_is_not_on_the_list_is_refused(client, host):
    assert client.get("/api/start", headers={"host": host}).status_code == 421


def test_a_host_that_was_allowed_may_send(open_studio):
    with open_studio(hosts=("lab.example",)) as browser:
        enter(browser)
        there = {"host": "lab.example", "origin": "https://lab.example"}
        cookie = {"cookie": f"likewise={browser.cookies['likewise8642']}"}
        said = browser.post("/api/name", json={"name": "ann"}, headers={**there, **cookie})
        assert said.status_code == 200


def test_an_ipv6_address_is_allowed_as_it_is_given_to_host(open_studio):
    with open_studio(hosts=("fd00::1",)) as browser:
        assert browser.get("/api/start", headers={"host": "[fd00::1]:8642"}).status_code == 403
        assert browser.get("/api/start", headers={"host": "[fd00::2]:8642"}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
    ],
)
def test_only_a_page_of_our_own_may_write(client, headers):
    assert client.post("/api/name", json={"name": "eve"}, headers=headers).status_code == 403


def test_a_write_without_an_origin_needs_the_browsers_word(client):
    del client.headers["origin"]
    assert client.post("/api/name", json={"name": "eve"}).status_code == 403
    same = {"sec-fetch-site": "same-origin"}
    assert client.post("/api/name", json={"name": "ann"}, headers=same).status_code == 200


def test_only_json_of_a_bounded_size_is_taken(client):
    assert client.post("/api/name", data={"name": "ann"}).status_code == 415
    assert client.post("/api/name", content=b"{", headers=JSON).status_code == 400
    assert client.post("/api/name", content=b"[]", headers=JSON).status_code == 400
    assert client.post("/api/name", content=b"[" * 60_000, headers=JSON).status_code == 400
    assert client.post("/api/name", content=b" " * 70_000, headers=JSON).status_code == 413

    def endless():
        for _ in range(20):
            yield b" " * 10_000

    assert client.post("/api/name", content=endless(), headers=JSON).status_code == 413


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/static/"]
)
def test_no_other_file_is_served(client, path):
    assert client.get(path).status_code == 404


def test_an_address_that_no_page_asks_for_is_refused_in_a_line(client):
    assert client.get(f"/api/row/{'9' * 5000}").status_code == 414
    assert client.get(f"/api/row/{'9' * 500}").status_code == 404


def test_names_are_short_and_printable_and_no_formulas(client):
    for name in ("", " ", "a\nb\x00", "x" * 41, None, 7, "=1+1", " @sum(a1)", "-2", "+3"):
        assert client.post("/api/name", json={"name": name}).status_code == 400


def test_only_the_people_named_may_take_part(open_studio):
    visitors = Visitors("the-token", people=("ann",))
    with open_studio(visitors=visitors) as browser:
        enter(browser, "ann")
        assert browser.post("/api/name", json={"name": "eve"}).status_code == 400


def test_two_studios_on_one_machine_have_cookies_of_their_own(client):
    assert list(client.cookies) == ["likewise8642"]
    assert client.get("/api/start", headers={"host": "127.0.0.1:8643"}).status_code == 403
