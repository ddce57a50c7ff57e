package org.sparkcollectives.spark

import java.net.{HttpURLConnection, URI}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Reads pages of Spark's UI over HTTP. */
object UiClient {

  /** The response of a server. */
  case class Answer(status: Int, body: String, contentSecurityPolicy: Option[String])

  def answer(url: String): Answer = {
    val connection = URI.create(url).toURL.openConnection().asInstanceOf[HttpURLConnection]
    try {
      val status = connection.getResponseCode
      val stream = if (status < 400) connection.getInputStream else connection.getErrorStream
      val body = if (stream == null) "" else new String(stream.readAllBytes(), "UTF-8")
      Answer(status, body, Option(connection.getHeaderField("Content-Security-Policy")))
    } finally connection.disconnect()
  }

  /** Returns a page, which must be there. */
  def get(url: String): String = {
    val found = answer(url)
    assert(found.status == 200, s"$url: ${found.status} ${found.body}")
    found.body
  }

  def json(url: String): JsonNode = new ObjectMapper().readTree(get(url))

  /** Returns how often `part` is in `text`. */
  def count(text: String, part: String): Int = text.sliding(part.length).count(_ == part)
}
