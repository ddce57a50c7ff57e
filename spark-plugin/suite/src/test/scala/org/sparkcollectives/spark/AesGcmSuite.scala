package org.sparkcollectives.spark

/** With `spark.network.crypto.enabled`. */
class AesGcmSuite extends EncryptionSuite("AES-GCM") {

  override def protection: Map[String, String] = Map("spark.network.crypto.enabled" -> "true")
}
