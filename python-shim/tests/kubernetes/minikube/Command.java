import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Runs programs of this machine. */
final class Command {

  private Command() {}

  /** Runs a program, and throws what it wrote if it fails. */
  static void run(String... words) throws IOException, InterruptedException {
    run(List.of(words));
  }

  /** Runs a program, and throws what it wrote if it fails. */
  static void run(List<String> words) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", words) + ": " + text);
    }
  }
}
