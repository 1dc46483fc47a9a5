"""What was taken outlives the process: killed, resumed, shared, and with a disk that fails."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from receivers import KEY, receiving, status, store_then_cut, wait_until

from fairtest_client import Client, InvalidSetting, Rejected, spool
from fairtest_client.spool import Spool

SENDING = """
import sys
from fairtest_client import Client, sender
sender.FIRST_PAUSE = sender.LONGEST_PAUSE = 0.02
url, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
client = Client(url, "ftk_x", spool=folder, batch=20, every=0.01, close_within=20)
stream = client.stream("loans", truth="repaid")
for i in range(first, first + count):
    stream.send(id=i)
    print(i, flush=True)
"""


def start(url, folder, first, count):
    command = [sys.executable, "-c", SENDING, url, str(folder), str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_after(process, lines):
    """Kill a process when it has said so much, and return the last record whose ``send`` returned."""
    for _ in range(lines):
        if not process.stdout.readline():
            break
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    with process.stdout:
        return [int(line) for line in process.stdout.read().split()]


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.suffix in (".open", ".ndjson"))


def test_what_was_taken_before_kills_at_random_moments_arrives_once(tmp_path, receiver):
    """The service fails all the while; each process is killed; the last one ends in peace."""
    chance = random.Random(20)
    receiver.faults.extend(chance.choice([status(503), store_then_cut, None]) for _ in range(400))
    taken = set()
    for turn in range(8):
        process = start(receiver.url, tmp_path, 10_000 * turn, 5_000)
        lines = chance.randrange(1, 700)
        seen = [int(process.stdout.readline()) for _ in range(lines)]
        seen += kill_after(process, 0)
        taken |= set(seen)
    receiver.faults.clear()
    last = start(receiver.url, tmp_path, 900_000, 3)
    assert last.wait(60) == 0
    last.stdout.close()
    arrived = receiver.ids()
    assert len(arrived) == len(set(arrived)), "nothing twice"
    assert taken | {900_000, 900_001, 900_002} <= set(arrived), "nothing lost"
    assert len(set(arrived) - taken) <= 8 + 3, "at most the record that each killed process was taking"
    assert files(tmp_path) == []


def test_a_batch_that_was_sent_keeps_its_key_over_a_crash(tmp_path, receiver):
    receiver.always = store_then_cut
    process = start(receiver.url, tmp_path, 0, 20)
    wait_until(lambda: len(receiver.deliveries) >= 1)
    process.kill()
    process.wait(30)
    process.stdout.close()
    receiver.always = None
    keys = set(receiver.deliveries)
    with Client(receiver.url, KEY, spool=tmp_path) as client:
        client.stream("loans")
    assert set(receiver.ids()) <= set(range(20))
    assert len(receiver.ids()) == len(set(receiver.ids()))
    assert keys <= set(receiver.stored)


def test_what_close_leaves_is_sent_at_the_next_start(tmp_path, receiver, connect):
    receiver.always = status(503)
    first = connect(spool=tmp_path)
    stream = first.stream("loans", truth="repaid")
    stream.send(id=1)
    stream.truth(1, True)
    unsent = first.close(0.1)
    assert (unsent.records, unsent.lost) == (2, 0)
    receiver.always = None
    with receiving() as another:
        elsewhere = connect(url=another.url, spool=tmp_path)
        elsewhere.stream("loans")
        assert not elsewhere.close()
        assert another.requests == [], "no service gets what was meant for another"
    second = connect(spool=tmp_path)
    second.stream("others")
    assert receiver.ids() == []
    second.stream("loans")
    wait_until(lambda: receiver.ids() == [1] and len(receiver.records("truths")) == 1)
    second.close()
    assert files(tmp_path) == []


def test_two_processes_share_a_folder(tmp_path, receiver):
    receiver.always = status(503)
    processes = [start(receiver.url, tmp_path, 1000 * n, 300) for n in range(2)]
    for process in processes:
        for _ in range(300):
            process.stdout.readline()
    with (
        receiving() as other
    ):  # a third that starts takes nothing from those that live, and nothing for another service
        with Client(other.url, KEY, spool=tmp_path) as client:
            client.stream("loans")
        with Client(receiver.url, KEY, spool=tmp_path, close_within=0.0) as client:
            client.stream("loans")
        assert other.requests == []
    receiver.always = None
    assert [process.wait(60) for process in processes] == [0, 0]
    for process in processes:
        process.stdout.close()
    assert sorted(receiver.ids()) == [*range(300), *range(1000, 1300)]
    assert set(receiver.deliveries) == set(receiver.stored)


def test_only_one_of_two_takes_over(tmp_path, receiver):
    receiver.always = status(503)
    process = start(receiver.url, tmp_path, 0, 100)
    for _ in range(100):
        process.stdout.readline()
    kill_after(process, 0)
    spools = [Spool(tmp_path, "loans", receiver.url) for _ in range(2)]
    found = [sum(batch.rows for batch in one.adopt()) for one in spools]
    assert found == [100, 0]
    spools[0].release()
    assert sum(batch.rows for batch in spools[1].adopt()) == 100
    spools[1].release()


def test_a_line_that_was_cut_off_is_left_out_and_said(tmp_path, receiver, connect, caplog):
    receiver.always = status(503)
    process = start(receiver.url, tmp_path, 0, 5)
    for _ in range(5):
        process.stdout.readline()
    kill_after(process, 0)
    for path in files(tmp_path):
        target = path.rename(path.with_suffix(".open"))
        target.write_bytes(target.read_bytes() + b'{"id":99')
    receiver.always = None
    client = connect(spool=tmp_path)
    client.stream("loans")
    client.close()
    assert sorted(receiver.ids()) == list(range(5))
    assert "was cut off" in caplog.text


def test_refused_batches_are_set_aside_with_the_reason(tmp_path, receiver, connect):
    receiver.faults.append(status(422, {"title": "no such column", "errors": [{"row": 0, "column": "age"}]}))
    client = connect(spool=tmp_path)
    client.stream("loans").send(id=1, age="x")
    with pytest.raises(Rejected):
        client.close()
    (records,) = tmp_path.rglob("rejected/*.ndjson")
    (reason,) = tmp_path.rglob("rejected/*.json")
    assert json.loads(records.read_bytes()) == {"id": 1, "age": "x"}
    assert json.loads(reason.read_bytes())["errors"] == [{"row": 0, "column": "age"}]
    again = connect(spool=tmp_path)
    again.stream("loans")
    assert not again.close()
    assert len(receiver.requests) == 1


def test_nothing_is_sent_before_it_is_flushed_and_renamed(tmp_path, receiver, connect, monkeypatch):
    steps = []
    real_sync, real_rename = os.fsync, Path.rename
    monkeypatch.setattr(spool.os, "fsync", lambda descriptor: (steps.append("sync"), real_sync(descriptor)))
    monkeypatch.setattr(Path, "rename", lambda self, to: (steps.append("rename"), real_rename(self, to))[1])

    def note(receiver, request, key, body):
        steps.append("sent")
        receiver.accept(request, key, body)

    receiver.faults.append(note)
    client = connect(spool=tmp_path)
    client.stream("loans").send(id=1)
    client.close()
    assert steps == ["sync", "rename", "sync", "sent"]


def test_batches_are_flushed_while_the_service_is_away(tmp_path, receiver, connect):
    receiver.always = status(503, Retry_After="3000")
    client = connect(spool=tmp_path, batch=5)
    stream = client.stream("loans")
    stream.send(id=0)
    wait_until(lambda: receiver.requests)
    for i in range(53):
        stream.send(id=i)
    wait_until(lambda: len(list(tmp_path.rglob("*.ndjson"))) == 12)  # the last three by their age
    assert list(tmp_path.rglob("*.open")) == []


class TestDisk:
    def test_a_full_disk_is_an_error_of_send_and_the_record_is_not_taken(
        self, tmp_path, receiver, connect, monkeypatch
    ):
        client = connect(spool=tmp_path, every=30)
        stream = client.stream("loans")
        real = os.write

        def fail(descriptor, data):
            if data.startswith(b"{"):  # half of the record fits
                return real(descriptor, data[:4])
            raise OSError(errno.ENOSPC, "No space left on device")

        stream.send(id=100)
        monkeypatch.setattr(spool.os, "write", fail)
        with pytest.raises(OSError, match="No space left"):
            stream.send(id=200)
        monkeypatch.setattr(spool.os, "write", real)
        stream.send(id=300)
        monkeypatch.setattr(spool.os, "write", fail)
        with pytest.raises(OSError, match="No space left"):
            stream.send(id=400)
        client.close()
        assert sorted(receiver.ids()) == [100, 300]

    def test_a_disk_that_fails_at_the_flush_leaves_the_batch_in_memory(
        self, tmp_path, receiver, connect, monkeypatch, caplog
    ):
        def fail(descriptor):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(spool.os, "fsync", fail)
        client = connect(spool=tmp_path)
        client.stream("loans").send(id=1)
        assert not client.close()
        assert receiver.ids() == [1]
        assert "kept in memory" in caplog.text

    def test_a_file_that_somebody_removed_is_said_to_be_missing(self, tmp_path, receiver, connect):
        receiver.always = status(503)
        client = connect(spool=tmp_path)
        stream = client.stream("loans")
        stream.send(id=1)
        wait_until(lambda: list(tmp_path.rglob("*.ndjson")) and stream.counts.failed_tries)
        for path in files(tmp_path):
            path.unlink()
        with pytest.raises(Rejected, match="its file in the spool cannot be read"):
            client.close()

    def test_only_its_owner_can_read_the_folder(self, tmp_path, receiver, connect):
        receiver.always = status(503)
        client = connect(spool=tmp_path / "spool")
        client.stream("loans").send(id=1)
        for path in (tmp_path / "spool").rglob("*"):
            assert path.stat().st_mode & 0o077 == 0, path

    def test_a_file_is_no_folder(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(InvalidSetting, match="'spool' of Client must be a folder"):
            Client("http://127.0.0.1:1", KEY, spool=tmp_path / "file")


def test_a_folder_in_use_is_not_removed_by_another_that_ends(tmp_path, receiver, connect):
    receiver.always = status(503)
    one, two = connect(spool=tmp_path), connect(spool=tmp_path)
    one.stream("loans").send(id=1)
    two.stream("loans").send(id=2)
    two.close(0.0)
    time.sleep(0)
    receiver.always = None
    assert not one.close()
    three = connect(spool=tmp_path)
    three.stream("loans")
    three.close()
    assert sorted(receiver.ids()) == [1, 2]
