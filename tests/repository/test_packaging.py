"""What is shipped to run the service with: checked as far as that is possible without an engine for it."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from fairtest.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
COMPOSE = DEPLOY / "docker" / "compose.yaml"
UNIT = DEPLOY / "systemd" / "fairtest.service"


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, each with what it is given, continued lines together."""
    text = re.sub(r"\\\n\s*", " ", DOCKERFILE.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def check_command(words: list[str]) -> click.Context:
    """Parse a ``fairtest`` command as it would be, without running it; options that do not exist fail."""
    name = words[0]
    return cli.commands[name].make_context(name, words[1:])


class TestImage:
    def test_it_runs_as_nobody_in_particular(self) -> None:
        given = instructions()
        stages = [n for n, (what, _) in enumerate(given) if what == "FROM"]
        last = dict(given[stages[-1] :])
        assert last["USER"] == "10001:10001"
        assert "SIGTERM" in last["STOPSIGNAL"]
        assert [what for what, _ in given].index("USER") > max(
            n for n, (what, _) in enumerate(given) if what in {"RUN", "COPY"}
        ), "nothing is written after it"
        for what, words in given:
            if what == "FROM":
                assert re.search(r":[\w.-]+( AS |$)", words), "a version is named"
                assert ":latest" not in words
            assert what != "ADD", "COPY does nothing unexpected"
            assert not re.search(r"(PASSWORD|SECRET|KEY|TOKEN)\w*=", words), "no secret is in an image"

    def test_what_it_copies_is_there_and_let_through(self) -> None:
        let_through = {
            line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")
        }
        for what, words in instructions():
            if what == "COPY" and "--from" not in words:
                for source in words.split()[:-1]:
                    assert (ROOT / source).exists(), source
                    assert source.split("/")[0] in let_through, source
        assert not {".git", "tests"} & let_through

    def test_what_it_starts_exists(self) -> None:
        last = dict(instructions())
        entry, command = json.loads(last["ENTRYPOINT"]), json.loads(last["CMD"])
        assert entry == ["fairtest"]
        context = check_command(command)
        known = {option.envvar for option in context.command.params if isinstance(option, click.Option)}
        for name in re.findall(r"(FAIRTEST_\w+)=", last["ENV"]):
            assert name in known, name
        healthcheck = re.search(r"CMD (\[.*\])", last["HEALTHCHECK"])
        assert healthcheck is not None
        compile(json.loads(healthcheck[1])[2], "healthcheck", "exec")

    def test_the_extras_that_it_installs_exist(self) -> None:
        import tomllib

        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        (extras,) = re.findall(r'"\.\[([\w,]+)\]"', DOCKERFILE.read_text("utf-8"))
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


class TestCompose:
    @pytest.fixture
    def compose(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))
        return found

    def test_commands_and_variables_exist(self, compose: dict[str, Any]) -> None:
        from fairtest.service.store.database import PASSWORD

        for name in ("api", "worker"):
            given = compose["services"][name]
            context = check_command([str(word) for word in given["command"]])
            known = {option.envvar for option in context.command.params if isinstance(option, click.Option)}
            for variable in given["environment"]:
                assert variable in {*known, f"{PASSWORD}_FILE"}, variable

    def test_nothing_has_more_rights_than_it_needs(self, compose: dict[str, Any]) -> None:
        for name, given in compose["services"].items():
            assert given["cap_drop"] == ["ALL"], name
            assert "no-new-privileges:true" in given["security_opt"], name
            assert "privileged" not in given
            assert all("docker.sock" not in str(volume) for volume in given["volumes"])
        for name in ("api", "worker"):
            assert compose["services"][name]["read_only"] is True
        assert compose["services"]["database"]["networks"] == ["back"]
        assert compose["networks"]["back"] == {"internal": True}
        assert all(port.startswith("127.0.0.1:") for port in compose["services"]["api"]["ports"])

    def test_what_is_named_is_declared(self, compose: dict[str, Any]) -> None:
        for given in compose["services"].values():
            assert {volume.split(":")[0] for volume in given["volumes"]} <= set(compose["volumes"])
            assert set(given.get("secrets", ())) <= set(compose["secrets"])
            assert set(given["networks"]) <= set(compose["networks"])
            assert set(given.get("depends_on", ())) <= set(compose["services"])
        assert (COMPOSE.parent / compose["x-fairtest"]["build"]["context"] / "pyproject.toml").is_file()
        assert not (COMPOSE.parent / "database.password").exists(), "a password is in the repository"
        assert "deploy/docker/database.password" in (ROOT / ".gitignore").read_text("utf-8").splitlines()

    def test_it_stops_after_the_service_has(self, compose: dict[str, Any]) -> None:
        from fairtest.service.operate.supervisor import STOP_WITHIN

        grace = compose["services"]["api"]["stop_grace_period"]
        assert float(grace.removesuffix("s")) > STOP_WITHIN


