package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.util.Comparator

/** Spark's history server in a JVM of its own, on a free port.
  *
  * @param jars
  *   what is on its class path besides Spark
  */
final class HistoryServerProcess(events: Path, jars: Seq[String])
    extends AutoCloseable
    with Patience {

  private val log = Files.createTempFile("history-", ".log")

  /** The folder of the server's rows, which a large history server keeps on disk, too. */
  private val store = Files.createTempDirectory("history-")

  private val process: Process = {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val spark = Paths.get(System.getenv("SPARK_HOME"), "jars", "*").toString
    val options = System.getProperty("collectives.jvm.options").split(" ").toSeq ++ Seq(
      "-Xmx512m",
      s"-Dspark.history.fs.logDirectory=${events.toUri}",
      "-Dspark.history.fs.update.interval=2s",
      "-Dspark.history.ui.port=0",
      s"-Dspark.history.store.path=$store",
      "-Dspark.ui.contentSecurityPolicy.enabled=true"
    )
    val classPath = Seq("-cp", (spark +: jars).mkString(":"))
    val main = "org.apache.spark.deploy.history.HistoryServer"
    new ProcessBuilder(((java +: options) ++ classPath :+ main): _*)
      .redirectErrorStream(true)
      .redirectOutput(log.toFile)
      .start()
  }

  // Runs if the JVM of the tests is stopped.
  private val onExit = new Thread(() => process.destroyForcibly())
  Runtime.getRuntime.addShutdownHook(onExit)

  private val Address = "HistoryServer to .* started at (http://\\S+)".r.unanchored

  def output: String = new String(Files.readAllBytes(log), "UTF-8")

  private def found: Option[String] = output.split("\n").collectFirst { case Address(url) => url }

  /** Returns the address of the pages of an application, once the server knows it. */
  def application(id: String): String = {
    eventually(s"an address in the log: $output")(found.isDefined)
    val url = found.get.stripSuffix("/")
    eventually(s"application $id at $url: $output")(
      UiClient.get(s"$url/api/v1/applications").contains(id)
    )
    s"$url/history/$id"
  }

  override def close(): Unit = {
    process.destroy()
    try eventually("the history server ends")(!process.isAlive)
    finally {
      process.destroyForcibly().waitFor()
      Runtime.getRuntime.removeShutdownHook(onExit)
      Files.delete(log)
      val files = Files.walk(store)
      try files.sorted(Comparator.reverseOrder[Path]).forEach(path => Files.delete(path))
      finally files.close()
    }
  }
}
