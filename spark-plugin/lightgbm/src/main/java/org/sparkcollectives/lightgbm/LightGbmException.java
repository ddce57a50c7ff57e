package org.sparkcollectives.lightgbm;

/** Says that LightGBM failed, with its own message, or that it cannot be loaded. */
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
