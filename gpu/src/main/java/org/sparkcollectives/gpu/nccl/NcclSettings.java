package org.sparkcollectives.gpu.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The settings of a communicator: {@code ncclConfig_t}.
 *
 * <p>One layout works for all versions since 2.14: by the size and the version in it, the library
 * reads the part that it knows. The library chooses what is not set, or takes it from its
 * environment variables, such as {@code NCCL_MAX_CTAS} and {@code NCCL_NET}.
 *
 * <p>Communicators created from another share none of its resources ({@code splitShare}, {@code
 * shrinkShare}). If they did, an abort of one could make the others unusable, and no two could be
 * used at the same time (NCCL's documentation of {@code ncclConfig_t}, and its page "Using NCCL
 * with multiple threads"). Here each group fails by itself.
 *
 * @param blocking whether calls return only when the library has done its part, as those of tests
 *     do that call it directly
 */
record NcclSettings(boolean blocking) {

  /** The settings of groups: a call that blocks could be neither timed out nor aborted. */
  static final NcclSettings NONBLOCKING = new NcclSettings(false);

  private static final int BYTES = 80;
  private static final int MAGIC = 0xcafebeef;
  private static final int VERSION = 22809;
  private static final int MAGIC_AT = 8;
  private static final int VERSION_AT = 12;
  private static final int BLOCKING_AT = 16;
  private static final int NET_NAME_AT = 32;
  private static final int SPLIT_SHARE_AT = 40;
  private static final int COMM_NAME_AT = 48;
  private static final int SHRINK_SHARE_AT = 64;
  private static final int UNSET = Integer.MIN_VALUE;

  /** Returns the settings as the library reads them, off the heap. */
  ByteBuffer encode() {
    ByteBuffer config = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
    for (int at = BLOCKING_AT; at < BYTES; at += Integer.BYTES) {
      config.putInt(at, UNSET);
    }
    config.putLong(0, BYTES);
    config.putInt(MAGIC_AT, MAGIC);
    config.putInt(VERSION_AT, VERSION);
    config.putInt(BLOCKING_AT, blocking ? 1 : 0);
    config.putLong(NET_NAME_AT, 0);
    // A communicator that shared resources with those created from it could not be used beside
    // them, and an abort of one would end all: they share one abort flag.
    config.putInt(SPLIT_SHARE_AT, 0);
    config.putInt(SHRINK_SHARE_AT, 0);
    config.putLong(COMM_NAME_AT, 0);
    return config;
  }
}