class TestUnit:
    @pytest.fixture
    def unit(self) -> configparser.ConfigParser:
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        parser.optionxform = str  # type: ignore[assignment, method-assign]
        parser.read_string(UNIT.read_text("utf-8"))
        return parser

    def test_it_starts_what_exists_and_waits_for_its_end(self, unit: configparser.ConfigParser) -> None:
        from fairtest.service.operate.supervisor import STOP_WITHIN

        program, *words = shlex.split(unit["Service"]["ExecStart"])
        assert Path(program).name == "fairtest"
        context = check_command(words)
        assert context.params["behind_proxy"]
        assert context.params["host"] == "127.0.0.1"
        assert float(unit["Service"]["TimeoutStopSec"]) > STOP_WITHIN
        assert unit["Service"]["DynamicUser"] == "yes"

    def test_systemd_understands_it(self, tmp_path: Path) -> None:
        analyze = shutil.which("systemd-analyze")
        if analyze is None:
            pytest.skip("systemd-analyze is not installed")
        program = shutil.which("fairtest", path=Path(sys.executable).parent) or shutil.which("true")
        text = UNIT.read_text("utf-8").replace("/opt/fairtest/bin/fairtest", str(program))
        copy = tmp_path / "fairtest.service"
        copy.write_text(text)
        done = subprocess.run([analyze, "verify", str(copy)], capture_output=True, text=True, check=False)
        complaints = [line for line in done.stderr.splitlines() if "fairtest.service" in line]
        assert complaints == [], done.stderr
        measured = subprocess.run(
            [analyze, "security", "--offline=true", str(copy)], capture_output=True, text=True, check=False
        )
        level = re.search(r"exposure level for fairtest\.service: ([\d.]+)", measured.stdout)
        assert level is not None, measured.stderr
        assert float(level[1]) < 2.0, "what systemd calls exposed"


class TestProxy:
    def test_it_hands_on_who_asks_and_keeps_metrics_to_itself(self) -> None:
        text = (DEPLOY / "nginx" / "fairtest.conf").read_text("utf-8")
        assert text.count("{") == text.count("}")
        assert "location = /metrics { deny all; }" in text
        assert "proxy_set_header X-Forwarded-For $remote_addr;" in text, "set, so that no client chooses it"
        assert re.search(r"ssl_protocols\s+TLSv1\.2 TLSv1\.3;", text)
        from fairtest.service.ingest.reading import LARGEST_BODY

        size = re.search(r"client_max_body_size (\d+)m;", text)
        assert size is not None
        assert int(size[1]) << 20 > LARGEST_BODY

    def test_nginx_understands_it(self, tmp_path: Path) -> None:
        nginx = shutil.which("nginx")
        if nginx is None:
            pytest.skip("nginx is not installed")
        make = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=fairtest.example",
            "-days",
            "1",
        ]
        subprocess.run([*make, "-keyout", "privkey.pem", "-out", "fullchain.pem"], cwd=tmp_path, check=True,
                       capture_output=True)  # fmt: skip
        conf = (DEPLOY / "nginx" / "fairtest.conf").read_text("utf-8").replace("/etc/ssl/fairtest", str(tmp_path))
        (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{conf}\n}}\n")
        done = subprocess.run(
            [nginx, "-t", "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "error.log")],
            capture_output=True, text=True, check=False, env={**os.environ},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_commands_that_the_page_does_not_run_exist() -> None:
    """Some blocks of the page are not run, such as a service that goes on until it is stopped."""
    text = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text("utf-8")
    commands = re.findall(r"^(?:\$ |FAIRTEST_KEY=\S+ )(fairtest .*)$", text, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        check_command(shlex.split(command)[1:])
    for name in re.findall(r"`(deploy/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name


def test_the_page_lists_the_fields_of_logs_and_numbers_that_exist() -> None:
    from fairtest.service.operate.logs import ALLOWED

    text = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text("utf-8")
    listed = text.partition("## Logs")[2].partition("## Data protection")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == ALLOWED
    from fairtest.service.settings import Settings

    assert f"{Settings().rate:,.0f} requests a second" in text


def test_the_wheel_has_what_the_service_needs(tmp_path: Path) -> None:
    """Templates, styles and migrations are no Python: a wheel without them would not start."""
    from zipfile import ZipFile

    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(ZipFile(wheel).namelist())
    for path in (ROOT / "src").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT / "src").as_posix() in inside, path


def test_what_a_service_is_made_of_can_be_listed() -> None:
    """``make sbom`` and ``make audit`` look at all that a service may run with, and at nothing else."""
    import tomllib

    made = (ROOT / "Makefile").read_text("utf-8")
    listed = re.search(r"\.venv-service/bin/python -m pip install .*'\.\[([\w,]+)\]'", made)
    assert listed is not None
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(listed[1].split(",")) == {name for name in extras if name not in {"pandas", "dask"}}
    for target in ("audit", "sbom"):
        assert re.search(rf"^{target}: .venv-service/.installed .venv-supply/.installed", made, re.MULTILINE)
