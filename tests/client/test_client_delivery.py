"""What is sent arrives once, whatever the service does."""

from __future__ import annotations

import logging
import threading
import time

import pytest
from receivers import KEY, cut, half_an_answer, receiving, slow, status, store_then_cut, wait_until

from fairtest_client import BufferFull, Client, Closed, NotDelivered, Rejected

FAULTS = {
    "busy": status(503),
    "busy for a while": status(503, Retry_After="0"),
    "too many": status(429, Retry_After="0"),
    "broken": status(500),
    "cut": cut,
    "stored and cut": store_then_cut,
    "half an answer": half_an_answer,
    "slow": slow(0.05),
    "somebody else answers": status(200, b"<html>Please log in</html>"),
    "a receipt of another batch": status(201, {"batch": "another", "accepted": 1}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_record_arrives_once_after_a_fault(receiver, connect, name):
    receiver.faults.extend([FAULTS[name]] * 3)
    client = connect(batch=10)
    stream = client.stream("loans")
    for i in range(35):
        stream.send(id=i, granted=i % 2 == 0)
    assert not client.close()
    assert sorted(receiver.ids()) == list(range(35))
    assert sum(receiver.deliveries.values()) >= len(receiver.stored)


def test_a_retry_has_the_same_key_and_the_same_bytes(receiver, connect):
    receiver.faults.extend([store_then_cut, store_then_cut])
    client = connect()
    client.stream("loans").send(id=1)
    client.close()
    assert list(receiver.deliveries.values()) == [3]  # the receiver compares the bytes
    assert receiver.ids() == [1]


def test_a_request_says_who_sends_what(receiver, connect):
    client = connect()
    client.stream("loans 2/3").send({"income class": "high"}, id="ü-1")
    client.close()
    ((path, headers),) = receiver.requests
    assert path == "/v1/streams/loans%202%2F3/records"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/x-ndjson"
    assert receiver.records() == [{"income class": "high", "id": "ü-1"}]


def test_truths_go_where_truths_go(receiver, connect):
    client = connect()
    stream = client.stream("loans", record_id="application", truth="repaid")
    stream.send(application="a-1", granted=True)
    stream.truth("a-1", False)
    client.close()
    assert receiver.records("truths") == [{"application": "a-1", "repaid": False}]
    assert receiver.records() == [{"application": "a-1", "granted": True}]


def test_batches_are_cut_by_number_and_by_age(receiver, connect):
    client = connect(batch=10, every=0.05)
    stream = client.stream("loans")
    for i in range(25):
        stream.send(id=i)
    wait_until(lambda: stream.counts.accepted == 25)
    assert sorted(len(rows) for _, rows in receiver.stored.values())[-2:] == [10, 10]
    wait_until(lambda: stream.counts.waiting == 0)


def test_sending_does_not_wait_for_the_network(receiver, connect):
    entered, leave = threading.Event(), threading.Event()

    def stuck(receiver, request, key, body):
        entered.set()
        leave.wait(20)
        receiver.accept(request, key, body)

    receiver.faults.append(stuck)
    client = connect(batch=1)
    stream = client.stream("loans")
    stream.send(id=0)
    assert entered.wait(20)
    for i in range(1, 1000):
        stream.send(id=i)  # would never return if it waited
    assert receiver.ids() == []
    leave.set()
    assert not client.close()
    assert len(receiver.ids()) == 1000


def test_one_connection_is_kept_and_a_stale_one_costs_no_try(receiver, connect):
    client = connect(batch=1)
    stream = client.stream("loans")
    for i in range(5):
        stream.send(id=i)
    assert stream.flush() == 0
    assert len(receiver.connections) == 1
    receiver.faults.append(cut)  # as a server that closes idle connections
    stream.send(id=5)
    assert stream.flush() == 0
    assert stream.counts.failed_tries == 0
    assert len(receiver.connections) == 2


def test_a_service_that_dies_and_comes_back_gets_everything(connect):
    with receiving() as first:
        client = connect(url=first.url, batch=5)
        stream = client.stream("loans")
        for i in range(10):
            stream.send(id=i)
        assert stream.flush() == 0
        port = first.port
        client.stream("loans")._transport.close()
    for i in range(10, 30):
        stream.send(id=i)
    wait_until(lambda: stream.counts.failed_tries > 2)
    with receiving(port) as second:
        assert not client.close()
        assert sorted(first.ids() + second.ids()) == list(range(30))


def test_retry_after_is_honoured(receiver, connect, monkeypatch):
    paused = []
    receiver.faults.extend([status(503, Retry_After="1800"), status(429, Retry_After="99999999")])
    client = connect()
    stream = client.stream("loans")
    monkeypatch.setattr(stream._buffer, "pause", lambda seconds: not paused.append(seconds))
    stream.send(id=1)
    wait_until(lambda: receiver.ids() == [1])
    assert 1800 <= paused[0] < 1801
    assert 3600 <= paused[1] < 3601, "no service may silence a client for longer than an hour"


def test_a_slow_answer_is_a_failure_and_tried_again(receiver, connect):
    receiver.faults.append(slow(1.0))
    client = connect(timeout=0.1)
    stream = client.stream("loans")
    stream.send(id=1)
    wait_until(lambda: stream.counts.accepted == 1)
    assert stream.counts.failed_tries >= 1
    assert receiver.ids() == [1]


class TestFullBuffer:
    def test_it_waits_and_then_raises_and_the_record_is_not_taken(self, receiver, connect):
        receiver.always = status(503)
        client = connect(batch=10, buffer=20, wait=0.05)
        stream = client.stream("loans")
        for i in range(20):
            stream.send(id=i)
        with pytest.raises(BufferFull, match=r"20 records wait .* The record was not taken"):
            stream.send(id=20)
        receiver.always = None
        assert not client.close()
        assert sorted(receiver.ids()) == list(range(20))

    def test_it_goes_on_when_there_is_room(self, receiver, connect):
        receiver.always = status(503)
        client = connect(batch=10, buffer=20, wait=20)
        stream = client.stream("loans")
        for i in range(20):
            stream.send(id=i)
        more = threading.Thread(target=stream.send, kwargs={"id": 20})
        more.start()
        receiver.always = None
        more.join(20)
        assert not client.close()
        assert sorted(receiver.ids()) == list(range(21))


class TestRejected:
    PROBLEM = {  # noqa: RUF012
        "type": "/problems/batch-rejected",
        "title": "1 of 2 records was not accepted; none was stored",
        "errors": [{"row": 1, "column": "age", "got": '"x"', "allowed": "integer or null"}],
    }

    def test_the_next_send_raises_with_everything_in_it(self, receiver, connect):
        receiver.faults.append(status(422, self.PROBLEM))
        client = connect(batch=2)
        stream = client.stream("loans")
        stream.send(id=1, age=3)
        stream.send(id=2, age="x")
        wait_until(lambda: stream.counts.rejected == 2)
        with pytest.raises(Rejected, match="Row 1, column 'age': got \"x\", allowed is integer or null") as caught:
            stream.send(id=3, age=4)
        (rejection,) = caught.value.rejections
        assert rejection.records == ({"id": 1, "age": 3}, {"id": 2, "age": "x"})
        assert (rejection.status, rejection.kind, rejection.stream) == (422, "records", "loans")
        stream.send(id=4, age=4)  # said once
        assert not client.close()
        assert receiver.ids() == [4]

    @pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 413, 415, 422])
    def test_no_refusal_is_tried_again(self, receiver, connect, code):
        receiver.faults.append(status(code))
        client = connect()
        client.stream("loans").send(id=1)
        with pytest.raises(Rejected, match=str(code)):
            client.close()
        assert len(receiver.requests) == 1

    def test_redirects_are_not_followed(self, receiver, connect):
        receiver.faults.append(status(307, {}, Location="https://elsewhere.example/"))
        client = connect()
        client.stream("loans").send(id=1)
        with pytest.raises(Rejected, match=r"has moved to https://elsewhere.example/"):
            client.close()
        assert len(receiver.requests) == 1

    def test_a_handler_gets_them_and_may_send(self, receiver, connect):
        receiver.faults.append(status(422, self.PROBLEM))
        seen = []

        def mend(rejection):
            seen.append(rejection)
            for record in rejection.records:
                client.stream("loans").send(record, age=0)

        client = connect(on_rejected=mend)
        client.stream("loans").send(id=1, age="x")
        wait_until(lambda: receiver.ids() == [1])
        assert [one.status for one in seen] == [422]
        assert not client.close()

    def test_a_handler_that_fails_hides_nothing(self, receiver, connect, caplog):
        receiver.faults.append(status(422, self.PROBLEM))
        client = connect(on_rejected=lambda rejection: 1 / 0)
        stream = client.stream("loans")
        stream.send(id=1)
        wait_until(lambda: stream.counts.rejected == 1 and stream._rejections)
        with pytest.raises(Rejected):
            stream.send(id=2)
        assert "on_rejected failed" in caplog.text


