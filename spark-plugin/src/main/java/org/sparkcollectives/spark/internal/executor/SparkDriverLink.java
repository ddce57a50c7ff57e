package org.sparkcollectives.spark.internal.executor;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointNotFoundException;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcTimeout;
import org.apache.spark.storage.BlockId;
import org.apache.spark.util.RpcUtils;
import org.apache.spark.util.ThreadUtils;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.sparkcollectives.spark.internal.protocol.BlockIds;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.protocol.ValueReference;
import org.sparkcollectives.spi.failure.Causes;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;
import scala.Option;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Messages over Spark's own RPC, and large values by Spark's own block transfer. */
final class SparkDriverLink implements DriverLink {

  /** The store has its own deadlines. Spark's would only end a watch that waits for long. */
  private static final RpcTimeout NO_TIMEOUT =
      new RpcTimeout(new FiniteDuration(365, TimeUnit.DAYS), "spark.collectives.store.timeout");

  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.apply(Object.class);

  private final SparkEnv env;
  private final RpcEndpointRef driver;

  private SparkDriverLink(SparkEnv env, RpcEndpointRef driver) {
    this.env = env;
    this.driver = driver;
  }

  /** Finds the driver's store, or returns null if there is none. Blocks for a round trip. */
  static SparkDriverLink find(SparkEnv env) {
    try {
      return new SparkDriverLink(
          env, RpcUtils.makeDriverRef(StoreMessages.ENDPOINT, env.conf(), env.rpcEnv()));
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) { // makeDriverRef throws undeclared checked exceptions of Spark's.
      if (isNotFound(e)) {
        return null;
      }
      throw new StoreConnectionException("The driver's store cannot be reached: " + e, e);
    }
  }

  private static boolean isNotFound(Throwable cause) {
    return Causes.of(cause).anyMatch(RpcEndpointNotFoundException.class::isInstance);
  }

  @Override
  public CompletableFuture<byte[]> ask(byte[] message) {
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    long asked = System.nanoTime();
    driver
        .ask(message, NO_TIMEOUT, ANY)
        .onComplete(
            result -> {
              ExecutorStatistics.STORE_CALLS.update(
                  System.nanoTime() - asked, TimeUnit.NANOSECONDS);
              try {
                if (result.isSuccess()) {
                  reply.complete(StoreMessages.unwrap((byte[]) result.get()));
                } else {
                  Throwable cause = result.failed().get();
                  reply.completeExceptionally(
                      new StoreConnectionException(
                          "The driver's store at " + address() + " was lost: " + cause, cause));
                }
              } catch (StoreException e) {
                reply.completeExceptionally(e);
              } catch (RuntimeException | Error e) {
                // Spark would only log it, and the caller would wait in vain.
                reply.completeExceptionally(
                    new StoreException(
                        "The reply of the driver's store at " + address() + " was lost: " + e, e));
              }
              return null;
            },
            ThreadUtils.sameThread());
    return reply;
  }

  @Override
  public byte[] fetch(byte[] reference) {
    return ValueReference.decode(reference).fetch(this::fetch);
  }

  /**
   * Reads a piece from the driver, wherever this JVM is, into {@code target} from {@code offset}
   * on. Blocks.
   *
   * @return the number of bytes read
   * @throws ValueGoneException if the value was removed
   */
  private int fetch(long value, int piece, byte[] target, int offset) {
    BlockId block = BlockIds.of(value, piece);
    Option<ChunkedByteBuffer> bytes = env.blockManager().getRemoteBytes(block);
    if (bytes.isEmpty()) {
      throw BlockIds.gone(block);
    }
    ChunkedByteBuffer content = bytes.get();
    int end = offset;
    try {
      for (ByteBuffer part : content.getChunks()) {
        int length = part.remaining();
        if (length > target.length - end) {
          throw new StoreException(
              "Block " + block + " has " + content.size() + " bytes, which are too many");
        }
        part.get(target, end, length);
        end += length;
      }
    } finally {
      content.dispose();
    }
    return end - offset;
  }

  @Override
  public String address() {
    return String.valueOf(driver.address());
  }
}
