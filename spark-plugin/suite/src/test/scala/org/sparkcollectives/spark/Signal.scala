package org.sparkcollectives.spark

/** What the operating system does to processes. */
object Signal {

  /** Sends a signal such as `-9` to a process. */
  def send(name: String, pid: String): Unit =
    new ProcessBuilder("kill", name, pid).start().waitFor()
}
