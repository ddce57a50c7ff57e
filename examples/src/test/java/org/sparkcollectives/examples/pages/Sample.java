package org.sparkcollectives.examples.pages;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkcollectives.testing.SourceTree;

/**
 * One fenced block of a page.
 *
 * @param page the page's path below the root of the project
 * @param line the line of the page on which the block's text begins
 * @param language what stands behind the fence, such as {@code java}; empty for none
 * @param name the name that the comment {@code <!-- sample: name -->} above the block gives; empty
 *     for none
 * @param text the block's lines, without the fence's indentation
 */
record Sample(Path page, int line, String language, String name, String text) {

  static final Path ROOT = Path.of("..");

  private static final Pattern FENCE = Pattern.compile("( *)```(\\w*) *");
  private static final Pattern NAME = Pattern.compile("<!-- sample: ([\\w-]+) -->");

  /** Returns what the samples are compiled with: the class path of the tests, and Spark ML. */
  static String classPath() {
    return System.getProperty("java.class.path")
        + File.pathSeparator
        + System.getProperty("collectives.samples.classpath");
  }

  /** Returns the pages that users and contributors read. */
  static List<Path> pages() {
    List<Path> pages = new ArrayList<>(List.of(Path.of("README.md"), Path.of("CONTRIBUTING.md")));
    SourceTree.files(ROOT.resolve("docs")).stream()
        .filter(page -> page.toString().endsWith(".md"))
        .map(ROOT::relativize)
        .sorted()
        .forEach(pages::add);
    return pages;
  }

  /** Returns all blocks of all pages. */
  static List<Sample> all() throws IOException {
    List<Sample> samples = new ArrayList<>();
    for (Path page : pages()) {
      samples.addAll(of(page, Files.readString(ROOT.resolve(page))));
    }
    return samples;
  }

  /** Returns all blocks of all pages in one language. */
  static List<Sample> in(String language) throws IOException {
    return all().stream().filter(sample -> sample.language.equals(language)).toList();
  }

  static List<Sample> of(Path page, String text) {
    List<Sample> samples = new ArrayList<>();
    List<String> lines = text.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      Matcher fence = FENCE.matcher(lines.get(i));
      if (!fence.matches()) {
        continue;
      }
      Matcher name = NAME.matcher(i == 0 ? "" : lines.get(i - 1));
      int begin = i + 1;
      String end = fence.group(1) + "```";
      for (i = begin; !lines.get(i).equals(end); i++) {}
      String block = String.join("\n", lines.subList(begin, i)) + "\n";
      samples.add(
          new Sample(
              page,
              begin + 1,
              fence.group(2),
              name.find() ? name.group(1) : "",
              block.stripIndent()));
    }
    return samples;
  }

  /**
   * Returns this sample within its context, a file of the test's resources that contains {@code
   * $sample} where the sample goes.
   */
  String inContext() throws IOException {
    Path context = Path.of("src/test/resources/samples", name + "." + language);
    if (name.isEmpty() || !Files.exists(context)) {
      throw new AssertionError(
          "%s: give the sample a name by a line <!-- sample: name --> above it, and write examples/%s with $sample where it goes."
              .formatted(this, context));
    }
    return Files.readString(context).replace("$sample\n", text);
  }

  @Override
  public String toString() {
    return page + ":" + line + (name.isEmpty() ? "" : " (" + name + ")");
  }
}
