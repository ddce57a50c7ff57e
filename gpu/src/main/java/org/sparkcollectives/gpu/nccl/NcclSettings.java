package org.sparkcollectives.gpu.nccl;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.gpu.GpuConfiguration;

/**
 * The settings of a communicator: {@code ncclConfig_t}.
 *
 * <p>One layout works for all versions since 2.14: by the size and the version in it, the library
 * reads the part that it knows. The library chooses what is not set.
 *
 * <p>Communicators created from another share none of its resources ({@code splitShare}, {@code
 * shrinkShare}). If they did, an abort of one could make the others unusable, and no two could be
 * used at the same time (NCCL's documentation of {@code ncclConfig_t}, and its page "Using NCCL
 * with multiple threads"). Here each group fails by itself.
 *
 * @param blocking whether calls return only when the library has done its part
 * @param minCtas the fewest thread blocks of an operation; 0 for the library's choice
 * @param maxCtas the most thread blocks of an operation; 0 for the library's choice
 * @param cgaClusterSize how many of them are a cluster; -1 for the library's choice
 * @param network the name of the network module; empty for the library's choice
 */
record NcclSettings(
    boolean blocking, int minCtas, int maxCtas, int cgaClusterSize, String network) {

  private static final int BYTES = 80;
  private static final int MAGIC = 0xcafebeef;
  private static final int VERSION = 22809;
  private static final int MAGIC_AT = 8;
  private static final int VERSION_AT = 12;
  private static final int BLOCKING_AT = 16;
  private static final int CGA_CLUSTER_SIZE_AT = 20;
  private static final int MIN_CTAS_AT = 24;
  private static final int MAX_CTAS_AT = 28;
  private static final int NET_NAME_AT = 32;
  private static final int SPLIT_SHARE_AT = 40;
  private static final int COMM_NAME_AT = 48;
  private static final int SHRINK_SHARE_AT = 64;
  private static final int UNSET = Integer.MIN_VALUE;

  /** Refuses a maximum of thread blocks below the minimum. */
  NcclSettings {
    if (maxCtas > 0 && minCtas > maxCtas) {
      throw new IllegalArgumentException(
          GpuConfiguration.MIN_CTAS.key()
              + " ("
              + minCtas
              + ") must not be more than "
              + GpuConfiguration.MAX_CTAS.key()
              + " ("
              + maxCtas
              + ")");
    }
  }

  /** Creates settings that leave everything else to the library. */
  NcclSettings(boolean blocking) {
    this(blocking, 0, 0, -1, "");
  }

  /** Returns the settings of a rank. */
  static NcclSettings of(Configuration configuration) {
    return new NcclSettings(
        configuration.get(GpuConfiguration.BLOCKING),
        configuration.get(GpuConfiguration.MIN_CTAS),
        configuration.get(GpuConfiguration.MAX_CTAS),
        configuration.get(GpuConfiguration.CGA_CLUSTER_SIZE),
        configuration.get(GpuConfiguration.NETWORK));
  }

  /**
   * Returns the settings as the library reads them, off the heap. The name of a network lies behind
   * them in the same memory, so it exists as long as the buffer does.
   */
  ByteBuffer encode() {
    byte[] name = network.getBytes(StandardCharsets.UTF_8);
    int nameBytes = name.length == 0 ? 0 : name.length + 1;
    ByteBuffer config = ByteBuffer.allocateDirect(BYTES + nameBytes).order(ByteOrder.nativeOrder());
    for (int at = BLOCKING_AT; at < BYTES; at += Integer.BYTES) {
      config.putInt(at, UNSET);
    }
    config.putLong(0, BYTES);
    config.putInt(MAGIC_AT, MAGIC);
    config.putInt(VERSION_AT, VERSION);
    config.putInt(BLOCKING_AT, blocking ? 1 : 0);
    if (cgaClusterSize >= 0) {
      config.putInt(CGA_CLUSTER_SIZE_AT, cgaClusterSize);
    }
    if (minCtas > 0) {
      config.putInt(MIN_CTAS_AT, minCtas);
    }
    if (maxCtas > 0) {
      config.putInt(MAX_CTAS_AT, maxCtas);
    }
    config.putLong(NET_NAME_AT, 0);
    if (name.length > 0) {
      config.position(BYTES).put(name).rewind();
      config.putLong(
          NET_NAME_AT, Pointer.nativeValue(Native.getDirectBufferPointer(config)) + BYTES);
    }
    // A communicator that shared resources with those created from it could not be used beside
    // them, and an abort of one would end all: they share one abort flag.
    config.putInt(SPLIT_SHARE_AT, 0);
    config.putInt(SHRINK_SHARE_AT, 0);
    config.putLong(COMM_NAME_AT, 0);
    return config;
  }
}
