package org.sparkcollectives.ddp;

/**
 * A block of steps that accumulate gradients on each rank and do not average them; see {@link
 * GradientReducer#noSync}.
 */
public final class NoSync implements AutoCloseable {

  private Runnable end;

  NoSync(Runnable end) {
    this.end = end;
  }

  /** Ends the block. Does not block, and does nothing the second time. */
  @Override
  public void close() {
    Runnable once = end;
    end = () -> {};
    once.run();
  }
}
