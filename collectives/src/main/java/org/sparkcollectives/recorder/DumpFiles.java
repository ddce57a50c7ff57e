package org.sparkcollectives.recorder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.sparkcollectives.FlightDump;

/** Writes the files of a {@link DumpFolder}. */
final class DumpFiles {

  private DumpFiles() {}

  /**
   * Writes a dump into a folder, in both formats.
   *
   * @return the bytes written
   */
  static long write(Path folder, FlightDump dump) throws IOException {
    byte[] json = json(dump);
    byte[] pickle = PickleWriter.write(TorchLayout.of(dump));
    write(folder, "dump-" + dump.rank() + ".json", json);
    write(folder, "rank_" + dump.rank(), pickle);
    return (long) json.length + pickle.length;
  }

  /** Writes a file, of which a reader of the folder sees all or nothing. */
  static void write(Path folder, String name, byte[] content) throws IOException {
    Files.createDirectories(folder);
    Path part = Files.createTempFile(folder, ".", ".part");
    Files.write(part, content);
    Files.move(part, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
  }

  /** Returns a dump as JSON, in the schema of {@link DumpSchema}. */
  static byte[] json(FlightDump dump) {
    return JsonText.write(DumpSchema.of(dump));
  }
}
