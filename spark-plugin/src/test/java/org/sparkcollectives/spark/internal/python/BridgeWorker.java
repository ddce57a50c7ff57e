package org.sparkcollectives.spark.internal.python;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import org.sparkcollectives.DType;
import org.sparkcollectives.net.HmacSha256;

/** A worker that speaks the protocol of the bridge with nothing but sockets. */
final class BridgeWorker implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 60_000;

  private final PythonBridge.Address address;
  private final long attempt;
  private final Socket socket;
  private final DataInputStream in;

  /** Connects as a worker of a task attempt, and sends nothing. */
  BridgeWorker(PythonBridge.Address address, long attempt) throws IOException {
    this.address = address;
    this.attempt = attempt;
    socket = new Socket(address.host(), address.port());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    in = new DataInputStream(socket.getInputStream());
  }

  static ByteBuffer buffer(int bytes) {
    return ByteBuffer.wrap(new byte[bytes]).order(ByteOrder.LITTLE_ENDIAN);
  }

  static String text(ByteBuffer reply) {
    byte[] bytes = new byte[reply.getInt()];
    reply.get(bytes);
    return new String(bytes, UTF_8);
  }

  Socket socket() {
    return socket;
  }

  DataInputStream in() {
    return in;
  }

  /** Returns the first message of the handshake. */
  static byte[] hello(int version, long attempt, int purpose) {
    return buffer(BridgeHandshake.HELLO_BYTES)
        .putInt(BridgeHandshake.MAGIC)
        .putShort((short) version)
        .put((byte) purpose)
        .put((byte) 0)
        .putLong(attempt)
        .putInt(1)
        .put(new byte[BridgeHandshake.NONCE_BYTES])
        .array();
  }

  /** Shakes hands, and returns the status at the end. */
  int prove(int version, long attempt, int purpose, byte[] secret) throws IOException {
    byte[] hello = hello(version, attempt, purpose);
    socket.getOutputStream().write(hello);
    byte[] challenge = in.readNBytes(8 + BridgeHandshake.NONCE_BYTES);
    if (challenge[6] != 0) {
      return challenge[6];
    }
    socket.getOutputStream().write(proof("client", hello, challenge, secret));
    byte[] answer = in.readNBytes(1 + BridgeHandshake.PROOF_BYTES);
    if (answer[0] == 0) {
      assertThat(ByteBuffer.wrap(answer, 1, BridgeHandshake.PROOF_BYTES))
          .isEqualTo(ByteBuffer.wrap(proof("server", hello, challenge, secret)));
    }
    return answer[0];
  }

  private static byte[] proof(String who, byte[] hello, byte[] challenge, byte[] secret) {
    Mac mac = HmacSha256.under(secret);
    mac.update(who.getBytes(US_ASCII));
    mac.update(hello, BridgeHandshake.HELLO_BYTES - 16, 16);
    mac.update(challenge, 8, 16);
    mac.update(hello);
    return mac.doFinal();
  }

  /** Shakes hands with the right secret. */
  BridgeWorker proven(BridgeHandshake.Purpose purpose) throws IOException {
    byte[] secret = HexFormat.of().parseHex(address.secret());
    assertThat(prove(BridgeHandshake.VERSION, attempt, purpose.ordinal(), secret)).isZero();
    return this;
  }

  /** Makes a call without tensors, and returns the reply's status and content. */
  ByteBuffer call(int code, int flags, byte[] body) throws IOException {
    return call(code, flags, 0, body);
  }

  /** Makes a call on a group without tensors. */
  ByteBuffer call(int code, int flags, int group, byte[] body) throws IOException {
    post(code, flags, group, body);
    return take();
  }

  /** Sends a call on a group without tensors. */
  void post(int code, int flags, int group, byte[] body) throws IOException {
    post(code, flags, group, body, 0, 0, new byte[0]);
  }

  /** Sends a call with one float32 input at the beginning of a segment. */
  void post(int code, int flags, int group, byte[] body, int segment, long count)
      throws IOException {
    post(code, flags, group, body, 0, 1, place(segment, count));
  }

  /** Makes a call on the world with one float32 output at the beginning of a segment, and waits. */
  ByteBuffer callOn(int code, int segment, long... shape) throws IOException {
    post(code, 0, 0, new byte[0], 1, 0, place(segment, shape));
    return take();
  }

  private static byte[] place(int segment, long... shape) {
    long count = Arrays.stream(shape).reduce(1, (one, other) -> one * other);
    boolean flat = shape.length == 1;
    byte[] bytes = new byte[24 + (flat ? 0 : shape.length * Long.BYTES)];
    ByteBuffer place =
        ByteBuffer.wrap(bytes)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(segment)
            .put((byte) DType.FLOAT32.ordinal())
            .put((byte) shape.length)
            .putShort((short) 0)
            .putLong(0)
            .putLong(count);
    if (!flat) {
      Arrays.stream(shape).forEach(place::putLong);
    }
    return bytes;
  }

  private void post(
      int code, int flags, int group, byte[] body, int outputs, int inputs, byte[] places)
      throws IOException {
    int length = Request.HEAD_BYTES + places.length + body.length;
    byte[] frame = new byte[4 + length];
    ByteBuffer fields = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    fields.putInt(length).put((byte) code).put((byte) flags).putShort((short) 0).putInt(group);
    fields.position(4 + Request.HEAD_BYTES - 4).putShort((short) outputs).putShort((short) inputs);
    fields.put(places).put(body);
    socket.getOutputStream().write(frame);
  }

  /** Waits for the next reply. */
  ByteBuffer take() throws IOException {
    byte[] reply = in.readNBytes(Integer.reverseBytes(in.readInt()));
    return ByteBuffer.wrap(reply).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
