package org.sparkcollectives.spark.internal.python;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.function.LongFunction;
import org.sparkcollectives.net.Transcript;

/**
 * The handshake in which a Python worker and the bridge prove to each other that they have the
 * secret of a task. The proofs are those that ranks give each other, see {@link Transcript}. All
 * messages have a fixed length.
 *
 * <pre>
 *   worker                                                  bridge
 *   hello: magic u32, version u16, purpose u8, 0 u8,
 *          task attempt i64, process i32, nonce 16   ---&gt;
 *                                       &lt;---  magic u32, version u16, status u8, 0 u8, nonce 16
 *   proof 32                                         ---&gt;
 *                                       &lt;---  status u8, proof 32
 * </pre>
 */
final class BridgeHandshake {

  /** The purpose of a connection. */
  enum Purpose {
    /** Carries requests and replies of one thread. */
    CALLS,
    /** Carries nothing: its end is the end of the worker. */
    LIFE
  }

  static final int MAGIC = 0x53435059;
  static final short VERSION = 2;
  static final int HELLO_BYTES = 36;
  static final int NONCE_BYTES = 16;
  static final int PROOF_BYTES = 32;

  private static final byte OK = 0;
  private static final byte OTHER_VERSION = 1;
  private static final byte REFUSED = 2;

  private static final byte[] NO_BINDING = {};

  private BridgeHandshake() {}

  /** A worker that has proven itself, with its task. */
  record Worker(TaskBridge task, Purpose purpose, int process) {}

  /**
   * Answers a worker. Blocks for its messages as long as the stream does, which has a deadline.
   *
   * @param tasks returns the task of an attempt's number, or null
   * @throws IOException if the worker does not speak this protocol, or does not have the secret
   */
  static Worker answer(InputStream in, OutputStream out, LongFunction<TaskBridge> tasks)
      throws IOException {
    DataInputStream input = new DataInputStream(in);
    byte[] hello = new byte[HELLO_BYTES];
    input.readFully(hello);
    ByteBuffer fields = little(hello);
    if (fields.getInt() != MAGIC) {
      throw new IOException("it does not speak this protocol");
    }
    short version = fields.getShort();
    int purpose = fields.get();
    fields.get();
    long attempt = fields.getLong();
    int process = fields.getInt();
    byte[] clientNonce = new byte[NONCE_BYTES];
    fields.get(clientNonce);
    byte[] serverNonce = new byte[NONCE_BYTES];
    new SecureRandom().nextBytes(serverNonce);
    boolean known = version == VERSION && purpose >= 0 && purpose < Purpose.values().length;
    out.write(challenge(known ? OK : OTHER_VERSION, serverNonce));
    if (!known) {
      throw new IOException("it speaks version " + version + " of the protocol, not " + VERSION);
    }
    byte[] proof = new byte[PROOF_BYTES];
    input.readFully(proof);
    Transcript transcript = new Transcript(clientNonce, serverNonce, hello, NO_BINDING);
    TaskBridge task = tasks.apply(attempt);
    if (task == null || !MessageDigest.isEqual(proof, transcript.clientProof(task.secret()))) {
      out.write(answer(REFUSED, new byte[PROOF_BYTES]));
      throw new IOException("it does not have the secret of a task here");
    }
    out.write(answer(OK, transcript.serverProof(task.secret())));
    return new Worker(task, Purpose.values()[purpose], process);
  }

  private static byte[] challenge(byte status, byte[] nonce) {
    byte[] message = new byte[8 + NONCE_BYTES];
    little(message).putInt(MAGIC).putShort(VERSION).put(status).put((byte) 0).put(nonce);
    return message;
  }

  private static byte[] answer(byte status, byte[] proof) {
    return ByteBuffer.allocate(1 + PROOF_BYTES).put(status).put(proof).array();
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
