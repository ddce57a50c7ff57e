package org.sparkcollectives.spark.internal.protocol;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.recorder.DumpFolder;

/** Compresses a dump of a flight recorder for its way to the driver. */
public final class PackedDump {

  /** Larger than the largest dump: 20,000 records of half a kilobyte, and their groups. */
  private static final int MAX_DUMP_BYTES = 64 << 20;

  private PackedDump() {}

  /** Packs a dump for sending. */
  public static byte[] pack(FlightDump dump) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(DumpFolder.json(dump));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Unpacks what {@link #pack} returned.
   *
   * @throws IllegalArgumentException if it is no dump, or too large for one
   */
  public static FlightDump unpack(byte[] packed) {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
      byte[] json = in.readNBytes(MAX_DUMP_BYTES + 1);
      if (json.length > MAX_DUMP_BYTES) {
        throw new IllegalArgumentException("a dump of more than " + MAX_DUMP_BYTES + " bytes");
      }
      return DumpFolder.fromJson(json);
    } catch (IOException e) {
      throw new IllegalArgumentException("not a packed dump: " + e.getMessage(), e);
    }
  }
}
