package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.util.Comparator

/** Spark's own standalone cluster: a master and workers in JVMs of their own, on free ports. All
  * their files are in a folder that is deleted with them.
  */
final class StandaloneCluster private (folder: Path) extends AutoCloseable with Patience {

  private var daemons = List.empty[Process]

  // Runs if the JVM of the tests is stopped.
  private val onExit = new Thread(() => daemons.foreach(_.destroyForcibly()))

  private var _url: String = _
  private var _workers = Set.empty[Long]

  /** Returns the master's URL. */
  def url: String = _url

  /** Returns the workers' process ids. */
  def workers: Set[Long] = _workers

  /** Returns the running executors, as the workers' child processes. */
  def executors: Seq[ProcessHandle] =
    daemons.flatMap(_.descendants().toArray.map(_.asInstanceOf[ProcessHandle]))

  def hasFiles: Boolean = Files.exists(folder)

  def isRunning: Boolean = daemons.exists(_.isAlive)

  private def start(workerCount: Int, cores: Int): Unit = {
    Runtime.getRuntime.addShutdownHook(onExit)
    val address = Seq("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    val (_, masterLog) = daemon("master", "org.apache.spark.deploy.master.Master", address)
    _url = found(masterLog, "Starting Spark master at (spark://127\\.0\\.0\\.1:\\d+)")
    for (i <- 1 to workerCount) {
      val own = Seq("--cores", cores.toString, "--memory", "1g")
      val work = Seq("--work-dir", folder.resolve(s"worker-$i").toString, _url)
      val (worker, log) =
        daemon(s"worker-$i", "org.apache.spark.deploy.worker.Worker", address ++ own ++ work)
      _workers += worker.pid
      found(log, "(Successfully registered with master)")
    }
  }

  private def daemon(name: String, main: String, arguments: Seq[String]): (Process, Path) = {
    val log = folder.resolve(s"$name.log")
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val jars = Paths.get(System.getenv("SPARK_HOME"), "jars", "*").toString
    val options = System.getProperty("collectives.jvm.options").split(" ").toSeq
    val temporary = Seq("-Xmx256m", s"-Djava.io.tmpdir=$folder")
    val command = (java +: options) ++ temporary ++ Seq("-cp", jars, main) ++ arguments
    val builder = new ProcessBuilder(command: _*)
      .redirectErrorStream(true)
      .redirectOutput(log.toFile)
    builder.environment.put("SPARK_LOCAL_DIRS", folder.toString)
    val process = builder.start()
    daemons ::= process
    (process, log)
  }

  /** Returns what `pattern` finds in a daemon's log, once it does. */
  private def found(log: Path, pattern: String): String = {
    def text = new String(Files.readAllBytes(log), "UTF-8")
    eventually(s"$pattern in $log: $text")(pattern.r.findFirstIn(text).isDefined)
    pattern.r.findFirstMatchIn(text).get.group(1)
  }

  /** Ends the processes and waits until they are gone; an executor ends with its worker. */
  override def close(): Unit = {
    val children = executors
    daemons.foreach(_.destroy())
    try eventually("the cluster ends")(!isRunning && !children.exists(_.isAlive))
    finally {
      daemons.foreach(_.destroyForcibly().waitFor())
      children.foreach(_.destroyForcibly())
      val files = Files.walk(folder)
      try files.sorted(Comparator.reverseOrder[Path]).forEach(path => Files.delete(path))
      finally files.close()
      Runtime.getRuntime.removeShutdownHook(onExit)
    }
  }
}

object StandaloneCluster {

  /** Starts a cluster. Blocks until all workers have registered. */
  def start(workers: Int, cores: Int): StandaloneCluster = {
    val cluster = new StandaloneCluster(Files.createTempDirectory("standalone-"))
    try {
      cluster.start(workers, cores)
      cluster
    } catch {
      case e: Throwable =>
        cluster.close()
        throw e
    }
  }
}
