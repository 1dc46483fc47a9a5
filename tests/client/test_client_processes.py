"""Forks, workers and the end of the process: nothing twice, nothing dropped silently."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from receivers import receiving, status

PREAMBLE = """
import os, sys, threading, multiprocessing
from fairtest_client import Client, sender
sender.FIRST_PAUSE = sender.LONGEST_PAUSE = 0.02
client = Client(sys.argv[1], "ftk_x", every=30, close_within=20, spool=sys.argv[2] or None)
stream = client.stream("loans")
"""
PROGRAMS = {
    "exit": ("stream.send(id=1)", [1]),
    "exit with an error": ("stream.send(id=1)\nraise SystemExit(3)", [1]),
    "a client that was forgotten": ("stream.send(id=1)\ndel client, stream\nimport gc; gc.collect()", [1]),
    "sent at exit": ("import atexit\natexit.register(lambda: stream.send(id=1))", [1]),
    "fork": (
        """
stream.send(id=1)                      # the parent's, and its thread waits for more
pid = os.fork()
stream.send(id=2 if pid else 3)
if pid == 0:
    client.close()
    os._exit(0)
os.waitpid(pid, 0)
""",
        [1, 2, 3],
    ),
    "fork while threads send": (
        """
def work():
    for i in range(2000): stream.send(id=i)
worker = threading.Thread(target=work); worker.start()
for n in range(5):
    pid = os.fork()
    if pid == 0:
        stream.send(id=10_000 + n)
        client.close()
        os._exit(0)
    os.waitpid(pid, 0)
worker.join()
""",
        [*range(2000), *range(10_000, 10_005)],
    ),
    "a worker of multiprocessing": (
        """
def work(n): stream.send(id=n)
stream.send(id=1)
context = multiprocessing.get_context("fork")
workers = [context.Process(target=work, args=(n,)) for n in (2, 3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
""",
        [1, 2, 3],
    ),
    "a spool is the parent's after a fork": (
        """
stream.send(id=1)
pid = os.fork()
if pid == 0:
    stream.send(id=2)
    client.close()
    os._exit(0)
os.waitpid(pid, 0)
""",
        [1, 2],
    ),
}


@pytest.mark.parametrize("spooled", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_everything_arrives_once(tmp_path, name, spooled):
    program, expected = PROGRAMS[name]
    with receiving() as receiver:
        receiver.faults.extend([status(503)] * 2)
        folder = str(tmp_path) if spooled else ""
        command = [sys.executable, "-c", PREAMBLE + program, receiver.url, folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == (3 if "SystemExit" in program else 0), done.stderr
        assert sorted(receiver.ids()) == expected, done.stderr
        if spooled:
            assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("lock", ".lock")] == []


def test_a_process_that_cannot_send_says_so_at_its_end():
    program = PREAMBLE.replace("close_within=20", "close_within=0.2") + "for i in range(7): stream.send(id=i)"
    with receiving() as receiver:
        receiver.always = status(503)
        command = [sys.executable, "-c", program, receiver.url, ""]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "7 records of 'loans' were not sent and are lost" in done.stderr


def test_a_refusal_at_the_end_is_said():
    with receiving() as receiver:
        receiver.always = status(422, {"title": "no such column"})
        command = [sys.executable, "-c", PREAMBLE + "stream.send(id=1)", receiver.url, ""]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "The service refused 1 records of the stream 'loans'" in done.stderr
    assert "422 no such column" in done.stderr


def test_the_child_leaves_the_parents_files_open(tmp_path):
    """A descriptor that the child closed twice would close something of the application's."""
    program = """
stream.send(id=1)
pid = os.fork()
if pid == 0:
    before = set(os.listdir("/proc/self/fd"))
    mine = os.open("/dev/null", os.O_RDONLY)
    stream.send(id=2)
    client.close()
    os.fstat(mine)
    os._exit(0)
_, code = os.waitpid(pid, 0)
assert code == 0
"""
    if not os.path.isdir("/proc/self/fd"):  # noqa: PTH112
        pytest.skip("this system has no /proc")
    with receiving() as receiver:
        command = [sys.executable, "-c", PREAMBLE + program, receiver.url, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert sorted(receiver.ids()) == [1, 2]
