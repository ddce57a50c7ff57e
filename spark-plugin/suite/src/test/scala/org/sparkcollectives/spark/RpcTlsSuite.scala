package org.sparkcollectives.spark

import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

import org.apache.spark.SPARK_VERSION

/** Runs with `spark.ssl.rpc.enabled`, which Spark supports from 4.0 on. Earlier versions ignore its
  * keys, and TLS has ephemeral certificates.
  */
class RpcTlsSuite
    extends EncryptionSuite(
      if (SPARK_VERSION.startsWith("3.")) "TLS with ephemeral certificates" else "TLS"
    ) {

  private val folder = Files.createTempDirectory("tls-")
  private val password = "only-for-tests"

  override def protection: Map[String, String] = {
    val keys = folder.resolve("keys.p12").toString
    Map(
      "spark.ssl.rpc.enabled" -> "true",
      "spark.ssl.rpc.keyStore" -> keys,
      "spark.ssl.rpc.keyStoreType" -> "PKCS12",
      "spark.ssl.rpc.keyStorePassword" -> password,
      "spark.ssl.rpc.keyPassword" -> password,
      "spark.ssl.rpc.trustStore" -> keys,
      "spark.ssl.rpc.trustStoreType" -> "PKCS12",
      "spark.ssl.rpc.trustStorePassword" -> password,
      "spark.ssl.rpc.protocol" -> "TLSv1.3"
    )
  }

  override def beforeAll(): Unit = {
    makeKeys(folder.resolve("keys.p12"))
    super.beforeAll()
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally {
      Files.deleteIfExists(folder.resolve("keys.p12"))
      Files.delete(folder)
    }

  /** Creates a self-signed key pair with the JDK's keytool. */
  private def makeKeys(file: Path): Unit = {
    val command = Seq(
      Paths.get(System.getProperty("java.home"), "bin", "keytool").toString,
      "-genkeypair",
      "-alias",
      "executor",
      "-keyalg",
      "RSA",
      "-dname",
      "CN=localhost",
      "-validity",
      "2",
      "-storetype",
      "PKCS12",
      "-storepass",
      password,
      "-keystore",
      file.toString
    )
    val keytool = new ProcessBuilder(command: _*).inheritIO().start()
    assert(keytool.waitFor(60, TimeUnit.SECONDS) && keytool.exitValue() == 0)
  }
}