class TestClose:
    def test_it_says_what_is_unsent(self, receiver, connect, caplog):
        receiver.always = status(503)
        client = connect(batch=10)
        stream = client.stream("loans")
        for i in range(25):
            stream.send(id=i)
        unsent = client.close(0.2)
        assert (unsent.records, unsent.lost) == (25, 25)
        assert unsent.batches == 3
        assert "25 records of 'loans' were not sent and are lost" in caplog.text
        with pytest.raises(Closed):
            stream.send(id=1)

    def test_a_context_raises_what_is_lost(self, receiver):
        receiver.always = status(503)
        with (
            pytest.raises(NotDelivered, match="1 records were not sent"),
            Client(receiver.url, KEY, close_within=0.1) as c,
        ):
            c.stream("loans").send(id=1)

    def test_an_error_on_its_way_is_not_hidden(self, receiver):
        receiver.always = status(503)

        def work():
            with Client(receiver.url, KEY, close_within=0.1) as client:
                client.stream("loans").send(id=1)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            work()

    def test_closing_wakes_who_waits_for_room(self, receiver, connect):
        receiver.always = status(503)
        client = connect(batch=1, buffer=1, wait=20)
        stream = client.stream("loans")
        stream.send(id=1)
        raised = []

        def one_more():
            try:
                stream.send(id=2)
            except Closed as error:
                raised.append(error)

        waiting = threading.Thread(target=one_more)
        waiting.start()
        time.sleep(0.05)
        client.close(0.0)
        waiting.join(20)
        assert len(raised) == 1

    def test_twice_is_harmless(self, receiver, connect):
        client = connect()
        client.stream("loans").send(id=1)
        assert not client.close()
        assert not client.close()


def test_many_threads(receiver, connect):
    receiver.faults.extend([status(503), cut, store_then_cut] * 5)
    client = connect(batch=50, buffer=200)
    stream = client.stream("loans")

    def work(start):
        for i in range(500):
            stream.send(id=start + i)

    threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not client.close()
    assert sorted(receiver.ids()) == [1000 * n + i for n in range(8) for i in range(500)]


def test_the_log_says_trouble_once_and_holds_nothing_of_people(receiver, connect, caplog):
    caplog.set_level(logging.DEBUG, "fairtest_client")
    receiver.faults.extend([status(503)] * 4)
    client = connect()
    client.stream("loans").send(id="person-4711", name="Canary")
    client.close()
    assert [record.levelno for record in caplog.records].count(logging.WARNING) == 1
    assert "Canary" not in caplog.text
    assert "4711" not in caplog.text
    assert KEY not in caplog.text
