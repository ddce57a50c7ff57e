import hmac
import socket
import struct
import threading

import pytest

from spark_collectives import _codes, _connection, _frames, _handshake, _task, errors
from spark_collectives._frames import Request
from spark_collectives.reduce_op import ReduceOp

TOO_MANY = [(1, 9, 0, 1, (1,))] * (1 << 16)


def reply(content, status=_codes.DONE):
    return struct.pack("<IB", 1 + len(content), status) + content


@pytest.fixture
def pair():
    """Create a connection, as it is after the handshake, and the JVM's end of it."""
    near, far = socket.socketpair()
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        near.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", 0, 50_000))
    connection = _connection.Connection(near)
    yield connection, far
    connection.close("the test is over")
    far.close()


def test_replies_that_arrive_together_are_read_one_by_one(pair):
    connection, far = pair
    contents = [b"", b"a", bytes(100_000), b"b" * 20, b""]
    together = b"".join(map(reply, contents))
    threading.Thread(target=far.sendall, args=(together,)).start()
    for content in contents:
        assert connection.take(10).rest() == content


def test_a_reply_that_arrives_in_pieces_is_read_completely(pair):
    connection, far = pair
    content = reply(struct.pack("<q", 77))
    for at in range(len(content)):
        far.sendall(content[at : at + 1])
    assert connection.take(10).next_long() == 77


@pytest.mark.parametrize(
    "request_, why",
    [
        ({"tag": 1 << 31}, "The tag must be from 0 to 2,147,483,647"),
        ({"outputs": TOO_MANY}, "65,535 arrays at the most, and 65,536 were given"),
        ({"inputs": TOO_MANY}, "65,535 arrays"),
        ({"peer": 1 << 40}, "range"),
    ],
)
def test_a_number_that_a_request_cannot_hold_is_refused(request_, why):
    with pytest.raises(ValueError, match=why):
        Request(12, **request_).encode()


def test_a_request_has_the_layout_of_the_protocol(pair):
    connection, far = pair
    connection.post(
        Request(
            3,
            flags=1,
            op=ReduceOp("PRODUCT", 2, 0.5),
            group=4,
            peer=5,
            tag=6,
            timeout_ms=7,
            outputs=[(1, 8, 64, 10, (10,))],
            inputs=[(2, 9, 0, 12, (3, 4)), (3, 9, 0, 1, ())],
            body=b"xyz",
        )
    )
    frame = far.recv(1000)
    assert struct.unpack_from("<IBBBBiiiqdHH", frame) == (127, 3, 1, 2, 0, 4, 5, 6, 7, 0.5, 1, 2)
    assert struct.unpack_from("<IBBxxQQ", frame, 40) == (1, 8, 1, 64, 10)
    assert struct.unpack_from("<IBBxxQQQQ", frame, 64) == (2, 9, 2, 0, 12, 3, 4)
    assert struct.unpack_from("<IBBxxQQ", frame, 104) == (3, 9, 0, 0, 1)
    assert frame[128:] == b"xyz"


def test_an_error_has_the_message_and_the_stack_of_the_jvm(pair):
    connection, far = pair
    content = b"".join(map(_frames.pack_text, ("timeout", "rank 3 is late", "stack\n")))
    content += struct.pack("<iIii", -1, 2, 3, 5)
    far.sendall(reply(content, _codes.FAILED) + reply(b""))
    with pytest.raises(errors.CollectiveTimeoutError, match="rank 3 is late") as raised:
        connection.take(10)
    assert raised.value.missing_ranks == (3, 5)
    assert raised.value.remote_traceback == "stack\n"
    assert connection.take(10).status == _codes.DONE


def test_a_wait_for_a_jvm_that_hangs_ends_with_an_error(pair):
    connection, _ = pair
    with pytest.raises(errors.BridgeError, match="hangs"):
        connection.take(0.1)
    with pytest.raises(errors.BridgeError, match="hangs"):
        connection.post(Request(1))


def test_a_request_to_a_jvm_that_reads_nothing_ends_with_an_error(pair, monkeypatch):
    connection, _ = pair
    monkeypatch.setattr(_connection, "MARGIN_SECONDS", 0.1)
    with pytest.raises(errors.BridgeError, match="has read nothing"):
        connection.post(Request(1, body=bytes(10 << 20)))


def test_a_large_request_is_sent_completely(pair):
    connection, far = pair
    body = bytes(range(256)) * 20_000
    taken = bytearray()

    def take():
        while len(taken) < 40 + len(body):
            taken.extend(far.recv(1 << 16))

    reader = threading.Thread(target=take)
    reader.start()
    connection.post(Request(1, body=body))
    reader.join(30)
    assert bytes(taken[40:]) == body


def test_the_end_of_the_jvm_ends_a_wait(pair):
    connection, far = pair
    threading.Timer(0.1, far.close).start()
    with pytest.raises(errors.BridgeError, match="it has ended"):
        connection.take(30)


def test_a_request_that_is_too_long_is_refused_and_the_connection_still_works(pair):
    connection, far = pair
    with pytest.raises(ValueError, match="at the most"):
        connection.post(Request(128, body=bytes(_frames.MAX_FRAME_BYTES)))
    far.sendall(reply(b""))
    assert connection.call(Request(1)).status == _codes.DONE


class Bridge:
    """A bridge that closes the first connections, and then completes the handshake."""

    def __init__(self, refused, secret):
        self.connections = 0
        self._refused = refused
        self._secret = secret
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                if self.connections > self._refused:
                    self._shake_hands(connection)

    def _shake_hands(self, connection):
        hello = connection.recv(36, socket.MSG_WAITALL)
        nonce = bytes(16)
        connection.sendall(
            _handshake.CHALLENGE.pack(_handshake.MAGIC, _handshake.VERSION, 0, nonce)
        )
        proof = connection.recv(32, socket.MSG_WAITALL)
        content = hello[20:] + nonce + hello
        good = proof == hmac.digest(self._secret, b"client" + content, "sha256")
        status = b"\0" if good else b"\2"
        connection.sendall(status + hmac.digest(self._secret, b"server" + content, "sha256"))

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def bridge():
    made = []

    def make(refused, secret):
        made.append(Bridge(refused, secret))
        return made[0]

    yield make
    made[0].close()


def test_a_connection_to_a_busy_jvm_is_tried_again(bridge):
    busy = bridge(3, b"secret")
    _connection.connect("127.0.0.1", busy.port, b"secret", 1).close("the test is over")
    assert busy.connections == 4


def test_a_process_that_is_refused_does_not_try_again(bridge):
    other = bridge(0, b"another secret")
    with pytest.raises(errors.BridgeError, match="refused this process"):
        _connection.connect("127.0.0.1", other.port, b"secret", 1)
    assert other.connections == 1


def test_a_connection_to_a_jvm_that_stays_busy_ends_with_an_error(bridge, monkeypatch):
    monkeypatch.setattr(_handshake, "CONNECT_SECONDS", 0.2)
    full = bridge(1_000_000, b"secret")
    with pytest.raises(errors.BridgeError, match="did not take a connection"):
        _connection.connect("127.0.0.1", full.port, b"secret", 1)
    assert full.connections > 1


def test_a_secret_that_cannot_be_read_is_an_error_of_the_bridge_that_names_its_file(tmp_path):
    class Context:
        def getLocalProperty(self, key):
            return str(tmp_path / "gone") if key == "spark.collectives.python.secretFile" else None

    with pytest.raises(errors.BridgeError, match=r"gone.*spark\.local\.dir"):
        _task._secret(Context())
