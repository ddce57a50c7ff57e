package org.sparkcollectives.recorder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.sparkcollectives.FlightDump;

/**
 * A folder with the dumps of the ranks of one world, made at one occasion: {@code dump-3.json} and,
 * for PyTorch's analyser, {@code rank_3} in Python's pickle format.
 */
public final class DumpFolder {

  private final Path path;

  /** Creates the folder's representation; the folder need not exist yet. */
  public DumpFolder(Path path) {
    this.path = path;
  }

  /**
   * Returns the folder for dumps that were made together.
   *
   * @param root the folder of all dumps
   * @param world what the ranks have in common; a slash becomes a folder, and what is not a letter
   *     or digit, a hyphen
   * @param occasion what it was dumped for
   */
  public static DumpFolder of(Path root, String world, String occasion) {
    Path path = root;
    for (String part : (world + "/" + occasion).split("/+", -1)) {
      path = path.resolve(part.replaceAll("[^A-Za-z0-9_.-]+", "-").replaceAll("^\\.+$", "-"));
    }
    return new DumpFolder(path);
  }

  /** Returns the folder's path. */
  public Path path() {
    return path;
  }

  /**
   * Adds a rank's dump, in both formats. A reader of the folder sees whole files only.
   *
   * @return the bytes written
   */
  public long write(FlightDump dump) throws IOException {
    return DumpFiles.write(path, dump);
  }

  /**
   * Writes the files for PyTorch's analyser again, so that all begin where the records of all ranks
   * do. A rank that dumps cannot know which records the others have overwritten.
   *
   * @param dumps those in the folder
   */
  public void align(List<FlightDump> dumps) throws IOException {
    TorchLayout.Starts starts = TorchLayout.Starts.of(dumps);
    for (FlightDump dump : dumps) {
      write("rank_" + dump.rank(), PickleWriter.write(TorchLayout.of(dump, starts)));
    }
  }

  /** Adds a text, and replaces one of the same name. */
  public void write(String name, byte[] content) throws IOException {
    DumpFiles.write(path, name, content);
  }

  /**
   * Returns the dumps in the folder, by rank.
   *
   * @throws IllegalArgumentException if a file is no dump
   */
  public List<FlightDump> read() throws IOException {
    return read("dump-");
  }

  /**
   * Returns the dumps in the folder, by rank.
   *
   * @param prefix what comes before the rank in the names of their files, which end in {@code
   *     .json}
   * @throws IllegalArgumentException if a file is no dump
   */
  public List<FlightDump> read(String prefix) throws IOException {
    Pattern names = Pattern.compile(Pattern.quote(prefix) + "\\d+\\.json");
    List<FlightDump> dumps = new ArrayList<>();
    try (Stream<Path> files = Files.list(path)) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        if (names.matcher(file.getFileName().toString()).matches()) {
          try {
            dumps.add(fromJson(Files.readAllBytes(file)));
          } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
          }
        }
      }
    }
    dumps.sort(Comparator.comparingInt(FlightDump::rank));
    return dumps;
  }

  /**
   * Returns a dump as JSON, in the schema of c10d's flight recorder with some additional fields.
   */
  public static byte[] json(FlightDump dump) {
    return DumpFiles.json(dump);
  }

  /**
   * Returns the dump that {@link #json} wrote.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static FlightDump fromJson(byte[] json) {
    return DumpReader.read(JsonText.read(json));
  }
}
