package org.sparkcollectives.spark.internal.driver;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoredValue;

/**
 * Large values on their way from the ranks into the driver's blocks, piece by piece.
 *
 * <p>A client sends a piece only when it has a permit. There are permits for a fixed number of
 * bytes in flight, of all clients together; so the driver's heap is bounded however many ranks send
 * at once. Permits are granted in the order of the requests.
 *
 * <p>A value that a client has uploaded and not yet stored under a key belongs to its session, and
 * is removed with it. Thread-safe; nothing here blocks, but pieces are written on {@code writers}.
 */
final class ValueUploads {

  private final BlockValues values;
  private final Executor writers;
  private final ByteBudget inFlight;
  private final Map<Long, Upload> uploads = new HashMap<>();
  private final Set<UUID> sessions = new HashSet<>();
  private long lastId;

  /**
   * Creates the uploads of all clients.
   *
   * @param inFlightBytes how many bytes of pieces may be in flight and in memory at once
   * @param writers write pieces, which may wait for a disk
   */
  ValueUploads(BlockValues values, long inFlightBytes, Executor writers) {
    this.values = values;
    this.inFlight = new ByteBudget(Math.max(inFlightBytes, values.pieceBytes()));
    this.writers = writers;
  }

  /** A value that is being uploaded. Guarded by the uploads' lock, except for the writer. */
  private static final class Upload {
    private final long id;
    private final UUID session;
    private final BlockValues.Writer writer;
    private int missing;

    /** The permit for the next piece while the client waits for it, or null. */
    private CompletableFuture<Void> awaited;

    /** The bytes of the permit that the client has, or a writer for it. */
    private int permitted;

    private boolean writing;
    private boolean dropped;

    Upload(long id, UUID session, BlockValues.Writer writer) {
      this.id = id;
      this.session = session;
      this.writer = writer;
      this.missing = writer.size();
    }
  }

  /** Returns the size of the largest piece. */
  int pieceBytes() {
    return values.pieceBytes();
  }

  /** Returns how many bytes are in flight. */
  long inFlight() {
    return inFlight.taken();
  }

  /** Lets a client upload values. */
  synchronized void open(UUID session) {
    sessions.add(session);
  }

  /**
   * Begins a value of {@code size} bytes.
   *
   * @return its number, as soon as the client may send the first piece; cancelled if its session is
   *     closed before
   * @throws StoreException if there is no space for it
   */
  CompletableFuture<Long> begin(UUID session, int size) {
    if (size <= 0) {
      throw new StoreException("a value of " + size + " bytes cannot be brought in pieces");
    }
    Upload upload;
    synchronized (this) {
      requireOpen(session);
      upload = new Upload(++lastId, session, values.begin(size));
      uploads.put(upload.id, upload);
    }
    return permit(upload).thenApply(permitted -> upload.id);
  }

  private void requireOpen(UUID session) {
    if (!sessions.contains(session)) {
      throw new StoreException("this client's stage is over, or its executor was lost");
    }
  }

  /** Requests the permit for the next piece. The future completes when the client may send it. */
  private CompletableFuture<Void> permit(Upload upload) {
    int bytes = Math.min(values.pieceBytes(), upload.missing);
    CompletableFuture<Void> awaited = inFlight.acquire(bytes);
    boolean dropped;
    synchronized (this) {
      upload.awaited = awaited;
      dropped = upload.dropped;
    }
    if (dropped) {
      awaited.cancel(false);
    }
    return awaited.thenRun(
        () -> {
          synchronized (this) {
            upload.awaited = null;
            if (!upload.dropped) {
              upload.permitted = bytes;
              return;
            }
          }
          inFlight.release(bytes);
          throw new CancellationException("the session is closed");
        });
  }

