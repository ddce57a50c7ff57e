package org.sparkcollectives.ddp;

import java.util.Arrays;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Turns numbers into bytes, channel by channel: neighbours that share a scale and a zero point. A
 * byte q stands for scale (q - zero point). The scale is NaN where a channel has a NaN or an
 * infinity.
 */
final class Quantization {

  private static final int LEVELS = 255;

  /** The smallest scale, that of PyTorch's observers. */
  private static final float SMALLEST_SCALE = 0x1p-23f;

  private final long count;
  private final long channel;
  private final int channels;

  /**
   * Creates the quantization of a buffer.
   *
   * @param count how many elements it has, at least one
   * @param channel how many of them share a scale; the last channel may have fewer
   */
  Quantization(long count, long channel) {
    this.count = count;
    this.channel = channel;
    this.channels = Math.toIntExact((count + channel - 1) / channel);
  }

  /** Returns how many scales and zero points there are. */
  int channels() {
    return channels;
  }

  private long begin(int index) {
    return index * channel;
  }

  private long end(int index) {
    return Math.min(count, begin(index) + channel);
  }

  /**
   * Writes the bytes of a buffer.
   *
   * @return the scale and the zero point of each channel
   */
  float[] quantize(HostTensor buffer, HostTensor bytes) {
    float[] parameters = new float[2 * channels];
    float[] tile = FloatElements.borrowTile();
    byte[] codes = new byte[FloatElements.TILE];
    for (int c = 0; c < channels; c++) {
      findScale(buffer, c, tile, parameters);
      float scale = parameters[2 * c];
      float zero = parameters[2 * c + 1];
      for (long at = begin(c); at < end(c); at += FloatElements.TILE) {
        int n = (int) Math.min(FloatElements.TILE, end(c) - at);
        FloatElements.read(buffer, at, n, tile, 0);
        for (int i = 0; i < n; i++) {
          double level = Math.rint(tile[i] / scale) + zero;
          codes[i] = (byte) (int) Math.max(0, Math.min(LEVELS, level));
        }
        bytes.fromArray(at, n, codes, 0);
      }
    }
    FloatElements.giveBackTile(tile);
    return parameters;
  }

  /** Finds the range of a channel, to which zero belongs. */
  private void findScale(HostTensor buffer, int index, float[] tile, float[] parameters) {
    float low = 0;
    float high = 0;
    for (long at = begin(index); at < end(index); at += FloatElements.TILE) {
      int n = (int) Math.min(FloatElements.TILE, end(index) - at);
      FloatElements.read(buffer, at, n, tile, 0);
      for (int i = 0; i < n; i++) {
        low = Math.min(low, tile[i]);
        high = Math.max(high, tile[i]);
      }
    }
    boolean finite = Float.isFinite(low) && Float.isFinite(high);
    float scale =
        finite ? Math.max((float) (((double) high - low) / LEVELS), SMALLEST_SCALE) : Float.NaN;
    parameters[2 * index] = scale;
    parameters[2 * index + 1] =
        finite ? (float) Math.max(0, Math.min(LEVELS, Math.rint(-low / scale))) : 0;
  }

  /**
   * Adds up what the bytes of all ranks stand for, in the order of the ranks, and divides the sums.
   *
   * @param parameters the scales and zero points of one rank after the other
   * @param bytes those of one rank after the other
   */
  void sum(HostTensor[] bytes, float[] parameters, double divisor, HostTensor result) {
    float[] tile = FloatElements.borrowTile();
    byte[] codes = new byte[FloatElements.TILE];
    for (int c = 0; c < channels; c++) {
      for (long at = begin(c); at < end(c); at += FloatElements.TILE) {
        int n = (int) Math.min(FloatElements.TILE, end(c) - at);
        Arrays.fill(tile, 0, n, 0);
        for (int rank = 0; rank < bytes.length; rank++) {
          int own = 2 * (rank * channels + c);
          float scale = parameters[own];
          int zero = (int) parameters[own + 1];
          bytes[rank].toArray(at, n, codes, 0);
          for (int i = 0; i < n; i++) {
            tile[i] += scale * (Byte.toUnsignedInt(codes[i]) - zero);
          }
        }
        FloatElements.divide(tile, n, (float) divisor);
        FloatElements.write(tile, 0, result, at, n);
      }
    }
    FloatElements.giveBackTile(tile);
  }

  /** Allocates the bytes of one rank. */
  HostTensor allocateBytes() {
    return HostTensor.allocate(DType.UINT8, count);
  }
}
