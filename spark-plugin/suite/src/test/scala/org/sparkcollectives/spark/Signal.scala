package org.sparkcollectives.spark

/** Sends signals of the operating system to processes. */
object Signal {

  /** Sends a signal such as `-9` to a process. */
  def send(name: String, pid: String): Unit =
    new ProcessBuilder("kill", name, pid).start().waitFor()
}