  /**
   * Takes a piece, which the client may send now.
   *
   * @return completes when the piece is written and, unless it was the last, the next may be sent
   * @throws StoreException if there is no such upload, or the piece has another length than is
   *     permitted; then nothing of the value is kept
   */
  CompletableFuture<Void> piece(UUID session, long id, ByteBuffer content) {
    Upload upload;
    String wrong = null;
    synchronized (this) {
      upload = require(session, id);
      if (upload.writing || content.remaining() != upload.permitted) {
        wrong =
            "a piece of "
                + content.remaining()
                + " bytes came where one of "
                + (upload.writing ? 0 : upload.permitted)
                + " is permitted";
      } else {
        upload.writing = true;
      }
    }
    if (wrong != null) {
      drop(upload);
      throw new StoreException(wrong);
    }
    CompletableFuture<Void> taken = new CompletableFuture<>();
    try {
      writers.execute(() -> write(upload, content, taken));
    } catch (RejectedExecutionException e) {
      written(upload, new CancellationException("the application ends"), taken);
    }
    return taken;
  }

  private Upload require(UUID session, long id) {
    Upload upload = uploads.get(id);
    if (upload == null || !upload.session.equals(session)) {
      throw new StoreException("this client has not begun to bring value " + id);
    }
    return upload;
  }

  private void write(Upload upload, ByteBuffer content, CompletableFuture<Void> taken) {
    Throwable failure = null;
    try {
      upload.writer.put(content);
    } catch (Throwable e) {
      failure = e;
    }
    written(upload, failure, taken);
  }

  private void written(Upload upload, Throwable failure, CompletableFuture<Void> taken) {
    int written;
    boolean goesOn;
    boolean over;
    synchronized (this) {
      written = upload.permitted;
      upload.permitted = 0;
      upload.writing = false;
      upload.missing -= written;
      over = upload.dropped;
      goesOn = !over && failure == null && upload.missing > 0;
    }
    inFlight.release(written);
    if (over) {
      // The upload was dropped meanwhile, which left its removal to this thread.
      upload.writer.discard();
    } else if (failure != null) {
      drop(upload);
    }
    if (failure != null) {
      taken.completeExceptionally(failure);
    } else if (over) {
      taken.cancel(false);
    } else if (goesOn) {
      permit(upload)
          .whenComplete(
              (permitted, cancelled) -> {
                if (cancelled == null) {
                  taken.complete(null);
                } else {
                  taken.cancel(false);
                }
              });
    } else {
      taken.complete(null);
    }
  }

  /**
   * Takes a value of which all pieces have arrived. The caller owns it from now on.
   *
   * @throws StoreException if there is none
   */
  StoredValue take(UUID session, long id) {
    synchronized (this) {
      Upload upload = require(session, id);
      if (upload.writing || upload.missing > 0) {
        throw new StoreException("of value " + id + " " + upload.missing + " bytes are missing");
      }
      uploads.remove(id);
      return upload.writer.finish();
    }
  }

  /** Drops a value that the client no longer wants to store; does nothing if there is none. */
  void discard(UUID session, long id) {
    Upload upload;
    synchronized (this) {
      upload = uploads.get(id);
      if (upload == null || !upload.session.equals(session)) {
        return;
      }
    }
    drop(upload);
  }

  private void drop(Upload upload) {
    CompletableFuture<Void> awaited;
    int permitted = 0;
    synchronized (this) {
      if (uploads.remove(upload.id) == null) {
        return;
      }
      upload.dropped = true;
      awaited = upload.awaited;
      if (!upload.writing) {
        permitted = upload.permitted;
        upload.permitted = 0;
        upload.writer.discard();
      }
    }
    inFlight.release(permitted);
    if (awaited != null) {
      awaited.cancel(false);
    }
  }

  /** Drops the values that a client has uploaded and not stored, and refuses further ones. */
  void close(UUID session) {
    Set<Upload> left = new HashSet<>();
    synchronized (this) {
      sessions.remove(session);
      for (Upload upload : uploads.values()) {
        if (upload.session.equals(session)) {
          left.add(upload);
        }
      }
    }
    left.forEach(this::drop);
  }
}
