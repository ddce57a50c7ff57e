package org.sparkcollectives.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * An append-only file of entries that several processes write, one at a time under its lock.
 *
 * <pre>
 *   file:  magic of 8 bytes | entries
 *   entry: length i32 | CRC-32C of the rest i32 | the rest
 * </pre>
 *
 * <p>If an entry is incomplete while the lock is held, its writer was killed; the next writer cuts
 * it off. Not thread-safe. A thread that uses it must not be interrupted, because that closes the
 * channel.
 *
 * <p>A POSIX file lock belongs to the process: when the process closes any channel of a file, it
 * loses the lock that it holds by another one. Symbolic links, hard links, mounts and copies of
 * this class in other class loaders lead to several channels of one file, whatever their paths are.
 * The JDK sees this: it refuses a lock on a file of which this process has a lock already. So a
 * channel is closed only while it could be locked, which means that no other channel is.
 */
final class FileLog {

  /**
   * No channel of this process is locked while another one is closed. A literal, because that is
   * one object for all class loaders.
   */
  private static final String LOCKING_OR_CLOSING = "org.sparkcollectives.store.FileLog";

  private static final byte[] MAGIC = "SPKSTOR1".getBytes(StandardCharsets.US_ASCII);
  private static final int HEAD_BYTES = 2 * Integer.BYTES;

  private final Path path;
  private final FileChannel channel;

  /** What identifies the open file; null if another took its place while it was opened. */
  private final Object identity;

  private long end;
  private boolean cutShort;

  FileLog(Path path) {
    this.path = path;
    Object before = identityOf(path);
    try {
      channel =
          FileChannel.open(
              path,
              Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
              onlyForItsOwner(path));
    } catch (NoSuchFileException e) {
      throw new StoreException(
          "Cannot open FileStore " + path + ": the folder " + path.getParent() + " does not exist",
          e);
    } catch (AccessDeniedException e) {
      throw new StoreException(
          "Cannot open FileStore " + path + ": this process may not write it", e);
    } catch (IOException e) {
      throw new StoreException(
          "Cannot open FileStore "
              + path
              + ": "
              + (Files.isDirectory(path) ? "it is a folder, and must be a file" : e.getMessage()),
          e);
    }
    identity = before != null && before.equals(identityOf(path)) ? before : null;
  }

  /** Returns what identifies the file at {@code path}; null if there is none. */
  private static Object identityOf(Path path) {
    try {
      Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
      return key == null ? path : key;
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Returns the attributes that let only the owner read the file: whoever can read a store can join
   * its groups.
   */
  private static FileAttribute<?>[] onlyForItsOwner(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }

  /**
   * Locks the file, unless another process, or another channel of this one, holds a lock that
   * excludes this one.
   *
   * @param toWrite whether the lock excludes readers too
   * @return null if somebody else holds the lock
   */
  FileLock tryLock(boolean toWrite) throws IOException {
    try {
      synchronized (LOCKING_OR_CLOSING) {
        return channel.tryLock(0, Long.MAX_VALUE, !toWrite);
      }
    } catch (OverlappingFileLockException e) {
      // This process holds the lock by another channel.
      return null;
    }
  }

  /**
   * Passes the entries since the last call to {@code reader}, each in a buffer of its own. The
   * caller must hold the lock.
   *
   * @throws StoreException if the file is not such a log, or damaged
   */
  void read(Consumer<ByteBuffer> reader) throws IOException {
    long size = channel.size();
    if (size < end) {
      throw new StoreException(
          "FileStore "
              + path
              + " was cut short by somebody else: "
              + end
              + " bytes were read of it, and it has "
              + size
              + " now. Remove it, and start all ranks");
    }
    cutShort = false;
    if (end == 0 && size > 0) {
      byte[] magic = new byte[(int) Math.min(size, MAGIC.length)];
      readFully(ByteBuffer.wrap(magic), 0);
      if (!Arrays.equals(magic, Arrays.copyOf(MAGIC, magic.length))) {
        throw new StoreException(
            "Cannot open FileStore " + path + ": the file exists and is not a store");
      }
      cutShort = size < MAGIC.length;
      end = cutShort ? 0 : MAGIC.length;
    }
    while (!cutShort && end < size) {
      ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES);
      if (size - end < HEAD_BYTES) {
        cutShort = true;
        return;
      }
      readFully(head, end);
      int length = head.getInt();
      int checksum = head.getInt();
      if (length <= 0) {
        throw damaged();
      }
      if (size - end - HEAD_BYTES < length) {
        cutShort = true;
        return;
      }
      ByteBuffer entry = ByteBuffer.allocate(length);
      readFully(entry, end + HEAD_BYTES);
      if (checksum(entry) != checksum) {
        throw damaged();
      }
      end += HEAD_BYTES + length;
      reader.accept(entry);
    }
  }

  private StoreException damaged() {
    return new StoreException(
        "FileStore " + path + " is damaged at byte " + end + ". Remove it, and start all ranks");
  }

  private void readFully(ByteBuffer target, long position) throws IOException {
    long at = position;
    while (target.hasRemaining()) {
      int read = channel.read(target, at);
      if (read < 0) {
        throw damaged();
      }
      at += read;
    }
    target.flip();
  }

  /**
   * Appends an entry, which counts as read. The caller must hold the write lock, and must have read
   * everything under it.
   */
  void append(ByteBuffer... parts) throws IOException {
    if (cutShort) {
      channel.truncate(end);
      cutShort = false;
    }
    long start = end;
    try {
      if (end == 0) {
        writeFully(ByteBuffer.wrap(MAGIC));
      }
      int length = Arrays.stream(parts).mapToInt(ByteBuffer::remaining).sum();
      writeFully(ByteBuffer.allocate(HEAD_BYTES).putInt(length).putInt(checksum(parts)).flip());
      for (ByteBuffer part : parts) {
        writeFully(part.duplicate());
      }
    } catch (IOException e) {
      end = start;
      cutShort = true;
      throw e;
    }
  }

  private void writeFully(ByteBuffer source) throws IOException {
    while (source.hasRemaining()) {
      end += channel.write(source, end);
    }
  }

  private static int checksum(ByteBuffer... parts) {
    CRC32C checksum = new CRC32C();
    for (ByteBuffer part : parts) {
      checksum.update(part.duplicate());
    }
    return (int) checksum.getValue();
  }

  /**
   * Removes the file. The caller must hold the write lock, which has no effect afterwards, and must
   * know that nobody has removed it before.
   */
  void delete() throws IOException {
    // Not the link that may lead to it.
    Files.delete(path.toRealPath());
  }

  /**
   * Removes the file unless it has been removed, and another may be in its place. The caller must
   * hold the write lock.
   */
  void deleteIfStillThere() throws IOException {
    if (identity != null && identity.equals(identityOf(path))) {
      delete();
    }
  }

  /**
   * Closes the file, which is not locked, unless another channel of this process holds a lock on
   * it. Returns whether it is closed.
   */
  boolean tryClose() {
    try {
      synchronized (LOCKING_OR_CLOSING) {
        if (isLockedInThisProcess()) {
          return false;
        }
        channel.close();
      }
      return true;
    } catch (IOException e) {
      throw new StoreException("Cannot close FileStore " + path, e);
    }
  }

  private boolean isLockedInThisProcess() {
    try {
      // If another process holds a lock that excludes this one, no channel of this process has one.
      channel.tryLock();
      return false;
    } catch (OverlappingFileLockException e) {
      return true;
    } catch (IOException e) {
      return false; // A file system that has no locks, or none any more.
    }
  }
}
