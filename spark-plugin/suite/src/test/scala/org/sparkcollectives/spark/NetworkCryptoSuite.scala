package org.sparkcollectives.spark

/** Runs with `spark.network.crypto.enabled`. */
class NetworkCryptoSuite extends EncryptionSuite("TLS with ephemeral certificates") {

  override def protection: Map[String, String] = Map("spark.network.crypto.enabled" -> "true")
}
