"""A webhook reaches what is public or allowed, by the address that was checked, within its time."""

from __future__ import annotations

import socket
import ssl
import subprocess
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

import pytest
from hooks import Hook, hooked

from fairtest.service.alerts.addresses import NotAllowed, is_public, look_up_name, read_url, resolve
from fairtest.service.alerts.webhook import post
from fairtest.service.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOOPBACK = (ip_network("127.0.0.0/8"),)
PRIVATE = [
    "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255",
    "224.0.0.1", "240.0.0.1", "198.18.0.1", "192.0.0.8", "192.88.99.1", "::1", "::", "fe80::1", "fd00::1", "fec0::1",
    "ff02::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::",
    "::127.0.0.1", "2001:db8::1",
]  # fmt: skip


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooked() as made:
        yield made


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    with pytest.raises(NotAllowed):
        resolve(read_url("https://name.example/"), (), lambda host, port: ["8.8.8.8", address])


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "64:ff9b::808:808"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ip_address(address))
    assert resolve(read_url("https://name.example/"), (), lambda host, port: [address]).addresses == (address,)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://2130706433:{port}/", "http://0x7f.1:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/", "http://0:{port}/", "https://127.0.0.1:{port}/",
    ],
)  # fmt: skip
def test_this_machine_is_not_reached_however_it_is_written(hook: Hook, url: str) -> None:
    outcome = post(url.format(port=hook.port), {}, b"{}")
    assert not outcome.delivered
    assert hook.got == []
    if "not found" not in outcome.reason:
        assert outcome.final
        assert "not public" in outcome.reason


def test_a_second_answer_of_the_name_server_changes_nothing(hook: Hook) -> None:
    """The name leads to an allowed address when it is looked up, and would lead elsewhere the next time."""
    answers = [["127.0.0.1"], ["10.99.99.99"]]
    outcome = post(
        f"http://rebinding.example:{hook.port}/x?y=1", {}, b"{}", LOOPBACK, look_up=lambda host, port: answers.pop(0)
    )
    assert outcome.delivered
    assert len(answers) == 1, "looked up once"
    assert hook.got[0][0]["host"] == f"rebinding.example:{hook.port}"


def test_one_private_address_among_public_ones_is_enough_to_refuse(hook: Hook) -> None:
    outcome = post(
        f"https://mixed.example:{hook.port}/", {}, b"{}", look_up=lambda host, port: ["8.8.8.8", "127.0.0.1"]
    )
    assert (outcome.delivered, outcome.final) == (False, True)


def test_plain_http_reaches_allowed_networks_only(hook: Hook) -> None:
    assert post(hook.url, {}, b"{}", LOOPBACK).delivered
    outcome = post("http://public.example/", {}, b"{}", LOOPBACK, look_up=lambda host, port: ["8.8.8.8"])
    assert "without https" in outcome.reason


def test_redirects_are_not_followed_and_the_answer_is_not_kept(hook: Hook) -> None:
    with hooked() as other:
        hook.answers, hook.headers, hook.body = [302], {"Location": other.url}, b"secret of the inside" * 1000
        outcome = post(hook.url, {}, b"{}", LOOPBACK)
        assert other.got == []
    assert outcome.reason == "The receiver answered 302; redirects are not followed."


def test_no_proxy_of_the_environment_is_used(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    with hooked() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert post(hook.url, {}, b"{}", LOOPBACK).delivered
        assert proxy.got == []


def test_a_receiver_that_drips_is_cut_off(hook: Hook) -> None:
    hook.answers = ["drip"]
    outcome = post(hook.url, {}, b"{}", LOOPBACK, within=0.3)
    assert not outcome.delivered
    assert "no answer" in outcome.reason


def test_a_closed_port_and_a_name_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "no answer" in post(f"http://127.0.0.1:{port}/", {}, b"{}", LOOPBACK).reason

    def nothing(host: str, port: int) -> list[str]:
        raise socket.gaierror("no such name")

    outcome = post("https://nobody.example/", {}, b"{}", look_up=nothing)
    assert (outcome.reason, outcome.final) == ("The name of the address was not found.", False)


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "ftp://example.com", "https://", "https://me:word@example.com/", "https://example.com:99999/",
        "https://exa mple.com/", "https://example.com/\r\nInjected: yes", "javascript:alert(1)", "https://[::1",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_with_a_sentence(url: str) -> None:
    with pytest.raises(BadRequest, match=r"must be like https://example.com/hook"):
        read_url(url)


def test_the_system_is_asked_for_names() -> None:
    assert "127.0.0.1" in look_up_name("127.0.0.1", 80)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate for hook.example, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hook.example"]
    command += ["-addext", "subjectAltName=DNS:hook.example", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())
    return both


def test_the_name_is_in_the_handshake_and_the_certificate_is_checked(certificate: Path) -> None:
    names: list[str | None] = []
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    serving.sni_callback = lambda sock, name, context: names.append(name)
    with hooked() as hook:
        hook.server.socket = serving.wrap_socket(hook.server.socket, server_side=True)
        trusting = ssl.create_default_context(cafile=str(certificate))

        def here(host: str, port: int) -> list[str]:
            return ["127.0.0.1"]

        address = f"https://hook.example:{hook.port}/"
        assert post(address, {}, b"{}", LOOPBACK, tls=trusting, look_up=here).delivered
        assert names == ["hook.example"]
        other = f"https://other.example:{hook.port}/"
        assert "certificate" in post(other, {}, b"{}", LOOPBACK, tls=trusting, look_up=here).reason
        assert "certificate" in post(address, {}, b"{}", LOOPBACK, look_up=here).reason
        assert len(hook.got) == 1
