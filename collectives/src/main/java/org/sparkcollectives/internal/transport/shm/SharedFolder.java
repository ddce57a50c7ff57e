package org.sparkcollectives.internal.transport.shm;

import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * The folder in which a rank makes memory that its neighbours see.
 *
 * @param path in a file system that lies in memory, such as {@code /dev/shm}
 * @param logging runs what writes to the log, so that its lines name the rank and its operation
 */
public record SharedFolder(Path path, Consumer<Runnable> logging) {}
