package org.sparkcollectives.lightgbm;

/** Thrown if LightGBM fails, with its own message, or cannot be loaded. */
public class LightGbmException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** Creates an exception with a message. */
  public LightGbmException(String message) {
    super(message);
  }

  /** Creates an exception with a message and its cause. */
  public LightGbmException(String message, Throwable cause) {
    super(message, cause);
  }
}
