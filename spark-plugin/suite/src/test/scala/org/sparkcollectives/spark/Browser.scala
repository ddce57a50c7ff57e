package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

/** Chromium without a window, where it is installed.
  *
  * @param program
  *   its file
  */
final class Browser(program: Path) {

  /** Loads a page, and keeps a picture of it.
    *
    * @return
    *   what the page and the browser wrote to the console
    */
  def load(url: String, picture: Path, width: Int, height: Int): Seq[String] = {
    val profile = Files.createTempDirectory("chromium-")
    val log = Files.createTempFile("chromium-", ".log")
    val options = Seq(
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      "--no-first-run",
      "--disable-background-networking",
      "--enable-logging=stderr",
      "--virtual-time-budget=20000",
      s"--user-data-dir=$profile",
      s"--window-size=$width,$height",
      s"--screenshot=$picture",
      url
    )
    val process = new ProcessBuilder((program.toString +: options): _*)
      .redirectErrorStream(true)
      .redirectOutput(log.toFile)
      .start()
    try {
      if (!process.waitFor(5, TimeUnit.MINUTES))
        throw new AssertionError(s"the browser did not end: ${Files.readString(log)}")
      val lines = Files.readString(log).split("\n").toSeq
      if (process.exitValue != 0 || !Files.exists(picture))
        throw new AssertionError(s"the browser failed: ${lines.mkString("\n")}")
      lines.filter(_.contains("CONSOLE"))
    } finally process.destroyForcibly()
  }
}

object Browser {

  /** Returns the browser of this machine, if it has one. */
  def find(): Option[Browser] =
    for {
      path <- Option(System.getenv("PATH"))
      names = Seq("chromium", "chromium-browser", "google-chrome")
      found <- path
        .split(":")
        .toSeq
        .flatMap(folder => names.map(name => Paths.get(folder, name)))
        .find(Files.isExecutable(_))
    } yield new Browser(found)
}
