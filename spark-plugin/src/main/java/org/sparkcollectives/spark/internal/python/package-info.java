/**
 * The bridge through which Python tasks use the groups of their executor's JVM.
 *
 * <p>A Python worker reads from its task's local properties the bridge's address, on the loopback
 * interface, and a secret of this task attempt. It makes one connection whose end tells that the
 * worker has ended, and one for each of its threads that makes calls. A thread of the JVM serves
 * each connection, and runs the blocking calls of its peer itself. Requests and replies are small
 * frames; tensors lie in memory that both processes have mapped.
 *
 * <p>All numbers are in little-endian order. A frame begins with the length of the rest:
 *
 * <pre>
 *   request: length u32, call u8, flags u8, reduction u8, 0 u8, group i32, peer i32, tag i32,
 *            timeout in ms i64 (0: the group's), factor f64, outputs u16, inputs u16,
 *            for each output, then each input: segment u32, type u8, dimensions u8, 2 bytes,
 *              offset u64, count u64, and unless it has one dimension the extent u64 of each,
 *            then what the call needs besides
 *   flags:   1 asynchronous; 2 depends on the call; 4 the memory to allocate is scratch memory
 *   reply:   length u32, status u8, then the result of the call
 * </pre>
 *
 * <p>Calls below 32 have the codes of {@link org.sparkcollectives.OpType}; {@link
 * org.sparkcollectives.spark.internal.python.CallCode} has the others. Texts and byte strings have
 * their length before them in four bytes. Values of the store that would make a frame long are
 * brought before the request, and fetched after the reply, in pieces: {@code -1} stands in the
 * place of their length, and in a reply the length follows.
 */
package org.sparkcollectives.spark.internal.python;
